//! `growth.json`: what the calls of each strategy cost while its documents grow.

use serde::{Deserialize, Serialize};

use super::file::Document;
use super::study::GROWTH_FILE;
use super::{AuditRecord, CellRecord, RunRecord};

/// The version of `growth.json` that this build writes. It grows when a field goes or changes its meaning.
pub const GROWTH_FORMAT: u32 = 1;

/// The growth of all strategies by the same calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

/// A stage: some calls that are not measured, then measured ones of every operation, each by itself with one client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageRecord {
    /// Calls of the growing operation before the measured ones, in a strategy that was not refused before.
    pub calls: u64,
    /// A cell per strategy, whose sizes after it are those at the end of the stage; `None` once a strategy has ended.
    pub cells: Vec<Option<CellRecord>>,
}

/// What became of a strategy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GrowthEnd {
    /// Calls of the growing operation that succeeded, measured or not.
    pub succeeded: u64,
    /// Its calls that were refused: the first reason. `None` when none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Calls of any operation that failed otherwise.
    pub failed: u64,
    /// What its audits counted at the end.
    pub audits: Vec<AuditRecord>,
}
