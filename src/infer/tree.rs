//! What was seen at each path of a collection's documents.

use std::collections::{BTreeMap, HashMap};

use bson::spec::BinarySubtype;
use bson::{Bson, RawBsonRef, RawDocument};

use super::maps;

/// Documents inside of documents that are looked into. What is deeper is written as an empty document.
const DEEPEST: usize = 12;
/// Elements of one array that are looked at.
const ELEMENTS: usize = 1_000;
/// Values that are kept of each path and type.
pub const VALUES: usize = 5_000;
/// Texts that are longer are no keys, tokens or copies: only their lengths are kept.
const LONGEST_TEXT: usize = 128;
/// Paths of one collection. A hostile document has no end of names.
const MOST_PATHS: usize = 20_000;
/// Names in one document above which they are taken for the keys of a map while documents are read.
const MOST_NAMES: usize = 1_000;

/// The type of a value, as far as generators distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueKind {
    /// Null.
    Null,
    /// A bool.
    Bool,
    /// An int of 32 bits.
    Int,
    /// An int of 64 bits.
    Long,
    /// A double.
    Double,
    /// A Decimal128.
    Decimal,
    /// A date.
    Date,
    /// An ObjectId.
    ObjectId,
    /// A UUID.
    Uuid,
    /// Other bytes.
    Binary,
    /// Text.
    Text,
    /// A document.
    Object,
    /// An array.
    Array,
    /// Types that no generator makes: regular expressions, timestamps, code...
    Other,
}

impl ValueKind {
    /// The types that keys have.
    pub const KEYS: [ValueKind; 5] =
        [ValueKind::ObjectId, ValueKind::Uuid, ValueKind::Text, ValueKind::Int, ValueKind::Long];

    fn of(value: RawBsonRef) -> ValueKind {
        match value {
            RawBsonRef::Null | RawBsonRef::Undefined => ValueKind::Null,
            RawBsonRef::Boolean(_) => ValueKind::Bool,
            RawBsonRef::Int32(_) => ValueKind::Int,
            RawBsonRef::Int64(_) => ValueKind::Long,
            RawBsonRef::Double(_) => ValueKind::Double,
            RawBsonRef::Decimal128(_) => ValueKind::Decimal,
            RawBsonRef::DateTime(_) => ValueKind::Date,
            RawBsonRef::ObjectId(_) => ValueKind::ObjectId,
            RawBsonRef::Binary(bytes) if bytes.subtype == BinarySubtype::Uuid => ValueKind::Uuid,
            RawBsonRef::Binary(_) => ValueKind::Binary,
            RawBsonRef::String(_) => ValueKind::Text,
            RawBsonRef::Document(_) => ValueKind::Object,
            RawBsonRef::Array(_) => ValueKind::Array,
            _ => ValueKind::Other,
        }
    }
}

/// One path.
#[derive(Debug, Clone, Default)]
pub struct SeenNode {
    /// How many values it had, null among them.
    pub seen: u64,
    /// Values by type.
    pub kinds: BTreeMap<ValueKind, u64>,
    /// Scalar values by type, the first ones; short texts only.
    pub values: BTreeMap<ValueKind, Vec<Bson>>,
    /// Bytes of texts and binary values.
    pub bytes: BTreeMap<ValueKind, Vec<u32>>,
    /// Of documents: their fields, in the order in which they were first seen.
    pub fields: Vec<(String, SeenNode)>,
    /// Of documents: how many fields each has.
    pub entries: Vec<u32>,
    /// Of arrays: how many elements each has.
    pub lengths: Vec<u32>,
    /// The elements of arrays, or the values of maps.
    pub item: Option<Box<SeenNode>>,
    /// Of maps: how long their keys are, and how many different ones there are.
    pub map: Option<MapKeys>,
    places: HashMap<String, usize>,
}

/// The keys of a map, of which no name is kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MapKeys {
    /// Bytes of the keys, one for each entry.
    pub lengths: Vec<u32>,
    /// How many different keys there are.
    pub distinct: u64,
}

/// What the sample of one collection looks like.
#[derive(Debug, Clone, Default)]
pub struct SeenTree {
    /// The documents.
    pub root: SeenNode,
    /// Bytes of each document.
    pub sizes: Vec<u32>,
    /// Names that were left out, because there are too many.
    pub left_out: u64,
    paths: usize,
}

impl SeenTree {
    /// Adds a document.
    pub fn add(&mut self, document: &RawDocument) {
        self.sizes.push(u32::try_from(document.as_bytes().len()).unwrap_or(u32::MAX));
        let (mut paths, mut left_out) = (self.paths, self.left_out);
        self.root.add_document(document, 0, &mut paths, &mut left_out);
        (self.paths, self.left_out) = (paths, left_out);
    }

    /// Finds maps, once all documents are there.
    pub fn finish(&mut self) {
        self.root.fields.iter_mut().for_each(|(_, field)| field.find_maps());
    }

    /// How many documents there are.
    pub fn documents(&self) -> u64 {
        self.sizes.len() as u64
    }
}

impl SeenNode {
    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&SeenNode> {
        self.fields.iter().find(|(own, _)| own == name).map(|(_, node)| node)
    }

    /// The node at a path of fields; `[]` leads to the elements of an array.
    pub fn at(&self, path: &[String]) -> Option<&SeenNode> {
        path.iter().try_fold(self, |node, part| if part == "[]" { node.item.as_deref() } else { node.field(part) })
    }

    /// The type that most values have, null apart, with its number.
    pub fn main_kind(&self) -> Option<(ValueKind, u64)> {
        let others = self.kinds.iter().filter(|(kind, _)| **kind != ValueKind::Null);
        others.max_by_key(|(_, seen)| **seen).map(|(kind, seen)| (*kind, *seen))
    }

    /// How many values have this type.
    pub fn of_kind(&self, kind: ValueKind) -> u64 {
        self.kinds.get(&kind).copied().unwrap_or(0)
    }

    /// The values of this type.
    pub fn values_of(&self, kind: ValueKind) -> &[Bson] {
        self.values.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// Visits this node and all below, with their paths; not what is inside of maps.
    pub fn walk<'n>(&'n self, path: &mut Vec<String>, visit: &mut impl FnMut(&[String], &'n SeenNode)) {
        visit(path, self);
        if self.map.is_some() {
            return;
        }
        let items = self.item.iter().map(|item| ("[]", &**item));
        let fields = self.fields.iter().map(|(name, field)| (name.as_str(), field));
        for (name, node) in fields.chain(items) {
            path.push(name.to_owned());
            node.walk(path, visit);
            path.pop();
        }
    }

    fn add_document(&mut self, document: &RawDocument, depth: usize, paths: &mut usize, left_out: &mut u64) {
        self.seen += 1;
        *self.kinds.entry(ValueKind::Object).or_default() += 1;
        if depth > DEEPEST {
            return;
        }
        let mut entries = 0;
        for (name, value) in document.iter().map_while(Result::ok) {
            entries += 1;
            let name = name.as_str();
            if let Some(map) = &mut self.map {
                map.lengths.push(u32::try_from(name.len()).unwrap_or(u32::MAX));
                self.item.get_or_insert_default().add(value, depth + 1, paths, left_out);
                continue;
            }
            let place = match self.places.get(name) {
                Some(place) => *place,
                None if *paths >= MOST_PATHS => {
                    *left_out += 1;
                    continue;
                }
                None => {
                    *paths += 1;
                    self.places.insert(name.to_owned(), self.fields.len());
                    self.fields.push((name.to_owned(), SeenNode::default()));
                    self.fields.len() - 1
                }
            };
            self.fields[place].1.add(value, depth + 1, paths, left_out);
        }
        self.entries.push(entries);
        // The documents of a collection stay documents: their fields are the schema.
        if depth > 0 && self.map.is_none() && self.fields.len() > MOST_NAMES {
            self.collapse();
        }
    }

    fn add(&mut self, value: RawBsonRef, depth: usize, paths: &mut usize, left_out: &mut u64) {
        let kind = ValueKind::of(value);
        match value {
            RawBsonRef::Document(document) => return self.add_document(document, depth, paths, left_out),
            RawBsonRef::Array(array) => {
                let mut length = 0;
                for element in array.into_iter().map_while(Result::ok) {
                    if length < ELEMENTS && depth <= DEEPEST {
                        self.item.get_or_insert_default().add(element, depth + 1, paths, left_out);
                    }
                    length += 1;
                }
                self.lengths.push(u32::try_from(length).unwrap_or(u32::MAX));
            }
            RawBsonRef::String(text) => self.note_bytes(kind, text.len()),
            RawBsonRef::Binary(bytes) => self.note_bytes(kind, bytes.bytes.len()),
            _ => {}
        }
        self.seen += 1;
        *self.kinds.entry(kind).or_default() += 1;
        let is_kept = match value {
            RawBsonRef::String(text) => text.len() <= LONGEST_TEXT,
            RawBsonRef::Array(_) | RawBsonRef::Null => false,
            _ => kind != ValueKind::Binary && kind != ValueKind::Other,
        };
        let kept = self.values.entry(kind).or_default();
        if is_kept && kept.len() < VALUES {
            kept.extend(Bson::try_from(value).ok());
        }
    }

    fn note_bytes(&mut self, kind: ValueKind, bytes: usize) {
        let noted = self.bytes.entry(kind).or_default();
        if noted.len() < VALUES {
            noted.push(u32::try_from(bytes).unwrap_or(u32::MAX));
        }
    }

    fn find_maps(&mut self) {
        if self.map.is_none() && maps::is_map(self) {
            self.collapse();
        }
        self.fields.iter_mut().for_each(|(_, field)| field.find_maps());
        self.item.iter_mut().for_each(|item| item.find_maps());
    }

    /// Makes a map of it: names become lengths, and all values one node.
    fn collapse(&mut self) {
        let fields = std::mem::take(&mut self.fields);
        self.places.clear();
        let mut map = MapKeys { distinct: fields.len() as u64, ..MapKeys::default() };
        let mut item = self.item.take().map(|item| *item).unwrap_or_default();
        for (name, field) in fields {
            let length = u32::try_from(name.len()).unwrap_or(u32::MAX);
            map.lengths.extend(std::iter::repeat_n(length, usize::try_from(field.seen).unwrap_or(0).min(VALUES)));
            item.merge(field);
        }
        (self.map, self.item) = (Some(map), Some(Box::new(item)));
    }

    fn merge(&mut self, other: SeenNode) {
        self.seen += other.seen;
        other.kinds.into_iter().for_each(|(kind, seen)| *self.kinds.entry(kind).or_default() += seen);
        for (kind, values) in other.values {
            let own = self.values.entry(kind).or_default();
            own.extend(values.into_iter().take(VALUES.saturating_sub(own.len())));
        }
        for (kind, bytes) in other.bytes {
            let own = self.bytes.entry(kind).or_default();
            own.extend(bytes.into_iter().take(VALUES.saturating_sub(own.len())));
        }
        self.entries.extend(other.entries);
        self.lengths.extend(other.lengths);
        for (name, field) in other.fields {
            let place = *self.places.entry(name.clone()).or_insert_with(|| {
                self.fields.push((name, SeenNode::default()));
                self.fields.len() - 1
            });
            self.fields[place].1.merge(field);
        }
        if let Some(item) = other.item {
            self.item.get_or_insert_default().merge(*item);
        }
        if let Some(map) = other.map {
            let own = self.map.get_or_insert_default();
            own.lengths.extend(map.lengths);
            own.distinct = own.distinct.max(map.distinct);
        }
    }
}

/// Whether a node is a scalar that updates may set.
pub fn is_settable(node: &SeenNode) -> bool {
    let settable = [
        ValueKind::Int,
        ValueKind::Long,
        ValueKind::Double,
        ValueKind::Bool,
        ValueKind::Text,
        ValueKind::Date,
        ValueKind::Decimal,
    ];
    node.main_kind().is_some_and(|(kind, seen)| settable.contains(&kind) && seen == node.seen)
}

#[cfg(test)]
mod tests {
    use bson::{Document, RawDocumentBuf, doc};

    use super::*;

    pub(in super::super) fn tree(documents: impl IntoIterator<Item = Document>) -> SeenTree {
        let mut tree = SeenTree::default();
        documents.into_iter().for_each(|document| tree.add(&RawDocumentBuf::try_from(&document).unwrap()));
        tree.finish();
        tree
    }

    #[test]
    fn types_and_missing_keys_are_counted() {
        let seen = tree([doc! { "a": 1, "b": "x" }, doc! { "a": "1" }, doc! { "a": null, "c": [1, 2, { "d": 1 }] }]);
        let a = seen.root.field("a").unwrap();
        assert_eq!(
            (a.seen, a.of_kind(ValueKind::Int), a.of_kind(ValueKind::Text), a.of_kind(ValueKind::Null)),
            (3, 1, 1, 1)
        );
        assert_eq!((seen.root.field("b").unwrap().seen, seen.documents()), (1, 3));
        let inside = seen.root.at(&["c", "[]", "d"].map(str::to_owned)).unwrap();
        assert_eq!((inside.seen, &seen.root.field("c").unwrap().lengths), (1, &vec![3]));
    }

    #[test]
    fn names_without_end_take_no_memory_without_end() {
        let wide = |from: usize| (from..from + 3_000).map(|name| (format!("k{name}"), Bson::Int32(1))).collect();
        let documents = (0..4).map(|number| doc! { "m": Bson::Document(wide(number * 3_000)) });
        let seen = tree(documents);
        let map = seen.root.field("m").unwrap();
        assert!(map.fields.is_empty() && map.map.is_some());
        let flat = tree((0..10).map(|number| wide(number * 3_000)));
        assert!(flat.root.fields.len() <= MOST_PATHS && flat.left_out > 0);
    }
}
