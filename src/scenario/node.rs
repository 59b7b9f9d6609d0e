//! YAML as a tree with spans: order kept, duplicates seen, nothing converted that the user did not write.

use std::sync::Arc;

/// Byte offsets into the scenario's text: start inclusive, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

/// A scenario's text and the name to show for it in diagnostics.
#[derive(Debug, Clone)]
pub struct Source {
    /// File path as given, or the name of a catalogue scenario.
    pub path: String,
    /// The whole text.
    pub text: Arc<str>,
}

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
