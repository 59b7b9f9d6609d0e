//! The comparison of runs of the same scenario: earlier ones, and later ones that are judged.
//!
//! Separate runs met the machine at different times, when it may have been more or less busy. Judged is therefore the time of a
//! strategy relative to that of a reference strategy in the same rounds, before and after: a difference of differences. Times
//! as they are are described. Where the reference itself changed, or the machine was busy, nothing is decided. Only runs that took turns in one session are compared as they are, round by round.

mod disturbance;
mod numbers;

use std::collections::{BTreeMap, BTreeSet};

use crate::record::Metric;
use crate::results::{NOISE, Part, Reason, RunRecord, Verdict};

use super::estimate::ConfidenceInterval;
use super::latency::arithmetic_mean;
use super::shared_cache::SharedCache;
use super::view::Role;
use super::{CollectionGrowth, collection_growth, distinct, inspected, operations, outcome_totals, role, value};
pub use disturbance::Disturbance;
use disturbance::disturbances;
pub(crate) use disturbance::{repeat_ratio, stolen_cells};
use numbers::{Asked, Judging, Numbers, sessions};

/// The fewest means that can show a shared shift.
const ENOUGH_MEANS: usize = 3;

/// Runs to compare.
#[derive(Debug, Clone, Copy)]
pub struct RunSides<'r> {
    /// The earlier runs, at least one.
    pub before: &'r [&'r RunRecord],
    /// The later runs, which are judged; at least one.
    pub after: &'r [&'r RunRecord],
    /// The names of strategies that all have.
    pub strategies: &'r [String],
    /// The strategy that the others are compared with inside each run, one of them; `None` with a single strategy.
    pub reference: Option<&'r str>,
    /// The change (0.05 for 5 %) up to which a number counts as the same.
    pub tolerance: f64,
}

/// What the intervals of a comparison are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedUnit {
    /// Rounds of two runs that took turns in one session: paired, and their times as they are.
    PairedRounds,
    /// Rounds of two separate runs. How runs differ from each other is unknown.
    Rounds,
    /// Runs.
    Runs,
}

impl RunSides<'_> {
    /// What the intervals are over.
    pub fn unit(&self) -> ComparedUnit {
        match (self.before, self.after) {
            ([before], [after]) if before.turns_with.as_ref() == Some(&after.id) => ComparedUnit::PairedRounds,
            ([_], [_]) => ComparedUnit::Rounds,
            _ => ComparedUnit::Runs,
        }
    }

    /// Whether times relative to the reference are judged, not times as they are.
    pub fn are_relative(&self) -> bool {
        self.reference.is_some() && self.unit() != ComparedUnit::PairedRounds
    }

    fn all(&self) -> Vec<&RunRecord> {
        self.before.iter().chain(self.after).copied().collect()
    }
}

/// The parts of the runs whose times are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedParts {
    /// That of the mix: open load if all runs had the same rate, else saturation, else own costs.
    pub mix: Part,
    /// That of the operations: own costs if all runs measured them, else that of the mix.
    pub operations: Part,
}

impl ComparedParts {
    /// The parts that all runs measure alike; `None` without any.
    pub fn of(runs: &[&RunRecord]) -> Option<ComparedParts> {
        let (first, others) = runs.split_first()?;
        let is_alike = |part: &Part| {
            let is_measured = runs.iter().all(|record| measured_parts(record).contains(part));
            is_measured
                && (*part != Part::Rate || others.iter().all(|other| first.settings.load == other.settings.load))
        };
        let mix = [Part::Rate, Part::Saturation, Part::Own].into_iter().find(is_alike)?;
        Some(ComparedParts { mix, operations: Some(Part::Own).filter(is_alike).unwrap_or(mix) })
    }
}

/// The parts that a run measures, also before its first round.
pub fn measured_parts(record: &RunRecord) -> Vec<Part> {
    record.part.map_or_else(|| record.settings.parts.clone(), |part| vec![part])
}

/// The differences between runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunComparison {
    /// The parts whose times were compared.
    pub parts: ComparedParts,
    /// What the intervals are over.
    pub unit: ComparedUnit,
    /// The strategy that times are relative to, where those are judged.
    pub relative_to: Option<String>,
    /// Strategies that are not judged, because in a run the cache of a shared server distorts their times, or those of the
    /// strategy that they are relative to.
    pub withheld: Vec<String>,
    /// Why nothing is decided; empty where something may be.
    pub disturbances: Vec<Disturbance>,
    /// Whether the intervals contain how far sessions usually are apart: those of single runs with other data.
    pub contains_sessions: bool,
    /// An entry per common strategy.
    pub strategies: Vec<StrategyChange>,
    /// The shift that nearly all means have in common.
    pub shared_shift: Option<SharedShift>,
}

/// One strategy in runs before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyChange {
    /// Its name.
    pub name: String,
    /// What it takes part in.
    pub role: Role,
    /// Its times, operation by operation, and those of the mix last.
    pub rows: Vec<OperationChange>,
    /// Calls per second at saturation before and after, the means over runs; `None` where a run did not measure it.
    pub throughput: Option<(f64, f64)>,
    /// Its collections in the last run before and in the last one after, by name.
    pub collections: Vec<(String, Option<CollectionGrowth>, Option<CollectionGrowth>)>,
}

/// One operation of a strategy, or its mix.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationChange {
    /// The operation; `None` for the mix.
    pub operation: Option<String>,
    /// By metric, the mean first; without a quantile beyond which too few calls lie.
    pub changes: Vec<(Metric, TimeChange)>,
}

impl OperationChange {
    /// The mean time.
    pub fn mean(&self) -> TimeChange {
        self.changes[0].1
    }

    /// The change by a metric.
    pub fn by(&self, metric: Metric) -> Option<TimeChange> {
        self.changes.iter().find(|(of, _)| *of == metric).map(|(_, change)| *change)
    }
}

/// One number before and after.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeChange {
    /// The geometric mean over the rounds before, in nanoseconds.
    pub before: Option<f64>,
    /// The same over the rounds after.
    pub after: Option<f64>,
    /// After divided by before; `None` without one of them.
    pub ratio: Option<f64>,
    /// The ratio divided by that of the reference, in which a change of the whole machine cancels; `None` for the reference
    /// itself, and where one is missing.
    pub relative: Option<f64>,
    /// The 95 % CI of the ratio that is judged, simultaneous for the family; `None` where none is, and with too few rounds.
    pub interval: Option<ConfidenceInterval>,
    /// Whether it takes longer or less time beyond the tolerance, or is the same within it.
    pub verdict: Verdict,
    /// Why the times before and those after cannot be compared.
    pub obstacles: [Option<Reason>; 2],
}

impl TimeChange {
    /// Whether later runs are worse: slower beyond the tolerance, or newly overloaded or failing. A round without a
    /// success may have had two calls of an operation, both rejected: that is not compared.
    pub fn is_regression(&self) -> bool {
        let is_broken = |reason: Reason| !matches!(reason, Reason::NoSuccess { .. });
        let [before, after] = self.obstacles;
        let is_new = !self.is_disturbed() && before.is_none() && after.is_some_and(is_broken);
        self.verdict == Verdict::Slower || is_new
    }

    /// Whether later runs are better: faster beyond the tolerance, or comparable where earlier ones were not.
    pub fn is_improvement(&self) -> bool {
        let [before, after] = self.obstacles;
        self.verdict == Verdict::Faster || (!self.is_disturbed() && before.is_some() && after.is_none())
    }

    /// Whether the machine or the server differed too much between the runs.
    pub fn is_disturbed(&self) -> bool {
        self.verdict == Verdict::Inconclusive(Reason::Disturbed)
    }

    /// The same of runs between which the machine differed too much: what is judged is not decided.
    fn disturbed(self) -> TimeChange {
        let is_judged = !matches!(self.verdict.reason(), Some(Reason::NotJudged | Reason::Reference));
        let verdict = if is_judged { Verdict::Inconclusive(Reason::Disturbed) } else { self.verdict };
        TimeChange { verdict, ..self }
    }

    /// Whether its times could be compared and do not show whether there is a change.
    pub fn is_open(&self) -> bool {
        let is_undecided = matches!(self.verdict, Verdict::NoDifference { .. } | Verdict::Inconclusive(_));
        is_undecided && (self.obstacles == [None; 2] || self.is_disturbed())
    }
}

/// Means that all moved alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SharedShift {
    /// How many means.
    pub means: usize,
    /// Their median ratio.
    pub typical: f64,
    /// The smallest and the greatest ratio.
    pub range: ConfidenceInterval,
}

/// Compares runs; `None` when they have no part in common.
pub fn compare_runs(runs: RunSides) -> Option<RunComparison> {
    let parts = ComparedParts::of(&runs.all())?;
    let [before, after] =
        [runs.before, runs.after].map(|side| side.iter().map(|record| record.all_parts()).collect::<Vec<_>>());
    let of_part = |part: &Part| {
        let [before, after] =
            [&before, &after].map(|side| side.iter().map(|parts| parts.get(part)).collect::<Option<Vec<&RunRecord>>>());
        Some(Sides { before: before?, after: after? })
    };
    let last = |parts: &[BTreeMap<Part, RunRecord>]| parts.last().and_then(|parts| inspected(parts).cloned());
    let comparer = Comparer {
        runs,
        withheld: withheld(runs, before.iter().chain(&after)),
        mix: of_part(&parts.mix)?,
        operations: of_part(&parts.operations)?,
        saturation: of_part(&Part::Saturation),
        sizes: [last(&before)?, last(&after)?],
    };
    let disturbances = comparer.disturbances();
    let strategies = comparer.strategies(!disturbances.is_empty());
    // In turns, a shift of all is that of the server.
    let shared_shift = if runs.unit() == ComparedUnit::PairedRounds { None } else { shared_shift(&strategies) };
    let relative_to = runs.reference.filter(|_| runs.are_relative()).map(str::to_owned);
    let contains_sessions = sessions(&comparer.mix, runs.unit()).is_some();
    let withheld = comparer.withheld;
    let unit = runs.unit();
    Some(RunComparison {
        parts,
        unit,
        relative_to,
        withheld,
        disturbances,
        contains_sessions,
        strategies,
        shared_shift,
    })
}

/// The strategies whose times the cache of a shared server distorts in a run; all when it distorts those of the reference.
fn withheld<'r>(runs: RunSides, all: impl Iterator<Item = &'r BTreeMap<Part, RunRecord>>) -> Vec<String> {
    let mut found = BTreeSet::new();
    for parts in all {
        let (cache, strategies) = (SharedCache::of(parts), parts.values().next().map(|record| &record.strategies));
        let places = strategies.into_iter().flatten().enumerate();
        found.extend(places.filter(|(place, _)| cache.obstacle(*place).is_some()).map(|(_, one)| one.name.clone()));
    }
    let is_general = runs.are_relative() && runs.reference.is_some_and(|reference| found.contains(reference));
    runs.strategies.iter().filter(|name| is_general || found.contains(*name)).cloned().collect()
}

/// One part of the runs of both sides.
struct Sides<'r> {
    before: Vec<&'r RunRecord>,
    after: Vec<&'r RunRecord>,
}

impl<'r> Sides<'r> {
    fn all(&self) -> impl Iterator<Item = &'r RunRecord> {
        self.before.iter().chain(&self.after).copied()
    }

    /// Something of every run.
    fn map<R>(&self, of: impl Fn(&RunRecord) -> R) -> [Vec<R>; 2] {
        [&self.before, &self.after].map(|side| side.iter().map(|record| of(record)).collect())
    }
}

/// The parts of the runs that numbers are taken from.
struct Comparer<'r> {
    runs: RunSides<'r>,
    withheld: Vec<String>,
    mix: Sides<'r>,
    operations: Sides<'r>,
    saturation: Option<Sides<'r>>,
    /// The last part of the last run of each side, which has the sizes.
    sizes: [RunRecord; 2],
}

/// The operation of a row, `None` for the mix, and its numbers, before it is known how many there are in the family.
type RowNumbers<'a> = (Option<usize>, Vec<(Metric, Numbers<'a>)>);

impl Comparer<'_> {
    /// What differed so much that nothing can be decided.
    fn disturbances(&self) -> Vec<Disturbance> {
        let reference = self.runs.reference.filter(|_| self.runs.are_relative());
        let mut found = disturbances(&self.mix, reference);
        let moved = reference.and_then(|name| self.reference_change(name, None, Metric::MEAN));
        found.extend(moved.map(|(ratio, interval)| Disturbance::Reference { ratio, interval }));
        found
    }

    /// How a number of the reference changed, beyond the tolerance and its noise; `None` where it did not.
    fn reference_change(&self, name: &str, row: Option<usize>, metric: Metric) -> Option<(f64, ConfidenceInterval)> {
        let sides = row.map_or(&self.mix, |_| &self.operations);
        let (reference, judging, unit) = (None, Judging::AsTheyAre, self.runs.unit());
        let numbers = Numbers::new(sides, metric, Asked { strategy: name, operation: row, reference, judging, unit });
        // A family of the operations, as for the others.
        let family = row.map_or(1, |_| self.mix.before[0].operations.len());
        let change = numbers.change(self.runs.tolerance, family);
        change.verdict.shown().and(change.ratio.zip(change.interval))
    }

    /// The numbers by which the reference itself changed: nothing is decided relative to them.
    fn moved(&self, rows: &[RowNumbers]) -> Vec<(Option<usize>, Metric)> {
        let Some(reference) = self.runs.reference.filter(|_| self.runs.are_relative()) else { return Vec::new() };
        let all = rows.iter().flat_map(|(row, numbers)| numbers.iter().map(|(metric, _)| (*row, *metric)));
        all.filter(|(row, metric)| self.reference_change(reference, *row, *metric).is_some()).collect()
    }

    /// An entry per strategy; of runs that are `disturbed`, nothing is decided.
    fn strategies(&self, disturbed: bool) -> Vec<StrategyChange> {
        let rows: Vec<Vec<RowNumbers>> = self.runs.strategies.iter().map(|name| self.row_numbers(name)).collect();
        let moved = self.moved(rows.first().map_or(&[][..], Vec::as_slice));
        // As within a run, the mix is a family of its own.
        let family = |is_mix: bool| {
            let members = rows.iter().flatten().filter(|(operation, _)| operation.is_none() == is_mix);
            members.flat_map(|(_, numbers)| numbers).filter(|(_, numbers)| numbers.are_judged()).count()
        };
        let (mix, operations) = (family(true), family(false));
        let of_row = |(operation, numbers): &RowNumbers| {
            let family = if operation.is_none() { mix } else { operations };
            let shown = numbers.iter().filter(|(metric, numbers)| *metric == Metric::MEAN || numbers.have_rounds());
            let change = |(metric, numbers): &(Metric, Numbers)| {
                let change = numbers.change(self.runs.tolerance, family);
                let is_disturbed = disturbed || moved.contains(&(*operation, *metric));
                (*metric, if is_disturbed { change.disturbed() } else { change })
            };
            let operation = operation.map(|operation| self.mix.before[0].operations[operation].clone());
            OperationChange { operation, changes: shown.map(change).collect() }
        };
        let rows = rows.iter().map(|rows| rows.iter().map(of_row).collect());
        self.runs.strategies.iter().zip(rows).map(|(name, rows)| self.strategy(name, rows)).collect()
    }

    /// Only operations that every run called.
    fn row_numbers<'a>(&'a self, name: &'a str) -> Vec<RowNumbers<'a>> {
        let is_called = |operation: &usize| {
            self.operations.all().all(|record| {
                let strategy = position(record, name);
                strategy.is_some_and(|place| outcome_totals(operations(record, place, *operation)).calls > 0)
            })
        };
        let called = (0..self.operations.before[0].operations.len()).filter(is_called).map(Some);
        let of_row = |operation: Option<usize>| {
            let sides = operation.map_or(&self.mix, |_| &self.operations);
            let reference = self.runs.reference;
            let is_judged = self.role(name) == Role::Judged && !self.withheld.iter().any(|other| other == name);
            let judging = match (is_judged, reference == Some(name) && self.runs.are_relative()) {
                (false, _) => Judging::NotJudged,
                (true, true) => Judging::Reference,
                (true, false) if self.runs.are_relative() => Judging::Relative,
                (true, false) => Judging::AsTheyAre,
            };
            let asked = Asked { strategy: name, operation, reference, judging, unit: self.runs.unit() };
            let numbers = Metric::compared().into_iter().map(|metric| (metric, Numbers::new(sides, metric, asked)));
            (operation, numbers.collect())
        };
        called.chain([None]).map(of_row).collect()
    }

    fn strategy(&self, name: &str, rows: Vec<OperationChange>) -> StrategyChange {
        let throughput = |sides: &Sides| {
            let rates = sides.map(|record| value(record, Metric::Throughput, position(record, name)?, None));
            let [before, after] =
                rates.map(|rates| arithmetic_mean(rates.into_iter().collect::<Option<Vec<f64>>>()?.into_iter()));
            before.zip(after)
        };
        let growth =
            |record: &RunRecord| position(record, name).map_or_else(Vec::new, |place| collection_growth(record, place));
        let [old, new] = [&self.sizes[0], &self.sizes[1]].map(growth);
        let names = distinct(old.iter().chain(&new).map(|growth| &growth.collection));
        let find = |all: &[CollectionGrowth], name: &str| all.iter().find(|growth| growth.collection == name).cloned();
        StrategyChange {
            name: name.to_owned(),
            role: self.role(name),
            rows,
            throughput: self.saturation.as_ref().and_then(throughput),
            collections: names.into_iter().map(|name| (name.clone(), find(&old, name), find(&new, name))).collect(),
        }
    }

    /// A strategy that is unsafe in one run is not judged.
    fn role(&self, name: &str) -> Role {
        let is_judged =
            |record: &RunRecord| position(record, name).is_some_and(|place| role(record, place) == Role::Judged);
        if self.mix.all().all(is_judged) { Role::Judged } else { Role::Described }
    }
}

/// The position of a strategy in a run; its repeat has the same name and is not meant.
fn position(record: &RunRecord, name: &str) -> Option<usize> {
    record.strategies.iter().position(|strategy| strategy.name == name && !strategy.is_repeat)
}

impl RunComparison {
    /// Every judged number: strategy, row, metric, and its change.
    pub fn judged(&self) -> impl Iterator<Item = (&StrategyChange, &OperationChange, Metric, TimeChange)> {
        let rows = self.strategies.iter().flat_map(|strategy| strategy.rows.iter().map(move |row| (strategy, row)));
        let metrics = rows.flat_map(|(strategy, row)| {
            row.changes.iter().map(move |(metric, change)| (strategy, row, *metric, *change))
        });
        let is_judged = |verdict: Verdict| !matches!(verdict.reason(), Some(Reason::NotJudged | Reason::Reference));
        metrics.filter(move |(_, _, _, change)| is_judged(change.verdict))
    }

    /// Whether the later runs are worse anywhere.
    pub fn has_regression(&self) -> bool {
        self.judged().any(|(_, _, _, change)| change.is_regression())
    }

    /// Whether the machine or the server differed too much between the runs for anything to be decided.
    pub fn is_disturbed(&self) -> bool {
        !self.disturbances.is_empty()
    }

    /// The ratio that is judged.
    pub fn judged_ratio(&self, change: &TimeChange) -> Option<f64> {
        if self.relative_to.is_some() { change.relative } else { change.ratio }
    }
}

/// Whether the means of operations of at least two strategies moved alike: all in one direction, each by half to one and
/// a half of their median, and that beyond [`NOISE`].
fn shared_shift(strategies: &[StrategyChange]) -> Option<SharedShift> {
    let logs = |strategy: &StrategyChange| -> Vec<f64> {
        let operations = strategy.rows.iter().filter(|row| row.operation.is_some());
        operations.filter_map(|row| Some(row.mean().ratio?.ln())).collect()
    };
    let moved = strategies.iter().filter(|strategy| !logs(strategy).is_empty()).count();
    let mut logs: Vec<f64> = strategies.iter().flat_map(logs).collect();
    logs.sort_by(f64::total_cmp);
    let (low, high, typical) = (*logs.first()?, *logs.last()?, logs[logs.len() / 2]);
    let is_near = |log: &f64| (log - typical).abs() <= typical.abs() / 2.0;
    let is_common =
        moved > 1 && logs.len() >= ENOUGH_MEANS && typical.abs() > NOISE.ln_1p() && logs.iter().all(is_near);
    let range = ConfidenceInterval { low: low.exp(), high: high.exp() };
    is_common.then(|| SharedShift { means: logs.len(), typical: typical.exp(), range })
}

#[cfg(test)]
mod tests;
