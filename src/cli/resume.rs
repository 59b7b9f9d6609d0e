//! `docshape run --resume`: a run goes on after its last finished round.

use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;

use crate::results::{self, Environment, FORMAT_VERSION, RUN_FILE, RunRecord, Status};
use crate::scenario::Source;

use super::argument::RunArguments;
use super::exit::CliError;
use super::preset::Preset;
use super::scenario::{Ready, prepare_source};
use super::server::ServerChoice;

/// A run to go on with.
pub struct Resumed {
    /// As if all had been given on the command line.
    pub arguments: RunArguments,
    /// Its scenario.
    pub ready: Ready,
    /// What there is of it.
    pub record: RunRecord,
}

/// Reads the run in a folder, and what it takes to go on with it; `None` when it is complete.
///
/// # Errors
/// When this build cannot go on with it.
pub fn open(folder: &Path, given: &RunArguments) -> Result<Option<Resumed>, CliError> {
    if !folder.is_dir() {
        let folder = folder.display();
        return Err(CliError::usage(format!("--resume {folder}: there is no such folder; name a run folder")));
    }
    let record = results::load(folder).map_err(|error| CliError::usage(error.to_string()))?;
    if record.status == Status::Complete {
        return Ok(None);
    }
    let refuse = |reason: String| {
        let file = folder.join(RUN_FILE);
        CliError::usage(format!("{} cannot be resumed: {reason}", file.display()))
    };
    let this = env!("CARGO_PKG_VERSION");
    if record.version != this || record.format != FORMAT_VERSION {
        let theirs = &record.version;
        return Err(refuse(format!(
            "docshape {theirs} began it and this is docshape {this}, whose rounds may differ; use docshape {theirs}, or \
             run anew"
        )));
    }
    let arguments = arguments(&record, given).map_err(&refuse)?;
    let source = Source::new(record.scenario.name.as_str(), record.scenario.text.as_str());
    let ready = prepare_source(source, &arguments.choice())?;
    Ok(Some(Resumed { arguments, ready, record }))
}

/// The options that the record stands for, and those about the server as they were given.
fn arguments(record: &RunRecord, given: &RunArguments) -> Result<RunArguments, String> {
    let settings = &record.settings;
    let preset = Preset::from_str(&settings.preset, false)
        .map_err(|_| format!("there is no preset {}; run anew", settings.preset))?;
    let seconds = |seconds: f64| {
        Duration::try_from_secs_f64(seconds).map_err(|_| format!("{seconds} s is no length of time; run anew"))
    };
    let mut arguments = given.clone();
    arguments.subject.strategies = record.strategies.iter().filter(|s| !s.control).map(|s| s.name.clone()).collect();
    arguments.subject.mix = Some(record.mix.name.clone());
    arguments.subject.set = settings.set.clone();
    arguments.preset = preset;
    arguments.rounds = Some(settings.rounds);
    arguments.slices = Some(settings.slices);
    arguments.isolate = settings.isolated.is_some();
    arguments.calls = settings.calls;
    arguments.duration = settings.duration.map(seconds).transpose()?;
    arguments.workers = Some(settings.workers as u64);
    arguments.threads = settings.threads as u64;
    arguments.timeout = seconds(settings.timeout)?;
    arguments.noise = settings.noise;
    arguments.error_budget = settings.error_budget;
    // Its rounds were measured without, or with the check that it holds already.
    arguments.no_verify = true;
    arguments.seed = settings.seed;
    let cache = &mut arguments.server.embedded.cache_gb;
    *cache = cache.or(settings.cache_gb);
    Ok(arguments)
}

impl Resumed {
    /// The server to go on with: of the same kind as that of the rounds before.
    ///
    /// # Errors
    /// When another kind is asked for, or there is none.
    pub fn server(&self) -> Result<ServerChoice, CliError> {
        let server = &self.arguments.server;
        if !self.record.server.embedded {
            return match server.choice()? {
                ServerChoice::Embedded(_) => Err(CliError::usage(
                    "the run to resume was measured on a server of yours: give its address with --uri",
                )),
                uri => Ok(uri),
            };
        }
        match &server.uri {
            Some(_) => Err(CliError::usage("the run to resume was measured on an embedded server: leave out --uri")),
            None => server.embedded.options().map(ServerChoice::Embedded),
        }
    }
}

/// Goes on with the record of a run; `head` is what the record of a new run would begin with, here and now.
///
/// # Errors
/// When the rounds to come would not be like those before.
pub fn go_on(mut record: RunRecord, head: &RunRecord) -> Result<RunRecord, CliError> {
    let (theirs, ours) = (&record.server.version, &head.server.version);
    if theirs != ours {
        return Err(CliError::usage(format!(
            "the run to resume was measured on MongoDB {theirs}, and this server is MongoDB {ours}: give a server of \
             version {theirs}, or run anew"
        )));
    }
    let names = |record: &RunRecord| -> Vec<String> { record.strategies.iter().map(|s| s.name.clone()).collect() };
    let same = names(&record) == names(head)
        && (&record.operations, &record.mix, &record.parameters) == (&head.operations, &head.mix, &head.parameters);
    if !same {
        return Err(CliError::usage(
            "the run to resume had other strategies, operations, weights or parameters than its scenario has now: its \
             run.json was changed, or another build of docshape began it; run anew",
        ));
    }
    let finished = record.rounds.len();
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
    record.warnings.extend(notes);
    record.status = Status::Unfinished;
    if record.id.is_empty() {
        record.id.clone_from(&head.id);
    }
    Ok(record)
}
