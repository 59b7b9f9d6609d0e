//! The kind of an error, whichever folder defines it: `cli` makes an exit code of it.

use std::error::Error;

/// Who can act on an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The user: arguments, a scenario or a file that was named are invalid.
    Input,
    /// Whoever runs the server or the machine: no connection, a full disk.
    Environment,
    /// Nobody has to: the user interrupted the work.
    Interrupted,
}

/// An error that knows its kind.
pub trait KindedError: Error + Send + Sync + 'static {
    /// Returns the kind of this error.
    fn kind(&self) -> ErrorKind;
}
