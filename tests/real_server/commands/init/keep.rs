//! `--keep-data`: real values in the data of a model.

use std::collections::HashSet;
use std::fs;

use docshape::compile::{Choice, compile};
use docshape::plan::{Plan, written};
use docshape::scenario::{Diagnostics, Source, read};

use super::*;

fn plan(path: &std::path::Path) -> Plan {
    let (source, diagnostics) = (Source::load(path.to_str().unwrap()).unwrap(), Diagnostics::new());
    let scenario = read(&source, &diagnostics).unwrap();
    let plan = compile(&scenario, &Choice::default(), &diagnostics).unwrap();
    plan.unwrap_or_else(|| panic!("{}", diagnostics.render(&source, false)))
}

/// The values of some fields, of all records of an entity.
fn generated(plan: &Plan, entity: &str, fields: &[&str]) -> Vec<Vec<String>> {
    let entity = plan.data.entities.iter().position(|one| *one.name == *entity).unwrap();
    let field = |ordinal, name: &&str| written(&plan.data.whole(entity, ordinal).field(name).unwrap());
    let record = |ordinal| fields.iter().map(|name| field(ordinal, name)).collect();
    (0..plan.data.len(entity)).map(record).collect()
}

#[test]
fn records_have_the_real_values_of_one_document_each() {
    let filled = Filled::start();
    fill_shop(&filled);
    let (text, json) = filled.init_with("shop", &["--keep-data", "shop.data", "--yes"]);
    for words in [
        "from: \"shop.data/product.ndjson\"",
        "description: \"line('description')\"",
        "stock: \"line('stock')\"",
        "sku: \"string(index)",
        "product: \"zipf(product, ",
        "placed: clock()",
        "value: uniform(order).status",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let sizes = json["comparison"]["sizes"].as_array().unwrap();
    assert!(
        sizes.iter().all(|one| (one["p50"][1].as_f64().unwrap() / one["p50"][0].as_f64().unwrap() - 1.0).abs() < 0.02),
        "{sizes:?}"
    );
    assert_eq!(fs::read_to_string(filled.place.path("shop.data/.gitignore")).unwrap(), "*\n");

    let reply = filled.ask("shop", rawdoc! { "find": "products", "batchSize": 1_000, "singleBatch": true });
    let real: HashSet<Vec<String>> = reply
        .get_document("cursor")
        .unwrap()
        .get_array("firstBatch")
        .unwrap()
        .into_iter()
        .map(|one| {
            let one = Document::try_from(one.unwrap().as_document().unwrap()).unwrap();
            let name = |name: &str| one.get_str(name).map_or("null".to_owned(), |text| format!("{text:?}"));
            vec![name("name"), one.get_i32("price").unwrap().to_string(), name("description")]
        })
        .collect();
    let made = generated(&plan(&filled.place.path("shop.yaml")), "product", &["name", "price", "description"]);
    assert_eq!(made.len(), 400);
    assert!(made.iter().all(|one| real.contains(one)), "{:?} of {:?}", made[0], real.iter().next());
    assert!(real.iter().all(|one| !text.contains(one[0].trim_matches('"'))), "no value is in the scenario: {text}");
    assert!(made.iter().any(|one| one[2] == "null"), "some have no description");
    assert_eq!(made.into_iter().collect::<HashSet<_>>(), real, "each document once");

    let run = ["run", "shop.yaml", "--mix", "verify", "--preset", "smoke", "--out", "run"];
    finish(filled.place.docshape(&run)).ok();
    let data = filled.place.record().scenario.data;
    assert_eq!(
        data.keys().map(String::as_str).collect::<Vec<_>>(),
        ["line", "order", "product", "review", "user"].map(|name| format!("shop.data/{name}.ndjson"))
    );
    assert!(data.values().all(|sum| sum.len() == 64));
}

#[test]
fn real_values_are_copied_only_with_consent_and_inside_of_the_folder() {
    let place = Place::new();
    fs::write(place.path("things.json"), "{\"_id\":1,\"a\":\"ca4a7y\"}\n{\"_id\":2}\n").unwrap();
    fs::write(place.path("keys.json"), "{\"_id\":1}\n{\"_id\":2}\n").unwrap();
    let init = |from: &str, more: &[&str]| {
        finish(place.docshape(&[&["init", "kept", "--from", from, "--keep-data"], more].concat()))
    };
    for (more, words) in [
        (&["kept.data"][..], &["copies real documents to kept.data", "--yes"][..]),
        (&["../kept.data", "--yes"], &["../kept.data", "inside of this folder"]),
        (&["tmp", "--yes"], &["tmp exists", "--force"]),
    ] {
        init("things.json", more).error(2, words);
    }
    init("keys.json", &["kept.data", "--yes"]).error(2, &["no field has values"]);
    assert!(!place.path("kept.yaml").exists() && !place.path("kept.data").exists());
    let ended = init("things.json", &["kept.data", "--yes"]).ok();
    for words in ["No value of a document is in it.", "2 real documents to kept.data/"] {
        assert!(ended.stdout.replace("\n  ", " ").contains(words), "{}", ended.stdout);
    }
    let text = fs::read_to_string(place.path("kept.yaml")).unwrap();
    assert!(!text.contains("ca4a7y") && !ended.stdout.contains("ca4a7y"), "{text}");
    assert_eq!(fs::read_to_string(place.path("kept.data/thing.ndjson")).unwrap(), "{\"a\":\"ca4a7y\"}\n{}\n");
    finish(place.docshape(&["check", "kept.yaml"])).ok();
    init("things.json", &["kept.data", "--yes", "--force"]).ok();
    let left: Vec<_> = fs::read_dir(place.path("."))
        .unwrap()
        .map(|one| one.unwrap().file_name())
        .filter(|name| name.to_string_lossy().starts_with(".docshape"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
