//! Sizes of collections.

use std::sync::Arc;

use serde_json::json;

use crate::report::document::format::{NOTHING, bytes, bytes_change, count_change, enumerated, plain};
use crate::report::document::{Cell, Column, Forms, Kind, Measure, Row, Section, Table, column};
use crate::report::run::{Evaluation, charts};
use crate::stats::{Change, CollectionGrowth};

use super::{sizes_id, strategy_cell};

/// Collections before and after the calls; `None` where no sizes were read.
pub(crate) fn section(run: &Arc<Evaluation>) -> Option<Section> {
    let lags = run.strategies.iter().flat_map(|strategy| &strategy.collections).any(|growth| !growth.checkpointed);
    let lag = if lags { " Storage and indexes were read without a checkpoint and lag behind." } else { "" };
    let mut collections = run.strategies.iter().flat_map(|strategy| &strategy.collections);
    let what = if collections.all(|growth| growth.is_use_known) {
        "storage and indexes are what is in use of their files, which also have room for reuse"
    } else {
        "storage and indexes are files, with the room in them that is free for reuse"
    };
    let section = Section::new("sizes", "Collection sizes, before → after")
        .charts(charts::charts(run, charts::sizes::sizes, "sizes.svg", 4))
        .table(table(run))
        .note(format!(
            "Means over rounds, the largest document of all rounds. Documents are uncompressed; {what}. 1 KB is 1,000 bytes.{lag}"
        ))
        .note_in(Forms::TERMINAL, "Storage and indexes are shown as they were after the calls.");
    imbalance(run).into_iter().fold(section, Section::note).with_rows()
}

/// How even sharded collections are over the shards; `None` without any.
fn imbalance(run: &Evaluation) -> Option<String> {
    let collections = run.without_repeat().flat_map(|(_, strategy)| {
        let of = |growth: &CollectionGrowth| {
            let (strategy, collection) = (plain(&strategy.name), plain(&growth.collection));
            Some(format!("{:.2} for {collection} of {strategy}", growth.imbalance?))
        };
        strategy.collections.iter().filter_map(of).collect::<Vec<_>>()
    });
    let listed = enumerated(collections)?;
    Some(format!("Documents of the shard that has most after the calls, divided by the mean of all shards: {listed}."))
}

fn table(run: &Evaluation) -> Table {
    let size = |key, heading, about, cell: fn(&&CollectionGrowth) -> Cell| size(key, heading, about, cell);
    let metrics = [
        size("documents", "documents", "How many documents.", |one| {
            change(Some(one.documents.before), Some(one.documents.after), count_change)
        }),
        size("mean_bytes", "mean", "The mean size of a document.", |one| sized(one.mean)),
        size("p99_bytes", "p99", "The 99th percentile of the sizes.", |one| sized(one.p99)).only(Forms::DETAILED),
        size("max_bytes", "largest", "The largest document.", |one| sized(one.max)),
        size("size_bytes", "all documents", "All documents, uncompressed.", |one| sized(one.size))
            .only(Forms::DETAILED),
        size("storage_bytes", "storage", "What is in use of the collection's file.", |one| sized(one.storage))
            .only(Forms::DETAILED),
        size("index_bytes", "indexes", "What is in use of the indexes' files.", |one| sized(one.indexes))
            .only(Forms::DETAILED),
        size("file_bytes", "files", "All files, with room for reuse.", |one| {
            change(
                Some(one.file.before + one.index_files.before),
                Some(one.file.after + one.index_files.after),
                bytes_change,
            )
        })
        .only(Forms::DETAILED),
        // A terminal has no room for both numbers.
        size("storage_after", "storage", "In use afterwards.", |one| after(one.storage)).only(Forms::TERMINAL),
        size("indexes_after", "indexes", "In use afterwards.", |one| after(one.indexes)).only(Forms::TERMINAL),
        Measure::flag(
            "checkpointed",
            "Whether a checkpoint came before every reading; without it file sizes lag behind.",
            |one| one.checkpointed,
        ),
    ];
    let rows = run.strategies.iter().enumerate().flat_map(|(strategy, results)| {
        results.collections.iter().enumerate().map(move |(place, growth)| {
            let row = Row::new(growth.collection.as_str()).group(strategy_cell(run, strategy)).series(strategy);
            // A claim about storage is about all collections: its link leads to the first.
            (row.id((place == 0).then(|| sizes_id(strategy))), growth)
        })
    });
    let name = column("collection", "collection", "The collection.");
    let table = Table::new("sizes", "Every collection before → after", name, &metrics, rows);
    table.grouped(Column::strategy()).folded()
}

/// A number before and after.
pub(crate) fn size<'m, T: 'm>(
    key: &'static str,
    heading: &str,
    about: &'static str,
    cell: fn(&T) -> Cell,
) -> Measure<'m, T> {
    column(key, heading, about).cell(cell).of(Kind::Map)
}

fn sized(one: Change) -> Cell {
    change(Some(one.before), Some(one.after), bytes_change)
}

fn after(one: Change) -> Cell {
    Cell::text(bytes(one.after))
}

/// The cell of [`size`].
pub(crate) fn change(before: Option<f64>, after: Option<f64>, text: fn(f64, f64) -> String) -> Cell {
    let both = before.zip(after).map_or_else(|| NOTHING.to_owned(), |(before, after)| text(before, after));
    Cell::text(both).with_value(json!({ "before": before, "after": after }))
}
