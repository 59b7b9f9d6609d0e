//! Why there is no verdict, and what a verdict requires, in sentences.

use crate::report::document::format::{count, counted, listed, percent, plain, three};
use crate::results::{LoadModel, RunRecord, RunSettings, SkippedStrategy, Status, in_percent};
use crate::stats::{ArmComparison, ComparisonFamily, OutcomeTotals, Role, SIGNIFICANCE};

use super::evaluation::{Evaluation, NoVerdict, StrategyResults};

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
pub(crate) fn no_verdict(reason: NoVerdict, run: &Evaluation) -> String {
    let text = match reason {
        NoVerdict::NoRound => "no round is complete.".into(),
        NoVerdict::Invalid => "the run is invalid.".into(),
        NoVerdict::Smoke => {
            format!("{}. The preset smoke only checks that everything runs.", counted(run.rounds, "round"))
        }
        NoVerdict::AllUnsafe => "all strategies are unsafe.".into(),
        NoVerdict::OneStrategy => "a comparison requires two strategies.".into(),
        NoVerdict::UnsafeBaseline => {
            format!("{} is the baseline, and unsafe; name a safe strategy first.", run.baseline())
        }
    };
    format!("No verdict: {text}")
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
