//! `shard` and `shard_keys`: what a cluster refuses, and which writes it takes only since 7.0.

use crate::plan::{ShardField, ShardKey, Sharding};
use crate::scenario::{
    CollectionDefinition, CommandWord, Diagnostics, Node, Scalar, Scenario, ShardDefinition, Spanned, StepDefinition,
    StepKind, StrategyDefinition, Tree, compose,
};

use super::{Choice, derived, inherit};

/// How a collection is sharded; reports what no cluster takes.
pub fn sharding(
    collection: &CollectionDefinition,
    shard: &ShardDefinition,
    diagnostics: &Diagnostics,
) -> Option<Sharding> {
    let key = shard_key(&shard.key, diagnostics)?;
    if let Some(series) = &collection.series {
        let help = "a cluster places each of these collections as a whole on one shard; remove `shard`";
        return diagnostics.reject(series.0.span, "`shard` in one of several collections of a `for`", help);
    }
    let option = |name: &str| collection.options.as_ref().and_then(|options| options.get(name));
    if let Some(capped) = option("capped") {
        let help = "remove `shard`, or limit the documents in another way";
        return diagnostics.reject(capped.span, "a capped collection cannot be sharded", help);
    }
    let indexes = collection.indexes.iter().filter_map(Node::as_list).flatten();
    let unique = indexes
        .filter(|index| matches!(index.get("unique"), Some(Node { tree: Tree::Scalar(Scalar::Bool(true)), .. })));
    for index in unique {
        let fields = index.get("key").and_then(Node::as_mapping).unwrap_or_default();
        if !key.allows_unique(fields.iter().map(|(field, _)| field.value.as_str())) {
            let message = format!("a cluster cannot keep this index unique with the shard key {key}");
            let help = "a unique index has to begin with the fields of a shard key that is not hashed";
            diagnostics.error(index.span, message, help);
        }
    }
    Some(Sharding { key, chunks: shard.chunks })
}

/// Reads a shard key: fields, each with `1` or `hashed`.
pub fn shard_key(node: &Node, diagnostics: &Diagnostics) -> Option<ShardKey> {
    let field = |(path, kind): &(Spanned<String>, Node)| {
        let is_hashed = kind.as_text() == Some("hashed");
        let is_ascending = matches!(kind.tree, Tree::Scalar(Scalar::Int(1)));
        if !is_hashed && !is_ascending || path.value.contains(['$', '<']) || path.value == "..." {
            let message = format!("`{}` cannot be a field of a shard key in this way", path.value);
            return diagnostics.reject(path.span, message, "for example `{ post: 1 }` or `{ _id: hashed }`");
        }
        Some(ShardField { path: path.value.clone(), is_hashed })
    };
    let entries = node.as_mapping().unwrap_or_default();
    let fields: Vec<ShardField> = entries.iter().map(field).collect::<Option<_>>()?;
    let hashed = fields.iter().filter(|field| field.is_hashed).count();
    match (fields.is_empty(), hashed) {
        (true, _) => diagnostics.reject(node.span, "a shard key without fields", "for example `{ post: 1 }`"),
        (false, 0 | 1) => Some(ShardKey { fields }),
        (false, _) => {
            let help = "a shard key has at most one hashed field";
            diagnostics.reject(node.span, "two hashed fields in a shard key", help)
        }
    }
}

/// Reads a shard key from the command line.
///
/// # Errors
/// When it is none.
pub fn parse_shard_key(text: &str) -> Result<ShardKey, String> {
    let diagnostics = Diagnostics::new();
    let key = compose(text, &diagnostics).and_then(|node| shard_key(&node, &diagnostics));
    key.filter(|_| !diagnostics.has_errors()).ok_or_else(|| {
        format!(
            "`{text}` is no shard key: fields with 1, at most one with hashed, such as {{post: 1}} or {{_id: hashed}}"
        )
    })
}

/// The shard keys that are judged for the collections of this name.
pub fn candidates(scenario: &Scenario, collection: &str) -> Vec<ShardKey> {
    let lists = scenario.shard_keys.iter().filter(|(name, _)| name.value == collection);
    let keys = lists.filter_map(|(_, list)| list.as_list()).flatten();
    // What is wrong with them is reported once, for the scenario.
    keys.filter_map(|key| shard_key(key, &Diagnostics::new())).collect()
}

/// Reports wrong shard keys, and those of collections that no strategy has.
pub fn check_shard_keys(scenario: &Scenario, strategies: &[StrategyDefinition], diagnostics: &Diagnostics) {
    let known: Vec<&str> =
        strategies.iter().flat_map(|one| &one.collections).map(|one| one.name.value.as_str()).collect();
    for (name, list) in &scenario.shard_keys {
        diagnostics.is_known("collection", name, " in `shard_keys`", known.iter().copied());
        match list.as_list() {
            Some(keys) => keys.iter().for_each(|key| drop(shard_key(key, diagnostics))),
            None => {
                let message = format!("expected a list of shard keys, found {}", list.describe());
                diagnostics.error(list.span, message, "for example `[{ post: 1 }, { _id: hashed }]`");
            }
        }
    }
}

/// The strategies that a cluster below 7.0 refuses, each with the first write of one document that names no value of the shard key.
pub fn writes_without_key(scenario: &Scenario, choice: &Choice) -> Vec<(String, String)> {
    let derived = derived(scenario, choice);
    let scenario = derived.as_ref().map_or(scenario, |derived| &derived.scenario);
    let strategies = inherit(&scenario.strategies, &Diagnostics::new());
    let refused = strategies.iter().filter_map(|strategy| {
        let found = Diagnostics::new();
        check_writes(strategy, &found);
        Some((strategy.name.value.clone(), found.iter().next()?.message.clone()))
    });
    refused.collect()
}

/// Warns of writes of one document that name no value of the shard key.
pub fn check_writes(strategy: &StrategyDefinition, diagnostics: &Diagnostics) {
    let shard_of =
        |name: &str| strategy.collections.iter().find(|one| one.name.value == name).and_then(|one| one.shard.as_ref());
    let check = |word: CommandWord, collection: &str, options: &[(Spanned<String>, Node)], place| {
        let Some(shard) = shard_of(collection) else { return };
        let option = |name: &str| options.iter().find(|(key, _)| key.value == name).map(|(_, node)| node);
        let filter = option("filter");
        let has = |field: &str| filter.is_some_and(|filter| filter.get(field).is_some());
        let fields = shard.key.as_mapping().unwrap_or_default();
        let Some((missing, _)) = fields.iter().find(|(field, _)| !has(&field.value)) else { return };
        let is_upsert = matches!(option("upsert"), Some(Node { tree: Tree::Scalar(Scalar::Bool(true)), .. }));
        // Of one document that is found by its `_id` all shards are asked, in any release.
        let is_found_by_id = has("_id") && !is_upsert && !word.finds_and_modifies();
        if !word.changes_one() || is_found_by_id {
            return;
        }
        let message = format!("the filter has no `{}`, which is in the shard key of `{collection}`", missing.value);
        let help = "before 7.0 a cluster refuses this write; since then it asks all shards for the document first";
        diagnostics.warn(filter.map_or(place, |filter| filter.span), message, help);
    };
    for (_, steps) in &strategy.operations {
        StepDefinition::walk(steps, &mut |kind| match kind {
            StepKind::Command { word, collection, options, .. } => {
                check(word.value, &collection.value, options, word.span);
            }
            StepKind::BulkWrite(bulk) => {
                for request in &bulk.requests {
                    let (word, options) = request.command();
                    check(word, &bulk.collection.value, options, bulk.collection.span);
                }
            }
            _ => {}
        });
    }
}
