//! Runs on a replica set of three local members whose primary steps down, is ended, killed or stopped under load: no acknowledged
//! write is lost, audits of safe strategies hold, and a run is valid or says why not. The long part is ignored; its last line per
//! kind is for scripts.

// What the long part prints is for scripts.
#![allow(clippy::print_stdout)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bson::{RawDocumentBuf, rawdoc};
use docshape::results::{self, EventKind, RunRecord, Status};
use docshape::server::client::MongoTarget;
use docshape::server::{ReplyKind, Target};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::harness;

/// Two safe strategies whose copies must agree, and whose loans are counted.
const SCENARIO: &str = "
format: 1
name: failover
title: Loans
about: Books are lent, and every loan is counted.
entities:
  book: { count: 300, fields: { _id: index, copies: 100000 } }
operations:
  lend: { arguments: { book: uniform(book), loan: uuid() }, serial: book }
  look: { arguments: { book: uniform(book) }, returns: value }
mixes: { default: { lend: 80, look: 20 } }
strategies:
  embedded:
    about: Loans in their book.
    collections:
      books: { each: book, document: { _id: <book._id>, copies: <book.copies>, available: <book.copies>, loans: [] } }
    operations:
      lend:
        - updateOne: books
          filter: { _id: <book>, available: { $gt: 0 } }
          update: { $inc: { available: -1 }, $push: { loans: <loan> } }
        - return: \"reply.modified == 1 ? ok() : rejected('none')\"
      look: [{ findOne: books, filter: { _id: <book> }, projection: { _id: 1 } }, { return: 1 }]
  linked:
    about: A document per loan, in a transaction.
    collections:
      books: { each: book, document: { _id: <book._id>, copies: <book.copies>, available: <book.copies> } }
      loans: { indexes: [{ book: 1 }] }
    operations:
      lend:
        - transaction:
            - { updateOne: books, filter: { _id: <book>, available: { $gt: 0 } }, update: { $inc: { available: -1 } } }
            - { if: reply.modified == 0, then: [{ abort: \"rejected('none')\" }] }
            - { insertOne: loans, document: { _id: <loan>, book: <book> } }
        - return: ok()
      look: [{ findOne: books, filter: { _id: <book> }, projection: { _id: 1 } }, { return: 1 }]
audits:
  loans_made:
    about: Stored loans, which must be as many as acknowledged ones.
    embedded: { aggregate: books, pipeline: [{ $unwind: $loans }] }
    linked: { countDocuments: loans }
    expect: calls.lend.ok
  copies_do_not_add_up:
    about: Books whose loans and available copies are not all copies.
    embedded: { find: books, filter: { $expr: { $ne: [$copies, { $add: [$available, { $size: $loans }] }] } } }
    linked:
      aggregate: books
      pipeline:
        - { $lookup: { from: loans, localField: _id, foreignField: book, as: loans } }
        - { $match: { $expr: { $ne: [$copies, { $add: [$available, { $size: $loans }] }] } } }
";

/// What is done to the primary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    StepDown,
    Terminate,
    Kill,
    Stop,
}

/// How long a stopped primary is stopped.
const STOPPED: Duration = Duration::from_secs(5);

/// How long a probe waits: times to recover are exact to about that.
const ATTEMPT: Duration = Duration::from_millis(300);

/// One member: its process and how to start it again.
struct Member {
    child: Child,
    port: u16,
    data: PathBuf,
}

impl Member {
    fn start(folder: &Path, port: u16) -> Member {
        let data = folder.join(port.to_string());
        fs::create_dir_all(&data).unwrap();
        Member { child: Member::spawn(&data, port), port, data }
    }

    fn spawn(data: &Path, port: u16) -> Child {
        let mut command = Command::new(harness::program());
        command.args(["--replSet=failover", "--bind_ip=127.0.0.1", "--nounixsocket", "--oplogSize=200"]);
        command.args(["--wiredTigerCacheSizeGB=0.25", "--setParameter=diagnosticDataCollectionEnabled=false"]);
        command.arg("--setParameter=shutdownTimeoutMillisForSignaledShutdown=500").arg(format!("--port={port}"));
        command.arg("--dbpath").arg(data).arg("--logpath").arg(data.with_extension("log")).arg("--logappend");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Starts it again, also if another process took its port meanwhile, so that the last start failed.
    fn start_if_ended(&mut self) {
        if self.child.try_wait().unwrap().is_some() {
            self.child = Member::spawn(&self.data, self.port);
        }
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal).unwrap();
    }

    async fn target(&self) -> MongoTarget {
        MongoTarget::connect(&format!("mongodb://127.0.0.1:{}/?directConnection=true", self.port), 1).await.unwrap()
    }
}

/// A replica set that is ended with this value.
struct Set {
    members: Vec<Member>,
    folder: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
}

impl Drop for Set {
    fn drop(&mut self) {
        for member in &mut self.members {
            let _ = member.child.kill();
            let _ = member.child.wait();
        }
    }
}

/// A reply within a second, if there is one.
async fn ask(target: &MongoTarget, database: &str, command: RawDocumentBuf) -> Option<RawDocumentBuf> {
    let reply = tokio::time::timeout(Duration::from_secs(1), target.run(database, command, ReplyKind::Single)).await;
    Some(reply.ok()?.ok()?.into_document())
}

impl Set {
    fn start() -> Set {
        let folder = tempfile::tempdir().unwrap();
        let listeners: Vec<TcpListener> = (0..3).map(|_| TcpListener::bind(("127.0.0.1", 0)).unwrap()).collect();
        let ports: Vec<u16> = listeners.iter().map(|one| one.local_addr().unwrap().port()).collect();
        drop(listeners);
        let members: Vec<Member> = ports.iter().map(|port| Member::start(folder.path(), *port)).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut set = Set { members, folder, runtime };
        let mut listed = bson::RawArrayBuf::new();
        for (id, port) in ports.iter().enumerate() {
            listed.push(rawdoc! { "_id": id as i32, "host": format!("127.0.0.1:{port}") });
        }
        let settings = rawdoc! { "electionTimeoutMillis": 2_000, "heartbeatIntervalMillis": 500 };
        let config = rawdoc! { "_id": "failover", "members": listed, "settings": settings };
        set.runtime.block_on(async {
            let first = set.members[0].target().await;
            let command = || rawdoc! { "replSetInitiate": config.clone() };
            while ask(&first, "admin", command()).await.is_none() {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        });
        set.wait_healthy();
        set
    }

    fn uri(&self) -> String {
        let hosts: Vec<String> = self.members.iter().map(|member| format!("127.0.0.1:{}", member.port)).collect();
        format!("mongodb://{}/?replicaSet=failover", hosts.join(","))
    }

    /// The primary's position, if there is exactly one, and whether all others are secondaries.
    async fn state(&self) -> (Option<usize>, bool) {
        let (mut primaries, mut secondaries) = (Vec::new(), 0);
        for (place, member) in self.members.iter().enumerate() {
            let hello = ask(&member.target().await, "admin", rawdoc! { "hello": 1 }).await;
            let is = |key: &str| hello.as_ref().is_some_and(|hello| hello.get_bool(key).unwrap_or(false));
            primaries.extend(is("isWritablePrimary").then_some(place));
            secondaries += usize::from(is("secondary"));
        }
        let only = primaries.first().copied().filter(|_| primaries.len() == 1);
        (only, secondaries + 1 == self.members.len())
    }

    /// Waits until one member is the primary and all others follow it, and returns its position.
    fn wait_healthy(&mut self) -> usize {
        let deadline = Instant::now() + Duration::from_secs(90);
        loop {
            self.members.iter_mut().for_each(Member::start_if_ended);
            if let (Some(primary), true) = self.runtime.block_on(self.state()) {
                return primary;
            }
            assert!(Instant::now() < deadline, "the set does not recover");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Disturbs the primary, undoes it, and returns the time until a write was acknowledged again.
    fn disturb(&mut self, fault: Fault, probe: &mut Probe) -> Duration {
        let place = self.wait_healthy();
        match fault {
            Fault::StepDown => {
                let step_down = rawdoc! { "replSetStepDown": 5, "secondaryCatchUpPeriodSecs": 4 };
                let ask = async { ask(&self.members[place].target().await, "admin", step_down).await };
                self.runtime.block_on(ask);
            }
            Fault::Terminate => self.members[place].signal(Signal::SIGTERM),
            Fault::Kill => self.members[place].signal(Signal::SIGKILL),
            Fault::Stop => self.members[place].signal(Signal::SIGSTOP),
        }
        let (start, mut is_stopped) = (Instant::now(), fault == Fault::Stop);
        let mut go_on = |is_due: bool| {
            if is_stopped && is_due {
                self.members[place].signal(Signal::SIGCONT);
                is_stopped = false;
            }
        };
        while !self.runtime.block_on(probe.write()) {
            go_on(start.elapsed() >= STOPPED);
            assert!(start.elapsed() < Duration::from_secs(60), "no write was acknowledged after {fault:?}");
        }
        let recovered = start.elapsed();
        if fault == Fault::Stop {
            std::thread::sleep(STOPPED.saturating_sub(recovered));
        }
        go_on(true);
        match fault {
            Fault::StepDown | Fault::Stop => {}
            Fault::Terminate | Fault::Kill => {
                let member = &mut self.members[place];
                member.child.wait().unwrap();
                member.start_if_ended();
            }
        }
        recovered
    }
}

/// Writes documents of known ids, to know which acknowledged ones are lost.
struct Probe {
    target: MongoTarget,
    next: i32,
    acknowledged: BTreeSet<i32>,
}

impl Probe {
    fn start(set: &Set) -> Probe {
        let target = set.runtime.block_on(MongoTarget::connect(&set.uri(), 1)).unwrap();
        Probe { target, next: 0, acknowledged: BTreeSet::new() }
    }

    /// Writes a document to a majority; whether that was acknowledged in time.
    async fn write(&mut self) -> bool {
        self.next += 1;
        let command = rawdoc! {
            "insert": "writes", "documents": [rawdoc! { "_id": self.next }], "writeConcern": rawdoc! { "w": "majority" },
        };
        let reply = tokio::time::timeout(ATTEMPT, self.target.run("probe", command, ReplyKind::Single)).await;
        let is_acknowledged = matches!(reply, Ok(Ok(_)));
        if is_acknowledged {
            self.acknowledged.insert(self.next);
        } else {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        is_acknowledged
    }

    /// The acknowledged writes that are not there.
    fn lost(&self, set: &Set) -> usize {
        let find = rawdoc! { "distinct": "writes", "key": "_id", "readConcern": rawdoc! { "level": "majority" } };
        let reply = set.runtime.block_on(ask(&self.target, "probe", find)).unwrap();
        let values = reply.get_array("values").unwrap().into_iter();
        let stored: BTreeSet<i32> = values.filter_map(|value| value.unwrap().as_i32()).collect();
        self.acknowledged.difference(&stored).count()
    }
}

/// A run of docshape on the set.
struct DisturbedRun {
    child: Child,
    folder: PathBuf,
    /// Whether calls are measured.
    is_measuring: Arc<AtomicBool>,
    reader: std::thread::JoinHandle<String>,
}

impl DisturbedRun {
    fn start(set: &Set, number: usize, rounds: u32, calls: u32) -> DisturbedRun {
        let (scenario, folder) =
            (set.folder.path().join("failover.yaml"), set.folder.path().join(format!("run{number}")));
        fs::write(&scenario, SCENARIO).unwrap();
        let mut command = harness::docshape(&["run"]);
        command.arg(scenario).args(["--yes", "--no-verify", "--only", "rate", "--rate", "150", "--uri"]);
        command.arg(set.uri()).args(["--rounds", &rounds.to_string(), "--calls", &calls.to_string(), "--out"]);
        let mut child = command.arg(&folder).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let is_measuring = Arc::new(AtomicBool::new(false));
        let (lines, flag) = (BufReader::new(child.stderr.take().unwrap()).lines(), Arc::clone(&is_measuring));
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            for line in lines.map_while(Result::ok) {
                if line.contains(" round ") {
                    flag.store(line.ends_with("open load"), Ordering::Relaxed);
                }
                text.push_str(&line);
                text.push('\n');
            }
            text
        });
        DisturbedRun { child, folder, is_measuring, reader }
    }

    /// Waits until calls are measured; `false` when the run is over.
    fn wait_measuring(&mut self) -> bool {
        while self.child.try_wait().unwrap().is_none() {
            if self.is_measuring.load(Ordering::Relaxed) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        false
    }

    /// Waits for the end: the exit code, what was printed, and the record.
    fn finish(self) -> (i32, String, RunRecord) {
        let ended = self.child.wait_with_output().unwrap();
        let errors = self.reader.join().unwrap();
        let text = format!("{errors}\n{}", String::from_utf8_lossy(&ended.stdout));
        let record = results::load(&self.folder).unwrap_or_else(|error| panic!("{error}\n{text}"));
        (ended.status.code().unwrap_or(-1), text, record)
    }
}

/// What disturbed runs showed.
#[derive(Debug, Default)]
struct Outcome {
    faults: usize,
    runs: usize,
    /// Runs that were void, with a true reason.
    void: usize,
    /// Runs that ended early, because the fault hit them between measured calls, with a true reason.
    early: usize,
    lost: usize,
    violated: usize,
    unknown: u64,
    changes: usize,
    recoveries: Vec<Duration>,
}

impl Outcome {
    fn add(&mut self, code: i32, text: &str, record: &RunRecord) {
        self.runs += 1;
        // Lines are wrapped.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match (code, &record.status) {
            (0, Status::Complete) => {}
            (4, Status::Complete) => {
                assert!(text.contains("the primary changed meanwhile"), "void for another reason: {text}");
                self.void += 1;
            }
            (3, Status::Failed(reason)) => {
                assert!(reason.contains("the primary changed while the data"), "ended for another reason: {text}");
                self.early += 1;
            }
            _ => panic!("{code}, {:?}: {text}", record.status),
        }
        let cells = record.parts.values().flatten().flat_map(|round| &round.cells);
        for cell in cells {
            self.unknown += cell.operations.iter().map(|operation| operation.unknown).sum::<u64>();
            for audit in cell.audits.iter().filter(|audit| audit.anomalies() > 0) {
                println!("violated: {audit:?}");
                self.violated += 1;
                let found = audit.found as i64;
                self.lost += usize::try_from(audit.expected[0].saturating_sub(found)).unwrap_or(0);
            }
        }
        let is_change = |kind: &EventKind| matches!(kind, EventKind::PrimaryChanged { .. });
        self.changes += record.events.iter().filter(|event| is_change(&event.kind)).count();
    }
}

/// Causes this many faults, the kinds in turn, in runs of these rounds and calls.
fn disturbed(kinds: &[Fault], tries: usize, rounds: u32, calls: u32) -> Outcome {
    let mut set = Set::start();
    let mut probe = Probe::start(&set);
    let mut outcome = Outcome::default();
    while outcome.faults < tries {
        let mut run = DisturbedRun::start(&set, outcome.runs, rounds, calls);
        while outcome.faults < tries && run.wait_measuring() {
            std::thread::sleep(Duration::from_millis(700));
            let fault = kinds[outcome.faults % kinds.len()];
            outcome.recoveries.push(set.disturb(fault, &mut probe));
            outcome.faults += 1;
            set.wait_healthy();
        }
        let (code, text, record) = run.finish();
        outcome.add(code, &text, &record);
    }
    set.wait_healthy();
    outcome.lost += probe.lost(&set);
    outcome
}

#[test]
fn a_failover_loses_no_acknowledged_write_and_is_an_event() {
    let outcome = disturbed(&[Fault::StepDown, Fault::Kill], 2, 1, 450);
    assert_eq!((outcome.lost, outcome.violated), (0, 0), "{outcome:?}");
    assert!(outcome.changes > 0 && outcome.early == 0, "{outcome:?}");
}

/// The long part: as many faults as `DOCSHAPE_FAULTS` says, and a line of results.
fn long(name: &str, fault: Fault, usual: usize) {
    let tries = std::env::var("DOCSHAPE_FAULTS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let mut outcome = disturbed(&[fault], tries, 3, 1_200);
    outcome.recoveries.sort();
    let millis = |place: usize| outcome.recoveries[place].as_millis();
    println!(
        "fault={name} tries={} runs={} void={} early={} changes={} unknown={} lost={} violated={} median_ms={} longest_ms={}",
        outcome.faults,
        outcome.runs,
        outcome.void,
        outcome.early,
        outcome.changes,
        outcome.unknown,
        outcome.lost,
        outcome.violated,
        millis(outcome.recoveries.len() / 2),
        millis(outcome.recoveries.len() - 1),
    );
    assert_eq!((outcome.lost, outcome.violated), (0, 0), "{outcome:?}");
}

#[test]
#[ignore = "takes minutes"]
fn step_downs() {
    long("stepdown", Fault::StepDown, 30);
}

#[test]
#[ignore = "takes minutes"]
fn terminations() {
    long("sigterm", Fault::Terminate, 30);
}

#[test]
#[ignore = "takes minutes"]
fn kills() {
    long("sigkill", Fault::Kill, 30);
}

#[test]
#[ignore = "takes minutes"]
fn stops() {
    long("sigstop", Fault::Stop, 10);
}
