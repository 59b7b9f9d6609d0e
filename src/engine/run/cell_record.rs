//! What is kept of a cell: histograms as text, the measurements of all load threads as one.

use std::collections::BTreeMap;

use crate::record::{CallOutcome, LatencyHistogram, OpenMeasures, OperationMeasures, Part, Recorder, Waits};
use crate::results::{CellRecord, OpenRecord, OperationRecord, OutcomeRecord, TimesRecord};

use super::cell::ArmRound;
use super::trial::RateRecord;

impl ArmRound {
    /// What the recorders of all load threads contain: the operations, the open load, and the waits for a connection.
    fn recorded(&mut self) -> (Vec<OperationRecord>, Option<OpenRecord>, Option<Waits>) {
        let recorders = self.recorders.drain(..).map(|(recorder, _)| recorder);
        let total = recorders.reduce(|mut total, recorder| {
            total.merge(recorder);
            total
        });
        let Some(total) = total else { return Default::default() };
        let (open, check_out) = (total.open_load().cloned(), Some(total.check_out()).filter(|waits| waits.count > 0));
        let operations: Vec<_> = Recorder::finish(total).iter().map(operation_record).collect();
        let open = open.map(|open| open_record(&open, &operations));
        (operations, open, check_out)
    }

    /// The record of one rate of open load, without its batches; `None` with closed load.
    pub(super) fn into_rate(mut self) -> Option<RateRecord> {
        let (operations, open, _) = self.recorded();
        Some(RateRecord { open: open?, operations, batches: Vec::new() })
    }

    /// What the measured slices of the present part cost the server, of an operation in the part that measures own costs.
    pub(super) fn cost(&self, operation: Option<usize>) -> BTreeMap<String, f64> {
        self.usage.get(&operation).map(|usage| self.meter.borrow().cost(usage)).unwrap_or_default()
    }

    /// The record of a part after its last slice.
    pub(super) fn take_record(&mut self, part: Part) -> CellRecord {
        let (operations, open, check_out) = self.recorded();
        let machine = std::mem::take(&mut self.machine).into_record();
        let cost = |operation| self.cost(operation);
        let (counters, own_counters) = match part {
            Part::Own => (BTreeMap::new(), (0..operations.len()).map(Some).map(cost).collect()),
            Part::Saturation | Part::Light | Part::Rate | Part::Heavy => (cost(None), Vec::new()),
        };
        let record = std::mem::take(&mut self.record);
        CellRecord { operations, open, check_out, counters, own_counters, machine, ..record }
    }
}

fn open_record(OpenMeasures { paced, queue_wait }: &OpenMeasures, operations: &[OperationRecord]) -> OpenRecord {
    let ended: u64 = operations.iter().map(|operation| operation.calls).sum();
    let outcomes = operations.iter().flat_map(|operation| &operation.outcomes);
    let skipped = outcomes.filter(|outcome| outcome.outcome == CallOutcome::Skipped);
    OpenRecord {
        offered: paced.offered,
        seconds: paced.seconds,
        waiting: paced.waiting,
        skipped: skipped.map(|outcome| outcome.count).sum(),
        never_started: paced.offered.saturating_sub(ended),
        pacer_lag: TimesRecord::new(&paced.lag),
        queue_wait: TimesRecord::new(queue_wait),
    }
}

fn outcome_record(outcome: &CallOutcome, service: &LatencyHistogram, measures: &OperationMeasures) -> OutcomeRecord {
    let response = measures.responses.iter().find(|(other, _)| other == outcome).map(|(_, times)| times);
    let count = response.unwrap_or(service).count();
    OutcomeRecord { count, response: response.map(TimesRecord::new), ..OutcomeRecord::new(outcome.clone(), service) }
}

fn operation_record(measures: &OperationMeasures) -> OperationRecord {
    let outcomes = measures.outcomes.iter().map(|(outcome, service)| outcome_record(outcome, service, measures));
    OperationRecord {
        calls: measures.calls,
        round_trips: measures.round_trips,
        outcomes: outcomes.collect(),
        errors: measures.errors.clone(),
        unknown: measures.unknown,
        messages: measures.messages.clone(),
        retries: measures.retries.iter().map(|(cause, count)| (cause.to_string(), *count)).collect(),
        inconsistency: measures.inconsistency.as_ref().map(TimesRecord::new),
        beside_job: measures.beside_job.as_ref().map(TimesRecord::new),
    }
}
