//! What calls came to.

use std::collections::BTreeMap;

use crate::results::OperationRecord;

/// Counts over some operations and rounds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Finished calls.
    pub calls: u64,
    /// Messages exchanged.
    pub round_trips: u64,
    /// Calls by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Failures by reason.
    pub errors: BTreeMap<String, u64>,
    /// The words of the first failure of each reason.
    pub messages: BTreeMap<String, String>,
    /// Attempts begun again, by cause.
    pub retries: BTreeMap<String, u64>,
    /// Calls that took longer than the histograms' bound.
    pub saturated: u64,
}

/// Counts the calls of some operations.
pub fn tally<'r>(operations: impl Iterator<Item = &'r OperationRecord>) -> Tally {
    let mut tally = Tally::default();
    for operation in operations {
        tally.calls += operation.calls;
        tally.round_trips += operation.round_trips;
        for outcome in &operation.outcomes {
            *tally.outcomes.entry(outcome.outcome.clone()).or_default() += outcome.count;
            tally.saturated += outcome.headline().saturated;
        }
        for (mine, theirs) in [(&mut tally.errors, &operation.errors), (&mut tally.retries, &operation.retries)] {
            theirs.iter().for_each(|(reason, count)| *mine.entry(reason.clone()).or_default() += count);
        }
        for (reason, message) in &operation.messages {
            tally.messages.entry(reason.clone()).or_insert_with(|| message.clone());
        }
    }
    tally
}

impl Tally {
    /// Failed calls, among them those that waited so long that they were not sent.
    pub fn failed(&self) -> u64 {
        ["failed", "skipped"].iter().filter_map(|outcome| self.outcomes.get(*outcome)).sum()
    }

    /// Calls that the strategy refused.
    pub fn refused(&self) -> u64 {
        self.outcomes.iter().filter(|(outcome, _)| outcome.starts_with("refused")).map(|(_, count)| count).sum()
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
    use super::*;
    use crate::stats::{operations, sample};

    #[test]
    fn rounds_add_up() {
        let run = sample::run(3);
        let embedded = tally(operations(&run, 0, 0));
        assert_eq!((embedded.calls, embedded.refused(), embedded.failed()), (1_800, 36, 0));
        let linked = tally(operations(&run, 1, 0));
        assert_eq!((linked.failed(), linked.failed_share()), (6, 6.0 / 1_800.0));
        assert_eq!(linked.retries["112 (WriteConflict)"], 120);
        assert_eq!(tally(operations(&run, 1, 1)).round_trips_per_call(), Some(2.0));
        assert_eq!(tally([].into_iter()).round_trips_per_call(), None);
        let mut skipped = run.clone();
        skipped.rounds[0].cells[1].operations[0].outcomes[1].outcome = "skipped".into();
        assert_eq!(tally(operations(&skipped, 1, 0)).failed(), 6, "who is skipped has failed");
    }
}
