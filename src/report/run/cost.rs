//! What a call costs the server, as a report shows it.

use crate::record::{COUNTERS, Counter, MEMBER_REQUESTS, ROUND_TRIPS, Shown, Unit};
use crate::report::document::format::{bytes, count, plain, three, time};
use crate::results::{Part, RunRecord};
use crate::stats::{self, Cost, CpuBudget};

use super::evaluation::Evaluation;

/// What calls cost the server.
#[derive(Debug, Clone, Default)]
pub struct Costs {
    /// Per call of the mix while it was measured: a row per counter that the server reports.
    pub mix: Vec<MixCost>,
    /// The labels of counters that it does not report.
    pub missing: Vec<&'static str>,
    /// The own cost of each operation, in the part that measures it.
    pub operations: Vec<OperationCost>,
    /// The budgets of the mix, in the part that measures own costs.
    pub budgets: Option<CpuBudgets>,
    /// Operations that wrote more than once in one call.
    pub inconsistency: Vec<Inconsistency>,
}

/// Server CPU time per call of the mix, by operation.
#[derive(Debug, Clone)]
pub struct CpuBudgets {
    /// The names of the operations.
    pub operations: Vec<String>,
    /// Per strategy; `None` where it is unknown.
    pub strategies: Vec<Option<CpuBudget>>,
}

/// A counter's growth per call of the mix.
#[derive(Debug, Clone)]
pub struct MixCost {
    /// Which counter.
    pub metric: &'static Counter,
    /// Per strategy.
    pub costs: Vec<Option<Cost>>,
}

/// The own cost of one operation.
#[derive(Debug, Clone)]
pub struct OperationCost {
    /// Its name.
    pub operation: String,
    /// Strategy, and per column of [`Counter::own_cost_columns`] what a call costs.
    pub strategies: Vec<(String, Vec<Option<f64>>)>,
}

/// How long other clients can see half-finished calls.
#[derive(Debug, Clone)]
pub struct Inconsistency {
    /// The operation.
    pub operation: String,
    /// The strategy.
    pub strategy: String,
    /// Calls that wrote more than once.
    pub calls: u64,
    /// Median, 99th percentile and longest, in nanoseconds, where there are enough calls.
    pub times: [Option<u64>; 3],
}

/// For a server that reports no counter.
pub(crate) const SILENT: &str = "This server reports no counters: `docshape rights` prints the rights for them.";

impl Costs {
    /// Whether the server reported no counter for the mix.
    pub(crate) fn is_silent(&self) -> bool {
        self.mix.is_empty()
    }
}

impl Counter {
    /// A value as people read it.
    pub fn text(&self, value: f64) -> String {
        match self.unit {
            Unit::Count if value >= 1e15 => three(value),
            Unit::Count if value.fract() == 0.0 && value >= 0.0 => count(value as u64),
            Unit::Count => three(value),
            Unit::Bytes => bytes(value),
            Unit::Microseconds => time(value * 1e3),
        }
    }
}

impl MixCost {
    /// Whether it is 0 for every strategy.
    pub fn is_zero(&self, run: &Evaluation) -> bool {
        let strategies = run.strategies.iter().zip(&self.costs).filter(|(strategy, _)| !strategy.is_repeat);
        strategies.filter_map(|(_, cost)| *cost).all(|cost| cost.per_call == 0.0)
    }
}

/// The costs in a record.
pub(crate) fn costs(record: &RunRecord) -> Costs {
    let reported = stats::counters(record);
    let shown = COUNTERS.iter().filter(|counter| counter.shown != Shown::Nowhere);
    let (known, missing): (Vec<&Counter>, Vec<&Counter>) = shown.partition(|metric| reported.contains(metric.name));
    let row = |metric: &'static Counter| MixCost {
        metric,
        costs: (0..record.strategies.len()).map(|s| stats::window_cost(record, s, metric.name)).collect(),
    };
    Costs {
        mix: known.into_iter().map(row).collect(),
        missing: missing.into_iter().map(|metric| metric.label).collect(),
        operations: if record.part == Some(Part::Own) { own_costs(record) } else { Vec::new() },
        budgets: (record.part == Some(Part::Own)).then(|| CpuBudgets {
            operations: record.operations.iter().map(|name| plain(name)).collect(),
            strategies: (0..record.strategies.len()).map(|strategy| CpuBudget::new(record, strategy)).collect(),
        }),
        inconsistency: inconsistency(record),
    }
}

/// What a call of each operation costs by itself, from the record of the part that measures it.
fn own_costs(record: &RunRecord) -> Vec<OperationCost> {
    let of = |operation: usize| {
        let per_call = |strategy: usize| {
            let cost = stats::own_cost(record, strategy, operation)?;
            let value = |column: &'static Counter| {
                if column.name == ROUND_TRIPS.name { Some(cost.round_trips) } else { cost.per_call(column.name) }
            };
            let values = Counter::own_cost_columns().into_iter().map(value).collect();
            Some((plain(&record.strategies[strategy].name), values))
        };
        let is_repeat = |strategy: &usize| record.strategies[*strategy].is_repeat;
        let strategies: Vec<_> =
            (0..record.strategies.len()).filter(|strategy| !is_repeat(strategy)).filter_map(per_call).collect();
        let operation = plain(&record.operations[operation]);
        (!strategies.is_empty()).then_some(OperationCost { operation, strategies })
    };
    (0..record.operations.len()).filter_map(of).collect()
}

fn inconsistency(record: &RunRecord) -> Vec<Inconsistency> {
    let mut rows = Vec::new();
    for (operation, name) in record.operations.iter().enumerate() {
        for (strategy, entry) in record.strategies.iter().enumerate().filter(|(_, entry)| !entry.is_repeat) {
            let Some(times) = stats::inconsistency(record, strategy, operation) else { continue };
            rows.push(Inconsistency {
                operation: plain(name),
                strategy: plain(&entry.name),
                calls: times.calls(),
                times: [times.quantile(0.5), times.quantile(0.99), times.max()],
            });
        }
    }
    rows
}

/// Warnings where the server counted more requests than docshape sent, by more than the error of snapshots.
pub(crate) fn contradictions(record: &RunRecord) -> Vec<String> {
    /// What happens between two commands of a snapshot.
    const ALLOWED: f64 = 0.02;
    const ALWAYS: f64 = 50.0;
    let mut found = Vec::new();
    for (strategy, entry) in record.strategies.iter().enumerate() {
        let name = plain(&entry.name);
        let sum = |counter: &str| -> Option<f64> {
            stats::cells(record, strategy).map(|cell| cell.counters.get(counter).copied()).sum()
        };
        let tally = stats::outcome_totals(stats::cells(record, strategy).flat_map(|cell| &cell.operations));
        let trips = tally.round_trips as f64;
        // A record of an earlier version counts them with the others.
        let members = sum(MEMBER_REQUESTS).unwrap_or(0.0);
        let requests = sum("requests").map(|requests| requests - members);
        if let Some(requests) = requests.filter(|requests| requests - trips > trips * ALLOWED + ALWAYS) {
            let (requests, trips) = (three(requests), three(trips));
            found.push(format!(
                "While {name} was measured the server received {requests} requests, and docshape sent {trips}: something else \
                 used the server, too, and is in its counters."
            ));
        }
    }
    found
}
