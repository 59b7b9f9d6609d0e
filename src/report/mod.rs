//! Reports: from a run's record to texts and pages.
//!
//! [`Evaluation`] has the numbers of a run, [`section`](self) makes tables of them, and a [`Report`] is a [`Headline`] and
//! [`Section`]s. A [`Renderer`] writes them in one form and knows nothing of MongoDB. Nothing here prints, reads a clock or
//! measures: a record from last year gives the same report.

mod arm_comparison;
mod capacity;
mod chart;
mod claims;
mod cost;
mod csv;
mod escape;
mod evaluation;
mod format;
mod histogram;
#[cfg(test)]
mod hostile;
mod html;
mod json;
mod junit;
mod markdown;
mod method;
mod run_comparison;
mod run_facts;
mod section;
mod summary;
mod table;
mod terminal;
mod thresholds;
mod validity;
mod verdict_text;
mod verification;

use std::fmt;
use std::sync::Arc;

use crate::results::RunRecord;

pub use capacity::CapacityReport;
pub use chart::{Charts, Picture};
pub use claims::{ClaimCell, ClaimVerdict, ClaimView};
pub use csv::{CSV_COLUMNS, CSV_FILE, csv};
pub use evaluation::{Evaluation, Measured, OperationResults, StrategyResults};
pub use format::{count, counted, time};
pub use html::{HTML_FILE, Html};
pub use json::{JSON_FORMAT, Json};
pub use junit::Junit;
pub use markdown::Markdown;
pub use run_comparison::{RunComparisonReport, Side};
pub use run_facts::{MachineFacts, ParameterValue, RunFacts, ServerFacts, VerificationFacts};
pub use section::{Finding, Headline, Paragraph, Section};
pub use summary::Summary;
pub use table::{Block, Cell, Column, Forms, Grid, Kind, Line, Row, Table, Tone};
pub use terminal::Terminal;
pub use thresholds::ThresholdView;
pub use verification::VerificationReport;

/// Writes a report in one form.
pub trait Renderer {
    /// Writes it.
    ///
    /// # Errors
    /// When `out` cannot be written; a `String` always can.
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result;
}

/// The report of a run. Texts are single lines without control characters, but not escaped for any form.
#[derive(Debug, Clone)]
pub struct Report {
    /// The verdict.
    pub headline: Headline,
    /// Everything else.
    pub sections: Vec<Section>,
    /// The claims of the scenario.
    pub claims: Vec<ClaimView>,
    /// The thresholds of the run.
    pub thresholds: Vec<ThresholdView>,
    /// How it was measured: name and value.
    pub settings: Vec<(String, String)>,
    /// The run as data.
    pub facts: RunFacts,
    /// The numbers of the run.
    pub evaluation: Arc<Evaluation>,
    /// The run's folder, when the caller named it.
    pub folder: Option<String>,
    /// Whether the page and the pictures are there, too, when the caller said so.
    pub has_files: bool,
}

impl Report {
    /// Computes the report of a run.
    pub fn new(record: &RunRecord) -> Report {
        let evaluation = Arc::new(Evaluation::new(record));
        let claims = claims::claims(record, &evaluation);
        let thresholds = thresholds::thresholds(record);
        let settings = method::measured(record);
        let facts = run_facts::facts(record, evaluation.calls);
        let texts = section::Texts { claims: &claims, thresholds: &thresholds, settings: &settings, facts: &facts };
        Report {
            headline: section::verdict::headline(record, &evaluation),
            sections: section::all(record, &evaluation, &texts),
            claims,
            thresholds,
            settings,
            facts,
            evaluation,
            folder: None,
            has_files: false,
        }
    }

    /// Names the folder with the run's files.
    #[must_use]
    pub fn in_folder(mut self, folder: &str) -> Report {
        self.folder = Some(format::plain(folder));
        self
    }

    /// Says that [`HTML_FILE`] and [`Picture::all`] are in the folder.
    #[must_use]
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
        self.thresholds.iter().any(|threshold| !threshold.has_passed)
    }
}

#[cfg(test)]
mod tests;
