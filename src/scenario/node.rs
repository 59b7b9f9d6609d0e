//! YAML as a tree with spans: order kept, nothing converted that the user did not write.

use super::{Span, Spanned};

/// A YAML node.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub tree: Tree,
}

/// The three kinds of YAML node.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// A scalar.
    Scalar(Scalar),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping in the order written; keys are scalars' text. No key occurs twice.
    Mapping(Vec<(Spanned<String>, Node)>),
}

/// A scalar under the YAML 1.2 core schema: only plain (unquoted) scalars are ever null, bool or number.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`, never `yes`, `no`, `on`, `off`.
    Bool(bool),
    /// A plain integer.
    Int(i64),
    /// A plain float.
    Float(f64),
    /// Anything else, and everything quoted. The text is unescaped.
    Text(String),
}

impl Node {
    /// A scalar at `span`.
    pub fn scalar(scalar: Scalar, span: Span) -> Node {
        Node { span, tree: Tree::Scalar(scalar) }
    }

    /// The text, when it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.tree {
            Tree::Scalar(Scalar::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The elements, when it is a list.
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.tree {
            Tree::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, when it is a mapping.
    pub fn as_mapping(&self) -> Option<&[(Spanned<String>, Node)]> {
        match &self.tree {
            Tree::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// Whether it is null, written or not.
    pub fn is_null(&self) -> bool {
        matches!(self.tree, Tree::Scalar(Scalar::Null))
    }

    /// Whether nothing was written: null without `null` or `~`.
    pub fn is_absent(&self) -> bool {
        self.is_null() && self.span.is_empty()
    }

    /// What it is, in words for a message: ``the text `abc` ``, `a list`.
    pub fn describe(&self) -> String {
        match &self.tree {
            Tree::List(_) => "a list".to_owned(),
            Tree::Mapping(_) => "a mapping".to_owned(),
            Tree::Scalar(Scalar::Null) if self.span.is_empty() => "nothing".to_owned(),
            Tree::Scalar(Scalar::Null) => "null".to_owned(),
            Tree::Scalar(Scalar::Bool(value)) => format!("`{value}`"),
            Tree::Scalar(Scalar::Int(value)) => format!("the number {value}"),
            Tree::Scalar(Scalar::Float(value)) => format!("the number {value}"),
            Tree::Scalar(Scalar::Text(text)) => format!("the text {}", quote(text)),
        }
    }
}

/// A user's text in backquotes for a message: control characters escaped, and cut when long.
pub(crate) fn quote(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown: String = text.chars().take(LONGEST).flat_map(show).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    format!("`{shown}`")
}

fn show(character: char) -> Box<dyn Iterator<Item = char>> {
    if character.is_control() { Box::new(character.escape_default()) } else { Box::new(std::iter::once(character)) }
}
