//! One slice of a cell: what it runs, and how it runs on all load threads.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::engine::load::arrivals::ArrivalTimes;
use crate::engine::load::job_watch::JobWatch;
use crate::engine::load::load_threads::{Job, split_clients};
use crate::engine::load::pacer::Pacing;
use crate::engine::load::slice::{INTERVAL, Interval, Load, SaturatedPart, Slice, SliceEnd, close_interval};
use crate::generate::{Label, Seed};
use crate::record::Part;
use crate::results::{LoadModel, SliceRecord};
use crate::server::Target;

use super::cell::ArmRound;
use super::error::Result;
use super::event::Event;
use super::experiment::Experiment;
use super::machine::CpuTicks;

/// Labels the intended starts of measured slices.
pub(super) const ARRIVALS: Label = Label::new("arrivals");

/// Labels the intended starts of the pieces of a warm-up.
pub(super) const WARM_UP_ARRIVALS: Label = Label::new("warm-up arrivals");

/// What a slice runs.
pub(super) struct SliceSpec {
    /// The length of the intervals of the latency log.
    pub(super) every: Duration,
    /// The calls in flight.
    pub(super) clients: usize,
    /// When it ends; of listed calls, the position in the list.
    pub(super) end: SliceEnd,
    /// The indexes of the calls of closed load, when they are not the next ones of the cell.
    pub(super) listed: Option<Arc<[u64]>>,
    /// The window of open load.
    pub(super) open: Option<Pacing>,
    /// The part under which its intervals are logged.
    pub(super) logged: Option<Part>,
    /// The operation of all its calls, where its cost is measured.
    pub(super) operation: Option<usize>,
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// A slice of closed load that is not logged.
    pub(super) fn unlogged(&self, end: SliceEnd) -> SliceSpec {
        let clients = self.settings.clients;
        SliceSpec { every: INTERVAL, clients, end, listed: None, open: None, logged: None, operation: None }
    }

    /// The seed of a cell's calls.
    fn seed_of(&self, cell: &ArmRound) -> Seed {
        self.plan.round_seed(cell.round.unwrap_or(0))
    }

    /// The calls of a window of open load, up to its end, as far as they are not yet released; `None` with closed load.
    pub(super) fn open_load(&self, cell: &mut ArmRound, load: LoadModel, label: Label, end: u64) -> Option<Pacing> {
        let LoadModel::Open { rate, arrivals } = load else { return None };
        cell.pacing.take().or_else(|| {
            let times = ArrivalTimes::new(rate, arrivals, self.seed_of(cell), label);
            let calls = cell.next.load(Ordering::Relaxed)..end;
            Some(Pacing::new(times, calls, self.settings.timeout(), self.stop.clone()))
        })
    }

    /// Runs one slice of a cell on all load threads.
    pub(super) async fn run_slice(&self, cell: &mut ArmRound, spec: SliceSpec) -> Result<SliceRecord> {
        let SliceSpec { every, clients, end, listed, open, logged, operation } = spec;
        self.turn(cell.arm).await?;
        let (load_threads, timeout) = (self.servers.load_threads(cell.arm), self.settings.timeout());
        let mut pacing = open;
        if let (Some(window), SliceEnd::AtCall(end)) = (&mut pacing, end) {
            if window.is_ahead_of(end) {
                // Its calls fell due while an earlier slice was late; those that still wait are for a later one.
                cell.pacing = pacing;
                return Ok(SliceRecord::default());
            }
            window.begin(end);
        }
        let load = match (&pacing, listed) {
            (Some(pacing), _) => Load::Open(pacing.queue()),
            (None, Some(calls)) => Load::listed(calls, end),
            (None, None) => Load::Closed { next: Arc::clone(&cell.next), end, listed: None },
        };
        let (sender, mut intervals) = mpsc::unbounded_channel();
        let watch = JobWatch::of(&self.plan);
        let recorders = std::mem::take(&mut cell.recorders).into_iter();
        let clients = split_clients(clients, load_threads.count());
        let jobs = recorders.zip(clients).map(|((recorder, interval), clients)| Job {
            slice: Slice {
                plan: Arc::clone(&self.plan),
                arm: cell.arm,
                database: Arc::clone(&cell.database),
                seed: self.seed_of(cell),
                load: load.clone(),
                clients,
                timeout,
                round_trip: Duration::from_secs_f64(self.settings.rtt),
                stop: self.stop.clone(),
                interval: interval.unwrap_or_else(Instant::now),
                every,
                jobs: watch.clone(),
            },
            recorder,
            intervals: sender.clone(),
        });
        let before = CpuTicks::read();
        let jobs = jobs.collect();
        drop(sender);
        let logging = async {
            while let Some(interval) = intervals.recv().await {
                if let Some(part) = logged {
                    self.log(cell, part, &interval);
                }
            }
        };
        let (results, ()) = tokio::join!(load_threads.run(jobs, &mut pacing), logging);
        let ticks = before.zip(CpuTicks::read());
        let results = results?;
        let seconds = results.iter().map(|result| result.seconds).fold(0.0, f64::max);
        cell.machine.add(ticks, results.iter().map(|result| result.cpu_time), seconds);
        let saturated = SaturatedPart::combined(results.iter().map(|result| result.saturated));
        let mut fatal = None;
        for result in results {
            cell.record.connections_created += result.connections_created;
            fatal = fatal.or(result.fatal);
            cell.recorders.push((result.recorder, Some(result.interval)));
        }
        // The pacer counts the calls of open load; clients of closed load that found no call left have counted on.
        if let Some(window) = pacing {
            cell.next.store(window.next(), Ordering::Relaxed);
            cell.pacing = Some(window).filter(|window| !window.is_over());
        } else if let (Load::Closed { listed: None, .. }, SliceEnd::AtCall(end)) = (load, end) {
            cell.next.fetch_min(end, Ordering::Relaxed);
        }
        cell.record.seconds += seconds;
        let before = cell.record.calls;
        cell.record.calls = cell.operations().map(|operation| operation.calls).sum();
        if let Some(fatal) = fatal {
            return Err(fatal.into());
        }
        let calls = cell.record.calls - before;
        Ok(SliceRecord {
            calls,
            seconds,
            saturated_calls: saturated.calls,
            saturated_seconds: saturated.seconds,
            operation,
        })
    }

    /// Logs what the open intervals contain, when no slice follows.
    pub(super) fn close_intervals(&self, cell: &mut ArmRound, part: Part) {
        let mut recorders = std::mem::take(&mut cell.recorders);
        for (recorder, start) in &mut recorders {
            if let Some(start) = start.take() {
                close_interval(recorder, start, &|interval| self.log(cell, part, &interval));
            }
        }
        cell.recorders = recorders;
    }

    fn log(&self, cell: &ArmRound, part: Part, interval: &Interval) {
        let Some(round) = cell.round else { return };
        let (arm, operation) = (&self.plan.arms[cell.arm].name, &self.plan.operations[interval.operation].name);
        let start = interval.start - self.started;
        self.observer.event(&Event::Interval { round, part, arm, operation, start, interval });
    }
}
