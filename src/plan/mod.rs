//! What will run: a scenario with every name resolved, every document compiled and every choice made.

pub(crate) mod audit;
mod budget;
pub(crate) mod bulk;
pub mod call_id;
pub(crate) mod data;
mod data_file;
mod draw;
pub(crate) mod expression;
pub(crate) mod feature;
mod frame;
pub(crate) mod function;
pub(crate) mod generator;
mod identical;
pub(crate) mod json;
mod memo;
pub(crate) mod model;
pub(crate) mod operation;
pub(crate) mod operator;
pub(crate) mod program;
pub(crate) mod raw;
mod shape;
pub(crate) mod shard;
pub(crate) mod skeleton;
pub(crate) mod template;
pub(crate) mod value;
pub(crate) mod writer;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::generate::{Label, Seed};

pub use audit::{Audit, OutcomeCounts};
pub use budget::{checking, spent_share};
pub use bulk::{Bulk, RequestKind};
pub use data::{Data, DataClock, Entity};
pub use data_file::DataFile;
pub use expression::{Expression, truth};
pub use frame::Frame;
pub use function::{find as find_function, outcome};
pub use model::{LogicalModel, LogicalOperation};
pub use operation::{Argument, Mix, Operation};
pub use program::{Caught, Command, Concerns, Implicit, Places, Program, ReplyShape, Retry, Step, While};
pub use raw::Raw;
pub use shape::{RowField, Shape, brief, written};
pub use shard::{ShardField, ShardKey, Sharding};
pub use skeleton::Skeleton;
pub use template::Template;
pub use value::{EvalError, LogicalRecord, Outcome, Value};
pub use writer::{Writer, index_key};

/// A scenario, resolved. Immutable: the engine only reads it. Cloning copies little.
#[derive(Debug, Clone)]
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
    /// The logical data, of one round.
    pub data: Arc<Data>,
    /// The operations.
    pub operations: Arc<[Operation]>,
    /// What the operations do to records, by their `does`; `None` where no operation has it.
    pub model: Option<Arc<LogicalModel>>,
    /// How often each operation is called.
    pub mix: Arc<Mix>,
    /// The strategies that run, the baseline first.
    pub arms: Arc<[Arm]>,
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
    /// The strategy at the end of its line of `like`, or itself: strategies of one family share steps.
    pub family: String,
    /// A negative control: measured, left out of verdicts.
    pub is_unsafe: bool,
    /// The repeat of the baseline: any difference from it is noise.
    pub is_repeat: bool,
    /// Whether two calls at the same time may lead to what neither order of them leads to.
    pub tolerates_pairs: bool,
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
    /// The name as written: that of one of several collections has a slot, `logs_<k>`, and is in reports with the others.
    pub written: String,
    /// Nested loops; a document is made in the innermost. `None`: the collection starts empty.
    pub loops: Option<Vec<Loop>>,
    /// The options of `create`, a document template; `None`: those of the server.
    pub options: Option<Template>,
    /// Whether documents that are too large for the server are left out, rather than an error.
    pub skips_large: bool,
    /// The order of the documents.
    pub load_order: LoadOrder,
    /// The document.
    pub document: Template,
    /// Slots of a frame for the loops and the document.
    pub slots: usize,
    /// The index documents, an array template.
    pub indexes: Template,
    /// How it is sharded; `None`: it is not.
    pub sharding: Option<Sharding>,
    /// The shard keys that are judged for it, besides that of `sharding`.
    pub shard_keys: Vec<ShardKey>,
}

/// The order in which the documents of a collection are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadOrder {
    /// Those of one parent among those of the others, as applications write them. Their parents are those of the
    /// outermost loop's records or, where these have none, the records themselves.
    Interleaved,
    /// That of the loops.
    Grouped,
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

impl Arm {
    /// Returns the collections, those of one `for` together.
    pub fn series(&self) -> impl Iterator<Item = &[Collection]> {
        self.collections.chunk_by(|one, next| one.written == next.written)
    }
}

impl Plan {
    /// The same plan with the data of a round. Those of round 0 are what `check` looks at and `verify` loads; others have
    /// a seed of their own, so that what a run finds does not hang on one data set.
    ///
    /// # Errors
    /// When a count has no value with the round's seed.
    pub fn of_round(&self, round: u64) -> Result<Plan, EvalError> {
        const LABEL: Label = Label::new("data");
        let base = Seed::new(self.seed);
        let seed = if round == 0 { base } else { base.derive(LABEL, round) };
        let data = if seed == self.data.seed { Ok(Arc::clone(&self.data)) } else { self.data.of_seed(seed) };
        let data = data.map_err(|error| EvalError::new(format!("data of round {round}: {error}")))?;
        Ok(Plan { data, ..self.clone() })
    }

    /// The commands of operations, each with its place.
    pub fn commands(&self) -> impl Iterator<Item = (&str, &Command)> {
        self.arms.iter().filter(|arm| !arm.is_repeat).flat_map(|arm| &arm.operations).flat_map(Program::commands)
    }

    /// The read concerns of operations, separated by commas.
    pub fn read_concerns(&self) -> String {
        let own = self.commands().filter_map(|(_, command)| command.read_concern.as_deref());
        let all: BTreeSet<&str> = own.chain([self.concerns.read.as_str()]).collect();
        all.into_iter().collect::<Vec<_>>().join(", ")
    }

    /// The seed of a round's calls.
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

#[cfg(test)]
mod tests {
    use crate::compile::Choice;
    use crate::compile::fixture::chosen;

    use super::*;

    const TEXT: &str = "
format: 1
name: test
title: Test
entities:
  post: { count: 20, fields: { _id: index, title: words(3), popular: 'latest(post).index' } }
  comment: { of: post, as: comments, count: zipf_count(4), fields: { _id: index, text: words(2), to: zipf(post) } }
operations:
  write: { arguments: { made: new(comment), post: zipf(post) } }
  read: { arguments: { wrote: earlier(write), post: 'record(post, 3)' }, returns: value }
mixes: { default: { write: 1, read: 1 } }
strategies:
  plain:
    collections: { posts: { each: post }, comments: { each: comment } }
    operations:
      write: { insertOne: comments, document: <made> }
      read: { return: 'referrers(comment.to, post).map(x, x.index)' }
";

    fn records(plan: &Plan, entity: usize) -> Vec<String> {
        (0..plan.data.len(entity)).map(|ordinal| written(&plan.data.whole(entity, ordinal))).collect()
    }

    fn answer(plan: &Plan, call: u64) -> String {
        let program = &plan.arms[0].operations[1];
        let Step::Return(value) = &program.steps[1] else { unreachable!() };
        let mut frame = plan.arguments(1, plan.round_seed(0), call, program.slots).unwrap();
        written(&value.evaluate(&mut frame).unwrap())
    }

    #[test]
    fn of_round_draws_other_records_of_the_same_kind() {
        let plan = chosen(TEXT, &Choice::default());
        assert!(Arc::ptr_eq(&plan.of_round(0).unwrap().data, &plan.data));
        let (first, second) = (plan.of_round(1).unwrap(), plan.of_round(2).unwrap());
        for entity in [0, 1] {
            let drawn = [records(&plan, entity), records(&first, entity), records(&second, entity)];
            assert!(drawn[0] != drawn[1] && drawn[0] != drawn[2] && drawn[1] != drawn[2]);
            assert_eq!(records(&plan.of_round(1).unwrap(), entity), drawn[1]);
            assert_eq!(records(&first.of_round(0).unwrap(), entity), drawn[0]);
        }
        assert_eq!((plan.data.len(0), first.data.len(0), second.data.len(0)), (20, 20, 20));
        assert_ne!(plan.data.len(1), first.data.len(1));
    }

    #[test]
    fn of_round_draws_calls_from_its_own_records() {
        let plan = chosen(TEXT, &Choice::default());
        for plan in [&plan, &plan.of_round(1).unwrap(), &plan] {
            let to_post = |ordinal: &u64| {
                plan.data.reference(1, *ordinal).field("to").and_then(|to| to.field("index")) == Ok(Value::Int(3))
            };
            let expected: Vec<String> =
                (0..plan.data.len(1)).filter(to_post).map(|ordinal| ordinal.to_string()).collect();
            assert_eq!(answer(plan, 7), format!("[{}]", expected.join(", ")));
            let read = plan.arguments(1, plan.round_seed(0), 40, 2).unwrap();
            let earlier = read.slot(0).field("made").unwrap();
            let Value::Record(record) = &earlier else { unreachable!() };
            let write = plan.arguments(0, plan.round_seed(0), record.ordinal() - call_id::FIRST_NEW_RECORD, 2).unwrap();
            assert_eq!(written(write.slot(0)), written(&earlier));
        }
    }

    #[test]
    fn of_round_says_which_count_fails() {
        // Less than 0 for one of the twenty posts in about one data set of thirty.
        let plan = chosen(&TEXT.replace("zipf_count(4)", "'3 - poisson_count(0.5)'"), &Choice::default());
        let failing = (1..300).find_map(|round| plan.of_round(round).err());
        let message = failing.unwrap().to_string();
        assert!(message.starts_with("data of round ") && message.contains("the count of `comment`"), "{message}");
    }
}
