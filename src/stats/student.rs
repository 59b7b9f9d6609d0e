//! Quantiles of Student's t.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// Returns the quantile of Student's t distribution at this probability (between 0 and 1, exclusive), for at least 1
/// degree of freedom.
pub fn t_quantile(probability: f64, freedom: usize) -> f64 {
    let central = (2.0 * probability - 1.0).abs();
    // Bisection on the angle: it is bounded where t is not, and the share rises with it.
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if central_share(middle, freedom) < central {
            low = middle;
        } else {
            high = middle;
        }
    }
    ((freedom as f64).sqrt() * f64::midpoint(low, high).tan()).copysign(probability - 0.5)
}

/// The probability that |t| <= sqrt(freedom) tan(angle): the finite sums for whole degrees of freedom of Abramowitz and
/// Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
fn central_share(angle: f64, freedom: usize) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut sum = if freedom > 1 { term } else { 0.0 };
    // The power of the cosine in the next term.
    let mut power = if is_odd { 3 } else { 2 };
    while power + 2 <= freedom {
        term *= cosine * cosine * (power - 1) as f64 / power as f64;
        sum += term;
        power += 2;
    }
    if is_odd { FRAC_2_PI * (angle + sine * sum) } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_printed_tables() {
        let table = [
            (0.975, 1, 12.706),
            (0.975, 2, 4.303),
            (0.975, 3, 3.182),
            (0.975, 5, 2.571),
            (0.975, 7, 2.365),
            (0.975, 11, 2.201),
            (0.975, 19, 2.093),
            (0.975, 30, 2.042),
            (0.8, 1, 1.376),
            (0.8, 5, 0.920),
            (0.8, 7, 0.896),
            (0.8, 19, 0.861),
            (0.995, 4, 4.604),
            (0.975, 1_000, 1.962),
        ];
        for (probability, freedom, wanted) in table {
            let found = t_quantile(probability, freedom);
            assert!((found - wanted).abs() < 6e-4, "{probability} with {freedom}: {found}, not {wanted}");
        }
    }

    #[test]
    fn the_lower_half_mirrors_the_upper() {
        assert_eq!(t_quantile(0.1, 6), -t_quantile(0.9, 6));
        assert!(t_quantile(0.5, 6).abs() < 1e-9);
    }
}
