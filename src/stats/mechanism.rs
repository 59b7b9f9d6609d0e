//! What a call of one operation does in the slower of two strategies that takes longer: one kind of work with its numbers.
//!
//! A kind counts only where no other kind would leave the same counters. Commands, for example, explain at most as many times
//! the time as there are times the commands; what takes longer than that has another cause, which a later kind names.

use crate::results::{CollectionRecord, QueryPlanRecord, RunRecord};

use super::budget::own_time;
use super::cause::{Evidence, own_evidence};
use super::sizes::collection_growth;
use super::{OwnCost, own_cost};

/// Fewer commands more than this are those of some calls only.
const MORE_COMMANDS: f64 = 0.8;

/// Commands explain a ratio of times up to this many times the ratio of their numbers: they are not equally dear.
const UNEQUAL_COMMANDS: f64 = 1.3;

/// Oplog entries per call below this, in bytes, are those of any small write.
const LARGE_ENTRY: f64 = 2_000.0;

/// So many times the oplog of the other strategy.
const MORE_OPLOG: f64 = 4.0;

/// Documents or index entries per call from which on their number matters.
const SEVERAL: f64 = 5.0;

/// So many times the documents, index entries, bytes or document size of the other strategy.
const MORE: f64 = 3.0;

/// So many times the mean size, where the largest documents are far larger.
const LITTLE_MORE: f64 = 1.2;

/// Replies below this, in bytes, fit into a few network packets.
const LARGE_REPLY: f64 = 4_000.0;

/// Something that happens in enough calls to matter, and in so few that it does not.
const SOME: f64 = 0.1;
const NONE: f64 = 0.01;

/// Something that happens in at least half of the calls.
const USUAL: f64 = 0.5;

/// The size of the documents of a collection in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DocumentSize {
    /// The mean.
    pub mean: f64,
    /// The largest.
    pub largest: f64,
}

/// Work that the server does inside a command, as the stage of a query plan names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerWork {
    /// `$graphLookup`, whose reads are in no counter.
    GraphLookup,
    /// `$lookup`.
    Join,
    /// A scan of the collection.
    Scan,
    /// A sort in memory.
    Sort,
}

/// The stages that do a work.
const STAGES: [(ServerWork, &[&str]); 4] = [
    (ServerWork::GraphLookup, &["$graphLookup", "GRAPH_LOOKUP"]),
    (ServerWork::Join, &["$lookup", "EQ_LOOKUP", "LOOKUP"]),
    (ServerWork::Scan, &["COLLSCAN"]),
    (ServerWork::Sort, &["SORT", "$sort", "$_internalBoundedSort"]),
];

/// What large entries of the oplog are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OplogKind {
    /// Updates of many documents.
    ManyDocuments,
    /// Updates of few documents that write far more than the client sent, such as an array that is cut.
    Rewrite,
    /// Anything else, such as large documents that the client sent.
    Large,
}

/// Why a call takes longer. Pairs are numbers per call of the slower and the faster strategy.
#[derive(Debug, Clone, PartialEq)]
pub enum Mechanism {
    /// More commands, one after the other.
    Commands {
        /// Their number.
        commands: [f64; 2],
        /// Whether only the slower strategy starts a transaction.
        in_transaction: bool,
        /// Whether only the slower strategy writes, in some of the calls: writes take longer than reads.
        writes: bool,
    },
    /// Much more oplog than the other one.
    Oplog {
        /// What the entries are.
        kind: OplogKind,
        /// Bytes of oplog.
        bytes: [f64; 2],
        /// Bytes that the client sent for it.
        sent: f64,
        /// Documents that were updated.
        updated: f64,
    },
    /// More documents read.
    Documents {
        /// Their number.
        documents: [f64; 2],
        /// The only index that they are found through.
        index: Option<String>,
        /// The mean size in bytes of the single document that the faster strategy reads instead.
        instead_of: Option<f64>,
    },
    /// More index entries or documents passed over than used.
    Walks {
        /// How many were examined.
        examined: [f64; 2],
        /// Documents that the slower strategy returned or changed.
        used: f64,
        /// The only index that is walked.
        index: Option<String>,
    },
    /// Work inside the server that only the slower strategy asks for.
    Server(ServerWork),
    /// Updates where the faster strategy inserts.
    Update {
        /// Updated documents.
        documents: f64,
        /// The size of the documents that are found and changed.
        size: Option<DocumentSize>,
    },
    /// More documents written.
    Writes {
        /// Inserted, updated and deleted documents.
        documents: [f64; 2],
    },
    /// Longer replies.
    Reply {
        /// Their bytes.
        bytes: [f64; 2],
    },
    /// More indexes to maintain.
    Indexes {
        /// How many more.
        more: usize,
        /// Entries that were inserted into tables of documents and indexes, where the server counts them.
        entries: Option<[f64; 2]>,
    },
    /// The same commands on larger documents.
    Size {
        /// The size of the documents.
        sizes: [DocumentSize; 2],
    },
    /// No counter explains it: those that differ most.
    Unknown(Vec<Evidence>),
}

/// What a call of an operation does in one strategy.
struct CallWork<'r> {
    cost: OwnCost,
    time: f64,
    plans: Vec<&'r QueryPlanRecord>,
    /// Of the collection of its query plans with the largest documents.
    size: Option<DocumentSize>,
    collections: &'r [CollectionRecord],
}

impl<'r> CallWork<'r> {
    fn new(own: &'r RunRecord, inspected: &RunRecord, strategy: usize, operation: usize) -> Option<CallWork<'r>> {
        let (of, name) = (own.strategies.get(strategy)?, own.operations.get(operation)?);
        let is_own = |plan: &&QueryPlanRecord| plan.strategy == of.name && plan.operation == *name;
        let plans: Vec<&QueryPlanRecord> = own.query_plans.iter().filter(is_own).collect();
        let is_used = |name: &str| plans.iter().any(|plan| plan.step.split(' ').next_back() == Some(name));
        let sizes = collection_growth(inspected, strategy).into_iter().filter(|one| is_used(&one.collection));
        let sizes = sizes.map(|one| DocumentSize { mean: one.mean.after, largest: one.max.after });
        Some(CallWork {
            cost: own_cost(own, strategy, operation)?,
            time: own_time(own, strategy, operation)?,
            size: sizes.max_by(|one, other| one.mean.total_cmp(&other.mean)).filter(|size| size.mean > 0.0),
            plans,
            collections: &of.collections,
        })
    }

    fn count(&self, counter: &str) -> Option<f64> {
        self.cost.per_call(counter)
    }

    /// The sum of some counters; `None` where one is unknown.
    fn sum<const N: usize>(&self, counters: [&str; N]) -> Option<f64> {
        counters.into_iter().map(|counter| self.count(counter)).sum()
    }

    fn written(&self) -> Option<f64> {
        self.sum(["documents_inserted", "documents_updated", "documents_deleted"])
    }

    /// Documents that are returned or changed.
    fn used(&self) -> Option<f64> {
        self.sum(["documents_returned", "documents_updated", "documents_deleted"])
    }

    /// Index entries or documents, whichever are more.
    fn examined(&self) -> Option<f64> {
        Some(self.count("keys_examined")?.max(self.count("documents_examined")?))
    }

    fn joins(&self) -> bool {
        self.does(ServerWork::Join) || self.does(ServerWork::GraphLookup)
    }

    fn does(&self, work: ServerWork) -> bool {
        let stages = STAGES.iter().filter(|(of, _)| *of == work).flat_map(|(_, stages)| *stages);
        let is_planned =
            stages.into_iter().any(|stage| self.plans.iter().any(|plan| plan.stages.iter().any(|one| one == stage)));
        // Plans are those of a few calls, and a sort of another plan may do without memory.
        let is_counted = work != ServerWork::Sort || self.count("sorts_in_memory").is_none_or(|sorts| sorts >= USUAL);
        is_planned && is_counted
    }

    /// The index of all its plans, where they use no other. Plans do not show what joins use.
    fn index(&self) -> Option<String> {
        let mut all: Vec<&String> = self.plans.iter().flat_map(|plan| &plan.indexes).collect();
        all.sort_unstable();
        all.dedup();
        (all.len() == 1 && !self.joins()).then(|| all[0].clone())
    }
}

/// Why a call of an operation takes longer by itself with the slower strategy: the first kind that fits, and others that fit
/// too, in the order of how much they say. `inspected` has the sizes of the
/// documents. `None` where own costs are missing.
pub fn mechanisms(
    own: &RunRecord,
    inspected: &RunRecord,
    pair: [usize; 2],
    operation: usize,
) -> Option<Vec<Mechanism>> {
    let call = |strategy| CallWork::new(own, inspected, strategy, operation);
    let (slow, fast) = (call(pair[0])?, call(pair[1])?);
    let kinds: [fn(&CallWork, &CallWork) -> Option<Mechanism>; 10] =
        [commands, oplog, documents, walks, server_work, update, writes, reply, indexes, size];
    let mut found: Vec<Mechanism> = kinds.iter().filter_map(|kind| kind(&slow, &fast)).collect();
    // Oplog says how much was written, too.
    if found.iter().any(|one| matches!(one, Mechanism::Oplog { .. })) {
        found.retain(|one| !matches!(one, Mechanism::Writes { .. }));
    }
    if found.is_empty() {
        found.push(Mechanism::Unknown(own_evidence(own, pair, operation)));
    }
    Some(found)
}

fn commands(slow: &CallWork, fast: &CallWork) -> Option<Mechanism> {
    let commands = [slow.cost.round_trips, fast.cost.round_trips];
    let is_enough = slow.time / fast.time <= UNEQUAL_COMMANDS * commands[0] / commands[1];
    let starts = |call: &CallWork| call.count("transactions_started").is_some_and(|started| started >= USUAL);
    let writes = slow.written().zip(fast.written()).is_some_and(|(slow, fast)| slow >= SOME && fast < NONE);
    (commands[0] - commands[1] >= MORE_COMMANDS && (is_enough || writes)).then(|| Mechanism::Commands {
        commands,
        in_transaction: starts(slow) && !starts(fast),
        writes,
    })
}

fn oplog(slow: &CallWork, fast: &CallWork) -> Option<Mechanism> {
    let bytes = [slow.count("oplog_bytes")?, fast.count("oplog_bytes")?];
    let updated = slow.count("documents_updated")?;
    // What is read besides would take longer than this entry.
    let is_read = slow.count("documents_examined")? >= 2.0 * SEVERAL * slow.written()?.max(1.0);
    let is_large = bytes[0] >= LARGE_ENTRY && bytes[0] >= MORE_OPLOG * bytes[1] && !is_read;
    let sent = slow.count("bytes_in")?;
    let kind = match bytes[0] / updated {
        per_document if updated >= USUAL && per_document >= LARGE_ENTRY / 2.0 && bytes[0] >= 1.5 * sent => {
            OplogKind::Rewrite
        }
        _ if updated >= SEVERAL => OplogKind::ManyDocuments,
        _ => OplogKind::Large,
    };
    is_large.then_some(Mechanism::Oplog { kind, bytes, sent, updated })
}

fn documents(slow: &CallWork, fast: &CallWork) -> Option<Mechanism> {
    let documents = [slow.count("documents_examined")?, fast.count("documents_examined")?];
    let is_update = slow.written().is_some_and(|written| written >= USUAL * documents[0]);
    let is_more = documents[0] >= SEVERAL && documents[0] >= MORE * documents[1];
    let instead_of = fast.size.map(|size| size.mean).filter(|_| (0.5..1.5).contains(&documents[1]));
    (is_more && !is_update && !passes_over(slow)).then(|| Mechanism::Documents {
        documents,
        index: slow.index(),
        instead_of,
    })
}

/// Whether a call examines far more index entries or documents than it returns or changes.
fn passes_over(call: &CallWork) -> bool {
    // What a call joins is returned inside of other documents.
    let used = call.used().filter(|_| !call.joins());
    used.zip(call.examined()).is_some_and(|(used, examined)| examined > MORE * used.max(1.0))
}

fn walks(slow: &CallWork, fast: &CallWork) -> Option<Mechanism> {
    let (examined, used) = ([slow.examined()?, fast.examined()?], slow.used()?);
    let is_more = examined[0] >= SEVERAL && examined[0] >= MORE * examined[1];
    (is_more && passes_over(slow)).then(|| Mechanism::Walks { examined, used, index: slow.index() })
}

fn server_work(slow: &CallWork, fast: &CallWork) -> Option<Mechanism> {
    let works = STAGES.iter().map(|(work, _)| *work);
    works.into_iter().find(|work| slow.does(*work) && !fast.does(*work)).map(Mechanism::Server)
}

fn update(slow: &CallWork, fast: &CallWork) -> Option<Mechanism> {
    let [inserted, updated] = [fast.count("documents_inserted")?, slow.count("documents_updated")?];
    let is_insert = fast.count("keys_examined")? < 0.1 && inserted >= USUAL;
    let is_update = updated >= USUAL && slow.count("documents_inserted")? < USUAL;
    (is_insert && is_update).then_some(Mechanism::Update { documents: updated, size: slow.size })
}

fn writes(slow: &CallWork, fast: &CallWork) -> Option<Mechanism> {
    let documents = [slow.written()?, fast.written()?];
    let is_more = documents[0] - documents[1] >= MORE_COMMANDS || documents[0] >= USUAL && documents[1] < 0.1;
    is_more.then_some(Mechanism::Writes { documents })
}

fn reply(slow: &CallWork, fast: &CallWork) -> Option<Mechanism> {
    let bytes = [slow.count("bytes_out")?, fast.count("bytes_out")?];
    (bytes[0] >= LARGE_REPLY && bytes[0] >= MORE * bytes[1]).then_some(Mechanism::Reply { bytes })
}

/// Of collections that both strategies have, so that the documents and their number do not differ as well.
fn indexes(slow: &CallWork, fast: &CallWork) -> Option<Mechanism> {
    let written = [slow.written()?, fast.written()?];
    let is_same_write = written[0] >= USUAL && (written[0] / written[1] - 1.0).abs() < 0.1;
    let twin = |one: &CollectionRecord| fast.collections.iter().find(|other| other.name == one.name);
    let twins: Option<Vec<_>> = slow.collections.iter().map(|one| Some((one, twin(one)?))).collect();
    let count = |pick: fn(&(&CollectionRecord, &CollectionRecord)) -> usize| twins.iter().flatten().map(pick).sum();
    let [more, fewer]: [usize; 2] = [count(|(one, _)| one.indexes.len()), count(|(_, other)| other.indexes.len())];
    let inserts = |call: &CallWork| call.count("cursor_insert_calls");
    let entries = inserts(slow).zip(inserts(fast)).map(|(slow, fast)| [slow, fast]);
    let is_maintained = entries.is_none_or(|[slow, fast]| slow - fast >= USUAL);
    (is_same_write && is_maintained && more > fewer).then(|| Mechanism::Indexes { more: more - fewer, entries })
}

fn size(slow: &CallWork, fast: &CallWork) -> Option<Mechanism> {
    let sizes = [slow.size?, fast.size?];
    let [documents, others] = [slow.count("documents_examined")?, fast.count("documents_examined")?];
    let is_larger = |of: fn(&DocumentSize) -> f64, times: f64| of(&sizes[0]) >= times * of(&sizes[1]);
    let is_large = is_larger(|size| size.mean, MORE)
        || is_larger(|size| size.mean, LITTLE_MORE) && is_larger(|size| size.largest, MORE * MORE);
    let is_same = (slow.cost.round_trips - fast.cost.round_trips).abs() < MORE_COMMANDS && documents <= MORE * others;
    (is_large && is_same && documents >= USUAL).then_some(Mechanism::Size { sizes })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::record::Part;
    use crate::results;
    use crate::stats::{Cause, Criterion, WaitReason, cause, inspected};

    /// The name of a kind.
    fn kind(one: &Mechanism) -> &'static str {
        match one {
            Mechanism::Commands { in_transaction: true, .. } => "commands in a transaction",
            Mechanism::Commands { .. } => "commands",
            Mechanism::Oplog { kind: OplogKind::Rewrite, .. } => "rewrite",
            Mechanism::Oplog { kind: OplogKind::ManyDocuments, .. } => "many updates",
            Mechanism::Oplog { .. } => "oplog",
            Mechanism::Documents { .. } => "documents",
            Mechanism::Walks { .. } => "walks",
            Mechanism::Server(ServerWork::GraphLookup) => "graph lookup",
            Mechanism::Server(ServerWork::Join) => "join",
            Mechanism::Server(_) => "scan or sort",
            Mechanism::Update { .. } => "update",
            Mechanism::Writes { .. } => "writes",
            Mechanism::Reply { .. } => "reply",
            Mechanism::Indexes { .. } => "indexes",
            Mechanism::Size { .. } => "size",
            Mechanism::Unknown(_) => "unknown",
        }
    }

    /// A kept result, the slower and the faster strategy, an operation, and why an expert says that it is slower.
    const EXPERTS: [(&str, &str, &str, &str, &str); 19] = [
        ("person-address", "linked", "embedded", "create", "commands"),
        ("person-address", "linked_lookup", "embedded", "profile", "join"),
        ("person-addresses", "linked", "embedded", "set_primary", "commands in a transaction"),
        ("blog-comments", "embedded", "linked", "add_comment", "update"),
        ("blog-comments", "linked", "embedded", "read_post", "documents"),
        ("publisher-books", "list_in_publisher", "ref_in_book", "publish", "commands in a transaction"),
        ("parts-products", "child_refs_applookup", "denorm_many_to_one_versioned", "part_names", "documents"),
        ("log-messages", "hybrid_slice", "no_hosts", "append", "rewrite"),
        ("trees", "parent_lookup", "ancestors", "ancestors", "graph lookup"),
        ("trees", "nested_sets_txn", "ancestors", "insert_leaf", "many updates"),
        ("trees", "nested_sets_txn", "ancestors", "ancestors", "graph lookup"),
        ("ticketing", "txn", "event_map", "available", "walks"),
        ("ticketing", "txn", "event_map", "reserve", "commands in a transaction"),
        ("work-queue", "lease_in_job", "find_and_modify", "take", "walks"),
        ("measurements", "bucket_time", "doc_per_reading", "record", "update"),
        ("product-reviews", "subset", "embedded", "add_review", "commands"),
        ("index-count", "thirty_two", "two", "insert", "indexes"),
        ("tasks", "embed", "parent_ref", "reassign", "commands in a transaction"),
        ("case-insensitive", "regex", "collation_index", "find_name", "walks"),
    ];

    fn kept(scenario: &str) -> RunRecord {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        results::load(&root.join(scenario).join("default/mongodb-6.0.5-2-cores")).unwrap()
    }

    fn place(names: &[&str], name: &str) -> usize {
        names.iter().position(|one| *one == name).unwrap_or_else(|| panic!("{name} is not in {names:?}"))
    }

    #[test]
    fn kept_results_name_what_experts_name() {
        let mut wrong = Vec::new();
        let mut run = kept(EXPERTS[0].0);
        for (scenario, slower, faster, operation, expected) in EXPERTS {
            if run.scenario.name != scenario {
                run = kept(scenario);
            }
            let names: Vec<&str> = run.strategies.iter().map(|one| &*one.name).collect();
            let operations: Vec<&str> = run.operations.iter().map(|one| &**one).collect();
            let (pair, parts) = ([place(&names, slower), place(&names, faster)], run.all_parts());
            let (own, sizes) = (&parts[&Part::Own], inspected(&parts).unwrap());
            let found = mechanisms(own, sizes, pair, place(&operations, operation)).unwrap();
            if kind(&found[0]) != expected {
                wrong.push(format!("{scenario}: {slower} {operation}: {expected} expected, found {found:?}"));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn collisions_are_what_calls_wait_for() {
        let run = kept("work-queue");
        let names: Vec<&str> = run.strategies.iter().map(|one| &*one.name).collect();
        let pair = [place(&names, "by_id"), place(&names, "find_and_modify")];
        let found = cause(&run.all_parts(), Criterion::CAPACITY, pair, 1.87);
        let Some(Cause::Waiting(waiting)) = found else { panic!("{found:?}") };
        let WaitReason::Retries { operation, per_call } = waiting.reason else { panic!("{waiting:?}") };
        assert_eq!(run.operations[operation], "take");
        assert!(per_call[0] > 0.5 && per_call[1] < 0.05, "{per_call:?}");
    }
}
