//! What the application does: operations, how often each is called, and calls before the present one.

use std::sync::Arc;

use crate::generate::{Label, Seed, Stream};

use super::{EvalError, Expression, Frame, LogicalRecord, Shape, Value, brief, call_id};

/// A logical operation.
#[derive(Debug)]
pub struct Operation {
    /// Its name.
    pub name: Arc<str>,
    /// The arguments, each with its slot, in order.
    pub arguments: Arc<[Argument]>,
    /// The type of its result; none when it only acts.
    pub returns: Option<Shape>,
    /// Over its arguments: calls with equal values (or with an element in common, when it is a list) keep their order
    /// when equivalence is verified.
    pub serial: Option<Expression>,
    /// Whether it is a job: calls of other operations while one of it runs are measured apart, too.
    pub is_job: bool,
}

impl Operation {
    /// Writes a call of it, as in `read_page(post: 3, page: 2)`, whose arguments are in the frame.
    pub fn written_call(&self, frame: &Frame) -> String {
        let argument = |argument: &Argument| format!("{}: {}", argument.name, brief(frame.slot(argument.slot)));
        let arguments: Vec<String> = self.arguments.iter().map(argument).collect();
        format!("{}({})", self.name, arguments.join(", "))
    }
}

/// An argument of an operation.
#[derive(Debug)]
pub struct Argument {
    /// Its name.
    pub name: Arc<str>,
    /// Its slot in the frames of every strategy.
    pub slot: usize,
    /// How it is drawn.
    pub value: Expression,
}

/// The shares of the operations.
#[derive(Debug, Clone)]
pub struct Mix {
    /// Its name.
    pub name: String,
    /// A weight >= 0 per operation, in the operations' order.
    pub weights: Vec<f64>,
}

impl Mix {
    /// Returns the names of the operations that it calls, out of those of all.
    pub fn called<'n>(&self, names: &'n [String]) -> impl Iterator<Item = &'n str> {
        let called = names.iter().zip(&self.weights).filter(|(_, weight)| **weight > 0.0);
        called.map(|(name, _)| name.as_str())
    }

    /// The share (0 to 1) of the rarest operation that is called.
    pub fn least_share(&self) -> f64 {
        let called = self.weights.iter().copied().filter(|weight| *weight > 0.0);
        called.fold(f64::INFINITY, f64::min) / self.weights.iter().sum::<f64>()
    }

    /// The operation of call `index`.
    pub fn draw(&self, seed: Seed, index: u64) -> usize {
        const LABEL: Label = Label::new("mix");
        let total: f64 = self.weights.iter().sum();
        let mut left = Stream::new(seed, LABEL, index).unit() * total;
        for (operation, weight) in self.weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return operation;
            }
        }
        self.weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(0)
    }
}

/// How many calls of the operation `earlier` and `known` look back over, on average.
const HORIZON: f64 = 100.0;

/// The calls of one operation, each known from its number alone.
#[derive(Debug)]
pub struct EarlierCalls {
    /// The operation's name.
    pub name: Arc<str>,
    operation: usize,
    arguments: Arc<[Argument]>,
    mix: Arc<Mix>,
}

impl EarlierCalls {
    /// The calls of the operation at this position, under a mix.
    pub fn new(position: usize, operation: &Operation, mix: &Arc<Mix>) -> EarlierCalls {
        let (name, arguments) = (Arc::clone(&operation.name), Arc::clone(&operation.arguments));
        EarlierCalls { name, operation: position, arguments, mix: Arc::clone(mix) }
    }

    /// The names of the operation's arguments.
    pub fn names(&self) -> Vec<&str> {
        self.arguments.iter().map(|argument| &*argument.name).collect()
    }

    /// The arguments, as a map, of a call before the one that the frame belongs to. Where there is none yet, those of a
    /// call that is never made, so that nothing is found by them.
    ///
    /// # Errors
    /// When an argument cannot be drawn.
    pub fn draw(&self, frame: &Frame, stream: &mut Stream) -> Result<Value, EvalError> {
        let call = self.before(frame, stream).unwrap_or_else(|| call_id::never(frame.ordinal));
        Ok(Value::Map(self.arguments_of(frame, call)?.into()))
    }

    fn arguments_of(&self, frame: &Frame, call: u64) -> Result<Vec<(Arc<str>, Value)>, EvalError> {
        let mut earlier = Frame::new(&frame.data, frame.seed, call, self.arguments.len());
        earlier.now = frame.data.call_instant(call);
        let mut made = Vec::with_capacity(self.arguments.len());
        for argument in self.arguments.iter() {
            let value = argument.value.evaluate(&mut earlier)?;
            earlier.set(argument.slot, value.clone());
            made.push((Arc::clone(&argument.name), value));
        }
        Ok(made)
    }

    /// Returns the record of an entity that call `call` makes, as a reference.
    ///
    /// # Errors
    /// When an argument cannot be drawn.
    pub fn made(&self, frame: &Frame, call: u64, entity: usize) -> Result<Value, EvalError> {
        let ordinal = call_id::FIRST_NEW_RECORD + call;
        // Only the arguments of the call say who its parent is.
        if self.arguments.iter().any(|argument| argument.value.makes_with_relatives(entity)) {
            let arguments = self.arguments_of(frame, call)?;
            let is_made = |record: &&Arc<dyn LogicalRecord>| record.entity() == entity && record.ordinal() == ordinal;
            let mut records = arguments.iter().filter_map(|(_, value)| value.as_record());
            if let Some(record) = records.find(is_made) {
                return Ok(record.reference());
            }
        }
        Ok(frame.data.reference(entity, ordinal))
    }

    /// Whether a call makes a record of an entity.
    pub fn makes(&self, entity: usize) -> bool {
        self.arguments.iter().any(|argument| argument.value.makes(entity))
    }

    /// About how many calls [`before`](Self::before) draws from.
    pub fn recent(&self, frame: &Frame) -> u64 {
        let calls = match call_id::sample_number(frame.ordinal) {
            Some(number) => (number + 1) as f64,
            None => frame.ordinal as f64 * self.share(),
        };
        calls.min(HORIZON) as u64
    }

    /// The share of the operation in the mix.
    fn share(&self) -> f64 {
        self.mix.weights[self.operation] / self.mix.weights.iter().sum::<f64>()
    }

    /// A call before the one that the frame belongs to; `None` where there is none yet.
    pub fn before(&self, frame: &Frame, stream: &mut Stream) -> Option<u64> {
        let present = frame.ordinal;
        if let Some(number) = call_id::sample_number(present) {
            return Some(call_id::sample(self.operation, stream.below(number + 1)));
        }
        let share = self.share();
        if share == 0.0 || present == 0 {
            return None;
        }
        let first = present.saturating_sub((HORIZON / share).ceil() as u64);
        let start = first + stream.below(present - first);
        let mut nearest = (first..=start).rev().chain(start + 1..present);
        nearest.find(|call| self.mix.draw(frame.seed, *call) == self.operation)
    }
}

#[cfg(test)]
mod tests {
    use crate::compile::Choice;
    use crate::compile::fixture::chosen;

    use super::super::{Plan, Value, call_id};

    const TEXT: &str = "
format: 1
name: test
title: Test
entities:
  thing: { count: 10, fields: { _id: index } }
operations:
  make: { arguments: { thing: new(thing), at: clock() } }
  use: { arguments: { made: earlier(make) } }
mixes: { default: { make: 1, use: 4 }, none: { use: 1 } }
strategies:
  plain:
    collections: { things: { each: thing } }
    operations:
      make: { insertOne: things, document: <thing> }
      use: { deleteOne: things, filter: { _id: <made.thing> } }
";

    /// The number of the call whose record call `index` uses.
    fn used(plan: &Plan, index: u64) -> u64 {
        let frame = plan.arguments(1, plan.round_seed(0), index, 1).unwrap();
        let Some(Value::Record(record)) = frame.slot(0).get("thing").unwrap() else { unreachable!() };
        record.ordinal() - call_id::FIRST_NEW_RECORD
    }

    #[test]
    fn earlier_draws_from_recent_calls() {
        let plan = chosen(TEXT, &Choice::default());
        let (seed, mut seen) = (plan.round_seed(0), std::collections::HashSet::new());
        for index in 2_000..2_400 {
            let earlier = used(&plan, index);
            assert!(earlier < index && index - earlier <= 600, "{earlier} before {index}");
            assert_eq!(plan.mix.draw(seed, earlier), 0);
            assert_eq!(used(&plan, index), earlier);
            seen.insert(earlier);
        }
        assert!(seen.len() > 80, "{}", seen.len());
    }

    #[test]
    fn earlier_of_nothing_is_a_call_that_is_never_made() {
        let plan = chosen(TEXT, &Choice::default());
        assert_eq!(used(&plan, 0), call_id::NEVER.start);
        let none = Choice { mix: Some("none".into()), ..Choice::default() };
        assert_eq!(used(&chosen(TEXT, &none), 7), call_id::never(7));
    }

    #[test]
    fn known_records_are_loaded_or_made_by_recent_calls() {
        let text =
            TEXT.replace("made: earlier(make)", "made: \"known(thing, make)\"").replace("made.thing", "made._id");
        let plan = chosen(&text, &Choice::default());
        let ordinal = |index: u64| {
            let frame = plan.arguments(1, plan.round_seed(0), index, 1).unwrap();
            let Value::Record(record) = frame.slot(0) else { unreachable!() };
            record.ordinal()
        };
        assert!((0..4).all(|index| ordinal(index) < 10), "there are no earlier calls yet");
        let drawn: Vec<(u64, u64)> = (2_000..3_000).map(|index| (index, ordinal(index))).collect();
        let (loaded, made): (Vec<_>, Vec<_>) = drawn.into_iter().partition(|(_, ordinal)| *ordinal < 10);
        assert!((50..150).contains(&loaded.len()), "10 of about 110 records are loaded, {} draws", loaded.len());
        for (index, ordinal) in made {
            let call = ordinal - call_id::FIRST_NEW_RECORD;
            assert!(call < index && index - call <= 600 && plan.mix.draw(plan.round_seed(0), call) == 0);
        }
    }

    #[test]
    fn own_cost_calls_look_back_on_own_cost_calls() {
        let plan = chosen(TEXT, &Choice::default());
        for number in 0..50 {
            let earlier = used(&plan, call_id::sample(1, number));
            assert!((call_id::sample(0, 0)..=call_id::sample(0, number)).contains(&earlier), "{earlier}");
        }
    }
}
