//! The type of a result, as written, to a [`Shape`].

use std::sync::Arc;

use crate::plan::Shape;
use crate::scenario::{Diagnostics, Node, Scalar, Spanned, Tree};

use super::parts::all;
use super::scope::Names;

/// Reads the `returns` of an operation.
pub fn compile_shape(node: &Node, names: &Names, diagnostics: &Diagnostics) -> Option<Shape> {
    let inner = |node| compile_shape(node, names, diagnostics).map(Box::new);
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
        Tree::Mapping(entries) => {
            let part = |(name, node): &(Spanned<String>, Node)| {
                Some((Arc::from(name.value.as_str()), compile_shape(node, names, diagnostics)?))
            };
            all(entries.iter().map(part)).map(Shape::Fields)
        }
        _ => {
            let help = "a type is an entity, value, opaque, [T], { set: T } or { field: T }";
            diagnostics.reject(node.span, format!("expected a type, found {}", node.describe()), help)
        }
    }
}
