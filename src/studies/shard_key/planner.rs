//! How mongos would find the shards of a query: decided by the bounds of the server's own planner in an empty collection whose
//! index is the shard key.
//!
//! The rules are those of the server (`analyze_shard_key_read_write_distribution.cpp`, `shard_key_pattern_query_util.cpp`): an
//! equality on the whole key is one shard; no condition on the first field is all shards; all else is several, though one range
//! may well be on one shard.

use std::collections::HashMap;

use bson::{Bson, Document, RawDocumentBuf, rawdoc};

use crate::plan::ShardKey;
use crate::server::{Failure, FailureKind, ReplyKind, Target};

use super::bounds::{KeyBounds, KeyRange};
use super::order::compare;
use super::query::demanded;

/// How many shards a query concerns, by the server's classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Targeting {
    /// One.
    Single,
    /// Several, or perhaps one.
    Multi,
    /// All.
    Scatter,
}

/// Where the documents of a query are.
#[derive(Debug, Clone, PartialEq)]
pub struct Reach {
    /// The class.
    pub targeting: Targeting,
    /// The ranges of the key; of all shards, the whole one. None where the place did not matter, or nothing can be found.
    pub ranges: Vec<KeyRange>,
}

/// A key with its empty collection.
pub struct KeyPlanner {
    key: ShardKey,
    /// The name of the empty collection.
    collection: String,
    /// The classes of queries that need no ranges, by their shapes.
    classes: HashMap<String, Targeting>,
    /// The bounds of filters that were explained: calls draw the same values again.
    known: HashMap<Vec<u8>, Option<KeyBounds>>,
}

impl KeyPlanner {
    /// Creates the empty collection with its index.
    ///
    /// # Errors
    /// When the server does not.
    pub async fn create(
        target: &impl Target,
        database: &str,
        name: String,
        key: &ShardKey,
    ) -> Result<KeyPlanner, Failure> {
        let index = rawdoc! { "key": key.document(), "name": "shard_key" };
        // That of `_id` is there from the beginning.
        let is_there = key.fields.len() == 1 && key.fields[0].path == "_id" && !key.is_hashed();
        let create = if is_there {
            rawdoc! { "create": name.as_str() }
        } else {
            rawdoc! { "createIndexes": name.as_str(), "indexes": [index] }
        };
        target.run(database, create, ReplyKind::Single).await?;
        Ok(KeyPlanner { key: key.clone(), collection: name, classes: HashMap::new(), known: HashMap::new() })
    }

    /// Decides where the documents of a filter are; `None` where bounds cannot be read. Of one shard, which one is only found out
    /// if its place matters.
    ///
    /// # Errors
    /// When the server is lost.
    pub async fn reach(
        &mut self,
        target: &impl Target,
        database: &str,
        (filter, variables): (&Document, Option<&Document>),
        place_matters: bool,
    ) -> Result<Option<Reach>, Failure> {
        let values: Option<Vec<Bson>> = self.key.fields.iter().map(|field| demanded(filter, &field.path)).collect();
        if let (Some(values), false) = (&values, self.key.is_hashed()) {
            return Ok(Some(Reach::single(KeyRange::point(values.clone()))));
        }
        let shape = shape(filter);
        match self.classes.get(&shape) {
            Some(Targeting::Scatter) => return Ok(Some(Reach::scatter(self.key.fields.len()))),
            Some(Targeting::Single) if !place_matters => {
                return Ok(Some(Reach { targeting: Targeting::Single, ranges: Vec::new() }));
            }
            _ => {}
        }
        let asked: Vec<u8> =
            [Some(filter), variables].into_iter().flatten().flat_map(|part| raw(part).into_bytes()).collect();
        if !self.known.contains_key(&asked) {
            let bounds = match self.bounds(target, database, filter, variables).await {
                Ok(bounds) => bounds,
                Err(failure) if failure.kind == FailureKind::Network => return Err(failure),
                // Such as a query that no index of this kind serves.
                Err(_) => None,
            };
            self.known.insert(asked.clone(), bounds);
        }
        let bounds = self.known.get(&asked).and_then(Option::as_ref);
        let Some(bounds) = bounds else { return Ok(None) };
        let mut reach = Reach::of(bounds, self.key.fields.len());
        if values.is_some() {
            // A null has two intervals, though it is one value of the key.
            reach.targeting = Targeting::Single;
            reach.ranges.truncate(1);
        }
        self.classes.insert(shape, reach.targeting);
        Ok(Some(reach))
    }

    async fn bounds(
        &self,
        target: &impl Target,
        database: &str,
        filter: &Document,
        variables: Option<&Document>,
    ) -> Result<Option<KeyBounds>, Failure> {
        let mut find = rawdoc! { "find": self.collection.as_str(), "filter": raw(filter), "hint": self.key.document() };
        if let Some(variables) = variables {
            find.append(bson::raw::cstr!("let"), raw(variables));
        }
        let explain = rawdoc! { "explain": find, "verbosity": "queryPlanner" };
        let reply = target.run(database, explain, ReplyKind::Single).await?;
        let fields: Vec<&str> = self.key.fields.iter().map(|field| field.path.as_str()).collect();
        Ok(reply.batches().first().and_then(|reply| KeyBounds::read(reply, &fields)))
    }
}

impl Reach {
    fn single(point: KeyRange) -> Reach {
        Reach { targeting: Targeting::Single, ranges: vec![point] }
    }

    fn scatter(fields: usize) -> Reach {
        let whole = KeyRange { low: vec![Bson::MinKey; fields], high: vec![Bson::MaxKey; fields], includes_high: true };
        Reach { targeting: Targeting::Scatter, ranges: vec![whole] }
    }

    /// The rules, without the equality on the whole key.
    pub fn of(bounds: &KeyBounds, fields: usize) -> Reach {
        if bounds.is_empty() {
            return Reach { targeting: Targeting::Multi, ranges: Vec::new() };
        }
        if bounds.0.first().is_some_and(|first| first.len() == 1 && first[0].is_everything()) {
            return Reach::scatter(fields);
        }
        let ranges = bounds.ranges();
        let is_single = ranges.len() == 1 && ranges[0].is_point();
        Reach { targeting: if is_single { Targeting::Single } else { Targeting::Multi }, ranges }
    }
}

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap_or_default()
}

/// A filter without its values, but with their types, their order, and which of them are equal: of two filters with one shape, the
/// planner makes bounds of one kind.
fn shape(filter: &Document) -> String {
    let mut values = Vec::new();
    leaves(filter, &mut values);
    values.sort_by(|a, b| compare(a, b));
    values.dedup_by(|a, b| compare(a, b).is_eq());
    let mut text = String::new();
    write_shape(&Bson::Document(filter.clone()), &values, false, &mut text);
    text
}

/// Operators whose arguments decide by themselves what the planner does.
const BY_VALUE: [&str; 6] = ["$expr", "$regex", "$options", "$exists", "$type", "$mod"];

fn leaves<'f>(filter: &'f Document, found: &mut Vec<&'f Bson>) {
    filter.values().for_each(|value| leaves_of(value, found));
}

fn leaves_of<'f>(value: &'f Bson, found: &mut Vec<&'f Bson>) {
    match value {
        Bson::Document(inner) => leaves(inner, found),
        Bson::Array(items) => items.iter().for_each(|item| leaves_of(item, found)),
        leaf => found.push(leaf),
    }
}

fn write_shape(value: &Bson, values: &[&Bson], is_by_value: bool, text: &mut String) {
    match value {
        Bson::Document(inner) => {
            text.push('{');
            for (key, value) in inner {
                text.push_str(key);
                text.push(':');
                write_shape(value, values, is_by_value || BY_VALUE.contains(&key.as_str()), text);
            }
            text.push('}');
        }
        Bson::Array(items) => {
            text.push('[');
            items.iter().for_each(|item| write_shape(item, values, is_by_value, text));
            text.push(']');
        }
        Bson::RegularExpression(_) => text.push_str(&value.to_string()),
        leaf if is_by_value => text.push_str(&format!("{leaf},")),
        leaf => {
            let place = values.partition_point(|other| compare(other, leaf).is_lt());
            text.push_str(&format!("{:?}{place},", leaf.element_type()));
        }
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    #[test]
    fn shapes_keep_what_decides_about_bounds() {
        assert_eq!(shape(&doc! { "a": { "$gte": 1, "$lt": 5 } }), shape(&doc! { "a": { "$gte": 3, "$lt": 7 } }));
        let different = [
            doc! { "a": { "$gte": 1, "$lte": 1 } },
            doc! { "a": { "$gte": 5, "$lt": 1 } },
            doc! { "a": { "$gte": 1, "$lt": "5" } },
            doc! { "a": { "$in": [1] } },
            doc! { "a": { "$in": [1, 2] } },
            doc! { "a": { "$regex": "^x" } },
            doc! { "a": { "$regex": "x" } },
            doc! { "a": { "$exists": true } },
            doc! { "a": { "$exists": false } },
            doc! { "a": bson::Bson::Null },
        ];
        for (place, one) in different.iter().enumerate() {
            assert!(different.iter().skip(place + 1).all(|other| shape(one) != shape(other)), "{one}");
        }
    }
}
