//! Own costs: what calls of one operation cost when nothing else runs.
//!
//! A stretch of the mix is cut into pieces, and the calls of each are regrouped by operation, in the order in which the scenario
//! defines them. So operations that depend on earlier calls find the data as in the mix: what they refer to was made in the
//! piece, or before it, and no operation gets far ahead of the others.

use std::sync::Arc;

use crate::engine::load::slice::SliceEnd;
use crate::generate::Label;
use crate::record::Part;
use crate::server::Target;

use super::cell::ArmRound;
use super::error::Result;
use super::event::RunPhase;
use super::experiment::Experiment;
use super::round::Round;
use super::round_plan::OwnCalls;
use super::schedule::{end_of_part, shuffled};
use super::slice_spec::SliceSpec;

/// Pieces of a stretch. Each has a slice of every operation.
const PIECES: u64 = 6;

/// Calls of the operation before each slice that are not measured: the server, stopped until then, fills its caches.
const UNMEASURED: usize = 2;

/// Labels the order of the arms.
const ORDER: Label = Label::new("order, own");

/// The calls of one operation in a piece of the stretch.
pub(super) struct OwnSlice {
    pub(super) operation: usize,
    /// Calls that only bring the data into their state.
    before: Arc<[u64]>,
    /// Those that come next and are not measured either.
    pub(super) first: Arc<[u64]>,
    measured: Arc<[u64]>,
}

impl OwnSlice {
    pub(super) fn new(operation: usize, indexes: &[u64], measured: u64) -> OwnSlice {
        let wanted = measured as usize + UNMEASURED;
        let (before, rest) = indexes.split_at(indexes.len().saturating_sub(wanted));
        let (first, measured) = rest.split_at(UNMEASURED.min(rest.len() / 2));
        OwnSlice { operation, before: before.into(), first: first.into(), measured: measured.into() }
    }
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Measures the calls of every operation, of which slices alternate over the arms. Returns their order.
    pub(super) async fn run_own_calls(&self, round: &Round, cells: &mut [ArmRound]) -> Result<Vec<Vec<usize>>> {
        let Some(own) = round.plan.own else { return Ok(Vec::new()) };
        let mut orders = Vec::new();
        let slices: Vec<OwnSlice> = (0..PIECES).flat_map(|piece| self.regrouped(round, own, piece)).collect();
        for slice in &slices {
            let order = shuffled(cells.len(), round.seed, ORDER, orders.len() as u64);
            for &turn in &order {
                let cell = &mut cells[turn];
                self.phase(cell.round, cell.arm, RunPhase::Measure(Part::Own));
                self.turn(cell.arm).await?;
                self.run_unmeasured(cell, &slice.before, self.settings.clients).await?;
                self.run_unmeasured(cell, &slice.first, 1).await?;
                self.run_own_slice(cell, slice).await?;
                let share = (orders.len() + 1) as f64 / slices.len() as f64;
                self.report_slice(cell, Part::Own, cell.record.calls, share);
            }
            orders.push(order.into_iter().map(|place| cells[place].arm).collect());
        }
        let first = round.plan.warmup + own.stretch;
        cells.iter().for_each(|cell| cell.next.store(first, std::sync::atomic::Ordering::Relaxed));
        cells.iter().try_for_each(|cell| self.check_success(cell))?;
        Ok(orders)
    }

    /// The calls of a piece of the stretch by operation.
    fn regrouped(&self, round: &Round, own: OwnCalls, piece: u64) -> Vec<OwnSlice> {
        let mut indexes = vec![Vec::new(); self.plan.operations.len()];
        let end = |calls: u64, piece: u64| end_of_part(calls, piece, PIECES);
        let of_piece = |calls: u64| piece.checked_sub(1).map_or(0, |before| end(calls, before))..end(calls, piece);
        for index in of_piece(own.stretch) {
            let index = round.plan.warmup + index;
            indexes[self.plan.mix.draw(round.seed, index)].push(index);
        }
        let measured = of_piece(own.measured).count() as u64;
        let called = indexes.iter().enumerate().filter(|(_, indexes)| !indexes.is_empty());
        called.map(|(operation, indexes)| OwnSlice::new(operation, indexes, measured)).collect()
    }

    pub(super) async fn run_own_slice(&self, cell: &mut ArmRound, slice: &OwnSlice) -> Result<()> {
        cell.meter.borrow_mut().invalidate();
        let (logged, operation) = (Some(Part::Own), Some(slice.operation));
        let spec = SliceSpec { logged, operation, ..self.listed(&slice.measured, 1) };
        self.measure_slice(cell, spec).await
    }

    /// Makes calls that are not measured; audits count them.
    pub(super) async fn run_unmeasured(&self, cell: &mut ArmRound, calls: &Arc<[u64]>, clients: usize) -> Result<()> {
        if calls.is_empty() {
            return Ok(());
        }
        // What is recorded of them is dropped with their cell, but for the outcomes.
        let mut unmeasured = ArmRound {
            arm: cell.arm,
            round: cell.round,
            database: Arc::clone(&cell.database),
            recorders: self.recorders(cell.arm, self.settings.load_of(Part::Own)),
            earlier: std::mem::take(&mut cell.earlier),
            ..ArmRound::default()
        };
        let result = self.run_slice(&mut unmeasured, self.listed(calls, clients)).await;
        cell.earlier = unmeasured.outcomes();
        self.stop.check()?;
        result.map(drop)
    }

    pub(super) fn listed(&self, calls: &Arc<[u64]>, clients: usize) -> SliceSpec {
        let end = SliceEnd::AtCall(calls.len() as u64);
        SliceSpec { clients, listed: Some(Arc::clone(calls)), ..self.unlogged(end) }
    }
}
