//! What a call costs the server, as a report shows it.

use crate::results::RunRecord;
use crate::stats::{self, Cost};

use super::Report;
use super::format::{bytes, count, plain, three, time};

/// What calls cost the server.
#[derive(Debug, Clone, Default)]
pub struct Costs {
    /// Per call of the mix, while it was measured: a row per counter that the server told.
    pub mix: Vec<MixCost>,
    /// The counters of [`METRICS`] that it did not tell.
    pub missing: Vec<&'static str>,
    /// One operation at a time, from the cost pass.
    pub operations: Vec<OperationCost>,
    /// Operations that wrote more than once in one call.
    pub inconsistent: Vec<Inconsistent>,
}

/// A counter's growth per call of the mix.
#[derive(Debug, Clone)]
pub struct MixCost {
    /// Which counter.
    pub metric: &'static Metric,
    /// Per strategy.
    pub costs: Vec<Option<Cost>>,
}

/// One operation of the cost pass.
#[derive(Debug, Clone)]
pub struct OperationCost {
    /// Its name.
    pub operation: String,
    /// Strategy, and per column of [`COLUMNS`] what a call costs.
    pub strategies: Vec<(String, Vec<Option<f64>>)>,
}

/// For how long others can see a state between the writes of one call.
#[derive(Debug, Clone)]
pub struct Inconsistent {
    /// The operation.
    pub operation: String,
    /// The strategy.
    pub strategy: String,
    /// Calls that wrote more than once.
    pub calls: u64,
    /// Median, 99th percentile and longest, in nanoseconds, where there are enough calls to tell.
    pub times: [Option<u64>; 3],
}

/// A counter in a report.
#[derive(Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name in a run's record.
    counter: &'static str,
    /// Its name for people.
    pub label: &'static str,
    /// How its numbers are written.
    unit: Unit,
    /// Whether a terminal shows it.
    pub is_main: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Count,
    Bytes,
    Microseconds,
}

const fn metric(counter: &'static str, label: &'static str, unit: Unit, is_main: bool) -> Metric {
    Metric { counter, label, unit, is_main }
}

/// The counters that a report shows, in its order.
pub static METRICS: [Metric; 24] = [
    metric("cpu_us", "CPU time", Unit::Microseconds, true),
    metric("requests", "requests", Unit::Count, false),
    metric("bytes_in", "bytes in", Unit::Bytes, true),
    metric("bytes_out", "bytes out", Unit::Bytes, true),
    metric("keys_examined", "keys examined", Unit::Count, true),
    metric("documents_examined", "documents examined", Unit::Count, true),
    metric("documents_returned", "documents returned", Unit::Count, true),
    metric("documents_inserted", "documents inserted", Unit::Count, false),
    metric("documents_updated", "documents updated", Unit::Count, false),
    metric("documents_deleted", "documents deleted", Unit::Count, false),
    metric("collection_scans", "collection scans", Unit::Count, true),
    metric("sorts_in_memory", "sorts in memory", Unit::Count, true),
    metric("write_conflicts", "write conflicts", Unit::Count, true),
    metric("oplog_bytes", "oplog", Unit::Bytes, true),
    metric("journal_bytes", "journal", Unit::Bytes, true),
    metric("cache_bytes_read", "read into cache", Unit::Bytes, true),
    metric("cache_bytes_written", "written from cache", Unit::Bytes, true),
    metric("cursor_insert_bytes", "stored whole", Unit::Bytes, false),
    metric("cursor_modify_bytes", "stored as changes", Unit::Bytes, false),
    metric("cursor_insert_calls", "whole values stored", Unit::Count, false),
    metric("cursor_modify_calls", "changes of values stored", Unit::Count, false),
    metric("transactions_started", "transactions", Unit::Count, false),
    metric("transactions_committed", "transactions committed", Unit::Count, false),
    metric("transactions_aborted", "transactions aborted", Unit::Count, false),
];

/// The columns of the cost pass: heading and counter; the first is docshape's own count.
pub static COLUMNS: [Metric; 7] = [
    metric("", "trips", Unit::Count, true),
    metric("keys_examined", "keys", Unit::Count, true),
    metric("documents_examined", "docs", Unit::Count, true),
    metric("bytes_in", "in", Unit::Bytes, true),
    metric("bytes_out", "out", Unit::Bytes, true),
    metric("oplog_bytes", "oplog", Unit::Bytes, true),
    metric("cpu_us", "~ CPU", Unit::Microseconds, true),
];

/// What is said where the server tells no counter.
pub(super) const SILENT: &str =
    "Not told by this server: its counters need the role clusterMonitor, and an oplog that the user may read.";

impl Costs {
    /// Whether costs were asked for, and the server told no counter while the mix was measured.
    pub(super) fn is_silent(&self) -> bool {
        self.mix.is_empty() && !self.operations.is_empty()
    }
}

impl Metric {
    /// Its name for programs.
    pub fn counter(&self) -> &'static str {
        if self.counter.is_empty() { "round_trips" } else { self.counter }
    }

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
    /// Whether it is 0 for every strategy of a report, the control left out: it is the reference again.
    pub fn is_zero(&self, report: &Report) -> bool {
        let strategies = report.strategies.iter().zip(&self.costs).filter(|(strategy, _)| !strategy.is_control);
        strategies.filter_map(|(_, cost)| *cost).all(|cost| cost.per_call == 0.0)
    }
}

/// All that a record tells of costs.
pub(super) fn costs(record: &RunRecord) -> Costs {
    let told = stats::counters(record);
    let (known, missing): (Vec<&Metric>, Vec<&Metric>) =
        METRICS.iter().partition(|metric| told.contains(metric.counter));
    let row = |metric: &'static Metric| MixCost {
        metric,
        costs: (0..record.strategies.len()).map(|s| stats::window_cost(record, s, metric.counter)).collect(),
    };
    Costs {
        mix: known.into_iter().map(row).collect(),
        missing: missing.into_iter().map(|metric| metric.label).collect(),
        operations: record.operations.iter().filter_map(|operation| single(record, operation)).collect(),
        inconsistent: inconsistent(record),
    }
}

fn single(record: &RunRecord, operation: &str) -> Option<OperationCost> {
    let per_call = |strategy: &str| {
        let cost = stats::single_cost(record, strategy, operation)?;
        let calls = cost.calls as f64;
        let value = |column: &Metric| match column.counter {
            "" => Some(cost.round_trips as f64 / calls),
            counter => cost.counters.get(counter).map(|grown| grown / calls).filter(|value| value.is_finite()),
        };
        Some((plain(strategy), COLUMNS.iter().map(value).collect()))
    };
    let strategies: Vec<_> = record.strategies.iter().filter_map(|strategy| per_call(&strategy.name)).collect();
    (!strategies.is_empty()).then(|| OperationCost { operation: plain(operation), strategies })
}

fn inconsistent(record: &RunRecord) -> Vec<Inconsistent> {
    let mut rows = Vec::new();
    for (operation, name) in record.operations.iter().enumerate() {
        for (strategy, entry) in record.strategies.iter().enumerate().filter(|(_, entry)| !entry.control) {
            let Some(times) = stats::inconsistency(record, strategy, operation) else { continue };
            rows.push(Inconsistent {
                operation: plain(name),
                strategy: plain(&entry.name),
                calls: times.calls(),
                times: [times.quantile(0.5), times.quantile(0.99), times.max()],
            });
        }
    }
    rows
}

/// Where the server's counters say something else than the calls, beyond what the snapshots may be off by.
pub(super) fn contradictions(record: &RunRecord) -> Vec<String> {
    /// Monitoring of the driver's, and what falls between two commands of a snapshot.
    const ALLOWED: f64 = 0.02;
    const ALWAYS: f64 = 50.0;
    let mut found = Vec::new();
    for (strategy, entry) in record.strategies.iter().enumerate() {
        let name = plain(&entry.name);
        let sum = |counter: &str| -> Option<f64> {
            stats::cells(record, strategy).map(|cell| cell.counters.get(counter).copied()).sum()
        };
        let tally = stats::tally(stats::cells(record, strategy).flat_map(|cell| &cell.operations));
        let trips = tally.round_trips as f64;
        if let Some(requests) = sum("requests").filter(|requests| requests - trips > trips * ALLOWED + ALWAYS) {
            let (requests, trips) = (three(requests), three(trips));
            found.push(format!(
                "While {name} was measured the server took {requests} requests, and docshape sent {trips}: somebody else \
                 used the server, so its counters are of both."
            ));
        }
        let documents = |sizes: &[crate::results::CollectionSizes]| -> f64 {
            sizes.iter().map(|collection| collection.documents as f64).sum()
        };
        let grown: f64 =
            stats::cells(record, strategy).map(|cell| documents(&cell.after) - documents(&cell.before)).sum();
        let (Some(inserted), Some(deleted)) = (sum("documents_inserted"), sum("documents_deleted")) else { continue };
        let expired = sum("documents_expired").unwrap_or(0.0);
        // The server also counts what an aborted transaction inserted.
        let aborts = sum("transactions_aborted").is_some_and(|aborted| aborted > 0.0);
        if !aborts && inserted - deleted - expired > grown + (inserted + deleted) * ALLOWED + ALWAYS {
            let (more, grown) = (three(inserted - deleted - expired), three(grown));
            found.push(format!(
                "While {name} was measured the server counted {more} documents more, and its collections have {grown} \
                 more: somebody else used the server, or a collection is capped."
            ));
        }
    }
    found
}
