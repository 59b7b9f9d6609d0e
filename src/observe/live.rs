//! The commands that watch a server: they only read.

use std::future::Future;

use bson::{Bson, Document, RawDocumentBuf, Timestamp, doc};

use crate::server::{Failure, FailureKind, ReplyKind, Target};

use super::observations::Observations;
use super::watch::{CounterSnapshot, Watch};

/// The longest that one command may take on the server, in milliseconds.
const MAX_MILLIS: i64 = 5000;
/// Marks the commands in the server's log, so that they are not taken for those of an application.
const COMMENT: &str = "docshape observes";
/// Entries of the oplog that one command reads.
const PAGE: usize = 10_000;
/// Entries that are read at most: more change no share.
const MOST_ENTRIES: usize = 500_000;

/// A client that sends commands which only read.
pub trait ReadCommands {
    /// Returns the documents of a cursor, or else the reply.
    fn documents(
        &self,
        database: &str,
        command: Document,
        has_cursor: bool,
    ) -> impl Future<Output = Result<Vec<Document>, Failure>>;
}

/// Reads the counters of these collections. Needs the actions `indexStats` and `top`.
///
/// # Errors
/// When the server rejects one of the commands.
pub async fn snapshot<C: ReadCommands>(
    client: &C,
    database: &str,
    collections: &[String],
) -> Result<CounterSnapshot, Failure> {
    let mut snapshot = CounterSnapshot::default();
    for collection in collections {
        let command = doc! { "aggregate": collection, "pipeline": [{ "$indexStats": {} }], "cursor": {} };
        let indexes = client.documents(database, command, true).await?;
        snapshot.indexes.insert(collection.clone(), indexes);
    }
    let top = client.documents("admin", doc! { "top": 1 }, false).await?;
    let totals = top.first().and_then(|top| top.get_document("totals").ok());
    snapshot.top = totals.cloned().unwrap_or_default();
    let hello = client.documents("admin", doc! { "hello": 1 }, false).await?;
    snapshot.newest = hello.first().and_then(newest);
    snapshot.member = hello.first().and_then(|hello| hello.get_str("me").ok()).unwrap_or_default().to_owned();
    Ok(snapshot)
}

fn newest(hello: &Document) -> Option<Timestamp> {
    hello.get_document("lastWrite").ok()?.get_document("opTime").ok()?.get_timestamp("ts").ok()
}

/// Reads the oplog between two snapshots, and adds the reads that the counters have. Needs `find` on `local.oplog.rs`.
///
/// # Errors
/// When the server rejects one of the commands, or the snapshots are not of one member.
pub async fn between<C: ReadCommands>(
    client: &C,
    database: &str,
    before: &CounterSnapshot,
    after: &CounterSnapshot,
) -> Result<Observations, Failure> {
    if before.member != after.member {
        let message = format!(
            "the snapshots are of two members, {} and {}: connect to one of them (directConnection=true)",
            before.member, after.member
        );
        return Err(Failure { kind: FailureKind::Driver, message, labels: Vec::new() });
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
        let page = client.documents("local", command, true).await?;
        page.iter().for_each(|entry| watch.entry(entry));
        seen += page.len();
        let last = page.last().and_then(|entry| entry.get_timestamp("ts").ok());
        match last {
            Some(_) if seen >= MOST_ENTRIES => {
                watch.limit(format!("only the first {seen} entries of the oplog were read: watch for a shorter time"));
                break;
            }
            Some(last) if page.len() == PAGE => from = last,
            _ => break,
        }
    }
    Ok(watch.finish(before, after))
}

/// Reads the statements that the profiler has recorded; none if it was never on. Needs `find` on `system.profile`.
///
/// # Errors
/// When the server rejects the command.
pub async fn profile<C: ReadCommands>(client: &C, database: &str) -> Result<Observations, Failure> {
    let command = doc! { "find": "system.profile", "sort": { "$natural": 1 } };
    let documents = client.documents(database, command, true).await?;
    Ok(super::profile::read(documents, database))
}

impl<T: Target> ReadCommands for T {
    async fn documents(&self, database: &str, command: Document, has_cursor: bool) -> Result<Vec<Document>, Failure> {
        let mut command = command;
        let kind = if has_cursor { ReplyKind::Cursor } else { ReplyKind::Single };
        command.insert("maxTimeMS", MAX_MILLIS);
        command.insert("comment", COMMENT);
        let unreadable = |error: bson::error::Error| Failure {
            kind: FailureKind::Driver,
            message: format!("a reply of the server cannot be read: {error}"),
            labels: Vec::new(),
        };
        let command = RawDocumentBuf::try_from(&command).map_err(unreadable)?;
        let reply = self.run(database, command, kind).await?;
        let mut found = Vec::new();
        for batch in reply.batches() {
            let document = Document::try_from(batch.as_ref()).map_err(unreadable)?;
            match document.get_document("cursor") {
                Ok(cursor) => {
                    let batch = cursor.get_array("firstBatch").or_else(|_| cursor.get_array("nextBatch"));
                    found.extend(batch.into_iter().flatten().filter_map(Bson::as_document).cloned());
                }
                Err(_) => found.push(document),
            }
        }
        Ok(found)
    }
}
