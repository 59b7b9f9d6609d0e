//! The view and its schema.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Value, json};

use crate::record::Part;
use crate::report::run::explain;
use crate::report::tests::complete;
use crate::report::{Column, Kind, Table, comparison as run_comparison, verification};
use crate::stats::sample;
use crate::studies::capacity::report as capacity;
use crate::studies::growth::report as growth;
use crate::studies::published::{rules, runs as summary};
use crate::studies::shard_key::report as shard_key;
use crate::studies::sweep::report as sweep;

use super::*;

/// The published schema.
fn file() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "schemas", "report.schema.json"].iter().collect()
}

static VALIDATOR: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema: Value = serde_json::from_slice(&std::fs::read(file()).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
});

/// Where a text is not what the published schema describes.
pub(crate) fn faults(text: &str) -> Vec<String> {
    let view: Value = serde_json::from_str(text).unwrap();
    VALIDATOR.iter_errors(&view).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn rendered(record: &crate::results::RunRecord) -> String {
    let mut text = String::new();
    Json.render(&crate::report::tests::report(record), &mut text).unwrap();
    text
}

fn view(report: &Report) -> Value {
    serde_json::to_value(View::of(report)).unwrap()
}

/// The first record of a table with these values.
pub(crate) fn record(report: &Report, table: &str, wanted: &[(&str, &str)]) -> Value {
    found(&view(report), table, wanted).clone()
}

/// A column's values.
fn values(column: &Column) -> Value {
    let kind = match column.kind {
        Kind::Text => json!({ "type": ["string", "null"] }),
        Kind::Number => json!({ "type": ["number", "null"] }),
        Kind::Flag => json!({ "type": ["boolean", "null"] }),
        Kind::Numbers => json!({ "type": "array", "items": { "type": ["number", "null"] } }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Map => json!({ "type": "object", "additionalProperties": { "type": ["number", "string", "null"] } }),
    };
    let mut kind = kind;
    kind["description"] = json!(column.about);
    kind
}

/// The records of a table.
fn records(table: &Table) -> Value {
    let columns = table.columns.iter().filter(|column| column.forms.contains(FORM));
    let columns: Vec<&Column> = table.group.iter().chain([&table.name]).chain(columns).collect();
    let properties: serde_json::Map<String, Value> =
        columns.iter().map(|column| (column.key.to_owned(), values(column))).collect();
    let keys: Vec<&str> = columns.iter().map(|column| column.key).collect();
    let record = json!({ "type": "object", "properties": properties, "required": keys, "additionalProperties": false });
    json!({ "type": "array", "description": table.title, "items": record })
}

/// A report of every kind with all its tables.
pub(crate) fn all() -> [Report; 10] {
    [
        crate::report::tests::report(&complete()),
        run_comparison::tests::complete(),
        capacity::tests::complete(),
        verification::tests::complete(),
        summary::tests::several(),
        sweep::tests::complete(),
        growth::tests::complete(),
        rules::tests::complete(),
        explain::tests::complete(),
        shard_key::tests::complete(),
    ]
}

/// A run whose own times predict its mix, so that it has the tables of other mixes.
fn predicted() -> Report {
    crate::report::tests::report(&sample::run(8))
}

/// A run on a cluster: of 20 calls 16 commands went to one shard and 4 to all, and one shard has a half more documents than the mean.
fn clustered() -> Report {
    let mut run = sample::whole(&sample::run(2));
    for cell in run.parts.values_mut().flatten().flat_map(|round| &mut round.cells) {
        let routed = [("targeted_one_shard", 16.0), ("targeted_all_shards", 4.0), ("two_phase_commits", 0.0)];
        cell.own_counters.iter_mut().for_each(|of| of.extend(routed.map(|(name, sum)| (name.to_owned(), sum))));
        for sizes in &mut cell.after {
            sizes.shards = [("east".to_owned(), 150), ("west".to_owned(), 50)].into();
        }
    }
    crate::report::tests::report(&run)
}

#[test]
fn a_cluster_has_the_shards_that_operations_ask() {
    let report = clustered();
    let routes = record(&report, "own_routes", &[("operation", "add_comment"), ("strategy", "embedded")]);
    let found = ["targeted_one_shard", "targeted_many_shards", "targeted_all_shards", "two_phase_commits"];
    assert_eq!(found.map(|name| routes[name].clone()), [json!(0.8), Value::Null, json!(0.2), json!(0.0)]);
    let mut text = String::new();
    Json.render(&report, &mut text).unwrap();
    assert!(text.contains("divided by the mean of all shards: 1.50 for posts of embedded"), "{text}");
    assert_eq!(view(&predicted())["tables"].get("own_routes"), None);
}

/// The schema of the types of the view, and of every table of the reports that have all of them. Objects have the fields named
/// and no others.
fn schema() -> String {
    let mut made = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<View>();
    let mut close = RecursiveTransform(|schema: &mut schemars::Schema| {
        if schema.get("properties").is_some() {
            schema.insert("additionalProperties".into(), false.into());
        }
    });
    close.transform(&mut made);
    let mut made = made.to_value();
    let reports: Vec<Report> = all().into_iter().chain([predicted(), clustered()]).collect();
    let sections = reports.iter().flat_map(|report| &report.sections);
    let tables = sections.flat_map(|section| section.shown(FORM));
    let tables: serde_json::Map<String, Value> = tables.map(|table| (table.id.to_owned(), records(table))).collect();
    made["properties"]["tables"] = json!({
        "type": "object", "description": "The tables by name: a record per row.", "properties": tables,
        "additionalProperties": false,
    });
    made["properties"]["format"]["const"] = json!(super::JSON_FORMAT);
    format!("{made:#}\n")
}

/// Writes the schema that the code describes to `target` if the published one differs.
#[test]
fn the_published_schema_is_that_of_the_view() {
    let (made, published) = (schema(), std::fs::read_to_string(file()).unwrap_or_default());
    let generated = [env!("CARGO_MANIFEST_DIR"), "target", "report.schema.json"].iter().collect::<PathBuf>();
    if made != published {
        std::fs::write(&generated, &made).unwrap();
    }
    assert!(made == published, "the view has changed: copy {} to schemas, and see JSON_FORMAT", generated.display());
}

#[test]
fn every_report_is_what_the_schema_describes() {
    for rounds in [8, 2, 1, 0] {
        assert_eq!(faults(&rendered(&sample::run(rounds))), [""; 0]);
    }
}

#[test]
fn the_schema_knows_every_field_and_its_kind() {
    let view: Value = serde_json::from_str(&rendered(&sample::run(8))).unwrap();
    let places = [
        "", "/verdict", "/sections/0", "/tables/times/1", "/tables/differences/1", "/tables/outcomes/0", "/run/server",
    ];
    for place in places {
        let mut more = view.clone();
        more.pointer_mut(place).unwrap()["forgotten"] = json!(1);
        assert!(!VALIDATOR.is_valid(&more), "{place}");
        for name in view.pointer(place).unwrap().as_object().unwrap().keys() {
            let mut less = view.clone();
            less.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(name);
            assert!(!VALIDATOR.is_valid(&less) || view.pointer(place).unwrap()[name].is_null(), "{place}/{name}");
            let mut other = view.clone();
            other.pointer_mut(place).unwrap()[name] = json!([{ "never": 1 }]);
            assert!(!VALIDATOR.is_valid(&other), "{place}/{name}");
        }
    }
}

#[test]
fn every_table_is_in_the_view() {
    assert_eq!(faults(&rendered(&complete())), [""; 0]);
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let mut found = BTreeSet::new();
    for report in all() {
        for name in names(&view(&report)["tables"]) {
            assert!(found.insert(name.clone()), "two tables are named {name}");
        }
    }
    [predicted(), clustered()].iter().for_each(|report| found.extend(names(&view(report)["tables"])));
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    assert_eq!(found, names(&schema["properties"]["tables"]["properties"]));
}

/// The first record of a table with these values.
fn found<'v>(view: &'v Value, table: &str, wanted: &[(&str, &str)]) -> &'v Value {
    let records = view["tables"][table].as_array().unwrap();
    let fits = |record: &&Value| wanted.iter().all(|(key, value)| record[*key] == *value);
    records.iter().find(fits).unwrap_or_else(|| panic!("{table} has no {wanted:?}"))
}

#[test]
fn numbers_are_those_of_the_evaluation() {
    let run = sample::run(8);
    let (view, report) = (rendered(&run), crate::report::tests::report(&run));
    let names = ["format", "scenario", "verdict", "sections", "tables", "run"];
    let places = names.map(|name| view.find(&format!("\n  \"{name}\":")).unwrap());
    assert!(places.is_sorted(), "{places:?}");
    let view: Value = serde_json::from_str(&view).unwrap();
    assert_eq!(
        (&view["format"], &view["valid"], &view["scenario"]),
        (&json!(super::JSON_FORMAT), &json!(true), &json!("blog-comments"))
    );
    assert_eq!(view["verdict"]["sentences"], json!(report.headline.sentences));
    let linked = [("operation", "add_comment"), ("strategy", "linked")];
    let details = report.run.as_ref().unwrap();
    let cell = &details.parts.main().rows[0].cells[1];
    let times = found(&view, "times", &linked);
    assert_eq!((&times["mean_ns"], &times["p90_ns"]), (&json!(cell.mean), &json!(cell.quantile(0.9))));
    let own = details.parts.get(Part::Own).unwrap();
    let ratio = own.rows[0].cells[1].comparison.as_ref().unwrap().ratio.unwrap();
    let difference = found(&view, "differences", &linked);
    assert_eq!((&difference["ratio"], &difference["rounds"]), (&json!(ratio.mean), &json!(8)));
    assert_eq!(
        (&difference["low"], &difference["difference"]),
        (&json!(ratio.interval.unwrap().low), &json!("faster"))
    );
    let counts = found(&view, "outcomes", &linked);
    assert_eq!((&counts["calls"], &counts["outcomes"]["failed"]), (&json!(4_800), &json!(16)));
    let unsafe_one = found(&view, "differences", &[("operation", "add_comment"), ("strategy", "bucket_rmw")]);
    assert_eq!((&unsafe_one["difference"], &unsafe_one["reason"]), (&json!(null), &json!("not_judged")));
    assert_eq!(view["tables"]["mix_cost"][0]["counter"], json!("cpu_us"));
    let own = found(&view, "own_cost", &[("operation", "read_post"), ("strategy", "linked")]);
    assert_eq!(own["round_trips"], json!(2.0));
    assert_eq!(view["run"]["verification"]["clean"], json!(true));
    assert_eq!(view["run"]["server"]["servers"], json!("shared"));
    assert_eq!(view["run"]["parameters"][1], json!({ "name": "word", "value": "it's" }));
    assert_eq!(view["run"]["command"], json!(details.facts.command));
}

#[test]
fn a_slow_network_is_predicted_from_the_round_trips() {
    let report = sweep::tests::complete();
    let pair = [("place", "read_post, length = length"), ("strategies", "embedded, linked")];
    let [predicted, measured] = ["network", "orders"].map(|table| record(&report, table, &pair));
    let (one, other) = (predicted["round_trips"].as_f64().unwrap(), predicted["other_round_trips"].as_f64().unwrap());
    assert!(one < other, "{predicted}");
    let slower = predicted["predicted_ratio"].as_f64().unwrap();
    assert!(slower < measured["ratios"][0].as_f64().unwrap(), "{predicted}");
}
