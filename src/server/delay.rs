//! A network between client and server, as a delay of every reply.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
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
    fn inner(&self) -> &impl Target {
        self.target
    }

    // Nothing is sent at the begin of a transaction: its first command starts it.
    async fn pass(&self, sending: Sending<'_>) -> Result<Reply, Failure> {
        self.delayed(sending.send(self.target)).await
    }

    async fn pass_end(&self, transaction: &mut Transaction, commits: bool) -> Result<(), Failure> {
        self.delayed(self.target.end(transaction, commits)).await
    }
}

/// Tasks to wake, by the moment and the number of their alarm.
type Alarms = BTreeMap<(Instant, u64), oneshot::Sender<()>>;

/// The thread that wakes tasks: tokio's timer has a resolution of a millisecond.
struct AlarmClock {
    pending: Mutex<Alarms>,
    /// How many alarms were set.
    count: AtomicU64,
    thread: OnceLock<Thread>,
}

static CLOCK: AlarmClock =
    AlarmClock { pending: Mutex::new(BTreeMap::new()), count: AtomicU64::new(0), thread: OnceLock::new() };

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

    fn pending(&self) -> MutexGuard<'_, Alarms> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets an alarm. The thread is woken only if it would sleep longer than that: with one delay for all calls, it is when no
    /// other call waits.
    fn set(&self, moment: Instant, sender: oneshot::Sender<()>) {
        let mut pending = self.pending();
        let is_next = pending.first_key_value().is_none_or(|((next, _), _)| moment < *next);
        pending.insert((moment, self.count.fetch_add(1, Ordering::Relaxed)), sender);
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
            let next = pending.first_key_value().map(|((moment, _), _)| moment.saturating_duration_since(now));
            let due = if next == Some(Duration::ZERO) { pending.pop_first() } else { None };
            drop(pending);
            match (due, next) {
                // A call that has timed out no longer waits.
                (Some((_, sender)), _) => drop(sender.send(())),
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
    CLOCK.set(Instant::now() + length, sender);
    drop(rung.await);
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
