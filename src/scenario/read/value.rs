//! One value of one kind: what was found, what is wanted, an example.

use std::ops::RangeInclusive;

use super::fields::{Entry, place};
use crate::scenario::quote;
use crate::scenario::{Diagnostic, Diagnostics, Node, Scalar, Spanned, Tree};

/// Words that CEL keeps for itself, so that no expression can use them as names.
const CEL_WORDS: [&str; 19] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "while",
];

/// Says that the value of `entry` is not the kind that is wanted.
pub(super) fn wrong_type(entry: &Entry, wanted: &str, example: &str, diagnostics: &mut Diagnostics) {
    let found = entry.1.describe();
    diagnostics.push(
        Diagnostic::error(place(entry), format!("{} wants {wanted}, found {found}", quote(&entry.0.value)))
            .label(format!("wants {wanted}"))
            .help(format!("write for example `{example}`")),
    );
}

/// Text; a plain number or boolean has to be quoted.
pub(super) fn text(entry: &Entry, example: &str, diagnostics: &mut Diagnostics) -> Option<Spanned<String>> {
    match entry.1.as_text() {
        Some(text) if !text.trim().is_empty() => Some(Spanned::new(text.to_owned(), entry.1.span)),
        _ => {
            wrong_type(entry, "text", example, diagnostics);
            None
        }
    }
}

/// `true` or `false`.
pub(super) fn boolean(entry: &Entry, example: &str, diagnostics: &mut Diagnostics) -> Option<Spanned<bool>> {
    if let Tree::Scalar(Scalar::Bool(value)) = entry.1.tree {
        return Some(Spanned::new(value, entry.1.span));
    }
    wrong_type(entry, "`true` or `false`", example, diagnostics);
    None
}

/// A literal integer within `range`.
pub(super) fn integer(
    entry: &Entry,
    range: RangeInclusive<i64>,
    example: &str,
    diagnostics: &mut Diagnostics,
) -> Option<i64> {
    let value = match entry.1.tree {
        Tree::Scalar(Scalar::Int(value)) => value,
        _ => {
            wrong_type(entry, "an integer", example, diagnostics);
            return None;
        }
    };
    if range.contains(&value) {
        return Some(value);
    }
    let (low, high) = (range.start(), range.end());
    let wanted = if *high == i64::MAX { format!("{low} or more") } else { format!("{low} to {high}") };
    wrong_type(entry, &wanted, example, diagnostics);
    None
}

/// The entries of a mapping.
pub(super) fn mapping<'n>(entry: &'n Entry, example: &str, diagnostics: &mut Diagnostics) -> Option<&'n [Entry]> {
    let entries = entry.1.as_mapping();
    if entries.is_none() {
        wrong_type(entry, "a mapping", example, diagnostics);
    }
    entries
}

/// The entries of a mapping that has at least one.
pub(super) fn filled_mapping<'n>(
    entry: &'n Entry,
    example: &str,
    diagnostics: &mut Diagnostics,
) -> Option<&'n [Entry]> {
    let entries = mapping(entry, example, diagnostics)?;
    if !entries.is_empty() {
        return Some(entries);
    }
    // An entry that YAML allows and a scenario does not has been reported and left out: this is no second problem.
    if !diagnostics.has_error_within(entry.1.span) {
        diagnostics.push(
            Diagnostic::error(place(entry), format!("{} is empty", quote(&entry.0.value)))
                .label("at least one entry is wanted")
                .help(format!("write for example `{example}`")),
        );
    }
    None
}

/// The items of a list.
pub(super) fn list<'n>(entry: &'n Entry, example: &str, diagnostics: &mut Diagnostics) -> Option<&'n [Node]> {
    let items = entry.1.as_list();
    if items.is_none() {
        wrong_type(entry, "a list", example, diagnostics);
    }
    items
}

/// An expression: any value, since lists and mappings are lists and maps of expressions, but not nothing.
pub(super) fn expression(entry: &Entry, example: &str, diagnostics: &mut Diagnostics) -> Option<Node> {
    if entry.1.is_absent() {
        wrong_type(entry, "an expression", example, diagnostics);
        return None;
    }
    Some(entry.1.clone())
}

/// An expression that computes a single value, as a count or a condition does.
pub(super) fn scalar_expression(entry: &Entry, example: &str, diagnostics: &mut Diagnostics) -> Option<Node> {
    if entry.1.is_null() || !matches!(entry.1.tree, Tree::Scalar(_)) {
        wrong_type(entry, "an expression", example, diagnostics);
        return None;
    }
    Some(entry.1.clone())
}

/// A mapping from names to expressions, in order; `what` says what is named (`a parameter`).
pub(super) fn named_expressions(
    entry: &Entry,
    what: &str,
    example: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<(Spanned<String>, Node)> {
    let Some(entries) = mapping(entry, example, diagnostics) else { return Vec::new() };
    let mut named = Vec::with_capacity(entries.len());
    for entry in entries {
        check_name(&entry.0, what, diagnostics);
        if let Some(node) = expression(entry, &format!("{}: 10", entry.0.value), diagnostics) {
            named.push((entry.0.clone(), node));
        }
    }
    named
}

/// Reports a name that expressions could not use.
pub(super) fn check_name(name: &Spanned<String>, what: &str, diagnostics: &mut Diagnostics) {
    let text = name.value.as_str();
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let problem = if !starts_well || !text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        format!("{} cannot be the name of {what}", quote(text))
    } else if CEL_WORDS.contains(&text) {
        format!("{} cannot be the name of {what}: expressions keep this word for themselves", quote(text))
    } else {
        return;
    };
    diagnostics.push(
        Diagnostic::error(name.span, problem)
            .label("not a name")
            .help("use letters, digits and `_`, not beginning with a digit, and no word of CEL such as `in` or `as`"),
    );
}

/// Reports a name that could not be part of a database's or folder's name.
pub(super) fn check_label(name: &Spanned<String>, what: &str, diagnostics: &mut Diagnostics) {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.value.is_empty() || !name.value.chars().all(is_allowed) {
        diagnostics.push(
            Diagnostic::error(name.span, format!("{} cannot be the name of {what}", quote(&name.value)))
                .label("not a name")
                .help("use letters, digits, `_` and `-`"),
        );
    }
}
