//! `--resume`: a study goes on after its last finished step.

use std::path::Path;

use crate::campaign::{EarlyEnd, check_version, status};
use crate::cli::argument::ServerArguments;
use crate::cli::exit::{CliError, Exit};
use crate::cli::output;
use crate::cli::scenario::{Ready, prepare_source};
use crate::cli::server::ServerChoice;
use crate::compile::Choice;
use crate::report::counted;
use crate::results::{FolderLock, ResultsError, RunRecord, Status, StudyKind};
use crate::scenario::Source;

/// Locks the folder of a study that a command can resume. Returns which study is in it.
///
/// # Errors
/// When there is none, or none that this command resumes, or another process measures it.
pub fn open(folder: &Path, command: &str) -> Result<(StudyKind, FolderLock), CliError> {
    let shown = folder.display();
    if !folder.is_dir() {
        return Err(CliError::usage(format!(
            "--resume {shown}: no such folder; name the folder of a run or another study"
        )));
    }
    match StudyKind::of(folder) {
        Ok(kind) if kind.command() == command => Ok((kind, FolderLock::take(folder)?)),
        Ok(kind) => Err(CliError::usage(format!(
            "{shown} contains {kind}: resume it with `docshape {} --resume {shown}`",
            kind.command()
        ))),
        Err(ResultsError::NoStudy { .. }) => Err(CliError::usage(format!(
            "nothing to resume in {shown}: it ended before its file was written; run again with --out {shown}"
        ))),
        Err(error) => Err(error.into()),
    }
}

/// Adds to the error that ended a study early how many of its steps are finished, and how to go on.
pub fn with_finished(error: CliError, kind: StudyKind, folder: &Path, (finished, step): (usize, &str)) -> CliError {
    let (shown, command) = (folder.display(), kind.command());
    let are = if finished == 1 { "is" } else { "are" };
    error.with(&match finished {
        0 => format!("no {step} is complete"),
        _ => format!(
            "{} {are} in {shown}: go on with `docshape {command} --resume {shown}`",
            counted(finished as u64, &format!("complete {step}"))
        ),
    })
}

/// Ends a study: `conclude` writes its status and its reports, also when it has ended early, unless nothing can be written.
///
/// # Errors
/// What ended it early, with what is finished, else that of `conclude`.
pub fn end(
    result: Result<(), EarlyEnd>,
    (kind, folder): (StudyKind, &Path),
    finished: (usize, &str),
    conclude: impl FnOnce(Status) -> Result<Exit, CliError>,
) -> Result<Exit, CliError> {
    let exit = match &result {
        Err(EarlyEnd::Write(_)) => Ok(Exit::Failure),
        result => conclude(status(result)),
    };
    result.map_err(|early| with_finished(early.into(), kind, folder, finished)).and(exit)
}

/// Says that a study needs no resuming.
pub fn complete(kind: StudyKind, folder: &Path) {
    output::line(&format!("{} contains {kind} that is complete: nothing to resume", folder.display()));
}

/// The scenario of a record in a folder.
///
/// # Errors
/// When this build cannot continue the record.
pub fn ready(record: &RunRecord, folder: &Path) -> Result<Ready, CliError> {
    check_version(&folder.display().to_string(), record)?;
    prepare_source(Source::new(record.scenario.name.as_str(), record.scenario.text.as_str()), &choice(record))
}

/// What the record's run chose of its scenario.
pub fn choice(record: &RunRecord) -> Choice {
    Choice {
        set: record.settings.set.clone(),
        shares: record.settings.shares.clone(),
        mix: Some(record.mix.name.clone()),
        strategies: record.strategies.iter().filter(|s| !s.is_repeat).map(|s| s.name.clone()).collect(),
        all: false,
        repeat: record.strategies.iter().any(|strategy| strategy.is_repeat),
        seed: record.settings.seed,
        write_concern: Some(record.settings.write_concern.clone()),
    }
}

/// Returns the server to continue on: of the same kind as that of the rounds before.
///
/// # Errors
/// When another kind is asked for, or there is none.
pub fn server(given: &ServerArguments, record: &RunRecord) -> Result<ServerChoice, CliError> {
    if !record.server.embedded {
        return match given.choice()? {
            ServerChoice::Embedded(_) => {
                Err(CliError::usage("the run to resume was measured on a server of yours: give its address with --uri"))
            }
            uri => Ok(uri),
        };
    }
    if given.uri.is_some() {
        return Err(CliError::usage("the run to resume was measured on an embedded server: omit --uri"));
    }
    let mut embedded = given.embedded.clone();
    embedded.cache_gb = embedded.cache_gb.or(record.settings.cache_gb);
    embedded.options().map(ServerChoice::Embedded)
}
