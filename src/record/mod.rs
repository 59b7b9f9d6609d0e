//! What a run measures, in memory. One [`Recorder`] per load thread and arm: the tasks of a current-thread runtime
//! share it without locks.

mod histogram;
mod interval;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use interval::Spares;

pub use histogram::{HistogramError, LatencyHistogram, StoredHistogram};
pub use interval::IntervalHistogram;

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallOutcome {
    /// A read's result, or `done()`.
    Ok,
    /// `same()`
    Same,
    /// `not_found()`
    NotFound,
    /// `refused("reason")`
    Refused(Arc<str>),
    /// The server or the connection failed.
    Failed,
    /// It had waited longer than the timeout and was not sent; in the open model only.
    Skipped,
}

impl CallOutcome {
    /// Its name in reports and on disk.
    pub fn name(&self) -> String {
        match self {
            CallOutcome::Ok => "ok".into(),
            CallOutcome::Same => "same".into(),
            CallOutcome::NotFound => "not found".into(),
            CallOutcome::Refused(reason) => format!("refused: {reason}"),
            CallOutcome::Failed => "failed".into(),
            CallOutcome::Skipped => "skipped".into(),
        }
    }
}

/// One finished call.
#[derive(Debug)]
pub struct Call<'c> {
    /// Which operation.
    pub operation: usize,
    /// What it came to.
    pub outcome: CallOutcome,
    /// From the moment it was sent to the end of its last reply, in nanoseconds.
    pub service: u64,
    /// What it took from its intended time on; `None` in the closed model, which has no such time.
    pub due: Option<DueTimes>,
    /// Messages exchanged.
    pub round_trips: u64,
    /// From the first write acknowledged to the last in nanoseconds, when it wrote more than once.
    pub inconsistent: Option<u64>,
    /// Causes of the attempts that began again.
    pub retries: &'c [Arc<str>],
    /// Why it failed, when it did.
    pub error: Option<CallError<'c>>,
}

/// Times of a call that had an intended time, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub struct DueTimes {
    /// From the intended time to the end of the last reply, or to the moment that it was given up.
    pub response: u64,
    /// From the release by the pacer to the moment a worker took it; `None` when none did.
    pub queue_wait: Option<u64>,
}

/// Why a call failed.
#[derive(Debug, Clone, Copy)]
pub struct CallError<'c> {
    /// The server's code, or a word: what failures are counted by.
    pub reason: &'c str,
    /// The server's or driver's words; those of the first failure of a reason are kept.
    pub message: &'c str,
}

/// All that was measured of one operation.
#[derive(Debug, Clone)]
pub struct OperationMeasures {
    /// Finished calls.
    pub calls: u64,
    /// Messages exchanged.
    pub round_trips: u64,
    /// Service times by outcome, of the outcomes that occurred.
    pub outcomes: ByOutcome,
    /// Response times by outcome, of the same outcomes; empty in the closed model.
    pub responses: ByOutcome,
    /// Failures by reason.
    pub errors: BTreeMap<String, u64>,
    /// The words of the first failure of each reason.
    pub messages: BTreeMap<String, String>,
    /// Attempts begun again, by cause.
    pub retries: BTreeMap<Arc<str>, u64>,
    /// From the first write acknowledged to the last, of calls that wrote more than once.
    pub inconsistent: Option<LatencyHistogram>,
}

/// Records finished calls.
///
/// A successful call is counted in its interval's histogram alone, and that is added to the total when the interval ends:
/// two histograms per call would cost twice as much, and twice the cache.
#[derive(Debug, Clone)]
pub struct Recorder {
    operations: Vec<OperationMeasures>,
    /// Service times, in the open model response times, of successful calls since the last [`Recorder::rotate`], of the
    /// operations that had some.
    interval: Vec<Option<LatencyHistogram>>,
    /// How long calls waited for a worker; `None` in the closed model.
    queue_wait: Option<LatencyHistogram>,
    /// How long calls waited for a connection, as far as observed.
    check_out: Option<LatencyHistogram>,
    empty: LatencyHistogram,
    spares: Spares,
}

impl Recorder {
    /// A recorder of the closed model for so many operations; the timeout sets the histograms' bounds.
    pub fn new(operations: usize, timeout: Duration) -> Recorder {
        let empty = LatencyHistogram::new(timeout);
        let measures = OperationMeasures {
            calls: 0,
            round_trips: 0,
            outcomes: Vec::new(),
            responses: Vec::new(),
            errors: BTreeMap::new(),
            messages: BTreeMap::new(),
            retries: BTreeMap::new(),
            inconsistent: None,
        };
        let interval = vec![None; operations];
        Recorder {
            operations: vec![measures; operations],
            interval,
            queue_wait: None,
            check_out: None,
            empty,
            spares: Spares::default(),
        }
    }

    /// A recorder of the open model.
    pub fn open(operations: usize, timeout: Duration) -> Recorder {
        let recorder = Recorder::new(operations, timeout);
        Recorder { queue_wait: Some(recorder.empty.clone()), ..recorder }
    }

    /// Records a finished call. The first call of an outcome makes its histogram, and the first of an interval finds
    /// one that an earlier interval has left; later ones allocate nothing.
    pub fn record(&mut self, call: Call<'_>) {
        let measures = &mut self.operations[call.operation];
        measures.calls += 1;
        measures.round_trips += call.round_trips;
        for cause in call.retries {
            *measures.retries.entry(Arc::clone(cause)).or_default() += 1;
        }
        if let Some(inconsistent) = call.inconsistent {
            measures.inconsistent.get_or_insert_with(|| self.empty.clone()).record(inconsistent);
        }
        if let Some(error) = call.error {
            *measures.errors.entry(error.reason.to_owned()).or_default() += 1;
            measures.messages.entry(error.reason.to_owned()).or_insert_with(|| error.message.to_owned());
        }
        let Some(due) = call.due else {
            match call.outcome {
                CallOutcome::Ok => self.record_interval(call.operation, call.service),
                outcome => histogram_of(&mut measures.outcomes, outcome, &self.empty).record(call.service),
            }
            return;
        };
        if let (Some(waits), Some(wait)) = (&mut self.queue_wait, due.queue_wait) {
            waits.record(wait);
        }
        let service = histogram_of(&mut measures.outcomes, call.outcome.clone(), &self.empty);
        // A call that was not sent has no service time, but its outcome must be there.
        if call.outcome != CallOutcome::Skipped {
            service.record(call.service);
        }
        match call.outcome {
            CallOutcome::Ok => self.record_interval(call.operation, due.response),
            outcome => histogram_of(&mut measures.responses, outcome, &self.empty).record(due.response),
        }
    }

    fn record_interval(&mut self, operation: usize, time: u64) {
        match &mut self.interval[operation] {
            Some(histogram) => histogram.record(time),
            none => none.insert(self.spares.take(&self.empty)).record(time),
        }
    }

    /// Adds times that calls waited for a connection.
    pub fn add_check_outs(&mut self, times: &LatencyHistogram) {
        self.check_out.get_or_insert_with(|| self.empty.clone()).merge(times);
    }

    /// How long calls waited for a worker; `None` in the closed model.
    pub fn queue_wait(&self) -> Option<&LatencyHistogram> {
        self.queue_wait.as_ref()
    }

    /// How long calls waited for a connection; `None` when not observed.
    pub fn check_out(&self) -> Option<&LatencyHistogram> {
        self.check_out.as_ref()
    }

    /// Ends an interval: hands out the histograms of the operations that had successful calls, and begins the next.
    ///
    /// Takes some 20 µs per operation that was called.
    pub fn rotate(&mut self) -> Vec<(usize, IntervalHistogram)> {
        let mut full = Vec::new();
        for (operation, interval) in self.interval.iter_mut().enumerate() {
            if let Some(histogram) = interval.take() {
                let measures = &mut self.operations[operation];
                let times = if self.queue_wait.is_some() { &mut measures.responses } else { &mut measures.outcomes };
                add(times, &CallOutcome::Ok, &histogram);
                full.push((operation, self.spares.lend(histogram)));
            }
        }
        full
    }

    /// Adds all that another recorder of the same operations has recorded.
    pub fn merge(&mut self, other: Recorder) {
        if let (Some(mine), Some(theirs)) = (&mut self.queue_wait, &other.queue_wait) {
            mine.merge(theirs);
        }
        other.check_out.iter().for_each(|times| self.add_check_outs(times));
        for (mine, theirs) in self.operations.iter_mut().zip(other.finish()) {
            mine.merge(&theirs);
        }
    }

    /// What was recorded so far, per operation: all counts, and of the successful calls the histograms of the intervals
    /// that have ended. [`Recorder::finish`] gives everything.
    pub fn operations(&self) -> &[OperationMeasures] {
        &self.operations
    }

    /// What was recorded, per operation.
    pub fn finish(mut self) -> Vec<OperationMeasures> {
        self.rotate();
        for measures in &mut self.operations {
            measures.outcomes.sort_by(|(one, _), (other, _)| one.cmp(other));
            measures.responses.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        self.operations
    }
}

/// Histograms by outcome, of the outcomes that occurred.
pub type ByOutcome = Vec<(CallOutcome, LatencyHistogram)>;

/// The histogram of an outcome, made when it occurs for the first time.
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
    /// Calls that failed with a code of the server's.
    pub fn refused_by_server(&self) -> u64 {
        let codes = self.errors.iter().filter(|(reason, _)| reason.parse::<i32>().is_ok());
        codes.map(|(_, count)| count).sum()
    }

    fn merge(&mut self, other: &OperationMeasures) {
        self.calls += other.calls;
        self.round_trips += other.round_trips;
        for (outcome, histogram) in &other.outcomes {
            add(&mut self.outcomes, outcome, histogram);
        }
        for (outcome, histogram) in &other.responses {
            add(&mut self.responses, outcome, histogram);
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
        match (&mut self.inconsistent, &other.inconsistent) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine, theirs) => *mine = mine.take().or_else(|| theirs.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(10);

    fn call(operation: usize, outcome: CallOutcome, service: u64) -> Call<'static> {
        Call { operation, outcome, service, due: None, round_trips: 2, inconsistent: None, retries: &[], error: None }
    }

    #[test]
    fn outcomes_have_histograms_of_their_own() {
        let mut recorder = Recorder::new(2, TIMEOUT);
        recorder.record(call(1, CallOutcome::Ok, 1_000));
        recorder.record(call(1, CallOutcome::Same, 50));
        recorder.record(call(1, CallOutcome::Refused("size".into()), 70));
        recorder.record(call(1, CallOutcome::Refused("stock".into()), 80));
        assert_eq!(recorder.operations()[1].calls, 4);
        let operations = recorder.finish();
        let measures = &operations[1];
        let counts: Vec<(String, u64)> =
            measures.outcomes.iter().map(|(outcome, histogram)| (outcome.name(), histogram.count())).collect();
        let wanted = [("ok", 1), ("same", 1), ("refused: size", 1), ("refused: stock", 1)];
        assert_eq!(counts, wanted.map(|(name, count)| (name.to_owned(), count)));
        assert_eq!((measures.calls, measures.round_trips), (4, 8));
        assert_eq!(operations[0].calls, 0);
    }

    #[test]
    fn failures_never_enter_the_success_histogram() {
        let mut recorder = Recorder::new(1, TIMEOUT);
        recorder.record(Call {
            error: Some(CallError { reason: "11000", message: "twice" }),
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
    fn open_calls_have_response_times_and_those_not_sent_no_service_time() {
        let mut recorder = Recorder::open(1, TIMEOUT);
        let due = |response, queue_wait| Some(DueTimes { response, queue_wait });
        recorder.record(Call { due: due(1_500, Some(400)), ..call(0, CallOutcome::Ok, 1_000) });
        recorder.record(Call { due: due(2_500, Some(600)), ..call(0, CallOutcome::Failed, 1_900) });
        recorder.record(Call { due: due(9_000, None), ..call(0, CallOutcome::Skipped, 0) });
        let intervals = recorder.rotate();
        assert_eq!((intervals.len(), intervals[0].1.sum()), (1, 1_500), "the log has response times");
        let mut total = Recorder::open(1, TIMEOUT);
        total.merge(recorder);
        assert_eq!(total.queue_wait().map(|waits| (waits.count(), waits.sum())), Some((2, 1_000)));
        let measures = &total.finish()[0];
        let shown = |times: &ByOutcome| -> Vec<(String, u64, u64)> {
            times.iter().map(|(outcome, times)| (outcome.name(), times.count(), times.sum())).collect()
        };
        let wanted = |times: [(&str, u64, u64); 3]| times.map(|(name, count, sum)| (name.to_owned(), count, sum));
        assert_eq!(shown(&measures.outcomes), wanted([("ok", 1, 1_000), ("failed", 1, 1_900), ("skipped", 0, 0)]));
        assert_eq!(shown(&measures.responses), wanted([("ok", 1, 1_500), ("failed", 1, 2_500), ("skipped", 1, 9_000)]));
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
