//! The verdicts about the mix in numbers, and what saturation says besides.

use std::sync::Arc;

use crate::record::{Metric, Part};
use crate::report::document::format::{bytes, percent, three, time};
use crate::report::document::{Cell, Column, Forms, Measure, Section, Table, column};
use crate::report::run::decision::phrase::effect;
use crate::report::run::{Evaluation, PartEvaluations, StrategyResults};
use crate::stats::{Comparison, Ratio, Verdict};

use super::{strategy_row, strategy_rows};

/// A strategy in one question about the mix.
struct Entry<'r> {
    part: Part,
    run: &'r Evaluation,
    metric: Metric,
    value: Option<f64>,
    comparison: Option<&'r Comparison>,
}

impl Entry<'_> {
    fn value(&self) -> Cell {
        Cell::number(self.value, |value| self.metric.unit().text(value))
    }

    fn ratio(&self) -> Option<Ratio> {
        self.comparison?.ratio
    }

    /// The reported difference in a word.
    fn difference(&self) -> Option<&'static str> {
        let is_rate = self.metric == Metric::Throughput;
        Some(match self.comparison?.verdict {
            _ if self.run.no_verdict.is_some() => return None,
            Verdict::Faster if is_rate => "more",
            Verdict::Slower if is_rate => "fewer",
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same { .. } => "the same",
            Verdict::NoDifference { .. } | Verdict::Inconclusive(_) => return None,
        })
    }
}

/// What is asked about the mix: `calls/s of 8 clients`, `time with one client`, `p99 at 2,320 calls/s`.
pub(super) fn question(part: Part, run: &Evaluation, metric: Metric) -> String {
    match metric {
        Metric::Throughput => format!("calls/s of {}", run.load),
        _ if part == Part::Own => "time with one client".to_owned(),
        other => format!("{other} at {}", run.load),
    }
}

/// Every strategy in every question about the mix.
pub(crate) fn section(parts: &PartEvaluations) -> Option<Section> {
    let metrics = [
        Measure::word("part", "The part of the run: `own`, `rate` or `saturation`.", |one: &Entry| one.part.name()),
        column("value", "", "The number: nanoseconds, or calls per second.").cell(Entry::value),
        column("ratio", "ratio", "Divided by the baseline's: the geometric mean over rounds.")
            .number(three, |one| one.ratio().map(|ratio| ratio.mean)),
        column("low", "low", "The lower bound of its 95 % CI.").number(three, |one| Some(one.ratio()?.interval?.low)),
        column("high", "high", "The upper bound.").number(three, |one| Some(one.ratio()?.interval?.high)),
        column("mde", "MDE", "The minimum detectable effect (80 % power): 0.1 for 10 %.")
            .number(effect, |one: &Entry| one.comparison?.mde)
            .only(Forms::DETAILED),
        column("difference", "difference", "The reported difference; `null` for none.").text(|one| {
            let word = one.difference();
            Cell::text(word.unwrap_or_default()).with_value(word)
        }),
    ];
    let rows = parts.iter().flat_map(|(part, run)| {
        run.comparisons().filter(|one| one.operation.is_none()).flat_map(move |question| {
            let name = self::question(part, run, question.metric);
            let metric = question.metric;
            (0..run.strategies.len()).map(move |place| {
                let (value, comparison) = (question.arms()[place].series.value, question.with_baseline(place));
                (strategy_row(run, place).group(name.as_str()), Entry { part, run, metric, value, comparison })
            })
        })
    });
    let table = Table::new("mix", "The mix", Column::strategy(), &metrics, rows);
    let table = table.grouped(column("question", "the mix", "What was asked."));
    Section::new("mix", "The mix").table(table).with_rows()
}

/// What saturation shows besides the calls per second; `None` without that part.
pub(crate) fn saturation(run: &Arc<Evaluation>) -> Option<Section> {
    let metrics = [
        column("calls_per_second", "calls/s", "Calls per second while every client had one.")
            .number(three, |one: &&StrategyResults| one.calls_per_second),
        column("in_flight", "in flight", "Calls in flight, by Little's law.")
            .number(three, |one| one.in_flight.map(|found| found.achieved)),
        column("in_flight_share", "of clients", "The same per client (0 to 1).")
            .number(percent, |one| one.in_flight.map(|found| found.share())),
        column("flush_seconds", "flush", "Deferred cost: seconds of the flush that 1,000 calls leave to do.")
            .number(|seconds| time(seconds * 1e9), |one| one.deferred.map(|cost| cost.seconds)),
        column("flush_bytes", "flushed", "Deferred cost: the bytes that this flush writes.")
            .number(bytes, |one| one.deferred.and_then(|cost| cost.bytes)),
    ];
    let table = Table::new("saturation", "Saturation", Column::strategy(), &metrics, strategy_rows(run, Some));
    let note = "Calls in flight below 95 % of the clients mean that long calls left clients idle. flush, flushed: time \
                and bytes of the checkpoint that 1,000 calls leave to do, measured by flushing after them.";
    Section::new("saturation", format!("Saturation: {}", run.load)).table(table).note(note).with_rows()
}
