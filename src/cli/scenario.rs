//! From the user's word to a scenario that can run, with all problems told on the way.

use crate::plan::{self, Choice, ChoiceError, Plan};
use crate::scenario::{self, Diagnostics, Scenario, Source};

use super::catalogue;
use super::exit::{CliError, Exit};
use super::output;

/// A scenario without errors.
#[derive(Debug)]
pub struct Ready {
    /// Its text.
    pub source: Source,
    /// As written.
    pub scenario: Scenario,
    /// As it will run.
    pub plan: Plan,
}

/// Opens, reads and compiles a scenario. Warnings are shown, and so are errors before they end the command.
///
/// # Errors
/// When the scenario cannot be opened or has errors, or the choice names what it does not have.
pub fn prepare(name_or_path: &str, choice: &Choice) -> Result<Ready, CliError> {
    prepare_source(catalogue::open(name_or_path)?, choice)
}

/// The same for a text that is there already.
///
/// # Errors
/// When the scenario has errors, or the choice names what it does not have.
pub fn prepare_source(source: Source, choice: &Choice) -> Result<Ready, CliError> {
    let mut diagnostics = Diagnostics::new();
    let scenario = scenario::read(&source, &mut diagnostics);
    let compiled = scenario.as_ref().map(|scenario| plan::compile(scenario, choice, &mut diagnostics));
    tell(&diagnostics, &source);
    if diagnostics.has_errors() {
        return Err(already_told());
    }
    match (scenario, compiled) {
        (Some(scenario), Some(Ok(Some(plan)))) => Ok(Ready { source, scenario, plan }),
        (_, Some(Err(error))) => Err(not_offered(&source, &error)),
        _ => Err(CliError::usage(format!(
            "{} cannot run, though nothing is wrong with it that could be told",
            source.path
        ))),
    }
}

/// Shows problems, each once: a mistake in steps that several strategies share through `like` is found in each of them.
pub fn tell(diagnostics: &Diagnostics, source: &Source) {
    let mut distinct = Diagnostics::new();
    for diagnostic in diagnostics.iter() {
        if !distinct.iter().any(|known| known == diagnostic) {
            distinct.push(diagnostic.clone());
        }
    }
    if !distinct.is_empty() {
        output::tell(&distinct.render(source, true));
    }
}

/// The error of a scenario whose problems have been shown.
pub fn already_told() -> CliError {
    CliError { exit: Exit::Usage, message: String::new() }
}

fn not_offered(source: &Source, error: &ChoiceError) -> CliError {
    CliError::usage(format!("{}: {error}", source.path))
}
