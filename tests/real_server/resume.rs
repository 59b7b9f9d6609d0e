//! Every study is killed at several moments and resumed: it becomes complete, and what was finished keeps its numbers. All of it
//! through the real program, on real servers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::harness;

const COUNTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/claims/counter.yaml");

/// No process of these tests may take longer.
const PATIENCE: Duration = Duration::from_secs(300);

/// A study with tiny settings.
struct Tiny {
    /// The command, which also resumes it.
    command: &'static str,
    arguments: &'static str,
    file: &'static str,
    /// The finished steps of a complete one; `None` where that depends on what is found.
    steps: Option<usize>,
}

const RUN: Tiny = Tiny {
    command: "run",
    arguments: "--preset smoke --calls 60 --only own --rounds 3 --no-verify",
    file: "run.json",
    steps: Some(3),
};
const CLAIMS: Tiny = Tiny {
    command: "run",
    arguments: "--claims=sold-out,large --preset smoke --calls 60 --rounds 2 --no-verify",
    file: "claims.json",
    steps: Some(4),
};
const SWEEP: Tiny = Tiny {
    command: "sweep",
    arguments: "--vary padding=1,2000 --preset smoke --calls 60 --only own --rounds 3 --no-verify",
    file: "sweep.json",
    steps: Some(6),
};
const GROW: Tiny =
    Tiny { command: "grow", arguments: "--operation add --until 300 --no-verify", file: "growth.json", steps: Some(4) };
const CAPACITY: Tiny = Tiny {
    command: "capacity",
    arguments: "--objective p50<50ms --strategies increment --rounds 1 --confirm 1s",
    file: "capacity.json",
    steps: None,
};

/// When a study is killed.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// While servers start: there is no file yet.
    BeforeFirstStep,
    /// Its file is there, and no step is finished.
    InFirstStep,
    /// So many steps have just been saved.
    After(usize),
    /// So many steps are finished, and the next one goes on.
    Within(usize),
    /// While a file is written, after so many steps.
    Saving(usize),
}

/// A folder for one study; `tmp` takes the folders of embedded servers.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::create_dir(place.0.path().join("tmp")).unwrap();
        place
    }

    fn study(&self) -> PathBuf {
        self.0.path().join("study")
    }

    fn docshape(&self, arguments: &[&str]) -> Command {
        let mut command = harness::docshape(arguments);
        command.env("TMPDIR", self.0.path().join("tmp"));
        command
    }

    fn resume(&self, tiny: &Tiny) -> Command {
        self.docshape(&[tiny.command, "--resume", self.study().to_str().unwrap()])
    }

    fn start(&self, tiny: &Tiny) -> Running {
        let arguments: Vec<&str> = [tiny.command, COUNTER].into_iter().chain(tiny.arguments.split(' ')).collect();
        let mut command = self.docshape(&arguments);
        command.arg("--out").arg(self.study());
        Running::start(command)
    }
}

/// A process that is killed when the test ends, however it ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    fn start(mut command: Command) -> Running {
        Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Waits for a condition, or until the process has ended; looks every few milliseconds.
    fn wait_until(&mut self, condition: impl FnMut() -> bool) {
        self.look_every(Duration::from_millis(2), condition);
    }

    /// Waits for a condition, or until the process has ended.
    fn look_every(&mut self, pause: Duration, mut condition: impl FnMut() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !condition() && self.0.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "nothing happens");
            std::thread::sleep(pause);
        }
    }

    /// Sends a signal, and waits for the end.
    fn end_with(&mut self, signal: Signal) {
        if self.0.try_wait().unwrap().is_none() {
            kill(Pid::from_raw(self.0.id() as i32), signal).unwrap();
        }
        self.wait_until(|| false);
    }
}

fn json(path: &Path) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// The finished steps of the study in a folder, with their numbers.
fn finished(folder: &Path, tiny: &Tiny) -> BTreeMap<String, Value> {
    let Some(study) = json(&folder.join(tiny.file)) else { return BTreeMap::new() };
    let mut found = BTreeMap::new();
    let mut add_rounds = |folder: &Path, name: &str| {
        let Some(run) = json(&folder.join("run.json")) else { return };
        for (part, rounds) in run["parts"].as_object().unwrap() {
            let rounds = rounds.as_array().unwrap().iter().enumerate();
            found.extend(rounds.map(|(round, value)| (format!("{name} {part} {round}"), value.clone())));
        }
    };
    match tiny.file {
        "run.json" => add_rounds(folder, ""),
        "claims.json" | "sweep.json" => {
            for run in list(&study, "runs").iter().chain(list(&study, "points")) {
                let name = run["folder"].as_str().unwrap();
                add_rounds(&folder.join(name), name);
            }
        }
        _ => {
            let add = |key: &str, values: &[Value]| {
                values.iter().enumerate().map(|(place, value)| (format!("{key} {place}"), value.clone())).collect()
            };
            let mut all: Vec<(String, Value)> = add("stage", list(&study, "stages"));
            all.extend::<Vec<_>>(add("confirmation", list(&study, "confirmations")));
            for search in list(&study, "searches").iter().chain(study.get("unfinished")) {
                let name = format!("round {} of {}, trial", search["round"], search["strategy"]);
                all.extend::<Vec<_>>(add(&name, list(search, "trials")));
            }
            found.extend(all);
        }
    }
    found
}

fn is_complete(folder: &Path, tiny: &Tiny) -> bool {
    let study = json(&folder.join(tiny.file)).unwrap();
    study["complete"] == true || study["status"] == "complete" || study["run"]["status"] == "complete"
}

/// Whether a file is being written in a folder or in those of its runs.
fn is_saving(folder: &Path) -> bool {
    let is_temporary = |path: &Path| {
        fs::read_dir(path)
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().starts_with(".tmp"))
    };
    is_temporary(folder)
        || fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
            is_temporary(&entry.path())
                || fs::read_dir(entry.path()).into_iter().flatten().flatten().any(|entry| is_temporary(&entry.path()))
        })
}

/// Kills a study at a moment and resumes it: to its end, or for one more step.
#[expect(clippy::print_stderr, reason = "the table of all moments says what each left")]
fn killed_and_resumed(tiny: &Tiny, moment: Moment, signal: Signal, is_resumed_to_end: bool) {
    let (place, what) = (Place::new(), format!("{} {moment:?} {signal}", tiny.file));
    let (folder, file) = (place.study(), place.study().join(tiny.file));
    let steps = || finished(&folder, tiny).len();
    let mut running = place.start(tiny);
    match moment {
        // The lock is taken before servers are started.
        Moment::BeforeFirstStep => running.wait_until(|| folder.join(".docshape-lock").exists()),
        Moment::InFirstStep => running.wait_until(|| file.exists()),
        Moment::After(count) => running.wait_until(|| steps() >= count),
        Moment::Within(count) => {
            running.wait_until(|| steps() >= count);
            let since = Instant::now();
            // The shortest step takes longer.
            running.wait_until(|| since.elapsed() > Duration::from_millis(50));
        }
        Moment::Saving(count) => {
            running.wait_until(|| steps() >= count);
            // A file is written in less than a millisecond.
            running.look_every(Duration::ZERO, || is_saving(&folder));
        }
    }
    running.end_with(signal);
    let before = finished(&folder, tiny);
    if !file.exists() {
        assert!(before.is_empty() && matches!(moment, Moment::BeforeFirstStep | Moment::InFirstStep), "{what}");
        if folder.exists() {
            refused(&place.resume(tiny).output().unwrap(), &["nothing to resume in", "run again with --out"]);
        }
        eprintln!("{what}: nothing was saved");
        return;
    }
    let was_complete = is_complete(&folder, tiny);
    if is_resumed_to_end {
        let resumed = place.resume(tiny).output().unwrap();
        let said = String::from_utf8_lossy(&resumed.stderr);
        assert!(matches!(resumed.status.code(), Some(0 | 4)), "{what}: {:?} {said}", resumed.status);
        assert!(is_complete(&folder, tiny), "{what}: {said}");
        assert!(tiny.steps.is_none_or(|all| steps() == all), "{what}: {} steps; {said}", steps());
    } else {
        let mut running = Running::start(place.resume(tiny));
        running.wait_until(|| steps() > before.len());
        running.end_with(Signal::SIGINT);
        assert!(was_complete || steps() > before.len(), "{what}: nothing was added");
    }
    let after = finished(&folder, tiny);
    for (step, numbers) in &before {
        assert_eq!(after.get(step), Some(numbers), "{what}: {step}");
    }
    let left: Vec<_> = fs::read_dir(place.0.path().join("tmp")).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{what}: {left:?}");
    eprintln!(
        "{what}: {} of {} steps were finished{}",
        before.len(),
        after.len(),
        if was_complete { ", all" } else { "" }
    );
}

#[track_caller]
fn refused(output: &Output, words: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    words.iter().for_each(|words| assert!(said.contains(words), "{words:?} is missing in {said}"));
}

/// A run is killed in `commands/resume.rs`.
#[test]
fn killed_studies_are_resumed() {
    killed_and_resumed(&SWEEP, Moment::InFirstStep, Signal::SIGKILL, true);
    killed_and_resumed(&CLAIMS, Moment::Saving(1), Signal::SIGKILL, true);
    killed_and_resumed(&GROW, Moment::After(2), Signal::SIGINT, true);
    killed_and_resumed(&CAPACITY, Moment::After(1), Signal::SIGKILL, false);
}

#[test]
#[ignore = "takes about a quarter of an hour"]
fn studies_killed_at_all_moments_are_resumed() {
    for tiny in [&RUN, &CLAIMS, &SWEEP, &GROW, &CAPACITY] {
        let last = tiny.steps.unwrap_or(6) - 1;
        let moments =
            [Moment::BeforeFirstStep, Moment::InFirstStep, Moment::After(1), Moment::Within(2), Moment::Saving(last)];
        for moment in moments {
            for signal in [Signal::SIGKILL, Signal::SIGINT] {
                killed_and_resumed(tiny, moment, signal, true);
            }
        }
    }
}

#[test]
fn a_study_under_another_name_is_named() {
    let place = Place::new();
    let folder = place.study();
    fs::create_dir(&folder).unwrap();
    let shown = folder.to_str().unwrap();
    let growth = concat!(env!("CARGO_MANIFEST_DIR"), "/results/growth/blog-comments/growth.json");
    for (file, command) in
        [("run.json", "run"), ("claims.json", "run"), ("sweep.json", "sweep"), ("capacity.json", "capacity")]
    {
        let path = folder.join(file);
        fs::copy(growth, &path).unwrap();
        let words = [file, "contains the growth of documents, not", "its name should be growth.json"];
        refused(&place.docshape(&["report", shown]).output().unwrap(), &words);
        refused(&place.docshape(&[command, "--resume", shown]).output().unwrap(), &words);
        fs::remove_file(&path).unwrap();
    }
    refused(&place.docshape(&["report", shown]).output().unwrap(), &["contains no results", "run.json", "sweep.json"]);
    fs::copy(growth, folder.join("growth.json")).unwrap();
    let words = ["contains the growth of documents", "`docshape grow --resume"];
    for command in ["run", "sweep", "capacity"] {
        refused(&place.docshape(&[command, "--resume", shown]).output().unwrap(), &words);
    }
    refused(&place.docshape(&["compare", shown, shown]).output().unwrap(), &["the growth of documents, not a run"]);
    fs::copy(growth, folder.join("sweep.json")).unwrap();
    let words = ["a sweep (sweep.json)", "the growth of documents (growth.json)", "another folder"];
    for command in [&["report", shown][..], &["sweep", "--resume", shown], &["compare", shown, shown]] {
        refused(&place.docshape(command).output().unwrap(), &words);
    }
}

#[test]
fn a_study_of_another_format_or_without_its_runs_is_named() {
    let place = Place::new();
    let folder = place.study();
    fs::create_dir(&folder).unwrap();
    let shown = folder.to_str().unwrap();
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let sweep = fs::read_dir(results.join("sweeps")).unwrap().flatten().map(|entry| entry.path().join("sweep.json"));
    let text = fs::read_to_string(sweep.into_iter().find(|path| path.is_file()).unwrap()).unwrap();
    let file = folder.join("sweep.json");
    fs::write(&file, &text).unwrap();
    let words = ["sweep.json names the run points/", "which is missing", "from a copy, or measure again"];
    for command in [&["report", shown][..], &["sweep", "--resume", shown]] {
        refused(&place.docshape(command).output().unwrap(), &words);
    }
    let mut other: Value = serde_json::from_str(&text).unwrap();
    other["format"] = 99.into();
    fs::write(&file, other.to_string()).unwrap();
    for command in [&["report", shown][..], &["sweep", "--resume", shown]] {
        refused(&place.docshape(command).output().unwrap(), &["in format 99, but this build reads format 1 only"]);
    }
}
