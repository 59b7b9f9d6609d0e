//! The intended start times of calls with open load.

use std::time::Duration;

use crate::generate::{Label, Seed, Stream};
use crate::results::Arrivals;

/// Nanoseconds in a second.
const SECOND: f64 = 1e9;

/// Endless intended times, counted from a window's start. A pure function of the arguments of [`ArrivalTimes::new`], so that
/// all arms of a round get the same ones.
#[derive(Debug, Clone)]
pub struct ArrivalTimes {
    /// Calls per second.
    pub(super) rate: f64,
    /// The distribution of the gaps between calls.
    arrivals: Arrivals,
    stream: Stream,
    calls: u64,
    /// The time of the last call in nanoseconds.
    last: f64,
}

impl ArrivalTimes {
    /// Times of `rate` calls per second, drawn from the round's seed and the label of the part of the round.
    pub fn new(rate: f64, arrivals: Arrivals, seed: Seed, label: Label) -> ArrivalTimes {
        ArrivalTimes { rate, arrivals, stream: Stream::new(seed, label, 0), calls: 0, last: 0.0 }
    }
}

impl Iterator for ArrivalTimes {
    type Item = Duration;

    /// The first call comes one gap after the start, so that n calls take n gaps.
    fn next(&mut self) -> Option<Duration> {
        self.calls += 1;
        let rate = self.rate;
        self.last = match self.arrivals {
            Arrivals::Uniform => self.calls as f64 * SECOND / rate,
            // Gaps of a Poisson process are exponential: the inverse of their distribution function 1 - exp(-rate t).
            Arrivals::Poisson => self.last - (1.0 - self.stream.unit()).ln() * SECOND / rate,
        };
        Some(Duration::from_nanos(self.last.round() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(arrivals: Arrivals, rate: f64, seed: u64) -> ArrivalTimes {
        ArrivalTimes::new(rate, arrivals, Seed::new(seed), Label::new("test"))
    }

    /// The gaps between calls in units of the mean gap.
    fn gaps(calls: usize, rate: f64) -> Vec<f64> {
        let mut last = Duration::ZERO;
        let gap = |time: Duration| (time - std::mem::replace(&mut last, time)).as_secs_f64() * rate;
        times(Arrivals::Poisson, rate, 5).take(calls).map(gap).collect()
    }

    #[test]
    fn poisson_gaps_are_exponential() {
        let mut gaps = gaps(100_000, 250.0);
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean - 1.0).abs() < 0.01 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
        gaps.sort_by(f64::total_cmp);
        for share in [0.1_f64, 0.5, 0.9, 0.99] {
            let (found, expected) = (gaps[(share * gaps.len() as f64) as usize], -(1.0 - share).ln());
            assert!((found / expected - 1.0).abs() < 0.04, "quantile {share}: {found} instead of {expected}");
        }
    }

    #[test]
    fn poisson_counts_vary_as_much_as_their_mean() {
        let mut counts = vec![0.0; 5_000];
        for time in times(Arrivals::Poisson, 100.0, 5) {
            let Some(count) = counts.get_mut((time.as_secs_f64() * 10.0) as usize) else { break };
            *count += 1.0;
        }
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / counts.len() as f64;
        assert!((mean - 10.0).abs() < 0.2 && (variance - 10.0).abs() < 0.6, "{mean} {variance}");
    }

    #[test]
    fn uniform_times_are_exact() {
        let drawn: Vec<Duration> = times(Arrivals::Uniform, 100.0, 5).take(3).collect();
        assert_eq!(drawn, [10, 20, 30].map(Duration::from_millis));
        assert_eq!(times(Arrivals::Uniform, 3.0, 5).nth(299_999), Some(Duration::from_secs(100_000)));
    }

    #[test]
    fn equal_seeds_give_equal_times() {
        let drawn = |seed| times(Arrivals::Poisson, 1_000.0, seed).take(100).collect::<Vec<_>>();
        assert_eq!(drawn(3), drawn(3));
        assert_ne!(drawn(3), drawn(4));
        assert!(drawn(3).is_sorted());
    }
}
