//! Operators of two operands, both of which are evaluated.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Div, Mul, Rem, Sub};

use super::{EvalError, Value, budget};

/// An operator of two operands.
pub struct Operator {
    /// What CEL's parser calls it.
    pub name: &'static str,
    /// `None` for operands of kinds that it does not take.
    body: fn(&Value, &Value) -> Result<Option<Value>, EvalError>,
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// All operators. `+` also joins strings and lists; `/` of ints truncates.
pub const OPERATORS: &[Operator] = &[
    Operator { name: "_+_", body: add },
    Operator { name: "_-_", body: subtract },
    Operator { name: "_*_", body: |a, b| numbers(a, b, i64::checked_mul, f64::mul) },
    Operator { name: "_/_", body: |a, b| numbers(a, b, i64::checked_div, f64::div) },
    Operator { name: "_%_", body: |a, b| numbers(a, b, i64::checked_rem, f64::rem) },
    Operator { name: "_==_", body: |a, b| Ok(Some(Value::Bool(a.equals(b)?))) },
    Operator { name: "_!=_", body: |a, b| Ok(Some(Value::Bool(!a.equals(b)?))) },
    Operator { name: "_<_", body: |a, b| compare(a, b, Ordering::is_lt) },
    Operator { name: "_<=_", body: |a, b| compare(a, b, Ordering::is_le) },
    Operator { name: "_>_", body: |a, b| compare(a, b, Ordering::is_gt) },
    Operator { name: "_>=_", body: |a, b| compare(a, b, Ordering::is_ge) },
    Operator { name: "@in", body: is_in },
    Operator { name: "_[_]", body: element },
];

impl Operator {
    /// The operator on two values.
    ///
    /// # Errors
    /// When the kinds do not go together, on overflow, and on division by zero.
    pub fn apply(&self, a: &Value, b: &Value) -> Result<Value, EvalError> {
        (self.body)(a, b)?.ok_or_else(|| {
            let sign = self.name.trim_matches(['_', '@']);
            EvalError::new(format!("`{sign}` does not apply to {} and {}", a.kind(), b.kind()))
        })
    }
}

fn numbers(
    a: &Value,
    b: &Value,
    ints: impl Fn(i64, i64) -> Option<i64>,
    doubles: impl Fn(f64, f64) -> f64,
) -> Result<Option<Value>, EvalError> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => match ints(*a, *b) {
            Some(result) => Ok(Some(Value::Int(result))),
            // Only division fails for a zero.
            None => Err(EvalError::new(if *b == 0 { "division by zero" } else { "int overflow" })),
        },
        (Value::Double(a), Value::Double(b)) => Ok(Some(Value::Double(doubles(*a, *b)))),
        _ => Ok(None),
    }
}

fn add(a: &Value, b: &Value) -> Result<Option<Value>, EvalError> {
    match (a, b) {
        (Value::Int(_) | Value::Double(_), _) => numbers(a, b, i64::checked_add, f64::add),
        (Value::Text(a), Value::Text(b)) => {
            budget::take_bytes((a.len() + b.len()) as u64)?;
            Ok(Some(Value::Text([&**a, &**b].concat().into())))
        }
        (Value::Date(a), Value::Int(b)) => instant(a.checked_add(*b)).map(Value::Date).map(Some),
        _ => {
            let (Some(first), Some(second)) = (a.items(), b.items()) else { return Ok(None) };
            budget::take_list(a.len().unwrap_or(0) + b.len().unwrap_or(0))?;
            Ok(Some(Value::list(first.chain(second).collect())))
        }
    }
}

fn subtract(a: &Value, b: &Value) -> Result<Option<Value>, EvalError> {
    match (a, b) {
        (Value::Date(a), Value::Date(b)) => instant(a.checked_sub(*b)).map(Value::Int).map(Some),
        (Value::Date(a), Value::Int(b)) => instant(a.checked_sub(*b)).map(Value::Date).map(Some),
        _ => numbers(a, b, i64::checked_sub, f64::sub),
    }
}

fn instant(result: Option<i64>) -> Result<i64, EvalError> {
    result.ok_or_else(|| EvalError::new("date overflow"))
}

fn compare(a: &Value, b: &Value, test: fn(Ordering) -> bool) -> Result<Option<Value>, EvalError> {
    match a.compare(b)? {
        Some(order) => Ok(Some(Value::Bool(test(order)))),
        None => Err(EvalError::new(format!("cannot compare {} with {}", a.kind(), b.kind()))),
    }
}

fn is_in(item: &Value, list: &Value) -> Result<Option<Value>, EvalError> {
    if let Value::Map(entries) = list {
        let found = matches!(item, Value::Text(key) if entries.iter().any(|(name, _)| name == key));
        return Ok(Some(Value::Bool(found)));
    }
    let Some(items) = list.items() else { return Ok(None) };
    budget::take_steps(list.weight())?;
    Ok(Some(Value::Bool(item.position(items)?.is_some())))
}

fn element(operand: &Value, index: &Value) -> Result<Option<Value>, EvalError> {
    match index {
        Value::Int(position) => Ok(Some(operand.at(*position).unwrap_or(Value::Null))),
        Value::Text(name) => operand.field(name).map(Some),
        _ => Err(EvalError::new(format!("cannot index {} by {}", operand.kind(), index.kind()))),
    }
}
