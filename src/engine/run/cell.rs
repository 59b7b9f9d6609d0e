//! One arm while its round runs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::time::Instant;

use crate::engine::load::pacer::Pacing;
use crate::plan::OutcomeCounts;
use crate::record::{CallOutcome, OperationMeasures, Part, Recorder};
use crate::results::{CellRecord, EventRecord};
use crate::server::meter::{Meter, Usage};

use super::audit::CallCounts;
use super::machine::MachineSampler;

/// One arm while its round runs.
#[derive(Default)]
pub(super) struct ArmRound {
    /// The arm's position in the plan.
    pub(super) arm: usize,
    /// The round; `None` before the first.
    pub(super) round: Option<u64>,
    pub(super) database: Arc<str>,
    /// What belongs to all parts: of the loading, the sizes after it and after the parts that decide, and the warm-up.
    pub(super) prepared: CellRecord,
    /// The index of the next call.
    pub(super) next: Arc<AtomicU64>,
    /// The window of open load between its slices.
    pub(super) pacing: Option<Pacing>,
    /// Per load thread a recorder, and when its open interval started; `None` before the first slice.
    pub(super) recorders: Vec<(Recorder, Option<Instant>)>,
    pub(super) machine: MachineSampler,
    /// That of its server, which other arms may share.
    pub(super) meter: Rc<RefCell<Meter>>,
    /// Growth of the server's counters over the measured slices of the present part; by operation in the part that measures own
    /// costs.
    pub(super) usage: BTreeMap<Option<usize>, Usage>,
    /// Outcomes of the calls before those that the recorders contain.
    pub(super) earlier: CallCounts,
    /// What happened to its server.
    pub(super) events: Vec<EventRecord>,
    /// The record of the present part so far.
    pub(super) record: CellRecord,
    /// The records of the parts before it.
    pub(super) parts: BTreeMap<Part, CellRecord>,
}

impl ArmRound {
    /// Starts a part, or anything else whose calls are recorded by themselves.
    pub(super) fn begin(&mut self, recorders: Vec<(Recorder, Option<Instant>)>) {
        (self.recorders, self.pacing) = (recorders, None);
        (self.machine, self.usage) = (MachineSampler::default(), BTreeMap::new());
        self.record = CellRecord::default();
    }

    /// Ends a part.
    pub(super) fn end(&mut self, part: Part) {
        self.earlier = self.outcomes();
        let record = self.take_record(part);
        self.parts.insert(part, record);
    }

    /// Drops what was recorded, but not the counts of outcomes.
    pub(super) fn discard(&mut self) {
        self.earlier = self.outcomes();
        self.recorders.clear();
    }

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
                total.unknown[operation] += measures.unknown;
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
