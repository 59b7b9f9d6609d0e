//! The report of a run: from its record to a headline and sections.

pub(crate) mod charts;
pub(crate) mod claims;
pub(crate) mod conditions;
pub(crate) mod cost;
pub(crate) mod decision;
pub(crate) mod evaluation;
pub mod explain;
pub(crate) mod facts;
pub(crate) mod histogram;
pub(crate) mod parts;
pub(crate) mod sections;
pub(crate) mod under_load;
pub(crate) mod validity;
pub(crate) mod verdict_text;

use std::sync::Arc;

use facts::RunFacts;
use sections::thresholds::ThresholdView;

pub use evaluation::{Evaluation, Measured, OperationResults, StrategyResults};
pub use parts::PartEvaluations;

/// What the report of a run has besides its headline and sections.
#[derive(Debug, Clone)]
pub struct RunDetails {
    /// The thresholds.
    pub thresholds: Vec<ThresholdView>,
    /// How many claims were confirmed and refuted; `None` without claims.
    pub claims: Option<String>,
    /// The run as data.
    pub facts: RunFacts,
    /// The numbers of every part.
    pub parts: Arc<PartEvaluations>,
    /// What to do after the run.
    pub(crate) next: decision::NextStep,
}
