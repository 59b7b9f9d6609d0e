//! Operations x strategies: the own time of every operation as a multiple of the best.

use std::sync::Arc;

use crate::record::Part;
use crate::report::document::cell::{Cell, Link, Tone};
use crate::report::document::format::{NOTHING, percent, three, time};
use crate::report::document::table::{Column, Forms, Measure, Row, Table};
use crate::report::run::evaluation::{Evaluation, OperationResults};
use crate::report::run::parts::PartEvaluations;
use crate::stats::{ArmComparison, Reason, Verdict};

use super::{strategy_cell, times_id};

/// From these multiples of the best on, a cell has the next darker colour.
const LEVELS: [f64; 7] = [1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0];

/// One strategy in one operation, or in the mix. Times are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Heat {
    /// It has no time.
    Nothing,
    /// The time of a strategy where no judged one has any.
    Alone(f64),
    /// The lowest time, where another strategy is shown to take longer.
    Best(f64),
    /// The lowest time, where none is.
    Lowest(f64),
    /// A multiple of the lowest time.
    Times {
        /// How many times as long.
        ratio: f64,
        /// The time.
        mean: f64,
        /// Whether that is shown, and its level.
        tone: Tone,
    },
}

/// An operation by itself (under load, where own costs were not measured), or the mix.
#[derive(Debug, Clone)]
pub(crate) struct HeatRow<'r> {
    run: &'r Arc<Evaluation>,
    row: &'r OperationResults,
    /// Its name.
    pub(crate) name: String,
    /// Its share of the calls; empty for the mix.
    pub(crate) share: String,
    /// Per strategy its place in the run and its time.
    pub(crate) cells: Vec<(usize, Heat)>,
}

impl HeatRow<'_> {
    /// Whether it is the mix.
    pub(crate) fn is_mix(&self) -> bool {
        self.row.is_mix
    }
}

/// A row per operation, and the mix last; none with fewer than two strategies.
pub(crate) fn rows(parts: &PartEvaluations) -> Vec<HeatRow<'_>> {
    let main = parts.main();
    if main.without_repeat().count() < 2 {
        return Vec::new();
    }
    let of_operations = parts.get(Part::Own).unwrap_or(main);
    let operations = of_operations.rows.iter().filter(|row| !row.is_mix).map(|row| (of_operations, row));
    let mix = main.rows.iter().filter(|row| row.is_mix).map(|row| (main, row));
    let mut found = Vec::new();
    for (run, row) in operations.chain(mix) {
        let name = if row.is_mix { format!("mix, {}", main.load) } else { row.label().to_owned() };
        let share = row.share.filter(|_| !row.is_mix).map_or_else(String::new, percent);
        let question = run.question(row);
        let cell = |place| (place, Entry { run, row, question, place }.heat());
        let cells = run.without_repeat().map(|(place, _)| cell(place)).collect();
        found.push(HeatRow { run, row, name, share, cells });
    }
    found
}

/// A line per operation and one for the mix, and a column per strategy; `None` without two of them.
pub(super) fn table(parts: &PartEvaluations) -> Option<Table> {
    let (rows, main) = (rows(parts), parts.main());
    let metrics = [Measure::cell("own_time", "", "", |heat: &Heat| heat.cell())];
    let lines = rows.iter().flat_map(|heat| {
        let place = main.mix_first().position(|other| other.label() == heat.row.label());
        let tone = if heat.row.is_mix { Tone::Strong } else { Tone::Plain };
        let group = Cell::text(heat.name.as_str()).remark(heat.share.as_str()).tone(tone);
        let group = group.link(place.map(|operation| Link::Row(times_id(operation, 0))));
        heat.cells.iter().map(move |(place, cell)| {
            (Row::new(strategy_cell(heat.run, *place)).group(group.clone()).series(*place), *cell)
        })
    });
    let title = "Time of every operation by itself, times the best";
    let table = Table::new("heat_map", title, Column::strategy(), &metrics, lines);
    let group = Column::text("operation", "by itself, times the best", "The operation.");
    (!rows.is_empty()).then(|| table.grouped(group).side_by_side(Forms::DOCUMENT).only(Forms::DOCUMENT))
}

impl Heat {
    fn cell(self) -> Cell {
        match self {
            Heat::Nothing => Cell::number(None, time),
            Heat::Alone(mean) => Cell::text(time(mean)).tone(Tone::Faint),
            Heat::Best(mean) => Cell::text("best").remark(time(mean)).tone(Tone::Best),
            Heat::Lowest(mean) => Cell::text("lowest").remark(time(mean)).tone(Tone::Faint),
            Heat::Times { ratio, mean, tone } => {
                Cell::text(format!("× {}", three(ratio))).remark(time(mean)).tone(tone)
            }
        }
    }

    /// For a narrow column: the best has its time, others how many times as long they take.
    pub(crate) fn short(self) -> String {
        match self {
            Heat::Nothing => NOTHING.to_owned(),
            Heat::Alone(mean) | Heat::Best(mean) | Heat::Lowest(mean) => time(mean),
            Heat::Times { ratio, tone: Tone::Heat(_), .. } => format!("×{}", three(ratio)),
            Heat::Times { ratio, .. } => format!("(×{})", three(ratio)),
        }
    }
}

/// One strategy in one operation, or in the mix.
struct Entry<'r> {
    run: &'r Arc<Evaluation>,
    row: &'r OperationResults,
    question: Option<&'r ArmComparison>,
    place: usize,
}

impl Entry<'_> {
    fn heat(&self) -> Heat {
        let Some(mean) = self.row.cells[self.place].mean else { return Heat::Nothing };
        let Some((best, least)) = self.best() else { return Heat::Alone(mean) };
        if self.place == best {
            let is_slower = |place| matches!(self.tone(place, best, 1.0), Tone::Heat(_));
            let is_shown = self.run.without_repeat().any(|(place, _)| is_slower(place));
            return if is_shown { Heat::Best(mean) } else { Heat::Lowest(mean) };
        }
        let ratio = self.ratio(best).unwrap_or(mean / least);
        Heat::Times { ratio, mean, tone: self.tone(self.place, best, ratio) }
    }

    /// The ratio to the best that is tested.
    fn ratio(&self, best: usize) -> Option<f64> {
        Some(self.question?.compared.pair(self.place, best)?.ratio?.mean)
    }

    /// The judged strategy with the lowest mean.
    fn best(&self) -> Option<(usize, f64)> {
        let judged = self.run.without_repeat().filter(|(_, strategy)| !strategy.is_unsafe);
        let means = judged.filter_map(|(place, _)| Some((place, self.row.cells[place].mean?)));
        means.min_by(|(_, a), (_, b)| a.total_cmp(b))
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
        match question.compared.pair(own, best).map(|one| one.verdict) {
            Some(Verdict::Slower) => Tone::Heat(LEVELS.iter().filter(|level| ratio >= **level).count()),
            Some(Verdict::Same { .. } | Verdict::NoDifference { .. } | Verdict::Faster) => Tone::Faint,
            Some(Verdict::Inconclusive(Reason::Unstable { .. } | Reason::NotJudged)) => Tone::Faint,
            Some(Verdict::Inconclusive(_)) | None => Tone::Hatched,
        }
    }
}
