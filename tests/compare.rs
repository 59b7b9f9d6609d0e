//! `docshape compare` and baselines through the real program: two runs on a real `mongod`, the second without an index.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

mod harness;

const SCENARIO: &str = r#"
format: 1
name: orders
title: "Is there an index?"
entities:
  order: { count: 2000, fields: { _id: index, customer: "index % 200" } }
operations:
  of_customer: { arguments: { customer: "uniform(0, 199)" }, returns: [order] }
strategies:
  plain:
    collections: { orders: { each: order, indexes: [{ customer: 1 }] } }
    operations:
      of_customer: { find: orders, filter: { customer: <customer> }, sort: { _id: 1 } }
mixes: { default: { of_customer: 1 } }
"#;

/// Six short rounds, and a short cost pass.
const SHORT: [&str; 9] = ["--preset", "smoke", "--rounds", "6", "--slices", "2", "--cache-gb", "0.25", "--out"];

/// docshape in a folder: exit code, standard output, standard error.
fn docshape(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docshape"));
    command.args(arguments).env("TMPDIR", folder).env_remove("MONGODB_URI").env("NO_COLOR", "1");
    let output = command.env("DOCSHAPE_MONGOD", harness::program()).current_dir(folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[track_caller]
fn ends(folder: &Path, arguments: &[&str], code: i32, words: &[&str]) -> String {
    let (ended, out, err) = docshape(folder, arguments);
    let all = out + &err;
    assert_eq!(ended, code, "{arguments:?}: {all}");
    words.iter().for_each(|word| assert!(all.contains(word), "{arguments:?} should say {word:?}: {all}"));
    all
}

/// A copy of the first run with one value changed.
fn changed(folder: &Path, pointer: &str, value: Value) {
    let mut run: Value = serde_json::from_slice(&fs::read(folder.join("a/run.json")).unwrap()).unwrap();
    *run.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
    fs::write(folder.join("c.json"), run.to_string()).unwrap();
}

#[test]
fn a_dropped_index_is_a_regression_and_what_cannot_be_compared_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let without = SCENARIO.replace(", indexes: [{ customer: 1 }]", "");
    assert_ne!(without, SCENARIO);
    fs::write(folder.join("orders.yaml"), SCENARIO).unwrap();
    fs::write(folder.join("without.yaml"), without).unwrap();
    let measured = |scenario: &str, out: &str, more: &[&str], code: i32, words: &[&str]| {
        let arguments = [&["run", scenario], &SHORT[..], &[out], more].concat();
        ends(folder, &arguments, code, words)
    };

    // What can be told before a server is started.
    measured("orders.yaml", "x", &["--baseline", "main"], 2, &["no baseline main of orders", "there is none yet"]);
    let one_round = ["run", "orders.yaml", "--preset", "smoke", "--save-baseline", "main"];
    ends(folder, &one_round, 2, &["a comparison takes 6 rounds, and this run would have 1"]);
    ends(folder, &["run", "orders.yaml", "--save-baseline", "../main"], 2, &["letters, digits"]);

    let saved = "results/orders/baselines/main.json";
    measured(
        "orders.yaml",
        "a",
        &["--calls", "120", "--save-baseline", "main"],
        0,
        &["baseline main was saved in", saved],
    );
    let slower = ["--baseline", "main", "--save-baseline", "main"];
    let words = ["REGRESSION", "plain of_customer", "baseline main was not saved", "Strategy plain differs"];
    measured("without.yaml", "b", &slower, 1, &words);
    let calls = |run: &str| {
        let run: Value = serde_json::from_slice(&fs::read(folder.join(run)).unwrap()).unwrap();
        run.pointer("/settings/calls").cloned()
    };
    assert_eq!((calls("b/run.json"), calls(saved)), (Some(json!(120)), Some(json!(120))), "calls are the baseline's");

    ends(folder, &["compare", "a", "b"], 1, &["REGRESSION: B is slower than A by more than 5 % in 2 of 2 numbers."]);
    ends(
        folder,
        &["compare", "b/run.json", "--baseline", "main", "--format", "markdown"],
        1,
        &["# Is there an index?", "## Worse"],
    );
    ends(folder, &["compare", "b", "a"], 0, &["No regression beyond 5 % found in 2 numbers: 2 faster."]);
    let itself = ends(folder, &["compare", "a", "--baseline", "main"], 0, &["1.00"]);
    assert!(!itself.contains("REGRESSION") && !itself.contains("differs"), "{itself}");
    ends(folder, &["compare", "a", "--save-baseline", "main"], 0, &["in the place of the one before"]);
    ends(folder, &["compare", "a", "b", "--save-baseline", "main"], 1, &["was not saved: this run is a regression"]);
    ends(folder, &["compare", "a", "--baseline", "mian"], 2, &["no baseline mian of orders", "there are main"]);

    // Refusals.
    ends(folder, &["compare", "a"], 2, &["B"]);
    ends(folder, &["compare", "a", "b", "--strategies", "other"], 2, &["--strategies other", "there are plain"]);
    changed(folder, "/settings/seed", json!(5));
    ends(
        folder,
        &["compare", "a", "c.json"],
        2,
        &["a and c.json cannot be compared: their data differ, by seeds 1 and 5"],
    );
    changed(folder, "/status", json!("interrupted"));
    ends(folder, &["compare", "a", "c.json"], 2, &["c.json cannot be compared: it was interrupted"]);
    changed(folder, "/scenario/name", json!("../../up"));
    ends(folder, &["compare", "c.json", "--save-baseline", "main"], 2, &["has no baselines"]);
    let unused = ["compare", "a", "--save-baseline", "main", "--tolerance", "3"];
    ends(folder, &unused, 2, &["there is nothing to compare"]);
    changed(folder, "/rounds", json!([]));
    ends(folder, &["compare", "a", "c.json"], 2, &["it has 0 rounds, and a comparison takes 6"]);
    let text = fs::read_to_string(folder.join("a/run.json")).unwrap();
    fs::write(folder.join("c.json"), &text[..text.len() / 2]).unwrap();
    ends(folder, &["compare", "a", "c.json"], 2, &["c.json is cut off"]);
    fs::write(folder.join("c.json"), "{\"a\": 1}").unwrap();
    ends(folder, &["compare", "c.json", "a"], 2, &["c.json is not a run of docshape"]);
    ends(folder, &["compare", "a", "nowhere"], 2, &["cannot read nowhere"]);
}
