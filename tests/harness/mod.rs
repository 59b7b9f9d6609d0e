//! A real `mongod` and compiled scenarios for tests. Without a `mongod` these tests fail and say how to get one.

#![allow(dead_code)]

pub mod record;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bson::{RawArrayBuf, RawDocument, RawDocumentBuf, rawdoc};
use docshape::compile::{Choice, compile};
use docshape::engine::{Experiment, LoadThread, LoadThreads, Observer, Servers, StopFlag, arm_database};
use docshape::plan::{Plan, Value};
use docshape::results::{Preset, RunSettings};
use docshape::scenario::{Diagnostics, Source, read};
use docshape::server::client::MongoTarget;
use docshape::server::database_names::DatabaseNames;
use docshape::server::embedded::{Checkpoints, EmbeddedMongod, EmbeddedOptions, locate};
use docshape::server::namespace::Namespace;
use docshape::server::{Db, Failure, Reply, ReplyKind, Target};
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use tokio::time::Instant;

/// Returns the `mongod` that docshape would start.
pub fn program() -> PathBuf {
    locate(None, std::env::var_os).unwrap_or_else(|error| panic!("this test needs a mongod: {error}"))
}

/// The program with these arguments, without colours and without what the environment says about servers.
pub fn docshape(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docshape"));
    command.args(arguments).env("DOCSHAPE_MONGOD", program()).env_remove("MONGODB_URI").env("NO_COLOR", "1");
    command.stdin(Stdio::null());
    command
}

/// Whether a process runs. A dead one that nobody has waited for yet counts as gone.
pub fn alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// Waits until a condition holds; `what` is said if it does not within 20 s.
pub fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(std::time::Instant::now() < deadline, "not within 20 s: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Options of the server in tests, with a small cache.
pub fn options(temp_dir: &Path) -> EmbeddedOptions {
    let mut options = EmbeddedOptions::new(program(), env!("CARGO_BIN_EXE_docshape").into(), temp_dir.to_owned());
    // Tests make and drop many collections, whose files would stay open for minutes.
    options.checkpoints = Checkpoints::EveryFewSeconds;
    options.cache_gb = 0.25;
    options
}

/// A server, a client, and a load thread.
pub struct Bench {
    /// Creates and reads databases.
    pub target: MongoTarget,
    /// Makes the calls.
    pub load_threads: LoadThreads<MongoTarget>,
    server: EmbeddedMongod,
    temp: tempfile::TempDir,
}

/// Starts all three; `clients` calls can be in flight.
pub async fn bench(clients: u32) -> Bench {
    bench_in(tempfile::tempdir().unwrap(), clients).await
}

/// The same with the server's data in a folder [`on_disk`].
pub async fn bench_on_disk(clients: u32) -> Bench {
    bench_in(on_disk(), clients).await
}

/// A folder on a disk. Some mistakes show only while writes wait for their journal, which they do not where temporary files are in
/// memory.
pub fn on_disk() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

async fn bench_in(temp: tempfile::TempDir, clients: u32) -> Bench {
    let server = EmbeddedMongod::start(&options(temp.path())).await.unwrap();
    let target = MongoTarget::connect(&server.uri(), 1).await.unwrap();
    let thread = LoadThread::start(server.uri(), clients, Duration::from_secs(5)).await.unwrap();
    Bench { target, load_threads: LoadThreads::Threads(vec![thread]), server, temp }
}

/// Compiles a scenario; diagnostics fail the test.
pub fn plan(text: &str, choice: &Choice) -> Arc<Plan> {
    let source = Source::new("test.yaml", text);
    let diagnostics = Diagnostics::new();
    let scenario = read(&source, &diagnostics);
    let plan = scenario.and_then(|scenario| compile(&scenario, choice, &diagnostics).unwrap());
    Arc::new(plan.unwrap_or_else(|| panic!("{}", diagnostics.render(&source, false))))
}

/// Returns a choice with these parameters.
pub fn choice(set: &[(&str, &str)]) -> Choice {
    let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Choice { set, ..Choice::default() }
}

/// Returns the databases of a scenario, others for every id.
pub fn namespace(scenario: &str, id: &str) -> Namespace {
    Namespace::new(DatabaseNames::new(&format!("docshape_{id}_"), scenario), id)
}

/// Settings of a closed load whose databases are dropped.
pub fn settings(clients: usize, slices: u64) -> RunSettings {
    RunSettings { clients, clients_at_rate: clients, slices, ..RunSettings::of(Preset::Quick) }
}

/// One way to store points, which one operation reads. Other strategies may follow.
pub const POINTS: &str = "
format: 1
name: points
title: Points
about: Point reads.
entities:
  point: { count: 40, fields: { _id: index } }
operations:
  read: { arguments: { point: zipf(point) }, returns: point }
mixes: { default: { read: 1 } }
strategies:
  one:
    about: The reference.
    collections: { points: { each: point } }
    operations:
      read: { findOne: points, filter: { _id: <point> } }
";

/// Whether a command is a call of [`POINTS`], rather than one of the engine's own.
pub fn is_call(command: &RawDocument) -> bool {
    let (_, collection) = command.iter().next().unwrap().unwrap();
    collection.as_str() == Some("points") && command.get("readConcern").unwrap().is_some()
}

/// Returns an experiment on scripted servers whose databases are dropped.
pub fn experiment<'e, T, G>(
    plan: &Arc<Plan>,
    settings: RunSettings,
    servers: Servers<'e, T, G>,
) -> Experiment<'e, T, G> {
    Experiment {
        plan: Arc::clone(plan),
        settings,
        namespace: namespace("scenario", "t"),
        keep: false,
        servers,
        observer: &(),
        stop: StopFlag::default(),
        started: Instant::now(),
    }
}

/// A target of any type: the compiler makes an engine for every type of target, and this is one for all scripted servers.
#[derive(Clone)]
pub struct AnyTarget<'t>(Rc<dyn BoxedTarget + 't>);

trait BoxedTarget {
    fn boxed<'c>(
        &'c self,
        database: &'c str,
        command: RawDocumentBuf,
        kind: ReplyKind,
    ) -> LocalBoxFuture<'c, Result<Reply, Failure>>;
}

impl<T: Target> BoxedTarget for T {
    fn boxed<'c>(
        &'c self,
        database: &'c str,
        command: RawDocumentBuf,
        kind: ReplyKind,
    ) -> LocalBoxFuture<'c, Result<Reply, Failure>> {
        self.run(database, command, kind).boxed_local()
    }
}

impl<'t> AnyTarget<'t> {
    /// Boxes a target that leaves transactions to the defaults.
    pub fn new(target: Rc<impl Target + 't>) -> AnyTarget<'t> {
        AnyTarget(target)
    }

    /// Returns a load without threads of its own on this target.
    pub fn inline(&self) -> LoadThreads<AnyTarget<'t>> {
        LoadThreads::Inline(Rc::new(self.clone()))
    }
}

impl Target for AnyTarget<'_> {
    async fn run(&self, database: &str, command: RawDocumentBuf, kind: ReplyKind) -> Result<Reply, Failure> {
        self.0.boxed(database, command, kind).await
    }
}

/// The reply of a scripted server: counts of one written document, and the marker that is read before a database is
/// dropped.
pub fn reply_to(command: &RawDocument) -> Reply {
    let (name, collection) = command.iter().next().unwrap().unwrap();
    let is_marker = name == "find" && collection.as_str() == Some("docshape.marker");
    let rows: RawArrayBuf = is_marker.then(|| rawdoc! { "_id": "docshape" }).into_iter().collect();
    Reply::from(rawdoc! { "ok": 1, "n": 1, "cursor": { "id": 0_i64, "firstBatch": rows } })
}

impl Bench {
    /// Returns the server's URI with a database.
    pub fn uri(&self, database: &str) -> String {
        self.server.uri().replacen("/?", &format!("/{database}?"), 1)
    }

    /// Returns an experiment on this server that keeps its databases.
    pub fn experiment<'b>(
        &'b self,
        plan: &Arc<Plan>,
        (clients, slices): (usize, u64),
        id: &str,
        observer: &'b dyn Observer,
    ) -> Experiment<'b, MongoTarget, MongoTarget> {
        let servers = Servers::Shared { target: &self.target, load_threads: &self.load_threads };
        let namespace = namespace(&plan.name, id);
        Experiment { namespace, keep: true, observer, ..experiment(plan, settings(clients, slices), servers) }
    }

    /// Returns a client with this number of connections.
    pub async fn client(&self, connections: u32) -> MongoTarget {
        MongoTarget::connect(&self.server.uri(), connections).await.unwrap()
    }

    /// Returns the logical state of every arm after round 0 of an experiment.
    pub async fn states(&self, plan: &Plan, id: &str) -> Vec<Vec<(String, Vec<Value>)>> {
        let mut states = Vec::new();
        for (arm, strategy) in plan.arms.iter().enumerate() {
            let database = arm_database(&namespace(&plan.name, id).names, strategy);
            states.push(
                docshape::engine::read_state(&Db { target: &self.target, name: &database }, plan, arm).await.unwrap(),
            );
        }
        states
    }
}
