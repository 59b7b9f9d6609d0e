//! Fields of indexes and filters that nothing writes: mostly misspelled ones, which the server takes without a word.

use std::collections::HashSet;

use crate::scenario::{
    CommandWord, Diagnostics, Node, Scalar, Scenario, Spanned, StepDefinition, StepKind, StrategyDefinition, Tree,
};

/// Warns of indexes and filters whose fields no record, document or writing step of the strategy has. A field may be written in many
/// ways, so any word in what is written counts.
pub fn check_indexed_fields(scenario: &Scenario, strategy: &StrategyDefinition, diagnostics: &Diagnostics) {
    let mut words = WrittenWords::default();
    for entity in &scenario.entities {
        entity.fields.iter().for_each(|(name, value)| words.entry(name, value));
        entity.parent.iter().chain(&entity.children_name).for_each(|name| words.text(&name.value));
    }
    for operation in &scenario.operations {
        operation.arguments.iter().for_each(|(name, value)| words.entry(name, value));
    }
    for collection in &strategy.collections {
        collection.each.iter().chain(&collection.document).for_each(|node| words.node(node));
    }
    let operations = strategy.operations.iter().map(|(_, steps)| steps);
    strategy.load.iter().chain(operations).for_each(|steps| words.steps(steps));
    let warn = |field: &Spanned<String>, use_of_it: &str| {
        let Some(missing) = missing(&field.value, &words) else { return };
        let message = format!("nothing writes `{missing}`, which {use_of_it}");
        let help = match missing {
            "id" => "did you mean `_id`?".to_owned(),
            _ => format!("no record, document or writing step of strategy `{}` has it", strategy.name.value),
        };
        diagnostics.warn(field.span, message, help);
    };
    let indexes = strategy.collections.iter().filter_map(|collection| collection.indexes.as_ref()?.as_list());
    indexes.flatten().flat_map(fields).for_each(|field| warn(field, "is indexed"));
    let keys = strategy.collections.iter().filter_map(|collection| collection.shard.as_ref()?.key.as_mapping());
    keys.flatten().for_each(|(field, _)| warn(field, "is in a shard key"));
    for (_, steps) in &strategy.operations {
        StepDefinition::walk(steps, &mut |kind| {
            for filter in filters(kind) {
                compared(filter, &mut |field| warn(field, "a filter compares"));
            }
        });
    }
}

/// The filters of a step on documents as they are stored: later stages of a pipeline see others.
pub fn filters(kind: &StepKind) -> Vec<&Node> {
    let of_options = |options| -> Vec<&Node> {
        let options: &[(Spanned<String>, Node)] = options;
        let option = |name: &str| options.iter().find(|(key, _)| key.value == name).map(|(_, node)| node);
        let first = option("pipeline").and_then(|pipeline| pipeline.as_list()?.first()?.get("$match"));
        option("filter").into_iter().chain(first).collect()
    };
    match kind {
        StepKind::Command { options, .. } => of_options(options),
        StepKind::BulkWrite(bulk) => bulk.requests.iter().flat_map(|request| of_options(request.command().1)).collect(),
        _ => Vec::new(),
    }
}

/// Visits the paths that a filter compares, from the top of a document.
pub fn compared<'n>(filter: &'n Node, visit: &mut dyn FnMut(&'n Spanned<String>)) {
    for (key, value) in filter.as_mapping().into_iter().flatten() {
        match key.value.as_str() {
            "$and" | "$or" | "$nor" => value.as_list().into_iter().flatten().for_each(|inner| compared(inner, visit)),
            "..." | "forEach" => {}
            name if name.starts_with('$') => {}
            _ => visit(key),
        }
    }
}

/// The fields that an index names: `{ a: 1 }`, or `{ key: { a: 1 }, unique: true }`.
fn fields(index: &Node) -> impl Iterator<Item = &Spanned<String>> {
    let index = if index.get("forEach").is_some() { index.get("item").unwrap_or(index) } else { index };
    let key = index.get("key").filter(|key| key.as_mapping().is_some()).unwrap_or(index);
    key.as_mapping().into_iter().flatten().map(|(field, _)| field)
}

/// The first part of a path that is no word; `None` also for paths with wildcards or slots.
fn missing<'p>(path: &'p str, words: &WrittenWords) -> Option<&'p str> {
    let is_known =
        |part: &&str| *part == "_id" || words.0.contains(*part) || part.bytes().all(|byte| byte.is_ascii_digit());
    let is_plain = !path.contains(['$', '<']);
    path.split('.').find(|part| is_plain && !is_known(part))
}

/// The words of what is written.
#[derive(Default)]
struct WrittenWords(HashSet<String>);

impl WrittenWords {
    fn text(&mut self, text: &str) {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        self.0.extend(words.map(str::to_owned));
    }

    fn entry(&mut self, name: &Spanned<String>, value: &Node) {
        self.text(&name.value);
        self.node(value);
    }

    fn node(&mut self, node: &Node) {
        node.walk(None, &mut |key, node| {
            key.into_iter().for_each(|key| self.text(key));
            if let Tree::Scalar(Scalar::Text(text)) = &node.tree {
                self.text(text);
            }
            true
        });
    }

    fn steps(&mut self, steps: &[StepDefinition]) {
        StepDefinition::walk(steps, &mut |kind| match kind {
            StepKind::Command { word, options, .. } => self.command(word.value, options),
            StepKind::BulkWrite(bulk) => {
                for request in &bulk.requests {
                    request.lists().into_iter().for_each(|list| self.node(list));
                    let (word, options) = request.command();
                    self.command(word, options);
                }
            }
            StepKind::Raw { command, .. } => self.node(command),
            StepKind::Let(assignments) => assignments.iter().for_each(|(name, value)| self.entry(name, value)),
            StepKind::ForEach { name, list, .. } => self.entry(name, list),
            _ => {}
        });
    }

    /// Adds the options that say what is written; an upsert also writes what its filter compares.
    fn command(&mut self, word: CommandWord, options: &[(Spanned<String>, Node)]) {
        let is_upsert = options.iter().any(|(name, _)| name.value == "upsert");
        for (name, value) in options {
            let is_written = match name.value.as_str() {
                "document" | "documents" | "update" | "replacement" => true,
                "filter" => is_upsert,
                // Of a pipeline that ends with `$merge` or `$out`.
                "pipeline" => word == CommandWord::Aggregate && super::lint::writes_elsewhere(value),
                _ => false,
            };
            if is_written {
                self.node(value);
            }
        }
    }
}
