//! What became of the calls: outcomes, errors, retries and audits.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::record::CallOutcome;
use crate::report::document::cell::{Cell, Tone};
use crate::report::document::format::{NOTHING, count, counted, percent, plain};
use crate::report::document::section::Section;
use crate::report::document::table::{Column, Forms, Kind, Measure, Row, Table};
use crate::report::run::evaluation::{Evaluation, StrategyResults};
use crate::stats::{Anomalies, OutcomeTotals};

use super::{operation_cell, strategy_cell};

/// Most characters of a server's message on a terminal.
const LONGEST_MESSAGE: usize = 120;

/// Outcomes, errors and retries; `None` without rounds.
pub(crate) fn section(run: &Evaluation) -> Option<Section> {
    let tables = [Some(outcomes(run)), errors(run), retries(run), exceptions(run)];
    let section = Section::new("outcomes", "Outcomes, errors and retries");
    (run.rounds > 0).then(|| tables.into_iter().flatten().fold(section, Section::table))
}

fn outcomes(run: &Evaluation) -> Table {
    let map = |key, about, map: fn(&&OutcomeTotals) -> Value| Measure::data(key, about, map).of(Kind::Map);
    let metrics = [
        Measure::cell("outcomes", "outcomes", "Calls by outcome.", |totals: &&OutcomeTotals| {
            let tone = if totals.failed() > 0 { Tone::Bad } else { Tone::Plain };
            Cell::text(shares(totals)).tone(tone).with_value(counts(&totals.outcomes))
        })
        .of(Kind::Map),
        Measure::data("calls", "Completed calls.", |totals| totals.calls),
        Measure::data("round_trips", "Messages exchanged.", |totals| totals.round_trips),
        Measure::data("above_bound", "Calls that took longer than can be recorded.", |totals| totals.saturated),
        Measure::data("unknown", "Failed calls of which it is unknown whether they took effect.", |totals| {
            totals.unknown
        }),
        map("errors", "Failures by reason.", |totals| counts(&totals.errors)),
        map("messages", "The server's message for the first failure of each reason.", |totals| {
            let messages = totals.messages.iter().map(|(reason, text)| (plain(reason), Value::from(plain(text))));
            Value::Object(messages.collect())
        }),
        map("retries", "Retries by cause.", |totals| counts(&totals.retries)),
    ];
    let rows = run.mix_first().flat_map(|row| {
        let group = operation_cell(row).remark("");
        row.cells.iter().enumerate().map(move |(place, cell)| {
            (Row::new(strategy_cell(run, place)).group(group.clone()).series(place), &cell.totals)
        })
    });
    let table = Table::new("outcomes", "Outcomes", Column::strategy(), &metrics, rows);
    let group = Column::operation();
    table.grouped(group).side_by_side(Forms::DOCUMENT).only(Forms::DETAILED)
}

/// Counts by name. Two names may read the same once they are on one line.
fn counts(counts: &BTreeMap<impl ToString, u64>) -> Value {
    let mut named: BTreeMap<String, u64> = BTreeMap::new();
    counts.iter().for_each(|(name, count)| *named.entry(plain(&name.to_string())).or_default() += count);
    Value::Object(named.into_iter().map(|(name, count)| (name, Value::from(count))).collect::<Map<_, _>>())
}

fn share(calls: u64, totals: &OutcomeTotals) -> String {
    percent(calls as f64 / totals.calls.max(1) as f64)
}

fn shares(totals: &OutcomeTotals) -> String {
    let mut outcomes: Vec<(&CallOutcome, &u64)> = totals.outcomes.iter().filter(|(_, calls)| **calls > 0).collect();
    outcomes.sort_by_key(|(_, calls)| std::cmp::Reverse(**calls));
    let texts =
        outcomes.into_iter().map(|(name, calls)| format!("{} {}", plain(&name.to_string()), share(*calls, totals)));
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() { NOTHING.to_owned() } else { texts.join(", ") }
}

/// A reason, how often, and the server's message for it.
type Reason<'r> = (&'r str, u64, Option<&'r String>);

fn errors(run: &Evaluation) -> Option<Table> {
    let metrics = [
        Measure::text("error", "error", "The reason.", |(reason, ..): &Reason| plain(reason)),
        Measure::count("calls", "calls", "Failed calls.", |(_, calls, _)| *calls),
        Measure::text("message", "message", "The server's message for the first.", |(.., message)| {
            message.map_or_else(String::new, |message| plain(message))
        }),
    ];
    by_reason("errors", "Errors", &metrics, run, |totals| &totals.errors)
}

fn retries(run: &Evaluation) -> Option<Table> {
    let metrics = [
        Measure::text("cause", "retry because of", "The cause.", |(cause, ..): &Reason| plain(cause)),
        Measure::count("retries", "retries", "Retried attempts.", |(_, retries, _)| *retries),
    ];
    by_reason("retries", "Retries", &metrics, run, |totals| &totals.retries)
}

fn by_reason<'r>(
    id: &'static str,
    title: &str,
    metrics: &[Measure<'_, Reason<'r>>],
    run: &'r Evaluation,
    of: fn(&OutcomeTotals) -> &BTreeMap<String, u64>,
) -> Option<Table> {
    let rows = run.strategies.iter().enumerate().flat_map(|(place, strategy)| {
        of(&strategy.totals).iter().map(move |(reason, calls)| {
            let message = strategy.totals.messages.get(reason);
            (Row::new(strategy_cell(run, place)).series(place), (reason.as_str(), *calls, message))
        })
    });
    let table = Table::new(id, title, Column::strategy(), metrics, rows).only(Forms::DETAILED);
    (!table.rows.is_empty()).then_some(table)
}

/// What a terminal says of calls that were rejected, failed or retried, and of audits.
fn exceptions(run: &Evaluation) -> Option<Table> {
    let metrics = [Measure::text("", "", "", |text: &String| Cell::text(text.as_str()))];
    let rows =
        run.strategies.iter().filter_map(|strategy| Some((Row::new(strategy.name.as_str()), exception(strategy)?)));
    let table = Table::new("exceptions", "", Column::text("", "", ""), &metrics, rows).list().only(Forms::TERMINAL);
    (!table.rows.is_empty()).then_some(table)
}

fn exception(strategy: &StrategyResults) -> Option<String> {
    let totals = &strategy.totals;
    let rejected = totals.outcomes.iter().filter(|(outcome, _)| outcome.is_rejected());
    let rejected = rejected.map(|(outcome, calls)| {
        format!("{} {} ({})", count(*calls), plain(&outcome.to_string()), share(*calls, totals))
    });
    let mut parts: Vec<String> = rejected.collect();
    if totals.failed() > 0 {
        let reasons = totals.errors.iter().map(|(reason, calls)| {
            let message =
                totals.messages.get(reason).map_or_else(String::new, |text| format!(" ({})", shortened(text)));
            format!("{} x {}{message}", count(*calls), plain(reason))
        });
        let (failed, reasons) = (totals.failed(), reasons.collect::<Vec<_>>().join(", "));
        let unknown = match totals.unknown {
            0 => String::new(),
            unknown => format!(", {} with an unknown outcome", count(unknown)),
        };
        parts.push(format!("{} failed ({}){unknown}: {reasons}", count(failed), share(failed, totals)));
    }
    if !totals.retries.is_empty() {
        let causes = totals.retries.iter().map(|(cause, times)| format!("{} x {}", count(*times), plain(cause)));
        let causes = causes.collect::<Vec<_>>().join(", ");
        let noun = if totals.retries.values().sum::<u64>() == 1 { "retry" } else { "retries" };
        parts.push(format!("{} {noun}: {causes}", count(totals.retries.values().sum())));
    }
    parts.extend(strategy.audits.iter().filter(|audit| audit.wrong > 0).map(|audit| {
        let Anomalies { audit, cells, wrong, total } = audit;
        format!("audit {}: {} in {wrong} of {}", plain(audit), count(*total), counted(*cells, "round"))
    }));
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn shortened(text: &str) -> String {
    let plain = plain(text);
    match plain.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain,
    }
}

/// What audits counted, also where that is nothing; `None` without audits.
pub(crate) fn audits(run: &Evaluation) -> Option<Section> {
    let metrics = [
        Measure::text("audit", "audit", "The audit.", |one: &&Anomalies| plain(&one.audit)),
        Measure::cell("anomalies", "anomalies", "Anomalies in all rounds.", |one| {
            let tone = if one.total > 0 { Tone::Bad } else { Tone::Plain };
            Cell::count(one.total).tone(tone)
        }),
        Measure::cell("rounds_with_anomalies", "rounds with anomalies", "Rounds with anomalies.", |one| {
            Cell::text(format!("{} of {}", one.wrong, one.cells)).with_value(one.wrong)
        }),
        Measure::data("rounds", "Rounds in which it ran.", |one| one.cells),
    ];
    let rows = run.strategies.iter().enumerate().flat_map(|(place, strategy)| {
        strategy.audits.iter().map(move |audit| (Row::new(strategy_cell(run, place)).series(place), audit))
    });
    let rows: Vec<_> = rows.collect();
    let (is_clean, is_empty) = (rows.iter().all(|(_, audit)| audit.total == 0), rows.is_empty());
    let table = Table { is_folded: is_clean, ..Table::new("audits", "All audits", Column::strategy(), &metrics, rows) };
    let lead = if is_clean {
        "No audit found an anomaly in the data after the last call of any round."
    } else {
        "Anomalies in the data after the last call of every round."
    };
    (!is_empty && run.rounds > 0)
        .then(|| Section::new("audits", "Audits").lead(lead).table(table).only(Forms::DETAILED))
}
