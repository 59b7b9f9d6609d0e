//! Means and distributions of the times that strategies are judged by: service times, with open load response times.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::record::{DIGITS, OutcomeKind, StoredHistogram};
use crate::results::{OperationRecord, OutcomeRecord, RoundRecord, RunRecord};

use super::view::{CALLS_BEYOND, selected};

/// The answered calls: ok, same, not found and rejected. A rejection is an answer that the user waits for, too.
pub(crate) fn answered(operation: &OperationRecord) -> impl Iterator<Item = &OutcomeRecord> {
    operation.outcomes.iter().filter(|record| !record.outcome.is_failure())
}

/// The exact mean time of the answered calls in nanoseconds; `None` without any.
pub fn mean(operation: &OperationRecord) -> Option<f64> {
    headline_mean(std::iter::once(operation))
}

/// [`mean`] of some operations together.
pub(crate) fn headline_mean<'r>(operations: impl Iterator<Item = &'r OperationRecord>) -> Option<f64> {
    mean_of(operations.flat_map(answered))
}

/// The exact mean time in nanoseconds of the calls with some outcomes; `None` without any.
pub(crate) fn mean_of<'r>(outcomes: impl Iterator<Item = &'r OutcomeRecord>) -> Option<f64> {
    exact_mean(outcomes.map(|outcome| (outcome.headline(outcome.sum, |times| times.sum), outcome.count)))
}

/// The exact mean service time of the answered calls of some operations in nanoseconds, with closed and open load;
/// `None` without any.
pub fn service_mean<'r>(operations: impl Iterator<Item = &'r OperationRecord>) -> Option<f64> {
    exact_mean(operations.flat_map(answered).map(|outcome| (outcome.sum, outcome.count)))
}

/// The exact mean response time of the answered calls of some operations in nanoseconds; `None` without any, and with
/// closed load.
pub fn response_mean<'r>(operations: impl Iterator<Item = &'r OperationRecord>) -> Option<f64> {
    let outcomes = operations.flat_map(answered).filter_map(|outcome| outcome.response.as_ref());
    exact_mean(outcomes.map(|times| (times.sum, times.count)))
}

/// The totals of sums and counts, which do not overflow.
pub(crate) fn totals(times: impl Iterator<Item = (u64, u64)>) -> (u128, u128) {
    times.fold((0, 0), |(sum, count), (more, calls)| (sum + u128::from(more), count + u128::from(calls)))
}

/// The mean of sums and counts.
fn exact_mean(times: impl Iterator<Item = (u64, u64)>) -> Option<f64> {
    let (sum, count) = totals(times);
    let mean = sum as f64 / count as f64;
    (mean.is_finite() && mean > 0.0).then_some(mean)
}

/// The geometric mean of the values that are there; quotients of such means are means of quotients.
pub fn geometric_mean(values: &[Option<f64>]) -> Option<f64> {
    arithmetic_mean(values.iter().flatten().map(|value| value.ln())).map(f64::exp)
}

/// The mean of some values; `None` without any.
pub(crate) fn arithmetic_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The times of an operation's calls, or of all calls, round by round and together.
#[derive(Debug, Clone)]
pub struct Times {
    /// Per round; `None` where the strategy has no cell.
    rounds: Vec<Option<Distribution>>,
    /// Those of all rounds.
    pub all: Distribution,
}

impl Times {
    /// Those of a strategy; of the calls of one outcome, or of all.
    pub fn of(record: &RunRecord, strategy: usize, operation: Option<usize>, outcome: Option<OutcomeKind>) -> Times {
        let of_round = |round: &RoundRecord| {
            let operations = selected(&round.cells.get(strategy)?.operations, operation);
            let outcomes = operations.iter().flat_map(|operation| &operation.outcomes);
            let counted = outcomes.filter(|one| outcome.is_none_or(|kind| kind.is(&one.outcome)));
            Some(Distribution::of_outcomes(counted, record.settings.timeout()))
        };
        let rounds: Vec<Option<Distribution>> = record.rounds.iter().map(of_round).collect();
        let mut all = Distribution::merged(std::iter::empty());
        rounds.iter().flatten().for_each(|one| all.add(one));
        Times { rounds, all }
    }

    /// A quantile (its share from 0 to 1) of every round in nanoseconds; `None` with too few calls beyond it.
    pub fn quantiles(&self, share: f64) -> Vec<Option<f64>> {
        let of =
            |times: &Option<Distribution>| Some(times.as_ref()?.quantile(share)? as f64).filter(|time| *time > 0.0);
        self.rounds.iter().map(of).collect()
    }

    /// The longest time of every round in nanoseconds.
    pub fn longest(&self) -> Vec<Option<f64>> {
        self.rounds.iter().map(|times| Some(times.as_ref()?.max()? as f64)).collect()
    }
}

/// The times of all calls together.
#[derive(Debug, Clone)]
pub struct Distribution {
    histogram: Histogram<u64>,
}

impl Distribution {
    /// Merges the calls of some operations. Calls without an answer count as if they had taken the timeout: leaving them out
    /// would make a strategy look faster that fails where it is slow.
    pub fn of<'r>(operations: impl Iterator<Item = &'r OperationRecord>, timeout: Duration) -> Distribution {
        Distribution::of_outcomes(operations.flat_map(|operation| &operation.outcomes), timeout)
    }

    fn of_outcomes<'r>(outcomes: impl Iterator<Item = &'r OutcomeRecord>, timeout: Duration) -> Distribution {
        let (failed, answered): (Vec<_>, Vec<_>) = outcomes.partition(|record| record.outcome.is_failure());
        let mut all = Distribution::merged(answered.into_iter().map(OutcomeRecord::headline_times));
        let failed: u64 = failed.into_iter().map(|outcome| outcome.count).sum();
        let timeout = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        if failed > 0 {
            all.histogram.record_n(timeout, failed).expect("a histogram that grows takes every value");
        }
        all
    }

    /// Merges some histograms.
    pub fn merged<'r>(histograms: impl Iterator<Item = &'r StoredHistogram>) -> Distribution {
        // It grows as needed, because a record read from disk may have histograms with any bounds.
        let mut histogram = Histogram::new(DIGITS).expect("2 significant digits are valid");
        for one in histograms {
            histogram.add(one.open().as_hdr()).expect("a histogram that grows takes every value");
        }
        Distribution { histogram }
    }

    fn add(&mut self, other: &Distribution) {
        self.histogram.add(&other.histogram).expect("a histogram that grows takes every value");
    }

    /// The number of calls.
    pub fn calls(&self) -> u64 {
        self.histogram.len()
    }

    /// The time in nanoseconds that this share (0 to 1) of the calls does not exceed; `None` with fewer than 10 calls
    /// beyond it.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        // The allowance is for 0.99, which has no exact binary form: 10 of 1,000 calls are enough.
        let beyond = self.calls() as f64 * (1.0 - share) + 1e-6;
        (beyond >= CALLS_BEYOND).then(|| self.histogram.median_equivalent(self.histogram.value_at_quantile(share)))
    }

    /// The coefficient of variation: the standard deviation per mean; `None` without calls.
    pub fn variation(&self) -> Option<f64> {
        (self.calls() > 0).then(|| self.histogram.stdev() / self.histogram.mean())
    }

    /// The longest time in nanoseconds; `None` without calls.
    pub fn max(&self) -> Option<u64> {
        (self.calls() > 0).then(|| self.histogram.median_equivalent(self.histogram.max()))
    }

    /// The shortest time in nanoseconds; `None` without calls.
    pub fn min(&self) -> Option<u64> {
        (self.calls() > 0).then(|| self.histogram.median_equivalent(self.histogram.min()))
    }

    /// How many calls took at least an edge and less than the next one, per pair of neighbouring edges (ascending).
    pub fn bins(&self, edges: &[u64]) -> Vec<u64> {
        let mut bins = vec![0; edges.len().saturating_sub(1)];
        for value in self.histogram.iter_recorded() {
            let time = self.histogram.median_equivalent(value.value_iterated_to());
            let bin = edges.partition_point(|edge| *edge <= time).checked_sub(1);
            if let Some(count) = bin.and_then(|bin| bins.get_mut(bin)) {
                *count += value.count_since_last_iteration();
            }
        }
        bins
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::{CallOutcome, LatencyHistogram};

    const TIMEOUT: Duration = Duration::from_secs(1);

    fn outcome(outcome: CallOutcome, values: &[u64]) -> OutcomeRecord {
        let mut service = LatencyHistogram::new(Duration::from_secs(10));
        values.iter().for_each(|value| service.record(*value));
        OutcomeRecord::new(outcome, &service)
    }

    fn operation(outcomes: Vec<OutcomeRecord>) -> OperationRecord {
        let calls = outcomes.iter().map(|outcome| outcome.count).sum();
        OperationRecord { calls, round_trips: calls, outcomes, ..OperationRecord::default() }
    }

    #[test]
    fn rejections_are_answers_and_failures_take_the_timeout() {
        let made = operation(vec![
            outcome(CallOutcome::Ok, &[100, 200]),
            outcome(CallOutcome::Same, &[300]),
            outcome(CallOutcome::NotFound, &[400]),
            outcome(CallOutcome::Rejected("size".into()), &[1]),
            outcome(CallOutcome::Failed, &[1_000_000]),
        ]);
        assert_eq!(mean(&made), Some(1_001.0 / 5.0));
        let all = Distribution::of([&made].into_iter(), TIMEOUT);
        assert_eq!((all.calls(), all.min()), (6, Some(1)));
        assert!(all.max().is_some_and(|longest| longest.abs_diff(1_000_000_000) < 10_000_000), "{:?}", all.max());
        assert_eq!(mean(&operation(vec![outcome(CallOutcome::Failed, &[5])])), None);
    }

    #[test]
    fn headline_of_open_load_is_the_response_time() {
        let mut slow = outcome(CallOutcome::Ok, &[100, 200]);
        slow.response = Some(crate::results::TimesRecord::new(&{
            let mut times = LatencyHistogram::new(Duration::from_secs(10));
            [1_100, 1_300].into_iter().for_each(|time| times.record(time));
            times
        }));
        let made = operation(vec![slow]);
        assert_eq!(mean(&made), Some(1_200.0));
        assert_eq!(
            (service_mean([&made].into_iter()), response_mean([&made].into_iter())),
            (Some(150.0), Some(1_200.0))
        );
        let times = Distribution::of([&made].into_iter(), TIMEOUT);
        assert_eq!((times.calls(), times.min(), times.max()), (2, Some(1_100), Some(1_300)));
    }

    #[test]
    fn means_are_exact() {
        let made = operation(vec![
            outcome(CallOutcome::Ok, &[1_000_003, 1_000_004]),
            outcome(CallOutcome::Same, &[1_000_008]),
        ]);
        assert_eq!(mean(&made), Some(1_000_005.0));
    }

    #[test]
    fn a_quantile_needs_ten_calls_beyond_it() {
        let values: Vec<u64> = (1..=1_000).collect();
        let enough = operation(vec![outcome(CallOutcome::Ok, &values)]);
        let short = operation(vec![outcome(CallOutcome::Ok, &values[..999])]);
        assert_eq!(Distribution::of([&enough].into_iter(), TIMEOUT).quantile(0.99), Some(990));
        assert_eq!(Distribution::of([&short].into_iter(), TIMEOUT).quantile(0.99), None);
        assert_eq!(Distribution::of([].into_iter(), TIMEOUT).quantile(0.5), None);
    }

    #[test]
    fn histograms_with_other_bounds_are_merged() {
        let mut wide = outcome(CallOutcome::Ok, &[5]);
        let mut slow = LatencyHistogram::new(Duration::from_secs(1_000));
        slow.record(1_500_000_000_000);
        wide.service = StoredHistogram::new(&slow);
        let made = operation(vec![outcome(CallOutcome::Ok, &[5]), wide]);
        assert_eq!(Distribution::of([&made].into_iter(), TIMEOUT).calls(), 2);
    }

    proptest! {
        #[test]
        fn bins_add_up_to_the_calls(values in prop::collection::vec(1_u64..1_000_000, 0..200)) {
            let all = Distribution::of([&operation(vec![outcome(CallOutcome::Ok, &values)])].into_iter(), TIMEOUT);
            let bins = all.bins(&[1, 10, 1_000, 50_000, 1_010_000]);
            prop_assert_eq!(bins.iter().sum::<u64>(), values.len() as u64);
        }

        #[test]
        fn scaled_times_scale_the_mean(values in prop::collection::vec(1_000_u64..1_000_000, 1..50), factor in 2_u64..50) {
            let scaled: Vec<u64> = values.iter().map(|value| value * factor).collect();
            let plain = mean(&operation(vec![outcome(CallOutcome::Ok, &values)])).unwrap();
            let more = mean(&operation(vec![outcome(CallOutcome::Ok, &scaled)])).unwrap();
            prop_assert!((more / plain / factor as f64 - 1.0).abs() < 1e-12);
        }
    }
}
