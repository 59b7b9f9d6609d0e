//! How a window is divided into slices, and the order in which the arms take turns.

use std::time::Duration;

use crate::engine::load::slice::SliceEnd;
use crate::generate::{Label, Seed, Stream};
use crate::results::LoadModel;

/// The fewest calls per client of a slice.
const CALLS_PER_CLIENT: u64 = 8;

/// The shortest slice of open load in seconds: where calls are always in flight, they are awaited at its end, which must
/// stay a small part of it.
const OPEN_SECONDS: f64 = 0.5;

/// How often the followed documents are sampled in a window.
const SAMPLES: u64 = 16;

/// A window may take this many times its planned length before the arm's remaining slices are dropped.
const PATIENCE: f64 = 3.0;

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Window {
    /// A number of calls.
    Calls {
        /// Measured calls.
        calls: u64,
        /// Calls before them that are not recorded.
        warmup: u64,
        /// Seconds that the slowest arm is expected to take, when a pilot has measured it.
        seconds: Option<f64>,
    },
    /// Seconds per arm. With closed load the arms then make different numbers of calls; with open load the seconds and the
    /// rate give one number for all.
    Timed {
        /// Measured seconds.
        seconds: f64,
        /// Seconds before them that are not recorded.
        warmup: f64,
    },
}

impl Window {
    /// Converts the window to calls where a rate determines their number.
    pub(super) fn under(self, load: LoadModel) -> Window {
        match (self, load) {
            (Window::Timed { seconds, warmup }, LoadModel::Open { rate, .. }) => Window::Calls {
                calls: (rate * seconds).ceil() as u64,
                warmup: (rate * warmup).ceil() as u64,
                seconds: Some(seconds),
            },
            (Window::Calls { .. }, _) | (_, LoadModel::Closed) => self,
        }
    }

    /// The number of slices, at most `most`. With closed load each client keeps some calls per slice: at the end of a slice
    /// the calls in flight are awaited, which must stay a small part of it.
    pub(super) fn slices(self, most: u64, clients: usize, load: LoadModel) -> u64 {
        match (self, load) {
            (Window::Calls { calls, .. }, LoadModel::Open { rate, .. }) => {
                // The allowance is for quotients that are whole numbers except for rounding.
                most.min((calls as f64 / rate / OPEN_SECONDS + 1e-6) as u64).max(1)
            }
            (Window::Calls { calls, .. }, LoadModel::Closed) => {
                most.min(calls / (CALLS_PER_CLIENT * clients as u64)).max(1)
            }
            (Window::Timed { .. }, _) => most,
        }
    }

    /// The end of a slice; calls are counted from the first of the warm-up.
    pub(super) fn end(self, slice: u64, slices: u64) -> SliceEnd {
        match self {
            Window::Calls { calls, warmup, .. } => SliceEnd::AtCall(warmup + end_of_part(calls, slice, slices)),
            Window::Timed { seconds, .. } => SliceEnd::After(Duration::from_secs_f64(seconds / slices as f64)),
        }
    }

    /// The end of a piece of the warm-up.
    pub(super) fn warm_up(self, piece: u64, pieces: u64) -> SliceEnd {
        match self {
            Window::Calls { warmup, .. } => SliceEnd::AtCall(end_of_part(warmup, piece, pieces)),
            Window::Timed { warmup, .. } => SliceEnd::After(Duration::from_secs_f64(warmup / pieces as f64)),
        }
    }

    /// Whether an arm that has taken this many seconds is given up.
    pub(super) fn is_over(self, seconds: f64) -> bool {
        matches!(self, Window::Calls { seconds: Some(planned), .. } if seconds > planned * PATIENCE)
    }
}

/// The number of calls up to the end of a part, from 0, when they are divided into equal parts.
fn end_of_part(calls: u64, part: u64, parts: u64) -> u64 {
    (u128::from(calls) * u128::from(part + 1) / u128::from(parts)) as u64
}

/// Whether followed documents are sampled after this slice: after at most [`SAMPLES`] slices, including the last one.
pub(super) fn is_sampled(slice: u64, slices: u64) -> bool {
    (slice + 1) * SAMPLES / slices > slice * SAMPLES / slices
}

/// The arms in an order drawn from the seed (Fisher-Yates).
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
    fn slices_cover_the_window_and_keep_clients_busy() {
        let end = |slice| match WINDOW.end(slice, 7) {
            SliceEnd::AtCall(end) => end,
            SliceEnd::After(_) => panic!("a window of calls"),
        };
        let ends: Vec<u64> = (0..7).map(end).collect();
        assert!(ends.is_sorted() && ends[6] == 1_050, "{ends:?}");
        let slices = |most, clients| WINDOW.slices(most, clients, LoadModel::Closed);
        assert_eq!([slices(64, 8), slices(64, 1_000), slices(4, 1)], [15, 1, 4]);
    }

    #[test]
    fn slices_of_open_load_last_half_a_second() {
        let open = |rate| LoadModel::Open { rate, arrivals: Arrivals::Poisson };
        let slices = |most, rate| WINDOW.slices(most, 64, open(rate));
        assert_eq!([slices(64, 100.0), slices(64, 1_000.0), slices(64, 5_000.0), slices(3, 100.0)], [20, 2, 1, 3]);
        let timed = Window::Timed { seconds: 3.0, warmup: 0.5 };
        assert_eq!(timed.under(open(99.5)), Window::Calls { calls: 299, warmup: 50, seconds: Some(3.0) });
        assert_eq!(timed.under(LoadModel::Closed), timed);
    }

    #[test]
    fn last_slice_is_sampled_and_at_most_16() {
        for slices in [1, 3, 16, 17, 64, 1_000] {
            let sampled = (0..slices).filter(|slice| is_sampled(*slice, slices)).count() as u64;
            assert_eq!(sampled, slices.min(SAMPLES), "{slices}");
            assert!(is_sampled(slices - 1, slices), "{slices}");
        }
    }

    #[test]
    fn orders_of_three_arms_are_equally_likely() {
        let mut seen = std::collections::BTreeMap::new();
        for slice in 0..6_000 {
            *seen.entry(shuffled(3, Seed::new(1), slice)).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|times| (850..1_150).contains(times)), "{seen:?}");
    }

    #[test]
    fn slow_arm_is_given_up_at_three_times_the_plan() {
        assert!(!WINDOW.is_over(8.9) && WINDOW.is_over(9.1));
        assert!(!Window::Calls { calls: 1, warmup: 0, seconds: None }.is_over(1e9));
    }
}
