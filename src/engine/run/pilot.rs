//! The pilot: a short run of every arm that finds how many calls fill a window.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use crate::engine::load::slice::{FatalError, SliceEnd};
use crate::plan::call_id;
use crate::record::{OPLOG_BYTES, Part};
use crate::server::{Db, Target};

use super::cell::ArmRound;
use super::error::{Result, RunError};
use super::event::RunPhase;
use super::experiment::Experiment;
use super::inspect;

/// An operation fails always when at least this many calls were made and all failed.
const ENOUGH_CALLS: u64 = 3;

/// The result of the pilot.
#[derive(Debug, Clone, PartialEq)]
pub struct Pilot {
    /// Calls per second of every arm; the repeat has those of the baseline, and both the lower of their two.
    pub rates: Vec<f64>,
    /// Data and indexes of all arms together, in bytes.
    pub bytes: u64,
    /// Bytes of data, indexes and oplog that a call of every arm leaves to write; none where each has its own server.
    pub dirty: Vec<f64>,
    /// The time in seconds that all but one of 1,000 calls of the slowest arm do not exceed.
    pub tail: f64,
}

impl Pilot {
    /// Calls per second of the slowest arm.
    pub fn slowest(&self) -> f64 {
        self.rates.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Runs every arm for some seconds to find the rate of the slowest and the size of all.
    ///
    /// # Errors
    /// As [`RunError`] says. The pilot's databases are dropped in any case.
    pub async fn pilot(&self, seconds: f64) -> Result<Pilot> {
        self.on_databases(false, async {
            let mut pilot = Pilot { rates: Vec::new(), bytes: 0, dirty: Vec::new(), tail: 0.0 };
            for (arm, strategy) in self.plan.arms.iter().enumerate() {
                let mut cell = self.provision(None, RunPhase::Load, arm).await?;
                let before = self.footprint(&cell).await?;
                self.attach_meters(std::slice::from_mut(&mut cell)).await?;
                self.phase(None, arm, RunPhase::Measure(Part::Saturation));
                cell.next = Arc::new(AtomicU64::new(call_id::PILOT.start));
                let end = SliceEnd::After(Duration::from_secs_f64(seconds));
                self.measure_slice(&mut cell, self.unlogged(end)).await?;
                self.check_success(&cell)?;
                let made = cell.record.slices.last().filter(|slice| slice.calls > 0 && slice.seconds > 0.0);
                let Some(slice) = made else {
                    return Err(RunError::NoCalls { strategy: strategy.name.clone(), seconds });
                };
                pilot.rates.push(slice.calls as f64 / slice.seconds);
                pilot.tail = pilot.tail.max(tail(&cell));
                let bytes = self.footprint(&cell).await?;
                pilot.bytes = pilot.bytes.saturating_add(bytes);
                if self.servers.are_shared() {
                    let oplog = cell.cost(None).remove(OPLOG_BYTES);
                    let left = bytes.saturating_sub(before) as f64 + oplog.unwrap_or(0.0);
                    pilot.dirty.push(left / slice.calls as f64);
                }
            }
            if let Some(repeat) = self.plan.arms.iter().position(|arm| arm.is_repeat) {
                let both = pilot.rates[0].min(pilot.rates[repeat]);
                (pilot.rates[0], pilot.rates[repeat]) = (both, both);
            }
            Ok(pilot)
        })
        .await
    }

    /// The bytes of an arm's data and indexes. A shared server is flushed before: the files of indexes lag behind.
    async fn footprint(&self, cell: &ArmRound) -> Result<u64> {
        if self.servers.are_shared() {
            self.flush(&[cell.arm]).await?;
        }
        let db = Db { target: self.target(cell.arm), name: &cell.database };
        inspect::footprint(&db, &self.plan.arms[cell.arm]).await.map_err(self.inspect_error(cell.arm))
    }

    /// Ends the run when the server fails every call of an operation: there is nothing to compare.
    pub(super) fn check_success(&self, cell: &ArmRound) -> Result<()> {
        for (position, operation) in self.plan.operations.iter().enumerate() {
            let recorders = cell.recorders.iter();
            let measures: Vec<_> = recorders.map(|(recorder, _)| &recorder.operations()[position]).collect();
            let calls: u64 = measures.iter().map(|measures| measures.calls).sum();
            let failed: u64 = measures.iter().map(|measures| measures.server_errors()).sum();
            if calls >= ENOUGH_CALLS && failed == calls {
                let message = measures.iter().flat_map(|measures| measures.messages.values()).next();
                let message = message.map_or("", String::as_str);
                let error = format_args!("all {calls} calls failed: {message}; check its steps");
                return Err(FatalError::in_strategy(&self.plan.arms[cell.arm].name, &*operation.name, &error).into());
            }
        }
        Ok(())
    }
}

/// The 99.9th percentile of all calls so far, in seconds; the open intervals are left out.
fn tail(cell: &ArmRound) -> f64 {
    let operations = cell.recorders.iter().flat_map(|(recorder, _)| recorder.clone().finish());
    let times = operations.flat_map(|operation| operation.outcomes).map(|(_, times)| times);
    let total = times.reduce(|mut total, times| {
        total.merge(&times);
        total
    });
    total.map_or(0.0, |total| total.quantile(0.999) as f64 / 1e9)
}
