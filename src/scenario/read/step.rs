//! Steps.

use super::entry::{Entry, wrong_type};
use super::fields::Fields;
use super::{attempt, bulk, value};
use crate::scenario::keys::{COMMANDS, KeyDefinition, STEPS};
use crate::scenario::quote;
use crate::scenario::{
    CommandWord, Diagnostic, Diagnostics, Node, Span, Spanned, StepDefinition, StepKind, Tree, suggest,
};

const EXAMPLE: &str = "[{ findOne: posts, filter: { _id: <post> } }, { return: reply.comments }]";
const DEFAULT_ITERATIONS: u32 = 1_000;

/// The steps under `entry`: a list of steps, or a single step.
pub(super) fn steps(entry: &Entry, diagnostics: &mut Diagnostics) -> Vec<StepDefinition> {
    StepReader { diagnostics, retries: Vec::new(), in_transaction: false }.steps(entry)
}

pub(super) struct StepReader<'d> {
    pub(super) diagnostics: &'d mut Diagnostics,
    /// Whether a `retry_if` was seen in each enclosing `retry`, outermost first.
    pub(super) retries: Vec<bool>,
    /// Whether the step is inside a `transaction`.
    pub(super) in_transaction: bool,
}

impl StepReader<'_> {
    pub(super) fn steps(&mut self, entry: &Entry) -> Vec<StepDefinition> {
        let expected = match &entry.1.tree {
            Tree::List(items) if items.is_empty() => "at least one step",
            Tree::List(items) => return items.iter().filter_map(|item| self.step(item, entry.0.span)).collect(),
            Tree::Mapping(_) => return self.step(&entry.1, entry.0.span).into_iter().collect(),
            Tree::Scalar(_) => "a step or a list of steps",
        };
        wrong_type(entry, expected, &format!("{}: {EXAMPLE}", entry.0.value), self.diagnostics);
        Vec::new()
    }

    /// The steps of a key; none when it is missing.
    pub(super) fn body(&mut self, fields: &Fields, key: &str) -> Vec<StepDefinition> {
        fields.entry(key).map_or_else(Vec::new, |entry| self.steps(entry))
    }

    /// One step; `key` is where to point when nothing was written.
    fn step(&mut self, node: &Node, key: Span) -> Option<StepDefinition> {
        let place = if node.span.is_empty() { key } else { node.span };
        let Some(entries) = node.as_mapping() else {
            self.diagnostics.push(
                Diagnostic::error(place, format!("expected a step, found {}", node.describe()))
                    .label("not a mapping")
                    .help(format!("for example: `{EXAMPLE}`")),
            );
            return None;
        };
        let mut words = entries.iter().filter_map(|entry| Some((entry, keys_of(&entry.0.value)?)));
        let Some((word, keys)) = words.next() else {
            self.no_step_word(entries, place);
            return None;
        };
        if let Some((second, _)) = words.next() {
            let (one, two) = (quote(&word.0.value), quote(&second.0.value));
            self.diagnostics.push(
                Diagnostic::error(second.0.span, format!("expected one step, found {one} and {two}"))
                    .label("second step")
                    .also(word.0.span, "first step")
                    .help("make each an item of the list, with a `-` of its own"),
            );
            return None;
        }
        let what = format!("step {}", quote(&word.0.value));
        let fields = Fields::read(entries, &what, word.0.span, keys, self.diagnostics);
        Some(StepDefinition { span: node.span, kind: self.kind(&fields, &word.0)? })
    }

    fn no_step_word(&mut self, entries: &[Entry], place: Span) {
        let words = || COMMANDS.iter().map(|(_, keys)| *keys).chain(STEPS).map(|keys| keys[0].name);
        for (key, _) in entries {
            if let Some(meant) = suggest(&key.value, words()) {
                self.diagnostics.push(
                    Diagnostic::error(key.span, format!("unknown step {}", quote(&key.value)))
                        .label("unknown step")
                        .help(format!("did you mean {}?", quote(meant))),
                );
                return;
            }
        }
        let span = entries.first().map_or(place, |(key, _)| key.span);
        let words: Vec<&str> = words().collect();
        self.diagnostics.push(
            Diagnostic::error(span, "missing step word")
                .label("does not say what to do")
                .help(format!("expected one of the keys {}", words.join(", "))),
        );
    }

    fn kind(&mut self, fields: &Fields, word: &Spanned<String>) -> Option<StepKind> {
        let alias = fields.text("as").inspect(|name| value::check_name(name, "a reply", self.diagnostics));
        let key = word.value.as_str();
        if let Some(command) = CommandWord::named(key) {
            return Some(StepKind::Command {
                word: Spanned::new(command, word.span),
                collection: fields.text(key)?,
                options: fields.entries_except(&[key, "as"]),
                alias,
            });
        }
        match key {
            "bulkWrite" => {
                if let Some(errors) = fields.entry("errors") {
                    self.refuse_in_transaction(errors.0.span, "`errors` of a `bulkWrite`");
                }
                Some(StepKind::BulkWrite {
                    requests: bulk::requests(fields, self.diagnostics)?,
                    collection: fields.text(key)?,
                    ordered: fields.boolean("ordered").is_none_or(|ordered| ordered.value),
                    errors: attempt::codes(fields),
                    alias,
                })
            }
            "command" => Some(StepKind::Raw { command: fields.node(key)?, alias }),
            "let" => Some(StepKind::Let(fields.expressions(key))),
            "if" => {
                let (then, otherwise) = (self.body(fields, "then"), self.body(fields, "else"));
                Some(StepKind::If { condition: fields.node(key)?, then, otherwise })
            }
            "forEach" => {
                let body = self.body(fields, "do");
                let (name, list) = fields.expressions(key).pop()?;
                Some(StepKind::ForEach { name, list, body })
            }
            "while" => {
                let body = self.body(fields, "do");
                let max_iterations = fields.integer("max_iterations").unwrap_or(DEFAULT_ITERATIONS);
                Some(StepKind::While { condition: fields.node(key)?, max_iterations, body })
            }
            "retry" => self.retry(fields),
            "retry_if" => self.retry_if(fields),
            "try" => self.attempt(fields),
            "transaction" => self.transaction(fields),
            "abort" => self.abort(fields),
            _ => fields.node("return").map(StepKind::Return),
        }
    }
}

/// The keys of the step that `word` names.
fn keys_of(word: &str) -> Option<&'static [KeyDefinition]> {
    COMMANDS.iter().map(|(_, keys)| *keys).chain(STEPS).find(|keys| keys[0].name == word)
}
