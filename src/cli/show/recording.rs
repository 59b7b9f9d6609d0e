//! Records the commands of a call and the server's replies in short.

use std::cell::{Cell, RefCell};

use bson::{Document, RawDocument, RawDocumentBuf, doc, rawdoc};

use crate::report::counted;
use crate::server::wrapper::{Sending, TargetWrapper};
use crate::server::{Batch, Failure, FailureKind, Reply, ReplyKind, Target, Transaction};

use super::statement::{READ_PREFERENCE, statement};

/// A command or a part of a transaction that was sent, with its reply in short.
#[derive(Debug)]
pub struct Sent {
    /// The mongosh statements that send the same.
    pub statements: String,
    /// The kind of reply of a command; `None` for a part of a transaction.
    pub kind: Option<ReplyKind>,
    /// The reply in short, such as `1 matched, 1 modified`; empty where nothing was replied.
    pub gist: String,
}

impl Sent {
    /// Whether it is a command that reads; the next command may depend on its result.
    pub fn is_read(&self) -> bool {
        matches!(self.kind, Some(ReplyKind::Cursor | ReplyKind::Single))
    }
}

/// A target that also records the commands sent to it.
pub struct RecordingTarget<'t, T> {
    target: &'t T,
    sent: RefCell<Vec<Sent>>,
}

impl<'t, T: Target> RecordingTarget<'t, T> {
    /// Nothing has been sent yet.
    pub fn new(target: &'t T) -> RecordingTarget<'t, T> {
        RecordingTarget { target, sent: RefCell::default() }
    }

    /// Returns what was sent, in order.
    pub fn into_sent(self) -> Vec<Sent> {
        self.sent.into_inner()
    }

    fn keep(&self, statements: impl Into<String>, kind: Option<ReplyKind>, gist: String) {
        self.sent.borrow_mut().push(Sent { statements: statements.into(), kind, gist });
    }
}

impl<T: Target> TargetWrapper for RecordingTarget<'_, T> {
    fn inner(&self) -> &impl Target {
        self.target
    }

    async fn pass(&self, sending: Sending<'_>) -> Result<Reply, Failure> {
        let handle = if sending.transaction.is_some() { "tx" } else { "db" };
        let (database, command, kind) = (sending.database, sending.command.clone(), sending.kind);
        let mut shown = Document::try_from(&*command).unwrap_or_default();
        shown.extend(sending.preference.map(|mode| (READ_PREFERENCE.to_owned(), doc! { "mode": mode }.into())));
        let reply = sending.send(self.target).await;
        let statements = statement(handle, &shown);
        self.keep(statements, Some(kind), gist(database, &command, &reply));
        reply
    }

    async fn pass_begin(&self, w: &str) -> Result<Transaction, Failure> {
        let written = w.parse::<u32>().map_or_else(|_| format!("'{w}'"), |members| members.to_string());
        let begin = format!(
            "var session = db.getMongo().startSession()\n\
                     var tx = session.getDatabase(db.getName())\n\
                     session.startTransaction({{ readConcern: {{ level: 'snapshot' }}, writeConcern: {{ w: {written} }} }})"
        );
        self.keep(begin, None, String::new());
        self.target.begin(w).await
    }

    async fn pass_end(&self, transaction: &mut Transaction, commits: bool) -> Result<(), Failure> {
        let done = self.target.end(transaction, commits).await;
        let failure = done.as_ref().err().filter(|_| commits);
        let gist = failure.map_or_else(String::new, |failure| format!("error: {failure}"));
        self.keep(if commits { "session.commitTransaction()" } else { "session.abortTransaction()" }, None, gist);
        done
    }
}

/// Returns a reply or an error in short. Errors name collections in full, and the name of the database is made up.
fn gist(database: &str, command: &RawDocument, reply: &Result<Reply, Failure>) -> String {
    let gist = match reply {
        Ok(reply) => gist_of_reply(command, reply),
        Err(failure) => format!("error: {failure}"),
    };
    gist.replace(&format!("{database}."), "")
}

fn gist_of_reply(command: &RawDocument, reply: &Reply) -> String {
    let name = command.iter().next().and_then(Result::ok).map_or("", |(name, _)| name.as_str());
    let error = reply.write_errors().first().map(|(_, failure)| format!(", error: {failure}")).unwrap_or_default();
    let text = match name {
        "aggregate" if writes(command) => "written".to_owned(),
        "aggregate" if is_count(command) => format!("counted {}", counted_documents(reply)),
        "find" | "aggregate" => match documents(reply) {
            0 => "nothing found".to_owned(),
            found => counted(found, "document"),
        },
        "distinct" => first(reply, |reply| Some(reply.get_array("values").ok()?.into_iter().count()))
            .map_or_else(String::new, |values| counted(values as u64, "value")),
        "insert" => format!("{} inserted", reply.n()),
        "delete" => format!("{} deleted", reply.n()),
        "update" => match (reply.n(), modified(reply)) {
            (0, _) => "nothing found".to_owned(),
            (n, (modified, 0)) => format!("{n} matched, {modified} modified"),
            (n, (modified, upserted)) => format!("{} matched, {modified} modified, {upserted} inserted", n - upserted),
        },
        "findAndModify" => match first(reply, |reply| reply.get_document("lastErrorObject").ok()?.get_i32("n").ok()) {
            Some(0) => "nothing found".to_owned(),
            Some(n) => counted(n as u64, "document"),
            None => String::new(),
        },
        _ => String::new(),
    };
    text + &error
}

/// The last stage of an aggregation; `None` without one.
fn last_stage(command: &RawDocument) -> Option<&RawDocument> {
    command.get_array("pipeline").ok()?.into_iter().last()?.ok()?.as_document()
}

/// Whether an aggregation writes its result, so that it returns nothing.
fn writes(command: &RawDocument) -> bool {
    let is_last = |stage| last_stage(command).is_some_and(|last| last.get(stage).is_ok_and(|value| value.is_some()));
    is_last("$out") || is_last("$merge")
}

/// Whether an aggregation is `countDocuments`, which has this last stage.
fn is_count(command: &RawDocument) -> bool {
    let group = last_stage(command).and_then(|stage| stage.get_document("$group").ok());
    group.is_some_and(|group| {
        *group == *rawdoc! { "_id": 1, "n": { "$sum": 1 } }
            || *group == *rawdoc! { "_id": 1_i64, "n": { "$sum": 1_i64 } }
    })
}

fn counted_documents(reply: &Reply) -> i64 {
    let count = first(reply, |reply| {
        let row = reply.get_document("cursor").ok()?.get_array("firstBatch").ok()?.into_iter().next()?.ok()?;
        let count = row.as_document()?.get("n").ok()??;
        count.as_i32().map(i64::from).or_else(|| count.as_i64())
    });
    count.unwrap_or(0)
}

fn first<R>(reply: &Reply, read: impl FnOnce(&RawDocument) -> Option<R>) -> Option<R> {
    read(reply.batches().first()?)
}

/// Returns the number of documents in all batches of a cursor.
fn documents(reply: &Reply) -> u64 {
    let in_batch = |batch: &Batch| {
        let cursor = batch.get_document("cursor").ok()?;
        let list = cursor.get_array("firstBatch").or_else(|_| cursor.get_array("nextBatch"));
        Some(list.ok()?.into_iter().count() as u64)
    };
    reply.batches().iter().filter_map(in_batch).sum()
}

/// Returns how many documents an update changed, and how many it inserted.
fn modified(reply: &Reply) -> (i64, i64) {
    match reply {
        Reply::Counts(counts) => (counts.modified, counts.upserted.len() as i64),
        Reply::Documents(_) => {
            let modified = first(reply, |reply| reply.get_i32("nModified").ok()).unwrap_or(0);
            let upserted = first(reply, |reply| Some(reply.get_array("upserted").ok()?.into_iter().count()));
            (modified.into(), upserted.unwrap_or(0) as i64)
        }
    }
}

/// A fake server that replies the same to every command, and fails after [`PretendServer::PATIENCE`].
#[derive(Debug)]
pub struct PretendServer {
    reply: RawDocumentBuf,
    replies_left: Cell<u32>,
}

impl PretendServer {
    /// How many commands get a reply. Loops could run for long, and their commands depend on replies anyway.
    const PATIENCE: u32 = 20;

    /// Returns one that finds nothing and changes nothing, and one that finds a document and changes very many.
    pub fn contrary() -> [PretendServer; 2] {
        let empty =
            rawdoc! { "ok": 1, "n": 0, "nModified": 0, "cursor": { "id": 0_i64, "firstBatch": [] }, "values": [] };
        let full = rawdoc! {
            "ok": 1, "n": 1_000_000, "nModified": 1_000_000, "cursor": { "id": 0_i64, "firstBatch": [{}] },
            "values": [1], "value": {},
        };
        [empty, full].map(|reply| PretendServer { reply, replies_left: Cell::new(PretendServer::PATIENCE) })
    }
}

impl Target for PretendServer {
    async fn run(&self, _: &str, _: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
        let Some(left) = self.replies_left.get().checked_sub(1) else {
            return Err(Failure { kind: FailureKind::Network, message: "no server".to_owned(), labels: Vec::new() });
        };
        self.replies_left.set(left);
        Ok(Reply::from(self.reply.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gists_of_replies() {
        let gist_of = |name: &str, reply: RawDocumentBuf| {
            let mut command = RawDocumentBuf::new();
            command.append(bson::raw::CString::try_from(name).unwrap(), "c");
            gist_of_reply(&command, &Reply::from(reply))
        };
        let batch = |documents: usize| rawdoc! { "cursor": { "firstBatch": vec![bson::RawBson::Int32(1); documents].into_iter().collect::<bson::RawArrayBuf>() } };
        assert_eq!(gist_of("find", batch(0)), "nothing found");
        assert_eq!(gist_of("aggregate", batch(1)), "1 document");
        let aggregate = |stage: RawDocumentBuf, rows: bson::RawArrayBuf| {
            let stages: bson::RawArrayBuf = [stage].into_iter().collect();
            let reply = rawdoc! { "cursor": { "firstBatch": rows } };
            gist_of_reply(&rawdoc! { "aggregate": "c", "pipeline": stages }, &Reply::from(reply))
        };
        let none = || bson::RawArrayBuf::new();
        let count = || rawdoc! { "$group": { "_id": 1, "n": { "$sum": 1 } } };
        assert_eq!(aggregate(count(), [rawdoc! { "_id": 1, "n": 12 }].into_iter().collect()), "counted 12");
        assert_eq!(aggregate(count(), none()), "counted 0");
        assert_eq!(aggregate(rawdoc! { "$merge": { "into": "d" } }, none()), "written");
        assert_eq!(aggregate(rawdoc! { "$out": "d" }, none()), "written");
        assert_eq!(aggregate(rawdoc! { "$match": {} }, none()), "nothing found");
        assert_eq!(gist_of("distinct", rawdoc! { "values": [1, 2] }), "2 values");
        assert_eq!(gist_of("insert", rawdoc! { "n": 3 }), "3 inserted");
        assert_eq!(gist_of("update", rawdoc! { "n": 0 }), "nothing found");
        assert_eq!(gist_of("update", rawdoc! { "n": 2, "nModified": 1 }), "2 matched, 1 modified");
        assert_eq!(
            gist_of("update", rawdoc! { "n": 1, "nModified": 0, "upserted": [{ "index": 0, "_id": 1 }] }),
            "0 matched, 0 modified, 1 inserted"
        );
        assert_eq!(gist_of("findAndModify", rawdoc! { "lastErrorObject": { "n": 0 } }), "nothing found");
        assert_eq!(gist_of("ping", rawdoc! { "ok": 1 }), "");
        let failed = rawdoc! { "n": 0, "writeErrors": [{ "index": 0, "code": 11000, "errmsg": "duplicate" }] };
        assert_eq!(gist_of("insert", failed), "0 inserted, error: duplicate");
    }
}
