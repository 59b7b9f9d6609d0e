//! The reader of commands, which takes the values out of them.

use std::hash::{BuildHasher, RandomState};

use bson::{Bson, Document};

use super::access::KEY;
use super::shape::{LookupStage, Operand, Projected, Returns, StatementShape, StatementTerm, Verb};

/// The commands that are statements, besides single updates and deletes.
const COMMANDS: [(&str, Verb); 6] = [
    ("find", Verb::Read),
    ("aggregate", Verb::Read),
    ("count", Verb::Read),
    ("distinct", Verb::Read),
    ("insert", Verb::Insert),
    ("findAndModify", Verb::Update),
];

/// Operators of filters that the model executes.
const OPERATORS: [&str; 8] = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin"];

/// What a command is for this module.
#[derive(Debug)]
pub(super) enum Recorded {
    /// Statements with shape and values.
    Statements(Vec<(StatementShape, Vec<u64>)>),
    /// The command around updates or deletes that were recorded one by one before it.
    Header,
    /// The end of a transaction: whether it commits.
    End(bool),
    /// Another batch of a cursor: a part of the statement before.
    GetMore,
    /// No statement of an application.
    Other,
}

/// Reads the command of a log line or profiled statement. `is_remove`: whether a single write is a delete.
pub(super) fn recorded(command: &Document, collection: &str, is_remove: bool, hasher: &RandomState) -> Recorded {
    let Some(first) = command.keys().next() else { return Recorded::Other };
    let write = |write: &Document, collection: &str, is_remove: bool| {
        let (name, verb) = if is_remove { ("delete", Verb::Delete) } else { ("update", Verb::Update) };
        statement(StatementShape::new(name, verb, collection), write, hasher)
    };
    match first.as_str() {
        "q" => Recorded::Statements(vec![write(command, collection, is_remove)]),
        name @ ("update" | "delete") => match (command.get_str(name), command.get_array(format!("{name}s"))) {
            // A router logs all writes with their command.
            (Ok(collection), Ok(writes)) => {
                let writes = writes.iter().filter_map(Bson::as_document);
                Recorded::Statements(writes.map(|one| write(one, collection, name == "delete")).collect())
            }
            _ => Recorded::Header,
        },
        "commitTransaction" => Recorded::End(true),
        "abortTransaction" => Recorded::End(false),
        "getMore" | "getmore" => Recorded::GetMore,
        name => match (COMMANDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)), command.get_str(name)) {
            (Some((known, verb)), Ok(collection)) => {
                let verb = if is_true(command.get("remove")) { Verb::Delete } else { *verb };
                Recorded::Statements(vec![statement(StatementShape::new(known, verb, collection), command, hasher)])
            }
            // `aggregate: 1` has no collection, such as `$currentOp`.
            _ => Recorded::Other,
        },
    }
}

fn statement(mut shape: StatementShape, command: &Document, hasher: &RandomState) -> (StatementShape, Vec<u64>) {
    let mut stripper = Stripper::new(hasher);
    shape.unsaid = stripper.statement(&mut shape, command).err();
    (shape, stripper.values)
}

/// Takes values out of the parts of a statement, and keeps their hashes.
pub(super) struct Stripper {
    hasher: RandomState,
    /// By slot: the hash of a value, or a size.
    pub(super) values: Vec<u64>,
}

impl Stripper {
    pub(super) fn new(hasher: &RandomState) -> Stripper {
        Stripper { hasher: hasher.clone(), values: Vec::new() }
    }

    /// Reads a command into its shape. The error is what no logical step can say.
    fn statement(&mut self, shape: &mut StatementShape, command: &Document) -> Result<(), String> {
        let document = |names: &[&str]| names.iter().find_map(|name| command.get_document(name).ok());
        shape.limit = number(command.get("limit")).saturating_abs();
        shape.is_multi = is_true(command.get("multi")) || (shape.command == "delete" && shape.limit == 0);
        shape.is_upsert = is_true(command.get("upsert"));
        if let Some(filter) = document(&["filter", "query", "q"]) {
            shape.filter = self.filter("", filter)?;
        }
        shape.sort = document(&["sort"]).map(sort).unwrap_or_default();
        shape.projection = document(&["projection", "fields"]).map(projection).unwrap_or_default();
        shape.skip = command.get("skip").map(|skip| self.size(number(Some(skip))));
        for filter in command.get_array("arrayFilters").into_iter().flatten().filter_map(Bson::as_document) {
            shape.array_filters.extend(self.filter("", filter).unwrap_or_default());
        }
        match (shape.verb, shape.command) {
            (Verb::Update, _) => shape.update = self.update(command.get("u").or(command.get("update")))?,
            (_, "count") => shape.returns = Returns::Count,
            (_, "distinct") => return Err("all distinct values".to_owned()),
            (_, "aggregate") => {
                for (at, stage) in command.get_array("pipeline").into_iter().flatten().enumerate() {
                    self.stage(shape, at, stage)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads a stage of an aggregation.
    fn stage(&mut self, shape: &mut StatementShape, at: usize, stage: &Bson) -> Result<(), String> {
        let Some((name, body)) = stage.as_document().and_then(|stage| stage.iter().next()) else { return Ok(()) };
        let is_late = shape.limit > 0 || shape.skip.is_some();
        match (name.as_str(), body) {
            ("$project", Bson::Document(fields)) => shape.projection = projection(fields),
            ("$unset", Bson::String(path)) => shape.projection.push((path.clone(), Projected::Out)),
            _ if shape.returns != Returns::Records => return Err(shown(name)),
            ("$match", Bson::Document(filter)) if at == 0 => shape.filter = self.filter("", filter)?,
            ("$sort", Bson::Document(fields)) if !is_late => shape.sort = sort(fields),
            ("$skip", body) if shape.limit == 0 => shape.skip = Some(self.size(number(Some(body)))),
            ("$limit", body) => shape.limit = number(Some(body)),
            ("$count", _) => shape.returns = Returns::Count,
            ("$group", Bson::Document(group)) => shape.returns = total(group).ok_or("$group")?,
            ("$lookup", Bson::Document(body)) => shape.lookups.push(lookup(body)?),
            ("$unwind", body) if is_lookup(shape, body) => {}
            (name, _) => return Err(shown(name)),
        }
        Ok(())
    }

    /// Keeps a number as it is.
    fn size(&mut self, size: i64) -> usize {
        self.values.push(size.unsigned_abs());
        self.values.len() - 1
    }

    fn scalar(&mut self, value: &Bson) -> Operand {
        match value {
            Bson::Null | Bson::Boolean(_) => Operand::Literal(value.to_string()),
            Bson::Document(_) => Operand::Document,
            value => {
                self.values.push(self.hasher.hash_one(format!("{value:?}")));
                Operand::Slot(self.values.len() - 1)
            }
        }
    }

    /// Reads the comparisons of a filter. The error is an operator that no logical step has.
    pub(super) fn filter(&mut self, prefix: &str, filter: &Document) -> Result<Vec<StatementTerm>, String> {
        let mut found = Vec::new();
        for (key, value) in filter {
            match (key.as_str(), value) {
                ("$comment", _) => {}
                ("$and", Bson::Array(all)) => {
                    for inner in all.iter().filter_map(Bson::as_document) {
                        found.extend(self.filter(prefix, inner)?);
                    }
                }
                (operator, _) if operator.starts_with('$') => return Err(shown(operator)),
                (path, value) => self.condition(join(prefix, path), value, &mut found)?,
            }
        }
        Ok(found)
    }

    fn condition(&mut self, path: String, value: &Bson, found: &mut Vec<StatementTerm>) -> Result<(), String> {
        let operators = value.as_document().filter(|inner| inner.keys().next().is_some_and(|key| key.starts_with('$')));
        let equal = Document::from_iter([("$eq".to_owned(), value.clone())]);
        for (operator, value) in operators.unwrap_or(&equal) {
            let (operator, operand) = match (operator.as_str(), value) {
                ("$elemMatch", Bson::Document(inner)) => {
                    found.extend(self.filter(&path, inner)?);
                    continue;
                }
                (_, Bson::RegularExpression(_)) => return Err("$regex".to_owned()),
                (operator, _) if !OPERATORS.contains(&operator) => return Err(shown(operator)),
                // Lists of one value are as good as the value: drivers and mappers send both.
                ("$in", Bson::Array(items)) if items.len() == 1 => ("$eq", self.scalar(&items[0])),
                ("$nin", Bson::Array(items)) if items.len() == 1 => ("$ne", self.scalar(&items[0])),
                (operator, value) => (operator, self.written(value)),
            };
            found.push(StatementTerm::new(&path, operator, operand));
        }
        Ok(())
    }

    /// Reads the changes of an update; a replacement sets every field.
    pub(super) fn update(&mut self, update: Option<&Bson>) -> Result<Vec<StatementTerm>, String> {
        let Some(Bson::Document(update)) = update else { return Err("an update by a pipeline".to_owned()) };
        let is_replacement = !update.keys().any(|key| key.starts_with('$'));
        let mut found = Vec::new();
        for (key, value) in update {
            match value {
                Bson::Document(fields) if !is_replacement => {
                    found.extend(fields.iter().map(|(path, value)| self.assignment(key, path, value)));
                }
                value if is_replacement && key != KEY => found.push(self.assignment("$set", key, value)),
                _ => {}
            }
        }
        Ok(found)
    }

    /// Reads one change of an update.
    pub(super) fn assignment(&mut self, operator: &str, path: &str, value: &Bson) -> StatementTerm {
        let operand = match (operator, value) {
            ("$inc", value) => Operand::Literal(if value.to_string().starts_with('-') { "-1" } else { "1" }.to_owned()),
            ("$pull", Bson::Document(filter)) => self.filter("", filter).map_or(Operand::Document, Operand::Filter),
            ("$push" | "$addToSet", Bson::Document(inner)) if inner.contains_key("$each") => {
                let first = inner.get_array("$each").ok().and_then(|items| items.first());
                self.written(first.unwrap_or(&Bson::Null))
            }
            (_, value) => self.written(value),
        };
        StatementTerm::new(path, operator, operand)
    }

    fn written(&mut self, value: &Bson) -> Operand {
        match value {
            Bson::Array(items) => Operand::List(self.size(items.len() as i64)),
            value => self.scalar(value),
        }
    }
}

fn sort(fields: &Document) -> Vec<(String, i64)> {
    fields.iter().map(|(path, direction)| (path.clone(), number(Some(direction)).signum())).collect()
}

fn projection(fields: &Document) -> Vec<(String, Projected)> {
    let projected = |value: &Bson| match value {
        Bson::Boolean(false) => Projected::Out,
        Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) if number(Some(value)) == 0 => Projected::Out,
        Bson::Document(inner) if inner.contains_key("$slice") => Projected::Slice(number(inner.get("$slice"))),
        _ => Projected::In,
    };
    fields.iter().map(|(path, value)| (path.clone(), projected(value))).collect()
}

/// One number over all records: how many, or the sum of a field.
fn total(group: &Document) -> Option<Returns> {
    let mut results = group.iter().filter(|(key, _)| *key != KEY);
    let (Some((_, Bson::Document(result))), None) = (results.next(), results.next()) else { return None };
    if matches!(group.get(KEY), Some(Bson::Document(_) | Bson::Array(_) | Bson::String(_))) {
        return None;
    }
    let (operator, value) = result.iter().next()?;
    match (operator.as_str(), value) {
        ("$sum", Bson::String(path)) => path.strip_prefix('$').map(|path| Returns::Sum(path.to_owned())),
        ("$sum", value) if number(Some(value)) == 1 => Some(Returns::Count),
        ("$count", Bson::Document(nothing)) if nothing.is_empty() => Some(Returns::Count),
        _ => None,
    }
}

fn lookup(body: &Document) -> Result<LookupStage, String> {
    let text = |key: &str| body.get_str(key).map(str::to_owned).map_err(|_| "$lookup with a pipeline alone".to_owned());
    let (from, local) = (text("from")?, text("localField")?);
    let stage = LookupStage { from, local, foreign: text("foreignField")?, result: text("as")? };
    let has_stages = body.get_array("pipeline").is_ok_and(|stages| !stages.is_empty());
    if has_stages { Err("$lookup with a pipeline".to_owned()) } else { Ok(stage) }
}

/// Whether a `$unwind` is of the result of a `$lookup`.
fn is_lookup(shape: &StatementShape, unwind: &Bson) -> bool {
    let path = unwind.as_document().map_or(unwind.as_str(), |body| body.get_str("path").ok());
    let path = path.unwrap_or_default().trim_start_matches('$');
    shape.lookups.iter().any(|lookup| lookup.result == path)
}

/// The name of an operator or stage, unless it is none: a hostile name is a value.
fn shown(operator: &str) -> String {
    let is_plain = operator.len() <= 24 && operator.chars().all(|c| c == '$' || c.is_ascii_alphabetic());
    if is_plain { operator.to_owned() } else { "an unknown operator".to_owned() }
}

/// A path below another one.
pub(super) fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}

fn is_true(value: Option<&Bson>) -> bool {
    value.and_then(Bson::as_bool).unwrap_or_default()
}

/// A whole number; 0 for none.
pub(super) fn number(value: Option<&Bson>) -> i64 {
    match value {
        Some(Bson::Int32(number)) => i64::from(*number),
        Some(Bson::Int64(number)) => *number,
        Some(Bson::Double(number)) => *number as i64,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    fn stripper() -> Stripper {
        Stripper::new(&RandomState::new())
    }

    fn text(all: &[StatementTerm]) -> Vec<String> {
        all.iter().map(|one| format!("{} {} {:?}", one.path, one.operator, one.operand)).collect()
    }

    #[test]
    fn filters_keep_names_operators_null_and_booleans_only() {
        let mut stripper = stripper();
        let filter = doc! { "user": 17, "done": false, "gone": null, "at": { "$gte": "secret", "$lt": 5.0 },
        "state": { "$in": ["a", "b"] }, "one": { "$in": ["secret"] }, "$and": [{ "x": 1 }, { "y": { "z": "secret" } }],
        "lines": { "$elemMatch": { "sku": "secret" } } };
        let expected = [
            "user $eq Slot(0)", "done $eq Literal(\"false\")", "gone $eq Literal(\"null\")", "at $gte Slot(1)",
            "at $lt Slot(2)", "state $in List(3)", "one $eq Slot(4)", "x $eq Slot(5)", "y $eq Document",
            "lines.sku $eq Slot(6)",
        ];
        assert_eq!(text(&stripper.filter("", &filter).unwrap()), expected);
        assert_eq!(stripper.values[3], 2, "the size of the list");
        let refused = |filter: Document| Stripper::new(&RandomState::new()).filter("", &filter).unwrap_err();
        assert_eq!(refused(doc! { "$or": [{ "x": "secret" }, { "y": 1 }] }), "$or");
        assert_eq!(refused(doc! { "$my secret": 1 }), "an unknown operator");
    }

    #[test]
    fn equal_values_have_equal_hashes() {
        let hasher = RandomState::new();
        let hash = |value: Bson| {
            let mut stripper = Stripper::new(&hasher);
            stripper.filter("", &doc! { "a": value }).unwrap();
            stripper.values[0]
        };
        assert_eq!(hash(17.into()), hash(17.into()));
        assert_ne!(hash(17.into()), hash(18.into()));
    }

    #[test]
    fn updates_keep_fields_signs_and_kinds_only() {
        let update = doc! { "$set": { "a.$[x].b": "secret", "ok": true }, "$inc": { "stock": -7, "n": 2 },
        "$push": { "lines": { "$each": [{ "sku": "secret" }], "$slice": 5 } }, "$pull": { "lines": { "_id": 4 } } };
        let found = stripper().update(Some(&update.into())).unwrap();
        let found: Vec<String> = found.iter().map(|a| format!("{} {} {:?}", a.operator, a.path, a.operand)).collect();
        let pulled = StatementTerm::new(KEY, "$eq", Operand::Slot(1));
        let expected = [
            "$set a.$[x].b Slot(0)",
            "$set ok Literal(\"true\")",
            "$inc stock Literal(\"-1\")",
            "$inc n Literal(\"1\")",
            "$push lines Document",
            &format!("$pull lines {:?}", Operand::Filter(vec![pulled])),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn pipelines_keep_paths_and_numbers_but_no_texts() {
        let command = doc! { "aggregate": "orders", "pipeline": [
            { "$match": { "user": "secret" } },
            { "$limit": 5 },
            { "$project": { "a": "$b.c", "d": { "$concat": ["my secret", "$e"] }, "f": 0 } },
        ] };
        let Recorded::Statements(found) = recorded(&command, "", false, &RandomState::new()) else { panic!() };
        let shape = &found[0].0;
        assert_eq!(text(&shape.filter), ["user $eq Slot(0)"]);
        let projected: Vec<(&str, Projected)> =
            shape.projection.iter().map(|(path, how)| (path.as_str(), *how)).collect();
        assert_eq!(projected, [("a", Projected::In), ("d", Projected::In), ("f", Projected::Out)]);
        assert_eq!(shape.limit, 5);
        assert!(!format!("{shape:?}").contains("secret"));
    }
}
