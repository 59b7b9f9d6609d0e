//! `docshape report`.

use crate::results::{self, RunRecord};

use super::argument::{ReportArguments, ReportFormat};
use super::exit::{CliError, Exit};
use super::output;

/// Renders the results of a run again.
///
/// # Errors
/// When the run cannot be read or the report cannot be written.
pub fn report(arguments: &ReportArguments) -> Result<Exit, CliError> {
    let record = results::load(&arguments.run).map_err(|error| CliError::usage(error.to_string()))?;
    output::print(&render(&record, arguments.format)?)?;
    Ok(Exit::Fine)
}

fn render(record: &RunRecord, format: ReportFormat) -> Result<String, CliError> {
    let words = format!("the run of {} was read; {format:?} reports are not built in yet", record.scenario.name);
    Err(CliError::usage(words))
}
