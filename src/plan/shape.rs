//! The logical type of a result, and results brought to a form that can be compared.

use std::sync::Arc;

use crate::scenario::{Diagnostic, Diagnostics, Node, Scalar, Tree};

use super::record::Data;
use super::resolve::nearest;
use super::scope::Names;
use super::value::Value;

/// A logical type: `entity`, `value`, `[T]`, `{ set: T }` or `{ field: T }`.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Any scalar.
    Value,
    /// A record, projected on the fields of its entity.
    Entity(usize),
    /// A list whose order counts.
    List(Box<Shape>),
    /// A list whose order does not count.
    Set(Box<Shape>),
    /// Named parts.
    Fields(Vec<(Arc<str>, Shape)>),
}

impl Shape {
    /// Reads the `returns` of an operation.
    pub fn compile(node: &Node, names: &Names, diagnostics: &mut Diagnostics) -> Option<Shape> {
        match &node.tree {
            Tree::Scalar(Scalar::Text(name)) if name == "value" => Some(Shape::Value),
            Tree::Scalar(Scalar::Text(name)) => match names.entity(name) {
                Some(entity) => Some(Shape::Entity(entity)),
                None => {
                    let mut known: Vec<&str> = names.entities.iter().map(|entity| entity.name.as_str()).collect();
                    known.push("value");
                    let help = nearest(name, &known);
                    diagnostics.push(Diagnostic::error(node.span, format!("`{name}` is no type")).help(help));
                    None
                }
            },
            Tree::List(items) if items.len() == 1 => {
                Some(Shape::List(Box::new(Shape::compile(&items[0], names, diagnostics)?)))
            }
            Tree::Mapping(entries) if entries.len() == 1 && entries[0].0.value == "set" => {
                Some(Shape::Set(Box::new(Shape::compile(&entries[0].1, names, diagnostics)?)))
            }
            Tree::Mapping(entries) => {
                let part = |(name, node): &(crate::scenario::Spanned<String>, Node), diagnostics: &mut Diagnostics| {
                    Some((Arc::from(name.value.as_str()), Shape::compile(node, names, diagnostics)?))
                };
                let parts: Vec<_> = entries.iter().map(|entry| part(entry, diagnostics)).collect();
                parts.into_iter().collect::<Option<Vec<_>>>().map(Shape::Fields)
            }
            _ => {
                diagnostics.push(
                    Diagnostic::error(node.span, "this is no type")
                        .help("a type is an entity, value, [T], { set: T } or { field: T }"),
                );
                None
            }
        }
    }

    /// The value as this type: physical fields dropped, references as ids, missing lists empty, sets sorted. An
    /// outcome is a result of any type and stays itself.
    pub fn canonical(&self, value: &Value, data: &Data) -> Value {
        match self {
            _ if matches!(value, Value::Outcome(_)) => value.clone(),
            Shape::Value => value.referenced(),
            // What is no list cannot be compared as one, and must not pass for an empty one.
            Shape::List(_) | Shape::Set(_) if value.items().is_none() => value.referenced(),
            Shape::Entity(_) if value.is_null() => Value::Null,
            Shape::Entity(entity) => {
                let fields = data.entities[*entity].fields.iter().map(|field| &field.name);
                projected(value, fields)
            }
            Shape::List(inner) => Value::list(items(value).map(|item| inner.canonical(&item, data)).collect()),
            Shape::Set(inner) => Value::list(sorted(items(value).map(|item| inner.canonical(&item, data)).collect())),
            Shape::Fields(parts) => {
                let part = |(name, shape): &(Arc<str>, Shape)| {
                    let value = value.get(name).unwrap_or(Value::Null);
                    (Arc::clone(name), shape.canonical(&value, data))
                };
                Value::Map(parts.iter().map(part).collect())
            }
        }
    }
}

/// The logical rows of an entity, in an order of their own: fields of the entity, and the parent's `_id` under the
/// parent's name.
pub fn canonical_rows(rows: &Value, entity: usize, data: &Data) -> Vec<Value> {
    let this = &data.entities[entity];
    let parent = this.parent.map(|parent| &data.entities[parent].name);
    let names: Vec<&Arc<str>> = this.fields.iter().map(|field| &field.name).chain(parent).collect();
    sorted(items(rows).map(|row| projected(&row, names.iter().copied())).collect())
}

fn projected<'n>(value: &Value, names: impl Iterator<Item = &'n Arc<str>>) -> Value {
    let part = |name: &Arc<str>| (Arc::clone(name), value.get(name).unwrap_or(Value::Null).referenced());
    Value::Map(names.map(part).collect())
}

fn items(value: &Value) -> impl Iterator<Item = Value> + '_ {
    value.items().into_iter().flatten()
}

/// A total order of any values, by their written form; it is only there so that sets can be compared.
fn sorted(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_by_cached_key(written);
    values
}

/// A text that is equal for equal values.
pub fn written(value: &Value) -> String {
    match value.referenced() {
        Value::Double(d) if d.fract() == 0.0 && d.abs() < 1e15 => format!("{}", d as i64),
        Value::List(_) | Value::Array(_) => {
            let parts: Vec<String> = items(value).map(|item| written(&item)).collect();
            format!("[{}]", parts.join(", "))
        }
        Value::Map(_) | Value::Document(_) => {
            let mut parts: Vec<String> =
                value.referenced().entries().iter().map(|(key, value)| format!("{key}: {}", written(value))).collect();
            parts.sort();
            format!("{{{}}}", parts.join(", "))
        }
        Value::Null => "null".into(),
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Double(d) => d.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::ObjectId(id) => id.to_hex(),
        Value::Date(millis) => format!("@{millis}"),
        Value::Outcome(outcome) => outcome.to_string(),
        Value::Binary(subtype, bytes) => written_bytes(subtype, &bytes),
        other => format!("{other:?}"),
    }
}

/// UUIDs as one knows them, other bytes in hexadecimal after their subtype.
fn written_bytes(subtype: u8, bytes: &[u8]) -> String {
    match (subtype, <[u8; 16]>::try_from(bytes)) {
        (4, Ok(bytes)) => bson::Uuid::from_bytes(bytes).to_string(),
        _ => format!("binary {subtype}:{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{evaluate, expression, plan};
    use super::super::value::Outcome;
    use super::*;

    fn value(text: &str) -> Value {
        evaluate(&expression(text).unwrap(), &[]).unwrap()
    }

    #[test]
    fn physical_fields_and_the_order_of_sets_do_not_matter() {
        let data = &plan("{}", "{ find: things }").data;
        let rows = value("[{'_id': 1, 'page': 3, 'name': 'a'}, {'name': 'b', '_id': 0.0}]");
        let wanted = value(
            "[{'_id': 0, 'name': 'b', 'next': null, 'at': null}, {'_id': 1, 'name': 'a', 'next': null, 'at': null}]",
        );
        let set = Shape::Set(Box::new(Shape::Entity(0))).canonical(&rows, data);
        assert_eq!(written(&set), written(&wanted));
        let list = Shape::List(Box::new(Shape::Entity(0))).canonical(&rows, data);
        assert_ne!(written(&list), written(&wanted));
    }

    #[test]
    fn bytes_are_written_so_that_one_can_look_for_them() {
        let bytes: Arc<[u8]> = (0..16).collect();
        assert_eq!(written(&Value::Binary(4, Arc::clone(&bytes))), "00010203-0405-0607-0809-0a0b0c0d0e0f");
        assert_eq!(written(&Value::Binary(0, Arc::from(&bytes[9..11]))), "binary 0:090a");
    }

    #[test]
    fn outcomes_stay_apart_whatever_the_type() {
        let data = &plan("{}", "{ find: things }").data;
        let part = || Box::new(Shape::Value);
        let shapes = [Shape::Value, Shape::Entity(0), Shape::List(part()), Shape::Set(part()), Shape::Fields(vec![])];
        for shape in shapes {
            let canonical = |outcome| written(&shape.canonical(&Value::Outcome(outcome), data));
            assert_ne!(canonical(Outcome::NotFound), canonical(Outcome::Done), "{shape:?}");
        }
    }

    #[test]
    fn null_is_an_empty_list_and_what_is_no_list_is_not() {
        let data = &plan("{}", "{ find: things }").data;
        let list = Shape::List(Box::new(Shape::Value));
        assert_eq!(written(&list.canonical(&Value::Null, data)), "[]");
        assert_eq!(written(&list.canonical(&Value::Int(3), data)), "3");
    }
}
