//! `docshape compare`, and the saved runs of `docshape run`.

mod argument;
mod baseline_comparison;
mod comparability;

use std::path::{Path, PathBuf};

use crate::report::comparison::ComparedRuns;
use crate::report::{Html, Json, Markdown, NamedRun, Report};
use crate::results::{self, RunRecord, saved_run};
use crate::stats::run_comparison::{ComparedUnit, RunSides, compare_runs};

pub use argument::{CompareArguments, CompareFormat, SavedRunArguments};
pub use baseline_comparison::BaselineComparison;

use super::exit::{CliError, Exit};
use super::output;
use super::report::{terminal, written};

/// The default folder of all results.
const RESULTS: &str = "results";

/// Compares runs, and saves the last of the later ones when asked to.
///
/// # Errors
/// When a run cannot be read, or the runs cannot be compared.
pub fn compare(arguments: &CompareArguments) -> Result<Exit, CliError> {
    let (before, after) = sides(arguments)?;
    if before.is_empty() && arguments.has_comparison_options() {
        return Err(CliError::usage(
            "--strategies, --tolerance and --format need two runs: name a second run, or use --compare-with",
        ));
    }
    let mut exit = Exit::Success;
    if before.is_empty() {
        after.iter().try_for_each(check_usable)?;
    } else {
        let strategies = &arguments.strategies;
        exit = RunsToCompare::new(&before, &after, arguments.tolerance(), strategies)?.print(arguments.format)?;
    }
    if let (Some(name), Some(last)) = (&arguments.save_run, after.last()) {
        save(&last.record, name, exit)?;
    }
    Ok(exit)
}

/// Compares two runs that took turns, and prints how they differ.
///
/// # Errors
/// When the two cannot be compared.
pub fn compare_in_turns(a: &NamedRun, b: &NamedRun) -> Result<Exit, CliError> {
    let (before, after) = (std::slice::from_ref(a), std::slice::from_ref(b));
    RunsToCompare::new(before, after, argument::TOLERANCE, &[])?.print(CompareFormat::Terminal)
}

/// The earlier runs, none without a comparison, and the later ones.
fn sides(arguments: &CompareArguments) -> Result<(Vec<NamedRun>, Vec<NamedRun>), CliError> {
    let mut runs = arguments.runs.iter().map(|path| read(path)).collect::<Result<Vec<NamedRun>, CliError>>()?;
    let later = arguments.later.iter().map(|path| read(path)).collect::<Result<Vec<NamedRun>, CliError>>()?;
    if let (Some(name), Some(first)) = (&arguments.compare_with, runs.first()) {
        return Ok((vec![load_saved(&first.record.scenario.name, name)?], runs));
    }
    match (runs.len(), later.len()) {
        (1, 0) if arguments.save_run.is_some() => Ok((Vec::new(), runs)),
        (1, 0) => Err(CliError::usage("name run B after run A, or use --compare-with or --save-run")),
        (2, 0) => {
            let after = runs.split_off(1);
            Ok((runs, after))
        }
        (_, 0) => Err(CliError::usage("several runs of a side need `--` between the sides: compare A1 A2 -- B1 B2")),
        _ => Ok((runs, later)),
    }
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

/// Rejects a side that has a run twice: it would seem to be certain.
fn check_distinct(side: &[NamedRun]) -> Result<(), CliError> {
    let is_known = |place: usize| {
        let run = &side[place];
        side[..place].iter().find(|other| other.record.id == run.record.id).map(|other| (run, other))
    };
    (0..side.len()).find_map(is_known).map_or(Ok(()), |(run, other)| {
        Err(CliError::usage(format!("{} is the same run as {}: name each run once", run.name, other.name)))
    })
}

fn check_comparable(before: &NamedRun, after: &NamedRun) -> Result<(), CliError> {
    let found = comparability::differences(&before.record, &after.record);
    if found.is_empty() {
        Ok(())
    } else {
        Err(CliError::usage(format!("{} and {} cannot be compared: {}", before.name, after.name, found.join("; "))))
    }
}

/// Runs that can be compared, at least one on each side.
struct RunsToCompare<'p> {
    before: &'p [NamedRun],
    after: &'p [NamedRun],
    tolerance: f64,
    /// The common strategies to compare.
    strategies: Vec<String>,
    /// Those whose definition changed.
    changed: Vec<String>,
}

impl<'p> RunsToCompare<'p> {
    /// Checks that they measured the same thing; compares only the `wanted` strategies, all if there are none.
    fn new(
        before: &'p [NamedRun],
        after: &'p [NamedRun],
        tolerance: f64,
        wanted: &[String],
    ) -> Result<RunsToCompare<'p>, CliError> {
        [before, after].into_iter().try_for_each(check_distinct)?;
        let mut all = before.iter().chain(after);
        all.clone().try_for_each(check_usable)?;
        let Some(first) = all.next() else { return Err(CliError::usage("name runs to compare")) };
        all.clone().try_for_each(|other| check_comparable(first, other))?;
        let mut changed: Vec<String> =
            all.clone().flat_map(|other| comparability::changed(&first.record, &other.record)).collect();
        changed.sort();
        changed.dedup();
        let common = comparability::common(before.iter().chain(after).map(|run| &run.record));
        let strategies = chosen(common, wanted)?;
        Ok(RunsToCompare { before, after, tolerance, strategies, changed })
    }

    /// Prints the comparison.
    fn print(&self, format: CompareFormat) -> Result<Exit, CliError> {
        let records = |runs: &'p [NamedRun]| runs.iter().map(|run| &run.record).collect::<Vec<_>>();
        let (before, after) = (records(self.before), records(self.after));
        let RunsToCompare { strategies, tolerance, changed, .. } = self;
        let reference = reference(before.iter().chain(&after).copied(), strategies, changed);
        let runs = RunSides { before: &before, after: &after, strategies, reference, tolerance: *tolerance };
        if reference.is_none() && runs.unit() == ComparedUnit::Rounds {
            return Err(one_strategy(&self.before[0], &self.after[0]));
        }
        let found = compare_runs(runs).filter(|found| found.judged().next().is_some()).ok_or_else(|| {
            CliError::usage(format!(
                "{} and {} cannot be compared: the common strategies are unsafe, a cache that they shared distorts their times, or \
                 no operation was called in both; measure others with --strategies, or with --isolate",
                self.before[0].name, self.after[0].name
            ))
        })?;
        let compared = ComparedRuns { before: self.before, after: self.after, tolerance: *tolerance, changed };
        let report = Report::of_comparison(&found, compared);
        output::print(&match format {
            CompareFormat::Terminal => terminal(&report),
            CompareFormat::Markdown => written(&Markdown, &report),
            CompareFormat::Html => written(&Html, &report),
            CompareFormat::Json => written(&Json, &report),
        })?;
        Ok(if found.has_regression() { Exit::CheckFailed } else { Exit::Success })
    }
}

/// The strategy that others are relative to: the first safe one whose definition did not change, else the first safe one;
/// `None` with fewer than two safe ones.
fn reference<'n>(
    runs: impl Iterator<Item = &'n RunRecord> + Clone,
    strategies: &'n [String],
    changed: &[String],
) -> Option<&'n str> {
    let is_unsafe =
        |name: &str| runs.clone().flat_map(|run| &run.strategies).any(|one| one.is_unsafe && one.name == name);
    let safe: Vec<&str> = strategies.iter().map(String::as_str).filter(|name| !is_unsafe(name)).collect();
    let unchanged = safe.iter().find(|name| !changed.iter().any(|one| one == **name)).or(safe.first());
    unchanged.copied().filter(|_| safe.len() > 1)
}

fn one_strategy(before: &NamedRun, after: &NamedRun) -> CliError {
    CliError::usage(format!(
        "{} and {} have only one safe strategy in common, and separate runs are compared relative to another one, because the \
         machine may have been more or less busy: measure a second strategy in both, name several runs per side, or measure two \
         servers in turns with `docshape run --ab`",
        before.name, after.name
    ))
}

/// The common strategies that are wanted; all if none is named.
fn chosen(common: Vec<String>, wanted: &[String]) -> Result<Vec<String>, CliError> {
    if let Some(unknown) = wanted.iter().find(|wanted| !common.contains(wanted)) {
        let known = common.join(", ");
        return Err(CliError::usage(format!("unknown strategy `{unknown}`; all runs have {known}")));
    }
    Ok(common.into_iter().filter(|name| wanted.is_empty() || wanted.contains(name)).collect())
}
