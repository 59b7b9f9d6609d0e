//! Reports on a terminal: the headline, then what fits of each section.

pub(super) mod layout;

use std::fmt;

use super::format::wrap;
use super::section::{Headline, Section};
use super::table::{Cell, Forms, Grid, Kind, Line, Table, Tone};
use super::{HTML_FILE, Renderer, Report};

const FORM: Forms = Forms::TERMINAL;

/// Writes for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether it shows colours; the text is the same without.
    pub colour: bool,
}

impl Renderer for Terminal {
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        self.headline(&report.headline, out)?;
        report.sections.iter().try_for_each(|section| self.part(section, out))?;
        match &report.folder {
            Some(folder) if report.has_files => {
                writeln!(out, "\nAll results: {folder}\nThe report with charts: {folder}/{HTML_FILE}")
            }
            Some(folder) => writeln!(out, "\nAll results: {folder}"),
            None => Ok(()),
        }
    }
}

impl Terminal {
    pub(super) fn line(&self, out: &mut dyn fmt::Write, tone: Tone, text: &str) -> fmt::Result {
        wrap(text, self.width).iter().try_for_each(|line| writeln!(out, "{}", tone.paint(line, self.colour)))
    }

    pub(super) fn section(&self, out: &mut dyn fmt::Write, heading: &str) -> fmt::Result {
        writeln!(out)?;
        self.line(out, Tone::Strong, heading)
    }

    /// A name and what there is to say, the later lines under the first.
    pub(super) fn entry(&self, out: &mut dyn fmt::Write, name: &str, names: usize, text: &str) -> fmt::Result {
        let room = self.width.saturating_sub(names + 4).max(20);
        for (place, line) in wrap(text, room).iter().enumerate() {
            let name = if place == 0 { name } else { "" };
            writeln!(out, "  {name:names$}  {line}")?;
        }
        Ok(())
    }

    /// Entries under each other, their texts aligned.
    pub(super) fn entries<'a>(
        &self,
        out: &mut dyn fmt::Write,
        entries: impl IntoIterator<Item = &'a (String, String), IntoIter: Clone>,
    ) -> fmt::Result {
        let mut entries = entries.into_iter();
        let names = entries.clone().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        entries.try_for_each(|(name, text)| self.entry(out, name, names, text))
    }

    /// Writes a headline.
    pub(super) fn headline(&self, headline: &Headline, out: &mut dyn fmt::Write) -> fmt::Result {
        if !headline.invalid.is_empty() {
            self.line(out, Tone::Bad, "INVALID RUN: no verdict; do not use any number below.")?;
            headline.invalid.iter().try_for_each(|reason| self.line(out, Tone::Bad, reason))?;
            writeln!(out)?;
        }
        self.line(out, Tone::Strong, &format!("{}: {}", headline.scenario, headline.title))?;
        headline.subject.iter().try_for_each(|line| self.line(out, Tone::Faint, line))?;
        writeln!(out)?;
        headline.incomplete.iter().try_for_each(|status| self.line(out, Tone::Bad, status))?;
        headline.sentences.iter().try_for_each(|sentence| self.line(out, headline.tone, sentence))?;
        let findings = headline.findings.iter().map(|finding| (finding.name.clone(), finding.text.clone()));
        self.entries(out, &findings.collect::<Vec<_>>())?;
        headline.notes.iter().try_for_each(|note| self.line(out, Tone::Faint, note))
    }

    /// Writes a section, when a terminal shows anything of it.
    pub(super) fn part(&self, section: &Section, out: &mut dyn fmt::Write) -> fmt::Result {
        if !section.is_shown(FORM) {
            return Ok(());
        }
        self.section(out, &section.title)?;
        let shown: Vec<&Table> = section.tables.iter().filter(|table| table.grid(FORM).is_some()).collect();
        for (place, table) in shown.iter().enumerate() {
            if place > 0 {
                writeln!(out)?;
                self.line(out, Tone::Strong, &table.title)?;
            }
            self.table(table, out)?;
        }
        section.items.iter().try_for_each(|item| self.entry(out, "-", 1, item))?;
        let notes: Vec<&str> =
            section.notes.iter().filter(|note| note.forms.contains(FORM)).map(|note| note.text.as_str()).collect();
        if notes.is_empty() { Ok(()) } else { self.line(out, Tone::Faint, &notes.join(" ")) }
    }

    fn table(&self, table: &Table, out: &mut dyn fmt::Write) -> fmt::Result {
        let Some(shown) = table.grid(FORM) else { return Ok(()) };
        if table.is_list {
            let text = |cells: &[Option<&Cell>]| {
                let texts = cells.iter().flatten().map(|cell| cell.line()).filter(|text| !text.is_empty());
                texts.collect::<Vec<_>>().join(" ")
            };
            let entries: Vec<(String, String)> =
                shown.lines.iter().map(|line| (line.name.line(), text(&line.cells))).collect();
            return self.entries(out, &entries);
        }
        laid_out(&shown).write(out, self.width, self.colour)
    }
}

/// A cell's name with its remark in brackets.
fn named(cell: &Cell) -> String {
    if cell.remark.is_empty() { cell.text.clone() } else { format!("{} ({})", cell.text, cell.remark) }
}

fn laid_out(shown: &Grid) -> layout::Table {
    let is_grouped = shown.lines.iter().any(|line| line.is_heading);
    let name = |line: &Line| match (is_grouped, line.is_heading) {
        (true, true) => layout::Cell::new(&line.name.text).tone(Tone::Strong),
        (true, false) => layout::Cell::new(format!("  {}", named(line.name))).tone(line.name.tone),
        (false, _) => layout::Cell::new(&line.name.text).tone(line.name.tone),
    };
    let mut place = 0;
    let mut groups = Vec::new();
    for block in &shown.blocks {
        let mut columns = Vec::new();
        for column in &block.columns {
            let cell = |line: &Line| {
                let cell = line.cells.get(place).copied().flatten();
                cell.map_or_else(|| layout::Cell::new(""), |cell| layout::Cell::new(cell.line()).tone(cell.tone))
            };
            let cells: Vec<layout::Cell> = shown.lines.iter().map(cell).collect();
            columns.push(layout::Column { heading: column.heading.clone(), is_text: column.kind == Kind::Text, cells });
            place += 1;
        }
        groups.push(layout::Group { heading: block.heading.map_or_else(String::new, named), columns });
    }
    layout::Table { names: shown.lines.iter().map(name).collect(), groups }
}
