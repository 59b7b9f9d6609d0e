//! The steps of an operation, resolved: what the engine interprets.

use crate::scenario::Caught;

use super::bulk::Bulk;
use super::expression::Expression;
use super::skeleton::Skeleton;
use super::template::Template;

/// The steps that stand for one operation (or load, or state) of one strategy.
#[derive(Debug)]
pub struct Program {
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// Slots of a frame for it.
    pub slots: usize,
    /// The slot of `reply`.
    pub reply: usize,
    /// What it gives when no `return` is reached.
    pub implicit: Implicit,
    /// Whether one call may send more than one write, so that others can see a state between them.
    pub writes_again: bool,
    /// Whether one call may change data.
    pub changes: bool,
}

/// The result of a program that ends without `return`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Implicit {
    /// The last reply.
    Reply,
    /// `outcome(reply)` of the only write, which is the last step.
    Outcome,
    /// `done()`.
    Done,
}

/// One step.
#[derive(Debug)]
pub enum Step {
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
    While {
        /// The step as written, for messages: `while size(level) > 0`.
        label: String,
        /// A bool.
        condition: Expression,
        /// The most turns.
        turns: u32,
        /// Per turn.
        body: Vec<Step>,
    },
    /// Attempts until one ends without a listed error and without `again`.
    Retry {
        /// Server error codes that begin the next attempt.
        errors: Vec<i32>,
        /// The most attempts.
        attempts: u32,
        /// One attempt.
        body: Vec<Step>,
    },
    /// Steps, and what is done instead when one of them fails.
    Try {
        /// The steps that may fail.
        body: Vec<Step>,
        /// What is done instead, by what went wrong.
        catches: Vec<(Caught, Vec<Step>)>,
    },
    /// Begins the next attempt when true.
    Again(Expression),
    /// Steps that the server does all or none of.
    Transaction {
        /// The most attempts.
        attempts: u32,
        /// One attempt.
        body: Vec<Step>,
    },
    /// Takes back what the transaction did, and ends the operation with a result.
    Abort(Expression),
    /// Ends the operation with a result.
    Return(Expression),
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
    /// Whether it changes data, as far as its word tells: a raw command is taken for one that does.
    pub writes: bool,
    /// Whether it changes data, raw commands that only read told apart.
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
    /// Whether the command has a cursor.
    pub fn is_cursor(self) -> bool {
        matches!(self, ReplyShape::Documents | ReplyShape::First | ReplyShape::Count)
    }
}
