//! What happened to the servers of a run.

use serde::{Deserialize, Serialize};

use crate::record::Part;

/// Something that happened to a server while a strategy was on turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// The round, from 0.
    pub round: u64,
    /// The strategy's position.
    pub strategy: usize,
    /// The part whose calls were measured; `None` between measured calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// When, in seconds since the run was started or resumed.
    pub seconds: f64,
    /// What happened.
    pub kind: EventKind,
}

/// What happened to a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// Another member became the primary; or, where both are the same, the primary was lost and came back.
    PrimaryChanged {
        /// The address of the last primary.
        from: String,
        /// That of the next one.
        to: String,
        /// Seconds in which docshape knew no primary.
        without: f64,
    },
}

impl EventRecord {
    /// Whether it happened while calls of this part were measured.
    pub fn is_in(&self, round: u64, strategy: usize, part: Option<Part>) -> bool {
        self.round == round && self.strategy == strategy && self.part.is_some() && self.part == part
    }
}
