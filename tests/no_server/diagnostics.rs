//! One broken scenario per diagnostic of the reader and of the compiler, with a snapshot of what `docshape check` prints.
//!
//! After changing a message, run the tests with `INSTA_UPDATE=always` and read the diff of the snapshots.

use std::fs;
use std::path::{Path, PathBuf};

use docshape::compile::{Choice, compile};
use docshape::scenario::{Diagnostics, Source, read};

/// Below `tests`: the scenarios that the reader rejects, and their snapshots.
const READER: [&str; 2] = ["broken", "snapshots"];

/// The same of those that the compiler rejects.
const COMPILER: [&str; 2] = ["broken_plan", "plan_snapshots"];

/// The files in a folder below `tests`, by name.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn stem(path: &Path) -> &str {
    path.file_stem().unwrap().to_str().unwrap()
}

/// Returns the problems of a file that the reader finds, and of one in the folder of the compiler, those that both find.
fn diagnose(path: &Path) -> (Source, Diagnostics) {
    let name = path.file_name().unwrap().to_str().unwrap();
    let mut source = Source::load(path.to_str().unwrap()).unwrap();
    source.path = name.to_owned();
    let diagnostics = Diagnostics::new();
    let scenario = read(&source, &diagnostics);
    if path.parent().unwrap().ends_with(COMPILER[0]) {
        let scenario = scenario.unwrap_or_else(|| panic!("{name} is no scenario"));
        let plan = compile(&scenario, &Choice::default(), &diagnostics).unwrap();
        assert!(plan.is_none() && diagnostics.has_errors(), "{name}: broken, but compiled");
        let is_alone = !["five_problems.yaml", "like_circle.yaml"].contains(&name);
        assert!(!is_alone || diagnostics.errors() == 1, "{}", diagnostics.render(&source, false));
    } else {
        assert!(scenario.is_some() || diagnostics.has_errors(), "{name}: neither a scenario nor an error");
        assert!(!diagnostics.is_empty(), "{name} is not broken");
    }
    (source, diagnostics)
}

#[test]
fn every_broken_scenario_matches_its_snapshot() {
    for [folder, snapshots] in [READER, COMPILER] {
        let files = files(folder);
        assert!(files.len() > 50, "tests/{folder} has only {} files", files.len());
        for path in files {
            let (source, diagnostics) = diagnose(&path);
            insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => format!("../{snapshots}") }, {
                insta::assert_snapshot!(stem(&path), diagnostics.render(&source, false));
            });
        }
    }
}

#[test]
fn every_snapshot_has_a_broken_scenario() {
    for [folder, snapshots] in [READER, COMPILER] {
        let files = files(folder);
        for snapshot in self::files(snapshots) {
            let stem = stem(&snapshot);
            assert!(files.iter().any(|path| self::stem(path) == stem), "{stem}.snap has no scenario");
        }
    }
}

#[test]
fn every_diagnostic_has_help_in_lower_case_without_period() {
    for path in [files(READER[0]), files(COMPILER[0])].concat() {
        let (Source { path, .. }, diagnostics) = diagnose(&path);
        for diagnostic in diagnostics.iter() {
            let help = diagnostic.help.as_deref().unwrap_or_default();
            assert!(!help.is_empty(), "{path}: no help for: {}", diagnostic.message);
            for text in [diagnostic.message.as_str(), help] {
                let is_well = !text.starts_with(|c: char| c.is_uppercase()) && !text.ends_with('.');
                assert!(is_well, "{path}: {text}");
            }
        }
    }
}

/// The messages of the file `five_problems` in a folder.
fn messages(folder: &str) -> Vec<String> {
    let file = files(folder).into_iter().find(|path| stem(path) == "five_problems").unwrap();
    diagnose(&file).1.iter().map(|diagnostic| diagnostic.message).collect()
}

#[test]
fn all_problems_are_reported_at_once() {
    let of_reader = [
        "`Blog` cannot be the name of a scenario",
        "unknown key `feilds` in entity `post`",
        "expected a scalar expression, found nothing",
        "unknown step `findone`",
        "duplicate key `read`",
    ];
    assert_eq!(messages(READER[0]), of_reader);
    let of_both = [
        "unknown key `feilds` in entity `post`",
        "unknown function `ziff`",
        "unknown type `pst`",
        "unknown operation `raed` in mix `default`",
        "unknown collection `psots`",
        "unknown key `limit` in step `findOne`",
    ];
    assert_eq!(messages(COMPILER[0]), of_both);
}
