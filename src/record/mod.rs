//! What a run measures, in memory. Each load thread has one [`Recorder`] per arm, which its clients share without locks.

mod counter;
mod fault;
mod histogram;
mod interval;
mod life_end;
mod metric;
mod outcome;
mod part;
mod waits;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use interval::Spares;

pub use counter::{
    CONFLICTS_IN_TRANSACTIONS, COUNTERS, Claimable, Counter, MEMBER_REQUESTS, OPLOG_BYTES, ROUND_TRIPS, Shown,
    TRANSIENT, Unit, WRITE_CONFLICTS,
};
pub use fault::FaultKind;
pub use histogram::{DIGITS, LatencyHistogram, StoredHistogram};
pub use interval::IntervalHistogram;
pub use life_end::LifeEnd;
pub use metric::{
    MATRIX, METRICS, MatrixColumn, Metric, MetricRow, MetricUse, Relation, ShardMetric, SizeMetric, TimeMetric,
};
pub use outcome::{CallOutcome, OutcomeKind};
pub use part::Part;
pub use waits::Waits;

/// One finished call.
#[derive(Debug)]
pub struct Call<'c> {
    /// The operation's position in the plan.
    pub operation: usize,
    /// How the call ended.
    pub outcome: CallOutcome,
    /// How long it took.
    pub times: CallTimes,
    /// Messages exchanged.
    pub round_trips: u64,
    /// The inconsistency window in nanoseconds, of a call that wrote more than once.
    pub inconsistency: Option<u64>,
    /// Whether a job ran at the same time.
    pub is_beside_job: bool,
    /// Causes of its retries.
    pub retries: &'c [Arc<str>],
    /// Why it failed.
    pub error: Option<CallError<'c>>,
}

/// The times of a call in nanoseconds: with closed load there is no intended start to count from.
#[derive(Debug, Clone, Copy)]
pub enum CallTimes {
    /// A call of closed load.
    Closed {
        /// From sending the first command to the last reply.
        service: u64,
    },
    /// A call of open load.
    Open {
        /// From sending the first command to the last reply.
        service: u64,
        /// From the intended start to the last reply.
        response: u64,
        /// From the release by the pacer until a client was free.
        queue_wait: u64,
    },
    /// A call of open load that was never sent.
    Skipped {
        /// From the intended start until it was given up.
        response: u64,
        /// From the release until a client was free; `None` when none took it.
        queue_wait: Option<u64>,
    },
}

impl CallTimes {
    /// The time that a user waits: with open load the response time; `None` for a call that was never sent.
    fn counted(self) -> Option<u64> {
        match self {
            CallTimes::Closed { service } => Some(service),
            CallTimes::Open { response, .. } => Some(response),
            CallTimes::Skipped { .. } => None,
        }
    }
}

/// Why a call failed.
#[derive(Debug, Clone, Copy)]
pub struct CallError<'c> {
    /// The server's code or a name, under which failures are counted.
    pub reason: &'c str,
    /// The message of the server or driver; the first of each reason is kept.
    pub message: &'c str,
    /// Whether the call may have taken effect nevertheless.
    pub is_unknown: bool,
}

/// All measurements of one operation.
#[derive(Debug, Clone, Default)]
pub struct OperationMeasures {
    /// Finished calls.
    pub calls: u64,
    /// Messages exchanged.
    pub round_trips: u64,
    /// Service times by outcome.
    pub outcomes: ByOutcome,
    /// Response times by outcome; empty with closed load.
    pub responses: ByOutcome,
    /// Failures by reason.
    pub errors: BTreeMap<String, u64>,
    /// Failures after which it is unknown whether the call took effect.
    pub unknown: u64,
    /// The first message of each reason.
    pub messages: BTreeMap<String, String>,
    /// Retries by cause.
    pub retries: BTreeMap<Arc<str>, u64>,
    /// Inconsistency windows of calls that wrote more than once.
    pub inconsistency: Option<LatencyHistogram>,
    /// Times of the answered calls while a job ran: service times, with open load response times.
    pub beside_job: Option<LatencyHistogram>,
}

/// What the pacer of open load measures.
#[derive(Debug, Clone)]
pub struct Paced {
    /// Calls that fell due.
    pub offered: u64,
    /// Seconds in which they fell due.
    pub seconds: f64,
    /// Calls that waited when the last one of the window fell due.
    pub waiting: u64,
    /// From the intended start to the release.
    pub lag: LatencyHistogram,
}

impl Paced {
    /// No calls; the timeout sets the histogram's bounds.
    pub fn new(timeout: Duration) -> Paced {
        Paced { offered: 0, seconds: 0.0, waiting: 0, lag: LatencyHistogram::new(timeout) }
    }

    /// Adds another slice's measurements.
    pub fn merge(&mut self, other: &Paced) {
        self.offered += other.offered;
        self.seconds += other.seconds;
        self.waiting += other.waiting;
        self.lag.merge(&other.lag);
    }
}

/// What only open load has, whose calls have intended start times.
#[derive(Debug, Clone)]
pub struct OpenMeasures {
    /// What the pacer measured.
    pub paced: Paced,
    /// How long calls waited for a client.
    pub queue_wait: LatencyHistogram,
}

/// Records finished calls.
///
/// A successful call is counted only in its interval's histogram, which is added to the total when the interval ends: two
/// histograms per call would take twice the time and twice the cache.
#[derive(Debug, Clone)]
pub struct Recorder {
    operations: Vec<OperationMeasures>,
    /// Times of successful calls since the last [`Recorder::rotate`], of the operations that had some: service times, with
    /// open load response times.
    interval: Vec<Option<LatencyHistogram>>,
    /// `None` with closed load: each client sends its next call when it has the reply to its last one.
    open: Option<Box<OpenMeasures>>,
    /// How long calls waited for a connection.
    check_out: Waits,
    empty: LatencyHistogram,
    spares: Spares,
}

impl Recorder {
    /// Creates a recorder of closed load; the timeout sets the histograms' bounds.
    pub fn new(operations: usize, timeout: Duration) -> Recorder {
        Recorder {
            operations: vec![OperationMeasures::default(); operations],
            interval: vec![None; operations],
            open: None,
            check_out: Waits::default(),
            empty: LatencyHistogram::new(timeout),
            spares: Spares::default(),
        }
    }

    /// Creates a recorder of open load.
    pub fn open(operations: usize, timeout: Duration) -> Recorder {
        let recorder = Recorder::new(operations, timeout);
        let open = OpenMeasures { paced: Paced::new(timeout), queue_wait: recorder.empty.clone() };
        Recorder { open: Some(Box::new(open)), ..recorder }
    }

    /// Records a finished call. The first call of an outcome allocates its histogram, and the first of an interval reuses
    /// that of an earlier interval; later ones allocate nothing.
    pub fn record(&mut self, call: Call<'_>) {
        let measures = &mut self.operations[call.operation];
        measures.calls += 1;
        measures.round_trips += call.round_trips;
        for cause in call.retries {
            *measures.retries.entry(Arc::clone(cause)).or_default() += 1;
        }
        if let Some(inconsistency) = call.inconsistency {
            measures.inconsistency.get_or_insert_with(|| self.empty.clone()).record(inconsistency);
        }
        if let (true, false, Some(time)) = (call.is_beside_job, call.outcome.is_failure(), call.times.counted()) {
            measures.beside_job.get_or_insert_with(|| self.empty.clone()).record(time);
        }
        if let Some(error) = call.error {
            *measures.errors.entry(error.reason.to_owned()).or_default() += 1;
            measures.unknown += u64::from(error.is_unknown);
            measures.messages.entry(error.reason.to_owned()).or_insert_with(|| error.message.to_owned());
        }
        let (outcome, empty) = (call.outcome, &self.empty);
        match call.times {
            CallTimes::Closed { service } => match outcome {
                CallOutcome::Ok => self.record_interval(call.operation, service),
                other => histogram_of(&mut measures.outcomes, other, empty).record(service),
            },
            CallTimes::Open { service, response, queue_wait } => {
                histogram_of(&mut measures.outcomes, outcome.clone(), empty).record(service);
                match outcome {
                    CallOutcome::Ok => self.record_interval(call.operation, response),
                    other => histogram_of(&mut measures.responses, other, empty).record(response),
                }
                self.record_wait(Some(queue_wait));
            }
            CallTimes::Skipped { response, queue_wait } => {
                // It has no service time, but its outcome must exist.
                histogram_of(&mut measures.outcomes, outcome.clone(), empty);
                histogram_of(&mut measures.responses, outcome, empty).record(response);
                self.record_wait(queue_wait);
            }
        }
    }

    fn record_wait(&mut self, wait: Option<u64>) {
        if let (Some(open), Some(wait)) = (&mut self.open, wait) {
            open.queue_wait.record(wait);
        }
    }

    fn record_interval(&mut self, operation: usize, time: u64) {
        match &mut self.interval[operation] {
            Some(histogram) => histogram.record(time),
            none => none.insert(self.spares.take(&self.empty)).record(time),
        }
    }

    /// Adds times that calls waited for a connection.
    pub fn add_check_outs(&mut self, waits: Waits) {
        self.check_out.add(waits);
    }

    /// Adds what the pacer of a slice measured.
    pub fn add_paced(&mut self, other: &Paced) {
        self.open.iter_mut().for_each(|open| open.paced.merge(other));
    }

    /// What only open load has; `None` with closed load.
    pub fn open_load(&self) -> Option<&OpenMeasures> {
        self.open.as_deref()
    }

    /// How long calls waited for a connection.
    pub fn check_out(&self) -> Waits {
        self.check_out
    }

    /// Ends an interval: returns the histograms of the operations that had successful calls, and starts the next one.
    ///
    /// Takes about 20 µs per operation that was called.
    pub fn rotate(&mut self) -> Vec<(usize, IntervalHistogram)> {
        let mut full = Vec::new();
        for (operation, interval) in self.interval.iter_mut().enumerate() {
            if let Some(histogram) = interval.take() {
                let measures = &mut self.operations[operation];
                let is_open = self.open.is_some();
                let times = if is_open { &mut measures.responses } else { &mut measures.outcomes };
                add(times, &CallOutcome::Ok, &histogram);
                full.push((operation, self.spares.lend(histogram)));
            }
        }
        full
    }

    /// Adds everything that another recorder of the same operations has recorded.
    pub fn merge(&mut self, other: Recorder) {
        if let (Some(mine), Some(theirs)) = (&mut self.open, &other.open) {
            mine.paced.merge(&theirs.paced);
            mine.queue_wait.merge(&theirs.queue_wait);
        }
        self.add_check_outs(other.check_out);
        for (mine, theirs) in self.operations.iter_mut().zip(other.finish()) {
            mine.merge(&theirs);
        }
    }

    /// What was recorded so far per operation: all counts, and of successful calls the histograms of ended intervals.
    /// [`Recorder::finish`] returns everything.
    pub fn operations(&self) -> &[OperationMeasures] {
        &self.operations
    }

    /// What was recorded per operation.
    pub fn finish(mut self) -> Vec<OperationMeasures> {
        self.rotate();
        for measures in &mut self.operations {
            measures.outcomes.sort_by(|(one, _), (other, _)| one.cmp(other));
            measures.responses.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        self.operations
    }
}

/// Histograms by outcome.
pub type ByOutcome = Vec<(CallOutcome, LatencyHistogram)>;

/// The histogram of an outcome, created with its first call.
fn histogram_of<'h>(
    histograms: &'h mut ByOutcome,
    outcome: CallOutcome,
    empty: &LatencyHistogram,
) -> &'h mut LatencyHistogram {
    let place = histograms.iter().position(|(mine, _)| *mine == outcome).unwrap_or_else(|| {
        histograms.push((outcome, empty.clone()));
        histograms.len() - 1
    });
    &mut histograms[place].1
}

fn add(histograms: &mut ByOutcome, outcome: &CallOutcome, histogram: &LatencyHistogram) {
    match histograms.iter_mut().find(|(mine, _)| mine == outcome) {
        Some((_, mine)) => mine.merge(histogram),
        None => histograms.push((outcome.clone(), histogram.clone())),
    }
}

impl OperationMeasures {
    /// Calls that failed with an error code of the server.
    pub fn server_errors(&self) -> u64 {
        let codes = self.errors.iter().filter(|(reason, _)| reason.parse::<i32>().is_ok());
        codes.map(|(_, count)| count).sum()
    }

    fn merge(&mut self, other: &OperationMeasures) {
        self.calls += other.calls;
        self.unknown += other.unknown;
        self.round_trips += other.round_trips;
        for (mine, theirs) in [(&mut self.outcomes, &other.outcomes), (&mut self.responses, &other.responses)] {
            theirs.iter().for_each(|(outcome, histogram)| add(mine, outcome, histogram));
        }
        for (error, count) in &other.errors {
            *self.errors.entry(error.clone()).or_default() += count;
        }
        for (reason, message) in &other.messages {
            self.messages.entry(reason.clone()).or_insert_with(|| message.clone());
        }
        for (cause, count) in &other.retries {
            *self.retries.entry(Arc::clone(cause)).or_default() += count;
        }
        let pairs = [(&mut self.inconsistency, &other.inconsistency), (&mut self.beside_job, &other.beside_job)];
        for (mine, theirs) in pairs {
            match (&mut *mine, theirs) {
                (Some(mine), Some(theirs)) => mine.merge(theirs),
                _ => *mine = mine.take().or_else(|| theirs.clone()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(10);

    fn call(operation: usize, outcome: CallOutcome, service: u64) -> Call<'static> {
        let times = CallTimes::Closed { service };
        Call {
            operation,
            outcome,
            times,
            round_trips: 2,
            inconsistency: None,
            is_beside_job: false,
            retries: &[],
            error: None,
        }
    }

    #[test]
    fn each_outcome_has_its_histogram() {
        let mut recorder = Recorder::new(2, TIMEOUT);
        recorder.record(call(1, CallOutcome::Ok, 1_000));
        recorder.record(call(1, CallOutcome::Same, 50));
        recorder.record(call(1, CallOutcome::Rejected("size".into()), 70));
        recorder.record(call(1, CallOutcome::Rejected("stock".into()), 80));
        assert_eq!(recorder.operations()[1].calls, 4);
        let operations = recorder.finish();
        let measures = &operations[1];
        let counts: Vec<(String, u64)> =
            measures.outcomes.iter().map(|(outcome, histogram)| (outcome.to_string(), histogram.count())).collect();
        let expected = [("ok", 1), ("same", 1), ("rejected: size", 1), ("rejected: stock", 1)];
        assert_eq!(counts, expected.map(|(name, count)| (name.to_owned(), count)));
        assert_eq!((measures.calls, measures.round_trips), (4, 8));
        assert_eq!(operations[0].calls, 0);
    }

    #[test]
    fn failures_are_not_in_the_success_histogram() {
        let mut recorder = Recorder::new(1, TIMEOUT);
        recorder.record(Call {
            error: Some(CallError { reason: "11000", message: "twice", is_unknown: true }),
            ..call(0, CallOutcome::Failed, 9)
        });
        recorder.record(Call { retries: &["112".into(), "112".into()], ..call(0, CallOutcome::Ok, 10) });
        let measures = &recorder.finish()[0];
        assert_eq!(measures.errors, BTreeMap::from([("11000".to_owned(), 1)]));
        assert_eq!(measures.messages, BTreeMap::from([("11000".to_owned(), "twice".to_owned())]));
        assert_eq!(measures.retries, BTreeMap::from([("112".into(), 2)]));
        let ok = measures.outcomes.iter().find(|(outcome, _)| *outcome == CallOutcome::Ok).unwrap();
        assert_eq!((ok.1.count(), ok.1.max()), (1, 10));
    }

    #[test]
    fn intervals_add_up_to_the_total() {
        let mut recorder = Recorder::new(1, TIMEOUT);
        let mut sum = LatencyHistogram::new(TIMEOUT);
        for service in 1..=300 {
            recorder.record(call(0, CallOutcome::Ok, service));
            if service % 100 == 0 {
                for (_, interval) in recorder.rotate() {
                    assert_eq!(interval.count(), 100);
                    sum.merge(&interval);
                }
            }
        }
        assert!(recorder.rotate().is_empty());
        assert_eq!(recorder.spares.count(), 1, "one histogram served all intervals");
        recorder.record(call(0, CallOutcome::Ok, 7));
        sum.record(7);
        assert_eq!(sum, recorder.finish()[0].outcomes[0].1, "the open interval counts too");
    }

    #[test]
    fn open_calls_have_response_times_and_skipped_ones_no_service_time() {
        let mut recorder = Recorder::open(1, TIMEOUT);
        let open = |service, response, queue_wait| CallTimes::Open { service, response, queue_wait };
        recorder.record(Call { times: open(1_000, 1_500, 400), ..call(0, CallOutcome::Ok, 0) });
        recorder.record(Call { times: open(1_900, 2_500, 600), ..call(0, CallOutcome::Failed, 0) });
        let skipped = CallTimes::Skipped { response: 9_000, queue_wait: None };
        recorder.record(Call { times: skipped, ..call(0, CallOutcome::Skipped, 0) });
        let intervals = recorder.rotate();
        assert_eq!((intervals.len(), intervals[0].1.sum()), (1, 1_500), "the log has response times");
        let mut total = Recorder::open(1, TIMEOUT);
        total.merge(recorder);
        let queue_wait = &total.open_load().unwrap().queue_wait;
        assert_eq!((queue_wait.count(), queue_wait.sum()), (2, 1_000));
        let measures = &total.finish()[0];
        let shown = |times: &ByOutcome| -> Vec<(String, u64, u64)> {
            times.iter().map(|(outcome, times)| (outcome.to_string(), times.count(), times.sum())).collect()
        };
        let expected = |times: [(&str, u64, u64); 3]| times.map(|(name, count, sum)| (name.to_owned(), count, sum));
        assert_eq!(shown(&measures.outcomes), expected([("ok", 1, 1_000), ("failed", 1, 1_900), ("skipped", 0, 0)]));
        assert_eq!(
            shown(&measures.responses),
            expected([("ok", 1, 1_500), ("failed", 1, 2_500), ("skipped", 1, 9_000)])
        );
        assert_eq!(measures.calls, 3);
    }

    #[test]
    fn merging_equals_recording_all() {
        let (mut all, mut a, mut b) = (Recorder::new(1, TIMEOUT), Recorder::new(1, TIMEOUT), Recorder::new(1, TIMEOUT));
        for service in 1..=100 {
            let outcome = || if service % 3 == 0 { CallOutcome::NotFound } else { CallOutcome::Ok };
            all.record(call(0, outcome(), service));
            if service % 2 == 0 { a.record(call(0, outcome(), service)) } else { b.record(call(0, outcome(), service)) }
        }
        a.merge(b);
        let (all, merged) = (&all.finish()[0], &a.finish()[0]);
        assert_eq!(all.calls, merged.calls);
        for (outcome, histogram) in &all.outcomes {
            assert_eq!(Some(histogram), merged.outcomes.iter().find(|(other, _)| other == outcome).map(|(_, h)| h));
        }
    }
}
