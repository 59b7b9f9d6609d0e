//! The difference between two arms, and its uncertainty.

use super::student::t_quantile;

/// The quantile of the normal distribution at 80 %: the share of runs like this one that find the minimum detectable effect.
const POWER_QUANTILE: f64 = 0.841_621;

/// The mean of an arm's log ratios to another over rounds, and their spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean of ln(time / other time).
    pub mean: f64,
    /// The standard deviation over rounds; `None` with a single round.
    pub deviation: Option<f64>,
    /// How many rounds.
    pub rounds: usize,
}

/// The 95 % CI of a ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidenceInterval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl ConfidenceInterval {
    /// The interval of the inverse ratio.
    pub fn turned(self) -> ConfidenceInterval {
        ConfidenceInterval { low: self.high.recip(), high: self.low.recip() }
    }
}

/// ln(time / other time) per round; `None` where one of them is missing.
pub fn log_ratios(times: &[Option<f64>], against: &[Option<f64>]) -> Vec<Option<f64>> {
    let pairs = times.iter().zip(against).map(|(time, other)| time.zip(*other));
    pairs.map(|pair| pair.map(|(time, other)| (time / other).ln())).collect()
}

impl Estimate {
    /// From the log ratios of rounds; `None` without any.
    pub fn of(log_ratios: &[Option<f64>]) -> Option<Estimate> {
        let values: Vec<f64> = log_ratios.iter().flatten().copied().collect();
        let rounds = values.len();
        let mean = values.iter().sum::<f64>() / rounds as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (rounds > 1).then(|| (squares / (rounds - 1) as f64).sqrt());
        (rounds > 0).then_some(Estimate { mean, deviation, rounds })
    }

    /// The geometric mean of the ratios.
    pub fn ratio(&self) -> f64 {
        self.mean.exp()
    }

    /// The standard error of the mean; `None` with a single round.
    pub(crate) fn error(&self) -> Option<f64> {
        Some(self.deviation? / (self.rounds as f64).sqrt())
    }

    /// The ratios within `critical` standard errors; `None` without finite bounds.
    pub fn interval(&self, critical: f64) -> Option<ConfidenceInterval> {
        let half_width = half_width(self.error()?, critical);
        let interval = ConfidenceInterval { low: (self.mean - half_width).exp(), high: (self.mean + half_width).exp() };
        half_width.is_finite().then_some(interval)
    }

    /// How far the ends of an interval are from the mean, `critical` standard errors; infinite with a single round.
    pub(crate) fn half_width(&self, critical: f64) -> f64 {
        self.error().map_or(f64::INFINITY, |error| half_width(error, critical))
    }

    /// The mean log ratio that is found with a probability of 80 %, where one is found whose interval of `critical`
    /// standard errors lies beyond `floor`, and which itself is beyond `band`. Infinite with a single round.
    ///
    /// Both ends of the first condition are random: the mean is normal, and the interval as wide as the rounds of that run
    /// differ. Their difference is nearly normal (Johnson and Welch's approximation of the non-central t).
    pub(crate) fn detectable(&self, critical: f64, floor: f64, band: f64) -> f64 {
        let Some(error) = self.error() else { return f64::INFINITY };
        let freedom = (self.rounds - 1) as f64;
        // The median of the deviation over runs is this share of the true one.
        let error = error / (1.0 - 1.0 / (3.0 * freedom));
        let reach = critical * (1.0 - 1.0 / (4.0 * freedom));
        let spread = POWER_QUANTILE * (1.0 + critical * critical / (2.0 * freedom)).sqrt();
        (floor + half_width(error, reach + spread)).max(band + half_width(error, POWER_QUANTILE))
    }

    /// How far noise alone moves a mean log ratio from 0, when the two arms are the same:
    /// |mean| + t(0.975) standard errors. `None` with a single round.
    pub fn band(&self) -> Option<f64> {
        let error = self.error()?;
        Some(self.mean.abs() + half_width(error, t_quantile(0.975, self.rounds - 1)))
    }
}

/// A number of standard errors; 0 when the error is 0, even if the number is infinite.
fn half_width(error: f64, times: f64) -> f64 {
    if error == 0.0 { 0.0 } else { error * times }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(values: &[f64]) -> Estimate {
        Estimate::of(&values.iter().copied().map(Some).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_small_example_by_hand() {
        // Mean 0.3, squared distances 0.01 + 0 + 0.01, so s = 0.1 and s / sqrt(3) = 0.0577.
        let made = estimate(&[0.2, 0.3, 0.4]);
        assert!((made.mean - 0.3).abs() < 1e-12 && (made.deviation.unwrap() - 0.1).abs() < 1e-12);
        assert!((made.ratio() - 1.349_858_8).abs() < 1e-6);
        let interval = made.interval(3.0).unwrap();
        assert!(
            (interval.low - 0.126_795_f64.exp()).abs() < 1e-5 && (interval.high - 0.473_205_f64.exp()).abs() < 1e-5
        );
        assert!((made.half_width(3.0) - 0.1732).abs() < 1e-4);
        // t(0.975, 2) = 4.3027, so 0.3 + 4.3027 * 0.057735 = 0.5484.
        assert!((made.band().unwrap() - 0.5484).abs() < 1e-4);
    }

    #[test]
    fn a_detectable_difference_has_the_power_of_the_non_central_t() {
        // Of the non-central t with 7 degrees of freedom and this parameter, 80 % is above 4: P(T > 4) by integration.
        let steady = Estimate { mean: 0.0, deviation: Some((1.0 - 1.0 / 21.0) * 8.0_f64.sqrt()), rounds: 8 };
        let parameter = steady.detectable(4.0, 0.0, 0.0);
        let density = |chi: f64| (6.0 * chi.ln() - chi * chi / 2.0).exp();
        let above = |x: f64| 0.5 * (1.0 - erf(x / 2.0_f64.sqrt()));
        let grid: Vec<f64> = (1..8_000).map(|step| f64::from(step) / 1_000.0).collect();
        let whole: f64 = grid.iter().map(|chi| density(*chi)).sum();
        let found: f64 = grid.iter().map(|chi| density(*chi) * above(4.0 * chi / 7.0_f64.sqrt() - parameter)).sum();
        assert!((found / whole - 0.8).abs() < 0.01, "{}", found / whole);
    }

    /// By its Taylor series.
    fn erf(x: f64) -> f64 {
        let x = x.clamp(-5.0, 5.0);
        let (mut sum, mut term) = (x, x);
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn one_round_has_a_ratio_and_nothing_else() {
        let made = estimate(&[0.5_f64.ln()]);
        assert_eq!((made.deviation, made.interval(2.0), made.band()), (None, None, None));
        assert_eq!((made.ratio(), made.detectable(2.0, 0.0, 0.0)), (0.5, f64::INFINITY));
        assert_eq!(Estimate::of(&[None, None]), None);
    }

    #[test]
    fn without_spread_the_interval_is_a_point() {
        let made = estimate(&[0.25; 8]);
        assert_eq!(
            made.interval(f64::INFINITY),
            Some(ConfidenceInterval { low: 0.25_f64.exp(), high: 0.25_f64.exp() })
        );
        assert_eq!(
            (made.detectable(9.0, 0.02, 0.03), made.half_width(f64::INFINITY), made.band()),
            (0.03, 0.0, Some(0.25))
        );
        assert_eq!(estimate(&[0.2, 0.3]).interval(f64::INFINITY), None);
    }

    #[test]
    fn rounds_in_which_one_is_missing_are_left_out() {
        let made = log_ratios(&[Some(2.0), None, Some(1.0), None], &[Some(4.0), Some(1.0), None, None]);
        assert_eq!(made, [Some(0.5_f64.ln()), None, None, None]);
        assert_eq!(Estimate::of(&made).unwrap().rounds, 1);
    }
}
