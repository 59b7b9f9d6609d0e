//! The server's counters: where `serverStatus` has them, and how a report shows them.

use Claimable::{Contended, Counted, Timed, Varying};
use Unit::{Bytes, Count, Microseconds};

use super::metric::MatrixColumn;
use super::part::Part;

/// A number that the server keeps of its own work.
#[derive(Debug, PartialEq)]
pub struct Counter {
    /// The key in `run.json`, in `metrics.csv` and in a scenario's claims.
    pub name: &'static str,
    /// The paths in `serverStatus` whose numbers add up to it, with dots between names; none for what is measured
    /// otherwise.
    pub paths: &'static [&'static str],
    /// The name for people.
    pub label: &'static str,
    /// What its numbers count.
    pub unit: Unit,
    /// Which reports have a row for it.
    pub shown: Shown,
    /// The column's heading in the table of own costs; empty without a column.
    pub heading: &'static str,
    /// How a scenario's claim may name it.
    pub claim: Claimable,
    /// Its columns in the matrix of published results.
    pub matrix: &'static [MatrixColumn],
    /// Whether only the router of a cluster has it, so that elsewhere nothing is missing without it.
    pub is_routed: bool,
    /// The recorded counters whose sum it is; none for one that is recorded itself.
    sum_of: &'static [&'static str],
}

/// How a scenario's claim may name a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claimable {
    /// Not at all.
    No,
    /// Per call of one operation by itself: equal calls give equal counts.
    Counted,
    /// Per call of one operation by itself: it also depends on what the server does in the background.
    Varying,
    /// Per call of one operation by itself: a time, which depends on the machine.
    Timed,
    /// Per call of the mix at saturation: one client alone causes none.
    Contended,
}

/// What the numbers of a metric are. The order is that of the columns in the table of own costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// Things.
    Count,
    /// Bytes.
    Bytes,
    /// Microseconds of time.
    Microseconds,
    /// Nanoseconds of time.
    Nanoseconds,
    /// Calls per second: more is better.
    PerSecond,
}

/// Which reports have a row for a counter in the costs of the mix, or a column for a quantile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// None: it is recorded only.
    Nowhere,
    /// The page alone.
    OnPage,
    /// Those with room for all of them, a terminal not among them.
    InFull,
    /// All.
    Everywhere,
}

/// The name of the counter of new oplog entries, which `serverStatus` does not have.
pub const OPLOG_BYTES: &str = "oplog_bytes";

/// The name of the counter of write conflicts, which leaves out those in transactions.
pub const WRITE_CONFLICTS: &str = "write_conflicts";

/// The label of errors after which a whole transaction may be retried, and the name under which such retries are counted.
pub const TRANSIENT: &str = "TransientTransactionError";

/// The names under which conflicts in transactions are counted as retries or failures: [`TRANSIENT`], and the server's code
/// `WriteConflict`, which it returns only in a transaction: elsewhere it repeats the write itself.
pub static CONFLICTS_IN_TRANSACTIONS: [&str; 2] = [TRANSIENT, "112"];

/// The name of the counter of requests that no application makes.
pub const MEMBER_REQUESTS: &str = "member_requests";

/// Requests of the set's other members, which fetch the oplog and report how far they are, and of every driver's monitoring.
static MEMBER_REQUEST_PATHS: [&str; 6] = [
    "metrics.repl.network.oplogGetMoresProcessed.num",
    "metrics.commands.replSetUpdatePosition.total",
    "metrics.commands.replSetHeartbeat.total",
    "metrics.commands.replSetRequestVotes.total",
    "metrics.commands.hello.total",
    "metrics.commands.isMaster.total",
];

/// The commands of all kinds that the router of a cluster has sent to these shards.
macro_rules! targets {
    ($shards:literal) => {
        &[
            concat!("shardingStatistics.numHostsTargeted.find.", $shards),
            concat!("shardingStatistics.numHostsTargeted.insert.", $shards),
            concat!("shardingStatistics.numHostsTargeted.update.", $shards),
            concat!("shardingStatistics.numHostsTargeted.delete.", $shards),
            concat!("shardingStatistics.numHostsTargeted.aggregate.", $shards),
        ]
    };
}

/// The messages of docshape's own, which it counts itself: the first column of the table of own costs.
pub static ROUND_TRIPS: Counter = counter("round_trips", &[], "round trips", Count).column("trips");

/// Every counter, in the order in which reports show them.
pub static COUNTERS: [Counter; 47] = [
    counter("cpu_us", &["extra_info.user_time_us", "extra_info.system_time_us"], "CPU time", Microseconds)
        .main()
        .column("~ CPU")
        .claimable(Timed)
        .in_matrix(&[CPU_TIME]),
    counter("requests", &["network.numRequests"], "requests", Count),
    counter("bytes_in", &["network.bytesIn"], "bytes in", Bytes).main().column("in"),
    counter("bytes_out", &["network.bytesOut"], "bytes out", Bytes).main().column("out").claimable(Counted),
    counter("keys_examined", &["metrics.queryExecutor.scanned"], "keys examined", Count)
        .main()
        .column("keys")
        .claimable(Counted),
    counter("documents_examined", &["metrics.queryExecutor.scannedObjects"], "documents examined", Count)
        .main()
        .column("docs")
        .claimable(Counted),
    counter("documents_returned", &["metrics.document.returned"], "documents returned", Count).main(),
    counter("documents_inserted", &["metrics.document.inserted"], "documents inserted", Count),
    counter("documents_updated", &["metrics.document.updated"], "documents updated", Count),
    counter("documents_deleted", &["metrics.document.deleted"], "documents deleted", Count),
    counter("collection_scans", &["metrics.queryExecutor.collectionScans.total"], "collection scans", Count).main(),
    counter("sorts_in_memory", &["metrics.operation.scanAndOrder"], "sorts in memory", Count).main(),
    counter(WRITE_CONFLICTS, &["metrics.operation.writeConflicts"], "write conflicts", Count)
        .main()
        .claimable(Contended),
    counter(OPLOG_BYTES, &[], "oplog bytes", Bytes)
        .main()
        .column("oplog")
        .claimable(Counted)
        .in_matrix(&[OPLOG_OF_MIX]),
    counter("journal_bytes", &["wiredTiger.log.log bytes written"], "journal", Bytes).main().claimable(Varying),
    counter("cache_bytes_read", &["wiredTiger.cache.bytes read into cache"], "read into cache", Bytes).main(),
    counter("cache_bytes_written", &["wiredTiger.cache.bytes written from cache"], "written from cache", Bytes).main(),
    counter("cursor_insert_bytes", &["wiredTiger.cursor.cursor insert key and value bytes"], "stored whole", Bytes),
    counter(
        "cursor_modify_bytes",
        &["wiredTiger.cursor.cursor modify value bytes modified"],
        "stored as changes",
        Bytes,
    ),
    counter("cursor_insert_calls", &["wiredTiger.cursor.cursor insert calls"], "whole values stored", Count),
    counter("cursor_modify_calls", &["wiredTiger.cursor.cursor modify calls"], "changes of values stored", Count),
    counter("transactions_started", &["transactions.totalStarted"], "transactions", Count),
    counter("transactions_committed", &["transactions.totalCommitted"], "transactions committed", Count),
    counter("transactions_aborted", &["transactions.totalAborted"], "transactions aborted", Count),
    counter("targeted_one_shard", targets!("oneShard"), "commands to one shard", Count)
        .main()
        .column("1 shard")
        .claimable(Counted)
        .of_router(),
    counter("targeted_many_shards", targets!("manyShards"), "commands to several shards", Count)
        .main()
        .column("n shards")
        .claimable(Counted)
        .of_router(),
    counter("targeted_all_shards", targets!("allShards"), "commands to all shards", Count)
        .main()
        .column("all shards")
        .claimable(Counted)
        .of_router(),
    counter("targeted_unsharded", targets!("unsharded"), "commands to collections that are not sharded", Count)
        .of_router(),
    counter("two_phase_commits", &["transactions.commitTypes.twoPhaseCommit.successful"], "two-phase commits", Count)
        .main()
        .column("2-phase")
        .claimable(Counted)
        .of_router(),
    counter(
        "one_write_shard_commits",
        &["transactions.commitTypes.singleWriteShard.successful"],
        "commits of writes on one shard of several",
        Count,
    )
    .of_router(),
    counter("one_shard_commits", &["transactions.commitTypes.singleShard.successful"], "commits on one shard", Count)
        .of_router(),
    recorded(MEMBER_REQUESTS, &MEMBER_REQUEST_PATHS, Count),
    recorded("cursor_update_calls", &["wiredTiger.cursor.cursor update calls"], Count),
    recorded("cursor_update_bytes", &["wiredTiger.cursor.cursor update key and value bytes"], Bytes),
    recorded("documents_expired", &["metrics.ttl.deletedDocuments"], Count),
    recorded("opcounters_insert", &["opcounters.insert"], Count),
    recorded("opcounters_query", &["opcounters.query"], Count),
    recorded("opcounters_update", &["opcounters.update"], Count),
    recorded("opcounters_delete", &["opcounters.delete"], Count),
    recorded("opcounters_getmore", &["opcounters.getmore"], Count),
    recorded("opcounters_command", &["opcounters.command"], Count),
    recorded("op_latency_reads_us", &["opLatencies.reads.latency"], Microseconds),
    recorded("op_latency_reads_ops", &["opLatencies.reads.ops"], Count),
    recorded("op_latency_writes_us", &["opLatencies.writes.latency"], Microseconds),
    recorded("op_latency_writes_ops", &["opLatencies.writes.ops"], Count),
    recorded("op_latency_commands_us", &["opLatencies.commands.latency"], Microseconds),
    recorded("op_latency_commands_ops", &["opLatencies.commands.ops"], Count),
];

const CPU_TIME: MatrixColumn = MatrixColumn::new(
    4,
    Part::Saturation,
    ["cpu_time", "cpu", "server CPU"],
    "CPU time of the server per call of the mix, as times the lowest of the row. As measured, not tested.",
);

const OPLOG_OF_MIX: MatrixColumn = MatrixColumn::new(
    7,
    Part::Saturation,
    ["oplog_bytes", "oplog", "oplog bytes"],
    "Bytes of oplog per call of the mix, as times the lowest of the row (below 20 B: what the server itself writes). As \
     measured, not tested.",
);

/// Metrics of claims that are sums of recorded counters.
pub static SUMS: [Counter; 2] = [
    counter("cache_bytes", &[], "bytes read into and written from the cache", Bytes)
        .sum_of(&["cache_bytes_read", "cache_bytes_written"])
        .claimable(Varying),
    counter("entries_inserted", &[], "entries stored in collections, indexes and oplog", Count)
        .sum_of(&["cursor_insert_calls"])
        .claimable(Counted),
];

/// A counter that reports with room for it show.
const fn counter(name: &'static str, paths: &'static [&'static str], label: &'static str, unit: Unit) -> Counter {
    Counter {
        name,
        paths,
        label,
        unit,
        shown: Shown::InFull,
        heading: "",
        claim: Claimable::No,
        matrix: &[],
        is_routed: false,
        sum_of: &[],
    }
}

/// A counter that no report shows.
const fn recorded(name: &'static str, paths: &'static [&'static str], unit: Unit) -> Counter {
    Counter { shown: Shown::Nowhere, ..counter(name, paths, name, unit) }
}

impl Counter {
    /// Finds a counter by its name.
    pub fn named(name: &str) -> Option<&'static Counter> {
        COUNTERS.iter().find(|counter| counter.name == name)
    }

    /// Returns the counters and sums that claims may name.
    pub fn claimed() -> impl Iterator<Item = &'static Counter> {
        COUNTERS.iter().chain(&SUMS).filter(|counter| counter.claim != Claimable::No)
    }

    /// Returns its value from recorded counters; `None` where one that it needs is missing.
    pub fn value(&self, recorded: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        match self.sum_of {
            [] => recorded(self.name),
            parts => parts.iter().map(|part| recorded(part)).sum(),
        }
    }

    /// Returns the columns of the table of own costs: round trips, then counts, bytes and time.
    pub fn own_cost_columns() -> Vec<&'static Counter> {
        let has_column = |counter: &&Counter| !counter.heading.is_empty() && !counter.is_routed;
        let mut columns: Vec<&Counter> = COUNTERS.iter().filter(has_column).collect();
        columns.sort_by_key(|counter| counter.unit);
        columns.insert(0, &ROUND_TRIPS);
        columns
    }

    /// Returns the columns of the same table for a cluster's router.
    pub fn router_columns() -> Vec<&'static Counter> {
        COUNTERS.iter().filter(|counter| counter.is_routed && !counter.heading.is_empty()).collect()
    }

    const fn main(self) -> Counter {
        Counter { shown: Shown::Everywhere, ..self }
    }

    const fn column(self, heading: &'static str) -> Counter {
        Counter { heading, ..self }
    }

    const fn claimable(self, claim: Claimable) -> Counter {
        Counter { claim, ..self }
    }

    const fn of_router(self) -> Counter {
        Counter { is_routed: true, ..self }
    }

    const fn in_matrix(self, matrix: &'static [MatrixColumn]) -> Counter {
        Counter { matrix, ..self }
    }

    const fn sum_of(self, sum_of: &'static [&'static str]) -> Counter {
        Counter { sum_of, ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_paths_are_unique() {
        let unique = |texts: Vec<&str>| texts.iter().collect::<BTreeSet<_>>().len() == texts.len();
        assert!(unique(COUNTERS.iter().chain(&SUMS).map(|counter| counter.name).collect()));
        assert!(unique(COUNTERS.iter().flat_map(|counter| counter.paths.iter().copied()).collect()));
    }

    #[test]
    fn sums_add_recorded_counters() {
        let cache = &SUMS[0];
        let recorded = |names: &'static [&str]| move |name: &str| names.contains(&name).then_some(2.0);
        assert_eq!(cache.value(recorded(&["cache_bytes_read", "cache_bytes_written"])), Some(4.0));
        assert_eq!(cache.value(recorded(&["cache_bytes_read"])), None);
        assert_eq!(Counter::named("cpu_us").unwrap().value(recorded(&["cpu_us"])), Some(2.0));
        for part in SUMS.iter().flat_map(|sum| sum.sum_of) {
            assert!(Counter::named(part).is_some(), "{part}");
        }
    }

    #[test]
    fn own_cost_columns_are_counts_then_bytes_then_time() {
        let headings: Vec<&str> = Counter::own_cost_columns().iter().map(|counter| counter.heading).collect();
        assert_eq!(headings, ["trips", "keys", "docs", "in", "out", "oplog", "~ CPU"]);
    }
}
