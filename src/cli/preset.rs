//! Presets: how long a run measures.

use clap::ValueEnum;
use clap::builder::PossibleValue;

/// The rounds and windows that a run starts from; `--rounds`, `--slices`, `--calls` and `--duration` change them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preset {
    /// The word after `--preset`.
    pub name: &'static str,
    /// Rounds, each with fresh databases.
    pub rounds: u64,
    /// Aimed length of a strategy's measured window in a round, in seconds.
    pub seconds: f64,
    /// Aimed length of the warm-up before it, in seconds.
    pub warmup_seconds: f64,
    /// Slices that a window is cut into, the strategies taking turns.
    pub slices: u64,
    /// Calls of every operation in the cost pass.
    pub cost_calls: u64,
    /// What it is for.
    purpose: &'static str,
}

/// All presets, the shortest first.
pub const PRESETS: [Preset; 4] = [
    Preset {
        name: "smoke",
        rounds: 1,
        seconds: 0.3,
        warmup_seconds: 0.1,
        slices: 64,
        cost_calls: 20,
        purpose: "does it run at all",
    },
    Preset {
        name: "quick",
        rounds: 8,
        seconds: 3.0,
        warmup_seconds: 1.0,
        slices: 64,
        cost_calls: 200,
        purpose: "a first answer",
    },
    Preset {
        name: "full",
        rounds: 12,
        seconds: 10.0,
        warmup_seconds: 1.0,
        slices: 64,
        cost_calls: 200,
        purpose: "an answer to act on",
    },
    Preset {
        name: "publish",
        rounds: 20,
        seconds: 10.0,
        warmup_seconds: 1.0,
        slices: 64,
        cost_calls: 200,
        purpose: "numbers to show",
    },
];

impl ValueEnum for Preset {
    fn value_variants<'a>() -> &'a [Self] {
        &PRESETS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let rounds = if self.rounds == 1 { "round" } else { "rounds" };
        let length = format!(
            "{} {rounds} of {} s per strategy after {} s of warm-up",
            self.rounds, self.seconds, self.warmup_seconds
        );
        Some(PossibleValue::new(self.name).help(format!("{}: {length}, {} slices", self.purpose, self.slices)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_found_by_its_name_and_tells_its_numbers() {
        for preset in PRESETS {
            assert_eq!(Preset::from_str(preset.name, false), Ok(preset));
            let help = preset.to_possible_value().unwrap().get_help().unwrap().to_string();
            assert!(help.contains(&format!("{} s per strategy", preset.seconds)), "{help}");
        }
        assert_eq!(
            Preset::from_str("smoke", false).unwrap().to_possible_value().unwrap().get_help().unwrap().to_string(),
            "does it run at all: 1 round of 0.3 s per strategy after 0.1 s of warm-up, 64 slices"
        );
    }

    #[test]
    fn longer_presets_measure_longer() {
        let measured: Vec<f64> = PRESETS.iter().map(|preset| preset.rounds as f64 * preset.seconds).collect();
        assert!(measured.is_sorted(), "{measured:?}");
    }
}
