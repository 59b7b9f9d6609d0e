//! The matrix of published results: scenario by mix by strategy, grouped by the decision that a scenario is about.
//!
//! [`Matrix`] has all texts, as its two writers show them: Markdown and HTML. Which of two strategies is better was decided when
//! their run was published; nothing is tested here. Mixes that were not measured are estimated from own times of another mix.

mod cell;
mod estimate;
mod flip;
pub(crate) mod html;
pub(crate) mod markdown;
mod row;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::cli::onward;
use crate::report::document::{capitalised, counted, listed, plain};
use crate::report::encoded;
use crate::results::{Preset, PublishedMix, PublishedRecord};
use crate::studies::published::sessions::{Spreads, answer_text};
#[cfg(test)]
use cell::Look;
pub use cell::MatrixCell;
use row::ScenarioResults;
pub(crate) use row::on_machine;
pub use row::{MixRow, RowKind, Setup};

/// What the page asks.
pub(crate) const TITLE: &str = "Which MongoDB schema? It depends on the mix";

/// How to read the numbers of several sessions.
const SESSIONS: &str = "Where a result has several sessions, the ratio is their mean; in parentheses is what another session would \
                        give in 95 % of cases.";

/// The mix of a plain run.
const DEFAULT: &str = "default";

/// Names of mixes that exist for the verification alone begin with it.
const FOR_VERIFICATION: &str = "verify";

/// A published result and the files next to it.
#[derive(Debug, Clone)]
pub struct PlacedResult {
    /// Its folder, relative to the page.
    pub folder: String,
    /// What it found.
    pub record: PublishedRecord,
    /// Whether the folder has the page of the run.
    pub has_page: bool,
    /// Whether the folder has its report in Markdown.
    pub has_markdown: bool,
}

/// All published results.
#[derive(Debug, Clone)]
pub struct Matrix {
    /// The decisions.
    pub groups: Vec<MatrixGroup>,
    /// What it is made of, in a line.
    pub subject: String,
    /// Results that were left out, and why.
    pub warnings: Vec<String>,
}

/// The scenarios about one decision.
#[derive(Debug, Clone)]
pub struct MatrixGroup {
    /// The decision.
    pub title: String,
    /// Its scenarios.
    pub scenarios: Vec<ScenarioMatrix>,
}

/// The results of one scenario.
#[derive(Debug, Clone)]
pub struct ScenarioMatrix {
    /// Its name.
    pub name: String,
    /// The address of its page; that of its place in the matrix if docshape does not have the scenario.
    pub page: String,
    /// The question.
    pub title: String,
    /// What the newest run of the mix `default` says.
    pub answer: String,
    /// For which calls, data and server it says so.
    pub conditions: Option<String>,
    /// Where the order of strategies flips from mix to mix, in sentences.
    pub flips: Vec<String>,
    /// The strategies of all results.
    pub strategies: Vec<MatrixStrategy>,
    /// A row per mix, server, machine and preset.
    pub rows: Vec<MixRow>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatrixStrategy {
    /// The strategy.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// A negative control.
    pub is_unsafe: bool,
}

/// By which results of one scenario are the same.
fn key(record: &PublishedRecord) -> (String, Setup, Preset) {
    (record.mix.name.clone(), Setup::of(record), record.preset)
}

impl ScenarioMatrix {
    /// The mixes without numbers, and why, in a sentence; `None` without any.
    pub fn missing(&self) -> Option<String> {
        let missing = self.rows.iter().filter_map(|row| Some(format!("{} ({})", row.mix, row.missing()?)));
        let missing: Vec<String> = missing.collect();
        (!missing.is_empty()).then(|| format!("Not measured: {}.", missing.join(", ")))
    }

    /// The mixes in which calls per second do not decide about a strategy, and why, in a sentence; `None` without any.
    pub fn undecided(&self) -> Option<String> {
        // The newest of the rows of a mix.
        let rows = self.rows.iter().enumerate().filter(|(place, _)| self.is_first(place)).map(|(_, row)| row);
        let undecided = rows.filter(|row| !row.undecided.is_empty());
        let undecided: Vec<String> = undecided.map(|row| format!("{}: {}", row.mix, listed(&row.undecided))).collect();
        (!undecided.is_empty()).then(|| format!("Undecided: {}.", undecided.join("; ")))
    }

    /// In which mixes another strategy leads than in the mix `default`, in a sentence; `None` where the same one does in all.
    pub fn elsewhere(&self) -> Option<String> {
        let leader = |row: &MixRow| {
            let chosen = self.strategies.iter().position(|one| row.choice.as_ref() == Some(&one.name));
            chosen.or_else(|| row.first().iter().position(MatrixCell::is_first))
        };
        let usual = self.rows.iter().find(|row| row.mix == DEFAULT).and_then(leader)?;
        let led = |strategy: usize| {
            let rows = self.rows.iter().filter(|row| row.mix != DEFAULT && leader(row) == Some(strategy));
            let mut mixes: Vec<String> = rows.map(MixRow::name_with_kind).collect();
            // A mix has a row per machine and preset.
            mixes.dedup();
            (!mixes.is_empty()).then(|| format!("{} in {}", self.strategies[strategy].name, listed(mixes)))
        };
        let others = (0..self.strategies.len()).filter(|strategy| *strategy != usual);
        let others: Vec<String> = others.filter_map(led).collect();
        (!others.is_empty()).then(|| format!("Another strategy leads in other mixes: {}.", others.join("; ")))
    }

    /// Whether the row at a place is the first one of its mix, to which links lead.
    pub(crate) fn is_first(&self, place: &usize) -> bool {
        let mix = |place: usize| self.rows.get(place).map(|row| &row.mix);
        (0..*place).all(|before| mix(before) != mix(*place))
    }
}

impl Matrix {
    /// Arranges results in the order of these decisions and scenarios; others follow by name.
    pub fn new(results: Vec<PlacedResult>, decisions: &[&str], order: &[&str]) -> Matrix {
        let mut warnings = Vec::new();
        let spreads = Spreads::of(results.iter().map(|one| &one.record));
        let mut scenarios: BTreeMap<String, Vec<PlacedResult>> = BTreeMap::new();
        for result in results {
            scenarios.entry(result.record.scenario.name.clone()).or_default().push(result);
        }
        let mut groups: BTreeMap<(usize, String), Vec<(usize, ScenarioMatrix)>> = BTreeMap::new();
        for (name, results) in scenarios {
            // Never empty, and the newest comes first.
            let results = distinct(results, &mut warnings);
            let newest = &results[0].record;
            let decision = newest.scenario.group.as_deref();
            let title = decision.map_or_else(|| "other scenarios".to_owned(), plain);
            let at = (decision.map_or(usize::MAX, |decision| rank(decisions, decision)), title);
            groups.entry(at).or_default().push((rank(order, &name), ScenarioMatrix::new(&results, newest, &spreads)));
        }
        let groups = groups.into_iter().map(|((_, title), mut scenarios)| {
            scenarios.sort_by_key(|(place, _)| *place);
            MatrixGroup { title: capitalised(&title), scenarios: scenarios.into_iter().map(|(_, one)| one).collect() }
        });
        let groups: Vec<MatrixGroup> = groups.collect();
        Matrix { subject: subject(&groups), groups, warnings }
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &MixRow> {
        self.groups.iter().flat_map(|group| &group.scenarios).flat_map(|scenario| &scenario.rows)
    }

    /// How to read intervals of several sessions; empty where no result has any.
    pub fn sessions_note(&self) -> &'static str {
        if self.rows().any(|row| row.sessions > 1) { SESSIONS } else { "" }
    }

    /// The servers and machines of all results.
    pub fn setups(&self) -> BTreeSet<&Setup> {
        self.rows().filter_map(|row| row.setup.as_ref()).collect()
    }
}

/// The place in an order; things that it does not name are behind all others.
fn rank(order: &[&str], name: &str) -> usize {
    order.iter().position(|known| *known == name).unwrap_or(order.len())
}

/// Of results of the same mix, server, machine and preset the newest; the newest of all comes first.
fn distinct(mut results: Vec<PlacedResult>, warnings: &mut Vec<String>) -> Vec<PlacedResult> {
    results.sort_by(|a, b| b.record.started.cmp(&a.record.started).then_with(|| a.folder.cmp(&b.folder)));
    let mut kept: Vec<PlacedResult> = Vec::new();
    for result in results {
        match kept.iter().find(|one| key(&one.record) == key(&result.record)) {
            Some(newer) => warnings.push(format!(
                "{} is left out: {} is of the same scenario, mix, server, machine and preset, and not older",
                plain(&result.folder),
                plain(&newer.folder)
            )),
            None => kept.push(result),
        }
    }
    kept
}

fn subject(groups: &[MatrixGroup]) -> String {
    let scenarios = || groups.iter().flat_map(|group| &group.scenarios);
    let rows = || scenarios().flat_map(|scenario| &scenario.rows);
    let measured = rows().filter(|row| row.kind == RowKind::Measured).count() as u64;
    let estimated = rows().filter(|row| matches!(row.kind, RowKind::Estimated(_))).count() as u64;
    let setups: BTreeSet<String> = rows().filter_map(|row| row.setup.as_ref().map(ToString::to_string)).collect();
    let estimates = if estimated > 0 { format!(" and {}", counted(estimated, "estimate")) } else { String::new() };
    format!(
        "{} of {}{estimates}. {}.",
        counted(measured, "result"),
        counted(scenarios().count() as u64, "scenario"),
        setups.into_iter().collect::<Vec<_>>().join("; ")
    )
}

/// The mixes that a scenario defines for measurements.
fn defined(record: &PublishedRecord) -> impl Iterator<Item = &PublishedMix> {
    record.scenario.mixes.iter().filter(|mix| !mix.name.starts_with(FOR_VERIFICATION))
}

impl ScenarioMatrix {
    /// Arranges the results of one scenario, the newest first.
    fn new(results: &[PlacedResult], newest: &PublishedRecord, spreads: &Spreads) -> ScenarioMatrix {
        let strategies = columns(results);
        let mut mixes: Vec<&str> = defined(newest).map(|mix| mix.name.as_str()).collect();
        let unknown: BTreeSet<&str> = results.iter().map(|one| one.record.mix.name.as_str()).collect();
        let unknown: Vec<&str> = unknown.into_iter().filter(|name| !mixes.contains(name)).collect();
        mixes.extend(unknown);
        let results = ScenarioResults { results, newest, strategies: &strategies, spreads };
        let rows: Vec<MixRow> = mixes.iter().flat_map(|mix| results.rows(mix)).collect();
        let results = results.results;
        let default = results.iter().find(|one| one.record.mix.name == DEFAULT);
        ScenarioMatrix {
            name: plain(&newest.scenario.name),
            page: page(&newest.scenario.name),
            title: plain(&newest.scenario.title),
            answer: default.and_then(|one| answer_text(&one.record, spreads)).unwrap_or_default(),
            conditions: default.map(|one| row::conditions(&one.record)),
            flips: flip::sentences(&rows, &strategies),
            strategies,
            rows,
        }
    }
}

/// The address of the page of a scenario.
fn page(name: &str) -> String {
    onward::scenario_page(name).unwrap_or_else(|| format!("#{}", encoded(name)))
}

/// The strategies of all results, in the order in which results have them.
fn columns(results: &[PlacedResult]) -> Vec<MatrixStrategy> {
    let mut columns: Vec<MatrixStrategy> = Vec::new();
    for strategy in results.iter().flat_map(|one| &one.record.strategies) {
        let name = plain(&strategy.name);
        match columns.iter_mut().find(|column| column.name == name) {
            // With some mixes a strategy is a negative control, with others it is not.
            Some(column) => column.is_unsafe &= strategy.is_unsafe,
            None => {
                columns.push(MatrixStrategy { name, about: plain(&strategy.about), is_unsafe: strategy.is_unsafe });
            }
        }
    }
    columns
}
