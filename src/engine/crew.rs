//! The workers of one load thread in one slice. In the closed model every worker sends the next call when its last one is
//! answered; in the open model the workers take what a pacer has released.

use std::cell::{Cell, RefCell};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, Sleep, sleep};

use crate::plan::{Arm, Frame, Outcome, Value};
use crate::record::{Call, CallError, CallOutcome, DueTimes, Recorder};
use crate::server::{Failure, FailureKind, Target};

use super::interpret::{Bound, Halt, Interpreter, Retry};
use super::pacer::nanoseconds;
use super::queue::{Due, DueQueue};
use super::slice::{Fatal, Slice, SliceInterval, answers, close};

/// The workers of one load thread in one slice, and what they share.
struct Crew<T> {
    slice: Slice,
    target: Rc<T>,
    recorder: RefCell<Recorder>,
    /// When timed slices end.
    deadline: Option<Instant>,
    /// Set when a worker cannot go on, which ends the slice for all.
    ended: Cell<bool>,
}

/// A call that can begin.
struct Drawn {
    operation: usize,
    /// Its arguments.
    frame: Frame,
}

/// Makes the calls of a slice and records them; calls in flight at the end are awaited. Gives the recorder, and the time that
/// it took with the beginning of the interval that is now open. Intervals that end meanwhile are emitted.
///
/// Every worker is a task, so that whatever wakes it wakes nothing else: this must run where tasks can be local.
///
/// # Errors
/// When the scenario has a mistake or the server is gone. What was recorded until then stays recorded.
pub async fn run<T: Target + 'static>(
    slice: Slice,
    target: Rc<T>,
    recorder: Recorder,
    emit: &dyn Fn(SliceInterval),
) -> (Recorder, Result<(Duration, Instant), Fatal>) {
    let begun = Instant::now();
    let deadline = slice.length.map(|length| begun + length);
    let (mut edge, every) = (slice.interval, slice.every);
    let crew = Rc::new(Crew { slice, target, recorder: RefCell::new(recorder), deadline, ended: Cell::new(false) });
    let mut workers = JoinSet::new();
    for _ in 0..crew.slice.workers {
        let crew = Rc::clone(&crew);
        workers.spawn_local(async move { crew.work().await });
    }
    let mut ticks = tokio::time::interval_at(edge + every, every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut result = Ok(());
    loop {
        tokio::select! {
            biased;
            _ = ticks.tick() => edge = close(&mut crew.recorder.borrow_mut(), edge, emit),
            finished = workers.join_next() => match finished {
                None => break,
                Some(Ok(Ok(()))) => {}
                // The other workers finish the calls that they have in flight.
                Some(Ok(Err(fatal))) => {
                    crew.give_up();
                    result = result.and(Err(fatal));
                }
                Some(Err(panicked)) => std::panic::resume_unwind(panicked.into_panic()),
            },
        }
    }
    let result = result.and_then(|()| crew.count_refused()).map(|()| (begun.elapsed(), edge));
    let Crew { recorder, .. } = Rc::into_inner(crew).expect("all workers are gone");
    (recorder.into_inner(), result)
}

impl<T: Target> Crew<T> {
    /// Makes one call after the other until the slice is over.
    async fn work(&self) -> Result<(), Fatal> {
        let mut limit = pin!(sleep(self.slice.timeout));
        if let Some(queue) = &self.slice.due {
            return self.serve(queue, limit).await;
        }
        while let Some(index) = self.next() {
            self.call((self.draw(index)?, None), limit.as_mut()).await?;
        }
        Ok(())
    }

    /// The next call of the closed model; `None` when the slice is over.
    fn next(&self) -> Option<u64> {
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late || self.ended.get() || self.slice.stop.is_set() {
            return None;
        }
        let index = self.slice.next.fetch_add(1, Ordering::Relaxed);
        (index < self.slice.end).then_some(index)
    }

    /// Makes calls as they fall due, until there are no more.
    async fn serve(&self, queue: &DueQueue, mut limit: Pin<&mut Sleep>) -> Result<(), Fatal> {
        while let Some(due) = queue.next().await {
            let taken = Taken { due, at: Instant::now() };
            if self.slice.stop.is_set() {
                return Ok(());
            }
            if taken.at - due.intended > self.slice.timeout {
                self.skip(due.index, taken.times(taken.at))?;
            } else {
                self.call((self.draw(due.index)?, Some(taken)), limit.as_mut()).await?;
            }
        }
        Ok(())
    }

    /// Tells the other workers that it is over.
    fn give_up(&self) {
        self.ended.set(true);
        self.slice.due.iter().for_each(|queue| queue.abandon());
    }

    /// Records a call that waited too long to be sent.
    fn skip(&self, index: u64, due: DueTimes) -> Result<(), Fatal> {
        let Drawn { operation, .. } = self.draw(index)?;
        let message = format!("a call waited longer than {} s and was not sent", self.slice.timeout.as_secs_f64());
        self.recorder.borrow_mut().record(Call {
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
    fn count_refused(&self) -> Result<(), Fatal> {
        let refused = self.slice.due.iter().flat_map(|queue| queue.take_refused()).flatten();
        let mut calls = refused.take_while(|_| !self.slice.stop.is_set());
        let due = DueTimes { response: nanoseconds(self.slice.timeout), queue_wait: None };
        calls.try_for_each(|index| self.skip(index, due))
    }

    /// Draws a call, before the strategy plays a part and before the clock of the service time starts.
    fn draw(&self, index: u64) -> Result<Drawn, Fatal> {
        let Slice { plan, seed, arm, .. } = &self.slice;
        match plan.draw(*seed, index, *arm) {
            Ok((operation, frame)) => Ok(Drawn { operation, frame }),
            Err(error) => Err(self.mistake("draw", error.to_string())),
        }
    }

    /// Makes a call, in less than the timeout by `limit`: a timer that is there already and is put off costs less than one
    /// of the call's own.
    async fn call(&self, (drawn, taken): (Drawn, Option<Taken>), mut limit: Pin<&mut Sleep>) -> Result<(), Fatal> {
        let Drawn { operation, mut frame } = drawn;
        let program = &self.arm().operations[operation];
        let mut interpreter = Interpreter::new(&*self.target, &self.slice.database);
        let sent = Instant::now();
        limit.as_mut().reset(sent + self.slice.timeout);
        let result = tokio::select! {
            biased;
            result = interpreter.run(program, &mut frame) => Some(result),
            () = limit => None,
        };
        let done = Instant::now();
        self.check_data(operation, &frame)?;
        let call = Call {
            operation,
            outcome: CallOutcome::Ok,
            service: nanoseconds(done - sent),
            due: taken.map(|taken| taken.times(done)),
            round_trips: interpreter.tally.round_trips,
            inconsistent: interpreter.tally.inconsistent().map(nanoseconds),
            retries: &interpreter.tally.retries.iter().map(cause).collect::<Vec<_>>(),
            error: None,
        };
        match result {
            Some(Ok(value)) => {
                self.recorder.borrow_mut().record(Call { outcome: outcome_of(&value), ..call });
                Ok(())
            }
            Some(Err(halt)) => self.record_failure(call, self.failed(operation, halt)?).await,
            None => {
                let words = format!("a call had no answer within {} s", self.slice.timeout.as_secs_f64());
                let failed = Failed { reason: "timeout".into(), message: words.clone(), lost: Some(words) };
                self.record_failure(call, failed).await
            }
        }
    }

    /// What is told of a call without a result.
    #[cold]
    fn failed(&self, operation: usize, halt: Halt) -> Result<Failed, Fatal> {
        Ok(match halt {
            Halt::Failed { failure, label } => Failed {
                reason: reason(&failure),
                message: format!("{label}: {}", failure.message),
                lost: (failure.kind == FailureKind::Network).then_some(failure.message),
            },
            Halt::Exhausted { bound, .. } => {
                let reason = match bound {
                    Bound::Attempts(_) => "attempts used up",
                    Bound::Turns(_) => "turns used up",
                };
                Failed { reason: reason.into(), message: halt.to_string(), lost: None }
            }
            // The steps of a negative control may meet the data that it has spoilt.
            Halt::Scenario { .. } if self.arm().is_unsafe => {
                Failed { reason: "no value".into(), message: halt.to_string(), lost: None }
            }
            Halt::Scenario { .. } => {
                return Err(self.mistake(&self.slice.plan.operations[operation].name, halt.to_string()));
            }
        })
    }

    /// Records a call without a result, and finds out whether the server is gone when it looks like that.
    async fn record_failure(&self, call: Call<'_>, failed: Failed) -> Result<(), Fatal> {
        let Failed { reason, message, lost } = failed;
        let error = Some(CallError { reason: &reason, message: &message });
        self.recorder.borrow_mut().record(Call { outcome: CallOutcome::Failed, error, ..call });
        match lost {
            Some(words) if !answers(&*self.target).await => Err(Fatal::Lost(words)),
            _ => Ok(()),
        }
    }

    fn arm(&self) -> &Arm {
        &self.slice.plan.arms[self.slice.arm]
    }

    fn mistake(&self, operation: &str, words: String) -> Fatal {
        Fatal::Scenario { arm: self.arm().name.clone(), operation: operation.to_owned(), words }
    }

    /// Records are made without a way to fail; a mistake in them ends the run here.
    fn check_data(&self, operation: usize, frame: &Frame) -> Result<(), Fatal> {
        match frame.data.fault() {
            None => Ok(()),
            Some(fault) => Err(self.mistake(&self.slice.plan.operations[operation].name, fault.to_string())),
        }
    }
}

/// Why a call has no result.
struct Failed {
    /// What it is counted under.
    reason: String,
    message: String,
    /// What was said, when the server may be gone.
    lost: Option<String>,
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
