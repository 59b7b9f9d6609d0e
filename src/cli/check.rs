//! `docshape check`.

use std::fs;
use std::thread;
use std::time::{Duration, SystemTime};

use crate::compile::{Choice, compile};
use crate::plan::Plan;
use crate::report::{count, counted, wrap};
use crate::scenario::{self, Diagnostics, MixDefinition, Scenario, Source, Tree};

use super::argument::CheckArguments;
use super::data_size::check_data;
use super::exit::{CliError, Exit};
use super::next::NextCommand;
use super::scenario::print_diagnostics;
use super::shard_check::check_shard_keys;
use super::{catalogue, output};

/// How often watched files are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Prints all problems of all files, and a summary of each valid one; if they are watched, again whenever one was saved.
///
/// # Errors
/// When a file cannot be read or has errors; only after all files have been checked.
pub fn check(arguments: &CheckArguments) -> Result<Exit, CliError> {
    if arguments.watch { watch(&arguments.files) } else { check_files(&arguments.files) }
}

/// Checks until the process is ended.
fn watch(files: &[String]) -> Result<Exit, CliError> {
    if saved(files).iter().all(Option::is_none) {
        return Err(CliError::usage(format!("--watch: {} is no file; name one that you edit", files.join(", "))));
    }
    let mut seen = Vec::new();
    loop {
        let now = saved(files);
        if seen != now {
            let result = check_files(files);
            let error = result.err().map(|error| error.message).filter(|message| !message.is_empty());
            error.iter().for_each(|message| output::message(&format!("error: {message}\n")));
            output::message("watching; Ctrl-C ends\n\n");
            seen = now;
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// When each file was written, and its length; `None` where there is none, as while an editor replaces it.
fn saved(files: &[String]) -> Vec<Option<(SystemTime, u64)>> {
    let one = |file: &String| fs::metadata(file).ok().and_then(|found| Some((found.modified().ok()?, found.len())));
    files.iter().map(one).collect()
}

fn check_files(files: &[String]) -> Result<Exit, CliError> {
    let mut unreadable = Vec::new();
    let mut broken = false;
    for file in files {
        match catalogue::open(file) {
            Ok(source) => broken |= !check_source(&source)?,
            Err(error) => unreadable.push(error.message),
        }
    }
    match (unreadable.is_empty(), broken) {
        (true, false) => {
            let file = files.first().map_or("", String::as_str);
            NextCommand::new(["run", file, "--preset", "smoke"]).print();
            Ok(Exit::Success)
        }
        // The problems are printed.
        (true, true) => Err(CliError::usage("")),
        (false, _) => Err(CliError::usage(unreadable.join("\n  and: "))),
    }
}

/// Whether the scenario can run, with every mix.
fn check_source(source: &Source) -> Result<bool, CliError> {
    let diagnostics = Diagnostics::new();
    let found = scenario::read(source, &diagnostics).and_then(|scenario| {
        let plan = compile_all_mixes(&scenario, &diagnostics)?;
        let large = check_data(&scenario, &plan, &diagnostics);
        let scattered = check_shard_keys(&scenario, &plan, &diagnostics);
        Some((summary(&scenario, &plan), [large, scattered].concat()))
    });
    print_diagnostics(&diagnostics, source);
    let Some((summary, notes)) = found.filter(|_| !diagnostics.has_errors()) else { return Ok(false) };
    let lines = wrap(&format!("{}: ok, {summary}", source.path), output::width());
    output::print(&format!("{}\n", lines.join("\n  ")))?;
    notes.iter().try_for_each(|line| output::print(&format!("  {line}\n")))?;
    Ok(true)
}

/// Compiles the scenario, with the parameters of each of its mixes if they have any, and returns the plan of a plain run.
fn compile_all_mixes(scenario: &Scenario, diagnostics: &Diagnostics) -> Option<Plan> {
    let compiled = |mix: Option<&MixDefinition>| {
        let choice = Choice { mix: mix.map(|mix| mix.name.value.clone()), ..Choice::default() };
        // A choice error cannot be: the mix is one of the scenario's.
        compile(scenario, &choice, diagnostics).ok().flatten()
    };
    let plain = compiled(None);
    let of_plain = scenario.mixes.iter().find(|mix| plain.as_ref().is_some_and(|plan| plan.mix.name == mix.name.value));
    let mut compiled_with: Vec<_> = of_plain.map(parameters).into_iter().collect();
    for mix in &scenario.mixes {
        if !compiled_with.contains(&parameters(mix)) {
            compiled_with.push(parameters(mix));
            compiled(Some(mix));
        }
    }
    plain
}

fn parameters(mix: &MixDefinition) -> Vec<(&str, &Tree)> {
    mix.parameters.iter().map(|(name, value)| (name.value.as_str(), &value.tree)).collect()
}

/// How much the scenario has.
fn summary(scenario: &Scenario, plan: &Plan) -> String {
    let [strategies, operations, mixes] = [
        (scenario.strategy_names().count(), "strategy"),
        (scenario.operations.len(), "operation"),
        (scenario.mixes.len(), "mix"),
    ]
    .map(|(number, noun)| counted(number as u64, noun));
    let entities = plan.data.entities.iter().enumerate();
    let records = entities.map(|(position, entity)| format!("{} {}", count(plan.data.len(position)), entity.name));
    let records = records.collect::<Vec<_>>().join(", ");
    format!("{strategies}, {operations}, {mixes}; records: {records}")
}
