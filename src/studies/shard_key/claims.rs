//! The claims that follow from commands and shard keys.

use crate::record::{Metric, ShardMetric};
use crate::results::{ClaimName, ClaimRecord, ClaimResult, Reason, Than, Verdict};
use crate::stats::counted_claim;

use super::placement::KeyPlacement;
use super::record::{ShardKeyRecord, TargetCounts};

/// What the record says of each of its claims.
pub fn results(record: &ShardKeyRecord) -> Vec<ClaimResult> {
    let undecided = |reason| ClaimResult {
        verdict: Verdict::Inconclusive(reason),
        value: None,
        against: None,
        ratio: None,
        interval: None,
    };
    record.claims.iter().map(|claim| result(record, claim).unwrap_or_else(undecided)).collect()
}

fn result(record: &ShardKeyRecord, claim: &ClaimRecord) -> Result<ClaimResult, Reason> {
    if claim.needs_cluster {
        return Err(Reason::NeedsCluster);
    }
    let Some(Metric::Shards(metric)) = claim.known_metric() else { return Err(Reason::UnknownMetric) };
    if claim.mix.as_ref().is_some_and(|mix| *mix != record.mix.name)
        || !claim.set.iter().all(|setting| record.parameters.contains(setting))
    {
        return Err(Reason::OtherSettings);
    }
    let operation = claim.operation.as_deref();
    let value = number(record, metric, &claim.strategy, operation, [ClaimName::Strategy, ClaimName::Operation])?;
    let others = [ClaimName::OtherStrategy, ClaimName::OtherOperation];
    let against = match &claim.than {
        Than::Number(number) | Than::Evaluated { number, .. } => *number,
        Than::Strategy(name) => self::number(record, metric, name, operation, others)?,
        Than::Other { strategy, operation: other, times, .. } => {
            times * self::number(record, metric, strategy, other.as_deref().or(operation), others)?
        }
    };
    Ok(counted_claim(value, against, claim.relation))
}

fn number(
    record: &ShardKeyRecord,
    metric: ShardMetric,
    strategy: &str,
    operation: Option<&str>,
    [no_strategy, no_operation]: [ClaimName; 2],
) -> Result<f64, Reason> {
    let strategy = record.strategies.iter().find(|one| one.name == strategy).ok_or(Reason::NotInRun(no_strategy))?;
    let place = record.operations.iter().position(|one| Some(one.as_str()) == operation);
    let place = place.filter(|place| strategy.calls[*place] > 0).ok_or(Reason::NotInRun(no_operation))?;
    let placement = KeyPlacement::of(record, strategy);
    let counts = placement.counts(place);
    let number = match metric {
        // What is open would make it too small.
        ShardMetric::Messages if record.shards != CLAIMED_SHARDS || counts.is_open() => None,
        ShardMetric::Messages => Some(counts.messages as f64 / strategy.calls[place] as f64),
        metric => of(&counts, metric),
    };
    number.ok_or(Reason::NotReported)
}

/// The shards for which claims count messages.
const CLAIMED_SHARDS: u64 = 4;

/// A share or mean of some counts; `None` where nothing of its kind was done, or too few inserts to say where they go.
pub fn of(counts: &TargetCounts, metric: ShardMetric) -> Option<f64> {
    let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
    match metric {
        ShardMetric::Single => share(counts.reads[0] + counts.writes[0], counts.known()),
        ShardMetric::Scatter => share(counts.reads[2] + counts.writes[2], counts.known()),
        ShardMetric::Ranges => share(counts.ranges, counts.known()),
        ShardMetric::InsertHot => counts.hot(),
        // Per call, which counts alone do not say.
        ShardMetric::Messages => None,
    }
}
