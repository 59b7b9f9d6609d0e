//! `docshape report`.

use crate::report::{Markdown, Renderer, Report, Terminal};
use crate::results;

use super::argument::{ReportArguments, ReportFormat};
use super::exit::{CliError, Exit};
use super::output;

/// Renders the results of a run again.
///
/// # Errors
/// When the run cannot be read or the report cannot be written.
pub fn report(arguments: &ReportArguments) -> Result<Exit, CliError> {
    let record = results::load(&arguments.run).map_err(|error| CliError::usage(error.to_string()))?;
    let report = Report::new(&record).in_folder(&arguments.run.display().to_string());
    output::print(&render(&report, arguments.format))?;
    Ok(Exit::Fine)
}

fn render(report: &Report, format: ReportFormat) -> String {
    match format {
        ReportFormat::Terminal => terminal(report),
        ReportFormat::Markdown => {
            let mut text = String::new();
            let _ = Markdown.render(report, &mut text);
            text
        }
    }
}

/// The terminal's report, as wide as the terminal.
pub fn terminal(report: &Report) -> String {
    let mut text = String::new();
    let _ = Terminal { width: output::width(), colour: true }.render(report, &mut text);
    text
}
