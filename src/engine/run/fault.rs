//! Faults: what docshape does to a server in the middle of a window.

use std::sync::Arc;
use std::time::Duration;

use bson::rawdoc;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::engine::load::recovery::{Recovery, RecoveryWatch};
use crate::engine::load::slice::FatalError;
use crate::record::{Fault, FaultKind, Part};
use crate::results::{EventKind, EventRecord};
use crate::server::{Failure, ReplyKind, Target};

use super::cell::ArmRound;
use super::error::RunError;
use super::experiment::Experiment;

/// How long a stopped server is stopped.
const STOPPED: Duration = Duration::from_secs(5);

/// Seconds for which a primary of several members is none again after it stepped down.
const STEPPED_DOWN: i32 = 10;

/// How long, in seconds, it waits for another member that has all of its writes.
const CATCH_UP: i32 = 5;

/// A fault of a slice, and who watches how the calls come through it.
#[derive(Debug, Clone)]
pub(super) struct SliceFault {
    pub(super) fault: Fault,
    pub(super) recovery: Arc<RecoveryWatch>,
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Waits for the moment of the fault and causes it. Returns when it happened and is undone; `None` when the slice was over
    /// before.
    pub(super) async fn disturb(
        &self,
        arm: usize,
        disturbance: &SliceFault,
        over: oneshot::Receiver<()>,
    ) -> Result<Option<Instant>, RunError> {
        let SliceFault { fault, recovery } = disturbance;
        tokio::select! {
            () = sleep(Duration::from_secs_f64(fault.after)) => {}
            _ = over => return Ok(None),
        }
        let lost = |ended| FatalError::ServerLost(self.ended_server(ended));
        match fault.kind {
            FaultKind::StepDown => self.step_down(arm).await.map_err(RunError::Fault)?,
            FaultKind::Kill | FaultKind::Stop => self.servers.break_down(arm, fault.kind).await.map_err(lost)?,
        }
        let at = Instant::now();
        recovery.fault(at);
        match fault.kind {
            FaultKind::Stop => sleep(STOPPED).await,
            FaultKind::StepDown | FaultKind::Kill => {}
        }
        self.servers.mend(arm, fault.kind).map_err(lost)?;
        Ok(Some(at))
    }

    /// The fault of a part's windows.
    pub(super) fn fault_of(&self, part: Part) -> Option<SliceFault> {
        let fault = self.settings.fault.filter(|_| part == Part::Rate)?;
        Some(SliceFault { fault, recovery: Arc::default() })
    }

    /// Adds a fault that happened at this moment to the events of an arm; without a moment there was none.
    pub(super) fn note_fault(&self, cell: &mut ArmRound, part: Option<Part>, fault: SliceFault, at: Option<Instant>) {
        let (Some(round), Some(at)) = (cell.round, at) else { return };
        let Recovery { recovered, longest_gap } = fault.recovery.finish(Instant::now());
        let (recovered, longest_gap) = (recovered.map(|time| time.as_secs_f64()), longest_gap.as_secs_f64());
        cell.events.push(EventRecord {
            round,
            strategy: cell.arm,
            part,
            seconds: (at - self.started).as_secs_f64(),
            kind: EventKind::Fault { kind: fault.fault.kind, recovered, longest_gap },
        });
    }

    /// Makes the primary step down: in favour of another member, or for a second where it is the only one.
    async fn step_down(&self, arm: usize) -> Result<(), Failure> {
        let target = self.target(arm);
        let alone = rawdoc! { "replSetStepDown": 1, "secondaryCatchUpPeriodSecs": 0, "force": true };
        let stepped = if self.servers.are_shared() {
            let among = rawdoc! { "replSetStepDown": STEPPED_DOWN, "secondaryCatchUpPeriodSecs": CATCH_UP };
            match target.run("admin", among, ReplyKind::Single).await {
                Err(failure) if failure.code().is_some() && !failure.is_interruption() => {
                    target.run("admin", alone, ReplyKind::Single).await
                }
                stepped => stepped,
            }
        } else {
            target.run("admin", alone, ReplyKind::Single).await
        };
        match stepped {
            // A server that steps down may close the connection before it answers.
            Err(failure) if !failure.is_interruption() => Err(failure),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}
