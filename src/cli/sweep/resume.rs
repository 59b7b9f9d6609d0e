//! `docshape sweep --resume`: a sweep continues after the last complete round of every point.

use std::path::Path;

use crate::cli::exit::{CliError, Exit};
use crate::cli::output;
use crate::cli::report::runs_of_points;
use crate::cli::run::{Invocation, resume};
use crate::cli::scenario::prepare_source;
use crate::results::{self, FolderLock, RunRecord, SWEEP_FILE, Status, SweepRecord};
use crate::scenario::Source;

use super::argument::SweepArguments;
use super::condition::{Condition, ConditionSubject, cache_ratio};
use super::measure::conclude;
use super::points::Point;
use super::{Sweep, check_caches};

/// Continues the sweep in a folder, or prints its report when it is complete.
///
/// # Errors
/// When there is no sweep, or this build or server cannot continue it.
pub fn resume(arguments: &SweepArguments, folder: &Path) -> Result<Exit, CliError> {
    if !folder.join(SWEEP_FILE).is_file() {
        return Err(CliError::usage(format!(
            "--resume {}: there is no {SWEEP_FILE}; name the folder of a sweep",
            folder.display()
        )));
    }
    let _lock = FolderLock::take(folder)?;
    let mut record = results::load_as::<SweepRecord>(folder)?;
    let runs = runs_of_points(&record, folder)?;
    if record.complete {
        output::message(&format!("the sweep in {} is complete: nothing to resume\n", folder.display()));
        conclude(&mut record, &runs, folder)?;
        return Ok(Exit::Success);
    }
    let vary = record.vary.iter().map(|condition| Condition::new(&condition.name, condition.values.clone()));
    let vary = vary.collect::<Result<Vec<_>, _>>().map_err(CliError::usage)?;
    let points = record.points.iter().zip(&runs);
    let points = points.map(|(point, run)| resumed_point(&vary, point.values.clone(), point.folder.clone(), run));
    let points = points.collect::<Result<Vec<_>, _>>()?;
    let Some(first) = runs.first() else { return Err(CliError::usage("the sweep has no points")) };
    let choice = resume::server(&arguments.server, first)?;
    check_caches(&points, &choice)?;
    let settings = first.settings.clone();
    let run = arguments.run()?;
    let (folder, invocation) = (folder.to_owned(), Invocation::now());
    let sweep = Sweep { run, settings, points, record, refine: 0, folder, invocation };
    sweep.on_server(choice)
}

fn resumed_point(vary: &[Condition], values: Vec<String>, folder: String, run: &RunRecord) -> Result<Point, CliError> {
    resume::check_version(&folder, run)?;
    let choice = resume::choice(run);
    let source = Source::new(run.scenario.name.as_str(), run.scenario.text.as_str());
    let ready = prepare_source(source, &choice)?;
    let of_cache = vary.iter().zip(&values).find(|(condition, _)| condition.subject == ConditionSubject::Cache);
    let cache = of_cache.and_then(|(_, value)| cache_ratio(value).ok());
    let resumed = Some(RunRecord { status: Status::Unfinished, ..run.clone() });
    Ok(Point { values, folder, ready, choice, settings: run.settings.clone(), cache, resumed })
}
