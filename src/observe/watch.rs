//! Operations from counters and the oplog: what happened between two snapshots, with nothing switched on.
//!
//! `$indexStats` has the reads of each index, `top` those of each collection, and the oplog all writes that changed something.

use std::collections::{BTreeMap, HashMap};

use bson::{Bson, Document, Timestamp};

use super::observations::{Observations, session_key};
use super::shape::{StatementShape, Stripper, Verb};
use super::statement::{Statement, number};

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
    let mut watch = Watch::new(database);
    for entry in oplog {
        watch.entry(&entry);
    }
    watch.finish(before, after)
}

/// Observations that grow entry by entry, so that an oplog of any length takes little memory.
#[derive(Debug)]
pub struct Watch {
    observations: Observations,
}

impl Watch {
    /// Nothing yet.
    pub fn new(database: &str) -> Watch {
        Watch { observations: Observations::new(database) }
    }

    /// Adds a remark on what could not be read.
    pub fn limit(&mut self, text: String) {
        self.observations.limits.push(text);
    }

    /// Adds an entry of the oplog.
    pub fn entry(&mut self, entry: &Document) {
        let at = entry.get_datetime("wall").map(|time| time.timestamp_millis()).unwrap_or_default();
        let kind = entry.get_str("op").unwrap_or_default();
        let Ok(object) = entry.get_document("o") else { return };
        if kind != "c" {
            return self.write(entry, at, None);
        }
        let key = match (entry.get_document("lsid"), entry.get("txnNumber")) {
            (Ok(session), Some(number)) => Some(session_key(session, number)),
            _ => None,
        };
        let is_transaction = number(entry.get("multiOpType")) == 0;
        let transaction = key.filter(|_| is_transaction).map(|key| self.observations.transaction(key));
        if let (true, Some(transaction)) = (object.contains_key("abortTransaction"), transaction) {
            self.observations.transactions[transaction] = Some(false);
        }
        let Ok(writes) = object.get_array("applyOps") else { return };
        if let Some(transaction) = transaction {
            // What is prepared and not aborted will be committed.
            self.observations.transactions[transaction] = Some(true);
        }
        for write in writes.iter().filter_map(Bson::as_document) {
            self.write(write, at, transaction);
        }
    }

    fn write(&mut self, write: &Document, at: i64, transaction: Option<usize>) {
        let (Ok(namespace), Ok(object)) = (write.get_str("ns"), write.get_document("o")) else { return };
        let collection = namespace.strip_prefix(&self.observations.database).and_then(|rest| rest.strip_prefix('.'));
        let Some(collection) = collection.filter(|name| !name.starts_with("system.")) else { return };
        if write.get_bool("fromMigrate").unwrap_or_default() {
            return;
        }
        let (hasher, key) = (self.observations.hasher(), |of: &Document| of.get("_id").cloned().unwrap_or(Bson::Null));
        let mut stripper = Stripper::new(&hasher);
        let filter = |stripper: &mut Stripper<'_>, of: &Document| {
            stripper.filter(&Document::from_iter([("_id".to_owned(), key(of))]))
        };
        let shape = match write.get_str("op").unwrap_or_default() {
            "i" => StatementShape::new(Verb::Insert, collection),
            "d" => {
                let filter = filter(&mut stripper, object);
                StatementShape { filter, ..StatementShape::new(Verb::Delete, collection) }
            }
            "u" => {
                let filter = filter(&mut stripper, write.get_document("o2").unwrap_or(object));
                let update = stripper.update(&Bson::Document(update(object)));
                StatementShape { filter, update, ..StatementShape::new(Verb::Update, collection) }
            }
            _ => return,
        };
        let values = stripper.values.into();
        let statement = Statement { shape: 0, at, connection: None, transaction, values, calls: 1 };
        self.observations.add_shape(shape, statement);
    }

    /// Adds the reads between two snapshots.
    pub fn finish(mut self, before: &CounterSnapshot, after: &CounterSnapshot) -> Observations {
        for (collection, indexes) in &after.indexes {
            let known = before.indexes.get(collection).map(Vec::as_slice).unwrap_or_default();
            let mut top = Top::between(&self.observations.database, collection, before, after);
            for index in indexes {
                let mut reads = accesses(index) - known.iter().find(|old| is_same(old, index)).map_or(0, accesses);
                if matches!(index.get_str("name"), Ok("_id_")) {
                    // Updates and deletes find their document by this index, also those that change nothing.
                    reads -= top.writes;
                }
                if let (true, Some(shape)) = (reads > 0, read_by(collection, index)) {
                    top.reads -= reads;
                    let calls = reads.unsigned_abs();
                    let values = Box::default();
                    let statement = Statement { shape: 0, at: 0, connection: None, transaction: None, values, calls };
                    self.observations.add_shape(shape, statement);
                }
            }
            self.observations.unattributed += top.reads.max(0).unsigned_abs();
        }
        self.observations.limits.extend(LIMITS.map(str::to_owned));
        self.observations
    }
}

/// Uses of a collection between two snapshots.
struct Top {
    reads: i64,
    writes: i64,
}

impl Top {
    fn between(database: &str, collection: &str, before: &CounterSnapshot, after: &CounterSnapshot) -> Top {
        let namespace = format!("{database}.{collection}");
        let count = |top: &Document, kind: &str| {
            let of_collection = top.get_document(&namespace).ok();
            let counter = of_collection.and_then(|counters| counters.get_document(kind).ok());
            number(counter.and_then(|counter| counter.get("count")))
        };
        let between = |kind: &str| count(&after.top, kind) - count(&before.top, kind);
        let reads = between("queries") + (between("commands") - OWN_COMMANDS).max(0);
        Top { reads, writes: between("update") + between("remove") }
    }
}

fn accesses(index: &Document) -> i64 {
    number(index.get_document("accesses").ok().and_then(|accesses| accesses.get("ops")))
}

/// Whether two counters are of the same index since the same start of the server.
fn is_same(old: &Document, new: &Document) -> bool {
    let since = |index: &Document| index.get_document("accesses").ok().and_then(|a| a.get("since").cloned());
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
    let mut shape = StatementShape { from_counters: true, ..StatementShape::new(Verb::Find, collection) };
    shape.filter = Document::from_iter([(first.clone(), Bson::String("?0".to_owned()))]);
    shape.sort =
        fields.filter(|(_, direction)| direction.as_str().is_none()).map(|(k, v)| (k.clone(), v.clone())).collect();
    Some(shape)
}

/// The update that an entry of the oplog records, in operators.
fn update(object: &Document) -> Document {
    let mut operators: HashMap<&str, Document> = HashMap::new();
    if let Ok(diff) = object.get_document("diff") {
        changes(diff, "", &mut operators);
        return operators.into_iter().map(|(name, fields)| (name.to_owned(), Bson::Document(fields))).collect();
    }
    // Servers before 5.0 have operators, and a replacement is the document.
    object.iter().filter(|(key, _)| *key != "$v").map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Adds the changes of a difference: `u` and `i` are fields that were set, `d` those that are gone, `sNAME` what changed inside.
fn changes(diff: &Document, prefix: &str, operators: &mut HashMap<&'static str, Document>) {
    let mut add = |operator, path: String, value: Bson| {
        operators.entry(operator).or_default().insert(path, value);
    };
    let is_array = diff.get_bool("a").unwrap_or_default();
    if is_array && diff.contains_key("l") {
        add("$pull", prefix.to_owned(), Bson::Document(Document::new()));
        return;
    }
    let mut inner = Vec::new();
    for (key, value) in diff {
        let rest = key.get(1..).unwrap_or_default();
        match (key.get(..1).unwrap_or_default(), value) {
            ("s", Bson::Document(diff)) => inner.push((join(prefix, rest), diff)),
            ("u", value) if is_array => add("$push", prefix.to_owned(), value.clone()),
            ("u" | "i", Bson::Document(fields)) => {
                fields.iter().for_each(|(name, value)| add("$set", join(prefix, name), value.clone()));
            }
            ("d", Bson::Document(fields)) => {
                fields.keys().for_each(|name| add("$unset", join(prefix, name), Bson::Null));
            }
            _ => {}
        }
    }
    for (path, diff) in inner {
        changes(diff, &path, operators);
    }
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}
