//! The course of a run: a pilot that sets the number of calls, then rounds in which every arm gets fresh databases and
//! the same calls, cut into slices that alternate between the arms.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::generate::{Label, Seed, Stream};
use crate::plan::Plan;
use crate::record::Recorder;
use crate::results::{CollectionSizes, GrowthSample, RoundRecord};
use crate::server::namespace::{self, NamespaceError};
use crate::server::{Failure, Target};

use super::cell::Cell;
use super::event::{Event, Interval, Observer, Phase};
use super::generators::{Generators, share};
use super::inspect;
use super::load::{LoadError, Loader};
use super::thread::{Job, ThreadError};
use super::window::{Fatal, Slice, SliceInterval, Stop, answers, close};

/// Measured calls are numbered from here on in the pilot, so that it makes none of those that count.
const PILOT_CALLS: u64 = 500_000_000;

/// A slice has at least so many calls per worker.
const CALLS_PER_WORKER: u64 = 8;

/// How often followed documents are looked at in a window.
const SAMPLES: u64 = 16;

/// A window may take so many times its planned length before the arm's remaining slices are dropped.
const PATIENCE: f64 = 3.0;

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Window {
    /// So many calls, and before them so many that are not recorded.
    Calls {
        /// Recorded.
        calls: u64,
        /// Not recorded.
        warmup: u64,
        /// Seconds that the slowest arm is expected to take, when a pilot has told.
        seconds: Option<f64>,
    },
    /// So many seconds per arm; the arms then make different numbers of calls.
    Timed {
        /// Recorded.
        seconds: f64,
        /// Not recorded.
        warmup: f64,
    },
}

/// How a run is made.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Tells the databases of this run from those of others.
    pub id: String,
    /// Calls in flight, over all load threads.
    pub workers: usize,
    /// Slices per window; fewer where a slice would have hardly any calls.
    pub slices: u64,
    /// After which a call has failed.
    pub timeout: Duration,
    /// Leave the databases of the finished rounds; those of the pilot and of a round that fails are dropped.
    pub keep: bool,
}

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// An arm could not be filled.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A database could not be made or dropped.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The server refused to tell sizes or to flush.
    #[error("the sizes of strategy {arm} cannot be read: {failure}")]
    Inspect {
        /// The strategy.
        arm: String,
        /// Why.
        failure: Failure,
    },
    /// The calls could not go on.
    #[error(transparent)]
    Fatal(#[from] Fatal),
    /// A load thread is gone.
    #[error(transparent)]
    Thread(#[from] ThreadError),
    /// No call succeeded, so there is nothing to plan with.
    #[error("strategy {arm} finished no call in {seconds} s; look at its steps, or give --calls")]
    NoCalls {
        /// The strategy.
        arm: String,
        /// How long it tried.
        seconds: f64,
    },
    /// No call of an operation succeeds, which is a mistake of the scenario rather than something to measure.
    #[error("strategy {arm}, operation {operation}: all of its {calls} calls failed: {message}; look at its steps")]
    AlwaysFails {
        /// The strategy.
        arm: String,
        /// The operation.
        operation: String,
        /// How many.
        calls: u64,
        /// The server's words for the first.
        message: String,
    },
    /// The user stopped the run.
    #[error("interrupted")]
    Interrupted,
}

/// A run on one server.
pub struct Experiment<'e, T, G> {
    /// The scenario.
    pub plan: Arc<Plan>,
    /// How it is made.
    pub settings: Settings,
    /// Makes and reads databases.
    pub target: &'e T,
    /// Makes the calls.
    pub generators: &'e Generators<G>,
    /// Is told what happens.
    pub observer: &'e dyn Observer,
    /// Set when the user wants to stop.
    pub stop: Stop,
    /// When the run began.
    pub started: Instant,
}

impl<T: Target, G: Target> Experiment<'_, T, G> {
    /// Runs every arm for so many seconds and gives the calls per second of the slowest.
    ///
    /// # Errors
    /// As [`RunError`] says. The pilot's databases are dropped in any case.
    pub async fn pilot(&self, seconds: f64) -> Result<f64, RunError> {
        let mut databases = Vec::new();
        let rate = self.slowest(seconds, &mut databases).await;
        self.finish(rate, (&databases, false)).await
    }

    async fn slowest(&self, seconds: f64, databases: &mut Vec<Arc<str>>) -> Result<f64, RunError> {
        let mut slowest = f64::INFINITY;
        for arm in 0..self.plan.arms.len() {
            let mut cell = self.provision(None, arm, databases).await?;
            self.phase(None, arm, Phase::Measure);
            cell.next = Arc::new(AtomicU64::new(PILOT_CALLS));
            let length = Some(Duration::from_secs_f64(seconds));
            let took = self.slice(&mut cell, (None, arm), self.plan.round_seed(0), (u64::MAX, length)).await?;
            self.check_stop()?;
            self.check_success(&cell, arm)?;
            let calls = cell.next.load(std::sync::atomic::Ordering::Relaxed) - PILOT_CALLS;
            if calls == 0 || took == 0.0 {
                return Err(RunError::NoCalls { arm: self.plan.arms[arm].name.clone(), seconds });
            }
            slowest = slowest.min(calls as f64 / took);
        }
        Ok(slowest)
    }

    /// Runs one round: every arm filled, warmed up, measured and inspected.
    ///
    /// # Errors
    /// As [`RunError`] says. The round's databases are dropped in any case, unless they are to be kept.
    pub async fn round(&self, index: u64, window: Window) -> Result<(RoundRecord, Vec<String>), RunError> {
        let mut databases = Vec::new();
        let round = self.measured(index, window, &mut databases).await;
        let round = self.finish(round, (&databases, self.settings.keep)).await?;
        self.observer.event(&Event::Round(&round.0));
        Ok(round)
    }

    async fn measured(
        &self,
        index: u64,
        window: Window,
        databases: &mut Vec<Arc<str>>,
    ) -> Result<(RoundRecord, Vec<String>), RunError> {
        let seed = self.plan.round_seed(index);
        let mut cells = Vec::new();
        for arm in 0..self.plan.arms.len() {
            cells.push(self.provision(Some(index), arm, databases).await?);
        }
        for (arm, cell) in cells.iter_mut().enumerate() {
            self.phase(Some(index), arm, Phase::WarmUp);
            self.warm_up(cell, (Some(index), arm), seed, window).await?;
            self.check_stop()?;
        }
        let checkpointed = self.flush().await?;
        for (arm, cell) in cells.iter_mut().enumerate() {
            cell.before = self.sizes(cell, arm, checkpointed).await?;
            cell.growth = self.growth(cell, arm).await?;
        }
        let (order, warnings) = self.slices(&mut cells, index, seed, window).await?;
        let checkpointed = self.flush().await?;
        let mut records = Vec::new();
        for (arm, cell) in cells.into_iter().enumerate() {
            self.phase(Some(index), arm, Phase::Inspect);
            let after = self.sizes(&cell, arm, checkpointed).await?;
            records.push(cell.into_record(after));
        }
        Ok((RoundRecord { index, seed: seed.value(), order, cells: records }, warnings))
    }

    fn phase(&self, round: Option<u64>, arm: usize, phase: Phase) {
        self.observer.event(&Event::Phase { round, arm: &self.plan.arms[arm].name, phase });
    }

    fn check_stop(&self) -> Result<(), RunError> {
        if self.stop.is_set() { Err(RunError::Interrupted) } else { Ok(()) }
    }

    /// A fresh database, filled.
    async fn provision(&self, round: Option<u64>, arm: usize, databases: &mut Vec<Arc<str>>) -> Result<Cell, RunError> {
        self.check_stop()?;
        self.phase(round, arm, Phase::Load);
        let plan = &self.plan;
        let id = format!("{}{}", self.settings.id, round.map_or("p".to_owned(), |round| format!("r{round}")));
        let database: Arc<str> = namespace::database_name(&plan.name, &plan.arms[arm].name, &id).into();
        databases.push(Arc::clone(&database));
        namespace::create(self.target, &database, &self.settings.id).await?;
        let begun = Instant::now();
        let loader = Loader {
            plan,
            arm: &plan.arms[arm],
            target: self.target,
            database: &database,
            observer: self.observer,
            stop: &|| self.stop.is_set(),
        };
        let loaded = loader.run().await?;
        self.check_stop()?;
        let recorder = Recorder::new(plan.operations.len(), self.settings.timeout);
        Ok(Cell {
            database,
            loaded,
            load_seconds: begun.elapsed().as_secs_f64(),
            next: Arc::new(AtomicU64::new(0)),
            recorders: vec![(recorder, None); self.generators.len()],
            calls: 0,
            seconds: 0.0,
            connections_created: 0,
            before: Vec::new(),
            growth: Vec::new(),
        })
    }

    /// Ends the run when the server refuses every call of an operation: that is no schema to compare.
    fn check_success(&self, cell: &Cell, arm: usize) -> Result<(), RunError> {
        const FEW: u64 = 3;
        for (position, operation) in self.plan.operations.iter().enumerate() {
            let measures: Vec<_> =
                cell.recorders.iter().map(|(recorder, _)| &recorder.operations()[position]).collect();
            let calls: u64 = measures.iter().map(|measures| measures.calls).sum();
            let refused: u64 = measures.iter().map(|measures| measures.refused_by_server()).sum();
            if calls >= FEW && refused == calls {
                let message = measures.iter().flat_map(|measures| measures.messages.values()).next();
                return Err(RunError::AlwaysFails {
                    arm: self.plan.arms[arm].name.clone(),
                    operation: operation.name.to_string(),
                    calls,
                    message: message.cloned().unwrap_or_default(),
                });
            }
        }
        Ok(())
    }

    async fn warm_up(
        &self,
        cell: &mut Cell,
        place: (Option<u64>, usize),
        seed: Seed,
        window: Window,
    ) -> Result<(), RunError> {
        let (end, length) = match window {
            Window::Calls { warmup, .. } => (warmup, None),
            Window::Timed { warmup, .. } => (u64::MAX, Some(Duration::from_secs_f64(warmup))),
        };
        self.slice(cell, (None, place.1), seed, (end, length)).await?;
        self.check_success(cell, place.1)?;
        // What the warm-up recorded is forgotten; its calls keep their numbers.
        for recorder in &mut cell.recorders {
            *recorder = (Recorder::new(self.plan.operations.len(), self.settings.timeout), None);
        }
        cell.calls = 0;
        cell.seconds = 0.0;
        cell.connections_created = 0;
        Ok(())
    }

    /// All slices of a round; slice j of all arms comes before slice j+1 of any, so that slow changes of the machine
    /// meet all arms alike. Gives the order in which the arms ran, and what should be known.
    async fn slices(
        &self,
        cells: &mut [Cell],
        index: u64,
        seed: Seed,
        window: Window,
    ) -> Result<(Vec<Vec<usize>>, Vec<String>), RunError> {
        let mut orders = Vec::new();
        let mut dropped = vec![false; cells.len()];
        let slices = self.slice_count(window);
        for slice in 0..slices {
            let order = shuffled(cells.len(), seed, slice);
            for &arm in &order {
                let cell = &mut cells[arm];
                if dropped[arm] || too_slow(cell, window) {
                    dropped[arm] = true;
                    continue;
                }
                self.phase(Some(index), arm, Phase::Measure);
                let bounds = slice_bounds(window, slice, slices);
                self.slice(cell, (Some(index), arm), seed, bounds).await?;
                self.check_stop()?;
                let name = &self.plan.arms[arm].name;
                let calls = match window {
                    Window::Calls { calls, .. } => calls,
                    Window::Timed { .. } => cell.calls,
                };
                self.observer.event(&Event::Slice { round: index, arm: name, done: cell.calls, calls });
                if is_sampled(slice, slices) {
                    let mut growth = self.growth(cell, arm).await?;
                    cell.growth.append(&mut growth);
                }
            }
            orders.push(order);
        }
        for (arm, cell) in cells.iter_mut().enumerate() {
            self.close_intervals(cell, (Some(index), arm));
        }
        let slow = dropped.iter().zip(&self.plan.arms).filter(|(dropped, _)| **dropped);
        let warn = |arm: &str| {
            format!("round {}: strategy {arm} was too slow to make all calls in time; its state differs", index + 1)
        };
        Ok((orders, slow.map(|(_, arm)| warn(&arm.name)).collect()))
    }

    /// The slices asked for, or as many as leave each worker some calls in a slice: at its end the calls in flight are
    /// awaited, which must stay a small part of it.
    fn slice_count(&self, window: Window) -> u64 {
        let calls_per_slice = CALLS_PER_WORKER * self.settings.workers as u64;
        match window {
            Window::Calls { calls, .. } => self.settings.slices.min(calls / calls_per_slice).max(1),
            Window::Timed { .. } => self.settings.slices,
        }
    }

    /// Runs calls of one arm up to call `end`, or for a length of time. Gives the seconds that it took.
    async fn slice(
        &self,
        cell: &mut Cell,
        (round, arm): (Option<u64>, usize),
        seed: Seed,
        (end, length): (u64, Option<Duration>),
    ) -> Result<f64, RunError> {
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
                workers,
                timeout: self.settings.timeout,
                stop: self.stop.clone(),
                interval: interval.unwrap_or_else(Instant::now),
            },
            recorder,
            intervals: sender.clone(),
        });
        let running = self.generators.run(jobs.collect());
        drop(sender);
        let listening = async {
            while let Some(interval) = intervals.recv().await {
                self.log(round, arm, interval);
            }
        };
        let (results, ()) = tokio::join!(running, listening);
        let results = results?;
        let seconds = results.iter().map(|result| result.seconds).fold(0.0, f64::max);
        let mut fatal = None;
        for result in results {
            cell.connections_created += result.connections_created;
            fatal = fatal.or(result.fatal);
            cell.recorders.push((result.recorder, Some(result.interval)));
        }
        // Workers that find no call left have counted on.
        cell.next.fetch_min(end, std::sync::atomic::Ordering::Relaxed);
        cell.seconds += seconds;
        cell.calls = cell.operations().map(|operation| operation.calls).sum();
        match fatal {
            Some(fatal) => Err(fatal.into()),
            None => Ok(seconds),
        }
    }

    /// Tells of what the open intervals hold, when no slice follows.
    fn close_intervals(&self, cell: &mut Cell, (round, arm): (Option<u64>, usize)) {
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

    async fn flush(&self) -> Result<bool, RunError> {
        let flushed = inspect::flush(self.target).await;
        flushed.map_err(|failure| RunError::Inspect { arm: "(all)".into(), failure })
    }

    async fn sizes(&self, cell: &Cell, arm: usize, checkpointed: bool) -> Result<Vec<CollectionSizes>, RunError> {
        let arm = &self.plan.arms[arm];
        let sizes = inspect::sizes(self.target, &cell.database, arm, checkpointed).await;
        sizes.map_err(|failure| RunError::Inspect { arm: arm.name.clone(), failure })
    }

    async fn growth(&self, cell: &Cell, arm: usize) -> Result<Vec<GrowthSample>, RunError> {
        let arm = &self.plan.arms[arm];
        let samples = inspect::growth(self.target, &cell.database, (&self.plan, arm), cell.calls).await;
        samples.map_err(|failure| RunError::Inspect { arm: arm.name.clone(), failure })
    }

    /// Drops the databases, unless they are to be kept. When something went wrong before, that is what the user must
    /// hear of. A server that is gone is not asked once per database, as each answer would have to be waited for.
    async fn finish<R>(
        &self,
        result: Result<R, RunError>,
        (databases, keep): (&[Arc<str>], bool),
    ) -> Result<R, RunError> {
        match result {
            Ok(_) if keep => return result,
            Err(error) if !answers(self.target).await => return Err(lost(error)),
            _ => {}
        }
        let mut dropped = Ok(());
        for database in databases {
            dropped = dropped.and(namespace::drop_marked(self.target, database).await);
        }
        let value = result?;
        dropped?;
        Ok(value)
    }
}

/// What went wrong on a server that does not answer any more.
fn lost(error: RunError) -> RunError {
    match error {
        RunError::Fatal(Fatal::Lost(_)) | RunError::Interrupted => error,
        other => RunError::Fatal(Fatal::Lost(other.to_string())),
    }
}

/// The end of a slice in calls, counted from the first call of the warm-up, or its length in time.
fn slice_bounds(window: Window, slice: u64, slices: u64) -> (u64, Option<Duration>) {
    match window {
        Window::Calls { calls, warmup, .. } => {
            let done = u128::from(calls) * u128::from(slice + 1) / u128::from(slices);
            (warmup + done as u64, None)
        }
        Window::Timed { seconds, .. } => (u64::MAX, Some(Duration::from_secs_f64(seconds / slices as f64))),
    }
}

/// Followed documents are looked at after each of at most [`SAMPLES`] slices, the last one included.
fn is_sampled(slice: u64, slices: u64) -> bool {
    (slice + 1) * SAMPLES / slices > slice * SAMPLES / slices
}

fn too_slow(cell: &Cell, window: Window) -> bool {
    match window {
        Window::Calls { seconds: Some(seconds), .. } => cell.seconds > seconds * PATIENCE,
        _ => false,
    }
}

/// The arms in an order drawn from the seed (Fisher and Yates).
fn shuffled(arms: usize, seed: Seed, slice: u64) -> Vec<usize> {
    const LABEL: Label = Label::new("order");
    let mut stream = Stream::new(seed, LABEL, slice);
    let mut order: Vec<usize> = (0..arms).collect();
    for last in (1..arms).rev() {
        order.swap(last, stream.below(last as u64 + 1) as usize);
    }
    order
}
