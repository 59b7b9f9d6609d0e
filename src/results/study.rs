//! The kinds of studies, each with a file of its own in a folder of its own.

use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::file::{ResultsError, is_run_folder};
use super::{CAPACITY_FILE, CLAIMS_FILE, GROWTH_FILE, RUN_FILE, SWEEP_FILE};

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
}

impl StudyKind {
    const ALL: [StudyKind; 5] =
        [StudyKind::Run, StudyKind::Claims, StudyKind::Sweep, StudyKind::Growth, StudyKind::Capacity];

    /// The name of its file.
    pub fn file(self) -> &'static str {
        match self {
            StudyKind::Run => RUN_FILE,
            StudyKind::Claims => CLAIMS_FILE,
            StudyKind::Sweep => SWEEP_FILE,
            StudyKind::Growth => GROWTH_FILE,
            StudyKind::Capacity => CAPACITY_FILE,
        }
    }

    /// The command that measures and resumes it.
    pub fn command(self) -> &'static str {
        match self {
            StudyKind::Run | StudyKind::Claims => "run",
            StudyKind::Sweep => "sweep",
            StudyKind::Growth => "grow",
            StudyKind::Capacity => "capacity",
        }
    }

    /// The names of all files.
    pub(super) fn files() -> String {
        StudyKind::ALL.map(StudyKind::file).join(", ")
    }

    /// The kind with a file of this name.
    pub(super) fn of_file(name: &str) -> Option<StudyKind> {
        StudyKind::ALL.into_iter().find(|kind| kind.file() == name)
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
        let mut found = StudyKind::ALL.into_iter().filter(is_there);
        match (found.next(), found.next()) {
            (Some(kind), None) => Ok(kind),
            (Some(one), Some(other)) => Err(ResultsError::TwoStudies { path: path.to_owned(), both: [one, other] }),
            (None, _) => Err(ResultsError::NoStudy { path: path.to_owned() }),
        }
    }
}

impl fmt::Display for StudyKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            StudyKind::Run => "a run",
            StudyKind::Claims => "runs for claims",
            StudyKind::Sweep => "a sweep",
            StudyKind::Growth => "the growth of documents",
            StudyKind::Capacity => "a search for capacity",
        })
    }
}

/// The keys that only one kind of study has.
#[derive(Deserialize)]
pub(super) struct StudyMarks {
    parts: Option<IgnoredAny>,
    runs: Option<IgnoredAny>,
    vary: Option<IgnoredAny>,
    stages: Option<IgnoredAny>,
    searches: Option<IgnoredAny>,
}

impl StudyMarks {
    /// The kind of a document with these keys, if it is clear.
    pub(super) fn kind(&self) -> Option<StudyKind> {
        let marks = [&self.parts, &self.runs, &self.vary, &self.stages, &self.searches];
        let mut found = StudyKind::ALL.into_iter().zip(marks).filter(|(_, mark)| mark.is_some());
        found.next().map(|(kind, _)| kind).filter(|_| found.next().is_none())
    }
}
