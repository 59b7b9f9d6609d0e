//! Who has the lowest time.

use super::compare::{Arm, Claim, Comparison, Role};
use super::estimate::{Estimate, log_ratios};
use super::geometric_mean;

/// The arm with the lowest time, and what is known of it. Claims are made against the reference; between other arms
/// there is only a description.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The strategy with the lowest time.
    pub best: usize,
    /// The reference.
    pub reference: usize,
    /// Every judged arm against the reference, in the order of the run.
    pub against_reference: Vec<Comparison>,
    /// The best, when it is not the reference, beside every other judged arm but the reference.
    pub beside: Vec<Beside>,
}

/// The best beside another arm: a description, not a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beside {
    /// The other arm.
    pub strategy: usize,
    /// Rounds in which the best took less time.
    pub ahead: usize,
    /// Rounds in which both have a time.
    pub rounds: usize,
}

/// Who has the lowest time of arms (the reference first) that were compared; `None` without an arm to judge or without
/// a round that all judged arms with times share.
pub fn verdict(arms: &[Arm], comparisons: &[Comparison]) -> Option<Verdict> {
    let reference = arms.first()?;
    let judged: Vec<&Arm> = arms.iter().filter(|arm| arm.role == Role::Judged).collect();
    let is_timed = |arm: &&Arm| arm.overloaded.is_none() && arm.means.iter().any(Option::is_some);
    let timed = || judged.iter().copied().filter(is_timed);
    let is_shared = |round: usize| timed().all(|arm| arm.means.get(round).is_some_and(Option::is_some));
    let typical = |arm: &Arm| {
        let means: Vec<Option<f64>> = (0..arm.means.len()).filter(|r| is_shared(*r)).map(|r| arm.means[r]).collect();
        geometric_mean(&means)
    };
    let typical = timed().filter_map(|arm| Some((arm, typical(arm)?)));
    let (best, _) = typical.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let is_judged = |comparison: &&Comparison| judged.iter().any(|arm| arm.strategy == comparison.strategy);
    let against_reference: Vec<Comparison> = comparisons.iter().filter(is_judged).cloned().collect();
    let is_other = |arm: &&&Arm| ![best.strategy, reference.strategy].contains(&arm.strategy);
    let others = judged.iter().filter(is_other).filter(|arm| arm.overloaded.is_none());
    let is_reference = best.strategy == reference.strategy;
    let beside = if is_reference { Vec::new() } else { others.map(|other| beside(best, other)).collect() };
    let verdict = Verdict { best: best.strategy, reference: reference.strategy, against_reference, beside };
    (!verdict.against_reference.is_empty()).then_some(verdict)
}

fn beside(best: &Arm, other: &Arm) -> Beside {
    let estimate = Estimate::of(&log_ratios(&best.means, &other.means));
    let (ahead, rounds) = estimate.map_or((0, 0), |estimate| (estimate.ahead, estimate.rounds));
    Beside { strategy: other.strategy, ahead, rounds }
}

impl Verdict {
    /// Whether the best may be called so: its difference from the reference is claimed, or, when it is the reference,
    /// that of all others; and it was ahead of all others in every round.
    pub fn is_clear(&self) -> bool {
        let claim = |comparison: &Comparison| comparison.claim;
        let is_ahead = self.beside.iter().all(|other| other.rounds > 0 && other.ahead == other.rounds);
        match self.best == self.reference {
            true => self.against_reference.iter().map(claim).all(|claim| claim == Claim::Slower),
            false => {
                let own = self.against_reference.iter().find(|comparison| comparison.strategy == self.best);
                own.map(claim) == Some(Claim::Faster) && is_ahead
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Limits, Reason, compare};

    fn arm(strategy: usize, means: &[f64]) -> Arm {
        let means = means.iter().copied().map(Some).collect();
        Arm { strategy, role: Role::Judged, means, failed_share: 0.0, overloaded: None }
    }

    fn of(arms: &[Arm]) -> Option<Verdict> {
        verdict(arms, &compare(&[arms.to_vec()], Limits::default())[0])
    }

    #[test]
    fn the_best_is_claimed_against_the_reference_and_described_beside_others() {
        let mut arms = vec![arm(0, &[4.0; 8]), arm(1, &[1.0; 8]), arm(2, &[2.0, 2.0, 0.9, 2.0, 2.0, 2.0, 2.0, 2.0])];
        let made = of(&arms).unwrap();
        assert_eq!((made.best, made.reference, made.is_clear()), (1, 0, false));
        assert_eq!(made.beside, [Beside { strategy: 2, ahead: 7, rounds: 8 }]);
        assert_eq!(made.against_reference[0].claim, Claim::Faster);
        arms[2].means[2] = Some(2.0);
        assert!(of(&arms).unwrap().is_clear());
        assert_eq!((of(&arms[..1]), of(&[arm(0, &[]), arm(1, &[])])), (None, None));
    }

    #[test]
    fn a_reference_that_is_best_must_beat_all() {
        let mut arms = vec![arm(0, &[1.0; 8]), arm(1, &[2.0; 8]), arm(2, &[3.0; 8])];
        let made = of(&arms).unwrap();
        assert_eq!((made.best, made.is_clear(), made.beside.len()), (0, true, 0));
        arms[2] = arm(2, &[1.3, 0.8, 1.3, 0.8, 1.3, 0.8, 1.3, 0.9]);
        assert!(!of(&arms).unwrap().is_clear());
    }

    #[test]
    fn control_and_unsafe_arms_are_never_the_best() {
        let control = Arm { role: Role::Control, ..arm(2, &[1.0; 8]) };
        let described = Arm { role: Role::Described, ..arm(3, &[0.5; 8]) };
        let made = of(&[arm(0, &[4.0; 8]), arm(1, &[2.0; 8]), control.clone(), described]).unwrap();
        assert_eq!((made.best, made.against_reference.len(), made.beside.len()), (1, 1, 0));
        assert_eq!(of(&[arm(0, &[4.0; 8]), control]), None);
    }

    #[test]
    fn an_overloaded_arm_is_neither_the_best_nor_beside_it() {
        let overloaded = Arm { overloaded: Some(0.5), ..arm(3, &[0.5; 8]) };
        let made = of(&[arm(0, &[4.0; 8]), arm(1, &[1.0; 8]), arm(2, &[2.0; 8]), overloaded]).unwrap();
        assert_eq!((made.best, made.against_reference.len(), made.is_clear()), (1, 3, true));
        assert_eq!(made.beside.iter().map(|beside| beside.strategy).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn an_arm_without_any_success_is_never_the_best() {
        let none = Arm { means: vec![None; 6], ..arm(0, &[]) };
        let made = of(&[none, arm(1, &[1.0; 6])]).unwrap();
        assert_eq!(made.best, 1);
        assert_eq!(made.against_reference[0].claim, Claim::No(Reason::NoSuccess { strategy: 0 }));
        assert!(!made.is_clear());
    }
}
