//! `docshape run`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

use crate::engine::{Event, Experiment, Generators, LoadThread, Observer, Settings, Stop, share};
use crate::results::{self, RunRecord};
use crate::server::client::{ConnectError, MongoTarget};
use crate::server::embedded::EmbeddedMongod;
use crate::server::facts::{self, ServerFacts};

use super::argument::RunArguments;
use super::course::Course;
use super::exit::{CliError, Exit};
use super::interrupt::Interrupt;
use super::latency_log::LogWriter;
use super::output;
use super::progress::Progress;
use super::record;
use super::resume::{self, Resumed};
use super::scenario::{Ready, prepare};
use super::server::ServerChoice;

/// Measures the strategies of a scenario, writes a run folder, prints the verdict.
///
/// # Errors
/// When the scenario or server cannot be used, or the run fails.
pub fn run(arguments: RunArguments) -> Result<Exit, CliError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let id = format!("{:08x}", now.subsec_nanos() ^ std::process::id().rotate_left(16));
    if let Some(folder) = arguments.resume.clone() {
        let Some(resumed) = resume::open(&folder, &arguments)? else {
            let folder = folder.display();
            output::tell(&format!("the run in {folder} is complete: there is nothing to resume\n"));
            return Ok(Exit::Fine);
        };
        let choice = resumed.server()?;
        check_keep(&resumed.arguments, &choice)?;
        let Resumed { arguments, ready, record } = resumed;
        return in_runtime(Session { arguments, ready, folder, id, now, begun: Some(record) }, choice);
    }
    let ready = prepare(arguments.scenario.as_deref().unwrap_or_default(), &arguments.choice())?;
    let choice = arguments.server.choice()?;
    check_keep(&arguments, &choice)?;
    let folder = run_folder(&arguments, &ready, now, &id);
    let is_new = results::create_folder(&folder).map_err(|error| CliError::usage(error.to_string()))?;
    let result = in_runtime(Session { arguments, ready, folder: folder.clone(), id, now, begun: None }, choice);
    if is_new {
        // A run that came to nothing leaves no empty folder; one with results in it cannot be removed like this.
        let _ = std::fs::remove_dir(&folder);
    }
    result
}

fn in_runtime(session: Session, choice: ServerChoice) -> Result<Exit, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CliError::server(format!("cannot start: {error}")))?;
    // This is the main thread, as the embedded server's life requires.
    let result = runtime.block_on(session.run(choice));
    runtime.shutdown_background();
    result
}

fn check_keep(arguments: &RunArguments, choice: &ServerChoice) -> Result<(), CliError> {
    match choice {
        ServerChoice::Embedded(_) if arguments.keep => Err(CliError::usage(
            "--keep needs a server that stays: the embedded server of a run goes with all its databases; keep one with \
             `docshape server start`, and give its address with --uri",
        )),
        _ => Ok(()),
    }
}

fn run_folder(arguments: &RunArguments, ready: &Ready, now: Duration, id: &str) -> PathBuf {
    let of_its_own = || {
        let stamp = results::stamp(i64::try_from(now.as_millis()).unwrap_or(0));
        Path::new("results").join(&ready.plan.name).join(format!("{stamp}-{id}"))
    };
    arguments.out.clone().unwrap_or_else(of_its_own)
}

/// One invocation of `docshape run`.
struct Session {
    arguments: RunArguments,
    ready: Ready,
    folder: PathBuf,
    id: String,
    now: Duration,
    /// What there is of a run that is resumed.
    begun: Option<RunRecord>,
}

impl Session {
    async fn run(self, choice: ServerChoice) -> Result<Exit, CliError> {
        let stop = Stop::default();
        let interrupt = Interrupt::listen().map_err(|error| CliError::server(error.to_string()))?;
        let at_once = self.at_once(&choice);
        tokio::select! {
            result = self.with_server(choice, &stop) => result,
            // What is given up here is dropped, the embedded server and its folder with it.
            () = watch(interrupt, &stop) => Err(at_once),
        }
    }

    /// The words for an end without good order.
    fn at_once(&self, choice: &ServerChoice) -> CliError {
        let folder = self.folder.display();
        let left = match choice {
            ServerChoice::Embedded(_) => String::new(),
            ServerChoice::Uri(_) => {
                let id = self.begun.as_ref().map_or(&self.id, |begun| &begun.id);
                format!("; databases named docshape_..._{id}... may be left on the server, drop them")
            }
        };
        let message = format!("interrupted at once; rounds finished before are in {folder}{left}");
        CliError { exit: Exit::Interrupted, message }
    }

    /// Starts or finds the server, and ends the embedded one whatever happens.
    async fn with_server(self, choice: ServerChoice, stop: &Stop) -> Result<Exit, CliError> {
        match choice {
            ServerChoice::Uri(uri) => self.connected(uri.reveal(), (false, stop)).await,
            ServerChoice::Embedded(options) => {
                let starting = async { EmbeddedMongod::start(&options).await.map_err(|error| server_error(&error)) };
                let mut server = unless_stopped(stop, starting).await?;
                let result = self.connected(&server.uri(), (true, stop)).await;
                let result = result.map_err(|error| with_end_of(&mut server, error));
                let stopped = server.stop().map_err(|error| CliError::server(error.to_string()));
                result.and_then(|exit| stopped.map(|()| exit))
            }
        }
    }

    async fn connected(self, uri: &str, (embedded, stop): (bool, &Stop)) -> Result<Exit, CliError> {
        let (target, facts, threads) = unless_stopped(stop, self.connect(uri)).await?;
        self.measure((&target, &facts), Generators::Threads(threads), embedded, stop).await
    }

    async fn connect(&self, uri: &str) -> Result<(MongoTarget, ServerFacts, Vec<LoadThread>), CliError> {
        let target = MongoTarget::connect(uri, 1).await.map_err(|error| match error {
            ConnectError::InvalidUri { .. } => CliError::usage(error.to_string()),
            ConnectError::Driver { .. } => server_error(&error),
        })?;
        let facts = facts::gather(&target).await.map_err(|error| server_error(&error))?;
        let mut threads = Vec::new();
        for workers in share(self.arguments.workers() as usize, self.arguments.threads as usize) {
            let thread = LoadThread::start(uri.to_owned(), workers as u32).await;
            threads.push(thread.map_err(|error| server_error(&error))?);
        }
        Ok((target, facts, threads))
    }

    async fn measure(
        self,
        (target, facts): (&MongoTarget, &ServerFacts),
        generators: Generators<MongoTarget>,
        embedded: bool,
        stop: &Stop,
    ) -> Result<Exit, CliError> {
        let Session { arguments, ready, folder, id, now, begun } = self;
        let head = record::begin((&arguments, &ready), facts, embedded, (&id, now));
        let is_resumed = begun.is_some();
        let mut record = begun.map_or_else(|| Ok(head.clone()), |begun| resume::go_on(begun, &head))?;
        let load = record.settings.load;
        let log = match is_resumed {
            true => LogWriter::resume(&folder, (record::started(&record), now), load, record.rounds.len())?,
            false => LogWriter::create(&folder, now, load)?,
        };
        let plan = Arc::new(ready.plan);
        let observer = (Progress::new(), log);
        let arms: Vec<String> = plan.arms.iter().map(|arm| arm.name.clone()).collect();
        observer.event(&Event::Started { rounds: record.settings.rounds, arms: &arms });
        let mut experiment = Experiment {
            plan,
            settings: Settings {
                id: record.id.clone(),
                load: record.settings.load,
                workers: record.settings.workers,
                slices: record.settings.slices,
                isolated: record.settings.isolated.is_some(),
                timeout: arguments.timeout,
                keep: arguments.keep,
            },
            target,
            generators: &generators,
            observer: &observer,
            stop: stop.clone(),
            started: Instant::now(),
        };
        let course = Course::new(&arguments, &folder, record.rounds.len());
        if is_resumed {
            let cleared = experiment.drop_left(record.rounds.len() as u64).await;
            cleared.map_err(|error| CliError::server(error.to_string()))?;
        }
        let result = course.rounds(&mut experiment, &observer.1, &mut record).await;
        drop(experiment);
        drop(generators);
        drop(observer);
        course.conclude(result, record)
    }
}

/// For work without a loop that looks at `stop`: it is given up.
async fn unless_stopped<R>(stop: &Stop, work: impl Future<Output = Result<R, CliError>>) -> Result<R, CliError> {
    tokio::select! {
        result = work => result,
        () = stop.asked() => Err(CliError { exit: Exit::Interrupted, message: "interrupted before the first call".into() }),
    }
}

fn server_error(error: &dyn std::error::Error) -> CliError {
    CliError::server(error.to_string())
}

/// A server of our own that ended by itself is the reason of whatever went wrong with it.
fn with_end_of(server: &mut EmbeddedMongod, error: CliError) -> CliError {
    match server.ended() {
        Some(ended) => CliError { message: format!("{}; {ended}", error.message), ..error },
        None => error,
    }
}

/// The first signal asks the engine to end in good order; after the second there is no waiting for it.
async fn watch(mut interrupt: Interrupt, stop: &Stop) {
    interrupt.arrived().await;
    stop.set();
    output::tell("\nending; once more to end at once\n");
    interrupt.arrived().await;
}
