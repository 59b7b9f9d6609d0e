//! `create`: a new record, with those that are made with it.

use crate::scenario::Node;

use super::build::{is_empty, keep, map};
use super::document::{Made, each};
use super::located::Located;
use super::model::{option, text_option, texts};
use super::refusal::{Derived, refuse, refuse_shape};
use super::shape::Word;
use super::summary::sum_of;
use super::totals::together;
use super::translate::{Options, Translation};
use super::write::{Write, fail};

impl Translation<'_, '_> {
    pub fn create(&mut self, argument: &str, options: &Options, is_inner: bool) -> Derived<Write> {
        let model = self.model();
        let entity = model.record(self.operation, argument)?;
        if !model.argument(self.operation, argument).is_some_and(|one| one.is_new) {
            let message = format!("`create: {argument}` is not a record that the call makes");
            let help = format!("draw it with `{argument}: new({})`", model.name(entity));
            return refuse(message, "it exists already", help);
        }
        let owner = self.owner(argument, entity, text_option(options, "in"))?;
        let children = self.children_made_with(entity, options)?;
        let is_split = self.documents.shape.splits.contains_key(&entity);
        let is_more = is_inner || !children.is_empty() || is_split;
        if let Some(write) = self.versioned_create(argument, entity, owner, is_more)? {
            return Ok(write);
        }
        let (mut write, mut made) = (Write::default(), Made::default());
        for relation in self.copied_fields(entity) {
            let this = &model.relations[relation];
            let place = self.document(&format!("{argument}.{}._id", this.up()), this.one);
            let (read, source) = self.source(relation, &place, None, true);
            write.then(read);
            made.sources.insert(relation, source);
        }
        self.new_lists(argument, entity, &mut write, &mut made);
        self.new_children(argument, &children, &mut write, &mut made)?;
        let apart = self.children_apart(&children)?;
        write.is_joint |= !apart.is_empty();
        let mut is_followed = false;
        if let Some((relation, into)) = owner {
            let place = self.locate(into, model.relations[relation].one);
            if self.documents.shape.word(relation) == Word::Bucket {
                return self.append(argument, (relation, into), &made, is_inner, write);
            }
            is_followed = self.change_owner(argument, (relation, into), &place, is_inner, &mut write, &mut made);
        }
        if !owner.is_some_and(|(relation, _)| self.documents.shape.word(relation) == Word::Embed) {
            let document = self.new_document(entity, argument, owner.map_or("", |(_, into)| into), &made);
            write.steps.push(map! { "insertOne" => model.collection(entity), "document" => document });
            write.steps.extend(self.new_rest(entity, argument));
            write.is_joint |= is_split;
        }
        if owner.is_some_and(|owner| self.owner_follows(owner, &write)) {
            write.steps.swap(0, 1);
            write.is_ordered = true;
        }
        for relation in apart {
            self.insert_children(argument, relation, &mut write, &made);
        }
        if write.steps.len() > 1 && !is_followed {
            write.result = Some("ok()".to_owned());
        }
        Ok(write)
    }

    /// The relations whose records are made with a new one.
    fn children_made_with(&self, entity: usize, options: &Options) -> Derived<Vec<usize>> {
        let model = self.model();
        let named = |child: String| {
            let found = model.children_of(entity).find(|relation| model.relations[*relation].down() == child);
            found.map_or_else(
                || {
                    let help = "`with` has names of lists of children, as in `new(order, {'lines': 2})`";
                    refuse(format!("`{}` has no children `{child}`", model.name(entity)), "not children", help)
                },
                Ok,
            )
        };
        texts(option(options, "with")).into_iter().map(named).collect()
    }

    /// The lists of records that are made with a new one, and sums over them.
    fn new_children(&mut self, argument: &str, children: &[usize], write: &mut Write, made: &mut Made) -> Derived<()> {
        let model = self.model();
        for child in children {
            let this = &model.relations[*child];
            self.check_lists(this.many, "is made with the record that it belongs to")?;
            let list = format!("{argument}.{}", this.down());
            for field in self.copied_fields(this.many) {
                self.check_unversioned(field, "is made with others", "only a transaction keeps these together")?;
            }
            let list = self.with_copies(this.many, list, write, made);
            for field in self.documents.shape.sums(*child) {
                let sum = self.fresh("sum");
                write.steps.push(keep(&sum, format!("sum({list}.map(x, x.{field}))")));
                made.sums.insert(sum_of(this.down(), field), sum);
            }
            made.lists.insert(*child, list);
        }
        Ok(())
    }

    /// Those of these relations whose records have documents of their own.
    fn children_apart(&self, children: &[usize]) -> Derived<Vec<usize>> {
        let word = |child: &usize| self.documents.shape.word(*child);
        let apart: Vec<usize> = children.iter().copied().filter(|child| word(child) != Word::Embed).collect();
        let Some(relation) = apart.iter().find(|child| word(child) == Word::Bucket) else { return Ok(apart) };
        let key = self.model().key(*relation);
        let message = format!("`{key}: bucket` of records that are made with the one that they belong to");
        refuse_shape(*relation, message, "not derived", "make it an operation of its own, or try `embed`")
    }

    /// Adds what a new record changes in the one that it belongs to. Returns whether that may have to follow a record that moves.
    fn change_owner(
        &mut self,
        argument: &str,
        (relation, into): (usize, &str),
        place: &Located,
        is_inner: bool,
        write: &mut Write,
        made: &mut Made,
    ) -> bool {
        let this = &self.model().relations[relation];
        let word = self.documents.shape.word(relation);
        let change = match word {
            Word::Embed => {
                let document = self.new_document(this.many, argument, into, made);
                Some(map! { "$push" => map! { place.field(this.down()) => document } })
            }
            Word::List => {
                let entry = self.documents.shape.list_entry(relation, argument);
                Some(map! { "$push" => map! { this.down() => entry } })
            }
            Word::Reference | Word::Link | Word::Bucket => None,
        };
        let totals = self.totals(relation, argument, true, &mut write.steps);
        let change =
            if is_empty(&totals) { change } else { Some(together(change.unwrap_or_else(|| map! {}), &totals)) };
        if word != Word::Embed {
            let may_be_gone = self.may_be_gone(into, this.one);
            let (read, source) = self.source(relation, place, change, !may_be_gone);
            write.then(read);
            made.sources.insert(relation, source);
            return false;
        }
        let Some(change) = change else { return false };
        let update = place.update(change);
        if self.wanders(this.one) && !is_inner && !write.is_joint {
            write.then(self.followed(this.one, place, update, false));
            return true;
        }
        write.steps.push(update);
        if is_inner || write.steps.len() > 1 || write.is_joint {
            write.steps.push(fail("reply.matched == 0", "not_found()"));
        }
        false
    }

    /// Whether the numbers of the owner may follow the new record: the owner stays, and nothing of it is copied.
    fn owner_follows(&self, (relation, into): (usize, &str), write: &Write) -> bool {
        let (shape, model) = (self.documents.shape, self.model());
        let is_counted = shape.commutes(model, relation) && shape.referenced(relation).is_empty();
        let [first, second] = &write.steps[..] else { return false };
        is_counted
            && !self.may_be_gone(into, model.relations[relation].one)
            && second.get("insertOne").is_some()
            && first.get("updateOne").is_some()
    }

    /// Inserts the records of a relation that are made with a new one.
    fn insert_children(&mut self, argument: &str, relation: usize, write: &mut Write, made: &Made) {
        let model = self.model();
        let child = &model.relations[relation];
        let name = self.fresh(&format!("each_{}", model.name(child.many)));
        let list = made.lists.get(&relation).cloned().unwrap_or_default();
        let extras = self.documents.extras(child.many, &name, argument, Some(made));
        let item = self.documents.document(child.many, &name, extras);
        let collection = model.collection(child.many);
        write.steps.push(map! { "insertMany" => collection, "documents" => each(&name, &list, item) });
        write.steps.extend(self.new_rests(child.many, &name, &list));
    }

    /// The document of a record that the call makes.
    pub fn new_document(&self, entity: usize, argument: &str, into: &str, made: &Made) -> Node {
        let extras = self.documents.extras(entity, argument, into, Some(made));
        self.documents.document(entity, argument, extras)
    }

    /// The relation by which a new record belongs to another one, with the argument of that.
    fn owner<'o>(&self, argument: &str, entity: usize, into: Option<&'o str>) -> Derived<Option<(usize, &'o str)>> {
        let model = self.model();
        match (model.parent_of(entity), into) {
            (None, None) => Ok(None),
            (Some(relation), Some(into)) if model.record(self.operation, into)? == model.relations[relation].one => {
                Ok(Some((relation, into)))
            }
            (Some(relation), _) => {
                let one = model.name(model.relations[relation].one);
                let message = format!("`create: {argument}` does not say which `{one}` it belongs to");
                refuse(message, format!("`in` needs a `{one}`"), format!("try `in: {one}`, an argument of that name"))
            }
            (None, Some(_)) => {
                let message = format!("`{}` belongs to no other entity", model.name(entity));
                refuse(message, "`in` of a record without parent", "remove `in`")
            }
        }
    }
}
