//! The comparison of two runs on a terminal.

use std::fmt;

use crate::stats::{ChangeVerdict, StrategyChange, TimeChange};

use super::super::format::{NOTHING, bytes_change, count, count_change, plain, three};
use super::super::table::Tone;
use super::super::terminal::Terminal;
use super::super::terminal::layout::{Cell, Column, Group, Table};
use super::{RunComparisonReport, cells, described};

/// Entries under the verdict; the table has the others.
const NAMED: usize = 12;

impl RunComparisonReport<'_> {
    /// For a terminal of this width.
    ///
    /// # Errors
    /// When `out` refuses; a `String` never does.
    pub fn terminal(&self, width: usize, colour: bool, out: &mut dyn fmt::Write) -> fmt::Result {
        let page = Terminal { width, colour };
        page.line(out, Tone::Strong, &format!("{}: {}", self.scenario, self.title))?;
        for (name, run) in ["A", "B"].into_iter().zip(&self.runs) {
            page.line(out, Tone::Faint, &format!("{name}  {run}"))?;
        }
        writeln!(out)?;
        let tone = if self.worse.is_empty() { Tone::Strong } else { Tone::Bad };
        self.verdict.iter().try_for_each(|sentence| page.line(out, tone, sentence))?;
        first_entries(page, out, &self.worse)?;
        first_entries(page, out, &self.better)?;
        page.section(out, "Time per call")?;
        self.times().write(out, width, colour)?;
        described(self.found).map_or(Ok(()), |words| page.line(out, Tone::Faint, &words))?;
        page.line(out, Tone::Faint, &self.how)?;
        self.sizes(page, out)?;
        if !self.differs.is_empty() {
            page.section(out, "What differs, A and B")?;
            let pairs: Vec<(String, String)> =
                self.differs.iter().map(|(name, old, new)| (name.clone(), format!("{old} → {new}"))).collect();
            page.entries(out, &pairs)?;
        }
        if !self.warnings.is_empty() {
            page.section(out, "Warnings")?;
            self.warnings.iter().try_for_each(|warning| page.entry(out, "-", 1, warning))?;
        }
        Ok(())
    }

    fn times(&self) -> Table {
        let first = self.found.strategies.iter().max_by_key(|strategy| strategy.rows.len());
        let rows = first.map_or(&[][..], |strategy| &strategy.rows);
        let mut names: Vec<Cell> = rows.iter().map(|row| Cell::new(Self::mix_name(row))).collect();
        if self.found.strategies.iter().any(|strategy| strategy.throughput.is_some()) {
            names.push(Cell::new("calls per second"));
        }
        let groups = self.found.strategies.iter().map(|strategy| group(strategy, rows)).collect();
        Table { names, groups }
    }

    fn sizes(&self, page: Terminal, out: &mut dyn fmt::Write) -> fmt::Result {
        let all = || {
            self.found
                .strategies
                .iter()
                .flat_map(|strategy| strategy.collections.iter().map(move |one| (strategy, one)))
        };
        if all().next().is_none() {
            return Ok(());
        }
        page.section(out, "Collections after the calls of a round, A → B")?;
        let column = |heading: &str,
                      text: &dyn Fn(&crate::stats::CollectionGrowth) -> f64,
                      words: &dyn Fn(f64, f64) -> String| {
            let cell = |(_, (_, old, new)): (_, &(String, Option<_>, Option<_>))| {
                let pair = old.as_ref().map(text).zip(new.as_ref().map(text));
                Cell::new(pair.map_or_else(|| NOTHING.to_owned(), |(old, new)| words(old, new)))
            };
            Column { heading: heading.into(), is_text: false, cells: all().map(cell).collect() }
        };
        let columns = vec![
            column("documents", &|growth| growth.documents.after, &count_change),
            column("mean", &|growth| growth.mean.after, &bytes_change),
            column("storage", &|growth| growth.storage.after, &bytes_change),
            column("indexes", &|growth| growth.indexes.after, &bytes_change),
        ];
        let name = |(strategy, (name, ..)): (&StrategyChange, &(String, _, _))| {
            Cell::new(format!("{}.{}", plain(&strategy.name), plain(name)))
        };
        let table = Table { names: all().map(name).collect(), groups: vec![Group { heading: String::new(), columns }] };
        table.write(out, page.width, page.colour)
    }
}

fn group(strategy: &StrategyChange, rows: &[crate::stats::OperationChange]) -> Group {
    let own = || rows.iter().map(|row| strategy.rows.iter().find(|own| own.operation == row.operation));
    let text = |change: Option<&TimeChange>, part: usize| {
        let tone = change.map_or(Tone::Plain, |change| tone(change.verdict));
        let text = change.map_or_else(|| NOTHING.to_owned(), |change| cells(change)[part].clone());
        // A ratio without a mark stands above those that have one.
        let is_ratio = part == 2;
        let text = if is_ratio && !text.ends_with(['*', '?']) { format!("{text} ") } else { text };
        Cell::new(text).tone(if is_ratio { tone } else { Tone::Plain })
    };
    let mean = |part: usize| own().map(|row| text(row.map(|row| &row.mean), part)).collect::<Vec<_>>();
    let p99 = own().map(|row| text(row.and_then(|row| row.p99.as_ref()), 2)).collect();
    let mut columns: Vec<Column> = ["A", "B", "ratio ", "95 % interval"]
        .into_iter()
        .enumerate()
        .map(|(part, heading)| Column { heading: heading.into(), is_text: false, cells: mean(part) })
        .collect();
    if let Some((before, after)) = strategy.throughput {
        columns[0].cells.push(Cell::new(count(before.round() as u64)));
        columns[1].cells.push(Cell::new(count(after.round() as u64)));
        columns[2].cells.push(Cell::new(format!("{} ", three(after / before))));
    }
    let relative: Vec<Cell> =
        own().map(|row| Cell::new(row.and_then(|row| row.relative).map_or_else(String::new, three))).collect();
    if relative.iter().any(|cell| !cell.text.is_empty()) {
        columns.push(Column { heading: "relative".into(), is_text: false, cells: relative });
    }
    columns.push(Column { heading: "p99 ratio ".into(), is_text: false, cells: p99 });
    Group { heading: plain(&strategy.name), columns }
}

fn tone(verdict: ChangeVerdict) -> Tone {
    match verdict {
        ChangeVerdict::Slower => Tone::Bad,
        ChangeVerdict::Faster => Tone::Good,
        ChangeVerdict::Inconclusive | ChangeVerdict::NotJudged => Tone::Faint,
        ChangeVerdict::NoDifference | ChangeVerdict::Incomparable(_) => Tone::Plain,
    }
}

/// The first so many entries, and how many there are more.
fn first_entries(page: Terminal, out: &mut dyn fmt::Write, entries: &[(String, String)]) -> fmt::Result {
    page.entries(out, &entries[..entries.len().min(NAMED)])?;
    match entries.len().saturating_sub(NAMED) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more, marked in the table"),
    }
}
