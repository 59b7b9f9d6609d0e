//! Mistakes that engineers make, planted into scenarios that pass: each is found by the command that should find it.
//!
//! After a change of a message run the test with `INSTA_UPDATE=always` and read the difference of `tests/planted_snapshots`.

#[path = "../planted/mistakes.rs"]
mod mistakes;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use docshape::compile::{Choice, compile};
use docshape::scenario::{Diagnostics, Source, read};
use docshape::verify::VerifySettings;
use futures_util::stream::{self, StreamExt};
use mistakes::{MISTAKES, Mistake, Way};

use crate::harness::{self, Bench, bench_on_disk, namespace, plan};
use crate::verify::{report, verifier};

/// Calls of a sequential check, as many as a run makes before it measures.
const CALLS: u64 = 200;
/// Checks at the same time: most of the time is spent waiting for the journal.
const PARALLEL: usize = 4;
/// Of the mistakes that need a server, the gate plants one in eight.
const SAMPLE: usize = 8;
/// Tries with other seeds, for mistakes that only some interleavings show.
const TRIES: &str = "10";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The scenario's file.
fn path(scenario: &str) -> PathBuf {
    match scenario {
        "chat" => root().join("tests/planted/chat.yaml"),
        name => root().join("scenarios").join(format!("{name}.yaml")),
    }
}

/// Returns where the text of a strategy begins and ends; an empty name is the whole file.
fn part<'t>(text: &'t str, strategy: &str) -> &'t str {
    if strategy.is_empty() {
        return text;
    }
    let start = text.find(&format!("\n  {strategy}:\n")).unwrap_or_else(|| panic!("no strategy {strategy}")) + 1;
    let begins_another = |line: &str| line.len() > 3 && !line.starts_with("   ") && !line.trim_start().starts_with('#');
    let mut end = start;
    for (number, line) in text[start..].split_inclusive('\n').enumerate() {
        if number > 0 && begins_another(line) {
            break;
        }
        end += line.len();
    }
    &text[start..end]
}

/// Returns the scenario with the mistake.
fn planted(mistake: &Mistake) -> String {
    let mut text = fs::read_to_string(path(mistake.scenario)).unwrap();
    for (right, wrong) in mistake.changes {
        let own = part(&text, mistake.strategy);
        let times = own.matches(right).count();
        assert_eq!(times, 1, "{}: {times} times in {} {}: {right}", mistake.name, mistake.scenario, mistake.strategy);
        text = text.replacen(own, &own.replacen(right, wrong, 1), 1);
    }
    text
}

/// What a command said.
#[derive(Debug)]
struct Said {
    code: i32,
    text: String,
}

impl Said {
    fn of(output: &Output) -> Said {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let text = text(&output.stdout) + "\n\n" + &text(&output.stderr);
        Said { code: output.status.code().unwrap(), text }
    }
}

/// Runs the program on a scenario that lies in the current folder under its name.
fn docshape(mistake: &Mistake, text: &str, arguments: &[&str]) -> Said {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("{}.yaml", mistake.scenario);
    fs::write(folder.path().join(&file), text).unwrap();
    let arguments = [&[arguments[0], file.as_str()], &arguments[1..]].concat();
    Said::of(&harness::docshape(&arguments).current_dir(folder.path()).output().unwrap())
}

/// Compares the strategies with sequential calls, as `verify` and `run` do first.
async fn sequential(bench: &Bench, mistake: &Mistake, text: &str, number: usize) -> Said {
    let mix = text.contains("\n  verify:").then(|| "verify".to_owned());
    let choice =
        Choice { mix, strategies: mistake.strategies().split(',').map(str::to_owned).collect(), ..Choice::default() };
    let plan = plan(text, &choice);
    let id = format!("p{number}");
    let prefix = format!("docshape_{id}_");
    let settings = VerifySettings {
        namespace: namespace(&plan.name, &id),
        command: format!("docshape verify {}.yaml", mistake.scenario),
        calls: CALLS,
        clients: 1,
        timeout: Duration::from_secs(30),
    };
    let target = bench.client(settings.connections()).await;
    match verifier(&plan, settings, &target).run_sequential().await {
        Ok(verification) => {
            let text = report(&verification);
            Said { code: i32::from(!verification.passes()), text: text.replace(&prefix, "docshape_") }
        }
        Err(error) => Said { code: 2, text: error.to_string().replace(&prefix, "docshape_") },
    }
}

/// Runs the command that should find the mistake.
async fn run(bench: &Bench, mistake: &Mistake, number: usize) -> Said {
    let text = planted(mistake);
    let uri = bench.uri("");
    let prefix = format!("p{number}_");
    let server = ["--uri", uri.as_str(), "--yes", "--db-prefix", prefix.as_str()];
    let strategies = mistake.strategies();
    let verify = ["verify", "--full", "--strategies", &strategies, "--times"];
    let on_server = |arguments: &[&str]| {
        let arguments: Vec<String> = arguments.iter().chain(&server).map(|argument| (*argument).to_owned()).collect();
        let mistake = *mistake;
        let text = text.clone();
        async move {
            let run = move || docshape(&mistake, &text, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
            tokio::task::spawn_blocking(run).await.unwrap()
        }
    };
    match mistake.way {
        Way::Check => docshape(mistake, &text, &["check"]),
        Way::Sequential | Way::Fatal => sequential(bench, mistake, &text, number).await,
        Way::Concurrent => on_server(&[&verify[..], &[TRIES]].concat()).await,
        Way::Mix(mix) => on_server(&[&verify[..], &[TRIES, "--mix", mix]].concat()).await,
        Way::Verify => on_server(&[&verify[..], &["1", "--calls", "150"]].concat()).await,
        Way::Show => on_server(&["show", "--strategies", mistake.strategy]).await,
        Way::Run => on_server(&["run", "--strategies", &strategies, "--preset", "smoke"]).await,
    }
}

/// Cuts out the row that an audit shows, because the server may return rows in any order.
fn without_example(block: &str) -> String {
    block.lines().map(|line| line.split(", such as ").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Cuts out what differs between runs of concurrent calls: numbers, ids and rows.
fn without_numbers(block: &str) -> String {
    let mut text = String::new();
    // Which strategy is the example depends on whether the lines of all happen to be equal.
    let is_stable = |line: &&str| !line.trim_start().starts_with("for example in ");
    let mut was_labelled = false;
    for line in without_example(block).lines().filter(is_stable) {
        let label = line.strip_prefix("    ").and_then(|line| line.split_once("  ")).map(|(label, _)| label);
        // A long line goes on in the next one.
        let goes_on = was_labelled && label.is_none() && line.starts_with("    ");
        was_labelled = label.is_some() || goes_on;
        match label {
            Some(label) => writeln!(text, "    {label}  ...").unwrap(),
            None if goes_on => {}
            None => {
                let mut characters = line.chars().peekable();
                while let Some(next) = characters.next() {
                    if next.is_ascii_digit() {
                        while characters.next_if(|next| next.is_ascii_digit() || *next == ',').is_some() {}
                        text.push('N');
                    } else {
                        text.push(next);
                    }
                }
                text.push('\n');
            }
        }
    }
    text.trim_end().to_owned()
}

/// What is kept of a message: the findings of sequential calls as they are, those of concurrent calls without numbers.
fn message(mistake: &Mistake, said: &Said) -> String {
    let paragraphs = || said.text.split("\n\n").map(str::trim_end);
    let found = || paragraphs().find(|paragraph| paragraph.contains(mistake.says)).unwrap_or_default().trim();
    match mistake.way {
        Way::Check | Way::Fatal => said.text.trim().to_owned(),
        Way::Sequential => {
            let findings = paragraphs().filter(|paragraph| paragraph.contains(", sequential: "));
            let findings = findings.map(|one| without_example(one.trim_start_matches("Findings\n")));
            findings.collect::<Vec<_>>().join("\n\n")
        }
        Way::Verify | Way::Show | Way::Run => found().to_owned(),
        Way::Concurrent => {
            let found = without_numbers(found().trim_start_matches("Findings\n")).replace(" (N times)", "");
            // Which pair fails first, and how, is chance.
            let is_pair = found.lines().next().is_some_and(|title| title.contains(", pairs: "));
            if is_pair { found.lines().next().unwrap_or_default().to_owned() } else { found }
        }
        // Whether the last calls leave an anomaly, or only snapshots see some, is chance.
        Way::Mix(_) => mistake.says.to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mistakes_are_found_with_a_message() {
    find(|number, mistake| match mistake.way {
        Way::Check => true,
        Way::Sequential | Way::Fatal | Way::Concurrent | Way::Mix(_) | Way::Verify | Way::Show | Way::Run => {
            number % SAMPLE == 0
        }
    })
    .await;
}

/// All of them, or those whose names contain `MISTAKE`, if that is set.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes; see CONTRIBUTING.md"]
async fn all_mistakes_are_found() {
    let only = std::env::var("MISTAKE").unwrap_or_default();
    find(|_, mistake| mistake.name.contains(&only)).await;
}

/// Plants the chosen mistakes, each on data of its own, on one server.
async fn find(is_chosen: impl Fn(usize, &Mistake) -> bool) {
    let bench = bench_on_disk(1).await;
    let chosen = MISTAKES.iter().enumerate().filter(|(number, mistake)| is_chosen(*number, mistake));
    let checks = chosen.map(async |(number, mistake)| (mistake, run(&bench, mistake, number).await));
    let all: Vec<(&Mistake, Said)> = stream::iter(checks).buffered(PARALLEL).collect().await;
    let mut wrong = String::new();
    for (mistake, said) in all {
        let is_found = said.text.contains(mistake.says) && said.code == mistake.code();
        let name = mistake.name;
        if !is_found {
            writeln!(wrong, "## {name}: not found: {}, {}\n{}", mistake.says, said.code, said.text).unwrap();
        }
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => "../planted_snapshots" }, {
            insta::assert_snapshot!(name, message(mistake, &said));
        });
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn at_least_60_mistakes_have_names_of_their_own() {
    let names: BTreeSet<&str> = MISTAKES.iter().map(|mistake| mistake.name).collect();
    assert_eq!(names.len(), MISTAKES.len());
    assert!(names.len() >= 60, "{}", names.len());
}

#[test]
fn snapshots_have_a_mistake() {
    for file in fs::read_dir(root().join("tests/planted_snapshots")).unwrap().map(|entry| entry.unwrap().path()) {
        let stem = file.file_stem().unwrap().to_str().unwrap();
        assert!(MISTAKES.iter().any(|mistake| mistake.name == stem), "{stem}.snap has no mistake");
    }
}

/// All mistakes must be texts of today's scenarios, and only those that `check` finds may have errors.
#[test]
fn mistakes_are_plantable() {
    for mistake in MISTAKES {
        let text = planted(mistake);
        let source = Source::new("planted.yaml", text);
        let diagnostics = Diagnostics::new();
        let plan = read(&source, &diagnostics).map(|read| compile(&read, &Choice::default(), &diagnostics));
        let is_broken = plan.is_none() || diagnostics.has_errors();
        assert!(!is_broken || mistake.way == Way::Check, "{}: {}", mistake.name, diagnostics.render(&source, false));
    }
}

/// The strategies of a scenario that are not marked `unsafe`, the baseline first.
fn safe_strategies(scenario: &str) -> String {
    let source = Source::new("catalogue.yaml", fs::read_to_string(path(scenario)).unwrap());
    let mut safe = read(&source, &Diagnostics::new()).unwrap().strategies;
    let is_set = |flag: &Option<docshape::scenario::Spanned<bool>>| flag.as_ref().is_some_and(|flag| flag.value);
    safe.retain(|strategy| !strategy.is_unsafe);
    safe.sort_by_key(|strategy| !is_set(&strategy.is_default));
    safe.iter().map(|strategy| strategy.name.value.as_str()).collect::<Vec<_>>().join(",")
}

#[test]
#[ignore = "takes minutes; see CONTRIBUTING.md"]
#[expect(clippy::print_stdout, reason = "progress of a test of minutes")]
fn no_safe_strategy_fails_with_any_of_20_seeds() {
    let mut wrong = String::new();
    let scenarios = fs::read_dir(root().join("scenarios")).unwrap().map(|entry| entry.unwrap().path());
    let names = scenarios.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
    for scenario in names.chain(["chat".to_owned()]) {
        let start = std::time::Instant::now();
        let mut command = harness::docshape(&["verify", "--times", "20", "--strategies", &safe_strategies(&scenario)]);
        let said = Said::of(&command.arg(path(&scenario)).output().unwrap());
        println!("{scenario}: exit code {} after {} s", said.code, start.elapsed().as_secs());
        if said.code != 0 {
            writeln!(wrong, "## {scenario}\n{}", said.text).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
