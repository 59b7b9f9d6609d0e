//! A built-in scenario on a real server: all strategies make the same calls and end in the same logical state.

use bson::{Document, rawdoc};
use docshape::engine::{Loader, RoundPlan, StopFlag};
use docshape::plan::{Plan, written};
use docshape::server::{ReplyKind, Target};

use crate::harness::{self, Bench, bench, choice, plan};

const BLOG: &str = include_str!("../../scenarios/blog-comments.yaml");

const SMALL: &[(&str, &str)] = &[("posts", "20"), ("comments_per_post", "30"), ("bucket_size", "10")];

#[tokio::test]
async fn strategies_and_repeated_runs_end_in_the_same_state() {
    let bench = bench(8).await;
    let plan = plan(BLOG, &choice(SMALL));
    let window = RoundPlan::saturation(1_500, 100);
    let mut runs = Vec::new();
    for id in ["first", "again"] {
        let (round, warnings) =
            bench.experiment(&plan, (8, 4), id, &()).round(0, window).await.unwrap().single().unwrap();
        assert_eq!(warnings, Vec::<String>::new());
        for cell in &round.cells {
            assert_eq!(cell.calls, 1_500);
            let recorded: u64 =
                cell.operations.iter().flat_map(|operation| &operation.outcomes).map(|outcome| outcome.count).sum();
            assert_eq!(recorded, 1_500);
            let failed: Vec<_> = cell.operations.iter().flat_map(|operation| &operation.errors).collect();
            assert!(failed.is_empty(), "{failed:?}");
            assert_eq!(cell.connections_created, 0);
        }
        let calls = |cell: &docshape::results::CellRecord| cell.operations.iter().map(|o| o.calls).collect::<Vec<_>>();
        assert_eq!(calls(&round.cells[0]), calls(&round.cells[1]));
        assert_eq!(calls(&round.cells[0]), calls(&round.cells[2]));
        runs.push(bench.states(&plan, id).await);
    }
    for (run, states) in runs.iter().enumerate() {
        for (arm, state) in states.iter().enumerate() {
            for ((entity, rows), (_, expected)) in state.iter().zip(&runs[0][0]) {
                let name = &plan.arms[arm].name;
                assert_eq!(rows.len(), expected.len(), "rows of {entity} in {name}, run {run}");
                for (row, expected) in rows.iter().zip(expected) {
                    assert_eq!(written(row), written(expected), "a row of {entity} in {name}, run {run}");
                }
            }
        }
    }
    let loaded = plan.data.len(1) as usize;
    assert!(runs[0][0][1].1.len() > loaded + 200, "comments were added: {loaded} became {}", runs[0][0][1].1.len());
}

#[tokio::test]
async fn reads_return_the_same_results_on_unchanging_data() {
    let bench = bench(1).await;
    let plan = plan(BLOG, &choice(SMALL));
    let window = RoundPlan::saturation(300, 0);
    // One client keeps the order of the calls, so that arrays, pages and indexes agree on the order of comments.
    bench.experiment(&plan, (1, 1), "quiet", &()).round(0, window).await.unwrap().single().unwrap();
    for index in 0..400 {
        let mut answers = Vec::new();
        for (arm, strategy) in plan.arms.iter().enumerate() {
            let (operation, mut frame) = plan.draw(plan.round_seed(7), index, arm).unwrap();
            let Some(shape) = &plan.operations[operation].returns else { continue };
            let database = harness::namespace(&plan.name, "quiet").names.strategy(&strategy.name);
            let program = &strategy.operations[operation];
            let mut interpreter = docshape::engine::Interpreter::new(&bench.target, &database);
            let answer = interpreter.run(program, &mut frame).await.unwrap();
            answers.push((operation, written(&shape.canonical(&answer).unwrap())));
        }
        for (arm, answer) in answers.iter().enumerate().skip(1) {
            let (name, operation) = (&plan.arms[arm].name, &plan.operations[answer.0].name);
            assert_eq!(answer.1, answers[0].1, "call {index}, {operation}, {name} against {}", plan.arms[0].name);
        }
    }
}

#[tokio::test]
async fn only_documents_with_comments_grow() {
    let bench = bench(8).await;
    let plan = plan(BLOG, &choice(SMALL));
    let window = RoundPlan::saturation(1_000, 0);
    let (round, _) = bench.experiment(&plan, (8, 4), "grow", &()).round(0, window).await.unwrap().single().unwrap();
    let max = |arm: usize, name: &str| {
        let find = |sizes: &[docshape::results::CollectionSizes]| {
            sizes.iter().find(|collection| collection.name == name).unwrap().clone()
        };
        (find(&round.cells[arm].before), find(&round.cells[arm].after))
    };
    let (before, after) = max(0, "posts");
    assert!(after.mean > before.mean && after.max > before.max && after.documents == before.documents);
    for arm in [1, 2] {
        let (before, after) = max(arm, "posts");
        assert_eq!((before.documents, before.size, before.max), (after.documents, after.size, after.max));
    }
    let (before, after) = max(1, "comments");
    assert!(after.documents > before.documents && after.max <= before.max);
}

/// The posts of all comments in the order in which the server stores them.
async fn stored(bench: &Bench, plan: &Plan, database: &str) -> Vec<i32> {
    let (arm, stop) = (plan.arms.iter().find(|arm| arm.name == "linked").unwrap(), StopFlag::default());
    Loader { plan, arm, target: &bench.target, database, observer: &(), stop: &stop }.run().await.unwrap();
    let find = rawdoc! { "find": "comments", "sort": { "$natural": 1 }, "batchSize": 100_000 };
    let reply = bench.target.run(database, find, ReplyKind::Cursor).await.unwrap();
    let batch = Document::try_from(&*reply.batches()[0]).unwrap();
    let comments = batch.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
    comments.iter().map(|comment| comment.as_document().unwrap().get_i32("post").unwrap()).collect()
}

#[tokio::test]
async fn comments_of_a_post_are_stored_among_those_of_others() {
    let bench = bench(1).await;
    let shape = "    shape: { post.comments: reference }\n";
    let comments = "{ each: comment, load_order: grouped, document: { ...: <comment>, post: <comment.post> } }";
    let text = BLOG.replace(shape, &format!("{shape}    collections: {{ comments: {comments} }}\n"));
    assert_ne!(text, BLOG);
    let neighbours = |posts: &[i32]| posts.windows(2).filter(|pair| pair[0] == pair[1]).count();
    let interleaved = stored(&bench, &plan(BLOG, &choice(SMALL)), "interleaved").await;
    let grouped = stored(&bench, &plan(&text, &choice(SMALL)), "grouped").await;
    assert!(neighbours(&interleaved) < interleaved.len() / 4, "{} of {}", neighbours(&interleaved), interleaved.len());
    assert!(neighbours(&grouped) > grouped.len() * 9 / 10);
    let sorted = |mut posts: Vec<i32>| {
        posts.sort_unstable();
        posts
    };
    assert_eq!(sorted(interleaved), sorted(grouped));
}
