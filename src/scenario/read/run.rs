//! `sweeps` and `growth`, and the `mix`, `strategies`, `set` and `vary` of claims and of them: what is measured.

use crate::record::LifeEnd;
use crate::scenario::condition::{ConditionDefinition, ConditionSubject, MOST_CONDITIONS};
use crate::scenario::keys::{self, KeyDefinition, Takes};
use crate::scenario::{Diagnostics, GrowthDefinition, Node, RunDefinition, SweepDefinition, quote};

use super::entry::{Entry, place, wrong_type, wrong_value};
use super::fields::Fields;
use super::value;

/// What a claim, a sweep or growth says about its runs.
pub(super) fn run(fields: &Fields) -> RunDefinition {
    let setting = |(name, node): &Entry| Some((name.clone(), node.as_literal()?));
    RunDefinition {
        mix: fields.text("mix"),
        strategies: fields.texts("strategies"),
        set: fields.entries("set").iter().filter_map(setting).collect(),
    }
}

/// A sweep; `None` when it is no mapping.
pub(super) fn sweep(entry: &Entry, diagnostics: &Diagnostics) -> Option<SweepDefinition> {
    const EXAMPLE: &str = "length: { question: How long may a list be?, vary: { comments: [10, 100, 1000] } }";
    let name = entry.0.clone();
    value::check_name(&name, "a sweep", diagnostics);
    let entries = value::filled_mapping(entry, EXAMPLE, diagnostics)?;
    let fields = Fields::read(entries, &format!("sweep {}", quote(&name.value)), name.span, keys::SWEEP, diagnostics);
    Some(SweepDefinition {
        question: fields.text("question")?.value,
        vary: fields.entries("vary").iter().filter_map(condition).collect(),
        run: run(&fields),
        name,
    })
}

/// The growth of documents; `None` when the scenario does not define it.
pub(super) fn growth(fields: &Fields) -> Option<GrowthDefinition> {
    let span = fields.entry("growth")?.0.span;
    let fields = Fields::read(fields.entries("growth"), "`growth`", span, keys::GROWTH, fields.diagnostics);
    Some(GrowthDefinition {
        question: fields.text("question")?.value,
        operation: fields.text("operation")?,
        sampled: fields.texts("sampled"),
        until: until(&fields),
        run: run(&fields),
    })
}

fn until(fields: &Fields) -> Option<LifeEnd> {
    let entry = fields.entry("until")?;
    let end = entry.1.as_literal()?.value.parse();
    end.map_err(|message: &str| wrong_value(entry, message, "until: 4MB").add_to(fields.diagnostics)).ok()
}

/// A condition that has values.
fn condition((name, node): &Entry) -> Option<ConditionDefinition> {
    let values = node.as_list()?.iter().map(Node::as_literal).collect::<Option<_>>()?;
    Some(ConditionDefinition { name: name.clone(), values })
}

/// Checks that parameters have values that are no expressions.
pub(super) fn check_settings(entries: &[Entry], diagnostics: &Diagnostics) {
    entries.iter().for_each(|entry| check_literal(entry, &format!("{}: 500", entry.0.value), diagnostics));
}

fn check_literal(entry: &Entry, example: &str, diagnostics: &Diagnostics) {
    if let Some(expected) = Takes::Literal.expected(&entry.1) {
        wrong_type(entry, &expected, example, diagnostics);
    }
}

/// Checks the number of conditions, and the values of each as far as that does not need the whole scenario.
pub(super) fn check_conditions(entry: &Entry, diagnostics: &Diagnostics) {
    let conditions = entry.1.as_mapping().unwrap_or_default();
    if let Some((name, _)) = conditions.get(MOST_CONDITIONS) {
        let message = format!("expected one or two conditions, found {}", conditions.len());
        let help = "try another sweep for it, or give it one value with `set`, `mix` or an option";
        diagnostics.labelled(name.span, message, "third condition", help);
    }
    conditions.iter().for_each(|condition| check_values(condition, diagnostics));
}

fn check_values(entry: &Entry, diagnostics: &Diagnostics) {
    let name = &entry.0.value;
    let example = format!("{name}: {}", ConditionSubject::named(name).example());
    let Some(items) = entry.1.as_list() else { return wrong_type(entry, "a list of values", &example, diagnostics) };
    let at = |item: &Node| (entry.0.clone(), item.clone());
    items.iter().for_each(|item| check_literal(&at(item), &example, diagnostics));
    let Some(Err(error)) = condition(entry).map(|condition| condition.condition()) else { return };
    let wrong = error.value.map_or_else(|| entry.clone(), |place| at(&items[place]));
    wrong_value(&wrong, error.message, &example).add_to(diagnostics);
}

/// Reports settings and conditions that are written as on the command line, `posts=50`, and shows the mapping.
pub(super) fn is_respelled(key: &KeyDefinition, entry: &Entry, diagnostics: &Diagnostics) -> bool {
    let is_list = match key.takes {
        Takes::Settings => false,
        Takes::Conditions => true,
        _ => return false,
    };
    let setting = |item: &Node| {
        let (name, values) = item.as_text()?.split_once('=')?;
        let values: Vec<String> = if is_list { values.split(',').map(plain).collect() } else { vec![plain(values)] };
        let values = values.join(", ");
        Some(if is_list { format!("{}: [{values}]", name.trim()) } else { format!("{}: {values}", name.trim()) })
    };
    let settings: Option<Vec<String>> = entry.1.as_list().and_then(|items| items.iter().map(setting).collect());
    let Some(settings) = settings.filter(|settings| !settings.is_empty()) else { return false };
    let message = format!("expected a mapping, found {}", entry.1.describe());
    let help = format!("try `{}: {{ {} }}`", key.name, settings.join(", "));
    diagnostics.labelled(place(entry), message, "written as on the command line", help);
    true
}

/// A value as YAML, quoted where it might need it.
fn plain(value: &str) -> String {
    let value = value.trim();
    let is_plain = |symbol: char| symbol.is_alphanumeric() || "_.%-".contains(symbol);
    if !value.is_empty() && value.chars().all(is_plain) { value.to_owned() } else { format!("{value:?}") }
}
