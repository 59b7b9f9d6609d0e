//! Searches while they are made: every trial is a step.

use std::path::PathBuf;

use crate::campaign::{EarlyEnd, Study};
use crate::results::{self, ResultsError, RunRecord};
use crate::server::Target;
use crate::studies::capacity::estimate::{Capacities, SearchEnd, search_end};
use crate::studies::capacity::record::{CapacityRecord, ConfirmationRecord, SearchRecord, TrialRecord};
use crate::studies::capacity::search::Search;

use super::search::{Subject, TRIAL_SECONDS, Trials};

/// Seconds of the pilot per strategy, which finds where the searches start.
const PILOT_SECONDS: f64 = 1.0;

/// About how many trials a search needs.
const TRIALS: f64 = 8.0;

/// All searches, round by round, and the confirmations.
pub struct Searching<'e, T, G> {
    /// What is finished.
    pub record: CapacityRecord,
    /// What tries rates.
    pub trials: Trials<'e, T, G>,
    /// The folder of the record.
    pub folder: PathBuf,
}

/// A step of the searches.
pub enum CapacityStep {
    /// The pilot.
    Pilot,
    /// A trial of a search, at this rate.
    Trial(Subject, f64),
    /// The long trial of the rate that a strategy is said to carry, with data and calls of another round.
    Confirmation(Subject, f64),
}

impl<T: Target, G: Target + 'static> Searching<'_, T, G> {
    fn arms(&self) -> usize {
        self.record.run.strategies.len()
    }

    fn searches(&self) -> usize {
        self.record.run.settings.rounds as usize * self.arms()
    }

    /// What the next search is about.
    fn subject(&self) -> Subject {
        let (searches, arms) = (self.record.searches.len(), self.arms());
        subject(searches / arms, searches % arms, arms)
    }

    /// The next search, after the trials that it has already.
    fn search(&self, subject: Subject, start: f64) -> Search {
        let bounds = self.trials.goal.bounds();
        let mut search = match Capacities::of(&self.record.searches).rate(subject.arm) {
            None => Search::first(start, bounds),
            Some(found) => {
                let seed = self.trials.experiment.plan.round_seed(subject.round);
                Search::near(found.mean, Search::offset(seed, subject.arm), bounds)
            }
        };
        self.record.unfinished.iter().flat_map(|search| &search.trials).for_each(|trial| search.record(trial.passed));
        search
    }

    /// The strategies whose rates are still to be confirmed, in their order.
    fn unconfirmed(&self) -> Vec<(Subject, f64)> {
        if self.record.confirm <= 0.0 {
            return Vec::new();
        }
        let CapacityRecord { searches, confirmations, run, .. } = &self.record;
        let (capacities, arms) = (Capacities::of(searches), self.arms());
        let subjects = (0..arms).map(|turn| subject(run.settings.rounds as usize, turn, arms));
        let is_open = |subject: &Subject| confirmations.iter().all(|one| one.strategy != subject.arm);
        subjects
            .filter(is_open)
            .filter_map(|subject| Some((subject, capacities.claimed(searches, subject.arm)?)))
            .collect()
    }

    async fn trial(&mut self, subject: Subject, rate: f64) -> Result<String, EarlyEnd> {
        let trial = self.trials.try_rate(subject, rate, TRIAL_SECONDS).await?;
        let rounds = self.record.run.settings.rounds;
        let mark = format!("round {} of {rounds}: {}", subject.round + 1, self.record.run.strategy_name(subject.arm));
        let line = format!("{mark} {}", describe_trial(&trial));
        let new = || SearchRecord { round: subject.round, strategy: subject.arm, trials: Vec::new() };
        self.record.unfinished.get_or_insert_with(new).trials.push(trial);
        if self.search(subject, self.record.start.unwrap_or(rate)).next().is_some() {
            return Ok(line);
        }
        let found = self.record.unfinished.take().unwrap_or_else(new);
        let end = format!("{line}\n{mark} {}", describe_search(&found));
        self.record.searches.push(found);
        Ok(end)
    }
}

/// The strategy that is searched in some turn of a round. Every round starts with another one.
fn subject(round: usize, turn: usize, arms: usize) -> Subject {
    Subject { arm: (turn + round) % arms, round: round as u64 }
}

impl<T: Target, G: Target + 'static> Study for Searching<'_, T, G> {
    type Step = CapacityStep;

    fn next(&self) -> Option<CapacityStep> {
        let Some(start) = self.record.start else { return Some(CapacityStep::Pilot) };
        if self.record.searches.len() < self.searches() {
            let subject = self.subject();
            return self.search(subject, start).next().map(|rate| CapacityStep::Trial(subject, rate));
        }
        self.unconfirmed().into_iter().next().map(|(subject, rate)| CapacityStep::Confirmation(subject, rate))
    }

    async fn take(&mut self, step: CapacityStep) -> Result<Option<String>, EarlyEnd> {
        match step {
            CapacityStep::Pilot => {
                self.record.start = Some(self.trials.experiment.pilot(PILOT_SECONDS).await?.slowest() / 2.0);
                Ok(None)
            }
            CapacityStep::Trial(subject, rate) => self.trial(subject, rate).await.map(Some),
            CapacityStep::Confirmation(subject, rate) => {
                let seconds = self.record.confirm;
                let trial = self.trials.try_rate(subject, rate, seconds).await?;
                let (name, result) = (self.record.run.strategy_name(subject.arm), describe_trial(&trial));
                let line = format!("confirmation over {seconds} s: {name} {result}");
                self.record.confirmations.push(ConfirmationRecord { strategy: subject.arm, seconds, trial });
                Ok(Some(line))
            }
        }
    }

    fn save(&mut self) -> Result<(), ResultsError> {
        results::save_document(&self.record, &self.folder)
    }

    /// In seconds, roughly.
    fn left(&self) -> Option<f64> {
        let trials = self.record.unfinished.as_ref().map_or(0, |search| search.trials.len()) as f64;
        let searches = (self.searches() - self.record.searches.len()) as f64;
        let confirmations = (self.arms() - self.record.confirmations.len()) as f64;
        let in_searches = (searches * TRIALS - trials.min(TRIALS - 1.0)).max(0.0) * TRIAL_SECONDS;
        Some(in_searches + confirmations * self.record.confirm)
    }

    fn run(&self) -> Option<&RunRecord> {
        Some(&self.record.run)
    }
}

fn describe_trial(trial: &TrialRecord) -> String {
    let measured = trial.measured.map_or(String::new(), |time| format!(", {:.3} ms", time / 1e6));
    format!("at {:.0} calls/s: {}{measured}", trial.rate, trial.result())
}

fn describe_search(search: &SearchRecord) -> String {
    match search_end(&search.trials) {
        SearchEnd::Enclosed => Capacities::of(std::slice::from_ref(search)).rate(search.strategy).map_or_else(
            || "has no capacity".to_owned(),
            |found| format!("meets the objective up to about {:.0} calls/s", found.mean),
        ),
        SearchEnd::NoneDownTo(rate) => {
            format!("does not meet the objective at {rate:.0} calls/s, the lowest rate tried")
        }
        SearchEnd::AllUpTo(rate) => format!("meets the objective up to {rate:.0} calls/s, the highest rate tried"),
    }
}
