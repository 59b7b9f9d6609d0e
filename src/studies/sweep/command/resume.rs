//! `docshape sweep --resume`: a sweep continues after the last complete round of every point.

use std::path::Path;

use crate::cli::exit::{CliError, Exit};
use crate::cli::run::job::PointSetup;
use crate::cli::run::{Invocation, resume};
use crate::results::{self, StudyKind};
use crate::scenario::{Condition, Source};
use crate::studies::sweep::record::SweepRecord;

use super::argument::SweepArguments;
use super::measure::conclude;
use super::points::{PointBase, with_cache};
use super::runs_of_points;
use super::{Sweep, check_caches};

/// Continues the sweep in a folder, or prints its report when it is complete.
///
/// # Errors
/// When there is no sweep, or this build or server cannot continue it.
pub fn resume(arguments: &SweepArguments, folder: &Path) -> Result<Exit, CliError> {
    let (_, _lock) = resume::open(folder, "sweep")?;
    let mut record = results::load_as::<SweepRecord>(folder)?;
    let runs = runs_of_points(&record, folder)?;
    if record.complete {
        resume::complete(StudyKind::Sweep, folder);
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
    let choice = resume::server(&arguments.server, &first)?;
    check_caches(&points, &record, &choice)?;
    let settings = record.refine.as_ref().map_or(&first.settings, |refine| &refine.settings).clone();
    let source = Source::new(first.scenario.name.as_str(), first.scenario.text.as_str());
    let base = PointBase { source, choice: resume::choice(&first), settings };
    let (folder, invocation) = (folder.to_owned(), Invocation::now());
    Sweep { arguments, base, record, folder, invocation }.on_server(points, choice)
}
