//! What the calls of one strategy ask of its collections, with each of their shard keys.

use std::collections::HashSet;

use bson::{Document, RawDocument, RawDocumentBuf, rawdoc};

use crate::engine::{FatalError, Interpreter, Loader, RunError, StepError, StopFlag, create_command, is_alive};
use crate::plan::{Arm, Collection, Plan, ShardKey, call_id};
use crate::server::{Failure, FailureKind, ReplyKind, Target};

use super::super::key_order::KeyOrder;
use super::super::planner::KeyPlanner;
use super::super::query::{ShardAccess, TargetedQuery, queries};
use super::super::record::{CollectionKeys, KeyRecord, StrategyKeys, TargetCounts};
use super::judged::JudgedKey;
use super::kept::{KeepingTarget, KeptCommand};

/// Calls of an operation that are made at least, however rare it is in the mix.
const FEWEST_CALLS: u64 = 20;
/// The index that is built to see the values of a key.
const INDEX: &str = "docshape.shard_key";
/// Keys per batch.
const BATCH: i32 = 20_000;

/// A strategy on its database.
pub struct StrategyAnalysis<'a, T> {
    pub plan: &'a Plan,
    pub arm: usize,
    pub target: &'a T,
    pub database: &'a str,
    /// The shards for which messages are counted.
    pub shards: u64,
    /// Keys of the user's, by collection, instead of all others.
    pub given: &'a [(String, ShardKey)],
    /// Set when the user wants to stop.
    pub stop: &'a StopFlag,
}

/// What a key needs to be judged, or why a cluster refuses it.
type Refusable<R> = Result<Result<R, String>, RunError>;

impl<T: Target> StrategyAnalysis<'_, T> {
    /// Loads the data, makes the calls, and counts what their commands ask.
    ///
    /// # Errors
    /// When the scenario has a mistake, or the server is lost.
    pub async fn run(&self, loader: Loader<'_, T>, calls: u64) -> Result<StrategyKeys, RunError> {
        loader.run().await?;
        let arm = self.arm();
        let mut made = StrategyKeys {
            name: arm.name.clone(),
            is_sharded: self.is_sharded(),
            calls: vec![0; self.plan.operations.len()],
            in_transaction: vec![0; self.plan.operations.len()],
            collections: Vec::new(),
        };
        let mut keys = Vec::new();
        for series in arm.series() {
            let collection = &series[0];
            let mut record = CollectionKeys {
                name: collection.written.clone(),
                unsharded: vec![TargetCounts::default(); self.plan.operations.len()],
                left_out: self.left_out(collection),
                ..CollectionKeys::default()
            };
            if record.left_out.is_none() {
                let is_given = self.given.iter().any(|(name, _)| *name == collection.name);
                for (key, is_chosen) in self.candidates(collection).await? {
                    match self.begin(collection, &key, keys.len()).await? {
                        Ok(mut judged) => {
                            (judged.record.is_chosen, judged.record.is_given) = (is_chosen, is_given);
                            keys.push(judged);
                        }
                        Err(refused) => record.keys.push(KeyRecord {
                            key: key.to_string(),
                            is_chosen,
                            is_given,
                            refused: Some(refused),
                            ..KeyRecord::default()
                        }),
                    }
                }
            }
            for one in series {
                record.documents += self.count(&one.name).await?;
            }
            made.collections.push(record);
        }
        self.calls(calls, &mut keys, &mut made).await?;
        for mut judged in keys {
            let is_changed = |counts: &TargetCounts| {
                counts.inserts + counts.writes.iter().sum::<u64>() > 0 || !counts.unknown.is_empty()
            };
            if judged.record.operations.iter().any(is_changed)
                && let Ok(order) = self.order(&judged.collection, &judged.key).await?
            {
                judged.describe(&order, self.shards);
            }
            judged.hottest();
            let of = made.collections.iter_mut().find(|one| one.name == judged.collection);
            of.into_iter().for_each(|one| one.keys.push(judged.record.clone()));
        }
        made.collections.iter_mut().for_each(|one| one.keys.sort_by_key(|key| (!key.is_chosen, key.refused.is_some())));
        Ok(made)
    }

    fn arm(&self) -> &Arm {
        &self.plan.arms[self.arm]
    }

    fn is_sharded(&self) -> bool {
        self.arm().collections.iter().any(|one| one.sharding.is_some())
    }

    /// Why no key is judged for a collection.
    fn left_out(&self, collection: &Collection) -> Option<String> {
        if collection.name != collection.written {
            return Some("a cluster places each of these collections as a whole on one shard".to_owned());
        }
        let options = create_command(self.plan, collection).ok()?;
        let has = |key: &str| options.get(key).is_ok_and(|value| value.is_some());
        if options.get_bool("capped").unwrap_or(false) {
            return Some("a capped collection cannot be sharded".to_owned());
        }
        if has("timeseries") {
            return Some(
                "a time series collection is sharded by its time and meta fields, which is not judged here".to_owned(),
            );
        }
        has("collation").then(|| "its default collation is not the simple one, which is not judged here".to_owned())
    }

    /// The keys to judge, and whether the scenario gives the collection this one.
    async fn candidates(&self, collection: &Collection) -> Result<Vec<(ShardKey, bool)>, RunError> {
        let given = self.given.iter().filter(|(name, _)| *name == collection.name);
        let given: Vec<(ShardKey, bool)> = given.map(|(_, key)| (key.clone(), false)).collect();
        if !given.is_empty() {
            return Ok(given);
        }
        let chosen = collection.sharding.iter().map(|sharding| (sharding.key.clone(), true));
        let mut all: Vec<(ShardKey, bool)> =
            chosen.chain(collection.shard_keys.iter().map(|key| (key.clone(), false))).collect();
        // A strategy with keys has said which collections are sharded.
        if all.is_empty() && !self.is_sharded() {
            let indexes = self.indexes(&collection.name).await?;
            let keys = indexes.iter().filter_map(|index| ShardKey::of_index(index.get_document("key").ok()?));
            // An index serves its first field alone, too.
            let keys = keys.flat_map(|key| [ShardKey { fields: vec![key.fields[0].clone()] }, key]);
            let hashed = ShardKey::of_index(&rawdoc! { "_id": "hashed" });
            all = keys.chain(hashed).map(|key| (key, false)).collect();
        }
        let mut seen = HashSet::new();
        all.retain(|(key, _)| seen.insert(key.clone()));
        Ok(all)
    }

    async fn begin(&self, collection: &Collection, key: &ShardKey, number: usize) -> Refusable<JudgedKey> {
        let order = match self.order(&collection.name, key).await? {
            Ok(order) => order,
            Err(refused) => return Ok(Err(refused)),
        };
        let name = format!("docshape.key_{number}");
        let planner =
            KeyPlanner::create(self.target, self.database, name, key).await.map_err(|failure| self.failed(&failure))?;
        let judged = JudgedKey::new(collection, key, planner, &order, (self.shards, self.plan.operations.len()));
        Ok(Ok(judged))
    }

    /// Reads the values of a key in the order of its index, which is built for it and dropped.
    async fn order(&self, name: &str, key: &ShardKey) -> Refusable<KeyOrder> {
        let indexes = self.indexes(name).await?;
        let fields = |index: &RawDocument| -> Vec<String> {
            let key = index.get_document("key").ok().into_iter().flat_map(|key| key.iter().flatten());
            key.map(|(path, _)| path.as_str().to_owned()).collect()
        };
        let unique = indexes.iter().filter(|index| index.get_bool("unique").unwrap_or(false));
        if let Some(index) =
            unique.into_iter().find(|index| !key.allows_unique(fields(index).iter().map(String::as_str)))
        {
            let fields = fields(index).join(", ");
            return Ok(Err(format!("the unique index on {fields} does not begin with the key")));
        }
        let is_own = |index: &&RawDocumentBuf| {
            let special = ["sparse", "partialFilterExpression", "collation"];
            let is_plain = special.iter().all(|option| index.get(option).is_ok_and(|value| value.is_none()));
            is_plain && index.get_document("key").is_ok_and(|own| own.as_bytes() == key.document().as_bytes())
        };
        let existing = indexes.iter().find(is_own).and_then(|index| Some(index.get_str("name").ok()?.to_owned()));
        if existing.is_none() {
            let index = rawdoc! { "key": key.document(), "name": INDEX };
            let create = rawdoc! { "createIndexes": name, "indexes": [index] };
            match self.target.run(self.database, create, ReplyKind::Single).await {
                Err(failure) if is_of_arrays(&failure) => return Ok(Err(ARRAY.to_owned())),
                Err(failure) => return Err(self.failed(&failure)),
                Ok(_) => {}
            }
        }
        let index = existing.as_deref().unwrap_or(INDEX);
        let paths: Vec<&str> = key.fields.iter().map(|field| field.path.as_str()).collect();
        let order = self.scan(name, index, &paths).await;
        if existing.is_none() {
            self.send(rawdoc! { "dropIndexes": name, "index": INDEX }, ReplyKind::Single).await?;
        }
        order
    }

    async fn scan(&self, collection: &str, index: &str, fields: &[&str]) -> Refusable<KeyOrder> {
        let find =
            rawdoc! { "find": collection, "hint": index, "projection": KeyOrder::projection(), "batchSize": BATCH };
        let explain = rawdoc! { "explain": find.clone(), "verbosity": "queryPlanner" };
        let plan = self.send(explain, ReplyKind::Single).await?;
        let is_multikey = plan.batches().first().is_some_and(|plan| is_multikey(plan));
        if is_multikey {
            return Ok(Err(ARRAY.to_owned()));
        }
        let reply = self.send(find, ReplyKind::Cursor).await?;
        let mut order = KeyOrder::new();
        for batch in reply.batches() {
            let Ok(cursor) = batch.get_document("cursor") else { continue };
            let rows = cursor.get_array("firstBatch").or_else(|_| cursor.get_array("nextBatch"));
            rows.into_iter().flatten().flatten().filter_map(|row| row.as_document()).for_each(|row| order.add(row));
        }
        if let Some(place) = order.missing() {
            return Ok(Err(format!("no document has `{}`", fields[place])));
        }
        Ok(Ok(order))
    }

    async fn indexes(&self, collection: &str) -> Result<Vec<RawDocumentBuf>, RunError> {
        let reply = self.send(rawdoc! { "listIndexes": collection }, ReplyKind::Single).await?;
        let cursor = reply.batches().first().and_then(|reply| reply.get_document("cursor").ok());
        let rows = cursor.and_then(|cursor| cursor.get_array("firstBatch").ok()).into_iter().flatten().flatten();
        Ok(rows.filter_map(|row| Some(row.as_document()?.to_owned())).collect())
    }

    async fn count(&self, collection: &str) -> Result<u64, RunError> {
        let reply = self.send(rawdoc! { "count": collection }, ReplyKind::Single).await?;
        Ok(u64::try_from(reply.n()).unwrap_or(0))
    }

    async fn send(&self, command: RawDocumentBuf, kind: ReplyKind) -> Result<crate::server::Reply, RunError> {
        self.target.run(self.database, command, kind).await.map_err(|failure| self.failed(&failure))
    }

    fn failed(&self, failure: &Failure) -> RunError {
        FatalError::in_strategy(&self.arm().name, "reading the values of a shard key", failure).into()
    }

    /// Makes the calls of the mix, and some of operations that it hardly calls.
    async fn calls(&self, calls: u64, keys: &mut [JudgedKey], made: &mut StrategyKeys) -> Result<(), RunError> {
        let seed = self.plan.round_seed(0);
        let drawn = (0..calls).map(|index| (self.plan.mix.draw(seed, index), index));
        let mut counts = vec![0; self.plan.operations.len()];
        let mut all: Vec<(usize, u64)> = drawn.collect();
        all.iter().for_each(|(operation, _)| counts[*operation] += 1);
        for (operation, _) in self.plan.mix.weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            let missing = FEWEST_CALLS.saturating_sub(counts[operation]);
            all.extend((0..missing).map(|number| (operation, call_id::sample(operation, number))));
        }
        let target = KeepingTarget::new(self.target);
        for (operation, index) in all {
            self.stop.check()?;
            self.call(&target, operation, index).await?;
            made.calls[operation] += 1;
            let kept = target.take();
            let written = self.record(operation, kept, keys, made).await?;
            made.in_transaction[operation] = made.in_transaction[operation].max(written);
        }
        Ok(())
    }

    async fn call(&self, target: &KeepingTarget<'_, T>, operation: usize, index: u64) -> Result<(), RunError> {
        let (plan, arm) = (self.plan, self.arm());
        let program = &arm.operations[operation];
        let name = &*plan.operations[operation].name;
        let drawn = plan.arguments(operation, plan.round_seed(0), index, program.slots);
        let mut frame = drawn.map_err(|error| FatalError::in_strategy(&arm.name, name, &error))?;
        match Interpreter::new(target, self.database).run(program, &mut frame).await {
            Err(error @ StepError::Invalid { .. }) => {
                let call = plan.operations[operation].written_call(&frame);
                Err(FatalError::in_strategy(&arm.name, call, &error).into())
            }
            Err(StepError::Failed { failure, .. })
                if failure.kind == FailureKind::Network && !is_alive(self.target).await =>
            {
                Err(FatalError::ServerLost(failure.message).into())
            }
            _ => Ok(()),
        }
    }

    /// Names a collection of a `for` as it is written.
    fn name_series(&self, collection: &mut String) {
        let of = self.arm().collections.iter().find(|one| one.name == *collection && one.written != one.name);
        of.into_iter().for_each(|one| collection.clone_from(&one.written));
    }

    /// Counts what the commands of a call ask. Returns how many documents it wrote in a transaction.
    async fn record(
        &self,
        operation: usize,
        kept: Vec<KeptCommand>,
        keys: &mut [JudgedKey],
        made: &mut StrategyKeys,
    ) -> Result<u64, RunError> {
        let mut written: Vec<(String, Document)> = Vec::new();
        for KeptCommand { command, is_in_transaction } in kept {
            let mut asked = queries(&command);
            asked.iter_mut().for_each(|one| self.name_series(&mut one.collection));
            let writes = asked.iter().filter(|one| matches!(one.access, ShardAccess::Write(_) | ShardAccess::Insert));
            for query in writes.filter(|_| is_in_transaction) {
                let place = (query.collection.clone(), query.filter.clone());
                if !written.contains(&place) {
                    written.push(place);
                }
            }
            // A command is sent for the collection that it names first, whatever else it reads.
            let target = asked.first().map(|one| one.collection.clone());
            for collection in &mut made.collections {
                let commands = u64::from(target.as_ref() == Some(&collection.name));
                let own: Vec<&TargetedQuery> = asked.iter().filter(|one| one.collection == collection.name).collect();
                if own.is_empty() {
                    continue;
                }
                collection.unsharded[operation].add(&unsharded(&own, commands));
                for judged in keys.iter_mut().filter(|judged| judged.collection == collection.name) {
                    let added = judged.add((self.target, self.database), operation, (&own, commands)).await;
                    added.map_err(|failure| self.failed(&failure))?;
                }
            }
        }
        Ok(written.len() as u64)
    }
}

const ARRAY: &str = "it contains an array";

/// Whether an index cannot be built because of arrays.
fn is_of_arrays(failure: &Failure) -> bool {
    // Two arrays in one index; an array in a hashed one.
    matches!(failure.kind, FailureKind::Server(171 | 16_766))
}

fn is_multikey(plan: &RawDocument) -> bool {
    let flag = plan.get_bool("isMultiKey").unwrap_or(false);
    let inner = plan.iter().flatten().filter_map(|(_, value)| value.as_document());
    flag || inner.into_iter().any(is_multikey)
}

/// What a command asks of one collection that is on one shard.
fn unsharded(queries: &[&TargetedQuery], commands: u64) -> TargetCounts {
    let mut counts = TargetCounts { commands, messages: commands, ..TargetCounts::default() };
    for query in queries {
        match &query.access {
            ShardAccess::Read => counts.reads[0] += 1,
            ShardAccess::Write(_) => counts.writes[0] += 1,
            // No part of a key gets them: they are in no share of hot inserts.
            ShardAccess::Insert => {}
            // All of them are on that shard.
            ShardAccess::Follow(_) | ShardAccess::Unknown(_) => {}
        }
    }
    counts
}
