//! Calls per second.

use crate::results::{CellRecord, RunRecord, RunSettings};

use super::Distribution;
use super::view::cells;

/// Calls per second over all rounds, of all outcomes, see [`cell_rate`]; `None` when no time was measured.
pub fn calls_per_second(record: &RunRecord, strategy: usize) -> Option<f64> {
    rate(cells(record, strategy).map(|cell| counted(cell, &record.settings)))
}

/// Calls per second of a cell, of all outcomes; `None` when no time was measured.
///
/// With closed load this is the rate while every client had a call: when a slice ends, the other clients wait for those that
/// have the longest calls.
pub fn cell_rate(cell: &CellRecord, settings: &RunSettings) -> Option<f64> {
    rate([counted(cell, settings)].into_iter())
}

/// Calls and the seconds that they took.
#[derive(Default)]
struct Counted {
    calls: f64,
    seconds: f64,
}

fn rate(parts: impl Iterator<Item = Counted>) -> Option<f64> {
    let add =
        |sum: Counted, part: Counted| Counted { calls: sum.calls + part.calls, seconds: sum.seconds + part.seconds };
    let Counted { calls, seconds } = parts.fold(Counted { calls: 0.0, seconds: 0.0 }, add);
    (seconds > 0.0).then(|| calls / seconds)
}

/// The calls of the saturated parts of a cell's slices, or of the whole cell where there are none.
///
/// All clients start a slice with a fresh call. Until a moment t a client ends t / mean + (v^2 - 1) / 2 calls, v being the
/// coefficient of variation of their times (the renewal function for large t; Cox, Renewal Theory, 1962): long
/// calls are in flight rather than ended. This excess is subtracted, but for the client of each load thread that is first
/// without a call, since it has ended all of its own.
fn counted(cell: &CellRecord, settings: &RunSettings) -> Counted {
    let slices: Vec<_> = cell.slices.iter().filter(|slice| slice.saturated_calls > 0).collect();
    let saturated: u64 = slices.iter().map(|slice| slice.saturated_calls).sum();
    let seconds: f64 = slices.iter().map(|slice| slice.saturated_seconds).sum();
    let whole = Counted { calls: cell.calls as f64, seconds: cell.seconds };
    if seconds <= 0.0 {
        return whole;
    }
    let others = settings.clients.saturating_sub(settings.threads) as f64 * slices.len() as f64;
    let outcomes = cell.operations.iter().flat_map(|operation| &operation.outcomes);
    let variation = Distribution::merged(outcomes.map(|outcome| &outcome.service)).variation().unwrap_or(1.0);
    let calls = saturated as f64 - others * (variation * variation - 1.0) / 2.0;
    // The whole slices, in which clients waited, are the least.
    Counted { calls: calls.max(whole.calls / whole.seconds * seconds), seconds }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::sample;
    use super::*;
    use crate::record::{LatencyHistogram, StoredHistogram};
    use crate::results::SliceRecord;

    #[test]
    fn all_calls_count() {
        let run = sample::run(4);
        assert!((calls_per_second(&run, 0).unwrap() - 915.0 / 0.2).abs() < 1e-6);
        assert_eq!(calls_per_second(&sample::run(0), 0), None);
    }

    #[test]
    fn saturated_parts_count_without_their_excess() {
        let mut run = sample::run(1);
        (run.settings.clients, run.settings.threads) = (10, 2);
        let mut times = LatencyHistogram::new(Duration::from_secs(10));
        // Half of the calls take 1 and half 3 ms: a mean of 2 and a standard deviation of 1.
        (0..100).for_each(|call| times.record(if call % 2 == 0 { 1_000_000 } else { 3_000_000 }));
        let cell = &mut run.rounds[0].cells[0];
        cell.operations.truncate(1);
        cell.operations[0].outcomes.truncate(1);
        (cell.operations[0].outcomes[0].service, cell.operations[0].outcomes[0].sum) =
            (StoredHistogram::new(&times), times.sum());
        let slice = SliceRecord { calls: 500, seconds: 0.12, saturated_calls: 490, saturated_seconds: 0.1 };
        (cell.calls, cell.seconds, cell.slices) = (1_000, 0.24, vec![slice; 2]);
        // Eight clients end 3/8 of a call too few per slice.
        let wanted = (980.0 + 8.0 * 2.0 * 0.375) / 0.2;
        assert!((calls_per_second(&run, 0).unwrap() / wanted - 1.0).abs() < 1e-3);
        let cell = &mut run.rounds[0].cells[0];
        cell.slices.iter_mut().for_each(|slice| slice.saturated_calls = 100);
        assert!((cell_rate(cell, &run.settings).unwrap() - 1_000.0 / 0.24).abs() < 1e-6, "at least the whole slices");
    }
}
