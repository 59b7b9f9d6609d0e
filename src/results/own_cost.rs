//! Own costs: what calls cost the server when nothing else runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The own cost of one operation of one strategy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnCostRecord {
    /// The strategy.
    pub strategy: String,
    /// The operation.
    pub operation: String,
    /// The number of calls.
    pub calls: u64,
    /// Messages exchanged by all of them.
    pub round_trips: u64,
    /// How much the server's counters grew over all of them, docshape's own commands subtracted; without those that the
    /// server does not report.
    pub counters: BTreeMap<String, f64>,
}

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
