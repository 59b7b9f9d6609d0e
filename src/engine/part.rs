//! What a slice runs, and what an experiment gives it in the open model.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::generate::{Label, Seed};
use crate::record::Recorder;
use crate::results::LoadModel;
use crate::server::Target;

use super::arrivals::ArrivalTimes;
use super::cell::Cell;
use super::experiment::Experiment;
use super::pacer::{Paced, Pacing};
use super::queue::DueQueue;

/// Names the arrival times of measured slices.
pub(super) const MEASURED_ARRIVALS: Label = Label::new("arrivals");

/// Names the arrival times of a warm-up's pieces.
pub(super) const WARM_UP_ARRIVALS: Label = Label::new("warm-up arrivals");

/// What a slice runs: calls up to a number, or for a length of time, and their times in the open model.
pub(super) struct Part {
    /// The length of the intervals that are told of.
    pub(super) every: Duration,
    pub(super) bounds: (u64, Option<Duration>),
    pub(super) arrivals: Option<(f64, ArrivalTimes)>,
}

impl<T: Target, G: Target> Experiment<'_, T, G> {
    /// What takes the measures of a load thread and of the pacer; the pilot is closed.
    pub(super) fn measures(&self, round: Option<u64>) -> (Recorder, Option<Paced>) {
        let (operations, timeout) = (self.plan.operations.len(), self.settings.timeout);
        match (round, self.settings.load) {
            (Some(_), LoadModel::Open { .. }) => (Recorder::open(operations, timeout), Some(Paced::new(timeout))),
            _ => (Recorder::new(operations, timeout), None),
        }
    }

    /// The rate and the times of a slice's calls; `None` in the closed model.
    pub(super) fn arrivals(&self, seed: Seed, label: Label, slice: u64) -> Option<(f64, ArrivalTimes)> {
        match self.settings.load {
            LoadModel::Closed => None,
            LoadModel::Open { rate, arrivals } => Some((rate, ArrivalTimes::new((rate, arrivals), seed, label, slice))),
        }
    }

    /// The calls of an open slice: from the next one up to `end`.
    pub(super) fn pacing(&self, cell: &Cell, end: u64, (rate, times): (f64, ArrivalTimes)) -> Pacing {
        let timeout = self.settings.timeout;
        Pacing {
            queue: Arc::new(DueQueue::new(rate, timeout)),
            times,
            calls: cell.next.load(Ordering::Relaxed)..end,
            timeout,
            stop: self.stop.clone(),
        }
    }
}
