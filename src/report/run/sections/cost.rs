//! What calls cost the server.

use std::sync::Arc;

use crate::record::{Counter, Shown};
use crate::report::document::cell::Cell;
use crate::report::document::format::{listed, three};
use crate::report::document::section::Section;
use crate::report::document::table::{Column, Forms, Kind, Measure, Row, Table};
use crate::report::run::charts;
use crate::report::run::cost::{Inconsistency, MixCost, SILENT};
use crate::report::run::evaluation::Evaluation;
use crate::stats::Cost;

use super::{cost_id, strategy_cell};

/// One counter with one strategy.
struct Entry {
    metric: &'static Counter,
    cost: Option<Cost>,
    is_baseline: bool,
}

/// The counters while the mix was measured; `None` where costs were not measured.
pub(crate) fn of_mix(run: &Arc<Evaluation>) -> Option<Section> {
    let title = "Cost of a call of the mix";
    if run.costs.mix.is_empty() {
        return run.costs.is_silent().then(|| Section::new("mix-cost", title).note(SILENT));
    }
    let spread = if run.rounds > 1 { "; ±: 95 % CI of the mean over rounds" } else { "" };
    let is_zero = |row: &&MixCost| row.is_zero(run);
    let labels = |before: &str, labels: Vec<String>| {
        if labels.is_empty() { String::new() } else { format!(" {before}: {}.", listed(&labels)) }
    };
    let zero = run.costs.mix.iter().filter(is_zero).map(|row| row.metric.label.to_owned()).collect();
    let missing = run.costs.missing.iter().map(|label| (*label).to_owned()).collect();
    let counted = format!("Growth of the server's counters{spread}.");
    let (zero, missing) = (labels("0 for all", zero), labels("Not reported by this server", missing));
    let section = Section::new("mix-cost", title)
        .lead("The server's counters over the measured slices, without docshape's own commands. Counters that are 0 for all are left out.")
        .charts(charts::charts(run, charts::mix_cost, "cost.svg", 4))
        .table(mix_table(run))
        .note_in(Forms::TERMINAL, format!("{counted}{missing}"))
        .note_in(Forms::DETAILED, format!("{counted}{zero}{missing}"));
    Some(section)
}

fn mix_table(run: &Evaluation) -> Table {
    let metrics = [
        Measure::cell(
            "per_call",
            "mean",
            "Its growth per call, the mean over rounds. Names that end in `_us` are microseconds, those \
             with `bytes` bytes, the others counts.",
            |one: &Entry| {
                let half_width =
                    one.half_width().map_or_else(String::new, |width| format!("± {}", one.metric.text(width)));
                Cell::number(one.cost.map(|cost| cost.per_call), |value| one.metric.text(value)).remark(half_width)
            },
        )
        .only(Forms::DETAILED),
        Measure::cell("mean", "mean", "", |one: &Entry| {
            Cell::number(one.cost.map(|cost| cost.per_call), |value| one.metric.text(value))
        })
        .only(Forms::TERMINAL),
        Measure::cell("spread", "±", "", |one: &Entry| Cell::text(one.spread())).only(Forms::TERMINAL),
        Measure::data("half_width", "Half the width of the mean's 95 % CI; `null` with a single round.", |one| {
            one.cost.and_then(|cost| cost.half_width)
        }),
        Measure::cell("ratio", "ratio", "Divided by the baseline's.", |one| {
            if one.is_baseline {
                Cell::value(one.cost.and_then(|cost| cost.ratio))
            } else {
                Cell::number(one.cost.and_then(|cost| cost.ratio), three)
            }
        }),
    ];
    let rows = run.costs.mix.iter().flat_map(|row| {
        let forms = match row.metric.shown {
            _ if row.is_zero(run) => Forms::JSON,
            Shown::Everywhere => Forms::ALL,
            _ => Forms::DETAILED,
        };
        let group = Cell::text(row.metric.label).with_value(row.metric.name);
        row.costs.iter().enumerate().map(move |(place, cost)| {
            let named = Row::new(strategy_cell(run, place)).group(group.clone()).series(place).only(forms);
            (named, Entry { metric: row.metric, cost: *cost, is_baseline: place == 0 })
        })
    });
    let table = Table::new("mix_cost", "All counters", Column::strategy(), &metrics, rows);
    table.grouped(Column::text("counter", "per call", "The counter.")).side_by_side(Forms::READ).folded()
}

impl Entry {
    fn half_width(&self) -> Option<f64> {
        self.cost?.half_width.filter(|width| *width > 0.0)
    }

    /// The half width in percent of the mean, to two digits.
    fn spread(&self) -> String {
        let mean = self.cost.map(|cost| cost.per_call).filter(|mean| *mean > 0.0);
        match self.half_width().zip(mean).map(|(width, mean)| width / mean * 100.0) {
            None => String::new(),
            Some(share) if share < 9.95 => format!("{share:.1} %"),
            Some(share) if share < 100.0 => format!("{share:.0} %"),
            Some(_) => "> 100 %".to_owned(),
        }
    }
}

/// What every operation costs by itself; `None` where that was not measured.
pub(crate) fn of_operations(run: &Evaluation) -> Option<Section> {
    let columns = Counter::own_cost_columns();
    let rows = run.costs.operations.iter().enumerate().flat_map(|(operation, cost)| {
        cost.strategies.iter().filter_map(move |(name, values)| {
            let place = run.strategies.iter().position(|strategy| strategy.name == *name)?;
            let row = Row::new(strategy_cell(run, place)).group(cost.operation.as_str()).series(place);
            let cells = Counter::own_cost_columns()
                .into_iter()
                .zip(values)
                .map(|(metric, value)| Cell::number(*value, |value| metric.text(value)));
            Some(Row { cells: cells.collect(), ..row.id(Some(cost_id(operation, place))) })
        })
    });
    let mut table = Table::new::<()>("own_cost", "Every operation", Column::strategy(), &[], []).grouped(Column::text(
        "operation",
        "operation",
        "The operation.",
    ));
    table.rows = rows.collect();
    table.columns = columns
        .into_iter()
        .map(|counter| Column { kind: Kind::Number, ..Column::text(counter.name, counter.heading, counter.label) })
        .collect();
    let section = Section::new("own-cost", "Own cost of each operation")
        .lead("One operation at a time on an otherwise idle server, before the first round.")
        .table(table)
        .note(
            "Per call, with nothing else on the server: round trips, keys and documents examined, bytes in and out, oplog bytes, \
             and approximate CPU time (the server's background work is included).",
        );
    section.with_rows()
}

/// How long other clients can see half-finished calls; `None` without calls that write more than once.
pub(crate) fn inconsistency(run: &Evaluation) -> Option<Section> {
    let metrics = [
        Measure::count("calls", "calls", "Calls that wrote more than once.", |one: &&Inconsistency| one.calls),
        Measure::time("p50_ns", "p50", "The median window.", |one| one.times[0]),
        Measure::time("p99_ns", "p99", "The 99th percentile.", |one| one.times[1]),
        Measure::time("max_ns", "max", "The longest.", |one| one.times[2]),
    ];
    let rows = run.costs.inconsistency.iter().filter_map(|one| {
        let place = run.strategies.iter().position(|strategy| strategy.name == one.strategy)?;
        Some((Row::new(strategy_cell(run, place)).group(one.operation.as_str()).series(place), one))
    });
    let title = "Inconsistency windows";
    let table = Table::new("inconsistency", title, Column::strategy(), &metrics, rows).grouped(Column::text(
        "operation",
        "operation",
        "The operation.",
    ));
    let note =
        "How long other clients can see a half-finished call: from its first write to its last, outside a transaction.";
    Section::new("inconsistency", title).table(table).note(note).with_rows()
}
