//! Steps as written.

use super::keys::COMMANDS;
use super::{Node, Span, Spanned};

/// A step with its place.
#[derive(Debug, Clone)]
pub struct StepDefinition {
    /// The whole mapping.
    pub span: Span,
    /// The kind with its keys.
    pub kind: StepKind,
}

/// The kinds of steps.
#[derive(Debug, Clone)]
pub enum StepKind {
    /// A CRUD command: its value is the collection, the other keys are its options, as templates.
    Command {
        /// Which command.
        word: Spanned<CommandWord>,
        /// The collection; `<name>` inside it is replaced.
        collection: Spanned<String>,
        /// The options in the order written.
        options: Vec<(Spanned<String>, Node)>,
        /// `as`: the name of the reply.
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
        requests: Vec<RequestDefinition>,
        /// Whether the first error ends it (default).
        ordered: bool,
        /// Error codes of single requests that do not fail the call.
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
        then: Vec<StepDefinition>,
        /// Steps when false.
        otherwise: Vec<StepDefinition>,
    },
    /// `forEach: { name: list } do: [...]`.
    ForEach {
        /// The loop's name.
        name: Spanned<String>,
        /// CEL, a list.
        list: Node,
        /// Steps per element.
        body: Vec<StepDefinition>,
    },
    /// `while: <CEL> max_iterations: 1000 do: [...]`.
    While {
        /// CEL, a bool.
        condition: Node,
        /// At most this many iterations (default 1,000).
        max_iterations: u32,
        /// Steps of one iteration.
        body: Vec<StepDefinition>,
    },
    /// `retry: { errors, attempts } do: [...]`.
    Retry {
        /// Error codes that start the next attempt.
        errors: Vec<i32>,
        /// At most this many attempts in all (default 100).
        attempts: u32,
        /// Steps of one attempt.
        body: Vec<StepDefinition>,
    },
    /// `retry_if: <CEL>`: starts the next attempt of the enclosing retry if true.
    RetryIf(Node),
    /// `try: [...] catch: { 11000: [...], size: [...] }`.
    Try {
        /// Steps that may fail.
        body: Vec<StepDefinition>,
        /// The steps to take instead, by error.
        catches: Vec<(CatchKey, Vec<StepDefinition>)>,
    },
    /// `transaction: [...] attempts: 100`.
    Transaction {
        /// At most this many attempts in all (default 100).
        attempts: u32,
        /// Steps of one attempt.
        body: Vec<StepDefinition>,
    },
    /// `abort: <CEL>`: rolls back the transaction and ends the operation with this result.
    Abort(Node),
    /// `return: <CEL>`.
    Return(Node),
}

/// One request of a `bulkWrite`, or one per element of a list.
#[derive(Debug, Clone)]
pub enum RequestDefinition {
    /// `updateOne: { filter: ..., update: ... }`.
    One {
        /// Which command.
        word: Spanned<CommandWord>,
        /// The options in the order written.
        options: Vec<(Spanned<String>, Node)>,
    },
    /// `{ forEach: { name: list }, item: request }`.
    Each {
        /// The loop's name.
        name: Spanned<String>,
        /// CEL, a list.
        list: Node,
        /// The request per element.
        item: Box<RequestDefinition>,
    },
}

/// An error that `catch` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatchKey {
    /// A server error of this code.
    Code(i32),
    /// `size`: a document or message is too large for the server or for docshape.
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

    /// Returns the command of this name.
    pub fn named(name: &str) -> Option<CommandWord> {
        COMMANDS.iter().find(|(_, keys)| keys[0].name == name).map(|(word, _)| *word)
    }

    /// Returns the name in scenarios and in the MongoDB CRUD specification.
    pub fn name(self) -> &'static str {
        COMMANDS[self as usize].1[0].name
    }

    /// Whether the command changes data.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_in_the_order_of_their_words() {
        for (index, (word, keys)) in COMMANDS.iter().enumerate() {
            assert_eq!((*word as usize, CommandWord::named(keys[0].name)), (index, Some(*word)));
        }
    }
}
