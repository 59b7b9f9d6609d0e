//! What was measured at every point: times, costs and sizes, and the list of the points.

use crate::record::Metric;
use crate::report::document::format::percent;
use crate::report::{Cell, Column, Forms, Measure, Row, Section, Table, Tone, bytes, column, plain, three, time};
use crate::results::{Part, Reason};
use crate::stats::{CollectionGrowth, OwnCost, geometric_mean};
use crate::studies::sweep::swept::{Swept, SweptQuantity};

/// The time of a strategy at a point.
struct PointTime {
    mean: Option<f64>,
    /// Calls per second at saturation.
    calls_per_second: Option<f64>,
    best: Option<f64>,
    rounds: u64,
    /// Why it is not compared.
    obstacle: Option<Reason>,
}

/// A number of all collections of a strategy together.
fn sum(collections: &[CollectionGrowth], of: fn(&CollectionGrowth) -> f64) -> f64 {
    collections.iter().map(of).sum()
}

/// The column of operations with the values of the conditions.
fn measured() -> Column {
    column("point", "operation and value", "What was measured, under which condition.")
}

impl Swept<'_> {
    /// The column of the values of the conditions.
    fn values(&self, key: &'static str) -> Column {
        let names: Vec<String> = self.record.vary.iter().map(|condition| plain(&condition.name)).collect();
        column(key, names.join(", "), "The values of the conditions.")
    }

    /// The rows of all strategies in every quantity at every point, with what `item` makes of quantity, point and strategy.
    fn rows<T>(&self, item: impl Fn(SweptQuantity, usize, usize) -> Option<T>) -> Vec<(Row, T)> {
        let mut rows = Vec::new();
        for &quantity in &self.quantities {
            for (place, (point, _)) in self.record.points.iter().zip(self.runs).enumerate() {
                let group = format!("{}, {}", self.name(quantity), plain(&point.values.join(", ")));
                let row = |&strategy: &usize| {
                    let row = Row::new(self.strategy(strategy)).group(group.as_str()).series(strategy);
                    Some((row, item(quantity, place, strategy)?))
                };
                rows.extend(self.strategies.iter().filter_map(row));
            }
        }
        rows
    }

    /// The mean times at every point.
    pub(crate) fn times(&self) -> Section {
        let measures = [
            column("shown", "time", "The mean time; at saturation, calls per second.")
                .cell(|one: &PointTime| {
                    let is_best = one.mean.is_some() && one.mean == one.best;
                    let rate = one.calls_per_second.map(|rate| Cell::text(format!("{}/s", three(rate))));
                    let shown = rate.unwrap_or_else(|| Cell::number(one.mean, time));
                    // The times of a queue that grows say how long it grew.
                    let shown = match one.obstacle {
                        Some(Reason::Overloaded { achieved, .. }) => Cell::text("overloaded").remark(percent(achieved)),
                        Some(_) => shown.remark("not compared"),
                        None => shown,
                    };
                    shown.tone(if is_best { Tone::Good } else { Tone::Plain })
                })
                .only(Forms::READ),
            Measure::data("mean_ns", "The geometric mean over rounds of the mean time.", |one| one.mean),
            Measure::data("calls_per_second", "Calls per second at saturation.", |one| one.calls_per_second),
            Measure::data("times_best", "The mean divided by that of the fastest strategy.", |one| {
                one.mean.zip(one.best).map(|(mean, best)| mean / best)
            }),
            Measure::data("rounds", "The rounds that it comes from.", |one| one.rounds),
        ];
        let rows = self.rows(|quantity, point, strategy| {
            let mean = |place: usize| geometric_mean(&self.points[point].times(quantity, place));
            let is_compared = |place: &&usize| self.obstacle(point, quantity, **place).is_none();
            let best = self.strategies.iter().filter(is_compared).filter_map(|place| mean(*place)).reduce(f64::min);
            let obstacle = self.obstacle(point, quantity, strategy);
            let mean = mean(strategy);
            let clients = self.runs[point].settings.clients as f64;
            let at_saturation = mean.filter(|_| quantity.metric() == Metric::Throughput);
            let calls_per_second = at_saturation.map(|mean| clients / mean * 1e9);
            Some(PointTime { mean, calls_per_second, best, rounds: self.record.points[point].rounds, obstacle })
        });
        let table = Table::new("point_times", "Times at the points", Column::strategy(), &measures, rows)
            .grouped(measured())
            .side_by_side(Forms::READ);
        let is_measured = |part: Part| self.quantities.iter().any(|quantity| quantity.part == part);
        let own = "An operation has its own time: by itself, with one client. ";
        let rate =
            "Open load is half of what the best strategy can do at that point, unless --rate or a condition sets it. ";
        let notes = [(Part::Own, own), (Part::Rate, rate)].into_iter().filter(|(part, _)| is_measured(*part));
        let notes: String = notes.map(|(_, note)| note).collect();
        let note = format!("{notes}The fastest strategy is marked.");
        Section::new("times", "Times at the points").table(table).note(note)
    }

    /// What operations cost the server at every point; `None` where they were not measured by themselves.
    pub(crate) fn costs(&self) -> Option<Section> {
        let read = "Bytes that the server read into its cache per call.";
        let measures = [
            column("round_trips", "trips", "Round trips per call.").number(three, |one: &OwnCost| one.round_trips),
            column("cpu_ns", "~ CPU", "CPU time of the server per call.")
                .number(time, |one| one.per_call("cpu_us").map(|microseconds| microseconds * 1e3)),
            column("read_bytes", "read into cache", read).number(bytes, |one| one.per_call("cache_bytes_read")),
            column("oplog_bytes", "oplog", "Bytes of oplog per call.").number(bytes, |one| one.per_call("oplog_bytes")),
        ];
        let rows = self.rows(|quantity, point, strategy| self.points[point].own_cost(quantity, strategy));
        let title = "Costs at the points";
        let table = Table::new("point_costs", title, Column::strategy(), &measures, rows).grouped(measured()).folded();
        let note = "Per call of an operation by itself, from the server's counters.";
        Section::new("point_costs", title).table(table).note(note).only(Forms::DETAILED).with_rows()
    }

    /// Data and indexes at every point.
    pub(crate) fn sizes(&self) -> Section {
        type Collections = Vec<CollectionGrowth>;
        let about = "Bytes of indexes per document.";
        let measures = [
            column("documents", "documents", "Documents in all collections.")
                .number(three, |all: &Collections| sum(all, |one| one.documents.after)),
            column("largest_bytes", "largest", "The largest document.")
                .number(bytes, |all| all.iter().map(|one| one.max.after).fold(0.0, f64::max)),
            column("data_bytes", "data", "All documents, uncompressed.")
                .number(bytes, |all| sum(all, |one| one.size.after)),
            column("index_bytes", "indexes", "The files of all indexes.")
                .number(bytes, |all| sum(all, |one| one.indexes.after)),
            column("index_bytes_per_document", "per document", about).number(bytes, |all| {
                let documents = sum(all, |one| one.documents.after);
                (documents > 0.0).then(|| sum(all, |one| one.indexes.after) / documents)
            }),
        ];
        let rows = self.record.points.iter().zip(&self.points).flat_map(|(point, run)| {
            let group = plain(&point.values.join(", "));
            let row = move |place: &usize| {
                let row = Row::new(self.strategy(*place)).group(group.as_str()).series(*place);
                (row, run.collections(*place))
            };
            self.strategies.iter().map(row).collect::<Vec<_>>()
        });
        let title = "Sizes at the points";
        let table = Table::new("point_sizes", title, Column::strategy(), &measures, rows)
            .grouped(self.values("point"))
            .folded();
        let note = "After the calls. Files of indexes grow in steps and lag behind, so that small ones say little.";
        Section::new("point_sizes", title).table(table).note(note).only(Forms::DETAILED)
    }

    /// Every point with its run.
    pub(crate) fn list(&self) -> Section {
        let measures = [
            column("rounds", "rounds", "Complete rounds.").count(|one: &(u64, String, String)| one.0),
            column("folder", "folder", "The folder of its run.").text(|one| one.1.clone()),
            column("error", "remark", "Why it has no more rounds, or may not be used.")
                .text(|one| Cell::text(one.2.as_str()).tone(Tone::Bad)),
        ];
        let rows = self.record.points.iter().map(|point| {
            let error = point.error.as_deref().map(plain).unwrap_or_default();
            (Row::new(plain(&point.values.join(", "))), (point.rounds, plain(&point.folder), error))
        });
        let table = Table::new("points", "Points", self.values("values"), &measures, rows);
        Section::new("points", "Points")
            .table(table)
            .note("`docshape report FOLDER` prints the whole report of a point.")
    }
}
