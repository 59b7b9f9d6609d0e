//! Indexes that commands lack: those that would spare the server a scan or a sort.

use std::fmt;

use bson::{RawArray, RawBsonRef, RawDocument};

/// A command that scans a collection or sorts in memory, and the index that would spare the server that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MissingIndex {
    /// The command and its collection, with the stage that joins another one.
    pub(super) step: String,
    /// Whether it examines every document of the collection, and how many these are, if known.
    pub(super) scan: Option<Option<u64>>,
    /// Whether it sorts in memory, and how many documents.
    pub(super) sort: Option<Option<u64>>,
    /// The indexes that would serve: one, or one for each branch of `$or`.
    pub(super) keys: Vec<IndexKeys>,
    /// Whether the collection has one of them, which the server does not use.
    pub(super) exists: bool,
}

/// The fields of an index in their order: of equality, of the sort, of ranges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct IndexKeys(Vec<(String, i64)>);

/// What a command looks for.
#[derive(Debug, Default)]
pub(super) struct Query<'c> {
    filters: Vec<&'c RawDocument>,
    sort: Option<&'c RawDocument>,
    distinct: Option<&'c str>,
}

/// The fields of filters.
#[derive(Debug, Clone, Default)]
struct Fields {
    equal: Vec<String>,
    ranges: Vec<String>,
}

impl<'c> Query<'c> {
    /// The filter and sort of a command. Of a pipeline, those of its first stages: later ones work on other documents.
    pub(super) fn of(command: &'c RawDocument) -> Query<'c> {
        let document = |name| command.get_document(name).ok();
        let first = |name| command.get_array(name).ok()?.into_iter().next()?.ok()?.as_document();
        let mut query = Query { sort: document("sort"), distinct: command.get_str("key").ok(), ..Query::default() };
        if let Ok(pipeline) = command.get_array("pipeline") {
            query.first_stages(pipeline);
        }
        let statement = first("updates").or_else(|| first("deletes")).and_then(|one| one.get_document("q").ok());
        query.filters.extend([document("filter"), document("query"), statement].into_iter().flatten());
        query
    }

    fn first_stages(&mut self, pipeline: &'c RawArray) {
        for (name, value) in pipeline.into_iter().flatten().filter_map(|stage| stage.as_document()?.iter().next()?.ok())
        {
            match (name.as_str(), value.as_document()) {
                ("$match", Some(filter)) => self.filters.push(filter),
                ("$sort", sort) => {
                    self.sort = sort;
                    break;
                }
                _ => break,
            }
        }
    }

    /// The filters as those of one pipeline.
    pub(super) fn filters(&self) -> &[&'c RawDocument] {
        &self.filters
    }

    /// Whether it sorts what an index could sort.
    pub(super) fn is_sorted(&self) -> bool {
        self.sort.is_some()
    }

    /// The indexes that would serve it; none where no index helps: the documents are found by `_id`, or by expressions.
    pub(super) fn keys(&self) -> Vec<IndexKeys> {
        let mut branches = vec![Fields::default()];
        self.filters.iter().for_each(|filter| add(filter, "", &mut branches));
        let is_by_id = branches.iter().any(|branch| branch.equal.iter().any(|field| field == "_id"));
        let keys: Vec<IndexKeys> = branches.into_iter().map(|fields| self.keys_of(fields)).collect();
        let is_unserved =
            |keys: &IndexKeys| keys.0.is_empty() || is_by_id && keys.0.iter().any(|(field, _)| field == "_id");
        if keys.iter().any(is_unserved) { Vec::new() } else { keys }
    }

    fn keys_of(&self, fields: Fields) -> IndexKeys {
        let sort = self.sort.into_iter().flat_map(RawDocument::iter).flatten();
        let sort: Option<Vec<_>> =
            sort.map(|(name, value)| Some((name.as_str().to_owned(), integer(value)?))).collect();
        // An order by an expression (`$meta`) has no index.
        let Some(sort) = sort else { return IndexKeys::default() };
        let ascending = |field: String| (field, 1);
        let distinct = self.distinct.map(str::to_owned);
        let all = fields.equal.into_iter().map(ascending).chain(sort);
        let all = all.chain(fields.ranges.into_iter().chain(distinct).map(ascending));
        let mut keys: Vec<(String, i64)> = Vec::new();
        for (field, direction) in all {
            if !keys.iter().any(|(known, _)| *known == field) {
                keys.push((field, direction.signum()));
            }
        }
        IndexKeys(keys)
    }
}

/// Adds the fields of a filter below a path to every branch.
fn add(filter: &RawDocument, path: &str, branches: &mut Vec<Fields>) {
    for (name, value) in filter.iter().flatten() {
        match (name.as_str(), value) {
            ("$and", RawBsonRef::Array(all)) => {
                documents(all).for_each(|filter| add(filter, path, branches));
            }
            ("$or", RawBsonRef::Array(all)) => {
                let of = |filter: &RawDocument| {
                    let mut own = branches.clone();
                    add(filter, path, &mut own);
                    own
                };
                *branches = documents(all).flat_map(of).collect();
            }
            ("$expr", RawBsonRef::Document(expression)) => add_expression(expression, branches),
            (name, _) if name.starts_with('$') => {}
            (name, value) => add_field(&format!("{path}{name}"), value, branches),
        }
    }
}

fn add_field(field: &str, value: RawBsonRef<'_>, branches: &mut Vec<Fields>) {
    let operators = value
        .as_document()
        .filter(|value| value.iter().flatten().next().is_some_and(|(name, _)| name.as_str().starts_with('$')));
    let Some(operators) = operators else {
        let is_regex = matches!(value, RawBsonRef::RegularExpression(_));
        return push(field, if is_regex { "$regex" } else { "$eq" }, branches);
    };
    for (name, value) in operators.iter().flatten() {
        match (name.as_str(), value) {
            ("$elemMatch", RawBsonRef::Document(inner)) => add(inner, &format!("{field}."), branches),
            (name, _) => push(field, name, branches),
        }
    }
}

/// Comparisons of a field with something else, as joins make them.
fn add_expression(expression: &RawDocument, branches: &mut Vec<Fields>) {
    for (name, value) in expression.iter().flatten() {
        let Some(operands) = value.as_array() else { continue };
        if name.as_str() == "$and" {
            documents(operands).for_each(|one| add_expression(one, branches));
            continue;
        }
        let field = |operand: RawBsonRef<'_>| {
            let path = operand.as_str()?.strip_prefix('$')?;
            (!path.starts_with('$')).then(|| path.to_owned())
        };
        let fields: Vec<String> = operands.into_iter().flatten().filter_map(field).collect();
        // With two fields it compares what is in one document. `$in` of an expression uses no index.
        if let ([field], true) = (fields.as_slice(), name.as_str() != "$in") {
            push(field, name.as_str(), branches);
        }
    }
}

fn push(field: &str, operator: &str, branches: &mut [Fields]) {
    for branch in branches {
        match operator {
            "$eq" | "$in" | "$all" => branch.equal.push(field.to_owned()),
            "$gt" | "$gte" | "$lt" | "$lte" | "$regex" => branch.ranges.push(field.to_owned()),
            // Others examine most of an index.
            _ => {}
        }
    }
}

fn documents(all: &RawArray) -> impl Iterator<Item = &RawDocument> {
    all.into_iter().flatten().filter_map(|one| one.as_document())
}

/// A number of a command or reply.
pub(super) fn integer(value: RawBsonRef<'_>) -> Option<i64> {
    match value {
        RawBsonRef::Int32(n) => Some(i64::from(n)),
        RawBsonRef::Int64(n) => Some(n),
        RawBsonRef::Double(n) => Some(n as i64),
        _ => None,
    }
}

impl IndexKeys {
    /// Those of a row of `listIndexes`.
    pub(super) fn listed(index: &RawDocument) -> Option<IndexKeys> {
        Some(Query { sort: Some(index.get_document("key").ok()?), ..Query::default() }.keys_of(Fields::default()))
    }
}

impl fmt::Display for IndexKeys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields: Vec<String> = self.0.iter().map(|(field, direction)| format!("{field}: {direction}")).collect();
        write!(formatter, "{{ {} }}", fields.join(", "))
    }
}

impl MissingIndex {
    /// Whether two strategies lack the same.
    fn is_like(&self, other: &MissingIndex) -> bool {
        (&self.step, &self.keys, self.exists) == (&other.step, &other.keys, other.exists)
            && (self.scan.is_some(), self.sort.is_some()) == (other.scan.is_some(), other.sort.is_some())
    }

    /// Sentences about what operations of strategies lack, each with all strategies that lack it.
    pub(crate) fn warnings(all: impl IntoIterator<Item = (String, String, MissingIndex)>) -> Vec<String> {
        let mut merged: Vec<(Vec<String>, String, MissingIndex)> = Vec::new();
        for (strategy, operation, one) in all {
            match merged.iter_mut().find(|(_, of, other)| *of == operation && one.is_like(other)) {
                Some((strategies, _, other)) => {
                    strategies.push(strategy);
                    (other.scan, other.sort) = (other.scan.max(one.scan), other.sort.max(one.sort));
                }
                None => merged.push((vec![strategy], operation, one)),
            }
        }
        merged.into_iter().map(|(strategies, operation, one)| one.warning(&strategies.join(", "), &operation)).collect()
    }

    fn warning(&self, strategies: &str, operation: &str) -> String {
        let documents = |count: Option<u64>| match count {
            Some(1) => "1 document".to_owned(),
            Some(count) => format!("{count} documents"),
            None => "documents".to_owned(),
        };
        let scan = self.scan.map(|count| format!("scans all {} (COLLSCAN)", documents(count)));
        let sort = self.sort.map(|count| format!("sorts {} in memory (SORT)", documents(count)));
        let what: Vec<String> = scan.into_iter().chain(sort).collect();
        let keys: Vec<String> = self.keys.iter().map(IndexKeys::to_string).collect();
        let index = match (self.exists, keys.len()) {
            (true, _) => "which it does not use, has the fields: look at its collation, its filter, and arrays",
            (false, 1) => "would serve it",
            (false, _) => "would serve it, one for each branch of `$or`",
        };
        format!(
            "Operation {operation} of {strategies}: `{}` {}; the index {}{} {index}.",
            self.step,
            what.join(" and "),
            keys.join(" and "),
            if self.exists { "," } else { "" },
        )
    }
}

#[cfg(test)]
mod tests {
    use bson::{RawDocumentBuf, rawdoc};

    use super::*;

    fn keys(command: &RawDocumentBuf) -> String {
        Query::of(command).keys().iter().map(IndexKeys::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn equality_comes_before_the_sort_and_ranges_after_it() {
        let find = |filter: RawDocumentBuf, sort: RawDocumentBuf| {
            keys(&rawdoc! { "find": "c", "filter": filter, "sort": sort })
        };
        assert_eq!(
            find(
                rawdoc! { "likes": { "$gt": 3 }, "room": 7, "hidden": { "$ne": true } },
                rawdoc! { "at": -1, "_id": 1 }
            ),
            "{ room: 1, at: -1, _id: 1, likes: 1 }"
        );
        assert_eq!(
            find(rawdoc! { "$and": [{ "a": { "$in": [1] } }, { "b": "x" }] }, rawdoc! { "a": 1 }),
            "{ a: 1, b: 1 }"
        );
        assert_eq!(
            find(rawdoc! { "$or": [{ "a": 1 }, { "b": 2 }], "k": 1 }, rawdoc! {}),
            "{ a: 1, k: 1 } { b: 1, k: 1 }"
        );
        assert_eq!(
            find(rawdoc! { "tags": { "$elemMatch": { "k": "x", "v": { "$gte": 1 } } } }, rawdoc! {}),
            "{ tags.k: 1, tags.v: 1 }"
        );
    }

    #[test]
    fn every_command_has_its_filter() {
        assert_eq!(keys(&rawdoc! { "count": "c", "query": { "a": 1 } }), "{ a: 1 }");
        assert_eq!(keys(&rawdoc! { "distinct": "c", "key": "k", "query": { "a": 1 } }), "{ a: 1, k: 1 }");
        assert_eq!(keys(&rawdoc! { "update": "c", "updates": [{ "q": { "a": 1 }, "u": {} }] }), "{ a: 1 }");
        assert_eq!(keys(&rawdoc! { "delete": "c", "deletes": [{ "q": { "a": 1 }, "limit": 1 }] }), "{ a: 1 }");
        let expression =
            rawdoc! { "$expr": { "$and": [{ "$eq": ["$x", "$$x"] }, { "$lt": ["$n", 4] }, { "$eq": ["$a", "$b"] }] } };
        let stages =
            [rawdoc! { "$match": expression }, rawdoc! { "$sort": { "at": 1 } }, rawdoc! { "$sort": { "no": 1 } }];
        assert_eq!(
            keys(&rawdoc! { "aggregate": "c", "pipeline": bson::RawArrayBuf::from_iter(stages) }),
            "{ x: 1, at: 1, n: 1 }"
        );
    }

    #[test]
    fn no_index_helps_what_is_found_by_its_id_or_by_expressions() {
        assert_eq!(
            keys(&rawdoc! { "find": "rooms", "filter": { "_id": { "$in": [1, 2] } }, "sort": { "at": -1 } }),
            ""
        );
        assert_eq!(keys(&rawdoc! { "find": "c", "filter": { "$where": "f()" }, "sort": {} }), "");
        assert_eq!(keys(&rawdoc! { "find": "c", "filter": { "a": 1 }, "sort": { "s": { "$meta": "textScore" } } }), "");
        let computed = [rawdoc! { "$addFields": { "n": 1 } }, rawdoc! { "$sort": { "n": 1 } }];
        assert!(
            !Query::of(&rawdoc! { "aggregate": "c", "pipeline": bson::RawArrayBuf::from_iter(computed) }).is_sorted()
        );
    }

    #[test]
    fn strategies_that_lack_the_same_share_a_sentence() {
        let missing = |scan| MissingIndex {
            step: "find c".into(),
            scan,
            sort: Some(Some(12)),
            keys: Query::of(&rawdoc! { "find": "c", "filter": { "a": 1 }, "sort": { "at": -1 } }).keys(),
            exists: false,
        };
        let of = |strategy: &str, missing| (strategy.to_owned(), "list".to_owned(), missing);
        let found = [of("x", missing(Some(Some(40)))), of("y", missing(Some(Some(90)))), of("z", missing(None))];
        let z = MissingIndex { exists: true, ..missing(None) };
        assert_eq!(
            MissingIndex::warnings(found.into_iter().chain([of("z", z)])),
            [
                "Operation list of x, y: `find c` scans all 90 documents (COLLSCAN) and sorts 12 documents in memory (SORT); the index \
                 { a: 1, at: -1 } would serve it.",
                "Operation list of z: `find c` sorts 12 documents in memory (SORT); the index { a: 1, at: -1 } would serve it.",
                "Operation list of z: `find c` sorts 12 documents in memory (SORT); the index { a: 1, at: -1 }, which it does not use, \
                 has the fields: look at its collation, its filter, and arrays.",
            ]
        );
    }
}
