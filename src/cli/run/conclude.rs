//! The end of a run: its status, its reports, and how the command ends.

use std::path::Path;

use crate::campaign::{EarlyEnd, Point, status};
use crate::cli::exit::{CliError, Exit};
use crate::cli::report::{write_files, written};
use crate::engine::RunError;
use crate::report::{Junit, Report};
use crate::results::{self, ResultsError, RunRecord, Status, StudyKind};
use crate::server::Target;

use super::resume::with_finished;

/// A run that has ended.
pub struct Concluded {
    /// How the command ends.
    pub exit: Exit,
    /// What is known of the run.
    pub report: Report,
}

/// Writes the status and the reports of a run.
///
/// # Errors
/// What ended the run early, else what could not be written.
pub fn conclude<T: Target, G: Target + 'static>(
    point: &mut Point<'_, T, G>,
    result: Result<(), EarlyEnd>,
    folder: &Path,
    junit: Option<&Path>,
) -> Result<Concluded, CliError> {
    let end = |error: CliError, saved: usize| with_finished(error, StudyKind::Run, folder, (saved, "round"));
    let early = match save_status(point, result) {
        Ok(early) => early,
        // Nothing more can be written.
        Err(error) => return Err(end(error, point.saved)),
    };
    let record = &point.record;
    let others = results::other_mixes(folder, record);
    let report = Report::among(record, &others).in_folder(&folder.display().to_string()).with_files();
    let unwritten = write_reports(record, &report, folder).err().or_else(|| write_junit(&report, junit).err());
    if let Some(error) = early.map(CliError::from).or(unwritten) {
        return Err(end(error, point.saved));
    }
    let exit = match (report.is_invalid(), report.has_failed_thresholds()) {
        (true, _) => Exit::Invalid,
        (false, true) => Exit::CheckFailed,
        (false, false) => Exit::Success,
    };
    Ok(Concluded { exit, report })
}

/// Saves how a run ended. Returns what ended it early.
///
/// # Errors
/// When it cannot be written, now or before.
fn save_status<T: Target, G: Target + 'static>(
    point: &mut Point<'_, T, G>,
    result: Result<(), EarlyEnd>,
) -> Result<Option<RunError>, CliError> {
    let status = status(&result);
    let early = match result {
        Ok(()) => None,
        Err(EarlyEnd::Engine(error)) => Some(error),
        Err(EarlyEnd::Write(error)) => return Err(error.into()),
    };
    match point.end(status) {
        Err(unwritten) => Err(early.map_or_else(|| unwritten.into(), CliError::from)),
        Ok(()) => Ok(early),
    }
}

/// Saves a run that ends because the one it takes turns with has ended early.
///
/// # Errors
/// When it cannot be written.
pub fn give_up<T: Target, G: Target + 'static>(point: &mut Point<'_, T, G>) -> Result<(), ResultsError> {
    point.end(Status::Failed("the run on the other server ended early".to_owned()))
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
