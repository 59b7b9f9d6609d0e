//! A shared slice of BSON, read in place.
//!
//! The walk over elements is ours rather than the driver's, because expressions touch every element of a reply: it
//! looks at nothing but lengths, where the driver's checks each key and nested document.

use std::fmt;
use std::sync::Arc;

use bson::RawDocument;
use bson::oid::ObjectId;
use bson::spec::ElementType;

use super::Writer;
use super::value::{EvalError, Value};

/// One document or array inside a larger buffer. Cloning copies a pointer.
#[derive(Clone)]
pub struct Raw {
    buffer: Arc<dyn AsRef<RawDocument> + Send + Sync>,
    start: usize,
    end: usize,
}

impl fmt::Debug for Raw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().fmt(formatter)
    }
}

/// One element of a document: its type, its key and its value's bytes.
#[derive(Debug, Clone, Copy)]
struct RawElement<'r> {
    kind: ElementType,
    key: &'r [u8],
    value: &'r [u8],
}

/// The elements of a document's bytes; malformed bytes end them.
struct RawElements<'r> {
    rest: &'r [u8],
}

fn length_prefix(bytes: &[u8]) -> Option<usize> {
    usize::try_from(i32::from_le_bytes(bytes.first_chunk().copied()?)).ok()
}

fn c_string(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == 0).map(|zero| zero + 1)
}

/// The bytes that a value of this type takes at the start of `bytes`.
fn value_length(kind: ElementType, bytes: &[u8]) -> Option<usize> {
    use ElementType::*;
    Some(match kind {
        Null | Undefined | MinKey | MaxKey => 0,
        Boolean => 1,
        Int32 => 4,
        Double | DateTime | Timestamp | Int64 => 8,
        ObjectId => 12,
        Decimal128 => 16,
        String | JavaScriptCode | Symbol => length_prefix(bytes)? + 4,
        Binary => length_prefix(bytes)? + 5,
        EmbeddedDocument | Array | JavaScriptCodeWithScope => length_prefix(bytes)?,
        DbPointer => length_prefix(bytes)? + 16,
        RegularExpression => {
            let pattern = c_string(bytes)?;
            pattern + c_string(&bytes[pattern..])?
        }
    })
}

impl<'r> RawElements<'r> {
    fn of(document: &'r [u8]) -> RawElements<'r> {
        RawElements { rest: document.get(4..).unwrap_or_default() }
    }
}

impl<'r> Iterator for RawElements<'r> {
    type Item = RawElement<'r>;

    fn next(&mut self) -> Option<RawElement<'r>> {
        let (&kind, after) = self.rest.split_first()?;
        let (kind, key) = (ElementType::from(kind)?, c_string(after)?);
        let value = value_length(kind, &after[key..])?;
        let element = RawElement { kind, key: &after[..key - 1], value: after.get(key..key + value)? };
        self.rest = &after[key + value..];
        Some(element)
    }
}

/// The field `key` of an element that holds a document.
fn field_of<'r>(element: RawElement<'r>, key: &str) -> Option<RawElement<'r>> {
    let holds = matches!(element.kind, ElementType::EmbeddedDocument | ElementType::Array);
    RawElements::of(if holds { element.value } else { &[] }).find(|field| field.key == key.as_bytes())
}

impl Raw {
    /// A whole document.
    pub fn new(document: impl AsRef<RawDocument> + Send + Sync + 'static) -> Raw {
        let end = document.as_ref().as_bytes().len();
        Raw { buffer: Arc::new(document), start: 0, end }
    }

    fn whole(&self) -> &[u8] {
        (*self.buffer).as_ref().as_bytes()
    }

    /// The bytes, length prefix and final zero included.
    pub fn bytes(&self) -> &[u8] {
        &self.whole()[self.start..self.end]
    }

    /// The bytes as a document; an array's keys are `"0"`, `"1"`...
    pub fn document(&self) -> &RawDocument {
        RawDocument::from_bytes(self.bytes()).expect("a slice cut at element borders")
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        RawElements::of(self.bytes()).count()
    }

    /// Whether it has no field or element; unlike `count`, it visits none.
    pub fn is_empty(&self) -> bool {
        RawElements::of(self.bytes()).next().is_none()
    }

    /// A field's value; `None` when it is missing.
    pub fn get(&self, key: &str) -> Option<Value> {
        let found = RawElements::of(self.bytes()).find(|element| element.key == key.as_bytes())?;
        Some(self.value(found))
    }

    /// A field's type and the bytes of its value; `None` when it is missing.
    pub fn element(&self, key: &str) -> Option<(ElementType, &[u8])> {
        let found = RawElements::of(self.bytes()).find(|element| element.key == key.as_bytes())?;
        Some((found.kind, found.value))
    }

    /// The keys and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Value)> {
        RawElements::of(self.bytes())
            .filter_map(|element| Some((std::str::from_utf8(element.key).ok()?, self.value(element))))
    }

    /// The values alone.
    pub fn items(&self) -> impl Iterator<Item = Value> {
        RawElements::of(self.bytes()).map(|element| self.value(element))
    }

    /// The field `key` of every document inside; null where it is missing. A list inside maps, as everywhere.
    ///
    /// # Errors
    /// None: documents hold no records. It is the error of [`Value::get`].
    pub fn pluck(&self, key: &str) -> Result<Vec<Value>, EvalError> {
        let field = |element: RawElement<'_>| match field_of(element, key) {
            _ if element.kind == ElementType::Array => self.value(element).field(key),
            Some(found) => Ok(self.value(found)),
            None => Ok(Value::Null),
        };
        RawElements::of(self.bytes()).map(field).collect()
    }

    /// The part of this buffer that `inner`, found inside it, occupies.
    fn cut(&self, inner: &[u8]) -> Raw {
        let start = inner.as_ptr() as usize - self.whole().as_ptr() as usize;
        Raw { buffer: Arc::clone(&self.buffer), start, end: start + inner.len() }
    }

    fn value(&self, element: RawElement<'_>) -> Value {
        let bytes = element.value;
        let known = match element.kind {
            ElementType::Null | ElementType::Undefined => Some(Value::Null),
            ElementType::EmbeddedDocument => Some(Value::Document(self.cut(bytes))),
            ElementType::Array => Some(Value::Array(self.cut(bytes))),
            ElementType::Boolean => bytes.first().map(|byte| Value::Bool(*byte != 0)),
            ElementType::Int32 => bytes.first_chunk().map(|four| Value::Int(i32::from_le_bytes(*four).into())),
            ElementType::Int64 => bytes.first_chunk().map(|eight| Value::Int(i64::from_le_bytes(*eight))),
            ElementType::DateTime => bytes.first_chunk().map(|eight| Value::Date(i64::from_le_bytes(*eight))),
            ElementType::Double => bytes.first_chunk().map(|eight| Value::Double(f64::from_le_bytes(*eight))),
            ElementType::ObjectId => bytes.first_chunk().map(|twelve| Value::ObjectId(ObjectId::from_bytes(*twelve))),
            ElementType::String => {
                let text = bytes.get(4..bytes.len() - 1).and_then(|text| std::str::from_utf8(text).ok());
                text.map(Value::text)
            }
            ElementType::Binary => bytes.get(5..).map(|data| Value::Binary(bytes[4], Arc::from(data))),
            _ => None,
        };
        known.unwrap_or_else(|| other(element))
    }
}

/// The rare types go through the driver's decoder.
fn other(element: RawElement<'_>) -> Value {
    let (mut writer, open) = Writer::new();
    writer.element("", element.kind, element.value);
    let holder = writer.finish(open);
    let decoded = holder.get("").ok().flatten().and_then(|value| bson::Bson::try_from(value).ok());
    decoded.map_or(Value::Null, |bson| Value::Other(Arc::new(bson)))
}

#[cfg(test)]
mod tests {
    use bson::{Bson, RawDocumentBuf, doc};

    use super::*;

    fn everything() -> bson::Document {
        doc! {
            "double": 1.5, "string": "text", "document": { "a": 1 }, "array": [1, "two", { "three": 3 }],
            "binary": Bson::Binary(bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: vec![1, 2] }),
            "undefined": Bson::Undefined, "id": ObjectId::from_bytes([7; 12]), "bool": true,
            "date": bson::DateTime::from_millis(12), "null": Bson::Null, "code": Bson::JavaScriptCode("f()".into()),
            "regex": bson::Regex { pattern: bson::raw::cstr!("^a").into(), options: bson::raw::cstr!("i").into() },
            "symbol": Bson::Symbol("s".into()), "int32": 5_i32, "stamp": bson::Timestamp { time: 1, increment: 2 },
            "int64": 1_i64 << 40, "decimal": "1.25".parse::<bson::Decimal128>().unwrap(),
            "min": Bson::MinKey, "max": Bson::MaxKey, "last": "end",
        }
    }

    #[test]
    fn the_walk_agrees_with_the_driver() {
        let document = everything();
        let raw = Raw::new(RawDocumentBuf::try_from(&document).unwrap());
        let keys: Vec<&str> = raw.iter().map(|(key, _)| key).collect();
        assert_eq!(keys, document.keys().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(raw.count(), document.len());
        for (key, value) in &document {
            let read = raw.get(key).unwrap();
            let (mut writer, open) = crate::plan::Writer::new();
            writer.value(key, &read).unwrap();
            let written = bson::Document::try_from(&*writer.finish(open)).unwrap();
            let expected = if *value == Bson::Undefined { &Bson::Null } else { value };
            assert_eq!(written.get(key), Some(expected), "{key}");
        }
        assert!(raw.get("missing").is_none());
    }

    #[test]
    fn cut_off_bytes_end_the_walk() {
        let whole = RawDocumentBuf::try_from(&everything()).unwrap();
        for length in 0..whole.as_bytes().len() {
            let count = RawElements::of(&whole.as_bytes()[..length]).count();
            assert!(count <= everything().len());
        }
    }

    #[test]
    fn pluck_gives_null_for_what_is_missing() {
        let document = doc! { "rows": [{ "a": 1 }, { "b": 2 }, { "x": 0, "a": "t" }, 5] };
        let rows = Raw::new(RawDocumentBuf::try_from(&document).unwrap()).get("rows").unwrap();
        let Value::Array(rows) = rows else { panic!("an array") };
        assert_eq!(rows.pluck("a").unwrap(), [Value::Int(1), Value::Null, Value::text("t"), Value::Null]);
    }
}
