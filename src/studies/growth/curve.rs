//! Times of an operation while documents grow.

use crate::results::{CellRecord, StageRecord};
use crate::stats::latency::answered;
use crate::stats::line::slope;

use super::record::GrowthRecord;

/// Standard normal quantile of a 95 % interval.
const Z: f64 = 1.96;

/// Calls over which the slope at the end is taken: the last tenth of them is the last decade.
const DECADE: f64 = 10.0;

/// An operation of a strategy at a stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StagePoint {
    /// Calls of the growing operation, those measured at the stage included.
    pub calls: u64,
    /// The bytes of the strategy's largest document after the stage.
    pub largest: u64,
    /// The median service time in nanoseconds.
    pub median: f64,
    /// An interval of the median with about 95 % confidence, by order statistics of the stage's calls.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// An operation of a strategy over the stages.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GrowthCurve {
    /// In the order of the stages.
    pub points: Vec<StagePoint>,
}

impl GrowthCurve {
    /// The curve of an operation.
    pub fn of(record: &GrowthRecord, strategy: usize, operation: usize) -> GrowthCurve {
        let points = record.stages.iter().filter_map(|stage| point(record, stage, strategy, operation));
        GrowthCurve { points: points.collect() }
    }

    /// The stages between which the time has doubled: at the second one, and at all later ones, the interval of the median is
    /// above twice that of the first stage. `None` when it did not double.
    pub fn doubling(&self) -> Option<(StagePoint, StagePoint)> {
        let first = self.points.first()?;
        let is_double = |point: &StagePoint| point.low >= 2.0 * first.high;
        let after = self.points.iter().rposition(|point| !is_double(point)).map_or(0, |place| place + 1);
        Some((*self.points.get(after.checked_sub(1)?)?, *self.points.get(after)?))
    }

    /// The exponent with which the median grows with the calls in the last decade of them: 0 when it is flat, 1 when it grows in
    /// proportion. A least-squares line on logarithmic axes; `None` with fewer than three stages.
    pub fn exponent(&self) -> Option<f64> {
        let last = self.points.last()?.calls as f64;
        let recent = self.points.iter().filter(|point| point.calls as f64 >= last / DECADE && point.median > 0.0);
        let points: Vec<(f64, f64)> = recent.map(|point| ((point.calls as f64).ln(), point.median.ln())).collect();
        slope(&points).map(|(slope, _)| slope)
    }
}

/// The largest document of a strategy after a stage, in bytes.
pub fn largest_document(cell: &CellRecord) -> u64 {
    cell.after.iter().map(|sizes| sizes.max).max().unwrap_or(0)
}

/// Calls of the growing operation up to the end of a stage, in a strategy that was not refused before.
pub fn calls_after(record: &GrowthRecord, stage: &StageRecord) -> u64 {
    let measured = |cell: &CellRecord| cell.operations.get(record.operation).map_or(0, |operation| operation.calls);
    stage.calls + stage.cells.iter().flatten().map(measured).max().unwrap_or(0)
}

fn point(record: &GrowthRecord, stage: &StageRecord, strategy: usize, operation: usize) -> Option<StagePoint> {
    let cell = stage.cells.get(strategy)?.as_ref()?;
    let mut outcomes = answered(cell.operations.get(operation)?).map(|outcome| outcome.service.open());
    let first = outcomes.next()?;
    let times = outcomes.fold(first, |mut times, more| {
        times.merge(&more);
        times
    });
    let calls = times.count();
    if calls == 0 {
        return None;
    }
    let away = Z / 2.0 / (calls as f64).sqrt();
    let at = |share: f64| times.quantile(share.clamp(0.0, 1.0)) as f64;
    Some(StagePoint {
        calls: calls_after(record, stage),
        largest: largest_document(cell),
        median: at(0.5),
        low: at(0.5 - away),
        high: at(0.5 + away),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(medians: &[f64]) -> GrowthCurve {
        let point = |(stage, median): (usize, &f64)| StagePoint {
            calls: 10_u64.pow(stage as u32 + 1),
            largest: 0,
            median: *median,
            low: median * 0.9,
            high: median * 1.1,
        };
        GrowthCurve { points: medians.iter().enumerate().map(point).collect() }
    }

    #[test]
    fn a_time_has_doubled_when_it_stays_above_twice_the_first() {
        let calls = |curve: GrowthCurve| curve.doubling().map(|(from, to)| (from.calls, to.calls));
        assert_eq!(calls(curve(&[1.0, 1.1, 3.0, 1.2, 4.0, 9.0])), Some((10_000, 100_000)));
        assert_eq!(calls(curve(&[1.0, 1.1, 2.2])), None, "the intervals of 2.2 and twice 1.0 overlap");
        assert_eq!(calls(curve(&[])), None);
    }

    #[test]
    fn the_exponent_is_that_of_the_last_decade() {
        let points = [10, 100, 200, 400, 1000].map(|calls| StagePoint {
            calls,
            largest: 0,
            median: if calls < 100 { 50.0 } else { calls as f64 },
            low: 0.0,
            high: 0.0,
        });
        let slope = GrowthCurve { points: points.to_vec() }.exponent().unwrap();
        assert!((slope - 1.0).abs() < 1e-9, "{slope}");
        assert_eq!(curve(&[1.0, 2.0]).exponent(), None);
    }
}
