//! The variables of an evaluation.

use std::sync::Arc;

use crate::generate::{Label, Seed, Stream};

use super::{Data, Value};

/// The variables of one evaluation, and what generators need to know.
#[derive(Debug)]
pub struct Frame {
    /// The logical data.
    pub data: Arc<Data>,
    /// The seed that generators draw from.
    pub seed: Seed,
    /// The number of the record or call that draws.
    pub ordinal: u64,
    /// The instant that `clock()` gives, in milliseconds since the epoch.
    pub now: i64,
    /// The entity whose record draws; none in a call.
    pub(super) entity: Option<usize>,
    /// The variables; a copy of them is put back before the next attempt.
    pub slots: Vec<Value>,
    /// Identifies the iteration of enclosing `map`s and the like, so that a generator inside draws anew in each.
    pub(super) iteration: u64,
}

impl Frame {
    /// A frame whose slots are all null.
    pub fn new(data: &Arc<Data>, seed: Seed, ordinal: u64, slots: usize) -> Frame {
        let slots = vec![Value::Null; slots];
        Frame { data: Arc::clone(data), seed, ordinal, now: 0, entity: None, slots, iteration: 0 }
    }

    /// The value in a slot.
    pub fn slot(&self, slot: usize) -> &Value {
        &self.slots[slot]
    }

    /// Puts a value into a slot, making room when an expression brings slots of its own.
    pub fn set(&mut self, slot: usize, value: Value) {
        if slot >= self.slots.len() {
            self.slots.resize(slot + 1, Value::Null);
        }
        self.slots[slot] = value;
    }

    /// The random stream of the generator with this label.
    pub fn stream(&self, label: Label) -> Stream {
        Stream::new(self.loop_seed(label), label, self.ordinal)
    }

    /// The seed of the generator with this label, which differs between the iterations of a loop.
    pub fn loop_seed(&self, label: Label) -> Seed {
        if self.iteration == 0 { self.seed } else { self.seed.derive(label, self.iteration) }
    }
}
