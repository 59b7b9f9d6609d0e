//! Every scenario in `examples` compiles without diagnostics and passes verification on a real server.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use docshape::compile::{Choice, compile};
use docshape::engine::RoundPlan;
use docshape::plan::Plan;
use docshape::scenario::{Diagnostics, Source, read};
use docshape::verify::VerifySettings;
use futures_util::stream::{self, StreamExt};

use crate::harness::{self, Bench, bench};
use crate::verify::{PATIENCE, report, verifier};

/// Examples at the same time: on a disk they wait for the journal.
const PARALLEL: usize = 3;

/// The example scenarios with their names.
fn examples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// Compiles an example; all diagnostics, including warnings, fail the test.
fn try_plan(name: &str, text: &str, choice: &Choice) -> Result<Arc<Plan>, String> {
    let source = Source::new(format!("{name}.yaml"), text);
    let diagnostics = Diagnostics::new();
    let scenario = read(&source, &diagnostics);
    let plan = scenario.and_then(|scenario| compile(&scenario, choice, &diagnostics).unwrap());
    plan.filter(|_| diagnostics.is_empty()).map(Arc::new).ok_or_else(|| diagnostics.render(&source, false))
}

fn plan(name: &str, text: &str, choice: &Choice) -> Arc<Plan> {
    try_plan(name, text, choice).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn every_example_compiles_with_every_mix() {
    let examples = examples();
    assert!(examples.len() >= 15, "only {} examples", examples.len());
    let errors: Vec<String> =
        examples.iter().filter_map(|(name, text)| try_plan(name, text, &Choice::default()).err()).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    for (name, text) in &examples {
        assert!(text.starts_with("# "), "{name}: the first line is no comment");
        let plain = plan(name, text, &Choice::default());
        assert_eq!(plain.name, *name);
        let scenario = read(&Source::new(name.as_str(), text.as_str()), &Diagnostics::new()).unwrap();
        for mix in scenario.mixes.iter().map(|mix| mix.name.value.clone()) {
            let choice = Choice { mix: Some(mix.clone()), ..Choice::default() };
            assert_eq!(plan(name, text, &choice).mix.name, mix);
        }
    }
}

#[test]
fn format_documentation_starts_with_the_first_example() {
    let documentation = include_str!("../../docs/format.md");
    let shown = documentation.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let (_, first) = include_str!("../../examples/first.yaml").split_once('\n').unwrap();
    assert_eq!(shown, first);
}

async fn verify_example(bench: &Bench, name: &str, text: &str) {
    let scenario = read(&Source::new(name, text), &Diagnostics::new()).unwrap();
    let strategies = scenario.strategies.iter().map(|strategy| strategy.name.value.clone()).collect();
    let mix = scenario.mixes.iter().map(|mix| mix.name.value.clone()).find(|mix| mix == "verify");
    let plan = plan(name, text, &Choice { seed: 1, strategies, mix, ..Choice::default() });
    let settings = VerifySettings {
        namespace: harness::namespace(&plan.name, "ex"),
        command: String::new(),
        calls: 200,
        clients: 4,
        timeout: PATIENCE,
    };
    let target = bench.client(settings.connections()).await;
    let verification = verifier(&plan, settings, &target).run().await.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(verification.passes() && verification.not_covered().is_empty(), "{}", report(&verification));
}

#[tokio::test]
async fn every_example_is_verified() {
    let bench = &bench(1).await;
    let checks = examples().into_iter().map(async |(name, text)| verify_example(bench, &name, &text).await);
    stream::iter(checks).buffered(PARALLEL).collect::<Vec<()>>().await;
}

/// No measured call may fail.
#[tokio::test]
async fn every_example_runs() {
    let bench = bench(4).await;
    for (name, text) in examples() {
        let plan = plan(&name, &text, &Choice { seed: 1, all: true, ..Choice::default() });
        let window = RoundPlan::saturation(100, 0);
        let round = bench.experiment(&plan, (4, 2), "all", &()).round(0, window).await;
        let round = round.unwrap_or_else(|error| panic!("{name}: {error}"));
        let (round, warnings) = round.single().unwrap();
        assert_eq!(warnings, Vec::<String>::new(), "{name}");
        for cell in &round.cells {
            assert_eq!(cell.calls, 100, "{name}");
            let failed: Vec<_> = cell.operations.iter().flat_map(|operation| &operation.errors).collect();
            assert!(failed.is_empty(), "{name}: {failed:?}");
            assert!(cell.audits.iter().all(|audit| audit.anomalies() == 0), "{name}: {:?}", cell.audits);
        }
    }
}
