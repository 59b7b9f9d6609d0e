//! `docshape list`.

use crate::scenario::{self, Diagnostics, Source};

use super::catalogue::SCENARIOS;
use super::exit::{CliError, Exit};
use super::output;

/// Prints a table of the catalogue.
///
/// # Errors
/// When the table cannot be written.
pub fn list() -> Result<Exit, CliError> {
    let mut rows = vec![["NAME", "TITLE", "STRATEGIES"].map(str::to_owned)];
    for (name, text) in SCENARIOS {
        let scenario = scenario::read(&Source::new(name, text), &mut Diagnostics::new());
        let scenario = scenario.ok_or_else(|| CliError::usage(format!("the built-in scenario {name} is damaged")))?;
        let strategies: Vec<String> = scenario.strategies.into_iter().map(|strategy| strategy.name.value).collect();
        rows.push([name.to_owned(), scenario.title, strategies.join(", ")]);
    }
    output::print(&table(&rows))?;
    Ok(Exit::Fine)
}

/// Columns as wide as their widest cell, two spaces apart.
fn table(rows: &[[String; 3]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let line = |row: &[String; 3]| format!("{:first$}  {:second$}  {}\n", row[0], row[1], row[2]);
    rows.iter().map(line).collect()
}
