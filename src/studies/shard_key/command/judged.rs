//! A shard key while calls are made: what their commands ask with it.

use bson::Document;

use crate::plan::{Collection, ShardField, ShardKey};
use crate::server::{Failure, Target};

use super::super::key_order::{KeyOrder, KeyParts};
use super::super::planner::{KeyPlanner, Reach, Targeting};
use super::super::query::{ShardAccess, TargetedQuery, WriteKind, at, demanded};
use super::super::record::{KeyRecord, TargetCounts};

/// Parts of a key by which ranges and hot inserts are counted.
const PARTS: u64 = 100;
/// A key while calls are made.
pub struct JudgedKey {
    /// The collection.
    pub collection: String,
    /// The key.
    pub key: ShardKey,
    planner: KeyPlanner,
    by_shard: KeyParts,
    by_hundred: KeyParts,
    /// The documents inserted into each of the hundred parts.
    inserted: [u64; PARTS as usize],
    /// The same by operation.
    inserted_by: Vec<[u64; PARTS as usize]>,
    /// What is known of it so far.
    pub record: KeyRecord,
}

impl JudgedKey {
    /// Divides the loaded values into parts; nothing is asked yet.
    pub fn new(
        collection: &Collection,
        key: &ShardKey,
        planner: KeyPlanner,
        order: &KeyOrder,
        (shards, operations): (u64, usize),
    ) -> JudgedKey {
        let mut judged = JudgedKey {
            collection: collection.name.clone(),
            key: key.clone(),
            planner,
            by_shard: order.parts(shards),
            by_hundred: order.parts(PARTS),
            inserted: [0; PARTS as usize],
            inserted_by: vec![[0; PARTS as usize]; operations],
            record: KeyRecord {
                key: key.to_string(),
                operations: vec![TargetCounts::default(); operations],
                ..KeyRecord::default()
            },
        };
        judged.describe(order, shards);
        judged
    }

    /// Notes the values after the calls, or before them.
    pub fn describe(&mut self, order: &KeyOrder, shards: u64) {
        let coefficient =
            if self.key.is_hashed() && self.key.fields.len() == 1 { Some(0.0) } else { order.coefficient() };
        let parts = order.parts(shards);
        self.record = KeyRecord {
            distinct: order.distinct(),
            documents: order.documents(),
            most_common: order.most_common(),
            coefficient,
            is_monotonic: coefficient.map(KeyOrder::is_monotonic),
            parts: parts.count() as u64,
            largest_part: parts.largest,
            ..std::mem::take(&mut self.record)
        };
    }

    /// Counts what one command asks of the collection.
    ///
    /// # Errors
    /// When the server is lost.
    pub async fn add<T: Target>(
        &mut self,
        (target, database): (&T, &str),
        operation: usize,
        (queries, commands): (&[&TargetedQuery], u64),
    ) -> Result<(), Failure> {
        let mut counts = TargetCounts { commands, ..TargetCounts::default() };
        // Where a command has several statements, shards that they have in common get one message.
        let (mut shards, place_matters) = (0, queries.len() > 1);
        for query in queries {
            let (filter, is_insert) = match &query.access {
                ShardAccess::Follow(field) => {
                    match (self.key.fields[0].path == *field, self.key.fields.len()) {
                        (true, 1) => counts.follows_key += 1,
                        (true, _) => counts.follows_range += 1,
                        (false, _) => counts.follows_all += 1,
                    }
                    continue;
                }
                ShardAccess::Unknown(why) => {
                    counts.unknown.push((*why).to_owned());
                    continue;
                }
                ShardAccess::Insert => (self.equality(&query.filter), true),
                ShardAccess::Write(kind) => (self.of_write(&query.filter, kind), false),
                ShardAccess::Read => (query.filter.clone(), false),
            };
            let asked = (&filter, query.variables.as_ref());
            let Some(reach) = self.planner.reach(target, database, asked, is_insert || place_matters).await? else {
                counts.unknown.push("bounds that cannot be read".to_owned());
                continue;
            };
            let Reach { targeting, ranges } = reach;
            shards |= if ranges.is_empty() { 1 } else { self.by_shard.of(&ranges) };
            let parts = if ranges.is_empty() { 1 } else { self.by_hundred.of(&ranges) };
            match &query.access {
                ShardAccess::Insert => {
                    counts.inserts += 1;
                    let part = (parts.trailing_zeros() as usize).min(PARTS as usize - 1);
                    self.inserted[part] += 1;
                    self.inserted_by[operation][part] += 1;
                    continue;
                }
                ShardAccess::Write(kind) => {
                    counts.writes[targeting as usize] += 1;
                    counts.without_key += u64::from(kind.is_single && targeting != Targeting::Single);
                    counts.key_changes += u64::from(self.is_changed_by(kind));
                    // No update changes an `_id`.
                    if kind.is_computed && self.key.fields.iter().any(|field| !is_part("_id", &field.path)) {
                        counts.unknown.push("whether a pipeline changes the key".to_owned());
                    }
                }
                _ => counts.reads[targeting as usize] += 1,
            }
            counts.ranges += u64::from(parts.count_ones());
        }
        counts.messages = u64::from(shards.count_ones());
        self.record.operations[operation].add(&counts);
        Ok(())
    }

    /// The filter that finds a document by the key alone.
    fn equality(&self, document: &Document) -> Document {
        let value = |field: &ShardField| {
            let value = at(document, &field.path).cloned().unwrap_or(bson::Bson::Null);
            (field.path.clone(), bson::Bson::Document(bson::doc! { "$eq": value }))
        };
        self.key.fields.iter().map(value).collect()
    }

    /// The filter by which a write is targeted: a replacement of one document by its `_id` is found by what replaces it.
    fn of_write(&self, filter: &Document, kind: &WriteKind) -> Document {
        match &kind.replacement {
            Some(document) if !kind.upserts && demanded(filter, "_id").is_some() => {
                let mut whole = document.clone();
                whole.extend(filter.clone());
                self.equality(&whole)
            }
            _ => filter.clone(),
        }
    }

    /// Whether an update names a field of the key, a part of it, or what it is part of.
    fn is_changed_by(&self, kind: &WriteKind) -> bool {
        let meets = |path: &str, field: &str| is_part(field, path) || is_part(path, field);
        kind.paths.iter().any(|path| self.key.fields.iter().any(|field| meets(path, &field.path)))
    }

    /// Finds the part that got most documents.
    pub fn hottest(&mut self) {
        let most = |parts: &[u64; PARTS as usize]| parts.iter().max().copied().unwrap_or(0);
        self.record.hottest = most(&self.inserted);
        for (counts, parts) in self.record.operations.iter_mut().zip(&self.inserted_by) {
            counts.hottest = most(parts);
        }
    }
}

/// Whether a path is this field or inside it.
fn is_part(field: &str, path: &str) -> bool {
    path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
