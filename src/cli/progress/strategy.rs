//! The progress of one strategy.

use std::collections::BTreeMap;

use crate::record::Part;
use crate::report::count;

/// The numbers of one strategy so far.
#[derive(Debug)]
pub(super) struct StrategyProgress {
    pub(super) name: String,
    /// Of every part: those of the rounds before this one, and of this one.
    parts: BTreeMap<Part, [Tally; 2]>,
}

/// Measured calls, the seconds that they took, and those that failed.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Tally {
    pub(super) calls: u64,
    pub(super) seconds: f64,
    pub(super) failed: u64,
}

impl StrategyProgress {
    pub(super) fn new(name: &str) -> StrategyProgress {
        StrategyProgress { name: name.to_owned(), parts: BTreeMap::new() }
    }

    /// The calls of a part in this round so far, at the end of a slice.
    pub(super) fn slice(&mut self, part: Part, tally: Tally) {
        self.parts.entry(part).or_default()[1] = tally;
    }

    /// A round is complete; the next one counts from 0 again.
    pub(super) fn end_round(&mut self) {
        self.parts.values_mut().for_each(|tallies| *tallies = [Tally::sum(*tallies), Tally::default()]);
    }

    /// The name, the calls of all parts, the calls per second of the part `rate`, and the failures of all parts; numbers are empty
    /// where nothing is known.
    pub(super) fn texts(&self, rate: Option<Part>) -> [String; 4] {
        let tally = |tallies: &[Tally; 2]| Tally::sum(*tallies);
        let all = self.parts.values().map(tally).fold(Tally::default(), |sum, one| Tally::sum([sum, one]));
        let rate = rate.and_then(|part| self.parts.get(&part)).map(tally).filter(|tally| tally.seconds > 0.0);
        let shown = |number: u64| if number == 0 { String::new() } else { count(number) };
        let rate = rate.map_or_else(String::new, |tally| count((tally.calls as f64 / tally.seconds).round() as u64));
        [self.name.clone(), shown(all.calls), rate, shown(all.failed)]
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

    fn tally(calls: u64, seconds: f64, failed: u64) -> Tally {
        Tally { calls, seconds, failed }
    }

    fn texts(strategy: &StrategyProgress) -> [String; 3] {
        let [_, calls, rate, failed] = strategy.texts(Some(Part::Saturation));
        [calls, rate, failed]
    }

    #[test]
    fn texts_say_what_is_known() {
        let mut strategy = StrategyProgress::new("linked");
        assert_eq!(texts(&strategy), [""; 3]);
        strategy.slice(Part::Saturation, tally(600, 0.5, 0));
        assert_eq!(texts(&strategy), ["600", "1,200", ""]);
    }

    #[test]
    fn calls_rates_and_failures_are_those_of_all_rounds() {
        let mut strategy = StrategyProgress::new("a");
        strategy.slice(Part::Own, tally(5, 1.0, 1));
        strategy.slice(Part::Saturation, tally(10, 1.0, 2));
        strategy.slice(Part::Saturation, tally(20, 2.0, 3));
        strategy.end_round();
        strategy.slice(Part::Saturation, tally(10, 4.0, 1));
        assert_eq!(texts(&strategy), ["35", "5", "5"]);
    }
}
