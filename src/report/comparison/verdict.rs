//! What a comparison of runs has found, in words.

use crate::record::Metric;
use crate::report::document::Finding;
use crate::report::document::format::{NOTHING, counted, percent, plain};
use crate::report::run::decision::phrase::{self, factor, factor_interval};
use crate::stats::run_comparison::{
    ComparedUnit, Disturbance, OperationChange, RunComparison, StrategyChange, TimeChange,
};
use crate::stats::{ConfidenceInterval, Quantity, Ratio, Reason, Verdict};

use super::limit;

/// The changes with some verdicts, by the size of their ratio.
pub(super) fn findings(
    found: &RunComparison,
    is_meant: impl Fn(&TimeChange) -> bool,
    order: impl Fn(f64) -> f64,
) -> Vec<Finding> {
    let mut all: Vec<_> = found.judged().filter(|(.., change)| is_meant(change)).collect();
    let size = |change: &TimeChange| found.judged_ratio(change).map_or(0.0, &order);
    all.sort_by(|a, b| size(&a.3).total_cmp(&size(&b.3)));
    let finding = |(strategy, row, metric, change): (&StrategyChange, &OperationChange, Metric, TimeChange)| {
        let name = format!("{} {}", plain(&strategy.name), label(&operation(row), metric));
        let text = match found.judged_ratio(&change) {
            _ if change.obstacles != [None; 2] => obstacles_text(change.obstacles),
            None => NOTHING.to_owned(),
            Some(mean) => {
                let relative = found.relative_to.as_ref().map(|name| format!(", relative to {}", plain(name)));
                changed(mean, change.interval) + &relative.unwrap_or_default()
            }
        };
        Finding { name, text, is_difference: true }
    };
    all.into_iter().map(finding).collect()
}

/// How much longer or shorter a time is, and the interval of that.
fn changed(mean: f64, interval: Option<ConfidenceInterval>) -> String {
    let interval = factor_interval(&Ratio { mean, interval, rounds: 0 });
    factor(mean, Quantity::Time) + &interval.map_or_else(String::new, |interval| format!(" ({interval})"))
}

/// The name of an operation, and of the metric that is not its mean.
pub(super) fn label(operation: &str, metric: Metric) -> String {
    if metric == Metric::MEAN { operation.to_owned() } else { format!("{operation} {metric}") }
}

pub(super) fn operation(row: &OperationChange) -> String {
    row.operation.as_deref().map_or_else(|| "mix".to_owned(), plain)
}

/// What keeps the times of a strategy from being compared in which run.
fn obstacles_text(obstacles: [Option<Reason>; 2]) -> String {
    let [before, after] = obstacles.map(|reason| reason.map(|reason| phrase::reason(reason, &|_| Some("it"))));
    match (before, after) {
        (Some(old), Some(new)) if old == new => format!("{old} in both runs"),
        (Some(old), Some(new)) => format!("{old} in A, and {new} in B"),
        (Some(old), None) => format!("{old} in A and not in B"),
        (None, Some(new)) => format!("{new} in B and not in A"),
        (None, None) => NOTHING.to_owned(),
    }
}

/// What the comparison has found, in a sentence.
pub(super) fn verdict(found: &RunComparison, tolerance: f64) -> String {
    let count =
        |is_meant: &dyn Fn(&TimeChange) -> bool| found.judged().filter(|(.., change)| is_meant(change)).count() as u64;
    if found.is_disturbed() {
        return undecided(found);
    }
    let limit = limit(tolerance);
    let all = counted(count(&|_| true), "number");
    let slower = count(&|one| one.verdict == Verdict::Slower);
    let broken = count(&TimeChange::is_regression) - slower;
    let is_incomparable = |one: &TimeChange| one.obstacles != [None; 2] && !one.is_regression();
    let parts = [
        (count(&|one| matches!(one.verdict, Verdict::Same { .. })), format!("the same within {limit}")),
        (count(&|one| one.verdict == Verdict::Faster), "faster".to_owned()),
        (count(&|one| one.is_open() && !one.is_disturbed()), "inconclusive".to_owned()),
        (count(&TimeChange::is_disturbed), "undecided, because the reference itself changed".to_owned()),
        (count(&|one| is_incomparable(one) && !one.is_disturbed()), "not compared".to_owned()),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, text)| format!("{count} {text}"));
    let parts = parts.collect::<Vec<_>>().join(", ");
    let rest = |start: &str| if parts.is_empty() { String::new() } else { format!("{start}{parts}") };
    let is_possible = |change: TimeChange| change.interval.is_none_or(|interval| interval.high > 1.0 + tolerance);
    let is_open = found.judged().all(|(.., change)| change.is_open() && is_possible(change));
    if slower + broken == 0 {
        return if is_open {
            format!(
                "Undecided: a regression beyond {limit} is neither shown nor excluded in {all}; use a longer preset."
            )
        } else {
            format!("No regression beyond {limit} found in {all}{}.", rest(": "))
        };
    }
    let relative = found.relative_to.as_ref().map(|name| format!(", relative to {},", plain(name))).unwrap_or_default();
    let slower =
        (slower > 0).then(|| format!("B is slower than A{relative} by more than {limit} in {slower} of {all}"));
    let broken =
        (broken > 0).then(|| format!("{broken} of {all} can no longer be compared, because calls fail or wait"));
    let regression = slower.into_iter().chain(broken).collect::<Vec<_>>().join(", and ");
    format!("REGRESSION: {regression}{}.", rest("; of the others "))
}

/// Why the runs decide nothing, and what to do.
fn undecided(found: &RunComparison) -> String {
    let reference = found.relative_to.as_ref().map_or_else(|| "the reference".to_owned(), |name| plain(name));
    let reasons: Vec<String> = found.disturbances.iter().map(|one| disturbance(*one, &reference)).collect();
    let again = match found.unit {
        ComparedUnit::PairedRounds => "measure both again when the machine has nothing else to do",
        ComparedUnit::Rounds | ComparedUnit::Runs => {
            "measure A and B again when the machine has nothing else to do, or two servers in turns with --ab"
        }
    };
    format!("Undecided: neither a regression nor its absence is shown, because {}; {again}.", reasons.join("; "))
}

fn disturbance(one: Disturbance, reference: &str) -> String {
    match one {
        Disturbance::Steal { side, cells } => format!(
            "in {} the hypervisor took more than 5 % of the processors from {} of the cells",
            side.name(),
            percent(cells)
        ),
        Disturbance::OtherLoad { busy: [before, after] } => format!(
            "the processors were {} busy in A and {} in B while {reference} served the same calls",
            percent(before),
            percent(after)
        ),
        Disturbance::Overload { side, achieved } => {
            format!(
                "{reference} itself kept up with only {} of the intended calls in {}",
                percent(achieved),
                side.name()
            )
        }
        Disturbance::Repeat { side, ratio } => format!(
            "in {} two measurements of the baseline differ by {}",
            side.name(),
            percent(ratio.max(ratio.recip()) - 1.0)
        ),
        Disturbance::Reference { ratio, interval } => {
            let changed = changed(ratio, Some(interval));
            format!("{reference}, which the others are compared with, is itself {changed} in B")
        }
    }
}
