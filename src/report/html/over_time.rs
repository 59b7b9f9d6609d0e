//! The tables of the page that have a row per round or slice, and a column per strategy.

use super::super::format::{three, time};
use super::super::{Report, StrategyView};
use super::tables::{Cell, Row, Table, across, columns, maybe, some};

/// Calls per second of slices.
pub fn slices(report: &Report) -> Option<Table> {
    let rate = |strategy: &StrategyView, slice: usize| {
        maybe(strategy.slice_rates.get(slice).copied().flatten().map(|spread| spread.median), three)
    };
    let rows = numbered(report, |strategy| strategy.slice_rates.len(), rate);
    some("Calls per second of slices, medians of the rounds", columns(report, "slice"), rows)
}

/// Calls per second of rounds.
pub fn rounds(report: &Report) -> Option<Table> {
    let rate = |strategy: &StrategyView, round: usize| maybe(strategy.round_rates.get(round).copied().flatten(), three);
    let rows = numbered(report, |strategy| strategy.round_rates.len(), rate);
    some("Calls per second of rounds", columns(report, "round"), rows)
}

/// Latency of rounds: the median and the 99th percentile.
pub fn round_times(report: &Report) -> Option<Table> {
    let both = |strategy: &StrategyView, round: usize| {
        let times = strategy.round_times.get(round);
        let of = |value: Option<u64>| maybe(value.map(|nanoseconds| nanoseconds as f64), time);
        let (median, p99) = (of(times.and_then(|times| times.median)), of(times.and_then(|times| times.p99)));
        Cell { remark: p99.text, ..median }
    };
    let rows = numbered(report, |strategy| strategy.round_times.len(), both);
    some("Median and 99th percentile of the calls of rounds", columns(report, "round"), rows)
}

/// Rows from 1 to the greatest length.
fn numbered(
    report: &Report,
    length: impl Fn(&StrategyView) -> usize,
    cell: impl Fn(&StrategyView, usize) -> Cell,
) -> Vec<Row> {
    let rows = report.strategies.iter().map(length).max().unwrap_or(0);
    let row = |place: usize| across(&(place + 1).to_string(), report.strategies.iter().map(|one| cell(one, place)));
    (0..rows).map(row).collect()
}
