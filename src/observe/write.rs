//! Writes as logical steps.

use std::collections::BTreeSet;

use bson::{Bson, Document};

use crate::infer::layout::{EntityPlace, FieldPlace};

use super::access::{KEY, Named, entity, inside, key_path, named, parent, root};
use super::condition::{Access, By, FilterComparison, Operand, access};
use super::read::{StepTranslation, fields_of};
use super::shape::{StatementShape, Verb, is_document};
use super::text::{mapping, name, names};
use super::with::relation_to_parent;

/// What an update of copies is in a model.
const COPIES: &str =
    "updates of copies, or of other fields that the model does not have: it changes copies with their source";

/// What a write is in a model.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum WrittenSteps {
    /// Logical steps, and comments.
    Steps(Vec<String>, Vec<String>),
    /// Nothing of its own: what another step of the model writes as well.
    Implied(&'static str),
}

/// The logical steps of a write.
///
/// # Errors
/// What of it no logical step can say.
pub(super) fn write(translation: &mut StepTranslation<'_, '_>, shape: &StatementShape) -> Result<WrittenSteps, String> {
    match shape.verb {
        Verb::Insert => translation.insert(shape),
        Verb::Delete | Verb::FindAndDelete => translation.delete(shape),
        _ => translation.update(shape),
    }
}

/// The changes of one record: entries of `set` and `inc`.
#[derive(Default)]
struct Changes {
    set: Vec<(String, String)>,
    inc: Vec<(String, String)>,
    /// Steps of their own.
    steps: Vec<String>,
    comments: BTreeSet<String>,
    /// Whether something was left out that the model keeps by itself.
    implied: bool,
}

impl<'l> StepTranslation<'_, 'l> {
    fn insert(&mut self, shape: &StatementShape) -> Result<WrittenSteps, String> {
        let made = root(self.layout, &shape.collection).ok_or("a collection that is not in the model")?;
        Ok(WrittenSteps::Steps(vec![self.create(made, None)], Vec::new()))
    }

    /// The step that makes a record, in the parent that an argument names, or in one that is drawn.
    fn create(&mut self, made: &'l EntityPlace, owner: Option<&str>) -> String {
        let owner = owner.map(str::to_owned).or_else(|| {
            let owner = parent(self.layout, made)?;
            let known = self.arguments.record_of(&owner.entity).map(str::to_owned);
            Some(known.unwrap_or_else(|| self.arguments.record(owner, None)))
        });
        let children = inside(self.layout, made);
        let size = |child: &&EntityPlace| {
            let mean = child.count as f64 / made.count.max(1) as f64;
            let relation = child.parent.as_ref().map(|parent| parent.relation.clone()).unwrap_or_default();
            (relation, (2.0 * mean - 1.0).round().max(1.0))
        };
        let sizes: Vec<(String, f64)> = children.iter().map(size).collect();
        let drawn: Vec<String> =
            sizes.iter().map(|(relation, most)| format!("'{relation}': uniform(1, {most})")).collect();
        let new = if drawn.is_empty() { String::new() } else { format!(", {{{}}}", drawn.join(", ")) };
        let argument = self.arguments.expression(&format!("new_{}", made.entity), format!("new({}{new})", made.entity));
        let relations: Vec<String> = sizes.into_iter().map(|(relation, _)| relation).collect();
        let entries = [
            Some(("create", argument)),
            owner.map(|owner| ("in", owner)),
            (!relations.is_empty()).then(|| ("with", names(&relations))),
        ];
        mapping(entries.into_iter().flatten())
    }

    fn delete(&mut self, shape: &StatementShape) -> Result<WrittenSteps, String> {
        let found = access(self.layout, &shape.collection, &shape.filter)?;
        if !shape.sort.is_empty() {
            return Err("a sort: the records of a queue".to_owned());
        }
        let comments = rest_comment(&found.rest);
        match &found.by {
            By::Key(operand) | By::Unique(_, operand) => {
                let record = self.record(found.entity, operand);
                Ok(WrittenSteps::Steps(vec![mapping([("delete", record)])], comments))
            }
            By::Parent(_) if shape.is_multi && found.rest.is_empty() => {
                Ok(WrittenSteps::Implied("deletes of children: a part of the delete of their parent"))
            }
            _ => Err("a filter without a key".to_owned()),
        }
    }

    fn update(&mut self, shape: &StatementShape) -> Result<WrittenSteps, String> {
        let Bson::Document(update) = &shape.update else { return Err("an update by a pipeline".to_owned()) };
        if !shape.sort.is_empty() {
            return Err("a sort: the records of a queue".to_owned());
        }
        let found = access(self.layout, &shape.collection, &shape.filter)?;
        if sets_copies_only(self, shape, update) {
            return Ok(WrittenSteps::Implied(COPIES));
        }
        let (By::Key(operand) | By::Unique(_, operand)) = &found.by else {
            return self.update_inside(shape, update, &found);
        };
        let owner = found.entity;
        let record = self.record(owner, operand);
        self.changes_of(shape, update, owner, &record, &found.rest)
    }

    /// An update of a record inside of another one that is found by a condition on the array.
    fn update_inside(
        &mut self,
        shape: &StatementShape,
        update: &Document,
        found: &Access<'l>,
    ) -> Result<WrittenSteps, String> {
        if found.entity.array.is_none() || shape.is_multi {
            return Err(if shape.is_multi { "many records at once" } else { "a filter without a key" }.to_owned());
        }
        let record = self.arguments.record(found.entity, None);
        self.changes_of(shape, update, found.entity, &record, &[])
    }

    fn changes_of(
        &mut self,
        shape: &StatementShape,
        update: &Document,
        found: &'l EntityPlace,
        record: &str,
        rest: &[FilterComparison<'l>],
    ) -> Result<WrittenSteps, String> {
        // One step for each entity whose fields are changed.
        let mut changed: Vec<(&'l EntityPlace, String, Changes)> = Vec::new();
        let mut other = Changes::default();
        for (operator, path, value) in assignments(update) {
            match named(self.layout, &shape.collection, path.trim_end_matches(".*")) {
                Some(Named::Field { entity: of, field, below }) => {
                    let below = below || path.ends_with(".*");
                    let at = match changed.iter().position(|(known, ..)| *known == of) {
                        Some(at) => at,
                        None => {
                            let argument = if of == found { record.to_owned() } else { self.inner_record(shape, of) };
                            changed.push((of, argument, Changes::default()));
                            changed.len() - 1
                        }
                    };
                    let argument = changed[at].1.clone();
                    self.change(&mut changed[at].2, of, field, &argument, (operator, value, below))?;
                }
                Some(Named::Parent { entity: of }) if operator == "$set" => {
                    let target = parent(self.layout, of).ok_or("a parent that is not in the model")?;
                    let to = self.arguments.record(target, None);
                    other.steps.push(moved(record, &relation_to_parent(of), &to));
                }
                Some(Named::Array { child }) => self.array(&mut other, child, record, operator, value)?,
                Some(Named::Children { .. }) => other.implied = true,
                Some(Named::Parent { .. }) => return Err(operator.to_owned()),
                None => drop(other.comments.insert("it also writes fields that are not in the model".to_owned())),
            }
        }
        let condition = if rest.is_empty() { None } else { self.guard(found, record, rest, update)? };
        let mut steps = Vec::new();
        for (of, argument, changes) in changed {
            let condition = condition.as_ref().filter(|_| of == found);
            steps.extend(update_step(&argument, &changes, condition));
            steps.extend(changes.steps);
            other.comments.extend(changes.comments);
            other.implied |= changes.implied;
        }
        steps.extend(other.steps);
        if condition.is_none() && !rest.is_empty() {
            other.comments.insert(format!("the filter also names {}", fields_of(rest)));
        }
        if shape.is_upsert {
            other.comments.insert("an upsert: records that do not exist are not made here".to_owned());
        }
        match (steps.is_empty(), other.implied) {
            (true, true) => Ok(WrittenSteps::Implied("lists and copies that the model keeps by itself")),
            (true, false) => Err("fields that are not in the model".to_owned()),
            (false, _) => Ok(WrittenSteps::Steps(steps, other.comments.into_iter().collect())),
        }
    }

    /// The argument with the record inside that an update changes: the one that the filter or the array filters name.
    fn inner_record(&mut self, shape: &StatementShape, of: &'l EntityPlace) -> String {
        let name = key_path(of);
        let key = |(path, value): (&String, &Bson)| {
            let is_key = path.split_once('.').is_some_and(|(_, field)| field == name);
            is_key.then(|| super::shape::slot(value)).flatten()
        };
        let slot = shape.array_filters.iter().flat_map(Document::iter).find_map(key).map(|(slot, _)| slot);
        self.arguments.record(of, slot.map(|slot| (self.part, slot)))
    }

    fn change(
        &mut self,
        changes: &mut Changes,
        of: &'l EntityPlace,
        field: &'l FieldPlace,
        record: &str,
        (operator, value, below): (&str, &Bson, bool),
    ) -> Result<(), String> {
        if field.copy_of.is_some() {
            changes.implied = true;
            return Ok(());
        }
        let known = name(&field.field);
        if field.is_list && field.refers.is_some() && !below {
            let target = field.refers.as_ref().and_then(|target| entity(self.layout, target));
            let target = target.ok_or("a list of records that are not in the model")?;
            let (verb, to) = match operator {
                "$push" | "$addToSet" => ("add", "to"),
                "$pull" | "$pullAll" => ("remove", "from"),
                operator => return Err(format!("{operator} of a list of records")),
            };
            let slot = super::shape::slot(value).filter(|(_, is_list)| !is_list);
            let added = self.arguments.record(target, slot.map(|(slot, _)| (self.part, slot)));
            changes.steps.push(mapping([(verb, added), (to, format!("{record}.{known}"))]));
            return Ok(());
        }
        match operator {
            "$inc" if !below => {
                changes.comments.insert("how much is added is not taken over".to_owned());
                changes.inc.push((known, value.as_i32().unwrap_or(1).to_string()));
            }
            "$setOnInsert" => {}
            "$unset" if !below => changes.set.push((known, "null".to_owned())),
            "$set" if !below && matches!(value, Bson::Null | Bson::Boolean(_)) => {
                changes.set.push((known, value.to_string()));
            }
            operator => {
                if below || operator != "$set" {
                    changes.comments.insert(format!("it changes a part of {}, the model sets all of it", field.field));
                }
                if !changes.set.iter().any(|(set, _)| *set == known) {
                    let value = self.value(of, field, value);
                    changes.set.push((known, format!("<{value}>")));
                }
            }
        }
        Ok(())
    }

    /// The argument with a new value of a field: values come as often as in the records.
    fn value(&mut self, of: &EntityPlace, field: &FieldPlace, value: &Bson) -> String {
        let target = field.refers.as_ref().filter(|_| !field.is_list).and_then(|target| entity(self.layout, target));
        match target {
            Some(target) => {
                let slot = super::shape::slot(value).map(|(slot, _)| (self.part, slot));
                self.arguments.record(target, slot)
            }
            None => self.arguments.expression(&field.field, format!("uniform({}).{}", of.entity, field.field)),
        }
    }

    fn array(
        &mut self,
        changes: &mut Changes,
        child: &'l EntityPlace,
        record: &str,
        operator: &str,
        value: &Bson,
    ) -> Result<(), String> {
        let step = match operator {
            "$push" | "$addToSet" if is_document(value) => {
                // The record around an array of an array is not the one that was found.
                let is_direct = child.array.as_ref().is_some_and(|array| array.len() == 1);
                self.create(child, is_direct.then_some(record))
            }
            "$pull" => {
                let key = value.as_document().and_then(|filter| filter.get(key_path(child)));
                let slot = key.and_then(super::shape::slot).map(|(slot, _)| (self.part, slot));
                mapping([("delete", self.arguments.record(child, slot))])
            }
            "$pop" => mapping([("delete", self.arguments.record(child, None))]),
            operator => return Err(format!("{operator} of a whole array of records")),
        };
        changes.steps.push(step);
        Ok(())
    }

    /// The condition of an update, besides the key. A limit of what is taken away is that something is there.
    fn guard(
        &mut self,
        of: &'l EntityPlace,
        record: &str,
        rest: &[FilterComparison<'l>],
        update: &Document,
    ) -> Result<Option<(String, String)>, String> {
        let mut entries = Vec::new();
        for condition in rest {
            let Named::Field { entity, field, below: false } = condition.named else { return Ok(None) };
            if entity != of || field.is_list {
                return Ok(None);
            }
            let takes = assignments(update).any(|(operator, path, value)| {
                operator == "$inc" && path == field.path.join(".") && *value == Bson::Int32(-1)
            });
            let value = match (&condition.operand, condition.operator.as_str()) {
                (Operand::Slot(_), "$gt" | "$gte") if takes => "{ $gt: 0 }".to_owned(),
                (Operand::Literal(literal), "$eq") => literal.clone(),
                (Operand::Literal(literal), operator) => mapping([(operator, literal)]),
                (Operand::Slot(_), operator) => {
                    let value = self.arguments.expression(&field.field, format!("{record}.{}", field.field));
                    if operator == "$eq" { format!("<{value}>") } else { mapping([(operator, format!("<{value}>"))]) }
                }
                _ => return Ok(None),
            };
            entries.push((name(&field.field), value));
        }
        let reason = rest.first().map(|condition| fields_of(std::slice::from_ref(condition))).unwrap_or_default();
        Ok(Some((mapping(entries), super::text::identifier(&reason))))
    }
}

/// Operator, path and value of each assignment; a replacement sets every field.
fn assignments(update: &Document) -> impl Iterator<Item = (&str, &str, &Bson)> {
    update.iter().flat_map(|(operator, fields)| -> Vec<(&str, &str, &Bson)> {
        match fields {
            Bson::Document(fields) if operator.starts_with('$') => {
                fields.iter().map(|(path, value)| (operator.as_str(), path.as_str(), value)).collect()
            }
            value if operator != KEY => vec![("$set", operator.as_str(), value)],
            _ => Vec::new(),
        }
    })
}

fn update_step(record: &str, changes: &Changes, condition: Option<&(String, String)>) -> Option<String> {
    if changes.set.is_empty() && changes.inc.is_empty() {
        return None;
    }
    let part = |key: &str, entries: &[(String, String)]| {
        (!entries.is_empty()).then(|| (key.to_owned(), mapping(entries.to_vec())))
    };
    let condition = condition.map(|(condition, reason)| {
        [("if".to_owned(), condition.clone()), ("else".to_owned(), format!("rejected('{reason}')"))]
    });
    let entries =
        [Some(("update".to_owned(), record.to_owned())), part("set", &changes.set), part("inc", &changes.inc)];
    Some(mapping(entries.into_iter().flatten().chain(condition.into_iter().flatten())))
}

fn moved(record: &str, relation: &str, to: &str) -> String {
    mapping([("update", record.to_owned()), ("set", mapping([(name(relation), format!("<{to}>"))]))])
}

fn rest_comment(rest: &[FilterComparison<'_>]) -> Vec<String> {
    if rest.is_empty() { Vec::new() } else { vec![format!("the filter also names {}", fields_of(rest))] }
}

/// Whether all that an update sets are copies of fields of other records, which the model does not have as fields.
fn sets_copies_only(translation: &StepTranslation<'_, '_>, shape: &StatementShape, update: &Document) -> bool {
    let is_copy = |(_, path, _): (&str, &str, &Bson)| match named(translation.layout, &shape.collection, path) {
        Some(Named::Field { field, .. }) => field.copy_of.is_some(),
        Some(_) => false,
        None => true,
    };
    assignments(update).next().is_some() && assignments(update).all(is_copy)
}
