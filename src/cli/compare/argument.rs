//! The arguments of `docshape compare`, and those of `docshape run` about saved runs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::value::name;
use crate::results::saved_run::{LONGEST_NAME, is_name};
use crate::scenario::quantity::percent;

/// A run may take this much more time than the other without being a regression, unless the user says otherwise: 5 %.
pub const TOLERANCE: f64 = 0.05;

/// `compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Run A and run B (folders or run.json); with `--`, earlier runs only; with --compare-with, later ones
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<PathBuf>,
    /// Later runs, of which each side may have several
    #[arg(value_name = "B", last = true, conflicts_with = "compare_with")]
    pub later: Vec<PathBuf>,
    /// Compare the runs with saved run NAME (in results/SCENARIO/saved-runs) [default: A with B]
    #[arg(long, value_name = "NAME", value_parser = saved_run)]
    pub compare_with: Option<String>,
    /// Save the last of the later runs under NAME unless it is a regression [default: do not save]
    #[arg(long, value_name = "NAME", value_parser = saved_run)]
    pub save_run: Option<String>,
    /// Tolerated slowdown in percent, 0 to 100 [default: 5]
    #[arg(long, value_name = "PERCENT", value_parser = percent::<100>, allow_hyphen_values = true)]
    pub tolerance: Option<f64>,
    /// Strategies to compare, separated by commas [default: all that the runs have in common]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = name)]
    pub strategies: Vec<String>,
    /// Output format
    #[arg(long, value_enum, value_name = "NAME", default_value = "terminal")]
    pub format: CompareFormat,
}

impl CompareArguments {
    /// The tolerance as a share.
    pub fn tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(TOLERANCE)
    }

    /// Whether an option says how to compare.
    pub fn has_comparison_options(&self) -> bool {
        !self.strategies.is_empty() || self.tolerance.is_some() || self.format != CompareFormat::Terminal
    }
}

/// The output formats of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// For reading in a terminal
    Terminal,
    /// Markdown
    Markdown,
    /// A page that needs no network
    Html,
    /// The conclusions as data, see schemas/report.schema.json
    Json,
}

/// The options of `run` about saved runs.
#[derive(Debug, Clone, Default, Args)]
pub struct SavedRunArguments {
    /// Compare with saved run NAME; exit with 1 if this run is slower [default: no comparison]
    ///
    /// Saved runs are in results/SCENARIO/saved-runs. --calls, --rate and --isolate default to those of NAME.
    #[arg(long, value_name = "NAME", value_parser = saved_run)]
    pub compare_with: Option<String>,
    /// Save this run under NAME unless it is invalid or a regression [default: do not save]
    #[arg(long, value_name = "NAME", value_parser = saved_run)]
    pub save_run: Option<String>,
    /// Tolerated slowdown in percent, 0 to 100 [default: 5]
    #[arg(
        long,
        value_name = "PERCENT",
        value_parser = percent::<100>,
        allow_hyphen_values = true,
        requires = "compare_with"
    )]
    pub tolerance: Option<f64>,
}

impl SavedRunArguments {
    /// The tolerance as a share.
    pub fn tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(TOLERANCE)
    }
}

/// The name of a saved run, which becomes a file's.
fn saved_run(text: &str) -> Result<String, String> {
    if is_name(text) {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "expected at most {LONGEST_NAME} letters, digits, `.`, `_` and `-`, not starting with `.`, for example main or \
             mongodb-6.0"
        ))
    }
}
