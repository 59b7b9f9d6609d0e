//! Which related records `with` asks for, for each of several rows.

use crate::scenario::{Node, Span, Spanned};

use super::model::{PathEnd, RelationKind, option, texts};
use super::picked::{copy_of, picked};
use super::refusal::{Derived, refuse, refuse_shape};
use super::selection::Selection;
use super::shape::Word;
use super::translate::Translation;
use super::with::Include;

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
    pub with: Vec<Related>,
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

impl Translation<'_, '_> {
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
    pub fn is_copied_one(&self, one: &Related) -> bool {
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
}
