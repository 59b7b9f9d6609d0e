//! `--resume`: a study goes on after its last finished step.

use std::path::Path;

use crate::campaign::{EarlyEnd, status};
use crate::cli::argument::ServerArguments;
use crate::cli::scenario::{Ready, prepare_source};
use crate::cli::server::ServerChoice;
use crate::cli::{CliError, Exit, output};
use crate::compile::Choice;
use crate::plan::Plan;
use crate::report::counted;
use crate::results::{
    Environment, FolderLock, ResultsError, RunRecord, ScenarioRecord, ServerSharing, Status, StudyKind,
};
use crate::scenario::Source;

use super::record;

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
        Err(ResultsError::NoStudy(_)) => Err(CliError::usage(format!(
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
    let (theirs, ours) = (&record.version, env!("CARGO_PKG_VERSION"));
    if theirs != ours {
        return Err(CliError::usage(format!(
            "{} cannot be resumed: it was started by docshape {theirs}, and rounds of docshape {ours} may differ; use docshape \
             {theirs}, or start a new run",
            folder.display()
        )));
    }
    prepare_source(Source::new(record.scenario.opened(), record.scenario.text.as_str()), &choice(record))
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

/// Returns the server for more rounds: of the same kind as that of the rounds of a record.
///
/// # Errors
/// When another kind is asked for, or there is none.
pub fn server(given: &ServerArguments, record: &RunRecord) -> Result<ServerChoice, CliError> {
    if !record.server.embedded {
        return match given.choice()? {
            ServerChoice::Embedded(_) => Err(CliError::usage(
                "the run in that folder was measured on a server of yours: give its address with --uri",
            )),
            uri => Ok(uri),
        };
    }
    if given.uri.is_some() {
        return Err(CliError::usage("the run in that folder was measured on an embedded server: omit --uri"));
    }
    let mut embedded = given.embedded.clone();
    embedded.cache_gb = embedded.cache_gb.or(record.settings.cache_gb);
    let members = record.settings.members.unwrap_or(1);
    if embedded.members.replace(members).is_some_and(|asked| asked != members) {
        let message = format!("the run in that folder was measured with --members {members}: omit --members");
        return Err(CliError::usage(message));
    }
    embedded.options().map(ServerChoice::Embedded)
}

/// Continues a record after what is finished, such as `round 3`; `head` is the record that would be started with now.
///
/// # Errors
/// When what is to come would not be like what was before.
pub fn continue_record(mut record: RunRecord, head: &RunRecord, finished: &str) -> Result<RunRecord, CliError> {
    let (theirs, ours) = (&record.server.version, &head.server.version);
    if theirs != ours {
        return Err(CliError::usage(format!(
            "the run to resume was measured on MongoDB {theirs}, but this server is MongoDB {ours}: use a server of version \
             {theirs}, or start a new run"
        )));
    }
    let names = |record: &RunRecord| -> Vec<String> { record.strategies.iter().map(|s| s.name.clone()).collect() };
    let is_same = names(&record) == names(head)
        && (&record.operations, &record.mix, &record.parameters) == (&head.operations, &head.mix, &head.parameters)
        && record.scenario.data == head.scenario.data;
    if !is_same {
        return Err(CliError::usage(
            "the run to resume has other strategies, operations, weights, parameters or data than its scenario: a file was changed, or \
             another build of docshape wrote it; start a new run",
        ));
    }
    let mut notes = vec![format!("The run was resumed after {finished}, on {}.", head.started)];
    notes.extend(differences(&record, head).into_iter().map(|what| format!("After {finished}, {what}.")));
    notes.extend(head.warnings.iter().filter(|warning| !record.warnings.contains(warning)).cloned());
    record.warnings.extend(notes);
    record.status = Status::Unfinished;
    Ok(record)
}

/// Checks that the files of `from` are those of a record.
///
/// # Errors
/// When they are not.
pub fn check_data(record: &ScenarioRecord, plan: &Plan) -> Result<(), CliError> {
    if record::data(plan) == record.data {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "a file of `from` in {} is not as it was when it was measured: restore it, or measure anew",
        record.opened()
    )))
}

/// What is different now, and may show in the numbers.
fn differences(record: &RunRecord, head: &RunRecord) -> Vec<String> {
    let commit = |record: &RunRecord| record.git.clone().unwrap_or_else(|| "(unknown)".into());
    let built = format!("docshape was built from commit {}, before that from {}", commit(head), commit(record));
    let machine = |of: &Environment| (of.platform.clone(), of.kernel.clone(), of.cpu.clone(), of.cores, of.memory);
    let sharing = match head.server.servers {
        ServerSharing::Shared => "all strategies shared one server, before that each had its own",
        ServerSharing::PerStrategy => "each strategy had its own server, before that all shared one",
    };
    let all = [
        (record.git != head.git, built.as_str()),
        (machine(&record.environment) != machine(&head.environment), "docshape ran on another machine"),
        (record.server.cache_bytes != head.server.cache_bytes, "the server's cache had another size"),
        (record.server.servers != head.server.servers, sharing),
    ];
    all.into_iter().filter(|(is_different, _)| *is_different).map(|(_, what)| what.to_owned()).collect()
}
