//! Why there is no verdict, and what a verdict requires, in sentences.

use crate::report::document::format::{count, counted, listed, percent, plain, three};
use crate::results::{LoadModel, Preset, RunRecord, RunSettings, SkippedStrategy, Status, in_percent};
use crate::stats::{ArmComparison, ComparisonFamily, OutcomeTotals, SIGNIFICANCE, invalid_reasons, judged};

use super::evaluation::StrategyResults;

/// When a difference is reported, and how often one is reported that does not exist.
pub(crate) fn criteria(record: &RunRecord, families: &[&ComparisonFamily]) -> String {
    let floor = in_percent(record.settings.noise);
    let noise = match record.strategies.iter().find(|strategy| strategy.is_repeat) {
        None => format!(
            " and its 95 % CI lies beyond the noise floor ({floor} %). This run has no repeat of the baseline, which would \
             show larger noise"
        ),
        Some(repeat) => {
            let mut mix = families.iter().flat_map(|family| &family.questions).filter(|one| one.operation.is_none());
            let mix = mix.find_map(ArmComparison::band).map(|band| format!(": {} for the mix", percent(band)));
            format!(
                ", its 95 % CI lies beyond the noise floor ({floor} %), and it exceeds the noise that {} shows{}",
                plain(&repeat.name),
                mix.unwrap_or_default()
            )
        }
    };
    let tested = families.iter().map(|family| (family.tested().count(), family.name)).filter(|(count, _)| *count > 0);
    let tested = tested.map(|(count, name)| format!("{count} of {name}")).collect::<Vec<_>>().join(", ");
    let alarms = in_percent(SIGNIFICANCE);
    let alarms =
        format!(" Each family of comparisons ({tested}) reports a false difference in at most {alarms} % of runs.");
    format!(
        "A difference is reported only if its adjusted p-value is below {SIGNIFICANCE} (sign-flip test over rounds){noise}.{}",
        if tested.is_empty() { "" } else { &alarms }
    )
}

/// The load for which a verdict is valid.
pub(crate) fn load(settings: &RunSettings) -> String {
    match settings.load {
        LoadModel::Closed => counted(settings.clients as u64, "client"),
        LoadModel::Open { rate, .. } => format!("{} calls/s", three(rate)),
    }
}

/// The minimum detectable effects; `None` without comparisons.
pub(crate) fn sensitivity(families: &[&ComparisonFamily]) -> Option<String> {
    let range = |family: &&ComparisonFamily| {
        let effects = || family.tested().filter_map(|one| one.mde).filter(|mde| mde.is_finite());
        let (low, high) = (percent(effects().reduce(f64::min)?), percent(effects().reduce(f64::max)?));
        let range = if low == high { low } else { format!("{} to {high}", low.trim_end_matches(" %")) };
        Some(format!("{range} for {}", family.name))
    };
    let found: Vec<String> = families.iter().filter_map(range).collect();
    (!found.is_empty()).then(|| format!("Minimum detectable effect (80 % power): {}.", found.join(", ")))
}

/// Why a run has no verdict at all.
pub(crate) fn no_verdict(record: &RunRecord) -> Option<String> {
    let judged = judged(record).count();
    let rounds = counted(record.rounds.len() as u64, "round");
    let baseline =
        record.strategies.first().filter(|baseline| baseline.is_unsafe).map(|baseline| plain(&baseline.name));
    let found = [
        record.rounds.is_empty().then(|| "no round is complete.".to_owned()),
        (!invalid_reasons(record).is_empty()).then(|| "the run is invalid.".to_owned()),
        (record.settings.preset == Preset::Smoke)
            .then(|| format!("{rounds}. The preset smoke only checks that everything runs.")),
        (judged == 0).then(|| "all strategies are unsafe.".to_owned()),
        (judged == 1).then(|| "a comparison requires two strategies.".to_owned()),
        baseline.map(|name| format!("{name} is the baseline, and unsafe; name a safe strategy first.")),
    ];
    found.into_iter().flatten().next().map(|text| format!("No verdict: {text}"))
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
    let share = |totals: &OutcomeTotals| percent(totals.rejected() as f64 / totals.calls.max(1) as f64);
    let strategies = strategies.iter().filter(|strategy| !strategy.is_repeat);
    let shares: Vec<(&StrategyResults, String)> = strategies.map(|one| (one, share(&one.totals))).collect();
    let rejecting = || shares.iter().filter(|(one, _)| one.totals.rejected() > 0);
    let (_, first) = rejecting().next()?;
    let rejected = if shares.iter().all(|(_, share)| share == first) {
        format!("{first} of the calls in every strategy")
    } else {
        listed(rejecting().map(|(one, share)| format!("{share} of the calls with {}", one.name)))
    };
    Some(format!("The application rejected {rejected}; a rejection is an answer, and its time counts."))
}
