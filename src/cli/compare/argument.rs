//! The arguments of `docshape compare`, and those of `docshape run` about saved runs.

use std::path::PathBuf;

use clap::Args;

use crate::cli::argument::{ReportFormat, one_of};
use crate::cli::value::name;
use crate::results::saved_run::{LONGEST_NAME, is_name};
use crate::scenario::quantity::percent;

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
    #[arg(long, value_name = "NAME", default_value = "terminal", value_parser = one_of(FORMATS))]
    pub format: ReportFormat,
}

/// The output formats of a comparison: CSV lists the numbers of a single run.
const FORMATS: [ReportFormat; 4] =
    [ReportFormat::Terminal, ReportFormat::Markdown, ReportFormat::Html, ReportFormat::Json];

/// The options of `run` about saved runs.
#[derive(Debug, Clone, Default, Args)]
pub struct SavedRunArguments {
    /// Compare with saved run NAME; exit with 1 if this run is slower [default: no comparison]
    ///
    /// Saved runs are in results/SCENARIO/saved-runs. Mix, parameters, seed, load and length are those of
    /// NAME, unless options say otherwise.
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

/// The name of a saved run, which becomes a file's.
fn saved_run(text: &str) -> Result<String, String> {
    is_name(text).then(|| text.to_owned()).ok_or_else(|| {
        format!(
            "expected at most {LONGEST_NAME} letters, digits, `.`, `_` and `-`, not starting with `.`, for example main or \
             mongodb-6.0"
        )
    })
}
