//! Distributions that scenarios draw from.

use rand_distr::Distribution;

use super::Stream;

/// The exponent of `zipf(entity)` where none is given: that of YCSB.
pub const DEFAULT_EXPONENT: f64 = 0.99;

/// The largest count of [`ZipfCount`] is so many times its mean.
const COUNT_REACH: f64 = 10.0;

/// A distribution that cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DistributionError {
    /// Nothing to draw from.
    #[error("there is nothing to draw from: it has no records")]
    Empty,
    /// A number that makes no sense for it.
    #[error("{name} cannot be {value}: {wanted}")]
    Parameter {
        /// Which number.
        name: &'static str,
        /// What it was.
        value: String,
        /// What it may be.
        wanted: &'static str,
    },
}

fn parameter(name: &'static str, value: impl ToString, wanted: &'static str) -> DistributionError {
    DistributionError::Parameter { name, value: value.to_string(), wanted }
}

/// Ranks from 0 up to, not including, n, where rank k is drawn in proportion to (k + 1)^-exponent.
#[derive(Debug, Clone)]
pub struct Zipf(rand_distr::Zipf<f64>);

impl Zipf {
    /// A law over `n` ranks; exponent 0 is uniform. Sampling takes constant time (rejection-inversion, Hörmann and
    /// Derflinger 1996).
    ///
    /// # Errors
    /// When `n` is 0, or the exponent is negative or not finite.
    pub fn new(n: u64, exponent: f64) -> Result<Zipf, DistributionError> {
        if n == 0 {
            return Err(DistributionError::Empty);
        }
        let law = rand_distr::Zipf::new(n as f64, exponent);
        law.ok()
            .filter(|_| exponent.is_finite())
            .map(Zipf)
            .ok_or_else(|| parameter("the exponent of zipf", exponent, "it is a number >= 0, such as 0.99"))
    }

    /// Draws a rank.
    pub fn sample(&self, stream: &mut Stream) -> u64 {
        self.0.sample(stream) as u64 - 1
    }
}

/// Heavy-tailed counts with a stated mean: k from 0 to 10 x mean in proportion to (k + 1)^-s, where s is what makes
/// the mean come out.
#[derive(Debug, Clone)]
pub struct ZipfCount {
    /// The probability of a count of at most k.
    cumulative: Vec<f64>,
}

impl ZipfCount {
    /// The law with this mean.
    ///
    /// # Errors
    /// When the mean is not above 0, or above a million.
    pub fn new(mean: f64) -> Result<ZipfCount, DistributionError> {
        if !(mean > 0.0 && mean <= 1e6) {
            return Err(parameter("the mean of zipf_count", mean, "it is a number above 0, up to 1,000,000"));
        }
        let most = (mean * COUNT_REACH).ceil() as usize;
        // The mean falls as the exponent grows; at -1 the counts lean to the top, at 30 all are 0.
        let (mut low, mut high) = (-1.0, 30.0);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if expected(&weights(most, middle)) > mean { low = middle } else { high = middle }
        }
        let weights = weights(most, (low + high) / 2.0);
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let cumulative = weights
            .iter()
            .map(|weight| {
                sum += weight / total;
                sum
            })
            .collect();
        Ok(ZipfCount { cumulative })
    }

    /// Draws a count.
    pub fn sample(&self, stream: &mut Stream) -> u64 {
        let point = stream.unit();
        self.cumulative.partition_point(|cumulative| *cumulative <= point).min(self.cumulative.len() - 1) as u64
    }
}

fn weights(most: usize, exponent: f64) -> Vec<f64> {
    (0..=most).map(|k| ((k + 1) as f64).powf(-exponent)).collect()
}

fn expected(weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    weights.iter().enumerate().map(|(k, weight)| k as f64 * weight / total).sum()
}

/// An int from `a` to `b`, both included.
///
/// # Errors
/// When `a` is above `b`.
pub fn uniform_int(stream: &mut Stream, a: i64, b: i64) -> Result<i64, DistributionError> {
    if a > b {
        return Err(parameter("the first end of uniform", a, "it may not be above the second"));
    }
    let span = (i128::from(b) - i128::from(a) + 1) as u128;
    let offset = match u64::try_from(span) {
        Ok(span) => stream.below(span),
        Err(_) => stream.bits(),
    };
    Ok((i128::from(a) + i128::from(offset)) as i64)
}

/// A double from `a` up to, not including, `b`.
///
/// # Errors
/// When `a` is above `b`, or one of them is not finite.
pub fn uniform_float(stream: &mut Stream, a: f64, b: f64) -> Result<f64, DistributionError> {
    if !(a <= b && a.is_finite() && b.is_finite()) {
        return Err(parameter("the first end of uniform", a, "it may not be above the second"));
    }
    Ok(a + stream.unit() * (b - a))
}

/// A normally distributed double.
///
/// # Errors
/// When the deviation is negative or a number is not finite.
pub fn normal(stream: &mut Stream, mean: f64, deviation: f64) -> Result<f64, DistributionError> {
    let law = rand_distr::Normal::new(mean, deviation).ok().filter(|_| deviation >= 0.0 && mean.is_finite());
    let law = law.ok_or_else(|| parameter("the deviation of normal", deviation, "it is a number >= 0"))?;
    Ok(law.sample(stream))
}

/// A Poisson distributed count.
///
/// # Errors
/// When the mean is not above 0, or above a million.
pub fn poisson(stream: &mut Stream, mean: f64) -> Result<u64, DistributionError> {
    let law = rand_distr::Poisson::new(mean).ok().filter(|_| mean <= 1e6);
    let law =
        law.ok_or_else(|| parameter("the mean of poisson_count", mean, "it is a number above 0, up to 1,000,000"))?;
    Ok(law.sample(stream) as u64)
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
        let (n, exponent, draws) = (50, 0.99, 200_000);
        let law = Zipf::new(n, exponent).unwrap();
        let mut seen = vec![0_u32; n as usize];
        for ordinal in 0..draws {
            seen[law.sample(&mut stream(ordinal)) as usize] += 1;
        }
        let total: f64 = (1..=n).map(|k| (k as f64).powf(-exponent)).sum();
        for (rank, count) in seen.iter().enumerate() {
            let wanted = draws as f64 * ((rank + 1) as f64).powf(-exponent) / total;
            let spread = 5.0 * wanted.sqrt();
            assert!((f64::from(*count) - wanted).abs() < spread, "rank {rank}: {count} instead of {wanted}");
        }
    }

    #[test]
    fn zipf_refuses_nonsense() {
        assert_eq!(Zipf::new(0, 1.0).unwrap_err(), DistributionError::Empty);
        assert!(Zipf::new(10, -0.5).is_err());
        assert!(Zipf::new(10, f64::NAN).is_err());
    }

    #[test]
    fn zipf_count_has_the_mean_asked_for() {
        for mean in [0.5, 1.0, 20.0, 100.0, 2_000.0] {
            let law = ZipfCount::new(mean).unwrap();
            let draws = 100_000;
            let sum: u64 = (0..draws).map(|ordinal| law.sample(&mut stream(ordinal))).sum();
            let measured = sum as f64 / draws as f64;
            assert!((measured / mean - 1.0).abs() < 0.05, "{measured} instead of {mean}");
        }
    }

    #[test]
    fn zipf_count_refuses_nonsense() {
        for mean in [0.0, -1.0, f64::NAN, 1e9] {
            assert!(ZipfCount::new(mean).is_err(), "{mean}");
        }
    }

    proptest! {
        #[test]
        fn uniform_stays_between_its_ends(a in any::<i64>(), b in any::<i64>(), ordinal in any::<u64>()) {
            let (a, b) = (a.min(b), a.max(b));
            let drawn = uniform_int(&mut stream(ordinal), a, b).unwrap();
            prop_assert!(a <= drawn && drawn <= b);
        }

        #[test]
        fn zipf_stays_below_n(n in 1_u64..1_000_000, exponent in 0.0_f64..4.0, ordinal in any::<u64>()) {
            let law = Zipf::new(n, exponent).unwrap();
            prop_assert!(law.sample(&mut stream(ordinal)) < n);
        }

        #[test]
        fn counts_stay_within_reach(mean in 0.1_f64..500.0, ordinal in any::<u64>()) {
            let law = ZipfCount::new(mean).unwrap();
            prop_assert!(law.sample(&mut stream(ordinal)) as f64 <= (mean * COUNT_REACH).ceil());
        }
    }
}
