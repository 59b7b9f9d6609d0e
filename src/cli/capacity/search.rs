//! The search for the capacity of one arm: asks the state machine for rates, and has the engine try them.

use std::time::Duration;

use crate::engine::{Experiment, RunError, Trial};
use crate::results::{Answer, Arrivals, LoadModel, SearchRecord, TrialRecord};
use crate::server::Target;
use crate::stats::capacity::{Next, Search};
use crate::stats::{Measure, Objective, judge};

/// Batches of a trial: enough for a bound on their spread.
const BATCHES: f64 = 12.0;

/// Seconds that a trial measures, unless the objective needs more calls than fall due in them.
const TRIAL_SECONDS: f64 = 3.0;

/// The longest trial in seconds: a rate so low that it needs more cannot be judged.
const LONGEST_SECONDS: f64 = 30.0;

/// Seconds of calls before a trial's batches that do not count.
const WARM_UP_SECONDS: f64 = 0.5;

/// The highest rate that is tried, in calls per second.
const HIGHEST: f64 = 1e6;

/// The most calls that an objective may need in a trial.
const MOST_CALLS: u64 = 1_000_000;

/// What is searched for.
#[derive(Debug, Clone)]
pub struct Quest {
    /// What the rate is to keep.
    pub objective: Objective,
    /// The position of the objective's operation; `None` where it speaks of all calls.
    pub operation: Option<usize>,
    /// The share (0 to 1) of the calls that it speaks of.
    pub share: f64,
    /// How calls arrive.
    pub arrivals: Arrivals,
}

impl Quest {
    /// The lowest rate at which a trial has enough calls, and the highest.
    fn bounds(&self) -> (f64, f64) {
        ((self.calls_needed() as f64 / LONGEST_SECONDS).clamp(1.0, HIGHEST), HIGHEST)
    }

    /// Whether a trial can have the calls that the objective needs.
    pub fn is_possible(&self) -> bool {
        self.calls_needed() <= MOST_CALLS
    }

    /// The quantile with the most nines that a trial can have enough calls for.
    pub fn nearest(&self) -> Measure {
        let nines = [0.9999, 0.999, 0.99, 0.9].map(Measure::Quantile);
        let enough = |measure: &&Measure| measure.calls_needed() as f64 / self.share <= MOST_CALLS as f64;
        nines.iter().find(enough).copied().unwrap_or(Measure::Mean)
    }

    /// Calls of a trial below which the objective's measure would be chance.
    pub fn calls_needed(&self) -> u64 {
        (self.objective.measure.calls_needed() as f64 / self.share).ceil() as u64
    }

    /// Calls of a trial at a rate.
    fn calls(&self, rate: f64) -> u64 {
        ((rate * TRIAL_SECONDS).ceil() as u64).max(self.calls_needed())
    }

    fn trial(&self, place: Place, rate: f64, number: u64) -> Trial {
        let calls = self.calls(rate);
        Trial {
            arm: place.arm,
            round: place.round,
            number,
            calls,
            warmup: (rate * WARM_UP_SECONDS).ceil() as u64,
            batch: Duration::from_secs_f64(calls as f64 / rate / BATCHES),
        }
    }
}

/// Which arm is searched, when, and from where.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The arm's position in the plan.
    pub arm: usize,
    /// The round, from 0.
    pub round: u64,
    /// The first rate that is tried.
    pub start: f64,
}

/// Searches the capacity of one arm once. `number` counts the trials of all searches; `told` hears of each.
///
/// # Errors
/// When a trial cannot go on.
pub async fn search<T: Target, G: Target + 'static>(
    experiment: &mut Experiment<'_, T, G>,
    quest: &Quest,
    place: Place,
    number: &mut u64,
    told: &dyn Fn(&TrialRecord),
) -> Result<SearchRecord, RunError> {
    let mut search = Search::new(place.start, quest.bounds());
    let mut trials = Vec::new();
    loop {
        let answer = match search.next() {
            Next::Try(rate) => {
                experiment.settings.load = LoadModel::Open { rate, arrivals: quest.arrivals };
                let tried = experiment.trial(quest.trial(place, rate, *number)).await?;
                *number += 1;
                let operation = quest.operation.map(|place| (&*experiment.plan.operations[place].name, place));
                let judged = tried.map(|tried| judge(rate, &tried, &quest.objective, operation));
                search.tell(judged.as_ref().is_some_and(|judged| judged.passed));
                judged.iter().for_each(told);
                trials.extend(judged);
                continue;
            }
            Next::Found(rate) => Answer::Found(rate),
            Next::NoneDownTo(rate) => Answer::NoneDownTo(rate),
            Next::AllUpTo(rate) => Answer::AllUpTo(rate),
        };
        return Ok(SearchRecord { round: place.round, strategy: place.arm, answer, trials });
    }
}
