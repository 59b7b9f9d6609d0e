//! `does`: logical steps.

use crate::scenario::keys::{Keys, LOGICAL};
use crate::scenario::{Diagnostics, LogicalStep, Node, Spanned, Tree, quote};

use super::entry::{Entry, wrong_type};
use super::fields::Fields;
use super::{step, value};

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
        // Every derived strategy takes it over; it is reported here once.
        step::steps(&(parent.0.clone(), node.clone()), diagnostics);
        return Some(LogicalStep::Other(node.clone()));
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
