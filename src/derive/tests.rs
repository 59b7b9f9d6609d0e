//! Which logical step every word can do, and what is derived from the examples.

use std::fmt::Write as _;

use crate::compile::{self, Choice, compile};
use crate::scenario::{Diagnostics, Scenario, Source, read};

/// Two relations below each other, a field with a record, and a list of records.
const ENTITIES: &str = include_str!("../../tests/models/entities.yaml");

/// The arguments of every step.
const ARGUMENTS: &str = include_str!("../../tests/models/arguments.txt");

/// The shapes, each relation with its words.
const SHAPES: &str = include_str!("../../tests/models/shapes.txt");

/// Every rule, and steps that some words refuse.
const STEPS: &str = include_str!("../../tests/models/steps.txt");

/// The examples that are models.
const EXAMPLES: [&str; 3] = [
    include_str!("../../examples/model.yaml"),
    include_str!("../../examples/model-moves.yaml"),
    include_str!("../../examples/model-split.yaml"),
];

fn scenario(text: &str) -> (Scenario, Diagnostics) {
    let diagnostics = Diagnostics::new();
    let read = read(&Source::new("test.yaml", text), &diagnostics);
    (read.unwrap(), diagnostics)
}

/// What an operation becomes: `ok`, `transaction` or the beginning of its refusal.
fn outcome(step: &str, shape: &str) -> String {
    let (shape, more) = shape.split_once(" / ").unwrap_or((shape, "join: queries"));
    // Only copies that calls change have versions.
    let changes = if more.contains("versions") {
        "  rename: { arguments: { user: uniform(user) }, does: { update: user, set: { name: x } } }\n  \
         retag: { arguments: { tag: uniform(tag) }, does: { update: tag, set: { name: x } } }\n"
    } else {
        ""
    };
    let text = format!(
        "{ENTITIES}  act: {{ arguments: {{ {} }}, does: {step} }}\n{changes}mixes: {{ default: {{ make: 1, act: 1 }} }}\n\
         strategies: {{ one: {{ shape: {{ {shape} }}, {more} }} }}\n",
        ARGUMENTS.trim().replace('\n', ", ")
    );
    let (scenario, diagnostics) = scenario(&text);
    let plan = compile(&scenario, &Choice::default(), &diagnostics).unwrap();
    let messages: Vec<String> = diagnostics.iter().map(|problem| problem.message).collect();
    if plan.is_none() {
        return format!("refused: {}", messages.join("; "));
    }
    assert!(!diagnostics.has_errors(), "{step}: {messages:?}");
    let derived = compile::derived(&scenario, &Choice::default()).unwrap();
    let operation = derived.strategies[0].1.get("operations").unwrap().get("act").unwrap();
    let text = operation.on_one_line(str::to_owned);
    if text.contains("transaction:") { "transaction".to_owned() } else { "ok".to_owned() }
}

#[test]
fn every_step_is_derived_or_refused_with_words() {
    let mut table = String::new();
    for step in STEPS.lines() {
        let _ = writeln!(table, "{step}");
        for shape in SHAPES.lines() {
            let _ = writeln!(table, "    {shape:66} {}", outcome(step, shape));
        }
    }
    insta::assert_snapshot!(table);
}

/// What is read of the other records of pairs with copies is in the pairs, if these have all of it.
#[test]
fn pairs_with_copies_answer_alone() {
    let entities = ENTITIES.replacen("name: words(1) }", "name: words(1), size: index }", 1);
    for does in [
        "{ list: user.marks, fields: [name, size] }",
        "{ list: user.marks }",
        "{ list: user.marks, where: { size: 1 }, sort: { name: 1, _id: 1 }, limit: 1, fields: [_id] }",
        "{ list: user.marks, sort: { size: 1, _id: 1 }, fields: [name] }",
        "{ get: user, fields: [_id], with: { marks: [size] } }",
        "{ count: user.marks, where: { size: { $gt: 2 } } }",
        "{ sum: user.marks.size, where: { name: x } }",
    ] {
        for (word, is_alone) in [("link(*)", true), ("link(name)", false)] {
            let text = format!(
                "{entities}  act: {{ arguments: {{ user: uniform(user) }}, does: {does} }}\n\
                 mixes: {{ default: {{ make: 1, act: 1 }} }}\n\
                 strategies: {{ one: {{ shape: {{ user.marks: {word} }}, join: lookup }} }}\n"
            );
            let (scenario, diagnostics) = scenario(&text);
            assert!(compile(&scenario, &Choice::default(), &diagnostics).unwrap().is_some(), "{does}");
            let derived = compile::derived(&scenario, &Choice::default()).unwrap();
            let operation = derived.strategies[0].1.get("operations").unwrap().get("act").unwrap();
            let text = operation.on_one_line(str::to_owned);
            assert!(text.contains("user_marks"), "{text}");
            assert_eq!(!text.contains("tags"), is_alone, "{text}");
        }
    }
}

#[test]
fn examples_are_derived_as_they_were() {
    for text in EXAMPLES {
        let (scenario, _) = scenario(text);
        let derived = compile::derived(&scenario, &Choice::default()).unwrap();
        for (name, node) in &derived.strategies {
            let file = format!("{}.{name}", scenario.name.value);
            insta::assert_snapshot!(file, crate::derive::text::entry(name, node));
        }
    }
}

/// What a shape has twice is audited, and only in the strategies that have it.
#[test]
fn copies_counters_and_both_ends_are_audited() {
    let [moves, split] = [EXAMPLES[1], EXAMPLES[2]].map(|text| {
        let (scenario, _) = scenario(text);
        compile::derived(&scenario, &Choice::default()).unwrap().scenario
    });
    let of = |derived: &Scenario, strategy: &str| {
        let applied = derived.audits.iter().filter(|audit| audit.steps(&[strategy]).is_some());
        applied.map(|audit| audit.name.value.clone()).collect::<Vec<_>>()
    };
    assert_eq!((of(&split, "split"), of(&split, "whole")), (vec!["product_details_missing".to_owned()], vec![]));
    let steps = |strategy: &str| of(&moves, strategy);
    assert_eq!(
        steps("two_way"),
        [
            "person_tasks_differ", "task_person_copies_differ", "person_tasks_copies_differ",
            "note_author_copies_differ", "note_tags_copies_differ", "person_tasks_count_differs",
            "person_tasks_points_differs", "note_tags_differ",
        ]
    );
    assert_eq!(steps("referenced"), [""; 0]);
    assert_eq!(steps("listed"), ["person_tasks_differ"]);
}

#[test]
fn an_entry_by_hand_takes_the_place_of_the_derived_one() {
    let (scenario, _) = scenario(include_str!("../../examples/model.yaml"));
    let derived = compile::derived(&scenario, &Choice::default()).unwrap().scenario;
    let steps = |name: &str| {
        let strategies = compile::inherit(&derived.strategies, &Diagnostics::new());
        let strategy = strategies.into_iter().find(|one| one.name.value == name).unwrap();
        let found = strategy.operations.into_iter().filter(|(name, _)| name.value == "pieces");
        found.map(|(_, steps)| format!("{steps:?}")).collect::<Vec<_>>()
    };
    assert_eq!((steps("by_hand").len(), steps("lines_inside").len()), (1, 1));
    assert!(steps("by_hand")[0].contains("lines.quantity"));
    assert_ne!(steps("by_hand"), steps("lines_inside"));
}

#[test]
fn an_operation_by_hand_keeps_the_indexes_of_its_logical_steps() {
    let text = include_str!("../../examples/model.yaml");
    let by_hand = "  own: { shape: { order.lines: embed }, operations: { newest: { find: orders, filter: { user: <user> } } } }\n";
    let (scenario, _) = scenario(&format!("{text}{by_hand}"));
    let derived = compile::derived(&scenario, &Choice::default()).unwrap();
    let node = |name: &str| &derived.strategies.iter().find(|(strategy, _)| strategy == name).unwrap().1;
    let collections = |name: &str| node(name).get("collections").unwrap().on_one_line(str::to_owned);
    assert_eq!(collections("own"), collections("lines_inside"));
    assert!(node("own").get("operations").unwrap().get("newest").is_none());
}

#[test]
fn a_list_may_do_without_an_index() {
    let derived = |list: &str, shape: &str| {
        let text = format!(
            "{ENTITIES}  act: {{ arguments: {{ user: uniform(user) }}, does: {{ {list}, where: {{ state: open }}, sort: {{ state: 1, _id: 1 }} }} }}\n\
             mixes: {{ default: {{ make: 1, act: 1 }} }}\nstrategies: {{ one: {{ shape: {{ {shape} }} }} }}\n"
        );
        let derived = compile::derived(&scenario(&text).0, &Choice::default()).unwrap();
        derived.strategies[0].1.get("collections").unwrap().on_one_line(str::to_owned)
    };
    let collections = |list: &str| derived(list, "");
    assert!(derived("list: order", "user.orders: embed").contains("orders.state: 1"));
    assert!(!derived("list: order, index: false", "user.orders: embed").contains("state: 1"));
    assert!(collections("list: order").contains("state: 1"));
    let without = collections("list: order, index: false");
    assert!(!without.contains("state: 1"), "{without}");
    let relation_alone = collections("list: user.orders, index: false");
    assert!(!relation_alone.contains("state: 1") && relation_alone.contains("{ user: 1 }"), "{relation_alone}");
}

/// The text of a derived strategy, in the place of its shape, is the same strategy.
#[test]
fn the_text_of_a_derived_strategy_compiles_to_the_same_plan() {
    for text in EXAMPLES {
        let (model, _) = scenario(text);
        let derived = compile::derived(&model, &Choice::default()).unwrap();
        let (before, _) = text.split_once("\nstrategies:\n").unwrap();
        let written: String = derived.strategies.iter().map(|(name, node)| super::text::entry(name, node)).collect();
        let (written, problems) = scenario(&format!("{before}\nstrategies:\n{written}"));
        let strategies: Vec<String> = derived.strategies.iter().map(|(name, _)| name.clone()).collect();
        let choice = Choice { strategies, ..Choice::default() };
        let plans = [&model, &written].map(|scenario| compile(scenario, &choice, &problems).unwrap());
        assert!(problems.is_empty(), "{:?}", problems.iter().collect::<Vec<_>>());
        let [one, two] = plans.map(Option::unwrap);
        for (one, two) in one.arms.iter().zip(two.arms.iter()) {
            let whole = |arm: &crate::plan::Arm| {
                let programs = arm.operations.iter().chain(&arm.state);
                let programs: Vec<String> = programs.map(|program| format!("{:?}", program.steps)).collect();
                format!("{} {} {:?} {programs:#?}", arm.name, arm.about, arm.collections)
            };
            // Steps know the line that they are written in.
            let plain = |text: String| {
                let is_place = |line: &&str| !line.contains("test.yaml:");
                text.lines().filter(is_place).collect::<Vec<_>>().join("\n")
            };
            let (one, two) = (plain(whole(one)), plain(whole(two)));
            assert_eq!(one.lines().zip(two.lines()).find(|(one, two)| one != two), None);
            assert_eq!(one.len(), two.len());
        }
    }
}

#[test]
fn a_model_of_too_many_relations_is_refused() {
    let entity = |n: usize| format!("  e{n}: {{ of: root, as: l{n}, count: 1, fields: {{ _id: oid() }} }}\n");
    let entities: String = (0..200).map(entity).collect();
    let text = format!(
        "format: 1\nname: test\ntitle: Test\nentities:\n  root: {{ count: 2, fields: {{ _id: index }} }}\n{entities}\
         operations: {{ act: {{ arguments: {{ root: uniform(root) }}, does: {{ get: root }} }} }}\n\
         mixes: {{ default: {{ act: 1 }} }}\nstrategies: {{ one: {{ shape: {{ root.l1: embed }} }} }}\n"
    );
    let (scenario, diagnostics) = scenario(&text);
    assert!(compile(&scenario, &Choice::default(), &diagnostics).unwrap().is_none());
    let messages: Vec<String> = diagnostics.iter().map(|problem| problem.message).collect();
    assert_eq!(messages, ["200 relations, and a model may have 100"]);
}

/// `check` looks at all mixes, of which the second finds the same again.
#[test]
fn what_follows_from_a_refusal_is_no_problem_in_any_mix() {
    let text = include_str!("../../tests/broken_plan/model_unknown_path.yaml");
    let (scenario, diagnostics) = scenario(text);
    for _ in 0..2 {
        assert!(compile(&scenario, &Choice::default(), &diagnostics).unwrap().is_none());
    }
    let messages: Vec<String> = diagnostics.iter().map(|problem| problem.message).collect();
    assert_eq!(messages, ["`post` has no relation `coments`"]);
}

/// What only costs writes is named with its place, and what some read needs is not.
#[test]
fn words_that_no_operation_reads_are_named() {
    const MODEL: &str = "format: 1
name: test
title: Test
entities:
  mark: { count: 2, fields: { _id: index, name: words(1) } }
  user: { count: 2, fields: { _id: index, name: words(1), city: words(1), born: index, marks: { set: \"sample(mark, 1)\" } } }
  order: { of: user, as: orders, count: 2, fields: { _id: oid(), cents: index, at: clock() }, sort: { at: 1, _id: 1 }, arrives_sorted: true }
operations:
  place: { arguments: { user: uniform(user), order: new(order) }, does: { create: order, in: user } }
  READ
mixes: { default: { place: 1 } }
strategies:
  one: { STRATEGY }
";
    let warnings = |read: &str, strategy: &str| {
        let does =
            format!("read: {{ arguments: {{ user: uniform(user), order: uniform(order) }}, does: {{ {read} }} }}");
        let (scenario, diagnostics) = scenario(&MODEL.replace("READ", &does).replace("STRATEGY", strategy));
        assert!(compile(&scenario, &Choice::default(), &diagnostics).unwrap().is_some(), "{read} {strategy}");
        let messages = diagnostics.iter().map(|problem| problem.message);
        messages.filter(|message| !message.starts_with("nothing uses the argument")).collect::<Vec<_>>()
    };
    for (shape, words, read) in [
        ("[reference, counted]", "counted", "count: user.orders"),
        ("[list, counted]", "counted", "count: user.orders"),
        ("[reference, sum(cents)]", "sum(cents)", "sum: user.orders.cents"),
        ("[reference, newest(3)]", "newest(3)", "list: user.orders, reverse: true, limit: 3"),
        ("reference(name)", "reference(name)", "get: order, with: { user: [name] }"),
        ("list(cents)", "list(cents)", "list: user.orders, unordered: true, fields: [_id, cents]"),
    ] {
        let shape = format!("shape: {{ user.orders: {shape} }}");
        let other = "get: user";
        assert_eq!(warnings(other, &shape), [format!("no operation reads what `{words}` of `user.orders` stores")]);
        assert_eq!(warnings(read, &shape), [""; 0], "{read}");
    }
    // One of two fields; all fields are what the user asked for.
    let with_name = "get: order, with: { user: [name] }";
    let copied = |fields: &str| warnings(with_name, &format!("shape: {{ user.orders: \"reference({fields})\" }}"));
    assert_eq!(copied("name, city"), ["no operation reads what `reference(city)` of `user.orders` stores"]);
    assert_eq!(copied("*"), [""; 0]);
    let joined = |read: &str| warnings(read, "shape: {}, join: lookup");
    assert_eq!(joined("get: user"), ["`lookup` changes no command of this shape"]);
    assert_eq!(joined("list: order, unordered: true, with: { user: [name] }"), [""; 0]);
    assert_eq!(warnings("get: user", "shape: {}, writes: plain"), ["`plain` changes no command of this shape"]);
    let paired = |read: &str| warnings(read, "shape: { user.marks: link(name) }");
    assert_eq!(paired("get: order"), ["no operation reads what `link(name)` of `user.marks` stores"]);
    assert_eq!(paired("list: user.marks, fields: [name]"), [""; 0]);
    let split = "shape: { user: split(city) }";
    assert_eq!(warnings("get: user", split), ["no operation needs one of the two documents of `user: split` alone"]);
    for read in ["get: user, fields: [name]", "get: user, fields: [city]", "get: order, with: { user: [born] }"] {
        assert_eq!(warnings(read, split), [""; 0], "{read}");
    }
    let counted = "shape: { user.orders: counted }, writes: ordered";
    assert_eq!(warnings("count: user.orders", counted), [""; 0]);
}
