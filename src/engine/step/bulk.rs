//! `bulkWrite`: many writes in few messages.

use std::sync::Arc;

use bson::RawDocumentBuf;
use bson::raw::{CStr, cstr};

use crate::plan::{Bulk, Frame, ReplyShape, RequestKind, Value};
use crate::server::{Failure, Reply, ReplyKind, Target};

use super::batch::{batches, with_items};
use super::error::StepError;
use super::interpreter::Interpreter;
use super::reply::WriteResult;

/// Requests of one kind that are sent together.
struct RequestGroup {
    kind: RequestKind,
    /// Their positions among all requests of the step.
    positions: Vec<usize>,
    requests: Vec<RawDocumentBuf>,
}

/// The results of the requests so far.
#[derive(Default)]
struct BulkResult {
    total: WriteResult,
    /// Failed requests by position.
    errors: Vec<(usize, Failure)>,
}

impl<T: Target> Interpreter<'_, T> {
    /// Sends the requests. An ordered write ends with the first failed one, an unordered one continues.
    pub(super) async fn bulk(&mut self, bulk: &Bulk, frame: &mut Frame) -> Result<Value, StepError> {
        let invalid = |error| StepError::invalid(&bulk.label, error);
        let requests = bulk.bind(frame).map_err(invalid)?;
        let mut result = BulkResult::default();
        for group in groups(requests, bulk.ordered) {
            let head = bulk.head(group.kind, frame).map_err(invalid)?;
            let mut positions = group.positions.as_slice();
            for batch in batches(&group.requests) {
                let message = with_items(&head, list_key(group.kind), batch);
                let reply = self.send(&bulk.label, ReplyKind::Writes, None, Some(ReplyShape::Bulk), message).await?;
                result.add(group.kind, reply, positions);
                if bulk.ordered && !result.errors.is_empty() {
                    return result.into_value(bulk);
                }
                positions = &positions[batch.len()..];
            }
        }
        result.into_value(bulk)
    }
}

impl BulkResult {
    fn add(&mut self, kind: RequestKind, reply: Reply, positions: &[usize]) {
        let failed = reply.write_errors().into_iter();
        self.errors.extend(failed.filter_map(|(index, failure)| Some((*positions.get(index)?, failure))));
        match kind {
            RequestKind::Insert => self.total.inserted += reply.n(),
            RequestKind::Delete => self.total.deleted += reply.n(),
            RequestKind::Update => {
                let updated = WriteResult::of_update(reply.into_counts());
                self.total.matched += updated.matched;
                self.total.modified += updated.modified;
                self.total.upserted = self.total.upserted.take().or(updated.upserted);
            }
        }
    }

    /// The step's reply, unless a request failed with an error that the step does not list.
    fn into_value(mut self, bulk: &Bulk) -> Result<Value, StepError> {
        self.errors.sort_by_key(|(position, _)| *position);
        let is_listed = |failure: &Failure| failure.code().is_some_and(|code| bulk.errors.contains(&code));
        if let Some((_, failure)) = self.errors.iter().find(|(_, failure)| !is_listed(failure)) {
            return Err(StepError::Failed { label: bulk.label.clone(), failure: failure.clone() });
        }
        let entry = |name: &str, value: i64| (Arc::from(name), Value::Int(value));
        let error = |(position, failure): &(usize, Failure)| {
            let code = i64::from(failure.code().unwrap_or_default());
            Value::Map(Arc::new([entry("index", *position as i64), entry("code", code)]))
        };
        let errors = Value::list(self.errors.iter().map(error).collect());
        let entries = self.total.into_value().entries().into_iter().chain([(Arc::from("errors"), errors)]);
        Ok(Value::Map(entries.collect()))
    }
}

/// Groups neighbours of one kind when the order matters, else all of one kind, as the drivers do.
fn groups(requests: Vec<(RequestKind, RawDocumentBuf)>, ordered: bool) -> Vec<RequestGroup> {
    let mut groups: Vec<RequestGroup> = Vec::new();
    for (position, (kind, request)) in requests.into_iter().enumerate() {
        let open = if ordered {
            groups.last_mut().filter(|group| group.kind == kind)
        } else {
            groups.iter_mut().find(|group| group.kind == kind)
        };
        match open {
            Some(group) => {
                group.positions.push(position);
                group.requests.push(request);
            }
            None => groups.push(RequestGroup { kind, positions: vec![position], requests: vec![request] }),
        }
    }
    if !ordered {
        groups.sort_by_key(|group| group.kind);
    }
    groups
}

/// The key of the requests in a command.
fn list_key(kind: RequestKind) -> &'static CStr {
    match kind {
        RequestKind::Insert => cstr!("documents"),
        RequestKind::Update => cstr!("updates"),
        RequestKind::Delete => cstr!("deletes"),
    }
}
