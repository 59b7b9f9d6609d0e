//! The names that steps give and use, so that each is declared where JavaScript wants it.

use std::collections::BTreeSet;

use crate::scenario::{Node, Request, Scalar, Step, StepKind, Tree};

use super::literal::is_identifier;

/// Whether the reply of the command before `later` is used: `reply` is named before another command replaces it.
pub(super) fn keeps_reply(later: &[Step], used: &BTreeSet<String>) -> bool {
    for step in later {
        let mut used = BTreeSet::new();
        add_words(step, &mut used);
        if used.contains("reply") {
            return true;
        }
        if matches!(step.kind, StepKind::Command { .. } | StepKind::BulkWrite { .. } | StepKind::Raw { .. }) {
            return false;
        }
    }
    used.contains("reply")
}

/// The lists of steps inside a step.
fn inner(step: &Step) -> Vec<&[Step]> {
    match &step.kind {
        StepKind::If { then, otherwise, .. } => vec![then, otherwise],
        StepKind::ForEach { body, .. }
        | StepKind::While { body, .. }
        | StepKind::Retry { body, .. }
        | StepKind::Transaction { body, .. } => vec![body],
        StepKind::Try { body, catches } => {
            std::iter::once(body.as_slice()).chain(catches.iter().map(|(_, steps)| steps.as_slice())).collect()
        }
        _ => Vec::new(),
    }
}

/// Adds the names that a step, or those inside it, gives to values.
pub(super) fn add_given(step: &Step, given: &mut BTreeSet<String>) {
    match &step.kind {
        StepKind::Command { alias, .. } | StepKind::BulkWrite { alias, .. } | StepKind::Raw { alias, .. } => {
            given.extend(alias.iter().map(|alias| alias.value.clone()));
            given.insert("reply".to_owned());
        }
        StepKind::Let(assignments) => given.extend(assignments.iter().map(|(name, _)| name.value.clone())),
        _ => inner(step).into_iter().flatten().for_each(|step| add_given(step, given)),
    }
}

/// Adds every word of a step's expressions and templates. More than its names: texts count too, which does no harm.
pub(super) fn add_words(step: &Step, words: &mut BTreeSet<String>) {
    match &step.kind {
        StepKind::Command { collection, options, .. } => {
            add_text(&collection.value, words);
            options.iter().for_each(|(_, value)| add_node(value, words));
        }
        StepKind::Raw { command, .. } => add_node(command, words),
        StepKind::BulkWrite { collection, requests, .. } => {
            add_text(&collection.value, words);
            requests.iter().for_each(|request| add_request(request, words));
        }
        StepKind::Let(assignments) => assignments.iter().for_each(|(_, value)| add_node(value, words)),
        StepKind::Again(value) | StepKind::Abort(value) | StepKind::Return(value) => add_node(value, words),
        StepKind::If { condition: value, .. }
        | StepKind::ForEach { list: value, .. }
        | StepKind::While { condition: value, .. } => add_node(value, words),
        StepKind::Retry { .. } | StepKind::Try { .. } | StepKind::Transaction { .. } => {}
    }
    inner(step).into_iter().flatten().for_each(|step| add_words(step, words));
}

fn add_request(request: &Request, words: &mut BTreeSet<String>) {
    match request {
        Request::One { options, .. } => options.iter().for_each(|(_, value)| add_node(value, words)),
        Request::Each { list, item, .. } => {
            add_node(list, words);
            add_request(item, words);
        }
    }
}

fn add_node(node: &Node, words: &mut BTreeSet<String>) {
    match &node.tree {
        Tree::Scalar(Scalar::Text(text)) => add_text(text, words),
        Tree::Scalar(_) => {}
        Tree::List(items) => items.iter().for_each(|item| add_node(item, words)),
        Tree::Mapping(entries) => entries.iter().for_each(|(key, value)| {
            add_text(&key.value, words);
            add_node(value, words);
        }),
    }
}

fn add_text(text: &str, words: &mut BTreeSet<String>) {
    let split = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.extend(split.filter(|word| is_identifier(word)).map(str::to_owned));
}
