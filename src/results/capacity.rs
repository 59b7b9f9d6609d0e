//! What a search for capacity leaves on disk.

use serde::{Deserialize, Serialize};

use crate::record::LatencyHistogram;

use super::{OpenRecord, OperationRecord, RunRecord};

/// The name of the file with all searches.
pub const CAPACITY_FILE: &str = "capacity.json";

/// The searches of all strategies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityRecord {
    /// What was asked for, such as `p99<20ms`.
    pub objective: String,
    /// Scenario, settings, server, machine and strategies, as in a run; without rounds.
    pub run: RunRecord,
    /// The finished searches, in order.
    pub searches: Vec<SearchRecord>,
}

/// One search, on fresh databases throughout.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchRecord {
    /// The round, from 0.
    pub round: u64,
    /// The strategy's position in the run.
    pub strategy: usize,
    /// How it ended.
    pub outcome: SearchOutcome,
    /// The rates that were tried, in order.
    pub trials: Vec<TrialRecord>,
}

/// How a search ended; rates in calls per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchOutcome {
    /// The highest rate that keeps the objective.
    Found(f64),
    /// No rate keeps it, down to this one.
    NoneDownTo(f64),
    /// Every rate keeps it, up to this one.
    AllUpTo(f64),
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

/// All that was measured at one rate. Not kept on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct RateRecord {
    /// What fell due, and what became of it.
    pub open: OpenRecord,
    /// An entry per operation, in the run's order.
    pub operations: Vec<OperationRecord>,
    /// The successful calls in batches of equal length, without the empty ones.
    pub batches: Vec<BatchRecord>,
}

/// The successful calls that ended in one batch.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchRecord {
    /// When it began, in seconds.
    pub start: f64,
    /// Response times by the operation's position in the plan.
    pub times: Vec<(usize, LatencyHistogram)>,
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
