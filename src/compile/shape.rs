//! The type of a result, as written, to a [`Shape`].

use std::sync::Arc;

use crate::plan::{Shape, Value, written};
use crate::scenario::{Diagnostics, Node, Scalar, Spanned, Tree};

use super::parameter::parameter_value;
use super::parts::all;
use super::scope::Names;

/// Reads the `returns` of an operation.
pub fn compile_shape(node: &Node, names: &Names, diagnostics: &Diagnostics) -> Option<Shape> {
    let inner = |node: &Node| {
        let shape = compile_shape(node, names, diagnostics)?;
        if shape.within().is_none() {
            return Some(Box::new(shape));
        }
        let help = "use it for the whole result, or for named parts of it: { total: { was: value, within: 100 } }";
        diagnostics.reject(node.span, "`was` cannot be part of a list, a set or another `was`", help)
    };
    match &node.tree {
        Tree::Scalar(Scalar::Text(name)) if name == "value" => Some(Shape::Value),
        Tree::Scalar(Scalar::Text(name)) if name == "opaque" => Some(Shape::Opaque),
        Tree::Scalar(Scalar::Text(name)) => match names.entity(name) {
            Some(entity) => Some(Shape::Entity(names.entities[entity].row.as_slice().into())),
            None => {
                let known = names.entity_names().chain(["value", "opaque"]);
                diagnostics.is_known("type", &Spanned::new(name.clone(), node.span), "", known);
                None
            }
        },
        Tree::List(items) if items.len() == 1 => inner(&items[0]).map(Shape::List),
        Tree::Mapping(entries) if entries.len() == 1 && entries[0].0.value == "set" => {
            inner(&entries[0].1).map(Shape::Set)
        }
        Tree::Mapping(entries) if was(entries).is_some() => {
            let [was, within] = was(entries)?;
            let calls = calls(within, names, diagnostics);
            Some(Shape::Was(inner(was)?, calls?))
        }
        Tree::Mapping(entries) => {
            let part = |(name, node): &(Spanned<String>, Node)| {
                Some((Arc::from(name.value.as_str()), compile_shape(node, names, diagnostics)?))
            };
            let parts: Vec<(Arc<str>, Shape)> = all(entries.iter().map(part))?;
            let mut ages = parts.iter().filter_map(|(_, shape)| shape.within());
            if let Some(first) = ages.next()
                && ages.any(|other| other != first)
            {
                let help = "parts that may be old are those of one moment: give all the same `within`";
                return diagnostics.reject(node.span, "the parts have different values of `within`", help);
            }
            Some(Shape::Fields(parts))
        }
        _ => {
            let help = "a type is an entity, value, opaque, [T], { set: T }, { was: T, within: N } or { field: T }";
            diagnostics.reject(node.span, format!("expected a type, found {}", node.describe()), help)
        }
    }
}

/// Returns `T` and `N` of `{ was: T, within: N }`.
pub(super) fn was(entries: &[(Spanned<String>, Node)]) -> Option<[&Node; 2]> {
    let value = |key: &str| entries.iter().find(|(name, _)| name.value == key).map(|(_, value)| value);
    (entries.len() == 2).then_some(())?;
    Some([value("was")?, value("within")?])
}

fn calls(node: &Node, names: &Names, diagnostics: &Diagnostics) -> Option<u64> {
    match parameter_value(node, names, diagnostics)? {
        Value::Int(calls) if calls > 0 => Some(calls as u64),
        other => {
            let message = format!("expected a number of calls above 0, found {}", written(&other));
            diagnostics.reject(node.span, message, "for example `within: 100`")
        }
    }
}
