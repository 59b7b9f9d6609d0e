//! Checks that the numbers of a record are consistent, so that readers can rely on them.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::record::CallOutcome;

use super::{
    CellRecord, EventKind, EventRecord, IdenticalProgramRecord, OpenRecord, OperationRecord, OutcomeRecord,
    RoundRecord, RunRecord, SliceRecord, TimesRecord,
};

/// Finds the first inconsistency of a record.
pub(super) fn check(record: &RunRecord) -> Result<(), String> {
    check_names(record)?;
    check_seconds("settings.timeout", record.settings.timeout)?;
    record.settings.duration.into_iter().try_for_each(|seconds| check_seconds("settings.duration", seconds))?;
    let mut counts = CountSum::default();
    check_parts(record)?;
    record.events.iter().try_for_each(|event| check_event(record, event))?;
    for (part, rounds) in &record.parts {
        for (round, this) in rounds.iter().enumerate() {
            check_shape(record, round, this)?;
            for (strategy, this) in record.strategies.iter().zip(&this.cells) {
                counts.add(this.calls)?;
                let place = format!("part {part}, round {}, strategy {}", round + 1, strategy.name);
                check_cell(this, &mut counts).map_err(|reason| format!("{place}: {reason}"))?;
                for (operation, this) in record.operations.iter().zip(&this.operations) {
                    check_operation(this, &mut counts).map_err(|reason| format!("{place}, {operation}: {reason}"))?;
                }
            }
        }
    }
    Ok(())
}

/// Checks that names are unique, and that every operation that is named exists.
fn check_names(record: &RunRecord) -> Result<(), String> {
    let strategies: Vec<&str> = record.strategies.iter().map(|strategy| strategy.name.as_str()).collect();
    let operations: Vec<&str> = record.operations.iter().map(String::as_str).collect();
    for (what, names) in [("strategies", &strategies), ("operations", &operations)] {
        let mut seen = BTreeSet::new();
        let twice = names.iter().find(|name| !seen.insert(**name));
        twice.map_or(Ok(()), |twice| Err(format!("two {what} are named {twice}")))?;
    }
    for (operation, weight) in &record.mix.weights {
        ensure(operations.contains(&operation.as_str()), || {
            format!("mix.weights names the operation {operation:?}, which is not in the list of this run")
        })?;
        check_not_negative("a weight in the mix", *weight)?;
    }
    Ok(())
}

/// Every part must have the same rounds, and identical programs be those of the run.
fn check_parts(record: &RunRecord) -> Result<(), String> {
    let rounds = record.complete_rounds();
    for (part, found) in &record.parts {
        let found = found.len();
        ensure(found == rounds, || format!("part {part} has {found} rounds, and another part {rounds}"))?;
    }
    let (strategies, operations) = (record.strategies.len(), record.operations.len());
    let is_known = |one: &IdenticalProgramRecord| one.strategy < strategies && one.operation < operations;
    ensure(record.identical.iter().all(is_known), || "identical names a program that is not there".into())
}

/// Checks that an event is one of a strategy of the run, with possible times.
fn check_event(record: &RunRecord, event: &EventRecord) -> Result<(), String> {
    let (strategy, strategies) = (event.strategy, record.strategies.len());
    ensure(strategy < strategies, || {
        format!("an event names strategy {strategy}, and there are {strategies} from 0 on")
    })?;
    check_not_negative("the seconds of an event", event.seconds)?;
    let EventKind::PrimaryChanged { without, .. } = &event.kind;
    check_not_negative("the seconds without a primary", *without)
}

/// Checks that a round is in its place, and has a cell of every strategy with an entry of every operation.
fn check_shape(record: &RunRecord, place: usize, round: &RoundRecord) -> Result<(), String> {
    let (strategies, number, index, cells) = (record.strategies.len(), place + 1, round.index, round.cells.len());
    ensure(index == place as u64, || {
        format!("rounds[{place}] has index {index}: a round is missing, or they are out of order")
    })?;
    ensure(cells == strategies, || format!("round {number} has {cells} cells for {strategies} strategies"))?;
    for arm in round.order.iter().flatten() {
        ensure(*arm < strategies, || {
            format!("round {number} runs strategy {arm} in its order, and there are {strategies} from 0 on")
        })?;
    }
    for (strategy, cell) in record.strategies.iter().zip(&round.cells) {
        let (name, found, expected) = (&strategy.name, cell.operations.len(), record.operations.len());
        ensure(found == expected, || format!("round {number}, strategy {name}: {found} of {expected} operations"))?;
    }
    Ok(())
}

fn ensure(is_right: bool, wrong: impl FnOnce() -> String) -> Result<(), String> {
    if is_right { Ok(()) } else { Err(wrong()) }
}

fn check_seconds(what: &str, seconds: f64) -> Result<(), String> {
    ensure(Duration::try_from_secs_f64(seconds).is_ok(), || format!("{what} cannot be {seconds} s"))
}

fn check_not_negative(what: &str, value: f64) -> Result<(), String> {
    ensure(value.is_finite() && value >= 0.0, || format!("{what} cannot be {value}"))
}

/// The sum of all counts of a run, which must not overflow.
#[derive(Default)]
struct CountSum(u64);

impl CountSum {
    fn add(&mut self, count: u64) -> Result<(), String> {
        self.0 = self.0.checked_add(count).ok_or_else(|| format!("a count of {count} is impossible"))?;
        Ok(())
    }
}

fn check_operation(operation: &OperationRecord, counts: &mut CountSum) -> Result<(), String> {
    let others = operation.errors.values().chain(operation.retries.values()).chain([&operation.round_trips]);
    others.copied().try_for_each(|count| counts.add(count))?;
    let (mut calls, stated) = (0, operation.calls);
    for outcome in &operation.outcomes {
        check_outcome(outcome)?;
        counts.add(outcome.count)?;
        calls += outcome.count;
    }
    let apart = [(&operation.inconsistency, "that wrote more than once"), (&operation.beside_job, "beside a job")];
    for (times, which) in apart {
        let Some(TimesRecord { count, histogram, .. }) = times else { continue };
        counts.add(*count)?;
        ensure(histogram.open().count() == *count, || {
            format!("{count} calls {which} are stated, their histogram differs")
        })?;
    }
    ensure(calls == stated, || format!("its outcomes have {calls} calls, {stated} are stated"))
}

fn check_outcome(outcome: &OutcomeRecord) -> Result<(), String> {
    let OutcomeRecord { count, saturated, sum, .. } = *outcome;
    let what = format!("outcome {}", outcome.outcome);
    // A call that was not sent has no service time.
    let served = if outcome.outcome == CallOutcome::Skipped { 0 } else { count };
    let service = TimesRecord { count: served, saturated, sum, histogram: outcome.service.clone() };
    check_times(&what, &service)?;
    let response = outcome.response.clone().map(|response| TimesRecord { count, ..response });
    response.iter().try_for_each(|response| check_times(&what, response))
}

/// Checks that a count, a sum and a histogram are of the same times.
fn check_times(what: &str, stated: &TimesRecord) -> Result<(), String> {
    let TimesRecord { count, saturated, sum, .. } = *stated;
    let times = stated.histogram.open();
    let found = times.count();
    ensure(found == count, || format!("the histogram of {what} has {found} calls, {count} are stated"))?;
    ensure(saturated <= count, || format!("{saturated} of {count} calls of {what} are stated to be above the bound"))?;
    // What was above the bound is in the sum as it was.
    let (sums, stated) = (times.sums(), u128::from(sum));
    let is_possible = stated >= *sums.start() && (saturated > 0 || stated <= *sums.end());
    ensure(is_possible, || format!("times of {what} cannot have a sum of {sum} ns"))
}

fn check_cell(cell: &CellRecord, counts: &mut CountSum) -> Result<(), String> {
    check_not_negative("seconds", cell.seconds)?;
    check_not_negative("load_seconds", cell.load_seconds)?;
    for SliceRecord { calls, seconds, saturated_calls, saturated_seconds, .. } in
        cell.slices.iter().chain(&cell.warm_up)
    {
        counts.add(*calls)?;
        check_not_negative("the seconds of a slice", *seconds)?;
        check_not_negative("the seconds of the saturated part of a slice", *saturated_seconds)?;
        ensure(saturated_calls <= calls, || {
            format!("the saturated part of a slice has {saturated_calls} calls, the slice {calls}")
        })?;
    }
    for collection in cell.before.iter().chain(&cell.after) {
        check_not_negative(&format!("the mean size of {}", collection.name), collection.mean)?;
    }
    cell.audits.iter().try_for_each(|audit| counts.add(audit.anomalies()))?;
    counts.add(cell.check_out.map_or(0, |waits| waits.count))?;
    cell.open.iter().try_for_each(|open| check_open(open, cell, counts))
}

fn check_open(open: &OpenRecord, cell: &CellRecord, counts: &mut CountSum) -> Result<(), String> {
    check_times("the pacer's lag", &open.pacer_lag)?;
    check_times("the wait in the queue", &open.queue_wait)?;
    [open.offered, open.waiting, open.skipped].into_iter().try_for_each(|count| counts.add(count))?;
    let (calls, OpenRecord { offered, waiting, skipped, never_started, seconds, .. }) = (cell.calls, open);
    ensure(calls.checked_add(*never_started) == Some(*offered), || {
        format!("{offered} calls fell due, but {calls} ended and {never_started} were never started")
    })?;
    let is_more =
        waiting > offered || *skipped > calls || open.pacer_lag.count > *offered || open.queue_wait.count > calls;
    ensure(!is_more, || format!("more calls waited or were skipped than the {offered} that fell due"))?;
    check_not_negative("seconds in which calls fell due", *seconds)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Part, sample};
    use super::*;
    use crate::record::LatencyHistogram;

    fn times(nanoseconds: &[u64]) -> TimesRecord {
        let mut made = LatencyHistogram::new(Duration::from_secs(10));
        nanoseconds.iter().for_each(|time| made.record(*time));
        TimesRecord::new(&made)
    }

    /// Two calls of 5 and 9 ns that were answered after 15 and 19 ns; a third was never started.
    /// The rounds of the only part.
    fn rounds(run: &mut RunRecord) -> &mut Vec<RoundRecord> {
        run.parts.get_mut(&Part::Saturation).unwrap()
    }

    fn open() -> RunRecord {
        let mut run = sample::run(&[5, 9]);
        let cell = &mut rounds(&mut run)[0].cells[0];
        cell.operations[0].outcomes[0].response = Some(times(&[15, 19]));
        cell.open = Some(OpenRecord {
            offered: 3,
            seconds: 0.1,
            waiting: 1,
            skipped: 0,
            never_started: 1,
            pacer_lag: times(&[1, 1, 1]),
            queue_wait: times(&[2, 3]),
        });
        run
    }

    #[test]
    fn numbers_of_open_load_must_be_consistent() {
        assert_eq!(check(&open()), Ok(()));
        let wrong = |change: &dyn Fn(&mut CellRecord), expected: &str| {
            let mut run = open();
            change(&mut rounds(&mut run)[0].cells[0]);
            let message = check(&run).unwrap_err();
            assert!(message.contains(expected), "{message}");
        };
        let of = |change: &'static dyn Fn(&mut OpenRecord)| {
            move |cell: &mut CellRecord| cell.open.iter_mut().for_each(change)
        };
        wrong(&of(&|open| open.never_started = 0), "3 calls fell due, but 2 ended and 0 were never started");
        wrong(&of(&|open| open.waiting = 4), "than the 3 that fell due");
        wrong(&of(&|open| open.skipped = 3), "than the 3 that fell due");
        wrong(&of(&|open| open.queue_wait = times(&[1, 2, 3])), "than the 3 that fell due");
        wrong(&of(&|open| open.pacer_lag.count = 9), "the pacer's lag has 3 calls, 9 are stated");
        wrong(&of(&|open| open.seconds = f64::NAN), "seconds in which calls fell due cannot be NaN");
        wrong(&|cell| cell.operations[0].outcomes[0].response = Some(times(&[15])), "has 1 calls, 2 are stated");
        let wait =
            |cell: &mut CellRecord| cell.open.as_mut().unwrap().queue_wait = TimesRecord { sum: 50, ..times(&[1]) };
        wrong(&wait, "times of the wait in the queue cannot have a sum of 50 ns");
    }

    #[test]
    fn strategies_operations_and_rounds_must_be_those_of_the_run() {
        let wrong = |change: &dyn Fn(&mut RunRecord), expected: &str| {
            let mut run = sample::run(&[5, 9]);
            change(&mut run);
            assert_eq!(check(&run).unwrap_err(), expected);
        };
        wrong(&|run| run.strategies.push(run.strategies[0].clone()), "two strategies are named embedded");
        wrong(&|run| run.operations.push("read".into()), "two operations are named read");
        wrong(&|run| run.operations.push("write".into()), "round 1, strategy embedded: 1 of 2 operations");
        wrong(&|run| drop(rounds(run)[0].cells.pop()), "round 1 has 0 cells for 1 strategies");
        wrong(&|run| rounds(run).extend_from_within(..), OUT_OF_ORDER);
        wrong(&|run| rounds(run)[0].order[0][0] = 1, "round 1 runs strategy 1 in its order, and there are 1 from 0 on");
        let named = "mix.weights names the operation \"gone\", which is not in the list of this run";
        wrong(&|run| run.mix.weights[0].0 = "gone".into(), named);
        wrong(&|run| run.mix.weights[0].1 = -1.0, "a weight in the mix cannot be -1");
        wrong(
            &|run| rounds(run)[0].cells[0].seconds = -2.0,
            "part saturation, round 1, strategy embedded: seconds cannot be -2",
        );
        let mean = "part saturation, round 1, strategy embedded: the mean size of posts cannot be NaN";
        wrong(&|run| rounds(run)[0].cells[0].before[0].mean = f64::NAN, mean);
    }

    const OUT_OF_ORDER: &str = "rounds[1] has index 0: a round is missing, or they are out of order";

    #[test]
    fn skipped_calls_have_a_response_time_and_no_service_time() {
        let mut run = open();
        let outcome = &mut rounds(&mut run)[0].cells[0].operations[0].outcomes[0];
        outcome.outcome = CallOutcome::Skipped;
        assert!(check(&run).unwrap_err().contains("outcome skipped has 2 calls, 0 are stated"));
        let outcome = &mut rounds(&mut run)[0].cells[0].operations[0].outcomes[0];
        (outcome.service, outcome.sum) = (times(&[]).histogram, 0);
        assert_eq!(check(&run), Ok(()));
    }
}
