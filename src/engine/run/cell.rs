//! One arm while its round runs.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::time::Instant;

use crate::engine::load::pacer::Pacing;
use crate::plan::OutcomeCounts;
use crate::record::{CallOutcome, OperationMeasures, Recorder};
use crate::results::CellRecord;
use crate::server::meter::Usage;

use super::audit::CallCounts;
use super::machine::MachineSampler;

/// One arm while its round runs.
pub(super) struct ArmRound {
    /// The arm's position in the plan.
    pub(super) arm: usize,
    /// The round; `None` before the first.
    pub(super) round: Option<u64>,
    pub(super) database: Arc<str>,
    /// The index of the next call.
    pub(super) next: Arc<AtomicU64>,
    /// The window of open load between its slices.
    pub(super) pacing: Option<Pacing>,
    /// Per load thread a recorder, and when its open interval started; `None` before the first slice.
    pub(super) recorders: Vec<(Recorder, Option<Instant>)>,
    pub(super) machine: MachineSampler,
    /// Growth of the server's counters over the measured slices.
    pub(super) usage: Usage,
    /// Outcomes of the calls before the measured ones.
    pub(super) earlier: CallCounts,
    /// Whether it took too long, so that its remaining slices were left out.
    pub(super) is_dropped: bool,
    /// The record so far, without what [`ArmRound::into_record`] adds.
    pub(super) record: CellRecord,
}

impl ArmRound {
    /// What was recorded so far, per load thread and operation.
    pub(super) fn operations(&self) -> impl Iterator<Item = &OperationMeasures> {
        self.recorders.iter().flat_map(|(recorder, _)| recorder.operations())
    }

    /// Recorded calls that failed or were skipped: each is counted under its reason.
    pub(super) fn failed(&self) -> u64 {
        self.operations().flat_map(|operation| operation.errors.values()).sum()
    }

    /// The outcomes of all calls since the data were loaded.
    pub(super) fn outcomes(&self) -> CallCounts {
        let mut total = self.earlier.clone();
        for (recorder, _) in &self.recorders {
            for (operation, measures) in recorder.operations().iter().enumerate() {
                add_outcomes(&mut total.known[operation], measures);
                let unknown = ["network", "timeout"].iter().filter_map(|reason| measures.errors.get(*reason));
                total.unknown[operation] += unknown.sum::<u64>();
            }
        }
        total
    }
}

/// Adds the outcomes that one load thread recorded of an operation. Successful calls may still be in an open interval, so
/// they are the rest.
fn add_outcomes(known: &mut OutcomeCounts, measures: &OperationMeasures) {
    let mut others = 0;
    for (outcome, times) in &measures.outcomes {
        let counter = match outcome {
            // Every failure has a reason, under which it is counted.
            CallOutcome::Ok | CallOutcome::Failed | CallOutcome::Skipped => continue,
            CallOutcome::Same => &mut known.same,
            CallOutcome::NotFound => &mut known.not_found,
            CallOutcome::Rejected(_) => &mut known.rejected,
        };
        *counter += times.count();
        others += times.count();
    }
    known.ok += measures.calls - others - measures.errors.values().sum::<u64>();
}
