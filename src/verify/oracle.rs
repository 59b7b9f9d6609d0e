//! The model's answers: logical steps executed in memory, over maps of records. This is what `does` means.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::FinalState;
use crate::plan::model::{Gives, Included, ListPart, LogicalRead, LogicalWrite, ModelStep, ReadStart, RelationWay};
use crate::plan::{EvalError, Frame, Outcome, Plan, Raw, Step, Template, Value, truth, written};

use super::row::{at, changed, elements, fields, has, matches, plus};

/// By the text of its `_id`, a record: its fields, and the `_id` of its parent under the parent's name.
type Records = BTreeMap<Arc<str>, Arc<Value>>;

/// A record, by its entity and the text of its `_id`.
pub type RecordId = (usize, Arc<str>);

/// What is asked of records of an entity: which fields, and related records.
type Wanted<'r> = (usize, &'r ListPart, &'r [Included]);

/// What a step gives, or why there is no answer.
type Answer<T = Value> = Result<T, EvalError>;

/// All records of a scenario at a moment. A clone shares those that neither has changed.
#[derive(Debug, Clone)]
pub struct Oracle<'p> {
    plan: &'p Plan,
    /// By entity.
    records: Vec<Records>,
}

impl<'p> Oracle<'p> {
    /// The loaded records.
    ///
    /// # Errors
    /// When a record cannot be drawn.
    pub fn new(plan: &'p Plan) -> Answer<Oracle<'p>> {
        let entities = 0..plan.data.entities.len();
        let mut oracle = Oracle { plan, records: entities.clone().map(|_| Records::new()).collect() };
        for entity in entities {
            let parent = plan.data.entities[entity].parent.map(|parent| &plan.data.entities[parent].name);
            for record in (0..plan.data.len(entity)).map(|ordinal| plan.data.whole(entity, ordinal)) {
                let parent = parent.map(|name| record.field(name)).transpose()?;
                oracle.insert(entity, &record, parent)?;
            }
        }
        Ok(oracle)
    }

    /// Makes a call. Returns the answer in the form in which results are compared; `None` where the model has none.
    ///
    /// # Errors
    /// When an expression of the operation has no value.
    pub fn call(&mut self, call: u64) -> Answer<Option<Value>> {
        self.call_of(self.plan.mix.draw(self.plan.round_seed(0), call), call)
    }

    /// Makes a call of an operation.
    fn call_of(&mut self, position: usize, call: u64) -> Answer<Option<Value>> {
        let Some(reply) = self.reply(position, call)? else { return Ok(None) };
        let shape = self.plan.operations[position].returns.as_ref();
        shape.map_or_else(|| reply.referenced(), |shape| shape.canonical(&reply)).map(Some)
    }

    /// Makes a call that reads. Returns the parts of the answer that may be old; `None` where there are none.
    ///
    /// # Errors
    /// As [`Oracle::call`].
    pub fn past(&mut self, call: u64) -> Answer<Option<Value>> {
        let plan = self.plan;
        let position = plan.mix.draw(plan.round_seed(0), call);
        let Some(shape) = &plan.operations[position].returns else { return Ok(None) };
        self.reply(position, call)?.map_or(Ok(None), |reply| shape.past(&reply))
    }

    /// Makes a call of an operation. Returns what it replies; `None` where the model has no answer.
    fn reply(&mut self, position: usize, call: u64) -> Answer<Option<Value>> {
        let (plan, seed) = (self.plan, self.plan.round_seed(0));
        let model = plan.model.as_ref().map(|model| &model.operations[position]);
        let Some(Ok(operation)) = model else { return Ok(None) };
        let frame = &mut plan.arguments(position, seed, call, operation.slots)?;
        let mut answer = None;
        for step in &operation.steps {
            match step {
                ModelStep::Read(read, alias) => {
                    let reply = self.read(read, frame)?;
                    alias.iter().for_each(|slot| frame.set(*slot, reply.clone()));
                    frame.set(operation.reply, reply);
                }
                ModelStep::Write(writes) => answer = Some(self.write_all(writes, frame)?),
                ModelStep::Other(steps) => answer = other(steps, frame)?,
            }
            if answer.is_some() {
                break;
            }
        }
        Ok(Some(answer.unwrap_or_else(|| frame.slot(operation.reply).clone())))
    }

    /// The rows of all entities.
    ///
    /// # Errors
    /// Never, as all records are drawn.
    pub fn rows(&self) -> Answer<FinalState> {
        let rows =
            self.records.iter().zip(self.plan.data.entities.iter()).enumerate().map(|(at, (records, entity))| {
                let all = Value::list(records.values().map(|row| Value::clone(row)).collect());
                Ok((entity.name.to_string(), self.plan.data.canonical_rows(at, &all)?))
            });
        rows.collect()
    }

    /// The records that are others than before.
    pub fn changed_since(&self, before: &Oracle<'_>) -> Vec<RecordId> {
        let of_entity = |(entity, (now, before)): (usize, (&Records, &Records))| {
            let is_same = |id: &&Arc<str>| match (now.get(*id), before.get(*id)) {
                (Some(now), Some(before)) => Arc::ptr_eq(now, before),
                _ => false,
            };
            let gone = before.keys().filter(|id| !now.contains_key(*id));
            let changed: Vec<_> = now.keys().filter(|id| !is_same(id)).chain(gone).cloned().collect();
            changed.into_iter().map(move |id| (entity, id))
        };
        self.records.iter().zip(&before.records).enumerate().flat_map(of_entity).collect()
    }

    fn insert(&mut self, entity: usize, record: &Value, parent: Option<Value>) -> Answer<()> {
        let owner = self.plan.data.entities[entity].parent.map(|parent| &self.plan.data.entities[parent].name);
        let mut row = record.content()?.entries();
        if let (Some(name), Some(parent)) = (owner, parent) {
            row.retain(|(field, _)| field != name);
            row.push((Arc::clone(name), id_of(&parent)?));
        }
        self.records[entity].insert(key(record)?, Arc::new(Value::Map(row.into())));
        Ok(())
    }

    // Reads.

    fn read(&self, read: &LogicalRead, frame: &mut Frame) -> Answer {
        let all = || self.records[read.entity].values().cloned().collect();
        let rows: Vec<Arc<Value>> = match &read.subject {
            ReadStart::All => all(),
            ReadStart::Record(record, by) => {
                let record = record.evaluate(frame)?;
                let is_it = |row: &Arc<Value>| {
                    let mut fields = by.iter();
                    fields.all(|field| record.field(field).is_ok_and(|value| at(row, field) == value))
                };
                all().into_iter().filter(is_it).collect()
            }
            ReadStart::Related(start, entity, relation) => {
                match self.records[*entity].get(&key(&start.evaluate(frame)?)?) {
                    Some(start) => self.related(start, relation),
                    None => Vec::new(),
                }
            }
        };
        let rows = part(rows, &read.part, frame)?;
        Ok(match &read.gives {
            Gives::Record => self.with(rows.first().map(|row| &**row), (read.entity, &read.part, &read.with), frame)?,
            Gives::List => self.rows_with(&rows, (read.entity, &read.part, &read.with), frame)?,
            Gives::Count => Value::Int(rows.len() as i64),
            Gives::Sum(field) => rows.iter().try_fold(Value::Int(0), |sum, row| plus(&sum, &at(row, field)))?,
        })
    }

    /// What is returned of some records.
    fn rows_with(&self, rows: &[Arc<Value>], of: Wanted<'_>, frame: &mut Frame) -> Answer {
        let rows = rows.iter().map(|row| self.with(Some(row), of, frame));
        Ok(Value::list(rows.collect::<Answer<_>>()?))
    }

    /// What is returned of a record.
    fn with(&self, row: Option<&Value>, (entity, own, with): Wanted<'_>, frame: &mut Frame) -> Answer {
        let own = fields(row, &own.fields);
        if with.is_empty() {
            return Ok(own);
        }
        let mut made = vec![(Arc::clone(&self.plan.data.entities[entity].name), own)];
        for Included { name, relation, part: of, with } in with {
            let others = row.map_or_else(Vec::new, |row| self.related(row, relation));
            let others = part(others, of, frame)?;
            let wanted = (relation.entity, of, &with[..]);
            let value = match row {
                Some(_) if relation.is_one => self.with(others.first().map(|row| &**row), wanted, frame)?,
                Some(_) => self.rows_with(&others, wanted, frame)?,
                None => Value::Null,
            };
            made.push((Arc::clone(name), value));
        }
        Ok(Value::Map(made.into()))
    }

    /// The records to which a relation leads from one, in the order of its list.
    fn related(&self, row: &Value, relation: &RelationWay) -> Vec<Arc<Value>> {
        let others = &self.records[relation.entity];
        if relation.is_inverse {
            let id = at(row, "_id");
            return others.values().filter(|other| has(&at(other, &relation.field), &id)).cloned().collect();
        }
        let ids = at(row, &relation.field);
        let ids: Vec<Value> = if relation.is_one { vec![ids] } else { ids.items().into_iter().flatten().collect() };
        ids.iter().filter_map(|id| others.get(&*written(id)).cloned()).collect()
    }

    // Writes.

    /// Makes all of the writes, or none when one fails.
    fn write_all(&mut self, writes: &[LogicalWrite], frame: &mut Frame) -> Answer {
        let before = self.records.clone();
        let mut outcome = Value::Outcome(Outcome::Ok);
        for write in writes {
            match self.write(write, frame)? {
                Ok(made) if writes.len() == 1 => {
                    outcome = self.returned(write, frame)?.unwrap_or(Value::Outcome(made));
                }
                Ok(_) => {}
                Err(failed) => {
                    self.records = before;
                    return Ok(failed);
                }
            }
        }
        Ok(outcome)
    }

    /// The new value that a write returns instead of its outcome.
    fn returned(&self, write: &LogicalWrite, frame: &mut Frame) -> Answer<Option<Value>> {
        let LogicalWrite::Update { entity, record, returning: Some(field), .. } = write else { return Ok(None) };
        Ok(self.records[*entity].get(&key(&record.evaluate(frame)?)?).map(|row| at(row, field)))
    }

    /// Makes a write. Returns its outcome, or as an error the one that ends the operation.
    fn write(&mut self, write: &LogicalWrite, frame: &mut Frame) -> Answer<Result<Outcome, Value>> {
        let gone = Ok(Err(Value::Outcome(Outcome::NotFound)));
        match write {
            LogicalWrite::Create { entity, record, parent, with } => {
                let parent = parent.as_ref().map(|parent| parent.evaluate(frame)).transpose()?;
                if let (Some(parent), Some(of)) = (&parent, self.plan.data.entities[*entity].parent)
                    && !self.records[of].contains_key(&key(parent)?)
                {
                    return gone;
                }
                let record = record.evaluate(frame)?;
                self.insert(*entity, &record, parent)?;
                for (list, child) in with {
                    for one in record.field(list)?.items().into_iter().flatten() {
                        self.insert(*child, &one, Some(record.clone()))?;
                    }
                }
                Ok(Ok(Outcome::Ok))
            }
            LogicalWrite::Update { entity, record, set, inc, moves_to, condition, .. } => {
                let key = key(&record.evaluate(frame)?)?;
                let Some(row) = self.records[*entity].get(&key).cloned() else { return gone };
                if let Some((condition, otherwise)) = condition
                    && !matches(&row, &bound(condition, frame)?)
                {
                    return Ok(Err(otherwise.evaluate(frame)?));
                }
                let mut made = Value::clone(&row);
                for (field, value) in set.as_ref().map(|set| bound(set, frame)).transpose()?.unwrap_or_default() {
                    let parent = moves_to.filter(|of| self.plan.data.entities[*of].name == field);
                    if parent.is_some_and(|of| !self.records[of].contains_key(&*written(&value))) {
                        return gone;
                    }
                    made = changed(&made, &field, &|_| Ok(value.clone()))?;
                }
                for (field, value) in inc.as_ref().map(|inc| bound(inc, frame)).transpose()?.unwrap_or_default() {
                    made = changed(&made, &field, &|old| plus(old, &value))?;
                }
                if made == *row {
                    return Ok(Ok(Outcome::Same));
                }
                self.records[*entity].insert(key, Arc::new(made));
                Ok(Ok(Outcome::Ok))
            }
            LogicalWrite::Delete { entity, record } => {
                let key = key(&record.evaluate(frame)?)?;
                if !self.delete(*entity, &key) {
                    return gone;
                }
                Ok(Ok(Outcome::Ok))
            }
            LogicalWrite::Link { adds, record, owner: (owner, entity), field } => {
                let (id, owner) = (id_of(&record.evaluate(frame)?)?, key(&owner.evaluate(frame)?)?);
                let Some(row) = self.records[*entity].get(&owner).cloned() else { return gone };
                if has(&at(&row, field), &id) == *adds {
                    return Ok(Ok(Outcome::Same));
                }
                let made = changed(&row, field, &|list| {
                    let others = list.items().into_iter().flatten().filter(|one| *one != id);
                    Ok(Value::list(others.chain(adds.then(|| id.clone())).collect()))
                })?;
                self.records[*entity].insert(owner, Arc::new(made));
                Ok(Ok(Outcome::Ok))
            }
        }
    }

    /// Deletes a record with its children. Returns whether it was there.
    fn delete(&mut self, entity: usize, key: &str) -> bool {
        let Some(row) = self.records[entity].remove(key) else { return false };
        let this = &self.plan.data.entities[entity];
        for (_, child) in &this.children {
            let relation =
                RelationWay { entity: *child, field: Arc::clone(&this.name), is_inverse: true, is_one: false };
            for row in self.related(&row, &relation) {
                self.delete(*child, &written(&at(&row, "_id")));
            }
        }
        true
    }
}

/// The part of some records that is asked for.
fn part(mut rows: Vec<Arc<Value>>, part: &ListPart, frame: &mut Frame) -> Answer<Vec<Arc<Value>>> {
    if let Some(condition) = &part.condition {
        let condition = bound(condition, frame)?;
        rows.retain(|row| matches(row, &condition));
    }
    let order = |one: &Value, other: &Value| {
        let directed = |field: &str, descends: bool| {
            let order = at(one, field).sort_order(&at(other, field));
            if descends { order.reverse() } else { order }
        };
        part.sort.iter().map(|(field, descends)| directed(field, *descends)).find(|order| *order != Ordering::Equal)
    };
    let order = |one: &Value, other: &Value| order(one, other).unwrap_or(Ordering::Equal);
    rows.sort_by(|one, other| order(one, other));
    if let Some(last) = &part.after {
        let last = last.evaluate(frame)?;
        rows.retain(|row| order(row, &last) == Ordering::Greater);
    }
    let mut number = |expression: &Option<_>, default: usize| {
        let value = expression.as_ref().map(|one: &crate::plan::Expression| one.evaluate(frame)).transpose()?;
        match value {
            None => Ok(default),
            Some(Value::Int(number)) if number >= 0 => Ok(number as usize),
            Some(other) => Err(EvalError::expected("a number of records", &other)),
        }
    };
    let (page, limit) = (number(&part.page, 1)?, number(&part.limit, usize::MAX)?);
    Ok(rows.into_iter().skip(page.saturating_sub(1).saturating_mul(limit)).take(limit).collect())
}

/// The fields of a document with its slots filled.
fn bound(template: &Template, frame: &mut Frame) -> Answer<Vec<(Arc<str>, Value)>> {
    Ok(Value::Document(Raw::new(template.bind(frame)?)).entries())
}

/// The `_id` of a record, or the value itself.
fn id_of(value: &Value) -> Answer {
    value.as_record().map_or_else(|| Ok(value.clone()), |record| record.id())
}

/// The text of a record's `_id`, or of its number where the entity has none.
fn key(value: &Value) -> Answer<Arc<str>> {
    Ok(match (id_of(value)?, value) {
        (Value::Null, Value::Record(record)) => Arc::from(format!("#{}", record.ordinal())),
        (id, _) => Arc::from(written(&id)),
    })
}

/// Steps that need no records. Returns the value of a `return`.
fn other(steps: &[Step], frame: &mut Frame) -> Answer<Option<Value>> {
    for step in steps {
        let mut answer = None;
        match step {
            Step::Let(assignments) => {
                for (slot, value) in assignments {
                    let value = value.evaluate(frame)?;
                    frame.set(*slot, value);
                }
            }
            Step::Return(value) => answer = Some(value.evaluate(frame)?),
            Step::If { condition, then, otherwise } => {
                let branch = if truth(&condition.evaluate(frame)?)? { then } else { otherwise };
                answer = other(branch, frame)?;
            }
            Step::ForEach { slot, list, body } => {
                for item in elements(&list.evaluate(frame)?) {
                    frame.set(*slot, item);
                    answer = other(body, frame)?;
                    if answer.is_some() {
                        break;
                    }
                }
            }
            // Only places: the compiler lets no other step through.
            _ => {}
        }
        if answer.is_some() {
            return Ok(answer);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use crate::compile::Choice;
    use crate::compile::fixture::chosen;

    use super::*;

    const TEXT: &str = "
format: 1
name: test
title: Test
entities:
  tag: { count: 3, fields: { _id: index } }
  post: { count: 2, fields: { _id: index, name: \"'p' + string(index)\", tags: 'sample(tag, 3)' }, inverse: { tags: posts } }
  comment: { of: post, as: comments, count: 3, fields: { _id: index, votes: index }, sort: { _id: 1 } }
operations:
  latest: { arguments: { post: 'record(post, 0)' }, does: { list: post.comments, reverse: true, limit: 2, fields: [_id] } }
  after: { arguments: { post: 'record(post, 0)', comment: 'record(comment, 0)' }, does: { list: post.comments, sort: { votes: 1, _id: 1 }, after: comment } }
  page: { arguments: { post: 'record(post, 0)' }, does: { list: post.comments, page: 2, size: 2, fields: [_id] } }
  count: { arguments: { post: 'record(post, 0)' }, does: { count: post.comments, where: { votes: { $gte: 1 } } } }
  sum: { arguments: { post: 'record(post, 0)' }, does: { sum: post.comments.votes } }
  owner: { arguments: { comment: 'record(comment, 0)' }, does: { get: comment, with: { post: [name] } } }
  tags: { arguments: { post: 'record(post, 0)' }, does: { list: post.tags } }
  tagged: { arguments: { tag: 'record(tag, 1)' }, does: { count: tag.posts } }
  move: { arguments: { comment: 'record(comment, 0)', to: 'record(post, 1)' }, does: { update: comment, set: { post: <to> } } }
  vote: { arguments: { comment: 'record(comment, 0)' }, does: { update: comment, inc: { votes: 1 }, if: { votes: { $lt: 1 } }, else: rejected('enough') } }
  untag: { arguments: { tag: 'record(tag, 1)', post: 'record(post, 0)' }, does: { remove: tag, from: post.tags } }
  tag: { arguments: { tag: 'record(tag, 1)', post: 'record(post, 0)' }, does: { add: tag, to: post.tags } }
  delete: { arguments: { comment: 'record(comment, 1)' }, does: { delete: comment } }
  both: { arguments: { comment: 'record(comment, 2)', other: 'record(comment, 1)' }, does: { atomically: [{ update: comment, inc: { votes: 5 } }, { delete: other }] } }
  create: { arguments: { post: 'record(post, 0)', comment: new(comment) }, does: { create: comment, in: post } }
  clear: { arguments: { post: 'record(post, 0)' }, does: { delete: post } }
  all: { does: [{ count: comment, as: n }, { return: '[n, reply == n]' }], returns: [value] }
mixes: { default: { all: 1 } }
strategies:
  referenced: { shape: { post.comments: reference } }
";

    #[test]
    fn steps_mean_what_they_say() {
        let plan = chosen(TEXT, &Choice::default());
        let mut oracle = Oracle::new(&plan).unwrap();
        let mut answer = |operation: &str| {
            let position = plan.operations.iter().position(|one| &*one.name == operation).unwrap();
            written(&oracle.call_of(position, 0).unwrap().unwrap())
        };
        let mut expect = |operation, expected| assert_eq!(answer(operation), expected, "{operation}");
        expect("latest", "[{_id: 2}, {_id: 1}]");
        expect("after", "[{_id: 1, votes: 1}, {_id: 2, votes: 2}]");
        expect("page", "[{_id: 2}]");
        expect("count", "2");
        expect("sum", "3");
        expect("owner", "{comment: {_id: 0, votes: 0}, post: {name: \"p0\"}}");
        for expected in ["ok()", "same()"] {
            expect("move", expected);
        }
        expect("owner", "{comment: {_id: 0, votes: 0}, post: {name: \"p1\"}}");
        expect("latest", "[{_id: 2}, {_id: 1}]");
        for expected in ["ok()", "rejected(\"enough\")"] {
            expect("vote", expected);
        }
        for (tags, tagged, changed) in
            [("[{_id: 0}, {_id: 1}, {_id: 2}]", "2", "ok()"), ("[{_id: 0}, {_id: 2}]", "1", "same()")]
        {
            expect("tags", tags);
            expect("tagged", tagged);
            expect("untag", changed);
        }
        expect("tag", "ok()");
        expect("tags", "[{_id: 0}, {_id: 2}, {_id: 1}]");
        for expected in ["ok()", "not_found()"] {
            expect("delete", expected);
        }
        // The first write is undone with the second.
        expect("both", "not_found()");
        expect("sum", "2");
        expect("create", "ok()");
        expect("all", "[6, true]");
        expect("clear", "ok()");
        expect("create", "not_found()");
        expect("all", "[4, true]");
        expect("clear", "not_found()");
    }
}
