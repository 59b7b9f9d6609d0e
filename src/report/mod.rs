//! Words and tables from a run's record.
//!
//! [`Report::new`] computes everything once; a [`Renderer`] only writes it down. Nothing here prints, reads a clock, or
//! measures: a record from last year gives the same report.

mod assemble;
mod format;
mod markdown;
mod method;
mod table;
mod terminal;
mod words;

use std::fmt;

use crate::stats::{CollectionGrowth, Comparison, Distribution, FollowedGrowth, Tally};

pub use markdown::Markdown;
pub use terminal::Terminal;

/// Writes a report in one form.
pub trait Renderer {
    /// Writes it.
    ///
    /// # Errors
    /// When `out` refuses; a `String` never does.
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result;
}

/// Everything that a report says. Texts are single lines without control characters, but not escaped for any form.
#[derive(Debug, Clone)]
pub struct Report {
    /// The scenario's name.
    pub scenario: String,
    /// Its question.
    pub title: String,
    /// What the application does.
    pub about: String,
    /// The mix.
    pub mix: String,
    /// Complete rounds.
    pub rounds: u64,
    /// Calls per strategy and round; `None` when they differ.
    pub calls: Option<u64>,
    /// What to know first of a run that did not come to its end.
    pub status: Option<String>,
    /// The verdict for the mix, in sentences.
    pub verdict: Vec<String>,
    /// Operation, and what is claimed of it, where something is.
    pub claims: Vec<(String, String)>,
    /// Operation, and why nothing is claimed of it.
    pub unclaimed: Vec<(String, String)>,
    /// How sure the verdict is.
    pub notes: Vec<String>,
    /// The strategies, the reference first.
    pub strategies: Vec<StrategyView>,
    /// A row per operation that was called, then the mix.
    pub rows: Vec<Row>,
    /// How it was measured: name and value.
    pub measured: Vec<(String, String)>,
    /// The command line that measures it again.
    pub command: String,
    /// What a reader should know.
    pub warnings: Vec<String>,
    /// Where the run's files are, when the caller said so.
    pub folder: Option<String>,
}

/// A strategy in a report.
#[derive(Debug, Clone)]
pub struct StrategyView {
    /// Its name.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// A negative control, left out of the verdict.
    pub is_unsafe: bool,
    /// Finished calls per second of all workers together.
    pub calls_per_second: Option<f64>,
    /// What its calls came to.
    pub tally: Tally,
    /// What became of its collections.
    pub collections: Vec<CollectionGrowth>,
    /// What became of its followed documents after each of [`FOLLOWED_AT`].
    pub followed: Vec<FollowedGrowth>,
}

/// The shares of the calls after which followed documents are shown.
pub const FOLLOWED_AT: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// An operation, or the mix.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Whether it is the mix.
    pub is_mix: bool,
    /// Its share (0 to 1) of the mix; `None` for the mix.
    pub share: Option<f64>,
    /// A cell per strategy.
    pub cells: Vec<Measured>,
}

/// An operation of one strategy over all rounds.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The geometric mean over rounds of the mean service time, in nanoseconds.
    pub mean: Option<f64>,
    /// It against the reference; `None` for the reference itself.
    pub comparison: Option<Comparison>,
    /// The service times of the successful calls.
    pub distribution: Distribution,
    /// What the calls came to.
    pub tally: Tally,
}
