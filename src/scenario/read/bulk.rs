//! `bulkWrite` and its requests.

use super::attempt::codes;
use super::fields::{Entry, Fields};
use super::step::alias;
use super::{command, value};
use crate::scenario::quote;
use crate::scenario::{CommandWord, Diagnostic, Diagnostics, Node, Request, Span, Spanned, StepKind};

const EXAMPLE: &str = "requests: [{ updateOne: { filter: { _id: <post> }, update: { $inc: { n: 1 } } } }]";

/// The step; `word` is its word's entry.
pub(super) fn bulk_write(word: &Entry, fields: &mut Fields, diagnostics: &mut Diagnostics) -> Option<StepKind> {
    fields.optional("bulkWrite");
    let alias = alias(fields, diagnostics);
    let requests = fields.required("requests", EXAMPLE).and_then(|entry| requests(entry, diagnostics));
    let ordered = fields.optional("ordered").and_then(|entry| value::boolean(entry, "ordered: false", diagnostics));
    let errors = fields.optional("errors").map_or_else(Vec::new, |entry| codes(entry, diagnostics));
    let collection = value::text(word, "bulkWrite: posts", diagnostics)?;
    let ordered = ordered.is_none_or(|ordered| ordered.value);
    Some(StepKind::BulkWrite { collection, requests: requests?, ordered, errors, alias })
}

fn requests(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<Vec<Request>> {
    let items = value::list(entry, EXAMPLE, diagnostics)?;
    if items.is_empty() {
        value::wrong_type(entry, "at least one request", EXAMPLE, diagnostics);
    }
    let made: Vec<Option<Request>> = items.iter().map(|item| request(item, entry.0.span, diagnostics)).collect();
    made.into_iter().collect()
}

/// One request of those under the key at `key`, which is where to point when nothing was written.
fn request(node: &Node, key: Span, diagnostics: &mut Diagnostics) -> Option<Request> {
    let place = if node.span.is_empty() { key } else { node.span };
    let entries = node.as_mapping().unwrap_or_default();
    if entries.iter().any(|(key, _)| key.value == "forEach") {
        return each(entries, place, diagnostics);
    }
    let found = match entries {
        [entry] => CommandWord::REQUESTS.iter().find(|word| word.name() == entry.0.value).map(|word| (*word, entry)),
        _ => None,
    };
    let Some((word, entry)) = found else {
        let names: Vec<&str> = CommandWord::REQUESTS.iter().map(|word| word.name()).collect();
        diagnostics.push(
            Diagnostic::error(place, format!("a request has one of the keys {}", names.join(", ")))
                .label("not a request")
                .help(format!("write for example `{EXAMPLE}`")),
        );
        return None;
    };
    let what = format!("the request {}", quote(word.name()));
    let mut fields = Fields::of(entry, what, example(word), diagnostics)?;
    command::options(word, &mut fields, diagnostics);
    fields.finish(diagnostics);
    let options = entry.1.as_mapping().unwrap_or_default();
    let options = options.iter().filter(|(key, _)| word.options().contains(&key.value.as_str())).cloned().collect();
    Some(Request::One { word: Spanned::new(word, entry.0.span), options })
}

fn each(entries: &[Entry], place: Span, diagnostics: &mut Diagnostics) -> Option<Request> {
    let example = "{ forEach: { user: users }, item: { deleteOne: { filter: { _id: <user> } } } }";
    let mut fields = Fields::new(entries, "a repeated request", place);
    let entry = fields.optional("forEach")?;
    let item = fields.required("item", "item: { deleteOne: { filter: { _id: <user> } } }");
    let item = item.and_then(|item| request(&item.1, item.0.span, diagnostics));
    fields.finish(diagnostics);
    let [pair] = value::mapping(entry, example, diagnostics)? else {
        value::wrong_type(entry, "one name and one list", example, diagnostics);
        return None;
    };
    value::check_name(&pair.0, "a loop", diagnostics);
    let list = value::expression(pair, "user: users", diagnostics)?;
    Some(Request::Each { name: pair.0.clone(), list, item: Box::new(item?) })
}

fn example(word: CommandWord) -> &'static str {
    match word {
        CommandWord::InsertOne => "insertOne: { document: <comment> }",
        CommandWord::UpdateMany => "updateMany: { filter: { post: <post> }, update: { $inc: { n: 1 } } }",
        CommandWord::ReplaceOne => "replaceOne: { filter: { _id: <post> }, replacement: { n: 1 } }",
        CommandWord::DeleteOne => "deleteOne: { filter: { _id: <post> } }",
        CommandWord::DeleteMany => "deleteMany: { filter: { post: <post> } }",
        _ => "updateOne: { filter: { _id: <post> }, update: { $inc: { n: 1 } } }",
    }
}
