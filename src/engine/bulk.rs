//! Many writes in few messages.

use std::sync::Arc;

use bson::RawDocumentBuf;
use bson::raw::{CStr, cstr};

use crate::plan::{Bulk, Frame, ReplyShape, RequestKind, Value};
use crate::server::{Failure, Reply, ReplyKind, Target};

use super::answer::{upserted, written};
use super::batch::{batches, with_parts};
use super::interpret::{Halt, Interpreter, wrong};

/// Requests of one kind that go together.
struct Group {
    kind: RequestKind,
    /// Their positions among all requests of the step.
    positions: Vec<usize>,
    parts: Vec<RawDocumentBuf>,
}

/// What the requests came to so far.
#[derive(Default)]
struct Sum {
    matched: i64,
    modified: i64,
    inserted: i64,
    deleted: i64,
    /// The `_id` of the first document that an upsert made.
    upserted: Option<Value>,
    /// Requests that were refused, and why.
    errors: Vec<(usize, Failure)>,
}

impl<T: Target> Interpreter<'_, T> {
    /// Sends the requests. An ordered write ends with the first one that is refused, an unordered one goes on.
    pub(super) async fn bulk(&mut self, bulk: &Bulk, frame: &mut Frame) -> Result<Value, Halt> {
        let requests = bulk.bind(frame).map_err(|error| wrong(&bulk.label, error))?;
        let mut sum = Sum::default();
        for group in groups(requests, bulk.ordered) {
            let head = bulk.head(group.kind, frame).map_err(|error| wrong(&bulk.label, error))?;
            let mut positions = group.positions.as_slice();
            for batch in batches(&group.parts) {
                let message = with_parts(&head, list_of(group.kind), batch);
                let reply = self.send(&bulk.label, (ReplyKind::Writes, Some(ReplyShape::Bulk)), message).await?;
                sum.add(group.kind, reply, positions);
                if bulk.ordered && !sum.errors.is_empty() {
                    return sum.value(bulk);
                }
                positions = &positions[batch.len()..];
            }
        }
        sum.value(bulk)
    }
}

impl Sum {
    fn add(&mut self, kind: RequestKind, reply: Reply, positions: &[usize]) {
        let errors = reply.write_errors();
        let counts = reply.into_counts();
        match kind {
            RequestKind::Insert => self.inserted += counts.n,
            RequestKind::Delete => self.deleted += counts.n,
            RequestKind::Update => {
                // The server counts an upserted document as matched; the CRUD specification does not.
                self.matched += counts.n - counts.upserted.len() as i64;
                self.modified += counts.modified;
                self.upserted = self.upserted.take().or_else(|| upserted(counts).next());
            }
        }
        self.errors.extend(errors.into_iter().filter_map(|(index, failure)| Some((*positions.get(index)?, failure))));
    }

    /// The step's reply, unless a request failed with a code that it does not let pass.
    fn value(mut self, bulk: &Bulk) -> Result<Value, Halt> {
        self.errors.sort_by_key(|(position, _)| *position);
        let passes = |failure: &Failure| failure.code().is_some_and(|code| bulk.errors.contains(&code));
        if let Some((_, failure)) = self.errors.iter().find(|(_, failure)| !passes(failure)) {
            return Err(Halt::Failed { label: bulk.label.clone(), failure: failure.clone() });
        }
        let entry = |name: &str, value: i64| (Arc::from(name), Value::Int(value));
        let error = |(position, failure): &(usize, Failure)| {
            let code = i64::from(failure.code().unwrap_or_default());
            Value::Map(Arc::new([entry("index", *position as i64), entry("code", code)]))
        };
        let errors = Value::list(self.errors.iter().map(error).collect());
        let upserted = self.upserted.unwrap_or(Value::Null);
        let counts = written(self.matched, self.modified, upserted, self.inserted, self.deleted);
        let entries = counts.entries().into_iter().chain([(Arc::from("errors"), errors)]);
        Ok(Value::Map(entries.collect()))
    }
}

/// Neighbours of one kind when the order counts; else all of one kind, as the drivers do it.
fn groups(requests: Vec<(RequestKind, RawDocumentBuf)>, ordered: bool) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (position, (kind, part)) in requests.into_iter().enumerate() {
        let open = match ordered {
            true => groups.last_mut().filter(|group| group.kind == kind),
            false => groups.iter_mut().find(|group| group.kind == kind),
        };
        match open {
            Some(group) => {
                group.positions.push(position);
                group.parts.push(part);
            }
            None => groups.push(Group { kind, positions: vec![position], parts: vec![part] }),
        }
    }
    if !ordered {
        groups.sort_by_key(|group| RequestKind::ALL.iter().position(|kind| *kind == group.kind));
    }
    groups
}

/// The key under which a command holds its requests.
fn list_of(kind: RequestKind) -> &'static CStr {
    match kind {
        RequestKind::Insert => cstr!("documents"),
        RequestKind::Update => cstr!("updates"),
        RequestKind::Delete => cstr!("deletes"),
    }
}
