//! What ends a study early.

use crate::engine::RunError;
use crate::error::{ErrorKind, KindedError};
use crate::results::{ResultsError, Status};

/// What ended a study early.
#[derive(Debug, thiserror::Error)]
pub enum EarlyEnd {
    /// The engine stopped: a lost server, a mistake in the scenario, the user.
    #[error(transparent)]
    Engine(#[from] RunError),
    /// The results could not be written, and nothing more can be.
    #[error(transparent)]
    Write(#[from] ResultsError),
}

impl KindedError for EarlyEnd {
    fn kind(&self) -> ErrorKind {
        match self {
            EarlyEnd::Engine(error) => error.kind(),
            EarlyEnd::Write(error) => error.kind(),
        }
    }
}

impl EarlyEnd {
    /// Returns the status of a study that ended so.
    pub fn status(&self) -> Status {
        match self {
            EarlyEnd::Engine(RunError::Interrupted) => Status::Interrupted,
            EarlyEnd::Engine(error) => Status::Failed(error.to_string()),
            EarlyEnd::Write(_) => Status::Unfinished,
        }
    }

    /// Whether only what was just measured is at fault, so that others can still be measured.
    pub(super) fn is_of_one_point(&self) -> bool {
        match self {
            EarlyEnd::Engine(RunError::Interrupted) | EarlyEnd::Write(_) => false,
            EarlyEnd::Engine(error) => !error.is_server_lost(),
        }
    }
}

/// Returns the status of a study after all of its steps, or an early end.
pub fn status(result: &Result<(), EarlyEnd>) -> Status {
    result.as_ref().err().map_or(Status::Complete, EarlyEnd::status)
}
