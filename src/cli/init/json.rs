//! Extended JSON with its fields in the order of the text.

use std::fmt;

use bson::{Bson, Document};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};

/// A document of a file, or why it is none: never with a value of it.
#[derive(Debug)]
pub struct JsonDocument(pub Result<Document, &'static str>);

/// Any value of JSON.
enum Json {
    Plain(Bson),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

const UNKNOWN: &str = "a value of a type that is not known";

impl<'de> Deserialize<'de> for JsonDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let document = match Json::deserialize(deserializer)?.into_bson() {
            Ok(Bson::Document(document)) => Ok(document),
            Ok(_) => Err("a value that is no document"),
            Err(why) => Err(why),
        };
        Ok(JsonDocument(document))
    }
}

impl Json {
    fn into_bson(self) -> Result<Bson, &'static str> {
        match self {
            Json::Plain(value) => Ok(value),
            Json::List(items) => items.into_iter().map(Json::into_bson).collect::<Result<_, _>>().map(Bson::Array),
            Json::Map(fields) if fields.first().is_some_and(|(name, _)| name.starts_with('$') && is_typed(name)) => {
                let value = second_version(Json::Map(fields).into_value());
                serde_json::from_value(value).map_err(|_| UNKNOWN)
            }
            Json::Map(fields) => {
                let fields = fields.into_iter().map(|(name, value)| Ok((name, value.into_bson()?)));
                fields.collect::<Result<Document, _>>().map(Bson::Document)
            }
        }
    }

    fn into_value(self) -> Value {
        match self {
            Json::Plain(Bson::String(text)) => text.into(),
            Json::Plain(Bson::Boolean(value)) => value.into(),
            Json::Plain(Bson::Int32(n)) => n.into(),
            Json::Plain(Bson::Int64(n)) => n.into(),
            Json::Plain(Bson::Double(x)) => x.into(),
            Json::Plain(_) => Value::Null,
            Json::List(items) => items.into_iter().map(Json::into_value).collect(),
            Json::Map(fields) => fields.into_iter().map(|(name, value)| (name, value.into_value())).collect(),
        }
    }
}

/// Whether a key names a type, rather than being that of a document.
fn is_typed(name: &str) -> bool {
    const TYPES: &str = "$oid $date $binary $type $uuid $numberInt $numberLong $numberDouble $numberDecimal $timestamp $regex $options \
                         $regularExpression $symbol $code $scope $dbPointer $minKey $maxKey $undefined";
    TYPES.split_whitespace().any(|known| known == name)
}

/// A value of the first version of Extended JSON in the form of the second.
fn second_version(value: Value) -> Value {
    let Value::Object(fields) = &value else { return value };
    let field = |name: &str| fields.get(name);
    match (fields.len(), field("$date"), field("$binary"), field("$type"), field("$regex"), field("$options")) {
        (1, Some(Value::Number(millis)), ..) => json!({ "$date": { "$numberLong": millis.to_string() } }),
        (2, _, Some(Value::String(bytes)), Some(Value::String(subtype)), ..) => {
            json!({ "$binary": { "base64": bytes, "subType": subtype } })
        }
        (2, _, _, _, Some(pattern @ Value::String(_)), Some(options)) => {
            json!({ "$regularExpression": { "pattern": pattern, "options": options } })
        }
        _ => value,
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Plain(Bson::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Plain(i32::try_from(value).map_or(Bson::Int64(value), Bson::Int32)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        let whole = |value: i64| i32::try_from(value).map_or(Bson::Int64(value), Bson::Int32);
        Ok(Json::Plain(i64::try_from(value).map_or(Bson::Double(value as f64), whole)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Plain(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut made = Vec::new();
        while let Some(item) = items.next_element()? {
            made.push(item);
        }
        Ok(Json::List(made))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Json, A::Error> {
        let mut made = Vec::new();
        while let Some(field) = fields.next_entry()? {
            made.push(field);
        }
        Ok(Json::Map(made))
    }
}
