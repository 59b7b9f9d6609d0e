//! The matrix as Markdown: a table per scenario with calls per second.

use std::fmt::{self, Write};

use crate::report::write::escape::escape;

use super::cell::{LEGEND, Look, MatrixCell, REMARKS};
use super::row::MixRow;
use super::{Matrix, ScenarioMatrix};

/// How to read the tables.
pub(crate) fn lead() -> String {
    let cells = LEGEND.iter().map(|(_, text, meaning)| (text, meaning));
    let meant = cells.chain(REMARKS.iter().map(|(text, meaning)| (text, meaning)));
    let meant: Vec<String> = meant.map(|(text, meaning)| format!(" \"{text}\": {meaning}.")).collect();
    format!("Calls per second of a mix at saturation.{}", meant.concat())
}

/// The tables.
impl fmt::Display for Matrix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lead = [&lead(), self.sessions_note()].join(" ");
        writeln!(out, "{}", lead.trim_end())?;
        let has_setups = self.setups().len() > 1;
        for group in &self.groups {
            writeln!(out, "\n## {}", escape(&group.title))?;
            group.scenarios.iter().try_for_each(|scenario| write_scenario(out, scenario, has_setups))?;
        }
        Ok(())
    }
}

impl Matrix {
    /// What the page asks, and what it is made of.
    pub fn head(&self) -> String {
        format!("# {}\n\n{}\n\n", super::TITLE, escape(&self.subject))
    }
}

fn write_scenario(out: &mut dyn Write, scenario: &ScenarioMatrix, has_setups: bool) -> fmt::Result {
    let heading = if scenario.title.is_empty() { &scenario.name } else { &scenario.title };
    writeln!(out, "\n### {}\n", escape(heading))?;
    scenario.flips.iter().try_for_each(|flip| writeln!(out, "**{}**\n", escape(flip)))?;
    let names = scenario.strategies.iter().map(|strategy| {
        let control = if strategy.is_unsafe { " (unsafe)" } else { "" };
        format!(" {}{control} |", escape(&strategy.name))
    });
    writeln!(out, "| {} |{}", escape(&scenario.name), names.collect::<String>())?;
    writeln!(out, "|---|{}", "---|".repeat(scenario.strategies.len()))?;
    for row in scenario.rows.iter().filter(|row| row.missing().is_none()) {
        let cells = row.first().iter().map(|cell| format!(" {} |", written(cell, row.is_estimated())));
        writeln!(out, "| {} |{}", name(row, has_setups), cells.collect::<String>())?;
    }
    let below = [scenario.undecided(), scenario.missing()];
    below.iter().flatten().try_for_each(|text| writeln!(out, "\n{}", escape(text)))
}

fn name(row: &MixRow, has_setups: bool) -> String {
    let mix = escape(&row.mix);
    let linked = row.markdown.as_ref().map_or_else(|| mix.clone(), |file| format!("[{mix}]({file})"));
    let setup = row.setup.as_ref().filter(|_| has_setups).map(|setup| format!(", {}", escape(&setup.to_string())));
    let badges = Some(row.badges())
        .filter(|badges| !badges.is_empty())
        .map(|badges| format!(" ({})", escape(&badges.join(", "))));
    [Some(linked), badges, setup].into_iter().flatten().collect()
}

fn written(cell: &MatrixCell, is_estimated: bool) -> String {
    let text = match cell.look {
        Look::Best => format!("**{}**", cell.text()),
        _ => cell.text(),
    };
    format!("{text} {}", cell.full_remark(is_estimated)).trim_end().to_owned()
}
