//! Real values of records, as lines for the fields of an entity.

use bson::{Bson, RawBsonRef, RawDocument};
use serde_json::json;

use crate::plan::DataFile;

use super::layout::{EntityPlace, FieldPlace};
use super::sample::CollectionSample;

/// The values of an entity's fields, of each record in the sample.
#[derive(Debug)]
pub struct RealValues {
    /// The entity.
    pub entity: String,
    /// How many records there are.
    pub records: u64,
    /// A line of Extended JSON for each, with the names of the model.
    pub text: String,
}

impl RealValues {
    /// Those of an entity; `None` if none of its fields has any. Records that would make the file too large are left out.
    pub fn of(place: &EntityPlace, sample: &CollectionSample) -> Option<RealValues> {
        let fields: Vec<&FieldPlace> = place.fields.iter().filter(|field| field.is_value).collect();
        let mut found = Vec::new();
        let array = place.array.as_deref().unwrap_or_default();
        sample.documents.iter().for_each(|document| records(document, array, &mut found));
        let mut made = RealValues { entity: place.entity.clone(), records: 0, text: String::new() };
        for line in found.into_iter().map(|record| line(record, &fields)) {
            if (made.text.len() + line.len()) as u64 >= DataFile::MOST_BYTES {
                break;
            }
            made.text.push_str(&line);
            made.text.push('\n');
            made.records += 1;
        }
        (!fields.is_empty() && made.records > 0).then_some(made)
    }
}

/// Adds the documents in an array at this path, or the document itself where there is none.
fn records<'d>(document: &'d RawDocument, array: &[String], found: &mut Vec<&'d RawDocument>) {
    let Some((field, inner)) = array.split_first() else { return found.push(document) };
    let Ok(Some(RawBsonRef::Array(items))) = document.get(field) else { return };
    let inner = inner.strip_prefix(&["[]".to_owned()]).unwrap_or(inner);
    let items = items.into_iter().map_while(Result::ok).filter_map(|item| item.as_document());
    items.for_each(|item| records(item, inner, found));
}

fn line(record: &RawDocument, fields: &[&FieldPlace]) -> String {
    object(fields.iter().filter_map(|field| {
        let value = record.get(field.path.first()?).ok()??;
        Some((field.field.as_str(), json(&Bson::try_from(value).ok()?)))
    }))
}

fn object<'k>(fields: impl Iterator<Item = (&'k str, String)>) -> String {
    let entries: Vec<String> = fields.map(|(key, value)| format!("{}:{value}", serde_json::Value::from(key))).collect();
    format!("{{{}}}", entries.join(","))
}

/// Extended JSON that keeps types, with the keys of documents in their order.
fn json(value: &Bson) -> String {
    match value {
        Bson::Document(document) => object(document.iter().map(|(key, value)| (key.as_str(), json(value)))),
        Bson::Array(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
        Bson::Int64(long) => json!({ "$numberLong": long.to_string() }).to_string(),
        Bson::Double(double) if !double.is_finite() => {
            json!({ "$numberDouble": double.to_string().replace("inf", "Infinity") }).to_string()
        }
        // Other doubles have a point, or an exponent.
        scalar => json!(scalar).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use bson::{Document, RawDocumentBuf, doc};

    use super::*;
    use crate::plan::json::JsonDocument;

    fn field(name: &str, path: &str, is_value: bool) -> FieldPlace {
        FieldPlace { field: name.to_owned(), path: vec![path.to_owned()], is_value, ..FieldPlace::default() }
    }

    fn values(documents: &[Document], array: Option<&[&str]>, fields: Vec<FieldPlace>) -> Option<RealValues> {
        let documents = documents.iter().map(|one| RawDocumentBuf::try_from(one).unwrap()).collect();
        let array = array.map(|path| path.iter().map(|part| (*part).to_owned()).collect());
        let place = EntityPlace { entity: "line".to_owned(), array, fields, ..EntityPlace::default() };
        RealValues::of(&place, &CollectionSample { documents, ..CollectionSample::default() })
    }

    #[test]
    fn values_keep_their_types_and_the_order_of_their_keys() {
        let pattern = bson::Regex { pattern: bson::cstr!("^a").into(), options: bson::cstr!("i").into() };
        let bytes = bson::Binary { subtype: bson::spec::BinarySubtype::Uuid, bytes: vec![7; 16] };
        let all = doc! {
            "z": { "b": 1_i64, "a": 2.0 }, "d": bson::DateTime::from_millis(5), "far": bson::DateTime::from_millis(i64::MIN), "t": "\"x\n",
            "l": [1, null, true], "n": [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -0.0], "p": pattern, "b": bytes, "m": Bson::MinKey,
            "id": bson::oid::ObjectId::from_bytes([7; 12]), "c": "1.250".parse::<bson::Decimal128>().unwrap(), "u": Bson::Undefined,
            "s": bson::Timestamp { time: 1, increment: 2 }, "code": Bson::JavaScriptCode("f()".into()), "sym": Bson::Symbol("s".into()),
        };
        let fields = all.keys().map(|key| field(key, key, true)).collect();
        let made = values(std::slice::from_ref(&all), None, fields).unwrap();
        let read: JsonDocument = serde_json::from_str(made.text.trim_end()).unwrap();
        assert_eq!(format!("{:?}", read.0.unwrap()), format!("{all:?}"));
    }

    #[test]
    fn elements_of_arrays_are_records_and_only_values_are_kept() {
        let documents = [
            doc! { "_id": 1, "a": [{ "b": [{ "x": 1, "ref": 7 }, { "x": 2 }] }, {}] },
            doc! { "a": [{ "b": [{ "y": 3 }] }] },
        ];
        let fields = vec![field("_id", "_id", false), field("ref", "ref", false), field("x_2", "x", true)];
        let made = values(&documents, Some(&["a", "[]", "b"]), fields).unwrap();
        let line = |n: u8| format!("{{\"x_2\":{n}}}\n");
        assert_eq!((made.records, made.text), (3, line(1) + &line(2) + "{}\n"));
        assert!(values(&documents, None, vec![field("_id", "_id", false)]).is_none());
    }
}
