//! A key and its value in a mapping.

use crate::scenario::{Diagnostic, Diagnostics, Node, Span, Spanned, quote};

/// A key and its value.
pub(super) type Entry = (Spanned<String>, Node);

/// The place of an entry's value, or of its key when no value was written.
pub(super) fn place((key, node): &Entry) -> Span {
    node.span_or(key.span)
}

/// Reports that the value of `entry` is of another kind than expected.
pub(super) fn wrong_type(entry: &Entry, expected: &str, example: &str, diagnostics: &Diagnostics) {
    let found = entry.1.describe();
    wrong_value(entry, format!("expected {expected}, found {found}"), example).add_to(diagnostics);
}

/// A problem of the value of `entry`.
pub(super) fn wrong_value(entry: &Entry, message: impl Into<String>, example: &str) -> Diagnostic {
    Diagnostic::error(place(entry), message)
        .label(format!("value of {}", quote(&entry.0.value)))
        .help(format!("for example: `{example}`"))
}
