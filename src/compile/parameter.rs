//! Parameters: values that are known before the run.

use std::sync::Arc;

use crate::generate::Seed;
use crate::plan::{Data, DataClock, Expression, Frame, Value, written};
use crate::scenario::{self, Diagnostics, Node, Scenario, Spanned};

use super::choice::{Choice, ChoiceError};
use super::resolve::resolve;
use super::scope::{Names, Scope};

/// Adds the parameters to the names, in order: `--set` before the mix's value before the scenario's. Those without a
/// value are listed as broken.
pub fn add_parameters(
    scenario: &Scenario,
    mix: Option<&scenario::MixDefinition>,
    choice: &Choice,
    names: &mut Names,
    diagnostics: &Diagnostics,
) -> Result<(), ChoiceError> {
    let known: Vec<&str> = scenario.parameters.iter().map(|(name, _)| name.value.as_str()).collect();
    if let Some((name, _)) = choice.set.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        return Err(ChoiceError::unknown("parameter", name, &known));
    }
    for (name, _) in scenario.mixes.iter().flat_map(|mix| &mix.parameters) {
        diagnostics.is_known("parameter", name, "", known.iter().copied());
    }
    for (name, node) in &scenario.parameters {
        let of_mix = mix.and_then(|mix| mix.parameters.iter().find(|(other, _)| other.value == name.value));
        let Some(plain) = parameter_value(node, names, diagnostics) else {
            names.broken.push(name.value.clone());
            continue;
        };
        check_kinds(scenario, name, &plain, names, diagnostics);
        let mut value = match of_mix {
            Some((_, node)) => parameter_value(node, names, diagnostics).unwrap_or(Value::Null),
            None => plain.clone(),
        };
        if let Some((_, text)) = choice.set.iter().rev().find(|(other, _)| *other == name.value) {
            value = set_value(&name.value, text, &plain)?;
        }
        names.parameters.push((Arc::from(name.value.as_str()), value));
    }
    Ok(())
}

/// Warns of mixes that give a parameter a value of another kind: steps and expressions are written for one kind.
fn check_kinds(scenario: &Scenario, name: &Spanned<String>, plain: &Value, names: &Names, diagnostics: &Diagnostics) {
    for mix in &scenario.mixes {
        let Some((_, node)) = mix.parameters.iter().find(|(other, _)| other.value == name.value) else { continue };
        // Problems are reported for the chosen mix.
        let Some(value) = parameter_value(node, names, &Diagnostics::new()) else { continue };
        if value.kind() != plain.kind() {
            let (mix, name) = (&mix.name.value, &name.value);
            let message = format!("mix `{mix}` changes parameter `{name}` from {} to {}", plain.kind(), value.kind());
            let help = format!("give it a value of the same kind as under `parameters`: {name}: {}", written(plain));
            diagnostics.warn(node.span, message, help);
        }
    }
}

/// The value of an expression that may use the parameters in `names`, but not draw.
pub fn parameter_value(node: &Node, names: &Names, diagnostics: &Diagnostics) -> Option<Value> {
    let expression = resolve(node, &mut Scope::new(names, diagnostics, "parameters"))?;
    if expression.any(&|part| matches!(part, Expression::Generate(_))) {
        let help = "use constants and parameters; call generators in `fields` or `arguments`";
        let message = "a generator cannot be used here: this value is computed once, before there is any data";
        return diagnostics.reject(node.span, message, help);
    }
    // Empty data, as it may only use parameters.
    let data = Arc::new(Data::new(Seed::new(0), DataClock::default(), Arc::new([])));
    let value = expression.evaluate(&mut Frame::new(&data, Seed::new(0), 0, 0));
    let help = "it is computed once, before the run, from the parameters above";
    value.and_then(Value::check_depth).map_err(|error| diagnostics.error(node.span, error.to_string(), help)).ok()
}

/// The value of `--set name=text`, which must be of the kind that the parameter has.
pub fn set_value(name: &str, text: &str, plain: &Value) -> Result<Value, ChoiceError> {
    let wrong = |expected| ChoiceError::Value {
        name: name.to_owned(),
        value: text.to_owned(),
        expected,
        example: crate::plan::written(plain),
    };
    match plain {
        Value::Int(_) => text.parse().map(Value::Int).map_err(|_| wrong("an int")),
        Value::Double(_) => {
            text.parse().ok().filter(|d: &f64| d.is_finite()).map(Value::Double).ok_or_else(|| wrong("a number"))
        }
        Value::Bool(_) => text.parse().map(Value::Bool).map_err(|_| wrong("true or false")),
        Value::Text(_) => Ok(Value::text(text)),
        _ => Err(wrong("no value, since it is computed from other parameters")),
    }
}

/// The names that a strategy sees: its own parameters come on top.
pub fn with_parameters(names: &Names, strategy: &scenario::StrategyDefinition, diagnostics: &Diagnostics) -> Names {
    let mut own = names.clone();
    for (name, node) in &strategy.parameters {
        if let Some(value) = parameter_value(node, &own, diagnostics) {
            own.set_parameter(&name.value, value);
        }
    }
    own
}
