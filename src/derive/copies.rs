//! Copies of fields: where they come from, and what keeps them equal to their source.
//!
//! A transaction that copies a field which an operation changes also writes the source, and one that changes the field
//! writes source and copies: of two such transactions at the same time, one sees the other's writes.

use crate::scenario::{Node, Spanned};

use super::build::{all, is_empty, keep, map, slot, with};
use super::document::Made;
use super::located::Located;
use super::model::RelationKind;
use super::refusal::{Derived, refuse_shape};
use super::shape::{entry, pulled};
use super::translate::{Changes, Translation};
use super::versions::{NOT_COMPARED, OTHER_SOURCE};
use super::write::{Write, changed, fail};

impl Translation<'_, '_> {
    /// Changes the one side of a relation, and reads the fields that are copied into a variable. Without a change it is
    /// written all the same if it may be gone, or if the fields may change.
    pub fn source(
        &mut self,
        relation: usize,
        place: &Located,
        change: Option<Node>,
        is_certain: bool,
    ) -> (Write, String) {
        let source = (self.model().relations[relation].one, self.documents.shape.referenced(relation));
        self.source_of(source, place, change, is_certain)
    }

    /// The same of fields of any entity.
    pub fn source_of(
        &mut self,
        (entity, fields): (usize, &[String]),
        place: &Located,
        change: Option<Node>,
        is_certain: bool,
    ) -> (Write, String) {
        let is_shared = self.model().is_changed(entity, fields) || !is_certain;
        let change = change.or_else(|| (is_shared && self.protects()).then(|| self.touch(place, entity)));
        let is_joint = change.is_some() || is_shared;
        let mut write = Write { is_joint, result: Some("ok()".to_owned()), ..Write::default() };
        if fields.is_empty() {
            let missed = if change.is_some() { "reply.matched == 0" } else { "reply == 0" };
            let look = change.map(|change| place.update(change)).or_else(|| (!is_certain).then(|| place.count()));
            write.steps.extend(look);
            if !is_certain {
                write.steps.push(fail(missed, "not_found()"));
            }
            return (write, String::new());
        }
        let name = self.fresh("source");
        let projection = all(fields, 1);
        let read = match change {
            Some(change) => changed(place, change, projection),
            None => place.find(Some(projection)),
        };
        write.steps.push(with(read, "as", name.as_str()));
        if !is_certain {
            write.steps.push(fail(&format!("{name} == null"), "not_found()"));
        }
        (write, name)
    }

    /// Whether writes are in transactions, in which a record that is `touched` conflicts with others.
    pub fn protects(&self) -> bool {
        !self.documents.shape.is_plain
    }

    /// The fields with records of an entity whose fields are copied.
    pub fn copied_fields(&self, entity: usize) -> Vec<usize> {
        let model = self.model();
        let is_copied = |position: &usize| {
            let relation = &model.relations[*position];
            let is_field = relation.many == entity && relation.kind == RelationKind::Reference;
            is_field && !self.documents.shape.referenced(*position).is_empty()
        };
        (0..model.relations.len()).filter(is_copied).collect()
    }

    /// Gives new records of a list the copies of the records that they refer to; returns the list with them.
    pub fn with_copies(&mut self, entity: usize, mut list: String, write: &mut Write, made: &mut Made) -> String {
        let model = self.model();
        for relation in self.copied_fields(entity) {
            let this = &model.relations[relation];
            let (up, fields) = (this.up(), self.documents.shape.referenced(relation));
            let (ids, sources, copied) = (self.fresh("ids"), self.fresh("sources"), self.fresh("copied"));
            let collection = model.collection(this.one);
            let by_id = map! { "_id" => map! { "$in" => slot(&ids) } };
            write.steps.push(keep(&ids, format!("{list}.map(x, x.{up}._id)")));
            let place = Located { collection, path: Vec::new(), filter: by_id, id: slot(&ids) };
            if model.is_changed(this.one, fields) {
                write.is_joint = true;
                let touch = self.protects().then(|| self.touch(&place, this.one));
                write.steps.extend(touch.map(|touch| update_many(&place.collection, place.filter.clone(), touch)));
            }
            let find = map! { "find" => place.collection, "filter" => place.filter, "projection" => all(fields, 1) };
            write.steps.push(with(find, "as", sources.as_str()));
            let source = format!("{sources}.filter(s, s._id == x.{up}._id)[0]");
            let copies: Vec<String> = fields.iter().map(|field| format!("'{up}_{field}': {source}.{field}")).collect();
            write.steps.push(keep(&copied, format!("{list}.map(x, merge(x, {{{}}}))", copies.join(", "))));
            list = copied;
            made.sources.insert(relation, String::new());
        }
        list
    }

    /// What a change of a field with a record, whose fields are copied, sets besides it.
    pub fn changed_copies(&mut self, entity: usize, set: &[(Spanned<String>, Node)]) -> Derived<(Write, Node)> {
        let model = self.model();
        let (mut write, mut copies) = (Write::default(), map! {});
        for relation in self.copied_fields(entity) {
            let this = &model.relations[relation];
            let Some((_, value)) = set.iter().find(|(key, _)| key.value == this.up()) else { continue };
            self.check_unversioned(relation, OTHER_SOURCE, NOT_COMPARED)?;
            let name = value.as_text().and_then(|text| text.strip_prefix('<')?.strip_suffix('>')).unwrap_or_default();
            if model.argument(self.operation, name).and_then(|one| one.entity) != Some(this.one) {
                let message = format!("`{}` has copies, and is changed to no argument", model.key(relation));
                let help = format!("draw it as an argument, for example `set: {{ {}: <to> }}`", this.up());
                return refuse_shape(relation, message, "which record is copied?", &help);
            }
            let place = self.locate(name, this.one);
            let is_certain = !self.may_be_gone(name, this.one);
            let (read, source) = self.source(relation, &place, None, is_certain);
            write.steps.extend(read.steps);
            write.is_joint |= read.is_joint;
            copies = self.copied_from(relation, &source, copies);
        }
        Ok((write, copies))
    }

    /// The copies that a record gets from a source in a variable.
    pub fn copied_from(&self, relation: usize, source: &str, start: Node) -> Node {
        let up = self.model().relations[relation].up();
        let fields = self.documents.shape.referenced(relation).iter();
        fields.fold(start, |made, field| with(made, &format!("{up}_{field}"), slot(&format!("{source}.{field}"))))
    }

    /// The updates of copies of fields that an update of their source changes.
    pub fn follow(&mut self, argument: &str, entity: usize, changes: Changes) -> Vec<Node> {
        let model = self.model();
        let id = slot(&format!("{argument}._id"));
        let mut steps = Vec::new();
        for copies in self.documents.shape.copies(model).iter().filter(|copies| copies.source == entity) {
            let is_copied = |key: &str| copies.fields.iter().any(|field| Some(field.as_str()) == key.split('.').next());
            let place =
                if copies.path.is_empty() { String::new() } else { format!("{}.$[copy].", copies.path.join(".$[].")) };
            let change = changes.iter().fold(map! {}, |made, (operator, fields)| {
                let fields = fields.iter().filter(|(key, _)| is_copied(&key.value));
                let put = |made, (key, value): &(Spanned<String>, Node)| {
                    with(made, &format!("{place}{}", copies.field(&key.value)), value.clone())
                };
                let fields = fields.fold(map! {}, put);
                if is_empty(&fields) { made } else { with(made, operator, fields) }
            });
            if is_empty(&change) {
                continue;
            }
            let field = [&copies.path[..], std::slice::from_ref(&copies.id)].concat().join(".");
            self.documents.index(&copies.collection, &[(field.clone(), 1)], false);
            let is_once = copies.source == model.relations[copies.relation].many
                && model.relations[copies.relation].kind == RelationKind::Children;
            let word = if is_once { "updateOne" } else { "updateMany" };
            let update = map! { word => copies.collection.as_str(), "filter" => map! { field => id.clone() }, "update" => change };
            let filters: Vec<Node> = vec![map! { format!("copy.{}", copies.id) => id.clone() }];
            steps.push(if copies.path.is_empty() { update } else { with(update, "arrayFilters", filters) });
        }
        steps
    }

    /// The lists of records of a new record: what the others get, and the copies of their fields.
    pub fn new_lists(&mut self, argument: &str, entity: usize, write: &mut Write, made: &mut Made) {
        let (model, shape) = (self.model(), self.documents.shape);
        for (relation, this) in model.relations.iter().enumerate() {
            let Some((_, list)) = this.own_list().filter(|(one, _)| *one == entity) else { continue };
            if !shape.is_shared(model, relation) {
                continue;
            }
            let pairs = shape.pairs(model, relation, true);
            if let Some(pairs) = pairs.as_ref().filter(|pairs| pairs.copies.is_empty()) {
                write.steps.extend(self.new_pairs(argument, format!("{argument}.{list}"), pairs));
                write.is_joint = true;
                continue;
            }
            let listed = match pairs {
                Some(_) => shape.linked(relation),
                None if this.is_turned => &[],
                None => shape.listed(relation),
            };
            let ids = self.fresh("ids");
            write.steps.push(keep(&ids, format!("{argument}.{list}.map(x, x._id)")));
            let filter = map! { "_id" => map! { "$in" => slot(&ids) } };
            let other = this.listed_entity();
            let place = Located { collection: model.collection(other), path: Vec::new(), filter, id: slot(&ids) };
            let back = shape.back_list(model, relation).map(|(field, copied)| {
                map! { "$push" => map! { field => entry(copied, argument, argument) } }
            });
            let is_shared = model.is_changed(other, listed);
            write.is_joint |= back.is_some() || is_shared;
            let change = back.or_else(|| (is_shared && self.protects()).then(|| self.touch(&place, other)));
            if let Some(change) = change {
                write.steps.push(update_many(&place.collection, place.filter.clone(), change));
            }
            if !listed.is_empty() {
                let found = self.fresh("found");
                let find =
                    map! { "find" => place.collection, "filter" => place.filter, "projection" => all(listed, 1) };
                write.steps.push(with(find, "as", found.as_str()));
                let all = format!("reorder({found}, '_id', {ids})");
                if let Some(pairs) = pairs {
                    write.steps.extend(self.new_pairs(argument, all, &pairs));
                    write.is_joint = true;
                    continue;
                }
                let entries = self.fresh("entries");
                write.steps.push(keep(&entries, all));
                made.lists.insert(relation, entries);
            }
        }
    }

    /// The steps that take a record that is deleted out of the lists of the records that it lists; `known` is the variable with
    /// its document.
    pub fn leave_lists(&mut self, entity: usize, id: &Node, known: Option<&str>) -> Vec<Node> {
        let (model, shape) = (self.model(), self.documents.shape);
        let mut steps = Vec::new();
        for (relation, this) in model.relations.iter().enumerate() {
            let is_own = this.own_list().is_some_and(|(one, _)| one == entity);
            let pairs = shape.pairs(model, relation, true).filter(|_| is_own);
            steps.extend(pairs.map(|pairs| self.delete_pairs(id, &pairs)));
            if let Some((list, copied)) = shape.back_list(model, relation).filter(|_| is_own) {
                let field = if copied.is_empty() { list.to_owned() } else { format!("{list}._id") };
                let collection = model.collection(this.listed_entity());
                let pull = map! { "$pull" => map! { list => pulled(copied, id) } };
                let filter = if let Some(known) = known.filter(|_| !this.is_turned) {
                    let ids = slot(&format!("{known}.{}", shape.list_id(model, relation)));
                    map! { "_id" => map! { "$in" => ids } }
                } else {
                    self.documents.index(&collection, &[(field.clone(), 1)], false);
                    map! { field => id.clone() }
                };
                steps.push(update_many(&collection, filter, pull));
            }
        }
        steps
    }
}

fn update_many(collection: &str, filter: Node, update: Node) -> Node {
    map! { "updateMany" => collection, "filter" => filter, "update" => update }
}
