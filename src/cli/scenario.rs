//! From an argument to a scenario that can run; prints all problems.

use std::sync::Arc;

use crate::compile::Choice;
use crate::plan::Plan;
use crate::scenario::{self, Diagnostics, Scenario, Source};

use super::catalogue;
use super::exit::CliError;
use super::output;

/// A scenario without errors.
#[derive(Debug)]
pub struct Ready {
    /// Its text.
    pub source: Source,
    /// As written.
    pub scenario: Scenario,
    /// As it will run.
    pub plan: Arc<Plan>,
}

/// Opens, reads and compiles a scenario. Warnings are shown, and so are errors before they end the command.
///
/// # Errors
/// When the scenario cannot be opened or has errors, or the choice names something unknown.
pub fn prepare(name_or_path: &str, choice: &Choice) -> Result<Ready, CliError> {
    prepare_source(catalogue::open(name_or_path)?, choice)
}

/// The same for a text that is there already.
///
/// # Errors
/// When the scenario has errors, or the choice names something unknown.
pub fn prepare_source(source: Source, choice: &Choice) -> Result<Ready, CliError> {
    let mut diagnostics = Diagnostics::new();
    let scenario = scenario::read(&source, &mut diagnostics);
    let compiled = scenario.as_ref().map(|scenario| crate::compile::compile(scenario, choice, &mut diagnostics));
    print_diagnostics(&diagnostics, &source);
    if diagnostics.has_errors() {
        return Err(already_printed());
    }
    match (scenario, compiled) {
        (Some(scenario), Some(Ok(Some(plan)))) => Ok(Ready { source, scenario, plan: Arc::new(plan) }),
        (_, Some(Err(error))) => Err(CliError::usage(format!("{}: {error}", source.path))),
        _ => Err(CliError::usage(format!("{} cannot run, for an unknown reason; please report this", source.path))),
    }
}

/// Prints problems, each once: a mistake in steps that several strategies share through `like` is found in each of them.
pub fn print_diagnostics(diagnostics: &Diagnostics, source: &Source) {
    let mut distinct = Diagnostics::new();
    for diagnostic in diagnostics.iter() {
        if !distinct.iter().any(|known| known == diagnostic) {
            distinct.push(diagnostic.clone());
        }
    }
    if !distinct.is_empty() {
        output::message(&distinct.render(source, true));
    }
}

/// Returns the error of a scenario whose problems are printed.
pub fn already_printed() -> CliError {
    CliError::usage("")
}
