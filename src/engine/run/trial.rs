//! Trials: one rate on one arm, as a search for capacity needs them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::engine::load::slice::{Interval, SliceEnd};
use crate::record::{LatencyHistogram, Part};
use crate::results::{OpenRecord, OperationRecord};
use crate::server::Target;

use super::error::Result;
use super::event::{Event, Observer, RunPhase};
use super::experiment::Experiment;
use super::slice_spec::{ARRIVALS, SliceSpec};

/// What is tried. The rate is that of the experiment's settings, which must be those of open load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// The arm's position in the plan.
    pub arm: usize,
    /// The round, from 0. All trials of a round make the same calls.
    pub round: u64,
    /// Tells its database from those of other trials.
    pub number: u64,
    /// Measured calls.
    pub calls: u64,
    /// Calls before them.
    pub warmup: u64,
    /// The length of a batch of calls. Batches follow each other without a pause, so that a backlog can grow.
    pub batch: Duration,
}

/// All that was measured at one rate. Not kept on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct RateRecord {
    /// What fell due, and what became of it.
    pub open: OpenRecord,
    /// An entry per operation, in the run's order.
    pub operations: Vec<OperationRecord>,
    /// The successful calls in batches of equal length, without the empty ones.
    pub batches: Vec<BatchRecord>,
}

/// The successful calls that ended in one batch.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchRecord {
    /// When it began, in seconds.
    pub start: f64,
    /// Response times by the operation's position in the plan.
    pub times: Vec<(usize, LatencyHistogram)>,
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Tries the rate of the settings on a fresh database; `None` when the settings are those of closed load.
    ///
    /// # Errors
    /// As [`RunError`](super::error::RunError) says. The database is dropped in any case.
    pub async fn trial(&self, trial: Trial) -> Result<Option<RateRecord>> {
        let batches = Batches { observer: self.observer, batch: trial.batch, times: RefCell::default() };
        let batched = Experiment { observer: &batches, ..self.share() };
        let tried = batched.on_databases(false, batched.run_trial(trial)).await?;
        Ok(tried.map(|tried| RateRecord { batches: batches.finish(), ..tried }))
    }

    async fn run_trial(&self, trial: Trial) -> Result<Option<RateRecord>> {
        let Trial { arm, round, number, calls, warmup, batch } = trial;
        let load = self.settings.load;
        let mut cell = self.provision(Some(number), RunPhase::Load, arm).await?;
        cell.round = Some(round);
        self.phase(Some(round), arm, RunPhase::WarmUp);
        self.warm_up(&mut cell, warmup, load).await?;
        self.flush(&[arm]).await?;
        self.phase(Some(round), arm, RunPhase::Measure(Part::Rate));
        cell.begin(self.recorders(arm, load));
        let end = warmup + calls;
        let open = self.open_load(&mut cell, load, ARRIVALS, end);
        let spec = SliceSpec { every: batch, open, logged: Some(Part::Rate), ..self.unlogged(SliceEnd::AtCall(end)) };
        self.run_slice(&mut cell, spec).await?;
        self.stop.check()?;
        self.close_intervals(&mut cell, Part::Rate);
        Ok(cell.into_rate())
    }
}

/// Collects the times of successful calls in batches and forwards all other events.
struct Batches<'o> {
    observer: &'o dyn Observer,
    batch: Duration,
    /// Per batch and operation.
    times: RefCell<BTreeMap<u64, BTreeMap<usize, LatencyHistogram>>>,
}

impl Batches<'_> {
    fn add(&self, start: Duration, interval: &Interval) {
        // Every load thread has its own intervals, which start at nearly the same time. The rest after the last whole batch
        // is added to it: as a batch its few calls, mostly slow ones, would weigh as much as the others.
        let batch = self.batch.as_secs_f64();
        let is_rest = interval.length.as_secs_f64() < batch * 0.9;
        let place = ((start.as_secs_f64() / batch).round() as u64).saturating_sub(u64::from(is_rest));
        let mut times = self.times.borrow_mut();
        let times = times.entry(place).or_default().entry(interval.operation);
        times.and_modify(|times| times.merge(&interval.histogram)).or_insert_with(|| (*interval.histogram).clone());
    }

    fn finish(self) -> Vec<BatchRecord> {
        let start = |place: u64| place as f64 * self.batch.as_secs_f64();
        let batches = self.times.into_inner().into_iter();
        batches.map(|(place, times)| BatchRecord { start: start(place), times: times.into_iter().collect() }).collect()
    }
}

impl Observer for Batches<'_> {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Interval { start, interval, .. } => self.add(*start, interval),
            other => self.observer.event(other),
        }
    }
}
