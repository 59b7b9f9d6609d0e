//! The mix as a whole.

use crate::results::{RoundRecord, RunRecord};

use super::{cells, mean};

/// The mean time per call of the mix in nanoseconds, per round: the operations' means weighted as the mix asks for,
/// not as chance drew them.
///
/// An operation that no arm called in a round is left out there for all arms. `None` where an operation that was called
/// had no successful call: a mean over the others would be of another mix.
pub fn mix_means(record: &RunRecord, strategy: usize) -> Vec<Option<f64>> {
    record.rounds.iter().map(|round| round_mean(record, round, strategy)).collect()
}

fn round_mean(record: &RunRecord, round: &RoundRecord, strategy: usize) -> Option<f64> {
    let cell = round.cells.get(strategy)?;
    let (mut sum, mut weights) = (0.0, 0.0);
    for (name, weight) in record.mix.weights.iter().filter(|(_, weight)| *weight > 0.0) {
        let operation = record.operations.iter().position(|other| other == name)?;
        let called = |cell: &crate::results::CellRecord| cell.operations.get(operation).is_some_and(|o| o.calls > 0);
        if round.cells.iter().any(called) {
            sum += weight * mean(cell.operations.get(operation)?)?;
            weights += weight;
        }
    }
    (weights > 0.0).then(|| sum / weights)
}

/// Calls per second over all rounds, whatever the calls came to; `None` when no time was measured.
pub fn calls_per_second(record: &RunRecord, strategy: usize) -> Option<f64> {
    let calls: u64 = cells(record, strategy).map(|cell| cell.calls).sum();
    let rate = calls as f64 / cells(record, strategy).map(|cell| cell.seconds).sum::<f64>();
    rate.is_finite().then_some(rate)
}
