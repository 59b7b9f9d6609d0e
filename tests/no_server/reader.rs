//! The reader keeps every part of a valid scenario, and never panics.

use docshape::record::OutcomeKind;
use docshape::scenario::{
    CatchKey, ClaimBound, ClaimSubject, CommandWord, Diagnostics, Node, Scenario, Source, StepDefinition, StepKind,
    StrategyDefinition, read,
};
use proptest::prelude::{ProptestConfig, Strategy as _, prop, prop_oneof, proptest};

const VALID: &str = include_str!("../valid/comments.yaml");

fn read_text(text: &str) -> (Option<Scenario>, Diagnostics) {
    let diagnostics = Diagnostics::new();
    let scenario = read(&Source::new("test.yaml", text), &diagnostics);
    (scenario, diagnostics)
}

fn valid() -> Scenario {
    let (scenario, diagnostics) = read_text(VALID);
    assert!(!diagnostics.has_errors(), "{}", diagnostics.render(&Source::new("comments.yaml", VALID), false));
    scenario.unwrap()
}

/// The source text of a node.
fn written(node: &Node) -> &str {
    &VALID[node.span.start..node.span.end]
}

fn names<'n, T>(items: &'n [T], name: impl Fn(&'n T) -> &'n String) -> Vec<&'n str> {
    items.iter().map(|item| name(item).as_str()).collect()
}

fn steps<'s>(strategy: &'s StrategyDefinition, operation: &str) -> &'s [StepDefinition] {
    &strategy.operations.iter().find(|(name, _)| name.value == operation).unwrap().1
}

#[test]
fn keeps_data_and_operations_in_order() {
    let scenario = valid();
    assert_eq!(scenario.name.value, "blog-comments");
    assert_eq!(scenario.title, "Blog comments: embed, link or bucket?");
    assert!(scenario.about.starts_with("A post collects"));
    assert_eq!(scenario.sources, ["The Little MongoDB Schema Design Book", "One-To-Many"]);
    let parameters: Vec<(&str, &str)> =
        scenario.parameters.iter().map(|(name, node)| (name.value.as_str(), written(node))).collect();
    assert_eq!(parameters, [("posts", "200"), ("comments_per_post", "100"), ("bucket_size", "50"), ("names", "500")]);

    let [post, comment] = &scenario.entities[..] else { panic!("two entities") };
    assert_eq!((post.name.value.as_str(), written(&post.count)), ("post", "posts"));
    assert!(post.parent.is_none() && post.children_name.is_none());
    assert_eq!(names(&post.fields, |(name, _)| &name.value), ["_id", "title", "url"]);
    assert_eq!(post.fields[2].1.as_text(), Some("\"http://blog.example/\" + string(index)"));
    assert_eq!(comment.parent.as_ref().unwrap().value, "post");
    assert_eq!(comment.children_name.as_ref().unwrap().value, "comments");

    assert_eq!(
        names(&scenario.operations, |operation| &operation.name.value),
        ["add_comment", "read_post", "read_page", "edit_comment", "ping"]
    );
    let page = &scenario.operations[2];
    assert_eq!(page.arguments[1].1.as_text(), Some("uniform(1, 3)"));
    assert_eq!(written(page.returns.as_ref().unwrap()), "[comment]");
    assert_eq!(written(scenario.operations[3].serial.as_ref().unwrap()), "comment");
    assert!(scenario.operations[4].arguments.is_empty() && scenario.operations[4].returns.is_none());

    let [default, write_heavy] = &scenario.mixes[..] else { panic!("two mixes") };
    assert_eq!(names(&default.weights, |(operation, _)| &operation.value), ["add_comment", "read_post", "read_page"]);
    assert_eq!(written(&default.weights[2].1), "\"posts / 10\"");
    assert_eq!(write_heavy.weights.len(), 2);
    assert_eq!(write_heavy.parameters[0].0.value, "posts");
}

#[test]
fn keeps_collections_and_marks_of_strategies() {
    let scenario = valid();
    let [embedded, buckets] = &scenario.strategies[..] else { panic!("two strategies") };
    assert_eq!(embedded.is_default.as_ref().map(|flag| flag.value), Some(true));
    assert!(!embedded.is_unsafe && embedded.like.is_none() && embedded.load.as_ref().unwrap().len() == 1);
    let [posts, log] = &embedded.collections[..] else { panic!("two collections") };
    assert_eq!(written(posts.each.as_ref().unwrap()), "post");
    assert_eq!(written(posts.document.as_ref().unwrap()), "{ ...: <post>, comments: <post.comments> }");
    assert_eq!(posts.indexes.as_ref().unwrap().as_list().unwrap().len(), 2);
    assert!(log.each.is_none() && log.document.is_none() && log.indexes.is_none());
    assert_eq!(embedded.state[0].0.value, "comment");

    assert_eq!(buckets.like.as_ref().unwrap().value, "embedded");
    assert!(buckets.is_unsafe && buckets.about.is_none() && buckets.load.is_none() && buckets.is_default.is_none());
    assert_eq!(buckets.collections[0].name.value, "buckets");
    assert_eq!(buckets.collections[0].each.as_ref().unwrap().as_mapping().unwrap().len(), 2);
    assert_eq!(buckets.parameters.len(), 1);
}

#[test]
fn keeps_the_order_of_command_options() {
    let scenario = valid();
    let [step] = steps(&scenario.strategies[1], "read_page") else { panic!("one step") };
    let StepKind::Command { word, collection, options, alias } = &step.kind else { panic!("{step:?}") };
    assert_eq!((word.value, collection.value.as_str(), alias), (CommandWord::Find, "buckets", &None));
    assert_eq!(names(options, |(key, _)| &key.value), ["skip", "limit", "sort", "hint"]);
    let [step] = steps(&scenario.strategies[0], "ping") else { panic!("one step") };
    let StepKind::Raw { command, alias } = &step.kind else { panic!("{step:?}") };
    assert_eq!((written(command), alias.as_ref().unwrap().value.as_str()), ("{ ping: 1 }", "pong"));
}

#[test]
fn reads_nested_steps() {
    let scenario = valid();
    let embedded = &scenario.strategies[0];
    let [find, branch, answer] = steps(embedded, "read_post") else { panic!("three steps") };
    assert!(matches!(&find.kind, StepKind::Command { alias: Some(name), .. } if name.value == "found"));
    let StepKind::If { condition, then, otherwise } = &branch.kind else { panic!("{branch:?}") };
    assert_eq!(written(condition), "reply == null");
    assert!(matches!(then[..], [StepDefinition { kind: StepKind::Return(_), .. }]));
    assert!(matches!(&otherwise[..], [StepDefinition { kind: StepKind::Let(pairs), .. }] if pairs.len() == 2));
    assert!(matches!(&answer.kind, StepKind::Return(node) if node.as_mapping().is_some()));

    let [retry] = steps(embedded, "edit_comment") else { panic!("one step") };
    let StepKind::Retry { errors, attempts, delay: 0, body } = &retry.kind else { panic!("{retry:?}") };
    assert_eq!((&errors[..], *attempts, body.len()), (&[11000][..], 7, 2));
    assert!(matches!(body[1].kind, StepKind::RetryIf(_)));

    let [each] = &embedded.load.as_ref().unwrap()[..] else { panic!("one step") };
    let StepKind::ForEach { name, list, body } = &each.kind else { panic!("{each:?}") };
    assert_eq!((name.value.as_str(), written(list), body.len()), ("part", "range(10)", 1));
}

#[test]
fn valid_scenarios_have_no_diagnostics() {
    let (_, diagnostics) = read_text(VALID);
    assert!(diagnostics.is_empty(), "{:?}", diagnostics.iter().collect::<Vec<_>>());
}

#[test]
fn reads_claims_with_their_expectation() {
    let scenario = valid();
    let [claim, half, audit, outcome, filtered, evaluated] = &scenario.claims[..] else {
        panic!("{:?}", scenario.claims)
    };
    assert_eq!((claim.id.value.as_str(), claim.says.as_str()), ("C14", "A page is one read."));
    assert_eq!((claim.subject.value.name().as_str(), claim.strategy.value.as_str()), ("round_trips", "buckets"));
    assert_eq!(claim.operation.as_ref().map(|operation| operation.value.as_str()), Some("read_page"));
    assert_eq!(&VALID[claim.subject.span.start..claim.subject.span.end], "round_trips");
    assert!(
        claim.relation == docshape::record::Relation::Equals
            && matches!(claim.than, ClaimBound::Number(1.0))
            && claim.source.is_none()
    );
    assert!((claim.is_by_design, claim.clients, claim.run.set.len()) == (false, None, 0) && claim.run.mix.is_none());
    assert_eq!((half.is_by_design, half.clients, half.run.set.len()), (true, Some(32), 2));
    assert_eq!(half.run.mix.as_ref().map(|mix| mix.value.as_str()), Some("default"));
    let ClaimBound::Other { strategy: Some(strategy), operation: None, times: Some(times) } = &half.than else {
        panic!("{:?}", half.than)
    };
    assert_eq!((strategy.value.as_str(), times.as_text()), ("linked", Some("1.0 / 2")));
    assert_eq!((audit.subject.value.name().as_str(), audit.operation.is_none()), ("audit: wrong_counts", true));
    assert_eq!(outcome.subject.value, ClaimSubject::Outcome(OutcomeKind::Rejected));
    let ClaimSubject::Metric { outcome: Some(OutcomeKind::Ok), .. } = filtered.subject.value else {
        panic!("{:?}", filtered.subject)
    };
    assert!(matches!(&evaluated.than, ClaimBound::Text(node) if node.as_text() == Some("bucket_size / 2")));
}

#[test]
fn reads_try_with_its_catches() {
    let text = "\
format: 1
name: library
title: Checking out books
entities:
  book: { count: 20, fields: { _id: index, copies: \"uniform(1, 5)\" } }
operations:
  checkout: { arguments: { book: zipf(book) } }
mixes:
  default: { checkout: 1 }
strategies:
  compensate:
    collections:
      books: { each: book }
      loans: { indexes: [{ key: { book: 1 }, unique: true }] }
    operations:
      checkout:
        - { updateOne: books, filter: { _id: <book> }, update: { $inc: { copies: -1 } } }
        - try:
            - { insertOne: loans, document: { book: <book> } }
          catch:
            11000:
              - return: same()
";
    let (scenario, diagnostics) = read_text(text);
    let found: Vec<String> = diagnostics.iter().map(|diagnostic| diagnostic.message).collect();
    assert_eq!(found, Vec::<&str>::new());
    let scenario = scenario.unwrap();
    let steps = steps(&scenario.strategies[0], "checkout");
    let StepKind::Try { body, catches } = &steps[1].kind else { panic!("{:?}", steps[1]) };
    let [(CatchKey::Code(11000), duplicate)] = &catches[..] else { panic!("{catches:?}") };
    assert_eq!((body.len(), duplicate.len()), (1, 1));
}

#[test]
fn keeps_valid_parts_of_a_broken_scenario() {
    let text = VALID.replace("count: posts", "count:").replace("{ ping: 1 }", "ping");
    let (scenario, diagnostics) = read_text(&text);
    assert_eq!(diagnostics.errors(), 2);
    let scenario = scenario.unwrap();
    assert_eq!((scenario.entities.len(), scenario.operations.len()), (2, 5));
    assert!(steps(&scenario.strategies[0], "ping").is_empty());
    assert_eq!(steps(&scenario.strategies[0], "read_post").len(), 3);
}

/// A random edit of a scenario.
#[derive(Debug, Clone)]
enum Edit {
    Insert(usize, &'static str),
    Delete(usize, usize),
    DeleteLine(usize),
    RepeatLine(usize),
    Indent(usize, usize),
    SwapLines(usize, usize),
}

fn edit() -> impl proptest::strategy::Strategy<Value = Edit> {
    let at = 0..VALID.len();
    let line = 0..VALID.lines().count();
    let piece = prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", ": ", " ", "\n", "\t", "'", "\"", "#", " #", "- ", "!", "&a ", "*a", "|", ">",
        "%", "@", "`", "?", "? ", "<", ">", "...", "---\n", "\\", "\0", "\u{feff}", "\u{2028}", "é", "𝄞", "null",
        "yes", "99999999999999999999", "\r",
    ]);
    prop_oneof![
        (at.clone(), piece).prop_map(|(at, piece)| Edit::Insert(at, piece)),
        (at, 1..9usize).prop_map(|(at, length)| Edit::Delete(at, length)),
        line.clone().prop_map(Edit::DeleteLine),
        line.clone().prop_map(Edit::RepeatLine),
        (line.clone(), 1..5usize).prop_map(|(line, by)| Edit::Indent(line, by)),
        (line.clone(), line).prop_map(|(one, other)| Edit::SwapLines(one, other)),
    ]
}

fn apply(text: &str, edit: &Edit) -> String {
    let boundary = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let count = lines.len();
    match *edit {
        Edit::Insert(at, piece) => {
            let at = boundary(at);
            return format!("{}{piece}{}", &text[..at], &text[at..]);
        }
        Edit::Delete(at, length) => return format!("{}{}", &text[..boundary(at)], &text[boundary(at + length)..]),
        Edit::DeleteLine(line) => drop(lines.remove(line % count)),
        Edit::RepeatLine(line) => lines.insert(line % count, lines[line % count].clone()),
        Edit::Indent(line, by) => lines[line % count].insert_str(0, &" ".repeat(by)),
        Edit::SwapLines(one, other) => lines.swap(one % count, other % count),
    }
    lines.join("\n")
}

/// Reads `text` and checks what must be true of every text.
fn check(text: &str) {
    let (scenario, diagnostics) = read_text(text);
    assert!(scenario.is_some() || diagnostics.has_errors(), "neither a scenario nor an error");
    for diagnostic in diagnostics.iter() {
        let span = diagnostic.span;
        assert!(span.start <= span.end && text.get(span.start..span.end).is_some(), "{span:?} is outside of the text");
        assert!(diagnostic.help.is_some(), "{}", diagnostic.message);
    }
    let rendered = diagnostics.render(&Source::new("test.yaml", text), false);
    assert!(rendered.ends_with(" in test.yaml\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_panics_on_edited_scenarios(edits in prop::collection::vec(edit(), 1..6)) {
        check(&edits.iter().fold(VALID.to_owned(), |text, edit| apply(&text, edit)));
    }

    #[test]
    fn never_panics_on_random_text(text in "[\\[\\]{}:,\\-#&*!|>'\"%@`?~ \n\ta0é<>.$]{0,60}") {
        check(&text);
    }
}
