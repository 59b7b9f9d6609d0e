//! `get`, and the related records that `with` adds to a record or to the rows of a list.

use crate::scenario::{Node, Spanned};

use super::build::{all, find_one, is_empty, keep, map, slot, with, with_all};
use super::model::{PathEnd, RelationKind, option, texts};
use super::read::{Rows, in_order, joining, lookup, mapped, picks, prefixed, sliced};
use super::refusal::{Derived, refuse, refuse_shape};
use super::related::{Related, Route, fields_of, inner_of, options_of};
use super::selection::Selection;
use super::shape::{Word, covers};
use super::split::{Parts, REST};
use super::translate::{Located, LogicalReply, Options, Translation};

/// Related records: the name of the relation, and fields or the options of a list.
pub(super) type Include = (Spanned<String>, Node);

/// The read of a record that others are added to.
struct FirstRead {
    steps: Vec<Node>,
    /// The arrays around the record.
    path: Vec<String>,
    /// The variable with the document.
    found: String,
    /// The variable with the record.
    record: String,
    /// That with the record as it is stored.
    raw: String,
    /// The stages that join other documents, and the steps that these need.
    joins: Vec<Node>,
    before: Vec<Node>,
    /// The fields of the document that are needed; `None` for all.
    shown: Option<Vec<String>>,
}

impl FirstRead {
    /// Joins documents of another collection; returns the expression of them.
    fn join(&mut self, name: &str, from: &str, (local, foreign): (&str, &str), inner: Vec<Node>) -> String {
        self.joins.push(lookup(from, local, foreign, inner, name));
        self.show([name.to_owned()]);
        format!("{}.{name}", self.found)
    }

    /// Needs these fields of the document.
    fn show(&mut self, fields: impl IntoIterator<Item = String>) {
        if let Some(shown) = &mut self.shown {
            shown.extend(fields);
        }
    }

    /// Needs an array of the document, or what a selection names of its elements.
    fn show_array(&mut self, name: &str, selection: &Selection) {
        let named = selection.named().map(|field| format!("{name}.{field}"));
        let all = [name.to_owned()].into_iter();
        if selection.fields.is_empty() { self.show(all) } else { self.show(named) }
    }

    /// The projection to the fields that are needed.
    fn projection(&self) -> Option<Node> {
        let shown = self.shown.as_ref()?;
        let is_inside = |field: &&String| shown.iter().any(|other| field.starts_with(&format!("{other}.")));
        let needed: Vec<&String> = shown.iter().filter(|field| !is_inside(field)).collect();
        let has_id = needed.iter().any(|field| *field == "_id");
        let projection = all(&needed, 1);
        Some(if has_id { projection } else { with(projection, "_id", 0) })
    }

    /// Reads only a part of an array of the document.
    fn cut(&mut self, name: &str, part: Vec<Node>, is_joined: bool) {
        if is_joined {
            self.show([name.to_owned()]);
            return self.joins.push(sliced("$set", name, part));
        }
        let Some(read) = self.steps.first_mut() else { return };
        let shown = read.get("projection").cloned().unwrap_or_else(|| map! {});
        let part = if let [only] = &part[..] { only.clone() } else { part.into() };
        *read = with(read.clone(), "projection", with(shown, name, map! { "$slice" => part }));
    }

    /// The steps, in which one command reads all that is joined.
    fn steps(mut self) -> Vec<Node> {
        let projection = self.projection();
        if !self.joins.is_empty() {
            self.joins.extend(projection.map(|fields| map! { "$project" => fields }));
            let read = joining(&self.steps.remove(0), self.joins);
            self.steps.splice(0..0, [read, keep(&self.found, "reply[0]")]);
        } else if let (Some(fields), Some(read)) = (projection, self.steps.first_mut()) {
            let part = read.get("projection").cloned().unwrap_or_else(|| map! {});
            let alias = map! { "as" => self.found.as_str() };
            *read = with_all(with(read.clone(), "projection", with_all(fields, &part)), &alias);
        }
        [self.before, self.steps].concat()
    }
}

impl<'m> Translation<'_, 'm> {
    pub fn get(&mut self, target: &str, options: &Options) -> Derived<LogicalReply> {
        let subject = self.subject(target, false)?;
        let fields = texts(option(options, "fields"));
        let by = texts(option(options, "by"));
        let includes = option(options, "with").and_then(Node::as_mapping).unwrap_or_default();
        let entity = self.model().entity_of(&subject);
        self.check_fields(entity, &fields)?;
        self.check_fields(entity, &by)?;
        self.check_main(entity, &by, "`by`")?;
        let parts = self.parts(entity, &fields).filter(|_| includes.is_empty());
        let asked = parts.as_ref().map_or(&fields, |parts| &parts.main);
        let reply = match &subject {
            PathEnd::Record(argument, _) if by.is_empty() && parts.as_ref().is_some_and(|parts| parts.is_rest_only) => {
                return Ok(self.rest_alone(argument, entity, &fields));
            }
            PathEnd::Record(argument, entity) if includes.is_empty() => self.record(argument, *entity, asked, &by),
            PathEnd::Record(argument, entity) => self.record_with(argument, *entity, &fields, &by, includes),
            PathEnd::One(argument, entity, relation) if includes.is_empty() && by.is_empty() => {
                self.one_side(argument, *entity, *relation, asked)
            }
            PathEnd::One(..) => {
                refuse(format!("`with` or `by` in `get: {target}`"), "not derived", "get the record itself")
            }
            _ => refuse(format!("`get: {target}` leads to many records"), "one record is needed", "try `list`"),
        }?;
        match parts {
            Some(parts) => self.with_rest(entity, reply, &fields, &parts, false),
            None => Ok(reply),
        }
    }

    /// The record of an argument, which is known by its `_id` or by unique fields that get an index.
    fn located(&mut self, argument: &str, entity: usize, by: &[String]) -> Derived<Located> {
        let place = self.locate(argument, entity);
        if by.is_empty() {
            return Ok(place);
        }
        if let (false, Some(relation)) = (place.path.is_empty(), self.model().parent_of(entity)) {
            let message =
                format!("`by` of a record inside of another one: `{}` is `embed`", self.model().key(relation));
            let label = "no unique index holds inside of arrays";
            return refuse_shape(relation, message, label, "try `reference` or `list`");
        }
        let keys: Vec<(String, i64)> = by.iter().map(|field| (field.clone(), 1)).collect();
        self.documents.index(&place.collection, &keys, true);
        let value = |field: &String| slot(&format!("{argument}.{field}"));
        Ok(Located { filter: by.iter().fold(map! {}, |made, field| with(made, field, value(field))), ..place })
    }

    fn record(&mut self, argument: &str, entity: usize, fields: &[String], by: &[String]) -> Derived<LogicalReply> {
        let place = self.located(argument, entity, by)?;
        Ok(match &place.path[..] {
            [] => LogicalReply::of(place.find(self.projection(entity, fields))),
            [array] => LogicalReply {
                steps: vec![place.find(Some(with(self.element(&place, &self.narrowed(entity, fields)), "_id", 0)))],
                value: format!("reply.{array}[0]"),
            },
            path => {
                let stage = self.record_stage(entity, path, fields);
                LogicalReply::piped(self.record_rows(argument, entity).then([stage]), "reply[0]")
            }
        })
    }

    /// The projection of a record in an array: fields of it, or all.
    fn element(&self, place: &Located, fields: &[String]) -> Node {
        let array = place.path.join(".");
        if fields.is_empty() && !self.documents.shape.is_joined {
            return map! { format!("{array}.$") => 1 };
        }
        let is_it: Vec<Node> = vec!["$$this._id".into(), place.id.clone()];
        let input = map! { "input" => format!("${array}"), "cond" => map! { "$eq" => is_it } };
        let found = map! { "$filter" => input };
        map! { array => if fields.is_empty() { found } else { mapped(found, fields) } }
    }

    /// The one record that the record of an argument belongs or refers to.
    fn one_side(&mut self, argument: &str, entity: usize, relation: usize, fields: &[String]) -> Derived<LogicalReply> {
        let this = &self.model().relations[relation];
        let (one, path) = self.documents.shape.home(self.model(), this.one);
        let shape = self.documents.shape;
        if covers(shape.referenced(relation), fields) {
            let copies: Vec<String> = fields.iter().map(|field| copy_of(this.up(), field)).collect();
            let reply = self.record(argument, entity, &copies, &[])?;
            let value = picked_copies(this.up(), &reply.value, fields);
            return Ok(LogicalReply { value: format!("{} == null ? null : {value}", reply.value), ..reply });
        }
        let projection = self.projection(this.one, fields);
        match shape.up_word(relation) {
            Word::Embed if path.is_empty() => Ok(LogicalReply::of(self.locate(argument, entity).find(projection))),
            Word::Embed => {
                let mut rows = self.record_rows(argument, entity);
                // The arrays of the record itself are left as they are, and its element is found all the same.
                rows.stages.remove(1 + path.len());
                let stage = self.record_stage(this.one, &path, fields);
                Ok(LogicalReply::piped(rows.then([stage]), "reply[0]"))
            }
            Word::List => {
                let field = shape.list_id(self.model(), relation);
                self.documents.index(&one, &[(field.clone(), 1)], false);
                let filter = map! { field => slot(&format!("{argument}._id")) };
                Ok(LogicalReply::of(find_one(&one, filter, projection)))
            }
            Word::Reference | Word::Bucket | Word::Link => {
                self.needs_documents(relation)?;
                let mut rows = self.record_rows(argument, entity);
                if shape.word(relation) == Word::Bucket {
                    // The bucket has the `_id` of the record that all in it belong to.
                    rows = Rows { path: Vec::new(), ..rows };
                }
                let local = prefixed(&rows.path, this.up());
                let stages = [lookup(&one, &local, "_id", Vec::new(), "joined"), map! { "$unwind" => "$joined" }];
                let rows = rows.then(stages).then([self.record_stage(this.one, &["joined".to_owned()], fields)]);
                Ok(LogicalReply::piped(
                    rows.then(self.documents.restored(this.one).filter(|_| fields.is_empty())),
                    "reply[0]",
                ))
            }
        }
    }

    /// Refuses a record on the one side that has no document of its own.
    pub fn needs_documents(&self, relation: usize) -> Derived<()> {
        let model = self.model();
        let this = &model.relations[relation];
        let (collection, path) = self.documents.shape.home(model, this.one);
        let Some(embedding) = model.parent_of(this.one).filter(|_| !path.is_empty()) else { return Ok(()) };
        let (up, many, key) = (this.up(), model.name(this.many), model.key(embedding));
        let message = format!("the `{up}` of `{many}` is inside of a document of {collection}: `{key}` is `embed`");
        let help = "try `reference` here, or write this operation by hand";
        refuse_shape(embedding, message, "no query finds it from there", help)
    }

    fn record_with(
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

    /// The read of the record itself, with what its document has of the others: steps, the record, the document around it.
    fn first_read(
        &mut self,
        entity: usize,
        own: &[String],
        place: &Located,
        includes: &[Include],
    ) -> Derived<FirstRead> {
        let model = self.model();
        let found = self.fresh("found");
        let named = |name: &str| includes.iter().find(|(include, _)| include.value == name);
        let (mut steps, mut record, mut raw) = (Vec::new(), found.clone(), found.clone());
        let shown = (!own.is_empty() && place.path.is_empty()).then(|| own.to_vec());
        match &place.path[..] {
            [] if shown.is_some() => steps.push(with(place.find(None), "as", found.as_str())),
            [] => {
                let arrays = self.added(entity).into_iter().filter(|(name, _)| named(name).is_none());
                let arrays: Vec<String> = arrays.map(|(_, field)| field).collect();
                let projection = (!arrays.is_empty()).then(|| all(&arrays, 0));
                steps.push(with(place.find(projection), "as", found.as_str()));
                if let Some(relation) = self.documents.shape.copied_list(model, entity) {
                    let down = model.relations[relation].down();
                    record = self.fresh("record");
                    let ids = format!("merge({found}, {{'{down}': pluck({found}.{down}, '_id')}})");
                    steps.push(keep(&record, format!("{found} == null ? null : {ids}")));
                }
            }
            [array] => {
                let parent = model.parent_of(entity).map(|relation| &model.relations[relation]);
                let mut fields = Vec::new();
                if let Some((parent, (_, node))) = parent.and_then(|parent| Some((parent, named(parent.up())?))) {
                    let own = model.entity(parent.one).fields.iter().map(|(name, _)| name.value.clone());
                    fields = Some(fields_of(node)).filter(|all| !all.is_empty()).unwrap_or_else(|| own.collect());
                    fields = self.joining_fields(parent.one, &fields, inner_of(node))?;
                }
                fields.retain(|field| field != "_id");
                if let Some(relation) = self.documents.shape.bucketed(model, entity) {
                    fields = vec![model.relations[relation].up().to_owned()];
                }
                // Arrays that are asked for come with the whole record.
                let is_whole = self.added(entity).iter().any(|(name, _)| named(name).is_some());
                let chosen = if is_whole {
                    Vec::new()
                } else {
                    self.narrowed(entity, &self.joining_fields(entity, own, includes)?)
                };
                let projection = with_all(self.element(place, &chosen), &all(&fields, 1));
                record = self.fresh("record");
                raw.clone_from(&record);
                steps.push(with(place.find(Some(projection)), "as", found.as_str()));
                steps.push(keep(&record, format!("{found}.{array}[0]")));
            }
            _ => {
                let relation = model.parent_of(entity).unwrap_or_default();
                let message = format!("`with` of a record inside of two arrays: `{}`", model.key(relation));
                let help = "try `reference` for one of the relations";
                return refuse_shape(relation, message, "deeper than this shape can give", help);
            }
        }
        let (path, joins, before) = (place.path.clone(), Vec::new(), Vec::new());
        Ok(FirstRead { steps, path, found, record, raw, joins, before, shown })
    }

    /// The fields that are returned of a record, and those by which its relations are found; none for all.
    fn joining_fields(&self, entity: usize, own: &[String], includes: &[Include]) -> Derived<Vec<String>> {
        let model = self.model();
        let mut fields = own.to_vec();
        for (name, node) in includes.iter().filter(|_| !own.is_empty()) {
            let (relation, is_down) = model.relation(entity, &name.value)?;
            let this = &model.relations[relation];
            fields.extend(match (is_down, this.kind) {
                (true, RelationKind::Listing) if self.documents.shape.word(relation) == Word::List => {
                    vec![this.down().to_owned()]
                }
                (false, RelationKind::Children | RelationKind::Reference) => {
                    self.needed_of_one(relation, &fields_of(node))
                }
                _ => vec!["_id".to_owned()],
            });
        }
        Ok(fields)
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

/// `'owner': {'name': OWNER.name}`, or `'owner': OWNER` without fields.
pub(super) fn picked(name: &str, owner: &str, fields: &[String]) -> String {
    if fields.is_empty() {
        format!("'{name}': {owner}")
    } else {
        format!("'{name}': {{{}}}", picked_fields(owner, fields))
    }
}

/// `'name': OWNER.name`, for each of the fields.
pub(super) fn picked_fields(owner: &str, fields: &[String]) -> String {
    let all: Vec<String> = fields.iter().map(|field| format!("'{field}': {owner}.{field}")).collect();
    all.join(", ")
}

/// The field of a record with a copy of a field of the one that it belongs or refers to.
pub(super) fn copy_of(up: &str, field: &str) -> String {
    if field == "_id" { up.to_owned() } else { format!("{up}_{field}") }
}

/// Fields of the one that a record belongs or refers to, from its copies.
pub(super) fn picked_copies(up: &str, record: &str, fields: &[String]) -> String {
    let all: Vec<String> = fields.iter().map(|field| format!("'{field}': {record}.{}", copy_of(up, field))).collect();
    format!("{{{}}}", all.join(", "))
}
