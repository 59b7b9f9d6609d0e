//! Trials: the engine tries a rate, and the objective judges it.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::{Experiment, FatalError, RunError, Trial};
use crate::record::TimeMetric;
use crate::results::{Arrivals, LoadModel};
use crate::server::Target;
use crate::studies::capacity::judge::judge;
use crate::studies::capacity::objective::{Objective, calls_needed};
use crate::studies::capacity::record::TrialRecord;

/// Batches of a trial: enough for the slope of its response times.
const BATCHES: f64 = 12.0;

/// Seconds that a trial measures, unless the objective needs more calls than fall due in them.
pub const TRIAL_SECONDS: f64 = 3.0;

/// The longest trial in seconds: a rate so low that it needs more cannot be judged.
const MAX_SECONDS: f64 = 30.0;

/// Seconds of warm-up before a trial's batches.
const WARM_UP_SECONDS: f64 = 0.5;

/// The highest rate that is tried, in calls per second.
const MAX_RATE: f64 = 1e6;

/// The most calls that an objective may need in a trial.
pub const MAX_CALLS: u64 = 1_000_000;

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
    pub fn bounds(&self) -> RangeInclusive<f64> {
        (self.calls_needed() as f64 / MAX_SECONDS).clamp(1.0, MAX_RATE)..=MAX_RATE
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

    /// Calls of a trial of a rate that lasts this many seconds.
    fn calls(&self, rate: f64, seconds: f64) -> u64 {
        ((rate * seconds).ceil() as u64).max(self.calls_needed())
    }
}

/// Tries rates.
pub struct Trials<'e, T, G> {
    /// Its rate is that of the last trial.
    pub experiment: Experiment<'e, T, G>,
    /// What a rate must keep.
    pub goal: CapacityGoal,
    /// Trials so far.
    pub number: u64,
}

/// What is tried: one strategy in one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    /// The arm's position in the plan.
    pub arm: usize,
    /// The round, from 0. All trials of a round have the same data and calls.
    pub round: u64,
}

impl<T: Target, G: Target + 'static> Trials<'_, T, G> {
    /// Tries a rate, for some seconds or as long as the objective needs.
    ///
    /// # Errors
    /// When the trial cannot go on.
    pub async fn try_rate(&mut self, subject: Subject, rate: f64, seconds: f64) -> Result<TrialRecord, RunError> {
        let calls = self.goal.calls(rate, seconds);
        let trial = Trial {
            arm: subject.arm,
            round: subject.round,
            number: self.number,
            calls,
            warmup: (rate * WARM_UP_SECONDS).ceil() as u64,
            batch: Duration::from_secs_f64(calls as f64 / rate / BATCHES),
        };
        let plan = &self.experiment.plan;
        let mistake = |error| FatalError::in_strategy(&plan.arms[subject.arm].name, "data", &error);
        self.experiment.plan = Arc::new(plan.of_round(subject.round).map_err(mistake)?);
        self.experiment.settings.load = LoadModel::Open { rate, arrivals: self.goal.arrivals };
        self.number += 1;
        let tried = self.experiment.trial(trial).await?;
        let strategy = || self.experiment.plan.arms[subject.arm].name.clone();
        let tried = tried.ok_or_else(|| RunError::NoCalls { strategy: strategy(), seconds })?;
        let timeout = self.experiment.settings.timeout();
        Ok(judge(rate, &tried, &self.goal.objective, self.goal.operation, timeout))
    }
}
