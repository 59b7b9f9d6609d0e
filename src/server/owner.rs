//! The owner of a database: the run whose mark it bears.

use std::fmt;

use bson::{DateTime, RawDocument, RawDocumentBuf, rawdoc};

use super::field::at;
use super::process::{Process, ProcessState};

/// The `_id` of the mark.
pub(super) const MARK: &str = "docshape";

/// A run that owns databases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The id of the run.
    pub run: String,
    /// The version of docshape.
    version: String,
    /// The process that owns them.
    pub process: Process,
    /// When the mark was written, as the server's clients read it.
    since: String,
}

impl Owner {
    /// Returns a run of this process.
    pub fn of_run(run: impl Into<String>) -> Owner {
        let since = DateTime::now().try_to_rfc3339_string().unwrap_or_default();
        Owner { run: run.into(), version: env!("CARGO_PKG_VERSION").into(), process: Process::this(), since }
    }

    /// Reads a mark.
    pub(super) fn read(mark: &RawDocument) -> Owner {
        let text = |key| at(mark, key).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default();
        Owner { run: text("run"), version: text("version"), process: Process::read(mark), since: text("since") }
    }

    /// Returns the mark. Its first fields tell owners apart.
    pub(super) fn mark(&self) -> RawDocumentBuf {
        let mut mark = self.filter();
        mark.append(bson::raw::cstr!("version"), &*self.version);
        mark.append(bson::raw::cstr!("since"), &*self.since);
        mark
    }

    /// Returns a filter that finds the mark of this owner, and of no other.
    pub(super) fn filter(&self) -> RawDocumentBuf {
        let mut filter = rawdoc! { "_id": MARK, "run": &*self.run };
        for field in self.process.fields().iter().flatten() {
            filter.append(field.0, field.1);
        }
        filter
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Owner { run, process, since, .. } = self;
        write!(formatter, "run {run} (process {} on {}, {since})", process.id, process.host)?;
        formatter.write_str(match process.state() {
            ProcessState::Alive => ", which is alive",
            ProcessState::Ended => ", which has ended",
            ProcessState::Elsewhere => ", which may be alive",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_back_and_say_whether_their_owner_is_alive() {
        let owner = Owner::of_run("3f9a");
        assert_eq!(Owner::read(&owner.mark()), owner);
        let text = owner.to_string();
        assert!(text.starts_with(&format!("run 3f9a (process {} on ", std::process::id())), "{text}");
        assert!(text.ends_with("Z), which is alive"), "{text}");
        let forged = Owner::read(&rawdoc! { "_id": "docshape" }).to_string();
        assert!(forged.ends_with("which may be alive"), "{forged}");
    }
}
