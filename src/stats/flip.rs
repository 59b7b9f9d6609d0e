//! Where the order of two strategies flips: at which network, and at which share of an operation.
//!
//! Both are computed from the record, not measured. The share is shown only where the same estimate predicts the measured mix.

use crate::results::RunRecord;

use super::budget::{own_time, shares};

/// How far (0.2 for 20 %) the estimated ratio of a mix may be from the measured one for other mixes to be estimated.
pub const AGREEMENT: f64 = 0.2;

/// The shares of a real mix are rarely known better than this.
const FRAGILE: f64 = 0.03;

/// Flips above this round-trip time in nanoseconds are of no use: no network within a region is slower.
const SLOWEST_NETWORK: f64 = 100e6;

/// The round-trip time in nanoseconds, in addition to that of the measurement, at which calls of two strategies take the same time,
/// from their times in nanoseconds and round trips per call: the one with fewer round trips is the faster one beyond it. `None`
/// where they do not change places below 100 ms.
pub fn network_flip(times: [f64; 2], round_trips: [f64; 2]) -> Option<f64> {
    let flip = equal_at(times, round_trips);
    (flip.is_finite() && flip > 0.0 && flip < SLOWEST_NETWORK).then_some(flip)
}

/// The time to add to every round trip of two strategies so that both take the same time; not finite where they make as many.
pub(crate) fn equal_at(times: [f64; 2], round_trips: [f64; 2]) -> f64 {
    (times[1] - times[0]) / (round_trips[0] - round_trips[1])
}

/// The share of an operation at which two strategies take the same time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShareFlip {
    /// The operation.
    pub operation: usize,
    /// Its share (0 to 1) of the measured mix.
    pub measured: f64,
    /// The share at which the order flips, the other operations keeping their proportions.
    pub share: f64,
}

impl ShareFlip {
    /// How far the share is from the measured one.
    pub fn distance(&self) -> f64 {
        (self.share - self.measured).abs()
    }

    /// Whether the order flips within a change of the share that is smaller than what is known of a mix.
    pub fn is_fragile(&self) -> bool {
        self.distance() < FRAGILE
    }
}

/// Estimates of a mix from the own times of its operations.
#[derive(Debug, Clone, PartialEq)]
pub struct MixEstimate {
    /// Per strategy and operation, in nanoseconds; `None` where it was not measured.
    pub times: Vec<Vec<Option<f64>>>,
    /// The share (0 to 1) of each operation.
    pub shares: Vec<f64>,
    /// Ratios this close to 1 (0.02 for 2 %) are noise.
    pub noise: f64,
}

impl MixEstimate {
    /// From the part that measures own costs, for its own mix.
    pub fn new(own: &RunRecord) -> MixEstimate {
        MixEstimate::of_mix(own, &own.mix.weights)
    }

    /// From the part that measures own costs, for a mix with these weights.
    pub fn of_mix(own: &RunRecord, weights: &[(String, f64)]) -> MixEstimate {
        let operations = 0..own.operations.len();
        let times = |strategy| operations.clone().map(|operation| own_time(own, strategy, operation)).collect();
        MixEstimate {
            times: (0..own.strategies.len()).map(times).collect(),
            shares: shares(&own.operations, weights),
            noise: own.settings.noise,
        }
    }

    /// The share (0 to 1) of an operation.
    pub fn share(&self, operation: usize) -> f64 {
        self.shares.get(operation).copied().unwrap_or(0.0)
    }

    /// The operations that the mix calls.
    pub fn called(&self) -> impl Iterator<Item = usize> {
        (0..self.shares.len()).filter(|operation| self.shares[*operation] > 0.0)
    }

    /// The own time of an operation; `None` where it was not measured.
    pub fn time(&self, strategy: usize, operation: usize) -> Option<f64> {
        *self.times.get(strategy)?.get(operation)?
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

    /// The estimated time of a strategy divided by that of another one.
    pub fn ratio(&self, one: usize, other: usize) -> Option<f64> {
        Some(self.mean(one)? / self.mean(other)?)
    }

    /// Whether the estimate is near a measured ratio of two strategies, whichever of them is faster.
    pub fn is_near(&self, one: usize, other: usize, measured: f64) -> bool {
        self.ratio(one, other).is_some_and(|estimated| (estimated / measured).ln().abs() <= AGREEMENT.ln_1p())
    }

    /// Whether the estimate predicts a measured ratio of two strategies; which of them is faster counts only where both
    /// ratios are beyond noise (0.02 for 2 %).
    pub fn agrees(&self, one: usize, other: usize, measured: f64, noise: f64) -> bool {
        let is_same_order = self.ratio(one, other).is_some_and(|estimated| {
            let [by, of] = [estimated.ln(), measured.ln()];
            let is_noise = by.abs().min(of.abs()) <= noise.ln_1p() && noise > 0.0;
            is_noise || (by < 0.0) == (of < 0.0)
        });
        is_same_order && self.is_near(one, other, measured)
    }

    /// The time of a strategy divided by that of another one where the operation of a flip is all of the mix, or
    /// nothing of it: the most that a flipped order can come to.
    fn beyond(&self, flip: &ShareFlip, one: usize, other: usize) -> Option<f64> {
        let time = |strategy| {
            if flip.share > flip.measured {
                self.time(strategy, flip.operation)
            } else {
                self.mean_without(strategy, Some(flip.operation))
            }
        };
        Some(time(one)? / time(other)?)
    }

    /// The shares at which a strategy is overtaken by another one, the nearest to the measured mix first; only those beyond which
    /// it can fall behind by more than noise.
    pub fn share_flips(&self, one: usize, other: usize) -> Vec<ShareFlip> {
        self.shares_of_ratio(one, other, 1.0)
    }

    /// The shares at which calls of a strategy take so many times (1.2 for 20 % more) as long as those of another one, the nearest to
    /// the measured mix first; only those beyond which the ratio can grow by more than noise.
    pub fn shares_of_ratio(&self, one: usize, other: usize, ratio: f64) -> Vec<ShareFlip> {
        let of = |operation: usize| {
            let own = self.time(one, operation)? - ratio * self.time(other, operation)?;
            let rest = self.mean_without(one, Some(operation))? - ratio * self.mean_without(other, Some(operation))?;
            let share = rest / (rest - own);
            let is_between = share.is_finite() && (0.0..=1.0).contains(&share);
            is_between.then(|| ShareFlip { operation, measured: self.shares[operation], share })
        };
        let called = self.called();
        let is_shown =
            |flip: &ShareFlip| self.beyond(flip, one, other).is_some_and(|lead| lead > ratio * (1.0 + self.noise));
        let mut flips: Vec<ShareFlip> = called.filter_map(of).filter(is_shown).collect();
        flips.sort_by(|a, b| a.distance().total_cmp(&b.distance()));
        flips
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::record::Part;

    #[test]
    fn more_round_trips_lose_where_the_network_is_slow() {
        // 3 round trips in 0.5 ms against 1 in 0.9 ms.
        assert_eq!(network_flip([0.5e6, 0.9e6], [3.0, 1.0]), Some(0.2e6));
        assert_eq!(network_flip([0.9e6, 0.5e6], [1.0, 3.0]), Some(0.2e6));
        assert_eq!(network_flip([0.5e6, 0.9e6], [1.0, 1.0]), None, "as many round trips");
        assert_eq!(network_flip([0.9e6, 0.5e6], [3.0, 1.0]), None, "faster with fewer on any network");
    }

    #[test]
    fn the_order_flips_where_the_times_are_equal() {
        let run = sample::whole(&sample::run(8));
        let own = &run.all_parts()[&Part::Own];
        let estimate = MixEstimate::new(own);
        let flips = estimate.share_flips(1, 0);
        assert!(flips.iter().all(|flip| (0.0..=1.0).contains(&flip.share)) && !flips.is_empty(), "{flips:?}");
        let first = flips[0];
        let at = |strategy: usize| {
            let rest = estimate.mean_without(strategy, Some(first.operation)).unwrap();
            first.share * estimate.time(strategy, first.operation).unwrap() + (1.0 - first.share) * rest
        };
        assert!((at(0) / at(1) - 1.0).abs() < 1e-9, "{first:?}");
        // linked is faster in the mix; beyond the flip embedded is.
        assert!(estimate.mean(1) < estimate.mean(0) && estimate.beyond(&first, 1, 0).unwrap() > 1.02);
        assert_eq!(estimate.share_flips(0, 1), [], "what is slower already is not overtaken");
    }

    #[test]
    fn other_mixes_have_other_weights() {
        let run = sample::whole(&sample::run(8));
        let own = &run.all_parts()[&Part::Own];
        let weights = |pairs: [(&str, f64); 2]| pairs.map(|(name, weight)| (name.to_owned(), weight));
        let reads = MixEstimate::of_mix(own, &weights([("read_post", 3.0), ("count", 0.0)]));
        assert_eq!((reads.share(1), reads.mean(0)), (1.0, reads.time(0, 1)));
        let nothing = MixEstimate::of_mix(own, &weights([("read_post", 0.0), ("count", 0.0)]));
        assert_eq!(nothing.mean(0), None);
    }

    #[test]
    fn estimates_agree_with_what_they_are_made_of() {
        let run = sample::whole(&sample::run(8));
        let own = &run.all_parts()[&Part::Own];
        let estimate = MixEstimate::new(own);
        let ratio = estimate.mean(1).unwrap() / estimate.mean(0).unwrap();
        assert!(estimate.agrees(1, 0, ratio * 1.19, 0.0) && !estimate.agrees(1, 0, ratio * 1.21, 0.0));
        assert!(!estimate.agrees(1, 0, f64::NAN, 0.0) && !estimate.is_near(1, 0, f64::NAN));
        assert!(estimate.is_near(0, 0, 0.99) && !estimate.is_near(0, 0, 1.21));
        assert!(estimate.agrees(0, 0, 1.1, 0.0) && !estimate.agrees(0, 0, 0.99, 0.0), "the order must agree, too");
        assert!(
            estimate.agrees(0, 0, 0.99, 0.02) && !estimate.agrees(0, 0, 0.8, 0.02),
            "within noise there is no order"
        );
        // A mix in which linked takes 5 % more time.
        let close = MixEstimate::of_mix(own, &[("read_post".to_owned(), 0.797), ("add_comment".to_owned(), 0.203)]);
        assert!((close.ratio(1, 0).unwrap() - 1.05).abs() < 0.01, "{:?}", close.ratio(1, 0));
        assert!(close.agrees(1, 0, 0.95, 0.06) && !close.agrees(1, 0, 0.95, 0.02));
    }
}
