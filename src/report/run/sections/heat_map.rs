//! Operations x strategies: the own time of every operation as a multiple of the best.

use std::sync::Arc;

use crate::record::{Metric, Part};
use crate::report::document::format::{NOTHING, percent, three, time};
use crate::report::document::{Cell, Column, Forms, Link, Table, Tone, column};
use crate::report::run::{Evaluation, OperationResults, PartEvaluations};
use crate::stats::{self, ArmComparison, Reason, Verdict};

use super::{strategy_row, times_id};

/// From these multiples of the best on, a cell has the next darker colour.
const LEVELS: [f64; 7] = [1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0];

/// Instead of the time of an operation that sends no command.
const FREE: &str = "nothing";

/// A strategy in a row.
#[derive(Debug, Clone)]
pub(crate) struct HeatCell {
    /// The strategy's place in the run.
    pub(crate) place: usize,
    /// Its time as a multiple of the lowest one.
    pub(crate) cell: Cell,
    /// The same for a narrow column: the best has its time, others how many times as long they take.
    pub(crate) short: String,
}

/// An operation or the mix by itself (under load, where own costs were not measured).
#[derive(Debug, Clone)]
pub(crate) struct HeatRow<'r> {
    run: &'r Arc<Evaluation>,
    /// Whether it is the mix.
    pub(crate) is_mix: bool,
    /// Its name.
    pub(crate) name: String,
    /// Its share of the calls; empty for the mix.
    pub(crate) share: String,
    /// A cell per strategy.
    pub(crate) cells: Vec<HeatCell>,
}

/// A row per operation, and the mix last; none with fewer than two strategies.
pub(crate) fn rows<'r>(parts: &'r PartEvaluations) -> Vec<HeatRow<'r>> {
    let main = parts.main();
    if main.without_repeat().count() < 2 {
        return Vec::new();
    }
    let run = parts.get(Part::Own).unwrap_or(main);
    let own = parts.record(Part::Own);
    let shown = own.or(parts.main_record());
    let heat_row =
        |name: String, operation: Option<usize>, share: Option<f64>, means: &dyn Fn(usize) -> Option<f64>| {
            let question = run.mean_of(operation);
            let is_free = |place: usize| {
                own.zip(operation).is_some_and(|(own, operation)| stats::sends_nothing(own, place, operation))
            };
            // Those of an overloaded strategy are the times of a queue that grows.
            let is_overloaded = |place: usize| shown.is_some_and(|record| stats::overloaded(record, place).is_some());
            let mean = |place: usize| means(place).filter(|_| !is_free(place) && !is_overloaded(place));
            let means: Vec<Option<f64>> = (0..run.strategies.len()).map(mean).collect();
            let cell = |(place, _)| {
                if is_free(place) {
                    return HeatCell { place, cell: Cell::text(FREE).tone(Tone::Faint), short: FREE.to_owned() };
                }
                Entry { run, means: &means, question, place }.heat()
            };
            let cells = run.without_repeat().map(cell).collect();
            HeatRow { run, is_mix: operation.is_none(), name, share: share.map_or_else(String::new, percent), cells }
        };
    let of_row = |row: &OperationResults| {
        let name = if row.is_mix { format!("mix, {}", run.load) } else { row.name.clone() };
        heat_row(name, row.operation, row.share, &|place| row.cells[place].mean)
    };
    let operations = run.rows.iter().map(of_row);
    let mix = parts.of_mix(Part::Own, Metric::MEAN);
    let mix = mix.map(|mix| heat_row("whole mix".to_owned(), None, None, &|place| mix.arms()[place].series.value));
    operations.chain(mix).collect()
}

/// What the numbers of all rows are: `Own time`, or `Response time at 300 calls/s` where own costs were not measured.
pub(crate) fn what(parts: &PartEvaluations) -> String {
    let main = parts.main();
    match (parts.get(Part::Own), main.is_open) {
        (Some(_), _) => "Own time".to_owned(),
        (None, true) => format!("Response time at {}", main.load),
        (None, false) => format!("Service time with {}", main.load),
    }
}

/// A line per operation and one for the mix, and a column per strategy; `None` without two of them.
pub(super) fn table(parts: &PartEvaluations) -> Option<Table> {
    let (rows, main) = (rows(parts), parts.main());
    let metrics = [column("own_time", "", "").cell(|heat: &&HeatCell| heat.cell.clone())];
    let lines = rows.iter().flat_map(|heat| {
        let place =
            main.mix_first().position(|other| other.is_mix == heat.is_mix && (heat.is_mix || other.name == heat.name));
        let tone = if heat.is_mix { Tone::Strong } else { Tone::Plain };
        let group = Cell::text(heat.name.as_str()).remark(heat.share.as_str()).tone(tone);
        let group = group.link(place.map(|operation| Link::Row(times_id(operation, 0))));
        heat.cells.iter().map(move |one| (strategy_row(heat.run, one.place).group(group.clone()), one))
    });
    let title = format!("{} of every operation, times the best", what(parts));
    let table = Table::new("heat_map", title, Column::strategy(), &metrics, lines);
    let heading =
        if parts.get(Part::Own).is_some() { "each operation by itself, × best" } else { "each operation, × best" };
    let group = column("operation", heading, "The operation.");
    (!rows.is_empty()).then(|| table.grouped(group).side_by_side(Forms::DOCUMENT).only(Forms::DOCUMENT))
}

/// One strategy in one operation, or in the mix.
struct Entry<'r> {
    run: &'r Arc<Evaluation>,
    /// Mean times by strategy, in nanoseconds.
    means: &'r [Option<f64>],
    question: Option<&'r ArmComparison>,
    place: usize,
}

impl Entry<'_> {
    fn heat(&self) -> HeatCell {
        let (cell, short) = match (self.means[self.place], self.best()) {
            (None, _) => (Cell::number(None, time), NOTHING.to_owned()),
            // No judged strategy has a time.
            (Some(mean), None) => (Cell::text(time(mean)).tone(Tone::Faint), time(mean)),
            (Some(mean), Some((best, _))) if self.place == best => {
                let (text, tone) = if self.is_best(best) { ("best", Tone::Best) } else { ("lowest", Tone::Faint) };
                (Cell::text(text).remark(time(mean)).tone(tone), time(mean))
            }
            (Some(mean), Some((best, least))) => {
                // The ratio that is tested.
                let tested = self.question.and_then(|question| question.pair(self.place, best)?.ratio);
                let ratio = tested.map_or(mean / least, |ratio| ratio.mean);
                let (tone, ratio) = (self.tone(self.place, best, ratio), three(ratio));
                let is_shown = matches!(tone, Tone::Heat(_));
                let short = if is_shown { format!("×{ratio}") } else { format!("(×{ratio})") };
                (Cell::text(format!("× {ratio}")).remark(time(mean)).tone(tone), short)
            }
        };
        HeatCell { place: self.place, cell, short }
    }

    /// The judged strategy with the lowest mean.
    fn best(&self) -> Option<(usize, f64)> {
        self.judged().min_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    /// The judged strategies that have a mean.
    fn judged(&self) -> impl Iterator<Item = (usize, f64)> {
        let judged = self.run.without_repeat().filter(|(_, strategy)| !strategy.is_unsafe);
        judged.filter_map(move |(place, _)| Some((place, self.means[place]?)))
    }

    /// Whether all others that it can be compared with are reported to be slower.
    fn is_best(&self, best: usize) -> bool {
        let others = self.judged().filter(|(place, _)| *place != best);
        let tones: Vec<Tone> = others.map(|(place, _)| self.tone(place, best, 1.0)).collect();
        let is_slower = |tone: &Tone| matches!(tone, Tone::Heat(_));
        tones.iter().any(is_slower) && tones.iter().all(|tone| is_slower(tone) || *tone == Tone::Hatched)
    }

    /// A colour only for what is reported to be slower; a pattern for what cannot be compared.
    fn tone(&self, place: usize, best: usize, ratio: f64) -> Tone {
        let is_judged = self.run.no_verdict.is_none() && !self.run.strategies[place].is_unsafe;
        let Some(question) = self.question.filter(|_| is_judged) else { return Tone::Faint };
        // Identical programs are compared as what they are: the baseline's.
        let program = |place: usize| match question.with_baseline(place).map(|one| one.verdict) {
            Some(Verdict::Inconclusive(Reason::Identical { baseline })) => baseline,
            _ => place,
        };
        let (own, best) = (program(place), program(best));
        if own == best {
            return Tone::Hatched;
        }
        match question.pair(own, best).map(|one| one.verdict) {
            Some(Verdict::Slower) => heat(ratio),
            Some(Verdict::Same { .. } | Verdict::NoDifference { .. } | Verdict::Faster) => Tone::Faint,
            Some(Verdict::Inconclusive(Reason::Unstable { .. } | Reason::NotJudged)) => Tone::Faint,
            Some(Verdict::Inconclusive(_)) | None => Tone::Hatched,
        }
    }
}
/// How dark a ratio to the best is.
pub(crate) fn heat(ratio: f64) -> Tone {
    Tone::Heat(LEVELS.iter().filter(|level| ratio >= **level).count())
}
