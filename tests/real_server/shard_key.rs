//! `docshape shardkey`: which shards a command concerns, decided by the planner of a real server.

use std::path::Path;
use std::process::Output;

use bson::{Bson, Document, RawDocumentBuf, doc, oid::ObjectId};
use docshape::plan::ShardKey;
use docshape::server::client::MongoTarget;
use docshape::server::embedded::EmbeddedMongod;
use docshape::server::{ReplyKind, Target};
use docshape::studies::shard_key::planner::{KeyPlanner, Targeting};
use docshape::studies::shard_key::query::{ShardAccess, queries};

use crate::harness;

use Targeting::{Multi, Scatter, Single};

pub(super) fn raw(document: Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(&document).unwrap()
}

pub(super) fn key(document: Document) -> ShardKey {
    ShardKey::of_index(&raw(document)).unwrap()
}

/// The classes of all questions of a command, and whether each changes one document.
pub(super) async fn classes(
    target: &MongoTarget,
    key: &ShardKey,
    name: &str,
    command: &Document,
) -> Vec<(Targeting, bool)> {
    let mut planner = KeyPlanner::create(target, "shards", name.to_owned(), key).await.unwrap();
    let mut found = Vec::new();
    for query in queries(&raw(command.clone())) {
        let asked = (&query.filter, query.variables.as_ref());
        let reach = planner.reach(target, "shards", asked, false).await.unwrap().unwrap();
        found.push((reach.targeting, matches!(&query.access, ShardAccess::Write(kind) if kind.is_single)));
    }
    found
}

/// The shapes of commands in the server's own test of `analyzeShardKey` (read_and_write_distribution.js): a value, a range, and nothing
/// of the key. With a hashed key a range concerns all shards.
pub(super) fn shapes_of_the_server(field: &str) -> Vec<(Document, Targeting)> {
    let value = |value: i32| doc! { field: value };
    let range = |operator: &str| doc! { field: { operator: 7 } };
    let path = format!("${field}");
    vec![
        (doc! { "find": "c", "filter": value(7) }, Single),
        (doc! { "aggregate": "c", "pipeline": [{ "$match": value(7) }], "cursor": {} }, Single),
        (
            doc! { "aggregate": "c", "pipeline": [{ "$match": { "$expr": { "$eq": [&path, "$$value"] } } }], "cursor": {}, "let": { "value": 7 } },
            Single,
        ),
        (doc! { "count": "c", "query": value(7) }, Single),
        (doc! { "distinct": "c", "key": "x", "query": value(7) }, Single),
        (doc! { "find": "c", "filter": range("$gte") }, Multi),
        (doc! { "aggregate": "c", "pipeline": [{ "$match": range("$lt") }], "cursor": {} }, Multi),
        (doc! { "count": "c", "query": range("$lte") }, Multi),
        (doc! { "find": "c", "filter": {} }, Scatter),
        (
            doc! { "aggregate": "c", "pipeline": [{ "$match": { "$expr": { "$eq": ["$ts", "$$NOW"] } } }], "cursor": {} },
            Scatter,
        ),
        (doc! { "update": "c", "updates": [{ "q": value(7), "u": { "$set": { "z": 0 } } }] }, Single),
        (
            doc! { "update": "c", "updates": [{ "q": { "$expr": { "$eq": [&path, 7] } }, "u": [{ "$set": { "z": 0 } }] }] },
            Single,
        ),
        (doc! { "delete": "c", "deletes": [{ "q": value(7), "limit": 1 }, { "q": value(8), "limit": 0 }] }, Single),
        (doc! { "findAndModify": "c", "query": value(7), "update": { "$inc": { field: 1 } } }, Single),
        (doc! { "update": "c", "updates": [{ "q": range("$gte"), "u": { "$set": { "z": 0 } } }] }, Multi),
        (doc! { "delete": "c", "deletes": [{ "q": range("$lte"), "limit": 0 }] }, Multi),
        (doc! { "findAndModify": "c", "query": range("$lte"), "update": { "$set": { "z": 0 } } }, Multi),
        (doc! { "findAndModify": "c", "query": {}, "update": { "$set": { "z": 0 } } }, Scatter),
    ]
}

/// Filters of the catalogue's kinds, with the class that the server's source gives them.
pub(super) fn filters() -> Vec<(Document, Document, Targeting)> {
    let id = ObjectId::new();
    let of_post =
        doc! { "_id": { "$gte": { "post": 1, "page": Bson::MinKey }, "$lte": { "post": 1, "page": Bson::MaxKey } } };
    vec![
        (doc! { "x": 1 }, doc! { "x": { "$in": [5] } }, Single),
        (doc! { "x": 1 }, doc! { "x": { "$in": [5, 6] } }, Multi),
        (doc! { "x": 1 }, doc! { "y": 1 }, Scatter),
        (doc! { "x": "hashed" }, doc! { "x": { "$in": [1, 2] } }, Multi),
        (doc! { "x": 1 }, doc! { "$or": [{ "x": 1 }, { "x": 2 }] }, Multi),
        (doc! { "x": 1 }, doc! { "$or": [{ "x": 1 }, { "y": 2 }] }, Scatter),
        (doc! { "x": 1 }, doc! { "$or": [{ "x": { "$lt": 5 } }, { "x": { "$gte": 5 } }] }, Multi),
        (doc! { "x": 1 }, doc! { "x": Bson::Null }, Single),
        (doc! { "x": 1 }, doc! { "x": { "$exists": true } }, Scatter),
        (doc! { "x": 1 }, doc! { "x": { "$ne": 3 } }, Multi),
        (doc! { "x": 1 }, doc! { "$and": [{ "x": { "$gt": 3 } }, { "x": { "$lt": 1 } }] }, Multi),
        (doc! { "x": 1 }, doc! { "x": { "$gte": 3, "$lte": 3 } }, Single),
        (doc! { "post": 1, "created_on": 1 }, doc! { "post": 7 }, Multi),
        (doc! { "post": 1, "created_on": 1 }, doc! { "created_on": { "$gt": 3 } }, Scatter),
        (doc! { "post": 1, "page": 1 }, doc! { "post": 7, "page": 2 }, Single),
        (doc! { "post": 1, "page": 1 }, doc! { "post": 7, "page": 2, "count": { "$lt": 50 } }, Single),
        (doc! { "post": 1, "page": 1 }, doc! { "post": 7, "comments._id": id }, Multi),
        (doc! { "_id": "hashed" }, doc! { "_id": id }, Single),
        (doc! { "_id": 1 }, doc! { "_id": id }, Single),
        (doc! { "_id": 1 }, of_post, Multi),
        (doc! { "_id.page": 1 }, doc! { "_id": { "page": 3, "day": 4 } }, Single),
        (doc! { "_id.page": 1 }, doc! { "_id.page": 3 }, Single),
        (doc! { "path": 1 }, doc! { "path": { "$regex": "^,a,b," } }, Multi),
        (doc! { "path": 1 }, doc! { "path": { "$regex": ",a," } }, Multi),
        (doc! { "user": 1, "rev": 1, "page": 1 }, doc! { "user": 3, "rev": { "$lt": 4 } }, Multi),
        (doc! { "feed": 1, "_id": "hashed" }, doc! { "feed": 3 }, Multi),
        (doc! { "feed": 1, "_id": "hashed" }, doc! { "feed": 3, "_id": id }, Single),
        (doc! { "x": 1 }, doc! { "$and": [{ "x": 4 }, { "y": { "$gt": 1 } }] }, Single),
    ]
}

#[tokio::test]
async fn shapes_of_commands_have_the_classes_of_the_servers_source() {
    let temp = tempfile::tempdir().unwrap();
    let server = EmbeddedMongod::start(&harness::options(temp.path())).await.unwrap();
    let target = MongoTarget::connect(&server.uri(), 1).await.unwrap();
    let keys = [(doc! { "x": 1 }, "x", false), (doc! { "a.x": 1 }, "a.x", false), (doc! { "x": "hashed" }, "x", true)];
    let (mut number, mut checked) = (0, 0);
    for (document, field, is_hashed) in keys {
        let key = key(document);
        for (command, expected) in shapes_of_the_server(field) {
            let expected = if is_hashed && expected == Multi { Scatter } else { expected };
            let found = classes(&target, &key, &format!("key_{number}"), &command).await;
            assert!(
                !found.is_empty() && found.iter().all(|(class, _)| *class == expected),
                "{key} {command}: {found:?}"
            );
            let is_single = command.contains_key("findAndModify") || command.contains_key("update");
            assert!(!is_single || found.iter().all(|(_, is_one)| *is_one), "{command}");
            (number, checked) = (number + 1, checked + 1);
        }
    }
    for (document, filter, expected) in filters() {
        let (key, command) = (key(document), doc! { "find": "c", "filter": filter });
        let found = classes(&target, &key, &format!("key_{number}"), &command).await;
        assert_eq!(found, [(expected, false)], "{key} {command}");
        (number, checked) = (number + 1, checked + 1);
    }
    assert_eq!(checked, 3 * 18 + 28);
    target.run("shards", bson::rawdoc! { "dropDatabase": 1 }, ReplyKind::Single).await.unwrap();
}

const SMALL: &str = "
format: 1
name: small
title: Small
entities:
  host: { count: 4, fields: { _id: index } }
  note: { count: 100, fields: { _id: index, host: 'record(host, index % 4)', tags: '[1, 2]', at: clock() } }
operations:
  add: { arguments: { note: new(note) } }
  of_host: { arguments: { host: uniform(host) }, returns: [note] }
  one: { arguments: { note: uniform(note) }, returns: note }
mixes: { default: { add: 1, of_host: 2, one: 1 } }
strategies:
  linked:
    collections:
      hosts: { each: host }
      notes: { each: note, indexes: [{ host: 1 }] }
    operations:
      add: { insertOne: notes, document: <note> }
      of_host:
        - { find: notes, filter: { host: <host> }, sort: { _id: 1 } }
        - return: reply
      one: { findOne: notes, filter: { _id: <note> } }
shard_keys: { notes: [{ host: 1 }, { _id: hashed }, { at: 1 }, { tags: 1 }, { nothing: 1 }] }
claims:
  - { id: K1, says: A host is on one shard., expect: { metric: single_shard, operation: of_host, strategy: linked, equals: 1 } }
";

fn shardkey(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = harness::docshape(&[&["shardkey"], arguments].concat());
    command.current_dir(folder).output().unwrap()
}

/// Four hosts with 25 notes each: by host, each is on one of four shards.
#[test]
fn a_scenario_has_the_counts_that_follow_from_it() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("small.yaml"), SMALL).unwrap();
    let output = shardkey(temp.path(), &["small.yaml", "--calls", "400", "--out", "found"]);
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}{errors}");
    let record: serde_json::Value =
        serde_json::from_slice(&std::fs::read(temp.path().join("found/shard-key.json")).unwrap()).unwrap();
    let linked = &record["strategies"][0];
    let (calls, keys) = (&linked["calls"], linked["collections"][1]["keys"].as_array().unwrap());
    let count = |operation: usize| calls[operation].as_u64().unwrap();
    assert_eq!(count(0) + count(1) + count(2), 400);
    let of = |name: &str| keys.iter().find(|key| key["key"] == name).unwrap();
    let (host, id, at) = (of("{ host: 1 }"), of("{ _id: hashed }"), of("{ at: 1 }"));
    // [one shard, several, all] of the reads of hosts and of notes.
    let reads = |key: &serde_json::Value, operation: usize| key["operations"][operation]["reads"].clone();
    assert_eq!(
        [reads(host, 1), reads(host, 2)],
        [serde_json::json!([count(1), 0, 0]), serde_json::json!([0, 0, count(2)])]
    );
    assert_eq!(
        [reads(id, 1), reads(id, 2)],
        [serde_json::json!([0, 0, count(1)]), serde_json::json!([count(2), 0, 0])]
    );
    let messages =
        |key: &serde_json::Value, operation: usize| key["operations"][operation]["messages"].as_u64().unwrap();
    assert_eq!([messages(host, 0), messages(host, 1), messages(host, 2)], [count(0), count(1), 4 * count(2)]);
    assert_eq!((host["distinct"].as_u64(), host["parts"].as_u64()), (Some(4), Some(4)));
    assert!(host["largest_part"].as_f64().unwrap() < 0.35, "{host}");
    // All notes that calls add are later than those before, and go to the last part of a hundred.
    assert_eq!((at["hottest"].as_u64(), at["is_monotonic"].as_bool()), (Some(count(0)), Some(true)));
    assert!(id["hottest"].as_u64().unwrap() < count(0) / 2, "{id}");
    assert_eq!(of("{ tags: 1 }")["refused"], "it contains an array");
    assert_eq!(of("{ nothing: 1 }")["refused"], "no document has `nothing`");
    assert!(text.contains("✓ confirmed"), "{text}");

    let again = harness::docshape(&["report", "found"]).current_dir(temp.path()).output().unwrap();
    let again = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(again.contains("Strategies") && text.contains(again.lines().next().unwrap()), "{again}");
}

#[test]
fn keys_that_cannot_be_are_named() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("small.yaml"), SMALL).unwrap();
    let cases = [
        (["--key", "notes={at: hashed, host: hashed}"], "is no shard key"),
        (["--key", "nots={at: 1}"], "no strategy has a collection nots: did you mean `notes`?"),
        (["--key", "notes={at: -1}"], "is no shard key"),
        (["--shards", "1"], "1"),
    ];
    for (arguments, expected) in cases {
        let output = shardkey(temp.path(), &[&["small.yaml"], &arguments[..]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && errors.contains(expected), "{arguments:?}: {errors}");
    }
    assert!(!temp.path().join("results").exists());
}
