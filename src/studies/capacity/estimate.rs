//! Capacities and their ratios over rounds.

use crate::stats::estimate::{ConfidenceInterval, Estimate};
use crate::stats::student::t_quantile;

use super::record::{SearchRecord, TrialRecord};
use super::transition::locations;

/// Rounds without which no interval is given.
pub const MINIMUM_ROUNDS: usize = 3;

/// A capacity, in calls per second, or a ratio of two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CapacityEstimate {
    /// The geometric mean over rounds.
    pub mean: f64,
    /// Its interval; `None` with fewer than [`MINIMUM_ROUNDS`] rounds.
    pub interval: Option<ConfidenceInterval>,
    /// The rounds that have it.
    pub rounds: usize,
}

/// What the results of all trials of a search say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SearchEnd {
    /// Some rates were kept and others were not.
    Enclosed,
    /// No rate was kept, down to this one.
    NoneDownTo(f64),
    /// Every rate was kept, up to this one.
    AllUpTo(f64),
}

/// The capacities of all strategies.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacities {
    found: Vec<Found>,
}

/// What one search found.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Found {
    round: u64,
    strategy: usize,
    /// ln(calls per second).
    location: f64,
}

/// What the trials of a search say.
pub fn search_end(trials: &[TrialRecord]) -> SearchEnd {
    let rates = || trials.iter().map(|trial| trial.rate);
    let (kept, missed) = (trials.iter().any(|trial| trial.passed), trials.iter().any(|trial| !trial.passed));
    if kept && missed {
        SearchEnd::Enclosed
    } else if kept {
        SearchEnd::AllUpTo(rates().fold(0.0, f64::max))
    } else {
        SearchEnd::NoneDownTo(rates().fold(f64::INFINITY, f64::min))
    }
}

impl Capacities {
    /// Fits the model to the trials of all searches that enclose a capacity.
    pub fn of(searches: &[SearchRecord]) -> Capacities {
        let enclosed: Vec<&SearchRecord> =
            searches.iter().filter(|search| search_end(&search.trials) == SearchEnd::Enclosed).collect();
        let trials: Vec<&[TrialRecord]> = enclosed.iter().map(|search| &*search.trials).collect();
        let found = enclosed.iter().zip(locations(&trials));
        let found = found.map(|(search, location)| Found { round: search.round, strategy: search.strategy, location });
        Capacities { found: found.collect() }
    }

    /// The capacity of a strategy with its 95 % CI; `None` when no search enclosed one.
    pub fn rate(&self, strategy: usize) -> Option<CapacityEstimate> {
        let of_strategy = self.found.iter().filter(|found| found.strategy == strategy);
        over_rounds(of_strategy.map(|found| found.location), 1)
    }

    /// The rate that a strategy is said to carry: the lower end of its interval, or without an interval the highest rate up
    /// to its capacity that was kept. At the capacity itself every other trial would miss the objective.
    pub fn claimed(&self, searches: &[SearchRecord], strategy: usize) -> Option<f64> {
        let CapacityEstimate { mean, interval, .. } = self.rate(strategy)?;
        let kept = searches.iter().filter(|search| search.strategy == strategy).flat_map(|search| &search.trials);
        let kept = kept.filter(|trial| trial.passed && trial.rate <= mean).map(|trial| trial.rate);
        interval.map(|interval| interval.low).or_else(|| kept.max_by(f64::total_cmp))
    }

    /// The capacity of a strategy divided by another's, over the rounds that have both, with an interval that holds for so
    /// many ratios at once (Bonferroni).
    pub fn ratio(&self, strategy: usize, other: usize, ratios: usize) -> Option<CapacityEstimate> {
        let logs = self.found.iter().filter(|found| found.strategy == strategy).filter_map(|found| {
            let is_pair = |pair: &&Found| pair.strategy == other && pair.round == found.round;
            Some(found.location - self.found.iter().find(is_pair)?.location)
        });
        over_rounds(logs, ratios)
    }
}

/// Rounds are the independent observations: the interval is Student's t over them.
fn over_rounds(logs: impl Iterator<Item = f64>, comparisons: usize) -> Option<CapacityEstimate> {
    let estimate = Estimate::of(&logs.map(Some).collect::<Vec<_>>())?;
    let rounds = estimate.rounds;
    let critical = || t_quantile(1.0 - 0.025 / comparisons.max(1) as f64, rounds - 1);
    let interval = (rounds >= MINIMUM_ROUNDS).then(|| estimate.interval(critical())).flatten();
    Some(CapacityEstimate { mean: estimate.ratio(), interval, rounds })
}

#[cfg(test)]
mod tests {
    use super::super::simulation::trial;
    use super::*;

    /// A search that encloses a capacity within 1 %.
    fn search(round: u64, strategy: usize, capacity: f64) -> SearchRecord {
        let trials = [0.5, 0.995, 1.0 / 0.995, 2.0].map(|factor| trial(capacity * factor, factor < 1.0));
        SearchRecord { round, strategy, trials: trials.into() }
    }

    #[test]
    fn rounds_give_the_interval_and_pair_the_ratio() {
        let rates = [(90.0, 180.0), (100.0, 200.0), (1e6 / 9e3, 2e6 / 9e3)];
        let of_round =
            |(round, (one, other)): (usize, (f64, f64))| [search(round as u64, 1, other), search(round as u64, 0, one)];
        let mut searches: Vec<SearchRecord> = rates.into_iter().enumerate().flat_map(of_round).collect();
        let found = Capacities::of(&searches);
        let CapacityEstimate { mean, interval, rounds } = found.rate(0).unwrap();
        // ln 0.9, 0, -ln 0.9: s = 0.10536, standard error 0.060830, t(0.975, 2) = 4.3027.
        assert!((mean - 100.0).abs() < 1e-3 && rounds == 3, "{mean}");
        assert!((interval.unwrap().high.ln() - mean.ln() - 4.3027 * 0.060_830).abs() < 1e-3, "{interval:?}");
        let ratio = found.ratio(1, 0, 1).unwrap();
        assert!((ratio.mean - 2.0).abs() < 1e-3 && ratio.interval.unwrap().high < 2.01, "{ratio:?}");
        searches.truncate(4);
        assert_eq!(Capacities::of(&searches).rate(0).unwrap().interval, None, "two rounds");
        assert_eq!(found.rate(2), None);
        assert!((found.claimed(&searches, 0).unwrap() / interval.unwrap().low - 1.0).abs() < 1e-12);
        let two = Capacities::of(&searches).claimed(&searches, 0).unwrap();
        assert!((two / (90.0 * 0.995) - 1.0).abs() < 1e-9, "the highest kept up to 94.9: {two}");
    }

    #[test]
    fn a_search_without_both_results_is_left_out() {
        let mut searches = vec![search(0, 0, 50.0), search(1, 0, 80.0)];
        searches[1].trials.retain(|trial| !trial.passed);
        assert_eq!(search_end(&searches[1].trials), SearchEnd::NoneDownTo(80.0 * (1.0 / 0.995)));
        assert_eq!(Capacities::of(&searches).rate(0).unwrap().rounds, 1);
        searches[0].trials.retain(|trial| trial.passed);
        assert_eq!(search_end(&searches[0].trials), SearchEnd::AllUpTo(50.0 * 0.995));
        assert_eq!(Capacities::of(&searches).rate(0), None);
    }
}
