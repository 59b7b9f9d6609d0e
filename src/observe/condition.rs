//! The conditions of a filter, and the records that they find.

use bson::{Bson, Document};

use crate::infer::layout::{EntityPlace, FieldPlace, Layout};

use super::access::{KEY, Named, named, root};
use super::shape::{is_document, slot};

/// Operators that the model executes.
const KNOWN: [&str; 8] = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin"];

/// What a path is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand {
    /// The value of a slot.
    Slot(usize),
    /// A list, whose size is the value of a slot.
    List(usize),
    /// Null or a boolean.
    Literal(String),
    /// A document.
    Document,
}

/// One comparison.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FilterComparison<'l> {
    pub(super) named: Named<'l>,
    pub(super) operator: String,
    pub(super) operand: Operand,
}

/// How a filter finds records.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum By<'l> {
    Key(Operand),
    /// A list of keys, with the slot of its size.
    Keys(usize),
    Unique(&'l FieldPlace, Operand),
    Parent(Operand),
    /// The record whose list has this child.
    ListedChild(&'l EntityPlace, Operand),
    /// Conditions alone.
    Conditions,
}

/// The records of a filter.
#[derive(Debug)]
pub(super) struct Access<'l> {
    pub(super) entity: &'l EntityPlace,
    pub(super) by: By<'l>,
    pub(super) rest: Vec<FilterComparison<'l>>,
}

/// Returns what a filter finds.
///
/// # Errors
/// What of it no logical step can say.
pub(super) fn access<'l>(layout: &'l Layout, collection: &str, filter: &Document) -> Result<Access<'l>, String> {
    let root = root(layout, collection).ok_or("a collection that is not in the model")?;
    let mut rest = Vec::new();
    collect(layout, collection, "", filter, &mut rest)?;
    let owner = |condition: &FilterComparison<'l>| -> Option<&'l EntityPlace> { condition.named.owner(layout) };
    let depth = |entity: &&EntityPlace| entity.array.as_ref().map_or(0, Vec::len);
    let entity = rest.iter().filter_map(owner).max_by_key(depth).unwrap_or(root);
    if entity.array.is_some() {
        // The key of the record inside is enough; other conditions on what is around it cannot be said.
        let is_root_key = |c: &FilterComparison<'l>| owner(c) == Some(root) && is_key(c);
        rest.retain(|condition| !is_root_key(condition));
        if rest.iter().any(|condition| owner(condition) != Some(entity)) {
            return Err("conditions on records inside of others and on these".to_owned());
        }
    }
    let by = take_by(&mut rest);
    Ok(Access { entity, by, rest })
}

fn is_key(condition: &FilterComparison<'_>) -> bool {
    matches!(condition.named, Named::Field { field, below: false, .. } if field.field == KEY)
}

fn take_by<'l>(rest: &mut Vec<FilterComparison<'l>>) -> By<'l> {
    let mut take = |fits: &dyn Fn(&FilterComparison<'l>) -> bool| rest.iter().position(fits).map(|at| rest.remove(at));
    let equals = |condition: &FilterComparison<'_>| condition.operator == "$eq";
    if let Some(found) = take(&|condition| is_key(condition) && equals(condition)) {
        return By::Key(found.operand);
    }
    if let Some(FilterComparison { operand: Operand::List(slot), .. }) =
        take(&|c| is_key(c) && c.operator == "$in" && matches!(c.operand, Operand::List(_)))
    {
        return By::Keys(slot);
    }
    let is_unique =
        |c: &FilterComparison<'l>| matches!(c.named, Named::Field { field, below: false, .. } if field.unique);
    if let Some(FilterComparison { named: Named::Field { field, .. }, operand, .. }) =
        take(&|c| is_unique(c) && equals(c))
    {
        return By::Unique(field, operand);
    }
    if let Some(found) = take(&|c| matches!(c.named, Named::Parent { .. }) && equals(c)) {
        return By::Parent(found.operand);
    }
    if let Some(FilterComparison { named: Named::Children { child }, operand, .. }) =
        take(&|c| matches!(c.named, Named::Children { .. }) && equals(c))
    {
        return By::ListedChild(child, operand);
    }
    By::Conditions
}

fn collect<'l>(
    layout: &'l Layout,
    collection: &str,
    prefix: &str,
    filter: &Document,
    found: &mut Vec<FilterComparison<'l>>,
) -> Result<(), String> {
    for (key, value) in filter {
        match (key.as_str(), value) {
            ("$comment", _) => {}
            ("$and", Bson::Array(all)) => {
                for inner in all.iter().filter_map(Bson::as_document) {
                    collect(layout, collection, prefix, inner, found)?;
                }
            }
            (operator, _) if operator.starts_with('$') => return Err(shown(operator)),
            (path, value) => {
                let path = if prefix.is_empty() { path.to_owned() } else { format!("{prefix}.{path}") };
                compare(layout, collection, &path, value, found)?;
            }
        }
    }
    Ok(())
}

fn compare<'l>(
    layout: &'l Layout,
    collection: &str,
    path: &str,
    value: &Bson,
    found: &mut Vec<FilterComparison<'l>>,
) -> Result<(), String> {
    let single = Document::from_iter([("$eq".to_owned(), value.clone())]);
    for (operator, value) in value.as_document().unwrap_or(&single) {
        if let ("$elemMatch", Bson::Document(inner)) = (operator.as_str(), value) {
            collect(layout, collection, path, inner, found)?;
            continue;
        }
        if !KNOWN.contains(&operator.as_str()) {
            return Err(shown(operator));
        }
        let unknown = || "a condition on a field that is not in the model".to_owned();
        let named = named(layout, collection, path.trim_end_matches(".*")).ok_or_else(unknown)?;
        if path.ends_with(".*") || matches!(named, Named::Field { below: true, .. }) {
            return Err("a condition on a part of a field".to_owned());
        }
        let operand = match (slot(value), value) {
            (Some((slot, true)), _) => Operand::List(slot),
            (Some((slot, false)), _) => Operand::Slot(slot),
            (None, Bson::Null) => Operand::Literal("null".to_owned()),
            (None, Bson::Boolean(value)) => Operand::Literal(value.to_string()),
            (None, value) if is_document(value) => Operand::Document,
            _ => return Err("a condition on a list".to_owned()),
        };
        // `$in` with one value was read as the value.
        let is_single = matches!((operator.as_str(), &operand), ("$in", Operand::Slot(_) | Operand::Literal(_)));
        found.push(FilterComparison {
            named,
            operator: if is_single { "$eq".to_owned() } else { operator.clone() },
            operand,
        });
    }
    Ok(())
}

/// The name of an operator or stage, unless it is none: a hostile name is a value.
pub(super) fn shown(operator: &str) -> String {
    let is_plain = operator.len() <= 24 && operator.chars().all(|c| c == '$' || c.is_ascii_alphabetic());
    if is_plain { operator.to_owned() } else { "an unknown operator".to_owned() }
}
