//! The search for the highest rate that keeps an objective: double, bisect, confirm.
//!
//! It is pure: its caller asks which rate to try, tries it, and reports whether it passed. One search is one
//! observation; the interval comes from several searches on fresh databases.

use std::ops::RangeInclusive;

use crate::results::SearchOutcome;

use super::estimate::{ConfidenceInterval, Estimate};
use super::student::t_quantile;

/// When the search ends, the lowest rate that failed is at most this factor above the highest that passed.
pub const PRECISION: f64 = 1.05;

/// A rate may pass by luck while the search converges: it is tried again, and after this many failed confirmations the
/// search ends with the best rate so far.
const CONFIRMATIONS: u32 = 3;

/// After this many trials the search ends with the best rate so far.
const TRIALS: u32 = 40;

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// Try this rate, in calls per second.
    Try(f64),
    /// The search has ended.
    End(SearchOutcome),
}

/// One search.
#[derive(Debug, Clone)]
pub struct Search {
    bounds: RangeInclusive<f64>,
    /// The highest rate that passed, below the lowest that failed.
    passed: Option<f64>,
    /// The lowest rate that failed.
    failed: Option<f64>,
    rate: f64,
    /// The last step down, as a factor.
    step: f64,
    failed_confirmations: u32,
    trials: u32,
    state: SearchState,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum SearchState {
    Searching,
    Confirming,
    Ended(SearchOutcome),
}

impl Search {
    /// A search that starts at a rate and stays within bounds.
    pub fn new(start: f64, bounds: RangeInclusive<f64>) -> Search {
        Search {
            rate: start.clamp(*bounds.start(), *bounds.end()),
            bounds,
            passed: None,
            failed: None,
            step: 2.0,
            failed_confirmations: 0,
            trials: 0,
            state: SearchState::Searching,
        }
    }

    /// What to do next.
    pub fn next(&self) -> Next {
        match self.state {
            SearchState::Ended(outcome) => Next::End(outcome),
            SearchState::Searching | SearchState::Confirming => Next::Try(self.rate),
        }
    }

    /// Takes the result of the trial that [`Search::next`] asked for.
    pub fn record(&mut self, passed: bool) {
        self.trials += 1;
        match (self.state, passed) {
            (SearchState::Ended(_), _) => {}
            (SearchState::Confirming, true) => self.state = SearchState::Ended(SearchOutcome::Found(self.rate)),
            (SearchState::Confirming, false) => {
                // It passed by luck, so what passed below it may still be true.
                self.failed_confirmations += 1;
                self.failed = Some(self.rate);
                self.passed = None;
                self.rate = (self.rate / PRECISION).max(*self.bounds.start());
                self.step = PRECISION;
                self.state = SearchState::Searching;
            }
            (SearchState::Searching, true) => {
                self.passed = Some(self.rate);
                self.advance();
            }
            (SearchState::Searching, false) => {
                self.failed = Some(self.rate);
                self.advance();
            }
        }
        if self.trials >= TRIALS && !matches!(self.state, SearchState::Ended(_)) {
            let tried = self.failed.unwrap_or(*self.bounds.start());
            let outcome = self.passed.map_or(SearchOutcome::NoneDownTo(tried), SearchOutcome::Found);
            self.state = SearchState::Ended(outcome);
        }
    }

    fn advance(&mut self) {
        let (lowest, highest) = (*self.bounds.start(), *self.bounds.end());
        let end = SearchState::Ended;
        match (self.passed, self.failed) {
            (Some(passed), Some(failed)) if failed / passed <= PRECISION => {
                let is_tried_again = self.failed_confirmations < CONFIRMATIONS;
                self.rate = passed;
                self.state = if is_tried_again { SearchState::Confirming } else { end(SearchOutcome::Found(passed)) };
            }
            (Some(passed), Some(failed)) => self.rate = (passed * failed).sqrt(),
            (Some(passed), None) if passed >= highest => self.state = end(SearchOutcome::AllUpTo(highest)),
            (Some(passed), None) => self.rate = (passed * 2.0).min(highest),
            (None, Some(failed)) if failed <= lowest => self.state = end(SearchOutcome::NoneDownTo(lowest)),
            // Small steps down first, as the capacity is near a rate that passed once; then larger ones.
            (None, Some(failed)) => {
                self.step = (self.step * self.step).min(2.0);
                self.rate = (failed / self.step).max(lowest);
            }
            (None, None) => {}
        }
    }
}

/// Whether a rate keeps its objective: the lower bound (one-sided, 95 %) of the mean margin is not below 0. `margins` are
/// those of batches of calls, never of single calls, which are correlated. `None` with fewer than two.
pub fn keeps(margins: &[f64]) -> Option<bool> {
    let values: Vec<Option<f64>> = margins.iter().copied().map(Some).collect();
    let estimate = Estimate::of(&values)?;
    Some(estimate.mean - t_quantile(0.95, estimate.rounds - 1) * estimate.error()? >= 0.0)
}

/// The capacity over several searches: the geometric mean of the rates found, and its 95 % interval (Student's t on the
/// logarithms) where there are at least three. `None` without any.
pub fn over_rounds(found: &[f64]) -> Option<(f64, Option<ConfidenceInterval>)> {
    let logs: Vec<Option<f64>> = found.iter().map(|rate| Some(rate.ln())).collect();
    let estimate = Estimate::of(&logs)?;
    let interval = (found.len() >= 3).then(|| estimate.interval(t_quantile(0.975, found.len() - 1))).flatten();
    Some((estimate.ratio(), interval))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Label, Seed, Stream};

    const BOUNDS: RangeInclusive<f64> = 1.0..=1e6;

    /// Runs a search to its end; returns the outcome and the rates tried.
    fn search(
        start: f64,
        bounds: RangeInclusive<f64>,
        mut passes: impl FnMut(f64) -> bool,
    ) -> (SearchOutcome, Vec<f64>) {
        let mut search = Search::new(start, bounds);
        let mut tried = Vec::new();
        loop {
            match search.next() {
                Next::Try(rate) => {
                    tried.push(rate);
                    search.record(passes(rate));
                }
                Next::End(outcome) => return (outcome, tried),
            }
        }
    }

    #[test]
    fn a_sharp_capacity_is_found_from_any_start() {
        for capacity in [3.0, 97.0, 1_000.0, 48_123.0] {
            for start in [1.0, 90.0, 1_000.0, 1e5] {
                let (end, tried) = search(start, BOUNDS, |rate| rate <= capacity);
                let SearchOutcome::Found(found) = end else { panic!("{end:?}") };
                assert!(found <= capacity && found * PRECISION >= capacity, "{found} of {capacity}, from {start}");
                assert!(tried.len() <= 26, "{tried:?}");
                assert_eq!(tried.last(), Some(&found), "the last trial confirms");
            }
        }
    }

    #[test]
    fn it_doubles_bisects_and_confirms() {
        let (end, tried) = search(100.0, BOUNDS, |rate| rate <= 250.0);
        let rounded: Vec<f64> = tried.iter().map(|rate| rate.round()).collect();
        assert_eq!(rounded, [100.0, 200.0, 400.0, 283.0, 238.0, 259.0, 248.0, 248.0]);
        assert!(matches!(end, SearchOutcome::Found(rate) if rate.round() == 248.0), "{end:?}");
    }

    #[test]
    fn the_bounds_end_a_search() {
        assert_eq!(search(100.0, 10.0..=500.0, |_| true).0, SearchOutcome::AllUpTo(500.0));
        assert_eq!(search(100.0, 10.0..=500.0, |_| false).0, SearchOutcome::NoneDownTo(10.0));
        assert_eq!(search(7.0, 10.0..=500.0, |_| false).1, [10.0]);
    }

    #[test]
    fn a_lucky_pass_fails_its_confirmation() {
        let mut lucky = true;
        let (end, tried) = search(800.0, BOUNDS, |rate| {
            let passes = rate <= 500.0 || (rate == 800.0 && lucky);
            lucky &= rate != 800.0;
            passes
        });
        let SearchOutcome::Found(found) = end else { panic!("{end:?}") };
        // 800 passed once; what is found still is within two steps of the truth.
        assert!((500.0 / PRECISION.powi(2)..=500.0).contains(&found), "{found} after {tried:?}");
    }

    #[test]
    fn chance_near_the_capacity_moves_the_outcome_little() {
        for run in 0..200 {
            let mut stream = Stream::new(Seed::new(run), Label::new("capacity"), 0);
            // A rate 5 % below the capacity passes 98 times of 100, one 5 % above it twice.
            let chance = |rate: f64| 1.0 / (1.0 + (80.0 * (rate / 1_000.0 - 1.0)).exp());
            let (end, tried) = search(300.0, BOUNDS, |rate| stream.unit() < chance(rate));
            let SearchOutcome::Found(found) = end else { panic!("{end:?}") };
            assert!((850.0..1_100.0).contains(&found) && tried.len() <= TRIALS as usize, "{found} after {tried:?}");
        }
    }

    #[test]
    fn the_outcome_is_a_rate_that_was_tried() {
        // 800 passes once by luck; nothing else ever does.
        let mut lucky = true;
        let (end, tried) = search(800.0, BOUNDS, |rate| {
            let passes = rate == 800.0 && lucky;
            lucky &= rate != 800.0;
            passes
        });
        let lowest = tried.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(end, SearchOutcome::NoneDownTo(lowest));
        assert_eq!(lowest, *BOUNDS.start(), "steps grow again after a failure: {tried:?}");
    }

    #[test]
    fn batches_decide_by_their_lower_bound() {
        assert_eq!(keeps(&[0.01]), None);
        assert_eq!(keeps(&[0.01, 0.01, 0.01]), Some(true));
        assert_eq!(keeps(&[0.01, -0.02, 0.01, 0.01]), Some(false), "the mean is above 0, its bound is not");
        assert_eq!(keeps(&[-0.001; 5]), Some(false));
    }

    #[test]
    fn rounds_give_the_interval() {
        let (mean, interval) = over_rounds(&[90.0, 100.0, 1e6 / 9e3]).unwrap();
        let interval = interval.unwrap();
        // ln 0.9, 0, -ln 0.9: s = 0.10536, standard error 0.060830, t(0.975, 2) = 4.3027.
        assert!((mean - 100.0).abs() < 1e-9);
        assert!((interval.high.ln() - mean.ln() - 4.3027 * 0.060_830).abs() < 1e-4, "{interval:?}");
        assert_eq!(over_rounds(&[5.0, 6.0]).unwrap().1, None);
        assert_eq!(over_rounds(&[]), None);
    }
}
