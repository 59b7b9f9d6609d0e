//! One arm while its round runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::time::Instant;

use crate::engine::load::pacer::Pacing;
use crate::plan::OutcomeCounts;
use crate::record::{CallOutcome, OperationMeasures, Part, Recorder};
use crate::results::{CellRecord, CollectionSizes, DeferredCost, EventRecord, SliceRecord};
use crate::server::meter::{Meter, Usage};

use super::audit::CallCounts;
use super::machine::MachineSampler;

/// One arm while its round runs.
pub(super) struct ArmRound {
    /// The arm's position in the plan.
    pub(super) arm: usize,
    /// The round; `None` before the first.
    pub(super) round: Option<u64>,
    pub(super) database: Arc<str>,
    /// Documents inserted, and the seconds that this took.
    pub(super) loaded: u64,
    pub(super) load_seconds: f64,
    /// The pieces of the warm-up.
    pub(super) warm_up: Vec<SliceRecord>,
    /// The sizes after loading.
    pub(super) before: Vec<CollectionSizes>,
    /// The index of the next call.
    pub(super) next: Arc<AtomicU64>,
    /// The window of open load between its slices.
    pub(super) pacing: Option<Pacing>,
    /// Per load thread a recorder, and when its open interval started; `None` before the first slice.
    pub(super) recorders: Vec<(Recorder, Option<Instant>)>,
    pub(super) machine: MachineSampler,
    /// Growth of the server's counters over the measured slices of the present part.
    pub(super) usage: Usage,
    /// The same per operation, in the part that measures own costs.
    pub(super) own_usage: Vec<Usage>,
    /// Outcomes of the calls before those that the recorders contain.
    pub(super) earlier: CallCounts,
    /// What happened to its server.
    pub(super) events: Vec<EventRecord>,
    /// Whether it took too long, so that its remaining slices were left out.
    pub(super) is_dropped: bool,
    /// The record of the present part so far.
    pub(super) record: CellRecord,
    /// The records of the parts before it.
    pub(super) parts: BTreeMap<Part, CellRecord>,
}

/// What was recorded of a part, while calls are made that are not measured.
pub(super) struct PutAside {
    recorders: Vec<(Recorder, Option<Instant>)>,
    machine: MachineSampler,
    record: CellRecord,
}

impl ArmRound {
    /// Starts a part, or anything else whose calls are recorded by themselves.
    pub(super) fn begin(&mut self, recorders: Vec<(Recorder, Option<Instant>)>, operations: usize) {
        (self.recorders, self.pacing) = (recorders, None);
        self.machine = MachineSampler::default();
        (self.usage, self.own_usage) = (Usage::default(), vec![Usage::default(); operations]);
        self.record = CellRecord::default();
    }

    /// Ends a part.
    pub(super) fn end(&mut self, part: Part, meter: &Meter) {
        self.earlier = self.outcomes();
        self.machine.end();
        let record = self.take_record(part, meter);
        self.parts.insert(part, record);
    }

    /// Puts aside what was recorded, to make calls that are not measured.
    pub(super) fn put_aside(&mut self, recorders: Vec<(Recorder, Option<Instant>)>) -> PutAside {
        PutAside {
            recorders: std::mem::replace(&mut self.recorders, recorders),
            machine: std::mem::take(&mut self.machine),
            record: std::mem::take(&mut self.record),
        }
    }

    /// Takes back what was put aside; of the calls since then only the outcomes are kept.
    pub(super) fn take_back(&mut self, measured: PutAside) {
        self.earlier = self.outcomes();
        PutAside { recorders: self.recorders, machine: self.machine, record: self.record } = measured;
    }

    /// Drops what was recorded, but not the counts of outcomes.
    pub(super) fn discard(&mut self) {
        self.earlier = self.outcomes();
        self.recorders.clear();
    }

    /// Charges the present part for a flush; one flush whose cost is unknown makes all unknown.
    pub(super) fn charge(&mut self, cost: Option<DeferredCost>) {
        let is_first = self.record.deferred.is_none();
        let before = self.record.deferred.unwrap_or(DeferredCost { seconds: 0.0, bytes: Some(0.0) });
        let sum = |cost: DeferredCost| DeferredCost {
            seconds: before.seconds + cost.seconds,
            bytes: before.bytes.zip(cost.bytes).map(|(before, more)| before + more),
        };
        self.record.deferred = cost.map(sum).filter(|_| is_first || self.record.deferred.is_some());
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
