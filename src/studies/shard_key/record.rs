//! `shard-key.json`: how the commands of each strategy would find the shards with each key.

use serde::{Deserialize, Serialize};

use crate::results::{ClaimRecord, Document, MixRecord, SHARD_KEY_FILE, ScenarioRecord, SkippedStrategy};

/// The version of `shard-key.json` that this build writes. It grows when a field goes or changes its meaning.
pub const SHARD_KEY_FORMAT: u32 = 1;
/// Inserts from which on their share in one part of a hundred means something.
const FEWEST_INSERTS: u64 = 100;

/// The shard keys of a scenario.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ShardKeyRecord {
    /// [`SHARD_KEY_FORMAT`] of the build that wrote it.
    pub format: u32,
    /// The version of docshape.
    pub version: String,
    /// The scenario.
    pub scenario: ScenarioRecord,
    /// Parameters and their values, in the scenario's order.
    pub parameters: Vec<(String, serde_json::Value)>,
    /// The mix that was called.
    pub mix: MixRecord,
    /// The seed of data and calls.
    pub seed: u64,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// The version of the server whose planner gave the bounds.
    pub server: String,
    /// The shards for which messages are counted.
    pub shards: u64,
    /// Whether all strategies are there.
    pub complete: bool,
    /// The operations, in the scenario's order.
    pub operations: Vec<String>,
    /// The strategies, in the order of the scenario.
    pub strategies: Vec<StrategyKeys>,
    /// Chosen strategies that are missing, because the server does not know a command of theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedStrategy>,
    /// The claims that these numbers decide, or that need a cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<ClaimRecord>,
}

/// The keys of a strategy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StrategyKeys {
    /// Its name.
    pub name: String,
    /// Whether the scenario gives some of its collections a key by `shard`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_sharded: bool,
    /// The calls that were made, by operation.
    pub calls: Vec<u64>,
    /// The most documents that one call of an operation wrote in a transaction, by operation.
    pub in_transaction: Vec<u64>,
    /// Its collections.
    pub collections: Vec<CollectionKeys>,
}

/// The keys of a collection.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CollectionKeys {
    /// Its name.
    pub name: String,
    /// Its documents after loading.
    pub documents: u64,
    /// Why no key was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// What its commands ask where it is not sharded, by operation.
    pub unsharded: Vec<TargetCounts>,
    /// The keys.
    pub keys: Vec<KeyRecord>,
}

/// A shard key and what the commands of a collection ask with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KeyRecord {
    /// The key, as in the scenario.
    pub key: String,
    /// Whether the scenario gives the collection this key by `shard`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_chosen: bool,
    /// Whether the user gives it by `--key`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_given: bool,
    /// Why a cluster refuses the key. Nothing else is known then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Its distinct values after the calls.
    pub distinct: u64,
    /// The documents after the calls.
    pub documents: u64,
    /// The documents of each of the five most common values.
    pub most_common: Vec<u64>,
    /// Correlation of its order with that of writing; `None` where that is not known.
    pub coefficient: Option<f64>,
    /// Whether it is monotonic, by the server's rule; `None` where that is not known.
    pub is_monotonic: Option<bool>,
    /// The parts of about as many documents that it can make, at most one per shard.
    pub parts: u64,
    /// The share (0 to 1) of the documents in the largest of them.
    pub largest_part: f64,
    /// The documents inserted into the part, of a hundred, that got most.
    pub hottest: u64,
    /// What the commands ask, by operation.
    pub operations: Vec<TargetCounts>,
}

/// What commands ask of a collection. Each question and each write of a command counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetCounts {
    /// Commands that are sent for the collection: others name another one first.
    pub commands: u64,
    /// Messages to shards for them.
    pub messages: u64,
    /// Reads of one shard, of several, and of all.
    pub reads: [u64; 3],
    /// The same of changes and deletions.
    pub writes: [u64; 3],
    /// Changes of one document that do not name the whole key.
    pub without_key: u64,
    /// Changes that set a field of the key.
    pub key_changes: u64,
    /// Parts of the key, of a hundred, that all these reads and writes concern.
    pub ranges: u64,
    /// Documents inserted.
    pub inserts: u64,
    /// Those of them in the part, of a hundred, that got most.
    pub hottest: u64,
    /// Reads whose shards follow from documents: one shard for each document.
    pub follows_key: u64,
    /// Reads whose shards follow from documents: those with a range of the key for each document.
    pub follows_range: u64,
    /// Reads whose shards follow from documents: all of them.
    pub follows_all: u64,
    /// Questions of which nothing can be said, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

impl Document for ShardKeyRecord {
    const FILE: &'static str = SHARD_KEY_FILE;
    const FORMAT: u32 = SHARD_KEY_FORMAT;
}

impl StrategyKeys {
    /// Whether the scenario gives some of its collections a key.
    pub fn has_keys(&self) -> bool {
        self.is_sharded || self.collections.iter().flat_map(|one| &one.keys).any(|key| key.is_chosen)
    }
}

impl TargetCounts {
    /// Reads and writes of which the shards are known, inserts not among them.
    pub fn known(&self) -> u64 {
        self.reads.iter().chain(&self.writes).sum()
    }

    /// Whether some of its shards follow from documents, or cannot be known.
    pub fn is_open(&self) -> bool {
        self.follows_key + self.follows_range + self.follows_all > 0 || !self.unknown.is_empty()
    }

    /// The share of the inserts in the part that got most; `None` for a few inserts, of which one part always gets many.
    pub fn hot(&self) -> Option<f64> {
        (self.inserts >= FEWEST_INSERTS).then(|| self.hottest as f64 / self.inserts as f64)
    }

    /// Adds the counts of another collection.
    pub fn add(&mut self, other: &TargetCounts) {
        self.commands += other.commands;
        self.messages += other.messages;
        self.reads.iter_mut().zip(other.reads).for_each(|(sum, count)| *sum += count);
        self.writes.iter_mut().zip(other.writes).for_each(|(sum, count)| *sum += count);
        self.without_key += other.without_key;
        self.key_changes += other.key_changes;
        self.ranges += other.ranges;
        self.inserts += other.inserts;
        self.hottest += other.hottest;
        self.follows_key += other.follows_key;
        self.follows_range += other.follows_range;
        self.follows_all += other.follows_all;
        let new = other.unknown.iter().filter(|reason| !self.unknown.contains(reason));
        self.unknown.extend(new.cloned().collect::<Vec<_>>());
    }
}
