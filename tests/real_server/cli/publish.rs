//! `publish` and `summary`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use docshape::record::LatencyHistogram;
use docshape::results::{
    CellRecord, OpenRecord, Part, RoundRecord, RunRecord, RunSettings, ServerSharing, Status, TimesRecord, save,
};

use crate::harness;

use super::{docshape, fails, run};

const ROUNDS: u64 = 8;
const CALLS: u64 = 200;

/// A run in which `near` takes a millisecond per call, and `far` two.
fn record(mix: &str) -> RunRecord {
    let mut record = harness::record::run("Near or far?", &["near", "far"]);
    record.scenario.text = "format: 1\nname: small\ntitle: \"Near or far?\"\ngroup: large objects\nmixes:\n  \
        default: { read: 1 }\n  other: { read: 2 }\n  verify: { read: 1 }\n"
        .into();
    record.mix.name = mix.into();
    record.settings = RunSettings { rounds: ROUNDS, shared_mongod: None, ..record.settings };
    record.server.topology = "a replica set of one member".into();
    record.server.servers = ServerSharing::PerStrategy;
    record.environment.cores = Some(2);
    let rounds = |part| (0..ROUNDS).map(|index| round(part, index)).collect();
    record.parts = Part::ALL.into_iter().map(|part| (part, rounds(part))).collect();
    record
}

fn round(part: Part, index: u64) -> RoundRecord {
    let cells = [1_000_000, 2_000_000].map(|time| cell(part, time + index * 1_000)).to_vec();
    RoundRecord { index, seed: index, order: vec![vec![0, 1]], cells }
}

fn cell(part: Part, time: u64) -> CellRecord {
    let times = || {
        let mut times = LatencyHistogram::new(Duration::from_secs(10));
        (0..CALLS).for_each(|call| times.record(time + call % 7 * 1_000));
        times
    };
    let empty = || TimesRecord::new(&LatencyHistogram::new(Duration::from_secs(10)));
    let mut operation = harness::record::operation(&times());
    operation.outcomes[0].response = part.is_open().then(|| TimesRecord::new(&times()));
    let open = OpenRecord {
        offered: CALLS,
        seconds: 1.0,
        waiting: 0,
        skipped: 0,
        never_started: 0,
        pacer_lag: empty(),
        queue_wait: empty(),
    };
    CellRecord {
        calls: CALLS,
        // At saturation all clients have a call.
        seconds: CALLS as f64 * time as f64 / 1e9 / if part == Part::Saturation { 8.0 } else { 1.0 },
        operations: vec![operation],
        open: part.is_open().then_some(open),
        ..CellRecord::default()
    }
}

/// Saves a run and publishes it; returns the folder.
fn published(root: &Path, mix: &str) -> String {
    let source = root.join("runs").join(mix);
    fs::create_dir_all(&source).unwrap();
    save(&record(mix), &source).unwrap();
    let into = root.join("results");
    let ended = run(&mut docshape(&["publish", source.to_str().unwrap(), "--into", into.to_str().unwrap()]));
    assert_eq!((ended.code, ended.err), (0, format!("Next: docshape summary {}\n", into.display())));
    let place = ended.out.trim_end().to_owned();
    assert_eq!(place, into.join("small").join(mix).join("mongodb-6.0.5-2-cores").to_str().unwrap());
    place
}

#[test]
fn a_run_is_published_and_shown_in_the_matrix() {
    let root = tempfile::tempdir().unwrap();
    let place = published(root.path(), "default");
    let ended = run(&mut docshape(&["report", &place, "--format", "markdown"]));
    assert!(ended.code == 0 && ended.out.starts_with("# Near or far?"), "{}", ended.err);
    let results = root.path().join("results");
    let results = results.to_str().unwrap();
    let ended = run(&mut docshape(&["summary", results]));
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    let cells =
        "| [default](small/default/mongodb-6.0.5-2-cores/report.md) (quick) | **best** 7,972/s | × 2.00 3,993/s |\n";
    assert!(ended.out.contains("## Large objects") && ended.out.contains(cells), "{}", ended.out);
    assert!(ended.out.contains("\n| other | **best** est. | × 1.99 est. |\n"), "{}", ended.out);
    assert!(!ended.out.contains("verify"), "{}", ended.out);
    // A measured mix is no longer estimated.
    published(root.path(), "other");
    let site = root.path().join("site");
    let ended = run(&mut docshape(&["site", results, "--out", site.to_str().unwrap()]));
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    let matrix = std::fs::read_to_string(site.join("matrix.html")).unwrap();
    assert!(matrix.starts_with("<!DOCTYPE html>") && !matrix.contains("class=\"est\""), "{matrix}");
    assert!(matrix.contains("mongodb-6.0.5-2-cores/report.html"), "{matrix}");
}

#[test]
fn runs_that_are_not_published_are_in_the_matrix_too() {
    let root = tempfile::tempdir().unwrap();
    published(root.path(), "default");
    let runs = root.path().join("runs");
    save(&RunRecord { status: Status::Interrupted, ..record("other") }, &{
        fs::create_dir(runs.join("stopped")).unwrap();
        runs.join("stopped")
    })
    .unwrap();
    let ended = run(&mut docshape(&["summary", runs.to_str().unwrap()]));
    assert_eq!(
        (ended.code, ended.err.as_str()),
        (0, "warning: stopped is not in the matrix: the run is not complete\n")
    );
    assert!(ended.out.contains("| default (quick) | **best** 7,972/s | × 2.00 3,993/s |"), "{}", ended.out);
    assert!(ended.out.contains("## Verdicts"), "{}", ended.out);
}

#[test]
fn broken_and_foreign_summaries_are_named() {
    let root = tempfile::tempdir().unwrap();
    let place = published(root.path(), "default");
    let results = root.path().join("results");
    let results = results.to_str().unwrap();
    let file = Path::new(&place).join("summary.json");
    let whole = fs::read_to_string(&file).unwrap();
    let newer = whole.replacen("\"format\":1", "\"format\":2", 1);
    let edited = whole.replacen("\"seed\":1", "\"seed\":2", 1);
    for (text, word) in [
        ("{".to_owned(), "is cut off"),
        ("[1]".to_owned(), "is not a run of docshape"),
        (newer, "in format 2"),
        (edited, "was changed after docshape wrote it"),
    ] {
        fs::write(&file, text).unwrap();
        fails(&["summary", results], 2, &[word, file.to_str().unwrap()]);
    }
    fails(&["summary", "tests/harness"], 2, &["nothing beneath tests/harness is a result", "docshape publish"]);
    fails(&["publish", "no/such/run"], 2, &["no/such/run"]);
}

#[test]
fn equal_results_at_two_places_are_named() {
    let root = tempfile::tempdir().unwrap();
    let place = published(root.path(), "default");
    let copy = root.path().join("results").join("copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(Path::new(&place).join("summary.json"), copy.join("summary.json")).unwrap();
    let ended = run(&mut docshape(&["summary", root.path().join("results").to_str().unwrap()]));
    assert_eq!(ended.code, 0);
    assert!(
        ended.err.starts_with("warning: small/default/mongodb-6.0.5-2-cores is left out: copy is of the same"),
        "{}",
        ended.err
    );
}
