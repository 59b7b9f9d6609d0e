//! What a call cost besides time, and what is known of its writes.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::record::TRANSIENT;
use crate::server::Failure;

use super::error::StepError;
use super::transaction;

/// What a call cost besides time.
#[derive(Debug, Default)]
pub struct CallTrace {
    /// Messages exchanged.
    pub round_trips: u64,
    /// Causes of the repeated attempts.
    pub retries: Vec<RetryCause>,
    /// Whether a write of the call was acknowledged.
    has_written: bool,
    /// Whether a write of the call may or may not have taken effect: it was sent and not yet answered, or the answer leaves it open.
    is_open: bool,
    /// Acknowledged writes, of programs that may write more than once.
    writes: u64,
    /// When the first and the last of them were acknowledged.
    written: Option<(Instant, Instant)>,
}

impl CallTrace {
    /// Returns the time from the first acknowledged write to the last, while other clients can see a half-finished call;
    /// `None` for a call that wrote less than twice.
    pub fn inconsistency_window(&self) -> Option<Duration> {
        self.written.filter(|_| self.writes > 1).map(|(first, last)| last - first)
    }

    /// Whether a call without a result may have taken effect, as a whole or in part: a write may have been done, or the call was
    /// interrupted after one that was. `error` is `None` for a call that got no reply in time.
    pub fn is_outcome_unknown(&self, error: Option<&StepError>) -> bool {
        let is_interruption =
            |error: &StepError| matches!(error, StepError::Failed { failure, .. } if failure.is_interruption());
        self.is_open || (self.has_written && error.is_none_or(is_interruption))
    }

    /// Notes that a write is sent, and returns whether an earlier one is open. A call that is given up before the answer stays open.
    pub(super) fn begin_write(&mut self, is_write: bool) -> bool {
        let before = self.is_open;
        self.is_open |= is_write;
        before
    }

    /// Notes when a write was acknowledged, of a program that may write more than once.
    pub(super) fn note_write(&mut self, now: Instant) {
        let first = self.written.map_or(now, |(first, _)| first);
        self.written = Some((first, now));
        self.writes += 1;
    }

    /// Notes that the write was acknowledged.
    pub(super) fn end_write(&mut self, before: bool, is_write: bool) {
        self.is_open = before;
        self.has_written |= is_write;
    }

    /// Notes that the write failed.
    pub(super) fn fail_write(&mut self, before: bool, failure: &Failure) {
        self.is_open = before || (self.is_open && failure.leaves_outcome_open());
    }
}

/// Why an attempt is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryCause {
    /// A server error that `retry` lists.
    Code(i32),
    /// `retry_if`.
    Condition,
    /// A conflict of the transaction with others.
    Transaction,
    /// A commit whose result is unknown.
    Commit,
}

impl RetryCause {
    /// The name under which retries are counted.
    pub fn name(self) -> Arc<str> {
        match self {
            RetryCause::Code(code) => code.to_string().into(),
            RetryCause::Condition => "retry_if".into(),
            RetryCause::Transaction => TRANSIENT.into(),
            RetryCause::Commit => transaction::UNKNOWN_RESULT.into(),
        }
    }
}
