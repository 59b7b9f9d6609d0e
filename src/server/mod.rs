//! The MongoDB side: the only user of the driver's client.

pub mod client;
pub mod cluster;
pub mod counters;
pub mod database_names;
pub mod delay;
pub mod deployment;
pub mod embedded;
mod failure;
mod field;
pub mod flush;
mod folder;
mod launch;
mod locate;
pub mod memory;
pub mod meter;
pub mod namespace;
pub mod noop;
pub mod owner;
mod pool;
pub mod primary;
pub mod process;
pub mod reader;
mod replica_set;
mod server_log;
mod session;
pub mod steady;
pub mod survey;
mod taken;
mod transaction;
pub mod turns;
mod unknown_outcome;
mod uri_error;
pub mod wrapper;
mod write_counts;

use std::future::Future;
use std::ops::Deref;
use std::time::Duration;

use bson::{RawDocument, RawDocumentBuf};
use mongodb::raw_batch_cursor::RawBatch;

use deployment::SINGLE_SERVER_PATIENCE;
pub(crate) use failure::DUPLICATE_KEY;
use primary::PrimaryChange;
pub use transaction::Transaction;
pub use write_counts::{WriteCounts, count};

/// What kind of reply a command has, and so how it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyKind {
    /// A cursor (`find`, `aggregate`, `listIndexes`...): sent so that its batches stay raw, and drained to the end.
    Cursor,
    /// A write of several requests: its reply is returned even if some of them failed, for
    /// [`Reply::write_errors`].
    Writes,
    /// A write of which only the counts matter.
    Counts,
    /// One small document (`count`, `findAndModify`, `ping`...).
    Single,
}

/// The whole reply to one command.
#[derive(Debug)]
pub enum Reply {
    /// The whole reply documents, one for a single reply, one per batch of a cursor (`cursor.firstBatch`, then
    /// `cursor.nextBatch`).
    Documents(Vec<Batch>),
    /// The counts of a write. A target may return the document instead.
    Counts(WriteCounts),
}

/// One reply document. The bytes of a cursor's batch belong to the driver.
#[derive(Debug)]
pub enum Batch {
    /// Our own bytes.
    Owned(RawDocumentBuf),
    /// The driver's bytes.
    Driver(RawBatch),
}

impl AsRef<RawDocument> for Batch {
    fn as_ref(&self) -> &RawDocument {
        match self {
            Batch::Owned(document) => document,
            Batch::Driver(batch) => batch.as_raw_document(),
        }
    }
}

impl Deref for Batch {
    type Target = RawDocument;

    fn deref(&self) -> &RawDocument {
        self.as_ref()
    }
}

impl From<RawDocumentBuf> for Reply {
    fn from(document: RawDocumentBuf) -> Reply {
        Reply::Documents(vec![Batch::Owned(document)])
    }
}

impl Reply {
    /// Messages exchanged: one for the command, one more for each further batch.
    pub fn round_trips(&self) -> u64 {
        match self {
            Reply::Documents(batches) => batches.len() as u64,
            Reply::Counts(_) => 1,
        }
    }

    /// The reply documents; none when only counts were asked for.
    pub fn batches(&self) -> &[Batch] {
        match self {
            Reply::Documents(batches) => batches,
            Reply::Counts(_) => &[],
        }
    }

    /// The failed requests of a write: their positions in the command, and why.
    pub fn write_errors(&self) -> Vec<(usize, Failure)> {
        self.batches().first().map_or_else(Vec::new, |reply| failure::write_errors(reply))
    }

    /// Documents that a write inserted, deleted or matched; 0 for other replies.
    pub fn n(&self) -> i64 {
        match self {
            Reply::Documents(batches) => batches.first().map_or(0, |reply| count(reply)),
            Reply::Counts(counts) => counts.n,
        }
    }

    /// The counts of a write; all zero for other replies.
    pub fn into_counts(self) -> WriteCounts {
        match self {
            Reply::Documents(batches) => batches.first().map(|reply| WriteCounts::read(reply)).unwrap_or_default(),
            Reply::Counts(counts) => counts,
        }
    }

    /// The reply documents.
    pub fn into_batches(self) -> Vec<Batch> {
        match self {
            Reply::Documents(batches) => batches,
            Reply::Counts(_) => Vec::new(),
        }
    }

    /// The reply of a command that has one; empty without any.
    pub fn into_document(self) -> RawDocumentBuf {
        match self.into_batches().pop() {
            Some(Batch::Owned(document)) => document,
            Some(Batch::Driver(batch)) => batch.as_raw_document().to_owned(),
            None => RawDocumentBuf::new(),
        }
    }
}

/// Why a command failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The case, as far as callers distinguish.
    pub kind: FailureKind,
    /// The message of the server or driver, without credentials.
    pub message: String,
    /// Error labels such as `TransientTransactionError`.
    pub labels: Vec<String>,
}

/// The cases of [`Failure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureKind {
    /// The server failed the command with this code: a command error, or the first write error of an `ok: 1` reply.
    Server(i32),
    /// The server wrote, but could not wait until as many members have it as the write concern asks for: the code of the write
    /// concern error.
    WriteConcern(i32),
    /// The document or message was too large to send.
    TooLarge,
    /// The connection broke or could not be opened: whether the command ran is unknown.
    Network,
    /// No reply in time: whether the command ran is unknown.
    Timeout,
    /// Another error of the driver.
    Driver,
}

/// A server that runs commands: the real one, or a scripted one in tests.
pub trait Target {
    /// Runs one command on one database and reads its whole reply, `getMore`s included.
    ///
    /// The command carries its own read and write concern; nothing is retried.
    fn run(
        &self,
        database: &str,
        command: RawDocumentBuf,
        kind: ReplyKind,
    ) -> impl Future<Output = Result<Reply, Failure>>;

    /// As [`Target::run`], for a read that a read preference of MongoDB, such as `secondary`, sends to a member. A target that is one
    /// server answers itself.
    fn run_from(
        &self,
        _preference: &str,
        database: &str,
        command: RawDocumentBuf,
        kind: ReplyKind,
    ) -> impl Future<Output = Result<Reply, Failure>> {
        self.run(database, command, kind)
    }

    /// Sends an administrator's command to all members but the primary, as far as they are servers of docshape's own.
    fn run_on_others(&self, _command: &RawDocument) -> impl Future<Output = Result<(), Failure>> {
        async { Ok(()) }
    }

    /// How long a server may not answer before it counts as lost.
    fn patience(&self) -> Duration {
        SINGLE_SERVER_PATIENCE
    }

    /// The changes of the primary since the last time, as far as the client has noticed them.
    fn take_primary_changes(&self) -> Vec<PrimaryChange> {
        Vec::new()
    }

    /// Begins a transaction that reads a snapshot and is committed with this write concern. A target without transactions
    /// runs the commands of one as all others.
    fn begin(&self, _w: &str) -> impl Future<Output = Result<Transaction, Failure>> {
        async { Ok(Transaction::default()) }
    }

    /// As [`Target::run`], inside of a transaction; the command carries no concerns.
    fn run_in(
        &self,
        _transaction: &mut Transaction,
        database: &str,
        command: RawDocumentBuf,
        kind: ReplyKind,
    ) -> impl Future<Output = Result<Reply, Failure>> {
        self.run(database, command, kind)
    }

    /// Commits a transaction, or else aborts it. A commit may be repeated when its outcome is unknown. The driver itself retries
    /// once when the connection breaks.
    fn end(&self, _transaction: &mut Transaction, _commits: bool) -> impl Future<Output = Result<(), Failure>> {
        async { Ok(()) }
    }
}

/// A database of a target.
#[derive(Debug)]
pub struct Db<'t, T> {
    /// The server.
    pub target: &'t T,
    /// The name of the database.
    pub name: &'t str,
}
