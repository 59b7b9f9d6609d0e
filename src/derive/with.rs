//! `get`, and the related records that `with` adds to a record or to the rows of a list.

use crate::scenario::{Node, Span, Spanned};

use super::build::{map, slot, with};
use super::document::unwinds;
use super::model::{PathEnd, RelationKind, option, texts};
use super::read::{Rows, Selection, in_order, prefixed};
use super::refusal::{Derived, refuse, refuse_shape};
use super::shape::Word;
use super::translate::{LogicalReply, Options, Translation, id_of, name_reply};

/// Related records: the name of the relation, and fields or the options of a list.
type Include = (Spanned<String>, Node);

impl Translation<'_, '_> {
    pub fn get(&mut self, target: &str, options: &Options) -> Derived<LogicalReply> {
        let subject = self.subject(target, false)?;
        let fields = texts(option(options, "fields"));
        let by = texts(option(options, "by"));
        let includes = option(options, "with").and_then(Node::as_mapping).unwrap_or_default();
        let entity = self.entity_of(&subject);
        self.check_fields(entity, &fields)?;
        self.check_fields(entity, &by)?;
        match &subject {
            PathEnd::Record(argument, entity) if includes.is_empty() => self.record(argument, *entity, &fields, &by),
            PathEnd::Record(argument, entity) => self.record_with(argument, *entity, &by, includes),
            PathEnd::One(argument, entity, relation) if includes.is_empty() && by.is_empty() => {
                self.one_side(argument, *entity, *relation, &fields)
            }
            PathEnd::One(..) => {
                refuse(format!("`with` or `by` in `get: {target}`"), "not derived", "get the record itself")
            }
            _ => refuse(format!("`get: {target}` leads to many records"), "one record is needed", "try `list`"),
        }
    }

    /// A filter by unique fields, with the index that makes them so.
    fn filter_by(&mut self, argument: &str, entity: usize, by: &[String]) -> Derived<Node> {
        let (collection, path) = self.documents.shape.home(self.model(), entity);
        if let (false, Some(relation)) = (path.is_empty(), self.model().parent_of(entity)) {
            let message =
                format!("`by` of a record inside of another one: `{}` is `embed`", self.model().key(relation));
            return refuse_shape(
                relation,
                message,
                "no unique index holds inside of arrays",
                "try `reference` or `list`",
            );
        }
        let keys: Vec<(String, i64)> = by.iter().map(|field| (field.clone(), 1)).collect();
        self.documents.index(&collection, &keys, true);
        Ok(by.iter().fold(map! {}, |made, field| with(made, field, slot(&format!("{argument}.{field}")))))
    }

    fn record(&mut self, argument: &str, entity: usize, fields: &[String], by: &[String]) -> Derived<LogicalReply> {
        let (collection, path, mut filter) = self.locate(argument, entity);
        if !by.is_empty() {
            filter = self.filter_by(argument, entity, by)?;
        }
        if path.len() > 1 {
            let rows = self.record_rows(argument, entity);
            let mut stages = rows.stages;
            stages.push(self.record_stage(&rows.path, fields));
            let reply = LogicalReply::of(map! { "aggregate" => rows.collection, "pipeline" => stages });
            return Ok(reply.map(|_| "reply[0]".to_owned()));
        }
        let command = map! { "findOne" => collection, "filter" => filter };
        let Some(array) = path.first() else {
            let projection = self.projection(entity, fields);
            return Ok(LogicalReply::of(
                projection.map_or(command.clone(), |fields| with(command, "projection", fields)),
            ));
        };
        let projection = map! { "_id" => 0, format!("{array}.$") => 1 };
        Ok(LogicalReply::of(with(command, "projection", projection)).map(|_| format!("reply.{array}[0]")))
    }

    /// The one record that the record of an argument belongs or refers to.
    fn one_side(&mut self, argument: &str, entity: usize, relation: usize, fields: &[String]) -> Derived<LogicalReply> {
        let model = self.model();
        let this = &model.relations[relation];
        let (one, path) = self.documents.shape.home(model, this.one);
        match self.documents.shape.word(relation) {
            Word::Embed if path.is_empty() => {
                let (collection, _, filter) = self.locate(argument, entity);
                let command = map! { "findOne" => collection, "filter" => filter };
                let projection = self.projection(this.one, fields);
                Ok(LogicalReply::of(projection.map_or(command.clone(), |fields| with(command, "projection", fields))))
            }
            Word::Embed => {
                let (collection, inner, filter) = self.locate(argument, entity);
                let id = slot(&format!("{argument}._id"));
                let mut stages = vec![map! { "$match" => filter }];
                stages.extend(unwinds(&path));
                stages.push(map! { "$match" => map! { id_of(&inner) => id } });
                stages.push(self.record_stage(&path, fields));
                let reply = LogicalReply::of(map! { "aggregate" => collection, "pipeline" => stages });
                Ok(reply.map(|_| "reply[0]".to_owned()))
            }
            Word::List => {
                self.documents.index(&one, &[(this.down().to_owned(), 1)], false);
                let command =
                    map! { "findOne" => one, "filter" => map! { this.down() => slot(&format!("{argument}._id")) } };
                let projection = self.projection(this.one, fields);
                Ok(LogicalReply::of(projection.map_or(command.clone(), |fields| with(command, "projection", fields))))
            }
            Word::Reference => {
                self.needs_documents(relation)?;
                let rows = self.record_rows(argument, entity);
                let mut stages = rows.stages;
                stages.push(lookup(&one, &prefixed(&rows.path, this.up()), "_id", Vec::new(), "joined"));
                stages.push(map! { "$unwind" => "$joined" });
                stages.push(self.record_stage(&["joined".to_owned()], fields));
                if let Some(arrays) = self.projection(this.one, fields).filter(|_| fields.is_empty()) {
                    stages.push(map! { "$project" => arrays });
                }
                let reply = LogicalReply::of(map! { "aggregate" => rows.collection, "pipeline" => stages });
                Ok(reply.map(|_| "reply[0]".to_owned()))
            }
        }
    }

    /// Refuses a record on the one side that has no document of its own.
    fn needs_documents(&self, relation: usize) -> Derived<()> {
        let model = self.model();
        let one = model.relations[relation].one;
        let (collection, path) = self.documents.shape.home(model, one);
        let Some(embedding) = model.parent_of(one).filter(|_| !path.is_empty()) else { return Ok(()) };
        let message = format!(
            "the `{}` of `{}` is inside of a document of {collection}: `{}` is `embed`",
            self.model().relations[relation].up(),
            model.name(model.relations[relation].many),
            model.key(embedding)
        );
        refuse_shape(
            embedding,
            message,
            "no query finds it from there",
            "try `reference` here, or write this operation by hand",
        )
    }

    fn record_with(
        &mut self,
        argument: &str,
        entity: usize,
        by: &[String],
        includes: &[Include],
    ) -> Derived<LogicalReply> {
        let model = self.model();
        let (collection, path, mut filter) = self.locate(argument, entity);
        if !by.is_empty() {
            filter = self.filter_by(argument, entity, by)?;
        }
        let found = self.fresh("found");
        let (mut first, record, holder) = self.first_read(entity, &found, &path, collection, filter, includes)?;
        let before = first.len();
        let mut parts = vec![format!("'{}': {record}", model.name(entity))];
        let mut made = Vec::new();
        for include in includes {
            let (name, node) = (include.0.value.as_str(), &include.1);
            let (relation, is_down) = model.relation(entity, name)?;
            let is_many = is_down || model.relations[relation].kind == RelationKind::Listing;
            let (reply, fields) = if is_many {
                (self.included_many(argument, &record, relation, is_down, node)?, Vec::new())
            } else {
                let fields = texts(Some(node));
                self.check_fields(model.relations[relation].one, &fields)?;
                (self.included_one(argument, (&record, holder.as_deref()), entity, relation, &fields)?, fields)
            };
            let value = if reply.steps.is_empty() {
                reply.value
            } else {
                let variable = self.fresh(&format!("{name}_"));
                let mut steps = reply.steps;
                name_reply(&mut steps, &reply.value, &variable);
                first.extend(steps);
                made.push(variable.clone());
                variable
            };
            let picked: Vec<String> = fields.iter().map(|field| format!("'{field}': {value}.{field}")).collect();
            parts.push(format!(
                "'{name}': {}",
                if fields.is_empty() { value } else { format!("{{{}}}", picked.join(", ")) }
            ));
        }
        let is_certain =
            model.argument(self.operation, argument).is_some_and(|one| one.is_loaded) && !model.is_deleted(entity);
        if !made.is_empty() && !is_certain {
            // The record may be gone: what belongs to it is null then.
            let then = first.split_off(before);
            let null = |name: &String| (name.clone(), Node::from("null"));
            first.push(map! { "let" => super::build::mapping(made.iter().map(null).collect()) });
            first.push(map! { "if" => format!("{record} != null"), "then" => then });
        }
        Ok(LogicalReply { steps: first, value: format!("{{{}}}", parts.join(", ")) })
    }

    /// The read of the record itself, with what its document has of the others: steps, the record, the document around it.
    fn first_read(
        &mut self,
        entity: usize,
        found: &str,
        path: &[String],
        collection: String,
        filter: Node,
        includes: &[Include],
    ) -> Derived<(Vec<Node>, String, Option<String>)> {
        let model = self.model();
        let command = map! { "findOne" => collection.as_str(), "filter" => filter.clone() };
        let named = |name: &str| includes.iter().find(|(include, _)| include.value == name);
        match path {
            [] => {
                let projection = self.projection(entity, &[]).map(|node| {
                    let arrays =
                        node.as_mapping().unwrap_or_default().iter().filter(|(key, _)| named(&key.value).is_none());
                    arrays.fold(map! {}, |made, (key, _)| with(made, &key.value, 0))
                });
                let projection = projection.filter(|node| node.as_mapping().is_some_and(|arrays| !arrays.is_empty()));
                let command = projection.map_or(command.clone(), |arrays| with(command, "projection", arrays));
                Ok((vec![with(command, "as", found)], found.to_owned(), None))
            }
            [array] => {
                let parent = model.parent_of(entity).map(|relation| &model.relations[relation]);
                let fields = parent.and_then(|relation| named(relation.up())).map(|(_, node)| texts(Some(node)));
                let start = map! { format!("{array}.$") => 1 };
                let all = || parent.into_iter().flat_map(|relation| &model.entity(relation.one).fields);
                let fields = match fields {
                    Some(fields) if fields.is_empty() => all().map(|(name, _)| name.value.clone()).collect(),
                    other => other.unwrap_or_default(),
                };
                let fields = fields.iter().filter(|field| *field != "_id");
                let projection = fields.fold(start, |made, field| with(made, field, 1));
                let record = self.fresh("record");
                let keep = map! { "let" => map! { record.as_str() => format!("{found}.{array}[0]") } };
                let read = with(with(command, "projection", projection), "as", found);
                Ok((vec![read, keep], record, Some(found.to_owned())))
            }
            _ => {
                let relation = model.parent_of(entity).unwrap_or_default();
                let message = format!("`with` of a record inside of two arrays: `{}`", model.key(relation));
                refuse_shape(
                    relation,
                    message,
                    "deeper than this shape can give",
                    "try `reference` for one of the relations",
                )
            }
        }
    }

    /// The many records of a relation of the record that was read, which is in a variable.
    fn included_many(
        &mut self,
        argument: &str,
        record: &str,
        relation: usize,
        is_down: bool,
        node: &Node,
    ) -> Derived<LogicalReply> {
        let model = self.model();
        let this = &model.relations[relation];
        let fields: Vec<Include> = vec![(Spanned::new("fields".to_owned(), Span::default()), node.clone())];
        let options: &Options = match node.as_mapping() {
            Some(options) => options,
            None if node.as_list().is_some() => &fields,
            None => &[],
        };
        let known = ["where", "sort", "reverse", "limit", "fields", "unordered"];
        if let Some((key, _)) = options.iter().find(|(key, _)| !known.contains(&key.value.as_str())) {
            let help = "make it an operation of its own, or write this one by hand";
            return refuse(format!("`{}` inside of `with`", key.value), "deeper than `with` goes", help);
        }
        let subject = PathEnd::Many(argument.to_owned(), relation, is_down);
        let path = if is_down { this.down() } else { this.up() };
        let selection: Selection = self.selection(path, &subject, options)?;
        let is_simple = selection.is_whole() && !selection.has_filter();
        match self.documents.shape.word(relation) {
            Word::Embed if is_down && is_simple => {
                Ok(LogicalReply { steps: Vec::new(), value: in_order(format!("{record}.{path}"), &selection) })
            }
            Word::List if is_down => Ok(self.listed(argument, Some(record), relation, selection)),
            _ => {
                let entity = self.entity_of(&subject);
                self.selected(&subject, entity, selection)
            }
        }
    }

    /// The one record that the record that was read belongs or refers to; `found`: the record, and the document around it.
    fn included_one(
        &mut self,
        argument: &str,
        found: (&str, Option<&str>),
        entity: usize,
        relation: usize,
        fields: &[String],
    ) -> Derived<LogicalReply> {
        let this = &self.model().relations[relation];
        let (record, holder) = found;
        match (self.documents.shape.word(relation), holder) {
            (Word::Embed, Some(holder)) => Ok(LogicalReply { steps: Vec::new(), value: holder.to_owned() }),
            (Word::Reference, _) => {
                self.needs_documents(relation)?;
                let key = self.fresh("key");
                let keep = map! { "let" => map! { key.as_str() => format!("{record}.{}", this.up()) } };
                let collection = self.model().collection(this.one);
                let command = map! { "findOne" => collection, "filter" => map! { "_id" => slot(&key) } };
                let projection = self.projection(this.one, fields);
                let command = projection.map_or(command.clone(), |fields| with(command, "projection", fields));
                Ok(LogicalReply { steps: vec![keep, command], value: "reply".to_owned() })
            }
            _ => self.one_side(argument, entity, relation, fields),
        }
    }

    /// The rows of a list, each with the records that it belongs or refers to.
    pub fn list_with(
        &mut self,
        subject: &PathEnd,
        entity: usize,
        selection: Selection,
        includes: &[Include],
    ) -> Derived<LogicalReply> {
        let model = self.model();
        let mut wanted = Vec::new();
        for (name, node) in includes {
            let (relation, is_down) = model.relation(entity, &name.value)?;
            let fields = texts(Some(node));
            if is_down || model.relations[relation].kind == RelationKind::Listing {
                let message = format!("`with: {}` in a list needs many records for each row", name.value);
                return refuse(message, "deeper than `with` goes", "get one record `with` them, or write it by hand");
            }
            if fields.is_empty() {
                let help = format!("for example `with: {{ {}: [name] }}`", name.value);
                return refuse(format!("`with: {}` in a list without fields", name.value), "which fields?", help);
            }
            self.check_fields(model.relations[relation].one, &fields)?;
            wanted.push((relation, fields));
        }
        let name = model.name(entity);
        let is_inside = |relation: usize| self.documents.shape.word(relation) == Word::Embed;
        let (mut steps, rows, row) = if wanted.iter().any(|(relation, _)| is_inside(*relation)) {
            let inside = wanted.iter().find(|(relation, _)| is_inside(*relation));
            let (rows, _) = self.rows(subject, &selection.filter)?;
            let command = rows_with_owner(rows, &selection, name, inside.map_or(&[], |(_, fields)| fields), {
                inside.map_or("", |(relation, _)| model.relations[*relation].up())
            });
            let mut reply = LogicalReply::of(command);
            reply.steps.splice(..0, selection.before);
            let (steps, rows) = self.kept(reply, "rows");
            (steps, rows, format!("r.{name}"))
        } else if self.documents.shape.is_joined && self.documents.shape.home(model, entity).1.is_empty() {
            return self.list_joined(subject, entity, selection, &wanted);
        } else {
            let reply = self.selected(subject, entity, selection)?;
            let (steps, rows) = self.kept(reply, "rows");
            (steps, rows, "r".to_owned())
        };
        let mut parts = vec![format!("'{name}': {row}")];
        for (relation, fields) in &wanted {
            let this = &model.relations[*relation];
            let up = this.up();
            let owner = match self.documents.shape.word(*relation) {
                Word::Embed => format!("r.{up}"),
                word => {
                    let is_listed = word == Word::List;
                    if !is_listed {
                        self.needs_documents(*relation)?;
                    }
                    let (keys, owners) = (self.fresh("keys"), self.fresh("owners"));
                    let collection = model.collection(this.one);
                    let key = if is_listed { "_id" } else { up };
                    steps.push(map! { "let" => map! { keys.as_str() => format!("{rows}.map(r, {row}.{key})") } });
                    let field = if is_listed { this.down() } else { "_id" };
                    self.documents.index(&collection, &[(field.to_owned(), 1)], false);
                    let chosen = fields.iter().filter(|field| *field != "_id");
                    let chosen = chosen.fold(map! { field => 1 }, |made, field| with(made, field, 1));
                    let filter = map! { field => map! { "$in" => slot(&keys) } };
                    let find = map! { "find" => collection, "filter" => filter, "projection" => chosen };
                    steps.push(with(find, "as", owners.as_str()));
                    let is_owner =
                        if is_listed { format!("{row}._id in o.{field}") } else { format!("o._id == {row}.{up}") };
                    format!("{owners}.filter(o, {is_owner})[0]")
                }
            };
            parts.push(picked(up, &owner, fields));
        }
        Ok(LogicalReply { steps, value: format!("{rows}.map(r, {{{}}})", parts.join(", ")) })
    }

    /// The same in one aggregation.
    fn list_joined(
        &mut self,
        subject: &PathEnd,
        entity: usize,
        selection: Selection,
        wanted: &[(usize, Vec<String>)],
    ) -> Derived<LogicalReply> {
        let model = self.model();
        let (rows, _) = self.rows(subject, &selection.filter)?;
        if rows.path.is_empty() {
            self.index_selection(subject, entity, &selection);
        }
        let mut stages = rows.stages;
        stages.extend(selection.stages(&rows.path));
        if !rows.path.is_empty() {
            stages.push(self.record_stage(&rows.path, &[]));
        }
        let mut parts = vec![format!("'{}': r", model.name(entity))];
        for (relation, fields) in wanted {
            let this = &model.relations[*relation];
            let name = format!("{}_", this.up());
            self.needs_documents(*relation)?;
            let (local, foreign) = match self.documents.shape.word(*relation) {
                Word::List => ("_id", this.down()),
                _ => (this.up(), "_id"),
            };
            let collection = model.collection(this.one);
            self.documents.index(&collection, &[(foreign.to_owned(), 1)], false);
            let chosen = fields.iter().fold(map! {}, |made, field| with(made, field, 1));
            stages.push(lookup(&collection, local, foreign, vec![map! { "$project" => chosen }], &name));
            parts.push(picked(this.up(), &format!("r.{name}[0]"), fields));
        }
        let mut reply = LogicalReply::of(map! { "aggregate" => rows.collection, "pipeline" => stages });
        reply.steps.splice(..0, selection.before);
        Ok(reply.map(|_| format!("reply.map(r, {{{}}})", parts.join(", "))))
    }
}

/// `'owner': {'name': OWNER.name}`
fn picked(name: &str, owner: &str, fields: &[String]) -> String {
    let fields: Vec<String> = fields.iter().map(|field| format!("'{field}': {owner}.{field}")).collect();
    format!("'{name}': {{{}}}", fields.join(", "))
}

/// The selected rows as documents of the record and of fields of the one around it.
fn rows_with_owner(rows: Rows, selection: &Selection, name: &str, fields: &[String], up: &str) -> Node {
    let mut stages = rows.stages;
    stages.extend(selection.stages(&rows.path));
    let outer = &rows.path[..rows.path.len() - 1];
    let value = |field: &String| format!("${}", prefixed(outer, field));
    let owner = fields.iter().fold(map! {}, |made, field| with(made, field, value(field)));
    let record = format!("${}", rows.path.join("."));
    stages.push(map! { "$project" => map! { "_id" => 0, name => record, up => owner } });
    map! { "aggregate" => rows.collection, "pipeline" => stages }
}

fn lookup(from: &str, local: &str, foreign: &str, pipeline: Vec<Node>, name: &str) -> Node {
    let start = map! { "from" => from, "localField" => local, "foreignField" => foreign };
    let start = if pipeline.is_empty() { start } else { with(start, "pipeline", pipeline) };
    map! { "$lookup" => with(start, "as", name) }
}
