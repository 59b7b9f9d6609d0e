//! What conditions and changes mean for a record in memory.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::plan::{EvalError, Value};

/// The named fields of a record, or all; null where there is no record.
pub fn fields(row: Option<&Value>, names: &[Arc<str>]) -> Value {
    let Some(row) = row.filter(|_| names.is_empty()) else {
        if names.is_empty() {
            return Value::Null;
        }
        let value = |name: &Arc<str>| row.map_or(Value::Null, |row| at(row, name));
        return Value::Map(names.iter().map(|name| (Arc::clone(name), value(name))).collect());
    };
    row.clone()
}

/// The value at a path of fields; null where it is missing.
pub fn at(row: &Value, path: &str) -> Value {
    let value = |row: Value, field: &str| row.field(field).and_then(|value| value.referenced()).unwrap_or(Value::Null);
    path.split('.').fold(row.clone(), value)
}

/// The record with another value at a path of fields.
pub fn changed(
    row: &Value,
    path: &str,
    change: &dyn Fn(&Value) -> Result<Value, EvalError>,
) -> Result<Value, EvalError> {
    let (field, inner) = path.split_once('.').map_or((path, None), |(field, inner)| (field, Some(inner)));
    let old = row.field(field)?;
    let new = inner.map_or_else(|| change(&old), |inner| changed(&old, inner, change))?;
    let mut entries = row.entries();
    match entries.iter_mut().find(|(name, _)| **name == *field) {
        Some((_, value)) => *value = new,
        None => entries.push((Arc::from(field), new)),
    }
    Ok(Value::Map(entries.into()))
}

/// Whether all conditions on fields hold.
pub fn matches(row: &Value, condition: &[(Arc<str>, Value)]) -> bool {
    condition.iter().all(|(field, wanted)| {
        let found = at(row, field);
        let operators = wanted.entries();
        match operators.first() {
            Some((first, _)) if first.starts_with('$') => {
                operators.iter().all(|(operator, value)| holds(&found, operator, value))
            }
            _ => has(&found, wanted),
        }
    })
}

/// Whether an operator of MongoDB holds, for the value or an element of it.
fn holds(found: &Value, operator: &str, value: &Value) -> bool {
    let is = |test: &dyn Fn(Ordering) -> bool| {
        let compares = |one: &Value| one.compare(value).ok().flatten().is_some_and(test);
        compares(found) || elements(found).any(|one| compares(&one))
    };
    match operator {
        "$eq" => has(found, value),
        "$ne" => !has(found, value),
        "$in" => elements(value).any(|one| has(found, &one)),
        "$nin" => !elements(value).any(|one| has(found, &one)),
        "$gt" => is(&Ordering::is_gt),
        "$gte" => is(&Ordering::is_ge),
        "$lt" => is(&Ordering::is_lt),
        _ => is(&Ordering::is_le),
    }
}

/// Whether a value is another one, or a list that contains it.
pub fn has(found: &Value, wanted: &Value) -> bool {
    found == wanted || elements(found).any(|one| one == *wanted)
}

pub fn elements(value: &Value) -> impl Iterator<Item = Value> {
    value.items().into_iter().flatten().collect::<Vec<_>>().into_iter()
}

pub fn plus(one: &Value, other: &Value) -> Result<Value, EvalError> {
    let number = |value: &Value| match value {
        Value::Null => Some(0.0),
        Value::Int(number) => Some(*number as f64),
        Value::Double(number) => Some(*number),
        _ => None,
    };
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => Ok(Value::Int(one.wrapping_add(*other))),
        (Value::Null, Value::Int(_)) => Ok(other.clone()),
        _ => match number(one).zip(number(other)) {
            Some((one, other)) => Ok(Value::Double(one + other)),
            None => Err(EvalError::expected("a number", if number(one).is_none() { one } else { other })),
        },
    }
}
