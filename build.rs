//! Sets the commit and the driver version that the program reports. The build succeeds without either.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Files and folders that become part of the program.
const SOURCES: [&str; 5] = ["src", "scenarios", "Cargo.toml", "Cargo.lock", "build.rs"];

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    // Cargo would treat a missing file as changed at every build.
    for path in SOURCES.iter().map(|path| root.join(path)).chain(git_files(&root)).filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    if let Some(commit) = commit(&root) {
        println!("cargo::rustc-env=DOCSHAPE_COMMIT={commit}");
    }
    if let Some(version) = driver(&root) {
        println!("cargo::rustc-env=DOCSHAPE_DRIVER=mongodb {version}");
    }
}

/// Returns the output of git, or `None` without git or outside a repository.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether the repository around the sources is docshape's: a package may be unpacked inside another repository.
fn is_own(root: &Path) -> bool {
    let top = git(root, &["rev-parse", "--show-toplevel"]).map(PathBuf::from);
    top.and_then(|top| top.canonicalize().ok()).is_some_and(|top| Some(top) == root.canonicalize().ok())
}

/// Returns the commit in 12 digits, with `-dirty` if the built sources differ from it.
fn commit(root: &Path) -> Option<String> {
    if !is_own(root) {
        return None;
    }
    let commit = git(root, &["rev-parse", "--short=12", "HEAD"])?;
    let changes = git(root, &[&["status", "--porcelain", "--untracked-files=no", "--"], &SOURCES[..]].concat())?;
    Some(if changes.is_empty() { commit } else { format!("{commit}-dirty") })
}

/// Returns the files that change with every commit and checkout.
fn git_files(root: &Path) -> Vec<PathBuf> {
    if !is_own(root) {
        return Vec::new();
    }
    let branch = git(root, &["symbolic-ref", "-q", "HEAD"]);
    let names = ["HEAD".to_owned(), "packed-refs".to_owned()].into_iter().chain(branch);
    names.filter_map(|name| git(root, &["rev-parse", "--git-path", &name])).map(|path| root.join(path)).collect()
}

/// Returns the version of the `mongodb` crate in the lock file.
fn driver(root: &Path) -> Option<String> {
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).ok()?;
    let package = lock.split("[[package]]").find(|package| package.contains("\nname = \"mongodb\"\n"))?;
    let version = package.lines().find_map(|line| line.strip_prefix("version = "))?;
    Some(version.trim_matches('"').to_owned())
}
