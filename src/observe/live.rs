//! The commands that watch a server: they only read.

use bson::{Document, RawDocumentBuf, rawdoc};

use crate::server::reader::Reader;
use crate::server::{Failure, FailureKind};

use super::observations::Observations;
use super::watch::CounterSnapshot;

/// Bytes of the documents of one command at most.
const MOST_BYTES: usize = 64 << 20;
/// Entries of the oplog that one command reads.
const PAGE: usize = 10_000;
/// Entries that are read at most: more change no share.
const MOST_ENTRIES: usize = 500_000;

/// Reads the counters of these collections. Needs the actions `indexStats` and `top`.
///
/// # Errors
/// When the server rejects one of the commands.
pub async fn snapshot(reader: &Reader, database: &str, collections: &[String]) -> Result<CounterSnapshot, Failure> {
    let mut snapshot = CounterSnapshot::default();
    for collection in collections {
        let command = rawdoc! { "aggregate": collection.as_str(), "pipeline": [{ "$indexStats": {} }], "cursor": {} };
        let indexes = documents(reader, database, command).await?;
        snapshot.indexes.insert(collection.clone(), indexes);
    }
    let top = reply(reader, rawdoc! { "top": 1 }).await?;
    snapshot.top = top.get_document("totals").cloned().unwrap_or_default();
    let hello = reply(reader, rawdoc! { "hello": 1 }).await?;
    let last_write = hello.get_document("lastWrite").and_then(|write| write.get_document("opTime"));
    snapshot.newest = last_write.ok().and_then(|time| time.get_timestamp("ts").ok());
    snapshot.member = hello.get_str("me").unwrap_or_default().to_owned();
    Ok(snapshot)
}

/// Reads the oplog between two snapshots, and adds the reads that the counters have. Needs `find` on `local.oplog.rs`.
///
/// # Errors
/// When the server rejects one of the commands, or the snapshots are not of one member.
pub async fn between(
    reader: &Reader,
    database: &str,
    before: &CounterSnapshot,
    after: &CounterSnapshot,
) -> Result<Observations, Failure> {
    if before.member != after.member {
        let message = format!(
            "the snapshots are of two members, {} and {}: connect to one of them (directConnection=true)",
            before.member, after.member
        );
        return Err(Failure::new(FailureKind::Driver, message));
    }
    let mut observations = Observations::new(database);
    let (mut from, mut seen) = (before.newest, 0);
    if from.is_none() {
        observations
            .limits
            .push("the server has no oplog, as it is no replica set: writes were not observed".to_owned());
    }
    while let (Some(after_this), Some(to)) = (from, after.newest) {
        let filter = rawdoc! { "ts": { "$gt": after_this, "$lte": to }, "op": { "$ne": "n" } };
        let sort = rawdoc! { "$natural": 1 };
        let command = rawdoc! { "find": "oplog.rs", "filter": filter, "sort": sort, "limit": PAGE as i64 };
        let page = documents(reader, "local", command).await?;
        page.iter().for_each(|entry| observations.add_entry(entry));
        seen += page.len();
        from = page.last().and_then(|entry| entry.get_timestamp("ts").ok());
        if from.is_some() && seen >= MOST_ENTRIES {
            let limit = format!("only the first {seen} entries of the oplog were read: watch for a shorter time");
            observations.limits.push(limit);
            break;
        }
    }
    observations.add_reads(before, after);
    Ok(observations)
}

/// Reads the statements that the profiler has recorded; none if it was never on. Needs `find` on `system.profile`.
///
/// # Errors
/// When the server rejects the command.
pub async fn profile(reader: &Reader, database: &str) -> Result<Observations, Failure> {
    let command = rawdoc! { "find": "system.profile", "sort": { "$natural": 1 } };
    let documents = documents(reader, database, command).await?;
    Ok(super::profile::read(documents, database))
}

/// The documents that a command with a cursor returns.
async fn documents(reader: &Reader, database: &str, command: RawDocumentBuf) -> Result<Vec<Document>, Failure> {
    let found = reader.read(database, command, MOST_BYTES).await?;
    found.iter().map(read).collect()
}

/// The reply to a command for the whole server.
async fn reply(reader: &Reader, command: RawDocumentBuf) -> Result<Document, Failure> {
    read(&reader.ask("admin", command).await?)
}

fn read(document: &RawDocumentBuf) -> Result<Document, Failure> {
    let read = Document::try_from(&**document);
    read.map_err(|error| Failure::new(FailureKind::Driver, format!("BSON cannot be read: {error}")))
}
