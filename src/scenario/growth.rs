//! `growth`.

use crate::record::LifeEnd;

use super::{RunDefinition, Spanned};

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
