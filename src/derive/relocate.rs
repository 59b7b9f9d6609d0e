//! Records that get another parent.

use crate::scenario::Node;

use super::build::{all, keep, map, slot, update_one, with};
use super::located::Located;
use super::refusal::{Derived, refuse, refuse_shape};
use super::shape::{Word, entry, pulled};
use super::totals::together;
use super::translate::Translation;
use super::versions::{NOT_COMPARED, OTHER_SOURCE};
use super::write::{Write, changed, fail, missing};

impl Translation<'_, '_> {
    /// Gives a record another parent.
    pub fn relocate(&mut self, argument: &str, entity: usize, relation: usize, to: &Node) -> Derived<Write> {
        let model = self.model();
        let this = &model.relations[relation];
        let name = to.as_text().and_then(|text| text.strip_prefix('<')?.strip_suffix('>')).unwrap_or_default();
        if model.argument(self.operation, name).and_then(|one| one.entity) != Some(this.one) {
            let one = model.name(this.one);
            let message = format!("`{argument}` gets a parent that is not certainly a `{one}`");
            let help = format!("try `set: {{ {one}: <to> }}` with an argument `to: uniform({one})`");
            return refuse(message, "not an argument", help);
        }
        self.check_newest(entity, "moves", &[])?;
        self.check_bucket(entity, "moves")?;
        self.check_inner_sums(entity, "moves")?;
        self.check_unversioned(relation, OTHER_SOURCE, NOT_COMPARED)?;
        let (id, target) = (slot(&format!("{argument}._id")), slot(&format!("{name}._id")));
        let shape = self.documents.shape;
        let (word, is_copied) = (shape.word(relation), !shape.referenced(relation).is_empty());
        let set = map! { this.up() => target.clone() };
        let to = self.locate(name, this.one);
        if shape.up_word(relation) == Word::Reference && (word == Word::List || shape.has_totals(relation)) {
            return Ok(self.relocate_named((argument, entity), relation, name, &to));
        }
        if word == Word::Reference {
            let is_certain = !self.may_be_gone(name, this.one);
            if is_certain && !is_copied {
                return Ok(Write::one(self.locate(argument, entity).update(map! { "$set" => set })));
            }
            let moved = self.fresh("moved");
            let (mut write, source) = self.source(relation, &to, None, is_certain);
            let copies = self.copied_from(relation, &source, set);
            let update = self.locate(argument, entity).update(map! { "$set" => copies });
            write.steps.push(with(update, "as", moved.as_str()));
            return Ok(Write { result: Some(format!("outcome({moved})")), ..write });
        }
        let (owners, outer) = self.documents.shape.home(model, this.one);
        if !outer.is_empty() {
            let message = format!("`{}: embed` moves a record between two arrays of arrays", model.key(relation));
            let help = "try `reference` here, or write this operation by hand";
            return refuse_shape(relation, message, "not derived", help);
        }
        let (old, down) = (self.fresh("old"), this.down());
        let has_entries = word == Word::Embed || !shape.listed(relation).is_empty();
        let (field, taken, projection) = if has_entries {
            (format!("{down}._id"), map! { "_id" => id.clone() }, map! { format!("{down}.$") => 1 })
        } else {
            (down.to_owned(), id.clone(), map! { "_id" => 1 })
        };
        self.documents.index(&owners, &[(field.clone(), 1)], false);
        let here = map! { "_id" => target.clone(), field.as_str() => id.clone() };
        let here = Located { collection: owners.clone(), path: Vec::new(), filter: here, id: id.clone() };
        let mut steps = Vec::new();
        let values = self.fresh("values");
        if !shape.sums(relation).is_empty() {
            let sums = all(shape.sums(relation), 1);
            steps.push(with(self.locate(argument, entity).find(Some(sums)), "as", values.as_str()));
            steps.push(fail(&format!("{values} == null"), "not_found()"));
        }
        let [less, more] = [false, true].map(|comes| self.totals(relation, &values, comes, &mut steps));
        let pull = together(map! { "$pull" => map! { down => taken } }, &less);
        let take = map! {
            "findOneAndUpdate" => owners.as_str(),
            "filter" => map! { field.as_str() => id.clone(), "_id" => map! { "$ne" => target.clone() } },
            "update" => pull,
            "projection" => projection,
            "as" => old.as_str(),
        };
        steps.push(take);
        steps.push(missing(&format!("{old} == null"), &here, "reply == 0 ? not_found() : same()"));
        let mut entry = id;
        if has_entries {
            let record = self.fresh("record");
            steps.push(keep(&record, format!("{old}.{down}[0]")));
            entry = slot(&record);
        }
        let push = together(map! { "$push" => map! { down => entry } }, &more);
        steps.push(update_one(&owners, map! { "_id" => target }, push));
        steps.push(fail("reply.matched == 0", "not_found()"));
        Ok(Write::joint(steps))
    }

    /// The same where the record names its parent, and both parents have something of it: the record tells the old one.
    fn relocate_named(&mut self, record: (&str, usize), relation: usize, name: &str, to: &Located) -> Write {
        let (model, shape) = (self.model(), self.documents.shape);
        let this = &model.relations[relation];
        let (place, target) = (self.locate(record.0, record.1), slot(&format!("{name}._id")));
        let old = self.fresh("old");
        let fields = [shape.sums(relation), shape.listed(relation), &[this.up().to_owned()]].concat();
        let projection = with(all(&fields, 1), "_id", 0);
        let set = map! { this.up() => target.clone() };
        let has_copies = !shape.referenced(relation).is_empty();
        let mut steps = if has_copies {
            vec![
                with(place.find(Some(projection)), "as", old.as_str()),
                fail(&format!("{old} == null"), "not_found()"),
                fail(&format!("{old}.{} == {name}._id", this.up()), "same()"),
            ]
        } else {
            let is_other = place.guarded(&map! { this.up() => map! { "$ne" => target.clone() } });
            let update = changed(&is_other, map! { "$set" => set.clone() }, projection);
            let outcome = "reply == 0 ? not_found() : same()";
            vec![with(update, "as", old.as_str()), missing(&format!("{old} == null"), &place, outcome)]
        };
        let [mut less, mut more] = [false, true].map(|comes| self.totals(relation, &old, comes, &mut steps));
        if shape.word(relation) == Word::List {
            let (listed, down) = (shape.listed(relation), this.down());
            less = together(map! { "$pull" => map! { down => pulled(listed, &place.id) } }, &less);
            more = together(map! { "$push" => map! { down => entry(listed, record.0, &old) } }, &more);
        }
        let owner = map! { "_id" => slot(&format!("{old}.{}", this.up())) };
        if has_copies {
            let (read, source) = self.source(relation, to, Some(more), false);
            steps.extend(read.steps);
            steps.push(update_one(&to.collection, owner, less));
            steps.push(place.update(map! { "$set" => self.copied_from(relation, &source, set) }));
        } else {
            let requests = [(owner, less), (to.filter.clone(), more)];
            let requests = requests
                .map(|(filter, update)| map! { "updateOne" => map! { "filter" => filter, "update" => update } });
            steps.push(map! { "bulkWrite" => to.collection.as_str(), "requests" => Vec::from(requests) });
            steps.push(fail("reply.matched < 2", "not_found()"));
        }
        Write::joint(steps)
    }
}
