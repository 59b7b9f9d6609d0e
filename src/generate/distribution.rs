//! Distributions that scenarios draw from.

use rand_distr::Distribution;

use super::Stream;

/// The largest mean of a distribution of counts.
pub(super) const LARGEST_MEAN: f64 = 1e6;

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

pub(super) fn parameter(name: &'static str, value: impl ToString, wanted: &'static str) -> DistributionError {
    DistributionError::Parameter { name, value: value.to_string(), wanted }
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

    proptest! {
        #[test]
        fn uniform_stays_between_its_ends(a in any::<i64>(), b in any::<i64>(), ordinal in any::<u64>()) {
            let (a, b) = (a.min(b), a.max(b));
            let drawn = uniform_int(&mut stream(ordinal), a, b).unwrap();
            prop_assert!(a <= drawn && drawn <= b);
        }
    }
}
