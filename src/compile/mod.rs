//! A scenario and a choice to a [`Plan`]; every problem of the file goes to the diagnostics.

mod audit;
mod bulk;
mod choice;
mod claim;
mod crud;
mod document;
mod does;
mod dry_run;
mod entity;
mod extended_json;
#[cfg(test)]
pub(crate) mod fixture;
mod foreign;
mod generator_call;
mod indexed_fields;
mod inherit;
mod known_names;
mod lint;
mod logical_fields;
mod model;
mod operation;
mod parameter;
mod parts;
mod reply;
mod resolve;
mod run;
mod scope;
mod series;
mod shape;
mod shard;
mod steps;
mod strategy;
mod syntax;
mod uses;

use std::sync::Arc;

use crate::derive::{DerivedScenario, derive};
use crate::plan::program::Concerns;
use crate::plan::{Arm, Data, Mix, Plan, checking};
use crate::scenario::{self, Diagnostics, Scenario};

pub use crate::derive::{RelationChoice, is_in_vain, relation_words};
pub use choice::{Choice, ChoiceError, DEFAULT_SEED};
pub use claim::{ClaimTerm, claim_term};
pub(crate) use document::path_length;
pub use inherit::inherit;
pub use run::run_parameters;
pub use shard::{parse_shard_key, writes_without_key};

use audit::check_names;
use claim::check_claims;
use does::compile_model;
use dry_run::{try_calls, try_records};
use entity::{compile_data, entity_names};
use indexed_fields::check_indexed_fields;
pub(crate) use indexed_fields::{compared, filters};
use model::facts;
use operation::{compile_mix, compile_operations};
use parameter::{add_parameters, with_parameters};
use run::check_runs;
use scope::Names;
use series::expand;
use shard::{check_shard_keys, check_writes};
use strategy::StrategyCompiler;
use uses::{check_arguments, check_results, check_unused};

/// Resolves a whole scenario: all its strategies and mixes are checked, those chosen become the plan.
///
/// `Ok(None)` when the diagnostics have errors.
///
/// # Errors
/// When the choice names what the scenario does not have.
pub fn compile(scenario: &Scenario, choice: &Choice, diagnostics: &Diagnostics) -> Result<Option<Plan>, ChoiceError> {
    checking(|| resolve_whole(scenario, choice, diagnostics))
}

/// The scenario with the strategies that its model derives; `None` without a model, or where something is wrong.
pub fn derived(scenario: &Scenario, choice: &Choice) -> Option<DerivedScenario> {
    checking(|| resolve_data(scenario, choice, &Diagnostics::new())).ok()?.derived
}

/// The relations of the scenario's model with the words that a shape may have for each; empty where something is wrong.
pub fn relation_choices(scenario: &Scenario, choice: &Choice) -> Vec<RelationChoice> {
    let of = |resolved: ResolvedData| {
        let ResolvedData { names, mix, data, .. } = resolved;
        crate::derive::choices(scenario, facts(scenario, &names, &mix, data.as_deref()))
    };
    checking(|| resolve_data(scenario, choice, &Diagnostics::new()).map(of)).unwrap_or_default()
}

/// What strategies are resolved with.
struct ResolvedData {
    names: Names,
    data: Option<Arc<Data>>,
    mix: Arc<Mix>,
    derived: Option<DerivedScenario>,
    /// Whether a part could not be derived, for a reason that is reported.
    is_refused: bool,
}

fn resolve_data(scenario: &Scenario, choice: &Choice, diagnostics: &Diagnostics) -> Result<ResolvedData, ChoiceError> {
    let mut names = Names {
        lines: scenario.lines.clone(),
        entities: entity_names(scenario, diagnostics),
        operations: scenario.operations.iter().map(|operation| operation.name.value.clone()).collect(),
        ..Names::default()
    };
    let mix = chosen_mix(scenario, choice)?;
    add_parameters(scenario, mix, choice, &mut names, diagnostics)?;
    let data = compile_data(scenario, &mut names, choice.seed, diagnostics);
    let weights: Vec<_> = scenario.mixes.iter().map(|mix| compile_mix(mix, &names, diagnostics)).collect();
    let mix_position = scenario.mixes.iter().position(|other| mix.is_some_and(|mix| std::ptr::eq(other, mix)));
    let weights = mix_position.and_then(|position| weights.into_iter().nth(position).flatten());
    // A mix with problems is never drawn from, as there is no plan then.
    let weights = weights.unwrap_or_else(|| vec![1.0; names.operations.len()]);
    let weights = choice.with_shares(weights, &names.operations)?;
    let mix = Arc::new(Mix { name: mix.map(|mix| mix.name.value.clone()).unwrap_or_default(), weights });
    // What is found again for another mix is refused again, though it is reported once.
    let found = Diagnostics::new();
    let known = || facts(scenario, &names, &mix, data.as_deref());
    let derived = data.is_some().then(|| derive(scenario, known, &found)).flatten();
    let is_refused = found.has_errors() || scenario.has_model() && derived.is_none();
    diagnostics.add(&found);
    Ok(ResolvedData { names, data, mix, derived, is_refused })
}

fn resolve_whole(scenario: &Scenario, choice: &Choice, diagnostics: &Diagnostics) -> Result<Option<Plan>, ChoiceError> {
    let ResolvedData { mut names, data, mix, derived, is_refused } = resolve_data(scenario, choice, diagnostics)?;
    let scenario = derived.as_ref().map_or(scenario, |derived| &derived.scenario);
    let operations = compile_operations(scenario, &mix, &mut names, diagnostics);
    if is_refused {
        // What follows from a part that was not derived is no second problem.
        return Ok(None);
    }
    check_names(scenario, diagnostics);
    let concerns = Concerns::default();
    let concerns = Concerns { write: choice.write_concern.clone().unwrap_or(concerns.write), ..concerns };
    let strategies = inherit(&scenario.strategies, diagnostics);
    check_claims(scenario, &strategies, &names, diagnostics);
    check_runs(scenario, &names, diagnostics);
    check_shard_keys(scenario, &strategies, diagnostics);
    check_results(scenario, &strategies, diagnostics);
    let called: Vec<&str> = mix.called(&names.operations).collect();
    let compile_arm = |strategy: &scenario::StrategyDefinition| {
        let names = &with_parameters(&names, strategy, diagnostics);
        let collections = &expand(strategy, names, diagnostics);
        let called = &called;
        StrategyCompiler { scenario, strategy, names, called, collections, concerns: &concerns, diagnostics }.compile()
    };
    let mut arms: Vec<Arm> = strategies.iter().filter_map(compile_arm).collect();
    let mut chosen = chosen_strategies(scenario, choice, &called)?;
    if choice.repeat && chosen.len() > 1 {
        let baseline = strategies.iter().find(|strategy| strategy.name.value == chosen[0]);
        let name = format!("{} (repeat)", chosen[0]);
        let arm = baseline.and_then(compile_arm);
        arms.extend(arm.map(|arm| Arm { name: name.clone(), is_repeat: true, ..arm }));
        chosen.push(name);
    }
    let (Some(data), false) = (data, diagnostics.has_errors()) else { return Ok(None) };
    check_arguments(scenario, &strategies, diagnostics);
    let model = compile_model(scenario, &names, &data, diagnostics).map(Arc::new);
    if diagnostics.has_errors() {
        return Ok(None);
    }
    check_unused(scenario, &strategies, diagnostics);
    strategies.iter().for_each(|strategy| check_indexed_fields(scenario, strategy, diagnostics));
    strategies.iter().for_each(|strategy| check_writes(strategy, diagnostics));
    let position = |arms: &[Arm], name: &String| arms.iter().position(|arm| arm.name == *name);
    let in_order = chosen.iter().filter_map(|name| Some(arms.swap_remove(position(&arms, name)?)));
    let plan = Plan {
        name: scenario.name.value.clone(),
        title: scenario.title.clone(),
        about: scenario.about.clone(),
        parameters: names.parameters.clone(),
        seed: choice.seed,
        data,
        operations: operations.into(),
        model,
        mix,
        arms: in_order.collect(),
        concerns,
    };
    try_records(scenario, &plan, diagnostics);
    try_calls(scenario, &plan, diagnostics);
    Ok((!diagnostics.has_errors()).then_some(plan))
}

fn chosen_mix<'s>(scenario: &'s Scenario, choice: &Choice) -> Result<Option<&'s scenario::MixDefinition>, ChoiceError> {
    let find = |name: &str| scenario.mixes.iter().find(|mix| mix.name.value == name);
    match &choice.mix {
        None => Ok(find("default").or(scenario.mixes.first())),
        Some(name) => find(name).map(Some).ok_or_else(|| {
            let known: Vec<&str> = scenario.mixes.iter().map(|mix| mix.name.value.as_str()).collect();
            ChoiceError::unknown("mix", name, &known)
        }),
    }
}

/// The strategies that run where these operations are called, the baseline first.
fn chosen_strategies(scenario: &Scenario, choice: &Choice, called: &[&str]) -> Result<Vec<String>, ChoiceError> {
    let names = |is_chosen: &dyn Fn(&scenario::StrategyDefinition) -> bool| -> Vec<String> {
        scenario.strategies.iter().filter(|s| is_chosen(s)).map(|s| s.name.value.clone()).collect()
    };
    if choice.strategies.is_empty() {
        let is_safe = |strategy: &scenario::StrategyDefinition| !strategy.is_unsafe_with(called);
        let marked = names(&|strategy| strategy.is_compared() && (strategy.is_unsafe || is_safe(strategy)));
        return Ok(if choice.all || marked.is_empty() { names(&is_safe) } else { marked });
    }
    let known: Vec<&str> = scenario.strategy_names().collect();
    for (position, name) in choice.strategies.iter().enumerate() {
        if !known.contains(&name.as_str()) {
            return Err(ChoiceError::unknown("strategy", name, &known));
        }
        if choice.strategies[..position].contains(name) {
            return Err(ChoiceError::Twice(name.clone()));
        }
    }
    Ok(choice.strategies.clone())
}

#[cfg(test)]
mod tests {
    use crate::generate::Seed;

    use super::fixture::chosen;
    use super::*;
    use crate::plan::Frame;

    const TEXT: &str = "
format: 1
name: test
title: Test
parameters: { n: 2, twice: n * 2, size: 10 }
entities:
  thing: { count: n, fields: { _id: index } }
operations:
  read: { arguments: { thing: uniform(thing) }, returns: value }
mixes:
  default: { read: 1 }
  many: { parameters: { n: 5 }, read: twice }
strategies:
  plain:
    default: true
    parameters: { size: 3, area: size * size }
    collections: { things: { each: thing } }
    operations: { read: { return: '[n, twice, size, area]' } }
  wide: { default: true, like: plain, parameters: { size: 4, more: area + 1 }, operations: { read: { return: '[size, area, more]' } } }
  bad: { like: plain, unsafe: true }
";

    fn values(plan: &Plan, arm: usize) -> String {
        let crate::plan::Step::Return(value) = &plan.arms[arm].operations[0].steps[1] else { unreachable!() };
        crate::plan::written(&value.evaluate(&mut Frame::new(&plan.data, Seed::new(0), 0, 9)).unwrap())
    }

    #[test]
    fn parameters_come_from_strategy_command_line_mix_and_scenario_in_that_order() {
        let set = vec![("size".to_owned(), "8".to_owned()), ("n".to_owned(), "3".to_owned())];
        let many = Some("many".to_owned());
        let plan = chosen(TEXT, &Choice::default());
        assert_eq!((values(&plan, 0).as_str(), values(&plan, 1).as_str()), ("[2, 4, 3, 9]", "[4, 16, 17]"));
        let plan = chosen(TEXT, &Choice { mix: many.clone(), ..Choice::default() });
        assert_eq!((values(&plan, 0).as_str(), plan.data.len(0)), ("[5, 10, 3, 9]", 5));
        assert_eq!(plan.mix.weights, [10.0]);
        let plan = chosen(TEXT, &Choice { mix: many, set, ..Choice::default() });
        assert_eq!((values(&plan, 0).as_str(), plan.data.len(0)), ("[3, 6, 3, 9]", 3));
    }

    #[test]
    fn strategies_run_when_marked_or_safe_or_named() {
        let names = |choice: &Choice| chosen(TEXT, choice).arms.iter().map(|arm| arm.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&Choice::default()), ["plain", "wide"]);
        assert_eq!(names(&Choice { all: true, ..Choice::default() }), ["plain", "wide"]);
        let named = Choice { strategies: vec!["bad".to_owned(), "plain".to_owned()], ..Choice::default() };
        assert_eq!(names(&named), ["bad", "plain"]);
    }

    #[test]
    fn strategies_that_are_unsafe_with_an_operation_run_where_it_is_not_called() {
        let text = TEXT
            .replace("  read: {", "  rename: {}\n  read: {")
            .replace("  many: {", "  renaming: { read: 1, rename: 1 }\n  many: {")
            .replace(
                "operations: { read: { return: '[n,",
                "operations: { rename: { return: ok() }, read: { return: '[n,",
            )
            .replace("wide: { default: true,", "wide: { default: true, unsafe_with: [rename],");
        let arms = |mix: &str, all: bool| {
            let plan = chosen(&text, &Choice { mix: Some(mix.to_owned()), all, ..Choice::default() });
            plan.arms.iter().map(|arm| (arm.name.clone(), arm.is_unsafe)).collect::<Vec<_>>()
        };
        let safe = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), false)).collect::<Vec<_>>();
        assert_eq!(arms("default", false), safe(&["plain", "wide"]));
        assert_eq!(arms("renaming", false), safe(&["plain"]));
        assert_eq!(arms("renaming", true), safe(&["plain"]));
        let named = Choice { mix: Some("renaming".into()), strategies: vec!["wide".into()], ..Choice::default() };
        assert!(chosen(&text, &named).arms[0].is_unsafe);
    }

    #[test]
    fn one_collection_is_made_for_each_element() {
        let text = TEXT.replace(
            "collections: { things: { each: thing } }",
            "collections: { things: { each: thing }, 'rows_<k>': { for: { k: 'range(0, n)' }, each: { thing: all(thing), kind: '[k]' }, \
             document: { _id: <thing._id>, kind: <kind>, k: <k> }, indexes: [{ 'f<k>': 1 }] } }",
        );
        let plan = chosen(&text, &Choice::default());
        let names: Vec<_> =
            plan.arms[0].collections.iter().map(|one| (one.name.as_str(), one.written.as_str())).collect();
        assert_eq!(names, [("things", "things"), ("rows_0", "rows_<k>"), ("rows_1", "rows_<k>")]);
    }

    #[test]
    fn reports_choices_that_do_not_exist() {
        let message = |choice: &Choice| {
            let source = scenario::Source::new("test.yaml", TEXT);
            let read = scenario::read(&source, &Diagnostics::new()).unwrap();
            compile(&read, choice, &Diagnostics::new()).unwrap_err().to_string()
        };
        let set =
            |name: &str, value: &str| Choice { set: vec![(name.to_owned(), value.to_owned())], ..Choice::default() };
        assert_eq!(message(&set("sise", "1")), "the scenario has no parameter `sise`: did you mean `size`?");
        assert_eq!(
            message(&set("size", "big")),
            "invalid value `big` for parameter `size`: expected an int, for example 10"
        );
        let mix = Choice { mix: Some("mani".to_owned()), ..Choice::default() };
        assert_eq!(message(&mix), "the scenario has no mix `mani`: did you mean `many`?");
        let twice = Choice { strategies: vec!["plain".to_owned(); 2], ..Choice::default() };
        assert!(message(&twice).contains("named twice"));
    }
}
