//! Steps of which the server does all or none.

use std::time::Duration;

use crate::generate::Label;
use crate::plan::{Frame, Step};
use crate::record::TRANSIENT;
use crate::server::{Failure, Target, Transaction};

use super::error::StepError;
use super::interpreter::{Flow, Interpreter, Stepped};
use super::retry::back_off;
use super::trace::RetryCause;

/// The label of errors after which the commit may be retried, since its result is unknown.
pub(super) const UNKNOWN_RESULT: &str = "UnknownTransactionCommitResult";

/// The longest time before the first retry: that of the drivers' specification (transactions, convenient API), as are the
/// numbers of [`back_off`], so that a strategy is measured with the retry loop that drivers have.
const FIRST_DELAY: Duration = Duration::from_millis(5);
/// Labels the times before retries.
const BACK_OFF: Label = Label::new("transaction back-off");

/// An open transaction.
pub(super) struct OpenTransaction {
    pub(super) transaction: Transaction,
    /// Whether a command was sent; without one there is nothing to commit or to abort.
    pub(super) is_sent: bool,
    /// Whether a command changed data.
    pub(super) changes: bool,
}

impl<T: Target> Interpreter<'_, T> {
    /// Runs the steps in a transaction until it commits. Every attempt starts with the variables of the first one.
    pub(super) async fn transaction(&mut self, attempts: u32, w: &str, body: &[Step], frame: &mut Frame) -> Stepped {
        let before = frame.slots.clone();
        let mut left = attempts;
        let mut retries = 0;
        loop {
            left = left.saturating_sub(1);
            match self.attempt(w, body, &mut left, frame).await {
                Err(StepError::Failed { failure, .. }) if left > 0 && is_labelled(&failure, TRANSIENT) => {}
                ended => return ended,
            }
            self.trace.retries.push(RetryCause::Transaction);
            frame.slots.clone_from(&before);
            retries += 1;
            tokio::time::sleep(back_off(frame, BACK_OFF, FIRST_DELAY, retries)).await;
        }
    }

    /// Makes one attempt. Each repeated commit takes one of the attempts that are left.
    async fn attempt(&mut self, w: &str, body: &[Step], left: &mut u32, frame: &mut Frame) -> Stepped {
        let transaction = self.target.begin(w).await.map_err(|failure| failed("transaction", failure))?;
        self.open = Some(OpenTransaction { transaction, is_sent: false, changes: false });
        let flow = self.steps(body, frame).await;
        let Some(open) = self.open.take() else { return flow };
        match flow {
            Ok(Flow::Next | Flow::Return(_)) => self.commit(open, left).await.and(flow),
            Ok(Flow::Abort(value)) => {
                self.abort(open).await;
                Ok(Flow::Return(value))
            }
            Ok(Flow::Retry) | Err(_) => {
                self.abort(open).await;
                flow
            }
        }
    }

    async fn commit(&mut self, mut open: OpenTransaction, left: &mut u32) -> Result<(), StepError> {
        loop {
            self.trace.round_trips += u64::from(open.is_sent);
            let before = self.trace.begin_write(open.is_sent);
            match self.target.end(&mut open.transaction, true).await {
                Ok(()) => {
                    self.trace.end_write(before, open.is_sent);
                    break;
                }
                Err(failure) if *left > 0 && is_labelled(&failure, UNKNOWN_RESULT) => {
                    *left -= 1;
                    self.trace.retries.push(RetryCause::Commit);
                    // The next commit says what became of this one.
                    self.trace.end_write(before, false);
                }
                Err(failure) => {
                    self.trace.fail_write(before, &failure);
                    return Err(failed("commit", failure));
                }
            }
        }
        if open.changes {
            self.note_write();
        }
        Ok(())
    }

    /// Aborts a transaction. A failure is ignored, since the server aborts transactions that are never committed.
    async fn abort(&mut self, mut open: OpenTransaction) {
        self.trace.round_trips += u64::from(open.is_sent);
        let _ = self.target.end(&mut open.transaction, false).await;
    }
}

/// Whether the server gave the failure this label. A broken connection is reported rather than retried, as everywhere.
fn is_labelled(failure: &Failure, label: &str) -> bool {
    failure.code().is_some() && failure.has_label(label)
}

fn failed(label: &str, failure: Failure) -> StepError {
    StepError::Failed { label: label.to_owned(), failure }
}
