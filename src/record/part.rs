//! The parts of a run: each answers a question of its own.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A part of a run. The order is that in which a round measures them: what decides comes first, because in the parts with open load
/// an overloaded strategy makes fewer calls than the others, and then has other data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Every operation by itself, one client: what a call of it costs.
    Own,
    /// Closed load: how many calls per second the server makes at most for this many clients.
    Saturation,
    /// Open load, the same arrivals for all strategies, far below what the best of them can do.
    Light,
    /// Open load at half of what the best strategy can do, or at the rate that the user named.
    Rate,
    /// Open load near to what the best strategy can do.
    Heavy,
}

impl Part {
    /// All parts in their order.
    pub const ALL: [Part; 5] = [Part::Own, Part::Saturation, Part::Light, Part::Rate, Part::Heavy];

    /// The parts with open load, the lightest first: together they are the curve of response times under load.
    pub const CURVE: [Part; 3] = [Part::Light, Part::Rate, Part::Heavy];

    /// The name that `run.json` and the command line use.
    pub fn name(self) -> &'static str {
        ["own", "saturation", "light", "rate", "heavy"][self as usize]
    }

    /// The name for people.
    pub fn label(self) -> &'static str {
        ["own cost", "saturation", "light load", "open load", "heavy load"][self as usize]
    }

    /// The open load of this part as a share (0 to 1) of the calls per second that the best strategy makes in the pilot; `None` with
    /// closed load.
    pub fn share(self) -> Option<f64> {
        [None, None, Some(0.2), Some(0.5), Some(0.8)][self as usize]
    }

    /// Whether calls start at intended times, whether or not earlier ones have ended.
    pub fn is_open(self) -> bool {
        self.share().is_some()
    }

    /// Whether it is measured only for the curve, and not by itself where the user names a rate.
    pub fn is_end_of_curve(self) -> bool {
        matches!(self, Part::Light | Part::Heavy)
    }

    /// The calls per second of this part where those of [`Part::Rate`] are `rate`; `None` with closed load.
    pub fn rate(self, rate: f64) -> Option<f64> {
        let ratio = self.share()? / Part::Rate.share()?;
        // Without the digits that only binary fractions bring.
        Some((rate * ratio * 1e6).round() / 1e6)
    }

    /// The part of those measured whose cells have the sizes and audits: saturation, after which all strategies have made the same
    /// calls, else the last one.
    pub fn inspected(measured: impl IntoIterator<Item = Part>) -> Option<Part> {
        measured.into_iter().max_by_key(|part| (*part == Part::Saturation, *part))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_at_saturation() {
        assert_eq!(Part::inspected(Part::ALL), Some(Part::Saturation));
        assert_eq!(Part::inspected([Part::Rate, Part::Own]), Some(Part::Rate));
        assert_eq!(Part::inspected([]), None);
    }

    #[test]
    fn rates_of_the_curve_follow_from_the_middle_one() {
        assert_eq!(Part::ALL.map(|part| part.rate(1_230.0)), [None, None, Some(492.0), Some(1_230.0), Some(1_968.0)]);
    }
}
