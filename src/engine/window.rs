//! A slice of calls. In the closed model every worker sends the next call when its last one is answered; in the open model
//! the workers take what a pacer has released.

use std::cell::RefCell;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, MissedTickBehavior, Sleep, sleep};

use crate::generate::Seed;
use crate::plan::{Frame, Outcome, Plan, Value};
use crate::record::{Call, CallError, CallOutcome, DueTimes, IntervalHistogram, Recorder};
use crate::server::{Failure, FailureKind, ReplyKind, Target};

use super::interpret::{Bound, Halt, Interpreter, Retry};
use super::pacer::nanoseconds;
use super::queue::{Due, DueQueue};
use super::stop::Stop;

/// Intervals of the latency log.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// How long a server may take to answer a ping after a connection broke, before it counts as lost.
const LOST_AFTER: Duration = Duration::from_secs(5);

/// Why a slice could not go on.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Fatal {
    /// A mistake of the scenario.
    #[error("strategy {arm}, operation {operation}: {words}")]
    Scenario {
        /// The strategy.
        arm: String,
        /// The operation.
        operation: String,
        /// What is wrong.
        words: String,
    },
    /// The server is gone.
    #[error("the server was lost: {0}; see that it runs, its log may tell more, then run again")]
    Lost(String),
}

/// One slice: which calls, of which arm, where, and how.
#[derive(Debug, Clone)]
pub struct Slice {
    /// The scenario.
    pub plan: Arc<Plan>,
    /// The strategy's position in the plan.
    pub arm: usize,
    /// Its database.
    pub database: Arc<str>,
    /// The seed of the round's calls.
    pub seed: Seed,
    /// The next call; shared by all load threads, so that together they make every call once.
    pub next: Arc<AtomicU64>,
    /// The first call that is not made; `u64::MAX` in timed slices.
    pub end: u64,
    /// The length of timed slices.
    pub length: Option<Duration>,
    /// Where the calls come from in the open model, shared by all load threads; `next`, `end` and `length` mean nothing
    /// then. `None` in the closed model.
    pub due: Option<Arc<DueQueue>>,
    /// Calls in flight on this load thread: all the time in the closed model, at most in the open one.
    pub workers: usize,
    /// After which a call has failed.
    pub timeout: Duration,
    /// Set when the user wants to stop.
    pub stop: Stop,
    /// When the open interval began; it may span several slices.
    pub interval: Instant,
    /// The length of an interval.
    pub every: Duration,
}

/// The successful calls of one operation in one interval.
#[derive(Debug)]
pub struct SliceInterval {
    /// The operation.
    pub operation: usize,
    /// When the interval began.
    pub start: Instant,
    /// Its length.
    pub length: Duration,
    /// Service times; in the open model response times.
    pub histogram: IntervalHistogram,
}

impl Slice {
    /// Makes the calls and records them; calls in flight at the end are awaited. Gives the time that it took, and when
    /// the interval that is now open began.
    ///
    /// # Errors
    /// When the scenario has a mistake or the server is gone. What was recorded until then stays recorded.
    pub async fn run<T: Target>(
        &self,
        target: &T,
        recorder: &RefCell<Recorder>,
        emit: &dyn Fn(SliceInterval),
    ) -> Result<(Duration, Instant), Fatal> {
        let begun = Instant::now();
        let deadline = self.length.map(|length| begun + length);
        let ended = AtomicBool::new(false);
        let mut workers: FuturesUnordered<_> =
            (0..self.workers).map(|_| self.worker(target, recorder, deadline, &ended)).collect();
        let mut edge = self.interval;
        let mut ticks = tokio::time::interval_at(edge + self.every, self.every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut result = Ok(());
        loop {
            tokio::select! {
                biased;
                _ = ticks.tick() => edge = rotate(recorder, edge, emit),
                finished = workers.next() => match finished {
                    None => break,
                    Some(Ok(())) => {}
                    // The other workers finish the calls that they have in flight.
                    Some(Err(fatal)) => {
                        ended.store(true, Ordering::Relaxed);
                        self.due.iter().for_each(|queue| queue.abandon());
                        result = result.and(Err(fatal));
                    }
                },
            }
        }
        result.and_then(|()| self.count_refused(recorder))?;
        Ok((begun.elapsed(), edge))
    }

    async fn worker<T: Target>(
        &self,
        target: &T,
        recorder: &RefCell<Recorder>,
        deadline: Option<Instant>,
        ended: &AtomicBool,
    ) -> Result<(), Fatal> {
        let mut limit = pin!(sleep(self.timeout));
        if let Some(queue) = &self.due {
            return self.serve(queue, (target, limit), recorder).await;
        }
        loop {
            let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if late || ended.load(Ordering::Relaxed) || self.stop.is_set() {
                return Ok(());
            }
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.end {
                return Ok(());
            }
            self.call((index, None), (target, limit.as_mut()), recorder).await?;
        }
    }

    /// Makes calls as they fall due, until there are no more.
    async fn serve<T: Target>(
        &self,
        queue: &DueQueue,
        (target, mut limit): (&T, Pin<&mut Sleep>),
        recorder: &RefCell<Recorder>,
    ) -> Result<(), Fatal> {
        while let Some(due) = queue.next().await {
            let taken = Taken { due, at: Instant::now() };
            if self.stop.is_set() {
                return Ok(());
            }
            if taken.at - due.intended > self.timeout {
                self.skip(due.index, taken.times(taken.at), recorder)?;
            } else {
                self.call((due.index, Some(taken)), (target, limit.as_mut()), recorder).await?;
            }
        }
        Ok(())
    }

    /// Records a call that waited too long to be sent.
    fn skip(&self, index: u64, due: DueTimes, recorder: &RefCell<Recorder>) -> Result<(), Fatal> {
        let (operation, _) = self.draw(index)?;
        let message = format!("a call waited longer than {} s and was not sent", self.timeout.as_secs_f64());
        recorder.borrow_mut().record(Call {
            operation,
            outcome: CallOutcome::Skipped,
            service: 0,
            due: Some(due),
            round_trips: 0,
            inconsistent: None,
            retries: &[],
            error: Some(CallError { reason: "skipped", message: &message }),
        });
        Ok(())
    }

    /// Records the calls that found the queue full: they would have waited for the timeout at least.
    fn count_refused(&self, recorder: &RefCell<Recorder>) -> Result<(), Fatal> {
        let refused = self.due.iter().flat_map(|queue| queue.take_refused()).flatten();
        let mut calls = refused.take_while(|_| !self.stop.is_set());
        let due = DueTimes { response: nanoseconds(self.timeout), queue_wait: None };
        calls.try_for_each(|index| self.skip(index, due, recorder))
    }

    fn draw(&self, index: u64) -> Result<(usize, Frame), Fatal> {
        let drawn = self.plan.draw(self.seed, index, self.arm);
        drawn.map_err(|error| self.mistake("draw", error.to_string()))
    }

    /// Makes a call, in less than the timeout by `limit`: a timer that is there already and is put off costs less than one
    /// of the call's own.
    async fn call<T: Target>(
        &self,
        (index, taken): (u64, Option<Taken>),
        (target, mut limit): (&T, Pin<&mut Sleep>),
        recorder: &RefCell<Recorder>,
    ) -> Result<(), Fatal> {
        // The call is drawn before the strategy plays a part, and before the clock of the service time starts.
        let (operation, mut frame) = self.draw(index)?;
        let program = &self.plan.arms[self.arm].operations[operation];
        let mut interpreter = Interpreter::new(target, &self.database);
        let sent = Instant::now();
        limit.as_mut().reset(sent + self.timeout);
        let result = tokio::select! {
            biased;
            result = interpreter.run(program, &mut frame) => Some(result),
            () = limit => None,
        };
        let done = Instant::now();
        self.check_data(operation, &frame)?;
        let retries: Vec<Arc<str>> = interpreter.tally.retries.iter().map(cause).collect();
        let (outcome, error, lost) = match result {
            Some(Ok(value)) => (outcome_of(&value), None, None),
            Some(Err(Halt::Failed { failure, label })) => {
                let broken = (failure.kind == FailureKind::Network).then(|| failure.message.clone());
                let message = format!("{label}: {}", failure.message);
                (CallOutcome::Failed, Some((reason(&failure), message)), broken)
            }
            Some(Err(halt @ Halt::Exhausted { bound, .. })) => {
                let reason = match bound {
                    Bound::Attempts(_) => "attempts used up",
                    Bound::Turns(_) => "turns used up",
                };
                (CallOutcome::Failed, Some((reason.to_owned(), halt.to_string())), None)
            }
            // The steps of a negative control may meet the data that it has spoilt.
            Some(Err(halt @ Halt::Scenario { .. })) if self.plan.arms[self.arm].is_unsafe => {
                (CallOutcome::Failed, Some(("no value".to_owned(), halt.to_string())), None)
            }
            Some(Err(halt @ Halt::Scenario { .. })) => {
                let operation = &self.plan.operations[operation].name;
                return Err(self.mistake(operation, halt.to_string()));
            }
            None => {
                let words = format!("a call had no answer within {} s", self.timeout.as_secs_f64());
                (CallOutcome::Failed, Some(("timeout".to_owned(), words.clone())), Some(words))
            }
        };
        recorder.borrow_mut().record(Call {
            operation,
            outcome,
            service: nanoseconds(done - sent),
            due: taken.map(|taken| taken.times(done)),
            round_trips: interpreter.tally.round_trips,
            inconsistent: interpreter.tally.inconsistent().map(nanoseconds),
            retries: &retries,
            error: error.as_ref().map(|(reason, message)| CallError { reason, message }),
        });
        match lost {
            Some(words) if !answers(target).await => Err(Fatal::Lost(words)),
            _ => Ok(()),
        }
    }

    fn mistake(&self, operation: &str, words: String) -> Fatal {
        Fatal::Scenario { arm: self.plan.arms[self.arm].name.clone(), operation: operation.to_owned(), words }
    }

    /// Records are made without a way to fail; a mistake in them ends the run here.
    fn check_data(&self, operation: usize, frame: &Frame) -> Result<(), Fatal> {
        match frame.data.fault() {
            None => Ok(()),
            Some(fault) => Err(self.mistake(&self.plan.operations[operation].name, fault.to_string())),
        }
    }
}

/// A due call in a worker's hands.
#[derive(Clone, Copy)]
struct Taken {
    due: Due,
    at: Instant,
}

impl Taken {
    /// What it took from its intended time on, when it was over at this moment.
    fn times(&self, done: Instant) -> DueTimes {
        let Taken { due, at } = self;
        DueTimes {
            response: nanoseconds(done - due.intended),
            queue_wait: Some(nanoseconds(at.saturating_duration_since(due.released))),
        }
    }
}

/// A broken connection may be a failover, a late answer may be load; a server that does not answer a ping either is gone.
pub async fn answers(target: &impl Target) -> bool {
    let ping = target.run("admin", bson::rawdoc! { "ping": 1 }, ReplyKind::Single);
    // Any answer is one, also a refusal.
    match tokio::time::timeout(LOST_AFTER, ping).await {
        Ok(Err(failure)) => !matches!(failure.kind, FailureKind::Network | FailureKind::Timeout),
        Ok(Ok(_)) => true,
        Err(_) => false,
    }
}

/// Ends the open interval and begins the next; gives its beginning.
fn rotate(recorder: &RefCell<Recorder>, start: Instant, emit: &dyn Fn(SliceInterval)) -> Instant {
    close(&mut recorder.borrow_mut(), start, emit)
}

/// Ends the open interval of a recorder that no slice uses any more; gives the moment.
pub fn close(recorder: &mut Recorder, start: Instant, emit: &dyn Fn(SliceInterval)) -> Instant {
    let now = Instant::now();
    for (operation, histogram) in recorder.rotate() {
        emit(SliceInterval { operation, start, length: now - start, histogram });
    }
    now
}

fn outcome_of(value: &Value) -> CallOutcome {
    match value {
        Value::Outcome(Outcome::Same) => CallOutcome::Same,
        Value::Outcome(Outcome::NotFound) => CallOutcome::NotFound,
        Value::Outcome(Outcome::Refused(reason)) => CallOutcome::Refused(Arc::clone(reason)),
        _ => CallOutcome::Ok,
    }
}

fn cause(retry: &Retry) -> Arc<str> {
    match retry {
        Retry::Code(code) => code.to_string().into(),
        Retry::Again => "again".into(),
        Retry::Transaction => "TransientTransactionError".into(),
        Retry::Commit => "UnknownTransactionCommitResult".into(),
    }
}

/// A failure's name in the counts: the server's code, or the kind where there is none.
fn reason(failure: &Failure) -> String {
    match failure.kind {
        FailureKind::Server(code) => code.to_string(),
        FailureKind::TooLarge => "too large".into(),
        FailureKind::Network => "network".into(),
        FailureKind::Timeout => "timeout".into(),
        FailureKind::Driver => "driver".into(),
    }
}
