//! `bulkWrite` as written to a [`Bulk`].

use crate::plan::{Bulk, Concerns, RequestKind, bulk::Request};
use crate::scenario::{self, CommandWord, Diagnostics, Spanned};

use super::command::CommandCompiler;
use super::document::DocumentCompiler;
use super::resolve::{entity_of, resolve};
use super::scope::{Origin, Scope};

/// Compiles a `bulkWrite` without its `as`; `None` when there were problems.
pub(super) fn compile(
    collection: &Spanned<String>,
    requests: &[scenario::RequestDefinition],
    (ordered, errors): (bool, &[i32]),
    concerns: Option<&Concerns>,
    scope: &mut Scope,
    diagnostics: &mut Diagnostics,
) -> Option<Bulk> {
    let name = DocumentCompiler { scope, diagnostics }.text(&collection.value, collection.span, false);
    let requests: Vec<_> =
        requests.iter().map(|request| compile_request(request, collection, scope, diagnostics)).collect();
    Some(Bulk {
        label: format!("bulkWrite {}", collection.value),
        ordered,
        errors: errors.to_vec(),
        alias: None,
        collection: name?,
        write_concern: concerns.map(Concerns::write_concern),
        requests: requests.into_iter().collect::<Option<Vec<_>>>()?,
    })
}

fn compile_request(
    request: &scenario::RequestDefinition,
    collection: &Spanned<String>,
    scope: &mut Scope,
    diagnostics: &mut Diagnostics,
) -> Option<Request> {
    match request {
        scenario::RequestDefinition::One { word, options } => {
            let compiler = CommandCompiler { word: word.value, collection, options, scope, diagnostics };
            let template = compiler.part()?;
            let kind = match word.value {
                CommandWord::InsertOne => RequestKind::Insert,
                CommandWord::DeleteOne | CommandWord::DeleteMany => RequestKind::Delete,
                _ => RequestKind::Update,
            };
            Some(Request::One(kind, template))
        }
        scenario::RequestDefinition::Each { name, list, item } => {
            let list = resolve(list, scope, diagnostics);
            let entity = list.as_ref().and_then(|list| entity_of(list, scope));
            let slot = scope.push(&name.value, Origin::Let, entity);
            let item = compile_request(item, collection, scope, diagnostics);
            scope.pop();
            Some(Request::Each { slot, list: list?, item: Box::new(item?) })
        }
    }
}
