//! What a sweep has found: what it takes to cite it.

use serde::{Deserialize, Serialize};

/// What was found, and under which conditions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConclusionRecord {
    /// The server, the machine, the length and what was set.
    pub conditions: String,
    /// The fastest strategies in the mix, for each value of the second condition.
    pub fastest: Vec<FastestRecord>,
}

/// The fastest strategies over the first condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FastestRecord {
    /// The mix, how it was measured, and the value of the second condition.
    pub place: String,
    /// In the order of the values.
    pub points: Vec<FastestAtRecord>,
    /// The values at which no two strategies could be compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
}

/// The fastest strategies at one value of the first condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FastestAtRecord {
    /// The value as it was written.
    pub value: String,
    /// Those that no other one is shown to beat; none where no difference is shown.
    pub strategies: Vec<String>,
    /// Those that could not be compared with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}
