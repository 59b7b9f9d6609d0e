//! What `init` prints: per collection what was found, and how the generated data compare.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::infer::compare::DataComparison;
use crate::infer::inferred::Inferred;
use crate::infer::layout::InferredOperation;
use crate::observe::Observed;
use crate::report::{count, counted, wrap};

use super::source::{MOST_BYTES, MOST_DOCUMENTS, Read};

/// The columns of the text.
const WIDTH: usize = 80;

/// The summary for a terminal.
pub fn text(
    inferred: &Inferred,
    comparison: &DataComparison,
    read: &Read,
    (file, lines, copied): (&str, &str, &str),
) -> String {
    let mut made = String::new();
    let documents: u64 = inferred.samples.iter().map(|sample| sample.count).sum();
    let collections = counted(inferred.samples.len() as u64, "collection");
    add(
        &mut made,
        "",
        &format!(
            "read {}: {collections}, {} documents; at most {} documents or {} MB of each",
            read.described,
            count(documents),
            count(MOST_DOCUMENTS as u64),
            MOST_BYTES >> 20
        ),
    );
    let width = inferred.samples.iter().map(|sample| sample.name.chars().count()).max().unwrap_or(0).min(24);
    for (collection, sample) in inferred.samples.iter().enumerate() {
        let start = format!(
            "  {:width$} {:>7} of {:>9}  ",
            sample.name,
            count(sample.documents.len() as u64),
            count(sample.count)
        );
        let indent = " ".repeat(start.chars().count().min(40));
        let found = facts(inferred, collection);
        add_indented(&mut made, &start, &indent, &found.join("; "));
    }
    read.left_out.iter().for_each(|line| add(&mut made, "  ", line));
    if !inferred.is_observed {
        add(&mut made, "", "operations are guessed from keys, references and indexes: nobody has observed them");
    }
    for InferredOperation { name, weight, does, .. } in &inferred.refused {
        add(&mut made, "", &format!("{name} ({weight:.1} % of calls) cannot be derived and is left out: {does}"));
    }
    let operations = counted(inferred.operations.len() as u64, "operation");
    add(
        &mut made,
        "",
        &format!("wrote {file} ({lines}): 1 strategy, {operations}. No value of a document is in it.{copied}"),
    );
    let unknown = if inferred.is_observed {
        "which fields are read"
    } else {
        "the mix; which fields are read; which operations belong together"
    };
    add(&mut made, "", &format!("not inferred, marked TODO in the file: {unknown}"));
    inferred.model.questions.iter().for_each(|question| add(&mut made, "  ", question));
    add(&mut made, "", &compared(comparison));
    for (name, sample, generated) in &comparison.sizes {
        let error = |at: usize| 100.0 * (generated[at] / sample[at].max(1.0) - 1.0);
        let bytes = |x: f64| count(x as u64);
        add(
            &mut made,
            "  ",
            &format!(
                "{name}: p50 {} B, generated {} ({:+.0} %); p99 {} B, generated {} ({:+.0} %)",
                bytes(sample[0]),
                bytes(generated[0]),
                error(0),
                bytes(sample[1]),
                bytes(generated[1]),
                error(1)
            ),
        );
    }
    for (kind, all) in [("array", &comparison.arrays), ("children of", &comparison.children)] {
        let far: Vec<String> =
            all.iter().filter(|(_, d)| *d >= 0.08).map(|(name, d)| format!("{name} {d:.2}")).collect();
        if !far.is_empty() {
            add(&mut made, "  ", &format!("{kind}: D of {}", far.join(", ")));
        }
    }
    made
}

fn compared(comparison: &DataComparison) -> String {
    let most = |all: &[(String, f64)]| all.iter().map(|(_, d)| *d).fold(0.0, f64::max);
    let mut parts = vec![format!(
        "generated data against the sample: sizes p50 within {:.0} %, p99 within {:.0} %",
        comparison.size_error(0).ceil(),
        comparison.size_error(1).ceil()
    )];
    if !comparison.arrays.is_empty() {
        parts.push(format!("lengths of arrays D {:.2}", most(&comparison.arrays)));
    }
    if !comparison.children.is_empty() {
        parts.push(format!("children per record D {:.2}", most(&comparison.children)));
    }
    parts.join(", ")
}

/// What was found of a collection.
fn facts(inferred: &Inferred, collection: usize) -> Vec<String> {
    let tree = &inferred.trees[collection];
    let (mut arrays, mut maps) = (0, 0);
    tree.root.walk(&mut Vec::new(), &mut |_, node| {
        arrays += u64::from(!node.lengths.is_empty());
        maps += u64::from(node.map.is_some());
    });
    let mut parts = vec![counted(tree.root.fields.len() as u64, "field")];
    parts.extend((arrays > 0).then(|| counted(arrays, "array")));
    parts.extend((maps > 0).then(|| counted(maps, "map")));
    let mut found = vec![parts.join(", ")];
    for one in inferred.relations.found.iter().filter(|one| one.reference.collection == collection) {
        let reference = &one.reference;
        let target = &inferred.samples[reference.target].name;
        let key = if reference.field == "_id" { String::new() } else { format!(".{}", reference.field) };
        let path = reference.path.join(".").replace(".[]", "[]");
        let share = (reference.found * reference.asked as f64).round();
        let fan_out = &reference.fan_out;
        let median = fan_out.get(fan_out.len() / 2).copied().unwrap_or(0);
        let rounded = |n: u64| crate::infer::two_digits(n as f64) as u64;
        let most = fan_out.get(fan_out.len().saturating_sub(1) * 199 / 200).copied().unwrap_or(0);
        found.push(format!(
            "{path} -> {target}{key} ({share} of {} values found; up to {} per record, median {})",
            reference.asked,
            rounded(most),
            rounded(median)
        ));
        let copies: Vec<&str> =
            one.copies.iter().filter(|copy| copy.is_exact()).map(|copy| copy.field.as_str()).collect();
        if !copies.is_empty() {
            found.push(format!(
                "{} {} of it",
                copies.join(", "),
                if copies.len() == 1 { "is a copy" } else { "are copies" }
            ));
        }
    }
    for place in inferred
        .model
        .layout
        .entities
        .iter()
        .zip(&inferred.model.drafts)
        .filter(|(_, draft)| draft.collection == collection)
    {
        if let Some(array) = &place.0.array {
            found.push(format!("{} holds records", array.join(".").replace(".[]", "[]")));
        }
    }
    found
}

/// What was observed, for a terminal.
pub fn observed(observed: &Observed) -> String {
    let mut made = String::new();
    for line in observed.summary().lines() {
        // Columns keep their spaces.
        if line.chars().count() <= WIDTH {
            let _ = writeln!(made, "{line}");
        } else {
            let text = line.trim_start();
            add(&mut made, &line[..line.len() - text.len()], text);
        }
    }
    made
}

fn add(made: &mut String, indent: &str, line: &str) {
    add_indented(made, indent, &format!("{indent}  "), line);
}

fn add_indented(made: &mut String, start: &str, indent: &str, line: &str) {
    let room = WIDTH - indent.chars().count();
    for (place, part) in wrap(line, room).iter().enumerate() {
        let _ = writeln!(made, "{}{part}", if place == 0 { start } else { indent });
    }
}

/// The same for programs.
pub fn json(inferred: &Inferred, comparison: &DataComparison, read: &Read) -> String {
    let entities: Vec<Value> = inferred
        .model
        .layout
        .entities
        .iter()
        .map(|place| {
            let fields: Vec<Value> = place
                .fields
                .iter()
                .map(|field| {
                    json!({ "field": field.field, "path": field.path, "generator": field.generator, "refers": field.refers,
                            "is_list": field.is_list, "unique": field.unique })
                })
                .collect();
            let parent = place.parent.as_ref().map(|parent| {
                json!({ "entity": parent.entity, "relation": parent.relation, "reference": parent.reference, "list": parent.list })
            });
            json!({ "entity": place.entity, "collection": place.collection, "array": place.array, "parent": parent,
                    "count": place.count, "fields": fields })
        })
        .collect();
    let operations: Vec<Value> = inferred
        .operations
        .iter()
        .map(|one| json!({ "name": one.name, "does": one.does, "weight": one.weight, "comments": one.comments }))
        .collect();
    let shape: Vec<Value> =
        inferred.model.shape.iter().map(|(key, words)| json!({ "relation": key, "words": words })).collect();
    let sizes: Vec<Value> = comparison
        .sizes
        .iter()
        .map(|(name, sample, made)| json!({ "collection": name, "p50": [sample[0], made[0]], "p99": [sample[1], made[1]] }))
        .collect();
    let distances =
        |all: &[(String, f64)]| -> Vec<Value> { all.iter().map(|(name, d)| json!({ "name": name, "d": d })).collect() };
    let whole = json!({
        "entities": entities,
        "shape": shape,
        "operations": operations,
        "observed": inferred.is_observed,
        "questions": inferred.model.questions,
        "left_out": read.left_out,
        "comparison": { "sizes": sizes, "arrays": distances(&comparison.arrays), "children": distances(&comparison.children) },
    });
    format!("{whole:#}\n")
}
