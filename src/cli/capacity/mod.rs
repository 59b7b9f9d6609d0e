//! `docshape capacity`.

mod argument;
pub mod search;

use std::path::{Path, PathBuf};

use tokio::time::Instant;

use crate::engine::{Experiment, Servers};
use crate::plan::Plan;
use crate::report::{Markdown, Report};
use crate::results::{
    self, CAPACITY_FILE, CapacityRecord, RunSettings, SearchOutcome, SearchRecord, Status, TrialRecord,
};
use crate::server::Target;
use crate::stats::Objective;

use super::exit::{CliError, Exit, write_error};
use super::output;
use super::report::{terminal, written};
use super::run::rounds::{EarlyEnd, status_after};
use super::run::{Invocation, check_threads, record};
use super::scenario::{Ready, prepare};
use super::session::Session;
pub use argument::CapacityArguments;
use search::{CapacityGoal, SearchStart, search};

/// The name of the Markdown report in the folder of a search.
const REPORT_FILE: &str = "capacity.md";

/// Seconds of the pilot per strategy, which finds where the searches start.
const PILOT_SECONDS: f64 = 1.0;

/// Searches the highest rate at which each strategy meets an objective.
///
/// # Errors
/// When the scenario or server cannot be used, the objective cannot be judged, or a trial fails.
pub fn capacity(arguments: &CapacityArguments) -> Result<Exit, CliError> {
    let settings = arguments.settings();
    check_threads(&settings)?;
    let ready = prepare(&arguments.scenario, &arguments.subject.choice(arguments.seed, false))?;
    let goal = goal(arguments, &ready.plan)?;
    let choice = arguments.server.choice()?;
    let invocation = Invocation::now();
    let folder = invocation.folder(arguments.out.as_deref(), &ready.plan.name);
    let is_new = results::create_folder(&folder)?;
    let quit = choice.quit_error(&invocation.id, &format!("complete searches are in {}", folder.display()));
    let searching = Searches { settings, ready, goal, folder: folder.clone(), invocation };
    let result = Session::run(choice, quit, async |session| searching.run(session).await);
    if is_new {
        // Without results the folder is removed; one with results in it cannot be removed like this.
        let _ = std::fs::remove_dir(&folder);
    }
    result
}

/// Returns the goal of the searches.
fn goal(arguments: &CapacityArguments, plan: &Plan) -> Result<CapacityGoal, CliError> {
    let objective = arguments.objective.clone();
    let total: f64 = plan.mix.weights.iter().sum();
    let (operation, share) = match &objective.operation {
        None => (None, 1.0),
        Some(name) => {
            let called: Vec<&str> = plan.operations.iter().map(|operation| &*operation.name).collect();
            let Some(place) = called.iter().position(|other| other == name) else {
                let known = called.join(", ");
                return Err(CliError::usage(format!(
                    "--objective '{objective}': unknown operation {name}; expected one of {known}"
                )));
            };
            (Some(place), plan.mix.weights[place] / total)
        }
    };
    if share <= 0.0 {
        let name = objective.operation.as_deref().unwrap_or_default();
        return Err(CliError::usage(format!(
            "--objective '{objective}': mix {} never calls {name}; try another operation or another --mix",
            plan.mix.name
        )));
    }
    let goal = CapacityGoal { objective, operation, share, arrivals: arguments.arrivals.unwrap_or_default() };
    if goal.is_possible() {
        Ok(goal)
    } else {
        Err(CliError::usage(format!(
            "--objective '{}' needs {} calls per trial, which is too many; try {}",
            goal.objective,
            goal.calls_needed(),
            Objective { metric: goal.nearest(), ..goal.objective.clone() }
        )))
    }
}

/// One invocation of `docshape capacity`.
struct Searches {
    settings: RunSettings,
    ready: Ready,
    goal: CapacityGoal,
    folder: PathBuf,
    invocation: Invocation,
}

impl Searches {
    async fn run(self, session: Session) -> Result<Exit, CliError> {
        let Searches { settings, ready, goal, folder, invocation } = self;
        let load_threads = session.load_threads(settings.clients as u64, settings.threads as u64).await?;
        let head = record::begin(settings, &ready, session.record(), &invocation);
        let mut record = CapacityRecord { objective: goal.objective.to_string(), run: head, searches: Vec::new() };
        let mut experiment = Experiment {
            plan: ready.plan,
            settings: record.run.settings.clone(),
            id: invocation.id.clone(),
            keep: false,
            servers: Servers::Shared { target: &session.target, load_threads: &load_threads },
            observer: &(),
            stop: session.stop.clone(),
            started: Instant::now(),
        };
        save(&record, &folder)?;
        let result = searches(&mut experiment, &goal, &mut record, &folder).await;
        record.run.status = match &result {
            Ok(()) => Status::Complete,
            Err(EarlyEnd::Engine(error)) => status_after(error),
            Err(EarlyEnd::Write(_)) => Status::Unfinished,
        };
        if !matches!(result, Err(EarlyEnd::Write(_))) {
            conclude(&record, &folder)?;
        }
        match result {
            Ok(()) => Ok(Exit::Success),
            Err(EarlyEnd::Write(error)) => Err(error),
            Err(EarlyEnd::Engine(error)) => {
                let searches = record.searches.len();
                Err(CliError::from(error).with(&format!("{searches} complete searches are in {}", folder.display())))
            }
        }
    }
}

/// Runs all searches, round by round. Every round starts with another strategy.
async fn searches<T: Target, G: Target + 'static>(
    experiment: &mut Experiment<'_, T, G>,
    goal: &CapacityGoal,
    record: &mut CapacityRecord,
    folder: &Path,
) -> Result<(), EarlyEnd> {
    let pilot = experiment.pilot(PILOT_SECONDS).await.map_err(EarlyEnd::Engine)?;
    let (arms, rounds) = (experiment.plan.arms.len(), record.run.settings.rounds);
    let mut number = 0;
    for round in 0..rounds {
        for turn in 0..arms {
            let arm = (turn + round as usize) % arms;
            let name = experiment.plan.arms[arm].name.clone();
            let report = |trial: &TrialRecord| {
                print_line(&format!("round {} of {rounds}: {name} {}", round + 1, describe_trial(trial)));
            };
            let start = SearchStart { arm, round, rate: pilot.rate / 2.0 };
            let found = search(experiment, goal, start, &mut number, &report).await.map_err(EarlyEnd::Engine)?;
            print_line(&format!("round {} of {rounds}: {name} {}", round + 1, describe_search(&found)));
            record.searches.push(found);
            save(record, folder).map_err(EarlyEnd::Write)?;
        }
    }
    Ok(())
}

fn print_line(line: &str) {
    output::message(&format!("{line}\n"));
}

fn describe_trial(trial: &TrialRecord) -> String {
    let measured = trial.measured.map_or(String::new(), |time| format!(", {:.3} ms", time / 1e6));
    format!("at {:.0} calls/s: {}{measured}", trial.rate, trial.result())
}

fn describe_search(search: &SearchRecord) -> String {
    match search.outcome {
        SearchOutcome::Found(rate) => format!("meets the objective up to {rate:.0} calls/s"),
        SearchOutcome::NoneDownTo(rate) => {
            format!("does not meet the objective at {rate:.0} calls/s, the lowest rate tried")
        }
        SearchOutcome::AllUpTo(rate) => format!("meets the objective up to {rate:.0} calls/s, the highest rate tried"),
    }
}

fn save(record: &CapacityRecord, folder: &Path) -> Result<(), CliError> {
    Ok(results::save_as(record, folder, CAPACITY_FILE)?)
}

/// Writes and prints the report.
fn conclude(record: &CapacityRecord, folder: &Path) -> Result<(), CliError> {
    save(record, folder)?;
    let report = Report::of_capacity(record).in_folder(&folder.display().to_string());
    let path = folder.join(REPORT_FILE);
    std::fs::write(&path, written(&Markdown, &report)).map_err(|error| write_error(&path, &error))?;
    output::print(&terminal(&report))
}
