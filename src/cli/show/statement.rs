//! Server commands as mongosh statements.

use bson::{Bson, Document, doc};

use super::code::Code;
use super::literal::{Detail, document, is_identifier, quoted, value};

/// Names of methods of the shell's database, which hide collections of the same name.
const METHODS: [&str; 10] =
    ["aggregate", "auth", "commandHelp", "hello", "help", "logout", "sql", "stats", "version", "watch"];

/// The field in which drivers send a read preference to the server.
pub const READ_PREFERENCE: &str = "$readPreference";

/// Returns the statement that sends a command to the database that `database` is in the shell: a helper of the collection
/// where one sends the same command, else `runCommand`. Concerns that are the server's defaults are left out of helpers.
pub fn statement(database: &str, command: &Document) -> String {
    let raw = || Code::Call(format!("{database}.runCommand"), vec![document(command, Detail::Whole)]);
    helper(database, command).unwrap_or_else(raw).layout(0, 0, 0)
}

/// Returns the statement that makes a collection with options.
pub fn create_collection(name: &str, options: &Document) -> String {
    call("db.createCollection", vec![Some(name.into())], 1, options.clone()).layout(0, 0, 0)
}

/// Returns the statement that makes an index, which is written as `createIndexes` takes it.
pub fn create_index(collection: &str, index: &Document) -> String {
    let mut options = index.clone();
    let key = options.remove("key").unwrap_or(Bson::Null);
    let parts = key.as_document().into_iter().flatten();
    let default_name: Vec<String> = parts
        .map(|(field, kind)| format!("{field}_{}", kind.as_str().map_or_else(|| kind.to_string(), str::to_owned)))
        .collect();
    if options.get_str("name").is_ok_and(|name| name == default_name.join("_")) {
        options.remove("name");
    }
    call(&format!("{}.createIndex", handle("db", collection)), vec![Some(key)], 1, options).layout(0, 0, 0)
}

/// Returns the collection as an expression of mongosh.
fn handle(database: &str, collection: &str) -> String {
    if is_identifier(collection) && !collection.starts_with(['_', '$']) && !METHODS.contains(&collection) {
        format!("{database}.{collection}")
    } else {
        format!("{database}.getCollection({})", quoted(collection))
    }
}

/// Returns the helper's call; `None` when no helper sends this command with all its fields.
fn helper(database: &str, command: &Document) -> Option<Code> {
    let (name, collection) = command.iter().next()?;
    let handle = handle(database, collection.as_str()?);
    let mut fields: Document = command.iter().skip(1).map(|(name, field)| (name.clone(), field.clone())).collect();
    for (concern, default) in [("readConcern", doc! { "level": "local" }), ("writeConcern", doc! { "w": "majority" })] {
        if fields.get_document(concern).is_ok_and(|given| *given == default) {
            fields.remove(concern);
        }
    }
    if let Some(Bson::Document(preference)) = fields.remove(READ_PREFERENCE) {
        fields.extend(preference.get("mode").map(|mode| ("readPreference".to_owned(), mode.clone())));
    }
    let code = match name.as_str() {
        "find" => find(&handle, &mut fields),
        "aggregate" => aggregate(&handle, &mut fields),
        "distinct" => {
            let positional = vec![fields.remove("key"), fields.remove("query")];
            Some(call(
                &format!("{handle}.distinct"),
                positional,
                1,
                take(&mut fields, &["hint", "readConcern", "readPreference"]),
            ))
        }
        "insert" => insert(&handle, &mut fields),
        "update" => writes(&handle, "updates", &mut fields),
        "delete" => writes(&handle, "deletes", &mut fields),
        "findAndModify" => modify(&handle, &mut fields),
        _ => None,
    };
    code.filter(|_| fields.is_empty())
}

fn find(handle: &str, fields: &mut Document) -> Option<Code> {
    let positional = vec![fields.remove("filter"), fields.remove("projection")];
    if is_int(fields.get("limit"), 1) && fields.get_bool("singleBatch").unwrap_or(false) {
        take(fields, &["limit", "singleBatch"]);
        let options = take(fields, &["sort", "skip", "hint", "readConcern", "readPreference"]);
        return Some(call(&format!("{handle}.findOne"), positional, 1, options));
    }
    let mut calls = vec![call(&format!("{handle}.find"), positional, 0, Document::new())];
    for (name, given) in take(fields, &["sort", "skip", "limit", "batchSize", "hint"]) {
        calls.push(call(&format!(".{name}"), vec![Some(given)], 1, Document::new()));
    }
    if let Some(concern) = fields.remove("readConcern") {
        calls.push(call(".readConcern", vec![concern.as_document()?.get("level").cloned()], 1, Document::new()));
    }
    calls.extend(fields.remove("readPreference").map(|mode| call(".readPref", vec![Some(mode)], 1, Document::new())));
    Some(Code::Chain(calls))
}

fn aggregate(handle: &str, fields: &mut Document) -> Option<Code> {
    let (Bson::Array(pipeline), Bson::Document(cursor)) = (fields.remove("pipeline")?, fields.remove("cursor")?) else {
        return None;
    };
    fields.extend(cursor);
    let options =
        ["batchSize", "hint", "let", "allowDiskUse", "collation", "readConcern", "readPreference", "writeConcern"];
    let mut options = take(fields, &options);
    match counted(&pipeline) {
        Some((filter, rest)) if !options.contains_key("batchSize") => {
            options.extend(rest);
            Some(call(&format!("{handle}.countDocuments"), vec![Some(filter)], 0, options))
        }
        _ => Some(call(&format!("{handle}.aggregate"), vec![Some(Bson::Array(pipeline))], 1, options)),
    }
}

/// Returns the filter and the options of the `countDocuments` that sends this pipeline.
fn counted(pipeline: &[Bson]) -> Option<(Bson, Document)> {
    let [first, between @ .., last] = pipeline else { return None };
    let only = |stage: &Bson| stage.as_document().filter(|stage| stage.len() == 1)?.clone().into_iter().next();
    let (_, filter) = only(first).filter(|(name, _)| name == "$match")?;
    only(last).filter(|(name, group)| name == "$group" && *group == doc! { "_id": 1, "n": { "$sum": 1 } }.into())?;
    let mut options = Document::new();
    for stage in between {
        let (name, number) = only(stage)?;
        options.insert(["skip", "limit"].into_iter().find(|option| name == format!("${option}"))?, number);
    }
    Some((filter, options))
}

fn insert(handle: &str, fields: &mut Document) -> Option<Code> {
    let Bson::Array(documents) = fields.remove("documents")? else { return None };
    match documents.as_slice() {
        [one] if !fields.contains_key("ordered") => {
            let options = take(fields, &["writeConcern"]);
            Some(call(&format!("{handle}.insertOne"), vec![Some(one.clone())], 1, options))
        }
        _ => Some(call(&format!("{handle}.insertMany"), vec![Some(Bson::Array(documents))], 1, several(fields))),
    }
}

/// Returns `updateOne` or another helper for one request, `bulkWrite` for the requests of a bulk write.
fn writes(handle: &str, list: &str, fields: &mut Document) -> Option<Code> {
    let Bson::Array(requests) = fields.remove(list)? else { return None };
    let requests: Vec<WriteRequest> = requests.into_iter().map(WriteRequest::read).collect::<Option<_>>()?;
    match requests.as_slice() {
        [one] if !fields.contains_key("ordered") => {
            let mut options = one.options.clone();
            options.extend(take(fields, &["writeConcern"]));
            let positional = one.parts.iter().map(|(_, part)| Some(part.clone())).collect();
            Some(call(&format!("{handle}.{}", one.method), positional, one.parts.len(), options))
        }
        _ => {
            let requests = requests.into_iter().map(WriteRequest::in_bulk).collect();
            Some(call(&format!("{handle}.bulkWrite"), vec![Some(Bson::Array(requests))], 1, several(fields)))
        }
    }
}

/// Takes the options of several writes, without `ordered: true`, which is the shell's default, too.
fn several(fields: &mut Document) -> Document {
    let mut options = take(fields, &["ordered", "writeConcern"]);
    if options.get_bool("ordered").unwrap_or(false) {
        options.remove("ordered");
    }
    options
}

/// One element of `updates` or `deletes`.
struct WriteRequest {
    method: &'static str,
    parts: Vec<(&'static str, Bson)>,
    options: Document,
}

impl WriteRequest {
    fn read(request: Bson) -> Option<WriteRequest> {
        let Bson::Document(mut fields) = request else { return None };
        let filter = ("filter", fields.remove("q")?);
        let (method, parts) = match (fields.remove("u"), fields.remove("multi"), fields.remove("limit")) {
            (Some(change), Some(Bson::Boolean(true)), None) => ("updateMany", vec![filter, ("update", change)]),
            (Some(change), _, None) if is_replacement(&change) => ("replaceOne", vec![filter, ("replacement", change)]),
            (Some(change), _, None) => ("updateOne", vec![filter, ("update", change)]),
            (None, None, limit) if is_int(limit.as_ref(), 1) => ("deleteOne", vec![filter]),
            (None, None, limit) if is_int(limit.as_ref(), 0) => ("deleteMany", vec![filter]),
            _ => return None,
        };
        let options = take(&mut fields, &["sort", "upsert", "arrayFilters", "collation", "hint"]);
        fields.is_empty().then_some(WriteRequest { method, parts, options })
    }

    fn in_bulk(self) -> Bson {
        let mut body: Document = self.parts.into_iter().map(|(name, part)| (name.to_owned(), part)).collect();
        body.extend(self.options);
        doc! { self.method: body }.into()
    }
}

fn modify(handle: &str, fields: &mut Document) -> Option<Code> {
    let mut positional = vec![fields.remove("query")];
    let (change, is_removal) = (fields.remove("update"), fields.remove("remove").is_some());
    let method = match (&change, is_removal) {
        (None, true) => "findOneAndDelete",
        (Some(change), false) if is_replacement(change) => "findOneAndReplace",
        (Some(_), false) => "findOneAndUpdate",
        _ => return None,
    };
    let required = 2 - usize::from(is_removal);
    positional.extend((!is_removal).then_some(change));
    let mut options = take(fields, &["sort", "upsert", "arrayFilters", "collation", "hint", "writeConcern"]);
    options.extend(fields.remove("fields").map(|fields| ("projection".to_owned(), fields)));
    if fields.remove("new") == Some(Bson::Boolean(true)) {
        options.insert("returnDocument", "after");
    }
    Some(call(&format!("{handle}.{method}"), positional, required, options))
}

/// Whether the change of an update is a whole document, neither operators nor a pipeline.
fn is_replacement(change: &Bson) -> bool {
    change.as_document().is_some_and(|change| change.keys().next().is_none_or(|first| !first.starts_with('$')))
}

fn is_int(given: Option<&Bson>, expected: i32) -> bool {
    given.and_then(Bson::as_i32) == Some(expected)
}

/// Takes the fields of these names out of `fields`, in the order of the names.
fn take(fields: &mut Document, names: &[&str]) -> Document {
    names.iter().filter_map(|name| Some(((*name).to_owned(), fields.remove(name)?))).collect()
}

/// Returns a call with positional arguments and then its options. Arguments after the first `required` ones are left out
/// where they are missing and nothing follows.
fn call(name: &str, mut positional: Vec<Option<Bson>>, required: usize, options: Document) -> Code {
    while options.is_empty() && positional.len() > required && positional.last().is_some_and(Option::is_none) {
        positional.pop();
    }
    let given = |argument: Option<Bson>| argument.unwrap_or_else(|| Document::new().into());
    let mut arguments: Vec<Code> =
        positional.into_iter().map(|argument| value(&given(argument), Detail::Whole)).collect();
    if !options.is_empty() {
        arguments.push(document(&options, Detail::Whole));
    }
    Code::Call(name.to_owned(), arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_become_the_helpers_that_send_them() {
        let cases = [
            (doc! { "find": "c", "filter": { "_id": 1 }, "limit": 1, "singleBatch": true }, "db.c.findOne({ _id: 1 })"),
            (
                doc! { "find": "c", "filter": {}, "sort": { "a": 1 }, "limit": 1, "singleBatch": true },
                "db.c.findOne({}, {}, { sort: { a: 1 } })",
            ),
            (doc! { "find": "c", "readConcern": { "level": "local" } }, "db.c.find()"),
            (
                doc! { "find": "c", "projection": { "a": 1 }, "limit": 5, "sort": { "a": -1 }, "readConcern": { "level": "majority" } },
                "db.c.find({}, { a: 1 }).sort({ a: -1 }).limit(5).readConcern('majority')",
            ),
            (
                doc! { "find": "c", "limit": 5, READ_PREFERENCE: { "mode": "secondary" } },
                "db.c.find().limit(5).readPref('secondary')",
            ),
            (
                doc! { "find": "c", "limit": 1, "singleBatch": true, READ_PREFERENCE: { "mode": "nearest" } },
                "db.c.findOne({}, {}, { readPreference: 'nearest' })",
            ),
            (
                doc! { "aggregate": "c", "pipeline": [], "cursor": {}, READ_PREFERENCE: { "mode": "secondary" } },
                "db.c.aggregate([], { readPreference: 'secondary' })",
            ),
            (
                doc! { "aggregate": "c", "pipeline": [{ "$match": {} }], "cursor": { "batchSize": 9 }, "hint": "a_1" },
                "db.c.aggregate([{ $match: {} }], { batchSize: 9, hint: 'a_1' })",
            ),
            (
                doc! {
                    "aggregate": "c",
                    "pipeline": [{ "$match": { "a": 1 } }, { "$limit": 3 }, { "$group": { "_id": 1, "n": { "$sum": 1 } } }],
                    "cursor": {},
                },
                "db.c.countDocuments({ a: 1 }, { limit: 3 })",
            ),
            (doc! { "distinct": "c", "key": "a" }, "db.c.distinct('a')"),
            (
                doc! { "insert": "c", "documents": [{ "_id": 1 }], "writeConcern": { "w": "majority" } },
                "db.c.insertOne({ _id: 1 })",
            ),
            (
                doc! { "insert": "c", "ordered": false, "documents": [{ "_id": 1 }], "writeConcern": { "w": 1 } },
                "db.c.insertMany([{ _id: 1 }], { ordered: false, writeConcern: { w: 1 } })",
            ),
            (
                doc! { "update": "c", "updates": [{ "q": { "_id": 1 }, "u": [{ "$set": { "a": 1 } }], "multi": false }] },
                "db.c.updateOne({ _id: 1 }, [{ $set: { a: 1 } }])",
            ),
            (
                doc! { "update": "c", "updates": [{ "q": {}, "u": { "$inc": { "a": 1 } }, "upsert": true, "multi": true }] },
                "db.c.updateMany({}, { $inc: { a: 1 } }, { upsert: true })",
            ),
            (
                doc! { "update": "c", "updates": [{ "q": {}, "u": { "a": 1 }, "multi": false }] },
                "db.c.replaceOne({}, { a: 1 })",
            ),
            (
                doc! { "update": "c", "ordered": true, "updates": [{ "q": {}, "u": { "$inc": { "a": 1 } }, "multi": false }] },
                "db.c.bulkWrite([{ updateOne: { filter: {}, update: { $inc: { a: 1 } } } }])",
            ),
            (doc! { "delete": "c", "deletes": [{ "q": { "a": 1 }, "limit": 1 }] }, "db.c.deleteOne({ a: 1 })"),
            (
                doc! { "delete": "c", "ordered": false, "deletes": [{ "q": {}, "limit": 0, "hint": "a_1" }] },
                "db.c.bulkWrite([{ deleteMany: { filter: {}, hint: 'a_1' } }], { ordered: false })",
            ),
            (
                doc! { "findAndModify": "c", "query": {}, "update": { "$inc": { "a": 1 } }, "new": true, "fields": { "a": 1 } },
                "db.c.findOneAndUpdate({}, { $inc: { a: 1 } }, { projection: { a: 1 }, returnDocument: 'after' })",
            ),
            (doc! { "findAndModify": "c", "query": { "a": 1 }, "remove": true }, "db.c.findOneAndDelete({ a: 1 })"),
        ];
        for (command, expected) in cases {
            assert_eq!(statement("db", &command), expected);
        }
    }

    #[test]
    fn commands_without_an_exact_helper_are_printed_whole() {
        for command in [
            doc! { "count": "c", "query": { "a": 1 } },
            doc! { "find": "c", "tailable": true },
            doc! { "update": "c", "updates": [{ "q": {}, "u": { "$inc": { "a": 1 } }, "c": {} }] },
            doc! { "findAndModify": "c", "query": {} },
            doc! { "ping": 1 },
        ] {
            let expected = format!("db.runCommand({})", document(&command, Detail::Whole).layout(0, 0, 0));
            assert_eq!(statement("db", &command), expected);
        }
    }

    #[test]
    fn collections_that_the_shell_does_not_know_by_name_are_looked_up() {
        for (name, expected) in [
            ("posts", "tx.posts"),
            ("a.b", "tx.getCollection('a.b')"),
            ("_a", "tx.getCollection('_a')"),
            ("stats", "tx.getCollection('stats')"),
        ] {
            assert_eq!(handle("tx", name), expected);
        }
    }

    #[test]
    fn indexes_are_named_only_where_the_shell_would_choose_another_name() {
        let index = |index: Document| create_index("c", &index);
        assert_eq!(
            index(doc! { "key": { "a": 1, "b": "text" }, "name": "a_1_b_text", "sparse": true }),
            "db.c.createIndex({ a: 1, b: 'text' }, { sparse: true })"
        );
        assert_eq!(index(doc! { "key": { "a": 1 }, "name": "x" }), "db.c.createIndex({ a: 1 }, { name: 'x' })");
    }
}
