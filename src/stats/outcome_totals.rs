//! Counts of outcomes.

use std::collections::BTreeMap;

use crate::record::CallOutcome;
use crate::results::OperationRecord;

/// Counts over some operations and rounds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutcomeTotals {
    /// Finished calls.
    pub calls: u64,
    /// Messages exchanged.
    pub round_trips: u64,
    /// Calls by outcome.
    pub outcomes: BTreeMap<CallOutcome, u64>,
    /// Failures by reason.
    pub errors: BTreeMap<String, u64>,
    /// Failed calls of which it is unknown whether they took effect.
    pub unknown: u64,
    /// The message of the first failure of each reason.
    pub messages: BTreeMap<String, String>,
    /// Retries by cause.
    pub retries: BTreeMap<String, u64>,
    /// Calls that took longer than the histograms' bound.
    pub saturated: u64,
}

/// Counts the calls of some operations.
pub fn outcome_totals<'r>(operations: impl Iterator<Item = &'r OperationRecord>) -> OutcomeTotals {
    let mut totals = OutcomeTotals::default();
    for operation in operations {
        totals.calls += operation.calls;
        totals.round_trips += operation.round_trips;
        totals.unknown += operation.unknown;
        for outcome in &operation.outcomes {
            *totals.outcomes.entry(outcome.outcome.clone()).or_default() += outcome.count;
            totals.saturated += outcome.headline(outcome.saturated, |times| times.saturated);
        }
        for (mine, theirs) in [(&mut totals.errors, &operation.errors), (&mut totals.retries, &operation.retries)] {
            theirs.iter().for_each(|(reason, count)| *mine.entry(reason.clone()).or_default() += count);
        }
        for (reason, message) in &operation.messages {
            totals.messages.entry(reason.clone()).or_insert_with(|| message.clone());
        }
    }
    totals
}

impl OutcomeTotals {
    /// Failed calls, among them those that waited so long that they were not sent.
    pub fn failed(&self) -> u64 {
        self.count(CallOutcome::is_failure)
    }

    /// Calls that the application rejected.
    pub fn rejected(&self) -> u64 {
        self.count(CallOutcome::is_rejected)
    }

    /// Calls that found nothing.
    pub fn not_found(&self) -> u64 {
        self.count(|outcome| *outcome == CallOutcome::NotFound)
    }

    /// Calls that found what they would have written.
    pub fn unchanged(&self) -> u64 {
        self.count(|outcome| *outcome == CallOutcome::Same)
    }

    /// The share (0 to 1) of the calls that were answered without doing anything: they found nothing, were rejected, or changed
    /// nothing.
    pub fn idle_share(&self) -> f64 {
        (self.not_found() + self.rejected() + self.unchanged()) as f64 / self.calls.max(1) as f64
    }

    fn count(&self, is_counted: fn(&CallOutcome) -> bool) -> u64 {
        self.outcomes.iter().filter(|(outcome, _)| is_counted(outcome)).map(|(_, count)| count).sum()
    }

    /// Failed calls per call; 0 without calls.
    pub fn failed_share(&self) -> f64 {
        self.failed() as f64 / self.calls.max(1) as f64
    }

    /// Messages per call; `None` without calls.
    pub fn round_trips_per_call(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.round_trips as f64 / self.calls as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::super::view::operations;
    use super::*;

    #[test]
    fn rounds_add_up() {
        let run = sample::run(3);
        let embedded = outcome_totals(operations(&run, 0, 0));
        assert_eq!((embedded.calls, embedded.rejected(), embedded.failed()), (1_800, 36, 0));
        let linked = outcome_totals(operations(&run, 1, 0));
        assert_eq!((linked.failed(), linked.failed_share()), (6, 6.0 / 1_800.0));
        assert_eq!(linked.retries["112 (WriteConflict)"], 120);
        assert_eq!(outcome_totals(operations(&run, 1, 1)).round_trips_per_call(), Some(2.0));
        assert_eq!(outcome_totals([].into_iter()).round_trips_per_call(), None);
        let mut skipped = run.clone();
        skipped.rounds[0].cells[1].operations[0].outcomes[1].outcome = CallOutcome::Skipped;
        assert_eq!(outcome_totals(operations(&skipped, 1, 0)).failed(), 6, "skipped calls have failed");
    }
}
