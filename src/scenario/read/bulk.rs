//! The requests of a `bulkWrite`.

use crate::scenario::keys::Keys;
use crate::scenario::step::REPEATED_REQUEST;
use crate::scenario::{
    BulkDefinition, CommandWord, Diagnostics, Node, RequestDefinition, Span, Spanned, StepKind, list_of,
};

use super::attempt::codes;
use super::entry::Entry;
use super::fields::Fields;
use super::step::StepReader;

impl StepReader<'_> {
    pub(in crate::scenario) fn bulk_write(&mut self, fields: &Fields) -> Option<StepKind> {
        let alias = self.alias(fields);
        if let Some(errors) = fields.entry("errors") {
            self.refuse_in_transaction(errors.0.span, "`errors` of a `bulkWrite`");
        }
        Some(StepKind::BulkWrite(BulkDefinition {
            requests: requests(fields)?,
            collection: fields.text("bulkWrite")?,
            ordered: fields.boolean("ordered").is_none_or(|ordered| ordered.value),
            errors: codes(fields),
            alias,
        }))
    }
}

/// The requests in order; `None` when one of them cannot be understood.
fn requests(fields: &Fields) -> Option<Vec<RequestDefinition>> {
    let entry = fields.entry("requests")?;
    let request = |item| request(item, entry.0.span, fields.diagnostics);
    let requests: Vec<Option<RequestDefinition>> = fields.items("requests").iter().map(request).collect();
    requests.into_iter().collect()
}

/// One request; `key` is where to point when nothing was written.
fn request(node: &Node, key: Span, diagnostics: &Diagnostics) -> Option<RequestDefinition> {
    let place = node.span_or(key);
    let entries = node.as_mapping().unwrap_or_default();
    if entries.iter().any(|(key, _)| key.value == "forEach") {
        return repeated(entries, place, diagnostics);
    }
    let found = match entries {
        [entry] => CommandWord::REQUESTS.into_iter().find(|word| word.name() == entry.0.value).zip(Some(entry)),
        _ => None,
    };
    let Some((word, entry)) = found else {
        let help = format!("expected one of the keys {}", list_of(&CommandWord::REQUESTS.map(CommandWord::name)));
        diagnostics.labelled(place, format!("expected a request, found {}", node.describe()), "not a request", help);
        return None;
    };
    let keys = word.keys();
    let options: Keys = &keys[1..keys.len() - 1];
    let example = format!("{}: {{ {} }}", word.name(), options[0].entry());
    let fields = Fields::of(entry, "request", &example, options, diagnostics);
    entry.1.as_mapping()?;
    Some(RequestDefinition::One { word: Spanned::new(word, entry.0.span), options: fields.entries_except(&[]) })
}

fn repeated(entries: &[Entry], place: Span, diagnostics: &Diagnostics) -> Option<RequestDefinition> {
    let fields = Fields::read(entries, "a repeated request", place, REPEATED_REQUEST, diagnostics);
    let item = fields.entry("item").and_then(|item| request(&item.1, item.0.span, diagnostics));
    let (name, list) = fields.expressions("forEach").pop()?;
    Some(RequestDefinition::Each { name, list, item: Box::new(item?) })
}
