//! YAML text to a [`Scenario`](super::Scenario).

/// Reads.
pub fn read() {}
