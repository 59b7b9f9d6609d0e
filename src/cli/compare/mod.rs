//! `docshape compare`, and the baselines of `docshape run`.

mod argument;
mod beside;
mod likeness;

use std::path::{Path, PathBuf};

use crate::report::{BetweenReport, Side};
use crate::results::{self, RunRecord, baseline};
use crate::stats::{Runs, between};

pub use argument::{BaselineArguments, CompareArguments, CompareFormat};
pub use beside::Beside;

use super::exit::{CliError, Exit};
use super::output;

/// The folder below which the results of all scenarios are, unless the user names others.
const RESULTS: &str = "results";

/// A run and what the user calls it.
struct Named {
    name: String,
    record: RunRecord,
}

/// Compares two runs, and keeps the later one as a baseline when asked to.
///
/// # Errors
/// When a run cannot be read, or the two cannot be compared.
pub fn compare(arguments: &CompareArguments) -> Result<Exit, CliError> {
    let first = read(&arguments.first)?;
    let (before, after) = match (&arguments.baseline, &arguments.second) {
        (Some(name), _) => (Some(kept(&first.record.scenario.name, name)?), first),
        (None, Some(second)) => (Some(first), read(second)?),
        (None, None) => (None, first),
    };
    if before.is_none() && arguments.tells_how() {
        return Err(CliError::usage(
            "there is nothing to compare, so --strategies, --tolerance and --format say nothing: name a second run or a \
             --baseline",
        ));
    }
    check_usable(&after)?;
    let mut exit = Exit::Fine;
    if let Some(before) = &before {
        check_usable(before)?;
        check_alike(before, &after)?;
        let pair = Pair { before, after: &after, tolerance: arguments.tolerance(), strategies: &arguments.strategies };
        exit = pair.tell(arguments.format)?;
    }
    if let Some(name) = &arguments.save_baseline {
        keep(&after.record, name, exit)?;
    }
    Ok(exit)
}

fn read(path: &Path) -> Result<Named, CliError> {
    let record = results::load(path).map_err(|error| CliError::usage(error.to_string()))?;
    Ok(Named { name: path.display().to_string(), record })
}

/// The folder of a scenario's baselines. A record may have been edited, and its scenario's name be a path.
fn folder(scenario: &str) -> Result<PathBuf, CliError> {
    match baseline::is_name(scenario) {
        true => Ok(baseline::folder(Path::new(RESULTS), scenario)),
        false => {
            Err(CliError::usage(format!("a scenario named {scenario:?} has no baselines: rename it, and run anew")))
        }
    }
}

/// A baseline of a scenario.
fn kept(scenario: &str, name: &str) -> Result<Named, CliError> {
    let folder = folder(scenario)?;
    if !baseline::file(&folder, name).is_file() {
        let (names, place) = (baseline::names(&folder), folder.display());
        let known = match names.is_empty() {
            true => "there is none yet".to_owned(),
            false => format!("there are {}", names.join(", ")),
        };
        return Err(CliError::usage(format!(
            "there is no baseline {name} of {scenario} in {place}; {known}; keep a run with `docshape compare RUN \
             --save-baseline {name}`"
        )));
    }
    let record = baseline::open(&folder, name).map_err(|error| CliError::usage(error.to_string()))?;
    Ok(Named { name: format!("baseline {name}"), record })
}

/// Keeps a run as a baseline unless it is a regression, and says what was done.
fn keep(record: &RunRecord, name: &str, exit: Exit) -> Result<(), CliError> {
    if exit != Exit::Fine {
        output::tell(&format!("baseline {name} was not saved: this run is a regression\n"));
        return Ok(());
    }
    let folder = folder(&record.scenario.name)?;
    let had = baseline::keep(record, &folder, name).map_err(|error| CliError::usage(error.to_string()))?;
    let place = baseline::file(&folder, name);
    let instead = if had { ", in the place of the one before" } else { "" };
    output::tell(&format!("baseline {name} was saved in {}{instead}\n", place.display()));
    Ok(())
}

fn check_usable(run: &Named) -> Result<(), CliError> {
    likeness::unusable(&run.record)
        .map_or(Ok(()), |reason| Err(CliError::usage(format!("{} cannot be compared: {reason}", run.name))))
}

fn check_alike(before: &Named, after: &Named) -> Result<(), CliError> {
    let found = likeness::differences(&before.record, &after.record);
    match found.is_empty() {
        true => Ok(()),
        false => {
            Err(CliError::usage(format!("{} and {} cannot be compared: {}", before.name, after.name, found.join("; "))))
        }
    }
}

/// Two runs that can be compared.
struct Pair<'p> {
    before: &'p Named,
    after: &'p Named,
    tolerance: f64,
    /// Only these; all when empty.
    strategies: &'p [String],
}

impl Pair<'_> {
    /// Prints what they say of each other.
    fn tell(&self, format: CompareFormat) -> Result<Exit, CliError> {
        let (before, after) = (&self.before.record, &self.after.record);
        let strategies = self.chosen(likeness::common(before, after))?;
        let runs = Runs { before, after, strategies: &strategies, tolerance: self.tolerance };
        let found = between(runs);
        if found.judged().next().is_none() {
            return Err(CliError::usage(format!(
                "{} and {} cannot be compared: the strategies that they have in common are unsafe, or no operation was \
                 called in both; name others with --strategies when measuring",
                self.before.name, self.after.name
            )));
        }
        let changed = likeness::changed(before, after);
        let sides = [self.before, self.after].map(|run| Side { name: run.name.clone(), record: &run.record });
        let report = BetweenReport::new(&found, sides, self.tolerance, &changed);
        let mut text = String::new();
        // Writing to a `String` never fails.
        let _ = match format {
            CompareFormat::Terminal => report.terminal(output::width(), true, &mut text),
            CompareFormat::Markdown => report.markdown(&mut text),
        };
        output::print(&text)?;
        Ok(if found.has_regression() { Exit::CheckFailed } else { Exit::Fine })
    }

    /// The common strategies that are wanted.
    fn chosen(&self, common: Vec<(usize, usize)>) -> Result<Vec<(usize, usize)>, CliError> {
        let name = |place: &(usize, usize)| self.before.record.strategies[place.0].name.as_str();
        let unknown = self.strategies.iter().find(|wanted| !common.iter().any(|place| name(place) == *wanted));
        if let Some(unknown) = unknown {
            let known: Vec<&str> = common.iter().map(name).collect();
            let known = known.join(", ");
            return Err(CliError::usage(format!(
                "--strategies {unknown}: no strategy of that name is in both runs; there are {known}"
            )));
        }
        let is_wanted =
            |place: &(usize, usize)| self.strategies.is_empty() || self.strategies.iter().any(|w| w == name(place));
        Ok(common.into_iter().filter(is_wanted).collect())
    }
}
