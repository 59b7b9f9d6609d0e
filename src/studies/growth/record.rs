//! `growth.json`: what the calls of each strategy cost while its documents grow.

use serde::{Deserialize, Serialize};

use crate::results::{Document, GROWTH_FILE, GrowthEnd, RunRecord, StageRecord};

/// The version of `growth.json` that this build writes. It grows when a field goes or changes its meaning.
pub const GROWTH_FORMAT: u32 = 1;

/// The growth of all strategies by the same calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GrowthRecord {
    /// [`GROWTH_FORMAT`] of the build that wrote it.
    pub format: u32,
    /// The operation that lets documents grow, a position in the run's operations.
    pub operation: usize,
    /// The operations that are sampled between its calls.
    pub sampled: Vec<usize>,
    /// When it ends, as on the command line.
    pub until: String,
    /// What it asks, when the scenario says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Calls of the operation a day, when the user has said how many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_day: Option<u64>,
    /// Scenario, settings, server, machine and strategies, as in a run; without rounds.
    pub run: RunRecord,
    /// Whether that was reached before the time was over.
    pub is_reached: bool,
    /// The stages, in order.
    pub stages: Vec<StageRecord>,
    /// What became of each strategy, in the order of the run's.
    pub ends: Vec<GrowthEnd>,
}

impl Document for GrowthRecord {
    const FILE: &'static str = GROWTH_FILE;
    const FORMAT: u32 = GROWTH_FORMAT;
}
