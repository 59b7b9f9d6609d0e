//! The databases of a command, and the mark without which none is dropped.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use bson::{RawDocument, RawDocumentBuf, rawdoc};

use crate::error::KindedError;

use super::database_names::DatabaseNames;
use super::failure::{DUPLICATE_KEY, UNAUTHORIZED};
use super::field::at;
use super::owner::{MARK, Owner};
use super::process::ProcessState;
use super::taken::Taken;
use super::{Failure, FailureKind, ReplyKind, Target};

/// The collection of the mark.
pub const MARKER_COLLECTION: &str = "docshape.marker";

/// Why a database could not be created or dropped.
#[derive(Debug, thiserror::Error)]
pub enum NamespaceError {
    /// There are databases of these names already.
    #[error(transparent)]
    Taken(#[from] Taken),
    /// It has data without our mark, so it is not ours.
    #[error("database {0} is not dropped: it lacks the mark of this run, so it may belong to somebody else")]
    NotOurs(String),
    /// The server failed the command.
    #[error("database {database} cannot be {action}: {failure}{}", rights(failure))]
    Refused {
        /// The database.
        database: String,
        /// `created`, `read` or `dropped`.
        action: &'static str,
        /// Why.
        failure: Failure,
    },
}

/// The databases of a command: their names, their owner, and which of them exist.
#[derive(Debug, Clone)]
pub struct Namespace {
    /// Their names.
    pub names: DatabaseNames,
    /// Their owner: a run of this process.
    owner: Owner,
    /// Those that were created and not dropped, whichever part of the command did it.
    left: Rc<RefCell<BTreeSet<String>>>,
}

impl Namespace {
    /// Returns the databases of a run of this process; there are none yet.
    pub fn new(names: DatabaseNames, run: impl Into<String>) -> Namespace {
        Namespace { names, owner: Owner::of_run(run), left: Rc::default() }
    }

    /// Whether an owner is this run, or an earlier part of it.
    pub fn is_of_run(&self, owner: &Owner) -> bool {
        owner.run == self.owner.run
    }

    /// Reserves the scenario on a server that others may use, and proves that these names are free, before anything is loaded.
    /// What an earlier part of the same run has left under them is dropped.
    ///
    /// The databases of a run come and go, so the reservation is a database of its own, which is there as long as the command:
    /// a second command with the same scenario must fail here, and not when both need the same name later. The server itself
    /// decides who is first, because the mark has the same `_id` in both.
    ///
    /// # Errors
    /// When a database exists already, or cannot be created.
    pub async fn reserve(&self, target: &impl Target, names: &[String]) -> Result<(), NamespaceError> {
        let (mut taken, mut is_reserved) = (Vec::new(), false);
        let reservation = self.names.reservation();
        for name in std::iter::once(&reservation).chain(names) {
            let unread = |failure| refused(name, "read", failure);
            if is_empty(target, name).await.map_err(unread)? {
                continue;
            }
            match mark(target, name).await.map_err(unread)? {
                // Both servers of --ab may be the same.
                Some(owner) if *name == reservation && owner.process == self.owner.process => is_reserved = true,
                Some(owner) if self.is_of_run(&owner) && owner.process.state() == ProcessState::Ended => {
                    drop_of(target, name, &owner).await?;
                }
                owner => taken.push((name.clone(), owner)),
            }
        }
        if !taken.is_empty() {
            return Err(Taken(taken).into());
        }
        if is_reserved { Ok(()) } else { self.create(target, &reservation).await }
    }

    /// Creates a database by writing our mark. An existing database is an error.
    ///
    /// # Errors
    /// When the database exists, or the server fails.
    pub async fn create(&self, target: &impl Target, database: &str) -> Result<(), NamespaceError> {
        let failed = |failure| refused(database, "created", failure);
        if !is_empty(target, database).await.map_err(failed)? {
            return Err(taken(target, database).await);
        }
        let insert = rawdoc! { "insert": MARKER_COLLECTION, "documents": [self.owner.mark()], "writeConcern": { "w": "majority" } };
        self.left.borrow_mut().insert(database.to_owned());
        let Err(failure) = target.run(database, insert, ReplyKind::Single).await else { return Ok(()) };
        if matches!(failure.code(), Some(DUPLICATE_KEY | UNAUTHORIZED)) {
            self.left.borrow_mut().remove(database);
        }
        Err(if failure.code() == Some(DUPLICATE_KEY) { taken(target, database).await } else { failed(failure) })
    }

    /// Drops a database with our mark. A missing one is no error; one with another mark or none stays, with an error.
    ///
    /// # Errors
    /// When it is not ours, or the server fails.
    pub async fn drop(&self, target: &impl Target, database: &str) -> Result<(), NamespaceError> {
        let unread = |failure| refused(database, "read", failure);
        let is_ours = drop_of(target, database, &self.owner).await?;
        let is_gone = is_ours || is_empty(target, database).await.map_err(unread)?;
        self.left.borrow_mut().remove(database);
        if is_gone { Ok(()) } else { Err(NamespaceError::NotOurs(database.to_owned())) }
    }

    /// The databases that were created and not dropped.
    pub fn left(&self) -> Vec<String> {
        self.left.borrow().iter().cloned().collect()
    }
}

/// Waits until a majority has all writes so far. Until then a transaction may read a snapshot without them, although they
/// were acknowledged.
pub async fn await_majority(target: &impl Target, database: &str) -> Result<(), Failure> {
    let update = rawdoc! {
        "update": MARKER_COLLECTION,
        "updates": [{ "q": { "_id": MARK }, "u": { "$set": { "loaded": true } } }],
        "writeConcern": { "w": "majority" },
    };
    target.run(database, update, ReplyKind::Single).await.map(|_| ())
}

/// Drops a database with this mark, and returns whether it has it. Any other database stays.
///
/// # Errors
/// When the server fails.
pub async fn drop_of(target: &impl Target, database: &str, owner: &Owner) -> Result<bool, NamespaceError> {
    let found =
        find_mark(target, database, owner.filter()).await.map_err(|failure| refused(database, "read", failure))?;
    if found.is_some() {
        let drop = rawdoc! { "dropDatabase": 1, "writeConcern": { "w": "majority" } };
        target.run(database, drop, ReplyKind::Single).await.map_err(|failure| refused(database, "dropped", failure))?;
    }
    Ok(found.is_some())
}

/// Returns whose mark a database has.
///
/// # Errors
/// When the server fails, or the user may not read the database.
pub async fn mark(target: &impl Target, database: &str) -> Result<Option<Owner>, Failure> {
    find_mark(target, database, rawdoc! { "_id": MARK }).await
}

async fn find_mark(target: &impl Target, database: &str, filter: RawDocumentBuf) -> Result<Option<Owner>, Failure> {
    let find = rawdoc! { "find": MARKER_COLLECTION, "filter": filter, "limit": 1, "singleBatch": true };
    Ok(first_result(target, database, find).await?.map(|mark| Owner::read(&mark)))
}

async fn is_empty(target: &impl Target, database: &str) -> Result<bool, Failure> {
    let list = rawdoc! { "listCollections": 1, "nameOnly": true };
    Ok(first_result(target, database, list).await?.is_none())
}

async fn first_result(
    target: &impl Target,
    database: &str,
    command: RawDocumentBuf,
) -> Result<Option<RawDocumentBuf>, Failure> {
    let reply = target.run(database, command, ReplyKind::Cursor).await?;
    let first = reply.batches().first().and_then(|batch| at(batch, "cursor.firstBatch")?.as_array());
    // An empty first batch may still be followed by others, but not for these commands on one database.
    Ok(first.and_then(|documents| documents.get_document(0).ok()).map(RawDocument::to_owned))
}

/// The error for a database that exists already.
async fn taken(target: &impl Target, database: &str) -> NamespaceError {
    match mark(target, database).await {
        Ok(owner) => Taken(vec![(database.to_owned(), owner)]).into(),
        Err(failure) => refused(database, "read", failure),
    }
}

/// The help for a user without rights.
fn rights(failure: &Failure) -> &'static str {
    if failure.kind == FailureKind::Server(UNAUTHORIZED) {
        return "; `docshape rights SCENARIO` prints a role with the rights that the user of the connection string needs";
    }
    ""
}

fn refused(database: &str, action: &'static str, failure: Failure) -> NamespaceError {
    NamespaceError::Refused { database: database.to_owned(), action, failure }
}

impl KindedError for NamespaceError {}
