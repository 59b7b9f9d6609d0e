//! A statement as a server records it, and the reader of commands.

use bson::{Bson, Document};

use super::shape::{StatementShape, Stripper, Verb, names_only};

/// One statement, or several equal ones of which only the number is known.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    /// The number of its shape.
    pub(super) shape: usize,
    /// Milliseconds since 1970, at its end.
    pub(super) at: i64,
    /// The number of its connection; none if that is not recorded.
    pub(super) connection: Option<usize>,
    /// The number of its transaction.
    pub(super) transaction: Option<usize>,
    /// By slot of the shape: the hash of a value, or the size of a list.
    pub(super) values: Box<[u64]>,
    /// How many calls it stands for.
    pub(super) calls: u64,
}

/// What a command is for this module.
#[derive(Debug)]
pub(super) enum Recorded {
    /// Statements with shape and values.
    Statements(Vec<(StatementShape, Vec<u64>)>),
    /// The command around updates or deletes that were recorded one by one before it.
    Header,
    /// The end of a transaction: whether it commits.
    End(bool),
    /// Another batch of a cursor: a part of the statement before.
    GetMore,
    /// No statement of an application.
    Other,
}

/// Reads the command of a log line or profiled statement. `is_remove`: whether a single write is a delete.
pub(super) fn recorded(command: &Document, collection: &str, is_remove: bool, stripper: &mut Stripper<'_>) -> Recorded {
    let Some(first) = command.keys().next() else { return Recorded::Other };
    let one = |shape: StatementShape, stripper: &mut Stripper<'_>| {
        Recorded::Statements(vec![(shape, std::mem::take(&mut stripper.values))])
    };
    match first.as_str() {
        "q" => one(single_write(command, collection, is_remove, stripper), stripper),
        "update" | "delete" => writes(command, first, stripper),
        "commitTransaction" => Recorded::End(true),
        "abortTransaction" => Recorded::End(false),
        "getMore" | "getmore" => Recorded::GetMore,
        name => match command_shape(name, command, stripper) {
            Some(shape) => one(shape, stripper),
            None => Recorded::Other,
        },
    }
}

fn command_shape(name: &str, command: &Document, stripper: &mut Stripper<'_>) -> Option<StatementShape> {
    let verb = match name {
        "find" => Verb::Find,
        "aggregate" => Verb::Aggregate,
        "count" => Verb::Count,
        "distinct" => Verb::Distinct,
        "insert" => Verb::Insert,
        "findAndModify" | "findandmodify" if is_true(command.get("remove")) => Verb::FindAndDelete,
        "findAndModify" | "findandmodify" => Verb::FindAndUpdate,
        _ => return None,
    };
    // `aggregate: 1` has no collection, such as `$currentOp`.
    let mut shape = StatementShape::new(verb, command.get_str(name).ok()?);
    let filter = command.get_document("filter").or_else(|_| command.get_document("query"));
    shape.filter = filter.map(|filter| stripper.filter(filter)).unwrap_or_default();
    shape.sort = command.get_document("sort").map(names_only).unwrap_or_default();
    let projection = command.get_document("projection").or_else(|_| command.get_document("fields"));
    shape.projection = projection.map(names_only).unwrap_or_default();
    shape.limit = number(command.get("limit")).saturating_abs();
    let skip = number(command.get("skip")).unsigned_abs();
    shape.skip = (skip > 0 || command.contains_key("skip")).then(|| stripper.number(skip));
    if let Some(update) = command.get("update").filter(|_| verb == Verb::FindAndUpdate) {
        shape.update = stripper.update(update);
    }
    shape.is_upsert = is_true(command.get("upsert"));
    shape.array_filters = array_filters(command, stripper);
    if let Ok(stages) = command.get_array("pipeline") {
        shape.pipeline = stripper.pipeline(stages);
    }
    Some(shape)
}

fn single_write(command: &Document, collection: &str, is_remove: bool, stripper: &mut Stripper<'_>) -> StatementShape {
    let mut shape = StatementShape::new(if is_remove { Verb::Delete } else { Verb::Update }, collection);
    shape.filter = command.get_document("q").map(|filter| stripper.filter(filter)).unwrap_or_default();
    shape.array_filters = array_filters(command, stripper);
    if let Some(update) = command.get("u").filter(|_| !is_remove) {
        shape.update = stripper.update(update);
    }
    shape.is_multi = is_true(command.get("multi")) || (is_remove && number(command.get("limit")) == 0);
    shape.is_upsert = is_true(command.get("upsert"));
    shape
}

/// The writes of a command that has them all, as a router logs it; without any, it is the command around them.
fn writes(command: &Document, name: &str, stripper: &mut Stripper<'_>) -> Recorded {
    let (Ok(collection), Ok(items)) = (command.get_str(name), command.get_array(format!("{name}s"))) else {
        return Recorded::Header;
    };
    let write = |item: &Document| {
        let shape = single_write(item, collection, name == "delete", stripper);
        (shape, std::mem::take(&mut stripper.values))
    };
    Recorded::Statements(items.iter().filter_map(Bson::as_document).map(write).collect())
}

fn array_filters(command: &Document, stripper: &mut Stripper<'_>) -> Vec<Document> {
    let filters = command.get_array("arrayFilters").map(Vec::as_slice).unwrap_or_default();
    filters.iter().filter_map(Bson::as_document).map(|filter| stripper.filter(filter)).collect()
}

fn is_true(value: Option<&Bson>) -> bool {
    value.and_then(Bson::as_bool).unwrap_or_default()
}

/// A whole number of a command; 0 for none.
pub(super) fn number(value: Option<&Bson>) -> i64 {
    match value {
        Some(Bson::Int32(number)) => i64::from(*number),
        Some(Bson::Int64(number)) => *number,
        Some(Bson::Double(number)) => *number as i64,
        _ => 0,
    }
}
