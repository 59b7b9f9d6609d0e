//! Ratios to the baseline while a run goes on.

use crate::results::RunRecord;

use super::compare::{ArmTimes, InconclusiveReason, Limits, Role, obstacle, pooled};
use super::estimate::{ConfidenceInterval, Estimate, log_ratios};
use super::student::t_quantile;

/// The ratio of a strategy to the baseline over the rounds that are complete.
///
/// It is an estimate and not a verdict: its interval is Student's, holds for this strategy alone, and is that of a run that
/// would have ended now. The verdict comes from [`compare`](super::compare()).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunningRatio {
    /// The geometric mean over the rounds; below 1 is faster.
    pub ratio: f64,
    /// The 95 % CI; `None` with a single round.
    pub interval: Option<ConfidenceInterval>,
    /// The rounds in which both have a mean time.
    pub rounds: usize,
}

/// The ratio of the mean time of the mix for every strategy after the first, the baseline, in the record of one part. As in
/// the verdict, the baseline is the geometric mean of its two arms, where there is a repeat.
///
/// An error is the reason why there is no ratio; `None` without a complete round.
pub fn running_ratios(record: &RunRecord) -> Vec<Option<Result<RunningRatio, InconclusiveReason>>> {
    let arms: Vec<ArmTimes> = (0..record.strategies.len()).map(|arm| ArmTimes::of(record, arm, None)).collect();
    let Some((baseline, others)) = arms.split_first() else { return Vec::new() };
    let limits = Limits::of(&record.settings);
    let pooled = pooled(baseline, others, limits);
    let ratio = |arm: &ArmTimes| {
        let baseline = if arm.role == Role::Repeat { baseline } else { &pooled };
        let estimate = Estimate::of(&log_ratios(&arm.means, &baseline.means));
        match (obstacle(arm, baseline, limits), estimate) {
            (Some(reason), _) => Some(Err(reason)),
            (None, estimate) => estimate.map(|estimate| Ok(RunningRatio::of(&estimate))),
        }
    };
    others.iter().map(ratio).collect()
}

impl RunningRatio {
    fn of(estimate: &Estimate) -> RunningRatio {
        let freedom = estimate.rounds.saturating_sub(1);
        let interval = (freedom > 0).then(|| estimate.interval(t_quantile(0.975, freedom))).flatten();
        RunningRatio { ratio: estimate.ratio(), interval, rounds: estimate.rounds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::sample;

    fn of(rounds: u64, arm: usize) -> RunningRatio {
        running_ratios(&sample::run(rounds))[arm - 1].unwrap().unwrap()
    }

    #[test]
    fn the_interval_starts_with_two_rounds_and_shrinks() {
        assert_eq!((of(1, 1).interval, of(1, 1).rounds), (None, 1));
        let width = |rounds| of(rounds, 1).interval.map(|interval| interval.high / interval.low).unwrap();
        assert!(width(2) > width(4) && width(4) > width(12), "{} {} {}", width(2), width(4), width(12));
        let interval = of(8, 2).interval.unwrap();
        assert!(interval.low < of(8, 2).ratio && of(8, 2).ratio < interval.high);
        assert!(running_ratios(&sample::run(0)).iter().all(Option::is_none));
    }

    #[test]
    fn it_is_the_ratio_of_the_final_report() {
        let run = sample::run(8);
        let arms = (0..3).map(|arm| ArmTimes::of(&run, arm, None)).collect();
        let question = super::super::Question { quantity: super::super::Quantity::Time, arms };
        let verdict = super::super::compare(vec![question], Limits::of(&run.settings)).remove(0);
        assert_eq!(verdict.with_baseline(1).unwrap().ratio.unwrap().mean, of(8, 1).ratio);
    }

    #[test]
    fn there_is_no_ratio_of_what_has_failed() {
        let mut run = sample::run(2);
        run.settings.error_budget = 0.0;
        assert!(matches!(running_ratios(&run)[0], Some(Err(InconclusiveReason::Failures { strategy: 1, .. }))));
    }
}
