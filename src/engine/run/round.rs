//! One round: every arm is loaded, warmed up, measured in slices, and inspected.

use crate::engine::load::slice::{FatalError, INTERVAL};
use crate::generate::Seed;
use crate::results::{CellRecord, CollectionSizes, RoundRecord};
use crate::server::meter::Meter;
use crate::server::{Db, Target};

use super::audit::audits;
use super::cell::ArmRound;
use super::error::RunError;
use super::event::{Event, RunPhase};
use super::experiment::{Experiment, RunDatabase};
use super::inspect;
use super::machine::MachineSampler;
use super::meters::Meters;
use super::provision::Purpose;
use super::schedule::{Window, is_sampled, shuffled};
use super::slice_spec::{MEASURED_ARRIVALS, SliceSpec, WARM_UP_ARRIVALS};

/// The pieces of a warm-up.
const WARM_UP_PIECES: u64 = 8;

/// A round while it runs.
pub(super) struct Round {
    pub(super) index: u64,
    pub(super) seed: Seed,
    window: Window,
    /// Per slice, the arms in the order in which they ran.
    order: Vec<Vec<usize>>,
    warnings: Vec<String>,
}

impl Round {
    /// Creates a round before its first slice.
    pub(super) fn new(index: u64, seed: Seed, window: Window) -> Round {
        Round { index, seed, window, order: Vec::new(), warnings: Vec::new() }
    }
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Runs one round: every arm is loaded, warmed up, measured and inspected.
    ///
    /// # Errors
    /// As [`RunError`] says. The round's databases are dropped in any case, unless they are to be kept.
    pub async fn round(&self, index: u64, window: Window) -> Result<(RoundRecord, Vec<String>), RunError> {
        let mut round = Round::new(index, self.plan.round_seed(index), window.under(self.settings.load));
        let arms = self.plan.arms.len();
        // Isolated arms are groups of one, each alone on the server.
        let is_isolated = self.settings.isolated.is_some();
        let group = if is_isolated { 1 } else { arms };
        let order = if is_isolated { shuffled(arms, round.seed, 0) } else { (0..arms).collect() };
        let work = async |databases: &mut Vec<RunDatabase>| {
            let mut cells = Vec::new();
            for arms in order.chunks(group.max(1)) {
                cells.extend(self.run_interleaved(&mut round, arms, databases).await?);
                if !self.keep {
                    self.finish(Ok(()), &std::mem::take(databases), false).await?;
                }
            }
            Ok(cells)
        };
        let mut cells = self.on_databases(self.keep, work).await?;
        cells.sort_by_key(|(arm, _)| *arm);
        let cells = cells.into_iter().map(|(_, cell)| cell).collect();
        let record = RoundRecord { index, seed: round.seed.value(), order: round.order, cells };
        self.observer.event(&Event::Round(&record));
        Ok((record, round.warnings))
    }

    /// Runs some arms of a round, which take turns slice by slice, and returns the records of their cells by arm.
    async fn run_interleaved(
        &self,
        round: &mut Round,
        arms: &[usize],
        databases: &mut Vec<RunDatabase>,
    ) -> Result<Vec<(usize, CellRecord)>, RunError> {
        let mut cells = Vec::new();
        for &arm in arms {
            cells.push(self.provision(Purpose::Round(round.index), arm, databases).await?);
        }
        for cell in &mut cells {
            self.phase(Some(round.index), cell.arm, RunPhase::WarmUp);
            self.warm_up(cell, round).await?;
            self.stop.check()?;
        }
        let checkpointed = self.flush(arms).await?;
        for cell in &mut cells {
            cell.record.before = self.sizes(cell, checkpointed).await?;
            self.sample_growth(cell).await?;
        }
        let mut meters = self.meters(arms).await?;
        self.run_slices(round, &mut cells, &mut meters).await?;
        let checkpointed = self.flush(arms).await?;
        let mut records = Vec::new();
        for cell in cells {
            let arm = cell.arm;
            self.phase(Some(round.index), arm, RunPhase::Inspect);
            let after = self.sizes(&cell, checkpointed).await?;
            let db = Db { target: self.target(arm), name: &cell.database };
            let audits = match audits(&db, &self.plan, arm, &cell.outcomes()).await {
                // The audits of an unsafe strategy may meet data that it has corrupted.
                Err(RunError::Fatal(fatal @ FatalError::Scenario { .. })) if self.plan.arms[arm].is_unsafe => {
                    round.warnings.push(format!("round {}: {fatal}", round.index + 1));
                    Vec::new()
                }
                audits => audits?,
            };
            records.push((arm, cell.into_record(after, audits, meters.of(self.servers.position(arm)))));
        }
        Ok(records)
    }

    /// Warms an arm up in pieces, so that the report can show whether it was warm at the end.
    pub(super) async fn warm_up(&self, cell: &mut ArmRound, round: &Round) -> Result<(), RunError> {
        for piece in 0..WARM_UP_PIECES {
            let end = round.window.warm_up(piece, WARM_UP_PIECES);
            let last = round.window.warm_up(WARM_UP_PIECES - 1, WARM_UP_PIECES);
            let open = self.open_load(cell, round.seed, WARM_UP_ARRIVALS, last);
            let slice = self.run_slice(cell, SliceSpec { open, ..SliceSpec::unlogged(round.seed, end) }).await?;
            cell.record.warm_up.push(slice);
            self.stop.check()?;
        }
        self.check_success(cell)?;
        // What was recorded is not kept, but audits count all calls.
        cell.earlier = cell.outcomes();
        cell.recorders = self.recorders(cell.arm, true);
        cell.machine = MachineSampler::default();
        (cell.record.calls, cell.record.seconds, cell.record.connections_created) = (0, 0.0, 0);
        Ok(())
    }

    /// Runs all slices of some arms. Slice j of all of them precedes slice j+1 of any, so that slow changes of the machine
    /// affect all arms alike.
    async fn run_slices(&self, round: &mut Round, cells: &mut [ArmRound], meters: &mut Meters) -> Result<(), RunError> {
        let window = round.window;
        let slices = window.slices(self.settings.slices, self.settings.clients, self.settings.load);
        for slice in 0..slices {
            let mut order = Vec::new();
            for place in shuffled(cells.len(), round.seed, slice) {
                let cell = &mut cells[place];
                if window.is_over(cell.record.seconds) {
                    cell.is_dropped = true;
                    continue;
                }
                order.push(cell.arm);
                let end = window.end(slice, slices);
                let open = self.open_load(cell, round.seed, MEASURED_ARRIVALS, window.end(slices - 1, slices));
                let spec = SliceSpec { seed: round.seed, every: INTERVAL, end, listed: None, open, is_logged: true };
                let meter = meters.of(self.servers.position(cell.arm));
                self.measure_slice(cell, spec, round, meter).await?;
                if is_sampled(slice, slices) {
                    meter.invalidate();
                    self.sample_growth(cell).await?;
                }
            }
            round.order.push(order);
        }
        for cell in cells {
            cell.machine.end();
            self.close_intervals(cell);
            if cell.is_dropped {
                round.warnings.push(format!(
                    "round {}: strategy {} was too slow to make all calls in time; its state differs",
                    round.index + 1,
                    self.plan.arms[cell.arm].name
                ));
            }
        }
        Ok(())
    }

    async fn measure_slice(
        &self,
        cell: &mut ArmRound,
        spec: SliceSpec,
        round: &Round,
        meter: &mut Meter,
    ) -> Result<(), RunError> {
        self.phase(cell.round, cell.arm, RunPhase::Measure);
        self.turn(cell.arm).await?;
        meter.begin(self.target(cell.arm)).await;
        let slice = self.run_slice(cell, spec).await?;
        cell.record.slices.push(slice);
        self.stop.check()?;
        meter.end(self.target(cell.arm), &cell.database, &mut cell.usage).await;
        let (arm, done) = (&self.plan.arms[cell.arm].name, cell.record.calls);
        let calls = match round.window {
            Window::Calls { calls, .. } => calls,
            Window::Timed { .. } => done,
        };
        let (failed, seconds) = (cell.failed(), cell.record.seconds);
        self.observer.event(&Event::Slice { round: round.index, arm, done, calls, failed, seconds });
        Ok(())
    }

    async fn sizes(&self, cell: &ArmRound, checkpointed: bool) -> Result<Vec<CollectionSizes>, RunError> {
        self.turn(cell.arm).await?;
        let db = Db { target: self.target(cell.arm), name: &cell.database };
        let sizes = inspect::sizes(&db, &self.plan.arms[cell.arm], checkpointed).await;
        sizes.map_err(self.inspect_error(cell.arm))
    }

    async fn sample_growth(&self, cell: &mut ArmRound) -> Result<(), RunError> {
        self.turn(cell.arm).await?;
        let db = Db { target: self.target(cell.arm), name: &cell.database };
        let samples = inspect::growth(&db, &self.plan, &self.plan.arms[cell.arm], cell.record.calls).await;
        cell.record.growth.extend(samples.map_err(self.inspect_error(cell.arm))?);
        Ok(())
    }
}
