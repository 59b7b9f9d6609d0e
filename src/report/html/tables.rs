//! The tables of the page.

use std::collections::{BTreeMap, BTreeSet};

use crate::stats::{Claim, Distribution, Tally};

use super::super::chart::{NAMED, Series, cost_title, interval_text};
use super::super::format::{NOTHING, bytes, bytes_change, count, count_change, percent, plain, three, time};
use super::super::{COLUMNS, ClaimCell, FOLLOWED_AT, Measured, Report, Row as Measurements, StrategyView};

/// A table of the page.
pub struct Table {
    /// What it shows.
    pub label: String,
    /// Names of its columns.
    pub head: Vec<Cell>,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Default)]
pub struct Row {
    /// The class by which it is switched off with its strategy.
    pub class: String,
    /// The heading of the rows below it.
    pub group: String,
    /// By which a link finds it.
    pub id: String,
    /// Its cells, the first its name.
    pub cells: Vec<Cell>,
}

/// A cell of a table.
#[derive(Default)]
pub struct Cell {
    /// What it says.
    pub text: String,
    /// What it says besides.
    pub remark: String,
    /// How it looks.
    pub class: String,
    /// The classes of the colour of the strategy that it names.
    pub look: String,
    /// The id of the row that tells more.
    pub link: String,
    /// What its look says, for those who hear it.
    pub spoken: String,
}

pub(super) fn cell(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), ..Cell::default() }
}

/// Words, which stand on the left of their column.
fn word(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), class: "l".into(), ..Cell::default() }
}

fn heads(names: &[&str]) -> Vec<Cell> {
    let is_word = |name: &str| matches!(name, "collection" | "document" | "audit" | "operation" | "claim");
    names.iter().map(|name| if is_word(name) { word(*name) } else { cell(*name) }).collect()
}

pub(super) fn maybe(value: Option<f64>, text: impl Fn(f64) -> String) -> Cell {
    cell(value.map_or_else(|| NOTHING.to_owned(), text))
}

/// A heading of rows.
fn group(name: &str) -> Row {
    Row { group: name.to_owned(), ..Row::default() }
}

/// A row of a strategy.
fn of(series: &Series, strategy: &StrategyView, cells: Vec<Cell>) -> Row {
    let mut name = cell(&strategy.name);
    name.look = series.look_class();
    name.remark = if strategy.is_unsafe { "unsafe".into() } else { String::new() };
    Row { class: format!("s{}", series.place), cells: std::iter::once(name).chain(cells).collect(), ..Row::default() }
}

pub(super) fn each(report: &Report) -> Vec<(Series, &StrategyView)> {
    Series::all(report).into_iter().zip(&report.strategies).collect()
}

/// A column per strategy after the first.
pub(super) fn columns(report: &Report, first: &str) -> Vec<Cell> {
    let named = each(report).into_iter().map(|(series, strategy)| Cell {
        text: strategy.name.clone(),
        class: format!("s{}", series.place),
        look: series.look_class(),
        ..Cell::default()
    });
    std::iter::once(cell(first)).chain(named).collect()
}

/// A row with a cell per strategy.
pub(super) fn across(name: &str, cells: impl Iterator<Item = Cell>) -> Row {
    let cells = cells.enumerate().map(|(place, cell)| Cell { class: format!("s{place} {}", cell.class), ..cell });
    Row { cells: std::iter::once(cell(name)).chain(cells).collect(), ..Row::default() }
}

pub(super) fn some(label: &str, head: Vec<Cell>, rows: Vec<Row>) -> Option<Table> {
    (!rows.is_empty()).then(|| Table { label: label.to_owned(), head, rows })
}

pub(super) fn title(row: &Measurements) -> String {
    match row.share {
        Some(share) if !row.is_mix => format!("{}, {} of calls", row.name, percent(share)),
        _ => row.label().to_owned(),
    }
}

/// The mix first, as everywhere on the page.
pub(super) fn rows(report: &Report) -> impl Iterator<Item = &Measurements> {
    report.rows.iter().filter(|row| row.is_mix).chain(report.rows.iter().filter(|row| !row.is_mix))
}

fn ratio(report: &Report, cell_of: &Measured) -> Cell {
    let Some(ratio) = cell_of.comparison.as_ref().and_then(|comparison| comparison.ratio) else { return cell(NOTHING) };
    let (class, mark) = match report.claimed(cell_of) {
        Some(Claim::Faster) => ("good", " ▼"),
        Some(_) => ("bad", " ▲"),
        None => ("", ""),
    };
    let remark = interval_text(&ratio).unwrap_or_default();
    Cell { text: format!("× {}{mark}", three(ratio.mean)), remark, class: class.into(), ..Cell::default() }
}

/// The row above the times of an operation, the mix being 0.
pub fn times_of(operation: usize) -> String {
    format!("row-times-{operation}")
}

fn time_of(operation: usize, strategy: usize) -> String {
    format!("row-times-{operation}-{strategy}")
}

fn size_of(strategy: usize) -> String {
    format!("row-sizes-{strategy}")
}

fn cost_of(operation: usize, strategy: usize) -> String {
    format!("row-cost-{operation}-{strategy}")
}

/// The entry of a strategy in the list.
pub fn strategy_of(strategy: usize) -> String {
    format!("strategy-{strategy}")
}

/// The row that holds the number which decides a claim; `None` where there is no such row.
pub fn row_of(report: &Report, cell: &ClaimCell) -> Option<String> {
    // Without a round the page has no tables of numbers.
    let strategy = report.strategies.iter().position(|strategy| strategy.name == cell.strategy)?;
    if report.rounds == 0 {
        return None;
    }
    match cell.metric.as_str() {
        "throughput" => Some(strategy_of(strategy)),
        "storage_bytes" => (!report.strategies[strategy].collections.is_empty()).then(|| size_of(strategy)),
        "mean" | "p50" | "p99" => {
            let is_meant = |row: &Measurements| match &cell.operation {
                Some(name) => !row.is_mix && row.name == *name,
                None => row.is_mix,
            };
            rows(report).position(is_meant).map(|operation| time_of(operation, strategy))
        }
        _ => {
            let is_meant = |cost: &super::super::OperationCost| Some(&cost.operation) == cell.operation.as_ref();
            let operation = report.costs.operations.iter().position(is_meant)?;
            let is_told = report.costs.operations[operation].strategies.iter().any(|(name, _)| *name == cell.strategy);
            is_told.then(|| cost_of(operation, strategy))
        }
    }
}

/// Times per operation and strategy.
pub fn times(report: &Report) -> Table {
    let mut head = heads(&["strategy", "mean", "ratio (95 % interval)"]);
    head.extend(NAMED.map(|(_, name)| cell(name)));
    head.extend(heads(&["max", "calls", "trips"]));
    let mut made = Vec::new();
    for (place, row) in rows(report).enumerate() {
        made.push(Row { id: times_of(place), ..group(&title(row)) });
        for ((series, strategy), measured) in each(report).iter().zip(&row.cells) {
            let times = &measured.distribution;
            let at = |share: f64| maybe(times.quantile(share).map(|value| value as f64), time);
            let ratio = if series.place == 0 { cell("reference") } else { ratio(report, measured) };
            let mut cells = vec![Cell { class: "strong".into(), ..maybe(measured.mean, time) }, ratio];
            cells.extend(NAMED.map(|(share, _)| at(share)));
            cells.push(maybe(times.max().map(|value| value as f64), time));
            cells.push(cell(count(times.calls())));
            cells.push(maybe(measured.tally.round_trips_per_call(), three));
            made.push(Row { id: time_of(place, series.place), ..of(series, strategy, cells) });
        }
    }
    Table { label: "Times per operation and strategy".into(), head, rows: made }
}

/// What lies behind the forest plot.
pub fn ratios(report: &Report) -> Option<Table> {
    let head = heads(&["strategy", "ratio", "low", "high", "rounds", "p", "would have shown", "claim"]);
    let mut made = Vec::new();
    for row in rows(report) {
        made.push(group(&title(row)));
        for ((series, strategy), measured) in each(report).iter().zip(&row.cells).skip(1) {
            let Some(comparison) = &measured.comparison else { continue };
            let (ratio, interval) = (comparison.ratio, comparison.ratio.and_then(|ratio| ratio.interval));
            let claim = match report.claimed(measured) {
                Some(Claim::Faster) => "faster",
                Some(_) => "slower",
                None => "none",
            };
            let detectable =
                comparison.detectable.map(|least| if least < 10.0 { percent(least) } else { "hardly any".into() });
            let cells = vec![
                maybe(ratio.map(|ratio| ratio.mean), three),
                maybe(interval.map(|interval| interval.low), three),
                maybe(interval.map(|interval| interval.high), three),
                maybe(ratio.map(|ratio| ratio.rounds as f64), |rounds| count(rounds as u64)),
                maybe(comparison.p, |p| format!("{p:.3}")),
                cell(detectable.unwrap_or_else(|| NOTHING.into())),
                word(claim),
            ];
            made.push(of(series, strategy, cells));
        }
    }
    let compared = made.iter().any(|row| row.group.is_empty());
    some("Ratios to the reference", head, made).filter(|_| compared)
}

/// Calls that fell due, in the open model.
pub fn open(report: &Report) -> Option<Table> {
    let names = [
        "strategy",
        "offered/s",
        "achieved/s",
        "skipped",
        "given up",
        "lag p99",
        "wait p99",
        "service mean",
        "response mean",
    ];
    let p99 = |times: &Distribution| maybe(times.quantile(0.99).map(|value| value as f64), time);
    let each = each(report);
    let made = each.iter().filter_map(|(series, strategy)| {
        let open = strategy.open.as_ref()?;
        let cells = vec![
            cell(three(open.offered)),
            cell(three(open.achieved)),
            cell(count(open.skipped)),
            cell(count(open.never_started)),
            p99(&open.pacer_lag),
            p99(&open.queue_wait),
            maybe(open.service_mean, time),
            maybe(open.response_mean, time),
        ];
        Some(of(series, strategy, cells))
    });
    some("Calls offered and achieved", heads(&names), made.collect())
}

/// Sizes of followed documents.
pub fn followed(report: &Report) -> Option<Table> {
    let mut head = heads(&["strategy", "collection", "document"]);
    head.extend(FOLLOWED_AT.map(|share| cell(percent(share))));
    let mut made = Vec::new();
    for (series, strategy) in &each(report) {
        for growth in &strategy.followed {
            let mut cells = vec![word(&growth.collection), word(&growth.label)];
            cells.extend(growth.bytes.iter().map(|size| cell(bytes(*size))));
            made.push(of(series, strategy, cells));
        }
    }
    some("Sizes of single documents by share of the calls", head, made)
}

/// Sizes of collections.
pub fn sizes(report: &Report) -> Option<Table> {
    let names =
        ["strategy", "collection", "documents", "mean", "p99", "largest", "all documents", "storage", "indexes"];
    let mut made = Vec::new();
    for (series, strategy) in &each(report) {
        for (place, growth) in strategy.collections.iter().enumerate() {
            // A claim about storage is one about all collections: it leads to the first.
            let id = if place == 0 { size_of(series.place) } else { String::new() };
            let mut cells = vec![word(&growth.collection)];
            cells.push(cell(count_change(growth.documents.before, growth.documents.after)));
            let changes = [growth.mean, growth.p99, growth.max, growth.size, growth.storage, growth.indexes];
            cells.extend(changes.map(|change| cell(bytes_change(change.before, change.after))));
            made.push(Row { id, ..of(series, strategy, cells) });
        }
    }
    some("Collections before and after the calls of a round", heads(&names), made)
}

/// What a call of the mix costs the server.
pub fn mix_cost(report: &Report) -> Option<Table> {
    let made = report.costs.mix.iter().map(|row| {
        let cells = row.costs.iter().map(|cost| {
            let reach = cost.and_then(|cost| cost.reach).filter(|reach| *reach > 0.0);
            Cell {
                remark: reach.map_or(String::new(), |reach| format!("± {}", row.metric.text(reach))),
                ..maybe(cost.map(|cost| cost.per_call), |value| row.metric.text(value))
            }
        });
        across(row.metric.label, cells)
    });
    some("What a call of the mix costs the server", columns(report, "per call"), made.collect())
}

/// What a call of each operation costs the server.
pub fn operation_cost(report: &Report) -> Option<Table> {
    let head = std::iter::once(cell("strategy")).chain(COLUMNS.iter().map(|metric| cell(cost_title(metric))));
    let each = each(report);
    let mut made = Vec::new();
    for (place, cost) in report.costs.operations.iter().enumerate() {
        made.push(group(&cost.operation));
        for (name, values) in &cost.strategies {
            let Some((series, strategy)) = each.iter().find(|(series, _)| series.name == *name) else { continue };
            let cells = COLUMNS.iter().zip(values).map(|(metric, value)| maybe(*value, |value| metric.text(value)));
            made.push(Row { id: cost_of(place, series.place), ..of(series, strategy, cells.collect()) });
        }
    }
    some("What a call of each operation costs the server", head.collect(), made)
}

/// For how long others can see a state between the writes of a call.
pub fn inconsistent(report: &Report) -> Option<Table> {
    let each = each(report);
    let made = report.costs.inconsistent.iter().filter_map(|one| {
        let (series, strategy) = each.iter().find(|(series, _)| series.name == one.strategy)?;
        let mut cells = vec![word(&one.operation), cell(count(one.calls))];
        cells.extend(one.times.map(|value| maybe(value.map(|value| value as f64), time)));
        Some(of(series, strategy, cells))
    });
    let head = heads(&["strategy", "operation", "calls", "p50", "p99", "longest"]);
    some("From the first write of a call to its last", head, made.collect())
}

/// What calls came to.
pub fn outcomes(report: &Report) -> Table {
    let text = |tally: &Tally| {
        let share = |calls: u64| percent(calls as f64 / tally.calls.max(1) as f64);
        let mut outcomes: Vec<(&String, &u64)> = tally.outcomes.iter().filter(|(_, calls)| **calls > 0).collect();
        outcomes.sort_by_key(|(_, calls)| std::cmp::Reverse(**calls));
        let texts: Vec<String> =
            outcomes.into_iter().map(|(name, calls)| format!("{} {}", plain(name), share(*calls))).collect();
        if texts.is_empty() { NOTHING.to_owned() } else { texts.join(", ") }
    };
    let cells = |row: &Measurements| {
        let cells = row.cells.iter().map(|measured| {
            let class = if measured.tally.failed() > 0 { "bad" } else { "" };
            Cell { class: class.into(), ..cell(text(&measured.tally)) }
        });
        cells.collect::<Vec<_>>()
    };
    let made = rows(report).map(|row| across(row.label(), cells(row).into_iter()));
    Table { label: "What calls came to".into(), head: columns(report, "operation"), rows: made.collect() }
}

/// Errors or retries by reason.
pub fn reasons(report: &Report, what: &str, of: fn(&Tally) -> &BTreeMap<String, u64>) -> Option<Table> {
    let all: BTreeSet<&String> = report.strategies.iter().flat_map(|strategy| of(&strategy.tally).keys()).collect();
    let number =
        |strategy: &StrategyView, reason: &str| cell(count(of(&strategy.tally).get(reason).copied().unwrap_or(0)));
    let made = all.iter().map(|reason| across(&plain(reason), report.strategies.iter().map(|s| number(s, reason))));
    some(&format!("Calls by {what}"), columns(report, what), made.collect())
}

/// What audits counted: those that found something, or all.
pub fn audits(report: &Report, all: bool) -> Option<Table> {
    let mut made = Vec::new();
    for (series, strategy) in &each(report) {
        for audit in strategy.audits.iter().filter(|audit| all || audit.total > 0) {
            let class = if audit.total > 0 { "bad" } else { "" };
            let anomalies = Cell { class: class.into(), ..cell(count(audit.total)) };
            let rounds = cell(format!("{} of {}", audit.wrong, audit.cells));
            made.push(of(series, strategy, vec![word(plain(&audit.audit)), anomalies, rounds]));
        }
    }
    some("Audits", heads(&["strategy", "audit", "anomalies", "rounds with some"]), made)
}

/// What the server said to the first failure of each reason.
pub fn messages(report: &Report) -> Vec<String> {
    let said = report.strategies.iter().flat_map(|strategy| {
        let words = strategy.tally.messages.iter();
        words.map(|(reason, words)| format!("{}, {}: {}", strategy.name, plain(reason), plain(words)))
    });
    said.collect()
}
