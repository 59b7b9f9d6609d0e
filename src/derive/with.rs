//! The related records that `with` adds to a record or to the rows of a list.

use crate::scenario::{Node, Spanned};

use super::build::{find_one, is_empty, keep, map, slot, with};
use super::first_read::FirstRead;
use super::model::{PathEnd, RelationKind};
use super::picked::{picked, picked_copies};
use super::read::in_order;
use super::refusal::{Derived, refuse};
use super::related::{Related, Route, fields_of, inner_of, options_of};
use super::reply::LogicalReply;
use super::selection::Selection;
use super::shape::Word;
use super::split::{Parts, REST};
use super::stage::{joining, picks, prefixed, sliced};
use super::translate::Translation;

/// Related records: the name of the relation, and fields or the options of a list.
pub(super) type Include = (Spanned<String>, Node);

impl Translation<'_, '_> {
    pub fn record_with(
        &mut self,
        argument: &str,
        entity: usize,
        own: &[String],
        by: &[String],
        includes: &[Include],
    ) -> Derived<LogicalReply> {
        let model = self.model();
        let place = self.located(argument, entity, by)?;
        let divided = self.parts(entity, own);
        let asked = divided.as_ref().map_or(own, |divided| &divided.main);
        let mut read = self.first_read(entity, asked, &place, includes)?;
        let record = read.record.clone();
        let (mut then, mut made) = (Vec::new(), Vec::new());
        let whole = match &divided {
            Some(divided) => self.whole(entity, &mut read, divided, &mut then),
            None => record.clone(),
        };
        made.extend(divided.map(|_| whole.clone()));
        let mut parts = vec![picked(model.name(entity), &whole, own)];
        for (Spanned { value: name, .. }, node) in includes {
            let (relation, is_down) = model.relation(entity, name)?;
            let is_many = is_down || model.relations[relation].kind == RelationKind::Listing;
            let fields = if is_many { Vec::new() } else { fields_of(node) };
            let inner = inner_of(node);
            let this = &model.relations[relation];
            let other = if is_down { this.many } else { this.one };
            let (shown, divided) = (fields_of(node), self.first_documents(other, node));
            let (asked, node) = divided.as_ref().map_or((&fields, node), |(parts, node)| (&parts.main, node));
            if !is_many && !inner.is_empty() {
                let (steps, rows, value) =
                    self.included_one_with(argument, &mut read, (entity, relation), &fields, inner)?;
                then.extend(steps);
                made.push(rows);
                parts.push(format!("'{name}': {value}"));
                continue;
            }
            if !is_many && self.documents.shape.has_of_one(relation, &fields) {
                read.show(self.needed_of_one(relation, &fields));
                parts.push(format!("'{name}': {}", picked_copies(name, &record, &fields)));
                continue;
            }
            let reply = if is_many {
                self.included_many(argument, &mut read, relation, is_down, node)?
            } else {
                self.check_fields(this.one, &fields)?;
                self.included_one(argument, &mut read, entity, relation, asked)?
            };
            let reply = match &divided {
                Some((parts, _)) => self.with_rest(other, reply, &shown, parts, is_many)?,
                None => reply,
            };
            let value = if reply.steps.is_empty() {
                reply.value
            } else {
                let (steps, variable) = self.kept(reply, &format!("{name}_"));
                then.extend(steps);
                made.push(variable.clone());
                variable
            };
            parts.push(picked(name, &value, &fields));
        }
        let mut steps = read.steps();
        let is_loaded = model.argument(self.operation, argument).is_some_and(|one| one.is_loaded);
        if !made.is_empty() && (!is_loaded || model.is_deleted(entity) || model.is_changed(entity, by)) {
            // The record may be gone, or have other values now: what belongs to it is null then.
            steps.push(map! { "let" => made.iter().fold(map! {}, |nulls, name| with(nulls, name, "null")) });
            steps.push(map! { "if" => format!("{record} != null"), "then" => then });
        } else {
            steps.extend(then);
        }
        Ok(LogicalReply { steps, value: format!("{{{}}}", parts.join(", ")) })
    }

    /// What `with` asks of the first documents of records that have two, and its options for these; `None` where that is all.
    fn first_documents(&self, entity: usize, node: &Node) -> Option<(Parts, Node)> {
        let mut parts = self.parts(entity, &fields_of(node))?;
        if parts.main.is_empty() {
            let own = self.model().entity(entity).fields.iter().map(|(name, _)| name.value.clone());
            parts.main = own.filter(|field| !self.documents.is_split_off(entity, field)).collect();
        }
        let fields: Vec<Node> = parts.main.iter().map(|field| field.as_str().into()).collect();
        let options = if node.as_mapping().is_some() {
            node.clone()
        } else {
            map! {}
        };
        Some((parts, with(options, "fields", fields)))
    }

    /// The variable with a record of two documents, and the steps that compute it where there is one.
    fn whole(&mut self, entity: usize, read: &mut FirstRead, parts: &Parts, then: &mut Vec<Node>) -> String {
        let rest = if self.documents.shape.is_joined {
            let (details, inner) = self.rest_join(entity, parts);
            format!("{}[0]", read.join(REST, &details, ("_id", "_id"), inner))
        } else {
            let (find, rest) = self.read_rest("findOne", entity, slot(&format!("{}._id", read.record)), parts);
            then.push(find);
            rest
        };
        let whole = self.fresh("whole");
        then.push(keep(&whole, format!("{rest} == null ? null : merge({}, {rest})", read.record)));
        whole
    }

    /// The many records of a relation of the record that was read, which is in a variable.
    fn included_many(
        &mut self,
        argument: &str,
        read: &mut FirstRead,
        relation: usize,
        is_down: bool,
        node: &Node,
    ) -> Derived<LogicalReply> {
        let (model, record) = (self.model(), read.raw.clone());
        let this = &model.relations[relation];
        let options = &options_of(node);
        let known = ["where", "sort", "reverse", "limit", "fields", "unordered", "with"];
        if let Some((key, _)) = options.iter().find(|(key, _)| !known.contains(&key.value.as_str())) {
            let help = "make it an operation of its own, or write this one by hand";
            return refuse(format!("`{}` inside of `with`", key.value), "deeper than `with` goes", help);
        }
        let subject = PathEnd::Many(argument.to_owned(), relation, is_down);
        let path = if is_down { this.down() } else { this.up() };
        let entity = model.entity_of(&subject);
        let wanted = self.related(entity, inner_of(node), 2, Some(relation))?;
        let mut selection: Selection = self.selection(path, &subject, options)?;
        let shown = selection.fields.clone();
        self.extend(entity, &mut selection.fields, &wanted);
        let fields = selection.fields.clone();
        let is_alone = wanted.is_empty();
        let is_simple = selection.is_whole() && is_empty(&selection.filter);
        if is_down
            && is_alone
            && let Some((field, value)) = self.newest_part(relation, &selection, &record)
        {
            read.show([field]);
            return Ok(LogicalReply { steps: Vec::new(), value });
        }
        if !is_down && is_alone && self.is_back(relation, &selection) {
            read.show_array(path, &selection);
            return Ok(LogicalReply { steps: Vec::new(), value: in_order(format!("{record}.{path}"), &selection) });
        }
        let is_cut = selection.is_array() && shown.is_empty() && read.path.is_empty();
        let reply = match self.documents.shape.word(relation) {
            Word::Link => self.selected(&subject, entity, selection)?,
            Word::Embed if is_down && !is_simple && is_cut => {
                read.before.append(&mut selection.before);
                let part = self.part(&mut selection, &mut read.before).unwrap_or_default();
                read.cut(path, part, self.documents.shape.is_joined);
                LogicalReply { steps: Vec::new(), value: in_order(format!("{record}.{path}"), &selection) }
            }
            Word::Embed if is_down && is_simple => {
                read.show_array(path, &selection);
                LogicalReply { steps: Vec::new(), value: in_order(format!("{record}.{path}"), &selection) }
            }
            Word::List if is_down && is_simple && self.is_copied(relation, &selection) => {
                read.show_array(path, &selection);
                LogicalReply { steps: Vec::new(), value: in_order(format!("{record}.{path}"), &selection) }
            }
            word if self.is_joinable(&subject, word) => return self.include(read, &subject, selection, shown, wanted),
            Word::List if is_down || self.documents.shape.is_mutual(model, relation) => {
                read.show([self.ids_of(relation, is_down)]);
                self.listed(argument, Some(&record), (relation, is_down), selection)
            }
            _ => self.selected(&subject, entity, selection)?,
        };
        if is_alone {
            return Ok(reply);
        }
        let is_inside = reply.steps.is_empty() && self.documents.shape.is_joined;
        let (mut steps, rows, source) = if is_inside {
            let path = [&read.path[..], &[path.to_owned()]].concat();
            (Vec::new(), reply.value, Route::Document(read.found.clone(), path))
        } else {
            let (steps, rows) = self.kept(reply, path);
            (steps, rows.clone(), Route::Queries(rows))
        };
        let own = self.own_part(entity, "s", &shown, &fields);
        let added = self.add(1, "s", &source, wanted)?;
        for (name, stage) in added.joins {
            read.show([name]);
            read.joins.push(stage);
        }
        steps.extend(added.steps);
        let parts = [vec![own], added.parts].concat().join(", ");
        let value = format!("{rows}.map(s, {{{parts}}})");
        Ok(LogicalReply { steps, value: if is_inside { format!("{record} == null ? null : {value}") } else { value } })
    }

    /// Whether `$lookup` finds these records, which have documents of their own, from a record that was read.
    fn is_joinable(&self, subject: &PathEnd, word: Word) -> bool {
        let (model, shape) = (self.model(), self.documents.shape);
        let is_apart = shape.home(model, model.entity_of(subject)).1.is_empty();
        let is_down = matches!(subject, PathEnd::Many(_, _, true));
        shape.is_joined && is_apart && (!is_down || matches!(word, Word::List | Word::Reference))
    }

    /// The many records of a relation by `$lookup`.
    fn include(
        &mut self,
        read: &mut FirstRead,
        subject: &PathEnd,
        mut selection: Selection,
        shown: Vec<String>,
        wanted: Vec<Related>,
    ) -> Derived<LogicalReply> {
        let PathEnd::Many(_, relation, is_down) = *subject else {
            return Ok(LogicalReply { steps: Vec::new(), value: "[]".to_owned() });
        };
        let is_alone = wanted.is_empty();
        let own = self.own_part(self.model().entity_of(subject), "s", &shown, &selection.fields);
        let added = self.add(1, "s", &Route::Rows, wanted)?;
        let (model, shape) = (self.model(), self.documents.shape);
        let (entity, this) = (model.entity_of(subject), &model.relations[relation]);
        let (list, there) = (self.ids_of(relation, is_down), shape.list_id(model, relation));
        // The record that was read has their `_id`s.
        let has_ids = shape.is_mutual(model, relation) || is_down && shape.word(relation) == Word::List;
        let is_listed = is_down && has_ids;
        let keeps_list = is_listed && self.keeps_list(relation, &selection);
        let (local, foreign) = match (has_ids, is_down) {
            (true, _) => (list.as_str(), "_id"),
            (_, true) => ("_id", this.up()),
            (_, false) => ("_id", there.as_str()),
        };
        if !has_ids {
            self.index_selection(subject, &selection.filter, &selection.sort);
        }
        read.before.append(&mut selection.before);
        let part = if is_listed { self.part(&mut selection, &mut read.before) } else { None };
        read.joins.extend(part.map(|part| sliced("$set", this.down(), part)));
        let mut inner = self.inner(entity, &mut selection, keeps_list);
        inner.extend(added.joins.into_iter().map(|(_, stage)| stage));
        let name = if is_down { this.down() } else { this.up() };
        let (local, name) = (prefixed(&read.path, local), format!("{name}{}", if has_ids { "_" } else { "" }));
        let value = read.join(&name, &model.collection(entity), (&local, foreign), inner);
        let value = if keeps_list {
            read.show([list.clone()]);
            format!("reorder({value}, '_id', {}.{list})", read.raw)
        } else {
            value
        };
        let parts = [vec![own], added.parts].concat().join(", ");
        let rows = if is_alone { value } else { format!("{value}.map(s, {{{parts}}})") };
        let value = if keeps_list || !is_alone { format!("{} == null ? null : {rows}", read.found) } else { rows };
        Ok(LogicalReply { steps: added.steps, value })
    }

    /// The one record that the record that was read belongs or refers to.
    fn included_one(
        &mut self,
        argument: &str,
        read: &mut FirstRead,
        entity: usize,
        relation: usize,
        fields: &[String],
    ) -> Derived<LogicalReply> {
        let this = &self.model().relations[relation];
        let word = self.documents.shape.up_word(relation);
        // What is around the record has what it belongs to.
        let is_around = !read.path.is_empty() && matches!(word, Word::Embed | Word::Bucket);
        match word {
            Word::Embed if is_around => Ok(LogicalReply { steps: Vec::new(), value: read.found.clone() }),
            word if self.documents.shape.is_joined && word != Word::Embed => {
                let (local, foreign) = self.joint(relation)?;
                let local = if is_around { local.to_owned() } else { prefixed(&read.path, local) };
                let projection = self.projection(this.one, fields).map(|fields| map! { "$project" => fields });
                let from = self.model().collection(this.one);
                let value =
                    read.join(&format!("{}_", this.up()), &from, (&local, &foreign), projection.into_iter().collect());
                Ok(LogicalReply { steps: Vec::new(), value: format!("{value}[0]") })
            }
            Word::Reference | Word::Bucket | Word::Link => {
                self.needs_documents(relation)?;
                read.show([this.up().to_owned()]);
                let record = if is_around { &read.found } else { &read.record };
                let key = self.fresh("key");
                let collection = self.model().collection(this.one);
                let filter = map! { "_id" => slot(&key) };
                let command = find_one(&collection, filter, self.projection(this.one, fields));
                let steps = vec![keep(&key, format!("{record}.{}", this.up())), command];
                Ok(LogicalReply { steps, value: "reply".to_owned() })
            }
            _ => self.one_side(argument, entity, relation, fields),
        }
    }

    /// The one record that the record that was read belongs or refers to, with others that are related to it: the steps, the variable
    /// with a list of it, and the value.
    fn included_one_with(
        &mut self,
        argument: &str,
        read: &mut FirstRead,
        (entity, relation): (usize, usize),
        fields: &[String],
        inner: &[Include],
    ) -> Derived<(Vec<Node>, String, String)> {
        let this = &self.model().relations[relation];
        let (one, up) = (this.one, this.up());
        let wanted = self.related(one, inner, 2, Some(relation))?;
        let mut shown = fields.to_vec();
        self.check_fields(one, fields)?;
        self.extend(one, &mut shown, &wanted);
        let reply = self.included_one(argument, read, entity, relation, &shown)?;
        let (mut steps, found) = self.kept(reply, &format!("{up}_"));
        let rows = self.fresh("rows");
        steps.push(keep(&rows, format!("{found} == null ? [] : [{found}]")));
        let own = self.own_part(one, "s", fields, &shown);
        let added = self.add(1, "s", &Route::Queries(rows.clone()), wanted)?;
        steps.extend(added.steps);
        let parts = [vec![own], added.parts].concat().join(", ");
        let value = format!("{rows} == null ? null : {rows}.map(s, {{{parts}}})[0]");
        Ok((steps, rows, value))
    }

    /// The rows of a list, each with related records: by `$lookup`, or by a query for each relation.
    pub fn list_with(
        &mut self,
        subject: &PathEnd,
        entity: usize,
        mut selection: Selection,
        includes: &[Include],
    ) -> Derived<LogicalReply> {
        let wanted = self.related(entity, includes, 1, None)?;
        let (model, shape) = (self.model(), self.documents.shape);
        let name = model.name(entity);
        let shown = selection.fields.clone();
        self.extend(entity, &mut selection.fields, &wanted);
        let read = selection.fields.clone();
        let inside = wanted
            .iter()
            .find(|one| shape.word(one.relation) == Word::Embed && model.relations[one.relation].many == entity);
        let is_apart = shape.home(model, entity).1.is_empty();
        let mut row = "r".to_owned();
        let reply = match inside {
            None => self.selected(subject, entity, selection)?,
            Some(one) => {
                // Each row has the record, and fields of the one around it.
                row = format!("r.{name}");
                let rows = self.rows(subject, &selection.filter, !selection.has_no_index)?;
                let own = if read.is_empty() { self.narrowed(entity, &[]) } else { read.clone() };
                let record = if own.is_empty() {
                    format!("${}", rows.path.join(".")).into()
                } else {
                    picks(&prefixed(&rows.path, ""), &own)
                };
                let owner = picks(&prefixed(&rows.path[..rows.path.len() - 1], ""), one.read());
                let project = map! { "_id" => 0, name => record, model.relations[one.relation].up() => owner };
                let stages = [selection.stages(&rows.path), vec![map! { "$project" => project }]].concat();
                let reply = LogicalReply::piped(rows.then(stages), "reply");
                LogicalReply { steps: [selection.before, reply.steps].concat(), ..reply }
            }
        };
        let is_joined = inside.is_none() && shape.is_joined && is_apart && reply.value == "reply";
        let (mut steps, rows) = self.kept(reply, "rows");
        let source = if is_joined { Route::Rows } else { Route::Queries(rows.clone()) };
        let own = self.own_part(entity, &row, &shown, &read);
        let added = self.add(0, &row, &source, wanted)?;
        // Without queries of its own the read is the last step.
        if let Some(read) = steps.pop_if(|_| !added.joins.is_empty()) {
            let joins = added.joins.into_iter().map(|(_, stage)| stage).collect();
            steps.push(with(joining(&read, joins), "as", rows.as_str()));
        }
        steps.extend(added.steps);
        let parts = [vec![own], added.parts].concat().join(", ");
        Ok(LogicalReply { steps, value: format!("{rows}.map(r, {{{parts}}})") })
    }
}
