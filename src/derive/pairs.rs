//! `link`: a collection of the pairs of a list of records, one document each.

use crate::scenario::Node;

use super::build::{keep, map, slot, update_one, with};
use super::document::each;
use super::located::Located;
use super::model::{Model, PathEnd};
use super::read::{found_in, keys};
use super::refusal::{Derived, refuse_shape};
use super::reply::{BATCH, LogicalReply};
use super::rows::Rows;
use super::selection::Selection;
use super::shape::{ModelShape, Word};
use super::stage::{lookup, renamed_keys, unless_empty};
use super::translate::Translation;
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
    /// The fields of the other one that the pairs have, too.
    pub copies: Vec<String>,
}

impl ModelShape {
    /// The pairs of a relation; `None` where it is stored otherwise.
    pub fn pairs(&self, model: &Model, relation: usize, is_down: bool) -> Option<Pairs> {
        let this = model.relations.get(relation).filter(|_| self.word(relation) == Word::Link)?;
        let collection = format!("{}_{}", model.name(this.one), this.down());
        let (near, far) = if is_down { (this.one, this.many) } else { (this.many, this.one) };
        let [near, far, others] = [model.name(near).to_owned(), model.name(far).to_owned(), model.collection(far)];
        let copies = if is_down { self.linked(relation).to_vec() } else { Vec::new() };
        Some(Pairs { collection, near, far, others, copies })
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
            if let Some(copy) = pairs.copies.iter().find(|copy| pairs.field(copy) == pairs.near) {
                let message =
                    format!("`{key}: link({copy})` needs a field `{}` in pairs, and they have one already", pairs.near);
                return refuse_shape(relation, message, "two fields of one name", "rename the field or the entity");
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

    /// That for a condition and an order, both of fields of pairs.
    pub fn index_for(&self, filter: &Node, sort: &[(String, i64)]) -> Vec<(String, i64)> {
        let keys = keys(Some(self.near.clone()), filter, sort);
        if keys.len() == 1 { self.index().to_vec() } else { keys }
    }

    /// What the names of copies begin with.
    pub fn prefix(&self) -> String {
        format!("{}_", self.far)
    }

    /// The field of a pair with this one of the other record.
    pub fn field(&self, field: &str) -> String {
        if field == "_id" { self.far.clone() } else { format!("{}{field}", self.prefix()) }
    }

    /// Whether pairs have these fields of the others.
    fn have<'f>(&self, mut fields: impl Iterator<Item = &'f String>) -> bool {
        fields.all(|field| field == "_id" || self.copies.contains(field))
    }

    /// The copies that a pair gets from a source in a variable.
    pub fn copied_from(&self, start: Node, source: &str) -> Node {
        let put = |made, field: &String| with(made, &self.field(field), slot(&format!("{source}.{field}")));
        self.copies.iter().fold(start, put)
    }

    /// The stages that give a record of the near side the list of the others.
    pub fn gathered(&self, list: &str) -> [Node; 2] {
        let far = map! { "$project" => map! { "_id" => 0, self.far.as_str() => 1 } };
        let ids = map! { "$set" => map! { list => format!("${list}.{}", self.far) } };
        [lookup(&self.collection, "_id", &self.near, vec![far], list), ids]
    }
}

/// The fields of a condition.
fn conditions(filter: &Node) -> impl Iterator<Item = &str> {
    let keys = filter.as_mapping().unwrap_or_default().iter().map(|(key, _)| key.value.as_str());
    keys.filter(|key| !key.starts_with('$'))
}

impl Translation<'_, '_> {
    /// The rows of the other records of the pairs of one.
    pub fn pair_rows(&mut self, from: &str, pairs: Pairs) -> Rows {
        self.documents.index(&pairs.collection, &pairs.index(), false);
        let joined = lookup(&pairs.others, &pairs.far, "_id", Vec::new(), "joined");
        let stages = vec![map! { "$match" => pairs.of(from) }, joined, map! { "$unwind" => "$joined" }];
        Rows { collection: pairs.collection, stages, path: vec!["joined".to_owned()] }
    }

    /// The pairs of a path as its rows, with the condition on them, if they have all that is asked of the others.
    pub fn pairs_only(&mut self, subject: &PathEnd, filter: &Node, read: Option<&str>) -> Option<(Pairs, Rows, Node)> {
        let PathEnd::Many(from, relation, is_down) = subject else { return None };
        let pairs = self.documents.shape.pairs(self.model(), *relation, *is_down)?;
        let asked: Vec<String> = conditions(filter).chain(read).map(str::to_owned).collect();
        if !pairs.have(asked.iter()) {
            return None;
        }
        let filter = renamed_keys(filter, &|field| pairs.field(field));
        self.documents.index(&pairs.collection, &pairs.index_for(&filter, &[]), false);
        let (collection, stages) = (pairs.collection.clone(), vec![map! { "$match" => pairs.of(from) }]);
        Some((pairs, Rows { collection, stages, path: Vec::new() }, filter))
    }

    /// A selection of records as one of pairs, with the projection that makes these the records; `None` if pairs do not have all
    /// that is asked of them.
    pub fn of_pairs(&self, pairs: &Pairs, entity: usize, selection: &Selection) -> Option<(Selection, Node)> {
        let mut selection = selection.clone();
        if selection.fields.is_empty() && self.has_all(entity, &pairs.copies) {
            selection.fields = self.model().entity(entity).fields.iter().map(|(name, _)| name.value.clone()).collect();
        }
        let asked: Vec<String> = conditions(&selection.filter).map(str::to_owned).collect();
        if selection.fields.is_empty() || !pairs.have(selection.named().chain(&asked)) {
            return None;
        }
        selection.filter = renamed_keys(&selection.filter, &|field| pairs.field(field));
        selection.sort.iter_mut().for_each(|(field, _)| *field = pairs.field(field));
        let shown = |made, field: &String| with(made, field, format!("${}", pairs.field(field)));
        let projection = selection.fields.iter().fold(map! { "_id" => 0 }, shown);
        Some((selection, projection))
    }

    /// The records of a list by one query of its pairs, if these have all that is asked of them.
    pub fn paired(&mut self, from: &str, pairs: &Pairs, entity: usize, selection: &Selection) -> Option<LogicalReply> {
        let (selection, projection) = self.of_pairs(pairs, entity, selection)?;
        let (filter, sort) = selection.indexed();
        self.documents.index(&pairs.collection, &pairs.index_for(&filter, sort), false);
        let find = found_in(&pairs.collection, pairs.of(from), &selection, Some(projection));
        Some(LogicalReply { steps: [selection.before, vec![find]].concat(), value: "reply".to_owned() })
    }

    /// The step that reads the pairs of a record into a variable.
    pub fn find_pairs(&mut self, from: &str, pairs: &Pairs) -> (Node, String) {
        self.documents.index(&pairs.collection, &pairs.index(), false);
        let name = self.fresh("links");
        let projection = map! { "_id" => 0, pairs.far.as_str() => 1 };
        let find = map! { "find" => pairs.collection.as_str(), "filter" => pairs.of(from), "projection" => projection };
        (with(with(find, "as", name.as_str()), "batchSize", BATCH), name)
    }

    /// Adds or removes a pair of two records. Adding writes the first one, whose list it is, where that can be deleted, and the
    /// other one, where copies of its fields change, so that the two conflict.
    pub fn pair(
        &mut self,
        [(place, entity), (other, linked)]: [(&Located, usize); 2],
        pairs: &Pairs,
        adds: bool,
        may_be_gone: bool,
    ) -> Write {
        self.documents.index(&pairs.collection, &pairs.index(), adds);
        let both = map! { pairs.near.as_str() => place.id.clone(), pairs.far.as_str() => other.id.clone() };
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
        let (read, source) = self.source_of((linked, &pairs.copies), other, None, true);
        steps.extend(read.steps);
        let pair = pairs.copied_from(both.clone(), &source);
        let insert = with(update_one(collection, both, map! { "$setOnInsert" => pair }), "upsert", true);
        steps.extend([insert, fail("reply.matched > 0", "same()")]);
        Write { is_joint: may_be_gone || read.is_joint, ..Write::joint(steps) }
    }

    /// The steps that make the pairs of a new record with the others of a list.
    pub fn new_pairs(&mut self, argument: &str, list: String, pairs: &Pairs) -> [Node; 2] {
        let all = self.fresh("all");
        let one = self.fresh("one");
        let pair = map! { pairs.near.as_str() => slot(&format!("{argument}._id")), pairs.far.as_str() => slot(&format!("{one}._id")) };
        let insert = map! { "insertMany" => pairs.collection.as_str(), "documents" => each(&one, &all, pairs.copied_from(pair, &one)) };
        [keep(&all, list), unless_empty(&all, vec![insert])]
    }

    /// The step that deletes the pairs of a record.
    pub fn delete_pairs(&mut self, id: &Node, pairs: &Pairs) -> Node {
        self.documents.index(&pairs.collection, &pairs.index(), false);
        map! { "deleteMany" => pairs.collection.as_str(), "filter" => map! { pairs.near.as_str() => id.clone() } }
    }
}
