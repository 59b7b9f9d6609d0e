//! Every scenario under `examples`: nothing to complain about, and on a real server every strategy makes the same calls
//! and ends in the same logical state.

mod harness;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use docshape::engine::Window;
use docshape::plan::{Choice, Plan, compile, written};
use docshape::scenario::{Diagnostics, Source, read};
use harness::{Bench, bench};

/// The example scenarios, by name.
fn examples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// The plan of an example; a diagnostic of any kind is an error, a warning too.
fn try_plan(name: &str, text: &str, choice: &Choice) -> Result<Arc<Plan>, String> {
    let source = Source::new(format!("{name}.yaml"), text);
    let mut diagnostics = Diagnostics::new();
    let scenario = read(&source, &mut diagnostics);
    let plan = scenario.and_then(|scenario| compile(&scenario, choice, &mut diagnostics).unwrap());
    plan.filter(|_| diagnostics.is_empty()).map(Arc::new).ok_or_else(|| diagnostics.render(&source, false))
}

fn plan(name: &str, text: &str, choice: &Choice) -> Arc<Plan> {
    try_plan(name, text, choice).unwrap_or_else(|told| panic!("{told}"))
}

#[test]
fn every_example_has_its_name_a_comment_and_compiles_with_every_mix() {
    let examples = examples();
    assert!(examples.len() >= 15, "examples holds {}", examples.len());
    let told: Vec<String> =
        examples.iter().filter_map(|(name, text)| try_plan(name, text, &Choice::default()).err()).collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
    for (name, text) in &examples {
        assert!(text.starts_with("# "), "{name}: the first line says what it shows");
        let plain = plan(name, text, &Choice::default());
        assert_eq!(plain.name, *name);
        let mixes = text.lines().skip_while(|line| *line != "mixes:").skip(1).take_while(|line| line.starts_with(' '));
        for mix in mixes.filter_map(|line| line.trim().split_once(':')).map(|(mix, _)| mix.to_owned()) {
            let choice = Choice { mix: Some(mix.clone()), ..Choice::default() };
            assert_eq!(plan(name, text, &choice).mix.name, mix);
        }
    }
}

#[test]
fn the_documentation_begins_with_the_first_example() {
    let documentation = include_str!("../docs/format.md");
    let shown = documentation.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let (_, first) = include_str!("../examples/first.yaml").split_once('\n').unwrap();
    assert_eq!(shown, first);
}

#[tokio::test]
async fn every_example_runs_and_its_strategies_end_in_the_same_state() {
    let bench = bench(4).await;
    for (name, text) in examples() {
        let plan = plan(&name, &text, &Choice { seed: 1, all: true, ..Choice::default() });
        assert!(plan.arms.iter().all(|arm| !arm.is_unsafe), "{name}: only what is safe can be compared");
        run(&bench, &plan, "all").await;
        let states = bench.states(&plan, "all").await;
        for (arm, state) in states.iter().enumerate().skip(1) {
            for ((entity, rows), (_, wanted)) in state.iter().zip(&states[0]) {
                let of = format!("{name}: rows of {entity} in {}", plan.arms[arm].name);
                assert_eq!(rows.len(), wanted.len(), "{of}");
                for (row, wanted) in rows.iter().zip(wanted) {
                    assert_eq!(written(row), written(wanted), "{of}");
                }
            }
        }
    }
}

#[tokio::test]
async fn every_example_answers_alike_on_quiet_data() {
    let bench = bench(1).await;
    for (name, text) in examples() {
        let plan = plan(&name, &text, &Choice { seed: 2, all: true, ..Choice::default() });
        let window = Window::Calls { calls: 1, warmup: 0, seconds: None };
        bench.experiment(&plan, (1, 1), "quiet", &()).round(0, window).await.unwrap();
        for index in 1..80 {
            let mut answers: Vec<(usize, String)> = Vec::new();
            for (arm, strategy) in plan.arms.iter().enumerate() {
                let (operation, mut frame) = plan.draw(plan.round_seed(0), index, arm).unwrap();
                let database = docshape::server::namespace::database_name(&plan.name, &strategy.name, "quietr0");
                let mut interpreter = docshape::engine::Interpreter::new(&bench.target, &database);
                let answer = interpreter.run(&strategy.operations[operation], &mut frame).await.unwrap();
                let answer = match &plan.operations[operation].returns {
                    Some(shape) => written(&shape.canonical(&answer, &plan.data)),
                    None => written(&answer),
                };
                answers.push((operation, answer));
            }
            for (arm, answer) in answers.iter().enumerate().skip(1) {
                let operation = &plan.operations[answer.0].name;
                let arm = &plan.arms[arm].name;
                assert_eq!(answer, &answers[0], "{name}, call {index}, {operation}, {arm}");
            }
        }
    }
}

/// The negative control that `examples/unsafe.yaml` shows must lose updates, or it shows nothing.
#[tokio::test]
async fn the_unsafe_strategy_is_caught() {
    let bench = bench(4).await;
    let (name, text) = examples().into_iter().find(|(name, _)| name == "unsafe").unwrap();
    let strategies = vec!["operator".to_owned(), "read-then-write".to_owned()];
    let plan = plan(&name, &text, &Choice { seed: 1, strategies, ..Choice::default() });
    assert_eq!(plan.arms.iter().map(|arm| arm.is_unsafe).collect::<Vec<_>>(), [false, true]);
    run(&bench, &plan, "caught").await;
    let states = bench.states(&plan, "caught").await;
    assert_ne!(written(&states[0][0].1[0]), written(&states[1][0].1[0]));
}

/// One round of 200 calls with four workers; no call may fail.
async fn run(bench: &Bench, plan: &Arc<Plan>, id: &str) {
    let window = Window::Calls { calls: 200, warmup: 0, seconds: None };
    let round = bench.experiment(plan, (4, 2), id, &()).round(0, window).await;
    let (round, warnings) = round.unwrap_or_else(|error| panic!("{}: {error}", plan.name));
    assert_eq!(warnings, Vec::<String>::new(), "{}", plan.name);
    assert_eq!(round.cells.len(), plan.arms.len());
    for cell in &round.cells {
        assert_eq!(cell.calls, 200, "{}", plan.name);
        let failed: Vec<_> = cell.operations.iter().flat_map(|operation| &operation.errors).collect();
        assert!(failed.is_empty(), "{}: {failed:?}", plan.name);
    }
}
