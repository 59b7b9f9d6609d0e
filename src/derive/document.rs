//! DerivedDocuments, indexes and `state`.

use std::collections::{HashMap, HashSet};

use crate::scenario::Node;

use super::build::{is_empty, map, mapping, slot, with, with_all};
use super::model::{Model, RelationKind};
use super::order::{directions, sorted};
use super::refusal::{Derived, refuse_shape};
use super::shape::{ModelShape, Word};
use super::stage::lookup;
use super::summary::{VERSION, check_buckets, check_totals, check_versions, sum_of, version_of};

/// The most arrays around a record.
const DEEPEST: usize = 2;

/// An index: fields with directions, and whether it is unique.
type Index = (Vec<(String, i64)>, bool);

/// A field that the shape adds to documents: the relation that it is for, its name, its value.
pub(super) type Extra = (usize, String, Node);

/// What is known of records that a call makes, by relation.
#[derive(Default)]
pub(super) struct Made {
    /// The expressions of their children.
    pub lists: HashMap<usize, String>,
    /// The expressions of the records whose fields they copy; empty where they have the copies already.
    pub sources: HashMap<usize, String>,
    /// The variables with sums over their children, by the name of the field.
    pub sums: HashMap<String, String>,
}

/// The documents of a strategy, and the indexes that its operations need.
pub(super) struct DerivedDocuments<'m> {
    pub model: &'m Model<'m>,
    pub shape: &'m ModelShape,
    indexes: Vec<(String, Index)>,
    /// The same, to be found at once.
    known: HashSet<(String, Index)>,
    /// Indexes that are enough for a sum: the last field is what is added up.
    covering: Vec<(String, Index)>,
}

impl<'m> DerivedDocuments<'m> {
    pub fn new(model: &'m Model<'m>, shape: &'m ModelShape) -> Derived<DerivedDocuments<'m>> {
        let documents =
            DerivedDocuments { model, shape, indexes: Vec::new(), known: HashSet::new(), covering: Vec::new() };
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
        }
        for copies in shape.copies(model) {
            if let Some(embedding) =
                model.parent_of(copies.source).filter(|_| !shape.home(model, copies.source).1.is_empty())
            {
                let (key, other) = (model.key(copies.relation), model.key(embedding));
                let message = format!("`{key}` copies fields of a record that is in an array: `{other}` is `embed`");
                let help = "try `reference` here or there";
                return refuse_shape(copies.relation, message, "not derived", help);
            }
        }
        for (position, relation) in model.relations.iter().enumerate() {
            let ends = [relation.one, relation.many].map(|entity| shape.home(model, entity).1.is_empty());
            if shape.is_shared(model, position) && ends != [true, true] {
                let message = format!("`{}` is more than a list, of records that are in arrays", model.key(position));
                return refuse_shape(
                    position,
                    message,
                    "not derived",
                    "try `list`, or `reference` for the relation around it",
                );
            }
        }
        shape.check_pairs(model)?;
        shape.check_splits(model)?;
        check_buckets(model, shape)?;
        check_totals(model, shape)?;
        check_versions(model, shape)?;
        for entity in 0..model.scenario.entities.len() {
            let extras = documents.extras(entity, "", "", None);
            let is_own = |relation: usize, field: &str| model.relations[relation].own_list() == Some((entity, field));
            let is_taken = |(relation, field, _): &&Extra| model.has_field(entity, field) && !is_own(*relation, field);
            if let Some((relation, field, _)) = extras.iter().find(is_taken) {
                let (key, name) = (model.key(*relation), model.name(entity));
                let message = format!("`{key}` needs a field `{field}`, and `{name}` has one already");
                return refuse_shape(*relation, message, "two fields of one name", "rename the field of the entity");
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

    /// Adds an index of which the last field is only added up. Not worth an index of its own beside one that finds the records.
    pub fn covering_index(&mut self, collection: &str, keys: Vec<(String, i64)>) {
        let entry = (collection.to_owned(), (keys, false));
        if !self.covering.contains(&entry) {
            self.covering.push(entry);
        }
    }

    fn indexes_of<'s>(&'s self, collection: &str) -> Vec<Node> {
        let of = |all: &'s [(String, Index)]| {
            all.iter().filter(|(name, _)| name == collection).map(|(_, one)| one).collect()
        };
        let mut own: Vec<&Index> = of(&self.indexes);
        let covering: Vec<&Index> = of(&self.covering);
        let is_found = |(keys, _): &&Index| {
            let found = &keys[..keys.len() - 1];
            own.iter().any(|(other, _)| other.len() > found.len() && other.starts_with(found))
        };
        let covering: Vec<&Index> = covering.into_iter().filter(|index| !is_found(index)).collect();
        own.extend(covering);
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

    /// What a document of an entity has besides its own fields, with the relation that it is for. `record` is the expression
    /// of the record, `parent` that of its parent.
    pub fn extras(&self, entity: usize, record: &str, parent: &str, made: Option<&Made>) -> Vec<Extra> {
        let mut extras = Vec::new();
        for (position, relation) in self.model.relations.iter().enumerate() {
            let (up, down) = (relation.up(), relation.down());
            let is_child = relation.kind == RelationKind::Children;
            if relation.kind == RelationKind::Listing {
                extras.extend(self.list_extras(position, entity, record, made));
                continue;
            }
            if relation.many == entity && self.shape.up_word(position) == Word::Reference {
                if is_child {
                    extras.push((position, up.to_owned(), slot(&format!("{parent}._id"))));
                }
                let source = match made.and_then(|made| made.sources.get(&position)) {
                    Some(source) => source.clone(),
                    None if is_child => parent.to_owned(),
                    None => format!("{record}.{up}"),
                };
                for field in self.shape.referenced(position).iter().filter(|_| !source.is_empty()) {
                    extras.push((position, format!("{up}_{field}"), slot(&format!("{source}.{field}"))));
                }
                if self.shape.is_versioned(self.model, position) && !source.is_empty() {
                    let version = made.map_or_else(|| 0.into(), |_| slot(&format!("{source}.{VERSION}")));
                    extras.push((position, version_of(up), version));
                }
            }
            if relation.one == entity
                && self.shape.is_versioned(self.model, position)
                && extras.iter().all(|(_, field, _)| field != VERSION)
            {
                extras.push((position, VERSION.to_owned(), 0.into()));
            }
            if relation.one != entity || !is_child {
                continue;
            }
            let (all, word) = (format!("{record}.{down}"), self.shape.word(position));
            let list = made.map_or(Some(&all), |made| made.lists.get(&position));
            // Numbers are in front of the array, behind which the server would have to look for them.
            let number = |path: Option<String>| path.map_or_else(|| 0.into(), |path| slot(&path));
            if let Some(counter) = self.shape.counter(self.model, position) {
                extras.push((position, counter, number(list.map(|list| format!("{list}.size")))));
            }
            for field in self.shape.sums(position).iter().map(|field| sum_of(down, field)) {
                let known = made.map_or_else(|| Some(field.clone()), |made| made.sums.get(&field).cloned());
                extras.push((position, field, number(known)));
            }
            if matches!(word, Word::Embed | Word::List) {
                let value = match (list, word) {
                    (None, _) => Vec::new().into(),
                    (Some(children), Word::Embed) => self.embedded(relation.many, children, made),
                    (Some(children), _) if self.shape.listed(position).is_empty() => slot(&format!("{children}._id")),
                    (Some(children), _) => each("x", children, self.shape.list_entry(position, "x")),
                };
                extras.push((position, down.to_owned(), value));
            }
            if let Some((most, field)) = self.shape.newest(self.model, position) {
                let value = list.map(|list| each("x", &self.last(position, list, most), slot("x")));
                extras.push((position, field, value.unwrap_or_else(|| Vec::new().into())));
            }
        }
        extras
    }

    /// The document of a record: all of its fields but lists that are elsewhere, and these.
    pub fn document(&self, entity: usize, record: &str, extras: Vec<Extra>) -> Node {
        let elsewhere: Vec<&str> = self.shape.lists_elsewhere(self.model, entity).map(|(_, list)| list).collect();
        let is_elsewhere = |field: &str| elsewhere.contains(&field) || self.is_split_off(entity, field);
        let own = self.model.entity(entity).fields.iter().map(|(name, _)| name.value.clone());
        let is_whole = !own.clone().any(|field| is_elsewhere(&field));
        if is_whole && extras.is_empty() {
            return slot(record);
        }
        let own = own.filter(|field| !is_elsewhere(field));
        let own: Vec<(String, Node)> = if is_whole {
            vec![("...".to_owned(), slot(record))]
        } else {
            own.map(|field| (field.clone(), slot(&format!("{record}.{field}")))).collect()
        };
        mapping(own.into_iter().chain(extras.into_iter().map(|(_, field, value)| (field, value))).collect())
    }

    /// What the documents of both sides of a list of records have besides their fields.
    fn list_extras(&self, position: usize, entity: usize, record: &str, made: Option<&Made>) -> Vec<Extra> {
        let (this, shape) = (&self.model.relations[position], self.shape);
        let (up, down) = (this.up(), this.down());
        let mut extras = Vec::new();
        let all = format!(
            "referrers({}.{}, {record})",
            self.model.name(if this.is_turned { this.many } else { this.one }),
            if this.is_turned { up } else { down }
        );
        if this.one == entity && (this.is_turned || !shape.listed(position).is_empty()) {
            let value = match made {
                None if this.is_turned => each("x", &all, shape.list_entry(position, "x")),
                None => each("x", &format!("{record}.{down}"), shape.list_entry(position, "x")),
                Some(made) => made.lists.get(&position).map_or_else(|| Vec::new().into(), |list| slot(list)),
            };
            extras.push((position, down.to_owned(), value));
        }
        if this.many == entity && shape.is_mutual(self.model, position) {
            let value = match made {
                None => each("x", &all, shape.back_entry(position, "x", "x")),
                Some(_) => Vec::new().into(),
            };
            extras.push((position, up.to_owned(), value));
        }
        extras
    }

    /// The expression of the last records of a list, in their order.
    fn last(&self, relation: usize, list: &str, most: &str) -> String {
        let entity = self.model.entity(self.model.relations[relation].many);
        let sort = if entity.arrives_sorted { Vec::new() } else { directions(entity.sort.as_ref()) };
        let list = if sort.is_empty() { list.to_owned() } else { sorted(list, &sort) };
        format!("slice({list}, -{most})")
    }

    /// The array of the records of an entity that are listed by `children`.
    fn embedded(&self, entity: usize, children: &str, made: Option<&Made>) -> Node {
        let name = self.model.name(entity);
        let extras = self.extras(entity, name, "", made);
        if extras.is_empty() { slot(children) } else { each(name, children, self.document(entity, name, extras)) }
    }

    /// The collections, with indexes.
    pub fn collections(&self) -> Node {
        let entities = 0..self.model.scenario.entities.len();
        let homes = entities.filter_map(|entity| {
            let (collection, path) = self.shape.home(self.model, entity);
            let name = self.model.name(entity);
            path.is_empty().then(|| {
                let sums = self.model.children_of(entity).flat_map(|child| {
                    let down = self.model.relations[child].down();
                    let sum = move |field: &String| (sum_of(down, field), format!("[sum({name}.{down}.{field})]"));
                    self.shape.sums(child).iter().map(sum).collect::<Vec<_>>()
                });
                let sums = sums.fold(map! {}, |made, (field, value)| with(made, &field, value));
                let loops = with_all(map! { name => format!("all({name})") }, &sums);
                let mut made = if is_empty(&sums) {
                    map! { "each" => name }
                } else {
                    map! { "each" => loops }
                };
                let extras = self.extras(entity, name, &format!("{name}.{}", self.parent_name(entity)), None);
                let document = self.document(entity, name, extras);
                if document != slot(name) {
                    made = with(made, "document", document);
                }
                let indexes = self.indexes_of(&collection);
                if !indexes.is_empty() {
                    made = with(made, "indexes", indexes);
                }
                (collection, made)
            })
        });
        mapping(homes.chain(self.buckets()).chain(self.pairs()).chain(self.details()).collect())
    }

    /// The collections of pairs.
    fn pairs(&self) -> impl Iterator<Item = (String, Node)> {
        let all = self.model.relations.iter().enumerate();
        all.filter_map(|(relation, this)| {
            let pairs = self.shape.pairs(self.model, relation, true)?;
            let [one, many] = [&pairs.near, &pairs.far].map(String::clone);
            let loops =
                map! { one.as_str() => format!("all({one})"), many.as_str() => format!("{one}.{}", this.down()) };
            let document = map! { one => slot(&format!("{one}._id")), many => slot(&format!("{many}._id")) };
            let made = map! { "each" => loops, "document" => pairs.copied_from(document, &many) };
            let indexes = self.indexes_of(&pairs.collection);
            Some((pairs.collection, if indexes.is_empty() { made } else { with(made, "indexes", indexes) }))
        })
    }

    /// The collections of buckets.
    fn buckets(&self) -> impl Iterator<Item = (String, Node)> {
        let all = 0..self.model.scenario.entities.len();
        all.filter_map(|entity| {
            let relation = self.shape.bucketed(self.model, entity)?;
            let this = &self.model.relations[relation];
            let (one, size) = (this.up(), self.shape.bucket_size(relation));
            let pages = format!("chunks({one}.{}, {size})", this.down());
            let document = map! {
                one => slot(&format!("{one}._id")),
                "page" => "<bucket.number>",
                "count" => "<bucket.size>",
                this.down() => self.embedded(entity, "bucket.items", None),
            };
            let (collection, _) = self.shape.home(self.model, entity);
            let loops = map! { one => format!("all({one})"), "bucket" => pages };
            let indexes = self.indexes_of(&collection);
            Some((collection, map! { "each" => loops, "document" => document, "indexes" => indexes }))
        })
    }

    fn parent_name(&self, entity: usize) -> &str {
        self.model.parent_of(entity).map_or("", |relation| self.model.relations[relation].up())
    }

    /// The stage that makes a document with copies in a list of records the record, which has `_id`s.
    pub fn restored(&self, entity: usize) -> Option<Node> {
        let down = self.model.relations[self.shape.copied_list(self.model, entity)?].down();
        Some(map! { "$set" => map! { down => format!("${down}._id") } })
    }

    /// The stage that finds the `_id`s of the records that list one of the many side.
    fn listing(&self, relation: usize, name: &str) -> Node {
        let only_id: Vec<Node> = vec![map! { "$project" => map! { "_id" => 1 } }];
        let from = self.model.collection(self.model.relations[relation].one);
        lookup(&from, "_id", &self.shape.list_id(self.model, relation), only_id, name)
    }

    /// The stages that give a record the lists that are elsewhere.
    fn gathered(&self, entity: usize) -> Vec<Node> {
        let lists = self.shape.lists_elsewhere(self.model, entity);
        let stages = lists.flat_map(|(relation, list)| match self.shape.pairs(self.model, relation, true) {
            Some(pairs) => pairs.gathered(list),
            None => [self.listing(relation, list), map! { "$set" => map! { list => format!("${list}._id") } }],
        });
        stages.collect()
    }

    /// The steps that read back entities whose records are not documents with all that they need.
    pub fn state(&self) -> Vec<(String, Node)> {
        let entities = 0..self.model.scenario.entities.len();
        entities
            .filter_map(|entity| {
                let (collection, path) = self.shape.home(self.model, entity);
                let parent = self.model.parent_of(entity);
                let relation = parent.unwrap_or_default();
                let mut pipeline = match parent.map_or(Word::Reference, |relation| self.shape.up_word(relation)) {
                    Word::Reference | Word::Link => Vec::new(),
                    Word::Embed | Word::Bucket => {
                        let owner = if self.shape.bucketed(self.model, entity).is_some() {
                            vec![self.parent_name(entity).to_owned()]
                        } else {
                            Vec::new()
                        };
                        let owner = if owner.is_empty() {
                            [&path[..path.len() - 1], &["_id".to_owned()]].concat()
                        } else {
                            owner
                        }
                        .join(".");
                        let parent = map! { self.parent_name(entity) => format!("${owner}") };
                        let merged: Vec<Node> = vec![format!("${}", path.join(".")).into(), parent];
                        let mut stages = unwinds(&path);
                        stages.push(map! { "$replaceWith" => map! { "$mergeObjects" => merged } });
                        stages
                    }
                    Word::List => {
                        let through = &self.model.relations[relation];
                        let owner = map! { through.up() => map! { "$first" => "$owners._id" } };
                        vec![self.listing(relation, "owners"), map! { "$set" => owner }]
                    }
                };
                pipeline.extend(self.restored(entity));
                pipeline.extend(self.gathered(entity));
                pipeline.extend(self.reunited(entity));
                if pipeline.is_empty() {
                    return None;
                }
                let read = map! { "aggregate" => collection, "pipeline" => pipeline };
                Some((self.model.name(entity).to_owned(), read))
            })
            .collect()
    }
}

/// A list of one item for each element of another list.
pub(super) fn each(name: &str, list: &str, item: Node) -> Node {
    vec![map! { "forEach" => map! { name => list }, "item" => item }].into()
}

/// The stages that take the records out of nested arrays.
pub(super) fn unwinds(path: &[String]) -> Vec<Node> {
    let part = |end: usize| map! { "$unwind" => format!("${}", path[..end].join(".")) };
    (1..=path.len()).map(part).collect()
}
