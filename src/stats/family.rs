//! Comparisons that are judged together, so that many of them do not find by chance what is not there.
//!
//! P-values: step-down max-|t| of Westfall and Young, with the signs of whole rounds flipped. If arms do not differ, each of
//! their rounds could as well have come out the other way round, in all comparisons at once, since they share the round's
//! round effect and often an arm.
//!
//! Intervals: the same flips of the log ratios *minus their own means*. An interval must hold whatever the differences are, and
//! the flips of ratios that differ from 0 are mostly spread: their greatest |t| is too small.

use std::cmp::Ordering;

use crate::generate::{Label, Seed, Stream};

use super::compare::SIGNIFICANCE;

/// Up to this many rounds all sign patterns are enumerated.
const EXHAUSTIVE_ROUNDS: usize = 14;

/// With more rounds, the number of sampled sign patterns, including the observed one.
const DRAWN_PATTERNS: usize = 20_000;

/// Statistics that differ by no more than this share are equal: sums of the same numbers in another order.
const ROUNDING: f64 = 1e-9;

/// The results of a family of comparisons.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// The adjusted p of each comparison; 1 with fewer than two rounds.
    pub p: Vec<f64>,
    /// How many standard errors the ends of simultaneous 95 % CIs are from the mean: beyond it, fewer than 5 % of the patterns
    /// of signs reach as great a |t| with centred log ratios, the observed pattern included, as in a p-value. Infinite when
    /// too many patterns have no spread.
    pub critical: f64,
}

/// The log ratios of one comparison.
struct LogRatios {
    mean: f64,
    /// Per round, minus the mean; 0, which no flip changes, where there is none.
    centred: Vec<f64>,
    /// The rounds without a log ratio.
    missing: Vec<usize>,
    rounds: f64,
    /// The sum of the squares of `centred`.
    squares: f64,
}

impl LogRatios {
    fn new(log_ratios: &[Option<f64>], order: &[usize]) -> LogRatios {
        let values: Vec<Option<f64>> = order.iter().map(|round| log_ratios[*round]).collect();
        let rounds = values.iter().flatten().count() as f64;
        let mean = values.iter().flatten().sum::<f64>() / rounds.max(1.0);
        let mut centred: Vec<f64> = values.iter().map(|value| value.map_or(0.0, |value| value - mean)).collect();
        let mut squares: f64 = centred.iter().map(|value| value * value).sum();
        if squares <= rounds * mean * mean * ROUNDING * ROUNDING {
            // What is left of equal numbers is rounding.
            (squares, centred) = (0.0, vec![0.0; values.len()]);
        }
        let missing = (0..values.len()).filter(|place| values[*place].is_none()).collect();
        LogRatios { mean, centred, missing, rounds, squares }
    }

    /// |t| under a pattern of signs, which add up to `total`: of the log ratios, and of the centred ones.
    fn statistics(&self, signs: &[f64], total: f64) -> (f64, f64) {
        let sum: f64 = self.centred.iter().zip(signs).map(|(value, sign)| value * sign).sum();
        let total = total - self.missing.iter().map(|place| signs[*place]).sum::<f64>();
        let raw = self.statistic(sum + self.mean * total, self.squares + self.rounds * self.mean * self.mean);
        (raw, self.statistic(sum, self.squares))
    }

    /// |t| of numbers with this sum and this sum of squares, which is the same under all patterns.
    fn statistic(&self, sum: f64, squares: f64) -> f64 {
        let explained = sum * sum / self.rounds;
        if self.rounds < 2.0 || explained <= squares * ROUNDING * ROUNDING {
            return 0.0;
        }
        let rest = squares - explained;
        if rest <= squares * ROUNDING {
            return f64::INFINITY;
        }
        (explained * (self.rounds - 1.0) / rest).sqrt()
    }
}

impl Family {
    /// Judges comparisons, each given by its log ratios in the same rounds; `None` in a round that it lacks.
    pub fn new(comparisons: &[Vec<Option<f64>>]) -> Family {
        let order = order(comparisons);
        let series: Vec<LogRatios> = comparisons.iter().map(|ratios| LogRatios::new(ratios, &order)).collect();
        let observed = vec![1.0; order.len()];
        let seen: Vec<f64> = series.iter().map(|one| one.statistics(&observed, order.len() as f64).0).collect();
        let mut ranks: Vec<usize> = (0..series.len()).collect();
        ranks.sort_by(|a, b| seen[*b].total_cmp(&seen[*a]));
        let (mut reached, mut greatest) = (vec![0_usize; series.len()], Vec::new());
        for_each_pattern(order.len(), |signs| {
            let total = signs.iter().sum();
            let (mut most, mut most_centred): (f64, f64) = (0.0, 0.0);
            for (rank, place) in ranks.iter().enumerate().rev() {
                let (raw, centred) = series[*place].statistics(signs, total);
                (most, most_centred) = (most.max(raw), most_centred.max(centred));
                reached[rank] += usize::from(most >= seen[*place] * (1.0 - ROUNDING));
            }
            greatest.push(most_centred);
        });
        let mut p = vec![1.0; series.len()];
        let mut least: f64 = 0.0;
        for (rank, place) in ranks.into_iter().enumerate() {
            least = least.max(reached[rank] as f64 / greatest.len() as f64);
            p[place] = least;
        }
        greatest.sort_by(|a, b| b.total_cmp(a));
        // The most patterns, besides the observed one, with which p is still below the significance level.
        let allowed = ((greatest.len() as f64 * SIGNIFICANCE).ceil() as usize).saturating_sub(2);
        Family { p, critical: greatest[allowed] }
    }
}

/// The rounds by the size of their log ratios without signs. The result of drawn patterns then depends neither on the order
/// of the rounds nor on which arm is the baseline.
fn order(comparisons: &[Vec<Option<f64>>]) -> Vec<usize> {
    let size = |ratios: &[Option<f64>], round: usize| ratios[round].map_or(-1.0, f64::abs);
    let mut order: Vec<usize> = (0..comparisons.iter().map(Vec::len).min().unwrap_or(0)).collect();
    order.sort_by(|a, b| {
        let orders = comparisons.iter().map(|ratios| size(ratios, *a).total_cmp(&size(ratios, *b)));
        orders.fold(Ordering::Equal, Ordering::then)
    });
    order
}

/// Calls with patterns of signs (1 or -1 per round), the first without any flip. The last round keeps its sign: to flip
/// all rounds changes no |t|.
fn for_each_pattern(rounds: usize, mut visit: impl FnMut(&[f64])) {
    let mut signs = vec![1.0; rounds];
    if rounds <= EXHAUSTIVE_ROUNDS {
        for pattern in 0..1_u32 << rounds.saturating_sub(1) {
            for (round, sign) in signs.iter_mut().enumerate() {
                *sign = if pattern >> round & 1 == 1 { -1.0 } else { 1.0 };
            }
            visit(&signs);
        }
        return;
    }
    visit(&signs);
    // The seed is fixed: a record gives the same report whenever it is read.
    let mut stream = Stream::new(Seed::new(0), Label::new("signs of rounds"), 0);
    for _ in 1..DRAWN_PATTERNS {
        signs.iter_mut().for_each(|sign| *sign = if stream.bits() >> 63 == 1 { -1.0 } else { 1.0 });
        visit(&signs);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    /// The definition, taken literally: t from mean and deviation of flipped values, maxima over the less extreme.
    fn brute_force(comparisons: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let t = |values: &[f64], pattern: u32| {
            let flip = |(round, value): (usize, &f64)| if pattern >> round & 1 == 1 { -value } else { *value };
            let flipped: Vec<f64> = values.iter().enumerate().map(flip).collect();
            let count = flipped.len() as f64;
            let mean = flipped.iter().sum::<f64>() / count;
            if mean == 0.0 {
                return 0.0;
            }
            let variance = flipped.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (count - 1.0);
            (mean / (variance / count).sqrt()).abs()
        };
        // Both halves of the patterns, unlike the code under test.
        let patterns = 1_u32 << comparisons[0].len();
        let seen: Vec<f64> = comparisons.iter().map(|values| t(values, 0)).collect();
        let stepped = |place: usize| {
            let rest: Vec<usize> = (0..seen.len()).filter(|other| seen[*other] <= seen[place]).collect();
            let most = |pattern| rest.iter().map(|other| t(&comparisons[*other], pattern)).fold(0.0, f64::max);
            let reached = (0..patterns).filter(|pattern| most(*pattern) >= seen[place] * (1.0 - 1e-9)).count();
            reached as f64 / f64::from(patterns)
        };
        let centred = |values: &Vec<f64>| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            values.iter().map(|value| value - mean).collect::<Vec<f64>>()
        };
        let centred: Vec<Vec<f64>> = comparisons.iter().map(centred).collect();
        let raw: Vec<f64> = (0..seen.len()).map(stepped).collect();
        let monotone = |place: usize| {
            (0..seen.len()).filter(|other| seen[*other] >= seen[place]).map(|other| raw[other]).fold(0.0, f64::max)
        };
        let mut greatest: Vec<f64> =
            (0..patterns).map(|p| centred.iter().map(|values| t(values, p)).fold(0.0, f64::max)).collect();
        greatest.sort_by(|a, b| b.total_cmp(a));
        // Every pattern is here twice.
        let allowed = (f64::from(patterns) / 2.0 * 0.05).ceil().max(2.0) as usize - 2;
        ((0..seen.len()).map(monotone).collect(), greatest[2 * allowed])
    }

    #[test]
    fn three_rounds_by_hand() {
        // Of (1, 2, 3) the four patterns up to a flip of all sum to 6, 4, 2 and 0 (flipping none, 1, 2, and 1 and 2).
        // t = sum / sqrt(3) / s, with s^2 = (14 - sum^2 / 3) / 2: 3.4641 for 6, 1.1094 for 4, 0.4588 for 2, 0 for 0.
        let made = Family::new(&[all(&[1.0, 2.0, 3.0])]);
        assert_eq!(made.p, [0.25]);
        // Centred, (-1, 0, 1): 0, 2, 0 and 2, and t = 2 / sqrt(3) / s with s^2 = (2 - 4 / 3) / 2.
        assert!((made.critical - 2.0).abs() < 1e-9);
        let made = Family::new(&[all(&[-1.0, 2.0, 3.0])]);
        assert_eq!(made.p, [0.5]);
        // Together: the pattern that flips round 1 gives the first the greatest |t|, so that it counts for both.
        let made = Family::new(&[all(&[-1.0, 2.0, 3.0]), all(&[1.0, 2.0, 3.0])]);
        assert_eq!(made.p, [0.5, 0.5]);
    }

    #[test]
    fn rounds_that_agree_have_the_smallest_possible_p() {
        for rounds in 2..=14 {
            let made = Family::new(&[all(&vec![0.3; rounds])]);
            assert_eq!(made.p, [0.5_f64.powi(rounds as i32 - 1)]);
            assert_eq!(made.critical, 0.0);
        }
        let made = Family::new(&[all(&[0.3; 20])]);
        assert!(made.p[0] <= 2.0 / 20_000.0 && made.critical == 0.0, "{made:?}");
    }

    #[test]
    fn what_the_ratios_are_does_not_change_the_intervals() {
        let noise = [0.02, -0.01, 0.03, -0.02, 0.01, 0.0, -0.03, 0.04];
        let with = |effect: f64| {
            Family::new(&[all(&noise.map(|value| value + effect)), all(&noise.map(|value| value * value))])
        };
        assert!(close(with(0.0).critical, with(0.7).critical));
        assert!(with(0.7).p[0] < with(0.0).p[0]);
    }

    #[test]
    fn missing_and_zero_ratios_change_no_other_p() {
        let clear = all(&[0.2, 0.21, 0.19, 0.2, 0.22, 0.2, 0.18, 0.2]);
        let alone = Family::new(std::slice::from_ref(&clear));
        let mut one = vec![None; 8];
        one[3] = Some(5.0);
        let made = Family::new(&[clear, vec![Some(0.0); 8], vec![None; 8], one]);
        assert_eq!(made.p, [alone.p[0], 1.0, 1.0, 1.0]);
        assert_eq!(made.critical, alone.critical);
        assert_eq!(Family::new(&[]).p, Vec::<f64>::new());
        assert_eq!(Family::new(&[Vec::new()]).p, [1.0]);
    }

    #[test]
    fn drawn_patterns_come_close_to_all() {
        let values: Vec<f64> = (0..15).map(|round| 0.05 + f64::from((round * 7) % 15 - 7) * 0.012).collect();
        let (p, critical) = brute_force(std::slice::from_ref(&values));
        let made = Family::new(&[all(&values)]);
        assert!((made.p[0] - p[0]).abs() < 0.005 && (made.critical - critical).abs() < 0.1, "{made:?} {p:?}");
    }

    fn families() -> impl Strategy<Value = Vec<Vec<f64>>> {
        (3_usize..9, 1_usize..5)
            .prop_flat_map(|(rounds, size)| prop::collection::vec(prop::collection::vec(-1.0_f64..1.0, rounds), size))
    }

    fn close(a: f64, b: f64) -> bool {
        a == b || (a / b - 1.0).abs() < 1e-6
    }

    fn near(a: &Family, b: &Family) -> bool {
        a.p == b.p && close(a.critical, b.critical)
    }

    proptest! {
        #[test]
        fn it_is_the_definition(values in families()) {
            let made = Family::new(&values.iter().map(|v| all(v)).collect::<Vec<_>>());
            let (p, critical) = brute_force(&values);
            prop_assert_eq!(&made.p, &p);
            prop_assert!(close(made.critical, critical));
        }

        #[test]
        fn order_direction_and_scale_do_not_matter(values in prop::collection::vec(-1.0_f64..1.0, 2..17), factor in 0.1_f64..10.0) {
            let plain = Family::new(&[all(&values)]);
            let reversed: Vec<f64> = values.iter().rev().copied().collect();
            let negated: Vec<f64> = values.iter().map(|value| -value).collect();
            let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
            for other in [reversed, negated, scaled] {
                prop_assert!(near(&plain, &Family::new(&[all(&other)])));
            }
        }

        #[test]
        fn a_greater_family_never_lowers_a_p(values in families()) {
            let values: Vec<Vec<Option<f64>>> = values.iter().map(|v| all(v)).collect();
            let together = Family::new(&values);
            for (one, p) in values.iter().zip(&together.p) {
                let alone = Family::new(std::slice::from_ref(one));
                prop_assert!(alone.p[0] <= *p && alone.critical <= together.critical * (1.0 + 1e-6));
            }
        }
    }
}
