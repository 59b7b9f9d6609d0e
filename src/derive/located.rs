//! Where a record is stored.

use crate::scenario::{Node, Spanned};

use super::build::{find_one, is_empty, map, update_one, with, with_all};
use super::translate::Options;

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

/// The field with the `_id` of a record in nested arrays.
pub(super) fn id_of(path: &[String]) -> String {
    path.iter().map(String::as_str).chain(["_id"]).collect::<Vec<_>>().join(".")
}
