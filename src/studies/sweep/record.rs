//! `sweep.json`: the conditions that a sweep varied, and the runs at its points.

use serde::{Deserialize, Serialize};

use crate::results::{ConclusionRecord, Document, RunSettings, SWEEP_FILE};

/// The version of `sweep.json` that this build writes. It grows when a field goes or changes its meaning.
pub const SWEEP_FORMAT: u32 = 1;

/// A sweep. The numbers are in the runs of its points.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepRecord {
    /// [`SWEEP_FORMAT`] of the build that wrote it.
    pub format: u32,
    /// The version of docshape.
    pub version: String,
    /// The scenario's name.
    pub scenario: String,
    /// Its question.
    pub title: String,
    /// What the sweep asks, when the scenario says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// Whether all points have all of their rounds.
    pub complete: bool,
    /// The conditions, one or two.
    pub vary: Vec<ConditionRecord>,
    /// The points, in the order in which they were planned; by value after `--refine`.
    pub points: Vec<PointRecord>,
    /// The values that are still to be added; `None` when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refine: Option<RefineRecord>,
    /// What was found; `None` before the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<ConclusionRecord>,
}

impl Document for SweepRecord {
    const FILE: &'static str = SWEEP_FILE;
    const FORMAT: u32 = SWEEP_FORMAT;
}

/// A condition that a sweep varies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionRecord {
    /// Its name on the command line: a parameter, `share:OPERATION`, `clients`, `rate`, `rtt`, `cache`, `w` or `mix`.
    pub name: String,
    /// Its values as on the command line.
    pub values: Vec<String>,
}

/// What `--refine` asks for, until it is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RefineRecord {
    /// How many values are added at most.
    pub values: u64,
    /// The settings of all points before their pilots and without their values.
    pub settings: RunSettings,
}

/// A point of a sweep: a run with one value of every condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointRecord {
    /// The values as on the command line, one for each condition.
    pub values: Vec<String>,
    /// The folder of its run, relative to the file.
    pub folder: String,
    /// Complete rounds.
    pub rounds: u64,
    /// Why it has no more rounds than these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl SweepRecord {
    /// The values of the second condition; one without a text where there is none.
    pub fn second_values(&self) -> Vec<String> {
        self.vary.get(1).map_or_else(|| vec![String::new()], |condition| condition.values.clone())
    }
}

/// The unit of a value of a condition.
pub fn condition_unit(value: &str) -> &str {
    value.trim_start_matches(|symbol: char| symbol.is_ascii_digit() || "+-.eE".contains(symbol))
}

/// The size of a unit of conditions: times are in seconds, shares from 0 to 1. `None` for another text.
pub fn condition_unit_size(unit: &str) -> Option<f64> {
    match unit.trim() {
        "" | "s" => Some(1.0),
        "%" => Some(0.01),
        "us" | "µs" => Some(1e-6),
        "ms" => Some(1e-3),
        _ => None,
    }
}

/// The number that a value of a condition means; `None` for a name.
pub fn condition_number(value: &str) -> Option<f64> {
    let unit = condition_unit(value);
    let digits = value.strip_suffix(unit)?.trim();
    Some(digits.parse::<f64>().ok()? * condition_unit_size(unit)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbers_with_units() {
        let all = ["100", "2.5", "25%", "0.4ms", "0", "writing"].map(condition_number);
        assert_eq!(all, [Some(100.0), Some(2.5), Some(0.25), Some(0.0004), Some(0.0), None]);
    }
}
