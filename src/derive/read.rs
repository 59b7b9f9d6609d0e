//! Reads: `list`, `count` and `sum`, and the rows that they begin with.

use crate::scenario::{Node, Scalar, Spanned, Tree};

use super::build::{all, is_empty, keep, map, slot, with, with_all};
use super::document::unwinds;
use super::model::{PathEnd, RelationKind, option};
use super::order::sorted;
use super::refusal::{Derived, refuse};
use super::selection::Selection;
use super::shape::Word;
use super::translate::{LogicalReply, Options, Translation, id_of, name_reply};

/// Records as the output of a pipeline.
pub(super) struct Rows {
    pub collection: String,
    pub stages: Vec<Node>,
    /// The path of a record in a row, empty where the row is the record.
    pub path: Vec<String>,
}

impl Rows {
    pub fn then(mut self, stages: impl IntoIterator<Item = Node>) -> Rows {
        self.stages.extend(stages);
        self
    }
}

impl Translation<'_, '_> {
    /// The rows of the record of an argument, or of any path of a record.
    pub fn record_rows(&mut self, argument: &str, entity: usize) -> Rows {
        let place = self.locate(argument, entity);
        let mut stages = vec![map! { "$match" => place.filter }];
        if !place.path.is_empty() {
            stages.extend(unwinds(&place.path));
            stages.push(map! { "$match" => map! { id_of(&place.path) => place.id } });
        }
        Rows { collection: place.collection, stages, path: place.path }
    }

    /// The field of documents of their own by which a path finds them, with its value.
    fn origin(&self, subject: &PathEnd) -> Option<(String, Node)> {
        let PathEnd::Many(from, relation, is_down) = subject else { return None };
        let up = self.model().relations[*relation].up().to_owned();
        let field = if *is_down { up } else { self.documents.shape.list_id(self.model(), *relation) };
        Some((field, slot(&format!("{from}._id"))))
    }

    /// The rows of the path of a read; `filter` is what will be asked of them.
    pub fn rows(&mut self, subject: &PathEnd, filter: &Node) -> Derived<Rows> {
        let model = self.model();
        let (from, relation, is_down) = match subject {
            PathEnd::All(entity) => return Ok(self.all_rows(*entity, filter)),
            PathEnd::Many(from, relation, is_down) => (from, *relation, *is_down),
            PathEnd::Record(..) | PathEnd::One(..) => {
                return refuse("a path to one record", "many records are needed here", "try `get`");
            }
        };
        let this = &model.relations[relation];
        let word = self.documents.shape.word(relation);
        if !is_down || word == Word::Reference {
            let collection = model.collection(model.entity_of(subject));
            let stages = self.origin(subject).map(|(field, id)| map! { "$match" => map! { field => id } });
            return Ok(Rows { collection, stages: stages.into_iter().collect(), path: Vec::new() });
        }
        if word == Word::Bucket {
            return Ok(self.bucket_rows(from, relation));
        }
        let mut rows = self.record_rows(from, this.one);
        if word == Word::Embed {
            rows.path.push(this.down().to_owned());
            let unwind = map! { "$unwind" => format!("${}", rows.path.join(".")) };
            return Ok(rows.then([unwind]));
        }
        let local = self.documents.shape.list_id(model, relation);
        let lookup = lookup(&model.collection(this.many), &local, "_id", Vec::new(), "joined");
        Ok(Rows { path: vec!["joined".to_owned()], ..rows }.then([lookup, map! { "$unwind" => "$joined" }]))
    }

    /// The rows of all records of an entity of which a condition may hold.
    fn all_rows(&mut self, entity: usize, filter: &Node) -> Rows {
        let (collection, path) = self.documents.shape.home(self.model(), entity);
        let certain = filter.as_mapping().unwrap_or_default().iter().filter(|(_, value)| holds_in_arrays(value));
        let certain = certain.fold(map! {}, |made, (key, value)| with(made, &key.value, value.clone()));
        let mut stages = Vec::new();
        if !path.is_empty() {
            if let Some([(first, value), rest @ ..]) = certain.as_mapping() {
                self.documents.index(&collection, &[(prefixed(&path, &first.value), 1)], false);
                // Otherwise each bound may hold for another element, and the server scans the index from one bound only.
                let is_range = value.as_mapping().is_some_and(|bounds| bounds.len() > 1);
                stages.push(map! { "$match" => if is_range || !rest.is_empty() {
                    map! { path.join(".") => map! { "$elemMatch" => certain.clone() } }
                } else {
                    prefix_keys(&certain, &path)
                } });
            }
            stages.extend(unwinds(&path));
        }
        Rows { collection, stages, path }
    }

    pub fn list(&mut self, target: &str, options: &Options) -> Derived<LogicalReply> {
        let subject = self.subject(target, true)?;
        let selection = self.selection(target, &subject, options)?;
        let entity = self.model().entity_of(&subject);
        let includes = option(options, "with").and_then(Node::as_mapping).unwrap_or_default();
        if includes.is_empty() {
            return self.selected(&subject, entity, selection);
        }
        if !selection.fields.is_empty() {
            let help = "leave `fields` out, or the related records";
            return refuse("`fields` and `with` in one list", "not derived", help);
        }
        self.list_with(&subject, entity, selection, includes)
    }

    /// The selected records, by the command that fits the shape.
    pub fn selected(&mut self, subject: &PathEnd, entity: usize, selection: Selection) -> Derived<LogicalReply> {
        let word = match subject {
            PathEnd::Many(_, relation, is_down) => is_down.then(|| self.documents.shape.word(*relation)),
            _ => None,
        };
        let is_apart = self.documents.shape.home(self.model(), entity).1.is_empty();
        if let PathEnd::Many(from, relation, true) = subject
            && let Some((field, value)) = self.newest_part(*relation, &selection, "reply")
        {
            let place = self.locate(from, self.model().relations[*relation].one);
            let value = format!("reply == null ? [] : {value}");
            return Ok(LogicalReply { steps: vec![place.find(Some(map! { "_id" => 0, field => 1 }))], value });
        }
        if let PathEnd::Many(from, relation, false) = subject
            && self.is_back(*relation, &selection)
        {
            let this = &self.model().relations[*relation];
            let (place, up) = (self.locate(from, this.many), this.up());
            let fields: Vec<String> = selection.named().map(|field| format!("{up}.{field}")).collect();
            let projection = with_all(map! { "_id" => 0 }, &all(&fields, 1));
            let value = in_order(format!("reply.{up}"), &selection);
            return Ok(LogicalReply {
                steps: vec![place.find(Some(projection))],
                value: format!("reply == null ? [] : {value}"),
            });
        }
        match (subject, word) {
            (PathEnd::Many(from, relation, _), Some(Word::Bucket)) => {
                if let Some(reply) = self.pages(from, *relation, &selection) {
                    return Ok(reply);
                }
            }
            (PathEnd::Many(from, relation, _), Some(Word::Embed)) if is_whole_array(&selection) => {
                let depth = self.documents.shape.home(self.model(), self.model().relations[*relation].one).1.len();
                if depth == 0 {
                    return Ok(self.whole_array(from, *relation, selection));
                }
            }
            (PathEnd::Many(from, relation, _), Some(Word::List)) if self.is_copied(*relation, &selection) => {
                return Ok(self.whole_array(from, *relation, selection));
            }
            (PathEnd::Many(from, relation, _), Some(Word::List)) if !self.documents.shape.is_joined => {
                return Ok(self.listed(from, None, *relation, selection));
            }
            (PathEnd::Many(_, relation, _), Some(Word::List)) if self.keeps_list(*relation, &selection) => {
                return self.joined_in_order(subject, *relation, selection);
            }
            _ => {}
        }
        if is_apart && word != Some(Word::List) {
            return Ok(self.found(subject, entity, selection));
        }
        let rows = self.rows(subject, &selection.filter)?;
        let mut stages = selection.stages(&rows.path);
        stages.push(self.record_stage(&rows.path, &selection.fields));
        stages.extend(self.documents.restored(entity).filter(|_| selection.fields.is_empty()));
        let reply = LogicalReply::piped(rows.then(stages), "reply");
        Ok(LogicalReply { steps: [selection.before, reply.steps].concat(), ..reply })
    }

    /// The stage that makes a row the record.
    pub fn record_stage(&self, path: &[String], fields: &[String]) -> Node {
        if fields.is_empty() {
            return map! { "$replaceWith" => format!("${}", path.join(".")) };
        }
        let has_id = fields.iter().any(|field| field == "_id");
        let start = all(if has_id { &[][..] } else { &["_id"] }, 0);
        let value = |field: &String| format!("${}", prefixed(path, field));
        map! { "$project" => fields.iter().fold(start, |made, field| with(made, field, value(field))) }
    }

    /// A `find` of documents of their own.
    fn found(&mut self, subject: &PathEnd, entity: usize, selection: Selection) -> LogicalReply {
        let collection = self.model().collection(entity);
        self.index_selection(subject, &selection.filter, &selection.sort);
        let start = self.origin(subject).map_or_else(|| map! {}, |(field, id)| map! { field => id });
        let mut command = map! { "find" => collection, "filter" => with_all(start, &selection.filter) };
        let sort = (!selection.sort.is_empty()).then(|| selection.sort_node(&[]));
        let projection = self.projection(entity, &selection.fields);
        let parts = [("sort", sort), ("skip", selection.skip), ("limit", selection.limit), ("projection", projection)];
        for (key, value) in parts {
            command = value.into_iter().fold(command, |command, value| with(command, key, value));
        }
        LogicalReply { steps: [selection.before, vec![command]].concat(), value: "reply".to_owned() }
    }

    /// The index for a selection of documents of their own: the relation, equal fields, the order, ranges.
    pub fn index_selection(&mut self, subject: &PathEnd, filter: &Node, sort: &[(String, i64)]) {
        let (collection, path) = self.documents.shape.home(self.model(), self.model().entity_of(subject));
        let is_found = match subject {
            PathEnd::Many(_, relation, true) => self.documents.shape.word(*relation) == Word::Reference,
            _ => path.is_empty(),
        };
        if !is_found {
            return;
        }
        let conditions = filter.as_mapping().unwrap_or_default().iter().filter(|(key, _)| !key.value.starts_with('$'));
        let (equal, ranges): (Vec<_>, Vec<_>) = conditions.partition(|(_, value)| value.as_mapping().is_none());
        let ascending = |entries: Vec<&(Spanned<String>, Node)>| -> Vec<(String, i64)> {
            entries.into_iter().map(|(key, _)| (key.value.clone(), 1)).collect()
        };
        let origin = self.origin(subject).map(|(field, _)| vec![(field, 1)]).unwrap_or_default();
        self.documents.index(
            &collection,
            &[origin, ascending(equal), sort.to_vec(), ascending(ranges)].concat(),
            false,
        );
    }

    /// The array of a document, or a part of it that its own order gives.
    fn whole_array(&mut self, from: &str, relation: usize, selection: Selection) -> LogicalReply {
        let this = &self.model().relations[relation];
        let place = self.locate(from, this.one);
        let down = this.down();
        let mut steps = selection.before.clone();
        let part = match (&selection.skip, &selection.limit) {
            (None, None) => None,
            (None, Some(limit)) if selection.is_reverse => Some(match limit.tree {
                Tree::Scalar(Scalar::Int(limit)) => Node::from(-limit),
                _ => {
                    let name = self.fresh("last_ones");
                    steps.push(keep(
                        &name,
                        format!("-{}", limit.as_text().unwrap_or_default().trim_matches(['<', '>'])),
                    ));
                    slot(&name)
                }
            }),
            (skip, limit) => {
                let skip = skip.clone().unwrap_or_else(|| 0.into());
                Some(vec![skip, limit.clone().unwrap_or_else(|| i64::from(i32::MAX).into())].into())
            }
        };
        let projection = match part {
            Some(part) => map! { "_id" => 1, down => map! { "$slice" => part } },
            None if selection.fields.is_empty() => map! { "_id" => 0, down => 1 },
            None => {
                let fields: Vec<String> = selection.named().map(|field| format!("{down}.{field}")).collect();
                with_all(map! { "_id" => 0 }, &all(&fields, 1))
            }
        };
        steps.push(place.find(Some(projection)));
        let value = in_order(format!("reply.{down}"), &selection);
        LogicalReply { steps, value }
    }

    /// Whether the copies in a list are all that is asked of its records.
    pub fn is_copied(&self, relation: usize, selection: &Selection) -> bool {
        selection.is_covered(self.documents.shape.listed(relation))
    }

    /// The same of the list in a record of the many side.
    pub fn is_back(&self, relation: usize, selection: &Selection) -> bool {
        let shape = self.documents.shape;
        shape.is_mutual(self.model(), relation) && selection.is_covered(shape.referenced(relation))
    }

    /// Whether records come in the order of the list that names them.
    fn keeps_list(&self, relation: usize, selection: &Selection) -> bool {
        let is_listing = self.model().relations[relation].kind == RelationKind::Listing;
        is_listing && selection.sort.is_empty() && !selection.is_unordered
    }

    /// The records whose `_id`s are in a list, by two queries, or by one if the document with the list is in a variable.
    pub fn listed(&mut self, from: &str, known: Option<&str>, relation: usize, selection: Selection) -> LogicalReply {
        let this = &self.model().relations[relation];
        let entity = this.many;
        let place = self.locate(from, this.one);
        let keeps_list = self.keeps_list(relation, &selection);
        let found = known.map_or_else(|| self.fresh("found"), str::to_owned);
        let ids = self.fresh("ids");
        let list = self.documents.shape.list_id(self.model(), relation);
        let mut steps = selection.before.clone();
        if known.is_none() {
            let projection = map! { "_id" => 0, list.as_str() => 1 };
            steps.push(with(place.find(Some(projection)), "as", found.as_str()));
        }
        steps.push(keep(&ids, format!("{found} == null ? [] : {found}.{list}")));
        let is_whole = selection.is_whole();
        let sort = if is_whole { Vec::new() } else { selection.sort.clone() };
        let mut fields = selection.fields.clone();
        if !fields.is_empty() && is_whole && (keeps_list || !selection.sort.is_empty()) {
            // What puts them in order has to come along.
            let order = selection.sort.iter().map(|(field, _)| field.clone()).chain(["_id".to_owned()]);
            fields.extend(order.filter(|field| !selection.fields.contains(field)).collect::<Vec<_>>());
        }
        let by_id = map! { "_id" => map! { "$in" => slot(&ids) } };
        let part = Selection { sort, fields, before: Vec::new(), filter: map! {}, ..selection };
        let mut reply = self.found(&PathEnd::All(entity), entity, part);
        let command = reply.steps.pop().unwrap_or_else(|| map! {});
        steps.push(with(command, "filter", with_all(by_id, &selection.filter)));
        let value = match (keeps_list, is_whole && !selection.sort.is_empty()) {
            (true, _) => format!("reorder(reply, '_id', {ids})"),
            (false, true) => sorted("reply", &selection.sort),
            (false, false) => "reply".to_owned(),
        };
        LogicalReply { steps, value }
    }

    /// The same by `$lookup`, which does not keep the order of the list.
    fn joined_in_order(&mut self, subject: &PathEnd, relation: usize, selection: Selection) -> Derived<LogicalReply> {
        let mut rows = self.rows(subject, &selection.filter)?;
        let (list, this) = (self.documents.shape.list_id(self.model(), relation), &self.model().relations[relation]);
        // Without `$unwind` one row has the list and the records.
        rows.stages.truncate(rows.stages.len() - 2);
        let wanted = (!is_empty(&selection.filter)).then(|| map! { "$match" => selection.filter.clone() });
        let chosen = with(all(&selection.fields, 1), "_id", 1);
        let chosen = (!selection.fields.is_empty()).then(|| map! { "$project" => chosen });
        let inner = wanted.into_iter().chain(chosen).collect();
        let lookup = lookup(&self.model().collection(this.many), &list, "_id", inner, "joined");
        let rows = rows.then([lookup, map! { "$project" => map! { "_id" => 0, list.as_str() => 1, "joined" => 1 } }]);
        Ok(LogicalReply::piped(rows, format!("reorder(reply[0].joined, '_id', reply[0].{list})")))
    }

    pub fn count(&mut self, target: &str, options: &Options) -> Derived<LogicalReply> {
        let subject = self.subject(target, true)?;
        let (shape, model) = (self.documents.shape, self.model());
        let filter = self.condition(model.entity_of(&subject), options, "where")?;
        if let PathEnd::Many(from, relation, true) = &subject
            && is_empty(&filter)
            && let Some(reply) = self.total(from, *relation, None)
        {
            return Ok(reply);
        }
        if let PathEnd::Many(from, relation, true) = &subject
            && shape.word(*relation) == Word::Bucket
            && is_empty(&filter)
        {
            return Ok(self.count_pages(from, *relation));
        }
        if let PathEnd::Many(from, relation, true) = &subject
            && shape.word(*relation) != Word::Reference
            && shape.home(model, model.relations[*relation].one).1.is_empty()
            && is_empty(&filter)
        {
            let this = &model.relations[*relation];
            let size = map! { "_id" => 0, "n" => map! { "$size" => format!("${}", this.down()) } };
            let rows = self.record_rows(from, this.one).then([map! { "$project" => size }]);
            return Ok(LogicalReply::piped(rows, NUMBER));
        }
        self.index_selection(&subject, &filter, &[]);
        let rows = self.rows(&subject, &filter)?;
        if rows.path.is_empty() {
            let start = rows.stages.first().and_then(|stage| stage.get("$match")).cloned().unwrap_or_else(|| map! {});
            let command = map! { "countDocuments" => rows.collection, "filter" => with_all(start, &filter) };
            return Ok(LogicalReply::of(command));
        }
        if let (PathEnd::All(_), [array], true) = (&subject, &rows.path[..], is_empty(&filter)) {
            let size = map! { "$sum" => map! { "$size" => format!("${array}") } };
            return Ok(grouped(Rows { stages: Vec::new(), ..rows }, &filter, size));
        }
        Ok(grouped(rows, &filter, map! { "$sum" => 1 }))
    }

    pub fn sum(&mut self, target: &str, options: &Options) -> Derived<LogicalReply> {
        let Some((path, field)) = target.rsplit_once('.') else {
            return refuse("`sum` of no field", "a path ends with a field", "for example `sum: order.lines.cents`");
        };
        let subject = self.subject(path, true)?;
        let entity = self.model().entity_of(&subject);
        self.check_fields(entity, &[field.to_owned()])?;
        let filter = self.condition(entity, options, "where")?;
        if let PathEnd::Many(from, relation, true) = &subject
            && is_empty(&filter)
            && let Some(reply) = self.total(from, *relation, Some(field))
        {
            return Ok(reply);
        }
        self.index_selection(&subject, &filter, &[]);
        let rows = self.rows(&subject, &filter)?;
        let sum = map! { "$sum" => format!("${}", prefixed(&rows.path, field)) };
        Ok(grouped(rows, &filter, sum))
    }

    /// Steps that run the command of a selection and keep its rows under a name.
    pub fn kept(&mut self, mut reply: LogicalReply, name: &str) -> (Vec<Node>, String) {
        let name = self.fresh(name);
        name_reply(&mut reply.steps, &reply.value, &name);
        (reply.steps, name)
    }
}

/// The expression of a whole array in the order of a selection.
pub(super) fn in_order(array: String, selection: &Selection) -> String {
    match (&selection.sort, selection.by_arrival) {
        (sort, _) if sort.is_empty() => array,
        (_, true) if selection.is_reverse => format!("reverse({array})"),
        (_, true) => array,
        (sort, false) => sorted(&array, sort),
    }
}

/// Whether an array as it is, or one part of it, is the selection.
fn is_whole_array(selection: &Selection) -> bool {
    let is_part = selection.by_arrival && selection.fields.is_empty();
    let is_reverse_page = selection.is_reverse && selection.skip.is_some();
    is_empty(&selection.filter) && (selection.is_whole() || is_part && !is_reverse_page)
}

/// The number of a pipeline that gives one document, or none.
const NUMBER: &str = "size(reply) == 0 ? 0 : reply[0].n";

/// One number about rows.
fn grouped(rows: Rows, filter: &Node, number: Node) -> LogicalReply {
    let wanted = (!is_empty(filter)).then(|| map! { "$match" => prefix_keys(filter, &rows.path) });
    let null = Node { span: crate::scenario::Span::default(), tree: Tree::Scalar(Scalar::Null) };
    let group = map! { "$group" => map! { "_id" => null, "n" => number } };
    LogicalReply::piped(rows.then(wanted).then([group]), NUMBER)
}

/// Joins the documents of another collection.
pub(super) fn lookup(from: &str, local: &str, foreign: &str, pipeline: Vec<Node>, name: &str) -> Node {
    let start = map! { "from" => from, "localField" => local, "foreignField" => foreign };
    let start = if pipeline.is_empty() { start } else { with(start, "pipeline", pipeline) };
    map! { "$lookup" => with(start, "as", name) }
}

/// A field of a record that is at a path.
pub(super) fn prefixed(path: &[String], field: &str) -> String {
    path.iter().map(String::as_str).chain([field]).collect::<Vec<_>>().join(".")
}

/// A condition on the fields of a record, for rows that have it at a path.
pub(super) fn prefix_keys(filter: &Node, path: &[String]) -> Node {
    let entries = filter.as_mapping().unwrap_or_default().iter();
    entries.fold(map! {}, |made, (key, value)| match value.as_list() {
        Some(items) if key.value.starts_with('$') => {
            with(made, &key.value, items.iter().map(|item| prefix_keys(item, path)).collect::<Vec<_>>())
        }
        _ => with(made, &prefixed(path, &key.value), value.clone()),
    })
}

/// Whether a condition that holds for an element of an array also holds for the array.
fn holds_in_arrays(value: &Node) -> bool {
    const POSITIVE: [&str; 6] = ["$eq", "$gt", "$gte", "$in", "$lt", "$lte"];
    value.as_mapping().is_none_or(|entries| entries.iter().all(|(key, _)| POSITIVE.contains(&key.value.as_str())))
}
