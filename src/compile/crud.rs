//! CRUD steps as written to server commands, as templates.

use std::sync::Arc;

use crate::plan::bulk::Request;
use crate::plan::template::{DocumentPart, Item, Key};
use crate::plan::{Command, Concerns, ReplyShape, RequestKind, Skeleton, Template, Value};
use crate::scenario::{CommandWord, Diagnostics, Node, Spanned, Tree};

use super::document::DocumentCompiler;
use super::lint::check_option;
use super::parts::all;
use super::scope::Scope;

/// Compiles the options of one CRUD step into a server command.
pub struct CrudCompiler<'r, 'a> {
    pub word: CommandWord,
    pub collection: &'r Spanned<String>,
    pub options: &'r [(Spanned<String>, Node)],
    pub scope: &'r mut Scope<'a>,
    pub diagnostics: &'r mut Diagnostics,
}

impl CrudCompiler<'_, '_> {
    /// The command; `None` when there were problems. Inside of a transaction, which has concerns of its own, it carries none.
    pub fn compile(mut self, concerns: Option<&Concerns>) -> Option<Command> {
        let mut compiler = DocumentCompiler { scope: self.scope, diagnostics: self.diagnostics };
        let collection = compiler.text(&self.collection.value, self.collection.span, false)?;
        let (name, body, documents) = self.body()?;
        let mut entries = vec![field(name, collection)];
        entries.extend(body);
        let writes = self.word.writes();
        let write_concern = |concerns: &Concerns| constant("writeConcern", concerns.write_concern());
        let read_concern = |concerns: &Concerns| constant("readConcern", map("level", Value::text(&concerns.read)));
        entries.extend(if writes { concerns.map(write_concern) } else { concerns.map(read_concern) });
        Some(Command {
            label: format!("{} {}", self.word.name(), self.collection.value),
            document: Skeleton::new(Template::Document(entries)),
            documents,
            reply: reply_shape(self.word),
            alias: None,
            writes,
            changes: writes,
        })
    }

    /// Returns one of several requests: an element of the list of an `insert`, `update` or `delete` command. `None` when
    /// there were problems, as it is of commands that cannot be requests.
    pub fn request(mut self) -> Option<Request> {
        use CommandWord::*;
        let (kind, template) = match self.word {
            InsertOne => (RequestKind::Insert, self.required("document")?),
            DeleteOne | DeleteMany => (RequestKind::Delete, Template::Document(self.delete_part()?)),
            UpdateOne | UpdateMany | ReplaceOne => (RequestKind::Update, Template::Document(self.update_part()?)),
            InsertMany | FindOne | Find | Aggregate | CountDocuments | Distinct => return None,
            FindOneAndUpdate | FindOneAndReplace | FindOneAndDelete => return None,
        };
        Some(Request::One(kind, template))
    }

    /// The command's name, its fields, and the documents that are sent apart.
    fn body(&mut self) -> Option<(&'static str, Vec<DocumentPart>, Option<Template>)> {
        use CommandWord::*;
        Some(match self.word {
            InsertOne => {
                let document = self.required("document")?;
                ("insert", vec![field("documents", Template::Array(vec![Item::One(document)]))], None)
            }
            InsertMany => {
                let documents = self.required("documents")?;
                ("insert", self.copy(&[("ordered", "ordered")])?, Some(documents))
            }
            FindOne => {
                let mut entries = self.find_entries()?;
                entries.push(constant("limit", Value::Int(1)));
                entries.push(constant("singleBatch", Value::Bool(true)));
                ("find", entries, None)
            }
            Find => {
                let mut entries = self.find_entries()?;
                entries.extend(self.copy(&[("limit", "limit"), ("batchSize", "batchSize")])?);
                ("find", entries, None)
            }
            Aggregate => {
                let pipeline = field("pipeline", self.required("pipeline")?);
                let cursor = field("cursor", Template::Document(self.copy(&[("batchSize", "batchSize")])?));
                let mut entries = vec![pipeline, cursor];
                entries.extend(self.copy(&[("hint", "hint"), ("collation", "collation")])?);
                ("aggregate", entries, None)
            }
            CountDocuments => ("aggregate", self.count_entries()?, None),
            Distinct => {
                ("distinct", self.copy(&[("key", "key"), ("filter", "query"), ("collation", "collation")])?, None)
            }
            UpdateOne | UpdateMany | ReplaceOne => ("update", vec![list_of_one("updates", self.update_part()?)], None),
            DeleteOne | DeleteMany => ("delete", vec![list_of_one("deletes", self.delete_part()?)], None),
            FindOneAndUpdate | FindOneAndReplace | FindOneAndDelete => ("findAndModify", self.modify_entries()?, None),
        })
    }

    fn find_entries(&mut self) -> Option<Vec<DocumentPart>> {
        let names = ["filter", "projection", "sort", "skip", "hint", "collation"];
        self.copy(&names.map(|name| (name, name)))
    }

    /// `countDocuments` is an aggregation, as the CRUD specification has it.
    fn count_entries(&mut self) -> Option<Vec<DocumentPart>> {
        let filter = self.optional("filter")?.unwrap_or_else(|| Template::Document(Vec::new()));
        let mut stages = vec![Item::One(Template::Document(vec![field("$match", filter)]))];
        for (option, stage) in [("skip", "$skip"), ("limit", "$limit")] {
            if let Some(value) = self.optional(option)? {
                stages.push(Item::One(Template::Document(vec![field(stage, value)])));
            }
        }
        let sum =
            Value::Map(Arc::new([(Arc::from("_id"), Value::Int(1)), (Arc::from("n"), map("$sum", Value::Int(1)))]));
        stages.push(Item::One(Template::Document(vec![constant("$group", sum)])));
        let mut entries =
            vec![field("pipeline", Template::Array(stages)), field("cursor", Template::Document(Vec::new()))];
        entries.extend(self.copy(&[("hint", "hint"), ("collation", "collation")])?);
        Some(entries)
    }

    fn delete_part(&mut self) -> Option<Vec<DocumentPart>> {
        let mut delete = self.copy(&[("filter", "q"), ("hint", "hint"), ("collation", "collation")])?;
        delete.push(constant("limit", Value::Int(i64::from(self.word == CommandWord::DeleteOne))));
        Some(delete)
    }

    fn update_part(&mut self) -> Option<Vec<DocumentPart>> {
        let change = if self.word == CommandWord::ReplaceOne { "replacement" } else { "update" };
        let names = [
            ("filter", "q"),
            (change, "u"),
            ("sort", "sort"),
            ("upsert", "upsert"),
            ("arrayFilters", "arrayFilters"),
            ("hint", "hint"),
            ("collation", "collation"),
        ];
        let mut update = self.copy(&names)?;
        update.push(constant("multi", Value::Bool(self.word == CommandWord::UpdateMany)));
        Some(update)
    }

    fn modify_entries(&mut self) -> Option<Vec<DocumentPart>> {
        let names = [
            ("filter", "query"),
            ("sort", "sort"),
            ("update", "update"),
            ("replacement", "update"),
            ("projection", "fields"),
            ("upsert", "upsert"),
            ("arrayFilters", "arrayFilters"),
            ("hint", "hint"),
            ("collation", "collation"),
        ];
        let mut entries = self.copy(&names)?;
        if self.word == CommandWord::FindOneAndDelete {
            entries.push(constant("remove", Value::Bool(true)));
        }
        if self.option("returnDocument").is_some_and(|node| node.as_text() == Some("after")) {
            entries.push(constant("new", Value::Bool(true)));
        }
        Some(entries)
    }

    fn option(&self, name: &str) -> Option<&Node> {
        self.options.iter().find(|(key, _)| key.value == name).map(|(_, node)| node)
    }

    /// `None` when the option had a problem, `Some(None)` when it is not given.
    fn optional(&mut self, name: &str) -> Option<Option<Template>> {
        let Some(node) = self.option(name).cloned() else { return Some(None) };
        check_option(name, &node, self.scope, self.diagnostics);
        let pipeline = name == "pipeline" || (name == "update" && matches!(node.tree, Tree::List(_)));
        DocumentCompiler { scope: self.scope, diagnostics: self.diagnostics }.compile(&node, pipeline).map(Some)
    }

    fn required(&mut self, name: &str) -> Option<Template> {
        let template = self.optional(name)?;
        if template.is_none() {
            let message = format!("missing key `{name}` in `{}`", self.word.name());
            self.diagnostics.error(self.collection.span, message, format!("add `{name}: ...`"));
        }
        template
    }

    /// The given ones of these options under the server's names.
    fn copy(&mut self, names: &[(&str, &'static str)]) -> Option<Vec<DocumentPart>> {
        let given: Vec<_> = all(names.iter().map(|(option, name)| {
            self.optional(option).map(|template| template.map(|template| field(name, template)))
        }))?;
        Some(given.into_iter().flatten().collect())
    }
}

/// How the reply of a command is read.
pub(super) fn reply_shape(word: CommandWord) -> ReplyShape {
    use CommandWord::*;
    match word {
        InsertOne | InsertMany => ReplyShape::Insert,
        FindOne => ReplyShape::First,
        Find | Aggregate => ReplyShape::Documents,
        CountDocuments => ReplyShape::Count,
        Distinct => ReplyShape::Values,
        UpdateOne | UpdateMany | ReplaceOne => ReplyShape::Update,
        DeleteOne | DeleteMany => ReplyShape::Delete,
        FindOneAndUpdate | FindOneAndReplace | FindOneAndDelete => ReplyShape::Value,
    }
}

fn field(name: &str, value: Template) -> DocumentPart {
    DocumentPart::Field(Key::Fixed(name.into()), value)
}

fn constant(name: &str, value: Value) -> DocumentPart {
    field(name, Template::Constant(value))
}

fn map(key: &str, value: Value) -> Value {
    Value::Map(Arc::new([(Arc::from(key), value)]))
}

fn list_of_one(name: &str, entries: Vec<DocumentPart>) -> DocumentPart {
    field(name, Template::Array(vec![Item::One(Template::Document(entries))]))
}
