//! The sentences of a verdict, winner first; no other file of the report makes sentences of comparisons.

use crate::results::{LoadModel, Preset, RunRecord, RunSettings, Status, in_percent};
use crate::stats::{
    Comparison, HeadToHead, InconclusiveReason, MINIMUM_ROUNDS, OutcomeTotals, Ranking, Ratio, Role, SIGNIFICANCE,
    Verdict,
};

use super::arm_comparison::ArmComparison;
use super::evaluation::StrategyResults;
use super::format::{count, counted, interval, listed, percent, plain, three};
use super::validity::overload;

/// Larger effects are as good as undetectable (10.0 for 1,000 %).
const LARGEST_EFFECT: f64 = 10.0;

/// Writes sentences about strategies by their names.
#[derive(Debug, Clone, Copy)]
pub(super) struct VerdictText<'n> {
    /// The strategies, in the run's order.
    pub(super) strategies: &'n [StrategyResults],
}

impl VerdictText<'_> {
    fn name(&self, strategy: usize) -> &str {
        self.strategies.get(strategy).map_or("?", |strategy| &strategy.name)
    }

    /// The sentences about the mix: the fastest strategy, and how the others compare.
    pub(super) fn overall(&self, ranking: &Ranking) -> Vec<String> {
        if !has_difference(ranking) {
            return vec![match self.common_reason(ranking) {
                Some((reason, text)) if is_finding(reason) => format!("{}.", capitalised(&text)),
                Some((_, text)) => format!("No verdict: {text}."),
                None => format!("No difference is reported: {}.", self.list(ranking)),
            }];
        }
        let mut sentences = match (ranking.is_clear(), self.others(ranking)) {
            (false, _) => vec![format!("{}.", self.differences(in_order(ranking), ranking))],
            // The baseline wins: each other strategy has its difference.
            (true, None) => {
                let others = self.differences(in_order(ranking), ranking);
                vec![format!("{} is fastest: {others}.", self.name(ranking.best))]
            }
            (true, Some((best, others))) => {
                let difference =
                    best.ratio.map_or_else(String::new, |ratio| difference(&ratio, Some(self.baseline(ranking)), true));
                let mut sentences = vec![format!("{} is fastest: {difference}.", self.name(ranking.best))];
                let others = self.differences(others, ranking);
                sentences.extend((!others.is_empty()).then(|| format!("{others}.")));
                sentences
            }
        };
        sentences.extend(self.rounds_won(ranking));
        let unclaimed = in_order(ranking).into_iter().filter_map(reason_of);
        sentences.extend(unclaimed.map(|(strategy, reason)| {
            format!("{} against {}: {}.", self.name(strategy), self.baseline(ranking), self.without_difference(reason))
        }));
        sentences
    }

    fn baseline(&self, ranking: &Ranking) -> &str {
        self.name(ranking.baseline)
    }

    /// The winner's comparison with the baseline and the others; `None` when the baseline wins.
    fn others<'v>(&self, ranking: &'v Ranking) -> Option<(&'v Comparison, Vec<&'v Comparison>)> {
        let (best, others): (Vec<_>, Vec<_>) =
            in_order(ranking).into_iter().partition(|comparison| comparison.strategy == ranking.best);
        Some((*best.first()?, others))
    }

    /// The result for one operation.
    pub(super) fn operation(&self, ranking: &Ranking) -> String {
        match self.common_reason(ranking) {
            Some((reason, text)) if is_finding(reason) => text,
            Some((_, text)) => format!("no verdict: {text}"),
            None => self.list(ranking),
        }
    }

    /// The differences, and for the other strategies the reason why none is reported.
    fn list(&self, ranking: &Ranking) -> String {
        let differences = Some(self.differences(in_order(ranking), ranking)).filter(|text| !text.is_empty());
        let reasons = in_order(ranking).into_iter().filter_map(reason_of);
        let reasons =
            reasons.map(|(strategy, reason)| format!("{}: {}", self.name(strategy), self.without_difference(reason)));
        differences.into_iter().chain(reasons).collect::<Vec<_>>().join("; ")
    }

    /// The reason why no difference is reported, when it is the same for all strategies.
    fn common_reason(&self, ranking: &Ranking) -> Option<(Verdict, String)> {
        let reason = |one| reason_of(one).map(|(_, reason)| reason);
        let reasons: Vec<Verdict> = ranking.against_baseline.iter().map(reason).collect::<Option<_>>()?;
        let texts = reasons.iter().map(|reason| self.without_difference(*reason)).collect::<Vec<_>>();
        let (first, rest) = texts.split_first()?;
        rest.iter().all(|other| other == first).then(|| (reasons[0], first.clone()))
    }

    /// The reported differences from the baseline in this order, which is named once; empty without any.
    fn differences(&self, order: Vec<&Comparison>, ranking: &Ranking) -> String {
        let mut texts: Vec<String> = Vec::new();
        for comparison in order.into_iter().filter(|comparison| reason_of(comparison).is_none()) {
            let Some(ratio) = comparison.ratio else { continue };
            let than = texts.is_empty().then(|| self.baseline(ranking));
            texts.push(format!("{} is {}", self.name(comparison.strategy), difference(&ratio, than, texts.is_empty())));
        }
        listed(&texts)
    }

    /// In how many rounds the fastest strategy beat others than the baseline: a description.
    fn rounds_won(&self, ranking: &Ranking) -> Option<String> {
        let rounds = |other: &HeadToHead| {
            let rounds = counted(other.rounds as u64, "round");
            format!("{} in {} of {rounds}", self.name(other.strategy), other.wins)
        };
        let won: Vec<String> = ranking.head_to_head.iter().filter(|other| other.rounds > 0).map(rounds).collect();
        (!won.is_empty()).then(|| format!("{} beat {}.", self.name(ranking.best), listed(&won)))
    }

    fn without_difference(&self, verdict: Verdict) -> String {
        match verdict {
            Verdict::Faster | Verdict::Slower => String::new(),
            Verdict::NoDifference { within_noise: false, mde } => format!("no difference {}", least_effect(mde)),
            Verdict::NoDifference { within_noise: true, mde } => {
                format!("no difference beyond noise {}", least_effect(mde))
            }
            Verdict::Inconclusive(reason) => self.reason(reason),
        }
    }

    /// Why a comparison is inconclusive.
    pub(super) fn reason(&self, reason: InconclusiveReason) -> String {
        let unstable = "inconclusive, as rounds differ too much";
        match reason {
            InconclusiveReason::NotJudged => "not judged".into(),
            InconclusiveReason::Failures { strategy, share } => {
                format!("{} failed in {} of its calls", self.name(strategy), percent(share))
            }
            InconclusiveReason::Overloaded { strategy, achieved } => overload(self.name(strategy), achieved),
            InconclusiveReason::NoSuccess { strategy } => {
                format!("{} had a round without a successful call", self.name(strategy))
            }
            InconclusiveReason::TooFewRounds(rounds) => {
                format!("{MINIMUM_ROUNDS} rounds are required, and this run has {rounds}")
            }
            InconclusiveReason::Unstable { mde } if mde.is_finite() && mde < LARGEST_EFFECT => {
                format!("{unstable} {}; use a longer preset", least_effect(mde))
            }
            InconclusiveReason::Unstable { .. } => format!("{unstable}; use a longer preset"),
        }
    }
}

fn least_effect(mde: f64) -> String {
    format!("(minimum detectable effect {})", percent(mde))
}

/// The minimum detectable effect as a table shows it.
pub(super) fn effect(mde: f64) -> String {
    if mde < LARGEST_EFFECT { percent(mde) } else { "> 1,000 %".into() }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Whether any difference from the baseline is reported.
pub(super) fn has_difference(ranking: &Ranking) -> bool {
    ranking.against_baseline.iter().any(|comparison| reason_of(comparison).is_none())
}

/// The strategy of a comparison without a difference, and why there is none.
fn reason_of(comparison: &Comparison) -> Option<(usize, Verdict)> {
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => None,
        Verdict::NoDifference { .. } | Verdict::Inconclusive(_) => Some((comparison.strategy, comparison.verdict)),
    }
}

/// Whether a reason is a result, rather than something that prevented one.
fn is_finding(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::NoDifference { .. } | Verdict::Inconclusive(InconclusiveReason::Unstable { .. }))
}

/// The comparisons with the baseline, the fastest first.
fn in_order(ranking: &Ranking) -> Vec<&Comparison> {
    let mut order: Vec<&Comparison> = ranking.against_baseline.iter().collect();
    let mean = |comparison: &Comparison| comparison.ratio.map_or(f64::INFINITY, |ratio| ratio.mean);
    order.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
    order
}

/// A difference in a sentence: `2.1x faster than embedded (95 % CI 1.97-2.19)`.
pub(super) fn difference(ratio: &Ratio, baseline: Option<&str>, names_interval: bool) -> String {
    let Brief { factor, interval } = brief(ratio);
    let than = baseline.map_or_else(String::new, |baseline| format!(" than {baseline}"));
    let level = if names_interval { "95 % CI " } else { "" };
    let interval = interval.map_or_else(String::new, |interval| format!(" ({level}{interval})"));
    format!("{factor}{than}{interval}")
}

/// A difference in as few words as a cell of a table has room for.
#[derive(Debug)]
pub(super) struct Brief {
    /// How many times faster or slower.
    pub(super) factor: String,
    /// The interval of that factor.
    pub(super) interval: Option<String>,
}

/// A ratio as a factor above 1.
pub(super) fn brief(ratio: &Ratio) -> Brief {
    if ratio.mean < 1.0 {
        Brief {
            factor: format!("{}x faster", three(ratio.mean.recip())),
            interval: ratio.interval.map(|one| interval(one.high.recip(), one.low.recip())),
        }
    } else {
        Brief {
            factor: format!("{}x slower", three(ratio.mean)),
            interval: ratio.interval.map(|one| interval(one.low, one.high)),
        }
    }
}

/// When a difference is reported.
pub(super) fn criteria(record: &RunRecord, comparisons: &[ArmComparison], strategies: &[StrategyResults]) -> String {
    let tested = comparisons.iter().filter(|one| one.operation.is_some()).map(ArmComparison::judged).sum::<usize>();
    let floor = in_percent(record.settings.noise);
    let tested = counted(tested as u64, "comparison");
    let criteria = format!(
        "A difference is reported only if its adjusted p-value is below {SIGNIFICANCE} (sign-flip test over rounds, \
         {tested} of operations; the mix is corrected separately), its 95 % CI excludes 1, and it exceeds the noise floor \
         ({floor} %)"
    );
    let repeat = comparisons.iter().flat_map(|one| &one.arms).find(|arm| arm.role == Role::Repeat);
    match repeat.and_then(|arm| strategies.get(arm.strategy)) {
        None => format!("{criteria}. This run has no repeat of the baseline, which would show larger noise."),
        Some(repeat) => {
            let mix = comparisons.iter().find(|one| one.operation.is_none()).and_then(ArmComparison::band);
            let mix = mix.map_or_else(String::new, |band| format!(": {} for the mix", percent(band)));
            format!("{criteria} and the noise that {} shows{mix}.", repeat.name)
        }
    }
}

/// The load for which a verdict is valid.
pub(super) fn load(settings: &RunSettings) -> String {
    match settings.load {
        LoadModel::Closed => counted(settings.clients as u64, "client"),
        LoadModel::Open { rate, .. } => format!("{} calls per second", three(rate)),
    }
}

/// The minimum detectable effects; `None` without comparisons.
pub(super) fn sensitivity(comparisons: &[ArmComparison]) -> Option<String> {
    let of = |is_mix: bool| {
        let family = comparisons.iter().filter(move |one| one.operation.is_none() == is_mix);
        let mut found: Vec<f64> = family.flat_map(ArmComparison::mde).filter(|least| least.is_finite()).collect();
        found.sort_by(f64::total_cmp);
        Some((*found.first()?, *found.last()?))
    };
    let range = |(low, high): (f64, f64)| {
        if percent(low) == percent(high) {
            percent(low)
        } else {
            format!("{} to {}", percent(low).trim_end_matches(" %"), percent(high))
        }
    };
    let (mix, operations) = (range(of(true)?), range(of(false)?));
    Some(format!("Minimum detectable effect (80 % power): {mix} for the mix, {operations} for operations."))
}

/// Why a run has no verdict at all.
pub(super) fn no_verdict(record: &RunRecord, strategies: &[StrategyResults], is_invalid: bool) -> Option<String> {
    if record.rounds.is_empty() {
        return Some("No verdict: no round is complete.".into());
    }
    if is_invalid {
        return Some("No verdict: the run is invalid.".into());
    }
    if record.settings.preset == Preset::Smoke {
        let rounds = counted(record.rounds.len() as u64, "round");
        return Some(format!("No verdict: {rounds}. The preset smoke only checks that everything runs."));
    }
    match strategies.iter().filter(|strategy| !strategy.is_unsafe && !strategy.is_repeat).count() {
        0 => Some("No verdict: all strategies are unsafe.".into()),
        1 => Some("No verdict: a comparison requires two strategies.".into()),
        _ => strategies.first().filter(|baseline| baseline.is_unsafe).map(|baseline| {
            format!("No verdict: {} is the baseline, and unsafe; name a safe strategy first.", baseline.name)
        }),
    }
}

/// What to know first of a run that did not complete.
pub(super) fn incomplete(record: &RunRecord) -> Option<String> {
    let rounds = match (record.rounds.len() as u64, record.settings.rounds) {
        (0, _) => "no round is complete".to_owned(),
        (done, asked) => {
            format!("{} of {} complete; every number is about those", count(done), counted(asked, "round"))
        }
    };
    match &record.status {
        Status::Complete if record.rounds.is_empty() => Some(format!("This run measured nothing: {rounds}.")),
        Status::Complete => None,
        Status::Unfinished => Some(format!("This run is still in progress, or was killed: {rounds}.")),
        Status::Interrupted => Some(format!("This run was interrupted: {rounds}.")),
        Status::Failed(reason) => Some(format!("This run failed ({}): {rounds}.", plain(reason).trim_end_matches('.'))),
    }
}

/// The shares of the calls that the application rejected; `None` if it rejected none.
pub(super) fn rejections(strategies: &[StrategyResults]) -> Option<String> {
    let shares = || {
        let share = |totals: &OutcomeTotals| percent(totals.rejected() as f64 / totals.calls.max(1) as f64);
        let strategies = strategies.iter().filter(|strategy| !strategy.is_repeat);
        strategies.map(move |strategy| (&strategy.name, strategy.totals.rejected(), share(&strategy.totals)))
    };
    let (_, _, first) = shares().find(|(_, rejected, _)| *rejected > 0)?;
    let rejected = if shares().all(|(_, _, share)| share == first) {
        format!("{first} of the calls in every strategy")
    } else {
        let rejecting = shares().filter(|(_, rejected, _)| *rejected > 0);
        listed(&rejecting.map(|(name, _, share)| format!("{share} of the calls with {name}")).collect::<Vec<_>>())
    };
    Some(format!("The application rejected {rejected}; times are those of accepted calls."))
}
