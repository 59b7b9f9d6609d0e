//! One operation: its logical steps become the steps of a strategy.

use std::collections::HashSet;

use crate::scenario::{LogicalStep, Node, Scalar, Span, Spanned, Tree};

use super::build::{all, keep, map, place, slot, with};
use super::document::DerivedDocuments;
use super::located::{Located, id_of};
use super::model::{Model, PathEnd, option, text_option, texts};
use super::refusal::{Derived, Refusal, refuse, refuse_shape};
use super::reply::{LogicalReply, in_one_batch, name_reply, read_along, renamed};
use super::shape::Word;

/// The options of a logical step.
pub(super) type Options = [(Spanned<String>, Node)];

/// The fields that an update changes, by operator.
pub(super) type Changes<'c> = [(&'c str, &'c Options); 2];

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
