//! The parts of a run: each answers a question of its own.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A part of a run. The order is that in which a round measures them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Every operation by itself, one client: what a call of it costs.
    Own,
    /// Open load, the same arrivals for all strategies: how long users wait.
    Rate,
    /// Closed load: how many calls per second the server makes at most for this many clients.
    Saturation,
}

impl Part {
    /// All parts in their order.
    pub const ALL: [Part; 3] = [Part::Own, Part::Rate, Part::Saturation];

    /// The name that `run.json` and the command line use.
    pub fn name(self) -> &'static str {
        ["own", "rate", "saturation"][self as usize]
    }

    /// The name for people.
    pub fn label(self) -> &'static str {
        ["own cost", "common rate", "saturation"][self as usize]
    }
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
