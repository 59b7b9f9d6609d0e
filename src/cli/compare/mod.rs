//! `docshape compare`, and the saved runs of `docshape run`.

mod argument;
mod baseline_comparison;
mod comparability;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::slice;

use crate::report::comparison::ComparedRuns;
use crate::report::{NamedRun, Report};
use crate::results::{self, RunRecord, saved_run};
use crate::stats::run_comparison::{ComparedUnit, RunSides, compare_runs};

pub use argument::{CompareArguments, SavedRunArguments};
pub use baseline_comparison::BaselineComparison;

use super::argument::ReportFormat;
use super::exit::{CliError, Exit};
use super::next::NextCommand;
use super::output;
use super::report::in_format;

/// A run may take this much more time than the other without being a regression, unless the user says otherwise: 5 %.
const TOLERANCE: f64 = 0.05;

/// What is before the name of a saved run.
const SAVED_RUN: &str = "saved run ";

/// The default folder of all results.
const RESULTS: &str = "results";

/// Compares runs, and saves the last of the later ones when asked to.
///
/// # Errors
/// When a run cannot be read, or the runs cannot be compared.
pub fn compare(arguments: &CompareArguments) -> Result<Exit, CliError> {
    let (before, after) = sides(arguments)?;
    let CompareArguments { tolerance, strategies, format, .. } = arguments;
    let mut exit = Exit::Success;
    if !before.is_empty() {
        exit = compare_sides(&before, &after, *tolerance, strategies, *format)?;
    } else if !strategies.is_empty() || tolerance.is_some() || *format != ReportFormat::Terminal {
        let missing = "--strategies, --tolerance and --format need two runs: name a second run, or use --compare-with";
        return Err(CliError::usage(missing));
    } else {
        after.iter().try_for_each(check_usable)?;
    }
    if let (Some(name), Some(last)) = (&arguments.save_run, after.last()) {
        save(&last.record, name, exit)?;
    }
    Ok(exit)
}

/// Compares two runs, and prints how they differ.
///
/// # Errors
/// When the two cannot be compared.
pub fn compare_two(a: &NamedRun, b: &NamedRun, tolerance: Option<f64>) -> Result<Exit, CliError> {
    compare_sides(slice::from_ref(a), slice::from_ref(b), tolerance, &[], ReportFormat::Terminal)
}

/// The earlier runs, none without a comparison, and the later ones.
fn sides(arguments: &CompareArguments) -> Result<(Vec<NamedRun>, Vec<NamedRun>), CliError> {
    let read = |path: &PathBuf| Ok(NamedRun { name: path.display().to_string(), record: results::load(path)? });
    let mut runs = arguments.runs.iter().map(read).collect::<Result<Vec<NamedRun>, CliError>>()?;
    let later = arguments.later.iter().map(read).collect::<Result<Vec<NamedRun>, CliError>>()?;
    if let (Some(name), Some(first)) = (&arguments.compare_with, runs.first()) {
        return Ok((vec![load_saved(&first.record.scenario.name, name)?], runs));
    }
    match (runs.len(), later.len()) {
        (1, 0) if arguments.save_run.is_some() => Ok((Vec::new(), runs)),
        (1, 0) => Err(CliError::usage("name run B after run A, or use --compare-with or --save-run")),
        (2, 0) => Ok((vec![runs.remove(0)], runs)),
        (_, 0) => Err(CliError::usage("several runs of a side need `--` between the sides: compare A1 A2 -- B1 B2")),
        _ => Ok((runs, later)),
    }
}

/// The folder of a scenario's saved runs. The scenario's name of an edited record may be a path.
fn folder(scenario: &str) -> Result<PathBuf, CliError> {
    if saved_run::is_name(scenario) {
        return Ok(saved_run::folder(Path::new(RESULTS), scenario));
    }
    let named = format!("runs of a scenario named {scenario:?} cannot be saved: rename the scenario, then run again");
    Err(CliError::usage(named))
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
    Ok(NamedRun { name: format!("{SAVED_RUN}{name}"), record })
}

/// Saves a run unless it is a regression, and prints what was done.
fn save(record: &RunRecord, name: &str, exit: Exit) -> Result<(), CliError> {
    if exit != Exit::Success {
        let reason = if exit == Exit::Invalid { "the comparison is undecided" } else { "this run is a regression" };
        output::message(&format!("not saved as {name}: {reason}\n"));
        return Ok(());
    }
    let folder = folder(&record.scenario.name)?;
    let replaced = saved_run::keep(record, &folder, name)?;
    let place = saved_run::file(&folder, name);
    let replaced = if replaced { ", replacing the previous one" } else { "" };
    output::message(&format!("saved as {name} in {}{replaced}\n", place.display()));
    Ok(())
}

fn check_usable(run: &NamedRun) -> Result<(), CliError> {
    comparability::unusable(&run.record)
        .map_or(Ok(()), |reason| Err(CliError::usage(format!("{} cannot be compared: {reason}", run.name))))
}

/// Rejects a side that has a run twice: it would seem to be certain.
fn check_distinct(side: &[NamedRun]) -> Result<(), CliError> {
    for (place, run) in side.iter().enumerate() {
        if let Some(other) = side[..place].iter().find(|other| other.record.id == run.record.id) {
            let same = format!("{} is the same run as {}: name each run once", run.name, other.name);
            return Err(CliError::usage(same));
        }
    }
    Ok(())
}

fn check_comparable(before: &NamedRun, after: &NamedRun) -> Result<(), CliError> {
    let found = comparability::differences(&before.record, &after.record);
    if found.is_empty() {
        return Ok(());
    }
    Err(CliError::usage(format!("{} and {} cannot be compared: {}", before.name, after.name, found.join("; "))))
}

/// Compares runs, at least one on each side, that must have measured the same thing, and prints how they differ; only the
/// `wanted` strategies, all if there are none.
fn compare_sides(
    before: &[NamedRun],
    after: &[NamedRun],
    tolerance: Option<f64>,
    wanted: &[String],
    format: ReportFormat,
) -> Result<Exit, CliError> {
    let tolerance = tolerance.unwrap_or(TOLERANCE);
    [before, after].into_iter().try_for_each(check_distinct)?;
    let all = || before.iter().chain(after);
    all().try_for_each(check_usable)?;
    let (Some(a), Some(b)) = (before.first(), after.first()) else {
        return Err(CliError::usage("name runs to compare"));
    };
    all().skip(1).try_for_each(|other| check_comparable(a, other))?;
    let changed: BTreeSet<String> = all().flat_map(|other| comparability::changed(&a.record, &other.record)).collect();
    let changed = Vec::from_iter(changed);
    let strategies = &chosen(comparability::common(all().map(|run| &run.record)), wanted)?;
    let reference = reference(all().map(|run| &run.record), strategies, &changed);
    let [earlier, later] = [before, after].map(|runs| runs.iter().map(|run| &run.record).collect::<Vec<_>>());
    let sides = RunSides { before: &earlier, after: &later, strategies, reference, tolerance };
    if reference.is_none() && sides.unit() == ComparedUnit::Rounds {
        return Err(one_strategy(a, b));
    }
    let found = compare_runs(sides).filter(|found| found.judged().next().is_some()).ok_or_else(|| {
        CliError::usage(format!(
            "{} and {} cannot be compared: the common strategies are unsafe, a cache that they shared distorts their times, or \
             no operation was called in both; measure others with --strategies, or with --isolate",
            a.name, b.name
        ))
    })?;
    let report = Report::of_comparison(&found, ComparedRuns { before, after, tolerance, changed: &changed });
    output::print(&in_format(&report, format, true).unwrap_or_default())?;
    let exit = match (found.has_regression(), found.is_disturbed()) {
        (true, _) => Exit::CheckFailed,
        (false, true) => Exit::Invalid,
        (false, false) => Exit::Success,
    };
    if format == ReportFormat::Terminal {
        let is_open = found.judged().any(|(.., change)| change.is_open());
        after_comparison(a, b, found.unit, exit, is_open).print();
    }
    Ok(exit)
}

/// The command after a comparison: the details of a regression, another run where nothing is decided, else the new run to compare
/// with.
fn after_comparison(a: &NamedRun, b: &NamedRun, unit: ComparedUnit, exit: Exit, is_open: bool) -> NextCommand {
    let saved = |run: &NamedRun| run.name.strip_prefix(SAVED_RUN).map(str::to_owned);
    let folder = Path::new(&b.name);
    match (exit, unit, saved(a)) {
        (Exit::Invalid, ComparedUnit::PairedRounds, _) => {
            NextCommand::like("run", &b.record).option("ab", "URI_A").word("URI_B")
        }
        (Exit::CheckFailed, ..) => NextCommand::about(&["report"], folder).option("full", ""),
        (Exit::Success, _, None) if !is_open => NextCommand::about(&["compare"], folder).option("save-run", "main"),
        (_, _, Some(name)) => NextCommand::like("run", &b.record).option("compare-with", &name),
        (_, _, None) => NextCommand::about(&["run", "--like"], Path::new(&a.name)),
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
