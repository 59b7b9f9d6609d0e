//! The progress of one strategy.

use std::time::Duration;

use crate::record::LatencyHistogram;
use crate::report::{count, time};

/// The numbers of one strategy so far.
#[derive(Debug)]
pub(super) struct StrategyProgress {
    name: String,
    /// Successful calls of all operations, of the intervals that have ended.
    times: LatencyHistogram,
    /// Median and 99th percentile of them in nanoseconds; `None` before the first interval has ended.
    percentiles: Option<(u64, u64)>,
    /// Measured calls per second in the newest round.
    speed: Option<f64>,
    /// Failures of the rounds before the newest one, and of that one.
    failed: (u64, u64),
}

impl StrategyProgress {
    pub(super) fn new(name: &str) -> StrategyProgress {
        let times = LatencyHistogram::new(Duration::ZERO);
        StrategyProgress { name: name.to_owned(), times, percentiles: None, speed: None, failed: (0, 0) }
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// Records the calls of this round so far, their seconds and failures, at the end of a slice.
    pub(super) fn slice(&mut self, done: u64, seconds: f64, failed: u64) {
        self.speed = (seconds > 0.0).then(|| done as f64 / seconds);
        self.failed.1 = failed;
    }

    /// A round is complete; failures are counted from 0 again.
    pub(super) fn end_round(&mut self) {
        self.failed = (self.failed.0 + self.failed.1, 0);
    }

    /// Successful calls of an interval.
    pub(super) fn interval(&mut self, times: &LatencyHistogram) {
        self.times.merge(times);
        self.percentiles = Some((self.times.quantile(0.5), self.times.quantile(0.99)));
    }

    /// One line; the name takes `width` characters. `offered` is the rate of open load.
    pub(super) fn row(&self, width: usize, offered: Option<f64>) -> String {
        let speed = match (self.speed, offered) {
            (None, _) => String::new(),
            (Some(speed), None) => format!("{}/s", whole(speed)),
            (Some(speed), Some(offered)) => format!("{} of {}/s", whole(speed), whole(offered)),
        };
        let percentiles = self.percentiles.map_or(String::new(), |(median, high)| {
            format!("p50 {:<8} p99 {:<8}", time(median as f64), time(high as f64))
        });
        let failed = match self.failed.0 + self.failed.1 {
            0 => String::new(),
            failed => format!("{} failed", count(failed)),
        };
        let speed_width = if offered.is_some() { 20 } else { 10 };
        let row = format!("  {:<width$}  {speed:>speed_width$}  {percentiles}  {failed}", self.name);
        row.trim_end().to_owned()
    }
}

fn whole(number: f64) -> String {
    count(number.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(milliseconds: u64) -> LatencyHistogram {
        let mut times = LatencyHistogram::new(Duration::ZERO);
        (1..=milliseconds).for_each(|value| times.record(value * 1_000_000));
        times
    }

    #[test]
    fn a_row_says_what_is_known() {
        let mut strategy = StrategyProgress::new("linked");
        assert_eq!(strategy.row(8, None), "  linked");
        strategy.slice(600, 0.5, 0);
        assert_eq!(strategy.row(8, None), "  linked       1,200/s");
        strategy.interval(&times(100));
        assert_eq!(strategy.row(8, None), "  linked       1,200/s  p50 50.0 ms  p99 99.0 ms");
        assert_eq!(strategy.row(8, Some(1_250.4)), "  linked        1,200 of 1,250/s  p50 50.0 ms  p99 99.0 ms");
    }

    #[test]
    fn percentiles_and_failures_are_those_of_all_rounds() {
        let mut strategy = StrategyProgress::new("a");
        strategy.slice(10, 1.0, 2);
        strategy.slice(20, 2.0, 3);
        strategy.interval(&times(100));
        strategy.end_round();
        strategy.slice(10, 2.0, 1);
        strategy.interval(&times(300));
        // Of 400 values, 1 to 100 occur twice: 200 are at most 100.
        assert_eq!(strategy.row(1, None), "  a         5/s  p50 100 ms   p99 296 ms    4 failed");
    }
}
