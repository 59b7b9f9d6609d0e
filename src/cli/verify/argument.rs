//! The arguments of `docshape verify`.

use std::time::Duration;

use clap::Args;

use crate::cli::argument::ServerArguments;
use crate::cli::value::{assignment, duration, fault, name, seed};
use crate::compile::{Choice, DEFAULT_SEED};
use crate::record::FaultKind;
use crate::scenario::quantity::whole;

/// `verify`.
#[derive(Debug, Clone, Args)]
pub struct VerifyArguments {
    /// Scenario file, or name of a built-in one (see `docshape list`)
    #[arg(required_unless_present = "all")]
    pub scenario: Option<String>,
    /// Check all built-in scenarios, and print a line for each that passes
    #[arg(long, conflicts_with_all = ["scenario", "strategies", "mix", "set", "call"])]
    pub all: bool,
    /// The server to use.
    #[command(flatten)]
    pub server: ServerArguments,
    /// Strategies to check, separated by commas, the baseline first [default: all]
    ///
    /// The scenario's baseline is added if only one strategy is named, or if the first one is unsafe.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = name)]
    pub strategies: Vec<String>,
    /// Mix of operations [default: `verify`, else like `docshape run`]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub mix: Option<String>,
    /// Set a parameter of the scenario; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// Calls per phase and strategy, 1 to 1000000 [default: 400, or 3200 / strategies if fewer]
    #[arg(long, value_name = "N", value_parser = whole::<1, 1_000_000>, allow_hyphen_values = true)]
    pub calls: Option<u64>,
    /// Clients in the concurrent phases, 1 to 1000
    #[arg(long, alias = "workers", value_name = "N", default_value = "16", value_parser = whole::<1, 1_000>, allow_hyphen_values = true)]
    pub clients: u64,
    /// Timeout per call
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, allow_hyphen_values = true)]
    pub timeout: Duration,
    /// Fault of the primary amid the unordered calls: stepdown, kill or stop [default: none]
    ///
    /// stepdown makes the primary step down, kill ends its process (SIGKILL) and starts it again on the same data, stop stops it
    /// (SIGSTOP) for 5 s. Kill and stop are for embedded servers; stepdown of a server of yours requires --yes. What clients see of
    /// it is counted, and audits and states are judged as without it: calls with an unknown outcome may have taken effect or not.
    #[arg(long, value_name = "FAULT", value_parser = fault, conflicts_with = "call")]
    pub fault: Option<FaultKind>,
    /// Print the whole report instead of its verdict
    #[arg(long)]
    pub full: bool,
    /// Seed of the generated data and of the sequence of calls
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED, value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// Repetitions, each with the next seed; stops at the first failure
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole::<1, 1_000>, allow_hyphen_values = true, conflicts_with = "call")]
    pub times: u64,
    /// Show the result of call N in every strategy [default: verify all calls]
    ///
    /// Only calls 0 to N run, sequentially; nothing is verified.
    #[arg(long, value_name = "N", value_parser = whole::<0, 999_999>, allow_hyphen_values = true)]
    pub call: Option<u64>,
}

/// Calls of a phase unless the user says otherwise: of one strategy at most, and of all together.
const CALLS: u64 = 400;
const CALLS_OF_ALL: u64 = 3_200;

impl VerifyArguments {
    /// Returns the calls per phase and strategy.
    pub fn calls(&self, strategies: usize) -> u64 {
        self.calls.unwrap_or_else(|| CALLS.min(CALLS_OF_ALL / strategies.max(1) as u64).max(1))
    }

    /// What is chosen of the scenario, whose strategies are `strategies`, as the mix `mix`.
    pub fn choice(&self, strategies: Vec<String>, mix: Option<String>, seed: u64) -> Choice {
        Choice { set: self.set.clone(), mix, strategies, seed, ..Choice::default() }
    }
}
