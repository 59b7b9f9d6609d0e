//! Reports: from a run's record to texts and pages.
//!
//! A [`Report`] is a [`Headline`] and [`Section`]s of tables. [`section`](self) builds those of a run from its [`Evaluation`];
//! comparisons of runs, searches for capacity, verifications and summaries of runs have a file each. A [`Renderer`] writes a
//! report in one form and knows nothing of MongoDB. Nothing here prints, reads a clock or measures: a record from last year
//! gives the same report.

mod brief;
mod capacity;
mod cell;
mod chart;
mod claims;
mod conditions;
mod cost;
mod csv;
mod decision;
mod escape;
mod evaluation;
mod format;
mod growth;
mod histogram;
#[cfg(test)]
mod hostile;
mod html;
mod json;
mod junit;
mod markdown;
mod matrix;
mod parts;
mod published;
mod rules;
mod run_comparison;
mod run_facts;
mod section;
mod smoke;
mod summary;
mod sweep;
mod table;
mod terminal;
mod validity;
mod verdict_text;
mod verification;

use std::fmt;
use std::sync::Arc;

use crate::results::RunRecord;

pub use chart::{Charts, Picture};

pub use cell::{Cell, Link, Tone};
pub use claims::{ClaimStatement, claim_statements};
pub use csv::{CSV_COLUMNS, CSV_FILE, csv};
pub use decision::Decision;
pub use evaluation::{Evaluation, Measured, OperationResults, StrategyResults};
pub use format::{bytes, count, counted, interval, plain, steers, three, time};
pub use html::{HTML_FILE, Html, MATRIX_FILE, MatrixHtml};
pub use json::{JSON_FORMAT, Json};
pub use junit::Junit;
pub use markdown::{MARKDOWN_FILE, Markdown};
pub use matrix::{CatalogueOrder, Matrix, PlacedResult};
pub use parts::PartEvaluations;
pub use published::published;
pub use rules::PublishedResults;
pub use run_comparison::ComparedRuns;
pub use run_facts::{MachineFacts, ParameterValue, RunFacts, ServerFacts, VerificationFacts};
pub use section::thresholds::ThresholdView;
pub use section::{Finding, Headline, Listing, Paragraph, Section};
pub use smoke::{NextRun, smoke};
pub use sweep::sweep_conclusion;
pub use table::{Block, Column, Forms, Grid, Kind, Line, Row, Table};
pub use terminal::Terminal;

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
    /// The run that it is about; `None` for the report of a comparison, a search, a verification or several runs.
    pub run: Option<RunDetails>,
    /// The folder with the files, when the caller named it.
    pub folder: Option<String>,
    /// Whether the page and the pictures are there, too, when the caller said so.
    pub has_files: bool,
}

/// What the report of a run has besides its headline and sections.
#[derive(Debug, Clone)]
pub struct RunDetails {
    /// The thresholds.
    pub thresholds: Vec<ThresholdView>,
    /// How many claims were confirmed and refuted; `None` without claims.
    pub claims: Option<String>,
    /// The run as data.
    pub facts: RunFacts,
    /// The numbers of every part.
    pub parts: Arc<PartEvaluations>,
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
        Report::among(record, &[])
    }

    /// Computes the report of a run that also says what runs of other mixes found.
    pub fn among(record: &RunRecord, others: &[RunRecord]) -> Report {
        let parts = Arc::new(PartEvaluations::new(record));
        let thresholds = parts.main_record().map(section::thresholds::thresholds).unwrap_or_default();
        let facts = run_facts::facts(record, parts.main().calls);
        let claims = section::claims::counts(record, &parts);
        let run = RunDetails { thresholds, claims, facts, parts };
        let headline = section::verdict::headline(record, &run.parts, others);
        Report { run: Some(run.clone()), ..Report::of(headline, section::all(record, &run, others)) }
    }

    /// A report that is not about a single run.
    fn of(headline: Headline, sections: impl IntoIterator<Item = Section>) -> Report {
        Report { headline, sections: sections.into_iter().collect(), run: None, folder: None, has_files: false }
    }

    /// Names the folder with the run's files.
    pub fn in_folder(mut self, folder: &str) -> Report {
        self.folder = Some(format::plain(folder));
        self
    }

    /// Says that [`HTML_FILE`] and [`Picture::all`] are in the folder.
    pub fn with_files(mut self) -> Report {
        self.has_files = true;
        self
    }

    /// Whether nothing of this run may be used.
    pub fn is_invalid(&self) -> bool {
        !self.headline.invalid.is_empty()
    }

    /// Whether a threshold failed.
    pub fn has_failed_thresholds(&self) -> bool {
        self.run.iter().flat_map(|run| &run.thresholds).any(|threshold| !threshold.has_passed)
    }
}

#[cfg(test)]
mod tests;
