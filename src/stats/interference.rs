//! Identical programs that do not take the same time: what the machine, or the other operations, add.

use crate::record::Metric;
use crate::results::RunRecord;

use super::compare::{Limits, MINIMUM_ROUNDS, SIGNIFICANCE};
use super::estimate::{Estimate, log_ratios};
use super::series::{RoundSeries, SeriesKey};
use super::student::t_quantile;

/// An operation that sends the same commands as the baseline's, and its time relative to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interference {
    /// The strategy.
    pub strategy: usize,
    /// The operation.
    pub operation: usize,
    /// The mean time divided by the baseline's.
    pub ratio: f64,
}

/// The identical programs of one part whose times differ beyond the noise floor, by intervals that hold for all of them at once
/// (Bonferroni).
pub fn interference(record: &RunRecord) -> Vec<Interference> {
    let times = |strategy: usize, operation: usize| {
        RoundSeries::of(record, SeriesKey::new(Metric::MEAN, strategy, Some(operation))).rounds
    };
    let confidence = 1.0 - SIGNIFICANCE / (2.0 * record.identical.len().max(1) as f64);
    let floor = Limits::of(&record.settings).floor();
    let found = record.identical.iter().filter_map(|one| {
        let (strategy, operation) = (one.strategy, one.operation);
        let estimate = Estimate::of(&log_ratios(&times(strategy, operation), &times(0, operation)))?;
        let rounds = Some(estimate.rounds).filter(|rounds| *rounds >= MINIMUM_ROUNDS)?;
        let interval = estimate.interval(t_quantile(confidence, rounds - 1))?;
        let is_beyond = interval.low.ln() > floor || interval.high.ln() < -floor;
        is_beyond.then(|| Interference { strategy, operation, ratio: estimate.ratio() })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::results::IdenticalProgramRecord;

    #[test]
    fn only_identical_programs_that_differ_are_found() {
        let mut run = sample::run(8);
        assert_eq!(interference(&run), []);
        let identical = |operation| IdenticalProgramRecord { strategy: 1, operation };
        run.identical = vec![identical(0), identical(2)];
        let found = interference(&run);
        assert_eq!(found.len(), 1, "the times of count do not differ: {found:?}");
        assert!((found[0].strategy, found[0].operation) == (1, 0) && found[0].ratio < 1.0, "{found:?}");
        run.rounds.truncate(5);
        assert_eq!(interference(&run), []);
    }
}
