//! YAML as a tree with spans that keeps the order and the text as written.

use super::{Span, Spanned};

/// A YAML node.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The text that it covers.
    pub span: Span,
    /// Its kind and contents.
    pub tree: Tree,
}

/// The three kinds of YAML node.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// A scalar.
    Scalar(Scalar),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping in the order written, without duplicate keys. A key is the text of its scalar.
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
    /// Any other text, and all quoted text, unescaped.
    Text(String),
}

impl Node {
    /// A scalar at `span`.
    pub fn scalar(scalar: Scalar, span: Span) -> Node {
        Node { span, tree: Tree::Scalar(scalar) }
    }

    /// Its span, or `other` when nothing was written.
    pub(super) fn span_or(&self, other: Span) -> Span {
        if self.span.is_empty() { other } else { self.span }
    }

    /// The text of a text scalar.
    pub fn as_text(&self) -> Option<&str> {
        let Tree::Scalar(Scalar::Text(text)) = &self.tree else { return None };
        Some(text)
    }

    /// A number, boolean or text as the command line takes it.
    pub(crate) fn as_literal(&self) -> Option<Spanned<String>> {
        let text = match &self.tree {
            Tree::Scalar(Scalar::Bool(value)) => value.to_string(),
            Tree::Scalar(Scalar::Int(value)) => value.to_string(),
            Tree::Scalar(Scalar::Float(value)) => value.to_string(),
            Tree::Scalar(Scalar::Text(text)) => text.clone(),
            Tree::Scalar(Scalar::Null) | Tree::List(_) | Tree::Mapping(_) => return None,
        };
        Some(Spanned::new(text, self.span))
    }

    /// The items of a list.
    pub fn as_list(&self) -> Option<&[Node]> {
        let Tree::List(items) = &self.tree else { return None };
        Some(items)
    }

    /// The entries of a mapping.
    pub fn as_mapping(&self) -> Option<&[(Spanned<String>, Node)]> {
        let Tree::Mapping(entries) = &self.tree else { return None };
        Some(entries)
    }

    /// The list of a field that is written as `{ set: LIST }`: one whose order does not count.
    pub(crate) fn as_set(&self) -> Option<&Node> {
        match self.as_mapping()? {
            [(word, items)] if word.value == "set" => Some(items),
            _ => None,
        }
    }

    /// The value of a key of a mapping.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.as_mapping()?.iter().find(|(name, _)| name.value == key).map(|(_, value)| value)
    }

    /// Visits the node, which has this key in a mapping, and the nodes inside of those for which `visit` is true.
    pub(crate) fn walk<'n>(&'n self, key: Option<&'n str>, visit: &mut dyn FnMut(Option<&'n str>, &'n Node) -> bool) {
        if !visit(key, self) {
            return;
        }
        match &self.tree {
            Tree::Scalar(_) => {}
            Tree::List(items) => items.iter().for_each(|item| item.walk(None, visit)),
            Tree::Mapping(entries) => entries.iter().for_each(|(key, value)| value.walk(Some(&key.value), visit)),
        }
    }

    /// Whether it is null, written or not.
    pub fn is_null(&self) -> bool {
        matches!(self.tree, Tree::Scalar(Scalar::Null))
    }

    /// Whether the value is missing: null without `null` or `~`.
    pub fn is_absent(&self) -> bool {
        self.is_null() && self.span.is_empty()
    }

    /// Whether it is text that one slot fills, as `<post>` does.
    pub(crate) fn is_slot(&self) -> bool {
        self.as_text().is_some_and(|text| text.len() > 2 && text.starts_with('<') && text.ends_with('>'))
    }

    /// Writes it on one line, texts and keys as `text` gives them.
    pub(crate) fn on_one_line(&self, text: fn(&str) -> String) -> String {
        match &self.tree {
            Tree::Scalar(Scalar::Null) => "null".to_owned(),
            Tree::Scalar(Scalar::Bool(value)) => value.to_string(),
            Tree::Scalar(Scalar::Int(value)) => value.to_string(),
            Tree::Scalar(Scalar::Float(value)) => format!("{value:?}"),
            Tree::Scalar(Scalar::Text(written)) => text(written),
            Tree::List(items) => {
                let items: Vec<String> = items.iter().map(|item| item.on_one_line(text)).collect();
                format!("[{}]", items.join(", "))
            }
            Tree::Mapping(entries) => {
                let entry = |(key, value): &(Spanned<String>, Node)| {
                    format!("{}: {}", text(&key.value), value.on_one_line(text))
                };
                format!("{{ {} }}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Describes it for diagnostics: ``the text `abc` ``, `a list`.
    pub fn describe(&self) -> String {
        match &self.tree {
            Tree::List(items) if items.is_empty() => "an empty list".to_owned(),
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

/// Quotes a user's text for a message: control characters are escaped, and long text is cut.
pub(crate) fn quote(text: &str) -> String {
    const LONGEST: usize = 40;
    let show = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    let mut shown: String = text.chars().take(LONGEST).map(show).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    format!("`{shown}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_the_whole_text() {
        let is = |text: &str| Node::scalar(Scalar::Text(text.to_owned()), Span::default()).is_slot();
        assert!(is("<post>") && is("<post.comments>"));
        assert!(!is("<>") && !is("post") && !is("x<post>"));
    }
}
