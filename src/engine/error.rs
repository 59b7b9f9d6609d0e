//! Why a run could not go on.

use crate::server::Failure;
use crate::server::namespace::NamespaceError;

use super::load::LoadError;
use super::slice::Fatal;
use super::thread::ThreadError;

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// An arm could not be filled.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A database could not be made or dropped.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The server refused to tell sizes or to flush.
    #[error("the sizes of strategy {arm} cannot be read: {failure}")]
    Inspect {
        /// The strategy.
        arm: String,
        /// Why.
        failure: Failure,
    },
    /// The calls could not go on.
    #[error(transparent)]
    Fatal(#[from] Fatal),
    /// A load thread is gone.
    #[error(transparent)]
    Thread(#[from] ThreadError),
    /// No call succeeded, so there is nothing to plan with.
    #[error("strategy {arm} finished no call in {seconds} s; look at its steps, or give --calls")]
    NoCalls {
        /// The strategy.
        arm: String,
        /// How long it tried.
        seconds: f64,
    },
    /// No call of an operation succeeds, which is a mistake of the scenario rather than something to measure.
    #[error("strategy {arm}, operation {operation}: all of its {calls} calls failed: {message}; look at its steps")]
    AlwaysFails {
        /// The strategy.
        arm: String,
        /// The operation.
        operation: String,
        /// How many.
        calls: u64,
        /// The server's words for the first.
        message: String,
    },
    /// The user stopped the run.
    #[error("interrupted")]
    Interrupted,
}

/// What went wrong on a server that does not answer any more.
pub(super) fn lost(error: RunError) -> RunError {
    match error {
        RunError::Fatal(Fatal::Lost(_)) | RunError::Interrupted => error,
        other => RunError::Fatal(Fatal::Lost(other.to_string())),
    }
}
