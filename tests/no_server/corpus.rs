//! The seeds of the fuzz targets, and all scenarios of the repository, go through the targets once.

#[path = "../fuzz/targets.rs"]
mod targets;

use std::fs;
use std::path::Path;

/// Gives every file in a folder to a target. Returns how many there are.
fn feed(target: fn(&[u8]), folder: &str) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    files
        .map(|path| {
            let bytes = fs::read(&path).unwrap();
            let fed = std::panic::catch_unwind(|| target(&bytes));
            assert!(fed.is_ok(), "{}", path.display());
        })
        .count()
}

#[test]
fn scenarios_are_read() {
    for folder in ["scenarios", "examples", "tests/valid", "tests/broken", "tests/broken_plan"] {
        assert!(feed(targets::scenario, folder) > 0, "{folder}");
    }
    assert!(feed(targets::scenario, "tests/fuzz/corpus/scenario") > 0);
}

#[test]
fn expressions_are_evaluated() {
    assert!(feed(targets::expression, "tests/fuzz/corpus/expression") > 20);
}

#[test]
fn run_records_are_reported() {
    assert!(feed(targets::run_record, "tests/fuzz/corpus/run_record") > 0);
}

#[test]
fn interval_logs_are_resumed() {
    assert!(feed(targets::interval_log, "tests/fuzz/corpus/interval_log") > 0);
}

#[test]
fn replies_are_read() {
    assert!(feed(targets::reply, "tests/fuzz/corpus/reply") > 4);
}

#[test]
fn server_logs_become_operations() {
    assert!(feed(targets::server_log, "tests/fuzz/corpus/server_log") > 1);
}
