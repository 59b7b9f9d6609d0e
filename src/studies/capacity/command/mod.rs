//! `docshape capacity`.

pub mod argument;
pub mod search;
mod searching;

use std::path::Path;

use crate::campaign::carry_out;
use crate::cli::exit::{CliError, Exit, write_error};
use crate::cli::next::NextCommand;
use crate::cli::output;
use crate::cli::report::{terminal, written};
use crate::cli::run::threshold::called;
use crate::cli::run::{Invocation, JobServers, PointSetup, ServerJob, check_threads, resume};
use crate::cli::scenario::prepare;
use crate::cli::server::ServerChoice;
use crate::plan::Plan;
use crate::report::{Markdown, Report};
use crate::results::{self, Arrivals, LoadModel, RunRecord, Status, StudyKind};
use crate::server::embedded::Checkpoints;

use super::objective::Objective;
use super::record::{CAPACITY_FORMAT, CapacityRecord, SearchRecord};
pub use argument::CapacityArguments;
use search::{CapacityGoal, MAX_CALLS, Trials};
use searching::Searching;

/// The name of the Markdown report in the folder of a search.
const REPORT_FILE: &str = "capacity.md";

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
    let chosen = arguments.study.subject.choice(arguments.seed, false);
    let ready = prepare(arguments.study.scenario(), &chosen)?;
    let Some(objective) = arguments.objective.clone() else { return Err(CliError::usage("--objective is missing")) };
    let goal = goal(objective, arguments.arrivals.unwrap_or_default(), &ready.plan)?;
    let choice = arguments.study.server.choice()?;
    let invocation = Invocation::now();
    let folder = invocation.folder(arguments.out.as_deref(), &ready.plan.name);
    let _locked = results::create_folder(&folder)?;
    let point = PointSetup::new(ready, chosen, settings, folder);
    let record = |run: RunRecord, goal: &CapacityGoal| CapacityRecord {
        format: CAPACITY_FORMAT,
        objective: goal.objective.to_string(),
        run,
        confirm: arguments.confirm.as_secs_f64(),
        ..CapacityRecord::default()
    };
    on_servers(ServerJob::new(vec![point], invocation, &arguments.study), choice, goal, record)
}

/// The share of the lowest capacity at which a run measures response times.
const LOADED: f64 = 0.8;

/// Continues the searches in a folder, or prints their report when they are complete.
fn resume(arguments: &CapacityArguments, folder: &Path) -> Result<Exit, CliError> {
    let (kind, _lock) = resume::open(folder, "capacity")?;
    let before = results::load_as::<CapacityRecord>(folder)?;
    if before.run.status == Status::Complete {
        resume::complete(kind, folder);
        conclude(&before, folder)?;
        return Ok(Exit::Success);
    }
    let choice = resume::server(&arguments.study.server, &before.run)?;
    let point = PointSetup::resumed(before.run.clone(), folder.to_owned())?;
    let arrivals = match before.run.settings.load {
        LoadModel::Open { arrivals, .. } => arrivals,
        LoadModel::Closed => Arrivals::default(),
    };
    let goal = goal(before.objective.parse().map_err(CliError::usage)?, arrivals, &point.ready.plan)?;
    let point = PointSetup { finished: format!("trial {}", trials(&before)), ..point };
    let job = ServerJob::new(vec![point], Invocation::now(), &arguments.study);
    on_servers(job, choice, goal, |run, _| CapacityRecord { run, ..before })
}

/// Returns the goal of the searches.
fn goal(objective: Objective, arrivals: Arrivals, plan: &Plan) -> Result<CapacityGoal, CliError> {
    let total: f64 = plan.mix.weights.iter().sum();
    let option = format!("--objective '{objective}'");
    let operation = objective.operation.as_deref().map(|name| called(&option, name, plan)).transpose()?;
    let share = operation.map_or(1.0, |place| plan.mix.weights[place] / total);
    let goal = CapacityGoal { objective, operation, share, arrivals };
    if goal.calls_needed() <= MAX_CALLS {
        return Ok(goal);
    }
    Err(CliError::usage(format!(
        "{option} needs {} calls per trial, which is too many; try {}",
        goal.calls_needed(),
        Objective { metric: goal.nearest(), ..goal.objective.clone() }
    )))
}

/// Makes the searches of a job's only point; `record_of` makes the record of what is measured, which has the trials that an
/// earlier process has finished.
fn on_servers(
    job: ServerJob<'_>,
    choice: ServerChoice,
    goal: CapacityGoal,
    record_of: impl FnOnce(RunRecord, &CapacityGoal) -> CapacityRecord,
) -> Result<Exit, CliError> {
    let folder = job.folder();
    // The server of an application writes checkpoints, too.
    let job = ServerJob { checkpoints: Checkpoints::EveryMinute, ..job };
    job.run(choice, ("trials", &folder), async |points: Vec<PointSetup>, servers: JobServers<'_>| {
        let Some(point) = points.first() else { return Ok(Exit::Success) };
        let run = servers.begin(point)?;
        let experiment = servers.experiment(point, &run, &());
        let record = record_of(run, &goal);
        let tried = Trials { experiment, goal, number: trials(&record) as u64 };
        let mut searching = Searching { record, trials: tried, folder: folder.clone() };
        let result = carry_out(&mut searching, servers.servers.ended(), &output::line).await;
        let mut record = searching.record;
        let made = trials(&record);
        resume::end(result, (StudyKind::Capacity, &folder), (made, "trial"), |status| {
            record.run.status = status;
            results::save_document(&record, &folder)?;
            conclude(&record, &folder)?;
            Ok(Exit::Success)
        })
    })
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
    output::print(&terminal(&report))?;
    next(record).print();
    Ok(())
}

/// The command after a search: a run at a rate that the strategies keep, for the times of all operations.
pub fn next(record: &CapacityRecord) -> NextCommand {
    let kept = |search: &SearchRecord| {
        search.trials.iter().filter(|trial| trial.passed).map(|trial| trial.rate).reduce(f64::max)
    };
    let capacities = record.searches.iter().filter_map(kept);
    let rate = capacities.reduce(f64::min).map(|least| (LOADED * least).round().max(1.0));
    let run = NextCommand::like("run", &record.run);
    rate.map_or(run.clone(), |rate| run.option("rate", &rate.to_string()))
}
