//! `docshape capacity`.

pub mod argument;
pub mod search;
mod searching;

use std::path::Path;

use crate::campaign::carry_out;
use crate::cli::exit::{CliError, Exit, write_error};
use crate::cli::output;
use crate::cli::report::{terminal, written};
use crate::cli::run::job::{JobServers, PointSetup, ServerJob};
use crate::cli::run::resume::{self, end};
use crate::cli::run::{Invocation, check_threads};
use crate::cli::scenario::prepare;
use crate::cli::server::ServerChoice;
use crate::plan::Plan;
use crate::report::{Markdown, Report};
use crate::results::{self, Arrivals, LoadModel, Status, StudyKind};
use crate::server::embedded::Checkpoints;

use super::objective::Objective;
use super::record::{CAPACITY_FORMAT, CapacityRecord};
pub use argument::CapacityArguments;
use search::{CapacityGoal, Trials};
use searching::Searching;

/// The name of the Markdown report in the folder of a search.
const REPORT_FILE: &str = "capacity.md";

/// The report of the search in a folder.
///
/// # Errors
/// When it cannot be read.
pub fn report(folder: &Path) -> Result<Report, CliError> {
    Ok(Report::of_capacity(&results::load_as::<CapacityRecord>(folder)?))
}

/// Finds the rate up to which each strategy meets an objective.
///
/// # Errors
/// When the scenario or server cannot be used, the objective cannot be judged, or a trial fails.
pub fn capacity(arguments: &CapacityArguments) -> Result<Exit, CliError> {
    if let Some(folder) = &arguments.resume {
        return resume(arguments, folder);
    }
    let settings = arguments.settings();
    check_threads(&settings)?;
    let chosen = arguments.subject.choice(arguments.seed, false);
    let ready = prepare(arguments.scenario.as_deref().unwrap_or_default(), &chosen)?;
    let Some(objective) = arguments.objective.clone() else { return Err(CliError::usage("--objective is missing")) };
    let goal = goal(objective, arguments.arrivals.unwrap_or_default(), &ready.plan)?;
    let choice = arguments.server.choice()?;
    let invocation = Invocation::now();
    let folder = invocation.folder(arguments.out.as_deref(), &ready.plan.name);
    let _locked = results::create_folder(&folder)?;
    let point = PointSetup::new(ready, chosen, settings, folder);
    Searches { arguments, goal, before: None, invocation }.on_servers(point, choice)
}

/// Continues the searches in a folder, or prints their report when they are complete.
fn resume(arguments: &CapacityArguments, folder: &Path) -> Result<Exit, CliError> {
    let (kind, _lock) = resume::open(folder, "capacity")?;
    let before = results::load_as::<CapacityRecord>(folder)?;
    if before.run.status == Status::Complete {
        resume::complete(kind, folder);
        conclude(&before, folder)?;
        return Ok(Exit::Success);
    }
    let choice = resume::server(&arguments.server, &before.run)?;
    let point = PointSetup::resumed(before.run.clone(), folder.to_owned())?;
    let arrivals = match before.run.settings.load {
        LoadModel::Open { arrivals, .. } => arrivals,
        LoadModel::Closed => Arrivals::default(),
    };
    let goal = goal(
        before.objective.parse().map_err(|error| CliError::usage(format!("{error}")))?,
        arrivals,
        &point.ready.plan,
    )?;
    Searches { arguments, goal, before: Some(before), invocation: Invocation::now() }.on_servers(point, choice)
}

/// Returns the goal of the searches.
fn goal(objective: Objective, arrivals: Arrivals, plan: &Plan) -> Result<CapacityGoal, CliError> {
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
    let goal = CapacityGoal { objective, operation, share, arrivals };
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

/// Searches that are ready to be made.
struct Searches<'c> {
    arguments: &'c CapacityArguments,
    goal: CapacityGoal,
    /// What an earlier process has finished.
    before: Option<CapacityRecord>,
    invocation: Invocation,
}

impl Searches<'_> {
    fn on_servers(self, point: PointSetup, choice: ServerChoice) -> Result<Exit, CliError> {
        let CapacityArguments { server, no_verify, .. } = self.arguments;
        let folder = point.folder.clone();
        let job = ServerJob::new(vec![point], &self.invocation, &server.databases, !no_verify);
        // The server of an application writes checkpoints, too.
        let job = ServerJob { checkpoints: Checkpoints::EveryMinute, ..job };
        let measure = async |points: Vec<PointSetup>, servers: JobServers<'_>| self.measure(points, &servers).await;
        job.run(choice, ("trials", &folder), measure)
    }

    async fn measure(self, points: Vec<PointSetup>, servers: &JobServers<'_>) -> Result<Exit, CliError> {
        let Searches { arguments, goal, before, invocation } = self;
        let Some(point) = points.into_iter().next() else { return Ok(Exit::Success) };
        let finished = before.as_ref().map_or(0, trials);
        let run = servers.begin(&point, &invocation, &format!("trial {finished}"))?;
        let experiment = servers.experiment(&point, &run, &());
        let objective = goal.objective.to_string();
        let tried = Trials { experiment, goal, number: finished as u64 };
        let record = match before {
            Some(before) => CapacityRecord { run, ..before },
            None => CapacityRecord {
                format: CAPACITY_FORMAT,
                objective,
                run,
                confirm: arguments.confirm.as_secs_f64(),
                start: None,
                searches: Vec::new(),
                unfinished: None,
                confirmations: Vec::new(),
            },
        };
        let mut searching = Searching::new(record, tried, point.folder.clone());
        let result = carry_out(&mut searching, servers.servers.ended(), &output::line).await;
        let mut record = searching.record;
        let made = trials(&record);
        end(result, (StudyKind::Capacity, &point.folder), (made, "trial"), |status| {
            record.run.status = status;
            results::save_document(&record, &point.folder)?;
            conclude(&record, &point.folder)?;
            Ok(Exit::Success)
        })
    }
}

/// The trials that are finished.
fn trials(record: &CapacityRecord) -> usize {
    let CapacityRecord { searches, unfinished, confirmations, .. } = record;
    searches.iter().chain(unfinished).map(|search| search.trials.len()).sum::<usize>() + confirmations.len()
}

/// Writes and prints the report.
fn conclude(record: &CapacityRecord, folder: &Path) -> Result<(), CliError> {
    let report = Report::of_capacity(record).in_folder(&folder.display().to_string());
    let path = folder.join(REPORT_FILE);
    results::write_whole(&path, &written(&Markdown, &report)).map_err(|error| write_error(&path, &error))?;
    output::print(&terminal(&report))
}
