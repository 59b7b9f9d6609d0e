//! Records by their `_id`: after concurrent calls each that must be stored is stored exactly once, without any audit.
//!
//! Which records must be stored is learned from the final rows of the sequential calls. An entity of which the baseline then
//! has every loaded record keeps its loaded records; one of which it has every acknowledged new record keeps new ones.

use std::collections::{HashMap, HashSet};

use crate::plan::call_id::creator;
use crate::plan::{Outcome, Plan, Value, written};
use crate::results::verification::Problem;

use super::call::{self, CallResult, FinishedCall};
use super::state::{FinalState, counts, id_of};

/// A new record, by entity and the text of its `_id`.
type Id = (usize, String);

/// The new records of a phase's calls.
#[derive(Debug, Default)]
pub struct NewRecords {
    /// Whether its call reported that it created it, and the call; `None` where the report does not say.
    reported: HashMap<Id, (Option<bool>, u64)>,
    /// Those that other writing calls name, which may remove them.
    named: HashSet<Id>,
}

/// The records of one entity that are not as they should be, by the kind of fault: stored twice, acknowledged and not stored,
/// loaded and not stored any more, stored although their calls reported that they did not create them.
type FaultyRecords = [Vec<String>; 4];

/// What the sequential calls show of the rows, and concurrent calls must not change: by entity, the kinds of fault that the
/// sequential calls do not lead to. `None` for an entity without `_id`.
#[derive(Debug)]
pub struct ExpectedRecords(Vec<Option<[bool; 4]>>);

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
        for record in arguments.flat_map(|argument| call::records_of(frame.slot(argument.slot))) {
            let Ok(id) = record.id() else { continue };
            let id = (record.entity(), written(&id));
            if call::creates(call, &*record) {
                self.reported.insert(id, (is_created, call));
            } else if writes && creator(record.ordinal()).is_some() {
                self.named.insert(id);
            }
        }
    }

    /// The records of one entity whose calls reported this, with their calls; without created ones that may be removed again.
    fn reported(&self, entity: usize, is_created: bool) -> impl Iterator<Item = (&str, u64)> {
        let own =
            self.reported.iter().filter(move |((of, _), (reported, _))| *of == entity && *reported == Some(is_created));
        let kept = own.filter(move |(id, _)| !is_created || !self.named.contains(*id));
        kept.map(|((_, id), (_, call))| (id.as_str(), *call))
    }

    /// Returns the records of one entity that are not as they should be.
    fn faulty(&self, entity: usize, generated: &FinalState, rows: &FinalState) -> FaultyRecords {
        let counts = counts(&rows[entity].1, id_of);
        let has = |id: &str| counts.contains_key(id);
        let of_call = |(id, call): (&str, u64)| format!("{id} of call {call}");
        let twice = counts.iter().filter(|(_, count)| **count > 1).map(|(id, _)| id.clone());
        let missing = self.reported(entity, true).filter(|(id, _)| !has(id)).map(of_call);
        let loaded = generated[entity].1.iter().map(id_of).filter(|id| !has(id));
        let refused = self.reported(entity, false).filter(|(id, _)| has(id)).map(of_call);
        [twice.collect(), missing.collect(), loaded.collect(), refused.collect()]
    }
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
        let mut of_entity = |(entity, (name, own)): (usize, &(String, Vec<Value>))| {
            plan.data.entities[entity].fields.iter().find(|field| *field.name == *"_id")?;
            let faulty = new.faulty(entity, generated, rows);
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
                     them are only found by audits: operations remove them, or every strategy loses them"
                ));
            }
            Some(faulty.map(|ids| ids.is_empty()))
        };
        let expected = rows.iter().enumerate().map(&mut of_entity).collect();
        (ExpectedRecords(expected), notes)
    }

    /// Compares the rows after calls with what must be there.
    pub fn check(&self, generated: &FinalState, rows: &FinalState, new: &NewRecords) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (entity, expected) in self.0.iter().enumerate() {
            let Some(expected) = expected else { continue };
            let name = &rows[entity].0;
            let titles = [
                format!("records of {name} are stored twice"),
                format!("acknowledged records of {name} are not stored"),
                format!("loaded records of {name} are not stored any more"),
                format!("records of {name} are stored whose calls reported not_found or rejected"),
            ];
            let faulty = new.faulty(entity, generated, rows);
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
