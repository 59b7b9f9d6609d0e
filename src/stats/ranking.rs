//! Which strategy is best.

use crate::results::Verdict;

use super::compare::{ArmComparison, ArmTimes, Comparison, Quantity};
use super::geometric_mean;
use super::view::Role;

/// The best arm, with the comparisons that say so.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// What is compared.
    pub quantity: Quantity,
    /// The strategy with the lowest time, or the most calls per second.
    pub best: usize,
    /// Every judged arm against the baseline, in the order of the run.
    pub against_baseline: Vec<Comparison>,
    /// The best arm against every other judged arm that is not overloaded, in the order of the run.
    pub best_against: Vec<Comparison>,
}

impl ArmComparison {
    /// Ranks the arms, each by its own rounds: no arm depends on another one. `None` without an arm to judge, or without any
    /// number.
    pub fn ranking(&self) -> Option<Ranking> {
        let (arms, quantity) = (self.arms(), Quantity::of(self.metric));
        let judged: Vec<&ArmTimes> = arms.iter().filter(|arm| arm.role == Role::Judged).collect();
        let ranked = || judged.iter().copied().filter(|arm| arm.overloaded.is_none());
        let typical = |arm: &ArmTimes| geometric_mean(&arm.series.rounds).map(|mean| quantity.as_time(mean));
        let typical = ranked().filter_map(|arm| Some((arm.strategy, typical(arm)?)));
        let (best, _) = typical.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let against_baseline: Vec<Comparison> =
            judged.iter().filter_map(|arm| self.with_baseline(arm.strategy).cloned()).collect();
        let best_against = ranked().filter_map(|arm| self.pair(best, arm.strategy)).collect();
        let ranking = Ranking { quantity, best, against_baseline, best_against };
        (!ranking.against_baseline.is_empty()).then_some(ranking)
    }
}

impl Ranking {
    /// Whether the best arm is clearly the fastest: faster than each of the others.
    pub fn is_clear(&self) -> bool {
        !self.best_against.is_empty() && self.best_against.iter().all(|one| one.verdict == Verdict::Faster)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Metric;
    use crate::stats::{Limits, Reason, compare};

    fn arm(strategy: usize, means: &[f64]) -> ArmTimes {
        with_rounds(strategy, means.iter().copied().map(Some).collect())
    }

    fn with_rounds(strategy: usize, rounds: Vec<Option<f64>>) -> ArmTimes {
        ArmTimes::sample(strategy, Role::Judged, rounds)
    }

    fn rank(quantity: Quantity, arms: &[ArmTimes]) -> Option<Ranking> {
        let metric = if quantity == Quantity::Time { Metric::MEAN } else { Metric::Throughput };
        compare(vec![ArmComparison::new(metric, None, arms.to_vec())], Limits::default()).remove(0).ranking()
    }

    fn of(arms: &[ArmTimes]) -> Option<Ranking> {
        rank(Quantity::Time, arms)
    }

    fn others(ranking: &Ranking) -> Vec<usize> {
        ranking.best_against.iter().map(|one| one.against).collect()
    }

    #[test]
    fn the_fastest_is_faster_than_each_other_arm() {
        let mut arms = vec![arm(0, &[4.0; 8]), arm(1, &[1.0; 8]), arm(2, &[2.0, 2.0, 0.9, 2.0, 2.0, 2.0, 2.0, 2.0])];
        let made = of(&arms).unwrap();
        assert_eq!((made.best, others(&made)), (1, vec![0, 2]));
        // One round in which another arm was ahead does not decide.
        assert!(made.is_clear());
        assert!((made.best_against[0].ratio.unwrap().mean - 0.25).abs() < 1e-12);
        arms[2] = arm(2, &[1.3, 0.8, 1.3, 0.8, 1.3, 0.8, 1.3, 0.9]);
        let made = of(&arms).unwrap();
        assert!(!made.is_clear() && made.best_against[0].verdict == Verdict::Faster);
        assert_eq!((of(&arms[..1]), of(&[arm(0, &[]), arm(1, &[])])), (None, None));
    }

    #[test]
    fn a_baseline_that_is_best_must_beat_all() {
        let mut arms = vec![arm(0, &[1.0; 8]), arm(1, &[2.0; 8]), arm(2, &[3.0; 8])];
        let made = of(&arms).unwrap();
        assert_eq!((made.best, made.is_clear(), others(&made)), (0, true, vec![1, 2]));
        assert_eq!(made.best_against[0].verdict, Verdict::Faster);
        arms[2] = arm(2, &[1.3, 0.8, 1.3, 0.8, 1.3, 0.8, 1.3, 0.9]);
        assert!(!of(&arms).unwrap().is_clear());
    }

    #[test]
    fn more_calls_per_second_are_better() {
        let made = rank(Quantity::Throughput, &[arm(0, &[1.0; 8]), arm(1, &[2.0; 8]), arm(2, &[3.0; 8])]).unwrap();
        assert_eq!((made.best, made.is_clear()), (2, true));
        assert!((made.best_against[1].ratio.unwrap().mean - 1.5).abs() < 1e-12);
        assert!(made.against_baseline.iter().all(|one| one.verdict == Verdict::Faster));
    }

    #[test]
    fn repeat_and_unsafe_arms_are_never_the_best() {
        let repeat = ArmTimes { role: Role::Repeat, ..arm(2, &[4.0; 8]) };
        let described = ArmTimes { role: Role::Described, ..arm(3, &[0.5; 8]) };
        let made = of(&[arm(0, &[4.0; 8]), arm(1, &[2.0; 8]), repeat.clone(), described]).unwrap();
        assert_eq!((made.best, made.against_baseline.len(), others(&made)), (1, 1, vec![0]));
        assert_eq!(of(&[arm(0, &[4.0; 8]), repeat]), None);
    }

    #[test]
    fn overloaded_arms_are_not_ranked() {
        let overloaded = ArmTimes { overloaded: Some(0.5), ..arm(3, &[0.5; 8]) };
        let made = of(&[arm(0, &[4.0; 8]), arm(1, &[1.0; 8]), arm(2, &[2.0; 8]), overloaded.clone()]).unwrap();
        assert_eq!((made.best, made.against_baseline.len(), made.is_clear()), (1, 3, true));
        assert_eq!(others(&made), [0, 2]);
        assert!(!of(&[arm(0, &[4.0; 8]), overloaded]).unwrap().is_clear());
    }

    #[test]
    fn an_arm_without_any_success_is_never_the_best() {
        let none = with_rounds(0, vec![None; 6]);
        let made = of(&[none, arm(1, &[1.0; 6])]).unwrap();
        assert_eq!(made.best, 1);
        let no_success = Verdict::Inconclusive(Reason::NoSuccess { strategy: 0 });
        assert_eq!(made.against_baseline[0].verdict, no_success);
        assert!(!made.is_clear());
    }
}
