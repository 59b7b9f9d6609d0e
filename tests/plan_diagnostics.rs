//! What an author is told about names, types and values: one broken scenario per diagnostic of the plan.
//!
//! After a change of words run the test with `INSTA_UPDATE=always` and read the difference of `tests/plan_snapshots`.

use std::fs;
use std::path::{Path, PathBuf};

use docshape::plan::{Choice, compile};
use docshape::scenario::{Diagnostics, Source, read};

const SNAPSHOTS: &str = "plan_snapshots";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken_plan")
}

/// The files under `tests/broken_plan`, by name.
fn broken_files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Everything that reader and plan say of a file.
fn diagnose(path: &Path) -> (Source, Diagnostics) {
    let name = path.file_name().unwrap().to_str().unwrap();
    let source = Source::new(name, fs::read_to_string(path).unwrap());
    let mut diagnostics = Diagnostics::new();
    let scenario = read(&source, &mut diagnostics).unwrap_or_else(|| panic!("{name} is no scenario"));
    let plan = compile(&scenario, &Choice::default(), &mut diagnostics).unwrap();
    assert!(plan.is_none() && diagnostics.has_errors(), "{name}: broken, and yet a plan");
    (source, diagnostics)
}

#[test]
fn every_broken_scenario_is_told_as_its_snapshot_says() {
    let files = broken_files();
    assert!(files.len() > 50, "tests/broken_plan holds {} files", files.len());
    for path in files {
        let (source, diagnostics) = diagnose(&path);
        let name = path.file_stem().unwrap().to_str().unwrap();
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => SNAPSHOTS }, {
            insta::assert_snapshot!(name, diagnostics.render(&source, false));
        });
    }
}

#[test]
fn every_snapshot_belongs_to_a_broken_scenario() {
    let snapshots = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(SNAPSHOTS);
    for path in fs::read_dir(snapshots).unwrap().map(|entry| entry.unwrap().path()) {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        assert!(folder().join(stem).with_extension("yaml").exists(), "{stem}.snap has no scenario");
    }
}

#[test]
fn every_broken_scenario_has_one_problem_and_help_in_lower_case_without_an_end() {
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
fn problems_of_reader_and_plan_are_told_at_once() {
    let (_, diagnostics) = diagnose(&folder().join("five_problems.yaml"));
    let messages: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "entity `post` has no key `feilds`",
            "unknown function `ziff`",
            "`pst` is no type",
            "mix `default` names no operation: `raed`",
            "unknown collection `psots`",
            "the step `findOne` has no key `limit`",
        ]
    );
}
