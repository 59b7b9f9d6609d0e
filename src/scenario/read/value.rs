//! One value of one kind: what is expected, what was found, an example.

use crate::scenario::keys::{KeyDefinition, Takes};
use crate::scenario::{Diagnostic, Diagnostics, Node, Scalar, Spanned, Tree, quote};

use super::entry::{Entry, place, wrong_type};
use super::run;

/// Reserved words of CEL, which no expression can use as names.
const CEL_WORDS: &str = "as break const continue else false for function if import in let loop namespace null package \
                         return true while";

/// Whether the value of `entry` is what `key` takes; reports it otherwise.
pub(super) fn check(key: &KeyDefinition, entry: &Entry, diagnostics: &Diagnostics) -> bool {
    if run::is_respelled(key, entry, diagnostics) {
        return false;
    }
    if let Some(expected) = key.takes.expected(&entry.1) {
        wrong_type(entry, &expected, &key.entry(), diagnostics);
        return false;
    }
    let entries = entry.1.as_mapping().unwrap_or_default();
    match key.takes {
        Takes::Expressions(what) => names(entries, Some(what), "10", diagnostics),
        Takes::FieldExpressions => names(entries, None, "words(4)", diagnostics),
        Takes::Loop if entries.len() != 1 => {
            wrong_type(entry, "one name with one list", &key.entry(), diagnostics);
            return false;
        }
        Takes::Loop | Takes::Each => names(entries, Some("a loop"), "all(post)", diagnostics),
        Takes::Settings => run::check_settings(entries, diagnostics),
        Takes::Conditions => run::check_conditions(entry, diagnostics),
        Takes::Texts => each(entry, key, "text", |item| Takes::Text.expected(item).is_none(), diagnostics),
        Takes::Codes => each(entry, key, "the code of a server error", |item| code(item).is_some(), diagnostics),
        Takes::Fragments => entries.iter().for_each(|(name, _)| check_label(name, "a fragment", diagnostics)),
        Takes::Update => check_update(entry, diagnostics),
        Takes::Indexes => each(entry, key, "a key document", is_index, diagnostics),
        // Nothing in the others is of a kind of its own.
        _ => {}
    }
    !key.takes.must_be_filled(key.is_required) || is_filled(entry, key.takes.kind(), &key.entry(), diagnostics)
}

/// The entries of a mapping that has at least one.
pub(super) fn filled_mapping<'n>(entry: &'n Entry, example: &str, diagnostics: &Diagnostics) -> Option<&'n [Entry]> {
    let Some(entries) = entry.1.as_mapping() else {
        wrong_type(entry, "a mapping", example, diagnostics);
        return None;
    };
    is_filled(entry, "entry", example, diagnostics).then_some(entries)
}

/// Checks names, of what `named` says, and that each has an expression.
fn names(entries: &[Entry], named: Option<&str>, example: &str, diagnostics: &Diagnostics) {
    for entry in entries {
        if let Some(what) = named {
            check_name(&entry.0, what, diagnostics);
        }
        if entry.1.is_absent() {
            wrong_type(entry, "an expression", &format!("{}: {example}", entry.0.value), diagnostics);
        }
    }
}

/// Checks every item of a list.
fn each(entry: &Entry, key: &KeyDefinition, expected: &str, fits: fn(&Node) -> bool, diagnostics: &Diagnostics) {
    for item in entry.1.as_list().unwrap_or_default().iter().filter(|item| !fits(item)) {
        wrong_type(&(entry.0.clone(), item.clone()), expected, &key.entry(), diagnostics);
    }
}

/// Whether an index is a mapping of keys or options.
pub(super) fn is_index(item: &Node) -> bool {
    item.as_mapping().is_some_and(|entries| !entries.is_empty())
}

/// Reports an update without operators, which the server would only reject once the run has started.
fn check_update((key, node): &Entry, diagnostics: &Diagnostics) {
    let Some(fields) = node.as_mapping() else { return };
    let is_operator = |name: &str| name.starts_with(['$', '<']) || name == "...";
    let problem = match fields.iter().find(|(field, _)| !is_operator(&field.value)) {
        Some((field, _)) => {
            Diagnostic::error(field.span, format!("expected an update operator, found {}", quote(&field.value)))
                .label(format!("key of {}", quote(&key.value)))
                .help("try `$set` to set fields, or `replaceOne` to replace the whole document")
        }
        None if fields.is_empty() => Diagnostic::error(node.span, "empty update")
            .label("changes nothing")
            .help("for example: `update: { $set: { text: <text> } }`"),
        None => return,
    };
    problem.add_to(diagnostics);
}

/// Whether a mapping or list has at least one entry; reports it otherwise.
fn is_filled(entry: &Entry, kind: &str, example: &str, diagnostics: &Diagnostics) -> bool {
    let is_empty = entry.1.as_mapping().is_some_and(<[_]>::is_empty) || entry.1.as_list().is_some_and(<[_]>::is_empty);
    // An entry that YAML allows and a scenario does not has been reported and left out: this is no second problem.
    if is_empty && !diagnostics.has_error_within(entry.1.span) {
        let message = format!("{} is empty", quote(&entry.0.value));
        let help = format!("for example: `{example}`");
        diagnostics.labelled(place(entry), message, format!("expected at least one {kind}"), help);
    }
    !is_empty
}

/// Reports a name that expressions could not use.
pub(super) fn check_name(name: &Spanned<String>, what: &str, diagnostics: &Diagnostics) {
    let text = name.value.as_str();
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let help = "use letters, digits and `_`, not starting with a digit, and no word of CEL such as `in` or `as`";
    if !starts_well || !text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        not_a_name(name, what, help, diagnostics);
    } else if CEL_WORDS.split(' ').any(|word| word == text) {
        not_a_name(name, &format!("{what}: it is a reserved word of expressions"), help, diagnostics);
    }
}

/// Reports a name that could not be part of a database's or folder's name.
pub(super) fn check_label(name: &Spanned<String>, what: &str, diagnostics: &Diagnostics) {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.value.is_empty() || !name.value.chars().all(is_allowed) {
        not_a_name(name, what, "use letters, digits, `_` and `-`", diagnostics);
    }
}

/// Reports a name that cannot be that of the scenario.
pub(super) fn check_scenario_name(name: &Spanned<String>, diagnostics: &Diagnostics) {
    if !name.value.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') {
        let help = "use lower-case letters, digits and `-`: the name becomes part of database and folder names";
        not_a_name(name, "a scenario", help, diagnostics);
    }
}

fn not_a_name(name: &Spanned<String>, what: &str, help: &str, diagnostics: &Diagnostics) {
    diagnostics.labelled(name.span, format!("{} cannot be the name of {what}", quote(&name.value)), "not a name", help);
}

/// The code of a server error.
pub(super) fn code(node: &Node) -> Option<i32> {
    let Tree::Scalar(Scalar::Int(code)) = node.tree else { return None };
    i32::try_from(code).ok()
}
