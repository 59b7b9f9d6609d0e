//! What calls cost the server, on a terminal.

use std::fmt;

use crate::report::cost::{COLUMNS, MixCost, SILENT};
use crate::report::format::{NOTHING, count, listed, three, time};
use crate::report::table::{Cell, Column, Group, Table, Tone};
use crate::report::{Metric, Report};

use super::{Terminal, heading};

/// Writes the section, when there is anything to say.
pub(super) fn write(terminal: &Terminal, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    let shown: Vec<&MixCost> =
        report.costs.mix.iter().filter(|row| row.metric.is_main && !row.is_zero(report)).collect();
    if !shown.is_empty() {
        terminal.section(out, "What a call of the mix costs the server")?;
        mix(report, &shown).write(out, terminal.width, terminal.colour)?;
        terminal.line(out, Tone::Faint, &footnote(report))?;
    }
    if report.costs.is_silent() {
        terminal.section(out, "What a call of the mix costs the server")?;
        terminal.line(out, Tone::Faint, SILENT)?;
    }
    if !report.costs.operations.is_empty() {
        terminal.section(out, "What one call costs the server when nothing else runs")?;
        operations(report).write(out, terminal.width, terminal.colour)?;
        let note = "Round trips, keys and documents examined, bytes in and out, bytes in the oplog, and about how much \
                    CPU time.";
        terminal.line(out, Tone::Faint, note)?;
    }
    inconsistent(terminal, report, out)
}

fn footnote(report: &Report) -> String {
    let missing: Vec<String> = report.costs.missing.iter().map(|label| (*label).to_owned()).collect();
    let missing = match missing.is_empty() {
        true => String::new(),
        false => format!(" Not told by this server: {}.", listed(&missing)),
    };
    let spread = if report.rounds > 1 { "; ±: 95 % interval of the mean over rounds" } else { "" };
    format!("Growth of the server's counters{spread}.{missing}")
}

fn mix(report: &Report, rows: &[&MixCost]) -> Table {
    let column = |heading: &str, text: &dyn Fn(&MixCost) -> Option<String>| Column {
        heading: heading.to_owned(),
        cells: rows.iter().map(|row| Cell::new(text(row).unwrap_or_else(|| NOTHING.into()))).collect(),
    };
    let group = |place: usize| {
        let per_call = |row: &MixCost| row.costs.get(place)?.map(|cost| row.metric.text(cost.per_call));
        let spread = |row: &MixCost| {
            let cost = row.costs.get(place)?.as_ref()?;
            let share = cost.reach.filter(|_| cost.per_call > 0.0).map(|reach| reach / cost.per_call * 100.0);
            Some(share.filter(|share| *share > 0.0).map_or_else(String::new, |share| format!("{} %", two(share))))
        };
        let ratio = |row: &MixCost| row.costs.get(place)?.as_ref()?.ratio.map(three);
        let mut columns = vec![column("mean", &per_call)];
        if report.rounds > 1 {
            columns.push(column("±", &spread));
        }
        if place > 0 {
            columns.push(column("ratio", &ratio));
        }
        Group { heading: heading(report, place), columns }
    };
    let places = (0..report.strategies.len()).filter(|place| !report.strategies[*place].is_control);
    Table { names: rows.iter().map(|row| Cell::new(row.metric.label)).collect(), groups: places.map(group).collect() }
}

/// A percentage to two digits; how much more than all it is, is of no use.
fn two(share: f64) -> String {
    match share {
        ..9.95 => format!("{share:.1}"),
        ..100.0 => format!("{share:.0}"),
        _ => "> 100".to_owned(),
    }
}

fn operations(report: &Report) -> Table {
    let mut names = Vec::new();
    let mut rows: Vec<Option<&Vec<Option<f64>>>> = Vec::new();
    for operation in &report.costs.operations {
        names.push(Cell::new(&operation.operation).tone(Tone::Strong));
        rows.push(None);
        for (strategy, values) in &operation.strategies {
            names.push(Cell::new(format!("  {strategy}")));
            rows.push(Some(values));
        }
    }
    let column = |(place, metric): (usize, &Metric)| {
        let value =
            |values: &Vec<Option<f64>>| values[place].map_or_else(|| NOTHING.into(), |value| metric.text(value));
        let cells = rows.iter().map(|row| Cell::new(row.map(value).unwrap_or_default())).collect();
        Column { heading: metric.label.into(), cells }
    };
    let columns = COLUMNS.iter().enumerate().map(column).collect();
    Table { names, groups: vec![Group { heading: String::new(), columns }] }
}

fn inconsistent(terminal: &Terminal, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    if report.costs.inconsistent.is_empty() {
        return Ok(());
    }
    terminal.section(out, "Between the first and the last write of a call, where others can see half of it")?;
    let rows = &report.costs.inconsistent;
    let column = |heading: &str, place: usize| Column {
        heading: heading.to_owned(),
        cells: rows
            .iter()
            .map(|row| Cell::new(row.times[place].map_or_else(|| NOTHING.into(), |value| time(value as f64))))
            .collect(),
    };
    let calls = Column { heading: "calls".into(), cells: rows.iter().map(|row| Cell::new(count(row.calls))).collect() };
    let columns = vec![calls, column("p50", 0), column("p99", 1), column("longest", 2)];
    let names = rows.iter().map(|row| Cell::new(format!("{}, {}", row.operation, row.strategy))).collect();
    Table { names, groups: vec![Group { heading: String::new(), columns }] }.write(out, terminal.width, terminal.colour)
}
