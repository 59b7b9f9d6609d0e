//! How strategies came through the faults of a run.

use crate::results::{EventKind, RunRecord};

/// The faults of one strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct FaultTotals {
    /// How many.
    pub faults: u64,
    /// The times to recover in seconds, in ascending order, of the faults after which it did.
    pub recovered: Vec<f64>,
    /// The longest time without an answer, in seconds.
    pub longest_gap: f64,
}

impl FaultTotals {
    /// The median time to recover in seconds; `None` when it never did.
    pub fn median(&self) -> Option<f64> {
        self.recovered.get(self.recovered.len() / 2).copied()
    }

    /// The longest time to recover in seconds; `None` when it did not after every fault.
    pub fn longest(&self) -> Option<f64> {
        self.recovered.last().copied().filter(|_| self.recovered.len() as u64 == self.faults)
    }
}

/// The faults of one strategy; `None` without any.
pub fn fault_totals(record: &RunRecord, strategy: usize) -> Option<FaultTotals> {
    let mut totals = FaultTotals { faults: 0, recovered: Vec::new(), longest_gap: 0.0 };
    for event in record.events.iter().filter(|event| event.strategy == strategy) {
        if let EventKind::Fault { recovered, longest_gap, .. } = &event.kind {
            totals.faults += 1;
            totals.recovered.extend(*recovered);
            totals.longest_gap = totals.longest_gap.max(*longest_gap);
        }
    }
    totals.recovered.sort_by(f64::total_cmp);
    (totals.faults > 0).then_some(totals)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::record::FaultKind;
    use crate::results::{EventRecord, Part};

    #[test]
    fn recovery_has_a_median_and_a_longest_time() {
        let mut run = sample::run(3);
        let event = |round, recovered| EventRecord {
            round,
            strategy: 1,
            part: Some(Part::Rate),
            seconds: 1.0,
            kind: EventKind::Fault { kind: FaultKind::Kill, recovered, longest_gap: 2.0 + round as f64 },
        };
        run.events = vec![event(0, Some(3.0)), event(1, Some(1.0)), event(2, Some(2.0))];
        let totals = fault_totals(&run, 1).unwrap();
        assert_eq!((totals.median(), totals.longest(), totals.longest_gap), (Some(2.0), Some(3.0), 4.0));
        run.events.push(event(2, None));
        let totals = fault_totals(&run, 1).unwrap();
        assert_eq!((totals.faults, totals.longest()), (4, None));
        assert_eq!(fault_totals(&run, 0), None);
    }
}
