//! The words of `docshape capacity`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::results::{ERROR_BUDGET, NOISE};
use crate::stats::Objective;

use super::super::argument::{ArrivalsName, RunArguments, ServerArguments, SubjectArguments};
use super::super::compare::BaselineArguments;
use super::super::preset::PRESETS;
use super::super::value::{Rate, count, duration, seed};

/// `capacity`.
#[derive(Debug, Clone, Args)]
pub struct CapacityArguments {
    /// A scenario file, or the name of a catalogue scenario (see `docshape list`)
    pub scenario: String,
    /// What every rate must keep, of all calls or of one operation, such as 'p99<20ms', 'mean<5ms' or 'add.p99.9<50ms'
    #[arg(long, value_name = "OBJECTIVE")]
    pub objective: Objective,
    /// Where to run it.
    #[command(flatten)]
    pub server: ServerArguments,
    /// What of it.
    #[command(flatten)]
    pub subject: SubjectArguments,
    /// Rounds, in each of which every strategy is searched anew, 1 to 100; an interval needs 3
    #[arg(long, value_name = "N", default_value = "3", value_parser = count::<100>, allow_hyphen_values = true)]
    pub rounds: u64,
    /// How the times of the calls are drawn [default: poisson]
    #[arg(long, value_enum, value_name = "NAME")]
    pub arrivals: Option<ArrivalsName>,
    /// Calls in flight at most, 1 to 10000
    #[arg(long, value_name = "N", default_value = "64", value_parser = count::<10_000>, allow_hyphen_values = true)]
    pub workers: u64,
    /// Threads that make the load, 1 to 256, at most as many as there are workers
    #[arg(long, value_name = "N", default_value = "1", value_parser = count::<256>, allow_hyphen_values = true)]
    pub threads: u64,
    /// A call that takes longer than this has failed
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, allow_hyphen_values = true)]
    pub timeout: Duration,
    /// The seed of data and calls: equal seeds make equal data and calls
    #[arg(long, value_name = "N", default_value = "1", value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// The folder for the results, which must be new or empty [default: results/SCENARIO/TIME-ID]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl CapacityArguments {
    /// The run that these searches are made of.
    pub fn as_run(&self) -> RunArguments {
        RunArguments {
            scenario: Some(self.scenario.clone()),
            resume: None,
            server: self.server.clone(),
            subject: self.subject.clone(),
            preset: PRESETS[1],
            rounds: Some(self.rounds),
            slices: None,
            isolate: true,
            calls: None,
            duration: None,
            rate: Some(Rate::Auto),
            arrivals: self.arrivals,
            workers: Some(self.workers),
            threads: self.threads,
            timeout: self.timeout,
            noise: NOISE,
            error_budget: ERROR_BUDGET,
            threshold: Vec::new(),
            junit: None,
            baseline: BaselineArguments::default(),
            seed: self.seed,
            out: self.out.clone(),
            no_verify: true,
            keep: false,
        }
    }
}
