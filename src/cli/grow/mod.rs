//! `docshape grow`: documents grow by calls of one operation, and at stages every operation is measured by itself.

mod argument;

use std::path::{Path, PathBuf};

use tokio::time::Instant;

use crate::engine::{Experiment, FatalError, Life, LifeEnd, RunError};
use crate::plan::Plan;
use crate::report::{HTML_FILE, Html, MARKDOWN_FILE, Markdown, Report, bytes};
use crate::results::verification::Verification;
use crate::results::{self, GROWTH_FORMAT, GrowthEnd, GrowthRecord, RunRecord, RunSettings, StageRecord, Status};
use crate::scenario::nearest;
use crate::server::namespace::Namespace;
use crate::server::turns::EndedServer;

use super::argument::SubjectArguments;
use super::exit::{CliError, Exit, write_error};
use super::output;
use super::report::{terminal, written};
use super::run::job::{JobServers, ServerJob, is_compared, on_servers};
use super::run::rounds::status_after;
use super::run::{Invocation, record};
use super::scenario::{Ready, prepare};
use super::session::{Session, on_main_thread};
use super::value::{assignment, growth_end};
use super::verify::verify_before_run;
pub use argument::GrowArguments;

/// Lets documents grow, writes a folder with the record and a report, prints the report.
///
/// # Errors
/// When the scenario, an operation or the server cannot be used, or the growth ends early.
pub fn grow(arguments: &GrowArguments) -> Result<Exit, CliError> {
    let mut subject = arguments.subject.clone();
    let defined = defined(arguments, &mut subject)?;
    let ready = prepare(&arguments.scenario, &subject.choice(arguments.seed, false))?;
    let life = life(arguments, &defined, &ready.plan)?;
    let choice = arguments.server.choice()?;
    let invocation = Invocation::now();
    let folder = invocation.folder(arguments.out.as_deref(), &format!("{}/growth", ready.plan.name));
    let _locked = results::create_folder(&folder)?;
    let settings = arguments.settings(&subject);
    let question = defined.question.clone();
    let growth = Growth { arguments: arguments.clone(), subject, settings, ready, life, question, folder, invocation };
    let quit = choice.quit_error(&format!("complete stages are in {}", growth.folder.display()));
    on_main_thread(quit, async |stop| on_servers(growth, choice, stop).await)
}

/// What grows and what is measured besides.
struct Defined {
    question: Option<String>,
    operation: Option<String>,
    sampled: Vec<String>,
    until: LifeEnd,
}

/// What the command line says, and what it does not say from the scenario's `growth`.
fn defined(arguments: &GrowArguments, subject: &mut SubjectArguments) -> Result<Defined, CliError> {
    let given = Defined {
        question: None,
        operation: arguments.operation.clone(),
        sampled: arguments.sample.clone(),
        until: arguments.until.unwrap_or(LifeEnd::Refused),
    };
    let choice = crate::compile::Choice { mix: None, ..subject.choice(arguments.seed, false) };
    let growth = prepare(&arguments.scenario, &choice)?.scenario.growth;
    let Some(growth) =
        growth.filter(|growth| given.operation.as_ref().is_none_or(|name| *name == growth.operation.value))
    else {
        return Ok(given);
    };
    let texts = |texts: &[crate::scenario::Spanned<String>]| texts.iter().map(|text| text.value.clone()).collect();
    let set = growth.set.iter().map(|setting| assignment(&setting.value)).collect::<Result<Vec<_>, _>>();
    // The last value of a parameter counts.
    subject.set.splice(0..0, set.map_err(CliError::usage)?);
    subject.mix = subject.mix.take().or(growth.mix.as_ref().map(|mix| mix.value.clone()));
    if subject.strategies.is_empty() && !subject.all_strategies {
        subject.strategies = texts(&growth.strategies);
    }
    let until = growth.until.filter(|_| arguments.until.is_none()).map(|until| growth_end(&until.value)).transpose();
    let until = until.map_err(|error| CliError::usage(format!("`growth.until` of the scenario: {error}")))?;
    Ok(Defined {
        until: until.unwrap_or(given.until),
        question: Some(growth.question),
        operation: Some(growth.operation.value),
        sampled: if given.sampled.is_empty() { texts(&growth.sampled) } else { given.sampled },
    })
}

fn life(arguments: &GrowArguments, defined: &Defined, plan: &Plan) -> Result<Life, CliError> {
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
    Ok(Life { operation, sampled, until: defined.until, longest: arguments.time_limit })
}

/// Growth that is ready to be measured.
struct Growth {
    arguments: GrowArguments,
    subject: SubjectArguments,
    settings: RunSettings,
    ready: Ready,
    life: Life,
    question: Option<String>,
    folder: PathBuf,
    invocation: Invocation,
}

impl ServerJob for Growth {
    fn plan(&self) -> &Plan {
        &self.ready.plan
    }

    fn settings(&mut self) -> &mut RunSettings {
        &mut self.settings
    }

    fn namespace(&self) -> Namespace {
        self.arguments.server.databases.namespace(&self.ready.plan.name, &self.invocation.id)
    }

    fn is_verified(&self) -> bool {
        !self.arguments.no_verify && is_compared(&self.ready.plan)
    }

    async fn skip_unsupported(&mut self, session: &Session, namespace: &Namespace) -> Result<(), CliError> {
        let choice = self.subject.choice(self.settings.seed, false);
        self.ready.skip_unsupported(session, choice, namespace).await
    }

    async fn verify(&self, session: &Session, namespace: &Namespace) -> Result<Verification, CliError> {
        verify_before_run(session, &self.ready.plan, &self.settings, namespace, &self.arguments.scenario, output::line)
            .await
    }

    async fn measure(self, measured: JobServers<'_>, namespace: Namespace) -> Result<Exit, CliError> {
        let Growth { arguments, settings, ready, life, question, folder, invocation, .. } = self;
        let JobServers { servers, server, verification, warnings, stop } = measured;
        let run = RunRecord { verification, warnings, ..record::begin(settings, &ready, server, &invocation) };
        let mut growth = GrowthRecord {
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
        };
        save(&growth, &folder)?;
        let experiment = Experiment {
            plan: ready.plan,
            settings: growth.run.settings.clone(),
            namespace,
            keep: false,
            servers,
            observer: &(),
            stop,
            started: Instant::now(),
        };
        let arms: Vec<String> = experiment.plan.arms.iter().map(|arm| arm.name.clone()).collect();
        let mut written = Ok(());
        let mut passed = |stage: StageRecord, ends: &[GrowthEnd]| {
            output::message(&format!("{}\n", progress(&stage, &arms)));
            growth.stages.push(stage);
            growth.ends = ends.to_vec();
            written = std::mem::replace(&mut written, Ok(())).and_then(|()| save(&growth, &folder));
        };
        let lost = async {
            let EndedServer { server, reason } = servers.ended().await;
            RunError::from(FatalError::ServerLost(format!("strategy {}: {reason}", arms[server])))
        };
        let result = tokio::select! {
            result = experiment.life(&life, &mut passed) => result,
            lost = lost => Err(lost),
        };
        written?;
        let (status, error) = match result {
            Ok((ends, is_reached)) => {
                (growth.ends, growth.is_reached) = (ends, is_reached);
                (Status::Complete, None)
            }
            Err(error) => (status_after(&error), Some(error)),
        };
        growth.run.status = status;
        save(&growth, &folder)?;
        conclude(&growth, &folder)?;
        match error {
            None if growth.ends.iter().all(|end| end.audits.iter().all(|audit| audit.anomalies() == 0)) => {
                Ok(Exit::Success)
            }
            None => Ok(Exit::Invalid),
            Some(error) => Err(CliError::from(error).with(&format!("complete stages are in {}", folder.display()))),
        }
    }
}

/// A stage in a line: the calls, and the largest document of every strategy.
fn progress(stage: &StageRecord, arms: &[String]) -> String {
    let largest = arms.iter().zip(&stage.cells).map(|(arm, cell)| match cell {
        Some(cell) => format!("{arm} {}", bytes(cell.after.iter().map(|sizes| sizes.max).max().unwrap_or(0) as f64)),
        None => format!("{arm} has ended"),
    });
    format!("after {} calls, the largest document: {}", stage.calls, largest.collect::<Vec<_>>().join(", "))
}

fn save(record: &GrowthRecord, folder: &Path) -> Result<(), CliError> {
    Ok(results::save_document(record, folder)?)
}

/// Writes and prints the report.
fn conclude(record: &GrowthRecord, folder: &Path) -> Result<(), CliError> {
    let report = Report::of_growth(record).in_folder(&folder.display().to_string());
    for (name, text) in [(MARKDOWN_FILE, written(&Markdown, &report)), (HTML_FILE, written(&Html, &report))] {
        let path = folder.join(name);
        results::write_whole(&path, &text).map_err(|error| write_error(&path, &error))?;
    }
    output::print(&terminal(&report))
}
