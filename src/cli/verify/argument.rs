//! The words of `docshape verify`.

use std::time::Duration;

use clap::Args;

use crate::plan::Choice;

use super::super::argument::ServerArguments;
use super::super::value::{assignment, count, duration, name, seed};

/// `verify`.
#[derive(Debug, Clone, Args)]
pub struct VerifyArguments {
    /// A scenario file, or the name of a catalogue scenario (see `docshape list`)
    pub scenario: String,
    /// The server to use.
    #[command(flatten)]
    pub server: ServerArguments,
    /// Check these strategies, separated by commas, the first being the reference; to a single one, or where the first is
    /// a negative control, the scenario's own reference is added [default: all, negative controls too]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = name)]
    pub strategies: Vec<String>,
    /// The mix of operations [default: the one named `verify`, else as a run]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub mix: Option<String>,
    /// Set a parameter of the scenario; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// Calls per phase and strategy, 1 to 1000000 [default: 400, fewer for more than 8 strategies]
    #[arg(long, value_name = "N", value_parser = count::<1_000_000>, allow_hyphen_values = true)]
    pub calls: Option<u64>,
    /// Calls in flight in the concurrent phases, 1 to 1000
    #[arg(long, value_name = "N", default_value = "16", value_parser = count::<1_000>, allow_hyphen_values = true)]
    pub workers: u64,
    /// After this time the outcome of a call is unknown
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, allow_hyphen_values = true)]
    pub timeout: Duration,
    /// The seed of data and calls
    #[arg(long, value_name = "N", default_value = "1", value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// Check so many times, each with the next seed; ends at the first failure
    #[arg(long, value_name = "N", default_value = "1", value_parser = count::<1_000>, allow_hyphen_values = true, conflicts_with = "call")]
    pub times: u64,
    /// Make the calls up to this one, one after the other, and show what every strategy answers to it
    /// [default: all calls, without showing them]
    #[arg(long, value_name = "N", value_parser = call, allow_hyphen_values = true)]
    pub call: Option<u64>,
}

/// Calls are numbered from 0.
fn call(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|call| *call < 1_000_000).ok_or_else(|| "a call has a number from 0 to 999999".to_owned())
}

/// Calls of a phase unless the user says otherwise: of one strategy at most, and of all together.
const CALLS: u64 = 400;
const CALLS_OF_ALL: u64 = 3_200;

impl VerifyArguments {
    /// Calls per phase and strategy, where there are so many strategies.
    pub fn calls(&self, strategies: usize) -> u64 {
        self.calls.unwrap_or_else(|| CALLS.min(CALLS_OF_ALL / strategies.max(1) as u64).max(1))
    }

    /// What is chosen of the scenario, whose strategies are `strategies`, as the mix `mix`.
    pub fn choice(&self, strategies: Vec<String>, mix: Option<String>, seed: u64) -> Choice {
        Choice { set: self.set.clone(), mix, strategies, all: false, control: false, seed }
    }
}
