//! `docshape check`.

use crate::compile::{Choice, compile};
use crate::plan::Plan;
use crate::report::wrap;
use crate::scenario::{self, Diagnostics, MixDefinition, Scenario, Source};

use super::argument::CheckArguments;
use super::data_size::check_data;
use super::exit::{CliError, Exit};
use super::next::NextCommand;
use super::scenario::print_diagnostics;
use super::{catalogue, output};

/// The columns of the names of what a scenario has.
const SUMMARY: usize = 14;

/// Prints all problems of all files, and a summary of each valid one.
///
/// # Errors
/// When a file cannot be read or has errors; only after all files have been checked.
pub fn check(arguments: &CheckArguments) -> Result<Exit, CliError> {
    let mut unreadable = Vec::new();
    let mut broken = false;
    for file in &arguments.files {
        match catalogue::open(file) {
            Ok(source) => broken |= !check_source(&source)?,
            Err(error) => unreadable.push(error.message),
        }
    }
    match (unreadable.is_empty(), broken) {
        (true, false) => {
            let file = arguments.files.first().map_or("", String::as_str);
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
        Some((summary(&scenario, &plan), large))
    });
    print_diagnostics(&diagnostics, source);
    let Some((summary, large)) = found.filter(|_| !diagnostics.has_errors()) else { return Ok(false) };
    output::print(&format!("{}: ok\n", source.path))?;
    for (name, text) in summary {
        for (place, line) in wrap(&text, output::width() - SUMMARY).iter().enumerate() {
            output::print(&format!("  {:1$}{line}\n", if place == 0 { name } else { "" }, SUMMARY - 2))?;
        }
    }
    large.iter().try_for_each(|line| output::print(&format!("  {line}\n")))?;
    Ok(true)
}

/// Compiles the scenario, with each of its mixes if those have parameters, and returns the plan of a plain run.
fn compile_all_mixes(scenario: &Scenario, diagnostics: &Diagnostics) -> Option<Plan> {
    let compiled = |mix: Option<&MixDefinition>| {
        let choice = Choice { mix: mix.map(|mix| mix.name.value.clone()), ..Choice::default() };
        // A choice error cannot be: the mix is one of the scenario's.
        compile(scenario, &choice, diagnostics).ok().flatten()
    };
    let plain = compiled(None);
    let has_parameters = scenario.mixes.iter().any(|mix| !mix.parameters.is_empty());
    scenario.mixes.iter().filter(|_| has_parameters).for_each(|mix| drop(compiled(Some(mix))));
    plain
}

/// What the scenario has, each with its name.
fn summary(scenario: &Scenario, plan: &Plan) -> [(&'static str, String); 4] {
    let strategies: Vec<&str> = scenario.strategy_names().collect();
    let operations: Vec<&str> = scenario.operations.iter().map(|operation| operation.name.value.as_str()).collect();
    let mixes: Vec<&str> = scenario.mixes.iter().map(|mix| mix.name.value.as_str()).collect();
    let entities = plan.data.entities.iter().enumerate();
    let records = entities.map(|(position, entity)| format!("{} {}", plan.data.len(position), entity.name));
    let records = records.collect::<Vec<_>>().join(", ");
    let [strategies, operations, mixes] = [strategies, operations, mixes].map(|names| names.join(", "));
    [("strategies", strategies), ("operations", operations), ("mixes", mixes), ("records", records)]
}
