//! The comparison of two runs, on a terminal and as Markdown.

mod markdown;
mod terminal;

use crate::results::{RunRecord, in_percent};
use crate::stats::{
    self, ChangeVerdict, Incomparable, IncomparableReason, OperationChange, Ratio, RunComparison, SharedShift,
    StrategyChange, TimeChange,
};

use super::format::{NOTHING, counted, listed, percent, plain, three, time};
use super::method::measured;
use super::validity::environment_warning;
use super::verdict_text::difference;

/// What of a run's settings is no difference worth telling: it always differs, or is told elsewhere.
const OWN: [&str; 4] = ["began", "scenario", "rounds", "equivalence"];

/// A run of a comparison and how the user named it.
#[derive(Debug, Clone)]
pub struct Side<'r> {
    /// A path, or the name of a baseline.
    pub name: String,
    /// The run.
    pub record: &'r RunRecord,
}

/// What two runs say of each other, in words.
#[derive(Debug)]
pub struct RunComparisonReport<'b> {
    found: &'b RunComparison,
    scenario: String,
    title: String,
    /// The runs, in words.
    runs: [String; 2],
    verdict: Vec<String>,
    /// What is claimed: whose number, and how much it changed; the worst first.
    worse: Vec<(String, String)>,
    better: Vec<(String, String)>,
    /// What differs between the runs beside their numbers: what, before and after.
    differs: Vec<(String, String, String)>,
    warnings: Vec<String>,
    how: String,
}

impl<'b> RunComparisonReport<'b> {
    /// Computes what a report says; `changed` are the strategies that are defined otherwise in the later run.
    pub fn new(
        found: &'b RunComparison,
        sides: [Side; 2],
        tolerance: f64,
        changed: &[String],
    ) -> RunComparisonReport<'b> {
        let [before, after] = [sides[0].record, sides[1].record];
        let is_better = |change: &TimeChange| match change.verdict {
            ChangeVerdict::Faster => true,
            ChangeVerdict::Incomparable(incomparable) => incomparable.before.is_some() && incomparable.after.is_none(),
            _ => false,
        };
        RunComparisonReport {
            found,
            scenario: plain(&before.scenario.name),
            title: plain(&before.scenario.title),
            runs: [0, 1].map(|place| run(&sides[place])),
            verdict: verdict(found, tolerance),
            worse: named(found, |change| change.verdict.is_regression(), f64::recip),
            better: named(found, is_better, |ratio| ratio),
            differs: differs(before, after),
            warnings: warnings(found, before, after, changed),
            how: how(found, tolerance),
        }
    }

    fn mix_name(row: &OperationChange) -> String {
        row.operation.as_deref().map_or_else(|| "mix".to_owned(), plain)
    }
}

fn run(side: &Side) -> String {
    let record = side.record;
    let calls = record.settings.calls.map_or(String::new(), |calls| format!(" of {}", counted(calls, "call")));
    let rounds = counted(record.rounds.len() as u64, "round");
    let (name, version, began) = (plain(&side.name), plain(&record.server.version), plain(&record.started));
    format!("{name}: MongoDB {version}, {rounds}{calls}, began {began}")
}

/// Numbers for which something holds, by the size of their ratio: whose, and how much it changed.
fn named(
    found: &RunComparison,
    holds: impl Fn(&TimeChange) -> bool,
    order: impl Fn(f64) -> f64,
) -> Vec<(String, String)> {
    let mut all: Vec<_> = found.judged().filter(|(_, _, _, change)| holds(change)).collect();
    let size = |change: &TimeChange| change.ratio.map_or(0.0, &order);
    all.sort_by(|a, b| size(&a.3).total_cmp(&size(&b.3)));
    let words = |(strategy, row, is_quantile, change): (&StrategyChange, &OperationChange, bool, TimeChange)| {
        let quantile = if is_quantile { " p99" } else { "" };
        (format!("{} {}{quantile}", plain(&strategy.name), RunComparisonReport::mix_name(row)), changed(&change))
    };
    all.into_iter().map(words).collect()
}

/// How much a number changed.
fn changed(change: &TimeChange) -> String {
    match (change.verdict, change.ratio) {
        (ChangeVerdict::Incomparable(incomparable), _) => incomparable_words(incomparable),
        (_, Some(mean)) => difference(&Ratio { mean, interval: change.interval, rounds: 0 }, None, false),
        (_, None) => NOTHING.to_owned(),
    }
}

fn incomparable_words(Incomparable { before, after }: Incomparable) -> String {
    let what = |why: IncomparableReason| match why {
        IncomparableReason::Overloaded => "could not keep up with the calls",
        IncomparableReason::Failures => "failed in too many calls",
        IncomparableReason::NoSuccess => "had a round without a successful call",
    };
    match (before, after) {
        (Some(old), Some(new)) if old == new => format!("{} in both runs", what(old)),
        (Some(old), Some(new)) => format!("{} in A, and {} in B", what(old), what(new)),
        (Some(old), None) => format!("{} in A and not in B", what(old)),
        (None, new) => format!("{} in B and not in A", new.map_or(NOTHING, what)),
    }
}

fn verdict(found: &RunComparison, tolerance: f64) -> Vec<String> {
    let count = |wanted: &dyn Fn(ChangeVerdict) -> bool| {
        found.judged().filter(|(.., change)| wanted(change.verdict)).count() as u64
    };
    let limit = format!("{} %", in_percent(tolerance));
    let all = counted(count(&|_| true), "number");
    let slower = count(&|verdict| verdict == ChangeVerdict::Slower);
    let broken = count(&ChangeVerdict::is_regression) - slower;
    let parts = [
        (count(&|verdict| verdict == ChangeVerdict::NoDifference), format!("the same within {limit}")),
        (count(&|verdict| verdict == ChangeVerdict::Faster), "faster".to_owned()),
        (count(&|verdict| verdict == ChangeVerdict::Inconclusive), "inconclusive".to_owned()),
        (
            count(&|verdict| matches!(verdict, ChangeVerdict::Incomparable(_)) && !verdict.is_regression()),
            "not compared".to_owned(),
        ),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, words)| format!("{count} {words}"));
    let parts = parts.collect::<Vec<_>>().join(", ");
    let rest = if parts.is_empty() { String::new() } else { format!(": {parts}") };
    let is_possible = |change: TimeChange| change.interval.is_none_or(|interval| interval.high > 1.0 + tolerance);
    let is_open =
        found.judged().all(|(.., change)| change.verdict == ChangeVerdict::Inconclusive && is_possible(change));
    let rest = match slower + broken {
        0 => rest,
        _ if parts.is_empty() => String::new(),
        _ => format!("; of the others {parts}"),
    };
    match (slower, broken) {
        (0, 0) if is_open => {
            vec![format!(
                "Undecided: in none of {all} is a regression beyond {limit} shown or excluded; measure for longer."
            )]
        }
        (0, 0) => vec![format!("No regression beyond {limit} found in {all}{rest}.")],
        (0, broken) => {
            vec![format!("REGRESSION: {broken} of {all} can no longer be compared, as calls fail or wait{rest}.")]
        }
        (slower, 0) => {
            vec![format!("REGRESSION: B is slower than A by more than {limit} in {slower} of {all}{rest}.")]
        }
        (slower, broken) => vec![format!(
            "REGRESSION: B is slower than A by more than {limit} in {slower} of {all}, and {broken} can no longer be \
             compared, as calls fail or wait{rest}."
        )],
    }
}

/// What could have gone unseen, and how the verdicts were made.
fn how(found: &RunComparison, tolerance: f64) -> String {
    let limit = format!("{} %", in_percent(tolerance));
    let hidden = found.judged().filter(|(.., change)| change.verdict == ChangeVerdict::Inconclusive);
    let hidden = hidden.filter_map(|(.., change)| Some(change.interval?.high - 1.0)).fold(0.0, f64::max);
    let unseen = match hidden {
        hidden if hidden > tolerance => {
            format!("Inconclusive numbers could hide a regression of up to {}. ", percent(hidden))
        }
        _ => String::new(),
    };
    format!(
        "{unseen}ratio: B divided by A, below 1 is faster. * the whole 95 % CI is beyond {limit}, and the difference is beyond \
         the noise that the repeats of both runs show; ? inconclusive: the CI extends beyond {limit}. Intervals are \
         simultaneous for all operations (the mix is a family of its own). relative: the ratio divided by the baseline's."
    )
}

fn differs(before: &RunRecord, after: &RunRecord) -> Vec<(String, String, String)> {
    let (old, new) = (measured(before), measured(after));
    let value = |pairs: &[(String, String)], name: &str| {
        pairs.iter().find(|(other, _)| other == name).map_or_else(|| NOTHING.to_owned(), |(_, value)| value.clone())
    };
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in old.iter().chain(&new) {
        if !names.contains(&name) && !OWN.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let pairs = names.into_iter().map(|name| (name.clone(), value(&old, name), value(&new, name)));
    let mut found: Vec<_> = pairs.filter(|(_, old, new)| old != new).collect();
    let strategies = |record: &RunRecord| {
        record.strategies.iter().filter(|s| !s.is_repeat).map(|s| plain(&s.name)).collect::<Vec<_>>().join(", ")
    };
    if strategies(before) != strategies(after) {
        found.push(("strategies".into(), strategies(before), strategies(after)));
    }
    found
}

fn warnings(found: &RunComparison, before: &RunRecord, after: &RunRecord, changed: &[String]) -> Vec<String> {
    let mut warnings = Vec::new();
    warnings.extend(found.shared_shift.map(common));
    warnings.extend(changed.iter().map(|name| format!("Strategy {} differs in its definition.", plain(name))));
    if let (Some(old), Some(new)) = (before.settings.calls, after.settings.calls)
        && old != new
    {
        warnings.push(format!(
            "Their rounds have different numbers of calls, so that documents that grow end at different sizes: measure B \
             with --calls {old}."
        ));
    }
    if before.settings.isolated.is_some() != after.settings.isolated.is_some() {
        let (alone, other) = if before.settings.isolated.is_some() { ("A", "B") } else { ("B", "A") };
        warnings.push(format!(
            "In {alone} every strategy ran alone on the server and in {other} not: measure {other} again with --isolate."
        ));
    }
    for (side, record) in [("A", before), ("B", after)] {
        warnings.extend(record.warnings.iter().map(|words| format!("{side}: {}", plain(words))));
        warnings.extend(
            stats::environment_warnings(record)
                .into_iter()
                .map(|warning| format!("{side}: {}", environment_warning(record, warning))),
        );
    }
    let has_control = |record: &RunRecord| record.strategies.iter().any(|strategy| strategy.is_repeat);
    if !has_control(before) && !has_control(after) {
        warnings.push("Neither run has a control that would tell how far noise reaches.".into());
    }
    warnings
}

fn common(common: SharedShift) -> String {
    let SharedShift { means, typical, range } = common;
    let (low, high, typical) = (three(range.low), three(range.high), three(typical));
    format!(
        "All {means} means moved alike, by {low} to {high} (median {typical}): that may be the server, but also another, busier \
         or idler machine. Look at what differs, and measure A and B again in turns; the column `relative` is free of it."
    )
}

/// The columns of a row in words: before, after, ratio with its mark, interval.
fn cells(change: &TimeChange) -> [String; 4] {
    let of = |value: Option<f64>| value.map_or_else(|| NOTHING.to_owned(), time);
    let ratio = change.ratio.map_or_else(|| NOTHING.to_owned(), three);
    let interval = change.interval.map_or_else(String::new, |i| format!("{} to {}", three(i.low), three(i.high)));
    [of(change.before), of(change.after), format!("{ratio}{}", mark(change.verdict)), interval]
}

/// What stands behind a ratio.
fn mark(verdict: ChangeVerdict) -> &'static str {
    match verdict {
        ChangeVerdict::Slower | ChangeVerdict::Faster => "*",
        ChangeVerdict::Inconclusive => "?",
        ChangeVerdict::NoDifference | ChangeVerdict::Incomparable(_) | ChangeVerdict::NotJudged => "",
    }
}

/// Strategies that are shown and not judged.
fn described(found: &RunComparison) -> Option<String> {
    let is_described = |strategy: &&StrategyChange| strategy.role != stats::Role::Judged;
    let names: Vec<String> =
        found.strategies.iter().filter(is_described).map(|strategy| plain(&strategy.name)).collect();
    (!names.is_empty()).then(|| format!("Not judged, as unsafe: {}.", listed(&names)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::CallOutcome;
    use crate::results::RunRecord;
    use crate::stats::{RunPair, SharedStrategy, compare_runs, sample};

    const ALL: [SharedStrategy; 3] = [same(0), same(1), same(2)];

    const fn same(place: usize) -> SharedStrategy {
        SharedStrategy { before: place, after: place }
    }

    fn slowed(strategies: &[usize], factor: f64) -> RunRecord {
        let mut run = sample::run(8);
        for round in &mut run.rounds {
            for strategy in strategies {
                for operation in &mut round.cells[*strategy].operations {
                    operation.outcomes.iter_mut().for_each(|one| one.sum = (one.sum as f64 * factor).round() as u64);
                }
            }
        }
        run
    }

    fn texts(before: &RunRecord, after: &RunRecord, changed: &[String]) -> [String; 3] {
        let found = compare_runs(RunPair { before, after, strategies: &ALL, tolerance: 0.05 });
        let sides = [("results/a", before), ("baseline main", after)];
        let sides = sides.map(|(name, record)| Side { name: name.into(), record });
        let report = RunComparisonReport::new(&found, sides, 0.05, changed);
        let mut texts = [String::new(), String::new(), String::new()];
        report.terminal(80, false, &mut texts[0]).unwrap();
        report.terminal(100, true, &mut texts[1]).unwrap();
        report.markdown(&mut texts[2]).unwrap();
        texts
    }

    #[test]
    fn one_strategy_is_slower_and_another_faster() {
        let mut after = slowed(&[0], 1.5);
        for round in &mut after.rounds {
            for operation in &mut round.cells[1].operations {
                operation.outcomes.iter_mut().for_each(|one| one.sum /= 2);
            }
        }
        after.server.version = "7.0.1".into();
        after.settings.calls = Some(1_000);
        let [narrow, wide, markdown] = texts(&sample::run(8), &after, &["embedded".to_owned()]);
        assert!(narrow.lines().all(|line| line.chars().count() <= 80 && line.trim_end() == line), "{narrow}");
        assert!(wide.contains('\u{1b}') && !narrow.contains('\u{1b}'));
        insta::assert_snapshot!("slower_and_faster_80_columns", narrow);
        insta::assert_snapshot!("slower_and_faster_markdown", markdown);
    }

    #[test]
    fn a_shift_of_all_is_a_warning() {
        let [text, _, markdown] = texts(&sample::run(8), &slowed(&[0, 1, 2], 1.4), &[]);
        let words = "All 9 means moved alike, by 1.40 to 1.40 (median 1.40)";
        assert!(text.contains(words) && markdown.contains(words), "{text}");
    }

    #[test]
    fn nothing_shown_is_no_all_clear() {
        let run = sample::run(8);
        let [text, ..] = texts(&run, &run, &[]);
        assert!(text.contains("No regression beyond 5 % found in 8 numbers: "), "{text}");
        let mut wild = run.clone();
        for (place, round) in wild.rounds.iter_mut().enumerate() {
            let outcomes =
                round.cells.iter_mut().flat_map(|cell| &mut cell.operations).flat_map(|one| &mut one.outcomes);
            outcomes.for_each(|one| one.sum *= 1 + place as u64 % 4);
        }
        let [text, ..] = texts(&wild, &wild, &[]);
        assert!(
            text.contains("Undecided: in none of 8 numbers is a regression beyond 5 % shown or excluded"),
            "{text}"
        );
        assert!(!text.contains("No regression") && text.contains("could hide a regression of up to"));
    }

    #[test]
    fn new_hurdles_are_regressions_in_words() {
        let mut after = sample::run(8);
        after.rounds[0].cells[1].operations[1].outcomes[0].outcome = CallOutcome::Rejected("size".into());
        let [text, _, markdown] = texts(&sample::run(8), &after, &[]);
        assert!(text.contains("No regression beyond 5 % found") && text.contains("not compared"), "{text}");
        assert!(!markdown.contains("## Worse"), "{markdown}");
        for cell in after.rounds.iter_mut().map(|round| &mut round.cells[1]) {
            cell.operations[1].outcomes[0].outcome = CallOutcome::Failed;
        }
        let [text, _, markdown] = texts(&sample::run(8), &after, &[]);
        let words = "failed in too many calls in B and not in A";
        assert!(text.contains(words) && markdown.contains(words), "{text}");
        assert!(
            text.contains("can no longer be compared, as calls fail or wait") && !text.contains("slower"),
            "{text}"
        );
    }
}
