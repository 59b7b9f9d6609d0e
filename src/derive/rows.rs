//! The rows that reads begin with.

use crate::scenario::Node;

use super::build::{all, map, slot, with, with_all};
use super::document::unwinds;
use super::located::id_of;
use super::model::PathEnd;
use super::refusal::{Derived, refuse};
use super::shape::Word;
use super::stage::{lookup, picks, prefix_keys, prefixed};
use super::translate::Translation;

/// Records as the output of a pipeline.
pub(super) struct Rows {
    pub collection: String,
    pub stages: Vec<Node>,
    /// The path of a record in a row, empty where the row is the record.
    pub path: Vec<String>,
}

impl Rows {
    pub fn then(mut self, stages: impl IntoIterator<Item = Node>) -> Rows {
        self.stages.extend(stages);
        self
    }

    /// The number of documents that are rows, of which a condition holds.
    pub fn counted(self, filter: &Node) -> Node {
        let start = self.stages.first().and_then(|stage| stage.get("$match")).cloned().unwrap_or_else(|| map! {});
        map! { "countDocuments" => self.collection, "filter" => with_all(start, filter) }
    }
}

impl Translation<'_, '_> {
    /// The rows of the record of an argument, or of any path of a record.
    pub fn record_rows(&mut self, argument: &str, entity: usize) -> Rows {
        let place = self.locate(argument, entity);
        let mut stages = vec![map! { "$match" => place.filter }];
        if !place.path.is_empty() {
            stages.extend(unwinds(&place.path));
            stages.push(map! { "$match" => map! { id_of(&place.path) => place.id } });
        }
        Rows { collection: place.collection, stages, path: place.path }
    }

    /// The field of documents of their own by which a path finds them, with its value.
    pub fn origin(&self, subject: &PathEnd) -> Option<(String, Node)> {
        let PathEnd::Many(from, relation, is_down) = subject else { return None };
        let up = self.model().relations[*relation].up().to_owned();
        let field = if *is_down { up } else { self.documents.shape.list_id(self.model(), *relation) };
        Some((field, slot(&format!("{from}._id"))))
    }

    /// The rows of the path of a read; `filter` is what will be asked of them.
    pub fn rows(&mut self, subject: &PathEnd, filter: &Node, has_index: bool) -> Derived<Rows> {
        let model = self.model();
        let (from, relation, is_down) = match subject {
            PathEnd::All(entity) => return Ok(self.all_rows(*entity, filter, has_index)),
            PathEnd::Many(from, relation, is_down) => (from, *relation, *is_down),
            PathEnd::Record(..) | PathEnd::One(..) => {
                return refuse("a path to one record", "many records are needed here", "try `get`");
            }
        };
        let this = &model.relations[relation];
        let word = self.documents.shape.word(relation);
        if let Some(pairs) = self.documents.shape.pairs(model, relation, is_down) {
            return Ok(self.pair_rows(from, pairs));
        }
        if !is_down || word == Word::Reference {
            let collection = model.collection(model.entity_of(subject));
            let stages = self.origin(subject).map(|(field, id)| map! { "$match" => map! { field => id } });
            return Ok(Rows { collection, stages: stages.into_iter().collect(), path: Vec::new() });
        }
        if word == Word::Bucket {
            return Ok(self.bucket_rows(from, relation));
        }
        let mut rows = self.record_rows(from, this.one);
        if word == Word::Embed {
            rows.path.push(this.down().to_owned());
            let unwind = map! { "$unwind" => format!("${}", rows.path.join(".")) };
            return Ok(rows.then([unwind]));
        }
        let local = self.documents.shape.list_id(model, relation);
        let lookup = lookup(&model.collection(this.many), &local, "_id", Vec::new(), "joined");
        Ok(Rows { path: vec!["joined".to_owned()], ..rows }.then([lookup, map! { "$unwind" => "$joined" }]))
    }

    /// The rows of all records of an entity of which a condition may hold, found by an index or without.
    fn all_rows(&mut self, entity: usize, filter: &Node, has_index: bool) -> Rows {
        let (collection, path) = self.documents.shape.home(self.model(), entity);
        let certain = filter.as_mapping().unwrap_or_default().iter().filter(|(_, value)| holds_in_arrays(value));
        let certain = certain.fold(map! {}, |made, (key, value)| with(made, &key.value, value.clone()));
        let mut stages = Vec::new();
        if !path.is_empty() {
            if let Some([(first, value), rest @ ..]) = certain.as_mapping() {
                if has_index {
                    self.documents.index(&collection, &[(prefixed(&path, &first.value), 1)], false);
                }
                // Otherwise each bound may hold for another element, and the server scans the index from one bound only.
                let is_range = value.as_mapping().is_some_and(|bounds| bounds.len() > 1);
                stages.push(map! { "$match" => if is_range || !rest.is_empty() {
                    map! { path.join(".") => map! { "$elemMatch" => certain.clone() } }
                } else {
                    prefix_keys(&certain, &path)
                } });
            }
            stages.extend(unwinds(&path));
        }
        Rows { collection, stages, path }
    }

    /// The stage that makes a row the record of an entity.
    pub fn record_stage(&self, entity: usize, path: &[String], fields: &[String]) -> Node {
        let fields = self.narrowed(entity, fields);
        if fields.is_empty() {
            return map! { "$replaceWith" => format!("${}", path.join(".")) };
        }
        let has_id = fields.iter().any(|field| field == "_id");
        let start = all(if has_id { &[][..] } else { &["_id"] }, 0);
        map! { "$project" => with_all(start, &picks(&prefixed(path, ""), &fields)) }
    }
}

/// Whether a condition that holds for an element of an array also holds for the array.
fn holds_in_arrays(value: &Node) -> bool {
    const POSITIVE: [&str; 6] = ["$eq", "$gt", "$gte", "$in", "$lt", "$lte"];
    value.as_mapping().is_none_or(|entries| entries.iter().all(|(key, _)| POSITIVE.contains(&key.value.as_str())))
}
