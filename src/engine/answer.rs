//! What the server replies, as values of the scenario.

use crate::plan::{Raw, ReplyShape, Value, Writer};
use crate::server::{Reply, WriteCounts, count};

/// The server's reply as a value of the scenario, whose parts stay the bytes that came.
pub(super) fn shaped(shape: ReplyShape, reply: Reply) -> Value {
    match shape {
        ReplyShape::Documents => documents(reply),
        ReplyShape::First => documents(reply).at(0).unwrap_or(Value::Null),
        ReplyShape::Count => documents(reply).at(0).and_then(|row| row.get("n")).unwrap_or(Value::Int(0)),
        ReplyShape::Values => first(reply).get("values").unwrap_or_else(|| Value::list(Vec::new())),
        ReplyShape::Insert => written(0, 0, Value::Null, reply.n(), 0),
        ReplyShape::Delete => written(0, 0, Value::Null, 0, reply.n()),
        ReplyShape::Update => update(reply.into_counts()),
        ReplyShape::Value => first(reply).get("value").unwrap_or(Value::Null),
        // The reply of a bulk write is made of those of its commands, and never comes from one.
        ReplyShape::Whole | ReplyShape::Bulk => Value::Document(first(reply)),
    }
}

pub(super) fn first(reply: Reply) -> Raw {
    match reply.into_batches().into_iter().next() {
        Some(batch) => Raw::new(batch),
        None => Raw::new(bson::RawDocumentBuf::new()),
    }
}

fn batch_documents(raw: &Raw) -> Value {
    let cursor = raw.get("cursor").unwrap_or(Value::Null);
    cursor.get("firstBatch").or_else(|| cursor.get("nextBatch")).unwrap_or(Value::Null)
}

/// All documents of a cursor; those of a single batch stay the bytes that the server sent.
pub(super) fn documents(reply: Reply) -> Value {
    if reply.batches().len() == 1 {
        return batch_documents(&first(reply));
    }
    let mut all = Vec::new();
    for batch in reply.into_batches() {
        let documents = batch_documents(&Raw::new(batch));
        all.extend(documents.items().into_iter().flatten());
    }
    Value::list(all)
}

/// The `_id`s of the documents that upserts made.
pub(super) fn upserted(counts: WriteCounts) -> impl Iterator<Item = Value> {
    counts.upserted.into_iter().filter_map(|made| Raw::new(made).get("_id"))
}

/// The server counts an upserted document as matched (`n`); the CRUD specification does not.
fn update(counts: WriteCounts) -> Value {
    let (matched, modified) = (counts.n - counts.upserted.len() as i64, counts.modified);
    let upserted = upserted(counts).next();
    written(matched, modified, upserted.unwrap_or(Value::Null), 0, 0)
}

pub(super) fn written(matched: i64, modified: i64, upserted: Value, inserted: i64, deleted: i64) -> Value {
    let (mut writer, open) = Writer::new();
    writer.value("matched", &Value::Int(matched));
    writer.value("modified", &Value::Int(modified));
    writer.value("upserted_id", &upserted);
    writer.value("inserted", &Value::Int(inserted));
    writer.value("deleted", &Value::Int(deleted));
    Value::Document(Raw::new(writer.finish(open)))
}

/// Whether a write did something: one that matched nothing leaves no state that others could see. What a raw command did is
/// not known, so it counts.
pub(super) fn has_changed(shape: ReplyShape, reply: &Reply) -> bool {
    match shape {
        ReplyShape::Insert | ReplyShape::Delete | ReplyShape::Update | ReplyShape::Bulk => reply.n() > 0,
        ReplyShape::Value => {
            let found = reply.batches().first().and_then(|reply| reply.get_document("lastErrorObject").ok());
            found.is_none_or(|found| count(found) > 0)
        }
        _ => true,
    }
}
