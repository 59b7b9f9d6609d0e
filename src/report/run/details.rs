//! What the report of a run has besides headline and sections.

use std::sync::Arc;

use super::facts::RunFacts;
use super::parts::PartEvaluations;
use super::sections::thresholds::ThresholdView;

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
}
