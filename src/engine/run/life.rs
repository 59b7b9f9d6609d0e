//! The life of documents: one operation lets them grow, and at stages every operation is measured by itself.
//!
//! All strategies get the same calls. Those between two stages are not measured.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::generate::{Label, Seed};
use crate::plan::Plan;
use crate::record::{CallOutcome, Part};
use crate::results::{CellRecord, GrowthEnd, LoadModel, StageRecord};
use crate::server::steady::SteadyTarget;
use crate::server::{Db, Target};

use super::audit::audits;
use super::cell::ArmRound;
use super::error::RunError;
use super::experiment::{Experiment, RunDatabase};
use super::meters::Meters;
use super::own_cost::OwnSlice;
use super::provision::Purpose;
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

/// When documents have grown enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LifeEnd {
    /// When a strategy refuses a call.
    Refused,
    /// When the largest document of a strategy has this many bytes.
    Bytes(u64),
    /// After this many calls.
    Calls(u64),
}

impl fmt::Display for LifeEnd {
    /// As `--until` takes it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LifeEnd::Refused => formatter.write_str("refused"),
            LifeEnd::Bytes(bytes) => write!(formatter, "{bytes}B"),
            LifeEnd::Calls(calls) => write!(formatter, "{calls}"),
        }
    }
}

/// What lets documents grow, and what is measured meanwhile.
#[derive(Debug, Clone)]
pub struct Life {
    /// The operation that lets documents grow.
    pub operation: usize,
    /// The operations that are measured besides it.
    pub sampled: Vec<usize>,
    /// When it ends.
    pub until: LifeEnd,
    /// When it ends at the latest.
    pub longest: Duration,
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
        let next = &mut self.next[operation];
        let mut taken = Vec::with_capacity(calls as usize);
        while (taken.len() as u64) < calls {
            if self.plan.mix.draw(self.seed, *next) == operation {
                taken.push(*next);
            }
            *next += 1;
        }
        taken
    }
}

/// The calls of a stage, the same for all strategies.
struct Stage {
    growing: Vec<u64>,
    measured: Vec<OwnSlice>,
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Lets the documents of all strategies grow. Each stage is passed on when it is complete. Returns what became of the
    /// strategies, and whether they have grown enough, not only long enough.
    ///
    /// # Errors
    /// As [`RunError`] says. The databases are dropped in any case.
    pub async fn life(
        &self,
        life: &Life,
        passed: &mut dyn FnMut(StageRecord, &[GrowthEnd]),
    ) -> Result<(Vec<GrowthEnd>, bool), RunError> {
        self.on_databases(false, async |databases| self.run_life(life, databases, passed).await).await
    }

    async fn run_life(
        &self,
        life: &Life,
        databases: &mut Vec<RunDatabase>,
        passed: &mut dyn FnMut(StageRecord, &[GrowthEnd]),
    ) -> Result<(Vec<GrowthEnd>, bool), RunError> {
        let (seed, arms) = (self.plan.round_seed(0), self.plan.arms.len());
        let mut cells = Vec::new();
        for arm in 0..arms {
            cells.push(self.provision(Purpose::Round(0), arm, databases).await?);
        }
        let mut meters = self.meters(&(0..arms).collect::<Vec<_>>()).await?;
        let mut calls = CallsByOperation { plan: &self.plan, seed, next: vec![0; self.plan.operations.len()] };
        let (mut ends, started) = (vec![GrowthEnd::default(); arms], Instant::now());
        let (mut made, mut is_reached) = (0, false);
        for stage in 0_u64.. {
            let before = stage.checked_sub(1).map_or(0, at_stage).min(life.until.most_calls());
            let planned = Stage::new(life, &mut calls, before - made);
            let mut records: Vec<Option<CellRecord>> = vec![None; arms];
            for place in shuffled(arms, seed, ORDER, stage) {
                if ends[place].refused.is_none() {
                    let record =
                        self.run_stage(life, &planned, &mut cells[place], &mut ends[place], &mut meters, seed).await?;
                    records[place] = Some(record);
                }
            }
            let record = StageRecord { calls: before, cells: records };
            made = before + MEASURED[0];
            is_reached = life.is_over(&record, &ends) || made >= life.until.most_calls();
            passed(record, &ends);
            if is_reached || started.elapsed() >= life.longest {
                break;
            }
        }
        for (cell, end) in cells.iter().zip(&mut ends) {
            self.turn(cell.arm).await?;
            let db = Db { target: &SteadyTarget(self.target(cell.arm)), name: &cell.database };
            end.audits = audits(&db, &self.plan, cell.arm, &cell.earlier).await?;
        }
        Ok((ends, is_reached))
    }

    /// Lets one strategy grow up to a stage and measures it there.
    async fn run_stage(
        &self,
        life: &Life,
        stage: &Stage,
        cell: &mut ArmRound,
        end: &mut GrowthEnd,
        meters: &mut Meters,
        seed: Seed,
    ) -> Result<CellRecord, RunError> {
        for calls in stage.growing.chunks(PIECE) {
            cell.begin(self.recorders(cell.arm, LoadModel::Closed), self.plan.operations.len());
            self.run_slice(cell, self.listed(seed, &Arc::from(calls), self.settings.clients)).await?;
            count_unsuccessful(end, cell, life.operation);
            cell.discard();
            self.stop.check()?;
            if end.refused.is_some() {
                break;
            }
        }
        self.flush(&[cell.arm]).await?;
        cell.begin(self.recorders(cell.arm, LoadModel::Closed), self.plan.operations.len());
        for slice in &stage.measured {
            // Of a full document the other operations are worth knowing.
            if slice.operation == life.operation && end.refused.is_some() {
                continue;
            }
            self.run_unmeasured(cell, seed, &slice.first, 1).await?;
            self.run_own_slice(cell, seed, slice, meters).await?;
        }
        self.close_intervals(cell, Part::Own);
        count_unsuccessful(end, cell, life.operation);
        cell.end(Part::Own, meters.of(self.servers.position(cell.arm)));
        end.succeeded = cell.earlier.known[life.operation].ok;
        let after = self.sizes(cell, false).await?;
        meters.of(self.servers.position(cell.arm)).invalidate();
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
