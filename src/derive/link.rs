//! Records that are added to lists of records, and removed from them.

use super::build::{all, map, slot, with};
use super::located::Located;
use super::model::PathEnd;
use super::refusal::{Derived, refuse, refuse_shape};
use super::shape::{entry, pulled};
use super::translate::Translation;
use super::write::{Write, changed, fail, missing};

impl Translation<'_, '_> {
    /// Adds a record to a list of records, or removes it.
    pub fn link(&mut self, argument: &str, list: Option<&str>, adds: bool, is_inner: bool) -> Derived<Write> {
        let model = self.model();
        let entity = model.record(self.operation, argument)?;
        let list = list.unwrap_or_default();
        let subject = self.subject(list, true)?;
        let PathEnd::Many(owner, relation, is_down) = subject else {
            let message = format!("`{list}` is not a list of records");
            return refuse(message, "a list is needed here", "for example `to: product.parts`");
        };
        let this = &model.relations[relation];
        let own_list = this.own_list().filter(|_| this.listed_entity() == entity || is_down == this.is_turned);
        let Some((owning, field)) = own_list else {
            let message = format!("`{list}` is no field with a list of `{}`", model.name(entity));
            let help = "`add` and `remove` are for fields with lists of records; for children try `create`, `delete` or `update`";
            return refuse(message, "not such a list", help);
        };
        if is_down == this.is_turned {
            let (word, to) = if adds { ("add", "to") } else { ("remove", "from") };
            let message = format!("`{list}` is the other direction of `{}`", model.key(relation));
            let help = format!("the list is of the other record: `{word}: {owner}, {to}: {argument}.{field}`");
            return refuse(message, "not where the list is", help);
        }
        // The record whose document has the list, and the one that is in it.
        let (holder, linked) = if this.is_turned { (argument, owner.as_str()) } else { (owner.as_str(), argument) };
        let place = self.locate(holder, this.one);
        if let (false, Some(parent)) = (place.path.is_empty(), model.parent_of(this.one)) {
            let message = format!("`{list}` is inside of another record: `{}` is `embed`", model.key(parent));
            return refuse_shape(
                parent,
                message,
                "not derived",
                "try `reference` here, or write this operation by hand",
            );
        }
        let (shape, id) = (self.documents.shape, slot(&format!("{linked}._id")));
        let (listed, is_mutual) = (shape.listed(relation), shape.is_mutual(model, relation));
        let list_id = shape.list_id(model, relation);
        let other = self.document(&format!("{linked}._id"), this.many);
        if is_inner && (shape.back_list(model, relation).is_some() || !shape.keeps_own_list(model, relation)) {
            let message = format!("`{list}` is in other records, and changed inside of `atomically`");
            return refuse_shape(relation, message, "not derived", "make it an operation of its own, or try `list`");
        }
        let may_be_gone = self.may_be_gone(&owner, owning);
        let is_own = shape.keeps_own_list(model, relation);
        if may_be_gone && !is_inner && !is_mutual && is_own && (!adds || listed.is_empty()) {
            // One update tells whether it changed the record, left it as it was, or found none.
            let (operator, entry) = if adds { ("$addToSet", id) } else { ("$pull", pulled(listed, &id)) };
            return Ok(Write::one(place.update(map! { operator => map! { this.down() => entry } })));
        }
        if let Some(pairs) = shape.pairs(model, relation, true) {
            return Ok(self.pair([(&place, this.one), (&other, this.many)], &pairs, adds, may_be_gone));
        }
        // The owner is written before, where only the other record has the list.
        let needs_owner = this.is_turned && adds && may_be_gone;
        let mut steps = Vec::new();
        let mut source = linked.to_owned();
        if needs_owner && listed.is_empty() {
            let change = self.protects().then(|| other.update(self.touch(&other, this.many)));
            let missed = if change.is_some() { "reply.matched == 0" } else { "reply == 0" };
            steps.extend([change.unwrap_or_else(|| other.count()), fail(missed, "not_found()")]);
        } else if adds && !listed.is_empty() {
            source = self.fresh("source");
            // The other record is written later, or now, so that a change of its fields conflicts.
            let projection = all(listed, 1);
            let is_touched = !is_mutual && self.protects() && (needs_owner || model.is_changed(this.many, listed));
            let read = if is_touched {
                changed(&other, self.touch(&other, this.many), projection)
            } else {
                other.find(Some(projection))
            };
            steps.push(with(read, "as", source.as_str()));
            steps.extend(needs_owner.then(|| fail(&format!("{source} == null"), "not_found()")));
        }
        let (state, operator, entry) = if adds {
            (map! { "$ne" => id.clone() }, "$push", entry(listed, linked, &source))
        } else {
            (id.clone(), "$pull", pulled(listed, &id))
        };
        let guarded = Located { filter: with(place.filter.clone(), &list_id, state), ..self.locate(holder, this.one) };
        let change = map! { operator => map! { this.down() => entry } };
        let copied = shape.referenced(relation);
        let (mut reply, mut missed) = ("reply".to_owned(), "reply.matched == 0".to_owned());
        if is_mutual && adds && !copied.is_empty() {
            reply = self.fresh("owner");
            missed = format!("{reply} == null");
            steps.push(with(changed(&guarded, change, all(copied, 1)), "as", reply.as_str()));
        } else {
            steps.push(guarded.update(change));
        }
        if may_be_gone && is_inner {
            // What is there already ends no other write.
            steps.push(map! { "if" => missed, "then" => vec![place.count(), fail("reply == 0", "not_found()")] });
        } else if may_be_gone && !needs_owner {
            let owner = if this.is_turned { &other } else { &place };
            steps.push(missing(&missed, owner, "reply == 0 ? not_found() : same()"));
        } else if !is_inner {
            steps.push(fail(&missed, "same()"));
        }
        if is_mutual {
            let back = if adds { shape.back_entry(relation, &owner, &reply) } else { pulled(copied, &place.id) };
            steps.push(other.update(map! { operator => map! { this.up() => back } }));
        }
        Ok(Write { is_joint: may_be_gone && !this.is_turned || is_mutual || steps.len() > 2, ..Write::joint(steps) })
    }
}
