//! Whether own times, weighted by the mix, predict how strategies compare in the measured mix. Only then are other mixes
//! estimated from them, wherever that is: flips, the what-if and the matrix ask here.

use std::collections::BTreeMap;

use crate::record::{Metric, Part};
use crate::results::RunRecord;

use super::estimate::{Estimate, log_ratios};
use super::flip::MixEstimate;
use super::series::{RoundSeries, SeriesKey};
use super::value;
use super::view::{judged, loaded};

/// Which strategies own times predict.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The fastest one in the mix, which the others are compared with.
    pub best: usize,
    /// Those that are predicted.
    pub held: Vec<usize>,
    /// The others.
    pub failed: Vec<FailedPrediction>,
}

/// A strategy that own times do not predict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FailedPrediction {
    /// The strategy.
    pub strategy: usize,
    /// The part in which they fail.
    pub part: Part,
    /// Its estimated and its measured time divided by that of the best; `None` where not every operation has a time.
    pub ratios: Option<(f64, f64)>,
}

impl Prediction {
    /// From the parts of a run; `None` without own costs, or without a measured mix of two judged strategies.
    pub fn of(parts: &BTreeMap<Part, RunRecord>) -> Option<Prediction> {
        let own = parts.get(&Part::Own)?;
        let mix = loaded(parts)?;
        let judged: Vec<usize> = judged(own).collect();
        let times = judged.iter().filter_map(|place| Some((*place, mix_time(mix, *place)?)));
        let (best, _) = times.min_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let estimate = MixEstimate::new(own);
        let mut found = Prediction { best, held: Vec::new(), failed: Vec::new() };
        for strategy in judged.into_iter().filter(|place| *place != best) {
            let ratios = estimate.ratio(strategy, best).zip(mix_ratio(mix, strategy, best));
            if ratios.is_some_and(|(_, measured)| estimate.agrees(strategy, best, measured, own.settings.noise)) {
                found.held.push(strategy);
            } else {
                found.failed.push(FailedPrediction { strategy, part: mix.part?, ratios });
            }
        }
        (!found.held.is_empty() || !found.failed.is_empty()).then_some(found)
    }

    /// Whether own times predict how two strategies compare.
    pub fn holds(&self, one: usize, other: usize) -> bool {
        let is_known = |strategy: usize| strategy == self.best || self.held.contains(&strategy);
        is_known(one) && is_known(other)
    }
}

/// The time of a call of the mix in nanoseconds: at saturation that of a client, who makes one call after the other.
pub fn mix_time(mix: &RunRecord, strategy: usize) -> Option<f64> {
    let number = value(mix, mix_metric(mix), strategy, None)?;
    let is_rate = mix_metric(mix) == Metric::Throughput;
    Some(if is_rate { mix.settings.clients as f64 / number * 1e9 } else { number })
}

/// The time of a call of the mix divided by that of another strategy: the ratio that is tested.
pub fn mix_ratio(mix: &RunRecord, strategy: usize, against: usize) -> Option<f64> {
    let metric = mix_metric(mix);
    let rounds = |strategy| RoundSeries::of(mix, SeriesKey::new(metric, strategy, None)).rounds;
    let ratio = Estimate::of(&log_ratios(&rounds(strategy), &rounds(against)))?.ratio();
    Some(if metric == Metric::Throughput { ratio.recip() } else { ratio })
}

fn mix_metric(mix: &RunRecord) -> Metric {
    if mix.part == Some(Part::Saturation) { Metric::Throughput } else { Metric::MEAN }
}
