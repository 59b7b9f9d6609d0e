//! How a window is divided into slices, and the order in which the arms take turns.

use crate::engine::load::slice::SliceEnd;
use crate::generate::{Label, Seed, Stream};
use crate::results::LoadModel;

/// The fewest calls per client of a slice, and of a window.
pub const CALLS_PER_CLIENT: u64 = 8;

/// The shortest slice of open load in seconds: where calls are always in flight, they are awaited at its end, which must
/// stay a small part of it.
const OPEN_SECONDS: f64 = 0.5;

/// A window may take this many times its planned length before the arm's remaining slices are dropped.
const PATIENCE: f64 = 3.0;

/// The calls of an arm in a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Window {
    /// The index of the first call.
    pub(super) first: u64,
    /// How many.
    pub(super) calls: u64,
    /// Seconds that the slowest arm that makes this many is expected to take, when a pilot has measured it.
    pub(super) seconds: Option<f64>,
}

impl Window {
    /// The number of slices, at most `most`. With closed load each client keeps some calls per slice: at the end of a slice
    /// the calls in flight are awaited, which must stay a small part of it.
    pub(super) fn slices(self, most: u64, clients: usize, load: LoadModel) -> u64 {
        match load {
            LoadModel::Open { rate, .. } => {
                // The allowance is for quotients that are whole numbers except for rounding.
                most.min((self.calls as f64 / rate / OPEN_SECONDS + 1e-6) as u64).max(1)
            }
            LoadModel::Closed => most.min(self.calls / (CALLS_PER_CLIENT * clients as u64)).max(1),
        }
    }

    /// The end of a slice.
    pub(super) fn end(self, slice: u64, slices: u64) -> SliceEnd {
        SliceEnd::AtCall(self.first + end_of_part(self.calls, slice, slices))
    }

    /// Whether an arm that has taken this many seconds is given up.
    pub(super) fn is_over(self, seconds: f64) -> bool {
        self.seconds.is_some_and(|planned| seconds > planned * PATIENCE)
    }
}

/// The number of calls up to the end of a part, from 0, when they are divided into equal parts.
pub(super) fn end_of_part(calls: u64, part: u64, parts: u64) -> u64 {
    (u128::from(calls) * u128::from(part + 1) / u128::from(parts)) as u64
}

/// The arms in an order drawn from the seed (Fisher-Yates).
pub fn shuffled(arms: usize, seed: Seed, label: Label, slice: u64) -> Vec<usize> {
    let mut stream = Stream::new(seed, label, slice);
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

    const WINDOW: Window = Window { first: 50, calls: 1_000, seconds: Some(3.0) };

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
    }

    #[test]
    fn orders_of_three_arms_are_equally_likely() {
        let mut seen = std::collections::BTreeMap::new();
        for slice in 0..6_000 {
            *seen.entry(shuffled(3, Seed::new(1), Label::new("order"), slice)).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|times| (850..1_150).contains(times)), "{seen:?}");
    }

    #[test]
    fn slow_arm_is_given_up_at_three_times_the_plan() {
        assert!(!WINDOW.is_over(8.9) && WINDOW.is_over(9.1));
        assert!(!Window { first: 0, calls: 1, seconds: None }.is_over(1e9));
    }
}
