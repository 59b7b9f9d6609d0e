//! Runs the compiled steps of one operation on a target.

use std::sync::Arc;

use bson::RawDocumentBuf;
use bson::raw::cstr;
use tokio::time::Instant;

use crate::plan::{
    Command, EvalError, Expression, Frame, Implicit, Outcome, Program, Raw, ReplyShape, Step, Value, While, outcome,
    truth, written,
};
use crate::server::{Reply, ReplyKind, Target};

use super::batch::{batches, with_items};
use super::error::{Limit, StepError};
use super::reply::{WriteResult, has_changed, is_empty_reply, reply_value};
use super::retry::is_too_large;
use super::trace::CallTrace;
use super::transaction::OpenTransaction;

/// Runs one program on one database of a target.
pub struct Interpreter<'t, T> {
    pub(super) target: &'t T,
    database: &'t str,
    /// The transaction that the current step is part of.
    pub(super) open: Option<OpenTransaction>,
    /// What the call has cost so far.
    pub trace: CallTrace,
    /// The slot of `reply`.
    reply: usize,
    /// Whether reads go to the members that their steps prefer, instead of the primary.
    chooses_members: bool,
    /// Whether the times of writes matter; else the clock is not read.
    times_writes: bool,
    /// The place of the current step, a position among the program's places.
    place: Option<usize>,
    /// The place of the last read that found nothing.
    found_nothing: Option<usize>,
}

/// Where execution continues after a step.
pub(super) enum Flow {
    Next,
    /// With the next attempt of the enclosing `retry`.
    Retry,
    /// After the operation, whose transaction is rolled back.
    Abort(Value),
    Return(Value),
}

/// How steps ended.
pub(super) type Stepped = Result<Flow, StepError>;

impl<'t, T: Target> Interpreter<'t, T> {
    /// Creates an interpreter for one call whose reads all go to the primary.
    pub fn new(target: &'t T, database: &'t str) -> Interpreter<'t, T> {
        let trace = CallTrace::default();
        let (place, found_nothing) = (None, None);
        let (chooses_members, times_writes) = (false, false);
        Interpreter {
            target,
            database,
            open: None,
            trace,
            reply: 0,
            chooses_members,
            times_writes,
            place,
            found_nothing,
        }
    }

    /// Sends reads to the members that their steps prefer.
    #[must_use]
    pub fn choosing_members(self) -> Interpreter<'t, T> {
        Interpreter { chooses_members: true, ..self }
    }

    /// Runs a program whose arguments are in the frame.
    ///
    /// # Errors
    /// When the server fails, a limit is reached, or an expression has no value. A document that is too large is a result.
    pub async fn run(&mut self, program: &Program, frame: &mut Frame) -> Result<Value, StepError> {
        (self.reply, self.times_writes) = (program.reply, program.writes_again);
        match self.steps(&program.steps, frame).await {
            Ok(Flow::Return(value) | Flow::Abort(value)) => Ok(value),
            Ok(Flow::Next | Flow::Retry) => implicit_result(program, frame),
            Err(StepError::Failed { failure, .. }) if is_too_large(&failure) => {
                Ok(Value::Outcome(Outcome::Rejected(Arc::from("size"))))
            }
            Err(StepError::Invalid { label, error }) => Err(self.located(program, frame, &label, &error)),
            Err(error) => Err(error),
        }
    }

    /// Returns an error with the place of its step, and the read before it that found nothing, if that may be the cause.
    #[cold]
    fn located(&self, program: &Program, frame: &mut Frame, label: &str, error: &EvalError) -> StepError {
        let label =
            self.place.map_or_else(|| label.to_owned(), |place| format!("{}: {label}", program.places.0[place]));
        let message = error.to_string();
        // Errors name a null either as a kind of value or by what is missing.
        let names_null = message.contains("null") || message.contains("is missing");
        let read = self.found_nothing.filter(|_| names_null);
        let Some(reason) = read.and_then(|place| found_nothing(program, place, frame)) else {
            return StepError::Invalid { label, error: error.clone() };
        };
        StepError::Invalid { label, error: EvalError::new(format!("{message}; before it, {reason}")) }
    }

    pub(super) async fn steps(&mut self, steps: &[Step], frame: &mut Frame) -> Stepped {
        for step in steps {
            // Steps with steps in them recurse, which an async function can only do through a box.
            let flow = match step {
                Step::At(place) => {
                    self.place = Some(*place);
                    continue;
                }
                Step::Command(command) => {
                    let value = self.command(command, frame).await?;
                    if command.reply.is_read() && is_empty_reply(&value) {
                        self.found_nothing = self.place;
                    }
                    self.set_reply(command.alias, value, frame)
                }
                Step::Bulk(bulk) => {
                    let value = self.bulk(bulk, frame).await?;
                    self.set_reply(bulk.alias, value, frame)
                }
                Step::Let(assignments) => {
                    for (slot, value) in assignments {
                        let value = evaluate(value, "let", frame)?;
                        let value = value.check_depth().map_err(|error| StepError::invalid("let", error))?;
                        frame.set(*slot, value);
                    }
                    Flow::Next
                }
                Step::RetryIf(condition) if is_true(condition, "retry_if", frame)? => Flow::Retry,
                Step::RetryIf(_) => Flow::Next,
                Step::Abort(value) => Flow::Abort(evaluate(value, "abort", frame)?),
                Step::Return(value) => Flow::Return(evaluate(value, "return", frame)?),
                Step::If { condition, then, otherwise } => {
                    let branch = if is_true(condition, "if", frame)? { then } else { otherwise };
                    Box::pin(self.steps(branch, frame)).await?
                }
                Step::ForEach { slot, list, body } => Box::pin(self.for_each(*slot, list, body, frame)).await?,
                Step::While(step) => Box::pin(self.while_true(step, frame)).await?,
                Step::Retry(step) => Box::pin(self.retry(step, frame)).await?,
                Step::Transaction { attempts, w, body } => {
                    Box::pin(self.transaction(*attempts, w, body, frame)).await?
                }
                Step::Try { body, catches } => Box::pin(self.catch(body, catches, frame)).await?,
            };
            if !matches!(flow, Flow::Next) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    async fn for_each(&mut self, slot: usize, list: &Expression, body: &[Step], frame: &mut Frame) -> Stepped {
        let list = evaluate(list, "forEach", frame)?;
        for item in list.elements().map_err(|error| StepError::invalid("forEach", error))? {
            frame.set(slot, item);
            let flow = self.steps(body, frame).await?;
            if !matches!(flow, Flow::Next) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    async fn while_true(&mut self, step: &While, frame: &mut Frame) -> Stepped {
        let mut iterations = 0;
        let place = self.place;
        while is_true(&step.condition, &step.label, frame)? {
            if iterations == step.max_iterations {
                let limit = Limit::Iterations(step.max_iterations);
                return Err(StepError::LimitReached { label: step.label.clone(), limit });
            }
            iterations += 1;
            let flow = self.steps(&step.body, frame).await?;
            if !matches!(flow, Flow::Next) {
                return Ok(flow);
            }
            self.place = place;
        }
        Ok(Flow::Next)
    }

    /// Makes the value of a step's reply known to the steps after it.
    fn set_reply(&self, alias: Option<usize>, value: Value, frame: &mut Frame) -> Flow {
        if let Some(alias) = alias {
            frame.set(alias, value.clone());
        }
        frame.set(self.reply, value);
        Flow::Next
    }

    async fn command(&mut self, command: &Command, frame: &mut Frame) -> Result<Value, StepError> {
        let invalid = |error| StepError::invalid(&command.label, error);
        let document = command.document.bind(frame).map_err(invalid)?;
        let writes = command.changes.then_some(command.reply);
        let Some(documents) = &command.documents else {
            let preference = command.read_preference.as_deref().filter(|_| self.chooses_members);
            let reply = self.send(&command.label, kind_of(command.reply), preference, writes, document).await?;
            return Ok(reply_value(command.reply, reply));
        };
        let mut inserted = 0;
        for batch in batches(&documents.bind_items(frame).map_err(invalid)?) {
            let message = with_items(&document, cstr!("documents"), batch);
            inserted += self.send(&command.label, ReplyKind::Counts, None, writes, message).await?.n();
        }
        Ok(WriteResult { inserted, ..WriteResult::default() }.into_value())
    }

    /// Sends one command of the step `label`, to the members that are preferred; `writes` is the shape of its reply when it changes data.
    pub(super) async fn send(
        &mut self,
        label: &str,
        kind: ReplyKind,
        preference: Option<&str>,
        writes: Option<ReplyShape>,
        document: RawDocumentBuf,
    ) -> Result<Reply, StepError> {
        // The writes of a transaction are done when it commits.
        let is_write = writes.is_some() && self.open.is_none();
        let before = self.trace.begin_write(is_write);
        let sent = match (&mut self.open, preference) {
            (None, None) => self.target.run(self.database, document, kind).await,
            (None, Some(preference)) => self.target.run_from(preference, self.database, document, kind).await,
            (Some(open), _) => {
                open.is_sent = true;
                self.target.run_in(&mut open.transaction, self.database, document, kind).await
            }
        };
        match sent {
            Ok(reply) => {
                self.trace.end_write(before, is_write);
                self.trace.round_trips += reply.round_trips();
                if self.times_writes && writes.is_some_and(|shape| has_changed(shape, &reply)) {
                    // Other clients see the writes of a transaction when it commits.
                    match &mut self.open {
                        None => self.note_write(),
                        Some(open) => open.changes = true,
                    }
                }
                Ok(reply)
            }
            Err(failure) => {
                self.trace.fail_write(before, &failure);
                self.trace.round_trips += 1;
                Err(StepError::Failed { label: label.to_owned(), failure })
            }
        }
    }

    /// Notes that a write was acknowledged.
    pub(super) fn note_write(&mut self) {
        if self.times_writes {
            self.trace.note_write(Instant::now());
        }
    }
}

/// How a command with a reply of this shape is sent.
fn kind_of(shape: ReplyShape) -> ReplyKind {
    match shape {
        ReplyShape::Insert | ReplyShape::Update | ReplyShape::Delete => ReplyKind::Counts,
        ReplyShape::Documents | ReplyShape::First | ReplyShape::Count => ReplyKind::Cursor,
        ReplyShape::Values | ReplyShape::Bulk | ReplyShape::Value | ReplyShape::Whole => ReplyKind::Single,
    }
}

/// Says that the command at `place` found nothing, and for which filter: bound again, as its message is gone.
fn found_nothing(program: &Program, place: usize, frame: &mut Frame) -> Option<String> {
    let mut command = None;
    let mut is_here = false;
    Step::walk(&program.steps, &mut |step| match step {
        Step::At(at) => is_here = *at == place,
        Step::Command(found) if is_here && found.reply.is_read() => command = Some(found),
        _ => {}
    });
    let command = command?;
    let bound = Raw::new(command.document.bind(frame).ok()?);
    let filter = ["filter", "query", "pipeline"].into_iter().find_map(|name| bound.get(name));
    let filter = filter.map(|filter| format!(" for {}", written(&filter))).unwrap_or_default();
    Some(format!("`{}` ({}) found nothing{filter}", command.label, program.places.0[place]))
}

fn evaluate(expression: &Expression, label: &str, frame: &mut Frame) -> Result<Value, StepError> {
    expression.evaluate(frame).map_err(|error| StepError::invalid(label, error))
}

fn is_true(condition: &Expression, label: &str, frame: &mut Frame) -> Result<bool, StepError> {
    let value = evaluate(condition, label, frame)?;
    truth(&value).map_err(|error| StepError::invalid(label, error))
}

fn implicit_result(program: &Program, frame: &Frame) -> Result<Value, StepError> {
    match program.implicit {
        Implicit::Reply => Ok(frame.slot(program.reply).clone()),
        Implicit::Outcome => outcome(frame.slot(program.reply)).map_err(|error| StepError::invalid("outcome", error)),
        Implicit::Ok => Ok(Value::Outcome(Outcome::Ok)),
    }
}
