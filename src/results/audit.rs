//! The counts of audits.

use serde::{Deserialize, Serialize};

/// One audit of one strategy's data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// The audit's name.
    pub audit: String,
    /// Rows counted.
    pub found: u64,
    /// Rows that there must be, at least and at most; they differ only when the outcome of calls is unknown.
    pub expected: [i64; 2],
    /// The first row, its long texts and lists shortened, where there must be none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

impl AuditRecord {
    /// Returns the number of anomalies: the distance of the count from the expected range.
    pub fn anomalies(&self) -> u64 {
        let [least, most] = self.expected;
        let found = i64::try_from(self.found).unwrap_or(i64::MAX);
        let beyond = least.saturating_sub(found).max(found.saturating_sub(most));
        u64::try_from(beyond).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anomalies_are_the_distance_from_what_must_be() {
        let anomalies = |found, expected| AuditRecord { audit: "a".into(), found, expected, example: None }.anomalies();
        assert_eq!([anomalies(0, [0, 0]), anomalies(3, [0, 0]), anomalies(7, [10, 10])], [0, 3, 3]);
        assert_eq!(anomalies(0, [-2, -2]), 2);
        assert_eq!([anomalies(10, [10, 12]), anomalies(12, [10, 12]), anomalies(13, [10, 12])], [0, 0, 1]);
    }
}
