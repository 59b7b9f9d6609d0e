//! `docshape grow`: documents grow by calls of one operation, and at stages every operation is measured by itself.

pub mod argument;
mod growing;

use std::path::Path;

use crate::campaign::{EarlyEnd, carry_out};
use crate::cli::argument::SubjectArguments;
use crate::cli::exit::{CliError, Exit};
use crate::cli::output;
use crate::cli::report::conclude_study;
use crate::cli::run::Invocation;
use crate::cli::run::job::{JobServers, PointSetup, ServerJob};
use crate::cli::run::resume::{self, end};
use crate::cli::scenario::{definitions, prepare};
use crate::cli::server::ServerChoice;
use crate::engine::{Life, Lives};
use crate::plan::Plan;
use crate::record::LifeEnd;
use crate::report::Report;
use crate::results::{self, Status, StudyKind};
use crate::scenario::nearest;
use crate::server::client::MongoTarget;

use super::record::{GROWTH_FORMAT, GrowthRecord};
pub use argument::GrowArguments;
use growing::Growing;

/// The report of the growth in a folder.
///
/// # Errors
/// When it cannot be read.
pub fn report(folder: &Path) -> Result<Report, CliError> {
    Ok(Report::of_growth(&results::load_as::<GrowthRecord>(folder)?))
}

/// Lets documents grow, writes a folder with the record and a report, prints the report.
///
/// # Errors
/// When the scenario, an operation or the server cannot be used, or the growth ends early.
pub fn grow(arguments: &GrowArguments) -> Result<Exit, CliError> {
    if let Some(folder) = &arguments.resume {
        return resume(arguments, folder);
    }
    let mut subject = arguments.subject.clone();
    let scenario = arguments.scenario.as_deref().unwrap_or_default();
    let defined = defined(arguments, scenario, &mut subject)?;
    let chosen = subject.choice(arguments.seed, false);
    let ready = prepare(scenario, &chosen)?;
    let life = life(&defined, &ready.plan)?;
    let choice = arguments.server.choice()?;
    let invocation = Invocation::now();
    let folder = invocation.folder(arguments.out.as_deref(), &format!("{}/growth", ready.plan.name));
    let _locked = results::create_folder(&folder)?;
    let point = PointSetup::new(ready, chosen, arguments.settings(&subject), folder);
    Growth { arguments, life, question: defined.question, before: None, invocation }.on_servers(point, choice)
}

/// Continues the growth in a folder, or prints its report when it is complete.
fn resume(arguments: &GrowArguments, folder: &Path) -> Result<Exit, CliError> {
    let (kind, _lock) = resume::open(folder, "grow")?;
    let before = results::load_as::<GrowthRecord>(folder)?;
    if before.run.status == Status::Complete {
        resume::complete(kind, folder);
        conclude_study(Report::of_growth(&before), folder)?;
        return Ok(exit(&before));
    }
    let choice = resume::server(&arguments.server, &before.run)?;
    let until = before.until.parse().map_err(|error: &str| CliError::usage(error))?;
    let life = Life { operation: before.operation, sampled: before.sampled.clone(), until };
    let point = PointSetup::resumed(before.run.clone(), folder.to_owned())?;
    let question = before.question.clone();
    Growth { arguments, life, question, before: Some(before), invocation: Invocation::now() }.on_servers(point, choice)
}

/// What grows and what is measured besides.
struct Defined {
    question: Option<String>,
    operation: Option<String>,
    sampled: Vec<String>,
    until: LifeEnd,
}

/// What the command line says, and what it does not say from the scenario's `growth`.
fn defined(arguments: &GrowArguments, scenario: &str, subject: &mut SubjectArguments) -> Result<Defined, CliError> {
    let given = Defined {
        question: None,
        operation: arguments.operation.clone(),
        sampled: arguments.sample.clone(),
        until: arguments.until.unwrap_or(LifeEnd::Refused),
    };
    let growth = definitions(scenario, subject, arguments.seed)?.growth;
    let Some(growth) =
        growth.filter(|growth| given.operation.as_ref().is_none_or(|name| *name == growth.operation.value))
    else {
        return Ok(given);
    };
    *subject = subject.clone().over(SubjectArguments::defined(&growth.run));
    let sampled = growth.sampled.into_iter().map(|name| name.value);
    Ok(Defined {
        until: arguments.until.or(growth.until).unwrap_or(given.until),
        question: Some(growth.question),
        operation: Some(growth.operation.value),
        sampled: if given.sampled.is_empty() { sampled.collect() } else { given.sampled },
    })
}

fn life(defined: &Defined, plan: &Plan) -> Result<Life, CliError> {
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
    let Some(operation) = &defined.operation else {
        return Err(CliError::usage(format!(
            "the scenario does not say which operation lets documents grow: name one with --operation, of {}",
            names.join(", ")
        )));
    };
    let operation = place(operation)?;
    let sampled = if defined.sampled.is_empty() {
        called.iter().map(|(place, _)| *place).filter(|place| *place != operation).collect()
    } else {
        defined.sampled.iter().map(|name| place(name)).collect::<Result<Vec<_>, _>>()?
    };
    Ok(Life { operation, sampled, until: defined.until })
}

/// Growth that is ready to be measured.
struct Growth<'g> {
    arguments: &'g GrowArguments,
    life: Life,
    question: Option<String>,
    /// What an earlier process has finished.
    before: Option<GrowthRecord>,
    invocation: Invocation,
}

impl Growth<'_> {
    fn on_servers(self, point: PointSetup, choice: ServerChoice) -> Result<Exit, CliError> {
        let GrowArguments { server, no_verify, .. } = self.arguments;
        let folder = point.folder.clone();
        let job = ServerJob::new(vec![point], &self.invocation, &server.databases, !no_verify);
        let measure = async |points: Vec<PointSetup>, servers: JobServers<'_>| self.measure(points, &servers).await;
        job.run(choice, ("stages", &folder), measure)
    }

    async fn measure(self, points: Vec<PointSetup>, servers: &JobServers<'_>) -> Result<Exit, CliError> {
        let Growth { arguments, life, question, before, invocation } = self;
        let Some(point) = points.into_iter().next() else { return Ok(Exit::Success) };
        let finished = before.as_ref().map_or(0, |before| before.stages.len());
        let run = servers.begin(&point, &invocation, &format!("stage {finished}"))?;
        let experiment = servers.experiment(&point, &run, &());
        let mut record = match before {
            Some(before) => GrowthRecord { run, ..before },
            None => GrowthRecord {
                format: GROWTH_FORMAT,
                operation: life.operation,
                sampled: life.sampled.clone(),
                until: life.until.to_string(),
                question,
                per_day: arguments.per_day,
                run,
                is_reached: false,
                stages: Vec::new(),
                ends: Vec::new(),
            },
        };
        // Loading may take long.
        results::save_document(&record, &point.folder)?;
        let grow = async |lives: Lives<'_, '_, MongoTarget, MongoTarget>| {
            let mut growing = Growing::new(lives, &mut record, &point.folder, arguments.time_limit);
            match carry_out(&mut growing, servers.servers.ended(), &output::line).await {
                Err(EarlyEnd::Engine(error)) => Err(error),
                ended => Ok(ended),
            }
        };
        let result = experiment.lives(&life, grow).await.unwrap_or_else(|error| Err(error.into()));
        let stages = record.stages.len();
        end(result, (StudyKind::Growth, &point.folder), (stages, "stage"), |status| {
            record.run.status = status;
            results::save_document(&record, &point.folder)?;
            conclude_study(Report::of_growth(&record), &point.folder)?;
            Ok(exit(&record))
        })
    }
}

/// How the command ends after growth that is complete.
fn exit(record: &GrowthRecord) -> Exit {
    let mut audits = record.ends.iter().flat_map(|end| &end.audits);
    if audits.all(|audit| audit.anomalies() == 0) { Exit::Success } else { Exit::Invalid }
}
