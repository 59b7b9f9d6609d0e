//! What operations do to records, whatever the schema: `does`, with every name resolved.

use std::sync::Arc;

use super::{Expression, Step, Template};

/// The logical steps of all operations.
#[derive(Debug)]
pub struct LogicalModel {
    /// By operation; where there are no steps that can be executed, why.
    pub operations: Vec<Result<LogicalOperation, String>>,
}

/// What a call does.
#[derive(Debug)]
pub struct LogicalOperation {
    /// In order; a write is the last one, and gives the outcome.
    pub steps: Vec<ModelStep>,
    /// Slots of a frame for it.
    pub slots: usize,
    /// The slot of `reply`.
    pub reply: usize,
}

/// A step of an operation.
#[derive(Debug)]
pub enum ModelStep {
    /// Its reply is that of the operation, and is in the slot of `as`.
    Read(Box<LogicalRead>, Option<usize>),
    /// One write, or several of which all or none take effect.
    Write(Vec<LogicalWrite>),
    /// `let`, `if`, `forEach` or `return`.
    Other(Vec<Step>),
}

/// `get`, `list`, `count` or `sum`.
#[derive(Debug)]
pub struct LogicalRead {
    /// The records that it begins with.
    pub subject: ReadStart,
    /// Their entity.
    pub entity: usize,
    /// Which of them, and what of each.
    pub part: ListPart,
    /// Related records that are added to each.
    pub with: Vec<Included>,
    /// What is returned of them.
    pub gives: Gives,
}

/// Related records that are added to a record.
#[derive(Debug)]
pub struct Included {
    /// The name of the relation.
    pub name: Arc<str>,
    /// Where it leads.
    pub relation: RelationWay,
    /// Which of them, and what of each.
    pub part: ListPart,
    /// Related records that are added to each of them.
    pub with: Vec<Included>,
}

/// What a read returns of its records.
#[derive(Debug)]
pub enum Gives {
    /// The only one, or null.
    Record,
    /// All.
    List,
    /// How many.
    Count,
    /// The sum of a field.
    Sum(Arc<str>),
}

/// Where a read begins.
#[derive(Debug)]
pub enum ReadStart {
    /// All records of the entity.
    All,
    /// The record of an argument, found by its values of these fields.
    Record(Expression, Vec<Arc<str>>),
    /// The records to which a relation leads from a record of an entity.
    Related(Expression, usize, RelationWay),
}

/// From a record to others.
#[derive(Debug, Clone)]
pub struct RelationWay {
    /// The entity of the others.
    pub entity: usize,
    /// The field that has the `_id`s.
    pub field: Arc<str>,
    /// Whether it is a field of the others.
    pub is_inverse: bool,
    /// Whether there is at most one other.
    pub is_one: bool,
}

/// A part of a list of records.
#[derive(Debug, Default)]
pub struct ListPart {
    /// `where`
    pub condition: Option<Template>,
    /// The fields of the order, and whether it descends.
    pub sort: Vec<(Arc<str>, bool)>,
    /// Only what comes after this record in the order.
    pub after: Option<Expression>,
    /// The number of the page, from 1.
    pub page: Option<Expression>,
    /// The most records.
    pub limit: Option<Expression>,
    /// The fields; none: all.
    pub fields: Vec<Arc<str>>,
}

/// A write. Records are those of arguments.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a scenario has few")]
pub enum LogicalWrite {
    /// `create`
    Create {
        /// The entity.
        entity: usize,
        /// The record.
        record: Expression,
        /// `in`
        parent: Option<Expression>,
        /// The lists of children that are created with it.
        with: Vec<(Arc<str>, usize)>,
    },
    /// `update`
    Update {
        /// The entity.
        entity: usize,
        /// The record.
        record: Expression,
        /// New values.
        set: Option<Template>,
        /// What is added.
        inc: Option<Template>,
        /// The entity of the parent that `set` names.
        moves_to: Option<usize>,
        /// `if` and `else`
        condition: Option<(Template, Expression)>,
        /// The field whose new value is returned.
        returning: Option<Arc<str>>,
    },
    /// `delete`, with all children.
    Delete {
        /// The entity.
        entity: usize,
        /// The record.
        record: Expression,
    },
    /// `add` and `remove`
    Link {
        /// Whether it adds.
        adds: bool,
        /// The record.
        record: Expression,
        /// The record with the list, and its entity.
        owner: (Expression, usize),
        /// The list.
        field: Arc<str>,
    },
}
