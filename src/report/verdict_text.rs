//! The sentences of a verdict, winner first; no other file of the report makes sentences of comparisons.

use crate::results::{LoadModel, Preset, RunRecord, RunSettings, SkippedStrategy, Status, in_percent};
use crate::stats::{
    Comparison, ConfidenceInterval, DIRTY_SHARE, InconclusiveReason, MINIMUM_ROUNDS, OutcomeTotals, Quantity, Ranking,
    Ratio, Role, SIGNIFICANCE, Verdict,
};

use super::arm_comparison::{ArmComparison, ComparisonFamily};
use super::evaluation::StrategyResults;
use super::format::{bytes, count, counted, interval, listed, percent, plain, three, time};
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
        if !has_difference(ranking) && !ranking.best_against.iter().any(is_difference) {
            return vec![match self.common_reason(ranking) {
                Some((Verdict::Same { within }, _)) => self.same(ranking, within),
                Some((reason, text)) if is_finding(reason) => format!("{}.", capitalised(&text)),
                Some((_, text)) => format!("No verdict: {text}."),
                None => format!("No difference is reported: {}.", self.list(ranking)),
            }];
        }
        let (is_clear, is_baseline) = (ranking.is_clear(), ranking.best == ranking.baseline);
        let wins = self.wins(ranking, is_clear);
        let differences = in_order(ranking).into_iter().filter(|one| !(is_clear && one.strategy == ranking.best));
        let differences = self.differences(differences.collect(), ranking);
        let differences = (!differences.is_empty()).then(|| format!("{differences}."));
        let (best, words) = (self.name(ranking.best), words(ranking.quantity));
        let mut sentences = match (is_clear, is_baseline) {
            // The baseline wins: each other strategy has its difference.
            (true, true) => vec![format!("{best} {}: {wins}.", words.best)],
            (true, false) => vec![format!("{best} {}: {wins}.", words.best)].into_iter().chain(differences).collect(),
            (false, _) => {
                let wins = (!wins.is_empty() && !is_baseline).then(|| format!("{best} {} {wins}.", words.verb));
                differences.into_iter().chain(wins).collect::<Vec<_>>()
            }
        };
        let others = ranking.best_against.iter().filter(|one| !is_baseline && one.against != ranking.baseline);
        sentences.extend(self.undecided(others.chain(in_order(ranking))));
        sentences
    }

    /// A sentence per other strategy and reason why no difference from it is reported.
    fn undecided<'c>(&self, comparisons: impl Iterator<Item = &'c Comparison>) -> Vec<String> {
        let mut found: Vec<(usize, String, Vec<String>)> = Vec::new();
        for one in comparisons.filter(|one| !is_difference(one)) {
            let (name, reason) = (self.name(one.strategy).to_owned(), self.without_difference(one.verdict));
            match found.iter_mut().find(|(against, other, _)| *against == one.against && *other == reason) {
                Some((_, _, names)) => names.push(name),
                None => found.push((one.against, reason, vec![name])),
            }
        }
        let sentence = |(against, reason, names): (usize, String, Vec<String>)| {
            format!("{} against {}: {reason}.", listed(&names), self.name(against))
        };
        found.into_iter().map(sentence).collect()
    }

    fn baseline(&self, ranking: &Ranking) -> &str {
        self.name(ranking.baseline)
    }

    /// How far the best strategy is ahead of others: of the baseline first (unless that is in another sentence), then of the
    /// nearest.
    fn wins(&self, ranking: &Ranking, names_baseline: bool) -> String {
        let is_meant = |one: &&Comparison| is_difference(one) && (names_baseline || one.against != ranking.baseline);
        let mut won: Vec<&Comparison> = ranking.best_against.iter().filter(is_meant).collect();
        let lead = |one: &Comparison| one.ratio.map_or(f64::INFINITY, |ratio| ratio.mean.ln().abs());
        won.sort_by(|a, b| {
            let is_baseline = |one: &Comparison| one.against == ranking.baseline;
            is_baseline(b).cmp(&is_baseline(a)).then(lead(a).total_cmp(&lead(b)))
        });
        let ratios = won.iter().filter_map(|one| Some((one.ratio?, self.name(one.against)))).enumerate();
        let texts = ratios.map(|(place, (ratio, other))| difference(&ratio, ranking.quantity, Some(other), place == 0));
        listed(&texts.collect::<Vec<_>>())
    }

    /// The sentence of strategies that do not differ.
    fn same(&self, ranking: &Ranking, within: f64) -> String {
        let others = ranking.against_baseline.iter().map(|one| self.name(one.strategy).to_owned());
        let names: Vec<String> = std::iter::once(self.baseline(ranking).to_owned()).chain(others).collect();
        format!("{} {}, within {} %.", listed(&names), words(ranking.quantity).same, in_percent(within))
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
            let difference = difference(&ratio, ranking.quantity, than, texts.is_empty());
            let (name, verb) = (self.name(comparison.strategy), words(ranking.quantity).verb);
            texts.push(format!("{name} {verb} {difference}"));
        }
        listed(&texts)
    }

    fn without_difference(&self, verdict: Verdict) -> String {
        match verdict {
            Verdict::Faster | Verdict::Slower => String::new(),
            Verdict::Same { within } => format!("the same within {} %", in_percent(within)),
            Verdict::NoDifference { within_noise: false, mde } => format!("no difference found {}", least_effect(mde)),
            Verdict::NoDifference { within_noise: true, mde } => {
                format!("no difference found beyond noise {}", least_effect(mde))
            }
            Verdict::Inconclusive(reason) => self.reason(reason),
        }
    }

    /// Why a comparison is inconclusive.
    pub(super) fn reason(&self, reason: InconclusiveReason) -> String {
        let unstable = "inconclusive, as rounds differ too much";
        match reason {
            InconclusiveReason::NotJudged => "not judged".into(),
            InconclusiveReason::Identical { baseline } => {
                format!("the same commands as with {}", self.name(baseline))
            }
            InconclusiveReason::OutOfContext { strategy, alone, in_mix } => format!(
                "not in context: {} of {}'s calls did something by themselves, and {} in the mix",
                percent(alone),
                self.name(strategy),
                percent(in_mix)
            ),
            InconclusiveReason::FewInFlight { strategy, share } => {
                format!("{} kept only {} of its clients busy", self.name(strategy), percent(share))
            }
            InconclusiveReason::Failures { strategy, share } => {
                format!("{} failed in {} of its calls", self.name(strategy), percent(share))
            }
            InconclusiveReason::Overloaded { strategy, achieved } => overload(self.name(strategy), achieved),
            InconclusiveReason::NoSuccess { strategy } => {
                format!("{} had a round without a successful call", self.name(strategy))
            }
            InconclusiveReason::WriteBack { strategy, written, stored } => format!(
                "shared cache: in a round {} were written back in slices of {}, which stored {}; measure with --isolate, or \
                 with a server per strategy",
                bytes(written),
                self.name(strategy),
                bytes(stored)
            ),
            InconclusiveReason::DirtyCache { dirty, cache } => format!(
                "shared cache: a round leaves {} to write, more than {} % of the cache of {}; measure with --isolate, or with \
                 a server per strategy",
                bytes(dirty),
                in_percent(DIRTY_SHARE),
                bytes(cache)
            ),
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

pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Whether any difference from the baseline is reported.
pub(super) fn has_difference(ranking: &Ranking) -> bool {
    ranking.against_baseline.iter().any(is_difference)
}

fn is_difference(comparison: &Comparison) -> bool {
    reason_of(comparison).is_none()
}

/// The strategy of a comparison without a difference, and why there is none.
fn reason_of(comparison: &Comparison) -> Option<(usize, Verdict)> {
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => None,
        Verdict::Same { .. } | Verdict::NoDifference { .. } | Verdict::Inconclusive(_) => {
            Some((comparison.strategy, comparison.verdict))
        }
    }
}

/// Whether a reason is a result, rather than something that prevented one.
fn is_finding(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Same { .. } | Verdict::NoDifference { .. } => true,
        Verdict::Inconclusive(reason) => matches!(reason, InconclusiveReason::Unstable { .. }),
        Verdict::Faster | Verdict::Slower => false,
    }
}

/// The comparisons with the baseline, the fastest first.
fn in_order(ranking: &Ranking) -> Vec<&Comparison> {
    let mut order: Vec<&Comparison> = ranking.against_baseline.iter().collect();
    let mean = |comparison: &Comparison| {
        comparison.ratio.map_or(f64::INFINITY, |ratio| match ranking.quantity {
            Quantity::Time => ratio.mean,
            Quantity::Throughput => ratio.mean.recip(),
        })
    };
    order.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
    order
}

/// How sentences speak of a quantity.
struct Words {
    /// After the name of the best strategy.
    best: &'static str,
    /// Between a strategy and its factor.
    verb: &'static str,
    /// After the factor of the better and of the worse strategy.
    more: [&'static str; 2],
    /// What strategies do that do not differ.
    same: &'static str,
}

fn words(quantity: Quantity) -> Words {
    match quantity {
        Quantity::Time => {
            Words { best: "is fastest", verb: "is", more: ["faster", "slower"], same: "take the same time" }
        }
        Quantity::Throughput => Words {
            best: "has the highest throughput",
            verb: "makes",
            more: ["more calls/s", "fewer calls/s"],
            same: "make as many calls/s",
        },
    }
}

/// A difference in a sentence: `2.1x faster than embedded (95 % CI 1.97-2.19)`.
pub(super) fn difference(ratio: &Ratio, quantity: Quantity, than: Option<&str>, names_interval: bool) -> String {
    let Brief { factor, interval } = brief(ratio, quantity);
    let than = than.map_or_else(String::new, |than| format!(" than {than}"));
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
pub(super) fn brief(ratio: &Ratio, quantity: Quantity) -> Brief {
    let [better, worse] = words(quantity).more;
    let is_less = ratio.mean < 1.0;
    let word = if is_less == (quantity == Quantity::Time) { better } else { worse };
    let factor = if is_less { ratio.mean.recip() } else { ratio.mean };
    let bounds =
        |one: ConfidenceInterval| if is_less { [one.high.recip(), one.low.recip()] } else { [one.low, one.high] };
    let interval = ratio.interval.map(bounds).map(|[low, high]| interval(low, high));
    Brief { factor: format!("{}x {word}", three(factor)), interval }
}

/// When a difference is reported, and how often one is reported that does not exist.
pub(super) fn criteria<'f>(
    record: &RunRecord,
    families: impl Iterator<Item = &'f ComparisonFamily> + Clone,
    strategies: &[StrategyResults],
) -> String {
    let floor = in_percent(record.settings.noise);
    let tested = families.clone().map(|family| (family.tested().count(), family.name));
    let tested: Vec<String> =
        tested.filter(|(count, _)| *count > 0).map(|(tested, name)| format!("{tested} of {name}")).collect();
    let criteria = format!(
        "A difference is reported only if its adjusted p-value is below {SIGNIFICANCE} (sign-flip test over rounds)"
    );
    let questions = || families.clone().flat_map(|family| &family.questions);
    let repeat = questions().flat_map(ArmComparison::arms).find(|arm| arm.role == Role::Repeat);
    let noise = match repeat.and_then(|arm| strategies.get(arm.strategy)) {
        None => format!(
            " and its 95 % CI lies beyond the noise floor ({floor} %). This run has no repeat of the baseline, which would \
             show larger noise"
        ),
        Some(repeat) => {
            let mix = questions().filter(|one| one.operation.is_none()).find_map(ArmComparison::band);
            let mix = mix.map_or_else(String::new, |band| format!(": {} for the mix", percent(band)));
            let repeat = &repeat.name;
            format!(
                ", its 95 % CI lies beyond the noise floor ({floor} %), and it exceeds the noise that {repeat} shows{mix}"
            )
        }
    };
    let alarms = if tested.is_empty() {
        String::new()
    } else {
        let (tested, alarms) = (tested.join(", "), in_percent(SIGNIFICANCE));
        format!(" Each family of comparisons ({tested}) reports a false difference in at most {alarms} % of runs.")
    };
    format!("{criteria}{noise}.{alarms}")
}

/// The load for which a verdict is valid.
pub(super) fn load(settings: &RunSettings) -> String {
    match settings.load {
        LoadModel::Closed => counted(settings.clients as u64, "client"),
        LoadModel::Open { rate, .. } => format!("{} calls per second", three(rate)),
    }
}

/// The minimum detectable effects; `None` without comparisons.
pub(super) fn sensitivity<'f>(families: impl Iterator<Item = &'f ComparisonFamily>) -> Option<String> {
    let of = |family: &ComparisonFamily| {
        let mut found: Vec<f64> = family.tested().filter_map(|one| one.mde).filter(|mde| mde.is_finite()).collect();
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
    let found = families.filter_map(|family| Some(format!("{} for {}", range(of(family)?), family.name)));
    let found: Vec<String> = found.collect();
    (!found.is_empty()).then(|| format!("Minimum detectable effect (80 % power): {}.", found.join(", ")))
}

/// Why a run has no verdict at all.
pub(super) fn no_verdict(record: &RunRecord, strategies: &[StrategyResults], is_invalid: bool) -> Option<String> {
    if record.rounds.is_empty() {
        return Some("No verdict: no round is complete.".into());
    }
    if is_invalid {
        return Some("No verdict: the run is invalid.".into());
    }
    if let Some(fault) = record.settings.fault {
        let (what, when) = (fault.kind.label(), time(fault.after * 1e9));
        return Some(format!("No verdict: {what} {when} after the start of every window is in all times."));
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

/// The strategies that the server cannot run, a line each.
pub(super) fn skipped_lines(skipped: &[SkippedStrategy]) -> impl Iterator<Item = String> {
    skipped.iter().map(|SkippedStrategy { name, reason }| {
        let reason = plain(reason);
        format!("Skipped: {}, because this server does not know {}.", plain(name), reason.trim_end_matches('.'))
    })
}

/// What to know first of a run that did not complete.
pub(super) fn incomplete(record: &RunRecord) -> Option<String> {
    let rounds = match (record.complete_rounds() as u64, record.settings.rounds) {
        (0, _) => "no round is complete".to_owned(),
        (done, asked) => {
            format!("{} of {} complete; every number is about those", count(done), counted(asked, "round"))
        }
    };
    match &record.status {
        Status::Complete if record.complete_rounds() == 0 => Some(format!("This run measured nothing: {rounds}.")),
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
    Some(format!("The application rejected {rejected}; a rejection is an answer, and its time counts."))
}
