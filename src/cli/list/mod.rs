//! `docshape list`.

mod page;

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;

use crate::report::{counted, wrap};
use crate::scenario::{Scenario, StrategyDefinition, nearest};

use super::catalogue::{self, SCENARIOS};
use super::exit::{CliError, Exit};
use super::next::NextCommand;
use super::output;

/// `list`.
#[derive(Debug, Clone, Args)]
pub struct ListArguments {
    /// A scenario, whose strategies and claims are printed in Markdown [default: all, a line each]
    scenario: Option<String>,
    /// Print the index of all scenarios in Markdown
    #[arg(long, conflicts_with = "scenario")]
    markdown: bool,
    /// Folder with the verdicts of claims, a file per scenario [default: none]
    #[arg(long, value_name = "DIR", requires = "scenario")]
    verdicts: Option<PathBuf>,
}

/// Prints the catalogue by decision: every scenario with its question and its strategies.
///
/// # Errors
/// When the table cannot be written.
pub fn list(arguments: &ListArguments) -> Result<Exit, CliError> {
    let groups = catalogue::by_group()?;
    let text = if arguments.markdown {
        page::index(&groups)
    } else if let Some(name) = &arguments.scenario {
        let found = groups.iter().flat_map(|(_, scenarios)| scenarios).find(|one| one.name.value == *name);
        let found = found.ok_or_else(|| {
            let known = SCENARIOS.map(|(name, _)| name);
            CliError::usage(format!("the catalogue has no scenario `{name}`: {}", nearest(name, &known)))
        })?;
        page::page(found, arguments.verdicts.as_deref())?
    } else {
        lines(&groups)
    };
    output::print(&text)?;
    if !arguments.markdown {
        let name = arguments.scenario.as_deref().unwrap_or("NAME");
        NextCommand::new(["run", name, "--preset", "smoke"]).print();
    }
    Ok(Exit::Success)
}

/// A line per scenario and one with its strategies, by decision.
fn lines(groups: &[(&str, Vec<Scenario>)]) -> String {
    let width = SCENARIOS.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let room = output::width().saturating_sub(width + 4);
    let mut lines = String::new();
    for (group, scenarios) in groups {
        let _ = writeln!(lines, "{}{group}", if lines.is_empty() { "" } else { "\n" });
        for scenario in scenarios {
            let (name, title) = (&scenario.name.value, &scenario.title);
            let texts = [wrap(title, room), wrap(&strategies(&scenario.strategies), room)].concat();
            for (place, text) in texts.iter().enumerate() {
                let _ = writeln!(lines, "  {:width$}  {text}", if place == 0 { name.as_str() } else { "" });
            }
        }
    }
    lines
}

/// Returns the strategies of a plain run, and the number of others.
fn strategies(all: &[StrategyDefinition]) -> String {
    let (compared, others): (Vec<_>, Vec<_>) = all.iter().partition(|strategy| strategy.is_compared());
    let names: Vec<&str> = compared.iter().map(|strategy| strategy.name.value.as_str()).collect();
    let controls = others.iter().filter(|strategy| strategy.is_unsafe).count();
    let more = others.len() - controls;
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let negative = counted(controls as u64, "negative control");
    let controls = if controls > 0 { format!("; {negative}") } else { String::new() };
    format!("{}{more}{controls}", names.join(", "))
}
