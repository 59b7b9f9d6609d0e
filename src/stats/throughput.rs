//! Calls per second.

use crate::results::{CellRecord, RunSettings, SliceRecord};

use super::Distribution;

/// Calls per second of a cell, of all outcomes; `None` when no time was measured.
///
/// With closed load this is the rate while every client had a call: when a slice ends, the other clients wait for those that
/// have the longest calls.
///
/// All clients start a slice with a fresh call. Until a moment t a client ends t / mean + (v^2 - 1) / 2 calls, v being the
/// coefficient of variation of their times (the renewal function for large t; Cox, Renewal Theory, 1962): long
/// calls are in flight rather than ended. This excess is subtracted, but for the client of each load thread that is first
/// without a call, since it has ended all of its own.
pub fn cell_rate(cell: &CellRecord, settings: &RunSettings) -> Option<f64> {
    let slices: Vec<_> = cell.slices.iter().filter(|slice| slice.saturated_calls > 0).collect();
    let saturated: u64 = slices.iter().map(|slice| slice.saturated_calls).sum();
    let seconds: f64 = slices.iter().map(|slice| slice.saturated_seconds).sum();
    let whole = cell.calls as f64 / cell.seconds;
    if seconds <= 0.0 {
        return (cell.seconds > 0.0).then_some(whole);
    }
    let others = settings.clients.saturating_sub(settings.threads) as f64 * slices.len() as f64;
    let outcomes = cell.operations.iter().flat_map(|operation| &operation.outcomes);
    let variation = Distribution::merged(outcomes.map(|outcome| &outcome.service)).variation().unwrap_or(1.0);
    let calls = saturated as f64 - others * (variation * variation - 1.0) / 2.0;
    // The whole slices, in which clients waited, are the least.
    Some(calls.max(whole * seconds) / seconds)
}

/// Calls per second of some slices; `None` where they took no time, or had no calls.
pub(crate) fn slice_rate(slices: &[SliceRecord]) -> Option<f64> {
    let calls: f64 = slices.iter().map(|slice| slice.calls as f64).sum();
    let rate = calls / slices.iter().map(|slice| slice.seconds).sum::<f64>();
    (rate.is_finite() && rate > 0.0).then_some(rate)
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
        let mut cell = run.rounds[3].cells[0].clone();
        assert!((cell_rate(&cell, &run.settings).unwrap() - 915.0 / 0.2).abs() < 1e-6);
        cell.seconds = 0.0;
        assert_eq!(cell_rate(&cell, &run.settings), None);
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
        let slice =
            SliceRecord { calls: 500, seconds: 0.12, saturated_calls: 490, saturated_seconds: 0.1, operation: None };
        (cell.calls, cell.seconds, cell.slices) = (1_000, 0.24, vec![slice; 2]);
        // Eight clients end 3/8 of a call too few per slice.
        let wanted = (980.0 + 8.0 * 2.0 * 0.375) / 0.2;
        assert!((cell_rate(cell, &run.settings).unwrap() / wanted - 1.0).abs() < 1e-3);
        let cell = &mut run.rounds[0].cells[0];
        cell.slices.iter_mut().for_each(|slice| slice.saturated_calls = 100);
        assert!((cell_rate(cell, &run.settings).unwrap() - 1_000.0 / 0.24).abs() < 1e-6, "at least the whole slices");
    }
}
