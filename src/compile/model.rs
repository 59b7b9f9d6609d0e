//! What compiled entities and arguments tell about the logical model.

use std::sync::Arc;

use crate::derive::{ArgumentFacts, Facts};
use crate::plan::expression::EachKind;
use crate::plan::{Data, Expression, Mix};
use crate::scenario::{Diagnostics, Scenario};

use super::operation::{compile_operations, step_scope};
use super::resolve::REARRANGING;
use super::scope::Names;

/// Generators of lists of records.
const LISTS: [&str; 4] = ["all", "chain", "referrers", "sample"];

/// Generators of records that may not be loaded ones.
const UNLOADED: [&str; 3] = ["earlier", "known", "new"];

/// The facts of a scenario whose entities are compiled. Its problems are reported elsewhere.
pub fn facts(scenario: &Scenario, names: &Names, mix: &Arc<Mix>, data: Option<&Data>) -> Facts {
    let mut names = names.clone();
    let unheard = Diagnostics::new();
    let operations = compile_operations(scenario, mix, &mut names, &unheard);
    let references = references(scenario, &names, data);
    let arguments = scenario.operations.iter().map(|operation| {
        let scope = step_scope(operation, &names, &unheard);
        let compiled = operations.iter().find(|made| *made.name == *operation.name.value)?;
        let mut unloaded = Vec::new();
        let facts = operation.arguments.iter().filter_map(|(name, _)| {
            let variable = scope.variable(&name.value)?;
            let argument = compiled.arguments.iter().find(|argument| argument.slot == variable.slot)?;
            let is_loaded = !argument.value.any(&|part| match part {
                Expression::Generate(call) => UNLOADED.contains(&call.generator.name),
                Expression::Slot(slot) => unloaded.contains(slot),
                _ => false,
            });
            if !is_loaded {
                unloaded.push(variable.slot);
            }
            // What an earlier call had is of no certain entity: an argument may be named after it.
            let entity = variable.entity.or_else(|| names.entity(&name.value));
            Some(ArgumentFacts { name: name.value.clone(), entity, is_loaded, is_new: variable.is_new })
        });
        Some(facts.collect())
    });
    let arguments = arguments.collect();
    Facts { references, arguments }
}

/// By entity, the fields that refer to records of another entity, and whether they are lists.
pub fn references(scenario: &Scenario, names: &Names, data: Option<&Data>) -> Vec<Vec<(String, usize, bool)>> {
    let fields = names.entities.iter().enumerate().map(|(position, entity)| {
        let value = |field: &str| data?.entities[position].fields.iter().find(|one| *one.name == *field);
        let is_field = |name: &str| scenario.entities[position].fields.iter().any(|(field, _)| field.value == name);
        let target = |(name, target): &(String, Option<usize>)| {
            let is_list = value(name).is_some_and(|field| is_list(&field.value));
            target.filter(|_| is_field(name)).map(|target| (name.clone(), target, is_list))
        };
        entity.fields.iter().filter_map(target).collect()
    });
    fields.collect()
}

fn is_list(expression: &Expression) -> bool {
    match expression {
        Expression::Conditional(parts) => is_list(&parts[1]) || is_list(&parts[2]),
        Expression::Generate(call) => LISTS.contains(&call.generator.name),
        Expression::Call(function, _) => REARRANGING.contains(&function.name),
        Expression::Each(each) => each.kind == EachKind::Map,
        _ => false,
    }
}
