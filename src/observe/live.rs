//! The commands that watch a server: they only read.

use bson::{Document, RawDocumentBuf, Timestamp, doc};

use crate::server::reader::Reader;
use crate::server::{Failure, FailureKind};

use super::observations::Observations;
use super::watch::{CounterSnapshot, Watch};

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
        let command = doc! { "aggregate": collection, "pipeline": [{ "$indexStats": {} }], "cursor": {} };
        let indexes = documents(reader, database, command).await?;
        snapshot.indexes.insert(collection.clone(), indexes);
    }
    let top = reply(reader, doc! { "top": 1 }).await?;
    snapshot.top = top.get_document("totals").cloned().unwrap_or_default();
    let hello = reply(reader, doc! { "hello": 1 }).await?;
    snapshot.newest = newest(&hello);
    snapshot.member = hello.get_str("me").unwrap_or_default().to_owned();
    Ok(snapshot)
}

fn newest(hello: &Document) -> Option<Timestamp> {
    hello.get_document("lastWrite").ok()?.get_document("opTime").ok()?.get_timestamp("ts").ok()
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
    let mut watch = Watch::new(database);
    let (Some(mut from), Some(to)) = (before.newest, after.newest) else {
        watch.limit("the server has no oplog, as it is no replica set: writes were not observed".to_owned());
        return Ok(watch.finish(before, after));
    };
    let mut seen = 0;
    loop {
        let filter = doc! { "ts": { "$gt": from, "$lte": to }, "op": { "$ne": "n" } };
        let sort = doc! { "$natural": 1 };
        let command = doc! { "find": "oplog.rs", "filter": filter, "sort": sort, "limit": PAGE as i64 };
        let page = documents(reader, "local", command).await?;
        page.iter().for_each(|entry| watch.entry(entry));
        seen += page.len();
        let last = page.last().and_then(|entry| entry.get_timestamp("ts").ok());
        match last {
            Some(_) if seen >= MOST_ENTRIES => {
                watch.limit(format!("only the first {seen} entries of the oplog were read: watch for a shorter time"));
                break;
            }
            Some(last) => from = last,
            None => break,
        }
    }
    Ok(watch.finish(before, after))
}

/// Reads the statements that the profiler has recorded; none if it was never on. Needs `find` on `system.profile`.
///
/// # Errors
/// When the server rejects the command.
pub async fn profile(reader: &Reader, database: &str) -> Result<Observations, Failure> {
    let command = doc! { "find": "system.profile", "sort": { "$natural": 1 } };
    let documents = documents(reader, database, command).await?;
    Ok(super::profile::read(documents, database))
}

/// The documents that a command with a cursor returns.
async fn documents(reader: &Reader, database: &str, command: Document) -> Result<Vec<Document>, Failure> {
    let command = RawDocumentBuf::try_from(&command).map_err(unreadable)?;
    let found = reader.read(database, command, MOST_BYTES).await?;
    found.iter().map(|document| Document::try_from(&**document).map_err(unreadable)).collect()
}

/// The reply to a command for the whole server.
async fn reply(reader: &Reader, command: Document) -> Result<Document, Failure> {
    let command = RawDocumentBuf::try_from(&command).map_err(unreadable)?;
    let found = reader.ask("admin", command).await?;
    Document::try_from(&*found).map_err(unreadable)
}

fn unreadable(error: bson::error::Error) -> Failure {
    Failure::new(FailureKind::Driver, format!("BSON cannot be read: {error}"))
}
