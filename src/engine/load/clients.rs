//! The clients of one load thread in one slice. With closed load every client sends its next call when it has the reply to
//! its last one; with open load the clients take the calls that a pacer has released.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, Sleep, sleep};

use crate::engine::step::error::StepError;
use crate::engine::step::interpreter::Interpreter;
use crate::engine::step::trace::RetryCause;
use crate::plan::{Arm, Frame, Outcome, Value};
use crate::record::{Call, CallError, CallOutcome, CallTimes, Recorder};
use crate::server::delay::DelayedTarget;
use crate::server::{Db, Failure, FailureKind, Target};

use super::job_watch::JobWatch;
use super::load_threads::Job;
use super::pacer::nanoseconds;
use super::queue::{Due, DueQueue};
use super::slice::{FatalError, Load, SaturatedPart, Slice, SliceEnd, SliceResult, check_alive, close_interval};

/// The code of a cluster's router that has found no primary of a shard, `FailedToSatisfyReadPreference`.
const SHARD_WITHOUT_PRIMARY: i32 = 133;

/// What the clients of one load thread share during a slice.
struct Clients<T> {
    slice: Slice,
    target: Rc<T>,
    recorder: RefCell<Recorder>,
    started: Instant,
    /// Calls that were recorded before the slice.
    earlier: u64,
    /// When a slice of limited time ends.
    deadline: Option<Instant>,
    /// Known when the first client has found no call left.
    saturated: Cell<Option<SaturatedPart>>,
    /// Set when a client cannot continue, which ends the slice for all.
    ended: Cell<bool>,
}

impl Job {
    /// Makes the calls of a slice and records them; calls in flight at the end are awaited. Intervals that end meanwhile are
    /// sent. What was recorded before a fatal error stays recorded.
    ///
    /// Every client is a task, so that what wakes one wakes nothing else: this must run where tasks can be local.
    pub async fn run<T: Target + 'static>(self, target: &Rc<T>) -> SliceResult {
        let Job { slice, recorder, intervals } = self;
        // The receiver is gone when the run is being given up.
        let emit = |interval| drop(intervals.send(interval));
        let started = Instant::now();
        let (mut edge, every) = (slice.interval, slice.every);
        let shared = Rc::new(Clients {
            deadline: slice.load.deadline(),
            slice,
            target: Rc::clone(target),
            earlier: calls(&recorder),
            recorder: recorder.into(),
            started,
            saturated: Cell::default(),
            ended: Cell::default(),
        });
        let mut clients = JoinSet::new();
        for _ in 0..shared.slice.clients {
            let shared = Rc::clone(&shared);
            clients.spawn_local(async move { shared.run_client().await });
        }
        let mut ticks = tokio::time::interval_at(edge + every, every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut result = Ok(());
        loop {
            tokio::select! {
                biased;
                _ = ticks.tick() => edge = close_interval(&mut shared.recorder.borrow_mut(), edge, &emit),
                finished = clients.join_next() => match finished {
                    None => break,
                    Some(Ok(Ok(()))) => {}
                    // The other clients finish the calls that they have in flight.
                    Some(Ok(Err(fatal))) => {
                        shared.give_up();
                        result = result.and(Err(fatal));
                    }
                    Some(Err(panicked)) => std::panic::resume_unwind(panicked.into_panic()),
                },
            }
        }
        let fatal = result.and_then(|()| shared.record_overflow()).err();
        let seconds = started.elapsed().as_secs_f64();
        let Clients { recorder, saturated, .. } = Rc::into_inner(shared).expect("all clients have ended");
        SliceResult {
            recorder: recorder.into_inner(),
            interval: edge,
            seconds,
            saturated: saturated.get().unwrap_or_default(),
            connections_created: 0,
            cpu_time: None,
            fatal,
        }
    }
}

/// The calls that a recorder has.
fn calls(recorder: &Recorder) -> u64 {
    recorder.operations().iter().map(|operation| operation.calls).sum()
}

impl<T: Target> Clients<T> {
    /// Makes one call after the other until the slice is over.
    async fn run_client(&self) -> Result<(), FatalError> {
        let mut limit = pin!(sleep(self.slice.timeout));
        match &self.slice.load {
            Load::Open(queue) => self.take_released(queue, limit).await,
            Load::Closed { next, end, listed } => {
                while let Some(index) = self.next_index(next, *end, listed.as_deref()) {
                    self.call(index, None, limit.as_mut()).await?;
                }
                self.saturated.set(self.saturated.get().or_else(|| Some(self.saturated_part())));
                Ok(())
            }
        }
    }

    /// The index of the next call of closed load; `None` when the slice is over.
    fn next_index(&self, next: &AtomicU64, end: SliceEnd, listed: Option<&[u64]>) -> Option<u64> {
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_late || self.ended.get() || self.slice.stop.is_set() {
            return None;
        }
        let position = next.fetch_add(1, Ordering::Relaxed);
        match listed {
            _ if matches!(end, SliceEnd::AtCall(end) if position >= end) => None,
            None => Some(position),
            Some(calls) => calls.get(position as usize).copied(),
        }
    }

    /// The slice until now.
    fn saturated_part(&self) -> SaturatedPart {
        let calls = calls(&self.recorder.borrow()) - self.earlier;
        SaturatedPart { calls, seconds: self.started.elapsed().as_secs_f64() }
    }

    /// Makes the calls that the pacer releases until there are no more.
    async fn take_released(&self, queue: &DueQueue, mut limit: Pin<&mut Sleep>) -> Result<(), FatalError> {
        while let Some(due) = queue.next().await {
            let (Due { index, intended, released }, taken) = (due, Instant::now());
            if self.slice.stop.is_set() {
                return Ok(());
            }
            let queue_wait = nanoseconds(taken.saturating_duration_since(released));
            if taken - intended > self.slice.timeout {
                let response = nanoseconds(taken - intended);
                self.skip(index, CallTimes::Skipped { response, queue_wait: Some(queue_wait) })?;
            } else {
                self.call(index, Some((intended, queue_wait)), limit.as_mut()).await?;
            }
            queue.done();
        }
        Ok(())
    }

    /// Ends the slice for the other clients.
    fn give_up(&self) {
        self.ended.set(true);
        if let Load::Open(queue) = &self.slice.load {
            queue.abandon();
        }
    }

    /// Records a call that waited too long to be sent.
    fn skip(&self, index: u64, times: CallTimes) -> Result<(), FatalError> {
        let (operation, _) = self.draw(index)?;
        let message = format!("a call waited longer than {} s and was not sent", self.slice.timeout.as_secs_f64());
        self.recorder.borrow_mut().record(Call {
            operation,
            outcome: CallOutcome::Skipped,
            times,
            round_trips: 0,
            inconsistency: None,
            is_beside_job: false,
            retries: &[],
            error: Some(CallError { reason: "skipped", message: &message, is_unknown: false }),
        });
        Ok(())
    }

    /// Records the calls for which the queue was full as skipped: they would have waited for at least the timeout.
    fn record_overflow(&self) -> Result<(), FatalError> {
        let Load::Open(queue) = &self.slice.load else { return Ok(()) };
        let mut calls = queue.take_overflow().into_iter().flatten().take_while(|_| !self.slice.stop.is_set());
        let times = CallTimes::Skipped { response: nanoseconds(self.slice.timeout), queue_wait: None };
        calls.try_for_each(|index| self.skip(index, times))
    }

    /// Draws the operation and the arguments of a call, which are the same for every strategy.
    fn draw(&self, index: u64) -> Result<(usize, Frame), FatalError> {
        let Slice { plan, seed, arm, .. } = &self.slice;
        plan.draw(*seed, index, *arm).map_err(|error| self.mistake("draw", &error))
    }

    /// Makes a call, with `limit` as its timeout: resetting an existing timer costs less than creating one per call. The
    /// call is drawn before the clock of its service time starts. With open load, `due` has its intended start, and how long it
    /// waited in the queue, in nanoseconds.
    async fn call(
        &self,
        index: u64,
        due: Option<(Instant, u64)>,
        mut limit: Pin<&mut Sleep>,
    ) -> Result<(), FatalError> {
        let (operation, mut frame) = self.draw(index)?;
        let program = &self.arm().operations[operation];
        let (is_job, jobs) = (self.slice.plan.operations[operation].is_job, self.slice.jobs.as_deref());
        let jobs_before = jobs.map(JobWatch::before);
        jobs.filter(|_| is_job).inspect(|jobs| jobs.start());
        let target = DelayedTarget { target: &*self.target, delay: self.slice.round_trip };
        let mut interpreter = Interpreter::new(&target, &self.slice.database).choosing_members();
        let sent = Instant::now();
        limit.as_mut().reset(sent + self.slice.timeout);
        let result = tokio::select! {
            biased;
            result = interpreter.run(program, &mut frame) => Some(result),
            () = limit => None,
        };
        let done = Instant::now();
        jobs.filter(|_| is_job).inspect(|jobs| jobs.end());
        let trace = interpreter.trace;
        let call = Call {
            operation,
            outcome: CallOutcome::Ok,
            times: call_times(due, sent, done),
            round_trips: trace.round_trips,
            inconsistency: trace.inconsistency_window().map(nanoseconds),
            is_beside_job: !is_job && jobs.zip(jobs_before).is_some_and(|(jobs, before)| jobs.ran_since(before)),
            retries: &trace.retries.iter().map(|cause: &RetryCause| cause.name()).collect::<Vec<_>>(),
            error: None,
        };
        let error = match result {
            Some(Ok(value)) => {
                self.recorder.borrow_mut().record(Call { outcome: outcome_of(&value), ..call });
                return Ok(());
            }
            Some(Err(error)) => Some(error),
            None => None,
        };
        let is_unknown = trace.is_outcome_unknown(error.as_ref());
        let written = || format!("{}, call {index}", self.slice.plan.operations[operation].written_call(&frame));
        let FailedCall { reason, message, lost } = self.failed_call(error, written)?;
        let error = Some(CallError { reason: &reason, message: &message, is_unknown });
        self.recorder.borrow_mut().record(Call { outcome: CallOutcome::Failed, error, ..call });
        let db = Db { target: &*self.target, name: &self.slice.database };
        check_alive(&db, self.arm(), lost).await
    }

    /// How a call without a result is recorded, `None` for one without a reply in time; `call` writes it for an error.
    #[cold]
    fn failed_call(&self, error: Option<StepError>, call: impl FnOnce() -> String) -> Result<FailedCall, FatalError> {
        let Some(error) = error else {
            let message = no_reply_within(self.slice.timeout);
            return Ok(FailedCall { reason: "timeout".into(), lost: Some(message.clone()), message });
        };
        let message = error.to_string();
        let (reason, lost) = match error {
            StepError::Failed { failure, .. } => {
                let may_be_lost = failure.kind == FailureKind::Network || failure.code() == Some(SHARD_WITHOUT_PRIMARY);
                (reason(&failure), may_be_lost.then_some(failure.message))
            }
            StepError::LimitReached { limit, .. } => (limit.reason().into(), None),
            // The steps of an unsafe strategy may meet data that it has corrupted.
            StepError::Invalid { .. } if self.arm().is_unsafe => ("no value".into(), None),
            StepError::Invalid { .. } => return Err(self.mistake(&call(), &error)),
        };
        Ok(FailedCall { reason, message, lost })
    }

    fn arm(&self) -> &Arm {
        &self.slice.plan.arms[self.slice.arm]
    }

    fn mistake(&self, operation: &str, error: &dyn Display) -> FatalError {
        FatalError::in_strategy(&self.arm().name, operation, error)
    }
}

/// How a call without a result is recorded.
struct FailedCall {
    /// The reason under which it is counted.
    reason: String,
    message: String,
    /// The message to report when the server turns out to be lost.
    lost: Option<String>,
}

fn call_times(due: Option<(Instant, u64)>, sent: Instant, done: Instant) -> CallTimes {
    let service = nanoseconds(done - sent);
    match due {
        None => CallTimes::Closed { service },
        Some((intended, queue_wait)) => CallTimes::Open { service, response: nanoseconds(done - intended), queue_wait },
    }
}

/// The message about a call that exceeded the timeout.
pub(crate) fn no_reply_within(timeout: Duration) -> String {
    format!("a call had no answer within {} s", timeout.as_secs_f64())
}

fn outcome_of(value: &Value) -> CallOutcome {
    let Value::Outcome(outcome) = value else { return CallOutcome::Ok };
    match outcome {
        Outcome::Ok => CallOutcome::Ok,
        Outcome::Same => CallOutcome::Same,
        Outcome::NotFound => CallOutcome::NotFound,
        Outcome::Rejected(reason) => CallOutcome::Rejected(Arc::clone(reason)),
    }
}

/// The reason under which a failure is counted: the server's code, or its kind when it has none.
fn reason(failure: &Failure) -> String {
    match failure.kind {
        FailureKind::Server(code) | FailureKind::WriteConcern(code) => code.to_string(),
        FailureKind::TooLarge => "too large".into(),
        FailureKind::Network => "network".into(),
        FailureKind::Timeout => "timeout".into(),
        FailureKind::Driver => "driver".into(),
    }
}
