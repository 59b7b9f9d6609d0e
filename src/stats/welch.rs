//! The difference of two means.

use super::estimate::{ConfidenceInterval, Estimate};
use super::student::t_quantile;

/// The distance between the means of two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// The second mean minus the first.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom of that error.
    pub freedom: usize,
}

impl Shift {
    /// From independent samples that need not spread equally; `None` when one has fewer than two values.
    ///
    /// The error is the root of s1^2/n1 + s2^2/n2, with (v1 + v2)^2 / (v1^2/(n1-1) + v2^2/(n2-1)) degrees of freedom, v = s^2/n,
    /// rounded down, which widens the interval a little. B. L. Welch, Biometrika 34 (1947); F. E. Satterthwaite, Biometrics
    /// Bulletin 2 (1946).
    pub fn of(first: &[f64], second: &[f64]) -> Option<Shift> {
        let ((mean1, v1), (mean2, v2)) = (moments(first)?, moments(second)?);
        let (most1, most2) = (first.len() - 1, second.len() - 1);
        let freedom = (v1 + v2).powi(2) / (v1 * v1 / most1 as f64 + v2 * v2 / most2 as f64);
        // A whole number stays one though sums are rounded; without spread it is 0/0.
        let freedom = if freedom.is_finite() { (freedom * (1.0 + 1e-9)) as usize } else { most1 + most2 };
        let freedom = freedom.clamp(most1.min(most2), most1 + most2);
        Some(Shift { mean: mean2 - mean1, error: (v1 + v2).sqrt(), freedom })
    }

    /// From independent samples that spread equally, as runs of one harness do: one of them may have a single value (Student's
    /// two-sample t). `None` when both have, or one has none.
    pub fn pooled(first: &[f64], second: &[f64]) -> Option<Shift> {
        let freedom = (first.len() + second.len()).checked_sub(2).filter(|freedom| *freedom > 0)?;
        let (mean1, squares1) = squares(first)?;
        let (mean2, squares2) = squares(second)?;
        let variance = (squares1 + squares2) / freedom as f64;
        let error = (variance * ((first.len() as f64).recip() + (second.len() as f64).recip())).sqrt();
        Some(Shift { mean: mean2 - mean1, error, freedom })
    }

    /// From the differences of pairs; `None` with fewer than two.
    pub fn paired(differences: &Estimate) -> Option<Shift> {
        Some(Shift { mean: differences.mean, error: differences.error()?, freedom: differences.rounds - 1 })
    }

    /// The interval that misses the true difference with this probability.
    pub fn interval(&self, error: f64) -> ConfidenceInterval {
        let half_width = self.error * t_quantile(1.0 - error / 2.0, self.freedom);
        ConfidenceInterval { low: self.mean - half_width, high: self.mean + half_width }
    }
}

/// The mean, and its variance: that of the values over their number.
fn moments(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    let (mean, squares) = squares(values).filter(|_| values.len() > 1)?;
    Some((mean, squares / (count - 1.0) / count))
}

/// The mean, and the sum of squared distances from it.
fn squares(values: &[f64]) -> Option<(f64, f64)> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (!values.is_empty()).then(|| (mean, values.iter().map(|value| (value - mean).powi(2)).sum()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Label, Seed, Stream};

    #[test]
    fn a_difference_by_hand() {
        // Means 3 and 6; variances 2.5 and 10 over 5 each: v = 0.5 and 2, error sqrt(2.5), freedom 6.25 / (4.25 / 4) = 5.88.
        let made = Shift::of(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 4.0, 6.0, 8.0, 10.0]).unwrap();
        assert_eq!((made.mean, made.freedom), (3.0, 5));
        assert!((made.error - 2.5_f64.sqrt()).abs() < 1e-12);
        let ConfidenceInterval { low, high } = made.interval(0.05);
        assert!((low - (3.0 - 2.570_58 * 2.5_f64.sqrt())).abs() < 1e-4 && (low + high - 6.0).abs() < 1e-12, "{low}");
    }

    #[test]
    fn freedom_lies_between_the_smaller_and_the_sum() {
        let quiet = [1.0; 8];
        let loud = [1.0, 3.0, 2.0, 5.0, 4.0, 6.0];
        assert_eq!(Shift::of(&quiet, &loud).unwrap().freedom, 5);
        assert_eq!(Shift::of(&loud, &loud).unwrap().freedom, 10);
        let still = Shift::of(&quiet, &quiet).unwrap();
        assert_eq!((still.freedom, still.interval(0.05)), (14, ConfidenceInterval { low: 0.0, high: 0.0 }));
    }

    #[test]
    fn one_value_is_compared_with_many() {
        // Mean 2, squares 2 with one degree of freedom less than three values: s^2 = 1, error sqrt(1/3 + 1).
        let pooled = Shift::pooled(&[1.0, 2.0, 3.0], &[4.0]).unwrap();
        assert_eq!((pooled.mean, pooled.freedom), (2.0, 2));
        assert!((pooled.error - (4.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!((Shift::pooled(&[1.0], &[2.0]), Shift::pooled(&[1.0, 2.0], &[])), (None, None));
        let paired = Shift::paired(&Estimate::of(&[Some(1.0), Some(3.0), None]).unwrap()).unwrap();
        assert_eq!(paired, Shift { mean: 2.0, error: 1.0, freedom: 1 });
    }

    #[test]
    fn one_value_has_no_spread() {
        assert_eq!(Shift::of(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(Shift::of(&[1.0, 2.0], &[]), None);
    }

    /// Of 2,000 families of 18 differences that are all 0, the share in which any interval misses it. Both samples have
    /// eight values; the second's standard deviation is `spread` times as large.
    fn missed(spread: f64) -> f64 {
        let normal = |stream: &mut Stream| {
            let (first, second) = (1.0 - stream.unit(), stream.unit());
            (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos()
        };
        let misses = |family: &u64| {
            let mut stream = Stream::new(Seed::new(7), Label::new("families"), *family);
            let mut sample = |spread: f64| (0..8).map(|_| spread * normal(&mut stream)).collect::<Vec<f64>>();
            (0..18).any(|_| {
                let interval = Shift::of(&sample(1.0), &sample(spread)).unwrap().interval(0.05 / 18.0);
                interval.low > 0.0 || interval.high < 0.0
            })
        };
        (0..2_000).filter(misses).count() as f64 / 2_000.0
    }

    #[test]
    fn families_without_a_difference_seldom_find_one() {
        // Above 5 % where one sample spreads much more: degrees of freedom that are estimated have a spread of their own.
        let found = [1.0, 3.0].map(missed);
        assert!((0.025..0.045).contains(&found[0]) && (0.045..0.075).contains(&found[1]), "{found:?}");
    }
}
