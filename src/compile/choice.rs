//! What a run chooses of a scenario: parameters, mix, strategies, seed.

use crate::scenario::nearest;

/// The seed unless the user gives another one, so that all commands look at the same data.
pub const DEFAULT_SEED: u64 = 1;

/// The choices of one run. The default is that of a plain run.
#[derive(Debug, Clone)]
pub struct Choice {
    /// `--set name=value`, in order.
    pub set: Vec<(String, String)>,
    /// `--mix`; else `default`, else the first.
    pub mix: Option<String>,
    /// `--strategies`, the baseline first; else those marked `default: true`, else all safe ones.
    pub strategies: Vec<String>,
    /// `--all-strategies`.
    pub all: bool,
    /// Whether the baseline runs a second time when others are compared with it.
    pub repeat: bool,
    /// `--seed`.
    pub seed: u64,
}

impl Default for Choice {
    fn default() -> Choice {
        let (set, strategies) = (Vec::new(), Vec::new());
        Choice { set, mix: None, strategies, all: false, repeat: false, seed: DEFAULT_SEED }
    }
}

/// A choice that does not exist in the scenario.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ChoiceError {
    /// No such name.
    #[error("the scenario has no {kind} `{name}`: {help}")]
    Unknown {
        /// Parameter, mix or strategy.
        kind: &'static str,
        /// The name given.
        name: String,
        /// What there is.
        help: String,
    },
    /// A value of the wrong kind.
    #[error("invalid value `{value}` for parameter `{name}`: expected {expected}, for example {example}")]
    Value {
        /// The parameter.
        name: String,
        /// The value given.
        value: String,
        /// The kind it must have.
        expected: &'static str,
        /// A value of that kind.
        example: String,
    },
    /// The same strategy twice.
    #[error("strategy `{0}` is named twice; name each strategy once, the baseline first")]
    Twice(String),
}

impl ChoiceError {
    /// `name` is none of `known`.
    pub fn unknown(kind: &'static str, name: &str, known: &[&str]) -> ChoiceError {
        let help = nearest(name, known);
        ChoiceError::Unknown { kind, name: name.to_owned(), help }
    }
}
