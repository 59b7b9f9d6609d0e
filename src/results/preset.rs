//! Presets: how long a run measures unless its settings say otherwise.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of rounds and the length of windows that a run starts from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Shows that a scenario runs; too short for verdicts.
    Smoke,
    /// A first answer.
    #[default]
    Quick,
    /// An answer to act on.
    Full,
    /// Numbers to publish.
    Publish,
}

/// Rounds and calls of a preset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PresetLength {
    /// Rounds, each on fresh databases.
    pub rounds: u64,
    /// Target length of an arm's window, in seconds.
    pub seconds: f64,
    /// Target length of the warm-up before it, in seconds.
    pub warmup_seconds: f64,
    /// Slices that a window is cut into.
    pub slices: u64,
    /// Calls of the rarest operation and round that measure its own cost; up to three times as many of others.
    pub own_calls: u64,
}

impl Preset {
    /// All presets, the shortest first.
    pub const ALL: [Preset; 4] = [Preset::Smoke, Preset::Quick, Preset::Full, Preset::Publish];

    /// Returns the name that `run.json` and the command line use.
    pub fn name(self) -> &'static str {
        ["smoke", "quick", "full", "publish"][self as usize]
    }

    /// Returns its rounds and calls.
    pub fn length(self) -> PresetLength {
        let quick = PresetLength { rounds: 8, seconds: 1.5, warmup_seconds: 0.5, slices: 32, own_calls: 60 };
        match self {
            Preset::Smoke => PresetLength { rounds: 1, seconds: 0.2, warmup_seconds: 0.1, own_calls: 6, ..quick },
            Preset::Quick => quick,
            Preset::Full => PresetLength { rounds: 12, seconds: 5.0, slices: 64, own_calls: 200, ..quick },
            Preset::Publish => PresetLength { rounds: 20, seconds: 5.0, slices: 64, own_calls: 200, ..quick },
        }
    }
}

impl PresetLength {
    /// Returns the warm-up calls before a window of `calls`: the same share as of the target times.
    pub fn warmup_calls(&self, calls: u64) -> u64 {
        (calls as f64 * self.warmup_seconds / self.seconds).ceil() as u64
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_presets_measure_longer() {
        let measured = Preset::ALL.map(|preset| preset.length().rounds as f64 * preset.length().seconds);
        assert!(measured.is_sorted(), "{measured:?}");
    }

    #[test]
    fn names_are_those_on_disk() {
        for preset in Preset::ALL {
            assert_eq!(serde_json::to_value(preset).unwrap(), preset.name());
        }
    }
}
