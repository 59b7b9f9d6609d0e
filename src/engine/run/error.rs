//! Why a run could not continue.

use crate::engine::load::load_threads::ThreadError;
use crate::engine::load::slice::FatalError;
use crate::engine::load::stop::StopFlag;
use crate::error::{ErrorKind, KindedError};
use crate::server::Failure;
use crate::server::namespace::NamespaceError;

use super::loader::LoadError;

/// Why a run could not continue.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The documents of a strategy could not be inserted.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The data of a strategy may be incomplete: they are acknowledged by a majority only at the end.
    #[error(
        "the primary changed while the data of strategy {strategy} were loaded; run again, or resume the run{reason}"
    )]
    LoadInterrupted {
        /// The strategy.
        strategy: String,
        /// What the server said, in parentheses; empty when loading went through nevertheless.
        reason: String,
    },
    /// A database could not be created or dropped.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The server failed to flush or to report sizes.
    #[error("cannot read the sizes of strategy {strategy}: {failure}")]
    Inspect {
        /// The strategy.
        strategy: String,
        /// What the server said.
        #[source]
        failure: Failure,
    },
    /// The server does not step down.
    #[error("the server did not step down: {0}; use a user with the role clusterManager, or an embedded server")]
    Fault(#[source] Failure),
    /// The scenario has a mistake or the server was lost.
    #[error(transparent)]
    Fatal(#[from] FatalError),
    /// A load thread cannot run.
    #[error(transparent)]
    Thread(#[from] ThreadError),
    /// No call succeeded in the pilot, so the number of calls cannot be planned.
    #[error("strategy {strategy} finished no call in {seconds} s; check its steps, or set the number of calls")]
    NoCalls {
        /// The strategy.
        strategy: String,
        /// Length of the pilot.
        seconds: f64,
    },
    /// The user stopped the run.
    #[error("interrupted")]
    Interrupted,
}

/// What parts of a run return.
pub(super) type Result<T, E = RunError> = std::result::Result<T, E>;

impl RunError {
    /// The error to report when the server turns out to be lost.
    pub(super) fn with_lost_server(self) -> RunError {
        if self.is_server_lost() || matches!(self, RunError::Interrupted) {
            return self;
        }
        FatalError::ServerLost(self.to_string()).into()
    }

    /// Whether a failover or a broken connection kept the data of a strategy from being loaded.
    pub(super) fn is_interrupted_load(&self) -> bool {
        match self {
            RunError::Load(error) => error.is_interruption(),
            RunError::Namespace(NamespaceError::Refused { failure, .. }) => failure.is_interruption(),
            _ => false,
        }
    }

    /// Whether the server is known to be lost.
    pub fn is_server_lost(&self) -> bool {
        matches!(self, RunError::Fatal(FatalError::ServerLost(_)))
    }
}

impl StopFlag {
    /// Returns an error once the user wants to stop.
    ///
    /// # Errors
    /// [`RunError::Interrupted`] after the stop was requested.
    pub fn check(&self) -> Result<()> {
        if self.is_set() { Err(RunError::Interrupted) } else { Ok(()) }
    }
}

impl KindedError for RunError {
    fn kind(&self) -> ErrorKind {
        match self {
            RunError::Load(error) => error.kind(),
            RunError::Thread(error) => error.kind(),
            RunError::Fatal(FatalError::Scenario { .. }) | RunError::NoCalls { .. } => ErrorKind::Input,
            RunError::Interrupted => ErrorKind::Interrupted,
            _ => ErrorKind::Environment,
        }
    }
}
