//! Values of scenario variables: scalars, raw BSON kept as the server sent it, and logical records.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use bson::oid::ObjectId;

use super::raw::Raw;
use super::record::Record;

/// A value of a scenario variable. Cloning copies at most a pointer and a count.
#[derive(Debug, Clone)]
pub enum Value {
    /// Null, and whatever is missing.
    Null,
    /// A bool.
    Bool(bool),
    /// An int32 or int64.
    Int(i64),
    /// A double.
    Double(f64),
    /// A string.
    Text(Arc<str>),
    /// An ObjectId.
    ObjectId(ObjectId),
    /// Milliseconds since the Unix epoch.
    Date(i64),
    /// Binary data and its subtype.
    Binary(u8, Arc<[u8]>),
    /// Any other BSON scalar (decimal, timestamp, regular expression...), carried and compared, never computed with.
    Other(Arc<bson::Bson>),
    /// A document inside a reply or a generated record.
    Document(Raw),
    /// An array inside a reply or a generated record.
    Array(Raw),
    /// A list made by an expression.
    List(Arc<[Value]>),
    /// A map made by an expression, in order.
    Map(Arc<[(Arc<str>, Value)]>),
    /// A logical record: whole where it was made, a reference where it is pointed at.
    Record(Arc<Record>),
    /// What an operation came to.
    Outcome(Outcome),
}

/// What an operation came to, other than a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// `done()`
    Done,
    /// `same()`: nothing had to change.
    Same,
    /// `not_found()`
    NotFound,
    /// `refused("reason")`
    Refused(Arc<str>),
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Done => out.write_str("done()"),
            Outcome::Same => out.write_str("same()"),
            Outcome::NotFound => out.write_str("not_found()"),
            Outcome::Refused(reason) => write!(out, "refused({reason:?})"),
        }
    }
}

impl Value {
    /// A text.
    pub fn text(text: &str) -> Value {
        Value::Text(Arc::from(text))
    }

    /// A list.
    pub fn list(items: Vec<Value>) -> Value {
        Value::List(items.into())
    }

    /// A field of a document, map or record; over a list the fields of its elements, or its length for `size`.
    /// `None` when it is missing, null when a list has it nowhere.
    pub fn get(&self, name: &str) -> Option<Value> {
        match self {
            Value::Document(raw) => raw.get(name),
            Value::Map(entries) => entries.iter().find(|(key, _)| **key == *name).map(|(_, value)| value.clone()),
            Value::Record(record) => record.get(name),
            Value::List(_) | Value::Array(_) if name == "size" => self.len().map(|len| Value::Int(len as i64)),
            Value::List(_) | Value::Array(_) => {
                Some(Value::list(self.items()?.map(|item| item.get(name).unwrap_or(Value::Null)).collect()))
            }
            _ => None,
        }
    }

    /// An element by position; `None` outside or when this is no list.
    pub fn at(&self, position: i64) -> Option<Value> {
        let position = usize::try_from(position).ok()?;
        match self {
            Value::List(items) => items.get(position).cloned(),
            Value::Array(raw) => raw.items().nth(position),
            _ => None,
        }
    }

    /// The elements of a list; null counts as an empty list. `None` when this is no list.
    pub fn items(&self) -> Option<Box<dyn Iterator<Item = Value> + '_>> {
        match self {
            Value::Null => Some(Box::new(std::iter::empty())),
            Value::List(items) => Some(Box::new(items.iter().cloned())),
            Value::Array(raw) => Some(Box::new(raw.items())),
            _ => None,
        }
    }

    /// The number of elements, entries, characters or bytes; `None` where that means nothing.
    #[expect(clippy::len_without_is_empty, reason = "where a length means nothing, emptiness does neither")]
    pub fn len(&self) -> Option<usize> {
        match self {
            Value::Null => Some(0),
            Value::List(items) => Some(items.len()),
            Value::Map(entries) => Some(entries.len()),
            Value::Array(raw) | Value::Document(raw) => Some(raw.len()),
            Value::Text(text) => Some(text.chars().count()),
            Value::Binary(_, bytes) => Some(bytes.len()),
            _ => None,
        }
    }

    /// Whether this is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The kind of value, in the words of diagnostics.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a bool",
            Value::Int(_) => "an int",
            Value::Double(_) => "a double",
            Value::Text(_) => "a string",
            Value::ObjectId(_) => "an ObjectId",
            Value::Date(_) => "a date",
            Value::Binary(..) => "binary data",
            Value::Other(_) => "a BSON scalar",
            Value::Document(_) | Value::Map(_) => "a document",
            Value::Array(_) | Value::List(_) => "a list",
            Value::Record(_) => "a record",
            Value::Outcome(_) => "an outcome",
        }
    }

    /// A reference is compared and written as its `_id`; anything else as itself.
    pub fn referenced(&self) -> Value {
        match self {
            Value::Record(record) if !record.is_whole() => record.id(),
            Value::Record(record) => Value::Document(record.document()),
            other => other.clone(),
        }
    }

    /// Order of two numbers, strings, dates, ids or bools; `None` where they have none.
    pub fn compare(&self, other: &Value) -> Option<Ordering> {
        match (self.referenced(), other.referenced()) {
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(&b)),
            (Value::Int(a), Value::Double(b)) => against_double(a, b),
            (Value::Double(a), Value::Int(b)) => against_double(b, a).map(Ordering::reverse),
            (Value::Double(a), Value::Double(b)) => a.partial_cmp(&b),
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(&b)),
            (Value::Date(a), Value::Date(b)) => Some(a.cmp(&b)),
            (Value::ObjectId(a), Value::ObjectId(b)) => Some(a.cmp(&b)),
            (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(&b)),
            (Value::Binary(_, a), Value::Binary(_, b)) => Some(a.cmp(&b)),
            (Value::Null, Value::Null) => Some(Ordering::Equal),
            _ => None,
        }
    }

    /// A total order for sorting, whatever the values: by kind as MongoDB has it, null first, then by value.
    pub fn sort_order(&self, other: &Value) -> Ordering {
        let (a, b) = (self.referenced(), other.referenced());
        a.rank().cmp(&b.rank()).then_with(|| a.compare(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()).reverse()))
    }

    fn rank(&self) -> u8 {
        match self {
            Value::Null => 0,
            Value::Int(_) | Value::Double(_) => 1,
            Value::Text(_) => 2,
            Value::Document(_) | Value::Map(_) | Value::Record(_) => 3,
            Value::Array(_) | Value::List(_) => 4,
            Value::Binary(..) => 5,
            Value::ObjectId(_) => 6,
            Value::Bool(_) => 7,
            Value::Date(_) => 8,
            Value::Other(_) => 9,
            Value::Outcome(_) => 10,
        }
    }

    fn is_nan(&self) -> bool {
        matches!(self, Value::Double(d) if d.is_nan())
    }
}

/// The order of an int and a double, exact beyond the 53 bits that a double holds.
fn against_double(int: i64, double: f64) -> Option<Ordering> {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if double.is_nan() {
        return None;
    }
    Some(if double >= BEYOND {
        Ordering::Less
    } else if double < -BEYOND {
        Ordering::Greater
    } else {
        let fraction = 0.0_f64.partial_cmp(&double.fract()).unwrap_or(Ordering::Equal);
        int.cmp(&(double.trunc() as i64)).then(fraction)
    })
}

/// Equality by value: 1 equals 1.0, a reference equals its `_id`, raw BSON equals what an expression made.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self.referenced(), other.referenced()) {
            (Value::Other(a), Value::Other(b)) => a == b,
            (Value::Outcome(a), Value::Outcome(b)) => a == b,
            (a @ (Value::List(_) | Value::Array(_)), b @ (Value::List(_) | Value::Array(_))) => {
                a.len() == b.len() && a.items().into_iter().flatten().eq(b.items().into_iter().flatten())
            }
            (a @ (Value::Map(_) | Value::Document(_)), b @ (Value::Map(_) | Value::Document(_))) => {
                a.len() == b.len() && a.entries().iter().all(|(key, value)| b.get(key).as_ref() == Some(value))
            }
            (a, b) => a.compare(&b) == Some(Ordering::Equal),
        }
    }
}

impl Value {
    /// The keys and values of a document, map or whole record; empty for anything else.
    pub fn entries(&self) -> Vec<(Arc<str>, Value)> {
        match self {
            Value::Map(entries) => entries.to_vec(),
            Value::Document(raw) => raw.iter().map(|(key, value)| (Arc::from(key), value)).collect(),
            Value::Record(record) => Value::Document(record.document()).entries(),
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::trial::{any_value, raw};
    use super::*;

    #[test]
    fn ints_and_doubles_are_compared_exactly() {
        let (big, next) = (1_i64 << 53, (1_i64 << 53) + 1);
        assert_eq!(Value::Int(next).compare(&Value::Double(big as f64)), Some(Ordering::Greater));
        assert_eq!(Value::Double(big as f64).compare(&Value::Int(next)), Some(Ordering::Less));
        assert_eq!(Value::Int(1), Value::Double(1.0));
        assert_eq!(Value::Int(-1).compare(&Value::Double(-0.5)), Some(Ordering::Less));
        assert_eq!(Value::Int(i64::MAX).compare(&Value::Double(9.3e18)), Some(Ordering::Less));
        assert_eq!(Value::Int(i64::MIN).compare(&Value::Double(f64::NEG_INFINITY)), Some(Ordering::Greater));
        assert_eq!(Value::Int(0).compare(&Value::Double(f64::NAN)), None);
    }

    #[test]
    fn a_field_of_a_list_maps_and_size_is_its_length() {
        let row = |n: i64| Value::Map(Arc::new([(Arc::from("n"), Value::Int(n)), (Arc::from("size"), Value::Int(9))]));
        let list = Value::list(vec![row(1), Value::Null, row(3)]);
        let wanted = Value::list(vec![Value::Int(1), Value::Null, Value::Int(3)]);
        for list in [list.clone(), raw(&list)] {
            assert_eq!(list.get("n"), Some(wanted.clone()));
            assert_eq!(list.get("size"), Some(Value::Int(3)));
            assert_eq!(list.at(1), Some(Value::Null));
            assert_eq!((list.at(3), list.at(-1)), (None, None));
        }
        assert_eq!(row(1).get("size"), Some(Value::Int(9)));
        assert_eq!(Value::Null.get("n"), None);
    }

    proptest! {
        #[test]
        fn sorting_order_is_total(a in any_value(), b in any_value(), c in any_value()) {
            prop_assert_eq!(a.sort_order(&a), Ordering::Equal);
            prop_assert_eq!(a.sort_order(&b), b.sort_order(&a).reverse());
            if a.sort_order(&b) != Ordering::Greater && b.sort_order(&c) != Ordering::Greater {
                prop_assert_ne!(a.sort_order(&c), Ordering::Greater);
            }
        }

        #[test]
        fn what_an_expression_made_equals_the_same_from_the_server(value in any_value()) {
            prop_assume!(value == value.clone());
            prop_assert_eq!(&raw(&value), &value);
            prop_assert_eq!(raw(&value).len(), value.len());
        }
    }
}
