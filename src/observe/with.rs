//! What is read of a record, and with it: its children, its parent, and records that it refers to.

use crate::infer::layout::{EntityPlace, Layout};

use super::access::{KEY, Named, entity, inside, named, parent, relation_name, root};
use super::shape::{LookupStage, Projected, StatementShape};
use super::text::{mapping, name, names};

/// A key of a step and its value as YAML.
pub(super) type StepEntry = (&'static str, String);

/// Records that a step reads, or that come with those.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct With {
    /// The subject of a step, or the relation.
    pub(super) name: String,
    /// `by`, `where`, `sort`, `limit` and others.
    pub(super) entries: Vec<StepEntry>,
    /// None is all.
    pub(super) fields: Option<Vec<String>>,
    pub(super) with: Vec<With>,
}

impl With {
    /// All of a relation.
    pub(super) fn all(relation: &str) -> With {
        With { name: relation.to_owned(), ..With::default() }
    }

    /// All entries.
    pub(super) fn entries(&self) -> impl Iterator<Item = StepEntry> {
        let inner = |with: &With| (name(&with.name), with.text());
        let fields = self.fields.iter().map(|fields| ("fields", names(fields)));
        let with = (!self.with.is_empty()).then(|| ("with", mapping(self.with.iter().map(inner))));
        self.entries.clone().into_iter().chain(fields).chain(with)
    }

    fn text(&self) -> String {
        match &self.fields {
            Some(fields) if self.entries.is_empty() && self.with.is_empty() => names(fields),
            None if self.entries.is_empty() && self.with.is_empty() => String::new(),
            _ => mapping(self.entries()),
        }
    }
}

/// Adds an entry: one inside of children joins the entry of these.
pub(super) fn add(all: &mut Vec<With>, with: With) {
    match all.iter_mut().find(|known| known.name == with.name) {
        Some(known) => with.with.into_iter().for_each(|inner| add(&mut known.with, inner)),
        None => all.push(with),
    }
}

/// The innermost entry.
pub(super) fn innermost(with: &mut With) -> &mut With {
    if with.with.is_empty() { with } else { innermost(&mut with.with[0]) }
}

/// All children that are inside of a record, and theirs.
fn all_inside(layout: &Layout, owner: &EntityPlace) -> Vec<With> {
    let with = |child: &&EntityPlace| With { with: all_inside(layout, child), ..With::all(relation_name(child)) };
    inside(layout, owner).iter().map(with).collect()
}

fn all_fields(owner: &EntityPlace) -> Vec<String> {
    owner.fields.iter().filter(|field| field.copy_of.is_none()).map(|field| field.field.clone()).collect()
}

/// What a projection keeps of the records of an entity: fields, and children inside.
pub(super) fn selection(layout: &Layout, owner: &EntityPlace, shape: &StatementShape) -> With {
    let names_fields = shape.projection.iter().any(|(path, how)| path != KEY && *how == Projected::In);
    let mut kept = if names_fields {
        With { fields: Some(vec![KEY.to_owned()]), ..With::default() }
    } else {
        With { fields: Some(all_fields(owner)), with: all_inside(layout, owner), ..With::default() }
    };
    for (reference, copied) in owner.copies.iter().filter_map(|copy| copy.copy_of.as_ref()).filter(|_| !names_fields) {
        kept.add_field_of(reference, copied);
    }
    for (path, how) in &shape.projection {
        let is_in = *how != Projected::Out;
        match (named(layout, &owner.collection, path), how) {
            (Some(Named::Array { child }), Projected::Slice(items)) => kept.slice(relation_name(child), *items),
            (Some(Named::Array { child }), _) => {
                kept.with.retain(|with| with.name != relation_name(child));
                if is_in && parent(layout, child) == Some(owner) {
                    kept.with.push(With { with: all_inside(layout, child), ..With::all(relation_name(child)) });
                }
            }
            (Some(Named::Field { entity, field, .. }), _) if entity == owner && field.copy_of.is_some() => {
                if let Some((reference, copied)) = field.copy_of.as_ref().filter(|_| is_in) {
                    kept.add_field_of(reference, copied);
                }
            }
            (Some(known @ (Named::Field { entity, .. } | Named::Parent { entity })), _) if entity == owner => {
                kept.set_field(known.name(), is_in);
            }
            (Some(Named::Field { entity, field, .. }), _) if is_in && parent(layout, entity) == Some(owner) => {
                kept.add_field_of(relation_name(entity), &field.field);
            }
            _ => {}
        }
    }
    // The same number of fields as there are is all of them.
    kept.fields = kept.fields.filter(|fields| names_fields || fields.len() != all_fields(owner).len());
    kept
}

impl With {
    fn set_field(&mut self, field: &str, is_in: bool) {
        let fields = self.fields.get_or_insert_default();
        fields.retain(|kept| kept != field);
        if is_in {
            let at = if field == KEY { 0 } else { fields.len() };
            fields.insert(at, field.to_owned());
        }
    }

    fn add_field_of(&mut self, relation: &str, field: &str) {
        if !self.with.iter().any(|with| with.name == relation) {
            self.with.push(With::all(relation));
        }
        for with in self.with.iter_mut().filter(|with| with.name == relation) {
            with.fields.get_or_insert_default().push(field.to_owned());
        }
    }

    fn slice(&mut self, relation: &str, items: i64) {
        for with in self.with.iter_mut().filter(|with| with.name == relation && items != 0) {
            with.entries.extend((items < 0).then(|| ("reverse", "true".to_owned())));
            with.entries.push(("limit", items.unsigned_abs().to_string()));
        }
    }
}

/// Another entity, as a record knows it.
struct RelatedEntity<'l> {
    relation: &'l str,
    target: &'l EntityPlace,
    is_child: bool,
}

/// The relations of a record: to its parent, its children, and what its fields refer to.
fn relations<'l>(layout: &'l Layout, owner: &'l EntityPlace) -> impl Iterator<Item = RelatedEntity<'l>> {
    let related = |relation, target, is_child| RelatedEntity { relation, target, is_child };
    let is_child = |child: &&EntityPlace| child.parent.as_ref().is_some_and(|parent| parent.entity == owner.entity);
    let children = layout.entities.iter().filter(is_child).map(move |child| related(relation_name(child), child, true));
    let refers = move |name: &'l str, target: &str| Some(related(name, entity(layout, target)?, false));
    let fields = owner.fields.iter().filter_map(move |field| refers(&field.field, field.refers.as_ref()?));
    let to_parent = owner.parent.iter().filter_map(move |parent| refers(&parent.entity, &parent.entity));
    children.chain(fields).chain(to_parent)
}

/// A relation of an owner as a record sees it that is the owner, or has it inside.
fn through(from: &EntityPlace, owner: &EntityPlace, with: With) -> With {
    if owner == from { with } else { With { with: vec![with], ..With::all(relation_name(owner)) } }
}

/// The relation from a record, or from children inside of it, to an entity that is no child.
pub(super) fn relation_to(layout: &Layout, from: &EntityPlace, target: &EntityPlace) -> Option<With> {
    [from].into_iter().chain(inside(layout, from)).find_map(|owner| {
        let is_target =
            |to: &RelatedEntity<'_>| !to.is_child && to.target == target && (owner == from || target != from);
        let found = relations(layout, owner).find(is_target)?;
        Some(through(from, owner, With::all(found.relation)))
    })
}

/// Names all fields of single records that are read with each row: the model asks for it.
pub(super) fn name_fields(layout: &Layout, of: &EntityPlace, is_row: bool, all: &mut [With]) {
    for with in all {
        let Some(to) = relations(layout, of).find(|to| to.relation == with.name) else { continue };
        if is_row && !to.is_child && with.fields.is_none() {
            with.fields = Some(all_fields(to.target));
        }
        name_fields(layout, to.target, is_row || to.is_child, &mut with.with);
    }
}

/// What a `$lookup` adds to the records of an entity, or why it is no relation.
pub(super) fn lookup(
    layout: &Layout,
    from: &EntityPlace,
    stage: &LookupStage,
    shape: &StatementShape,
) -> Result<With, String> {
    let mut with = looked_up(layout, from, stage).ok_or("$lookup along no relation")?;
    let kept = |(path, _): &(String, Projected)| {
        let path = path.strip_prefix(&stage.result)?.strip_prefix('.')?;
        let Named::Field { field, .. } = named(layout, &stage.from, path)? else { return None };
        Some(field.field.clone())
    };
    let fields: Vec<String> = shape.projection.iter().filter_map(kept).collect();
    if !fields.is_empty() {
        innermost(&mut with).fields = Some(fields);
    }
    Ok(with)
}

fn looked_up(layout: &Layout, from: &EntityPlace, stage: &LookupStage) -> Option<With> {
    let target = root(layout, &stage.from)?;
    match named(layout, &stage.from, &stage.foreign)? {
        Named::Field { field, .. } if field.field == KEY => {
            let local = named(layout, &from.collection, &stage.local)?;
            let owner = local.owner(layout)?;
            let is_near = owner == from || (owner.array.is_some() && parent(layout, owner) == Some(from));
            let is_relation = is_near && local.target(layout) == Some(target);
            is_relation.then(|| through(from, owner, With::all(local.name())))
        }
        Named::Parent { entity: child } if stage.local == KEY && parent(layout, child) == Some(from) => {
            Some(With { with: all_inside(layout, child), ..With::all(relation_name(child)) })
        }
        _ => None,
    }
}
