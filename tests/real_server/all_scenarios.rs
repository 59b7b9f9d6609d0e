//! All scenarios of the catalogue pass verification on a real server. Tests start in the order of their names, and these take
//! longest.

use std::fs;
use std::path::{Path, PathBuf};

use docshape::compile::Choice;
use docshape::results::verification::Verification;
use docshape::scenario::{Diagnostics, Source, read};
use futures_util::future::join_all;

use crate::harness::{Bench, bench, plan};
use crate::verify::{report, verified};

/// The catalogue's files.
fn catalogue() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    paths
}

/// Checks a scenario as the command does: all strategies, the baseline first.
async fn verified_file(bench: &Bench, path: &Path, calls: u64) -> Verification {
    let text = fs::read_to_string(path).unwrap();
    let source = Source::new("catalogue.yaml", text.as_str());
    let scenario = read(&source, &Diagnostics::new()).unwrap();
    let mut strategies: Vec<String> = scenario.strategies.iter().map(|s| s.name.value.clone()).collect();
    let baseline = scenario.strategies.iter().position(|s| s.is_default.as_ref().is_some_and(|flag| flag.value));
    let baseline = strategies.remove(baseline.unwrap());
    strategies.insert(0, baseline);
    let choice = Choice { mix: Some("verify".into()), strategies, seed: 7, ..Choice::default() };
    verified(bench, &plan(&text, &choice), calls, "cat").await
}

/// Verifies one scenario in [`PARTS`]: a shorter form of `docshape verify --all`, with too few calls to catch every negative
/// control.
async fn verify_part(part: usize) {
    /// Calls per phase and strategy.
    const CALLS: u64 = 40;
    let bench = &bench(1).await;
    let paths = catalogue().into_iter().skip(part).step_by(PARTS);
    // Most of the time is spent waiting for the journal.
    let checked = join_all(paths.map(|path| async move { verified_file(bench, &path, CALLS).await })).await;
    assert!(!checked.is_empty());
    let failed = checked.iter().filter(|one| one.strategies.iter().any(|of| !of.is_unsafe && !of.is_clean()));
    let failed: String = failed.map(report).collect();
    assert!(failed.is_empty(), "{failed}");
}

macro_rules! parts {
    ($($name:ident: $part:literal)*) => {
        /// The tests of this file, which use several cores.
        const PARTS: usize = [$($part),*].len();

        $(#[tokio::test]
        async fn $name() {
            verify_part($part).await;
        })*
    };
}

parts! {
    first_part_passes: 0
    second_part_passes: 1
    third_part_passes: 2
    fourth_part_passes: 3
    fifth_part_passes: 4
    sixth_part_passes: 5
}
