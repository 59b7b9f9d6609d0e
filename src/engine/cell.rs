//! One arm in one round: what it holds while it runs, and what is kept of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::time::Instant;

use crate::plan::OutcomeCounts;
use crate::record::{CallOutcome, LatencyHistogram, OperationMeasures, Recorder, StoredHistogram};
use crate::results::{
    AuditRecord, CellRecord, CollectionSizes, GrowthSample, OpenRecord, OperationRecord, OutcomeRecord, RateRecord,
    SliceRecord, TimesRecord,
};
use crate::server::counters::Counters;
use crate::server::meter::{Meter, Usage};

use super::audit::CallCounts;
use super::pacer::Paced;

use super::machine::Machine;

/// One arm while its round runs.
pub(super) struct Cell {
    pub(super) database: Arc<str>,
    pub(super) loaded: u64,
    pub(super) load_seconds: f64,
    pub(super) next: Arc<AtomicU64>,
    /// A recorder per load thread, and when its open interval began; `None` before the first slice.
    pub(super) recorders: Vec<(Recorder, Option<Instant>)>,
    pub(super) calls: u64,
    pub(super) seconds: f64,
    pub(super) connections_created: u64,
    /// What the pacers of its slices told; `None` in the closed model.
    pub(super) paced: Option<Paced>,
    pub(super) before: Vec<CollectionSizes>,
    pub(super) growth: Vec<GrowthSample>,
    pub(super) slices: Vec<SliceRecord>,
    pub(super) warm_up: Vec<SliceRecord>,
    /// What the server's counters say of the measured slices.
    pub(super) usage: Usage,
    pub(super) machine: Machine,
    /// What its calls came to that are not in the recorders any more.
    pub(super) forgotten: CallCounts,
    /// It used up the patience: its remaining slices are left out.
    pub(super) is_dropped: bool,
}

impl Cell {
    /// What was recorded so far, per load thread and operation.
    pub(super) fn operations(&self) -> impl Iterator<Item = &OperationMeasures> {
        self.recorders.iter().flat_map(|(recorder, _)| recorder.operations())
    }

    /// Calls recorded so far that failed or were not sent: each is counted by its reason.
    pub(super) fn failed(&self) -> u64 {
        self.operations().flat_map(|operation| operation.errors.values()).sum()
    }

    /// What all its calls came to since its data were loaded.
    pub(super) fn outcomes(&self) -> CallCounts {
        let mut total = self.forgotten.clone();
        for (recorder, _) in &self.recorders {
            for (operation, measures) in recorder.operations().iter().enumerate() {
                count(&mut total.known[operation], &mut total.unknown[operation], measures);
            }
        }
        total
    }

    /// What was recorded of calls with intended times, without their batches; `None` in the closed model.
    pub(super) fn into_rate(self) -> Option<RateRecord> {
        let total = merged(self.recorders)?;
        let queue_wait = total.queue_wait().map(TimesRecord::new)?;
        let operations: Vec<OperationRecord> = total.finish().iter().map(operation_record).collect();
        let open = open_record(self.paced.as_ref()?, queue_wait, &operations);
        Some(RateRecord { open, operations, batches: Vec::new() })
    }

    /// What is kept: histograms as text, the load threads' numbers as one.
    pub(super) fn into_record(
        self,
        (after, audits): (Vec<CollectionSizes>, Vec<AuditRecord>),
        meter: &Meter,
    ) -> CellRecord {
        let counters = named(meter.cost(&self.usage));
        let total = merged(self.recorders);
        let check_out = total.as_ref().and_then(Recorder::check_out).map(TimesRecord::new);
        let queue_wait = total.as_ref().and_then(Recorder::queue_wait).map(TimesRecord::new);
        let operations: Vec<OperationRecord> =
            total.into_iter().flat_map(Recorder::finish).map(|measures| operation_record(&measures)).collect();
        let open = self.paced.zip(queue_wait).map(|(paced, waits)| open_record(&paced, waits, &operations));
        CellRecord {
            loaded: self.loaded,
            load_seconds: self.load_seconds,
            calls: self.calls,
            seconds: self.seconds,
            connections_created: self.connections_created,
            operations,
            before: self.before,
            after,
            audits,
            growth: self.growth,
            slices: self.slices,
            warm_up: self.warm_up,
            open,
            check_out,
            counters,
            machine: self.machine.into_record(),
        }
    }
}

/// Adds what one load thread recorded of an operation. Successful calls may still be in an open interval, so they are
/// what is left of all.
fn count(known: &mut OutcomeCounts, unknown: &mut u64, measures: &OperationMeasures) {
    let mut others = 0;
    for (outcome, times) in &measures.outcomes {
        let counter = match outcome {
            // Every failure has a reason, by which it is counted below.
            CallOutcome::Ok | CallOutcome::Failed | CallOutcome::Skipped => continue,
            CallOutcome::Same => &mut known.same,
            CallOutcome::NotFound => &mut known.not_found,
            CallOutcome::Refused(_) => &mut known.refused,
        };
        *counter += times.count();
        others += times.count();
    }
    known.done += measures.calls - others - measures.errors.values().sum::<u64>();
    *unknown += ["network", "timeout"].iter().filter_map(|reason| measures.errors.get(*reason)).sum::<u64>();
}

/// The load threads' recorders as one.
fn merged(recorders: Vec<(Recorder, Option<Instant>)>) -> Option<Recorder> {
    let mut recorders = recorders.into_iter().map(|(recorder, _)| recorder);
    let first = recorders.next()?;
    Some(recorders.fold(first, |mut total, recorder| {
        total.merge(recorder);
        total
    }))
}

fn open_record(paced: &Paced, queue_wait: TimesRecord, operations: &[OperationRecord]) -> OpenRecord {
    let outcomes = operations.iter().flat_map(|operation| &operation.outcomes);
    let skipped = outcomes.filter(|outcome| outcome.outcome == CallOutcome::Skipped.name());
    OpenRecord {
        offered: paced.offered,
        seconds: paced.seconds,
        waiting: paced.waiting,
        skipped: skipped.map(|outcome| outcome.count).sum(),
        never_started: paced.never_started,
        pacer_lag: TimesRecord::new(&paced.lag),
        queue_wait,
    }
}

fn outcome_record(outcome: &CallOutcome, service: &LatencyHistogram, measures: &OperationMeasures) -> OutcomeRecord {
    let response = measures.responses.iter().find(|(other, _)| other == outcome).map(|(_, times)| times);
    OutcomeRecord {
        outcome: outcome.name(),
        count: response.unwrap_or(service).count(),
        saturated: service.saturated(),
        sum: service.sum(),
        service: StoredHistogram::new(service),
        response: response.map(TimesRecord::new),
    }
}

fn operation_record(measures: &OperationMeasures) -> OperationRecord {
    let outcomes = measures.outcomes.iter().map(|(outcome, service)| outcome_record(outcome, service, measures));
    OperationRecord {
        calls: measures.calls,
        round_trips: measures.round_trips,
        outcomes: outcomes.collect(),
        errors: measures.errors.clone(),
        messages: measures.messages.clone(),
        retries: measures.retries.iter().map(|(cause, count)| (cause.to_string(), *count)).collect(),
        inconsistent: measures.inconsistent.as_ref().map(times_record),
    }
}

fn times_record(histogram: &LatencyHistogram) -> TimesRecord {
    TimesRecord {
        count: histogram.count(),
        saturated: histogram.saturated(),
        sum: histogram.sum(),
        histogram: StoredHistogram::new(histogram),
    }
}

/// Counters as they are kept.
pub(super) fn named(counters: Counters) -> BTreeMap<String, f64> {
    counters.into_iter().map(|(name, growth)| (name.to_owned(), growth)).collect()
}
