//! Throughput and latency over time.

use std::sync::Arc;

use crate::report::document::cell::Cell;
use crate::report::document::format::three;
use crate::report::document::section::Section;
use crate::report::document::table::{Column, Forms, Kind, Measure, Row, Table};
use crate::report::run::charts;
use crate::report::run::evaluation::{Evaluation, StrategyResults};
use crate::stats::Spread;

use super::strategy_cell;

/// A strategy and the index of a slice or round.
type Entry<'r> = (&'r StrategyResults, usize);

/// The course of a round and of the run; `None` without rounds.
pub(crate) fn section(run: &Arc<Evaluation>) -> Option<Section> {
    let lead = "A line that rises or falls within a round shows documents that grow, or a warm-up that was too short; one that \
                does so from round to round, a machine that changed.";
    let section = Section::new("throughput", "Throughput and latency over time")
        .lead(lead)
        .charts(charts::charts(run, charts::throughput, "throughput.svg", 2))
        .table(slices(run))
        .table(rounds(run))
        .only(Forms::DETAILED);
    (run.rounds > 0).then_some(section)
}

fn slices(run: &Evaluation) -> Table {
    let metrics = [
        Measure::data("low", "The lower quartile of the rounds.", |one: &Entry| rate(one, |spread| spread.low)),
        Measure::number(
            "median",
            "calls/s",
            "Calls per second in this slice: the median of the rounds.",
            three,
            |one| rate(one, |spread| spread.median),
        ),
        Measure::data("high", "The upper quartile of the rounds.", |one| rate(one, |spread| spread.high)),
    ];
    let slices = run.strategies.iter().map(|strategy| strategy.slice_rates.len()).max().unwrap_or(0);
    let title = "Calls per second of each slice, medians of the rounds";
    let table = Table::new("slices", title, Column::strategy(), &metrics, rows(run, slices));
    numbered(table, "slice", "The slice of the window, from 1 on.")
}

/// A row per strategy for each of `count` slices or rounds.
fn rows(run: &Evaluation, count: usize) -> impl Iterator<Item = (Row, Entry<'_>)> {
    (0..count).flat_map(move |one| {
        let group = Cell::text((one + 1).to_string()).with_value(one + 1);
        run.strategies.iter().enumerate().map(move |(place, strategy)| {
            (Row::new(strategy_cell(run, place)).group(group.clone()).series(place), (strategy, one))
        })
    })
}

fn numbered(table: Table, key: &'static str, about: &'static str) -> Table {
    let group = Column { kind: Kind::Number, ..Column::text(key, key, about) };
    table.grouped(group).side_by_side(Forms::HTML).folded().only(Forms::HTML.and(Forms::JSON))
}

fn rate((strategy, slice): &Entry, of: fn(Spread) -> f64) -> Option<f64> {
    strategy.slice_rates.get(*slice).copied().flatten().map(of)
}

fn rounds(run: &Evaluation) -> Table {
    let metrics = [
        Measure::number(
            "calls_per_second",
            "calls/s",
            "Calls per second in this round.",
            three,
            |(strategy, round): &Entry| strategy.round_rates.get(*round).copied().flatten(),
        ),
        Measure::time("p50_ns", "p50", "The median time.", |(strategy, round)| {
            strategy.round_times.get(*round).and_then(|times| times.median)
        }),
        Measure::time("p99_ns", "p99", "The 99th percentile of the times.", |(strategy, round)| {
            strategy.round_times.get(*round).and_then(|times| times.p99)
        }),
    ];
    let rounds = run.strategies.iter().map(|strategy| strategy.round_rates.len()).max().unwrap_or(0);
    let title = "Calls per second, p50 and p99 of each round";
    let table = Table::new("rounds", title, Column::strategy(), &metrics, rows(run, rounds));
    numbered(table, "round", "The round, from 1 on.")
}
