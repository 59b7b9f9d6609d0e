//! `entities`.

use super::fields::{Entry, Fields};
use super::value;
use crate::scenario::quote;
use crate::scenario::{Diagnostic, Diagnostics, Entity, Field, Node, Scalar};

const EXAMPLE: &str = "post: { count: 200, fields: { _id: index, title: words(4) } }";

/// The entities, each kept by its name even when something in it is wrong, so that uses of it are still understood.
pub(super) fn entities(entries: &[Entry], diagnostics: &mut Diagnostics) -> Vec<Entity> {
    entries.iter().map(|entry| entity(entry, diagnostics)).collect()
}

fn entity(entry: &Entry, diagnostics: &mut Diagnostics) -> Entity {
    let name = entry.0.clone();
    value::check_name(&name, "an entity", diagnostics);
    let no_records = Node::scalar(Scalar::Int(0), name.span);
    let what = format!("entity {}", quote(&name.value));
    let Some(mut fields) = Fields::of(entry, what, EXAMPLE, diagnostics) else {
        return Entity { name, parent: None, children_name: None, count: no_records, fields: Vec::new() };
    };
    let of = fields.optional("of");
    let children = fields.optional("as");
    check_pair(of, children, diagnostics);
    let parent = of.and_then(|entry| value::text(entry, "of: post", diagnostics));
    let children_name = children.and_then(|entry| value::text(entry, "as: comments", diagnostics));
    if let Some(name) = &children_name {
        value::check_name(name, "the list of children", diagnostics);
    }
    let count = fields
        .required("count", "count: 200")
        .and_then(|entry| value::scalar_expression(entry, "count: 200", diagnostics));
    let listed = fields
        .required("fields", "fields: { _id: index }")
        .map_or_else(Vec::new, |entry| record_fields(entry, diagnostics));
    fields.finish(diagnostics);
    Entity { name, parent, children_name, count: count.unwrap_or(no_records), fields: listed }
}

/// A child needs both: `of` says whose it is, `as` under which name a parent's record lists it.
fn check_pair(of: Option<&Entry>, children: Option<&Entry>, diagnostics: &mut Diagnostics) {
    let (alone, missing, example) = match (of, children) {
        (Some(of), None) => (of, "as", "as: comments"),
        (None, Some(children)) => (children, "of", "of: post"),
        _ => return,
    };
    diagnostics.push(
        Diagnostic::error(alone.0.span, format!("{} stands without {}", quote(&alone.0.value), quote(missing)))
            .label(format!("{} is missing", quote(missing)))
            .help(format!("add `{example}`: `of` names the parent entity, `as` the parent's list of these records")),
    );
}

/// Names of fields are free: they are keys of documents, reached through a path.
fn record_fields(entry: &Entry, diagnostics: &mut Diagnostics) -> Vec<Field> {
    let entries = value::filled_mapping(entry, "fields: { _id: index }", diagnostics).unwrap_or(&[]);
    let mut listed = Vec::with_capacity(entries.len());
    for entry in entries {
        let example = format!("{}: words(4)", entry.0.value);
        if let Some(value) = value::expression(entry, &example, diagnostics) {
            listed.push(Field { name: entry.0.clone(), value });
        }
    }
    listed
}
