//! One round: every arm filled, warmed up, measured in slices, and inspected.

use std::sync::Arc;

use crate::generate::Seed;
use crate::results::{CellRecord, CollectionSizes, GrowthSample, RoundRecord};
use crate::server::Target;
use crate::server::meter::Meter;

use super::audit::audits;
use super::cell::Cell;
use super::error::RunError;
use super::event::{Event, Phase};
use super::experiment::Experiment;
use super::inspect;
use super::machine::Machine;
use super::part::{MEASURED_ARRIVALS, Part, WARM_UP_ARRIVALS};
use super::provision::Purpose;
use super::schedule::{Window, is_sampled, shuffled};
use super::slice::{Fatal, INTERVAL};

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
    /// Before its first slice.
    pub(super) fn new(index: u64, seed: Seed, window: Window) -> Round {
        Round { index, seed, window, order: Vec::new(), warnings: Vec::new() }
    }
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    pub(super) async fn measured(
        &self,
        index: u64,
        window: Window,
        databases: &mut Vec<Arc<str>>,
    ) -> Result<(RoundRecord, Vec<String>), RunError> {
        let seed = self.plan.round_seed(index);
        let arms = self.plan.arms.len();
        let window = window.under(self.settings.load);
        let mut round = Round::new(index, seed, window);
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
            cells.push((arm, self.provision(Purpose::Round(round.index), arm, databases).await?));
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
            let audits = match audits(&self.plan, arm, (self.target, &cell.database), &cell.outcomes()).await {
                // The audits of a negative control may meet the data that it has spoilt.
                Err(RunError::Fatal(fatal @ Fatal::Scenario { .. })) if self.plan.arms[arm].is_unsafe => {
                    round.warnings.push(format!("round {}: {fatal}", round.index + 1));
                    Vec::new()
                }
                made => made?,
            };
            records.push((arm, cell.into_record((after, audits), &meter)));
        }
        Ok(records)
    }

    /// The warm-up runs in pieces, so that one can see whether the arm was warm at its end.
    pub(super) async fn warm_up(&self, cell: &mut Cell, arm: usize, round: &Round) -> Result<(), RunError> {
        for piece in 0..WARM_UP_PIECES {
            let bounds = round.window.warm_up(piece, WARM_UP_PIECES);
            let part = Part { every: INTERVAL, bounds, arrivals: self.arrivals(round.seed, WARM_UP_ARRIVALS, piece) };
            let slice = self.slice(cell, (None, arm), round.seed, part).await?;
            cell.warm_up.push(slice);
            self.check_stop()?;
        }
        self.check_success(cell, arm)?;
        self.clear(cell, round.index);
        Ok(())
    }

    /// Forgets what a cell has recorded; its calls keep their numbers.
    pub(super) fn clear(&self, cell: &mut Cell, round: u64) {
        cell.forgotten = cell.outcomes();
        let (recorder, paced) = self.measures(Some(round));
        cell.recorders = vec![(recorder, None); self.generators.len()];
        cell.paced = paced;
        cell.calls = 0;
        cell.seconds = 0.0;
        cell.connections_created = 0;
        cell.machine = Machine::default();
    }

    /// All slices of some arms; slice j of all of them comes before slice j+1 of any, so that slow changes of the machine
    /// meet all arms alike.
    async fn slices(&self, round: &mut Round, cells: &mut [(usize, Cell)], meter: &mut Meter) -> Result<(), RunError> {
        let window = round.window;
        let slices = window.slices(self.settings.slices, self.settings.workers, self.settings.load);
        for slice in 0..slices {
            let mut order = Vec::new();
            for place in shuffled(cells.len(), round.seed, slice) {
                let (arm, cell) = &mut cells[place];
                if window.is_over(cell.seconds) {
                    cell.is_dropped = true;
                    continue;
                }
                order.push(*arm);
                let arrivals = self.arrivals(round.seed, MEASURED_ARRIVALS, slice);
                let part = Part { every: INTERVAL, bounds: window.bounds(slice, slices), arrivals };
                self.measured_slice(round, (*arm, cell), part, meter).await?;
                if is_sampled(slice, slices) {
                    meter.disturbed();
                    let mut growth = self.growth(cell, *arm).await?;
                    cell.growth.append(&mut growth);
                }
            }
            round.order.push(order);
        }
        for (arm, cell) in cells {
            cell.machine.end();
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
        part: Part,
        meter: &mut Meter,
    ) -> Result<(), RunError> {
        self.phase(Some(round.index), arm, Phase::Measure);
        meter.begin(self.target).await;
        let slice = self.slice(cell, (Some(round.index), arm), round.seed, part).await?;
        cell.slices.push(slice);
        self.check_stop()?;
        meter.end(self.target, &cell.database, &mut cell.usage).await;
        let calls = match round.window {
            Window::Calls { calls, .. } => calls,
            Window::Timed { .. } => cell.calls,
        };
        let arm = &self.plan.arms[arm].name;
        let (done, failed, seconds) = (cell.calls, cell.failed(), cell.seconds);
        self.observer.event(&Event::Slice { round: round.index, arm, done, calls, failed, seconds });
        Ok(())
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
}
