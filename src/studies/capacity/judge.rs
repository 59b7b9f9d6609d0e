//! Whether a rate keeps an objective.

use std::time::Duration;

use crate::engine::{BatchRecord, RateRecord};
use crate::record::TimeMetric;
use crate::results::ERROR_BUDGET;
use crate::stats::latency::{answered, headline_mean};
use crate::stats::line::slope;
use crate::stats::open_load::achieved_share;
use crate::stats::validity::ACHIEVED;
use crate::stats::{Distribution, outcome_totals, selected};

use super::objective::Objective;
use super::record::TrialRecord;

/// A slope is significant from this many standard errors.
const SLOPE_ERRORS: f64 = 2.0;

/// Whether a trial of a rate keeps an objective. `operation` is the position of the objective's operation, `None` for an
/// objective on all calls.
pub fn judge(
    rate: f64,
    tried: &RateRecord,
    objective: &Objective,
    operation: Option<usize>,
    timeout: Duration,
) -> TrialRecord {
    let overloaded = achieved_share(&tried.open) < ACHIEVED || backlog_grows(&tried.batches);
    let is_kept = margin(tried, objective, operation).is_some_and(|margin| margin >= 0.0);
    let operations = || selected(&tried.operations, operation).iter();
    let done: u64 = operations().flat_map(answered).map(|outcome| outcome.count).sum();
    let offered = due(tried, operation);
    let failed = offered.saturating_sub(done);
    TrialRecord {
        rate,
        offered,
        failed,
        measured: match objective.metric {
            TimeMetric::Mean => headline_mean(operations()),
            TimeMetric::Quantile(share) => {
                Distribution::of(operations(), timeout).quantile(share).map(|time| time as f64)
            }
        },
        overloaded,
        passed: is_kept && failed as f64 <= offered as f64 * ERROR_BUDGET && !overloaded,
    }
}

/// Whether calls arrive faster than they are answered. Then response times grow by 1 - 1/u seconds each second, where u is
/// the arrival rate over the rate of answers: the slope of the batches' mean response time, fitted by least squares.
fn backlog_grows(batches: &[BatchRecord]) -> bool {
    let points: Vec<(f64, f64)> =
        batches.iter().filter_map(|batch| Some((batch.start, response(batch)? / 1e9))).collect();
    slope(&points).is_some_and(|(slope, error)| slope > 1.0 - ACHIEVED && slope > SLOPE_ERRORS * error)
}

/// The mean response time of all calls of a batch, in nanoseconds.
fn response(batch: &BatchRecord) -> Option<f64> {
    let sum: u64 = batch.times.iter().map(|(_, times)| times.sum()).sum();
    let count: u64 = batch.times.iter().map(|(_, times)| times.count()).sum();
    (count > 0).then(|| sum as f64 / count as f64)
}

/// How far a trial is within the objective: for a quantile the share of its calls within the limit, less the share asked
/// for, where calls that failed or were given up count as beyond the limit; for a mean the limit less the mean, in limits.
/// `None` without calls. It has no allowance for chance: a trial says yes or no, and the model of all trials
/// ([`crate::stats::capacity`]) takes care of chance.
fn margin(tried: &RateRecord, objective: &Objective, operation: Option<usize>) -> Option<f64> {
    let (limit, operations) = (objective.limit.as_nanos() as u64, selected(&tried.operations, operation));
    match objective.metric {
        TimeMetric::Mean => Some(1.0 - headline_mean(operations.iter())? / limit as f64),
        TimeMetric::Quantile(share) => {
            let outcomes = operations.iter().flat_map(answered);
            let within: u64 = outcomes.map(|outcome| outcome.headline_times().open().count_up_to(limit)).sum();
            let due = due(tried, operation);
            (due > 0).then(|| within as f64 / due as f64 - share)
        }
    }
}

/// Calls that fell due, without the rejected ones: a rejection is an answer. A call that never started belongs to no
/// operation, and counts for each.
fn due(tried: &RateRecord, operation: Option<usize>) -> u64 {
    let totals = outcome_totals(selected(&tried.operations, operation).iter());
    totals.calls + tried.open.never_started
}
