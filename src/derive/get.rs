//! `get`: one record, by itself.

use crate::scenario::Node;

use super::build::{find_one, map, slot, with};
use super::located::Located;
use super::model::{PathEnd, option, texts};
use super::picked::{copy_of, picked_copies};
use super::refusal::{Derived, refuse, refuse_shape};
use super::reply::LogicalReply;
use super::rows::Rows;
use super::shape::{Word, covers};
use super::stage::{lookup, mapped, prefixed};
use super::translate::{Options, Translation};

impl Translation<'_, '_> {
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
    pub fn located(&mut self, argument: &str, entity: usize, by: &[String]) -> Derived<Located> {
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
    pub fn element(&self, place: &Located, fields: &[String]) -> Node {
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
    pub fn one_side(
        &mut self,
        argument: &str,
        entity: usize,
        relation: usize,
        fields: &[String],
    ) -> Derived<LogicalReply> {
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
}
