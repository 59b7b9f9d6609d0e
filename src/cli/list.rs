//! `docshape list`.

use std::fmt::Write;

use crate::report::counted;
use crate::scenario::{self, Diagnostics, Source, StrategyDefinition};

use super::catalogue::SCENARIOS;
use super::exit::{CliError, Exit};
use super::output;

/// Prints the catalogue: every scenario with its question and its strategies.
///
/// # Errors
/// When the table cannot be written.
pub fn list() -> Result<Exit, CliError> {
    let width = SCENARIOS.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut lines = String::new();
    for (name, text) in SCENARIOS {
        let scenario = scenario::read(&Source::new(name, text), &mut Diagnostics::new());
        let scenario = scenario.ok_or_else(|| CliError::failure(format!("the built-in scenario {name} is damaged")))?;
        let _ =
            writeln!(lines, "{name:width$}  {}\n{:width$}  {}", scenario.title, "", strategies(&scenario.strategies));
    }
    output::print(&lines)?;
    Ok(Exit::Success)
}

/// Returns the strategies of a plain run, and the number of others.
fn strategies(all: &[StrategyDefinition]) -> String {
    let is_default = |strategy: &&StrategyDefinition| strategy.is_default.as_ref().is_some_and(|flag| flag.value);
    let (compared, others): (Vec<&StrategyDefinition>, Vec<&StrategyDefinition>) = all.iter().partition(is_default);
    let names: Vec<&str> = compared.iter().map(|strategy| strategy.name.value.as_str()).collect();
    let controls = others.iter().filter(|strategy| strategy.is_unsafe).count();
    let more = others.len() - controls;
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let negative = counted(controls as u64, "negative control");
    let controls = if controls > 0 { format!("; {negative}") } else { String::new() };
    format!("{}{more}{controls}", names.join(", "))
}
