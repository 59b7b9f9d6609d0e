//! The mix as a whole.

use crate::results::{CellRecord, RoundRecord, RunRecord};

use super::mean;

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
        let called = |cell: &CellRecord| cell.operations.get(operation).is_some_and(|o| o.calls > 0);
        if round.cells.iter().any(called) {
            sum += weight * mean(cell.operations.get(operation)?)?;
            weights += weight;
        }
    }
    (weights > 0.0).then(|| sum / weights)
}

#[cfg(test)]
mod tests {
    use super::super::{Estimate, log_ratios, sample};
    use super::*;
    use crate::record::CallOutcome;

    #[test]
    fn the_mix_weighs_means_not_calls() {
        let run = sample::run(1);
        let means: Vec<f64> = (0..3).map(|o| mean(&run.rounds[0].cells[0].operations[o]).unwrap()).collect();
        let expected = (60.0 * means[0] + 30.0 * means[1] + 2.0 * means[2]) / 92.0;
        assert!((mix_means(&run, 0)[0].unwrap() / expected - 1.0).abs() < 1e-12);
    }

    #[test]
    fn operations_without_calls_are_left_out() {
        let mut run = sample::run(1);
        for cell in &mut run.rounds[0].cells {
            cell.operations[2].calls = 0;
            cell.operations[2].outcomes.clear();
        }
        run.mix.weights[1].1 = 0.0;
        assert_eq!(mix_means(&run, 1)[0], mean(&run.rounds[0].cells[1].operations[0]));
    }

    #[test]
    fn mix_without_a_success_has_no_mean() {
        let mut run = sample::run(2);
        run.rounds[1].cells[1].operations[0].outcomes.retain(|outcome| outcome.outcome == CallOutcome::Failed);
        let means = mix_means(&run, 1);
        assert!(means[0].is_some() && means[1].is_none());
        assert!(mix_means(&run, 0)[1].is_some());
    }

    #[test]
    fn an_arm_against_its_own_copy_has_ratio_one() {
        let mut run = sample::run(8);
        run.rounds.iter_mut().for_each(|round| round.cells[1] = round.cells[0].clone());
        assert_eq!(Estimate::of(&log_ratios(&mix_means(&run, 1), &mix_means(&run, 0))).unwrap().ratio(), 1.0);
    }
}
