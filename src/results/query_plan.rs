//! How the server finds the documents of a command.

use serde::{Deserialize, Serialize};

/// How the server finds the documents of a read step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryPlanRecord {
    /// The strategy.
    pub strategy: String,
    /// The operation.
    pub operation: String,
    /// The command and its collection.
    pub step: String,
    /// The stages of the winning plan, outermost first, such as `FETCH` and `IXSCAN`.
    pub stages: Vec<String>,
    /// The indexes that the plan uses.
    pub indexes: Vec<String>,
}
