//! Writes as logical steps.

use std::collections::BTreeMap;

use crate::infer::layout::{EntityPlace, FieldPlace};

use super::access::{Named, entity, inside, key_path, named, parent, relation_name, relation_to_parent, root};
use super::argument::StepTranslation;
use super::condition::{Access, By, NamedComparison, UNKNOWN_COLLECTION, access, names_of};
use super::shape::{Operand, StatementShape, StatementTerm, Verb};
use super::text::{compared, identifier, mapping, name, names};
use super::with::StepEntry;

/// Why a write is no step of its own.
#[derive(Debug)]
pub(super) enum Unwritten {
    /// No logical step can say it.
    Unsaid(String),
    /// Another step of the model writes it as well.
    Implied(&'static str),
}

impl<T: Into<String>> From<T> for Unwritten {
    fn from(reason: T) -> Unwritten {
        Unwritten::Unsaid(reason.into())
    }
}

/// The changes of an update.
struct Changes<'l> {
    /// The one that was found, and others inside of it.
    records: Vec<RecordChanges<'l>>,
    /// Steps of their own.
    steps: Vec<String>,
    /// Whether something was left out that the model keeps by itself.
    is_implied: bool,
}

/// The changes of the fields of one record.
struct RecordChanges<'l> {
    entity: &'l EntityPlace,
    argument: String,
    /// By `set` and `inc`: fields and values.
    fields: BTreeMap<&'static str, Vec<(String, String)>>,
}

impl<'l> RecordChanges<'l> {
    fn new(entity: &'l EntityPlace, argument: String) -> Self {
        RecordChanges { entity, argument, fields: BTreeMap::new() }
    }

    /// The step, with its condition.
    fn step(&self, guard: &[StepEntry]) -> Option<String> {
        let fields = self.fields.iter().map(|(key, fields)| (*key, mapping(fields.clone())));
        let subject = [("update", self.argument.clone())].into_iter();
        (!self.fields.is_empty()).then(|| mapping(subject.chain(fields).chain(guard.to_vec())))
    }
}

impl<'l> StepTranslation<'_, 'l> {
    /// The logical steps of a write, or why there are none.
    pub(super) fn write(&mut self) -> Result<Vec<String>, Unwritten> {
        let shape = self.shape();
        if shape.verb == Verb::Insert {
            let made = root(self.layout, &shape.collection).ok_or(UNKNOWN_COLLECTION)?;
            return Ok(vec![self.create(made, None)]);
        }
        let found = access(self.layout, shape)?;
        if !shape.sort.is_empty() {
            return Err("a sort: the records of a queue".into());
        }
        if shape.verb == Verb::Delete { self.delete(shape, &found) } else { self.update(shape, &found) }
    }

    /// The step that makes a record, in the parent that an argument names, or in one that is drawn.
    fn create(&mut self, made: &'l EntityPlace, owner: Option<&str>) -> String {
        let owner = owner.map(str::to_owned).or_else(|| {
            let owner = parent(self.layout, made)?;
            Some(self.record_of(&owner.entity).unwrap_or_else(|| self.record(owner, None)))
        });
        let children = inside(self.layout, made);
        let size = |child: &&EntityPlace| {
            let mean = child.count as f64 / made.count.max(1) as f64;
            format!("'{}': uniform(1, {})", relation_name(child), (2.0 * mean - 1.0).round().max(1.0))
        };
        let sizes: Vec<String> = children.iter().map(size).collect();
        let sizes = if sizes.is_empty() { String::new() } else { format!(", {{{}}}", sizes.join(", ")) };
        let argument = self.expression(&format!("new_{}", made.entity), format!("new({}{sizes})", made.entity));
        let relations: Vec<&str> = children.iter().map(|child| relation_name(child)).collect();
        let with = (!relations.is_empty()).then(|| ("with", names(&relations)));
        mapping([("create", argument)].into_iter().chain(owner.map(|owner| ("in", owner))).chain(with))
    }

    fn delete(&mut self, shape: &StatementShape, found: &Access<'l>) -> Result<Vec<String>, Unwritten> {
        match &found.by {
            By::Key(operand) | By::Unique(_, operand) => {
                self.comment_rest(&found.rest);
                Ok(vec![mapping([("delete", self.record(found.entity, operand.slot()))])])
            }
            By::Parent(_) if shape.is_multi && found.rest.is_empty() => {
                Err(Unwritten::Implied("deletes of children: a part of the delete of their parent"))
            }
            _ => Err("a filter without a key".into()),
        }
    }

    fn comment_rest(&mut self, rest: &[NamedComparison<'_>]) {
        if !rest.is_empty() {
            self.comment(format!("the filter also names {}", names_of(rest)));
        }
    }

    fn update(&mut self, shape: &StatementShape, found: &Access<'l>) -> Result<Vec<String>, Unwritten> {
        if !shape.update.is_empty() && shape.update.iter().all(|change| self.is_copy(shape, change)) {
            return Err(Unwritten::Implied(
                "updates of copies, or of other fields that the model does not have: it changes copies with their source",
            ));
        }
        let (slot, rest) = match &found.by {
            By::Key(operand) | By::Unique(_, operand) => (operand.slot(), found.rest.as_slice()),
            _ if shape.is_multi => return Err("many records at once".into()),
            _ if found.entity.array.is_none() => return Err("a filter without a key".into()),
            // One record inside of another one, by a condition on the array.
            _ => (None, Default::default()),
        };
        let record = self.record(found.entity, slot);
        let records = vec![RecordChanges::new(found.entity, record)];
        let mut changes = Changes { records, steps: Vec::new(), is_implied: false };
        for change in &shape.update {
            self.change(&mut changes, shape, change)?;
        }
        let guard = self.guard(&changes.records[0], rest, &shape.update).unwrap_or_default();
        if guard.is_empty() {
            self.comment_rest(rest);
        }
        if shape.is_upsert {
            self.comment("an upsert: records that do not exist are not made here");
        }
        let step = |(at, record): (usize, &RecordChanges<'l>)| record.step(if at == 0 { &guard } else { &[] });
        let mut steps: Vec<String> = changes.records.iter().enumerate().filter_map(step).collect();
        steps.extend(changes.steps);
        match (steps.is_empty(), changes.is_implied) {
            (true, true) => Err(Unwritten::Implied("lists and copies that the model keeps by itself")),
            (true, false) => Err("fields that are not in the model".into()),
            (false, _) => Ok(steps),
        }
    }

    /// Whether a change is one of a copy, or of a field that the model does not have.
    fn is_copy(&self, shape: &StatementShape, change: &StatementTerm) -> bool {
        match named(self.layout, &shape.collection, &change.path) {
            Some(Named::Field { field, .. }) => field.copy_of.is_some(),
            named => named.is_none(),
        }
    }

    /// Adds one change of an update.
    fn change(&mut self, all: &mut Changes<'l>, shape: &StatementShape, change: &StatementTerm) -> Result<(), String> {
        let found = all.records[0].argument.clone();
        match named(self.layout, &shape.collection, &change.path) {
            Some(Named::Field { field, .. }) if field.copy_of.is_some() => all.is_implied = true,
            Some(Named::Field { entity: of, field, below }) => {
                let at = all.records.iter().position(|record| record.entity == of).unwrap_or(all.records.len());
                if at == all.records.len() {
                    all.records.push(RecordChanges::new(of, self.inner_record(shape, of)));
                }
                match &field.refers {
                    Some(target) if field.is_list && !below => {
                        let list = format!("{}.{}", all.records[at].argument, name(&field.field));
                        all.steps.push(self.list_change(target, list, change)?);
                    }
                    _ => self.field_change(&mut all.records[at], field, below, change),
                }
            }
            Some(Named::Parent { entity }) if change.operator == "$set" => {
                let to = self.record(parent(self.layout, entity).ok_or("a parent that is not in the model")?, None);
                let set = mapping([(name(relation_to_parent(entity)), format!("<{to}>"))]);
                all.steps.push(mapping([("update", found), ("set", set)]));
            }
            Some(Named::Parent { .. }) => return Err(change.operator.clone()),
            Some(Named::Array { child }) => all.steps.push(self.array_change(child, &found, change)?),
            Some(Named::Children { .. }) => all.is_implied = true,
            None => self.comment("it also writes fields that are not in the model"),
        }
        Ok(())
    }

    /// The argument with the record inside that an update changes: the one that the array filters name.
    fn inner_record(&mut self, shape: &StatementShape, of: &'l EntityPlace) -> String {
        let key = key_path(of);
        let is_key = |filter: &&StatementTerm| filter.path.split_once('.').is_some_and(|(_, path)| path == key);
        let filter = shape.array_filters.iter().find(is_key);
        self.record(of, filter.and_then(|filter| filter.operand.slot()))
    }

    /// The step of a change of a list of references.
    fn list_change(&mut self, target: &str, list: String, change: &StatementTerm) -> Result<String, String> {
        let target = entity(self.layout, target).ok_or("a list of records that are not in the model")?;
        let (verb, to) = match change.operator.as_str() {
            "$push" | "$addToSet" => ("add", "to"),
            "$pull" | "$pullAll" => ("remove", "from"),
            operator => return Err(format!("{operator} of a list of records")),
        };
        Ok(mapping([(verb, self.record(target, change.operand.slot())), (to, list)]))
    }

    fn field_change(
        &mut self,
        record: &mut RecordChanges<'l>,
        field: &FieldPlace,
        below: bool,
        change: &StatementTerm,
    ) {
        let known = name(&field.field);
        let (key, value) = match (change.operator.as_str(), &change.operand) {
            ("$setOnInsert", _) => return,
            ("$inc", Operand::Literal(sign)) if !below => {
                self.comment("how much is added is not taken over");
                ("inc", sign.clone())
            }
            ("$unset", _) if !below => ("set", "null".to_owned()),
            ("$set", Operand::Literal(literal)) if !below => ("set", literal.clone()),
            (operator, operand) => {
                if below || operator != "$set" {
                    self.comment(format!("it changes a part of {}, the model sets all of it", field.field));
                }
                if record.fields.get("set").is_some_and(|fields| fields.iter().any(|(field, _)| *field == known)) {
                    return;
                }
                let target = field.refers.as_ref().filter(|_| !field.is_list);
                let value = match target.and_then(|target| entity(self.layout, target)) {
                    Some(target) => self.record(target, operand.slot()),
                    // Values come as often as in the records.
                    None => self.expression(&field.field, format!("uniform({}).{}", record.entity.entity, field.field)),
                };
                ("set", format!("<{value}>"))
            }
        };
        record.fields.entry(key).or_default().push((known, value));
    }

    /// The step of a change of a whole array of records.
    fn array_change(&mut self, child: &'l EntityPlace, record: &str, change: &StatementTerm) -> Result<String, String> {
        match (change.operator.as_str(), &change.operand) {
            ("$push" | "$addToSet", Operand::Document) => {
                // The record around an array of an array is not the one that was found.
                let is_direct = child.array.as_ref().is_some_and(|array| array.len() == 1);
                Ok(self.create(child, is_direct.then_some(record)))
            }
            ("$pull" | "$pop", value) => {
                let filter = if let Operand::Filter(filter) = value { filter.as_slice() } else { &[] };
                let key = filter.iter().find(|comparison| comparison.path == key_path(child));
                Ok(mapping([("delete", self.record(child, key.and_then(|key| key.operand.slot())))]))
            }
            (operator, _) => Err(format!("{operator} of a whole array of records")),
        }
    }

    /// The condition of an update besides the key; none if there is none that can be said. A limit of what is taken away is that
    /// something is there.
    fn guard(
        &mut self,
        found: &RecordChanges<'l>,
        rest: &[NamedComparison<'l>],
        update: &[StatementTerm],
    ) -> Option<Vec<StepEntry>> {
        let reason = identifier(rest.first()?.named.name());
        let mut entries = Vec::new();
        for NamedComparison { named, operator, operand } in rest {
            let Named::Field { entity, field, .. } = named else { return None };
            if *entity != found.entity || field.is_list {
                return None;
            }
            let taken = Operand::Literal("-1".to_owned());
            let is_taken = |change: &StatementTerm| {
                change.operator == "$inc" && change.path == field.path.join(".") && change.operand == taken
            };
            let (operator, value) = match (operand, operator.as_str()) {
                (Operand::Slot(_), "$gt" | "$gte") if update.iter().any(is_taken) => ("$gt", "0".to_owned()),
                (Operand::Literal(literal), operator) => (operator, literal.clone()),
                (Operand::Slot(_), operator) => {
                    let value = format!("{}.{}", found.argument, field.field);
                    (operator, format!("<{}>", self.expression(&field.field, value)))
                }
                _ => return None,
            };
            entries.push((name(&field.field), compared(operator, value)));
        }
        Some(vec![("if", mapping(entries)), ("else", format!("rejected('{reason}')"))])
    }
}
