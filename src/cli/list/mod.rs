//! `docshape list`.

mod page;

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;

use crate::report::counted;
use crate::scenario::StrategyDefinition;

use super::catalogue::{self, SCENARIOS};
use super::exit::{CliError, Exit};
use super::output;

/// `list`.
#[derive(Debug, Clone, Args)]
pub struct ListArguments {
    /// Print a page with all strategies and claims in Markdown
    #[arg(long)]
    markdown: bool,
    /// Folder with the verdicts of claims, a file per scenario, for --markdown [default: none]
    #[arg(long, value_name = "DIR", requires = "markdown")]
    verdicts: Option<PathBuf>,
}

/// Prints the catalogue by decision: every scenario with its question and its strategies.
///
/// # Errors
/// When the table cannot be written.
pub fn list(arguments: &ListArguments) -> Result<Exit, CliError> {
    if arguments.markdown {
        output::print(&page::page(&catalogue::by_group()?, arguments.verdicts.as_deref())?)?;
        return Ok(Exit::Success);
    }
    let width = SCENARIOS.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut lines = String::new();
    for (group, scenarios) in catalogue::by_group()? {
        let _ = writeln!(lines, "{}{group}", if lines.is_empty() { "" } else { "\n" });
        for scenario in scenarios {
            let (name, title) = (&scenario.name.value, &scenario.title);
            let _ = writeln!(lines, "  {name:width$}  {title}\n  {:width$}  {}", "", strategies(&scenario.strategies));
        }
    }
    output::print(&lines)?;
    Ok(Exit::Success)
}

/// Returns the strategies of a plain run, and the number of others.
fn strategies(all: &[StrategyDefinition]) -> String {
    let is_default = |strategy: &&StrategyDefinition| strategy.is_compared();
    let (compared, others): (Vec<&StrategyDefinition>, Vec<&StrategyDefinition>) = all.iter().partition(is_default);
    let names: Vec<&str> = compared.iter().map(|strategy| strategy.name.value.as_str()).collect();
    let controls = others.iter().filter(|strategy| strategy.is_unsafe).count();
    let more = others.len() - controls;
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let negative = counted(controls as u64, "negative control");
    let controls = if controls > 0 { format!("; {negative}") } else { String::new() };
    format!("{}{more}{controls}", names.join(", "))
}
