//! Sizes of collections and of followed documents, over rounds.

use crate::results::{CellRecord, CollectionSizes, GrowthSample, RunRecord, SliceRecord};

use super::estimate::{Estimate, log_ratios};
use super::geometric_mean;
use super::view::{cells, distinct};

/// A value before and after the measured calls.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Change {
    /// Before the calls.
    pub before: f64,
    /// After them.
    pub after: f64,
}

/// How the calls changed one collection: means over the rounds, except the maximum.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectionGrowth {
    /// Its name.
    pub collection: String,
    /// The number of documents.
    pub documents: Change,
    /// Mean size of a document in bytes.
    pub mean: Change,
    /// 99th percentile of the sizes in bytes.
    pub p99: Change,
    /// The largest document of any round in bytes.
    pub max: Change,
    /// All documents, uncompressed, in bytes.
    pub size: Change,
    /// The collection's file in bytes.
    pub storage: Change,
    /// The indexes' files in bytes.
    pub indexes: Change,
    /// Whether a flush came before every reading, without which file sizes lag behind.
    pub checkpointed: bool,
}

/// The growth of a strategy's collections, in the order in which they are first seen.
pub fn collection_growth(record: &RunRecord, strategy: usize) -> Vec<CollectionGrowth> {
    let sizes = cells(record, strategy).flat_map(|cell| cell.before.iter().chain(&cell.after));
    let names = distinct(sizes.map(|sizes| &sizes.name));
    names.into_iter().map(|name| growth_of(record, strategy, name)).collect()
}

fn growth_of(record: &RunRecord, strategy: usize, name: &str) -> CollectionGrowth {
    let is_named = |sizes: &&CollectionSizes| sizes.name == name;
    let before: Vec<_> = cells(record, strategy).filter_map(|cell| cell.before.iter().find(is_named)).collect();
    let after: Vec<_> = cells(record, strategy).filter_map(|cell| cell.after.iter().find(is_named)).collect();
    let mean = |of: &dyn Fn(&CollectionSizes) -> f64| Change {
        before: average(before.iter().copied(), of),
        after: average(after.iter().copied(), of),
    };
    let largest = |sizes: &[&CollectionSizes]| sizes.iter().map(|sizes| sizes.max).max().unwrap_or(0) as f64;
    CollectionGrowth {
        collection: name.to_owned(),
        documents: mean(&|sizes| sizes.documents as f64),
        mean: mean(&|sizes| sizes.mean),
        p99: mean(&|sizes| sizes.p99 as f64),
        max: Change { before: largest(&before), after: largest(&after) },
        size: mean(&|sizes| sizes.size as f64),
        storage: mean(&|sizes| sizes.storage as f64),
        indexes: mean(&|sizes| sizes.indexes.values().map(|bytes| *bytes as f64).sum()),
        checkpointed: before.iter().chain(&after).all(|sizes| sizes.checkpointed),
    }
}

/// The mean over some items; 0 without any.
fn average<I>(items: impl Iterator<Item = I>, of: impl Fn(I) -> f64) -> f64 {
    let values: Vec<f64> = items.map(of).collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The growth of one followed document.
#[derive(Debug, Clone, PartialEq)]
pub struct FollowedGrowth {
    /// The collection.
    pub collection: String,
    /// Which document.
    pub label: String,
    /// Its size in bytes at each of the asked shares of the calls, averaged over the rounds.
    pub bytes: Vec<f64>,
}

/// The sizes of a strategy's followed documents after these shares (0 to 1) of the calls.
pub fn followed_growth(record: &RunRecord, strategy: usize, shares: &[f64]) -> Vec<FollowedGrowth> {
    let samples = cells(record, strategy).flat_map(|cell| &cell.growth);
    let documents = distinct(samples.map(|sample| (&sample.collection, &sample.label)));
    let grown = documents.into_iter().map(|(collection, label)| {
        let at = |share: &f64| {
            let near = cells(record, strategy).filter_map(|cell| nearest(cell, collection, label, *share));
            average(near, |sample| sample.bytes as f64)
        };
        let bytes = shares.iter().map(at).collect();
        FollowedGrowth { collection: collection.clone(), label: label.clone(), bytes }
    });
    grown.collect()
}

/// The sample that is closest to a share of the cell's calls.
fn nearest<'c>(cell: &'c CellRecord, collection: &str, label: &str, share: f64) -> Option<&'c GrowthSample> {
    let wanted = cell.calls as f64 * share;
    let distance = |sample: &GrowthSample| (sample.calls as f64 - wanted).abs();
    let samples = cell.growth.iter().filter(|sample| sample.collection == collection && sample.label == label);
    samples.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// The time of a call while documents are small, and while they are large: in the first and in the last quarter of the slices,
/// with all clients busy.
#[derive(Debug, Clone, PartialEq)]
pub struct QuarterTimes {
    /// In the first quarter, in nanoseconds: the geometric mean over rounds.
    pub first: f64,
    /// In the last quarter.
    pub last: f64,
    /// The last divided by the first, over rounds.
    pub change: Estimate,
}

/// The times of a strategy at the beginning and at the end of its windows; `None` with open load, or fewer than four slices.
pub fn quarter_times(record: &RunRecord, strategy: usize) -> Option<QuarterTimes> {
    let clients = record.settings.clients as f64;
    let time = |slices: &[SliceRecord]| {
        let calls: u64 = slices.iter().map(|slice| slice.saturated_calls).sum();
        let seconds: f64 = slices.iter().map(|slice| slice.saturated_seconds).sum();
        (calls > 0).then(|| clients * seconds / calls as f64 * 1e9)
    };
    let quarters = |cell: &CellRecord| {
        let length = cell.slices.len() / 4;
        let last = cell.slices.get(cell.slices.len() - length..)?;
        if length > 0 { time(&cell.slices[..length]).zip(time(last)) } else { None }
    };
    let (first, last): (Vec<_>, Vec<_>) = cells(record, strategy).map(|cell| quarters(cell).unzip()).unzip();
    let change = Estimate::of(&log_ratios(&last, &first))?;
    Some(QuarterTimes { first: geometric_mean(&first)?, last: geometric_mean(&last)?, change })
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn sizes_are_means_over_rounds_and_the_largest_of_all() {
        let mut run = sample::run(2);
        run.rounds[1].cells[0].after[0].mean = 56_000.0;
        run.rounds[1].cells[0].after[0].max = 900_000;
        run.rounds[1].cells[0].before[0].checkpointed = false;
        let growth = &collection_growth(&run, 0)[0];
        assert_eq!(growth.mean, Change { before: 23_000.0, after: 51_000.0 });
        assert_eq!(growth.max, Change { before: 184_000.0, after: 900_000.0 });
        assert!(!growth.checkpointed);
    }

    #[test]
    fn collections_created_by_calls_grow_from_nothing() {
        let mut run = sample::run(1);
        run.rounds[0].cells[1].before.remove(1);
        let growth = collection_growth(&run, 1);
        assert_eq!(
            (growth[1].collection.as_str(), growth[1].documents),
            ("comments", Change { before: 0.0, after: 20_600.0 })
        );
    }

    #[test]
    fn followed_documents_are_read_at_shares_of_the_calls() {
        let grown = followed_growth(&sample::run(3), 0, &[0.0, 0.5, 1.0]);
        assert_eq!((grown.len(), grown[0].label.as_str()), (1, "post 0"));
        assert_eq!(grown[0].bytes, [20_000.0, 38_000.0, 56_000.0]);
        assert!(followed_growth(&sample::run(0), 0, &[0.0]).is_empty());
    }
}
