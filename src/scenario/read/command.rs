//! Steps that send a command.

use super::fields::{Entry, Fields};
use super::step::alias;
use super::strategy::is_slot;
use super::value;
use crate::scenario::quote;
use crate::scenario::{CommandWord, Diagnostic, Diagnostics, Spanned, StepKind};

/// A CRUD command; `word` is its step word's entry, `entries` the whole step.
pub(super) fn command(
    command: CommandWord,
    word: &Entry,
    entries: &[Entry],
    diagnostics: &mut Diagnostics,
) -> Option<StepKind> {
    let mut fields = Fields::new(entries, format!("the step {}", quote(command.name())), word.0.span);
    fields.optional(command.name());
    let alias = alias(&mut fields, diagnostics);
    options(command, &mut fields, diagnostics);
    fields.finish(diagnostics);
    let collection = value::text(word, &format!("{}: posts", command.name()), diagnostics)?;
    let options = entries.iter().filter(|(key, _)| command.options().contains(&key.value.as_str())).cloned().collect();
    Some(StepKind::Command { word: Spanned::new(command, word.0.span), collection, options, alias })
}

/// Asks for the options of a command, and checks those that are there.
pub(super) fn options(command: CommandWord, fields: &mut Fields, diagnostics: &mut Diagnostics) {
    for option in command.options() {
        let entry = if command.required().contains(option) {
            fields.required(option, example(option))
        } else {
            fields.optional(option)
        };
        if let Some(entry) = entry {
            check_option(entry, diagnostics);
        }
    }
}

/// `command:` with the whole command document.
pub(super) fn raw(fields: &mut Fields, diagnostics: &mut Diagnostics) -> Option<StepKind> {
    let entry = fields.optional("command")?;
    let alias = alias(fields, diagnostics);
    value::filled_mapping(entry, "command: { dbStats: 1 }", diagnostics)?;
    Some(StepKind::Raw { command: entry.1.clone(), alias })
}

fn example(option: &str) -> &'static str {
    match option {
        "document" => "document: <comment>",
        "documents" => "documents: [<comment>]",
        "replacement" => "replacement: { text: <text> }",
        "filter" => "filter: { _id: <post> }",
        "projection" => "projection: { comments: 1 }",
        "sort" => "sort: { created_on: -1 }",
        "update" => "update: { $set: { text: <text> } }",
        "pipeline" => "pipeline: [{ $match: { post: <post> } }]",
        "arrayFilters" => "arrayFilters: [{ item._id: <comment> }]",
        "skip" => "skip: 10",
        "limit" => "limit: 10",
        "batchSize" => "batchSize: 1000",
        "key" => "key: name",
        "hint" => "hint: { post: 1 }",
        "ordered" => "ordered: false",
        "upsert" => "upsert: true",
        _ => "returnDocument: after",
    }
}

/// Checks the kind of an option's value; what a slot such as `<filter>` will hold is known only when it is bound.
fn check_option(entry: &Entry, diagnostics: &mut Diagnostics) {
    let (key, node) = entry;
    let option = key.value.as_str();
    let example = example(option);
    let (is_mapping, is_list) = (node.as_mapping().is_some(), node.as_list().is_some());
    match option {
        "ordered" | "upsert" => drop(value::boolean(entry, example, diagnostics)),
        "returnDocument" if !matches!(node.as_text(), Some("before" | "after")) => {
            value::wrong_type(entry, "`before` or `after`", example, diagnostics);
        }
        "returnDocument" => {}
        "key" => drop(value::text(entry, example, diagnostics)),
        _ if is_slot(node) => {}
        "skip" | "limit" | "batchSize" => drop(value::integer(entry, 0..=i64::MAX, example, diagnostics)),
        "pipeline" | "documents" | "arrayFilters" if !is_list => {
            value::wrong_type(entry, "a list", example, diagnostics);
        }
        "pipeline" | "documents" | "arrayFilters" => {}
        "hint" if is_mapping || node.as_text().is_some() => {}
        "update" if is_list => {}
        "hint" => value::wrong_type(entry, "a key document or an index's name", example, diagnostics),
        "update" if !is_mapping => value::wrong_type(entry, "a mapping or a pipeline", example, diagnostics),
        _ if !is_mapping => value::wrong_type(entry, "a mapping", example, diagnostics),
        "update" => check_update(entry, diagnostics),
        _ => {}
    }
}

/// The server refuses an update without operators, but only when the run has begun.
fn check_update((key, node): &Entry, diagnostics: &mut Diagnostics) {
    let fields = node.as_mapping().unwrap_or(&[]);
    let is_operator = |name: &str| name.starts_with(['$', '<']) || name == "...";
    let Some((field, _)) = fields.iter().find(|(field, _)| !is_operator(&field.value)) else {
        if fields.is_empty() {
            diagnostics.push(
                Diagnostic::error(node.span, "this update changes nothing")
                    .label("empty")
                    .help("write for example `update: { $set: { text: <text> } }`"),
            );
        }
        return;
    };
    diagnostics.push(
        Diagnostic::error(field.span, format!("{} is no update operator", quote(&field.value)))
            .label(format!("inside {}", quote(&key.value)))
            .help("set fields with `$set`: update: { $set: { text: <text> } }; a whole document is put in by `replaceOne`"),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_every_command_has_an_example_of_its_own_name() {
        for command in CommandWord::ALL {
            for option in command.options() {
                assert!(example(option).starts_with(&format!("{option}: ")), "{option}");
            }
        }
    }
}
