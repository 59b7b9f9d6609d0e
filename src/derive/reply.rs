//! The reply of a logical read, and the queries that give it.

use crate::scenario::{Node, Scalar, Spanned, Tree};

use super::build::{is_empty, keep, map, pipeline, place, with};
use super::model::text_option;
use super::rows::Rows;

/// What a logical read becomes: steps, and the expression of its reply.
pub(super) struct LogicalReply {
    pub steps: Vec<Node>,
    pub value: String,
}

impl LogicalReply {
    pub fn of(command: Node) -> LogicalReply {
        LogicalReply { steps: vec![command], value: "reply".to_owned() }
    }

    /// What a pipeline gives.
    pub fn piped(rows: Rows, value: impl Into<String>) -> LogicalReply {
        LogicalReply { steps: vec![pipeline(&rows.collection, rows.stages)], value: value.into() }
    }
}

/// Keeps a reply under a name: as the reply of the last command, or as a variable.
pub(super) fn name_reply(steps: &mut Vec<Node>, value: &str, name: &str) {
    let is_command = |node: &Node| node.get("let").is_none() && node.get("if").is_none();
    match steps.pop() {
        Some(last) if value == "reply" && is_command(&last) => steps.push(with(last, "as", name)),
        last => {
            steps.extend(last);
            steps.push(keep(name, value));
        }
    }
}

/// Reads numbers along with what the read before finds of the same document, so that both need one query. Its reply gets more
/// fields only if that `was_computed` alone is used.
pub(super) fn read_along(made: &mut [Node], was_computed: bool, reply: LogicalReply) -> LogicalReply {
    let (Some(first), [step]) = (made.iter_mut().rfind(|node| node.get("let").is_none()), &reply.steps[..]) else {
        return reply;
    };
    let text = |node: &Node, key: &str| node.get(key).map(|part| part.on_one_line(str::to_owned));
    let is_same = ["findOne", "filter", "sort"].iter().all(|key| text(first, key) == text(step, key));
    let asked = step.get("projection").and_then(Node::as_mapping).unwrap_or_default();
    if first.get("findOne").is_none() || !is_same || asked.is_empty() || reply.value == "reply" {
        return reply;
    }
    let shown = first.get("projection").cloned().unwrap_or_else(|| map! {});
    let is_zero =
        |(key, node): &(Spanned<String>, Node)| key.value != "_id" && node.tree == Tree::Scalar(Scalar::Int(0));
    let leaves_out = shown.as_mapping().is_some_and(|fields| fields.iter().any(is_zero));
    let name = text_option(first.as_mapping().unwrap_or_default(), "as").map(str::to_owned);
    if leaves_out || is_empty(&shown) {
        if asked.iter().any(|(key, _)| key.value != "_id" && shown.get(&key.value).is_some()) {
            return reply;
        }
    } else if was_computed {
        let more = asked.iter().filter(|(key, _)| shown.get(&key.value).is_none());
        let both = more.fold(shown.clone(), |made, (key, node)| with(made, &key.value, node.clone()));
        *first = with(first.clone(), "projection", both);
        place(first, first.span);
    } else {
        return reply;
    }
    let value = name.map_or_else(|| reply.value.clone(), |name| replaced(&reply.value, &name));
    LogicalReply { steps: Vec::new(), value }
}

/// The documents of a reply, where nothing says how many: by default, the first message of a cursor has no more than 101.
pub(super) const BATCH: i64 = 100_000;

/// The step with queries whose replies are one message, whatever the number of documents.
pub(super) fn in_one_batch(node: Node) -> Node {
    const INNER: [&str; 4] = ["transaction", "then", "do", "else"];
    let tree = match node.tree {
        Tree::List(items) => Tree::List(items.into_iter().map(in_one_batch).collect()),
        Tree::Mapping(entries) => {
            let inner = |(key, value): (Spanned<String>, Node)| {
                let value = if INNER.contains(&key.value.as_str()) { in_one_batch(value) } else { value };
                (key, value)
            };
            Tree::Mapping(entries.into_iter().map(inner).collect())
        }
        tree => tree,
    };
    let node = Node { span: node.span, tree };
    let is_whole = node.get("find").is_some() && node.get("limit").is_none();
    if is_whole { with(node, "batchSize", BATCH) } else { node }
}

/// A step in which `reply` has another name.
pub(super) fn renamed(node: &Node, name: &str) -> Node {
    let tree = match &node.tree {
        Tree::Scalar(Scalar::Text(text)) => Tree::Scalar(Scalar::Text(replaced(text, name))),
        Tree::Scalar(scalar) => Tree::Scalar(scalar.clone()),
        Tree::List(items) => Tree::List(items.iter().map(|item| renamed(item, name)).collect()),
        Tree::Mapping(entries) => {
            Tree::Mapping(entries.iter().map(|(key, value)| (key.clone(), renamed(value, name))).collect())
        }
    };
    Node { span: node.span, tree }
}

/// The text with the word `reply`, where it is a name, replaced.
fn replaced(text: &str, name: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '\'' || c == '"';
    let mut made = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("reply") {
        let (before, after) = (&rest[..at], &rest[at + 5..]);
        let follows = made.chars().chain(before.chars()).last().is_some_and(is_part);
        let goes_on = after.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '\'' || c == '"');
        made.push_str(before);
        made.push_str(if follows || goes_on { "reply" } else { name });
        rest = after;
    }
    made + rest
}
