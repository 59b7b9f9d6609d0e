//! A try-out of every arm, which tells how many calls a run can have.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use crate::server::Target;

use super::cell::Cell;
use super::error::RunError;
use super::event::Phase;
use super::experiment::Experiment;
use super::inspect;
use super::part::Part;
use super::provision::Purpose;
use super::slice::INTERVAL;

/// Measured calls are numbered from here on in the pilot, so that it makes none of those that count.
const PILOT_CALLS: u64 = 500_000_000;

/// What a pilot tells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pilot {
    /// Calls per second of the slowest arm.
    pub rate: f64,
    /// Data and indexes of all arms together, in bytes.
    pub bytes: u64,
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Runs every arm for so many seconds: how fast the slowest is, and how large all are.
    ///
    /// # Errors
    /// As [`RunError`] says. The pilot's databases are dropped in any case.
    pub async fn pilot(&self, seconds: f64) -> Result<Pilot, RunError> {
        let mut databases = Vec::new();
        let pilot = self.try_out(seconds, &mut databases).await;
        self.finish(pilot, (&databases, false)).await
    }

    async fn try_out(&self, seconds: f64, databases: &mut Vec<Arc<str>>) -> Result<Pilot, RunError> {
        let mut pilot = Pilot { rate: f64::INFINITY, bytes: 0 };
        for arm in 0..self.plan.arms.len() {
            let mut cell = self.provision(Purpose::Pilot, arm, databases).await?;
            self.phase(None, arm, Phase::Measure);
            cell.next = Arc::new(AtomicU64::new(PILOT_CALLS));
            let length = Some(Duration::from_secs_f64(seconds));
            let part = Part { every: INTERVAL, bounds: (u64::MAX, length), arrivals: None };
            let slice = self.slice(&mut cell, (None, arm), self.plan.round_seed(0), part).await?;
            self.check_stop()?;
            self.check_success(&cell, arm)?;
            if slice.calls == 0 || slice.seconds == 0.0 {
                return Err(RunError::NoCalls { arm: self.plan.arms[arm].name.clone(), seconds });
            }
            pilot.rate = pilot.rate.min(slice.calls as f64 / slice.seconds);
            pilot.bytes = pilot.bytes.saturating_add(self.footprint(&cell, arm).await?);
        }
        Ok(pilot)
    }

    async fn footprint(&self, cell: &Cell, arm: usize) -> Result<u64, RunError> {
        let arm = &self.plan.arms[arm];
        let bytes = inspect::footprint(self.target, &cell.database, arm).await;
        bytes.map_err(|failure| RunError::Inspect { arm: arm.name.clone(), failure })
    }

    /// Ends the run when the server refuses every call of an operation: that is no schema to compare.
    pub(super) fn check_success(&self, cell: &Cell, arm: usize) -> Result<(), RunError> {
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
}
