//! Faults that a run injects.

use std::fmt;

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

/// A fault, once in every measured window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// What is done.
    pub kind: FaultKind,
    /// When: seconds since the start of the window.
    pub after: f64,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [FaultKind; 3] = [FaultKind::StepDown, FaultKind::Kill, FaultKind::Stop];

    /// The name that the command line uses.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::StepDown => "stepdown",
            FaultKind::Kill => "kill",
            FaultKind::Stop => "stop",
        }
    }

    /// The name for people, with its article.
    pub fn label(self) -> &'static str {
        match self {
            FaultKind::StepDown => "the step-down",
            FaultKind::Kill => "the kill",
            FaultKind::Stop => "the stop",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@{}s", self.kind.name(), self.after)
    }
}
