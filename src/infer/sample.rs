//! What was read of a database.

use std::collections::{HashMap, HashSet};

use bson::{Bson, RawBsonRef, RawDocument, RawDocumentBuf, doc};

/// What was read of one collection.
#[derive(Debug, Clone, Default)]
pub struct CollectionSample {
    /// Its name.
    pub name: String,
    /// How many documents it has.
    pub count: u64,
    /// Some of them.
    pub documents: Vec<RawDocumentBuf>,
    /// Whether these are all.
    pub is_whole: bool,
    /// Its indexes without that of `_id`.
    pub indexes: Vec<SampledIndex>,
    /// What else is worth a comment: capped, sharded, a collation.
    pub notes: Vec<String>,
}

/// An index of the database.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampledIndex {
    /// Fields with directions, or kinds such as `text`.
    pub keys: Vec<(String, String)>,
    /// Whether values are unique.
    pub is_unique: bool,
    /// Other options by name: `partial`, `sparse`, `TTL`... Their values are not kept.
    pub options: Vec<&'static str>,
}

impl SampledIndex {
    /// Reads the reply of `listIndexes`; `None` for that of `_id`.
    pub fn read(index: &RawDocument) -> Option<SampledIndex> {
        const OPTIONS: [(&str, &str); 5] = [
            ("partialFilterExpression", "partial"),
            ("sparse", "sparse"),
            ("expireAfterSeconds", "TTL"),
            ("collation", "collation"),
            ("hidden", "hidden"),
        ];
        let has = |name: &str| index.get(name).ok().flatten().is_some();
        let key = index.get_document("key").ok()?;
        let direction = |value: RawBsonRef| match value {
            RawBsonRef::String(kind) => kind.to_owned(),
            RawBsonRef::Int32(n) => n.to_string(),
            RawBsonRef::Double(n) if n < 0.0 => "-1".to_owned(),
            RawBsonRef::Int64(n) if n < 0 => "-1".to_owned(),
            _ => "1".to_owned(),
        };
        let keys: Vec<(String, String)> = key
            .iter()
            .map_while(Result::ok)
            .map(|(name, value)| (name.as_str().to_owned(), direction(value)))
            .collect();
        let is_id = matches!(keys.as_slice(), [(name, _)] if name == "_id");
        let is_unique = index.get_bool("unique").unwrap_or(false);
        let options = OPTIONS.iter().filter(|(name, _)| has(name)).map(|(_, word)| *word).collect();
        (!is_id).then_some(SampledIndex { keys, is_unique, options })
    }

    /// Its only field, where it has one and all documents are in it.
    pub fn only_field(&self) -> Option<&str> {
        let [(field, _)] = self.keys.as_slice() else { return None };
        (!self.options.contains(&"partial")).then_some(field)
    }

    /// Its first field.
    pub fn first_field(&self) -> Option<&str> {
        let (field, direction) = self.keys.first()?;
        (!self.options.contains(&"partial") && direction.parse::<i64>().is_ok()).then_some(field)
    }
}

/// Questions whose answer the samples do not have. Without an answer the samples have to do.
pub trait Probe {
    /// How many of these different values the field has, which is `_id` or the first of an index.
    fn contained(&mut self, collection: &str, field: &str, values: &[Bson]) -> Option<u64>;

    /// How many documents, or elements of their arrays, have each of these values at an indexed path.
    fn occurrences(&mut self, collection: &str, path: &str, array: Option<&str>, values: &[Bson]) -> Option<Vec<u64>>;

    /// The documents with these `_id`s.
    fn records(&mut self, collection: &str, ids: &[Bson]) -> Vec<RawDocumentBuf>;
}

/// A source that has nothing but its samples.
#[derive(Debug)]
pub struct NoProbe;

impl Probe for NoProbe {
    fn contained(&mut self, _collection: &str, _field: &str, _values: &[Bson]) -> Option<u64> {
        None
    }

    fn occurrences(&mut self, _: &str, _: &str, _: Option<&str>, _: &[Bson]) -> Option<Vec<u64>> {
        None
    }

    fn records(&mut self, _collection: &str, _ids: &[Bson]) -> Vec<RawDocumentBuf> {
        Vec::new()
    }
}

/// A value by which equal values are found: ints of both sizes are equal.
pub fn key_of(value: &Bson) -> Vec<u8> {
    let value = if let Bson::Int32(n) = value { Bson::Int64((*n).into()) } else { value.clone() };
    bson::serialize_to_vec(&doc! { "": &value }).unwrap_or_else(|_| format!("{value:?}").into_bytes())
}

impl CollectionSample {
    /// All scalar values at a path of fields, through arrays.
    pub fn values(&self, path: &[String]) -> Vec<Bson> {
        let mut found = Vec::new();
        for document in &self.documents {
            collect(RawBsonRef::Document(document), path, &mut found);
        }
        found
    }

    /// Whether an index begins with the field, or it is `_id`.
    pub fn is_indexed(&self, field: &str) -> bool {
        field == "_id" || self.indexes.iter().any(|index| index.first_field() == Some(field))
    }

    /// As [`Probe::contained`], from the sample; exact only if that is whole.
    pub fn contained(&self, field: &str, values: &[Bson]) -> u64 {
        let own: HashSet<Vec<u8>> = self.values(&[field.to_owned()]).iter().map(key_of).collect();
        values.iter().filter(|value| own.contains(&key_of(value))).count() as u64
    }

    /// As [`Probe::occurrences`], from the sample.
    pub fn occurrences(&self, path: &[String], values: &[Bson]) -> Vec<u64> {
        let mut counts: HashMap<Vec<u8>, u64> = HashMap::new();
        self.values(path).iter().for_each(|value| *counts.entry(key_of(value)).or_default() += 1);
        values.iter().map(|value| counts.get(&key_of(value)).copied().unwrap_or(0)).collect()
    }
}

/// Adds the scalar values at a path below a value; `[]` is a part of the path for each array.
pub fn collect(value: RawBsonRef, path: &[String], found: &mut Vec<Bson>) {
    match (value, path) {
        (RawBsonRef::Array(array), [part, rest @ ..]) if part == "[]" => {
            array.into_iter().map_while(Result::ok).for_each(|element| collect(element, rest, found));
        }
        (RawBsonRef::Document(document), [part, rest @ ..]) => {
            if let Ok(Some(value)) = document.get(part) {
                collect(value, rest, found);
            }
        }
        (RawBsonRef::Document(_) | RawBsonRef::Array(_), _) | (_, [_, ..]) => {}
        (value, []) => found.extend(Bson::try_from(value).ok()),
    }
}

#[cfg(test)]
mod tests {
    use bson::{doc, rawdoc};

    use super::*;

    #[test]
    fn values_are_found_through_arrays_and_ints_of_both_sizes_are_equal() {
        let documents = vec![rawdoc! { "_id": 1, "a": [{ "b": 1_i64 }, { "b": 2 }] }, rawdoc! { "_id": 2, "a": 3 }];
        let sample = CollectionSample { documents, is_whole: true, ..CollectionSample::default() };
        let path = ["a", "[]", "b"].map(str::to_owned);
        assert_eq!(sample.values(&path), [Bson::Int64(1), Bson::Int32(2)]);
        assert_eq!(sample.occurrences(&path, &[Bson::Int32(1), Bson::Int32(5)]), [1, 0]);
        assert_eq!(sample.contained("_id", &[Bson::Int64(2), Bson::Int32(7)]), 1);
    }

    #[test]
    fn options_of_indexes_lose_their_values() {
        let index = doc! { "v": 2, "key": { "at": -1.0, "b": "text" }, "name": "x", "partialFilterExpression": { "b": "secret" } };
        let read = SampledIndex::read(&RawDocumentBuf::try_from(&index).unwrap()).unwrap();
        assert_eq!(read.keys, [("at".to_owned(), "-1".to_owned()), ("b".to_owned(), "text".to_owned())]);
        assert!(!format!("{read:?}").contains("secret") && read.options == ["partial"] && read.first_field().is_none());
        assert_eq!(SampledIndex::read(&rawdoc! { "key": { "_id": 1 } }), None);
    }
}
