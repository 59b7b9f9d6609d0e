//! Tables for a terminal: right-aligned columns in groups, stacked where they do not fit side by side.

use std::fmt;

use anstyle::{AnsiColor, Style};

use crate::report::table::Tone;

impl Tone {
    /// The text in this tone.
    pub(in crate::report) fn paint(self, text: &str, colour: bool) -> String {
        let style = match self {
            Tone::Plain => return text.to_owned(),
            Tone::Strong => Style::new().bold(),
            Tone::Faint => Style::new().dimmed(),
            Tone::Good | Tone::Best => AnsiColor::Green.on_default().bold(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
        };
        match colour && !text.is_empty() {
            true => format!("{style}{text}{style:#}"),
            false => text.to_owned(),
        }
    }
}

/// One text of a table.
#[derive(Debug, Clone)]
pub(in crate::report) struct Cell {
    pub(in crate::report) text: String,
    pub(in crate::report) tone: Tone,
}

impl Cell {
    pub(in crate::report) fn new(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), tone: Tone::Plain }
    }

    pub(in crate::report) fn tone(self, tone: Tone) -> Cell {
        Cell { tone, ..self }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// A column: its heading and a cell per row.
#[derive(Debug)]
pub(in crate::report) struct Column {
    pub(in crate::report) heading: String,
    /// Whether it begins on the left.
    pub(in crate::report) is_text: bool,
    pub(in crate::report) cells: Vec<Cell>,
}

impl Column {
    fn width(&self) -> usize {
        let widest = self.cells.iter().map(Cell::width).max().unwrap_or(0);
        widest.max(self.heading.chars().count())
    }
}

/// Columns that stay together, under a heading of their own unless it is empty.
#[derive(Debug)]
pub(in crate::report) struct Group {
    pub(in crate::report) heading: String,
    pub(in crate::report) columns: Vec<Column>,
}

impl Group {
    fn inner(&self) -> usize {
        self.columns.iter().map(Column::width).sum::<usize>() + GAP * self.columns.len().saturating_sub(1)
    }

    /// A heading of its own has a stroke behind it.
    fn width(&self) -> usize {
        let heading = if self.heading.is_empty() { 0 } else { self.heading.chars().count() + 2 };
        self.inner().max(heading)
    }
}

/// Row names, and groups of columns.
#[derive(Debug)]
pub(in crate::report) struct Table {
    pub(in crate::report) names: Vec<Cell>,
    pub(in crate::report) groups: Vec<Group>,
}

const GAP: usize = 2;
const GROUP_GAP: usize = 3;

impl Table {
    /// Writes it, as many groups side by side as fit into the width.
    pub(in crate::report) fn write(&self, out: &mut dyn fmt::Write, width: usize, colour: bool) -> fmt::Result {
        let names = self.names.iter().map(Cell::width).max().unwrap_or(0);
        let mut rest = self.groups.as_slice();
        while !rest.is_empty() {
            let (stack, later) = rest.split_at(fitting(rest, width.saturating_sub(names)));
            self.write_stack(out, stack, names, colour)?;
            rest = later;
            if !rest.is_empty() {
                writeln!(out)?;
            }
        }
        Ok(())
    }

    fn write_stack(&self, out: &mut dyn fmt::Write, stack: &[Group], names: usize, colour: bool) -> fmt::Result {
        if stack.iter().any(|group| !group.heading.is_empty()) {
            let mut line = " ".repeat(names);
            for group in stack {
                let stroke = group.width().saturating_sub(group.heading.chars().count() + 1);
                let heading = Tone::Strong.paint(&group.heading, colour);
                let stroke = Tone::Faint.paint(&"─".repeat(stroke), colour);
                line.push_str(&format!("{:GROUP_GAP$}{heading} {stroke}", ""));
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        let heading = |column: &Column| Cell::new(&column.heading).tone(Tone::Faint);
        let line = Line { names, stack, colour };
        line.write(out, &Cell::new(""), &heading)?;
        for (row, name) in self.names.iter().enumerate() {
            let cell = |column: &Column| column.cells.get(row).cloned().unwrap_or_else(|| Cell::new(""));
            line.write(out, name, &cell)?;
        }
        Ok(())
    }
}

/// How many groups fit; at least one, however narrow the terminal is.
fn fitting(groups: &[Group], width: usize) -> usize {
    let mut used = 0;
    let fit = groups.iter().take_while(|group| {
        used += GROUP_GAP + group.width();
        used <= width
    });
    fit.count().max(1)
}

/// How the lines of one stack are laid out.
struct Line<'s> {
    names: usize,
    stack: &'s [Group],
    colour: bool,
}

impl Line<'_> {
    /// Writes a row's name and its cell of every column.
    fn write(&self, out: &mut dyn fmt::Write, name: &Cell, cell: &dyn Fn(&Column) -> Cell) -> fmt::Result {
        let mut line = name.tone.paint(&name.text, self.colour);
        // Blanks are written only before a text, so that no line ends in them, with colour or without.
        let mut blanks = self.names - name.width();
        for group in self.stack {
            blanks += GROUP_GAP + group.width() - group.inner();
            for (place, column) in group.columns.iter().enumerate() {
                let cell = cell(column);
                let free = column.width() - cell.width();
                let (left, right) = if column.is_text { (0, free) } else { (free, 0) };
                blanks += if place > 0 { GAP } else { 0 } + left;
                let text = cell.text.trim_end();
                if !text.is_empty() {
                    line.push_str(&" ".repeat(blanks));
                    line.push_str(&cell.tone.paint(text, self.colour));
                    blanks = 0;
                }
                blanks += cell.width() - text.chars().count() + right;
            }
        }
        writeln!(out, "{line}")
    }
}
