//! How the data that a written scenario generates compare with the sample.

use std::collections::BTreeMap;
use std::path::Path;

use bson::{RawBsonRef, RawDocument};

use crate::compile::{Choice, compile};
use crate::engine::{self, Documents};
use crate::plan::{LoadOrder, Plan};
use crate::scenario::{self, Diagnostics, Scenario, Source};

use super::entities::InferredModel;
use super::numbers::{quantile, sorted};
use super::sample::CollectionSample;
use super::tree::{SeenNode, SeenTree};

/// Documents of each collection that are drawn.
const DRAWN: usize = 1_000;
/// Arrays with fewer examples are not compared.
const FEWEST: usize = 30;

/// Differences of the generated data from the sample.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DataComparison {
    /// By collection: bytes of documents, the quantiles 50 and 99 of the sample and of what is generated.
    pub sizes: Vec<(String, [f64; 2], [f64; 2])>,
    /// By array: the distance D of its lengths by Kolmogorov and Smirnov.
    pub arrays: Vec<(String, f64)>,
    /// By relation: the same distance of children per record.
    pub children: Vec<(String, f64)>,
}

impl DataComparison {
    /// The greatest relative error of a quantile of sizes, in percent.
    pub fn size_error(&self, quantile: usize) -> f64 {
        let errors =
            self.sizes.iter().map(|(_, sample, made)| 100.0 * (made[quantile] / sample[quantile].max(1.0) - 1.0).abs());
        errors.fold(0.0, f64::max)
    }
}

/// Compiles a scenario whose data are in a folder.
///
/// # Errors
/// Its problems.
pub fn plan(text: &str, folder: &Path) -> Result<Plan, String> {
    let (source, diagnostics) = (Source::new("the inferred scenario", text), Diagnostics::new());
    let read = scenario::read(&source, &diagnostics).map(|read| Scenario { folder: folder.to_owned(), ..read });
    let compiled = read.and_then(|read| compile(&read, &Choice::default(), &diagnostics).ok().flatten());
    compiled.filter(|_| !diagnostics.has_errors()).ok_or_else(|| diagnostics.render(&source, false))
}

/// Compares the documents of the first strategy with the sample.
pub fn compare(plan: &Plan, model: &InferredModel, trees: &[SeenTree]) -> DataComparison {
    let mut made = DataComparison::default();
    let Some(arm) = plan.arms.first() else { return made };
    for (place, draft) in model.layout.entities.iter().zip(&model.drafts) {
        let tree = &trees[draft.collection];
        if place.array.is_none()
            && let Some(collection) = arm.collections.iter().find(|one| one.name == place.collection)
        {
            let documents = Documents::new(plan, collection, LoadOrder::Grouped).take(DRAWN).map_while(Result::ok);
            let (mut sizes, mut lengths) = (Vec::new(), BTreeMap::new());
            for document in documents {
                sizes.push(document.as_bytes().len() as f64);
                array_lengths(&document, &mut Vec::new(), &mut lengths);
            }
            if !sizes.is_empty() && tree.documents() > 0 {
                let both = |sizes: Vec<f64>| [50.0, 99.0].map(|percent| quantile(&sizes, percent));
                let sample = both(sorted(tree.sizes.iter().map(|size| f64::from(*size))));
                made.sizes.push((place.collection.clone(), sample, both(sorted(sizes))));
            }
            compare_arrays(&place.collection, &tree.root, &lengths, &mut made);
        }
        let Some(parent) = place.parent.as_ref().filter(|_| draft.children.len() >= FEWEST) else { continue };
        let position = |name: &str| plan.data.entities.iter().position(|entity| *entity.name == *name);
        if let (Some(child), Some(one)) = (position(&place.entity), position(&parent.entity)) {
            let parents = plan.data.len(one).min(DRAWN as u64);
            let counts = (0..parents).map(|ordinal| plan.data.children_of(child, ordinal).count() as f64).collect();
            let sample = draft.children.iter().map(|count| *count as f64).collect();
            made.children.push((format!("{}.{}", parent.entity, parent.relation), distance(sample, counts)));
        }
    }
    made
}

/// Indexes of the database that the present strategy does not have, as comments.
pub fn other_indexes(plan: &Plan, model: &InferredModel, samples: &[CollectionSample]) -> Vec<String> {
    let Some(arm) = plan.arms.first() else { return Vec::new() };
    let mut other = Vec::new();
    for (place, draft) in model.layout.entities.iter().zip(&model.drafts).filter(|(place, _)| place.array.is_none()) {
        let collection = arm.collections.iter().find(|one| one.name == place.collection);
        let derived = collection.map(|collection| keys_of(plan, collection)).unwrap_or_default();
        let renamed = place
            .parent
            .as_ref()
            .and_then(|parent| Some((parent.reference.as_ref()?.join("."), parent.entity.clone())));
        let name =
            |field: &str| renamed.as_ref().filter(|(old, _)| old == field).map_or(field, |(_, new)| new).to_owned();
        for index in &samples[draft.collection].indexes {
            let own: Vec<String> = index.keys.iter().map(|(field, _)| name(field)).collect();
            let is_derived = derived.iter().any(|keys| keys.starts_with(&own));
            if !is_derived || !index.options.is_empty() {
                let keys: Vec<String> =
                    index.keys.iter().map(|(field, direction)| format!("{field}: {direction}")).collect();
                let unique = index.is_unique.then_some("unique");
                let options: Vec<&str> = unique.into_iter().chain(index.options.iter().copied()).collect();
                let options = if options.is_empty() { String::new() } else { format!(" ({})", options.join(", ")) };
                other.push(format!(
                    "the database has an index on {} that no operation here needs: {{ {} }}{options}",
                    place.collection,
                    keys.join(", ")
                ));
            }
        }
    }
    other
}

/// The fields of the indexes of a collection.
fn keys_of(plan: &Plan, collection: &crate::plan::Collection) -> Vec<Vec<String>> {
    let indexes = engine::indexes(plan, collection).unwrap_or_default();
    let fields =
        |key: &RawDocument| key.iter().map_while(Result::ok).map(|(name, _)| name.as_str().to_owned()).collect();
    indexes.iter().filter_map(|index| index.get_document("key").ok().map(fields)).collect()
}

fn array_lengths(document: &RawDocument, path: &mut Vec<String>, lengths: &mut BTreeMap<Vec<String>, Vec<f64>>) {
    for (name, value) in document.iter().map_while(Result::ok) {
        path.push(name.as_str().to_owned());
        match value {
            RawBsonRef::Document(inner) => array_lengths(inner, path, lengths),
            RawBsonRef::Array(array) => lengths.entry(path.clone()).or_default().push(array.into_iter().count() as f64),
            _ => {}
        }
        path.pop();
    }
}

fn compare_arrays(
    collection: &str,
    root: &SeenNode,
    made: &BTreeMap<Vec<String>, Vec<f64>>,
    comparison: &mut DataComparison,
) {
    for (path, lengths) in made {
        let Some(node) = root.at(path).filter(|node| node.lengths.len() >= FEWEST) else { continue };
        let sample = node.lengths.iter().map(|length| f64::from(*length)).collect();
        comparison.arrays.push((format!("{collection}.{}", path.join(".")), distance(sample, lengths.clone())));
    }
}

/// The greatest difference of two distributions.
fn distance(one: Vec<f64>, other: Vec<f64>) -> f64 {
    let (one, other) = (sorted(one), sorted(other));
    if one.is_empty() || other.is_empty() {
        return 0.0;
    }
    let below = |all: &[f64], x: f64| all.partition_point(|value| *value <= x) as f64 / all.len() as f64;
    one.iter().chain(&other).map(|x| (below(&one, *x) - below(&other, *x)).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_distributions_have_no_distance_and_others_have() {
        let of = |from: i32, to: i32| (from..to).map(f64::from).collect::<Vec<_>>();
        assert_eq!(distance(of(0, 100), of(0, 100)), 0.0);
        assert!((distance(of(0, 100), of(50, 150)) - 0.5).abs() < 0.02);
        assert_eq!(distance(of(0, 10), of(20, 30)), 1.0);
    }
}
