//! The databases that docshape creates, and the mark without which it drops none.

use bson::{RawDocumentBuf, rawdoc};
use sha2::{Digest, Sha256};

use crate::error::KindedError;

use super::failure::UNAUTHORIZED;
use super::field::at;
use super::{Failure, ReplyKind, Target};

/// The collection of the mark.
pub const MARKER_COLLECTION: &str = "docshape.marker";
/// The `_id` of the mark.
const MARK: &str = "docshape";
/// The longest database name in bytes.
const LONGEST_NAME: usize = 63;
/// Hexadecimal digits that keep shortened names apart.
const DIGEST: usize = 6;
/// The longest identifier that is kept whole.
const LONGEST_ID: usize = 20;

/// Why a database could not be created or dropped.
#[derive(Debug, thiserror::Error)]
pub enum NamespaceError {
    /// There is one of that name already.
    #[error("database {database} already exists; drop it, or run again, which takes another name")]
    Exists {
        /// The database.
        database: String,
    },
    /// It has data without our mark, so it is not ours.
    #[error("database {database} is not dropped: it lacks docshape's mark, so it may belong to another application")]
    NotMarked {
        /// The database.
        database: String,
    },
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

/// The name `docshape_<scenario>_<strategy>_<id>`, made valid for every server.
///
/// Names are lower case, because a server rejects two that differ only by case. A part that had to be changed or cut
/// gets a few digits of its own, so that different parts never lead to the same name. The same parts always lead to
/// the same name; give every run and cell its own `id`.
pub fn database_name(scenario: &str, strategy: &str, id: &str) -> String {
    let id = part(id, LONGEST_ID);
    let room = LONGEST_NAME - "docshape___".len() - id.len();
    let strategy = part(strategy, room / 2);
    let scenario = part(scenario, room - strategy.len());
    format!("docshape_{scenario}_{strategy}_{id}")
}

/// One part of a name, at most `longest` bytes.
fn part(text: &str, longest: usize) -> String {
    let plain = |symbol: char| symbol.is_ascii_lowercase() || symbol.is_ascii_digit() || symbol == '-';
    if text.len() <= longest && !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    let digest = Sha256::digest(text.as_bytes());
    let digits: String = digest.iter().take(DIGEST / 2).map(|byte| format!("{byte:02x}")).collect();
    let lower = text.to_ascii_lowercase();
    let readable = lower.chars().map(|symbol| if plain(symbol) { symbol } else { '-' });
    let readable: String = readable.take(longest - DIGEST - 1).collect();
    format!("{}-{digits}", readable.trim_matches('-'))
}

/// Creates a database by writing the mark of run `run`. An existing database is an error.
pub async fn create(target: &impl Target, database: &str, run: &str) -> Result<(), NamespaceError> {
    let refused = |failure| refused(database, "created", failure);
    if !is_empty(target, database).await.map_err(refused)? {
        return Err(NamespaceError::Exists { database: database.to_owned() });
    }
    let mark = rawdoc! { "_id": MARK, "run": run };
    let insert = rawdoc! { "insert": MARKER_COLLECTION, "documents": [mark], "writeConcern": { "w": "majority" } };
    target.run(database, insert, ReplyKind::Single).await.map_err(refused)?;
    Ok(())
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

/// Drops a database with our mark. A missing one is no error; one without the mark stays, with an error.
pub async fn drop_marked(target: &impl Target, database: &str) -> Result<(), NamespaceError> {
    let unread = |failure| refused(database, "read", failure);
    if !has_mark(target, database, rawdoc! { "_id": MARK }).await.map_err(unread)? {
        let absent = is_empty(target, database).await.map_err(unread)?;
        return if absent { Ok(()) } else { Err(NamespaceError::NotMarked { database: database.to_owned() }) };
    }
    let drop = rawdoc! { "dropDatabase": 1, "writeConcern": { "w": "majority" } };
    target.run(database, drop, ReplyKind::Single).await.map_err(|failure| refused(database, "dropped", failure))?;
    Ok(())
}

/// Drops a database that an earlier part of run `run` left. A database of another run or application stays.
pub async fn drop_of_run(target: &impl Target, database: &str, run: &str) -> Result<(), NamespaceError> {
    let is_of_run = has_mark(target, database, rawdoc! { "_id": MARK, "run": run }).await;
    if is_of_run.map_err(|failure| refused(database, "read", failure))? {
        drop_marked(target, database).await?;
    }
    Ok(())
}

async fn has_mark(target: &impl Target, database: &str, filter: RawDocumentBuf) -> Result<bool, Failure> {
    let find = rawdoc! { "find": MARKER_COLLECTION, "filter": filter, "limit": 1, "singleBatch": true };
    Ok(database.starts_with("docshape_") && has_results(target, database, find).await?)
}

async fn is_empty(target: &impl Target, database: &str) -> Result<bool, Failure> {
    Ok(!has_results(target, database, rawdoc! { "listCollections": 1, "nameOnly": true }).await?)
}

async fn has_results(target: &impl Target, database: &str, command: RawDocumentBuf) -> Result<bool, Failure> {
    let reply = target.run(database, command, ReplyKind::Cursor).await?;
    let first = reply.batches().first().and_then(|batch| at(batch, "cursor.firstBatch")?.as_array());
    // An empty first batch may still be followed by others, but not for these commands on one database.
    Ok(first.is_some_and(|documents| !documents.is_empty()))
}

/// The help for a user without rights.
fn rights(failure: &Failure) -> &'static str {
    if failure.code() == Some(UNAUTHORIZED) {
        return "; give the user of the connection string the roles readWriteAnyDatabase and dbAdminAnyDatabase";
    }
    ""
}

fn refused(database: &str, action: &'static str, failure: Failure) -> NamespaceError {
    NamespaceError::Refused { database: database.to_owned(), action, failure }
}

impl KindedError for NamespaceError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_parts_are_kept() {
        assert_eq!(database_name("blog-comments", "embedded", "r1-3f9a"), "docshape_blog-comments_embedded_r1-3f9a");
    }

    #[test]
    fn every_name_is_valid() {
        let long = "x".repeat(200);
        for text in ["embedded(A/A)", "Größe $ \"x\" <y>.z|?*:\\", "", &long, "a b\0c", "ends-"] {
            for name in [database_name(text, "s", "1"), database_name("s", text, "1"), database_name(text, text, text)]
            {
                assert!(name.len() <= LONGEST_NAME, "{name}");
                assert!(
                    name.chars()
                        .all(|symbol| symbol.is_ascii_lowercase() || symbol.is_ascii_digit() || "-_".contains(symbol)),
                    "{name}"
                );
                assert!(name.starts_with("docshape_"), "{name}");
            }
        }
    }

    #[test]
    fn different_parts_give_different_names() {
        let long = "x".repeat(60);
        let longer = "x".repeat(61);
        let texts = ["embedded", "Embedded", "embedded(A/A)", "embedded(a/a)", "embedded_a_a", "", &long, &longer];
        let names: std::collections::HashSet<_> = texts.iter().map(|text| database_name("s", text, "1")).collect();
        assert_eq!(names.len(), texts.len());
    }
}
