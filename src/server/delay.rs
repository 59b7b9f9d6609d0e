//! A network between client and server, as a delay of every reply.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::wrapper::{Sending, TargetWrapper};
use super::{Failure, Reply, Target, Transaction};

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

impl<T: Target> TargetWrapper for DelayedTarget<'_, T> {
    type Inner = T;

    fn inner(&self) -> &T {
        self.target
    }

    // Nothing is sent at the begin of a transaction: its first command starts it.
    async fn pass(&self, sending: Sending<'_>) -> Result<Reply, Failure> {
        self.delayed(sending.send(self.target)).await
    }

    async fn pass_commit(&self, transaction: &mut Transaction) -> Result<(), Failure> {
        self.delayed(self.target.commit(transaction)).await
    }

    async fn pass_abort(&self, transaction: &mut Transaction) -> Result<(), Failure> {
        self.delayed(self.target.abort(transaction)).await
    }
}

/// A moment at which to wake a task.
type Alarm = (Instant, oneshot::Sender<()>);

/// The thread that wakes tasks: tokio's timer has a resolution of a millisecond.
struct AlarmClock {
    pending: Mutex<BinaryHeap<Reverse<Pending>>>,
    thread: OnceLock<Thread>,
}

static CLOCK: AlarmClock = AlarmClock { pending: Mutex::new(BinaryHeap::new()), thread: OnceLock::new() };

impl AlarmClock {
    /// The thread; `None` if the system has none left.
    fn thread(&self) -> Option<&Thread> {
        if self.thread.get().is_none() {
            let ring = || CLOCK.ring();
            let started = std::thread::Builder::new().name("network delay".into()).spawn(ring).ok()?;
            // Of two that were started at once, both ring.
            let _ = self.thread.set(started.thread().clone());
        }
        self.thread.get()
    }

    fn pending(&self) -> MutexGuard<'_, BinaryHeap<Reverse<Pending>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets an alarm. The thread is woken only if it would sleep longer than that: with one delay for all calls, it is when no
    /// other call waits.
    fn set(&self, alarm: Alarm) {
        let mut pending = self.pending();
        let is_next = pending.peek().is_none_or(|Reverse(next)| alarm.0 < next.0.0);
        pending.push(Reverse(Pending(alarm)));
        drop(pending);
        if is_next && let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// Wakes tasks at their moments until the process ends.
    fn ring(&self) {
        // By default the kernel may end a wait 50 us late to save power.
        let _ = nix::sys::prctl::set_timerslack(1);
        loop {
            let mut pending = self.pending();
            let now = Instant::now();
            let next = pending.peek().map(|Reverse(Pending((moment, _)))| moment.saturating_duration_since(now));
            let due = if next == Some(Duration::ZERO) { pending.pop() } else { None };
            drop(pending);
            match (due, next) {
                // A call that has timed out no longer waits.
                (Some(Reverse(Pending((_, sender)))), _) => drop(sender.send(())),
                (None, Some(wait)) => std::thread::park_timeout(wait),
                (None, None) => std::thread::park(),
            }
        }
    }
}

/// Waits with a resolution of microseconds; without a thread for it, with that of tokio's timer.
async fn sleep(length: Duration) {
    if CLOCK.thread().is_none() {
        return tokio::time::sleep(length).await;
    }
    let (sender, rung) = oneshot::channel();
    CLOCK.set((Instant::now() + length, sender));
    drop(rung.await);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_overlap_and_end_in_order() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let started = Instant::now();
        let lengths = [60, 20, 40].map(Duration::from_millis);
        let ends = runtime.block_on(futures_util::future::join_all(lengths.map(async |length| {
            sleep(length).await;
            started.elapsed()
        })));
        assert!(ends.iter().zip(lengths).all(|(end, length)| *end >= length), "{ends:?}");
        assert!(ends[1] <= ends[2] && ends[2] <= ends[0], "{ends:?}");
    }
}
