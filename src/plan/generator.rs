//! Generators: expressions that draw from the seed, each with a random stream of its own.

use std::sync::Arc;

use crate::generate::{self, Label, Stream};

use super::data::{RECORD_BYTES, Relatives};
use super::function::{as_int, items};
use super::operation::EarlierCalls;
use super::{EvalError, Expression, Frame, Value, budget, draw};

/// The greatest length that a generator takes: more than the 16 MiB of a document, so that its limit can be exceeded.
const LONGEST: i64 = 128 * 1024 * 1024;
/// The bytes of the longest word, with a space.
const LONGEST_WORD: u64 = 12;
/// The bytes that choosing one of many takes, about.
pub(super) const CHOSEN: u64 = 64;

/// One way to call a generator. A generator that is called in several ways has a row of [`GENERATORS`] for each.
#[derive(Debug)]
pub struct Generator {
    /// The name in expressions.
    pub name: &'static str,
    /// What it takes. A generator of an entity's records takes the entity first.
    pub parameters: &'static [Parameter],
    draw: Draw,
}

type Draw = fn(&GeneratorCall, &mut Frame) -> Result<Value, EvalError>;

/// A parameter of a generator.
#[derive(Debug)]
pub struct Parameter {
    /// The name in [`Generator::usage`].
    pub name: &'static str,
    /// What may be given for it.
    pub kind: ParameterKind,
}

/// What may be given for a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// Any expression, evaluated at each draw.
    Value,
    /// A number that is known before the run.
    Constant,
    /// The name of an entity.
    Entity,
    /// An entity and one of its fields: `comment.parent`.
    EntityField,
    /// The name of a field, or another name, in quotes.
    Field,
    /// The name of an operation defined above.
    Operation,
}

/// What was given for a parameter.
#[derive(Debug)]
pub enum GeneratorArgument {
    /// For [`ParameterKind::Value`] and [`ParameterKind::Constant`].
    Value(Expression),
    /// For [`ParameterKind::Entity`].
    Entity(usize),
    /// For [`ParameterKind::EntityField`].
    EntityField(usize, Arc<str>),
    /// For [`ParameterKind::Field`].
    Field(Arc<str>),
    /// For [`ParameterKind::Operation`].
    Operation(Arc<EarlierCalls>),
}

/// A generator with its arguments, at one place of the scenario.
#[derive(Debug)]
pub struct GeneratorCall {
    /// The generator.
    pub generator: &'static Generator,
    /// Sets the random stream of this place apart from all others.
    pub label: Label,
    /// An argument per parameter.
    pub arguments: Vec<GeneratorArgument>,
}

/// All generators: a row for each way to call one.
pub const GENERATORS: &[Generator] = &[
    generator("uniform", &[value("a"), value("b")], draw::uniform),
    generator("uniform", &[ENTITY], |call, frame| {
        let last = frame.data.len(call.records()?) as i64 - 1;
        draw::uniform_record(call, 0, last, frame)
    }),
    generator("uniform", &[ENTITY, value("from"), value("to")], |call, frame| {
        let (from, to) = (call.int(1, frame)?, call.int(2, frame)?);
        draw::uniform_record(call, from, to, frame)
    }),
    generator("zipf", &[ENTITY], draw::zipf),
    generator("zipf", &[ENTITY, constant("exponent")], draw::zipf),
    // As popular, but other records: those of equal names are the same.
    generator("zipf", &[ENTITY, constant("exponent"), NAME], draw::zipf),
    generator("latest", &[ENTITY], draw::latest),
    generator("hotspot", &[ENTITY, value("records"), value("percent")], draw::hotspot),
    generator("normal", &[value("mean"), value("deviation")], |call, frame| {
        let (mean, deviation) = (call.number(0, frame)?, call.number(1, frame)?);
        generate::normal(&mut call.stream(frame), mean, deviation).map(Value::Double).map_err(EvalError::new)
    }),
    generator("zipf_count", &[constant("mean")], |call, frame| {
        let mean = call.number(0, frame)?;
        Ok(Value::Int(frame.data.zipf_count(mean)?.sample(&mut call.stream(frame)) as i64))
    }),
    generator("poisson_count", &[value("mean")], |call, frame| {
        let mean = call.number(0, frame)?;
        let count = generate::poisson(&mut call.stream(frame), mean).map_err(EvalError::new)?;
        Ok(Value::Int(count as i64))
    }),
    generator("oid", &[], |call, frame| {
        let id = generate::object_id(frame.loop_seed(call.label), call.label, frame.ordinal);
        Ok(Value::ObjectId(bson::oid::ObjectId::from_bytes(id)))
    }),
    generator("uuid", &[], |call, frame| Ok(Value::Binary(4, Arc::from(generate::uuid(&mut call.stream(frame)))))),
    generator("words", &[value("n")], |call, frame| {
        let n = call.length(0, LONGEST_WORD, frame)?;
        Ok(Value::Text(generate::words(&mut call.stream(frame), n).into()))
    }),
    generator("text", &[value("bytes")], |call, frame| {
        let bytes = call.length(0, 1, frame)?;
        Ok(Value::Text(generate::text(&mut call.stream(frame), bytes).into()))
    }),
    generator("bytes", &[value("n")], |call, frame| {
        let n = call.length(0, 1, frame)?;
        Ok(Value::Binary(0, generate::bytes(&mut call.stream(frame), n).into()))
    }),
    generator("full_name", &[], |call, frame| Ok(Value::Text(generate::full_name(&mut call.stream(frame)).into()))),
    generator("full_name", &[value("n")], |call, frame| {
        let n = call.length(0, 0, frame)?.max(1) as u64;
        Ok(Value::Text(generate::full_name_of(call.stream(frame).below(n)).into()))
    }),
    generator("city", &[], |call, frame| Ok(Value::text(generate::city(&mut call.stream(frame))))),
    generator("ip", &[], |call, frame| Ok(Value::Text(generate::ip(&mut call.stream(frame)).into()))),
    generator("date_between", &[value("a"), value("b")], draw::date_between),
    generator("one_of", &[value("list")], draw::one_of),
    generator("one_of", &[value("list"), value("weights")], draw::weighted),
    generator("chance", &[value("probability")], |call, frame| {
        let probability = call.number(0, frame)?;
        if !(0.0..=1.0).contains(&probability) {
            return Err(EvalError::new(format!("chance: expected a probability from 0 to 1, found {probability}")));
        }
        Ok(Value::Bool(call.stream(frame).unit() < probability))
    }),
    generator("quantiles", &[value("values")], draw::quantiles),
    generator("quantiles", &[value("values"), value("percents")], draw::quantiles),
    // A record that only this call makes.
    generator("new", &[ENTITY], |call, frame| {
        Ok(frame.data.made(call.records()?, frame.ordinal, Relatives::default()))
    }),
    // With its parent, a record, or with its children, a map of how many there are in each list.
    generator("new", &[ENTITY, value("parent or {'children': n}")], |call, frame| {
        let relatives = draw::relatives(call, frame)?;
        Ok(frame.data.made(call.records()?, frame.ordinal, relatives))
    }),
    // In a field of a child: another record for each child of its parent.
    generator("distinct", &[ENTITY], draw::distinct_child),
    generator("distinct", &[ENTITY, constant("exponent")], draw::distinct_child),
    generator("sample", &[ENTITY, value("n")], |call, frame| {
        let (entity, n) = (call.records()?, call.length(1, CHOSEN, frame)?);
        let chosen = draw::distinct(frame.data.len(entity), n, &mut call.stream(frame))?;
        Ok(Value::list(chosen.into_iter().map(|ordinal| frame.data.reference(entity, ordinal)).collect()))
    }),
    generator("sample", &[ENTITY, value("n"), constant("exponent")], draw::popular_sample),
    generator("sample", &[ENTITY, value("n"), constant("exponent"), NAME], draw::popular_sample),
    generator("sample", &[value("list"), value("n")], |call, frame| {
        let (list, n) = (call.list(0, frame)?, call.length(1, CHOSEN, frame)?);
        let chosen = draw::distinct(list.len() as u64, n, &mut call.stream(frame))?;
        Ok(Value::list(chosen.into_iter().map(|position| list[position as usize].clone()).collect()))
    }),
    generator("record", &[ENTITY, value("i")], draw::record),
    generator("all", &[ENTITY], |call, frame| {
        let entity = call.records()?;
        let ordinals = 0..frame.data.len(entity);
        budget::take_bytes(ordinals.end * RECORD_BYTES)?;
        Ok(Value::list(ordinals.map(|ordinal| frame.data.whole(entity, ordinal)).collect()))
    }),
    // The record, the one that its field points at, and so on to the root.
    generator("chain", &[value("record"), Parameter { name: "'field'", kind: ParameterKind::Field }], draw::chain),
    // The loaded records of the entity whose field points at the record.
    generator(
        "referrers",
        &[Parameter { name: "entity.field", kind: ParameterKind::EntityField }, value("record")],
        draw::referrers,
    ),
    // In a field of an entity with `from`; a key that the line has not is missing.
    generator("line", &[Parameter { name: "'path'", kind: ParameterKind::Field }], |call, frame| {
        Ok(call.field_value(frame)?.unwrap_or(Value::Null))
    }),
    generator("clock", &[], |_, frame| Ok(Value::Date(frame.now))),
    // A loaded record, or one that a recent call of the operation makes.
    generator("known", &[ENTITY, OPERATION], draw::known),
    generator("earlier", &[OPERATION], |call, frame| {
        call.earlier_calls().ok_or_else(|| call.unfit())?.draw(frame, &mut call.stream(frame))
    }),
];

const fn generator(name: &'static str, parameters: &'static [Parameter], draw: Draw) -> Generator {
    Generator { name, parameters, draw }
}

const ENTITY: Parameter = Parameter { name: "entity", kind: ParameterKind::Entity };

/// A name for an order of popularity.
const NAME: Parameter = Parameter { name: "'name'", kind: ParameterKind::Field };

const OPERATION: Parameter = Parameter { name: "operation", kind: ParameterKind::Operation };

const fn value(name: &'static str) -> Parameter {
    Parameter { name, kind: ParameterKind::Value }
}

const fn constant(name: &'static str) -> Parameter {
    Parameter { name, kind: ParameterKind::Constant }
}

impl Generator {
    /// Returns how it is called: `zipf(entity, exponent)`.
    pub fn usage(&self) -> String {
        let parameters: Vec<&str> = self.parameters.iter().map(|parameter| parameter.name).collect();
        format!("{}({})", self.name, parameters.join(", "))
    }
}

impl GeneratorCall {
    /// Returns the entity whose records are drawn; `None` when it draws something else.
    pub fn entity(&self) -> Option<usize> {
        match self.arguments.first() {
            Some(GeneratorArgument::Entity(entity) | GeneratorArgument::EntityField(entity, _)) => Some(*entity),
            _ => None,
        }
    }

    /// Returns the calls that `earlier` draws from.
    pub fn earlier_calls(&self) -> Option<&EarlierCalls> {
        let Some(GeneratorArgument::Operation(calls)) = self.arguments.first() else { return None };
        Some(calls)
    }

    /// Returns the expressions inside.
    pub fn parts(&self) -> impl Iterator<Item = &Expression> {
        self.arguments.iter().filter_map(|argument| match argument {
            GeneratorArgument::Value(expression) => Some(expression),
            _ => None,
        })
    }

    /// Draws a value.
    ///
    /// # Errors
    /// When an argument is of the wrong kind, or there is nothing to draw from.
    pub fn draw(&self, frame: &mut Frame) -> Result<Value, EvalError> {
        (self.generator.draw)(self, frame)
    }

    /// Draws the value of a field of a document; `None` where its key is left out.
    ///
    /// # Errors
    /// As [`GeneratorCall::draw`].
    pub(super) fn field_value(&self, frame: &mut Frame) -> Result<Option<Value>, EvalError> {
        match self.arguments.as_slice() {
            [GeneratorArgument::Field(path)] => draw::line(path, frame),
            _ => self.draw(frame).map(Some),
        }
    }

    pub(super) fn stream(&self, frame: &Frame) -> Stream {
        frame.stream(self.label)
    }

    pub(super) fn records(&self) -> Result<usize, EvalError> {
        self.entity().ok_or_else(|| self.unfit())
    }

    pub(super) fn value(&self, position: usize, frame: &mut Frame) -> Result<Value, EvalError> {
        let GeneratorArgument::Value(expression) = &self.arguments[position] else { return Err(self.unfit()) };
        expression.evaluate(frame)
    }

    /// The error of arguments of other kinds than the parameters', which the compiler does not let through.
    pub(super) fn unfit(&self) -> EvalError {
        EvalError::new(format!("{}: unfit arguments", self.generator.name))
    }

    pub(super) fn named(&self, error: EvalError) -> EvalError {
        EvalError::new(format!("{}: {error}", self.generator.name))
    }

    pub(super) fn int(&self, position: usize, frame: &mut Frame) -> Result<i64, EvalError> {
        as_int(&self.value(position, frame)?).map_err(|error| self.named(error))
    }

    /// An argument that is a count or a length; each thing that is made takes `bytes_each` bytes.
    pub(super) fn length(&self, position: usize, bytes_each: u64, frame: &mut Frame) -> Result<usize, EvalError> {
        let name = self.generator.name;
        match self.int(position, frame)? {
            length @ 0..=LONGEST => budget::take_bytes(length as u64 * bytes_each).map(|()| length as usize),
            length @ ..0 => Err(EvalError::new(format!("{name}: expected a length >= 0, found {length}"))),
            length => Err(EvalError::new(format!("{name}: {length} is too long, the most is {LONGEST}"))),
        }
    }

    pub(super) fn number(&self, position: usize, frame: &mut Frame) -> Result<f64, EvalError> {
        match self.value(position, frame)? {
            Value::Int(i) => Ok(i as f64),
            Value::Double(d) => Ok(d),
            other => Err(self.named(EvalError::expected("a number", &other))),
        }
    }

    pub(super) fn numbers(&self, position: usize, frame: &mut Frame) -> Result<Vec<f64>, EvalError> {
        let number = |value| match value {
            Value::Int(i) => Ok(i as f64),
            Value::Double(d) => Ok(d),
            other => Err(self.named(EvalError::expected("numbers", &other))),
        };
        self.list(position, frame)?.into_iter().map(number).collect()
    }

    pub(super) fn list(&self, position: usize, frame: &mut Frame) -> Result<Vec<Value>, EvalError> {
        items(&self.value(position, frame)?).map_err(|error| self.named(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::fixture::{evaluate, expression, plan};
    use crate::generate::Seed;

    #[test]
    fn arguments_depend_on_seed_and_call_alone() {
        let text = "{ thing: zipf(thing), n: \"uniform(0, 1000000)\", id: oid(), many: \"sample(thing, 3)\" }";
        let (one, two) = (plan(text, "{ find: things }"), plan(text, "{ find: things }"));
        let drawn = |plan: &super::super::Plan, call: u64, round: u64| {
            format!(
                "{:?}",
                plan.arguments(0, plan.round_seed(round), call, 4)
                    .unwrap()
                    .slots
                    .iter()
                    .map(super::super::written)
                    .collect::<Vec<_>>()
            )
        };
        let backwards: Vec<String> = (0..50).rev().map(|call| drawn(&two, call, 0)).collect();
        for call in 0..50 {
            assert_eq!(drawn(&one, call, 0), backwards[49 - call as usize]);
            assert_ne!(drawn(&one, call, 0), drawn(&one, call, 1));
            assert_ne!(drawn(&one, call, 0), drawn(&one, call + 1, 0));
        }
    }

    #[test]
    fn weights_chances_and_quantiles_come_out() {
        let share = |text: &str, test: &dyn Fn(&Value) -> bool| {
            let plan = plan(&format!("{{ x: \"{text}\" }}"), "{ find: things }");
            let hits = (0..4_000).filter(|call| test(plan.arguments(0, Seed::new(5), *call, 1).unwrap().slot(0)));
            hits.count() as f64 / 4_000.0
        };
        let is = |expected: i64| move |value: &Value| *value == Value::Int(expected);
        let near = |share: f64, expected: f64| assert!((share - expected).abs() < 0.03, "{share} for {expected}");
        near(share("one_of([1, 2, 3], [70, 0, 30])", &is(3)), 0.3);
        near(share("one_of([1, 2, 3], [70, 0, 30])", &is(2)), 0.0);
        near(share("chance(0.2)", &|value| *value == Value::Bool(true)), 0.2);
        let up_to = |most: i64| move |value: &Value| matches!(value, Value::Int(i) if *i <= most);
        near(share("quantiles([0, 100, 1000], [0, 90, 100])", &up_to(100)), 0.9);
        near(share("quantiles([0, 100, 1000])", &up_to(100)), 0.5);
        near(share("quantiles([7, 7, 9], [0, 40, 100])", &is(7)), 0.4 + 0.6 / 4.0);
    }

    #[test]
    fn generators_are_documented_as_they_are_called() {
        let documentation = include_str!("../../docs/format.md");
        for generator in GENERATORS {
            assert!(documentation.contains(&format!("`{}`", generator.usage())), "{}", generator.usage());
        }
    }

    #[test]
    fn draw_reports_why_it_cannot() {
        for (text, expected) in [
            ("words(-1)", "words: expected a length >= 0, found -1"),
            ("words(9223372036854775807)", "words: 9223372036854775807 is too long, the most is 134217728"),
            ("one_of([])", "one_of: the list is empty"),
            ("one_of([1, 2], [1])", "one_of: 2 elements have 1 weights"),
            ("one_of([1, 2], [0, 0])", "one_of: expected weights >= 0, of which one is above 0"),
            ("chance(35)", "chance: expected a probability from 0 to 1, found 35"),
            (
                "quantiles([1, 2], [0, 50])",
                "quantiles: expected two or more values and as many percents, which ascend from 0 to 100",
            ),
            (
                "quantiles([1, 2.0])",
                "quantiles: expected only ints, only doubles or only dates, found an int and a double",
            ),
            ("sample([1, 2], 3)", "sample: cannot draw 3 different elements of 2"),
            ("uniform(1, 2.0)", "uniform: expected two ints or two doubles, found an int and a double"),
            ("date_between(1, 2)", "date_between: expected two dates, found an int and an int"),
        ] {
            let expression = expression(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(evaluate(&expression, &[]).unwrap_err().to_string(), expected, "{text}");
        }
    }
}
