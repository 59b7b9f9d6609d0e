//! `sweeps`.

use super::{ConditionDefinition, RunDefinition, Spanned};

/// Conditions that are worth varying, with a question that they answer.
#[derive(Debug, Clone)]
pub struct SweepDefinition {
    /// Its name.
    pub name: Spanned<String>,
    /// What its report answers.
    pub question: String,
    /// The conditions, one or two.
    pub vary: Vec<ConditionDefinition>,
    /// What all of its points have in common.
    pub run: RunDefinition,
}
