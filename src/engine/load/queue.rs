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
/// The lock is taken for a few instructions, once per batch of the pacer and once per call.
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
    /// Calls for which the queue was full.
    overflow: Vec<Range<u64>>,
    end: End,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum End {
    /// More calls may be added.
    #[default]
    Open,
    /// No more calls are added; those in the queue may be taken until this moment.
    Until(Instant),
    /// No call may be taken.
    Abandoned,
}

impl DueQueue {
    /// Creates an empty queue for as many calls as fall due within the timeout: a call for which it is full would have to
    /// wait longer.
    pub fn new(rate: f64, timeout: Duration) -> DueQueue {
        let bound = (rate * timeout.as_secs_f64()).ceil().max(1.0) as usize;
        let bound = bound.min(Semaphore::MAX_PERMITS);
        DueQueue { state: Mutex::default(), permits: Semaphore::new(0), bound }
    }

    /// Takes the next call as soon as one is released; `None` when the slice is over.
    pub async fn next(&self) -> Option<Due> {
        // Without a permit the queue is closed, and the calls left in it may be taken at once.
        if let Ok(permit) = self.permits.acquire().await {
            permit.forget();
        }
        let mut state = self.lock();
        match state.end {
            End::Abandoned => None,
            End::Until(end) if Instant::now() >= end => None,
            End::Open | End::Until(_) => state.calls.pop_front(),
        }
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

    /// Closes the queue; the calls left in it may be taken for this long.
    pub(super) fn close(&self, work_off: Duration) {
        self.end(End::Until(Instant::now() + work_off));
    }

    /// Drops the calls left, and wakes the clients that wait for one.
    pub fn abandon(&self) {
        self.end(End::Abandoned);
    }

    fn end(&self, end: End) {
        self.lock().end = end;
        self.permits.close();
    }

    /// Whether it was abandoned.
    pub fn is_abandoned(&self) -> bool {
        self.lock().end == End::Abandoned
    }

    /// Whether more calls may be added.
    pub(super) fn is_open(&self) -> bool {
        self.lock().end == End::Open
    }

    /// Returns the calls for which it was full, once.
    pub(super) fn take_overflow(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.lock().overflow)
    }

    /// How many calls are left.
    pub fn left(&self) -> u64 {
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
        queue.close(Duration::from_secs(1));
        assert_eq!(take(&queue, 9).await, [2, 3, 7, 8]);
        assert_eq!((queue.next().await, queue.left()), (None, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn calls_left_after_the_end_can_be_taken_for_a_while() {
        let queue = DueQueue::new(100.0, Duration::from_secs(2));
        push(&queue, 0..3);
        queue.close(Duration::from_secs(1));
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
}
