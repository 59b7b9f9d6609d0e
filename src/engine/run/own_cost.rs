//! Own costs: what calls of one operation cost when nothing else runs.
//!
//! A stretch of the mix is regrouped by operation, in the order in which the scenario defines them. So operations that depend
//! on earlier calls find the data as in the mix: what they refer to was made in the stretch, or before it.

use std::sync::Arc;

use crate::engine::load::slice::{INTERVAL, SliceEnd};
use crate::generate::{Label, Seed};
use crate::record::Part;
use crate::server::Target;

use super::cell::ArmRound;
use super::error::RunError;
use super::event::RunPhase;
use super::experiment::Experiment;
use super::meters::Meters;
use super::round::Round;
use super::round_plan::OwnCalls;
use super::schedule::{end_of_part, shuffled};
use super::slice_spec::SliceSpec;

/// The most slices of an operation's measured calls.
const SLICES: u64 = 12;

/// The fewest calls of a slice, where there are several.
const SLICE_CALLS: u64 = 10;

/// Calls of the operation before each slice that are not measured: the server, stopped until then, fills its caches.
const UNMEASURED: usize = 2;

/// Labels the order of the arms.
const ORDER: Label = Label::new("order, own");

/// The calls of one operation in a stretch of the mix.
struct OperationCalls {
    operation: usize,
    /// Calls that only bring the data into their state.
    before: Arc<[u64]>,
    /// Per slice, the calls that come first and are not measured, and the measured ones.
    slices: Vec<OwnSlice>,
}

struct OwnSlice {
    first: Arc<[u64]>,
    measured: Arc<[u64]>,
}

impl OperationCalls {
    fn new(operation: usize, indexes: &[u64], measured: u64) -> OperationCalls {
        let measured = measured + SLICES * UNMEASURED as u64;
        let (before, rest) = indexes.split_at(indexes.len().saturating_sub(measured as usize));
        let slices = (rest.len() as u64 / SLICE_CALLS).clamp(1, SLICES);
        let end = |slice: u64| end_of_part(rest.len() as u64, slice, slices) as usize;
        let slice = |slice: u64| {
            let calls = &rest[slice.checked_sub(1).map_or(0, end)..end(slice)];
            let (first, measured) = calls.split_at(UNMEASURED.min(calls.len() / 2));
            OwnSlice { first: first.into(), measured: measured.into() }
        };
        OperationCalls { operation, before: before.into(), slices: (0..slices).map(slice).collect() }
    }
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Measures the calls of every operation, of which slices alternate over the arms. Returns their order.
    pub(super) async fn run_own_calls(
        &self,
        round: &Round,
        cells: &mut [ArmRound],
        meters: &mut Meters,
    ) -> Result<Vec<Vec<usize>>, RunError> {
        let Some(own) = round.plan.own else { return Ok(Vec::new()) };
        let (mut orders, mut number) = (Vec::new(), 0);
        for calls in self.regrouped(round, own) {
            for (place, slice) in calls.slices.iter().enumerate() {
                let order = shuffled(cells.len(), round.seed, ORDER, number);
                number += 1;
                for &turn in &order {
                    let cell = &mut cells[turn];
                    self.phase(cell.round, cell.arm, RunPhase::Measure(Part::Own));
                    self.turn(cell.arm).await?;
                    if place == 0 {
                        self.run_unmeasured(cell, round.seed, &calls.before, self.settings.clients).await?;
                    }
                    self.run_unmeasured(cell, round.seed, &slice.first, 1).await?;
                    self.run_own_slice(cell, round.seed, calls.operation, slice, meters).await?;
                    self.report_slice(cell, Part::Own, cell.record.calls);
                }
                orders.push(order.into_iter().map(|place| cells[place].arm).collect());
            }
        }
        let first = round.plan.warmup + own.stretch;
        cells.iter().for_each(|cell| cell.next.store(first, std::sync::atomic::Ordering::Relaxed));
        cells.iter().try_for_each(|cell| self.check_success(cell))?;
        Ok(orders)
    }

    /// The calls of the stretch by operation.
    fn regrouped(&self, round: &Round, own: OwnCalls) -> Vec<OperationCalls> {
        let mut indexes = vec![Vec::new(); self.plan.operations.len()];
        for index in round.plan.warmup..round.plan.warmup + own.stretch {
            indexes[self.plan.mix.draw(round.seed, index)].push(index);
        }
        let called = indexes.iter().enumerate().filter(|(_, indexes)| !indexes.is_empty());
        called.map(|(operation, indexes)| OperationCalls::new(operation, indexes, own.measured)).collect()
    }

    async fn run_own_slice(
        &self,
        cell: &mut ArmRound,
        seed: Seed,
        operation: usize,
        slice: &OwnSlice,
        meters: &mut Meters,
    ) -> Result<(), RunError> {
        let usage = std::mem::replace(&mut cell.usage, std::mem::take(&mut cell.own_usage[operation]));
        meters.of(self.servers.position(cell.arm)).invalidate();
        let spec = SliceSpec { logged: Some(Part::Own), ..self.listed(seed, &slice.measured, 1) };
        let measured = self.measure_slice(cell, spec, meters).await;
        cell.own_usage[operation] = std::mem::replace(&mut cell.usage, usage);
        measured
    }

    /// Makes calls that are not measured; audits count them.
    async fn run_unmeasured(
        &self,
        cell: &mut ArmRound,
        seed: Seed,
        calls: &Arc<[u64]>,
        clients: usize,
    ) -> Result<(), RunError> {
        if calls.is_empty() {
            return Ok(());
        }
        let measured = cell.put_aside(self.recorders(cell.arm, self.load_of(Part::Own)));
        let result = self.run_slice(cell, self.listed(seed, calls, clients)).await;
        cell.take_back(measured);
        self.stop.check()?;
        result.map(drop)
    }

    fn listed(&self, seed: Seed, calls: &Arc<[u64]>, clients: usize) -> SliceSpec {
        let (end, listed) = (SliceEnd::AtCall(calls.len() as u64), Some(Arc::clone(calls)));
        SliceSpec { seed, every: INTERVAL, clients, end, listed, open: None, logged: None }
    }
}
