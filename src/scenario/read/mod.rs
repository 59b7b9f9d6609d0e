//! Reads YAML text into a [`Scenario`]; this file is the top level.

mod attempt;
mod audit;
mod bulk;
mod claim;
mod entity;
mod entry;
mod fault;
mod fields;
mod fragment;
mod logical;
mod operation;
mod outline;
mod run;
mod scalar;
mod step;
mod strategy;
mod value;
mod yaml;

pub(crate) use audit::audit as read_audit;
use entry::{Entry, place};
pub(super) use fields::Fields;
pub use outline::Outline;
pub(super) use step::StepReader;
pub(crate) use step::steps as read_steps;
pub(crate) use strategy::strategy as read_strategy;
pub(crate) use yaml::compose;

use super::{
    ClockDefinition, Diagnostics, FORMAT, Scalar, Scenario, Source, SourceLines, Span, Spanned, StrategyDefinition,
    Tree, keys,
};

/// Reads a scenario and adds every problem found to `diagnostics`.
///
/// Returns the valid parts, so that later checks can report more; `None` if the text is not a scenario at all. A
/// scenario with errors must not run. Where a fragment is missing, only what the reader finds is reported.
pub fn read(source: &Source, diagnostics: &Diagnostics) -> Option<Scenario> {
    let root = yaml::compose(&source.text, diagnostics)?;
    let Some(entries) = root.as_mapping() else {
        let message = format!("expected a mapping, found {}", root.describe());
        let help = "try starting with `format: 1` and `name: my-scenario`";
        diagnostics.labelled(root.span, message, "not a scenario", help);
        return None;
    };
    if !is_our_format(entries, diagnostics) {
        return None;
    }
    let (root, is_complete) = fragment::expand(root, diagnostics);
    let entries = root.as_mapping().unwrap_or_default();
    let place = entries.first().map_or(root.span, |(key, _)| key.span);
    let fields = Fields::read(entries, "the scenario", place, keys::SCENARIO, diagnostics);
    let scenario = scenario(SourceLines::new(source), &fields);
    is_complete.then_some(scenario)
}

/// Whether the format is known; the keys of another version are not checked.
fn is_our_format(entries: &[Entry], diagnostics: &Diagnostics) -> bool {
    let Some(entry) = entries.iter().find(|(key, _)| key.value == "format") else { return true };
    if entry.1.tree == Tree::Scalar(Scalar::Int(FORMAT)) {
        return true;
    }
    let message = format!("expected format {FORMAT}, found {}", entry.1.describe());
    let help = format!("try `format: {FORMAT}`, or the version of docshape that the scenario was written for");
    diagnostics.labelled(place(entry), message, "unknown format", help);
    false
}

fn scenario(lines: SourceLines, fields: &Fields) -> Scenario {
    let diagnostics = fields.diagnostics;
    let text = |key: &str| fields.text(key).map(|text| text.value).unwrap_or_default();
    let name = fields.text("name").inspect(|name| value::check_scenario_name(name, diagnostics));
    let entries = |key: &str| fields.entries(key).iter();
    let strategies: Vec<StrategyDefinition> =
        entries("strategies").map(|entry| strategy::strategy(entry, diagnostics)).collect();
    strategy::check_defaults(&strategies, diagnostics);
    Scenario {
        folder: lines.folder(),
        lines,
        name: name.unwrap_or_else(|| Spanned::new("scenario".to_owned(), Span::default())),
        title: text("title"),
        about: text("about"),
        group: fields.text("group").map(|group| group.value),
        sources: fields.texts("sources").into_iter().map(|source| source.value).collect(),
        clock: clock(fields),
        parameters: fields.expressions("parameters"),
        entities: entries("entities").map(|entry| entity::entity(entry, diagnostics)).collect(),
        operations: entries("operations").map(|entry| operation::operation(entry, diagnostics)).collect(),
        mixes: entries("mixes").map(|entry| operation::mix(entry, diagnostics)).collect(),
        strategies,
        audits: entries("audits").filter_map(|entry| audit::audit(entry, diagnostics)).collect(),
        claims: claim::claims(fields),
        growth: run::growth(fields),
        shard_keys: fields.entries("shard_keys").to_vec(),
        sweeps: entries("sweeps").filter_map(|entry| run::sweep(entry, diagnostics)).collect(),
    }
}

fn clock(fields: &Fields) -> ClockDefinition {
    let span = fields.entry("clock").map_or(Span::default(), |entry| entry.0.span);
    let fields = Fields::read(fields.entries("clock"), "`clock`", span, keys::CLOCK, fields.diagnostics);
    ClockDefinition { starts_now: fields.entry("first_call").is_some(), step: fields.integer("step").unwrap_or(1_000) }
}
