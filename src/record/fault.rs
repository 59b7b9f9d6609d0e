//! Faults that docshape causes.

use serde::{Deserialize, Serialize};

/// What is done to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The primary steps down. Of a set with one member it is elected again after a second.
    StepDown,
    /// Its process is killed (SIGKILL) and started again on the same data.
    Kill,
    /// Its process is stopped (SIGSTOP) for five seconds.
    Stop,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [FaultKind; 3] = [FaultKind::StepDown, FaultKind::Kill, FaultKind::Stop];

    /// The name that the command line uses.
    pub fn name(self) -> &'static str {
        ["stepdown", "kill", "stop"][self as usize]
    }

    /// The name for people, with its article.
    pub fn label(self) -> &'static str {
        ["the step-down", "the kill", "the stop"][self as usize]
    }

    /// What was done, for a sentence about the primary.
    pub fn deed(self) -> &'static str {
        let killed = "was killed (SIGKILL) and started again on the same data";
        ["stepped down", killed, "was stopped (SIGSTOP) for 5 s"][self as usize]
    }
}
