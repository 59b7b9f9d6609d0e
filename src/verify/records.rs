//! Records by their `_id`: after concurrent calls each that must be stored is stored exactly once, without any audit.
//!
//! Which records must be stored is learned from the final rows of the sequential calls. An entity of which the baseline then
//! has every loaded record keeps its loaded records; one of which it has every acknowledged new record keeps new ones. Records that
//! a call may have removed are left out, in the sequential calls and in others: concurrent calls may remove a record that the
//! same calls one after the other do not remove.

use std::collections::{HashMap, HashSet};

use crate::plan::call_id::creator;
use crate::plan::model::{LogicalWrite, ModelStep};
use crate::plan::{LogicalRecord, Outcome, Plan, Value, written};
use crate::results::verification::Problem;

use super::call::{self, CallResult, FinishedCall};
use super::state::{FinalState, counts, id_of};

/// A record, by entity and the text of its `_id`.
type Id = (usize, String);

/// The new records of a phase's calls.
#[derive(Debug, Default)]
pub struct NewRecords {
    /// Whether its call reported that it created it, and the call; `None` where the report does not say.
    reported: HashMap<Id, (Option<bool>, u64)>,
    /// Those that other writing calls name, which may remove them.
    named: HashSet<Id>,
    /// By operation, the records of all kinds that are named by writing calls that did not report to have done nothing.
    touched: HashMap<usize, HashSet<Id>>,
    /// By record, those under which it may be: a writing call names both, as it makes one in the other, or moves it there.
    parents: HashMap<Id, HashSet<Id>>,
}

/// What may have removed records.
struct Removals<'r> {
    /// The records that are named by calls that remove records.
    named: HashSet<&'r Id>,
    /// By record, those under which it was or may have been.
    parents: HashMap<Id, HashSet<Id>>,
}

/// The records of one entity that are not as they should be, by the kind of fault: stored twice, acknowledged and not stored,
/// loaded and not stored any more, stored although their calls reported that they did not create them.
type FaultyRecords = [Vec<String>; 4];

/// What the sequential calls show of the rows, and concurrent calls must not change: by entity, the kinds of fault that the
/// sequential calls do not lead to. `None` for an entity without `_id`.
#[derive(Debug)]
pub struct ExpectedRecords {
    kinds: Vec<Option<[bool; 4]>>,
    /// The operations that remove records.
    removing: HashSet<usize>,
}

impl NewRecords {
    /// Adds the records of one call.
    pub fn add(&mut self, plan: &Plan, call: u64, finished: &FinishedCall) {
        let Some((operation, frame)) = call::arguments(plan, call) else { return };
        let writes = call::writes(plan, operation);
        let is_created = match &finished.result {
            CallResult::Value(Value::Outcome(Outcome::Ok)) => Some(true),
            CallResult::Value(Value::Outcome(Outcome::NotFound | Outcome::Rejected(_))) => Some(false),
            // `same` and values do not say whether the record was created, and a failed call may have.
            CallResult::Value(_) | CallResult::Failed(_) | CallResult::Unknown(_) => None,
        };
        let arguments = plan.operations[operation].arguments.iter();
        let records = arguments.flat_map(|argument| call::records_of(frame.slot(argument.slot)));
        let records: Vec<_> = records.filter_map(|record| Some((id(&*record)?, record))).collect();
        for (id, record) in &records {
            let is_own = call::creates(call, &**record);
            if is_own {
                self.reported.insert(id.clone(), (is_created, call));
            } else if writes && creator(record.ordinal()).is_some() {
                self.named.insert(id.clone());
            }
            if !writes || is_created == Some(false) {
                continue;
            }
            if !is_own {
                self.touched.entry(operation).or_default().insert(id.clone());
            }
            let Some(parent) = plan.data.entities[id.0].parent else { continue };
            let drawn = record.get(&plan.data.entities[parent].name).ok().flatten();
            let drawn = drawn.as_ref().and_then(Value::as_record).and_then(|parent| self::id(&**parent));
            let named = records.iter().map(|(other, _)| other).filter(|other| other.0 == parent).cloned();
            self.parents.entry(id.clone()).or_default().extend(named.chain(drawn));
        }
    }

    /// What calls of these operations may have removed.
    fn removals(&self, plan: &Plan, generated: &FinalState, removing: &HashSet<usize>) -> Removals<'_> {
        let named = removing.iter().filter_map(|operation| self.touched.get(operation)).flatten().collect();
        let mut parents = self.parents.clone();
        for (entity, (_, rows)) in generated.iter().enumerate() {
            let Some(parent) = plan.data.entities[entity].parent else { continue };
            for row in rows {
                let id = row.plain_field(&plan.data.entities[parent].name).unwrap_or(Value::Null);
                parents.entry((entity, id_of(row))).or_default().insert((parent, written(&id)));
            }
        }
        Removals { named, parents }
    }

    /// The records of one entity whose calls reported this, with their calls; without created ones that may be removed again.
    fn reported(&self, entity: usize, is_created: bool) -> impl Iterator<Item = (&str, u64)> {
        let own =
            self.reported.iter().filter(move |((of, _), (reported, _))| *of == entity && *reported == Some(is_created));
        let kept = own.filter(move |(id, _)| !is_created || !self.named.contains(*id));
        kept.map(|((_, id), (_, call))| (id.as_str(), *call))
    }

    /// Returns the records of one entity that are not as they should be.
    fn faulty(
        &self,
        entity: usize,
        generated: &FinalState,
        rows: &FinalState,
        removals: &Removals<'_>,
    ) -> FaultyRecords {
        let counts = counts(&rows[entity].1, id_of);
        let has = |id: &str| counts.contains_key(id);
        let is_lost = |id: &str| !has(id) && !removals.may_have(&(entity, id.to_owned()));
        let of_call = |(id, call): (&str, u64)| format!("{id} of call {call}");
        let twice = counts.iter().filter(|(_, count)| **count > 1).map(|(id, _)| id.clone());
        let missing = self.reported(entity, true).filter(|(id, _)| is_lost(id)).map(of_call);
        let loaded = generated[entity].1.iter().map(id_of).filter(|id| is_lost(id));
        let refused = self.reported(entity, false).filter(|(id, _)| has(id)).map(of_call);
        [twice.collect(), missing.collect(), loaded.collect(), refused.collect()]
    }
}

impl Removals<'_> {
    /// Whether a record, or one above it, may have been removed.
    fn may_have(&self, id: &Id) -> bool {
        let (mut seen, mut left) = (HashSet::new(), vec![id]);
        while let Some(id) = left.pop() {
            if self.named.contains(id) {
                return true;
            }
            if seen.insert(id) {
                left.extend(self.parents.get(id).into_iter().flatten());
            }
        }
        false
    }
}

/// The operations that remove records: those whose logical steps say so. Where an operation has none, it is one of whose calls one
/// named a record that is not there at the end.
fn removing(plan: &Plan, rows: &FinalState, new: &NewRecords) -> HashSet<usize> {
    let ids: Vec<_> = rows.iter().map(|(_, rows)| counts(rows, id_of)).collect();
    let removes = |operation: &usize| {
        if let Some(Ok(model)) = plan.model.as_ref().map(|model| &model.operations[*operation]) {
            let is_delete = |write: &LogicalWrite| matches!(write, LogicalWrite::Delete { .. });
            return model.steps.iter().any(|step| matches!(step, ModelStep::Write(all) if all.iter().any(is_delete)));
        }
        new.touched.get(operation).into_iter().flatten().any(|(entity, id)| !ids[*entity].contains_key(id))
    };
    (0..plan.operations.len()).filter(removes).collect()
}

/// How a record is named; `None` where it has no `_id`, or that cannot be drawn.
fn id(record: &dyn LogicalRecord) -> Option<Id> {
    record.id().ok().map(|id| (record.entity(), written(&id)))
}

impl ExpectedRecords {
    /// Learns them from generated rows and the final rows of the baseline's sequential calls. Also returns a sentence for
    /// everything that cannot be expected for a reason that the user should know.
    pub fn learn(
        plan: &Plan,
        generated: &FinalState,
        rows: &FinalState,
        new: &NewRecords,
    ) -> (ExpectedRecords, Vec<String>) {
        let mut notes = Vec::new();
        let removing = removing(plan, rows, new);
        let removals = new.removals(plan, generated, &removing);
        let mut of_entity = |(entity, (name, own)): (usize, &(String, Vec<Value>))| {
            plan.data.entities[entity].fields.iter().find(|field| *field.name == *"_id")?;
            let faulty = new.faulty(entity, generated, rows, &removals);
            let [twice, missing, ..] = &faulty;
            if !twice.is_empty() {
                let (all, different) = (own.len(), counts(own, id_of).len());
                notes.push(format!(
                    "{all} `{name}` records have only {different} different `_id`s in the baseline: are they drawn too \
                     narrowly?"
                ));
            }
            if !missing.is_empty() {
                let (gone, all) = (missing.len(), new.reported(entity, true).count());
                notes.push(format!(
                    "{gone} of {all} acknowledged `{name}` records are not there after the sequential calls, so that losses of \
                     them are only found by audits: operations remove them without naming them, or every strategy loses them"
                ));
            }
            Some(faulty.map(|ids| ids.is_empty()))
        };
        let kinds = rows.iter().enumerate().map(&mut of_entity).collect();
        (ExpectedRecords { kinds, removing }, notes)
    }

    /// Compares the rows after calls with what must be there.
    pub fn check(&self, plan: &Plan, generated: &FinalState, rows: &FinalState, new: &NewRecords) -> Vec<Problem> {
        let mut problems = Vec::new();
        let removals = new.removals(plan, generated, &self.removing);
        for (entity, expected) in self.kinds.iter().enumerate() {
            let Some(expected) = expected else { continue };
            let name = &rows[entity].0;
            let titles = [
                format!("records of {name} are stored twice"),
                format!("acknowledged records of {name} are not stored"),
                format!("loaded records of {name} are not stored any more"),
                format!("records of {name} are stored whose calls reported not_found or rejected"),
            ];
            let faulty = new.faulty(entity, generated, rows, &removals);
            for ((title, ids), is_expected) in titles.into_iter().zip(faulty).zip(expected) {
                if let Some(first) = ids.iter().min().filter(|_| *is_expected) {
                    let (lines, count) = (vec![format!("first     {first}")], ids.len() as u64);
                    problems.push(Problem { title, lines, call: None, count });
                }
            }
        }
        problems
    }
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
  ward: { count: 2, fields: { _id: index } }
  stay: { of: ward, as: stays, count: 2, fields: { _id: index } }
  note: { of: stay, as: notes, count: 1, fields: { _id: index, text: \"'a'\" } }
operations:
  write: { arguments: { stay: 'record(stay, 0)', note: new(note) }, does: { create: note, in: stay } }
  elsewhere: { arguments: { stay: 'record(stay, 3)', note: new(note) }, does: { create: note, in: stay } }
  move: { arguments: { stay: 'record(stay, 0)', ward: 'record(ward, 1)' }, does: { update: stay, set: { ward: <ward> } } }
  close: { arguments: { ward: 'record(ward, 1)' }, does: { delete: ward } }
  leave: { arguments: { stay: 'record(stay, 0)' }, does: { delete: stay } }
mixes: { default: { write: 1, elsewhere: 1, move: 1, close: 1, leave: 1 } }
strategies:
  referenced: { shape: { ward.stays: reference } }
";

    /// What is wrong if these operations succeed at the same time and no new note is stored, when none of them is called before.
    fn problems(operations: &[&str], outcome: Outcome) -> Vec<String> {
        let plan = chosen(TEXT, &Choice::default());
        let rows =
            |entity: usize| (plan.data.entities[entity].name.to_string(), plan.data.generated_rows(entity).unwrap());
        let generated: FinalState = (0..plan.data.entities.len()).map(rows).collect();
        let (expected, _) = ExpectedRecords::learn(&plan, &generated, &generated, &NewRecords::default());
        let mut new = NewRecords::default();
        for name in operations {
            let operation = plan.operations.iter().position(|one| *one.name == **name).unwrap();
            let call = (0..).find(|call| plan.mix.draw(plan.round_seed(0), *call) == operation).unwrap();
            let created = matches!(*name, "write" | "elsewhere");
            let outcome = if created { Outcome::Ok } else { outcome.clone() };
            let result = CallResult::Value(Value::Outcome(outcome));
            new.add(&plan, call, &FinishedCall { operation, result, past: None, retries: 0, is_interrupted: false });
        }
        expected.check(&plan, &generated, &generated, &new).into_iter().map(|one| one.title).collect()
    }

    #[test]
    fn a_new_record_may_be_gone_with_one_above_it() {
        const LOST: &str = "acknowledged records of note are not stored";
        assert_eq!(problems(&["write"], Outcome::Ok), [LOST]);
        assert_eq!(problems(&["write", "leave"], Outcome::Ok), [""; 0]);
        assert_eq!(problems(&["elsewhere", "leave"], Outcome::Ok), [LOST], "another stay is removed");
        assert_eq!(problems(&["write", "leave"], Outcome::NotFound), [LOST], "nothing is removed");
        // The stay was moved to a ward that is closed.
        assert_eq!(problems(&["write", "move", "close"], Outcome::Ok), [""; 0]);
        assert_eq!(problems(&["write", "close"], Outcome::Ok), [LOST]);
        assert_eq!(problems(&["elsewhere", "close"], Outcome::Ok), [""; 0], "loaded in that ward");
    }
}
