//! The kinds of studies, each with a file of its own in a folder of its own.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::de::IgnoredAny;

use super::file::{ResultsError, is_run_folder};

/// The file of a run.
pub const RUN_FILE: &str = "run.json";

/// The file of runs for claims, and the name of the folder for published ones.
pub const CLAIMS_FILE: &str = "claims.json";

/// The file of a sweep.
pub const SWEEP_FILE: &str = "sweep.json";

/// The file of growth.
pub const GROWTH_FILE: &str = "growth.json";

/// The file of a search for capacity.
pub const CAPACITY_FILE: &str = "capacity.json";

/// The file of explored shapes.
pub const EXPLORE_FILE: &str = "explore.json";

/// The file of shard keys.
pub const SHARD_KEY_FILE: &str = "shard-key.json";

/// A kind of study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StudyKind {
    /// One set of conditions.
    Run,
    /// The runs that decide claims.
    Claims,
    /// Runs under several conditions.
    Sweep,
    /// The life of documents.
    Growth,
    /// The rates that keep an objective.
    Capacity,
    /// The shapes of a model.
    Explore,
    /// How commands find the shards with each key.
    ShardKey,
}

struct Traits {
    kind: StudyKind,
    file: &'static str,
    /// The command that measures and resumes it.
    command: &'static str,
    /// What it is, in messages.
    words: &'static str,
    /// A key that no document of another kind has.
    key: &'static str,
}

/// Every kind, in the order of [`StudyKind`].
#[rustfmt::skip]
const KINDS: [Traits; 7] = [
    Traits { kind: StudyKind::Run, file: RUN_FILE, command: "run", words: "a run", key: "parts" },
    Traits { kind: StudyKind::Claims, file: CLAIMS_FILE, command: "run", words: "runs for claims", key: "runs" },
    Traits { kind: StudyKind::Sweep, file: SWEEP_FILE, command: "sweep", words: "a sweep", key: "vary" },
    Traits { kind: StudyKind::Growth, file: GROWTH_FILE, command: "grow", words: "the growth of documents", key: "stages" },
    Traits { kind: StudyKind::Capacity, file: CAPACITY_FILE, command: "capacity", words: "a search for capacity", key: "searches" },
    Traits { kind: StudyKind::Explore, file: EXPLORE_FILE, command: "explore", words: "an exploration of shapes", key: "tried" },
    Traits { kind: StudyKind::ShardKey, file: SHARD_KEY_FILE, command: "shardkey", words: "shard keys", key: "shards" },
];

impl StudyKind {
    fn all() -> impl Iterator<Item = StudyKind> {
        KINDS.iter().map(|traits| traits.kind)
    }

    fn traits(self) -> &'static Traits {
        &KINDS[self as usize]
    }

    /// The name of its file.
    pub fn file(self) -> &'static str {
        self.traits().file
    }

    /// The command that measures and resumes it.
    pub fn command(self) -> &'static str {
        self.traits().command
    }

    /// The names of all files.
    pub(super) fn files() -> String {
        KINDS.map(|traits| traits.file).join(", ")
    }

    /// Returns the kind with a file of this name.
    pub(super) fn of_file(name: &str) -> Option<StudyKind> {
        StudyKind::all().find(|kind| kind.file() == name)
    }

    /// Returns the kind of a JSON document, if its keys are those of one.
    pub(super) fn of_document(text: &[u8]) -> Option<StudyKind> {
        let keys: BTreeMap<String, IgnoredAny> = serde_json::from_slice(text).ok()?;
        let mut found = KINDS.iter().filter(|traits| keys.contains_key(traits.key));
        found.next().map(|traits| traits.kind).filter(|_| found.next().is_none())
    }

    /// Returns what is in a folder, or in a file, by its name; a file with another name is a run.
    ///
    /// # Errors
    /// When the folder has none, or more than one.
    pub fn of(path: &Path) -> Result<StudyKind, ResultsError> {
        if path.is_file() {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            return Ok(StudyKind::of_file(name).unwrap_or(StudyKind::Run));
        }
        let is_there = |kind: &StudyKind| match kind {
            StudyKind::Run => is_run_folder(path),
            other => path.join(other.file()).is_file(),
        };
        let mut found = StudyKind::all().filter(is_there);
        match (found.next(), found.next()) {
            (Some(kind), None) => Ok(kind),
            (Some(one), Some(other)) => Err(ResultsError::TwoStudies(path.to_owned(), [one, other])),
            (None, _) => Err(ResultsError::NoStudy(path.to_owned())),
        }
    }
}

impl fmt::Display for StudyKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.traits().words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_row() {
        for traits in &KINDS {
            assert_eq!(traits.kind.traits().kind, traits.kind);
        }
    }
}
