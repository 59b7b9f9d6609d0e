//! Which relation each reference is: to a parent, to another record, or a list; and which arrays are records of their own.

use std::collections::HashSet;

use super::buckets::{self, Buckets};
use super::copies::Copy;
use super::names::is_plain;
use super::references::{Reference, is_key};
use super::sample::CollectionSample;
use super::tree::{SeenNode, SeenTree, ValueKind, is_settable};

/// Children on average above which a record is a category of others, rather than one that they belong to.
const MOST_CHILDREN: f64 = 200.0;
/// The share of documents that have what all should have.
const NEARLY_ALL: f64 = 0.98;
/// Arrays around a record.
const DEEPEST: usize = 2;

/// A reference with the copies beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundReference {
    /// The reference.
    pub reference: Reference,
    /// Fields beside it that repeat fields of the record.
    pub copies: Vec<Copy>,
    /// Whether the document around it has nothing but the key and exact copies.
    pub is_all: bool,
}

impl FoundReference {
    /// The reference with its copies.
    pub fn new(trees: &[SeenTree], reference: Reference, mut copies: Vec<Copy>) -> FoundReference {
        // What a shape can copy.
        let target = &trees[reference.target].root;
        copies.retain(|copy| is_plain(&copy.of) && target.field(&copy.of).is_some_and(is_settable));
        let around = reference
            .path
            .split_last()
            .and_then(|(key, owner)| Some((key, trees[reference.collection].root.at(owner)?)));
        let is_copy = |name: &String| copies.iter().any(|copy| copy.is_exact() && copy.field == *name);
        let is_all =
            around.is_some_and(|(key, owner)| owner.fields.iter().all(|(name, _)| name == key || is_copy(name)));
        FoundReference { reference, copies, is_all }
    }

    /// The paths of the copies, with the collection.
    pub fn copied_paths(&self) -> impl Iterator<Item = (usize, Vec<String>)> {
        let owner = &self.reference.path[..self.reference.path.len() - 1];
        let path = |copy: &Copy| owner.iter().cloned().chain([copy.field.clone()]).collect();
        self.copies.iter().filter(|copy| copy.is_exact()).map(move |copy| (self.reference.collection, path(copy)))
    }
}

/// Where the records of an entity are told to belong.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parent {
    /// The collection of the parent.
    pub collection: usize,
    /// The reference of the child, by its number.
    pub reference: Option<usize>,
    /// The list of the parent, by its number.
    pub list: Option<usize>,
}

/// An array of documents that are records.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The collection.
    pub collection: usize,
    /// The path of the array; `[]` is a part of it for each array around it.
    pub path: Vec<String>,
    /// The field that identifies an element; none has to be added.
    pub key: Option<String>,
}

/// What the references of all collections mean.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Relations {
    /// All references.
    pub found: Vec<FoundReference>,
    /// The parent of each collection's records.
    pub parents: Vec<Option<Parent>>,
    /// Arrays of records, outer ones first.
    pub arrays: Vec<Array>,
    /// Lists of keys that several records share, by their numbers; with the list of the other direction.
    pub lists: Vec<(usize, Option<usize>)>,
    /// Collections whose documents are buckets of records.
    pub buckets: Vec<Buckets>,
}

impl Relations {
    /// Decides about all references.
    pub fn of(samples: &[CollectionSample], trees: &[SeenTree], found: Vec<FoundReference>) -> Relations {
        let mut made = Relations { found, parents: vec![None; samples.len()], ..Relations::default() };
        made.choose_parents(samples, trees);
        made.find_lists();
        for (collection, tree) in trees.iter().enumerate() {
            made.find_arrays(collection, &tree.root, &mut Vec::new());
        }
        made.buckets = buckets::find(trees, &made);
        made
    }

    /// The same with simpler shapes, for a model that would not compile: without buckets, then without any relation.
    #[must_use]
    pub fn simpler(self) -> Relations {
        if self.buckets.is_empty() {
            return Relations { parents: vec![None; self.parents.len()], ..Relations::default() };
        }
        Relations { buckets: Vec::new(), ..self }
    }

    /// The reference at a path, or that of a document with nothing but a reference and copies.
    pub fn at(&self, collection: usize, path: &[String]) -> Option<usize> {
        let is_at = |one: &FoundReference| one.reference.collection == collection && self.place(one) == path;
        self.found.iter().position(is_at)
    }

    /// The path that a reference takes in the model: that of the document around it, if all else there are copies.
    pub fn place<'f>(&self, one: &'f FoundReference) -> &'f [String] {
        let path = &one.reference.path;
        let is_around = path.len() > 1 && is_id(path.last()) && one.is_all;
        if is_around { &path[..path.len() - 1] } else { path }
    }

    fn choose_parents(&mut self, samples: &[CollectionSample], trees: &[SeenTree]) {
        let mut candidates: Vec<(u64, usize, Parent)> = Vec::new();
        for (number, one) in self.found.iter().enumerate().filter(|(_, one)| one.reference.field == "_id") {
            let reference = &one.reference;
            let (own, target) = (reference.collection, reference.target);
            let place = self.place(one);
            if own == target {
                continue;
            }
            let mean = samples[own].count as f64 / samples[target].count.max(1) as f64;
            if let [field] = place {
                let share = trees[own]
                    .root
                    .field(field)
                    .map_or(0.0, |node| present(node) / trees[own].documents().max(1) as f64);
                if share >= NEARLY_ALL && mean <= MOST_CHILDREN {
                    let rank = u64::from(samples[own].is_indexed(field)) * 2 + 1;
                    candidates.push((rank, own, Parent { collection: target, reference: Some(number), list: None }));
                }
            } else if is_list(place) && reference.is_exclusive {
                candidates.push((10, target, Parent { collection: own, reference: None, list: Some(number) }));
            }
        }
        candidates.sort_by_key(|(rank, ..)| std::cmp::Reverse(*rank));
        for (_, child, parent) in candidates {
            let is_circle = self.descends(parent.collection, child);
            match &mut self.parents[child] {
                // Both directions of one relation.
                Some(known) if known.collection == parent.collection && known.reference.is_none() => {
                    known.reference = parent.reference;
                }
                None if !is_circle => self.parents[child] = Some(parent),
                Some(_) | None => {}
            }
        }
    }

    fn descends(&self, one: usize, from: usize) -> bool {
        one == from || self.parents[one].as_ref().is_some_and(|parent| self.descends(parent.collection, from))
    }

    fn find_lists(&mut self) {
        let is_of_parent = |number: usize| self.parents.iter().flatten().any(|parent| parent.list == Some(number));
        let mut lists: Vec<(usize, Option<usize>)> = Vec::new();
        for (number, one) in self.found.iter().enumerate() {
            let reference = &one.reference;
            if !is_list(self.place(one))
                || reference.field != "_id"
                || is_of_parent(number)
                || reference.collection == reference.target
            {
                continue;
            }
            let is_back = |(other, back): &&mut (usize, Option<usize>)| {
                let other = &self.found[*other].reference;
                back.is_none() && (other.collection, other.target) == (reference.target, reference.collection)
            };
            match lists.iter_mut().find(is_back) {
                Some((_, back)) => *back = Some(number),
                None => lists.push((number, None)),
            }
        }
        // The list that is drawn is the one that chance explains less; the other one follows from it.
        let chosen = |(list, back): (usize, Option<usize>)| match back {
            Some(back) if self.unevenness(list) > self.unevenness(back) => (back, Some(list)),
            _ => (list, back),
        };
        self.lists = lists.into_iter().map(chosen).collect();
    }

    /// How far the numbers of records that refer along a list are from those of chance, whose variance is their mean.
    fn unevenness(&self, list: usize) -> f64 {
        let counts = &self.found[list].reference.fan_out;
        let n = counts.len().max(1) as f64;
        let mean = counts.iter().sum::<u64>() as f64 / n;
        let variance = counts.iter().map(|count| (*count as f64 - mean).powi(2)).sum::<f64>() / n;
        (variance / mean.max(1e-9) - 1.0).abs()
    }

    fn find_arrays(&mut self, collection: usize, node: &SeenNode, path: &mut Vec<String>) {
        if path.iter().filter(|part| *part == "[]").count() == DEEPEST {
            return;
        }
        for (name, field) in &node.fields {
            let Some(item) = field.item.as_deref().filter(|item| is_of_documents(field, item)) else { continue };
            path.push(name.clone());
            let list: Vec<String> = path.iter().cloned().chain(["[]".to_owned()]).collect();
            let is_known = self.at(collection, &list).is_some() || !is_plain(name);
            if let Some(key) = self.identity(collection, item, &list).filter(|_| !is_known) {
                self.arrays.push(Array { collection, path: path.clone(), key });
                path.push("[]".to_owned());
                self.find_arrays(collection, item, path);
                path.pop();
            }
            path.pop();
        }
    }

    /// What identifies the elements of an array: a field, or `None` inside where they only refer to another record.
    fn identity(&self, collection: usize, item: &SeenNode, list: &[String]) -> Option<Option<String>> {
        let documents = item.of_kind(ValueKind::Object).max(1) as f64;
        let is_there = |node: &SeenNode| present(node) / documents >= NEARLY_ALL;
        let is_scalar = |node: &SeenNode| node.main_kind().is_some_and(|(kind, _)| ValueKind::KEYS.contains(&kind));
        if item.field("_id").is_some_and(|node| is_there(node) && is_scalar(node)) {
            return Some(Some("_id".to_owned()));
        }
        let is_reference = |name: &str| self.at(collection, &[list, &[name.to_owned()]].concat()).is_some();
        let is_own = |(name, node): &&(String, SeenNode)| {
            is_like_key(name, node)
                && is_there(node)
                && is_scalar(node)
                && !is_reference(name)
                && is_unique(documents as u64, name, node)
        };
        if let Some((name, _)) = item.fields.iter().find(is_own) {
            return Some(Some(name.clone()));
        }
        item.fields.iter().any(|(name, _)| is_reference(name)).then_some(None)
    }
}

/// Whether values are different, ObjectIds included.
fn is_unique(documents: u64, name: &str, node: &SeenNode) -> bool {
    let ids = node.values_of(ValueKind::ObjectId);
    let distinct: HashSet<Vec<u8>> = ids.iter().map(super::sample::key_of).collect();
    ids.len() >= 20 && distinct.len() == ids.len() || is_key(&CollectionSample::default(), documents, name, node)
}

/// Whether a field is called as keys are.
fn is_like_key(name: &str, node: &SeenNode) -> bool {
    const ENDS: [&str; 8] = ["id", "key", "code", "sku", "no", "number", "uuid", "slug"];
    let lower = name.to_lowercase();
    ENDS.iter().any(|end| lower.ends_with(end)) || node.main_kind().is_some_and(|(kind, _)| kind == ValueKind::Uuid)
}

/// Values that are not null.
fn present(node: &SeenNode) -> f64 {
    (node.seen - node.of_kind(ValueKind::Null)) as f64
}

fn is_of_documents(field: &SeenNode, item: &SeenNode) -> bool {
    let of =
        |node: &SeenNode, kind: ValueKind| node.of_kind(kind) as f64 >= NEARLY_ALL * node.seen as f64 && node.seen > 0;
    of(field, ValueKind::Array) && of(item, ValueKind::Object) && item.map.is_none()
}

/// Whether a path is that of the elements of an array in the documents of the collection.
fn is_list(path: &[String]) -> bool {
    matches!(path, [field, elements] if elements == "[]" && is_plain(field))
}

fn is_id(name: Option<&String>) -> bool {
    name.is_some_and(|name| ["_id", "id"].contains(&name.as_str()))
}
