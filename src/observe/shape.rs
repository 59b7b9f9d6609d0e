//! The shape of a statement: everything but its values.

use std::collections::HashMap;

/// What a statement does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Verb {
    #[default]
    Read,
    Insert,
    Update,
    Delete,
}

/// What stands in the place of a value. A slot is a number in the `values` of a statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand {
    /// A value, whose hash is in a slot.
    Slot(usize),
    /// A list, whose size is in a slot.
    List(usize),
    /// Null, a boolean, or the sign of what is added.
    Literal(String),
    Document,
    /// What is pulled out of an array.
    Filter(Vec<StatementTerm>),
}

impl Operand {
    /// The slot of a single value.
    pub(super) fn slot(&self) -> Option<usize> {
        if let Operand::Slot(slot) = self { Some(*slot) } else { None }
    }
}

/// One comparison of a filter, or one change of an update.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StatementTerm {
    pub(super) path: String,
    pub(super) operator: String,
    pub(super) operand: Operand,
}

impl StatementTerm {
    pub(super) fn new(path: &str, operator: &str, operand: Operand) -> StatementTerm {
        StatementTerm { path: path.to_owned(), operator: operator.to_owned(), operand }
    }
}

/// What a projection does with a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Projected {
    Out,
    In,
    /// So many items of an array; fewer than none are the last ones.
    Slice(i64),
}

/// What a read returns.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Returns {
    #[default]
    Records,
    Count,
    /// The sum of the field with this path.
    Sum(String),
}

/// A `$lookup` along two fields.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LookupStage {
    pub(super) from: String,
    pub(super) local: String,
    pub(super) foreign: String,
    pub(super) result: String,
}

/// A statement without its values. An aggregation is what a find would say, and its lookups.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct StatementShape {
    pub(super) verb: Verb,
    /// The name of the command.
    pub(super) command: &'static str,
    pub(super) collection: String,
    /// What of it no logical step can say. The rest of the shape is not read then.
    pub(super) unsaid: Option<String>,
    pub(super) filter: Vec<StatementTerm>,
    /// Paths with their directions; 0 is another order.
    pub(super) sort: Vec<(String, i64)>,
    pub(super) projection: Vec<(String, Projected)>,
    /// 0 is none.
    pub(super) limit: i64,
    /// The slot of how many documents are skipped.
    pub(super) skip: Option<usize>,
    pub(super) lookups: Vec<LookupStage>,
    pub(super) returns: Returns,
    pub(super) update: Vec<StatementTerm>,
    pub(super) array_filters: Vec<StatementTerm>,
    pub(super) is_multi: bool,
    pub(super) is_upsert: bool,
    /// The application's own name of the operation, from `comment`.
    pub(super) name: Option<String>,
    /// Whether only the index and the number of uses are known.
    pub(super) from_counters: bool,
}

impl StatementShape {
    /// Everything is empty but these.
    pub(super) fn new(command: &'static str, verb: Verb, collection: &str) -> StatementShape {
        StatementShape { command, verb, collection: collection.to_owned(), ..StatementShape::default() }
    }

    /// What it is, for messages.
    pub(super) fn described(&self) -> String {
        format!("{} on {}", self.command, self.collection)
    }

    /// All its paths.
    pub(super) fn paths(&mut self) -> impl Iterator<Item = &mut String> {
        let terms = self.filter.iter_mut().chain(&mut self.update).map(|term| &mut term.path);
        let sort = self.sort.iter_mut().map(|(path, _)| path);
        let projection = self.projection.iter_mut().map(|(path, _)| path);
        terms.chain(sort).chain(projection)
    }
}

/// Different shapes, each with its number.
#[derive(Debug, Default)]
pub(super) struct ShapeNumbers {
    pub(super) all: Vec<StatementShape>,
    known: HashMap<String, usize>,
}

impl ShapeNumbers {
    /// The number of a shape, which may be new.
    pub(super) fn number(&mut self, shape: StatementShape) -> usize {
        let number = *self.known.entry(format!("{shape:?}")).or_insert(self.all.len());
        if number == self.all.len() {
            self.all.push(shape);
        }
        number
    }
}

/// One statement, or several equal ones of which only the number is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Statement {
    /// The number of its shape.
    pub(super) shape: usize,
    /// Milliseconds since 1970, at its end.
    pub(super) at: i64,
    /// The number of its connection; none if that is not recorded.
    pub(super) connection: Option<usize>,
    /// The number of its transaction.
    pub(super) transaction: Option<usize>,
    /// By slot of the shape: the hash of a value, or a size.
    pub(super) values: Vec<u64>,
    /// How many calls it stands for.
    pub(super) calls: u64,
}
