//! One broken scenario per diagnostic, with a snapshot of what `docshape check` prints.
//!
//! After changing a message, run the tests with `INSTA_UPDATE=always` and read the diff of `tests/snapshots`.

use std::fs;
use std::path::{Path, PathBuf};

use docshape::scenario::{Diagnostics, Source, read};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken")
}

/// The files under `tests/broken`, by name.
fn broken_files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn diagnose(path: &Path) -> (Source, Diagnostics) {
    let mut source = Source::load(path.to_str().unwrap()).unwrap();
    source.path = path.file_name().unwrap().to_str().unwrap().to_owned();
    let diagnostics = Diagnostics::new();
    let scenario = read(&source, &diagnostics);
    assert!(scenario.is_some() || diagnostics.has_errors(), "{}: neither a scenario nor an error", source.path);
    (source, diagnostics)
}

#[test]
fn every_broken_scenario_matches_its_snapshot() {
    let files = broken_files();
    assert!(files.len() > 60, "tests/broken has only {} files", files.len());
    for path in files {
        let (source, diagnostics) = diagnose(&path);
        let name = path.file_stem().unwrap().to_str().unwrap();
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => "../snapshots" }, {
            insta::assert_snapshot!(name, diagnostics.render(&source, false));
        });
    }
}

#[test]
fn every_snapshot_has_a_broken_scenario() {
    let snapshots = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    for path in fs::read_dir(snapshots).unwrap().map(|entry| entry.unwrap().path()) {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        assert!(folder().join(stem).with_extension("yaml").exists(), "{stem}.snap has no scenario");
    }
}

#[test]
fn every_diagnostic_has_help_in_lower_case_without_period() {
    for path in broken_files() {
        let (source, diagnostics) = diagnose(&path);
        assert!(!diagnostics.is_empty(), "{} is not broken", source.path);
        for diagnostic in diagnostics.iter() {
            let help = diagnostic.help.as_deref().unwrap_or_default();
            assert!(!help.is_empty(), "{}: no help for: {}", source.path, diagnostic.message);
            for text in [diagnostic.message.as_str(), help] {
                assert!(
                    !text.starts_with(|c: char| c.is_uppercase()) && !text.ends_with('.'),
                    "{}: {text}",
                    source.path
                );
            }
        }
    }
}

#[test]
fn reports_all_problems_at_once() {
    let (_, diagnostics) = diagnose(&folder().join("five_problems.yaml"));
    let messages: Vec<String> = diagnostics.iter().map(|diagnostic| diagnostic.message).collect();
    assert_eq!(
        messages,
        [
            "`Blog` cannot be the name of a scenario",
            "unknown key `feilds` in entity `post`",
            "expected a scalar expression, found nothing",
            "unknown step `findone`",
            "duplicate key `read`",
        ]
    );
}
