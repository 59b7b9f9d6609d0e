//! Sample documents and sample calls.

use bson::{Bson, Document};

use crate::engine::{Documents, Interpreter, StepError};
use crate::plan::{Collection, EvalError, Frame, Implicit, LoadOrder, Plan, Program, Step, Value, Writer, written};
use crate::server::Target;

use super::plain_document;
use super::recording::{PretendServer, RecordingTarget, Sent};

/// How many documents are looked at for one whose arrays are not empty.
const LOOKED_AT: usize = 100;

/// The longest result of a call that is shown, in characters.
const RESULT: usize = 90;

/// Makes the first document of a collection without an empty array, or else the first one, and counts its bytes. `None` when
/// the collection starts empty.
///
/// # Errors
/// When a document has no value.
pub fn sample_document(collection: &Collection, plan: &Plan) -> Result<Option<(Document, usize)>, EvalError> {
    let mut first = None;
    for raw in Documents::new(plan, collection, LoadOrder::Grouped).take(LOOKED_AT) {
        let raw = raw?;
        let document = plain_document(&raw)?;
        let has_empty = document.values().any(|value| value.as_array().is_some_and(Vec::is_empty));
        let sample = (document, raw.as_bytes().len());
        if !has_empty {
            return Ok(Some(sample));
        }
        first.get_or_insert(sample);
    }
    Ok(first)
}

/// What one call of a program sends.
pub struct SampleCall {
    /// In order.
    pub sent: Vec<Sent>,
    /// The last comment: the result, an error, or what cannot be known.
    pub end: Option<String>,
}

impl SampleCall {
    /// Makes the call on a database.
    pub async fn on_server<T: Target>(target: &T, database: &str, program: &Program, mut frame: Frame) -> SampleCall {
        let recording = RecordingTarget::new(target);
        let result = Interpreter::new(&recording, database).choosing_members().run(program, &mut frame).await;
        let sent = recording.into_sent();
        let end = match result {
            // What it gives is the last reply.
            Ok(Value::Outcome(outcome)) => Some(format!("result: {outcome}")),
            Ok(_) if program.implicit == Implicit::Reply => None,
            Ok(value) => Some(format!("result: {}", brief(&written(&value)))),
            // The last statement shows what the server said.
            Err(StepError::Failed { .. }) if sent.last().is_some_and(|sent| sent.gist.starts_with("error: ")) => None,
            Err(halt) => Some(format!("error: {halt}")),
        };
        SampleCall { sent, end }
    }

    /// Finds the commands that do not depend on replies: the first one, and in programs without decisions the commands after
    /// it that are the same after two contrary replies, up to the first one that reads.
    pub async fn without_server(program: &Program, mut frame: Frame) -> SampleCall {
        let before = frame.slots.clone();
        let mut calls = Vec::new();
        let mut is_finished = true;
        for server in PretendServer::contrary() {
            let recording = RecordingTarget::new(&server);
            is_finished &= Interpreter::new(&recording, "").choosing_members().run(program, &mut frame).await.is_ok();
            frame.slots.clone_from(&before);
            calls.push(recording.into_sent());
        }
        let [empty, full] = [&calls[0], &calls[1]];
        let mut known = empty.iter().zip(full).take_while(|(a, b)| a.statements == b.statements).count();
        let decides = |sent: &Sent| sent.is_read() || (sent.kind.is_some() && !program.is_straight());
        if let Some(position) = empty.iter().position(decides) {
            known = known.min(position + 1);
        }
        is_finished &= known == empty.len() && known == full.len() && (program.is_straight() || sends_once(program));
        let mut sent = calls.swap_remove(0);
        sent.truncate(known);
        // No server has replied.
        sent.iter_mut().for_each(|sent| sent.gist.clear());
        SampleCall { sent, end: (!is_finished).then(|| "Further commands depend on replies.".to_owned()) }
    }
}

/// Whether the only command of a program is one of its own steps, in no loop or branch.
fn sends_once(program: &Program) -> bool {
    let is_command = |step: &Step| matches!(step, Step::Command(_) | Step::Bulk(_));
    program.steps.iter().filter(|step| is_command(step)).count() == 1
        && program.steps.iter().all(|step| step.bodies().is_empty())
}

/// Returns a value of the scenario as BSON.
///
/// # Errors
/// When a part of it has no value.
pub fn as_bson(value: &Value) -> Result<Bson, EvalError> {
    // A drawn record is its `_id`; without an `_id`, its fields.
    let whole = match value {
        Value::Record(record) if !record.is_whole() && matches!(record.id()?, Value::Null) => Some(record.document()?),
        _ => None,
    };
    let whole = whole.map(Value::Document);
    let value = whole.as_ref().unwrap_or(value);
    let written = Writer::document(|writer| writer.value("value", value))?;
    let document = Document::try_from(&*written).unwrap_or_default();
    Ok(document.get("value").cloned().unwrap_or(Bson::Null))
}

fn brief(text: &str) -> String {
    match text.char_indices().nth(RESULT) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use bson::bson;

    use super::*;
    use crate::compile::Choice;
    use crate::compile::fixture::chosen;

    #[test]
    fn drawn_records_are_shown_by_id_or_by_their_fields() {
        let text = "format: 1\nname: test\ntitle: Test\nentities:\n  page: { count: 1, fields: { _id: index } }\n  \
                    tag: { of: page, as: tags, count: 1, fields: { word: \"'a'\", n: '7' } }\noperations:\n  \
                    act: { arguments: { page: uniform(page), tag: uniform(tag), none: 'null', made: \"new(tag, page)\" } }\n\
                    mixes: { default: { act: 1 } }\nstrategies:\n  a:\n    collections: { pages: { each: page } }\n    \
                    operations: { act: { findOne: pages, filter: { _id: <page> } } }\n    state: { tag: { find: pages } }\n";
        let plan = chosen(text, &Choice::default());
        let frame = plan.arguments(0, plan.round_seed(0), 3, plan.arms[0].operations[0].slots).unwrap();
        let shown = |slot: usize| as_bson(frame.slot(slot)).unwrap();
        assert_eq!(shown(0), bson!(0));
        assert_eq!(shown(1), bson!({ "word": "a", "n": 7 }));
        assert_eq!(shown(2), Bson::Null);
        assert_eq!(shown(3), bson!({ "word": "a", "n": 7 }));
    }
}
