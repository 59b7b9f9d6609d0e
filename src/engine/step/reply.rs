//! The server's replies as values of the scenario.

use crate::plan::{Raw, ReplyShape, Value, Writer};
use crate::server::{Reply, WriteCounts, count};

/// Returns the server's reply as a value, whose parts stay the bytes that were received.
pub(super) fn reply_value(shape: ReplyShape, reply: Reply) -> Value {
    match shape {
        ReplyShape::Documents => documents(reply),
        ReplyShape::First => documents(reply).at(0).unwrap_or(Value::Null),
        ReplyShape::Count => documents(reply).at(0).and_then(|row| row.plain_field("n")).unwrap_or(Value::Int(0)),
        ReplyShape::Values => first_batch(reply).get("values").unwrap_or_else(|| Value::list(Vec::new())),
        ReplyShape::Insert => WriteResult { inserted: reply.n(), ..WriteResult::default() }.into_value(),
        ReplyShape::Delete => WriteResult { deleted: reply.n(), ..WriteResult::default() }.into_value(),
        ReplyShape::Update => WriteResult::of_update(reply.into_counts()).into_value(),
        ReplyShape::Value => first_batch(reply).get("value").unwrap_or(Value::Null),
        // The reply of a bulk write is composed from those of its commands and never received as one.
        ReplyShape::Whole | ReplyShape::Bulk => Value::Document(first_batch(reply)),
    }
}

fn first_batch(reply: Reply) -> Raw {
    reply.into_batches().into_iter().next().map_or_else(|| Raw::new(bson::RawDocumentBuf::new()), Raw::new)
}

fn batch_documents(raw: &Raw) -> Value {
    let cursor = raw.get("cursor").unwrap_or(Value::Null);
    cursor.plain_field("firstBatch").or_else(|| cursor.plain_field("nextBatch")).unwrap_or(Value::Null)
}

/// All documents of a cursor; those of a single batch stay the bytes that the server sent.
pub(crate) fn documents(reply: Reply) -> Value {
    if reply.batches().len() == 1 {
        return batch_documents(&first_batch(reply));
    }
    let mut all = Vec::new();
    for batch in reply.into_batches() {
        let documents = batch_documents(&Raw::new(batch));
        all.extend(documents.items().into_iter().flatten());
    }
    Value::list(all)
}

/// The result of a write as the scenario sees it.
#[derive(Default)]
pub(super) struct WriteResult {
    pub(super) matched: i64,
    pub(super) modified: i64,
    /// The server's entry for the first document that an upsert inserted, with its `_id`.
    pub(super) upserted: Option<Raw>,
    pub(super) inserted: i64,
    pub(super) deleted: i64,
}

impl WriteResult {
    /// The result of an update. The server counts an upserted document as matched (`n`); the CRUD specification does not.
    pub(super) fn of_update(counts: WriteCounts) -> WriteResult {
        let (matched, modified) = (counts.n - counts.upserted.len() as i64, counts.modified);
        let upserted = counts.upserted.into_iter().next().map(Raw::new);
        WriteResult { matched, modified, upserted, ..WriteResult::default() }
    }

    pub(super) fn into_value(self) -> Value {
        let (mut writer, open) = Writer::new();
        writer.int("matched", self.matched);
        writer.int("modified", self.modified);
        match self.upserted.as_ref().and_then(|upserted| upserted.element("_id")) {
            Some((kind, id)) => writer.element("upserted_id", kind, id),
            None => writer.null("upserted_id"),
        }
        writer.int("inserted", self.inserted);
        writer.int("deleted", self.deleted);
        Value::Document(Raw::new(writer.finish(open)))
    }
}

/// Whether a read found nothing. It visits no document of the reply.
pub(super) fn is_empty_reply(reply: &Value) -> bool {
    match reply {
        Value::Null => true,
        Value::List(documents) => documents.is_empty(),
        Value::Array(documents) => documents.is_empty(),
        _ => false,
    }
}

/// Whether a write changed data: one that matched nothing leaves no half-finished state that others could see. The effect
/// of a raw command is unknown, so it counts.
pub(super) fn has_changed(shape: ReplyShape, reply: &Reply) -> bool {
    match shape {
        ReplyShape::Insert | ReplyShape::Delete | ReplyShape::Update | ReplyShape::Bulk => reply.n() > 0,
        ReplyShape::Value => {
            let found = reply.batches().first().and_then(|reply| reply.get_document("lastErrorObject").ok());
            found.is_none_or(|found| count(found) > 0)
        }
        ReplyShape::Documents | ReplyShape::First | ReplyShape::Count | ReplyShape::Values | ReplyShape::Whole => true,
    }
}
