//! What the calls of each strategy cost at a stage of its documents' growth.

use serde::{Deserialize, Serialize};

use super::{AuditRecord, CellRecord};

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
