//! The counters that a server keeps of its own work, and how much they grew.

use std::collections::BTreeMap;

use bson::{RawDocument, RawDocumentBuf, Timestamp, rawdoc};

use crate::record::{COUNTERS, OPLOG_BYTES};

use super::field::{at, double, whole};
use super::{Failure, ReplyKind, Target};

/// Sections of `serverStatus` without any of the counters; without them the command takes a third of the time. A release
/// ignores names that it does not know.
const UNUSED_SECTIONS: &str = "\
    asserts, batchedDeletes, bucketCatalog, catalogStats, changeStreamPreImages, connections, defaultRWConcern, \
    electionMetrics, featureCompatibilityVersion, flowControl, freeMonitoring, globalLock, hedgingMetrics, \
    indexBulkBuilder, indexBuilds, indexStats, internalTransactions, Instance Information, locks, \
    logicalSessionRecordCache, mirroredReads, opReadConcernCounters, opWorkingTime, oplogTruncation, planCache, \
    queues, readConcernCounters, readPreferenceCounters, repl, scramCache, security, shardSplits, \
    storageEngine, tcmalloc, tenantMigrations, trafficRecording, transportSecurity, \
    twoPhaseCommitCoordinator";

/// The collection in `local`.
const OPLOG: &str = "oplog.rs";

/// Numbers by name, without those that the server does not report.
pub type Counters = BTreeMap<&'static str, f64>;

/// All counters at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    numbers: Counters,
    oplog: Option<Oplog>,
    /// Host and process id: counters of two processes cannot be subtracted.
    process: Option<(String, i64)>,
}

/// The oplog at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Oplog {
    /// All entries, uncompressed, and the rest of `local`, which does not grow.
    bytes: f64,
    /// When the oldest entry was written; it moves when old entries are removed.
    oldest: Timestamp,
    /// When the newest entry was written.
    newest: Timestamp,
}

impl Snapshot {
    /// Reads the counters that the server reports; without the oplog's size where the user may not read `local`.
    ///
    /// # Errors
    /// When `serverStatus` fails.
    pub async fn read(target: &impl Target) -> Result<Snapshot, Failure> {
        let reply = target.run("admin", server_status(), ReplyKind::Single).await?;
        let Some(status) = reply.batches().first() else {
            return Ok(Snapshot { numbers: Counters::new(), oplog: None, process: None });
        };
        let mut numbers = Counters::new();
        for counter in &COUNTERS {
            for number in counter.paths.iter().filter_map(|path| double(at(status, path)?)) {
                *numbers.entry(counter.name).or_default() += number;
            }
        }
        let host = at(status, "host").and_then(|host| host.as_str());
        let process = host.map(str::to_owned).zip(at(status, "pid").and_then(whole));
        Ok(Snapshot { numbers, oplog: oplog(target, status).await, process })
    }

    /// Whether the server reports no counter.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// How much every counter grew until `later`, and whether the oplog had to be read for it, which moves counters. Nothing is known
    /// when another process answered, after a failover.
    ///
    /// The oplog's growth is that of its size, which is the sum of its entries' sizes to the byte. Where old entries were
    /// removed meanwhile, the new ones of `database` are added up; if some of those are gone, too, the growth is unknown.
    pub async fn growth(&self, later: &Snapshot, target: &impl Target, database: &str) -> (Counters, bool) {
        if self.process != later.process {
            return (Counters::new(), false);
        }
        let both = self.numbers.iter().filter_map(|(name, before)| Some((*name, later.numbers.get(name)? - before)));
        let mut growth: Counters = both.collect();
        let (Some(before), Some(after)) = (self.oplog, later.oplog) else { return (growth, false) };
        let is_read = before.oldest != after.oldest;
        let bytes = if !is_read {
            Some(after.bytes - before.bytes)
        } else if after.oldest > before.newest {
            None
        } else {
            oplog_entries(target, database, before.newest, after.newest).await
        };
        growth.extend(bytes.map(|bytes| (OPLOG_BYTES, bytes)));
        (growth, is_read)
    }
}

fn server_status() -> RawDocumentBuf {
    let mut command = rawdoc! { "serverStatus": 1, "oplog": 1 };
    for section in UNUSED_SECTIONS.split(", ") {
        // Only a name with a zero byte is an error, and there is none.
        if let Ok(section) = <&bson::raw::CStr>::try_from(section) {
            command.append(section, 0);
        }
    }
    command
}

/// The oplog. Its size is that of all documents in `local`: of its collections only the oplog grows, and the server knows
/// this without reading storage, in a fraction of the time that `$collStats` takes.
async fn oplog(target: &impl Target, status: &RawDocument) -> Option<Oplog> {
    let time = |path| at(status, path)?.as_timestamp();
    let (oldest, newest) = (time("oplog.earliestOptime")?, time("oplog.latestOptime")?);
    let reply = target.run("local", rawdoc! { "dbStats": 1 }, ReplyKind::Single).await.ok()?;
    let bytes = double(at(reply.batches().first()?, "dataSize")?)?;
    Some(Oplog { bytes, oldest, newest })
}

/// The bytes of a database's entries in the oplog after one time, up to another; `None` when the user may not read it.
/// A transaction is one entry of `admin` with the changes of one call, and so of one database.
pub async fn oplog_entries(target: &impl Target, database: &str, after: Timestamp, until: Timestamp) -> Option<f64> {
    let prefix = format!("{database}.");
    let starts = |name: &str| rawdoc! { "$eq": [{ "$indexOfBytes": [name, prefix.as_str()] }, 0] };
    let inner = rawdoc! { "$anyElementTrue": [{ "$map": {
        "input": { "$cond": [{ "$isArray": "$o.applyOps" }, "$o.applyOps", []] },
        "as": "change",
        "in": starts("$$change.ns"),
    } }] };
    let command = rawdoc! {
        "aggregate": OPLOG,
        "pipeline": [
            { "$match": { "ts": { "$gt": after, "$lte": until }, "$expr": { "$or": [starts("$ns"), inner] } } },
            { "$group": { "_id": null, "bytes": { "$sum": { "$bsonSize": "$$ROOT" } } } },
        ],
        "cursor": {},
    };
    let reply = target.run("local", command, ReplyKind::Cursor).await.ok()?;
    let batch = at(reply.batches().first()?, "cursor.firstBatch")?.as_array()?;
    if batch.is_empty() {
        return Some(0.0);
    }
    double(at(batch.get_document(0).ok()?, "bytes")?)
}

#[cfg(test)]
mod tests {
    use super::super::Reply;
    use super::*;

    /// Reports 700 bytes of new entries.
    struct OplogServer;

    impl Target for OplogServer {
        async fn run(&self, database: &str, _: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
            assert_eq!(database, "local");
            Ok(Reply::from(rawdoc! { "cursor": { "firstBatch": [{ "bytes": 700 }] } }))
        }
    }

    fn snapshot(bytes: f64, oldest: u32, newest: u32) -> Snapshot {
        let time = |time| Timestamp { time, increment: 1 };
        let oplog = Some(Oplog { bytes, oldest: time(oldest), newest: time(newest) });
        Snapshot { numbers: Counters::new(), oplog, process: None }
    }

    #[tokio::test]
    async fn the_oplog_grows_by_its_size_until_old_entries_go() {
        let before = snapshot(1_000.0, 1, 50);
        let growth = async |later: &Snapshot| before.growth(later, &OplogServer, "db").await;
        let bytes = |bytes: f64| Counters::from([(OPLOG_BYTES, bytes)]);
        assert_eq!(growth(&snapshot(1_500.0, 1, 60)).await, (bytes(500.0), false));
        assert_eq!(growth(&snapshot(900.0, 7, 60)).await, (bytes(700.0), true));
        assert_eq!(growth(&snapshot(900.0, 55, 60)).await, (Counters::new(), true), "some of the new ones are gone");
    }
}
