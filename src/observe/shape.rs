//! The shape of a statement: everything but its values.

use std::hash::{BuildHasher, RandomState};

use bson::{Bson, Document};

/// What a statement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Find,
    Aggregate,
    Count,
    Distinct,
    Insert,
    Update,
    Delete,
    /// `findAndModify` that updates.
    FindAndUpdate,
    /// `findAndModify` that removes.
    FindAndDelete,
}

impl Verb {
    /// The command's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Verb::Find => "find",
            Verb::Aggregate => "aggregate",
            Verb::Count => "count",
            Verb::Distinct => "distinct",
            Verb::Insert => "insert",
            Verb::Update => "update",
            Verb::Delete => "delete",
            Verb::FindAndUpdate | Verb::FindAndDelete => "findAndModify",
        }
    }

    pub(super) fn reads(self) -> bool {
        matches!(self, Verb::Find | Verb::Aggregate | Verb::Count | Verb::Distinct)
    }
}

/// A statement without its values. In the place of a value is a text: `?3` for the value of slot 3, `*3` for a list whose size is
/// the value of slot 3, `{}` for a document. Null and booleans stay.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StatementShape {
    pub(super) verb: Verb,
    pub(super) collection: String,
    pub(super) filter: Document,
    pub(super) sort: Document,
    pub(super) projection: Document,
    /// 0 is none.
    pub(super) limit: i64,
    /// The slot of how many documents are skipped.
    pub(super) skip: Option<usize>,
    /// Operators with names of fields, or a pipeline.
    pub(super) update: Bson,
    pub(super) array_filters: Vec<Document>,
    pub(super) pipeline: Vec<Document>,
    pub(super) is_multi: bool,
    pub(super) is_upsert: bool,
    /// The application's own name of the operation, from `comment`.
    pub(super) name: Option<String>,
    /// Whether only the index and the number of uses are known.
    pub(super) from_counters: bool,
}

impl StatementShape {
    pub(super) fn new(verb: Verb, collection: &str) -> StatementShape {
        StatementShape {
            verb,
            collection: collection.to_owned(),
            filter: Document::new(),
            sort: Document::new(),
            projection: Document::new(),
            limit: 0,
            skip: None,
            update: Bson::Null,
            array_filters: Vec::new(),
            pipeline: Vec::new(),
            is_multi: false,
            is_upsert: false,
            name: None,
            from_counters: false,
        }
    }
}

/// Operators whose operand is a list of filters.
const OF_FILTERS: [&str; 3] = ["$and", "$or", "$nor"];

/// Takes values out of the parts of a statement, and keeps their hashes.
pub(super) struct Stripper<'h> {
    hasher: &'h RandomState,
    /// By slot: the hash of a value, or the size of a list.
    pub(super) values: Vec<u64>,
}

impl<'h> Stripper<'h> {
    pub(super) fn new(hasher: &'h RandomState) -> Stripper<'h> {
        Stripper { hasher, values: Vec::new() }
    }

    /// Keeps a number as it is: a size, or how many documents are skipped.
    pub(super) fn number(&mut self, number: u64) -> usize {
        self.values.push(number);
        self.values.len() - 1
    }

    fn scalar(&mut self, value: &Bson) -> Bson {
        match value {
            Bson::Null | Bson::Boolean(_) => value.clone(),
            Bson::Document(_) => Bson::String("{}".to_owned()),
            value => {
                self.values.push(self.hasher.hash_one(format!("{value:?}")));
                Bson::String(format!("?{}", self.values.len() - 1))
            }
        }
    }

    fn list(&mut self, items: &[Bson]) -> Bson {
        // Lists of one value are as good as the value: drivers and mappers send both.
        match items {
            [item] => self.scalar(item),
            items => Bson::String(format!("*{}", self.number(items.len() as u64))),
        }
    }

    pub(super) fn filter(&mut self, filter: &Document) -> Document {
        filter.iter().map(|(key, value)| (key.clone(), self.condition(key, value))).collect()
    }

    fn condition(&mut self, key: &str, value: &Bson) -> Bson {
        match value {
            Bson::Array(items) if OF_FILTERS.contains(&key) => Bson::Array(self.each(items)),
            Bson::Array(items) => self.list(items),
            Bson::Document(inner) if inner.keys().next().is_some_and(|first| first.starts_with('$')) => {
                Bson::Document(self.filter(inner))
            }
            Bson::RegularExpression(_) => Bson::Document(Document::from_iter([("$regex".to_owned(), Bson::Null)])),
            Bson::Document(inner) if ["$elemMatch", "$not"].contains(&key) => Bson::Document(self.filter(inner)),
            value => self.scalar(value),
        }
    }

    fn each(&mut self, items: &[Bson]) -> Vec<Bson> {
        let filter = |item: &Bson| item.as_document().map(|filter| Bson::Document(self.filter(filter)));
        items.iter().filter_map(filter).collect()
    }

    /// The update: operators with fields. A pipeline has no values that matter here.
    pub(super) fn update(&mut self, update: &Bson) -> Bson {
        let Bson::Document(operators) = update else { return Bson::Array(Vec::new()) };
        let is_replacement = !operators.keys().any(|key| key.starts_with('$'));
        if is_replacement {
            return Bson::Document(operators.iter().map(|(key, value)| (key.clone(), self.written(value))).collect());
        }
        let fields = |(operator, fields): (&String, &Bson)| {
            let fields = fields.as_document().map(|fields| self.changes(operator, fields)).unwrap_or_default();
            (operator.clone(), Bson::Document(fields))
        };
        Bson::Document(operators.iter().map(fields).collect())
    }

    fn changes(&mut self, operator: &str, fields: &Document) -> Document {
        let change = |(path, value): (&String, &Bson)| {
            let kept = match (operator, value) {
                ("$inc", value) => Bson::Int32(if is_negative(value) { -1 } else { 1 }),
                ("$pull", Bson::Document(filter)) => Bson::Document(self.filter(filter)),
                ("$push" | "$addToSet", Bson::Document(inner)) if inner.contains_key("$each") => {
                    let first = inner.get_array("$each").ok().and_then(|items| items.first());
                    first.map_or(Bson::Null, |item| self.written(item))
                }
                (_, value) => self.written(value),
            };
            (path.clone(), kept)
        };
        fields.iter().map(change).collect()
    }

    fn written(&mut self, value: &Bson) -> Bson {
        match value {
            Bson::Array(items) => Bson::String(format!("*{}", self.number(items.len() as u64))),
            value => self.scalar(value),
        }
    }

    /// The stages of a pipeline: names and structure. Only conditions have slots.
    pub(super) fn pipeline(&mut self, stages: &[Bson]) -> Vec<Document> {
        let stages = stages.iter().filter_map(Bson::as_document);
        let stage = |stage: &Document| {
            let (name, body) = stage.iter().next()?;
            let body = match (name.as_str(), body) {
                ("$match", Bson::Document(filter)) => Bson::Document(self.filter(filter)),
                ("$skip", body) => {
                    let skipped = body.as_i64().or_else(|| body.as_i32().map(i64::from)).unwrap_or_default();
                    Bson::String(format!("?{}", self.number(skipped.unsigned_abs())))
                }
                (_, body) => without_constants(body),
            };
            Some(Document::from_iter([(name.clone(), body)]))
        };
        stages.filter_map(stage).collect()
    }
}

fn is_negative(value: &Bson) -> bool {
    match value {
        Bson::Int32(number) => *number < 0,
        Bson::Int64(number) => *number < 0,
        Bson::Double(number) => *number < 0.0,
        value => value.to_string().starts_with('-'),
    }
}

/// A projection or sort without constants.
pub(super) fn names_only(document: &Document) -> Document {
    document.iter().map(|(key, value)| (key.clone(), without_constants(value))).collect()
}

/// An expression without texts, dates and other constants: field paths and whole numbers stay.
fn without_constants(value: &Bson) -> Bson {
    match value {
        Bson::Document(inner) => Bson::Document(inner.iter().map(|(k, v)| (k.clone(), without_constants(v))).collect()),
        Bson::Array(items) => Bson::Array(items.iter().map(without_constants).collect()),
        Bson::String(text) if is_name(text) => value.clone(),
        Bson::Int32(_) | Bson::Int64(_) | Bson::Boolean(_) | Bson::Null => value.clone(),
        Bson::Double(number) if number.fract() == 0.0 => Bson::Int64(*number as i64),
        _ => Bson::String("?".to_owned()),
    }
}

/// Whether a text in an expression is a field path or the name of a field or collection.
fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || "$._-".contains(c))
}

/// The number of a slot, and whether it is that of a list.
pub(super) fn slot(value: &Bson) -> Option<(usize, bool)> {
    let text = value.as_str()?;
    let number = text.get(1..)?.parse().ok()?;
    Some((number, text.starts_with('*')))
}

/// Whether a stripped value was a document.
pub(super) fn is_document(value: &Bson) -> bool {
    value.as_str() == Some("{}")
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    #[test]
    fn filters_keep_names_operators_null_and_booleans_only() {
        let hasher = RandomState::new();
        let mut stripper = Stripper::new(&hasher);
        let filter = doc! { "user": 17, "done": false, "gone": null, "at": { "$gte": "secret", "$lt": 5.0 },
        "state": { "$in": ["a", "b"] }, "$or": [{ "x": 1 }, { "y": { "z": "secret" } }] };
        let expected = doc! { "user": "?0", "done": false, "gone": null, "at": { "$gte": "?1", "$lt": "?2" },
        "state": { "$in": "*3" }, "$or": [{ "x": "?4" }, { "y": "{}" }] };
        assert_eq!(stripper.filter(&filter), expected);
        assert_eq!(stripper.values[3], 2, "the size of the list");
    }

    #[test]
    fn equal_values_have_equal_hashes() {
        let hasher = RandomState::new();
        let hash = |value: Bson| {
            let mut stripper = Stripper::new(&hasher);
            stripper.filter(&doc! { "a": value });
            stripper.values[0]
        };
        assert_eq!(hash(17.into()), hash(17.into()));
        assert_ne!(hash(17.into()), hash(18.into()));
    }

    #[test]
    fn updates_keep_fields_signs_and_kinds_only() {
        let hasher = RandomState::new();
        let mut stripper = Stripper::new(&hasher);
        let update = doc! { "$set": { "a.$[x].b": "secret", "ok": true }, "$inc": { "stock": -7, "n": 2 },
        "$push": { "lines": { "$each": [{ "sku": "secret" }], "$slice": 5 } }, "$pull": { "lines": { "_id": 4 } } };
        let expected = doc! { "$set": { "a.$[x].b": "?0", "ok": true }, "$inc": { "stock": -1, "n": 1 },
        "$push": { "lines": "{}" }, "$pull": { "lines": { "_id": "?1" } } };
        assert_eq!(stripper.update(&update.into()), Bson::Document(expected));
    }

    #[test]
    fn pipelines_keep_paths_and_numbers_but_no_texts() {
        let hasher = RandomState::new();
        let mut stripper = Stripper::new(&hasher);
        let stages = [
            doc! { "$match": { "user": "secret" } },
            doc! { "$limit": 5 },
            doc! { "$project": { "a": "$b.c", "d": { "$concat": ["my secret", "$e"] } } },
        ];
        let expected = vec![
            doc! { "$match": { "user": "?0" } },
            doc! { "$limit": 5 },
            doc! { "$project": { "a": "$b.c", "d": { "$concat": ["?", "$e"] } } },
        ];
        assert_eq!(stripper.pipeline(&stages.map(Bson::Document)), expected);
    }
}
