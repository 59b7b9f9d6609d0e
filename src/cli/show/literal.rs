//! BSON values as mongosh writes them.

use std::ops::RangeInclusive;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bson::{Bson, Document};

use super::code::Code;

/// How much of a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// All of it, for statements.
    Whole,
    /// Long texts, lists and documents truncated, with the number of omitted parts; for comments.
    Short,
}

/// The longest text, array and document of a comment: longer texts are halved, longer arrays keep one element.
const TEXT: usize = 48;
const ITEMS: usize = 3;
const FIELDS: usize = 24;

/// The first and the last millisecond of the years that `ISODate` takes.
const ISO_YEARS: RangeInclusive<i64> = -62_135_596_800_000..=253_402_300_799_999;

/// Writes a value so that mongosh makes the same BSON of it.
pub fn value(bson: &Bson, detail: Detail) -> Code {
    Code::Atom(match bson {
        Bson::Document(inner) => return document(inner, detail),
        Bson::Array(items) => return array(items, detail),
        Bson::String(text) => string(text, detail),
        Bson::Double(number) => double(*number),
        Bson::Int32(number) => number.to_string(),
        Bson::Int64(number) => format!("Long('{number}')"),
        Bson::Boolean(bool) => bool.to_string(),
        Bson::Null => "null".to_owned(),
        Bson::ObjectId(id) => format!("ObjectId('{id}')"),
        Bson::DateTime(instant) => match instant.try_to_rfc3339_string() {
            Ok(text) if ISO_YEARS.contains(&instant.timestamp_millis()) => format!("ISODate('{text}')"),
            _ => format!("new Date({})", instant.timestamp_millis()),
        },
        Bson::Decimal128(number) => format!("Decimal128('{number}')"),
        Bson::Timestamp(stamp) => format!("Timestamp({{ t: {}, i: {} }})", stamp.time, stamp.increment),
        Bson::MinKey => "MinKey()".to_owned(),
        Bson::MaxKey => "MaxKey()".to_owned(),
        Bson::Binary(binary) => match (binary.to_uuid(), detail) {
            (Ok(uuid), _) => format!("UUID('{uuid}')"),
            (Err(_), Detail::Short) if binary.bytes.len() > TEXT => {
                format!("BinData({}, /* {} bytes */)", u8::from(binary.subtype), binary.bytes.len())
            }
            _ => format!("BinData({}, '{}')", u8::from(binary.subtype), STANDARD.encode(&binary.bytes)),
        },
        Bson::RegularExpression(regex) => {
            format!("BSONRegExp({}, {})", quoted(regex.pattern.as_str()), quoted(regex.options.as_str()))
        }
        Bson::JavaScriptCode(code) => format!("Code({})", quoted(code)),
        Bson::JavaScriptCodeWithScope(code) => {
            let arguments = vec![Code::Atom(quoted(&code.code)), document(&code.scope, detail)];
            return Code::Call("Code".to_owned(), arguments);
        }
        Bson::Symbol(text) => format!("BSONSymbol({})", quoted(text)),
        // Deprecated since long ago; neither a scenario nor the shell can write them.
        Bson::Undefined | Bson::DbPointer(_) => "undefined".to_owned(),
    })
}

/// Writes a document; with a `Map` where an object of JavaScript would order its fields in another way.
pub fn document(document: &Document, detail: Detail) -> Code {
    if detail == Detail::Whole && is_reordered(document) {
        let pair = |(key, inner): (&String, &Bson)| Code::Array(vec![Code::Atom(quoted(key)), value(inner, detail)]);
        return Code::Call("new Map".to_owned(), vec![Code::Array(document.iter().map(pair).collect())]);
    }
    let shown = if detail == Detail::Whole { usize::MAX } else { FIELDS };
    let part = |(name, inner): (&String, &Bson)| (format!("{}: ", key(name)), value(inner, detail));
    let mut parts: Vec<(String, Code)> = document.iter().take(shown).map(part).collect();
    if document.len() > shown {
        parts.push((String::new(), Code::Atom(format!("/* {} more fields */", document.len() - shown))));
    }
    Code::Object(parts)
}

fn array(items: &[Bson], detail: Detail) -> Code {
    let shown = if detail == Detail::Short && items.len() > ITEMS { 1 } else { items.len() };
    let mut parts: Vec<Code> = items.iter().take(shown).map(|item| value(item, detail)).collect();
    if items.len() > shown {
        parts.push(Code::Atom(format!("/* {} more */", items.len() - shown)));
    }
    Code::Array(parts)
}

/// Writes a double. Of a whole number mongosh would make an int.
fn double(number: f64) -> String {
    match number {
        number if number.is_nan() => "NaN".to_owned(),
        number if number.is_infinite() => if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        number if number.fract() == 0.0 => format!("Double({number:?})").replace(".0)", ")"),
        number => format!("{number:?}"),
    }
}

fn string(text: &str, detail: Detail) -> String {
    let length = text.chars().count();
    if detail == Detail::Whole || length <= TEXT {
        return quoted(text);
    }
    let kept = TEXT / 2;
    let beginning: String = text.chars().take(kept).collect();
    format!("{} /* {} more characters */", quoted(&(beginning + "…")), length - kept)
}

/// Whether JavaScript would put a field that looks like an array index before one that it follows here.
fn is_reordered(document: &Document) -> bool {
    let index = |key: &String| key.parse::<u32>().ok().filter(|index| *index < u32::MAX && index.to_string() == *key);
    let indexes: Vec<Option<u32>> = document.keys().map(index).collect();
    indexes.windows(2).any(|pair| pair[1].is_some() && (pair[0].is_none() || pair[0] > pair[1]))
}

fn key(key: &str) -> String {
    match key {
        // Without brackets it would set the prototype of the object.
        "__proto__" => format!("[{}]", quoted(key)),
        key if is_identifier(key) => key.to_owned(),
        key => quoted(key),
    }
}

/// Whether JavaScript takes a name without quotes.
pub fn is_identifier(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_' || first == '$')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
}

/// Returns a text in single quotes.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    for character in text.chars() {
        match character {
            '\'' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            // Anything else that a terminal would act on.
            control if control.is_control() => quoted.push_str(&format!("\\u{:04x}", control as u32)),
            other => quoted.push(other),
        }
    }
    quoted + "'"
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    fn written(bson: impl Into<Bson>) -> String {
        value(&bson.into(), Detail::Whole).layout(0, 0, 0)
    }

    #[test]
    fn values_keep_their_type() {
        let cases: [(Bson, &str); 9] = [
            (1.into(), "1"),
            (1_i64.into(), "Long('1')"),
            (1.0.into(), "Double(1)"),
            ((-0.0).into(), "Double(-0)"),
            (1e-7.into(), "1e-7"),
            (bson::DateTime::from_millis(0).into(), "ISODate('1970-01-01T00:00:00Z')"),
            (bson::DateTime::from_millis(-100_000_000_000_000).into(), "new Date(-100000000000000)"),
            (bson::Uuid::from_bytes([1; 16]).into(), "UUID('01010101-0101-0101-0101-010101010101')"),
            (Bson::Symbol("a'b".into()), r"BSONSymbol('a\'b')"),
        ];
        for (bson, expected) in cases {
            assert_eq!(written(bson), expected);
        }
    }

    #[test]
    fn texts_and_keys_are_escaped() {
        assert_eq!(written("it's \\ a\u{1b}[31m\tb\n"), r"'it\'s \\ a\u001b[31m\u0009b\n'");
        let keys = doc! { "$push": 1, "a.b": 1, "__proto__": 1, "1x": 1 };
        assert_eq!(written(keys), "{ $push: 1, 'a.b': 1, ['__proto__']: 1, '1x': 1 }");
    }

    #[test]
    fn the_order_of_fields_survives() {
        assert_eq!(written(doc! { "0": 1, "7": 2, "a": 3 }), "{ '0': 1, '7': 2, a: 3 }");
        assert_eq!(written(doc! { "a": 3, "0": 1 }), "new Map([['a', 3], ['0', 1]])");
        assert_eq!(written(doc! { "7": 3, "0": 1 }), "new Map([['7', 3], ['0', 1]])");
        assert_eq!(written(doc! { "a": 3, "07": 1 }), "{ a: 3, '07': 1 }");
    }

    #[test]
    fn comments_are_cut_and_count_what_is_missing() {
        let long = doc! { "_id": 1_i64, "text": "ä".repeat(100), "list": vec![1; 100], "few": vec![1.0; 3] };
        assert_eq!(
            document(&long, Detail::Short).layout(0, 0, 0),
            format!(
                "{{\n  _id: Long('1'),\n  text: '{}…' /* 76 more characters */,\n  list: [1, /* 99 more */],\n  few: [Double(1), Double(1), Double(1)],\n}}",
                "ä".repeat(24)
            )
        );
        let wide: Document = (0..30).map(|field| (format!("f{field}"), Bson::Null)).collect();
        assert!(document(&wide, Detail::Short).layout(0, 0, 0).contains("  /* 6 more fields */,\n"));
        assert!(!document(&wide, Detail::Whole).layout(0, 0, 0).contains("more"));
    }
}
