//! `link`: a collection of the pairs of a list of records, one document each.

use crate::scenario::Node;

use super::build::{keep, map, slot, update_one, with};
use super::document::each;
use super::model::Model;
use super::read::{Rows, lookup, unless_empty};
use super::refusal::{Derived, refuse_shape};
use super::shape::{ModelShape, Word};
use super::translate::{BATCH, Located, LogicalReply, Translation};
use super::write::{Write, fail, missing};

/// A collection of pairs, seen from one of the two records.
pub(super) struct Pairs {
    pub collection: String,
    /// The field with the `_id` of the record.
    pub near: String,
    /// The field with that of the other one.
    pub far: String,
    /// The collection of the other one.
    pub others: String,
}

impl ModelShape {
    /// The pairs of a relation; `None` where it is stored otherwise.
    pub fn pairs(&self, model: &Model, relation: usize, is_down: bool) -> Option<Pairs> {
        let this = model.relations.get(relation).filter(|_| self.word(relation) == Word::Link)?;
        let collection = format!("{}_{}", model.name(this.one), this.down());
        let (near, far) = if is_down { (this.one, this.many) } else { (this.many, this.one) };
        let [near, far, others] = [model.name(near).to_owned(), model.name(far).to_owned(), model.collection(far)];
        Some(Pairs { collection, near, far, others })
    }

    /// Refuses pairs whose names would not be different.
    pub fn check_pairs(&self, model: &Model) -> Derived<()> {
        for (relation, this) in model.relations.iter().enumerate() {
            let Some(pairs) = self.pairs(model, relation, true) else { continue };
            let key = model.key(relation);
            if this.one == this.many {
                let message = format!("`{key}: link` between records of one entity");
                return refuse_shape(relation, message, "both fields of a pair have its name", "try `list`");
            }
            if (0..model.scenario.entities.len()).any(|entity| model.collection(entity) == pairs.collection) {
                let message =
                    format!("`{key}: link` needs a collection `{}`, which there is already", pairs.collection);
                return refuse_shape(
                    relation,
                    message,
                    "two collections of one name",
                    "give the entity a `collection`",
                );
            }
        }
        Ok(())
    }
}

impl Pairs {
    /// The pairs of a record.
    fn of(&self, from: &str) -> Node {
        map! { self.near.as_str() => slot(&format!("{from}._id")) }
    }

    /// The index that finds the pairs of a record, and has the `_id`s of the others.
    fn index(&self) -> [(String, i64); 2] {
        [(self.near.clone(), 1), (self.far.clone(), 1)]
    }

    /// The stages that give a record of the near side the list of the others.
    pub fn gathered(&self, list: &str) -> [Node; 2] {
        let far = map! { "$project" => map! { "_id" => 0, self.far.as_str() => 1 } };
        let ids = map! { "$set" => map! { list => format!("${list}.{}", self.far) } };
        [lookup(&self.collection, "_id", &self.near, vec![far], list), ids]
    }
}

impl Translation<'_, '_> {
    /// The rows of the other records of the pairs of one.
    pub fn pair_rows(&mut self, from: &str, pairs: Pairs) -> Rows {
        self.documents.index(&pairs.collection, &pairs.index(), false);
        let joined = lookup(&pairs.others, &pairs.far, "_id", Vec::new(), "joined");
        let stages = vec![map! { "$match" => pairs.of(from) }, joined, map! { "$unwind" => "$joined" }];
        Rows { collection: pairs.collection, stages, path: vec!["joined".to_owned()] }
    }

    /// How many pairs a record has.
    pub fn count_pairs(&mut self, from: &str, pairs: &Pairs) -> LogicalReply {
        self.documents.index(&pairs.collection, &pairs.index(), false);
        LogicalReply::of(map! { "countDocuments" => pairs.collection.as_str(), "filter" => pairs.of(from) })
    }

    /// The step that reads the pairs of a record into a variable.
    pub fn find_pairs(&mut self, from: &str, pairs: &Pairs) -> (Node, String) {
        self.documents.index(&pairs.collection, &pairs.index(), false);
        let name = self.fresh("links");
        let projection = map! { "_id" => 0, pairs.far.as_str() => 1 };
        let find = map! { "find" => pairs.collection.as_str(), "filter" => pairs.of(from), "projection" => projection };
        (with(with(find, "as", name.as_str()), "batchSize", BATCH), name)
    }

    /// Adds or removes a pair. Adding writes the record whose list it is where that can be deleted, so that the two conflict.
    pub fn pair(
        &mut self,
        argument: &str,
        owner: (&Located, usize),
        pairs: &Pairs,
        adds: bool,
        may_be_gone: bool,
    ) -> Write {
        self.documents.index(&pairs.collection, &pairs.index(), adds);
        let (place, entity) = owner;
        let both =
            map! { pairs.near.as_str() => place.id.clone(), pairs.far.as_str() => slot(&format!("{argument}._id")) };
        let collection = pairs.collection.as_str();
        if !adds {
            let delete = map! { "deleteOne" => collection, "filter" => both };
            let none = "reply.deleted == 0";
            let look = missing(none, place, "reply == 0 ? not_found() : same()");
            let steps = vec![delete, if may_be_gone { look } else { fail(none, "same()") }];
            return Write { is_joint: false, ..Write::joint(steps) };
        }
        let mut steps = Vec::new();
        if may_be_gone {
            let change = self.protects().then(|| place.update(self.touch(place, entity)));
            let missed = if change.is_some() { "reply.matched == 0" } else { "reply == 0" };
            steps.extend([change.unwrap_or_else(|| place.count()), fail(missed, "not_found()")]);
        }
        // Of two calls that add the same pair, the unique index lets one insert it.
        let insert = with(update_one(collection, both.clone(), map! { "$setOnInsert" => both }), "upsert", true);
        steps.extend([insert, fail("reply.matched > 0", "same()")]);
        Write { is_joint: may_be_gone, ..Write::joint(steps) }
    }

    /// The step that makes the pairs of a new record.
    pub fn new_pairs(&mut self, argument: &str, list: &str, pairs: &Pairs) -> [Node; 2] {
        let all = self.fresh("all");
        let one = self.fresh("one");
        let pair = map! { pairs.near.as_str() => slot(&format!("{argument}._id")), pairs.far.as_str() => slot(&format!("{one}._id")) };
        let insert = map! { "insertMany" => pairs.collection.as_str(), "documents" => each(&one, &all, pair) };
        [keep(&all, format!("{argument}.{list}")), unless_empty(&all, vec![insert])]
    }

    /// The step that deletes the pairs of a record.
    pub fn delete_pairs(&mut self, id: &Node, pairs: &Pairs) -> Node {
        self.documents.index(&pairs.collection, &pairs.index(), false);
        map! { "deleteMany" => pairs.collection.as_str(), "filter" => map! { pairs.near.as_str() => id.clone() } }
    }
}
