//! Whether the numbers of a record fit together, so that whoever reads it can rely on them.

use super::{FORMAT_VERSION, OperationRecord, OutcomeRecord, RunRecord, TimesRecord};

/// Finds a record that was not written like this. Says what is wrong.
pub(super) fn check(record: &RunRecord) -> Result<(), String> {
    if record.format == 0 || record.format > FORMAT_VERSION {
        return Err(format!("there is no format {}", record.format));
    }
    let mut counts = Counts::default();
    for (round, this) in record.rounds.iter().enumerate() {
        for (cell, this) in this.cells.iter().enumerate() {
            counts.add(this.calls)?;
            for (operation, this) in this.operations.iter().enumerate() {
                let name = |names: Option<&str>| names.unwrap_or("?").to_owned();
                let strategy = name(record.strategies.get(cell).map(|strategy| strategy.name.as_str()));
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
    let OutcomeRecord { outcome: name, count, saturated, sum, service, .. } = outcome;
    let times = service.open();
    if times.count() != *count {
        return Err(format!("the histogram of outcome {name} holds {} calls, {count} are stated", times.count()));
    }
    if saturated > count {
        return Err(format!("{saturated} of {count} calls of outcome {name} are stated to be above the bound"));
    }
    // What was above the bound is in the sum as it was.
    let sums = times.sums();
    if u128::from(*sum) < *sums.start() || (*saturated == 0 && u128::from(*sum) > *sums.end()) {
        return Err(format!("times of outcome {name} cannot have a sum of {sum} ns"));
    }
    Ok(())
}
