//! Log lines as documents. Extended JSON is not interpreted any further than statements need: the server itself writes forms that
//! strict readers reject, such as the `subType` of one digit in every `$clusterTime`.

use std::fmt;

use bson::{Bson, Document};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Keys of extended JSON whose mapping is one value.
const VALUES: [&str; 11] = [
    "$oid", "$uuid", "$date", "$binary", "$timestamp", "$numberDecimal", "$code", "$symbol", "$minKey", "$maxKey",
    "$undefined",
];

/// Keys of extended JSON whose mapping is a number.
const NUMBERS: [&str; 3] = ["$numberInt", "$numberLong", "$numberDouble"];

/// Reads a line; none if it is no JSON object.
pub(super) fn document(line: &str) -> Option<Document> {
    match serde_json::from_str::<Plain>(line).ok()?.0 {
        Bson::Document(document) => Some(document),
        _ => None,
    }
}

struct Plain(Bson);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Plain, D::Error> {
        deserializer.deserialize_any(PlainVisitor).map(Plain)
    }
}

struct PlainVisitor;

impl<'de> Visitor<'de> for PlainVisitor {
    type Value = Bson;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Bson, E> {
        Ok(Bson::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Bson, E> {
        Ok(Bson::Int64(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Bson, E> {
        Ok(i64::try_from(value).map_or(Bson::Double(value as f64), Bson::Int64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Bson, E> {
        Ok(Bson::Double(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Bson, E> {
        Ok(Bson::String(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Bson, E> {
        Ok(Bson::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Bson, A::Error> {
        let mut found = Vec::new();
        while let Some(Plain(item)) = items.next_element()? {
            found.push(item);
        }
        Ok(Bson::Array(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Bson, A::Error> {
        let mut found = Document::new();
        while let Some((key, Plain(value))) = entries.next_entry::<String, Plain>()? {
            found.insert(key, value);
        }
        Ok(value(found))
    }
}

/// The value that a mapping of extended JSON is, or the mapping.
fn value(mapping: Document) -> Bson {
    let Some((key, inner)) = mapping.iter().next() else { return Bson::Document(mapping) };
    match key.as_str() {
        "$date" => {
            inner.as_str().map_or_else(|| Bson::String(mapping.to_string()), |text| Bson::String(text.to_owned()))
        }
        "$regularExpression" => Bson::Document(Document::from_iter([("$regex".to_owned(), Bson::Null)])),
        key if VALUES.contains(&key) => Bson::String(mapping.to_string()),
        key if NUMBERS.contains(&key) => {
            let number = inner.as_str().and_then(|text| text.parse().ok());
            number.map_or(Bson::Double(f64::NAN), Bson::Double)
        }
        _ => Bson::Document(mapping),
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    #[test]
    fn values_of_extended_json_are_no_mappings() {
        let line = r#"{"b":{"$binary":{"base64":"AAAA","subType":"0"}},"a":{"$oid":"6b09506a5a32abf2eb96e3b8"},
            "n":{"$numberLong":"-7"},"at":{"$date":"2026-11-27T09:42:02.367+00:00"},"in":{"$in":[1,2.5,null]},
            "r":{"$regularExpression":{"pattern":"^x","options":""}}}"#;
        let read = document(line).unwrap();
        let keys: Vec<&str> = read.keys().map(String::as_str).collect();
        assert_eq!(keys, ["b", "a", "n", "at", "in", "r"]);
        assert!(read.get_str("b").is_ok() && read.get_str("a").is_ok());
        assert_eq!(read.get("n"), Some(&Bson::Double(-7.0)));
        assert_eq!(read.get_str("at").unwrap(), "2026-11-27T09:42:02.367+00:00");
        assert_eq!(read.get("in"), Some(&Bson::Document(doc! { "$in": [1_i64, 2.5, null] })));
        assert_eq!(read.get("r"), Some(&Bson::Document(doc! { "$regex": null })));
        assert_eq!(document("[1]"), None);
    }
}
