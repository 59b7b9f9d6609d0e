//! Response under load: how long calls take, and which strategies keep up, at every load.

use std::sync::Arc;

use crate::report::document::chart::{ChartLayout, Charts, gallery};
use crate::report::document::format::{percent, three, time};
use crate::report::document::{Cell, Column, Forms, Measure, Row, Section, Table, Tone, column};
use crate::report::run::under_load::{CurveLoad, LoadCurve, LoadPoint};
use crate::report::run::{PartEvaluations, charts};
use crate::stats::OpenLoad;

use super::strategy_row;

/// A strategy at a load.
struct Entry<'c> {
    load: &'c CurveLoad<'c>,
    point: &'c LoadPoint,
}

impl Entry<'_> {
    /// A number that a queue that grows would only make up.
    fn number(&self, value: Option<f64>, unit: fn(f64) -> String) -> Cell {
        let cell = Cell::number(value, unit);
        if self.point.is_overloaded { Cell { text: String::new(), ..cell } } else { cell }
    }

    fn kept(&self) -> Cell {
        let cell = Cell::number(self.point.kept, percent);
        if self.point.is_overloaded { cell.remark("overloaded").tone(Tone::Bad) } else { cell }
    }
}

/// The curve, with what the pacer and the queue did; `None` where no load was measured.
pub(crate) fn section(parts: &Arc<PartEvaluations>) -> Option<Section> {
    let curve = LoadCurve::new(parts);
    let lead = "Calls start at intended times, the same for all strategies, whether or not earlier ones have ended. Response times are from \
                there to the last reply. A strategy that does not keep up has no response time that means anything: it grows with the \
                length of the measurement. One that was below a load in the pilot makes fewer of its calls.";
    let section = Section::new("load", "Response under load").lead(lead).table(table(&curve)?).table(details(&curve));
    let section = if curve.loads.len() > 1 { section.charts(chart(parts)) } else { section };
    let section = curve.sentences().into_iter().fold(section, Section::note);
    let best = curve.best_name().unwrap_or("?");
    let note = format!(
        "keeps up: calls that waited at most 1 s for a client and were sent before the last one was due. times: the \
         mean divided by that of {best}."
    );
    section.note(curve.capacity().unwrap_or_default()).note(note).with_rows()
}

fn chart(parts: &Arc<PartEvaluations>) -> Charts {
    let all = Arc::clone(parts);
    let draw = move |series: &_| gallery(ChartLayout::Two, charts::loads::loads(&LoadCurve::new(&all), series));
    Charts::of(charts::series(parts.main()), draw, "load.svg")
}

/// A row per load and strategy; `None` without loads.
fn table(curve: &LoadCurve<'_>) -> Option<Table> {
    let metrics = [
        Measure::word("part", "The part of the run: `light`, `rate` or `heavy`.", |one: &Entry| one.load.part.name()),
        Measure::data("calls_per_second", "The calls per second that are due.", |one| one.load.rate),
        Measure::data("of_capacity", "The same as a share (0 to 1) of the highest capacity.", |one| one.load.share),
        column("kept", "keeps up", "The share (0 to 1) of the calls that was sent in time.").cell(Entry::kept),
        Measure::flag("overloaded", "Whether it did not keep up.", |one| one.point.is_overloaded),
        column("mean_ns", "mean", "The mean response time.").cell(|one| one.number(one.point.mean, time)),
        column("p99_ns", "p99", "The 99th percentile.").cell(|one| one.number(one.point.p99, time)),
        column("ratio", "times", "The mean divided by that of the strategy with the highest capacity.")
            .cell(|one| one.number(one.point.ratio.map(|ratio| ratio.mean), three)),
        column("low", "low", "The lower bound of its 95 % CI.")
            .cell(|one| one.number(one.point.ratio.and_then(|ratio| Some(ratio.interval?.low)), three)),
        column("high", "high", "The upper bound.")
            .cell(|one| one.number(one.point.ratio.and_then(|ratio| Some(ratio.interval?.high)), three)),
        column("wrong", "", "Why its numbers must not be used, in a few words; `null` where they may.")
            .text(|one| Cell::text(one.point.wrong_text().unwrap_or_default()).with_value(one.point.wrong_text())),
    ];
    let rows = curve.loads.iter().flat_map(|load| {
        let heading = load.text();
        load.points.iter().map(move |point| {
            let row = strategy_row(load.run, point.place).group(heading.as_str());
            (row, Entry { load, point })
        })
    });
    let rows: Vec<(Row, Entry)> = rows.collect();
    let load = column("load", "load", "The load.");
    let table = || Table::new("load", "Response under load", Column::strategy(), &metrics, rows).grouped(load);
    (!curve.loads.is_empty()).then(table)
}

/// What was offered and achieved, and where calls waited.
fn details(curve: &LoadCurve<'_>) -> Table {
    let metrics = [
        column("offered", "offered/s", "Calls per second that were due.")
            .number(three, |open: &&OpenLoad| open.offered),
        column("achieved", "achieved/s", "Calls per second that were sent in time.")
            .number(three, |open| open.achieved),
        column("share", "share", "The share (0 to 1) that was sent in time.")
            .number(percent, |open: &&OpenLoad| open.share)
            .only(Forms::JSON),
        column("skipped", "skipped", "Calls that waited longer than the timeout.").count(|open| open.skipped),
        column("never_started", "never started", "Calls that were given up when twice their time was over.")
            .count(|open| open.never_started),
        column("lag_p50_ns", "lag p50", "The pacer's lag: from the intended start to the release.")
            .time(|open: &&OpenLoad| open.pacer_lag.quantile(0.5)),
        column("lag_p99_ns", "lag p99", "Its 99th percentile.").time(|open| open.pacer_lag.quantile(0.99)),
        column("lag_max_ns", "lag max", "Its maximum.").time(|open: &&OpenLoad| open.pacer_lag.max()).only(Forms::JSON),
        column("wait_p50_ns", "wait p50", "Queue wait: from the release until a client was free.")
            .time(|open: &&OpenLoad| open.queue_wait.quantile(0.5)),
        column("wait_p99_ns", "wait p99", "Its 99th percentile.").time(|open| open.queue_wait.quantile(0.99)),
        column("wait_max_ns", "wait max", "Its maximum.")
            .time(|open: &&OpenLoad| open.queue_wait.max())
            .only(Forms::JSON),
        column("service_mean_ns", "service", "The mean service time of answered calls.")
            .number(time, |open: &&OpenLoad| open.service_mean),
        column("response_mean_ns", "response", "Their mean response time.")
            .number(time, |open: &&OpenLoad| open.response_mean),
    ];
    let rows = curve.loads.iter().flat_map(|load| {
        load.run.strategies.iter().enumerate().filter_map(move |(place, strategy)| {
            Some((strategy_row(load.run, place).group(load.rate_text()), strategy.open.as_ref()?))
        })
    });
    let load = column("load", "load", "The load.");
    Table::new("open_load", "Offered and achieved load", Column::strategy(), &metrics, rows)
        .grouped(load)
        .folded()
        .only(Forms::DETAILED)
}
