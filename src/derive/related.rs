//! Related records of each of several rows, for `with` in a list and inside of `with`: from the row itself, by `$lookup`, or by
//! one query for each relation.

use crate::scenario::{Node, Span, Spanned};

use super::build::{all, keep, map, slot, with, with_all};
use super::model::{PathEnd, RelationKind, option, texts};
use super::read::{in_order, lookup, prefixed, unless_empty};
use super::refusal::{Derived, refuse, refuse_shape};
use super::selection::Selection;
use super::shape::Word;
use super::translate::Translation;
use super::with::{Include, copy_of, picked, picked_copies, picked_fields};

/// How many times `with` may be inside of another one, the outermost counted.
const DEEPEST: usize = 2;

/// The variables of rows, by depth.
pub(super) const ROWS: [&str; DEEPEST + 1] = ["r", "s", "t"];

/// A relation that `with` names for each row.
pub(super) struct Related {
    pub name: String,
    pub relation: usize,
    pub is_down: bool,
    pub is_many: bool,
    /// The entity of the others.
    pub entity: usize,
    /// The fields of the others that are returned; none: all.
    pub fields: Vec<String>,
    /// Their order, and what is read of them.
    pub selection: Selection,
    with: Vec<Related>,
}

impl Related {
    /// What is read of one other: what is returned, and that by which what is related to it is found.
    pub fn read(&self) -> &[String] {
        if self.with.is_empty() { &self.fields } else { &self.selection.fields }
    }
}

/// How others come to rows.
#[derive(Clone)]
pub(super) enum Route {
    /// By a query for each relation of all rows, which are in a variable.
    Queries(String),
    /// By a `$lookup` in each row.
    Rows,
    /// By a `$lookup` in the document of this variable, which has the rows at a path.
    Document(String, Vec<String>),
}

impl Route {
    /// The expression of what a `$lookup` adds for a relation.
    pub fn joined(&self, row: &str, name: &str) -> String {
        match self {
            Route::Document(found, path) => format!("{found}.{}_{name}_", path.join("_")),
            _ => format!("{row}.{name}_"),
        }
    }
}

/// What adds others to rows.
#[derive(Default)]
pub(super) struct Added {
    pub steps: Vec<Node>,
    /// The stages that join, by the name of what they add.
    pub joins: Vec<(String, Node)>,
    /// The entries of each row in the reply.
    pub parts: Vec<String>,
}

/// The fields that are read of related records; none for all.
pub(super) fn fields_of(node: &Node) -> Vec<String> {
    texts(option(&options_of(node), "fields"))
}

/// What is asked for with related records.
pub(super) fn inner_of(node: &Node) -> &[Include] {
    node.get("with").and_then(Node::as_mapping).unwrap_or_default()
}

/// The options of related records, which may be fields alone.
pub(super) fn options_of(node: &Node) -> Vec<Include> {
    match node.as_mapping() {
        Some(options) => options.to_vec(),
        None if node.as_list().is_some() => vec![(Spanned::new("fields".to_owned(), Span::default()), node.clone())],
        None => Vec::new(),
    }
}

impl<'m> Translation<'_, 'm> {
    /// Checks `with` of rows of an entity, to which the relation `via` led.
    pub fn related(
        &mut self,
        entity: usize,
        includes: &[Include],
        depth: usize,
        via: Option<usize>,
    ) -> Derived<Vec<Related>> {
        includes.iter().map(|include| self.relate(entity, include, depth, via)).collect()
    }

    fn relate(
        &mut self,
        entity: usize,
        (Spanned { value: name, .. }, node): &Include,
        depth: usize,
        via: Option<usize>,
    ) -> Derived<Related> {
        let (model, shape) = (self.model(), self.documents.shape);
        let (relation, is_down) = model.relation(entity, name)?;
        let this = &model.relations[relation];
        let by_hand = "make it an operation of its own, or write this one by hand";
        if depth > DEEPEST {
            let message = format!("`with: {name}` is a third level of `with`");
            let help = "read it in a step of its own, `does: [{ get: ... }, { list: ... }, { return: ... }]`, or write this operation by hand";
            return refuse(message, "deeper than `with` goes", help);
        }
        if via == Some(relation) {
            let message = format!("`with: {name}` leads back to the records that the outer `with` begins with");
            return refuse(message, "the same records again", format!("name `{name}` in the outer `with`"));
        }
        let is_many = is_down || this.kind == RelationKind::Listing;
        let other = if is_down { this.many } else { this.one };
        let word = shape.word(relation);
        let (mut options, subject) = (options_of(node), PathEnd::Many(String::new(), relation, is_down));
        if !is_many {
            if texts(option(&options, "fields")).is_empty() {
                let help = format!("for example `with: {{ {name}: [name] }}`");
                return refuse(format!("`with: {name}` of each row without fields"), "which fields?", help);
            }
            options.push((Spanned::new("unordered".to_owned(), Span::default()), true.into()));
        }
        let known: &[&str] =
            if is_many { &["sort", "fields", "unordered", "with"] } else { &["fields", "unordered", "with"] };
        if let Some((key, _)) = options.iter().find(|(key, _)| !known.contains(&key.value.as_str())) {
            let message = format!("`{}` of the `{name}` of each row", key.value);
            return refuse(message, "every row would need a query", by_hand);
        }
        if word == Word::Bucket && (is_down || !is_many) {
            let message = format!("`with: {name}` of each row, and these records are in buckets");
            return refuse_shape(relation, message, "not derived", "try `embed` or `reference`");
        }
        if is_many
            && !(is_down && word == Word::Embed)
            && let Some(embedding) = model.parent_of(other).filter(|_| !shape.home(model, other).1.is_empty())
        {
            let key = model.key(embedding);
            let message = format!("`with: {name}` of each row needs documents of `{}`: `{key}`", model.name(other));
            return refuse_shape(embedding, message, "no query finds them from there", "try `reference` here");
        }
        let with = self.related(other, inner_of(node), depth + 1, Some(relation))?;
        let mut selection = self.selection(name, &subject, &options)?;
        let fields = selection.fields.clone();
        self.extend(other, &mut selection.fields, &with);
        Ok(Related { name: name.clone(), relation, is_down, is_many, entity: other, fields, selection, with })
    }

    /// Adds to the fields that are read of rows those by which related records are found; without fields they have all but arrays
    /// that the shape adds, and the `_id`s of a list.
    pub fn extend(&self, entity: usize, fields: &mut Vec<String>, with: &[Related]) {
        let (model, shape) = (self.model(), self.documents.shape);
        let needed: Vec<String> = with.iter().flat_map(|one| self.needed(one)).collect();
        // Copies of the newest records have their own fields only.
        let has_newest = model.parent_of(entity).is_some_and(|parent| shape.newest(model, parent).is_some());
        let is_own = |field: &String| model.has_field(entity, field);
        let copied = self.documents.shape.copied_list(model, entity).map(|list| model.relations[list].down());
        let mut extra = self.added(entity).into_iter().map(|(_, field)| field).chain(copied.map(str::to_owned));
        let is_elsewhere = has_newest && !needed.iter().all(is_own);
        if fields.is_empty() && !is_elsewhere && !extra.any(|field| needed.contains(&field)) {
            return;
        }
        if fields.is_empty() {
            *fields = self.own(entity);
        }
        for field in needed {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
    }

    /// The fields of a row by which others are found.
    fn needed(&self, one: &Related) -> Vec<String> {
        let (shape, this) = (self.documents.shape, &self.model().relations[one.relation]);
        if !one.is_many {
            let is_copied = self.is_copied_one(one);
            return if is_copied {
                self.needed_of_one(one.relation, &one.fields)
            } else {
                self.key_of_one(one.relation)
            };
        }
        let is_inside = one.is_down && matches!(shape.word(one.relation), Word::Embed | Word::List);
        vec![if is_inside { this.down() } else { "_id" }.to_owned()]
    }

    /// Whether rows have what is asked of the one that they belong or refer to.
    fn is_copied_one(&self, one: &Related) -> bool {
        one.with.is_empty() && self.documents.shape.has_of_one(one.relation, &one.fields)
    }

    /// The fields of a record by which fields of the one that it belongs or refers to are found.
    pub fn needed_of_one(&self, relation: usize, fields: &[String]) -> Vec<String> {
        if !self.documents.shape.has_of_one(relation, fields) {
            return self.key_of_one(relation);
        }
        let up = self.model().relations[relation].up();
        fields.iter().map(|field| copy_of(up, field)).collect()
    }

    /// The fields of a record by which the one that it belongs or refers to is found.
    fn key_of_one(&self, relation: usize) -> Vec<String> {
        let up = self.model().relations[relation].up();
        match self.documents.shape.up_word(relation) {
            Word::Embed => Vec::new(),
            Word::List => vec!["_id".to_owned()],
            Word::Reference | Word::Bucket | Word::Link => vec![up.to_owned()],
        }
    }

    /// The entry of a row in the reply with its own record, of which these fields are returned and those were read.
    pub fn own_part(&self, entity: usize, row: &str, shown: &[String], read: &[String]) -> String {
        let name = self.model().name(entity);
        match self.documents.shape.copied_list(self.model(), entity) {
            // What was read has copies, and the record `_id`s.
            Some(list) if shown.is_empty() && !read.is_empty() => {
                let down = self.model().relations[list].down();
                format!("'{name}': merge({row}, {{'{down}': pluck({row}.{down}, '_id')}})")
            }
            _ => picked(name, row, shown),
        }
    }

    /// Adds related records to rows; `row` is the expression of the record in the variable of this depth.
    pub fn add(&mut self, depth: usize, row: &str, route: &Route, with: Vec<Related>) -> Derived<Added> {
        let mut made = Added::default();
        for one in with {
            let part = self.part_of(depth, row, route, one, &mut made)?;
            made.parts.push(part);
        }
        Ok(made)
    }

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
            return Ok(format!("'{up}': {value}[0]"));
        }
        if !one.is_many && self.is_copied_one(&one) {
            return Ok(format!("'{up}': {}", picked_copies(up, row, &one.fields)));
        }
        let has_copies = word == Word::List && one.with.is_empty() && self.is_copied(one.relation, &one.selection);
        if one.is_many && one.is_down && (word == Word::Embed || has_copies) {
            let array = in_order(format!("{row}.{down}"), &one.selection);
            let inner = match route {
                Route::Queries(_) if one.with.is_empty() => Route::Rows,
                Route::Queries(rows) => {
                    let all = self.fresh(&format!("{down}_"));
                    made.steps.push(keep(&all, format!("flatten({rows}.map({variable}, {row}.{down}))")));
                    Route::Queries(all)
                }
                Route::Rows => Route::Document(row.to_owned(), vec![down.to_owned()]),
                Route::Document(found, path) => {
                    Route::Document(found.clone(), [&path[..], &[down.to_owned()]].concat())
                }
            };
            let (value, joins) = self.with_each(depth + 1, array, &inner, &mut one, &mut made.steps)?;
            made.joins.extend(joins);
            return Ok(format!("'{down}': {value}"));
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
            let belongs = match (has_ids, one.is_many, one.is_down) {
                (true, ..) => format!("o._id in {ids}"),
                (_, true, true) => format!("o.{up} == {row}._id"),
                // With copies in the list, only a record that is read as a whole has `_id`s there.
                (_, true, false) if foreign != down && !one.selection.fields.is_empty() => {
                    format!("{row}._id in pluck(o.{down}, '_id')")
                }
                (_, true, false) => format!("{row}._id in o.{down}"),
                _ if shape.up_word(one.relation) == Word::List => format!("{row}._id in o.{foreign}"),
                _ => format!("o._id == {row}.{up}"),
            };
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
