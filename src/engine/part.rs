//! One slice of an arm: what it runs, and its running on all load threads.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::generate::{Label, Seed};
use crate::record::Recorder;
use crate::results::{LoadModel, SliceRecord};
use crate::server::Target;

use super::arrivals::ArrivalTimes;
use super::cell::Cell;
use super::error::RunError;
use super::event::{Event, Interval};
use super::experiment::Experiment;
use super::generators::share;
use super::machine::Ticks;
use super::pacer::{Paced, Pacing};
use super::queue::DueQueue;
use super::slice::{Slice, SliceInterval, close};
use super::thread::Job;

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

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
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

    /// Runs one slice of one arm.
    pub(super) async fn slice(
        &self,
        cell: &mut Cell,
        (round, arm): (Option<u64>, usize),
        seed: Seed,
        Part { every, bounds: (end, length), arrivals }: Part,
    ) -> Result<SliceRecord, RunError> {
        let pacing = arrivals.map(|arrivals| self.pacing(cell, end, arrivals));
        let due = pacing.as_ref().map(|pacing| Arc::clone(&pacing.queue));
        let (sender, mut intervals) = mpsc::unbounded_channel();
        let workers = share(self.settings.workers, self.generators.len());
        let recorders = std::mem::take(&mut cell.recorders).into_iter();
        let jobs = recorders.zip(workers).map(|((recorder, interval), workers)| Job {
            slice: Slice {
                plan: Arc::clone(&self.plan),
                arm,
                database: Arc::clone(&cell.database),
                seed,
                next: Arc::clone(&cell.next),
                end,
                length,
                due: due.clone(),
                workers,
                timeout: self.settings.timeout,
                stop: self.stop.clone(),
                interval: interval.unwrap_or_else(Instant::now),
                every,
            },
            recorder,
            intervals: sender.clone(),
        });
        let before = Ticks::read();
        let running = self.generators.run(jobs.collect(), pacing);
        drop(sender);
        let listening = async {
            while let Some(interval) = intervals.recv().await {
                self.log(round, arm, interval);
            }
        };
        let (results, ()) = tokio::join!(running, listening);
        let after = Ticks::read();
        let (results, paced) = results?;
        if let (Some(total), Some(paced)) = (&mut cell.paced, paced) {
            total.merge(&paced);
        }
        let seconds = results.iter().map(|result| result.seconds).fold(0.0, f64::max);
        let computing: Vec<_> = results.iter().map(|result| result.computing).collect();
        cell.machine.add((before, after), &computing, seconds);
        let mut fatal = None;
        for result in results {
            cell.connections_created += result.connections_created;
            fatal = fatal.or(result.fatal);
            cell.recorders.push((result.recorder, Some(result.interval)));
        }
        if due.is_some() {
            cell.next.store(end, Ordering::Relaxed);
        }
        // Workers that find no call left have counted on.
        cell.next.fetch_min(end, Ordering::Relaxed);
        cell.seconds += seconds;
        let before = cell.calls;
        cell.calls = cell.operations().map(|operation| operation.calls).sum();
        match fatal {
            Some(fatal) => Err(fatal.into()),
            None => Ok(SliceRecord { calls: cell.calls - before, seconds }),
        }
    }

    /// Tells of what the open intervals hold, when no slice follows.
    pub(super) fn close_intervals(&self, cell: &mut Cell, (round, arm): (Option<u64>, usize)) {
        for (recorder, start) in &mut cell.recorders {
            if let Some(start) = start.take() {
                close(recorder, start, &|interval| self.log(round, arm, interval));
            }
        }
    }

    fn log(&self, round: Option<u64>, arm: usize, interval: SliceInterval) {
        let Some(round) = round else { return };
        self.observer.event(&Event::Interval(&Interval {
            round,
            arm: self.plan.arms[arm].name.clone(),
            operation: self.plan.operations[interval.operation].name.to_string(),
            start: (interval.start - self.started).as_secs_f64(),
            length: interval.length.as_secs_f64(),
            histogram: interval.histogram,
        }));
    }
}
