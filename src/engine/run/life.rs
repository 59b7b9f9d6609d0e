//! The life of documents: one operation lets them grow, and at stages every operation is measured by itself.
//!
//! All strategies get the same calls. Those between two stages are not measured.

use std::sync::Arc;

use crate::generate::{Label, Seed};
use crate::plan::Plan;
use crate::record::{CallOutcome, LifeEnd, Part};
use crate::results::{CellRecord, GrowthEnd, LoadModel, StageRecord};
use crate::server::steady::SteadyTarget;
use crate::server::{Db, Target};

use super::audit::audits;
use super::cell::ArmRound;
use super::error::Result;
use super::event::RunPhase;
use super::experiment::Experiment;
use super::own_cost::OwnSlice;
use super::schedule::shuffled;

/// Calls of the growing operation that are measured at a stage, and of each other one.
const MEASURED: [u64; 2] = [40, 20];

/// Calls before a stage's measured ones, of the first stages; each later stage has 10^(1/4) times as many as the one before.
const FIRST: f64 = 100.0;
const STAGES_PER_DECADE: f64 = 4.0;

/// Calls after which it is looked at whether one was refused.
const PIECE: usize = 50;

/// Labels the order of the arms at a stage.
const ORDER: Label = Label::new("order, growth");

/// What lets documents grow, and what is measured meanwhile.
#[derive(Debug, Clone)]
pub struct Life {
    /// The operation that lets documents grow.
    pub operation: usize,
    /// The operations that are measured besides it.
    pub sampled: Vec<usize>,
    /// When it ends.
    pub until: LifeEnd,
}

/// The calls of a mix by operation, without end.
struct CallsByOperation<'p> {
    plan: &'p Plan,
    seed: Seed,
    /// Per operation, the index from which on its next call is looked for.
    next: Vec<u64>,
}

impl CallsByOperation<'_> {
    /// The indexes of the next calls of an operation, which the mix must contain.
    fn take(&mut self, operation: usize, calls: u64) -> Vec<u64> {
        let of_operation = |index: &u64| self.plan.mix.draw(self.seed, *index) == operation;
        let taken: Vec<u64> = (self.next[operation]..).filter(of_operation).take(calls as usize).collect();
        self.next[operation] = taken.last().map_or(self.next[operation], |last| last + 1);
        taken
    }
}

/// The calls of a stage, the same for all strategies.
struct Stage {
    growing: Vec<u64>,
    measured: Vec<OwnSlice>,
}

/// The documents of all strategies while they grow.
pub struct Lives<'l, 'e, T, G> {
    experiment: &'l Experiment<'e, T, G>,
    life: &'l Life,
    cells: Vec<ArmRound>,
    calls: CallsByOperation<'l>,
    /// What became of each strategy so far.
    pub ends: Vec<GrowthEnd>,
    /// Calls of the growing operation so far.
    made: u64,
    /// The next stage, from 0.
    pub stage: u64,
    /// Whether they have grown enough.
    pub is_reached: bool,
}

impl<'e, T: Target, G: Target + 'static> Experiment<'e, T, G> {
    /// Lets the documents of all strategies grow, as far as `work` goes.
    ///
    /// # Errors
    /// As [`RunError`](super::error::RunError) says. The databases are dropped in any case.
    pub async fn lives<'l, R>(
        &'l self,
        life: &'l Life,
        work: impl AsyncFnOnce(Lives<'l, 'e, T, G>) -> Result<R>,
    ) -> Result<R> {
        let arms = self.plan.arms.len();
        self.on_databases(false, async {
            let mut cells = Vec::new();
            for arm in 0..arms {
                cells.push(self.provision(Some(0), RunPhase::Load, arm).await?);
            }
            self.attach_meters(&mut cells).await?;
            let next = vec![0; self.plan.operations.len()];
            let calls = CallsByOperation { plan: &self.plan, seed: self.plan.round_seed(0), next };
            let ends = vec![GrowthEnd::default(); arms];
            let lives = Lives { experiment: self, life, cells, calls, ends, made: 0, stage: 0, is_reached: false };
            work(lives).await
        })
        .await
    }
}

impl<T: Target, G: Target + 'static> Lives<'_, '_, T, G> {
    /// Lets all strategies grow up to the next stage, and measures them there.
    ///
    /// # Errors
    /// As [`RunError`](super::error::RunError) says.
    pub async fn grow(&mut self) -> Result<StageRecord> {
        let (experiment, life) = (self.experiment, self.life);
        let (seed, arms) = (self.calls.seed, self.cells.len());
        let before = self.stage.checked_sub(1).map_or(0, at_stage).min(life.until.most_calls());
        let planned = Stage::new(life, &mut self.calls, before - self.made);
        let mut records: Vec<Option<CellRecord>> = vec![None; arms];
        for place in shuffled(arms, seed, ORDER, self.stage) {
            let (cell, end) = (&mut self.cells[place], &mut self.ends[place]);
            if end.refused.is_none() {
                records[place] = Some(experiment.run_stage(life, &planned, cell, end).await?);
            }
        }
        let record = StageRecord { calls: before, cells: records };
        self.made = before + MEASURED[0];
        self.stage += 1;
        self.is_reached = life.is_over(&record, &self.ends) || self.made >= life.until.most_calls();
        Ok(record)
    }

    /// Audits all strategies.
    ///
    /// # Errors
    /// As [`RunError`](super::error::RunError) says.
    pub async fn audit(&mut self) -> Result<()> {
        let experiment = self.experiment;
        for (cell, end) in self.cells.iter().zip(&mut self.ends) {
            experiment.turn(cell.arm).await?;
            let db = Db { target: &SteadyTarget(experiment.target(cell.arm)), name: &cell.database };
            end.audits = audits(&db, &experiment.plan, cell.arm, &cell.earlier).await?;
        }
        Ok(())
    }
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Lets one strategy grow up to a stage and measures it there.
    async fn run_stage(
        &self,
        life: &Life,
        stage: &Stage,
        cell: &mut ArmRound,
        end: &mut GrowthEnd,
    ) -> Result<CellRecord> {
        for calls in stage.growing.chunks(PIECE) {
            cell.begin(self.recorders(cell.arm, LoadModel::Closed));
            self.run_slice(cell, self.listed(&Arc::from(calls), self.settings.clients)).await?;
            count_unsuccessful(end, cell, life.operation);
            cell.discard();
            self.stop.check()?;
            if end.refused.is_some() {
                break;
            }
        }
        self.flush(&[cell.arm]).await?;
        cell.begin(self.recorders(cell.arm, LoadModel::Closed));
        for slice in &stage.measured {
            // Of a full document the other operations are worth knowing.
            if slice.operation == life.operation && end.refused.is_some() {
                continue;
            }
            self.run_unmeasured(cell, &slice.first, 1).await?;
            self.run_own_slice(cell, slice).await?;
        }
        self.close_intervals(cell, Part::Own);
        count_unsuccessful(end, cell, life.operation);
        cell.end(Part::Own);
        end.succeeded = cell.earlier.known[life.operation].ok;
        let after = self.sizes(cell, false).await?;
        cell.meter.borrow_mut().invalidate();
        let record = cell.parts.remove(&Part::Own).unwrap_or_default();
        Ok(CellRecord { after, ..record })
    }
}

/// The calls before the measured ones of a stage after the first.
fn at_stage(stage: u64) -> u64 {
    (FIRST * 10.0_f64.powf(stage as f64 / STAGES_PER_DECADE)).round() as u64
}

impl LifeEnd {
    fn most_calls(self) -> u64 {
        match self {
            LifeEnd::Calls(calls) => calls,
            LifeEnd::Refused | LifeEnd::Bytes(_) => u64::MAX,
        }
    }
}

impl Life {
    fn is_over(&self, stage: &StageRecord, ends: &[GrowthEnd]) -> bool {
        let sizes = || stage.cells.iter().flatten().flat_map(|cell| &cell.after);
        let is_refused = ends.iter().any(|end| end.refused.is_some());
        match self.until {
            LifeEnd::Refused => is_refused,
            LifeEnd::Bytes(bytes) => sizes().any(|sizes| sizes.max >= bytes),
            LifeEnd::Calls(_) => ends.iter().all(|end| end.refused.is_some()),
        }
    }
}

impl Stage {
    fn new(life: &Life, calls: &mut CallsByOperation, growing: u64) -> Stage {
        let growing = calls.take(life.operation, growing);
        let operations = std::iter::once((life.operation, MEASURED[0]));
        let operations = operations.chain(life.sampled.iter().map(|operation| (*operation, MEASURED[1])));
        let slice = |(operation, measured)| OwnSlice::new(operation, &calls.take(operation, measured), measured);
        Stage { growing, measured: operations.map(slice).collect() }
    }
}

/// Counts the calls that a cell has recorded and that did not succeed.
fn count_unsuccessful(end: &mut GrowthEnd, cell: &ArmRound, operation: usize) {
    end.failed += cell.failed();
    for (recorder, _) in &cell.recorders {
        for (outcome, times) in &recorder.operations()[operation].outcomes {
            if let CallOutcome::Rejected(reason) = outcome
                && times.count() > 0
            {
                end.refused.get_or_insert_with(|| reason.to_string());
            }
        }
    }
}
