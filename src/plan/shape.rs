//! The logical type of a result, and results brought to a form that can be compared.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::value::{EvalError, Value};

/// A logical type: `entity`, `value`, `opaque`, `[T]`, `{ set: T }`, `{ was: T, within: N }` or `{ field: T }`.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Any scalar.
    Value,
    /// Anything: only whether there is a result is compared.
    Opaque,
    /// A record, projected on these fields: those of its entity.
    Entity(Arc<[RowField]>),
    /// A list whose order counts.
    List(Box<Shape>),
    /// A list whose order does not count.
    Set(Box<Shape>),
    /// The value now or at one of the last calls, whose number this is. Never inside a list.
    Was(Box<Shape>, u64),
    /// Named parts.
    Fields(Vec<(Arc<str>, Shape)>),
}

/// A field by which the rows of an entity are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct RowField {
    /// Its key.
    pub name: Arc<str>,
    /// Whether it is a list whose order does not count.
    pub is_set: bool,
}

impl Shape {
    /// Returns the value as this type: physical fields dropped, references as ids, missing lists empty, sets sorted. An
    /// outcome is a result of any type and stays itself. Parts that may be old are equal to each other: see [`Shape::past`].
    ///
    /// # Errors
    /// When a record cannot be drawn.
    pub fn canonical(&self, value: &Value) -> Result<Value, EvalError> {
        let all = |inner: &Shape| items(value).map(|item| inner.canonical(&item)).collect::<Result<Vec<_>, _>>();
        match self {
            _ if matches!(value, Value::Outcome(_)) => Ok(value.clone()),
            Shape::Value => value.referenced(),
            Shape::Opaque if value.is_null() => Ok(Value::Null),
            Shape::Opaque => Ok(Value::text("a result")),
            Shape::Was(..) => Ok(Value::text("now or earlier")),
            // What is no list cannot be compared as one, and must not pass for an empty one.
            Shape::List(_) | Shape::Set(_) if value.items().is_none() => value.referenced(),
            Shape::Entity(_) if value.is_null() => Ok(Value::Null),
            Shape::Entity(fields) => projected(value, fields.iter()),
            Shape::List(inner) => all(inner).map(Value::list),
            Shape::Set(inner) => all(inner).map(|items| Value::list(sorted(items))),
            Shape::Fields(parts) => {
                let part =
                    |(name, shape): &(Arc<str>, Shape)| Ok((Arc::clone(name), shape.canonical(&value.field(name)?)?));
                parts.iter().map(part).collect::<Result<_, _>>().map(Value::Map)
            }
        }
    }

    /// Returns the parts of a value that may be old, as their types; `None` without such parts.
    ///
    /// # Errors
    /// When a record cannot be drawn.
    pub fn past(&self, value: &Value) -> Result<Option<Value>, EvalError> {
        match self {
            _ if matches!(value, Value::Outcome(_)) => Ok(None),
            Shape::Was(inner, _) => inner.canonical(value).map(Some),
            Shape::Fields(parts) => {
                let mut old = Vec::new();
                for (name, shape) in parts {
                    old.extend(shape.past(&value.field(name)?)?.map(|part| (Arc::clone(name), part)));
                }
                Ok((!old.is_empty()).then(|| Value::Map(old.into())))
            }
            _ => Ok(None),
        }
    }

    /// Returns how many calls ago its old parts may be from; `None` without such parts.
    pub fn within(&self) -> Option<u64> {
        match self {
            Shape::Was(_, calls) => Some(*calls),
            Shape::Fields(parts) => parts.iter().find_map(|(_, shape)| shape.within()),
            _ => None,
        }
    }
}

/// Returns a record's fields of these names, references as ids.
pub(crate) fn projected<'n>(value: &Value, fields: impl Iterator<Item = &'n RowField>) -> Result<Value, EvalError> {
    let part = |field: &RowField| {
        let value = value.field(&field.name)?.referenced()?;
        let is_list = matches!(value, Value::List(_) | Value::Array(_));
        let value = if field.is_set && is_list { Value::list(sorted(items(&value).collect())) } else { value };
        Ok((Arc::clone(&field.name), value))
    };
    fields.map(part).collect::<Result<_, _>>().map(Value::Map)
}

fn items(value: &Value) -> impl Iterator<Item = Value> + '_ {
    value.items().into_iter().flatten()
}

/// Sorts any values by their written form, so that sets can be compared.
pub(crate) fn sorted(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_by_cached_key(written);
    values
}

/// Returns a text that is equal for equal values. A record that cannot be drawn is written as its error.
pub fn written(value: &Value) -> String {
    let most = usize::MAX;
    written_plain(value.referenced(), written, most, most)
}

/// The longest text that is written whole by [`brief`], in characters.
const LONGEST_TEXT: usize = 40;

/// The most elements of a list that are written by [`brief`].
const MOST_ELEMENTS: usize = 5;

/// As [`written`], with the ends of long texts and lists left out, so that no field is. A record without `_id` is written whole.
pub fn brief(value: &Value) -> String {
    let shown = match value.referenced() {
        Ok(Value::Null) => value.content(),
        referenced => referenced,
    };
    written_plain(shown, brief, LONGEST_TEXT, MOST_ELEMENTS)
}

/// The dates of the years 1 to 9999, in milliseconds since 1970. Others have no form in ISO 8601.
const ISO_DATES: std::ops::Range<i64> = -62_135_596_800_000..253_402_300_800_000;

/// A date in the form of ISO 8601, or else its milliseconds. No two dates are written alike.
fn written_date(millis: i64) -> String {
    let date = ISO_DATES.contains(&millis).then(|| bson::DateTime::from_millis(millis).try_to_rfc3339_string().ok());
    date.flatten().unwrap_or_else(|| format!("@{millis}"))
}

/// Writes a value other than a record: its parts with `write`, texts and lists cut off after `longest` characters and `most`
/// elements.
fn written_plain(value: Result<Value, EvalError>, write: fn(&Value) -> String, longest: usize, most: usize) -> String {
    let value = match value {
        Ok(value) => value,
        Err(error) => return format!("<{error}>"),
    };
    match &value {
        Value::Double(d) if d.fract() == 0.0 && d.abs() < 1e15 => format!("{}", *d as i64),
        Value::List(_) | Value::Array(_) => {
            let mut parts: Vec<String> = items(&value).take(most).map(|item| write(&item)).collect();
            let more = value.len().unwrap_or(0).saturating_sub(most);
            parts.extend((more > 0).then(|| format!("... {more} more")));
            format!("[{}]", parts.join(", "))
        }
        Value::Map(_) | Value::Document(_) => {
            let entries = value.entries();
            let mut parts: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key}: {}", write(value))).collect();
            parts.sort();
            format!("{{{}}}", parts.join(", "))
        }
        Value::Null => "null".into(),
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Double(d) => d.to_string(),
        Value::Text(text) => match text.char_indices().nth(longest) {
            Some((end, _)) => format!("{:?}...", &text[..end]),
            None => format!("{text:?}"),
        },
        Value::ObjectId(id) => id.to_hex(),
        Value::Date(millis) => written_date(*millis),
        Value::Outcome(outcome) => outcome.to_string(),
        Value::Binary(subtype, bytes) => written_bytes(*subtype, bytes, longest),
        Value::Other(_) | Value::Record(_) => format!("{value:?}"),
    }
}

/// Longer bytes are written as their beginning and their SHA-256: rows with large files are compared in less time and memory.
const LONGEST_BYTES: usize = 4_096;

/// UUIDs as one knows them, other bytes in hexadecimal after their subtype, cut off after `longest` characters.
fn written_bytes(subtype: u8, bytes: &[u8], longest: usize) -> String {
    match (subtype, <[u8; 16]>::try_from(bytes), bytes.get(..longest / 2)) {
        (4, Ok(bytes), _) => bson::Uuid::from_bytes(bytes).to_string(),
        (_, _, Some(first)) if first.len() < bytes.len() => format!("binary {subtype}:{}...", hex::encode(first)),
        _ if bytes.len() > LONGEST_BYTES => {
            let (first, digest) = (hex::encode(&bytes[..LONGEST_TEXT / 2]), hex::encode(Sha256::digest(bytes)));
            format!("binary {subtype}:{first}... ({} bytes, SHA-256 {digest})", bytes.len())
        }
        _ => format!("binary {subtype}:{}", hex::encode(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::value::Outcome;
    use super::*;
    use crate::compile::fixture::{evaluate, expression};

    fn value(text: &str) -> Value {
        evaluate(&expression(text).unwrap(), &[]).unwrap()
    }

    fn thing() -> Shape {
        Shape::Entity(
            ["_id", "name", "next", "at"].map(|name| RowField { name: Arc::from(name), is_set: false }).into(),
        )
    }

    #[test]
    fn physical_fields_and_the_order_of_sets_do_not_matter() {
        let rows = value("[{'_id': 1, 'page': 3, 'name': 'a'}, {'name': 'b', '_id': 0.0}]");
        let expected = value(
            "[{'_id': 0, 'name': 'b', 'next': null, 'at': null}, {'_id': 1, 'name': 'a', 'next': null, 'at': null}]",
        );
        let set = Shape::Set(Box::new(thing())).canonical(&rows).unwrap();
        assert_eq!(written(&set), written(&expected));
        let list = Shape::List(Box::new(thing())).canonical(&rows).unwrap();
        assert_ne!(written(&list), written(&expected));
    }

    #[test]
    fn bytes_are_written_so_that_one_can_look_for_them() {
        let bytes: Arc<[u8]> = (0..16).collect();
        assert_eq!(written(&Value::Binary(4, Arc::clone(&bytes))), "00010203-0405-0607-0809-0a0b0c0d0e0f");
        assert_eq!(written(&Value::Binary(0, Arc::from(&bytes[9..11]))), "binary 0:090a");
        let long = Value::Binary(0, Arc::from([7; 100]));
        assert_eq!(brief(&long), format!("binary 0:{}...", "07".repeat(20)));
        assert_eq!(written(&long), format!("binary 0:{}", "07".repeat(100)));
        let large = |last: u8| written(&Value::Binary(0, (0..5_000).map(|_| 7).chain([last]).collect()));
        assert!(
            large(1).starts_with(&format!("binary 0:{}... (5001 bytes, SHA-256 ", "07".repeat(20))),
            "{}",
            large(1)
        );
        assert_eq!(large(1), large(1));
        assert_ne!(large(1), large(2));
    }

    #[test]
    fn brief_values_have_all_fields_and_dates_can_be_read() {
        let value = value(
            "{'at': timestamp('2024-01-02T03:04:05.006Z'), 'n': range(0, 7), 't': 'a234567890b234567890c234567890d234567890e'}",
        );
        assert_eq!(
            brief(&value),
            "{at: 2024-01-02T03:04:05.006Z, n: [0, 1, 2, 3, 4, ... 2 more], t: \"a234567890b234567890c234567890d234567890\"...}"
        );
        assert_eq!(written(&Value::Date(i64::MAX)), format!("@{}", i64::MAX));
        assert_eq!(written(&Value::Date(ISO_DATES.start)), "0001-01-01T00:00:00Z");
        assert_eq!(written(&Value::Date(ISO_DATES.end - 1)), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn outcomes_stay_apart_whatever_the_type() {
        let part = || Box::new(Shape::Value);
        let shapes = [Shape::Value, thing(), Shape::List(part()), Shape::Set(part()), Shape::Fields(vec![])];
        for shape in shapes {
            let canonical = |outcome| written(&shape.canonical(&Value::Outcome(outcome)).unwrap());
            assert_ne!(canonical(Outcome::NotFound), canonical(Outcome::Ok), "{shape:?}");
        }
    }

    #[test]
    fn of_opaque_results_only_their_presence_counts() {
        let canonical = |text: &str| written(&Shape::Opaque.canonical(&value(text)).unwrap());
        assert_eq!(canonical("{'job': 1}"), canonical("'another'"));
        assert_ne!(canonical("null"), canonical("'another'"));
    }

    #[test]
    fn old_parts_are_compared_apart_from_the_others() {
        let old = Shape::Was(Box::new(Shape::Value), 7);
        let shape = Shape::Fields(vec![(Arc::from("id"), Shape::Value), (Arc::from("total"), old)]);
        let [now, before] = ["{'id': 1, 'total': 5}", "{'id': 1, 'total': null}"].map(value);
        assert_eq!(written(&shape.canonical(&now).unwrap()), written(&shape.canonical(&before).unwrap()));
        assert_eq!(written(&shape.past(&now).unwrap().unwrap()), "{total: 5}");
        assert_eq!(written(&shape.past(&before).unwrap().unwrap()), "{total: null}");
        assert_eq!(shape.within(), Some(7));
        assert_eq!((Shape::Value.past(&now).unwrap(), Shape::Value.within()), (None, None));
        assert_eq!(shape.past(&Value::Outcome(Outcome::NotFound)).unwrap(), None);
    }

    #[test]
    fn null_is_an_empty_list_and_what_is_no_list_is_not() {
        let list = Shape::List(Box::new(Shape::Value));
        assert_eq!(written(&list.canonical(&Value::Null).unwrap()), "[]");
        assert_eq!(written(&list.canonical(&Value::Int(3)).unwrap()), "3");
    }
}
