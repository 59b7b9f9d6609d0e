//! `docshape run`: what is measured, and what a run leaves.

use std::fs;

use docshape::results::{self, Arrivals, LoadModel, Part, RoundRecord, Status};

use super::{Place, SMALL, assert_adds_up, calls, documents, finish, logged, server, succeeded};

/// Few data.
const FEW: &str = "--set posts=30 --set comments_per_post=10";

const OPERATIONS: [&str; 12] = [
    "add_comment", "post", "read_post", "read_page", "page_after", "latest", "count", "comment", "edit", "hide",
    "by_author", "total",
];

#[test]
fn a_smoke_run_has_consistent_results_and_reports_again() {
    let place = Place::new();
    let ended = place.finish("run blog-comments --preset smoke --calls 600 --full --out").ok();
    place.assert_nothing_left();
    let mut files: Vec<_> = fs::read_dir(place.run()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    let (drawn, others): (Vec<_>, Vec<_>) =
        files.iter().filter_map(|name| name.to_str()).partition(|name| name.ends_with(".svg"));
    assert_eq!(others, ["latency.hlog", "metrics.csv", "report.html", "report.md", "run.json"]);

    let record = place.record();
    // On a busy machine the round is a single slice, which is no series over time.
    let saturation = &record.parts[&Part::Saturation][0];
    let has_series = saturation.cells[0].slices.len() > 1;
    let charts = ["cost.svg", "decision.svg", "forest.svg", "load.svg", "percentiles.svg", "sizes.svg"];
    assert_eq!(drawn, [&charts[..], if has_series { &["throughput.svg"] } else { &[] }].concat());
    assert_eq!((&record.status, record.complete_rounds()), (&Status::Complete, 1));
    let strategies: Vec<&str> = record.strategies.iter().map(|strategy| strategy.name.as_str()).collect();
    assert_eq!(strategies, ["embedded", "linked", "bucketed", "embedded (repeat)"]);
    assert_eq!(record.operations, OPERATIONS);
    assert_eq!(record.parts.keys().copied().collect::<Vec<_>>(), Part::ALL);
    let in_mix: Vec<bool> = record.mix.weights.iter().map(|(_, weight)| *weight > 0.0).collect();
    for (part, cell) in
        record.parts.iter().flat_map(|(part, rounds)| rounds[0].cells.iter().map(move |cell| (part, cell)))
    {
        let planned = record.settings.calls.filter(|_| *part == Part::Saturation);
        assert!(planned.is_none_or(|calls| cell.calls == calls), "{} of {planned:?}", cell.calls);
        let called: Vec<bool> = calls(cell).iter().map(|calls| *calls > 0).collect();
        assert_eq!(called, in_mix, "{part}: {:?}", calls(cell));
        assert_adds_up(cell);
        assert!(cell.operations.iter().all(|operation| operation.errors.is_empty()), "{part}");
        assert_eq!(cell.connections_created, 0, "the pool was warm");
        assert_eq!(cell.own_counters.len(), if *part == Part::Own { OPERATIONS.len() } else { 0 }, "{part}");
        let machine = &cell.machine;
        for share in [machine.steal, machine.busy, machine.load_thread_busy] {
            assert!(share.is_some_and(|share| (0.0..=1.01).contains(&share)), "{part}: {machine:?}");
        }
        assert!(machine.load_thread_busy > Some(0.0) && machine.load_average.is_some(), "{part}: {machine:?}");
    }
    assert_eq!((record.id.len(), record.environment.connections), (8, Some(64)));
    assert!(record.environment.driver.as_ref().is_some_and(|driver| driver.starts_with("mongodb 3.")));
    assert!(record.server.cache_bytes.is_some_and(|cache| cache > 200_000_000));
    let comments = record.strategies[1].collections.iter().find(|one| one.name == "comments").unwrap();
    assert!(comments.indexes[0].starts_with("{ key: { post: 1, created_on: 1, _id: 1 }"), "{comments:?}");
    assert_eq!(logged(&place.run().join("latency.hlog")), succeeded(&record));
    assert_sizes_grow_where_documents_grow(saturation);

    let markdown = fs::read_to_string(place.run().join("report.md")).unwrap();
    assert!(strategies.iter().chain(&OPERATIONS).all(|name| markdown.contains(name)), "{markdown}");
    let again = finish(place.docshape(&["report", "--full", place.run().to_str().unwrap()])).ok();
    assert_eq!(again.stdout, ended.stdout);
    fs::create_dir(place.path("archive")).unwrap();
    fs::rename(place.run(), place.path("archive/moved")).unwrap();
    let moved = place.path("archive/moved").to_str().unwrap().to_owned();
    let again = finish(place.docshape(&["report", "--full", &moved])).ok();
    assert_eq!(again.stdout, ended.stdout.replace(place.run().to_str().unwrap(), &moved));
}

/// Comments are added: to the posts themselves, beside them, or to pages that fill up.
fn assert_sizes_grow_where_documents_grow(round: &RoundRecord) {
    let sizes = |arm: usize, name: &str| {
        let find = |sizes: &[results::CollectionSizes]| sizes.iter().find(|sizes| sizes.name == name).cloned().unwrap();
        (find(&round.cells[arm].before), find(&round.cells[arm].after))
    };
    let (before, after) = sizes(0, "posts");
    assert!(after.mean > before.mean && after.documents == before.documents, "{before:?} {after:?}");
    for (arm, children) in [(1, "comments"), (2, "comment_buckets")] {
        let (before, after) = sizes(arm, "posts");
        assert_eq!((before.mean, before.max, before.documents), (after.mean, after.max, after.documents));
        let (before, after) = sizes(arm, children);
        assert!(after.documents > before.documents && after.size > before.size, "{before:?} {after:?}");
    }
}

#[test]
fn equal_seeds_make_equal_calls_with_any_number_of_threads() {
    let place = Place::new();
    let (_server, uri) = server(&place);
    let run = |name: &str, more: &[&str]| {
        let mut command = place.docshape(&SMALL);
        command.args(["--rounds", "2", "--uri", &uri]).args(more).arg("--out").arg(place.path(name));
        finish(command).ok();
        results::load(&place.path(name)).unwrap()
    };
    let one = run("one", &["--seed", "7"]);
    let two = run("two", &["--seed", "7", "--threads", "2", "--clients", "8"]);
    let other = run("other", &["--seed", "8"]);
    for (part, rounds) in &one.parts {
        for (round, again) in rounds.iter().zip(&two.parts[part]) {
            assert_eq!((round.seed, &round.order), (again.seed, &again.order), "{part}");
            for (cell, again) in round.cells.iter().zip(&again.cells) {
                assert_eq!(calls(cell), calls(&round.cells[0]), "{part}: strategies are asked the same");
                assert_eq!((calls(cell), cell.loaded), (calls(again), again.loaded), "{part}");
                assert_eq!(documents(cell), documents(again));
                assert!(*part == Part::Own || cell.calls == 300, "{part}: {}", cell.calls);
                assert_adds_up(again);
            }
        }
    }
    let (ours, theirs) = (&one.parts[&Part::Saturation], &other.parts[&Part::Saturation]);
    assert_ne!(calls(&ours[0].cells[0]), calls(&ours[1].cells[0]), "rounds differ");
    assert_ne!(calls(&ours[0].cells[0]), calls(&theirs[0].cells[0]), "seeds differ");
    assert_ne!(documents(&ours[0].cells[1]), documents(&theirs[0].cells[1]));
    assert_eq!(logged(&place.path("two/latency.hlog")), succeeded(&two));
}

#[test]
fn thresholds_decide_the_exit_code_and_the_junit_file() {
    let place = Place::new();
    let (kept, broken) = ("linked.read_post.max<1000s", "linked.read_post.p50 < 1us");
    let junit = place.path("junit.xml");
    let thresholds = ["--threshold", kept, "--threshold", broken, "--junit", junit.to_str().unwrap()];
    let ended =
        finish(place.small(&[&["--rounds", "1", "--strategies", "linked", "--full"], &thresholds[..]].concat()));
    assert_eq!(ended.code(), Some(1), "{}", ended.stderr);
    assert_eq!(place.record().settings.thresholds, [kept, broken]);
    let text = fs::read_to_string(&junit).unwrap();
    for words in
        ["tests=\"3\" failures=\"1\"", "name=\"linked.read_post.max&lt;1000s\"/>", "<failure message=\"found: "]
    {
        assert!(text.contains(words), "{words} is not in {text}");
    }
    let again = finish(place.docshape(&["report", "--full", place.run().to_str().unwrap()])).ok();
    for text in [&ended.stdout, &again.stdout] {
        let section = text.split("\nThresholds\n").nth(1).unwrap();
        assert!(section.contains("passed ") && section.contains("failed "), "{text}");
    }
    place.assert_nothing_left();
}

#[test]
fn a_duration_sets_the_calls_of_all_strategies() {
    let place = Place::new();
    let chosen = "--duration 300ms --rounds 1 --threads 2 --clients 5 --slices 3 --preset smoke --only saturation";
    place.finish(&format!("run blog-comments {FEW} {chosen} --out")).ok();
    let record = place.record();
    assert_eq!(record.settings.duration, Some(0.3));
    let cells = &record.parts[&Part::Saturation][0].cells;
    for cell in cells {
        assert_eq!(Some(cell.calls), record.settings.calls, "all strategies make the same calls");
        assert_adds_up(cell);
    }
    let slowest = cells.iter().map(|cell| cell.seconds).fold(0.0, f64::max);
    assert!(slowest > 0.05 && slowest < 3.0, "{slowest} s");
    assert_eq!(logged(&place.run().join("latency.hlog")), succeeded(&record));
    let markdown = fs::read_to_string(place.run().join("report.md")).unwrap();
    assert!(markdown.contains("--duration 0.3s --only saturation") && !markdown.contains("--calls"), "{markdown}");
}

#[test]
fn a_common_rate_has_equal_calls_and_response_times() {
    let place = Place::new();
    let chosen = "--preset smoke --calls 500 --full --only rate --rate 500 --threads 2";
    let ended = place.finish(&format!("run blog-comments {FEW} {chosen} --out")).ok();
    assert!(ended.stdout.contains("Response time per call") && ended.stdout.contains("keeps up"), "{}", ended.stdout);
    assert!(ended.stderr.contains("warm-up calls, 500 calls at 500 calls/s\n"), "{}", ended.stderr);
    let record = place.record();
    let load = LoadModel::Open { rate: 500.0, arrivals: Arrivals::Poisson };
    let part = record.part(Part::Rate).unwrap();
    assert_eq!((part.settings.load, part.settings.clients, record.settings.clients), (load, 64, 8));
    assert_eq!((record.settings.rate_calls, record.settings.duration), (Some(500), None));
    assert_eq!(record.parts.len(), 1);
    let cells = &record.parts[&Part::Rate][0].cells;
    for cell in cells {
        assert_adds_up(cell);
        let open = cell.open.as_ref().expect("the open model");
        assert_eq!((open.offered, cell.calls + open.never_started, cell.slices.len()), (500, 500, 2));
        let first = cells[0].open.as_ref().unwrap().seconds;
        assert!((open.seconds - first).abs() < 1e-6, "all strategies get the same times: {} {first}", open.seconds);
        assert_eq!((open.pacer_lag.count, open.queue_wait.count), (500, cell.calls));
        assert_eq!(cell.check_out.as_ref().map(|waits| waits.count >= cell.calls), Some(true), "a command per call");
        for outcome in cell.operations.iter().flat_map(|operation| &operation.outcomes) {
            let response = outcome.response.as_ref().expect("response times");
            assert!(response.count == outcome.count && response.sum >= outcome.sum, "{}", outcome.outcome);
        }
    }
    assert_eq!(logged(&place.run().join("latency.hlog")), succeeded(&record));
    let markdown = fs::read_to_string(place.run().join("report.md")).unwrap();
    for words in [
        "| open load | 500 calls per second and strategy |",
        "| arrivals | poisson |",
        "| clients | 8 |",
        "--calls 500 --only rate --rate 500 --arrivals poisson --clients 8",
        "## Response time per call",
        "## Response under load",
    ] {
        assert!(markdown.contains(words), "{words} is not in {markdown}");
    }
    place.assert_nothing_left();
}

#[test]
fn rate_auto_is_half_of_the_best_strategy() {
    let place = Place::new();
    let chosen = "--preset smoke --rate auto --clients 16 --arrivals uniform";
    let ended = place.finish(&format!("run blog-comments {FEW} {chosen} --out")).ok();
    let lines: Vec<&str> = ended.stdout.lines().filter(|line| !line.starts_with("INVALID RUN: ")).collect();
    assert_eq!(lines.len(), 2, "{}", ended.stdout);
    assert!(lines[0].starts_with("blog-comments runs: 8 operations, 3 strategies, "), "{}", lines[0]);
    assert!(lines[0].ends_with(" calls, no failure."), "{}", lines[0]);
    assert!(lines[1].starts_with("All strategies returned the same results (200 calls"), "{}", lines[1]);
    let next =
        "Next: docshape run blog-comments --set posts=30 --set comments_per_post=10 --arrivals uniform --clients 16";
    assert!(ended.stderr.contains(next) || ended.stdout.contains("INVALID RUN: "), "{}", ended.stderr);
    let record = place.record();
    let LoadModel::Open { rate, arrivals: Arrivals::Uniform } = record.settings.load else {
        panic!("{:?}", record.settings.load)
    };
    // It has three digits.
    let best = record.settings.pilot.values().copied().fold(0.0, f64::max);
    assert!(rate > 1.0 && (best / (2.0 * rate) - 1.0).abs() < 0.01, "{:?}", record.settings);
    assert_eq!(record.parts.keys().copied().collect::<Vec<_>>(), Part::ALL);
    let markdown = fs::read_to_string(place.run().join("report.md")).unwrap();
    assert!(
        markdown.contains("--arrivals uniform --clients 16") && markdown.contains(" calls/s, linked "),
        "{markdown}"
    );
}

#[test]
fn a_very_slow_strategy_does_not_shorten_the_windows_of_others() {
    let place = Place::new();
    let read = "{ findOne: points, filter: { _id: <point> } }";
    let many = [read; 40].join(", ");
    let scenario = format!(
        "format: 1\nname: slow\ntitle: Once or often?\nabout: A strategy that asks 40 times.\n\
         entities: {{ point: {{ count: 40, fields: {{ _id: index }} }} }}\n\
         operations: {{ read: {{ arguments: {{ point: zipf(point) }}, returns: point }} }}\n\
         mixes: {{ default: {{ read: 1 }} }}\n\
         strategies:\n\
         \x20 one: {{ about: Asks once., collections: {{ points: {{ each: point }} }}, operations: {{ read: {read} }} }}\n\
         \x20 many: {{ about: Asks often., like: one, operations: {{ read: [{many}] }} }}\n"
    );
    fs::write(place.path("slow.yaml"), scenario).unwrap();
    // In a shorter window, the fewest calls of a window could be more than those of the slow strategy.
    place.finish("run ./slow.yaml --preset smoke --duration 1s --only saturation --out").ok();
    let record = place.record();
    let (settings, cells) = (&record.settings, &record.parts[&Part::Saturation][0].cells);
    assert_eq!(settings.fewer_calls.keys().collect::<Vec<_>>(), ["many"]);
    assert!(settings.fewer_calls["many"] * 5 < settings.calls.unwrap(), "{settings:?}");
    for (strategy, cell) in record.strategies.iter().zip(cells) {
        assert_eq!(Some(cell.calls), settings.calls_of(Part::Saturation, &strategy.name), "{}", strategy.name);
    }
    // All make the calls of a second, give or take what else the machine does.
    let seconds: Vec<f64> = cells.iter().map(|cell| cell.seconds).collect();
    assert!(seconds.iter().all(|seconds| *seconds > 0.01), "{seconds:?}");
    // Documents that do not grow are the same for all, however many calls were made.
    let markdown = fs::read_to_string(place.run().join("report.md")).unwrap();
    assert!(!markdown.contains("five times slower than others"), "{markdown}");
}

#[test]
fn only_own_costs_are_measured_when_nothing_else_is_requested() {
    let place = Place::new();
    // Without a rate, which would be refused.
    let chosen = "--calls 300 --only own --rounds 1 --strategies embedded,linked --full";
    let ended = place.finish(&format!("run blog-comments {FEW} {chosen} --out")).ok();
    let measures: Vec<&str> = ended.stderr.lines().filter(|line| line.contains("round 1 of 1: ")).collect();
    for (part, is_measured) in [("own cost", true), ("open load", false), ("saturation", false)] {
        assert_eq!(measures.iter().any(|line| line.ends_with(part)), is_measured, "{part}: {}", ended.stderr);
    }
    assert!(ended.stderr.contains("warm-up calls, own costs in 300 calls\n"), "{}", ended.stderr);
    let record = place.record();
    assert_eq!(record.settings.parts, [Part::Own]);
    assert_eq!(record.parts.keys().collect::<Vec<_>>(), [&Part::Own]);
    for cell in &record.parts[&Part::Own][0].cells {
        assert_adds_up(cell);
        assert!(cell.open.is_none() && cell.counters.is_empty(), "{cell:?}");
        assert!(!cell.before.is_empty() && !cell.after.is_empty(), "the only part is also the last");
    }
    assert_eq!(logged(&place.run().join("latency.hlog")), succeeded(&record));
    let markdown = fs::read_to_string(place.run().join("report.md")).unwrap();
    for text in [&ended.stdout, &markdown] {
        assert!(text.contains("Measured: own cost: each operation by itself, 1 client."), "{text}");
        assert!(!text.contains("Response under load") && !text.contains("calls in flight"), "{text}");
    }
    assert!(markdown.contains("--only own"), "{markdown}");
    place.assert_nothing_left();
}

#[test]
fn a_run_with_too_many_errors_is_invalid_and_reported() {
    const SCENARIO: &str = "\
format: 1
name: twice
title: Twice the same key
entities:
  post: { count: 50, fields: { _id: index } }
operations:
  take: { arguments: { post: uniform(post) } }
  read: { arguments: { post: uniform(post) }, returns: post }
mixes:
  default: { take: 1, read: 3 }
strategies:
  plain:
    collections:
      posts: { each: post }
      taken:
    operations:
      take: { insertOne: taken, document: { _id: <post._id> } }
      read: { findOne: posts, filter: { _id: <post._id> } }
";
    let place = Place::new();
    fs::write(place.path("twice.yaml"), SCENARIO).unwrap();
    let run = |name: &str, more: &[&str]| {
        let mut command = place.docshape(&["run", "./twice.yaml", "--calls", "400", "--rounds", "1"]);
        command.args(more).arg("--out").arg(place.path(name));
        finish(command)
    };
    // Of a hundred attempts to take one of fifty keys more than half fail.
    run("valid", &["--error-budget", "50"]).ok();
    let ended = run("void", &[]);
    assert_eq!(ended.code(), Some(4), "{}\n{}", ended.stderr, ended.stdout);
    assert!(ended.stdout.starts_with("INVALID RUN: no verdict"), "{}", ended.stdout);
    assert!(ended.stdout.contains("the error budget is 1.0 %"), "{}", ended.stdout);
    let record = results::load(&place.path("void")).unwrap();
    assert_eq!((&record.status, record.complete_rounds()), (&Status::Complete, 1));
    let markdown = fs::read_to_string(place.path("void/report.md")).unwrap();
    assert!(markdown.contains("> **Invalid run: no verdict"), "{markdown}");
}

#[test]
fn a_step_that_fails_at_run_time_is_named() {
    const SCENARIO: &str = "\
format: 1
name: division
title: Shares
entities:
  post: { count: 50, fields: { _id: index, n: index - 40 } }
operations:
  share: { arguments: { post: uniform(post) }, returns: value }
mixes:
  default: { share: 1 }
strategies:
  plain:
    collections: { posts: { each: post } }
    operations:
      share:
        - { findOne: posts, filter: { _id: <post._id> } }
        - let: { share: 100 / reply.n }
        - return: share
";
    let place = Place::new();
    fs::write(place.path("division.yaml"), SCENARIO).unwrap();
    let ended = place.finish("run ./division.yaml --calls 2000 --rounds 1 --out");
    ended.error(2, &["strategy plain", "operation share", "let: division by zero", "no round is complete"]);
    assert!(matches!(place.record().status, Status::Failed(_)));
    place.assert_nothing_left();
}

#[test]
fn memory_does_not_grow_with_the_calls() {
    // 64 connections to each of four servers take about 25 MiB of it.
    const MOST: u64 = 140 * 1024;
    let peak = |calls: &str| {
        let place = Place::new();
        place.finish(&format!("run blog-comments --no-verify --rounds 2 --calls {calls} --rate 600 --out")).ok().peak
    };
    let (short, long) = (peak("200"), peak("800"));
    assert!(short > 0 && long < MOST, "{short} KiB, {long} KiB");
    assert!(long as f64 <= short as f64 * 1.2, "{short} KiB, {long} KiB");
}
