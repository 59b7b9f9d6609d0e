//! One operation: its logical steps become the steps of a strategy.

use std::collections::HashSet;

use crate::scenario::{LogicalStep, Node, Scalar, Span, Spanned, Tree};

use super::build::{all, find_one, is_empty, keep, map, pipeline, place, slot, update_one, with, with_all};
use super::document::DerivedDocuments;
use super::model::{Model, PathEnd, option, text_option, texts};
use super::read::Rows;
use super::refusal::{Derived, Refusal, refuse, refuse_shape};
use super::shape::Word;

/// The options of a logical step.
pub(super) type Options = [(Spanned<String>, Node)];

/// The fields that an update changes, by operator.
pub(super) type Changes<'c> = [(&'c str, &'c Options); 2];

/// What a logical read becomes: steps, and the expression of its reply.
pub(super) struct LogicalReply {
    pub steps: Vec<Node>,
    pub value: String,
}

impl LogicalReply {
    pub fn of(command: Node) -> LogicalReply {
        LogicalReply { steps: vec![command], value: "reply".to_owned() }
    }

    /// What a pipeline gives.
    pub fn piped(rows: Rows, value: impl Into<String>) -> LogicalReply {
        LogicalReply { steps: vec![pipeline(&rows.collection, rows.stages)], value: value.into() }
    }
}

/// The record of an argument: its document, and the arrays around it.
pub(super) struct Located {
    pub collection: String,
    pub path: Vec<String>,
    pub filter: Node,
    /// Its `_id`.
    pub id: Node,
}

impl Located {
    pub fn find(&self, projection: Option<Node>) -> Node {
        find_one(&self.collection, self.filter.clone(), projection)
    }

    pub fn count(&self) -> Node {
        map! { "countDocuments" => self.collection.as_str(), "filter" => self.filter.clone() }
    }

    /// The path of a field of the record in an update.
    pub fn field(&self, field: &str) -> String {
        match &self.path[..] {
            [] => field.to_owned(),
            [array] => format!("{array}.$.{field}"),
            [outer, inner @ ..] => format!("{outer}.$[].{}.$[x].{field}", inner.join(".$[].")),
        }
    }

    /// What sets and increments fields of the record.
    pub fn change(&self, set: &Options, inc: &Options) -> Node {
        let put = |made, (key, value): &(Spanned<String>, Node)| with(made, &self.field(&key.value), value.clone());
        let changes = [("$set", set), ("$inc", inc)].into_iter().filter(|(_, fields)| !fields.is_empty());
        changes.fold(map! {}, |made, (operator, fields)| with(made, operator, fields.iter().fold(map! {}, put)))
    }

    /// An update of the document, with the array filter of a record in two arrays.
    pub fn update(&self, update: Node) -> Node {
        let command = update_one(&self.collection, self.filter.clone(), update);
        if self.path.len() < 2 {
            return command;
        }
        with(command, "arrayFilters", vec![map! { "x._id" => self.id.clone() }])
    }

    /// The same with a condition on the fields of the record.
    pub fn guarded(&self, condition: &Node) -> Located {
        let filter = match self.path.split_last() {
            _ if is_empty(condition) => self.filter.clone(),
            None => with_all(self.filter.clone(), condition),
            Some((last, outer)) => {
                let element = |inner: Node, array: &String| map! { array => map! { "$elemMatch" => inner } };
                let record = element(with_all(map! { "_id" => self.id.clone() }, condition), last);
                let own = id_of(&self.path);
                let kept = self.filter.as_mapping().unwrap_or_default().iter().filter(|(key, _)| key.value != own);
                let kept = kept.fold(map! {}, |made, (key, value)| with(made, &key.value, value.clone()));
                with_all(kept, &outer.iter().rev().fold(record, element))
            }
        };
        Located { collection: self.collection.clone(), path: self.path.clone(), filter, id: self.id.clone() }
    }
}

/// Translates the steps of one operation.
pub(super) struct Translation<'t, 'm> {
    pub documents: &'t mut DerivedDocuments<'m>,
    pub operation: usize,
    /// Whether what it writes is only right together.
    pub is_joint: bool,
    /// Whether the queries of a read have to see the same moment.
    pub needs_snapshot: bool,
    names: HashSet<String>,
}

impl<'t, 'm> Translation<'t, 'm> {
    pub fn new(documents: &'t mut DerivedDocuments<'m>, operation: usize) -> Translation<'t, 'm> {
        let arguments = documents.model.arguments(operation).iter().map(|argument| argument.name.clone());
        let names = arguments.chain(["reply".to_owned()]).collect();
        Translation { documents, operation, is_joint: false, needs_snapshot: false, names }
    }

    pub fn model(&self) -> &'m Model<'m> {
        self.documents.model
    }

    /// A variable that the operation does not have yet.
    pub fn fresh(&mut self, name: &str) -> String {
        let mut name = name.to_owned();
        while !self.names.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    /// All steps of the operation. Each derived node has the place of the shape, and of the logical step as its use.
    pub fn steps(&mut self, shape: Span) -> Result<Vec<Node>, (Span, Box<Refusal>)> {
        let does = &self.model().scenario.operations[self.operation].does;
        let mut made = Vec::new();
        let mut result: Option<String> = None;
        // Whether nobody has what the last command returned, but for what is computed of it.
        let mut was_computed = false;
        for step in does {
            let LogicalStep::Logical { word, target, options, writes } = step else {
                let LogicalStep::Other(node) = step else { continue };
                // A step of the user sees the logical reply, not that of the last command.
                match result.take().filter(|value| value != "reply") {
                    Some(value) => {
                        let name = self.fresh("result");
                        made.extend([self.placed(keep(&name, value), shape, node.span), renamed(node, &name)]);
                    }
                    None => made.push(node.clone()),
                }
                continue;
            };
            let at = |refusal| (target.span, refusal);
            let steps = if step.is_write() {
                self.write(&word.value, &target.value, options, writes).map_err(at)?
            } else {
                let reply = self.read(&word.value, &target.value, options).map_err(at)?;
                let is_computed = reply.value != "reply";
                let reply = read_along(&mut made, was_computed, reply);
                was_computed = is_computed;
                let mut steps = reply.steps;
                match text_option(options, "as") {
                    Some(name) => {
                        self.names.insert(name.to_owned());
                        name_reply(&mut steps, &reply.value, name);
                        result = None;
                    }
                    None => result = Some(reply.value),
                }
                steps
            };
            made.extend(steps.into_iter().map(|node| self.placed(node, shape, target.span)));
        }
        if let Some(value) = result.filter(|value| value != "reply") {
            let span = does.last().map_or(shape, LogicalStep::span);
            made.push(self.placed(map! { "return" => value }, shape, span));
        }
        Ok(made)
    }

    fn placed(&self, node: Node, shape: Span, step: Span) -> Node {
        let mut node = in_one_batch(node);
        place(&mut node, shape.used_at(step));
        node
    }

    fn read(&mut self, word: &str, target: &str, options: &Options) -> Derived<LogicalReply> {
        if matches!(word, "get" | "list") {
            let entity = self.model().entity_of(&self.subject(target, word == "list")?);
            self.check_whole(entity, &texts(option(options, "fields")))?;
            self.check_with(entity, option(options, "with"), word == "get")?;
        }
        let reply = match word {
            "get" => self.get(target, options),
            "list" => self.list(target, options),
            "count" => self.count(target, options),
            _ => self.sum(target, options),
        }?;
        Ok(if std::mem::take(&mut self.needs_snapshot) { self.in_snapshot(reply) } else { reply })
    }

    /// The `_id` of the parent of a record, where that is known before the call and never changes.
    pub fn hint(&self, argument: &str, entity: usize) -> Option<Node> {
        let relation = self.model().parent_of(entity)?;
        let is_loaded = self.model().argument(self.operation, argument)?.is_loaded;
        let up = self.model().relations[relation].up();
        (is_loaded && !self.model().is_moved(entity)).then(|| slot(&format!("{argument}.{up}._id")))
    }

    /// The document with a record, with an index that finds it.
    pub fn locate(&mut self, argument: &str, entity: usize) -> Located {
        let (collection, path) = self.documents.shape.home(self.model(), entity);
        let id = slot(&format!("{argument}._id"));
        let field = id_of(&path);
        let parent = self.hint(argument, entity).filter(|_| !path.is_empty());
        let outer = match self.documents.shape.bucketed(self.model(), entity) {
            Some(relation) => self.model().relations[relation].up().to_owned(),
            None => id_of(&path[..path.len().saturating_sub(1)]),
        };
        self.documents.index(&collection, &[(if parent.is_some() { &outer } else { &field }.clone(), 1)], false);
        let start = parent.map_or_else(|| map! {}, |parent| map! { outer => parent });
        let filter = with(start, &field, id.clone());
        Located { collection, path, filter, id }
    }

    /// The document of a record that has one of its own, by the expression of its `_id`.
    pub fn document(&self, id: &str, entity: usize) -> Located {
        let (collection, filter) = (self.model().collection(entity), map! { "_id" => slot(id) });
        Located { collection, path: Vec::new(), filter, id: slot(id) }
    }

    /// What is returned of documents of an entity: chosen fields, or all but the arrays that the shape adds.
    pub fn projection(&self, entity: usize, fields: &[String]) -> Option<Node> {
        if !fields.is_empty() {
            let own: Vec<&String> = fields.iter().filter(|field| *field != "_id").collect();
            return Some(match (own.len() < fields.len(), own.is_empty()) {
                (true, true) => map! { "_id" => 1 },
                (true, false) => all(&own, 1),
                (false, _) => with(all(&own, 1), "_id", 0),
            });
        }
        if let Some(relation) = self.documents.shape.copied_list(self.model(), entity) {
            let down = self.model().relations[relation].down();
            return Some(with(all(&self.own(entity), 1), down, format!("${down}._id")));
        }
        let added: Vec<String> = self.added(entity).into_iter().map(|(_, field)| field).collect();
        (!added.is_empty()).then(|| all(&added, 0))
    }

    /// The fields of documents of an entity, without the arrays that the shape adds.
    pub fn own(&self, entity: usize) -> Vec<String> {
        let added = self.added(entity);
        let own = self.model().entity(entity).fields.iter().map(|(name, _)| name.value.clone());
        let copies = self.documents.extras(entity, "", "", None).into_iter().map(|(_, field, _)| field);
        own.chain(copies.filter(|field| added.iter().all(|(_, array)| array != field))).collect()
    }

    /// The fields to name of a record inside of something: those that are asked for, or its own beside arrays that the shape
    /// adds; none for all that there are.
    pub fn narrowed(&self, entity: usize, fields: &[String]) -> Vec<String> {
        if fields.is_empty() && !self.added(entity).is_empty() { self.own(entity) } else { fields.to_vec() }
    }

    /// The arrays that the shape adds to documents of an entity, with the names of what they are read for.
    pub fn added(&self, entity: usize) -> Vec<(&'m str, String)> {
        let (model, shape) = (self.model(), self.documents.shape);
        let arrays = model.children_of(entity).flat_map(|child| {
            let down = model.relations[child].down();
            let list = matches!(shape.word(child), Word::Embed | Word::List).then(|| down.to_owned());
            let newest = shape.newest(model, child).map(|(_, field)| field);
            list.into_iter().chain(newest).map(move |field| (down, field))
        });
        let back = (0..model.relations.len()).filter(|at| model.relations[*at].listed_entity() == entity);
        let back = back.filter_map(|relation| Some(shape.back_list(model, relation)?.0));
        arrays.chain(back.map(|up| (up, up.to_owned()))).collect()
    }

    /// Fields of an entity that a step names.
    pub fn check_fields(&self, entity: usize, fields: &[String]) -> Derived<()> {
        let model = self.model();
        let known: Vec<&str> = model.entity(entity).fields.iter().map(|(name, _)| name.value.as_str()).collect();
        for field in fields {
            let first = field.split('.').next().unwrap_or_default();
            let shape = self.documents.shape;
            let is_list = |relation: &usize| model.relations[*relation].own_list() == Some((entity, first));
            let is_other = |at: &usize| !shape.keeps_own_list(model, *at) || !shape.listed(*at).is_empty();
            if let Some(relation) = (0..model.relations.len()).filter(is_list).find(is_other) {
                let message =
                    format!("`{first}` is used as a field, and `{}` does not have it as one", model.key(relation));
                return refuse_shape(relation, message, "not the field of the record", "try `list` without fields");
            }
            if !first.starts_with('$') && !known.contains(&first) {
                let message = format!("`{}` has no field `{first}`", model.name(entity));
                let is_parent = model.parent_of(entity).is_some_and(|parent| model.relations[parent].up() == first);
                let help = if is_parent {
                    format!("the records of one `{first}` are a relation: begin the path with it")
                } else {
                    crate::scenario::nearest(first, &known)
                };
                return refuse(message, "not a field", help);
            }
        }
        Ok(())
    }

    /// A number of a step as a template: itself, or a slot of a variable.
    pub fn amount(&mut self, node: &Node, name: &str, steps: &mut Vec<Node>) -> Node {
        match (&node.tree, node.as_text()) {
            (_, Some(text)) if !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                slot(text)
            }
            (Tree::Scalar(Scalar::Int(_)), _) => node.clone(),
            _ => {
                let name = self.fresh(name);
                steps.push(keep(&name, node.clone()));
                slot(&name)
            }
        }
    }

    /// Refuses to return records without the list that they have in the model.
    fn check_whole(&self, entity: usize, fields: &[String]) -> Derived<()> {
        let Some((relation, list)) = self.documents.shape.lists_elsewhere(self.model(), entity).next() else {
            return Ok(());
        };
        if !fields.is_empty() {
            return Ok(());
        }
        let (key, name) = (self.model().key(relation), self.model().name(entity));
        let message = format!("all fields of a `{name}` are returned, and `{key}` has its `{list}` elsewhere");
        let help = format!("name the fields to return, without `{list}`: `fields: [_id]`");
        refuse_shape(relation, message, "would need another query", &help)
    }

    /// The same of records that come with those of an entity.
    fn check_with(&self, entity: usize, with: Option<&Node>, is_of_one: bool) -> Derived<()> {
        for (name, node) in with.and_then(Node::as_mapping).unwrap_or_default() {
            let (relation, is_down) = self.model().relation(entity, &name.value)?;
            let this = &self.model().relations[relation];
            let other = if is_down { this.many } else { this.one };
            let fields = texts(node.as_mapping().map_or(Some(node), |_| node.get("fields")));
            self.check_whole(other, &fields)?;
            if !is_of_one || node.get("with").is_some() {
                self.check_included(other, &name.value, &fields)?;
            }
            self.check_with(other, node.get("with"), false)?;
        }
        Ok(())
    }

    /// What a path of a read leads to.
    pub fn subject(&self, path: &str, is_all: bool) -> Derived<PathEnd> {
        self.model().subject(self.operation, path, is_all)
    }

    /// Checks the condition of a step, whose fields are those of the entity.
    pub fn condition(&self, entity: usize, options: &Options, key: &str) -> Derived<Node> {
        let Some(node) = option(options, key) else { return Ok(map! {}) };
        let keys: Vec<String> =
            node.as_mapping().unwrap_or_default().iter().map(|(key, _)| key.value.clone()).collect();
        if let Some(operator) = keys.iter().find(|key| key.starts_with('$')) {
            let help = "conditions of fields are joined by `and`; write any other operation by hand";
            return refuse(format!("`{operator}` in `{key}`"), "only conditions of fields are derived", help);
        }
        self.check_fields(entity, &keys)?;
        if key == "where" {
            self.check_main(entity, &keys, "`where`")?;
        }
        Ok(node.clone())
    }
}

impl LogicalStep {
    /// Whether it changes the data.
    pub(super) fn is_write(&self) -> bool {
        matches!(self, LogicalStep::Logical { word, .. } if !["get", "list", "count", "sum"].contains(&word.value.as_str()))
    }

    /// Where it is written.
    pub(super) fn span(&self) -> Span {
        match self {
            LogicalStep::Logical { target, .. } => target.span,
            LogicalStep::Other(node) => node.span,
        }
    }
}

/// The field with the `_id` of a record in nested arrays.
pub(super) fn id_of(path: &[String]) -> String {
    path.iter().map(String::as_str).chain(["_id"]).collect::<Vec<_>>().join(".")
}

/// Keeps a reply under a name: as the reply of the last command, or as a variable.
pub(super) fn name_reply(steps: &mut Vec<Node>, value: &str, name: &str) {
    let is_command = |node: &Node| node.get("let").is_none() && node.get("if").is_none();
    match steps.pop() {
        Some(last) if value == "reply" && is_command(&last) => steps.push(with(last, "as", name)),
        last => {
            steps.extend(last);
            steps.push(keep(name, value));
        }
    }
}

/// Reads numbers along with what the read before finds of the same document, so that both need one query. Its reply gets more
/// fields only if that `was_computed` alone is used.
fn read_along(made: &mut [Node], was_computed: bool, reply: LogicalReply) -> LogicalReply {
    let (Some(first), [step]) = (made.iter_mut().rfind(|node| node.get("let").is_none()), &reply.steps[..]) else {
        return reply;
    };
    let text = |node: &Node, key: &str| node.get(key).map(|part| part.on_one_line(str::to_owned));
    let is_same = ["findOne", "filter", "sort"].iter().all(|key| text(first, key) == text(step, key));
    let asked = step.get("projection").and_then(Node::as_mapping).unwrap_or_default();
    if first.get("findOne").is_none() || !is_same || asked.is_empty() || reply.value == "reply" {
        return reply;
    }
    let shown = first.get("projection").cloned().unwrap_or_else(|| map! {});
    let is_zero =
        |(key, node): &(Spanned<String>, Node)| key.value != "_id" && node.tree == Tree::Scalar(Scalar::Int(0));
    let leaves_out = shown.as_mapping().is_some_and(|fields| fields.iter().any(is_zero));
    let name = text_option(first.as_mapping().unwrap_or_default(), "as").map(str::to_owned);
    if leaves_out || is_empty(&shown) {
        if asked.iter().any(|(key, _)| key.value != "_id" && shown.get(&key.value).is_some()) {
            return reply;
        }
    } else if was_computed {
        let more = asked.iter().filter(|(key, _)| shown.get(&key.value).is_none());
        let both = more.fold(shown.clone(), |made, (key, node)| with(made, &key.value, node.clone()));
        *first = with(first.clone(), "projection", both);
        place(first, first.span);
    } else {
        return reply;
    }
    let value = name.map_or_else(|| reply.value.clone(), |name| replaced(&reply.value, &name));
    LogicalReply { steps: Vec::new(), value }
}

/// The documents of a reply, where nothing says how many: by default, the first message of a cursor has no more than 101.
pub(super) const BATCH: i64 = 100_000;

/// The step with queries whose replies are one message, whatever the number of documents.
fn in_one_batch(node: Node) -> Node {
    const INNER: [&str; 4] = ["transaction", "then", "do", "else"];
    let tree = match node.tree {
        Tree::List(items) => Tree::List(items.into_iter().map(in_one_batch).collect()),
        Tree::Mapping(entries) => {
            let inner = |(key, value): (Spanned<String>, Node)| {
                let value = if INNER.contains(&key.value.as_str()) { in_one_batch(value) } else { value };
                (key, value)
            };
            Tree::Mapping(entries.into_iter().map(inner).collect())
        }
        tree => tree,
    };
    let node = Node { span: node.span, tree };
    let is_whole = node.get("find").is_some() && node.get("limit").is_none();
    if is_whole { with(node, "batchSize", BATCH) } else { node }
}

/// A step in which `reply` has another name.
fn renamed(node: &Node, name: &str) -> Node {
    let tree = match &node.tree {
        Tree::Scalar(Scalar::Text(text)) => Tree::Scalar(Scalar::Text(replaced(text, name))),
        Tree::Scalar(scalar) => Tree::Scalar(scalar.clone()),
        Tree::List(items) => Tree::List(items.iter().map(|item| renamed(item, name)).collect()),
        Tree::Mapping(entries) => {
            Tree::Mapping(entries.iter().map(|(key, value)| (key.clone(), renamed(value, name))).collect())
        }
    };
    Node { span: node.span, tree }
}

/// The text with the word `reply`, where it is a name, replaced.
fn replaced(text: &str, name: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '\'' || c == '"';
    let mut made = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("reply") {
        let (before, after) = (&rest[..at], &rest[at + 5..]);
        let follows = made.chars().chain(before.chars()).last().is_some_and(is_part);
        let goes_on = after.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '\'' || c == '"');
        made.push_str(before);
        made.push_str(if follows || goes_on { "reply" } else { name });
        rest = after;
    }
    made + rest
}
