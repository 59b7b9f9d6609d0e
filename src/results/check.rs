//! Whether the numbers of a record fit together, so that whoever reads it can rely on them.

use crate::record::StoredHistogram;

use super::{CellRecord, FORMAT_VERSION, OpenRecord, OperationRecord, OutcomeRecord, RunRecord, TimesRecord};

/// Finds a record that was not written like this. Says what is wrong.
pub(super) fn check(record: &RunRecord) -> Result<(), String> {
    if record.format == 0 || record.format > FORMAT_VERSION {
        return Err(format!("there is no format {}", record.format));
    }
    let mut counts = Counts::default();
    let name = |names: Option<&str>| names.unwrap_or("?").to_owned();
    for (round, this) in record.rounds.iter().enumerate() {
        for (cell, this) in this.cells.iter().enumerate() {
            counts.add(this.calls)?;
            let strategy = name(record.strategies.get(cell).map(|strategy| strategy.name.as_str()));
            check_cell(this, &mut counts)
                .map_err(|reason| format!("round {}, strategy {strategy}: {reason}", round + 1))?;
            for (operation, this) in this.operations.iter().enumerate() {
                let operation = name(record.operations.get(operation).map(String::as_str));
                check_operation(this, &mut counts)
                    .map_err(|reason| format!("round {}, strategy {strategy}, {operation}: {reason}", round + 1))?;
            }
        }
    }
    Ok(())
}

/// Sums of one kind of number over a whole run, which no reader may overflow.
#[derive(Default)]
struct Counts(u64);

impl Counts {
    fn add(&mut self, count: u64) -> Result<(), String> {
        self.0 = self.0.checked_add(count).ok_or_else(|| format!("a count of {count} is impossible"))?;
        Ok(())
    }
}

fn check_operation(operation: &OperationRecord, counts: &mut Counts) -> Result<(), String> {
    let others = operation.errors.values().chain(operation.retries.values()).chain([&operation.round_trips]);
    others.copied().try_for_each(|count| counts.add(count))?;
    let mut calls = 0;
    for outcome in &operation.outcomes {
        check_outcome(outcome)?;
        counts.add(outcome.count)?;
        calls += outcome.count;
    }
    if let Some(TimesRecord { count, histogram, .. }) = &operation.inconsistent {
        counts.add(*count)?;
        if histogram.open().count() != *count {
            return Err(format!("{count} calls that wrote more than once are stated, their histogram differs"));
        }
    }
    if calls != operation.calls {
        return Err(format!("its outcomes have {calls} calls, {} are stated", operation.calls));
    }
    Ok(())
}

fn check_outcome(outcome: &OutcomeRecord) -> Result<(), String> {
    let OutcomeRecord { outcome: name, count, saturated, sum, service, response } = outcome;
    let what = format!("outcome {name}");
    // A call that was not sent has no service time.
    let served = if name == "skipped" { 0 } else { *count };
    check_times(&what, (served, *saturated, *sum), service)?;
    match response {
        Some(times) => check_times(&what, (*count, times.saturated, times.sum), &times.histogram),
        None => Ok(()),
    }
}

fn check_times(what: &str, (count, saturated, sum): (u64, u64, u64), times: &StoredHistogram) -> Result<(), String> {
    let times = times.open();
    if times.count() != count {
        return Err(format!("the histogram of {what} holds {} calls, {count} are stated", times.count()));
    }
    if saturated > count {
        return Err(format!("{saturated} of {count} calls of {what} are stated to be above the bound"));
    }
    // What was above the bound is in the sum as it was.
    let sums = times.sums();
    if u128::from(sum) < *sums.start() || (saturated == 0 && u128::from(sum) > *sums.end()) {
        return Err(format!("times of {what} cannot have a sum of {sum} ns"));
    }
    Ok(())
}

fn check_cell(cell: &CellRecord, counts: &mut Counts) -> Result<(), String> {
    if let Some(times) = &cell.check_out {
        counts.add(times.count)?;
        check_all(times, "the pool's check-out")?;
    }
    cell.open.as_ref().map_or(Ok(()), |open| check_open(open, cell, counts))
}

fn check_all(times: &TimesRecord, what: &str) -> Result<(), String> {
    check_times(what, (times.count, times.saturated, times.sum), &times.histogram)
}

fn check_open(open: &OpenRecord, cell: &CellRecord, counts: &mut Counts) -> Result<(), String> {
    check_all(&open.pacer_lag, "the pacer's lag")?;
    check_all(&open.queue_wait, "the wait in the queue")?;
    [open.offered, open.waiting, open.skipped].into_iter().try_for_each(|count| counts.add(count))?;
    let OpenRecord { offered, waiting, skipped, never_started, seconds, .. } = open;
    if cell.calls.checked_add(*never_started) != Some(*offered) {
        let calls = cell.calls;
        return Err(format!("{offered} calls fell due, but {calls} ended and {never_started} were never started"));
    }
    if waiting > offered
        || skipped > &cell.calls
        || open.pacer_lag.count > *offered
        || open.queue_wait.count > cell.calls
    {
        return Err(format!("more calls waited or were skipped than the {offered} that fell due"));
    }
    if !seconds.is_finite() || *seconds < 0.0 {
        return Err(format!("calls cannot fall due in {seconds} s"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::record::LatencyHistogram;
    use crate::results::sample;

    fn times(nanoseconds: &[u64]) -> TimesRecord {
        let mut made = LatencyHistogram::new(Duration::from_secs(10));
        nanoseconds.iter().for_each(|time| made.record(*time));
        TimesRecord::new(&made)
    }

    /// Two calls of 5 and 9 ns that were answered after 15 and 19 ns; a third was never started.
    fn open() -> RunRecord {
        let mut run = sample::run(&[5, 9]);
        let cell = &mut run.rounds[0].cells[0];
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
    fn numbers_of_the_open_model_must_fit_together() {
        assert_eq!(check(&open()), Ok(()));
        let wrong = |change: &dyn Fn(&mut CellRecord), words: &str| {
            let mut run = open();
            change(&mut run.rounds[0].cells[0]);
            let told = check(&run).unwrap_err();
            assert!(told.contains(words), "{told}");
        };
        let of = |change: &'static dyn Fn(&mut OpenRecord)| {
            move |cell: &mut CellRecord| cell.open.iter_mut().for_each(change)
        };
        wrong(&of(&|open| open.never_started = 0), "3 calls fell due, but 2 ended and 0 were never started");
        wrong(&of(&|open| open.waiting = 4), "than the 3 that fell due");
        wrong(&of(&|open| open.skipped = 3), "than the 3 that fell due");
        wrong(&of(&|open| open.queue_wait = times(&[1, 2, 3])), "than the 3 that fell due");
        wrong(&of(&|open| open.pacer_lag.count = 9), "the pacer's lag holds 3 calls, 9 are stated");
        wrong(&of(&|open| open.seconds = f64::NAN), "NaN s");
        wrong(&|cell| cell.operations[0].outcomes[0].response = Some(times(&[15])), "holds 1 calls, 2 are stated");
        wrong(&|cell| cell.check_out = Some(TimesRecord { sum: 50, ..times(&[1]) }), "cannot have a sum of 50 ns");
    }

    #[test]
    fn skipped_calls_have_a_response_time_and_no_service_time() {
        let mut run = open();
        let outcome = &mut run.rounds[0].cells[0].operations[0].outcomes[0];
        outcome.outcome = "skipped".into();
        assert!(check(&run).unwrap_err().contains("outcome skipped holds 2 calls, 0 are stated"));
        let outcome = &mut run.rounds[0].cells[0].operations[0].outcomes[0];
        (outcome.service, outcome.sum) = (times(&[]).histogram, 0);
        assert_eq!(check(&run), Ok(()));
    }
}
