//! The tables of keys in `docs/format.md`, made from those that the reader uses.

use std::path::Path;

use crate::scenario::FORMAT;
use crate::scenario::command::COMMANDS;
use crate::scenario::keys::{self, KeyDefinition, Keys, Takes};

const TABLES: [(&str, Keys); 14] = [
    ("scenario", keys::SCENARIO),
    ("clock", keys::CLOCK),
    ("entity", keys::ENTITY),
    ("operation", keys::OPERATION),
    ("mix", keys::MIX),
    ("strategy", keys::STRATEGY),
    ("collection", keys::COLLECTION),
    ("shard", keys::SHARD),
    ("audit", keys::AUDIT),
    ("claim", keys::CLAIM),
    ("expectation", keys::EXPECTATION),
    ("compared", keys::COMPARED),
    ("growth", keys::GROWTH),
    ("sweep", keys::SWEEP),
];

/// What a value is, in a few words.
fn kind(takes: Takes) -> String {
    let kind = match takes {
        Takes::Format => return format!("`{}`", FORMAT),
        Takes::Text => "text",
        Takes::Texts => "list of texts",
        Takes::OneOf(words) => return words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or "),
        Takes::Boolean => "`true` or `false`",
        Takes::Literal => "number or text",
        Takes::Integer(low, high) => return format!("integer from {low} to {high}"),
        Takes::Codes => "list of error codes",
        Takes::Expression | Takes::Scalar => "expression",
        Takes::Expressions(_) => "names with expressions",
        Takes::Settings => "parameters with values",
        Takes::Conditions => "conditions with lists of values",
        Takes::FieldExpressions => "fields with expressions",
        Takes::Loop => "name with a list",
        Takes::Each => "entity, or names with lists",
        Takes::Compared => "number, strategy, expression or mapping",
        Takes::Document => "template",
        Takes::Items => "template of a list",
        Takes::Count => "integer or slot",
        Takes::Update => "template, or list of templates",
        Takes::Hint => "key document or name",
        Takes::Indexes => "list of indexes",
        Takes::Steps => "step or list of steps",
        Takes::One(_) | Takes::Optional(_) => "mapping",
        Takes::Named(_) => "names with mappings",
        Takes::List(_) => "list of mappings",
        Takes::Fragments => "names with values",
        Takes::Shapes => "relations with words",
        Takes::ShardKeys => "collections with lists of keys",
        Takes::Logical => "logical step, or list of steps",
    };
    kind.to_owned()
}

fn table(keys: Keys) -> String {
    let row = |key: &KeyDefinition| {
        let default = if key.is_required { "required" } else { key.default };
        format!("| `{}` | {} | {default} | {} |\n", key.name, kind(key.takes), key.about)
    };
    let rows: String = keys.iter().map(row).collect();
    format!("| key | value | default | meaning |\n|---|---|---|---|\n{rows}")
}

/// The commands with their options.
fn commands() -> String {
    let names = |keys: &[KeyDefinition], is_required: bool| {
        let names = keys.iter().filter(|key| key.is_required == is_required).map(|key| format!("`{}`", key.name));
        names.collect::<Vec<_>>().join(" ")
    };
    // The first key is the command, the last one is `as`.
    let row = |keys: Keys| {
        let options = &keys[1..keys.len() - 1];
        format!("| `{}` | {} | {} |\n", keys[0].name, names(options, true), names(options, false))
    };
    let rows: String = COMMANDS.iter().map(|(_, keys)| row(keys)).collect();
    format!("| step | required | optional |\n|---|---|---|\n{rows}")
}

/// The logical steps with their options.
fn logical() -> String {
    let rows = keys::LOGICAL.iter().map(|keys| {
        let options = keys[1..].iter().filter(|key| key.name != "as");
        let options: Vec<String> = options.map(|key| format!("`{}`: {}", key.name, key.about)).collect();
        format!("| `{}` | {} | {} |\n", keys[0].entry(), keys[0].about, options.join("; "))
    });
    format!("| step | what | options |\n|---|---|---|\n{}", rows.collect::<String>())
}

/// The text with its tables made again, each after a comment with its name.
fn with_tables(text: &str) -> String {
    let tables = TABLES.map(|(name, keys)| (name, table(keys)));
    tables.into_iter().chain([("commands", commands()), ("logical", logical())]).fold(
        text.to_owned(),
        |text, (name, table)| {
            let marker = format!("<!-- keys: {name} -->\n");
            let (before, after) = text.split_once(&marker).unwrap_or_else(|| panic!("docs/format.md has no {marker}"));
            let rest: String = after.split_inclusive('\n').skip_while(|line| line.starts_with('|')).collect();
            format!("{before}{marker}{table}{rest}")
        },
    )
}

/// When they differ, what the file would have to be is written below `target`.
#[test]
fn the_tables_of_the_format_are_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let published = std::fs::read_to_string(root.join("docs/format.md")).unwrap();
    let current = with_tables(&published);
    let copy = root.join("target/format.md");
    if current != published {
        std::fs::write(&copy, &current).unwrap();
    }
    assert!(current == published, "the tables of keys have changed: copy {} to docs", copy.display());
}
