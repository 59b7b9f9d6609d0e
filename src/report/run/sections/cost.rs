//! What calls cost the server.

use std::sync::Arc;

use crate::record::{Counter, Shown};
use crate::report::document::format::{enumerated, plain, three, time};
use crate::report::document::{Cell, Column, Forms, Kind, Measure, Row, Section, Table, column};
use crate::report::run::cost::OfOperation;
use crate::report::run::{Evaluation, charts};
use crate::results::{RunRecord, members};
use crate::stats::{self, BesideJob, Cost, Distribution, FlushWait};

use super::{cost_id, operation_column, strategy_row};

/// One counter with one strategy.
struct Entry {
    metric: &'static Counter,
    cost: Option<Cost>,
    is_baseline: bool,
}

/// The counters while the mix was measured.
pub(crate) fn of_mix(run: &Arc<Evaluation>) -> Section {
    let title = "Cost of a call of the mix";
    if run.costs.mix.is_empty() {
        let silent = "This server reports no counters: `docshape rights` prints the rights for them.";
        return Section::new("mix-cost", title).note(silent);
    }
    let spread = if run.rounds > 1 { "; ±: 95 % CI of the mean over rounds" } else { "" };
    let zero = run.costs.mix.iter().filter(|row| row.is_zero(run)).map(|row| row.metric.label.to_owned());
    let zero = enumerated(zero).map_or_else(String::new, |labels| format!(" 0 for all: {labels}."));
    let missing = enumerated(run.costs.missing.clone());
    let missing = missing.map_or_else(String::new, |labels| format!(" Not reported by this server: {labels}."));
    let counted = format!("Growth of the server's counters{spread}.");
    Section::new("mix-cost", title)
        .lead("The server's counters over the measured slices, without docshape's own commands. Counters that are 0 for all are left out.")
        .charts(charts::charts(run, charts::cost::mix, "cost.svg", 4))
        .table(mix_table(run))
        .note_in(Forms::TERMINAL, format!("{counted}{missing}"))
        .note_in(Forms::DETAILED, format!("{counted}{zero}{missing}"))
}

fn mix_table(run: &Evaluation) -> Table {
    let metrics = [
        column(
            "per_call",
            "mean",
            "Its growth per call, the mean over rounds. Names that end in `_us` are microseconds, those \
             with `bytes` bytes, the others counts.",
        )
        .cell(|one: &Entry| {
            let half_width = one.half_width().map(|width| format!("± {}", one.metric.unit.text(width)));
            one.mean().remark(half_width.unwrap_or_default())
        })
        .only(Forms::DETAILED),
        column("mean", "mean", "").cell(Entry::mean).only(Forms::TERMINAL),
        column("spread", "±", "").cell(|one: &Entry| Cell::text(one.spread())).only(Forms::TERMINAL),
        Measure::data("half_width", "Half the width of the mean's 95 % CI; `null` with a single round.", |one| {
            one.cost.and_then(|cost| cost.half_width)
        }),
        column("ratio", "ratio", "Divided by the baseline's.").cell(|one| {
            let ratio = one.cost.and_then(|cost| cost.ratio);
            if one.is_baseline { Cell::value(ratio) } else { Cell::number(ratio, three) }
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
            let named = strategy_row(run, place).group(group.clone()).only(forms);
            (named, Entry { metric: row.metric, cost: *cost, is_baseline: place == 0 })
        })
    });
    let table = Table::new("mix_cost", "All counters", Column::strategy(), &metrics, rows);
    table.grouped(column("counter", "per call", "The counter.")).side_by_side(Forms::READ).folded()
}

impl Entry {
    fn mean(&self) -> Cell {
        Cell::number(self.cost.map(|cost| cost.per_call), |value| self.metric.unit.text(value))
    }

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

/// What counters contain besides the calls, where there are several members.
fn replication(record: &RunRecord) -> Option<String> {
    let members = members(&record.server.topology)?;
    Some(format!(
        "The set has {members} members, and counters are those of the primary: documents, bytes and CPU time of writes contain what the \
         other members read from its oplog."
    ))
}

/// Which operations mostly wait for the disk.
fn flush_waits(record: &RunRecord) -> Option<String> {
    let name = |one: &FlushWait| {
        let [operation, strategy] = [&record.operations[one.operation], &record.strategies[one.strategy].name];
        let (mean, cpu) = (time(one.mean), time(one.cpu));
        format!("{} with {} ({mean}, of which {cpu} are CPU)", plain(operation), plain(strategy))
    };
    let names = enumerated(stats::flush_waits(record).iter().map(name))?;
    let flush = time(record.environment.journal_flush? * 1e9);
    Some(format!(
        "A flush of the journal takes {flush} on this disk, and writes wait for it. These mostly wait, so that a faster disk changes \
         their ratios: {names}."
    ))
}

/// What every operation costs by itself; `None` where that was not measured.
pub(crate) fn of_operations(run: &Evaluation, record: &RunRecord) -> Option<Section> {
    let costs =
        own_cost_table(run, ("own_cost", "Every operation"), &Counter::own_cost_columns(), &run.costs.operations);
    let section = Section::new("own-cost", "Own cost of each operation")
        .lead("One operation at a time on an otherwise idle server, before the first round.")
        .table(costs)
        .note(
            "Per call, with nothing else on the server: round trips, keys and documents examined, bytes in and out, oplog bytes, \
             and approximate CPU time (the server's background work is included).",
        );
    let section = replication(record).into_iter().chain(flush_waits(record)).fold(section, Section::note);
    if run.costs.routes.is_empty() {
        return section.with_rows();
    }
    let titles = ("own_routes", "Shards that every operation asks");
    section
        .table(own_cost_table(run, titles, &Counter::router_columns(), &run.costs.routes))
        .note(
            "Commands per call by the number of shards that the router of the cluster sent them to, and two-phase commits, by its own \
             counters.",
        )
        .with_rows()
}

/// What a call of every operation costs by itself, in these columns.
fn own_cost_table(
    run: &Evaluation,
    (id, title): (&'static str, &str),
    counters: &[&'static Counter],
    costs: &[OfOperation<Vec<Option<f64>>>],
) -> Table {
    let rows = costs.iter().map(|cost| {
        let cells = counters.iter().zip(&cost.found);
        let cells = cells.map(|(counter, value)| Cell::number(*value, |value| counter.unit.text(value)));
        let row = strategy_row(run, cost.strategy).group(cost.name.as_str());
        // Links lead to the first of the tables.
        let place = (id == "own_cost").then(|| cost_id(cost.operation, cost.strategy));
        Row { cells: cells.collect(), ..row.id(place) }
    });
    let columns = counters
        .iter()
        .map(|counter| Column { kind: Kind::Number, ..column(counter.name, counter.heading, counter.label) });
    let table = Table::empty(id, title, Column::strategy()).grouped(operation_column());
    Table { rows: rows.collect(), columns: columns.collect(), ..table }
}

/// How long other clients can see half-finished calls; `None` without calls that write more than once.
pub(crate) fn inconsistency(run: &Evaluation) -> Option<Section> {
    let metrics = [
        column("calls", "calls", "Calls that wrote more than once.").count(|windows: &&Distribution| windows.calls()),
        column("p50_ns", "p50", "The median window.").time(|windows| windows.quantile(0.5)),
        column("p99_ns", "p99", "The 99th percentile.").time(|windows| windows.quantile(0.99)),
        column("max_ns", "max", "The longest.").time(|windows| windows.max()),
    ];
    let windows = run.costs.inconsistency.iter();
    let rows = windows.map(|one| (strategy_row(run, one.strategy).group(one.name.as_str()), &one.found));
    let title = "Inconsistency windows";
    let table = Table::new("inconsistency", title, Column::strategy(), &metrics, rows).grouped(operation_column());
    let note =
        "How long other clients can see a half-finished call: from its first write to its last, outside a transaction.";
    Section::new("inconsistency", title).table(table).note(note).with_rows()
}

/// What calls take while a job runs; `None` without any.
pub(crate) fn beside_job(run: &Evaluation) -> Option<Section> {
    let metrics = [
        column("calls", "calls", "Answered calls that met a job.").count(|calls: &&BesideJob| calls.times.calls()),
        column("mean_ns", "mean", "Their mean time.").time(|calls| Some(calls.mean as u64)),
        column("alone_ns", "mean without", "That of the other calls.")
            .time(|calls| calls.alone.map(|mean| mean as u64)),
        column("p99_ns", "p99", "The 99th percentile of the calls that met a job.")
            .time(|calls| calls.times.quantile(0.99)),
        column("max_ns", "max", "The longest.").time(|calls| calls.times.max()),
    ];
    let rows = run.costs.beside_job.iter();
    let rows = rows.map(|one| (strategy_row(run, one.strategy).group(one.name.as_str()), &one.found));
    let title = "While a job runs";
    let table = Table::new("beside_job", title, Column::strategy(), &metrics, rows).grouped(operation_column());
    let note = "Calls of other operations during which a call of a job ran, for a moment or all the time. A longer job meets more calls.";
    Section::new("beside-job", title).table(table).note(note).with_rows()
}
