//! Calls that are due and that no worker has taken yet.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

/// A call whose time has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// Which call.
    pub index: u64,
    /// When it should begin.
    pub intended: Instant,
    /// When the pacer noticed.
    pub released: Instant,
}

/// The due calls of one slice, in the order of their times, for the workers of all load threads: with a queue per worker a
/// slow call would delay those behind it.
///
/// The lock is held for a few instructions, once per batch of the pacer and once per call.
#[derive(Debug)]
pub struct DueQueue {
    state: Mutex<State>,
    /// One for each call in the queue, as long as calls may come.
    permits: Semaphore,
    bound: usize,
}

#[derive(Debug, Default)]
struct State {
    calls: VecDeque<Due>,
    /// Calls that found the queue full.
    refused: Vec<Range<u64>>,
    end: End,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum End {
    /// More calls may come.
    #[default]
    Open,
    /// No more calls come; those that are here may be taken until then.
    Until(Instant),
    /// No call may be taken.
    Abandoned,
}

impl DueQueue {
    /// An empty queue for at most as many calls as fall due within the timeout: whoever finds it full would have to wait
    /// longer than that.
    pub fn new(rate: f64, timeout: Duration) -> DueQueue {
        let bound = (rate * timeout.as_secs_f64()).ceil().max(1.0) as usize;
        let bound = bound.min(Semaphore::MAX_PERMITS);
        DueQueue { state: Mutex::default(), permits: Semaphore::new(0), bound }
    }

    /// Takes the next call as soon as there is one; `None` when the slice is over.
    pub async fn next(&self) -> Option<Due> {
        // Without a permit the queue is closed, and what is left is there for whoever comes.
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

    /// Adds calls, and empties the batch. Those that do not fit are refused. Gives how many waited before.
    pub(super) fn push(&self, batch: &mut Vec<Due>) -> u64 {
        let mut state = self.lock();
        let before = state.calls.len();
        let fitting = batch.len().min(self.bound.saturating_sub(before));
        for call in batch.drain(fitting..) {
            state.refuse(call.index);
        }
        state.calls.extend(batch.drain(..));
        drop(state);
        self.permits.add_permits(fitting);
        before as u64
    }

    /// Says that no more calls come; what is left may be taken for so long.
    pub(super) fn close(&self, work_off: Duration) {
        self.end(End::Until(Instant::now() + work_off));
    }

    /// Gives up what is left, and whoever waits for a call.
    pub fn abandon(&self) {
        self.end(End::Abandoned);
    }

    fn end(&self, end: End) {
        self.lock().end = end;
        self.permits.close();
    }

    /// Whether it was given up.
    pub fn is_abandoned(&self) -> bool {
        self.lock().end == End::Abandoned
    }

    /// Whether more calls may come.
    pub(super) fn is_open(&self) -> bool {
        self.lock().end == End::Open
    }

    /// The calls that found it full, taken by whoever asks first.
    pub(super) fn take_refused(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.lock().refused)
    }

    /// How many calls nobody took.
    pub fn left(&self) -> u64 {
        self.lock().calls.len() as u64
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that is done under the lock can panic half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn refuse(&mut self, index: u64) {
        match self.refused.last_mut() {
            Some(range) if range.end == index => range.end += 1,
            _ => self.refused.push(index..index + 1),
        }
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
    async fn calls_come_out_in_order_and_what_does_not_fit_is_refused() {
        let queue = DueQueue::new(2.0, Duration::from_secs(2));
        assert_eq!((push(&queue, 0..3), push(&queue, 3..7)), (0, 3));
        assert_eq!(take(&queue, 2).await, [0, 1]);
        assert_eq!(push(&queue, 7..8), 2);
        push(&queue, 8..11);
        assert_eq!(queue.take_refused(), [4..7, 9..11]);
        assert!(queue.take_refused().is_empty());
        queue.close(Duration::from_secs(1));
        assert_eq!(take(&queue, 9).await, [2, 3, 7, 8]);
        assert_eq!((queue.next().await, queue.left()), (None, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn after_the_end_what_is_left_can_be_taken_only_for_a_while() {
        let queue = DueQueue::new(100.0, Duration::from_secs(2));
        push(&queue, 0..3);
        queue.close(Duration::from_secs(1));
        assert_eq!(take(&queue, 1).await, [0]);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!((queue.next().await, queue.left()), (None, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_a_call_is_woken_when_it_is_given_up() {
        let queue = DueQueue::new(100.0, Duration::from_secs(2));
        let giving_up = async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            push(&queue, 0..1);
            queue.abandon();
        };
        let (one, two, ()) = tokio::join!(queue.next(), queue.next(), giving_up);
        assert_eq!((one, two, queue.left()), (None, None, 1));
    }
}
