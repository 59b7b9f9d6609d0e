//! Strategies on a sharded cluster: what is sent to its router, and what is read from it.
//!
//! No cluster answers here. The replies of the scripted router are written after the server's documentation and source
//! (`hello`, `listShards`, `$collStats`, `shardingStatistics`, error codes); none is recorded from a cluster.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bson::{Document, RawDocumentBuf, rawdoc};
use docshape::compile::Choice;
use docshape::engine::{FatalError, Loader, OwnCalls, RoundPlan, RunError, Servers, StopFlag};
use docshape::plan::Plan;
use docshape::results::{CellRecord, Part};
use docshape::server::{Failure, FailureKind, Reply, ReplyKind, Target};

use crate::harness::{self, AnyTarget};

const SCENARIO: &str = "
format: 1
name: sharded
title: Sharded
about: Points by their host.
entities:
  point: { count: 1200, fields: { _id: index, host: 'index % HOSTS', name: text(5) } }
operations:
  read: { arguments: { point: zipf(point) }, returns: point }
mixes: { default: { read: 1 } }
strategies:
  one:
    about: One.
    collections: { points: { each: point, shard: { key: KEY } } }
    operations:
      read: { findOne: points, filter: { _id: <point> } }
";

fn plan(key: &str, hosts: u32) -> Arc<Plan> {
    let text = SCENARIO.replace("{ key: KEY }", key).replace("HOSTS", &hosts.to_string());
    harness::plan(&text, &Choice { seed: 1, ..Choice::default() })
}

/// A command as text.
fn written(command: &RawDocumentBuf) -> String {
    Document::try_from(&**command).unwrap().to_string()
}

/// A router of two shards.
struct Router {
    version: [i32; 4],
    /// The commands in their order, without those of single calls.
    log: RefCell<Vec<String>>,
    /// Documents on each shard, as `$collStats` reports them.
    documents: [i64; 2],
    /// The command that is refused to the user.
    refuses: &'static str,
    /// The number of calls after which the second shard is lost.
    loses: u64,
    calls: Cell<u64>,
}

impl Default for Router {
    fn default() -> Router {
        Router {
            version: [7, 0, 14, 0],
            log: RefCell::default(),
            documents: [600, 600],
            refuses: "",
            loses: u64::MAX,
            calls: Cell::new(0),
        }
    }
}

impl Router {
    fn status(&self) -> RawDocumentBuf {
        // A call asks one shard by `find`; every second one commits a transaction on both.
        let calls = self.calls.get() as i64;
        rawdoc! {
            "host": "router:27017", "pid": 7_i64, "ok": 1.0,
            "network": { "numRequests": calls },
            "shardingStatistics": { "numHostsTargeted": {
                "find": { "allShards": calls * 2, "manyShards": 0_i64, "oneShard": calls, "unsharded": 5_i64 },
                "insert": { "allShards": 0_i64, "manyShards": 0_i64, "oneShard": 9_i64, "unsharded": 0_i64 },
            } },
            "transactions": { "commitTypes": {
                "singleShard": { "initiated": 3_i64, "successful": 3_i64, "successfulDurationMicros": 900_i64 },
                "twoPhaseCommit": { "initiated": calls, "successful": calls / 2, "successfulDurationMicros": 900_i64 },
            } },
        }
    }

    fn reply(&self, command: &RawDocumentBuf, name: &str) -> Reply {
        let stats = |shard: &str, count: i64| rawdoc! { "ns": "d.points", "shard": shard, "host": "h:27018", "storageStats": { "count": count, "size": 10 } };
        match name {
            "hello" => {
                rawdoc! { "isWritablePrimary": true, "msg": "isdbgrid", "maxBsonObjectSize": 16_777_216, "ok": 1.0 }
                    .into()
            }
            "buildInfo" => {
                let [a, b, c, d] = self.version;
                rawdoc! { "version": format!("{a}.{b}.{c}"), "versionArray": [a, b, c, d], "ok": 1.0 }.into()
            }
            "listShards" => rawdoc! { "ok": 1.0, "shards": [
                { "_id": "east", "host": "east/h:27018", "state": 1 },
                { "_id": "west", "host": "west/h:27019", "state": 1 },
                { "_id": "old", "host": "old/h:27020", "state": 1, "draining": true },
            ] }
            .into(),
            "serverStatus" => self.status().into(),
            "aggregate" if written(command).contains("$collStats") => {
                let rows = [stats("east", self.documents[0]), stats("west", self.documents[1])];
                let rows: bson::RawArrayBuf = rows
                    .into_iter()
                    .filter(|row| row.get_document("storageStats").unwrap().get_i64("count").unwrap() > 0)
                    .collect();
                rawdoc! { "ok": 1.0, "cursor": { "id": 0_i64, "firstBatch": rows } }.into()
            }
            _ => harness::reply_to(command),
        }
    }
}

impl Target for Router {
    async fn run(&self, database: &str, command: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
        let (name, _) = command.iter().next().unwrap().unwrap();
        let name = name.as_str().to_owned();
        let fails = |code, message: &str| Err(Failure::new(FailureKind::Server(code), message));
        if name == self.refuses {
            return fails(13, "Unauthorized");
        }
        if harness::is_call(&command) {
            tokio::time::sleep(Duration::from_millis(2)).await;
            self.calls.set(self.calls.get() + 1);
        } else if !matches!(name.as_str(), "serverStatus" | "hello" | "buildInfo" | "listShards" | "ping") {
            self.log.borrow_mut().push(format!("{database}: {}", written(&command)));
        }
        // The router itself goes on to answer.
        if self.calls.get() > self.loses
            && !matches!(name.as_str(), "ping" | "serverStatus" | "hello" | "buildInfo" | "listShards")
        {
            return fails(133, "Could not find host matching read preference { mode: \"primary\" } for set west");
        }
        Ok(self.reply(&command, &name))
    }
}

/// The commands that distribute the points.
async fn distribute(router: &Rc<Router>, plan: &Plan) -> Result<Vec<String>, String> {
    let target = AnyTarget::new(Rc::clone(router));
    let (arm, stop) = (&plan.arms[0], StopFlag::default());
    let loader = Loader { plan, arm, target: &target, database: "d", observer: &(), stop: &stop };
    loader.run().await.map_err(|error| error.to_string())?;
    let sent = router.log.take();
    let at = |word: &str| sent.iter().position(|line| line.contains(word)).unwrap();
    assert!(at("\"create\"") < at("enableSharding") && at("shardCollection") < at("\"insert\""), "{sent:#?}");
    let is_own = |line: &String| !["\"create", "\"insert", "docshape.marker"].iter().any(|word| line.contains(word));
    Ok(sent.into_iter().filter(is_own).collect())
}

async fn distributed(router: Router, key: &str, hosts: u32) -> Result<Vec<String>, String> {
    distribute(&Rc::new(router), &plan(key, hosts)).await
}

#[tokio::test]
async fn ranged_keys_are_split_at_quantiles_and_moved_in_turn() {
    let sent = distributed(Router::default(), "{ key: { _id: 1 }, chunks: 4 }", 1200).await.unwrap();
    insta::assert_snapshot!(sent.join("\n"));
}

#[tokio::test]
async fn hashed_keys_have_the_chunks_of_the_cluster() {
    let of = async |version, chunks: &str| {
        let key = format!("{{ key: {{ _id: hashed }}{chunks} }}");
        distributed(Router { version, ..Router::default() }, &key, 1200).await.unwrap()
    };
    let sharded =
        |options: &str| format!(r#"admin: {{ "shardCollection": "d.points", "key": {{ "_id": "hashed" }}{options} }}"#);
    for (version, chunks, options) in [
        ([5, 0, 9, 0], "", ", \"numInitialChunks\": 2"),
        ([7, 0, 1, 0], ", chunks: 6", ", \"numInitialChunks\": 6"),
        ([8, 0, 4, 0], "", ""),
    ] {
        let sent = of(version, chunks).await;
        assert_eq!((&sent[1], sent.len()), (&sharded(options), 3), "{sent:#?}");
    }
    // Since 7.2 the number is ignored: the one chunk of each shard is split where it is.
    let sent = of([8, 0, 4, 0], ", chunks: 4").await;
    assert_eq!((&sent[1], sent.len()), (&sharded(""), 5), "{sent:#?}");
    for (line, hash) in sent[3..].iter().zip([-(1_i64 << 62), 1 << 62]) {
        assert_eq!(*line, format!(r#"admin: {{ "split": "d.points", "middle": {{ "_id": {hash} }} }}"#));
    }
}

#[tokio::test]
async fn fields_behind_a_hashed_one_are_not_split() {
    let sent = distributed(Router::default(), "{ key: { host: 1, _id: hashed } }", 1200).await.unwrap();
    let split = sent.iter().find(|line| line.contains("\"split\"")).unwrap();
    assert!(split.contains(r#""middle": { "host": 600, "_id": MinKey }"#), "{split}");
}

#[tokio::test]
async fn values_without_a_known_order_cannot_be_split() {
    let text = SCENARIO
        .replace("KEY", "{ tags: 1 }")
        .replace("index % HOSTS", "index")
        .replace("name: text(5)", "tags: 'range(0, 3)'");
    let plan = harness::plan(&text, &Choice::default());
    let error = distribute(&Rc::default(), &plan).await.unwrap_err();
    let expected =
        "strategy one, collection points: its shard key { tags: 1 } has a list as a value, and docshape splits only";
    assert!(error.starts_with(expected), "{error}");
}

#[tokio::test]
async fn a_missing_right_is_named_with_its_command() {
    for (command, right) in [
        ("listShards", "`listShards` on the cluster"),
        ("shardCollection", "`enableSharding` on d"),
        ("split", "`splitChunk` on d"),
        ("moveChunk", "`moveChunk` on d"),
        ("update", "`update` on config.collections"),
    ] {
        let router = Router { refuses: command, ..Router::default() };
        let error = distributed(router, "{ key: { _id: 1 } }", 1200).await.unwrap_err();
        let named = if command == "update" { "noBalance" } else { command };
        assert!(error.contains(&format!("{named}: Unauthorized; this needs the right {right}")), "{error}");
        assert!(error.contains("docshape rights"), "{error}");
    }
}

/// A replica set, and the names of the commands that it got.
#[derive(Default)]
struct ReplicaSet(RefCell<Vec<String>>);

impl Target for ReplicaSet {
    async fn run(&self, _: &str, command: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
        let name = command.iter().next().unwrap().unwrap().0.as_str().to_owned();
        self.0.borrow_mut().push(name.clone());
        let hello = rawdoc! { "isWritablePrimary": true, "setName": "rs", "hosts": ["a:1"] };
        Ok(if name == "hello" { hello.into() } else { harness::reply_to(&command) })
    }
}

#[tokio::test]
async fn a_replica_set_is_asked_what_it_is_and_nothing_else() {
    let (server, plan, stop) = (ReplicaSet::default(), plan("{ key: { _id: 1 } }", 2), StopFlag::default());
    let arm = &plan.arms[0];
    Loader { plan: &plan, arm, target: &server, database: "d", observer: &(), stop: &stop }.run().await.unwrap();
    assert_eq!(server.0.take(), ["create", "hello", "insert", "insert", "update"]);
    let (cells, warnings) = round(ReplicaSet::default(), "{ key: { _id: 1 } }", 2).await.unwrap();
    assert_eq!((cells[&Part::Saturation].before[0].imbalance(), warnings.len()), (None, 0));
}

/// Measures a round; the cells of its parts, and the warnings.
async fn round(
    server: impl Target + 'static,
    key: &str,
    hosts: u32,
) -> Result<(BTreeMap<Part, CellRecord>, Vec<String>), RunError> {
    let target = AnyTarget::new(Rc::new(server));
    let servers = Servers::Shared { target: &target, load_threads: &target.inline() };
    let experiment = harness::experiment(&plan(key, hosts), harness::settings(2, 2), servers);
    let plan = RoundPlan { own: Some(OwnCalls { stretch: 60, measured: 12 }), ..RoundPlan::saturation(100, 10) };
    let made = experiment.round(0, plan).await?;
    let cells = made.parts.into_iter().map(|(part, mut round)| (part, round.cells.remove(0)));
    Ok((cells.collect(), made.warnings))
}

#[tokio::test(start_paused = true)]
async fn shards_that_calls_ask_are_counted_per_operation() {
    let (cells, warnings) = round(Router::default(), "{ key: { _id: hashed } }", 1200).await.unwrap();
    let own = &cells[&Part::Own].own_counters[0];
    let found = [
        "targeted_one_shard", "targeted_all_shards", "targeted_many_shards", "targeted_unsharded", "two_phase_commits",
        "one_shard_commits",
    ]
    .map(|name| own[name]);
    assert_eq!(found, [12.0, 24.0, 0.0, 0.0, 6.0, 0.0]);
    assert_eq!(own.get("one_write_shard_commits"), None, "this router does not report it");
    assert_eq!(warnings, [""; 0]);
    let saturation = &cells[&Part::Saturation];
    assert_eq!(saturation.after[0].shards, [("east".to_owned(), 600), ("west".to_owned(), 600)].into());
    assert_eq!(saturation.after[0].imbalance(), Some(1.0));
}

#[tokio::test(start_paused = true)]
async fn an_imbalance_is_recorded_with_its_reason() {
    let reason = async |documents, key: &str, hosts| {
        let (cells, warnings) = round(Router { documents, ..Router::default() }, key, hosts).await.unwrap();
        let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
        let imbalance = cells[&Part::Saturation].before[0].imbalance();
        (imbalance, warning.split(", because ").nth(1).unwrap().to_owned(), warning.clone())
    };
    let (imbalance, why, warning) = reason([900, 300], "{ key: { host: 1 } }", 4).await;
    assert_eq!((imbalance, why.as_str()), (Some(1.5), "its key { host: 1 } has 4 values"));
    assert!(
        warning.contains("the documents of points are not even over the shards (900 on east, 300 on west)"),
        "{warning}"
    );
    let (imbalance, why, _) = reason([1200, 0], "{ key: { host: hashed } }", 1).await;
    assert_eq!((imbalance, why.as_str()), (Some(2.0), "its key { host: hashed } has 1 value"));
    let (_, why, _) = reason([800, 400], "{ key: { _id: 1 }, chunks: 3 }", 1200).await;
    assert_eq!(why, "its 3 chunks are no multiple of 2 shards");
    let (_, why, _) = reason([800, 400], "{ key: { _id: 1 } }", 1200).await;
    assert!(why.starts_with("of a reason that docshape does not know"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn a_lost_shard_ends_the_run_though_the_router_answers() {
    let error = round(Router { loses: 40, ..Router::default() }, "{ key: { _id: 1 } }", 1200).await.unwrap_err();
    assert!(matches!(error, RunError::Fatal(FatalError::ServerLost(_))), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("a shard with documents of points does not answer") && text.contains("for set west"),
        "{text}"
    );
}
