//! What a sweep has found, in sentences: what it takes to cite it without the runs of its points.

use serde::{Deserialize, Serialize};

/// What was found, and under which conditions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConclusionRecord {
    /// The server, the machine, the length and what was set.
    pub conditions: String,
    /// What was found, the same sentences as in the report.
    pub findings: Vec<FindingRecord>,
}

/// A sentence on two strategies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingRecord {
    /// The operation or mix, and the value of the second condition.
    pub place: String,
    /// The two strategies.
    pub strategies: [String; 2],
    /// Which is faster where.
    pub answer: String,
    /// Whether their order flips.
    pub flips: bool,
    /// Whether it is about the mix, not about an operation by itself.
    pub mix: bool,
}
