//! `growth`.

use super::Spanned;

/// The operation that lets documents grow, and the conditions under which that is worth watching.
#[derive(Debug, Clone)]
pub struct GrowthDefinition {
    /// What its report answers.
    pub question: String,
    /// The operation that lets documents grow.
    pub operation: Spanned<String>,
    /// The operations that are measured besides it; when there are none, all others of the mix.
    pub sampled: Vec<Spanned<String>>,
    /// When it ends, as `--until` takes it.
    pub until: Option<Spanned<String>>,
    /// Parameters, each as `--set` takes it.
    pub set: Vec<Spanned<String>>,
    /// The mix, when it is not the default one.
    pub mix: Option<Spanned<String>>,
    /// The strategies, when they are not the default ones.
    pub strategies: Vec<Spanned<String>>,
}
