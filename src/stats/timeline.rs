//! Throughput and latency over time: within a round by slices, and from round to round.

use crate::results::{CellRecord, RunRecord};

use super::latency::Distribution;
use super::throughput::slice_rate;
use super::view::cells;

/// The quartiles of a number over several rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// A quarter of the rounds is not above it.
    pub low: f64,
    /// Half of them.
    pub median: f64,
    /// A quarter of the rounds is not below it.
    pub high: f64,
}

impl Spread {
    /// Of some values; `None` without any. Between two values it interpolates.
    pub fn of(mut values: Vec<f64>) -> Option<Spread> {
        values.retain(|value| value.is_finite());
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let at = |share: f64| {
            let place = share * last as f64;
            let (below, above) = (values[place.floor() as usize], values[place.ceil() as usize]);
            below + (above - below) * place.fract()
        };
        Some(Spread { low: at(0.25), median: at(0.5), high: at(0.75) })
    }
}

/// The calls per second of a strategy's first, second, ... slice over the rounds. A slice that no round has a time of is
/// `None`.
pub fn slice_rates(record: &RunRecord, strategy: usize) -> Vec<Option<Spread>> {
    let slices = cells(record, strategy).map(|cell| cell.slices.len()).max().unwrap_or(0);
    let rate = |cell: &CellRecord, place: usize| slice_rate(cell.slices.get(place..=place)?);
    let of = |place: usize| Spread::of(cells(record, strategy).filter_map(|cell| rate(cell, place)).collect());
    (0..slices).map(of).collect()
}

/// How long the successful calls of a round took, all operations together, in nanoseconds; `None` with too few calls beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundTimes {
    /// The median.
    pub median: Option<u64>,
    /// The 99th percentile.
    pub p99: Option<u64>,
}

/// The times of a strategy's calls in every round: service times, with open load response times.
pub fn round_times(record: &RunRecord, strategy: usize) -> Vec<RoundTimes> {
    let times_of = |round: &crate::results::RoundRecord| {
        let cells = round.cells.get(strategy).into_iter();
        let times = Distribution::of(cells.flat_map(|cell| &cell.operations), record.settings.timeout());
        RoundTimes { median: times.quantile(0.5), p99: times.quantile(0.99) }
    };
    record.rounds.iter().map(times_of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::results::SliceRecord;

    #[test]
    fn quartiles_are_interpolated() {
        assert_eq!(Spread::of(vec![4.0, 1.0, 3.0, 2.0, 5.0]), Some(Spread { low: 2.0, median: 3.0, high: 4.0 }));
        assert_eq!(Spread::of(vec![1.0, 2.0]), Some(Spread { low: 1.25, median: 1.5, high: 1.75 }));
        assert_eq!(Spread::of(vec![f64::NAN]), None);
    }

    #[test]
    fn slices_are_grouped_by_their_place() {
        let mut run = sample::run(2);
        run.rounds[0].cells[1].slices = vec![
            SliceRecord { calls: 10, seconds: 1.0, ..SliceRecord::default() },
            SliceRecord { calls: 10, seconds: 0.0, ..SliceRecord::default() },
        ];
        run.rounds[1].cells[1].slices = vec![SliceRecord { calls: 10, seconds: 0.5, ..SliceRecord::default() }];
        let rates = slice_rates(&run, 1);
        assert_eq!((rates[0].map(|rate| rate.median), rates[1], rates.len()), (Some(15.0), None, 2));
        assert!(slice_rates(&run, 0).is_empty());
    }

    #[test]
    fn times_of_rounds_are_those_of_all_operations() {
        let mut run = sample::run(2);
        run.rounds[1].cells[0].operations.clear();
        let times = round_times(&run, 0);
        let all = Distribution::of(run.rounds[0].cells[0].operations.iter(), run.settings.timeout());
        assert_eq!(times[0], RoundTimes { median: all.quantile(0.5), p99: all.quantile(0.99) });
        assert!(times[0].median.is_some());
        assert_eq!(times[1], RoundTimes { median: None, p99: None });
    }
}
