//! Runs the compiled steps of one operation on a target.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bson::RawDocumentBuf;
use bson::raw::cstr;
use tokio::time::Instant;

use crate::plan::{
    Command, EvalError, Expression, Frame, Implicit, Outcome, Program, ReplyShape, Step, Value, outcome, truth,
};
use crate::server::{Failure, Reply, ReplyKind, Target};

use super::answer::{has_changed, shaped, written};
use super::attempt::{catching, is_size};
use super::batch::{batches, with_parts};
use super::transaction::Open;

/// Why a call has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Halt {
    /// The server or the connection; recorded, the run goes on.
    #[error("{label}: {failure}")]
    Failed {
        /// Which step.
        label: String,
        /// What the server said.
        failure: Failure,
    },
    /// A step did not come to an end within its bound; recorded, the run goes on.
    #[error("{label}: {bound} were not enough")]
    Exhausted {
        /// Which step.
        label: String,
        /// The most that it allows.
        bound: Bound,
    },
    /// A mistake of the scenario, which ends the run.
    #[error("{label}: {error}")]
    Scenario {
        /// Which step.
        label: String,
        /// What is wrong.
        error: EvalError,
    },
}

/// How often a step may do the same again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Attempts of a `retry`.
    Attempts(u32),
    /// Turns of a `while`.
    Turns(u32),
}

impl fmt::Display for Bound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Attempts(most) => write!(formatter, "{most} attempts"),
            Bound::Turns(most) => write!(formatter, "{most} turns"),
        }
    }
}

/// What a call cost besides time.
#[derive(Debug, Default)]
pub struct Tally {
    /// Messages exchanged.
    pub round_trips: u64,
    /// Attempts begun again, by cause.
    pub retries: Vec<Retry>,
    /// Writes acknowledged, of programs that may write more than once.
    writes: u64,
    /// When the first and the last write were acknowledged, of programs that may write more than once.
    written: Option<(Instant, Instant)>,
}

impl Tally {
    /// From the first write acknowledged to the last, while others can see a state between; `None` for a call that wrote
    /// less than twice.
    pub fn inconsistent(&self) -> Option<Duration> {
        self.written.filter(|_| self.writes > 1).map(|(first, last)| last - first)
    }
}

/// Why an attempt began again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// A listed server error.
    Code(i32),
    /// `again`.
    Again,
    /// A transaction that the server could not do beside others.
    Transaction,
    /// A commit of which it was not known whether it was done.
    Commit,
}

/// One program running on one database of a target.
#[derive(Debug)]
pub struct Interpreter<'t, T> {
    pub(super) target: &'t T,
    database: &'t str,
    /// The transaction that the present step is part of.
    pub(super) open: Option<Open>,
    /// What the call has cost so far.
    pub tally: Tally,
    /// Whether it matters when writes are acknowledged; the clock is not asked for nothing.
    watches_writes: bool,
}

/// Where the steps go on.
pub(super) enum Flow {
    Next,
    Again,
    /// Out of the transaction, and back.
    Abort(Value),
    Return(Value),
}

impl<'t, T: Target> Interpreter<'t, T> {
    /// An interpreter for one call.
    pub fn new(target: &'t T, database: &'t str) -> Interpreter<'t, T> {
        Interpreter { target, database, open: None, tally: Tally::default(), watches_writes: false }
    }

    /// Runs a program; the frame holds its arguments.
    ///
    /// # Errors
    /// When the server refuses or is lost, or an expression has no value. A refusal for size is a result.
    pub async fn run(&mut self, program: &Program, frame: &mut Frame) -> Result<Value, Halt> {
        self.watches_writes = program.writes_again;
        match self.steps(&program.steps, program.reply, frame).await {
            Ok(Flow::Return(value) | Flow::Abort(value)) => Ok(value),
            Ok(Flow::Next | Flow::Again) => implicit(program, frame),
            Err(Halt::Failed { failure, .. }) if is_size(&failure) => {
                Ok(Value::Outcome(Outcome::Refused(Arc::from("size"))))
            }
            Err(halt) => Err(halt),
        }
    }

    pub(super) async fn steps(&mut self, steps: &[Step], reply: usize, frame: &mut Frame) -> Result<Flow, Halt> {
        for step in steps {
            let flow = match step {
                Step::Command(command) => {
                    self.command(command, reply, frame).await?;
                    Flow::Next
                }
                Step::Bulk(bulk) => {
                    let value = self.bulk(bulk, frame).await?;
                    if let Some(alias) = bulk.alias {
                        frame.set(alias, value.clone());
                    }
                    frame.set(reply, value);
                    Flow::Next
                }
                Step::Let(assignments) => {
                    for (slot, value) in assignments {
                        let value = value.evaluate(frame).map_err(|error| wrong("let", error))?;
                        frame.set(*slot, value);
                    }
                    Flow::Next
                }
                Step::Again(condition) => match holds(condition, "again", frame)? {
                    true => Flow::Again,
                    false => Flow::Next,
                },
                Step::Abort(value) => Flow::Abort(value.evaluate(frame).map_err(|error| wrong("abort", error))?),
                Step::Return(value) => Flow::Return(value.evaluate(frame).map_err(|error| wrong("return", error))?),
                // Steps that hold steps recurse, which an async function can only do through a box.
                nested => Box::pin(self.nested(nested, reply, frame)).await?,
            };
            if !matches!(flow, Flow::Next) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    async fn nested(&mut self, step: &Step, reply: usize, frame: &mut Frame) -> Result<Flow, Halt> {
        match step {
            Step::If { condition, then, otherwise } => {
                let branch = if holds(condition, "if", frame)? { then } else { otherwise };
                self.steps(branch, reply, frame).await
            }
            Step::ForEach { slot, list, body } => {
                let list = list.evaluate(frame).map_err(|error| wrong("forEach", error))?;
                let Some(items) = list.items() else {
                    let error = EvalError::new(format!("a list is wanted, not {}", list.kind()));
                    return Err(wrong("forEach", error));
                };
                for item in items {
                    frame.set(*slot, item);
                    let flow = self.steps(body, reply, frame).await?;
                    if !matches!(flow, Flow::Next) {
                        return Ok(flow);
                    }
                }
                Ok(Flow::Next)
            }
            Step::While { label, condition, turns, body } => {
                let mut turn = 0;
                while holds(condition, label, frame)? {
                    if turn == *turns {
                        return Err(Halt::Exhausted { label: label.clone(), bound: Bound::Turns(*turns) });
                    }
                    turn += 1;
                    let flow = self.steps(body, reply, frame).await?;
                    if !matches!(flow, Flow::Next) {
                        return Ok(flow);
                    }
                }
                Ok(Flow::Next)
            }
            Step::Retry { errors, attempts, body } => self.retry(errors, *attempts, (body, reply), frame).await,
            Step::Transaction { attempts, body } => self.transaction(*attempts, (body, reply), frame).await,
            Step::Try { body, catches } => match self.steps(body, reply, frame).await {
                Err(Halt::Failed { label, failure }) => match catching(catches, &failure) {
                    Some(steps) => self.steps(steps, reply, frame).await,
                    None => Err(Halt::Failed { label, failure }),
                },
                other => other,
            },
            _ => Ok(Flow::Next),
        }
    }

    async fn command(&mut self, command: &Command, reply: usize, frame: &mut Frame) -> Result<(), Halt> {
        let document = command.document.bind(frame).map_err(|error| wrong(&command.label, error))?;
        let value = match &command.documents {
            None => {
                let kind = kind_of(command.reply);
                let answer = self.send(&command.label, (kind, writes(command)), document).await?;
                shaped(command.reply, answer)
            }
            Some(documents) => {
                let documents = documents.bind_items(frame).map_err(|error| wrong(&command.label, error))?;
                self.insert_many(command, &document, &documents).await?
            }
        };
        if let Some(alias) = command.alias {
            frame.set(alias, value.clone());
        }
        frame.set(reply, value);
        Ok(())
    }

    /// Sends one command of the step `label`; `writes` is the shape of its reply when it changes data.
    pub(super) async fn send(
        &mut self,
        label: &str,
        (kind, writes): (ReplyKind, Option<ReplyShape>),
        document: RawDocumentBuf,
    ) -> Result<Reply, Halt> {
        let sent = match &mut self.open {
            None => self.target.run(self.database, document, kind).await,
            Some(open) => {
                open.is_sent = true;
                self.target.run_in(&mut open.transaction, self.database, document, kind).await
            }
        };
        match sent {
            Ok(reply) => {
                self.tally.round_trips += reply.round_trips();
                if self.watches_writes && writes.is_some_and(|shape| has_changed(shape, &reply)) {
                    // Others see what a transaction writes when it commits.
                    match &mut self.open {
                        None => self.wrote(),
                        Some(open) => open.changes = true,
                    }
                }
                Ok(reply)
            }
            Err(failure) => {
                self.tally.round_trips += 1;
                Err(Halt::Failed { label: label.to_owned(), failure })
            }
        }
    }

    /// A write was acknowledged.
    pub(super) fn wrote(&mut self) {
        if !self.watches_writes {
            return;
        }
        let now = Instant::now();
        let first = self.tally.written.map_or(now, |(first, _)| first);
        self.tally.written = Some((first, now));
        self.tally.writes += 1;
    }

    /// Sends the documents in as many messages as the server's limits ask for.
    async fn insert_many(
        &mut self,
        command: &Command,
        frame_of: &RawDocumentBuf,
        documents: &[RawDocumentBuf],
    ) -> Result<Value, Halt> {
        let mut inserted = 0;
        for batch in batches(documents) {
            let kind = (ReplyKind::Counts, writes(command));
            let reply = self.send(&command.label, kind, with_parts(frame_of, cstr!("documents"), batch)).await?;
            inserted += reply.n();
        }
        Ok(written(0, 0, Value::Null, inserted, 0))
    }
}

/// How a command with a reply of this shape is sent.
fn kind_of(shape: ReplyShape) -> ReplyKind {
    match shape {
        ReplyShape::Insert | ReplyShape::Update | ReplyShape::Delete => ReplyKind::Counts,
        cursor if cursor.is_cursor() => ReplyKind::Cursor,
        _ => ReplyKind::Single,
    }
}

/// The shape of the reply of a command that changes data.
fn writes(command: &Command) -> Option<ReplyShape> {
    command.changes.then_some(command.reply)
}

/// Whether a condition is true.
fn holds(condition: &Expression, label: &str, frame: &mut Frame) -> Result<bool, Halt> {
    condition.evaluate(frame).and_then(|value| truth(&value)).map_err(|error| wrong(label, error))
}

pub(super) fn wrong(label: &str, error: EvalError) -> Halt {
    Halt::Scenario { label: label.to_owned(), error }
}

fn implicit(program: &Program, frame: &Frame) -> Result<Value, Halt> {
    match program.implicit {
        Implicit::Reply => Ok(frame.slot(program.reply).clone()),
        Implicit::Outcome => {
            outcome(frame.slot(program.reply)).map_err(|words| wrong("outcome", EvalError::new(words)))
        }
        Implicit::Done => Ok(Value::Outcome(Outcome::Done)),
    }
}
