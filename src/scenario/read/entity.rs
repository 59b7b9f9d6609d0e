//! `entities`.

use std::path::{Component, Path};

use crate::scenario::{Diagnostics, EntityDefinition, Node, Scalar, Spanned, keys, quote};

use super::entry::Entry;
use super::fields::Fields;
use super::value;

/// An entity, kept by its name even when something in it is wrong, so that uses of it are still understood.
pub(super) fn entity(entry: &Entry, diagnostics: &Diagnostics) -> EntityDefinition {
    const EXAMPLE: &str = "post: { count: 200, fields: { _id: index, title: words(4) } }";
    let name = entry.0.clone();
    value::check_name(&name, "an entity", diagnostics);
    let fields = Fields::of(entry, "entity", EXAMPLE, keys::ENTITY, diagnostics);
    check_pair(entry, diagnostics);
    let children_name = fields.text("as");
    if let Some(name) = &children_name {
        value::check_name(name, "the list of children", diagnostics);
    }
    let mut listed = fields.expressions("fields");
    listed.retain(|(name, _)| !is_spread(name, diagnostics));
    let helpers = fields.expressions("let");
    for (helper, _) in helpers.iter().filter(|(helper, _)| listed.iter().any(|(field, _)| field.value == helper.value))
    {
        let message = format!("{} is a helper and a field", quote(&helper.value));
        diagnostics.labelled(helper.span, message, "also under `fields`", "try another name for the helper");
    }
    EntityDefinition {
        parent: fields.text("of"),
        children_name,
        from: fields.text("from").filter(|from| is_inside(from, diagnostics)),
        count: fields.node("count").unwrap_or_else(|| Node::scalar(Scalar::Int(0), name.span)),
        helpers,
        fields: listed,
        sort: fields.node("sort"),
        arrives_sorted: fields.boolean("arrives_sorted").is_some_and(|flag| flag.value),
        inverse: fields.node("inverse"),
        collection: fields.text("collection"),
        name,
    }
}

/// A child needs both keys: `of` names its parent, `as` the parent's list of these records.
fn check_pair(entity: &Entry, diagnostics: &Diagnostics) {
    let entries = entity.1.as_mapping().unwrap_or_default();
    let entry = |key: &str| entries.iter().find(|(name, _)| name.value == key);
    let (alone, missing, example) = match (entry("of"), entry("as")) {
        (Some(of), None) => (of, "as", "as: comments"),
        (None, Some(children)) => (children, "of", "of: post"),
        (Some(_), Some(_)) | (None, None) => return,
    };
    let message = format!("{} without {}", quote(&alone.0.value), quote(missing));
    let help = format!("try adding `{example}`: `of` names the parent entity, `as` the parent's list of these records");
    diagnostics.labelled(alone.0.span, message, format!("{} is missing", quote(missing)), help);
}

/// Reports a path that leads out of the scenario's folder: a scenario of somebody else must not read files of the user's.
fn is_inside(from: &Spanned<String>, diagnostics: &Diagnostics) -> bool {
    let is_inside =
        Path::new(&from.value).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_inside {
        let help =
            "try a path from the folder of the scenario, without `..`, for example `from: shop.data/orders.ndjson`";
        let message = format!("{} leads out of the folder of the scenario", quote(&from.value));
        diagnostics.labelled(from.span, message, "not a path inside of it", help);
    }
    is_inside
}

/// Reports `...` among the fields, which would become the name of a field.
fn is_spread(name: &Spanned<String>, diagnostics: &Diagnostics) -> bool {
    let is_spread = name.value == "...";
    if is_spread {
        let help = "try listing the fields one by one; `...` is for the documents of collections and commands";
        diagnostics.labelled(name.span, "`...` cannot be the name of a field", "spreads nothing here", help);
    }
    is_spread
}
