//! Generators: expressions that draw from the seed, each with a random stream of its own.

use std::collections::HashSet;
use std::sync::Arc;

use crate::generate::{self, Label, Permutation, Stream, Zipf};

use super::call_id::{FIRST_NEW_RECORD, MOST_NEW_CHILDREN, never};
use super::data::{NUMBER_SLOT, PARENT_SLOT, RECORD_BYTES, Relatives};
use super::function::{as_int, items};
use super::operation::EarlierCalls;
use super::{EvalError, Expression, Frame, Value, budget};

/// The greatest length that a generator takes: more than the 16 MiB of a document, so that its limit can be exceeded.
const LONGEST: i64 = 128 * 1024 * 1024;
/// The bytes of the longest word, with a space.
const LONGEST_WORD: u64 = 12;
/// The bytes that choosing one of many takes, about.
const CHOSEN: u64 = 64;

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
    generator("uniform", &[value("a"), value("b")], uniform),
    generator("uniform", &[ENTITY], |call, frame| {
        let last = frame.data.len(call.records()?) as i64 - 1;
        uniform_record(call, 0, last, frame)
    }),
    generator("uniform", &[ENTITY, value("from"), value("to")], |call, frame| {
        let (from, to) = (call.int(1, frame)?, call.int(2, frame)?);
        uniform_record(call, from, to, frame)
    }),
    generator("zipf", &[ENTITY], |call, frame| zipf(call, generate::DEFAULT_EXPONENT, frame)),
    generator("zipf", &[ENTITY, constant("exponent")], |call, frame| zipf(call, call.number(1, frame)?, frame)),
    // As popular, but other records: those of equal names are the same.
    generator("zipf", &[ENTITY, constant("exponent"), NAME], |call, frame| {
        let (entity, exponent) = (call.records()?, call.number(1, frame)?);
        let rank = frame.data.popularity(entity, exponent)?.sample(&mut call.stream(frame));
        let ordinal = call.permutation(2, frame)?.place(rank);
        Ok(frame.data.reference(entity, ordinal))
    }),
    generator("latest", &[ENTITY], latest),
    generator("hotspot", &[ENTITY, value("records"), value("percent")], hotspot),
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
    generator("date_between", &[value("a"), value("b")], date_between),
    generator("one_of", &[value("list")], one_of),
    generator("one_of", &[value("list"), value("weights")], weighted),
    generator("chance", &[value("probability")], |call, frame| {
        let probability = call.number(0, frame)?;
        if !(0.0..=1.0).contains(&probability) {
            return Err(EvalError::new(format!("chance: expected a probability from 0 to 1, found {probability}")));
        }
        Ok(Value::Bool(call.stream(frame).unit() < probability))
    }),
    generator("quantiles", &[value("values")], quantiles),
    generator("quantiles", &[value("values"), value("percents")], quantiles),
    // A record that only this call makes.
    generator("new", &[ENTITY], |call, frame| {
        Ok(frame.data.made(call.records()?, frame.ordinal, Relatives::default()))
    }),
    // With its parent, a record, or with its children, a map of how many there are in each list.
    generator("new", &[ENTITY, value("parent or {'children': n}")], |call, frame| {
        let relatives = relatives(call, frame)?;
        Ok(frame.data.made(call.records()?, frame.ordinal, relatives))
    }),
    // In a field of a child: another record for each child of its parent.
    generator("distinct", &[ENTITY], |call, frame| distinct_child(call, 0.0, frame)),
    generator("distinct", &[ENTITY, constant("exponent")], |call, frame| {
        let exponent = call.number(1, frame)?;
        distinct_child(call, exponent, frame)
    }),
    generator("sample", &[ENTITY, value("n")], |call, frame| {
        let (entity, n) = (call.records()?, call.length(1, CHOSEN, frame)?);
        let chosen = distinct(frame.data.len(entity), n, &mut call.stream(frame))?;
        Ok(Value::list(chosen.into_iter().map(|ordinal| frame.data.reference(entity, ordinal)).collect()))
    }),
    generator("sample", &[ENTITY, value("n"), constant("exponent")], |call, frame| {
        let (entity, n) = (call.records()?, call.length(1, CHOSEN, frame)?);
        let exponent = call.number(2, frame)?;
        let ranks = frame.data.popularity(entity, exponent)?;
        let chosen = popular(ranks, frame.data.len(entity), n, &mut call.stream(frame))?;
        Ok(Value::list(chosen.into_iter().map(|ordinal| frame.data.reference(entity, ordinal)).collect()))
    }),
    generator("sample", &[ENTITY, value("n"), constant("exponent"), NAME], |call, frame| {
        let (entity, n) = (call.records()?, call.length(1, CHOSEN, frame)?);
        let exponent = call.number(2, frame)?;
        let ranks = frame.data.popularity(entity, exponent)?;
        let chosen = popular(ranks, frame.data.len(entity), n, &mut call.stream(frame))?;
        let permutation = call.permutation(3, frame)?;
        let ordinals = chosen.into_iter().map(|rank| permutation.place(rank));
        Ok(Value::list(ordinals.map(|ordinal| frame.data.reference(entity, ordinal)).collect()))
    }),
    generator("sample", &[value("list"), value("n")], |call, frame| {
        let (list, n) = (call.list(0, frame)?, call.length(1, CHOSEN, frame)?);
        let chosen = distinct(list.len() as u64, n, &mut call.stream(frame))?;
        Ok(Value::list(chosen.into_iter().map(|position| list[position as usize].clone()).collect()))
    }),
    generator("record", &[ENTITY, value("i")], record),
    generator("all", &[ENTITY], |call, frame| {
        let entity = call.records()?;
        let ordinals = 0..frame.data.len(entity);
        budget::take_bytes(ordinals.end * RECORD_BYTES)?;
        Ok(Value::list(ordinals.map(|ordinal| frame.data.whole(entity, ordinal)).collect()))
    }),
    // The record, the one that its field points at, and so on to the root.
    generator("chain", &[value("record"), Parameter { name: "'field'", kind: ParameterKind::Field }], chain),
    // The loaded records of the entity whose field points at the record.
    generator(
        "referrers",
        &[Parameter { name: "entity.field", kind: ParameterKind::EntityField }, value("record")],
        referrers,
    ),
    generator("clock", &[], |_, frame| Ok(Value::Date(frame.now))),
    // A loaded record, or one that a recent call of the operation makes.
    generator("known", &[ENTITY, OPERATION], known),
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

    fn stream(&self, frame: &Frame) -> Stream {
        frame.stream(self.label)
    }

    fn records(&self) -> Result<usize, EvalError> {
        self.entity().ok_or_else(|| self.unfit())
    }

    /// The order of popularity of the entity's records that a name stands for: the same for equal names.
    fn permutation(&self, position: usize, frame: &Frame) -> Result<Permutation, EvalError> {
        let GeneratorArgument::Field(name) = &self.arguments[position] else { return Err(self.unfit()) };
        Ok(Permutation::new(frame.data.len(self.records()?), frame.data.seed, Label::new(name)))
    }

    fn value(&self, position: usize, frame: &mut Frame) -> Result<Value, EvalError> {
        let GeneratorArgument::Value(expression) = &self.arguments[position] else { return Err(self.unfit()) };
        expression.evaluate(frame)
    }

    /// The error of arguments of other kinds than the parameters', which the compiler does not let through.
    fn unfit(&self) -> EvalError {
        EvalError::new(format!("{}: unfit arguments", self.generator.name))
    }

    fn named(&self, error: EvalError) -> EvalError {
        EvalError::new(format!("{}: {error}", self.generator.name))
    }

    fn int(&self, position: usize, frame: &mut Frame) -> Result<i64, EvalError> {
        as_int(&self.value(position, frame)?).map_err(|error| self.named(error))
    }

    /// An argument that is a count or a length; each thing that is made takes `bytes_each` bytes.
    fn length(&self, position: usize, bytes_each: u64, frame: &mut Frame) -> Result<usize, EvalError> {
        let name = self.generator.name;
        match self.int(position, frame)? {
            length @ 0..=LONGEST => budget::take_bytes(length as u64 * bytes_each).map(|()| length as usize),
            length @ ..0 => Err(EvalError::new(format!("{name}: expected a length >= 0, found {length}"))),
            length => Err(EvalError::new(format!("{name}: {length} is too long, the most is {LONGEST}"))),
        }
    }

    fn number(&self, position: usize, frame: &mut Frame) -> Result<f64, EvalError> {
        match self.value(position, frame)? {
            Value::Int(i) => Ok(i as f64),
            Value::Double(d) => Ok(d),
            other => Err(self.named(EvalError::expected("a number", &other))),
        }
    }

    fn numbers(&self, position: usize, frame: &mut Frame) -> Result<Vec<f64>, EvalError> {
        let number = |value| match value {
            Value::Int(i) => Ok(i as f64),
            Value::Double(d) => Ok(d),
            other => Err(self.named(EvalError::expected("numbers", &other))),
        };
        self.list(position, frame)?.into_iter().map(number).collect()
    }

    fn list(&self, position: usize, frame: &mut Frame) -> Result<Vec<Value>, EvalError> {
        items(&self.value(position, frame)?).map_err(|error| self.named(error))
    }
}

/// Both ends included.
fn uniform(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let (a, b) = (call.value(0, frame)?, call.value(1, frame)?);
    let stream = &mut call.stream(frame);
    match (&a, &b) {
        (Value::Int(a), Value::Int(b)) => generate::uniform_int(stream, *a, *b).map(Value::Int).map_err(EvalError::new),
        (Value::Double(a), Value::Double(b)) => {
            generate::uniform_float(stream, *a, *b).map(Value::Double).map_err(EvalError::new)
        }
        _ => {
            let (a, b) = (a.kind(), b.kind());
            Err(EvalError::new(format!("uniform: expected two ints or two doubles, found {a} and {b}")))
        }
    }
}

/// Both ends included.
fn uniform_record(call: &GeneratorCall, from: i64, to: i64, frame: &mut Frame) -> Result<Value, EvalError> {
    let entity = call.records()?;
    let loaded = frame.data.len(entity) as i64;
    if from < 0 || to >= loaded || from > to {
        let name = &frame.data.entities[entity].name;
        let expected = format!("a range within the {loaded} records of `{name}`");
        return Err(EvalError::new(format!("uniform: expected {expected}, found {from} to {to}")));
    }
    let ordinal = generate::uniform_int(&mut call.stream(frame), from, to).map_err(EvalError::new)?;
    Ok(frame.data.reference(entity, ordinal as u64))
}

/// Record 0 is the most popular.
fn zipf(call: &GeneratorCall, exponent: f64, frame: &mut Frame) -> Result<Value, EvalError> {
    let entity = call.records()?;
    let rank = frame.data.popularity(entity, exponent)?.sample(&mut call.stream(frame));
    Ok(frame.data.reference(entity, rank))
}

/// Zipf, counted back from the newest loaded record.
fn latest(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let entity = call.records()?;
    let rank = frame.data.popularity(entity, generate::DEFAULT_EXPONENT)?.sample(&mut call.stream(frame));
    Ok(frame.data.reference(entity, frame.data.len(entity) - 1 - rank))
}

/// Each loaded record and each recent call is as probable as any other.
fn known(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let entity = call.records()?;
    let [_, GeneratorArgument::Operation(calls)] = call.arguments.as_slice() else { return Err(call.unfit()) };
    let (mut stream, loaded) = (call.stream(frame), frame.data.len(entity));
    let place = stream.below((loaded + calls.recent(frame)).max(1));
    if place < loaded {
        return Ok(frame.data.reference(entity, place));
    }
    let ordinal = match calls.before(frame, &mut stream) {
        Some(earlier) => return calls.made(frame, earlier, entity),
        None if loaded > 0 => place % loaded,
        None => FIRST_NEW_RECORD + never(frame.ordinal),
    };
    Ok(frame.data.reference(entity, ordinal))
}

/// A percentage of the draws picks one of the first records, the others pick any.
fn hotspot(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let (entity, records, percent) = (call.records()?, call.int(1, frame)?, call.number(2, frame)?);
    let loaded = frame.data.len(entity);
    if loaded == 0 || records < 1 || records as u64 > loaded || !(0.0..=100.0).contains(&percent) {
        let name = &frame.data.entities[entity].name;
        let message = format!("cannot give {percent} % of the draws to {records} of {loaded} records of `{name}`");
        return Err(EvalError::new(format!("hotspot: {message}")));
    }
    let mut stream = call.stream(frame);
    let bound = if stream.unit() * 100.0 < percent { records as u64 } else { loaded };
    Ok(frame.data.reference(entity, stream.below(bound)))
}

fn date_between(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    match (call.value(0, frame)?, call.value(1, frame)?) {
        (Value::Date(a), Value::Date(b)) => {
            generate::uniform_int(&mut call.stream(frame), a, b).map(Value::Date).map_err(EvalError::new)
        }
        (a, b) => Err(EvalError::new(format!("date_between: expected two dates, found {} and {}", a.kind(), b.kind()))),
    }
}

fn one_of(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let list = call.list(0, frame)?;
    if list.is_empty() {
        return Err(EvalError::new("one_of: the list is empty"));
    }
    Ok(list[call.stream(frame).below(list.len() as u64) as usize].clone())
}

/// An element, in proportion to its weight.
fn weighted(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let (list, weights) = (call.list(0, frame)?, call.numbers(1, frame)?);
    let total: f64 = weights.iter().sum();
    if list.len() != weights.len() {
        return Err(EvalError::new(format!("one_of: {} elements have {} weights", list.len(), weights.len())));
    }
    if weights.iter().any(|weight| *weight < 0.0) || !total.is_finite() || total <= 0.0 {
        return Err(EvalError::new("one_of: expected weights >= 0, of which one is above 0"));
    }
    let mut left = call.stream(frame).unit() * total;
    let chosen = weights.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    // Rounding may lead past the last weight.
    let last = || weights.iter().rposition(|weight| *weight > 0.0);
    Ok(list[chosen.or_else(last).unwrap_or_default()].clone())
}

/// A value between the given ones, linear between neighbours; without percents each gap is equally probable. Ints and dates
/// stay what they are.
fn quantiles(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let values = call.list(0, frame)?;
    let gaps = values.len().saturating_sub(1);
    let percents = match call.arguments.len() {
        1 => (0..=gaps).map(|gap| 100.0 * gap as f64 / gaps.max(1) as f64).collect(),
        _ => call.numbers(1, frame)?,
    };
    let ascends = percents.windows(2).all(|pair| pair[0] <= pair[1]);
    let spans_all = percents.first() == Some(&0.0) && percents.last() == Some(&100.0);
    if gaps == 0 || percents.len() != values.len() || !ascends || !spans_all {
        let expected = "two or more values and as many percents, which ascend from 0 to 100";
        return Err(EvalError::new(format!("quantiles: expected {expected}")));
    }
    let drawn = call.stream(frame).unit() * 100.0;
    let gap = percents.partition_point(|percent| *percent <= drawn).clamp(1, gaps) - 1;
    let within = (drawn - percents[gap]) / (percents[gap + 1] - percents[gap]);
    let between = |a: f64, b: f64| a + (b - a) * within;
    match (&values[gap], &values[gap + 1]) {
        (Value::Int(a), Value::Int(b)) => Ok(Value::Int(between(*a as f64, *b as f64).round() as i64)),
        (Value::Date(a), Value::Date(b)) => Ok(Value::Date(between(*a as f64, *b as f64).round() as i64)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(between(*a, *b))),
        (a, b) => {
            let (a, b) = (a.kind(), b.kind());
            Err(EvalError::new(format!("quantiles: expected only ints, only doubles or only dates, found {a} and {b}")))
        }
    }
}

fn record(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let (entity, position) = (call.records()?, call.int(1, frame)?);
    match u64::try_from(position).ok().filter(|ordinal| *ordinal < frame.data.len(entity).max(frame.ordinal)) {
        Some(ordinal) => Ok(frame.data.reference(entity, ordinal)),
        None => {
            let name = &frame.data.entities[entity].name;
            Err(EvalError::new(format!("record: `{name}` has no record {position}")))
        }
    }
}

/// What the second argument of `new` says.
fn relatives(call: &GeneratorCall, frame: &mut Frame) -> Result<Relatives, EvalError> {
    let entity = call.records()?;
    let given = call.value(1, frame)?;
    let this = &frame.data.entities[entity];
    if let Value::Record(parent) = &given
        && this.parent == Some(parent.entity())
    {
        return Ok(Relatives {
            parent: Some((parent.ordinal(), FIRST_NEW_RECORD + frame.ordinal)),
            children: Vec::new(),
        });
    }
    let Value::Map(lists) = &given else {
        let parent = this.parent.map(|parent| format!("a record of `{}`, or ", frame.data.entities[parent].name));
        let expected = format!("{}a map such as {{'children': 2}}", parent.unwrap_or_default());
        return Err(EvalError::new(format!("new: expected {expected}, found {}", given.kind())));
    };
    let child = |(name, count): &(Arc<str>, Value)| {
        let (name, count) = (&**name, as_int(count).map_err(|error| call.named(error))?);
        let child = this.children.iter().find(|(list, _)| **list == *name);
        let (_, child) =
            child.ok_or_else(|| EvalError::new(format!("new: `{}` has no children `{name}`", this.name)))?;
        let count = u64::try_from(count).ok().filter(|count| *count <= MOST_NEW_CHILDREN);
        let wrong = || EvalError::new(format!("new: expected 0 to {MOST_NEW_CHILDREN} `{name}`"));
        Ok((*child, count.ok_or_else(wrong)?))
    };
    Ok(Relatives { parent: None, children: lists.iter().map(child).collect::<Result<_, _>>()? })
}

/// A record that no other loaded child of the same parent gets. New children do not know the others: they draw any.
fn distinct_child(call: &GeneratorCall, exponent: f64, frame: &mut Frame) -> Result<Value, EvalError> {
    let entity = call.records()?;
    let ranks = frame.data.popularity(entity, exponent)?;
    let (Some(child), Value::Record(parent), Value::Int(number)) =
        (frame.entity, frame.slot(PARENT_SLOT), frame.slot(NUMBER_SLOT))
    else {
        if frame.entity.is_some_and(|child| frame.data.entities[child].parent.is_some()) {
            let rank = ranks.sample(&mut call.stream(frame));
            return Ok(frame.data.reference(entity, rank));
        }
        return Err(EvalError::new("distinct: expected a field of an entity with `of`: children of one parent differ"));
    };
    let siblings = frame.data.children_of(child, parent.ordinal());
    let mut stream = Stream::new(frame.loop_seed(call.label), call.label, parent.ordinal());
    let chosen = popular(ranks, frame.data.len(entity), (siblings.end - siblings.start) as usize, &mut stream)?;
    let rank = match chosen.get(*number as usize) {
        Some(rank) => *rank,
        None => ranks.sample(&mut call.stream(frame)),
    };
    Ok(frame.data.reference(entity, rank))
}

/// `n` different ranks below `bound`, in the order drawn. Where draws repeat too often, the most popular ranks that are left
/// fill the rest.
fn popular(ranks: &Zipf, bound: u64, n: usize, stream: &mut Stream) -> Result<Vec<u64>, EvalError> {
    /// Draws per rank.
    const MOST_DRAWS: usize = 20;
    check_sample(bound, n)?;
    let (mut seen, mut chosen) = (HashSet::with_capacity(n), Vec::with_capacity(n));
    for _ in 0..n * MOST_DRAWS {
        if chosen.len() == n {
            return Ok(chosen);
        }
        let rank = ranks.sample(stream);
        if seen.insert(rank) {
            chosen.push(rank);
        }
    }
    let left = (0..bound).filter(|rank| !seen.contains(rank));
    chosen.extend(left.take(n - chosen.len()));
    Ok(chosen)
}

fn check_sample(bound: u64, n: usize) -> Result<(), EvalError> {
    let wrong = || EvalError::new(format!("sample: cannot draw {n} different elements of {bound}"));
    if n as u64 > bound { Err(wrong()) } else { Ok(()) }
}

/// `n` different numbers below `bound`, in the order drawn.
fn distinct(bound: u64, n: usize, stream: &mut Stream) -> Result<Vec<u64>, EvalError> {
    check_sample(bound, n)?;
    let mut seen = HashSet::with_capacity(n);
    let mut chosen = Vec::with_capacity(n);
    // Floyd's algorithm draws each subset with equal probability, without rejection.
    for top in bound - n as u64..bound {
        let drawn = stream.below(top + 1);
        let number = if seen.contains(&drawn) { top } else { drawn };
        seen.insert(number);
        chosen.push(number);
    }
    Ok(chosen)
}

fn chain(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    /// No tree is that deep; a record that leads back to itself would never end.
    const DEEPEST: usize = 10_000;
    let [_, GeneratorArgument::Field(field)] = call.arguments.as_slice() else { return Err(call.unfit()) };
    let mut links = Vec::new();
    let mut next = Some(call.value(0, frame)?);
    while let Some(Value::Record(record)) = next {
        if links.len() == DEEPEST {
            let message = format!("chain: `{field}` does not end after {DEEPEST} records; is it cyclic?");
            return Err(EvalError::new(message));
        }
        next = record.get(field)?;
        links.push(Value::Record(record));
    }
    Ok(Value::list(links))
}

fn referrers(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let [GeneratorArgument::EntityField(entity, field), _] = call.arguments.as_slice() else {
        return Err(call.unfit());
    };
    let Value::Record(record) = call.value(1, frame)? else {
        return Err(EvalError::new("referrers: expected a record"));
    };
    let index = frame.data.referrers(*entity, field)?;
    let found = index.get(&record.ordinal()).map_or(&[][..], Vec::as_slice);
    Ok(Value::list(found.iter().map(|ordinal| frame.data.reference(*entity, *ordinal)).collect()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::compile::fixture::{evaluate, expression, plan};
    use crate::generate::Seed;

    #[test]
    fn skewed_samples_are_different_records_and_prefer_popular_ones() {
        let ranks = Zipf::new(1_000, 1.2).unwrap();
        let mut firsts = 0;
        for seed in 0..200 {
            let chosen =
                popular(&ranks, 1_000, 20, &mut Stream::new(Seed::new(seed), Label::new("sample"), 0)).unwrap();
            assert_eq!(chosen.iter().collect::<HashSet<_>>().len(), 20);
            firsts += usize::from(chosen.contains(&0));
        }
        // Of 20 draws of the most popular of 1,000 records nearly all samples have one, of 20 equal draws 2 %.
        assert!(firsts > 180, "{firsts}");
        let steep = Zipf::new(5, 60.0).unwrap();
        let mut all = popular(&steep, 5, 5, &mut Stream::new(Seed::new(1), Label::new("sample"), 0)).unwrap();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
    }

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
    fn a_name_stands_for_an_order_of_popularity() {
        let plan = plan("{ a: \"zipf(thing, 3, 'a')\", b: \"zipf(thing, 3, 'b')\" }", "{ find: things }");
        let favourite = |slot: usize| {
            let mut drawn = [0; 10];
            for call in 0..300 {
                let Value::Record(record) = plan.arguments(0, Seed::new(5), call, 2).unwrap().slot(slot).clone() else {
                    unreachable!()
                };
                drawn[record.ordinal() as usize] += 1;
            }
            (0..10).max_by_key(|record| drawn[*record]).unwrap()
        };
        let expected = |name| Permutation::new(10, plan.data.seed, Label::new(name)).place(0) as usize;
        assert_eq!([favourite(0), favourite(1)], [expected("a"), expected("b")]);
        assert_ne!(favourite(0), favourite(1));
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

    proptest! {
        #[test]
        fn a_sample_is_of_different_numbers_below_its_bound(bound in 0_u64..200, n in 0_usize..200, seed in any::<u64>()) {
            prop_assume!(n as u64 <= bound);
            let drawn = distinct(bound, n, &mut Stream::new(Seed::new(seed), Label::new("sample"), 0)).unwrap();
            let different: HashSet<u64> = drawn.iter().copied().collect();
            prop_assert_eq!((drawn.len(), different.len()), (n, n));
            prop_assert!(drawn.iter().all(|number| *number < bound));
        }
    }
}
