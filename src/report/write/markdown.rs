//! Reports as GitHub-flavoured Markdown. Texts of the scenario's author are escaped: they cannot add markup.

use std::fmt;

use crate::report::document::chart::CPU_AND_TIMES;
use crate::report::document::{
    Cell, Finding, Forms, Grid, Headline, Kind, Link, Onward, Section, Table, Tone, unmarked,
};
use crate::report::{Renderer, Report};

use super::escape::{code, escape};

const FORM: Forms = Forms::MARKDOWN;

/// The name of the Markdown report in a run's folder.
pub const MARKDOWN_FILE: &str = "report.md";

/// Writes Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Markdown;

impl Renderer for Markdown {
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        write_title(&report.headline, out)?;
        paragraphs(out, [report.headline.labels().as_str()])?;
        write_decision(report, out)?;
        write_onward(report, out)?;
        write_headline(&report.headline, out)?;
        write_sections(report, out)
    }
}

impl Markdown {
    /// Writes the sections of a report without its headline.
    pub fn sections(&self, report: &Report) -> String {
        let mut text = String::new();
        // A `String` always can be written.
        let _ = write_sections(report, &mut text);
        text
    }
}

fn write_sections(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    for section in &report.sections {
        let charts = section.charts.as_ref().filter(|_| report.has_files);
        let picture = charts.and_then(|charts| charts.picture(&section.title)).map(|picture| picture.file);
        if section.is_shown(FORM) || picture.is_some() {
            write_section(section, &report.sections, picture, out)?;
        }
    }
    Ok(())
}

/// Writes texts that are not empty as paragraphs.
fn paragraphs<'t>(out: &mut dyn fmt::Write, texts: impl IntoIterator<Item = &'t str>) -> fmt::Result {
    let mut texts = texts.into_iter().filter(|text| !text.is_empty());
    texts.try_for_each(|text| writeln!(out, "{}\n", escape(text)))
}

/// Writes lines of Markdown as a list.
fn list(out: &mut dyn fmt::Write, lines: impl IntoIterator<Item = String>) -> fmt::Result {
    let text: String = lines.into_iter().map(|line| format!("- {line}\n")).collect();
    if text.is_empty() { Ok(()) } else { writeln!(out, "{text}") }
}

/// A sentence in Markdown. Marked names are code, but for those that need escapes, which code cannot have.
fn with_code(sentence: &str) -> String {
    let written = |(piece, is_name)| match escape(piece) {
        name if is_name && name == piece => format!("`{name}`"),
        text => text,
    };
    unmarked(sentence).map(written).collect()
}

/// Writes the first screen of a run: the answer, why, and the time of every operation.
fn write_decision(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    let headline = &report.headline;
    let Some(decision) = headline.decision.as_ref().filter(|_| !report.is_invalid()) else { return Ok(()) };
    paragraphs(out, [decision.scale.as_str()])?;
    writeln!(out, "**{}**\n", escape(&decision.answer))?;
    let next = ("Next", decision.next.clone());
    let lines = decision.lines().into_iter().chain([next]);
    let lines = lines.map(|(name, text)| format!("**{name}**: {}", with_code(&text)));
    list(out, lines)?;
    let charts = headline.charts.as_ref().filter(|_| report.has_files);
    if let Some(picture) = charts.and_then(|charts| charts.picture(CPU_AND_TIMES)) {
        writeln!(out, "![{CPU_AND_TIMES}]({})\n", picture.file)?;
    }
    let overview = headline.overview.as_ref().and_then(|table| Some((table, table.grid(FORM)?)));
    let Some((table, grid)) = overview else { return Ok(()) };
    paragraphs(out, [table.title.as_str()])?;
    write_table(table, &grid, &report.sections, out)
}

/// Writes where a reader goes on, in a line.
fn write_onward(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    let links =
        |one: &Onward| one.links.iter().map(|cell| linked(cell, &cell.text, &[])).collect::<Vec<_>>().join(", ");
    let groups: Vec<String> = report.onward.iter().map(|one| format!("{}: {}", one.name, links(one))).collect();
    if groups.is_empty() { Ok(()) } else { writeln!(out, "{}\n", groups.join(" · ")) }
}

fn write_title(headline: &Headline, out: &mut dyn fmt::Write) -> fmt::Result {
    writeln!(out, "# {}\n", escape(&headline.title))?;
    if !headline.invalid.is_empty() {
        writeln!(out, "> **Invalid run: no verdict; do not use any number below.**")?;
        headline.invalid.iter().try_for_each(|reason| writeln!(out, ">\n> **{}**", escape(reason)))?;
        writeln!(out)?;
    }
    headline.incomplete.iter().try_for_each(|status| writeln!(out, "> **{}**\n", escape(status)))
}

fn write_headline(headline: &Headline, out: &mut dyn fmt::Write) -> fmt::Result {
    if headline.decision.is_some() {
        writeln!(out, "## What was measured\n")?;
    }
    paragraphs(out, [headline.about.as_str()])?;
    writeln!(out, "{}\n", headline.subject.iter().map(|line| escape(line)).collect::<Vec<_>>().join("  \n"))?;
    if headline.has_verdict() && headline.decision.is_none() {
        writeln!(out, "## Verdict\n")?;
    }
    if !headline.sentences.is_empty() {
        writeln!(out, "**{}**\n", escape(&headline.sentences.join(" ")))?;
    }
    let finding = |finding: &Finding| format!("**{}**: {}", escape(&finding.name), escape(&finding.text));
    paragraphs(out, [headline.findings_lead()])?;
    list(out, headline.findings.iter().map(finding))?;
    paragraphs(out, headline.notes.iter().map(String::as_str))
}

/// Writes a section of these; `picture` is a file with its charts.
fn write_section(section: &Section, all: &[Section], picture: Option<&str>, out: &mut dyn fmt::Write) -> fmt::Result {
    writeln!(out, "## {}\n", escape(&section.title))?;
    paragraphs(out, section.leads(FORM))?;
    picture.map_or(Ok(()), |file| writeln!(out, "![{}]({file})\n", escape(&section.title)))?;
    let shown: Vec<(&Table, Grid)> =
        section.tables.iter().filter_map(|table| Some((table, table.grid(FORM)?))).collect();
    for (table, grid) in &shown {
        if shown.len() > 1 {
            writeln!(out, "### {}\n", escape(&table.title))?;
        }
        write_table(table, grid, all, out)?;
    }
    list(out, section.items.iter().map(|item| escape(item)))?;
    paragraphs(out, section.notes(FORM))?;
    for text in section.charts.iter().flat_map(|charts| charts.texts()) {
        write_code("text", text.lines(), out)?;
    }
    section.code.iter().try_for_each(|code| {
        paragraphs(out, [code.lead.as_str()])?;
        write_code(code.language, code.lines.iter().map(String::as_str), out)
    })
}

fn write_code<'l>(language: &str, mut lines: impl Iterator<Item = &'l str>, out: &mut dyn fmt::Write) -> fmt::Result {
    writeln!(out, "```{language}")?;
    lines.try_for_each(|line| writeln!(out, "{}", code(line)))?;
    writeln!(out, "```\n")
}

fn write_table(table: &Table, grid: &Grid, all: &[Section], out: &mut dyn fmt::Write) -> fmt::Result {
    // Where names stand side by side the group is the line's name, else a column of its own.
    let is_side_by_side = table.side_by_side.contains(FORM);
    let group = table.group.as_ref().filter(|_| !is_side_by_side);
    let mut heads: Vec<String> = group.into_iter().chain([grid.corner]).map(|column| escape(&column.heading)).collect();
    let mut line = "|".to_owned() + &"---|".repeat(heads.len());
    for block in &grid.blocks {
        for (place, column) in block.columns.iter().enumerate() {
            let name = block.heading.filter(|_| place == 0).map_or_else(|| column.heading.clone(), Cell::named);
            heads.push(escape(&name));
            line.push_str(if column.kind == Kind::Text { "---|" } else { "---:|" });
        }
    }
    writeln!(out, "| {} |\n{line}", heads.join(" | "))?;
    let mut heading = String::new();
    for line in &grid.lines {
        if line.is_heading {
            heading = linked(line.name, &line.name.text, all);
            continue;
        }
        let name = if is_side_by_side { written(line.name, all) } else { linked(line.name, &line.name.named(), all) };
        let cells = line.cells.iter().map(|cell| cell.map_or_else(String::new, |cell| written(cell, all)));
        let texts: Vec<String> = group.map(|_| heading.clone()).into_iter().chain([name]).chain(cells).collect();
        writeln!(out, "| {} |", texts.join(" | "))?;
    }
    writeln!(out)
}

/// A text that leads where its cell does.
fn linked(cell: &Cell, text: &str, all: &[Section]) -> String {
    let text = escape(text);
    let target = cell.link.as_ref().and_then(|link| match link {
        Link::Row(id) => anchor(all, id),
        Link::File(address) => Some(address.clone()),
    });
    target.map_or(text.clone(), |target| format!("[{text}]({target})"))
}

fn written(cell: &Cell, all: &[Section]) -> String {
    let text = linked(cell, &cell.text, all);
    let text = match cell.tone {
        Tone::Strong | Tone::Good | Tone::Bad | Tone::Best if !text.is_empty() => format!("**{text}**"),
        _ => text,
    };
    if cell.remark.is_empty() { text } else { format!("{text} {}", escape(&cell.remark)).trim_start().to_owned() }
}

/// The heading of the section that has a row with this id, as links to it name it.
fn anchor(all: &[Section], id: &str) -> Option<String> {
    let has_row =
        |table: &Table| table.grid(FORM).is_some_and(|_| table.rows.iter().any(|row| row.id.as_deref() == Some(id)));
    let section = all.iter().find(|section| section.forms.contains(FORM) && section.tables.iter().any(has_row))?;
    let kept = section.title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    Some(format!("#{}", kept.collect::<String>().to_lowercase().replace(' ', "-")))
}
