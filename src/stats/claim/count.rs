//! Counts, sizes and shares.

use crate::record::{Metric, OutcomeKind, SizeMetric};
use crate::results::{ClaimResult, CollectionSizes, Reason, Relation, RunRecord, Verdict};
use crate::stats::compare::MINIMUM_ROUNDS;
use crate::stats::latency::arithmetic_mean;
use crate::stats::value;
use crate::stats::view::{cells, operations};

use super::question::ClaimSide;
use super::without_numbers;

/// Counts are equal when they differ by at most this share (0.005 for 0.5 %): numbers in scenarios are rounded.
const ROUNDING: f64 = 0.005;

/// Means of equal counts differ by at most this share: the error of their sums.
const EXACT: f64 = 1e-9;

/// A count is below or above another when they differ by more than this share.
const DEAD_ZONE: f64 = 0.02;

/// A count per call of an operation, over all rounds; or a size after the calls, mean over rounds, of the largest document the
/// largest of all rounds.
pub(super) fn number(record: &RunRecord, metric: Metric, side: ClaimSide) -> Result<f64, Reason> {
    let is_lagging = |sizes: &CollectionSizes| !sizes.checkpointed;
    let is_file = matches!(metric, Metric::Size(size) if size != SizeMetric::LargestDocument);
    if is_file && cells(record, side.strategy).flat_map(|cell| &cell.after).any(is_lagging) {
        return Err(Reason::NotCheckpointed);
    }
    let is_known = metric.is_of_strategy() != side.operation.is_some();
    value(record, metric, side.strategy, side.operation).filter(|_| is_known).ok_or(Reason::NotReported)
}

/// The anomalies that an audit found after a round, mean over rounds.
pub(super) fn anomalies(record: &RunRecord, audit: &str, strategy: usize) -> Result<f64, Reason> {
    let audits = cells(record, strategy).flat_map(|cell| &cell.audits).filter(|one| one.audit == audit);
    arithmetic_mean(audits.map(|one| one.anomalies() as f64)).ok_or(Reason::NotReported)
}

/// The share (0 to 1) of an operation's calls with an outcome; `None` without calls.
pub(super) fn share(record: &RunRecord, outcome: OutcomeKind, side: ClaimSide) -> Option<f64> {
    let operation = side.operation?;
    let calls: u64 = operations(record, side.strategy, operation).map(|one| one.calls).sum();
    let outcomes = operations(record, side.strategy, operation).flat_map(|one| &one.outcomes);
    let count: u64 = outcomes.filter(|one| outcome.is(&one.outcome)).map(|one| one.count).sum();
    (calls > 0).then(|| count as f64 / calls as f64)
}

/// The result of a comparison of counts.
pub fn counted(value: f64, against: f64, relation: Relation) -> ClaimResult {
    let within = if relation == Relation::Equals { ROUNDING } else { DEAD_ZONE };
    let verdict = match value - against {
        // Equal counts refute that one is above the other; counts within the dead zone may not.
        difference if relation != Relation::Equals && difference.abs() <= against.abs() * EXACT => {
            Verdict::Same { within: 0.0 }
        }
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
    let mean = |of: fn(&(f64, f64)) -> f64| arithmetic_mean(pairs.iter().map(of)).ok_or(Reason::NotReported);
    let result = counted(mean(|pair| pair.0)?, mean(|pair| pair.1)?, relation);
    let agree = [f64::lt, f64::gt, f64::eq].iter().any(|is_so| pairs.iter().all(|(one, other)| is_so(one, other)));
    let doubt = (rounds < MINIMUM_ROUNDS).then_some(Reason::TooFewRounds(rounds));
    let doubt = doubt.or((!agree).then_some(Reason::RoundsDisagree));
    let is_equal = result.verdict == Verdict::Same { within: 0.0 };
    let is_tested = (result.verdict.is_difference() || is_equal) && relation != Relation::Equals;
    let verdict = doubt.filter(|_| is_tested).map_or(result.verdict, Verdict::Inconclusive);
    Ok(ClaimResult { verdict, ..result })
}
