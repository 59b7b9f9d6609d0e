//! Calls before the present one, for `earlier`, and the numbers that calls have.

use std::sync::Arc;

use crate::generate::Stream;

use super::expression::{EvalError, Frame};
use super::value::Value;
use super::{Argument, Mix};

/// About so many calls of the operation are looked back over.
const HORIZON: f64 = 100.0;

/// Calls that are made outside of the mix are numbered from here on, every operation having so many numbers of its own.
const ALONE: u64 = 600_000_000;
const NUMBERS: u64 = 1_000_000;

/// Calls from here on are never made.
const NEVER: u64 = 900_000_000;

/// The number of call `number` of an operation that is called alone rather than as its mix draws it.
pub fn alone(operation: usize, number: u64) -> u64 {
    ALONE + operation as u64 * NUMBERS + number
}

/// The calls of one operation, each known from its number alone.
#[derive(Debug)]
pub struct PastCalls {
    /// The operation's name.
    pub name: Arc<str>,
    operation: usize,
    arguments: Arc<[Argument]>,
    mix: Arc<Mix>,
}

impl PastCalls {
    /// Those of an operation under a mix.
    pub fn new((operation, name): (usize, Arc<str>), arguments: Arc<[Argument]>, mix: Arc<Mix>) -> PastCalls {
        PastCalls { name, operation, arguments, mix }
    }

    /// Whether the operation has an argument of this name.
    pub fn has(&self, argument: &str) -> bool {
        self.arguments.iter().any(|known| *known.name == *argument)
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
        let call = self.before(frame, stream).unwrap_or(NEVER + frame.ordinal % ALONE);
        let mut past = Frame::new(&frame.data, frame.seed, call, self.arguments.len());
        past.now = frame.data.call_instant(call);
        let mut made = Vec::with_capacity(self.arguments.len());
        for argument in self.arguments.iter() {
            let value = argument.value.evaluate(&mut past)?;
            past.set(argument.slot, value.clone());
            made.push((Arc::clone(&argument.name), value));
        }
        Ok(Value::Map(made.into()))
    }

    fn before(&self, frame: &Frame, stream: &mut Stream) -> Option<u64> {
        let present = frame.ordinal;
        if present >= ALONE {
            return Some(alone(self.operation, stream.below((present - ALONE) % NUMBERS + 1)));
        }
        let share = self.mix.weights[self.operation] / self.mix.weights.iter().sum::<f64>();
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
    use super::super::trial::chosen;
    use super::super::{Choice, Value};

    const TEXT: &str = "
format: 1
name: trial
title: Trial
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
    fn used(plan: &super::super::Plan, index: u64) -> u64 {
        let frame = plan.arguments(1, plan.round_seed(0), index, 1).unwrap();
        let Some(Value::Record(record)) = frame.slot(0).get("thing") else { unreachable!() };
        record.ordinal() - super::super::record::NEW
    }

    #[test]
    fn earlier_gives_the_arguments_of_one_of_the_last_calls() {
        let plan = chosen(TEXT, &Choice::default());
        let (seed, mut seen) = (plan.round_seed(0), std::collections::HashSet::new());
        for index in 2_000..2_400 {
            let past = used(&plan, index);
            assert!(past < index && index - past <= 600, "{past} before {index}");
            assert_eq!(plan.mix.draw(seed, past), 0);
            assert_eq!(used(&plan, index), past);
            seen.insert(past);
        }
        assert!(seen.len() > 80, "{}", seen.len());
    }

    #[test]
    fn before_the_first_call_there_is_one_that_is_never_made() {
        let plan = chosen(TEXT, &Choice::default());
        assert_eq!(used(&plan, 0), super::NEVER);
        let none = Choice { mix: Some("none".into()), ..Choice::default() };
        assert_eq!(used(&chosen(TEXT, &none), 7), super::NEVER + 7);
    }

    #[test]
    fn calls_made_alone_look_back_on_calls_made_alone() {
        let plan = chosen(TEXT, &Choice::default());
        for number in 0..50 {
            let past = used(&plan, super::alone(1, number));
            assert!((super::alone(0, 0)..=super::alone(0, number)).contains(&past), "{past}");
        }
    }
}
