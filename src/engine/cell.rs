//! One arm in one round: what it holds while it runs, and what is kept of it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::time::Instant;

use crate::record::{OperationMeasures, Recorder, StoredHistogram};
use crate::results::{CellRecord, CollectionSizes, GrowthSample, OperationRecord, OutcomeRecord, SliceRecord};

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
    pub(super) before: Vec<CollectionSizes>,
    pub(super) growth: Vec<GrowthSample>,
    pub(super) slices: Vec<SliceRecord>,
    pub(super) warm_up: Vec<SliceRecord>,
    pub(super) machine: Machine,
    /// It used up the patience: its remaining slices are left out.
    pub(super) is_dropped: bool,
}

impl Cell {
    /// What was recorded so far, per load thread and operation.
    pub(super) fn operations(&self) -> impl Iterator<Item = &OperationMeasures> {
        self.recorders.iter().flat_map(|(recorder, _)| recorder.operations())
    }

    /// What is kept: histograms as text, the load threads' numbers as one.
    pub(super) fn into_record(self, after: Vec<CollectionSizes>) -> CellRecord {
        let mut recorders = self.recorders.into_iter().map(|(recorder, _)| recorder);
        let mut total = recorders.next();
        for recorder in recorders {
            if let Some(total) = &mut total {
                total.merge(recorder);
            }
        }
        let operations =
            total.into_iter().flat_map(Recorder::finish).map(|measures| operation_record(&measures)).collect();
        CellRecord {
            loaded: self.loaded,
            load_seconds: self.load_seconds,
            calls: self.calls,
            seconds: self.seconds,
            connections_created: self.connections_created,
            operations,
            before: self.before,
            after,
            growth: self.growth,
            slices: self.slices,
            warm_up: self.warm_up,
            open: None,
            check_out: None,
            counters: Default::default(),
            machine: self.machine.into_record(),
        }
    }
}

fn operation_record(measures: &OperationMeasures) -> OperationRecord {
    let outcomes = measures.outcomes.iter().map(|(outcome, histogram)| OutcomeRecord {
        outcome: outcome.name(),
        count: histogram.count(),
        saturated: histogram.saturated(),
        sum: histogram.sum(),
        service: StoredHistogram::new(histogram),
        response: None,
    });
    OperationRecord {
        calls: measures.calls,
        round_trips: measures.round_trips,
        outcomes: outcomes.collect(),
        errors: measures.errors.clone(),
        messages: measures.messages.clone(),
        retries: measures.retries.iter().map(|(cause, count)| (cause.to_string(), *count)).collect(),
        inconsistent: None,
    }
}
