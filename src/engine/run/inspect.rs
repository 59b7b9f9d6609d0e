//! Sizes of collections and their documents, read before and after the measured calls.

use std::collections::BTreeMap;

use bson::{RawDocumentBuf, rawdoc};

use crate::engine::step::reply::documents;
use crate::plan::{Arm, Value};
use crate::results::CollectionSizes;
use crate::server::cluster::Cluster;
use crate::server::{Db, Failure, ReplyKind, Target};

/// Numbers of documents by their bytes.
type SizeCounts = BTreeMap<u64, u64>;

/// Reads the sizes of all collections of an arm; those of one `for` together.
pub(super) async fn sizes<T: Target>(
    db: &Db<'_, T>,
    arm: &Arm,
    checkpointed: bool,
) -> Result<Vec<CollectionSizes>, Failure> {
    let mut all = Vec::new();
    let is_sharded = arm.collections.iter().any(|collection| collection.sharding.is_some());
    let cluster = if is_sharded { Cluster::find(db.target).await? } else { None };
    for series in arm.series() {
        let (mut documents, mut total) = (BTreeMap::new(), no_storage());
        if let Some(cluster) = cluster.as_ref().filter(|_| series[0].sharding.is_some()) {
            // Shards without a document may be missing in what is read.
            total.shards = cluster.shards.iter().map(|shard| (shard.clone(), 0)).collect();
        }
        for collection in series {
            count_documents(db, &collection.name, &mut documents).await?;
            add_storage(db, &collection.name, &mut total).await?;
        }
        all.push(CollectionSizes {
            name: series[0].written.clone(),
            documents: documents.values().sum(),
            mean: mean(&documents),
            p50: quantile(&documents, 0.5),
            p99: quantile(&documents, 0.99),
            max: documents.keys().next_back().copied().unwrap_or(0),
            checkpointed,
            ..total
        });
    }
    Ok(all)
}

/// Counts the documents of each size in bytes.
async fn count_documents(db: &Db<'_, impl Target>, collection: &str, sizes: &mut SizeCounts) -> Result<(), Failure> {
    let group = rawdoc! { "$group": { "_id": { "$bsonSize": "$$ROOT" }, "n": { "$sum": 1_i64 } } };
    for row in rows(db, collection, group).await? {
        if let (Some(Value::Int(size)), Some(Value::Int(n))) = (row.plain_field("_id"), row.plain_field("n")) {
            *sizes.entry(size as u64).or_default() += n as u64;
        }
    }
    Ok(())
}

fn mean(sizes: &SizeCounts) -> f64 {
    let documents: u64 = sizes.values().sum();
    let bytes: u64 = sizes.iter().map(|(size, n)| size * n).sum();
    if documents == 0 { 0.0 } else { bytes as f64 / documents as f64 }
}

/// The smallest size that this share of the documents does not exceed.
fn quantile(sizes: &SizeCounts, share: f64) -> u64 {
    let documents: u64 = sizes.values().sum();
    let rank = (documents as f64 * share).ceil() as u64;
    let mut seen = 0;
    let reached = sizes.iter().find(|(_, n)| {
        seen += **n;
        seen >= rank
    });
    reached.map_or(0, |(size, _)| *size)
}

/// Reads the bytes of an arm's data, uncompressed as in the server's cache, and of its indexes.
pub(super) async fn footprint<T: Target>(db: &Db<'_, T>, arm: &Arm) -> Result<u64, Failure> {
    let mut total = no_storage();
    for collection in &arm.collections {
        add_storage(db, &collection.name, &mut total).await?;
    }
    Ok(total.size.saturating_add(total.indexes_in_use()))
}

fn no_storage() -> CollectionSizes {
    CollectionSizes { storage_free: Some(0), indexes_free: Some(0), ..CollectionSizes::default() }
}

/// Adds the bytes of a collection and of its files.
async fn add_storage<T: Target>(db: &Db<'_, T>, collection: &str, total: &mut CollectionSizes) -> Result<(), Failure> {
    // One row per shard.
    for row in rows(db, collection, rawdoc! { "$collStats": { "storageStats": {} } }).await? {
        let stats = row.plain_field("storageStats").unwrap_or(Value::Null);
        total.size += number(stats.plain_field("size"));
        if let Some(Value::Text(shard)) = row.plain_field("shard").filter(|_| !total.shards.is_empty()) {
            *total.shards.entry(shard.to_string()).or_default() += number(stats.plain_field("count"));
        }
        total.storage += number(stats.plain_field("storageSize"));
        for (name, bytes) in stats.plain_field("indexSizes").map(|sizes| sizes.entries()).unwrap_or_default() {
            *total.indexes.entry(name.to_string()).or_default() += number(Some(bytes));
        }
        let free = stats.plain_field("freeStorageSize").map(|bytes| number(Some(bytes)));
        total.storage_free = total.storage_free.zip(free).map(|(sum, free)| sum + free);
        let details = stats.plain_field("indexDetails").map(|details| details.entries()).unwrap_or_default();
        let free = |details: &Value| {
            let manager = details.plain_field("block-manager")?;
            Some(number(Some(manager.plain_field("file bytes available for reuse")?)))
        };
        let free = details.iter().map(|(_, details)| free(details)).sum::<Option<u64>>();
        total.indexes_free = total.indexes_free.zip(free).map(|(sum, free)| sum + free);
    }
    Ok(())
}

fn number(value: Option<Value>) -> u64 {
    match value {
        Some(Value::Int(i)) => i.max(0) as u64,
        Some(Value::Double(d)) => d.max(0.0) as u64,
        _ => 0,
    }
}

/// The rows of a pipeline of one stage.
async fn rows<T: Target>(db: &Db<'_, T>, collection: &str, stage: RawDocumentBuf) -> Result<Vec<Value>, Failure> {
    let command = rawdoc! { "aggregate": collection, "pipeline": [stage], "cursor": { "batchSize": 1_000_000 } };
    let reply = db.target.run(db.name, command, ReplyKind::Cursor).await?;
    Ok(documents(reply).items().into_iter().flatten().collect())
}
