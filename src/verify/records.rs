//! Records by their `_id`: after concurrent calls each that must be stored is stored exactly once, without any audit.
//!
//! Which records must be stored is learned from the final rows of the sequential calls. An entity of which the baseline then
//! has every loaded record keeps its loaded records; one of which it has every acknowledged new record keeps new ones.

use std::collections::{HashMap, HashSet};

use crate::plan::call_id::FIRST_NEW_RECORD;
use crate::plan::{Outcome, Plan, Value, written};
use crate::results::verification::Problem;

use super::call::{self, CallResult, FinishedCall};
use super::state::{FinalState, id_of};

/// What a call reported of the record that it creates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reported {
    Created,
    NotCreated,
    Unknown,
}

/// A new record, by entity and the text of its `_id`.
type Id = (usize, String);

/// The new records of a phase's calls.
#[derive(Debug, Default)]
pub struct NewRecords {
    /// What was reported of each, and its call.
    reported: HashMap<Id, (Reported, u64)>,
    /// Those that other writing calls name, which may remove them.
    named: HashSet<Id>,
}

/// What the sequential calls show of the rows of one entity, and concurrent calls must not change.
#[derive(Debug, Clone, Copy)]
struct OfEntity {
    /// No `_id` occurs twice.
    is_unique: bool,
    /// Every loaded record is there.
    keeps_loaded: bool,
    /// Every acknowledged new record is there.
    keeps_new: bool,
    /// No record is there whose call reported that it did not create it.
    refuses: bool,
}

/// The same of every entity; `None` for one without `_id`.
#[derive(Debug)]
pub struct ExpectedRecords(Vec<Option<OfEntity>>);

impl NewRecords {
    /// Adds the records of one call.
    pub fn add(&mut self, plan: &Plan, call: u64, finished: &FinishedCall) {
        let Some((operation, frame)) = call::arguments(plan, call) else { return };
        let writes = call::writes(plan, operation);
        let reported = match &finished.result {
            CallResult::Value(Value::Outcome(Outcome::Ok)) => Reported::Created,
            CallResult::Value(Value::Outcome(Outcome::NotFound | Outcome::Rejected(_))) => Reported::NotCreated,
            // `same` and values do not say whether the record was created, and a failed call may have.
            CallResult::Value(_) | CallResult::Failed(_) | CallResult::Unknown(_) => Reported::Unknown,
        };
        let arguments = plan.operations[operation].arguments.iter();
        for record in arguments.flat_map(|argument| call::records_of(frame.slot(argument.slot))) {
            let Ok(id) = record.id() else { continue };
            let id = (record.entity(), written(&id));
            if call::creates(call, &*record) {
                self.reported.insert(id, (reported, call));
            } else if writes && record.ordinal() >= FIRST_NEW_RECORD {
                self.named.insert(id);
            }
        }
    }

    /// The records that one entity must have, with their calls.
    fn acknowledged(&self, entity: usize) -> impl Iterator<Item = (&str, u64)> {
        let created = self.reported.iter().filter(|(_, (reported, _))| *reported == Reported::Created);
        let own = created.filter(move |(id, _)| id.0 == entity && !self.named.contains(*id));
        own.map(|((_, id), (_, call))| (id.as_str(), *call))
    }

    fn refused(&self, entity: usize) -> impl Iterator<Item = (&str, u64)> {
        let refused = self.reported.iter().filter(|(_, (reported, _))| *reported == Reported::NotCreated);
        refused.filter(move |((of, _), _)| *of == entity).map(|((_, id), (_, call))| (id.as_str(), *call))
    }
}

/// How often every `_id` occurs in the rows of an entity.
fn counts(rows: &[Value]) -> HashMap<String, u64> {
    let mut counts = HashMap::new();
    for row in rows {
        *counts.entry(id_of(row)).or_default() += 1;
    }
    counts
}

impl ExpectedRecords {
    /// Learns them from generated rows and the final rows of the baseline's sequential calls.
    pub fn learn(plan: &Plan, generated: &FinalState, rows: &FinalState, new: &NewRecords) -> ExpectedRecords {
        let of_entity = |(entity, (_, rows)): (usize, &(String, Vec<Value>))| {
            let has_id = plan.data.entities[entity].fields.iter().any(|field| *field.name == *"_id");
            let counts = counts(rows);
            let has = |id: &str| counts.contains_key(id);
            has_id.then(|| OfEntity {
                is_unique: counts.values().all(|count| *count == 1),
                keeps_loaded: generated[entity].1.iter().all(|row| has(&id_of(row))),
                keeps_new: new.acknowledged(entity).all(|(id, _)| has(id)),
                refuses: !new.refused(entity).any(|(id, _)| has(id)),
            })
        };
        ExpectedRecords(rows.iter().enumerate().map(of_entity).collect())
    }

    /// Returns a sentence per entity of whose records something cannot be expected.
    pub fn notes(&self, rows: &FinalState, new: &NewRecords) -> Vec<String> {
        let twice =
            self.0.iter().enumerate().filter(|(_, expected)| expected.is_some_and(|expected| !expected.is_unique));
        let twice = twice.map(|(entity, _)| {
            let (name, rows) = &rows[entity];
            let ids = counts(rows);
            format!(
                "{} `{name}` records have only {} different `_id`s in the baseline: are they drawn too narrowly?",
                rows.len(),
                ids.len()
            )
        });
        twice.chain(self.lost(rows, new)).collect()
    }

    /// Returns a sentence per entity whose acknowledged records cannot be expected to be there.
    fn lost(&self, rows: &FinalState, new: &NewRecords) -> Vec<String> {
        let lossy =
            self.0.iter().enumerate().filter(|(_, expected)| expected.is_some_and(|expected| !expected.keeps_new));
        let note = |(entity, _): (usize, &Option<OfEntity>)| {
            let (name, rows) = &rows[entity];
            let counts = counts(rows);
            let (all, gone) = new
                .acknowledged(entity)
                .fold((0, 0), |(all, gone), (id, _)| (all + 1, gone + u64::from(!counts.contains_key(id))));
            format!(
                "{gone} of {all} acknowledged `{name}` records are not there after the sequential calls, so that losses of \
                 them are only found by audits: operations remove them, or every strategy loses them"
            )
        };
        lossy.map(note).collect()
    }

    /// Compares the rows after calls with what must be there.
    pub fn check(&self, generated: &FinalState, rows: &FinalState, new: &NewRecords) -> Vec<Problem> {
        let entities = self.0.iter().enumerate().filter_map(|(entity, expected)| Some((entity, (*expected)?)));
        entities
            .flat_map(|(entity, expected)| expected.check(entity, &generated[entity].1, &rows[entity], new))
            .collect()
    }
}

impl OfEntity {
    fn check(
        self,
        entity: usize,
        generated: &[Value],
        (name, rows): &(String, Vec<Value>),
        new: &NewRecords,
    ) -> Vec<Problem> {
        let counts = counts(rows);
        let has = |id: &str| counts.contains_key(id);
        let of_call = |(id, call): (&str, u64)| format!("{id} of call {call}");
        let twice = counts.iter().filter(|(_, count)| **count > 1).map(|(id, _)| id.clone());
        let missing = new.acknowledged(entity).filter(|(id, _)| !has(id)).map(of_call);
        let loaded = generated.iter().map(id_of).filter(|id| !has(id));
        let refused = new.refused(entity).filter(|(id, _)| has(id)).map(of_call);
        [
            problem(self.is_unique, format!("records of {name} are stored twice"), twice),
            problem(self.keeps_new, format!("acknowledged records of {name} are not stored"), missing),
            problem(self.keeps_loaded, format!("loaded records of {name} are not stored any more"), loaded),
            problem(
                self.refuses,
                format!("records of {name} are stored whose calls reported not_found or rejected"),
                refused,
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The problem of the records `ids`; `None` without any, or when there is nothing to expect of them.
fn problem(is_expected: bool, title: String, ids: impl Iterator<Item = String>) -> Option<Problem> {
    let ids: Vec<String> = ids.filter(|_| is_expected).collect();
    let lines = vec![format!("first     {}", ids.iter().min()?)];
    Some(Problem { title, lines, call: None, count: ids.len() as u64 })
}
