//! `docshape sweep`: the same run under several conditions, and where the order of the strategies flips.
//!
//! Every point is a run of its own with a folder of its own. All points use the same servers, and their rounds are interleaved:
//! round by round, each point in turn. What the machine does meanwhile meets all of them.

pub mod argument;
mod condition;
mod measure;
mod points;
mod refine;

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use crate::cli::argument::SubjectArguments;
use crate::cli::data_size::loaded_bytes;
use crate::cli::next::NextCommand;
use crate::cli::run::{Invocation, JobServers, PointSetup, ServerJob, resume};
use crate::cli::scenario::definitions;
use crate::cli::server::ServerChoice;
use crate::cli::{CliError, Exit, catalogue};
use crate::report::{Report, bytes};
use crate::results::{self, RunRecord, RunSettings};
use crate::scenario::{Condition, ConditionDefinition, Source, nearest};

use super::record::{PointRecord, RefineRecord, SWEEP_FORMAT, SweepRecord, condition_number};
pub use argument::SweepArguments;
use measure::conclude;
use points::{PointBase, grid, point_record, with_cache};

/// The longest sweep, in seconds.
const LONGEST: f64 = 86_400.0;

/// The smallest cache with which a server can work, in bytes.
const SMALLEST_CACHE: f64 = 64e6;

/// The report of the sweep in a folder, and what to do next.
///
/// # Errors
/// When it, or the run of a point, cannot be read.
pub fn report(path: &Path) -> Result<(Report, NextCommand), CliError> {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let record = results::load_as::<SweepRecord>(folder)?;
    let runs = runs_of_points(&record, folder)?;
    Ok((Report::of_sweep(&record, &runs), measure::next(&record, &runs)))
}

/// Whether a sweep's folder has the runs of its points: those published before 2026-11-28 have none.
///
/// # Errors
/// When the sweep cannot be read.
pub fn has_points(folder: &Path) -> Result<bool, CliError> {
    let record = results::load_as::<SweepRecord>(folder)?;
    Ok(record.points.iter().all(|point| results::is_run_folder(&folder.join(&point.folder))))
}

/// The runs of the points of a sweep.
fn runs_of_points(record: &SweepRecord, folder: &Path) -> Result<Vec<RunRecord>, CliError> {
    let runs = record.points.iter().map(|point| results::load_part::<SweepRecord>(folder, &point.folder));
    Ok(runs.collect::<Result<_, _>>()?)
}

/// Measures a sweep, writes a folder with a run for each point, prints where the order of the strategies flips.
///
/// # Errors
/// When the scenario, a condition or the server cannot be used, or the sweep ends early.
pub fn sweep(arguments: &SweepArguments) -> Result<Exit, CliError> {
    if let Some(folder) = &arguments.resume {
        return resume(arguments, folder);
    }
    let (mut study, mut measurement) = (arguments.study.clone(), arguments.measurement()?);
    let (vary, question) = conditions(arguments, &mut study.subject)?;
    let vary = &vary;
    if measurement.only.is_empty() {
        let is_open = measurement.rate.is_some() || measurement.arrivals.is_some();
        measurement.only = condition::parts(vary, is_open);
    }
    measurement.check_parts()?;
    if vary.len() > 2 {
        return Err(CliError::usage(format!(
            "--vary is given {} times, and a sweep has one or two conditions",
            vary.len()
        )));
    }
    check_refined(arguments, vary)?;
    let (values, settings) = (grid(vary), measurement.settings(&study).without_curve());
    let source = catalogue::open(study.scenario())?;
    // Points are a series, which shows noise by itself: the baseline has no repeat.
    let base = PointBase { source, choice: study.subject.choice(settings.seed, false), settings };
    let points = values.iter().enumerate().map(|(place, values)| base.point(vary, values, place + 1));
    let mut points = points.collect::<Result<Vec<_>, _>>()?;
    let (Some(first), choice) = (points.first(), study.server.choice()?) else {
        return Err(CliError::usage("the sweep has no points"));
    };
    let judged = first.ready.plan.arms.iter().filter(|arm| !arm.is_unsafe).count();
    if judged < 2 {
        return Err(CliError::usage(
            "a sweep compares strategies, and fewer than two of those chosen are safe with this mix: name others with --strategies",
        ));
    }
    check_length(&points)?;
    let invocation = Invocation::now();
    let folder = invocation.folder(measurement.out.as_deref(), &format!("{}/sweeps", first.ready.plan.name));
    let record = SweepRecord {
        format: SWEEP_FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        scenario: first.ready.plan.name.clone(),
        title: first.ready.plan.title.clone(),
        question,
        started: invocation.started_text(),
        vary: vary.iter().map(Into::into).collect(),
        points: values.iter().zip(&points).map(|(values, point)| point_record(values, &point.folder)).collect(),
        refine: arguments.refine.map(|values| RefineRecord { values, settings: base.settings.clone() }),
        ..SweepRecord::default()
    };
    check_caches(&points, &record, &choice)?;
    let _locked = results::create_folder(&folder)?;
    points.iter_mut().for_each(|point| point.folder = folder.join(&point.folder));
    Sweep { base, record, folder }.on_server(ServerJob::new(points, invocation, &study), choice)
}

/// Continues the sweep in a folder, or prints its report when it is complete.
///
/// # Errors
/// When there is no sweep, or this build or server cannot continue it.
fn resume(arguments: &SweepArguments, folder: &Path) -> Result<Exit, CliError> {
    let (kind, _lock) = resume::open(folder, "sweep")?;
    let mut record = results::load_as::<SweepRecord>(folder)?;
    let runs = runs_of_points(&record, folder)?;
    if record.complete {
        resume::complete(kind, folder);
        conclude(&mut record, &runs, folder)?;
        return Ok(Exit::Success);
    }
    let vary = record.vary.iter().map(|condition| Condition::new(&condition.name, condition.values.clone()));
    let vary = vary.collect::<Result<Vec<_>, _>>().map_err(CliError::usage)?;
    let Some(first) = runs.first().cloned() else { return Err(CliError::usage("the sweep has no points")) };
    let mut points = Vec::new();
    for (point, run) in record.points.iter().zip(runs) {
        points.push(with_cache(PointSetup::resumed(run, folder.join(&point.folder))?, &vary, &point.values));
    }
    let choice = resume::server(&arguments.study.server, &first)?;
    check_caches(&points, &record, &choice)?;
    let settings = record.refine.as_ref().map_or(&first.settings, |refine| &refine.settings).clone();
    let source = Source::new(first.scenario.opened(), first.scenario.text.as_str());
    let base = PointBase { source, choice: resume::choice(&first), settings };
    let job = ServerJob::new(points, Invocation::now(), &arguments.study);
    Sweep { base, record, folder: folder.to_owned() }.on_server(job, choice)
}

/// The conditions on the command line, else those of a sweep of the scenario, which also has a question and gives the run what
/// the command line does not say.
fn conditions(
    arguments: &SweepArguments,
    subject: &mut SubjectArguments,
) -> Result<(Vec<Condition>, Option<String>), CliError> {
    if !arguments.vary.is_empty() {
        return Ok((arguments.vary.clone(), None));
    }
    let sweeps = definitions(arguments.study.scenario(), subject, arguments.measurement.seed)?.sweeps;
    let known: Vec<&str> = sweeps.iter().map(|sweep| sweep.name.value.as_str()).collect();
    let sweep = match &arguments.sweep {
        Some(name) => sweeps
            .iter()
            .find(|sweep| sweep.name.value == *name)
            .ok_or_else(|| CliError::usage(format!("the scenario has no sweep `{name}`: {}", nearest(name, &known))))?,
        None => sweeps.first().ok_or_else(|| {
            CliError::usage("the scenario defines no sweep: name what to vary, such as --vary posts=100,1000,10000")
        })?,
    };
    *subject = subject.clone().over(SubjectArguments::defined(&sweep.run));
    let vary = sweep.vary.iter().map(ConditionDefinition::condition).collect::<Result<Vec<_>, _>>();
    Ok((vary.map_err(CliError::usage)?, Some(sweep.question.clone())))
}

/// Rejects `--refine` where there is nothing between two values.
fn check_refined(arguments: &SweepArguments, vary: &[Condition]) -> Result<(), CliError> {
    let is_number = |condition: &Condition| condition.values.iter().all(|value| condition_number(value).is_some());
    if arguments.refine.is_none() || (vary.len() == 1 && vary.iter().all(is_number)) {
        return Ok(());
    }
    Err(CliError::usage("--refine adds values between numbers: give one --vary whose values are numbers"))
}

/// Rejects a sweep that would take longer than a day, whatever the server does.
fn check_length(points: &[PointSetup]) -> Result<(), CliError> {
    let seconds = |point: &PointSetup| {
        let RunSettings { rounds, parts, preset, duration, .. } = &point.settings;
        let window = duration.unwrap_or(preset.length().seconds);
        *rounds as f64 * parts.len() as f64 * window * point.ready.plan.arms.len() as f64
    };
    let total: f64 = points.iter().map(seconds).sum();
    if total <= LONGEST {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "the sweep would measure for {:.1} days: {} points of about {:.0} minutes; leave out values or strategies, or use fewer \
         --rounds, a shorter --duration, or --only own",
        total / LONGEST,
        points.len(),
        total / points.len() as f64 / 60.0
    )))
}

/// Rejects caches that docshape cannot set, or that no server can work with.
fn check_caches(points: &[PointSetup], record: &SweepRecord, choice: &ServerChoice) -> Result<(), CliError> {
    for (point, PointRecord { values, .. }) in points.iter().zip(&record.points) {
        let Some(cache) = point.cache else { continue };
        if matches!(choice, ServerChoice::Uri { .. }) {
            return Err(CliError::usage("--vary cache needs embedded servers: omit --uri and MONGODB_URI"));
        }
        if cache < SMALLEST_CACHE {
            let pairs = record.vary.iter().zip(values);
            let pairs = pairs.map(|(condition, value)| format!("--vary {}={value}", condition.name));
            return Err(CliError::usage(format!(
                "at {}, {} loads about {}, so that the cache would have {}, and a server needs {}; load more data with --set",
                pairs.collect::<Vec<_>>().join(" "),
                point.ready.plan.arms[0].name,
                bytes(loaded_bytes(&point.ready.plan)),
                bytes(cache),
                bytes(SMALLEST_CACHE)
            )));
        }
    }
    Ok(())
}

/// The order of two values of a condition with numbers.
fn by_number(one: &str, other: &str) -> Ordering {
    condition_number(one).partial_cmp(&condition_number(other)).unwrap_or(Ordering::Equal)
}

/// A sweep that is ready to be measured.
struct Sweep {
    base: PointBase,
    record: SweepRecord,
    folder: PathBuf,
}

impl Sweep {
    /// Adds a point for each of some values of the only condition.
    fn add(&mut self, values: &[String]) -> Result<Vec<PointSetup>, CliError> {
        let [varied] = self.record.vary.as_mut_slice() else { return Ok(Vec::new()) };
        varied.values.extend(values.iter().cloned());
        varied.values.sort_by(|one, other| by_number(one, other));
        let vary = [Condition::new(&varied.name, varied.values.clone()).map_err(CliError::usage)?];
        let mut points = Vec::new();
        for value in values {
            let values = std::slice::from_ref(value);
            let point = self.base.point(&vary, values, self.record.points.len() + 1)?;
            self.record.points.push(point_record(values, &point.folder));
            points.push(PointSetup { folder: self.folder.join(&point.folder), ..point });
        }
        self.record.points.sort_by(|one, other| by_number(&one.values[0], &other.values[0]));
        Ok(points)
    }

    fn on_server(self, job: ServerJob<'_>, choice: ServerChoice) -> Result<Exit, CliError> {
        let folder = self.folder.clone();
        let measure =
            async |points: Vec<PointSetup>, servers: JobServers<'_>| measure::measure(self, points, &servers).await;
        job.run(choice, ("rounds", &folder), measure)
    }
}
