//! Why a call has no result.

use crate::plan::EvalError;
use crate::server::Failure;

/// Why a call has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StepError {
    /// The server or the connection failed. The call is recorded as failed and the run continues.
    #[error("{label}: {failure}")]
    Failed {
        /// The step.
        label: String,
        /// What the server said.
        #[source]
        failure: Failure,
    },
    /// A step reached its limit of repetitions. The call is recorded as failed and the run continues.
    #[error("{label}: {limit}")]
    LimitReached {
        /// The step.
        label: String,
        /// The limit.
        limit: Limit,
    },
    /// The scenario has a mistake, which ends the run.
    #[error("{label}: {error}")]
    Invalid {
        /// The step.
        label: String,
        /// What is wrong.
        #[source]
        error: EvalError,
    },
}

impl StepError {
    /// Wraps an expression's error with the label of its step.
    pub(crate) fn invalid(label: &str, error: EvalError) -> StepError {
        StepError::Invalid { label: label.to_owned(), error }
    }

    /// Whether the server refuses what the step asks for, whenever it is asked: options or stages that it does not take there,
    /// or a right that is missing. Anything else may pass.
    pub fn is_refusal(&self) -> bool {
        // BadValue, FailedToParse, Unauthorized, InvalidOptions, CommandNotSupported, OperationNotSupportedInTransaction.
        const REFUSALS: [i32; 6] = [2, 9, 13, 72, 115, 263];
        matches!(self, StepError::Failed { failure, .. } if failure.code().is_some_and(|code| REFUSALS.contains(&code)))
    }

    /// Whether the connection broke or the reply did not come in time, which says nothing about the scenario.
    pub fn is_connection_error(&self) -> bool {
        matches!(self, StepError::Failed { failure, .. } if failure.is_lost())
    }
}

/// How often a step may repeat its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// Attempts of a `retry`.
    #[error("{0} attempts were not enough")]
    Attempts(u32),
    /// Iterations of a `while`.
    #[error("{0} iterations were not enough")]
    Iterations(u32),
}

impl Limit {
    /// The reason under which a call that reached the limit is counted.
    pub fn reason(self) -> &'static str {
        match self {
            Limit::Attempts(_) => "attempts used up",
            Limit::Iterations(_) => "max_iterations reached",
        }
    }
}
