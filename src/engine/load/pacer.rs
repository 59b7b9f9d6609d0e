//! Releases the calls of a window when they fall due, whether or not earlier ones have ended.
//!
//! The schedule of a window goes on over all its slices, and pauses only between them: a slice ends with the first
//! moment after its last call at which no call waits and none is in flight, so that the pause changes nothing. Where that
//! takes too long it is cut, and the calls that wait then stay due.
//!
//! tokio's timer is a millisecond coarse, more than a point read takes. So the pacer is an operating-system thread, which
//! the kernel wakes as soon as it can. In tests on a paused clock the same steps run as a task on the runtime's timer.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::thread::Thread;
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

/// For how long a slice waits at least for an idle moment; at most it does for its own length, if that is more.
const PATIENCE: Duration = Duration::from_secs(1);

/// The calls of one window, their times, and how far they have been released.
#[derive(Debug)]
pub struct Pacing {
    queue: Arc<DueQueue>,
    times: ArrivalTimes,
    /// The calls after the next one.
    calls: Range<u64>,
    /// The call that is released next, and its intended time since the start of the window.
    next: Option<(u64, Duration)>,
    /// The intended time of the last released call.
    last: Duration,
    /// The index of the first call of the next slice.
    end: u64,
    /// Released calls that an earlier slice has left.
    left: Vec<Due>,
    /// The start of the window as if there had been no pauses, and when the present pause started.
    clock: Option<(Instant, Instant)>,
    timeout: Duration,
    stop: StopFlag,
}

impl Pacing {
    /// One slice of all these calls. A call that waits for longer than the timeout is not sent; `stop` is set when the user
    /// wants to stop.
    pub fn new(times: ArrivalTimes, calls: Range<u64>, timeout: Duration, stop: StopFlag) -> Pacing {
        let queue = Arc::new(DueQueue::new(times.rate, timeout));
        let (last, end) = (Duration::ZERO, calls.end);
        let mut pacing =
            Pacing { queue, times, calls, next: None, last, end, left: Vec::new(), clock: None, timeout, stop };
        pacing.advance();
        pacing
    }

    /// Where the calls of the present slice are released to.
    pub fn queue(&self) -> Arc<DueQueue> {
        Arc::clone(&self.queue)
    }

    /// The index of the next call that is not yet released, or the end of the window.
    pub(crate) fn next(&self) -> u64 {
        self.next.map_or(self.calls.end, |(index, _)| index)
    }

    /// Whether the calls before this one, but not all of the window, are released.
    pub(crate) fn is_ahead_of(&self, end: u64) -> bool {
        self.next.is_some_and(|(index, _)| index >= end)
    }

    /// Whether the window has ended, so that no slice follows.
    pub(crate) fn is_over(&self) -> bool {
        self.next.is_none() && self.queue.paused().is_none()
    }

    /// Begins a slice that ends before the call of this index, after the one before it.
    pub(crate) fn begin(&mut self, end: u64) {
        self.left.extend(self.queue.take_left());
        self.queue = Arc::new(DueQueue::new(self.times.rate, self.timeout));
        self.end = end;
    }

    /// Lets the time of the window go on, and releases what the last slice has left.
    fn resume(&mut self, now: Instant) -> Instant {
        let (start, paused) = self.clock.unwrap_or((now, now));
        let pause = now - paused;
        for due in &mut self.left {
            due.intended += pause;
            due.released += pause;
        }
        self.queue.push(&mut self.left);
        start + pause
    }

    fn advance(&mut self) {
        let time = self.times.next().unwrap_or_default();
        self.next = self.calls.next().map(|index| (index, time));
    }
}

/// What a pacer gives back at the end of a slice.
#[derive(Debug)]
pub struct PacedSlice {
    /// What it measured.
    pub paced: Paced,
    /// The window, for its next slice.
    pub pacing: Pacing,
}

/// A pacer running in its own thread. The slice is abandoned when this value is dropped before its end.
#[derive(Debug)]
pub struct Pacer {
    queue: Arc<DueQueue>,
    thread: Thread,
    paced: oneshot::Receiver<PacedSlice>,
}

impl Pacer {
    /// Starts the thread; the time of the window goes on a millisecond from now.
    ///
    /// # Errors
    /// When the system cannot create a thread.
    pub fn start(pacing: Pacing) -> io::Result<Pacer> {
        let queue = pacing.queue();
        let (sender, paced) = oneshot::channel();
        let start = Instant::now() + START_DELAY;
        let body = move || {
            // By default the kernel may end a sleep 50 us late to save power. Where this fails, the lag shows it.
            let _ = nix::sys::prctl::set_timerslack(1);
            std::thread::sleep(start.saturating_duration_since(Instant::now()));
            let mut release = Release::new(pacing, start);
            while let Some(wake) = release.step(Instant::now()) {
                // The end of the slice wakes it, too.
                std::thread::park_timeout(wake.saturating_duration_since(Instant::now()));
            }
            let _ = sender.send(release.finish());
        };
        let thread = std::thread::Builder::new().name("pacer".into()).spawn(body)?.thread().clone();
        Ok(Pacer { queue, thread, paced })
    }

    /// Waits until the slice is over. The clients must have ended before.
    ///
    /// # Errors
    /// When the thread is gone.
    pub async fn finished(mut self) -> Result<PacedSlice, oneshot::error::RecvError> {
        self.thread.unpark();
        (&mut self.paced).await
    }
}

impl Drop for Pacer {
    fn drop(&mut self) {
        self.queue.abandon();
    }
}

/// However the release of calls ends, no client may wait for those that are not released.
struct OpenQueue(Arc<DueQueue>);

impl Drop for OpenQueue {
    fn drop(&mut self) {
        if self.0.is_open() {
            self.0.abandon();
        }
    }
}

/// Releases the calls with the current runtime's timer, starting now.
pub(super) async fn pace(pacing: Pacing) -> PacedSlice {
    let mut release = Release::new(pacing, Instant::now());
    while let Some(wake) = release.step(Instant::now()) {
        tokio::time::sleep_until(wake).await;
    }
    release.finish()
}

/// The steps of the thread and the task in one slice.
struct Release {
    pacing: Pacing,
    queue: OpenQueue,
    /// The start of the window as if there had been no pauses.
    start: Instant,
    /// The length of the window up to this slice.
    before: Duration,
    /// When the slice is cut, once its calls are released.
    cut: Option<Instant>,
    batch: Vec<Due>,
    paced: Paced,
}

impl Release {
    fn new(mut pacing: Pacing, now: Instant) -> Release {
        let start = pacing.resume(now);
        let (queue, paced) = (OpenQueue(pacing.queue()), Paced::new(pacing.timeout));
        Release { before: pacing.last, pacing, queue, start, cut: None, batch: Vec::with_capacity(BATCH), paced }
    }

    /// Releases the calls that are due and returns when to wake next; `None` after the last call, and when the slice is over
    /// or abandoned.
    fn step(&mut self, now: Instant) -> Option<Instant> {
        let queue = &self.queue.0;
        if self.pacing.stop.is_set() || queue.is_abandoned() {
            queue.abandon();
            return None;
        }
        if let Some(paused) = queue.paused() {
            // While the slice ended nothing was released, which is no lag of the pacer.
            while self.release(paused, |intended| intended) {}
            // Some calls may have been released between the end of the slice and this step.
            let paused = paused.max(self.start + self.pacing.last);
            self.pacing.clock = Some((self.start, paused));
            return None;
        }
        if !queue.is_open() {
            return Some(now + POLL_INTERVAL);
        }
        self.release(now, |_| now);
        let wake = match self.pacing.next {
            Some((index, time)) => {
                if index >= self.pacing.end {
                    self.end_slice(now);
                }
                (self.start + time).max(now + MIN_RELEASE_GAP)
            }
            None => {
                // A client needs a moment to wake up, however short the window is.
                let work_off = self.pacing.last.max(POLL_INTERVAL).min(self.pacing.timeout);
                if self.queue.0.close(self.start + self.pacing.last + work_off) {
                    return None;
                }
                now + POLL_INTERVAL
            }
        };
        let cut = self.cut.filter(|cut| *cut > now).unwrap_or(wake);
        Some(wake.min(cut).min(now + POLL_INTERVAL))
    }

    /// Ends the slice at the next idle moment, or at last without one.
    fn end_slice(&mut self, now: Instant) {
        match self.cut {
            None => {
                self.cut = Some(now + (self.pacing.last - self.before).max(PATIENCE));
                self.queue.0.end_when_idle();
            }
            Some(cut) if now >= cut => self.queue.0.cut(),
            Some(_) => {}
        }
    }

    /// Releases a batch of the calls that are due, and returns whether there was one; `released` has the moments.
    fn release(&mut self, now: Instant, released: impl Fn(Instant) -> Instant) -> bool {
        while let Some((index, time)) = self.pacing.next.filter(|(_, time)| self.start + *time <= now) {
            if self.batch.len() == BATCH {
                break;
            }
            let intended = self.start + time;
            let released = released(intended);
            self.paced.lag.record(nanoseconds(released - intended));
            self.pacing.last = time;
            self.batch.push(Due { index, intended, released });
            self.pacing.advance();
        }
        if self.batch.is_empty() {
            return false;
        }
        self.paced.offered += self.batch.len() as u64;
        let waited = self.queue.0.push(&mut self.batch);
        if self.pacing.next.is_none() {
            self.paced.waiting = waited;
        }
        true
    }

    fn finish(mut self) -> PacedSlice {
        self.paced.seconds = (self.pacing.last - self.before).as_secs_f64();
        PacedSlice { paced: self.paced, pacing: self.pacing }
    }
}

/// A length of time in nanoseconds.
pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Label, Seed};
    use crate::results::Arrivals;

    const MS: Duration = Duration::from_millis(1);

    fn pacing(rate: f64, calls: u64) -> Pacing {
        let times = ArrivalTimes::new(rate, Arrivals::Uniform, Seed::new(1), Label::new("test"));
        Pacing::new(times, 7..7 + calls, Duration::from_secs(10), StopFlag::default())
    }

    #[tokio::test(start_paused = true)]
    async fn late_pacer_releases_all_due_calls_together() {
        let (start, pacing) = (Instant::now(), pacing(100.0, 5));
        let queue = pacing.queue();
        let mut release = Release::new(pacing, start);
        assert_eq!(release.step(start), Some(start + 10 * MS));
        assert_eq!(release.step(start + 25 * MS), Some(start + 30 * MS));
        let first = Due { index: 7, intended: start + 10 * MS, released: start + 25 * MS };
        assert_eq!(queue.next().await, Some(first));
        assert_eq!(release.step(start + 50 * MS), None);
        let Paced { offered, seconds, waiting, lag } = release.finish().paced;
        assert_eq!((offered, seconds, waiting), (5, 0.05, 1), "one waited when the last fell due");
        assert_eq!((lag.count(), lag.sum()), (5, nanoseconds((15 + 5 + 20 + 10) * MS)));
    }

    #[tokio::test(start_paused = true)]
    async fn close_calls_are_released_together_and_long_gaps_are_polled() {
        let start = Instant::now();
        let mut close = Release::new(pacing(1e6, 50), start);
        assert_eq!(close.step(start), Some(start + MIN_RELEASE_GAP));
        let mut apart = Release::new(pacing(0.01, 2), start);
        assert_eq!(apart.step(start), Some(start + POLL_INTERVAL));
        apart.pacing.stop.set();
        assert_eq!(apart.step(start + POLL_INTERVAL), None);
        assert!(apart.pacing.queue.is_abandoned());
    }

    #[tokio::test(start_paused = true)]
    async fn time_stands_still_between_slices() {
        let start = Instant::now();
        let mut pacing = pacing(100.0, 5);
        pacing.begin(9);
        let (queue, mut release) = (pacing.queue(), Release::new(pacing, start));
        release.step(start + 20 * MS);
        for index in [7, 8] {
            assert_eq!(queue.next().await.map(|due| due.index), Some(index));
            tokio::time::advance(12 * MS).await;
            queue.done();
        }
        assert_eq!(queue.next().await, None, "both have ended after 24 ms");
        assert_eq!(release.step(start + 31 * MS), None);
        let PacedSlice { paced, mut pacing } = release.finish();
        assert_eq!((paced.offered, paced.seconds, pacing.next(), pacing.is_over()), (2, 0.02, 9, false));
        pacing.begin(12);
        let mut release = Release::new(pacing, start + 1_000 * MS);
        assert_eq!(release.step(start + 1_000 * MS), Some(start + 1_006 * MS), "30 ms are due, 24 have passed");
        assert_eq!(release.step(start + 1_026 * MS), None);
        let PacedSlice { paced, pacing } = release.finish();
        assert!((paced.seconds - 0.03).abs() < 1e-9 && paced.offered == 3 && pacing.is_over(), "{paced:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_a_cut_slice_leaves_stay_due() {
        let start = Instant::now();
        let mut pacing = pacing(100.0, 500);
        pacing.begin(9);
        let (queue, mut release) = (pacing.queue(), Release::new(pacing, start));
        release.step(start + 20 * MS);
        assert_eq!(queue.next().await.map(|due| due.index), Some(7));
        assert_eq!(
            release.step(start + 1_019 * MS),
            Some(start + 1_020 * MS),
            "the patience ends before the next call"
        );
        tokio::time::advance(1_020 * MS).await;
        release.step(start + 1_020 * MS);
        assert_eq!(queue.next().await, None);
        tokio::time::advance(80 * MS).await;
        queue.done();
        assert_eq!(release.step(start + 1_105 * MS), None, "the call in flight has ended");
        let mut pacing = release.finish().pacing;
        assert_eq!(pacing.next(), 117, "the schedule went on until then");
        pacing.begin(507);
        let (queue, _release) = (pacing.queue(), Release::new(pacing, start + 2_000 * MS));
        let left = queue.next().await.unwrap();
        assert_eq!((left.index, left.intended), (8, start + (2_000 - 1_100 + 20) * MS));
    }

    #[tokio::test]
    async fn thread_releases_everything_and_ends() {
        let mut pacing = pacing(10_000.0, 300);
        let mut taken = Vec::new();
        for end in [107, 307] {
            pacing.begin(end);
            let (queue, pacer) = (pacing.queue(), Pacer::start(pacing).unwrap());
            while let Some(due) = queue.next().await {
                assert!(due.released >= due.intended);
                taken.push(due.index);
                queue.done();
            }
            pacing = pacer.finished().await.unwrap().pacing;
        }
        assert!(pacing.is_over());
        assert_eq!(taken, (7..307).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn waiting_clients_wake_when_the_pacer_is_gone() {
        let pacing = pacing(0.01, 1);
        let queue = pacing.queue();
        drop(Pacer::start(pacing).unwrap());
        assert_eq!(queue.next().await, None);
        drop(Release::new(self::pacing(100.0, 1), Instant::now()));
    }
}
