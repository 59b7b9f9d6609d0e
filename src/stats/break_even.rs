//! How many reads per write pay for a strategy that writes more to read less.

use crate::record::{Metric, OPLOG_BYTES};
use crate::results::RunRecord;

use super::own_cost;
use super::series::{RoundSeries, SeriesKey};
use super::student::t_quantile;
use super::view::judged;

/// Bytes of oplog per call from which an operation counts as a write. The server itself adds an entry every few seconds.
pub const WRITTEN: f64 = 20.0;

/// What one strategy saves in a read and pays in a write, compared with another one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BreakEven {
    /// The strategy that reads faster and writes slower.
    pub strategy: usize,
    /// The other strategy.
    pub against: usize,
    /// The read.
    pub read: usize,
    /// The write.
    pub write: usize,
    /// Nanoseconds that a read saves, mean over rounds.
    pub saved: f64,
    /// Nanoseconds that a write costs more, mean over rounds.
    pub paid: f64,
    /// Reads per write from which it pays: `paid / saved`.
    pub reads: f64,
    /// The 95 % CI of `reads` (Fieller).
    pub interval: (f64, f64),
}

/// The trades of all pairs of strategies and operations, from own times, where both the saving and the price are shown, with 95 %
/// confidence for all pairs and operations together (Bonferroni). `own` is the record of the part that measures own costs.
pub fn break_evens(own: &RunRecord) -> Vec<BreakEven> {
    let strategies: Vec<usize> = judged(own).collect();
    let operations = 0..own.operations.len();
    let (writes, reads): (Vec<usize>, Vec<usize>) =
        operations.partition(|operation| writes(own, *operation) == Some(true));
    let mut found = Vec::new();
    // Every pair of strategies in every operation.
    let comparisons = strategies.len() * strategies.len().saturating_sub(1) / 2 * own.operations.len();
    for &strategy in &strategies {
        for &against in strategies.iter().filter(|against| **against != strategy) {
            for &write in &writes {
                let paid = differences(own, strategy, against, write);
                for &read in &reads {
                    let saved = differences(own, against, strategy, read);
                    let trade = BreakEven { strategy, against, read, write, ..BreakEven::default() };
                    found.extend(trade.with(&paid, &saved, comparisons));
                }
            }
        }
    }
    found
}

/// Whether calls of an operation write in any strategy, from the part that measures own costs; `None` where the server reported
/// no oplog.
pub fn writes(own: &RunRecord, operation: usize) -> Option<bool> {
    let bytes = |strategy: usize| own_cost(own, strategy, operation)?.per_call(OPLOG_BYTES);
    let known: Vec<f64> = (0..own.strategies.len()).filter_map(bytes).collect();
    (!known.is_empty()).then(|| known.iter().any(|bytes| *bytes > WRITTEN))
}

/// How much more time an operation takes in one strategy than in another, per round; nothing where both do the same.
fn differences(own: &RunRecord, strategy: usize, against: usize, operation: usize) -> Vec<Option<f64>> {
    if own.is_identical(strategy, against, operation) {
        return Vec::new();
    }
    let times = |strategy| RoundSeries::of(own, SeriesKey::new(Metric::MEAN, strategy, Some(operation))).rounds;
    let pairs = times(strategy).into_iter().zip(times(against));
    pairs.map(|(one, other)| Some(one? - other?)).collect()
}

impl BreakEven {
    /// The same with its numbers, from price and saving per round; `None` unless both are shown to be above 0.
    ///
    /// Fieller's theorem: the interval has all `k` with |mean(paid - k saved)| <= t se(paid - k saved), a quadratic in `k`.
    /// E. C. Fieller, Some Problems in Interval Estimation, Journal of the Royal Statistical Society B 16 (1954).
    fn with(self, paid: &[Option<f64>], saved: &[Option<f64>], comparisons: usize) -> Option<BreakEven> {
        let pairs: Vec<(f64, f64)> = paid.iter().zip(saved).filter_map(|(paid, saved)| (*paid).zip(*saved)).collect();
        let rounds = pairs.len();
        if rounds < 3 {
            return None;
        }
        let n = rounds as f64;
        let t = t_quantile(0.975, rounds - 1);
        let mean = |value: fn(&(f64, f64)) -> f64| pairs.iter().map(value).sum::<f64>() / n;
        let (paid, saved) = (mean(|pair| pair.0), mean(|pair| pair.1));
        let sum = |value: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(value).sum::<f64>() / (n - 1.0) / n;
        let variance_paid = sum(&|pair| (pair.0 - paid).powi(2));
        let variance_saved = sum(&|pair| (pair.1 - saved).powi(2));
        let covariance = sum(&|pair| (pair.0 - paid) * (pair.1 - saved));
        let shown = t_quantile(1.0 - 0.025 / comparisons.max(1) as f64, rounds - 1);
        if paid - shown * variance_paid.sqrt() <= 0.0 || saved - shown * variance_saved.sqrt() <= 0.0 {
            return None;
        }
        // a k^2 - 2 b k + c <= 0
        let a = saved * saved - t * t * variance_saved;
        let b = paid * saved - t * t * covariance;
        let c = paid * paid - t * t * variance_paid;
        let root = (b * b - a * c).max(0.0).sqrt();
        Some(BreakEven { paid, saved, reads: paid / saved, interval: ((b - root) / a, (b + root) / a), ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    #[test]
    fn a_trade_has_an_interval_around_its_ratio() {
        let trade = BreakEven::default()
            .with(&some(&[30.0, 31.0, 29.0, 30.5, 29.5, 30.0]), &some(&[10.0, 9.8, 10.2, 10.1, 9.9, 10.0]), 1)
            .unwrap();
        assert!((trade.paid / trade.saved - 3.0).abs() < 1e-9);
        let (low, high) = trade.interval;
        assert!(2.8 < low && low < 3.0 && 3.0 < high && high < 3.2, "{low} {high}");
    }

    #[test]
    fn common_noise_cancels() {
        // Rounds differ, but the price is three times the saving in each.
        let saved = [8.0, 10.0, 12.0, 9.0, 11.0, 10.0];
        let (low, high) =
            BreakEven::default().with(&some(&saved.map(|saved| 3.0 * saved)), &some(&saved), 1).unwrap().interval;
        assert!((low - 3.0).abs() < 1e-6 && (high - 3.0).abs() < 1e-6, "{low} {high}");
    }

    #[test]
    fn what_is_not_shown_is_no_trade() {
        assert!(BreakEven::default().with(&some(&[1.0, -1.0, 2.0, -2.0]), &some(&[1.0, 1.1, 0.9, 1.0]), 1).is_none());
        assert!(BreakEven::default().with(&some(&[1.0, 1.1, 0.9, 1.0]), &some(&[-1.0, -1.1, -0.9, -1.0]), 1).is_none());
        assert!(BreakEven::default().with(&some(&[1.0, 1.1]), &some(&[1.0, 1.1]), 1).is_none());
    }

    #[test]
    fn trades_of_a_run_name_strategies_and_operations() {
        let mut run = crate::stats::sample::run(6);
        for cell in run.rounds.iter_mut().flat_map(|round| &mut round.cells) {
            cell.own_counters = vec![[(OPLOG_BYTES.to_owned(), 1e9)].into(), Default::default(), Default::default()];
        }
        // Embedded reads posts faster (0.61 against 0.94 ms) and adds comments slower (1.9 against 0.82 ms).
        let found = break_evens(&run);
        let trade = found.iter().find(|one| (one.strategy, one.against, one.read, one.write) == (0, 1, 1, 0)).unwrap();
        assert!((2.0..5.0).contains(&trade.reads), "{trade:?}");
        assert!(trade.interval.0 < trade.reads && trade.reads < trade.interval.1, "{trade:?}");
        assert!(
            found.iter().all(|one| one.strategy != 2 && one.write == 0),
            "unsafe strategies and reads are left out: {found:?}"
        );
    }
}
