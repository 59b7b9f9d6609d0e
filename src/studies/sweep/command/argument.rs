//! The arguments of `docshape sweep`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::argument::{ServerArguments, SubjectArguments};
use crate::cli::compare::SavedRunArguments;
use crate::cli::exit::CliError;
use crate::cli::run::{MeasurementArguments, RunArguments};
use crate::scenario::Condition;
use crate::scenario::quantity::whole;

use super::condition::condition;

/// Rounds of a point, the fewest that can show a difference.
const ROUNDS: u64 = 6;

/// `sweep`.
#[derive(Debug, Args)]
pub struct SweepArguments {
    /// Scenario file, or name of a built-in scenario (see `docshape list`)
    #[arg(required_unless_present = "resume")]
    pub scenario: Option<String>,
    /// Vary a condition, such as posts=100,1000; once or twice [default: the scenario's first sweep]
    ///
    /// NAME is a parameter of the scenario, share:OPERATION (its percentage of the mix), clients, rate, rtt (added to every
    /// reply), cache (data divided by the cache of the embedded servers), w (write concern) or mix. Two conditions make a grid.
    #[arg(long, value_name = "NAME=V1,V2,...", value_parser = condition, conflicts_with_all = ["resume", "sweep"])]
    pub vary: Vec<Condition>,
    /// Measure the sweep of this name that the scenario defines [default: the first one]
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    pub sweep: Option<String>,
    /// Add up to N values between those at which the order of strategies differs [default: 0]
    ///
    /// They are measured after the others, with as many rounds. Needs one condition with numbers.
    #[arg(long, value_name = "N", value_parser = whole::<1, 20>, conflicts_with = "resume")]
    pub refine: Option<u64>,
    /// Resume the sweep in DIR after its last complete rounds [default: a new sweep]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["scenario", "SubjectArguments", "MeasurementArguments"])]
    pub resume: Option<PathBuf>,
    /// The servers to measure.
    #[command(flatten)]
    pub server: ServerArguments,
    /// The part of the scenario to measure.
    #[command(flatten)]
    pub subject: SubjectArguments,
    /// How to measure a point: by default own cost and common rate, in 6 rounds.
    #[command(flatten)]
    pub measurement: MeasurementArguments,
    /// Skip the check that all strategies return the same results
    #[arg(long)]
    pub no_verify: bool,
}

impl SweepArguments {
    /// The arguments of a run of its scenario, before a point changes them.
    ///
    /// # Errors
    /// When an option belongs to a single run.
    pub fn run(&self) -> Result<RunArguments, CliError> {
        let mut measurement = self.measurement.clone();
        if !measurement.threshold.is_empty() {
            return Err(CliError::usage("--threshold is for a single run: use it with `docshape run`"));
        }
        measurement.rounds = measurement.rounds.or(Some(ROUNDS).filter(|_| !measurement.is_smoke()));
        Ok(RunArguments {
            scenario: self.scenario.clone(),
            resume: None,
            server: self.server.clone(),
            subject: self.subject.clone(),
            measurement,
            ab: Vec::new(),
            claims: None,
            junit: None,
            saved_run: SavedRunArguments::default(),
            full: false,
            no_verify: self.no_verify,
            keep: false,
        })
    }
}
