//! What will run: a scenario with every name resolved, every document compiled and every choice made.

mod audit;
mod bulk;
mod choice;
mod claim;
mod command;
mod compile;
mod document;
mod entity;
mod expression;
mod extended;
mod function;
mod generator;
mod generator_call;
mod inherit;
mod parameter;
mod past;
mod program;
mod raw;
mod record;
mod rehearsal;
mod reply;
mod resolve;
mod scope;
mod shape;
mod skeleton;
mod slip;
mod steps;
mod strategy;
mod syntax;
mod template;
#[cfg(test)]
mod trial;
mod value;
mod writer;
mod writes;

use std::sync::Arc;

pub use crate::scenario::Caught;

use crate::generate::{Label, Seed, Stream};

pub use audit::{Audit, OutcomeCounts};
pub use bulk::{Bulk, RequestKind};
pub use choice::{Choice, ChoiceError};
pub use command::Concerns;
pub use compile::compile;
pub(crate) use document::path_length;
pub use expression::{EvalError, Expression, Frame, truth};
pub use function::{find as find_function, outcome};
pub use inherit::inherit;
pub use past::alone;
pub use program::{Command, Implicit, Program, ReplyShape, Step};
pub use raw::Raw;
pub use record::{Data, Entity};
pub use shape::{Shape, canonical_rows, written};
pub use skeleton::Skeleton;
pub use template::Template;
pub use value::{Outcome, Value};
pub use writer::{Writer, index_key};

/// A scenario, resolved. Immutable: the engine only reads it.
#[derive(Debug)]
pub struct Plan {
    /// The scenario's name.
    pub name: String,
    /// The question.
    pub title: String,
    /// What the application does.
    pub about: String,
    /// Parameters and their values, in order.
    pub parameters: Vec<(Arc<str>, Value)>,
    /// The seed that everything is drawn from.
    pub seed: u64,
    /// The logical data.
    pub data: Arc<Data>,
    /// The operations.
    pub operations: Vec<Operation>,
    /// How often each operation is called.
    pub mix: Arc<Mix>,
    /// The strategies that run, the reference first.
    pub arms: Vec<Arm>,
    /// What every command carries.
    pub concerns: Concerns,
}

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

/// One strategy, resolved.
#[derive(Debug)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// A negative control: measured, left out of verdicts.
    pub is_unsafe: bool,
    /// The reference a second time: whatever difference it shows is noise.
    pub is_control: bool,
    /// Its collections.
    pub collections: Vec<Collection>,
    /// Steps after the collections are filled.
    pub load: Option<Program>,
    /// A program per operation, in the operations' order.
    pub operations: Vec<Program>,
    /// A program per entity, in the entities' order, that returns its logical rows.
    pub state: Vec<Program>,
    /// What must hold of its data.
    pub audits: Vec<Audit>,
}

/// One collection of a strategy.
#[derive(Debug)]
pub struct Collection {
    /// Its name.
    pub name: String,
    /// Nested loops; a document is made in the innermost. `None`: the collection starts empty.
    pub loops: Option<Vec<Loop>>,
    /// The document.
    pub document: Template,
    /// Slots of a frame for the loops and the document.
    pub slots: usize,
    /// The index documents, an array template.
    pub indexes: Template,
}

/// A loop of a collection's `each`.
#[derive(Debug)]
pub struct Loop {
    /// The name's slot.
    pub slot: usize,
    /// What it runs over.
    pub over: LoopOver,
}

/// What a loop runs over.
#[derive(Debug)]
pub enum LoopOver {
    /// All records of an entity, made one at a time.
    Entity(usize),
    /// A list.
    List(Expression),
}

impl Mix {
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

impl Plan {
    /// The seed of a round's calls. The data are the same in every round.
    pub fn round_seed(&self, round: u64) -> Seed {
        const LABEL: Label = Label::new("round");
        Seed::new(self.seed).derive(LABEL, round)
    }

    /// Draws call `index` of a round: which operation, and a frame that holds its arguments.
    ///
    /// # Errors
    /// When an argument cannot be drawn, which is a mistake of the scenario.
    pub fn draw(&self, seed: Seed, index: u64, arm: usize) -> Result<(usize, Frame), EvalError> {
        let operation = self.mix.draw(seed, index);
        let frame = self.arguments(operation, seed, index, self.arms[arm].operations[operation].slots)?;
        Ok((operation, frame))
    }

    /// A frame with `slots` slots that holds the arguments of call `index`.
    ///
    /// # Errors
    /// As [`Plan::draw`].
    pub fn arguments(&self, operation: usize, seed: Seed, index: u64, slots: usize) -> Result<Frame, EvalError> {
        let mut frame = Frame::new(&self.data, seed, index, slots);
        frame.now = self.data.call_instant(index);
        for argument in self.operations[operation].arguments.iter() {
            let value = argument.value.evaluate(&mut frame).map_err(|error| {
                let operation = &self.operations[operation].name;
                EvalError::new(format!("argument `{}` of `{operation}`: {error}", argument.name))
            })?;
            // An application has what it inserts at hand: making it is not part of what a strategy costs.
            if let Value::Record(record) = &value
                && record.is_whole()
            {
                record.prepare();
            }
            frame.set(argument.slot, value);
        }
        Ok(frame)
    }
}
