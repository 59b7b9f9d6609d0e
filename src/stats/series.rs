//! One number of a strategy, round after round: what every value, ratio and interval of a report is made of.
//!
//! The number of a round is that of one arm. The baseline is measured twice, and what is compared and shown of it is the
//! geometric mean of both arms in every round: two arms of one strategy know it better than one. The quotient of two values is
//! therefore the ratio that is tested, unless a round lacks one of the two.

use crate::record::{Counter, Metric, OutcomeKind, SizeMetric, TimeMetric};
use crate::results::{CellRecord, CollectionSizes, OutcomeRecord, RoundRecord, RunRecord};

use super::estimate::{Estimate, log_ratios};
use super::latency::{Distribution, Times, answered, arithmetic_mean, geometric_mean, mean_of};
use super::mix::mix_means;
use super::view::{cells, selected};
use super::{cell_rate, outcome_totals, overloaded};

/// Which number of a strategy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesKey {
    /// What is measured.
    pub metric: Metric,
    /// The position of the strategy in the run.
    pub strategy: usize,
    /// The position of the operation; `None` for the mix, or for the strategy as a whole.
    pub operation: Option<usize>,
    /// The outcome of the calls whose times count; `None` for all answered calls.
    pub outcome: Option<OutcomeKind>,
}

impl SeriesKey {
    /// A number of an operation, or of the mix.
    pub fn new(metric: Metric, strategy: usize, operation: Option<usize>) -> SeriesKey {
        SeriesKey { metric, strategy, operation, outcome: None }
    }
}

/// A number per round of one part of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundSeries {
    /// Per round; `None` where the round has no such number.
    pub rounds: Vec<Option<f64>>,
    /// Over all rounds; `None` without any.
    pub value: Option<f64>,
}

impl RoundSeries {
    /// A number of a strategy: of the baseline, with its repeat.
    pub fn of(record: &RunRecord, key: SeriesKey) -> RoundSeries {
        let repeat = usable_repeat(record, key).map(|strategy| of_arm(record, SeriesKey { strategy, ..key }));
        let rounds = with_repeat(of_arm(record, key), repeat);
        let value = over_rounds(record, key, &rounds);
        RoundSeries { rounds, value }
    }

    /// A number of one arm: of the baseline, without its repeat.
    pub fn alone(record: &RunRecord, key: SeriesKey) -> RoundSeries {
        let rounds = of_arm(record, key);
        RoundSeries { value: over_rounds(record, key, &rounds), rounds }
    }
}

/// A number of the repeat divided by that of the baseline: what noise alone does to it. `None` without a repeat.
pub(crate) fn repeat_estimate(record: &RunRecord, key: SeriesKey) -> Option<Estimate> {
    let repeat = record.strategies.iter().position(|strategy| strategy.is_repeat)?;
    let alone = |strategy| of_arm(record, SeriesKey { strategy, ..key });
    Estimate::of(&log_ratios(&alone(repeat), &alone(0)))
}

/// The value of a number over all rounds.
pub fn value(record: &RunRecord, metric: Metric, strategy: usize, operation: Option<usize>) -> Option<f64> {
    RoundSeries::of(record, SeriesKey::new(metric, strategy, operation)).value
}

/// What is measured and varies from round to round has its geometric mean, because quotients of such means are means of
/// quotients. A quantile that too few calls of a round exceed is that of all rounds' calls. Counts have their mean.
fn over_rounds(record: &RunRecord, key: SeriesKey, rounds: &[Option<f64>]) -> Option<f64> {
    let known = || rounds.iter().flatten().copied();
    match key.metric {
        Metric::Time(TimeMetric::Quantile(share)) if rounds.iter().any(Option::is_none) => {
            together(&times(record, key), share)
        }
        Metric::Max | Metric::Size(SizeMetric::LargestDocument) => known().reduce(f64::max),
        // The server's clocks are coarse: what takes next to nothing may have taken nothing.
        metric if is_pooled(metric) && known().all(|value| value > 0.0) => geometric_mean(rounds),
        _ => arithmetic_mean(known()).filter(|mean| mean.is_finite()),
    }
}

/// A quantile of the calls of all rounds.
fn together(times: &Times, share: f64) -> Option<f64> {
    times.all.quantile(share).map(|time| time as f64).filter(|time| *time > 0.0)
}

fn times(record: &RunRecord, key: SeriesKey) -> Times {
    Times::of(record, key.strategy, key.operation, key.outcome)
}

/// Quantiles (shares from 0 to 1) over all rounds of the times of every strategy, in the order of the run: per strategy the
/// values that [`RoundSeries::of`] has, from times that are read once.
pub fn quantile_values(
    record: &RunRecord,
    operation: Option<usize>,
    times: &[Times],
    shares: &[f64],
) -> Vec<Vec<Option<f64>>> {
    let repeat = usable_repeat(record, SeriesKey::new(Metric::P99, 0, operation)).and_then(|place| times.get(place));
    let of = |(strategy, arm): (usize, &Times), share: f64| {
        let repeat = repeat.filter(|_| strategy == 0).map(|repeat| repeat.quantiles(share));
        let rounds = with_repeat(arm.quantiles(share), repeat);
        if rounds.iter().any(Option::is_none) { together(arm, share) } else { geometric_mean(&rounds) }
    };
    times.iter().enumerate().map(|arm| shares.iter().map(|share| of(arm, *share)).collect()).collect()
}

/// Whether the number of the baseline is that of both its arms, and its value a geometric mean: times and rates. Counts are the
/// same in both arms.
fn is_pooled(metric: Metric) -> bool {
    metric.is_measured() && metric != Metric::Max
}

/// The repeat of a strategy, where its numbers may be used together with those of the strategy.
fn usable_repeat(record: &RunRecord, key: SeriesKey) -> Option<usize> {
    let repeat = record.strategies.iter().position(|strategy| strategy.is_repeat)?;
    let is_sound = |strategy: usize| {
        let totals = outcome_totals(cells(record, strategy).flat_map(|cell| selected(&cell.operations, key.operation)));
        totals.failed_share() <= record.settings.error_budget && overloaded(record, strategy).is_none()
    };
    (key.strategy == 0 && is_pooled(key.metric) && is_sound(0) && is_sound(repeat)).then_some(repeat)
}

/// The geometric mean of an arm and its repeat in every round, if the repeat has a number wherever the arm has one; else the arm's.
fn with_repeat(arm: Vec<Option<f64>>, repeat: Option<Vec<Option<f64>>>) -> Vec<Option<f64>> {
    let has_all =
        |repeat: &Vec<Option<f64>>| arm.iter().zip(repeat).all(|(one, again)| one.is_none() || again.is_some());
    let Some(repeat) = repeat.filter(has_all) else { return arm };
    let mean = |(one, again): (f64, f64)| geometric_mean(&[Some(one), Some(again)]).filter(|mean| mean.is_finite());
    arm.iter().zip(repeat).map(|(one, again)| one.zip(again).and_then(mean)).collect()
}

/// The number of one arm in every round.
fn of_arm(record: &RunRecord, key: SeriesKey) -> Vec<Option<f64>> {
    match (key.metric, key.operation) {
        (Metric::Time(TimeMetric::Mean), None) => return mix_means(record, key.strategy),
        (Metric::Time(TimeMetric::Quantile(share)), _) => return times(record, key).quantiles(share),
        (Metric::Max, _) => return times(record, key).longest(),
        _ => {}
    }
    let in_round = |round: &RoundRecord| in_cell(record, round.cells.get(key.strategy)?, key);
    let values = record.rounds.iter().map(in_round);
    let may_be_zero = matches!(key.metric, Metric::Counter(_)) || !key.metric.is_measured();
    let is_usable = |value: &f64| value.is_finite() && (*value > 0.0 || may_be_zero);
    values.map(|value| value.filter(is_usable)).collect()
}

fn in_cell(record: &RunRecord, cell: &CellRecord, key: SeriesKey) -> Option<f64> {
    let operation = || cell.operations.get(key.operation?);
    let totals = || outcome_totals(selected(&cell.operations, key.operation).iter());
    match key.metric {
        Metric::Time(TimeMetric::Mean) => {
            let is_meant = |one: &&OutcomeRecord| key.outcome.is_none_or(|kind| kind.is(&one.outcome));
            mean_of(answered(operation()?).filter(is_meant))
        }
        // Those of all rounds are read at once.
        Metric::Time(TimeMetric::Quantile(_)) | Metric::Max => None,
        Metric::Throughput => cell_rate(cell, &record.settings),
        Metric::Counter(counter) => counter_per_call(cell, counter, key.operation),
        Metric::RoundTrips => totals().round_trips_per_call(),
        Metric::Failed => Some(totals().failed_share()),
        Metric::Retries => Some(totals().retries.values().sum::<u64>() as f64 / totals().calls as f64),
        Metric::InconsistencyP99 => {
            let windows = operation()?.inconsistency.as_ref()?;
            Some(Distribution::merged(std::iter::once(&windows.histogram)).quantile(0.99)? as f64)
        }
        Metric::BesideJob => {
            let times = operation()?.beside_job.as_ref()?;
            (times.count > 0).then(|| times.sum as f64 / times.count as f64)
        }
        Metric::Size(size) => size_of(cell, size),
        Metric::Shards(_) => None,
    }
}

/// A counter per call of an operation by itself, or per call of the mix.
fn counter_per_call(cell: &CellRecord, counter: &Counter, operation: Option<usize>) -> Option<f64> {
    let (value, calls) = match operation {
        Some(place) => {
            let own = cell.own_counters.get(place)?;
            (counter.value(|name| own.get(name).copied()), cell.operations.get(place)?.calls)
        }
        None => (counter.value(|name| cell.counter(name)), cell.calls),
    };
    Some(value? / calls as f64)
}

/// A size after the calls of a round; `None` where files were read without a checkpoint and lag behind.
fn size_of(cell: &CellRecord, size: SizeMetric) -> Option<f64> {
    let of = |one: &CollectionSizes| match size {
        SizeMetric::Storage => one.storage_in_use().saturating_add(one.indexes_in_use()),
        SizeMetric::Collections => one.storage_in_use(),
        SizeMetric::Indexes => one.indexes_in_use(),
        SizeMetric::LargestDocument => one.max,
    };
    let sizes = || cell.after.iter().map(of);
    let is_known = size == SizeMetric::LargestDocument || cell.after.iter().all(|one| one.checkpointed);
    if cell.after.is_empty() || !is_known {
        return None;
    }
    Some(if size == SizeMetric::LargestDocument { sizes().max()? as f64 } else { sizes().sum::<u64>() as f64 })
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::results::StrategyRecord;

    /// The sample with a repeat of the baseline that takes twice as long in every round.
    fn with_repeat() -> RunRecord {
        let mut run = sample::run(6);
        run.strategies[2] = StrategyRecord { is_unsafe: false, is_repeat: true, ..run.strategies[0].clone() };
        for round in &mut run.rounds {
            round.cells[2] = round.cells[0].clone();
            for outcome in round.cells[2].operations.iter_mut().flat_map(|operation| &mut operation.outcomes) {
                outcome.sum *= 2;
            }
        }
        run
    }

    fn mean(strategy: usize) -> SeriesKey {
        SeriesKey::new(Metric::MEAN, strategy, Some(0))
    }

    #[test]
    fn both_arms_of_the_baseline_are_one_series() {
        let run = with_repeat();
        let (alone, both) = (RoundSeries::alone(&run, mean(0)), RoundSeries::of(&run, mean(0)));
        assert!((both.value.unwrap() / alone.value.unwrap() - 2_f64.sqrt()).abs() < 1e-9);
        // The repeat itself is one arm, and so are the others.
        assert_eq!(RoundSeries::of(&run, mean(2)), RoundSeries::alone(&run, mean(2)));
        assert_eq!(RoundSeries::of(&run, mean(1)), RoundSeries::alone(&run, mean(1)));
        // Counts are the same in both arms.
        let trips = SeriesKey::new(Metric::RoundTrips, 0, Some(0));
        assert_eq!(RoundSeries::of(&run, trips), RoundSeries::alone(&run, trips));
    }

    #[test]
    fn a_repeat_that_lacks_a_round_or_fails_is_not_used() {
        let mut gap = with_repeat();
        gap.rounds[3].cells[2].operations[0].outcomes.clear();
        let mut failing = with_repeat();
        failing.settings.error_budget = 0.0;
        for operation in failing.rounds.iter_mut().map(|round| &mut round.cells[2].operations[0]) {
            let mut failed = operation.outcomes[0].clone();
            failed.outcome = crate::record::CallOutcome::Failed;
            operation.outcomes.push(failed);
        }
        for run in [gap, failing] {
            assert_eq!(RoundSeries::of(&run, mean(0)), RoundSeries::alone(&run, mean(0)));
        }
    }

    #[test]
    fn the_quotient_of_values_is_the_ratio() {
        let run = with_repeat();
        let (one, other) = (RoundSeries::of(&run, mean(1)), RoundSeries::of(&run, mean(0)));
        let ratios = crate::stats::log_ratios(&one.rounds, &other.rounds);
        let ratio = crate::stats::Estimate::of(&ratios).unwrap().ratio();
        assert!((one.value.unwrap() / other.value.unwrap() / ratio - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_quantile_that_too_few_calls_of_a_round_exceed_is_that_of_all() {
        let run = sample::run(6);
        let p99 = RoundSeries::of(&run, SeriesKey::new(Metric::P99, 0, None));
        assert!(p99.rounds.iter().all(Option::is_none));
        let all = Times::of(&run, 0, None, None).all.quantile(0.99).unwrap();
        assert_eq!(p99.value, Some(all as f64));
        let times: Vec<Times> = (0..3).map(|strategy| Times::of(&run, strategy, None, None)).collect();
        let values = quantile_values(&run, None, &times, &[0.5, 0.99]);
        let median = Metric::Time(TimeMetric::Quantile(0.5));
        assert_eq!(values[0], [RoundSeries::of(&run, SeriesKey::new(median, 0, None)).value, p99.value]);
    }
}
