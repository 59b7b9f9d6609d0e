//! The times of calls: means and percentiles.

use std::sync::Arc;

use crate::report::document::cell::{Cell, Tone};
use crate::report::document::format::{NOTHING, interval, listed, three, time};
use crate::report::document::section::Section;
use crate::report::document::table::{Column, Forms, Measure, Row, Table};
use crate::report::run::evaluation::{Evaluation, Measured, OperationResults};
use crate::report::run::{charts, histogram};
use crate::stats::{Ratio, Verdict};

use super::{operation_cell, strategy_cell, times_id};

/// The times of one operation with one strategy.
pub(crate) struct Entry<'r> {
    run: &'r Evaluation,
    measured: Option<&'r Measured>,
    place: usize,
}

impl Entry<'_> {
    fn time(&self, of: impl Fn(&Measured) -> Option<u64>) -> Cell {
        self.measured.map_or_else(Cell::default, |measured| Cell::time(of(measured)))
    }

    fn quantile(&self, share: f64) -> Cell {
        self.measured.map_or_else(Cell::default, |measured| Cell::number(measured.quantile(share), time))
    }

    fn ratio(&self) -> Option<Ratio> {
        self.measured?.comparison.as_ref()?.ratio
    }
}

/// The main table of numbers, and the latency of every operation.
pub(crate) fn section(run: &Arc<Evaluation>) -> Option<Section> {
    let (times, baseline) = (run.times_capital(), run.baseline());
    let lead = format!(
        "{times} times of the successful calls. Both axes are logarithmic: each nine is as wide as the one before, and \
         charts in a row share their time axis. A line ends where fewer than 10 calls exceed the percentile."
    );
    let mut section = Section::new("latency", format!("{times} time per call")).lead(lead);
    let is_known = |row: &OperationResults| row.cells.iter().any(|cell| cell.quantile(0.5).is_some());
    let unknown: Vec<String> = run.mix_first().filter(|row| !is_known(row)).map(|row| row.label().to_owned()).collect();
    if !unknown.is_empty() {
        let names = listed(&unknown);
        section = section.lead(format!("Too few calls for any percentile: {names}. A longer preset makes more calls."));
    }
    let has_differences = run.rows.iter().flat_map(|row| &row.cells).any(|cell| run.difference(cell).is_some());
    let marks = if has_differences { " ▼ ▲ reported difference." } else { "" };
    let has_blanks = run.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.quantile(0.99).is_none());
    let blanks = if has_blanks { format!(" {NOTHING} fewer than 10 calls exceed it.") } else { String::new() };
    let note = format!("ratio: mean / mean of {baseline}, below 1 is faster.{marks}{blanks}");
    let section = section
        .charts(charts::charts(run, charts::percentiles, "percentiles.svg", 2).with_texts({
            let run = Arc::clone(run);
            move || histogram::draw(&run)
        }))
        .table(table(run))
        .note_in(Forms::TERMINAL.and(Forms::HTML), note);
    (run.rounds > 0).then_some(section)
}

fn table(run: &Evaluation) -> Table {
    let metrics = [
        Measure::cell("mean_ns", "mean", "The mean time: the geometric mean over rounds.", |one: &Entry| {
            match one.measured {
                Some(measured) => Cell::number(measured.mean, time),
                None => Cell::number(one.run.strategies[one.place].calls_per_second, three),
            }
        }),
        Measure::cell("ratio", "ratio", "The mean divided by the baseline's.", ratio)
            .only(Forms::TERMINAL.and(Forms::HTML)),
        Measure::cell("ci", "95 % CI", "The ratio's confidence interval.", |one: &Entry| {
            let bounds = one.ratio().and_then(|ratio| ratio.interval);
            Cell::text(bounds.map_or_else(String::new, |bounds| interval(bounds.low, bounds.high)))
        })
        .only(Forms::TERMINAL.and(Forms::HTML)),
        Measure::cell("p50_ns", "p50", "The median.", |one: &Entry| one.quantile(0.5)).only(Forms::DETAILED),
        Measure::cell("p90_ns", "p90", "The 90th percentile.", |one: &Entry| one.quantile(0.9)).only(Forms::DETAILED),
        Measure::cell("p99_ns", "p99", "The 99th percentile.", |one| one.quantile(0.99)),
        Measure::cell("p999_ns", "p999", "The 99.9th percentile.", |one: &Entry| one.quantile(0.999))
            .only(Forms::DETAILED),
        Measure::cell("p9999_ns", "p9999", "The 99.99th percentile.", |one: &Entry| one.quantile(0.9999))
            .only(Forms::HTML),
        Measure::cell("max_ns", "max", "The longest.", |one: &Entry| one.time(|measured| measured.distribution.max()))
            .only(Forms::DETAILED),
        Measure::cell("calls", "calls", "Successful calls.", |one: &Entry| {
            one.measured.map_or_else(Cell::default, |measured| Cell::count(measured.distribution.calls()))
        })
        .only(Forms::DETAILED),
        Measure::number("round_trips_per_call", "round trips", "Messages exchanged per call.", three, |one: &Entry| {
            one.measured.and_then(|measured| measured.totals.round_trips_per_call())
        })
        .only(Forms::DETAILED),
    ];
    let rows = run.mix_first().enumerate().flat_map(|(operation, row)| {
        let group = operation_cell(row);
        row.cells.iter().enumerate().map(move |(place, measured)| {
            let named = Row::new(strategy_cell(run, place)).group(group.clone()).series(place);
            let measured = Some(measured);
            (named.id(Some(times_id(operation, place))), Entry { run, measured, place })
        })
    });
    let rates = run.without_repeat().map(|(place, _)| {
        let named = Row::new(strategy_cell(run, place)).group("calls per second").series(place);
        (named.only(Forms::TERMINAL), Entry { run, measured: None, place })
    });
    let table =
        Table::new("times", "Means, percentiles and round trips", Column::strategy(), &metrics, rows.chain(rates));
    let group = Column::operation();
    table.grouped(group).side_by_side(Forms::TERMINAL).folded()
}

fn ratio(one: &Entry) -> Cell {
    let Some(measured) = one.measured else { return Cell::default() };
    if one.place == 0 {
        return Cell::default();
    }
    let text = |ratio: f64| match one.run.difference(measured) {
        Some(Verdict::Faster) => format!("▼ {}", three(ratio)),
        Some(_) => format!("▲ {}", three(ratio)),
        None => three(ratio),
    };
    let tone = match one.run.difference(measured) {
        Some(Verdict::Faster) => Tone::Good,
        Some(_) => Tone::Bad,
        None => Tone::Plain,
    };
    Cell::number(one.ratio().map(|ratio| ratio.mean), text).tone(tone)
}
