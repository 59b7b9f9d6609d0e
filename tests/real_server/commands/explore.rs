//! `docshape explore`: all shapes of a small model, one of whose strategies by hand is wrong.

use std::fs;

use docshape::results;
use docshape::studies::explore::ranking::ranked;
use docshape::studies::explore::record::{ExploreRecord, TriedOutcome};

use super::{Place, Running, finish};

const MODEL: &str = "
format: 1
name: explored
title: Where are the comments?
about: Readers see a post with its comments.
parameters: { posts: 6 }
entities:
  post: { count: posts, fields: { _id: index, title: words(2) } }
  comment:
    of: post
    as: comments
    count: uniform(0, 4)
    from: data/comments.ndjson
    fields: { _id: oid(), at: clock(), text: line('text') }
    sort: { at: 1, _id: 1 }
    arrives_sorted: true
operations:
  read: { arguments: { post: uniform(post) }, does: { get: post, with: { comments: } } }
  add: { arguments: { post: uniform(post), comment: new(comment) }, does: { create: comment, in: post } }
  count: { arguments: { post: uniform(post) }, does: { count: post.comments } }
mixes: { default: { read: 5, add: 3, count: 2 } }
strategies:
  # It counts posts.
  counts_posts: { shape: { post.comments: embed }, operations: { count: { countDocuments: posts, filter: { _id: <post> } } } }
  # The server of the tests is too old for it.
  newer: { shape: { post.comments: embed }, operations: { count: [
    { aggregate: posts, pipeline: [{ $group: { _id: null, n: { $median: { input: '$_id', method: approximate } } } }], as: found },
    { return: 0 }
  ] } }
  linked: { shape: { post.comments: reference } }
";

fn write_model(place: &Place) {
    fs::write(place.path("model.yaml"), MODEL).unwrap();
    fs::create_dir(place.path("data")).unwrap();
    fs::write(place.path("data/comments.ndjson"), "{\"text\":\"a\"}\n{\"text\":\"b\"}\n{}\n").unwrap();
}

/// The outcomes of what was tried, by name.
fn outcome<'r>(record: &'r ExploreRecord, name: &str) -> &'r TriedOutcome {
    &record.named(name).unwrap_or_else(|| panic!("{name}: {record:?}")).outcome
}

#[test]
fn shapes_are_proven_ranked_compared_and_written_down() {
    let place = Place::new();
    let (model, folder) = (place.path("model.yaml"), place.run());
    write_model(&place);
    let run = folder.to_str().unwrap();
    let command = ["explore", "model.yaml", "--preset", "smoke", "--keep", "2", "--out", run];
    // Interrupted after the first shapes were measured, and resumed.
    let mut running = Running::start(place.docshape(&command));
    running.wait_for("own costs of");
    let ended = running.interrupt();
    assert!(ended.stderr.contains("explore --resume"), "{}", ended.stderr);
    let before = results::load_as::<ExploreRecord>(&folder).unwrap();
    assert!(!before.complete && before.screens.len() == 1, "{before:?}");
    let resumed = finish(place.docshape(&["explore", "--resume", run]));
    // A strategy that does not give the model's answers fails a check.
    assert_eq!(resumed.code(), Some(1), "{}\n{}", resumed.stderr, resumed.stdout);

    let record = results::load_as::<ExploreRecord>(&folder).unwrap();
    assert!(record.complete && record.tried.starts_with(&before.tried[..1]), "{record:?}");
    let TriedOutcome::Wrong(problem) = outcome(&record, "counts_posts") else { panic!("{record:?}") };
    assert!(problem.contains("count("), "{problem}");
    let TriedOutcome::Failed(reason) = outcome(&record, "newer") else { panic!("{record:?}") };
    assert!(reason.contains("$median"), "{reason}");
    assert!(matches!(outcome(&record, "comments_embed"), TriedOutcome::Measured(_)));
    assert_eq!(*outcome(&record, "all_referenced"), TriedOutcome::Same("linked".to_owned()));
    let measured = record.tried.iter().filter(|one| one.measured().is_some()).count();
    assert!(measured >= 5, "{record:?}");
    assert!(record.finalists.len() >= 2 && !record.finalists.contains(&"counts_posts".to_owned()), "{record:?}");
    let finals = results::load(&folder.join("final")).unwrap();
    assert!(
        finals.complete_rounds() == 1 && finals.strategies.len() > record.finalists.len(),
        "{:?}",
        finals.strategies
    );
    assert_eq!(finals.scenario.data, record.scenario.data);
    assert!(record.scenario.data.contains_key("data/comments.ndjson"), "{:?}", record.scenario.data);
    let copy = finish(place.docshape(&["check", "run/finalists.yaml"]));
    assert!(copy.code() == Some(2) && copy.stderr.contains("run/data/comments.ndjson"), "{}", copy.stderr);
    for text in ["Shapes tried", "comments_embed", "Next: docshape "] {
        assert!((resumed.stdout.clone() + &resumed.stderr).contains(text), "{text}: {}", resumed.stdout);
    }
    let again = finish(place.docshape(&["report", run])).ok();
    assert!(again.stdout.contains("counts_posts does not give the model's answers"), "{}", again.stdout);

    let ranked = ranked(&record);
    let at = ranked.iter().position(|(tried, _)| !tried.is_of_scenario()).unwrap();
    let write = ["explore", "--resume", run, "--write", &(at + 1).to_string()];
    let written = finish(place.docshape(&write)).ok();
    let text = fs::read_to_string(&model).unwrap();
    let entry = format!("  {}: {{ shape: ", ranked[at].0.name);
    assert!(written.stdout.contains(&entry) && text.contains(&entry), "{}\n{text}", written.stdout);
    assert!(finish(place.docshape(&["check", "model.yaml"])).ok().stdout.contains("4 strategies"), "{text}");
    let changed = finish(place.docshape(&write));
    changed.error(2, &["model.yaml has changed since", "add the lines above to its `strategies`"]);
    assert_eq!(fs::read_to_string(&model).unwrap(), text, "nothing is lost");
    place.assert_nothing_left();
}

#[test]
fn what_cannot_be_explored_is_refused_with_words() {
    let place = Place::new();
    write_model(&place);
    for (arguments, words) in [
        (&["work-queue"][..], &["no relation whose shape could vary", "docs/models.md"][..]),
        (&["model.yaml", "--only", "post.coments: embed"], &["post.coments", "did you mean `post.comments`?"]),
        (&["model.yaml", "--only", "post.comments: embed", "--never", "embed"], &["leaves no word for post.comments"]),
    ] {
        let ended = finish(place.docshape(&[&["explore"], arguments].concat()));
        ended.error(2, words);
    }
    place.assert_nothing_left();
}
