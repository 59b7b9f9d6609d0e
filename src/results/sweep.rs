//! `sweep.json`: the conditions that a sweep varied, and the runs at its points.

use serde::{Deserialize, Serialize};

/// The name of the file.
pub const SWEEP_FILE: &str = "sweep.json";

/// The version of `sweep.json` that this build writes. It grows when a field goes or changes its meaning.
pub const SWEEP_FORMAT: u32 = 1;

/// A sweep. The numbers are in the runs of its points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// The points, in the order in which they were planned.
    pub points: Vec<PointRecord>,
}

/// A condition that a sweep varies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionRecord {
    /// Its name on the command line: a parameter, `share:OPERATION`, `clients`, `rate`, `rtt`, `cache` or `mix`.
    pub name: String,
    /// Its values as on the command line.
    pub values: Vec<String>,
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
