//! What became of the calls: outcomes, errors, retries and audits.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::record::CallOutcome;
use crate::report::document::chart::cut;
use crate::report::document::format::{NOTHING, count, counted, percent, plain};
use crate::report::document::{Cell, Column, Forms, Kind, Measure, Row, Section, Table, Tone, column};
use crate::report::run::{Evaluation, StrategyResults};
use crate::stats::{Anomalies, OutcomeTotals};

use super::{operation_rows, strategy_rows};

/// Most characters of a server's message on a terminal, with the mark of what is left out.
const LONGEST_MESSAGE: usize = 121;

/// Outcomes, errors and retries.
pub(crate) fn section(run: &Evaluation) -> Section {
    let tables = [outcomes(run), errors(run), retries(run), exceptions(run)];
    let tables = tables.into_iter().filter(|table| !table.rows.is_empty()).collect();
    Section { tables, ..Section::new("outcomes", "Outcomes, errors and retries") }
}

fn outcomes(run: &Evaluation) -> Table {
    let map = |key, about, map: fn(&&OutcomeTotals) -> Value| Measure::data(key, about, map).of(Kind::Map);
    let metrics = [
        column("outcomes", "outcomes", "Calls by outcome.")
            .cell(|totals: &&OutcomeTotals| {
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
            let messages = totals.messages.iter().map(|(reason, text)| (plain(reason), plain(text)));
            json!(messages.collect::<BTreeMap<_, _>>())
        }),
        map("retries", "Retries by cause.", |totals| counts(&totals.retries)),
    ];
    let rows = operation_rows(run).map(|(row, one)| (row.group(one.row.name.as_str()), &one.measured.totals));
    let table = Table::new("outcomes", "Outcomes", Column::strategy(), &metrics, rows);
    table.grouped(Column::operation()).side_by_side(Forms::DOCUMENT).only(Forms::DETAILED)
}

/// Counts by name. Two names may read the same once they are on one line.
fn counts(counts: &BTreeMap<impl ToString, u64>) -> Value {
    let mut named: BTreeMap<String, u64> = BTreeMap::new();
    counts.iter().for_each(|(name, count)| *named.entry(plain(&name.to_string())).or_default() += count);
    json!(named)
}

fn share(calls: u64, totals: &OutcomeTotals) -> String {
    percent(calls as f64 / totals.calls.max(1) as f64)
}

fn shares(totals: &OutcomeTotals) -> String {
    let mut outcomes: Vec<(&CallOutcome, &u64)> = totals.outcomes.iter().filter(|(_, calls)| **calls > 0).collect();
    outcomes.sort_by_key(|(_, calls)| std::cmp::Reverse(**calls));
    let text =
        |(name, calls): &(&CallOutcome, &u64)| format!("{} {}", plain(&name.to_string()), share(**calls, totals));
    let texts: Vec<String> = outcomes.iter().map(text).collect();
    if texts.is_empty() { NOTHING.to_owned() } else { texts.join(", ") }
}

/// A reason, how often, and the server's message for it.
type Reason<'r> = (&'r str, u64, Option<&'r String>);

fn errors(run: &Evaluation) -> Table {
    let metrics = [
        column("error", "error", "The reason.").text(|(reason, ..): &Reason| plain(reason)),
        column("calls", "calls", "Failed calls.").count(|(_, calls, _)| *calls),
        column("message", "message", "The server's message for the first.")
            .text(|(.., message)| message.map_or_else(String::new, |message| plain(message))),
    ];
    by_reason("errors", "Errors", &metrics, run, |totals| &totals.errors)
}

fn retries(run: &Evaluation) -> Table {
    let metrics = [
        column("cause", "retry because of", "The cause.").text(|(cause, ..): &Reason| plain(cause)),
        column("retries", "retries", "Retried attempts.").count(|(_, retries, _)| *retries),
    ];
    by_reason("retries", "Retries", &metrics, run, |totals| &totals.retries)
}

fn by_reason<'r>(
    id: &'static str,
    title: &str,
    metrics: &[Measure<'_, Reason<'r>>],
    run: &'r Evaluation,
    of: fn(&OutcomeTotals) -> &BTreeMap<String, u64>,
) -> Table {
    let rows = strategy_rows(run, |strategy| {
        let totals = &strategy.totals;
        of(totals).iter().map(move |(reason, calls)| (reason.as_str(), *calls, totals.messages.get(reason)))
    });
    Table::new(id, title, Column::strategy(), metrics, rows).only(Forms::DETAILED)
}

/// What a terminal says of calls that were rejected, failed or retried, and of audits.
fn exceptions(run: &Evaluation) -> Table {
    let metrics = [column("", "", "").text(|text: &String| Cell::text(text))];
    let rows =
        run.strategies.iter().filter_map(|strategy| Some((Row::new(strategy.name.as_str()), exception(strategy)?)));
    Table::new("exceptions", "", column("", "", ""), &metrics, rows).list().only(Forms::TERMINAL)
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
            let message = totals.messages.get(reason).map(|text| format!(" ({})", cut(&plain(text), LONGEST_MESSAGE)));
            format!("{} x {}{}", count(*calls), plain(reason), message.unwrap_or_default())
        });
        let (failed, reasons) = (totals.failed(), reasons.collect::<Vec<_>>().join(", "));
        let unknown = match totals.unknown {
            0 => String::new(),
            unknown => format!(", {} with an unknown outcome", count(unknown)),
        };
        parts.push(format!("{} failed ({}){unknown}: {reasons}", count(failed), share(failed, totals)));
    }
    let retries = totals.retries.values().sum();
    if retries > 0 {
        let causes = totals.retries.iter().map(|(cause, times)| format!("{} x {}", count(*times), plain(cause)));
        parts.push(format!("{}: {}", counted(retries, "retry"), causes.collect::<Vec<_>>().join(", ")));
    }
    parts.extend(strategy.audits.iter().filter(|audit| audit.wrong > 0).map(|audit| {
        let Anomalies { audit, cells, wrong, total } = audit;
        format!("audit {}: {} in {wrong} of {}", plain(audit), count(*total), counted(*cells, "round"))
    }));
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What audits counted, also where that is nothing; `None` without audits.
pub(crate) fn audits(run: &Evaluation) -> Option<Section> {
    let metrics = [
        column("audit", "audit", "The audit.").text(|one: &&Anomalies| plain(&one.audit)),
        column("anomalies", "anomalies", "Anomalies in all rounds.")
            .cell(|one| Cell::count(one.total).tone(if one.total > 0 { Tone::Bad } else { Tone::Plain })),
        column("rounds_with_anomalies", "rounds with anomalies", "Rounds with anomalies.")
            .cell(|one| Cell::text(format!("{} of {}", one.wrong, one.cells)).with_value(one.wrong)),
        Measure::data("rounds", "Rounds in which it ran.", |one| one.cells),
    ];
    let rows: Vec<_> = strategy_rows(run, |strategy| &strategy.audits).collect();
    let is_clean = rows.iter().all(|(_, audit)| audit.total == 0);
    let table = Table { is_folded: is_clean, ..Table::new("audits", "All audits", Column::strategy(), &metrics, rows) };
    let lead = if is_clean {
        "No audit found an anomaly in the data after the last call of any round."
    } else {
        "Anomalies in the data after the last call of every round."
    };
    Section::new("audits", "Audits").lead(lead).table(table).only(Forms::DETAILED).with_rows()
}
