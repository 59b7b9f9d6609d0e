//! `docshape run`.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

use crate::engine::{
    Event, Experiment, Fatal, Generators, Halt, LoadError, LoadThread, Observer, RunError, Settings, Stop, Window,
    share,
};
use crate::report::{Markdown, Renderer, Report};
use crate::results::{self, HLOG_FILE, IntervalLog, RunRecord, Status};
use crate::server::Target;
use crate::server::client::MongoTarget;
use crate::server::embedded::EmbeddedMongod;
use crate::server::facts::{self, ServerFacts};

use super::argument::RunArguments;
use super::exit::{CliError, Exit};
use super::interrupt::Interrupt;
use super::output;
use super::progress::Progress;
use super::record;
use super::report::terminal;
use super::scenario::{Ready, prepare};
use super::server::ServerChoice;

/// The name of the Markdown report in a run's folder.
const REPORT_FILE: &str = "report.md";

/// The longest pilot per strategy, in seconds.
const PILOT_SECONDS: f64 = 1.0;

/// Measures the strategies of a scenario, writes a run folder, prints the verdict.
///
/// # Errors
/// When the scenario or server cannot be used, or the run fails.
pub fn run(arguments: RunArguments) -> Result<Exit, CliError> {
    let ready = prepare(&arguments.scenario, &arguments.choice())?;
    let choice = arguments.server.choice()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let id = format!("{:08x}", now.subsec_nanos() ^ std::process::id().rotate_left(16));
    let folder = run_folder(&arguments, &ready, now, &id);
    results::create_folder(&folder).map_err(|error| CliError::usage(error.to_string()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CliError::server(format!("cannot start: {error}")))?;
    let session = Session { arguments, ready, folder: folder.clone(), id, now };
    // This is the main thread, as the embedded server's life requires.
    let result = runtime.block_on(session.run(choice));
    runtime.shutdown_background();
    // A run that came to nothing leaves no empty folder; one with results in it cannot be removed like this.
    let _ = std::fs::remove_dir(&folder);
    result
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
}

impl Session {
    async fn run(self, choice: ServerChoice) -> Result<Exit, CliError> {
        let stop = Stop::default();
        let interrupt = Interrupt::listen().map_err(|error| CliError::server(error.to_string()))?;
        let watcher = tokio::spawn(watch(interrupt, stop.clone()));
        let result = self.with_server(choice, &stop).await;
        watcher.abort();
        result
    }

    /// Starts or finds the server, and ends the embedded one whatever happens.
    async fn with_server(self, choice: ServerChoice, stop: &Stop) -> Result<Exit, CliError> {
        match choice {
            ServerChoice::Uri(uri) => self.connected(uri.reveal(), (false, stop)).await,
            ServerChoice::Embedded(options) => {
                let server = EmbeddedMongod::start(&options).await;
                let server = server.map_err(|error| CliError::server(error.to_string()))?;
                let result = self.connected(&server.uri(), (true, stop)).await;
                let stopped = server.stop().map_err(|error| CliError::server(error.to_string()));
                result.and_then(|exit| stopped.map(|()| exit))
            }
        }
    }

    async fn connected(self, uri: &str, (embedded, stop): (bool, &Stop)) -> Result<Exit, CliError> {
        check_stop(stop)?;
        let server = |error: &dyn std::error::Error| CliError::server(error.to_string());
        let target = MongoTarget::connect(uri, 1).await.map_err(|error| server(&error))?;
        let facts = facts::gather(&target).await.map_err(|error| server(&error))?;
        let mut threads = Vec::new();
        for workers in share(self.arguments.workers as usize, self.arguments.threads as usize) {
            check_stop(stop)?;
            let thread = LoadThread::start(uri.to_owned(), workers as u32).await;
            threads.push(thread.map_err(|error| server(&error))?);
        }
        self.measure((&target, &facts), Generators::<MongoTarget>::Threads(threads), embedded, stop).await
    }

    async fn measure(
        self,
        (target, facts): (&MongoTarget, &ServerFacts),
        generators: Generators<MongoTarget>,
        embedded: bool,
        stop: &Stop,
    ) -> Result<Exit, CliError> {
        let Session { arguments, ready, folder, id, now } = self;
        let mut record = record::begin((&arguments, &ready), facts, embedded, now);
        let log = LogWriter::create(&folder, now)?;
        let plan = Arc::new(ready.plan);
        let observer = (Progress::new(), log);
        let arms: Vec<String> = plan.arms.iter().map(|arm| arm.name.clone()).collect();
        observer.event(&Event::Started { rounds: record.settings.rounds, arms: &arms });
        let experiment = Experiment {
            plan,
            settings: Settings {
                id,
                workers: record.settings.workers,
                slices: record.settings.slices,
                timeout: arguments.timeout,
                keep: arguments.keep,
            },
            target,
            generators: &generators,
            observer: &observer,
            stop: stop.clone(),
            started: Instant::now(),
        };
        let course = Course { arguments: &arguments, folder: &folder };
        let result = course.rounds(&experiment, &observer.1, &mut record).await;
        drop(experiment);
        drop(generators);
        drop(observer);
        course.conclude(result, record)
    }
}

/// The rounds of a run, and what is written of them.
struct Course<'c> {
    arguments: &'c RunArguments,
    folder: &'c Path,
}

/// Why the rounds ended early.
enum Ended {
    Run(RunError),
    Write(CliError),
}

impl Course<'_> {
    async fn rounds<T: Target, G: Target>(
        &self,
        experiment: &Experiment<'_, T, G>,
        log: &LogWriter,
        record: &mut RunRecord,
    ) -> Result<(), Ended> {
        self.save(record)?;
        let window = self.window(experiment, record).await.map_err(Ended::Run)?;
        for round in 0..record.settings.rounds {
            let (finished, warnings) = experiment.round(round, window).await.map_err(Ended::Run)?;
            record.rounds.push(finished);
            record.warnings.extend(warnings);
            self.save(record)?;
            log.check().map_err(Ended::Write)?;
        }
        Ok(())
    }

    /// How much every window measures: as the user said, or by a pilot.
    async fn window<T: Target, G: Target>(
        &self,
        experiment: &Experiment<'_, T, G>,
        record: &mut RunRecord,
    ) -> Result<Window, RunError> {
        let preset = self.arguments.preset;
        if let Some(duration) = self.arguments.duration {
            return Ok(Window::Timed { seconds: duration.as_secs_f64(), warmup: preset.warmup_seconds });
        }
        let (calls, seconds) = match self.arguments.calls {
            Some(calls) => (calls, None),
            None => {
                let rate = experiment.pilot(preset.seconds.min(PILOT_SECONDS)).await?;
                ((rate * preset.seconds).ceil() as u64, Some(preset.seconds))
            }
        };
        let warmup = (calls as f64 * preset.warmup_seconds / preset.seconds).ceil() as u64;
        record.settings.calls = Some(calls);
        record.settings.warmup_calls = Some(warmup);
        experiment.observer.event(&Event::Planned { calls, warmup });
        Ok(Window::Calls { calls, warmup, seconds })
    }

    fn save(&self, record: &RunRecord) -> Result<(), Ended> {
        results::save(record, self.folder).map_err(|error| Ended::Write(CliError::usage(error.to_string())))
    }

    /// Writes how it ended, and the reports; an early end is the command's error.
    fn conclude(&self, result: Result<(), Ended>, mut record: RunRecord) -> Result<Exit, CliError> {
        let (status, error) = match result {
            Ok(()) => (Status::Complete, None),
            Err(Ended::Run(RunError::Interrupted)) => (Status::Interrupted, Some(interrupted())),
            Err(Ended::Run(error)) => (Status::Failed(error.to_string()), Some(failed(&error))),
            // The disk refuses: what is on it is all that there will be.
            Err(Ended::Write(error)) => return Err(self.with_rounds(error, &record)),
        };
        record.status = status;
        if let Err(Ended::Write(write)) = self.save(&record) {
            return Err(self.with_rounds(error.unwrap_or(write), &record));
        }
        let report = Report::new(&record).in_folder(&self.folder.display().to_string());
        let mut markdown = String::new();
        let _ = Markdown.render(&report, &mut markdown);
        write_file(&self.folder.join(REPORT_FILE), &markdown)?;
        match error {
            Some(error) => Err(self.with_rounds(error, &record)),
            None => output::print(&terminal(&report)).map(|()| Exit::Fine),
        }
    }

    /// An error's words, and what is left of the run.
    fn with_rounds(&self, error: CliError, record: &RunRecord) -> CliError {
        let left = match record.rounds.len() {
            0 => "no round was finished".to_owned(),
            1 => format!("1 finished round is in {}", self.folder.display()),
            rounds => format!("{rounds} finished rounds are in {}", self.folder.display()),
        };
        CliError { exit: error.exit, message: format!("{}; {left}", error.message) }
    }
}

fn check_stop(stop: &Stop) -> Result<(), CliError> {
    if stop.is_set() { Err(interrupted()) } else { Ok(()) }
}

fn interrupted() -> CliError {
    CliError { exit: Exit::Interrupted, message: "interrupted".into() }
}

/// Mistakes of the scenario are the user's to mend, the rest is the server's.
fn failed(error: &RunError) -> CliError {
    match error {
        RunError::Fatal(Fatal::Scenario { .. })
        | RunError::Load(LoadError::Document { .. } | LoadError::Step { halt: Halt::Scenario { .. }, .. })
        | RunError::NoCalls { .. } => CliError::usage(error.to_string()),
        _ => CliError::server(error.to_string()),
    }
}

fn write_file(path: &Path, text: &str) -> Result<(), CliError> {
    std::fs::write(path, text).map_err(|error| CliError::usage(format!("cannot write {}: {error}", path.display())))
}

/// The first signal asks the engine to end in good order, the second ends the process.
async fn watch(mut interrupt: Interrupt, stop: Stop) {
    interrupt.arrived().await;
    stop.set();
    output::tell("\nending; once more to end at once\n");
    interrupt.arrived().await;
    std::process::exit(i32::from(Exit::Interrupted.code()));
}

/// Writes the interval log as the engine tells of intervals; a refusal of the disk is kept until asked for.
struct LogWriter {
    path: PathBuf,
    log: RefCell<IntervalLog>,
    refused: RefCell<Option<io::Error>>,
}

impl LogWriter {
    fn create(folder: &Path, started: Duration) -> Result<LogWriter, CliError> {
        let path = folder.join(HLOG_FILE);
        let log = IntervalLog::create(&path, started.as_secs_f64());
        let log = log.map_err(|error| CliError::usage(format!("cannot write {}: {error}", path.display())))?;
        Ok(LogWriter { path, log: RefCell::new(log), refused: RefCell::new(None) })
    }

    fn keep(&self, result: io::Result<()>) {
        if let Err(error) = result {
            self.refused.borrow_mut().get_or_insert(error);
        }
    }

    fn check(&self) -> Result<(), CliError> {
        match self.refused.borrow_mut().take() {
            None => Ok(()),
            Some(error) => Err(CliError::usage(format!("cannot write {}: {error}", self.path.display()))),
        }
    }
}

impl Observer for LogWriter {
    fn event(&self, event: &Event<'_>) {
        if let Event::Interval(interval) = event {
            let tag = format!("{}/{}/{}", interval.arm, interval.operation, interval.round + 1);
            let mut log = self.log.borrow_mut();
            self.keep(log.append(&tag, interval.start, interval.length, &interval.histogram));
        }
    }
}
