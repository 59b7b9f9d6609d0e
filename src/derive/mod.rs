//! Strategies with a `shape`, and operations with `does`, to ordinary ones: nodes in, nodes out.
//!
//! An entry that is written by hand replaces the derived one. Derived nodes have the place of the
//! shape, and that of the logical step as the place that uses them, so that a problem points at two lines of the model.

mod added;
mod audits;
mod bucket;
mod build;
mod choices;
mod copies;
mod create;
mod delete;
mod document;
mod first_read;
mod get;
mod label;
mod link;
mod located;
mod model;
mod number;
mod order;
mod pairs;
mod picked;
mod read;
mod refusal;
mod related;
mod related_pairs;
mod relocate;
mod reply;
mod result;
mod rows;
mod selection;
mod shape;
mod split;
mod stage;
mod summary;
#[cfg(test)]
mod tests;
mod text;
mod totals;
mod translate;
mod unread;
mod update;
mod versions;
mod with;
mod words;
mod write;

use crate::scenario::{
    Diagnostics, MOST_STRATEGIES, Node, Scenario, Span, Spanned, StrategyDefinition, list_of, read_strategy,
};

pub use choices::{RelationChoice, choices};
pub use model::{ArgumentFacts, Facts};
pub use text::entry;
pub use unread::is_in_vain;
pub use words::relation_words;

use audits::Audits;
use build::{map, mapping, place, with};
use document::DerivedDocuments;
use model::Model;
use refusal::{Derived, Refusal};
use shape::ModelShape;
use translate::Translation;
use unread::check_unread;

/// A scenario whose strategies are all written out.
#[derive(Debug)]
pub struct DerivedScenario {
    /// The scenario.
    pub scenario: Scenario,
    /// The derived parts of its strategies, by name.
    pub strategies: Vec<(String, Node)>,
}

/// Derives all strategies with a shape; `facts` are asked for only if there are any. `None` if there is nothing to derive, or
/// where something is refused, which is reported to `diagnostics` that have no other problems.
pub fn derive(
    scenario: &Scenario,
    facts: impl FnOnce() -> Facts,
    diagnostics: &Diagnostics,
) -> Option<DerivedScenario> {
    if !scenario.has_model() {
        report_useless(scenario, diagnostics);
        return None;
    }
    let mut made = scenario.clone();
    let model = Model::new(scenario, facts());
    if let Err((span, refusal)) = model.check() {
        refusal.report(None, (span, ""), diagnostics);
        return None;
    }
    report_undone(scenario, diagnostics);
    for (position, operation) in made.operations.iter_mut().enumerate().filter(|(_, one)| !one.does.is_empty()) {
        if model.is_broken(position) {
            continue;
        }
        if let Err((span, refusal)) = result::check_end(&operation.does) {
            refusal.report(None, (span, ""), diagnostics);
            continue;
        }
        let name = operation.name.value.clone();
        let span = operation.does.last().map_or(operation.name.span, |step| step.span());
        let reported = |part: Derived<Option<Node>>| {
            part.map_err(|refusal| refusal.report(None, (span, &name), diagnostics)).ok().flatten()
        };
        if operation.returns.is_none() {
            operation.returns = reported(result::returns(&model, position));
        }
        if operation.serial.is_none() {
            operation.serial = reported(result::serial(&model, position));
        }
    }
    let (mut strategies, mut audits) = (Vec::new(), Vec::new());
    // More than that are reported elsewhere.
    for (position, strategy) in scenario.strategies.iter().enumerate().take(MOST_STRATEGIES) {
        let Some((node, own_audits, tolerated)) = derived(&model, strategy, &scenario.strategies, diagnostics) else {
            continue;
        };
        audits.push((strategy.name.value.clone(), span_of(strategy), own_audits));
        strategies.push((strategy.name.value.clone(), node.clone()));
        let read = read_strategy(&(strategy.name.clone(), node), diagnostics);
        let own = &mut made.strategies[position];
        own.collections.extend(missing(&own.collections, read.collections, |collection| &collection.name));
        own.operations.extend(missing(&own.operations, read.operations, |(name, _)| name));
        own.state.extend(missing(&own.state, read.state, |(name, _)| name));
        own.about = own.about.take().or(read.about);
        own.label = own.label.take().or(read.label);
        own.is_unsafe |= read.is_unsafe && own.unsafe_with.is_empty();
        own.tolerates.extend(tolerated.into_iter().map(|audit| Spanned::new(audit, span_of(strategy))));
    }
    made.audits.extend(missing(&made.audits, audits::definitions(&audits, diagnostics), |audit| &audit.name));
    let is_whole = (0..scenario.operations.len()).all(|position| !model.is_broken(position));
    (is_whole && !diagnostics.has_errors()).then_some(DerivedScenario { scenario: made, strategies })
}

/// Derived entries of whose names there is none.
fn missing<T>(own: &[T], derived: Vec<T>, name: fn(&T) -> &Spanned<String>) -> Vec<T> {
    derived.into_iter().filter(|part| own.iter().all(|other| name(other).value != name(part).value)).collect()
}

/// Reports operations that do not say what they do, and that strategies with a shape lack.
fn report_undone(scenario: &Scenario, diagnostics: &Diagnostics) {
    for operation in scenario.operations.iter().filter(|one| one.does.is_empty() && !one.does_is_broken) {
        let name = &operation.name;
        let lacks = |strategy: &&StrategyDefinition| {
            let mut line = strategy.line(&scenario.strategies);
            let has = |one: &&StrategyDefinition| one.operations.iter().any(|(own, _)| own.value == name.value);
            strategy.shape.is_some() && !line.any(|one| has(&one))
        };
        let lacking: Vec<&str> =
            scenario.strategies.iter().filter(lacks).map(|strategy| strategy.name.value.as_str()).collect();
        if !lacking.is_empty() {
            let message =
                format!("operation `{}` has no `does`, so that no strategy with a `shape` has it", name.value);
            let help = format!("add `does`, or write it under `operations` of {}", list_of(&lacking));
            diagnostics.labelled(name.span, message, "what does it do?", help);
        }
    }
}

/// Reports shapes of a scenario in which no operation says what it does.
fn report_useless(scenario: &Scenario, diagnostics: &Diagnostics) {
    for strategy in scenario.strategies.iter().filter(|strategy| strategy.shape.is_some()) {
        let message = format!("nothing can be derived for strategy `{}`", strategy.name.value);
        let help = "say what operations do, for example `does: { create: comment, in: post }`";
        diagnostics.labelled(strategy.name.span, message, "no operation has `does`", help);
    }
}

/// The derived parts of a strategy with its audits, and those of them that it tolerates; `None` without a shape, or where something is refused.
fn derived(
    model: &Model,
    strategy: &StrategyDefinition,
    all: &[StrategyDefinition],
    diagnostics: &Diagnostics,
) -> Option<(Node, Audits, Vec<String>)> {
    let line: Vec<_> = strategy.line(all).collect();
    let start = line.iter().position(|one| one.shape.is_some())?;
    // Without a change of its own it inherits what is derived for the other strategy.
    if start > 0 && strategy.join.is_none() && strategy.writes.is_none() {
        return None;
    }
    let by = |key: fn(&StrategyDefinition) -> &Option<Spanned<String>>, value: &str| {
        line.iter().find_map(|one| key(one).as_ref()).is_some_and(|found| found.value == value)
    };
    // Words of the strategy itself come last: they take the place of those that it is like.
    let entries: Vec<(Spanned<String>, Node)> =
        line.iter().rev().filter_map(|one| one.shape.clone()).flatten().collect();
    let is_plain = by(|one| &one.writes, "plain");
    let shape = match ModelShape::read(model, &entries, by(|one| &one.join, "lookup"), is_plain) {
        Ok(shape) => ModelShape {
            is_ordered: by(|one| &one.writes, "ordered"),
            has_versions: by(|one| &one.writes, "versions"),
            ..shape
        },
        Err((span, refusal)) => {
            refusal.report(None, (span, ""), diagnostics);
            return None;
        }
    };
    let model = &shape.turned(model);
    let here = span_of(strategy);
    let at = |refusal: &Refusal| {
        refusal.place.or_else(|| refusal.relation.map(|relation| shape.place(relation).unwrap_or(here)))
    };
    let mut documents = match DerivedDocuments::new(model, &shape) {
        Ok(documents) => documents,
        Err(refusal) => {
            let place = at(&refusal);
            refusal.report(None, (place.unwrap_or(here), ""), diagnostics);
            return None;
        }
    };
    let has_by_hand = |name: &str| line.iter().any(|one| one.operations.iter().any(|(own, _)| own.value == name));
    let mut operations = Vec::new();
    let (mut is_refused, mut is_unsafe) = (false, false);
    for (position, operation) in model.scenario.operations.iter().enumerate() {
        let name = operation.name.value.as_str();
        if operation.does.is_empty() || model.is_broken(position) || result::check_end(&operation.does).is_err() {
            continue;
        }
        let mut translation = Translation::new(&mut documents, position);
        match translation.steps(here) {
            // Only its indexes are derived.
            _ if has_by_hand(name) => {}
            Ok(steps) => {
                is_unsafe |= is_plain && translation.is_joint;
                operations.push((name.to_owned(), if steps.len() == 1 { steps[0].clone() } else { steps.into() }));
            }
            Err((step, refusal)) => {
                is_refused = true;
                let place = at(&refusal);
                refusal.report(place, (step, name), diagnostics);
            }
        }
    }
    if is_refused {
        return None;
    }
    // What is by hand may read anything.
    if !diagnostics.has_errors() && line.iter().all(|one| one.operations.is_empty()) {
        check_unread(model, &shape, strategy, diagnostics);
    }
    // Without relations there is nothing to say.
    let said = [("about", false), ("label", true)].map(|(key, is_short)| (key, shape.describe(model, is_short)));
    let said = said.into_iter().filter(|(_, text)| !text.is_empty());
    let mut made = said.fold(map! {}, |made, (key, text)| with(made, key, text));
    if is_unsafe {
        made = with(made, "unsafe", true);
    }
    // Other words of a shape need other documents; `join` and `writes` keep those that are by hand.
    let is_derived = |name: &str| {
        let is_own = |one: &&StrategyDefinition| {
            let mut names =
                one.collections.iter().map(|collection| &collection.name).chain(one.state.iter().map(|(name, _)| name));
            names.any(|own| own.value == name)
        };
        strategy.shape.is_some() || !line.iter().any(is_own)
    };
    let state: Vec<_> = documents.state().into_iter().filter(|(name, _)| is_derived(name)).collect();
    let collections = documents.collections().as_mapping().unwrap_or_default().to_vec();
    let collections =
        collections.into_iter().map(|(name, node)| (name.value, node)).filter(|(name, _)| is_derived(name));
    made = with(made, "collections", mapping(collections.collect()));
    made = with(made, "operations", mapping(operations));
    if !state.is_empty() {
        made = with(made, "state", mapping(state));
    }
    place(&mut made, here);
    Some((made, audits::of_shape(model, &shape), shape.behind(model)))
}

/// Where the shape of a strategy is written; its name, where that is inherited.
fn span_of(strategy: &StrategyDefinition) -> Span {
    match strategy.shape.as_deref() {
        Some([(first, _), .., (_, last)] | [(first, last)]) => {
            Span::new(first.span.start, last.span.end.max(first.span.end))
        }
        _ => strategy.name.span,
    }
}
