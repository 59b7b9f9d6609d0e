//! `docshape compare`, and the saved runs of `docshape run`.

mod argument;
mod baseline_comparison;
mod comparability;

use std::path::{Path, PathBuf};

use crate::report::{Json, Markdown, NamedRun, Report};
use crate::results::{self, RunRecord, saved_run};
use crate::stats::{RunPair, SharedStrategy, compare_runs};

pub use argument::{CompareArguments, CompareFormat, SavedRunArguments};
pub use baseline_comparison::BaselineComparison;

use super::exit::{CliError, Exit};
use super::output;
use super::report::{terminal, written};

/// The default folder of all results.
const RESULTS: &str = "results";

/// Compares two runs, and saves the later one when asked to.
///
/// # Errors
/// When a run cannot be read, or the two cannot be compared.
pub fn compare(arguments: &CompareArguments) -> Result<Exit, CliError> {
    let first = read(&arguments.first)?;
    let (before, after) = match (&arguments.compare_with, &arguments.second) {
        (Some(name), _) => (Some(load_saved(&first.record.scenario.name, name)?), first),
        (None, Some(second)) => (Some(first), read(second)?),
        (None, None) => (None, first),
    };
    if before.is_none() && arguments.has_comparison_options() {
        return Err(CliError::usage(
            "--strategies, --tolerance and --format need two runs: name a second run, or use --compare-with",
        ));
    }
    check_usable(&after)?;
    let mut exit = Exit::Success;
    if let Some(before) = &before {
        check_usable(before)?;
        check_comparable(before, &after)?;
        let runs = RunsToCompare {
            before,
            after: &after,
            tolerance: arguments.tolerance(),
            strategies: &arguments.strategies,
        };
        exit = runs.print(arguments.format)?;
    }
    if let Some(name) = &arguments.save_run {
        save(&after.record, name, exit)?;
    }
    Ok(exit)
}

fn read(path: &Path) -> Result<NamedRun, CliError> {
    let record = results::load(path)?;
    Ok(NamedRun { name: path.display().to_string(), record })
}

/// The folder of a scenario's saved runs. The scenario's name of an edited record may be a path.
fn folder(scenario: &str) -> Result<PathBuf, CliError> {
    if saved_run::is_name(scenario) {
        Ok(saved_run::folder(Path::new(RESULTS), scenario))
    } else {
        Err(CliError::usage(format!(
            "runs of a scenario named {scenario:?} cannot be saved: rename the scenario, then run again"
        )))
    }
}

/// Loads a saved run of a scenario.
fn load_saved(scenario: &str, name: &str) -> Result<NamedRun, CliError> {
    let folder = folder(scenario)?;
    if !saved_run::file(&folder, name).is_file() {
        let (names, place) = (saved_run::names(&folder), folder.display());
        let known =
            if names.is_empty() { "none is saved yet".to_owned() } else { format!("saved are {}", names.join(", ")) };
        return Err(CliError::usage(format!(
            "no saved run `{name}` of {scenario} in {place}; {known}; try `docshape compare RUN --save-run {name}`"
        )));
    }
    let record = saved_run::open(&folder, name)?;
    Ok(NamedRun { name: format!("saved run {name}"), record })
}

/// Saves a run unless it is a regression, and prints what was done.
fn save(record: &RunRecord, name: &str, exit: Exit) -> Result<(), CliError> {
    if exit != Exit::Success {
        output::message(&format!("not saved as `{name}`: this run is a regression\n"));
        return Ok(());
    }
    let folder = folder(&record.scenario.name)?;
    let replaced = saved_run::keep(record, &folder, name)?;
    let place = saved_run::file(&folder, name);
    let replaced = if replaced { ", replacing the previous one" } else { "" };
    output::message(&format!("saved as `{name}` in {}{replaced}\n", place.display()));
    Ok(())
}

fn check_usable(run: &NamedRun) -> Result<(), CliError> {
    comparability::unusable(&run.record)
        .map_or(Ok(()), |reason| Err(CliError::usage(format!("{} cannot be compared: {reason}", run.name))))
}

fn check_comparable(before: &NamedRun, after: &NamedRun) -> Result<(), CliError> {
    let found = comparability::differences(&before.record, &after.record);
    if found.is_empty() {
        Ok(())
    } else {
        Err(CliError::usage(format!("{} and {} cannot be compared: {}", before.name, after.name, found.join("; "))))
    }
}

/// Two runs that can be compared.
struct RunsToCompare<'p> {
    before: &'p NamedRun,
    after: &'p NamedRun,
    tolerance: f64,
    /// Only these; all when empty.
    strategies: &'p [String],
}

impl RunsToCompare<'_> {
    /// Prints the comparison.
    fn print(&self, format: CompareFormat) -> Result<Exit, CliError> {
        let (before, after) = (&self.before.record, &self.after.record);
        let strategies = self.chosen(comparability::common(before, after))?;
        let runs = RunPair { before, after, strategies: &strategies, tolerance: self.tolerance };
        let found = compare_runs(runs).filter(|found| found.judged().next().is_some()).ok_or_else(|| {
            CliError::usage(format!(
                "{} and {} cannot be compared: the common strategies are unsafe, or no operation was called in both; \
                 measure others with --strategies",
                self.before.name, self.after.name
            ))
        })?;
        let changed = comparability::changed(before, after);
        let report = Report::of_comparison(&found, [self.before, self.after], self.tolerance, &changed);
        output::print(&match format {
            CompareFormat::Terminal => terminal(&report),
            CompareFormat::Markdown => written(&Markdown, &report),
            CompareFormat::Json => written(&Json, &report),
        })?;
        Ok(if found.has_regression() { Exit::CheckFailed } else { Exit::Success })
    }

    /// The common strategies that were chosen.
    fn chosen(&self, common: Vec<SharedStrategy>) -> Result<Vec<SharedStrategy>, CliError> {
        let name = |place: &SharedStrategy| self.before.record.strategies[place.before].name.as_str();
        let unknown = self.strategies.iter().find(|wanted| !common.iter().any(|place| name(place) == *wanted));
        if let Some(unknown) = unknown {
            let known: Vec<&str> = common.iter().map(name).collect();
            let known = known.join(", ");
            return Err(CliError::usage(format!("unknown strategy `{unknown}`; both runs have {known}")));
        }
        let is_chosen =
            |place: &SharedStrategy| self.strategies.is_empty() || self.strategies.iter().any(|w| w == name(place));
        Ok(common.into_iter().filter(is_chosen).collect())
    }
}
