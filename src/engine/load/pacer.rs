//! Releases the calls of a slice when they fall due, whether or not earlier ones have ended.
//!
//! tokio's timer is a millisecond coarse, more than a point read takes. So the pacer is an operating-system thread, which
//! the kernel wakes as soon as it can. In tests on a paused clock the same steps run as a task on the runtime's timer.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::record::Paced;

use super::arrivals::ArrivalTimes;
use super::queue::{Due, DueQueue};
use super::stop::StopFlag;

/// Calls are released at most this often: waking up costs more than the delay of a call that falls due in between.
const MIN_RELEASE_GAP: Duration = Duration::from_micros(100);

/// How often the pacer checks whether the slice was abandoned.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// From the start of the thread to the start of the slice: the clients must be ready for the first call.
const START_DELAY: Duration = Duration::from_millis(1);

/// The most calls released together.
const BATCH: usize = 4_096;

/// The calls of one slice and their times.
#[derive(Debug)]
pub struct Pacing {
    /// Where released calls go.
    pub queue: Arc<DueQueue>,
    /// When they fall due.
    pub times: ArrivalTimes,
    /// The indexes of the calls.
    pub calls: Range<u64>,
    /// The time after which a waiting call is not sent.
    pub timeout: Duration,
    /// Set when the user wants to stop.
    pub stop: StopFlag,
}

/// A pacer running in its own thread. The slice is abandoned when this value is dropped before its end.
#[derive(Debug)]
pub struct Pacer {
    queue: Arc<DueQueue>,
    paced: oneshot::Receiver<Paced>,
}

impl Pacer {
    /// Starts the thread; the first gap begins a millisecond from now.
    ///
    /// # Errors
    /// When the system cannot create a thread.
    pub fn start(pacing: Pacing) -> io::Result<Pacer> {
        let queue = Arc::clone(&pacing.queue);
        let (sender, paced) = oneshot::channel();
        let mut release = Release::new(pacing, Instant::now() + START_DELAY);
        let body = move || {
            // By default the kernel may end a sleep 50 us late to save power. Where this fails, the lag shows it.
            let _ = nix::sys::prctl::set_timerslack(1);
            while let Some(wake) = release.step(Instant::now()) {
                std::thread::sleep(wake.saturating_duration_since(Instant::now()));
            }
            let _ = sender.send(release.paced.clone());
        };
        std::thread::Builder::new().name("pacer".into()).spawn(body)?;
        Ok(Pacer { queue, paced })
    }

    /// Waits until all calls are released. The clients must have ended before.
    ///
    /// # Errors
    /// When the thread is gone.
    pub async fn finished(mut self) -> Result<Paced, oneshot::error::RecvError> {
        let paced = (&mut self.paced).await?;
        Ok(Paced { never_started: self.queue.left(), ..paced })
    }
}

impl Drop for Pacer {
    fn drop(&mut self) {
        self.queue.abandon();
    }
}

/// Releases the calls with the current runtime's timer, starting now.
pub(super) async fn pace(pacing: Pacing) -> Paced {
    let mut release = Release::new(pacing, Instant::now());
    while let Some(wake) = release.step(Instant::now()) {
        tokio::time::sleep_until(wake).await;
    }
    release.paced.clone()
}

/// The steps of the thread and the task.
struct Release {
    pacing: Pacing,
    start: Instant,
    /// The call that is released next, and its intended start.
    next: Option<(u64, Instant)>,
    batch: Vec<Due>,
    paced: Paced,
}

impl Release {
    fn new(pacing: Pacing, start: Instant) -> Release {
        let paced = Paced::new(pacing.timeout);
        let mut release = Release { pacing, start, next: None, batch: Vec::with_capacity(BATCH), paced };
        release.advance();
        release
    }

    fn advance(&mut self) {
        let offset = self.pacing.times.next().unwrap_or_default();
        self.next = self.pacing.calls.next().map(|index| (index, self.start + offset));
    }

    /// Releases the calls that are due and returns when to wake next; `None` after the last call or when the slice is
    /// abandoned.
    fn step(&mut self, now: Instant) -> Option<Instant> {
        if self.pacing.stop.is_set() || self.pacing.queue.is_abandoned() {
            self.pacing.queue.abandon();
            return None;
        }
        while let Some((index, intended)) = self.next.filter(|(_, intended)| *intended <= now) {
            if self.batch.len() == BATCH {
                break;
            }
            self.paced.lag.record(nanoseconds(now - intended));
            self.paced.seconds = (intended - self.start).as_secs_f64();
            self.batch.push(Due { index, intended, released: now });
            self.advance();
        }
        self.push();
        match self.next {
            Some((_, intended)) => Some(intended.max(now + MIN_RELEASE_GAP).min(now + POLL_INTERVAL)),
            None => {
                let length = Duration::from_secs_f64(self.paced.seconds);
                // A client needs a moment to wake up, however short the slice is.
                self.pacing.queue.close(length.max(POLL_INTERVAL).min(self.pacing.timeout));
                None
            }
        }
    }

    fn push(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        self.paced.offered += self.batch.len() as u64;
        let waited = self.pacing.queue.push(&mut self.batch);
        if self.next.is_none() {
            self.paced.waiting = waited;
        }
    }
}

/// However a pacer ends, no client may wait for calls that are not released.
impl Drop for Release {
    fn drop(&mut self) {
        if self.pacing.queue.is_open() {
            self.pacing.queue.abandon();
        }
    }
}

/// A length of time in nanoseconds.
pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::arrivals::OpenRate;
    use super::*;
    use crate::generate::{Label, Seed};
    use crate::results::Arrivals;

    const MS: Duration = Duration::from_millis(1);

    /// Calls 10 ms apart.
    fn pacing(calls: u64) -> Pacing {
        let timeout = Duration::from_secs(10);
        Pacing {
            queue: Arc::new(DueQueue::new(100.0, timeout)),
            times: times(100.0),
            calls: 7..7 + calls,
            timeout,
            stop: StopFlag::default(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn late_pacer_releases_all_due_calls_together() {
        let (start, pacing) = (Instant::now(), pacing(5));
        let queue = Arc::clone(&pacing.queue);
        let mut release = Release::new(pacing, start);
        assert_eq!(release.step(start), Some(start + 10 * MS));
        assert_eq!(release.step(start + 25 * MS), Some(start + 30 * MS));
        let first = Due { index: 7, intended: start + 10 * MS, released: start + 25 * MS };
        assert_eq!(queue.next().await, Some(first));
        assert_eq!(release.step(start + 50 * MS), None);
        let Paced { offered, seconds, waiting, ref lag, .. } = release.paced.clone();
        assert_eq!((offered, seconds, waiting), (5, 0.05, 1), "one waited when the last fell due");
        assert_eq!((lag.count(), lag.sum()), (5, nanoseconds((15 + 5 + 20 + 10) * MS)));
    }

    #[tokio::test(start_paused = true)]
    async fn close_calls_are_released_together_and_long_gaps_are_polled() {
        let start = Instant::now();
        let mut close = Release::new(Pacing { times: times(1e6), ..pacing(50) }, start);
        assert_eq!(close.step(start), Some(start + MIN_RELEASE_GAP));
        let mut apart = Release::new(Pacing { times: times(0.01), ..pacing(2) }, start);
        assert_eq!(apart.step(start), Some(start + POLL_INTERVAL));
        apart.pacing.stop.set();
        assert_eq!(apart.step(start + POLL_INTERVAL), None);
        assert!(apart.pacing.queue.is_abandoned());
    }

    fn times(rate: f64) -> ArrivalTimes {
        ArrivalTimes::new(
            OpenRate { per_second: rate, arrivals: Arrivals::Uniform },
            Seed::new(1),
            Label::new("test"),
            0,
        )
    }

    #[tokio::test]
    async fn thread_releases_everything_and_ends() {
        let pacing = Pacing { times: times(10_000.0), ..pacing(300) };
        let queue = Arc::clone(&pacing.queue);
        let pacer = Pacer::start(pacing).unwrap();
        let mut taken = Vec::new();
        while let Some(due) = queue.next().await {
            assert!(due.released >= due.intended);
            taken.push(due.index);
        }
        assert_eq!(taken.len() as u64 + pacer.finished().await.unwrap().never_started, 300);
        assert!(taken.is_sorted());
    }

    #[tokio::test]
    async fn waiting_clients_wake_when_the_pacer_is_gone() {
        let pacing = Pacing { times: times(0.01), ..pacing(1) };
        let queue = Arc::clone(&pacing.queue);
        drop(Pacer::start(pacing).unwrap());
        assert_eq!(queue.next().await, None);
        drop(Release::new(self::pacing(1), Instant::now()));
    }
}
