//! What a run chooses of a scenario: parameters, mix, strategies, seed.

use crate::scenario::nearest;

/// How far shares may be from 100 % together by the rounding of their sum.
const ROUNDING: f64 = 1e-9;

/// The seed unless the user gives another one, so that all commands look at the same data.
pub const DEFAULT_SEED: u64 = 1;

/// The choices of one run. The default is that of a plain run.
#[derive(Debug, Clone)]
pub struct Choice {
    /// `--set name=value`, in order.
    pub set: Vec<(String, String)>,
    /// `--mix`; else `default`, else the first.
    pub mix: Option<String>,
    /// `--share operation=percentage`: operations of the mix and their shares of its calls, from 0 to 1.
    pub shares: Vec<(String, f64)>,
    /// `--strategies`, the baseline first; else those marked `default: true`, else all safe ones.
    pub strategies: Vec<String>,
    /// `--all-strategies`.
    pub all: bool,
    /// Whether the baseline runs a second time when others are compared with it.
    pub repeat: bool,
    /// `--seed`.
    pub seed: u64,
    /// `--write-concern`; else that of [`Concerns`](crate::plan::Concerns).
    pub write_concern: Option<String>,
}

impl Default for Choice {
    fn default() -> Choice {
        let (set, shares, strategies) = (Vec::new(), Vec::new(), Vec::new());
        let (mix, all, repeat, write_concern) = (None, false, false, None);
        Choice { set, mix, shares, strategies, all, repeat, seed: DEFAULT_SEED, write_concern }
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
    /// Shares that no mix can have.
    #[error("--share: {0}")]
    Shares(&'static str),
    /// The same strategy twice.
    #[error("strategy `{0}` is named twice; name each strategy once, the baseline first")]
    Twice(String),
}

impl Choice {
    /// Gives operations their chosen shares; the weights of the others keep their proportions.
    ///
    /// # Errors
    /// When an operation is unknown, or the shares leave no mix.
    pub(super) fn with_shares(&self, mut weights: Vec<f64>, operations: &[String]) -> Result<Vec<f64>, ChoiceError> {
        if self.shares.is_empty() {
            return Ok(weights);
        }
        let known: Vec<&str> = operations.iter().map(String::as_str).collect();
        let mut chosen = Vec::new();
        for (name, share) in &self.shares {
            let position = known.iter().position(|operation| operation == name);
            let position = position.ok_or_else(|| ChoiceError::unknown("operation", name, &known))?;
            if chosen.iter().any(|(other, _)| *other == position) {
                return Err(ChoiceError::Shares("an operation is named twice; name each once"));
            }
            weights[position] = 0.0;
            chosen.push((position, *share));
        }
        let total: f64 = self.shares.iter().map(|(_, share)| share).sum();
        let others: f64 = weights.iter().sum();
        if total > 1.0 + ROUNDING {
            return Err(ChoiceError::Shares(
                "the shares are more than 100 % together; leave some to the other operations",
            ));
        }
        if others == 0.0 && total < 1.0 - ROUNDING {
            return Err(ChoiceError::Shares("no other operation is called, so that the shares must be 100 % together"));
        }
        let scale = if others > 0.0 { (1.0 - total).max(0.0) / others } else { 0.0 };
        weights.iter_mut().for_each(|weight| *weight *= scale);
        chosen.into_iter().for_each(|(position, share)| weights[position] = share);
        Ok(weights)
    }
}

impl ChoiceError {
    /// `name` is none of `known`.
    pub fn unknown(kind: &'static str, name: &str, known: &[&str]) -> ChoiceError {
        let help = nearest(name, known);
        ChoiceError::Unknown { kind, name: name.to_owned(), help }
    }
}
