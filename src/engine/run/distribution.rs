//! How the documents of a collection are distributed over the shards of a cluster: prepared before it is filled, and judged afterwards.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use bson::{Bson, RawDocumentBuf};

use crate::plan::{Arm, Collection, EvalError, Plan, Raw, ShardField, ShardKey, Sharding, Value, Writer, written};
use crate::results::CollectionSizes;
use crate::server::Target;
use crate::server::cluster::{Chunks, Cluster};

use super::documents::Documents;
use super::loader::{LoadError, LoadFailure, Loader, create_command};

/// A shard's part of the documents may differ from the mean by this share of it.
const TOLERATED: f64 = 0.1;

/// With fewer values or documents, chance alone spreads hashes more unevenly than is tolerated.
const FEW: usize = 1_000;

/// Keys that are kept of a collection to find its quantiles; of more, every second is left out.
const MOST_KEYS: usize = 200_000;

/// Drawing documents yields to others this often.
const YIELD_EVERY: usize = 64;

/// The values of a key's fields.
type KeyValues = Vec<Value>;

impl<T: Target> Loader<'_, T> {
    /// Shards a collection that was just created, where the server is a cluster.
    pub(super) async fn distribute(&self, collection: &Collection, sharding: &Sharding) -> Result<(), LoadError> {
        let failed = |failure: LoadFailure| self.error_in(collection, failure);
        let cluster = Cluster::find(self.target).await.map_err(|failure| failed(failure.into()))?;
        let Some(cluster) = cluster else { return Ok(()) };
        let create = create_command(self.plan, collection).map_err(|error| failed(error.into()))?;
        if create.get("timeseries").ok().flatten().is_some() {
            let help =
                "docshape does not distribute time series over shards; remove its `shard`, or measure a replica set";
            return Err(failed(LoadFailure::NotDistributed(help.to_owned())));
        }
        let chunks = sharding.chunks.unwrap_or(cluster.shards.len() as u32);
        let chunks = match sharding.key.fields.first() {
            Some(first) if first.is_hashed => Chunks::Hashed(chunks),
            _ => Chunks::Ranged(self.points(collection, &sharding.key, chunks as usize).await.map_err(failed)?),
        };
        let names = (self.database, collection.name.as_str());
        let sharded = cluster.shard(self.target, names, &sharding.key.document(), &chunks).await;
        sharded.map_err(|failure| failed(failure.into()))
    }

    /// The quantiles of the generated keys that part them into chunks of equally many documents; fewer where one value has
    /// more documents than a chunk.
    async fn points(
        &self,
        collection: &Collection,
        key: &ShardKey,
        chunks: usize,
    ) -> Result<Vec<RawDocumentBuf>, LoadFailure> {
        let is_ranged = |field: &&ShardField| !field.is_hashed;
        let ranged: Vec<&ShardField> = key.fields.iter().take_while(is_ranged).collect();
        let (mut keys, mut every) = (Vec::new(), 1);
        for (place, document) in documents(self.plan, collection).enumerate() {
            if place % YIELD_EVERY == 0 {
                tokio::task::yield_now().await;
            }
            let document = document?;
            if place % every == 0 {
                keys.push(ordered_key(document, &ranged, key)?);
            }
            if keys.len() == MOST_KEYS {
                keys = keys.into_iter().step_by(2).collect();
                every *= 2;
            }
        }
        let points = quantiles(keys, chunks).into_iter().map(|values| point(key, values));
        Ok(points.collect::<Result<_, EvalError>>()?)
    }
}

/// The documents that are generated for a collection.
fn documents<'d>(
    plan: &'d Plan,
    collection: &'d Collection,
) -> impl Iterator<Item = Result<RawDocumentBuf, EvalError>> {
    let documents = collection.loops.is_some().then(|| Documents::new(plan, collection, collection.load_order));
    documents.into_iter().flatten()
}

/// The values of these fields, null where a document lacks one, as a cluster has it.
fn key_values<'f>(document: RawDocumentBuf, fields: impl IntoIterator<Item = &'f ShardField>) -> KeyValues {
    let document = Value::Document(Raw::new(document));
    let at = |path: &str| path.split('.').try_fold(document.clone(), |inner, name| inner.plain_field(name));
    fields.into_iter().map(|field| at(&field.path).unwrap_or(Value::Null)).collect()
}

/// The same, of types whose order is known to be that of the server.
fn ordered_key(document: RawDocumentBuf, fields: &[&ShardField], key: &ShardKey) -> Result<KeyValues, LoadFailure> {
    let values = key_values(document, fields.iter().copied());
    let is_ordered = |value: &Value| {
        use Value::*;
        matches!(value, Null | Bool(_) | Int(_) | Double(_) | Text(_) | ObjectId(_) | Date(_))
    };
    match values.iter().find(|value| !is_ordered(value)) {
        None => Ok(values),
        Some(value) => Err(LoadFailure::NotDistributed(format!(
            "its shard key {key} has {} as a value, and docshape splits only numbers, strings, ObjectIds, dates, bools and null into \
             chunks; choose another key, or a hashed one",
            value.kind()
        ))),
    }
}

fn order(one: &KeyValues, other: &KeyValues) -> Ordering {
    one.iter().zip(other).map(|(one, other)| one.sort_order(other)).fold(Ordering::Equal, Ordering::then)
}

/// The keys at which the documents are parted into equal parts; no two of them are equal, and none is the least.
fn quantiles(mut keys: Vec<KeyValues>, parts: usize) -> Vec<KeyValues> {
    keys.sort_by(order);
    let mut points: Vec<KeyValues> = keys.first().cloned().into_iter().collect();
    for part in 1..parts {
        let next = keys.get(keys.len() * part / parts);
        let is_new = |next: &&KeyValues| points.last().is_some_and(|last| order(last, next).is_lt());
        points.extend(next.filter(is_new).cloned());
    }
    points.drain(..points.len().min(1));
    points
}

/// A point as the cluster takes it: all fields of the key, those without a value below all values.
fn point(key: &ShardKey, values: KeyValues) -> Result<RawDocumentBuf, EvalError> {
    let least = Value::Other(Arc::new(Bson::MinKey));
    let values = values.iter().chain(std::iter::repeat(&least));
    Writer::document(|writer| {
        key.fields.iter().zip(values).try_for_each(|(field, value)| writer.value(&field.path, value))
    })
}

/// The sharded collections of an arm whose documents are not even over the shards, each with the reason, as far as it is known.
pub(super) fn uneven(plan: &Plan, arm: &Arm, sizes: &[CollectionSizes]) -> Vec<String> {
    let distributed = sizes.iter().filter(|sizes| !sizes.shards.is_empty());
    let uneven = distributed.filter_map(|sizes| {
        let collection = arm.collections.iter().find(|one| one.name == sizes.name)?;
        let sharding = collection.sharding.as_ref()?;
        let mean = sizes.shards.values().sum::<u64>() as f64 / sizes.shards.len() as f64;
        let is_even = |documents: &u64| (*documents as f64 - mean).abs() <= mean * TOLERATED;
        if sizes.shards.values().all(is_even) && mean > 0.0 {
            return None;
        }
        let shards: Vec<String> =
            sizes.shards.iter().map(|(name, documents)| format!("{documents} on {name}")).collect();
        Some(format!(
            "strategy {}: the documents of {} are not even over the shards ({}), because {}",
            arm.name,
            sizes.name,
            shards.join(", "),
            reason(plan, collection, sharding, sizes.shards.len())
        ))
    });
    uneven.collect()
}

/// Why documents are not even over the shards.
fn reason(plan: &Plan, collection: &Collection, sharding: &Sharding, shards: usize) -> String {
    let Sharding { key, chunks } = sharding;
    let mut counts = BTreeMap::new();
    for document in documents(plan, collection).flatten() {
        let values: Vec<String> = key_values(document, &key.fields).iter().map(written).collect();
        *counts.entry(values).or_insert(0_usize) += 1;
    }
    let (documents, values) = (counts.values().sum::<usize>(), counts.len());
    let share = counts.values().max().map_or(0.0, |most| *most as f64 / documents as f64);
    match chunks {
        _ if documents == 0 => "none are loaded by its `each`, so that the values of its key were not known".to_owned(),
        _ if values < documents.min(FEW) => {
            format!("its key {key} has {values} value{}", if values == 1 { "" } else { "s" })
        }
        _ if share * shards as f64 > TOLERATED => {
            format!("one value of its key {key} has {:.0} % of the documents", share * 100.0)
        }
        Some(chunks) if !(*chunks as usize).is_multiple_of(shards) => {
            format!("its {chunks} chunks are no multiple of {shards} shards")
        }
        _ if key.is_hashed() && documents < FEW => format!("hashes of {documents} documents are uneven by chance"),
        _ => "of a reason that docshape does not know; `sh.status()` lists the chunks".to_owned(),
    }
}
