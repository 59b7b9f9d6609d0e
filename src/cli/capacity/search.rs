//! The search for the capacity of one arm: the state machine chooses rates, the engine tries them.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::engine::{Experiment, RunError, Trial};
use crate::record::TimeMetric;
use crate::results::{Arrivals, LoadModel, SearchRecord, TrialRecord};
use crate::server::Target;
use crate::stats::capacity::{Next, Search};
use crate::stats::{Objective, calls_needed, judge};

/// Batches of a trial: enough for a bound on their spread.
const BATCHES: f64 = 12.0;

/// Seconds that a trial measures, unless the objective needs more calls than fall due in them.
const TRIAL_SECONDS: f64 = 3.0;

/// The longest trial in seconds: a rate so low that it needs more cannot be judged.
const MAX_SECONDS: f64 = 30.0;

/// Seconds of warm-up before a trial's batches.
const WARM_UP_SECONDS: f64 = 0.5;

/// The highest rate that is tried, in calls per second.
const MAX_RATE: f64 = 1e6;

/// The most calls that an objective may need in a trial.
const MAX_CALLS: u64 = 1_000_000;

/// What the searches look for.
#[derive(Debug, Clone)]
pub struct CapacityGoal {
    /// What a rate must keep.
    pub objective: Objective,
    /// The position of the objective's operation; `None` for all calls.
    pub operation: Option<usize>,
    /// The share (0 to 1) of the calls that it limits.
    pub share: f64,
    /// How calls arrive.
    pub arrivals: Arrivals,
}

impl CapacityGoal {
    /// The lowest rate at which a trial has enough calls, and the highest.
    fn bounds(&self) -> RangeInclusive<f64> {
        (self.calls_needed() as f64 / MAX_SECONDS).clamp(1.0, MAX_RATE)..=MAX_RATE
    }

    /// Whether a trial can have the calls that the objective needs.
    pub fn is_possible(&self) -> bool {
        self.calls_needed() <= MAX_CALLS
    }

    /// The quantile with the most nines that a trial can have enough calls for.
    pub fn nearest(&self) -> TimeMetric {
        let nines = [0.9999, 0.999, 0.99, 0.9].map(TimeMetric::Quantile);
        let enough = |metric: &&TimeMetric| calls_needed(**metric) as f64 / self.share <= MAX_CALLS as f64;
        nines.iter().find(enough).copied().unwrap_or(TimeMetric::Mean)
    }

    /// Calls of a trial below which the objective's measure would be chance.
    pub fn calls_needed(&self) -> u64 {
        (calls_needed(self.objective.metric) as f64 / self.share).ceil() as u64
    }

    /// Calls of a trial at a rate.
    fn calls(&self, rate: f64) -> u64 {
        ((rate * TRIAL_SECONDS).ceil() as u64).max(self.calls_needed())
    }

    fn trial(&self, start: SearchStart, rate: f64, number: u64) -> Trial {
        let calls = self.calls(rate);
        Trial {
            arm: start.arm,
            round: start.round,
            number,
            calls,
            warmup: (rate * WARM_UP_SECONDS).ceil() as u64,
            batch: Duration::from_secs_f64(calls as f64 / rate / BATCHES),
        }
    }
}

/// Where a search starts.
#[derive(Debug, Clone, Copy)]
pub struct SearchStart {
    /// The arm's position in the plan.
    pub arm: usize,
    /// The round, from 0.
    pub round: u64,
    /// The first rate that is tried.
    pub rate: f64,
}

/// Searches the capacity of one arm once. `number` counts the trials of all searches; `report` is called after each.
///
/// # Errors
/// When a trial cannot go on.
pub async fn search<T: Target, G: Target + 'static>(
    experiment: &mut Experiment<'_, T, G>,
    goal: &CapacityGoal,
    start: SearchStart,
    number: &mut u64,
    report: &dyn Fn(&TrialRecord),
) -> Result<SearchRecord, RunError> {
    let mut search = Search::new(start.rate, goal.bounds());
    let mut trials = Vec::new();
    loop {
        let rate = match search.next() {
            Next::Try(rate) => rate,
            Next::End(outcome) => {
                return Ok(SearchRecord { round: start.round, strategy: start.arm, outcome, trials });
            }
        };
        experiment.settings.load = LoadModel::Open { rate, arrivals: goal.arrivals };
        let tried = experiment.trial(goal.trial(start, rate, *number)).await?;
        *number += 1;
        let judged = tried.map(|tried| judge(rate, &tried, &goal.objective, goal.operation));
        search.record(judged.as_ref().is_some_and(|judged| judged.passed));
        judged.iter().for_each(report);
        trials.extend(judged);
    }
}
