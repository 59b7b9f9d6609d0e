//! Collections whose documents are buckets: arrays of the records of a parent, up to some number in each.

use super::relations::Relations;
use super::tree::{SeenNode, SeenTree, ValueKind};

/// The least share of buckets that are full, and the fewest records of a full one.
const FULL: (f64, u32) = (0.2, 3);
/// Buckets of a parent on average: with one or none the array is no bucket.
const LEAST_BUCKETS: f64 = 1.3;

/// A collection of buckets.
#[derive(Debug, Clone, PartialEq)]
pub struct Buckets {
    /// The collection.
    pub collection: usize,
    /// The array of records, by its number.
    pub array: usize,
    /// The most records of a bucket.
    pub size: u32,
    /// Records of a bucket on average.
    pub mean: f64,
}

/// The collections of buckets: beside the reference to the parent and the array there is only what counts or delimits.
pub fn find(trees: &[SeenTree], relations: &Relations) -> Vec<Buckets> {
    let mut made = Vec::new();
    for (number, array) in relations.arrays.iter().enumerate().filter(|(_, array)| array.path.len() == 1) {
        let root = &trees[array.collection].root;
        let parent = relations.parents[array.collection].as_ref();
        let Some(reference) = parent.and_then(|parent| Some(&relations.found[parent.reference?].reference)) else {
            continue;
        };
        let [field] = reference.path.as_slice() else { continue };
        let is_only = relations.arrays.iter().filter(|other| other.collection == array.collection).count() == 1;
        let is_beside = |name: &String| name != "_id" && name != field && *name != array.path[0];
        let counts = root.fields.iter().filter(|(name, _)| is_beside(name)).all(|(_, node)| is_bookkeeping(node));
        let Some(lengths) = root.field(&array.path[0]).map(|node| &node.lengths) else { continue };
        let size = lengths.iter().max().copied().unwrap_or(0);
        let full = lengths.iter().filter(|length| **length == size).count() as f64;
        let of_parent = reference.fan_out.iter().sum::<u64>() as f64 / reference.fan_out.len().max(1) as f64;
        let is_full = full >= FULL.0 * lengths.len() as f64 && size >= FULL.1;
        if is_only && counts && is_full && of_parent >= LEAST_BUCKETS {
            let mean = lengths.iter().map(|length| f64::from(*length)).sum::<f64>() / lengths.len().max(1) as f64;
            made.push(Buckets { collection: array.collection, array: number, size, mean });
        }
    }
    made
}

/// Whether a field counts or delimits the records of a bucket.
fn is_bookkeeping(node: &SeenNode) -> bool {
    let kinds =
        [ValueKind::Int, ValueKind::Long, ValueKind::Double, ValueKind::Date, ValueKind::Bool, ValueKind::ObjectId];
    node.main_kind().is_some_and(|(kind, seen)| kinds.contains(&kind) && seen == node.seen)
}
