//! Entities as written to [`Data`] that can make any record.

use std::sync::Arc;

use crate::generate::Seed;
use crate::scenario::{self, Diagnostics, Scenario, nearest};

use super::resolve::{entity_of, resolve};
use super::scope::{EntityNames, Names, Origin, Scope};
use crate::plan::{Data, Entity, Expression, data::Field};

pub fn entity_names(scenario: &Scenario, diagnostics: &mut Diagnostics) -> Vec<EntityNames> {
    let find = |name: &str| scenario.entities.iter().position(|entity| entity.name.value == name);
    let known: Vec<&str> = scenario.entities.iter().map(|entity| entity.name.value.as_str()).collect();
    let mut made: Vec<EntityNames> = Vec::new();
    let mut children: Vec<(usize, (String, usize))> = Vec::new();
    for (position, entity) in scenario.entities.iter().enumerate() {
        let parent = entity.parent.as_ref().and_then(|parent| match find(&parent.value) {
            Some(owner) if owner < position => Some(owner),
            Some(owner) if owner == position => {
                children.extend(entity.children_name.as_ref().map(|list| (owner, (list.value.clone(), position))));
                let message = format!("`{}` cannot own itself", entity.name.value);
                diagnostics.error(parent.span, message, "`of` takes an entity defined above");
                None
            }
            Some(owner) => {
                // So that uses of the list are not errors too.
                children.extend(entity.children_name.as_ref().map(|list| (owner, (list.value.clone(), position))));
                diagnostics.error(
                    parent.span,
                    format!("`{}` must be defined before `{}`, which it owns", parent.value, entity.name.value),
                    format!("move `{}` above `{}`", parent.value, entity.name.value),
                );
                None
            }
            None => {
                let message = format!("unknown entity `{}`", parent.value);
                diagnostics.error(parent.span, message, nearest(&parent.value, &known));
                None
            }
        });
        let fields = entity.fields.iter().map(|field| (field.name.value.clone(), None)).collect();
        made.push(EntityNames { name: entity.name.value.clone(), fields, parent, children: Vec::new() });
        if let (Some(parent), Some(children)) = (parent, &entity.children_name) {
            made[parent].children.push((children.value.clone(), position));
        }
    }
    for (owner, list) in children {
        made[owner].children.push(list);
    }
    made
}

/// Compiles the entities and counts their records.
pub fn compile_data(
    scenario: &Scenario,
    names: &mut Names,
    seed: u64,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<Data>> {
    let mut entities = Vec::new();
    for (position, entity) in scenario.entities.iter().enumerate() {
        entities.push(compile_entity(position, entity, names, diagnostics));
    }
    let mut entities = entities.into_iter().collect::<Option<Vec<_>>>()?;
    for (entity, of) in entities.iter_mut().zip(&names.entities) {
        entity.children = of.children.iter().map(|(name, child)| (Arc::from(name.as_str()), *child)).collect();
    }
    let data = Arc::new(Data::new(Seed::new(seed), entities));
    for (position, entity) in scenario.entities.iter().enumerate() {
        if let Err(error) = data.measure(position) {
            diagnostics.error(
                entity.count.span,
                error.to_string(),
                "for example `count: 200`, or a parameter; with `of`, the count applies to each parent",
            );
            return None;
        }
    }
    Some(data)
}

fn compile_entity(
    position: usize,
    entity: &scenario::EntityDefinition,
    names: &mut Names,
    diagnostics: &mut Diagnostics,
) -> Option<Entity> {
    let parent = names.entities[position].parent;
    let mut targets = Vec::new();
    let (count, fields) = {
        let mut scope = Scope::new(names, format!("{}.count", entity.name.value));
        scope.assign("index", Origin::Argument, None);
        scope.assign("number", Origin::Argument, None);
        let parent_name = parent.map_or(String::new(), |parent| names.entities[parent].name.clone());
        // Pushed, since a parent named `index` must not take that slot.
        scope.push(&parent_name, Origin::Argument, parent);
        let count = resolve(&entity.count, &mut scope, diagnostics);
        let mut fields = Vec::new();
        for field in &entity.fields {
            scope.relabel(format!("{}.{}", entity.name.value, field.name.value));
            let value = resolve(&field.value, &mut scope, diagnostics);
            let target = value.as_ref().and_then(|value| entity_of(value, &scope));
            let alone = value.as_ref().is_some_and(|value| !uses_fields(value));
            targets.push(target);
            scope.push(&field.name.value, Origin::Argument, target);
            fields.push(value.map(|value| Field { name: Arc::from(field.name.value.as_str()), value, alone }));
        }
        (count, fields.into_iter().collect::<Option<Vec<_>>>())
    };
    for (field, target) in names.entities[position].fields.iter_mut().zip(targets) {
        field.1 = target;
    }
    Some(Entity::new(Arc::from(entity.name.value.as_str()), parent, count?, fields?))
}

/// Whether an expression reads a slot of another field.
fn uses_fields(expression: &Expression) -> bool {
    expression.any(&|part| matches!(part, Expression::Slot(slot) if *slot >= crate::plan::data::FIELD_SLOTS))
}
