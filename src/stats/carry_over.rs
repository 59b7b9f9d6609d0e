//! Whether it matters which arm ran before: an arm may leave the server in a state that the next one pays for.
//!
//! Slices alternate in an order drawn anew for every slice, so that each arm runs now after this arm, now after that.

use std::collections::BTreeMap;

use crate::results::{RoundRecord, RunRecord};

use super::compare::{Limits, MINIMUM_ROUNDS, SIGNIFICANCE};
use super::estimate::Estimate;
use super::student::t_quantile;

/// Minimum number of slices of an arm after one predecessor, and after others, for a round to contribute an estimate.
const SLICES: usize = 3;

/// An arm whose slices take longer or shorter after another arm than after the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CarryOver {
    /// The arm.
    pub strategy: usize,
    /// The arm that ran just before.
    pub after: usize,
    /// The additional time of the arm after that one (0.1 for 10 %).
    pub effect: f64,
}

/// A slice: its arm, the arm before it, and the logarithm of its time less the mean over the arms.
type SlicePosition = (usize, usize, f64);

/// The effects that are beyond the noise floor and beyond chance, the greatest first: within slice j of all arms, the
/// logarithm of the seconds of each less their mean (which takes out what the calls were, and the round effect); per round the
/// mean of those with one predecessor less the mean of the others; t over rounds, with Bonferroni's correction for all
/// pairs of arm and predecessor. Empty below [`MINIMUM_ROUNDS`] rounds, and where arms did not alternate.
pub fn carry_over(record: &RunRecord) -> Vec<CarryOver> {
    let mut effects: BTreeMap<(usize, usize), Vec<Option<f64>>> = BTreeMap::new();
    for round in &record.rounds {
        for (pair, effect) in effects_in_round(&slice_positions(round)) {
            effects.entry(pair).or_default().push(Some(effect));
        }
    }
    effects.retain(|_, effects| effects.len() >= MINIMUM_ROUNDS);
    let pairs = effects.len() as f64;
    let floor = Limits::of(&record.settings).floor();
    let found = effects.into_iter().filter_map(|((strategy, after), effects)| {
        let estimate = Estimate::of(&effects)?;
        let critical = t_quantile(1.0 - SIGNIFICANCE / (2.0 * pairs), estimate.rounds - 1);
        let chance = critical * estimate.error().unwrap_or(f64::INFINITY);
        let effect = estimate.mean.exp_m1();
        (estimate.mean.abs() > floor.max(chance)).then_some(CarryOver { strategy, after, effect })
    });
    let mut found: Vec<CarryOver> = found.collect();
    found.sort_by(|a, b| b.effect.abs().total_cmp(&a.effect.abs()));
    found
}

/// The slices of a round that have a predecessor and neighbours to compare with.
fn slice_positions(round: &RoundRecord) -> Vec<SlicePosition> {
    let (mut slice_positions, mut last) = (Vec::new(), None);
    // Per arm, how many of its slices have come.
    let mut seen = vec![0_usize; round.cells.len()];
    for order in &round.order {
        let mut logs = Vec::new();
        for &arm in order {
            let taken = seen.get_mut(arm).map(|seen| std::mem::replace(seen, *seen + 1));
            let slice = taken.and_then(|place| round.cells.get(arm)?.slices.get(place));
            let log = slice.map(|slice| slice.seconds.ln()).filter(|log| log.is_finite());
            logs.push((arm, last.replace(arm), log));
        }
        let known: Vec<f64> = logs.iter().filter_map(|(_, _, log)| *log).collect();
        if known.len() < 2 || known.len() < order.len() {
            continue;
        }
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let position = |(arm, after, log): (usize, Option<usize>, Option<f64>)| Some((arm, after?, log? - mean));
        slice_positions.extend(logs.into_iter().filter_map(position));
    }
    slice_positions
}

/// For every pair of different arms, how much longer the slices of the first take after the second than after the others.
fn effects_in_round(slice_positions: &[SlicePosition]) -> BTreeMap<(usize, usize), f64> {
    // Count and sum, per pair and per arm.
    let mut by_pair: BTreeMap<(usize, usize), (usize, f64)> = BTreeMap::new();
    let mut by_arm: BTreeMap<usize, (usize, f64)> = BTreeMap::new();
    for (arm, after, log) in slice_positions {
        for (count, sum) in [by_pair.entry((*arm, *after)).or_default(), by_arm.entry(*arm).or_default()] {
            (*count, *sum) = (*count + 1, *sum + log);
        }
    }
    let effects = by_pair.into_iter().filter_map(|((arm, after), (count, sum))| {
        let (all, total) = by_arm.get(&arm)?;
        let others = all - count;
        let is_enough = arm != after && count >= SLICES && others >= SLICES;
        is_enough.then(|| ((arm, after), sum / count as f64 - (total - sum) / others as f64))
    });
    effects.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::sample;
    use super::super::simulation::normal;
    use super::*;
    use crate::generate::{Label, Seed, Stream};
    use crate::results::SliceRecord;

    /// A run of three arms in shuffled slices; `time` gives the seconds of a slice: round, slice, arm and predecessor.
    fn run(
        rounds: u64,
        slices: usize,
        stream: &mut Stream,
        mut time: impl FnMut(&mut Stream, u64, usize, usize, Option<usize>) -> f64,
    ) -> RunRecord {
        let mut run = sample::run(0);
        let template = sample::run(1).rounds.remove(0);
        for index in 0..rounds {
            let mut round = template.clone();
            (round.index, round.order) = (index, Vec::new());
            let mut last = None;
            for slice in 0..slices {
                let mut order = vec![0, 1, 2];
                order.swap(2, stream.below(3) as usize);
                order.swap(1, stream.below(2) as usize);
                for &arm in &order {
                    let seconds = time(stream, index, slice, arm, last.replace(arm));
                    round.cells[arm].slices.push(SliceRecord { calls: 100, seconds, ..SliceRecord::default() });
                }
                round.order.push(order);
            }
            run.rounds.push(round);
        }
        run
    }

    fn stream(seed: u64) -> Stream {
        Stream::new(Seed::new(seed), Label::new("carry-over"), 0)
    }

    #[test]
    fn an_effect_without_noise_is_found_as_it_is() {
        let dear = |_: &mut Stream, round: u64, slice: usize, arm: usize, after: Option<usize>| {
            let content = 0.05 * (1.0 + (slice % 7) as f64) * (1.0 + round as f64);
            let own = [1.0, 3.0, 0.5][arm];
            content * own * if (arm, after) == (2, Some(1)) { 1.3 } else { 1.0 }
        };
        let found = carry_over(&run(8, 64, &mut stream(1), dear));
        // The mean over the slice's three arms takes a third of it.
        let first = found[0];
        assert_eq!((first.strategy, first.after), (2, 1), "{found:?}");
        assert!((first.effect - (1.3_f64.ln() * 2.0 / 3.0).exp_m1()).abs() < 0.01, "{first:?}");
        assert_eq!(carry_over(&run(5, 64, &mut stream(1), dear)), [], "too few rounds");
        let mut floored = run(8, 64, &mut stream(1), dear);
        floored.settings.noise = 0.5;
        assert_eq!(carry_over(&floored), []);
    }

    #[test]
    fn calls_and_round_effects_cancel() {
        let found = carry_over(&run(8, 64, &mut stream(2), |_, round, slice, arm, _| {
            (1.0 + round as f64) * (1.0 + (slice * 31 % 17) as f64) * [1.0, 5.0, 0.1][arm]
        }));
        assert_eq!(found, []);
    }

    #[test]
    fn false_alarms_in_about_one_run_of_twenty() {
        let runs = 400;
        let mut stream = stream(3);
        let alarms = (0..runs).filter(|_| {
            let mut run = run(8, 64, &mut stream, |stream, _, _, _, _| (0.05 * normal(stream)).exp());
            run.settings.noise = 0.0;
            !carry_over(&run).is_empty()
        });
        let share = alarms.count() as f64 / f64::from(runs);
        assert!(share < 0.08, "{share}");
    }

    #[test]
    fn a_tenth_of_more_time_is_found_in_noise() {
        let mut stream = stream(4);
        let found = (0..50).filter(|_| {
            let run = run(8, 64, &mut stream, |stream, _, _, arm, after| {
                (0.05 * normal(stream)).exp() * if (arm, after) == (0, Some(2)) { 1.1 } else { 1.0 }
            });
            carry_over(&run).first().is_some_and(|found| (found.strategy, found.after) == (0, 2))
        });
        assert!(found.count() >= 48);
    }

    #[test]
    fn isolated_arms_and_records_without_slices_have_no_effect() {
        assert_eq!(carry_over(&sample::run(8)), []);
        let mut isolated = run(8, 64, &mut stream(5), |_, _, _, arm, _| 1.0 + arm as f64);
        for round in &mut isolated.rounds {
            round.order = (0..3).flat_map(|arm| vec![vec![arm]; 64]).collect();
        }
        assert_eq!(carry_over(&isolated), []);
        isolated.rounds[0].order[0] = vec![77];
        isolated.rounds[1].cells[2].slices.clear();
        isolated.rounds[2].cells[0].slices[3].seconds = -1.0;
        assert_eq!(carry_over(&isolated), []);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn faster_machines_and_renumbered_rounds_change_nothing(seed in 0_u64..1_000, factor in 0.01_f64..100.0) {
            let noisy = |stream: &mut Stream, _, _, arm, after| {
                (0.1 * normal(stream)).exp() * if (arm, after) == (1, Some(0)) { 1.2 } else { 1.0 }
            };
            let plain = run(6, 20, &mut stream(seed), noisy);
            let mut other = plain.clone();
            other.rounds.reverse();
            for slice in other.rounds.iter_mut().flat_map(|r| &mut r.cells).flat_map(|c| &mut c.slices) {
                slice.seconds *= factor;
            }
            let (one, two) = (carry_over(&plain), carry_over(&other));
            prop_assert_eq!(one.len(), two.len());
            for (a, b) in one.iter().zip(&two) {
                prop_assert!((a.strategy, a.after) == (b.strategy, b.after) && (a.effect - b.effect).abs() < 1e-9);
            }
        }
    }
}
