//! Counts, sizes and shares.

use crate::record::{Metric, OutcomeKind, SizeMetric};
use crate::results::{ClaimResult, CollectionSizes, Reason, Relation, RunRecord, Verdict};
use crate::stats::compare::MINIMUM_ROUNDS;
use crate::stats::cost::own_cost;
use crate::stats::latency::Distribution;
use crate::stats::value;
use crate::stats::view::{cells, operations};

use super::question::ClaimSide;
use super::without_numbers;

/// Counts are equal when they differ by at most this share (0.005 for 0.5 %): numbers in scenarios are rounded.
const ROUNDING: f64 = 0.005;

/// A count is below or above another when they differ by more than this share.
const DEAD_ZONE: f64 = 0.02;

/// A count per call of an operation, over all rounds.
pub(super) fn per_call(record: &RunRecord, metric: Metric, side: ClaimSide) -> Result<f64, Reason> {
    let cost = || own_cost(record, side.strategy, side.operation?);
    let found = match metric {
        Metric::RoundTrips => cost().map(|cost| cost.round_trips),
        Metric::Counter(_) => value(record, metric, side.strategy, side.operation),
        Metric::Time(_) | Metric::Max | Metric::Throughput | Metric::InconsistencyP99 => None,
        Metric::Failed | Metric::Retries | Metric::Size(_) => None,
    };
    found.ok_or(Reason::NotReported)
}

/// A size after the calls, mean over rounds; of the largest document, the largest of all rounds.
pub(super) fn size(record: &RunRecord, size: SizeMetric, strategy: usize) -> Result<f64, Reason> {
    let is_lagging = |sizes: &CollectionSizes| !sizes.checkpointed;
    let is_file = size != SizeMetric::LargestDocument;
    if is_file && cells(record, strategy).flat_map(|cell| &cell.after).any(is_lagging) {
        return Err(Reason::NotCheckpointed);
    }
    value(record, Metric::Size(size), strategy, None).ok_or(Reason::NotReported)
}

/// The anomalies that an audit found after a round, mean over rounds.
pub(super) fn anomalies(record: &RunRecord, audit: &str, strategy: usize) -> Result<f64, Reason> {
    let audits = cells(record, strategy).flat_map(|cell| &cell.audits).filter(|one| one.audit == audit);
    let counts: Vec<f64> = audits.map(|one| one.anomalies() as f64).collect();
    if counts.is_empty() {
        return Err(Reason::NotReported);
    }
    Ok(counts.iter().sum::<f64>() / counts.len() as f64)
}

/// The share (0 to 1) of an operation's calls with an outcome; `None` without calls.
pub(super) fn share(record: &RunRecord, outcome: OutcomeKind, side: ClaimSide) -> Option<f64> {
    let operation = side.operation?;
    let calls: u64 = operations(record, side.strategy, operation).map(|one| one.calls).sum();
    let outcomes = operations(record, side.strategy, operation).flat_map(|one| &one.outcomes);
    let count: u64 = outcomes.filter(|one| outcome.is(&one.outcome)).map(|one| one.count).sum();
    (calls > 0).then(|| count as f64 / calls as f64)
}

/// The 99th percentile in nanoseconds, with too few times the longest one.
pub(super) fn p99_or_longest(times: &Distribution) -> f64 {
    times.quantile(0.99).or(times.max()).unwrap_or(0) as f64
}

/// The result of a comparison of counts.
pub(super) fn counted(value: f64, against: f64, relation: Relation) -> ClaimResult {
    let within = if relation == Relation::Equals { ROUNDING } else { DEAD_ZONE };
    let verdict = match value - against {
        difference if difference.abs() <= against.abs() * within => Verdict::Same { within },
        difference if difference < 0.0 => Verdict::Faster,
        _ => Verdict::Slower,
    };
    ClaimResult { value: Some(value), against: Some(against), ..without_numbers(verdict) }
}

/// The result of a comparison of counts per round that vary: all rounds have to agree, which chance alone brings about with a
/// probability of 2^(1-R) in R rounds.
pub(super) fn varying(
    values: &[Option<f64>],
    against: &[Option<f64>],
    relation: Relation,
) -> Result<ClaimResult, Reason> {
    let pairs: Vec<(f64, f64)> = values.iter().zip(against).filter_map(|(one, other)| one.zip(*other)).collect();
    let rounds = pairs.len();
    if rounds == 0 {
        return Err(Reason::NotReported);
    }
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / rounds as f64;
    let result = counted(mean(|pair| pair.0), mean(|pair| pair.1), relation);
    let agree = pairs.iter().all(|pair| pair.0 < pair.1) || pairs.iter().all(|pair| pair.0 > pair.1);
    let doubt = (rounds < MINIMUM_ROUNDS).then_some(Reason::TooFewRounds(rounds));
    let doubt = doubt.or((!agree).then_some(Reason::RoundsDisagree));
    let is_tested = result.verdict.is_difference() && relation != Relation::Equals;
    let verdict = doubt.filter(|_| is_tested).map_or(result.verdict, Verdict::Inconclusive);
    Ok(ClaimResult { verdict, ..result })
}
