//! `docshape init`: made-up databases whose references, copies and shapes are known.

mod keep;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use bson::oid::ObjectId;
use bson::{Bson, DateTime, Document, RawDocumentBuf, doc, rawdoc};
use docshape::server::embedded::{EmbeddedMongod, EmbeddedOptions};
use docshape::server::reader::READ_COMMANDS;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::harness;

use super::{Ended, Place, Running, finish, server, single};

/// A server that is filled by a test.
struct Filled {
    place: Place,
    uri: String,
    runtime: Runtime,
    _server: Running,
}

impl Filled {
    fn start() -> Filled {
        let place = Place::new();
        let (server, uri) = server(&place);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Filled { place, uri, runtime, _server: server }
    }

    fn ask(&self, database: &str, command: RawDocumentBuf) -> RawDocumentBuf {
        single(&self.runtime, &self.uri, database, command)
    }

    fn insert(&self, database: &str, collection: &str, documents: &[Document]) {
        for part in documents.chunks(1_000) {
            let command = RawDocumentBuf::try_from(&doc! { "insert": collection, "documents": part }).unwrap();
            let reply = self.ask(database, command);
            assert!(reply.get("writeErrors").unwrap().is_none(), "{reply:?}");
        }
    }

    fn index(&self, database: &str, collection: &str, index: Document) {
        let command = doc! { "createIndexes": collection, "indexes": [index] };
        self.ask(database, RawDocumentBuf::try_from(&command).unwrap());
    }

    fn from(&self, database: &str) -> String {
        self.uri.replacen("/?", &format!("/{database}?"), 1)
    }

    /// Infers a database, and asserts that its file passes `check` and `verify` without an edit. Returns the file and the JSON.
    fn init(&self, database: &str) -> (String, Value) {
        self.init_with(database, &[])
    }

    fn init_with(&self, database: &str, options: &[&str]) -> (String, Value) {
        let from = self.from(database);
        let command = [&["init", database, "--from", &from, "--json"], options].concat();
        let ended = finish(self.place.docshape(&command)).ok();
        let file = format!("{database}.yaml");
        let text = fs::read_to_string(self.place.path(&file)).unwrap();
        let checked = finish(self.place.docshape(&["check", &file]));
        assert!(
            checked.code() == Some(0) && !checked.stderr.contains("warning"),
            "{}{}\n{text}",
            checked.stdout,
            checked.stderr
        );
        let verified = finish(self.place.docshape(&["verify", &file, "--calls", "200"]));
        assert_eq!(verified.code(), Some(0), "{}\n{text}", verified.stdout);
        assert!(!verified.stdout.contains("never called"), "{}", verified.stdout);
        (text, serde_json::from_str(&ended.stdout).unwrap())
    }
}

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.unit() * bound as f64) as usize
    }

    /// A rank by Zipf's law.
    fn rank(&mut self, ranks: usize, exponent: f64) -> usize {
        let total: f64 = (1..=ranks).map(|rank| (rank as f64).powf(-exponent)).sum();
        let mut left = self.unit() * total;
        (1..=ranks)
            .find(|rank| {
                left -= (*rank as f64).powf(-exponent);
                left <= 0.0
            })
            .unwrap_or(ranks)
            - 1
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn letters(&mut self, from: usize, to: usize) -> String {
        let length = from + self.below(to - from + 1);
        (0..length).map(|_| (b'a' + self.below(26) as u8) as char).collect()
    }
}

fn date(minutes: usize) -> DateTime {
    DateTime::from_millis(1_735_689_600_000 + minutes as i64 * 60_000)
}

/// The relations with their words, as `relation: words`.
fn shape(json: &Value) -> Vec<String> {
    let words = |one: &Value| {
        let words: Vec<&str> = one["words"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        format!("{}: {}", one["relation"].as_str().unwrap(), words.join(" + "))
    };
    json["shape"].as_array().unwrap().iter().map(words).collect()
}

/// Asserts how far generated sizes, arrays and children are from the sample.
fn assert_alike(json: &Value, most_p50: f64) {
    let compared = &json["comparison"];
    for size in compared["sizes"].as_array().unwrap() {
        for (quantile, most) in [("p50", most_p50), ("p99", 0.2)] {
            let (sample, made) = (size[quantile][0].as_f64().unwrap(), size[quantile][1].as_f64().unwrap());
            assert!((made / sample - 1.0).abs() <= most, "{quantile} of {size}");
        }
    }
    for (kind, most) in [("arrays", 0.08), ("children", 0.12)] {
        let all = compared[kind].as_array().unwrap();
        assert!(all.iter().all(|one| one["d"].as_f64().unwrap() < most), "{all:?}");
    }
}

fn users(numbers: &mut Numbers) -> Vec<Document> {
    let cities = ["Bonn", "Rome", "Oslo"];
    (0..200)
        .map(|n| doc! { "_id": ObjectId::new(), "name": format!("user {n}"), "city": numbers.pick(&cities) })
        .collect()
}

fn order(numbers: &mut Numbers, n: usize) -> Document {
    let status = numbers.pick(&["open", "shipped"]);
    doc! { "_id": ObjectId::new(), "placed": date(n), "status": status, "note": numbers.letters(5, 40) }
}

fn id(document: &Document) -> Bson {
    document.get("_id").unwrap().clone()
}

fn with(mut document: Document, name: &str, value: impl Into<Bson>) -> Document {
    document.insert(name, value);
    document
}

/// A value as mongoexport writes it.
fn extended(value: &Bson) -> String {
    match value {
        Bson::Document(inner) => {
            let fields = inner.iter().map(|(name, value)| format!("{}:{}", json!(name), extended(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        Bson::ObjectId(id) => json!({ "$oid": id.to_hex() }).to_string(),
        Bson::DateTime(date) => json!({ "$date": date.try_to_rfc3339_string().unwrap() }).to_string(),
        other => json!(other.as_str().unwrap()).to_string(),
    }
}

fn fill_shop(filled: &Filled) {
    let numbers = &mut Numbers(7);
    let products: Vec<Document> = (0..400)
        .map(|n| {
            let stock: Document = (0..3).map(|k| (format!("wh{}", (n * 5 + k * 3) % 12), Bson::from(numbers.below(50) as i32))).collect();
            let made = doc! { "_id": ObjectId::new(), "sku": format!("SKU{n:05}"), "name": numbers.letters(8, 30), "category": n % 12,
                "price": 100 + numbers.below(90_000) as i32, "stock": stock };
            if numbers.unit() < 0.6 { with(made, "description", numbers.letters(50, 800)) } else { made }
        })
        .collect();
    let users: Vec<Document> = (0..600)
        .map(|n| doc! { "_id": ObjectId::new(), "name": numbers.letters(4, 12), "email": format!("u{n}@shop.example"), "created": date(n), "age": numbers.below(80) as i32 })
        .collect();
    let orders: Vec<Document> = (0..3_000)
        .map(|n| {
            // Of an odd number of lengths, so that no sample's median is between two of them.
            let lines: Vec<Document> = (0..1 + numbers.below(5))
                .map(|_| {
                    let product = &products[numbers.rank(400, 1.1)];
                    let price = if numbers.unit() < 0.8 { product.get_i32("price").unwrap() } else { 1 };
                    doc! { "_id": ObjectId::new(), "product": id(product), "product_name": product.get_str("name").unwrap(), "quantity": numbers.below(5) as i32, "price": price }
                })
                .collect();
            doc! { "_id": ObjectId::new(), "user": id(&users[numbers.rank(600, 0.8)]), "placed": date(n * 5), "status": numbers.pick(&["open", "shipped"]), "lines": lines }
        })
        .collect();
    let reviews: Vec<Document> = (0..2_000)
        .map(|n| doc! { "_id": ObjectId::new(), "product": id(&products[numbers.rank(400, 0.9)]), "user": id(&users[numbers.below(600)]), "stars": numbers.below(5) as i32, "text": numbers.letters(5, 400), "at": date(n) })
        .collect();
    for (collection, documents) in [("products", products), ("users", users), ("orders", orders), ("reviews", reviews)]
    {
        filled.insert("shop", collection, &documents);
    }
    filled.index("shop", "products", doc! { "key": { "sku": 1 }, "name": "sku", "unique": true });
    filled.index("shop", "users", doc! { "key": { "email": 1 }, "name": "email", "unique": true });
    filled.index("shop", "orders", doc! { "key": { "user": 1, "placed": -1 }, "name": "user" });
    filled.index("shop", "reviews", doc! { "key": { "product": 1 }, "name": "product" });
}

#[test]
fn a_shop_with_references_and_a_copy_is_recognised_and_only_read() {
    let filled = Filled::start();
    fill_shop(&filled);
    filled.ask("shop", rawdoc! { "profile": 2 });
    let (text, json) = filled.init("shop");
    filled.ask("shop", rawdoc! { "profile": 0 });
    assert_eq!(
        shape(&json),
        [
            "user.orders: reference",
            "order.lines: embed",
            "line.product: reference(name)",
            "product.reviews: reference",
            "review.user: reference"
        ]
    );
    assert_alike(&json, 0.1);
    for words in [
        "stock: \"[3].map(n, object(sample(['k00'",
        "price equals price of the product",
        "description: \"(chance(0.",
        "TODO the mix",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let exponent: f64 =
        text.split("product: \"zipf(product, ").nth(1).unwrap().split(')').next().unwrap().parse().unwrap();
    assert!((exponent - 1.1).abs() < 0.1, "{exponent}");

    // The profiler of the server has all commands.
    let writes = doc! { "count": "system.profile", "query": { "ns": { "$regex": "^shop" }, "op": { "$in": ["insert", "update", "remove"] } } };
    assert_eq!(filled.ask("shop", RawDocumentBuf::try_from(&writes).unwrap()).get_i32("n").unwrap(), 0);
    let seen = doc! { "find": "system.profile", "batchSize": 10_000, "singleBatch": true, "filter": { "command.comment": "docshape init" } };
    let seen = filled.ask("shop", RawDocumentBuf::try_from(&seen).unwrap());
    let seen: Vec<_> =
        seen.get_document("cursor").unwrap().get_array("firstBatch").unwrap().into_iter().map(Result::unwrap).collect();
    assert!(seen.len() > 10, "{seen:?}");
    for one in seen {
        let command = one.as_document().unwrap().get_document("command").unwrap();
        let name = command.iter().next().unwrap().unwrap().0;
        assert!(READ_COMMANDS.contains(&name.as_str()) || name.as_str() == "getMore", "{command:?}");
        assert!(one.as_document().unwrap().get_i32("millis").unwrap() < 5_000);
    }
}

#[test]
fn maps_and_arrays_without_identity_stay_fields() {
    let filled = Filled::start();
    let numbers = &mut Numbers(3);
    let events: Vec<Document> = (0..3_000)
        .map(|n| {
            let counters: Document = (0..1 + numbers.below(6)).map(|_| (format!("k{:04}", numbers.below(3_000)), Bson::from(numbers.below(9) as i32))).collect();
            let path: Vec<i32> = (0..numbers.below(9)).map(|_| numbers.below(9) as i32).collect();
            doc! { "_id": ObjectId::new(), "at": date(n), "kind": numbers.pick(&["click", "view"]), "counters": counters, "path": path, "bytes": numbers.below(1 << 40) as i64 }
        })
        .collect();
    filled.insert("events", "events", &events);
    filled.index("events", "events", doc! { "key": { "at": 1 }, "name": "at", "expireAfterSeconds": 1_000_000_000 });
    filled.ask("events", rawdoc! { "create": "seen", "viewOn": "events", "pipeline": [] });
    let (text, json) = filled.init("events");
    assert_eq!(shape(&json), [""; 0]);
    assert_alike(&json, 0.1);
    for words in ["counters: a map", "kind: \"one_of(['", "seen was left out: view", "{ at: 1 } (TTL)", "at: clock()"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("k0"), "no key of a map: {text}");

    let categories: Vec<Document> = (0..30).map(|n| doc! { "_id": n, "name": numbers.letters(4, 20) }).collect();
    let items: Vec<Document> = (0..2_000)
        .map(|n| {
            let attributes: Vec<Document> = (0..numbers.below(8)).map(|_| doc! { "k": numbers.pick(&["size", "color"]), "v": numbers.letters(1, 9) }).collect();
            let variants: Vec<Document> = (0..1 + numbers.below(5)).map(|_| doc! { "_id": ObjectId::new(), "colour": numbers.pick(&["red", "blue"]), "price": numbers.unit() }).collect();
            // The amount is between 0 and 29, as keys of categories are.
            doc! { "_id": ObjectId::new(), "slug": format!("item-{n}"), "category": numbers.below(30) as i32, "amount": numbers.below(30) as i32, "attributes": attributes, "variants": variants }
        })
        .collect();
    filled.insert("catalogue", "categories", &categories);
    filled.insert("catalogue", "items", &items);
    filled.index("catalogue", "items", doc! { "key": { "slug": 1 }, "name": "slug", "unique": true });
    let (text, json) = filled.init("catalogue");
    assert_eq!(shape(&json), ["category.items: reference", "item.variants: embed"]);
    assert_alike(&json, 0.1);
    assert!(text.contains("attributes: { list: ") && text.contains("get_item_by_slug"), "{text}");
}

#[test]
fn the_shape_of_the_database_is_recognised() {
    let filled = Filled::start();
    let numbers = &mut Numbers(11);
    let mut recognised = Vec::new();

    let nested: Vec<Document> = users(numbers)
        .into_iter()
        .map(|user| {
            let orders: Vec<Document> = (0..numbers.below(8)).map(|n| order(numbers, n)).collect();
            with(user, "orders", orders)
        })
        .collect();
    filled.insert("embedded", "users", &nested);
    recognised.push(("embedded", vec!["user.orders: embed"]));

    let all = users(numbers);
    let referring = |numbers: &mut Numbers, name: Option<&str>| -> Vec<Document> {
        (0..800)
            .map(|n| {
                let user = &all[numbers.below(200)];
                let made = with(order(numbers, n), "user", id(user));
                name.map_or(made.clone(), |name| with(made, name, user.get_str("name").unwrap()))
            })
            .collect()
    };
    for (database, copy, words) in
        [("referenced", None, "user.orders: reference"), ("copied", Some("user_name"), "user.orders: reference(name)")]
    {
        let orders = referring(numbers, copy);
        filled.insert(database, "users", &all);
        filled.insert(database, "orders", &orders);
        filled.index(database, "orders", doc! { "key": { "user": 1, "placed": 1 }, "name": "user" });
        recognised.push((database, vec![words]));
    }
    let mut extended = Vec::new();
    for (n, user) in (0..800).map(|n| (n, &all[(n * 7) % 200])) {
        extended.push(with(order(numbers, n), "user", doc! { "_id": id(user), "name": user.get_str("name").unwrap() }));
    }
    filled.insert("extended", "users", &all);
    filled.insert("extended", "orders", &extended);
    recognised.push(("extended", vec!["user.orders: reference(name)"]));

    for (database, has_both, words) in
        [("listed", false, "user.orders: list"), ("two-way", true, "user.orders: reference + list")]
    {
        let (mut listing, mut listed) = (Vec::new(), Vec::new());
        for user in users(numbers) {
            let own: Vec<Document> = (0..4).map(|n| order(numbers, n)).collect();
            listing.push(with(user.clone(), "orders", own.iter().map(id).collect::<Vec<_>>()));
            listed.extend(own.into_iter().map(|order| if has_both { with(order, "user", id(&user)) } else { order }));
        }
        filled.insert(database, "users", &listing);
        filled.insert(database, "orders", &listed);
        recognised.push((database, vec![words]));
    }

    for (database, is_mutual, words) in
        [("shared", false, "product.parts: list"), ("mutual", true, "product.parts: list + reference")]
    {
        let mut parts: Vec<Document> =
            (0..150).map(|n| doc! { "_id": ObjectId::new(), "name": format!("part {n}") }).collect();
        let mut back: Vec<Vec<Bson>> = vec![Vec::new(); 150];
        let products: Vec<Document> = (0..300).map(|n| {
            let product = ObjectId::new();
            let mut own: Vec<usize> = (0..1 + numbers.below(6)).map(|_| numbers.below(150)).collect();
                own.sort_unstable();
                own.dedup();
            own.iter().for_each(|part| back[*part].push(product.into()));
            doc! { "_id": product, "title": format!("p {n}"), "parts": own.iter().map(|part| id(&parts[*part])).collect::<Vec<_>>() }
        }).collect();
        if is_mutual {
            parts.iter_mut().zip(back).for_each(|(part, back)| drop(part.insert("products", back)));
        }
        filled.insert(database, "parts", &parts);
        filled.insert(database, "products", &products);
        recognised.push((database, vec![words]));
    }

    let mut buckets = Vec::new();
    for (n, user) in all.iter().enumerate() {
        let own: Vec<Document> = (0..8 + numbers.below(20)).map(|k| order(numbers, n * 30 + k)).collect();
        for (page, part) in own.chunks(10).enumerate() {
            buckets.push(doc! { "_id": ObjectId::new(), "user": id(user), "page": page as i32, "n": part.len() as i32, "orders": part });
        }
    }
    filled.insert("bucketed", "users", &all);
    filled.insert("bucketed", "order_buckets", &buckets);
    filled.index("bucketed", "order_buckets", doc! { "key": { "user": 1, "page": 1 }, "name": "user" });
    recognised.push(("bucketed", vec!["user.orders: bucket(10)"]));

    for (database, words) in recognised {
        let (text, json) = filled.init(database);
        assert_eq!(shape(&json), words, "{database}: {text}");
        assert_alike(&json, 0.1);
    }
}

#[test]
fn operations_are_observed_while_an_application_runs() {
    let filled = Filled::start();
    let mut numbers = Numbers(5);
    let users = users(&mut numbers);
    filled.insert("watched", "users", &users);
    let order = |n: usize| with(order(&mut numbers, n), "user", id(&users[n % 200]));
    let orders: Vec<Document> = (0..1_000).map(order).collect();
    filled.insert("watched", "orders", &orders);
    filled.index("watched", "orders", doc! { "key": { "user": 1 }, "name": "user" });
    let from = filled.from("watched");
    let mut watching = Running::start(filled.place.docshape(&["init", "watched", "--from", &from, "--watch", "15s"]));
    watching.wait_for("nothing is switched on");
    std::thread::sleep(std::time::Duration::from_secs(3));
    for (place, order) in orders.iter().take(40).enumerate() {
        let found = order.get("user").unwrap();
        let find = doc! { "find": "orders", "filter": { "user": found } };
        filled.ask("watched", RawDocumentBuf::try_from(&find).unwrap());
        if place % 4 == 0 {
            let status = doc! { "q": { "_id": id(order) }, "u": { "$set": { "note": format!("n{place}") } } };
            filled.ask("watched", RawDocumentBuf::try_from(&doc! { "update": "orders", "updates": [status] }).unwrap());
        }
    }
    let ended = watching.finish().ok();
    let text = fs::read_to_string(filled.place.path("watched.yaml")).unwrap();
    assert!(text.contains("# 40 calls, 80.0 %") && text.contains("# 10 calls, 20.0 %"), "{}{text}", ended.stdout);
    assert!(!text.contains("TODO the mix"), "{text}");
    finish(filled.place.docshape(&["check", "watched.yaml"])).ok();
    finish(filled.place.docshape(&["verify", "watched.yaml", "--calls", "40"])).ok();
    let refused = finish(filled.place.docshape(&["init", "more", "--from", &from, "--profile"]));
    refused.error(2, &["watched.system.profile has no statement", "--watch 5m"]);
}

#[test]
fn no_value_of_a_document_leaves_the_process() {
    const CANARY: &str = "ca4a7y";
    let filled = Filled::start();
    let canary = |n: usize| format!("{CANARY}-{n:06}-4b1d");
    let documents: Vec<Document> = (0..500).map(|n| {
        let keys: Document = (0..4).map(|k| (canary(n * 4 + k), Bson::from(1))).collect();
        doc! { "_id": canary(n), "few": canary(n % 3), "pool": canary(n % 90), "one": CANARY, "all": [canary(n), { "x": canary(n % 2) }], "map": keys, "deep": { "er": canary(n) },
               "code": Bson::JavaScriptCode(canary(n)), "by": canary((n * 7) % 500), "bytes": Bson::from(bson::Binary { subtype: 0.into(), bytes: canary(n).into_bytes() }) }
    }).collect();
    filled.insert("secrets", "things", &documents);
    filled.index(
        "secrets",
        "things",
        doc! { "key": { "few": 1 }, "name": canary(1), "partialFilterExpression": { "few": canary(1) } },
    );
    let from = filled.from("secrets");
    for options in [&[][..], &["--json", "--force"], &["--hide-names", "--force"]] {
        let command = [&["init", "secrets", "--from", &from], options].concat();
        let ended = finish(filled.place.docshape(&command)).ok();
        let text = fs::read_to_string(filled.place.path("secrets.yaml")).unwrap();
        for said in [&ended.stdout, &ended.stderr, &text] {
            assert!(!said.contains(CANARY), "{options:?}: {said}");
        }
        if options.contains(&"--hide-names") {
            for name in ["things", "deep", "pool"] {
                assert!(!text.contains(name) && !ended.stdout.contains(name), "{name}: {text}\n{}", ended.stdout);
            }
        }
    }
    // An existing file is kept.
    let text = fs::read_to_string(filled.place.path("secrets.yaml")).unwrap();
    finish(filled.place.docshape(&["init", "secrets", "--from", &from])).error(2, &["secrets.yaml exists", "--force"]);
    assert_eq!(fs::read_to_string(filled.place.path("secrets.yaml")).unwrap(), text);
    for (arguments, code, words) in [
        (["init", "Shop", "--from", &from], 2, &["Shop cannot be the name of a scenario"][..]),
        (["init", "none", "--from", &filled.from("nothing")], 3, &["database nothing", "no collections"]),
        (["init", "none", "--from", &filled.uri], 2, &["names no database"]),
        (["init", "none", "--from", "no/such/file.json"], 2, &["no/such/file.json"]),
    ] {
        finish(filled.place.docshape(&arguments)).error(code, words);
        assert!(!filled.place.path("none.yaml").exists());
    }
}

#[test]
fn hostile_documents_are_read_with_words() {
    let filled = Filled::start();
    let names = (0..30).map(|n| {
        doc! { "_id": n, "": 1, "a.b": 2, "$x": 3, "__proto__": { "constructor": 1 }, "...": 4, "in": 5, "index": 6, "it's": "v", "li\nne": 1, "<slot>": 1, "yes": true,
               "use": { "use": "x" }, "s": { "set": [1] }, "l": { "list": 1, "of": 2 }, "\u{202e}": 1 }
    });
    let wide = |from: usize| -> Document { (from..from + 1_000).map(|n| (format!("f{n}"), Bson::from(1))).collect() };
    let deep = (0..90).fold(doc! { "x": 1 }, |inner, _| doc! { "a": inner });
    let odd = (0..40).map(|n: i64| {
        let mixed = [Bson::from(1), Bson::from("a"), Bson::Null, Bson::from(doc! { "b": 1 })][(n % 4) as usize].clone();
        doc! { "nan": f64::NAN, "infinite": f64::NEG_INFINITY, "far": DateTime::from_millis(if n % 2 == 0 { i64::MAX } else { i64::MIN }), "min": Bson::MinKey, "mixed": mixed,
               "nested": [[[1, [2]]], []], "big": if n % 2 == 0 { i64::MAX } else { i64::MIN }, "null": Bson::Null, "empty": {}, "none": [] }
    });
    for (collection, documents) in [
        ("names", names.collect::<Vec<_>>()),
        ("wide", vec![wide(0); 5]),
        ("wider", (0..25).map(|n| wide(n * 1_000)).collect()),
        ("deep", vec![deep; 5]),
        ("big", vec![doc! { "x": "x".repeat(16_000_000) }, doc! { "x": "small" }]),
        ("odd", odd.collect()),
        ("we ird/name", (0..20).map(|n| doc! { "_id": { "a": n }, "v": n }).collect()),
        ("order", (0..9).map(|n| doc! { "_id": n, "order": n, "count": 2 }).collect()),
        (
            "self",
            (0..50).map(|n| doc! { "_id": format!("n{n:03}"), "parent": format!("n{:03}", n * 7 % 50) }).collect(),
        ),
        ("a", (0..50).map(|n| doc! { "_id": format!("A{n:03}"), "b": format!("B{:03}", n * 7 % 50) }).collect()),
        ("b", (0..50).map(|n| doc! { "_id": format!("B{n:03}"), "a": format!("A{:03}", n * 3 % 50) }).collect()),
    ] {
        filled.insert("hostile", collection, &documents);
    }
    filled.ask("hostile", rawdoc! { "create": "empty" });
    let ended = finish(filled.place.docshape(&["init", "hostile", "--from", &filled.from("hostile")])).ok();
    assert!(ended.peak < 500 * 1_024, "{} KiB", ended.peak);
    assert!(ended.stdout.contains("empty was left out: it has no documents"), "{}", ended.stdout);
    let checked = finish(filled.place.docshape(&["check", "hostile.yaml"]));
    let text = fs::read_to_string(filled.place.path("hostile.yaml")).unwrap();
    assert_eq!(checked.code(), Some(0), "{}{}\n{text}", checked.stdout, checked.stderr);
}

#[test]
fn files_give_the_same_model_as_a_server() {
    let place = Place::new();
    let numbers = &mut Numbers(5);
    let all = users(numbers);
    let orders: Vec<Document> =
        (0..700).map(|n| with(order(numbers, n), "user", id(&all[numbers.below(200)]))).collect();
    fs::create_dir(place.path("dump")).unwrap();
    let metadata = "{\"collectionName\":\"orders\",\"options\":{},\"indexes\":[{\"key\":{\"user\":{\"$numberInt\":\"1\"}},\"name\":\"user\"}]}";
    fs::write(place.path("dump/orders.metadata.json"), metadata).unwrap();
    for (name, documents) in [("users", &all), ("orders", &orders)] {
        let bytes: Vec<u8> =
            documents.iter().flat_map(|one| RawDocumentBuf::try_from(one).unwrap().into_bytes()).collect();
        fs::write(place.path(&format!("dump/{name}.bson")), bytes).unwrap();
        let lines: Vec<String> = documents.iter().map(|one| extended(&Bson::from(one.clone()))).collect();
        fs::write(place.path(&format!("{name}.json")), lines.join("\n")).unwrap();
    }
    let made = |from: &str| -> (Ended, String) {
        let ended = finish(place.docshape(&["init", "files", "--force", "--from", from])).ok();
        (ended, fs::read_to_string(place.path("files.yaml")).unwrap())
    };
    let (ended, dump) = made("dump");
    assert!(dump.contains("user.orders: reference") && !dump.contains("an index on"), "{dump}");
    assert!(
        ended.stdout.contains("700 of       700") && ended.stdout.lines().all(|line| line.chars().count() <= 80),
        "{}",
        ended.stdout
    );
    let (_, lines) = made("users.json,orders.json");
    assert_eq!(lines, dump, "only the index is missing, and the operation for it is there anyway");
}

#[test]
fn a_user_who_may_only_read_suffices() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("key"), "c2VjcmV0").unwrap();
    fs::set_permissions(folder.path().join("key"), PermissionsExt::from_mode(0o600)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let extra_arguments = vec![format!("--keyFile={}/key", folder.path().display()).into()];
    let options = EmbeddedOptions { extra_arguments, ..harness::options(folder.path()) };
    let server = runtime.block_on(EmbeddedMongod::start(&options)).unwrap();
    let uri = server.uri();
    let user = |name: &str, role: Bson| {
        RawDocumentBuf::try_from(&doc! { "createUser": name, "pwd": "s3cret", "roles": [role] }).unwrap()
    };
    single(&runtime, &uri, "admin", user("root", "root".into()));
    let of = |user: &str, database: &str| {
        uri.replace("mongodb://", &format!("mongodb://{user}:s3cret@")).replacen(
            "/?",
            &format!("/{database}?authSource=admin&"),
            1,
        )
    };
    let root = of("root", "admin");
    let numbers = &mut Numbers(5);
    let all = users(numbers);
    let orders: Vec<Document> =
        (0..1_500).map(|n| with(order(numbers, n), "user", id(&all[numbers.below(200)]))).collect();
    for (collection, documents) in [("users", &all), ("orders", &orders)] {
        for part in documents.chunks(1_000) {
            single(
                &runtime,
                &root,
                "shop",
                RawDocumentBuf::try_from(&doc! { "insert": collection, "documents": part }).unwrap(),
            );
        }
    }
    let place = Place::new();
    let printed = finish(place.docshape(&["init", "--rights", "--from", &of("x", "shop")])).ok().stdout;
    let actions: Vec<&str> = printed
        .split("actions: [")
        .nth(1)
        .unwrap()
        .split(']')
        .next()
        .unwrap()
        .split(", ")
        .map(|one| one.trim_matches('"'))
        .collect();
    let role = doc! { "createRole": "printed", "roles": [], "privileges": [{ "resource": { "db": "shop", "collection": "" }, "actions": actions }] };
    single(&runtime, &root, "admin", RawDocumentBuf::try_from(&role).unwrap());
    single(&runtime, &root, "admin", user("reader", doc! { "role": "read", "db": "shop" }.into()));
    single(&runtime, &root, "admin", user("least", "printed".into()));
    single(&runtime, &root, "admin", user("nobody", doc! { "role": "read", "db": "other" }.into()));
    for user in ["reader", "least"] {
        finish(place.docshape(&["init", user, "--from", &of(user, "shop")])).ok();
        let text = fs::read_to_string(place.path(&format!("{user}.yaml"))).unwrap();
        assert!(text.contains("user.orders: reference"), "{text}");
    }
    finish(place.docshape(&["init", "nobody", "--from", &of("nobody", "shop")]))
        .error(3, &["the database shop", "init --rights"]);
    let wrong = of("reader", "shop").replace("s3cret", "wr0ng");
    finish(place.docshape(&["init", "nobody", "--from", &wrong])).error(3, &["init --rights"]);
    assert!(!place.path("nobody.yaml").exists());
}

#[test]
fn models_of_answers_verify_and_that_of_the_examples_is_explored() {
    let place = Place::new();
    for (name, answers) in [("shop", ""), ("books", "author 30, book\n")] {
        let given = place.path("answers");
        fs::write(&given, answers).unwrap();
        let made = place.docshape(&["init", name]).stdin(fs::File::open(&given).unwrap()).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        let verified = finish(place.docshape(&["verify", &format!("{name}.yaml"), "--calls", "200"])).ok();
        assert!(verified.stdout.contains("200 calls give the model's answers"), "{}", verified.stdout);
        assert!(!verified.stdout.contains("never called"), "{}", verified.stdout);
    }
    let small = ["--no-finals", "--budget", "20s", "--preset", "smoke", "--out", "explored"];
    let explored = finish(place.docshape(&[&["explore", "shop.yaml"][..], &small].concat())).ok();
    assert!(explored.stdout.contains("lines_embed"), "{}", explored.stdout);
    place.assert_nothing_left();
}
