//! Mistakes planted into what models derive, in all strategies alike: the model's answers show them.

#[path = "../planted/models.rs"]
mod mistakes;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use docshape::compile::{Choice, compile, derived};
use docshape::derive::entry;
use docshape::plan::Plan;
use docshape::results::verification::Verification;
use docshape::scenario::{Diagnostics, Scenario, Source, read};
use docshape::verify::VerifySettings;
use futures_util::stream::{self, StreamExt};
use mistakes::{Phases, TRANSLATIONS, Translation};

use crate::harness::{Bench, bench_on_disk, namespace};
use crate::verify::{report, verifier};

/// Verifications at the same time: most of the time is spent waiting for the journal.
const PARALLEL: usize = 4;
/// Tries with other seeds, for mistakes that only some interleavings show.
const TRIES: u64 = 10;

fn scenario(text: &str) -> Scenario {
    let (source, diagnostics) = (Source::new("test.yaml", text), Diagnostics::new());
    let scenario = read(&source, &diagnostics).filter(|_| !diagnostics.has_errors());
    scenario.unwrap_or_else(|| panic!("{}", diagnostics.render(&source, false)))
}

/// Returns the strategy with the changes in one operation, or in a collection of no operation's name.
fn changed(text: &str, mistake: &Translation, changes: &[(&str, &str)]) -> String {
    let operations = text.find("\n    operations:").unwrap();
    let name = format!("\n      {}:", mistake.operation);
    let start = text[operations..].find(&name).map_or_else(|| text.find(&name).unwrap(), |at| operations + at) + 1;
    let begins_another =
        |line: &str| line.starts_with("      ") && !line.starts_with("       ") || !line.starts_with("     ");
    let lines = text[start..].split_inclusive('\n').enumerate();
    let own: String = lines.take_while(|(at, line)| *at == 0 || !begins_another(line)).map(|(_, line)| line).collect();
    let wrong = changes.iter().fold(own.clone(), |made, (right, wrong)| {
        assert!(made.contains(right), "{}: not in {}: {right}", mistake.name, own);
        made.replace(right, wrong)
    });
    text.replacen(&own, &wrong, 1)
}

/// The model with its strategies written out, those of the mistake with it.
fn planted(mistake: &Translation) -> Scenario {
    let read = |folder: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(format!("{}.yaml", mistake.model));
        fs::read_to_string(path)
    };
    let text = read("examples").or_else(|_| read("tests/planted")).unwrap();
    let derived = derived(&scenario(&text), &Choice::default()).unwrap();
    let (head, _) = text.split_once("\nstrategies:").unwrap();
    let (start, weights) = head.rsplit_once("\n  verify:").unwrap();
    let weights = match mistake.phases {
        // All records of the example, so that many pairs are made at the same time.
        Phases::All(weights) => format!("{{ {weights} }}"),
        // Enough calls of the operation, whatever the others are.
        Phases::Sequential => {
            weights.replacen(&format!(" {}: ", mistake.operation), &format!(" {}: 5", mistake.operation), 1)
        }
    };
    let mut made = format!("{start}\n  verify: {weights}\nstrategies:\n");
    for (name, node) in &derived.strategies {
        let right = entry(name, node);
        let changes = mistake.changes.iter().find(|(strategy, _)| strategy == name);
        made.push_str(&changes.map_or(right.clone(), |(_, changes)| changed(&right, mistake, changes)));
    }
    // Audits are no part of the text.
    Scenario { audits: derived.scenario.audits, ..scenario(&made) }
}

fn plan(mistake: &Translation, scenario: &Scenario, strategies: &[&str], seed: u64) -> Arc<Plan> {
    let strategies = strategies.iter().map(|name| (*name).to_owned()).collect();
    let choice = Choice { mix: Some("verify".into()), strategies, seed, ..Choice::default() };
    let diagnostics = Diagnostics::new();
    let plan = compile(scenario, &choice, &diagnostics).unwrap();
    Arc::new(plan.unwrap_or_else(|| panic!("{}: {:#?}", mistake.name, diagnostics.iter().collect::<Vec<_>>())))
}

async fn verified(bench: &Bench, plan: &Arc<Plan>, phases: Phases, id: &str) -> Verification {
    let settings = VerifySettings {
        namespace: namespace(&plan.name, id),
        command: format!("docshape verify {}.yaml", plan.name),
        calls: 400,
        clients: 16,
        timeout: Duration::from_secs(30),
    };
    let target = bench.client(settings.connections()).await;
    let verifier = verifier(plan, settings, &target);
    match phases {
        Phases::Sequential => verifier.run_sequential().await.unwrap(),
        Phases::All(_) => verifier.run().await.unwrap(),
    }
}

/// What `verify` says of these strategies; the last of a few seeds where only some interleavings show a mistake.
async fn said(
    bench: &Bench,
    mistake: &Translation,
    scenario: &Scenario,
    strategies: &[&str],
    id: &str,
) -> (bool, String) {
    let tries = if mistake.phases == Phases::Sequential { 1 } else { TRIES };
    for seed in 1.. {
        let verification = verified(bench, &plan(mistake, scenario, strategies, seed), mistake.phases, id).await;
        if !verification.passes() || seed == tries {
            return (!verification.passes(), report(&verification));
        }
    }
    unreachable!()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mistakes_of_the_translator_are_found() {
    let bench = bench_on_disk(1).await;
    let only = std::env::var("MISTAKE").unwrap_or_default();
    let chosen = TRANSLATIONS.iter().enumerate().filter(|(_, mistake)| mistake.name.contains(&only));
    let bench = &bench;
    let checks = chosen.map(async |(number, mistake)| {
        let strategies: Vec<&str> = mistake.changes.iter().map(|(strategy, _)| *strategy).collect();
        (mistake, said(bench, mistake, &planted(mistake), &strategies, &format!("t{number}")).await)
    });
    let all: Vec<_> = stream::iter(checks).buffered(PARALLEL).collect().await;
    let missed = all.iter().filter(|(mistake, (is_found, text))| !is_found || !text.contains(mistake.shown_by));
    let missed: Vec<String> = missed.map(|(mistake, (_, text))| format!("## {}\n{text}", mistake.name)).collect();
    assert!(missed.is_empty(), "{} of {}\n{}", missed.len(), all.len(), missed.join("\n"));
}

/// How many of them the comparison of all strategies finds with the model, and how many without.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a count for the documentation"]
#[expect(clippy::print_stdout, reason = "it is what the test is for")]
async fn mistakes_without_the_model() {
    let bench = bench_on_disk(1).await;
    for (number, mistake) in TRANSLATIONS.iter().enumerate() {
        let with = planted(mistake);
        let mut without = derived(&with, &Choice::default()).unwrap().scenario;
        without.operations.iter_mut().for_each(|operation| operation.does.clear());
        let mut found = Vec::new();
        for scenario in [&with, &without] {
            // A mistake of three shapes is one of all shapes; `joined` and others of the file are like these.
            let strategies: Vec<&str> = match mistake.changes.len() {
                3 => mistake.changes.iter().map(|(strategy, _)| *strategy).collect(),
                _ => with.strategy_names().collect(),
            };
            found.push(said(&bench, mistake, scenario, &strategies, &format!("w{number}")).await.0);
        }
        println!("{}: {found:?}", mistake.name);
    }
}
