//! Operations from counters and the oplog: what happened between two snapshots, with nothing switched on.
//!
//! `$indexStats` has the reads of each index, `top` those of each collection, and the oplog all writes that changed something.

use std::collections::BTreeMap;

use bson::{Bson, Document, Timestamp, doc};

use super::access::KEY;
use super::command::{Stripper, join, number};
use super::observations::{Observations, session_key};
use super::shape::{Operand, Statement, StatementShape, StatementTerm, Verb};

/// What a snapshot itself adds to the `commands` of a collection in `top`.
const OWN_COMMANDS: i64 = 2;

/// What this source cannot say.
const LIMITS: [&str; 2] = [
    "counters have no projections, limits, skew, nor what belongs together, and a $lookup counts as reads of two collections: \
     a log has them (--log)",
    "the oplog has writes that changed something, and values instead of what was added: `set` where it may be `inc`",
];

/// The counters of one server at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CounterSnapshot {
    /// By collection: the documents of `$indexStats`.
    pub indexes: BTreeMap<String, Vec<Document>>,
    /// `totals` of `top`.
    pub top: Document,
    /// The newest entry of the oplog; none on a server without one.
    pub newest: Option<Timestamp>,
    /// The member of a replica set whose counters these are; empty elsewhere.
    pub member: String,
}

/// Reads what happened on a database between two snapshots of the same server: reads from the counters, writes from the entries of
/// the oplog.
pub fn read(
    database: &str,
    before: &CounterSnapshot,
    after: &CounterSnapshot,
    oplog: impl IntoIterator<Item = Document>,
) -> Observations {
    let mut observations = Observations::new(database);
    oplog.into_iter().for_each(|entry| observations.add_entry(&entry));
    observations.add_reads(before, after);
    observations
}

impl Observations {
    /// Adds an entry of the oplog.
    pub(super) fn add_entry(&mut self, entry: &Document) {
        let at = entry.get_datetime("wall").map(|time| time.timestamp_millis()).unwrap_or_default();
        let Ok(object) = entry.get_document("o") else { return };
        if !matches!(entry.get_str("op"), Ok("c")) {
            return self.add_change(entry, at, None);
        }
        let writes = object.get_array("applyOps");
        // Several writes of one command have a session, too.
        let key = session_key(entry).filter(|_| number(entry.get("multiOpType")) == 0);
        let transaction = key.map(|key| self.key(key));
        let is_aborted = object.contains_key("abortTransaction");
        if let Some(transaction) = transaction.filter(|_| is_aborted || writes.is_ok()) {
            // What is prepared and not aborted will be committed.
            self.ends.insert(transaction, !is_aborted);
        }
        for write in writes.into_iter().flatten().filter_map(Bson::as_document) {
            self.add_change(write, at, transaction);
        }
    }

    fn add_change(&mut self, write: &Document, at: i64, transaction: Option<usize>) {
        let (Ok(namespace), Ok(object)) = (write.get_str("ns"), write.get_document("o")) else { return };
        let Some(collection) = self.collection(namespace) else { return };
        let (command, verb, found) = match write.get_str("op") {
            Ok("i") => ("insert", Verb::Insert, None),
            Ok("d") => ("delete", Verb::Delete, Some(object)),
            Ok("u") => ("update", Verb::Update, Some(write.get_document("o2").unwrap_or(object))),
            _ => return,
        };
        if write.get_bool("fromMigrate").unwrap_or_default() {
            return;
        }
        let mut shape = StatementShape::new(command, verb, collection);
        let mut stripper = Stripper::new(&self.hasher);
        let key = found.map(|found| doc! { KEY: found.get(KEY).cloned().unwrap_or(Bson::Null) });
        shape.filter = key.and_then(|key| stripper.filter("", &key).ok()).unwrap_or_default();
        if verb == Verb::Update {
            match object.get_document("diff") {
                Ok(diff) => changes(diff, "", &mut stripper, &mut shape.update),
                // Servers before 5.0 have operators, and a replacement is the document.
                Err(_) => shape.update = stripper.update(Some(&object.clone().into())).unwrap_or_default(),
            }
        }
        let values = stripper.values;
        self.add_statement(shape, Statement { at, transaction, values, calls: 1, ..Statement::default() });
    }

    /// Adds the reads between two snapshots.
    pub(super) fn add_reads(&mut self, before: &CounterSnapshot, after: &CounterSnapshot) {
        for (collection, indexes) in &after.indexes {
            let known = before.indexes.get(collection).map(Vec::as_slice).unwrap_or_default();
            let namespace = format!("{}.{collection}", self.database);
            let uses = |kind: &str| counter(&after.top, &namespace, kind) - counter(&before.top, &namespace, kind);
            let mut unattributed = uses("queries") + (uses("commands") - OWN_COMMANDS).max(0);
            for index in indexes {
                let mut reads = accesses(index) - known.iter().find(|old| is_same(old, index)).map_or(0, accesses);
                if matches!(index.get_str("name"), Ok("_id_")) {
                    // Updates and deletes find their document by this index, also those that change nothing.
                    reads -= uses("update") + uses("remove");
                }
                if let (true, Some(shape)) = (reads > 0, read_by(collection, index)) {
                    unattributed -= reads;
                    self.add_statement(shape, Statement { calls: reads.unsigned_abs(), ..Statement::default() });
                }
            }
            self.unattributed += unattributed.max(0).unsigned_abs();
        }
        self.limits.extend(LIMITS.map(str::to_owned));
    }
}

/// The uses of a collection in `top`.
fn counter(top: &Document, namespace: &str, kind: &str) -> i64 {
    let counter = top.get_document(namespace).and_then(|counters| counters.get_document(kind));
    number(counter.ok().and_then(|counter| counter.get("count")))
}

fn accesses(index: &Document) -> i64 {
    number(index.get_document("accesses").ok().and_then(|accesses| accesses.get("ops")))
}

/// Whether two counters are of the same index since the same start of the server.
fn is_same(old: &Document, new: &Document) -> bool {
    let since =
        |index: &Document| index.get_document("accesses").ok().and_then(|accesses| accesses.get("since").cloned());
    old.get("name") == new.get("name") && since(old) == since(new)
}

/// The read that an index is probably for: equal in the first field, sorted by the others.
fn read_by(collection: &str, index: &Document) -> Option<StatementShape> {
    let key = index.get_document("key").ok()?;
    let mut fields = key.iter();
    let (first, kind) = fields.next()?;
    if kind.as_str().is_some_and(|kind| kind != "hashed") {
        return None;
    }
    let mut shape = StatementShape { from_counters: true, ..StatementShape::new("find", Verb::Read, collection) };
    shape.filter = vec![StatementTerm::new(first, "$eq", Operand::Slot(0))];
    let sorted = fields.filter(|(_, direction)| direction.as_str().is_none());
    shape.sort = sorted.map(|(path, direction)| (path.clone(), number(Some(direction)).signum())).collect();
    Some(shape)
}

/// Adds the changes of a difference: `u` and `i` are fields that were set, `d` those that are gone, `sNAME` what changed inside.
fn changes(diff: &Document, prefix: &str, stripper: &mut Stripper, found: &mut Vec<StatementTerm>) {
    let is_array = diff.get_bool("a").unwrap_or_default();
    if is_array && diff.contains_key("l") {
        return found.push(stripper.assignment("$pull", prefix, &Document::new().into()));
    }
    for (key, value) in diff {
        let rest = key.get(1..).unwrap_or_default();
        match (key.get(..1).unwrap_or_default(), value) {
            ("s", Bson::Document(diff)) => changes(diff, &join(prefix, rest), stripper, found),
            ("u", value) if is_array => found.push(stripper.assignment("$push", prefix, value)),
            (kind @ ("u" | "i" | "d"), Bson::Document(fields)) => {
                let operator = if kind == "d" { "$unset" } else { "$set" };
                let field = |(name, value): (&String, &Bson)| {
                    let value = if kind == "d" { &Bson::Null } else { value };
                    stripper.assignment(operator, &join(prefix, name), value)
                };
                found.extend(fields.iter().map(field));
            }
            _ => {}
        }
    }
}
