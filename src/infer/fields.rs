//! The fields of one entity: keys, references, lists, and everything else as it looks like.

use std::collections::HashSet;

use super::entities::{InferredModel, plain_field, word};
use super::generator::{Generators, Replaced, Written, text};
use super::layout::{FieldPlace, ParentPlace};
use super::names::{cleaned, is_plain};
use super::numbers;
use super::relations::{FoundReference, Relations};
use super::sample::{CollectionSample, key_of};
use super::scalar;
use super::tree::{SeenNode, ValueKind};

/// Fields that fewer documents have are left out.
const LEAST_SHARE: f64 = 0.002;
/// The most fields of an entity; a scenario may have a thousand entries in a mapping.
const MOST_FIELDS: usize = 900;

/// What the fields of an entity are made of.
pub struct FieldsOf<'f> {
    /// The name of the entity.
    pub own: &'f str,
    pub sample: &'f CollectionSample,
    pub collection: usize,
    /// The documents or elements.
    pub node: &'f SeenNode,
    /// Their path in the collection's documents.
    pub path: &'f [String],
    pub relations: &'f Relations,
    /// The names of entities, by collection.
    pub names: &'f [String],
    /// The entities so far: those that a copy may be of.
    pub entities: &'f InferredModel,
    /// Of elements of an array: the field that identifies them.
    pub key: Option<Option<&'f str>>,
    /// The field that is the time of creation.
    pub clock: Option<&'f str>,
    pub parent: Option<&'f ParentPlace>,
}

/// The fields, and what belongs to them.
#[derive(Debug, Default)]
pub struct MadeFields {
    pub fields: Vec<FieldPlace>,
    /// Fields of the documents that a shape copies.
    pub copies: Vec<FieldPlace>,
    pub helpers: Vec<(String, String)>,
    pub shape: Vec<(String, Vec<String>)>,
    pub inverse: Option<(String, String)>,
    pub comments: Vec<String>,
    /// What generators do not keep of the values.
    pub notes: Vec<String>,
}

impl FieldsOf<'_> {
    /// Makes them, in the order of the documents.
    pub fn make(&self) -> MadeFields {
        let mut made = MadeFields::default();
        made.fields.push(self.id(&mut made.comments));
        let documents = self.node.of_kind(ValueKind::Object).max(1);
        let replaced = self.replaced();
        let mut generators = Generators { replaced: &replaced, notes: Vec::new() };
        let mut written = Written::default();
        let mut taken: HashSet<String> = ["_id".to_owned()].into();
        taken.extend(self.parent.map(|parent| parent.entity.clone()));
        let is_rare = |field: &SeenNode| (field.seen as f64) < LEAST_SHARE * documents as f64;
        let skipped = self.skipped();
        for (name, field) in &self.node.fields {
            let path: Vec<String> = self.path.iter().cloned().chain([name.clone()]).collect();
            if skipped.contains(name) || is_rare(field) {
                continue;
            }
            if made.fields.len() == MOST_FIELDS {
                made.comments.push(format!("more than {MOST_FIELDS} fields; the others are left out"));
                break;
            }
            let list: Vec<String> = path.iter().cloned().chain(["[]".to_owned()]).collect();
            let share = (field.seen - field.of_kind(ValueKind::Null)) as f64 / documents as f64;
            if let Some(found) = self.relations.at(self.collection, &path).map(|number| &self.relations.found[number]) {
                self.add_reference(found, name, share, &mut taken, &mut made);
            } else if let Some(number) = self.relations.at(self.collection, &list) {
                self.add_list(number, name, field, &mut made);
            } else {
                let is_named =
                    |one: &FoundReference| one.reference.target == self.collection && one.reference.field == *name;
                let has_index = self.sample.indexes.iter().any(|one| one.is_unique && one.only_field() == Some(name));
                // Other values that happen to be different keep their lengths.
                let is_unique = self.path.is_empty() && (has_index || self.relations.found.iter().any(is_named));
                let unique = || scalar::unique(field, name, self.sample.count);
                let mut is_value = false;
                let generator = match () {
                    () if self.clock == Some(name) => "clock()".to_owned(),
                    () if is_unique && share >= 0.998 && is_scalar(field) => text(&unique()),
                    () => {
                        is_value = !replaced.keys().any(|reference| reference.starts_with(&path));
                        written.field(&generators.field(field, &path, documents), name)
                    }
                };
                // An entry of `...` would spread, and is no name here.
                let free = if name == "..." { "___".to_owned() } else { unlike(name, &taken) };
                let is_unique = is_unique && is_scalar(field) && is_plain(&free) && self.sample.is_indexed(name);
                made.fields.push(FieldPlace {
                    is_list: false,
                    unique: is_unique,
                    is_value,
                    ..plain_field(&free, vec![name.clone()], generator)
                });
                taken.insert(free);
            }
        }
        made.copies = self.copies(&made.fields);
        made.helpers = written.helpers;
        made.notes.extend(short(generators.notes));
        made.notes.extend(short(written.notes));
        made
    }

    fn id(&self, comments: &mut Vec<String>) -> FieldPlace {
        let place = |name: &str| -> FieldPlace {
            let node = self.node.field(name);
            let generator = node.map_or("index".to_owned(), |node| scalar::unique(node, name, self.sample.count));
            FieldPlace { unique: true, ..plain_field("_id", vec![name.to_owned()], text(&generator)) }
        };
        match self.key {
            None | Some(Some("_id")) => {
                let kind = self.node.field("_id").and_then(SeenNode::main_kind).map(|(kind, _)| kind);
                if !kind.is_some_and(|kind| ValueKind::KEYS.contains(&kind)) {
                    comments.push("its _id is of a type that is no key here: a number takes its place".to_owned());
                }
                place("_id")
            }
            Some(Some(key)) => {
                comments.push(format!("its key {key} is called _id here"));
                place(key)
            }
            Some(None) => {
                comments.push(
                    "its elements have no key of their own; a record of a model needs one: 9 bytes more each"
                        .to_owned(),
                );
                FieldPlace { unique: true, ..plain_field("_id", Vec::new(), "index".to_owned()) }
            }
        }
    }

    /// The fields that are not written: the key, the reference to the parent, copies, arrays of records, lists of the parent.
    fn skipped(&self) -> HashSet<String> {
        let mut skipped: HashSet<String> = ["_id".to_owned()].into();
        skipped.extend(self.key.flatten().map(str::to_owned));
        let arrays = self.relations.arrays.iter().filter(|array| array.collection == self.collection);
        let inside = arrays.filter(|array| array.path[..array.path.len() - 1] == *self.path);
        skipped.extend(inside.filter_map(|array| array.path.last().cloned()));
        for (number, found) in self.relations.found.iter().enumerate() {
            let reference = &found.reference;
            if reference.collection != self.collection {
                continue;
            }
            let place = self.relations.place(found);
            let is_of =
                |parent: &super::relations::Parent| parent.reference == Some(number) || parent.list == Some(number);
            let is_back = self.relations.lists.iter().any(|(_, back)| *back == Some(number));
            let field = place.iter().find(|part| *part != "[]");
            if self.path.is_empty() && (self.relations.parents.iter().flatten().any(is_of) || is_back) {
                skipped.extend(field.cloned());
            }
            // Copies lie beside the reference.
            let is_beside = reference.path.len() == self.path.len() + 1 && reference.path.starts_with(self.path);
            if is_beside {
                skipped.extend(self.copied(found).map(|copy| copy.field.clone()));
            }
        }
        skipped
    }

    /// The copies beside a reference that a shape names.
    fn copied<'f>(&self, found: &'f FoundReference) -> impl Iterator<Item = &'f super::copies::Copy> {
        let sources = copied(found, self.entities, &self.names[found.reference.target]);
        found.copies.iter().filter(move |copy| sources.contains(&copy.of))
    }

    /// These, with the fields or the parent that they are copies of.
    fn copies(&self, fields: &[FieldPlace]) -> Vec<FieldPlace> {
        let mut copies = Vec::new();
        for found in self.relations.found.iter().filter(|found| found.reference.collection == self.collection) {
            let Some(around) = found.reference.path.strip_prefix(self.path).and_then(|path| path.split_last()) else {
                continue;
            };
            let place = self.relations.place(found);
            let field = fields.iter().find(|field| field.refers.is_some() && place.ends_with(&field.path));
            let parent = self.parent.filter(|parent| parent.reference.as_deref() == Some(place));
            let reference = field.map(|field| &field.field).or(parent.map(|parent| &parent.entity));
            let (false, Some(reference)) = (around.1.iter().any(|part| part == "[]"), reference) else { continue };
            copies.extend(self.copied(found).map(|copy| FieldPlace {
                copy_of: Some((reference.clone(), copy.of.clone())),
                ..plain_field(&copy.field, [around.1, std::slice::from_ref(&copy.field)].concat(), String::new())
            }));
        }
        copies
    }

    /// References that are no relation of the model, because they lie deeper or lead to another key.
    fn replaced(&self) -> Replaced {
        let mut replaced = Replaced::new();
        for found in self.relations.found.iter().filter(|found| found.reference.collection == self.collection) {
            let reference = &found.reference;
            let has_target = self.entities.layout.entities.iter().any(|one| one.entity == self.names[reference.target]);
            let record = format!("zipf({}, {})", self.names[reference.target], reference.exponent);
            let is_id = reference.field == "_id";
            if is_id {
                replaced.insert(reference.path.clone(), record);
            } else if has_target && is_plain(&reference.field) {
                replaced.insert(reference.path.clone(), format!("{record}.{}", reference.field));
            }
        }
        replaced
    }

    fn add_reference(
        &self,
        found: &FoundReference,
        name: &str,
        share: f64,
        taken: &mut HashSet<String>,
        made: &mut MadeFields,
    ) {
        let reference = &found.reference;
        let target = &self.names[reference.target];
        let record = format!("zipf({target}, {})", reference.exponent);
        let is_id = reference.field == "_id";
        let value = if is_id { record } else { format!("{record}.{}", reference.field) };
        let value = if share >= 0.998 { value } else { format!("{} ? {value} : missing", scalar::chance(share)) };
        let free = unlike(&if is_id { cleaned_field(name) } else { name.to_owned() }, taken);
        taken.insert(free.clone());
        let path = self.relations.place(found)[self.path.len()..].to_vec();
        made.fields
            .push(FieldPlace { refers: is_id.then(|| target.clone()), ..plain_field(&free, path, text(&value)) });
        if !is_id {
            made.comments.push(format!(
                "{name} has the {} of a {target}, not its _id: no relation of the model",
                reference.field
            ));
            return;
        }
        for copy in found.copies.iter().filter(|copy| !copy.is_exact()) {
            made.comments.push(format!(
                "TODO {} equals {} of the {target} in {:.0} % of the documents: a value of its time, or a copy that lags? Here it is its own",
                copy.field,
                copy.of,
                100.0 * copy.equal
            ));
        }
        let copied = copied(found, self.entities, target);
        let renamed: Vec<String> = found
            .copies
            .iter()
            .filter(|copy| copied.contains(&copy.of) && copy.field != format!("{free}_{}", copy.of))
            .map(|copy| format!("{} is {free}_{}", copy.field, copy.of))
            .collect();
        if !renamed.is_empty() {
            made.comments.push(format!("copies of the {target} have other names here: {}", renamed.join(", ")));
        }
        made.shape.push((format!("{}.{free}", self.own), vec![word("reference", &copied)]));
    }

    fn add_list(&self, number: usize, name: &str, field: &SeenNode, made: &mut MadeFields) {
        let Some((_, back)) = self.relations.lists.iter().find(|(list, _)| *list == number) else { return };
        let found = &self.relations.found[number];
        let target = &self.names[found.reference.target];
        let length = numbers::ints(field.lengths.iter().map(|length| f64::from(*length)));
        let exponent = found.reference.exponent;
        let draws = if exponent > 0.0 {
            format!("sample({target}, {length}, {exponent})")
        } else {
            format!("sample({target}, {length})")
        };
        let generator = format!("{{ set: {} }}", text(&draws));
        made.fields.push(FieldPlace {
            refers: Some(target.clone()),
            is_list: true,
            ..plain_field(name, vec![name.to_owned()], generator)
        });
        let copied: Vec<String> =
            found.copies.iter().filter(|copy| copy.is_exact()).map(|copy| copy.of.clone()).collect();
        let mut words = vec![word("list", &copied)];
        if let Some(back) = back.map(|back| &self.relations.found[back]) {
            let copied: Vec<String> =
                back.copies.iter().filter(|copy| copy.is_exact()).map(|copy| copy.of.clone()).collect();
            words.push(word("reference", &copied));
            let inverse = self.relations.place(back).first().cloned().unwrap_or_default();
            made.inverse = Some((name.to_owned(), inverse));
        }
        made.shape.push((format!("{}.{name}", self.own), words));
    }
}

/// The fields of the target that exact copies are of, as far as a shape can name them.
pub fn copied(found: &FoundReference, model: &InferredModel, entity: &str) -> Vec<String> {
    let Some(target) = model.layout.entities.iter().find(|one| one.entity == entity) else { return Vec::new() };
    let is_plain_field = |name: &str| {
        let field = target.fields.iter().find(|field| field.field == name && field.path == [name.to_owned()]);
        field.is_some_and(|field| field.refers.is_none() && !field.is_list) && is_plain(name)
    };
    let mut seen = HashSet::new();
    let exact = found.copies.iter().filter(|copy| copy.is_exact() && is_plain_field(&copy.of));
    exact.map(|copy| copy.of.clone()).filter(|name| seen.insert(name.clone())).collect()
}

/// The first date that all documents have and hardly two share: when the record was made.
pub fn clock_field(node: &SeenNode) -> Option<String> {
    let documents = node.of_kind(ValueKind::Object);
    let is_one = |(name, field): &&(String, SeenNode)| {
        let values = field.values_of(ValueKind::Date);
        let distinct: HashSet<Vec<u8>> = values.iter().map(key_of).collect();
        is_plain(name)
            && field.seen == documents
            && field.of_kind(ValueKind::Date) == documents
            && distinct.len() * 10 >= values.len() * 9
    };
    node.fields.iter().find(is_one).map(|(name, _)| name.clone())
}

fn is_scalar(node: &SeenNode) -> bool {
    node.main_kind().is_some_and(|(kind, seen)| ValueKind::KEYS.contains(&kind) && seen == node.seen)
}

/// A name that expressions can follow.
fn cleaned_field(name: &str) -> String {
    if is_plain(name) { name.to_owned() } else { cleaned(name) + "_" }
}

fn unlike(name: &str, taken: &HashSet<String>) -> String {
    let others = (2..).map(|number| format!("{name}_{number}"));
    std::iter::once(name.to_owned()).chain(others).find(|name| !taken.contains(name)).unwrap_or_default()
}

/// The first notes, and how many more there are.
fn short(mut notes: Vec<String>) -> Vec<String> {
    const SHOWN: usize = 8;
    let more = notes.len().saturating_sub(SHOWN);
    notes.truncate(SHOWN);
    notes.extend((more > 0).then(|| format!("and {more} more of these")));
    notes
}
