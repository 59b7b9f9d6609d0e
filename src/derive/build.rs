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
