//! Steps.

use crate::scenario::command::COMMANDS;
use crate::scenario::keys::Keys;
use crate::scenario::step::STEPS;
use crate::scenario::{
    CommandWord, Diagnostic, Diagnostics, Node, Span, Spanned, StepDefinition, StepKind, Tree, quote, suggest,
};

use super::entry::{Entry, wrong_type};
use super::fields::Fields;
use super::value;

const EXAMPLE: &str = "[{ findOne: posts, filter: { _id: <post> } }, { return: reply.comments }]";

/// The steps under `entry`: a list of steps, or a single step.
pub(crate) fn steps(entry: &Entry, diagnostics: &Diagnostics) -> Vec<StepDefinition> {
    StepReader { diagnostics, retries: Vec::new(), in_transaction: false }.steps(entry)
}

/// Reads steps, and knows what the enclosing steps allow.
pub(in crate::scenario) struct StepReader<'d> {
    pub(super) diagnostics: &'d Diagnostics,
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
    pub(in crate::scenario) fn body(&mut self, fields: &Fields, key: &str) -> Vec<StepDefinition> {
        fields.entry(key).map_or_else(Vec::new, |entry| self.steps(entry))
    }

    /// One step; `key` is where to point when nothing was written.
    fn step(&mut self, node: &Node, key: Span) -> Option<StepDefinition> {
        let place = node.span_or(key);
        let Some(entries) = node.as_mapping() else {
            let message = format!("expected a step, found {}", node.describe());
            let help = format!("for example: `{EXAMPLE}`");
            self.diagnostics.labelled(place, message, "not a mapping", help);
            return None;
        };
        let mut words = entries.iter().filter_map(|entry| {
            let is_named = |keys: &Keys| keys[0].name == entry.0.value;
            Some((entry, all_keys().find(is_named)?))
        });
        let Some((word, keys)) = words.next() else {
            self.no_step_word(entries, place);
            return None;
        };
        if let Some((second, _)) = words.next() {
            let (one, two) = (quote(&word.0.value), quote(&second.0.value));
            Diagnostic::error(second.0.span, format!("expected one step, found {one} and {two}"))
                .label("second step")
                .also(word.0.span, "first step")
                .help("make each an item of the list, with a `-` of its own")
                .add_to(self.diagnostics);
            return None;
        }
        let what = format!("step {}", quote(&word.0.value));
        let fields = Fields::read(entries, &what, word.0.span, keys, self.diagnostics);
        Some(StepDefinition { span: node.span, kind: self.kind(&fields, &word.0)? })
    }

    fn no_step_word(&mut self, entries: &[Entry], place: Span) {
        let words = || all_keys().map(|keys| keys[0].name);
        let near = entries.iter().find_map(|(key, _)| Some((key, suggest(&key.value, words())?)));
        if let Some((key, meant)) = near {
            let message = format!("unknown step {}", quote(&key.value));
            let help = format!("did you mean {}?", quote(meant));
            return self.diagnostics.labelled(key.span, message, "unknown step", help);
        }
        let is_option = |name: &str| all_keys().flatten().any(|key| key.name == name);
        if let Some((key, _)) = entries.first().filter(|(key, _)| !is_option(&key.value)) {
            let message = format!("unknown step {}", quote(&key.value));
            let help = format!("expected one of {}", words().collect::<Vec<_>>().join(", "));
            return self.diagnostics.labelled(key.span, message, "unknown step", help);
        }
        let span = entries.first().map_or(place, |(key, _)| key.span);
        let words: Vec<&str> = words().collect();
        let help = format!("expected one of the keys {}", words.join(", "));
        self.diagnostics.labelled(span, "missing step word", "does not say what to do", help);
    }

    fn kind(&mut self, fields: &Fields, word: &Spanned<String>) -> Option<StepKind> {
        let key = word.value.as_str();
        if let Some(command) = CommandWord::named(key) {
            return Some(StepKind::Command {
                word: Spanned::new(command, word.span),
                collection: fields.text(key)?,
                options: fields.entries_except(&[key, "as"]),
                alias: self.alias(fields),
            });
        }
        let (_, read) = STEPS.iter().find(|(keys, _)| keys[0].name == key)?;
        read(self, fields)
    }

    /// The name under which a step keeps its reply.
    pub(in crate::scenario) fn alias(&mut self, fields: &Fields) -> Option<Spanned<String>> {
        fields.text("as").inspect(|name| value::check_name(name, "a reply", self.diagnostics))
    }
}

/// The keys of every step, its word first.
fn all_keys() -> impl Iterator<Item = Keys> {
    COMMANDS.iter().map(|(_, keys)| *keys).chain(STEPS.iter().map(|(keys, _)| *keys))
}
