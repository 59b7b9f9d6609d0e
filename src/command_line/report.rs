//! `docshape report`.

use crate::cli::argument::ReportArguments;
use crate::cli::report::{print_without_run, report_run};
use crate::cli::run::after_claims;
use crate::cli::{CliError, Exit};
use crate::report::Report;
use crate::results::{self, ClaimsRecord, StudyKind};
use crate::studies::capacity::record::CapacityRecord;
use crate::studies::growth::record::GrowthRecord;
use crate::studies::{capacity, explore, growth, shard_key, sweep};

/// Renders the results of a run or a study again.
///
/// # Errors
/// When they cannot be read or the report cannot be written.
pub fn report(arguments: &ReportArguments) -> Result<Exit, CliError> {
    let folder = &arguments.run;
    let report = match StudyKind::of(folder)? {
        StudyKind::Run => return report_run(arguments),
        StudyKind::Claims => {
            let record = results::load_as::<ClaimsRecord>(folder)?;
            (Report::of_claims(&record), after_claims(&record, folder))
        }
        StudyKind::Sweep => sweep::command::report(folder)?,
        StudyKind::Explore => explore::command::report(folder)?,
        StudyKind::ShardKey => shard_key::command::report(folder)?,
        StudyKind::Growth => {
            let record = results::load_as::<GrowthRecord>(folder)?;
            (Report::of_growth(&record), growth::command::next(&record.run))
        }
        StudyKind::Capacity => {
            let record = results::load_as::<CapacityRecord>(folder)?;
            (Report::of_capacity(&record), capacity::command::next(&record))
        }
    };
    print_without_run(arguments, report)
}
