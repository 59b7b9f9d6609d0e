//! What a call costs the server, as a report shows it.

use crate::record::{COUNTERS, Counter, MEMBER_REQUESTS, Shown, Unit};
use crate::report::document::format::{bytes, count, plain, three, time};
use crate::results::{Part, RunRecord, StrategyRecord};
use crate::stats::{self, BesideJob, Cost, Distribution};

use super::evaluation::Evaluation;

/// What calls cost the server.
#[derive(Debug, Clone, Default)]
pub struct Costs {
    /// Per call of the mix while it was measured: a row per counter that the server reports.
    pub mix: Vec<MixCost>,
    /// The labels of counters that it does not report.
    pub missing: Vec<String>,
    /// The own cost of each operation, in the part that measures it: per column of [`Counter::own_cost_columns`] what a call
    /// costs.
    pub operations: Vec<OfOperation<Vec<Option<f64>>>>,
    /// The same of the counters of a cluster's router, per column of [`Counter::router_columns`]; empty without a router.
    pub routes: Vec<OfOperation<Vec<Option<f64>>>>,
    /// How long other clients can see half-finished calls, of operations that wrote more than once in one call.
    pub inconsistency: Vec<OfOperation<Distribution>>,
    /// Calls while a job ran, of operations that met one.
    pub beside_job: Vec<OfOperation<BesideJob>>,
}

/// A counter's growth per call of the mix.
#[derive(Debug, Clone)]
pub struct MixCost {
    /// Which counter.
    pub metric: &'static Counter,
    /// Per strategy.
    pub costs: Vec<Option<Cost>>,
}

/// What was found of one operation with one strategy.
#[derive(Debug, Clone)]
pub struct OfOperation<T> {
    /// The operation's place in the run.
    pub operation: usize,
    /// Its name.
    pub name: String,
    /// The strategy's place in the run.
    pub strategy: usize,
    /// What was found.
    pub found: T,
}

impl Unit {
    /// A value as people read it.
    pub fn text(self, value: f64) -> String {
        match self {
            Unit::Count if value >= 1e15 => three(value),
            Unit::Count if value.fract() == 0.0 && value >= 0.0 => count(value as u64),
            Unit::Count => three(value),
            Unit::Bytes => bytes(value),
            Unit::Microseconds => time(value * 1e3),
            Unit::Nanoseconds => time(value),
            Unit::PerSecond => format!("{}/s", three(value)),
        }
    }
}

impl MixCost {
    /// Whether it is 0 for every strategy.
    pub fn is_zero(&self, run: &Evaluation) -> bool {
        run.without_repeat().filter_map(|(place, _)| self.costs[place]).all(|cost| cost.per_call == 0.0)
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
        missing: missing.into_iter().filter(|metric| !metric.is_routed).map(|metric| metric.label.to_owned()).collect(),
        operations: own_costs(record, &Counter::own_cost_columns()),
        routes: own_costs(record, &Counter::router_columns()),
        inconsistency: of_operations(record, stats::inconsistency),
        beside_job: of_operations(record, stats::beside_job),
    }
}

/// What a call of each operation costs by itself, from the record of the part that measures it; empty without any such number.
fn own_costs(record: &RunRecord, columns: &[&'static Counter]) -> Vec<OfOperation<Vec<Option<f64>>>> {
    let of = |record: &RunRecord, strategy: usize, operation: usize| {
        let cost = stats::own_cost(record, strategy, operation)?;
        Some(columns.iter().map(|column| cost.of(column)).collect::<Vec<_>>())
    };
    let costs = if record.part == Some(Part::Own) { of_operations(record, of) } else { Vec::new() };
    if costs.iter().any(|cost| cost.found.iter().any(Option::is_some)) { costs } else { Vec::new() }
}

/// What is found of every operation with every strategy but the repeat.
fn of_operations<T>(record: &RunRecord, of: impl Fn(&RunRecord, usize, usize) -> Option<T>) -> Vec<OfOperation<T>> {
    let strategies = || (0..record.strategies.len()).filter(|strategy| !record.strategies[*strategy].is_repeat);
    let pairs = (0..record.operations.len()).flat_map(|operation| strategies().map(move |one| (operation, one)));
    let found = |(operation, strategy): (usize, usize)| {
        let (name, found) = (plain(&record.operations[operation]), of(record, strategy, operation)?);
        Some(OfOperation { operation, name, strategy, found })
    };
    pairs.filter_map(found).collect()
}

/// Warnings where the server counted more requests than docshape sent, by more than the error of snapshots.
pub(crate) fn contradictions(record: &RunRecord) -> Vec<String> {
    /// What happens between two commands of a snapshot.
    const ALLOWED: f64 = 0.02;
    const ALWAYS: f64 = 50.0;
    let contradiction = |(strategy, entry): (usize, &StrategyRecord)| {
        let sum = |counter: &str| -> Option<f64> {
            stats::cells(record, strategy).map(|cell| cell.counters.get(counter).copied()).sum()
        };
        let tally = stats::outcome_totals(stats::all_operations(record, strategy));
        let trips = tally.round_trips as f64;
        // A record of an earlier version counts them with the others.
        let requests = sum("requests")? - sum(MEMBER_REQUESTS).unwrap_or(0.0);
        (requests - trips > trips * ALLOWED + ALWAYS).then(|| {
            format!(
                "While {} was measured the server received {} requests, and docshape sent {}: something else used the server, \
                 too, and is in its counters.",
                plain(&entry.name),
                three(requests),
                three(trips)
            )
        })
    };
    record.strategies.iter().enumerate().filter_map(contradiction).collect()
}
