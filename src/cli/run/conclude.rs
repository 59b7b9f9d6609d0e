//! The end of a run: its status, its reports, and how the command ends.

use std::path::Path;

use crate::campaign::{EarlyEnd, Point, status};
use crate::cli::exit::{CliError, Exit};
use crate::cli::left_out;
use crate::cli::report::{report_of, write_files, written};
use crate::report::{Junit, Report};
use crate::results::{Preset, RunRecord, StudyKind};
use crate::server::Target;
use crate::stats;

use super::resume::with_finished;

/// Writes the status and the reports of a run. Returns how the command ends, and what is known of the run.
///
/// # Errors
/// What ended the run early, else what could not be written.
pub fn conclude<T: Target, G: Target + 'static>(
    point: &mut Point<'_, T, G>,
    result: Result<(), EarlyEnd>,
    folder: &Path,
    junit: Option<&Path>,
) -> Result<(Exit, Report), CliError> {
    let end = |error: CliError, saved: usize| with_finished(error, StudyKind::Run, folder, (saved, "round"));
    let status = status(&result);
    let early = match result {
        // Nothing more can be written.
        Err(EarlyEnd::Write(error)) => return Err(end(error.into(), point.saved)),
        result => result.err().map(CliError::from),
    };
    if let Err(unwritten) = point.end(status) {
        return Err(end(early.unwrap_or_else(|| unwritten.into()), point.saved));
    }
    let record = &point.record;
    // A resumed run left them out earlier.
    left_out::note(&record.skipped);
    let report = report_of(record, folder).in_folder(&folder.display().to_string()).with_files();
    let unwritten = write_reports(record, &report, folder).err().or_else(|| write_junit(&report, junit).err());
    if let Some(error) = early.or(unwritten) {
        return Err(end(error, point.saved));
    }
    let exit = match (exit_of(record), report.has_passed_thresholds()) {
        (Exit::Success, Some(false)) => Exit::CheckFailed,
        (Exit::Success, None) => Exit::Invalid,
        (exit, _) => exit,
    };
    Ok((exit, report))
}

/// How a command ends that measured this run: whether its numbers may be used, and whether the strategies could do what the user
/// asked for. A smoke run measures nothing.
pub fn exit_of(record: &RunRecord) -> Exit {
    let is_missed = record.settings.preset != Preset::Smoke && stats::misses_named_rate(record);
    if stats::is_valid(record) && !is_missed { Exit::Success } else { Exit::Invalid }
}

/// Writes the JUnit file, if requested.
fn write_junit(report: &Report, path: Option<&Path>) -> Result<(), CliError> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, written(&Junit, report)).map_err(|error| {
        CliError::failure(format!("cannot write {}: {error}; name another --junit file", path.display()))
    })
}

/// Writes the report files of a run into its folder.
///
/// # Errors
/// When a file cannot be written; the record is there, so that `docshape report` can write them later.
pub fn write_reports(record: &RunRecord, report: &Report, folder: &Path) -> Result<(), CliError> {
    let shown = folder.display();
    let later = format!("then `docshape report {shown} --out {shown}` writes the reports");
    write_files(record, report, folder).map_err(|error| error.with(&later))
}
