//! Operators of two operands, both of which are evaluated.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Rem, Sub};

use super::function::Function;
use super::{EvalError, Value, budget};

/// All operators, under the names that CEL's parser gives them. `+` also joins strings and lists; `/` of ints truncates.
/// They fail when the kinds do not go together, on overflow, and on division by zero.
pub const OPERATORS: &[Function] = &[
    operator("_+_", add),
    operator("_-_", subtract),
    operator("_*_", |operands| numbers("*", operands, i64::checked_mul, f64::mul)),
    operator("_/_", |operands| numbers("/", operands, i64::checked_div, f64::div)),
    operator("_%_", |operands| numbers("%", operands, i64::checked_rem, f64::rem)),
    operator("_==_", |operands| Ok(Value::Bool(operands[0].equals(&operands[1])?))),
    operator("_!=_", |operands| Ok(Value::Bool(!operands[0].equals(&operands[1])?))),
    operator("_<_", |operands| compare(operands, Ordering::is_lt)),
    operator("_<=_", |operands| compare(operands, Ordering::is_le)),
    operator("_>_", |operands| compare(operands, Ordering::is_gt)),
    operator("_>=_", |operands| compare(operands, Ordering::is_ge)),
    operator("@in", is_in),
    operator("_[_]", element),
];

const fn operator(name: &'static str, body: fn(&[Value]) -> Result<Value, EvalError>) -> Function {
    Function { name, arity: (2, 2), body }
}

fn mismatch(sign: &str, operands: &[Value]) -> EvalError {
    EvalError::new(format!("`{sign}` does not apply to {} and {}", operands[0].kind(), operands[1].kind()))
}

fn numbers(
    sign: &str,
    operands: &[Value],
    ints: impl Fn(i64, i64) -> Option<i64>,
    doubles: impl Fn(f64, f64) -> f64,
) -> Result<Value, EvalError> {
    match operands {
        [Value::Int(a), Value::Int(b)] => ints(*a, *b).map(Value::Int).ok_or_else(|| {
            // Only division fails for a zero.
            EvalError::new(if *b == 0 { "division by zero" } else { "int overflow" })
        }),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(doubles(*a, *b))),
        _ => Err(mismatch(sign, operands)),
    }
}

fn add(operands: &[Value]) -> Result<Value, EvalError> {
    match operands {
        [Value::Text(a), Value::Text(b)] => {
            budget::take_bytes((a.len() + b.len()) as u64)?;
            Ok(Value::Text([&**a, &**b].concat().into()))
        }
        [Value::Date(a), Value::Int(b)] => instant(a.checked_add(*b)).map(Value::Date),
        [a @ (Value::List(_) | Value::Array(_) | Value::Null), b] => {
            let (first, Some(second)) = (a.elements()?, b.items()) else { return Err(mismatch("+", operands)) };
            budget::take_list(a.len().unwrap_or(0) + b.len().unwrap_or(0))?;
            Ok(Value::list(first.chain(second).collect()))
        }
        _ => numbers("+", operands, i64::checked_add, f64::add),
    }
}

fn subtract(operands: &[Value]) -> Result<Value, EvalError> {
    match operands {
        [Value::Date(a), Value::Date(b)] => instant(a.checked_sub(*b)).map(Value::Int),
        [Value::Date(a), Value::Int(b)] => instant(a.checked_sub(*b)).map(Value::Date),
        _ => numbers("-", operands, i64::checked_sub, f64::sub),
    }
}

fn instant(result: Option<i64>) -> Result<i64, EvalError> {
    result.ok_or_else(|| EvalError::new("date overflow"))
}

fn compare(operands: &[Value], test: fn(Ordering) -> bool) -> Result<Value, EvalError> {
    let (a, b) = (&operands[0], &operands[1]);
    let order = a.compare(b)?.map(|order| Value::Bool(test(order)));
    order.ok_or_else(|| EvalError::new(format!("cannot compare {} with {}", a.kind(), b.kind())))
}

fn is_in(operands: &[Value]) -> Result<Value, EvalError> {
    let (item, list) = (&operands[0], &operands[1]);
    if let Value::Map(entries) = list {
        let found = matches!(item, Value::Text(key) if entries.iter().any(|(name, _)| name == key));
        return Ok(Value::Bool(found));
    }
    let items = list.items().ok_or_else(|| mismatch("in", operands))?;
    budget::take_steps(list.weight())?;
    Ok(Value::Bool(item.position(items)?.is_some()))
}

fn element(operands: &[Value]) -> Result<Value, EvalError> {
    let (operand, index) = (&operands[0], &operands[1]);
    match index {
        Value::Int(position) => Ok(operand.at(*position).unwrap_or(Value::Null)),
        Value::Text(name) => operand.field(name),
        _ => Err(EvalError::new(format!("cannot index {} by {}", operand.kind(), index.kind()))),
    }
}
