//! Generators: expressions that draw from the seed, each with a random stream of its own.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use crate::generate::{self, Label, Stream, Zipf, ZipfCount};

use super::expression::{EvalError, Expression, Frame};
use super::past::PastCalls;
use super::record::{Data, NEW};
use super::value::Value;

/// A generator and the label of its stream.
#[derive(Debug)]
pub struct Generator {
    /// Tells this place of the scenario from all others.
    pub label: Label,
    /// What is drawn.
    pub kind: GeneratorKind,
}

/// Records that referred to a record, by its ordinal.
type Referrers = HashMap<u64, Vec<u64>>;

/// What is drawn.
#[derive(Debug)]
pub enum GeneratorKind {
    /// `uniform(a, b)`, both ends included.
    Uniform(Expression, Expression),
    /// `uniform(entity)` and `uniform(entity, from, to)`, both ends included.
    UniformRecord(usize, Option<(Expression, Expression)>),
    /// `zipf(entity, exponent)`: record 0 is the most popular.
    Zipf(usize, f64, OnceLock<Zipf>),
    /// `latest(entity)`: Zipf counted back from the newest loaded record.
    Latest(usize, OnceLock<Zipf>),
    /// `hotspot(entity, records, percent)`: so many percent of the draws fall on the first so many records.
    Hotspot(usize, Expression, Expression),
    /// `normal(mean, deviation)`
    Normal(Expression, Expression),
    /// `zipf_count(mean)`
    ZipfCount(f64, OnceLock<ZipfCount>),
    /// `poisson_count(mean)`
    PoissonCount(Expression),
    /// `oid()`
    ObjectId,
    /// `uuid()`
    Uuid,
    /// `words(n)`
    Words(Expression),
    /// `text(bytes)`
    Text(Expression),
    /// `bytes(n)`
    Bytes(Expression),
    /// `full_name()` and `full_name(n)`: one of `n` different names.
    FullName(Option<Expression>),
    /// `city()`
    City,
    /// `ip()`
    Ip,
    /// `date_between(a, b)`
    DateBetween(Expression, Expression),
    /// `one_of(list)`
    OneOf(Expression),
    /// `new(entity)`: a record that only this call makes.
    New(usize),
    /// `sample(entity, n)`: `n` different records.
    SampleRecords(usize, Expression),
    /// `sample(list, n)`: `n` different elements.
    SampleList(Expression, Expression),
    /// `record(entity, i)`
    Record(usize, Expression),
    /// `all(entity)`: whole, in order.
    All(usize),
    /// `chain(record, field)`: the record, what its field points at, and so on to the root.
    Chain(Expression, Arc<str>),
    /// `referrers(entity.field, record)`: the loaded records of the entity whose field points at the record.
    Referrers(usize, Arc<str>, Expression, OnceLock<Referrers>),
    /// `clock()`
    Clock,
    /// `earlier(operation)`: the arguments of a call before this one.
    Earlier(Arc<PastCalls>),
}

impl Generator {
    /// The entity, when this is `all(entity)`.
    pub fn all(&self) -> Option<usize> {
        match self.kind {
            GeneratorKind::All(entity) => Some(entity),
            _ => None,
        }
    }

    /// The expressions inside.
    pub fn parts(&self) -> Vec<&Expression> {
        use GeneratorKind::*;
        match &self.kind {
            Uniform(a, b) | Normal(a, b) | DateBetween(a, b) | SampleList(a, b) | Hotspot(_, a, b) => vec![a, b],
            UniformRecord(_, Some((a, b))) => vec![a, b],
            PoissonCount(a) | Words(a) | Text(a) | Bytes(a) | FullName(Some(a)) | OneOf(a) => vec![a],
            SampleRecords(_, a) | Record(_, a) | Chain(a, _) | Referrers(_, _, a, _) => vec![a],
            _ => Vec::new(),
        }
    }

    /// Draws a value.
    ///
    /// # Errors
    /// When an argument is of the wrong kind, or there is nothing to draw from.
    pub fn draw(&self, frame: &mut Frame) -> Result<Value, EvalError> {
        use GeneratorKind::*;
        match &self.kind {
            Uniform(a, b) => {
                let (a, b) = (a.evaluate(frame)?, b.evaluate(frame)?);
                uniform(&mut frame.stream(self.label), &a, &b)
            }
            UniformRecord(entity, range) => {
                let range = range.as_ref().map(|(a, b)| Ok((int(a, frame)?, int(b, frame)?))).transpose()?;
                uniform_record(&frame.data, *entity, range, &mut frame.stream(self.label))
            }
            Zipf(entity, exponent, law) => {
                let law = zipf_law(law, &frame.data, *entity, *exponent)?;
                let rank = law.sample(&mut frame.stream(self.label));
                Ok(frame.data.reference(*entity, rank))
            }
            Latest(entity, law) => {
                let law = zipf_law(law, &frame.data, *entity, generate::DEFAULT_EXPONENT)?;
                let rank = law.sample(&mut frame.stream(self.label));
                Ok(frame.data.reference(*entity, frame.data.entities[*entity].len() - 1 - rank))
            }
            Hotspot(entity, records, percent) => {
                let (records, percent) = (int(records, frame)?, number(percent, frame)?);
                hotspot(&frame.data, *entity, (records, percent), &mut frame.stream(self.label))
            }
            Normal(mean, deviation) => {
                let (mean, deviation) = (number(mean, frame)?, number(deviation, frame)?);
                generate::normal(&mut frame.stream(self.label), mean, deviation).map(Value::Double).map_err(wrong)
            }
            ZipfCount(mean, law) => {
                let law = match law.get() {
                    Some(law) => law,
                    None => {
                        let made = generate::ZipfCount::new(*mean).map_err(wrong)?;
                        law.get_or_init(|| made)
                    }
                };
                Ok(Value::Int(law.sample(&mut frame.stream(self.label)) as i64))
            }
            PoissonCount(mean) => {
                let mean = number(mean, frame)?;
                let count = generate::poisson(&mut frame.stream(self.label), mean).map_err(wrong)?;
                Ok(Value::Int(count as i64))
            }
            New(entity) => Ok(frame.data.whole(*entity, NEW + frame.ordinal)),
            SampleRecords(entity, n) => {
                let n = length(n, frame)?;
                let data = Arc::clone(&frame.data);
                let chosen = distinct(data.entities[*entity].len(), n, &mut frame.stream(self.label))?;
                Ok(Value::list(chosen.into_iter().map(|ordinal| data.reference(*entity, ordinal)).collect()))
            }
            SampleList(list, n) => {
                let (list, n) = (list_of(list, frame)?, length(n, frame)?);
                let chosen = distinct(list.len() as u64, n, &mut frame.stream(self.label))?;
                Ok(Value::list(chosen.into_iter().map(|position| list[position as usize].clone()).collect()))
            }
            OneOf(list) => {
                let list = list_of(list, frame)?;
                if list.is_empty() {
                    return Err(EvalError::new("one_of: the list is empty"));
                }
                Ok(list[frame.stream(self.label).below(list.len() as u64) as usize].clone())
            }
            Record(entity, position) => {
                let position = int(position, frame)?;
                let ordinal = u64::try_from(position)
                    .ok()
                    .filter(|at| *at < frame.data.entities[*entity].len().max(frame.ordinal));
                ordinal.map(|ordinal| frame.data.reference(*entity, ordinal)).ok_or_else(|| {
                    EvalError::new(format!("record: `{}` has no record {position}", frame.data.entities[*entity].name))
                })
            }
            All(entity) => {
                let data = &frame.data;
                Ok(Value::list((0..data.entities[*entity].len()).map(|at| data.whole(*entity, at)).collect()))
            }
            Chain(start, field) => chain(start.evaluate(frame)?, field).map(Value::list),
            Referrers(entity, field, record, index) => {
                let Value::Record(record) = record.evaluate(frame)? else {
                    return Err(EvalError::new("referrers: needs a record"));
                };
                let index = index.get_or_init(|| inverse(&frame.data, *entity, field));
                let found = index.get(&record.ordinal()).map_or(&[][..], Vec::as_slice);
                Ok(Value::list(found.iter().map(|ordinal| frame.data.reference(*entity, *ordinal)).collect()))
            }
            Clock => Ok(Value::Date(frame.now)),
            Earlier(calls) => calls.draw(frame, &mut frame.stream(self.label)),
            ObjectId | Uuid | Words(_) | Text(_) | Bytes(_) | FullName(_) | City | Ip | DateBetween(..) => {
                self.scalar(frame)
            }
        }
    }

    /// The generators of plain scalars.
    fn scalar(&self, frame: &mut Frame) -> Result<Value, EvalError> {
        use GeneratorKind::*;
        Ok(match &self.kind {
            ObjectId => Value::ObjectId(bson::oid::ObjectId::from_bytes(generate::object_id(
                frame.seed,
                self.label,
                frame.ordinal,
            ))),
            Uuid => Value::Binary(4, Arc::from(generate::uuid(&mut frame.stream(self.label)))),
            Words(n) => {
                let n = length(n, frame)?;
                Value::Text(generate::words(&mut frame.stream(self.label), n).into())
            }
            Text(bytes) => {
                let bytes = length(bytes, frame)?;
                Value::Text(generate::text(&mut frame.stream(self.label), bytes).into())
            }
            Bytes(n) => {
                let n = length(n, frame)?;
                Value::Binary(0, generate::bytes(&mut frame.stream(self.label), n).into())
            }
            FullName(None) => Value::Text(generate::full_name(&mut frame.stream(self.label)).into()),
            FullName(Some(n)) => {
                let n = length(n, frame)?.max(1) as u64;
                Value::Text(generate::full_name_of(frame.stream(self.label).below(n)).into())
            }
            City => Value::text(generate::city(&mut frame.stream(self.label))),
            Ip => Value::Text(generate::ip(&mut frame.stream(self.label)).into()),
            DateBetween(a, b) => match (a.evaluate(frame)?, b.evaluate(frame)?) {
                (Value::Date(a), Value::Date(b)) => {
                    let drawn = generate::uniform_int(&mut frame.stream(self.label), a, b);
                    Value::Date(drawn.map_err(wrong)?)
                }
                (a, b) => {
                    return Err(EvalError::new(format!(
                        "date_between: needs two dates, not {} and {}",
                        a.kind(),
                        b.kind()
                    )));
                }
            },
            _ => Value::Null,
        })
    }
}

fn wrong(error: impl std::fmt::Display) -> EvalError {
    EvalError::new(error.to_string())
}

fn int(expression: &Expression, frame: &mut Frame) -> Result<i64, EvalError> {
    match expression.evaluate(frame)? {
        Value::Int(i) => Ok(i),
        other => Err(EvalError::new(format!("a generator needs an int, not {}", other.kind()))),
    }
}

fn length(expression: &Expression, frame: &mut Frame) -> Result<usize, EvalError> {
    let length = int(expression, frame)?;
    usize::try_from(length).map_err(|_| EvalError::new(format!("a generator needs a length >= 0, not {length}")))
}

fn number(expression: &Expression, frame: &mut Frame) -> Result<f64, EvalError> {
    match expression.evaluate(frame)? {
        Value::Int(i) => Ok(i as f64),
        Value::Double(d) => Ok(d),
        other => Err(EvalError::new(format!("a generator needs a number, not {}", other.kind()))),
    }
}

fn list_of(expression: &Expression, frame: &mut Frame) -> Result<Vec<Value>, EvalError> {
    let value = expression.evaluate(frame)?;
    match value.items() {
        Some(items) => Ok(items.collect()),
        None => Err(EvalError::new(format!("a generator needs a list, not {}", value.kind()))),
    }
}

fn uniform(stream: &mut Stream, a: &Value, b: &Value) -> Result<Value, EvalError> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => generate::uniform_int(stream, *a, *b).map(Value::Int).map_err(wrong),
        (Value::Double(a), Value::Double(b)) => {
            generate::uniform_float(stream, *a, *b).map(Value::Double).map_err(wrong)
        }
        _ => Err(EvalError::new(format!("uniform: needs two ints or two doubles, not {} and {}", a.kind(), b.kind()))),
    }
}

fn uniform_record(
    data: &Arc<Data>,
    entity: usize,
    range: Option<(i64, i64)>,
    stream: &mut Stream,
) -> Result<Value, EvalError> {
    let loaded = data.entities[entity].len() as i64;
    let (from, to) = range.unwrap_or((0, loaded - 1));
    if from < 0 || to >= loaded || from > to {
        let name = &data.entities[entity].name;
        return Err(EvalError::new(format!("uniform: `{name}` has {loaded} records, none from {from} to {to}")));
    }
    let ordinal = generate::uniform_int(stream, from, to).map_err(wrong)?;
    Ok(data.reference(entity, ordinal as u64))
}

fn hotspot(data: &Arc<Data>, entity: usize, hot: (i64, f64), stream: &mut Stream) -> Result<Value, EvalError> {
    let loaded = data.entities[entity].len();
    let (records, percent) = hot;
    if loaded == 0 || records < 1 || records as u64 > loaded || !(0.0..=100.0).contains(&percent) {
        let name = &data.entities[entity].name;
        return Err(EvalError::new(format!(
            "hotspot: {percent} % of the draws on {records} of {loaded} records of `{name}` is not possible"
        )));
    }
    let bound = if stream.unit() * 100.0 < percent { records as u64 } else { loaded };
    Ok(data.reference(entity, stream.below(bound)))
}

fn zipf_law<'a>(law: &'a OnceLock<Zipf>, data: &Data, entity: usize, exponent: f64) -> Result<&'a Zipf, EvalError> {
    if let Some(law) = law.get() {
        return Ok(law);
    }
    let entity = &data.entities[entity];
    let made = Zipf::new(entity.len(), exponent)
        .map_err(|error| EvalError::new(format!("drawing from `{}`: {error}", entity.name)))?;
    Ok(law.get_or_init(|| made))
}

/// `n` different numbers below `bound`, in the order drawn.
fn distinct(bound: u64, n: usize, stream: &mut Stream) -> Result<Vec<u64>, EvalError> {
    if n as u64 > bound {
        return Err(EvalError::new(format!("sample: {n} different ones of {bound} are not possible")));
    }
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

fn chain(start: Value, field: &str) -> Result<Vec<Value>, EvalError> {
    /// No tree is that deep; a record that leads back to itself would never end.
    const DEEPEST: usize = 10_000;
    let mut links = Vec::new();
    let mut next = Some(start);
    while let Some(Value::Record(record)) = next {
        if links.len() == DEEPEST {
            return Err(EvalError::new(format!(
                "chain: `{field}` leads on beyond {DEEPEST} records, perhaps in a circle"
            )));
        }
        next = record.get(field);
        links.push(Value::Record(record));
    }
    Ok(links)
}

fn inverse(data: &Arc<Data>, entity: usize, field: &str) -> Referrers {
    let mut index = Referrers::new();
    for ordinal in 0..data.entities[entity].len() {
        let Value::Record(record) = data.reference(entity, ordinal) else { continue };
        let value = record.get(field).unwrap_or(Value::Null);
        let targets: Vec<Value> = match value.items() {
            Some(items) => items.collect(),
            None => vec![value.clone()],
        };
        for target in targets {
            if let Value::Record(target) = target {
                index.entry(target.ordinal()).or_default().push(ordinal);
            }
        }
    }
    index
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::trial::{evaluate, expression, plan};
    use super::*;
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
                    .snapshot()
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
    fn generators_refuse_what_cannot_be_drawn() {
        for (text, wanted) in [
            ("words(-1)", "a generator needs a length >= 0, not -1"),
            ("one_of([])", "one_of: the list is empty"),
            ("sample([1, 2], 3)", "sample: 3 different ones of 2 are not possible"),
            ("uniform(1, 2.0)", "uniform: needs two ints or two doubles, not an int and a double"),
            ("date_between(1, 2)", "date_between: needs two dates, not an int and an int"),
        ] {
            let expression = expression(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(evaluate(&expression, &[]).unwrap_err().to_string(), wanted, "{text}");
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
