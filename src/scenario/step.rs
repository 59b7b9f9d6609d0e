//! Steps as written: what each kind says, its keys and how they are read.

use super::keys::{AS, KeyDefinition, Keys, ORDERED, Takes, optional, required};
use super::read::{Fields, StepReader};
use super::{CommandWord, Node, Span, Spanned};

/// A step with its place.
#[derive(Debug, Clone)]
pub struct StepDefinition {
    /// The whole mapping.
    pub span: Span,
    /// The kind with its keys.
    pub kind: StepKind,
}

impl StepDefinition {
    /// Visits steps and the steps inside of them, in the order written.
    pub(crate) fn walk<'s>(steps: &'s [StepDefinition], visit: &mut dyn FnMut(&'s StepKind)) {
        for step in steps {
            visit(&step.kind);
            match &step.kind {
                StepKind::If { then, otherwise, .. } => {
                    StepDefinition::walk(then, visit);
                    StepDefinition::walk(otherwise, visit);
                }
                StepKind::ForEach { body, .. }
                | StepKind::While { body, .. }
                | StepKind::Retry { body, .. }
                | StepKind::Transaction { body, .. } => StepDefinition::walk(body, visit),
                StepKind::Try { body, catches } => {
                    StepDefinition::walk(body, visit);
                    catches.iter().for_each(|(_, steps)| StepDefinition::walk(steps, visit));
                }
                _ => {}
            }
        }
    }
}

impl RequestDefinition {
    /// Returns the lists over which it is repeated, outermost first.
    pub(crate) fn lists(&self) -> Vec<&Node> {
        match self {
            RequestDefinition::One { .. } => Vec::new(),
            RequestDefinition::Each { list, item, .. } => std::iter::once(list).chain(item.lists()).collect(),
        }
    }

    /// Returns the command and the options of a single request.
    pub(crate) fn command(&self) -> (CommandWord, &[(Spanned<String>, Node)]) {
        match self {
            RequestDefinition::One { word, options } => (word.value, options),
            RequestDefinition::Each { item, .. } => item.command(),
        }
    }
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
    BulkWrite(BulkDefinition),
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
        /// `delay`: milliseconds that the first retry waits at most; 0 (default): none.
        delay: u32,
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

/// A `bulkWrite`.
#[derive(Debug, Clone)]
pub struct BulkDefinition {
    /// The collection; `<name>` inside it is replaced.
    pub collection: Spanned<String>,
    /// The writes, in the order written.
    pub requests: Vec<RequestDefinition>,
    /// Whether the first error ends it (default).
    pub ordered: bool,
    /// Error codes of single requests that do not fail the call.
    pub errors: Vec<i32>,
    /// `as`.
    pub alias: Option<Spanned<String>>,
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

/// How a kind of step that is not a CRUD command is written: its keys, of which the first is the word that names the step,
/// and how it is read; `None` when a required part is missing or wrong.
pub(super) type StepSyntax = (Keys, fn(&mut StepReader, &Fields) -> Option<StepKind>);

const DO: KeyDefinition = required("do", Takes::Steps, "the steps of an iteration or attempt").example("[...]");
const ERRORS: KeyDefinition = optional("errors", Takes::Codes, "codes of server errors").example("[11000]");
const ATTEMPTS: KeyDefinition =
    optional("attempts", Takes::Integer(1, 10_000), "the most attempts").default("`100`", "100");

/// The steps that are not CRUD commands, a row for each.
pub(super) const STEPS: &[StepSyntax] = &[
    (
        &[
            required("bulkWrite", Takes::Text, "many writes to one collection").example("posts"),
            required("requests", Takes::List("request"), "the writes in order")
                .example("[{ updateOne: { filter: { _id: <post> }, update: { $inc: { n: 1 } } } }]"),
            ORDERED,
            ERRORS,
            AS,
        ],
        |reader, fields| reader.bulk_write(fields),
    ),
    (
        &[required("command", Takes::FieldExpressions, "any server command").example("{ dbStats: 1 }"), AS],
        |reader, fields| Some(StepKind::Raw { command: fields.node("command")?, alias: reader.alias(fields) }),
    ),
    (
        &[required("let", Takes::Expressions("a variable"), "assigns variables in order")
            .example("{ skip: (page - 1) * 10 }")],
        |_, fields| Some(StepKind::Let(fields.expressions("let"))),
    ),
    (
        &[
            required("if", Takes::Scalar, "condition of the steps under `then`").example("reply.modified == 0"),
            required("then", Takes::Steps, "the steps if the condition is true").example("[{ return: not_found() }]"),
            optional("else", Takes::Steps, "the steps if the condition is false").example("[{ return: ok() }]"),
        ],
        |reader, fields| {
            let (then, otherwise) = (reader.body(fields, "then"), reader.body(fields, "else"));
            Some(StepKind::If { condition: fields.node("if")?, then, otherwise })
        },
    ),
    (
        &[
            required("forEach", Takes::Loop, "repeats steps for each element of a list")
                .example("{ part: product.parts }"),
            DO,
        ],
        |reader, fields| {
            let body = reader.body(fields, "do");
            let (name, list) = fields.expressions("forEach").pop()?;
            Some(StepKind::ForEach { name, list, body })
        },
    ),
    (
        &[
            required("while", Takes::Scalar, "repeats steps as long as the condition is true")
                .example("size(level) > 0"),
            // A `while` that sends nothing lets no other task run, so that nothing outside can end it.
            optional("max_iterations", Takes::Integer(1, 100_000), "the most iterations").default("`1000`", "1000"),
            DO,
        ],
        |reader, fields| {
            let body = reader.body(fields, "do");
            let max_iterations = fields.integer("max_iterations").unwrap_or(1_000);
            Some(StepKind::While { condition: fields.node("while")?, max_iterations, body })
        },
    ),
    (
        &[
            required("retry", Takes::Optional("retry"), "repeats steps after an error or by `retry_if`")
                .example("{ errors: [11000] }"),
            DO,
        ],
        |reader, fields| reader.retry(fields),
    ),
    (
        &[required("retry_if", Takes::Scalar, "starts the next attempt of the enclosing `retry` if true")
            .example("reply.modified == 0")],
        |reader, fields| reader.retry_if(fields),
    ),
    (
        &[
            required("try", Takes::Steps, "steps that may fail").example("[...]"),
            required("catch", Takes::Named("step"), "the steps to take instead, by error code or `size`")
                .example("{ 11000: [{ return: same() }], size: [{ return: rejected(\"size\") }] }"),
        ],
        |reader, fields| reader.attempt(fields),
    ),
    (
        &[required("transaction", Takes::Steps, "steps that take effect together").example("[...]"), ATTEMPTS],
        |reader, fields| reader.transaction(fields),
    ),
    (
        &[required("abort", Takes::Expression, "rolls back the transaction and ends the operation with this result")
            .example("rejected(\"taken\")")],
        |reader, fields| reader.abort(fields),
    ),
    (
        &[required("return", Takes::Expression, "ends the operation with this result").example("reply.comments")],
        |_, fields| fields.node("return").map(StepKind::Return),
    ),
];

pub(super) const RETRY: Keys = &[
    ERRORS,
    ATTEMPTS,
    optional("delay", Takes::Integer(0, 60_000), "milliseconds that the first retry waits at most").default("`0`", "5"),
];

/// The keys of a repeated request.
pub(super) const REPEATED_REQUEST: Keys = &[
    required("forEach", Takes::Loop, "repeats the request for each element of a list").example("{ user: users }"),
    required("item", Takes::One("request"), "the request for one element")
        .example("{ deleteOne: { filter: { _id: <user> } } }"),
];
