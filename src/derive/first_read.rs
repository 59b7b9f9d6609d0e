//! The read of a record that others are added to.

use crate::scenario::Node;

use super::build::{all, keep, map, with, with_all};
use super::located::Located;
use super::model::RelationKind;
use super::refusal::{Derived, refuse_shape};
use super::related::{fields_of, inner_of};
use super::selection::Selection;
use super::shape::Word;
use super::stage::{joining, lookup, sliced};
use super::translate::Translation;
use super::with::Include;

/// The read of a record that others are added to.
pub(super) struct FirstRead {
    pub steps: Vec<Node>,
    /// The arrays around the record.
    pub path: Vec<String>,
    /// The variable with the document.
    pub found: String,
    /// The variable with the record.
    pub record: String,
    /// That with the record as it is stored.
    pub raw: String,
    /// The stages that join other documents, and the steps that these need.
    pub joins: Vec<Node>,
    pub before: Vec<Node>,
    /// The fields of the document that are needed; `None` for all.
    pub shown: Option<Vec<String>>,
}

impl FirstRead {
    /// Joins documents of another collection; returns the expression of them.
    pub fn join(&mut self, name: &str, from: &str, (local, foreign): (&str, &str), inner: Vec<Node>) -> String {
        self.joins.push(lookup(from, local, foreign, inner, name));
        self.show([name.to_owned()]);
        format!("{}.{name}", self.found)
    }

    /// Needs these fields of the document.
    pub fn show(&mut self, fields: impl IntoIterator<Item = String>) {
        if let Some(shown) = &mut self.shown {
            shown.extend(fields);
        }
    }

    /// Needs an array of the document, or what a selection names of its elements.
    pub fn show_array(&mut self, name: &str, selection: &Selection) {
        let named = selection.named().map(|field| format!("{name}.{field}"));
        let all = [name.to_owned()].into_iter();
        if selection.fields.is_empty() { self.show(all) } else { self.show(named) }
    }

    /// The projection to the fields that are needed.
    fn projection(&self) -> Option<Node> {
        let shown = self.shown.as_ref()?;
        let is_inside = |field: &&String| shown.iter().any(|other| field.starts_with(&format!("{other}.")));
        let needed: Vec<&String> = shown.iter().filter(|field| !is_inside(field)).collect();
        let has_id = needed.iter().any(|field| *field == "_id");
        let projection = all(&needed, 1);
        Some(if has_id { projection } else { with(projection, "_id", 0) })
    }

    /// Reads only a part of an array of the document.
    pub fn cut(&mut self, name: &str, part: Vec<Node>, is_joined: bool) {
        if is_joined {
            self.show([name.to_owned()]);
            return self.joins.push(sliced("$set", name, part));
        }
        let Some(read) = self.steps.first_mut() else { return };
        let shown = read.get("projection").cloned().unwrap_or_else(|| map! {});
        let part = if let [only] = &part[..] { only.clone() } else { part.into() };
        *read = with(read.clone(), "projection", with(shown, name, map! { "$slice" => part }));
    }

    /// The steps, in which one command reads all that is joined.
    pub fn steps(mut self) -> Vec<Node> {
        let projection = self.projection();
        if !self.joins.is_empty() {
            self.joins.extend(projection.map(|fields| map! { "$project" => fields }));
            let read = joining(&self.steps.remove(0), self.joins);
            self.steps.splice(0..0, [read, keep(&self.found, "reply[0]")]);
        } else if let (Some(fields), Some(read)) = (projection, self.steps.first_mut()) {
            let part = read.get("projection").cloned().unwrap_or_else(|| map! {});
            let alias = map! { "as" => self.found.as_str() };
            *read = with_all(with(read.clone(), "projection", with_all(fields, &part)), &alias);
        }
        [self.before, self.steps].concat()
    }
}

impl Translation<'_, '_> {
    /// The read of the record itself, with what its document has of the others: steps, the record, the document around it.
    pub fn first_read(
        &mut self,
        entity: usize,
        own: &[String],
        place: &Located,
        includes: &[Include],
    ) -> Derived<FirstRead> {
        let model = self.model();
        let found = self.fresh("found");
        let named = |name: &str| includes.iter().find(|(include, _)| include.value == name);
        let (mut steps, mut record, mut raw) = (Vec::new(), found.clone(), found.clone());
        let shown = (!own.is_empty() && place.path.is_empty()).then(|| own.to_vec());
        match &place.path[..] {
            [] if shown.is_some() => steps.push(with(place.find(None), "as", found.as_str())),
            [] => {
                let arrays = self.added(entity).into_iter().filter(|(name, _)| named(name).is_none());
                let arrays: Vec<String> = arrays.map(|(_, field)| field).collect();
                let projection = (!arrays.is_empty()).then(|| all(&arrays, 0));
                steps.push(with(place.find(projection), "as", found.as_str()));
                if let Some(relation) = self.documents.shape.copied_list(model, entity) {
                    let down = model.relations[relation].down();
                    record = self.fresh("record");
                    let ids = format!("merge({found}, {{'{down}': pluck({found}.{down}, '_id')}})");
                    steps.push(keep(&record, format!("{found} == null ? null : {ids}")));
                }
            }
            [array] => {
                let parent = model.parent_of(entity).map(|relation| &model.relations[relation]);
                let mut fields = Vec::new();
                if let Some((parent, (_, node))) = parent.and_then(|parent| Some((parent, named(parent.up())?))) {
                    let own = model.entity(parent.one).fields.iter().map(|(name, _)| name.value.clone());
                    fields = Some(fields_of(node)).filter(|all| !all.is_empty()).unwrap_or_else(|| own.collect());
                    fields = self.joining_fields(parent.one, &fields, inner_of(node))?;
                }
                fields.retain(|field| field != "_id");
                if let Some(relation) = self.documents.shape.bucketed(model, entity) {
                    fields = vec![model.relations[relation].up().to_owned()];
                }
                // Arrays that are asked for come with the whole record.
                let is_whole = self.added(entity).iter().any(|(name, _)| named(name).is_some());
                let chosen = if is_whole {
                    Vec::new()
                } else {
                    self.narrowed(entity, &self.joining_fields(entity, own, includes)?)
                };
                let projection = with_all(self.element(place, &chosen), &all(&fields, 1));
                record = self.fresh("record");
                raw.clone_from(&record);
                steps.push(with(place.find(Some(projection)), "as", found.as_str()));
                steps.push(keep(&record, format!("{found}.{array}[0]")));
            }
            _ => {
                let relation = model.parent_of(entity).unwrap_or_default();
                let message = format!("`with` of a record inside of two arrays: `{}`", model.key(relation));
                let help = "try `reference` for one of the relations";
                return refuse_shape(relation, message, "deeper than this shape can give", help);
            }
        }
        let (path, joins, before) = (place.path.clone(), Vec::new(), Vec::new());
        Ok(FirstRead { steps, path, found, record, raw, joins, before, shown })
    }

    /// The fields that are returned of a record, and those by which its relations are found; none for all.
    fn joining_fields(&self, entity: usize, own: &[String], includes: &[Include]) -> Derived<Vec<String>> {
        let model = self.model();
        let mut fields = own.to_vec();
        for (name, node) in includes.iter().filter(|_| !own.is_empty()) {
            let (relation, is_down) = model.relation(entity, &name.value)?;
            let this = &model.relations[relation];
            fields.extend(match (is_down, this.kind) {
                (true, RelationKind::Listing) if self.documents.shape.word(relation) == Word::List => {
                    vec![this.down().to_owned()]
                }
                (false, RelationKind::Children | RelationKind::Reference) => {
                    self.needed_of_one(relation, &fields_of(node))
                }
                _ => vec!["_id".to_owned()],
            });
        }
        Ok(fields)
    }
}
