//! `bulkWrite` as written to a [`Bulk`].

use crate::plan::bulk::Request;
use crate::plan::{Bulk, Concerns};
use crate::scenario::{BulkDefinition, RequestDefinition, Spanned};

use super::crud::CrudCompiler;
use super::parts::all;
use super::resolve::resolve_records;
use super::scope::{Origin, Scope};

/// Compiles a `bulkWrite` without its `as`; `None` when there were problems.
pub(super) fn compile(bulk: &BulkDefinition, concerns: Option<&Concerns>, scope: &mut Scope) -> Option<Bulk> {
    let collection = &bulk.collection;
    let name = scope.text(&collection.value, collection.span, false);
    let requests = all(bulk.requests.iter().map(|request| compile_request(request, collection, scope)));
    Some(Bulk {
        label: format!("bulkWrite {}", collection.value),
        ordered: bulk.ordered,
        errors: bulk.errors.clone(),
        alias: None,
        collection: name?,
        write_concern: concerns.map(Concerns::write_concern),
        requests: requests?,
    })
}

fn compile_request(request: &RequestDefinition, collection: &Spanned<String>, scope: &mut Scope) -> Option<Request> {
    match request {
        RequestDefinition::One { word, options } => {
            CrudCompiler { word: word.value, collection, options, scope }.request()
        }
        RequestDefinition::Each { name, list, item } => {
            let (list, entity) = resolve_records(list, scope);
            let slot = scope.push(&name.value, Origin::Let, entity);
            let item = compile_request(item, collection, scope);
            scope.pop();
            Some(Request::Each { slot, list: list?, item: Box::new(item?) })
        }
    }
}
