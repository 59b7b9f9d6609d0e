//! Classes and characteristics of shard keys beside those of the server's own `analyzeShardKey`, which MongoDB has since 7.0: where
//! `DOCSHAPE_TEST_URI` names such a server. docs/sharding.md has the command that starts one.

use std::time::Duration;

use bson::{Document, doc, rawdoc};
use docshape::plan::ShardKey;
use docshape::server::client::MongoTarget;
use docshape::server::{ReplyKind, Target};
use docshape::studies::shard_key::key_order::KeyOrder;
use docshape::studies::shard_key::planner::Targeting;

use super::shard_key::{classes, filters, key, raw, shapes_of_the_server};

const DATABASE: &str = "docshape_analyze_shard_key";
/// Enough distinct values for the hundred ranges that the server counts, too.
const DOCUMENTS: i32 = 400;
/// Between two commands: a server takes at most 50 samples a second.
const PAUSE: Duration = Duration::from_millis(30);

/// What the server counts of one kind of command, reads or writes.
#[derive(Debug, Default, PartialEq)]
struct Distribution {
    /// Commands for one shard, for several, and for all.
    counts: [u64; 3],
}

impl Distribution {
    fn add(&mut self, class: Targeting) {
        self.counts[match class {
            Targeting::Single => 0,
            Targeting::Multi => 1,
            Targeting::Scatter => 2,
        }] += 1;
    }

    /// Reads a `readDistribution` or `writeDistribution`, which has shares in percent.
    fn of_server(found: &Document, what: &str) -> Distribution {
        let total = number(found.get_document("sampleSize").unwrap(), "total");
        let count = |class: &str| (number(found, &format!("percentageOf{class}{what}")) * total / 100.0).round() as u64;
        Distribution { counts: [count("SingleShard"), count("MultiShard"), count("ScatterGather")] }
    }
}

fn number(document: &Document, name: &str) -> f64 {
    let value = document.get(name).unwrap_or_else(|| panic!("no {name} in {document}"));
    value
        .as_f64()
        .or_else(|| value.as_i64().map(|value| value as f64))
        .or_else(|| value.as_i32().map(f64::from))
        .unwrap()
}

async fn answer(target: &MongoTarget, database: &str, command: Document) -> Document {
    let text = command.to_string();
    let reply = target.run(database, raw(command), ReplyKind::Single).await;
    let reply = reply.unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
    Document::try_from(&*reply.into_document()).unwrap()
}

/// A document that has all fields of the keys.
fn document(at: i32) -> Document {
    let mixed = at * 7919 % 389;
    doc! { "_id": { "page": at, "day": mixed }, "x": at / 2, "a": { "x": mixed }, "y": mixed, "post": at, "page": at % 150,
    "created_on": at, "path": format!(",a,{mixed},"), "user": mixed, "rev": at, "feed": at % 130 }
}

/// The classes that docshape gives the commands of a key, and then those of the server.
async fn distributions(
    target: &MongoTarget,
    name: &str,
    key: &ShardKey,
    commands: &[Document],
) -> [[Distribution; 2]; 2] {
    let analyzer = |mode: Document| {
        let mut command = doc! { "configureQueryAnalyzer": format!("{DATABASE}.{name}") };
        command.extend(mode);
        command
    };
    answer(target, "admin", analyzer(doc! { "mode": "full", "samplesPerSecond": 50 })).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mut own = [Distribution::default(), Distribution::default()];
    for (number, command) in commands.iter().enumerate() {
        let mut command = command.clone();
        let is_write = ["update", "delete", "findAndModify"].iter().any(|name| command.contains_key(*name));
        let first = command.keys().next().unwrap().clone();
        command.insert(first, name);
        let planned = format!("{name}_{number}");
        for (class, _) in classes(target, key, &planned, &command).await {
            own[usize::from(is_write)].add(class);
        }
        answer(target, DATABASE, command).await;
        tokio::time::sleep(PAUSE).await;
    }
    answer(target, "admin", analyzer(doc! { "mode": "off" })).await;
    let expected: u64 = own.iter().flat_map(|one| one.counts).sum();
    for _ in 0..60 {
        let asked = doc! { "analyzeShardKey": format!("{DATABASE}.{name}"), "key": Document::try_from(key.document()).unwrap(), "keyCharacteristics": false, "readWriteDistribution": true };
        let found = answer(target, "admin", asked).await;
        let (reads, writes) =
            (found.get_document("readDistribution").unwrap(), found.get_document("writeDistribution").unwrap());
        let sampled =
            [reads, writes].map(|one| number(one.get_document("sampleSize").unwrap(), "total")).iter().sum::<f64>();
        if sampled >= expected as f64 {
            return [own, [Distribution::of_server(reads, "Reads"), Distribution::of_server(writes, "Writes")]];
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    panic!("{name}: the server has not sampled {expected} commands within a minute");
}

/// Distinct values, the most common ones, and the correlation with the order of writing.
async fn characteristics(target: &MongoTarget, name: &str, key: &ShardKey) {
    let scan = rawdoc! { "find": name, "hint": key.document(), "projection": KeyOrder::projection(), "batchSize": 2 * DOCUMENTS };
    let reply = target.run(DATABASE, scan, ReplyKind::Single).await.unwrap();
    let mut order = KeyOrder::new();
    let cursor = reply.into_document();
    let rows = cursor.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
    rows.into_iter().for_each(|row| order.add(row.unwrap().as_document().unwrap()));
    assert_eq!(order.documents(), DOCUMENTS as u64);
    let asked = doc! { "analyzeShardKey": format!("{DATABASE}.{name}"), "key": Document::try_from(key.document()).unwrap(), "readWriteDistribution": false };
    let found = answer(target, "admin", asked).await;
    let found = found.get_document("keyCharacteristics").unwrap();
    assert_eq!(order.distinct() as f64, number(found, "numDistinctValues"), "{key}: {found}");
    let common = found.get_array("mostCommonValues").unwrap();
    let common: Vec<u64> = common.iter().map(|one| number(one.as_document().unwrap(), "frequency") as u64).collect();
    assert_eq!(order.most_common(), common, "{key}");
    let monotonicity = found.get_document("monotonicity").unwrap();
    if !key.is_hashed() {
        let (own, server) = (order.coefficient().unwrap(), number(monotonicity, "recordIdCorrelationCoefficient"));
        assert!((own - server).abs() < 1e-6, "{key}: {own}, the server {server}");
    }
    let expected = if KeyOrder::is_monotonic(order.coefficient().unwrap()) && !key.is_hashed() {
        "monotonic"
    } else {
        "not monotonic"
    };
    assert_eq!(monotonicity.get_str("type").unwrap(), expected, "{key}");
}

/// All shapes of commands, by their keys.
fn commands() -> Vec<(Document, Vec<Document>)> {
    let mut all: Vec<(Document, Vec<Document>)> = Vec::new();
    let of_server = [(doc! { "x": 1 }, "x"), (doc! { "a.x": 1 }, "a.x"), (doc! { "x": "hashed" }, "x")];
    let shapes = of_server.into_iter().flat_map(|(key, field)| {
        shapes_of_the_server(field).into_iter().map(move |(command, _)| (key.clone(), command))
    });
    let filters = filters().into_iter().map(|(key, filter, _)| (key, doc! { "find": "c", "filter": filter }));
    for (key, command) in shapes.chain(filters) {
        match all.iter_mut().find(|(known, _)| *known == key) {
            Some((_, commands)) => commands.push(command),
            None => all.push((key, vec![command])),
        }
    }
    all
}

#[expect(clippy::print_stdout, reason = "what was skipped")]
#[tokio::test]
async fn classes_and_characteristics_are_those_of_the_server() {
    let keys = commands();
    let number = keys.iter().map(|(_, commands)| commands.len()).sum::<usize>();
    let Ok(uri) = std::env::var("DOCSHAPE_TEST_URI") else {
        println!(
            "skipped: {number} commands of {} keys; DOCSHAPE_TEST_URI names no server of MongoDB 7.0 or later",
            keys.len()
        );
        return;
    };
    let target = MongoTarget::connect(&uri, 1).await.unwrap();
    answer(&target, DATABASE, doc! { "dropDatabase": 1 }).await;
    for (at, (document_of_key, commands)) in keys.into_iter().enumerate() {
        let (name, key) = (format!("c{at}"), key(document_of_key.clone()));
        let documents: Vec<Document> = (0..DOCUMENTS).map(document).collect();
        answer(&target, DATABASE, doc! { "insert": &name, "documents": documents }).await;
        if document_of_key != doc! { "_id": 1 } {
            let index = doc! { "key": document_of_key, "name": "key" };
            answer(&target, DATABASE, doc! { "createIndexes": &name, "indexes": [index] }).await;
        }
        characteristics(&target, &name, &key).await;
        let [own, server] = distributions(&target, &name, &key, &commands).await;
        assert_eq!(own, server, "reads and writes for one shard, several and all, with {key}");
    }
    answer(&target, DATABASE, doc! { "dropDatabase": 1 }).await;
}

/// The reply as MongoDB documents it: shares, of which counts are made.
#[test]
fn counts_follow_from_the_shares_of_the_server() {
    let found = doc! {
        "sampleSize": { "total": 18_i64, "find": 18_i64 }, "percentageOfSingleShardReads": 500.0 / 9.0,
        "percentageOfMultiShardReads": 100.0 / 3.0, "percentageOfScatterGatherReads": 100.0 / 9.0, "numReadsByRange": [1_i64],
    };
    assert_eq!(Distribution::of_server(&found, "Reads"), Distribution { counts: [10, 6, 2] });
}
