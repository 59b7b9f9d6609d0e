use std::time::Duration;

use crate::record::{CallOutcome, LatencyHistogram, StoredHistogram};
use crate::results::{Arrivals, CellRecord, LoadModel, OpenRecord, OperationRecord, Reason, TimesRecord};
use crate::stats::sample;

use super::*;

/// The names of a run's strategies.
fn names(run: &RunRecord) -> Vec<String> {
    run.strategies.iter().filter(|strategy| !strategy.is_repeat).map(|strategy| strategy.name.clone()).collect()
}

/// Runs before and after, relative to the first strategy.
fn sides(before: &[&RunRecord], after: &[&RunRecord]) -> RunComparison {
    let strategies = names(before[0]);
    let reference = Some(strategies[0].as_str());
    compare_runs(RunSides { before, after, strategies: &strategies, reference, tolerance: 0.05 }).unwrap()
}

fn compared(before: &RunRecord, after: &RunRecord) -> RunComparison {
    sides(&[before], &[after])
}

/// Two runs that took turns.
fn in_turns(before: &RunRecord, after: &RunRecord) -> RunComparison {
    let (mut before, mut after) = (before.clone(), after.clone());
    (before.id, after.id) = ("a".into(), "b".into());
    before.turns_with = Some("b".into());
    sides(&[&before], &[&after])
}

fn operations_of(run: &mut RunRecord, strategy: usize) -> impl Iterator<Item = (usize, &mut OperationRecord)> {
    let cells = run.rounds.iter_mut().map(move |round| &mut round.cells[strategy]);
    cells.flat_map(|cell| cell.operations.iter_mut().enumerate())
}

/// The run with all means of a strategy this many times as long; histograms stay.
fn slowed(mut run: RunRecord, strategies: &[usize], factor: f64) -> RunRecord {
    for strategy in strategies {
        for (_, operation) in operations_of(&mut run, *strategy) {
            for outcome in &mut operation.outcomes {
                outcome.sum = (outcome.sum as f64 * factor).round() as u64;
            }
        }
    }
    run
}

/// The run with these means in one operation, round after round.
fn with_means(mut run: RunRecord, strategy: usize, operation: usize, logs: &[f64]) -> RunRecord {
    let changed = operations_of(&mut run, strategy).filter(|(place, _)| *place == operation);
    for ((_, operation), log) in changed.zip(logs) {
        operation.outcomes.truncate(1);
        operation.outcomes[0].count = 1;
        operation.outcomes[0].sum = (1e15 * log.exp()).round() as u64;
    }
    run
}

fn row<'b>(found: &'b RunComparison, strategy: usize, operation: Option<&str>) -> &'b OperationChange {
    found.strategies[strategy].rows.iter().find(|row| row.operation.as_deref() == operation).unwrap()
}

#[test]
fn a_run_is_the_same_as_itself() {
    let run = sample::run(8);
    let found = compared(&run, &run);
    assert!(!found.has_regression() && found.shared_shift.is_none());
    assert_eq!(
        found.judged().count(),
        4,
        "one strategy relative to the other, three operations and the mix, no quantile"
    );
    for (_, _, _, change) in found.judged() {
        assert_eq!((change.ratio, change.relative, change.before), (Some(1.0), Some(1.0), change.after));
        let interval = change.interval.unwrap();
        assert!((interval.low * interval.high - 1.0).abs() < 1e-12 && interval.low < 1.0);
    }
    let reference = row(&found, 0, Some("count")).mean();
    assert_eq!((reference.relative, reference.verdict), (None, Verdict::Inconclusive(Reason::Reference)));
    assert_eq!((found.relative_to.as_deref(), found.unit), (Some("embedded"), ComparedUnit::Rounds));
    assert_eq!(in_turns(&run, &run).judged().count(), 8, "both strategies as they are");
}

#[test]
fn the_interval_is_simultaneous_for_the_family() {
    // The reference takes e^0 in all rounds. Logarithms 0 to 0.05 and the same 0.3 higher: s^2 = 0.00035 in both, error
    // sqrt(2 * 0.00035 / 6) = 0.0108012, 10 degrees of freedom. Three means are a family: t(1 - 0.05/6, 10) = 2.87044.
    let logs = [0.0, 0.01, 0.02, 0.03, 0.04, 0.05];
    let still = with_means(sample::run(6), 0, 0, &[0.0; 6]);
    let before = with_means(still.clone(), 1, 0, &logs);
    let after = with_means(still.clone(), 1, 0, &logs.map(|log| log + 0.3));
    let found = compared(&before, &after);
    let change = row(&found, 1, Some("add_comment")).mean();
    let interval = change.interval.unwrap();
    assert!((change.relative.unwrap().ln() - 0.3).abs() < 1e-9);
    assert!((interval.low.ln() - (0.3 - 2.87044 * 0.010_801_2)).abs() < 1e-5, "{}", interval.low.ln());
    assert!((interval.high.ln() - (0.3 + 2.87044 * 0.010_801_2)).abs() < 1e-5);
    assert_eq!(change.verdict, Verdict::Slower);
    assert!(found.has_regression());
    // In the other direction it is faster by as much.
    let back = row(&compared(&after, &before), 1, Some("add_comment")).mean();
    assert_eq!(back.verdict, Verdict::Faster);
    assert!((back.interval.unwrap().low * interval.high - 1.0).abs() < 1e-12);
    // In turns, every round is longer by exactly as much.
    let paired = row(&in_turns(&before, &after), 1, Some("add_comment")).mean().interval.unwrap();
    assert!((paired.low.ln() - 0.3).abs() < 1e-9 && (paired.high.ln() - 0.3).abs() < 1e-9);
    // A change of the whole machine is no change of the strategy.
    let busy = with_means(with_means(sample::run(6), 0, 0, &[0.2; 6]), 1, 0, &logs.map(|log| log + 0.5));
    assert!((row(&compared(&before, &busy), 1, Some("add_comment")).mean().relative.unwrap().ln() - 0.3).abs() < 1e-9);
}

#[test]
fn several_runs_are_compared_over_runs() {
    // Means of runs, relative to the reference: 0 and 0.02 before, 0.3, 0.32 and 0.34 after; 0.31 apart. Squares 0.0002 and
    // 0.0008 with 3 degrees of freedom: s^2 = 0.00033333, error sqrt(s^2 * (1/2 + 1/3)) = 0.0166667; t(1 - 0.05/6, 3) = 4.85670.
    let run = |log: f64| with_means(with_means(sample::run(6), 0, 0, &[0.0; 6]), 1, 0, &[log; 6]);
    let runs = [0.0, 0.02, 0.3, 0.32, 0.34].map(run);
    let runs: Vec<&RunRecord> = runs.iter().collect();
    let found = sides(&runs[..2], &runs[2..]);
    let change = row(&found, 1, Some("add_comment")).mean();
    assert_eq!((found.unit, change.verdict), (ComparedUnit::Runs, Verdict::Slower));
    assert!((change.relative.unwrap().ln() - 0.31).abs() < 1e-9, "{change:?}");
    assert!((change.interval.unwrap().low.ln() - (0.31 - 4.85670 * 0.016_666_7)).abs() < 1e-4, "{change:?}");
    let single = row(&sides(&runs[..2], &runs[2..3]), 1, Some("add_comment")).mean();
    assert!(single.interval.is_some(), "the spread of the other side is used");
}

#[test]
fn the_repeat_of_either_run_shows_the_noise() {
    let (quiet, slow) = (sample::run(8), slowed(sample::run(8), &[1], 1.5));
    assert_eq!(row(&compared(&quiet, &slow), 1, None).mean().verdict, Verdict::Slower);
    // The unsafe strategy as a repeat that takes half as long as the baseline.
    let as_repeat = |run: &RunRecord, factor: f64| {
        let mut run = slowed(run.clone(), &[2], factor);
        run.strategies[2] = crate::results::StrategyRecord { is_repeat: true, ..run.strategies[0].clone() };
        for round in &mut run.rounds {
            round.cells[2] = round.cells[0].clone();
        }
        slowed(run, &[2], factor)
    };
    let found =
        |before: &RunRecord| row(&compared(before, &as_repeat(&slow, 1.0)), 1, Some("read_post")).mean().verdict;
    assert_eq!(found(&as_repeat(&quiet, 1.0)), Verdict::Slower);
    assert!(matches!(found(&as_repeat(&quiet, 0.7)), Verdict::NoDifference { within_noise: true, .. }));
    assert_eq!(found(&as_repeat(&quiet, 0.5)), Verdict::Inconclusive(Reason::Disturbed));
}

#[test]
fn unsafe_strategies_and_short_runs_are_not_judged() {
    let found = compared(&sample::run(8), &slowed(sample::run(8), &[2], 3.0));
    assert_eq!(row(&found, 2, None).mean().verdict, Verdict::Inconclusive(Reason::NotJudged));
    assert!(!found.has_regression());
    let short = compared(&sample::run(5), &slowed(sample::run(8), &[1], 3.0));
    let change = row(&short, 1, None).mean();
    assert_eq!((change.interval, change.verdict), (None, Verdict::Inconclusive(Reason::TooFewRounds(5))));
    assert!(change.is_open());
    assert!((change.ratio.unwrap() - 3.0).abs() < 0.1);
}

#[test]
fn a_shared_shift_cancels_relative_to_the_reference() {
    let all = slowed(sample::run(8), &[0, 1, 2], 1.25);
    let found = compared(&sample::run(8), &all);
    let shared_shift = found.shared_shift.unwrap();
    assert_eq!(shared_shift.means, 9);
    for ratio in [shared_shift.typical, shared_shift.range.low, shared_shift.range.high] {
        assert!((ratio - 1.25).abs() < 1e-6, "{shared_shift:?}");
    }
    let change = row(&found, 1, Some("read_post")).mean();
    assert!((change.relative.unwrap() - 1.0).abs() < 1e-6 && !found.has_regression());
    assert!(change.is_disturbed() && matches!(found.disturbances[..], [Disturbance::Reference { .. }]), "no all-clear");
    let paired = in_turns(&sample::run(8), &all);
    assert!(paired.has_regression() && paired.shared_shift.is_none(), "the other server is slower");
    let one = compared(&sample::run(8), &slowed(sample::run(8), &[1], 1.25));
    assert_eq!(one.shared_shift, None);
    assert!((row(&one, 1, Some("read_post")).mean().relative.unwrap() - 1.25).abs() < 1e-6);
    assert_eq!(compared(&sample::run(8), &slowed(sample::run(8), &[0, 1, 2], 1.01)).shared_shift, None);
}

fn no_times() -> StoredHistogram {
    StoredHistogram::new(&LatencyHistogram::new(Duration::from_secs(10)))
}

/// The run at open load, in which a strategy made this share of its calls in time.
fn keeping_up(mut run: RunRecord, strategy: usize, achieved: f64) -> RunRecord {
    run.part = Some(Part::Rate);
    let none = TimesRecord { count: 0, saturated: 0, sum: 0, histogram: no_times() };
    let empty = OpenRecord {
        offered: 0,
        seconds: 1.0,
        waiting: 0,
        skipped: 0,
        never_started: 0,
        pacer_lag: none.clone(),
        queue_wait: none,
    };
    for (place, cell) in run.rounds.iter_mut().flat_map(|round| round.cells.iter_mut().enumerate()) {
        let waiting = if place == strategy { ((1.0 - achieved) * 1_000.0) as u64 } else { 0 };
        cell.open = Some(OpenRecord { offered: 1_000, waiting, ..empty.clone() });
        cell.machine.busy = Some(0.4);
    }
    run
}

#[test]
fn overload_on_a_busy_machine_is_no_regression() {
    let quiet = keeping_up(sample::run(8), 1, 1.0);
    let verdict = |after: &RunRecord| {
        let found = compared(&quiet, after);
        assert!(!found.strategies[1].rows.iter().any(|row| row.mean().is_improvement()));
        (found.has_regression(), found.is_disturbed())
    };
    let overloaded = keeping_up(sample::run(8), 1, 0.45);
    assert_eq!(verdict(&quiet), (false, false));
    assert_eq!(verdict(&overloaded), (true, false), "the reference is as it was");
    assert_eq!(verdict(&slowed(overloaded.clone(), &[0], 5.2)), (false, true), "the reference is slower");
    assert_eq!(verdict(&keeping_up(sample::run(8), 0, 0.9)), (false, true), "the reference does not keep up");
    let busy = |change: &dyn Fn(&mut CellRecord)| {
        let mut run = overloaded.clone();
        run.rounds.iter_mut().flat_map(|round| &mut round.cells).for_each(change);
        verdict(&run)
    };
    assert_eq!(busy(&|cell| cell.machine.busy = Some(0.98)), (false, true), "something else used the processors");
    assert_eq!(busy(&|cell| cell.machine.steal = Some(0.06)), (false, true), "the hypervisor gave them to others");
    let mut one_cell = overloaded.clone();
    one_cell.rounds.iter_mut().flat_map(|round| &mut round.cells).for_each(|cell| cell.machine.steal = Some(0.0));
    one_cell.rounds[0].cells[0].machine.steal = Some(0.06);
    assert_eq!(verdict(&one_cell), (true, false), "one cell of 24");
}

#[test]
fn a_number_that_moved_in_the_reference_is_undecided_alone() {
    // A count is a small part of the mix.
    let moved = |mut run: RunRecord, strategy: usize| {
        for (_, operation) in operations_of(&mut run, strategy).filter(|(place, _)| *place == 2) {
            operation.outcomes.iter_mut().for_each(|one| one.sum = one.sum * 13 / 10);
        }
        run
    };
    let before = sample::run(8);
    let found = compared(&before, &moved(before.clone(), 0));
    let of = |operation| row(&found, 1, Some(operation)).mean();
    assert!(of("count").is_disturbed() && !of("read_post").is_disturbed() && !found.has_regression());
    let found = compared(&before, &moved(before.clone(), 1));
    assert_eq!(row(&found, 1, Some("count")).mean().verdict, Verdict::Slower);
}

#[test]
fn incomparable_times_are_regressions_where_they_are_new() {
    let verdict = |before: &RunRecord, after: &RunRecord| {
        let change = row(&compared(before, after), 1, Some("read_post")).mean();
        (change.obstacles.map(|reason| reason == Some(Reason::NoSuccess { strategy: 1 })), change.is_regression())
    };
    let well = sample::run(8);
    let mut rejecting = well.clone();
    rejecting.settings.error_budget = 1.0;
    for (_, operation) in operations_of(&mut rejecting, 1).filter(|(place, _)| *place == 1).take(1) {
        operation.outcomes[0].outcome = CallOutcome::Failed;
    }
    // Without answers there are no times to compare.
    assert_eq!(verdict(&well, &rejecting), ([false, true], false));
    assert_eq!(verdict(&rejecting, &well), ([true, false], false));
    assert_eq!(verdict(&rejecting, &rejecting), ([true, true], false));
    let mut failing = well.clone();
    for (_, operation) in operations_of(&mut failing, 0) {
        operation.outcomes[0].outcome = CallOutcome::Failed;
    }
    let found = compared(&well, &failing);
    let other = row(&found, 1, None).mean();
    assert!(
        other.relative.is_none() && matches!(other.verdict.reason(), Some(Reason::Failures { strategy: 0, .. })),
        "there is nothing to compare it with: {other:?}"
    );
    let change = row(&found, 0, None).mean();
    assert!(matches!(change.obstacles, [None, Some(Reason::Failures { strategy: 0, .. })]), "{change:?}");
    assert!(change.is_regression());
    assert_eq!((change.ratio, change.interval), (None, None));
}

#[test]
fn quantiles_are_compared_with_enough_calls() {
    // 2,000 calls, of which the slowest 40 take 9 ms, or 12 ms.
    let with_tail = |tail: u64| {
        let mut run = sample::run(6);
        for strategy in [0, 1] {
            let tail = if strategy == 0 { 5_000_000 } else { tail };
            for (_, operation) in operations_of(&mut run, strategy).filter(|(place, _)| *place == 0) {
                let mut times = LatencyHistogram::new(Duration::from_secs(10));
                (0..2_000).for_each(|call| times.record(if call < 40 { tail } else { 1_000_000 }));
                operation.outcomes.truncate(1);
                (operation.outcomes[0].count, operation.outcomes[0].sum) = (2_000, 1_960_000_000 + 40 * 9_000_000);
                operation.outcomes[0].service = StoredHistogram::new(&times);
            }
        }
        run
    };
    let found = compared(&with_tail(9_000_000), &with_tail(12_000_000));
    let row = row(&found, 1, Some("add_comment"));
    let p99 = row.by(Metric::P99).unwrap();
    assert_eq!(
        (row.mean().verdict, p99.verdict),
        (Verdict::Same { within: 0.05_f64.ln_1p().exp_m1() }, Verdict::Slower)
    );
    assert!((p99.relative.unwrap() - 12.0 / 9.0).abs() < 2e-3, "{p99:?}");
    assert_eq!(found.strategies[2].rows[0].by(Metric::P99), None);
}

#[test]
fn operations_that_one_run_never_called_are_left_out() {
    let mut silent = sample::run(6);
    for (_, operation) in operations_of(&mut silent, 0).filter(|(place, _)| *place == 2) {
        *operation = OperationRecord { calls: 0, outcomes: Vec::new(), ..operation.clone() };
    }
    let found = compared(&sample::run(6), &silent);
    let names: Vec<_> = found.strategies[0].rows.iter().map(|row| row.operation.as_deref()).collect();
    assert_eq!(names, [Some("add_comment"), Some("read_post"), None]);
    assert_eq!(found.strategies[1].rows.len(), 4);
}

#[test]
fn whatever_can_be_loaded_can_be_compared() {
    let run = sample::run(6);
    for edited in sample::edited().iter().step_by(200) {
        for (before, after) in [(&run, edited), (edited, &run)] {
            if before.operations.len() == after.operations.len() {
                let strategies: Vec<String> =
                    names(before).into_iter().filter(|name| names(after).contains(name)).collect();
                let reference = strategies.first().map(String::as_str);
                let (before, after) = (&[before][..], &[after][..]);
                let _ = compare_runs(RunSides { before, after, strategies: &strategies, reference, tolerance: 0.0 });
            }
        }
    }
}

#[test]
fn operations_are_compared_by_their_own_costs() {
    let [before, mut after] = [(); 2].map(|()| sample::whole(&sample::run(6)));
    let own = after.parts.get_mut(&Part::Own).unwrap().iter_mut();
    for operation in own.flat_map(|round| &mut round.cells[0].operations) {
        operation.outcomes.iter_mut().for_each(|outcome| outcome.sum *= 2);
    }
    let found = compared(&before, &after);
    assert_eq!(found.parts, ComparedParts { mix: Part::Rate, operations: Part::Own });
    let ratio = |operation| row(&found, 0, operation).mean().ratio.unwrap();
    assert!((ratio(Some("read_post")) - 2.0).abs() < 1e-9 && ratio(None) == 1.0);
    assert!(found.strategies[0].throughput.is_some() && found.strategies[1].collections.len() == 2);
}

#[test]
fn the_mix_is_compared_at_the_same_rate_or_at_saturation() {
    let parts = |change: &dyn Fn(&mut RunRecord)| {
        let [before, mut after] = [(); 2].map(|()| sample::whole(&sample::run(6)));
        change(&mut after);
        ComparedParts::of(&[&before, &after])
    };
    let mix = |change: &dyn Fn(&mut RunRecord)| parts(change).map(|parts| parts.mix);
    assert_eq!(mix(&|_| {}), Some(Part::Rate));
    let other = LoadModel::Open { rate: 7.0, arrivals: Arrivals::Poisson };
    assert_eq!(mix(&|run| run.settings.load = other), Some(Part::Saturation));
    assert_eq!(mix(&|run| run.settings.parts = vec![Part::Own]), Some(Part::Own));
    let saturation = Some(ComparedParts { mix: Part::Saturation, operations: Part::Saturation });
    assert_eq!(parts(&|run| run.settings.parts = vec![Part::Saturation]), saturation);
    assert_eq!(parts(&|run| (run.settings.parts, run.settings.load) = (vec![Part::Rate], other)), None);
}

#[test]
fn sizes_and_throughput_are_compared() {
    let found = compared(&sample::run(6), &sample::run(6));
    let (before, after) = found.strategies[0].throughput.unwrap();
    assert!([before, after].iter().all(|rate| (rate * 0.2 / 915.0 - 1.0).abs() < 1e-9), "{before} {after}");
    let names: Vec<&str> = found.strategies[1].collections.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["posts", "comments"]);
}
