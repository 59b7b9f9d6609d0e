//! Writes: what each becomes, and when several documents need a transaction.

use crate::scenario::{LogicalStep, Node, Tree};

use super::build::{map, with};
use super::located::Located;
use super::model::text_option;
use super::refusal::{Derived, refuse};
use super::shape::Word;
use super::totals::merged;
use super::translate::{Options, Translation};

/// The key of a step that ends the operation: `abort` inside of a transaction, `return` elsewhere. No user writes it.
pub(super) const FAIL: &str = "\0fail";

/// The most attempts of a transaction or update that meets others.
pub(super) const ATTEMPTS: i64 = 1_000;

/// What a logical write becomes.
#[derive(Default)]
pub(super) struct Write {
    pub steps: Vec<Node>,
    /// The outcome after the last step; `None`: that of the reply to it.
    pub result: Option<String>,
    /// Whether its steps are only right together.
    pub is_joint: bool,
    /// Whether all but the first step add to numbers, which may follow later.
    pub is_ordered: bool,
}

impl Write {
    pub fn one(step: Node) -> Write {
        Write { steps: vec![step], ..Write::default() }
    }

    pub fn then(&mut self, other: Write) {
        if !other.steps.is_empty() {
            self.steps.extend(other.steps);
            self.is_joint |= other.is_joint;
            self.result = other.result;
        }
    }

    pub fn joint(steps: Vec<Node>) -> Write {
        Write { steps, result: Some("ok()".to_owned()), is_joint: true, is_ordered: false }
    }
}

impl Translation<'_, '_> {
    /// The steps of a logical write, which give the outcome of the call.
    pub fn write(&mut self, word: &str, target: &str, options: &Options, writes: &[LogicalStep]) -> Derived<Vec<Node>> {
        let mut write = Write::joint(Vec::new());
        if word == "atomically" {
            for step in writes {
                let LogicalStep::Logical { word, target, options, writes } = step else {
                    let message = "a step inside of `atomically` that is no logical write";
                    return refuse(message, "not derived", "move it before");
                };
                if !writes.is_empty() || !step.is_write() {
                    return refuse(format!("`{}` inside of `atomically`", word.value), "only writes", "move it before");
                }
                let part = self.one_write(&word.value, &target.value, options, true)?;
                write.steps.extend(part.steps);
            }
            write.steps = merged(write.steps);
        } else {
            write = self.one_write(word, target, options, false)?;
        }
        self.is_joint = write.is_joint && !write.is_ordered;
        let is_transaction = self.is_joint && self.protects();
        let is_single = write.steps.len() == 1 && write.result.is_none();
        let word = if is_transaction { "abort" } else { "return" };
        let mut steps: Vec<Node> = write.steps.iter().map(|step| ended(step, word)).collect();
        if is_transaction {
            steps = vec![map! { "transaction" => steps, "attempts" => ATTEMPTS }];
        }
        if !is_single {
            steps.push(map! { "return" => write.result.unwrap_or_else(|| "ok()".to_owned()) });
        }
        Ok(steps)
    }

    fn one_write(&mut self, word: &str, target: &str, options: &Options, is_inner: bool) -> Derived<Write> {
        match word {
            "create" => self.create(target, options, is_inner),
            "update" => self.update(target, options, is_inner),
            "delete" => self.delete(target, is_inner),
            "add" => self.link(target, text_option(options, "to"), true, is_inner),
            _ => self.link(target, text_option(options, "from"), false, is_inner),
        }
    }

    /// Whether the record of an argument may not be there when the call is made.
    pub fn may_be_gone(&self, argument: &str, entity: usize) -> bool {
        let is_loaded = self.model().argument(self.operation, argument).is_some_and(|one| one.is_loaded);
        !is_loaded || self.model().is_deleted(entity)
    }

    /// Whether a record is in an array and may get into another one: itself, or with the record around it.
    pub fn wanders(&self, entity: usize) -> bool {
        let Some(relation) = self.model().parent_of(entity) else { return false };
        let is_inside = self.documents.shape.word(relation) == Word::Embed;
        is_inside && (self.model().is_moved(entity) || self.wanders(self.model().relations[relation].one))
    }

    /// A change of a record's document that means nothing: a transaction that deletes the record conflicts with it.
    pub fn touch(&self, place: &Located, entity: usize) -> Node {
        let mut name = "touched".to_owned();
        while self.model().has_field(entity, &name) {
            name.push('_');
        }
        map! { "$inc" => map! { place.field(&name) => 1 } }
    }

    /// An update of a record in an array. Where records move, it may pass by the one that it is for: the update waits for
    /// the move to end, and its scan goes on behind the new place. It is repeated as long as the record is there.
    pub fn followed(&mut self, entity: usize, place: &Located, update: Node, is_inner: bool) -> Write {
        if is_inner || !self.wanders(entity) {
            return Write::one(update);
        }
        let written = self.fresh("written");
        let look: Vec<Node> = vec![place.count(), map! { "retry_if" => "reply > 0" }];
        let look = map! { "if" => format!("{written}.matched == 0"), "then" => look };
        let body: Vec<Node> = vec![with(update, "as", written.as_str()), look];
        let step = map! { "retry" => map! { "attempts" => ATTEMPTS }, "do" => body };
        Write { result: Some(format!("outcome({written})")), ..Write::one(step) }
    }
}

/// A change of a document that returns fields of it.
pub(super) fn changed(place: &Located, change: Node, projection: Node) -> Node {
    let (collection, filter) = (place.collection.as_str(), place.filter.clone());
    map! { "findOneAndUpdate" => collection, "filter" => filter, "update" => change, "projection" => projection }
}

/// Where a condition is true, looks whether the record is there, and ends the operation with an outcome.
pub(super) fn missing(condition: &str, place: &Located, outcome: &str) -> Node {
    map! { "if" => condition, "then" => vec![place.count(), map! { FAIL => outcome }] }
}

/// Ends the operation with an outcome if a condition is true.
pub(super) fn fail(condition: &str, outcome: &str) -> Node {
    map! { "if" => condition, "then" => map! { FAIL => outcome } }
}

/// The step with the word that ends the operation here.
fn ended(node: &Node, word: &str) -> Node {
    let tree = match &node.tree {
        Tree::Scalar(scalar) => Tree::Scalar(scalar.clone()),
        Tree::List(items) => Tree::List(items.iter().map(|item| ended(item, word)).collect()),
        Tree::Mapping(entries) => {
            let entries = entries.iter().cloned().map(|(mut key, value)| {
                if key.value == FAIL {
                    word.clone_into(&mut key.value);
                }
                (key, ended(&value, word))
            });
            Tree::Mapping(entries.collect())
        }
    };
    Node { span: node.span, tree }
}
