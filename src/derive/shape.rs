//! Where a strategy has the records of each relation, and which fields it has twice.

use crate::scenario::{Node, Span, Spanned};

use super::build::{map, slot, with};
use super::model::{Model, RelationKind};
use super::refusal::Refusal;
use super::words::{RelationWords, Split, Splits, find, words};

/// How records are found along a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// An array of whole records in the one that they belong to.
    Embed,
    /// The record has the `_id` of the one that it belongs to.
    Reference,
    /// A record has the `_id`s of those that belong to it.
    List,
    /// A collection of pairs of `_id`s.
    Link,
    /// Arrays of up to this many whole records, in documents of their own with the `_id` of the parent.
    Bucket,
}

/// Fields of one record that other documents have, too.
#[derive(Debug)]
pub(super) struct Copies {
    pub relation: usize,
    /// The entity whose fields these are.
    pub source: usize,
    pub fields: Vec<String>,
    pub collection: String,
    /// The arrays around each set of copies.
    pub path: Vec<String>,
    /// The field beside the copies with the `_id` of the source.
    pub id: String,
    /// What the names of copies begin with.
    pub prefix: String,
}

/// The words of every relation, and how a strategy reads and writes.
#[derive(Debug, Clone)]
pub(super) struct ModelShape {
    /// By relation.
    pub placements: Vec<RelationWords>,
    /// The entities with a second document.
    pub splits: Splits,
    /// Reads two collections with `$lookup` instead of two queries.
    pub is_joined: bool,
    /// Writes a record and the counters and sums of it one after the other, without a transaction.
    pub is_ordered: bool,
    /// Writes several documents without a transaction.
    pub is_plain: bool,
    /// Lets copies follow their source by its version, without a transaction.
    pub has_versions: bool,
}

impl ModelShape {
    /// Reads the entries of `shape`; problems have the place of their entry.
    pub fn read(
        model: &Model,
        entries: &[(Spanned<String>, Node)],
        is_joined: bool,
        is_plain: bool,
    ) -> Result<ModelShape, (Span, Box<Refusal>)> {
        let mut placements: Vec<RelationWords> =
            model.relations.iter().map(|relation| RelationWords::default_of(relation.kind)).collect();
        let mut splits = Splits::new();
        for (key, node) in entries {
            let is_entity = |entity: &usize| model.name(*entity) == key.value;
            if let Some(entity) = (0..model.scenario.entities.len()).find(is_entity) {
                let split = Split::read(model, entity, node, span_of(key, node));
                splits.insert(entity, split.map_err(|refusal| (span_of(key, node), refusal))?);
                continue;
            }
            let relation = find(model, &key.value).map_err(|refusal| (key.span, refusal))?;
            placements[relation] = words(model, relation, node).map_err(|refusal| (span_of(key, node), refusal))?;
        }
        Ok(ModelShape { placements, splits, is_joined, is_ordered: false, is_plain, has_versions: false })
    }

    /// The model in which lists that only the listed records have are turned round.
    pub fn turned<'s>(&self, model: &Model<'s>) -> Model<'s> {
        model.turned(|relation| self.placements[relation].is_turned)
    }

    /// How the records of the many side are found.
    pub fn word(&self, relation: usize) -> Word {
        let placement = &self.placements[relation];
        let words = [("embed", Word::Embed), ("bucket", Word::Bucket), ("list", Word::List), ("link", Word::Link)];
        let found = words.iter().find(|(name, _)| placement.get(name).is_some());
        found.map_or(Word::Reference, |(_, word)| *word)
    }

    /// How the record of the one side is found.
    pub fn up_word(&self, relation: usize) -> Word {
        if self.placements[relation].get("reference").is_some() { Word::Reference } else { self.word(relation) }
    }

    /// The arguments of a word; `None` if the relation does not have it.
    pub fn arguments(&self, relation: usize, word: &str) -> Option<&[String]> {
        self.placements[relation].get(word)
    }

    /// The fields of the many side that documents of the one side have.
    pub fn listed(&self, relation: usize) -> &[String] {
        self.placements[relation].get("list").unwrap_or_default()
    }

    /// The fields of the one side that documents of the many side have.
    pub fn referenced(&self, relation: usize) -> &[String] {
        self.placements[relation].get("reference").unwrap_or_default()
    }

    /// The fields of the many side that pairs have.
    pub fn linked(&self, relation: usize) -> &[String] {
        self.placements[relation].get("link").unwrap_or_default()
    }

    /// Whether a record has all fields of the one that it refers to, as copies or because they are its `_id` only.
    pub fn has_of_one(&self, relation: usize, fields: &[String]) -> bool {
        let is_id = fields == ["_id"] && self.up_word(relation) == Word::Reference;
        is_id || covers(self.referenced(relation), fields)
    }

    /// Whether both records of a list of records name the other.
    pub fn is_mutual(&self, model: &Model, relation: usize) -> bool {
        model.relations[relation].kind == RelationKind::Listing && self.arguments(relation, "reference").is_some()
    }

    /// The list of records whose documents have copies where the records of an entity have `_id`s.
    pub fn copied_list(&self, model: &Model, entity: usize) -> Option<usize> {
        (0..model.relations.len()).find(|relation| {
            let this = &model.relations[*relation];
            self.keeps_own_list(model, *relation)
                && this.own_list().is_some_and(|(one, _)| one == entity)
                && !self.listed(*relation).is_empty()
        })
    }

    /// Whether a list of records is more than their `_id`s in the document of the one that has them: copies, both directions,
    /// or elsewhere.
    pub fn is_shared(&self, model: &Model, relation: usize) -> bool {
        let has_more = self.is_mutual(model, relation) || !self.listed(relation).is_empty();
        let is_listing = model.relations[relation].kind == RelationKind::Listing;
        is_listing && (has_more || !self.keeps_own_list(model, relation))
    }

    /// Whether the records that have a list in the model have it in their documents.
    pub fn keeps_own_list(&self, model: &Model, relation: usize) -> bool {
        !model.relations[relation].is_turned && self.word(relation) != Word::Link
    }

    /// The lists of the records of an entity that are not in their documents.
    pub fn lists_elsewhere<'m>(&self, model: &'m Model, entity: usize) -> impl Iterator<Item = (usize, &'m str)> {
        let elsewhere = (0..model.relations.len()).filter(|relation| !self.keeps_own_list(model, *relation));
        elsewhere.filter_map(move |relation| {
            let (one, list) = model.relations[relation].own_list()?;
            (one == entity).then_some((relation, list))
        })
    }

    /// The field of the one side with the `_id`s of the many.
    pub fn list_id(&self, model: &Model, relation: usize) -> String {
        let down = model.relations[relation].down();
        if self.listed(relation).is_empty() { down.to_owned() } else { format!("{down}._id") }
    }

    /// The field of the many side of a list of records with the `_id`s of the one, where it has them.
    pub fn back_id(&self, model: &Model, relation: usize) -> String {
        let up = model.relations[relation].up();
        if self.referenced(relation).is_empty() { up.to_owned() } else { format!("{up}._id") }
    }

    /// The list in listed records of those that list them, and the fields that its entries have; `None` where they have none.
    pub fn back_list<'m>(&self, model: &'m Model, relation: usize) -> Option<(&'m str, &[String])> {
        let this = &model.relations[relation];
        if this.is_turned {
            return Some((this.down(), self.listed(relation)));
        }
        self.is_mutual(model, relation).then(|| (this.up(), self.referenced(relation)))
    }

    /// An entry of a list of the one side, as a template; `record` is the expression of the record.
    pub fn list_entry(&self, relation: usize, record: &str) -> Node {
        entry(self.listed(relation), record, record)
    }

    /// The entry of a record of the one side in the list of one of the many; `source` is the expression of its fields.
    pub fn back_entry(&self, relation: usize, record: &str, source: &str) -> Node {
        entry(self.referenced(relation), record, source)
    }

    /// How many records a bucket has.
    pub fn bucket_size(&self, relation: usize) -> &str {
        self.arguments(relation, "bucket").and_then(<[_]>::first).map_or("", String::as_str)
    }

    /// The relation whose buckets have the records of an entity.
    pub fn bucketed(&self, model: &Model, entity: usize) -> Option<usize> {
        model.parent_of(entity).filter(|relation| self.word(*relation) == Word::Bucket)
    }

    /// Whether copies of the one side, which calls change, follow it by its version.
    pub fn is_versioned(&self, model: &Model, relation: usize) -> bool {
        self.has_versions && model.is_changed(model.relations[relation].one, self.referenced(relation))
    }

    /// All copies.
    pub fn copies(&self, model: &Model) -> Vec<Copies> {
        let mut all = Vec::new();
        for (relation, this) in model.relations.iter().enumerate() {
            let (up, down) = (self.referenced(relation), self.listed(relation));
            if !up.is_empty() {
                let (collection, mut path) = self.home(model, this.many);
                let (mut id, mut prefix) = (this.up().to_owned(), format!("{}_", this.up()));
                if this.kind == RelationKind::Listing {
                    path.push(id);
                    (id, prefix) = ("_id".to_owned(), String::new());
                }
                all.push(Copies { relation, source: this.one, fields: up.to_vec(), collection, path, id, prefix });
            }
            if let Some(pairs) = self.pairs(model, relation, true).filter(|pairs| !pairs.copies.is_empty()) {
                let (id, prefix) = (pairs.far.clone(), pairs.prefix());
                let (source, fields, collection) = (this.many, pairs.copies, pairs.collection);
                all.push(Copies { relation, source, fields, collection, path: Vec::new(), id, prefix });
            }
            let newest = self.newest(model, relation).map(|(_, array)| {
                let own = model.entity(this.many).fields.iter().map(|(name, _)| name.value.clone());
                (array, own.filter(|name| name != "_id").collect())
            });
            let listed = (!down.is_empty()).then(|| (this.down().to_owned(), down.to_vec()));
            for (array, fields) in listed.into_iter().chain(newest) {
                let (collection, path) = (model.collection(this.one), vec![array]);
                let (id, prefix) = ("_id".to_owned(), String::new());
                all.push(Copies { relation, source: this.many, fields, collection, path, id, prefix });
            }
        }
        all
    }

    /// Where the words of a relation are written.
    pub fn place(&self, relation: usize) -> Option<Span> {
        self.placements[relation].span
    }

    /// Where the records of an entity are: a collection, and the fields of the arrays in its documents, outermost first.
    pub fn home(&self, model: &Model, entity: usize) -> (String, Vec<String>) {
        if let Some(relation) = self.bucketed(model, entity) {
            return (format!("{}_buckets", model.name(entity)), vec![model.relations[relation].down().to_owned()]);
        }
        match model.parent_of(entity).filter(|relation| self.word(*relation) == Word::Embed) {
            Some(relation) => {
                let relation = &model.relations[relation];
                let (collection, mut path) = self.home(model, relation.one);
                path.push(relation.down().to_owned());
                (collection, path)
            }
            None => (model.collection(entity), Vec::new()),
        }
    }
}

impl Copies {
    /// The entity whose records have the copies.
    pub fn holder(&self, model: &Model) -> usize {
        let this = &model.relations[self.relation];
        if self.source == this.one { this.many } else { this.one }
    }

    /// The name of the audit that counts those which are not what their source says.
    pub fn audit(&self, model: &Model) -> String {
        let this = &model.relations[self.relation];
        let up = if self.source == this.one { this.up() } else { this.down() };
        let label = self.path.last().filter(|_| self.id == "_id").map_or(up, String::as_str);
        format!("{}_{label}_copies_differ", model.name(self.holder(model)))
    }

    /// The name of the copy of a field.
    pub fn field(&self, field: &str) -> String {
        if field == "_id" { self.id.clone() } else { format!("{}{field}", self.prefix) }
    }
}

/// Where the words of an entry are.
fn span_of(key: &Spanned<String>, node: &Node) -> Span {
    if node.span.is_empty() { key.span } else { node.span }
}

/// A record as an entry of a list: its `_id`, or that and copies of fields of a source.
pub(super) fn entry(fields: &[String], record: &str, source: &str) -> Node {
    let id = slot(&format!("{record}._id"));
    if fields.is_empty() {
        return id;
    }
    fields.iter().fold(map! { "_id" => id }, |made, field| with(made, field, slot(&format!("{source}.{field}"))))
}

/// What takes a record out of a list: its `_id`, or an entry with it where entries have copies.
pub(super) fn pulled(copied: &[String], id: &Node) -> Node {
    if copied.is_empty() {
        return id.clone();
    }
    map! { "_id" => id.clone() }
}

/// Whether copies, and the `_id`, are all that is asked for.
pub(super) fn covers(copied: &[String], fields: &[String]) -> bool {
    !fields.is_empty() && !copied.is_empty() && fields.iter().all(|field| field == "_id" || copied.contains(field))
}
