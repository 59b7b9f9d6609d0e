//! `docshape run`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

use crate::engine::{Event, Experiment, Observer, Settings};
use crate::results::{self, RunRecord};
use crate::stats;

use super::argument::RunArguments;
use super::compare::{BaselineArguments, Beside};
use super::course::Course;
use super::exit::{CliError, Exit};
use super::latency_log::LogWriter;
use super::output;
use super::progress::Progress;
use super::record;
use super::resume::{self, Resumed};
use super::scenario::{Ready, prepare};
use super::server::ServerChoice;
use super::session::Session;
use super::threshold;
use super::verify::beforehand;

/// Measures the strategies of a scenario, writes a run folder, prints the verdict.
///
/// # Errors
/// When the scenario or server cannot be used, or the run fails.
pub fn run(arguments: RunArguments) -> Result<Exit, CliError> {
    let (id, now) = identity();
    threshold::check_file(arguments.junit.as_deref())?;
    if let Some(folder) = arguments.resume.clone() {
        let Some(resumed) = resume::open(&folder, &arguments)? else {
            return complete(&folder, &arguments);
        };
        let choice = resumed.server()?;
        check_keep(&resumed.arguments, &choice)?;
        let Resumed { arguments, ready, record } = resumed;
        let beside = Beside::of(&arguments, &ready.plan.name)?;
        return on_server(Measuring { arguments, ready, folder, id, now, begun: Some(record), beside }, choice);
    }
    let ready = prepare(arguments.scenario.as_deref().unwrap_or_default(), &arguments.choice())?;
    threshold::check(&arguments.threshold, &ready.plan)?;
    let beside = Beside::of(&arguments, &ready.plan.name)?;
    let arguments = beside.adopt(arguments);
    let choice = arguments.server.choice()?;
    check_keep(&arguments, &choice)?;
    let folder = folder(arguments.out.as_deref(), &ready, (&id, now));
    let is_new = results::create_folder(&folder).map_err(|error| CliError::usage(error.to_string()))?;
    let result =
        on_server(Measuring { arguments, ready, folder: folder.clone(), id, now, begun: None, beside }, choice);
    if is_new {
        // A run that came to nothing leaves no empty folder; one with results in it cannot be removed like this.
        let _ = std::fs::remove_dir(&folder);
    }
    result
}

/// What there is to say of a run that needs no resuming.
fn complete(folder: &Path, arguments: &RunArguments) -> Result<Exit, CliError> {
    let shown = folder.display();
    let BaselineArguments { baseline, save_baseline, .. } = &arguments.baseline;
    if baseline.is_some() || save_baseline.is_some() {
        return Err(CliError::usage(format!(
            "the run in {shown} is complete: there is nothing to resume; compare it, or keep it as a baseline, with \
             `docshape compare {shown}`"
        )));
    }
    output::tell(&format!("the run in {shown} is complete: there is nothing to resume\n"));
    let record = results::load(folder).map_err(|error| CliError::usage(error.to_string()))?;
    Ok(if stats::void(&record).is_empty() { Exit::Fine } else { Exit::Invalid })
}

fn on_server(measuring: Measuring, choice: ServerChoice) -> Result<Exit, CliError> {
    let at_once = measuring.at_once(&choice);
    Session::run(choice, at_once, async |session| measuring.run(session).await)
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

/// What tells this invocation from others, and when it began, since the Unix epoch.
pub fn identity() -> (String, Duration) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (format!("{:08x}", now.subsec_nanos() ^ std::process::id().rotate_left(16)), now)
}

/// The folder for results of a scenario, unless the user names one.
pub fn folder(out: Option<&Path>, ready: &Ready, (id, now): (&str, Duration)) -> PathBuf {
    let of_its_own = || {
        let stamp = results::stamp(i64::try_from(now.as_millis()).unwrap_or(0));
        Path::new("results").join(&ready.plan.name).join(format!("{stamp}-{id}"))
    };
    out.map_or_else(of_its_own, Path::to_owned)
}

/// One invocation of `docshape run`.
struct Measuring {
    arguments: RunArguments,
    ready: Ready,
    folder: PathBuf,
    id: String,
    now: Duration,
    /// What there is of a run that is resumed.
    begun: Option<RunRecord>,
    /// What it is compared with and kept as.
    beside: Beside,
}

impl Measuring {
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

    async fn run(self, session: Session) -> Result<Exit, CliError> {
        let Measuring { arguments, ready, folder, id, now, begun, beside } = self;
        let generators = session.generators(arguments.workers(), arguments.threads).await?;
        let Session { target, facts, embedded, stop, .. } = &session;
        let head = record::begin((&arguments, &ready), facts, *embedded, (&id, now));
        let is_resumed = begun.is_some();
        let mut record = begun.map_or_else(|| Ok(head.clone()), |begun| resume::go_on(begun, &head))?;
        beside.check(&mut record)?;
        let plan = Arc::new(ready.plan);
        let compared = plan.arms.iter().filter(|arm| !arm.is_control).count();
        if record.verification.is_none() && !arguments.no_verify && compared > 1 {
            record.verification = Some(beforehand(&session, (&plan, &record.id), &arguments).await?);
        }
        let load = record.settings.load;
        let log = match is_resumed {
            true => LogWriter::resume(&folder, (record::started(&record), now), load, record.rounds.len())?,
            false => LogWriter::create(&folder, now, load)?,
        };
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
        let exit = course.conclude(result, record)?;
        beside.conclude(&folder, exit)
    }
}
