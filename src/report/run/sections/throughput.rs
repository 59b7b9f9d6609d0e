//! Throughput and latency over time.

use std::sync::Arc;

use crate::report::document::format::three;
use crate::report::document::{Cell, Column, Forms, Kind, Measure, Row, Section, Table, column};
use crate::report::run::{Evaluation, StrategyResults, charts};
use crate::stats::{RoundTimes, Spread};

use super::strategy_rows;

/// The course of a round and of the run.
pub(crate) fn section(run: &Arc<Evaluation>) -> Section {
    let lead = "A line that rises or falls within a round shows documents that grow, or a warm-up that was too short; one that \
                does so from round to round, a machine that changed.";
    Section::new("throughput", "Throughput and latency over time")
        .lead(lead)
        .charts(charts::charts(run, charts::throughput::throughput, "throughput.svg", 2))
        .table(slices(run))
        .table(rounds(run))
        .only(Forms::DETAILED)
}

fn slices(run: &Evaluation) -> Table {
    let metrics = [
        Measure::data("low", "The lower quartile of the rounds.", |one: &Option<Spread>| one.map(|one| one.low)),
        column("median", "calls/s", "Calls per second in this slice: the median of the rounds.")
            .number(three, |one| one.map(|spread| spread.median)),
        Measure::data("high", "The upper quartile of the rounds.", |one| one.map(|spread| spread.high)),
    ];
    let slices = run.strategies.iter().map(|strategy| strategy.slice_rates.len()).max().unwrap_or(0);
    let title = "Calls per second of each slice, medians of the rounds";
    let rows = rows(run, slices, |strategy, slice| strategy.slice_rates.get(slice).copied().flatten());
    let table = Table::new("slices", title, Column::strategy(), &metrics, rows);
    numbered(table, "slice", "The slice of the window, from 1 on.")
}

/// A row per strategy for each of `count` slices or rounds.
fn rows<'r, T>(run: &'r Evaluation, count: usize, of: impl Fn(&'r StrategyResults, usize) -> T) -> Vec<(Row, T)> {
    let rows = (0..count).flat_map(|one| {
        let group = Cell::text((one + 1).to_string()).with_value(one + 1);
        let of = &of;
        strategy_rows(run, move |strategy| [of(strategy, one)]).map(move |(row, item)| (row.group(group.clone()), item))
    });
    rows.collect()
}

fn numbered(table: Table, key: &'static str, about: &'static str) -> Table {
    let group = Column { kind: Kind::Number, ..column(key, key, about) };
    table.grouped(group).side_by_side(Forms::HTML).folded().only(Forms::HTML.and(Forms::JSON))
}

fn rounds(run: &Evaluation) -> Table {
    type Entry = (Option<f64>, Option<RoundTimes>);
    let metrics = [
        column("calls_per_second", "calls/s", "Calls per second in this round.").number(three, |one: &Entry| one.0),
        column("p50_ns", "p50", "The median time.").time(|one| one.1?.median),
        column("p99_ns", "p99", "The 99th percentile of the times.").time(|one| one.1?.p99),
    ];
    let rounds = run.strategies.iter().map(|strategy| strategy.round_rates.len()).max().unwrap_or(0);
    let title = "Calls per second, p50 and p99 of each round";
    let rows = rows(run, rounds, |strategy, round| {
        (strategy.round_rates.get(round).copied().flatten(), strategy.round_times.get(round).copied())
    });
    numbered(Table::new("rounds", title, Column::strategy(), &metrics, rows), "round", "The round, from 1 on.")
}
