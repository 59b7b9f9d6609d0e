//! `docshape grow`: documents grow by calls of one operation, and at stages every operation is measured by itself.

pub mod argument;
mod growing;

use std::path::Path;

use crate::campaign::{EarlyEnd, carry_out};
use crate::cli::argument::SubjectArguments;
use crate::cli::next::NextCommand;
use crate::cli::progress::Progress;
use crate::cli::report::conclude_study;
use crate::cli::run::{Invocation, JobServers, PointSetup, ServerJob, resume};
use crate::cli::scenario::{definitions, prepare};
use crate::cli::server::ServerChoice;
use crate::cli::{CliError, Exit};
use crate::engine::{Life, Lives};
use crate::plan::Plan;
use crate::record::LifeEnd;
use crate::report::Report;
use crate::results::{self, RunRecord, Status, StudyKind};
use crate::scenario::{GrowthDefinition, nearest};
use crate::server::client::MongoTarget;

use super::record::{GROWTH_FORMAT, GrowthRecord};
pub use argument::GrowArguments;
use growing::Growing;

/// Lets documents grow, writes a folder with the record and a report, prints the report.
///
/// # Errors
/// When the scenario, an operation or the server cannot be used, or the growth ends early.
pub fn grow(arguments: &GrowArguments) -> Result<Exit, CliError> {
    if let Some(folder) = &arguments.resume {
        return resume(arguments, folder);
    }
    let mut subject = arguments.study.subject.clone();
    let growth = definitions(arguments.study.scenario(), &subject, arguments.seed)?.growth;
    // Of another operation the scenario says nothing.
    let growth =
        growth.filter(|growth| arguments.operation.as_ref().is_none_or(|name| *name == growth.operation.value));
    if let Some(growth) = &growth {
        subject = subject.over(SubjectArguments::defined(&growth.run));
    }
    let chosen = subject.choice(arguments.seed, false);
    let ready = prepare(arguments.study.scenario(), &chosen)?;
    let life = life(arguments, growth.as_ref(), &ready.plan)?;
    let choice = arguments.study.server.choice()?;
    let invocation = Invocation::now();
    let folder = invocation.folder(arguments.out.as_deref(), &format!("{}/growth", ready.plan.name));
    let _locked = results::create_folder(&folder)?;
    let point = PointSetup::new(ready, chosen, arguments.settings(&subject), folder);
    let record = |run: RunRecord, life: &Life| GrowthRecord {
        format: GROWTH_FORMAT,
        operation: life.operation,
        sampled: life.sampled.clone(),
        until: life.until.to_string(),
        question: growth.map(|growth| growth.question),
        per_day: arguments.per_day,
        run,
        ..GrowthRecord::default()
    };
    on_servers(arguments, ServerJob::new(vec![point], invocation, &arguments.study), choice, life, record)
}

/// Continues the growth in a folder, or prints its report when it is complete.
fn resume(arguments: &GrowArguments, folder: &Path) -> Result<Exit, CliError> {
    let (kind, _lock) = resume::open(folder, "grow")?;
    let before = results::load_as::<GrowthRecord>(folder)?;
    if before.run.status == Status::Complete {
        resume::complete(kind, folder);
        conclude_study(Report::of_growth(&before), folder, &next(&before.run))?;
        return Ok(exit(&before));
    }
    let choice = resume::server(&arguments.study.server, &before.run)?;
    let until = before.until.parse().map_err(|error: &str| CliError::usage(error))?;
    let life = Life { operation: before.operation, sampled: before.sampled.clone(), until };
    let point = PointSetup::resumed(before.run.clone(), folder.to_owned())?;
    let point = PointSetup { finished: format!("stage {}", before.stages.len()), ..point };
    let job = ServerJob::new(vec![point], Invocation::now(), &arguments.study);
    on_servers(arguments, job, choice, life, |run, _| GrowthRecord { run, ..before })
}

/// The command after growth: a run of the scenario, not of the few records that grew.
pub fn next(run: &RunRecord) -> NextCommand {
    let is_kept = |(option, _): &(&str, String)| *option != "set";
    NextCommand::on("run", run, run.subject().into_iter().filter(is_kept).collect())
}

/// What grows and what is measured besides: what the command line says, else the scenario's `growth`.
fn life(arguments: &GrowArguments, growth: Option<&GrowthDefinition>, plan: &Plan) -> Result<Life, CliError> {
    let mix = plan.operations.iter().enumerate().filter(|(place, _)| plan.mix.weights[*place] > 0.0);
    let called: Vec<(usize, &str)> = mix.map(|(place, operation)| (place, &*operation.name)).collect();
    let names: Vec<&str> = called.iter().map(|(_, name)| *name).collect();
    let place = |wanted: &str| {
        let found = called.iter().find(|(_, name)| *name == wanted).map(|(place, _)| *place);
        found.ok_or_else(|| {
            CliError::usage(format!(
                "mix {} never calls {wanted}: {}; or give it a share with --share {wanted}=50%",
                plan.mix.name,
                nearest(wanted, &names)
            ))
        })
    };
    let defined = growth.map(|growth| growth.operation.value.as_str());
    let Some(operation) = arguments.operation.as_deref().or(defined) else {
        return Err(CliError::usage(format!(
            "the scenario does not say which operation lets documents grow: name one with --operation, of {}",
            names.join(", ")
        )));
    };
    let operation = place(operation)?;
    let defined = || growth.iter().flat_map(|growth| &growth.sampled).map(|name| name.value.as_str());
    let sampled: Vec<&str> = match arguments.sample.as_slice() {
        [] => defined().collect(),
        given => given.iter().map(String::as_str).collect(),
    };
    let sampled = if sampled.is_empty() {
        called.iter().map(|(place, _)| *place).filter(|place| *place != operation).collect()
    } else {
        sampled.into_iter().map(place).collect::<Result<Vec<_>, _>>()?
    };
    let until = arguments.until.or(growth.and_then(|growth| growth.until)).unwrap_or(LifeEnd::Refused);
    Ok(Life { operation, sampled, until })
}

/// Lets the documents of a job's only point grow; `record_of` makes the record of what is measured, which has the stages that an
/// earlier process has finished.
fn on_servers(
    arguments: &GrowArguments,
    job: ServerJob<'_>,
    choice: ServerChoice,
    life: Life,
    record_of: impl FnOnce(RunRecord, &Life) -> GrowthRecord,
) -> Result<Exit, CliError> {
    let folder = job.folder();
    job.run(choice, ("stages", &folder), async |points: Vec<PointSetup>, servers: JobServers<'_>| {
        let Some(point) = points.first() else { return Ok(Exit::Success) };
        let run = servers.begin(point)?;
        let experiment = servers.experiment(point, &run, &());
        let mut record = record_of(run, &life);
        // Loading may take long.
        results::save_document(&record, &folder)?;
        let drawn = Progress::on_terminal("loading");
        let say = |line: &str| Progress::say(drawn.as_ref(), line);
        let grow = async |lives: Lives<'_, '_, MongoTarget, MongoTarget>| {
            let (record, folder, time_limit) = (&mut record, folder.as_path(), arguments.time_limit);
            let mut growing = Growing { lives, record, folder, time_limit, since: None, is_audited: false };
            match carry_out(&mut growing, servers.servers.ended(), &say).await {
                Err(EarlyEnd::Engine(error)) => Err(error),
                ended => Ok(ended),
            }
        };
        let result = experiment.lives(&life, grow).await.unwrap_or_else(|error| Err(error.into()));
        drop(drawn);
        let stages = record.stages.len();
        resume::end(result, (StudyKind::Growth, &folder), (stages, "stage"), |status| {
            record.run.status = status;
            results::save_document(&record, &folder)?;
            conclude_study(Report::of_growth(&record), &folder, &next(&record.run))?;
            Ok(exit(&record))
        })
    })
}

/// How the command ends after growth that is complete.
fn exit(record: &GrowthRecord) -> Exit {
    let mut audits = record.ends.iter().flat_map(|end| &end.audits);
    if audits.all(|audit| audit.anomalies() == 0) { Exit::Success } else { Exit::Invalid }
}
