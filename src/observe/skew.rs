//! How unevenly calls are spread over records.

use std::collections::HashMap;

use crate::generate::{Label, Seed, Stream};
use crate::infer::skew::exponent_of_chance;

/// Below this many calls an exponent says nothing.
const FEWEST: usize = 30;
/// Below this many calls an exponent is not better than +-0.4.
pub(super) const FEW: usize = 300;
/// More values than this make the interval no better.
const MOST: usize = 20_000;
/// Resamples of the interval.
const RESAMPLES: usize = 200;
/// Labels the calls that are drawn again. Their seed is fixed, so that the same log gives the same file.
const RESAMPLED: Label = Label::new("resampled calls");

/// An exponent of Zipf's law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Skew {
    pub(super) exponent: f64,
    /// The 95 % interval.
    pub(super) low: f64,
    pub(super) high: f64,
    /// The calls that it was found from.
    pub(super) calls: usize,
}

/// The exponent for which two calls name the same record as often as these did, over `records` records; none for too few calls.
///
/// No record has to be ranked, and records that were never named do no harm.
pub(super) fn estimate(values: &[u64], records: u64) -> Option<Skew> {
    let values = &values[..values.len().min(MOST)];
    if values.len() < FEWEST || records < 2 {
        return None;
    }
    let mut numbers: HashMap<u64, usize> = HashMap::new();
    let number = |value: &u64| {
        let next = numbers.len();
        *numbers.entry(*value).or_insert(next)
    };
    let of_value: Vec<usize> = values.iter().map(number).collect();
    let mut random = Stream::new(Seed::new(1), RESAMPLED, 0);
    let resampled = (0..RESAMPLES).map(|_| {
        let mut times = vec![0_u32; of_value.len()];
        for _ in 0..times.len() {
            times[random.below(of_value.len() as u64) as usize] += 1;
        }
        chance(&of_value, &times)
    });
    let mut resampled: Vec<f64> = resampled.collect();
    resampled.sort_by(f64::total_cmp);
    // A greater chance has a greater exponent, so that only the ends of the interval have to be translated.
    let at = |share: f64| exponent_of_chance(resampled[(share * (RESAMPLES - 1) as f64).round() as usize], records);
    let exponent = exponent_of_chance(chance(&of_value, &vec![1; of_value.len()]), records);
    Some(Skew { exponent, low: at(0.025), high: at(0.975), calls: values.len() })
}

/// The chance that two calls name the same record, where call i counts `times[i]` times. A pair of one call with itself is none: a
/// resample would otherwise look skewed.
fn chance(of_value: &[usize], times: &[u32]) -> f64 {
    let (mut by_value, mut own) = (vec![0.0; of_value.len()], 0.0);
    for (value, times) in of_value.iter().zip(times) {
        let times = f64::from(*times);
        by_value[*value] += times;
        own += times * times;
    }
    let all: f64 = by_value.iter().sum();
    let same: f64 = by_value.iter().map(|calls| calls * calls).sum();
    (same - own) / (all * all - own).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(calls: usize, records: u64, exponent: f64) -> Vec<u64> {
        let mut random = Stream::new(Seed::new(7), RESAMPLED, 0);
        let weights: Vec<f64> = (1..=records).map(|i| (i as f64).powf(-exponent)).collect();
        let sums: Vec<f64> = weights
            .iter()
            .scan(0.0, |sum, weight| {
                *sum += weight;
                Some(*sum)
            })
            .collect();
        let all = sums[sums.len() - 1];
        let draw = |random: &mut Stream| {
            let at = all * (random.unit());
            sums.partition_point(|sum| *sum < at) as u64
        };
        (0..calls).map(|_| draw(&mut random)).collect()
    }

    #[test]
    fn exponents_of_known_draws_are_found() {
        for (calls, records, exponent) in [(2000, 300, 1.1), (2000, 1000, 0.8), (5000, 100_000, 1.0)] {
            let found = estimate(&drawn(calls, records, exponent), records).unwrap();
            assert!((found.exponent - exponent).abs() < 0.1, "{exponent}: {found:?}");
            assert!(found.low < exponent && exponent < found.high, "{exponent}: {found:?}");
            assert!(found.high - found.low < 0.4, "{exponent}: {found:?}");
        }
    }

    #[test]
    fn uniform_draws_include_zero() {
        for calls in [168, 1000] {
            let found = estimate(&drawn(calls, 12_276, 0.0), 12_276).unwrap();
            assert_eq!(found.low, 0.0, "{found:?}");
        }
    }

    #[test]
    fn too_few_calls_have_no_exponent() {
        assert_eq!(estimate(&drawn(29, 100, 1.0), 100), None);
    }
}
