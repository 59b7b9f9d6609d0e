//! Steps that the server does all or none of.

use std::time::Duration;

use crate::generate::{Label, Stream};
use crate::plan::{Frame, Step};
use crate::server::{Failure, FailureKind, Target, Transaction};

use super::interpret::{Flow, Halt, Interpreter, Retry};

/// The label of errors after which the whole transaction may be tried again.
const TRANSIENT: &str = "TransientTransactionError";
/// The label of errors after which whether it was committed is not known, so that it may be committed again.
const UNKNOWN: &str = "UnknownTransactionCommitResult";

/// A transaction that is open.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) transaction: Transaction,
    /// Whether a command was sent; without one there is nothing to commit or to take back.
    pub(super) is_sent: bool,
    /// Whether a command changed data.
    pub(super) changes: bool,
}

impl<T: Target> Interpreter<'_, T> {
    /// Every attempt begins with the variables that the first one began with.
    pub(super) async fn transaction(
        &mut self,
        attempts: u32,
        (body, reply): (&[Step], usize),
        frame: &mut Frame,
    ) -> Result<Flow, Halt> {
        let before = frame.snapshot();
        let mut left = attempts;
        let mut again = 0;
        loop {
            left = left.saturating_sub(1);
            let halt = match self.attempt((body, reply), &mut left, frame).await {
                Err(Halt::Failed { failure, .. }) if left > 0 && is(TRANSIENT, &failure) => None,
                other => Some(other),
            };
            match halt {
                Some(end) => return end,
                None => self.tally.retries.push(Retry::Transaction),
            }
            frame.restore(before.clone());
            again += 1;
            tokio::time::sleep(back_off(frame, again)).await;
        }
    }

    /// One attempt; committing again costs one of those that are left.
    async fn attempt(
        &mut self,
        (body, reply): (&[Step], usize),
        left: &mut u32,
        frame: &mut Frame,
    ) -> Result<Flow, Halt> {
        let transaction = self.target.begin().await.map_err(|failure| failed("transaction", failure))?;
        self.open = Some(Open { transaction, is_sent: false, changes: false });
        let flow = self.steps(body, reply, frame).await;
        let Some(open) = self.open.take() else { return flow };
        match flow {
            Ok(Flow::Next | Flow::Return(_)) => self.commit(open, left).await.and(flow),
            Ok(Flow::Abort(value)) => {
                self.take_back(open).await;
                Ok(Flow::Return(value))
            }
            Ok(Flow::Again) | Err(_) => {
                self.take_back(open).await;
                flow
            }
        }
    }

    async fn commit(&mut self, mut open: Open, left: &mut u32) -> Result<(), Halt> {
        loop {
            self.tally.round_trips += u64::from(open.is_sent);
            match self.target.commit(&mut open.transaction).await {
                Ok(()) => break,
                Err(failure) if *left > 0 && is(UNKNOWN, &failure) => {
                    *left -= 1;
                    self.tally.retries.push(Retry::Commit);
                }
                Err(failure) => return Err(failed("commit", failure)),
            }
        }
        if open.changes {
            self.wrote();
        }
        Ok(())
    }

    /// That this fails changes nothing: the server takes back by itself what nobody commits.
    async fn take_back(&mut self, mut open: Open) {
        self.tally.round_trips += u64::from(open.is_sent);
        let _ = self.target.abort(&mut open.transaction).await;
    }
}

/// How long to wait before attempt `again` + 1: a random part of 5 ms, of half as much again for every further attempt, and
/// of 500 ms at most. These are the numbers of the drivers' specification (transactions, convenient API, back-off), so that a
/// strategy is not measured with a retry loop that no driver has.
fn back_off(frame: &Frame, again: u32) -> Duration {
    const FIRST: f64 = 0.005;
    const GROWTH: f64 = 1.5;
    const MOST: f64 = 0.5;
    const LABEL: Label = Label::new("transaction back-off");
    let part = Stream::new(frame.seed.derive(LABEL, u64::from(again)), LABEL, frame.ordinal).unit();
    Duration::from_secs_f64(part * (FIRST * GROWTH.powi(again.saturating_sub(1).min(64) as i32)).min(MOST))
}

/// Whether the failure has the label. A connection that broke is told rather than tried again, as everywhere here.
fn is(label: &str, failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Server(_)) && failure.has_label(label)
}

fn failed(label: &str, failure: Failure) -> Halt {
    Halt::Failed { label: label.to_owned(), failure }
}
