//! Rows: a mix, measured on one server and machine, estimated, or neither.

use std::collections::BTreeSet;
use std::fmt;

use crate::report::document::{bytes, count, counted, percent, plain, short};
use crate::report::run::decision::phrase;
use crate::report::{HTML_FILE, MARKDOWN_FILE, encoded};
use crate::results::{Preset, PublishedMetric, PublishedMix, PublishedRecord, PublishedStrategy, Standing};
use crate::studies::published::sessions::Spreads;

use super::cell::{self, MatrixCell, PublishedNumber};
use super::{MatrixStrategy, PlacedResult, defined, estimate};

/// The part of a run's page to which links lead.
const PAGE_PART: &str = "#ratios";

/// Operations of a mix that its row names.
const NAMED_OPERATIONS: usize = 2;

/// The largest share of calls that write in a read-heavy mix, and the smallest one in a write-heavy mix.
pub const READ_HEAVY: f64 = 0.2;
/// See [`READ_HEAVY`].
pub const WRITE_HEAVY: f64 = 0.5;

/// Where a result was measured.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setup {
    /// The version of the server.
    pub version: String,
    /// The machine: its cores and its name.
    pub machine: String,
}

impl Setup {
    /// That of a result.
    pub fn of(record: &PublishedRecord) -> Setup {
        let machine = &record.machine;
        let cores = machine.cores.map_or_else(|| "unknown cores".to_owned(), |cores| format!("{cores} cores"));
        let name = if machine.name.is_empty() { String::new() } else { format!(", {}", plain(&machine.name)) };
        Setup { version: plain(&record.server.version), machine: format!("{cores}{name}") }
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "MongoDB {}, {}", self.version, self.machine)
    }
}

/// Where the numbers of a row come from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RowKind {
    /// From a run of the mix.
    #[default]
    Measured,
    /// From own times of the run of this mix.
    Estimated(String),
    /// There are none, because the mix is not estimated for this reason.
    Missing(&'static str),
}

/// A mix.
#[derive(Debug, Clone, Default)]
pub struct MixRow {
    /// Its name.
    pub mix: String,
    /// Its most frequent operations.
    pub operations: String,
    /// The kinds of mixes that it is: `default`, the mix of a plain run, `read` for read-heavy and `write` for write-heavy.
    pub families: Vec<&'static str>,
    /// Where the numbers come from.
    pub kind: RowKind,
    /// Where it was measured.
    pub setup: Option<Setup>,
    /// How long it was measured.
    pub preset: Option<Preset>,
    /// How many sessions it has.
    pub sessions: usize,
    /// The strategy to choose, where another number than calls per second decides.
    pub choice: Option<String>,
    /// The address of its page.
    pub page: Option<String>,
    /// The address of its report in Markdown.
    pub markdown: Option<String>,
    /// The strategies of which calls per second are undecided, and why.
    pub undecided: Vec<String>,
    /// Per metric, a cell per strategy.
    pub cells: Vec<Vec<MatrixCell>>,
}

impl MixRow {
    /// The cells of the number that is shown first: calls per second.
    pub fn first(&self) -> &[MatrixCell] {
        self.cells.first().map_or(&[], Vec::as_slice)
    }

    /// The preset, where it is shorter than those for numbers to rely on.
    pub fn short_preset(&self) -> Option<&'static str> {
        self.preset.filter(|preset| matches!(preset, Preset::Smoke | Preset::Quick)).map(Preset::name)
    }

    /// What its name is followed by: a preset that is short, the number of sessions where there are several, and the strategy to
    /// choose where its calls per second do not say it.
    pub fn badges(&self) -> Vec<String> {
        let sessions = (self.sessions > 1).then(|| counted(self.sessions as u64, "session"));
        let choice = self.choice.as_ref().map(|name| format!("choose {name}"));
        self.short_preset().map(str::to_owned).into_iter().chain(sessions).chain(choice).collect()
    }

    /// Whether its cells are estimates.
    pub fn is_estimated(&self) -> bool {
        matches!(self.kind, RowKind::Estimated(_))
    }

    /// Its name, and whether it is estimated.
    pub fn name_with_kind(&self) -> String {
        format!("{}{}", self.mix, if self.is_estimated() { " (est.)" } else { "" })
    }

    /// Why it has no numbers.
    pub fn missing(&self) -> Option<&'static str> {
        if let RowKind::Missing(reason) = self.kind { Some(reason) } else { None }
    }
}

/// The results of a scenario, from which its rows are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScenarioResults<'r> {
    /// The newest first.
    pub results: &'r [PlacedResult],
    /// The one that knows the mixes of the scenario.
    pub newest: &'r PublishedRecord,
    /// The columns.
    pub strategies: &'r [MatrixStrategy],
    /// How far sessions are apart.
    pub spreads: &'r Spreads,
}

impl ScenarioResults<'_> {
    /// The rows of one mix: of every server, machine and preset that measured it, of those whose own times give an estimate, or one
    /// that says why there is none.
    pub(crate) fn rows(&self, mix: &str) -> Vec<MixRow> {
        let ScenarioResults { results, newest, strategies, .. } = *self;
        let mut measured: Vec<&PlacedResult> = results.iter().filter(|one| one.record.mix.name == mix).collect();
        measured.sort_by_key(|one| (Setup::of(&one.record), one.record.preset.length().rounds));
        let mut rows: Vec<MixRow> = measured.iter().map(|one| self.measured_row(one)).collect();
        let Some(definition) = defined(newest).find(|one| one.name == mix) else { return rows };
        let known: BTreeSet<Setup> = measured.iter().map(|one| Setup::of(&one.record)).collect();
        let setups: BTreeSet<Setup> = results.iter().map(|one| Setup::of(&one.record)).collect();
        let mut missing = "";
        for setup in setups.into_iter().filter(|setup| !known.contains(setup)) {
            match estimate::estimate(definition, results, &setup, newest, strategies) {
                Ok((from, times)) => rows.push(MixRow {
                    setup: Some(setup),
                    cells: PublishedMetric::all().map(|metric| cell::estimated(metric, &times)).collect(),
                    ..named_row(definition, results, RowKind::Estimated(from))
                }),
                Err(reason) => missing = reason,
            }
        }
        if rows.is_empty() {
            rows.push(named_row(definition, results, RowKind::Missing(missing)));
        }
        rows
    }

    fn measured_row(&self, result: &PlacedResult) -> MixRow {
        let ScenarioResults { results, strategies, spreads, .. } = *self;
        let PlacedResult { folder, record, .. } = result;
        let entry = |metric: PublishedMetric, strategy: &MatrixStrategy| {
            let one = record.strategies.iter().find(|one| plain(&one.name) == strategy.name)?;
            let (own, quoted) = (*one.metrics.get(&metric)?, spreads.of_number(record, metric, &one.name));
            let is_quoted = quoted.is_some();
            Some(PublishedNumber { record: quoted.unwrap_or(own), is_unsafe: one.is_unsafe, is_quoted })
        };
        let cells = |metric: PublishedMetric| {
            let entries: Vec<_> = strategies.iter().map(|strategy| entry(metric, strategy)).collect();
            cell::cells(metric, metric.is_tested(), &entries)
        };
        let folder = folder.split('/').map(encoded).collect::<Vec<_>>().join("/");
        let file = |name: &str| format!("{folder}/{name}");
        MixRow {
            mix: plain(&record.mix.name),
            operations: operations(&record.mix.weights),
            families: families(&record.mix.name, Some(&record.mix.weights), results),
            kind: RowKind::Measured,
            setup: Some(Setup::of(record)),
            preset: Some(record.preset),
            sessions: record.sessions.len(),
            choice: choice(record),
            page: result.has_page.then(|| file(HTML_FILE) + PAGE_PART),
            markdown: result.has_markdown.then(|| file(MARKDOWN_FILE)),
            undecided: undecided(record),
            cells: PublishedMetric::all().map(cells).collect(),
        }
    }
}

fn undecided(record: &PublishedRecord) -> Vec<String> {
    let name = |place: usize| record.strategies.get(place).map(|one| one.name.as_str());
    let why = |one: &PublishedStrategy| {
        let verdict = one.metrics.get(&PublishedMetric::CALLS_PER_SECOND)?.undecided?;
        let (own, why) = (plain(&one.name), phrase::undecided(verdict, &name));
        Some(if why.starts_with(&own) { why } else { format!("{own} ({why})") })
    };
    record.strategies.iter().filter_map(why).collect()
}

/// What of a run is on its machine.
pub(crate) fn on_machine(record: &PublishedRecord) -> &'static str {
    if record.server.embedded { "clients and server on that machine" } else { "clients on that machine" }
}

/// The calls, data and server of a result.
pub(crate) fn conditions(record: &PublishedRecord) -> String {
    let data = &record.data;
    format!(
        "Measured with the mix {}, {}; {}, {} documents, {}; {}, {}.",
        plain(&record.mix.name),
        operations(&record.mix.weights),
        counted(record.clients, "client"),
        count(data.documents.round() as u64),
        bytes(data.bytes),
        Setup::of(record),
        on_machine(record)
    )
}

/// The strategy to choose, where its calls per second are not reported to be the most.
fn choice(record: &PublishedRecord) -> Option<String> {
    let winner = record.answer.winner.as_ref()?;
    let rate =
        record.strategies.iter().find(|one| one.name == *winner)?.metrics.get(&PublishedMetric::CALLS_PER_SECOND);
    rate.is_none_or(|rate| rate.standing != Some(Standing::Best)).then(|| plain(winner))
}

/// A row of a mix that was not measured, without its numbers.
fn named_row(mix: &PublishedMix, results: &[PlacedResult], kind: RowKind) -> MixRow {
    MixRow {
        mix: plain(&mix.name),
        operations: operations(mix.weights.as_deref().unwrap_or_default()),
        families: families(&mix.name, mix.weights.as_deref(), results),
        kind,
        ..MixRow::default()
    }
}

/// The most frequent operations and their shares.
fn operations(weights: &[(String, f64)]) -> String {
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let mut called: Vec<&(String, f64)> = weights.iter().filter(|(_, weight)| *weight > 0.0).collect();
    called.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named = called.iter().take(NAMED_OPERATIONS);
    let named: Vec<String> =
        named.map(|(name, weight)| format!("{} {}", plain(name), short(&percent(weight / total)))).collect();
    named.join(", ")
}

fn families(name: &str, weights: Option<&[(String, f64)]>, results: &[PlacedResult]) -> Vec<&'static str> {
    let share = weights.and_then(|weights| write_share(weights, results));
    let families = [
        ("default", name == "default"),
        ("read", share.is_some_and(|share| share <= READ_HEAVY)),
        ("write", share.is_some_and(|share| share >= WRITE_HEAVY)),
    ];
    families.into_iter().filter(|(_, applies)| *applies).map(|(family, _)| family).collect()
}

/// The share (0 to 1) of calls of operations that write; `None` where no result knows that of one of them.
fn write_share(weights: &[(String, f64)], results: &[PlacedResult]) -> Option<f64> {
    let called = || weights.iter().filter(|(_, weight)| *weight > 0.0);
    let written = called().map(|(name, weight)| Some(if writes(name, results)? { *weight } else { 0.0 }));
    let share = written.sum::<Option<f64>>()? / called().map(|(_, weight)| weight).sum::<f64>();
    share.is_finite().then_some(share)
}

/// Whether an operation writes. A run does not know it of operations that its mix does not call.
fn writes(operation: &str, results: &[PlacedResult]) -> Option<bool> {
    let operations = results.iter().flat_map(|one| &one.record.operations);
    operations.filter(|one| one.name == plain(operation)).filter_map(|one| one.writes).max()
}
