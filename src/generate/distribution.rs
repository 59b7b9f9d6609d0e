//! Distributions that scenarios draw from.

use std::fmt::Display;

use rand_distr::Distribution;

use super::Stream;

/// The largest mean of a distribution of counts.
pub(super) const LARGEST_MEAN: f64 = 1e6;

/// The message about a number out of its range.
pub(super) fn parameter(name: &str, value: impl Display, expected: &str) -> String {
    format!("invalid {name}: expected {expected}, found {value}")
}

/// An int from `a` to `b`, both included.
///
/// # Errors
/// When `a` is above `b`.
pub fn uniform_int(stream: &mut Stream, a: i64, b: i64) -> Result<i64, String> {
    if a > b {
        return Err(parameter("lower bound of uniform", a, "at most the upper bound"));
    }
    let offset = match b.abs_diff(a).checked_add(1) {
        Some(span) => stream.below(span),
        None => stream.bits(),
    };
    Ok(a.wrapping_add_unsigned(offset))
}

/// A double from `a` to `b`; `b` itself only where rounding leads there.
///
/// # Errors
/// When `a` is above `b`, or one of them is not finite.
pub fn uniform_float(stream: &mut Stream, a: f64, b: f64) -> Result<f64, String> {
    if !(a <= b && a.is_finite() && b.is_finite()) {
        return Err(parameter("lower bound of uniform", a, "at most the upper bound"));
    }
    let unit = stream.unit();
    // Weighted, because b - a overflows for extreme ends; its rounding may not lead beyond them.
    Ok((a * (1.0 - unit) + b * unit).clamp(a, b))
}

/// A normally distributed double.
///
/// # Errors
/// When the deviation is negative or a number is not finite.
pub fn normal(stream: &mut Stream, mean: f64, deviation: f64) -> Result<f64, String> {
    let law = rand_distr::Normal::new(mean, deviation).ok().filter(|_| deviation >= 0.0 && mean.is_finite());
    let law = law.ok_or_else(|| parameter("deviation of normal", deviation, "a number >= 0"))?;
    Ok(law.sample(stream))
}

/// A Poisson distributed count; always 0 for a mean of 0.
///
/// # Errors
/// When the mean is below 0, or above a million.
pub fn poisson(stream: &mut Stream, mean: f64) -> Result<u64, String> {
    if mean == 0.0 {
        return Ok(0);
    }
    let law = rand_distr::Poisson::new(mean).ok().filter(|_| mean <= LARGEST_MEAN);
    let law = law.ok_or_else(|| parameter("mean of poisson_count", mean, "a number from 0 to 1,000,000"))?;
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
    fn poisson_has_its_mean_and_variance() {
        let draws = 40_000;
        let drawn: Vec<f64> = (0..draws).map(|ordinal| poisson(&mut stream(ordinal), 7.5).unwrap() as f64).collect();
        let mean = drawn.iter().sum::<f64>() / draws as f64;
        let variance = drawn.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / draws as f64;
        assert!((mean - 7.5).abs() < 0.08 && (variance - 7.5).abs() < 0.3, "{mean} {variance}");
    }

    #[test]
    fn poisson_of_mean_zero_is_zero() {
        assert!((0..100).all(|ordinal| poisson(&mut stream(ordinal), 0.0).unwrap() == 0));
        for mean in [-1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert!(poisson(&mut stream(0), mean).is_err(), "{mean}");
        }
    }

    #[test]
    fn extreme_ends_do_not_overflow() {
        for ordinal in 0..1_000 {
            let drawn = uniform_float(&mut stream(ordinal), f64::MIN, f64::MAX).unwrap();
            assert!(drawn.is_finite(), "{drawn}");
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
        fn doubles_stay_between_their_ends(a in any::<f64>(), b in any::<f64>(), ordinal in any::<u64>()) {
            prop_assume!(a.is_finite() && b.is_finite());
            let (a, b) = (a.min(b), a.max(b));
            let drawn = uniform_float(&mut stream(ordinal), a, b).unwrap();
            prop_assert!(a <= drawn && drawn <= b);
        }
    }
}
