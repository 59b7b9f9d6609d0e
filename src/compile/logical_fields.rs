//! What logical steps say of fields, against the records as they are drawn: what no record has is a mistake, though a server
//! would find nothing, or store a text, without a word.

use std::sync::Arc;

use crate::plan::{Data, Value};
use crate::scenario::{Diagnostics, EntityDefinition, Node, Span, list_of, nearest};

use super::lint::written_as_text;
use super::scope::Scope;

/// How many loaded records of an entity are looked at. What is true of one is enough for a mistake about values; paths may be of
/// fields that only some records have.
const LOOKED_AT: u64 = 50;

/// The fields of an entity's records.
pub struct LogicalFields<'f> {
    pub entity: &'f EntityDefinition,
    pub position: usize,
    pub data: &'f Arc<Data>,
    pub diagnostics: &'f Diagnostics,
}

impl LogicalFields<'_> {
    /// Checks the paths of an option: the keys of a condition, order or change, or a list of fields.
    pub fn check_paths(&self, option: &str, node: Option<&Node>) {
        for (key, _) in node.and_then(Node::as_mapping).unwrap_or_default() {
            self.check_path(option, &key.value, key.span);
        }
        for item in node.and_then(Node::as_list).unwrap_or_default() {
            item.as_text().into_iter().for_each(|name| self.check_path(option, name, item.span));
        }
    }

    /// Reports texts that are expressions: nothing computes them.
    pub fn check_values(&self, node: Option<&Node>, scope: &Scope) {
        let Some(node) = node else { return };
        node.walk(None, &mut |key, node| {
            let problem = key.and_then(|key| written_as_text(key, node, scope)).filter(|(_, is_name)| !is_name);
            problem.into_iter().for_each(|((message, help), _)| self.diagnostics.error(node.span, message, help));
            true
        });
    }

    /// Checks that numbers are added to numbers.
    pub fn check_added(&self, node: Option<&Node>, scope: &Scope) {
        for (key, value) in node.and_then(Node::as_mapping).unwrap_or_default() {
            self.check_number("inc", &key.value, key.span);
            if let Some(text) = value.as_text().filter(|text| !text.contains('<')) {
                let message = format!("`inc` adds a number to `{}`, and `{text}` is a text", key.value);
                let meant = scope.variable(text).is_some() || scope.parameter(text).is_some();
                let help = if meant { format!("did you mean `<{text}>`?") } else { "for example 1".to_owned() };
                self.diagnostics.error(value.span, message, help);
            }
        }
    }

    /// Reports a field that is no number in some record.
    pub fn check_number(&self, word: &str, field: &str, span: Span) {
        let is_number = |value: &Value| matches!(value, Value::Int(_) | Value::Double(_) | Value::Other(_));
        let values = self.values(field);
        let Some(other) = values.iter().find(|value| !is_number(value)) else { return };
        let own = self.entity.fields.iter().map(|(name, _)| name.value.as_str());
        let has_numbers = |name: &&str| {
            let values = self.values(name);
            *name != "_id" && !values.is_empty() && values.iter().all(is_number)
        };
        let numbers: Vec<&str> = own.filter(has_numbers).collect();
        let help = match numbers.as_slice() {
            [] => format!("no field of `{}` is a number", self.entity.name.value),
            numbers => format!("the numbers of `{}` are {}", self.entity.name.value, list_of(numbers)),
        };
        let message =
            format!("`{word}` needs a number, and `{field}` of `{}` is {}", self.entity.name.value, other.kind());
        self.diagnostics.error(span, message, help);
    }

    /// Reports a path that leads to nothing.
    fn check_path(&self, option: &str, path: &str, span: Span) {
        let Some((first, inner)) = path.split_once('.').filter(|(first, _)| !first.starts_with('$')) else { return };
        let values = self.values(first);
        let is_document = |value: &&Value| matches!(value, Value::Map(_) | Value::Document(_));
        let documents: Vec<&Value> = values.iter().filter(is_document).collect();
        let own = &self.entity.name.value;
        let message = format!("no `{own}` has `{path}`");
        if let Some(value) = values.first().filter(|_| documents.is_empty()) {
            let help = match value.as_record() {
                Some(record) => {
                    let other = &self.data.entities[record.entity()].name;
                    let instead = match option {
                        "fields" => format!("`with: {{ {first}: [{inner}] }}` adds fields of it"),
                        "sort" => format!("an order has fields of `{own}` alone"),
                        "set" | "inc" => format!("change it by `update: {other}`, with an argument `{other}`"),
                        _ => format!("compare that, for example `{first}: <{other}>` with an argument `{other}`"),
                    };
                    format!("`{first}` is the `_id` of a record of its own: {instead}")
                }
                None => format!("`{first}` is {}, which has no fields", value.kind()),
            };
            return self.diagnostics.error(span, message, help);
        }
        let next = inner.split('.').next().unwrap_or_default();
        let mut known: Vec<Arc<str>> = Vec::new();
        for (key, _) in documents.iter().flat_map(|document| document.entries()) {
            if !known.contains(&key) {
                known.push(key);
            }
        }
        let adds = matches!(option, "set" | "inc");
        if !adds && !documents.is_empty() && known.iter().all(|key| **key != *next) && next.parse::<usize>().is_err() {
            let known: Vec<&str> = known.iter().map(|key| &**key).collect();
            self.diagnostics.error(span, message, format!("in `{first}`: {}", nearest(next, &known)));
        }
    }

    /// Values of a field, those in lists included; none that are null.
    fn values(&self, field: &str) -> Vec<Value> {
        let records = 0..self.data.len(self.position).min(LOOKED_AT);
        let value = |ordinal| self.data.whole(self.position, ordinal).field(field).ok();
        let inner = |value: Value| match &value {
            Value::List(_) | Value::Array(_) => value.items().into_iter().flatten().collect(),
            _ => vec![value],
        };
        records.filter_map(value).flat_map(inner).filter(|value| !value.is_null()).collect()
    }
}
