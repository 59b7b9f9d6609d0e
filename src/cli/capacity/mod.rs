//! `docshape capacity`.

mod argument;
pub mod search;

use std::path::{Path, PathBuf};

use tokio::time::Instant;

use crate::compile::Choice;
use crate::engine::{Experiment, Servers};
use crate::plan::Plan;
use crate::report::{Markdown, Report};
use crate::results::{self, CAPACITY_FORMAT, CapacityRecord, RunSettings, SearchRecord, Status, TrialRecord};
use crate::server::Target;
use crate::server::namespace::Namespace;
use crate::studies::capacity::estimate::{Capacities, SearchEnd, search_end};
use crate::studies::capacity::objective::Objective;
use crate::studies::capacity::search::Search;

use super::exit::{CliError, Exit, write_error};
use super::output;
use super::report::{terminal, written};
use super::reservation::databases;
use super::run::rounds::{EarlyEnd, status_after};
use super::run::{Invocation, check_threads, record};
use super::scenario::{Ready, prepare};
use super::session::Session;
pub use argument::CapacityArguments;
use search::{CapacityGoal, Subject, Trials};

/// The name of the Markdown report in the folder of a search.
const REPORT_FILE: &str = "capacity.md";

/// Seconds of the pilot per strategy, which finds where the searches start.
const PILOT_SECONDS: f64 = 1.0;

/// Finds the rate up to which each strategy meets an objective.
///
/// # Errors
/// When the scenario or server cannot be used, the objective cannot be judged, or a trial fails.
pub fn capacity(arguments: &CapacityArguments) -> Result<Exit, CliError> {
    let settings = arguments.settings();
    check_threads(&settings)?;
    let chosen = arguments.subject.choice(arguments.seed, false);
    let ready = prepare(&arguments.scenario, &chosen)?;
    let goal = goal(arguments, &ready.plan)?;
    let choice = arguments.server.choice()?;
    let invocation = Invocation::now();
    let folder = invocation.folder(arguments.out.as_deref(), &ready.plan.name);
    let _locked = results::create_folder(&folder)?;
    let quit = choice.quit_error(&format!("complete searches are in {}", folder.display()));
    let confirm = arguments.confirm.as_secs_f64();
    let namespace = arguments.server.databases.namespace(&ready.plan.name, &invocation.id);
    let names = databases(&namespace, &ready.plan);
    let searching = Searches { settings, ready, chosen, goal, confirm, folder, invocation };
    Session::run(choice, quit, async |session| {
        let search = async || searching.run(&session, namespace.clone()).await;
        session.with_databases(&namespace, &names, search).await
    })
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
    chosen: Choice,
    goal: CapacityGoal,
    /// Seconds of a confirmation; 0 for none.
    confirm: f64,
    folder: PathBuf,
    invocation: Invocation,
}

impl Searches {
    async fn run(self, session: &Session, namespace: Namespace) -> Result<Exit, CliError> {
        let Searches { settings, mut ready, chosen, goal, confirm, folder, invocation } = self;
        ready.skip_unsupported(session, chosen, &namespace).await?;
        let load_threads = session.load_threads(settings.clients as u64, settings.threads as u64).await?;
        let mut head = record::begin(settings, &ready, session.record(), &invocation);
        head.environment.connections = Some(head.settings.clients as u64);
        head.warnings.extend(session.missing_rights());
        let mut record = CapacityRecord {
            format: CAPACITY_FORMAT,
            objective: goal.objective.to_string(),
            run: head,
            searches: Vec::new(),
            confirmations: Vec::new(),
        };
        let mut experiment = Experiment {
            plan: ready.plan,
            settings: record.run.settings.clone(),
            namespace,
            keep: false,
            servers: Servers::Shared { target: &session.target, load_threads: &load_threads },
            observer: &(),
            stop: session.stop.clone(),
            started: Instant::now(),
        };
        save(&record, &folder)?;
        let trials = Trials { experiment: &mut experiment, goal: &goal, number: 0 };
        let result = measure(trials, confirm, &mut record, &folder).await;
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

/// Does all searches, round by round, and the confirmations.
async fn measure<T: Target, G: Target + 'static>(
    mut trials: Trials<'_, '_, T, G>,
    confirm: f64,
    record: &mut CapacityRecord,
    folder: &Path,
) -> Result<(), EarlyEnd> {
    let pilot = trials.experiment.pilot(PILOT_SECONDS).await.map_err(EarlyEnd::Engine)?;
    let rounds = record.run.settings.rounds;
    for round in 0..rounds {
        let mark = format!("round {} of {rounds}", round + 1);
        for subject in order(trials.experiment.plan.arms.len(), round) {
            let name = trials.experiment.plan.arms[subject.arm].name.clone();
            let search = match Capacities::of(&record.searches).rate(subject.arm) {
                None => Search::first(pilot.slowest() / 2.0, trials.goal.bounds()),
                Some(found) => {
                    let offset = Search::offset(trials.experiment.plan.round_seed(round), subject.arm);
                    Search::near(found.mean, offset, trials.goal.bounds())
                }
            };
            let report = |trial: &TrialRecord| print_line(&format!("{mark}: {name} {}", describe_trial(trial)));
            let found = trials.search(subject, search, &report).await.map_err(EarlyEnd::Engine)?;
            print_line(&format!("{mark}: {name} {}", describe_search(&found)));
            record.searches.push(found);
            save(record, folder).map_err(EarlyEnd::Write)?;
        }
    }
    if confirm > 0.0 { confirm_all(trials, confirm, record, folder).await } else { Ok(()) }
}

/// The strategies of a round. Every round starts with another one.
fn order(arms: usize, round: u64) -> impl Iterator<Item = Subject> {
    (0..arms).map(move |turn| Subject { arm: (turn + round as usize) % arms, round })
}

/// Tries the rate that each strategy is said to carry for a long time, with data and calls of another round.
async fn confirm_all<T: Target, G: Target + 'static>(
    mut trials: Trials<'_, '_, T, G>,
    seconds: f64,
    record: &mut CapacityRecord,
    folder: &Path,
) -> Result<(), EarlyEnd> {
    let capacities = Capacities::of(&record.searches);
    for subject in order(trials.experiment.plan.arms.len(), record.run.settings.rounds) {
        let Some(rate) = capacities.claimed(&record.searches, subject.arm) else { continue };
        let confirmed = trials.confirm(subject, rate, seconds).await.map_err(EarlyEnd::Engine)?;
        if let Some(confirmation) = confirmed {
            let name = &trials.experiment.plan.arms[subject.arm].name;
            print_line(&format!("confirmation over {seconds} s: {name} {}", describe_trial(&confirmation.trial)));
            record.confirmations.push(confirmation);
        }
        save(record, folder).map_err(EarlyEnd::Write)?;
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
    match search_end(&search.trials) {
        SearchEnd::Enclosed => Capacities::of(std::slice::from_ref(search)).rate(search.strategy).map_or_else(
            || "has no capacity".to_owned(),
            |found| format!("meets the objective up to about {:.0} calls/s", found.mean),
        ),
        SearchEnd::NoneDownTo(rate) => {
            format!("does not meet the objective at {rate:.0} calls/s, the lowest rate tried")
        }
        SearchEnd::AllUpTo(rate) => format!("meets the objective up to {rate:.0} calls/s, the highest rate tried"),
    }
}

fn save(record: &CapacityRecord, folder: &Path) -> Result<(), CliError> {
    Ok(results::save_document(record, folder)?)
}

/// Writes and prints the report.
fn conclude(record: &CapacityRecord, folder: &Path) -> Result<(), CliError> {
    save(record, folder)?;
    let report = Report::of_capacity(record).in_folder(&folder.display().to_string());
    let path = folder.join(REPORT_FILE);
    results::write_whole(&path, &written(&Markdown, &report)).map_err(|error| write_error(&path, &error))?;
    output::print(&terminal(&report))
}
