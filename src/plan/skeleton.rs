//! Flattened command documents: the parts that are equal in every call are encoded once, in runs as long as possible.

use std::slice::Iter;

use bson::RawDocumentBuf;
use bson::spec::ElementType;

use super::template::{DocumentPart, Item, Key, Path, write_entry};
use super::{EvalError, Frame, Template, Writer, budget, index_key};

/// A document with holes.
#[derive(Debug)]
pub enum Skeleton {
    /// Its parts, in order.
    Parts(Vec<SkeletonPart>),
    /// A document that is known as a whole only when it is bound.
    Whole(Template),
}

/// A part of a document.
#[derive(Debug)]
pub enum SkeletonPart {
    /// Elements, or the beginnings of elements, that are the same in every call.
    Known(Vec<u8>),
    /// A key and its value.
    Slot(Box<str>, Path),
    /// The length of a document or array whose key and type are written, before its elements.
    Open,
    /// The end of it.
    Close,
    /// Whatever else there is in a document.
    Entry(DocumentPart),
}

impl Skeleton {
    /// Flattens a template.
    pub fn new(template: Template) -> Skeleton {
        match template {
            Template::Document(entries) => {
                let mut parts = Vec::new();
                entries.into_iter().for_each(|entry| flatten(entry, &mut parts));
                Skeleton::Parts(parts)
            }
            whole => Skeleton::Whole(whole),
        }
    }

    /// The document with its holes filled.
    ///
    /// # Errors
    /// When a slot has no value, or this is no document.
    pub fn bind(&self, frame: &mut Frame) -> Result<RawDocumentBuf, EvalError> {
        let _level = budget::enter()?;
        match self {
            Skeleton::Parts(parts) => Writer::document(|writer| write(&mut parts.iter(), writer, frame)),
            Skeleton::Whole(template) => template.bind(frame),
        }
    }
}

/// Writes parts up to the end of the open document.
fn write(parts: &mut Iter<'_, SkeletonPart>, writer: &mut Writer, frame: &mut Frame) -> Result<(), EvalError> {
    while let Some(part) = parts.next() {
        match part {
            SkeletonPart::Known(bytes) => writer.copy(bytes),
            SkeletonPart::Slot(key, path) => path.write(key, writer, frame)?,
            SkeletonPart::Open => {
                let open = writer.open();
                write(parts, writer, frame)?;
                writer.end(open);
            }
            SkeletonPart::Close => break,
            SkeletonPart::Entry(entry) => write_entry(entry, writer, frame)?,
        }
    }
    Ok(())
}

fn flatten(entry: DocumentPart, parts: &mut Vec<SkeletonPart>) {
    match entry {
        DocumentPart::Field(Key::Fixed(key), value) => flatten_field(key, value, parts),
        other => parts.push(SkeletonPart::Entry(other)),
    }
}

fn flatten_field(key: Box<str>, value: Template, parts: &mut Vec<SkeletonPart>) {
    match value {
        Template::Constant(value) => match Writer::document(|writer| writer.value(&key, &value)) {
            Ok(document) => know(parts, &document.as_bytes()[4..document.as_bytes().len() - 1]),
            Err(_) => parts.push(SkeletonPart::Entry(DocumentPart::Field(Key::Fixed(key), Template::Constant(value)))),
        },
        Template::Slot(path) => parts.push(SkeletonPart::Slot(key, path)),
        Template::Document(entries) => {
            open(parts, ElementType::EmbeddedDocument, &key);
            entries.into_iter().for_each(|entry| flatten(entry, parts));
            parts.push(SkeletonPart::Close);
        }
        Template::Array(items) if items.iter().all(|item| matches!(item, Item::One(_))) => {
            open(parts, ElementType::Array, &key);
            for (position, item) in items.into_iter().enumerate() {
                let Item::One(item) = item else { unreachable!("they were looked at") };
                index_key(position, |key| flatten_field(key.into(), item, parts));
            }
            parts.push(SkeletonPart::Close);
        }
        value @ (Template::Text(_) | Template::Array(_)) => {
            parts.push(SkeletonPart::Entry(DocumentPart::Field(Key::Fixed(key), value)));
        }
    }
}

fn open(parts: &mut Vec<SkeletonPart>, kind: ElementType, key: &str) {
    know(parts, &[&[kind as u8][..], key.as_bytes(), &[0]].concat());
    parts.push(SkeletonPart::Open);
}

/// Adds bytes to the last run, or begins one.
fn know(parts: &mut Vec<SkeletonPart>, known: &[u8]) {
    match parts.last_mut() {
        Some(SkeletonPart::Known(run)) => run.extend_from_slice(known),
        _ => parts.push(SkeletonPart::Known(known.to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::fixture::{plan, skeleton};

    fn forms(command: &str) -> Vec<&'static str> {
        let plan = plan("{ thing: \"record(thing, 4)\", l: [1, 2] }", command);
        let Skeleton::Parts(parts) = skeleton(&plan) else { return vec!["whole"] };
        let form = |part: &SkeletonPart| match part {
            SkeletonPart::Known(_) => "known",
            SkeletonPart::Slot(..) => "slot",
            SkeletonPart::Open => "open",
            SkeletonPart::Close => "close",
            SkeletonPart::Entry(_) => "entry",
        };
        parts.iter().map(form).collect()
    }

    #[test]
    fn constants_that_follow_each_other_are_one_run() {
        let find = forms("{ findOne: things, filter: { _id: <thing>, n: 1 } }");
        assert_eq!(find, ["known", "open", "slot", "known", "close", "known"]);
        let update = forms("{ updateOne: things, filter: { _id: <thing> }, update: { $inc: { n: 1 } } }");
        assert_eq!(
            update,
            ["known", "open", "known", "open", "known", "open", "slot", "close", "known", "close", "close", "known"]
        );
    }

    #[test]
    fn what_is_no_field_of_one_value_stays_as_it_is() {
        let loops = forms(
            "{ insertOne: things, document: { a: 1, b: [{ forEach: { x: l }, item: <x> }], c: 2, ...: <thing> } }",
        );
        let document =
            ["known", "open", "known", "open", "entry", "entry", "entry", "entry", "close", "close", "known"];
        assert_eq!(loops, document);
        assert_eq!(forms("{ command: { ping: 1 } }"), ["whole"]);
    }
}
