//! Fields of indexes that nothing writes: mostly misspelled ones, which the server indexes without a word.

use std::collections::HashSet;

use crate::scenario::{
    CommandWord, Diagnostics, Node, RequestDefinition, Scalar, Scenario, Spanned, StepDefinition, StepKind,
    StrategyDefinition, Tree,
};

/// Warns of indexes whose fields no record, document or writing step of the strategy has. A field may be written in many ways, so
/// any word in what is written counts.
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
    for collection in &strategy.collections {
        let Some(indexes) = &collection.indexes else { continue };
        for field in indexes.as_list().into_iter().flatten().flat_map(fields) {
            if let Some(missing) = missing(&field.value, &words) {
                let strategy = &strategy.name.value;
                let message = format!("nothing writes `{missing}`, which is indexed");
                let help = format!("no record, document or writing step of strategy `{strategy}` has it");
                diagnostics.warn(field.span, message, help);
            }
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
        for step in steps {
            match &step.kind {
                StepKind::Command { word, options, .. } => self.command(word.value, options),
                StepKind::BulkWrite(bulk) => bulk.requests.iter().for_each(|request| self.request(request)),
                StepKind::Raw { command, .. } => self.node(command),
                StepKind::Let(assignments) => assignments.iter().for_each(|(name, value)| self.entry(name, value)),
                StepKind::If { then, otherwise, .. } => {
                    [then, otherwise].into_iter().for_each(|steps| self.steps(steps))
                }
                StepKind::ForEach { name, list, body } => {
                    self.entry(name, list);
                    self.steps(body);
                }
                StepKind::While { body, .. } | StepKind::Retry { body, .. } | StepKind::Transaction { body, .. } => {
                    self.steps(body);
                }
                StepKind::Try { body, catches } => {
                    self.steps(body);
                    catches.iter().for_each(|(_, steps)| self.steps(steps));
                }
                StepKind::RetryIf(_) | StepKind::Abort(_) | StepKind::Return(_) => {}
            }
        }
    }

    fn request(&mut self, request: &RequestDefinition) {
        match request {
            RequestDefinition::One { word, options } => self.command(word.value, options),
            RequestDefinition::Each { name, list, item } => {
                self.entry(name, list);
                self.request(item);
            }
        }
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
