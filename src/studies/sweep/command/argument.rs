//! The arguments of `docshape sweep`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::exit::CliError;
use crate::cli::run::{MeasurementArguments, StudyArguments};
use crate::results::Preset;
use crate::scenario::Condition;
use crate::scenario::quantity::whole;

use super::condition::condition;

/// Rounds of a point, the fewest that can show a difference.
const ROUNDS: u64 = 6;

/// The help of `--only`.
const ONLY: &str = "Measure only these parts, separated by commas [default: depends on what varies]";

/// `sweep`.
#[derive(Debug, Args)]
#[command(
    mut_arg("rounds", |rounds| rounds.help(format!("Rounds of a point, each on fresh databases, 1 to 1000 [default: {ROUNDS}, of smoke 1]"))),
    mut_arg("only", |only| only.help(ONLY).long_help(ONLY)),
    mut_arg("threshold", |threshold| threshold.hide(true)),
    mut_arg("out", |out| out.help("Folder of the sweep, which must be new or empty [default: results/SCENARIO/sweeps/TIME-ID]"))
)]
pub struct SweepArguments {
    /// What to measure, and where.
    #[command(flatten)]
    pub study: StudyArguments,
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
    /// How to measure a point: by default what decides and the conditions change, in 6 rounds.
    #[command(flatten)]
    pub measurement: MeasurementArguments,
}

impl SweepArguments {
    /// How points are measured.
    ///
    /// # Errors
    /// When an option belongs to a single run.
    pub fn measurement(&self) -> Result<MeasurementArguments, CliError> {
        if !self.measurement.threshold.is_empty() {
            return Err(CliError::usage("--threshold is for a single run: use it with `docshape run`"));
        }
        let usual = (self.measurement.preset != Preset::Smoke).then_some(ROUNDS);
        Ok(MeasurementArguments { rounds: self.measurement.rounds.or(usual), ..self.measurement.clone() })
    }
}
