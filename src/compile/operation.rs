//! Operations and mixes as written to [`Operation`]s and weights.

use std::sync::Arc;

use crate::plan::operation::EarlierCalls;
use crate::plan::{Argument, Expression, Mix, Operation, Shape, Value, written};
use crate::scenario::{Diagnostics, MixDefinition, OperationDefinition, Scenario};

use super::parameter::parameter_value;
use super::parts::{all, optional};
use super::resolve::{resolve, resolve_records};
use super::scope::{Names, Origin, Scope};
use super::shape::compile_shape;

/// The operations in order; each sees the calls of those before it.
pub fn compile_operations(
    scenario: &Scenario,
    mix: &Arc<Mix>,
    names: &mut Names,
    diagnostics: &Diagnostics,
) -> Vec<Operation> {
    let mut made = Vec::new();
    for (position, operation) in scenario.operations.iter().enumerate() {
        match compile_operation(operation, names, diagnostics) {
            Some(operation) => {
                names.earlier.push(Arc::new(EarlierCalls::new(position, &operation, mix)));
                made.push(operation);
            }
            None => names.broken_operations.push(operation.name.value.clone()),
        }
    }
    made
}

fn compile_operation(operation: &OperationDefinition, names: &Names, diagnostics: &Diagnostics) -> Option<Operation> {
    let (arguments, mut scope) = compile_arguments(operation, names, diagnostics);
    let returns = optional(operation.returns.as_ref().map(|node| compile_shape(node, names, diagnostics)))?;
    if operation.does.is_empty()
        && !operation.does_is_broken
        && returns.as_ref().is_some_and(|shape: &Shape| shape.within().is_some())
    {
        let message =
            format!("`was` needs the earlier answers of the model, and `{}` has no `does`", operation.name.value);
        let help = "add what it does, or use the type `opaque`, of which only whether there is a result is compared";
        return diagnostics.reject(operation.name.span, message, help);
    }
    scope.relabel(format!("{}.serial", operation.name.value));
    let serial = optional(operation.serial.as_ref().map(|serial| resolve(serial, &mut scope)))?;
    let name = Arc::from(operation.name.value.as_str());
    Some(Operation { name, arguments: arguments?.into(), returns, serial, is_job: operation.is_job })
}

fn compile_arguments<'n>(
    operation: &OperationDefinition,
    names: &'n Names,
    diagnostics: &'n Diagnostics,
) -> (Option<Vec<Argument>>, Scope<'n>) {
    let mut scope = Scope::new(names, diagnostics, "");
    scope.is_broken = operation.is_broken;
    let mut arguments = Vec::new();
    for (name, node) in &operation.arguments {
        scope.relabel(format!("{}.{}", operation.name.value, name.value));
        let (value, entity) = resolve_records(node, &mut scope);
        if name.value == "reply" {
            let message = "the name `reply` is reserved for the reply to the previous command";
            diagnostics.error(name.span, message, "choose another name");
        }
        let slot = scope.assign(&name.value, Origin::Argument, entity);
        if matches!(&value, Some(Expression::Generate(call)) if call.generator.name == "new") {
            scope.slot_mut(slot).is_new = true;
        }
        arguments.push(value.map(|value| Argument { name: Arc::from(name.value.as_str()), slot, value }));
    }
    (arguments.into_iter().collect(), scope)
}

/// The scope of an operation's steps, without reporting the problems of its arguments again.
pub fn step_scope<'n>(operation: &OperationDefinition, names: &'n Names, diagnostics: &'n Diagnostics) -> Scope<'n> {
    let label = format!("{}.steps", operation.name.value);
    compile_arguments(operation, names, &Diagnostics::new()).1.moved(names, diagnostics, label)
}

/// The weights of a mix, by operation.
pub fn compile_mix(mix: &MixDefinition, names: &Names, diagnostics: &Diagnostics) -> Option<Vec<f64>> {
    let mut weights = vec![0.0; names.operations.len()];
    let place = format!(" in mix `{}`", mix.name.value);
    let known: Option<Vec<()>> = all(mix.weights.iter().map(|(operation, weight)| {
        diagnostics.is_known("operation", operation, &place, names.operation_names());
        let position = names.operation_names().position(|name| name == operation.value)?;
        weights[position] = match parameter_value(weight, names, diagnostics)? {
            Value::Int(number) if number >= 0 => number as f64,
            Value::Double(number) if number >= 0.0 && number.is_finite() => number,
            other => {
                let (name, found) = (&operation.value, written(&other));
                let message = format!("expected a number >= 0 as the weight of `{name}`, found {found}");
                return diagnostics.reject(weight.span, message, "for example 30");
            }
        };
        Some(())
    }));
    known?;
    if weights.iter().all(|weight| *weight == 0.0) {
        let message = format!("all weights of mix `{}` are zero", mix.name.value);
        return diagnostics.reject(mix.name.span, message, "give at least one operation a weight above 0");
    }
    Some(weights)
}
