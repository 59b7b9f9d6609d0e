//! The curves of a sweep: each pair of strategies, operation by operation and for the mix, over the points.

use std::collections::{BTreeMap, BTreeSet};

use crate::results::{Part, RunRecord};

use super::crossover::{Curve, CurveSample};
use super::estimate::log_ratios;
use super::mix::times;
use super::{cell_rate, cells};

/// What is compared over the points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SweptQuantity {
    /// The mean time of an operation by itself. Has the operation's position.
    Own(usize),
    /// The mean response time of the mix at the common rate.
    Rate,
    /// The time per call of the mix at saturation: clients divided by calls per second.
    Saturation,
}

/// A run at a point of a sweep, by parts.
#[derive(Debug, Clone)]
pub struct SweptRun {
    parts: BTreeMap<Part, RunRecord>,
}

impl SweptRun {
    /// Divides a run into its parts.
    pub fn of(run: &RunRecord) -> SweptRun {
        SweptRun { parts: run.all_parts() }
    }

    /// The times of a strategy per round, in nanoseconds; nothing where they were not measured.
    pub fn times(&self, quantity: SweptQuantity, strategy: usize) -> Vec<Option<f64>> {
        let Some(part) = self.parts.get(&quantity.part()) else { return Vec::new() };
        match quantity {
            SweptQuantity::Own(operation) => times(part, strategy, Some(operation)),
            SweptQuantity::Rate => times(part, strategy, None),
            SweptQuantity::Saturation => {
                let time = |rate: f64| part.settings.clients as f64 / rate * 1e9;
                cells(part, strategy).map(|cell| cell_rate(cell, &part.settings).map(time)).collect()
            }
        }
    }

    /// Whether an operation is the same program in two strategies, so that a difference is noise.
    pub fn is_identical(&self, quantity: SweptQuantity, one: usize, other: usize) -> bool {
        let SweptQuantity::Own(operation) = quantity else { return false };
        let Some(own) = self.parts.get(&Part::Own) else { return false };
        own.is_identical(one, other, operation)
    }
}

impl SweptQuantity {
    /// All quantities that some points have, operations first.
    pub fn all(points: &[SweptRun]) -> Vec<SweptQuantity> {
        let mut all = BTreeSet::new();
        for part in points.iter().flat_map(|point| point.parts.values()) {
            match part.part {
                Some(Part::Own) => all.extend((0..part.operations.len()).map(SweptQuantity::Own)),
                Some(Part::Rate) => all.extend([SweptQuantity::Rate]),
                Some(Part::Saturation) => all.extend([SweptQuantity::Saturation]),
                None => {}
            }
        }
        let is_measured =
            |quantity: &SweptQuantity| points.iter().any(|point| point.times(*quantity, 0).iter().any(Option::is_some));
        all.into_iter().filter(is_measured).collect()
    }

    /// The part that measures it.
    pub fn part(self) -> Part {
        match self {
            SweptQuantity::Own(_) => Part::Own,
            SweptQuantity::Rate => Part::Rate,
            SweptQuantity::Saturation => Part::Saturation,
        }
    }

    /// The curve of strategy `one` compared with `other` over points and their values, with a noise floor as a log ratio.
    pub fn curve(self, points: &[(f64, &SweptRun)], one: usize, other: usize, floor: f64) -> Curve {
        let setting = |(x, point): &(f64, &SweptRun)| {
            let log_ratios = log_ratios(&point.times(self, one), &point.times(self, other));
            CurveSample { x: *x, log_ratios }
        };
        Curve::of(points.iter().map(setting).collect(), floor)
    }
}
