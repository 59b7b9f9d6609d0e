//! `docshape explain`, on kept results.

use std::path::Path;

use super::{docshape, run};

const TREES: &str = "results/trees/default/mongodb-6.0.5-2-cores";

#[test]
fn the_largest_difference_of_the_answer_is_explained() {
    let ended = run(&mut docshape(&["explain", TREES]));
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    assert!(ended.out.contains("insert_leaf") && ended.out.contains("nested_sets_txn"), "{}", ended.out);
    assert!(ended.out.contains("oplog bytes") && ended.out.contains("updateMany nodes"), "{}", ended.out);
    let widest = ended.out.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{}", ended.out);
}

#[test]
fn the_slower_strategy_comes_first_in_any_order() {
    let of = |pair: &str| run(&mut docshape(&["explain", TREES, "ancestors", "--strategies", pair])).out;
    let text = of("ancestors,parent_lookup");
    assert_eq!(text, of("parent_lookup,ancestors"));
    assert!(text.contains("looks up one level after another in the server ($graphLookup)"), "{text}");
    let markdown = run(&mut docshape(&["explain", TREES, "ancestors", "--format", "markdown"])).out;
    assert!(markdown.contains("| keys examined |"), "{markdown}");
    let json = run(&mut docshape(&["explain", TREES, "ancestors", "--format", "json"])).out;
    assert!(json.contains("\"slower\": \"nested_sets_txn\"") && json.contains("\"plans\": ["), "{json}");
}

#[test]
fn wrong_names_are_named_with_what_was_meant() {
    let fails = |arguments: &[&str], message: &str| {
        let ended = run(&mut docshape(&[&["explain", TREES], arguments].concat()));
        assert_eq!((ended.code, ended.out.as_str()), (2, ""));
        assert!(ended.err.contains(message), "{}", ended.err);
    };
    fails(&["ancestor"], "unknown operation `ancestor`: did you mean `ancestors`?");
    fails(
        &["--strategies", "parent_lokup,ancestors"],
        "unknown strategy `parent_lokup`: did you mean `parent_lookup`?",
    );
    fails(&["--strategies", "ancestors"], "--strategies needs two different strategies");
    let missing = run(&mut docshape(&["explain", "results/none"]));
    assert_eq!(missing.code, 2, "{}", missing.err);
    assert!(!Path::new("results/none").exists());
}
