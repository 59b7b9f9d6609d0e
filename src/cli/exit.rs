//! Exit codes, and the errors that lead to them.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use crate::error::{ErrorKind, KindedError};

/// The exit codes, as `--help` shows them.
pub const EXIT_CODES: &str = "Exit codes:
    0  success
    1  a requested check failed
    2  invalid arguments, scenario or file
    3  server or I/O error
    4  measurements are not valid or decide nothing, or a strategy was left out or did not keep up
  130  interrupted; results of complete rounds are saved";

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The command did its work.
    Success = 0,
    /// A requested check failed: a threshold, a comparison, a verification.
    CheckFailed = 1,
    /// Arguments, a scenario or a file that was named are invalid.
    Usage = 2,
    /// The server, the disk or the machine failed.
    Failure = 3,
    /// The run ended, and its numbers must not be used, do not decide a threshold or comparison that was asked for, a strategy could
    /// not keep up with the rate that was asked for, or one was left out.
    Invalid = 4,
    /// The user interrupted the command.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct CliError {
    /// The exit code.
    pub exit: Exit,
    /// One paragraph that names the culprit and the next step; empty when everything has been printed already.
    pub message: String,
}

impl CliError {
    /// An error with this exit code.
    pub fn new(exit: Exit, message: impl Into<String>) -> CliError {
        CliError { exit, message: message.into() }
    }

    /// Arguments, a scenario or a file that was named are invalid.
    pub fn usage(message: impl Into<String>) -> CliError {
        CliError::new(Exit::Usage, message)
    }

    /// The server, the disk or the machine failed.
    pub fn failure(message: impl Into<String>) -> CliError {
        CliError::new(Exit::Failure, message)
    }

    /// Adds what else the user should know.
    pub fn with(self, addition: &str) -> CliError {
        CliError { message: format!("{}; {addition}", self.message), ..self }
    }
}

impl<E: KindedError> From<E> for CliError {
    fn from(error: E) -> CliError {
        let exit = match error.kind() {
            ErrorKind::Input => Exit::Usage,
            ErrorKind::Environment => Exit::Failure,
            ErrorKind::Interrupted => Exit::Interrupted,
        };
        CliError::new(exit, error.to_string())
    }
}

/// Returns the error for a file that cannot be written.
pub fn write_error(path: &Path, error: &io::Error) -> CliError {
    CliError::failure(format!("cannot write {}: {error}; free some disk space, or choose another path", path.display()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::results;

    use super::*;

    #[test]
    fn help_has_every_exit_code() {
        let exits = [Exit::Success, Exit::CheckFailed, Exit::Usage, Exit::Failure, Exit::Invalid, Exit::Interrupted];
        let shown: Vec<u8> = EXIT_CODES.lines().skip(1).map(|line| line[..5].trim().parse().unwrap()).collect();
        assert_eq!(shown, exits.map(|exit| exit as u8));
    }

    #[test]
    fn errors_keep_their_message_and_get_an_exit_code() {
        let error = CliError::from(results::load(Path::new("no/such/run")).unwrap_err());
        assert_eq!(error.exit, Exit::Usage);
        assert!(error.message.contains("no/such/run"), "{error}");
    }
}
