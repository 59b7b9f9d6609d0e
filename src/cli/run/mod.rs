//! `docshape run`.

mod ab;
mod argument;
mod claims;
mod invocation;
pub mod job;
mod latency_log;
mod placement;
mod preset;
pub mod record;
pub mod resume;
pub mod rounds;
mod smoke;
mod threshold;
mod window;

use std::path::{Path, PathBuf};

use tokio::time::Instant;

use crate::engine::{Event, Experiment, FatalError, Observer};
use crate::plan::Plan;
use crate::report::write::smoke::smoke as smoke_result;
use crate::report::{CSV_FILE, HTML_FILE, MARKDOWN_FILE, Report};
use crate::results::verification::Verification;
use crate::results::{self, Preset, RunRecord, RunSettings};
use crate::server::namespace::Namespace;
use crate::server::turns::EndedServer;
use crate::stats;

use super::compare::{BaselineComparison, SavedRunArguments};
use super::exit::{CliError, Exit};
use super::output;
use super::progress::Progress;
use super::report::terminal_of_run;
use super::scenario::{Ready, prepare};
use super::server::ServerChoice;
use super::session::{Session, on_main_thread};
use super::verify::verify_before_run;
pub use argument::{MeasurementArguments, RunArguments};
pub use invocation::Invocation;
use job::{JobServers, ServerJob, is_compared, on_servers};
pub use latency_log::LogWriter;
use resume::Resumed;
use rounds::{EarlyEnd, Rounds};
use smoke::next_command;

/// Measures the strategies of a scenario, writes a run folder, prints the verdict.
///
/// # Errors
/// When the scenario or server cannot be used, or the run fails.
pub fn run(arguments: RunArguments) -> Result<Exit, CliError> {
    threshold::check_file(arguments.junit.as_deref())?;
    match (arguments.resume.clone(), arguments.ab.as_slice(), arguments.claims.as_deref()) {
        (Some(folder), _, _) => resume_run(arguments, folder),
        (None, [a, b], _) => ab::run(&arguments, [a.clone(), b.clone()]),
        (None, _, Some(ids)) => claims::run(&arguments, ids),
        (None, _, None) => new_run(arguments, None),
    }
}

/// Measures a new run. One for some claims has these alone, and prints no report.
fn new_run(arguments: RunArguments, claims: Option<Vec<String>>) -> Result<Exit, CliError> {
    let settings = arguments.settings();
    arguments.measurement.check_parts()?;
    check_threads(&settings)?;
    let scenario = arguments.scenario.as_deref().unwrap_or_default();
    let ready = prepare(scenario, &arguments.subject.choice(settings.seed, true))?;
    threshold::check(&arguments.measurement.threshold, &ready.plan)?;
    let comparison = BaselineComparison::of(&arguments.saved_run, &settings, &ready.plan.name)?;
    let settings = comparison.adopt(settings);
    let choice = arguments.server.choice()?;
    let invocation = Invocation::now();
    let folder = invocation.folder(arguments.measurement.out.as_deref(), &ready.plan.name);
    let _locked = results::create_folder(&folder)?;
    let progress = Progress::start();
    Run { arguments, settings, ready, folder, invocation, resumed: None, comparison, claims, progress }
        .on_server(choice)
}

fn resume_run(arguments: RunArguments, folder: PathBuf) -> Result<Exit, CliError> {
    let Some(Resumed { ready, record, lock: _lock }) = resume::open(&folder)? else {
        return complete(&folder, &arguments);
    };
    let choice = resume::server(&arguments.server, &record)?;
    let comparison = BaselineComparison::of(&arguments.saved_run, &record.settings, &ready.plan.name)?;
    let (settings, invocation) = (record.settings.clone(), Invocation::now());
    let (resumed, progress) = (Some(record), Progress::start());
    Run { arguments, settings, ready, folder, invocation, resumed, comparison, claims: None, progress }
        .on_server(choice)
}

/// The report files of a complete run.
const REPORT_FILES: [&str; 3] = [HTML_FILE, MARKDOWN_FILE, CSV_FILE];

/// Says that a run needs no resuming, and writes its report files if they are missing, for example after a full disk.
fn complete(folder: &Path, arguments: &RunArguments) -> Result<Exit, CliError> {
    let shown = folder.display();
    let SavedRunArguments { compare_with, save_run, .. } = &arguments.saved_run;
    if compare_with.is_some() || save_run.is_some() {
        return Err(CliError::usage(format!(
            "the run in {shown} is complete, so there is nothing to resume; compare or save it with `docshape compare {shown}`"
        )));
    }
    output::message(&format!("the run in {shown} is complete: nothing to resume\n"));
    let record = results::load(folder)?;
    if REPORT_FILES.iter().any(|name| !folder.join(name).is_file()) {
        let others = results::other_mixes(folder, &record);
        let report = Report::among(&record, &others).in_folder(&shown.to_string()).with_files();
        rounds::write_reports(&record, &report, folder)?;
        output::message(&format!("report files were missing and are written again: {}\n", REPORT_FILES.join(", ")));
    }
    let is_valid = record.all_parts().values().all(|part| stats::invalid_reasons(part).is_empty());
    Ok(if is_valid { Exit::Success } else { Exit::Invalid })
}

/// Rejects settings with more load threads than clients.
///
/// # Errors
/// When a thread would have no client.
pub fn check_threads(settings: &RunSettings) -> Result<(), CliError> {
    let RunSettings { clients, threads, .. } = settings;
    if threads <= clients {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "--threads {threads} is more than --clients {clients}, but every thread needs a client: try --clients {threads} or \
         --threads {clients}"
    )))
}

/// A run that is ready to be measured.
struct Run {
    arguments: RunArguments,
    settings: RunSettings,
    ready: Ready,
    folder: PathBuf,
    invocation: Invocation,
    /// The record of the rounds before, when the run is resumed.
    resumed: Option<RunRecord>,
    /// What it is compared with and saved as.
    comparison: BaselineComparison,
    /// The ids of the claims that it is for; `None` for an ordinary run.
    claims: Option<Vec<String>>,
    progress: Progress,
}

impl Run {
    fn on_server(self, choice: ServerChoice) -> Result<Exit, CliError> {
        if self.arguments.keep && matches!(choice, ServerChoice::Embedded(_)) {
            return Err(CliError::usage(
                "--keep requires --uri, because the embedded server of a run is removed with its databases; start one that \
                 stays with `docshape server start`",
            ));
        }
        let quit = choice.quit_error(&format!("complete rounds are in {}", self.folder.display()));
        on_main_thread(quit, async |stop| on_servers(self, choice, stop).await)
    }
}

impl ServerJob for Run {
    fn plan(&self) -> &Plan {
        &self.ready.plan
    }

    fn settings(&mut self) -> &mut RunSettings {
        self.resumed.as_mut().map_or(&mut self.settings, |record| &mut record.settings)
    }

    fn namespace(&self) -> Namespace {
        let id = self.resumed.as_ref().map_or(&self.invocation.id, |record| &record.id);
        self.arguments.server.databases.namespace(&self.ready.plan.name, id)
    }

    fn announce(&self, what: &str) {
        self.progress.prepare(what);
    }

    fn is_verified(&self) -> bool {
        self.resumed.is_none() && !self.arguments.no_verify && is_compared(&self.ready.plan)
    }

    /// Those of a resumed run have run already.
    async fn skip_unsupported(&mut self, session: &Session, namespace: &Namespace) -> Result<(), CliError> {
        if self.resumed.is_some() {
            return Ok(());
        }
        let choice = self.arguments.subject.choice(self.settings.seed, true);
        self.ready.skip_unsupported(session, choice, namespace).await
    }

    async fn verify(&self, session: &Session, namespace: &Namespace) -> Result<Verification, CliError> {
        let scenario = self.arguments.scenario.as_deref().unwrap_or_default();
        let announce = |what: &str| self.progress.prepare(what);
        verify_before_run(session, &self.ready.plan, &self.settings, namespace, scenario, announce).await
    }

    async fn measure(self, measured: JobServers<'_>, namespace: Namespace) -> Result<Exit, CliError> {
        let Run { arguments, settings, ready, folder, invocation, resumed, comparison, claims, progress } = self;
        let JobServers { servers, server, verification, warnings, stop } = measured;
        let mut head = RunRecord { verification, warnings, ..record::begin(settings, &ready, server, &invocation) };
        if let Some(ids) = &claims {
            head.claims.retain(|claim| ids.contains(&claim.id));
        }
        let is_resumed = resumed.is_some();
        let mut record = resumed.map_or_else(|| Ok(head.clone()), |record| resume::continue_record(record, &head))?;
        comparison.check(&mut record)?;
        let now = if is_resumed { invocation.started } else { record::started(&record) };
        let observer = (progress, LogWriter::open(&folder, &record, now)?);
        let arms: Vec<String> = ready.plan.arms.iter().map(|arm| arm.name.clone()).collect();
        observer.event(&Event::Started { rounds: record.settings.rounds, arms: &arms });
        let mut experiment = Experiment {
            plan: ready.plan,
            settings: record.settings.clone(),
            namespace,
            keep: arguments.keep,
            servers,
            observer: &observer,
            stop,
            started: Instant::now(),
        };
        let rounds = Rounds::new(&folder, arguments.junit.as_deref(), record.complete_rounds());
        // docshape is the parent of embedded servers, and need not wait until calls fail.
        let lost = async {
            let EndedServer { server, reason } = servers.ended().await;
            EarlyEnd::Engine(FatalError::ServerLost(format!("strategy {}: {reason}", arms[server])).into())
        };
        let result = tokio::select! {
            result = rounds.run(&mut experiment, &observer, &mut record) => result,
            lost = lost => Err(lost),
        };
        drop(experiment);
        drop(observer);
        let (exit, report) = rounds.finish(result, &mut record)?;
        if claims.is_some() {
            return Ok(exit);
        }
        let is_smoke = record.settings.preset == Preset::Smoke && !is_resumed && !arguments.full;
        output::print(&if is_smoke {
            smoke_result(&record, &report, &next_command(&arguments))
        } else {
            terminal_of_run(&report, arguments.full)
        })?;
        comparison.conclude(&folder, exit)
    }
}
