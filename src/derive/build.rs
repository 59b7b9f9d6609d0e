//! Nodes that are made: their spans are set when a derived part is complete.

use crate::scenario::{Node, Scalar, Span, Spanned, Tree};

/// A mapping of keys and values, in order.
macro_rules! map {
    ($($key:expr => $value:expr),* $(,)?) => {
        $crate::derive::build::mapping(vec![$(($key.to_string(), $crate::scenario::Node::from($value))),*])
    };
}
pub(super) use map;

/// A mapping in the order given.
pub(super) fn mapping(entries: Vec<(String, Node)>) -> Node {
    let entries = entries.into_iter().map(|(key, value)| (Spanned::new(key, Span::default()), value)).collect();
    tree(Tree::Mapping(entries))
}

fn tree(tree: Tree) -> Node {
    Node { span: Span::default(), tree }
}

/// The text of a slot.
pub(super) fn slot(path: &str) -> Node {
    format!("<{path}>").into()
}

impl From<&str> for Node {
    fn from(text: &str) -> Node {
        tree(Tree::Scalar(Scalar::Text(text.to_owned())))
    }
}

impl From<String> for Node {
    fn from(text: String) -> Node {
        tree(Tree::Scalar(Scalar::Text(text)))
    }
}

impl From<i64> for Node {
    fn from(number: i64) -> Node {
        tree(Tree::Scalar(Scalar::Int(number)))
    }
}

impl From<bool> for Node {
    fn from(value: bool) -> Node {
        tree(Tree::Scalar(Scalar::Bool(value)))
    }
}

impl From<Vec<Node>> for Node {
    fn from(items: Vec<Node>) -> Node {
        tree(Tree::List(items))
    }
}

/// The node with one more entry, or with another value of that key.
pub(super) fn with(mut node: Node, key: &str, value: impl Into<Node>) -> Node {
    if let Tree::Mapping(entries) = &mut node.tree {
        entries.retain(|(name, _)| name.value != key);
        entries.push((Spanned::new(key.to_owned(), Span::default()), value.into()));
    }
    node
}

/// The node with the entries of another one.
pub(super) fn with_all(node: Node, other: &Node) -> Node {
    let entries = other.as_mapping().unwrap_or_default().iter();
    entries.fold(node, |node, (key, value)| with(node, &key.value, value.clone()))
}

/// A mapping with the same value for each field.
pub(super) fn all(fields: &[impl AsRef<str>], value: i64) -> Node {
    fields.iter().fold(map! {}, |made, field| with(made, field.as_ref(), value))
}

/// Whether a mapping has no entries.
pub(super) fn is_empty(node: &Node) -> bool {
    node.as_mapping().is_none_or(<[_]>::is_empty)
}

pub(super) fn find_one(collection: &str, filter: Node, projection: Option<Node>) -> Node {
    let command = map! { "findOne" => collection, "filter" => filter };
    projection.into_iter().fold(command, |command, fields| with(command, "projection", fields))
}

pub(super) fn update_one(collection: &str, filter: Node, update: Node) -> Node {
    map! { "updateOne" => collection, "filter" => filter, "update" => update }
}

pub(super) fn pipeline(collection: &str, stages: Vec<Node>) -> Node {
    map! { "aggregate" => collection, "pipeline" => stages }
}

/// A step that computes a variable.
pub(super) fn keep(name: &str, value: impl Into<Node>) -> Node {
    map! { "let" => map! { name => value.into() } }
}

/// Sets the spans of all parts that have none.
pub(super) fn place(node: &mut Node, span: Span) {
    if node.span.is_empty() {
        node.span = span;
    }
    match &mut node.tree {
        Tree::Scalar(_) => {}
        Tree::List(items) => items.iter_mut().for_each(|item| place(item, span)),
        Tree::Mapping(entries) => entries.iter_mut().for_each(|(key, value)| {
            if key.span.is_empty() {
                key.span = span;
            }
            place(value, span);
        }),
    }
}
