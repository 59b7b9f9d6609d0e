//! Which strategies differ.
//!
//! The round is the unit of replication: fresh databases, other calls. A verdict depends on the spread of log ratios over
//! rounds, not on the number of calls, because the calls of one round share their server, their data and the round effect.

use crate::record::Metric;
use crate::results::{ERROR_BUDGET, IdenticalProgramRecord, NOISE, Part, Reason, RunRecord, RunSettings, Verdict};

use super::context::out_of_context;
use super::estimate::{ConfidenceInterval, Estimate, log_ratios};
use super::family::Family;
use super::series::{RoundSeries, SeriesKey};
use super::shared_cache::SharedCache;
use super::student::t_quantile;
use super::view::{Role, all_operations, operations, role};
use super::{outcome_totals, overloaded};

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

/// A strategy's number in one question.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmTimes {
    /// Its position in the run.
    pub strategy: usize,
    /// What it takes part in.
    pub role: Role,
    /// The number that is compared, over rounds: of the baseline, with its repeat.
    pub series: RoundSeries,
    /// The number of this arm alone, per round.
    pub alone: Vec<Option<f64>>,
    /// Failed calls per call: the larger share of those compared and of the whole run.
    pub failed_share: f64,
    /// The share (0 to 1) of the calls due that were answered, when it was too small for the times to be compared.
    pub overloaded: Option<f64>,
    /// Why it takes no part in this question.
    pub excluded: Option<Reason>,
}

impl ArmTimes {
    /// A strategy by its mean time in one operation, or, with `None`, in the mix.
    pub fn of(record: &RunRecord, strategy: usize, operation: Option<usize>) -> ArmTimes {
        ArmTimes::by(record, SeriesKey::new(Metric::MEAN, strategy, operation))
    }

    /// A strategy by a number.
    pub fn by(record: &RunRecord, key: SeriesKey) -> ArmTimes {
        let SeriesKey { strategy, operation, .. } = key;
        // A strategy that fails too often is compared nowhere, and an operation that fails too often in no strategy.
        let whole = outcome_totals(all_operations(record, strategy));
        let own = operation.map(|operation| outcome_totals(operations(record, strategy, operation)));
        let failed_share = own.map_or(0.0, |own| own.failed_share()).max(whole.failed_share());
        let (role, overloaded) = (role(record, strategy), overloaded(record, strategy));
        let (series, alone) = (RoundSeries::of(record, key), RoundSeries::alone(record, key).rounds);
        ArmTimes { strategy, role, series, alone, failed_share, overloaded, excluded: None }
    }

    /// The same in the part that measures own costs: without a part where its program is that of the baseline, or where its
    /// calls do not do what they do in the mix; in that of the mix, those of any operation.
    pub fn in_context(self, own: &RunRecord, mix: Option<&RunRecord>, operation: Option<usize>) -> ArmTimes {
        if own.part != Some(Part::Own) {
            return self;
        }
        let is_mine = |one: &IdenticalProgramRecord| (one.strategy, Some(one.operation)) == (self.strategy, operation);
        let identical = own.identical.iter().any(is_mine).then_some(Reason::Identical { baseline: 0 });
        let operations = operation.map_or(0..own.operations.len(), |one| one..one + 1);
        let out = |operation| mix.and_then(|mix| out_of_context(own, mix, self.strategy, operation));
        ArmTimes { excluded: identical.or(operations.into_iter().find_map(out)), ..self }
    }

    /// The same on a server that strategies may have shared: without a part where the shared cache distorts its times.
    pub fn beside_others(self, cache: &SharedCache) -> ArmTimes {
        ArmTimes { excluded: self.excluded.or(cache.obstacle(self.strategy)), ..self }
    }

    /// What keeps it from being compared with any other one.
    pub(crate) fn obstacle(&self, limits: Limits) -> Option<Reason> {
        let strategy = self.strategy;
        let overloaded = || self.overloaded.map(|achieved| Reason::Overloaded { strategy, achieved });
        let share = self.failed_share;
        let failures = || (share > limits.error_budget).then_some(Reason::Failures { strategy, share });
        self.excluded.or_else(overloaded).or_else(failures)
    }
}

#[cfg(test)]
impl ArmTimes {
    /// An arm with these numbers, for tests of what is made of them.
    pub(crate) fn sample(strategy: usize, role: Role, rounds: Vec<Option<f64>>) -> ArmTimes {
        let series = RoundSeries { value: super::geometric_mean(&rounds), rounds: rounds.clone() };
        ArmTimes { strategy, role, series, alone: rounds, failed_share: 0.0, overloaded: None, excluded: None }
    }
}

/// What a question compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A time: less is faster.
    Time,
    /// Calls per second: more is faster.
    Throughput,
}

impl Quantity {
    /// What a metric measures.
    pub fn of(metric: Metric) -> Quantity {
        if metric == Metric::Throughput { Quantity::Throughput } else { Quantity::Time }
    }

    /// A number of which less is better.
    pub fn as_time(self, number: f64) -> f64 {
        if self == Quantity::Throughput { number.recip() } else { number }
    }
}

/// The number of one arm divided by another's, over the rounds in which both have one. Of times, below 1 is faster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The geometric mean over the rounds.
    pub mean: f64,
    /// The 95 % CI, simultaneous for the family; `None` with fewer than [`MINIMUM_ROUNDS`].
    pub interval: Option<ConfidenceInterval>,
    /// How many rounds.
    pub rounds: usize,
}

/// An arm, compared with another.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The arm.
    pub strategy: usize,
    /// The other.
    pub against: usize,
    /// The arm's number to the other's; `None` when they have no round in common.
    pub ratio: Option<Ratio>,
    /// The adjusted p; `None` for a comparison that is not tested.
    pub p: Option<f64>,
    /// The minimum detectable effect (0.1 for 10 % more time, 80 % power); `None` for a comparison that is not tested.
    pub mde: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

impl Comparison {
    /// The same comparison, seen from the other arm.
    fn turned(&self) -> Comparison {
        let ratio = self.ratio.map(|ratio| Ratio {
            mean: ratio.mean.recip(),
            interval: ratio.interval.map(ConfidenceInterval::turned),
            rounds: ratio.rounds,
        });
        Comparison { strategy: self.against, against: self.strategy, ratio, verdict: self.verdict.turned(), ..*self }
    }
}

/// A question to all arms, about one operation or the mix, and their comparisons. Questions that are judged together are a family.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmComparison {
    /// The operation; `None` for the mix.
    pub operation: Option<usize>,
    /// The number that is compared.
    pub metric: Metric,
    arms: Vec<ArmTimes>,
    /// Every other arm against the baseline, then every later judged arm against every earlier one; none before [`compare`].
    comparisons: Vec<Comparison>,
}

impl ArmComparison {
    /// A question that [`compare`] answers; the baseline is the first arm.
    pub fn new(metric: Metric, operation: Option<usize>, arms: Vec<ArmTimes>) -> ArmComparison {
        ArmComparison { operation, metric, arms, comparisons: Vec::new() }
    }

    /// All arms, the baseline first.
    pub fn arms(&self) -> &[ArmTimes] {
        &self.arms
    }

    /// The comparison of a strategy with the baseline; `None` for the baseline itself.
    pub fn with_baseline(&self, strategy: usize) -> Option<&Comparison> {
        let baseline = self.arms.first()?.strategy;
        self.comparisons.iter().find(|one| (one.strategy, one.against) == (strategy, baseline))
    }

    /// The comparison of any two judged strategies, or of one with the baseline.
    pub fn pair(&self, strategy: usize, against: usize) -> Option<Comparison> {
        let find = |pair| self.comparisons.iter().find(|one| (one.strategy, one.against) == pair);
        find((strategy, against)).cloned().or_else(|| find((against, strategy)).map(Comparison::turned))
    }

    /// Whether a difference is reported between any two of some strategies.
    pub fn differs(&self, among: &[usize]) -> bool {
        let mut pairs = among.iter().flat_map(|one| among.iter().filter_map(|other| self.pair(*one, *other)));
        pairs.any(|pair| pair.verdict.is_difference())
    }

    /// The comparisons that are tested: this question's part of the family.
    pub fn tested(&self) -> impl Iterator<Item = &Comparison> {
        self.comparisons.iter().filter(|comparison| comparison.p.is_some())
    }

    /// How far from 1 (0.02 for 2 %) the repeat's ratio is; `None` without a repeat.
    pub fn band(&self) -> Option<f64> {
        self.log_band().map(f64::exp_m1)
    }

    /// How far the repeat shows that noise alone moves a log ratio from 0; `None` without a repeat of the baseline, or with
    /// fewer than two rounds of it.
    fn log_band(&self) -> Option<f64> {
        let repeat = self.arms.iter().find(|arm| arm.role == Role::Repeat)?;
        Estimate::of(&log_ratios(&repeat.alone, &self.arms.first()?.alone))?.band()
    }

    /// All pairs that are shown.
    fn pairs(&self, limits: Limits) -> Vec<ArmPair> {
        let Some((baseline, others)) = self.arms.split_first() else { return Vec::new() };
        let with_baseline = others.iter().map(|arm| ArmPair::new(arm, baseline, limits));
        let judged: Vec<&ArmTimes> = others.iter().filter(|arm| arm.role == Role::Judged).collect();
        let others = judged.iter().enumerate().flat_map(|(place, arm)| {
            judged[..place].iter().map(|against| ArmPair::new(arm, against, limits)).collect::<Vec<_>>()
        });
        with_baseline.chain(others).collect()
    }
}

/// Compares the arms of one or more questions with each other. All pairs of judged arms of all questions are one family.
pub fn compare(mut questions: Vec<ArmComparison>, limits: Limits) -> Vec<ArmComparison> {
    let pairs: Vec<Vec<ArmPair>> = questions.iter().map(|question| question.pairs(limits)).collect();
    let tested = pairs.iter().flatten().filter(|pair| pair.obstacle.is_none());
    let members: Vec<Vec<Option<f64>>> = tested.map(|pair| pair.log_ratios.clone()).collect();
    let family = Family::new(&members);
    let critical = (!members.is_empty()).then_some(family.critical);
    let mut adjusted = family.p.into_iter();
    for (question, pairs) in questions.iter_mut().zip(pairs) {
        let quantity = Quantity::of(question.metric);
        let judge = Judge { quantity, critical, band: question.log_band(), limits };
        let comparisons = pairs.iter().map(|pair| {
            let p = if pair.obstacle.is_none() { adjusted.next() } else { None };
            judge.compare(pair, p)
        });
        question.comparisons = comparisons.collect();
    }
    questions
}

/// The mean time of the mix with a strategy divided by that with another, with an interval for this pair alone: a description,
/// which no test belongs to. `None` when they have no round in common.
pub fn described_ratio(record: &RunRecord, strategy: usize, against: usize) -> Option<Ratio> {
    let [against, arm] = [against, strategy].map(|place| ArmTimes::of(record, place, None));
    let arms = vec![against, ArmTimes { role: Role::Described, ..arm }];
    let question = ArmComparison::new(Metric::MEAN, None, arms);
    compare(vec![question], Limits::of(&record.settings)).first()?.with_baseline(strategy)?.ratio
}

/// What keeps two arms from being compared at all.
pub(crate) fn obstacle(arm: &ArmTimes, against: &ArmTimes, limits: Limits) -> Option<Reason> {
    if let Some(reason) = arm.obstacle(limits).or_else(|| against.obstacle(limits)) {
        return Some(reason);
    }
    let mut rounds = arm.alone.iter().zip(&against.alone);
    rounds.find_map(|(mine, theirs)| match (mine, theirs) {
        (None, Some(_)) => Some(Reason::NoSuccess { strategy: arm.strategy }),
        (Some(_), None) => Some(Reason::NoSuccess { strategy: against.strategy }),
        (None, None) | (Some(_), Some(_)) => None,
    })
}

/// Two arms to compare.
struct ArmPair {
    strategy: usize,
    against: usize,
    log_ratios: Vec<Option<f64>>,
    /// Why they are not tested; `None` for a member of the family.
    obstacle: Option<Reason>,
}

impl ArmPair {
    fn new(arm: &ArmTimes, against: &ArmTimes, limits: Limits) -> ArmPair {
        // The repeat shows how far apart two arms of one strategy are.
        let log_ratios = if arm.role == Role::Repeat {
            log_ratios(&arm.alone, &against.alone)
        } else {
            log_ratios(&arm.series.rounds, &against.series.rounds)
        };
        let rounds = log_ratios.iter().flatten().count();
        let obstacle = obstacle(arm, against, limits)
            .or((arm.role != Role::Judged).then_some(Reason::NotJudged))
            .or((rounds < MINIMUM_ROUNDS).then_some(Reason::TooFewRounds(rounds)));
        ArmPair { strategy: arm.strategy, against: against.strategy, log_ratios, obstacle }
    }
}

/// What the comparisons of a question are judged by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judge {
    pub(crate) quantity: Quantity,
    /// That of the family; `None` where nothing is tested.
    pub(crate) critical: Option<f64>,
    /// [`ArmComparison::band`], as a logarithm.
    pub(crate) band: Option<f64>,
    pub(crate) limits: Limits,
}

impl Judge {
    fn compare(&self, pair: &ArmPair, p: Option<f64>) -> Comparison {
        let estimate = Estimate::of(&pair.log_ratios);
        let ratio = estimate.map(|estimate| Ratio {
            mean: estimate.ratio(),
            interval: self.interval(&estimate),
            rounds: estimate.rounds,
        });
        let verdict = match (pair.obstacle, estimate.zip(p)) {
            (Some(reason), _) => Verdict::Inconclusive(reason),
            (None, Some((estimate, p))) => self.verdict(&estimate, p < SIGNIFICANCE),
            (None, None) => Verdict::Inconclusive(Reason::TooFewRounds(0)),
        };
        let mde = p.and(estimate).map(|estimate| self.mde(&estimate));
        Comparison { strategy: pair.strategy, against: pair.against, ratio, p, mde, verdict }
    }

    /// The 95 % CI of a ratio; `None` with too few rounds.
    pub(crate) fn interval(&self, estimate: &Estimate) -> Option<ConfidenceInterval> {
        estimate.interval(self.critical_for(estimate)).filter(|_| estimate.rounds >= MINIMUM_ROUNDS)
    }

    /// How many standard errors the ends of an interval are away. An arm outside the verdict has
    /// Student's: its interval is not simultaneous.
    fn critical_for(&self, estimate: &Estimate) -> f64 {
        self.critical.unwrap_or_else(|| t_quantile(0.975, estimate.rounds.saturating_sub(1).max(1)))
    }

    /// What a mean log ratio must exceed to be reported: the whole interval lies beyond the noise floor, and the mean
    /// beyond the band of the repeat. Logarithms, so that "a is faster than b" and "b is slower than a" are the same claim.
    fn hurdle(&self, estimate: &Estimate) -> f64 {
        (estimate.half_width(self.critical_for(estimate)) + self.limits.floor()).max(self.band.unwrap_or(0.0))
    }

    fn mde(&self, estimate: &Estimate) -> f64 {
        let (critical, band) = (self.critical_for(estimate), self.band.unwrap_or(0.0));
        estimate.detectable(critical, self.limits.floor(), band).exp_m1()
    }

    /// The verdict on a comparison that has an interval, and whether a test rejects equality.
    pub(crate) fn verdict(&self, estimate: &Estimate, is_significant: bool) -> Verdict {
        let (distance, reach) = (estimate.mean.abs(), estimate.half_width(self.critical_for(estimate)));
        // The step-down finds a little more than the simultaneous interval; a difference whose interval contains 1 is not
        // reported.
        let is_found = is_significant && distance > reach;
        let mde = self.mde(estimate);
        if is_found && distance > self.hurdle(estimate) {
            let is_less = estimate.mean < 0.0;
            if is_less == (self.quantity == Quantity::Time) { Verdict::Faster } else { Verdict::Slower }
        } else if distance + reach <= self.limits.floor() {
            Verdict::Same { within: self.limits.floor().exp_m1() }
        } else if mde > UNSTABLE && !is_found {
            Verdict::Inconclusive(Reason::Unstable { mde })
        } else {
            Verdict::NoDifference { within_noise: is_found, mde }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn arm(strategy: usize, means: &[f64]) -> ArmTimes {
        with_rounds(strategy, means.iter().copied().map(Some).collect())
    }

    fn with_rounds(strategy: usize, rounds: Vec<Option<f64>>) -> ArmTimes {
        ArmTimes::sample(strategy, Role::Judged, rounds)
    }

    /// The same arm without a number in one round.
    fn without(arm: ArmTimes, round: usize) -> ArmTimes {
        let mut rounds = arm.alone.clone();
        rounds[round] = None;
        ArmTimes { role: arm.role, ..with_rounds(arm.strategy, rounds) }
    }

    fn within(arms: Vec<ArmTimes>, limits: Limits) -> ArmComparison {
        compare(vec![ArmComparison::new(Metric::MEAN, None, arms)], limits).remove(0)
    }

    fn compared(arms: Vec<ArmTimes>) -> ArmComparison {
        within(arms, Limits::default())
    }

    /// An arm against a baseline.
    fn two(against: ArmTimes, arm: ArmTimes) -> Comparison {
        compared(vec![against, arm]).comparisons.remove(0)
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
        assert_eq!(made.verdict, Verdict::Inconclusive(Reason::TooFewRounds(5)));
        assert_eq!((made.ratio.unwrap().mean, made.ratio.unwrap().interval), (0.5, None));
        let made = two(arm(0, &[2.0]), arm(1, &[1.0]));
        assert_eq!((made.verdict, made.ratio.unwrap().rounds), (Verdict::Inconclusive(Reason::TooFewRounds(1)), 1));
        assert_eq!(two(arm(0, &[]), arm(1, &[])).verdict, Verdict::Inconclusive(Reason::TooFewRounds(0)));
    }

    #[test]
    fn interval_and_mde_by_hand() {
        // ln ratios 0.1 to 0.6 in six rounds: mean 0.35, s = 0.18708, standard error 0.076376. Centred, they are -0.25 to
        // 0.25 in steps of 0.1, with squares of 0.175. The greatest of the 32 |t| is that with the three of one sign flipped
        // (sum 0.9): with one more as great, p would be 2 / 32.
        let logs = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
        let made = two(arm(0, &[1.0; 6]), arm(1, &logs.map(f64::exp)));
        let t = |sum: f64| sum / 6.0 / ((0.175 - sum * sum / 6.0) / 5.0 / 6.0).sqrt();
        assert_eq!((made.verdict, made.p), (Verdict::Slower, Some(1.0 / 32.0)));
        let interval = made.ratio.unwrap().interval.unwrap();
        assert!((interval.low.ln() - (0.35 - t(0.9) * 0.076_376)).abs() < 1e-5, "{interval:?} {}", t(0.9));
        assert!((interval.high.ln() - (0.35 + t(0.9) * 0.076_376)).abs() < 1e-5);
        // The least that is found in 80 % of the runs.
        let estimate = Estimate::of(&logs.map(Some)).unwrap();
        let expected = estimate.detectable(t(0.9), 1.02_f64.ln(), 0.0).exp_m1();
        assert!((made.mde.unwrap() - expected).abs() < 1e-4, "{made:?} {expected}");
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
            matches!(two(arm(0, &[1.0; 8]), arm(1, &wild)).verdict, Verdict::Inconclusive(Reason::Unstable { mde }) if mde > 0.5)
        );
        // Centred, each of these is two values, so that a pattern of signs makes its rounds agree: no bound is finite.
        let halves = |low: [usize; 3]| {
            arm(1, &std::array::from_fn::<f64, 6, _>(|round| if low.contains(&round) { 0.9 } else { 1.2 }))
        };
        let made = compared(vec![arm(0, &[1.0; 6]), halves([0, 1, 2]), halves([0, 2, 4]), halves([1, 2, 5])]);
        let one = &made.comparisons[0];
        assert!(matches!(one.verdict, Verdict::Inconclusive(Reason::Unstable { mde }) if mde.is_infinite()), "{one:?}");
        assert!(one.ratio.unwrap().interval.is_none());
    }

    #[test]
    fn an_interval_within_the_floor_is_the_same() {
        let steady = [1.001, 0.999, 1.0, 1.002, 0.998, 1.001, 1.0, 0.999];
        let made = two(arm(0, &[1.0; 8]), arm(1, &steady));
        assert!(matches!(made.verdict, Verdict::Same { within } if (within - 0.02).abs() < 1e-9), "{made:?}");
        // Certainly slower, by 1.5 %: too little to matter.
        let made = two(arm(0, &[1.0; 8]), arm(1, &steady.map(|mean| mean * 1.015)));
        assert!(matches!(made.verdict, Verdict::Same { .. }) && made.p.unwrap() < SIGNIFICANCE, "{made:?}");
        // A difference of 2.05 % whose interval reaches into the floor.
        let made = two(arm(0, &[1.0; 8]), arm(1, &steady.map(|mean| mean * 1.0205)));
        assert!(matches!(made.verdict, Verdict::NoDifference { within_noise: true, .. }), "{made:?}");
    }

    #[test]
    fn all_pairs_of_judged_arms_are_one_family() {
        let arms = vec![arm(0, &[4.0; 8]), arm(1, &[2.0; 8]), arm(2, &[1.0; 8])];
        let described = ArmTimes { role: Role::Described, ..arm(3, &[1.0; 8]) };
        let made = compared(arms.into_iter().chain([described]).collect());
        assert_eq!((made.comparisons.len(), made.tested().count()), (4, 3));
        let (one, turned) = (made.pair(2, 1).unwrap(), made.pair(1, 2).unwrap());
        assert_eq!((one.verdict, turned.verdict), (Verdict::Faster, Verdict::Slower));
        assert_eq!((one.ratio.unwrap().mean, turned.ratio.unwrap().mean), (0.5, 2.0));
        assert_eq!((turned.strategy, turned.against, turned.p), (1, 2, one.p));
        assert_eq!((made.pair(3, 1), made.with_baseline(0)), (None, None));
        assert_eq!(made.pair(2, 0).as_ref(), made.with_baseline(2));
    }

    #[test]
    fn more_calls_per_second_are_faster() {
        let arms = vec![arm(0, &[1.0; 8]), arm(1, &[2.0; 8])];
        let question = ArmComparison::new(Metric::Throughput, None, arms);
        let made = compare(vec![question], Limits::default()).remove(0);
        assert_eq!(made.with_baseline(1).unwrap().verdict, Verdict::Faster);
    }

    #[test]
    fn small_differences_are_noise() {
        let verdict = |mean: f64| two(arm(0, &[100.0; 8]), arm(1, &[mean; 8])).verdict;
        for within in [98.1, 101.9] {
            assert!(matches!(verdict(within), Verdict::Same { within } if (within - 0.02).abs() < 1e-9));
        }
        assert_eq!((verdict(97.9), verdict(102.1)), (Verdict::Faster, Verdict::Slower));
    }

    #[test]
    fn the_repeat_widens_the_noise_and_is_not_judged() {
        let with = |repeat: ArmTimes| {
            // Of the baseline, both arms are compared.
            let both = repeat.alone.iter().map(|again| again.map(|again| (100.0 * again).sqrt())).collect();
            let baseline = ArmTimes { series: with_rounds(0, both).series, ..arm(0, &[100.0; 8]) };
            let made = compared(vec![baseline, arm(1, &[108.0; 8]), repeat]);
            (made.log_band().unwrap(), made.with_baseline(1).unwrap().clone(), made.with_baseline(9).unwrap().clone())
        };
        let (narrow, made, again) = with(repeat(&[101.0; 8]));
        assert!((narrow.exp() - 1.01).abs() < 1e-9);
        assert_eq!(
            (made.verdict, again.verdict, again.p),
            (Verdict::Slower, Verdict::Inconclusive(Reason::NotJudged), None)
        );
        let (wide, made, _) = with(repeat(&[106.0; 8]));
        assert!((wide.exp() - 1.06).abs() < 1e-9);
        assert!(
            matches!(made.verdict, Verdict::NoDifference { within_noise: true, mde } if (mde - 0.06).abs() < 1e-9),
            "{made:?}"
        );
        let band = |arms: Vec<ArmTimes>| compared(arms).log_band();
        assert_eq!(
            (band(vec![arm(0, &[1.0; 8]), arm(1, &[1.0; 8])]), band(vec![arm(0, &[1.0]), repeat(&[1.0])])),
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
        assert_eq!((found.p, found.verdict), (None, Verdict::Inconclusive(Reason::NotJudged)));
    }

    #[test]
    fn arms_that_are_not_judged_change_no_verdict() {
        let noisy = [1.0, 1.1, 0.95, 1.05, 0.9, 1.02, 0.97, 1.2];
        let alone = two(arm(0, &[1.0; 8]), arm(1, &noisy));
        let described = ArmTimes { role: Role::Described, ..arm(2, &[3.0; 8]) };
        let made = compared(vec![arm(0, &[1.0; 8]), described, arm(1, &noisy)]);
        let (one, other) = (made.with_baseline(1).unwrap(), made.with_baseline(2).unwrap());
        assert_eq!((one, other.verdict), (&alone, Verdict::Inconclusive(Reason::NotJudged)));
        assert!(other.ratio.unwrap().interval.is_some());
    }

    #[test]
    fn failures_and_missing_successes_are_inconclusive() {
        let failing = ArmTimes { failed_share: 0.011, ..arm(1, &[1.0; 6]) };
        let made = two(arm(0, &[2.0; 6]), failing);
        assert_eq!(made.verdict, Verdict::Inconclusive(Reason::Failures { strategy: 1, share: 0.011 }));
        let mut gap = arm(1, &[1.0; 7]);
        gap = without(gap, 3);
        assert_eq!(
            two(gap.clone(), arm(0, &[2.0; 7])).verdict,
            Verdict::Inconclusive(Reason::NoSuccess { strategy: 1 })
        );
        let made = two(arm(0, &[2.0; 7]), gap);
        assert_eq!(
            (made.verdict, made.ratio.unwrap().rounds),
            (Verdict::Inconclusive(Reason::NoSuccess { strategy: 1 }), 6)
        );
    }

    #[test]
    fn limits_of_the_run_decide() {
        let with = |limits: Limits, share: f64| {
            let slower = ArmTimes { failed_share: share, ..arm(1, &[104.0; 8]) };
            within(vec![arm(0, &[100.0; 8]), slower], limits).comparisons[0].verdict
        };
        let limits = Limits { noise: 0.05, error_budget: 0.1 };
        assert_eq!(
            (with(Limits::default(), 0.0), with(limits, 0.0)),
            (Verdict::Slower, Verdict::Same { within: 0.05_f64.ln_1p().exp_m1() })
        );
        let limits = Limits { noise: 0.0, ..limits };
        assert_eq!(
            (with(limits, 0.1), with(limits, 0.11)),
            (Verdict::Slower, Verdict::Inconclusive(Reason::Failures { strategy: 1, share: 0.11 }))
        );
        assert_eq!(Limits { noise: f64::NAN, ..limits }.floor(), 0.0);
    }

    #[test]
    fn overloaded_arms_are_not_compared() {
        let slow = ArmTimes { overloaded: Some(0.9), ..arm(1, &[9.0; 6]) };
        let overloaded = Verdict::Inconclusive(Reason::Overloaded { strategy: 1, achieved: 0.9 });
        let made = compared(vec![arm(0, &[2.0; 6]), slow.clone(), arm(2, &[1.0; 6])]);
        let verdict = |strategy| made.with_baseline(strategy).unwrap().verdict;
        assert_eq!((verdict(1), verdict(2), made.tested().count()), (overloaded, Verdict::Faster, 1));
        let made = compared(vec![slow, arm(0, &[2.0; 6]), arm(2, &[1.0; 6])]);
        let verdict = |strategy| made.with_baseline(strategy).unwrap().verdict;
        assert_eq!((verdict(0), verdict(2)), (overloaded, overloaded));
    }

    #[test]
    fn rounds_without_times_are_left_out() {
        let (mut a, mut b) = (arm(0, &[1.0; 7]), arm(1, &[3.0; 7]));
        (a, b) = (without(a, 0), without(b, 0));
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
                Verdict::Inconclusive(Reason::Unstable { mde: a }),
                Verdict::Inconclusive(Reason::Unstable { mde: b }),
            ) => a == b || close(a, b),
            (
                Verdict::NoDifference { within_noise: one, mde: a },
                Verdict::NoDifference { within_noise: other, mde: b },
            ) => one == other && close(a, b),
            _ => a == b,
        }
    }

    proptest! {
        #[test]
        fn identical_arms_have_ratio_one_and_no_difference(times in times()) {
            let (a, _) = arms(&times);
            let made = two(a.clone(), ArmTimes { strategy: 1, ..a });
            prop_assert_eq!((made.ratio.unwrap().mean, made.p), (1.0, (times.len() >= MINIMUM_ROUNDS).then_some(1.0)));
            prop_assert!(!matches!(made.verdict, Verdict::Faster | Verdict::Slower));
        }

        #[test]
        fn units_do_not_matter_and_scaling_one_arm_scales_the_ratio(times in times(), factor in 0.01_f64..100.0) {
            let (a, b) = arms(&times);
            let scaled: Vec<(f64, f64)> = times.iter().map(|(a, b)| (a * factor, b * factor)).collect();
            let (c, d) = arms(&scaled);
            let (plain, both) = (two(a.clone(), b), two(c, d.clone()));
            prop_assert!(close(plain.ratio.unwrap().mean, both.ratio.unwrap().mean));
            prop_assert!(alike(plain.verdict, both.verdict), "{plain:?} {both:?}");
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
