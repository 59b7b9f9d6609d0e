//! How a window is cut into slices, and in which order the arms take them.

use std::time::Duration;

use crate::generate::{Label, Seed, Stream};

/// A slice has at least so many calls per worker.
const CALLS_PER_WORKER: u64 = 8;

/// How often followed documents are looked at in a window.
const SAMPLES: u64 = 16;

/// A window may take so many times its planned length before the arm's remaining slices are dropped.
const PATIENCE: f64 = 3.0;

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Window {
    /// So many calls, and before them so many that are not recorded.
    Calls {
        /// Recorded.
        calls: u64,
        /// Not recorded.
        warmup: u64,
        /// Seconds that the slowest arm is expected to take, when a pilot has told.
        seconds: Option<f64>,
    },
    /// So many seconds per arm; the arms then make different numbers of calls.
    Timed {
        /// Recorded.
        seconds: f64,
        /// Not recorded.
        warmup: f64,
    },
}

impl Window {
    /// The slices of this window, at most `wanted`: as many as leave each worker some calls in a slice. At a slice's end
    /// the calls in flight are awaited, which must stay a small part of it.
    pub(super) fn slices(self, wanted: u64, workers: usize) -> u64 {
        match self {
            Window::Calls { calls, .. } => wanted.min(calls / (CALLS_PER_WORKER * workers as u64)).max(1),
            Window::Timed { .. } => wanted,
        }
    }

    /// The end of a slice in calls, counted from the first call of the warm-up, or its length in time.
    pub(super) fn bounds(self, slice: u64, slices: u64) -> (u64, Option<Duration>) {
        match self {
            Window::Calls { calls, warmup, .. } => {
                let done = u128::from(calls) * u128::from(slice + 1) / u128::from(slices);
                (warmup + done as u64, None)
            }
            Window::Timed { seconds, .. } => (u64::MAX, Some(Duration::from_secs_f64(seconds / slices as f64))),
        }
    }

    /// The end of a piece of the warm-up in calls, or its length in time.
    pub(super) fn warm_up(self, piece: u64, pieces: u64) -> (u64, Option<Duration>) {
        match self {
            Window::Calls { warmup, .. } => {
                ((u128::from(warmup) * u128::from(piece + 1) / u128::from(pieces)) as u64, None)
            }
            Window::Timed { warmup, .. } => (u64::MAX, Some(Duration::from_secs_f64(warmup / pieces as f64))),
        }
    }

    /// Whether an arm that has taken so many seconds has used up the patience.
    pub(super) fn is_over(self, seconds: f64) -> bool {
        matches!(self, Window::Calls { seconds: Some(planned), .. } if seconds > planned * PATIENCE)
    }
}

/// Followed documents are looked at after each of at most [`SAMPLES`] slices, the last one included.
pub(super) fn is_sampled(slice: u64, slices: u64) -> bool {
    (slice + 1) * SAMPLES / slices > slice * SAMPLES / slices
}

/// The arms in an order drawn from the seed (Fisher and Yates).
pub(super) fn shuffled(arms: usize, seed: Seed, slice: u64) -> Vec<usize> {
    const LABEL: Label = Label::new("order");
    let mut stream = Stream::new(seed, LABEL, slice);
    let mut order: Vec<usize> = (0..arms).collect();
    for last in (1..arms).rev() {
        order.swap(last, stream.below(last as u64 + 1) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window::Calls { calls: 1_000, warmup: 50, seconds: Some(3.0) };

    #[test]
    fn slices_cover_the_window_and_keep_their_workers_busy() {
        let ends: Vec<u64> = (0..7).map(|slice| WINDOW.bounds(slice, 7).0).collect();
        assert!(ends.is_sorted() && ends[6] == 1_050, "{ends:?}");
        assert_eq!(WINDOW.slices(64, 8), 15);
        assert_eq!(WINDOW.slices(64, 1_000), 1);
        assert_eq!(WINDOW.slices(4, 1), 4);
    }

    #[test]
    fn the_last_slice_is_sampled_and_never_more_than_the_most() {
        for slices in [1, 3, 16, 17, 64, 1_000] {
            let sampled = (0..slices).filter(|slice| is_sampled(*slice, slices)).count() as u64;
            assert_eq!(sampled, slices.min(SAMPLES), "{slices}");
            assert!(is_sampled(slices - 1, slices), "{slices}");
        }
    }

    #[test]
    fn every_order_of_three_arms_comes_up_alike() {
        let mut seen = std::collections::BTreeMap::new();
        for slice in 0..6_000 {
            *seen.entry(shuffled(3, Seed::new(1), slice)).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|times| (850..1_150).contains(times)), "{seen:?}");
    }

    #[test]
    fn patience_ends_at_three_times_the_plan() {
        assert!(!WINDOW.is_over(8.9) && WINDOW.is_over(9.1));
        assert!(!Window::Calls { calls: 1, warmup: 0, seconds: None }.is_over(1e9));
    }
}
