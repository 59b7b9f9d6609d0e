//! Whether an arm was warm while it was measured: whether its throughput still changed.

use crate::results::{CellRecord, LoadModel, RunRecord};

use super::collection_growth;
use super::compare::MINIMUM_ROUNDS;
use super::estimate::Estimate;
use super::student::t_quantile;
use super::throughput::slice_rate;
use super::view::cells;

/// A smaller change of the throughput (0.05 for 5 %) is no change.
const CHANGE: f64 = 0.05;

/// A collection whose documents' mean size grew by more than this share has no steady state.
const GROWTH: f64 = 0.05;

/// Whether the throughput of an arm settled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WarmUp {
    /// The throughput did not change.
    Warm,
    /// The throughput changed by this in the first half of the measured slices (0.1 for 10 % more calls per second), but no
    /// longer in the second half.
    Drifting(f64),
    /// The throughput still changed in the second half: the change from the first quarter of the measured slices to the last.
    Never(f64),
}

/// How the throughput of an arm changed, by its geometric means over rounds with 95 % t intervals: from the first quarter
/// of the measured slices to their middle half, and from there to their last quarter. The warm-up itself cannot show this:
/// its pieces run in a row, while slices alternate with those of other arms and have another length.
/// `None` below [`MINIMUM_ROUNDS`] rounds, with fewer than four slices, and in open load, where the arrivals set the throughput.
pub fn warm_up(record: &RunRecord, strategy: usize) -> Option<WarmUp> {
    if record.settings.load != LoadModel::Closed {
        return None;
    }
    let rounds: Vec<[f64; 3]> = cells(record, strategy).filter_map(phases).collect();
    if rounds.len() < MINIMUM_ROUNDS {
        return None;
    }
    let early = significant_change(rounds.iter().map(|[first, middle, _]| middle / first));
    let late = significant_change(rounds.iter().map(|[_, middle, last]| last / middle));
    let whole = significant_change(rounds.iter().map(|[first, _, last]| last / first));
    Some(match (late, early, whole) {
        (Some(late), _, whole) => WarmUp::Never(whole.unwrap_or(late)),
        (None, Some(change), _) => WarmUp::Drifting(change),
        // A change too slow to show in one half.
        (None, None, Some(change)) => WarmUp::Never(change),
        (None, None, None) => WarmUp::Warm,
    })
}

/// Whether the documents of an arm grew, so that there is no steady state to wait for.
pub fn is_growing(record: &RunRecord, strategy: usize) -> bool {
    let grown = |before: f64, after: f64| before > 0.0 && after / before - 1.0 > GROWTH;
    collection_growth(record, strategy).iter().any(|growth| grown(growth.mean.before, growth.mean.after))
}

/// Calls per second in the first quarter of a cell's slices, in their middle half and in the last quarter; `None` with fewer than
/// four slices.
fn phases(cell: &CellRecord) -> Option<[f64; 3]> {
    let quarter = cell.slices.len() / 4;
    let (first, others) = cell.slices.split_at(quarter);
    let (middle, last) = others.split_at(others.len() - quarter);
    Some([slice_rate(first)?, slice_rate(middle)?, slice_rate(last)?])
}

/// The change that the ratios of the rounds show; `None` when it is not significant, or too small.
fn significant_change(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let logs: Vec<Option<f64>> = ratios.map(|ratio| Some(ratio.ln())).collect();
    let estimate = Estimate::of(&logs)?;
    let interval = estimate.interval(t_quantile(0.975, estimate.rounds - 1))?;
    (interval.excludes_one() && estimate.mean.abs() >= CHANGE.ln_1p()).then(|| estimate.ratio() - 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::results::{Arrivals, SliceRecord};

    /// A run whose arm 0 has these calls per second along its slices, give or take a percent from round to round.
    fn run(rounds: u64, rate: impl Fn(f64) -> f64) -> RunRecord {
        let mut run = sample::run(rounds);
        for (place, round) in run.rounds.iter_mut().enumerate() {
            let round_effect = 1.0 + 0.2 * place as f64;
            let slice = |rate: f64, noise: f64| SliceRecord {
                calls: 100,
                seconds: round_effect * (1.0 + noise) / rate,
                ..SliceRecord::default()
            };
            let noise = |at: usize| if (at + place).is_multiple_of(2) { 0.01 } else { -0.01 };
            round.cells[0].slices = (0..64).map(|at| slice(rate(at as f64 / 63.0), noise(at))).collect();
        }
        run
    }

    #[test]
    fn a_level_throughput_is_warm() {
        assert_eq!(warm_up(&run(8, |_| 100.0), 0), Some(WarmUp::Warm));
        assert_eq!(warm_up(&run(8, |at| 100.0 + 3.0 * at), 0), Some(WarmUp::Warm), "3 % is no change");
    }

    #[test]
    fn an_early_change_is_a_drift() {
        let made = warm_up(&run(8, |at| if at < 0.25 { 80.0 } else { 100.0 }), 0);
        assert!(matches!(made, Some(WarmUp::Drifting(change)) if (change - 0.25).abs() < 0.02), "{made:?}");
    }

    #[test]
    fn a_late_change_never_settles() {
        let made = warm_up(&run(8, |at| 100.0 - 40.0 * at), 0);
        assert!(matches!(made, Some(WarmUp::Never(change)) if (change + 0.316).abs() < 0.02), "{made:?}");
        // Too slow for a half.
        let made = warm_up(&run(8, |at| 100.0 - 9.0 * at), 0);
        assert!(matches!(made, Some(WarmUp::Never(change)) if (change + 0.068).abs() < 0.02), "{made:?}");
    }

    #[test]
    fn too_few_rounds_or_slices_or_open_load_give_no_result() {
        let mut made = run(5, |_| 100.0);
        assert_eq!(warm_up(&made, 0), None);
        made = run(8, |_| 100.0);
        assert_eq!(warm_up(&made, 1), None);
        made.settings.load = LoadModel::Open { rate: 10.0, arrivals: Arrivals::Poisson };
        assert_eq!(warm_up(&made, 0), None);
    }

    #[test]
    fn chance_is_no_change() {
        let mut made = run(8, |_| 100.0);
        for (place, round) in made.rounds.iter_mut().enumerate() {
            let factor = if place % 2 == 0 { 0.7 } else { 1.4 };
            round.cells[0].slices[48..].iter_mut().for_each(|slice| slice.seconds *= factor);
        }
        assert_eq!(warm_up(&made, 0), Some(WarmUp::Warm));
    }

    #[test]
    fn growing_documents_are_seen() {
        let made = run(6, |_| 100.0);
        assert_eq!((is_growing(&made, 0), is_growing(&made, 1)), (true, false));
    }
}
