//! Fields that contain keys of other collections.

use std::collections::{HashMap, HashSet};

use bson::Bson;

use super::names::singular;
use super::sample::{CollectionSample, Probe, key_of};
use super::skew;
use super::tree::{SeenNode, SeenTree, VALUES, ValueKind};

/// Fewer different values say nothing.
const FEWEST_VALUES: usize = 8;
/// Values that are looked up.
const LOOKED_UP: usize = 100;
/// How many of them come first: where 90 % are keys, at most half of these are with a probability of 0.2 %.
const FIRST_LOOKED_UP: usize = 10;
/// The least share of values that are found, and the least by which it exceeds what chance would find.
const LEAST: (f64, f64) = (0.9, 0.3);
/// Records whose children are counted.
const PARENTS: usize = 300;
/// So many values without an equal pair are a key, even without a unique index.
const DISTINCT: usize = 100;

/// A field that refers to records of a collection.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// The collection with the field.
    pub collection: usize,
    /// The path of the field; `[]` is a part of it for each array.
    pub path: Vec<String>,
    /// The collection that it refers to.
    pub target: usize,
    /// The key there: `_id`, or another unique field.
    pub field: String,
    /// How many values were looked up.
    pub asked: usize,
    /// The share that was found.
    pub found: f64,
    /// The exponent of `zipf`.
    pub exponent: f64,
    /// How many referring values some of the records have, in ascending order, none included.
    pub fan_out: Vec<u64>,
    /// Whether these were counted, rather than follow from the exponent.
    pub is_counted: bool,
    /// Whether no value occurs twice, so that no two documents share a record.
    pub is_exclusive: bool,
}

/// What was found, and what is asked because chance may explain it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct References {
    /// The references, by collection.
    pub found: Vec<Reference>,
    /// Questions for the file.
    pub questions: Vec<String>,
}

/// Looks for references among collections with their trees.
pub fn find(samples: &[CollectionSample], trees: &[SeenTree], probe: &mut impl Probe) -> References {
    let keys = keys(samples, trees);
    let mut made = References::default();
    for (collection, tree) in trees.iter().enumerate() {
        let mut places: Vec<(Vec<String>, &SeenNode)> = Vec::new();
        tree.root.walk(&mut Vec::new(), &mut |path, node| places.push((path.to_vec(), node)));
        for (path, node) in places.iter().filter(|(path, _)| *path != ["_id"]) {
            let search = ReferenceSearch { samples, trees, collection, path, node };
            let mut questions = Vec::new();
            let best = keys.iter().filter_map(|(target, field)| search.matching(*target, field, probe, &mut questions));
            // A key that the index of `_id` checks counts more, then a better match.
            let rank = |one: &Reference| {
                (one.field == "_id", names(path, &samples[one.target].name), (one.found * 1e3) as u64)
            };
            match best.max_by_key(rank) {
                Some(best) => made.found.push(best),
                None => made.questions.extend(questions),
            }
        }
    }
    made
}

/// The keys of all collections: `_id`, unique indexes of one field, and fields without an equal pair.
fn keys(samples: &[CollectionSample], trees: &[SeenTree]) -> Vec<(usize, String)> {
    let mut keys = Vec::new();
    for (collection, (sample, tree)) in samples.iter().zip(trees).enumerate() {
        keys.push((collection, "_id".to_owned()));
        for (name, node) in tree.root.fields.iter().filter(|(name, _)| name != "_id") {
            if is_key(sample, tree.documents(), name, node) {
                keys.push((collection, name.clone()));
            }
        }
    }
    keys
}

/// Whether a field finds a record: by its index, or because no two values are equal.
pub fn is_key(sample: &CollectionSample, documents: u64, name: &str, node: &SeenNode) -> bool {
    let has_index = |index: &&super::sample::SampledIndex| index.is_unique && index.only_field() == Some(name);
    if sample.indexes.iter().any(|index| has_index(&index)) {
        return true;
    }
    let kinds = [ValueKind::Text, ValueKind::Int, ValueKind::Long, ValueKind::Uuid];
    let values: Vec<&Bson> = kinds.iter().flat_map(|kind| node.values_of(*kind)).collect();
    let distinct: HashSet<Vec<u8>> = values.iter().map(|value| key_of(value)).collect();
    values.len() >= DISTINCT
        && distinct.len() == values.len()
        && values.len() as u64 == node.seen.min(VALUES as u64)
        && node.seen * 100 >= documents * 99
}

/// Whether a path names a collection.
fn names(path: &[String], collection: &str) -> bool {
    let letters = |text: &str| -> String { text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect() };
    letters(&path.join("")).contains(&letters(&singular(collection)))
}

struct ReferenceSearch<'s> {
    samples: &'s [CollectionSample],
    trees: &'s [SeenTree],
    collection: usize,
    path: &'s [String],
    node: &'s SeenNode,
}

impl ReferenceSearch<'_> {
    /// The reference to this key, if the values are among its values, more often than by chance.
    fn matching(
        &self,
        target: usize,
        field: &str,
        probe: &mut impl Probe,
        questions: &mut Vec<String>,
    ) -> Option<Reference> {
        let tree = &self.trees[target];
        let key = tree.root.field(field)?;
        let (kind, seen) = self.node.main_kind().filter(|(kind, _)| ValueKind::KEYS.contains(kind))?;
        let is_same = target == self.collection && *self.path == [field.to_owned()];
        let is_whole = |kind: ValueKind| matches!(kind, ValueKind::Int | ValueKind::Long);
        let has_kind = key.of_kind(kind) > 0 || is_whole(kind) && key.main_kind().is_some_and(|(own, _)| is_whole(own));
        if is_same || !has_kind || seen * 10 < self.node.seen * 9 {
            return None;
        }
        let values = self.node.values_of(kind);
        let distinct = distinct(values);
        if distinct.len() < FEWEST_VALUES || kind == ValueKind::Text && !has_equal_lengths(self.node, key) {
            return None;
        }
        let asked: Vec<Bson> = spread(&distinct, LOOKED_UP);
        let found = self.share_found(target, field, &asked, &distinct, probe)?;
        if found < LEAST.0 {
            return None;
        }
        let chance = if is_whole(kind) { self.chance(target, key, &distinct) } else { 0.0 };
        let (sample, place) = (&self.samples[target], self.path.join(".").replace(".[]", "[]"));
        if found - chance < LEAST.1 && !names(self.path, &sample.name) {
            if place.to_lowercase().trim_end_matches("[]").ends_with("id") {
                let own = &self.samples[self.collection].name;
                questions.push(format!(
                    "is {own}.{place} a reference to {}.{field}? Its numbers fit, but so would {:.0} % of any numbers there",
                    sample.name,
                    100.0 * chance
                ));
            }
            return None;
        }
        let counts = counts(values);
        let exponent = skew::exponent(&counts, sample.count);
        let (fan_out, is_counted) = self.fan_out(target, key, exponent, probe);
        let total = values.len() as f64;
        // By chance this many pairs of equal values would be among those of a list that others share.
        let expected = total * total / (2.0 * sample.count.max(1) as f64);
        let is_exclusive =
            counts.iter().all(|count| *count == 1) && (expected >= 3.0 || self.samples[self.collection].is_whole);
        Some(Reference {
            collection: self.collection,
            path: self.path.to_vec(),
            target,
            field: field.to_owned(),
            asked: asked.len(),
            found,
            exponent,
            fan_out,
            is_counted,
            is_exclusive,
        })
    }

    fn share_found(
        &self,
        target: usize,
        field: &str,
        asked: &[Bson],
        distinct: &[Bson],
        probe: &mut impl Probe,
    ) -> Option<f64> {
        let sample = &self.samples[target];
        let share = |found: u64, of: usize| (found as f64 / of.max(1) as f64).min(1.0);
        if sample.is_whole {
            return Some(share(sample.contained(field, asked), asked.len()));
        }
        if sample.is_indexed(field) {
            // Most fields have nothing to do with most keys: a few values tell.
            let first = spread(asked, FIRST_LOOKED_UP);
            if probe.contained(&sample.name, field, &first).is_some_and(|found| 2 * found <= first.len() as u64) {
                return None;
            }
            if let Some(found) = probe.contained(&sample.name, field, asked) {
                return Some(share(found, asked.len()));
            }
        }
        let found = sample.contained(field, distinct);
        let fraction = sample.documents.len() as f64 / sample.count.max(1) as f64;
        let is_enough = found >= FEWEST_VALUES as u64 && target != self.collection;
        is_enough.then(|| (share(found, distinct.len()) / fraction).min(1.0))
    }

    /// The share of any numbers in the range of the values that would be found: how dense the keys are there.
    fn chance(&self, target: usize, key: &SeenNode, distinct: &[Bson]) -> f64 {
        let number = |value: &Bson| value.as_i64().or_else(|| value.as_i32().map(i64::from)).map(|n| n as f64);
        let all: Vec<f64> = distinct.iter().filter_map(number).collect();
        let (low, high) = all.iter().fold((f64::MAX, f64::MIN), |(low, high), n| (low.min(*n), high.max(*n)));
        let keys =
            [ValueKind::Int, ValueKind::Long].into_iter().flat_map(|kind| key.values_of(kind)).filter_map(number);
        let within = keys.filter(|n| (low..=high).contains(n)).count() as f64;
        let sample = &self.samples[target];
        let fraction = (key.seen as f64 / sample.count.max(1) as f64).clamp(1e-9, 1.0);
        (within / (high - low + 1.0).max(1.0) / fraction).min(1.0)
    }

    fn fan_out(&self, target: usize, key: &SeenNode, exponent: f64, probe: &mut impl Probe) -> (Vec<u64>, bool) {
        let own = &self.samples[self.collection];
        let keys: Vec<Bson> = ValueKind::KEYS.iter().flat_map(|kind| key.values_of(*kind)).cloned().collect();
        let parents = spread(&keys, PARENTS);
        let array = self.path.iter().position(|part| part == "[]").map(|at| self.path[..at].join("."));
        let fields = self.path.iter().filter(|part| *part != "[]").map(String::as_str).collect::<Vec<_>>().join(".");
        let is_indexed = own.indexes.iter().any(|index| index.first_field() == Some(&fields));
        let depth = self.path.iter().filter(|part| *part == "[]").count();
        let counted = if own.is_whole {
            Some(own.occurrences(self.path, &parents))
        } else if is_indexed && depth < 2 {
            probe.occurrences(&own.name, &fields, array.as_deref(), &parents)
        } else {
            None
        };
        let is_counted = counted.is_some();
        let mut counts = counted.unwrap_or_else(|| {
            let documents = own.documents.len().max(1) as f64;
            let children = self.node.seen as f64 / documents * own.count as f64;
            skew::fan_out(exponent, self.samples[target].count, children as u64)
        });
        counts.sort_unstable();
        (counts, is_counted)
    }
}

/// The different values, in the order in which they come.
fn distinct(values: &[Bson]) -> Vec<Bson> {
    let mut seen = HashSet::new();
    values.iter().filter(|value| seen.insert(key_of(value))).cloned().collect()
}

/// At most so many, from all parts of a list.
fn spread(values: &[Bson], most: usize) -> Vec<Bson> {
    let count = values.len().min(most);
    (0..count).map(|place| values[place * values.len() / count].clone()).collect()
}

fn counts(values: &[Bson]) -> Vec<u64> {
    let mut counts: HashMap<Vec<u8>, u64> = HashMap::new();
    values.iter().for_each(|value| *counts.entry(key_of(value)).or_default() += 1);
    counts.into_values().collect()
}

fn has_equal_lengths(one: &SeenNode, other: &SeenNode) -> bool {
    let lengths =
        |node: &SeenNode| -> HashSet<u32> { node.bytes.get(&ValueKind::Text).into_iter().flatten().copied().collect() };
    !lengths(one).is_disjoint(&lengths(other))
}

#[cfg(test)]
pub(super) mod tests {
    use bson::{Document, RawDocumentBuf, doc};

    use super::super::sample::{NoProbe, SampledIndex};
    use super::*;

    pub fn sample(name: &str, documents: impl IntoIterator<Item = Document>) -> CollectionSample {
        let documents: Vec<_> = documents.into_iter().map(|one| RawDocumentBuf::try_from(&one).unwrap()).collect();
        CollectionSample {
            name: name.to_owned(),
            count: documents.len() as u64,
            documents,
            is_whole: true,
            ..Default::default()
        }
    }

    pub fn trees(samples: &[CollectionSample]) -> Vec<SeenTree> {
        let tree = |sample: &CollectionSample| {
            let mut tree = SeenTree::default();
            sample.documents.iter().for_each(|document| tree.add(document));
            tree.finish();
            tree
        };
        samples.iter().map(tree).collect()
    }

    fn found(samples: &[CollectionSample]) -> (Vec<String>, Vec<String>) {
        let all = find(samples, &trees(samples), &mut NoProbe);
        let text = |one: &Reference| {
            format!(
                "{}.{} -> {}.{}",
                samples[one.collection].name,
                one.path.join("."),
                samples[one.target].name,
                one.field
            )
        };
        (all.found.iter().map(text).collect(), all.questions)
    }

    #[test]
    fn true_references_are_found_and_dense_numbers_are_asked_about() {
        let users = sample("users", (0..300).map(|n| doc! { "_id": n, "name": format!("name{n}") }));
        let orders = (0..500).map(|n| {
            doc! { "_id": bson::oid::ObjectId::new(), "user": (n * n) % 300, "age": n % 90, "classId": n % 200, "by": format!("name{}", n % 250) }
        });
        let mut orders = sample("orders", orders);
        orders.indexes = vec![SampledIndex { keys: vec![("user".into(), "1".into())], ..SampledIndex::default() }];
        let (references, questions) = found(&[users, orders]);
        assert_eq!(references, ["orders.user -> users._id", "orders.by -> users.name"]);
        assert!(questions.len() == 1 && questions[0].contains("orders.classId"), "{questions:?}");
    }

    #[test]
    fn sparse_numbers_and_lists_of_keys_are_references() {
        let parts = sample("parts", (0..200).map(|n| doc! { "_id": n * 977 + 5 }));
        let lists = sample(
            "products",
            (0..60).map(|n| doc! { "_id": format!("p{n}"), "x": [(n % 200) * 977 + 5, ((n + 7) % 200) * 977 + 5] }),
        );
        let all = find(&[parts.clone(), lists.clone()], &trees(&[parts, lists]), &mut NoProbe).found;
        assert_eq!((all.len(), &all[0].path, all[0].is_exclusive), (1, &vec!["x".to_owned(), "[]".to_owned()], false));
        assert_eq!(all[0].fan_out.iter().sum::<u64>(), 120);
    }

    #[test]
    fn orphans_above_a_tenth_are_no_reference() {
        let users = sample("users", (0..100).map(|n| doc! { "_id": format!("u{n:04}") }));
        let orders =
            |lost: i32| sample("orders", (0..100).map(move |n| doc! { "_id": n, "u": format!("u{:04}", n + lost) }));
        assert_eq!(found(&[users.clone(), orders(5)]).0.len(), 1);
        assert_eq!(found(&[users, orders(15)]).0.len(), 0);
    }
}
