//! The steps of an operation, resolved: what the engine interprets.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::{Bulk, Expression, Skeleton, Template, Value};

/// The steps of one operation (or load, or state) of one strategy.
#[derive(Debug)]
pub struct Program {
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// Slots of a frame for it.
    pub slots: usize,
    /// The slot of `reply`.
    pub reply: usize,
    /// The result when no `return` is reached.
    pub implicit: Implicit,
    /// Whether one call may send more than one write, so that others can see a state between them.
    pub writes_again: bool,
    /// Whether one call may change data.
    pub changes: bool,
    /// The collections that its commands name. `None` when they are not known: a slot is in a name, or a raw command.
    pub collections: Option<BTreeSet<String>>,
    /// Where its steps are written.
    pub places: Places,
}

impl Program {
    /// Its commands, each with its place.
    pub(crate) fn commands(&self) -> Vec<(&str, &Command)> {
        let (mut place, mut found) = ("", Vec::new());
        Step::walk(&self.steps, &mut |step| match step {
            Step::At(at) => place = self.places.0[*at].as_str(),
            Step::Command(command) => found.push((place, &**command)),
            _ => {}
        });
        found
    }

    /// Whether its commands do not depend on replies.
    pub(crate) fn is_straight(&self) -> bool {
        self.steps.iter().all(Step::is_straight)
    }
}

/// The result of a program that ends without `return`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Implicit {
    /// The last reply.
    Reply,
    /// `outcome(reply)` of the only write, which is the last step.
    Outcome,
    /// `ok()`.
    Ok,
}

/// The files and lines of steps, as in `blog.yaml:12`. A [`Step::At`] is a position among them.
#[derive(Default)]
pub struct Places(pub Vec<String>);

impl fmt::Debug for Places {
    /// Writes nothing: programs are compared by this form, and the same steps may be written at different places.
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

/// One step.
#[derive(Debug)]
pub enum Step {
    /// Does nothing; the position of the next step among the program's places, for errors.
    At(usize),
    /// A server command.
    Command(Box<Command>),
    /// Many writes in few commands.
    Bulk(Box<Bulk>),
    /// Assignments, in order.
    Let(Vec<(usize, Expression)>),
    /// A choice.
    If {
        /// A bool.
        condition: Expression,
        /// When true.
        then: Vec<Step>,
        /// When false.
        otherwise: Vec<Step>,
    },
    /// A loop over a list.
    ForEach {
        /// The loop name's slot.
        slot: usize,
        /// The list.
        list: Expression,
        /// Per element.
        body: Vec<Step>,
    },
    /// A loop while a condition holds.
    While(Box<While>),
    /// Attempts until one ends without a listed error and without `retry_if`.
    Retry(Box<Retry>),
    /// Steps, and the steps to run instead when one of them fails.
    Try {
        /// The steps that may fail.
        body: Vec<Step>,
        /// What is done instead, by what went wrong.
        catches: Vec<(Caught, Vec<Step>)>,
    },
    /// Begins the next attempt when true.
    RetryIf(Expression),
    /// Steps that the server does all or none of.
    Transaction {
        /// The most attempts.
        attempts: u32,
        /// The write concern with which it is committed.
        w: Arc<str>,
        /// One attempt.
        body: Vec<Step>,
    },
    /// Takes back what the transaction did, and ends the operation with a result.
    Abort(Expression),
    /// Ends the operation with a result.
    Return(Expression),
}

/// A loop while a condition holds.
#[derive(Debug)]
pub struct While {
    /// The step as written, for messages: `while size(level) > 0`.
    pub label: String,
    /// A bool.
    pub condition: Expression,
    /// The most iterations.
    pub max_iterations: u32,
    /// Per iteration.
    pub body: Vec<Step>,
}

/// Attempts until one ends without a listed error and without `retry_if`.
#[derive(Debug)]
pub struct Retry {
    /// Server error codes that begin the next attempt.
    pub errors: Vec<i32>,
    /// The most attempts.
    pub attempts: u32,
    /// The longest time before the first retry, in milliseconds; 0: none.
    pub delay: u32,
    /// One attempt.
    pub body: Vec<Step>,
}

impl Step {
    /// Returns the steps inside, in groups: the branches of an `if`, the body of a loop.
    pub fn bodies(&self) -> Vec<&[Step]> {
        match self {
            Step::If { then, otherwise, .. } => vec![then, otherwise],
            Step::While(step) => vec![&step.body],
            Step::Retry(step) => vec![&step.body],
            Step::ForEach { body, .. } | Step::Transaction { body, .. } => vec![body],
            Step::Try { body, catches } => {
                std::iter::once(body).chain(catches.iter().map(|(_, steps)| steps)).map(Vec::as_slice).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Visits steps and, after each, those inside of it.
    pub fn walk<'s>(steps: &'s [Step], visit: &mut dyn FnMut(&'s Step)) {
        for step in steps {
            visit(step);
            step.bodies().into_iter().for_each(|body| Step::walk(body, visit));
        }
    }

    /// Whether it does the same after any reply.
    fn is_straight(&self) -> bool {
        match self {
            Step::At(_) | Step::Command(_) | Step::Bulk(_) | Step::Return(_) => true,
            Step::Transaction { body, .. } => body.iter().all(Step::is_straight),
            _ => false,
        }
    }

    /// Returns the most writes that one run of it sends; a write in a loop is several. What a `retry` repeats counts
    /// once: the write of a repeated attempt had no effect.
    fn most_writes(&self) -> usize {
        let mut inside = self.bodies().into_iter().map(most_writes);
        match self {
            Step::Command(command) => usize::from(command.changes),
            Step::Bulk(bulk) => 1 + usize::from(bulk.is_several()),
            Step::If { .. } => inside.max().unwrap_or(0),
            Step::ForEach { .. } | Step::While(_) => 2 * inside.sum::<usize>(),
            // Others see its writes all at once, when it commits.
            Step::Transaction { .. } => inside.sum::<usize>().min(1),
            Step::Try { .. } => inside.next().unwrap_or(0) + inside.max().unwrap_or(0),
            _ => inside.sum(),
        }
    }
}

/// Returns how many of the steps send writes, nested ones included.
pub(crate) fn writes(steps: &[Step]) -> usize {
    let mut writes = 0;
    Step::walk(steps, &mut |step| {
        writes += usize::from(match step {
            Step::Command(command) => command.writes,
            other => matches!(other, Step::Bulk(_)),
        });
    });
    writes
}

/// Returns the most writes that one run of the steps sends, as far as is known before it.
pub(crate) fn most_writes(steps: &[Step]) -> usize {
    steps.iter().map(Step::most_writes).sum()
}

/// What a `catch` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caught {
    /// A server error of this code.
    Code(i32),
    /// `size`: a document or message is too large, whether the server or the driver says so.
    Size,
}

/// Read and write concern that every command carries, since raw commands ignore the client's defaults.
#[derive(Debug, Clone)]
pub struct Concerns {
    /// `w` of every write and transaction: `majority` or a number of members.
    pub write: String,
    /// `level` of every read.
    pub read: String,
}

impl Default for Concerns {
    /// The server's own defaults since MongoDB 5.0.
    fn default() -> Concerns {
        Concerns { write: "majority".into(), read: "local".into() }
    }
}

impl Concerns {
    /// The value of `writeConcern`.
    pub(crate) fn write_concern(&self) -> Value {
        let w = self.write.parse().map_or_else(|_| Value::text(&self.write), Value::Int);
        Value::Map(Arc::new([(Arc::from("w"), w)]))
    }
}

/// A server command, ready to be bound.
#[derive(Debug)]
pub struct Command {
    /// Word and collection, for messages: `updateOne posts`.
    pub label: String,
    /// The whole command document.
    pub document: Skeleton,
    /// The documents of an `insertMany`, which is split at the server's limits; they are not in `document`.
    pub documents: Option<Template>,
    /// How the reply is read.
    pub reply: ReplyShape,
    /// The slot of `as`.
    pub alias: Option<usize>,
    /// The read concern that it has of its own.
    pub read_concern: Option<Box<str>>,
    /// The read preference, such as `secondary`; `None`: the primary answers. A call of a measurement follows it, everything else reads
    /// from the primary.
    pub read_preference: Option<Box<str>>,
    /// Whether its kind changes data; a raw command is assumed to.
    pub writes: bool,
    /// Whether it changes data; unlike `writes`, it is false of raw commands that only read.
    pub changes: bool,
}

/// What the server's reply becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyShape {
    /// All documents of a cursor.
    Documents,
    /// The first document of a cursor, or null.
    First,
    /// The field `n` of the first document of a cursor, or 0.
    Count,
    /// The list under `values`.
    Values,
    /// `{ matched, modified, upserted_id, inserted, deleted }` of an insert.
    Insert,
    /// The same, of an update.
    Update,
    /// The same, of a delete.
    Delete,
    /// The same, and `errors`, of the commands of a `bulkWrite` together.
    Bulk,
    /// The document under `value`, or null.
    Value,
    /// The reply as it is.
    Whole,
}

impl ReplyShape {
    /// Whether it is null or an empty list when a filter matches nothing.
    pub fn is_read(self) -> bool {
        matches!(self, ReplyShape::Documents | ReplyShape::First | ReplyShape::Values | ReplyShape::Value)
    }

    /// Whether a program that ends with it gives `outcome(reply)`.
    pub(crate) fn has_outcome(self) -> bool {
        matches!(self, ReplyShape::Insert | ReplyShape::Update | ReplyShape::Delete)
    }

    /// Whether it is the reply of an insert, update or delete, whose fields are known.
    pub fn is_write(self) -> bool {
        self.has_outcome() || self == ReplyShape::Bulk
    }
}
