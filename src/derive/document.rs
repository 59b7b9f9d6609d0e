//! DerivedDocuments, indexes and `state`.

use std::collections::HashSet;

use crate::scenario::Node;

use super::build::{map, mapping, slot, with};
use super::model::{Model, RelationKind};
use super::refusal::{Derived, refuse_shape};
use super::shape::{ModelShape, Word};

/// The most arrays around a record.
const DEEPEST: usize = 2;

/// An index: fields with directions, and whether it is unique.
type Index = (Vec<(String, i64)>, bool);

/// The documents of a strategy, and the indexes that its operations need.
pub(super) struct DerivedDocuments<'m> {
    pub model: &'m Model<'m>,
    pub shape: &'m ModelShape,
    indexes: Vec<(String, Index)>,
    /// The same, to be found at once.
    known: HashSet<(String, Index)>,
}

impl<'m> DerivedDocuments<'m> {
    pub fn new(model: &'m Model<'m>, shape: &'m ModelShape) -> Derived<DerivedDocuments<'m>> {
        let documents = DerivedDocuments { model, shape, indexes: Vec::new(), known: HashSet::new() };
        for (position, relation) in model.relations.iter().enumerate() {
            let word = shape.word(position);
            let key = model.key(position);
            let depth = shape.home(model, relation.many).1.len();
            if word == Word::Embed && depth > DEEPEST {
                let message = format!("`{key}: embed` puts records into {depth} arrays, and {DEEPEST} are derived");
                return refuse_shape(position, message, "too deep", "try `reference` here, or for a relation above it");
            }
            if word == Word::List
                && relation.kind == RelationKind::Children
                && !shape.home(model, relation.one).1.is_empty()
            {
                let message = format!("`{key}: list` puts a list into a record that is itself in an array");
                return refuse_shape(position, message, "not derived", "try `embed` or `reference` here");
            }
            if relation.kind == RelationKind::Children {
                let (owner, field) = match word {
                    Word::Embed | Word::List => (relation.one, relation.down()),
                    Word::Reference => (relation.many, relation.up()),
                };
                if model.has_field(owner, field) {
                    let message =
                        format!("`{key}` needs a field `{field}`, and `{}` has one already", model.name(owner));
                    return refuse_shape(position, message, "two fields of one name", "rename the field of the entity");
                }
            }
        }
        Ok(documents)
    }

    /// Adds an index, unless `_id` does it.
    pub fn index(&mut self, collection: &str, keys: &[(String, i64)], is_unique: bool) {
        if keys.first().is_none_or(|(field, _)| field == "_id") {
            return;
        }
        // An index also serves the reverse of its order.
        let mut seen = HashSet::new();
        let mut keys: Vec<_> = keys.iter().filter(|(field, _)| seen.insert(field)).cloned().collect();
        let tail = keys.iter().position(|(_, direction)| *direction < 0).unwrap_or(keys.len());
        if keys[tail..].iter().all(|(_, direction)| *direction < 0) {
            keys[tail..].iter_mut().for_each(|(_, direction)| *direction = 1);
        }
        let entry = (collection.to_owned(), (keys, is_unique));
        if self.known.insert(entry.clone()) {
            self.indexes.push(entry);
        }
    }

    fn indexes_of<'s>(&'s self, collection: &str) -> Vec<Node> {
        let own: Vec<&Index> = self.indexes.iter().filter(|(name, _)| name == collection).map(|(_, one)| one).collect();
        // Another index serves its own beginnings, and a unique one also what is not unique.
        let beginnings = |(keys, is_unique): &&'s Index| -> Vec<&'s [(String, i64)]> {
            (1..keys.len() + usize::from(*is_unique)).map(|end| &keys[..end]).collect()
        };
        let covered: HashSet<&[(String, i64)]> = own.iter().flat_map(beginnings).collect();
        let is_needed = |(keys, is_unique): &&&Index| *is_unique || !covered.contains(keys.as_slice());
        let node = |(keys, is_unique): &&Index| {
            let key = mapping(keys.iter().map(|(field, direction)| (field.clone(), (*direction).into())).collect());
            if *is_unique {
                map! { "key" => key, "unique" => true }
            } else {
                key
            }
        };
        own.iter().filter(is_needed).map(node).collect()
    }

    /// What a document of an entity has besides its own fields. `record` is the expression of the record; `parent` that of
    /// its parent; `has` says whether the children of a relation are there already.
    pub fn extras(
        &self,
        entity: usize,
        record: &str,
        parent: &str,
        has: &dyn Fn(usize) -> bool,
    ) -> Vec<(String, Node)> {
        let mut extras = Vec::new();
        if let Some(relation) = self.model.parent_of(entity)
            && self.shape.word(relation) == Word::Reference
        {
            extras.push((self.model.relations[relation].up().to_owned(), slot(&format!("{parent}._id"))));
        }
        for position in self.model.children_of(entity) {
            let relation = &self.model.relations[position];
            let children = format!("{record}.{}", relation.down());
            let value = match self.shape.word(position) {
                Word::Reference => continue,
                _ if !has(position) => Vec::new().into(),
                Word::List => slot(&format!("{children}._id")),
                Word::Embed => self.embedded(relation.many, &children, has),
            };
            extras.push((relation.down().to_owned(), value));
        }
        extras
    }

    /// The array of the records of an entity that are listed by `children`.
    fn embedded(&self, entity: usize, children: &str, has: &dyn Fn(usize) -> bool) -> Node {
        let name = self.model.name(entity);
        let extras = self.extras(entity, name, "", has);
        if extras.is_empty() {
            return slot(children);
        }
        let item = with_extras(name, extras);
        vec![map! { "forEach" => map! { name => children }, "item" => item }].into()
    }

    /// The collections, with indexes.
    pub fn collections(&self) -> Node {
        let entities = 0..self.model.scenario.entities.len();
        let homes = entities.filter_map(|entity| {
            let (collection, path) = self.shape.home(self.model, entity);
            let name = self.model.name(entity);
            path.is_empty().then(|| {
                let mut made = map! { "each" => name };
                let extras = self.extras(entity, name, &format!("{name}.{}", self.parent_name(entity)), &|_| true);
                if !extras.is_empty() {
                    made = with(made, "document", with_extras(name, extras));
                }
                let indexes = self.indexes_of(&collection);
                if !indexes.is_empty() {
                    made = with(made, "indexes", indexes);
                }
                (collection, made)
            })
        });
        mapping(homes.collect())
    }

    fn parent_name(&self, entity: usize) -> &str {
        self.model.parent_of(entity).map_or("", |relation| self.model.relations[relation].up())
    }

    /// The steps that read back entities whose records are not documents with all that they need.
    pub fn state(&self) -> Vec<(String, Node)> {
        let entities = 0..self.model.scenario.entities.len();
        entities
            .filter_map(|entity| {
                let relation = self.model.parent_of(entity)?;
                let (collection, path) = self.shape.home(self.model, entity);
                let pipeline = match self.shape.word(relation) {
                    Word::Reference => return None,
                    Word::Embed => {
                        let owner = [&path[..path.len() - 1], &["_id".to_owned()]].concat().join(".");
                        let parent = map! { self.parent_name(entity) => format!("${owner}") };
                        let merged: Vec<Node> = vec![format!("${}", path.join(".")).into(), parent];
                        let mut stages = unwinds(&path);
                        stages.push(map! { "$replaceWith" => map! { "$mergeObjects" => merged } });
                        stages
                    }
                    Word::List => {
                        let through = &self.model.relations[relation];
                        let only_id: Vec<Node> = vec![map! { "$project" => map! { "_id" => 1 } }];
                        let lookup = map! {
                            "from" => self.model.collection(through.one),
                            "localField" => "_id",
                            "foreignField" => through.down(),
                            "pipeline" => only_id,
                            "as" => "owners",
                        };
                        let owner = map! { through.up() => map! { "$first" => "$owners._id" } };
                        vec![map! { "$lookup" => lookup }, map! { "$set" => owner }]
                    }
                };
                let read = map! { "aggregate" => collection, "pipeline" => pipeline };
                Some((self.model.name(entity).to_owned(), read))
            })
            .collect()
    }
}

/// `{ ...: <record>, extras }`
pub(super) fn with_extras(record: &str, extras: Vec<(String, Node)>) -> Node {
    mapping([("...".to_owned(), slot(record))].into_iter().chain(extras).collect())
}

/// The stages that take the records out of nested arrays.
pub(super) fn unwinds(path: &[String]) -> Vec<Node> {
    let part = |end: usize| map! { "$unwind" => format!("${}", path[..end].join(".")) };
    (1..=path.len()).map(part).collect()
}
