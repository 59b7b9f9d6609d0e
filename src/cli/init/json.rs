//! Extended JSON with its fields in the order of the text.

use std::fmt;

use bson::{Bson, Document};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};

/// A document of a file, or why it is none: never with a value of it.
#[derive(Debug)]
pub struct JsonDocument(pub Result<Document, &'static str>);

/// Any value of JSON.
enum JsonValue {
    Plain(Bson),
    List(Vec<JsonValue>),
    Map(Vec<(String, JsonValue)>),
}

const UNKNOWN: &str = "a value of a type that is not known";

impl<'de> Deserialize<'de> for JsonDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let document = match JsonValue::deserialize(deserializer)?.into_bson() {
            Ok(Bson::Document(document)) => Ok(document),
            Ok(_) => Err("a value that is no document"),
            Err(why) => Err(why),
        };
        Ok(JsonDocument(document))
    }
}

impl JsonValue {
    fn into_bson(self) -> Result<Bson, &'static str> {
        match self {
            JsonValue::Plain(value) => Ok(value),
            JsonValue::List(items) => {
                items.into_iter().map(JsonValue::into_bson).collect::<Result<_, _>>().map(Bson::Array)
            }
            JsonValue::Map(fields)
                if fields.first().is_some_and(|(name, _)| name.starts_with('$') && is_typed(name)) =>
            {
                let value = second_version(JsonValue::Map(fields).into_value());
                serde_json::from_value(value).map_err(|_| UNKNOWN)
            }
            JsonValue::Map(fields) => {
                let fields = fields.into_iter().map(|(name, value)| Ok((name, value.into_bson()?)));
                fields.collect::<Result<Document, _>>().map(Bson::Document)
            }
        }
    }

    fn into_value(self) -> Value {
        match self {
            JsonValue::Plain(Bson::String(text)) => text.into(),
            JsonValue::Plain(Bson::Boolean(value)) => value.into(),
            JsonValue::Plain(Bson::Int32(n)) => n.into(),
            JsonValue::Plain(Bson::Int64(n)) => n.into(),
            JsonValue::Plain(Bson::Double(x)) => x.into(),
            JsonValue::Plain(_) => Value::Null,
            JsonValue::List(items) => items.into_iter().map(JsonValue::into_value).collect(),
            JsonValue::Map(fields) => fields.into_iter().map(|(name, value)| (name, value.into_value())).collect(),
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

impl<'de> Deserialize<'de> for JsonValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = JsonValue;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<JsonValue, E> {
        Ok(JsonValue::Plain(Bson::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<JsonValue, E> {
        Ok(JsonValue::Plain(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<JsonValue, E> {
        Ok(JsonValue::Plain(i32::try_from(value).map_or(Bson::Int64(value), Bson::Int32)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<JsonValue, E> {
        let whole = |value: i64| i32::try_from(value).map_or(Bson::Int64(value), Bson::Int32);
        Ok(JsonValue::Plain(i64::try_from(value).map_or(Bson::Double(value as f64), whole)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<JsonValue, E> {
        Ok(JsonValue::Plain(value.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<JsonValue, E> {
        Ok(JsonValue::Plain(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<JsonValue, A::Error> {
        let mut made = Vec::new();
        while let Some(item) = items.next_element()? {
            made.push(item);
        }
        Ok(JsonValue::List(made))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<JsonValue, A::Error> {
        let mut made = Vec::new();
        while let Some(field) = fields.next_entry()? {
            made.push(field);
        }
        Ok(JsonValue::Map(made))
    }
}
