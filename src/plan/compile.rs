//! A scenario and a choice to a [`Plan`]; every problem of the file goes to the diagnostics.

use std::sync::Arc;

use crate::scenario::{self, Diagnostic, Diagnostics, Scenario, Span};

use super::audit::check_strategies;
use super::choice::{Choice, ChoiceError};
use super::claim::check_claims;
use super::command::Concerns;
use super::entity::{compile_data, entity_names};
use super::inherit::inherit;
use super::parameter::{parameter_value, parameters, with_parameters};
use super::past::PastCalls;
use super::rehearsal::{try_calls, try_records};
use super::resolve::{entity_of, nearest, resolve};
use super::scope::{Names, Origin, Scope};
use super::shape::Shape;
use super::strategy::StrategyCompiler;
use super::value::Value;
use super::{Argument, Arm, Mix, Operation, Plan};

/// Resolves a whole scenario: all its strategies and mixes are checked, those chosen become the plan.
///
/// `Ok(None)` when the diagnostics have errors.
///
/// # Errors
/// When the choice names what the scenario does not have.
pub fn compile(
    scenario: &Scenario,
    choice: &Choice,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Plan>, ChoiceError> {
    let mut names = Names {
        entities: entity_names(scenario, diagnostics),
        parameters: Vec::new(),
        broken: Vec::new(),
        operations: scenario.operations.iter().map(|operation| operation.name.value.clone()).collect(),
        past: Vec::new(),
    };
    let mix = chosen_mix(scenario, choice)?;
    names = parameters(scenario, mix, choice, &names, diagnostics)?;
    let data = compile_data(scenario, &mut names, choice.seed, diagnostics);
    let weights: Vec<_> = scenario.mixes.iter().map(|mix| compile_mix(mix, &names, diagnostics)).collect();
    let mix_position =
        scenario.mixes.iter().position(|other| mix.is_some_and(|mix| other.name.value == mix.name.value));
    let weights = mix_position.and_then(|position| weights.into_iter().nth(position).flatten());
    let mix = Arc::new(Mix {
        name: mix.map(|mix| mix.name.value.clone()).unwrap_or_default(),
        // A mix with problems is never drawn from, as there is no plan then.
        weights: weights.unwrap_or_else(|| vec![1.0; names.operations.len()]),
    });
    let operations = compile_operations(scenario, &mix, &mut names, diagnostics);
    check_strategies(scenario, diagnostics);
    check_claims(scenario, diagnostics);
    let concerns = Concerns::default();
    let strategies = inherit(&scenario.strategies, diagnostics);
    let mut compile_arm = |strategy: &scenario::Strategy| {
        let mut told = Diagnostics::new();
        let strategy_names = with_parameters(&names, strategy, &mut told);
        let compiler = StrategyCompiler {
            scenario,
            strategy,
            names: &strategy_names,
            concerns: &concerns,
            diagnostics: &mut told,
        };
        let arm = compiler.compile();
        tell_new(&told, diagnostics);
        arm
    };
    let mut arms: Vec<Arm> = strategies.iter().filter_map(&mut compile_arm).collect();
    let mut chosen = chosen_strategies(scenario, choice)?;
    if choice.control && chosen.len() > 1 {
        let reference = strategies.iter().find(|strategy| strategy.name.value == chosen[0]);
        arms.extend(reference.and_then(&mut compile_arm).map(into_control));
        chosen.push(control_name(&chosen[0]));
    }
    let (Some(data), false) = (data, diagnostics.has_errors()) else { return Ok(None) };
    let plan = Plan {
        name: scenario.name.value.clone(),
        title: scenario.title.clone(),
        about: scenario.about.clone(),
        parameters: names.parameters.clone(),
        seed: choice.seed,
        data,
        operations,
        mix,
        arms: in_order(arms, &chosen),
        concerns,
    };
    try_records(scenario, &plan, diagnostics);
    try_calls(scenario, &plan, diagnostics);
    Ok((!diagnostics.has_errors()).then_some(plan))
}

/// The name of the reference's second arm.
fn control_name(reference: &str) -> String {
    format!("{reference}(A/A)")
}

fn into_control(arm: Arm) -> Arm {
    Arm { name: control_name(&arm.name), is_control: true, ..arm }
}

/// Adds what was not told yet: a strategy that inherits a mistake is not a second mistake.
fn tell_new(found: &Diagnostics, diagnostics: &mut Diagnostics) {
    for diagnostic in found.iter() {
        if !diagnostics.iter().any(|told| told == diagnostic) {
            diagnostics.push(diagnostic.clone());
        }
    }
}

fn in_order(mut arms: Vec<Arm>, chosen: &[String]) -> Vec<Arm> {
    let mut ordered = Vec::new();
    for name in chosen {
        if let Some(position) = arms.iter().position(|arm| arm.name == *name) {
            ordered.push(arms.swap_remove(position));
        }
    }
    ordered
}

/// Adds an error with what to do.
pub fn error(diagnostics: &mut Diagnostics, span: Span, message: impl Into<String>, help: impl Into<String>) {
    diagnostics.push(Diagnostic::error(span, message).help(help));
}

fn chosen_mix<'s>(scenario: &'s Scenario, choice: &Choice) -> Result<Option<&'s scenario::Mix>, ChoiceError> {
    let find = |name: &str| scenario.mixes.iter().find(|mix| mix.name.value == name);
    match &choice.mix {
        None => Ok(find("default").or(scenario.mixes.first())),
        Some(name) => find(name).map(Some).ok_or_else(|| {
            let known: Vec<&str> = scenario.mixes.iter().map(|mix| mix.name.value.as_str()).collect();
            ChoiceError::unknown("mix", name, &known)
        }),
    }
}

/// The names of the strategies that run, the reference first.
fn chosen_strategies(scenario: &Scenario, choice: &Choice) -> Result<Vec<String>, ChoiceError> {
    let names = |wanted: &dyn Fn(&scenario::Strategy) -> bool| -> Vec<String> {
        scenario.strategies.iter().filter(|s| wanted(s)).map(|s| s.name.value.clone()).collect()
    };
    if choice.strategies.is_empty() {
        let marked = names(&|strategy| strategy.is_default.as_ref().is_some_and(|marked| marked.value));
        return Ok(match marked.is_empty() || choice.all {
            true => names(&|strategy| !strategy.is_unsafe),
            false => marked,
        });
    }
    let known: Vec<&str> = scenario.strategies.iter().map(|strategy| strategy.name.value.as_str()).collect();
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

/// The operations in order; each sees the calls of those before it.
fn compile_operations(
    scenario: &Scenario,
    mix: &Arc<Mix>,
    names: &mut Names,
    diagnostics: &mut Diagnostics,
) -> Vec<Operation> {
    let mut made = Vec::new();
    for (position, operation) in scenario.operations.iter().enumerate() {
        if let Some(operation) = compile_operation(operation, names, diagnostics) {
            let identity = (position, Arc::clone(&operation.name));
            let past = PastCalls::new(identity, Arc::clone(&operation.arguments), Arc::clone(mix));
            names.past.push(Arc::new(past));
            made.push(operation);
        }
    }
    made
}

fn compile_operation(
    operation: &scenario::Operation,
    names: &Names,
    diagnostics: &mut Diagnostics,
) -> Option<Operation> {
    let (arguments, _) = compile_arguments(operation, names, diagnostics);
    let returns = match &operation.returns {
        Some(node) => Some(Shape::compile(node, names, diagnostics)?),
        None => None,
    };
    let serial = match &operation.serial {
        Some(serial) => {
            let mut scope = argument_scope(operation, names);
            scope.relabel(format!("{}.serial", operation.name.value));
            Some(resolve(serial, &mut scope, diagnostics)?)
        }
        None => None,
    };
    Some(Operation { name: Arc::from(operation.name.value.as_str()), arguments: arguments?.into(), returns, serial })
}

fn compile_arguments<'n>(
    operation: &scenario::Operation,
    names: &'n Names,
    diagnostics: &mut Diagnostics,
) -> (Option<Vec<Argument>>, Scope<'n>) {
    let mut scope = Scope::new(names, "");
    let mut arguments = Vec::new();
    for (name, node) in &operation.arguments {
        scope.relabel(format!("{}.{}", operation.name.value, name.value));
        let value = resolve(node, &mut scope, diagnostics);
        let entity = value.as_ref().and_then(|value| entity_of(value, &scope));
        if name.value == "reply" {
            let message = "`reply` cannot be an argument: it is the last command's reply";
            error(diagnostics, name.span, message, "choose another name");
        }
        let slot = scope.assign(&name.value, Origin::Argument, entity);
        arguments.push(value.map(|value| Argument { name: Arc::from(name.value.as_str()), slot, value }));
    }
    (arguments.into_iter().collect(), scope)
}

/// The scope that an operation's arguments leave; their problems have been told already.
pub fn argument_scope<'n>(operation: &scenario::Operation, names: &'n Names) -> Scope<'n> {
    compile_arguments(operation, names, &mut Diagnostics::new()).1
}

fn compile_mix(mix: &scenario::Mix, names: &Names, diagnostics: &mut Diagnostics) -> Option<Vec<f64>> {
    let mut weights = vec![0.0; names.operations.len()];
    let known: Vec<&str> = names.operations.iter().map(String::as_str).collect();
    let mut good = true;
    for weight in &mix.weights {
        let name = &weight.operation;
        let Some(position) = known.iter().position(|operation| *operation == name.value) else {
            let message = format!("mix `{}` names no operation: `{}`", mix.name.value, name.value);
            error(diagnostics, name.span, message, nearest(&name.value, &known));
            good = false;
            continue;
        };
        match parameter_value(&weight.weight, names, diagnostics) {
            Some(Value::Int(weight)) if weight >= 0 => weights[position] = weight as f64,
            Some(Value::Double(weight)) if weight >= 0.0 && weight.is_finite() => weights[position] = weight,
            Some(other) => {
                let written = super::written(&other);
                let message = format!("the weight of `{}` must be a number >= 0, not {written}", name.value);
                error(diagnostics, weight.weight.span, message, "write for example `30`");
                good = false;
            }
            None => good = false,
        }
    }
    if good && weights.iter().all(|weight| *weight == 0.0) {
        let message = format!("mix `{}` calls nothing: all its weights are zero", mix.name.value);
        error(diagnostics, mix.name.span, message, "give at least one operation a weight above 0");
        good = false;
    }
    good.then_some(weights)
}

#[cfg(test)]
mod tests {
    use crate::generate::Seed;

    use super::super::expression::Frame;
    use super::super::trial::chosen;
    use super::*;

    const TEXT: &str = "
format: 1
name: trial
title: Trial
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
        let super::super::Step::Return(value) = &plan.arms[arm].operations[0].steps[0] else { unreachable!() };
        super::super::written(&value.evaluate(&mut Frame::new(&plan.data, Seed::new(0), 0, 9)).unwrap())
    }

    #[test]
    fn parameters_come_from_strategy_command_line_mix_and_scenario_in_that_order() {
        let set = vec![("size".to_owned(), "8".to_owned()), ("n".to_owned(), "3".to_owned())];
        let many = Some("many".to_owned());
        let plan = chosen(TEXT, &Choice::default());
        assert_eq!((values(&plan, 0).as_str(), values(&plan, 1).as_str()), ("[2, 4, 3, 9]", "[4, 16, 17]"));
        let plan = chosen(TEXT, &Choice { mix: many.clone(), ..Choice::default() });
        assert_eq!((values(&plan, 0).as_str(), plan.data.entities[0].len()), ("[5, 10, 3, 9]", 5));
        assert_eq!(plan.mix.weights, [10.0]);
        let plan = chosen(TEXT, &Choice { mix: many, set, ..Choice::default() });
        assert_eq!((values(&plan, 0).as_str(), plan.data.entities[0].len()), ("[3, 6, 3, 9]", 3));
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
    fn a_choice_that_the_scenario_does_not_offer_is_told() {
        let told = |choice: &Choice| {
            let source = scenario::Source::new("trial.yaml", TEXT);
            let read = scenario::read(&source, &mut Diagnostics::new()).unwrap();
            compile(&read, choice, &mut Diagnostics::new()).unwrap_err().to_string()
        };
        let set =
            |name: &str, value: &str| Choice { set: vec![(name.to_owned(), value.to_owned())], ..Choice::default() };
        assert_eq!(told(&set("sise", "1")), "the scenario has no parameter `sise`: did you mean `size`?");
        assert_eq!(told(&set("size", "big")), "--set size=big: `size` is an int, such as 10");
        let mix = Choice { mix: Some("mani".to_owned()), ..Choice::default() };
        assert_eq!(told(&mix), "the scenario has no mix `mani`: did you mean `many`?");
        let twice = Choice { strategies: vec!["plain".to_owned(); 2], ..Choice::default() };
        assert!(told(&twice).contains("named twice"));
    }
}
