//! The step language, as written.

use super::{Node, Span, Spanned};

/// One step and where it stands.
#[derive(Debug, Clone)]
pub struct Step {
    /// The whole mapping.
    pub span: Span,
    /// What it does.
    pub kind: StepKind,
}

/// What a step does.
#[derive(Debug, Clone)]
pub enum StepKind {
    /// A CRUD command: the word's value names the collection, the other keys are its options, as templates.
    Command {
        /// Which command.
        word: Spanned<CommandWord>,
        /// The collection; `<name>` inside it is replaced.
        collection: Spanned<String>,
        /// The options in the order written, each a key that [`CommandWord::options`] allows.
        options: Vec<(Spanned<String>, Node)>,
        /// `as`: a name that keeps the reply.
        alias: Option<Spanned<String>>,
    },
    /// `command:` any server command, as a template of the whole command document.
    Raw {
        /// The command document.
        command: Node,
        /// `as`.
        alias: Option<Spanned<String>>,
    },
    /// `bulkWrite`: many writes to one collection.
    BulkWrite {
        /// The collection; `<name>` inside it is replaced.
        collection: Spanned<String>,
        /// The writes, in the order written.
        requests: Vec<Request>,
        /// Whether the first error ends it (default).
        ordered: bool,
        /// Server error codes of single requests that are no failure.
        errors: Vec<i32>,
        /// `as`.
        alias: Option<Spanned<String>>,
    },
    /// `let`: assignments in order; each value is CEL.
    Let(Vec<(Spanned<String>, Node)>),
    /// `if` / `then` / `else`.
    If {
        /// CEL, a bool.
        condition: Node,
        /// Steps when true.
        then: Vec<Step>,
        /// Steps when false.
        otherwise: Vec<Step>,
    },
    /// `forEach: { name: list } do: [...]`.
    ForEach {
        /// The loop's name.
        name: Spanned<String>,
        /// CEL, a list.
        list: Node,
        /// Steps per element.
        body: Vec<Step>,
    },
    /// `while: <CEL> turns: 1000 do: [...]`.
    While {
        /// CEL, a bool.
        condition: Node,
        /// At most this many turns (default 1,000).
        turns: u32,
        /// Steps of one turn.
        body: Vec<Step>,
    },
    /// `retry: { errors, attempts } do: [...]`.
    Retry {
        /// Server error codes that begin the next attempt.
        errors: Vec<i32>,
        /// At most this many attempts in all (default 100).
        attempts: u32,
        /// Steps of one attempt.
        body: Vec<Step>,
    },
    /// `again: <CEL>`: when true, begin the next attempt of the enclosing retry.
    Again(Node),
    /// `try: [...] catch: { 11000: [...], size: [...] }`.
    Try {
        /// Steps that may fail.
        body: Vec<Step>,
        /// What is done instead, by what went wrong.
        catches: Vec<(Caught, Vec<Step>)>,
    },
    /// `transaction: [...] attempts: 100`.
    Transaction {
        /// At most this many attempts in all (default 100).
        attempts: u32,
        /// Steps of one attempt.
        body: Vec<Step>,
    },
    /// `abort: <CEL>`: takes back what the transaction did and ends the operation with this result.
    Abort(Node),
    /// `return: <CEL>`.
    Return(Node),
}

/// One request of a `bulkWrite`, or one per element of a list.
#[derive(Debug, Clone)]
pub enum Request {
    /// `updateOne: { filter: ..., update: ... }`.
    One {
        /// Which command.
        word: Spanned<CommandWord>,
        /// Its options, each a key that [`CommandWord::options`] allows.
        options: Vec<(Spanned<String>, Node)>,
    },
    /// `{ forEach: { name: list }, item: request }`.
    Each {
        /// The loop's name.
        name: Spanned<String>,
        /// CEL, a list.
        list: Node,
        /// The request per element.
        item: Box<Request>,
    },
}

/// What a `catch` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caught {
    /// A server error of this code.
    Code(i32),
    /// `size`: a document or message is too large, whoever says so.
    Size,
}

/// The CRUD commands, named as in the MongoDB CRUD specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandWord {
    /// `insertOne`
    InsertOne,
    /// `insertMany`
    InsertMany,
    /// `findOne`
    FindOne,
    /// `find`
    Find,
    /// `aggregate`
    Aggregate,
    /// `countDocuments`
    CountDocuments,
    /// `distinct`
    Distinct,
    /// `updateOne`
    UpdateOne,
    /// `updateMany`
    UpdateMany,
    /// `replaceOne`
    ReplaceOne,
    /// `deleteOne`
    DeleteOne,
    /// `deleteMany`
    DeleteMany,
    /// `findOneAndUpdate`
    FindOneAndUpdate,
    /// `findOneAndReplace`
    FindOneAndReplace,
    /// `findOneAndDelete`
    FindOneAndDelete,
}

impl CommandWord {
    /// The commands that may be requests of a `bulkWrite`.
    pub const REQUESTS: [CommandWord; 6] = [
        CommandWord::InsertOne,
        CommandWord::UpdateOne,
        CommandWord::UpdateMany,
        CommandWord::ReplaceOne,
        CommandWord::DeleteOne,
        CommandWord::DeleteMany,
    ];

    /// Every command, in the order of the format's documentation.
    pub const ALL: [CommandWord; 15] = [
        CommandWord::InsertOne,
        CommandWord::InsertMany,
        CommandWord::FindOne,
        CommandWord::Find,
        CommandWord::Aggregate,
        CommandWord::CountDocuments,
        CommandWord::Distinct,
        CommandWord::UpdateOne,
        CommandWord::UpdateMany,
        CommandWord::ReplaceOne,
        CommandWord::DeleteOne,
        CommandWord::DeleteMany,
        CommandWord::FindOneAndUpdate,
        CommandWord::FindOneAndReplace,
        CommandWord::FindOneAndDelete,
    ];

    /// The word as it stands in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            CommandWord::InsertOne => "insertOne",
            CommandWord::InsertMany => "insertMany",
            CommandWord::FindOne => "findOne",
            CommandWord::Find => "find",
            CommandWord::Aggregate => "aggregate",
            CommandWord::CountDocuments => "countDocuments",
            CommandWord::Distinct => "distinct",
            CommandWord::UpdateOne => "updateOne",
            CommandWord::UpdateMany => "updateMany",
            CommandWord::ReplaceOne => "replaceOne",
            CommandWord::DeleteOne => "deleteOne",
            CommandWord::DeleteMany => "deleteMany",
            CommandWord::FindOneAndUpdate => "findOneAndUpdate",
            CommandWord::FindOneAndReplace => "findOneAndReplace",
            CommandWord::FindOneAndDelete => "findOneAndDelete",
        }
    }

    /// The options it takes besides the collection and `as`; those that [`CommandWord::required`] lists must be there.
    pub fn options(self) -> &'static [&'static str] {
        match self {
            CommandWord::InsertOne => &["document"],
            CommandWord::InsertMany => &["documents", "ordered"],
            CommandWord::FindOne => &["filter", "projection", "sort", "skip", "hint"],
            CommandWord::Find => &["filter", "projection", "sort", "skip", "limit", "batchSize", "hint"],
            CommandWord::Aggregate => &["pipeline", "batchSize", "hint"],
            CommandWord::CountDocuments => &["filter", "skip", "limit", "hint"],
            CommandWord::Distinct => &["key", "filter"],
            CommandWord::UpdateOne | CommandWord::UpdateMany => &["filter", "update", "upsert", "arrayFilters", "hint"],
            CommandWord::ReplaceOne => &["filter", "replacement", "upsert", "hint"],
            CommandWord::DeleteOne | CommandWord::DeleteMany => &["filter", "hint"],
            CommandWord::FindOneAndUpdate => {
                &["filter", "update", "projection", "sort", "upsert", "returnDocument", "arrayFilters", "hint"]
            }
            CommandWord::FindOneAndReplace => {
                &["filter", "replacement", "projection", "sort", "upsert", "returnDocument", "hint"]
            }
            CommandWord::FindOneAndDelete => &["filter", "projection", "sort", "hint"],
        }
    }

    /// The options that must be given.
    pub fn required(self) -> &'static [&'static str] {
        match self {
            CommandWord::InsertOne => &["document"],
            CommandWord::InsertMany => &["documents"],
            CommandWord::Aggregate => &["pipeline"],
            CommandWord::Distinct => &["key"],
            CommandWord::UpdateOne | CommandWord::UpdateMany | CommandWord::FindOneAndUpdate => &["filter", "update"],
            CommandWord::ReplaceOne | CommandWord::FindOneAndReplace => &["filter", "replacement"],
            CommandWord::DeleteOne | CommandWord::DeleteMany | CommandWord::FindOneAndDelete => &["filter"],
            CommandWord::FindOne | CommandWord::Find | CommandWord::CountDocuments => &[],
        }
    }

    /// Whether it changes data.
    pub fn writes(self) -> bool {
        !matches!(
            self,
            CommandWord::FindOne
                | CommandWord::Find
                | CommandWord::Aggregate
                | CommandWord::CountDocuments
                | CommandWord::Distinct
        )
    }
}
