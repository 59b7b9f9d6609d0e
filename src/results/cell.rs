//! What is kept of a round: a cell per strategy.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::record::{
    CONFLICTS_IN_TRANSACTIONS, CallOutcome, LatencyHistogram, StoredHistogram, WRITE_CONFLICTS, Waits,
};

use super::audit::AuditRecord;
use super::is_default;

/// One round: every arm with fresh databases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundRecord {
    /// From 0.
    pub index: u64,
    /// The seed of its calls.
    pub seed: u64,
    /// Per slice, the arms (positions in `strategies`) in the order they ran.
    pub order: Vec<Vec<usize>>,
    /// A cell per strategy, in the order of `strategies`.
    pub cells: Vec<CellRecord>,
}

/// What calls leave for later: the flush after them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DeferredCost {
    /// Seconds that the flush took.
    pub seconds: f64,
    /// Bytes that it wrote to files; `None` where the server does not say.
    pub bytes: Option<f64>,
}

/// One arm in one part of a round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CellRecord {
    /// Documents inserted before the calls.
    pub loaded: u64,
    /// Seconds that this took.
    pub load_seconds: f64,
    /// Measured calls of all outcomes.
    pub calls: u64,
    /// Seconds that the arm's slices took together.
    pub seconds: f64,
    /// Connections opened while calls were measured; not 0 means that some calls waited for one.
    pub connections_created: u64,
    /// An entry per operation, in the run's order.
    pub operations: Vec<OperationRecord>,
    /// Of the part that measures own costs: the counters of each operation's calls, an entry per operation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_counters: Vec<BTreeMap<String, f64>>,
    /// What the calls left for the server to write; `None` where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred: Option<DeferredCost>,
    /// The measured slices, in the order in which they ran.
    pub slices: Vec<SliceRecord>,
    /// The pieces of the warm-up, in order.
    pub warm_up: Vec<SliceRecord>,
    /// The measurements of open load; `None` with closed load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenRecord>,
    /// How long calls waited for a connection of the pool; `None` when not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_out: Option<Waits>,
    /// How much the server's counters grew over the measured slices, docshape's own commands subtracted; without those
    /// that the server does not report.
    pub counters: BTreeMap<String, f64>,
    /// The machine while the cell was measured.
    pub machine: MachineRecord,
    /// Sizes before the measured calls.
    pub before: Vec<CollectionSizes>,
    /// Sizes after them.
    pub after: Vec<CollectionSizes>,
    /// What its audits counted after the last slice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audits: Vec<AuditRecord>,
}

impl CellRecord {
    /// The growth of a counter over the calls; `None` where the server did not report it. Write conflicts are those of the server's
    /// counter and those in transactions, which it leaves out: there a conflict ends the attempt, and the client sees it.
    pub fn counter(&self, name: &str) -> Option<f64> {
        let counted = self.counters.get(name).copied()?;
        let seen = |operation: &OperationRecord| {
            let times = [&operation.retries, &operation.errors];
            let conflicts =
                |causes: &BTreeMap<String, u64>| CONFLICTS_IN_TRANSACTIONS.map(|of| causes.get(of).copied());
            times.into_iter().flat_map(conflicts).flatten().map(|count| count as f64).sum::<f64>()
        };
        let in_transactions = || self.operations.iter().map(seen).sum::<f64>();
        Some(if name == WRITE_CONFLICTS { counted + in_transactions() } else { counted })
    }
}

/// One operation in one cell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationRecord {
    /// Finished calls.
    pub calls: u64,
    /// Messages exchanged.
    pub round_trips: u64,
    /// The times by outcome.
    pub outcomes: Vec<OutcomeRecord>,
    /// Failures by reason: the server's code, or a name.
    pub errors: BTreeMap<String, u64>,
    /// Failed calls of which it is unknown whether they took effect, see [`crate::server::Failure::leaves_outcome_open`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub unknown: u64,
    /// The server's message for the first failure of each reason.
    pub messages: BTreeMap<String, String>,
    /// Retried attempts, by cause.
    pub retries: BTreeMap<String, u64>,
    /// The inconsistency window of calls that wrote more than once outside a transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inconsistency: Option<TimesRecord>,
    /// The times of answered calls while a job ran; with open load from the intended start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside_job: Option<TimesRecord>,
}

/// The calls of one operation with one outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeRecord {
    /// The outcome.
    pub outcome: CallOutcome,
    /// The number of calls.
    pub count: u64,
    /// How many took longer than the histogram's bound.
    pub saturated: u64,
    /// The exact sum of the service times in nanoseconds.
    pub sum: u64,
    /// Service times in nanoseconds: HdrHistogram V2, base64. Empty for calls that were never sent.
    pub service: StoredHistogram,
    /// Response times, from the intended start; `None` with closed load, where they are the service times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<TimesRecord>,
}

/// Times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimesRecord {
    /// The number of times.
    pub count: u64,
    /// How many were above the histogram's bound.
    pub saturated: u64,
    /// Their exact sum.
    pub sum: u64,
    /// HdrHistogram V2, base64.
    pub histogram: StoredHistogram,
}

impl TimesRecord {
    /// Keeps a histogram.
    pub fn new(times: &LatencyHistogram) -> TimesRecord {
        TimesRecord {
            count: times.count(),
            saturated: times.saturated(),
            sum: times.sum(),
            histogram: StoredHistogram::new(times),
        }
    }
}

impl OutcomeRecord {
    /// Keeps a histogram of service times.
    pub fn new(outcome: CallOutcome, service: &LatencyHistogram) -> OutcomeRecord {
        let TimesRecord { count, saturated, sum, histogram } = TimesRecord::new(service);
        OutcomeRecord { outcome, count, saturated, sum, service: histogram, response: None }
    }

    /// Something of the times that a strategy is judged by: with open load from the intended start, as users see it; with
    /// closed load, which has no intended starts, that of the service times.
    pub fn headline<'o, T>(&'o self, service: T, response: impl Fn(&'o TimesRecord) -> T) -> T {
        self.response.as_ref().map_or(service, response)
    }

    /// The times that a strategy is judged by, in nanoseconds, see [`OutcomeRecord::headline`].
    pub fn headline_times(&self) -> &StoredHistogram {
        self.headline(&self.service, |times| &times.histogram)
    }
}

/// A slice of a window, or a piece of a warm-up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SliceRecord {
    /// Finished calls.
    pub calls: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// Calls that had ended when the first client found none left; 0 with open load.
    pub saturated_calls: u64,
    /// Seconds until then.
    pub saturated_seconds: f64,
    /// The operation all of whose calls these are; `None` for calls of the mix, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<usize>,
}

/// Calls with intended times, over the slices of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenRecord {
    /// Calls that fell due.
    pub offered: u64,
    /// Seconds in which they fell due.
    pub seconds: f64,
    /// Calls that still waited when the last of the window fell due.
    pub waiting: u64,
    /// Calls that were not sent because they had waited longer than the timeout; they are in `operations`, too.
    pub skipped: u64,
    /// Calls that were given up when the window was over; they are in no operation.
    pub never_started: u64,
    /// From the intended start to the release by the pacer.
    pub pacer_lag: TimesRecord,
    /// From the release until a client was free.
    pub queue_wait: TimesRecord,
}

/// The machine that makes the load, while a cell was measured. What the system does not report is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineRecord {
    /// The share (0 to 1) of the processors' time that the hypervisor gave to others.
    pub steal: Option<f64>,
    /// The share (0 to 1) of the processors' time that was used.
    pub busy: Option<f64>,
    /// The share (0 to 1) of its time for which the busiest load thread was computing.
    pub load_thread_busy: Option<f64>,
    /// Load average over one minute at the cell's end.
    pub load_average: Option<f64>,
}

/// Sizes of one collection, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CollectionSizes {
    /// Its name.
    pub name: String,
    /// How many documents.
    pub documents: u64,
    /// Mean size of a document.
    pub mean: f64,
    /// Median size of a document.
    pub p50: u64,
    /// 99th percentile of the sizes.
    pub p99: u64,
    /// The largest document.
    pub max: u64,
    /// All documents, uncompressed.
    pub size: u64,
    /// The collection's file.
    pub storage: u64,
    /// The indexes' files.
    pub indexes: BTreeMap<String, u64>,
    /// Bytes of the collection's file that are free for reuse; `None` where the server does not say, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_free: Option<u64>,
    /// The same of the indexes' files together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indexes_free: Option<u64>,
    /// Whether a flush came before, without which file sizes lag behind.
    pub checkpointed: bool,
    /// Of a sharded collection the documents on each shard of the cluster; empty for all others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shards: BTreeMap<String, u64>,
}

impl CollectionSizes {
    /// The bytes of the collection's file that are in use; the whole file where it is unknown what is free.
    ///
    /// A checkpoint writes changed pages to new places before it frees the old ones, so that files grow to a size that depends on when
    /// pages were written. What is in use does not.
    pub fn storage_in_use(&self) -> u64 {
        self.storage.saturating_sub(self.storage_free.unwrap_or(0))
    }

    /// The same of the indexes' files together.
    pub fn indexes_in_use(&self) -> u64 {
        self.index_files().saturating_sub(self.indexes_free.unwrap_or(0))
    }

    /// The documents on the shard that has most, divided by the mean of all; `None` for what is not sharded, or empty.
    pub fn imbalance(&self) -> Option<f64> {
        let mean = self.shards.values().sum::<u64>() as f64 / self.shards.len().max(1) as f64;
        let most = *self.shards.values().max()? as f64;
        (mean > 0.0).then_some(most / mean)
    }

    /// The indexes' files together.
    pub fn index_files(&self) -> u64 {
        self.indexes.values().copied().fold(0, u64::saturating_add)
    }
}
