//! Related records of each of several rows: from the row itself, by `$lookup`, or by one query for each relation.

use crate::scenario::Node;

use super::build::{all, keep, map, slot, with, with_all};
use super::model::PathEnd;
use super::picked::{picked, picked_copies, picked_fields};
use super::read::in_order;
use super::refusal::{Derived, refuse_shape};
use super::related::{ROWS, Related, Route};
use super::shape::Word;
use super::stage::{lookup, prefixed, unless_empty};
use super::translate::Translation;

/// What adds others to rows.
#[derive(Default)]
pub(super) struct Added {
    pub steps: Vec<Node>,
    /// The stages that join, by the name of what they add.
    pub joins: Vec<(String, Node)>,
    /// The entries of each row in the reply.
    pub parts: Vec<String>,
}

impl<'m> Translation<'_, 'm> {
    /// Adds related records to rows; `row` is the expression of the record in the variable of this depth.
    pub fn add(&mut self, depth: usize, row: &str, route: &Route, with: Vec<Related>) -> Derived<Added> {
        let mut made = Added::default();
        for one in with {
            let part = self.part_of(depth, row, route, one, &mut made)?;
            made.parts.push(part);
        }
        Ok(made)
    }

    /// The entry of each row for one relation.
    fn part_of(
        &mut self,
        depth: usize,
        row: &str,
        route: &Route,
        mut one: Related,
        made: &mut Added,
    ) -> Derived<String> {
        let (model, shape) = (self.model(), self.documents.shape);
        let this = &model.relations[one.relation];
        let (up, down, variable) = (this.up(), this.down(), ROWS[depth]);
        let word = shape.word(one.relation);
        if !one.is_many && word == Word::Embed {
            return self.around_part(depth, route, one, made);
        }
        if !one.is_many && self.is_copied_one(&one) {
            return Ok(format!("'{up}': {}", picked_copies(up, row, &one.fields)));
        }
        let has_copies = word == Word::List && one.with.is_empty() && self.is_copied(one.relation, &one.selection);
        if one.is_many && one.is_down && (word == Word::Embed || has_copies) {
            return self.inside_part((depth, row), route, one, made);
        }
        if let Some(pairs) = shape.pairs(model, one.relation, one.is_down) {
            return self.pairs_of_rows((depth, row), route, one, &pairs, made);
        }
        let has_ids = one.is_many && one.is_down && word == Word::List;
        let (local, foreign) = self.ends(&one)?;
        let ids = if has_ids && !shape.listed(one.relation).is_empty() {
            format!("pluck({row}.{down}, '_id')")
        } else {
            format!("{row}.{local}")
        };
        let keeps_list = has_ids && self.keeps_list(one.relation, &one.selection);
        let collection = model.collection(one.entity);
        // The field of the others that tells whose they are.
        let link = if one.is_many && !one.is_down { down } else { foreign.as_str() };
        if !one.selection.fields.is_empty() && !one.selection.fields.iter().any(|field| field == link) {
            one.selection.fields.push(link.to_owned());
        }
        let others = match route {
            Route::Queries(rows) => {
                let every = format!("{rows}.map({variable}, {ids})");
                let every = if has_ids { format!("flatten({every})") } else { every };
                self.queried(every, if one.is_many { &one.name } else { "owners" }, made, |this, keys| {
                    let filter = map! { foreign.as_str() => keys };
                    if one.is_many {
                        return this.find(one.entity, filter, &one.selection);
                    }
                    let chosen: Vec<&String> = one.read().iter().filter(|field| *field != "_id").collect();
                    let shown = with_all(map! { foreign.as_str() => 1 }, &all(&chosen, 1));
                    map! { "find" => collection.as_str(), "filter" => filter, "projection" => shown }
                })
            }
            _ => route.joined(row, &one.name),
        };
        let list = if matches!(route, Route::Rows) {
            if keeps_list { format!("reorder({others}, '_id', {ids})") } else { others.clone() }
        } else if keeps_list {
            format!("reorder({others}, '_id', {ids})")
        } else {
            let belongs = self.belonging(&one, row, &ids, &foreign);
            format!("{others}.filter(o, {belongs})")
        };
        let stages = if one.is_many {
            self.inner(one.entity, &mut one.selection, keeps_list)
        } else if matches!(route, Route::Rows) || foreign == "_id" {
            vec![map! { "$project" => all(one.read(), 1) }]
        } else {
            vec![map! { "$project" => with_all(map! { foreign.as_str() => 1 }, &all(one.read(), 1)) }]
        };
        let is_alone = one.with.is_empty();
        let ends = [&collection, local.as_str(), &foreign];
        let value = self.with_joined((depth, row), (list, &others), route, &mut one, (ends, stages), made)?;
        Ok(if one.is_many {
            format!("'{}': {value}", one.name)
        } else if !is_alone {
            format!("'{up}': {value}[0]")
        } else if one.fields.len() > 1 {
            // The others are looked through once, not once for each field.
            format!("'{up}': {value}.map(o, {{{}}})[0]", picked_fields("o", &one.fields))
        } else {
            picked(up, &format!("{value}[0]"), &one.fields)
        })
    }

    /// What rows have of the record around them.
    fn around_part(&mut self, depth: usize, route: &Route, mut one: Related, made: &mut Added) -> Derived<String> {
        let (shape, variable) = (self.documents.shape, ROWS[depth]);
        let up = self.model().relations[one.relation].up();
        let around = format!("{variable}.{up}");
        if one.with.is_empty() {
            return Ok(picked(up, &around, &one.fields));
        }
        let is_around_that = |inner: &Related| !inner.is_many && shape.word(inner.relation) == Word::Embed;
        let (Route::Queries(rows), false) = (route, one.with.iter().any(is_around_that)) else {
            let message = format!("`with` inside of `with: {up}`, and that record is around each row");
            return refuse_shape(one.relation, message, "not derived", "try `reference` here");
        };
        let all = self.fresh(&format!("{up}_"));
        made.steps.push(keep(&all, format!("{rows}.map({variable}, {around})")));
        let (value, _) =
            self.with_each(depth + 1, format!("[{around}]"), &Route::Queries(all), &mut one, &mut made.steps)?;
        Ok(format!("'{up}': {value}[0]"))
    }

    /// What rows have of the records in an array of theirs.
    fn inside_part(
        &mut self,
        (depth, row): (usize, &str),
        route: &Route,
        mut one: Related,
        made: &mut Added,
    ) -> Derived<String> {
        let down = self.model().relations[one.relation].down();
        let array = in_order(format!("{row}.{down}"), &one.selection);
        let inner = match route {
            Route::Queries(_) if one.with.is_empty() => Route::Rows,
            Route::Queries(rows) => {
                let all = self.fresh(&format!("{down}_"));
                made.steps.push(keep(&all, format!("flatten({rows}.map({}, {row}.{down}))", ROWS[depth])));
                Route::Queries(all)
            }
            Route::Rows => Route::Document(row.to_owned(), vec![down.to_owned()]),
            Route::Document(found, path) => Route::Document(found.clone(), [&path[..], &[down.to_owned()]].concat()),
        };
        let (value, joins) = self.with_each(depth + 1, array, &inner, &mut one, &mut made.steps)?;
        made.joins.extend(joins);
        Ok(format!("'{down}': {value}"))
    }

    /// The condition by which another one, `o`, belongs to a row that has these `_id`s of others.
    fn belonging(&self, one: &Related, row: &str, ids: &str, foreign: &str) -> String {
        let (shape, this) = (self.documents.shape, &self.model().relations[one.relation]);
        let (up, down) = (this.up(), this.down());
        match (one.is_many, one.is_down) {
            (true, true) if shape.word(one.relation) == Word::List => format!("o._id in {ids}"),
            (true, true) => format!("o.{up} == {row}._id"),
            // With copies in the list, only a record that is read as a whole has `_id`s there.
            (true, false) if foreign != down && !one.selection.fields.is_empty() => {
                format!("{row}._id in pluck(o.{down}, '_id')")
            }
            (true, false) => format!("{row}._id in o.{down}"),
            _ if shape.up_word(one.relation) == Word::List => format!("{row}._id in o.{foreign}"),
            _ => format!("o._id == {row}.{up}"),
        }
    }

    /// Reads what a condition on keys finds into a variable, unless there are none.
    pub fn queried(
        &mut self,
        every: String,
        name: &str,
        made: &mut Added,
        find: impl FnOnce(&Self, Node) -> Node,
    ) -> String {
        let (keys, others) = (self.fresh("keys"), self.fresh(name));
        made.steps.push(map! { "let" => map! { keys.as_str() => every, others.as_str() => "[]" } });
        let find = find(self, map! { "$in" => slot(&keys) });
        made.steps.push(unless_empty(&keys, vec![with(find, "as", others.as_str())]));
        others
    }

    /// A list of others, each with what is related to it; on other routes than by queries these are joined from a collection, by
    /// two fields, with stages.
    pub fn with_joined(
        &mut self,
        (depth, row): (usize, &str),
        (list, others): (String, &str),
        route: &Route,
        one: &mut Related,
        ([collection, local, foreign], mut stages): ([&str; 3], Vec<Node>),
        made: &mut Added,
    ) -> Derived<String> {
        let inner = if matches!(route, Route::Queries(_)) { Route::Queries(others.to_owned()) } else { Route::Rows };
        let (value, joins) = self.with_each(depth + 1, list, &inner, one, &mut made.steps)?;
        stages.extend(joins.into_iter().map(|(_, stage)| stage));
        let (name, path) = match route {
            Route::Queries(_) => (None, &[][..]),
            Route::Rows => (others.strip_prefix(&format!("{row}.")), &[][..]),
            Route::Document(found, path) => (others.strip_prefix(&format!("{found}.")), &path[..]),
        };
        if let Some(name) = name {
            let stage = lookup(collection, &prefixed(path, local), foreign, stages, name);
            made.joins.push((name.to_owned(), stage));
        }
        Ok(value)
    }

    /// A list of others, each with what is related to it, and the stages that join that.
    fn with_each(
        &mut self,
        depth: usize,
        list: String,
        route: &Route,
        one: &mut Related,
        steps: &mut Vec<Node>,
    ) -> Derived<(String, Vec<(String, Node)>)> {
        if one.with.is_empty() {
            return Ok((list, Vec::new()));
        }
        let variable = ROWS[depth];
        let own = self.own_part(one.entity, variable, &one.fields, &one.selection.fields);
        let added = self.add(depth, variable, route, std::mem::take(&mut one.with))?;
        steps.extend(added.steps);
        let parts = [vec![own], added.parts].concat().join(", ");
        Ok((format!("{list}.map({variable}, {{{parts}}})"), added.joins))
    }

    /// The fields by which rows and others are related: that of the rows, and that of the others, which gets an index.
    fn ends(&mut self, one: &Related) -> Derived<(String, String)> {
        let this = &self.model().relations[one.relation];
        if !one.is_many {
            let (local, foreign) = self.joint(one.relation)?;
            return Ok((local.to_owned(), foreign));
        }
        let list = self.documents.shape.list_id(self.model(), one.relation);
        if one.is_down && self.documents.shape.word(one.relation) == Word::List {
            return Ok((list, "_id".to_owned()));
        }
        let subject = PathEnd::Many(String::new(), one.relation, one.is_down);
        self.index_selection(&subject, &map! {}, &one.selection.sort);
        Ok(("_id".to_owned(), if one.is_down { this.up().to_owned() } else { list }))
    }

    /// The fields by which documents of the many side find that of the one side: their own, and that of the other, which gets
    /// an index.
    pub fn joint(&mut self, relation: usize) -> Derived<(&'m str, String)> {
        let this = &self.model().relations[relation];
        if self.documents.shape.up_word(relation) == Word::List {
            let field = self.documents.shape.list_id(self.model(), relation);
            self.documents.index(&self.model().collection(this.one), &[(field.clone(), 1)], false);
            return Ok(("_id", field));
        }
        self.needs_documents(relation)?;
        Ok((this.up(), "_id".to_owned()))
    }
}
