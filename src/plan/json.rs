//! Extended JSON with its fields in the order of the text.

use std::fmt;

use bson::{Bson, Document, doc};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Keys that name a type, rather than being those of a document.
const TYPES: &str = "$oid $date $binary $type $uuid $numberInt $numberLong $numberDouble $numberDecimal $timestamp $regex $options \
                     $regularExpression $symbol $code $scope $dbPointer $minKey $maxKey $undefined";

/// A document of a file, or why it is none: never with a value of it.
#[derive(Debug)]
pub struct JsonDocument(pub Result<Document, &'static str>);

impl<'de> Deserialize<'de> for JsonDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let document = interpreted(PlainJson::deserialize(deserializer)?.0).and_then(|value| match value {
            Bson::Document(document) => Ok(document),
            _ => Err("a value that is no document"),
        });
        Ok(JsonDocument(document))
    }
}

/// The value that one of JSON is in Extended JSON.
fn interpreted(value: Bson) -> Result<Bson, &'static str> {
    match value {
        Bson::Document(document) if is_typed(&document) => {
            let value = bson::deserialize_from_bson(second_version(document).into());
            value.map_err(|_| "a value of a type that is not known")
        }
        Bson::Document(document) => {
            let fields = document.into_iter().map(|(name, value)| Ok((name, interpreted(value)?)));
            fields.collect::<Result<Document, _>>().map(Bson::Document)
        }
        Bson::Array(items) => items.into_iter().map(interpreted).collect::<Result<_, _>>().map(Bson::Array),
        value => Ok(value),
    }
}

fn is_typed(document: &Document) -> bool {
    document.keys().next().is_some_and(|first| TYPES.split_whitespace().any(|known| known == first))
}

/// A value of the first version of Extended JSON in the form of the second.
fn second_version(value: Document) -> Document {
    let field = |name: &str| value.get(name).cloned();
    match (field("$binary"), field("$type"), field("$regex"), field("$options")) {
        (Some(Bson::String(bytes)), Some(Bson::String(subtype)), ..) => {
            doc! { "$binary": { "base64": bytes, "subType": subtype } }
        }
        (_, _, Some(pattern @ Bson::String(_)), Some(options)) => {
            doc! { "$regularExpression": { "pattern": pattern, "options": options } }
        }
        _ => value,
    }
}

/// Any value of JSON; Extended JSON is not interpreted.
struct PlainJson(Bson);

impl<'de> Deserialize<'de> for PlainJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlainVisitor).map(PlainJson)
    }
}

struct PlainVisitor;

impl<'de> Visitor<'de> for PlainVisitor {
    type Value = Bson;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Bson, E> {
        Ok(Bson::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Bson, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Bson, E> {
        Ok(i32::try_from(value).map_or(Bson::Int64(value), Bson::Int32))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Bson, E> {
        i64::try_from(value).map_or(Ok(Bson::Double(value as f64)), |value| self.visit_i64(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Bson, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Bson, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Bson, A::Error> {
        let mut made = Vec::new();
        while let Some(PlainJson(item)) = items.next_element()? {
            made.push(item);
        }
        Ok(Bson::Array(made))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Bson, A::Error> {
        let mut made = Document::new();
        while let Some((name, PlainJson(value))) = fields.next_entry::<String, PlainJson>()? {
            made.insert(name, value);
        }
        Ok(Bson::Document(made))
    }
}
