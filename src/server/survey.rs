//! The databases of a server: those with docshape's mark, and those of others.

use bson::rawdoc;

use super::failure::UNAUTHORIZED;
use super::field::at;
use super::owner::Owner;
use super::{Failure, FailureKind, ReplyKind, Target, namespace};

/// Databases that every server has.
const INTERNAL: [&str; 3] = ["admin", "config", "local"];

/// A database with docshape's mark.
#[derive(Debug, Clone)]
pub struct MarkedDatabase {
    /// The database.
    pub name: String,
    /// Its owner.
    pub owner: Owner,
}

/// The databases of a server, without those that every server has.
#[derive(Debug, Default)]
pub struct Survey {
    /// Those with docshape's mark, whatever their names.
    pub marked: Vec<MarkedDatabase>,
    /// The others.
    pub others: Vec<String>,
    /// Whether the user may list all databases; else only those are known on which he has a right.
    pub is_complete: bool,
}

impl Survey {
    /// Looks for the mark in all databases that the user may list.
    ///
    /// # Errors
    /// When the server fails.
    pub async fn read(target: &impl Target) -> Result<Survey, Failure> {
        let (names, is_complete) = names(target).await?;
        let mut survey = Survey { is_complete, ..Survey::default() };
        for name in names.into_iter().filter(|name| !INTERNAL.contains(&name.as_str())) {
            match namespace::mark(target, &name).await {
                Ok(Some(owner)) => survey.marked.push(MarkedDatabase { name, owner }),
                // Who may not read a database did not create it.
                Ok(None) | Err(Failure { kind: FailureKind::Server(_), .. }) => survey.others.push(name),
                Err(failure) => return Err(failure),
            }
        }
        Ok(survey)
    }
}

/// The names of all databases, or, without the right to list all, of those on which the user has a right.
async fn names(target: &impl Target) -> Result<(Vec<String>, bool), Failure> {
    let list = |is_limited: bool| rawdoc! { "listDatabases": 1, "nameOnly": true, "authorizedDatabases": is_limited };
    let (reply, is_complete) = match target.run("admin", list(false), ReplyKind::Single).await {
        Err(failure) if failure.code() == Some(UNAUTHORIZED) => {
            (target.run("admin", list(true), ReplyKind::Single).await?, false)
        }
        reply => (reply?, true),
    };
    let rows = reply.batches().first().and_then(|batch| at(batch, "databases")?.as_array());
    let rows = rows.into_iter().flatten().flatten();
    let names = rows.filter_map(|row| at(row.as_document()?, "name")?.as_str().map(str::to_owned));
    Ok((names.collect(), is_complete))
}
