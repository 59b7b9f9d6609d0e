//! Skewed draws: a few records get most of the calls, a few parents most of the children.

use rand_distr::Distribution;

use super::Stream;
use super::distribution::{LARGEST_MEAN, parameter};

/// The exponent of `zipf(entity)` where none is given: that of YCSB.
pub const DEFAULT_EXPONENT: f64 = 0.99;

/// Beyond this exponent rank 0 has all the probability that a double can express.
const LARGEST_EXPONENT: f64 = 64.0;

/// The largest count of [`ZipfCount`], as a multiple of its mean.
const COUNT_REACH: f64 = 10.0;

/// Ranks from 0 up to, not including, n, where rank k is drawn in proportion to (k + 1)^-exponent.
#[derive(Debug, Clone)]
pub struct Zipf {
    law: rand_distr::Zipf<f64>,
    last: u64,
}

impl Zipf {
    /// A law over `n` ranks; exponent 0 is uniform. Sampling takes constant time (rejection-inversion, Hörmann and
    /// Derflinger 1996).
    ///
    /// # Errors
    /// When `n` is 0, or the exponent is negative or not finite.
    pub fn new(n: u64, exponent: f64) -> Result<Zipf, String> {
        if n == 0 {
            return Err("nothing to draw from: it has no records".to_owned());
        }
        let wrong = || parameter("exponent of zipf", exponent, "a number >= 0");
        if !exponent.is_finite() {
            return Err(wrong());
        }
        // Next to 1 the sampler subtracts nearly equal numbers; the law itself is continuous there.
        let near = if (exponent - 1.0).abs() < 1e-9 { 1.0 } else { exponent.min(LARGEST_EXPONENT) };
        let law = rand_distr::Zipf::new(n as f64, near).map_err(|_| wrong())?;
        Ok(Zipf { law, last: n - 1 })
    }

    /// Draws a rank.
    pub fn sample(&self, stream: &mut Stream) -> u64 {
        // Rounding may lead past an end when there are very many ranks.
        (self.law.sample(stream) as u64).saturating_sub(1).min(self.last)
    }
}

/// Heavy-tailed counts with a stated mean: k from 0 to 10 x mean in proportion to (k + 1)^-s, where s is what makes
/// the mean come out. For a mean of 0 every count is 0.
///
/// Making one takes a fraction of a millisecond and no table, however large the mean: the sums over all counts are
/// approximated to a billionth, and counts are drawn as ranks of a [`Zipf`] law.
#[derive(Debug, Clone)]
pub struct ZipfCount {
    ranks: Option<Zipf>,
}

impl ZipfCount {
    /// The law with this mean.
    ///
    /// # Errors
    /// When the mean is below 0, or above a million.
    pub fn new(mean: f64) -> Result<ZipfCount, String> {
        if !(0.0..=LARGEST_MEAN).contains(&mean) {
            return Err(parameter("mean of zipf_count", mean, "a number from 0 to 1,000,000"));
        }
        if mean == 0.0 {
            return Ok(ZipfCount { ranks: None });
        }
        let counts = largest(mean) + 1;
        Ok(ZipfCount { ranks: Some(Zipf::new(counts, exponent(mean, counts))?) })
    }

    /// Draws a count.
    pub fn sample(&self, stream: &mut Stream) -> u64 {
        self.ranks.as_ref().map_or(0, |ranks| ranks.sample(stream))
    }
}

/// The largest count of a law with this mean.
fn largest(mean: f64) -> u64 {
    (mean * COUNT_REACH).ceil() as u64
}

/// Returns the exponent with which `counts` counts, from 0 up, have this mean.
fn exponent(mean: f64, counts: u64) -> f64 {
    // The mean falls as the exponent grows; at 0 it is half of the largest count, far above the one asked for.
    let (mut low, mut high) = (0.0, LARGEST_EXPONENT);
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        if expected(counts, middle) > mean { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// Returns the mean of `counts` counts, from 0 up, where k has a weight of (k + 1)^-exponent.
fn expected(counts: u64, exponent: f64) -> f64 {
    power_sum(counts, exponent - 1.0) / power_sum(counts, exponent) - 1.0
}

/// The sum of j^-exponent for j from 1 to n: exact terms first, then the formula of Euler and Maclaurin, together with
/// an error below 10^-9 of the sum.
fn power_sum(n: u64, exponent: f64) -> f64 {
    const EXACT: u64 = 64;
    let exact: f64 = (1..=n.min(EXACT)).map(|j| (j as f64).powf(-exponent)).sum();
    if n <= EXACT {
        return exact;
    }
    let (from, to) = (EXACT as f64, n as f64);
    let power = 1.0 - exponent;
    let stretch = (to / from).ln();
    // from^power x (e^(power x stretch) - 1) / power, which is the stretch where the power vanishes.
    let integral = if power.abs() < 1e-12 { stretch } else { from.powf(power) * (power * stretch).exp_m1() / power };
    let ends = (to.powf(-exponent) - from.powf(-exponent)) / 2.0;
    let slopes = exponent * (from.powf(-exponent - 1.0) - to.powf(-exponent - 1.0)) / 12.0;
    exact + integral + ends + slopes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Label, Seed};
    use super::*;

    fn stream(ordinal: u64) -> Stream {
        Stream::new(Seed::new(7), Label::new("test"), ordinal)
    }

    #[test]
    fn zipf_follows_its_law() {
        let (n, draws) = (50, 200_000);
        for exponent in [0.0, 0.99, 1.0, 2.5] {
            let law = Zipf::new(n, exponent).unwrap();
            let mut seen = vec![0_u32; n as usize];
            for ordinal in 0..draws {
                seen[law.sample(&mut stream(ordinal)) as usize] += 1;
            }
            let total: f64 = (1..=n).map(|k| (k as f64).powf(-exponent)).sum();
            for (rank, count) in seen.iter().enumerate() {
                let expected_count = draws as f64 * ((rank + 1) as f64).powf(-exponent) / total;
                let spread = 5.0 * expected_count.sqrt();
                assert!(
                    (f64::from(*count) - expected_count).abs() < spread,
                    "{exponent}, rank {rank}: {count} instead of {expected_count}"
                );
            }
        }
    }

    #[test]
    fn rejects_invalid_exponents() {
        assert!(Zipf::new(0, 1.0).is_err());
        assert!(Zipf::new(10, -0.5).is_err());
        assert!(Zipf::new(10, f64::NAN).is_err());
        assert!(Zipf::new(10, f64::INFINITY).is_err());
    }

    #[test]
    fn a_huge_exponent_leaves_one_rank() {
        let law = Zipf::new(1_000, 1e300).unwrap();
        assert!((0..1_000).all(|ordinal| law.sample(&mut stream(ordinal)) == 0));
    }

    #[test]
    fn sums_of_powers_are_those_of_the_plain_loop() {
        for exponent in [-1.0, -0.3, 0.0, 0.5, 0.99, 1.0, 1.3, 2.0, 7.5] {
            for n in [1_u32, 2, 63, 64, 65, 5_000, 100_000] {
                let plain: f64 = (1..=n).rev().map(|j| f64::from(j).powf(-exponent)).sum();
                let fast = power_sum(u64::from(n), exponent);
                assert!((fast / plain - 1.0).abs() < 1e-9, "{n} terms, exponent {exponent}: {fast}, not {plain}");
            }
        }
    }

    #[test]
    fn zipf_count_has_the_mean_asked_for() {
        for mean in [0.5, 1.0, 20.0, 100.0, 2_000.0, 20_000.0] {
            let law = ZipfCount::new(mean).unwrap();
            let draws = 100_000;
            let sum: u64 = (0..draws).map(|ordinal| law.sample(&mut stream(ordinal))).sum();
            let measured = sum as f64 / draws as f64;
            assert!((measured / mean - 1.0).abs() < 0.05, "{measured} instead of {mean}");
        }
    }

    #[test]
    fn zipf_count_of_mean_zero_is_zero() {
        let law = ZipfCount::new(0.0).unwrap();
        assert!((0..100).all(|ordinal| law.sample(&mut stream(ordinal)) == 0));
    }

    #[test]
    fn rejects_invalid_means() {
        for mean in [-1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert!(ZipfCount::new(mean).is_err(), "{mean}");
        }
    }

    proptest! {
        #[test]
        fn zipf_stays_below_n(n in 1_u64..1 << 50, exponent in 0.0_f64..5.0, ordinal in any::<u64>()) {
            let law = Zipf::new(n, exponent).unwrap();
            prop_assert!(law.sample(&mut stream(ordinal)) < n);
        }

        #[test]
        fn the_exponent_gives_the_mean(mean in prop_oneof![1e-6..0.2_f64, 0.2..20.0_f64, 20.0..1e6_f64]) {
            let counts = largest(mean) + 1;
            let found = expected(counts, exponent(mean, counts));
            prop_assert!((found / mean - 1.0).abs() < 1e-6, "{found} instead of {mean}");
        }

        #[test]
        fn counts_stay_within_reach(mean in 0.1_f64..500.0, ordinal in any::<u64>()) {
            let law = ZipfCount::new(mean).unwrap();
            prop_assert!(law.sample(&mut stream(ordinal)) as f64 <= (mean * COUNT_REACH).ceil());
        }
    }
}
