//! Every logical step in every shape that can do it gives the answers of the referenced shape.

use docshape::compile::{Choice, compile};
use docshape::scenario::{Diagnostics, Source, read};
use futures_util::stream::{self, StreamExt};

use crate::harness::{self, Bench, bench};
use crate::verify::{report, verified};

const ENTITIES: &str = include_str!("../models/entities.yaml");
const ARGUMENTS: &str = include_str!("../models/arguments.txt");
const SHAPES: &str = include_str!("../models/shapes.txt");
const STEPS: &str = include_str!("../models/steps.txt");

/// Calls per phase and strategy.
const CALLS: u64 = 250;

/// Shapes at the same time: on a disk they wait for the journal.
const PARALLEL: usize = 3;

/// A scenario with an operation for each step, and with these strategies besides the referenced one.
fn scenario(steps: &[&str], strategies: &str) -> String {
    let mut text = ENTITIES.to_owned();
    for (number, step) in steps.iter().enumerate() {
        let words: Vec<&str> = step.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let used = ARGUMENTS.lines().filter(|line| words.contains(&line.split_once(':').unwrap().0));
        let arguments = used.collect::<Vec<_>>().join(", ");
        text.push_str(&format!("  step_{number}: {{ arguments: {{ {arguments} }}, does: {step} }}\n"));
    }
    let weights: String = (0..steps.len()).map(|number| format!(", step_{number}: 3")).collect();
    text.push_str(&format!("mixes: {{ default: {{ make: 20{weights} }} }}\nstrategies:\n  base: {{ shape: {{ user.orders: reference }} }}\n"));
    text + strategies
}

/// Whether a step is derived, beside changes of what is copied.
fn is_derived(step: &str, strategies: &str) -> bool {
    let diagnostics = Diagnostics::new();
    let steps = [step, "{ update: user, set: { name: x } }", "{ update: tag, set: { name: x } }"];
    let scenario = read(&Source::new("test.yaml", scenario(&steps, strategies)), &diagnostics).unwrap();
    compile(&scenario, &Choice::default(), &diagnostics).unwrap().is_some()
}

/// Verifies all steps in one shape; returns how many of them are derived.
async fn verified_steps(bench: &Bench, id: String, shape: &str) -> usize {
    let (shape, more) = shape.split_once(" / ").unwrap_or((shape, "join: queries"));
    let shape = format!("shape: {{ {shape} }}, {more}");
    let strategies = format!("  queries: {{ {shape} }}\n  joined: {{ like: queries, join: lookup }}\n");
    let steps: Vec<&str> = STEPS.lines().filter(|step| is_derived(step, &strategies)).collect();
    let derived = steps.len();
    // Records that move, or whose owner no call names, cannot be followed where owners are deleted.
    let deletes_owner = |step: &&str| step.contains("delete: user");
    let reads = |step: &&str| ["{ get", "{ list", "{ count", "{ sum"].iter().any(|word| step.starts_with(word));
    let (deletes, others): (Vec<&str>, Vec<&str>) = steps.into_iter().partition(deletes_owner);
    let with_reads = || deletes.iter().copied().chain(others.iter().copied().filter(reads)).collect();
    let mut groups = vec![others.clone()];
    groups.extend((!deletes.is_empty()).then(with_reads));
    for steps in groups {
        let choice = Choice { seed: 1, all: true, ..Choice::default() };
        let plan = harness::plan(&scenario(&steps, &strategies), &choice);
        let verification = verified(bench, &plan, CALLS, &id).await;
        assert!(verification.passes(), "{shape}\n{}", report(&verification));
    }
    derived
}

#[tokio::test]
async fn every_step_gives_the_same_answers_in_every_shape() {
    let bench = &bench(1).await;
    // One word of the shapes to look at, such as `link`.
    let only = std::env::var("SHAPE").unwrap_or_default();
    let shapes = SHAPES.lines().enumerate().filter(|(_, shape)| shape.contains(&only));
    let checks = shapes.map(async |(number, shape)| verified_steps(bench, format!("m{number}"), shape).await);
    let derived: Vec<usize> = stream::iter(checks).buffered(PARALLEL).collect().await;
    let all: usize = derived.iter().sum();
    let refused = derived.len() * STEPS.lines().count() - all;
    assert!(!only.is_empty() || (all, refused) == (2647, 195), "{all} {refused}");
}
