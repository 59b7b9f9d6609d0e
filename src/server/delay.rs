//! A network between client and server, as a delay of every reply.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use bson::RawDocumentBuf;
use tokio::sync::oneshot;

use super::primary::PrimaryChange;
use super::{Failure, Reply, ReplyKind, Target, Transaction};

/// A target whose replies arrive later. A delay of zero costs nothing.
///
/// The client waits before it goes on, which for one who waits for every reply is the same as a network that is slow in both
/// directions. It has no jitter, long messages take no longer than short ones, and a reply of several batches is delayed once.
#[derive(Debug)]
pub struct DelayedTarget<'t, T> {
    /// The target itself.
    pub target: &'t T,
    /// The round-trip time to add.
    pub delay: Duration,
}

impl<T: Target> DelayedTarget<'_, T> {
    async fn delayed<R>(&self, reply: impl Future<Output = R>) -> R {
        let reply = reply.await;
        if self.delay > Duration::ZERO {
            sleep(self.delay).await;
        }
        reply
    }
}

impl<T: Target> Target for DelayedTarget<'_, T> {
    async fn run(&self, database: &str, command: RawDocumentBuf, kind: ReplyKind) -> Result<Reply, Failure> {
        self.delayed(self.target.run(database, command, kind)).await
    }

    fn patience(&self) -> Duration {
        self.target.patience()
    }

    fn take_primary_changes(&self) -> Vec<PrimaryChange> {
        self.target.take_primary_changes()
    }

    async fn begin(&self, w: &str) -> Result<Transaction, Failure> {
        // Nothing is sent: the first command of a transaction starts it.
        self.target.begin(w).await
    }

    async fn run_in(
        &self,
        transaction: &mut Transaction,
        database: &str,
        command: RawDocumentBuf,
        kind: ReplyKind,
    ) -> Result<Reply, Failure> {
        self.delayed(self.target.run_in(transaction, database, command, kind)).await
    }

    async fn commit(&self, transaction: &mut Transaction) -> Result<(), Failure> {
        self.delayed(self.target.commit(transaction)).await
    }

    async fn abort(&self, transaction: &mut Transaction) -> Result<(), Failure> {
        self.delayed(self.target.abort(transaction)).await
    }
}

/// A moment at which to wake a task.
type Alarm = (Instant, oneshot::Sender<()>);

/// The thread that wakes tasks: tokio's timer has a resolution of a millisecond.
static ALARMS: LazyLock<Option<Sender<Alarm>>> = LazyLock::new(|| {
    let (sender, alarms) = channel();
    std::thread::Builder::new().name("network delay".into()).spawn(move || ring(&alarms)).ok().map(|_| sender)
});

/// Waits with a resolution of microseconds; without a thread for it, with that of tokio's timer.
async fn sleep(length: Duration) {
    let (sender, rung) = oneshot::channel();
    let alarm = (Instant::now() + length, sender);
    match ALARMS.as_ref().map(|alarms| alarms.send(alarm)) {
        Some(Ok(())) => drop(rung.await),
        Some(Err(_)) | None => tokio::time::sleep(length).await,
    }
}

/// An alarm in a heap, which compares moments alone.
struct Pending(Alarm);

impl PartialEq for Pending {
    fn eq(&self, other: &Self) -> bool {
        self.0.0 == other.0.0
    }
}

impl Eq for Pending {}

impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Pending {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.0.cmp(&other.0.0)
    }
}

/// Wakes tasks at their moments until the process ends.
fn ring(alarms: &Receiver<Alarm>) {
    // By default the kernel may end a wait 50 us late to save power.
    let _ = nix::sys::prctl::set_timerslack(1);
    let mut pending: BinaryHeap<Reverse<Pending>> = BinaryHeap::new();
    loop {
        let next = pending.peek().map(|Reverse(Pending((moment, _)))| moment.saturating_duration_since(Instant::now()));
        let arrived = match next {
            None => alarms.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(Duration::ZERO) => Err(RecvTimeoutError::Timeout),
            Some(wait) => alarms.recv_timeout(wait),
        };
        match arrived {
            Ok(alarm) => pending.push(Reverse(Pending(alarm))),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(Reverse(Pending((_, sender)))) = pending.pop() {
                    // A call that has timed out no longer waits.
                    let _ = sender.send(());
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_overlap_and_end_in_order() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let started = Instant::now();
        let lengths = [3, 1, 2].map(Duration::from_millis);
        let ends = runtime.block_on(futures_util::future::join_all(lengths.map(async |length| {
            sleep(length).await;
            started.elapsed()
        })));
        assert!(ends.iter().zip(lengths).all(|(end, length)| *end >= length), "{ends:?}");
        assert!(ends[1] <= ends[2] && ends[2] <= ends[0], "{ends:?}");
    }
}
