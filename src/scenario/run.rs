//! What a scenario says about the runs of a claim, a sweep or growth.

use crate::record::LifeEnd;

use super::{ConditionDefinition, Spanned};

/// A part of the scenario to measure, in place of that of a plain run.
#[derive(Debug, Clone)]
pub struct RunDefinition {
    /// The mix, when it is not the default one.
    pub mix: Option<Spanned<String>>,
    /// The strategies, when they are not the default ones.
    pub strategies: Vec<Spanned<String>>,
    /// Parameters and their values, each as `--set` takes it.
    pub set: Vec<(Spanned<String>, Spanned<String>)>,
}

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

/// The operation that lets documents grow, and the conditions under which that is worth watching.
#[derive(Debug, Clone)]
pub struct GrowthDefinition {
    /// What its report answers.
    pub question: String,
    /// The operation that lets documents grow.
    pub operation: Spanned<String>,
    /// The operations that are measured besides it; when there are none, all others of the mix.
    pub sampled: Vec<Spanned<String>>,
    /// When it ends; `None`: when a strategy refuses a call.
    pub until: Option<LifeEnd>,
    /// What is measured.
    pub run: RunDefinition,
}
