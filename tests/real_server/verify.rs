//! Verification on a real server: equal strategies pass, each mistake is found and shown.

use std::sync::Arc;
use std::time::Duration;

use docshape::compile::Choice;
use docshape::engine::{RoundPlan, StopFlag};
use docshape::plan::Plan;
use docshape::record::FaultKind;
use docshape::report::{Renderer, Report, Terminal};
use docshape::results::verification::{StrategyFindings, Verification, VerifyPhase};
use docshape::server::client::MongoTarget;
use docshape::server::embedded::{EmbeddedMongod, EmbeddedOptions};
use docshape::server::{ReplyKind, Target};
use docshape::verify::{Fault, Verifier, VerifySettings};

use crate::harness::{self, Bench, bench_on_disk, choice, plan};

const SHELVES: &str = include_str!("../valid/shelves.yaml");
const JOINS: &str = include_str!("../valid/joins.yaml");
const BLOG: &str = include_str!("../../scenarios/blog-comments.yaml");

/// The timeout of a call. Transactions that many clients repeat take seconds on a busy machine, and no strategy is wrong for it.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// Returns a verifier that nothing disturbs.
pub fn verifier<'v>(
    plan: &'v Arc<Plan>,
    settings: VerifySettings,
    target: &'v MongoTarget,
) -> Verifier<'v, MongoTarget> {
    Verifier { plan, settings, target, progress: &|_, _| {}, fault: None, stop: StopFlag::default() }
}

pub async fn verified(bench: &Bench, plan: &Arc<Plan>, calls: u64, id: &str) -> Verification {
    let command = "docshape verify it".to_owned();
    let namespace = harness::namespace(&plan.name, id);
    let settings = VerifySettings { namespace, command, calls, clients: 16, timeout: PATIENCE };
    let target = bench.client(settings.connections()).await;
    verifier(plan, settings, &target).run().await.unwrap()
}

async fn shelves(strategies: &[&str]) -> Verification {
    let bench = bench_on_disk(1).await;
    let strategies = strategies.iter().map(|name| (*name).to_owned()).collect();
    let plan = plan(SHELVES, &Choice { strategies, ..Choice::default() });
    let verification = verified(&bench, &plan, 300, "v").await;
    assert_eq!(databases(&bench).await, Vec::<String>::new(), "its databases are gone");
    verification
}

/// The databases of docshape on the server.
async fn databases(bench: &Bench) -> Vec<String> {
    let command =
        bson::rawdoc! { "listDatabases": 1, "nameOnly": true, "filter": { "name": { "$regex": "^docshape_" } } };
    let reply = bench.target.run("admin", command, ReplyKind::Single).await.unwrap();
    let all = reply.batches()[0].get_array("databases").unwrap();
    let name = |entry: bson::RawBsonRef| entry.as_document().unwrap().get_str("name").unwrap().to_owned();
    all.into_iter().map(|entry| name(entry.unwrap())).collect()
}

pub fn report(verification: &Verification) -> String {
    let mut text = String::new();
    Terminal { width: 100, colour: false, full: true }
        .render(&Report::of_verification(verification), &mut text)
        .unwrap();
    text
}

/// Whether a phase of a strategy found nothing.
fn is_clean(strategy: &StrategyFindings, phase: VerifyPhase) -> bool {
    strategy.phases.iter().find(|found| found.phase == phase).unwrap().is_clean()
}

#[tokio::test]
async fn strategies_that_do_the_same_pass() {
    let verification = shelves(&["linked", "embedded"]).await;
    assert!(verification.passes(), "{}", report(&verification));
    for strategy in &verification.strategies {
        assert_eq!(strategy.phases.len(), 4);
        assert!(strategy.pairs > 1, "{} pairs", strategy.pairs);
        let lost = |phase: usize| &strategy.phases[phase].audits[0];
        assert_eq!(lost(0).anomalies(), 0);
        assert!(lost(0).found > 24 && lost(1).found == lost(0).found && lost(2).found == lost(0).found);
    }
    let live = &verification.strategies[1].live[0];
    assert!(live.snapshot.reads > 0 && live.plain.reads > 0 && live.snapshot.found == 0, "{live:?}");
    let text = report(&verification);
    assert!(text.contains("\nAll 2 strategies return the same results.\n"), "{text}");
}

#[tokio::test]
async fn a_page_off_by_one_and_a_missing_sort_are_shown() {
    let verification = shelves(&["linked", "off_by_one", "unsorted", "shapeless"]).await;
    assert!(!verification.passes());
    let text = report(&verification);
    for strategy in &verification.strategies[1..] {
        assert!(!is_clean(strategy, VerifyPhase::Sequential), "{text}");
    }
    let of = |name: &str| {
        let start = text.find(&format!("{name}, sequential: call ")).unwrap_or_else(|| panic!("{name}: {text}"));
        text[start..].split("\n\n").next().unwrap().to_owned()
    };
    for (name, hint) in [
        ("off_by_one", "5 elements on both sides; the actual list starts 1 later in the same order"),
        ("unsorted", "the same 5 elements in another order"),
        ("shapeless", "actual    {_id: "),
    ] {
        let text = of(name);
        assert!(
            text.contains(hint) && text.contains("differs: read(shelf: ") && text.contains("    expected  "),
            "{text}"
        );
        assert!(
            text.contains(&format!("    repeat    docshape verify it --strategies linked,{name} --seed 1 --call ")),
            "{text}"
        );
    }
    assert!(text.contains("\n3 of 4 strategies failed.\n"), "{text}");
}

#[tokio::test]
async fn a_control_that_loses_writes_is_caught_and_one_that_does_not_is_named() {
    let verification = shelves(&["linked", "forgetful", "harmless"]).await;
    let [linked, forgetful, harmless] = verification.strategies.as_slice() else { panic!() };
    assert!(linked.is_clean() && harmless.is_clean() && !verification.passes());
    assert!(is_clean(forgetful, VerifyPhase::Sequential), "alone it does nothing wrong");
    let lost = &forgetful.phases[2].audits[0];
    assert!(lost.anomalies() > 10 && (lost.found as i64) < lost.expected[0], "{lost:?}");
    let text = report(&verification);
    assert!(text.contains("forgetful, unordered: audit lost_books fails"), "{text}");
    assert!(text.contains(&format!("    lost_books: {} ({} rows, ", lost.anomalies(), lost.found)), "{text}");
    assert!(text.contains("NOT caught"), "{text}");
    assert!(text.contains("\n1 of 2 negative controls caught.\n"), "{text}");
}

/// The scenario without its audits.
fn unaudited() -> String {
    let at = SHELVES.find("\naudits:").unwrap();
    SHELVES[..=at].to_owned()
}

async fn verified_text(bench: &Bench, text: &str, strategies: &[&str], seed: u64) -> Verification {
    let strategies = strategies.iter().map(|name| (*name).to_owned()).collect();
    let plan = plan(text, &Choice { strategies, seed, ..Choice::default() });
    verified(bench, &plan, 120, "v").await
}

#[tokio::test]
async fn a_lost_update_is_found_without_an_audit() {
    let bench = bench_on_disk(1).await;
    for seed in 1..=10 {
        let verification = verified_text(&bench, &unaudited(), &["linked", "forgetful"], seed).await;
        let forgetful = &verification.strategies[1];
        let text = report(&verification);
        assert!(verification.strategies[0].is_clean(), "{text}");
        assert!(is_clean(forgetful, VerifyPhase::Sequential), "{text}");
        assert!(text.contains("forgetful, unordered: acknowledged records of book are not stored"), "{text}");
        assert!(text.contains("forgetful, pairs: two calls at the same time lead to neither"), "{text}");
    }
}

#[tokio::test]
async fn a_lost_update_of_a_field_is_found_by_pairs_alone() {
    let bench = bench_on_disk(1).await;
    // Nothing is created, and every final number is possible in some order of some calls.
    let text = "
format: 1
name: counters
title: Counters
entities: { counter: { count: 6, fields: { _id: index, n: 0 } } }
operations:
  raise: { arguments: { counter: uniform(counter) }, serial: counter }
  reset: { arguments: { counter: uniform(counter) }, serial: counter }
mixes: { default: { raise: 5, reset: 1 } }
strategies:
  inc:
    collections: { counters: { each: counter } }
    operations:
      raise: { updateOne: counters, filter: { _id: <counter> }, update: { $inc: { n: 1 } } }
      reset: [{ updateOne: counters, filter: { _id: <counter> }, update: { $set: { n: 0 } } }, { return: ok() }]
  read_then_write:
    like: inc
    unsafe: true
    operations:
      raise:
        - { findOne: counters, filter: { _id: <counter> }, as: found }
        - let: { n: 'found == null ? 0 : found.n + 1' }
        - { updateOne: counters, filter: { _id: <counter> }, update: { $set: { n: <n> } } }
        - return: ok()
";
    let found = async |seed| {
        let verification = verified_text(&bench, text, &["inc", "read_then_write"], seed).await;
        assert!(verification.strategies[0].is_clean(), "{}", report(&verification));
        !is_clean(&verification.strategies[1], VerifyPhase::Pairs)
    };
    let mut times = 0;
    for seed in 1..=10 {
        times += u32::from(found(seed).await);
    }
    assert!(times >= 9, "found in {times} of 10 runs");
}

#[tokio::test]
async fn rows_right_after_loading_are_the_generated_ones() {
    let bench = bench_on_disk(1).await;
    let text = SHELVES.replace(
        "state:\n      book: { aggregate: shelves, pipeline: [",
        "state:\n      book: { aggregate: shelves, pipeline: [{ $limit: 1 }, ",
    );
    assert_ne!(text, SHELVES);
    let found = report(&verified_text(&bench, &text, &["linked", "embedded"], 1).await);
    assert!(found.contains("embedded, sequential: the rows right after loading of book differ (12 times)"), "{found}");
}

#[tokio::test]
async fn an_operation_that_does_nothing_is_named() {
    let bench = bench_on_disk(1).await;
    let text = SHELVES
        .replace("filter: { shelf: <shelf> }", "filter: { shelf: nowhere }")
        .replace("filter: { _id: <shelf> }, projection", "filter: { _id: nowhere }, projection");
    let verification = verified_text(&bench, &text, &["linked", "embedded"], 1).await;
    let found = report(&verification);
    assert_eq!(verification.vacuous(), ["read"], "{found}");
    assert!(found.contains("Vacuous, because no call changed or returned anything: read."), "{found}");
}

#[tokio::test]
async fn anomalies_that_a_snapshot_sees_fail_a_strategy_unless_it_tolerates_them() {
    let bench = bench_on_disk(1).await;
    // A book is on two shelves until the second write.
    let moved = SHELVES
        .replace("operations:\n  add:", "operations:\n  move: { arguments: { book: uniform(book), to: uniform(shelf) }, serial: book }\n  add:")
        .replace("default: { add: 1, read: 2 }", "default: { move: 1 }")
        .replace(
            "      read:\n        - let: { skip: (number - 1) * page }\n        - { findOne",
            "      move:\n        - { updateOne: shelves, filter: { _id: <to>, books._id: { $ne: <book> } }, update: { $push: { books: { _id: <book._id>, at: <book.at>, title: <book.title> } } } }\n        \
             - { updateMany: shelves, filter: { _id: { $ne: <to> } }, update: { $pull: { books: { _id: <book._id> } } } }\n        - return: ok()\n      \
             read:\n        - let: { skip: (number - 1) * page }\n        - { findOne",
        )
        .replace("  linked:\n", "  linked:\n    unsafe: true\n")
        .replace("      add: { insertOne", "      move: { updateOne: books, filter: { _id: <book> }, update: { $set: { shelf: <to> } } }\n      add: { insertOne");
    let strict = verified_text(&bench, &moved, &["embedded"], 1).await;
    let text = report(&strict);
    assert!(text.contains("embedded, unordered: audit twice finds anomalies while calls run"), "{text}");
    let tolerant = moved.replace("  embedded:\n", "  embedded:\n    tolerates: [twice]\n");
    let tolerant = verified_text(&bench, &tolerant, &["embedded"], 1).await;
    let text = report(&tolerant);
    assert!(!text.contains("finds anomalies while calls run") && text.contains("tolerated"), "{text}");
}

#[tokio::test]
async fn an_audit_that_no_snapshot_can_read_fails_its_strategy() {
    let bench = bench_on_disk(1).await;
    let with = |stages: &str| {
        let audit = format!(
            "  odd: {{ about: None., live: true, strategies: [linked], aggregate: books, pipeline: [{stages}] }}"
        );
        SHELVES.replace("audits:\n", &format!("audits:\n{audit}\n"))
    };
    let refused = "{ $planCacheStats: {} }, { $match: { none: 1 } }";
    let text = report(&verified_text(&bench, &with(refused), &["linked", "embedded"], 1).await);
    assert!(text.contains("audit odd could not be read in a snapshot while calls ran"), "{text}");
    let of_two = "{ $unionWith: books }, { $match: { at: -1 } }";
    let verification = verified_text(&bench, &with(of_two), &["linked", "embedded"], 1).await;
    assert!(verification.passes(), "{}", report(&verification));
}

#[tokio::test]
async fn a_loop_that_does_not_end_fails_the_call_and_names_the_step() {
    let verification = shelves(&["linked", "endless"]).await;
    let text = report(&verification);
    assert!(!verification.passes());
    assert!(
        text.contains("endless, sequential: call ") && text.contains("while true: 3 iterations were not enough"),
        "{text}"
    );
}

#[tokio::test]
async fn missing_indexes_are_warned_of_inside_joins_too() {
    let bench = bench_on_disk(1).await;
    let strategies = ["indexed", "bare"].map(str::to_owned).into();
    let plan = plan(JOINS, &Choice { strategies, ..Choice::default() });
    let verification = verified(&bench, &plan, 20, "joins").await;
    assert!(verification.passes(), "{}", report(&verification));
    let missing = |operation: &str, problem: &str, index: &str| {
        format!("Operation {operation} of bare: {problem}; the index {index} would serve it.")
    };
    let sorted = "{ owner: 1, n: 1, _id: 1 }";
    assert_eq!(
        verification.warnings,
        [
            missing(
                "newest",
                "`find things` scans all 45 documents (COLLSCAN) and sorts 5 documents in memory (SORT)",
                sorted
            ),
            missing(
                "joined",
                "`aggregate owners: $lookup from things` scans all 45 documents (COLLSCAN)",
                "{ owner: 1 }"
            ),
            missing(
                "sorted",
                "`aggregate owners: $lookup from things` scans all 45 documents (COLLSCAN) and sorts documents in memory (SORT)",
                sorted
            ),
            missing(
                "above",
                "`aggregate owners: $graphLookup from owners` scans all 9 documents (COLLSCAN)",
                "{ boss: 1 }"
            ),
        ]
    );
}

/// 960 writers' comments on one post, 16 at a time.
#[tokio::test]
async fn sixteen_writers_leave_full_pages_without_gap_or_twin() {
    let bench = bench_on_disk(16).await;
    // All writers meet post 0, which has no comment yet; what other operations draw from must not be empty.
    let text = BLOG
        .replacen("mixes:\n", "mixes:\n  only-adds: { add_comment: 1 }\n", 1)
        .replacen(
            "add_comment: { arguments: { post: \"zipf(post, skew)\"",
            "add_comment: { arguments: { post: \"record(post, 0)\"",
            1,
        )
        .replacen("index < posts / 20 ?", "index == 0 ? 0 : true ? 3 : index < posts / 20 ?", 1);
    let set = [("posts", "2"), ("bucket_size", "50")];
    let choice = Choice { mix: Some("only-adds".into()), strategies: vec!["bucketed".into()], ..choice(&set) };
    let plan = plan(&text, &choice);
    let window = RoundPlan::saturation(960, 0);
    let (round, _) = bench.experiment(&plan, (16, 1), "pages", &()).round(0, window).await.unwrap().single().unwrap();
    assert!(round.cells[0].audits.iter().all(|audit| audit.anomalies() == 0), "{:?}", round.cells[0].audits);
    let database = harness::namespace(&plan.name, "pages").names.strategy("bucketed");
    let find =
        bson::rawdoc! { "find": "comment_buckets", "filter": { "post": 0 }, "sort": { "page": 1 }, "batchSize": 1_000 };
    let reply = bench.target.run(&database, find, ReplyKind::Cursor).await.unwrap();
    let pages: Vec<bson::Document> = reply
        .batches()
        .iter()
        .flat_map(|batch| bson::Document::try_from(&**batch).unwrap().get_document("cursor").unwrap().clone())
        .filter_map(|(name, value)| (name.ends_with("Batch")).then(|| value.as_array().unwrap().clone()))
        .flatten()
        .map(|page| page.as_document().unwrap().clone())
        .collect();
    let sizes: Vec<usize> = pages.iter().map(|page| page.get_array("comments").unwrap().len()).collect();
    assert_eq!(sizes, [vec![50; 19], vec![10]].concat());
    let numbers: Vec<i32> = pages.iter().map(|page| page.get_i32("page").unwrap()).collect();
    assert_eq!(numbers, (1..=20).collect::<Vec<_>>());
}

/// Verifies strategies on a server of its own, to which a fault happens.
async fn disturbed(text: &str, strategies: &[&str], kind: FaultKind) -> Verification {
    let temp = harness::on_disk();
    let options = EmbeddedOptions { is_disturbed: true, ..harness::options(temp.path()) };
    let server = EmbeddedMongod::start(&options).await.unwrap();
    let strategies = strategies.iter().map(|name| (*name).to_owned()).collect();
    let plan = &plan(text, &Choice { strategies, ..Choice::default() });
    let (namespace, command) = (harness::namespace(&plan.name, "f"), "docshape verify it".to_owned());
    let settings = VerifySettings { namespace, command, calls: 400, clients: 16, timeout: PATIENCE };
    let (uri, patience) = (server.patient_uri(), Duration::from_secs(30));
    let target = &MongoTarget::connect_patiently(&uri, settings.connections(), patience).await.unwrap();
    let fault = Some(Fault { kind, server: Some(&server) });
    Verifier { fault, ..verifier(plan, settings, target) }.run().await.unwrap()
}

#[tokio::test]
async fn answers_and_states_hold_through_faults_of_the_primary() {
    for kind in FaultKind::ALL {
        let verification = disturbed(SHELVES, &["linked", "embedded"], kind).await;
        let text = report(&verification);
        assert!(verification.passes(), "{text}");
        let held = format!("Answers and states held through {} in 2 strategies.", kind.label());
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(&held), "{text}");
        for strategy in &verification.strategies {
            let seen = strategy.fault.unwrap();
            assert_eq!(seen.after_calls, 200);
            assert!(seen.recovered_ms.is_some(), "{text}");
            let unknown = strategy.phases.iter().map(|phase| phase.unknown).sum::<u64>();
            match kind {
                FaultKind::StepDown => {}
                FaultKind::Kill => assert!(unknown > 0, "{text}"),
                // The calls wait, and are answered before their timeout.
                FaultKind::Stop => assert_eq!((unknown, seen.failed), (0, 0), "{text}"),
            }
        }
    }
}

/// A count and the books that it counts: in one write, and in two.
const COUNTED: &str = "
format: 1
name: counted
title: Counted books
about: Every book is counted on its shelf.
entities:
  shelf: { count: 40, fields: { _id: index } }
operations:
  add: { arguments: { shelf: uniform(shelf), book: uuid() }, serial: shelf }
mixes: { default: { add: 1 } }
strategies:
  together:
    collections:
      shelves: { each: shelf, document: { _id: <shelf._id>, count: 0, books: [] } }
    operations:
      add:
        - { updateOne: shelves, filter: { _id: <shelf> }, update: { $inc: { count: 1 }, $push: { books: <book> } } }
        - return: ok()
    state: { shelf: { find: shelves, projection: { _id: 1 } } }
  apart:
    collections:
      shelves: { each: shelf, document: { _id: <shelf._id>, count: 0 } }
      books: { indexes: [{ shelf: 1 }] }
    operations:
      add:
        - { updateOne: shelves, filter: { _id: <shelf> }, update: { $inc: { count: 1 } } }
        - { insertOne: books, document: { _id: <book>, shelf: <shelf> } }
        - return: ok()
    state: { shelf: { find: shelves, projection: { _id: 1 } } }
audits:
  miscounted:
    about: Shelves whose count is not that of their books.
    together: { find: shelves, filter: { $expr: { $ne: [$count, { $size: $books }] } } }
    apart:
      aggregate: shelves
      pipeline:
        - { $lookup: { from: books, localField: _id, foreignField: shelf, as: books } }
        - { $match: { $expr: { $ne: [$count, { $size: $books }] } } }
";

#[tokio::test]
async fn a_kill_between_two_writes_is_found() {
    let bench = bench_on_disk(1).await;
    let plain = verified_text(&bench, COUNTED, &["together", "apart"], 1).await;
    assert!(plain.passes(), "without a fault there is nothing to find: {}", report(&plain));
    let killed = disturbed(COUNTED, &["together", "apart"], FaultKind::Kill).await;
    let text = report(&killed);
    assert!(killed.strategies[0].is_clean() && !killed.strategies[1].is_clean(), "{text}");
    assert!(
        text.contains("did not hold through the kill in apart") && text.contains("audit miscounted fails"),
        "{text}"
    );
}
