//! Diagnostics of names, types and values: one broken scenario for each diagnostic of the compiler.
//!
//! After a change of words run the test with `INSTA_UPDATE=always` and read the difference of `tests/plan_snapshots`.

use std::fs;
use std::path::{Path, PathBuf};

use docshape::compile::{Choice, compile};
use docshape::scenario::{Diagnostics, Source, read};

const SNAPSHOTS: &str = "../plan_snapshots";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken_plan")
}

/// The files under `tests/broken_plan`, by name.
fn broken_files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Returns the problems of a file that reader and compiler find.
fn diagnose(path: &Path) -> (Source, Diagnostics) {
    let name = path.file_name().unwrap().to_str().unwrap();
    let source = Source::new(name, fs::read_to_string(path).unwrap());
    let diagnostics = Diagnostics::new();
    let scenario = read(&source, &diagnostics).unwrap_or_else(|| panic!("{name} is no scenario"));
    let plan = compile(&scenario, &Choice::default(), &diagnostics).unwrap();
    assert!(plan.is_none() && diagnostics.has_errors(), "{name}: broken, but compiled");
    (source, diagnostics)
}

#[test]
fn diagnostics_match_their_snapshots() {
    let files = broken_files();
    assert!(files.len() > 50, "{} files in tests/broken_plan", files.len());
    for path in files {
        let (source, diagnostics) = diagnose(&path);
        let name = path.file_stem().unwrap().to_str().unwrap();
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => SNAPSHOTS }, {
            insta::assert_snapshot!(name, diagnostics.render(&source, false));
        });
    }
}

#[test]
fn snapshots_have_a_scenario() {
    let snapshots = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan_snapshots");
    for path in fs::read_dir(snapshots).unwrap().map(|entry| entry.unwrap().path()) {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        assert!(folder().join(stem).with_extension("yaml").exists(), "{stem}.snap has no scenario");
    }
}

#[test]
fn diagnostics_are_in_style() {
    for path in broken_files() {
        let (source, diagnostics) = diagnose(&path);
        let alone = !["five_problems.yaml", "like_circle.yaml"].contains(&source.path.as_str());
        assert!(!alone || diagnostics.errors() == 1, "{}", diagnostics.render(&source, false));
        for diagnostic in diagnostics.iter() {
            let help = diagnostic.help.as_deref().unwrap_or_default();
            assert!(!help.is_empty(), "{}: no help for: {}", source.path, diagnostic.message);
            for text in [diagnostic.message.as_str(), help] {
                let well = !text.starts_with(|c: char| c.is_uppercase()) && !text.ends_with('.');
                assert!(well, "{}: {text}", source.path);
            }
        }
    }
}

#[test]
fn reader_and_compiler_report_together() {
    let (_, diagnostics) = diagnose(&folder().join("five_problems.yaml"));
    let messages: Vec<String> = diagnostics.iter().map(|diagnostic| diagnostic.message).collect();
    assert_eq!(
        messages,
        [
            "unknown key `feilds` in entity `post`",
            "unknown function `ziff`",
            "unknown type `pst`",
            "unknown operation `raed` in mix `default`",
            "unknown collection `psots`",
            "unknown key `limit` in step `findOne`",
        ]
    );
}
