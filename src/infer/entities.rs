//! The entities of the model with their places, and the words of the present shape.

use std::collections::{BTreeMap, HashSet};

use super::buckets::Buckets;
use super::fields::{FieldsOf, clock_field};
use super::layout::{EntityPlace, FieldPlace, Layout, ParentPlace};
use super::names::{UniqueNames, cleaned, collection_name, is_plain, singular};
use super::numbers;
use super::relations::{FoundReference, Relations};
use super::sample::CollectionSample;
use super::tree::{SeenNode, SeenTree};

/// More documents, or bytes of them, are not generated: what a scenario loads is made anew in every round.
const MOST_LOADED: (f64, f64) = (200_000.0, 256e6);
/// Records of a collection in the mix `verify`.
const VERIFIED: u64 = 12;
/// Children on average above which `verify` has fewer.
const MANY_CHILDREN: f64 = 8.0;

/// An entity of the model beyond its place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntityDraft {
    /// The expression of the number of records.
    pub count: String,
    /// A parameter with its value and that in the mix `verify`.
    pub parameter: Option<(String, String, String)>,
    /// `let`.
    pub helpers: Vec<(String, String)>,
    /// Records are created in the order of `sort`.
    pub arrives_sorted: bool,
    /// `inverse`.
    pub inverse: Option<(String, String)>,
    /// Comments above it.
    pub comments: Vec<String>,
    /// What generators do not keep of its values.
    pub notes: Vec<String>,
    /// The number of its collection in the sample.
    pub collection: usize,
    /// How many children each parent of the sample has; for those in arrays and those that are counted.
    pub children: Vec<u64>,
}

/// A model of a database.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InferredModel {
    /// The entities with their places.
    pub layout: Layout,
    /// The same entities.
    pub drafts: Vec<EntityDraft>,
    /// Relations with the words of the present shape.
    pub shape: Vec<(String, Vec<String>)>,
    /// What the user is asked, the most valuable first.
    pub questions: Vec<String>,
    /// The share of the data that the model has.
    pub scale: f64,
    /// The folder of the files with real values, if fields take these.
    pub data: Option<String>,
}

impl InferredModel {
    /// Gives parameters names that nothing else has.
    pub fn name_parameters(&mut self) {
        let mut taken: HashSet<String> = self.layout.entities.iter().map(|one| one.entity.clone()).collect();
        let fields = self.layout.entities.iter().flat_map(|one| one.fields.iter().map(|field| field.field.clone()));
        taken.extend(fields);
        for draft in &mut self.drafts {
            let Some((name, ..)) = &mut draft.parameter else { continue };
            let wanted = name.clone();
            let plain = if is_plain(&wanted) { wanted } else { format!("n_{wanted}") };
            let others = (2..).map(|number| format!("{plain}_{number}"));
            let names = [plain.clone(), format!("{plain}_count")].into_iter().chain(others);
            let free = names.into_iter().find(|name| !taken.contains(name)).unwrap_or(plain);
            if draft.count.is_empty() {
                draft.count.clone_from(&free);
            } else {
                draft.count = draft.count.replacen(name.as_str(), &free, 1);
            }
            taken.insert(free.clone());
            *name = free;
        }
    }
}

/// Makes the entities.
pub struct Entities<'s> {
    samples: &'s [CollectionSample],
    trees: &'s [SeenTree],
    relations: &'s Relations,
    /// The names of entities, by collection.
    names: Vec<String>,
    /// The names of arrays of records, by their numbers.
    array_names: Vec<String>,
    made: InferredModel,
}

impl<'s> Entities<'s> {
    /// The model of these collections.
    pub fn model(
        samples: &'s [CollectionSample],
        trees: &'s [SeenTree],
        relations: &'s Relations,
        questions: Vec<String>,
    ) -> InferredModel {
        let mut names = UniqueNames::default();
        let of_collections: Vec<String> = samples.iter().map(|sample| names.take(&singular(&sample.name))).collect();
        let array = |array: &super::relations::Array| singular(array.path.last().map_or("", String::as_str));
        let array_names = relations.arrays.iter().map(|one| names.take(&array(one))).collect();
        let made = InferredModel { questions, scale: scale(samples, trees), ..InferredModel::default() };
        let mut entities = Entities { samples, trees, relations, names: of_collections, array_names, made };
        for collection in entities.order() {
            entities.add_collection(collection);
        }
        entities.made.name_parameters();
        entities.reconsider_verified();
        entities.made
    }

    /// Parents before children, and records before those that refer to them, as far as they do not refer to each other.
    fn order(&self) -> Vec<usize> {
        let mut left: Vec<usize> = (0..self.samples.len()).collect();
        let mut order = Vec::new();
        let needs = |one: usize, of: &[usize]| {
            let refers = |found: &&FoundReference| found.reference.collection == one && found.reference.target != one;
            self.relations.found.iter().filter(refers).filter(|found| of.contains(&found.reference.target)).count()
        };
        while !left.is_empty() {
            let is_free = |one: &&usize| {
                self.relations.parents[**one].as_ref().is_none_or(|parent| !left.contains(&parent.collection))
            };
            let next = left.iter().filter(is_free).min_by_key(|one| (needs(**one, &left), **one)).copied();
            let Some(next) = next.or(left.first().copied()) else { break };
            left.retain(|one| *one != next);
            order.push(next);
        }
        order
    }

    fn add_collection(&mut self, collection: usize) {
        let (sample, tree) = (&self.samples[collection], &self.trees[collection]);
        if tree.documents() == 0 {
            return;
        }
        if let Some(buckets) = self.relations.buckets.iter().find(|buckets| buckets.collection == collection) {
            return self.add_buckets(buckets);
        }
        let mut draft = EntityDraft { collection, ..EntityDraft::default() };
        let mut place = EntityPlace {
            entity: self.names[collection].clone(),
            collection: collection_name(&sample.name),
            count: sample.count,
            ..EntityPlace::default()
        };
        if place.collection != sample.name {
            draft.comments.push(
                "its collection has another name here: a scenario takes letters, digits, `_`, `-` and `.`".to_owned(),
            );
        }
        draft.comments.extend(sample.notes.iter().cloned());
        if tree.left_out > 0 {
            draft.comments.push("there are more names of fields than were read: data may be in them".to_owned());
        }
        self.set_parent(collection, &mut place, &mut draft);
        if place.parent.is_none() {
            let count = ((sample.count as f64 * self.made.scale).round() as u64).max(1);
            draft.parameter = Some((cleaned(&sample.name), count.to_string(), count.clamp(1, VERIFIED).to_string()));
            if self.made.scale < 1.0 {
                draft
                    .comments
                    .push(format!("about {} documents; fewer are generated", numbers::two_digits(sample.count as f64)));
            }
        }
        self.add_entity(place, draft, &tree.root, Vec::new());
    }

    /// Adds an entity with the arrays of records inside of it.
    fn add_entity(&mut self, mut place: EntityPlace, mut draft: EntityDraft, node: &SeenNode, path: Vec<String>) {
        let collection = draft.collection;
        let key = self.relations.arrays.iter().find(|array| list_of(array) == path && array.collection == collection);
        let clock = clock_field(node);
        let fields = FieldsOf {
            own: &place.entity,
            sample: &self.samples[collection],
            collection,
            node,
            path: &path,
            relations: self.relations,
            names: &self.names,
            entities: &self.made,
            key: key.map(|array| array.key.as_deref()),
            clock: clock.as_deref(),
            parent: place.parent.as_ref(),
        };
        let made = fields.make();
        place.copies = made.copies;
        draft.helpers = made.helpers;
        draft.comments.extend(made.comments);
        draft.notes = made.notes;
        draft.inverse = made.inverse;
        let sort = clock.and_then(|clock| {
            made.fields.iter().find(|field| field.generator == "clock()" && field.path.last() == Some(&clock))
        });
        place.sort = sort.map(|field| (field.field.clone(), 1)).into_iter().chain([("_id".to_owned(), 1)]).collect();
        draft.arrives_sorted = sort.is_some();
        place.fields = made.fields;
        for (key, words) in made.shape {
            self.add_words(key, words);
        }
        let entity = place.entity.clone();
        self.made.layout.entities.push(place);
        self.made.drafts.push(draft);
        for (number, array) in self.relations.arrays.iter().enumerate() {
            let is_inside = array.collection == collection && array.path[..array.path.len() - 1] == path[..];
            if let Some(field) = array.path.last().and_then(|name| node.field(name)).filter(|_| is_inside) {
                self.add_array(number, &entity, field);
            }
        }
    }

    fn add_array(&mut self, number: usize, parent: &str, field: &SeenNode) {
        let array = &self.relations.arrays[number];
        let (collection, name) = (array.collection, array.path.last().cloned().unwrap_or_default());
        let Some(item) = field.item.as_deref() else { return };
        let mut draft = EntityDraft { collection, ..EntityDraft::default() };
        draft.children = field.lengths.iter().map(|length| u64::from(*length)).collect();
        let around = self.made.layout.entities.iter().position(|one| one.entity == parent);
        let without = around.map_or(0, |_| self.trees[collection].documents().saturating_sub(field.seen));
        if array.path.len() == 1 {
            draft.children.extend(std::iter::repeat_n(0, usize::try_from(without).unwrap_or(0)));
        }
        self.set_children(&mut draft, &name);
        let entity = self.array_names[number].clone();
        let per_document = item.seen as f64 / self.trees[collection].documents().max(1) as f64;
        let place = EntityPlace {
            entity,
            collection: collection_name(&self.samples[collection].name),
            array: Some(array.path.clone()),
            parent: Some(ParentPlace {
                entity: parent.to_owned(),
                relation: name.clone(),
                reference: None,
                list: None,
            }),
            count: (per_document * self.samples[collection].count as f64) as u64,
            ..EntityPlace::default()
        };
        self.add_words(format!("{parent}.{name}"), vec!["embed".to_owned()]);
        self.add_entity(place, draft, item, list_of(array));
    }

    /// The parent of a collection's records, its count, and the words of the relation.
    fn set_parent(&mut self, collection: usize, place: &mut EntityPlace, draft: &mut EntityDraft) {
        let Some(parent) = &self.relations.parents[collection] else { return };
        let entity = self.names[parent.collection].clone();
        let one = |number: Option<usize>| number.map(|number| &self.relations.found[number]);
        let list = one(parent.list).map(|found| self.relations.place(found)[0].clone());
        let wanted = list.clone().unwrap_or_else(|| cleaned(&self.samples[collection].name));
        let relation = self.free_relation(&entity, wanted);
        let mut words = Vec::new();
        let mut reference_path = None;
        if let Some(found) = one(parent.reference) {
            let copied = super::fields::copied(found, &self.made, &entity);
            words.push(word("reference", &copied));
            reference_path = Some(found.reference.path.clone());
            let field = self.relations.place(found)[0].as_str();
            if field != entity {
                draft
                    .comments
                    .push(format!("its field {field} is called {entity} here: the model names it after the record"));
            }
        }
        if let Some(found) = one(parent.list) {
            let copied: Vec<String> =
                found.copies.iter().filter(|copy| copy.is_exact()).map(|copy| copy.of.clone()).collect();
            words.push(word("list", &copied));
        }
        let counted = one(parent.list).or(one(parent.reference));
        let (fan_out, is_list) =
            (counted.map(|found| found.reference.fan_out.clone()).unwrap_or_default(), parent.list.is_some());
        draft.children = if is_list { self.list_lengths(parent.list) } else { fan_out };
        self.set_children(draft, &relation);
        self.add_words(format!("{entity}.{relation}"), words);
        let list = parent.list.map(|number| self.relations.found[number].reference.path.clone());
        place.parent = Some(ParentPlace { entity, relation, reference: reference_path, list });
    }

    /// The name of a relation that the parent has not.
    fn free_relation(&self, parent: &str, wanted: String) -> String {
        let entities = &self.made.layout.entities;
        let is_taken = |name: &str| {
            let holder = entities.iter().find(|other| other.entity == parent);
            let is_it = |of: &ParentPlace| of.entity == parent && of.relation == name;
            holder.is_some_and(|holder| holder.fields.iter().any(|field| field.field == name))
                || entities.iter().any(|other| other.parent.as_ref().is_some_and(is_it))
        };
        let names = std::iter::once(wanted.clone()).chain((2..).map(|number| format!("{wanted}_{number}")));
        names.into_iter().find(|name| is_plain(name) && !is_taken(name)).unwrap_or(wanted)
    }

    /// Adds the records in buckets, as children of the record that the buckets refer to.
    fn add_buckets(&mut self, buckets: &Buckets) {
        let array = &self.relations.arrays[buckets.array];
        let parent = self.relations.parents[buckets.collection].as_ref();
        let Some(found) = parent.and_then(|parent| Some(&self.relations.found[parent.reference?])) else { return };
        let entity = self.names[found.reference.target].clone();
        let field = self.trees[buckets.collection].root.field(&array.path[0]);
        let Some(item) = field.and_then(|field| field.item.as_deref()) else { return };
        let relation = self.free_relation(&entity, array.path[0].clone());
        let mut draft = EntityDraft { collection: buckets.collection, ..EntityDraft::default() };
        let records = |count: &u64| (*count as f64 * buckets.mean).round() as u64;
        draft.children = found.reference.fan_out.iter().map(records).collect();
        draft.comments.push(format!(
            "in buckets of up to {}; a model gives these a collection and a page of their own",
            buckets.size
        ));
        self.set_children(&mut draft, &relation);
        self.add_words(format!("{entity}.{relation}"), vec![format!("bucket({})", buckets.size)]);
        let count = (self.samples[buckets.collection].count as f64 * buckets.mean) as u64;
        let reference = Some(found.reference.path.clone());
        let place = EntityPlace {
            entity: self.array_names[buckets.array].clone(),
            collection: collection_name(&self.samples[buckets.collection].name),
            array: Some(array.path.clone()),
            parent: Some(ParentPlace { entity, relation, reference, list: None }),
            count,
            ..EntityPlace::default()
        };
        self.add_entity(place, draft, item, list_of(array));
    }

    fn list_lengths(&self, list: Option<usize>) -> Vec<u64> {
        let Some(found) = list.map(|number| &self.relations.found[number]) else { return Vec::new() };
        let tree = &self.trees[found.reference.collection];
        let node = self.relations.place(found).first().and_then(|field| tree.root.field(field));
        let lengths = node.map(|node| node.lengths.iter().map(|length| u64::from(*length)).collect::<Vec<_>>());
        let mut lengths = lengths.unwrap_or_default();
        let without = usize::try_from(tree.documents()).unwrap_or(0).saturating_sub(lengths.len());
        lengths.extend(std::iter::repeat_n(0, without));
        lengths
    }

    /// The count of children, with fewer of them in `verify` where there are many.
    fn set_children(&self, draft: &mut EntityDraft, relation: &str) {
        let mean = draft.children.iter().sum::<u64>() as f64 / draft.children.len().max(1) as f64;
        let count = numbers::counts(draft.children.iter().map(|count| *count as f64));
        if mean > MANY_CHILDREN {
            let name = format!("share_of_{}", cleaned(relation));
            draft.count = format!("int({name} * double({count}))");
            draft.parameter = Some((name, "1.0".to_owned(), numbers::double(numbers::two_digits(4.0 / mean))));
        } else {
            draft.count = count;
        }
    }

    fn add_words(&mut self, key: String, words: Vec<String>) {
        if !words.is_empty() {
            self.made.shape.push((key, words));
        }
    }

    /// A list of different records needs as many of them, in `verify`, too.
    fn reconsider_verified(&mut self) {
        let mut least: BTreeMap<String, u64> = BTreeMap::new();
        for (number, _) in &self.relations.lists {
            let longest = self.list_lengths(Some(*number)).into_iter().max().unwrap_or(0);
            let target = self.names[self.relations.found[*number].reference.target].clone();
            let known = least.entry(target).or_default();
            *known = (*known).max(longest);
        }
        for (place, draft) in self.made.layout.entities.iter().zip(&mut self.made.drafts) {
            let Some(least) = least.get(&place.entity).filter(|_| place.parent.is_none()) else { continue };
            if let Some((_, all, verified)) = &mut draft.parameter {
                // Rounding to two digits may add a twentieth.
                let needed = least + least / 10 + 1;
                let raised = |text: &str| text.parse::<u64>().unwrap_or(0).max(needed).to_string();
                (*all, *verified) = (raised(all), raised(verified));
            }
        }
    }
}

/// A word of a shape with what it copies.
pub fn word(name: &str, copied: &[String]) -> String {
    if copied.is_empty() { name.to_owned() } else { format!("{name}({})", copied.join(", ")) }
}

fn list_of(array: &super::relations::Array) -> Vec<String> {
    array.path.iter().cloned().chain(["[]".to_owned()]).collect()
}

/// The share of the data that is generated.
fn scale(samples: &[CollectionSample], trees: &[SeenTree]) -> f64 {
    let mean =
        |tree: &SeenTree| tree.sizes.iter().map(|size| f64::from(*size)).sum::<f64>() / tree.documents().max(1) as f64;
    let documents: f64 = samples.iter().map(|sample| sample.count as f64).sum();
    let bytes: f64 = samples.iter().zip(trees).map(|(sample, tree)| sample.count as f64 * mean(tree)).sum();
    (MOST_LOADED.0 / documents.max(1.0)).min(MOST_LOADED.1 / bytes.max(1.0)).min(1.0)
}

/// A field without what the layout does not need to know.
pub fn plain_field(name: &str, path: Vec<String>, generator: String) -> FieldPlace {
    FieldPlace { field: name.to_owned(), path, generator, ..FieldPlace::default() }
}
