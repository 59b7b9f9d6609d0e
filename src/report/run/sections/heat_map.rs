//! Operations x strategies: the own time of every operation as a multiple of the best.

use std::sync::Arc;

use crate::record::Part;
use crate::report::document::cell::{Cell, Link, Tone};
use crate::report::document::format::{percent, three, time};
use crate::report::document::table::{Column, Forms, Measure, Row, Table};
use crate::report::run::evaluation::{Evaluation, OperationResults};
use crate::report::run::parts::PartEvaluations;
use crate::stats::{ArmComparison, InconclusiveReason, Verdict};

use super::{strategy_cell, times_id};

/// From these multiples of the best on, a cell has the next darker colour.
const LEVELS: [f64; 7] = [1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0];

/// One strategy in one operation, or in the mix.
struct Entry<'r> {
    run: &'r Arc<Evaluation>,
    row: &'r OperationResults,
    question: Option<&'r ArmComparison>,
    place: usize,
}

/// A line per operation by itself (under load, where own costs were not measured) and one for the mix, and a column per
/// strategy; `None` without two of them.
pub(crate) fn table(parts: &PartEvaluations) -> Option<Table> {
    let main = parts.main();
    if main.without_repeat().count() < 2 {
        return None;
    }
    let of_operations = parts.get(Part::Own).unwrap_or(main);
    let operations = of_operations.rows.iter().filter(|row| !row.is_mix).map(|row| (of_operations, row));
    let mix = main.rows.iter().filter(|row| row.is_mix).map(|row| (main, row));
    let metrics = [Measure::cell("own_time", "", "", |entry: &Entry| entry.cell())];
    let rows = operations.chain(mix).flat_map(|(run, row)| {
        let place = main.mix_first().position(|other| other.label() == row.label());
        let (name, share) = if row.is_mix {
            (format!("mix, {}", main.load), String::new())
        } else {
            (row.label().to_owned(), row.share.map_or_else(String::new, percent))
        };
        let tone = if row.is_mix { Tone::Strong } else { Tone::Plain };
        let group = Cell::text(name).remark(share).tone(tone);
        let group = group.link(place.map(|operation| Link::Row(times_id(operation, 0))));
        let question = run.question(row);
        run.without_repeat().map(move |(place, _)| {
            let named = Row::new(strategy_cell(run, place)).group(group.clone()).series(place);
            (named, Entry { run, row, question, place })
        })
    });
    let title = "Time of every operation by itself, times the best";
    let table = Table::new("heat_map", title, Column::strategy(), &metrics, rows);
    let group = Column::text("operation", "by itself, times the best", "The operation.");
    Some(table.grouped(group).side_by_side(Forms::DOCUMENT).only(Forms::DOCUMENT))
}

impl Entry<'_> {
    fn cell(&self) -> Cell {
        let Some(mean) = self.row.cells[self.place].mean else { return Cell::number(None, time) };
        let Some((best, least)) = self.best() else { return Cell::text(time(mean)).tone(Tone::Faint) };
        if self.place == best {
            let is_shown =
                self.run.without_repeat().any(|(place, _)| matches!(self.tone(place, best, 1.0), Tone::Heat(_)));
            let (text, tone) = if is_shown { ("best", Tone::Best) } else { ("lowest", Tone::Faint) };
            return Cell::text(text).remark(time(mean)).tone(tone);
        }
        let ratio = self.ratio(best).unwrap_or(mean / least);
        Cell::text(format!("× {}", three(ratio))).remark(time(mean)).tone(self.tone(self.place, best, ratio))
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
            Some(Verdict::Inconclusive(InconclusiveReason::Identical { baseline })) => baseline,
            _ => place,
        };
        let (own, best) = (program(place), program(best));
        if own == best {
            return Tone::Hatched;
        }
        match question.compared.pair(own, best).map(|one| one.verdict) {
            Some(Verdict::Slower) => Tone::Heat(LEVELS.iter().filter(|level| ratio >= **level).count()),
            Some(Verdict::Same { .. } | Verdict::NoDifference { .. } | Verdict::Faster) => Tone::Faint,
            Some(Verdict::Inconclusive(InconclusiveReason::Unstable { .. } | InconclusiveReason::NotJudged)) => {
                Tone::Faint
            }
            Some(Verdict::Inconclusive(_)) | None => Tone::Hatched,
        }
    }
}
