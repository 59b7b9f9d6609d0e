//! The comparison of two runs of the same scenario.
//!
//! Rounds of two runs share no round effect, so nothing pairs them: they are two independent samples. The logarithms of a
//! number's values per round are compared with Welch's interval, which does not require equal spreads.

use crate::results::{CellRecord, NOISE, Part, RunRecord};

use super::compare::{ArmTimes, MINIMUM_ROUNDS, Role};
use super::estimate::{ConfidenceInterval, Estimate, log_ratios};
use super::latency::{geometric_mean, quantiles};
use super::mix::times;
use super::welch::Shift;
use super::{
    CollectionGrowth, calls_per_second, cells, collection_growth, distinct, operations, outcome_totals, role, selected,
};

/// The quantile that is compared as well as the mean.
const QUANTILE: f64 = 0.99;

/// The chance (0 to 1) that an interval of a family misses its true ratio.
const FAMILY_ERROR: f64 = 0.05;

/// The fewest failures of an operation that are not put down to chance.
const FEW_FAILURES: u64 = 10;

/// The fewest means that can show a shared shift.
const ENOUGH_MEANS: usize = 3;

/// Two runs to compare, or a part of each.
#[derive(Debug, Clone, Copy)]
pub struct RunPair<'r> {
    /// The earlier run.
    pub before: &'r RunRecord,
    /// The later run, which is judged.
    pub after: &'r RunRecord,
    /// The strategies that both have.
    pub strategies: &'r [SharedStrategy],
    /// The change (0.05 for 5 %) up to which a number counts as the same.
    pub tolerance: f64,
}

/// The positions of one strategy in two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedStrategy {
    /// In the earlier run.
    pub before: usize,
    /// In the later run.
    pub after: usize,
}

/// The parts of two runs whose times are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedParts {
    /// That of the mix: the common rate if both runs had the same, else saturation, else own costs.
    pub mix: Part,
    /// That of the operations: own costs if both runs measured them, else that of the mix.
    pub operations: Part,
}

impl ComparedParts {
    /// The parts that two runs measure alike; `None` without any.
    pub fn of(before: &RunRecord, after: &RunRecord) -> Option<ComparedParts> {
        let is_alike = |part: &Part| {
            let is_measured = [before, after].iter().all(|record| measured_parts(record).contains(part));
            is_measured && (*part != Part::Rate || before.settings.load == after.settings.load)
        };
        let mix = [Part::Rate, Part::Saturation, Part::Own].into_iter().find(is_alike)?;
        Some(ComparedParts { mix, operations: Some(Part::Own).filter(is_alike).unwrap_or(mix) })
    }
}

/// The parts that a run measures, also before its first round.
pub fn measured_parts(record: &RunRecord) -> Vec<Part> {
    record.part.map_or_else(|| record.settings.parts.clone(), |part| vec![part])
}

/// The differences between two runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunComparison {
    /// The parts whose times were compared.
    pub parts: ComparedParts,
    /// An entry per common strategy.
    pub strategies: Vec<StrategyChange>,
    /// The shift that nearly all means have in common.
    pub shared_shift: Option<SharedShift>,
}

/// One strategy in two runs.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyChange {
    /// Its name.
    pub name: String,
    /// What it takes part in.
    pub role: Role,
    /// Its times, operation by operation, and those of the mix last.
    pub rows: Vec<OperationChange>,
    /// Calls per second at saturation before and after; `None` where a run did not measure it.
    pub throughput: Option<(f64, f64)>,
    /// Its collections before and after, by name.
    pub collections: Vec<(String, Option<CollectionGrowth>, Option<CollectionGrowth>)>,
}

/// One operation of a strategy, or its mix.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationChange {
    /// The operation; `None` for the mix.
    pub operation: Option<String>,
    /// The mean time.
    pub mean: TimeChange,
    /// The 99th percentile; `None` where too few calls lie beyond it.
    pub p99: Option<TimeChange>,
    /// The change of the mean divided by that of the baseline strategy, in which a change of the whole machine cancels;
    /// `None` for the baseline itself, and where one is missing.
    pub relative: Option<f64>,
}

/// One number in two runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeChange {
    /// The geometric mean over the rounds before, in nanoseconds.
    pub before: Option<f64>,
    /// The same over the rounds after.
    pub after: Option<f64>,
    /// After divided by before; `None` without one of them.
    pub ratio: Option<f64>,
    /// The 95 % CI of the ratio, simultaneous for the family; `None` with fewer than [`MINIMUM_ROUNDS`] rounds of a run.
    pub interval: Option<ConfidenceInterval>,
    /// The verdict.
    pub verdict: ChangeVerdict,
}

/// The verdict on a number in two runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ChangeVerdict {
    /// It takes longer, beyond the tolerance.
    Slower,
    /// It takes less time, beyond the tolerance.
    Faster,
    /// It is the same within the tolerance.
    NoDifference,
    /// The interval has differences on both sides of the tolerance, or the repeat of a run differs as much.
    Inconclusive,
    /// Its times cannot be compared.
    Incomparable(Incomparable),
    /// The strategy is unsafe: its times are shown and not judged.
    NotJudged,
}

/// Why times cannot be compared: a reason in at least one of the runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Incomparable {
    /// The reason in the earlier run.
    pub before: Option<IncomparableReason>,
    /// The reason in the later run.
    pub after: Option<IncomparableReason>,
}

/// Why the times of an arm cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncomparableReason {
    /// It could not keep up with the calls that fell due.
    Overloaded,
    /// More calls failed than the error budget allows.
    Failures,
    /// In a round no call succeeded.
    NoSuccess,
}

impl ChangeVerdict {
    /// Whether the later run is worse: slower beyond the tolerance, or newly overloaded or failing. A round without a
    /// success may have had two calls of an operation, both rejected: that is not compared.
    pub fn is_regression(self) -> bool {
        match self {
            ChangeVerdict::Slower => true,
            ChangeVerdict::Incomparable(Incomparable { before, after }) => {
                before.is_none() && after.is_some_and(|reason| reason != IncomparableReason::NoSuccess)
            }
            ChangeVerdict::Faster
            | ChangeVerdict::NoDifference
            | ChangeVerdict::Inconclusive
            | ChangeVerdict::NotJudged => false,
        }
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

/// Compares two runs; `None` when they have no part in common.
pub fn compare_runs(runs: RunPair) -> Option<RunComparison> {
    let parts = ComparedParts::of(runs.before, runs.after)?;
    let [before, after] = [runs.before, runs.after].map(RunRecord::all_parts);
    let pair = |part: Part| Some(RunPair { before: before.get(&part)?, after: after.get(&part)?, ..runs });
    let last = RunPair { before: before.values().next_back()?, after: after.values().next_back()?, ..runs };
    let (mix, operations) = (pair(parts.mix)?, pair(parts.operations)?);
    let pairs = PartPairs { mix, operations, saturation: pair(Part::Saturation), last };
    let strategies = strategies(pairs, runs.tolerance);
    let shared_shift = shared_shift(&strategies);
    Some(RunComparison { parts, strategies, shared_shift })
}

/// The parts of two runs that numbers are taken from.
#[derive(Debug, Clone, Copy)]
struct PartPairs<'r> {
    mix: RunPair<'r>,
    operations: RunPair<'r>,
    saturation: Option<RunPair<'r>>,
    /// The last part of each, which has the sizes.
    last: RunPair<'r>,
}

impl<'r> PartPairs<'r> {
    /// The part of an operation's times, or of the mix's.
    fn of(&self, operation: Option<usize>) -> RunPair<'r> {
        operation.map_or(self.mix, |_| self.operations)
    }
}

fn strategies(pairs: PartPairs, tolerance: f64) -> Vec<StrategyChange> {
    let shared = pairs.mix.strategies;
    let operation_samples: Vec<Vec<OperationSamples>> =
        shared.iter().map(|shared| operation_samples(pairs, *shared)).collect();
    // As within a run, the mix is a family of its own.
    let family = |is_mix: bool| {
        let members = operation_samples.iter().flatten().filter(|samples| samples.operation.is_none() == is_mix);
        members.flat_map(|samples| [&samples.mean, &samples.p99]).filter(|metric| metric.is_judged()).count()
    };
    let (mix, operations) = (family(true), family(false));
    let judge = |samples: &OperationSamples, metric: &MetricSamples| {
        let family = if samples.operation.is_none() { mix } else { operations };
        metric.change(tolerance, family)
    };
    let of_strategy = |(shared, operation_samples): (&SharedStrategy, &Vec<OperationSamples>)| {
        let rows = operation_samples.iter().map(|samples| OperationChange {
            operation: samples.operation.map(|operation| pairs.mix.before.operations[operation].clone()),
            mean: judge(samples, &samples.mean),
            p99: samples.p99.has_times().then(|| judge(samples, &samples.p99)),
            relative: relative(pairs.of(samples.operation), *shared, samples.operation),
        });
        strategy(pairs, *shared, rows.collect())
    };
    shared.iter().zip(&operation_samples).map(of_strategy).collect()
}

impl RunComparison {
    /// Every judged number: strategy, row, whether it is the quantile, and its change.
    pub fn judged(&self) -> impl Iterator<Item = (&StrategyChange, &OperationChange, bool, TimeChange)> {
        let rows = self.strategies.iter().flat_map(|strategy| strategy.rows.iter().map(move |row| (strategy, row)));
        let metrics = rows.flat_map(|(strategy, row)| {
            let p99 = row.p99.map(|p99| (strategy, row, true, p99));
            [Some((strategy, row, false, row.mean)), p99].into_iter().flatten()
        });
        metrics.filter(|(_, _, _, change)| change.verdict != ChangeVerdict::NotJudged)
    }

    /// Whether the later run is worse anywhere.
    pub fn has_regression(&self) -> bool {
        self.judged().any(|(_, _, _, change)| change.verdict.is_regression())
    }
}

fn strategy(pairs: PartPairs, shared: SharedStrategy, rows: Vec<OperationChange>) -> StrategyChange {
    let SharedStrategy { before, after } = shared;
    let throughput = |runs: RunPair| calls_per_second(runs.before, before).zip(calls_per_second(runs.after, after));
    let runs = pairs.last;
    let (old, new) = (collection_growth(runs.before, before), collection_growth(runs.after, after));
    let names = distinct(old.iter().chain(&new).map(|growth| &growth.collection));
    let find = |all: &[CollectionGrowth], name: &str| all.iter().find(|growth| growth.collection == name).cloned();
    StrategyChange {
        name: runs.before.strategies[before].name.clone(),
        role: judged_role(runs, shared),
        rows,
        throughput: pairs.saturation.and_then(throughput),
        collections: names.into_iter().map(|name| (name.clone(), find(&old, name), find(&new, name))).collect(),
    }
}

/// A strategy that is unsafe in one run is not judged.
fn judged_role(runs: RunPair, shared: SharedStrategy) -> Role {
    let roles = [role(runs.before, shared.before), role(runs.after, shared.after)];
    if roles == [Role::Judged; 2] { Role::Judged } else { Role::Described }
}

/// The numbers of a row before it is known how many there are in the family.
struct OperationSamples {
    operation: Option<usize>,
    mean: MetricSamples,
    p99: MetricSamples,
}

/// One number per round of both runs.
struct MetricSamples {
    before: Vec<Option<f64>>,
    after: Vec<Option<f64>>,
    /// How far the repeats of both runs show that noise alone moves its log ratio.
    noise: f64,
    incomparable: Option<Incomparable>,
    is_described: bool,
}

/// Only operations that were called.
fn operation_samples(pairs: PartPairs, shared: SharedStrategy) -> Vec<OperationSamples> {
    let is_called = |operation: usize| {
        let calls = |record: &RunRecord, place: usize| outcome_totals(operations(record, place, operation)).calls;
        let RunPair { before, after, .. } = pairs.operations;
        calls(before, shared.before) > 0 && calls(after, shared.after) > 0
    };
    let called = (0..pairs.operations.before.operations.len()).filter(|operation| is_called(*operation)).map(Some);
    let samples = |operation: Option<usize>| {
        let runs = pairs.of(operation);
        let incomparable = incomparable(runs, shared, operation);
        let metric_samples = |per_round: &PerRound| MetricSamples {
            before: per_round(runs.before, shared.before, operation),
            after: per_round(runs.after, shared.after, operation),
            noise: repeat_band(runs.before, operation, per_round).max(repeat_band(runs.after, operation, per_round)),
            incomparable,
            is_described: judged_role(runs, shared) != Role::Judged,
        };
        OperationSamples { operation, mean: metric_samples(&times), p99: metric_samples(&p99s) }
    };
    called.chain([None]).map(samples).collect()
}

type PerRound = dyn Fn(&RunRecord, usize, Option<usize>) -> Vec<Option<f64>>;

/// The 99th percentile per round.
fn p99s(record: &RunRecord, strategy: usize, operation: Option<usize>) -> Vec<Option<f64>> {
    quantiles(record, strategy, operation, QUANTILE)
}

/// How far the repeat of a run shows that noise alone moves this number; 0 without a repeat.
fn repeat_band(record: &RunRecord, operation: Option<usize>, per_round: &PerRound) -> f64 {
    let repeat = record.strategies.iter().position(|strategy| strategy.is_repeat);
    let ratios = |place| log_ratios(&per_round(record, place, operation), &per_round(record, 0, operation));
    repeat.and_then(|place| Estimate::of(&ratios(place))?.band()).unwrap_or(0.0)
}

fn incomparable(runs: RunPair, shared: SharedStrategy, operation: Option<usize>) -> Option<Incomparable> {
    let before = incomparable_reason(runs.before, shared.before, operation);
    let after = incomparable_reason(runs.after, shared.after, operation);
    (before.is_some() || after.is_some()).then_some(Incomparable { before, after })
}

fn incomparable_reason(record: &RunRecord, strategy: usize, operation: Option<usize>) -> Option<IncomparableReason> {
    let arm = ArmTimes::of(record, strategy, operation);
    let is_without = |(cell, mean): (&CellRecord, &Option<f64>)| {
        let calls = operation.map_or(cell.calls, |place| cell.operations.get(place).map_or(0, |one| one.calls));
        calls > 0 && mean.is_none()
    };
    let failed = || {
        let operations = cells(record, strategy).flat_map(|cell| selected(&cell.operations, operation));
        outcome_totals(operations).failed()
    };
    if arm.overloaded.is_some() {
        Some(IncomparableReason::Overloaded)
    } else if arm.failed_share > record.settings.error_budget && failed() >= FEW_FAILURES {
        Some(IncomparableReason::Failures)
    } else {
        cells(record, strategy).zip(&arm.means).any(is_without).then_some(IncomparableReason::NoSuccess)
    }
}

impl MetricSamples {
    fn has_times(&self) -> bool {
        let enough = |values: &[Option<f64>]| values.iter().flatten().count() >= MINIMUM_ROUNDS;
        enough(&self.before) && enough(&self.after)
    }

    fn shift(&self) -> Option<Shift> {
        let logs = |values: &[Option<f64>]| values.iter().flatten().map(|value| value.ln()).collect::<Vec<f64>>();
        Shift::of(&logs(&self.before), &logs(&self.after))
    }

    fn is_judged(&self) -> bool {
        self.has_times() && self.incomparable.is_none() && !self.is_described
    }

    fn change(&self, tolerance: f64, family: usize) -> TimeChange {
        let shift = self.shift().filter(|_| self.incomparable.is_none());
        let logs = shift.filter(|_| self.has_times()).map(|shift| shift.interval(FAMILY_ERROR / family.max(1) as f64));
        let verdict = match (self.incomparable, logs.zip(shift)) {
            (_, _) if self.is_described => ChangeVerdict::NotJudged,
            (Some(incomparable), _) => ChangeVerdict::Incomparable(incomparable),
            (None, Some((logs, shift))) => verdict(logs, shift.mean, tolerance.ln_1p(), self.noise),
            (None, None) => ChangeVerdict::Inconclusive,
        };
        TimeChange {
            before: geometric_mean(&self.before),
            after: geometric_mean(&self.after),
            ratio: shift.map(|shift| shift.mean.exp()),
            interval: logs.map(|logs| ConfidenceInterval { low: logs.low.exp(), high: logs.high.exp() }),
            verdict,
        }
    }
}

/// All arguments are logarithms: the interval of the ratio, the ratio, the tolerance, and what noise alone does.
fn verdict(interval: ConfidenceInterval, mean: f64, tolerance: f64, noise: f64) -> ChangeVerdict {
    let is_beyond_noise = mean.abs() > noise;
    if interval.low >= -tolerance && interval.high <= tolerance {
        ChangeVerdict::NoDifference
    } else if is_beyond_noise && interval.low > tolerance {
        ChangeVerdict::Slower
    } else if is_beyond_noise && interval.high < -tolerance {
        ChangeVerdict::Faster
    } else {
        ChangeVerdict::Inconclusive
    }
}

/// The change of a strategy's mean over that of the baseline of the earlier run, each within its own rounds.
fn relative(runs: RunPair, shared: SharedStrategy, operation: Option<usize>) -> Option<f64> {
    let baseline = runs.strategies.iter().find(|shared| shared.before == 0)?;
    let ratio = |record: &RunRecord, strategy: usize, baseline: usize| {
        let ratios = log_ratios(&times(record, strategy, operation), &times(record, baseline, operation));
        Some(Estimate::of(&ratios)?.mean)
    };
    let change = ratio(runs.after, shared.after, baseline.after)? - ratio(runs.before, shared.before, baseline.before)?;
    (shared.before != baseline.before).then(|| change.exp())
}

/// Whether the means of operations of at least two strategies moved alike: all in one direction, each by half to one and
/// a half of their median, and that beyond [`NOISE`].
fn shared_shift(strategies: &[StrategyChange]) -> Option<SharedShift> {
    let logs = |strategy: &StrategyChange| -> Vec<f64> {
        let operations = strategy.rows.iter().filter(|row| row.operation.is_some());
        operations.filter_map(|row| Some(row.mean.ratio?.ln())).collect()
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
mod tests {
    use crate::record::CallOutcome;
    use std::time::Duration;

    use super::*;
    use crate::record::{LatencyHistogram, StoredHistogram};
    use crate::results::{Arrivals, LoadModel, OperationRecord};
    use crate::stats::sample;

    const ALL: [SharedStrategy; 3] = [same(0), same(1), same(2)];

    /// A strategy with the same position in both runs.
    const fn same(place: usize) -> SharedStrategy {
        SharedStrategy { before: place, after: place }
    }

    fn compared(before: &RunRecord, after: &RunRecord) -> RunComparison {
        compare_runs(RunPair { before, after, strategies: &ALL, tolerance: 0.05 }).unwrap()
    }

    fn operations_of(run: &mut RunRecord, strategy: usize) -> impl Iterator<Item = (usize, &mut OperationRecord)> {
        let cells = run.rounds.iter_mut().map(move |round| &mut round.cells[strategy]);
        cells.flat_map(|cell| cell.operations.iter_mut().enumerate())
    }

    /// The run with all means of a strategy this many times as long; histograms stay.
    fn slowed(mut run: RunRecord, strategies: &[usize], factor: f64) -> RunRecord {
        for strategy in strategies {
            for (_, operation) in operations_of(&mut run, *strategy) {
                for outcome in &mut operation.outcomes {
                    outcome.sum = (outcome.sum as f64 * factor).round() as u64;
                }
            }
        }
        run
    }

    /// The run with these means in one operation, round after round.
    fn with_means(mut run: RunRecord, strategy: usize, operation: usize, logs: &[f64]) -> RunRecord {
        let changed = operations_of(&mut run, strategy).filter(|(place, _)| *place == operation);
        for ((_, operation), log) in changed.zip(logs) {
            operation.outcomes.truncate(1);
            operation.outcomes[0].count = 1;
            operation.outcomes[0].sum = (1e15 * log.exp()).round() as u64;
        }
        run
    }

    fn row<'b>(found: &'b RunComparison, strategy: usize, operation: Option<&str>) -> &'b OperationChange {
        found.strategies[strategy].rows.iter().find(|row| row.operation.as_deref() == operation).unwrap()
    }

    #[test]
    fn a_run_is_the_same_as_itself() {
        let run = sample::run(8);
        let found = compared(&run, &run);
        assert!(!found.has_regression() && found.shared_shift.is_none());
        assert_eq!(found.judged().count(), 8, "two judged strategies, three operations and the mix, no quantile");
        for (_, _, _, change) in found.judged() {
            assert_eq!((change.ratio, change.before), (Some(1.0), change.after));
            let interval = change.interval.unwrap();
            assert!((interval.low * interval.high - 1.0).abs() < 1e-12 && interval.low < 1.0);
        }
        assert_eq!(row(&found, 1, Some("count")).relative, Some(1.0));
        assert_eq!(row(&found, 0, Some("count")).relative, None);
    }

    #[test]
    fn the_interval_is_simultaneous_for_the_family() {
        // Logarithms 0 to 0.05 and the same 0.3 higher: s^2 = 0.00035 in both, error sqrt(2 * 0.00035 / 6) = 0.0108012,
        // 10 degrees of freedom. Six means of judged strategies are a family: t(1 - 0.05/12, 10) = 3.27684.
        let logs = [0.0, 0.01, 0.02, 0.03, 0.04, 0.05];
        let before = with_means(sample::run(6), 0, 0, &logs);
        let after = with_means(sample::run(6), 0, 0, &logs.map(|log| log + 0.3));
        let found = compared(&before, &after);
        let change = row(&found, 0, Some("add_comment")).mean;
        let interval = change.interval.unwrap();
        assert!((change.ratio.unwrap().ln() - 0.3).abs() < 1e-9);
        assert!((interval.low.ln() - (0.3 - 3.27684 * 0.010_801_2)).abs() < 1e-5, "{}", interval.low.ln());
        assert!((interval.high.ln() - (0.3 + 3.27684 * 0.010_801_2)).abs() < 1e-5);
        assert_eq!(change.verdict, ChangeVerdict::Slower);
        assert!(found.has_regression());
        // In the other direction it is faster by as much.
        let back = row(&compared(&after, &before), 0, Some("add_comment")).mean;
        assert_eq!(back.verdict, ChangeVerdict::Faster);
        assert!((back.interval.unwrap().low * interval.high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_tolerance_is_where_the_whole_interval_must_lie() {
        let ends = |low: f64, high: f64| verdict(ConfidenceInterval { low, high }, f64::midpoint(low, high), 0.05, 0.0);
        assert_eq!(ends(0.051, 0.2), ChangeVerdict::Slower);
        assert_eq!(ends(0.049, 0.2), ChangeVerdict::Inconclusive);
        assert_eq!(ends(-0.049, 0.049), ChangeVerdict::NoDifference);
        assert_eq!(ends(0.01, 0.02), ChangeVerdict::NoDifference);
        assert_eq!(ends(-0.2, -0.051), ChangeVerdict::Faster);
        assert_eq!(ends(-0.2, -0.049), ChangeVerdict::Inconclusive);
        let interval = ConfidenceInterval { low: 0.06, high: 0.1 };
        assert_eq!(verdict(interval, 0.08, 0.05, 0.09), ChangeVerdict::Inconclusive, "a repeat differs as much");
        assert_eq!(verdict(interval, 0.08, 0.05, 0.07), ChangeVerdict::Slower);
    }

    #[test]
    fn the_repeat_of_either_run_shows_the_noise() {
        let (quiet, slow) = (sample::run(8), slowed(sample::run(8), &[0], 1.5));
        assert_eq!(row(&compared(&quiet, &slow), 0, None).mean.verdict, ChangeVerdict::Slower);
        // A repeat that takes half as long as the baseline.
        let mut loud = quiet.clone();
        loud.strategies[1].is_repeat = true;
        let found = |before: &RunRecord, after: &RunRecord| {
            let runs = RunPair { before, after, strategies: &[same(0)], tolerance: 0.05 };
            row(&compare_runs(runs).unwrap(), 0, Some("add_comment")).mean.verdict
        };
        assert_eq!(found(&loud, &slow), ChangeVerdict::Inconclusive);
        assert_eq!(found(&quiet, &slow), ChangeVerdict::Slower);
    }

    #[test]
    fn unsafe_strategies_and_short_runs_are_not_judged() {
        let found = compared(&sample::run(8), &slowed(sample::run(8), &[2], 3.0));
        assert_eq!(row(&found, 2, None).mean.verdict, ChangeVerdict::NotJudged);
        assert!(!found.has_regression());
        let short = compared(&sample::run(5), &slowed(sample::run(8), &[0], 3.0));
        let change = row(&short, 0, None).mean;
        assert_eq!((change.interval, change.verdict), (None, ChangeVerdict::Inconclusive));
        assert!((change.ratio.unwrap() - 3.0).abs() < 0.1);
    }

    #[test]
    fn a_shared_shift_cancels_relative_to_the_baseline() {
        let found = compared(&sample::run(8), &slowed(sample::run(8), &[0, 1, 2], 1.25));
        let shared_shift = found.shared_shift.unwrap();
        assert_eq!(shared_shift.means, 9);
        for ratio in [shared_shift.typical, shared_shift.range.low, shared_shift.range.high] {
            assert!((ratio - 1.25).abs() < 1e-6, "{shared_shift:?}");
        }
        assert!((row(&found, 1, Some("read_post")).relative.unwrap() - 1.0).abs() < 1e-6);
        let one = compared(&sample::run(8), &slowed(sample::run(8), &[1], 1.25));
        assert_eq!(one.shared_shift, None);
        assert!((row(&one, 1, Some("read_post")).relative.unwrap() - 1.25).abs() < 1e-6);
        assert_eq!(compared(&sample::run(8), &slowed(sample::run(8), &[0, 1, 2], 1.01)).shared_shift, None);
    }

    #[test]
    fn incomparable_times_are_regressions_where_they_are_new() {
        let verdict = |before: &RunRecord, after: &RunRecord| {
            let verdict = row(&compared(before, after), 1, Some("read_post")).mean.verdict;
            (verdict, verdict.is_regression())
        };
        let none = |is_there: bool| is_there.then_some(IncomparableReason::NoSuccess);
        let incomparable =
            |before, after| ChangeVerdict::Incomparable(Incomparable { before: none(before), after: none(after) });
        let well = sample::run(8);
        let mut rejecting = well.clone();
        rejecting.settings.error_budget = 1.0;
        for (_, operation) in operations_of(&mut rejecting, 1).filter(|(place, _)| *place == 1).take(1) {
            operation.outcomes[0].outcome = CallOutcome::Failed;
        }
        // Without answers there are no times to compare.
        assert_eq!(verdict(&well, &rejecting), (incomparable(false, true), false));
        assert_eq!(verdict(&rejecting, &well), (incomparable(true, false), false));
        assert_eq!(verdict(&rejecting, &rejecting), (incomparable(true, true), false));
        let mut failing = well.clone();
        for (_, operation) in operations_of(&mut failing, 0) {
            operation.outcomes[0].outcome = CallOutcome::Failed;
        }
        let change = row(&compared(&well, &failing), 0, None).mean;
        assert_eq!(
            change.verdict,
            ChangeVerdict::Incomparable(Incomparable { before: None, after: Some(IncomparableReason::Failures) })
        );
        assert!(change.verdict.is_regression());
        assert_eq!((change.ratio, change.interval), (None, None));
    }

    #[test]
    fn quantiles_are_compared_with_enough_calls() {
        // 2,000 calls, of which the slowest 40 take 9 ms, or 12 ms.
        let with_tail = |tail: u64| {
            let mut run = sample::run(6);
            for (_, operation) in operations_of(&mut run, 0).filter(|(place, _)| *place == 0) {
                let mut times = LatencyHistogram::new(Duration::from_secs(10));
                (0..2_000).for_each(|call| times.record(if call < 40 { tail } else { 1_000_000 }));
                operation.outcomes.truncate(1);
                (operation.outcomes[0].count, operation.outcomes[0].sum) = (2_000, 1_960_000_000 + 40 * 9_000_000);
                operation.outcomes[0].service = StoredHistogram::new(&times);
            }
            run
        };
        let found = compared(&with_tail(9_000_000), &with_tail(12_000_000));
        let row = row(&found, 0, Some("add_comment"));
        let p99 = row.p99.unwrap();
        assert_eq!((row.mean.verdict, p99.verdict), (ChangeVerdict::NoDifference, ChangeVerdict::Slower));
        assert!((p99.ratio.unwrap() - 12.0 / 9.0).abs() < 2e-3, "{p99:?}");
        assert_eq!(found.strategies[1].rows[0].p99, None);
    }

    #[test]
    fn operations_that_one_run_never_called_are_left_out() {
        let mut silent = sample::run(6);
        for (_, operation) in operations_of(&mut silent, 0).filter(|(place, _)| *place == 2) {
            *operation = OperationRecord { calls: 0, outcomes: Vec::new(), ..operation.clone() };
        }
        let found = compared(&sample::run(6), &silent);
        let names: Vec<_> = found.strategies[0].rows.iter().map(|row| row.operation.as_deref()).collect();
        assert_eq!(names, [Some("add_comment"), Some("read_post"), None]);
        assert_eq!(found.strategies[1].rows.len(), 4);
    }

    #[test]
    fn whatever_can_be_loaded_can_be_compared() {
        let run = sample::run(6);
        for edited in sample::edited().iter().step_by(50) {
            let shared: Vec<SharedStrategy> = (0..edited.strategies.len().min(3)).map(same).collect();
            for (before, after) in [(&run, edited), (edited, &run)] {
                if before.operations.len() == after.operations.len()
                    && after.strategies.len() == 3
                    && before.strategies.len() == 3
                {
                    let _ = compare_runs(RunPair { before, after, strategies: &shared, tolerance: 0.0 });
                }
            }
        }
    }

    #[test]
    fn operations_are_compared_by_their_own_costs() {
        let [before, mut after] = [(); 2].map(|()| sample::whole(&sample::run(6)));
        let own = after.parts.get_mut(&Part::Own).unwrap().iter_mut();
        for operation in own.flat_map(|round| &mut round.cells[0].operations) {
            operation.outcomes.iter_mut().for_each(|outcome| outcome.sum *= 2);
        }
        let found = compared(&before, &after);
        assert_eq!(found.parts, ComparedParts { mix: Part::Rate, operations: Part::Own });
        let ratio = |operation| row(&found, 0, operation).mean.ratio.unwrap();
        assert!((ratio(Some("read_post")) - 2.0).abs() < 1e-9 && ratio(None) == 1.0);
        assert!(found.strategies[0].throughput.is_some() && found.strategies[1].collections.len() == 2);
    }

    #[test]
    fn the_mix_is_compared_at_the_same_rate_or_at_saturation() {
        let parts = |change: &dyn Fn(&mut RunRecord)| {
            let [before, mut after] = [(); 2].map(|()| sample::whole(&sample::run(6)));
            change(&mut after);
            ComparedParts::of(&before, &after)
        };
        let mix = |change: &dyn Fn(&mut RunRecord)| parts(change).map(|parts| parts.mix);
        assert_eq!(mix(&|_| {}), Some(Part::Rate));
        let other = LoadModel::Open { rate: 7.0, arrivals: Arrivals::Poisson };
        assert_eq!(mix(&|run| run.settings.load = other), Some(Part::Saturation));
        assert_eq!(mix(&|run| run.settings.parts = vec![Part::Own]), Some(Part::Own));
        let saturation = Some(ComparedParts { mix: Part::Saturation, operations: Part::Saturation });
        assert_eq!(parts(&|run| run.settings.parts = vec![Part::Saturation]), saturation);
        assert_eq!(parts(&|run| (run.settings.parts, run.settings.load) = (vec![Part::Rate], other)), None);
    }

    #[test]
    fn sizes_and_throughput_are_compared() {
        let found = compared(&sample::run(6), &sample::run(6));
        let (before, after) = found.strategies[0].throughput.unwrap();
        assert_eq!((before, after), (915.0 / 0.2, 915.0 / 0.2));
        let names: Vec<&str> = found.strategies[1].collections.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["posts", "comments"]);
    }
}
