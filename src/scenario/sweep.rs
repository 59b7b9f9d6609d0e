//! `sweeps`.

use super::Spanned;

/// The conditions of a sweep that are not parameters; `share:OPERATION` is another one.
pub const CONDITIONS: [&str; 6] = ["clients", "rate", "rtt", "cache", "mix", "w"];

/// The prefix of an operation whose share of the mix is a condition.
pub const SHARE: &str = "share:";

/// Conditions that are worth varying, with a question that they answer.
#[derive(Debug, Clone)]
pub struct SweepDefinition {
    /// Its name.
    pub name: Spanned<String>,
    /// What its report answers.
    pub question: String,
    /// The conditions, each as `--vary` takes it: a name, `=` and values.
    pub vary: Vec<Spanned<String>>,
    /// Parameters, each as `--set` takes it.
    pub set: Vec<Spanned<String>>,
    /// The mix, when it is not the default one.
    pub mix: Option<Spanned<String>>,
    /// The strategies, when they are not the default ones.
    pub strategies: Vec<Spanned<String>>,
}
