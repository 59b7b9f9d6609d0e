//! Who may import whom. The folders of `src/` are the pipeline; an arrow against it is a mistake.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder and the folders that it may import.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("scenario", &[]),
    ("generate", &[]),
    ("record", &[]),
    ("server", &["record"]),
    ("plan", &["scenario", "generate"]),
    ("results", &["record"]),
    ("engine", &["plan", "generate", "server", "record", "results"]),
    ("stats", &["results", "record", "generate"]),
    ("verify", &["engine", "plan", "server", "results"]),
    ("report", &["stats", "results", "record"]),
    ("cli", &["scenario", "plan", "generate", "server", "engine", "record", "results", "stats", "report", "verify"]),
];

/// A text that only the folders named may hold, and why.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("mongodb::", &["server"]),
    ("std::env::", &["cli", "server", "results"]),
    ("process::exit", &["cli"]),
    ("println!", &[]),
    ("Instant::now", &["engine", "verify", "cli", "server"]),
    ("SystemTime::now", &["cli", "server"]),
    ("clap::", &["cli"]),
];

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// A file's code without comments and unit tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn imports_follow_the_pipeline() {
    let mut against = Vec::new();
    for (folder, allowed) in MAY_IMPORT {
        for file in files(&source().join(folder)) {
            for part in code(&file).split("crate::").skip(1) {
                let name: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let known = MAY_IMPORT.iter().any(|(other, _)| *other == name);
                if known && name != *folder && !allowed.contains(&name.as_str()) {
                    against.push(format!("{} imports {name}", file.display()));
                }
            }
        }
    }
    assert!(against.is_empty(), "{against:#?}");
}

#[test]
fn every_folder_has_its_rule() {
    let folders: BTreeSet<String> = fs::read_dir(source())
        .unwrap()
        .map(Result::unwrap)
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let ruled: BTreeSet<String> = MAY_IMPORT.iter().map(|(folder, _)| (*folder).to_owned()).collect();
    assert_eq!(folders, ruled);
}

#[test]
fn the_outside_world_stays_where_it_belongs() {
    let mut against = Vec::new();
    for (text, allowed) in ONLY_IN {
        for (folder, _) in MAY_IMPORT.iter().filter(|(folder, _)| !allowed.contains(folder)) {
            let holds = files(&source().join(folder)).into_iter().filter(|file| code(file).contains(text));
            against.extend(holds.map(|file| format!("{} holds `{text}`", file.display())));
        }
    }
    assert!(against.is_empty(), "{against:#?}");
}
