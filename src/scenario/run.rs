//! What a scenario says about the runs of a claim, a sweep or growth.

use super::Spanned;

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
