//! The curves of a sweep: each pair of strategies, operation by operation and for the mix, over the points.

use std::collections::BTreeMap;

use crate::record::{METRICS, Metric};
use crate::results::{Part, Reason, RunRecord};
use crate::stats::arm_comparison::compared_arm;
use crate::stats::context::out_of_context;
use crate::stats::estimate::log_ratios;
use crate::stats::flip::equal_at;
use crate::stats::series::{RoundSeries, SeriesKey};
use crate::stats::{
    CollectionGrowth, Limits, OwnCost, SharedCache, cells, collection_growth, geometric_mean, inspected, judged,
    outcome_totals, own_cost,
};

use super::crossover::{Curve, CurveSample};
use super::record::{SweepRecord, condition_number};

/// What is compared over the points: a metric of an operation by itself, or of the mix. Calls per second are compared as the time
/// per call of a client: clients divided by calls per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweptQuantity {
    /// The part that measures it.
    pub part: Part,
    /// The operation's position; `None` for the mix.
    pub operation: Option<usize>,
    /// The place of its metric in [`METRICS`].
    row: usize,
}

/// A sweep with the runs of its points, ready to be compared.
#[derive(Debug)]
pub struct Swept<'s> {
    /// What was planned and done.
    pub record: &'s SweepRecord,
    /// The runs, in the order of the points.
    pub runs: &'s [RunRecord],
    /// The same by parts.
    pub points: Vec<SweptRun>,
    /// What some points have measured, operations first.
    pub quantities: Vec<SweptQuantity>,
    /// The positions of the strategies that are judged.
    pub strategies: Vec<usize>,
    limits: Limits,
}

/// Two strategies in one quantity over the first condition, for one value of the second.
#[derive(Debug, Clone, PartialEq)]
pub struct SweptPair {
    /// What is compared.
    pub quantity: SweptQuantity,
    /// The position of the first strategy.
    pub one: usize,
    /// The position of the second strategy.
    pub other: usize,
    /// The value of the second condition; empty without one.
    pub under: String,
    /// Their ratio over the first condition.
    pub curve: Curve,
}

/// What a point predicts of two strategies on a slower network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetworkPrediction {
    /// Round trips per call of the two strategies.
    pub round_trips: [f64; 2],
    /// The added latency in seconds at which they take the same time; `None` where there is none between the points.
    pub flip: Option<f64>,
    /// The most added latency that was measured, in seconds.
    pub most: f64,
    /// The ratio of their times there.
    pub ratio: f64,
}

impl<'s> Swept<'s> {
    /// Prepares the runs of a sweep's points, in their order.
    pub fn of(record: &'s SweepRecord, runs: &'s [RunRecord]) -> Swept<'s> {
        let points: Vec<SweptRun> = runs.iter().map(SweptRun::of).collect();
        let quantities = SweptQuantity::all(&points);
        let strategies = runs.first().map_or_else(Vec::new, |run| judged(run).collect());
        let limits = runs.first().map_or_else(Limits::default, |run| Limits::of(&run.settings));
        Swept { record, runs, points, quantities, strategies, limits }
    }

    /// Every pair of strategies in every quantity, except where an operation is the same program in both.
    pub fn pairs(&self) -> Vec<SweptPair> {
        let mut pairs = Vec::new();
        for &quantity in &self.quantities {
            for (place, &one) in self.strategies.iter().enumerate() {
                for &other in &self.strategies[place + 1..] {
                    if self.points.iter().all(|point| point.is_identical(quantity, one, other)) {
                        continue;
                    }
                    for under in self.record.second_values() {
                        let sample = |(x, point): (f64, &SweptRun)| {
                            let [one, other] = [one, other].map(|place| point.compared(quantity, place, self.limits));
                            CurveSample { x, log_ratios: log_ratios(&one, &other) }
                        };
                        let samples = self.points_under(&under).into_iter().map(sample);
                        let curve = Curve::of(samples.collect(), self.limits);
                        if !curve.points.is_empty() {
                            pairs.push(SweptPair { quantity, one, other, under, curve });
                        }
                    }
                }
            }
        }
        pairs
    }

    /// What the point with the least added latency predicts of a pair at the one with the most: every round trip takes that
    /// much longer. `None` unless both were measured, and at saturation, where other calls use the time.
    pub fn network_prediction(&self, pair: &SweptPair) -> Option<NetworkPrediction> {
        if pair.quantity.metric() != Metric::MEAN {
            return None;
        }
        let points = self.points_under(&pair.under);
        let by_latency = |one: &&(f64, &SweptRun), other: &&(f64, &SweptRun)| one.0.total_cmp(&other.0);
        let (least, most) = (points.iter().min_by(by_latency)?, points.iter().max_by(by_latency)?);
        if most.0 <= least.0 {
            return None;
        }
        let strategies = [pair.one, pair.other];
        let [one, other] = strategies.map(|place| geometric_mean(&least.1.compared(pair.quantity, place, self.limits)));
        let [one_trips, other_trips] = strategies.map(|place| least.1.round_trips(pair.quantity, place));
        let (one, other, one_trips, other_trips) = (one?, other?, one_trips?, other_trips?);
        let added = (most.0 - least.0) * 1e9;
        let flip = least.0 + equal_at([one, other], [one_trips, other_trips]) / 1e9;
        Some(NetworkPrediction {
            round_trips: [one_trips, other_trips],
            flip: Some(flip).filter(|flip| flip.is_finite() && (least.0..=most.0).contains(flip)),
            most: most.0,
            ratio: (one + one_trips * added) / (other + other_trips * added),
        })
    }

    /// Why a strategy is not compared at a point, by its place among the points.
    pub fn obstacle(&self, point: usize, quantity: SweptQuantity, strategy: usize) -> Option<Reason> {
        self.points.get(point)?.obstacle(quantity, strategy, self.limits)
    }

    /// The usable points with this value of the second condition, by the number that the first one has there.
    fn points_under(&self, under: &str) -> Vec<(f64, &SweptRun)> {
        let is_under = |values: &[String]| values.get(1).is_none_or(|value| value == under);
        let points = self.record.points.iter().zip(&self.points);
        let usable = points.filter(|(point, _)| point.error.is_none() && is_under(&point.values));
        usable.filter_map(|(point, run)| Some((condition_number(point.values.first()?)?, run))).collect()
    }
}

/// A run at a point of a sweep, by parts.
#[derive(Debug, Clone)]
pub struct SweptRun {
    parts: BTreeMap<Part, RunRecord>,
    cache: SharedCache,
}

impl SweptRun {
    fn of(run: &RunRecord) -> SweptRun {
        let parts = run.all_parts();
        SweptRun { cache: SharedCache::of(&parts), parts }
    }

    /// The times of a strategy per round, in nanoseconds; nothing where they were not measured.
    pub fn times(&self, quantity: SweptQuantity, strategy: usize) -> Vec<Option<f64>> {
        let Some(part) = self.parts.get(&quantity.part) else { return Vec::new() };
        let numbers = RoundSeries::of(part, SeriesKey::new(quantity.metric(), strategy, quantity.operation)).rounds;
        if quantity.metric() != Metric::Throughput {
            return numbers;
        }
        let time = |rate: f64| part.settings.clients as f64 / rate * 1e9;
        numbers.into_iter().map(|rate| rate.map(time)).collect()
    }

    /// The same where they may be compared.
    fn compared(&self, quantity: SweptQuantity, strategy: usize, limits: Limits) -> Vec<Option<f64>> {
        let may_be = self.obstacle(quantity, strategy, limits).is_none();
        if may_be { self.times(quantity, strategy) } else { Vec::new() }
    }

    /// Why a strategy is not compared: a run would not compare it either.
    fn obstacle(&self, quantity: SweptQuantity, strategy: usize, limits: Limits) -> Option<Reason> {
        let part = self.parts.get(&quantity.part)?;
        let arm = compared_arm(part, SeriesKey::new(quantity.metric(), strategy, quantity.operation));
        let mix = [Part::Rate, Part::Saturation].into_iter().find_map(|part| self.parts.get(&part));
        let own = mix.zip(quantity.operation.filter(|_| quantity.part == Part::Own));
        let is_other_work = || own.and_then(|(mix, operation)| out_of_context(part, mix, strategy, operation));
        is_other_work().or_else(|| arm.beside_others(&self.cache).obstacle(limits))
    }

    /// What an operation costs a strategy by itself; `None` for the mix.
    pub fn own_cost(&self, quantity: SweptQuantity, strategy: usize) -> Option<OwnCost> {
        own_cost(self.parts.get(&Part::Own)?, strategy, quantity.operation?)
    }

    /// The collections of a strategy after its calls.
    pub fn collections(&self, strategy: usize) -> Vec<CollectionGrowth> {
        inspected(&self.parts).map_or_else(Vec::new, |part| collection_growth(part, strategy))
    }

    /// The round trips per call of a strategy.
    fn round_trips(&self, quantity: SweptQuantity, strategy: usize) -> Option<f64> {
        let part = self.parts.get(&quantity.part)?;
        let is_meant = |place: usize| quantity.operation.is_none_or(|operation| operation == place);
        let operations = cells(part, strategy).flat_map(|cell| cell.operations.iter().enumerate());
        outcome_totals(operations.filter(|(place, _)| is_meant(*place)).map(|(_, one)| one)).round_trips_per_call()
    }

    /// Whether an operation is the same program in two strategies, so that a difference is noise.
    pub fn is_identical(&self, quantity: SweptQuantity, one: usize, other: usize) -> bool {
        let own = self.parts.get(&Part::Own).zip(quantity.operation);
        own.is_some_and(|(own, operation)| own.is_identical(one, other, operation))
    }
}

impl SweptQuantity {
    /// All quantities that some points have, operations first.
    pub fn all(points: &[SweptRun]) -> Vec<SweptQuantity> {
        let operations = points.iter().flat_map(|point| point.parts.values()).map(|part| part.operations.len());
        let own: Vec<Option<usize>> = (0..operations.max().unwrap_or(0)).map(Some).collect();
        let quantities = Part::ALL.into_iter().flat_map(|part| {
            let operations: &[Option<usize>] = if part == Part::Own { &own } else { &[None] };
            let rows = METRICS.iter().enumerate().filter(move |(_, metric)| metric.swept.contains(&part));
            rows.flat_map(move |(row, _)| {
                operations.iter().map(move |&operation| SweptQuantity { part, operation, row })
            })
        });
        let is_measured =
            |quantity: &SweptQuantity| points.iter().any(|point| point.times(*quantity, 0).iter().any(Option::is_some));
        quantities.filter(is_measured).collect()
    }

    /// What is measured.
    pub fn metric(self) -> Metric {
        METRICS[self.row].metric
    }
}
