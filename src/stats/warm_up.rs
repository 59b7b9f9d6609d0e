//! Whether the strategies were warm: whether what still changed while they were measured could move a verdict.
//!
//! All strategies make the same calls in the same order, so the ratio of two of them changes only if one is not in its steady
//! state. A change of the throughput alone says nothing: later calls may be other calls, or meet other data.

use crate::results::{CellRecord, Part, RunRecord, SliceRecord, Verdict};

use super::collection_growth;
use super::compare::{ArmComparison, Comparison, Limits, MINIMUM_ROUNDS, SIGNIFICANCE};
use super::estimate::{Estimate, log_ratios};
use super::student::t_quantile;
use super::throughput::slice_rate;
use super::view::cells;

/// The pieces of a stretch of own costs, each with a slice of every operation, in records whose slices do not name theirs.
const PIECES: usize = 6;

/// A collection whose documents' mean size grew by more than this share has no steady state.
const GROWTH: f64 = 0.05;

/// Two strategies whose ratio still changed, so far that a longer run may give another verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unsettled {
    /// The best strategy.
    pub strategy: usize,
    /// The other.
    pub against: usize,
    /// The time of the best divided by the other's, in the first half of the calls.
    pub early: f64,
    /// In their second half.
    pub late: f64,
}

/// The time per call of a cell, early and late.
type Halves = [f64; 2];

/// The comparisons of the best strategy that another change like the one seen would give another verdict. A change is seen
/// when the ratio of the rounds differs between their halves (t over rounds, Bonferroni's correction for all pairs).
///
/// The halves are those of the calls of every operation for own costs, and those of the slices at saturation; with a single
/// slice they are the second half of the warm-up and the slice. Empty with open load, where the arrivals set the throughput.
pub fn unsettled(record: &RunRecord, question: &ArmComparison) -> Vec<Unsettled> {
    let Some(ranking) = question.ranking() else { return Vec::new() };
    let floor = Limits::of(&record.settings).floor();
    let pairs = ranking.best_against.len() as f64;
    let found = ranking.best_against.iter().filter_map(|one| {
        let [early, late] = [0, 1].map(|half| ratios(record, one, half));
        let changes = early.iter().zip(&late).map(|(early, late)| Some((*late)? - (*early)?));
        let change = Estimate::of(&changes.collect::<Vec<_>>()).filter(|change| change.rounds >= MINIMUM_ROUNDS)?;
        let critical = t_quantile(1.0 - SIGNIFICANCE / (2.0 * pairs), change.rounds - 1);
        let [early, late] = [Estimate::of(&early)?, Estimate::of(&late)?];
        let is_seen = change.mean.abs() > floor.max(change.half_width(critical));
        (is_seen && would_move(&one.verdict, late.mean + change.mean, floor)).then(|| Unsettled {
            strategy: one.strategy,
            against: one.against,
            early: early.ratio(),
            late: late.ratio(),
        })
    });
    found.collect()
}

/// Whether a log ratio of times contradicts a verdict.
fn would_move(verdict: &Verdict, log_ratio: f64, floor: f64) -> bool {
    match verdict {
        Verdict::Faster => log_ratio > -floor,
        Verdict::Slower => log_ratio < floor,
        Verdict::Same { within: limit } | Verdict::NoDifference { mde: limit, .. } => log_ratio.abs() > limit.ln_1p(),
        Verdict::Inconclusive(_) => false,
    }
}

/// The log ratio of the times in a half of the calls, per round.
fn ratios(record: &RunRecord, one: &Comparison, half: usize) -> Vec<Option<f64>> {
    let times = |strategy| cells(record, strategy).map(|cell| Some(halves(record, cell)?[half])).collect::<Vec<_>>();
    log_ratios(&times(one.strategy), &times(one.against))
}

fn halves(record: &RunRecord, cell: &CellRecord) -> Option<Halves> {
    match (record.part, cell.slices.as_slice()) {
        (Some(part), _) if part.is_open() => None,
        (Some(Part::Own), slices) => of_operations(record, slices),
        (_, [slice]) => of_stretches(cell.warm_up.get(cell.warm_up.len() / 2..)?, &[*slice]),
        (_, slices) => of_slices(slices),
    }
}

fn of_slices(slices: &[SliceRecord]) -> Option<Halves> {
    let half = slices.len() / 2;
    of_stretches(&slices[..half], &slices[slices.len() - half..])
}

fn of_stretches(early: &[SliceRecord], late: &[SliceRecord]) -> Option<Halves> {
    Some([slice_rate(early)?.recip(), slice_rate(late)?.recip()])
}

/// The mean over the operations, weighted as in the mix. Operations without a call in one of the halves are left out, which are
/// the same in all cells of a round, because the calls are.
fn of_operations(record: &RunRecord, slices: &[SliceRecord]) -> Option<Halves> {
    let called = |name: &str| record.mix.weights.iter().find(|(of, weight)| of == name && *weight > 0.0);
    let weights: Vec<f64> =
        record.operations.iter().map(|name| called(name).map_or(0.0, |(_, weight)| *weight)).collect();
    let in_turn: Vec<usize> = (0..weights.len()).filter(|operation| weights[*operation] > 0.0).collect();
    let is_whole = slices.len() == in_turn.len() * PIECES;
    let operation = |(place, slice): (usize, &SliceRecord)| {
        slice.operation.or_else(|| in_turn.get(place % in_turn.len().max(1)).copied().filter(|_| is_whole))
    };
    let operations: Vec<usize> = slices.iter().enumerate().map(operation).collect::<Option<_>>()?;
    let mut sums = [0.0, 0.0];
    for (of, weight) in weights.iter().enumerate() {
        let own = slices.iter().zip(&operations).filter(|(_, operation)| **operation == of).map(|(slice, _)| *slice);
        let times = of_slices(&own.collect::<Vec<_>>()).unwrap_or_default();
        sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += weight * time);
    }
    (sums[0] > 0.0).then_some(sums)
}

/// Whether the documents of a strategy grew, so that there is no steady state to wait for.
pub fn is_growing(record: &RunRecord, strategy: usize) -> bool {
    let grown = |before: f64, after: f64| before > 0.0 && after / before - 1.0 > GROWTH;
    collection_growth(record, strategy).iter().any(|growth| grown(growth.mean.before, growth.mean.after))
}

#[cfg(test)]
mod tests {
    use super::super::{ArmTimes, compare, sample};
    use super::*;
    use crate::record::Metric;

    /// A run at saturation whose arm 1 takes this many times as long as arm 0 along its slices, give or take a percent.
    fn run(rounds: u64, part: Part, slices: usize, ratio: impl Fn(f64) -> f64) -> RunRecord {
        let mut run = sample::run(rounds);
        run.part = Some(part);
        for (place, round) in run.rounds.iter_mut().enumerate() {
            for (arm, cell) in round.cells.iter_mut().enumerate().take(2) {
                let slice = |at: usize| {
                    // What the calls of a slice are is the same for both arms.
                    let content = 1.0 + 0.5 * (at % 3) as f64 + place as f64;
                    let noise = if (at + place + arm).is_multiple_of(2) { 1.01 } else { 0.99 };
                    let own = if arm == 1 { ratio(at as f64 / (slices - 1) as f64) } else { 1.0 };
                    SliceRecord { calls: 100, seconds: content * noise * own, ..SliceRecord::default() }
                };
                cell.slices = (0..slices).map(slice).collect();
            }
        }
        run
    }

    /// What is unsettled where arm 0 takes `verdict` times as long as arm 1 in the numbers that were compared.
    fn found(run: &RunRecord, verdict: f64) -> Vec<Unsettled> {
        let arm = |strategy, time: f64| {
            ArmTimes::sample(strategy, super::super::Role::Judged, vec![Some(time); run.rounds.len()])
        };
        let question = ArmComparison::new(Metric::MEAN, None, vec![arm(0, verdict), arm(1, 1.0)]);
        unsettled(run, &compare(vec![question], Limits::default())[0])
    }

    #[test]
    fn a_change_that_leaves_the_verdict_is_nothing_to_say() {
        assert_eq!(found(&run(8, Part::Saturation, 32, |_| 2.0), 0.5), []);
        assert_eq!(found(&run(8, Part::Saturation, 32, |at| 2.0 + at), 0.4), [], "ever more");
        assert_eq!(found(&run(8, Part::Saturation, 32, |at| 3.0 - 0.5 * at), 0.36), [], "still twice as long");
    }

    #[test]
    fn a_change_that_would_move_the_verdict_is_found() {
        let moved = found(&run(8, Part::Saturation, 32, |at| 1.5 - 0.6 * at), 0.83);
        let [one] = moved.as_slice() else { panic!("{moved:?}") };
        assert_eq!((one.strategy, one.against), (0, 1));
        assert!((one.early.recip() - 1.35).abs() < 0.02 && (one.late.recip() - 1.05).abs() < 0.02, "{one:?}");
        // Nothing was found over all calls, and the difference grows.
        assert_eq!(found(&run(8, Part::Saturation, 32, |at| 0.8 + 0.4 * at), 1.0).len(), 1);
    }

    #[test]
    fn a_single_slice_is_compared_with_the_warm_up() {
        let mut run = run(8, Part::Saturation, 2, |_| 1.05);
        for (arm, cell) in run.rounds.iter_mut().flat_map(|round| round.cells.iter_mut().enumerate()) {
            cell.slices.truncate(1);
            let piece = |at: usize| SliceRecord {
                calls: 100,
                // Cold until the half, then 30 % slower.
                seconds: if at < 4 { 9.0 } else { 1.0 } * if arm == 1 { 1.3 } else { 1.0 },
                ..SliceRecord::default()
            };
            cell.warm_up = (0..8).map(piece).collect();
        }
        assert_eq!(found(&run, 0.95).len(), 1);
        run.rounds.iter_mut().flat_map(|round| &mut round.cells).for_each(|cell| cell.warm_up.clear());
        assert_eq!(found(&run, 0.95), []);
    }

    #[test]
    fn own_costs_are_compared_operation_by_operation() {
        // Three operations of very different times in six pieces.
        let mut steady = run(8, Part::Own, 18, |_| 1.1);
        assert_eq!(found(&steady, 0.9), []);
        let changing = run(8, Part::Own, 18, |at| if at < 0.5 { 1.4 } else { 1.05 });
        assert_eq!(found(&changing, 0.83).len(), 1);
        // Without the operations of the slices, a missing one makes all of them unknown.
        let mut short = changing;
        let slices = |run: &mut RunRecord, change: &dyn Fn(&mut Vec<SliceRecord>)| {
            run.rounds.iter_mut().flat_map(|round| &mut round.cells).for_each(|cell| change(&mut cell.slices));
        };
        slices(&mut short, &|slices| slices.truncate(17));
        assert_eq!(found(&short, 0.83), []);
        let name = |slices: &mut Vec<SliceRecord>| {
            slices.iter_mut().enumerate().for_each(|(place, slice)| slice.operation = Some(place % 3));
        };
        slices(&mut short, &name);
        assert_eq!(found(&short, 0.83).len(), 1);
        slices(&mut steady, &name);
        assert_eq!(found(&steady, 0.9), []);
    }

    #[test]
    fn chance_too_few_rounds_and_open_load_are_nothing() {
        let changing = |rounds, part| run(rounds, part, 32, |at| 1.5 - 0.6 * at);
        assert_eq!(found(&changing(5, Part::Saturation), 0.83), []);
        assert_eq!(found(&changing(8, Part::Rate), 0.83), []);
        let mut chance = run(8, Part::Saturation, 32, |_| 1.05);
        for (place, round) in chance.rounds.iter_mut().enumerate() {
            let factor = if place % 2 == 0 { 0.7 } else { 1.4 };
            round.cells[1].slices[16..].iter_mut().for_each(|slice| slice.seconds *= factor);
        }
        assert_eq!(found(&chance, 0.95), []);
    }

    #[test]
    fn growing_documents_are_seen() {
        let made = sample::run(6);
        assert_eq!((is_growing(&made, 0), is_growing(&made, 1)), (true, false));
    }
}
