//! Stages of pipelines, and the expressions in them.

use crate::scenario::Node;

use super::build::{map, pipeline, with, with_all};

/// The stage after which a list of a document is a part of it.
pub(super) fn sliced(stage: &str, name: &str, mut part: Vec<Node>) -> Node {
    part.insert(0, format!("${name}").into());
    map! { stage => map! { name => map! { "$slice" => part } } }
}

/// The expression of fields of the elements of an array.
pub(super) fn mapped(array: Node, fields: &[impl AsRef<str>]) -> Node {
    map! { "$map" => map! { "input" => array, "in" => picks("$this.", fields) } }
}

/// A mapping with fields of what is at a place.
pub(super) fn picks(place: &str, fields: &[impl AsRef<str>]) -> Node {
    fields.iter().fold(map! {}, |made, field| {
        let (first, rest) = field.as_ref().split_once('.').unwrap_or((field.as_ref(), ""));
        let value = match rest {
            "" => format!("${place}{first}").into(),
            _ => with_all(
                made.get(first).cloned().unwrap_or_else(|| map! {}),
                &picks(&format!("{place}{first}."), &[rest]),
            ),
        };
        with(made, first, value)
    })
}

/// Steps that need elements of a list.
pub(super) fn unless_empty(list: &str, steps: Vec<Node>) -> Node {
    map! { "if" => format!("size({list}) > 0"), "then" => steps }
}

/// Joins the documents of another collection.
pub(super) fn lookup(from: &str, local: &str, foreign: &str, pipeline: Vec<Node>, name: &str) -> Node {
    let start = map! { "from" => from, "localField" => local, "foreignField" => foreign };
    let start = if pipeline.is_empty() { start } else { with(start, "pipeline", pipeline) };
    map! { "$lookup" => with(start, "as", name) }
}

/// A query, or pipeline, whose documents are joined with others.
pub(super) fn joining(read: &Node, joins: Vec<Node>) -> Node {
    const STAGES: [&str; 5] = ["filter", "sort", "skip", "limit", "projection"];
    let name = |key| {
        format!(
            "${}",
            if key == "filter" {
                "match"
            } else if key == "projection" {
                "project"
            } else {
                key
            }
        )
    };
    let stages = STAGES.iter().filter_map(|key| read.get(key).map(|part| map! { name(*key) => part.clone() }));
    let own = read.get("pipeline").and_then(Node::as_list).unwrap_or_default().iter().cloned();
    let collection = ["find", "findOne", "aggregate"].iter().find_map(|word| read.get(word)?.as_text());
    pipeline(collection.unwrap_or_default(), stages.chain(own).chain(joins).collect())
}

/// A field of a record that is at a path.
pub(super) fn prefixed(path: &[String], field: &str) -> String {
    path.iter().map(String::as_str).chain([field]).collect::<Vec<_>>().join(".")
}

/// A condition on the fields of a record, for rows that have it at a path.
pub(super) fn prefix_keys(filter: &Node, path: &[String]) -> Node {
    renamed_keys(filter, &|field| prefixed(path, field))
}

/// A condition whose fields have other names.
pub(super) fn renamed_keys(filter: &Node, name: &impl Fn(&str) -> String) -> Node {
    let entries = filter.as_mapping().unwrap_or_default().iter();
    entries.fold(map! {}, |made, (key, value)| match value.as_list() {
        Some(items) if key.value.starts_with('$') => {
            with(made, &key.value, items.iter().map(|item| renamed_keys(item, name)).collect::<Vec<_>>())
        }
        _ => with(made, &name(&key.value), value.clone()),
    })
}
