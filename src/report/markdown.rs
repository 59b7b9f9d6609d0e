//! The report as Markdown, for reviews.

mod claims;
mod costs;
mod escape;
mod histogram;
mod open;

use std::collections::BTreeSet;
use std::fmt;

use crate::stats::{MINIMUM_ROUNDS, Tally};

use super::format::{NOTHING, bytes, bytes_change, count, count_change, percent, plain, three, time};
use super::{FOLLOWED_AT, Measured, Picture, Renderer, Report, StrategyView};
use escape::code;
pub(super) use escape::escape;

/// Writes GitHub-flavoured Markdown. Texts of the scenario's author are escaped: they cannot add markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Markdown;

impl Renderer for Markdown {
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(out, "# {}\n", escape(&report.title))?;
        void(report, out)?;
        if !report.about.is_empty() {
            writeln!(out, "{}\n", escape(&report.about))?;
        }
        strategies(report, out)?;
        writeln!(out, "\n{}: {}.", escape(&report.scenario), escape(&report.subject()))?;
        verdict(report, out)?;
        thresholds(report, out)?;
        claims::write(report, out)?;
        let pictures = if report.has_files { Picture::all(report) } else { Vec::new() };
        let shown = |file: &str, out: &mut dyn fmt::Write| {
            pictures
                .iter()
                .filter(|picture| picture.file == file)
                .try_for_each(|picture| writeln!(out, "![{}]({})\n", escape(&picture.title), picture.file))
        };
        if report.rounds > 0 {
            shown("forest.svg", out)?;
            ratios(report, out)?;
            sensitivity(report, out)?;
            latencies(report, out)?;
            shown("percentiles.svg", out)?;
            shown("throughput.svg", out)?;
            open::write(report, out)?;
            sizes(report, out)?;
            shown("sizes.svg", out)?;
            followed(report, out)?;
            shown("growth.svg", out)?;
            round_trips(report, out)?;
            shown("cost.svg", out)?;
            costs::write(report, out)?;
            outcomes(report, out)?;
        }
        measured(report, out)
    }
}

/// Column names: the first so many are left-aligned, the others right.
fn table_head(out: &mut dyn fmt::Write, names: &[String], left: usize) -> fmt::Result {
    writeln!(out, "| {} |", names.join(" | "))?;
    writeln!(out, "|{}{}", "---|".repeat(left), "---:|".repeat(names.len().saturating_sub(left)))
}

fn table_row(out: &mut dyn fmt::Write, texts: &[String]) -> fmt::Result {
    writeln!(out, "| {} |", texts.join(" | "))
}

/// Literal column names.
fn words(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn name_of(strategy: &StrategyView) -> String {
    format!("{}{}", escape(&strategy.name), if strategy.is_unsafe { " (unsafe)" } else { "" })
}

fn strategies(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    for (place, strategy) in report.strategies.iter().enumerate() {
        let role = match (place, strategy.is_control) {
            (0, _) => ", the reference",
            (_, true) => ", the control (the reference a second time)",
            _ => "",
        };
        let about = if strategy.about.is_empty() { String::new() } else { format!(": {}", escape(&strategy.about)) };
        writeln!(out, "- **{}**{role}{about}", name_of(strategy))?;
    }
    Ok(())
}

/// On top: that nothing below may be believed, and why.
fn void(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    if !report.is_void() {
        return Ok(());
    }
    writeln!(out, "> **This run is not valid: no verdict, and no number below is to be relied on.**")?;
    report.void.iter().try_for_each(|reason| writeln!(out, ">\n> **{}**", escape(reason)))?;
    writeln!(out)
}

fn verdict(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    writeln!(out, "\n## Verdict\n")?;
    if let Some(status) = &report.status {
        writeln!(out, "> **{}**\n", escape(status))?;
    }
    if !report.verdict.is_empty() {
        writeln!(out, "**{}**\n", escape(&report.verdict.join(" ")))?;
    }
    for (operation, claim) in &report.claims {
        writeln!(out, "- **{}**: {}", escape(operation), escape(claim))?;
    }
    for (operation, reason) in &report.unclaimed {
        writeln!(out, "- **{}**: {}", escape(operation), escape(reason))?;
    }
    if !report.claims.is_empty() || !report.unclaimed.is_empty() {
        writeln!(out)?;
    }
    report.notes.iter().try_for_each(|note| writeln!(out, "{}\n", escape(note)))
}

fn thresholds(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    if report.thresholds.is_empty() {
        return Ok(());
    }
    writeln!(out, "## Thresholds\n")?;
    table_head(out, &words(&["threshold", "result", "found"]), 3)?;
    for threshold in &report.thresholds {
        let result = format!("**{}**", threshold.word());
        table_row(out, &[escape(&threshold.text), result, escape(&threshold.found)])?;
    }
    writeln!(out)
}

fn ratios(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    let Some((reference, others)) = report.strategies.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Ok(());
    };
    writeln!(out, "## Mean {} time in relation to {}\n", report.times(), name_of(reference))?;
    let mut names = vec!["operation".to_owned(), "share of mix".into(), name_of(reference)];
    names.extend(others.iter().map(name_of));
    table_head(out, &names, 1)?;
    for row in &report.rows {
        let mean = |cell: &Measured| cell.mean.map_or_else(|| NOTHING.into(), time);
        let name = if row.is_mix { "**mix**".to_owned() } else { escape(&row.name) };
        let mut texts = vec![name, row.share.map_or_else(String::new, percent)];
        texts.extend(row.cells.first().map(mean));
        texts.extend(row.cells.iter().skip(1).map(|cell| format!("{}, {}", mean(cell), ratio(report, cell))));
        table_row(out, &texts)?;
    }
    let rate = |strategy: &StrategyView| strategy.calls_per_second.map_or_else(|| NOTHING.into(), three);
    let mut texts = words(&["calls per second", ""]);
    texts.extend(report.strategies.iter().map(rate));
    table_row(out, &texts)?;
    writeln!(
        out,
        "\nMean of successful calls, then how many times the reference's, with its 95 % interval in brackets (from \
         {MINIMUM_ROUNDS} rounds on); both are geometric means over rounds. Below × 1 is faster; bold is claimed. The mix weighs the operations' means by \
         their share. Calls per second count all workers and all outcomes.\n"
    )
}

/// The smallest differences that would have been found, where comparisons are judged.
fn sensitivity(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    let detectable = |cell: &Measured| cell.comparison.as_ref().and_then(|comparison| comparison.detectable);
    let judged = |place: &usize| report.rows.iter().any(|row| detectable(&row.cells[*place]).is_some());
    let places: Vec<usize> = (0..report.strategies.len()).filter(judged).collect();
    if places.is_empty() || report.is_void() {
        return Ok(());
    }
    writeln!(out, "## Differences that would have been found\n")?;
    let mut names = vec!["operation".to_owned()];
    names.extend(places.iter().map(|place| name_of(&report.strategies[*place])));
    table_head(out, &names, 1)?;
    for row in &report.rows {
        let mut texts = vec![if row.is_mix { "**mix**".to_owned() } else { escape(&row.name) }];
        texts.extend(places.iter().map(|place| match detectable(&row.cells[*place]) {
            Some(least) if least < 10.0 => percent(least),
            Some(_) => "hardly any".into(),
            None => NOTHING.into(),
        }));
        table_row(out, &texts)?;
    }
    writeln!(out, "\nFour of five such runs find a difference from the reference that is at least so great.\n")
}

fn ratio(report: &Report, cell: &Measured) -> String {
    let Some(ratio) = cell.comparison.as_ref().and_then(|comparison| comparison.ratio) else {
        return NOTHING.into();
    };
    let mean = format!("× {}", three(ratio.mean));
    let mean = if report.claimed(cell).is_some() { format!("**{mean}**") } else { mean };
    match ratio.interval {
        None => mean,
        Some(interval) => format!("{mean} ({} to {})", three(interval.low), three(interval.high)),
    }
}

fn latencies(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    writeln!(out, "## Latency\n")?;
    table_head(out, &words(&["operation", "strategy", "calls", "p50", "p90", "p99", "max"]), 2)?;
    for row in &report.rows {
        for (strategy, cell) in report.strategies.iter().zip(&row.cells) {
            let times = &cell.distribution;
            let shown = |value: Option<u64>| value.map_or_else(|| NOTHING.into(), |value| time(value as f64));
            let mut texts = vec![escape(&row.name), name_of(strategy), count(times.calls())];
            texts.extend([0.5, 0.9, 0.99].map(|share| shown(times.quantile(share))));
            texts.push(shown(times.max()));
            table_row(out, &texts)?;
        }
    }
    writeln!(
        out,
        "\n{} times of the successful calls of all rounds. {NOTHING} where fewer than 10 calls lie beyond the \
         quantile. The mix's calls are as they were drawn.\n",
        report.times_capital()
    )?;
    writeln!(out, "Shares of the successful calls by {} time:\n", report.times())?;
    report.rows.iter().filter(|row| !row.is_mix).try_for_each(|row| histogram::write(report, row, out))
}

fn sizes(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    if report.strategies.iter().all(|strategy| strategy.collections.is_empty()) {
        return Ok(());
    }
    writeln!(out, "## Sizes\n")?;
    let names =
        ["strategy", "collection", "documents", "mean", "p99", "largest", "all documents", "storage", "indexes"];
    table_head(out, &words(&names), 2)?;
    let mut lags = false;
    for strategy in &report.strategies {
        for growth in &strategy.collections {
            lags |= !growth.checkpointed;
            let mut texts = vec![name_of(strategy), escape(&growth.collection)];
            texts.push(count_change(growth.documents.before, growth.documents.after));
            let changes = [growth.mean, growth.p99, growth.max, growth.size, growth.storage, growth.indexes];
            texts.extend(changes.map(|change| bytes_change(change.before, change.after)));
            table_row(out, &texts)?;
        }
    }
    let lag = if lags { " Storage and indexes were read without a flush and lag behind." } else { "" };
    writeln!(
        out,
        "\nBefore → after the measured calls of a round; means over the rounds, the largest of all. Documents are \
         uncompressed, storage and indexes are files. 1 KB is 1000 bytes.{lag}\n"
    )
}

fn followed(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    if report.strategies.iter().all(|strategy| strategy.followed.is_empty()) {
        return Ok(());
    }
    writeln!(out, "## Growth of single documents\n")?;
    let mut names = words(&["strategy", "collection", "document"]);
    names.extend(FOLLOWED_AT.map(|share| format!("{} of calls", percent(share))));
    table_head(out, &names, 3)?;
    for strategy in &report.strategies {
        for growth in &strategy.followed {
            let mut texts = vec![name_of(strategy), escape(&growth.collection), escape(&growth.label)];
            texts.extend(growth.bytes.iter().map(|size| bytes(*size)));
            table_row(out, &texts)?;
        }
    }
    writeln!(
        out,
        "\nSizes read between slices, the nearest to each share; means over the rounds. Number 0 is the most popular.\n"
    )
}

/// A table of operations by strategies.
fn by_operation(report: &Report, out: &mut dyn fmt::Write, text: &dyn Fn(&Tally) -> String) -> fmt::Result {
    let mut names = vec!["operation".to_owned()];
    names.extend(report.strategies.iter().map(name_of));
    table_head(out, &names, 1)?;
    for row in &report.rows {
        let mut texts = vec![escape(&row.name)];
        texts.extend(row.cells.iter().map(|cell| text(&cell.tally)));
        table_row(out, &texts)?;
    }
    Ok(())
}

fn round_trips(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    writeln!(out, "## Round trips per call\n")?;
    by_operation(report, out, &|tally| tally.round_trips_per_call().map_or_else(|| NOTHING.into(), three))?;
    writeln!(out)
}

fn outcomes(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    writeln!(out, "## Outcomes, errors and retries\n")?;
    by_operation(report, out, &|tally| {
        let share = |calls: u64| percent(calls as f64 / tally.calls.max(1) as f64);
        let mut outcomes: Vec<(&String, &u64)> = tally.outcomes.iter().filter(|(_, calls)| **calls > 0).collect();
        outcomes.sort_by_key(|(_, calls)| std::cmp::Reverse(**calls));
        let texts: Vec<String> =
            outcomes.into_iter().map(|(name, calls)| format!("{} {}", escape(&plain(name)), share(*calls))).collect();
        if texts.is_empty() { NOTHING.into() } else { texts.join(", ") }
    })?;
    writeln!(out)?;
    reasons(report, out, "error", &|tally| &tally.errors)?;
    messages(report, out)?;
    reasons(report, out, "retry because of", &|tally| &tally.retries)?;
    audits(report, out)
}

/// What audits counted after the calls, also where that is nothing: it was looked for.
fn audits(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    if report.strategies.iter().all(|strategy| strategy.audits.is_empty()) {
        return Ok(());
    }
    writeln!(out, "### Audits\n\nAnomalies in the data after the last call of every round.\n")?;
    table_head(out, &words(&["strategy", "audit", "anomalies", "rounds with some"]), 2)?;
    for strategy in &report.strategies {
        for audit in &strategy.audits {
            let rounds = format!("{} of {}", audit.wrong, audit.cells);
            table_row(out, &[name_of(strategy), escape(&plain(&audit.audit)), count(audit.total), rounds])?;
        }
    }
    writeln!(out)
}

/// What the server said to the first failure of each reason.
fn messages(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    let mut any = false;
    for strategy in &report.strategies {
        for (reason, words) in &strategy.tally.messages {
            writeln!(out, "- {}, {}: {}", name_of(strategy), escape(&plain(reason)), escape(&plain(words)))?;
            any = true;
        }
    }
    if any { writeln!(out) } else { Ok(()) }
}

type Reasons = std::collections::BTreeMap<String, u64>;

/// Counts of errors or retries by reason, when there were any.
fn reasons(report: &Report, out: &mut dyn fmt::Write, what: &str, of: &dyn Fn(&Tally) -> &Reasons) -> fmt::Result {
    let all: BTreeSet<&String> = report.strategies.iter().flat_map(|strategy| of(&strategy.tally).keys()).collect();
    if all.is_empty() {
        return Ok(());
    }
    let mut names = vec![what.to_owned()];
    names.extend(report.strategies.iter().map(name_of));
    table_head(out, &names, 1)?;
    for reason in all {
        let mut texts = vec![escape(&plain(reason))];
        texts.extend(report.strategies.iter().map(|s| count(of(&s.tally).get(reason).copied().unwrap_or(0))));
        table_row(out, &texts)?;
    }
    writeln!(out)
}

fn measured(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    if !report.warnings.is_empty() {
        writeln!(out, "## Warnings\n")?;
        report.warnings.iter().try_for_each(|warning| writeln!(out, "- {}", escape(warning)))?;
        writeln!(out)?;
    }
    writeln!(out, "## How it was measured\n")?;
    writeln!(out, "| | |\n|---|---|")?;
    for (name, value) in &report.measured {
        table_row(out, &[escape(name), escape(value)])?;
    }
    writeln!(
        out,
        "\nTo measure it again (a scenario that is not in the catalogue is named by its file; `run.json` holds its \
         text):\n\n```sh\n{}\n```",
        code(&report.command)
    )
}
