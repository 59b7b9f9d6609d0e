//! Which strategies differ from the baseline.
//!
//! The round is the unit of replication: fresh databases, other calls. A verdict depends on the spread of log ratios over
//! rounds, not on the number of calls, because the calls of one round share their server, their data and the round effect.

use crate::results::{ERROR_BUDGET, NOISE, RunRecord, RunSettings};

use super::estimate::{ConfidenceInterval, Estimate, log_ratios};
use super::family::Family;
use super::mix::times;
use super::student::t_quantile;
use super::{cells, operations, outcome_totals, overloaded, role};

/// With fewer rounds no difference is reported: the smallest p that R rounds can have is 2^(1-R), 0.03 at 6.
pub const MINIMUM_ROUNDS: usize = 6;

/// A difference is reported only with an adjusted p below this, and an interval that excludes 1.
pub const SIGNIFICANCE: f64 = 0.05;

/// The minimum detectable effect above which a comparison is called unstable.
pub const UNSTABLE: f64 = 0.5;

/// The limits that a run sets for its verdicts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// A ratio this close to 1 (0.02 for 2 %) is never reported as a difference, however certain it is.
    pub noise: f64,
    /// An arm in which a greater share (0 to 1) of the calls failed is not compared: those that fail may be the slow ones.
    pub error_budget: f64,
}

impl Limits {
    /// Those of a run.
    pub fn of(settings: &RunSettings) -> Limits {
        Limits { noise: settings.noise, error_budget: settings.error_budget }
    }

    /// How far a log ratio may be from 0 without being called a difference.
    pub fn floor(&self) -> f64 {
        // A record may have been edited; what is no number allows nothing.
        self.noise.max(0.0).ln_1p()
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { noise: NOISE, error_budget: ERROR_BUDGET }
    }
}

/// What an arm takes part in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It gets verdicts.
    Judged,
    /// It is unsafe: its ratio is shown without a verdict.
    Described,
    /// The baseline measured a second time: any difference is noise.
    Repeat,
}

/// A strategy's mean times in one question.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmTimes {
    /// Its position in the run.
    pub strategy: usize,
    /// What it takes part in.
    pub role: Role,
    /// The mean time per round; `None` where no call succeeded.
    pub means: Vec<Option<f64>>,
    /// Failed calls per call: the larger share of those compared and of the whole run.
    pub failed_share: f64,
    /// The share (0 to 1) of the calls due that were answered, when it was too small for the times to be compared.
    pub overloaded: Option<f64>,
}

impl ArmTimes {
    /// A strategy in one operation, or, with `None`, in the mix.
    pub fn of(record: &RunRecord, strategy: usize, operation: Option<usize>) -> ArmTimes {
        // A strategy that fails too often is compared nowhere, and an operation that fails too often in no strategy.
        let whole = outcome_totals(cells(record, strategy).flat_map(|cell| &cell.operations));
        let own = operation.map(|operation| outcome_totals(operations(record, strategy, operation)));
        let failed_share = own.map_or(0.0, |own| own.failed_share()).max(whole.failed_share());
        let (role, overloaded) = (role(record, strategy), overloaded(record, strategy));
        ArmTimes { strategy, role, means: times(record, strategy, operation), failed_share, overloaded }
    }
}

/// The time of one arm divided by the baseline's, over the rounds in which both have one. Below 1 is faster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The geometric mean over the rounds.
    pub mean: f64,
    /// The 95 % CI, simultaneous for the family; `None` with fewer than [`MINIMUM_ROUNDS`].
    pub interval: Option<ConfidenceInterval>,
    /// How many rounds.
    pub rounds: usize,
}

/// The result of comparing an arm with the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The arm takes less time.
    Faster,
    /// The arm takes more time.
    Slower,
    /// No difference, or none beyond the noise floor and the band of the repeat.
    NoDifference {
        /// Whether there is a significant difference that is too small to matter.
        within_noise: bool,
        /// The minimum detectable effect: 0.1 for 10 % more time.
        mde: f64,
    },
    /// The data do not decide it.
    Inconclusive(InconclusiveReason),
}

/// Why a comparison is inconclusive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InconclusiveReason {
    /// The strategy is unsafe, or the repeat: it is shown and not judged.
    NotJudged,
    /// The strategy failed in too great a share of its calls.
    Failures {
        /// Its position in the run.
        strategy: usize,
        /// Failed calls per call.
        share: f64,
    },
    /// The strategy could not keep up with the calls that were due: its times are those of a queue.
    Overloaded {
        /// Its position in the run.
        strategy: usize,
        /// The share (0 to 1) of the calls due that it answered.
        achieved: f64,
    },
    /// The strategy had no successful call in a round in which the other had some.
    NoSuccess {
        /// Its position in the run.
        strategy: usize,
    },
    /// The two have this number of rounds in common, fewer than [`MINIMUM_ROUNDS`].
    TooFewRounds(usize),
    /// The minimum detectable effect is greater than [`UNSTABLE`].
    Unstable {
        /// The minimum detectable effect; infinite when no difference would have been found.
        mde: f64,
    },
}

/// An arm, compared with the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The arm.
    pub strategy: usize,
    /// The baseline.
    pub against: usize,
    /// The arm's time to the baseline's; `None` when they have no round in common.
    pub ratio: Option<Ratio>,
    /// The adjusted p; `None` for an arm that is not judged.
    pub p: Option<f64>,
    /// The minimum detectable effect (0.1 for 10 % more time, 80 % power); `None` for an arm that is not judged, and with
    /// fewer than [`MINIMUM_ROUNDS`].
    pub mde: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

/// Compares the arms of one or more questions with their baseline, the first arm of each: a comparison per further arm.
/// All judged arms of all questions are one family.
pub fn compare(questions: &[Vec<ArmTimes>], limits: Limits) -> Vec<Vec<Comparison>> {
    let mut members = Vec::new();
    for arms in questions {
        let Some((baseline, others)) = arms.split_first() else { continue };
        let judged = others.iter().filter(|arm| arm.role == Role::Judged);
        members.extend(judged.map(|arm| log_ratios(&arm.means, &baseline.means)));
    }
    let family = Family::new(&members);
    let critical = (!members.is_empty()).then_some(family.critical);
    let mut adjusted = family.p.iter().copied();
    let mut answer = |arms: &Vec<ArmTimes>| {
        let Some((baseline, others)) = arms.split_first() else { return Vec::new() };
        let judge = Judge { baseline, critical, band: band(arms), limits };
        let compared = others.iter().map(|arm| {
            let p = if arm.role == Role::Judged { adjusted.next() } else { None };
            judge.compare(arm, p)
        });
        compared.collect()
    };
    questions.iter().map(&mut answer).collect()
}

/// How far the repeat shows that noise alone moves a log ratio from 0; `None` without a repeat of the baseline, which is the
/// first arm, or with fewer than two rounds of it.
pub fn band(arms: &[ArmTimes]) -> Option<f64> {
    let repeat = arms.iter().find(|arm| arm.role == Role::Repeat)?;
    Estimate::of(&log_ratios(&repeat.means, &arms.first()?.means))?.band()
}

/// What keeps two arms from being compared at all.
pub(super) fn obstacle(arm: &ArmTimes, baseline: &ArmTimes, limits: Limits) -> Option<InconclusiveReason> {
    for ArmTimes { strategy, overloaded, failed_share: share, .. } in [arm, baseline] {
        let strategy = *strategy;
        if let Some(achieved) = *overloaded {
            return Some(InconclusiveReason::Overloaded { strategy, achieved });
        }
        if *share > limits.error_budget {
            return Some(InconclusiveReason::Failures { strategy, share: *share });
        }
    }
    let mut rounds = arm.means.iter().zip(&baseline.means);
    rounds.find_map(|(mine, theirs)| match (mine, theirs) {
        (None, Some(_)) => Some(InconclusiveReason::NoSuccess { strategy: arm.strategy }),
        (Some(_), None) => Some(InconclusiveReason::NoSuccess { strategy: baseline.strategy }),
        (None, None) | (Some(_), Some(_)) => None,
    })
}

/// What one question's arms are measured by.
struct Judge<'a> {
    baseline: &'a ArmTimes,
    /// That of the family; `None` where nothing is judged.
    critical: Option<f64>,
    band: Option<f64>,
    limits: Limits,
}

impl Judge<'_> {
    fn compare(&self, arm: &ArmTimes, p: Option<f64>) -> Comparison {
        let estimate = Estimate::of(&log_ratios(&arm.means, &self.baseline.means));
        let obstacle = obstacle(arm, self.baseline, self.limits);
        let verdict = match (obstacle, p) {
            (Some(reason), _) => Verdict::Inconclusive(reason),
            (None, None) => Verdict::Inconclusive(InconclusiveReason::NotJudged),
            (None, Some(p)) => self.verdict(estimate.as_ref(), p),
        };
        let ratio = estimate.map(|estimate| Ratio {
            mean: estimate.ratio(),
            interval: estimate.interval(self.critical_for(&estimate)).filter(|_| estimate.rounds >= MINIMUM_ROUNDS),
            rounds: estimate.rounds,
        });
        let is_enough = |estimate: &&Estimate| obstacle.is_none() && estimate.rounds >= MINIMUM_ROUNDS;
        let mde = p.and(estimate.as_ref()).filter(is_enough).map(|estimate| self.mde(estimate));
        Comparison { strategy: arm.strategy, against: self.baseline.strategy, ratio, p, mde, verdict }
    }

    /// A log ratio this close to 0 is noise. It is the logarithm, so that "a is faster than b" and "b is slower than a" are
    /// the same claim.
    fn noise(&self) -> f64 {
        self.limits.floor().max(self.band.unwrap_or(0.0))
    }

    /// How many standard errors the ends of an interval are away. An arm outside the verdict has
    /// Student's: its interval is not simultaneous.
    fn critical_for(&self, estimate: &Estimate) -> f64 {
        self.critical.unwrap_or_else(|| t_quantile(0.975, estimate.rounds.saturating_sub(1).max(1)))
    }

    fn mde(&self, estimate: &Estimate) -> f64 {
        estimate.mde(self.critical_for(estimate)).max(self.noise().exp_m1())
    }

    fn verdict(&self, estimate: Option<&Estimate>, p: f64) -> Verdict {
        let Some(estimate) = estimate.filter(|estimate| estimate.rounds >= MINIMUM_ROUNDS) else {
            let rounds = estimate.map_or(0, |estimate| estimate.rounds);
            return Verdict::Inconclusive(InconclusiveReason::TooFewRounds(rounds));
        };
        // The step-down finds a little more than the simultaneous interval; a difference whose interval
        // contains 1 is not reported.
        let interval = estimate.interval(self.critical_for(estimate)).filter(ConfidenceInterval::excludes_one);
        let is_found = p < SIGNIFICANCE && interval.is_some();
        let within_noise = is_found && estimate.mean.abs() <= self.noise();
        let mde = self.mde(estimate);
        if is_found && !within_noise {
            if estimate.mean < 0.0 { Verdict::Faster } else { Verdict::Slower }
        } else if mde > UNSTABLE {
            Verdict::Inconclusive(InconclusiveReason::Unstable { mde })
        } else {
            Verdict::NoDifference { within_noise, mde }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn arm(strategy: usize, means: &[f64]) -> ArmTimes {
        let means = means.iter().copied().map(Some).collect();
        ArmTimes { strategy, role: Role::Judged, means, failed_share: 0.0, overloaded: None }
    }

    /// An arm against a baseline.
    fn two(against: ArmTimes, arm: ArmTimes) -> Comparison {
        compare(&[vec![against, arm]], Limits::default()).remove(0).remove(0)
    }

    fn repeat(means: &[f64]) -> ArmTimes {
        ArmTimes { role: Role::Repeat, ..arm(9, means) }
    }

    #[test]
    fn six_rounds_that_agree_are_enough_and_five_are_not() {
        let made = two(arm(0, &[2.0; 6]), arm(1, &[1.0; 6]));
        assert_eq!((made.verdict, made.p, made.ratio.unwrap().mean), (Verdict::Faster, Some(1.0 / 32.0), 0.5));
        assert_eq!(made.ratio.unwrap().interval, Some(ConfidenceInterval { low: 0.5, high: 0.5 }));
        let made = two(arm(0, &[2.0; 5]), arm(1, &[1.0; 5]));
        assert_eq!(made.verdict, Verdict::Inconclusive(InconclusiveReason::TooFewRounds(5)));
        assert_eq!((made.ratio.unwrap().mean, made.ratio.unwrap().interval), (0.5, None));
        let made = two(arm(0, &[2.0]), arm(1, &[1.0]));
        assert_eq!(
            (made.verdict, made.ratio.unwrap().rounds),
            (Verdict::Inconclusive(InconclusiveReason::TooFewRounds(1)), 1)
        );
        assert_eq!(two(arm(0, &[]), arm(1, &[])).verdict, Verdict::Inconclusive(InconclusiveReason::TooFewRounds(0)));
    }

    #[test]
    fn interval_and_mde_by_hand() {
        // ln ratios 0.1 to 0.6 in six rounds: mean 0.35, s = 0.18708, standard error 0.076376. The greatest of the 32 |t|
        // is that without a flip (sum 2.1); the second, their 95 % quantile, that with 0.1 flipped (sum 1.9).
        let logs = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
        let made = two(arm(0, &[1.0; 6]), arm(1, &logs.map(f64::exp)));
        let t = |sum: f64| sum / 6.0 / ((0.91 - sum * sum / 6.0) / 5.0 / 6.0).sqrt();
        assert_eq!((made.verdict, made.p), (Verdict::Slower, Some(1.0 / 32.0)));
        let interval = made.ratio.unwrap().interval.unwrap();
        assert!((interval.low.ln() - (0.35 - t(1.9) * 0.076_376)).abs() < 1e-5, "{interval:?} {}", t(1.9));
        assert!((interval.high.ln() - (0.35 + t(1.9) * 0.076_376)).abs() < 1e-5);
        // With the signs of the two smallest flipped (sum 1.5), five of the 32 are as great: nothing is found, and what would
        // have been is exp((c + t(0.8, 5)) * s / sqrt(6)) - 1.
        let turned = [-0.1, -0.2, 0.3, 0.4, 0.5, 0.6];
        let made = two(arm(0, &[1.0; 6]), arm(1, &turned.map(f64::exp)));
        let error = ((0.91 - 1.5 * 1.5 / 6.0) / 5.0 / 6.0_f64).sqrt();
        let expected = ((t(1.9) + 0.91954) * error).exp() - 1.0;
        match made.verdict {
            Verdict::Inconclusive(InconclusiveReason::Unstable { mde }) => {
                assert!((mde - expected).abs() < 1e-4, "{mde}")
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn no_difference_has_a_minimum_detectable_effect() {
        let noisy = [1.0, 1.1, 0.95, 1.05, 0.9, 1.02, 0.97, 1.0];
        match two(arm(0, &[1.0; 8]), arm(1, &noisy)).verdict {
            Verdict::NoDifference { within_noise: false, mde } => assert!((0.05..0.15).contains(&mde), "{mde}"),
            other => panic!("{other:?}"),
        }
        let wild = noisy.map(|value: f64| value.powi(12));
        assert!(
            matches!(two(arm(0, &[1.0; 8]), arm(1, &wild)).verdict, Verdict::Inconclusive(InconclusiveReason::Unstable { mde }) if mde > 0.5)
        );
        // Every pattern of signs makes these rounds agree in one of the comparisons, so there is no finite bound.
        let mirrored =
            |round: i32| arm(1, &std::array::from_fn::<f64, 6, _>(|r| if r as i32 == round { 2.0 } else { 0.5 }));
        let made =
            compare(&[vec![arm(0, &[1.0; 6]), mirrored(0), mirrored(1), mirrored(2)]], Limits::default()).remove(0);
        assert!(
            made.iter()
                .all(|one| matches!(one.verdict, Verdict::Inconclusive(InconclusiveReason::Unstable { mde }) if mde.is_infinite()))
        );
        assert!(made.iter().all(|one| one.ratio.unwrap().interval.is_none()));
    }

    #[test]
    fn small_differences_are_noise() {
        let verdict = |mean: f64| two(arm(0, &[100.0; 8]), arm(1, &[mean; 8])).verdict;
        for within in [98.1, 101.9] {
            assert!(
                matches!(verdict(within), Verdict::NoDifference { within_noise: true, mde } if (mde - 0.02).abs() < 1e-9)
            );
        }
        assert_eq!((verdict(97.9), verdict(102.1)), (Verdict::Faster, Verdict::Slower));
    }

    #[test]
    fn the_repeat_widens_the_noise_and_is_not_judged() {
        let with = |repeat: ArmTimes| {
            let arms = vec![arm(0, &[100.0; 8]), arm(1, &[105.0; 8]), repeat];
            (band(&arms), compare(&[arms], Limits::default()).remove(0))
        };
        let (narrow, made) = with(repeat(&[101.0; 8]));
        assert!((narrow.unwrap().exp() - 1.01).abs() < 1e-9);
        assert_eq!(
            (made[0].verdict, made[1].verdict, made[1].p),
            (Verdict::Slower, Verdict::Inconclusive(InconclusiveReason::NotJudged), None)
        );
        let (wide, made) = with(repeat(&[106.0; 8]));
        assert!((wide.unwrap().exp() - 1.06).abs() < 1e-9);
        assert!(
            matches!(made[0].verdict, Verdict::NoDifference { within_noise: true, mde } if (mde - 0.06).abs() < 1e-9)
        );
        assert_eq!(
            (band(&[arm(0, &[1.0; 8]), arm(1, &[1.0; 8])]), band(&[arm(0, &[1.0]), repeat(&[1.0])])),
            (None, None)
        );
    }

    #[test]
    fn arms_that_are_not_judged_have_intervals() {
        // Logarithms 0.1 and 0.3: mean 0.2, standard error 0.1/sqrt(7), Student's t of 7 degrees of freedom 2.3646.
        let means: Vec<f64> = (0..8).map(|round| if round % 2 == 0 { 0.1_f64 } else { 0.3 }.exp()).collect();
        let found = two(arm(0, &[1.0; 8]), ArmTimes { role: Role::Described, ..arm(1, &means) });
        let interval = found.ratio.unwrap().interval.unwrap();
        let half_width = 2.3646 * 0.1 / 7.0_f64.sqrt();
        assert!((interval.low.ln() - (0.2 - half_width)).abs() < 1e-4, "{interval:?}");
        assert!((interval.high.ln() - (0.2 + half_width)).abs() < 1e-4, "{interval:?}");
        assert_eq!((found.p, found.verdict), (None, Verdict::Inconclusive(InconclusiveReason::NotJudged)));
    }

    #[test]
    fn arms_that_are_not_judged_change_no_verdict() {
        let noisy = [1.0, 1.1, 0.95, 1.05, 0.9, 1.02, 0.97, 1.2];
        let alone = two(arm(0, &[1.0; 8]), arm(1, &noisy));
        let described = ArmTimes { role: Role::Described, ..arm(2, &[3.0; 8]) };
        let made = compare(&[vec![arm(0, &[1.0; 8]), described, arm(1, &noisy)]], Limits::default()).remove(0);
        assert_eq!((&made[1], made[0].verdict), (&alone, Verdict::Inconclusive(InconclusiveReason::NotJudged)));
        assert!(made[0].ratio.unwrap().interval.is_some());
    }

    #[test]
    fn failures_and_missing_successes_are_inconclusive() {
        let failing = ArmTimes { failed_share: 0.011, ..arm(1, &[1.0; 6]) };
        let made = two(arm(0, &[2.0; 6]), failing);
        assert_eq!(made.verdict, Verdict::Inconclusive(InconclusiveReason::Failures { strategy: 1, share: 0.011 }));
        let mut gap = arm(1, &[1.0; 7]);
        gap.means[3] = None;
        assert_eq!(
            two(gap.clone(), arm(0, &[2.0; 7])).verdict,
            Verdict::Inconclusive(InconclusiveReason::NoSuccess { strategy: 1 })
        );
        let made = two(arm(0, &[2.0; 7]), gap);
        assert_eq!(
            (made.verdict, made.ratio.unwrap().rounds),
            (Verdict::Inconclusive(InconclusiveReason::NoSuccess { strategy: 1 }), 6)
        );
    }

    #[test]
    fn limits_of_the_run_decide() {
        let with = |limits: Limits, share: f64| {
            let slower = ArmTimes { failed_share: share, ..arm(1, &[104.0; 8]) };
            compare(&[vec![arm(0, &[100.0; 8]), slower]], limits).remove(0).remove(0).verdict
        };
        let limits = Limits { noise: 0.05, error_budget: 0.1 };
        assert_eq!(
            (with(Limits::default(), 0.0), with(limits, 0.0)),
            (Verdict::Slower, Verdict::NoDifference { within_noise: true, mde: 0.05_f64.ln_1p().exp_m1() })
        );
        let limits = Limits { noise: 0.0, ..limits };
        assert_eq!(
            (with(limits, 0.1), with(limits, 0.11)),
            (Verdict::Slower, Verdict::Inconclusive(InconclusiveReason::Failures { strategy: 1, share: 0.11 }))
        );
        assert_eq!(Limits { noise: f64::NAN, ..limits }.floor(), 0.0);
    }

    #[test]
    fn overloaded_arms_are_not_compared() {
        let slow = ArmTimes { overloaded: Some(0.9), ..arm(1, &[9.0; 6]) };
        let made = compare(&[vec![arm(0, &[2.0; 6]), slow.clone(), arm(2, &[1.0; 6])]], Limits::default()).remove(0);
        assert_eq!(
            made[0].verdict,
            Verdict::Inconclusive(InconclusiveReason::Overloaded { strategy: 1, achieved: 0.9 })
        );
        assert_eq!(made[1].verdict, Verdict::Faster);
        let made = compare(&[vec![slow, arm(0, &[2.0; 6]), arm(2, &[1.0; 6])]], Limits::default()).remove(0);
        let overloaded = Verdict::Inconclusive(InconclusiveReason::Overloaded { strategy: 1, achieved: 0.9 });
        assert!(made.iter().all(|one| one.verdict == overloaded), "{made:?}");
    }

    #[test]
    fn rounds_without_times_are_left_out() {
        let (mut a, mut b) = (arm(0, &[1.0; 7]), arm(1, &[3.0; 7]));
        (a.means[0], b.means[0]) = (None, None);
        let made = two(a, b);
        assert_eq!((made.verdict, made.ratio.unwrap().rounds), (Verdict::Slower, 6));
    }

    fn times() -> impl Strategy<Value = Vec<(f64, f64)>> {
        prop::collection::vec((1.0_f64..1e9, 1.0_f64..1e9), 1..13)
    }

    fn arms(times: &[(f64, f64)]) -> (ArmTimes, ArmTimes) {
        let (a, b): (Vec<f64>, Vec<f64>) = times.iter().copied().unzip();
        (arm(0, &a), arm(1, &b))
    }

    fn close(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-6
    }

    fn alike(a: Verdict, b: Verdict) -> bool {
        match (a, b) {
            (
                Verdict::Inconclusive(InconclusiveReason::Unstable { mde: a }),
                Verdict::Inconclusive(InconclusiveReason::Unstable { mde: b }),
            ) => a == b || close(a, b),
            (
                Verdict::NoDifference { within_noise: false, mde: a },
                Verdict::NoDifference { within_noise: false, mde: b },
            ) => close(a, b),
            _ => a == b,
        }
    }

    proptest! {
        #[test]
        fn identical_arms_have_ratio_one_and_no_difference(times in times()) {
            let (a, _) = arms(&times);
            let made = two(a.clone(), ArmTimes { strategy: 1, ..a });
            prop_assert_eq!((made.ratio.unwrap().mean, made.p), (1.0, Some(1.0)));
            prop_assert!(!matches!(made.verdict, Verdict::Faster | Verdict::Slower));
        }

        #[test]
        fn units_do_not_matter_and_scaling_one_arm_scales_the_ratio(times in times(), factor in 0.01_f64..100.0) {
            let (a, b) = arms(&times);
            let scaled: Vec<(f64, f64)> = times.iter().map(|(a, b)| (a * factor, b * factor)).collect();
            let (c, d) = arms(&scaled);
            let (plain, both) = (two(a.clone(), b), two(c, d.clone()));
            prop_assert!(close(plain.ratio.unwrap().mean, both.ratio.unwrap().mean) && alike(plain.verdict, both.verdict));
            prop_assert!(close(two(a, d).ratio.unwrap().mean, plain.ratio.unwrap().mean * factor));
        }

        #[test]
        fn the_order_of_rounds_is_irrelevant(times in times()) {
            let (a, b) = arms(&times);
            let reversed: Vec<(f64, f64)> = times.iter().rev().copied().collect();
            let (c, d) = arms(&reversed);
            let (one, other) = (two(a, b), two(c, d));
            prop_assert!(alike(one.verdict, other.verdict) && one.p == other.p);
            prop_assert!(close(one.ratio.unwrap().mean, other.ratio.unwrap().mean));
        }

        #[test]
        fn faster_one_way_is_slower_the_other_way(times in times()) {
            let (a, b) = arms(&times);
            let (one, other) = (two(a.clone(), b.clone()), two(b, a));
            let turned = match other.verdict {
                Verdict::Faster => Verdict::Slower,
                Verdict::Slower => Verdict::Faster,
                no => no,
            };
            prop_assert!(alike(one.verdict, turned) && one.p == other.p);
            let (one, other) = (one.ratio.unwrap(), other.ratio.unwrap());
            prop_assert!(close(one.mean * other.mean, 1.0));
            if let (Some(one), Some(other)) = (one.interval, other.interval) {
                prop_assert!(close(one.low * other.high, 1.0) && close(one.high * other.low, 1.0));
            }
        }
    }
}
