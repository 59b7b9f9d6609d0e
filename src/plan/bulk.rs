//! `bulkWrite`: many writes that go to the server in few messages.

use bson::RawDocumentBuf;

use super::{EvalError, Expression, Frame, Template, Value, Writer, budget};

/// Many writes, ready to be bound.
#[derive(Debug)]
pub struct Bulk {
    /// Word and collection, for messages: `bulkWrite posts`.
    pub label: String,
    /// Whether the first error ends it.
    pub ordered: bool,
    /// Server error codes of single requests that are no failure.
    pub errors: Vec<i32>,
    /// The slot of `as`.
    pub alias: Option<usize>,
    /// The collection.
    pub(crate) collection: Template,
    /// None inside of a transaction, which has its own.
    pub(crate) write_concern: Option<Value>,
    /// The writes, in order.
    pub(crate) requests: Vec<Request>,
}

/// One write, or one per element of a list.
#[derive(Debug)]
pub(crate) enum Request {
    One(RequestKind, Template),
    Each { slot: usize, list: Expression, item: Box<Request> },
}

/// The server command that a request becomes part of, in the order in which an unordered bulk write sends them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestKind {
    /// `insert`
    Insert,
    /// `update`
    Update,
    /// `delete`
    Delete,
}

impl RequestKind {
    fn name(self) -> &'static str {
        match self {
            RequestKind::Insert => "insert",
            RequestKind::Update => "update",
            RequestKind::Delete => "delete",
        }
    }
}

impl Bulk {
    /// Whether one of its requests deletes.
    pub fn deletes(&self) -> bool {
        self.requests.iter().any(|request| request.kind() == RequestKind::Delete)
    }

    /// The command for requests of this kind, without the requests.
    ///
    /// # Errors
    /// When a slot in the collection's name has no value.
    pub fn head(&self, kind: RequestKind, frame: &mut Frame) -> Result<RawDocumentBuf, EvalError> {
        Writer::document(|writer| {
            self.collection.write(kind.name(), writer, frame)?;
            writer.value("ordered", &Value::Bool(self.ordered))?;
            self.write_concern.iter().try_for_each(|concern| writer.value("writeConcern", concern))
        })
    }

    /// The requests, as the server's commands hold them.
    ///
    /// # Errors
    /// When a slot or a list has no value.
    pub fn bind(&self, frame: &mut Frame) -> Result<Vec<(RequestKind, RawDocumentBuf)>, EvalError> {
        let _level = budget::enter()?;
        let mut bound = Vec::with_capacity(self.requests.len());
        self.requests.iter().try_for_each(|request| request.bind(frame, &mut bound))?;
        Ok(bound)
    }

    /// Whether it is more than one command, as far as is known.
    pub(crate) fn is_several(&self) -> bool {
        self.requests.windows(2).any(|pair| pair[0].kind() != pair[1].kind())
    }
}

impl Request {
    fn kind(&self) -> RequestKind {
        match self {
            Request::One(kind, _) => *kind,
            Request::Each { item, .. } => item.kind(),
        }
    }

    fn bind(&self, frame: &mut Frame, bound: &mut Vec<(RequestKind, RawDocumentBuf)>) -> Result<(), EvalError> {
        match self {
            Request::One(kind, template) => bound.push((*kind, template.bind(frame)?)),
            Request::Each { slot, list, item } => {
                let list = list.evaluate(frame)?;
                for element in list.elements()? {
                    frame.set(*slot, element);
                    item.bind(frame, bound)?;
                }
            }
        }
        Ok(())
    }
}
