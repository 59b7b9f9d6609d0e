//! Reports: from a run's record to texts and pages.
//!
//! A [`Report`] is a [`Headline`] and [`Section`]s of tables, which [`document`] defines. [`run`] builds those of a run from its
//! [`Evaluation`]; comparisons of runs and verifications have a file each, studies build theirs in their own folders. A
//! [`Renderer`] of [`write`](mod@write) writes a report in one form and knows nothing of MongoDB. Nothing here prints, reads a
//! clock or measures: a record from last year gives the same report.

pub(crate) mod comparison;
pub mod document;
#[cfg(test)]
pub(crate) mod hostile;
pub mod rule_source;
pub mod run;
pub(crate) mod verification;
pub mod write;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::results::RunRecord;

use document::chart::CPU_AND_TIMES;
pub(crate) use document::chart::Series;
pub use document::chart::{Charts, Picture};
use run::RunDetails;

pub use document::format::{bytes, count, counted, encoded, interval, plain, steers, three, time};
pub(crate) use document::format::{capitalised, listed, wrap};
pub use document::{
    Block, Cell, Column, Finding, Forms, Grid, Headline, Kind, Line, Link, Listing, Measure, Onward, Paragraph, Row,
    Section, Table, Tone, column,
};
pub use run::Evaluation;
pub use run::claims::claim_text;
pub use run::sections::thresholds::ThresholdView;
pub use write::card::{CARD_FILE, Card};
pub use write::csv::{CSV_COLUMNS, CSV_FILE, csv};
pub use write::html::{HTML_FILE, Html};
pub use write::json::{JSON_FORMAT, Json};
pub use write::junit::Junit;
pub use write::line::VerdictLine;
pub use write::markdown::{MARKDOWN_FILE, Markdown};
pub use write::smoke::smoke;
pub use write::terminal::Terminal;

/// Writes a report in one form.
pub trait Renderer {
    /// Writes it.
    ///
    /// # Errors
    /// When `out` cannot be written; a `String` always can.
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result;
}

/// A report. Texts are single lines without control characters, but not escaped for any form.
#[derive(Debug, Clone)]
#[must_use]
pub struct Report {
    /// The verdict.
    pub headline: Headline,
    /// Everything else.
    pub sections: Vec<Section>,
    /// Runs of other mixes: the names of the mixes, and the folders of the runs.
    pub others: Vec<(String, PathBuf)>,
    /// Where a reader goes on from the place where the report lies.
    pub onward: Vec<Onward>,
    /// The run that it is about; `None` for the report of a comparison, a search, a verification or several runs.
    pub run: Option<RunDetails>,
    /// The folder with the files, when the caller named it.
    pub folder: Option<String>,
    /// Whether the page and the pictures are there, too, when the caller said so.
    pub has_files: bool,
}

/// A run and the user's name for it.
#[derive(Debug, Clone)]
pub struct NamedRun {
    /// A path, or the name of a saved run.
    pub name: String,
    /// The run.
    pub record: RunRecord,
}

impl Report {
    /// Computes the report of a run.
    pub fn new(record: &RunRecord) -> Report {
        Report::among(record, Vec::new())
    }

    /// Computes the report of a run that also says what runs of other mixes, which have these folders, found.
    pub fn among(record: &RunRecord, others: Vec<(PathBuf, RunRecord)>) -> Report {
        let folders = others.iter().map(|(folder, other)| (document::format::plain(&other.mix.name), folder.clone()));
        let folders = folders.collect();
        let others: &[RunRecord] = &others.into_iter().map(|(_, other)| other).collect::<Vec<_>>();
        let parts = Arc::new(run::PartEvaluations::new(record));
        let thresholds = parts.main_record().map(run::sections::thresholds::thresholds).unwrap_or_default();
        let facts = run::facts::facts(record, parts.main().calls);
        let claims = run::sections::claims::counts(record);
        let is_invalid = !parts.distinct(run::validity::invalid).is_empty();
        let next = run::decision::NextStep::of(&parts, others, is_invalid);
        let run = RunDetails { thresholds, claims, facts, parts, next };
        let headline = run::sections::verdict::headline(record, &run.parts, others, &run.next);
        Report {
            others: folders,
            run: Some(run.clone()),
            ..Report::of(headline, run::sections::all(record, &run, others))
        }
    }

    /// A report that is not about a single run.
    pub(crate) fn of(headline: Headline, sections: impl IntoIterator<Item = Section>) -> Report {
        let sections = sections.into_iter().collect();
        Report { headline, sections, others: Vec::new(), onward: Vec::new(), run: None, folder: None, has_files: false }
    }

    /// Says what strategies are called in two or three words.
    pub fn with_labels(mut self, labels: Vec<(String, String)>) -> Report {
        self.headline.labels = labels;
        self
    }

    /// Says where a reader goes on.
    pub fn leading_to(self, onward: Vec<Onward>) -> Report {
        Report { onward, ..self }
    }

    /// Names the folder with the run's files.
    pub fn in_folder(mut self, folder: &str) -> Report {
        self.folder = Some(document::format::plain(folder));
        self
    }

    /// Says that [`HTML_FILE`] and all [pictures](Report::pictures) are in the folder.
    pub fn with_files(mut self) -> Report {
        self.has_files = true;
        self
    }

    /// The files that a Markdown report [refers to](Report::with_files).
    pub fn pictures(&self) -> Vec<Picture> {
        let first = self.headline.charts.iter().filter_map(|charts| charts.picture(CPU_AND_TIMES));
        let drawn = self.sections.iter().filter_map(|section| section.charts.as_ref()?.picture(&section.title));
        first.chain(drawn).collect()
    }

    /// Whether nothing of this run may be used.
    pub fn is_invalid(&self) -> bool {
        !self.headline.invalid.is_empty()
    }

    /// Whether all thresholds passed; `None` where none failed and some are undecided.
    pub fn has_passed_thresholds(&self) -> Option<bool> {
        let mut results = self.run.iter().flat_map(|run| &run.thresholds).map(|threshold| threshold.passed);
        if results.clone().any(|passed| passed == Some(false)) {
            Some(false)
        } else {
            results.all(|passed| passed.is_some()).then_some(true)
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
