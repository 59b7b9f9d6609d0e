//! Entities as written to [`Data`] that can make any record.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use crate::generate::Seed;
use crate::plan::data::Field;

use crate::plan::{Data, DataClock, DataFile, Entity, Expression, RowField};
use crate::scenario::{self, Diagnostics, Node, Scenario, Spanned};

use super::parts::all;
use super::resolve::{entity_of, resolve, resolve_field};
use super::scope::{EntityNames, Names, Origin, Scope};

pub fn entity_names(scenario: &Scenario, diagnostics: &Diagnostics) -> Vec<EntityNames> {
    let known: Vec<&str> = scenario.entities.iter().map(|entity| entity.name.value.as_str()).collect();
    let mut made: Vec<EntityNames> = Vec::new();
    let mut children: Vec<(usize, (String, usize))> = Vec::new();
    for (position, entity) in scenario.entities.iter().enumerate() {
        let name = &entity.name.value;
        let owner =
            entity.parent.as_ref().filter(|parent| diagnostics.is_known("entity", parent, "", known.iter().copied()));
        let parent = owner.and_then(|parent| {
            let owner = known.iter().position(|known| *known == parent.value)?;
            // A wrong owner has the list, too, so that uses of the list are not reported.
            children.extend(entity.children_name.as_ref().map(|list| (owner, (list.value.clone(), position))));
            if owner == position {
                let message = format!("`{name}` cannot own itself");
                diagnostics.error(parent.span, message, "`of` takes an entity defined above");
            } else if owner > position {
                let message = format!("`{}` must be defined before `{name}`, which it owns", parent.value);
                diagnostics.error(parent.span, message, format!("move `{}` above `{name}`", parent.value));
            }
            (owner < position).then_some(owner)
        });
        let fields = entity.helpers.iter().chain(&entity.fields).map(|(name, _)| (name.value.clone(), None)).collect();
        made.push(EntityNames { name: name.clone(), fields, row: row(entity), parent, children: Vec::new() });
    }
    for (owner, list) in children {
        made[owner].children.push(list);
    }
    made
}

/// Compiles the entities and counts their records.
pub fn compile_data(scenario: &Scenario, names: &mut Names, seed: u64, diagnostics: &Diagnostics) -> Option<Arc<Data>> {
    let compiled = scenario.entities.iter().enumerate();
    let mut entities: Vec<Entity> =
        all(compiled.map(|(position, entity)| compile_entity(position, entity, &scenario.folder, names, diagnostics)))?;
    for (entity, of) in entities.iter_mut().zip(&names.entities) {
        entity.children = of.children.iter().map(|(name, child)| (Arc::from(name.as_str()), *child)).collect();
    }
    let clock =
        DataClock { first_call: scenario.clock.starts_now.then(command_start), step: i64::from(scenario.clock.step) };
    let data = Arc::new(Data::new(Seed::new(seed), clock, entities.into()));
    for (position, entity) in scenario.entities.iter().enumerate() {
        if let Err(error) = data.measure(position) {
            let help = "for example `count: 200`, or a parameter; with `of`, the count applies to each parent";
            return diagnostics.reject(entity.count.span, error.to_string(), help);
        }
    }
    Some(data)
}

/// The time of day at the first use, in milliseconds since the epoch: the same for all plans of this process, so that all
/// strategies and rounds get the same calls.
fn command_start() -> i64 {
    static START: LazyLock<i64> = LazyLock::new(|| bson::DateTime::now().timestamp_millis());
    *START
}

fn compile_entity(
    position: usize,
    entity: &scenario::EntityDefinition,
    folder: &Path,
    names: &mut Names,
    diagnostics: &Diagnostics,
) -> Option<Entity> {
    let parent = names.entities[position].parent;
    let mut targets = Vec::new();
    let (count, fields) = {
        let mut scope = Scope::new(names, diagnostics, format!("{}.count", entity.name.value));
        scope.assign("index", Origin::Argument, None);
        scope.assign("number", Origin::Argument, None);
        let parent_name = parent.map_or(String::new(), |parent| names.entities[parent].name.clone());
        // Pushed, since a parent named `index` must not take that slot.
        scope.push(&parent_name, Origin::Argument, parent);
        let count = resolve(&entity.count, &mut scope);
        let mut fields = Vec::new();
        for (name, value) in entity.helpers.iter().chain(&entity.fields) {
            let value = value.as_set().unwrap_or(value);
            scope.relabel(format!("{}.{}", entity.name.value, name.value));
            let value = resolve_field(value, &mut scope);
            let target = value.as_ref().and_then(|value| entity_of(value, &scope));
            let alone = value.as_ref().is_some_and(|value| !uses_fields(value));
            targets.push(target);
            scope.push(&name.value, Origin::Argument, target);
            fields.push(value.map(|value| Field { name: Arc::from(name.value.as_str()), value, alone }));
        }
        (count, fields.into_iter().collect::<Option<Vec<_>>>())
    };
    for (field, target) in names.entities[position].fields.iter_mut().zip(targets) {
        field.1 = target;
    }
    let name = Arc::from(entity.name.value.as_str());
    let (helpers, row) = (entity.helpers.len(), row(entity));
    let lines = match &entity.from {
        Some(from) => Some(load(folder, from, diagnostics)?),
        None => None,
    };
    Some(Entity { name, parent, children: Vec::new(), count: count?, fields: fields?, helpers, row, lines })
}

fn load(folder: &Path, from: &Spanned<String>, diagnostics: &Diagnostics) -> Option<Arc<DataFile>> {
    let help = "`from` names a file with a document of Extended JSON on each line, by its path from the folder of the scenario; \
                with a copy of the scenario, copy it, too";
    DataFile::load(folder, &from.value).map_err(|why| diagnostics.error(from.span, why, help)).ok()
}

fn row(entity: &scenario::EntityDefinition) -> Vec<RowField> {
    let field = |(name, value): &(Spanned<String>, Node)| RowField {
        name: Arc::from(name.value.as_str()),
        is_set: value.as_set().is_some(),
    };
    entity.fields.iter().map(field).collect()
}

/// Whether an expression reads a slot of another field.
fn uses_fields(expression: &Expression) -> bool {
    expression.any(&|part| matches!(part, Expression::Slot(slot) if *slot >= crate::plan::data::FIELD_SLOTS))
}
