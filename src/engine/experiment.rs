//! The course of a run: a pilot that sets the number of calls, then rounds in which every arm gets fresh databases and
//! the same calls, cut into slices that alternate between the arms.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::generate::Seed;
use crate::plan::Plan;
use crate::record::Recorder;
use crate::results::{CellRecord, CollectionSizes, GrowthSample, RoundRecord, SliceRecord};
use crate::server::Target;
use crate::server::meter::{Meter, Usage};
use crate::server::namespace;

use super::cell::Cell;
use super::error::{RunError, lost};
use super::event::{Event, Interval, Observer, Phase};
use super::generators::{Generators, share};
use super::inspect;
use super::load::Loader;
use super::schedule::{Window, is_sampled, shuffled};
use super::thread::Job;
use super::window::{Slice, SliceInterval, Stop, answers, close};

/// Measured calls are numbered from here on in the pilot, so that it makes none of those that count.
const PILOT_CALLS: u64 = 500_000_000;

/// The pieces of a warm-up.
const WARM_UP_PIECES: u64 = 8;

/// How a run is made.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Tells the databases of this run from those of others.
    pub id: String,
    /// Calls in flight, over all load threads.
    pub workers: usize,
    /// Slices per window; fewer where a slice would have hardly any calls.
    pub slices: u64,
    /// Whether each arm runs whole and alone on the server, instead of in slices that alternate.
    pub isolated: bool,
    /// After which a call has failed.
    pub timeout: Duration,
    /// Leave the databases of the finished rounds; those of the pilot and of a round that fails are dropped.
    pub keep: bool,
}

/// What a database is made for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// The pilot.
    Pilot,
    /// The cost pass.
    Costs,
    /// A round, from 0.
    Round(u64),
}

/// A round while it runs.
struct Round {
    index: u64,
    seed: Seed,
    window: Window,
    /// Per slice, the arms in the order in which they ran.
    order: Vec<Vec<usize>>,
    warnings: Vec<String>,
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
            let mut cell = self.provision(Part::Pilot, arm, databases).await?;
            self.phase(None, arm, Phase::Measure);
            cell.next = Arc::new(AtomicU64::new(PILOT_CALLS));
            let length = Some(Duration::from_secs_f64(seconds));
            let slice = self.slice(&mut cell, (None, arm), self.plan.round_seed(0), (u64::MAX, length)).await?;
            self.check_stop()?;
            self.check_success(&cell, arm)?;
            if slice.calls == 0 || slice.seconds == 0.0 {
                return Err(RunError::NoCalls { arm: self.plan.arms[arm].name.clone(), seconds });
            }
            slowest = slowest.min(slice.calls as f64 / slice.seconds);
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
        let arms = self.plan.arms.len();
        let mut round = Round { index, seed, window, order: Vec::new(), warnings: Vec::new() };
        let mut cells = Vec::new();
        if self.settings.isolated {
            for arm in shuffled(arms, seed, 0) {
                cells.extend(self.together(&mut round, &[arm], databases).await?);
                if !self.settings.keep {
                    let alone = std::mem::take(databases);
                    self.finish(Ok(()), (&alone, false)).await?;
                }
            }
        } else {
            let all: Vec<usize> = (0..arms).collect();
            cells = self.together(&mut round, &all, databases).await?;
        }
        cells.sort_by_key(|(arm, _)| *arm);
        let cells = cells.into_iter().map(|(_, cell)| cell).collect();
        Ok((RoundRecord { index, seed: seed.value(), order: round.order, cells }, round.warnings))
    }

    /// Runs some arms of a round, taking turns: filled, warmed up, measured and inspected.
    async fn together(
        &self,
        round: &mut Round,
        arms: &[usize],
        databases: &mut Vec<Arc<str>>,
    ) -> Result<Vec<(usize, CellRecord)>, RunError> {
        let index = Some(round.index);
        let mut cells = Vec::new();
        for &arm in arms {
            cells.push((arm, self.provision(Part::Round(round.index), arm, databases).await?));
        }
        for (arm, cell) in &mut cells {
            self.phase(index, *arm, Phase::WarmUp);
            self.warm_up(cell, *arm, round).await?;
            self.check_stop()?;
        }
        let checkpointed = self.flush().await?;
        for (arm, cell) in &mut cells {
            cell.before = self.sizes(cell, *arm, checkpointed).await?;
            cell.growth = self.growth(cell, *arm).await?;
        }
        let mut meter = Meter::new(self.target).await;
        self.slices(round, &mut cells, &mut meter).await?;
        let checkpointed = self.flush().await?;
        let mut records = Vec::new();
        for (arm, cell) in cells {
            self.phase(index, arm, Phase::Inspect);
            let after = self.sizes(&cell, arm, checkpointed).await?;
            records.push((arm, cell.into_record(after, &meter)));
        }
        Ok(records)
    }

    pub(super) fn phase(&self, round: Option<u64>, arm: usize, phase: Phase) {
        self.observer.event(&Event::Phase { round, arm: &self.plan.arms[arm].name, phase });
    }

    pub(super) fn check_stop(&self) -> Result<(), RunError> {
        if self.stop.is_set() { Err(RunError::Interrupted) } else { Ok(()) }
    }

    /// A fresh database, filled.
    pub(super) async fn provision(
        &self,
        part: Part,
        arm: usize,
        databases: &mut Vec<Arc<str>>,
    ) -> Result<Cell, RunError> {
        self.check_stop()?;
        let plan = &self.plan;
        let (round, phase, mark) = match part {
            Part::Pilot => (None, Phase::Load, "p".to_owned()),
            Part::Costs => (None, Phase::Costs, "c".to_owned()),
            Part::Round(round) => (Some(round), Phase::Load, format!("r{round}")),
        };
        self.phase(round, arm, phase);
        let id = format!("{}{mark}", self.settings.id);
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
            slices: Vec::new(),
            warm_up: Vec::new(),
            usage: Usage::default(),
            is_dropped: false,
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

    /// The warm-up runs in pieces, so that one can see whether the arm was warm at its end.
    async fn warm_up(&self, cell: &mut Cell, arm: usize, round: &Round) -> Result<(), RunError> {
        for piece in 0..WARM_UP_PIECES {
            let bounds = round.window.warm_up(piece, WARM_UP_PIECES);
            let slice = self.slice(cell, (None, arm), round.seed, bounds).await?;
            cell.warm_up.push(slice);
            self.check_stop()?;
        }
        self.check_success(cell, arm)?;
        // What the warm-up recorded is forgotten; its calls keep their numbers.
        for recorder in &mut cell.recorders {
            *recorder = (Recorder::new(self.plan.operations.len(), self.settings.timeout), None);
        }
        cell.calls = 0;
        cell.seconds = 0.0;
        cell.connections_created = 0;
        Ok(())
    }

    /// All slices of some arms; slice j of all of them comes before slice j+1 of any, so that slow changes of the machine
    /// meet all arms alike.
    async fn slices(&self, round: &mut Round, cells: &mut [(usize, Cell)], meter: &mut Meter) -> Result<(), RunError> {
        let window = round.window;
        let slices = window.slices(self.settings.slices, self.settings.workers);
        for slice in 0..slices {
            let mut order = Vec::new();
            for place in shuffled(cells.len(), round.seed, slice) {
                let (arm, cell) = &mut cells[place];
                if window.is_over(cell.seconds) {
                    cell.is_dropped = true;
                    continue;
                }
                order.push(*arm);
                self.measured_slice(round, (*arm, cell), window.bounds(slice, slices), meter).await?;
                if is_sampled(slice, slices) {
                    meter.disturbed();
                    let mut growth = self.growth(cell, *arm).await?;
                    cell.growth.append(&mut growth);
                }
            }
            round.order.push(order);
        }
        for (arm, cell) in cells {
            self.close_intervals(cell, (Some(round.index), *arm));
            if cell.is_dropped {
                let (number, arm) = (round.index + 1, &self.plan.arms[*arm].name);
                round.warnings.push(format!(
                    "round {number}: strategy {arm} was too slow to make all calls in time; its state differs"
                ));
            }
        }
        Ok(())
    }

    async fn measured_slice(
        &self,
        round: &Round,
        (arm, cell): (usize, &mut Cell),
        bounds: (u64, Option<Duration>),
        meter: &mut Meter,
    ) -> Result<(), RunError> {
        self.phase(Some(round.index), arm, Phase::Measure);
        meter.begin(self.target).await;
        let slice = self.slice(cell, (Some(round.index), arm), round.seed, bounds).await?;
        cell.slices.push(slice);
        self.check_stop()?;
        meter.end(self.target, &cell.database, &mut cell.usage).await;
        let calls = match round.window {
            Window::Calls { calls, .. } => calls,
            Window::Timed { .. } => cell.calls,
        };
        let arm = &self.plan.arms[arm].name;
        self.observer.event(&Event::Slice { round: round.index, arm, done: cell.calls, calls });
        Ok(())
    }

    /// Runs calls of one arm up to call `end`, or for a length of time.
    async fn slice(
        &self,
        cell: &mut Cell,
        (round, arm): (Option<u64>, usize),
        seed: Seed,
        (end, length): (u64, Option<Duration>),
    ) -> Result<SliceRecord, RunError> {
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
        let before = cell.calls;
        cell.calls = cell.operations().map(|operation| operation.calls).sum();
        match fatal {
            Some(fatal) => Err(fatal.into()),
            None => Ok(SliceRecord { calls: cell.calls - before, seconds }),
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

    pub(super) async fn flush(&self) -> Result<bool, RunError> {
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
    pub(super) async fn finish<R>(
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
