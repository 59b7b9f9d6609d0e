//! Which strategy has the lowest time.

use super::compare::{ArmTimes, Comparison, Role, Verdict};
use super::estimate::{Estimate, log_ratios};
use super::geometric_mean;

/// The arm with the lowest time. Verdicts are reached against the baseline; between other arms rounds are counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The strategy with the lowest time.
    pub best: usize,
    /// The baseline strategy.
    pub baseline: usize,
    /// Every judged arm against the baseline, in the order of the run.
    pub against_baseline: Vec<Comparison>,
    /// The best arm, when it is not the baseline, against every other judged arm but the baseline.
    pub head_to_head: Vec<HeadToHead>,
}

/// The rounds that the best arm won against another one: a description, not a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadToHead {
    /// The other arm.
    pub strategy: usize,
    /// Rounds in which the best took less time.
    pub wins: usize,
    /// Rounds in which both have a time.
    pub rounds: usize,
}

/// Ranks arms (the baseline first) that were compared. `None` without an arm to judge, or without a round in which all
/// judged arms that have times have one.
pub fn ranking(arms: &[ArmTimes], comparisons: &[Comparison]) -> Option<Ranking> {
    let baseline = arms.first()?;
    let judged: Vec<&ArmTimes> = arms.iter().filter(|arm| arm.role == Role::Judged).collect();
    let is_timed = |arm: &&ArmTimes| arm.overloaded.is_none() && arm.means.iter().any(Option::is_some);
    let timed = || judged.iter().copied().filter(is_timed);
    let is_shared = |round: usize| timed().all(|arm| arm.means.get(round).is_some_and(Option::is_some));
    let typical = |arm: &ArmTimes| {
        let means: Vec<Option<f64>> = (0..arm.means.len()).filter(|r| is_shared(*r)).map(|r| arm.means[r]).collect();
        geometric_mean(&means)
    };
    let typical = timed().filter_map(|arm| Some((arm, typical(arm)?)));
    let (best, _) = typical.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let is_judged = |comparison: &&Comparison| judged.iter().any(|arm| arm.strategy == comparison.strategy);
    let against_baseline: Vec<Comparison> = comparisons.iter().filter(is_judged).cloned().collect();
    let is_other = |arm: &&&ArmTimes| ![best.strategy, baseline.strategy].contains(&arm.strategy);
    let others = judged.iter().filter(is_other).filter(|arm| arm.overloaded.is_none());
    let is_baseline = best.strategy == baseline.strategy;
    let head_to_head = if is_baseline { Vec::new() } else { others.map(|other| head_to_head(best, other)).collect() };
    let ranking = Ranking { best: best.strategy, baseline: baseline.strategy, against_baseline, head_to_head };
    (!ranking.against_baseline.is_empty()).then_some(ranking)
}

fn head_to_head(best: &ArmTimes, other: &ArmTimes) -> HeadToHead {
    let estimate = Estimate::of(&log_ratios(&best.means, &other.means));
    let (wins, rounds) = estimate.map_or((0, 0), |estimate| (estimate.wins, estimate.rounds));
    HeadToHead { strategy: other.strategy, wins, rounds }
}

impl Ranking {
    /// Whether the best arm is clearly the fastest: it is faster than the baseline (or, as the baseline, all others are
    /// slower), and it won every round against every other arm.
    pub fn is_clear(&self) -> bool {
        let verdict = |comparison: &Comparison| comparison.verdict;
        let is_ahead = self.head_to_head.iter().all(|other| other.rounds > 0 && other.wins == other.rounds);
        if self.best == self.baseline {
            return self.against_baseline.iter().map(verdict).all(|verdict| verdict == Verdict::Slower);
        }
        let own = self.against_baseline.iter().find(|comparison| comparison.strategy == self.best);
        own.map(verdict) == Some(Verdict::Faster) && is_ahead
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{InconclusiveReason, Limits, compare};

    fn arm(strategy: usize, means: &[f64]) -> ArmTimes {
        let means = means.iter().copied().map(Some).collect();
        ArmTimes { strategy, role: Role::Judged, means, failed_share: 0.0, overloaded: None }
    }

    fn of(arms: &[ArmTimes]) -> Option<Ranking> {
        ranking(arms, &compare(&[arms.to_vec()], Limits::default())[0])
    }

    #[test]
    fn the_best_is_judged_against_the_baseline_only() {
        let mut arms = vec![arm(0, &[4.0; 8]), arm(1, &[1.0; 8]), arm(2, &[2.0, 2.0, 0.9, 2.0, 2.0, 2.0, 2.0, 2.0])];
        let made = of(&arms).unwrap();
        assert_eq!((made.best, made.baseline, made.is_clear()), (1, 0, false));
        assert_eq!(made.head_to_head, [HeadToHead { strategy: 2, wins: 7, rounds: 8 }]);
        assert_eq!(made.against_baseline[0].verdict, Verdict::Faster);
        arms[2].means[2] = Some(2.0);
        assert!(of(&arms).unwrap().is_clear());
        assert_eq!((of(&arms[..1]), of(&[arm(0, &[]), arm(1, &[])])), (None, None));
    }

    #[test]
    fn a_baseline_that_is_best_must_beat_all() {
        let mut arms = vec![arm(0, &[1.0; 8]), arm(1, &[2.0; 8]), arm(2, &[3.0; 8])];
        let made = of(&arms).unwrap();
        assert_eq!((made.best, made.is_clear(), made.head_to_head.len()), (0, true, 0));
        arms[2] = arm(2, &[1.3, 0.8, 1.3, 0.8, 1.3, 0.8, 1.3, 0.9]);
        assert!(!of(&arms).unwrap().is_clear());
    }

    #[test]
    fn repeat_and_unsafe_arms_are_never_the_best() {
        let repeat = ArmTimes { role: Role::Repeat, ..arm(2, &[1.0; 8]) };
        let described = ArmTimes { role: Role::Described, ..arm(3, &[0.5; 8]) };
        let made = of(&[arm(0, &[4.0; 8]), arm(1, &[2.0; 8]), repeat.clone(), described]).unwrap();
        assert_eq!((made.best, made.against_baseline.len(), made.head_to_head.len()), (1, 1, 0));
        assert_eq!(of(&[arm(0, &[4.0; 8]), repeat]), None);
    }

    #[test]
    fn overloaded_arms_are_not_ranked() {
        let overloaded = ArmTimes { overloaded: Some(0.5), ..arm(3, &[0.5; 8]) };
        let made = of(&[arm(0, &[4.0; 8]), arm(1, &[1.0; 8]), arm(2, &[2.0; 8]), overloaded]).unwrap();
        assert_eq!((made.best, made.against_baseline.len(), made.is_clear()), (1, 3, true));
        assert_eq!(made.head_to_head.iter().map(|other| other.strategy).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn an_arm_without_any_success_is_never_the_best() {
        let none = ArmTimes { means: vec![None; 6], ..arm(0, &[]) };
        let made = of(&[none, arm(1, &[1.0; 6])]).unwrap();
        assert_eq!(made.best, 1);
        assert_eq!(
            made.against_baseline[0].verdict,
            Verdict::Inconclusive(InconclusiveReason::NoSuccess { strategy: 0 })
        );
        assert!(!made.is_clear());
    }
}
