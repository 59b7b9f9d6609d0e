//! The words of `docshape compare`, and those of `docshape run` about baselines.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::results::baseline::{LONGEST_NAME, is_name};

use super::super::value::{name, percent};

/// So much more time is no regression unless the user says otherwise: 5 %.
const TOLERANCE: f64 = 0.05;

/// `compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// A run folder, or its run.json: the earlier run, or with --baseline the later one
    #[arg(value_name = "A")]
    pub first: PathBuf,
    /// The later run, which is judged
    #[arg(value_name = "B", conflicts_with = "baseline", required_unless_present_any = ["baseline", "save_baseline"])]
    pub second: Option<PathBuf>,
    /// Compare A with the run that is kept under this name in results/SCENARIO/baselines [default: with B]
    #[arg(long, value_name = "NAME", value_parser = baseline)]
    pub baseline: Option<String>,
    /// Keep the later run under this name, in the place of the one that has it, unless it is a regression
    /// [default: nothing is kept]
    #[arg(long, value_name = "NAME", value_parser = baseline)]
    pub save_baseline: Option<String>,
    /// So much more time is no regression, in percent, 0 to 100 [default: 5]
    #[arg(long, value_name = "PERCENT", value_parser = percent::<100>, allow_hyphen_values = true)]
    pub tolerance: Option<f64>,
    /// Compare these strategies only, separated by commas [default: all that both runs have]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = name)]
    pub strategies: Vec<String>,
    /// How to show it
    #[arg(long, value_enum, value_name = "NAME", default_value = "terminal")]
    pub format: CompareFormat,
}

impl CompareArguments {
    /// The tolerance as a share.
    pub fn tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(TOLERANCE)
    }

    /// Whether something is said of how to compare.
    pub fn tells_how(&self) -> bool {
        !self.strategies.is_empty() || self.tolerance.is_some() || self.format != CompareFormat::Terminal
    }
}

/// The forms of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// For reading here
    Terminal,
    /// Markdown
    Markdown,
}

/// What `run` says about baselines.
#[derive(Debug, Clone, Default, Args)]
pub struct BaselineArguments {
    /// Compare this run with the one that is kept under this name in results/SCENARIO/baselines, and end with exit code 1
    /// when it is slower; calls, rate and isolation that are not given are those of the baseline
    /// [default: no comparison]
    #[arg(long, value_name = "NAME", value_parser = baseline)]
    pub baseline: Option<String>,
    /// Keep this run under this name for later comparisons, in the place of the one that has it, unless it is not valid or
    /// a regression [default: it is not kept]
    #[arg(long, value_name = "NAME", value_parser = baseline)]
    pub save_baseline: Option<String>,
    /// So much more time than that of the baseline is no regression, in percent, 0 to 100 [default: 5]
    #[arg(long, value_name = "PERCENT", value_parser = percent::<100>, allow_hyphen_values = true, requires = "baseline")]
    pub tolerance: Option<f64>,
}

impl BaselineArguments {
    /// The tolerance as a share.
    pub fn tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(TOLERANCE)
    }
}

/// The name of a baseline, which becomes a file's.
fn baseline(text: &str) -> Result<String, String> {
    match is_name(text) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "it takes at most {LONGEST_NAME} letters, digits, `.`, `_` and `-`, and no `.` at the beginning, such as main \
             or mongodb-6.0"
        )),
    }
}
