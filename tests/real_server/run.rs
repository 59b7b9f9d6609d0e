//! `docshape run` through the real program, against the real embedded `mongod`: what a run leaves, and what is left when
//! something goes wrong. Without a `mongod` these tests fail and say how to get one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine;
use bson::{RawArrayBuf, RawDocumentBuf, rawdoc};
use docshape::record::CallOutcome;
use docshape::results::{self, Arrivals, CellRecord, ClaimsRecord, LoadModel, Part, RoundRecord, RunRecord, Status};
use docshape::server::client::MongoTarget;
use docshape::server::embedded::{EmbeddedMongod, EmbeddedOptions};
use docshape::server::{ReplyKind, Target};
use docshape::studies::growth::record::GrowthRecord;
use docshape::studies::sweep::record::SweepRecord;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::harness;

/// A run whose rounds take two or three seconds. It needs no pilot.
const SMALL: [&str; 12] = [
    "run",
    "blog-comments",
    "--set",
    "posts=30",
    "--set",
    "comments_per_post=10",
    "--calls",
    "300",
    "--rate",
    "600",
    "--slices",
    "4",
];
const OPERATIONS: [&str; 12] = [
    "add_comment",
    "post",
    "read_post",
    "read_page",
    "page_after",
    "latest",
    "count",
    "comment",
    "edit",
    "hide",
    "by_author",
    "total",
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
        let mut command = Command::new(env!("CARGO_BIN_EXE_docshape"));
        command.args(arguments).env("TMPDIR", self.tmp()).env_remove("MONGODB_URI").env("NO_COLOR", "1");
        command.env("DOCSHAPE_MONGOD", harness::program()).current_dir(self.0.path());
        command
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

/// A dead process that nobody has waited for yet counts as gone.
fn alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
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

#[test]
fn a_smoke_run_has_consistent_results_and_reports_again() {
    let place = Place::new();
    let mut command =
        place.docshape(&["run", "blog-comments", "--preset", "smoke", "--calls", "600", "--full", "--out"]);
    command.arg(place.run());
    let ended = finish(command).ok();
    place.assert_nothing_left();
    let mut files: Vec<_> = fs::read_dir(place.run()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    let (drawn, others): (Vec<_>, Vec<_>) =
        files.iter().filter_map(|name| name.to_str()).partition(|name| name.ends_with(".svg"));
    assert_eq!(others, ["latency.hlog", "metrics.csv", "report.html", "report.md", "run.json"]);

    let record = place.record();
    // On a busy machine the round is a single slice, which is no series over time.
    let saturation = &record.parts[&Part::Saturation][0];
    let has_series = saturation.cells[0].slices.len() > 1;
    let charts = ["cost.svg", "decision.svg", "forest.svg", "percentiles.svg", "sizes.svg"];
    assert_eq!(drawn, [&charts[..], if has_series { &["throughput.svg"] } else { &[] }].concat());
    assert_eq!((&record.status, record.complete_rounds()), (&Status::Complete, 1));
    let strategies: Vec<&str> = record.strategies.iter().map(|strategy| strategy.name.as_str()).collect();
    assert_eq!(strategies, ["embedded", "linked", "bucketed", "embedded (repeat)"]);
    assert_eq!(record.operations, OPERATIONS);
    assert_eq!(record.parts.keys().copied().collect::<Vec<_>>(), Part::ALL);
    let in_mix: Vec<bool> = record.mix.weights.iter().map(|(_, weight)| *weight > 0.0).collect();
    for (part, cell) in
        record.parts.iter().flat_map(|(part, rounds)| rounds[0].cells.iter().map(move |cell| (part, cell)))
    {
        let planned = record.settings.calls.filter(|_| *part == Part::Saturation);
        assert!(planned.is_none_or(|calls| cell.calls == calls), "{} of {planned:?}", cell.calls);
        let called: Vec<bool> = calls(cell).iter().map(|calls| *calls > 0).collect();
        assert_eq!(called, in_mix, "{part}: {:?}", calls(cell));
        assert_adds_up(cell);
        assert!(cell.operations.iter().all(|operation| operation.errors.is_empty()), "{part}");
        assert_eq!(cell.connections_created, 0, "the pool was warm");
        assert_eq!(cell.own_counters.len(), if *part == Part::Own { OPERATIONS.len() } else { 0 }, "{part}");
        let machine = &cell.machine;
        for share in [machine.steal, machine.busy, machine.load_thread_busy] {
            assert!(share.is_some_and(|share| (0.0..=1.01).contains(&share)), "{part}: {machine:?}");
        }
        assert!(machine.load_thread_busy > Some(0.0) && machine.load_average.is_some(), "{part}: {machine:?}");
    }
    assert_eq!((record.id.len(), record.environment.connections), (8, Some(64)));
    assert!(record.environment.driver.as_ref().is_some_and(|driver| driver.starts_with("mongodb 3.")));
    assert!(record.server.cache_bytes.is_some_and(|cache| cache > 200_000_000));
    let comments = record.strategies[1].collections.iter().find(|one| one.name == "comments").unwrap();
    assert!(comments.indexes[0].starts_with("{ key: { post: 1, created_on: 1, _id: 1 }"), "{comments:?}");
    assert_eq!(logged(&place.run().join("latency.hlog")), succeeded(&record));
    assert_sizes_grow_where_documents_grow(saturation);

    let markdown = fs::read_to_string(place.run().join("report.md")).unwrap();
    assert!(strategies.iter().chain(&OPERATIONS).all(|name| markdown.contains(name)), "{markdown}");
    let again = finish(place.docshape(&["report", "--full", place.run().to_str().unwrap()])).ok();
    assert_eq!(again.stdout, ended.stdout);
    fs::create_dir(place.path("archive")).unwrap();
    fs::rename(place.run(), place.path("archive/moved")).unwrap();
    let moved = place.path("archive/moved").to_str().unwrap().to_owned();
    let again = finish(place.docshape(&["report", "--full", &moved])).ok();
    assert_eq!(again.stdout, ended.stdout.replace(place.run().to_str().unwrap(), &moved));
}

/// Comments are added: to the posts themselves, beside them, or to pages that fill up.
fn assert_sizes_grow_where_documents_grow(round: &RoundRecord) {
    let sizes = |arm: usize, name: &str| {
        let find = |sizes: &[results::CollectionSizes]| sizes.iter().find(|sizes| sizes.name == name).cloned().unwrap();
        (find(&round.cells[arm].before), find(&round.cells[arm].after))
    };
    let (before, after) = sizes(0, "posts");
    assert!(after.mean > before.mean && after.documents == before.documents, "{before:?} {after:?}");
    for (arm, children) in [(1, "comments"), (2, "comment_buckets")] {
        let (before, after) = sizes(arm, "posts");
        assert_eq!((before.mean, before.max, before.documents), (after.mean, after.max, after.documents));
        let (before, after) = sizes(arm, children);
        assert!(after.documents > before.documents && after.size > before.size, "{before:?} {after:?}");
    }
}

#[test]
fn equal_seeds_make_equal_calls_with_any_number_of_threads() {
    let place = Place::new();
    let (_server, uri) = server(&place);
    let run = |name: &str, more: &[&str]| {
        let mut command = place.docshape(&SMALL);
        command.args(["--rounds", "2", "--uri", &uri]).args(more).arg("--out").arg(place.path(name));
        finish(command).ok();
        results::load(&place.path(name)).unwrap()
    };
    let one = run("one", &["--seed", "7"]);
    let two = run("two", &["--seed", "7", "--threads", "2", "--clients", "8"]);
    let other = run("other", &["--seed", "8"]);
    for (part, rounds) in &one.parts {
        for (round, again) in rounds.iter().zip(&two.parts[part]) {
            assert_eq!((round.seed, &round.order), (again.seed, &again.order), "{part}");
            for (cell, again) in round.cells.iter().zip(&again.cells) {
                assert_eq!(calls(cell), calls(&round.cells[0]), "{part}: strategies are asked the same");
                assert_eq!((calls(cell), cell.loaded), (calls(again), again.loaded), "{part}");
                assert_eq!(documents(cell), documents(again));
                assert!(*part == Part::Own || cell.calls == 300, "{part}: {}", cell.calls);
                assert_adds_up(again);
            }
        }
    }
    let (ours, theirs) = (&one.parts[&Part::Saturation], &other.parts[&Part::Saturation]);
    assert_ne!(calls(&ours[0].cells[0]), calls(&ours[1].cells[0]), "rounds differ");
    assert_ne!(calls(&ours[0].cells[0]), calls(&theirs[0].cells[0]), "seeds differ");
    assert_ne!(documents(&ours[0].cells[1]), documents(&theirs[0].cells[1]));
    assert_eq!(logged(&place.path("two/latency.hlog")), succeeded(&two));
}

#[test]
fn thresholds_decide_the_exit_code_and_the_junit_file() {
    let place = Place::new();
    let (kept, broken) = ("linked.read_post.max<1000s", "linked.read_post.p50 < 1us");
    let junit = place.path("junit.xml");
    let ended = finish(place.small(&[
        "--rounds",
        "1",
        "--strategies",
        "linked",
        "--threshold",
        kept,
        "--threshold",
        broken,
        "--full",
        "--junit",
        junit.to_str().unwrap(),
    ]));
    assert_eq!(ended.code(), Some(1), "{}", ended.stderr);
    assert_eq!(place.record().settings.thresholds, [kept, broken]);
    let text = fs::read_to_string(&junit).unwrap();
    for words in
        ["tests=\"3\" failures=\"1\"", "name=\"linked.read_post.max&lt;1000s\"/>", "<failure message=\"found: "]
    {
        assert!(text.contains(words), "{words} is not in {text}");
    }
    let again = finish(place.docshape(&["report", "--full", place.run().to_str().unwrap()])).ok();
    for text in [&ended.stdout, &again.stdout] {
        let section = text.split("\nThresholds\n").nth(1).unwrap();
        assert!(section.contains("passed ") && section.contains("failed "), "{text}");
    }
    place.assert_nothing_left();
}

#[test]
fn a_duration_sets_the_calls_of_all_strategies() {
    let place = Place::new();
    let mut command = place.docshape(&["run", "blog-comments", "--duration", "300ms", "--rounds", "1"]);
    command.args(["--set", "posts=30", "--set", "comments_per_post=10", "--threads", "2", "--clients", "5"]);
    command.args(["--slices", "3", "--preset", "smoke", "--only", "saturation", "--out"]).arg(place.run());
    finish(command).ok();
    let record = place.record();
    assert_eq!(record.settings.duration, Some(0.3));
    let cells = &record.parts[&Part::Saturation][0].cells;
    for cell in cells {
        assert_eq!(Some(cell.calls), record.settings.calls, "all strategies make the same calls");
        assert_adds_up(cell);
    }
    let slowest = cells.iter().map(|cell| cell.seconds).fold(0.0, f64::max);
    assert!(slowest > 0.05 && slowest < 3.0, "{slowest} s");
    assert_eq!(logged(&place.run().join("latency.hlog")), succeeded(&record));
    let markdown = fs::read_to_string(place.run().join("report.md")).unwrap();
    assert!(markdown.contains("--duration 0.3s --only saturation") && !markdown.contains("--calls"), "{markdown}");
}

#[test]
fn a_common_rate_has_equal_calls_and_response_times() {
    let place = Place::new();
    let mut command = place.docshape(&["run", "blog-comments", "--preset", "smoke", "--calls", "500", "--full"]);
    command.args(["--only", "rate", "--rate", "500", "--set", "posts=30", "--set", "comments_per_post=10"]);
    command.args(["--threads", "2", "--out"]).arg(place.run());
    let ended = finish(command).ok();
    assert!(ended.stdout.contains("Response time per call") && ended.stdout.contains("offered"), "{}", ended.stdout);
    assert!(ended.stderr.contains("warm-up calls, 500 calls at 500 calls/s\n"), "{}", ended.stderr);
    let record = place.record();
    let load = LoadModel::Open { rate: 500.0, arrivals: Arrivals::Poisson };
    let part = record.part(Part::Rate).unwrap();
    assert_eq!((part.settings.load, part.settings.clients, record.settings.clients), (load, 64, 8));
    assert_eq!((record.settings.rate_calls, record.settings.duration), (Some(500), None));
    assert_eq!(record.parts.len(), 1);
    let cells = &record.parts[&Part::Rate][0].cells;
    for cell in cells {
        assert_adds_up(cell);
        let open = cell.open.as_ref().expect("the open model");
        assert_eq!((open.offered, cell.calls + open.never_started, cell.slices.len()), (500, 500, 2));
        let first = cells[0].open.as_ref().unwrap().seconds;
        assert!((open.seconds - first).abs() < 1e-6, "all strategies get the same times: {} {first}", open.seconds);
        assert_eq!((open.pacer_lag.count, open.queue_wait.count), (500, cell.calls));
        assert_eq!(cell.check_out.as_ref().map(|waits| waits.count >= cell.calls), Some(true), "a command per call");
        for outcome in cell.operations.iter().flat_map(|operation| &operation.outcomes) {
            let response = outcome.response.as_ref().expect("response times");
            assert!(response.count == outcome.count && response.sum >= outcome.sum, "{}", outcome.outcome);
        }
    }
    assert_eq!(logged(&place.run().join("latency.hlog")), succeeded(&record));
    let markdown = fs::read_to_string(place.run().join("report.md")).unwrap();
    for words in [
        "| common rate | 500 calls per second and strategy |",
        "| arrivals | poisson |",
        "| clients | 8 |",
        "--calls 500 --only rate --rate 500 --arrivals poisson --clients 8",
        "## Response time per call",
        "## Offered and achieved load",
    ] {
        assert!(markdown.contains(words), "{words} is not in {markdown}");
    }
    place.assert_nothing_left();
}

#[test]
fn rate_auto_is_half_of_the_slowest_strategy() {
    let place = Place::new();
    let mut command =
        place.docshape(&["run", "blog-comments", "--preset", "smoke", "--rate", "auto", "--clients", "16"]);
    command.args(["--arrivals", "uniform", "--set", "posts=30", "--set", "comments_per_post=10"]);
    command.arg("--out").arg(place.run());
    let ended = finish(command).ok();
    let lines: Vec<&str> = ended.stdout.lines().filter(|line| !line.starts_with("INVALID RUN: ")).collect();
    assert_eq!(lines.len(), 3, "{}", ended.stdout);
    assert!(lines[0].starts_with("blog-comments runs: 8 operations, 3 strategies, "), "{}", lines[0]);
    assert!(lines[0].ends_with(" calls, no failure."), "{}", lines[0]);
    assert!(lines[1].starts_with("All strategies returned the same results (200 calls"), "{}", lines[1]);
    let next =
        "Next: docshape run blog-comments --set posts=30 --set comments_per_post=10 --arrivals uniform --clients 16";
    assert_eq!(lines[2], next);
    let record = place.record();
    let LoadModel::Open { rate, arrivals: Arrivals::Uniform } = record.settings.load else {
        panic!("{:?}", record.settings.load)
    };
    // The pilot's slowest strategy fills the time of the preset; the common rate has three digits.
    let calls = record.settings.calls.unwrap() as f64;
    assert!(rate > 1.0 && (calls / (2.0 * rate * 0.2) - 1.0).abs() < 0.02, "{:?}", record.settings);
    let markdown = fs::read_to_string(place.run().join("report.md")).unwrap();
    assert!(markdown.contains(&format!("--rate {rate} --arrivals uniform --clients 16")), "{markdown}");
}

#[test]
fn a_very_slow_strategy_does_not_shorten_the_windows_of_others() {
    let place = Place::new();
    let read = "{ findOne: points, filter: { _id: <point> } }";
    let many = [read; 40].join(", ");
    let scenario = format!(
        "format: 1\nname: slow\ntitle: Once or often?\nabout: A strategy that asks 40 times.\n\
         entities: {{ point: {{ count: 40, fields: {{ _id: index }} }} }}\n\
         operations: {{ read: {{ arguments: {{ point: zipf(point) }}, returns: point }} }}\n\
         mixes: {{ default: {{ read: 1 }} }}\n\
         strategies:\n\
         \x20 one: {{ about: Asks once., collections: {{ points: {{ each: point }} }}, operations: {{ read: {read} }} }}\n\
         \x20 many: {{ about: Asks often., like: one, operations: {{ read: [{many}] }} }}\n"
    );
    fs::write(place.path("slow.yaml"), scenario).unwrap();
    let mut command = place.docshape(&["run", "./slow.yaml", "--preset", "smoke", "--only", "saturation"]);
    command.arg("--out").arg(place.run());
    finish(command).ok();
    let record = place.record();
    let (settings, cells) = (&record.settings, &record.parts[&Part::Saturation][0].cells);
    assert_eq!(settings.fewer_calls.keys().collect::<Vec<_>>(), ["many"]);
    assert!(settings.fewer_calls["many"] * 5 < settings.calls.unwrap(), "{settings:?}");
    for (strategy, cell) in record.strategies.iter().zip(cells) {
        assert_eq!(Some(cell.calls), settings.calls_of(&strategy.name), "{}", strategy.name);
    }
    // All make the calls of 0.2 s, give or take what else the machine does.
    let seconds: Vec<f64> = cells.iter().map(|cell| cell.seconds).collect();
    assert!(seconds.iter().all(|seconds| *seconds > 0.01), "{seconds:?}");
    let markdown = fs::read_to_string(place.run().join("report.md")).unwrap();
    assert!(markdown.contains("many is more than five times slower than others"), "{markdown}");
}

#[test]
fn only_own_costs_are_measured_when_nothing_else_is_requested() {
    let place = Place::new();
    // Without a common rate, which would be refused.
    let mut command = place.docshape(&SMALL[..8]);
    command
        .args(["--only", "own", "--rounds", "1", "--strategies", "embedded,linked", "--full", "--out"])
        .arg(place.run());
    let ended = finish(command).ok();
    let measures: Vec<&str> = ended.stderr.lines().filter(|line| line.contains("round 1 of 1: ")).collect();
    for (part, is_measured) in [("own cost", true), ("common rate", false), ("saturation", false)] {
        assert_eq!(measures.iter().any(|line| line.ends_with(part)), is_measured, "{part}: {}", ended.stderr);
    }
    assert!(ended.stderr.contains("warm-up calls, own costs in 300 calls\n"), "{}", ended.stderr);
    let record = place.record();
    assert_eq!(record.settings.parts, [Part::Own]);
    assert_eq!(record.parts.keys().collect::<Vec<_>>(), [&Part::Own]);
    for cell in &record.parts[&Part::Own][0].cells {
        assert_adds_up(cell);
        assert!(cell.open.is_none() && cell.counters.is_empty(), "{cell:?}");
        assert!(!cell.before.is_empty() && !cell.after.is_empty(), "the only part is also the last");
    }
    assert_eq!(logged(&place.run().join("latency.hlog")), succeeded(&record));
    let markdown = fs::read_to_string(place.run().join("report.md")).unwrap();
    for text in [&ended.stdout, &markdown] {
        assert!(text.contains("Measured: own cost: each operation by itself, 1 client."), "{text}");
        assert!(!text.contains("Offered and achieved load") && !text.contains("calls in flight"), "{text}");
    }
    assert!(markdown.contains("--only own"), "{markdown}");
    place.assert_nothing_left();
}

const COUNTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/claims/counter.yaml");
const CLAIMS: [&str; 10] = ["run", COUNTER, "--claims", "--calls", "300", "--rounds", "1", "--slices", "2", "--out"];

fn claims_record(folder: &Path) -> ClaimsRecord {
    serde_json::from_str(&fs::read_to_string(folder.join(results::CLAIMS_FILE)).unwrap()).unwrap()
}

#[test]
fn claims_are_measured_with_what_they_need() {
    let place = Place::new();
    let folder = place.run();
    let ended = finish(place.docshape(&[&CLAIMS[..], &[folder.to_str().unwrap()]].concat())).ok();
    for text in ["5 measured claims: 5 confirmed, 0 refuted, 0 undecided; 1 by design.", "✓ confirmed", "By design"] {
        assert!(ended.stdout.contains(text), "{text}: {}", ended.stdout);
    }
    let record = claims_record(&folder);
    assert!(record.complete && record.server.is_some() && record.scenario_sha256.len() == 64, "{record:?}");
    let verdicts: Vec<(&str, &str)> =
        record.claims.iter().map(|claim| (claim.id.as_str(), claim.verdict.as_str())).collect();
    let confirmed = ["one-trip", "twice", "lost", "kept", "sold-out", "large"].map(|id| (id, "confirmed"));
    assert_eq!(verdicts, confirmed);
    assert_eq!(
        (record.claims[0].by_design, record.claims[1].value, record.claims[1].against),
        (true, Some(2.0), Some(1.9))
    );
    let folders: Vec<&str> = record.runs.iter().map(|run| run.folder.as_str()).collect();
    assert_eq!(folders, ["1-default", "2-reading"]);
    let run = results::load(&folder.join("1-default")).unwrap();
    assert_eq!((run.claims.len(), run.parts.len(), run.status), (5, 2, Status::Complete));
    assert!(folder.join("2-reading/report.html").is_file());
    place.assert_nothing_left();
}

#[test]
fn an_interrupt_keeps_the_claims_of_complete_runs() {
    let place = Place::new();
    let folder = place.run();
    let ids = ["run", COUNTER, "--claims=sold-out,large"];
    let mut running = Running::start(place.docshape(&[&ids[..], &CLAIMS[3..], &[folder.to_str().unwrap()]].concat()));
    running.wait_for("round 1 of 1: ");
    running.signal(Signal::SIGINT);
    let ended = running.finish();
    assert_eq!(ended.code(), Some(130), "{}", ended.stderr);
    let record = claims_record(&folder);
    assert!(!record.complete, "{record:?}");
    let confirmed = record.claims.iter().filter(|claim| claim.verdict == "confirmed").count();
    assert_eq!((confirmed, record.claims.len()), (1, 2), "{record:?}");
    assert!(ended.stdout.contains("Not all runs are complete."), "{}", ended.stdout);
    place.assert_nothing_left();
}

const SWEEP: [&str; 12] = [
    "sweep",
    COUNTER,
    "--vary",
    "padding=1,20000",
    "--calls",
    "200",
    "--only",
    "own",
    "--rounds",
    "3",
    "--no-verify",
    "--out",
];

#[test]
fn sweeps_measure_every_point_in_turns_and_are_resumed() {
    let place = Place::new();
    let folder = place.run();
    let run = folder.to_str().unwrap();
    let mut running = Running::start(place.docshape(&[&SWEEP[..], &[run]].concat()));
    running.wait_for("round 2 of 3");
    running.signal(Signal::SIGINT);
    let ended = running.finish();
    assert_eq!(ended.code(), Some(130), "{}", ended.stderr);
    assert!(ended.stderr.contains("sweep --resume"), "{}", ended.stderr);
    let record = results::load_as::<SweepRecord>(&folder).unwrap();
    let done: Vec<u64> = record.points.iter().map(|point| point.rounds).collect();
    assert!(!record.complete && done.iter().all(|rounds| (1..3).contains(rounds)), "{done:?}");

    let resumed = finish(place.docshape(&["sweep", "--resume", run])).ok();
    let record = results::load_as::<SweepRecord>(&folder).unwrap();
    assert!(record.complete && record.points.iter().all(|point| point.rounds == 3), "{record:?}");
    for point in &record.points {
        let run = results::load(&folder.join(&point.folder)).unwrap();
        let padding = run.parameters.iter().find(|(name, _)| name == "padding").unwrap();
        assert_eq!(padding.1.to_string(), point.values[0], "every point has its value");
        assert_eq!((run.complete_rounds(), run.parts.len(), run.strategies.len()), (3, 1, 2), "{:?}", run.strategies);
    }
    for text in ["padding = 1, 20000", "read, 20000", "Points"] {
        assert!(resumed.stdout.contains(text), "{text}: {}", resumed.stdout);
    }
    assert_eq!(finish(place.docshape(&["report", run])).ok().stdout, resumed.stdout);
    assert!(finish(place.docshape(&["sweep", "--resume", run])).ok().stderr.contains("nothing to resume"));
    place.assert_nothing_left();
}

#[test]
fn growth_ends_when_a_document_is_full_and_nothing_is_lost() {
    let place = Place::new();
    let folder = place.run();
    let run = folder.to_str().unwrap();
    let large = ["--set", "comment_bytes=200000", "--sample", "latest", "--per-day", "10"];
    let chosen = ["--strategies", "embedded,linked", "--no-verify", "--out", run];
    let ended = finish(place.docshape(&[&["grow", "blog-comments"][..], &large, &chosen].concat())).ok();
    let record = results::load_as::<GrowthRecord>(&folder).unwrap();
    assert!(record.is_reached, "{record:?}");
    let [embedded, linked] = record.ends.as_slice() else { panic!("{record:?}") };
    // Ten comments were loaded, and 83 of them fill a document.
    assert_eq!((embedded.refused.as_deref(), embedded.failed), (Some("size"), 0));
    assert!((70..=74).contains(&embedded.succeeded), "{embedded:?}");
    assert_eq!((linked.refused.as_deref(), linked.failed), (None, 0));
    assert!(linked.succeeded > embedded.succeeded, "{linked:?}");
    for end in &record.ends {
        assert!(!end.audits.is_empty() && end.audits.iter().all(|audit| audit.anomalies() == 0), "{end:?}");
    }
    let largest = |strategy: usize| -> Vec<u64> {
        let cells = record.stages.iter().filter_map(|stage| stage.cells[strategy].as_ref());
        cells.map(docshape::studies::growth::curve::largest_document).collect()
    };
    assert!(largest(0).is_sorted() && largest(0).last() > Some(&16_000_000), "{:?}", largest(0));
    assert!(largest(1).iter().all(|bytes| *bytes < 300_000), "{:?}", largest(1));
    assert!(ended.stdout.contains("embedded refused add_comment (size) after"), "{}", ended.stdout);
    assert_eq!(finish(place.docshape(&["report", run])).ok().stdout, ended.stdout);
    assert!(fs::read_to_string(folder.join("report.html")).unwrap().contains("stage-times-0"));
    place.assert_nothing_left();
}

#[test]
fn growth_ends_at_a_size_or_is_interrupted() {
    let place = Place::new();
    let folder = place.run();
    let run = folder.to_str().unwrap();
    let grow = ["grow", "blog-comments", "--strategies", "embedded", "--sample", "latest", "--out", run];
    finish(place.docshape(&[&grow[..], &["--until", "200KB"]].concat())).ok();
    assert_eq!(results::load_as::<GrowthRecord>(&folder).unwrap().stages.len(), 2, "105 KB, then 314 KB");

    let folder = place.path("interrupted");
    let grow = ["grow", "blog-comments", "--strategies", "embedded", "--out", folder.to_str().unwrap()];
    let mut running = Running::start(place.docshape(&grow));
    running.wait_for("after 100 calls");
    running.signal(Signal::SIGINT);
    let ended = running.finish();
    assert_eq!(ended.code(), Some(130), "{}", ended.stderr);
    assert!(results::load_as::<GrowthRecord>(&folder).unwrap().stages.len() > 1);
    assert!(ended.stdout.contains("later stages are missing"), "{}", ended.stdout);
    place.assert_nothing_left();
}

#[test]
fn growth_of_nothing_is_refused() {
    let place = Place::new();
    let fails = |arguments: &[&str], words: &[&str]| {
        finish(place.docshape(&[&["grow", COUNTER], arguments].concat())).error(2, words);
    };
    fails(&[], &["does not say which operation", "--operation"]);
    fails(&["--operation", "ad"], &["never calls ad", "did you mean `add`"]);
    fails(&["--operation", "add", "--sample", "nothing"], &["never calls nothing"]);
    let ended = finish(place.docshape(&["grow", COUNTER, "--operation", "add", "--until", "5 apples"]));
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    assert!(ended.stderr.contains("--until") && ended.stderr.contains("4MB"), "{}", ended.stderr);
    place.assert_nothing_left();
}

#[test]
fn a_sweep_over_two_conditions_has_a_grid_and_a_delay() {
    let place = Place::new();
    let folder = place.run();
    let run = folder.to_str().unwrap();
    let vary = ["sweep", COUNTER, "--vary", "rtt=0,20ms", "--vary", "share:buy=0%,50%"];
    let more = ["--calls", "60", "--only", "own", "--rounds", "3", "--no-verify", "--out", run];
    let ended = finish(place.docshape(&[&vary[..], &more].concat())).ok();
    // read_first sends more commands, each of which waits for the network.
    assert!(ended.stdout.contains("increment is"), "{}", ended.stdout);
    let record = results::load_as::<SweepRecord>(&folder).unwrap();
    assert_eq!(record.points.len(), 4);
    for point in &record.points {
        let own = results::load(&folder.join(&point.folder)).unwrap().part(Part::Own).unwrap();
        let shares: f64 = own.mix.weights.iter().map(|(_, weight)| weight).sum();
        let buy = own.mix.weights.iter().find(|(name, _)| name == "buy").map_or(0.0, |(_, weight)| weight / shares);
        assert!((buy - if point.values[1] == "0%" { 0.0 } else { 0.5 }).abs() < 1e-9, "{point:?}: {buy}");
        let times = docshape::stats::means(&own, 0, 0);
        let is_late = times.iter().flatten().all(|time| *time > 20e6);
        assert_eq!(is_late, point.values[0] == "20ms", "{point:?}: {times:?}");
    }
    assert!(fs::read_to_string(folder.join("report.html")).unwrap().contains("winners-0"));
    place.assert_nothing_left();
}

#[test]
fn a_sweep_adds_values_where_the_order_flips() {
    let place = Place::new();
    // Without a network the large document takes longer, with one the second read.
    let read = "findOne: points, filter: { _id: <point> }";
    let small = format!("{{ {read}, projection: {{ _id: 1 }} }}");
    let scenario = format!(
        "format: 1\nname: flip\ntitle: One large read or two small ones?\n\
         entities: {{ point: {{ count: 4, fields: {{ _id: index, text: text(3000000) }} }} }}\n\
         operations: {{ read: {{ arguments: {{ point: uniform(point) }}, returns: point }} }}\n\
         mixes: {{ default: {{ read: 1 }} }}\n\
         strategies:\n\
         \x20 one: {{ collections: {{ points: {{ each: point }} }}, operations: {{ read: [{{ {read} }}, {{ return: reply._id }}] }} }}\n\
         \x20 two: {{ like: one, operations: {{ read: [{small}, {small}, {{ return: reply._id }}] }} }}\n"
    );
    fs::write(place.path("flip.yaml"), scenario).unwrap();
    let sweep = ["sweep", "./flip.yaml", "--vary", "rtt=0,20ms", "--refine", "1", "--write-concern", "1"];
    let mut command = place.docshape(&[&sweep[..], &["--calls", "40", "--only", "own", "--rounds", "3"]].concat());
    command.arg("--no-verify").arg("--out").arg(place.run());
    let ended = finish(command).ok();
    assert!(ended.stderr.contains("--refine adds 10ms"), "{}", ended.stderr);
    assert!(ended.stdout.contains("read, 10ms"), "{}", ended.stdout);
    let record = results::load_as::<SweepRecord>(&place.run()).unwrap();
    assert_eq!(record.vary[0].values, ["0", "10ms", "20ms"]);
    assert!(record.complete && record.points.iter().all(|point| point.rounds == 3), "{record:?}");
    for point in &record.points {
        let settings = results::load(&place.run().join(&point.folder)).unwrap().settings;
        assert_eq!((settings.write_concern.as_str(), settings.rtt > 0.0), ("1", point.values[0] != "0"));
    }
    place.assert_nothing_left();
}

#[test]
fn invalid_sweeps_are_refused_before_anything_is_made() {
    let place = Place::new();
    let fails = |arguments: &[&str], words: &[&str]| {
        finish(place.docshape(&[&["sweep", COUNTER], arguments].concat())).error(2, words);
    };
    fails(&[], &["defines no sweep", "--vary"]);
    fails(&["--vary", "paddin=1,2"], &["no parameter `paddin`", "did you mean `padding`"]);
    fails(&["--vary", "padding=1,big"], &["invalid value `big` for parameter `padding`"]);
    fails(&["--vary", "share:ad=1%,2%"], &["no operation `ad`"]);
    fails(&["--vary", "share:add=1%,200%"], &["--vary", "expected a percentage from 0 to 100"]);
    fails(&["--vary", "padding=1,2", "--strategies", "increment,overwrite"], &["fewer than two", "--strategies"]);
    fails(&["--vary", "rtt=1,2"], &["--vary", "expected a time from 0 to 10s"]);
    fails(&["--vary", "w=0,1"], &["--vary", "no write is acknowledged"]);
    fails(&["--vary", "mix=default,reading", "--refine", "2"], &["--refine", "whose values are numbers"]);
    fails(&["--vary", "cache=1,4"], &["so that the cache would have", "load more data"]);
    fails(&["--vary", "cache=1,4", "--uri", "mongodb://127.0.0.1:1"], &["needs embedded servers"]);
    fails(&["--vary", "padding=1,2", "--rounds", "1000", "--duration", "5h"], &["days", "leave out values"]);
    fails(&["--vary", "padding=1,2", "--threshold", "a.b.p99<1s"], &["docshape run"]);
    finish(place.docshape(&["sweep", "--resume", "/nonexistent"])).error(2, &["no such folder"]);
    place.assert_nothing_left();
}

#[test]
fn runs_in_an_older_format_are_refused() {
    let place = Place::new();
    fs::create_dir(place.run()).unwrap();
    let old = r#"{"format":2,"version":"0.0.9","status":"complete","rounds":[]}"#;
    fs::write(place.run().join("run.json"), old).unwrap();
    let run = place.run();
    let run = run.to_str().unwrap();
    let words = ["run.json was written by docshape 0.0.9 in format 2", "reads format 3 only", "use docshape 0.0.9"];
    for command in [&["report", run][..], &["run", "--resume", run], &["compare", run, run]] {
        finish(place.docshape(command)).error(2, &words);
    }
    assert_eq!(fs::read_to_string(place.run().join("run.json")).unwrap(), old, "it stays as it was");
}

#[test]
fn invalid_input_is_one_paragraph_and_leaves_nothing() {
    let place = Place::new();
    let fails = |arguments: &[&str], words: &[&str]| {
        let mut command = place.docshape(arguments);
        command.arg("--out").arg(place.run());
        let ended = finish(command);
        ended.error(2, words);
        assert!(!place.run().exists());
    };
    let plain = |more: &[&'static str], words: &[&str]| fails(&[&["run", "blog-comments"], more].concat(), words);
    fails(&["run", "blog-coments"], &["blog-coments", "did you mean `blog-comments`"]);
    plain(&["--strategies", "embeded"], &["no strategy `embeded`", "did you mean `embedded`"]);
    plain(&["--mix", "reed-heavy"], &["no mix `reed-heavy`", "did you mean `read-heavy`"]);
    plain(&["--set", "postz=3"], &["no parameter `postz`", "did you mean `posts`"]);
    plain(
        &["--set", "posts=many"],
        &["invalid value `many` for parameter `posts`", "expected an int, for example 200"],
    );
    plain(&["--threads", "3", "--clients", "2"], &["--threads 3", "try --clients 3"]);
    plain(&["--threads", "9", "--rate", "5"], &["--threads 9", "try --clients 9"]);
    plain(&["--keep"], &["--keep requires --uri", "docshape server start", "--uri"]);
    plain(&["--uri", "localhost:27017"], &["connection string is not valid", "no scheme", "mongodb://"]);
    plain(&["--uri", "mongodb://ann:s3cret@:x"], &["connection string is not valid", "percent-encoded"]);
    fs::write(place.path("binary.yaml"), [0xff, 0xfe, 0x00]).unwrap();
    fails(&["run", "./binary.yaml"], &["binary.yaml", "UTF-8"]);
    fails(&["run", "./none.yaml"], &["none.yaml", "check the path"]);
    fs::write(place.path("empty.yaml"), "").unwrap();
    let ended = finish(place.docshape(&["run", "./empty.yaml"]));
    assert_eq!(ended.code(), Some(2));
    for words in ["the file is empty", "empty.yaml:1:1", "format: 1"] {
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
    place.assert_nothing_left();
}

#[test]
fn unusable_run_folders_are_rejected_before_the_first_call() {
    let place = Place::new();
    fs::write(place.path("file"), "").unwrap();
    fs::create_dir(place.path("full")).unwrap();
    fs::write(place.path("full/notes.txt"), "mine").unwrap();
    let fails = |folder: &Path, code: i32, words: &str| {
        let mut command = place.docshape(&SMALL);
        command.arg("--out").arg(folder);
        finish(command).error(code, &[folder.to_str().unwrap(), words, "choose"]);
    };
    fails(&place.path("file"), 3, "cannot write into");
    fails(&place.path("file/below"), 3, "cannot write into");
    fails(Path::new("/proc/docshape"), 3, "cannot write into");
    fails(&place.path("full"), 2, "not empty");
    assert_eq!(fs::read_to_string(place.path("full/notes.txt")).unwrap(), "mine");
    // An empty folder of the user's is used, and stays when the run comes to nothing.
    fs::create_dir(place.run()).unwrap();
    finish(place.small(&["--mongod", "/bin/false"])).error(3, &["/bin/false ended by itself"]);
    assert!(place.run().is_dir());
    place.assert_nothing_left();
}

#[test]
fn unusable_servers_are_rejected_with_a_reason() {
    let place = Place::new();
    let fails = |arguments: &[&str], words: &[&str]| {
        let began = Instant::now();
        finish(place.small(arguments)).error(3, words);
        assert!(began.elapsed() < Duration::from_secs(15));
        assert!(!place.run().exists());
    };
    let nobody = "mongodb://ann:s3cret@127.0.0.1:1/";
    fails(&["--uri", nobody], &["127.0.0.1:1: Connection refused", "check the address", "omit --uri"]);
    fails(&["--mongod", "/nonexistent/mongod"], &["--mongod names /nonexistent/mongod", "docshape server install"]);
    fails(&["--mongod", "/bin/false"], &["/bin/false ended by itself"]);

    let data = tempfile::tempdir().unwrap();
    let mut command = Command::new(harness::program());
    command.args(["--bind_ip=127.0.0.1", "--nounixsocket", "--wiredTigerCacheSizeGB=0.25", "--port=0", "--dbpath"]);
    // The port is the system's choice; the log names it.
    let mut standalone = Running::start({
        command.arg(data.path());
        command
    });
    let port = standalone.wait_until("a port", |standalone| {
        let text = standalone.stdout.lock().unwrap();
        let line = text.lines().find(|line| line.contains("\"Waiting for connections\""))?;
        line.split("\"port\":").nth(1)?.split(',').next()?.parse::<u16>().ok()
    });
    let uri = format!("mongodb://127.0.0.1:{port}");
    fails(&["--uri", &uri], &["this server is a standalone", "--replSet", "omit --uri"]);
    // Through the environment, too.
    let mut command = place.small(&[]);
    command.env("MONGODB_URI", &uri);
    finish(command).error(3, &["this server is a standalone"]);
    place.assert_nothing_left();
}

#[test]
fn credentials_and_rights() {
    let place = Place::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let key = place.path("key");
    fs::write(&key, "c2VjcmV0").unwrap();
    fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let servers = tempfile::tempdir().unwrap();
    let extra_arguments = vec![format!("--keyFile={}", key.display()).into()];
    let options = EmbeddedOptions { extra_arguments, ..harness::options(servers.path()) };
    let server = runtime.block_on(EmbeddedMongod::start(&options)).unwrap();
    let login = |user: &str| server.uri().replace("mongodb://", &format!("mongodb://{user}:s3cret-p4ss@"));
    let as_root = || login("root");
    for (user, roles, as_user) in [
        ("root", &["root"][..], server.uri()),
        ("reader", &["read"], as_root()),
        ("writer", &["readWriteAnyDatabase", "dbAdminAnyDatabase"], as_root()),
    ] {
        let roles: RawArrayBuf = roles.iter().map(|role| rawdoc! { "role": *role, "db": "admin" }).collect();
        single(&runtime, &as_user, "admin", rawdoc! { "createUser": user, "pwd": "s3cret-p4ss", "roles": roles });
    }
    finish(place.small(&["--uri", &server.uri()])).error(3, &["the server has access control", "docshape rights"]);
    let wrong = server.uri().replace("mongodb://", "mongodb://root:s3cret-wrong@");
    finish(place.small(&["--uri", &wrong])).error(3, &["refused the log-in", "check user name, password"]);
    let reader = finish(place.small(&["--uri", &login("reader")]));
    reader.error(2, &["the user may not list the databases of this server", "--yes"]);
    let reader = finish(place.small(&["--uri", &login("reader"), "--yes"]));
    reader.error(3, &["not authorized", "to execute", "`docshape rights SCENARIO`"]);

    // Without the rights to flush and to read counters the report says what it does not know.
    let (limited, mut command) = (place.path("limited"), place.docshape(&SMALL));
    command.args(["--rounds", "1", "--uri", &login("writer"), "--out"]).arg(&limited);
    finish(command).ok();
    let markdown = fs::read_to_string(limited.join("report.md")).unwrap();
    for words in ["Nothing was flushed", "no flush was charged", "It is not known whether strategies paid"] {
        assert!(markdown.contains(words), "{words} is not in {markdown}");
    }
    let parts = results::load(&limited).unwrap().parts;
    assert!(parts.values().flatten().flat_map(|round| &round.cells).all(|cell| cell.deferred.is_none()));

    let ended = finish(place.small(&["--rounds", "1", "--uri", &login("root")])).ok();
    let mut texts = vec![ended.stdout, ended.stderr];
    for entry in fs::read_dir(place.run()).unwrap() {
        texts.push(fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    assert_eq!(texts.len(), 14, "what it printed, and twelve files");
    assert!(texts.iter().all(|text| !text.contains("s3cret") && !text.contains("root:")));
}

fn single(runtime: &tokio::runtime::Runtime, uri: &str, database: &str, command: RawDocumentBuf) -> RawDocumentBuf {
    runtime.block_on(async {
        let target = MongoTarget::connect(uri, 1).await.unwrap();
        target.run(database, command, ReplyKind::Single).await.unwrap().into_document()
    })
}

#[test]
fn databases_are_dropped_unless_kept() {
    let place = Place::new();
    let (_server, uri) = server(&place);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for name in ["theirs", "docshape_theirs"] {
        single(&runtime, &uri, name, rawdoc! { "insert": "things", "documents": [{ "_id": 1 }] });
    }
    let others = || -> Vec<String> {
        let list = rawdoc! { "listDatabases": 1, "nameOnly": true };
        let reply = single(&runtime, &uri, "admin", list);
        let databases = reply.get_array("databases").unwrap().into_iter();
        let names = databases.map(|row| row.unwrap().as_document().unwrap().get_str("name").unwrap().to_owned());
        names.filter(|name| !["admin", "config", "local"].contains(&name.as_str())).collect()
    };
    // With a pilot, whose databases nobody wants to keep.
    let run = |name: &str, more: &[&str]| {
        let mut command = place.docshape(&["run", "blog-comments", "--preset", "smoke", "--slices", "2"]);
        command.args(["--set", "posts=30", "--set", "comments_per_post=10", "--yes", "--uri", &uri]);
        command.args(more).arg("--out").arg(place.path(name));
        finish(command).ok();
    };
    run("plain", &[]);
    assert_eq!(others(), ["docshape_theirs", "theirs"]);
    run("kept", &["--keep", "--strategies", "linked,embedded"]);
    let kept = ["embedded", "linked", "repeat"].map(|name| format!("docshape_blog-comments_{name}"));
    let names = others();
    assert_eq!(names[..3], kept);
    // They are not taken for free names, and another prefix has others.
    let mut again = place.docshape(&SMALL);
    again.args(["--uri", &uri, "--yes", "--out"]).arg(place.path("again"));
    finish(again).error(3, &[&kept[0], "which has ended; remove what it has left with `docshape clean --uri URI`"]);
    assert_eq!(others(), names);
    // An interrupted run leaves nothing on the server either.
    let mut command = place.docshape(&SMALL);
    command.args(["--rounds", "5", "--uri", &uri, "--yes", "--db-prefix", "other-", "--out"]).arg(place.run());
    let mut running = Running::start(command);
    running.wait_for("round 2 of 5: saturation");
    running.signal(Signal::SIGINT);
    running.finish().error(130, &["interrupted; 1 complete round is in"]);
    assert_eq!(others(), names);
}

/// The small run by a process with a limit, written as for the shell's `ulimit`.
fn under(limit: &str) -> Command {
    let mut command = Command::new("bash");
    let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_docshape")]).args(SMALL).env("NO_COLOR", "1");
    command
}

#[test]
fn too_many_clients_for_the_open_files_are_rejected() {
    let place = Place::new();
    let (_server, uri) = server(&place);
    let limited = |limit: &str, workers: &str| {
        let mut command = under(limit);
        command.args(["--rounds", "1", "--clients", workers, "--uri", &uri, "--out"]).arg(place.run());
        finish(command)
    };
    limited("-n 100", "80")
        .error(2, &["80 clients need 120 open files", "the limit is 100", "ulimit -n 120", "--clients"]);
    assert!(!place.run().join("run.json").exists());
    limited("-Sn 100", "80").ok();
}

#[test]
fn a_full_disk_keeps_complete_rounds() {
    let place = Place::new();
    let (_server, uri) = server(&place);
    finish(place.small(&["--rounds", "1", "--uri", &uri])).ok();
    let whole = fs::metadata(place.run().join("run.json")).unwrap().len();
    let head = whole - serde_json::to_string(&place.record().parts).unwrap().len() as u64;
    // Files may become as large as one round and a half.
    let limit = (head + (whole - head) * 3 / 2) / 1024;
    let limited = |limit: u64, folder: &str| {
        let mut command = under(&format!("-f {limit}"));
        command.args(["--rounds", "3", "--uri", &uri, "--out"]).arg(place.path(folder));
        finish(command)
    };
    let path = place.path("limited").display().to_string();
    let ended = limited(limit, "limited");
    ended.error(3, &["cannot write", &path, "free some disk space", &format!("1 complete round is in {path}")]);
    let record = results::load(&place.path("limited")).unwrap();
    assert_eq!((record.complete_rounds(), &record.status), (1, &Status::Unfinished));
    let ended = limited(1, "none");
    ended.error(3, &["cannot write", "run.json", "free some disk space", "no round is complete"]);
}

/// Runs, waits for the words (for the start of the server without any), sends the signal, and checks what is left.
fn interrupted(words: Option<&str>, signal: Signal, arguments: &[&str]) -> (Place, Ended) {
    let place = Place::new();
    let mut running = Running::start(place.small(arguments));
    if let Some(words) = words {
        running.wait_for(words);
    }
    let mongods = running.mongods();
    running.signal(signal);
    let began = Instant::now();
    let ended = running.finish();
    assert!(began.elapsed() < Duration::from_secs(5), "{words:?} took {:?}", began.elapsed());
    assert!(!mongods.into_iter().any(alive), "{words:?}");
    place.assert_nothing_left();
    (place, ended)
}

/// The same, with so many rounds finished.
fn interrupted_after(rounds: usize, words: &str, signal: Signal, arguments: &[&str]) {
    let (place, ended) = interrupted(Some(words), signal, arguments);
    let left = ["no round is complete", "1 complete round is in"][rounds];
    ended.error(130, &["interrupted", left]);
    let record = place.record();
    assert_eq!((record.complete_rounds(), &record.status), (rounds, &Status::Interrupted), "{words}");
    let markdown = fs::read_to_string(place.run().join("report.md")).unwrap();
    assert!(markdown.contains("interrupted"), "{markdown}");
    let report = finish(place.docshape(&["report", place.run().to_str().unwrap()])).ok();
    assert!(report.stdout.contains("This run was interrupted"), "{}", report.stdout);
}

#[test]
fn an_interrupt_of_the_start_leaves_nothing() {
    let (place, ended) = interrupted(None, Signal::SIGINT, &[]);
    ended.error(130, &["interrupted before the first call"]);
    assert!(!place.run().exists());
}

#[test]
fn an_interrupt_of_the_pilot_leaves_a_readable_run() {
    // Without --calls there is a pilot.
    for words in ["pilot: load", "pilot: saturation"] {
        let place = Place::new();
        let mut command = place.docshape(&["run", "blog-comments", "--preset", "smoke", "--out"]);
        command.arg(place.run());
        let mut running = Running::start(command);
        running.wait_for(words);
        let mongods = running.mongods();
        assert_eq!(mongods.len(), 4, "three strategies and the repeat of the baseline");
        running.signal(Signal::SIGINT);
        let began = Instant::now();
        running.finish().error(130, &["interrupted; no round is complete"]);
        assert!(began.elapsed() < Duration::from_secs(5) && !mongods.into_iter().any(alive));
        place.assert_nothing_left();
        assert_eq!(place.record().status, Status::Interrupted);
    }
}

#[test]
fn an_interrupt_between_slices_keeps_complete_rounds() {
    interrupted_after(1, "round 2 of 9: load", Signal::SIGINT, &["--rounds", "9"]);
    interrupted_after(1, "round 2 of 9: warm up", Signal::SIGTERM, &["--rounds", "9"]);
    interrupted_after(1, "round 1 of 9: inspect", Signal::SIGINT, &["--rounds", "9"]);
}

#[test]
fn an_interrupt_of_a_slice_keeps_complete_rounds() {
    interrupted_after(0, "round 1 of 9: own cost", Signal::SIGINT, &["--rounds", "9"]);
    interrupted_after(0, "round 1 of 9: common rate", Signal::SIGTERM, &["--rounds", "9"]);
    interrupted_after(1, "round 2 of 9: saturation", Signal::SIGINT, &["--rounds", "9"]);
}

#[test]
fn a_second_interrupt_does_not_wait_for_the_server() {
    let place = Place::new();
    let mut running = Running::start(place.small(&["--rounds", "9", "--shared-mongod"]));
    running.wait_for("round 2 of 9: saturation");
    let mongods = running.mongods();
    // The server is frozen, so calls in flight get no reply and cleanup would take long.
    send(mongods[0], Signal::SIGSTOP);
    running.signal(Signal::SIGINT);
    running.wait_for("press Ctrl-C again to quit immediately");
    running.signal(Signal::SIGINT);
    let began = Instant::now();
    running.finish().error(130, &["quit without cleanup", place.run().to_str().unwrap()]);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert!(!mongods.into_iter().any(alive));
    place.assert_nothing_left();
    assert_eq!(place.record().complete_rounds(), 1);
}

#[test]
fn a_killed_run_leaves_complete_rounds_and_no_server() {
    let place = Place::new();
    // The first server is that of the verification; then each strategy has one, stopped or not.
    for (words, servers) in [
        ("checking that", 1),
        ("round 1 of 9: load", 4),
        ("round 1 of 9: inspect", 4),
        ("round 2 of 9: common rate", 4),
    ] {
        let _ = fs::remove_dir_all(place.run());
        let mut running = Running::start(place.small(&["--rounds", "9"]));
        running.wait_for(words);
        let mongods = running.mongods();
        assert_eq!(mongods.len(), servers, "{words}");
        running.signal(Signal::SIGKILL);
        running.finish();
        let deadline = Instant::now() + Duration::from_secs(5);
        while mongods.iter().any(|mongod| alive(*mongod)) {
            assert!(Instant::now() < deadline, "a server lives on: {words}");
            std::thread::sleep(Duration::from_millis(10));
        }
        let folders = fs::read_dir(place.tmp()).unwrap().count();
        assert_eq!(folders, servers, "nobody was there to remove the folders, {words}");
    }
    let record = place.record();
    assert_eq!((record.complete_rounds(), &record.status), (1, &Status::Unfinished));
    let (server, _) = server(&place);
    assert_eq!(fs::read_dir(place.tmp()).unwrap().count(), 1, "the next start removed them and has one of its own");
    server.signal(Signal::SIGINT);
    server.finish().ok();
    place.assert_nothing_left();
}

/// The first round of every part as it stands in `run.json`.
fn first_rounds(run: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(run.join("run.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    record["parts"].as_object().unwrap().values().map(|rounds| rounds[0].clone()).collect()
}

#[test]
fn a_killed_run_is_resumed_after_its_complete_rounds() {
    let place = Place::new();
    let (_server, uri) = server(&place);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let databases = || {
        let reply = single(&runtime, &uri, "admin", rawdoc! { "listDatabases": 1, "nameOnly": true });
        let names = reply.get_array("databases").unwrap().into_iter();
        names
            .filter(|row| {
                row.as_ref().unwrap().as_document().unwrap().get_str("name").unwrap().starts_with("docshape_")
            })
            .count()
    };
    let folder = place.run().to_str().unwrap().to_owned();
    let mut running = Running::start(place.small(&["--rounds", "3", "--uri", &uri, "--noise", "3", "--threads", "2"]));
    running.wait_for("round 2 of 3: saturation");
    running.signal(Signal::SIGKILL);
    running.finish();
    assert_eq!((place.record().complete_rounds(), place.record().status), (1, Status::Unfinished));
    assert!(databases() > 0, "nobody was there to drop them");
    let before = first_rounds(&place.run());
    assert_eq!(before.len(), 3, "own cost, common rate and saturation");
    // A line that was cut off.
    let log = place.run().join("latency.hlog");
    let mut text = fs::read_to_string(&log).unwrap();
    text.push_str("Tag=embedded/edit/2,1.0,1.0,3.1,HIST");
    fs::write(&log, text).unwrap();

    let resume = |more: &[&str]| finish(place.docshape(&[&["run", "--resume", &folder], more].concat()));
    resume(&[]).error(2, &["on a server of yours", "--uri"]);
    let ended = resume(&["--uri", &uri]).ok();
    assert!(ended.stderr.contains("round 2 of 3") && !ended.stderr.contains("round 1 of 3"), "{}", ended.stderr);
    let record = place.record();
    assert_eq!((record.complete_rounds(), &record.status), (3, &Status::Complete));
    assert_eq!(first_rounds(&place.run()), before);
    assert_eq!((record.settings.noise, record.settings.threads, record.settings.calls), (0.03, 2, Some(300)));
    for rounds in record.parts.values() {
        assert_eq!(rounds.iter().map(|round| round.index).collect::<Vec<_>>(), [0, 1, 2]);
    }
    assert_eq!(logged(&log), succeeded(&record), "the log has every round once");
    assert!(record.warnings[0].starts_with("The run was resumed after round 1"), "{:?}", record.warnings);
    assert_eq!(databases(), 0, "those of the killed round are gone, too");

    let files = || ["run.json", "latency.hlog", "report.md"].map(|name| fs::read(place.run().join(name)).unwrap());
    let whole = files();
    let ended = resume(&[]).ok();
    assert!(ended.stderr.contains("is complete: nothing to resume") && ended.stdout.is_empty(), "{ended:?}");
    assert_eq!(files(), whole);
}

#[test]
fn a_run_on_an_embedded_server_is_resumed_on_another_one() {
    let place = Place::new();
    let folder = place.run().to_str().unwrap().to_owned();
    let more = ["--rounds", "2", "--cache-gb", "0.5", "--strategies", "linked", "--threshold", "linked.count.max<999s"];
    let mut running = Running::start(place.small(&more));
    running.wait_for("round 1 of 2: load");
    running.signal(Signal::SIGKILL);
    running.finish();
    assert_eq!(place.record().complete_rounds(), 0);
    let resume = |more: &[&str]| finish(place.docshape(&[&["run", "--resume", &folder], more].concat()));
    resume(&["--uri", "mongodb://127.0.0.1:1/"]).error(2, &["on an embedded server", "omit --uri"]);
    let conflict = resume(&["--rounds", "9"]);
    assert_eq!(conflict.code(), Some(2));
    assert!(conflict.stderr.contains("cannot be used with"), "{}", conflict.stderr);
    let resumed = resume(&[]).ok();
    assert!(resumed.stdout.contains("linked.count.max<999s  ✓ passed "), "{}", resumed.stdout);
    let record = place.record();
    assert_eq!((record.complete_rounds(), &record.status, record.settings.cache_gb), (2, &Status::Complete, Some(0.5)));
    assert_eq!(logged(&place.run().join("latency.hlog")), succeeded(&record));
    place.assert_nothing_left();
}

#[test]
fn changed_runs_are_not_resumed() {
    let place = Place::new();
    let mut running = Running::start(place.small(&["--rounds", "2"]));
    running.wait_for("round 1 of 2: load");
    running.signal(Signal::SIGKILL);
    running.finish();
    let whole = place.record();
    let refused = |change: &dyn Fn(&mut RunRecord), words: &[&str]| {
        let mut record = whole.clone();
        change(&mut record);
        results::save(&record, &place.run()).unwrap();
        finish(place.docshape(&["run", "--resume", place.run().to_str().unwrap()])).error(2, words);
        assert_eq!(place.record(), record);
    };
    refused(
        &|record| record.version = "0.0.9".into(),
        &["cannot be resumed", "started by docshape 0.0.9", "start a new run"],
    );
    refused(&|record| record.server.version = "5.0.1".into(), &["on MongoDB 5.0.1", "use a server of version 5.0.1"]);
    refused(&|record| drop(record.parameters.pop()), &["other strategies, operations, weights or parameters"]);
    let ended = finish(place.docshape(&["run", "--resume", "nowhere"]));
    ended.error(2, &["--resume nowhere: no such folder"]);
}

#[test]
fn a_run_with_too_many_errors_is_invalid_and_reported() {
    const SCENARIO: &str = "\
format: 1
name: twice
title: Twice the same key
entities:
  post: { count: 50, fields: { _id: index } }
operations:
  take: { arguments: { post: uniform(post) } }
  read: { arguments: { post: uniform(post) }, returns: post }
mixes:
  default: { take: 1, read: 3 }
strategies:
  plain:
    collections:
      posts: { each: post }
      taken:
    operations:
      take: { insertOne: taken, document: { _id: <post._id> } }
      read: { findOne: posts, filter: { _id: <post._id> } }
";
    let place = Place::new();
    fs::write(place.path("twice.yaml"), SCENARIO).unwrap();
    let run = |name: &str, more: &[&str]| {
        let mut command = place.docshape(&["run", "./twice.yaml", "--calls", "400", "--rounds", "1"]);
        command.args(more).arg("--out").arg(place.path(name));
        finish(command)
    };
    // Of a hundred attempts to take one of fifty keys more than half fail.
    run("valid", &["--error-budget", "50"]).ok();
    let ended = run("void", &[]);
    assert_eq!(ended.code(), Some(4), "{}\n{}", ended.stderr, ended.stdout);
    assert!(ended.stdout.starts_with("INVALID RUN: no verdict"), "{}", ended.stdout);
    assert!(ended.stdout.contains("the error budget is 1.0 %"), "{}", ended.stdout);
    let record = results::load(&place.path("void")).unwrap();
    assert_eq!((&record.status, record.complete_rounds()), (&Status::Complete, 1));
    let markdown = fs::read_to_string(place.path("void/report.md")).unwrap();
    assert!(markdown.contains("> **Invalid run: no verdict"), "{markdown}");
}

#[test]
fn a_dead_or_hanging_server_ends_the_run() {
    let lose = |more: &[&str], words: &str, signal: Signal, told: &[&str], rounds: usize| {
        let place = Place::new();
        let arguments = [&["--rounds", "9", "--timeout", "1s"], more].concat();
        let mut running = Running::start(place.small(&arguments));
        running.wait_for(words);
        let mongods = running.mongods();
        send(mongods[mongods.len() - 1], signal);
        let began = Instant::now();
        let ended = running.finish();
        ended.error(3, &[&["the server was lost"], told].concat());
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
        assert!(!mongods.into_iter().any(alive));
        place.assert_nothing_left();
        let record = place.record();
        assert_eq!(record.complete_rounds(), rounds);
        assert!(matches!(&record.status, Status::Failed(reason) if reason.contains("lost")), "{:?}", record.status);
        assert!(place.run().join("report.md").exists());
    };
    std::thread::scope(|scope| {
        let killed = ["1 complete round is in", "ended by itself", "it was killed from outside"];
        let shared = &["--shared-mongod"];
        // Of several servers, most are suspended when they are killed.
        scope.spawn(move || lose(&[], "round 2 of 9: common rate", Signal::SIGKILL, &killed, 1));
        scope.spawn(move || lose(&[], "round 1 of 9: load", Signal::SIGKILL, &["no round is complete", "killed"], 0));
        scope.spawn(move || lose(shared, "round 2 of 9: own cost", Signal::SIGKILL, &killed, 1));
        // A call or the driver's monitor notices first; either is named.
        scope.spawn(move || lose(shared, "round 2 of 9: saturation", Signal::SIGSTOP, &killed[..1], 1));
    });
}

#[test]
fn a_step_that_fails_at_run_time_is_named() {
    const SCENARIO: &str = "\
format: 1
name: division
title: Shares
entities:
  post: { count: 50, fields: { _id: index, n: index - 40 } }
operations:
  share: { arguments: { post: uniform(post) }, returns: value }
mixes:
  default: { share: 1 }
strategies:
  plain:
    collections: { posts: { each: post } }
    operations:
      share:
        - { findOne: posts, filter: { _id: <post._id> } }
        - let: { share: 100 / reply.n }
        - return: share
";
    let place = Place::new();
    fs::write(place.path("division.yaml"), SCENARIO).unwrap();
    let mut command = place.docshape(&["run", "./division.yaml", "--calls", "2000", "--rounds", "1", "--out"]);
    command.arg(place.run());
    let ended = finish(command);
    ended.error(2, &["strategy plain", "operation share", "let: division by zero", "no round is complete"]);
    assert!(matches!(place.record().status, Status::Failed(_)));
    place.assert_nothing_left();
}

#[test]
fn memory_does_not_grow_with_the_calls() {
    // 64 connections to each of four servers take about 25 MiB of it.
    const MOST: u64 = 140 * 1024;
    let peak = |calls: &str| {
        let place = Place::new();
        let mut command = place.docshape(&["run", "blog-comments", "--rounds", "2", "--calls", calls]);
        command.args(["--rate", "600", "--out"]);
        command.arg(place.run());
        finish(command).ok().peak
    };
    let (short, long) = (peak("200"), peak("800"));
    assert!(short > 0 && long < MOST, "{short} KiB, {long} KiB");
    assert!(long as f64 <= short as f64 * 1.2, "{short} KiB, {long} KiB");
}
