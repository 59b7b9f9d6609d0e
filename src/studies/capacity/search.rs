//! The choice of the rates of one round: double until the objective is kept once and not kept once, bisect, then step up and
//! down around the rate that is kept every other time.
//!
//! It is pure: its caller asks which rate to try, tries it, and says whether the objective was kept.

use std::f64::consts::LN_2;
use std::ops::RangeInclusive;

use crate::generate::{Label, Seed, Stream};

/// Trials of a round; those of a round without an earlier estimate count from the first different result on.
const TRIALS: u32 = 6;

/// After this many trials a round ends in any case.
const MOST_TRIALS: u32 = 40;

/// The first step of a round that starts near an estimate, and the largest random offset of its start, in ln(rate).
const NEAR: f64 = 0.2;

/// The smallest step, in ln(rate).
const SMALLEST_STEP: f64 = 0.05;

/// The search of one strategy in one round.
#[derive(Debug, Clone, Default)]
pub struct Search {
    low: f64,
    high: f64,
    rate: f64,
    /// In ln(rate).
    step: f64,
    last: Option<bool>,
    /// Results since the step changed that were like the one before.
    repeated: u32,
    has_kept: bool,
    has_missed: bool,
    /// Whether all trials count towards [`TRIALS`].
    is_near: bool,
    counted: u32,
    trials: u32,
    is_over: bool,
}

impl Search {
    /// A search without an earlier estimate.
    pub fn first(rate: f64, bounds: RangeInclusive<f64>) -> Search {
        let (low, high) = bounds.into_inner();
        Search { low, high, rate: rate.clamp(low, high), step: LN_2, ..Search::default() }
    }

    /// A search around the estimate of earlier rounds. It starts a random distance away, so that the rates differ between
    /// rounds, and a round's result hardly depends on those before it.
    pub fn near(estimate: f64, mut offset: Stream, bounds: RangeInclusive<f64>) -> Search {
        let start = estimate * ((2.0 * offset.unit() - 1.0) * NEAR).exp();
        Search { step: NEAR, is_near: true, ..Search::first(start, bounds) }
    }

    /// The stream for the offset of [`Search::near`].
    pub fn offset(seed: Seed, strategy: usize) -> Stream {
        const LABEL: Label = Label::new("capacity search");
        Stream::new(seed, LABEL, strategy as u64)
    }

    /// The rate to try next, in calls per second; `None` when the search has ended.
    pub fn next(&self) -> Option<f64> {
        (!self.is_over).then_some(self.rate)
    }

    /// Takes the result of the trial that [`Search::next`] asked for.
    pub fn record(&mut self, kept: bool) {
        self.has_kept |= kept;
        self.has_missed |= !kept;
        let has_both = self.has_kept && self.has_missed;
        self.trials += 1;
        self.counted += u32::from(has_both || self.is_near);
        self.adapt_step(kept, has_both);
        self.last = Some(kept);
        let bound = if kept { self.high } else { self.low };
        let is_at_bound = self.rate == bound && !has_both;
        self.is_over = is_at_bound || (has_both && self.counted >= TRIALS) || self.trials >= MOST_TRIALS;
        let step = if kept { self.step } else { -self.step };
        self.rate = (self.rate * step.exp()).clamp(self.low, self.high);
    }

    /// Halves the step while it is coarse and when the result changes; doubles it after three equal results.
    fn adapt_step(&mut self, kept: bool, has_both: bool) {
        let is_coarse = has_both && self.step > NEAR;
        if is_coarse || self.last.is_some_and(|last| last != kept) {
            self.step = (self.step / 2.0).max(SMALLEST_STEP);
            self.repeated = 0;
        } else if self.last.is_some() {
            self.repeated += 1;
            if self.repeated == 2 {
                self.step = (self.step * 2.0).min(LN_2);
                self.repeated = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: RangeInclusive<f64> = 1.0..=1e6;

    /// Runs a search to its end and returns the rates tried.
    fn tried(mut search: Search, mut keeps: impl FnMut(f64) -> bool) -> Vec<f64> {
        let mut tried = Vec::new();
        while let Some(rate) = search.next() {
            tried.push(rate);
            search.record(keeps(rate));
        }
        tried
    }

    #[test]
    fn it_doubles_bisects_and_stays_around_the_capacity() {
        let tried = tried(Search::first(100.0, BOUNDS), |rate| rate <= 250.0);
        let rounded: Vec<f64> = tried.iter().map(|rate| rate.round()).collect();
        assert_eq!(rounded, [100.0, 200.0, 400.0, 283.0, 238.0, 259.0, 247.0, 259.0]);
    }

    #[test]
    fn a_capacity_is_enclosed_from_any_start() {
        for capacity in [3.0, 97.0, 1_000.0, 48_123.0] {
            for start in [1.0, 90.0, 1_000.0, 1e5] {
                let tried = tried(Search::first(start, BOUNDS), |rate| rate <= capacity);
                let near = tried.iter().filter(|rate| (*rate / capacity).ln().abs() < NEAR).count();
                assert!(near >= 2 && tried.len() <= 26, "{capacity} from {start}: {tried:?}");
            }
        }
    }

    #[test]
    fn later_rounds_start_near_the_estimate_and_find_what_has_moved() {
        for round in 0..50 {
            let search = Search::near(1_000.0, Search::offset(Seed::new(round), 0), BOUNDS);
            let start = search.next().unwrap();
            assert!((start / 1_000.0).ln().abs() <= NEAR, "{start}");
            assert_eq!(tried(search.clone(), |rate| rate <= 1_000.0).len(), TRIALS as usize);
            let tried = tried(search, |rate| rate <= 3_000.0);
            assert!(tried.iter().any(|rate| *rate > 3_000.0) && tried.len() < 9, "{tried:?}");
        }
    }

    #[test]
    fn the_bounds_end_a_search() {
        assert_eq!(tried(Search::first(100.0, 10.0..=500.0), |_| true), [100.0, 200.0, 400.0, 500.0]);
        assert_eq!(tried(Search::first(7.0, 10.0..=500.0), |_| false), [10.0]);
        assert_eq!(tried(Search::first(10.0, 10.0..=500.0), |rate| rate < 11.0).len(), 1 + TRIALS as usize);
    }
}
