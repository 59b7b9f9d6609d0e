//! Permitted imports between the folders of `src/`, which form a pipeline.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each folder with the folders that it may import.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("scenario", &["record"]),
    ("derive", &["scenario"]),
    ("compile", &["scenario", "derive", "plan", "generate"]),
    ("generate", &[]),
    ("record", &[]),
    ("server", &["record"]),
    ("plan", &["generate"]),
    ("results", &["record"]),
    ("engine", &["plan", "generate", "server", "record", "results"]),
    ("stats", &["results", "record", "generate"]),
    ("verify", &["engine", "plan", "server", "results", "record"]),
    ("campaign", &["engine", "plan", "generate", "server", "record", "results", "stats", "verify"]),
    ("report", &["stats", "results", "record"]),
    ("infer", &["scenario", "compile", "plan", "engine"]),
    ("described", &["infer", "scenario"]),
    ("observe", &["infer", "server", "generate"]),
    (
        "cli",
        &[
            "scenario", "derive", "compile", "plan", "generate", "server", "engine", "record", "results", "stats",
            "report", "verify", "campaign", "infer", "described", "observe",
        ],
    ),
    (
        "studies",
        &[
            "scenario", "compile", "plan", "generate", "server", "engine", "record", "results", "stats", "report",
            "verify", "campaign", "cli",
        ],
    ),
    ("command_line", &["cli", "studies", "report", "results", "server"]),
];

/// The same inside folders whose subfolders are a pipeline of their own.
const INSIDE_MAY_IMPORT: &[(&str, &[&str])] = &[
    ("report/document", &[]),
    ("report/run", &["report/document"]),
    ("report/write", &["report/document", "report/run"]),
    ("report/verification", &["report/document", "report/run", "report/write"]),
    ("report/comparison", &["report/document", "report/run"]),
    ("studies/capacity", &[]),
    ("studies/explore", &[]),
    ("studies/growth", &[]),
    ("studies/published", &[]),
    ("studies/shard_key", &[]),
    ("studies/sweep", &[]),
];

/// Texts that only the listed folders may contain.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("mongodb::", &["server"]),
    ("std::env::", &["cli", "server", "results"]),
    ("process::exit", &["cli"]),
    ("println!", &[]),
    ("Instant::now", &["engine", "verify", "campaign", "cli", "server", "studies"]),
    ("SystemTime::now", &["cli", "server"]),
    ("clap::", &["cli", "studies", "command_line"]),
];

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_for_tests(&path) {
            found.push(path);
        }
    }
    found
}

/// Whether a file is compiled for tests alone: the module that declares it says so.
fn is_for_tests(file: &Path) -> bool {
    let name = file.file_stem().unwrap().to_str().unwrap();
    let folder = file.parent().unwrap();
    let parents = [folder.join("mod.rs"), folder.with_extension("rs")];
    parents.iter().filter_map(|parent| fs::read_to_string(parent).ok()).any(|text| {
        let declarations = text.split("#[cfg(test)]\n").skip(1);
        declarations.filter_map(|rest| rest.lines().next()).any(|line| line.ends_with(&format!("mod {name};")))
    })
}

/// Returns a file's code without comments and unit tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let tests =
        ["mod tests", "pub(super) mod tests", "pub(crate) mod tests"].map(|start| format!("#[cfg(test)]\n{start}"));
    let code = tests.iter().fold(&*text, |code, tests| code.split(tests.as_str()).next().unwrap());
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

fn folders_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_dir());
    entries.map(|entry| entry.file_name().into_string().unwrap()).filter(|name| name != "snapshots").collect()
}

#[test]
fn every_folder_has_a_rule() {
    let ruled: BTreeSet<String> = MAY_IMPORT.iter().map(|(folder, _)| (*folder).to_owned()).collect();
    assert_eq!(folders_in(&source()), ruled);
    for outer in ["report", "studies"] {
        let ruled = INSIDE_MAY_IMPORT.iter().filter_map(|(folder, _)| folder.split_once('/'));
        let ruled: BTreeSet<String> =
            ruled.filter(|(folder, _)| *folder == outer).map(|(_, inner)| inner.to_owned()).collect();
        assert_eq!(folders_in(&source().join(outer)), ruled, "{outer}");
    }
}

#[test]
fn imports_inside_folders_follow_their_pipelines() {
    let modules = modules();
    let mut against = Vec::new();
    for (module, imports) in &modules {
        let Some(from) = module.get(..2).map(|folder| folder.join("/")) else { continue };
        let Some((_, allowed)) = INSIDE_MAY_IMPORT.iter().find(|(folder, _)| *folder == from) else { continue };
        for other in imports.used.iter().filter_map(|path| definition(module, path, &modules)) {
            let Some(to) = other.get(..2).map(|folder| folder.join("/")) else { continue };
            let is_ruled = INSIDE_MAY_IMPORT.iter().any(|(folder, _)| *folder == to);
            if is_ruled
                && to != from
                && to.split('/').next() == from.split('/').next()
                && !allowed.contains(&to.as_str())
            {
                against.push(format!("{} imports {}", module.join("/"), other.join("/")));
            }
        }
    }
    assert!(against.is_empty(), "{against:#?}");
}

#[test]
fn clock_environment_and_driver_stay_in_their_folders() {
    let mut against = Vec::new();
    for (text, allowed) in ONLY_IN {
        for (folder, _) in MAY_IMPORT.iter().filter(|(folder, _)| !allowed.contains(folder)) {
            let found = files(&source().join(folder)).into_iter().filter(|file| code(file).contains(text));
            against.extend(found.map(|file| format!("{} contains `{text}`", file.display())));
        }
    }
    assert!(against.is_empty(), "{against:#?}");
}

/// The most files of an import circle: expressions, their frames, generators, what they draw, data and operations evaluate
/// each other.
const LARGEST_CIRCLE: usize = 6;

/// A file as a module: its path below `src`, without `.rs` and `mod.rs`.
type Module = Vec<String>;

#[derive(Default)]
struct Imports {
    /// Paths that the file imports or uses.
    used: Vec<String>,
    /// Names that it re-exports, and their origin.
    exported: BTreeMap<String, String>,
}

fn modules() -> BTreeMap<Module, Imports> {
    let module = |file: &Path| {
        let path = file.strip_prefix(source()).unwrap().with_extension("");
        let mut parts: Module = path.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        if parts.last().is_some_and(|last| last == "mod") {
            parts.pop();
        }
        parts
    };
    files(&source()).iter().map(|file| (module(file), imports(&code(file)))).collect()
}

fn imports(code: &str) -> Imports {
    let mut found = Imports::default();
    let mut rest = String::new();
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        let statement = line.trim_start();
        let is_use = |text: &str| text.split(' ').next() == Some("use") && !text.contains('"');
        let exported = statement.starts_with("pub").then(|| statement.split_once(' ').map_or("", |(_, rest)| rest));
        if !is_use(exported.unwrap_or(statement)) {
            rest.push_str(line);
            continue;
        }
        let mut whole = statement.to_owned();
        while !whole.contains(';') {
            whole.push_str(lines.next().unwrap());
        }
        let tree = whole.split_once("use ").unwrap().1.replace([' ', ';'], "");
        for path in expanded(&tree) {
            match exported {
                Some(_) => drop(found.exported.insert(path.rsplit(':').next().unwrap().to_owned(), path)),
                None => found.used.push(path),
            }
        }
    }
    for start in ["crate::", "super::"] {
        for (at, _) in rest.match_indices(start) {
            let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            found.used.push(rest[at..].chars().take_while(|c| is_path(*c)).collect());
        }
    }
    found
}

/// Returns the paths of `a::{b, c::{d, e}}`.
fn expanded(tree: &str) -> Vec<String> {
    let Some((start, inside)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let inside = &inside[..inside.rfind('}').unwrap()];
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in inside.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match (c, depth) {
            (',', 0) => parts.push(String::new()),
            _ => parts.last_mut().unwrap().push(c),
        }
    }
    let parts = parts.iter().filter(|part| !part.is_empty());
    parts.flat_map(|part| expanded(part)).map(|path| format!("{start}{path}")).collect()
}

/// Returns the module that defines the item of a path in `module`; `None` for other crates.
fn definition(module: &Module, path: &str, modules: &BTreeMap<Module, Imports>) -> Option<Module> {
    let mut parts = path.split("::").filter(|part| !part.is_empty()).peekable();
    let mut place = module.clone();
    match parts.peek() {
        Some(&"crate") => place = vec![parts.next()?.to_owned()],
        Some(&"self" | &"super") => {}
        first => {
            let child: Module = place.iter().cloned().chain(first.map(|first| (*first).to_owned())).collect();
            modules.get(&child)?;
        }
    }
    if place == ["crate"] {
        place.clear();
    }
    for part in parts {
        match part {
            "self" => continue,
            "super" => drop(place.pop()),
            name => {
                let child: Module = place.iter().cloned().chain([name.to_owned()]).collect();
                if modules.contains_key(&child) {
                    place = child;
                    continue;
                }
                let from = modules.get(&place)?.exported.get(name);
                return from.and_then(|from| definition(&place, from, modules)).or(Some(place));
            }
        }
    }
    modules.contains_key(&place).then_some(place)
}

#[test]
fn import_circles_are_small() {
    let modules = modules();
    let edges = |module: &Module| -> BTreeSet<Module> {
        let defined = modules[module].used.iter().filter_map(|path| definition(module, path, &modules));
        defined.filter(|other| other != module && other.first() == module.first()).collect()
    };
    let edges: BTreeMap<&Module, BTreeSet<Module>> = modules.keys().map(|module| (module, edges(module))).collect();
    let reachable = |from: &Module| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(next) = open.pop() {
            open.extend(edges[&next].iter().filter(|other| seen.insert((*other).clone())).cloned());
        }
        seen
    };
    let reach: BTreeMap<&Module, BTreeSet<Module>> = modules.keys().map(|module| (module, reachable(module))).collect();
    let circle = |module: &Module| -> BTreeSet<String> {
        let round = reach[module].iter().filter(|other| reach[other].contains(module));
        round.map(|other| other.join("/")).collect()
    };
    let circles: BTreeSet<BTreeSet<String>> = modules.keys().map(circle).collect();
    assert!(circles.iter().any(|circle| circle.len() > 1), "no circle at all; are all imports found?");
    let large: Vec<_> = circles.iter().filter(|circle| circle.len() > LARGEST_CIRCLE).collect();
    assert!(large.is_empty(), "{large:#?}");
}

#[test]
fn no_type_name_is_defined_in_two_folders() {
    let mut folders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (folder, _) in MAY_IMPORT {
        for file in files(&source().join(folder)) {
            for line in code(&file).lines() {
                let line = line.trim_start();
                let item =
                    if line.starts_with("pub") { line.split_once(' ').map_or("", |(_, item)| item) } else { line };
                let Some((word, rest)) = item.split_once(' ') else { continue };
                if ["struct", "enum", "trait"].contains(&word) {
                    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    folders.entry(name).or_default().insert((*folder).to_owned());
                }
            }
        }
    }
    folders.retain(|_, folders| folders.len() > 1);
    assert!(folders.is_empty(), "{folders:#?}");
}
