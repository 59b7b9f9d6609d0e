//! What `docshape check` says of shard keys: arrays in them, and the commands for which all shards are asked.

use bson::RawDocument;

use crate::compile::{compared, filters, inherit};
use crate::engine::Documents;
use crate::plan::{Arm, Collection, Plan, ShardKey, checking};
use crate::scenario::{
    CollectionDefinition, Diagnostics, Node, Scenario, StepDefinition, StepKind, StrategyDefinition,
};

/// How many documents of a collection are made.
const SAMPLED: usize = 50;

/// Reports shard keys with arrays. Returns a line for each command that asks all shards, with its place.
pub fn check_shard_keys(scenario: &Scenario, plan: &Plan, diagnostics: &Diagnostics) -> Vec<String> {
    // The scenario has compiled, so that this finds no problems.
    let strategies = inherit(&scenario.strategies, &Diagnostics::new());
    let mut lines = Vec::new();
    for strategy in &strategies {
        let sharded: Vec<(&CollectionDefinition, &Node)> =
            strategy.collections.iter().filter_map(|one| Some((one, &one.shard.as_ref()?.key))).collect();
        if let Some(arm) = plan.arms.iter().find(|arm| arm.name == strategy.name.value) {
            sharded.iter().for_each(|(collection, key)| check_arrays(plan, arm, collection, key, diagnostics));
        }
        for (collection, key) in sharded {
            lines.extend(scattered(scenario, strategy, &collection.name.value, key));
        }
    }
    lines
}

fn check_arrays(plan: &Plan, arm: &Arm, definition: &CollectionDefinition, key: &Node, diagnostics: &Diagnostics) {
    let Some(collection) = arm.collections.iter().find(|one| one.name == definition.name.value) else { return };
    let Some(array) = collection.sharding.as_ref().and_then(|one| array_in(plan, collection, &one.key)) else { return };
    let message = format!("the shard key of `{}` has an array: `{array}`", collection.name);
    diagnostics.error(
        key.span,
        message,
        "a cluster refuses documents with an array in their shard key; choose other fields",
    );
}

/// The path of an array that documents have within a key.
fn array_in(plan: &Plan, collection: &Collection, key: &ShardKey) -> Option<String> {
    let order = collection.load_order;
    let documents = || Documents::new(plan, collection, order).take(SAMPLED).collect::<Result<Vec<_>, _>>();
    // What cannot be made is reported with the size of documents.
    let documents = checking(documents).ok()?;
    let of_document = |document: &bson::RawDocumentBuf| {
        key.fields.iter().find_map(|field| has_array(document, &field.path).then(|| field.path.clone()))
    };
    documents.iter().find_map(of_document)
}

fn has_array(document: &RawDocument, path: &str) -> bool {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match document.get(first) {
        Ok(Some(value)) if value.as_array().is_some() => true,
        Ok(Some(value)) => !rest.is_empty() && value.as_document().is_some_and(|inner| has_array(inner, rest)),
        _ => false,
    }
}

/// The commands on a collection without a condition on the first field of its key.
fn scattered(scenario: &Scenario, strategy: &StrategyDefinition, collection: &str, key: &Node) -> Vec<String> {
    let Some((first, _)) = key.as_mapping().and_then(|fields| fields.first()) else { return Vec::new() };
    let mut lines = Vec::new();
    for (operation, steps) in &strategy.operations {
        StepDefinition::walk(steps, &mut |kind| {
            let (own, place) = match kind {
                StepKind::Command { word, .. } if word.value.inserts() => return,
                StepKind::Command { word, collection, .. } => (collection, word.span),
                StepKind::BulkWrite(bulk) => (&bulk.collection, bulk.collection.span),
                _ => return,
            };
            if own.value == collection && asks_all(kind, &first.value) {
                let (place, strategy) = (scenario.lines.place(place), &strategy.name.value);
                lines.push(format!(
                    "{place}: {} of {strategy} asks all shards: no condition on `{}` of {collection}",
                    operation.value, first.value
                ));
            }
        });
    }
    lines.sort();
    lines.dedup();
    lines
}

/// Whether a filter of a step names neither a field nor what it is part of. A filter with slots for names may have any.
fn asks_all(kind: &StepKind, field: &str) -> bool {
    let names = |filter: &&Node| {
        let mut is_named = filter.get("...").is_some();
        compared(filter, &mut |path| {
            let path = path.value.as_str();
            is_named |= path == field || path.contains('<') || field.starts_with(&format!("{path}."));
        });
        is_named
    };
    let filters = filters(kind);
    let is_read_whole = filters.is_empty() && !matches!(kind, StepKind::BulkWrite(_));
    is_read_whole || !filters.iter().all(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{Choice, compile};
    use crate::scenario::{self, Source};

    const TEXT: &str = "
format: 1
name: test
title: Test
entities:
  note: { count: 10, fields: { _id: index, tags: '[1, 2]', at: clock() } }
operations:
  add: { arguments: { note: new(note) } }
  late: { arguments: { note: uniform(note) }, returns: [note] }
  one: { arguments: { note: uniform(note) }, returns: note }
mixes: { default: { add: 1, late: 1, one: 1 } }
strategies:
  plain:
    collections: { notes: { each: note, shard: { key: { at: 1, _id: 1 } } } }
    operations:
      add: { insertOne: notes, document: <note> }
      late: { find: notes, filter: { $and: [{ at: { $gt: <note.at> } }] } }
      one: { findOne: notes, filter: { _id: <note> } }
";

    fn checked(text: &str) -> (Vec<String>, String) {
        let (source, diagnostics) = (Source::new("test.yaml", text), Diagnostics::new());
        let scenario = scenario::read(&source, &diagnostics).unwrap();
        let plan = compile(&scenario, &Choice::default(), &diagnostics).unwrap().unwrap();
        (check_shard_keys(&scenario, &plan, &diagnostics), diagnostics.render(&source, false))
    }

    #[test]
    fn commands_without_the_first_field_are_named_with_their_lines() {
        let (lines, problems) = checked(TEXT);
        assert_eq!(lines, ["test.yaml:18: one of plain asks all shards: no condition on `at` of notes"]);
        assert!(problems.contains("no problems"), "{problems}");
    }

    #[test]
    fn arrays_in_a_key_are_errors() {
        let (_, problems) = checked(&TEXT.replace("{ at: 1, _id: 1 }", "{ tags: 1 }"));
        assert!(problems.contains("the shard key of `notes` has an array: `tags`"), "{problems}");
    }
}
