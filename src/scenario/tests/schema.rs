//! `schemas/scenario.json`, made from the tables that the reader uses, so that editors know what the reader knows.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::scenario::command::COMMANDS;
use crate::scenario::condition::{MOST_CONDITIONS, MOST_VALUES};
use crate::scenario::keys::{self, KeyDefinition, Takes};
use crate::scenario::step::{REPEATED_REQUEST, RETRY, STEPS};
use crate::scenario::{CommandWord, Diagnostics, FORMAT, Node, Scalar, Source, Tree, read};

fn reference(definition: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{definition}") })
}

fn by_name(values: Value) -> Value {
    json!({ "type": "object", "additionalProperties": values })
}

/// What a key takes.
fn value(takes: Takes) -> Value {
    match takes {
        Takes::Format => json!({ "const": FORMAT }),
        Takes::Text => json!({ "type": "string", "pattern": "\\S" }),
        Takes::Texts => json!({ "type": "array", "items": value(Takes::Text) }),
        Takes::OneOf(words) => json!({ "enum": words }),
        Takes::Boolean => json!({ "type": "boolean" }),
        Takes::Integer(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
        Takes::Codes => json!({ "type": "array", "items": { "type": "integer" }, "minItems": 1 }),
        Takes::Expression => json!(true),
        Takes::Scalar | Takes::Literal => json!({ "type": ["string", "number", "boolean"] }),
        Takes::Settings => by_name(value(Takes::Literal)),
        Takes::Conditions => json!({
            "type": "object",
            "minProperties": 1,
            "maxProperties": MOST_CONDITIONS,
            "additionalProperties": { "type": "array", "items": value(Takes::Literal), "minItems": 2, "maxItems": MOST_VALUES },
        }),
        Takes::Compared => json!({ "anyOf": [{ "type": ["string", "number"] }, reference("compared")] }),
        Takes::Expressions(_) | Takes::FieldExpressions | Takes::Fragments | Takes::Shapes => by_name(json!(true)),
        Takes::Logical => {
            let one = json!({ "anyOf": [reference("write"), reference("single_step")] });
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        }
        Takes::Loop => json!({ "type": "object", "minProperties": 1, "maxProperties": 1 }),
        Takes::Each => json!({ "type": ["string", "object"], "minProperties": 1 }),
        Takes::Document => json!({ "anyOf": [{ "type": "object" }, reference("slot")] }),
        Takes::Items => json!({ "anyOf": [{ "type": "array" }, reference("slot")] }),
        Takes::Count => json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, reference("slot")] }),
        Takes::Update => json!({ "anyOf": [{ "type": ["object", "array"] }, reference("slot")] }),
        Takes::Hint => json!({ "type": ["string", "object"] }),
        Takes::Indexes => json!({ "type": "array", "items": { "type": "object", "minProperties": 1 } }),
        Takes::ShardKeys => by_name(value(Takes::Indexes)),
        Takes::Steps => reference("step"),
        Takes::One(kind) => reference(kind),
        Takes::Optional(kind) => json!({ "anyOf": [reference(kind), { "type": "null" }] }),
        Takes::Named(kind) => by_name(reference(kind)),
        Takes::List(kind) => json!({ "type": "array", "items": reference(kind) }),
    }
}

fn properties(keys: &[KeyDefinition]) -> Map<String, Value> {
    let property = |key: &KeyDefinition| {
        let mut schema = value(key.takes);
        if let Value::Bool(_) = schema {
            schema = json!({});
        }
        schema["description"] = description(key).into();
        (key.name.to_owned(), schema)
    };
    keys.iter().map(property).collect()
}

fn description(key: &KeyDefinition) -> String {
    let (first, rest) = key.about.split_at(key.about.chars().next().map_or(0, char::len_utf8));
    let default = if key.default.is_empty() { String::new() } else { format!("; by default {}", key.default) };
    format!("{}{rest}{default}.\n\nFor example: `{}`", first.to_uppercase(), key.entry())
}

fn object(keys: &[KeyDefinition]) -> Value {
    let required: Vec<&str> = keys.iter().filter(|key| key.is_required).map(|key| key.name).collect();
    json!({ "type": "object", "properties": properties(keys), "required": required, "additionalProperties": false })
}

/// A mapping that may be left empty.
fn optional(keys: &[KeyDefinition]) -> Value {
    json!({ "anyOf": [object(keys), { "type": "null" }] })
}

/// An object whose other keys have values of one kind.
fn open(keys: &[KeyDefinition], others: Value) -> Value {
    json!({ "type": "object", "properties": properties(keys), "additionalProperties": others, "minProperties": 1 })
}

/// Allows `{ use: NAME }` for every value inside of a schema.
fn allow_fragments(schema: &mut Value) {
    let Value::Object(schema) = schema else { return };
    for (key, inner) in schema {
        match (key.as_str(), inner) {
            ("properties", Value::Object(values)) => values.values_mut().for_each(allow_fragment),
            ("items" | "additionalProperties", inner) => allow_fragment(inner),
            ("anyOf", Value::Array(kinds)) => kinds.iter_mut().for_each(allow_fragments),
            _ => {}
        }
    }
}

/// Allows `{ use: NAME }` for a value and what is inside of it.
fn allow_fragment(schema: &mut Value) {
    allow_fragments(schema);
    let Value::Object(kind) = schema else { return };
    let description = kind.remove("description");
    if !kind.is_empty() {
        *schema = json!({ "anyOf": [schema.take(), reference("use")] });
    }
    if let Some(description) = description {
        schema["description"] = description;
    }
}

fn definitions() -> Value {
    let words = COMMANDS.iter().map(|(_, keys)| *keys).chain(STEPS.iter().map(|(keys, _)| *keys));
    let steps: Vec<Value> = words.map(object).collect();
    let is_request = |word: &CommandWord| CommandWord::REQUESTS.contains(word);
    let request = |keys: &[KeyDefinition]| {
        let mut request = json!({ "type": "object", "required": [keys[0].name], "additionalProperties": false });
        request["properties"] = json!({ keys[0].name: object(&keys[1..keys.len() - 1]) });
        request
    };
    let commands = COMMANDS.iter().filter(|(word, _)| is_request(word));
    let mut requests: Vec<Value> = commands.map(|(_, keys)| request(keys)).collect();
    requests.push(object(REPEATED_REQUEST));
    let mut definitions = json!({
        "clock": object(keys::CLOCK),
        "entity": object(keys::ENTITY),
        "operation": optional(keys::OPERATION),
        "mix": open(keys::MIX, value(Takes::Scalar)),
        "strategy": object(keys::STRATEGY),
        "collection": optional(keys::COLLECTION),
        "shard": object(keys::SHARD),
        "audit": open(keys::AUDIT, json!(true)),
        "claim": object(keys::CLAIM),
        "growth": object(keys::GROWTH),
        "sweep": object(keys::SWEEP),
        "expectation": object(keys::EXPECTATION),
        "compared": object(keys::COMPARED),
        "retry": object(RETRY),
        "write": { "anyOf": keys::LOGICAL.iter().map(|keys| object(keys)).collect::<Vec<_>>() },
        "request": { "anyOf": requests },
        "step": { "anyOf": [reference("single_step"), { "type": "array", "items": reference("single_step"), "minItems": 1 }] },
        "single_step": { "anyOf": steps },
        "slot": { "type": "string", "pattern": "^<.+>$" },
    });
    for definition in ["strategy", "collection", "audit", "retry", "request", "step", "single_step"] {
        allow_fragments(&mut definitions[definition]);
    }
    let name = json!({ "type": "string", "description": "The name of a fragment." });
    definitions["use"] =
        json!({ "type": "object", "properties": { "use": name }, "required": ["use"], "additionalProperties": false });
    definitions
}

fn schema() -> String {
    let mut schema = object(keys::SCENARIO);
    ["strategies", "audits"].iter().for_each(|section| allow_fragment(&mut schema["properties"][section]));
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "A docshape scenario".into();
    schema["$defs"] = definitions();
    format!("{schema:#}\n")
}

fn path(parts: &[&str]) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR")].iter().chain(parts).collect()
}

/// When they differ, what the file would have to be is written below `target`.
#[test]
fn the_published_schema_is_fresh() {
    let (current, published) =
        (schema(), std::fs::read_to_string(path(&["schemas", "scenario.json"])).unwrap_or_default());
    let copy = path(&["target", "scenario.json"]);
    if current != published {
        std::fs::write(&copy, &current).unwrap();
    }
    assert!(current == published, "the tables of keys have changed: copy {} to schemas", copy.display());
}

fn json_of(node: &Node) -> Value {
    match &node.tree {
        Tree::Scalar(Scalar::Null) => Value::Null,
        Tree::Scalar(Scalar::Bool(value)) => json!(value),
        Tree::Scalar(Scalar::Int(value)) => json!(value),
        Tree::Scalar(Scalar::Float(value)) => json!(value),
        Tree::Scalar(Scalar::Text(text)) => json!(text),
        Tree::List(items) => items.iter().map(json_of).collect(),
        Tree::Mapping(entries) => entries.iter().map(|(key, value)| (key.value.clone(), json_of(value))).collect(),
    }
}

/// What an editor with the schema would underline.
fn faults(schema: &jsonschema::Validator, text: &str) -> Vec<String> {
    let root = read::compose(text, &Diagnostics::new()).unwrap();
    schema.iter_errors(&json_of(&root)).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn files(folder: &[&str]) -> Vec<PathBuf> {
    let files = std::fs::read_dir(path(folder)).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).collect()
}

#[test]
fn every_scenario_fits_the_schema() {
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema()).unwrap()).unwrap();
    for folder in [&["scenarios"][..], &["examples"], &["tests", "valid"]] {
        for file in files(folder) {
            let text = std::fs::read_to_string(&file).unwrap();
            assert_eq!(faults(&schema, &text), [""; 0], "{}", file.display());
        }
    }
}

/// What the reader takes, the schema takes; the reader knows more.
#[test]
fn the_schema_finds_nothing_that_the_reader_accepts() {
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema()).unwrap()).unwrap();
    let (mut found, mut all) = (0, 0);
    for file in files(&["tests", "broken"]) {
        let source = Source::load(file.to_str().unwrap()).unwrap();
        let diagnostics = Diagnostics::new();
        read(&source, &diagnostics);
        let Some(root) = read::compose(&source.text, &Diagnostics::new()) else { continue };
        let has_fault = !schema.is_valid(&json_of(&root));
        assert!(!has_fault || diagnostics.has_errors(), "{}", file.display());
        (found, all) = (found + usize::from(has_fault), all + 1);
    }
    assert!(found * 2 > all, "{found} of {all}");
}
