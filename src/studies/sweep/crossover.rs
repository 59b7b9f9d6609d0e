//! Where one strategy becomes faster than another while a condition changes.
//!
//! At each value of the condition there is a ratio of times with a confidence interval. Between two values, the ratio and
//! both ends of its interval are lines, on logarithmic axes where all values are positive. The order of two strategies flips
//! where the ratio crosses 1; the range of the flip is where the two ends do (inversion of a confidence band, as for
//! calibration curves).

use crate::results::{Reason, Verdict};
use crate::stats::compare::{Judge, Limits, Quantity};
use crate::stats::estimate::{ConfidenceInterval, Estimate};
use crate::stats::student::t_quantile;

/// The rounds of two strategies at one value of the condition.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveSample {
    /// The value.
    pub x: f64,
    /// ln(time / other time) per round.
    pub log_ratios: Vec<Option<f64>>,
}

/// The ratio of two strategies at one value of the condition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// The value.
    pub x: f64,
    /// The geometric mean of time / other time.
    pub ratio: f64,
    /// Its interval; all points together are covered with 95 % confidence (Bonferroni). `None` with a single round.
    pub interval: Option<ConfidenceInterval>,
    /// What the interval says of the first strategy.
    pub verdict: Verdict,
}

/// A change of the order between two values of the condition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flip {
    /// The verdict on the first strategy below.
    pub below: Verdict,
    /// Where the first end of the interval crosses 1.
    pub low: f64,
    /// Where the ratio crosses 1.
    pub at: f64,
    /// Where the other end crosses 1.
    pub high: f64,
}

/// The ratio of two strategies over a condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// In the order of the values.
    pub points: Vec<CurvePoint>,
    /// The changes of the order that the intervals show.
    pub flips: Vec<Flip>,
}

impl Curve {
    /// Computes a curve, judged by the limits of its runs.
    pub fn of(mut settings: Vec<CurveSample>, limits: Limits) -> Curve {
        settings.sort_by(|one, other| one.x.total_cmp(&other.x));
        let count = settings.len().max(1) as f64;
        let points: Vec<CurvePoint> =
            settings.iter().filter_map(|setting| CurvePoint::of(setting, 0.05 / count, limits)).collect();
        let flips = flips(&points);
        Curve { points, flips }
    }

    /// The order at the decided points, when it is the same at all of them.
    pub fn order(&self) -> Option<Verdict> {
        let mut decided = self.points.iter().filter_map(|point| point.verdict.shown());
        let first = decided.next()?;
        decided.all(|order| order == first).then_some(first)
    }

    /// The values between which a flip lies, or where the order is not decided next to a decided one: where another value
    /// would say most.
    pub fn gaps(&self) -> Vec<(f64, f64)> {
        let pairs = self.points.windows(2).filter(|pair| pair[0].verdict.shown() != pair[1].verdict.shown());
        pairs.map(|pair| (pair[0].x, pair[1].x)).collect()
    }
}

impl CurvePoint {
    fn of(setting: &CurveSample, error: f64, limits: Limits) -> Option<CurvePoint> {
        let estimate = Estimate::of(&setting.log_ratios)?;
        let critical =
            if estimate.rounds > 1 { t_quantile(1.0 - error / 2.0, estimate.rounds - 1) } else { f64::INFINITY };
        let interval = estimate.interval(critical);
        let judge = Judge { quantity: Quantity::Time, critical: Some(critical), band: None, limits };
        let verdict = match interval {
            Some(_) => judge.verdict(&estimate, true),
            None => Verdict::Inconclusive(Reason::TooFewRounds(estimate.rounds)),
        };
        Some(CurvePoint { x: setting.x, ratio: estimate.ratio(), interval, verdict })
    }
}

fn flips(points: &[CurvePoint]) -> Vec<Flip> {
    let is_log = points.iter().all(|point| point.x > 0.0);
    let decided: Vec<usize> = (0..points.len()).filter(|place| points[*place].verdict.is_difference()).collect();
    let pairs = decided.windows(2).filter(|pair| points[pair[0]].verdict != points[pair[1]].verdict);
    let flip = |pair: &[usize]| {
        let between = &points[pair[0]..=pair[1]];
        let cross = |value: fn(&CurvePoint) -> Option<f64>| crossings(between, is_log, value);
        let ends = [cross(|point| Some(point.interval?.low)), cross(|point| Some(point.interval?.high))];
        let ends: Vec<f64> = ends.into_iter().flatten().collect();
        let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let at = *cross(|point| Some(point.ratio)).first()?;
        (low <= high).then_some(Flip { below: between[0].verdict, low, at, high })
    };
    pairs.filter_map(flip).collect()
}

/// The values at which the line through some points crosses 1, on a logarithmic or linear axis of the condition.
fn crossings(points: &[CurvePoint], is_log: bool, value: fn(&CurvePoint) -> Option<f64>) -> Vec<f64> {
    let place = |x: f64| if is_log { x.ln() } else { x };
    let segment = |pair: &[CurvePoint]| {
        let (from, to) = (value(&pair[0])?.ln(), value(&pair[1])?.ln());
        let (left, right) = (place(pair[0].x), place(pair[1].x));
        let at = left + (right - left) * from / (from - to);
        ((from < 0.0) != (to < 0.0)).then_some(if is_log { at.exp() } else { at })
    };
    points.windows(2).filter_map(segment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits { noise: 0.02_f64.exp_m1(), ..Limits::default() }
    }

    /// Rounds around a mean log ratio, 1 % apart.
    fn setting(x: f64, mean: f64) -> CurveSample {
        let log_ratios = [-0.01, 0.0, 0.01, 0.01, 0.0, -0.01].map(|noise| Some(mean + noise)).to_vec();
        CurveSample { x, log_ratios }
    }

    fn curve(points: &[(f64, f64)]) -> Curve {
        Curve::of(points.iter().map(|(x, mean)| setting(*x, *mean)).collect(), limits())
    }

    #[test]
    fn a_flip_has_a_range_on_logarithmic_axes() {
        let curve = curve(&[(10.0, -1.0), (100.0, -0.5), (10_000.0, 0.5)]);
        let [flip] = curve.flips[..] else { panic!("{curve:?}") };
        assert_eq!(flip.below, Verdict::Faster);
        assert!((flip.at - 1000.0).abs() < 1.0, "{flip:?}");
        assert!(flip.low < flip.at && flip.at < flip.high && flip.low > 900.0 && flip.high < 1100.0, "{flip:?}");
        assert_eq!(curve.gaps(), [(100.0, 10_000.0)]);
        assert_eq!(curve.order(), None);
    }

    #[test]
    fn undecided_points_widen_the_range() {
        let narrow = curve(&[(1.0, -0.5), (100.0, 0.5)]).flips[0];
        let wide = curve(&[(1.0, -0.5), (10.0, -0.005), (20.0, 0.005), (100.0, 0.5)]);
        let [flip] = wide.flips[..] else { panic!("{wide:?}") };
        assert!(flip.low < 10.0 && flip.high > 20.0, "{flip:?}");
        assert!(flip.high / flip.low > narrow.high / narrow.low, "{flip:?} {narrow:?}");
    }

    #[test]
    fn several_flips_are_all_found() {
        let curve = curve(&[(1.0, 0.4), (10.0, -0.4), (100.0, 0.4)]);
        assert_eq!(curve.flips.iter().map(|flip| flip.below).collect::<Vec<_>>(), [Verdict::Slower, Verdict::Faster]);
    }

    #[test]
    fn no_flip_is_an_answer() {
        let curve = curve(&[(0.0, -0.4), (0.05, -0.2), (1.0, -0.001)]);
        assert_eq!((curve.flips.len(), curve.order()), (0, Some(Verdict::Faster)));
        assert_eq!(curve.points[2].verdict, Verdict::Same { within: 0.02_f64.exp_m1() });
    }

    #[test]
    fn one_round_decides_nothing() {
        let one = CurveSample { x: 1.0, log_ratios: vec![Some(0.7)] };
        let curve = Curve::of(vec![one], limits());
        let few = Verdict::Inconclusive(Reason::TooFewRounds(1));
        assert_eq!((curve.points[0].verdict, curve.points[0].interval), (few, None));
    }
}
