//! Reports as GitHub-flavoured Markdown. Texts of the scenario's author are escaped: they cannot add markup.

use std::fmt;

use super::escape::{code, escape};
use super::section::{Headline, Section};
use super::table::{Cell, Forms, Grid, Kind, Table, Tone};
use super::{Renderer, Report};

const FORM: Forms = Forms::MARKDOWN;

/// Writes Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Markdown;

impl Renderer for Markdown {
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        headline(&report.headline, out)?;
        for one in &report.sections {
            let charts = one.charts.as_ref().filter(|_| report.has_files);
            let picture = charts.and_then(|charts| charts.picture(&one.title)).map(|picture| picture.file);
            section(one, &report.sections, picture, out)?;
        }
        Ok(())
    }
}

/// Writes a headline.
pub(super) fn headline(headline: &Headline, out: &mut dyn fmt::Write) -> fmt::Result {
    writeln!(out, "# {}\n", escape(&headline.title))?;
    if !headline.invalid.is_empty() {
        writeln!(out, "> **Invalid run: no verdict; do not use any number below.**")?;
        headline.invalid.iter().try_for_each(|reason| writeln!(out, ">\n> **{}**", escape(reason)))?;
        writeln!(out)?;
    }
    if !headline.about.is_empty() {
        writeln!(out, "{}\n", escape(&headline.about))?;
    }
    writeln!(out, "{}\n", headline.subject.iter().map(|line| escape(line)).collect::<Vec<_>>().join("  \n"))?;
    writeln!(out, "## Verdict\n")?;
    headline.incomplete.iter().try_for_each(|status| writeln!(out, "> **{}**\n", escape(status)))?;
    if !headline.sentences.is_empty() {
        writeln!(out, "**{}**\n", escape(&headline.sentences.join(" ")))?;
    }
    let findings = &headline.findings;
    findings
        .iter()
        .try_for_each(|finding| writeln!(out, "- **{}**: {}", escape(&finding.name), escape(&finding.text)))?;
    if !findings.is_empty() {
        writeln!(out)?;
    }
    headline.notes.iter().try_for_each(|note| writeln!(out, "{}\n", escape(note)))
}

/// Writes a section of these, when Markdown shows anything of it; `picture` is a file with its charts.
pub(super) fn section(
    section: &Section,
    all: &[Section],
    picture: Option<&str>,
    out: &mut dyn fmt::Write,
) -> fmt::Result {
    if !section.is_shown(FORM) && picture.is_none() {
        return Ok(());
    }
    writeln!(out, "## {}\n", escape(&section.title))?;
    for paragraph in section.lead.iter().filter(|lead| lead.forms.contains(FORM)) {
        writeln!(out, "{}\n", escape(&paragraph.text))?;
    }
    picture.map_or(Ok(()), |file| writeln!(out, "![{}]({file})\n", escape(&section.title)))?;
    let shown: Vec<(&Table, Grid)> =
        section.tables.iter().filter_map(|table| Some((table, table.grid(FORM)?))).collect();
    for (table, grid) in &shown {
        if shown.len() > 1 {
            writeln!(out, "### {}\n", escape(&table.title))?;
        }
        write_table(table, grid, all, out)?;
    }
    section.items.iter().try_for_each(|item| writeln!(out, "- {}", escape(item)))?;
    if !section.items.is_empty() {
        writeln!(out)?;
    }
    let mut notes = section.notes.iter().filter(|note| note.forms.contains(FORM));
    notes.try_for_each(|note| writeln!(out, "{}\n", escape(&note.text)))?;
    for text in section.charts.iter().flat_map(|charts| charts.texts()) {
        writeln!(out, "```text")?;
        text.lines().try_for_each(|line| writeln!(out, "{}", code(line)))?;
        writeln!(out, "```\n")?;
    }
    let Some([lead, command]) = &section.command else { return Ok(()) };
    writeln!(out, "{lead}\n\n```sh\n{}\n```", code(command))
}

fn write_table(table: &Table, grid: &Grid, all: &[Section], out: &mut dyn fmt::Write) -> fmt::Result {
    // Where names stand side by side the group is the line's name, else a column of its own.
    let is_side_by_side = table.side_by_side.contains(FORM);
    let group = table.group.as_ref().filter(|_| !is_side_by_side);
    let mut heads: Vec<String> = group.into_iter().chain([grid.corner]).map(|column| escape(&column.heading)).collect();
    let mut line = "|".to_owned() + &"---|".repeat(heads.len());
    for block in &grid.blocks {
        for (place, column) in block.columns.iter().enumerate() {
            let name = block.heading.filter(|_| place == 0).map_or_else(|| escape(&column.heading), named);
            heads.push(name);
            line.push_str(if column.kind == Kind::Text { "---|" } else { "---:|" });
        }
    }
    writeln!(out, "| {} |\n{line}", heads.join(" | "))?;
    let mut heading = String::new();
    for line in &grid.lines {
        if line.is_heading {
            heading = escape(&line.name.text);
            continue;
        }
        let name = if is_side_by_side { written(line.name, all) } else { named(line.name) };
        let cells = line.cells.iter().map(|cell| cell.map_or_else(String::new, |cell| written(cell, all)));
        let texts: Vec<String> = group.map(|_| heading.clone()).into_iter().chain([name]).chain(cells).collect();
        writeln!(out, "| {} |", texts.join(" | "))?;
    }
    writeln!(out)
}

/// A name with its remark in brackets.
fn named(cell: &Cell) -> String {
    match cell.remark.is_empty() {
        true => escape(&cell.text),
        false => format!("{} ({})", escape(&cell.text), escape(&cell.remark)),
    }
}

fn written(cell: &Cell, all: &[Section]) -> String {
    let text = escape(&cell.text);
    let text = match cell.link.as_deref().and_then(|id| anchor(all, id)) {
        Some(anchor) => format!("[{text}](#{anchor})"),
        None => text,
    };
    let text = match cell.tone {
        Tone::Plain | Tone::Faint => text,
        Tone::Strong | Tone::Good | Tone::Bad | Tone::Best if text.is_empty() => text,
        Tone::Strong | Tone::Good | Tone::Bad | Tone::Best => format!("**{text}**"),
    };
    if cell.remark.is_empty() { text } else { format!("{text} {}", escape(&cell.remark)).trim_start().to_owned() }
}

/// The heading of the section that has a row with this id, as links to it name it.
fn anchor(all: &[Section], id: &str) -> Option<String> {
    let has_row =
        |table: &Table| table.grid(FORM).is_some_and(|_| table.rows.iter().any(|row| row.id.as_deref() == Some(id)));
    let section = all.iter().find(|section| section.forms.contains(FORM) && section.tables.iter().any(has_row))?;
    let kept = section.title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    Some(kept.collect::<String>().to_lowercase().replace(' ', "-"))
}
