//! Values of scenario variables: scalars, raw BSON kept as the server sent it, and logical records.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use bson::oid::ObjectId;

use super::{Raw, Writer, budget};

/// The deepest nesting of values that are kept: that of MongoDB's documents.
const DEEPEST: u32 = 100;

/// Why an expression or a record has no value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    message: Box<str>,
}

impl EvalError {
    /// Creates an error with this message.
    pub fn new(message: impl Into<Box<str>>) -> EvalError {
        EvalError { message: message.into() }
    }

    /// Creates the error of a value of another kind than expected.
    pub fn expected(kind: &str, found: &Value) -> EvalError {
        EvalError::new(format!("expected {kind}, found {}", found.kind()))
    }
}

/// A logical record, as values know it. Its fields are drawn when they are asked for, which can fail.
pub trait LogicalRecord: fmt::Debug + Send + Sync {
    /// Whether it was made here (written whole) rather than pointed at (written as its `_id`).
    fn is_whole(&self) -> bool;

    /// Returns the position of its entity.
    fn entity(&self) -> usize;

    /// Returns its number among all records of the entity.
    fn ordinal(&self) -> u64;

    /// Returns a field, the children by their name, the parent by its entity's name, `index` or `number`.
    ///
    /// # Errors
    /// When the field cannot be drawn.
    fn get(&self, name: &str) -> Result<Option<Value>, EvalError>;

    /// Draws all fields that are not drawn yet.
    ///
    /// # Errors
    /// When one cannot be drawn.
    fn draw(&self) -> Result<(), EvalError>;

    /// Writes its own fields, in order; children are not part of it.
    ///
    /// # Errors
    /// As [`LogicalRecord::draw`].
    fn write(&self, writer: &mut Writer) -> Result<(), EvalError>;

    /// Returns its own fields as a document.
    ///
    /// # Errors
    /// As [`LogicalRecord::draw`].
    fn document(&self) -> Result<Raw, EvalError>;

    /// Returns the same record, pointed at.
    fn reference(&self) -> Value;

    /// Returns its `_id`; null when the entity has none.
    ///
    /// # Errors
    /// When it cannot be drawn.
    fn id(&self) -> Result<Value, EvalError> {
        Ok(self.get("_id")?.unwrap_or(Value::Null))
    }
}

/// A value of a scenario variable. Cloning copies at most a pointer and a count.
#[derive(Debug, Clone)]
pub enum Value {
    /// Null, and missing values.
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
    Record(Arc<dyn LogicalRecord>),
    /// The outcome of an operation.
    Outcome(Outcome),
}

/// The result of an operation that is not a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// `ok()`
    Ok,
    /// `same()`: nothing had to change.
    Same,
    /// `not_found()`
    NotFound,
    /// `rejected("reason")`
    Rejected(Arc<str>),
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Ok => out.write_str("ok()"),
            Outcome::Same => out.write_str("same()"),
            Outcome::NotFound => out.write_str("not_found()"),
            Outcome::Rejected(reason) => write!(out, "rejected({reason:?})"),
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

    /// Returns a field of a document, map or record; over a list the fields of its elements, or its length for `size`.
    /// `None` when it is missing, null when a list has it nowhere.
    ///
    /// # Errors
    /// When the field of a record cannot be drawn.
    pub fn get(&self, name: &str) -> Result<Option<Value>, EvalError> {
        Ok(match self {
            Value::Document(raw) => raw.get(name),
            Value::Map(entries) => entries.iter().find(|(key, _)| **key == *name).map(|(_, value)| value.clone()),
            Value::Record(record) => return record.get(name),
            Value::List(_) | Value::Array(_) if name == "size" => self.len().map(|len| Value::Int(len as i64)),
            Value::List(_) | Value::Array(_) => {
                budget::take_list(self.len().unwrap_or(0))?;
                let fields = self.items().into_iter().flatten().map(|item| item.field(name));
                Some(Value::list(fields.collect::<Result<_, _>>()?))
            }
            _ => None,
        })
    }

    /// Returns a field of a document or map, which needs no drawing; `None` for any other value.
    pub fn plain_field(&self, name: &str) -> Option<Value> {
        match self {
            Value::Document(_) | Value::Map(_) => self.get(name).ok().flatten(),
            _ => None,
        }
    }

    /// Returns what [`Value::get`] does, null when it is missing.
    ///
    /// # Errors
    /// As [`Value::get`].
    pub fn field(&self, name: &str) -> Result<Value, EvalError> {
        Ok(self.get(name)?.unwrap_or(Value::Null))
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

    /// The elements of a list; null counts as an empty list.
    ///
    /// # Errors
    /// When this is no list.
    pub fn elements(&self) -> Result<Box<dyn Iterator<Item = Value> + '_>, EvalError> {
        self.items().ok_or_else(|| EvalError::expected("a list", self))
    }

    /// The number of elements, entries, characters or bytes; `None` where that means nothing.
    #[expect(clippy::len_without_is_empty, reason = "where a length means nothing, emptiness does neither")]
    pub fn len(&self) -> Option<usize> {
        match self {
            Value::Null => Some(0),
            Value::List(items) => Some(items.len()),
            Value::Map(entries) => Some(entries.len()),
            Value::Array(raw) | Value::Document(raw) => Some(raw.count()),
            Value::Text(text) => Some(text.chars().count()),
            Value::Binary(_, bytes) => Some(bytes.len()),
            _ => None,
        }
    }

    /// The steps of visiting all of it once: elements, or pieces of 64 bytes.
    pub(super) fn weight(&self) -> u64 {
        let weight = match self {
            Value::List(items) => items.len(),
            Value::Map(entries) => entries.len(),
            Value::Array(raw) | Value::Document(raw) => raw.bytes().len() / 64,
            Value::Text(text) => text.len() / 64,
            Value::Binary(_, bytes) => bytes.len() / 64,
            _ => 0,
        };
        weight as u64
    }

    /// Checks that lists and maps are not nested more deeply than the server takes documents: what keeps values from one
    /// step to the next could nest them without end.
    ///
    /// # Errors
    /// When they are.
    pub fn check_depth(self) -> Result<Value, EvalError> {
        fn is_within(value: &Value, levels: u32) -> bool {
            let inner = |value| levels > 0 && is_within(value, levels - 1);
            match value {
                Value::List(items) => items.iter().all(inner),
                Value::Map(entries) => entries.iter().all(|(_, value)| inner(value)),
                _ => true,
            }
        }
        let is_flat = is_within(&self, DEEPEST);
        is_flat.then_some(self).ok_or_else(|| EvalError::new(format!("the value is nested more than {DEEPEST} deep")))
    }

    /// Returns the keys and values of a document or map; nothing for any other value.
    pub fn entries(&self) -> Vec<(Arc<str>, Value)> {
        match self {
            Value::Map(entries) => entries.to_vec(),
            Value::Document(raw) => raw.iter().map(|(key, value)| (Arc::from(key), value)).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the record that this is.
    pub fn as_record(&self) -> Option<&Arc<dyn LogicalRecord>> {
        let Value::Record(record) = self else { return None };
        Some(record)
    }

    /// Whether this is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Returns the kind of value, for messages.
    pub fn kind(&self) -> &'static str {
        self.rank_and_kind().1
    }

    /// Returns the place of the value's kind in MongoDB's order of kinds, and its name.
    fn rank_and_kind(&self) -> (u8, &'static str) {
        match self {
            Value::Null => (0, "null"),
            Value::Int(_) => (1, "an int"),
            Value::Double(_) => (1, "a double"),
            Value::Text(_) => (2, "a string"),
            Value::Document(_) | Value::Map(_) => (3, "a document"),
            Value::Record(_) => (3, "a record"),
            Value::Array(_) | Value::List(_) => (4, "a list"),
            Value::Binary(..) => (5, "binary data"),
            Value::ObjectId(_) => (6, "an ObjectId"),
            Value::Bool(_) => (7, "a bool"),
            Value::Date(_) => (8, "a date"),
            Value::Other(_) => (9, "a BSON scalar"),
            Value::Outcome(_) => (10, "an outcome"),
        }
    }

    /// Returns what is compared and written: of a reference its `_id`, of a whole record its document.
    ///
    /// # Errors
    /// When a record cannot be drawn.
    pub fn referenced(&self) -> Result<Value, EvalError> {
        match self {
            Value::Record(record) if !record.is_whole() => record.id(),
            // Made by `long`; the server's are ints.
            Value::Other(scalar) if let bson::Bson::Int64(i) = **scalar => Ok(Value::Int(i)),
            other => other.content(),
        }
    }

    /// Returns what a spread writes: of any record its document.
    ///
    /// # Errors
    /// When a record cannot be drawn.
    pub fn content(&self) -> Result<Value, EvalError> {
        match self {
            Value::Record(record) => record.document().map(Value::Document),
            other => Ok(other.clone()),
        }
    }

    /// Compares two numbers, strings, dates, ids or bools; `None` where they have no order.
    ///
    /// # Errors
    /// When a record cannot be drawn.
    pub fn compare(&self, other: &Value) -> Result<Option<Ordering>, EvalError> {
        budget::take_steps(self.weight())?;
        Ok(self.referenced()?.order(&other.referenced()?))
    }

    fn order(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
            (Value::Int(a), Value::Double(b)) => against_double(*a, *b),
            (Value::Double(a), Value::Int(b)) => against_double(*b, *a).map(Ordering::reverse),
            (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
            (Value::Date(a), Value::Date(b)) => Some(a.cmp(b)),
            (Value::ObjectId(a), Value::ObjectId(b)) => Some(a.cmp(b)),
            (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
            (Value::Binary(_, a), Value::Binary(_, b)) => Some(a.cmp(b)),
            (Value::Null, Value::Null) => Some(Ordering::Equal),
            _ => None,
        }
    }

    /// Compares by value: 1 equals 1.0, a reference equals its `_id`, raw BSON equals what an expression made.
    ///
    /// # Errors
    /// When a record cannot be drawn.
    pub fn equals(&self, other: &Value) -> Result<bool, EvalError> {
        let (a, b) = (self.referenced()?, other.referenced()?);
        // Comparing elements costs more than visiting them.
        budget::take_steps(4 * a.weight())?;
        match (a, b) {
            (Value::Other(a), Value::Other(b)) => Ok(a == b),
            (Value::Outcome(a), Value::Outcome(b)) => Ok(a == b),
            (a @ (Value::List(_) | Value::Array(_)), b @ (Value::List(_) | Value::Array(_))) => {
                let pairs = a.items().into_iter().flatten().zip(b.items().into_iter().flatten());
                Ok(a.len() == b.len() && all(pairs.map(|(a, b)| a.equals(&b)))?)
            }
            (a @ (Value::Map(_) | Value::Document(_)), b @ (Value::Map(_) | Value::Document(_))) => {
                // Each key is searched for.
                budget::take_steps(a.weight().saturating_mul(b.weight()))?;
                let has = |(key, value): (Arc<str>, Value)| match b.get(&key)? {
                    Some(other) => value.equals(&other),
                    None => Ok(false),
                };
                Ok(a.len() == b.len() && all(a.entries().into_iter().map(has))?)
            }
            (a, b) => Ok(a.order(&b) == Some(Ordering::Equal)),
        }
    }

    /// Returns the position of the first of these values that equals this one.
    pub(super) fn position(&self, values: impl IntoIterator<Item: Borrow<Value>>) -> Result<Option<usize>, EvalError> {
        for (position, value) in values.into_iter().enumerate() {
            if value.borrow().equals(self)? {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    /// Orders any two values that are not records: by kind as MongoDB has it, null first, then by value.
    pub fn sort_order(&self, other: &Value) -> Ordering {
        let is_nan = |value: &Value| matches!(value, Value::Double(d) if d.is_nan());
        let by_value = || self.order(other).unwrap_or_else(|| is_nan(other).cmp(&is_nan(self)));
        self.rank_and_kind().0.cmp(&other.rank_and_kind().0).then_with(by_value)
    }
}

/// The order of an int and a double, exact beyond the 53 bits that a double holds.
fn against_double(int: i64, double: f64) -> Option<Ordering> {
    // Rounding keeps the order: only where it makes the two equal, one may be greater.
    let rounded = (int as f64).partial_cmp(&double)?;
    Some(rounded.then_with(|| i128::from(int).cmp(&(double as i128))))
}

/// Whether all tests pass; the first that does not ends them.
fn all(mut tests: impl Iterator<Item = Result<bool, EvalError>>) -> Result<bool, EvalError> {
    tests.find(|test| *test != Ok(true)).unwrap_or(Ok(true))
}

/// As [`Value::equals`]; a record that cannot be drawn equals nothing.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.equals(other).unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::compile::fixture::{any_value, raw};

    #[test]
    fn ints_and_doubles_are_compared_exactly() {
        let (big, next) = (1_i64 << 53, (1_i64 << 53) + 1);
        assert_eq!(Value::Int(next).order(&Value::Double(big as f64)), Some(Ordering::Greater));
        assert_eq!(Value::Double(big as f64).order(&Value::Int(next)), Some(Ordering::Less));
        assert_eq!(Value::Int(1), Value::Double(1.0));
        assert_eq!(Value::Int(-1).order(&Value::Double(-0.5)), Some(Ordering::Less));
        assert_eq!(Value::Int(i64::MAX).order(&Value::Double(9.3e18)), Some(Ordering::Less));
        assert_eq!(Value::Int(i64::MIN).order(&Value::Double(f64::NEG_INFINITY)), Some(Ordering::Greater));
        assert_eq!(Value::Int(0).order(&Value::Double(f64::NAN)), None);
    }

    #[test]
    fn a_field_of_a_list_maps_and_size_is_its_length() {
        let row = |n: i64| Value::Map(Arc::new([(Arc::from("n"), Value::Int(n)), (Arc::from("size"), Value::Int(9))]));
        let list = Value::list(vec![row(1), Value::Null, row(3)]);
        let expected = Value::list(vec![Value::Int(1), Value::Null, Value::Int(3)]);
        for list in [list.clone(), raw(&list)] {
            assert_eq!(list.get("n"), Ok(Some(expected.clone())));
            assert_eq!(list.get("size"), Ok(Some(Value::Int(3))));
            assert_eq!(list.at(1), Some(Value::Null));
            assert_eq!((list.at(3), list.at(-1)), (None, None));
        }
        assert_eq!(row(1).get("size"), Ok(Some(Value::Int(9))));
        assert_eq!(Value::Null.get("n"), Ok(None));
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
