//! One round: every arm is loaded, warmed up, measured in parts, and inspected.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::engine::load::slice::{FatalError, SliceEnd};
use crate::generate::{Label, Seed};
use crate::plan::{EvalError, Plan};
use crate::record::Part;
use crate::results::{CellRecord, CollectionSizes, DeferredCost, LoadModel, RoundRecord};
use crate::server::flush::flush_cost;
use crate::server::steady::SteadyTarget;
use crate::server::{Db, Target};

use super::audit::audits;
use super::cell::ArmRound;
use super::distribution::uneven;
use super::error::{Result, RunError};
use super::event::{Event, RunPhase};
use super::experiment::Experiment;
use super::inspect;
use super::round_plan::{MeasuredRound, RoundPlan};
use super::schedule::{Window, end_of_part, shuffled};
use super::slice_spec::{ARRIVALS, SliceSpec, WARM_UP_ARRIVALS};

/// The pieces of a warm-up.
const WARM_UP_PIECES: u64 = 8;

/// The seconds of a block on a shared server.
const BLOCK_SECONDS: f64 = 1.5;

/// Labels the order of the arms in loading, warm-up and inspection.
const PHASES: Label = Label::new("order of phases");

/// Labels the order of the arms in the slices of each part.
const SLICES: [Label; Part::ALL.len()] = [
    Label::new("order, own"),
    Label::new("order, saturation"),
    Label::new("order, light"),
    Label::new("order, rate"),
    Label::new("order, heavy"),
];

/// A round while it runs.
pub(super) struct Round {
    pub(super) index: u64,
    pub(super) seed: Seed,
    pub(super) plan: RoundPlan,
    /// Per part and slice, the arms in the order in which they ran.
    pub(super) order: BTreeMap<Part, Vec<Vec<usize>>>,
    warnings: Vec<String>,
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Runs one round: every arm is loaded, warmed up, measured and inspected.
    ///
    /// # Errors
    /// As [`RunError`] says. The round's databases are dropped in any case, unless they are to be kept.
    pub async fn round(&self, index: u64, plan: RoundPlan) -> Result<MeasuredRound> {
        let this = Experiment { plan: self.plan_of_round(index)?, ..self.share() };
        let seed = this.plan.round_seed(index);
        let mut round = Round { index, seed, plan, order: BTreeMap::new(), warnings: Vec::new() };
        let arms = this.plan.arms.len();
        // Isolated arms are groups of one, each alone on the server.
        let group = if this.settings.isolated.is_some() { 1 } else { arms };
        let work = async {
            let mut cells = Vec::new();
            for arms in shuffled(arms, round.seed, PHASES, 0).chunks(group.max(1)) {
                cells.extend(this.run_interleaved(&mut round, arms).await?);
                if !this.keep {
                    this.on_databases(false, async { Ok(()) }).await?;
                }
            }
            Ok(cells)
        };
        let mut cells = this.on_databases(this.keep, work).await?;
        cells.sort_by_key(|cell| cell.arm);
        let mut parts = BTreeMap::new();
        for part in round.plan.parts() {
            let order = round.order.remove(&part).unwrap_or_default();
            let cells = cells.iter_mut().filter_map(|cell| cell.parts.remove(&part)).collect();
            let record = RoundRecord { index, seed: round.seed.value(), order, cells };
            parts.insert(part, record);
        }
        self.observer.event(&Event::Round(index));
        let events = cells.iter_mut().flat_map(|cell| std::mem::take(&mut cell.events)).collect();
        Ok(MeasuredRound { parts, warnings: round.warnings, events })
    }

    /// The scenario with the data of a round.
    fn plan_of_round(&self, index: u64) -> Result<Arc<Plan>> {
        if self.settings.same_data {
            return Ok(Arc::clone(&self.plan));
        }
        let mistake = |error: EvalError| FatalError::in_all(format!("data of round {}", index + 1), &error);
        Ok(Arc::new(self.plan.of_round(index).map_err(mistake)?))
    }

    /// Runs some arms of a round, which take turns in every phase, and returns them with the records of their parts.
    async fn run_interleaved(&self, round: &mut Round, arms: &[usize]) -> Result<Vec<ArmRound>> {
        let mut cells = Vec::new();
        for &arm in arms {
            cells.push(self.provision(Some(round.index), RunPhase::Load, arm).await?);
        }
        // Before any call: reading all documents fills the cache, which the warm-up then brings into its own state.
        let checkpointed = self.flush(arms).await?;
        for place in shuffled(arms.len(), round.seed, PHASES, 1) {
            let cell = &mut cells[place];
            self.phase(Some(round.index), cell.arm, RunPhase::Load);
            cell.prepared.before = self.sizes(cell, checkpointed).await?;
            // The data of later rounds are of the same kind.
            let arm = &self.plan.arms[cell.arm];
            if round.index == 0 && !arm.is_repeat {
                round.warnings.extend(uneven(&self.plan, arm, &cell.prepared.before));
            }
        }
        for place in shuffled(arms.len(), round.seed, PHASES, 2) {
            self.phase(Some(round.index), cells[place].arm, RunPhase::WarmUp);
            self.warm_up(&mut cells[place], round.plan.warmup, LoadModel::Closed).await?;
            self.stop.check()?;
        }
        self.attach_meters(&mut cells).await?;
        // What the warm-up left to write is not a cost of the first part. After each part everything is flushed.
        self.flush(arms).await?;
        let inspected = Part::inspected(round.plan.parts());
        for part in round.plan.parts() {
            self.run_part(part, round, &mut cells).await?;
            if Some(part) == inspected {
                for place in shuffled(arms.len(), round.seed, PHASES, 3) {
                    self.inspect(&mut cells[place]).await?;
                }
            }
        }
        let has_more = round.plan.parts().last() != inspected;
        for place in shuffled(arms.len(), round.seed, PHASES, 5) {
            if has_more {
                self.phase(Some(round.index), cells[place].arm, RunPhase::Inspect);
            }
            self.audit(&mut cells[place], inspected, round).await?;
        }
        Ok(cells)
    }

    /// Measures one part.
    async fn run_part(&self, part: Part, round: &mut Round, cells: &mut [ArmRound]) -> Result<()> {
        for cell in &mut *cells {
            cell.begin(self.recorders(cell.arm, self.settings.load_of(part)));
            cell.meter.borrow_mut().invalidate();
        }
        let order = match round.plan.window(part) {
            Some(window) => self.run_slices(part, window, round, cells).await?,
            None => self.run_own_calls(round, cells).await?,
        };
        // Isolated arms run one after the other, each through all parts.
        round.order.entry(part).or_default().extend(order);
        for place in shuffled(cells.len(), round.seed, PHASES, 4) {
            let cell = &mut cells[place];
            self.close_intervals(cell, part);
            self.flush_and_charge(cell).await?;
            cell.end(part);
        }
        Ok(())
    }

    /// Reads the sizes of what an arm's calls have left.
    async fn inspect(&self, cell: &mut ArmRound) -> Result<()> {
        self.phase(cell.round, cell.arm, RunPhase::Inspect);
        let checkpointed = self.flush(&[cell.arm]).await?;
        cell.prepared.after = self.sizes(cell, checkpointed).await?;
        self.note_changes(cell, None);
        Ok(())
    }

    /// Runs the audits of an arm, and moves what belongs to all parts into the record of one.
    async fn audit(&self, cell: &mut ArmRound, inspected: Option<Part>, round: &mut Round) -> Result<()> {
        let arm = cell.arm;
        self.turn(arm).await?;
        let db = Db { target: &SteadyTarget(self.target(arm)), name: &cell.database };
        let audits = match audits(&db, &self.plan, arm, &cell.earlier).await {
            // The audits of an unsafe strategy may meet data that it has corrupted.
            Err(RunError::Fatal(fatal @ FatalError::Scenario { .. })) if self.plan.arms[arm].is_unsafe => {
                round.warnings.push(format!("round {}: {fatal}", round.index + 1));
                Vec::new()
            }
            audits => audits?,
        };
        let CellRecord { loaded, load_seconds, warm_up, before, after, .. } = std::mem::take(&mut cell.prepared);
        if let Some(record) = inspected.and_then(|part| cell.parts.get_mut(&part)) {
            let measured = std::mem::take(record);
            *record = CellRecord { loaded, load_seconds, warm_up, before, after, audits, ..measured };
        }
        Ok(())
    }

    /// Warms an arm up in pieces, so that the report can show whether it was warm at the end.
    pub(super) async fn warm_up(&self, cell: &mut ArmRound, calls: u64, load: LoadModel) -> Result<()> {
        cell.begin(self.recorders(cell.arm, load));
        for piece in 0..WARM_UP_PIECES {
            let end = SliceEnd::AtCall(end_of_part(calls, piece, WARM_UP_PIECES));
            let open = self.open_load(cell, load, WARM_UP_ARRIVALS, calls);
            let slice = self.run_slice(cell, SliceSpec { open, ..self.unlogged(end) }).await?;
            cell.prepared.warm_up.push(slice);
            self.stop.check()?;
        }
        self.check_success(cell)?;
        // What was recorded is not kept, but audits count all calls.
        cell.discard();
        Ok(())
    }

    /// Runs all slices of some arms. Slice j of all of them precedes slice j+1 of any, so that slow changes of the machine
    /// affect all arms alike. Returns the order in which they ran.
    async fn run_slices(
        &self,
        part: Part,
        window: Window,
        round: &mut Round,
        cells: &mut [ArmRound],
    ) -> Result<Vec<Vec<usize>>> {
        let load = self.settings.load_of(part);
        // An arm that made fewer calls before makes the same ones as the others here.
        cells.iter().for_each(|cell| cell.next.store(window.first, Ordering::Relaxed));
        let clients = self.settings.clients_of(part);
        let blocks = self.blocks(window);
        let most = blocks.unwrap_or(u64::MAX).min(self.settings.slices);
        let slices = |arm| self.window_of(arm, part, window).slices(most, clients, load);
        let slices = cells.iter().map(|cell| slices(cell.arm)).min().unwrap_or(1);
        let mut orders = Vec::new();
        for slice in 0..slices {
            let mut order = Vec::new();
            for place in shuffled(cells.len(), round.seed, SLICES[part as usize], slice) {
                let cell = &mut cells[place];
                let window = self.window_of(cell.arm, part, window);
                if window.is_over(cell.record.seconds) {
                    continue;
                }
                order.push(cell.arm);
                let open = self.open_load(cell, load, ARRIVALS, window.first + window.calls);
                self.phase(cell.round, cell.arm, RunPhase::Measure(part));
                let unlogged = self.unlogged(window.end(slice, slices));
                let spec = SliceSpec { clients, open, logged: Some(part), ..unlogged };
                self.measure_slice(cell, spec).await?;
                let share = cell.record.calls as f64 / window.calls.max(1) as f64;
                self.report_slice(cell, part, window.calls, share);
                if blocks.is_some() {
                    self.flush_and_charge(cell).await?;
                    cell.meter.borrow_mut().invalidate();
                }
            }
            orders.push(order);
        }
        let is_dropped = |arm| orders.last().is_some_and(|last: &Vec<usize>| !last.contains(&arm));
        for cell in cells.iter().filter(|cell| is_dropped(cell.arm)) {
            round.warnings.push(format!(
                "round {}: strategy {} was too slow to make all calls in time; its state differs",
                round.index + 1,
                self.plan.arms[cell.arm].name
            ));
        }
        Ok(orders)
    }

    /// The window of an arm: one that is too slow makes fewer calls, the first of the same.
    fn window_of(&self, arm: usize, part: Part, window: Window) -> Window {
        Window { calls: self.settings.fewer(part, &self.plan.arms[arm].name, window.calls), ..window }
    }

    /// The blocks of a window on a shared server, with a flush after each, so that what an arm leaves to write is done in its
    /// own time. `None` where every arm has its own server, and where the length of the window is unknown.
    fn blocks(&self, window: Window) -> Option<u64> {
        let seconds = window.seconds.filter(|_| self.servers.are_shared())?;
        Some(((seconds / BLOCK_SECONDS).ceil() as u64).max(1))
    }

    /// Runs a slice of measured calls.
    pub(super) async fn measure_slice(&self, cell: &mut ArmRound, spec: SliceSpec) -> Result<()> {
        self.turn(cell.arm).await?;
        self.note_changes(cell, None);
        let mut meter = cell.meter.take();
        meter.begin(self.target(cell.arm)).await;
        let (part, operation, before) = (spec.logged, spec.operation, cell.events.len());
        let slice = self.run_slice(cell, spec).await?;
        cell.record.slices.push(slice);
        self.stop.check()?;
        let usage = cell.usage.entry(operation).or_default();
        meter.end(self.target(cell.arm), &cell.database, usage).await;
        cell.meter.replace(meter);
        self.note_changes(cell, part);
        if cell.events.len() > before {
            // What a server did while it failed over, or what two servers did, is no cost of the calls.
            cell.usage.entry(operation).or_default().forget();
        }
        Ok(())
    }

    pub(super) fn report_slice(&self, cell: &ArmRound, part: Part, calls: u64, share: f64) {
        let Some(round) = cell.round else { return };
        let (arm, done) = (&self.plan.arms[cell.arm].name, cell.record.calls);
        let (failed, seconds) = (cell.failed(), cell.record.seconds);
        self.observer.event(&Event::Slice { round, part, arm, done, calls, share, failed, seconds });
    }

    /// Flushes an arm's server, and charges the present part for it; the cost is unknown without the right to flush.
    async fn flush_and_charge(&self, cell: &mut ArmRound) -> Result<()> {
        self.turn(cell.arm).await?;
        let cost = flush_cost(&SteadyTarget(self.target(cell.arm))).await.map_err(self.inspect_error(cell.arm))?;
        let before = cell.record.deferred.unwrap_or(DeferredCost { seconds: 0.0, bytes: Some(0.0) });
        cell.record.deferred = cost.map(|cost| DeferredCost {
            seconds: before.seconds + cost.seconds,
            bytes: before.bytes.zip(cost.bytes).map(|(before, more)| before + more as f64),
        });
        Ok(())
    }

    pub(super) async fn sizes(&self, cell: &ArmRound, checkpointed: bool) -> Result<Vec<CollectionSizes>> {
        self.turn(cell.arm).await?;
        let db = Db { target: &SteadyTarget(self.target(cell.arm)), name: &cell.database };
        let sizes = inspect::sizes(&db, &self.plan.arms[cell.arm], checkpointed).await;
        sizes.map_err(self.inspect_error(cell.arm))
    }
}
