//! `writes: versions`: copies that follow their source without a transaction.
//!
//! A source counts its changes, and a copy has the count that it was made of. A change writes the source, then all copies
//! that are older. A record that is made reads its source, and looks again after it was written: a change in between has
//! found no copy of it, a later one finds it.

use crate::scenario::{Node, Spanned};

use super::build::{all, map, slot, with};
use super::document::Made;
use super::refusal::{Derived, refuse_shape};
use super::shape::Word;
use super::summary::{VERSION, version_of};
use super::translate::Translation;
use super::write::{Write, changed, fail, missing};

/// What may not happen to a record with a version of its source, and why.
pub(super) const OTHER_SOURCE: &str = "gets another source";
pub(super) const NOT_COMPARED: &str = "versions of two sources cannot be compared";

/// Why it is not for what writes more.
const TOGETHER: &str = "only a transaction keeps these together";

impl Translation<'_, '_> {
    /// A record that is made with copies which follow their source by its version; `None` where it has none. `owner` is the
    /// relation to its parent, with the argument of that.
    pub fn versioned_create(
        &mut self,
        argument: &str,
        entity: usize,
        owner: Option<(usize, &str)>,
        is_joint: bool,
    ) -> Derived<Option<Write>> {
        let (model, shape) = (self.model(), self.documents.shape);
        let fields = self
            .copied_fields(entity)
            .into_iter()
            .map(|relation| (relation, format!("{argument}.{}._id", model.relations[relation].up())));
        let owned = owner.map(|(relation, into)| (relation, format!("{into}._id")));
        let sources: Vec<(usize, String)> =
            owned.into_iter().chain(fields).filter(|(relation, _)| shape.is_versioned(model, *relation)).collect();
        let Some((first, _)) = sources.first() else { return Ok(None) };
        let has_more = owner.is_some_and(|(relation, into)| {
            let is_written = shape.word(relation) != Word::Reference || shape.has_totals(relation);
            is_written || self.may_be_gone(into, model.relations[relation].one)
        });
        if is_joint || has_more {
            let what = format!("of copies along `{}`, in a record that is written with others", model.key(*first));
            return refuse_versions(*first, &what, TOGETHER);
        }
        let (mut write, mut made, mut looks) = (Write::default(), Made::default(), Vec::new());
        for (relation, id) in sources {
            let this = &model.relations[relation];
            if model.is_deleted(this.one) {
                let what = format!("of copies of a `{}`, which can be deleted", model.name(this.one));
                return refuse_versions(relation, &what, "a copy could be made of one that is gone");
            }
            let place = self.document(&id, this.one);
            let (source, now) = (self.fresh("source"), self.fresh("now"));
            let projection = with(all(shape.referenced(relation), 1), VERSION, 1);
            write.steps.push(with(place.find(Some(projection)), "as", source.as_str()));
            let changed = map! { VERSION => map! { "$ne" => slot(&format!("{source}.{VERSION}")) } };
            let followed = with(all(&self.following(relation), 1), VERSION, 1);
            looks.push(with(place.guarded(&changed).find(Some(followed)), "as", now.as_str()));
            let set = self.versioned_copies(relation, &now);
            let older = map! { "_id" => slot(&format!("{argument}._id")), version_of(this.up()) => older_than(&now) };
            let correct =
                map! { "updateOne" => model.collection(entity), "filter" => older, "update" => map! { "$set" => set } };
            looks.push(map! { "if" => format!("{now} != null"), "then" => vec![correct] });
            made.sources.insert(relation, source);
        }
        // Copies that nothing changes are read once.
        let is_fixed = |relation: &usize| !made.sources.contains_key(relation);
        let fixed: Vec<usize> = self.copied_fields(entity).into_iter().filter(is_fixed).collect();
        for relation in fixed {
            let this = &model.relations[relation];
            let place = self.document(&format!("{argument}.{}._id", this.up()), this.one);
            let (read, source) = self.source(relation, &place, None, true);
            write.steps.extend(read.steps);
            made.sources.insert(relation, source);
        }
        let document = self.new_document(entity, argument, owner.map_or("", |(_, into)| into), &made);
        write.steps.push(map! { "insertOne" => model.collection(entity), "document" => document });
        write.steps.extend(looks);
        write.result = Some("ok()".to_owned());
        Ok(Some(write))
    }

    /// A change of fields of a source, then of its older copies; `None` where no copies follow it by its version.
    pub fn versioned_update(
        &mut self,
        argument: &str,
        entity: usize,
        changes: [&[(Spanned<String>, Node)]; 2],
        is_joint: bool,
    ) -> Derived<Option<Write>> {
        let (model, shape) = (self.model(), self.documents.shape);
        let [set, inc] = changes;
        let is_copied = |relation: &usize| {
            let fields = shape.referenced(*relation);
            let is_changed = set
                .iter()
                .chain(inc)
                .any(|(key, _)| fields.iter().any(|field| Some(field.as_str()) == key.value.split('.').next()));
            model.relations[*relation].one == entity && is_changed && shape.is_versioned(model, *relation)
        };
        let relations: Vec<usize> = (0..model.relations.len()).filter(is_copied).collect();
        if relations.is_empty() {
            return Ok(None);
        }
        let is_summed = model.parent_of(entity).is_some_and(|relation| !shape.sums(relation).is_empty());
        if is_joint
            || is_summed
            || self
                .copied_fields(entity)
                .iter()
                .any(|field| set.iter().any(|(key, _)| key.value == model.relations[*field].up()))
        {
            let what = format!("of `{}`, in an update that does more", model.key(relations[0]));
            return refuse_versions(relations[0], &what, TOGETHER);
        }
        let (place, may_be_gone) = (self.locate(argument, entity), self.may_be_gone(argument, entity));
        let assign = |made, (key, value): &(Spanned<String>, Node)| with(made, &key.value, value.clone());
        let count = inc.iter().fold(map! {}, assign);
        let mut update = map! { "$inc" => with(count, VERSION, 1) };
        let mut guard = map! {};
        if !set.is_empty() {
            update = with(update, "$set", set.iter().fold(map! {}, assign));
        }
        if inc.is_empty() {
            let differs =
                |(key, value): &(Spanned<String>, Node)| map! { key.value.as_str() => map! { "$ne" => value.clone() } };
            let differ: Vec<Node> = set.iter().map(differs).collect();
            guard = if let [one] = &differ[..] {
                one.clone()
            } else {
                map! { "$or" => differ }
            };
        }
        let now = self.fresh("now");
        let followed: Vec<String> = relations.iter().flat_map(|relation| self.following(*relation)).collect();
        let projection = with(all(&followed, 1), VERSION, 1);
        let write = with(changed(&place.guarded(&guard), update, projection), "returnDocument", "after");
        let mut steps = vec![with(write, "as", now.as_str())];
        let missed = format!("{now} == null");
        steps.push(match (inc.is_empty(), may_be_gone) {
            (true, true) => missing(&missed, &place, "reply == 0 ? not_found() : same()"),
            (true, false) => fail(&missed, "same()"),
            (false, _) => fail(&missed, "not_found()"),
        });
        for relation in relations {
            let up = model.relations[relation].up();
            let collection = model.collection(model.relations[relation].many);
            self.documents.index(&collection, &[(up.to_owned(), 1)], false);
            let older = map! { up => place.id.clone(), version_of(up) => older_than(&now) };
            let set = self.versioned_copies(relation, &now);
            steps.push(map! { "updateMany" => collection, "filter" => older, "update" => map! { "$set" => set } });
        }
        Ok(Some(Write { steps, result: Some("ok()".to_owned()), ..Write::default() }))
    }

    /// Refuses what happens to a record whose copies follow their source by its version.
    pub fn check_unversioned(&self, relation: usize, what: &str, why: &str) -> Derived<()> {
        let (model, shape) = (self.model(), self.documents.shape);
        if !shape.is_versioned(model, relation) {
            return Ok(());
        }
        refuse_versions(relation, &format!("of `{}`, and a record {what}", model.key(relation)), why)
    }

    /// The copied fields that calls change. A change brings all of them: the one before it may not have reached all copies,
    /// and then finds that they are newer.
    fn following(&self, relation: usize) -> Vec<String> {
        let one = self.model().relations[relation].one;
        let fields = self.documents.shape.referenced(relation).iter();
        fields.filter(|field| self.model().is_changed(one, std::slice::from_ref(*field))).cloned().collect()
    }

    /// The copies of a source in a variable that calls change, and its version.
    fn versioned_copies(&self, relation: usize, source: &str) -> Node {
        let up = self.model().relations[relation].up();
        let value = |field: &str| slot(&format!("{source}.{field}"));
        let copies = self.following(relation);
        let copies = copies.iter().fold(map! {}, |made, field| with(made, &format!("{up}_{field}"), value(field)));
        with(copies, &version_of(up), value(VERSION))
    }
}

/// Refuses `writes: versions` where it would not be right.
fn refuse_versions<T>(relation: usize, what: &str, why: &str) -> Derived<T> {
    refuse_shape(relation, format!("`writes: versions` {what}"), why, "try `writes: transaction`")
}

/// The condition of a version that is older than that of a source in a variable.
fn older_than(source: &str) -> Node {
    map! { "$lt" => slot(&format!("{source}.{VERSION}")) }
}
