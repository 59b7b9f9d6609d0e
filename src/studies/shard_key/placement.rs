//! A strategy with one shard key per collection, and what its calls then cost.

use super::record::{CollectionKeys, KeyRecord, ShardKeyRecord, StrategyKeys, TargetCounts};

/// The fullest shard of an even key has at most this many times its share of the documents.
const UNEVEN: f64 = 1.5;

/// The keys of a strategy's collections.
pub struct KeyPlacement<'r> {
    record: &'r ShardKeyRecord,
    strategy: &'r StrategyKeys,
    /// The key of each collection; `None`: it stays on one shard.
    keys: Vec<Option<&'r KeyRecord>>,
}

impl<'r> KeyPlacement<'r> {
    /// The keys that the user gives, for other collections those of the scenario. Where that has none at all, those with the fewest
    /// messages among the keys that distribute the documents evenly.
    pub fn of(record: &'r ShardKeyRecord, strategy: &'r StrategyKeys) -> KeyPlacement<'r> {
        let has_keys = strategy.has_keys();
        let mut placed = KeyPlacement { record, strategy, keys: Vec::new() };
        for collection in &strategy.collections {
            let usable = collection.keys.iter().filter(|key| key.refused.is_none());
            let of_user = collection.keys.iter().any(|key| key.is_given);
            let key = if has_keys && !of_user {
                usable.into_iter().find(|key| key.is_chosen)
            } else {
                let even: Vec<&KeyRecord> = usable.filter(|key| of_user || is_even(key, record.shards)).collect();
                // Those that leave nothing open first; of two with as many messages, the one that spreads inserts better.
                let cost = |key: &KeyRecord| {
                    let is_open = key.operations.iter().any(TargetCounts::is_open);
                    (
                        is_open,
                        (placed.messages(&key.operations) * 1e3).round() as u64,
                        key.hottest,
                        !key.key.contains("hashed"),
                    )
                };
                even.into_iter().min_by_key(|key| cost(key))
            };
            placed.keys.push(key);
        }
        placed
    }

    /// The collections with their keys.
    pub fn keys(&self) -> impl Iterator<Item = (&'r CollectionKeys, Option<&'r KeyRecord>)> {
        self.strategy.collections.iter().zip(self.keys.iter().copied())
    }

    /// What an operation's commands ask of all collections.
    pub fn counts(&self, operation: usize) -> TargetCounts {
        let mut sum = TargetCounts::default();
        for (collection, key) in self.keys() {
            let counts = key.map_or(&collection.unsharded, |key| &key.operations);
            counts.get(operation).into_iter().for_each(|counts| sum.add(counts));
        }
        sum
    }

    /// A number per call of the mix, of a number of all calls of an operation.
    pub fn per_call(&self, number: impl Fn(&TargetCounts) -> u64) -> f64 {
        self.weighted(|operation| number(&self.counts(operation)))
    }

    /// Whether some shards cannot be known.
    pub fn is_open(&self) -> bool {
        (0..self.record.operations.len()).any(|operation| self.counts(operation).is_open())
    }

    /// Messages per call of the mix, of one collection with a key.
    pub fn messages(&self, operations: &[TargetCounts]) -> f64 {
        self.weighted(|operation| operations.get(operation).map_or(0, |counts| counts.messages))
    }

    fn weighted(&self, number: impl Fn(usize) -> u64) -> f64 {
        let weights = self.record.mix.weights.iter().map(|(_, weight)| *weight);
        let total: f64 = weights.clone().sum();
        let calls = |operation: usize| self.strategy.calls.get(operation).copied().unwrap_or(0).max(1) as f64;
        weights.enumerate().map(|(operation, weight)| weight * number(operation) as f64 / calls(operation)).sum::<f64>()
            / total
    }
}

/// Whether a key can divide the documents evenly among the shards.
pub fn is_even(key: &KeyRecord, shards: u64) -> bool {
    key.largest_part * shards as f64 <= UNEVEN
}
