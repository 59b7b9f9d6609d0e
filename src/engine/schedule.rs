//! How a window is cut into slices, and in which order the arms take them.

use std::time::Duration;

use crate::generate::{Label, Seed, Stream};
use crate::results::LoadModel;

/// A slice has at least so many calls per worker.
const CALLS_PER_WORKER: u64 = 8;

/// A slice with intended times is at least so many seconds long: its queue is empty at its start and worked off at its end,
/// which must stay a small part of it.
const OPEN_SECONDS: f64 = 0.5;

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
    /// So many seconds per arm; the arms then make different numbers of calls. In the open model the seconds and the rate
    /// give one number for all.
    Timed {
        /// Recorded.
        seconds: f64,
        /// Not recorded.
        warmup: f64,
    },
}

impl Window {
    /// This window as calls, where a rate says how many fall due in a time.
    pub(super) fn under(self, load: LoadModel) -> Window {
        match (self, load) {
            (Window::Timed { seconds, warmup }, LoadModel::Open { rate, .. }) => Window::Calls {
                calls: (rate * seconds).ceil() as u64,
                warmup: (rate * warmup).ceil() as u64,
                seconds: Some(seconds),
            },
            (window, _) => window,
        }
    }

    /// The slices of this window, at most `wanted`: in the closed model as many as leave each worker some calls in a
    /// slice, as at a slice's end the calls in flight are awaited, which must stay a small part of it.
    pub(super) fn slices(self, wanted: u64, workers: usize, load: LoadModel) -> u64 {
        match (self, load) {
            (Window::Calls { calls, .. }, LoadModel::Open { rate, .. }) => {
                // The allowance is for a quotient that is a whole number but for rounding.
                wanted.min((calls as f64 / rate / OPEN_SECONDS + 1e-6) as u64).max(1)
            }
            (Window::Calls { calls, .. }, LoadModel::Closed) => {
                wanted.min(calls / (CALLS_PER_WORKER * workers as u64)).max(1)
            }
            (Window::Timed { .. }, _) => wanted,
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
    use crate::results::Arrivals;

    const WINDOW: Window = Window::Calls { calls: 1_000, warmup: 50, seconds: Some(3.0) };

    #[test]
    fn slices_cover_the_window_and_keep_their_workers_busy() {
        let ends: Vec<u64> = (0..7).map(|slice| WINDOW.bounds(slice, 7).0).collect();
        assert!(ends.is_sorted() && ends[6] == 1_050, "{ends:?}");
        let slices = |wanted, workers| WINDOW.slices(wanted, workers, LoadModel::Closed);
        assert_eq!([slices(64, 8), slices(64, 1_000), slices(4, 1)], [15, 1, 4]);
    }

    #[test]
    fn slices_with_intended_times_last_half_a_second() {
        let open = |rate| LoadModel::Open { rate, arrivals: Arrivals::Poisson };
        let slices = |wanted, rate| WINDOW.slices(wanted, 64, open(rate));
        assert_eq!([slices(64, 100.0), slices(64, 1_000.0), slices(64, 5_000.0), slices(3, 100.0)], [20, 2, 1, 3]);
        let timed = Window::Timed { seconds: 3.0, warmup: 0.5 };
        assert_eq!(timed.under(open(99.5)), Window::Calls { calls: 299, warmup: 50, seconds: Some(3.0) });
        assert_eq!(timed.under(LoadModel::Closed), timed);
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
