//! Whether a rate keeps an objective.

use crate::record::TimeMetric;
use crate::results::{BatchRecord, ERROR_BUDGET, OperationRecord, OutcomeRecord, RateRecord, TrialRecord};

use super::capacity::keeps;
use super::objective::Objective;
use super::open::achieved_share;
use super::validity::ACHIEVED;
use super::{Distribution, outcome_totals};

/// A slope is significant from this many standard errors.
const SLOPE_ERRORS: f64 = 2.0;

/// What a trial of a rate says of an objective. `operation` is the name of the objective's operation and its position,
/// `None` where the objective speaks of all calls.
pub fn judge(rate: f64, tried: &RateRecord, objective: &Objective, operation: Option<(&str, usize)>) -> TrialRecord {
    let place = operation.map(|(_, place)| place);
    let overloaded = achieved_share(&tried.open) < ACHIEVED || backlog_grows(&tried.batches);
    let margins: Vec<f64> = tried
        .batches
        .iter()
        .filter_map(|batch| batch_margin(batch, objective, operation.map(|(name, _)| name)))
        .collect();
    let kept =
        keeps(&margins).unwrap_or(false) && whole_margin(tried, objective, place).is_some_and(|margin| margin >= 0.0);
    let done: u64 = concerned(tried, place).flat_map(successes).map(|outcome| outcome.count).sum();
    let (offered, failed) = (due(tried, place), due(tried, place).saturating_sub(done));
    let kept = kept && failed as f64 <= offered as f64 * ERROR_BUDGET;
    TrialRecord {
        rate,
        offered,
        failed,
        measured: match objective.metric {
            TimeMetric::Mean => mean(concerned(tried, place)),
            TimeMetric::Quantile(share) => {
                Distribution::of(concerned(tried, place)).quantile(share).map(|time| time as f64)
            }
        },
        overloaded,
        passed: kept && !overloaded,
    }
}

/// Whether calls arrive faster than they are answered. Then response times grow by 1 - 1/u seconds each second, where u is
/// the arrival rate over the rate of answers: the slope of the batches' mean response time, fitted by least squares.
fn backlog_grows(batches: &[BatchRecord]) -> bool {
    let points: Vec<(f64, f64)> =
        batches.iter().filter_map(|batch| Some((batch.start, response(batch)? / 1e9))).collect();
    slope(&points).is_some_and(|(slope, error)| slope > 1.0 - ACHIEVED && slope > SLOPE_ERRORS * error)
}

/// The slope of the least-squares line and its standard error; `None` with fewer than three points.
fn slope(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let count = points.len() as f64;
    if points.len() < 3 {
        return None;
    }
    let (x_mean, y_mean) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let squares: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    let slope = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum::<f64>() / squares;
    let rest: f64 = points.iter().map(|(x, y)| (y - y_mean - slope * (x - x_mean)).powi(2)).sum();
    slope.is_finite().then(|| (slope, (rest / (count - 2.0) / squares).sqrt()))
}

/// The mean response time of all calls of a batch, in nanoseconds.
fn response(batch: &BatchRecord) -> Option<f64> {
    let (sum, count) =
        batch.times.iter().fold((0, 0), |(sum, count), (_, times)| (sum + times.sum(), count + times.count()));
    (count > 0).then(|| sum as f64 / count as f64)
}

/// How far a batch is within the objective: for a quantile the share of its calls within the limit, less the share asked
/// for; for a mean the limit less the mean, in limits. `None` without calls.
fn batch_margin(batch: &BatchRecord, objective: &Objective, operation: Option<&str>) -> Option<f64> {
    let limit = objective.limit.as_nanos() as u64;
    let times =
        || batch.times.iter().filter(|(name, _)| operation.is_none_or(|wanted| wanted == name)).map(|(_, times)| times);
    let count: u64 = times().map(|times| times.count()).sum();
    let of = |number: u64| number as f64 / count as f64;
    (count > 0).then(|| match objective.metric {
        TimeMetric::Mean => 1.0 - of(times().map(|times| times.sum()).sum()) / limit as f64,
        TimeMetric::Quantile(share) => of(times().map(|times| times.count_up_to(limit)).sum()) - share,
    })
}

/// The same over the whole trial, where calls that failed or were given up count as beyond the limit of a quantile.
fn whole_margin(tried: &RateRecord, objective: &Objective, operation: Option<usize>) -> Option<f64> {
    let limit = objective.limit.as_nanos() as u64;
    match objective.metric {
        TimeMetric::Mean => Some(1.0 - mean(concerned(tried, operation))? / limit as f64),
        TimeMetric::Quantile(share) => {
            let outcomes = concerned(tried, operation).flat_map(successes);
            let within: u64 = outcomes.map(|outcome| outcome.headline().histogram.open().count_up_to(limit)).sum();
            let due = due(tried, operation);
            (due > 0).then(|| within as f64 / due as f64 - share)
        }
    }
}

/// Calls that fell due, without those that the strategy refused: to refuse is an answer. One that was given up is in no
/// operation, and counts for all of them.
fn due(tried: &RateRecord, operation: Option<usize>) -> u64 {
    let totals = outcome_totals(concerned(tried, operation));
    totals.calls - totals.rejected() + tried.open.never_started
}

/// The exact mean time of the successful calls of some operations, in nanoseconds; `None` without any.
fn mean<'r>(operations: impl Iterator<Item = &'r OperationRecord>) -> Option<f64> {
    let add = |(sum, count), outcome: &OutcomeRecord| (sum + u128::from(outcome.headline().sum), count + outcome.count);
    let (sum, count) = operations.flat_map(successes).fold((0, 0), add);
    (count > 0).then(|| sum as f64 / count as f64)
}

fn concerned(tried: &RateRecord, operation: Option<usize>) -> impl Iterator<Item = &OperationRecord> {
    let all = tried.operations.iter().enumerate();
    all.filter(move |(place, _)| operation.is_none_or(|wanted| wanted == *place)).map(|(_, record)| record)
}

fn successes(operation: &OperationRecord) -> impl Iterator<Item = &OutcomeRecord> {
    operation.outcomes.iter().filter(|outcome| outcome.outcome.is_success())
}
