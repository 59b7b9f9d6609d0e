//! What the numbers do not contain.

use std::collections::BTreeMap;

use crate::report::document::format::percent;
use crate::report::{Section, counted, plain};
use crate::studies::shard_key::placement::is_even;
use crate::studies::shard_key::record::StrategyKeys;

use super::ShardKeyReport;

impl ShardKeyReport<'_> {
    /// What is not in the numbers, each once.
    pub(super) fn unknown(&self) -> Option<Section> {
        let mut said: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut say = |text: String, strategy: &StrategyKeys| {
            let names = said.entry(text).or_default();
            let name = plain(&strategy.name);
            if !names.contains(&name) {
                names.push(name);
            }
        };
        for (_, strategy, placed) in self.rows() {
            for (collection, key) in placed.keys() {
                let name = plain(&collection.name);
                if let Some(reason) = &collection.left_out {
                    say(format!("{name}: {}", plain(reason)), strategy);
                }
                let Some(key) = key else { continue };
                let key_name = plain(&key.key);
                for (operation, counts) in self.record.operations.iter().zip(&key.operations) {
                    let operation = plain(operation);
                    if counts.follows_key > 0 {
                        say(
                            format!(
                                "{operation} joins {name} by its shard key {key_name}: one more shard for each document that is joined"
                            ),
                            strategy,
                        );
                    }
                    if counts.follows_range > 0 {
                        say(
                            format!(
                                "{operation} joins {name} by the first field of its shard key {key_name}: one or several more shards for each document that is joined"
                            ),
                            strategy,
                        );
                    }
                    if counts.follows_all > 0 {
                        say(
                            format!(
                                "{operation} joins {name} by another field than its shard key {key_name}: all shards for each document that is joined"
                            ),
                            strategy,
                        );
                    }
                    for reason in &counts.unknown {
                        say(format!("{operation} in {name}: {} cannot be judged", plain(reason)), strategy);
                    }
                }
                if !is_even(key, self.record.shards) {
                    let share = percent(key.largest_part);
                    say(
                        format!("{name} by {key_name}: the fullest of {} has {share} of the documents", self.shards()),
                        strategy,
                    );
                }
            }
            for (operation, written) in
                self.record.operations.iter().zip(&strategy.in_transaction).filter(|(_, written)| **written > 1)
            {
                say(
                    format!(
                        "{} writes up to {} in a transaction: if they are on different shards, the commit needs two phases",
                        plain(operation),
                        counted(*written, "document")
                    ),
                    strategy,
                );
            }
        }
        let lines = said.into_iter().map(|(text, names)| format!("{} ({})", text, names.join(", ")));
        let lines: Vec<String> = lines.collect();
        (!lines.is_empty()).then(|| Section::new("shard_unknown", "What is not in the numbers").items(lines))
    }
}
