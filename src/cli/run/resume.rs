//! `docshape run --resume`: a run continues after its last complete round.

use std::path::Path;

use crate::cli::argument::ServerArguments;
use crate::cli::exit::CliError;
use crate::cli::scenario::{Ready, prepare_source};
use crate::cli::server::ServerChoice;
use crate::compile::Choice;
use crate::results::{self, Environment, FORMAT_VERSION, FolderLock, RUN_FILE, RunRecord, ServerSharing, Status};
use crate::scenario::Source;

/// A run to continue.
pub struct Resumed {
    /// Its scenario.
    pub ready: Ready,
    /// Its record so far.
    pub record: RunRecord,
    /// Keeps other processes out of its folder.
    pub lock: FolderLock,
}

/// Reads the run in a folder; `None` when it is complete.
///
/// # Errors
/// When this build cannot continue it.
pub fn open(folder: &Path) -> Result<Option<Resumed>, CliError> {
    if !folder.is_dir() {
        let folder = folder.display();
        return Err(CliError::usage(format!("--resume {folder}: no such folder; name a run folder")));
    }
    if !folder.join(RUN_FILE).exists() {
        let shown = folder.display();
        return Err(CliError::usage(format!(
            "nothing to resume in {shown}: it has no {RUN_FILE}, which a run writes before its first round; run again with --out \
             {shown}"
        )));
    }
    if results::load(folder)?.status == Status::Complete {
        return Ok(None);
    }
    let lock = FolderLock::take(folder)?;
    // The process that had the lock may have written it meanwhile.
    let record = results::load(folder)?;
    check_version(&folder.join(RUN_FILE).display().to_string(), &record)?;
    if record.turns_with.is_some() {
        let shown = folder.display();
        return Err(CliError::usage(format!(
            "the run in {shown} took turns with one on another server, and cannot be resumed alone: measure both again with --ab"
        )));
    }
    let source = Source::new(record.scenario.name.as_str(), record.scenario.text.as_str());
    let ready = prepare_source(source, &choice(&record))?;
    Ok(Some(Resumed { ready, record, lock }))
}

/// Rejects a record of another build.
///
/// # Errors
/// When this build cannot continue it.
pub fn check_version(file: &str, record: &RunRecord) -> Result<(), CliError> {
    let (this, theirs) = (env!("CARGO_PKG_VERSION"), &record.version);
    if record.version == this && record.format == FORMAT_VERSION {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "{file} cannot be resumed: it was started by docshape {theirs}, and rounds of docshape {this} may differ; use docshape \
         {theirs}, or start a new run"
    )))
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

/// Continues the record of a run; `head` is the record that a new run would start with now.
///
/// # Errors
/// When the rounds to come would not be like those before.
pub fn continue_record(mut record: RunRecord, head: &RunRecord) -> Result<RunRecord, CliError> {
    let (theirs, ours) = (&record.server.version, &head.server.version);
    if theirs != ours {
        return Err(CliError::usage(format!(
            "the run to resume was measured on MongoDB {theirs}, but this server is MongoDB {ours}: use a server of version \
             {theirs}, or start a new run"
        )));
    }
    let names = |record: &RunRecord| -> Vec<String> { record.strategies.iter().map(|s| s.name.clone()).collect() };
    let same = names(&record) == names(head)
        && (&record.operations, &record.mix, &record.parameters) == (&head.operations, &head.mix, &head.parameters);
    if !same {
        return Err(CliError::usage(
            "the run to resume has other strategies, operations, weights or parameters than its scenario: its run.json was \
             changed, or another build of docshape wrote it; start a new run",
        ));
    }
    let finished = record.complete_rounds();
    let mut notes = vec![format!("The run was resumed after round {finished}, on {}.", head.started)];
    if record.git != head.git {
        let commit = |record: &RunRecord| record.git.clone().unwrap_or_else(|| "(unknown)".into());
        notes.push(format!(
            "Rounds up to {finished} were measured by docshape built from commit {}, those after by {}.",
            commit(&record),
            commit(head)
        ));
    }
    let machine = |of: &Environment| (of.platform.clone(), of.kernel.clone(), of.cpu.clone(), of.cores, of.memory);
    if machine(&record.environment) != machine(&head.environment) {
        notes.push(format!("Rounds after {finished} were measured from another machine than those before."));
    }
    if record.server.cache_bytes != head.server.cache_bytes {
        notes.push(format!("Rounds after {finished} were measured with another size of the server's cache."));
    }
    if record.server.servers != head.server.servers {
        let ways = match head.server.servers {
            ServerSharing::Shared => "all strategies on one server, those before on one each",
            ServerSharing::PerStrategy => "a server per strategy, those before on one for all",
        };
        notes.push(format!("Rounds after {finished} were measured with {ways}."));
    }
    record.warnings.extend(notes);
    for warning in &head.warnings {
        if !record.warnings.contains(warning) {
            record.warnings.push(warning.clone());
        }
    }
    record.status = Status::Unfinished;
    if record.id.is_empty() {
        record.id.clone_from(&head.id);
    }
    Ok(record)
}
