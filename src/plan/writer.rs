//! Writes BSON bytes in one pass into one buffer; nested documents are patched with their length when they end.

use bson::RawDocumentBuf;
use bson::spec::ElementType;

use super::budget;
use super::value::{EvalError, Value};

/// A document under construction.
#[derive(Debug)]
pub struct Writer {
    bytes: Vec<u8>,
}

/// Where a document's length goes once it is known.
#[derive(Debug)]
pub struct Open(usize);

impl Writer {
    /// Starts the outermost document.
    pub fn new() -> (Writer, Open) {
        let mut writer = Writer { bytes: Vec::with_capacity(256) };
        let open = writer.open();
        (writer, open)
    }

    /// Writes a whole document.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn document<E>(write: impl FnOnce(&mut Writer) -> Result<(), E>) -> Result<RawDocumentBuf, E> {
        let (mut writer, open) = Writer::new();
        write(&mut writer)?;
        Ok(writer.finish(open))
    }

    /// The number of bytes written so far.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Starts a document or array whose header is written.
    pub(super) fn open(&mut self) -> Open {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        Open(at)
    }

    /// The type and the key of an element.
    #[inline]
    fn header(&mut self, kind: ElementType, key: &str) {
        debug_assert!(!key.contains('\0'));
        self.bytes.push(kind as u8);
        self.bytes.extend_from_slice(key.as_bytes());
        self.bytes.push(0);
    }

    /// Takes back all that was written after the first `size` bytes, which ended with a whole element.
    pub fn truncate(&mut self, size: usize) {
        self.bytes.truncate(size);
    }

    /// Starts a nested document under `key`.
    pub fn begin_document(&mut self, key: &str) -> Open {
        self.header(ElementType::EmbeddedDocument, key);
        self.open()
    }

    /// Starts a nested array under `key`; its elements take the keys `"0"`, `"1"`...
    pub fn begin_array(&mut self, key: &str) -> Open {
        self.header(ElementType::Array, key);
        self.open()
    }

    /// Ends what `open` began.
    pub fn end(&mut self, open: Open) {
        self.bytes.push(0);
        let length = (self.bytes.len() - open.0) as u32;
        self.bytes[open.0..open.0 + 4].copy_from_slice(&length.to_le_bytes());
    }

    /// Ends the outermost document and hands it over.
    pub fn finish(mut self, open: Open) -> RawDocumentBuf {
        self.end(open);
        RawDocumentBuf::from_bytes(self.bytes).expect("the writer closes every document")
    }

    /// Copies elements that are encoded already.
    pub fn copy(&mut self, elements: &[u8]) {
        self.bytes.extend_from_slice(elements);
    }

    /// An element that is encoded already, but for its key.
    #[inline]
    pub fn element(&mut self, key: &str, kind: ElementType, value: &[u8]) {
        self.header(kind, key);
        self.bytes.extend_from_slice(value);
    }

    /// A null element.
    pub fn null(&mut self, key: &str) {
        self.header(ElementType::Null, key);
    }

    /// A string element.
    pub fn text(&mut self, key: &str, text: &str) {
        self.element(key, ElementType::String, &(text.len() as u32 + 1).to_le_bytes());
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
    }

    /// Writes any value; a reference as its `_id`, a whole record as its document, an outcome as null.
    ///
    /// # Errors
    /// When a record cannot be drawn, a key contains a zero byte, or the document becomes too large.
    pub fn value(&mut self, key: &str, value: &Value) -> Result<(), EvalError> {
        budget::take_bytes(value.weight().saturating_mul(64))?;
        if key.contains('\0') {
            return Err(EvalError::new("a key may not contain a zero byte"));
        }
        match value {
            Value::Null | Value::Outcome(_) => self.null(key),
            Value::Bool(b) => self.element(key, ElementType::Boolean, &[u8::from(*b)]),
            Value::Int(i) => self.int(key, *i),
            Value::Double(d) => self.element(key, ElementType::Double, &d.to_le_bytes()),
            Value::Text(text) => self.text(key, text),
            Value::ObjectId(id) => self.element(key, ElementType::ObjectId, &id.bytes()),
            Value::Date(millis) => self.element(key, ElementType::DateTime, &millis.to_le_bytes()),
            Value::Binary(subtype, bytes) => {
                self.element(key, ElementType::Binary, &(bytes.len() as u32).to_le_bytes());
                self.bytes.push(*subtype);
                self.bytes.extend_from_slice(bytes);
            }
            Value::Other(bson) => self.other(key, bson),
            Value::Document(raw) => self.element(key, ElementType::EmbeddedDocument, raw.bytes()),
            Value::Array(raw) => self.element(key, ElementType::Array, raw.bytes()),
            Value::List(items) => {
                let open = self.begin_array(key);
                for (position, item) in items.iter().enumerate() {
                    index_key(position, |key| self.value(key, item))?;
                }
                self.end(open);
            }
            Value::Map(entries) => {
                let open = self.begin_document(key);
                entries.iter().try_for_each(|(name, item)| self.value(name, item))?;
                self.end(open);
            }
            Value::Record(record) if record.is_whole() => {
                let open = self.begin_document(key);
                record.write(self)?;
                self.end(open);
            }
            Value::Record(record) => self.value(key, &record.id()?)?,
        }
        Ok(())
    }

    /// Writes an int, as an int32 where it fits.
    pub fn int(&mut self, key: &str, int: i64) {
        match i32::try_from(int) {
            Ok(small) => self.element(key, ElementType::Int32, &small.to_le_bytes()),
            Err(_) => self.element(key, ElementType::Int64, &int.to_le_bytes()),
        }
    }

    /// The rare scalars go through the driver's encoder.
    fn other(&mut self, key: &str, bson: &bson::Bson) {
        let encoded = bson::RawBson::try_from(bson.clone()).ok().and_then(|raw| {
            let key = bson::raw::CString::try_from(key.to_owned()).ok()?;
            let mut holder = RawDocumentBuf::new();
            holder.append(key, raw);
            Some(holder)
        });
        if let Some(holder) = encoded {
            let bytes = holder.as_bytes();
            self.bytes.extend_from_slice(&bytes[4..bytes.len() - 1]);
        }
    }
}

/// Calls `write` with the key of an array element: the position in decimal, made on the stack.
pub fn index_key<T>(position: usize, write: impl FnOnce(&str) -> T) -> T {
    let mut digits = [0; 20];
    let mut start = digits.len();
    let mut rest = position;
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    write(std::str::from_utf8(&digits[start..]).unwrap_or("0"))
}

#[cfg(test)]
mod tests {
    use bson::RawDocumentBuf as Raw;
    use proptest::prelude::*;

    use super::*;
    use crate::compile::fixture::{any_value, bson_of};

    proptest! {
        #[test]
        fn writes_the_bytes_that_the_driver_writes(values in prop::collection::vec(any_value(), 0..6)) {
            let (mut writer, open) = Writer::new();
            let mut expected = bson::Document::new();
            for (position, value) in values.iter().enumerate() {
                let key = format!("k{position}");
                writer.value(&key, value).unwrap();
                expected.insert(key, bson_of(value));
            }
            let written = writer.finish(open);
            prop_assert_eq!(written, Raw::try_from(&expected).unwrap());
        }

        #[test]
        fn index_keys_are_decimal(position in any::<usize>()) {
            prop_assert_eq!(index_key(position, str::to_owned), position.to_string());
        }
    }
}
