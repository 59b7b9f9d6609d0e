//! The keys of the scenario format: one table for the reader, its diagnostics and the JSON Schema.

use crate::record::OutcomeKind;

use super::{Node, Scalar, Tree};

/// A key of a mapping.
#[derive(Debug)]
pub(super) struct KeyDefinition {
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    pub(super) is_required: bool,
    /// The value that a key without one has, after "by default"; empty where nothing takes its place.
    #[cfg_attr(not(test), expect(dead_code, reason = "the generated schema and tables have it"))]
    pub(super) default: &'static str,
    /// A valid value.
    example: &'static str,
    /// Its meaning, for diagnostics and editors.
    pub(super) about: &'static str,
}

/// The keys of one kind of mapping.
pub(super) type Keys = &'static [KeyDefinition];

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
    /// A literal number, boolean or text, as an option of the command line.
    Literal,
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
    /// Parameters with literal values.
    Settings,
    /// Conditions with lists of literal values.
    Conditions,
    /// Fields of records with expressions. Their names are free: they are keys of documents.
    FieldExpressions,
    /// One name with the expression of a list.
    Loop,
    /// An entity, or names with expressions of lists.
    Each,
    /// A number, a strategy, an expression, or a number of another strategy or operation.
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
    /// Collections with lists of shard keys.
    ShardKeys,
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
    /// Names with any values.
    Fragments,
    /// Relations with the words that say where their records are.
    Shapes,
    /// A logical step or a list of logical and other steps.
    Logical,
}

impl Takes {
    /// What is expected where `node` was found; `None` when its kind is right.
    pub(super) fn expected(self, node: &Node) -> Option<String> {
        let (is_mapping, is_list) = (node.as_mapping().is_some(), node.as_list().is_some());
        let (fits, expected) = match self {
            Takes::Format | Takes::Steps | Takes::Logical => return None,
            Takes::Text if node.as_text().is_some_and(|text| text.trim().is_empty()) => (false, "non-blank text"),
            Takes::Text => (node.as_text().is_some(), "text"),
            Takes::Boolean => (matches!(node.tree, Tree::Scalar(Scalar::Bool(_))), "`true` or `false`"),
            Takes::OneOf(words) => {
                let fits = node.as_text().is_some_and(|text| words.contains(&text));
                return (!fits).then(|| words.iter().map(|word| super::quote(word)).collect::<Vec<_>>().join(" or "));
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
            Takes::Literal => (node.as_literal().is_some(), "a number, `true`, `false` or text"),
            Takes::Expressions(_)
            | Takes::Settings
            | Takes::Conditions
            | Takes::FieldExpressions
            | Takes::Loop
            | Takes::One(_)
            | Takes::Named(_)
            | Takes::Shapes
            | Takes::ShardKeys
            | Takes::Fragments => (is_mapping, "a mapping"),
            Takes::Optional(_) => (is_mapping || node.is_null(), "a mapping"),
            Takes::Each => (is_mapping || node.as_text().is_some(), "an entity or a mapping of loops"),
            Takes::Compared => (!is_list && !node.is_null(), "a number, a strategy, an expression or a mapping"),
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
            return kind;
        }
        if matches!(self, Takes::Conditions) { "condition" } else { "entry" }
    }

    /// Whether it needs at least one entry or item; some only where the key itself is `required`.
    pub(super) fn must_be_filled(self, required: bool) -> bool {
        let is_collection =
            matches!(self, Takes::Expressions(_) | Takes::FieldExpressions | Takes::Named(_) | Takes::List(_));
        matches!(self, Takes::Codes | Takes::Each | Takes::Conditions) || required && is_collection
    }
}

impl KeyDefinition {
    pub(super) const fn example(self, example: &'static str) -> KeyDefinition {
        KeyDefinition { example, ..self }
    }

    /// Sets the value without the key, and another valid one.
    pub(super) const fn default(self, default: &'static str, example: &'static str) -> KeyDefinition {
        KeyDefinition { default, example, ..self }
    }

    /// Returns a valid entry, for diagnostics and editors.
    pub(super) fn entry(&self) -> String {
        format!("{}: {}", self.name, self.example)
    }
}

pub(super) const fn required(name: &'static str, takes: Takes, about: &'static str) -> KeyDefinition {
    KeyDefinition { name, takes, is_required: true, default: "", example: "", about }
}

pub(super) const fn optional(name: &'static str, takes: Takes, about: &'static str) -> KeyDefinition {
    KeyDefinition { is_required: false, ..required(name, takes, about) }
}

/// The decisions by which the catalogue is grouped, in its order.
pub const GROUPS: &[&str] = &[
    "embed or reference", "copy or join", "hierarchies", "newest N", "counters and stock", "retention",
    "indexes and collections", "large objects",
];

pub(super) const SCENARIO: Keys = &[
    required("format", Takes::Format, "version of the scenario format").example("1"),
    required("name", Takes::Text, "lower-case letters, digits and `-`; part of database and folder names")
        .example("blog-comments"),
    required("title", Takes::Text, "the question, as a headline").example("\"Embed or link?\""),
    optional("about", Takes::Text, "what the application does, in one or two sentences")
        .example("A post collects comments."),
    optional("group", Takes::OneOf(GROUPS), "the decision by which the catalogue is grouped")
        .example("embed or reference"),
    optional("sources", Takes::Texts, "where the question comes from").example("[\"MongoDB manual, Data Modeling\"]"),
    optional("clock", Takes::One("clock"), "the instants that `clock()` gives")
        .default("one second apart from 2024 on", "{ first_call: now, step: 10 }"),
    optional("parameters", Takes::Expressions("a parameter"), "numbers and texts for the rest of the scenario")
        .example("{ posts: 200 }"),
    required("entities", Takes::Named("entity"), "the logical data, whatever the schema")
        .example("{ post: { count: 200, fields: { _id: index } } }"),
    required("operations", Takes::Named("operation"), "what the application does")
        .example("{ read_post: { arguments: { post: zipf(post) } } }"),
    required("mixes", Takes::Named("mix"), "how often each operation is called")
        .example("{ default: { read_post: 1 } }"),
    optional("fragments", Takes::Fragments, "values that strategies and audits insert with `{ use: NAME }`")
        .example("{ of_post: { $match: { post: <post> } } }"),
    required("strategies", Takes::Named("strategy"), "the competing schemas")
        .example("{ embedded: { collections: ..., operations: ... } }"),
    optional("audits", Takes::Named("audit"), "queries that count what must not exist in the data")
        .example("{ wrong_counts: { find: posts, filter: { n: -1 } } }"),
    optional("claims", Takes::List("claim"), "sentences that a run confirms or refutes")
        .example("[{ id: C1, says: One read is enough., expect: ... }]"),
    optional("growth", Takes::One("growth"), "what `docshape grow` lets grow")
        .example("{ question: How long may a list be?, operation: add_comment, set: { posts: 1 } }"),
    optional("shard_keys", Takes::ShardKeys, "shard keys that `docshape shardkey` judges, by collection").default(
        "those of indexes, their first fields, and a hashed `_id`",
        "{ comments: [{ post: 1 }, { _id: hashed }] }",
    ),
    optional("sweeps", Takes::Named("sweep"), "conditions that are worth varying")
        .example("{ length: { question: How long may a list be?, vary: { comments: [10, 100, 1000] } } }"),
];

pub(super) const CLOCK: Keys = &[
    optional("first_call", Takes::OneOf(&["now"]), "the instant of the first call: that of the command's start")
        .default("that after the records from 2024 on", "now"),
    optional("step", Takes::Integer(1, 86_400_000), "milliseconds between records and between calls")
        .default("`1000`", "10"),
];

pub(super) const ENTITY: Keys = &[
    optional("of", Takes::Text, "the parent entity").example("post"),
    optional("as", Takes::Text, "the name of the parent's list of these records").example("comments"),
    required("count", Takes::Scalar, "how many records, per parent for a child").example("200"),
    optional("from", Takes::Text, "a file of real documents, whose values `line` takes")
        .example("shop.data/orders.ndjson"),
    optional("let", Takes::Expressions("a helper"), "values for the fields that are in no document")
        .example("{ fame: zipf_count(10) }"),
    required("fields", Takes::FieldExpressions, "the fields in document order")
        .example("{ _id: index, title: words(4) }"),
    optional("sort", Takes::Document, "the natural order of its records, for logical steps")
        .example("{ created_on: 1, _id: 1 }"),
    optional("arrives_sorted", Takes::Boolean, "records are created in that order, so that an array keeps it")
        .default("`false`", "true"),
    optional("inverse", Takes::Document, "the names by which the records in its lists reach it")
        .example("{ parts: products }"),
    optional("collection", Takes::Text, "the collection of its documents, where docshape derives them")
        .default("the value of `as`, or the name with `s`", "people"),
];

pub(super) const OPERATION: Keys = &[
    optional("arguments", Takes::Expressions("an argument"), "what a call draws").example("{ post: zipf(post) }"),
    optional("returns", Takes::Expression, "the type of the result").default("an outcome alone", "[comment]"),
    optional("serial", Takes::Expression, "calls with equal values keep their order in verification")
        .default("what the logical steps of `does` write, none without", "post"),
    optional(
        "job",
        Takes::Boolean,
        "a job, which takes long: calls of other operations meanwhile are measured apart, too",
    )
    .default("`false`", "true"),
    optional("does", Takes::Logical, "what it does to the data, for strategies with a `shape`")
        .example("{ create: comment, in: post }"),
];

const FIELDS: KeyDefinition =
    optional("fields", Takes::Texts, "the fields of the reply").default("all", "[_id, title]");
const WITH: KeyDefinition =
    optional("with", Takes::Document, "related records in the reply, by the name of the relation")
        .example("{ comments: , author: [name] }");
const WHERE: KeyDefinition =
    optional("where", Takes::Document, "a condition, as in a filter of MongoDB").example("{ hidden: false }");

/// The logical steps of `does`, a table of keys for each, its word first.
pub(super) const LOGICAL: &[Keys] = &[
    &[
        required("get", Takes::Text, "a record, by an argument, or the one that it belongs to").example("comment.post"),
        optional("by", Takes::Texts, "the fields that find it").default("`_id`", "[email]"),
        FIELDS,
        WITH,
        AS,
    ],
    &[
        required("list", Takes::Text, "the records of a relation or entity").example("post.comments"),
        WHERE,
        optional("sort", Takes::Document, "the order").default("that of the entity", "{ due: 1, _id: 1 }"),
        optional("reverse", Takes::Boolean, "in the opposite order").default("`false`", "true"),
        optional("limit", Takes::Scalar, "the most records").default("all", "10"),
        optional("page", Takes::Scalar, "the number of a page of `size` records, from 1").example("page"),
        optional("size", Takes::Scalar, "the records of a page").example("20"),
        optional("after", Takes::Text, "an argument: only the records behind it in the order").example("last"),
        optional("unordered", Takes::Boolean, "the order does not count").default("`false`", "true"),
        optional("index", Takes::Boolean, "whether it has an index for its condition and order")
            .default("`true`", "false"),
        FIELDS,
        WITH,
        AS,
    ],
    &[required("count", Takes::Text, "how many records a relation or entity has").example("post.comments"), WHERE, AS],
    &[
        required("sum", Takes::Text, "the sum of a field of a relation or entity").example("order.lines.cents"),
        WHERE,
        AS,
    ],
    &[
        required("create", Takes::Text, "a record that the call makes with `new`").example("comment"),
        optional("in", Takes::Text, "the record that it belongs to").example("post"),
        optional("with", Takes::Texts, "its children that `new` draws with it").default("none", "[lines]"),
    ],
    &[
        required("update", Takes::Text, "a record; setting its parent moves it").example("task"),
        optional("set", Takes::Document, "the new values of fields").example("{ text: <text> }"),
        optional("inc", Takes::Document, "what is added to fields").example("{ stock: -1 }"),
        optional("if", Takes::Document, "a condition, as in a filter of MongoDB").example("{ stock: { $gt: 0 } }"),
        optional("else", Takes::Scalar, "the outcome where the condition is false").example("rejected('stock')"),
        optional("returning", Takes::Text, "the field whose new value the call returns").example("stock"),
    ],
    &[required("delete", Takes::Text, "a record, with its children").example("order")],
    &[
        required("add", Takes::Text, "a record, to a list of records").example("part"),
        required("to", Takes::Text, "the list").example("product.parts"),
    ],
    &[
        required("remove", Takes::Text, "a record, from a list of records").example("part"),
        required("from", Takes::Text, "the list").example("product.parts"),
    ],
    &[required("atomically", Takes::List("write"), "writes of which all or none take effect")
        .example("[{ update: product, inc: { stock: -1 } }, { create: line, in: order }]")],
];

/// The one key of a mix that is not an operation.
pub(super) const MIX: Keys =
    &[optional("parameters", Takes::Expressions("a parameter"), "values of parameters for this mix")
        .example("{ posts: 200 }")];

pub(super) const STRATEGY: Keys = &[
    optional("about", Takes::Text, "the schema in one sentence").example("Comments inside the post."),
    optional("label", Takes::Text, "the strategy in two or three words, for tables").example("\"two queries\""),
    optional("like", Takes::Text, "the strategy to inherit from").example("embedded"),
    optional("unsafe", Takes::Boolean, "a negative control, wrong on purpose").default("`false`", "true"),
    optional("unsafe_with", Takes::Texts, "operations with which the strategy is a negative control")
        .example("[rename_host]"),
    optional("default", Takes::Boolean, "takes part in a run that names no strategies").default("`false`", "true"),
    optional("tolerates", Takes::Texts, "live audits whose anomalies may exist while calls run")
        .example("[order_without_its_seats]"),
    optional("parameters", Takes::Expressions("a parameter"), "values for the steps and collections of this strategy")
        .example("{ bucket_size: 50 }"),
    optional("shape", Takes::Shapes, "where the records of each relation are: `embed`, `reference` or `list`")
        .default("`reference`", "{ post.comments: embed }"),
    optional("join", Takes::OneOf(&["queries", "lookup"]), "how a derived strategy reads records of two collections")
        .default("`queries`", "lookup"),
    optional(
        "writes",
        Takes::OneOf(&["transaction", "versions", "ordered", "plain"]),
        "how a derived strategy writes more than one document",
    )
    .default("`transaction`", "plain"),
    optional("collections", Takes::Named("collection"), "the documents and indexes of each collection")
        .example("{ posts: { each: post } }"),
    optional("load", Takes::Steps, "steps that run once after the collections are filled")
        .example("{ updateMany: posts, filter: {}, update: { $set: { n: 0 } } }"),
    optional("operations", Takes::Named("step"), "the steps of each operation")
        .example("{ read_post: { findOne: posts, filter: { _id: <post> } } }"),
    optional("state", Takes::Named("step"), "the steps that return the rows of an entity")
        .example("{ post: { find: posts } }"),
];

pub(super) const COLLECTION: Keys = &[
    optional("like", Takes::Text, "the strategy whose collection of this name has the keys that are not given here")
        .example("embedded"),
    optional("for", Takes::Loop, "one collection per element of a list of parameters")
        .example("{ k: \"range(0, kinds)\" }"),
    optional("options", Takes::Document, "the options of the `create` command")
        .example("{ capped: true, size: 400000 }"),
    optional("each", Takes::Each, "one document per record of an entity, or per iteration of nested loops")
        .default("none", "post"),
    optional(
        "load_order",
        Takes::OneOf(&["interleaved", "grouped"]),
        "whether the children of a parent are loaded in a row",
    )
    .default("`interleaved`", "grouped"),
    optional("document", Takes::Document, "the shape of a document")
        .default("the whole record", "{ ...: <post>, comments: [] }"),
    optional("on_size", Takes::OneOf(&["fail", "skip"]), "what becomes of documents that are too large for the server")
        .default("`fail`", "skip"),
    optional("indexes", Takes::Indexes, "key documents, or `key` with the options of createIndexes")
        .example("[{ post: 1, created_on: -1 }]"),
    optional("shard", Takes::One("shard"), "how it is sharded, where the server is a cluster")
        .default("it is not", "{ key: { post: 1 } }"),
];

pub(super) const SHARD: Keys = &[
    required("key", Takes::Document, "the fields of the shard key, each `1` or `hashed`").example("{ post: 1 }"),
    optional("chunks", Takes::Integer(1, 8_192), "the chunks into which it is split before it is loaded")
        .default("one per shard", "8"),
];

/// Keys of an audit next to its command or its strategies.
pub(super) const AUDIT: Keys = &[
    optional("about", Takes::Text, "the anomaly in one sentence").example("Lost comments."),
    optional("strategies", Takes::Texts, "the strategies of the command; `like NAME`: and those like it")
        .default("all", "[linked, like bucketed]"),
    optional("expect", Takes::Expression, "the expected number of rows")
        .default("`0`", "size(all(comment)) + calls.add_comment.ok"),
    optional("live", Takes::Boolean, "also counted while calls run").default("`false`", "true"),
];

const MIX_OF_RUN: KeyDefinition = optional("mix", Takes::Text, "the mix").default("that of a plain run", "reading");
const SET: KeyDefinition = optional("set", Takes::Settings, "values of parameters, as `--set` takes them")
    .default("those of the scenario", "{ posts: 500 }");
const STRATEGIES_OF_RUN: KeyDefinition =
    optional("strategies", Takes::Texts, "the strategies").default("those of a plain run", "[embedded, linked]");

/// What a claim needs that only a sharded cluster decides.
pub(super) const NEEDS_CLUSTER: &str = "cluster";

pub(super) const CLAIM: Keys = &[
    required("id", Takes::Text, "name of the claim, unique in the scenario").example("C1"),
    required("says", Takes::Text, "the claim in one sentence").example("One read is enough."),
    optional("source", Takes::Text, "where the claim comes from").example("MongoDB manual, Data Modeling"),
    optional("by_design", Takes::Boolean, "whether it follows from the scenario itself").default("`false`", "true"),
    optional("needs", Takes::OneOf(&[NEEDS_CLUSTER]), "the kind of server without which nothing decides it")
        .default("any", NEEDS_CLUSTER),
    optional("mix", Takes::Text, "the mix of the runs that decide it").default("any", "reading"),
    optional("clients", Takes::Integer(1, 10_000), "the clients of the runs that decide it").default("any", "32"),
    SET,
    required("expect", Takes::One("expectation"), "the comparison that decides it")
        .example("{ metric: round_trips, operation: read, strategy: embedded, equals: 1 }"),
];

pub(super) const SWEEP: Keys = &[
    required("question", Takes::Text, "what the sweep answers").example("How long may a list be?"),
    required("vary", Takes::Conditions, "one or two conditions with their values")
        .example("{ comments: [10, 100, 1000] }"),
    SET,
    MIX_OF_RUN,
    STRATEGIES_OF_RUN,
];

pub(super) const GROWTH: Keys = &[
    required("question", Takes::Text, "what the growth answers").example("How long may a list be?"),
    required("operation", Takes::Text, "the operation that lets documents grow").example("add_comment"),
    optional("sampled", Takes::Texts, "what is measured besides it")
        .default("all other operations of the mix", "[read_post]"),
    optional("until", Takes::Literal, "when it ends: `refused`, a size of the largest document or a number of calls")
        .default("`refused`", "4MB"),
    SET,
    MIX_OF_RUN,
    STRATEGIES_OF_RUN,
];

pub(super) const EXPECTATION: Keys = &[
    optional("metric", Takes::Text, "what is measured or counted").example("round_trips"),
    optional("audit", Takes::Text, "the audit whose anomalies are counted").example("oversold"),
    optional(
        "outcome",
        Takes::OneOf(&OutcomeKind::NAMES),
        "the outcome whose share is compared; with a time as `metric`, that of the calls that count",
    )
    .example("rejected"),
    optional("operation", Takes::Text, "the operation, unless the number belongs to a whole strategy").example("read"),
    required("strategy", Takes::Text, "the strategy that the claim is about").example("embedded"),
    optional("below", Takes::Compared, "less than another strategy or a number").example("linked"),
    optional("above", Takes::Compared, "more than another strategy or a number").example("linked"),
    optional("equals", Takes::Compared, "the same as another strategy or a number").example("1"),
];

/// Keys of the other side of an expectation, where that is a mapping.
pub(super) const COMPARED: Keys = &[
    optional("strategy", Takes::Text, "the other strategy").default("the same", "linked"),
    optional("operation", Takes::Text, "the other operation").default("the same", "read"),
    optional("times", Takes::Scalar, "the factor by which it is multiplied").default("`1`", "0.5"),
];

/// Key of every step with a reply.
pub(super) const AS: KeyDefinition =
    optional("as", Takes::Text, "the name under which the reply is kept").example("found");
/// Key of the steps with several writes.
pub(super) const ORDERED: KeyDefinition =
    optional("ordered", Takes::Boolean, "whether the first error ends the write").default("`true`", "false");
