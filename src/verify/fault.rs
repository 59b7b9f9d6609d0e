//! Faults: what docshape does to the primary in the middle of a strategy's unordered calls, and what clients see of it.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use bson::rawdoc;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::engine::{FatalError, RunError};
use crate::record::FaultKind;
use crate::results::verification::FaultRecord;
use crate::server::embedded::{EmbeddedError, EmbeddedMongod};
use crate::server::{Failure, ReplyKind, Target};

use super::Verifier;
use super::call::{CallResult, FinishedCall};

/// How long a stopped process is stopped.
const STOPPED: Duration = Duration::from_secs(5);

/// Seconds for which a primary of several members is none again after it stepped down.
const STEPPED_DOWN: i32 = 10;

/// How long, in seconds, it waits for another member that has all of its writes.
const CATCH_UP: i32 = 5;

/// A fault, and the server to which it happens.
#[derive(Debug, Clone, Copy)]
pub struct Fault<'v> {
    /// What is done.
    pub kind: FaultKind,
    /// The server's process; `None` for a server of the user's, whose primary can only step down.
    pub server: Option<&'v EmbeddedMongod>,
}

/// The fault of one phase, and what its clients have seen of it so far.
#[derive(Default)]
pub(super) struct PhaseFault {
    /// How many calls have ended when it is due.
    after: u64,
    ended: Cell<u64>,
    /// Sends the moment, once. Dropped when no call runs any more.
    due: RefCell<Option<oneshot::Sender<()>>>,
    has_begun: Cell<bool>,
    /// When the primary was none any more.
    happened: Cell<Option<Instant>>,
    failed: Cell<u64>,
    recovered: Cell<Option<Duration>>,
}

impl PhaseFault {
    /// A fault in the middle of this many calls, and what is received when it is due.
    pub(super) fn new(calls: u64) -> (PhaseFault, oneshot::Receiver<()>) {
        let (due, is_due) = oneshot::channel();
        let due = RefCell::new(Some(due));
        (PhaseFault { after: calls.div_ceil(2), due, ..PhaseFault::default() }, is_due)
    }

    /// Notes a call that was sent at this moment and has ended. Returns whether its failure is one of the fault's.
    pub(super) fn note(&self, sent: Instant, finished: &FinishedCall) -> bool {
        self.ended.set(self.ended.get() + 1);
        if self.ended.get() == self.after {
            self.due.take().map(|due| due.send(()));
        }
        match &finished.result {
            CallResult::Value(_) => {
                if let (Some(happened), None) = (self.happened.get().filter(|at| *at <= sent), self.recovered.get()) {
                    self.recovered.set(Some(happened.elapsed()));
                }
                false
            }
            CallResult::Failed(_) if self.has_begun.get() && finished.is_interrupted => {
                self.failed.set(self.failed.get() + 1);
                true
            }
            CallResult::Failed(_) => false,
            CallResult::Unknown(_) => self.has_begun.get(),
        }
    }

    /// All calls have ended.
    pub(super) fn end(&self) {
        self.due.take();
    }

    /// What clients have seen.
    pub(super) fn record(&self) -> FaultRecord {
        let recovered_ms = self.recovered.get().map(|time| time.as_millis() as u64);
        FaultRecord { after_calls: self.after, failed: self.failed.get(), recovered_ms }
    }
}

impl<T: Target> Verifier<'_, T> {
    /// Waits until the fault is due, causes it, and undoes it.
    pub(super) async fn disturb(
        &self,
        fault: Fault<'_>,
        seen: &PhaseFault,
        is_due: oneshot::Receiver<()>,
    ) -> Result<(), RunError> {
        if is_due.await.is_err() {
            return Ok(());
        }
        seen.has_begun.set(true);
        let lost = |error: EmbeddedError| FatalError::ServerLost(error.to_string());
        match (fault.kind, fault.server) {
            (FaultKind::StepDown, server) => {
                self.step_down(server.is_some()).await.map_err(RunError::Fault)?;
                seen.happened.set(Some(Instant::now()));
            }
            (FaultKind::Kill, Some(server)) => {
                server.kill().map_err(lost)?;
                seen.happened.set(Some(Instant::now()));
                server.start_again().map_err(lost)?;
            }
            (FaultKind::Stop, Some(server)) => {
                server.suspend().await.map_err(lost)?;
                seen.happened.set(Some(Instant::now()));
                sleep(STOPPED).await;
                server.resume().map_err(lost)?;
            }
            // The command line asks for these on servers of docshape's own alone.
            (FaultKind::Kill | FaultKind::Stop, None) => {}
        }
        Ok(())
    }

    /// Makes the primary step down: for a second where it is the only member, else in favour of another one.
    async fn step_down(&self, is_alone: bool) -> Result<(), Failure> {
        let alone = rawdoc! { "replSetStepDown": 1, "secondaryCatchUpPeriodSecs": 0, "force": true };
        let among = rawdoc! { "replSetStepDown": STEPPED_DOWN, "secondaryCatchUpPeriodSecs": CATCH_UP };
        let run = async |command| self.target.run("admin", command, ReplyKind::Single).await;
        let stepped = match run(if is_alone { alone.clone() } else { among }).await {
            Err(failure) if !is_alone && failure.code().is_some() && !failure.is_interruption() => run(alone).await,
            stepped => stepped,
        };
        // A server that steps down may close the connection before it answers.
        stepped.err().filter(|failure| !failure.is_interruption()).map_or(Ok(()), Err)
    }
}
