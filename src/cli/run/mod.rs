//! `docshape run`.

mod ab;
mod after;
mod argument;
mod claims;
mod conclude;
mod invocation;
pub mod job;
pub mod like;
mod placement;
mod preset;
pub mod record;
pub mod resume;
pub mod threshold;

use std::path::{Path, PathBuf};

use crate::campaign::{Interleaving, Rounds, carry_out};
use crate::compile::Choice;
use crate::report::write::smoke::smoke as smoke_result;
use crate::report::{CSV_FILE, HTML_FILE, MARKDOWN_FILE};
use crate::results::{self, Preset, RunSettings, Status, StudyKind};

use super::compare::{BaselineComparison, SavedRunArguments};
use super::open::open;
use super::progress::Progress;
use super::report::{report_of, terminal_of_run};
use super::scenario::{Ready, prepare};
use super::server::ServerChoice;
use super::{CliError, Exit, output};
use after::after_run;
pub use argument::{MeasurementArguments, RunArguments, StudyArguments};
pub use claims::after_claims;
use conclude::conclude;
pub use conclude::{exit_of, write_reports};
pub use invocation::Invocation;
pub use job::{JobServers, PointSetup, ServerJob};
use like::EarlierRun;

/// Measures the strategies of a scenario, writes a run folder, prints the verdict.
///
/// # Errors
/// When the scenario or server cannot be used, or the run fails.
pub fn run(arguments: RunArguments) -> Result<Exit, CliError> {
    threshold::check_file(arguments.junit.as_deref())?;
    match (arguments.resume.clone(), arguments.ab.as_slice(), arguments.claims.as_deref()) {
        (Some(folder), _, _) => resume_study(arguments, folder),
        (None, [a, b], _) => ab::run(&arguments, [a.clone(), b.clone()]),
        (None, _, Some(ids)) => claims::run(&arguments, ids),
        (None, _, None) => new_run(arguments),
    }
}

/// A new run before its folder is created.
pub struct PlannedRun {
    /// The scenario.
    pub ready: Ready,
    /// What is chosen of it.
    pub chosen: Choice,
    /// How it is measured.
    pub settings: RunSettings,
    /// Where it is measured.
    pub choice: ServerChoice,
}

impl PlannedRun {
    /// What the command line says.
    fn new(arguments: &RunArguments) -> Result<PlannedRun, CliError> {
        let settings = arguments.settings();
        arguments.measurement.check_parts()?;
        check_threads(&settings)?;
        let chosen = arguments.study.subject.choice(settings.seed, true);
        let ready = prepare(arguments.study.scenario(), &chosen)?;
        Ok(PlannedRun { ready, chosen, settings, choice: arguments.study.server.choice()? })
    }
}

fn new_run(arguments: RunArguments) -> Result<Exit, CliError> {
    let planned = match &arguments.like {
        Some(path) => EarlierRun::load(path)?.plan(&arguments)?,
        None => PlannedRun::new(&arguments)?,
    };
    let comparison = BaselineComparison::of(&arguments.saved_run, &planned.ready.plan.name)?;
    let PlannedRun { ready, chosen, settings, choice } = comparison.adopt(planned, &arguments)?;
    comparison.check_rounds(settings.rounds)?;
    threshold::check(&arguments.measurement.threshold, &ready.plan)?;
    let invocation = Invocation::now();
    let folder = invocation.folder(arguments.measurement.out.as_deref(), &ready.plan.name);
    let _locked = results::create_folder(&folder)?;
    let point = PointSetup::new(ready, chosen, settings, folder);
    on_server(&arguments, &comparison, point, choice, invocation)
}

fn resume_study(arguments: RunArguments, folder: PathBuf) -> Result<Exit, CliError> {
    let (kind, _lock) = resume::open(&folder, "run")?;
    if kind == StudyKind::Claims {
        return claims::resume(&arguments, &folder);
    }
    let record = results::load(&folder)?;
    if record.status == Status::Complete {
        return complete(&folder, &arguments);
    }
    if record.turns_with.is_some() {
        let shown = folder.display();
        return Err(CliError::usage(format!(
            "the run in {shown} took turns with one on another server, and cannot be resumed alone: measure both again with --ab"
        )));
    }
    let choice = resume::server(&arguments.study.server, &record)?;
    let point = PointSetup::resumed(record, folder)?;
    let comparison = BaselineComparison::of(&arguments.saved_run, &point.ready.plan.name)?;
    comparison.check_rounds(point.settings.rounds)?;
    on_server(&arguments, &comparison, point, choice, Invocation::now())
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
    resume::complete(StudyKind::Run, folder);
    let record = results::load(folder)?;
    if REPORT_FILES.iter().any(|name| !folder.join(name).is_file()) {
        let report = report_of(&record, folder).in_folder(&shown.to_string()).with_files();
        write_reports(&record, &report, folder)?;
        output::message(&format!("report files were missing and are written again: {}\n", REPORT_FILES.join(", ")));
    }
    if arguments.open {
        open(&folder.join(HTML_FILE));
    }
    Ok(exit_of(&record))
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

/// Measures a run, which is compared with another one and saved as `comparison` says.
fn on_server(
    arguments: &RunArguments,
    comparison: &BaselineComparison,
    point: PointSetup,
    choice: ServerChoice,
    invocation: Invocation,
) -> Result<Exit, CliError> {
    if arguments.keep && matches!(choice, ServerChoice::Embedded(_)) {
        return Err(CliError::usage(
            "--keep requires --uri, because the embedded server of a run is removed with its databases; start one that \
             stays with `docshape server start`",
        ));
    }
    let (folder, progress) = (point.folder.clone(), Progress::start());
    let job = ServerJob::new(vec![point], invocation, &arguments.study);
    let job = ServerJob { announce: Box::new(|what| progress.prepare(what)), ..job };
    job.run(choice, ("rounds", &folder), async |points: Vec<PointSetup>, measured: JobServers<'_>| {
        let Some(begun) = measured.begin_all(points)?.pop() else { return Ok(Exit::Success) };
        comparison.check(&begun.record)?;
        let observer = (&progress, &begun.log);
        let point = measured.point(&begun, &observer, arguments.keep);
        let mut rounds =
            Rounds { points: vec![point], at: 0, interleaving: Interleaving::InStep, save_together: &|_| Ok(()) };
        let result = carry_out(&mut rounds, measured.servers.ended(), &output::line).await;
        progress.end();
        let (Some(point), setup) = (rounds.points.first_mut(), &begun.setup) else { return Ok(Exit::Success) };
        let (exit, report) = conclude(point, result, &setup.folder, arguments.junit.as_deref())?;
        let record = &point.record;
        let is_plain = setup.resumed.is_none() && arguments.like.is_none() && !arguments.full;
        let is_smoke = record.settings.preset == Preset::Smoke && is_plain;
        output::print(&if is_smoke {
            smoke_result(record, &report)
        } else {
            terminal_of_run(&report, arguments.full)
        })?;
        if arguments.open {
            open(&setup.folder.join(HTML_FILE));
        }
        let next = after_run(arguments, record, &report, &setup.folder);
        comparison.conclude(&setup.folder, exit, next)
    })
}
