//! The native functions of expressions: over raw BSON where that matters, so that `pluck` of a thousand ids costs
//! microseconds.

use std::cmp::Ordering;
use std::str::FromStr;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::budget;
use super::value::{EvalError, Outcome, Value};

/// A function. Messages of its errors follow its name.
#[derive(Clone, Copy)]
pub struct Function {
    /// Its name in expressions.
    pub name: &'static str,
    /// Fewest and most arguments.
    pub arity: (usize, usize),
    /// What it does.
    pub body: fn(&[Value]) -> Result<Value, EvalError>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The bytes that a hash takes in the time of about one step.
const HASHED_PER_STEP: u64 = 64;

/// All functions, sorted by name.
pub const FUNCTIONS: &[Function] = &[
    Function { name: "chunks", arity: (2, 2), body: chunks },
    Function { name: "contains", arity: (2, 2), body: |a| texts(a, |text, part| text.contains(part)) },
    Function { name: "decimal", arity: (2, 2), body: decimal },
    Function { name: "double", arity: (1, 1), body: double },
    Function { name: "endsWith", arity: (2, 2), body: |a| texts(a, |text, end| text.ends_with(end)) },
    Function { name: "flatten", arity: (1, 1), body: flatten },
    Function { name: "index_of", arity: (2, 2), body: index_of },
    Function { name: "int", arity: (1, 1), body: int },
    Function { name: "join", arity: (1, 2), body: join },
    Function {
        name: "keys",
        arity: (1, 1),
        body: |a| Ok(Value::list(entries(&a[0])?.map(|(key, _)| Value::Text(key)).collect())),
    },
    Function { name: "long", arity: (1, 1), body: |a| Ok(other(bson::Bson::Int64(as_int(&a[0])?))) },
    Function { name: "merge", arity: (2, 2), body: merge },
    Function { name: "not_found", arity: (0, 0), body: |_| Ok(Value::Outcome(Outcome::NotFound)) },
    Function { name: "object", arity: (2, 2), body: object },
    Function { name: "ok", arity: (0, 0), body: |_| Ok(Value::Outcome(Outcome::Ok)) },
    Function { name: "outcome", arity: (1, 1), body: |a| outcome(&a[0]) },
    Function { name: "pluck", arity: (2, 2), body: pluck },
    Function { name: "range", arity: (2, 2), body: range },
    Function { name: "rejected", arity: (1, 1), body: rejected },
    Function { name: "reorder", arity: (3, 3), body: reorder },
    Function { name: "reverse", arity: (1, 1), body: |a| Ok(Value::list(items(&a[0])?.into_iter().rev().collect())) },
    Function { name: "same", arity: (0, 0), body: |_| Ok(Value::Outcome(Outcome::Same)) },
    Function { name: "sha256", arity: (1, 1), body: sha256 },
    Function { name: "size", arity: (1, 1), body: size },
    Function { name: "slice", arity: (2, 3), body: slice },
    Function { name: "sort_by", arity: (2, 2), body: sort_by },
    Function { name: "split", arity: (2, 2), body: split },
    Function { name: "startsWith", arity: (2, 2), body: |a| texts(a, |text, start| text.starts_with(start)) },
    Function { name: "string", arity: (1, 1), body: string },
    Function { name: "sum", arity: (1, 1), body: sum },
    Function { name: "timestamp", arity: (1, 1), body: timestamp },
    Function {
        name: "values",
        arity: (1, 1),
        body: |a| Ok(Value::list(entries(&a[0])?.map(|(_, value)| value).collect())),
    },
];

/// The function of this name.
pub fn find(name: &str) -> Option<Function> {
    FUNCTIONS.iter().find(|function| function.name == name).copied()
}

/// The elements of a list.
///
/// # Errors
/// When it is none.
pub(super) fn items(value: &Value) -> Result<Vec<Value>, EvalError> {
    Ok(value.elements()?.collect())
}

/// The number of an int.
///
/// # Errors
/// When it is none.
pub(super) fn as_int(value: &Value) -> Result<i64, EvalError> {
    let Value::Int(i) = value else { return Err(EvalError::expected("an int", value)) };
    Ok(*i)
}

/// The keys and values of a document; of null none.
fn entries(value: &Value) -> Result<impl Iterator<Item = (Arc<str>, Value)>, EvalError> {
    let content = value.content()?;
    if !matches!(content, Value::Null | Value::Document(_) | Value::Map(_)) {
        return Err(EvalError::expected("a document", value));
    }
    let entries = content.entries();
    budget::take_list(entries.len())?;
    Ok(entries.into_iter())
}

fn other(scalar: bson::Bson) -> Value {
    Value::Other(Arc::new(scalar))
}

/// A Decimal128 with this many digits after the point: `decimal(12.5, 2)` is 12.50.
fn decimal(arguments: &[Value]) -> Result<Value, EvalError> {
    /// All digits that a Decimal128 holds.
    const MOST_DIGITS: i64 = 34;
    let number = match &arguments[0] {
        Value::Int(i) => *i as f64,
        Value::Double(d) => *d,
        other => return Err(EvalError::expected("a number", other)),
    };
    let digits = as_int(&arguments[1])?;
    if !(0..=MOST_DIGITS).contains(&digits) {
        return Err(EvalError::new(format!("expected 0 to {MOST_DIGITS} digits, found {digits}")));
    }
    let text = format!("{number:.*}", digits as usize);
    parsed(&text, "decimal").map(|decimal| other(bson::Bson::Decimal128(decimal)))
}

fn as_text(value: &Value) -> Result<&Arc<str>, EvalError> {
    let Value::Text(text) = value else { return Err(EvalError::expected("a string", value)) };
    Ok(text)
}

fn texts(arguments: &[Value], test: fn(&str, &str) -> bool) -> Result<Value, EvalError> {
    Ok(Value::Bool(test(as_text(&arguments[0])?, as_text(&arguments[1])?)))
}

/// The field of every element; elements without it give null.
fn pluck(arguments: &[Value]) -> Result<Value, EvalError> {
    let name = as_text(&arguments[1])?;
    if let Value::Array(raw) = &arguments[0] {
        return Ok(Value::list(raw.pluck(name)?));
    }
    Ok(Value::list(arguments[0].elements()?.map(|item| item.field(name)).collect::<Result<_, _>>()?))
}

/// Parts of `length` elements or bytes, the last one shorter, as `{ number, size, items }`, numbered from 1.
fn chunks(arguments: &[Value]) -> Result<Value, EvalError> {
    let length = usize::try_from(as_int(&arguments[1])?).ok().filter(|length| *length > 0);
    let length = length.ok_or_else(|| EvalError::new("expected a length above 0"))?;
    let parts: Vec<Value> = match &arguments[0] {
        Value::Binary(subtype, bytes) => {
            bytes.chunks(length).map(|part| Value::Binary(*subtype, Arc::from(part))).collect()
        }
        list => items(list)?.chunks(length).map(|part| Value::list(part.to_vec())).collect(),
    };
    let chunk = |(number, items): (usize, Value)| {
        let (number, size) = (Value::Int(number as i64 + 1), Value::Int(items.len().unwrap_or(0) as i64));
        let entries = [("number", number), ("size", size), ("items", items)];
        Value::Map(Arc::new(entries.map(|(name, value)| (Arc::from(name), value))))
    };
    Ok(Value::list(parts.into_iter().enumerate().map(chunk).collect()))
}

fn flatten(arguments: &[Value]) -> Result<Value, EvalError> {
    let mut flat = Vec::new();
    for inner in items(&arguments[0])? {
        budget::take_list(inner.len().unwrap_or(0))?;
        flat.extend(items(&inner)?);
    }
    Ok(Value::list(flat))
}

/// From `start` up to, not including, `end`; negative positions count from the end; outside is cut off.
fn slice(arguments: &[Value]) -> Result<Value, EvalError> {
    let length = arguments[0].len().ok_or_else(|| EvalError::expected("a list, text or bytes", &arguments[0]))?;
    let place = |position: i64| {
        let position = if position < 0 { position.saturating_add(length as i64) } else { position };
        position.clamp(0, length as i64) as usize
    };
    let start = place(as_int(&arguments[1])?);
    let end = arguments.get(2).map(as_int).transpose()?.map_or(length, place).max(start);
    Ok(match &arguments[0] {
        Value::Binary(subtype, bytes) => Value::Binary(*subtype, Arc::from(&bytes[start..end])),
        Value::Text(text) => Value::Text(text.chars().skip(start).take(end - start).collect::<String>().into()),
        list => Value::list(items(list)?[start..end].to_vec()),
    })
}

fn sum(arguments: &[Value]) -> Result<Value, EvalError> {
    let mut total = Value::Int(0);
    for item in items(&arguments[0])? {
        total = match (&total, &item) {
            (Value::Int(a), Value::Int(b)) => {
                Value::Int(a.checked_add(*b).ok_or_else(|| EvalError::new("int overflow"))?)
            }
            (Value::Int(0), Value::Double(b)) => Value::Double(*b),
            (Value::Double(a), Value::Double(b)) => Value::Double(a + b),
            (_, other) => return Err(EvalError::expected("numbers of one kind", other)),
        };
    }
    Ok(total)
}

fn range(arguments: &[Value]) -> Result<Value, EvalError> {
    let (from, to) = (as_int(&arguments[0])?, as_int(&arguments[1])?);
    budget::take_list(to.saturating_sub(from).try_into().unwrap_or(0))?;
    Ok(Value::list((from..to).map(Value::Int).collect()))
}

/// The SHA-256 hash of a text or of bytes, in hexadecimal; of null null.
fn sha256(arguments: &[Value]) -> Result<Value, EvalError> {
    let bytes: &[u8] = match &arguments[0] {
        Value::Null => return Ok(Value::Null),
        Value::Text(text) => text.as_bytes(),
        Value::Binary(_, bytes) => bytes,
        other => return Err(EvalError::expected("text or bytes", other)),
    };
    budget::take_steps(bytes.len() as u64 / HASHED_PER_STEP)?;
    Ok(Value::Text(hex::encode(Sha256::digest(bytes)).into()))
}

/// Sorted by the fields named; `-` in front of a name sorts downwards. Null comes first.
fn sort_by(arguments: &[Value]) -> Result<Value, EvalError> {
    let keys = items(&arguments[1])?;
    let keys = keys.iter().map(as_text).collect::<Result<Vec<_>, _>>()?;
    let mut rows: Vec<(Vec<Value>, Value)> = Vec::new();
    for item in items(&arguments[0])? {
        let value = |key: &&Arc<str>| item.field(key.strip_prefix('-').unwrap_or(key))?.referenced();
        rows.push((keys.iter().map(value).collect::<Result<_, _>>()?, item));
    }
    rows.sort_by(|(a, _), (b, _)| {
        let orders = a.iter().zip(b).zip(&keys).map(|((a, b), key)| {
            let order = a.sort_order(b);
            if key.starts_with('-') { order.reverse() } else { order }
        });
        orders.fold(Ordering::Equal, Ordering::then)
    });
    Ok(Value::list(rows.into_iter().map(|(_, item)| item).collect()))
}

/// The rows of a list in the order that a list of keys gives: `reorder(rows, field, keys)`.
fn reorder(arguments: &[Value]) -> Result<Value, EvalError> {
    let name = as_text(&arguments[1])?;
    let rows = items(&arguments[0])?;
    budget::take_steps(arguments[0].weight().saturating_mul(arguments[2].weight()))?;
    let row_keys = rows.iter().map(|row| row.field(name)).collect::<Result<Vec<_>, _>>()?;
    let mut ordered = Vec::new();
    for key in items(&arguments[2])? {
        ordered.extend(key.position(&row_keys)?.map(|position| rows[position].clone()));
    }
    Ok(Value::list(ordered))
}

/// The position of an element, or -1.
fn index_of(arguments: &[Value]) -> Result<Value, EvalError> {
    let position = arguments[1].position(arguments[0].elements()?)?;
    Ok(Value::Int(position.map_or(-1, |position| position as i64)))
}

fn object(arguments: &[Value]) -> Result<Value, EvalError> {
    let keys = items(&arguments[0])?.iter().map(|key| as_text(key).cloned()).collect::<Result<Vec<_>, _>>()?;
    let values = items(&arguments[1])?;
    if keys.len() != values.len() {
        return Err(EvalError::new(format!("has {} keys and {} values", keys.len(), values.len())));
    }
    Ok(Value::Map(keys.into_iter().zip(values).collect()))
}

/// Two documents as one; the second one's keys win and keep their place there.
fn merge(arguments: &[Value]) -> Result<Value, EvalError> {
    let later: Vec<_> = entries(&arguments[1])?.collect();
    let mut merged: Vec<_> = entries(&arguments[0])?.collect();
    budget::take_steps((later.len() as u64).saturating_mul(merged.len() as u64))?;
    merged.retain(|(key, _)| !later.iter().any(|(other, _)| other == key));
    merged.extend(later);
    Ok(Value::Map(merged.into()))
}

/// The outcome of a single write from its reply.
///
/// # Errors
/// When this is no write's reply.
pub fn outcome(reply: &Value) -> Result<Value, EvalError> {
    let count = |name: &str| match reply.field(name)? {
        Value::Int(count) => Ok(count),
        _ => Err(EvalError::expected("a write's reply", reply)),
    };
    let upserted = !reply.field("upserted_id")?.is_null();
    Ok(Value::Outcome(if upserted || count("inserted")? > 0 || count("deleted")? > 0 || count("modified")? > 0 {
        Outcome::Ok
    } else if count("matched")? > 0 {
        Outcome::Same
    } else {
        Outcome::NotFound
    }))
}

fn rejected(arguments: &[Value]) -> Result<Value, EvalError> {
    Ok(Value::Outcome(Outcome::Rejected(Arc::clone(as_text(&arguments[0])?))))
}

fn size(arguments: &[Value]) -> Result<Value, EvalError> {
    let length = arguments[0].len().ok_or_else(|| inapplicable(&arguments[0]))?;
    Ok(Value::Int(length as i64))
}

fn split(arguments: &[Value]) -> Result<Value, EvalError> {
    let (text, separator) = (as_text(&arguments[0])?, as_text(&arguments[1])?);
    budget::take_list(text.matches(&**separator).count())?;
    Ok(Value::list(text.split(&**separator).map(Value::text).collect()))
}

/// Texts joined, with a separator between them, or byte strings joined.
fn join(arguments: &[Value]) -> Result<Value, EvalError> {
    let list = items(&arguments[0])?;
    let separators = arguments.get(1).map_or(0, Value::weight).saturating_mul(list.len() as u64);
    budget::take_bytes(list.iter().map(Value::weight).sum::<u64>().saturating_add(separators).saturating_mul(64))?;
    if let Some(Value::Binary(subtype, _)) = list.first() {
        let bytes = list.iter().map(|item| match item {
            Value::Binary(_, bytes) => Ok(&**bytes),
            other => Err(EvalError::expected("bytes only", other)),
        });
        return Ok(Value::Binary(*subtype, bytes.collect::<Result<Vec<_>, _>>()?.concat().into()));
    }
    let parts = list.iter().map(|item| as_text(item).map(|text| &**text)).collect::<Result<Vec<_>, _>>()?;
    let separator = arguments.get(1).map(as_text).transpose()?.map_or("", |text| &**text);
    Ok(Value::Text(parts.join(separator).into()))
}

fn string(arguments: &[Value]) -> Result<Value, EvalError> {
    Ok(Value::Text(match arguments[0].referenced()? {
        Value::Text(text) => text,
        Value::Int(i) => i.to_string().into(),
        Value::Double(d) => d.to_string().into(),
        Value::Bool(b) => b.to_string().into(),
        Value::ObjectId(id) => id.to_hex().into(),
        Value::Date(millis) => {
            let date = bson::DateTime::from_millis(millis).try_to_rfc3339_string();
            date.map_err(|error| EvalError::new(error.to_string()))?.into()
        }
        other => return Err(inapplicable(&other)),
    }))
}

fn inapplicable(value: &Value) -> EvalError {
    EvalError::new(format!("does not apply to {}", value.kind()))
}

fn parsed<T: FromStr>(text: &str, kind: &str) -> Result<T, EvalError> {
    text.parse().map_err(|_| EvalError::new(format!("invalid {kind} {text:?}")))
}

fn int(arguments: &[Value]) -> Result<Value, EvalError> {
    match &arguments[0] {
        Value::Int(i) => Ok(Value::Int(*i)),
        Value::Double(d) if d.abs() < 9.0e18 => Ok(Value::Int(*d as i64)),
        Value::Text(text) => parsed(text, "int").map(Value::Int),
        Value::Date(millis) => Ok(Value::Int(*millis)),
        other => Err(inapplicable(other)),
    }
}

fn double(arguments: &[Value]) -> Result<Value, EvalError> {
    match &arguments[0] {
        Value::Int(i) => Ok(Value::Double(*i as f64)),
        Value::Double(d) => Ok(Value::Double(*d)),
        Value::Text(text) => parsed(text, "number").map(Value::Double),
        other => Err(inapplicable(other)),
    }
}

fn timestamp(arguments: &[Value]) -> Result<Value, EvalError> {
    match &arguments[0] {
        Value::Date(millis) | Value::Int(millis) => Ok(Value::Date(*millis)),
        Value::Text(text) => bson::DateTime::parse_rfc3339_str(&**text)
            .map(|date| Value::Date(date.timestamp_millis()))
            .map_err(|_| EvalError::new(format!("invalid time {text:?}, for example 2026-01-31T12:00:00Z"))),
        other => Err(inapplicable(other)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::compile::fixture::{any_value, evaluate, expression, raw};

    fn value(text: &str) -> Result<Value, String> {
        let expression = expression(text).unwrap_or_else(|| panic!("{text}"));
        evaluate(&expression, &[]).map_err(|error| error.to_string())
    }

    fn call(name: &str, arguments: &[Value]) -> Value {
        (find(name).unwrap().body)(arguments).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    #[test]
    fn hashes_are_those_of_the_bytes() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(&[Value::text("")]), Ok(Value::text(empty)));
        assert_eq!(sha256(&[Value::Binary(0, Arc::from(&b"abc"[..]))]), sha256(&[Value::text("abc")]));
        assert_eq!(sha256(&[Value::Null]), Ok(Value::Null));
        assert_eq!(sha256(&[Value::Int(1)]), Err(EvalError::expected("text or bytes", &Value::Int(1))));
    }

    #[test]
    fn functions_are_sorted_and_unique() {
        assert!(FUNCTIONS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }

    #[test]
    fn functions_are_documented() {
        let documentation = include_str!("../../docs/format.md");
        for function in FUNCTIONS {
            assert!(documentation.contains(&format!("`{}(", function.name)), "{}", function.name);
        }
    }

    #[test]
    fn functions_do_what_the_documentation_says() {
        for (text, expected) in [
            ("pluck([{'n': 1}, {}], 'n')", "[1, null]"),
            (
                "chunks([1, 2, 3], 2)",
                "[{'number': 1, 'size': 2, 'items': [1, 2]}, {'number': 2, 'size': 1, 'items': [3]}]",
            ),
            ("flatten([[1], [], null, [2, 3]])", "[1, 2, 3]"),
            ("reverse([1, 2])", "[2, 1]"),
            ("slice([1, 2, 3], 1)", "[2, 3]"),
            ("slice('abc', -2, -1)", "'b'"),
            ("slice([1], 5, 9)", "[]"),
            ("sum([])", "0"),
            ("sum([1.5, 2.5])", "4"),
            ("range(2, 5)", "[2, 3, 4]"),
            ("keys({'a': 1, 'b': 2})", "['a', 'b']"),
            ("values({'a': 1, 'b': [2]})", "[1, [2]]"),
            ("keys(null)", "[]"),
            ("long(5)", "5"),
            ("decimal(1, 2)", "decimal(1.0, 2)"),
            ("{'a': 1 < 2 ? missing : 1, 'b': 2}", "{'b': 2}"),
            ("range(5, 2)", "[]"),
            (
                "sort_by([{'a': 1, 'b': 1}, {'a': 2, 'b': 2}, {'b': 1}], ['-b', 'a'])",
                "[{'a': 2, 'b': 2}, {'b': 1}, {'a': 1, 'b': 1}]",
            ),
            ("reorder([{'k': 1}, {'k': 2}, {'k': 3}], 'k', [3, 9, 1])", "[{'k': 3}, {'k': 1}]"),
            ("index_of(['a', 'b'], 'b')", "1"),
            ("index_of([], 1)", "-1"),
            ("object(['a', 'b'], [1, null])", "{'a': 1, 'b': null}"),
            ("merge({'a': 1, 'b': 2}, {'b': 3})", "{'a': 1, 'b': 3}"),
            ("merge(null, {'b': 3})", "{'b': 3}"),
            ("split('a b', ' ')", "['a', 'b']"),
            ("join(['a', 'b'], '-')", "'a-b'"),
            ("join([])", "''"),
            ("contains('abc', 'b') && startsWith('abc', 'a') && 'abc'.endsWith('c')", "true"),
            ("string(1) + string(true) + string(1.5) + string(timestamp(0))", "'1true1.51970-01-01T00:00:00Z'"),
            ("int('12') + int(3.9) + int(timestamp(7))", "22"),
            ("double(1) / 2.0", "0.5"),
            ("timestamp('2024-01-01T00:00:00Z') - timestamp('2023-12-31T00:00:00Z')", "86400000"),
            ("size('é') + size([1, 2]) + size({'a': 1}) + size(null)", "4"),
            ("outcome({'matched': 1, 'modified': 0, 'inserted': 0, 'deleted': 0})", "same()"),
            ("outcome({'matched': 0, 'modified': 0, 'inserted': 0, 'deleted': 0})", "not_found()"),
            ("outcome({'matched': 0, 'modified': 0, 'inserted': 0, 'deleted': 0, 'upserted_id': 5})", "ok()"),
        ] {
            assert_eq!(value(text), value(expected), "{text}");
        }
    }

    #[test]
    fn errors_name_the_function() {
        for (text, expected) in [
            ("chunks([1], 0)", "chunks: expected a length above 0"),
            ("merge(1, {})", "merge: expected a document, found an int"),
            ("decimal(1, 35)", "decimal: expected 0 to 34 digits, found 35"),
            ("keys([1])", "keys: expected a document, found a list"),
            ("object(['a'], [])", "object: has 1 keys and 0 values"),
            ("outcome(1)", "outcome: expected a write's reply, found an int"),
            ("sum([9223372036854775807, 1])", "sum: int overflow"),
            ("range(0, 99999999)", "range: takes more than 4 million steps"),
            ("int('x')", "int: invalid int \"x\""),
        ] {
            assert_eq!(value(text), Err(expected.to_owned()), "{text}");
        }
    }

    fn rows() -> impl Strategy<Value = Vec<Value>> {
        let row = (any_value(), 0_i64..9)
            .prop_map(|(a, b)| Value::Map(Arc::new([(Arc::from("a"), a), (Arc::from("b"), Value::Int(b))])));
        prop::collection::vec(row, 0..40)
    }

    proptest! {
        #[test]
        fn no_function_panics(values in prop::collection::vec(any_value(), 3)) {
            for function in FUNCTIONS {
                for arity in function.arity.0..=function.arity.1 {
                    // Outside of evaluations nothing limits a list, and `range` may be asked for all numbers.
                    let _level = budget::enter().unwrap();
                    let _ = (function.body)(&values[..arity]);
                }
            }
        }

        #[test]
        fn pluck_over_raw_documents_is_pluck_over_lists(
            rows in prop_oneof![rows(), prop::collection::vec(any_value(), 0..6)],
        ) {
            let list = Value::list(rows);
            for field in ["a", "b", "c"] {
                let plucked = call("pluck", &[list.clone(), Value::text(field)]);
                prop_assert_eq!(format!("{:?}", raw(&plucked)), format!("{:?}", raw(&call("pluck", &[raw(&list), Value::text(field)]))));
                prop_assert_eq!(format!("{:?}", raw(&plucked)), format!("{:?}", raw(&list.field(field).unwrap())));
            }
        }

        #[test]
        fn sort_by_orders_without_loss(rows in rows()) {
            let by = |keys: &[&str], list: &Value| call("sort_by", &[list.clone(), Value::list(keys.iter().map(|key| Value::text(key)).collect())]);
            let list = Value::list(rows);
            let sorted: Vec<Value> = by(&["a", "b"], &list).items().unwrap().collect();
            prop_assert_eq!(Some(sorted.len()), list.len());
            let keys = |row: &Value| (row.field("a").unwrap(), row.field("b").unwrap());
            for pair in sorted.windows(2) {
                let (one, two) = (keys(&pair[0]), keys(&pair[1]));
                prop_assert_ne!(one.0.sort_order(&two.0).then(one.1.sort_order(&two.1)), Ordering::Greater);
            }
            let mut numbers: Vec<_> = list.items().unwrap().map(|row| as_int(&row.field("b").unwrap()).unwrap()).collect();
            numbers.sort_unstable_by(|one, two| two.cmp(one));
            let down: Vec<_> = by(&["-b"], &list).items().unwrap().map(|row| as_int(&row.field("b").unwrap()).unwrap()).collect();
            prop_assert_eq!(down, numbers);
        }

        #[test]
        fn chunks_slices_and_reverses_lose_nothing(items in prop::collection::vec(0_i64..99, 0..30), n in 1_i64..9, at in -40_i64..40) {
            let list = Value::list(items.iter().copied().map(Value::Int).collect());
            let parts = call("chunks", &[list.clone(), Value::Int(n)]);
            prop_assert_eq!(&call("flatten", &[parts.field("items").unwrap()]), &list);
            for part in parts.items().unwrap() {
                prop_assert!(part.field("size").unwrap().compare(&Value::Int(n)) != Ok(Some(Ordering::Greater)));
                prop_assert_eq!(part.field("size"), part.field("items").and_then(|items| items.field("size")));
            }
            let (head, tail) = (call("slice", &[list.clone(), Value::Int(0), Value::Int(at)]), call("slice", &[list.clone(), Value::Int(at)]));
            prop_assert_eq!(&call("flatten", &[Value::list(vec![head, tail])]), &list);
            let twice = call("reverse", &[call("reverse", std::slice::from_ref(&list))]);
            prop_assert_eq!(&twice, &list);
            let bytes = Value::Binary(0, items.iter().map(|item| *item as u8).collect());
            let parts = call("chunks", &[bytes.clone(), Value::Int(n)]).field("items").unwrap();
            if !items.is_empty() {
                prop_assert_eq!(call("join", &[parts]), bytes);
            }
        }

        #[test]
        fn reorder_gives_the_rows_of_the_keys_in_their_order(keys in Just((0_i64..20).collect::<Vec<_>>()).prop_shuffle(), n in 0_usize..20) {
            let row = |key: &i64| Value::Map(Arc::new([(Arc::from("k"), Value::Int(*key))]));
            let rows = Value::list(keys.iter().map(row).collect());
            let expected: Vec<Value> = keys.iter().rev().take(n).copied().map(Value::Int).collect();
            let ordered = call("reorder", &[raw(&rows), Value::text("k"), Value::list(expected.clone())]);
            prop_assert_eq!(ordered.field("k").unwrap(), Value::list(expected));
        }
    }
}
