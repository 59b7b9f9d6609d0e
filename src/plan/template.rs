//! Documents with `<name>` slots, compiled once; binding one writes BSON in a single pass.

use std::borrow::Cow;
use std::fmt::{Display, Write};
use std::sync::Arc;

use bson::RawDocumentBuf;

use super::{EvalError, Expression, Frame, Raw, Value, Writer, budget, index_key};

/// A BSON value with slots.
#[derive(Debug)]
pub enum Template {
    /// No slot inside; nested documents and arrays are encoded already.
    Constant(Value),
    /// `<path>` alone: the typed value.
    Slot(Path),
    /// Text with slots inside.
    Text(Vec<Piece>),
    /// A document.
    Document(Vec<DocumentPart>),
    /// An array.
    Array(Vec<Item>),
}

/// A variable or parameter, and the fields that lead from it to the value.
#[derive(Debug, Clone)]
pub struct Path {
    pub(crate) base: Base,
    pub(crate) fields: Vec<Arc<str>>,
    pub(crate) written: Arc<str>,
    /// Null means that nothing was found, rather than that null is meant.
    pub(crate) found: bool,
    /// In a pipeline a text that begins with `$` would be read as a field.
    pub(crate) guarded: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Base {
    Slot(usize),
    Constant(Value),
}

/// A part of a text.
#[derive(Debug)]
pub enum Piece {
    /// As written.
    Literal(Box<str>),
    /// A slot.
    Slot(Path),
}

/// A part of a document.
#[derive(Debug)]
pub enum DocumentPart {
    /// A key and its value.
    Field(Key, Template),
    /// A key and its value before a `...`: written only when the document spread there has no such key.
    Unless(Key, Template, Path),
    /// `...: <path>`: the fields of a document, except those that a later key names.
    Spread(Path, Vec<Box<str>>),
}

/// A key, perhaps with slots.
#[derive(Debug)]
pub enum Key {
    /// As written.
    Fixed(Box<str>),
    /// With slots.
    Text(Vec<Piece>),
}

/// A part of an array.
#[derive(Debug)]
pub enum Item {
    /// One element.
    One(Template),
    /// `{ forEach: { x: list }, item }`: an element per item of a list.
    Each {
        /// The loop name's slot.
        slot: usize,
        /// The list.
        list: Expression,
        /// The element.
        item: Template,
    },
}

impl Path {
    /// The value.
    ///
    /// # Errors
    /// When a field is missing on the way, or nothing was found to take it from.
    pub fn value(&self, frame: &Frame) -> Result<Value, EvalError> {
        let base = match &self.base {
            Base::Slot(slot) => frame.slot(*slot),
            Base::Constant(value) => value,
        };
        let mut value = match self.fields.first() {
            None => base.clone(),
            Some(first) => base.get(first)?.ok_or_else(|| self.missing(base, 0))?,
        };
        for (position, field) in self.fields.iter().enumerate().skip(1) {
            value = value.get(field)?.ok_or_else(|| self.missing(&value, position))?;
        }
        if self.found && self.fields.is_empty() && value.is_null() {
            return Err(self.problem("is null: nothing was found (assign it with `let` where null is meant)"));
        }
        match &value {
            Value::Text(text) if self.guarded && text.starts_with('$') => {
                let help = format!("wrap it as {{ $literal: <{}> }}", self.written);
                Err(self.problem(format!("is {text:?}: in a pipeline that would be a field; {help}")))
            }
            _ => Ok(value),
        }
    }

    /// Writes the value under a key. A field of a document is copied byte by byte, type and all.
    pub(crate) fn write(&self, key: &str, writer: &mut Writer, frame: &Frame) -> Result<(), EvalError> {
        if let (Base::Slot(slot), [field], false) = (&self.base, self.fields.as_slice(), self.guarded)
            && let Value::Document(raw) = frame.slot(*slot)
        {
            let (kind, value) = raw.element(field).ok_or_else(|| self.missing(frame.slot(*slot), 0))?;
            writer.element(key, kind, value);
            return Ok(());
        }
        writer.value(key, &self.value(frame)?)
    }

    /// The error of a field, by its position, that its holder does not have.
    fn missing(&self, holder: &Value, position: usize) -> EvalError {
        let holder_name = || self.written.split('.').take(position + 1).collect::<Vec<_>>().join(".");
        let reason = match holder {
            Value::Null => format!("`{}` is null", holder_name()),
            _ => format!("`{}` is missing", self.fields[position]),
        };
        self.problem(format!("has no value: {reason} (assign it with `let` where null is meant)"))
    }

    fn problem(&self, message: impl Display) -> EvalError {
        EvalError::new(format!("`<{}>` {message}", self.written))
    }
}

impl Key {
    fn bind(&self, frame: &Frame) -> Result<Cow<'_, str>, EvalError> {
        Ok(match self {
            Key::Fixed(key) => Cow::Borrowed(&**key),
            Key::Text(pieces) => text_of(pieces, frame)?.into(),
        })
    }
}

impl Template {
    /// The document with its slots filled.
    ///
    /// # Errors
    /// When a slot has no value, or the template is not a document.
    pub fn bind(&self, frame: &mut Frame) -> Result<RawDocumentBuf, EvalError> {
        let _level = budget::enter()?;
        match self {
            Template::Document(entries) => Writer::document(|writer| write_entries(entries, writer, frame)),
            Template::Constant(Value::Document(raw)) => Ok(raw.document().to_owned()),
            Template::Slot(path) => match path.value(frame)? {
                Value::Document(raw) => Ok(raw.document().to_owned()),
                Value::Record(record) => Writer::document(|writer| record.write(writer)),
                Value::Map(entries) => {
                    Writer::document(|writer| entries.iter().try_for_each(|(key, value)| writer.value(key, value)))
                }
                other => Err(EvalError::expected("a document", &other)),
            },
            _ => Err(EvalError::new("expected a document")),
        }
    }

    /// Writes the value under a key.
    ///
    /// # Errors
    /// When a slot has no value.
    pub fn write(&self, key: &str, writer: &mut Writer, frame: &mut Frame) -> Result<(), EvalError> {
        match self {
            Template::Constant(value) => writer.value(key, value)?,
            Template::Slot(path) => path.write(key, writer, frame)?,
            Template::Text(pieces) => writer.text(key, &text_of(pieces, frame)?),
            Template::Document(entries) => {
                let open = writer.begin_document(key);
                write_entries(entries, writer, frame)?;
                writer.end(open);
            }
            Template::Array(items) => {
                let open = writer.begin_array(key);
                write_items(items, writer, frame)?;
                writer.end(open);
            }
        }
        Ok(())
    }

    /// The elements of an array template as documents of their own.
    ///
    /// # Errors
    /// When a slot has no value, or an element is no document.
    pub fn bind_items(&self, frame: &mut Frame) -> Result<Vec<RawDocumentBuf>, EvalError> {
        let _level = budget::enter()?;
        let bound = Raw::new(Writer::document(|writer| self.write("items", writer, frame))?);
        let items = bound.get("items").unwrap_or(Value::Null);
        let items = items.items().ok_or_else(|| EvalError::new("expected a list of documents"))?;
        items
            .map(|item| match item {
                Value::Document(raw) => Ok(raw.document().to_owned()),
                other => Err(EvalError::new(format!("expected a list of documents, found {} in it", other.kind()))),
            })
            .collect()
    }
}

fn write_entries(entries: &[DocumentPart], writer: &mut Writer, frame: &mut Frame) -> Result<(), EvalError> {
    entries.iter().try_for_each(|entry| write_entry(entry, writer, frame))
}

/// Writes a part of a document.
///
/// # Errors
/// When a slot has no value.
pub fn write_entry(entry: &DocumentPart, writer: &mut Writer, frame: &mut Frame) -> Result<(), EvalError> {
    match entry {
        DocumentPart::Field(key, value) => value.write(&key.bind(frame)?, writer, frame)?,
        DocumentPart::Unless(key, value, path) => {
            let key = key.bind(frame)?;
            if !path.value(frame)?.content()?.entries().iter().any(|(later, _)| **later == *key) {
                value.write(&key, writer, frame)?;
            }
        }
        DocumentPart::Spread(path, hidden) => spread(path, hidden, writer, frame)?,
    }
    Ok(())
}

fn spread(path: &Path, hidden: &[Box<str>], writer: &mut Writer, frame: &Frame) -> Result<(), EvalError> {
    let value = path.value(frame)?.content()?;
    match &value {
        Value::Document(raw) if hidden.is_empty() => {
            let bytes = raw.bytes();
            budget::take_bytes(bytes.len() as u64)?;
            writer.copy(&bytes[4..bytes.len() - 1]);
        }
        Value::Document(_) | Value::Map(_) => {
            for (key, field) in value.entries() {
                if !hidden.iter().any(|name| **name == *key) {
                    writer.value(&key, &field)?;
                }
            }
        }
        other => {
            let (name, kind) = (&path.written, other.kind());
            return Err(EvalError::new(format!("`...: <{name}>` expected a document, found {kind}")));
        }
    }
    Ok(())
}

fn write_items(items: &[Item], writer: &mut Writer, frame: &mut Frame) -> Result<(), EvalError> {
    let mut position = 0;
    for part in items {
        match part {
            Item::One(item) => {
                index_key(position, |key| item.write(key, writer, frame))?;
                position += 1;
            }
            Item::Each { slot, list, item } => {
                let list = list.evaluate(frame)?;
                for element in list.elements().map_err(|error| EvalError::new(format!("forEach: {error}")))? {
                    budget::take_list(1)?;
                    frame.set(*slot, element);
                    index_key(position, |key| item.write(key, writer, frame))?;
                    position += 1;
                }
            }
        }
    }
    Ok(())
}

fn text_of(pieces: &[Piece], frame: &Frame) -> Result<String, EvalError> {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Literal(literal) => text.push_str(literal),
            Piece::Slot(path) => {
                let written = match path.value(frame)?.referenced()? {
                    Value::Text(part) => {
                        budget::take_bytes(part.len() as u64)?;
                        text.write_str(&part)
                    }
                    Value::Int(i) => write!(text, "{i}"),
                    Value::Bool(b) => write!(text, "{b}"),
                    Value::ObjectId(id) => write!(text, "{id}"),
                    other => {
                        let expected = "expected a string, int, bool or id inside a text";
                        return Err(path.problem(format!("is {}: {expected}", other.kind())));
                    }
                };
                written.map_err(|_| EvalError::new("out of memory for a text"))?;
            }
        }
    }
    if text.contains('\0') {
        return Err(EvalError::new("a text or key may not contain a zero byte"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use bson::doc;
    use proptest::prelude::*;

    use super::*;
    use crate::compile::fixture::{any_value, bound, bson_of, frame, plan, skeleton};

    /// What a document in a command binds to.
    fn document(arguments: &str, document: &str) -> Result<bson::Document, String> {
        let command = bound(&plan(arguments, &format!("{{ command: {{ ping: 1, document: {document} }} }}")));
        command.map(|command| command.get_document("document").unwrap().clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn slots_keep_their_types_and_texts_take_scalars() {
        let made = document(
            "{ thing: \"record(thing, 4)\", t: \"'x'\" }",
            "{ a: <thing>, b: <thing._id>, c: [<t>, 1, <limit>], k_<t>_<limit>: \"<t>-<thing>\", d: { e: \"a < b > c\" }, f: \"<1>\" }",
        );
        let expected = doc! {
            "a": 4, "b": 4, "c": ["x", 1, 7], "k_x_7": "x-4", "d": { "e": "a < b > c" }, "f": "<1>",
        };
        assert_eq!(made, Ok(expected));
    }

    #[test]
    fn of_equal_keys_the_later_one_wins() {
        let made = document("{ d: \"{'a': 1, 'b': 2}\" }", "{ a: 9, z: 8, ...: <d>, b: 7 }");
        assert_eq!(made, Ok(doc! { "z": 8, "a": 1, "b": 7 }));
    }

    #[test]
    fn a_record_is_spread_and_its_children_are_written_whole() {
        let made = document(
            "{ thing: \"record(thing, 4)\" }",
            "{ ...: <thing>, parts: <thing.parts>, n: <thing.parts.size> }",
        )
        .unwrap();
        let keys: Vec<&str> = made.keys().map(String::as_str).collect();
        assert_eq!(keys, ["_id", "name", "next", "at", "parts", "n"]);
        let parts = made.get_array("parts").unwrap();
        assert_eq!(made.get_i32("n").unwrap() as usize, parts.len());
        assert!(parts.iter().all(|part| part.as_document().unwrap().get("of") == Some(&4.into())));
    }

    #[test]
    fn an_item_is_repeated_for_each_element() {
        let made = document(
            "{ l: [1, 2] }",
            "{ a: [0, { forEach: { x: l }, item: { v: <x> } }, { forEach: { x: \"[]\" }, item: <x> }, 9] }",
        );
        assert_eq!(made, Ok(doc! { "a": [0, { "v": 1 }, { "v": 2 }, 9] }));
    }

    #[test]
    fn extended_json_makes_the_types_that_yaml_lacks() {
        let made = document(
            "{}",
            "{ a: { $oid: \"65f000000000000000000001\" }, b: { $date: 2024-01-01T00:00:00Z }, c: { $date: 5 }, d: { $numberLong: \"5\" }, e: { $numberDecimal: \"0.10\" }, f: { $minKey: 1 }, g: 5, h: 5000000000 }",
        );
        let expected = doc! {
            "a": bson::oid::ObjectId::parse_str("65f000000000000000000001").unwrap(),
            "b": bson::DateTime::from_millis(1_704_067_200_000), "c": bson::DateTime::from_millis(5), "d": 5_i64,
            "e": "0.10".parse::<bson::Decimal128>().unwrap(), "f": bson::Bson::MinKey, "g": 5_i32, "h": 5_000_000_000_i64,
        };
        assert_eq!(made, Ok(expected));
    }

    #[test]
    fn what_has_no_value_is_an_error_and_null_is_not() {
        assert_eq!(document("{ n: null }", "{ a: <n> }"), Ok(doc! { "a": bson::Bson::Null }));
        let missing = "`<n.x>` has no value: `x` is missing (assign it with `let` where null is meant)";
        assert_eq!(document("{ n: \"{'y': 1}\" }", "{ a: <n.x> }"), Err(missing.into()));
        let null = "`<n.x>` has no value: `n` is null (assign it with `let` where null is meant)";
        assert_eq!(document("{ n: null }", "{ a: <n.x> }"), Err(null.into()));
        let nothing = "`<reply>` is null: nothing was found (assign it with `let` where null is meant)";
        assert_eq!(document("{}", "{ a: <reply> }"), Err(nothing.into()));
        assert_eq!(document("{ n: 1 }", "{ ...: <n> }"), Err("`...: <n>` expected a document, found an int".into()));
        let text = "`<n>` is a list: expected a string, int, bool or id inside a text";
        assert_eq!(document("{ n: [1] }", "{ a: x<n> }"), Err(text.into()));
    }

    #[test]
    fn a_dollar_in_a_pipeline_is_an_error_unless_it_is_literal() {
        let stage = |stage: &str| {
            let plan = plan("{ n: \"'$name'\" }", &format!("{{ aggregate: things, pipeline: [{stage}] }}"));
            bound(&plan).map(|_| ()).map_err(|error| error.to_string())
        };
        assert!(stage("{ $project: { a: <n> } }").unwrap_err().contains("in a pipeline that would be a field"));
        assert!(stage("{ $project: { a: <n>x } }").is_err());
        assert_eq!(stage("{ $project: { a: { $literal: <n> }, b: x<n> } }"), Ok(()));
        assert_eq!(document("{ n: \"'$name'\" }", "{ filter: { a: <n> } }"), Ok(doc! { "filter": { "a": "$name" } }));
    }

    proptest! {
        #[test]
        fn binding_gives_the_document_that_was_meant(x in any_value(), y in any_value(), t in "[a-z]{0,5}") {
            let plan = plan("{ x: 0, y: 0, t: \"''\" }", "{ command: { ping: 1, a: <x>, b: [1, <y>, { c: <x> }], c: { k_<t>: { d: <y>, e: true } }, f: <t> } }");
            let mut frame = frame(&plan);
            for (slot, value) in [x.clone(), y.clone(), Value::text(&t)].into_iter().enumerate() {
                frame.set(slot, value);
            }
            let bound = skeleton(&plan).bind(&mut frame).unwrap();
            let (x, y) = (bson_of(&x), bson_of(&y));
            let key = format!("k_{t}");
            let c = doc! { key: { "d": y.clone(), "e": true } };
            let expected = doc! { "ping": 1, "a": x.clone(), "b": [1, y, { "c": x }], "c": c, "f": t };
            prop_assert_eq!(bound, RawDocumentBuf::try_from(&expected).unwrap());
        }
    }
}
