//! CRUD steps as written to server commands, as templates.

use std::sync::Arc;

use crate::plan::bulk::Request;
use crate::plan::template::{DocumentPart, Item, Key};
use crate::plan::{Command, Concerns, ReplyShape, RequestKind, Skeleton, Template, Value};
use crate::scenario::{CommandWord, Node, Spanned, Tree};

use super::lint::check_option;
use super::parts::all;
use super::scope::Scope;

/// Compiles the options of one CRUD step into a server command.
pub struct CrudCompiler<'r, 'a> {
    pub word: CommandWord,
    pub collection: &'r Spanned<String>,
    pub options: &'r [(Spanned<String>, Node)],
    pub scope: &'r mut Scope<'a>,
}

impl CrudCompiler<'_, '_> {
    /// The command; `None` when there were problems. Inside of a transaction, which has concerns of its own, it carries none.
    pub fn compile(mut self, concerns: Option<&Concerns>) -> Option<Command> {
        let collection = self.scope.text(&self.collection.value, self.collection.span, false)?;
        let (name, body, documents) = self.body()?;
        let mut entries = vec![field(name, collection)];
        entries.extend(body);
        let writes = self.word.writes();
        let write_concern = |concerns: &Concerns| constant("writeConcern", concerns.write_concern());
        let text = |name: &str| self.option(name).and_then(Node::as_text);
        let level = text("readConcern");
        let read_concern =
            |concerns: &Concerns| constant("readConcern", map("level", Value::text(level.unwrap_or(&concerns.read))));
        // The primary is what every command is sent to.
        let read_preference = text("readPreference").filter(|preference| *preference != "primary").map(Box::from);
        entries.extend(if writes { concerns.map(write_concern) } else { concerns.map(read_concern) });
        Some(Command {
            label: format!("{} {}", self.word.name(), self.collection.value),
            document: Skeleton::new(Template::Document(entries)),
            documents,
            reply: reply_shape(self.word),
            alias: None,
            read_concern: level.map(Box::from),
            read_preference,
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
            DeleteOne | DeleteMany => (RequestKind::Delete, self.delete_part()?),
            UpdateOne | UpdateMany | ReplaceOne => (RequestKind::Update, self.update_part()?),
            _ => return None,
        };
        Some(Request::One(kind, template))
    }

    /// The command's name, its fields, and the documents that are sent apart.
    fn body(&mut self) -> Option<(&'static str, Vec<DocumentPart>, Option<Template>)> {
        use CommandWord::*;
        Some(match self.word {
            InsertOne => ("insert", vec![list_of_one("documents", self.required("document")?)], None),
            InsertMany => {
                let documents = self.required("documents")?;
                ("insert", self.copy("ordered")?, Some(documents))
            }
            FindOne => {
                let mut entries = self.copy("filter projection sort skip hint collation")?;
                entries.push(constant("limit", Value::Int(1)));
                entries.push(constant("singleBatch", Value::Bool(true)));
                ("find", entries, None)
            }
            Find => ("find", self.copy("filter projection sort skip hint collation limit batchSize")?, None),
            Aggregate => {
                let pipeline = field("pipeline", self.required("pipeline")?);
                let cursor = field("cursor", Template::Document(self.copy("batchSize")?));
                let mut entries = vec![pipeline, cursor];
                entries.extend(self.copy("hint collation")?);
                ("aggregate", entries, None)
            }
            CountDocuments => ("aggregate", self.count_entries()?, None),
            Distinct => ("distinct", self.copy("key filter:query collation")?, None),
            UpdateOne | UpdateMany | ReplaceOne => ("update", vec![list_of_one("updates", self.update_part()?)], None),
            DeleteOne | DeleteMany => ("delete", vec![list_of_one("deletes", self.delete_part()?)], None),
            FindOneAndUpdate | FindOneAndReplace | FindOneAndDelete => ("findAndModify", self.modify_entries()?, None),
        })
    }

    /// `countDocuments` is an aggregation, as the CRUD specification has it.
    fn count_entries(&mut self) -> Option<Vec<DocumentPart>> {
        let filter = self.optional("filter")?.unwrap_or_else(|| Template::Document(Vec::new()));
        let mut stages = vec![field("$match", filter)];
        stages.extend(self.copy("skip:$skip limit:$limit")?);
        let sum =
            Value::Map(Arc::new([(Arc::from("_id"), Value::Int(1)), (Arc::from("n"), map("$sum", Value::Int(1)))]));
        stages.push(constant("$group", sum));
        let stages = stages.into_iter().map(|stage| Item::One(Template::Document(vec![stage])));
        let pipeline = field("pipeline", Template::Array(stages.collect()));
        let mut entries = vec![pipeline, field("cursor", Template::Document(Vec::new()))];
        entries.extend(self.copy("hint collation")?);
        Some(entries)
    }

    fn delete_part(&mut self) -> Option<Template> {
        let mut delete = self.copy("filter:q hint collation")?;
        delete.push(constant("limit", Value::Int(i64::from(self.word == CommandWord::DeleteOne))));
        Some(Template::Document(delete))
    }

    fn update_part(&mut self) -> Option<Template> {
        let mut update = self.copy("filter:q update:u replacement:u sort upsert arrayFilters hint collation")?;
        update.push(constant("multi", Value::Bool(self.word == CommandWord::UpdateMany)));
        Some(Template::Document(update))
    }

    fn modify_entries(&mut self) -> Option<Vec<DocumentPart>> {
        let options =
            "filter:query sort update replacement:update projection:fields upsert arrayFilters hint collation";
        let mut entries = self.copy(options)?;
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
        check_option(name, &node, self.scope);
        let pipeline = name == "pipeline" || (name == "update" && matches!(node.tree, Tree::List(_)));
        self.scope.template(&node, pipeline).map(Some)
    }

    /// An option that the reader has reported when it is not given.
    fn required(&mut self, name: &str) -> Option<Template> {
        self.optional(name)?
    }

    /// The given ones of these options under the server's names, which follow the `:` where they differ.
    fn copy(&mut self, options: &str) -> Option<Vec<DocumentPart>> {
        let options = options.split(' ').map(|names| names.split_once(':').unwrap_or((names, names)));
        let given: Vec<_> = all(options.map(|(option, name)| {
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

fn list_of_one(name: &str, one: Template) -> DocumentPart {
    field(name, Template::Array(vec![Item::One(one)]))
}
