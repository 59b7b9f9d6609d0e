//! What is read with a record: its children, its parent, and records that it refers to.

use bson::{Bson, Document};

use crate::infer::layout::{EntityPlace, Layout};

use super::access::{KEY, Named, entity, inside, named, parent, root};
use super::text::{mapping, name, names};

/// An entry of `with`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct With {
    pub(super) relation: String,
    /// None is all.
    pub(super) fields: Option<Vec<String>>,
    /// `where`, `sort`, `reverse` and `limit`.
    pub(super) entries: Vec<(String, String)>,
    pub(super) with: Vec<With>,
}

impl With {
    pub(super) fn all(relation: &str) -> With {
        With { relation: relation.to_owned(), fields: None, entries: Vec::new(), with: Vec::new() }
    }

    fn text(&self) -> String {
        let is_plain = self.entries.is_empty() && self.with.is_empty();
        match &self.fields {
            Some(fields) if is_plain => names(fields),
            None if is_plain => String::new(),
            fields => {
                let fields = fields.iter().map(|fields| ("fields".to_owned(), names(fields)));
                let with = (!self.with.is_empty()).then(|| ("with".to_owned(), text(&self.with)));
                mapping(fields.chain(self.entries.clone()).chain(with))
            }
        }
    }
}

/// The mapping of `with`.
pub(super) fn text(all: &[With]) -> String {
    mapping(all.iter().map(|with| (name(&with.relation), with.text())))
}

/// The fields that a projection keeps, and the children inside.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct KeptFields {
    /// None is all.
    pub(super) fields: Option<Vec<String>>,
    pub(super) with: Vec<With>,
}

/// All children that are inside of a record, and theirs.
pub(super) fn all_inside(layout: &Layout, owner: &EntityPlace) -> Vec<With> {
    let with = |child: &&EntityPlace| {
        let relation = child.parent.as_ref().map(|parent| parent.relation.as_str()).unwrap_or_default();
        With { with: all_inside(layout, child), ..With::all(relation) }
    };
    inside(layout, owner).iter().map(with).collect()
}

/// What a projection keeps of the records of an entity.
pub(super) fn selection(layout: &Layout, owner: &EntityPlace, projection: &Document) -> KeptFields {
    let has = |value: &Bson| !matches!(value, Bson::Int32(0) | Bson::Int64(0) | Bson::Boolean(false));
    let is_slice = |value: &Bson| value.as_document().is_some_and(|value| value.contains_key("$slice"));
    let includes = projection.iter().any(|(key, value)| key != KEY && has(value) && !is_slice(value));
    let mut selection = KeptFields { fields: None, with: all_inside(layout, owner) };
    let mut fields: Vec<String> = if includes { vec![KEY.to_owned()] } else { all_fields(owner) };
    if includes {
        selection.with.clear();
    }
    for (path, value) in projection {
        let Some(named) = named(layout, &owner.collection, path.trim_end_matches(".*")) else { continue };
        match (named, has(value)) {
            (Named::Array { child }, true) if is_slice(value) => {
                set_slice(&mut selection.with, child, value);
            }
            (Named::Array { child }, keeps) => {
                selection.with.retain(|with| Some(&with.relation) != relation(child));
                if keeps && parent(layout, child) == Some(owner) {
                    let with = With { with: all_inside(layout, child), ..With::all(relation_name(child)) };
                    selection.with.push(with);
                }
            }
            (Named::Field { entity, field, .. }, keeps) if entity == owner && field.copy_of.is_some() => {
                if let Some((reference, copied)) = field.copy_of.as_ref().filter(|_| keeps) {
                    add_fields(&mut selection.with, reference, copied);
                }
            }
            (Named::Field { entity, field, .. }, keeps) if entity == owner => {
                set(&mut fields, &field.field, keeps);
            }
            (Named::Parent { entity }, keeps) if entity == owner => {
                set(&mut fields, &relation_to_parent(entity), keeps);
            }
            (Named::Field { entity, field, .. }, true) if parent(layout, entity) == Some(owner) => {
                add_fields(&mut selection.with, relation_name(entity), &field.field);
            }
            _ => {}
        }
    }
    let is_all = !includes && fields.len() == all_fields(owner).len();
    selection.fields = (!is_all).then_some(fields);
    selection
}

fn all_fields(owner: &EntityPlace) -> Vec<String> {
    owner.fields.iter().filter(|field| field.copy_of.is_none()).map(|field| field.field.clone()).collect()
}

fn set(fields: &mut Vec<String>, field: &str, keeps: bool) {
    fields.retain(|kept| kept != field);
    if keeps {
        if field == KEY { fields.insert(0, field.to_owned()) } else { fields.push(field.to_owned()) }
    }
}

fn add_fields(with: &mut Vec<With>, relation: &str, field: &str) {
    if let Some(known) = with.iter_mut().find(|with| with.relation == relation) {
        known.fields.get_or_insert_default().push(field.to_owned());
    } else {
        with.push(With { fields: Some(vec![field.to_owned()]), ..With::all(relation) });
    }
}

fn set_slice(with: &mut [With], child: &EntityPlace, value: &Bson) {
    let slice = value.as_document().and_then(|value| value.get("$slice"));
    let n = super::statement::number(slice);
    let Some(with) = with.iter_mut().find(|with| Some(&with.relation) == relation(child)).filter(|_| n != 0) else {
        return;
    };
    if n < 0 {
        with.entries.push(("reverse".to_owned(), "true".to_owned()));
    }
    with.entries.push(("limit".to_owned(), n.unsigned_abs().to_string()));
}

fn relation(child: &EntityPlace) -> Option<&String> {
    child.parent.as_ref().map(|parent| &parent.relation)
}

/// The name of the relation from the parent to these children.
pub(super) fn relation_name(child: &EntityPlace) -> &str {
    relation(child).map(String::as_str).unwrap_or_default()
}

/// The name of the relation from a child to its parent: that of the parent's entity.
pub(super) fn relation_to_parent(child: &EntityPlace) -> String {
    child.parent.as_ref().map(|parent| parent.entity.clone()).unwrap_or_default()
}

/// The relation that a path in the records of `from` is, and the entity on its other end; also from children inside of it.
pub(super) fn along<'l>(layout: &'l Layout, from: &EntityPlace, path: &str) -> Option<(With, &'l EntityPlace)> {
    let (owner, with, target) = match named(layout, &from.collection, path)? {
        Named::Parent { entity: owner } => {
            let target = parent(layout, owner)?;
            (owner, With::all(&target.entity), target)
        }
        Named::Field { entity: owner, field, below: false } => {
            (owner, With::all(&field.field), entity(layout, field.refers.as_ref()?)?)
        }
        Named::Children { child } => (parent(layout, child)?, With::all(relation_name(child)), child),
        Named::Field { .. } | Named::Array { .. } => return None,
    };
    if owner == from {
        return Some((with, target));
    }
    let is_child = parent(layout, owner) == Some(from) && owner.array.is_some();
    is_child.then(|| (With { with: vec![with], ..With::all(relation_name(owner)) }, target))
}

/// Names all fields of single records that are read with each row.
pub(super) fn name_fields(layout: &Layout, of: &EntityPlace, is_row: bool, all: &mut [With]) {
    for with in all {
        let child = layout.entities.iter().find(|child| {
            child.parent.as_ref().is_some_and(|parent| parent.entity == of.entity && parent.relation == with.relation)
        });
        if let Some(child) = child {
            name_fields(layout, child, true, &mut with.with);
            continue;
        }
        let refers =
            of.fields.iter().find(|field| field.field == with.relation).and_then(|field| field.refers.as_ref());
        let Some(target) = entity(layout, refers.unwrap_or(&with.relation)) else { continue };
        if is_row && with.fields.is_none() {
            with.fields = Some(all_fields(target));
        }
        name_fields(layout, target, is_row, &mut with.with);
    }
}

/// All relations from a record, or from children inside of it, to an entity.
pub(super) fn relations_to<'l>(layout: &'l Layout, from: &'l EntityPlace, target: &EntityPlace) -> Vec<With> {
    let mut found = Vec::new();
    for owner in [from].into_iter().chain(inside(layout, from)) {
        let mut of_owner: Vec<With> = owner
            .fields
            .iter()
            .filter(|field| field.refers.as_ref() == Some(&target.entity))
            .map(|field| With::all(&field.field))
            .collect();
        if owner.array.is_none() && parent(layout, owner) == Some(target) {
            of_owner.push(With::all(&target.entity));
        }
        if owner == from {
            found.extend(of_owner);
        } else {
            found.extend(of_owner.into_iter().map(|with| With { with: vec![with], ..With::all(relation_name(owner)) }));
        }
    }
    found
}

/// Adds an entry: one inside of children joins the entry of these.
pub(super) fn add(all: &mut Vec<With>, with: With) {
    match all.iter_mut().find(|known| known.relation == with.relation) {
        Some(known) => with.with.into_iter().for_each(|inner| add(&mut known.with, inner)),
        None => all.push(with),
    }
}

/// The innermost entry.
pub(super) fn innermost(with: &mut With) -> &mut With {
    if with.with.is_empty() { with } else { innermost(&mut with.with[0]) }
}

/// What a `$lookup` adds to each record.
#[derive(Debug)]
pub(super) struct Lookup<'l> {
    /// The name of its result.
    pub(super) result: String,
    pub(super) target: &'l EntityPlace,
    pub(super) with: With,
}

/// What a `$lookup` adds to the records of an entity.
///
/// # Errors
/// What of it is no relation.
pub(super) fn lookup<'l>(layout: &'l Layout, from: &'l EntityPlace, body: &Document) -> Result<Lookup<'l>, String> {
    let text = |key: &str| body.get_str(key).ok();
    let refused = || "$lookup along no relation".to_owned();
    let (Some(collection), Some(local), Some(foreign), Some(result)) =
        (text("from"), text("localField"), text("foreignField"), text("as"))
    else {
        return Err("$lookup with a pipeline alone".to_owned());
    };
    if body.get_array("pipeline").is_ok_and(|stages| !stages.is_empty()) {
        return Err("$lookup with a pipeline".to_owned());
    }
    let target = root(layout, collection).ok_or_else(refused)?;
    let with = match named(layout, collection, foreign).ok_or_else(refused)? {
        Named::Field { field, .. } if field.field == KEY => {
            let (with, found) = along(layout, from, local).ok_or_else(refused)?;
            if found != target {
                return Err(refused());
            }
            with
        }
        Named::Parent { entity: child } if local == KEY && parent(layout, child) == Some(from) => {
            With { with: all_inside(layout, child), ..With::all(relation_name(child)) }
        }
        _ => return Err(refused()),
    };
    Ok(Lookup { result: result.to_owned(), target, with })
}
