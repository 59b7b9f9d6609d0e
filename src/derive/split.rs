//! `split`: rarely read fields of an entity, in a document of their own that has the `_id` of the record.
//!
//! Both documents are created and deleted in one transaction, so each tells whether the record exists. A read of both that
//! finds no second document has met a delete, and the record is gone.

use std::collections::HashSet;

use crate::scenario::{Node, Spanned, Tree, list_of};

use super::audits::{Balanced, balance};
use super::build::{all, find_one, is_empty, keep, map, slot, with};
use super::document::{DerivedDocuments, each};
use super::label::with_article;
use super::located::Located;
use super::model::Model;
use super::refusal::{Derived, refuse_split};
use super::reply::LogicalReply;
use super::shape::ModelShape;
use super::stage::{joining, lookup, unless_empty};
use super::translate::{Options, Translation};
use super::words::Split;
use super::write::ATTEMPTS;

/// The field of a pipeline's rows with the second document; names that others give end with `_`.
pub(super) const REST: &str = "__rest";

/// The fields that a read asks of each document; none: all.
pub(super) struct Parts {
    pub main: Vec<String>,
    rest: Vec<String>,
    /// Whether the second document has all that is asked for.
    pub is_rest_only: bool,
}

/// An update: the document that is written first, what changes there, and the command for the other one.
pub(super) struct SplitUpdate {
    pub place: Located,
    pub set: Vec<(Spanned<String>, Node)>,
    pub inc: Vec<(Spanned<String>, Node)>,
    pub rest: Option<Node>,
}

/// The collection of the second documents of an entity.
fn details(model: &Model, entity: usize) -> String {
    format!("{}_details", model.name(entity))
}

/// The stages that give a row the fields of its second document, and drop one without it.
fn reunited(model: &Model, entity: usize, inner: Vec<Node>) -> Vec<Node> {
    let both: Vec<Node> = vec!["$$ROOT".into(), format!("${REST}").into()];
    vec![
        lookup(&details(model, entity), "_id", "_id", inner, REST),
        map! { "$unwind" => format!("${REST}") },
        map! { "$replaceWith" => map! { "$mergeObjects" => both } },
    ]
}

impl ModelShape {
    /// Refuses what needs the fields of the second document in the first one.
    pub fn check_splits(&self, model: &Model) -> Derived<()> {
        for (entity, split) in &self.splits {
            let name = model.name(*entity);
            let no = |what: String, label: &str, help: &str| {
                refuse_split(split.span, format!("`{name}: split` {what}"), label, help)
            };
            let relations = 0..model.relations.len();
            let collections = (0..model.scenario.entities.len()).map(|other| self.home(model, other).0);
            let pairs = relations.clone().filter_map(|one| Some(self.pairs(model, one, true)?.collection));
            let collection = details(model, *entity);
            if collections.chain(pairs).any(|other| other == collection) {
                let what = format!("needs a collection `{collection}`, which there is already");
                return no(what, "two collections of one name", "give the other entity a `collection`");
            }
            if let Some(relation) = model.parent_of(*entity).filter(|_| !self.home(model, *entity).1.is_empty()) {
                let what = format!("of records that are in arrays: `{}`", model.key(relation));
                return no(what, "no document of their own to split", "try `reference` or `list` there");
            }
            if let Some(copies) = self
                .copies(model)
                .iter()
                .find(|one| one.source == *entity && one.fields.iter().any(|field| split.has(field)))
            {
                let what = format!("of a field that `{}` copies", model.key(copies.relation));
                return no(what, "not derived", "copy other fields, or take it out of `split`");
            }
            let is_summed = |one: &usize| {
                model.relations[*one].many == *entity && self.sums(*one).iter().any(|field| split.has(field))
            };
            if let Some(relation) = relations.clone().find(is_summed) {
                let what = format!("of a field of which `{}` has the sum", model.key(relation));
                return no(what, "not derived", "take it out of `split`, or remove `sum`");
            }
        }
        Ok(())
    }

    /// The sentence about each entity with a second document, or its label.
    pub fn describe_splits(&self, model: &Model, is_label: bool) -> Vec<String> {
        let text = |(entity, split): (&usize, &Split)| {
            let (name, fields) = (model.name(*entity), split.fields.join(", "));
            if is_label {
                return format!("{name}'s {fields} split off");
            }
            format!("{} has its {fields} in a second document", with_article(name))
        };
        self.splits.iter().map(text).collect()
    }

    /// Whether a command of an operation needs one document of an entity without the other.
    pub fn is_split_used(&self, model: &Model, entity: usize, operations: &[Vec<Node>]) -> bool {
        let names = [model.collection(entity), details(model, entity)];
        let is_one =
            |steps: &Vec<Node>| names.iter().filter(|name| steps.iter().any(|step| names_it(step, name))).count() == 1;
        operations.iter().any(is_one)
    }

    /// The audits of records of which only one document is there.
    pub fn split_audits(&self, model: &Model) -> Vec<(String, String, Node)> {
        let audit = |entity: &usize| {
            let (name, collection) = (model.name(*entity), details(model, *entity));
            let side = |collection: String, number: i64| {
                let number = map! { "$literal" => number };
                Balanced { collection, stages: Vec::new(), key: "$_id".into(), number }
            };
            let about = format!("Records of {name} of which one of the two documents is missing.");
            let command = balance(side(model.collection(*entity), 1), side(collection.clone(), -1));
            (format!("{collection}_missing"), about, command)
        };
        self.splits.keys().map(audit).collect()
    }
}

/// Whether a text in a node is this one.
fn names_it(node: &Node, name: &str) -> bool {
    match &node.tree {
        Tree::Scalar(_) => node.as_text() == Some(name),
        Tree::List(items) => items.iter().any(|item| names_it(item, name)),
        Tree::Mapping(entries) => entries.iter().any(|(_, value)| names_it(value, name)),
    }
}

impl DerivedDocuments<'_> {
    /// Whether a field of an entity is in the second document.
    pub fn is_split_off(&self, entity: usize, field: &str) -> bool {
        self.shape.splits.get(&entity).is_some_and(|split| split.has(field))
    }

    /// The collections of second documents.
    pub fn details(&self) -> impl Iterator<Item = (String, Node)> {
        self.shape.splits.keys().filter_map(|entity| {
            let name = self.model.name(*entity);
            Some((details(self.model, *entity), map! { "each" => name, "document" => self.rest(*entity, name)? }))
        })
    }

    /// The stages that make a document the whole record, for `state`.
    pub fn reunited(&self, entity: usize) -> Vec<Node> {
        if !self.shape.splits.contains_key(&entity) {
            return Vec::new();
        }
        [reunited(self.model, entity, Vec::new()), vec![map! { "$project" => map! { REST => 0 } }]].concat()
    }

    /// The second document of a record; `None` where it has one only.
    fn rest(&self, entity: usize, record: &str) -> Option<Node> {
        let fields = self.shape.splits.get(&entity)?.fields.iter();
        Some(fields.fold(map! { "_id" => slot(&format!("{record}._id")) }, |made, field| {
            with(made, field, slot(&format!("{record}.{field}")))
        }))
    }
}

impl Translation<'_, '_> {
    /// What a read of these fields asks of both documents; `None` where the first one has all of them.
    pub fn parts(&self, entity: usize, fields: &[String]) -> Option<Parts> {
        let split = self.documents.shape.splits.get(&entity)?;
        let (rest, mut main): (Vec<String>, Vec<String>) = fields.iter().cloned().partition(|field| split.has(field));
        if !fields.is_empty() && rest.is_empty() {
            return None;
        }
        let is_rest_only = !fields.is_empty() && main.iter().all(|field| field == "_id");
        if !fields.is_empty() && !main.iter().any(|field| field == "_id") {
            main.push("_id".to_owned());
        }
        Some(Parts { main, rest, is_rest_only })
    }

    /// Refuses fields of the second document where only those of the first one can be found, put in order or added up.
    pub fn check_main(&self, entity: usize, fields: &[String], what: &str) -> Derived<()> {
        let Some(split) = self.documents.shape.splits.get(&entity) else { return Ok(()) };
        let Some(field) = fields.iter().find(|field| split.has(field)) else { return Ok(()) };
        let name = self.model().name(entity);
        let message = format!("{what} of `{field}`, which `{name}: split` puts into a second document");
        refuse_split(split.span, message, "only the first one is searched and sorted", "take the field out of `split`")
    }

    /// Refuses fields of the second document of records that come with others.
    pub fn check_included(&self, entity: usize, name: &str, fields: &[String]) -> Derived<()> {
        let (Some(split), Some(_)) = (self.documents.shape.splits.get(&entity), self.parts(entity, fields)) else {
            return Ok(());
        };
        let is_main = |field: &&str| !split.has(field);
        let own = self.model().entity(entity).fields.iter().map(|(field, _)| field.value.as_str());
        let own: Vec<&str> = own.filter(is_main).collect();
        let message = format!("`with: {name}` needs a second document of each `{}`", self.model().name(entity));
        let help = format!("name fields of the first one, which has {}, or read the others by a `get`", list_of(&own));
        refuse_split(split.span, message, "another read for each", &help)
    }

    /// The read of the second document alone.
    pub fn rest_alone(&self, argument: &str, entity: usize, fields: &[String]) -> LogicalReply {
        let filter = map! { "_id" => slot(&format!("{argument}._id")) };
        LogicalReply::of(find_one(&details(self.model(), entity), filter, self.projection(entity, fields)))
    }

    /// A read of second documents into a variable.
    pub fn read_rest(&mut self, word: &str, entity: usize, id: Node, parts: &Parts) -> (Node, String) {
        let rest = self.fresh("rest");
        self.notes_snapshot(entity);
        let read = map! { word => details(self.model(), entity), "filter" => map! { "_id" => id } };
        let shown = (!parts.rest.is_empty()).then(|| all(&parts.rest, 1));
        let read = shown.into_iter().fold(read, |read, fields| with(read, "projection", fields));
        (with(read, "as", rest.as_str()), rest)
    }

    /// The `$lookup` of the second document: where from, and the stages inside.
    pub fn rest_join(&mut self, entity: usize, parts: &Parts) -> (String, Vec<Node>) {
        self.notes_snapshot(entity);
        let inner = (!parts.rest.is_empty()).then(|| map! { "$project" => all(&parts.rest, 1) });
        (details(self.model(), entity), inner.into_iter().collect())
    }

    /// Adds the fields of the second documents to a read of first ones.
    pub fn with_rest(
        &mut self,
        entity: usize,
        mut reply: LogicalReply,
        fields: &[String],
        parts: &Parts,
        is_many: bool,
    ) -> Derived<LogicalReply> {
        let is_read = |step: &Node| ["find", "findOne", "aggregate"].iter().any(|word| step.get(word).is_some());
        let is_plain = reply.value == "reply" || !is_many && reply.value == "reply[0]";
        if self.documents.shape.is_joined
            && is_plain
            && let Some(read) = reply.steps.pop_if(|step| is_read(step))
        {
            let (_, inner) = self.rest_join(entity, parts);
            let mut stages = reunited(self.model(), entity, inner);
            let projection = if fields.is_empty() { None } else { self.projection(entity, fields) };
            stages.push(map! { "$project" => projection.unwrap_or_else(|| map! { REST => 0 }) });
            reply.steps.push(joining(&read, stages));
            return Ok(LogicalReply { value: if is_many { "reply" } else { "reply[0]" }.to_owned(), ..reply });
        }
        let (mut steps, found) = self.kept(reply, "found");
        if !is_many {
            let (find, rest) = self.read_rest("findOne", entity, slot(&format!("{found}._id")), parts);
            steps.push(keep(&rest, "null"));
            steps.push(map! { "if" => format!("{found} != null"), "then" => vec![find] });
            let both = self.both(entity, [&found, &rest], fields)?;
            return Ok(LogicalReply { steps, value: format!("{rest} == null ? null : {both}") });
        }
        let keys = self.fresh("keys");
        let (find, rest) = self.read_rest("find", entity, map! { "$in" => slot(&keys) }, parts);
        let every = format!("{found}.map(r, r._id)");
        steps.push(map! { "let" => map! { keys.as_str() => every, rest.as_str() => "[]" } });
        steps.push(unless_empty(&keys, vec![find]));
        let both = self.both(entity, ["r", "o"], fields)?;
        let value = format!("flatten({found}.map(r, {rest}.filter(o, o._id == r._id).map(o, {both})))");
        Ok(LogicalReply { steps, value })
    }

    /// The expression of a record from its two documents.
    fn both(&self, entity: usize, [found, rest]: [&str; 2], fields: &[String]) -> Derived<String> {
        if fields.is_empty() || fields.iter().any(|field| field == "_id") {
            return Ok(format!("merge({found}, {rest})"));
        }
        let Some(split) = self.documents.shape.splits.get(&entity) else { return Ok(found.to_owned()) };
        if let Some(field) = fields.iter().find(|field| field.contains('.')) {
            let message = format!("a part of a field, `{field}`, of a record in two documents");
            return refuse_split(split.span, message, "not derived", "name the whole field, or `_id` besides it");
        }
        let value = |field: &String| format!("'{field}': {}.{field}", if split.has(field) { rest } else { found });
        Ok(format!("{{{}}}", fields.iter().map(value).collect::<Vec<_>>().join(", ")))
    }

    /// Notes a read of both documents that an operation changes together: without a snapshot it could see one changed and the
    /// other not.
    fn notes_snapshot(&mut self, entity: usize) {
        let (model, shape) = (self.model(), self.documents.shape);
        let Some(split) = shape.splits.get(&entity) else { return };
        let operations = |is_rest: bool| -> HashSet<usize> {
            let is_it = |(_, one, field): &&(usize, usize, String)| *one == entity && split.has(field) == is_rest;
            model.changes.iter().filter(is_it).map(|(operation, ..)| *operation).collect()
        };
        self.needs_snapshot |= self.protects() && !operations(true).is_disjoint(&operations(false));
    }

    /// The read in a transaction, all of whose queries see the same moment.
    pub fn in_snapshot(&mut self, reply: LogicalReply) -> LogicalReply {
        let (steps, value) = self.kept(reply, "seen");
        LogicalReply { steps: vec![map! { "transaction" => steps, "attempts" => ATTEMPTS }], value }
    }

    /// The step that inserts the second document of a new record.
    pub fn new_rest(&self, entity: usize, record: &str) -> Option<Node> {
        let document = self.documents.rest(entity, record)?;
        Some(map! { "insertOne" => details(self.model(), entity), "document" => document })
    }

    /// The same of new records of a list, each in a variable.
    pub fn new_rests(&self, entity: usize, name: &str, list: &str) -> Option<Node> {
        let documents = each(name, list, self.documents.rest(entity, name)?);
        Some(map! { "insertMany" => details(self.model(), entity), "documents" => documents })
    }

    /// The step that deletes the second documents of these ids.
    pub fn delete_rest(&self, entity: usize, ids: &Node) -> Option<Node> {
        self.documents.shape.splits.get(&entity)?;
        let word = if ids.as_text().is_some() { "deleteOne" } else { "deleteMany" };
        Some(map! { word => details(self.model(), entity), "filter" => map! { "_id" => ids.clone() } })
    }

    /// Divides an update between the documents. What it depends on, or returns, has to be in the one that is written first.
    pub fn divided(
        &mut self,
        argument: &str,
        entity: usize,
        [set, inc]: [&Options; 2],
        needed: &[String],
    ) -> Derived<SplitUpdate> {
        let place = self.locate(argument, entity);
        let Some(split) = self.documents.shape.splits.get(&entity) else {
            return Ok(SplitUpdate { place, set: set.to_vec(), inc: inc.to_vec(), rest: None });
        };
        let [(rest_set, set), (rest_inc, inc)] =
            [set, inc].map(|all| all.iter().cloned().partition::<Vec<_>, _>(|(key, _)| split.has(&key.value)));
        let is_rest_only = set.is_empty() && inc.is_empty();
        if let Some(field) = needed.iter().find(|field| split.has(field) != is_rest_only) {
            let message = format!("an update that needs `{field}` of the other document of `{argument}`");
            let help = "put what belongs together on one side of `split`, or write this operation by hand";
            return refuse_split(split.span, message, "`if` and `returning` are of one document", help);
        }
        let second = Located {
            collection: details(self.model(), entity),
            path: Vec::new(),
            filter: map! { "_id" => place.id.clone() },
            id: place.id.clone(),
        };
        if is_rest_only {
            return Ok(SplitUpdate { place: second, set: rest_set, inc: rest_inc, rest: None });
        }
        let update = second.change(&rest_set, &rest_inc);
        let rest = (!is_empty(&update)).then(|| second.update(update));
        Ok(SplitUpdate { place, set, inc, rest })
    }
}
