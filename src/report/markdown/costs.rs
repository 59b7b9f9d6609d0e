//! What calls cost the server, in Markdown.

use std::fmt;

use crate::report::cost::{COLUMNS, MixCost, SILENT};
use crate::report::format::{NOTHING, count, listed, three, time};
use crate::report::{Metric, Report};

use super::escape::escape;
use super::{name_of, table_head, table_row, words};

/// Writes the section, when there is anything to say.
pub(super) fn write(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    let costs = &report.costs;
    if costs.mix.is_empty() && costs.operations.is_empty() && costs.inconsistent.is_empty() {
        return Ok(());
    }
    writeln!(out, "## What a call costs the server\n")?;
    mix(report, out)?;
    operations(report, out)?;
    inconsistent(report, out)
}

fn mix(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    let told = &report.costs.mix;
    let (zero, shown): (Vec<&MixCost>, Vec<&MixCost>) = told.iter().partition(|row| row.is_zero(report));
    if told.is_empty() {
        return if report.costs.is_silent() { writeln!(out, "{SILENT}\n") } else { Ok(()) };
    }
    let mut names = vec!["per call of the mix".to_owned()];
    names.extend(report.strategies.iter().map(name_of));
    table_head(out, &names, 1)?;
    for row in shown {
        let mut texts = vec![row.metric.label.to_owned()];
        texts.extend((0..report.strategies.len()).map(|place| cost(row, place)));
        table_row(out, &texts)?;
    }
    writeln!(
        out,
        "\nGrowth of the server's counters over the measured slices, docshape's own commands subtracted: mean over rounds \
         with its 95 % interval, and how many times the reference's. A mean without an interval is the same in every \
         round, or there is only one.{}{}\n",
        labels(" 0 for all: ", zero.iter().map(|row| row.metric.label)),
        labels(
            " Not told by this server (its version, or the rights of the user): ",
            report.costs.missing.iter().copied()
        ),
    )
}

fn labels<'l>(before: &str, labels: impl Iterator<Item = &'l str>) -> String {
    let labels: Vec<String> = labels.map(str::to_owned).collect();
    if labels.is_empty() { String::new() } else { format!("{before}{}.", listed(&labels)) }
}

fn cost(row: &MixCost, place: usize) -> String {
    let Some(cost) = row.costs.get(place).copied().flatten() else { return NOTHING.into() };
    let reach = cost.reach.filter(|reach| *reach > 0.0);
    let reach = reach.map_or_else(String::new, |reach| format!(" ± {}", row.metric.text(reach)));
    let ratio = cost.ratio.filter(|_| place > 0).map_or_else(String::new, |ratio| format!(", × {}", three(ratio)));
    format!("{}{reach}{ratio}", row.metric.text(cost.per_call))
}

fn operations(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    if report.costs.operations.is_empty() {
        return Ok(());
    }
    let mut names = words(&["operation", "strategy"]);
    names.extend(words(&[
        "round trips",
        "keys examined",
        "documents examined",
        "bytes in",
        "bytes out",
        "oplog",
        "CPU",
    ]));
    table_head(out, &names, 2)?;
    for operation in &report.costs.operations {
        for (strategy, values) in &operation.strategies {
            let mut texts = vec![escape(&operation.operation), escape(strategy)];
            let text =
                |(metric, value): (&Metric, &Option<f64>)| value.map_or_else(|| NOTHING.into(), |v| metric.text(v));
            texts.extend(COLUMNS.iter().zip(values).map(text));
            table_row(out, &texts)?;
        }
    }
    writeln!(
        out,
        "\nPer call, before the first round: every operation alone, one call after the other, nothing else on the server. \
         CPU is approximate: the server's own work in the background is in it.\n"
    )
}

fn inconsistent(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    if report.costs.inconsistent.is_empty() {
        return Ok(());
    }
    table_head(out, &words(&["operation", "strategy", "calls with several writes", "p50", "p99", "longest"]), 2)?;
    for row in &report.costs.inconsistent {
        let mut texts = vec![escape(&row.operation), escape(&row.strategy), count(row.calls)];
        texts.extend(row.times.map(|value| value.map_or_else(|| NOTHING.into(), |value| time(value as f64))));
        table_row(out, &texts)?;
    }
    writeln!(
        out,
        "\nFrom the first write acknowledged to the last of the same call: for so long others can see a state between \
         them.\n"
    )
}
