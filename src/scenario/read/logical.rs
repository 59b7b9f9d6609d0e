//! `does`: logical steps.

use crate::scenario::keys::{Keys, LOGICAL};
use crate::scenario::{CommandWord, Diagnostics, LogicalStep, Node, Spanned, Tree, list_of, quote, suggest};

use super::entry::{Entry, wrong_type};
use super::fields::Fields;
use super::{step, value};

/// The steps of a strategy that may be among logical ones: they need no collection.
const OTHERS: [&str; 4] = ["let", "if", "forEach", "return"];

/// The steps under `entry`: a list, or a single one.
pub(super) fn steps(entry: &Entry, diagnostics: &Diagnostics) -> Vec<LogicalStep> {
    let expected = match &entry.1.tree {
        Tree::List(items) if items.is_empty() => "at least one step",
        Tree::List(items) => return items.iter().filter_map(|item| logical_step(item, entry, diagnostics)).collect(),
        Tree::Mapping(_) => return logical_step(&entry.1, entry, diagnostics).into_iter().collect(),
        Tree::Scalar(_) => "a logical step or a list of steps",
    };
    wrong_type(entry, expected, "does: { create: comment, in: post }", diagnostics);
    Vec::new()
}

fn logical_step(node: &Node, parent: &Entry, diagnostics: &Diagnostics) -> Option<LogicalStep> {
    let entries = node.as_mapping().unwrap_or_default();
    let named = |entry: &Entry| LOGICAL.iter().copied().find(|keys: &Keys| keys[0].name == entry.0.value);
    let Some((word, keys)) = entries.iter().find_map(|entry| Some((entry, named(entry)?))) else {
        // `if` is a key of updates, too.
        let is_word =
            |(at, (key, _)): (usize, &Entry)| OTHERS.contains(&key.value.as_str()) && (at == 0 || key.value != "if");
        let is_other = entries.is_empty() || entries.iter().enumerate().any(is_word);
        if is_other {
            // Every derived strategy takes it over; it is reported here once.
            step::steps(&(parent.0.clone(), node.clone()), diagnostics);
            return Some(LogicalStep::Other(node.clone()));
        }
        unknown(entries, diagnostics);
        return None;
    };
    let fields = Fields::read(entries, &format!("step {}", quote(&word.0.value)), word.0.span, keys, diagnostics);
    let entry = fields.entry(keys[0].name)?;
    let target = fields.text(keys[0].name).unwrap_or_else(|| Spanned::new(String::new(), word.0.span));
    if let Some(name) = fields.text("as") {
        value::check_name(&name, "a reply", diagnostics);
    }
    let writes = entry.1.as_list().unwrap_or_default().iter();
    Some(LogicalStep::Logical {
        word: word.0.clone(),
        target,
        options: fields.entries_except(&[keys[0].name]),
        writes: writes.filter_map(|item| logical_step(item, entry, diagnostics)).collect(),
    })
}

/// Reports a step without a word that steps of `does` have.
fn unknown(entries: &[Entry], diagnostics: &Diagnostics) {
    let words: Vec<&str> = LOGICAL.iter().map(|keys| keys[0].name).collect();
    let is_option = |(key, _): &&Entry| LOGICAL.iter().copied().flatten().any(|known| known.name == key.value);
    let written = entries.iter().find(|entry| !is_option(entry)).or(entries.first());
    let Some((key, _)) = written else { return };
    let others = OTHERS.map(|word| format!("`{word}`")).join(", ");
    let help = match suggest(&key.value, words.iter().chain(&OTHERS).copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if CommandWord::named(&key.value).is_some() => format!(
            "`does` is about records, not collections: expected one of {}; commands are for `operations` of a strategy",
            list_of(&words)
        ),
        None => format!("expected one of {}, or with them {others}", list_of(&words)),
    };
    diagnostics.labelled(key.span, format!("{} is no logical step", quote(&key.value)), "unknown step", help);
}
