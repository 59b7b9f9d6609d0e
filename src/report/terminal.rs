//! The report on a terminal: the verdict first, then one table.

mod costs;

use std::fmt;

use crate::stats::{Anomalies, Claim, CollectionGrowth, Distribution, OpenLoad};

use super::claims::HOW;
use super::format::{NOTHING, bytes, bytes_change, count, count_change, counted, percent, three, time, wrap};
use super::table::{Cell, Column, Group, Table, Tone};
use super::{ClaimView, HTML_FILE, Measured, Renderer, Report, StrategyView, ThresholdView};

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
        self.void(report, out)?;
        self.line(out, Tone::Strong, &format!("{}: {}", report.scenario, report.title))?;
        self.line(out, Tone::Faint, &report.subject())?;
        self.verdict(report, out)?;
        self.thresholds(report, out)?;
        self.claims(report, out)?;
        if report.rounds > 0 {
            self.section(out, &format!("{} time per call", report.times_capital()))?;
            times(report).write(out, self.width, self.colour)?;
            self.footnotes(report, out)?;
            self.open(report, out)?;
            self.sizes(report, out)?;
            costs::write(self, report, out)?;
            self.unusual(report, out)?;
        }
        self.warnings(report, out)?;
        match &report.folder {
            Some(folder) if report.has_files => {
                writeln!(
                    out,
                    "\nAll results: {folder}\nThe report with pictures: {}",
                    format_args!("{folder}/{HTML_FILE}")
                )
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

    /// Above everything else: that nothing below may be believed, and why.
    fn void(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        if !report.is_void() {
            return Ok(());
        }
        self.line(out, Tone::Bad, "THIS RUN IS NOT VALID: no verdict, and no number below is to be relied on.")?;
        report.void.iter().try_for_each(|reason| self.line(out, Tone::Bad, reason))?;
        writeln!(out)
    }

    fn verdict(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(out)?;
        if let Some(status) = &report.status {
            self.line(out, Tone::Bad, status)?;
        }
        report.verdict.iter().try_for_each(|sentence| self.line(out, Tone::Strong, sentence))?;
        self.entries(out, report.claims.iter().chain(&report.unclaimed))?;
        report.notes.iter().try_for_each(|note| self.line(out, Tone::Faint, note))
    }

    fn thresholds(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        if report.thresholds.is_empty() {
            return Ok(());
        }
        self.section(out, "Thresholds")?;
        let found =
            |threshold: &ThresholdView| (threshold.text.clone(), format!("{}: {}", threshold.word(), threshold.found));
        self.entries(out, &report.thresholds.iter().map(found).collect::<Vec<_>>())
    }

    fn claims(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        if report.scenario_claims.is_empty() {
            return Ok(());
        }
        self.section(out, "Claims")?;
        let entry = |claim: &ClaimView| {
            let ClaimView { id, says, verdict, measure, found, .. } = claim;
            (format!("{} {id}", verdict.mark()), format!("{says} {}, {measure}: {found}", verdict.word()))
        };
        self.entries(out, &report.scenario_claims.iter().map(entry).collect::<Vec<_>>())?;
        self.line(out, Tone::Faint, HOW)
    }

    fn footnotes(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        let reference = report.strategies.first().map_or("the first strategy", |strategy| &strategy.name);
        let mut notes = vec![format!("ratio: mean in relation to {reference}'s, below 1 is faster.")];
        let cells = || report.rows.iter().flat_map(|row| &row.cells);
        if cells().any(|cell| report.claimed(cell).is_some()) {
            notes.push("* claimed.".into());
        }
        if report.strategies.iter().any(|strategy| strategy.is_unsafe) {
            notes.push("! unsafe.".into());
        }
        if cells().any(|cell| cell.distribution.quantile(0.99).is_none()) {
            notes.push(format!("{NOTHING} fewer than 10 calls beyond it."));
        }
        self.line(out, Tone::Faint, &notes.join(" "))
    }

    fn open(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        let all: Vec<(&str, &OpenLoad)> =
            report.strategies.iter().filter_map(|s| Some((s.name.as_str(), s.open.as_ref()?))).collect();
        if all.is_empty() {
            return Ok(());
        }
        self.section(out, "Calls per second offered and achieved")?;
        open(&all).write(out, self.width, self.colour)?;
        let note = "achieved: sent before the last call of their slice fell due. lag: until the pacer released the call. wait: \
                    until a worker was free. skipped: waited longer than the timeout. given up: not begun when its slice was over. \
                    service and response: means.";
        self.line(out, Tone::Faint, note)
    }

    fn sizes(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        if report.strategies.iter().all(|strategy| strategy.collections.is_empty()) {
            return Ok(());
        }
        self.section(out, "Collections before → after the calls of a round")?;
        sizes(report).write(out, self.width, self.colour)?;
        let lag =
            report.strategies.iter().flat_map(|strategy| &strategy.collections).any(|growth| !growth.checkpointed);
        let lag = if lag { " Storage and indexes were read without a flush and lag behind." } else { "" };
        self.line(
            out,
            Tone::Faint,
            &format!(
                "Means over rounds, the largest of all; storage and indexes after the calls; 1 KB is 1000 bytes.{lag}"
            ),
        )
    }

    fn unusual(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        let lines: Vec<(String, String)> = report.strategies.iter().filter_map(unusual).collect();
        if lines.is_empty() {
            return Ok(());
        }
        self.section(out, "Refused, failed and repeated")?;
        self.entries(out, &lines)
    }

    fn warnings(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        if report.warnings.is_empty() {
            return Ok(());
        }
        self.section(out, "Warnings")?;
        report.warnings.iter().try_for_each(|warning| self.entry(out, "-", 1, warning))
    }
}

fn heading(report: &Report, place: usize) -> String {
    let strategy = &report.strategies[place];
    let mark = if strategy.is_unsafe { " !" } else { "" };
    let role = if place == 0 && report.strategies.len() > 1 { " (reference)" } else { "" };
    format!("{}{mark}{role}", strategy.name)
}

fn times(report: &Report) -> Table {
    let mut names: Vec<Cell> = report.rows.iter().map(|row| Cell::new(&row.name).tone(emphasis(row.is_mix))).collect();
    names.push(Cell::new("calls per second"));
    let group = |place: usize| {
        let cells = || report.rows.iter().map(move |row| (row.is_mix, &row.cells[place]));
        let text = |text: Option<String>| text.unwrap_or_else(|| NOTHING.into());
        let mut mean: Vec<Cell> =
            cells().map(|(is_mix, cell)| Cell::new(text(cell.mean.map(time))).tone(emphasis(is_mix))).collect();
        mean.push(Cell::new(text(report.strategies[place].calls_per_second.map(three))));
        let p99 = |cell: &Measured| text(cell.distribution.quantile(0.99).map(|value| time(value as f64)));
        let mut columns = vec![
            Column { heading: "mean".into(), cells: mean },
            Column { heading: "p99".into(), cells: cells().map(|(_, cell)| Cell::new(p99(cell))).collect() },
        ];
        // Of the control only the ratio matters: it is the reference again.
        if report.strategies[place].is_control {
            columns.clear();
        }
        if place > 0 {
            columns.push(Column {
                heading: "ratio ".into(),
                cells: cells().map(|(_, cell)| ratio(report, cell)).collect(),
            });
            let intervals: Vec<Cell> = cells().map(|(_, cell)| interval(cell)).collect();
            if !report.strategies[place].is_control && intervals.iter().any(|cell| !cell.text.is_empty()) {
                columns.push(Column { heading: "95 % interval".into(), cells: intervals });
            }
        }
        Group { heading: heading(report, place), columns }
    };
    Table { names, groups: (0..report.strategies.len()).map(group).collect() }
}

fn emphasis(is_mix: bool) -> Tone {
    if is_mix { Tone::Strong } else { Tone::Plain }
}

fn ratio(report: &Report, cell: &Measured) -> Cell {
    let Some(ratio) = cell.comparison.as_ref().and_then(|comparison| comparison.ratio) else {
        return Cell::new(format!("{NOTHING} "));
    };
    let (mark, tone) = match report.claimed(cell) {
        Some(Claim::Faster) => ("*", Tone::Good),
        Some(_) => ("*", Tone::Bad),
        None => (" ", Tone::Plain),
    };
    Cell::new(format!("{}{mark}", three(ratio.mean))).tone(tone)
}

fn interval(cell: &Measured) -> Cell {
    let interval = cell.comparison.as_ref().and_then(|comparison| comparison.ratio?.interval);
    Cell::new(interval.map_or(String::new(), |interval| format!("{} to {}", three(interval.low), three(interval.high))))
}

fn open(all: &[(&str, &OpenLoad)]) -> Table {
    let group = |heading: &str, text: &dyn Fn(&OpenLoad) -> String| {
        let cells = all.iter().map(|(_, open)| Cell::new(text(open))).collect();
        Group { heading: String::new(), columns: vec![Column { heading: heading.into(), cells }] }
    };
    let shown = |value: Option<f64>| value.map_or_else(|| NOTHING.into(), time);
    let p99 = |times: &Distribution| shown(times.quantile(0.99).map(|value| value as f64));
    let groups = vec![
        group("offered", &|open| three(open.offered)),
        group("achieved", &|open| three(open.achieved)),
        group("skipped", &|open| count(open.skipped)),
        group("given up", &|open| count(open.never_started)),
        group("lag p99", &|open| p99(&open.pacer_lag)),
        group("wait p99", &|open| p99(&open.queue_wait)),
        group("service", &|open| shown(open.service_mean)),
        group("response", &|open| shown(open.response_mean)),
    ];
    Table { names: all.iter().map(|(name, _)| Cell::new(*name)).collect(), groups }
}

fn sizes(report: &Report) -> Table {
    let mut names = Vec::new();
    let mut rows: Vec<Option<&CollectionGrowth>> = Vec::new();
    let shown = report.strategies.iter().filter(|strategy| !strategy.is_control && !strategy.collections.is_empty());
    for strategy in shown {
        names.push(Cell::new(&strategy.name).tone(Tone::Strong));
        rows.push(None);
        for growth in &strategy.collections {
            names.push(Cell::new(format!("  {}", growth.collection)));
            rows.push(Some(growth));
        }
    }
    let group = |heading: &str, text: &dyn Fn(&CollectionGrowth) -> String| {
        let cells = rows.iter().map(|row| Cell::new(row.map(text).unwrap_or_default())).collect();
        Group { heading: String::new(), columns: vec![Column { heading: heading.into(), cells }] }
    };
    let groups = vec![
        group("documents", &|growth| count_change(growth.documents.before, growth.documents.after)),
        group("mean size", &|growth| bytes_change(growth.mean.before, growth.mean.after)),
        group("largest", &|growth| bytes_change(growth.max.before, growth.max.after)),
        group("storage", &|growth| bytes(growth.storage.after)),
        group("indexes", &|growth| bytes(growth.indexes.after)),
    ];
    Table { names, groups }
}

/// What an audit counted, when that must not be.
fn anomalies(audit: &Anomalies) -> Option<String> {
    let Anomalies { audit, cells, wrong, total } = audit;
    let name = super::format::plain(audit);
    (*wrong > 0).then(|| format!("audit {name}: {} in {wrong} of {}", count(*total), counted(*cells, "round")))
}

/// The server's words as one line, cut where they become long.
fn shortened(words: &str) -> String {
    const LONGEST: usize = 120;
    let plain = super::format::plain(words);
    match plain.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain,
    }
}

/// The refused, failed and repeated calls of a strategy and its anomalies, when there were any.
fn unusual(strategy: &StrategyView) -> Option<(String, String)> {
    let tally = &strategy.tally;
    let share = |calls: u64| percent(calls as f64 / tally.calls.max(1) as f64);
    let refused = tally.outcomes.iter().filter(|(outcome, _)| outcome.starts_with("refused"));
    let mut parts: Vec<String> = refused
        .map(|(outcome, calls)| format!("{} {} ({})", count(*calls), super::format::plain(outcome), share(*calls)))
        .collect();
    if tally.failed() > 0 {
        let reasons = tally.errors.iter().map(|(reason, calls)| {
            let words = tally.messages.get(reason).map_or(String::new(), |words| format!(" ({})", shortened(words)));
            format!("{} x {}{words}", count(*calls), super::format::plain(reason))
        });
        let reasons: Vec<String> = reasons.collect();
        parts.push(format!("{} failed ({}): {}", count(tally.failed()), share(tally.failed()), reasons.join(", ")));
    }
    if !tally.retries.is_empty() {
        let causes =
            tally.retries.iter().map(|(cause, times)| format!("{} x {}", count(*times), super::format::plain(cause)));
        let causes: Vec<String> = causes.collect();
        parts.push(format!("{} begun again: {}", counted(tally.retries.values().sum(), "attempt"), causes.join(", ")));
    }
    parts.extend(strategy.audits.iter().filter_map(anomalies));
    (!parts.is_empty()).then(|| (strategy.name.clone(), parts.join("; ")))
}
