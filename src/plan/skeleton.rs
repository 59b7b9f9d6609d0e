//! Command documents, flattened: what is the same in every call is encoded once, in runs as long as possible.

use std::slice::Iter;

use bson::RawDocumentBuf;
use bson::spec::ElementType;

use super::expression::{EvalError, Frame};
use super::template::{Entry, Item, Key, Path, Template, write_entry};
use super::writer::{Writer, index_key};

/// A document with holes.
#[derive(Debug)]
pub enum Skeleton {
    /// Its parts, in order.
    Parts(Vec<Part>),
    /// A document that is known as a whole only when it is bound.
    Whole(Template),
}

/// A part of a document.
#[derive(Debug)]
pub enum Part {
    /// Elements, or the beginnings of elements, that are the same in every call.
    Known(Vec<u8>),
    /// A key and its value.
    Slot(Box<str>, Path),
    /// The length of a document or array whose key and type are written, before its elements.
    Open,
    /// The end of it.
    Close,
    /// Whatever else there is in a document.
    Entry(Entry),
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
        match self {
            Skeleton::Parts(parts) => {
                let (mut writer, open) = Writer::new();
                write(&mut parts.iter(), &mut writer, frame)?;
                Ok(writer.finish(open))
            }
            Skeleton::Whole(template) => template.bind(frame),
        }
    }
}

/// Writes parts up to the end of the open document.
fn write(parts: &mut Iter<'_, Part>, writer: &mut Writer, frame: &mut Frame) -> Result<(), EvalError> {
    while let Some(part) = parts.next() {
        match part {
            Part::Known(bytes) => writer.copy(bytes),
            Part::Slot(key, path) => path.write(key, writer, frame)?,
            Part::Open => {
                let open = writer.open();
                write(parts, writer, frame)?;
                writer.end(open);
            }
            Part::Close => break,
            Part::Entry(entry) => write_entry(entry, writer, frame)?,
        }
    }
    Ok(())
}

fn flatten(entry: Entry, parts: &mut Vec<Part>) {
    match entry {
        Entry::Field(Key::Fixed(key), value) => flatten_field(key, value, parts),
        other => parts.push(Part::Entry(other)),
    }
}

fn flatten_field(key: Box<str>, value: Template, parts: &mut Vec<Part>) {
    match value {
        Template::Constant(value) => know(parts, |writer| writer.value(&key, &value)),
        Template::Slot(path) => parts.push(Part::Slot(key, path)),
        Template::Document(entries) => {
            know(parts, |writer| writer.header(ElementType::EmbeddedDocument, &key));
            parts.push(Part::Open);
            entries.into_iter().for_each(|entry| flatten(entry, parts));
            parts.push(Part::Close);
        }
        Template::Array(items) if items.iter().all(|item| matches!(item, Item::One(_))) => {
            know(parts, |writer| writer.header(ElementType::Array, &key));
            parts.push(Part::Open);
            for (position, item) in items.into_iter().enumerate() {
                let Item::One(item) = item else { unreachable!("they were looked at") };
                index_key(position, |key| flatten_field(key.into(), item, parts));
            }
            parts.push(Part::Close);
        }
        value @ (Template::Text(_) | Template::Array(_)) => {
            parts.push(Part::Entry(Entry::Field(Key::Fixed(key), value)));
        }
    }
}

/// Adds bytes to the last run, or begins one.
fn know(parts: &mut Vec<Part>, write: impl FnOnce(&mut Writer)) {
    let (mut writer, _) = Writer::new();
    let before = writer.bytes().len();
    write(&mut writer);
    let known = &writer.bytes()[before..];
    match parts.last_mut() {
        Some(Part::Known(run)) => run.extend_from_slice(known),
        _ => parts.push(Part::Known(known.to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{plan, skeleton};
    use super::*;

    fn forms(command: &str) -> Vec<&'static str> {
        let plan = plan("{ thing: \"record(thing, 4)\", l: [1, 2] }", command);
        let Skeleton::Parts(parts) = skeleton(&plan) else { return vec!["whole"] };
        let form = |part: &Part| match part {
            Part::Known(_) => "known",
            Part::Slot(..) => "slot",
            Part::Open => "open",
            Part::Close => "close",
            Part::Entry(_) => "entry",
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
        let loops = forms("{ command: { a: 1, b: [{ forEach: { x: l }, item: <x> }], c: 2, ...: <thing> } }");
        assert_eq!(loops, ["entry"; 4]);
        assert_eq!(forms("{ command: { a: 1 } }"), ["whole"]);
    }
}
