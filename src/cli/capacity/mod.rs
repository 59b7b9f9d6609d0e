//! `docshape capacity`.

mod argument;
pub mod search;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::engine::{Experiment, RunError, Settings};
use crate::plan::Plan;
use crate::report::CapacityReport;
use crate::results::{self, Answer, CapacityRecord, LoadModel, SearchRecord, Status, TrialRecord};
use crate::server::Target;
use crate::stats::Objective;

use super::course::{failed, unwritten};
use super::exit::{CliError, Exit};
use super::output;
use super::record;
use super::run::{folder, identity};
use super::scenario::{Ready, prepare};
use super::server::ServerChoice;
use super::session::Session;
pub use argument::CapacityArguments;
use search::{Place, Quest, search};

/// The name of the Markdown report in the folder of a search.
const REPORT_FILE: &str = "capacity.md";

/// Seconds of the pilot per strategy, which tells where the searches begin.
const PILOT_SECONDS: f64 = 1.0;

/// Searches the highest rate at which each strategy keeps an objective.
///
/// # Errors
/// When the scenario or server cannot be used, the objective cannot be judged, or a trial fails.
pub fn capacity(arguments: CapacityArguments) -> Result<Exit, CliError> {
    let (id, now) = identity();
    let ready = prepare(&arguments.scenario, &arguments.subject.choice(arguments.seed, false))?;
    let quest = quest(&arguments, &ready.plan)?;
    let choice = arguments.server.choice()?;
    let folder = folder(arguments.out.as_deref(), &ready, (&id, now));
    let is_new = results::create_folder(&folder).map_err(|error| CliError::usage(error.to_string()))?;
    let at_once = at_once(&folder, &choice, &id);
    let searching = Searching { arguments, ready, quest, folder: folder.clone(), id, now };
    let result = Session::run(choice, at_once, async |session| searching.run(session).await);
    if is_new {
        // Nothing found leaves no empty folder; one with results in it cannot be removed like this.
        let _ = std::fs::remove_dir(&folder);
    }
    result
}

/// What is searched for, when it can be.
fn quest(arguments: &CapacityArguments, plan: &Plan) -> Result<Quest, CliError> {
    let objective = arguments.objective.clone();
    let total: f64 = plan.mix.weights.iter().sum();
    let (operation, share) = match &objective.operation {
        None => (None, 1.0),
        Some(name) => {
            let called: Vec<&str> = plan.operations.iter().map(|operation| &*operation.name).collect();
            let Some(place) = called.iter().position(|other| other == name) else {
                let known = called.join(", ");
                return Err(CliError::usage(format!(
                    "--objective '{objective}': there is no operation {name}; there are {known}"
                )));
            };
            (Some(place), plan.mix.weights[place] / total)
        }
    };
    if share <= 0.0 {
        let name = objective.operation.as_deref().unwrap_or_default();
        return Err(CliError::usage(format!(
            "--objective '{objective}': mix {} never calls {name}; choose another operation, or another --mix",
            plan.mix.name
        )));
    }
    let quest = Quest { objective, operation, share, arrivals: arguments.arrivals.unwrap_or_default().law() };
    match quest.is_possible() {
        true => Ok(quest),
        false => Err(CliError::usage(format!(
            "--objective '{}' needs {} calls per trial, more than can be made; the nearest that can be judged is {}",
            quest.objective,
            quest.calls_needed(),
            Objective { measure: quest.nearest(), ..quest.objective.clone() }
        ))),
    }
}

/// The words for an end without good order.
fn at_once(folder: &Path, choice: &ServerChoice, id: &str) -> CliError {
    let left = match choice {
        ServerChoice::Embedded(_) => String::new(),
        ServerChoice::Uri(_) => {
            format!("; databases named docshape_..._{id}... may be left on the server, drop them")
        }
    };
    let message = format!("interrupted at once; searches finished before are in {}{left}", folder.display());
    CliError { exit: Exit::Interrupted, message }
}

/// One invocation of `docshape capacity`.
struct Searching {
    arguments: CapacityArguments,
    ready: Ready,
    quest: Quest,
    folder: PathBuf,
    id: String,
    now: Duration,
}

impl Searching {
    async fn run(self, session: Session) -> Result<Exit, CliError> {
        let Searching { arguments, ready, quest, folder, id, now } = self;
        let as_run = arguments.as_run();
        let generators = session.generators(as_run.workers(), as_run.threads).await?;
        let head = record::begin((&as_run, &ready), &session.facts, session.embedded, (&id, now));
        let settings = Settings {
            id,
            load: LoadModel::Closed,
            workers: head.settings.workers,
            slices: 1,
            isolated: true,
            timeout: as_run.timeout,
            keep: false,
        };
        let mut record = CapacityRecord { objective: quest.objective.to_string(), run: head, searches: Vec::new() };
        let mut experiment = Experiment {
            plan: Arc::new(ready.plan),
            settings,
            target: &session.target,
            generators: &generators,
            observer: &(),
            stop: session.stop.clone(),
            started: Instant::now(),
        };
        save(&record, &folder)?;
        let result = searches(&mut experiment, &quest, &mut record, &folder).await;
        record.run.status = match &result {
            Ok(()) => Status::Complete,
            Err(Ended::Run(RunError::Interrupted)) => Status::Interrupted,
            Err(Ended::Run(error)) => Status::Failed(error.to_string()),
            Err(Ended::Write(error)) => return Err(error.clone()),
        };
        conclude(&record, &folder)?;
        match result {
            Ok(()) | Err(Ended::Write(_)) => Ok(Exit::Fine),
            Err(Ended::Run(error)) => Err(CliError {
                message: format!("{error}; {} finished searches are in {}", record.searches.len(), folder.display()),
                ..failed(&error)
            }),
        }
    }
}

/// Why the searches ended early.
enum Ended {
    Run(RunError),
    Write(CliError),
}

/// All searches: a round after the other, in each every strategy, beginning with another one.
async fn searches<T: Target, G: Target + 'static>(
    experiment: &mut Experiment<'_, T, G>,
    quest: &Quest,
    record: &mut CapacityRecord,
    folder: &Path,
) -> Result<(), Ended> {
    let pilot = experiment.pilot(PILOT_SECONDS).await.map_err(Ended::Run)?;
    let (arms, rounds) = (experiment.plan.arms.len(), record.run.settings.rounds);
    let mut number = 0;
    for round in 0..rounds {
        for turn in 0..arms {
            let arm = (turn + round as usize) % arms;
            let name = experiment.plan.arms[arm].name.clone();
            let told = |trial: &TrialRecord| tell(&format!("round {} of {rounds}: {name} {}", round + 1, tried(trial)));
            let place = Place { arm, round, start: pilot.rate / 2.0 };
            let found = search(experiment, quest, place, &mut number, &told).await.map_err(Ended::Run)?;
            tell(&format!("round {} of {rounds}: {name} {}", round + 1, answered(&found)));
            record.searches.push(found);
            save(record, folder).map_err(Ended::Write)?;
        }
    }
    Ok(())
}

fn tell(line: &str) {
    output::tell(&format!("{line}\n"));
}

fn tried(trial: &TrialRecord) -> String {
    let how = match (trial.overloaded, trial.passed) {
        (true, _) => "overloaded",
        (false, true) => "kept",
        (false, false) => "not kept",
    };
    let measured = trial.measured.map_or(String::new(), |time| format!(", {:.3} ms", time / 1e6));
    format!("at {:.0} calls/s: {how}{measured}", trial.rate)
}

fn answered(search: &SearchRecord) -> String {
    match search.answer {
        Answer::Found(rate) => format!("keeps the objective up to {rate:.0} calls/s"),
        Answer::NoneDownTo(rate) => format!("keeps the objective at no rate down to {rate:.0} calls/s"),
        Answer::AllUpTo(rate) => format!("keeps the objective up to {rate:.0} calls/s, the highest rate that is tried"),
    }
}

fn save(record: &CapacityRecord, folder: &Path) -> Result<(), CliError> {
    results::save_capacity(record, folder).map_err(|error| CliError::usage(error.to_string()))
}

/// Writes and prints the report.
fn conclude(record: &CapacityRecord, folder: &Path) -> Result<(), CliError> {
    save(record, folder)?;
    let report = CapacityReport::new(record);
    let (mut markdown, mut terminal) = (String::new(), String::new());
    let _ = report.markdown(&mut markdown);
    let path = folder.join(REPORT_FILE);
    std::fs::write(&path, markdown).map_err(|error| unwritten(&path, &error))?;
    let _ = report.terminal(output::width(), true, &mut terminal);
    output::print(&format!("{terminal}\nAll results: {}\n", folder.display()))
}
