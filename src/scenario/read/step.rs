//! Steps.

use super::fields::{Entry, Fields};
use super::{bulk, command, value};
use crate::scenario::quote;
use crate::scenario::{CommandWord, Diagnostic, Diagnostics, Node, Span, Spanned, Step, StepKind, Tree, suggest};

/// Words besides the commands.
const WORDS: [&str; 12] = [
    "bulkWrite",
    "command",
    "let",
    "if",
    "forEach",
    "while",
    "retry",
    "again",
    "try",
    "transaction",
    "abort",
    "return",
];

const EXAMPLE: &str = "[{ findOne: posts, filter: { _id: <post> } }, { return: reply.comments }]";
const DEFAULT_TURNS: u32 = 1_000;
/// A `while` that sends nothing lets nobody else run, and so cannot be ended from outside.
const MAX_TURNS: i64 = 100_000;

/// The steps under `entry`: a list of steps, or one step that stands there itself.
pub(super) fn steps(entry: &Entry, diagnostics: &mut Diagnostics) -> Vec<Step> {
    StepReader { diagnostics, retries: Vec::new(), in_transaction: false }.steps(entry)
}

pub(super) struct StepReader<'d> {
    pub(super) diagnostics: &'d mut Diagnostics,
    /// The `retry` steps around the present one, outermost first: whether an `again` was seen in each.
    pub(super) retries: Vec<bool>,
    /// Whether a `transaction` stands around the present step.
    pub(super) in_transaction: bool,
}

impl StepReader<'_> {
    pub(super) fn steps(&mut self, entry: &Entry) -> Vec<Step> {
        let wanted = match &entry.1.tree {
            Tree::List(items) if items.is_empty() => "at least one step",
            Tree::List(items) => return items.iter().filter_map(|item| self.step(item, entry.0.span)).collect(),
            Tree::Mapping(_) => return self.step(&entry.1, entry.0.span).into_iter().collect(),
            Tree::Scalar(_) => "a step or a list of steps",
        };
        value::wrong_type(entry, wanted, &format!("{}: {EXAMPLE}", entry.0.value), self.diagnostics);
        Vec::new()
    }

    /// One step of those under `key`, which is where to point when nothing was written.
    fn step(&mut self, node: &Node, key: Span) -> Option<Step> {
        let place = if node.span.is_empty() { key } else { node.span };
        let Some(entries) = node.as_mapping() else {
            self.diagnostics.push(
                Diagnostic::error(place, format!("a step is a mapping, found {}", node.describe()))
                    .label("not a step")
                    .help(format!("write for example `{EXAMPLE}`")),
            );
            return None;
        };
        let mut words = entries.iter().filter(|(key, _)| is_step_word(&key.value));
        let Some(word) = words.next() else {
            self.no_step_word(entries, place);
            return None;
        };
        if let Some(second) = words.next() {
            let (one, two) = (quote(&word.0.value), quote(&second.0.value));
            self.diagnostics.push(
                Diagnostic::error(
                    second.0.span,
                    format!("a step does one thing: {one} and {two} stand in one mapping"),
                )
                .label("second step word")
                .also(word.0.span, "first step word")
                .help("make each an item of the list, with a `-` of its own"),
            );
            return None;
        }
        let kind = self.kind(entries, word)?;
        Some(Step { span: node.span, kind })
    }

    fn no_step_word(&mut self, entries: &[Entry], place: Span) {
        let words = || CommandWord::ALL.iter().map(|word| word.name()).chain(WORDS);
        for (key, _) in entries {
            if let Some(meant) = suggest(&key.value, words()) {
                self.diagnostics.push(
                    Diagnostic::error(key.span, format!("there is no step {}", quote(&key.value)))
                        .label("unknown step word")
                        .help(format!("did you mean {}?", quote(meant))),
                );
                return;
            }
        }
        let span = entries.first().map_or(place, |(key, _)| key.span);
        let words: Vec<&str> = words().collect();
        self.diagnostics.push(
            Diagnostic::error(span, "this step has no step word")
                .label("does not say what to do")
                .help(format!("a step has one of the keys {}", words.join(", "))),
        );
    }

    fn kind(&mut self, entries: &[Entry], word: &Entry) -> Option<StepKind> {
        let key = word.0.value.as_str();
        if let Some(command) = CommandWord::ALL.iter().find(|command| command.name() == key) {
            return command::command(*command, word, entries, self.diagnostics);
        }
        let mut fields = Fields::new(entries, format!("the step {}", quote(key)), word.0.span);
        let kind = match key {
            "bulkWrite" => {
                if let Some(errors) = fields.optional("errors") {
                    self.refuse_in_transaction(errors.0.span, "`errors` of a `bulkWrite`");
                }
                bulk::bulk_write(word, &mut fields, self.diagnostics)
            }
            "command" => command::raw(&mut fields, self.diagnostics),
            "let" => self.assignments(&mut fields),
            "if" => self.condition(&mut fields),
            "forEach" => self.for_each(&mut fields),
            "while" => self.repeat(&mut fields),
            "retry" => self.retry(&mut fields),
            "again" => self.again(&mut fields),
            "try" => self.attempt(&mut fields),
            "transaction" => self.transaction(&mut fields),
            "abort" => self.abort(&mut fields),
            _ => fields
                .optional("return")
                .and_then(|entry| value::expression(entry, "return: reply.comments", self.diagnostics))
                .map(StepKind::Return),
        };
        fields.finish(self.diagnostics);
        kind
    }

    fn assignments(&mut self, fields: &mut Fields) -> Option<StepKind> {
        let example = "let: { skip: (page - 1) * 10 }";
        let entry = fields.optional("let")?;
        value::filled_mapping(entry, example, self.diagnostics)?;
        Some(StepKind::Let(value::named_expressions(entry, "a variable", example, self.diagnostics)))
    }

    fn condition(&mut self, fields: &mut Fields) -> Option<StepKind> {
        let condition = fields
            .optional("if")
            .and_then(|entry| value::scalar_expression(entry, "if: reply.modified == 0", self.diagnostics));
        let then = fields.required("then", "then: [{ return: not_found() }]");
        let then = then.map_or_else(Vec::new, |entry| self.steps(entry));
        let otherwise = fields.optional("else").map_or_else(Vec::new, |entry| self.steps(entry));
        Some(StepKind::If { condition: condition?, then, otherwise })
    }

    fn for_each(&mut self, fields: &mut Fields) -> Option<StepKind> {
        let example = "forEach: { part: product.parts }";
        let entry = fields.optional("forEach")?;
        let body = fields.required("do", "do: [...]").map_or_else(Vec::new, |entry| self.steps(entry));
        let [pair] = value::mapping(entry, example, self.diagnostics)? else {
            value::wrong_type(entry, "one name and one list", example, self.diagnostics);
            return None;
        };
        value::check_name(&pair.0, "a loop", self.diagnostics);
        let list = value::expression(pair, "part: product.parts", self.diagnostics)?;
        Some(StepKind::ForEach { name: pair.0.clone(), list, body })
    }

    fn repeat(&mut self, fields: &mut Fields) -> Option<StepKind> {
        let condition = fields
            .optional("while")
            .and_then(|entry| value::scalar_expression(entry, "while: size(level) > 0", self.diagnostics));
        let turns = fields
            .optional("turns")
            .and_then(|entry| value::integer(entry, 1..=MAX_TURNS, "turns: 1000", self.diagnostics))
            .and_then(|turns| u32::try_from(turns).ok());
        let body = fields.required("do", "do: [...]").map_or_else(Vec::new, |entry| self.steps(entry));
        Some(StepKind::While { condition: condition?, turns: turns.unwrap_or(DEFAULT_TURNS), body })
    }
}

fn is_step_word(key: &str) -> bool {
    WORDS.contains(&key) || CommandWord::ALL.iter().any(|command| command.name() == key)
}

/// The name that `as` gives to a reply.
pub(super) fn alias(fields: &mut Fields, diagnostics: &mut Diagnostics) -> Option<Spanned<String>> {
    let name = fields.optional("as").and_then(|entry| value::text(entry, "as: found", diagnostics))?;
    value::check_name(&name, "a reply", diagnostics);
    Some(name)
}
