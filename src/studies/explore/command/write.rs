//! `--write`: shapes of the list become strategies of the scenario's file.

use std::path::Path;

use crate::cli::exit::write_error;
use crate::cli::next::NextCommand;
use crate::cli::{CliError, Exit, output};
use crate::report::counted;
use crate::results;
use crate::scenario::{self, Diagnostics, Source};
use crate::studies::explore::ranking::ranked;
use crate::studies::explore::record::{ExploreRecord, TriedRecord};
use crate::studies::explore::shapes::{with_a_strategy, with_strategies};

/// Writes the shapes at these places of the list (from 1) into the file from which they were explored.
///
/// # Errors
/// When the list has no such place, or the file is not as it was.
pub fn write(record: &ExploreRecord, places: &[u64], folder: &Path) -> Result<Exit, CliError> {
    let ranked = ranked(record);
    let mut chosen: Vec<&TriedRecord> = Vec::new();
    for place in places {
        let Some((tried, _)) = usize::try_from(*place).ok().and_then(|place| ranked.get(place.checked_sub(1)?)) else {
            return Err(CliError::usage(format!(
                "--write {place}: the list has {}",
                counted(ranked.len() as u64, "shape")
            )));
        };
        if tried.is_of_scenario() {
            return Err(CliError::usage(format!(
                "--write {place}: {} is a strategy of the scenario already",
                tried.name
            )));
        }
        chosen.push(tried);
    }
    let path = record.scenario.opened();
    let entry = |tried: &&TriedRecord| format!("  {}: {}", tried.name, tried.text(&record.relations));
    let entries: Vec<String> = chosen.iter().map(entry).collect();
    let by_hand = |why: &str| match output::print(&format!("{}\n", entries.join("\n"))) {
        Ok(()) => CliError::usage(format!("{path} {why}: add the lines above to its `strategies`")),
        Err(unwritten) => unwritten,
    };
    if !Path::new(path).is_file() {
        return Err(by_hand("is no file of yours, but a built-in scenario: `docshape show` prints it"));
    }
    let source = with_a_strategy(Source::load(path).map_err(|error| CliError::usage(error.to_string()))?);
    if *source.text != *record.scenario.text {
        return Err(by_hand(&format!("has changed since it was explored in {}", folder.display())));
    }
    let scenario = scenario::read(&source, &Diagnostics::new()).ok_or_else(|| by_hand("cannot be read"))?;
    let text = with_strategies(&source, &scenario, &chosen, &record.relations);
    results::write_whole(Path::new(path), &text).map_err(|error| write_error(Path::new(path), &error))?;
    output::print(&format!("{path}: {} added\n{}\n", counted(chosen.len() as u64, "strategy"), entries.join("\n")))?;
    // A plain run compares what is marked: at most three, which the user chooses.
    let first = scenario.strategies.first().map(|strategy| strategy.name.value.as_str());
    let names: Vec<&str> = first.into_iter().chain(chosen.iter().map(|tried| tried.name.as_str())).collect();
    NextCommand::new(["run", path]).option("strategies", &names.join(",")).print();
    Ok(Exit::Success)
}
