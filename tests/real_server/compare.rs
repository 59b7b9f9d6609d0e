//! `docshape compare` and saved runs through the real program: two runs on a real `mongod`, the second without an index.

use std::fs;
use std::path::Path;

use bson::rawdoc;
use docshape::server::client::MongoTarget;
use docshape::server::embedded::EmbeddedMongod;
use docshape::server::{ReplyKind, Target};
use serde_json::{Value, json};

use crate::harness;

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
  steady:
    collections: { orders: { each: order, indexes: [{ customer: 1, _id: 1 }] } }
    operations:
      of_customer: { find: orders, filter: { customer: <customer> }, sort: { _id: 1 } }
mixes: { default: { of_customer: 1 } }
"#;

/// Six short rounds. Only saturation: own costs of six calls vary too much, and short rounds at a rate are overloaded by chance.
const SHORT: [&str; 11] =
    ["--preset", "smoke", "--rounds", "6", "--slices", "2", "--cache-gb", "0.25", "--only", "saturation", "--out"];

/// docshape in a folder: exit code, standard output, standard error.
fn docshape(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = harness::docshape(arguments).env("TMPDIR", folder).current_dir(folder).output().unwrap();
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

/// Sets what the hypervisor took in all cells.
fn steal(part: &mut Value, share: f64) {
    match part {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| match name.as_str() {
            "steal" => *value = json!(share),
            _ => steal(value, share),
        }),
        Value::Array(all) => all.iter_mut().for_each(|value| steal(value, share)),
        _ => {}
    }
}

#[test]
fn a_dropped_index_is_a_regression() {
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

    // Errors before a server is started.
    measured(
        "orders.yaml",
        "x",
        &["--compare-with", "main"],
        2,
        &["no saved run `main` of orders", "none is saved yet"],
    );
    let one_round = ["run", "orders.yaml", "--preset", "smoke", "--save-run", "main"];
    ends(folder, &one_round, 2, &["a comparison needs 6 rounds, and this run would have 1"]);
    ends(folder, &["run", "orders.yaml", "--save-run", "../main"], 2, &["letters, digits"]);

    let saved = "results/orders/saved-runs/main.json";
    measured("orders.yaml", "a", &["--calls", "120", "--save-run", "main"], 0, &["saved as main in", saved]);
    // Beyond what a busy machine does to the reference.
    let slower = ["--compare-with", "main", "--save-run", "main", "--tolerance", "60"];
    let words = ["REGRESSION", "plain of_customer", "not saved as main", "The definition of strategy plain changed"];
    measured("without.yaml", "b", &slower, 1, &words);
    let calls = |run: &str| {
        let run: Value = serde_json::from_slice(&fs::read(folder.join(run)).unwrap()).unwrap();
        run.pointer("/settings/calls").cloned()
    };
    assert_eq!(
        (calls("b/run.json"), calls(saved)),
        (Some(json!(120)), Some(json!(120))),
        "calls are those of the saved run"
    );

    ends(
        folder,
        &["compare", "a", "b", "--tolerance", "60"],
        1,
        &["REGRESSION: B is slower than A, relative to steady, by more than 60 % in 2 of 2 numbers."],
    );
    ends(
        folder,
        &["compare", "b/run.json", "--compare-with", "main", "--tolerance", "60", "--format", "markdown"],
        1,
        &["# Is there an index?", "- **plain mix**: "],
    );
    let (ended, json, _) = docshape(folder, &["compare", "a", "b", "--tolerance", "60", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((ended, &json["tables"]["changes"][0]["verdict"]), (1, &json!("slower")));
    ends(
        folder,
        &["compare", "b", "a", "--tolerance", "60"],
        0,
        &["No regression beyond 60 % found in 2 numbers: 2 faster."],
    );
    let itself = ends(folder, &["compare", "a", "--compare-with", "main"], 0, &["1.00"]);
    assert!(!itself.contains("REGRESSION") && !itself.contains("What differs"), "{itself}");
    ends(folder, &["compare", "a", "--save-run", "main"], 0, &["replacing the previous one"]);
    ends(
        folder,
        &["compare", "a", "b", "--tolerance", "60", "--save-run", "main"],
        1,
        &["not saved as main: this run is a regression"],
    );
    ends(folder, &["compare", "a", "--compare-with", "mian"], 2, &["no saved run `mian` of orders", "saved are main"]);

    // The saved run decides what the user leaves open, and what he repeats; another value contradicts it.
    let other = ["--compare-with", "main", "--calls", "121"];
    measured("orders.yaml", "x", &other, 2, &["--calls 121 contradicts saved run main", "with --calls 120: omit it"]);
    let other = ["--compare-with", "main", "--clients", "9"];
    measured("orders.yaml", "x", &other, 2, &["--clients 9 contradicts saved run main"]);

    // A busy machine is neither a regression nor an all-clear.
    let mut run: Value = serde_json::from_slice(&fs::read(folder.join("b/run.json")).unwrap()).unwrap();
    steal(&mut run["parts"], 0.3);
    fs::write(folder.join("c.json"), run.to_string()).unwrap();
    let words = ["Undecided: neither a regression nor its absence", "in B the hypervisor took", "--ab"];
    ends(folder, &["compare", "a", "c.json"], 4, &words);
    ends(folder, &["compare", "c.json", "a"], 4, &["in A the hypervisor took"]);
    let words = ["not saved as main: the comparison is undecided"];
    ends(folder, &["compare", "a", "c.json", "--save-run", "main"], 4, &words);

    // Runs that cannot be compared.
    ends(folder, &["compare", "a"], 2, &["B"]);
    ends(
        folder,
        &["compare", "a", "b", "--strategies", "other"],
        2,
        &["unknown strategy `other`", "all runs have plain, steady"],
    );
    measured("orders.yaml", "d", &["--calls", "120"], 0, &[]);
    let sides = docshape(folder, &["compare", "a", "d", "--", "b"]).1.replace('\n', " ");
    for words in ["A2: d, MongoDB", "over runs, 2 of A and 1 of B", "relative to steady"] {
        assert!(sides.contains(words), "{words}: {sides}");
    }
    ends(folder, &["compare", "a", "a", "--", "b"], 2, &["a is the same run as a", "name each run once"]);
    ends(folder, &["compare", "a", "b", "b"], 2, &["need `--` between the sides"]);
    ends(folder, &["compare", "a", "b", "--strategies", "plain"], 2, &["only one safe strategy in common"]);
    changed(folder, "/settings/seed", json!(5));
    // Other data are what another session has. How sure that is depends on the published spread.
    let sessions = docshape(folder, &["compare", "a", "c.json"]);
    assert!(sessions.0 != 2 && sessions.1.contains("as two sessions have"), "{sessions:?}");
    changed(folder, "/status", json!("interrupted"));
    ends(folder, &["compare", "a", "c.json"], 2, &["c.json cannot be compared: it was interrupted"]);
    changed(folder, "/scenario/name", json!("../../up"));
    ends(folder, &["compare", "c.json", "--save-run", "main"], 2, &["cannot be saved"]);
    let unused = ["compare", "a", "--save-run", "main", "--tolerance", "3"];
    ends(folder, &unused, 2, &["need two runs"]);
    changed(folder, "/parts", json!({}));
    ends(folder, &["compare", "a", "c.json"], 2, &["it has 0 rounds, and a comparison needs 6"]);
    let text = fs::read_to_string(folder.join("a/run.json")).unwrap();
    fs::write(folder.join("c.json"), &text[..text.len() / 2]).unwrap();
    ends(folder, &["compare", "a", "c.json"], 2, &["c.json is cut off"]);
    fs::write(folder.join("c.json"), "{\"a\": 1}").unwrap();
    ends(folder, &["compare", "c.json", "a"], 2, &["c.json is not a run of docshape"]);
    ends(folder, &["compare", "a", "nowhere"], 2, &["cannot read nowhere"]);
}

#[tokio::test]
async fn two_servers_take_turns() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    fs::write(folder.join("orders.yaml"), SCENARIO).unwrap();
    let start = || async { EmbeddedMongod::start(&harness::options(folder)).await.unwrap() };
    let (a, b) = (start().await, start().await);
    let uris = [a.uri(), b.uri()];
    let ab = |more: &[&str]| {
        let short = ["run", "orders.yaml", "--preset", "smoke", "--only", "saturation", "--ab", &uris[0], &uris[1]];
        docshape(folder, &[&short[..], more].concat())
    };

    let (code, _, err) = ab(&["--out", "one"]);
    assert!(code == 2 && err.contains("--ab needs 6 rounds, and this run would have 1"), "{err}");
    let (code, _, err) = ab(&["--resume", "one"]);
    assert!(code == 2 && err.contains("--resume"), "{err}");

    let (code, out, err) = ab(&["--rounds", "6", "--calls", "120", "--out", "out"]);
    // Chance may find a difference between two equal servers, and a disturbance of such short rounds leaves it undecided.
    assert!([0, 1, 4].contains(&code), "{code}: {out}{err}");
    for words in ["A: out/a, MongoDB", "B: out/b", "A and B took turns"] {
        assert!(out.contains(words), "{words}: {out}");
    }
    let lines: Vec<&str> = err.lines().filter(|line| line.contains("saturation")).collect();
    assert!(lines.iter().any(|line| line.starts_with('A')) && lines.iter().any(|line| line.starts_with('B')), "{err}");
    let [one, other] = ["a", "b"].map(|name| -> Value {
        serde_json::from_slice(&fs::read(folder.join("out").join(name).join("run.json")).unwrap()).unwrap()
    });
    assert_eq!((&one["turns_with"], &other["turns_with"]), (&other["id"], &one["id"]));
    assert_eq!((&one["settings"], &one["status"]), (&other["settings"], &json!("complete")));
    for uri in &uris {
        let target = MongoTarget::connect(uri, 1).await.unwrap();
        let names = rawdoc! { "listDatabases": 1, "nameOnly": true };
        let reply = target.run("admin", names, ReplyKind::Single).await.unwrap();
        let names = format!("{reply:?}");
        assert!(!names.contains("docshape_"), "{names}");
    }

    // Without B there is nothing to compare, and nothing is left.
    b.stop().unwrap();
    let (code, _, err) = ab(&["--rounds", "6", "--calls", "120", "--out", "lost"]);
    assert!(code > 1 && !folder.join("lost").exists(), "{code}: {err}");
}
