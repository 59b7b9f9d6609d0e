//! `list`: the records that a selection chooses, by the command that fits the shape.

use crate::scenario::{Node, Scalar, Spanned, Tree};

use super::build::{all, is_empty, keep, map, pipeline, slot, with, with_all};
use super::model::{PathEnd, option};
use super::order::sorted;
use super::refusal::Derived;
use super::reply::{BATCH, LogicalReply, name_reply};
use super::selection::Selection;
use super::shape::Word;
use super::stage::{lookup, mapped, sliced, unless_empty};
use super::translate::{Options, Translation};

impl Translation<'_, '_> {
    pub fn list(&mut self, target: &str, options: &Options) -> Derived<LogicalReply> {
        let subject = self.subject(target, true)?;
        let selection = self.selection(target, &subject, options)?;
        let entity = self.model().entity_of(&subject);
        let includes = option(options, "with").and_then(Node::as_mapping).unwrap_or_default();
        if includes.is_empty() {
            return self.selected(&subject, entity, selection);
        }
        self.list_with(&subject, entity, selection, includes)
    }

    /// The selected records, by the command that fits the shape.
    pub fn selected(&mut self, subject: &PathEnd, entity: usize, selection: Selection) -> Derived<LogicalReply> {
        let Some(parts) = self.parts(entity, &selection.fields) else {
            return self.selected_documents(subject, entity, selection);
        };
        let (fields, main) = (selection.fields.clone(), parts.main.clone());
        let reply = self.selected_documents(subject, entity, Selection { fields: main, ..selection })?;
        self.with_rest(entity, reply, &fields, &parts, true)
    }

    /// The same, with what their first documents have.
    fn selected_documents(
        &mut self,
        subject: &PathEnd,
        entity: usize,
        mut selection: Selection,
    ) -> Derived<LogicalReply> {
        let word = match subject {
            PathEnd::Many(_, relation, is_down) => is_down.then(|| self.documents.shape.word(*relation)),
            _ => None,
        };
        let mut is_apart = self.documents.shape.home(self.model(), entity).1.is_empty();
        if let PathEnd::Many(from, relation, is_down) = subject
            && let Some(pairs) = self.documents.shape.pairs(self.model(), *relation, *is_down)
        {
            if let Some(reply) = self.paired(from, &pairs, entity, &selection) {
                return Ok(reply);
            }
            if !self.documents.shape.is_joined {
                let (find, links) = self.find_pairs(from, &pairs);
                let mut reply = self.listed(from, Some(&links), (*relation, *is_down), selection);
                reply.steps.insert(0, find);
                return Ok(reply);
            }
            is_apart = false;
        }
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
            (PathEnd::Many(from, relation, _), Some(Word::Embed))
                if selection.is_array() || selection.is_reverse_page() =>
            {
                let depth = self.documents.shape.home(self.model(), self.model().relations[*relation].one).1.len();
                if depth == 0 {
                    return Ok(self.whole_array(from, *relation, selection));
                }
            }
            (PathEnd::Many(from, relation, _), Some(Word::List)) => {
                let (shape, model) = (self.documents.shape, self.model());
                if self.is_copied(*relation, &selection) {
                    return Ok(self.whole_array(from, *relation, selection));
                }
                if shape.is_mutual(model, *relation) && !self.keeps_list(*relation, &selection) {
                    // Their own ends of the relation find the records in one query.
                    let back = map! { shape.back_id(model, *relation) => slot(&format!("{from}._id")) };
                    let filter = with_all(back, &selection.filter);
                    return Ok(self.found(&PathEnd::All(entity), entity, Selection { filter, ..selection }));
                }
                return Ok(if shape.is_joined {
                    self.joined(from, *relation, selection)
                } else {
                    self.listed(from, None, (*relation, true), selection)
                });
            }
            _ => {}
        }
        if is_apart {
            return Ok(self.found(subject, entity, selection));
        }
        let rows = self.rows(subject, &selection.filter, !selection.has_no_index)?;
        if selection.by_arrival && !selection.is_reverse {
            // The arrays have this order.
            selection.sort.clear();
        }
        let mut stages = selection.stages(&rows.path);
        stages.push(self.record_stage(entity, &rows.path, &selection.fields));
        stages.extend(self.documents.restored(entity).filter(|_| selection.fields.is_empty()));
        let mut command = pipeline(&rows.collection, [rows.stages, stages].concat());
        if selection.limit.is_none() {
            command = with(command, "batchSize", BATCH);
        }
        Ok(LogicalReply { steps: [selection.before, vec![command]].concat(), value: "reply".to_owned() })
    }

    /// A `find` of documents of their own.
    fn found(&mut self, subject: &PathEnd, entity: usize, selection: Selection) -> LogicalReply {
        let (filter, sort) = selection.indexed();
        self.index_selection(subject, &filter, sort);
        let start = self.origin(subject).map_or_else(|| map! {}, |(field, id)| map! { field => id });
        let command = self.find(entity, start, &selection);
        LogicalReply { steps: [selection.before, vec![command]].concat(), value: "reply".to_owned() }
    }

    /// The command for those of these documents that are selected.
    pub fn find(&self, entity: usize, start: Node, selection: &Selection) -> Node {
        found_in(&self.model().collection(entity), start, selection, self.projection(entity, &selection.fields))
    }

    /// The index for a selection of documents of their own: the relation, equal fields, the order, ranges.
    pub fn index_selection(&mut self, subject: &PathEnd, filter: &Node, sort: &[(String, i64)]) {
        self.index_fields(subject, filter, sort, None);
    }

    /// The same, with a field that is read of all of them, so that the index is enough.
    pub fn index_fields(&mut self, subject: &PathEnd, filter: &Node, sort: &[(String, i64)], read: Option<&str>) {
        let (collection, path) = self.documents.shape.home(self.model(), self.model().entity_of(subject));
        let is_found = match subject {
            PathEnd::Many(_, relation, _) if self.documents.shape.word(*relation) == Word::Link => false,
            PathEnd::Many(_, relation, true) => self.documents.shape.word(*relation) == Word::Reference,
            _ => path.is_empty(),
        };
        if !is_found {
            return;
        }
        let keys = keys(self.origin(subject).map(|(field, _)| field), filter, sort);
        self.documents.index(&collection, &keys, false);
        if let Some(field) = read.filter(|_| !keys.is_empty()) {
            self.documents.covering_index(&collection, [keys, vec![(field.to_owned(), 1)]].concat());
        }
    }

    /// The array of a document, or a part of it that its own order gives.
    fn whole_array(&mut self, from: &str, relation: usize, mut selection: Selection) -> LogicalReply {
        let this = &self.model().relations[relation];
        let place = self.locate(from, this.one);
        let mut steps = std::mem::take(&mut selection.before);
        let page = selection.is_reverse_page().then(|| selection.take_part());
        let part = self.part(&mut selection, &mut steps);
        let is_listed = self.documents.shape.word(relation) == Word::List;
        let fields = if is_listed { selection.fields.clone() } else { self.narrowed(this.many, &selection.fields) };
        let order = selection.order().filter(|field| !fields.is_empty() && !fields.contains(field));
        let fields = fields.iter().chain(order).cloned().collect::<Vec<_>>();
        let projection = match page {
            Some((skip, limit)) => {
                selection.is_reverse = false;
                let reversed = map! { "$reverseArray" => format!("${}", this.down()) };
                let part = map! { "$slice" => vec![reversed, skip, limit] };
                map! { "_id" => 0, this.down() => if fields.is_empty() { part } else { mapped(part, &fields) } }
            }
            None => array(this.down(), part, &fields),
        };
        steps.push(place.find(Some(projection)));
        LogicalReply { steps, value: in_order(format!("reply.{}", this.down()), &selection) }
    }

    /// Takes the part that a selection is of an array in its order: the last two arguments of `$slice`, or the last one.
    pub fn part(&mut self, selection: &mut Selection, steps: &mut Vec<Node>) -> Option<Vec<Node>> {
        if selection.is_whole() || !selection.is_array() {
            return None;
        }
        let (skip, limit) = selection.take_part();
        if !selection.is_reverse {
            return Some(vec![skip, limit]);
        }
        Some(vec![match limit.tree {
            Tree::Scalar(Scalar::Int(limit)) => Node::from(-limit),
            _ => {
                let name = self.fresh("last_ones");
                steps.push(keep(&name, format!("-{}", number(&limit))));
                slot(&name)
            }
        }])
    }

    /// Whether the copies in a list are all that is asked of its records.
    pub fn is_copied(&self, relation: usize, selection: &Selection) -> bool {
        let listed = self.documents.shape.listed(relation);
        let is_all = selection.fields.is_empty() && self.has_all(self.model().relations[relation].many, listed);
        selection.is_array() && (is_all || selection.is_covered(listed))
    }

    /// Whether these and the `_id` are all fields of an entity.
    pub fn has_all(&self, entity: usize, copied: &[String]) -> bool {
        let mut own = self.model().entity(entity).fields.iter();
        own.all(|(field, _)| field.value == "_id" || copied.contains(&field.value))
    }

    /// The same of the list in a record of the many side.
    pub fn is_back(&self, relation: usize, selection: &Selection) -> bool {
        let shape = self.documents.shape;
        let is_whole = selection.is_whole() && is_empty(&selection.filter);
        shape.is_mutual(self.model(), relation) && is_whole && selection.is_covered(shape.referenced(relation))
    }

    /// Whether records come in the order of the list that names them.
    pub fn keeps_list(&self, relation: usize, selection: &Selection) -> bool {
        self.model().relations[relation].has_order && selection.sort.is_empty() && !selection.is_unordered
    }

    /// The field with the `_id`s of the records to which a list leads, from the record that has it, or from one in it.
    pub fn ids_of(&self, relation: usize, is_down: bool) -> String {
        let (shape, model) = (self.documents.shape, self.model());
        if let Some(pairs) = shape.pairs(model, relation, is_down) {
            return pairs.far;
        }
        if is_down { shape.list_id(model, relation) } else { shape.back_id(model, relation) }
    }

    /// The records whose `_id`s are in a list, by two queries, or by one if the document with the list is in a variable.
    /// Without `_id`s there is none.
    pub fn listed(
        &mut self,
        from: &str,
        known: Option<&str>,
        (relation, is_down): (usize, bool),
        mut selection: Selection,
    ) -> LogicalReply {
        let this = &self.model().relations[relation];
        let (holder, entity) = if is_down { (this.one, this.many) } else { (this.many, this.one) };
        let place = self.locate(from, holder);
        let by_list = is_down && (selection.by_arrival || self.keeps_list(relation, &selection));
        let found = known.map_or_else(|| self.fresh("found"), str::to_owned);
        let [ids, rows] = ["ids", "rows"].map(|name| self.fresh(name));
        let list = self.ids_of(relation, is_down);
        let mut steps = std::mem::take(&mut selection.before);
        let part = self.part(&mut selection, &mut steps);
        let mut all = format!("{found}.{list}");
        match (known, part) {
            (None, part) => {
                let has_copies = !self.documents.shape.listed(relation).is_empty();
                let projection = array(this.down(), part, if has_copies { &ID } else { &[] });
                steps.push(with(place.find(Some(projection)), "as", found.as_str()));
            }
            (Some(_), None) => {}
            (Some(_), Some(part)) => {
                let [start, most] = [part.first(), part.get(1)].map(|part| part.map(number).unwrap_or_default());
                let end = if most.is_empty() { most } else { format!(", {start} + {most}") };
                all = format!("slice({all}, {start}{end})");
            }
        }
        steps.push(
            map! { "let" => map! { ids.as_str() => format!("{found} == null ? [] : {all}"), rows.as_str() => "[]" } },
        );
        let value = match selection.is_whole() {
            true if by_list && selection.is_reverse => format!("reverse(reorder({rows}, '_id', {ids}))"),
            true if by_list => format!("reorder({rows}, '_id', {ids})"),
            true if !selection.sort.is_empty() => sorted(&rows, &selection.sort),
            _ => rows.clone(),
        };
        if selection.is_whole() {
            // What puts them in order has to come along.
            let order: Vec<String> =
                if by_list { ID.map(str::to_owned).into() } else { selection.order().cloned().collect() };
            if !selection.fields.is_empty() {
                let missing = order.into_iter().filter(|field| !selection.fields.contains(field)).collect::<Vec<_>>();
                selection.fields.extend(missing);
            }
            selection.sort.clear();
        }
        let by_id = map! { "_id" => map! { "$in" => slot(&ids) } };
        let find = with(self.find(entity, by_id, &selection), "as", rows.as_str());
        steps.push(unless_empty(&ids, vec![find]));
        LogicalReply { steps, value }
    }

    /// The same by `$lookup`, which does not keep the order of the list.
    fn joined(&mut self, from: &str, relation: usize, mut selection: Selection) -> LogicalReply {
        let this = &self.model().relations[relation];
        let list = self.documents.shape.list_id(self.model(), relation);
        let keeps_list = self.keeps_list(relation, &selection);
        let mut steps = std::mem::take(&mut selection.before);
        let part = self.part(&mut selection, &mut steps);
        let mut rows = self.record_rows(from, this.one);
        rows = rows.then(part.map(|part| sliced("$project", this.down(), part)));
        let inner = self.inner(this.many, &mut selection, keeps_list);
        let rows = rows.then([lookup(&self.model().collection(this.many), &list, "_id", inner, "joined")]);
        let (last, value) = if keeps_list {
            let kept = map! { "_id" => 0, list.as_str() => 1, "joined" => 1 };
            (vec![map! { "$project" => kept }], format!("reorder(reply[0].joined, '_id', reply[0].{list})"))
        } else {
            (vec![map! { "$unwind" => "$joined" }, map! { "$replaceWith" => "$joined" }], "reply".to_owned())
        };
        let reply = LogicalReply::piped(rows.then(last), value);
        LogicalReply { steps: [steps, reply.steps].concat(), ..reply }
    }

    /// The stages inside of `$lookup` that select among documents of their own, which keep their `_id`s where a list orders them.
    pub fn inner(&self, entity: usize, selection: &mut Selection, keeps_id: bool) -> Vec<Node> {
        if keeps_id && !selection.fields.is_empty() && !selection.fields.contains(&ID[0].to_owned()) {
            selection.fields.push(ID[0].to_owned());
        }
        let projection = self.projection(entity, &selection.fields).map(|fields| map! { "$project" => fields });
        selection.stages(&[]).into_iter().chain(projection).collect()
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

/// The field by which records are known.
const ID: [&str; 1] = ["_id"];

/// The projection of an array of a document, or of a part of it: all of its records, or fields of them.
fn array(name: &str, part: Option<Vec<Node>>, fields: &[impl AsRef<str>]) -> Node {
    let Some(mut part) = part else {
        let dotted = fields.iter().map(|field| format!("{name}.{}", field.as_ref()));
        let named = if fields.is_empty() { vec![name.to_owned()] } else { dotted.collect() };
        return with_all(map! { "_id" => 0 }, &all(&named, 1));
    };
    if fields.is_empty() {
        let part = if part.len() == 1 { part.remove(0) } else { part.into() };
        return map! { "_id" => 1, name => map! { "$slice" => part } };
    }
    part.insert(0, format!("${name}").into());
    map! { "_id" => 0, name => mapped(map! { "$slice" => part }, fields) }
}

/// The text of a number, or of the variable with it.
fn number(node: &Node) -> String {
    node.as_literal().map(|text| text.value.trim_matches(['<', '>']).to_owned()).unwrap_or_default()
}

/// The command for the documents of a collection that are selected.
pub(super) fn found_in(collection: &str, start: Node, selection: &Selection, projection: Option<Node>) -> Node {
    let command = map! { "find" => collection, "filter" => with_all(start, &selection.filter) };
    let sort = (!selection.sort.is_empty()).then(|| selection.sort_node(&[]));
    let (skip, limit) = (selection.skip.clone(), selection.limit.clone());
    let parts = [("sort", sort), ("skip", skip), ("limit", limit), ("projection", projection)];
    let put = |command, (key, value): (&str, Option<Node>)| {
        value.into_iter().fold(command, |command, value| with(command, key, value))
    };
    parts.into_iter().fold(command, put)
}

/// The keys of an index for a selection: the relation, equal fields, the order, ranges.
pub(super) fn keys(origin: Option<String>, filter: &Node, sort: &[(String, i64)]) -> Vec<(String, i64)> {
    let conditions = filter.as_mapping().unwrap_or_default().iter().filter(|(key, _)| !key.value.starts_with('$'));
    let (equal, ranges): (Vec<_>, Vec<_>) = conditions.partition(|(_, value)| value.as_mapping().is_none());
    let ascending = |entries: Vec<&(Spanned<String>, Node)>| -> Vec<(String, i64)> {
        entries.into_iter().map(|(key, _)| (key.value.clone(), 1)).collect()
    };
    [origin.map(|field| (field, 1)).into_iter().collect(), ascending(equal), sort.to_vec(), ascending(ranges)].concat()
}
