//! The keys of the scenario format: one table for the reader, its diagnostics and the JSON Schema.

use super::{CommandWord, Node, Scalar, Tree};

/// A key of a mapping.
#[derive(Debug)]
pub(super) struct KeyDefinition {
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    pub(super) is_required: bool,
    /// A valid entry, for diagnostics.
    pub(super) example: &'static str,
    /// Its meaning, for diagnostics and editors.
    pub(super) about: &'static str,
}

/// What the value of a key may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Takes {
    /// The version of the format.
    Format,
    /// Text that is not blank; a plain number or boolean has to be quoted.
    Text,
    /// A list of such texts.
    Texts,
    /// One of some texts.
    OneOf(&'static [&'static str]),
    Boolean,
    /// A literal integer from the first to the second number.
    Integer(i64, i64),
    /// Codes of server errors.
    Codes,
    /// Any value that is written: lists and mappings are lists and maps of expressions.
    Expression,
    /// An expression of a single value, as a count or a condition is.
    Scalar,
    /// Names, of what the text says, with expressions.
    Expressions(&'static str),
    /// Fields of records with expressions. Their names are free: they are keys of documents.
    FieldExpressions,
    /// One name with the expression of a list.
    Loop,
    /// An entity, or names with expressions of lists.
    Each,
    /// A number or a strategy.
    Compared,
    /// A template of a document.
    Document,
    /// A template of a list.
    Items,
    /// A template of an integer that is not negative.
    Count,
    /// A template of update operators, or of a pipeline.
    Update,
    /// An index by its name or keys.
    Hint,
    /// Indexes of a collection.
    Indexes,
    /// A step or a list of steps.
    Steps,
    /// A mapping of one kind.
    One(&'static str),
    /// A mapping of one kind, or nothing.
    Optional(&'static str),
    /// Names with mappings of one kind.
    Named(&'static str),
    /// A list of mappings of one kind.
    List(&'static str),
}

impl Takes {
    /// What is expected where `node` was found; `None` when its kind is right.
    pub(super) fn expected(self, node: &Node) -> Option<String> {
        let (is_mapping, is_list) = (node.as_mapping().is_some(), node.as_list().is_some());
        let (fits, expected) = match self {
            Takes::Format | Takes::Steps => return None,
            Takes::Text if node.as_text().is_some_and(|text| text.trim().is_empty()) => (false, "non-blank text"),
            Takes::Text => (node.as_text().is_some(), "text"),
            Takes::Boolean => (matches!(node.tree, Tree::Scalar(Scalar::Bool(_))), "`true` or `false`"),
            Takes::OneOf(words) => {
                let words: Vec<String> = words.iter().map(|word| super::quote(word)).collect();
                let fits = node.as_text().is_some_and(|text| words.contains(&super::quote(text)));
                return (!fits).then(|| words.join(" or "));
            }
            Takes::Integer(low, high) => match node.tree {
                Tree::Scalar(Scalar::Int(value)) => {
                    return (!(low..=high).contains(&value)).then(|| format!("an integer from {low} to {high}"));
                }
                _ => (false, "an integer"),
            },
            Takes::Count => match node.tree {
                Tree::Scalar(Scalar::Int(value)) => (value >= 0, "an integer of 0 or more"),
                _ => (node.is_slot(), "an integer"),
            },
            Takes::Expression => (!node.is_absent(), "an expression"),
            Takes::Scalar => (matches!(node.tree, Tree::Scalar(_)) && !node.is_null(), "a scalar expression"),
            Takes::Expressions(_) | Takes::FieldExpressions | Takes::Loop | Takes::One(_) | Takes::Named(_) => {
                (is_mapping, "a mapping")
            }
            Takes::Optional(_) => (is_mapping || node.is_null(), "a mapping"),
            Takes::Each => (is_mapping || node.as_text().is_some(), "an entity or a mapping of loops"),
            Takes::Compared => (!is_mapping && !is_list && !node.is_null(), "a number or the name of a strategy"),
            Takes::Document => (is_mapping || node.is_slot(), "a mapping"),
            Takes::Update => (is_mapping || is_list || node.is_slot(), "a mapping or a pipeline"),
            Takes::Hint => (is_mapping || node.as_text().is_some(), "a key document or the name of an index"),
            Takes::Items => (is_list || node.is_slot(), "a list"),
            Takes::Texts | Takes::Codes | Takes::Indexes | Takes::List(_) => (is_list, "a list"),
        };
        (!fits).then(|| expected.to_owned())
    }

    /// The kind of its entries or items.
    pub(super) fn kind(self) -> &'static str {
        if let Takes::Named(kind) | Takes::List(kind) | Takes::One(kind) | Takes::Optional(kind) = self {
            kind
        } else {
            "entry"
        }
    }

    /// Whether it needs at least one entry or item; some only where the key itself is `required`.
    pub(super) fn must_be_filled(self, required: bool) -> bool {
        let is_collection =
            matches!(self, Takes::Expressions(_) | Takes::FieldExpressions | Takes::Named(_) | Takes::List(_));
        matches!(self, Takes::Codes | Takes::Each) || required && is_collection
    }
}

const fn required(name: &'static str, takes: Takes, example: &'static str, about: &'static str) -> KeyDefinition {
    KeyDefinition { name, takes, is_required: true, example, about }
}

const fn optional(name: &'static str, takes: Takes, example: &'static str, about: &'static str) -> KeyDefinition {
    KeyDefinition { name, takes, is_required: false, example, about }
}

pub(super) const SCENARIO: &[KeyDefinition] = &[
    required("format", Takes::Format, "format: 1", "version of the scenario format"),
    required("name", Takes::Text, "name: blog-comments", "short name: lower-case letters, digits and `-`"),
    required("title", Takes::Text, "title: \"Embed or link?\"", "the question, as a headline"),
    optional(
        "about",
        Takes::Text,
        "about: A post collects comments.",
        "what the application does, in one or two sentences",
    ),
    optional("sources", Takes::Texts, "sources: [\"MongoDB manual, Data Modeling\"]", "where the question comes from"),
    optional(
        "parameters",
        Takes::Expressions("a parameter"),
        "parameters: { posts: 200 }",
        "numbers and texts for the rest of the scenario",
    ),
    required(
        "entities",
        Takes::Named("entity"),
        "entities: { post: { count: 200, fields: { _id: index } } }",
        "the logical data, whatever the schema",
    ),
    required(
        "operations",
        Takes::Named("operation"),
        "operations: { read_post: { arguments: { post: zipf(post) } } }",
        "what the application does",
    ),
    required(
        "mixes",
        Takes::Named("mix"),
        "mixes: { default: { read_post: 1 } }",
        "how often each operation is called",
    ),
    required(
        "strategies",
        Takes::Named("strategy"),
        "strategies: { embedded: { collections: ..., operations: ... } }",
        "the competing schemas",
    ),
    optional(
        "audits",
        Takes::Named("audit"),
        "audits: { wrong_counts: { find: posts, filter: { n: -1 } } }",
        "queries that count what must not exist in the data",
    ),
    optional(
        "claims",
        Takes::List("claim"),
        "claims: [{ id: C1, says: One read is enough., expect: ... }]",
        "sentences that a run confirms or refutes",
    ),
];

pub(super) const ENTITY: &[KeyDefinition] = &[
    optional("of", Takes::Text, "of: post", "the parent entity"),
    optional("as", Takes::Text, "as: comments", "the name of the parent's list of these records"),
    required("count", Takes::Scalar, "count: 200", "how many records, per parent for a child"),
    required(
        "fields",
        Takes::FieldExpressions,
        "fields: { _id: index, title: words(4) }",
        "the fields in document order",
    ),
];

pub(super) const OPERATION: &[KeyDefinition] = &[
    optional("arguments", Takes::Expressions("an argument"), "arguments: { post: zipf(post) }", "what a call draws"),
    optional(
        "returns",
        Takes::Expression,
        "returns: [comment]",
        "the type of the result; none for an operation that only acts",
    ),
    optional("serial", Takes::Expression, "serial: post", "calls with equal values keep their order in verification"),
];

/// The one key of a mix that is not an operation.
pub(super) const MIX: &[KeyDefinition] = &[optional(
    "parameters",
    Takes::Expressions("a parameter"),
    "parameters: { posts: 200 }",
    "values of parameters for this mix",
)];

pub(super) const STRATEGY: &[KeyDefinition] = &[
    optional("about", Takes::Text, "about: Comments inside the post.", "the schema in one sentence"),
    optional("like", Takes::Text, "like: embedded", "the strategy to inherit from"),
    optional("unsafe", Takes::Boolean, "unsafe: true", "a negative control, wrong on purpose"),
    optional("default", Takes::Boolean, "default: true", "takes part in a run that names no strategies"),
    optional(
        "parameters",
        Takes::Expressions("a parameter"),
        "parameters: { bucket_size: 50 }",
        "values for the steps and collections of this strategy",
    ),
    optional(
        "collections",
        Takes::Named("collection"),
        "collections: { posts: { each: post } }",
        "the documents and indexes of each collection",
    ),
    optional(
        "load",
        Takes::Steps,
        "load: { updateMany: posts, filter: {}, update: { $set: { n: 0 } } }",
        "steps that run once after the collections are filled",
    ),
    optional(
        "operations",
        Takes::Named("step"),
        "operations: { read_post: { findOne: posts, filter: { _id: <post> } } }",
        "the steps of each operation",
    ),
    optional(
        "state",
        Takes::Named("step"),
        "state: { post: { find: posts } }",
        "the steps that return the rows of an entity",
    ),
];

pub(super) const COLLECTION: &[KeyDefinition] = &[
    optional(
        "each",
        Takes::Each,
        "each: post",
        "one document per record of an entity, or per iteration of nested loops",
    ),
    optional("document", Takes::Document, "document: { ...: <post>, comments: [] }", "the shape of a document"),
    optional(
        "indexes",
        Takes::Indexes,
        "indexes: [{ post: 1, created_on: -1 }]",
        "key documents, or `key` with the options of createIndexes",
    ),
];

/// Keys of an audit next to its command or its strategies.
pub(super) const AUDIT: &[KeyDefinition] = &[
    optional("about", Takes::Text, "about: Lost comments.", "the anomaly in one sentence"),
    optional("strategies", Takes::Texts, "strategies: [bucketed]", "the strategies that the command applies to"),
    optional(
        "expect",
        Takes::Expression,
        "expect: size(all(comment)) + calls.add_comment.ok",
        "the expected number of rows, by default 0",
    ),
    optional("live", Takes::Boolean, "live: true", "also counted while calls run"),
];

pub(super) const CLAIM: &[KeyDefinition] = &[
    required("id", Takes::Text, "id: C1", "name of the claim, unique in the scenario"),
    required("says", Takes::Text, "says: One read is enough.", "the claim in one sentence"),
    optional("source", Takes::Text, "source: MongoDB manual, Data Modeling", "where the claim comes from"),
    required(
        "expect",
        Takes::One("expectation"),
        "expect: { metric: round_trips, operation: read, strategy: embedded, equals: 1 }",
        "the comparison that decides it",
    ),
];

pub(super) const EXPECTATION: &[KeyDefinition] = &[
    required("metric", Takes::Text, "metric: round_trips", "what is measured or counted"),
    optional("operation", Takes::Text, "operation: read", "the operation; none for `throughput` and `storage_bytes`"),
    required("strategy", Takes::Text, "strategy: embedded", "the strategy that the claim is about"),
    optional("below", Takes::Compared, "below: linked", "less than another strategy or a number"),
    optional("above", Takes::Compared, "above: linked", "more than another strategy or a number"),
    optional("equals", Takes::Compared, "equals: 1", "the same as another strategy or a number"),
];

const AS: KeyDefinition = optional("as", Takes::Text, "as: found", "the name under which the reply is kept");
const DO: KeyDefinition = required("do", Takes::Steps, "do: [...]", "the steps of an iteration or attempt");
const ERRORS: KeyDefinition = optional("errors", Takes::Codes, "errors: [11000]", "codes of server errors");
const ATTEMPTS: KeyDefinition =
    optional("attempts", Takes::Integer(1, 10_000), "attempts: 100", "the most attempts, by default 100");
const ORDERED: KeyDefinition =
    optional("ordered", Takes::Boolean, "ordered: false", "whether the first error ends the write (default)");

/// The steps that are not CRUD commands; the first key of each is its word.
pub(super) const STEPS: [&[KeyDefinition]; 12] = [
    &[
        required("bulkWrite", Takes::Text, "bulkWrite: posts", "many writes to one collection"),
        required(
            "requests",
            Takes::List("request"),
            "requests: [{ updateOne: { filter: { _id: <post> }, update: { $inc: { n: 1 } } } }]",
            "the writes in order",
        ),
        ORDERED,
        ERRORS,
        AS,
    ],
    &[required("command", Takes::FieldExpressions, "command: { dbStats: 1 }", "any server command"), AS],
    &[required(
        "let",
        Takes::Expressions("a variable"),
        "let: { skip: (page - 1) * 10 }",
        "assigns variables in order",
    )],
    &[
        required("if", Takes::Scalar, "if: reply.modified == 0", "condition of the steps under `then`"),
        required("then", Takes::Steps, "then: [{ return: not_found() }]", "the steps if the condition is true"),
        optional("else", Takes::Steps, "else: [{ return: ok() }]", "the steps if the condition is false"),
    ],
    &[
        required(
            "forEach",
            Takes::Loop,
            "forEach: { part: product.parts }",
            "repeats steps for each element of a list",
        ),
        DO,
    ],
    &[
        required("while", Takes::Scalar, "while: size(level) > 0", "repeats steps as long as the condition is true"),
        // A `while` that sends nothing lets no other task run, so that nothing outside can end it.
        optional(
            "max_iterations",
            Takes::Integer(1, 100_000),
            "max_iterations: 1000",
            "the most iterations, by default 1000",
        ),
        DO,
    ],
    &[
        required(
            "retry",
            Takes::Optional("retry"),
            "retry: { errors: [11000] }",
            "repeats steps after an error or by `retry_if`",
        ),
        DO,
    ],
    &[required(
        "retry_if",
        Takes::Scalar,
        "retry_if: reply.modified == 0",
        "starts the next attempt of the enclosing `retry` if true",
    )],
    &[
        required("try", Takes::Steps, "try: [...]", "steps that may fail"),
        required("catch", Takes::Named("step"), CATCH, "the steps to take instead, by error code or `size`"),
    ],
    &[required("transaction", Takes::Steps, "transaction: [...]", "steps that take effect together"), ATTEMPTS],
    &[required(
        "abort",
        Takes::Expression,
        "abort: rejected(\"taken\")",
        "rolls back the transaction and ends the operation with this result",
    )],
    &[required("return", Takes::Expression, "return: reply.comments", "ends the operation with this result")],
];

pub(super) const CATCH: &str = "catch: { 11000: [{ return: same() }], size: [{ return: rejected(\"size\") }] }";

pub(super) const RETRY: &[KeyDefinition] = &[ERRORS, ATTEMPTS];

/// The keys of a repeated request.
pub(super) const REPEATED_REQUEST: &[KeyDefinition] = &[
    required("forEach", Takes::Loop, "forEach: { user: users }", "repeats the request for each element of a list"),
    required(
        "item",
        Takes::One("request"),
        "item: { deleteOne: { filter: { _id: <user> } } }",
        "the request for one element",
    ),
];

const DOCUMENT: KeyDefinition = required("document", Takes::Document, "document: <comment>", "the document to insert");
const DOCUMENTS: KeyDefinition =
    required("documents", Takes::Items, "documents: [<comment>]", "the documents to insert");
const FILTER: KeyDefinition = optional("filter", Takes::Document, "filter: { _id: <post> }", "which documents");
const THE_FILTER: KeyDefinition = KeyDefinition { is_required: true, ..FILTER };
const PROJECTION: KeyDefinition =
    optional("projection", Takes::Document, "projection: { comments: 1 }", "which fields to return");
const SORT: KeyDefinition = optional("sort", Takes::Document, "sort: { created_on: -1 }", "the order");
const SKIP: KeyDefinition = optional("skip", Takes::Count, "skip: 10", "how many documents to skip");
const LIMIT: KeyDefinition = optional("limit", Takes::Count, "limit: 10", "the most documents");
const BATCH_SIZE: KeyDefinition =
    optional("batchSize", Takes::Count, "batchSize: 1000", "documents per batch of the cursor");
const HINT: KeyDefinition = optional("hint", Takes::Hint, "hint: { post: 1 }", "the index to use");
const PIPELINE: KeyDefinition =
    required("pipeline", Takes::Items, "pipeline: [{ $match: { post: <post> } }]", "the stages");
const DISTINCT_KEY: KeyDefinition = required("key", Takes::Text, "key: name", "the path whose values are returned");
const UPDATE: KeyDefinition =
    required("update", Takes::Update, "update: { $set: { text: <text> } }", "update operators, or a pipeline");
const REPLACEMENT: KeyDefinition =
    required("replacement", Takes::Document, "replacement: { text: <text> }", "the new document");
const UPSERT: KeyDefinition = optional("upsert", Takes::Boolean, "upsert: true", "insert a document if none matches");
const ARRAY_FILTERS: KeyDefinition =
    optional("arrayFilters", Takes::Items, "arrayFilters: [{ item._id: <comment> }]", "filters for `$[name]`");
const RETURN_DOCUMENT: KeyDefinition = optional(
    "returnDocument",
    Takes::OneOf(&["before", "after"]),
    "returnDocument: after",
    "the document before or after the change",
);

/// A CRUD command with its keys: first its name, whose value is the collection, last `as`.
macro_rules! command {
    ($word:ident, $name:literal, [$($option:expr),*]) => {
        (
            CommandWord::$word,
            &[required($name, Takes::Text, concat!($name, ": posts"), "the collection"), $($option,)* AS],
        )
    };
}

/// Every command, in the order of the format's documentation, which is that of [`CommandWord`].
pub(super) static COMMANDS: [(CommandWord, &[KeyDefinition]); 15] = [
    command!(InsertOne, "insertOne", [DOCUMENT]),
    command!(InsertMany, "insertMany", [DOCUMENTS, ORDERED]),
    command!(FindOne, "findOne", [FILTER, PROJECTION, SORT, SKIP, HINT]),
    command!(Find, "find", [FILTER, PROJECTION, SORT, SKIP, LIMIT, BATCH_SIZE, HINT]),
    command!(Aggregate, "aggregate", [PIPELINE, BATCH_SIZE, HINT]),
    command!(CountDocuments, "countDocuments", [FILTER, SKIP, LIMIT, HINT]),
    command!(Distinct, "distinct", [DISTINCT_KEY, FILTER]),
    command!(UpdateOne, "updateOne", [THE_FILTER, UPDATE, UPSERT, ARRAY_FILTERS, HINT]),
    command!(UpdateMany, "updateMany", [THE_FILTER, UPDATE, UPSERT, ARRAY_FILTERS, HINT]),
    command!(ReplaceOne, "replaceOne", [THE_FILTER, REPLACEMENT, UPSERT, HINT]),
    command!(DeleteOne, "deleteOne", [THE_FILTER, HINT]),
    command!(DeleteMany, "deleteMany", [THE_FILTER, HINT]),
    command!(
        FindOneAndUpdate,
        "findOneAndUpdate",
        [THE_FILTER, UPDATE, PROJECTION, SORT, UPSERT, RETURN_DOCUMENT, ARRAY_FILTERS, HINT]
    ),
    command!(
        FindOneAndReplace,
        "findOneAndReplace",
        [THE_FILTER, REPLACEMENT, PROJECTION, SORT, UPSERT, RETURN_DOCUMENT, HINT]
    ),
    command!(FindOneAndDelete, "findOneAndDelete", [THE_FILTER, PROJECTION, SORT, HINT]),
];
