//! Counters and oplog of a real server: a known number of calls between two snapshots gives these counts.

use bson::{Document, RawDocumentBuf, doc, rawdoc};
use docshape::infer::layout::{EntityPlace, FieldPlace, Layout, ParentPlace};
use docshape::observe::{Observed, live, operations, profile};
use docshape::server::client::MongoTarget;
use docshape::server::embedded::EmbeddedMongod;
use docshape::server::reader::Reader;
use docshape::server::{ReplyKind, Target};

use crate::harness;

fn field(name: &str) -> FieldPlace {
    let (field, path) = (name.to_owned(), vec![name.to_owned()]);
    FieldPlace { field, path, generator: "uniform(1, 9)".to_owned(), ..FieldPlace::default() }
}

/// Users, and posts that have the `_id` of their user.
fn layout() -> Layout {
    let place = |entity: &str, collection: &str, fields: &[&str]| EntityPlace {
        entity: entity.to_owned(),
        collection: collection.to_owned(),
        count: 100,
        fields: fields.iter().map(|name| field(name)).collect(),
        ..EntityPlace::default()
    };
    let parent = ParentPlace {
        entity: "user".to_owned(),
        relation: "posts".to_owned(),
        reference: Some(vec!["user".to_owned()]),
        list: None,
    };
    let posts = EntityPlace { parent: Some(parent), ..place("post", "posts", &["_id", "text"]) };
    Layout { entities: vec![place("user", "users", &["_id", "name", "visits"]), posts] }
}

async fn run(target: &MongoTarget, command: Document) {
    let is_read = command.contains_key("find");
    let kind = if is_read { ReplyKind::Cursor } else { ReplyKind::Single };
    target.run("blog", RawDocumentBuf::try_from(&command).unwrap(), kind).await.unwrap();
}

fn update(collection: &str, id: i32, change: Document) -> Document {
    doc! { "update": collection, "updates": [{ "q": { "_id": id }, "u": change }] }
}

fn calls(observed: &Observed, does: &str) -> u64 {
    let at = observed.operations.iter().position(|operation| operation.does == does);
    at.map_or_else(|| panic!("{does} is not in {observed:#?}"), |at| observed.calls_of[at])
}

#[tokio::test]
async fn calls_between_two_snapshots_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let server = EmbeddedMongod::start(&harness::options(folder.path())).await.unwrap();
    let target = MongoTarget::connect(&server.uri(), 1).await.unwrap();
    let reader = Reader::connect(&server.uri()).await.unwrap();
    let users: Vec<Document> = (0..50).map(|id| doc! { "_id": id, "name": "secret", "visits": 0 }).collect();
    run(&target, doc! { "insert": "users", "documents": users }).await;
    run(&target, doc! { "insert": "posts", "documents": [{ "_id": -1, "user": 0, "text": "secret" }] }).await;
    run(&target, doc! { "createIndexes": "posts", "indexes": [{ "key": { "user": 1 }, "name": "user" }] }).await;

    let collections = ["users".to_owned(), "posts".to_owned()];
    let before = live::snapshot(&reader, "blog", &collections).await.unwrap();
    for id in 0..30 {
        run(&target, doc! { "insert": "posts", "documents": [{ "_id": id, "user": id % 7, "text": "secret" }] }).await;
        run(&target, doc! { "find": "users", "filter": { "_id": id } }).await;
    }
    for id in 0..20 {
        run(&target, update("users", id, doc! { "$set": { "name": format!("other secret {id}") } })).await;
        run(&target, doc! { "find": "posts", "filter": { "user": id % 5 } }).await;
    }
    // These change nothing, so that the oplog does not have them.
    for id in 0..5 {
        run(&target, update("users", id, doc! { "$set": { "visits": 0 } })).await;
    }
    for id in 0..10 {
        run(&target, doc! { "delete": "posts", "deletes": [{ "q": { "_id": id }, "limit": 1 }] }).await;
    }
    for _ in 0..6 {
        run(&target, doc! { "find": "users", "filter": { "name": "secret" } }).await;
    }
    for id in [20, 21, 22] {
        let mut transaction = target.begin("majority").await.unwrap();
        let insert = doc! { "insert": "posts", "documents": [{ "_id": 100 + id, "user": id, "text": "secret" }] };
        for command in [update("users", id, doc! { "$inc": { "visits": 1 } }), insert] {
            let command = RawDocumentBuf::try_from(&command).unwrap();
            target.run_in(&mut transaction, "blog", command, ReplyKind::Single).await.unwrap();
        }
        target.end(&mut transaction, true).await.unwrap();
    }
    let after = live::snapshot(&reader, "blog", &collections).await.unwrap();

    let observations = live::between(&reader, "blog", &before, &after).await.unwrap();
    let observed = operations(&observations, &layout());
    assert_eq!(calls(&observed, "{ create: new_post, in: user }"), 30);
    assert_eq!(calls(&observed, "{ update: user, set: { name: <name> } }"), 20);
    assert_eq!(calls(&observed, "{ delete: post }"), 10);
    let together = "{ atomically: [{ update: user, set: { visits: <visits> } }, { create: new_post, in: user }] }";
    assert_eq!(calls(&observed, together), 3);
    assert_eq!(calls(&observed, "{ get: user }"), 30);
    assert_eq!(calls(&observed, "{ list: user.posts, unordered: true }"), 20);
    assert_eq!(observed.left_out.len(), 1, "{:?}", observed.left_out);
    assert_eq!(
        (observed.left_out[0].what.as_str(), observed.left_out[0].calls),
        ("reads that use no index: not attributed", 6)
    );
    assert!(!format!("{observed:?}").contains("secret"));
}

#[tokio::test]
async fn profiled_statements_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let server = EmbeddedMongod::start(&harness::options(folder.path())).await.unwrap();
    let target = MongoTarget::connect(&server.uri(), 1).await.unwrap();
    let reader = Reader::connect(&server.uri()).await.unwrap();
    let none = live::profile(&reader, "blog").await.unwrap();
    assert_eq!(none.statements(), 0);
    run(&target, doc! { "profile": 2, "slowms": 0 }).await;
    for id in 0..7 {
        run(&target, doc! { "insert": "posts", "documents": [{ "_id": id, "user": 3, "text": "secret" }] }).await;
    }
    for id in 0..6 {
        run(&target, doc! { "find": "posts", "filter": { "user": id }, "sort": { "_id": -1 }, "limit": 3 }).await;
    }
    for id in 0..5 {
        run(&target, update("users", id, doc! { "$set": { "name": "secret" } })).await;
    }
    for id in 0..4 {
        run(&target, doc! { "delete": "posts", "deletes": [{ "q": { "_id": id }, "limit": 1 }] }).await;
    }
    run(&target, doc! { "profile": 0 }).await;

    // All of these come from docshape, which is left out.
    let observations = live::profile(&reader, "blog").await.unwrap();
    assert_eq!((observations.statements(), observations.left_out.tools), (0, 22));
    let found = target.run("blog", rawdoc! { "find": "system.profile" }, ReplyKind::Cursor).await.unwrap();
    let cursor = Document::try_from(found.batches()[0].as_ref()).unwrap();
    let documents = cursor.get_document("cursor").unwrap().get_array("firstBatch").unwrap().iter();
    let of_application = documents.map(|document| {
        let mut document = document.as_document().unwrap().clone();
        document.insert("appName", "blog");
        document
    });
    let observed = operations(&profile::read(of_application, "blog"), &layout());
    assert_eq!(calls(&observed, "{ create: new_post, in: user }"), 7);
    assert_eq!(calls(&observed, "{ list: user.posts, sort: { _id: -1 }, limit: 3 }"), 6);
    assert_eq!(calls(&observed, "{ update: user, set: { name: <name> } }"), 5);
    assert_eq!(calls(&observed, "{ delete: post }"), 4);
    assert!(!format!("{observed:?}").contains("secret"));
}
