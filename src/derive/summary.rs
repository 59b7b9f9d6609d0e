//! What a shape stores about many records: their number, sums, the newest, and buckets that are full.

use crate::scenario::Node;

use super::model::Model;
use super::refusal::{Derived, refuse_shape};
use super::shape::{ModelShape, Word};

impl ModelShape {
    /// The field with the number of records of the many side.
    pub fn counter(&self, model: &Model, relation: usize) -> Option<String> {
        self.arguments(relation, "counted").map(|_| format!("{}_count", model.relations[relation].down()))
    }

    /// The fields whose sums the one side has.
    pub fn sums(&self, relation: usize) -> &[String] {
        self.arguments(relation, "sum").unwrap_or_default()
    }

    /// How many records the one side has, and the field with them.
    pub fn newest(&self, model: &Model, relation: usize) -> Option<(&str, String)> {
        let [most] = self.arguments(relation, "newest")? else { return None };
        Some((most, format!("newest_{}", model.relations[relation].down())))
    }

    /// Whether nothing but numbers of the one side follows a record of the many side, whatever the order of changes.
    pub fn commutes(&self, model: &Model, relation: usize) -> bool {
        self.is_ordered && self.word(relation) == Word::Reference && self.newest(model, relation).is_none()
    }

    /// The audits of numbers that are behind their records for a moment, and of copies that are behind their source.
    pub fn behind(&self, model: &Model) -> Vec<String> {
        let of_relation = |relation: usize| {
            let (down, one) = (model.relations[relation].down(), model.name(model.relations[relation].one));
            let sums = self.sums(relation).iter().map(move |field| sum_of(down, field));
            let fields: Vec<String> = self.counter(model, relation).into_iter().chain(sums).collect();
            fields.into_iter().map(move |field| format!("{one}_{field}_differs"))
        };
        let copies = self.copies(model).into_iter().filter(|copies| self.is_versioned(model, copies.relation));
        let numbers = (0..model.relations.len()).filter(|relation| self.commutes(model, *relation));
        numbers.flat_map(of_relation).chain(copies.map(|copies| copies.audit(model))).collect()
    }

    /// Whether the one side has to be written when a record of the many side comes or goes.
    pub fn has_totals(&self, relation: usize) -> bool {
        ["counted", "sum", "newest"].iter().any(|word| self.arguments(relation, word).is_some())
    }
}

/// The field with the sum of a field of the many side.
pub(super) fn sum_of(down: &str, field: &str) -> String {
    format!("{down}_{field}")
}

/// The field of a source with the number of its changes.
pub(super) const VERSION: &str = "version";

/// The field beside copies with the version of their source.
pub(super) fn version_of(up: &str) -> String {
    format!("{up}_{VERSION}")
}

/// Refuses copies that cannot follow by a version.
pub(super) fn check_versions(model: &Model, shape: &ModelShape) -> Derived<()> {
    for copies in shape.copies(model).iter().filter(|_| shape.has_versions) {
        let is_changed = model.is_changed(copies.source, &copies.fields);
        if is_changed && !(copies.path.is_empty() && copies.source == model.relations[copies.relation].one) {
            let key = model.key(copies.relation);
            let place = if copies.path.is_empty() { "pairs" } else { "arrays" };
            let message = format!("`writes: versions` of copies in {place}: `{key}`");
            let help = "try `writes: transaction`, or copies by `reference(...)` in documents of their own";
            return refuse_shape(copies.relation, message, "not derived", help);
        }
    }
    Ok(())
}

/// Refuses totals that a shape or an operation cannot keep.
pub(super) fn check_totals(model: &Model, shape: &ModelShape) -> Derived<()> {
    for (relation, this) in model.relations.iter().enumerate() {
        let (key, many) = (model.key(relation), model.name(this.many));
        if !shape.has_totals(relation) {
            continue;
        }
        if !shape.home(model, this.one).1.is_empty() {
            let message = format!("`{key}` has counters, sums or newest records in a record that is in an array");
            return refuse_shape(relation, message, "not derived", "try `reference` for the relation above it");
        }
        if shape.newest(model, relation).is_none() {
            continue;
        }
        let entity = model.entity(this.many);
        let sort: Vec<String> = entity
            .sort
            .as_ref()
            .and_then(Node::as_mapping)
            .unwrap_or_default()
            .iter()
            .map(|(field, _)| field.value.clone())
            .collect();
        if !sort.iter().any(|field| field == "_id") {
            let message = format!("`{key}: newest` of records without a total order");
            let help = format!("give `{many}` a `sort` that ends with `_id`");
            return refuse_shape(relation, message, "which are the newest?", &help);
        }
    }
    Ok(())
}

/// Refuses buckets of records that have no order of arrival, or have others inside.
pub(super) fn check_buckets(model: &Model, shape: &ModelShape) -> Derived<()> {
    for (relation, this) in model.relations.iter().enumerate() {
        if shape.word(relation) != Word::Bucket {
            continue;
        }
        let (key, many) = (model.key(relation), model.name(this.many));
        if !model.entity(this.many).arrives_sorted {
            let message = format!("`{key}: bucket` of records that do not arrive in their order");
            let help = format!("say `arrives_sorted: true` of `{many}` if they do, or try `embed`");
            return refuse_shape(relation, message, "a bucket keeps the order of arrival", &help);
        }
        if let Some(name) = [this.up(), this.down()].iter().find(|name| ["page", "count"].contains(name)) {
            let message = format!("`{key}: bucket` needs a field `{name}` of its own in every bucket");
            return refuse_shape(relation, message, "two fields of one name", "rename the entity or its list");
        }
        if model.children_of(this.many).next().is_some() || !shape.home(model, this.one).1.is_empty() {
            let message = format!("`{key}: bucket` of records inside of others, or with others");
            return refuse_shape(relation, message, "not derived", "try `embed` or `reference`");
        }
    }
    Ok(())
}
