//! How long calls waited for something, as a sum.

use serde::{Deserialize, Serialize};

/// Waits of many calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// How many waited, if only for a moment.
    pub count: u64,
    /// Their time together in nanoseconds.
    pub sum: u64,
}

impl Waits {
    /// Adds other waits.
    pub fn add(&mut self, other: Waits) {
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// The mean in nanoseconds; `None` without any wait.
    pub fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}
