//! What calls cost the server: exact numbers against a real `mongod`, and on a paused clock.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bson::{RawDocumentBuf, rawdoc};
use docshape::compile::Choice;
use docshape::engine::{OwnCalls, RoundPlan, Servers};
use docshape::plan::Plan;
use docshape::record::CallOutcome;
use docshape::results::{CellRecord, Part};
use docshape::server::counters::oplog_entries;
use docshape::server::{Failure, Reply, ReplyKind, Target};

use crate::harness::{self, AnyTarget, Bench, bench, choice, plan};

const SCENARIO: &str = "
format: 1
name: costs
title: OwnCosts
entities:
  point: { count: 500, fields: { _id: index, kind: \"index % 50\", text: text(20) } }
operations:
  read: { arguments: { point: uniform(point) }, returns: point }
  by_kind: { arguments: { kind: \"uniform(0, 49)\" }, returns: { set: point } }
  add: { arguments: { point: new(point) } }
mixes: { default: { read: 2, by_kind: 1, add: 1 } }
strategies:
  plain:
    collections: { points: { each: point } }
    operations:
      read: { findOne: points, filter: { _id: <point> } }
      by_kind: { find: points, filter: { kind: <kind> } }
      add: { insertOne: points, document: <point> }
  indexed:
    like: plain
    collections: { points: { each: point, indexes: [{ kind: 1 }] } }
    operations:
      add:
        - { insertOne: points, document: <point> }
        - { updateOne: points, filter: { _id: <point> }, update: { $set: { seen: true } } }
";

/// A round that measures own costs alone, of this many calls of each operation.
const fn own(stretch: u64, measured: u64) -> RoundPlan {
    let own = Some(OwnCalls { stretch, measured });
    RoundPlan { own, saturation: None, ..RoundPlan::saturation(0, 0) }
}

/// A counter's growth per call of an operation.
fn per_call(cell: &CellRecord, operation: usize, counter: &str) -> f64 {
    cell.own_counters[operation][counter] / cell.operations[operation].calls as f64
}

/// The sizes of the newest entries of a collection in the oplog, added up.
async fn newest_entries(bench: &Bench, namespace: &str, entries: i32) -> f64 {
    let command = rawdoc! {
        "find": "oplog.rs",
        "filter": { "ns": namespace },
        "sort": { "$natural": -1 },
        "limit": entries,
        "projection": { "bytes": { "$bsonSize": "$$ROOT" } },
        "singleBatch": true,
        "batchSize": entries,
    };
    let reply = bench.target.run("local", command, ReplyKind::Cursor).await.unwrap();
    let batch = reply.batches()[0].get_document("cursor").unwrap().get_array("firstBatch").unwrap();
    let sizes = batch.into_iter().map(|entry| entry.unwrap().as_document().unwrap().get_i32("bytes").unwrap());
    f64::from(sizes.sum::<i32>())
}

#[tokio::test]
async fn single_calls_cost_what_they_must() {
    let bench = bench(2).await;
    let plan = plan(SCENARIO, &choice(&[]));
    let round = bench.experiment(&plan, (2, 1), "cost", &()).round(0, own(400, 50)).await.unwrap();
    let cells = &round.parts[&Part::Own].cells;
    let [plain, indexed] = cells.as_slice() else { panic!("two strategies") };
    let [read, by_kind, add] = [0, 1, 2];
    for cell in cells {
        assert_eq!((cell.operations[read].calls, cell.operations[read].round_trips), (50, 50));
        let examined = ["keys_examined", "documents_examined", "documents_returned", "oplog_bytes", "requests"];
        assert_eq!(examined.map(|counter| per_call(cell, read, counter)), [1.0, 1.0, 1.0, 0.0, 1.0]);
        assert!(per_call(cell, read, "cpu_us") > 0.0 && per_call(cell, read, "bytes_out") > 100.0);
    }
    // Ten points of each kind are loaded, and the pieces before have added some.
    let returned = per_call(plain, by_kind, "documents_returned");
    assert_eq!(per_call(plain, by_kind, "collection_scans"), 1.0);
    assert!((10.0..12.0).contains(&returned), "{returned}");
    assert!(per_call(plain, by_kind, "documents_examined") >= 500.0);
    let found = ["collection_scans", "keys_examined", "documents_examined"];
    assert_eq!(found.map(|counter| per_call(indexed, by_kind, counter)), [0.0, returned, returned]);
    let namespace = format!("{}.points", harness::namespace("costs", "cost").names.strategy("plain"));
    let entry = newest_entries(&bench, &namespace, 50).await / 50.0;
    assert!((per_call(plain, add, "oplog_bytes") / entry - 1.0).abs() < 0.01, "{entry} bytes per entry");
    assert_eq!(indexed.operations[add].round_trips, 100);
}

#[tokio::test]
async fn scans_are_warned_of_and_leave_no_database() {
    let bench = bench(1).await;
    let plan = plan(SCENARIO, &choice(&[]));
    let plans = bench.experiment(&plan, (1, 1), "plans", &()).query_plans().await.unwrap();
    assert_eq!(
        plans.warnings,
        [
            "Operation by_kind of plain: `find points` scans all 500 documents (COLLSCAN); the index { kind: 1 } would serve it."
        ]
    );
    let found = plans.plans.iter().filter(|plan| (&*plan.strategy, &*plan.operation) == ("indexed", "by_kind"));
    let found: Vec<_> = found.map(|plan| (&*plan.step, plan.stages.join(" "), plan.indexes.join(" "))).collect();
    assert_eq!(found, [("find points", "FETCH IXSCAN".into(), "kind_1".into())]);
    let names =
        bench.target.run("admin", rawdoc! { "listDatabases": 1, "nameOnly": true }, ReplyKind::Single).await.unwrap();
    assert!(!format!("{names:?}").contains("docshape_"), "{names:?}");
}

#[tokio::test]
async fn new_entries_of_the_oplog_are_counted_by_database() {
    let bench = bench(1).await;
    let status = || async {
        let reply =
            bench.target.run("admin", rawdoc! { "serverStatus": 1, "oplog": 1 }, ReplyKind::Single).await.unwrap();
        reply.batches()[0].get_document("oplog").unwrap().get_timestamp("latestOptime").unwrap()
    };
    let insert = |database: &'static str, id: i32| {
        let command = rawdoc! { "insert": "c", "documents": [{ "_id": id, "text": "x".repeat(1_000) }] };
        bench.target.run(database, command, ReplyKind::Single)
    };
    insert("one", 0).await.unwrap();
    insert("other", 0).await.unwrap();
    let before = status().await;
    for id in 1..=3 {
        insert("one", id).await.unwrap();
        insert("other", id).await.unwrap();
    }
    let bytes = oplog_entries(&bench.target, "one", before, status().await).await.unwrap();
    assert_eq!(bytes, newest_entries(&bench, "one.c", 3).await);
}

fn sum(cells: &[CellRecord], arm: usize, counter: &str) -> f64 {
    cells[arm].counters[counter]
}

#[tokio::test]
async fn the_counters_of_a_window_agree_with_its_calls() {
    let bench = bench(4).await;
    let plan = plan(SCENARIO, &choice(&[]));
    let window = RoundPlan::saturation(400, 0);
    let (round, warnings) =
        bench.experiment(&plan, (4, 4), "window", &()).round(0, window).await.unwrap().single().unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    for (arm, cell) in round.cells.iter().enumerate() {
        let [reads, kinds, adds] = [0, 1, 2].map(|operation| cell.operations[operation].calls as f64);
        let inserted = sum(&round.cells, arm, "documents_inserted");
        assert_eq!((inserted, sum(&round.cells, arm, "opcounters_insert")), (adds, adds));
        let grown = cell.after[0].documents - cell.before[0].documents;
        assert_eq!(inserted, grown as f64);
        assert_eq!(sum(&round.cells, arm, "opcounters_query"), reads + kinds);
        let updates = if arm == 1 { adds } else { 0.0 };
        assert_eq!(sum(&round.cells, arm, "opcounters_update"), updates);
        let trips: u64 = cell.operations.iter().map(|operation| operation.round_trips).sum();
        let requests = sum(&round.cells, arm, "requests");
        // The driver asks for the server's health now and then.
        assert!((requests - trips as f64).abs() <= 4.0, "{requests} requests, {trips} round trips");
        assert!(cell.counters["oplog_bytes"] > 0.0 && cell.counters["cpu_us"] > 0.0);
    }
}

/// A user's server may refuse to tell; the run is the same without.
#[tokio::test]
async fn without_rights_there_are_no_counters_and_no_error() {
    struct Silent<'t, T>(&'t T);
    impl<T: Target> Target for Silent<'_, T> {
        async fn run(&self, database: &str, command: RawDocumentBuf, kind: ReplyKind) -> Result<Reply, Failure> {
            let refused = matches!(command.iter().next(), Some(Ok((name, _))) if ["serverStatus", "explain"].contains(&name.as_str()));
            if refused {
                let kind = docshape::server::FailureKind::Server(13);
                return Err(Failure { kind, message: "not authorized".into(), labels: Vec::new() });
            }
            self.0.run(database, command, kind).await
        }
    }
    let bench = bench(1).await;
    let plan = plan(SCENARIO, &choice(&[]));
    let target = AnyTarget::new(Rc::new(Silent(&bench.target)));
    let servers = Servers::Shared { target: &target, load_threads: &bench.load_threads };
    let experiment = harness::experiment(&plan, harness::settings(1, 2), servers);
    assert!(experiment.query_plans().await.unwrap().plans.is_empty());
    let round = experiment.round(0, RoundPlan { own: own(40, 5).own, ..RoundPlan::saturation(40, 0) }).await.unwrap();
    let own = &round.parts[&Part::Own].cells;
    assert!(own.iter().flat_map(|cell| &cell.own_counters).all(|counters| counters.is_empty()));
    assert!(own.iter().flat_map(|cell| &cell.operations).all(|operation| operation.round_trips >= 5));
    let saturation = &round.parts[&Part::Saturation].cells;
    assert!(saturation.iter().all(|cell| cell.counters.is_empty() && cell.calls == 40));
}

#[tokio::test]
async fn a_capped_array_costs_its_size_in_the_oplog() {
    let bench = bench(1).await;
    let choice = Choice::default();
    let plan = plan(include_str!("../../examples/slice-array.yaml"), &choice);
    let append = plan.operations.iter().position(|operation| &*operation.name == "append").unwrap();
    let round = bench.experiment(&plan, (1, 1), "slice", &()).round(0, own(100, 20)).await.unwrap();
    let of = |strategy: &str| {
        let arm = plan.arms.iter().position(|arm| arm.name == strategy).unwrap();
        per_call(&round.parts[&Part::Own].cells[arm], append, "oplog_bytes")
    };
    let (array, document) = (of("array"), of("document"));
    assert!((80_000.0..130_000.0).contains(&array), "{array} bytes per append to the array");
    assert!((200.0..600.0).contains(&document), "{document} bytes per document");
}

/// A server whose writes take 5 ms and whose reads take 2 ms.
struct Fake;

impl Target for Fake {
    async fn run(&self, _: &str, command: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
        let (name, collection) = command.iter().next().unwrap().unwrap();
        match (name.as_str(), collection.as_str()) {
            ("find", Some("points")) => tokio::time::sleep(Duration::from_millis(2)).await,
            ("insert" | "update", Some("points")) => tokio::time::sleep(Duration::from_millis(5)).await,
            _ => {}
        }
        Ok(harness::reply_to(&command))
    }
}

const WRITERS: &str = "
format: 1
name: writers
title: Writers
entities:
  point: { count: 5, fields: { _id: index } }
operations:
  add: { arguments: { point: new(point) } }
mixes: { default: { add: 1 } }
strategies:
  once:
    collections: { points: { each: point } }
    operations:
      add: [{ findOne: points, filter: {} }, { insertOne: points, document: <point> }]
  thrice:
    like: once
    operations:
      add:
        - { insertOne: points, document: <point> }
        - { findOne: points, filter: {} }
        - forEach: { turn: \"[1, 2]\" }
          do: [{ updateOne: points, filter: { _id: <point> }, update: { $set: { turn: <turn> } } }]
  either:
    like: once
    operations:
      add:
        - if: \"point._id % 2 == 0\"
          then: [{ insertOne: points, document: <point> }]
          else: [{ insertOne: points, document: <point> }]
";

fn window_of(plan: &Arc<Plan>, clients: usize) -> impl Future<Output = Vec<CellRecord>> {
    let plan = Arc::clone(plan);
    async move {
        let target = AnyTarget::new(Rc::new(Fake));
        let servers = Servers::Shared { target: &target, load_threads: &target.inline() };
        let experiment = harness::experiment(&plan, harness::settings(clients, 2), servers);
        let window = RoundPlan::saturation(30, 0);
        experiment.round(0, window).await.unwrap().single().unwrap().0.cells
    }
}

#[tokio::test(start_paused = true)]
async fn the_inconsistency_window_is_from_the_first_write_to_the_last() {
    let cells = window_of(&plan(WRITERS, &Choice { all: true, ..choice(&[]) }), 1).await;
    let inconsistent: Vec<_> = cells.iter().map(|cell| cell.operations[0].inconsistency.as_ref()).collect();
    let [once, thrice, either] = inconsistent[..] else { panic!("three strategies") };
    assert!(once.is_none() && either.is_none());
    // After the insert a read of 2 ms and two updates of 5 ms.
    let (times, wanted) = (thrice.unwrap(), 12_000_000);
    assert_eq!((times.count, times.sum), (30, 30 * wanted));
    let near = times.histogram.open().quantile(0.5) as f64 / wanted as f64;
    assert!((near - 1.0).abs() < 0.01, "{near}");
    let outcomes: Vec<_> = cells[1].operations[0].outcomes.iter().map(|one| (&one.outcome, one.count)).collect();
    assert_eq!(outcomes, [(&CallOutcome::Ok, 30)]);
}

const WITH_JOB: &str = "
format: 1
name: with-job
title: With a job
entities:
  point: { count: 5, fields: { _id: index } }
operations:
  read: { arguments: { point: uniform(point) }, returns: point }
  rebuild: { job: true }
mixes: { default: { read: 4, rebuild: 1 }, reads: { read: 1 } }
strategies:
  plain:
    collections: { points: { each: point } }
    operations:
      read: { findOne: points, filter: { _id: <point> } }
      rebuild: { updateMany: points, filter: {}, update: { $set: { turn: 1 } } }
";

#[tokio::test(start_paused = true)]
async fn calls_beside_a_job_are_counted_apart() {
    let cells = window_of(&plan(WITH_JOB, &choice(&[])), 2).await;
    let [read, rebuild] = &cells[0].operations[..] else { panic!("two operations") };
    assert!(rebuild.calls > 2 && rebuild.beside_job.is_none(), "a job is not beside a job");
    let beside = read.beside_job.as_ref().unwrap();
    assert!(0 < beside.count && beside.count <= read.calls, "{} of {}", beside.count, read.calls);
    assert_eq!(beside.sum, beside.count * 2_000_000, "reads of 2 ms");
    let alone = Choice { mix: Some("reads".into()), ..choice(&[]) };
    assert!(window_of(&plan(WITH_JOB, &alone), 2).await[0].operations[0].beside_job.is_none());
}
