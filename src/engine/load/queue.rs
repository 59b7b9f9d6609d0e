//! Calls that are due and not yet taken by a client.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

/// A call that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// The index of the call.
    pub index: u64,
    /// The intended start.
    pub intended: Instant,
    /// When the pacer released it.
    pub released: Instant,
}

/// The due calls of one slice in the order of their intended starts, for the clients of all load threads: with a queue per
/// client a slow call would delay those behind it.
///
/// The lock is taken for a few instructions, once per batch of the pacer and twice per call.
#[derive(Debug)]
pub struct DueQueue {
    state: Mutex<QueueState>,
    /// One per call in the queue, while calls may be added.
    permits: Semaphore,
    bound: usize,
}

#[derive(Debug, Default)]
struct QueueState {
    calls: VecDeque<Due>,
    /// Calls that were taken and have not ended.
    in_flight: u32,
    /// Calls for which the queue was full.
    overflow: Vec<Range<u64>>,
    end: End,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum End {
    /// More calls may be added.
    #[default]
    Open,
    /// More calls may be added; the slice ends as soon as none waits and none is in flight.
    WhenIdle,
    /// No call may be taken, so that the slice ends when none is in flight.
    Cut(Cut),
    /// The slice has ended, and the schedule pauses since this moment; what is left is for a later slice.
    Paused(Instant),
    /// No more calls are added; those in the queue may be taken until this moment.
    Until(Instant),
    /// No call may be taken.
    Abandoned,
}

/// The end of a slice without an idle moment.
///
/// The schedule goes on by the mean time for which the calls in flight go on. If it stood still, the arm would get what they
/// still need of the server for nothing, and the rest of a standstill would not be seen; if it ran on until the last has
/// ended, all calls that fall due meanwhile would wait for the longest one, which nobody waits for without slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    at: Instant,
    /// Calls that were in flight and have ended, and the sum of their times since the cut.
    ended: u32,
    time: Duration,
}

impl End {
    /// Whether calls may be added and taken.
    fn is_open(self) -> bool {
        matches!(self, End::Open | End::WhenIdle)
    }
}

impl DueQueue {
    /// Creates an empty queue for as many calls as fall due within the timeout: a call for which it is full would have to
    /// wait longer.
    pub fn new(rate: f64, timeout: Duration) -> DueQueue {
        let bound = (rate * timeout.as_secs_f64()).ceil().max(1.0) as usize;
        let bound = bound.min(Semaphore::MAX_PERMITS);
        DueQueue { state: Mutex::default(), permits: Semaphore::new(0), bound }
    }

    /// Takes the next call as soon as one is released; `None` when the slice is over. [`DueQueue::done`] must follow.
    pub async fn next(&self) -> Option<Due> {
        // Without a permit the queue is closed, and the calls left in it may be taken at once.
        if let Ok(permit) = self.permits.acquire().await {
            permit.forget();
        }
        let mut state = self.lock();
        let due = match state.end {
            End::Abandoned | End::Cut(_) | End::Paused(_) => None,
            End::Until(end) if Instant::now() >= end => None,
            End::Open | End::WhenIdle | End::Until(_) => state.calls.pop_front(),
        };
        state.in_flight += u32::from(due.is_some());
        due
    }

    /// Adds the calls of a batch and empties it; those that do not fit overflow. Returns how many waited before.
    pub(super) fn push(&self, batch: &mut Vec<Due>) -> u64 {
        let mut state = self.lock();
        let before = state.calls.len();
        let fitting = batch.len().min(self.bound.saturating_sub(before));
        for Due { index, .. } in batch.drain(fitting..) {
            match state.overflow.last_mut() {
                Some(range) if range.end == index => range.end += 1,
                Some(_) | None => state.overflow.push(index..index + 1),
            }
        }
        state.calls.extend(batch.drain(..));
        drop(state);
        self.permits.add_permits(fitting);
        before as u64
    }

    /// Notes that a call has ended.
    pub fn done(&self) {
        let mut state = self.lock();
        state.in_flight -= 1;
        let end = match state.end {
            End::Cut(Cut { at, ended, time }) => End::Cut(Cut { at, ended: ended + 1, time: time + at.elapsed() }),
            end @ (End::Open | End::WhenIdle | End::Paused(_) | End::Until(_) | End::Abandoned) => end,
        };
        self.end(state, end);
    }

    /// Ends the slice as soon as no call waits and none is in flight.
    pub(super) fn end_when_idle(&self) {
        self.end_if_open(End::WhenIdle);
    }

    /// Leaves the waiting calls to a later slice.
    pub(super) fn cut(&self) {
        self.end_if_open(End::Cut(Cut { at: Instant::now(), ended: 0, time: Duration::ZERO }));
    }

    /// Closes the queue; the calls left in it may be taken until this moment. Returns whether it was open.
    pub(super) fn close(&self, until: Instant) -> bool {
        self.end_if_open(End::Until(until))
    }

    /// Changes how the slice ends if calls may be added, and returns whether they may.
    fn end_if_open(&self, end: End) -> bool {
        let state = self.lock();
        let is_open = state.end.is_open();
        if is_open {
            self.end(state, end);
        }
        is_open
    }

    /// Drops the calls left, and wakes the clients that wait for one.
    pub fn abandon(&self) {
        let state = self.lock();
        if !matches!(state.end, End::Paused(_)) {
            self.end(state, End::Abandoned);
        }
    }

    /// Changes how the slice ends, and wakes the clients that wait for a call when none will be added for them.
    fn end(&self, mut state: MutexGuard<'_, QueueState>, end: End) {
        let is_idle = state.in_flight == 0;
        state.end = match end {
            End::WhenIdle if is_idle && state.calls.is_empty() => End::Paused(Instant::now()),
            End::Cut(cut) if is_idle => End::Paused(cut.at + cut.time / cut.ended.max(1)),
            End::Open | End::WhenIdle | End::Cut(_) | End::Paused(_) | End::Until(_) | End::Abandoned => end,
        };
        if !state.end.is_open() {
            self.permits.close();
        }
    }

    /// Whether it was abandoned.
    pub fn is_abandoned(&self) -> bool {
        self.lock().end == End::Abandoned
    }

    /// Whether calls may be added and taken.
    pub(super) fn is_open(&self) -> bool {
        self.lock().end.is_open()
    }

    /// The moment at which the schedule pauses, when the slice has ended and others may follow.
    pub(super) fn paused(&self) -> Option<Instant> {
        match self.lock().end {
            End::Paused(at) => Some(at),
            End::Open | End::WhenIdle | End::Cut(_) | End::Until(_) | End::Abandoned => None,
        }
    }

    /// Takes the calls that are left.
    pub(super) fn take_left(&self) -> Vec<Due> {
        self.lock().calls.drain(..).collect()
    }

    /// Returns the calls for which it was full, once.
    pub(super) fn take_overflow(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.lock().overflow)
    }

    /// How many calls are left.
    #[cfg(test)]
    fn left(&self) -> u64 {
        self.lock().calls.len() as u64
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // Nothing under the lock can panic half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(index: u64) -> Due {
        Due { index, intended: Instant::now(), released: Instant::now() }
    }

    fn push(queue: &DueQueue, calls: Range<u64>) -> u64 {
        queue.push(&mut calls.map(due).collect())
    }

    /// The calls that can be taken without waiting.
    async fn take(queue: &DueQueue, most: usize) -> Vec<u64> {
        let mut taken = Vec::new();
        while taken.len() < most {
            let Some(due) = queue.next().await else { break };
            taken.push(due.index);
        }
        taken
    }

    #[tokio::test(start_paused = true)]
    async fn calls_leave_in_order_and_overflow_when_full() {
        let queue = DueQueue::new(2.0, Duration::from_secs(2));
        assert_eq!((push(&queue, 0..3), push(&queue, 3..7)), (0, 3));
        assert_eq!(take(&queue, 2).await, [0, 1]);
        assert_eq!(push(&queue, 7..8), 2);
        push(&queue, 8..11);
        assert_eq!(queue.take_overflow(), [4..7, 9..11]);
        assert!(queue.take_overflow().is_empty());
        queue.close(Instant::now() + Duration::from_secs(1));
        assert_eq!(take(&queue, 9).await, [2, 3, 7, 8]);
        assert_eq!((queue.next().await, queue.left()), (None, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn calls_left_after_the_end_can_be_taken_for_a_while() {
        let queue = DueQueue::new(100.0, Duration::from_secs(2));
        push(&queue, 0..3);
        queue.close(Instant::now() + Duration::from_secs(1));
        assert_eq!(take(&queue, 1).await, [0]);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!((queue.next().await, queue.left()), (None, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_clients_wake_when_the_queue_is_abandoned() {
        let queue = DueQueue::new(100.0, Duration::from_secs(2));
        let abandoning = async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            push(&queue, 0..1);
            queue.abandon();
        };
        let (one, two, ()) = tokio::join!(queue.next(), queue.next(), abandoning);
        assert_eq!((one, two, queue.left()), (None, None, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn slice_ends_when_no_call_waits_or_is_in_flight() {
        let queue = DueQueue::new(100.0, Duration::from_secs(2));
        push(&queue, 0..2);
        assert_eq!(take(&queue, 1).await, [0]);
        queue.end_when_idle();
        queue.done();
        assert_eq!(queue.paused(), None, "one waits");
        assert_eq!(take(&queue, 1).await, [1]);
        push(&queue, 2..3);
        assert_eq!(take(&queue, 1).await, [2]);
        queue.done();
        let ending = async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            queue.done();
        };
        let (next, ()) = tokio::join!(queue.next(), ending);
        assert_eq!((next, queue.paused()), (None, Some(Instant::now())));
    }

    #[tokio::test(start_paused = true)]
    async fn cut_leaves_waiting_calls_to_a_later_slice() {
        let (queue, start) = (DueQueue::new(100.0, Duration::from_secs(2)), Instant::now());
        push(&queue, 0..4);
        assert_eq!(take(&queue, 2).await, [0, 1]);
        queue.cut();
        assert_eq!((queue.next().await, queue.paused()), (None, None), "two are in flight");
        for milliseconds in [10, 20] {
            tokio::time::advance(Duration::from_millis(milliseconds)).await;
            queue.done();
        }
        assert_eq!(queue.paused(), Some(start + Duration::from_millis(20)), "the mean of 10 and 30 ms");
        assert_eq!(queue.take_left().iter().map(|due| due.index).collect::<Vec<_>>(), [2, 3]);
    }
}
