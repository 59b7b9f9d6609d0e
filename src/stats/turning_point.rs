//! Where the order of two strategies turns round: at which network, and at which share of an operation.
//!
//! Both are computed from the record, not measured. The share is shown only where the same estimate predicts the measured mix.

use crate::results::RunRecord;

use super::latency::{geometric_mean, means};
use super::{cells, outcome_totals, service_mean};

/// How far (0.2 for 20 %) the estimated ratio of the mix may be from the measured one for shares to be estimated.
pub const AGREEMENT: f64 = 0.2;

/// Turning points above this round-trip time in nanoseconds are of no use: no network within a region is slower.
const SLOWEST_NETWORK: f64 = 100e6;

/// The round-trip time in nanoseconds, in addition to that of the measurement, at which two strategies take the same time per
/// call of the mix: the one with fewer round trips is the faster one beyond it. `None` where they do not change places below
/// 100 ms.
pub fn network_turn(record: &RunRecord, one: usize, other: usize) -> Option<f64> {
    let time = |strategy| service_mean(cells(record, strategy).flat_map(|cell| &cell.operations));
    let trips =
        |strategy| outcome_totals(cells(record, strategy).flat_map(|cell| &cell.operations)).round_trips_per_call();
    let turn = equal_at([time(one)?, time(other)?], [trips(one)?, trips(other)?]);
    (turn.is_finite() && turn > 0.0 && turn < SLOWEST_NETWORK).then_some(turn)
}

/// The time to add to every round trip of two strategies so that both take the same time; not finite where they make as many.
pub(super) fn equal_at(times: [f64; 2], round_trips: [f64; 2]) -> f64 {
    (times[1] - times[0]) / (round_trips[0] - round_trips[1])
}

/// The share of an operation at which two strategies take the same time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShareTurn {
    /// The operation.
    pub operation: usize,
    /// Its share (0 to 1) of the measured mix.
    pub measured: f64,
    /// The share at which the order turns round, the other operations keeping their proportions.
    pub turn: f64,
}

/// Estimates of a mix from the own times of its operations.
#[derive(Debug)]
pub struct MixEstimate<'r> {
    own: &'r RunRecord,
    /// The share of each operation.
    shares: Vec<f64>,
}

impl<'r> MixEstimate<'r> {
    /// From the part that measures own costs.
    pub fn new(own: &'r RunRecord) -> MixEstimate<'r> {
        let weight =
            |name: &String| own.mix.weights.iter().find(|(of, _)| of == name).map_or(0.0, |(_, weight)| *weight);
        let weights: Vec<f64> = own.operations.iter().map(weight).collect();
        let total: f64 = weights.iter().sum();
        MixEstimate { own, shares: weights.into_iter().map(|weight| weight / total).collect() }
    }

    /// The own time of an operation; `None` where it was not measured.
    fn time(&self, strategy: usize, operation: usize) -> Option<f64> {
        geometric_mean(&means(self.own, strategy, operation))
    }

    /// The mean time of the operations but `left_out`, by their shares; `None` where one was not measured.
    fn mean_without(&self, strategy: usize, left_out: Option<usize>) -> Option<f64> {
        let is_in = |place: &usize| self.shares[*place] > 0.0 && Some(*place) != left_out;
        let places = || (0..self.shares.len()).filter(is_in);
        let sum: f64 =
            places().map(|place| Some(self.shares[place] * self.time(strategy, place)?)).sum::<Option<f64>>()?;
        let total: f64 = places().map(|place| self.shares[place]).sum();
        (total > 0.0).then(|| sum / total)
    }

    /// The estimated time of a call of the mix in nanoseconds.
    pub fn mean(&self, strategy: usize) -> Option<f64> {
        self.mean_without(strategy, None)
    }

    /// Whether the estimate predicts a measured ratio of two strategies, and which of them is faster.
    pub fn predicts(&self, one: usize, other: usize, measured: f64) -> bool {
        let is_same_order = self.ratio(one, other).is_some_and(|estimated| (estimated < 1.0) == (measured < 1.0));
        is_same_order && self.is_near(one, other, measured)
    }

    /// Whether the estimate is near a measured ratio of two strategies, whichever of them is faster.
    pub fn is_near(&self, one: usize, other: usize, measured: f64) -> bool {
        self.ratio(one, other).is_some_and(|estimated| (estimated / measured).ln().abs() <= AGREEMENT.ln_1p())
    }

    fn ratio(&self, one: usize, other: usize) -> Option<f64> {
        Some(self.mean(one)? / self.mean(other)?)
    }

    /// The shares at which the order of two strategies turns round, the nearest to the measured mix first.
    pub fn share_turns(&self, one: usize, other: usize) -> Vec<ShareTurn> {
        let of = |operation: usize| {
            let own = self.time(one, operation)? - self.time(other, operation)?;
            let rest = self.mean_without(one, Some(operation))? - self.mean_without(other, Some(operation))?;
            let turn = rest / (rest - own);
            let is_between = turn.is_finite() && (0.0..=1.0).contains(&turn);
            is_between.then(|| ShareTurn { operation, measured: self.shares[operation], turn })
        };
        let called = (0..self.shares.len()).filter(|operation| self.shares[*operation] > 0.0);
        let mut turns: Vec<ShareTurn> = called.filter_map(of).collect();
        let distance = |turn: &ShareTurn| (turn.turn - turn.measured).abs();
        turns.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Part;
    use crate::stats::sample;

    #[test]
    fn more_round_trips_lose_where_the_network_is_slow() {
        let run = sample::run(8);
        // Per call of the mix embedded makes 1 round trip and linked (915 + 300) / 915, in less time on the loopback.
        let turn = network_turn(&run, 0, 1).unwrap();
        let time = |strategy| service_mean(cells(&run, strategy).flat_map(|cell| &cell.operations)).unwrap();
        assert!((turn - (time(0) - time(1)) / (300.0 / 915.0)).abs() < 1.0, "{turn}");
        assert_eq!(network_turn(&run, 1, 0), Some(turn));
        assert_eq!(network_turn(&run, 0, 2), None, "as many round trips");
    }

    #[test]
    fn order_turns_round_where_the_times_are_equal() {
        let run = sample::whole(&sample::run(8));
        let own = &run.all_parts()[&Part::Own];
        let estimate = MixEstimate::new(own);
        let turns = estimate.share_turns(0, 1);
        assert!(turns.iter().all(|turn| (0.0..=1.0).contains(&turn.turn)) && !turns.is_empty(), "{turns:?}");
        let first = turns[0];
        let at = |strategy: usize| {
            let rest = estimate.mean_without(strategy, Some(first.operation)).unwrap();
            first.turn * estimate.time(strategy, first.operation).unwrap() + (1.0 - first.turn) * rest
        };
        assert!((at(0) / at(1) - 1.0).abs() < 1e-9, "{first:?}");
    }

    #[test]
    fn estimates_agree_with_what_they_are_made_of() {
        let run = sample::whole(&sample::run(8));
        let own = &run.all_parts()[&Part::Own];
        let estimate = MixEstimate::new(own);
        let ratio = estimate.mean(1).unwrap() / estimate.mean(0).unwrap();
        assert!(estimate.predicts(1, 0, ratio * 1.19) && !estimate.predicts(1, 0, ratio * 1.21));
        assert!(!estimate.predicts(1, 0, f64::NAN) && !estimate.is_near(1, 0, f64::NAN));
        assert!(estimate.is_near(0, 0, 0.99) && !estimate.is_near(0, 0, 1.21));
        assert!(estimate.predicts(0, 0, 1.1) && !estimate.predicts(0, 0, 0.99), "the order must agree, too");
    }
}
