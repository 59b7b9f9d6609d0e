//! Arithmetic.

use super::{EvalError, Value, budget};

/// The arithmetic operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`, also of strings and lists.
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`; of ints it truncates.
    Divide,
    /// `%`
    Remainder,
}

impl Operator {
    /// The operator on two values.
    ///
    /// # Errors
    /// When the kinds do not go together, on overflow, and on division by zero.
    pub fn apply(self, a: &Value, b: &Value) -> Result<Value, EvalError> {
        match (self, a, b) {
            (_, Value::Int(a), Value::Int(b)) => self.ints(*a, *b),
            (_, Value::Double(a), Value::Double(b)) => Ok(Value::Double(self.doubles(*a, *b))),
            (Operator::Add, Value::Text(a), Value::Text(b)) => {
                budget::take_bytes((a.len() + b.len()) as u64)?;
                Ok(Value::Text([&**a, &**b].concat().into()))
            }
            (Operator::Add, Value::Date(a), Value::Int(b)) => instant(a.checked_add(*b)).map(Value::Date),
            (Operator::Subtract, Value::Date(a), Value::Date(b)) => instant(a.checked_sub(*b)).map(Value::Int),
            (Operator::Subtract, Value::Date(a), Value::Int(b)) => instant(a.checked_sub(*b)).map(Value::Date),
            (Operator::Add, _, _) => match (a.items(), b.items()) {
                (Some(first), Some(second)) => {
                    budget::take_list(a.len().unwrap_or(0) + b.len().unwrap_or(0))?;
                    Ok(Value::list(first.chain(second).collect()))
                }
                _ => Err(mismatch("+", a, b)),
            },
            _ => Err(mismatch(self.sign(), a, b)),
        }
    }

    fn ints(self, a: i64, b: i64) -> Result<Value, EvalError> {
        if b == 0 && matches!(self, Operator::Divide | Operator::Remainder) {
            return Err(EvalError::new("division by zero"));
        }
        let result = match self {
            Operator::Add => a.checked_add(b),
            Operator::Subtract => a.checked_sub(b),
            Operator::Multiply => a.checked_mul(b),
            Operator::Divide => a.checked_div(b),
            Operator::Remainder => a.checked_rem(b),
        };
        result.map(Value::Int).ok_or_else(|| EvalError::new("int overflow"))
    }

    fn doubles(self, a: f64, b: f64) -> f64 {
        match self {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide => a / b,
            Operator::Remainder => a % b,
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Remainder => "%",
        }
    }
}

fn instant(result: Option<i64>) -> Result<i64, EvalError> {
    result.ok_or_else(|| EvalError::new("date overflow"))
}

/// The error of an operator that does not take two values.
pub(super) fn mismatch(operator: &str, a: &Value, b: &Value) -> EvalError {
    EvalError::new(format!("`{operator}` does not apply to {} and {}", a.kind(), b.kind()))
}
