//! A shop whose mix is known, from the log, oplog and counters that a mongod 6.0.5 made of it, and single statements in the
//! format of its lines.
//!
//! 2,600 calls by four clients: users with exponent 1.1, products with 0.8, orders and addresses uniform.

use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::PathBuf;

use bson::Document;
use flate2::read::GzDecoder;

use crate::compile::{Choice, compile};
use crate::infer::layout::{EntityPlace, InferredOperation, Layout};
use crate::scenario::{Diagnostics, Source, read as read_scenario};

use super::access::tests::shop;
use super::watch::CounterSnapshot;
use super::{Observations, Observed, log, operations, profile, watch};

/// The logical step of each operation of the shop, and its calls.
const KNOWN: [(&str, u64); 13] = [
    ("{ get: product, by: [sku], with: { reviews: { reverse: true, limit: 10 } } }", 624),
    (
        "{ list: product, where: { category: <category> }, sort: { price: 1, _id: 1 }, limit: 20, fields: [_id, name, price] }",
        468,
    ),
    ("{ list: user.orders, reverse: true, limit: 5, with: { lines: } }", 416),
    ("{ get: order, fields: [_id, placed, status], with: { lines:, user: [name, city] } }", 260),
    ("{ get: user, fields: [_id, name, city] }", 208),
    (
        "{ atomically: [{ update: product, inc: { stock: -1 }, if: { stock: { $gt: 0 } }, else: rejected('stock') }, \
         { update: product_2, inc: { stock: -1 }, if: { stock: { $gt: 0 } }, else: rejected('stock') }, \
         { create: new_order, in: user, with: [lines] }] }",
        182,
    ),
    ("{ update: order, set: { status: <status> }, if: { status: <status_2> }, else: rejected('status') }", 130),
    ("{ create: new_review, in: product }", 130),
    ("{ update: address, set: { street: <street> } }", 52),
    ("{ count: user.orders, where: { status: <status> } }", 52),
    ("{ sum: user.orders.cents }", 26),
    ("{ create: new_address, in: user }", 26),
    ("{ update: user, set: { name: <name> } }", 13),
];

/// Values of the shop's documents that are in the recorded statements.
const CANARIES: [&str; 6] = ["SKU0", "cat3", "User x", "street 0", "canary", "shipped"];

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/observed").join(name)
}

fn from_log() -> Observed {
    operations(&log::read(&[data("shop.log.gz")], "shop").unwrap(), &shop())
}

fn step<'o>(observed: &'o Observed, does: &str) -> &'o InferredOperation {
    let all: Vec<&str> = observed.operations.iter().map(|operation| operation.does.as_str()).collect();
    observed.operations.iter().find(|operation| operation.does == does).unwrap_or_else(|| panic!("{does}: {all:#?}"))
}

#[test]
fn log_of_a_known_mix_gives_back_the_mix() {
    let observed = from_log();
    insta::assert_snapshot!("summary_of_a_log", observed.summary());
    for (does, calls) in KNOWN {
        let expected = 100.0 * calls as f64 / 2600.0;
        let found = step(&observed, does);
        assert!((found.weight - expected).abs() <= 0.5, "{does}: {} instead of {expected}", found.weight);
    }
    assert_eq!(observed.operations.len(), KNOWN.len());
    assert_eq!(observed.calls, 2600);
    assert_eq!(observed.left_out[0].what, "aggregate on orders with $facet: no logical step");
    assert_eq!(observed.left_out[0].calls, 13);
    assert_eq!(observed.left_out.len(), 1);
}

#[test]
fn log_gives_back_the_skew_of_arguments() {
    let observed = from_log();
    let exponent = |does: &str, argument: &str| {
        let arguments = &step(&observed, does).arguments;
        arguments.iter().find(|(name, _)| name == argument).unwrap().1.clone()
    };
    let number = |text: String| text.split([',', ')']).nth(1).unwrap().trim().parse::<f64>().unwrap();
    assert!((number(exponent(KNOWN[0].0, "product")) - 0.8).abs() < 0.1);
    assert!((number(exponent(KNOWN[2].0, "user")) - 1.1).abs() < 0.1);
    assert_eq!(exponent(KNOWN[3].0, "order"), "uniform(order)");
}

#[test]
fn names_and_comments_say_where_operations_come_from() {
    let observed = from_log();
    assert_eq!(step(&observed, KNOWN[4].0).name, "login", "the comment of the application");
    let comments = step(&observed, KNOWN[0].0).comments.join("; ");
    assert!(comments.contains("two statements, taken as one operation: together in 62"), "{comments}");
    let comments = step(&observed, KNOWN[5].0).comments.join("; ");
    assert!(comments.contains("update on products: 2 times in each transaction; "), "{comments}");
    assert!(comments.contains("a transaction"), "{comments}");
    let arguments: Vec<&str> = step(&observed, KNOWN[8].0).arguments.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(arguments, ["address", "street"], "the user of the address is not named");
}

#[test]
fn oplog_and_counters_give_back_writes_and_reads() {
    let layout = shop();
    let counters = fs::read_to_string(data("shop.counters.json")).unwrap();
    let snapshot = |line: &str| {
        let document: Document = serde_json::from_str(line).unwrap();
        let lists = document.get_document("indexes").unwrap().iter();
        let list =
            |list: &bson::Bson| list.as_array().unwrap().iter().map(|i| i.as_document().unwrap().clone()).collect();
        CounterSnapshot {
            indexes: lists.map(|(name, indexes)| (name.clone(), list(indexes))).collect(),
            top: document.get_document("top").unwrap().clone(),
            newest: None,
            member: String::new(),
        }
    };
    let [before, after]: [CounterSnapshot; 2] = counters.lines().map(snapshot).collect::<Vec<_>>().try_into().unwrap();
    let mut oplog = String::new();
    GzDecoder::new(fs::File::open(data("shop.oplog.gz")).unwrap()).read_to_string(&mut oplog).unwrap();
    let entries = oplog.lines().map(|line| serde_json::from_str::<Document>(line).unwrap());
    let observed = operations(&watch::read("shop", &before, &after, entries), &layout);
    insta::assert_snapshot!("summary_of_counters", observed.summary());
    let calls = |does: &str| {
        let at = observed.operations.iter().position(|operation| operation.does == does);
        at.map(|at| observed.calls_of[at])
    };
    // The counters do not distinguish statements that use the same index.
    assert_eq!(calls("{ get: product, by: [sku] }"), Some(624));
    assert_eq!(calls("{ list: product.reviews, reverse: true }"), Some(624));
    assert_eq!(calls("{ list: user.orders, reverse: true, with: { lines: } }"), Some(416 + 52 + 26 + 13));
    assert_eq!(calls("{ create: new_review, in: product }"), Some(130));
    assert_eq!(calls("{ create: new_address, in: user }"), Some(26));
    assert_eq!(calls("{ update: address, set: { street: <street> } }"), Some(52));
    let placed = "{ atomically: [{ update: product, set: { stock: <stock> } }, \
                  { update: product_2, set: { stock: <stock_2> } }, { create: new_order, in: user, with: [lines] }] }";
    assert_eq!(calls(placed), Some(182));
}

#[test]
fn no_value_is_in_any_text() {
    let observed = from_log();
    let text = format!("{observed:?}{}", observed.summary());
    for canary in CANARIES {
        assert!(!text.contains(canary), "{canary} is in {text}");
    }
}

/// The text of a model with these entities and operations.
fn model(layout: &Layout, operations: &[InferredOperation]) -> String {
    let mut text = "format: 1\nname: shop\ntitle: \"Shop?\"\nabout: A shop.\nentities:\n".to_owned();
    let entity = |text: &mut String, place: &EntityPlace| {
        let of = place.parent.as_ref();
        let of = of.map(|parent| format!("of: {}, as: {}, ", parent.entity, parent.relation)).unwrap_or_default();
        let quoted = |expression: &str| serde_json::Value::from(expression).to_string();
        let field = |field: &crate::infer::layout::FieldPlace| match (field.is_list, &field.refers) {
            (true, Some(of)) => format!("{}: \"sample({of}, 3)\"", field.field),
            _ => format!("{}: {}", field.field, quoted(&field.generator)),
        };
        let fields: Vec<String> = place.fields.iter().map(field).collect();
        let count = if of.is_empty() { "20" } else { "2" };
        let sort: Vec<String> = place.sort.iter().map(|(field, direction)| format!("{field}: {direction}")).collect();
        let sort = if sort.is_empty() { "_id: 1".to_owned() } else { sort.join(", ") };
        let fields = fields.join(", ");
        writeln!(text, "  {}: {{ {of}count: {count}, fields: {{ {fields} }}, sort: {{ {sort} }} }}", place.entity)
            .unwrap();
    };
    layout.entities.iter().for_each(|place| entity(&mut text, place));
    text.push_str("operations:\n");
    for operation in operations {
        let argument = |(name, generator): &(String, String)| format!("{name}: \"{generator}\"");
        let arguments: Vec<String> = operation.arguments.iter().map(argument).collect();
        writeln!(
            text,
            "  {}: {{ arguments: {{ {} }}, does: {} }}",
            operation.name,
            arguments.join(", "),
            operation.does
        )
        .unwrap();
    }
    let weights: Vec<String> = operations.iter().map(|o| format!("{}: {}", o.name, o.weight.max(0.01))).collect();
    let shape = "{ user.addresses: embed, order.lines: embed }";
    writeln!(
        text,
        "mixes: {{ default: {{ {} }} }}\nstrategies: {{ present: {{ shape: {shape} }} }}",
        weights.join(", ")
    )
    .unwrap();
    text
}

/// Asserts that a model of these operations can be derived.
fn check(observed: &Observed) {
    let text = model(&shop(), &observed.operations);
    let diagnostics = Diagnostics::new();
    let scenario = read_scenario(&Source::new("shop.yaml", &*text), &diagnostics);
    let plan = scenario.and_then(|scenario| compile(&scenario, &Choice::default(), &diagnostics).unwrap());
    let problems: Vec<String> = diagnostics.iter().map(|problem| format!("{problem:?}")).collect();
    assert!(plan.is_some() && !diagnostics.has_errors(), "{text}\n{problems:#?}");
}

#[test]
fn operations_of_the_log_make_a_model() {
    check(&from_log());
}

/// A line of a statement as a mongod writes it, in this second on this connection.
fn line_of(statement: &str, second: usize, connection: usize) -> String {
    let (kind, rest) = statement.split_once(' ').unwrap();
    let (collection, command) = rest.split_once(' ').unwrap();
    format!(
        "{{\"t\":{{\"$date\":\"2026-11-27T09:42:{second:02}.982+00:00\"}},\"s\":\"I\",\"c\":\"COMMAND\",\"id\":51803,\"ctx\":\
         \"conn{connection}\",\"msg\":\"Slow query\",\"attr\":{{\"type\":\"{kind}\",\"ns\":\"shop.{collection}\",\"appName\":\
         \"shop-app\",\"command\":{command},\"durationMillis\":0}}}}"
    )
}

/// These statements one after the other, 20 times, a second between the times.
fn log_of(statements: &[&str]) -> Observations {
    let mut observations = Observations::new("shop");
    for second in 0..20 {
        statements.iter().for_each(|statement| log::read_line(&line_of(statement, second, 1), &mut observations));
    }
    observations.finish();
    observations
}

/// The logical steps of statements, or why there are none.
fn steps_of(statements: &[&str]) -> Vec<String> {
    let observed = operations(&log_of(statements), &shop());
    check(&observed);
    let steps = observed.operations.iter().map(|operation| operation.does.clone());
    steps.chain(observed.left_out.iter().map(|left| left.what.clone())).collect()
}

#[test]
fn statements_that_come_together_become_one_step() {
    let order = r#"command orders {"find":"orders","filter":{"_id":1},"limit":1,"projection":{"lines":0}}"#;
    let orders = r#"command orders {"find":"orders","filter":{"user":1},"sort":{"placed":-1},"limit":5}"#;
    let user = r#"command users {"find":"users","filter":{"_id":1},"limit":1,"projection":{"name":1,"_id":0}}"#;
    let reviews = r#"command reviews {"find":"reviews","filter":{"product":1},"sort":{"at":-1},"limit":5}"#;
    let product = r#"command products {"find":"products","filter":{"_id":1},"limit":1}"#;
    let products = r#"command products {"find":"products","filter":{"_id":{"$in":[1,2]}},"projection":{"name":1}}"#;
    let update = r#"update products {"q":{"_id":1},"u":{"$inc":{"stock":1}},"multi":false}"#;
    let insert = r#"command reviews {"insert":"reviews","ordered":true}"#;
    assert_eq!(steps_of(&[order, user]), ["{ get: order, with: { user: [name] } }"]);
    assert_eq!(
        steps_of(&[orders, products]),
        ["{ list: user.orders, reverse: true, limit: 5, with: { lines: { with: { product: [_id, name] } } } }"]
    );
    let page = "{ get: product, with: { reviews: { reverse: true, limit: 5 } } }";
    assert_eq!(steps_of(&[product, reviews]), [page]);
    assert_eq!(steps_of(&[reviews, product]), [page], "in the other order");
    let good =
        r#"command reviews {"find":"reviews","filter":{"product":1,"stars":{"$gte":4}},"sort":{"at":-1},"limit":5}"#;
    let page = "{ get: product, with: { reviews: { where: { stars: { $gte: <stars> } }, reverse: true, limit: 5 } } }";
    assert_eq!(steps_of(&[product, good]), [page], "with the argument of the second");
    let apart = ["{ create: new_review, in: product }", "{ update: product, inc: { stock: 1 } }"];
    let mut found = steps_of(&[update, insert]);
    found.sort();
    assert_eq!(found, apart, "writes without a transaction are two operations");
    assert_eq!(steps_of(&[user, reviews]).len(), 2, "unrelated records");
}

#[test]
fn statements_become_logical_steps() {
    let cases = [
        (r#"command users {"find":"users","filter":{"_id":1}}"#, "{ get: user, with: { addresses: } }"),
        (
            r#"command users {"find":"users","filter":{"_id":1},"projection":{"addresses":0,"city":0}}"#,
            "{ get: user, fields: [_id, email, name] }",
        ),
        (
            r#"command users {"find":"users","filter":{"email":"e"},"projection":{"addresses.street":1}}"#,
            "{ get: user, by: [email], fields: [_id], with: { addresses: [street] } }",
        ),
        (
            r#"command users {"find":"users","filter":{"addresses._id":1},"projection":{"name":1}}"#,
            "{ get: address.user, fields: [_id, name] }",
        ),
        (
            r#"command orders {"find":"orders","filter":{"user":1},"sort":{"placed":1},"skip":20,"limit":10,"projection":{"status":1}}"#,
            "{ list: user.orders, page: page, size: 10, fields: [_id, status] }",
        ),
        (
            r#"command orders {"find":"orders","filter":{"lines.product":1},"limit":10}"#,
            "{ list: line, where: { product: <product> }, limit: 10, with: { order: [_id, placed, status, cents] } }",
        ),
        (
            r#"command orders {"find":"orders","filter":{"placed":{"$gte":1},"user":{"$in":[3]}},"projection":{"lines":0}}"#,
            "{ list: user.orders, where: { placed: { $gte: <placed> } }, unordered: true }",
        ),
        (
            r#"command products {"find":"products","filter":{"_id":{"$in":[3,4]}},"projection":{"name":1}}"#,
            "{ list: product, where: { _id: { $in: <records> } }, unordered: true, fields: [_id, name] }",
        ),
        (r#"command orders {"count":"orders","query":{"user":1}}"#, "{ count: user.orders }"),
        (
            r#"command reviews {"aggregate":"reviews","pipeline":[{"$match":{"product":1}},{"$sort":{"at":-1}},{"$limit":3},{"$lookup":{"from":"users","localField":"user","foreignField":"_id","as":"writer"}},{"$unwind":"$writer"},{"$project":{"text":1,"writer.name":1}}]}"#,
            "{ list: product.reviews, reverse: true, limit: 3, fields: [_id, text], with: { user: [name] } }",
        ),
        (
            r#"update users {"q":{"_id":1},"u":{"$push":{"addresses":{"street":"x"}}},"multi":false}"#,
            "{ create: new_address, in: user }",
        ),
        (
            r#"update users {"q":{"_id":1,"addresses._id":2},"u":{"$set":{"addresses.$.street":"x"}},"multi":false}"#,
            "{ update: address, set: { street: <street> } }",
        ),
        (r#"update users {"q":{"_id":1},"u":{"$pull":{"addresses":{"_id":4}}},"multi":false}"#, "{ delete: address }"),
        (
            r#"update products {"q":{"_id":1},"u":{"$addToSet":{"similar":4}},"multi":false}"#,
            "{ add: product_2, to: product.similar }",
        ),
        (
            r#"update products {"q":{"_id":1},"u":{"$pull":{"similar":4}},"multi":false}"#,
            "{ remove: product_2, from: product.similar }",
        ),
        (
            r#"update products {"q":{"_id":1},"u":{"$inc":{"places.w7":4}},"multi":false}"#,
            "{ update: product, set: { places: <places> } }",
        ),
        (
            r#"update orders {"q":{"_id":1},"u":{"$set":{"user":4}},"multi":false}"#,
            "{ update: order, set: { user: <user> } }",
        ),
        (r#"remove orders {"q":{"_id":1},"limit":1}"#, "{ delete: order }"),
        (r#"command orders {"insert":"orders","ordered":true}"#, "{ create: new_order, in: user, with: [lines] }"),
        (
            r#"command products {"findAndModify":"products","query":{"_id":1,"stock":{"$gte":3}},"update":{"$inc":{"stock":-3}}}"#,
            "{ update: product, inc: { stock: -1 }, if: { stock: { $gt: 0 } }, else: rejected('stock') }",
        ),
    ];
    for (statement, expected) in cases {
        assert_eq!(steps_of(&[statement]), [expected], "{statement}");
    }
}

#[test]
fn statements_without_a_logical_step_are_named() {
    let cases = [
        (
            r#"command orders {"find":"orders","filter":{"$or":[{"user":1},{"cents":"secret"}]}}"#,
            "find on orders with $or",
        ),
        (r#"command users {"find":"users","filter":{"name":{"$regex":"^secret"}}}"#, "find on users with $regex"),
        (r#"command orders {"distinct":"orders","key":"status"}"#, "distinct on orders with all distinct values"),
        (
            r#"command users {"find":"users","filter":{"secret":1}}"#,
            "find on users with a condition on a field that is not in the model",
        ),
        (
            r#"command orders {"aggregate":"orders","pipeline":[{"$group":{"_id":"$status","n":{"$sum":1}}}]}"#,
            "aggregate on orders with $group",
        ),
        (
            r#"update orders {"q":{"status":"secret"},"u":{"$set":{"status":"secret"}},"multi":true}"#,
            "update on orders with many records at once",
        ),
    ];
    for (statement, expected) in cases {
        let observed = operations(&log_of(&[statement]), &shop());
        let left: Vec<&str> = observed.left_out.iter().map(|left| left.what.as_str()).collect();
        assert_eq!(left, [format!("{expected}: no logical step")], "{statement}");
        assert!(!observed.summary().contains("secret"));
    }
}

#[test]
fn lines_that_are_no_statements_are_counted() {
    let mut observations = Observations::new("shop");
    let line = |attributes: &str, more: &str| {
        format!(
            "{{\"t\":{{\"$date\":\"2026-11-27T09:42:02.982+00:00\"}},\"ctx\":\"conn1\",\"msg\":\"Slow query\",\"attr\":{{{attributes}}}{more}}}"
        )
    };
    let find = r#""command":{"find":"users","filter":{"_id":1}}"#;
    let lines = [
        line(&format!(r#""ns":"other.users",{find}"#), ""),
        line(&format!(r#""ns":"config.transactions",{find}"#), ""),
        line(&format!(r#""ns":"shop.users","appName":"docshape",{find}"#), ""),
        line(&format!(r#""ns":"shop.users","appName":"mongosh 2.1",{find}"#), ""),
        line(&format!(r#""ns":"shop.users",{find}"#), r#","truncated":{"command":{"filter":{}}}"#),
        line(&format!(r#""ns":"shop.users",{find},"errCode":112"#), ""),
        line(r#""ns":"shop.users","command":{"getMore":7,"collection":"users"}"#, ""),
        line(&format!(r#""ns":"shop.users",{find}"#), "")[..90].to_owned(),
        line(r#""ns":"shop.$cmd","command":{"ping":1}"#, ""),
    ];
    lines.iter().for_each(|line| log::read_line(line, &mut observations));
    let found = observations.left_out;
    assert_eq!((found.other_databases, found.tools, found.cut, found.failed), (1, 2, 1, 1));
    assert_eq!((found.unreadable, found.further_batches, observations.statements()), (1, 1, 0));
}

/// Transactions with these writes, each with the command around it, and how they end.
fn transactions(writes: [&str; 2], ends: &[&str]) -> Observed {
    let mut observations = Observations::new("shop");
    for (number, end) in ends.iter().enumerate() {
        let session = format!(
            r#""lsid":{{"id":{{"$uuid":"20edc88e-773c-4669-b4c7-568b2e0b26e3"}}}},"txnNumber":{number},"autocommit":false"#
        );
        let mut read = |statement: &str| log::read_line(&line_of(statement, number, 1), &mut observations);
        for write in writes {
            read(&write.replace("SESSION", &session));
            if write.starts_with("update") {
                read(&format!(r#"command $cmd {{"update":"users",{session}}}"#));
            }
        }
        read(&format!(r#"command $cmd {{"{end}":1,{session}}}"#));
    }
    operations(&observations, &shop())
}

#[test]
fn aborted_transactions_are_no_calls() {
    let rename = r#"update users {"q":{"_id":1},"u":{"$set":{"name":"x"}},"multi":false}"#;
    let insert = r#"command reviews {"insert":"reviews",SESSION}"#;
    let ends = ["commitTransaction", "abortTransaction", "commitTransaction"];
    let observed = transactions([rename, insert], &ends);
    assert_eq!((observed.calls_of[0], observed.lines.aborted), (2, 2));
    let does = "{ atomically: [{ update: user, set: { name: <name> } }, { create: new_review, in: product }] }";
    assert_eq!(observed.operations[0].does, does);
}

#[test]
fn updates_of_copies_are_a_part_of_the_update_of_their_source() {
    let rename = r#"update users {"q":{"_id":1},"u":{"$set":{"name":"x"}},"multi":false}"#;
    let copies = r#"update orders {"q":{"user":1},"u":{"$set":{"user_name":"x"}},"multi":true}"#;
    let observed = transactions([rename, copies], &["commitTransaction"]);
    assert_eq!(observed.operations[0].does, "{ update: user, set: { name: <name> } }");
    assert!(observed.operations[0].comments.iter().any(|comment| comment.starts_with("without updates of copies")));
    assert!(observed.left_out.is_empty(), "{:?}", observed.left_out);
    let alone = operations(&log_of(&[copies]), &shop());
    assert!(alone.left_out[0].what.starts_with("updates of copies") && alone.operations.is_empty(), "{alone:?}");
}

#[test]
fn logs_of_slow_statements_and_samples_are_told_apart() {
    let mut observations = Observations::new("shop");
    let line = |more: &str, millis: i32| {
        format!(
            "{{\"t\":{{\"$date\":\"2026-11-27T09:42:02.982+00:00\"}},\"ctx\":\"conn1\",\"msg\":\"Slow query\",\"attr\":{{\
             \"ns\":\"shop.users\",\"command\":{{{more}}},\"durationMillis\":{millis}}}}}"
        )
    };
    log::read_line(&line(r#""q":{"_id":1},"u":{"$set":{"name":"x"}},"multi":false"#, 120), &mut observations);
    log::read_line(&line(r#""find":"users","filter":{"_id":1}"#, 104), &mut observations);
    observations.finish();
    let summary = operations(&observations, &shop()).summary();
    assert!(summary.contains("no statement took less than 104 ms"), "{summary}");
    assert!(summary.contains("only a sample of the statements"), "{summary}");
    let whole = from_log();
    assert!(whole.limits.is_empty(), "{:?}", whole.limits);
}

#[test]
fn documents_of_the_profiler_are_read() {
    let find = bson::doc! { "op": "query", "ns": "shop.users", "appName": "shop-app", "ts": bson::DateTime::from_millis(5),
    "command": { "find": "users", "filter": { "_id": 4 }, "projection": { "name": 1 } } };
    let update = bson::doc! { "op": "update", "ns": "shop.users", "ts": bson::DateTime::from_millis(6),
    "command": { "q": { "_id": 4 }, "u": { "$set": { "name": "x" } }, "multi": false, "upsert": false } };
    let observed = operations(&profile::read([find, update], "shop"), &shop());
    let steps: Vec<&str> = observed.operations.iter().map(|operation| operation.does.as_str()).collect();
    assert_eq!(steps, ["{ get: user, fields: [_id, name] }", "{ update: user, set: { name: <name> } }"]);
}
