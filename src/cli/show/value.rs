//! Values as mongosh writes them: those of a call exactly, those of documents shortened.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bson::Bson;

use crate::plan::Value;

use super::code::{Code, Key};
use super::literal::{name, quoted};
use super::scope::Context;

/// Texts of arguments that are longer lose their end: so much text says nothing to a reader.
const TEXT: usize = 200;
/// Binary data of arguments that is longer loses its end.
const BYTES: usize = 64;
/// Lists of arguments that are longer lose their end.
const ITEMS: usize = 100;

/// An int: mongosh makes a double of a number that int32 cannot hold.
pub fn int(int: i64) -> String {
    if i32::try_from(int).is_ok() { int.to_string() } else { format!("Long('{int}')") }
}

/// A double: mongosh makes an int of a whole number.
pub fn double(number: f64) -> String {
    match number {
        number if number.is_nan() => "NaN".to_owned(),
        number if number.is_infinite() => if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        number if number.fract() == 0.0 => format!("Double({number:?})").replace(".0)", ")"),
        number => format!("{number:?}"),
    }
}

/// A date.
pub fn date(milliseconds: i64) -> String {
    let date = bson::DateTime::from_millis(milliseconds);
    match date.try_to_rfc3339_string() {
        Ok(text) => format!("ISODate('{text}')"),
        Err(_) => format!("new Date({milliseconds})"),
    }
}

fn binary(subtype: u8, bytes: &[u8]) -> String {
    if let (4, Ok(bytes)) = (subtype, <[u8; 16]>::try_from(bytes)) {
        return format!("UUID('{}')", bson::Uuid::from_bytes(bytes));
    }
    let kept = &bytes[..bytes.len().min(BYTES)];
    let left_out = match bytes.len() - kept.len() {
        0 => String::new(),
        more => format!(" /* {more} more bytes */"),
    };
    format!("BinData({subtype}, '{}'{left_out})", STANDARD.encode(kept))
}

fn text(text: &str) -> String {
    let length = text.chars().count();
    if length <= TEXT {
        return quoted(text);
    }
    let beginning: String = text.chars().take(TEXT).collect();
    format!("{} /* {} more characters */", quoted(&beginning), length - TEXT)
}

/// A value of a call.
pub fn exact(value: &Value) -> Code {
    Code::Atom(match value {
        Value::Null => "null".to_owned(),
        Value::Bool(bool) => bool.to_string(),
        Value::Int(number) => int(*number),
        Value::Double(number) => double(*number),
        Value::Text(string) => text(string),
        Value::ObjectId(id) => format!("ObjectId('{id}')"),
        Value::Date(milliseconds) => date(*milliseconds),
        Value::Binary(subtype, bytes) => binary(*subtype, bytes),
        Value::Other(other) => match &**other {
            Bson::Decimal128(number) => format!("Decimal128('{number}')"),
            other => other.to_string(),
        },
        Value::Outcome(outcome) => quoted(&crate::plan::written(&Value::Outcome(outcome.clone()))),
        Value::Record(_) => return exact(&value.referenced()),
        Value::List(_) | Value::Array(_) => {
            return list(value, exact);
        }
        Value::Document(_) | Value::Map(_) => {
            let entries = value.entries();
            return Code::Object(entries.iter().map(|(key, value)| (Key::Name(name(key)), exact(value))).collect());
        }
    })
}

fn list(value: &Value, item: impl Fn(&Value) -> Code) -> Code {
    let items: Vec<Value> = value.items().into_iter().flatten().collect();
    let mut parts: Vec<Code> = items.iter().take(ITEMS).map(item).collect();
    if items.len() > ITEMS {
        parts.push(Code::Comment(format!("{} more", items.len() - ITEMS)));
    }
    Code::Array(parts)
}

/// An argument: of records that are pointed at, only what the code reads.
pub fn argument(value: &Value, path: &str, context: &Context) -> Code {
    match value {
        Value::Record(record) if !record.is_whole() => match context.fields(path) {
            None => exact(&record.id()),
            Some(fields) if fields.contains("...") => exact(&Value::Document(record.document())),
            Some(fields) => {
                let mut entries = vec![(Key::Name("_id".to_owned()), exact(&record.id()))];
                for field in fields {
                    let found = record.get(&field).unwrap_or(Value::Null);
                    entries.push((Key::Name(name(&field)), argument(&found, &format!("{path}.{field}"), context)));
                }
                Code::Object(entries)
            }
        },
        Value::List(_) => list(value, |item| argument(item, &format!("{path}[]"), context)),
        other => exact(other),
    }
}
