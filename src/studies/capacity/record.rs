//! What a search for capacity leaves on disk.

use serde::{Deserialize, Serialize};

use crate::results::{CAPACITY_FILE, Document, RunRecord};

/// The version of `capacity.json` that this build writes.
pub const CAPACITY_FORMAT: u32 = 1;

/// The searches of all strategies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CapacityRecord {
    /// [`CAPACITY_FORMAT`] of the build that wrote it.
    pub format: u32,
    /// What was asked for, such as `p99<20ms`.
    pub objective: String,
    /// Scenario, settings, server, machine and strategies, as in a run; without rounds.
    pub run: RunRecord,
    /// Seconds for which the rate of each strategy is confirmed; 0 for none.
    pub confirm: f64,
    /// Calls per second with which a search begins that knows nothing of its strategy; `None` before the pilot.
    pub start: Option<f64>,
    /// The finished searches, in order.
    pub searches: Vec<SearchRecord>,
    /// The search after them, as far as it is. Nothing follows from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<SearchRecord>,
    /// The long trials of what was claimed, at most one per strategy.
    pub confirmations: Vec<ConfirmationRecord>,
}

impl Document for CapacityRecord {
    const FILE: &'static str = CAPACITY_FILE;
    const FORMAT: u32 = CAPACITY_FORMAT;
}

/// The search of one strategy in one round; every trial has a fresh database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchRecord {
    /// The round, from 0.
    pub round: u64,
    /// The strategy's position in the run.
    pub strategy: usize,
    /// The rates that were tried, in order.
    pub trials: Vec<TrialRecord>,
}

/// A long trial of a rate that a strategy is said to carry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfirmationRecord {
    /// The strategy's position in the run.
    pub strategy: usize,
    /// How long calls fell due, in seconds.
    pub seconds: f64,
    /// The trial.
    pub trial: TrialRecord,
}

/// One rate, tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Calls per second that fell due.
    pub rate: f64,
    /// Calls that fell due.
    pub offered: u64,
    /// Calls that failed, were skipped or never started.
    pub failed: u64,
    /// What the objective measures, over all batches, in nanoseconds; `None` without enough calls.
    pub measured: Option<f64>,
    /// Whether the strategy could not keep up with the rate at all.
    pub overloaded: bool,
    /// Whether the objective was kept.
    pub passed: bool,
}

impl TrialRecord {
    /// The result in a word or two.
    pub fn result(&self) -> &'static str {
        match (self.overloaded, self.passed) {
            (true, _) => "overloaded",
            (false, true) => "kept",
            (false, false) => "not kept",
        }
    }
}
