//! Records that are deleted.

use crate::scenario::Node;

use super::build::{all, keep, map, slot, update_one, with};
use super::model::RelationKind;
use super::refusal::{Derived, refuse, refuse_shape};
use super::shape::{Word, pulled};
use super::stage::unless_empty;
use super::totals::together;
use super::translate::Translation;
use super::write::{Write, fail};

impl Translation<'_, '_> {
    /// Deletes a record, with its children and its place in other documents.
    pub fn delete(&mut self, argument: &str, is_inner: bool) -> Derived<Write> {
        let model = self.model();
        let entity = model.record(self.operation, argument)?;
        self.check_referrers(argument, entity)?;
        self.check_newest(entity, "deletes", &[])?;
        self.check_bucket(entity, "deletes")?;
        let id = slot(&format!("{argument}._id"));
        let place = self.locate(argument, entity);
        let (shape, parent) = (self.documents.shape, model.parent_of(entity));
        if !place.path.is_empty() {
            self.check_inner_sums(entity, "deletes")?;
            let mut steps = [self.below(entity, &id, None)?, self.leave_lists(entity, &id, None)].concat();
            let has_below = !steps.is_empty();
            let pull = map! { "$pull" => map! { place.path.join(".$[].") => map! { "_id" => id } } };
            let pull = together(pull, &self.totals(parent.unwrap_or_default(), "", false, &mut steps));
            let update = update_one(&place.collection, place.filter.clone(), pull);
            if !has_below && !is_inner {
                return Ok(self.followed(entity, &place, update, false));
            }
            steps.extend([update, fail("reply.matched == 0", "not_found()")]);
            return Ok(Write { is_joint: has_below, ..Write::joint(steps) });
        }
        let kept = parent.filter(|relation| shape.word(*relation) == Word::List || shape.has_totals(*relation));
        // What the deleted document tells of others: its parent, what is added up there, its children, and what lists it.
        let of_parent = kept.filter(|relation| shape.up_word(*relation) == Word::Reference);
        let named = of_parent.map(|relation| model.relations[relation].up().to_owned());
        let sums = kept.map(|relation| shape.sums(relation)).unwrap_or_default();
        let listed = model.children_of(entity).filter(|child| shape.up_word(*child) == Word::List);
        let listed = listed.map(|child| shape.list_id(model, child));
        let is_listed = |one: &usize| model.relations[*one].one == entity && shape.is_mutual(model, *one);
        let mutual = (0..model.relations.len()).filter(is_listed).map(|one| shape.list_id(model, one));
        let fields: Vec<String> = sums.iter().cloned().chain(named).chain(listed).chain(mutual).collect();
        let old = if fields.is_empty() { String::new() } else { self.fresh("old") };
        let known = Some(old.as_str()).filter(|old| !old.is_empty());
        let below = [self.below(entity, &id, known)?, self.leave_lists(entity, &id, known)].concat();
        let has_below = !below.is_empty();
        let delete = map! { "deleteOne" => place.collection.as_str(), "filter" => place.filter.clone() };
        if kept.is_none() && !has_below && !is_inner {
            return Ok(Write::one(delete));
        }
        let mut steps = if old.is_empty() {
            [below, vec![delete, fail("reply.deleted == 0", "not_found()")]].concat()
        } else {
            let delete = map! { "findOneAndDelete" => place.collection, "filter" => place.filter };
            let delete = with(with(delete, "projection", with(all(&fields, 1), "_id", 0)), "as", old.as_str());
            [vec![delete, fail(&format!("{old} == null"), "not_found()")], below].concat()
        };
        let Some(relation) = kept else { return Ok(Write { is_joint: has_below, ..Write::joint(steps) }) };
        let this = &model.relations[relation];
        let mut change = map! {};
        if shape.word(relation) == Word::List {
            change = map! { "$pull" => map! { this.down() => pulled(shape.listed(relation), &id) } };
        }
        let totals = self.totals(relation, &old, false, &mut steps);
        let filter = self.owner_filter(relation, argument, &old);
        steps.push(update_one(&model.collection(this.one), filter, together(change, &totals)));
        Ok(Write { is_ordered: shape.commutes(model, relation) && !has_below, ..Write::joint(steps) })
    }

    /// Refuses a record with a list of records that others have a part of, where only its owner is known.
    pub fn check_lists(&self, entity: usize, what: &str) -> Derived<()> {
        let (model, shape) = (self.model(), self.documents.shape);
        let is_shared = |relation: &usize| {
            let owner = model.relations[*relation].own_list().map(|(one, _)| one);
            owner == Some(entity) && shape.is_shared(model, *relation)
        };
        match (0..model.relations.len()).find(is_shared) {
            None => Ok(()),
            Some(relation) => {
                let message =
                    format!("`{}` is more than a list, and a `{}` {what}", model.key(relation), model.name(entity));
                refuse_shape(relation, message, "not derived", "try `list` without fields")
            }
        }
    }

    /// Refuses to delete what other records refer to.
    fn check_referrers(&self, argument: &str, entity: usize) -> Derived<()> {
        let model = self.model();
        let refers = |relation: &usize| match model.relations[*relation].kind {
            RelationKind::Children => false,
            RelationKind::Reference => model.relations[*relation].one == entity,
            RelationKind::Listing => model.relations[*relation].listed_entity() == entity,
        };
        if let Some(relation) = (0..model.relations.len()).find(refers) {
            let message = format!("`delete: {argument}` leaves `{}` without its record", model.key(relation));
            let help = "nothing says what becomes of it: mark the record with a field, or write the operation by hand";
            return refuse(message, "others refer to it", help);
        }
        for child in model.children_of(entity) {
            self.check_referrers(argument, model.relations[child].many)?;
        }
        Ok(())
    }

    /// The steps that delete what belongs to the records of these ids and is not in their documents; `known` is the variable
    /// with the document of the only one.
    fn below(&mut self, entity: usize, ids: &Node, known: Option<&str>) -> Derived<Vec<Node>> {
        let model = self.model();
        let mut steps: Vec<Node> = self.delete_rest(entity, ids).into_iter().collect();
        for child in model.children_of(entity) {
            let this = &model.relations[child];
            self.check_bucket(this.many, "deletes with the one that they belong to")?;
            self.check_lists(this.many, "is deleted with the record that it belongs to")?;
            let word = self.documents.shape.word(child);
            let mut below = model.children_of(this.many).peekable();
            if word == Word::Embed {
                if let Some(apart) = below.find(|below| self.documents.shape.word(*below) != Word::Embed) {
                    let key = model.key(apart);
                    let message = format!("`{key}` is not in the documents that a delete of their owners removes");
                    let help = "try `embed` for both relations, or `reference` for both";
                    return refuse_shape(apart, message, "who deletes these?", help);
                }
                continue;
            }
            let collection = model.collection(this.many);
            let by_owner = map! { this.up() => ids.clone() };
            // Where the `_id`s of the children are, and which documents have to be deleted.
            let is_listed = self.documents.shape.up_word(child) == Word::List;
            let (holders, by, field, value) = if is_listed {
                let all = format!("flatten(pluck(reply, '{}'))", this.down());
                let has_copies = !self.documents.shape.listed(child).is_empty();
                let value = if has_copies { format!("pluck({all}, '_id')") } else { all };
                (model.collection(this.one), map! { "_id" => ids.clone() }, this.down(), value)
            } else {
                self.documents.index(&collection, &[(this.up().to_owned(), 1)], false);
                (collection.clone(), by_owner.clone(), "_id", "pluck(reply, '_id')".to_owned())
            };
            let mut filter = by_owner;
            let is_split = self.documents.shape.splits.contains_key(&this.many);
            if is_listed || is_split || below.peek().is_some() {
                let gone = self.fresh("gone");
                if let Some(known) = known.filter(|_| is_listed) {
                    steps.push(keep(&gone, format!("{known}.{}", self.documents.shape.list_id(model, child))));
                } else {
                    steps.push(map! { "find" => holders, "filter" => by, "projection" => map! { field => 1 } });
                    steps.push(keep(&gone, value));
                }
                let ids = map! { "$in" => slot(&gone) };
                if is_listed {
                    filter = map! { "_id" => ids.clone() };
                }
                let delete = map! { "deleteMany" => collection, "filter" => filter };
                let deletes = [self.below(this.many, &ids, None)?, vec![delete]].concat();
                steps.push(unless_empty(&gone, deletes));
                continue;
            }
            steps.push(map! { "deleteMany" => collection, "filter" => filter });
        }
        Ok(steps)
    }
}
