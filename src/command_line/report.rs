//! `docshape report`.

use std::path::Path;

use crate::cli::argument::ReportArguments;
use crate::cli::next::NextCommand;
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
    match study(&arguments.run)? {
        Some(report) => print_without_run(arguments, report),
        None => report_run(arguments),
    }
}

/// The report of what is in a folder, and what to do next; `None` for a run.
///
/// # Errors
/// When it cannot be read.
fn study(folder: &Path) -> Result<Option<(Report, NextCommand)>, CliError> {
    Ok(Some(match StudyKind::of(folder)? {
        StudyKind::Run => return Ok(None),
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
    }))
}

/// The report of a study in a folder; `None` for a run, and for a sweep that was published without the runs of its points.
///
/// # Errors
/// When it cannot be read.
pub fn of_study(folder: &Path) -> Result<Option<Report>, CliError> {
    if StudyKind::of(folder)? == StudyKind::Sweep && !sweep::command::has_points(folder)? {
        return Ok(None);
    }
    Ok(study(folder)?.map(|(report, _)| report))
}
