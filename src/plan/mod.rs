//! What will run: a scenario with every name resolved, every document compiled and every choice made.

pub(crate) mod audit;
pub(crate) mod bulk;
pub mod call_id;
pub(crate) mod data;
pub(crate) mod expression;
pub(crate) mod function;
pub(crate) mod generator;
pub(crate) mod operation;
pub(crate) mod program;
pub(crate) mod raw;
mod shape;
pub(crate) mod skeleton;
pub(crate) mod template;
pub(crate) mod value;
pub(crate) mod writer;

use std::sync::Arc;

use crate::generate::{Label, Seed};

pub use audit::{Audit, OutcomeCounts};
pub use bulk::{Bulk, RequestKind};
pub use data::{Data, Entity};
pub use expression::{Expression, Frame, truth};
pub use function::{find as find_function, outcome};
pub use operation::{Argument, Mix, Operation};
pub use program::{Caught, Command, Concerns, Implicit, Program, ReplyShape, Step, While};
pub use raw::Raw;
pub use shape::{Shape, written};
pub use skeleton::Skeleton;
pub use template::Template;
pub use value::{EvalError, LogicalRecord, Outcome, Value};
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
    /// The strategies that run, the baseline first.
    pub arms: Vec<Arm>,
    /// What every command carries.
    pub concerns: Concerns,
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
    /// The repeat of the baseline: any difference from it is noise.
    pub is_repeat: bool,
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
            let value = argument.value.evaluate(&mut frame).and_then(drawn).map_err(|error| {
                let operation = &self.operations[operation].name;
                EvalError::new(format!("argument `{}` of `{operation}`: {error}", argument.name))
            })?;
            frame.set(argument.slot, value);
        }
        Ok(frame)
    }
}

/// Draws the fields of a new record: an application has what it inserts at hand, so that making it is not part of what
/// a strategy costs.
fn drawn(value: Value) -> Result<Value, EvalError> {
    if let Value::Record(record) = &value
        && record.is_whole()
    {
        record.draw()?;
    }
    Ok(value)
}
