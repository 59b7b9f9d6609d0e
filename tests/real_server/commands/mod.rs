//! `docshape run` through the real program, against the real embedded `mongod`: what a run leaves, and what is left when
//! something goes wrong. Without a `mongod` these tests fail and say how to get one.

mod claims;
mod explore;
mod grow;
mod init;
mod interrupts;
mod like;
mod members;
mod refused;
mod resume;
mod run;
mod servers;
mod sweep;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine;
use bson::RawDocumentBuf;
use docshape::record::CallOutcome;
use docshape::results::{self, CellRecord, RunRecord};
use docshape::server::client::MongoTarget;
use docshape::server::{ReplyKind, Target};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::harness::{self, alive};

/// A run whose rounds take two or three seconds. It needs no pilot.
const SMALL: [&str; 12] = [
    "run", "blog-comments", "--set", "posts=30", "--set", "comments_per_post=10", "--calls", "300", "--rate", "300",
    "--slices", "4",
];

/// No run of these tests may take longer.
const PATIENCE: Duration = Duration::from_secs(180);

/// A folder for one test: `tmp` takes the embedded server's folder, `run` is the run folder.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::create_dir(place.tmp()).unwrap();
        place
    }

    fn tmp(&self) -> PathBuf {
        self.0.path().join("tmp")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self) -> PathBuf {
        self.path("run")
    }

    /// docshape without what the environment may say about servers.
    fn docshape(&self, arguments: &[&str]) -> Command {
        let mut command = harness::docshape(arguments);
        command.env("TMPDIR", self.tmp()).current_dir(self.0.path());
        command
    }

    /// Runs the words of a line, with the run folder as the last one.
    fn finish(&self, line: &str) -> Ended {
        let mut command = self.docshape(&line.split(' ').collect::<Vec<_>>());
        command.arg(self.run());
        finish(command)
    }

    /// A small run into the run folder, with further arguments.
    fn small(&self, more: &[&str]) -> Command {
        let mut command = self.docshape(&SMALL);
        command.args(more).arg("--out").arg(self.run());
        command
    }

    fn record(&self) -> RunRecord {
        results::load(&self.run()).unwrap()
    }

    fn assert_nothing_left(&self) {
        let left: Vec<_> = fs::read_dir(self.tmp()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// How a program ended, and what it said.
#[derive(Debug)]
struct Ended {
    status: ExitStatus,
    stdout: String,
    stderr: String,
    /// The most memory that it had, in KiB.
    peak: u64,
}

impl Ended {
    fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Asserts that the command did its work. A run whose calls were released late counts: other tests on the same
    /// machine make it invalid, not the program.
    fn ok(self) -> Ended {
        let late = self.code() == Some(4) && self.stdout.contains(" were released ");
        assert!(late || self.code() == Some(0), "{:?}: {}\n{}", self.code(), self.stderr, self.stdout);
        self
    }

    /// Asserts the exit code and the one paragraph of an error that has all these words.
    fn error(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code(), Some(code), "{}\n{}", self.stderr, self.stdout);
        let told: Vec<&str> = self.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
        assert_eq!(told.len(), 1, "one error: {}", self.stderr);
        assert_eq!(self.stderr.lines().last(), told.first().copied(), "one paragraph, last: {}", self.stderr);
        for word in words {
            assert!(told[0].contains(word), "{word:?} is missing in {}", told[0]);
        }
        assert!(!self.stderr.contains("s3cret") && !self.stdout.contains("s3cret"), "{self:?}");
    }
}

/// A program that runs; killed when the test ends, however it ends.
struct Running {
    child: Child,
    stderr: Arc<Mutex<String>>,
    readers: Vec<std::thread::JoinHandle<()>>,
    stdout: Arc<Mutex<String>>,
    peak: u64,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn collect(stream: impl Read + Send + 'static) -> (Arc<Mutex<String>>, std::thread::JoinHandle<()>) {
    let text = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&text);
    let reader = std::thread::spawn(move || {
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        while lines.read_line(&mut line).is_ok_and(|length| length > 0) {
            sink.lock().unwrap().push_str(&line);
            line.clear();
        }
    });
    (text, reader)
}

/// What a study printed, without the line about the page that only its command writes.
fn without_page(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with("The report with charts: ")).collect()
}

impl Running {
    fn start(mut command: Command) -> Running {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdout, out) = collect(child.stdout.take().unwrap());
        let (stderr, err) = collect(child.stderr.take().unwrap());
        Running { child, stderr, stdout, readers: vec![out, err], peak: 0 }
    }

    fn wait_until<R>(&mut self, what: &str, mut condition: impl FnMut(&mut Running) -> Option<R>) -> R {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = condition(self) {
                return found;
            }
            assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}; {}", self.stderr.lock().unwrap());
            std::thread::sleep(Duration::from_millis(3));
        }
    }

    fn wait_for(&mut self, words: &str) {
        self.wait_until(words, |running| {
            assert!(running.child.try_wait().unwrap().is_none(), "ended: {}", running.stderr.lock().unwrap());
            running.stderr.lock().unwrap().contains(words).then_some(())
        });
    }

    /// The processes of the embedded servers that the main thread has started, as soon as there is one.
    fn mongods(&mut self) -> Vec<u32> {
        let children = format!("/proc/{0}/task/{0}/children", self.child.id());
        self.wait_until("a mongod", |_| {
            let pids = fs::read_to_string(&children).ok()?;
            let pids: Vec<u32> = pids.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
            (!pids.is_empty()).then_some(pids)
        })
    }

    fn signal(&self, signal: Signal) {
        send(self.child.id(), signal);
    }

    /// Interrupts it, and waits for its end.
    fn interrupt(self) -> Ended {
        self.signal(Signal::SIGINT);
        let ended = self.finish();
        assert_eq!(ended.code(), Some(130), "{}", ended.stderr);
        ended
    }

    fn finish(mut self) -> Ended {
        let status_file = format!("/proc/{}/status", self.child.id());
        let status = self.wait_until("the end", |running| {
            if let Ok(text) = fs::read_to_string(&status_file) {
                let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next());
                running.peak = peak.map_or(running.peak, |peak| peak.parse().unwrap());
            }
            running.child.try_wait().unwrap()
        });
        for reader in self.readers.drain(..) {
            reader.join().unwrap();
        }
        let text = |text: &Arc<Mutex<String>>| text.lock().unwrap().clone();
        Ended { status, stdout: text(&self.stdout), stderr: text(&self.stderr), peak: self.peak }
    }
}

fn finish(command: Command) -> Ended {
    Running::start(command).finish()
}

fn send(pid: u32, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(pid).unwrap()), signal).unwrap();
}

/// `docshape server start`, and the URI that it printed.
fn server(place: &Place) -> (Running, String) {
    let mut server = Running::start(place.docshape(&["server", "start", "--cache-gb", "0.25"]));
    let uri = server.wait_until("a URI", |server| {
        let text = server.stdout.lock().unwrap();
        text.ends_with('\n').then(|| text.trim().to_owned())
    });
    (server, uri)
}

fn calls(cell: &CellRecord) -> Vec<u64> {
    cell.operations.iter().map(|operation| operation.calls).collect()
}

fn documents(cell: &CellRecord) -> Vec<(String, u64, u64)> {
    let pairs = cell.before.iter().zip(&cell.after);
    pairs.map(|(before, after)| (before.name.clone(), before.documents, after.documents)).collect()
}

/// The calls of every operation, outcome, histogram and error of a cell agree.
fn assert_adds_up(cell: &CellRecord) {
    assert_eq!(calls(cell).iter().sum::<u64>(), cell.calls);
    for operation in &cell.operations {
        let counts: u64 = operation.outcomes.iter().map(|outcome| outcome.count).sum();
        assert_eq!(counts, operation.calls);
        for outcome in &operation.outcomes {
            assert_eq!(outcome.service.open().count(), outcome.count);
        }
        let failed = operation.outcomes.iter().find(|outcome| outcome.outcome == CallOutcome::Failed);
        assert_eq!(operation.errors.values().sum::<u64>(), failed.map_or(0, |failed| failed.count));
        assert!(operation.round_trips >= operation.calls - failed.map_or(0, |failed| failed.count));
    }
}

/// Successful calls by tag, as the library's own reader of interval logs finds them.
fn logged(path: &Path) -> BTreeMap<String, u64> {
    let text = fs::read(path).unwrap();
    let mut counts = BTreeMap::new();
    for entry in IntervalLogIterator::new(&text) {
        let LogEntry::Interval(interval) = entry.unwrap() else { continue };
        let bytes = base64::engine::general_purpose::STANDARD.decode(interval.encoded_histogram()).unwrap();
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        *counts.entry(interval.tag().unwrap().as_str().to_owned()).or_default() += histogram.len();
    }
    counts
}

/// The same from `run.json`.
fn succeeded(record: &RunRecord) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (part, round) in record.parts.iter().flat_map(|(part, rounds)| rounds.iter().map(move |round| (part, round))) {
        for (strategy, cell) in record.strategies.iter().zip(&round.cells) {
            for (name, operation) in record.operations.iter().zip(&cell.operations) {
                // A tag has no blanks.
                let tag = format!("{}/{name}/{part}/{}", strategy.name.replace(' ', "_"), round.index + 1);
                let ok = operation.outcomes.iter().filter(|outcome| outcome.outcome == CallOutcome::Ok);
                *counts.entry(tag).or_default() += ok.map(|outcome| outcome.count).sum::<u64>();
            }
        }
    }
    counts.retain(|_, count| *count > 0);
    counts
}

const COUNTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/claims/counter.yaml");

fn single(runtime: &tokio::runtime::Runtime, uri: &str, database: &str, command: RawDocumentBuf) -> RawDocumentBuf {
    runtime.block_on(async {
        let target = MongoTarget::connect(uri, 1).await.unwrap();
        target.run(database, command, ReplyKind::Single).await.unwrap().into_document()
    })
}

/// The small run by a process with a limit, written as for the shell's `ulimit`.
fn under(limit: &str) -> Command {
    let mut command = Command::new("bash");
    let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_docshape")]).args(SMALL).env("NO_COLOR", "1");
    command
}
