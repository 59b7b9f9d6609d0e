//! `docshape run`.

use super::argument::RunArguments;
use super::exit::{CliError, Exit};

/// Measures the strategies of a scenario, writes a run folder, prints the verdict.
///
/// # Errors
/// When the scenario or server cannot be used, or the run fails.
pub fn run(arguments: RunArguments) -> Result<Exit, CliError> {
    Err(CliError::usage(format!("cannot run {}: `run` is not built in yet", arguments.scenario)))
}
