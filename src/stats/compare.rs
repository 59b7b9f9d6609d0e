//! Which strategy is faster, and when that may be said.
//!
//! The round is the unit of replication: fresh databases, other calls. A claim rests on an exact sign test over rounds,
//! not on the number of calls, because the calls of one round share their server, their data and their weather.

use super::geometric_mean;

/// Fewer rounds cannot carry a claim: an exact sign test over R rounds that all agree has p = 2^(1-R), 0.03 at 6.
pub const MINIMUM_ROUNDS: usize = 6;

/// A ratio this close to 1 is never called a difference, however sure it is.
pub const NOISE_FLOOR: f64 = 0.02;

/// An arm in which a greater share of the calls failed is not compared: those that fail may be the slow ones.
pub const FAILURE_LIMIT: f64 = 0.01;

/// A strategy's mean times in one comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Arm {
    /// Its position in the run.
    pub strategy: usize,
    /// The mean time per round; `None` where no call succeeded.
    pub means: Vec<Option<f64>>,
    /// Failed calls per call: the larger share of those compared and of the whole run.
    pub failed_share: f64,
}

/// The time of one arm in relation to another's, over the rounds in which both have one. Below 1 is faster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The geometric mean over the rounds.
    pub mean: f64,
    /// In the round where it was lowest.
    pub lowest: f64,
    /// In the round where it was highest.
    pub highest: f64,
    /// How many rounds.
    pub rounds: usize,
    /// Rounds in which it was below 1.
    pub ahead: usize,
    /// Rounds in which it was above 1.
    pub behind: usize,
}

/// What may be said of two arms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Claim {
    /// The first takes less time.
    Faster,
    /// The first takes more time.
    Slower,
    /// Nothing.
    No(Reason),
}

/// Why nothing may be said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// The strategy failed in too great a share of its calls.
    Failures {
        /// Which.
        strategy: usize,
        /// Failed calls per call.
        share: f64,
    },
    /// The strategy had no successful call in a round in which the other had some.
    NoSuccess {
        /// Which.
        strategy: usize,
    },
    /// So many rounds, fewer than [`MINIMUM_ROUNDS`].
    TooFewRounds(usize),
    /// The first was faster in some rounds only.
    RoundsDisagree {
        /// Rounds in which the first was faster.
        ahead: usize,
        /// All rounds.
        rounds: usize,
    },
    /// The ratio, or that of every single round, is within [`NOISE_FLOOR`].
    WithinNoise,
}

/// Two arms, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The first.
    pub strategy: usize,
    /// The second.
    pub against: usize,
    /// First to second; `None` when they have no round in common.
    pub ratio: Option<Ratio>,
    /// What may be said.
    pub claim: Claim,
}

/// The arm with the lowest time, and what may be said of it against each of the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The strategy with the lowest time.
    pub best: usize,
    /// It against the others, in their order.
    pub over: Vec<Comparison>,
}

/// The ratio of two series of times; `None` when they have no round in common.
pub fn ratio(times: &[Option<f64>], against: &[Option<f64>]) -> Option<Ratio> {
    let pairs = times.iter().zip(against).filter_map(|(time, other)| time.zip(*other));
    let ratios: Vec<f64> = pairs.map(|(time, other)| time / other).collect();
    let all: Vec<Option<f64>> = ratios.iter().copied().map(Some).collect();
    Some(Ratio {
        mean: geometric_mean(&all)?,
        lowest: ratios.iter().copied().fold(f64::INFINITY, f64::min),
        highest: ratios.iter().copied().fold(0.0, f64::max),
        rounds: ratios.len(),
        ahead: ratios.iter().filter(|ratio| **ratio < 1.0).count(),
        behind: ratios.iter().filter(|ratio| **ratio > 1.0).count(),
    })
}

/// Compares two arms.
pub fn compare(arm: &Arm, against: &Arm) -> Comparison {
    let ratio = ratio(&arm.means, &against.means);
    let claim = match obstacle(arm, against) {
        Some(reason) => Claim::No(reason),
        None => claim(ratio.as_ref()),
    };
    Comparison { strategy: arm.strategy, against: against.strategy, ratio, claim }
}

/// What keeps two arms from being compared at all.
fn obstacle(arm: &Arm, against: &Arm) -> Option<Reason> {
    let failing = [arm, against].into_iter().find(|arm| arm.failed_share > FAILURE_LIMIT);
    if let Some(arm) = failing {
        return Some(Reason::Failures { strategy: arm.strategy, share: arm.failed_share });
    }
    let mut rounds = arm.means.iter().zip(&against.means);
    rounds.find_map(|(mine, theirs)| match (mine, theirs) {
        (None, Some(_)) => Some(Reason::NoSuccess { strategy: arm.strategy }),
        (Some(_), None) => Some(Reason::NoSuccess { strategy: against.strategy }),
        _ => None,
    })
}

fn claim(ratio: Option<&Ratio>) -> Claim {
    let Some(ratio) = ratio else { return Claim::No(Reason::TooFewRounds(0)) };
    // On the logarithm, so that "a is faster than b" and "b is slower than a" are the same claim.
    let is_noise = |ratio: f64| ratio.ln().abs() <= NOISE_FLOOR.ln_1p();
    let agree = ratio.ahead == ratio.rounds || ratio.behind == ratio.rounds;
    if ratio.rounds < MINIMUM_ROUNDS {
        Claim::No(Reason::TooFewRounds(ratio.rounds))
    } else if is_noise(ratio.lowest) && is_noise(ratio.highest) {
        Claim::No(Reason::WithinNoise)
    } else if !agree {
        Claim::No(Reason::RoundsDisagree { ahead: ratio.ahead, rounds: ratio.rounds })
    } else if is_noise(ratio.mean) {
        Claim::No(Reason::WithinNoise)
    } else if ratio.mean < 1.0 {
        Claim::Faster
    } else {
        Claim::Slower
    }
}

/// Who has the lowest time, and against whom that may be claimed; `None` with fewer than two arms or without a round
/// that all arms share.
pub fn verdict(arms: &[Arm]) -> Option<Verdict> {
    let timed: Vec<&Arm> = arms.iter().filter(|arm| arm.means.iter().any(Option::is_some)).collect();
    let shared = |round: usize| timed.iter().all(|arm| arm.means.get(round).is_some_and(Option::is_some));
    let typical = |arm: &Arm| {
        let means: Vec<Option<f64>> = (0..arm.means.len()).filter(|r| shared(*r)).map(|r| arm.means[r]).collect();
        geometric_mean(&means)
    };
    let typical: Vec<(&Arm, f64)> = timed.iter().filter_map(|arm| Some((*arm, typical(arm)?))).collect();
    let (best, _) = typical.into_iter().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let others = arms.iter().filter(|arm| arm.strategy != best.strategy);
    let over: Vec<Comparison> = others.map(|other| compare(best, other)).collect();
    (!over.is_empty()).then_some(Verdict { best: best.strategy, over })
}

impl Verdict {
    /// Whether the best is claimed to be faster than every other.
    pub fn is_clear(&self) -> bool {
        self.over.iter().all(|comparison| comparison.claim == Claim::Faster)
    }

    /// Whether the best is claimed to be faster than at least one other.
    pub fn claims_something(&self) -> bool {
        self.over.iter().any(|comparison| comparison.claim == Claim::Faster)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn arm(strategy: usize, means: &[f64]) -> Arm {
        Arm { strategy, means: means.iter().copied().map(Some).collect(), failed_share: 0.0 }
    }

    #[test]
    fn six_rounds_that_agree_carry_a_claim_and_five_do_not() {
        let made = compare(&arm(1, &[1.0; 6]), &arm(0, &[2.0; 6]));
        assert_eq!((made.claim, made.ratio.unwrap().mean), (Claim::Faster, 0.5));
        let made = compare(&arm(1, &[1.0; 5]), &arm(0, &[2.0; 5]));
        assert_eq!(made.claim, Claim::No(Reason::TooFewRounds(5)));
    }

    #[test]
    fn one_round_that_disagrees_or_ties_forbids_the_claim() {
        for odd in [3.0, 2.0] {
            let made = compare(&arm(1, &[1.0, 1.0, 1.0, 1.0, 1.0, odd]), &arm(0, &[2.0; 6]));
            assert_eq!(made.claim, Claim::No(Reason::RoundsDisagree { ahead: 5, rounds: 6 }));
        }
    }

    #[test]
    fn a_sure_but_small_difference_is_noise() {
        let claim = |mean: f64| compare(&arm(1, &[mean; 8]), &arm(0, &[100.0; 8])).claim;
        assert_eq!(claim(98.1), Claim::No(Reason::WithinNoise));
        assert_eq!(claim(101.9), Claim::No(Reason::WithinNoise));
        assert_eq!((claim(97.9), claim(102.1)), (Claim::Faster, Claim::Slower));
    }

    #[test]
    fn failures_and_missing_successes_forbid_the_claim() {
        let failing = Arm { failed_share: 0.011, ..arm(1, &[1.0; 6]) };
        let made = compare(&failing, &arm(0, &[2.0; 6]));
        assert_eq!(made.claim, Claim::No(Reason::Failures { strategy: 1, share: 0.011 }));
        let mut gap = arm(1, &[1.0; 7]);
        gap.means[3] = None;
        assert_eq!(compare(&arm(0, &[2.0; 7]), &gap).claim, Claim::No(Reason::NoSuccess { strategy: 1 }));
    }

    #[test]
    fn a_round_that_neither_has_is_left_out() {
        let (mut a, mut b) = (arm(0, &[1.0; 7]), arm(1, &[3.0; 7]));
        (a.means[0], b.means[0]) = (None, None);
        assert_eq!((compare(&a, &b).claim, compare(&a, &b).ratio.unwrap().rounds), (Claim::Faster, 6));
    }

    #[test]
    fn the_best_is_compared_with_all_others() {
        let arms = [arm(0, &[4.0; 6]), arm(1, &[1.0; 6]), arm(2, &[1.0, 2.0, 1.0, 1.0, 0.9, 1.0])];
        let made = verdict(&arms).unwrap();
        assert_eq!((made.best, made.is_clear(), made.claims_something()), (1, false, true));
        assert_eq!(made.over[0].claim, Claim::Faster);
        assert!(matches!(made.over[1].claim, Claim::No(Reason::RoundsDisagree { ahead: 1, rounds: 6 })));
        assert_eq!(verdict(&arms[..1]), None);
        assert_eq!(verdict(&[arm(0, &[]), arm(1, &[])]), None);
    }

    #[test]
    fn an_arm_without_any_success_is_never_the_best() {
        let none = Arm { strategy: 0, means: vec![None; 6], failed_share: 0.0 };
        let made = verdict(&[none, arm(1, &[1.0; 6])]).unwrap();
        assert_eq!((made.best, made.over[0].claim), (1, Claim::No(Reason::NoSuccess { strategy: 0 })));
    }

    fn times() -> impl Strategy<Value = Vec<(f64, f64)>> {
        prop::collection::vec((1.0_f64..1e9, 1.0_f64..1e9), 1..15)
    }

    fn arms(times: &[(f64, f64)]) -> (Arm, Arm) {
        let (a, b): (Vec<f64>, Vec<f64>) = times.iter().copied().unzip();
        (arm(0, &a), arm(1, &b))
    }

    fn close(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-9
    }

    proptest! {
        #[test]
        fn identical_arms_have_ratio_one_and_no_claim(times in times()) {
            let (a, _) = arms(&times);
            let made = compare(&a, &Arm { strategy: 1, ..a.clone() });
            let ratio = made.ratio.unwrap();
            prop_assert_eq!((ratio.mean, ratio.lowest, ratio.highest), (1.0, 1.0, 1.0));
            prop_assert!(matches!(made.claim, Claim::No(_)));
        }

        #[test]
        fn units_do_not_matter_and_scaling_one_arm_scales_the_ratio(times in times(), factor in 0.01_f64..100.0) {
            let (a, b) = arms(&times);
            let scaled: Vec<(f64, f64)> = times.iter().map(|(a, b)| (a * factor, b * factor)).collect();
            let (c, d) = arms(&scaled);
            let (plain, both) = (ratio(&a.means, &b.means).unwrap(), ratio(&c.means, &d.means).unwrap());
            prop_assert!(close(plain.mean, both.mean));
            let one = ratio(&c.means, &b.means).unwrap();
            prop_assert!(close(one.mean, plain.mean * factor) && close(one.highest, plain.highest * factor));
        }

        #[test]
        fn the_order_of_rounds_is_irrelevant(times in times()) {
            let (a, b) = arms(&times);
            let reversed: Vec<(f64, f64)> = times.iter().rev().copied().collect();
            let (c, d) = arms(&reversed);
            let (one, other) = (compare(&a, &b), compare(&c, &d));
            prop_assert_eq!(one.claim, other.claim);
            let (one, other) = (one.ratio.unwrap(), other.ratio.unwrap());
            prop_assert!(close(one.mean, other.mean));
            prop_assert_eq!((one.lowest, one.highest, one.ahead), (other.lowest, other.highest, other.ahead));
        }

        #[test]
        fn faster_one_way_is_slower_the_other_way(times in times()) {
            let (a, b) = arms(&times);
            let turned = match compare(&b, &a).claim {
                Claim::Faster => Claim::Slower,
                Claim::Slower => Claim::Faster,
                Claim::No(Reason::RoundsDisagree { .. }) => compare(&a, &b).claim,
                other => other,
            };
            prop_assert_eq!(compare(&a, &b).claim, turned);
        }

        #[test]
        fn the_mean_lies_between_lowest_and_highest(times in times()) {
            let (a, b) = arms(&times);
            let made = ratio(&a.means, &b.means).unwrap();
            prop_assert!(made.lowest <= made.mean * (1.0 + 1e-9) && made.mean <= made.highest * (1.0 + 1e-9));
        }
    }
}
