//! How the program ends.

use std::process::ExitCode;

/// The exit codes, as `--help` shows them.
pub const EXIT_CODES: &str = "Exit codes:
    0  fine
    1  the run finished, and a check that was asked for failed
    2  bad arguments or scenario
    3  the server is unreachable, was refused or got lost
    4  the run finished and is not valid
  130  interrupted; the results of finished rounds were saved";

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Fine.
    Fine,
    /// The run finished, and a check that was asked for failed.
    CheckFailed,
    /// Bad arguments, a bad scenario, or files that cannot be read or written.
    Usage,
    /// The server is unreachable, was refused or got lost.
    Server,
    /// The run finished and is not valid.
    Invalid,
    /// The user stopped it.
    Interrupted,
}

impl Exit {
    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::Fine => 0,
            Exit::CheckFailed => 1,
            Exit::Usage => 2,
            Exit::Server => 3,
            Exit::Invalid => 4,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Why a command could not do its work: what to tell the user, once, and the exit code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CliError {
    /// The exit code.
    pub exit: Exit,
    /// One paragraph that names the culprit and the next step; empty when everything has been said already.
    pub message: String,
}

impl CliError {
    /// Bad arguments, a bad scenario, or files that cannot be read or written.
    pub fn usage(message: impl Into<String>) -> CliError {
        CliError { exit: Exit::Usage, message: message.into() }
    }

    /// The server is unreachable, was refused or got lost.
    pub fn server(message: impl Into<String>) -> CliError {
        CliError { exit: Exit::Server, message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_in_the_help_has_every_code() {
        let exits = [Exit::Fine, Exit::CheckFailed, Exit::Usage, Exit::Server, Exit::Invalid, Exit::Interrupted];
        let told: Vec<u8> = EXIT_CODES.lines().skip(1).map(|line| line[..5].trim().parse().unwrap()).collect();
        assert_eq!(told, exits.map(Exit::code));
    }
}
