//! Expressions: parsed by the `cel` crate, names resolved once, evaluated over raw BSON.
//!
//! CEL's grammar is kept; its rules for what is missing are not (format.md: a missing field, a field of null and an
//! index out of range are null), which is why evaluation is ours. Generators are nodes of the same tree, so that
//! they work wherever an expression does.

use std::sync::Arc;

use super::function::Function;
use super::generator::GeneratorCall;
use super::{EvalError, Frame, Value, budget};

/// A resolved expression.
#[derive(Debug)]
pub enum Expression {
    /// A literal or a parameter.
    Constant(Value),
    /// `missing`: null, or where a document is made, no key at all.
    Missing,
    /// A variable.
    Slot(usize),
    /// `operand.name`
    Field(Box<Expression>, Arc<str>),
    /// `!x`
    Not(Box<Expression>),
    /// `-x`
    Negate(Box<Expression>),
    /// `a + b`, `a < b`, `a[b]`...
    Binary(&'static Function, Box<[Expression; 2]>),
    /// `a && b`
    And(Box<[Expression; 2]>),
    /// `a || b`
    Or(Box<[Expression; 2]>),
    /// `a ? b : c`
    Conditional(Box<[Expression; 3]>),
    /// `[a, b]`
    List(Vec<Expression>),
    /// `{a: b}`
    Map(Vec<(Expression, Expression)>),
    /// A function over values.
    Call(Function, Vec<Expression>),
    /// A generator.
    Generate(Box<GeneratorCall>),
    /// `list.map(x, body)` and the other loops.
    Each(Box<Each>),
}

/// A loop over a small list.
#[derive(Debug)]
pub struct Each {
    /// What the loop makes.
    pub kind: EachKind,
    /// The list.
    pub list: Expression,
    /// The loop variable.
    pub slot: usize,
    /// Evaluated per element.
    pub body: Expression,
}

/// The list macros of CEL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EachKind {
    /// `map`
    Map,
    /// `filter`
    Filter,
    /// `all`
    All,
    /// `exists`
    Exists,
}

impl Expression {
    /// The value in this frame.
    ///
    /// # Errors
    /// When an operator or function meets a value that it does not take, or the budget is exhausted.
    pub fn evaluate(&self, frame: &mut Frame) -> Result<Value, EvalError> {
        let _level = match self {
            Expression::Constant(value) => return Ok(value.clone()),
            Expression::Slot(slot) => return Ok(frame.slot(*slot).clone()),
            _ => budget::enter()?,
        };
        Ok(match self {
            Expression::Constant(value) => value.clone(),
            Expression::Missing => Value::Null,
            Expression::Slot(slot) => frame.slot(*slot).clone(),
            Expression::Field(operand, name) => match &**operand {
                Expression::Slot(slot) => frame.slot(*slot).field(name)?,
                other => other.evaluate(frame)?.field(name)?,
            },
            Expression::Not(x) => Value::Bool(!x.holds(frame)?),
            Expression::Negate(x) => negate(&x.evaluate(frame)?)?,
            Expression::Binary(operator, operands) => {
                let values = [operands[0].evaluate(frame)?, operands[1].evaluate(frame)?];
                (operator.body)(&values)?
            }
            Expression::And(parts) => Value::Bool(parts[0].holds(frame)? && parts[1].holds(frame)?),
            Expression::Or(parts) => Value::Bool(parts[0].holds(frame)? || parts[1].holds(frame)?),
            Expression::Conditional(parts) => {
                let branch = if parts[0].holds(frame)? { &parts[1] } else { &parts[2] };
                branch.evaluate(frame)?
            }
            Expression::List(items) => {
                Value::List(items.iter().map(|item| item.evaluate(frame)).collect::<Result<Vec<_>, _>>()?.into())
            }
            Expression::Map(entries) => map(entries, frame)?,
            Expression::Call(function, arguments) => call(function, arguments, frame)?,
            Expression::Generate(call) => call.draw(frame)?,
            Expression::Each(each) => each.evaluate(frame)?,
        })
    }

    /// Returns the value of a field of a document; `None` where its key is left out.
    ///
    /// # Errors
    /// As [`Expression::evaluate`].
    pub fn field_value(&self, frame: &mut Frame) -> Result<Option<Value>, EvalError> {
        match self {
            Expression::Missing => Ok(None),
            Expression::Conditional(parts) => {
                let _level = budget::enter()?;
                let branch = if parts[0].holds(frame)? { &parts[1] } else { &parts[2] };
                branch.field_value(frame)
            }
            Expression::Generate(call) => call.field_value(frame),
            other => other.evaluate(frame).map(Some),
        }
    }

    fn holds(&self, frame: &mut Frame) -> Result<bool, EvalError> {
        truth(&self.evaluate(frame)?)
    }

    /// Whether it makes a record of an entity.
    pub fn makes(&self, entity: usize) -> bool {
        let is_new = |call: &GeneratorCall| call.generator.name == "new" && call.entity() == Some(entity);
        self.any(&|part| matches!(part, Expression::Generate(call) if is_new(call)))
    }

    /// Whether it makes a record of an entity and says what its parent or children are.
    pub fn makes_with_relatives(&self, entity: usize) -> bool {
        let is_new = |call: &GeneratorCall| {
            call.generator.name == "new" && call.arguments.len() > 1 && call.entity() == Some(entity)
        };
        self.any(&|part| matches!(part, Expression::Generate(call) if is_new(call)))
    }

    /// Whether `test` holds for this expression or a part of it.
    pub fn any(&self, test: &dyn Fn(&Expression) -> bool) -> bool {
        let inside = |parts: &[Expression]| parts.iter().any(|part| part.any(test));
        test(self)
            || match self {
                Expression::Constant(_) | Expression::Missing | Expression::Slot(_) => false,
                Expression::Field(part, _) | Expression::Not(part) | Expression::Negate(part) => part.any(test),
                Expression::Binary(_, parts) | Expression::And(parts) | Expression::Or(parts) => inside(&**parts),
                Expression::Conditional(parts) => inside(&**parts),
                Expression::List(parts) | Expression::Call(_, parts) => inside(parts),
                Expression::Map(entries) => entries.iter().any(|(key, value)| key.any(test) || value.any(test)),
                Expression::Generate(call) => call.parts().any(|part| part.any(test)),
                Expression::Each(each) => each.list.any(test) || each.body.any(test),
            }
    }
}

/// Functions take at most four arguments; the array saves an allocation per call.
fn call(function: &Function, arguments: &[Expression], frame: &mut Frame) -> Result<Value, EvalError> {
    let mut values = [const { Value::Null }; 4];
    for (value, argument) in values.iter_mut().zip(arguments) {
        *value = argument.evaluate(frame)?;
        budget::take_steps(value.weight())?;
    }
    (function.body)(&values[..arguments.len()]).map_err(|error| EvalError::new(format!("{}: {error}", function.name)))
}

fn map(entries: &[(Expression, Expression)], frame: &mut Frame) -> Result<Value, EvalError> {
    let mut made = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        match key.evaluate(frame)? {
            Value::Text(key) => made.extend(value.field_value(frame)?.map(|value| (key, value))),
            other => return Err(EvalError::expected("a string as the key of a map", &other)),
        }
    }
    Ok(Value::Map(made.into()))
}

impl Each {
    fn evaluate(&self, frame: &mut Frame) -> Result<Value, EvalError> {
        let list = self.list.evaluate(frame)?;
        let items = list.elements()?;
        let outer = frame.iteration;
        let mut made = Vec::new();
        let mut verdict = self.kind == EachKind::All;
        for (iteration, item) in items.enumerate() {
            budget::take_list(1)?;
            frame.iteration = outer.wrapping_mul(1_000_003).wrapping_add(iteration as u64 + 1);
            frame.set(self.slot, item.clone());
            let value = self.body.evaluate(frame)?;
            match self.kind {
                EachKind::Map => made.push(value),
                EachKind::Filter if truth(&value)? => made.push(item),
                EachKind::Filter => {}
                EachKind::All => verdict = verdict && truth(&value)?,
                EachKind::Exists => verdict = verdict || truth(&value)?,
            }
        }
        frame.iteration = outer;
        Ok(match self.kind {
            EachKind::Map | EachKind::Filter => Value::list(made),
            EachKind::All | EachKind::Exists => Value::Bool(verdict),
        })
    }
}

/// A bool, as conditions need it.
///
/// # Errors
/// When it is anything else; null is not false.
pub fn truth(value: &Value) -> Result<bool, EvalError> {
    let Value::Bool(b) = value else { return Err(EvalError::expected("a bool", value)) };
    Ok(*b)
}

fn negate(value: &Value) -> Result<Value, EvalError> {
    match value {
        Value::Int(i) => i.checked_neg().map(Value::Int).ok_or_else(|| EvalError::new("int overflow")),
        Value::Double(d) => Ok(Value::Double(-d)),
        other => Err(EvalError::new(format!("`-` does not apply to {}", other.kind()))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::compile::fixture::{any_value, evaluate, expression};

    fn value(text: &str) -> Result<Value, String> {
        let expression = expression(text).unwrap_or_else(|| panic!("{text}"));
        evaluate(&expression, &[Value::Null, Value::Int(5), Value::text("five")]).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_missing_is_null() {
        for text in
            ["a.x == null", "a.x.y == null", "[1][3] == null", "[1][-1] == null", "{'k': 1}.z == null", "b.x == null"]
        {
            assert_eq!(value(text), Ok(Value::Bool(true)), "{text}");
        }
        assert_eq!(value("a + [1] == [1]"), Ok(Value::Bool(true)));
        assert_eq!(value("a.map(x, x).size"), Ok(Value::Int(0)));
    }

    #[test]
    fn operators_keep_the_rules_of_numbers_and_kinds() {
        for (text, expected) in [
            ("7 / 2", "3"),
            ("-7 % 3", "-1"),
            ("7.0 / 2.0", "3.5"),
            ("1 + 2 * 3 - -1", "8"),
            ("b > 4 ? 'more' : 'less'", "'more'"),
            ("c + '!'", "'five!'"),
            ("[1, 2] + [3]", "[1, 2, 3]"),
            ("2 in [1, 2.0]", "true"),
            ("'k' in {'k': 1}", "true"),
            ("1 == 1.0 && 1 < 1.5 && !(2 <= 1)", "true"),
            ("b == 5 || c.x.y < 1", "true"),
            ("{'a': 1, 'b': 2} == {'b': 2, 'a': 1.0}", "true"),
            ("{'a': b}['a'] + b", "10"),
        ] {
            assert_eq!(value(text), value(expected), "{text}");
        }
    }

    #[test]
    fn loops_run_over_lists() {
        for (text, expected) in [
            ("[1, 2, 3].map(x, x * b)", "[5, 10, 15]"),
            ("[1, 2, 3].filter(x, x > 1)", "[2, 3]"),
            ("[1, 2].all(x, x > 0) && ![1, 2].all(x, x > 1) && [].all(x, false)", "true"),
            ("[1, 2].exists(x, x > 1) && ![].exists(x, true)", "true"),
            ("[[1], [2, 3]].map(x, x.map(y, y + size(x)))", "[[2], [4, 5]]"),
            ("range(0, 3).map(b, b) + [b]", "[0, 1, 2, 5]"),
        ] {
            assert_eq!(value(text), value(expected), "{text}");
        }
    }

    #[test]
    fn errors_name_the_kinds() {
        for (text, expected) in [
            ("1 + 1.5", "`+` does not apply to an int and a double"),
            ("c < 1", "cannot compare a string with an int"),
            ("a < 1", "cannot compare null with an int"),
            ("a ? 1 : 2", "expected a bool, found null"),
            ("1 / 0", "division by zero"),
            ("9223372036854775807 + 1", "int overflow"),
            ("timestamp(9223372036854775807) + 1", "date overflow"),
            ("b.map(x, x)", "expected a list, found an int"),
            ("-c", "`-` does not apply to a string"),
            ("1 in 2", "`in` does not apply to an int and an int"),
        ] {
            assert_eq!(value(text), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_generator_inside_a_loop_draws_anew_in_every_iteration_and_alike_every_time() {
        for generator in ["uniform(0, 1000000)", "uuid()", "oid()"] {
            let expression = expression(&format!("range(0, 50).map(i, {generator})")).unwrap();
            let drawn = evaluate(&expression, &[]).unwrap();
            let mut values: Vec<String> = drawn.items().unwrap().map(|value| format!("{value:?}")).collect();
            values.sort();
            values.dedup();
            assert!(values.len() > 40, "{generator}: {}", values.len());
            assert_eq!(evaluate(&expression, &[]).unwrap(), drawn);
        }
    }

    /// Text of small expressions over `a`, `b` and `c`; not all of them make sense.
    fn any_text() -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(vec![
            "a", "b", "c", "null", "1", "0", "-3", "2.5", "'t'", "true", "[]", "9223372036854775807",
        ]);
        leaf.prop_map(str::to_owned).prop_recursive(4, 24, 3, |inner| {
            let operators =
                prop::sample::select(vec!["+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||", "in"]);
            let loops = prop::sample::select(vec!["map", "filter", "all", "exists"]);
            let functions = prop::sample::select(vec![
                "size", "flatten", "reverse", "sum", "string", "int", "double", "timestamp", "outcome", "rejected",
                "join",
            ]);
            let pairs = prop::sample::select(vec![
                "pluck", "chunks", "slice", "sort_by", "index_of", "merge", "object", "split",
            ]);
            prop_oneof![
                (inner.clone(), operators, inner.clone()).prop_map(|(x, o, y)| format!("({x} {o} {y})")),
                (inner.clone(), inner.clone(), inner.clone()).prop_map(|(x, y, z)| format!("({x} ? {y} : {z})")),
                (inner.clone(), inner.clone()).prop_map(|(x, y)| format!("({x})[{y}]")),
                (inner.clone(), loops, inner.clone()).prop_map(|(x, l, y)| format!("({x}).{l}(a, {y})")),
                (functions, inner.clone()).prop_map(|(f, x)| format!("{f}({x})")),
                (pairs, inner.clone(), inner.clone()).prop_map(|(f, x, y)| format!("{f}({x}, {y})")),
                inner.clone().prop_map(|x| format!("({x}).a")),
                (inner.clone(), inner.clone()).prop_map(|(x, y)| format!("[{x}, {y}]")),
                (inner.clone(), inner).prop_map(|(x, y)| format!("{{'a': {x}, 'b': {y}}}")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn evaluation_gives_a_value_or_words_and_the_same_every_time(
            text in any_text(),
            values in prop::collection::vec(any_value(), 3),
        ) {
            let expression = expression(&text).unwrap_or_else(|| panic!("{text}"));
            let (one, two) = (evaluate(&expression, &values), evaluate(&expression, &values));
            prop_assert_eq!(format!("{one:?}"), format!("{two:?}"));
        }
    }
}
