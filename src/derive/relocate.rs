//! Records that get another parent.

use crate::scenario::Node;

use super::build::{all, keep, map, slot, update_one, with};
use super::refusal::{Derived, refuse, refuse_shape};
use super::shape::Word;
use super::totals::together;
use super::translate::{Located, Translation};
use super::write::{Write, fail, missing};

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
        let (id, target) = (slot(&format!("{argument}._id")), slot(&format!("{name}._id")));
        let shape = self.documents.shape;
        let (word, is_copied) = (shape.word(relation), !shape.referenced(relation).is_empty());
        let set = map! { this.up() => target.clone() };
        if word == Word::Reference {
            let to = self.locate(name, this.one);
            let is_certain = !self.may_be_gone(name, this.one);
            if shape.has_totals(relation) {
                return Ok(self.relocate_counted((argument, entity), relation, name, &to));
            }
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
        let (field, pulled, projection) = if has_entries {
            let entry = map! { "_id" => id.clone() };
            (format!("{down}._id"), entry, map! { format!("{down}.$") => 1 })
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
        let pull = together(map! { "$pull" => map! { down => pulled } }, &less);
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
        if shape.up_word(relation) == Word::Reference {
            let place = self.document(&format!("{name}._id"), this.one);
            let (read, source) = self.source(relation, &place, Some(push), false);
            steps.extend(read.steps);
            let copies = self.copied_from(relation, &source, set);
            steps.push(self.locate(argument, entity).update(map! { "$set" => copies }));
        } else {
            steps.push(update_one(&owners, map! { "_id" => target }, push));
            steps.push(fail("reply.matched == 0", "not_found()"));
        }
        Ok(Write::joint(steps))
    }

    /// The same where both parents have totals, and the record the `_id` of its parent.
    fn relocate_counted(&mut self, record: (&str, usize), relation: usize, name: &str, to: &Located) -> Write {
        let (model, shape) = (self.model(), self.documents.shape);
        let this = &model.relations[relation];
        let place = self.locate(record.0, record.1);
        let old = self.fresh("old");
        let fields: Vec<&str> = shape.sums(relation).iter().map(String::as_str).chain([this.up()]).collect();
        let mut steps = vec![
            with(place.find(Some(all(&fields, 1))), "as", old.as_str()),
            fail(&format!("{old} == null"), "not_found()"),
            fail(&format!("{old}.{} == {name}._id", this.up()), "same()"),
        ];
        let [less, more] = [false, true].map(|comes| self.totals(relation, &old, comes, &mut steps));
        let (read, source) = self.source(relation, to, Some(more), false);
        steps.extend(read.steps);
        let owner = map! { "_id" => slot(&format!("{old}.{}", this.up())) };
        steps.push(update_one(&to.collection, owner, less));
        let copies = self.copied_from(relation, &source, map! { this.up() => slot(&format!("{name}._id")) });
        steps.push(place.update(map! { "$set" => copies }));
        Write::joint(steps)
    }
}
