//! What was measured at every point: times, costs and sizes, and the list of the points.

use crate::report::document::cell::{Cell, Tone};
use crate::report::document::format::{bytes, plain, three, time};
use crate::report::document::section::Section;
use crate::report::document::table::{Column, Forms, Measure, Row, Table};
use crate::results::Part;
use crate::stats::{CollectionGrowth, OwnCost, geometric_mean};
use crate::studies::sweep::swept::SweptQuantity;

use super::SweepResults;

/// The time of a strategy at a point.
struct PointTime {
    mean: Option<f64>,
    /// Calls per second at saturation.
    calls_per_second: Option<f64>,
    best: Option<f64>,
    rounds: u64,
}

/// What a strategy stores at a point.
struct PointSizes {
    documents: f64,
    largest: f64,
    data: f64,
    indexes: f64,
}

impl PointSizes {
    fn of(collections: &[CollectionGrowth]) -> PointSizes {
        let sum = |of: fn(&CollectionGrowth) -> f64| collections.iter().map(of).sum();
        PointSizes {
            documents: sum(|one| one.documents.after),
            largest: collections.iter().map(|one| one.max.after).fold(0.0, f64::max),
            data: sum(|one| one.size.after),
            indexes: sum(|one| one.indexes.after),
        }
    }
}

impl SweepResults<'_> {
    /// The mean times at every point.
    pub(crate) fn times(&self) -> Section {
        let measures = [
            Measure::cell("mean_ns", "mean", "The geometric mean over rounds of the mean time.", |one: &PointTime| {
                let is_best = one.mean.is_some() && one.mean == one.best;
                Cell::number(one.mean, time).tone(if is_best { Tone::Good } else { Tone::Plain })
            }),
            Measure::number("calls_per_second", "calls/s", "Calls per second at saturation.", three, |one| {
                one.calls_per_second
            }),
            Measure::data("times_best", "The mean divided by that of the fastest strategy.", |one| {
                one.mean.zip(one.best).map(|(mean, best)| mean / best)
            }),
            Measure::data("rounds", "The rounds that it comes from.", |one| one.rounds),
        ];
        let mut rows = Vec::new();
        for &quantity in &self.swept.quantities {
            for (number, (point, run)) in self.record.points.iter().zip(&self.swept.points).enumerate() {
                let means: Vec<_> =
                    self.swept.strategies.iter().map(|place| geometric_mean(&run.times(quantity, *place))).collect();
                let best = means.iter().flatten().copied().reduce(f64::min);
                let group = format!("{}, {}", self.name(quantity), plain(&point.values.join(", ")));
                for (place, mean) in self.swept.strategies.iter().zip(means) {
                    let row = Row::new(self.strategy(*place)).group(Cell::text(group.as_str())).series(*place);
                    let clients = self.runs.get(number).map_or(0.0, |run| run.settings.clients as f64);
                    let calls_per_second =
                        mean.filter(|_| quantity == SweptQuantity::Saturation).map(|mean| clients / mean * 1e9);
                    rows.push((row, PointTime { mean, calls_per_second, best, rounds: point.rounds }));
                }
            }
        }
        let table = Table::new("point_times", "Times at the points", Column::strategy(), &measures, rows)
            .grouped(Column::text("point", "operation and value", "What was measured, under which condition."))
            .side_by_side(Forms::READ);
        let parts = self.swept.quantities.iter().map(|quantity| quantity.part());
        let is_own = parts.clone().any(|part| part == Part::Own);
        let is_rate = parts.clone().any(|part| part == Part::Rate);
        let own = if is_own { "An operation has its own time: by itself, with one client. " } else { "" };
        let rate = if is_rate {
            "The common rate is half of what the slowest strategy can do at that point, unless --rate or a condition sets it. "
        } else {
            ""
        };
        Section::new("times", "Times at the points")
            .table(table)
            .note(format!("{own}{rate}The fastest strategy is marked."))
    }

    /// What operations cost the server at every point; `None` where they were not measured by themselves.
    pub(crate) fn costs(&self) -> Option<Section> {
        let measures = [
            Measure::number("round_trips", "trips", "Round trips per call.", three, |one: &OwnCost| one.round_trips),
            Measure::number("cpu_ns", "~ CPU", "CPU time of the server per call.", time, |one| {
                one.per_call("cpu_us").map(|microseconds| microseconds * 1e3)
            }),
            Measure::number(
                "read_bytes",
                "read into cache",
                "Bytes that the server read into its cache per call.",
                bytes,
                |one| one.per_call("cache_bytes_read"),
            ),
            Measure::number("oplog_bytes", "oplog", "Bytes of oplog per call.", bytes, |one| {
                one.per_call("oplog_bytes")
            }),
        ];
        let mut rows = Vec::new();
        for &quantity in &self.swept.quantities {
            for (point, run) in self.record.points.iter().zip(&self.swept.points) {
                let group = format!("{}, {}", self.name(quantity), plain(&point.values.join(", ")));
                let row = |place: &usize| {
                    let row = Row::new(self.strategy(*place)).group(Cell::text(group.as_str())).series(*place);
                    Some((row, run.own_cost(quantity, *place)?))
                };
                rows.extend(self.swept.strategies.iter().filter_map(row));
            }
        }
        let title = "Costs at the points";
        let table = Table::new("point_costs", title, Column::strategy(), &measures, rows)
            .grouped(Column::text("point", "operation and value", "What was measured, under which condition."))
            .folded();
        let note = "Per call of an operation by itself, from the server's counters.";
        Section::new("point_costs", title).table(table).note(note).only(Forms::DETAILED).with_rows()
    }

    /// Data and indexes at every point.
    pub(crate) fn sizes(&self) -> Section {
        let measures = [
            Measure::number("documents", "documents", "Documents in all collections.", three, |one: &PointSizes| {
                one.documents
            }),
            Measure::number("largest_bytes", "largest", "The largest document.", bytes, |one| one.largest),
            Measure::number("data_bytes", "data", "All documents, uncompressed.", bytes, |one| one.data),
            Measure::number("index_bytes", "indexes", "The files of all indexes.", bytes, |one| one.indexes),
            Measure::number(
                "index_bytes_per_document",
                "per document",
                "Bytes of indexes per document.",
                bytes,
                |one| (one.documents > 0.0).then(|| one.indexes / one.documents),
            ),
        ];
        let rows = self.record.points.iter().zip(&self.swept.points).flat_map(|(point, run)| {
            let group = plain(&point.values.join(", "));
            let row = move |place: &usize| {
                let row = Row::new(self.strategy(*place)).group(Cell::text(group.as_str())).series(*place);
                (row, PointSizes::of(&run.collections(*place)))
            };
            self.swept.strategies.iter().map(row).collect::<Vec<_>>()
        });
        let title = "Sizes at the points";
        let names: Vec<String> = self.record.vary.iter().map(|condition| plain(&condition.name)).collect();
        let table = Table::new("point_sizes", title, Column::strategy(), &measures, rows)
            .grouped(Column::text("point", names.join(", "), "The values of the conditions."))
            .folded();
        let note = "After the calls. Files of indexes grow in steps and lag behind, so that small ones say little.";
        Section::new("point_sizes", title).table(table).note(note).only(Forms::DETAILED)
    }

    /// Every point with its run.
    pub(crate) fn list(&self) -> Section {
        let measures = [
            Measure::count("rounds", "rounds", "Complete rounds.", |one: &(u64, String, String)| one.0),
            Measure::text("folder", "folder", "The folder of its run.", |one| Cell::text(one.1.as_str())),
            Measure::text("error", "remark", "Why it has no more rounds, or may not be used.", |one| {
                Cell::text(one.2.as_str()).tone(Tone::Bad)
            }),
        ];
        let rows = self.record.points.iter().map(|point| {
            let error = point.error.as_deref().map(plain).unwrap_or_default();
            (Row::new(plain(&point.values.join(", "))), (point.rounds, plain(&point.folder), error))
        });
        let names: Vec<String> = self.record.vary.iter().map(|condition| plain(&condition.name)).collect();
        let table = Table::new(
            "points",
            "Points",
            Column::text("values", names.join(", "), "The values of the conditions."),
            &measures,
            rows,
        );
        Section::new("points", "Points")
            .table(table)
            .note("`docshape report FOLDER` prints the whole report of a point.")
    }
}
