//! The MongoDB side against a real `mongod`, found as docshape finds it; without one these tests fail and say how to
//! get one.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bson::{RawDocumentBuf, rawdoc};
use docshape::server::client::MongoTarget;
use docshape::server::database_names::DatabaseNames;
use docshape::server::deployment::{Deployment, Topology};
use docshape::server::embedded::{Checkpoints, EXEC_SUBCOMMAND, EmbeddedError, EmbeddedMongod, EmbeddedOptions};
use docshape::server::flush::flush_cost;
use docshape::server::namespace::{Namespace, NamespaceError};
use docshape::server::turns::{EmbeddedServers, EndedServer, Turns};
use docshape::server::{Failure, FailureKind, Reply, ReplyKind, Target};

use crate::harness::{self, alive, eventually};

fn options(temp_dir: &Path) -> EmbeddedOptions {
    EmbeddedOptions { checkpoints: Checkpoints::EveryMinute, ..harness::options(temp_dir) }
}

async fn start(temp_dir: &Path) -> EmbeddedMongod {
    EmbeddedMongod::start(&options(temp_dir)).await.unwrap()
}

/// A server in a new folder, and a client with this many connections.
async fn connected(connections: u32) -> (tempfile::TempDir, EmbeddedMongod, MongoTarget) {
    let temp = tempfile::tempdir().unwrap();
    let server = start(temp.path()).await;
    let target = MongoTarget::connect(&server.uri(), connections).await.unwrap();
    (temp, server, target)
}

async fn single(target: &MongoTarget, database: &str, command: RawDocumentBuf) -> Result<RawDocumentBuf, Failure> {
    Ok(target.run(database, command, ReplyKind::Single).await?.into_document())
}

async fn cursor(target: &MongoTarget, command: RawDocumentBuf) -> Result<Reply, Failure> {
    target.run("db", command, ReplyKind::Cursor).await
}

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

/// The state of a process: `S` while it waits, `T` while it is suspended.
fn state(pid: u32) -> char {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.chars().next().unwrap()
}

/// A process that is killed when the test ends, however it ends.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn it_starts_as_a_healthy_primary_and_is_gone_when_dropped() {
    let (temp, server, target) = connected(1).await;
    let status = single(&target, "admin", rawdoc! { "replSetGetStatus": 1 }).await.unwrap();
    assert_eq!(status.get_i32("myState").unwrap(), 1);
    let facts = Deployment::read(&target).await.unwrap();
    assert_eq!(facts.version, server.version);
    assert_eq!(facts.topology, Topology::ReplicaSet { members: 1 });
    assert_eq!(facts.cache_bytes, Some(256 << 20));
    let fact = |name: &str| &facts.facts.iter().find(|(other, _)| other == name).unwrap_or_else(|| panic!("{name}")).1;
    let known = ["storage engine", "cache", "largest document", "ttlMonitorSleepSecs"].map(fact);
    assert_eq!(known, ["wiredTiger", "256 MiB", "16 MiB", "1"]);
    assert!(fact("featureCompatibilityVersion").contains('.'), "{facts:?}");
    assert!(fact("cores").parse::<u64>().unwrap() > 0 && fact("memory").ends_with(" MiB"), "{facts:?}");
    assert!(!fact("host").is_empty() && !fact("git version").is_empty(), "{facts:?}");
    let (pid, folder) = (server.pid(), server.folder().to_owned());
    assert!(alive(pid) && folder.join("mongod.log").exists());
    assert!(!folder.join("data/diagnostic.data/metrics.interim").exists());
    drop(server);
    assert!(!alive(pid));
    assert_eq!(entries(temp.path()), 0);
}

#[tokio::test]
async fn stop_ends_it_and_an_end_by_itself_is_noticed() {
    let temp = tempfile::tempdir().unwrap();
    let server = start(temp.path()).await;
    let pid = server.pid();
    server.stop().unwrap();
    assert!(!alive(pid));
    assert_eq!(entries(temp.path()), 0);

    let server = start(temp.path()).await;
    let target = MongoTarget::connect(&server.uri(), 1).await.unwrap();
    let waiting = tokio::time::timeout(Duration::from_millis(500), server.exited()).await;
    assert!(waiting.is_err(), "it runs still");
    // The reply never comes: the connection breaks.
    let failure = single(&target, "admin", rawdoc! { "shutdown": 1, "force": true }).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Network);
    let error = tokio::time::timeout(Duration::from_secs(30), server.exited()).await.unwrap();
    assert!(matches!(error, EmbeddedError::Exited { .. }), "{error}");
}

/// Not a test of its own: the process that the next test starts and kills.
#[tokio::test]
#[ignore = "run by the test that kills it"]
#[expect(clippy::print_stdout, reason = "the test that started this process reads it")]
async fn owner_that_is_killed() {
    let Some(temp) = std::env::var_os("DOCSHAPE_TEST_TEMP") else { return };
    let (server, suspended) = (start(Path::new(&temp)).await, start(Path::new(&temp)).await);
    suspended.suspend().await.unwrap();
    println!("\nservers {} {}", server.pid(), suspended.pid());
    tokio::time::sleep(Duration::from_secs(60)).await;
}

#[tokio::test]
async fn it_dies_with_its_owner_and_the_next_start_removes_its_folder() {
    let temp = tempfile::tempdir().unwrap();
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "server::owner_that_is_killed", "--ignored", "--nocapture"])
        .env("DOCSHAPE_TEST_TEMP", temp.path())
        .stdout(Stdio::piped())
        .spawn()
        .map(Killed)
        .unwrap();
    let mut lines = BufReader::new(owner.0.stdout.take().unwrap()).lines();
    let line = lines.find_map(|line| line.unwrap().strip_prefix("servers ").map(str::to_owned));
    let pids = line.expect("the owner reports its servers");
    let pids: Vec<u32> = pids.split(' ').map(|pid| pid.parse().unwrap()).collect();

    let beside = start(temp.path()).await;
    assert_eq!(entries(temp.path()), 3, "the folders of a living owner are left alone");
    beside.stop().unwrap();
    assert!(pids.iter().all(|pid| alive(*pid)));
    assert_eq!(pids.iter().map(|pid| state(*pid)).collect::<Vec<_>>(), ['S', 'T']);

    drop(owner);
    eventually("the servers die with their owner, the suspended one too", || pids.iter().all(|pid| !alive(*pid)));
    assert_eq!(entries(temp.path()), 2);
    let next = start(temp.path()).await;
    assert_eq!(entries(temp.path()), 1, "only the folder of the new server");
    assert!(next.folder().exists());
}

#[tokio::test]
async fn a_suspended_server_keeps_its_connections() {
    const POOL: u32 = 4;
    let temp = tempfile::tempdir().unwrap();
    let server = start(temp.path()).await;
    let target = MongoTarget::connect(&server.patient_uri(), POOL).await.unwrap();
    target.warm().await.unwrap();
    let calls = async || {
        let calls = (0..POOL).map(|_| single(&target, "admin", rawdoc! { "ping": 1 }));
        futures_util::future::join_all(calls).await.into_iter().all(|reply| reply.is_ok())
    };
    for _ in 0..3 {
        server.suspend().await.unwrap();
        assert_eq!(state(server.pid()), 'T');
        let waiting = tokio::time::timeout(suspension(), single(&target, "admin", rawdoc! { "ping": 1 })).await;
        assert!(waiting.is_err(), "a suspended server does not answer");
        server.resume().unwrap();
        assert!(calls().await);
    }
    // The driver gives up the connection of a call that is cancelled, but never one that only waits.
    assert_eq!(target.connections_created(), u64::from(POOL) + 3);
    for suspension_number in 0..3 {
        server.suspend().await.unwrap();
        tokio::time::sleep(suspension()).await;
        server.resume().unwrap();
        assert!(calls().await);
        let insert = rawdoc! {
            "insert": "things", "documents": [{ "_id": suspension_number }],
            "writeConcern": { "w": "majority", "wtimeout": 5_000 },
        };
        single(&target, "db", insert).await.expect("it is still the primary");
    }
    assert_eq!(target.connections_created(), u64::from(POOL) + 3);
    assert_eq!(target.connections(), POOL as usize);
    server.suspend().await.unwrap();
    let pid = server.pid();
    drop(server);
    assert!(!alive(pid), "dropping ends a suspended server");
    assert_eq!(entries(temp.path()), 0);
}

/// How long servers are suspended; longer when measured by hand.
fn suspension() -> Duration {
    let seconds = std::env::var("DOCSHAPE_TEST_SUSPENSION").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(1))
}

#[tokio::test]
async fn servers_take_turns_and_one_that_died_meanwhile_is_named() {
    let temp = tempfile::tempdir().unwrap();
    let options = options(temp.path());
    let starting = (0..3).map(|_| EmbeddedMongod::start(&options));
    let servers = EmbeddedServers::new(futures_util::future::try_join_all(starting).await.unwrap());
    let pids: Vec<u32> = servers.servers().iter().map(EmbeddedMongod::pid).collect();
    let stopped = || pids.iter().map(|pid| state(*pid) == 'T').collect::<Vec<_>>();
    assert_eq!(stopped(), [false; 3]);
    for (turn, wanted) in [(1, [true, false, true]), (1, [true, false, true]), (0, [false, true, true])] {
        servers.turn(turn).await.unwrap();
        assert_eq!((servers.on_turn(), stopped()), (turn, wanted.to_vec()));
    }
    let target = MongoTarget::connect(&servers.servers()[0].patient_uri(), 1).await.unwrap();
    single(&target, "admin", rawdoc! { "ping": 1 }).await.unwrap();

    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pids[2] as i32), nix::sys::signal::SIGKILL).unwrap();
    eventually("a suspended server can be killed", || servers.servers()[2].ended().is_some());
    let EndedServer { server, reason } = servers.turn(2).await.unwrap_err();
    assert!(server == 2 && reason.contains("killed from outside"), "{server}: {reason}");
    servers.stop().unwrap();
    assert!(!pids.iter().any(|pid| alive(*pid)));
    assert_eq!(entries(temp.path()), 0);
}

#[tokio::test]
async fn without_checkpoints_only_a_flush_writes_one() {
    let temp = tempfile::tempdir().unwrap();
    let server =
        EmbeddedMongod::start(&EmbeddedOptions { checkpoints: Checkpoints::OnlyByFsync, ..options(temp.path()) })
            .await
            .unwrap();
    let target = MongoTarget::connect(&server.uri(), 1).await.unwrap();
    let delay = single(&target, "admin", rawdoc! { "getParameter": 1, "syncdelay": 1 }).await.unwrap();
    assert_eq!(delay.get_f64("syncdelay").unwrap(), 0.0);
    let checkpoints = async || {
        let status = single(&target, "admin", rawdoc! { "serverStatus": 1 }).await.unwrap();
        let transactions = status.get_document("wiredTiger").unwrap().get_document("transaction").unwrap();
        transactions.get("transaction checkpoints").unwrap().unwrap().as_i32().unwrap()
    };
    let before = checkpoints().await;
    single(&target, "db", rawdoc! { "insert": "things", "documents": [{ "_id": 1 }] }).await.unwrap();
    single(&target, "admin", rawdoc! { "fsync": 1 }).await.unwrap();
    assert!(checkpoints().await > before);

    // Such text hardly shrinks, and a flush without changes writes little.
    let text: String =
        (0..2_000_000_u32).map(|n| char::from(33 + (n.wrapping_mul(2_654_435_761) >> 25) as u8 % 90)).collect();
    let empty = flush_cost(&target).await.unwrap().unwrap();
    single(&target, "db", rawdoc! { "insert": "things", "documents": [{ "text": text }] }).await.unwrap();
    let full = flush_cost(&target).await.unwrap().unwrap();
    assert!(full.bytes.unwrap() > empty.bytes.unwrap() + 500_000, "{empty:?} {full:?}");
    assert!(full.seconds > 0.0, "{full:?}");
}

#[tokio::test]
async fn a_taken_port_leads_to_another() {
    let temp = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let server = EmbeddedMongod::start(&EmbeddedOptions { port: Some(port), ..options(temp.path()) }).await.unwrap();
    assert!(!server.uri().contains(&format!(":{port}/")), "{}", server.uri());
    assert_eq!(entries(temp.path()), 1, "the failed try leaves nothing");
    drop(server);

    drop(taken);
    let server = EmbeddedMongod::start(&EmbeddedOptions { port: Some(port), ..options(temp.path()) }).await.unwrap();
    assert!(server.uri().contains(&format!(":{port}/")), "{}", server.uri());
}

/// Both have the port as long as nobody listens on it, and the server learns of the other when it is nearly up.
#[tokio::test]
async fn a_port_that_is_taken_during_the_start_leads_to_another() {
    let temp = tempfile::tempdir().unwrap();
    let rival = tokio::net::TcpSocket::new_v4().unwrap();
    rival.set_reuseaddr(true).unwrap();
    rival.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = rival.local_addr().unwrap().port();
    let listens = async {
        let has_port = || {
            let mut folders = std::fs::read_dir(temp.path()).unwrap().flatten();
            folders.any(|folder| {
                let log = std::fs::read_to_string(folder.path().join("mongod.log"));
                log.is_ok_and(|log| log.contains("Opening WiredTiger"))
            })
        };
        while !has_port() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        rival.listen(1).unwrap()
    };
    let options = EmbeddedOptions { port: Some(port), ..options(temp.path()) };
    let both = async { tokio::join!(EmbeddedMongod::start(&options), listens) };
    let (server, _listener) =
        tokio::time::timeout(Duration::from_secs(60), both).await.expect("the server opens its data");
    let uri = server.unwrap().uri();
    assert!(!uri.contains(&format!(":{port}/")), "{uri}");
}

#[tokio::test]
async fn a_failed_start_has_a_reason_and_leaves_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let failed = async |options: EmbeddedOptions| EmbeddedMongod::start(&options).await.unwrap_err().to_string();
    let wrong_argument = EmbeddedOptions { extra_arguments: vec!["--noSuchThing".into()], ..options(temp.path()) };
    let text = failed(wrong_argument).await;
    assert!(text.contains("ended by itself") && text.contains("noSuchThing"), "{text}");
    // It is refused only after the log was opened, and so shows there.
    let wrong_key =
        EmbeddedOptions { extra_arguments: vec!["--keyFile=/nonexistent/key".into()], ..options(temp.path()) };
    let text = failed(wrong_key).await;
    assert!(text.contains("ended by itself") && text.contains("security key"), "{text}");
    let text = failed(EmbeddedOptions { program: "/nonexistent/mongod".into(), ..options(temp.path()) }).await;
    assert!(text.contains("/nonexistent/mongod") && text.contains("No such file"), "{text}");
    let text = failed(EmbeddedOptions { launcher: "/nonexistent/docshape".into(), ..options(temp.path()) }).await;
    assert!(text.contains("/nonexistent/docshape cannot be started"), "{text}");
    let text = failed(EmbeddedOptions { cache_gb: 0.1, ..options(temp.path()) }).await;
    assert!(text.contains("0.1 GB") && text.contains("0.25 to 10000"), "{text}");
    assert_eq!(entries(temp.path()), 0);
    let text = failed(options(Path::new("/nonexistent"))).await;
    assert!(text.contains("/nonexistent") && text.contains("TMPDIR"), "{text}");
}

#[tokio::test]
async fn a_launch_for_another_parent_is_rejected() {
    let launch = Command::new(env!("CARGO_BIN_EXE_docshape"))
        .args([EXEC_SUBCOMMAND, "--parent", "1", "--", "/bin/echo", "started"])
        .output()
        .unwrap();
    assert!(!launch.status.success() && launch.stdout.is_empty(), "{launch:?}");
}

#[tokio::test]
async fn errors_inside_successful_replies_become_failures() {
    let (_temp, _server, target) = connected(1).await;
    let insert = || rawdoc! { "insert": "things", "documents": [{ "_id": 1 }] };
    assert_eq!(single(&target, "db", insert()).await.unwrap().get_i32("n").unwrap(), 1);
    let failure = single(&target, "db", insert()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Server(11000));
    assert!(failure.message.contains("E11000"), "{failure}");

    let two_nodes =
        rawdoc! { "insert": "things", "documents": [{ "_id": 2 }], "writeConcern": { "w": 2, "wtimeout": 50 } };
    let failure = single(&target, "db", two_nodes).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::WriteConcern(100), "{failure}");
    let merge = rawdoc! {
        "aggregate": "things", "pipeline": [{ "$match": { "_id": 1 } }, { "$out": "copy" }], "cursor": {},
        "writeConcern": { "w": 2, "wtimeout": 50 },
    };
    assert_eq!(cursor(&target, merge).await.unwrap_err().kind, FailureKind::WriteConcern(100));

    let unknown = single(&target, "db", rawdoc! { "noSuchCommand": 1 }).await.unwrap_err();
    assert_eq!(unknown.kind, FailureKind::Server(59), "{unknown}");
    let bad_filter = cursor(&target, rawdoc! { "find": "things", "filter": { "$no": 1 } }).await.unwrap_err();
    assert_eq!(bad_filter.kind, FailureKind::Server(2), "{bad_filter}");
    let slow = rawdoc! { "find": "things", "filter": { "$where": "sleep(300) || true" }, "maxTimeMS": 20 };
    assert_eq!(cursor(&target, slow).await.unwrap_err().kind, FailureKind::Server(50));

    // In a transaction, what the server says about retrying arrives too.
    // The driver adds the session, so that this joins a transaction that was never begun.
    let in_transaction = rawdoc! { "find": "things", "txnNumber": 1_i64, "autocommit": false };
    let failure = single(&target, "db", in_transaction).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Server(251), "{failure}");
    assert!(failure.labels.iter().any(|label| label == "TransientTransactionError"), "{:?}", failure.labels);
}

#[tokio::test]
async fn documents_and_commands_that_are_too_large_are_failures() {
    let (_temp, _server, target) = connected(1).await;
    let insert = |bytes: usize| rawdoc! { "insert": "things", "documents": [{ "pad": "x".repeat(bytes) }] };
    let failure = single(&target, "db", insert(16 << 20)).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Server(2), "{failure}");
    let failure = single(&target, "db", insert(20 << 20)).await.unwrap_err();
    // A whole command may be only a little longer than a document: this one does not even get to its insert.
    assert_eq!(failure.kind, FailureKind::Server(10334), "{failure}");
    let failure = single(&target, "db", insert(48 << 20)).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::TooLarge);
    assert!(single(&target, "db", insert(1 << 20)).await.is_ok(), "the target works on");
}

#[tokio::test]
async fn a_cursor_is_drained_over_all_its_batches() {
    let (_temp, _server, target) = connected(1).await;
    let mut documents = bson::RawArrayBuf::new();
    for number in 0..25 {
        documents.push(rawdoc! { "_id": number });
    }
    single(&target, "db", rawdoc! { "insert": "things", "documents": documents }).await.unwrap();
    let counts = async |command| {
        let reply = cursor(&target, command).await.unwrap();
        let batches = reply.batches().iter().map(|batch| {
            let cursor = batch.get_document("cursor").unwrap();
            let documents = cursor.get_array("firstBatch").or_else(|_| cursor.get_array("nextBatch")).unwrap();
            documents.into_iter().count()
        });
        (batches.collect::<Vec<_>>(), reply.round_trips())
    };
    let (batches, trips) = counts(rawdoc! { "find": "things", "filter": {}, "batchSize": 10 }).await;
    // Without a batch size of their own, the later ones bring all the rest.
    assert_eq!(batches, [10, 15]);
    assert_eq!(trips, 2);
    assert_eq!(counts(rawdoc! { "find": "things", "filter": {} }).await, (vec![25], 1));
    assert_eq!(counts(rawdoc! { "find": "none", "filter": {} }).await, (vec![0], 1));
    let status = single(&target, "admin", rawdoc! { "serverStatus": 1 }).await.unwrap();
    let open = status.get_document("metrics").unwrap().get_document("cursor").unwrap().get_document("open").unwrap();
    assert_eq!(open.get_i64("total").unwrap(), 0, "no cursor is left open");
}

#[tokio::test]
async fn a_warm_pool_is_full_and_opens_no_connection_later() {
    const POOL: u32 = 8;
    let (_temp, server, target) = connected(POOL).await;
    assert_eq!(target.connections(), 0);
    target.warm().await.unwrap();
    assert_eq!(target.connections(), POOL as usize);
    let created = target.connections_created();
    assert_eq!(created, u64::from(POOL));
    let slow = || rawdoc! { "aggregate": 1, "pipeline": [{ "$currentOp": {} }], "cursor": {} };
    for _ in 0..20 {
        let calls = (0..POOL).map(|_| target.run("admin", slow(), ReplyKind::Cursor));
        for reply in futures_util::future::join_all(calls).await {
            reply.unwrap();
        }
    }
    assert_eq!(target.connections_created(), created);
    target.warm().await.unwrap();
    assert_eq!(target.connections_created(), created, "warming a warm pool does nothing");
    drop(server);
    let error = target.warm().await.unwrap_err().to_string();
    assert!(error.contains("did not answer a ping"), "{error}");
}

fn namespace(run: &str) -> Namespace {
    Namespace::new(DatabaseNames::new("docshape_", "s"), run)
}

#[tokio::test]
async fn only_databases_with_the_own_mark_are_dropped() {
    let (_temp, _server, target) = connected(1).await;
    let exists = async |name: &str| {
        let list = rawdoc! { "listDatabases": 1, "nameOnly": true, "filter": { "name": name } };
        let reply = single(&target, "admin", list).await.unwrap();
        !reply.get_array("databases").unwrap().is_empty()
    };
    let (ours, theirs) = (namespace("ours"), namespace("theirs"));
    ours.create(&target, "docshape_s_a").await.unwrap();
    assert!(exists("docshape_s_a").await);
    assert_eq!(ours.left(), ["docshape_s_a"]);
    for namespace in [&ours, &theirs] {
        let error = namespace.create(&target, "docshape_s_a").await.unwrap_err().to_string();
        assert!(error.contains("docshape_s_a is already on the server: of run ours ("), "{error}");
        assert!(error.contains("which is alive; wait for its end, or take other names with --db-prefix"), "{error}");
    }
    // The clean-up of a run that found it.
    assert!(matches!(theirs.drop(&target, "docshape_s_a").await, Err(NamespaceError::NotOurs(_))));
    assert!(exists("docshape_s_a").await);
    ours.drop(&target, "docshape_s_a").await.unwrap();
    assert!(!exists("docshape_s_a").await && ours.left().is_empty());
    ours.drop(&target, "docshape_s_a").await.unwrap();

    // Neither is a database with our name, nor one with a mark of nobody.
    let insert = rawdoc! { "insert": "things", "documents": [{ "_id": 1 }] };
    let forged = rawdoc! { "insert": "docshape.marker", "documents": [{ "_id": "docshape" }] };
    for (name, command) in [("docshape_s_b", insert), ("docshape_s_c", forged)] {
        single(&target, name, command).await.unwrap();
        let error = ours.drop(&target, name).await.unwrap_err();
        assert!(matches!(error, NamespaceError::NotOurs(_)), "{error}");
        assert!(exists(name).await);
    }
    // All names are judged before the first is used.
    let names = ["docshape_s_a", "docshape_s_b", "docshape_s_c"].map(str::to_owned);
    let error = ours.reserve(&target, &names).await.unwrap_err().to_string();
    for words in ["docshape_s_b is already on the server: without docshape's mark", "docshape_s_c is already", "--run"]
    {
        assert!(error.contains(words), "{words} is not in {error}");
    }
    assert!(!exists("docshape_s").await && !exists("docshape_s_a").await);
    // Of two commands with the same scenario, the server lets one in.
    let (first, second) = (namespace("first"), namespace("second"));
    first.reserve(&target, &names[..1]).await.unwrap();
    assert!(exists("docshape_s").await);
    second.reserve(&target, &names[..1]).await.unwrap();
    assert!(second.left().is_empty(), "a second server of the same process");
}
