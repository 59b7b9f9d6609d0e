//! `docshape report`.

use crate::cli::argument::ReportArguments;
use crate::cli::report::{print_without_run, report_run};
use crate::cli::{CliError, Exit};
use crate::report::Report;
use crate::results::{self, ClaimsRecord, StudyKind};
use crate::studies::capacity::record::CapacityRecord;
use crate::studies::growth::record::GrowthRecord;
use crate::studies::sweep;

/// Renders the results of a run or a study again.
///
/// # Errors
/// When they cannot be read or the report cannot be written.
pub fn report(arguments: &ReportArguments) -> Result<Exit, CliError> {
    let folder = &arguments.run;
    let report = match StudyKind::of(folder)? {
        StudyKind::Run => return report_run(arguments),
        StudyKind::Claims => Report::of_claims(&results::load_as::<ClaimsRecord>(folder)?),
        StudyKind::Sweep => sweep::command::report(folder)?,
        StudyKind::Growth => Report::of_growth(&results::load_as::<GrowthRecord>(folder)?),
        StudyKind::Capacity => Report::of_capacity(&results::load_as::<CapacityRecord>(folder)?),
    };
    print_without_run(arguments, report)
}
