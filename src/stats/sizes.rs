//! Sizes of collections, over rounds.

use crate::results::{CollectionSizes, RunRecord};

use super::latency::arithmetic_mean;
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
    /// What the collection uses of its file, in bytes.
    pub storage: Change,
    /// What the indexes use of their files, in bytes.
    pub indexes: Change,
    /// The collection's file, in bytes.
    pub file: Change,
    /// The indexes' files, in bytes.
    pub index_files: Change,
    /// Whether the server said what is in use of files in every reading; else the whole files are taken.
    pub is_use_known: bool,
    /// Whether a flush came before every reading, without which file sizes lag behind.
    pub checkpointed: bool,
    /// After the calls, the documents of the shard that has most, divided by the mean of all; `None` for what is not sharded.
    pub imbalance: Option<f64>,
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
    let all = || before.iter().chain(&after);
    let mean = |of: &dyn Fn(&CollectionSizes) -> f64| {
        let side = |sizes: &[&CollectionSizes]| arithmetic_mean(sizes.iter().copied().map(of)).unwrap_or(0.0);
        Change { before: side(&before), after: side(&after) }
    };
    let largest = |sizes: &[&CollectionSizes]| sizes.iter().map(|sizes| sizes.max).max().unwrap_or(0) as f64;
    CollectionGrowth {
        collection: name.to_owned(),
        documents: mean(&|sizes| sizes.documents as f64),
        mean: mean(&|sizes| sizes.mean),
        p99: mean(&|sizes| sizes.p99 as f64),
        max: Change { before: largest(&before), after: largest(&after) },
        size: mean(&|sizes| sizes.size as f64),
        storage: mean(&|sizes| sizes.storage_in_use() as f64),
        indexes: mean(&|sizes| sizes.indexes_in_use() as f64),
        file: mean(&|sizes| sizes.storage as f64),
        index_files: mean(&|sizes| sizes.index_files() as f64),
        is_use_known: all().all(|sizes| sizes.storage_free.is_some() && sizes.indexes_free.is_some()),
        checkpointed: all().all(|sizes| sizes.checkpointed),
        imbalance: arithmetic_mean(after.iter().filter_map(|sizes| sizes.imbalance())),
    }
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
    fn room_for_reuse_is_no_storage() {
        let mut run = sample::run(1);
        let cell = &mut run.rounds[0].cells[0];
        let known = |sizes: &mut CollectionSizes| (sizes.storage_free, sizes.indexes_free) = (Some(0), Some(0));
        cell.before.iter_mut().chain(&mut cell.after).for_each(known);
        (cell.after[0].storage, cell.after[0].storage_free) = (5_000_000, Some(2_000_000));
        (cell.after[0].indexes, cell.after[0].indexes_free) = ([("_id_".to_owned(), 9_000)].into(), Some(1_000));
        let growth = &collection_growth(&run, 0)[0];
        assert_eq!((growth.storage.after, growth.file.after, growth.is_use_known), (3_000_000.0, 5_000_000.0, true));
        assert_eq!((growth.indexes.after, growth.index_files.after), (8_000.0, 9_000.0));
        // A record of an earlier version has the files alone.
        assert!(!collection_growth(&run, 1)[0].is_use_known);
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
}
