//! Why there is no verdict, and what a verdict requires, in sentences.

use crate::report::document::format::{bytes, count, counted, listed, percent, plain, three};
use crate::results::{LoadModel, Preset, RunRecord, RunSettings, SkippedStrategy, Status, in_percent};
use crate::stats::{
    ArmComparison, ComparisonFamily, DIRTY_SHARE, InconclusiveReason, MINIMUM_ROUNDS, OutcomeTotals, Role,
    SIGNIFICANCE, invalid_reasons,
};

use super::evaluation::StrategyResults;
use super::validity::overload;

/// Larger effects are as good as undetectable (10.0 for 1,000 %).
const LARGEST_EFFECT: f64 = 10.0;

/// Writes sentences about strategies by their names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VerdictText<'n> {
    /// The strategies, in the run's order.
    pub(crate) strategies: &'n [StrategyResults],
}

impl VerdictText<'_> {
    /// A strategy's name.
    pub(crate) fn name(&self, strategy: usize) -> &str {
        self.strategies.get(strategy).map_or("?", |strategy| &strategy.name)
    }

    /// Why a comparison is inconclusive.
    pub(crate) fn reason(&self, reason: InconclusiveReason) -> String {
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
pub(crate) fn effect(mde: f64) -> String {
    if mde < LARGEST_EFFECT { percent(mde) } else { "> 1,000 %".into() }
}

/// When a difference is reported, and how often one is reported that does not exist.
pub(crate) fn criteria<'f>(
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
pub(crate) fn load(settings: &RunSettings) -> String {
    match settings.load {
        LoadModel::Closed => counted(settings.clients as u64, "client"),
        LoadModel::Open { rate, .. } => format!("{} calls/s", three(rate)),
    }
}

/// The minimum detectable effects; `None` without comparisons.
pub(crate) fn sensitivity<'f>(families: impl Iterator<Item = &'f ComparisonFamily>) -> Option<String> {
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
pub(crate) fn no_verdict(record: &RunRecord, strategies: &[StrategyResults]) -> Option<String> {
    if record.rounds.is_empty() {
        return Some("No verdict: no round is complete.".into());
    }
    if !invalid_reasons(record).is_empty() {
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

/// The strategies that the server cannot run, a line each.
pub(crate) fn skipped_lines(skipped: &[SkippedStrategy]) -> impl Iterator<Item = String> {
    skipped.iter().map(|SkippedStrategy { name, reason }| {
        let reason = plain(reason);
        format!("Skipped: {}, because this server does not know {}.", plain(name), reason.trim_end_matches('.'))
    })
}

/// What to know first of a run that did not complete.
pub(crate) fn incomplete(record: &RunRecord) -> Option<String> {
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
pub(crate) fn rejections(strategies: &[StrategyResults]) -> Option<String> {
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
