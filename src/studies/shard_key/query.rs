//! What a command asks of collections: the filter by which mongos would find the shards, or the documents that it inserts.

use bson::{Bson, Document, RawArray, RawBsonRef, RawDocument};

/// One question or write of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetedQuery {
    /// The collection.
    pub collection: String,
    /// What is done.
    pub access: ShardAccess,
    /// Its filter; of an insert, the document.
    pub filter: Document,
    /// Variables of the command that the filter may use.
    pub variables: Option<Document>,
}

/// What is done to documents.
#[derive(Debug, Clone, PartialEq)]
pub enum ShardAccess {
    /// They are read.
    Read,
    /// They are changed or deleted.
    Write(WriteKind),
    /// One is inserted.
    Insert,
    /// Those are read whose field has a value of a document before: `$lookup` or `$graphLookup` by this field.
    Follow(String),
    /// The shards cannot be known here, for this reason.
    Unknown(&'static str),
}

/// How documents are changed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WriteKind {
    /// At most one of them.
    pub is_single: bool,
    /// One is inserted if none matches.
    pub upserts: bool,
    /// The document that replaces the one found.
    pub replacement: Option<Document>,
    /// The paths that it sets.
    pub paths: Vec<String>,
    /// Whether a pipeline computes them.
    pub is_computed: bool,
}

/// Returns what a command asks, in order; none for one that concerns no documents.
pub fn queries(command: &RawDocument) -> Vec<TargetedQuery> {
    let Some(Ok((name, target))) = command.iter().next() else { return Vec::new() };
    let Some(collection) = target.as_str() else { return Vec::new() };
    let variables = document(command, "let");
    let query = |access, filter: Document| TargetedQuery {
        collection: collection.to_owned(),
        access,
        filter,
        variables: variables.clone(),
    };
    let statements = |list: &str| -> Vec<Document> {
        let items = command.get_array(list).into_iter().flatten().flatten();
        items.filter_map(|item| Document::try_from(item.as_document()?).ok()).collect()
    };
    let has_collation = |part: &Document| {
        part.get_document("collation").is_ok_and(|one| !one.get_str("locale").is_ok_and(|name| name == "simple"))
    };
    let own =
        document(command, "collation").is_some_and(|one| !one.get_str("locale").is_ok_and(|name| name == "simple"));
    let mut found = match name.as_str() {
        "find" => vec![query(ShardAccess::Read, document(command, "filter").unwrap_or_default())],
        "count" | "distinct" => vec![query(ShardAccess::Read, document(command, "query").unwrap_or_default())],
        "aggregate" => {
            command.get_array("pipeline").map_or_else(|_| Vec::new(), |pipeline| of_pipeline(collection, pipeline))
        }
        "insert" => statements("documents").into_iter().map(|document| query(ShardAccess::Insert, document)).collect(),
        "update" => statements("updates")
            .into_iter()
            .map(|update| {
                let kind = WriteKind {
                    is_single: !update.get_bool("multi").unwrap_or(false),
                    ..WriteKind::of(update.get("u"), update.get_bool("upsert").unwrap_or(false))
                };
                let access = if has_collation(&update) { COLLATED } else { ShardAccess::Write(kind) };
                query(access, update.get_document("q").cloned().unwrap_or_default())
            })
            .collect(),
        "delete" => statements("deletes")
            .into_iter()
            .map(|delete| {
                let is_single =
                    delete.get("limit").is_some_and(|limit| matches!(limit, Bson::Int32(1) | Bson::Int64(1)));
                let kind = WriteKind { is_single, ..WriteKind::default() };
                let access = if has_collation(&delete) { COLLATED } else { ShardAccess::Write(kind) };
                query(access, delete.get_document("q").cloned().unwrap_or_default())
            })
            .collect(),
        "findAndModify" => {
            let update = command.get("update").ok().flatten().and_then(|update| Bson::try_from(update).ok());
            let kind = WriteKind {
                is_single: true,
                ..WriteKind::of(update.as_ref(), command.get_bool("upsert").unwrap_or(false))
            };
            vec![query(ShardAccess::Write(kind), document(command, "query").unwrap_or_default())]
        }
        _ => Vec::new(),
    };
    if own {
        found.iter_mut().for_each(|one| one.access = COLLATED);
    }
    for one in &mut found {
        one.variables.clone_from(&variables);
    }
    found
}

const COLLATED: ShardAccess = ShardAccess::Unknown("a collation");

impl WriteKind {
    fn of(update: Option<&Bson>, upserts: bool) -> WriteKind {
        let kind = WriteKind { upserts, ..WriteKind::default() };
        match update {
            Some(Bson::Array(_)) => WriteKind { is_computed: true, ..kind },
            Some(Bson::Document(update)) if update.keys().next().is_some_and(|key| key.starts_with('$')) => {
                let changed = update.values().filter_map(Bson::as_document).flat_map(|fields| fields.keys().cloned());
                WriteKind { paths: changed.collect(), ..kind }
            }
            Some(Bson::Document(replacement)) => WriteKind { replacement: Some(replacement.clone()), ..kind },
            _ => kind,
        }
    }
}

/// The questions of a pipeline: its leading conditions, and what its stages read elsewhere.
fn of_pipeline(collection: &str, pipeline: &RawArray) -> Vec<TargetedQuery> {
    let stages: Vec<(&str, RawBsonRef<'_>)> = pipeline
        .into_iter()
        .flatten()
        .filter_map(|stage| stage.as_document()?.iter().next()?.ok())
        .map(|(name, value)| (name.as_str(), value))
        .collect();
    let conditions = stages.iter().take_while(|(name, _)| *name == "$match");
    let mut conditions: Vec<Document> =
        conditions.filter_map(|(_, condition)| Document::try_from(condition.as_document()?).ok()).collect();
    let filter = match conditions.len() {
        0 => Document::new(),
        1 => conditions.remove(0),
        _ => bson::doc! { "$and": conditions },
    };
    let query = |collection: &str, access| TargetedQuery {
        collection: collection.to_owned(),
        access,
        filter: Document::new(),
        variables: None,
    };
    let mut found = vec![TargetedQuery { filter, ..query(collection, ShardAccess::Read) }];
    if stages.first().is_some_and(|(name, _)| matches!(*name, "$geoNear" | "$search" | "$vectorSearch")) {
        found[0].access = ShardAccess::Unknown("a search");
    }
    for (name, value) in stages {
        let inner = |key: &str| value.as_document().and_then(|stage| stage.get_array(key).ok());
        let text = |key: &str| value.as_document().and_then(|stage| stage.get_str(key).ok());
        match name {
            "$lookup" => {
                let Some(from) = text("from") else { continue };
                match text("foreignField") {
                    Some(field) => found.push(query(from, ShardAccess::Follow(field.to_owned()))),
                    // Without it, the conditions of the pipeline have variables, which are values of documents.
                    None => found.push(query(from, ShardAccess::Unknown("a `$lookup` by variables"))),
                }
                inner("pipeline")
                    .into_iter()
                    .for_each(|stages| found.extend(of_pipeline(from, stages).into_iter().skip(1)));
            }
            "$graphLookup" => {
                if let (Some(from), Some(field)) = (text("from"), text("connectToField")) {
                    found.push(query(from, ShardAccess::Follow(field.to_owned())));
                }
            }
            "$unionWith" => {
                let from = value.as_str().or_else(|| text("coll"));
                let from = from.map(|from| match inner("pipeline") {
                    Some(stages) => of_pipeline(from, stages),
                    None => vec![query(from, ShardAccess::Read)],
                });
                found.extend(from.unwrap_or_default());
            }
            "$facet" => {
                let facets = value.as_document().into_iter().flat_map(|facets| facets.iter().flatten());
                let facets = facets.filter_map(|(_, stages)| stages.as_array());
                facets.for_each(|stages| found.extend(of_pipeline(collection, stages).into_iter().skip(1)));
            }
            "$out" | "$merge" => {
                let into = value.as_str().or_else(|| text("into")).or_else(|| text("coll"));
                found.extend(into.map(|into| query(into, ShardAccess::Unknown("`$out` or `$merge`"))));
            }
            _ => {}
        }
    }
    found
}

fn document(command: &RawDocument, key: &str) -> Option<Document> {
    Document::try_from(command.get_document(key).ok()?).ok()
}

/// The value that a filter demands of a path by an equality, if it does.
pub fn demanded(filter: &Document, path: &str) -> Option<Bson> {
    filter
        .iter()
        .find_map(|(key, value)| match (key.as_str(), value) {
            ("$and", Bson::Array(parts)) => {
                parts.iter().filter_map(Bson::as_document).find_map(|part| demanded(part, path))
            }
            (key, _) if key.starts_with('$') => None,
            (key, value) => {
                let value = equal_to(value)?;
                match path.strip_prefix(key)? {
                    "" => Some(value),
                    rest => at(value.as_document()?, rest.strip_prefix('.')?).cloned(),
                }
            }
        })
        .filter(|value| value.as_array().is_none())
}

/// The value of a condition that is an equality.
fn equal_to(condition: &Bson) -> Option<Bson> {
    match condition {
        Bson::RegularExpression(_) => None,
        Bson::Document(operators) if operators.keys().next().is_some_and(|key| key.starts_with('$')) => {
            let one = match (operators.len(), operators.get_array("$in")) {
                (1, Ok(values)) if values.len() == 1 => values.first(),
                _ => operators.get("$eq"),
            };
            one.filter(|value| !matches!(value, Bson::RegularExpression(_))).cloned()
        }
        value => Some(value.clone()),
    }
}

/// The value at a path in nested documents.
pub fn at<'d>(document: &'d Document, path: &str) -> Option<&'d Bson> {
    match path.split_once('.') {
        None => document.get(path),
        Some((first, rest)) => at(document.get_document(first).ok()?, rest),
    }
}

#[cfg(test)]
mod tests {
    use bson::{RawDocumentBuf, doc, rawdoc};

    use super::*;

    fn asked(command: RawDocumentBuf) -> Vec<(String, String, Document)> {
        let access = |access: &ShardAccess| match access {
            ShardAccess::Read => "read".to_owned(),
            ShardAccess::Write(kind) if kind.is_single => "write one".to_owned(),
            ShardAccess::Write(_) => "write".to_owned(),
            ShardAccess::Insert => "insert".to_owned(),
            ShardAccess::Follow(field) => format!("follow {field}"),
            ShardAccess::Unknown(why) => (*why).to_owned(),
        };
        queries(&command).into_iter().map(|one| (one.collection, access(&one.access), one.filter)).collect()
    }

    fn one(collection: &str, access: &str, filter: Document) -> (String, String, Document) {
        (collection.to_owned(), access.to_owned(), filter)
    }

    #[test]
    fn every_command_has_its_questions() {
        assert_eq!(asked(rawdoc! { "find": "c", "filter": { "a": 1 } }), [one("c", "read", doc! { "a": 1 })]);
        assert_eq!(asked(rawdoc! { "count": "c", "query": { "a": 1 } }), [one("c", "read", doc! { "a": 1 })]);
        assert_eq!(asked(rawdoc! { "distinct": "c", "key": "b" }), [one("c", "read", doc! {})]);
        let updates = rawdoc! { "update": "c", "updates": [{ "q": { "a": 1 }, "u": { "$set": { "b": 1 } } }, { "q": {}, "u": [], "multi": true }] };
        assert_eq!(asked(updates), [one("c", "write one", doc! { "a": 1 }), one("c", "write", doc! {})]);
        let deletes =
            rawdoc! { "delete": "c", "deletes": [{ "q": { "a": 1 }, "limit": 1 }, { "q": { "a": 2 }, "limit": 0 }] };
        assert_eq!(asked(deletes), [one("c", "write one", doc! { "a": 1 }), one("c", "write", doc! { "a": 2 })]);
        let found = rawdoc! { "findAndModify": "c", "query": { "a": 1 }, "remove": true };
        assert_eq!(asked(found), [one("c", "write one", doc! { "a": 1 })]);
        let inserts = rawdoc! { "insert": "c", "documents": [{ "a": 1 }, { "a": 2 }] };
        assert_eq!(asked(inserts), [one("c", "insert", doc! { "a": 1 }), one("c", "insert", doc! { "a": 2 })]);
        assert_eq!(asked(rawdoc! { "find": "c", "collation": { "locale": "en" } }), [one("c", "a collation", doc! {})]);
        assert_eq!(asked(rawdoc! { "ping": 1 }), []);
    }

    #[test]
    fn pipelines_ask_by_their_first_conditions_and_elsewhere() {
        let lookup = rawdoc! { "$lookup": { "from": "d", "localField": "a", "foreignField": "b", "as": "e" } };
        let union = rawdoc! { "$unionWith": { "coll": "e", "pipeline": [{ "$match": { "f": 1 } }] } };
        let command = rawdoc! { "aggregate": "c", "pipeline": [{ "$match": { "a": 1 } }, { "$match": { "b": 2 } }, lookup, { "$match": { "g": 1 } }, union] };
        let both = doc! { "$and": [{ "a": 1 }, { "b": 2 }] };
        assert_eq!(
            asked(command),
            [one("c", "read", both), one("d", "follow b", doc! {}), one("e", "read", doc! { "f": 1 })]
        );
        let graph = rawdoc! { "$graphLookup": { "from": "c", "startWith": "$a", "connectFromField": "a", "connectToField": "_id", "as": "e" } };
        let merge = rawdoc! { "$merge": { "into": "m" } };
        let command = rawdoc! { "aggregate": "c", "pipeline": [graph, merge] };
        assert_eq!(
            asked(command),
            [one("c", "read", doc! {}), one("c", "follow _id", doc! {}), one("m", "`$out` or `$merge`", doc! {})]
        );
    }

    #[test]
    fn equalities_are_found_in_conjunctions_and_nested_documents() {
        let filter = doc! { "a": 1, "$and": [{ "b": { "$eq": 2 } }], "c": { "$in": [3] }, "d": { "e": 4 }, "f": { "$gt": 1 }, "g": [1] };
        let found = |path: &str| demanded(&filter, path);
        assert_eq!(
            [found("a"), found("b"), found("c"), found("d.e")],
            [1, 2, 3, 4].map(|value| Some(Bson::Int32(value)))
        );
        assert_eq!([found("f"), found("g"), found("h"), found("d.x")], [None, None, None, None]);
        assert_eq!(demanded(&doc! { "$or": [{ "a": 1 }] }, "a"), None);
    }
}
