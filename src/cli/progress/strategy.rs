//! The progress of one strategy.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::record::{LatencyHistogram, Part};
use crate::report::{count, time};

/// The numbers of one strategy so far.
#[derive(Debug)]
pub(super) struct StrategyProgress {
    pub(super) name: String,
    parts: BTreeMap<Part, PartProgress>,
}

/// The numbers of one part over all rounds.
#[derive(Debug)]
struct PartProgress {
    /// Of the rounds before this one, and of this one.
    rounds: [Tally; 2],
    /// Answered calls of all operations, of the intervals that have ended.
    times: LatencyHistogram,
    /// Median and 99th percentile of them in nanoseconds; `None` before the first interval has ended.
    percentiles: Option<(u64, u64)>,
}

/// Measured calls, the seconds that they took, and those that failed.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Tally {
    pub(super) calls: u64,
    pub(super) seconds: f64,
    pub(super) failed: u64,
}

impl Default for PartProgress {
    fn default() -> PartProgress {
        PartProgress { rounds: Default::default(), times: LatencyHistogram::new(Duration::ZERO), percentiles: None }
    }
}

/// The numbers of a strategy as texts, empty where nothing is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct StrategyTexts {
    pub(super) name: String,
    pub(super) calls: String,
    pub(super) rate: String,
    pub(super) p50: String,
    pub(super) p99: String,
    pub(super) failed: String,
}

impl StrategyProgress {
    pub(super) fn new(name: &str) -> StrategyProgress {
        StrategyProgress { name: name.to_owned(), parts: BTreeMap::new() }
    }

    /// The calls of a part in this round so far, at the end of a slice.
    pub(super) fn slice(&mut self, part: Part, tally: Tally) {
        self.parts.entry(part).or_default().rounds[1] = tally;
    }

    /// A round is complete; the next one counts from 0 again.
    pub(super) fn end_round(&mut self) {
        self.parts.values_mut().for_each(|part| part.rounds = [Tally::sum(part.rounds), Tally::default()]);
    }

    /// Calls of an interval.
    pub(super) fn interval(&mut self, part: Part, times: &LatencyHistogram) {
        let part = self.parts.entry(part).or_default();
        part.times.merge(times);
        part.percentiles = Some((part.times.quantile(0.5), part.times.quantile(0.99)));
    }

    /// The texts: calls and failures of all parts, the rate of the part `rate`, percentiles of the part `times`.
    pub(super) fn texts(&self, rate: Option<Part>, times: Option<Part>) -> StrategyTexts {
        let tally = |part: &PartProgress| Tally::sum(part.rounds);
        let all = self.parts.values().map(tally).fold(Tally::default(), |sum, one| Tally::sum([sum, one]));
        let rate = rate.and_then(|part| self.parts.get(&part)).map(tally).filter(|tally| tally.seconds > 0.0);
        let percentiles = times.and_then(|part| self.parts.get(&part)?.percentiles);
        let shown = |number: u64| if number == 0 { String::new() } else { count(number) };
        StrategyTexts {
            name: self.name.clone(),
            calls: shown(all.calls),
            rate: rate.map_or_else(String::new, |tally| count((tally.calls as f64 / tally.seconds).round() as u64)),
            p50: percentiles.map_or_else(String::new, |(median, _)| time(median as f64)),
            p99: percentiles.map_or_else(String::new, |(_, high)| time(high as f64)),
            failed: shown(all.failed),
        }
    }
}

impl Tally {
    fn sum(tallies: [Tally; 2]) -> Tally {
        let [one, other] = tallies;
        Tally {
            calls: one.calls + other.calls,
            seconds: one.seconds + other.seconds,
            failed: one.failed + other.failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(milliseconds: u64) -> LatencyHistogram {
        let mut times = LatencyHistogram::new(Duration::ZERO);
        (1..=milliseconds).for_each(|value| times.record(value * 1_000_000));
        times
    }

    fn tally(calls: u64, seconds: f64, failed: u64) -> Tally {
        Tally { calls, seconds, failed }
    }

    fn texts(strategy: &StrategyProgress) -> [String; 5] {
        let StrategyTexts { calls, rate, p50, p99, failed, .. } =
            strategy.texts(Some(Part::Saturation), Some(Part::Rate));
        [calls, rate, p50, p99, failed]
    }

    #[test]
    fn texts_say_what_is_known() {
        let mut strategy = StrategyProgress::new("linked");
        assert_eq!(texts(&strategy), [""; 5]);
        strategy.slice(Part::Saturation, tally(600, 0.5, 0));
        assert_eq!(texts(&strategy), ["600", "1,200", "", "", ""]);
        strategy.interval(Part::Rate, &times(100));
        strategy.interval(Part::Own, &times(400));
        assert_eq!(texts(&strategy), ["600", "1,200", "50.0 ms", "99.0 ms", ""]);
    }

    #[test]
    fn calls_rates_and_failures_are_those_of_all_rounds() {
        let mut strategy = StrategyProgress::new("a");
        strategy.slice(Part::Own, tally(5, 1.0, 1));
        strategy.slice(Part::Saturation, tally(10, 1.0, 2));
        strategy.slice(Part::Saturation, tally(20, 2.0, 3));
        strategy.interval(Part::Rate, &times(100));
        strategy.end_round();
        strategy.slice(Part::Saturation, tally(10, 4.0, 1));
        strategy.interval(Part::Rate, &times(300));
        // Of 400 values, 1 to 100 occur twice: 200 are at most 100.
        assert_eq!(texts(&strategy), ["35", "5", "100 ms", "296 ms", "5"]);
    }
}
