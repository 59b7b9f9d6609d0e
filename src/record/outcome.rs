//! The outcome of a call.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How a call ended. In files it is its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum CallOutcome {
    /// A read's result, or `ok()`.
    Ok,
    /// `same()`
    Same,
    /// `not_found()`
    NotFound,
    /// `rejected("reason")`
    Rejected(Arc<str>),
    /// The server or the connection failed.
    Failed,
    /// The call had waited longer than the timeout and was not sent; with open load only.
    Skipped,
}

/// What precedes the reason of a rejection.
const REJECTED: &str = "rejected: ";

impl CallOutcome {
    /// Whether there was no answer.
    pub fn is_failure(&self) -> bool {
        matches!(self, CallOutcome::Failed | CallOutcome::Skipped)
    }

    /// Whether the application's rules said no.
    pub fn is_rejected(&self) -> bool {
        matches!(self, CallOutcome::Rejected(_))
    }
}

/// The outcomes that a scenario names: rejections without their reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeKind {
    /// [`CallOutcome::Ok`].
    Ok,
    /// [`CallOutcome::Same`].
    Same,
    /// [`CallOutcome::NotFound`].
    NotFound,
    /// [`CallOutcome::Rejected`], whatever the reason.
    Rejected,
}

impl OutcomeKind {
    /// The names, in the order of the variants.
    pub const NAMES: [&str; 4] = ["ok", "same", "not_found", "rejected"];

    const ALL: [OutcomeKind; 4] = [OutcomeKind::Ok, OutcomeKind::Same, OutcomeKind::NotFound, OutcomeKind::Rejected];

    /// Finds an outcome by its name.
    pub fn named(name: &str) -> Option<OutcomeKind> {
        Self::ALL.into_iter().zip(Self::NAMES).find_map(|(kind, known)| (known == name).then_some(kind))
    }

    /// The name in scenarios and records.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Whether a call ended in this way.
    pub fn is(self, outcome: &CallOutcome) -> bool {
        let kind = match outcome {
            CallOutcome::Ok => OutcomeKind::Ok,
            CallOutcome::Same => OutcomeKind::Same,
            CallOutcome::NotFound => OutcomeKind::NotFound,
            CallOutcome::Rejected(_) => OutcomeKind::Rejected,
            CallOutcome::Failed | CallOutcome::Skipped => return false,
        };
        kind == self
    }
}

impl fmt::Display for CallOutcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallOutcome::Ok => out.write_str("ok"),
            CallOutcome::Same => out.write_str("same"),
            CallOutcome::NotFound => out.write_str("not_found"),
            CallOutcome::Rejected(reason) => write!(out, "{REJECTED}{reason}"),
            CallOutcome::Failed => out.write_str("failed"),
            CallOutcome::Skipped => out.write_str("skipped"),
        }
    }
}

impl From<CallOutcome> for String {
    fn from(outcome: CallOutcome) -> String {
        outcome.to_string()
    }
}

impl TryFrom<String> for CallOutcome {
    type Error = String;

    fn try_from(text: String) -> Result<CallOutcome, String> {
        let known =
            [CallOutcome::Ok, CallOutcome::Same, CallOutcome::NotFound, CallOutcome::Failed, CallOutcome::Skipped];
        let rejected = || text.strip_prefix(REJECTED).map(|reason| CallOutcome::Rejected(reason.into()));
        known.into_iter().find(|outcome| outcome.to_string() == text).or_else(rejected).ok_or_else(|| {
            format!("unknown outcome `{text}`, expected ok, same, not_found, rejected: REASON, failed or skipped")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_comes_back_from_its_text() {
        let rejected = CallOutcome::Rejected("sold out: 3".into());
        for outcome in [CallOutcome::Ok, CallOutcome::NotFound, CallOutcome::Skipped, rejected] {
            assert_eq!(CallOutcome::try_from(outcome.to_string()), Ok(outcome));
        }
        assert!(CallOutcome::try_from("refused: size".to_owned()).is_err());
    }
}
