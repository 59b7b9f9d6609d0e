//! The kind of an error, whichever folder defines it: `cli` makes an exit code of it.

use std::error::Error;

/// Where the cause of an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The input: arguments, a scenario or a file that was named are invalid.
    Input,
    /// The server or the machine: no connection, a full disk.
    Environment,
    /// None: the user interrupted the work.
    Interrupted,
}

/// An error that knows its kind.
pub trait KindedError: Error + Send + Sync + 'static {
    /// Returns the kind of this error: the environment's, unless the error defines another one.
    fn kind(&self) -> ErrorKind {
        ErrorKind::Environment
    }
}
