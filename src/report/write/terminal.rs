//! Reports on a terminal: the headline, then what fits of each section.
//!
//! A table has right-aligned columns in blocks, which are stacked where they do not fit side by side.

use std::fmt;

use anstyle::{AnsiColor, Style};

use crate::report::document::{Block, Cell, Column, Forms, Grid, Headline, Kind, Line, Section, Table, Tone, wrap};
use crate::report::{HTML_FILE, Renderer, Report};

use super::brief;

const FORM: Forms = Forms::TERMINAL;

/// Blanks between the columns of a block, and before a block.
const GAP: usize = 2;
const BLOCK_GAP: usize = 3;

/// Writes for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether it shows colours; the text is the same without.
    pub colour: bool,
    /// Whether it shows all of the report of a run instead of its first screen.
    pub full: bool,
}

impl Renderer for Terminal {
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        if let Some(lines) = brief::lines(report, self.width).filter(|_| !self.full) {
            return lines.iter().try_for_each(|(tone, line)| writeln!(out, "{}", self.paint(line, *tone)));
        }
        self.headline(&report.headline, out)?;
        report.sections.iter().try_for_each(|section| self.section(section, out))?;
        if let Some(folder) = &report.folder {
            writeln!(out, "\nAll results: {folder}")?;
            if report.has_files {
                writeln!(out, "The report with charts: {folder}/{HTML_FILE}")?;
            }
        }
        // The answer again, above the prompt: a long report has scrolled its headline away.
        let answer = match &report.headline.decision {
            Some(decision) => std::slice::from_ref(&decision.answer),
            None if report.folder.is_some() => report.headline.sentences.as_slice(),
            None => &[],
        };
        if answer.is_empty() || report.is_invalid() {
            return Ok(());
        }
        writeln!(out)?;
        self.lines(out, Tone::Strong, answer)
    }
}

impl Terminal {
    /// Lines of a brief result as text.
    pub(crate) fn brief(&self, lines: &[brief::ToneLine]) -> String {
        lines.iter().map(|(tone, line)| self.paint(line, *tone) + "\n").collect()
    }

    fn headline(&self, headline: &Headline, out: &mut dyn fmt::Write) -> fmt::Result {
        if !headline.invalid.is_empty() {
            self.line(out, Tone::Bad, "INVALID RUN: no verdict; do not use any number below.")?;
            self.lines(out, Tone::Bad, &headline.invalid)?;
            writeln!(out)?;
        }
        self.line(out, Tone::Strong, &format!("{}: {}", headline.scenario, headline.title))?;
        self.lines(out, Tone::Faint, &headline.subject)?;
        if headline.has_verdict() {
            writeln!(out)?;
        }
        self.lines(out, Tone::Bad, headline.incomplete.as_slice())?;
        self.lines(out, headline.tone, &headline.sentences)?;
        if !headline.findings_lead().is_empty() {
            self.line(out, Tone::Plain, headline.findings_lead())?;
        }
        let findings = headline.findings.iter().map(|finding| (finding.name.clone(), finding.text.clone()));
        self.entries(out, &findings.collect::<Vec<_>>())?;
        self.lines(out, Tone::Faint, &headline.notes)
    }

    /// Writes a section, when a terminal shows anything of it.
    fn section(&self, section: &Section, out: &mut dyn fmt::Write) -> fmt::Result {
        if !section.is_shown(FORM) {
            return Ok(());
        }
        writeln!(out)?;
        self.line(out, Tone::Strong, &section.title)?;
        let shown = section.tables.iter().filter_map(|table| Some((table, table.grid(FORM)?)));
        for (place, (table, grid)) in shown.enumerate() {
            if place > 0 {
                writeln!(out)?;
                self.line(out, Tone::Strong, &table.title)?;
            }
            self.table(table, &grid, out)?;
        }
        section.items.iter().try_for_each(|item| self.entry(out, "-", 1, item))?;
        for (place, code) in section.code.iter().enumerate() {
            if place > 0 {
                writeln!(out)?;
            }
            self.line(out, Tone::Plain, &code.lead)?;
            code.lines.iter().try_for_each(|line| writeln!(out, "    {line}"))?;
        }
        let notes: Vec<&str> = section.notes(FORM).collect();
        if notes.is_empty() { Ok(()) } else { self.line(out, Tone::Faint, &notes.join(" ")) }
    }

    fn table(&self, table: &Table, grid: &Grid, out: &mut dyn fmt::Write) -> fmt::Result {
        if !table.list.contains(FORM) {
            return self.grid(grid, out);
        }
        let text = |cells: &[Option<&Cell>]| {
            let texts = cells.iter().flatten().map(|cell| cell.line()).filter(|text| !text.is_empty());
            texts.collect::<Vec<_>>().join(" ")
        };
        let entries = grid.lines.iter().map(|line| (line.name.line(), text(&line.cells)));
        self.entries(out, &entries.collect::<Vec<_>>())
    }

    fn line(&self, out: &mut dyn fmt::Write, tone: Tone, text: &str) -> fmt::Result {
        let lines = wrap(&unmarked(text), self.width);
        lines.iter().try_for_each(|line| writeln!(out, "{}", self.paint(line, tone)))
    }

    fn lines(&self, out: &mut dyn fmt::Write, tone: Tone, texts: &[String]) -> fmt::Result {
        texts.iter().try_for_each(|text| self.line(out, tone, text))
    }

    /// A name and what there is to say, the later lines under the first.
    fn entry(&self, out: &mut dyn fmt::Write, name: &str, names: usize, text: &str) -> fmt::Result {
        let room = self.width.saturating_sub(names + 4).max(20);
        for (place, line) in wrap(&unmarked(text), room).iter().enumerate() {
            let name = if place == 0 { name } else { "" };
            writeln!(out, "  {name:names$}  {line}")?;
        }
        Ok(())
    }

    /// Entries under each other, their texts aligned.
    fn entries(&self, out: &mut dyn fmt::Write, entries: &[(String, String)]) -> fmt::Result {
        let names = entries.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        entries.iter().try_for_each(|(name, text)| self.entry(out, name, names, text))
    }

    /// Writes a table with as many blocks side by side as fit into the width.
    fn grid(&self, grid: &Grid, out: &mut dyn fmt::Write) -> fmt::Result {
        let is_grouped = grid.lines.iter().any(|line| line.is_heading);
        let names = Texts::new("", true, grid.lines.iter().map(|line| name(line, is_grouped)).collect());
        let blocks = blocks(grid);
        let mut rest = blocks.as_slice();
        while !rest.is_empty() {
            let (stack, later) = rest.split_at(fitting(rest, self.width.saturating_sub(names.width)));
            self.stack(&names, stack, out)?;
            rest = later;
            if !rest.is_empty() {
                writeln!(out)?;
            }
        }
        Ok(())
    }

    fn stack(&self, names: &Texts, stack: &[TextBlock], out: &mut dyn fmt::Write) -> fmt::Result {
        if stack.iter().any(|block| !block.heading.is_empty()) {
            let heading = |block: &TextBlock| {
                let stroke = "─".repeat(block.width().saturating_sub(block.heading.chars().count() + 1));
                let (heading, stroke) = (self.paint(&block.heading, Tone::Strong), self.paint(&stroke, Tone::Faint));
                format!("{:BLOCK_GAP$}{heading} {stroke}", "")
            };
            let headings: String = stack.iter().map(heading).collect();
            writeln!(out, "{}", format!("{:1$}{headings}", "", names.width).trim_end())?;
        }
        for row in 0..names.texts.len() {
            let mut line = self.cell(names, row);
            for block in stack {
                let cells: Vec<String> = block.columns.iter().map(|column| self.cell(column, row)).collect();
                let gap = BLOCK_GAP + block.width() - block.inner();
                line.push_str(&format!("{:gap$}{}", "", cells.join(&" ".repeat(GAP))));
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// A text as wide as its column.
    fn cell(&self, column: &Texts, row: usize) -> String {
        let (text, tone) = &column.texts[row];
        let (painted, free) = (self.paint(text, *tone), column.width - text.chars().count());
        if column.is_left { format!("{painted}{:free$}", "") } else { format!("{:free$}{painted}", "") }
    }

    fn paint(&self, text: &str, tone: Tone) -> String {
        let style = match tone {
            Tone::Plain | Tone::Hatched => Style::new(),
            // Red from twice the time of the best on.
            Tone::Heat(..4) => AnsiColor::Yellow.on_default(),
            Tone::Heat(_) => AnsiColor::Red.on_default(),
            Tone::Strong => Style::new().bold(),
            Tone::Faint => Style::new().dimmed(),
            Tone::Good | Tone::Best => AnsiColor::Green.on_default().bold(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
        };
        let style = if self.colour && !text.is_empty() { style } else { Style::new() };
        format!("{style}{text}{style:#}")
    }
}

/// A text without the marks of Markdown around names: a terminal has no other type for them.
pub(crate) fn unmarked(text: &str) -> String {
    text.replace('`', "")
}

/// Texts under each other, the first of them a heading.
struct Texts {
    is_left: bool,
    width: usize,
    texts: Vec<(String, Tone)>,
}

impl Texts {
    fn new(heading: &str, is_left: bool, mut texts: Vec<(String, Tone)>) -> Texts {
        texts.insert(0, (heading.to_owned(), Tone::Faint));
        Texts { is_left, width: texts.iter().map(|(text, _)| text.chars().count()).max().unwrap_or(0), texts }
    }
}

/// Columns that stay together, under a common heading unless it is empty.
struct TextBlock {
    heading: String,
    columns: Vec<Texts>,
}

impl TextBlock {
    fn inner(&self) -> usize {
        self.columns.iter().map(|column| column.width).sum::<usize>() + GAP * self.columns.len().saturating_sub(1)
    }

    /// A heading has a stroke behind it.
    fn width(&self) -> usize {
        let heading = if self.heading.is_empty() { 0 } else { self.heading.chars().count() + 2 };
        self.inner().max(heading)
    }
}

/// How many blocks fit; at least one, however narrow the terminal is.
fn fitting(blocks: &[TextBlock], width: usize) -> usize {
    let mut used = 0;
    let fit = blocks.iter().take_while(|block| {
        used += BLOCK_GAP + block.width();
        used <= width
    });
    fit.count().max(1)
}

fn name(line: &Line, is_grouped: bool) -> (String, Tone) {
    match (is_grouped, line.is_heading) {
        (true, true) => (line.name.text.clone(), Tone::Strong),
        (true, false) => (format!("  {}", line.name.named()), line.name.tone),
        (false, _) => (line.name.text.clone(), line.name.tone),
    }
}

fn blocks(grid: &Grid) -> Vec<TextBlock> {
    let cell = |cell: Option<&Cell>| cell.map_or_else(Default::default, |cell| (cell.line(), cell.tone));
    let mut place = 0;
    let block = |block: &Block| {
        let column = |column: &&Column| {
            let texts = grid.lines.iter().map(|line| cell(line.cells.get(place).copied().flatten())).collect();
            place += 1;
            Texts::new(&column.heading, column.kind == Kind::Text, texts)
        };
        let columns = block.columns.iter().map(column).collect();
        TextBlock { heading: block.heading.map_or_else(String::new, Cell::named), columns }
    };
    grid.blocks.iter().map(block).collect()
}
