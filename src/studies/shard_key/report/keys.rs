//! The table of all keys, also of those that were not chosen.

use crate::report::document::format::percent;
use crate::report::{Cell, Forms, Measure, Row, Section, Table, Tone, column, count, plain, three};
use crate::studies::shard_key::record::{KeyRecord, TargetCounts};

use super::{HOT, ShardKeyReport, number};

/// A column of the table of keys: what it counts, and which of the three classes.
type ClassColumn = (&'static str, &'static str, &'static str, fn(&TargetCounts) -> &[u64; 3], usize, Forms);

const CLASSES: [ClassColumn; 6] = [
    (
        "reads_single",
        "reads: one",
        "Share of reads by the whole key, which concern one shard.",
        |counts| &counts.reads,
        0,
        Forms::DETAILED,
    ),
    (
        "reads_multi",
        "several",
        "Share of reads by a range, a list of values, or the first fields of the key: of one shard or several.",
        |counts| &counts.reads,
        1,
        Forms::DETAILED,
    ),
    (
        "reads_scatter",
        "reads: all",
        "Share of reads without the first field of the key: of all shards.",
        |counts| &counts.reads,
        2,
        Forms::ALL,
    ),
    (
        "writes_single",
        "writes: one",
        "Share of writes by the whole key, which concern one shard.",
        |counts| &counts.writes,
        0,
        Forms::DETAILED,
    ),
    (
        "writes_multi",
        "several",
        "Share of writes by a range, a list of values, or the first fields of the key: on one shard or several.",
        |counts| &counts.writes,
        1,
        Forms::DETAILED,
    ),
    (
        "writes_scatter",
        "writes: all",
        "Share of writes without the first field of the key: on all shards.",
        |counts| &counts.writes,
        2,
        Forms::ALL,
    ),
];

fn share(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}

/// The share of the inserts of all operations in the part of a key that got most.
fn hot(key: &KeyRecord, sum: &TargetCounts) -> Option<f64> {
    TargetCounts { hottest: key.hottest, ..sum.clone() }.hot()
}

/// A key of a strategy's collection.
struct KeyRow<'r> {
    key: &'r KeyRecord,
    sum: TargetCounts,
    messages: f64,
}

impl ShardKeyReport<'_> {
    pub(super) fn keys(&self) -> Section {
        let mut measures: Vec<Measure<'_, KeyRow<'_>>> = vec![
            column("refused", "refused", "Why a cluster refuses the key, or `null`.")
                .text(|row: &KeyRow<'_>| match &row.key.refused {
                    Some(reason) => Cell::text(plain(reason)).tone(Tone::Bad),
                    None => Cell::BLANK.with_value(serde_json::Value::Null),
                })
                .only(Forms::DETAILED),
            known(
                "distinct",
                "values",
                "Distinct values after the calls.",
                |row| Some(row.key.distinct as f64),
                |value| count(value as u64),
            )
            .only(Forms::DETAILED),
            known(
                "top",
                "top value",
                "Share of the documents with the most common value.",
                |row| share(*row.key.most_common.first()?, row.key.documents),
                percent,
            )
            .only(Forms::DETAILED),
            known(
                "largest",
                "largest shard",
                "Share of the documents on the fullest shard.",
                |row| Some(row.key.largest_part),
                percent,
            )
            .only(Forms::DETAILED),
            column(
                "monotonic",
                "monotonic",
                "Whether the key grows or falls with the order of writing all documents, by the server's rule.",
            )
            .text(|row: &KeyRow<'_>| match (&row.key.refused, row.key.is_monotonic) {
                (Some(_), _) => Cell::BLANK,
                (None, Some(true)) => Cell::text("yes").tone(Tone::Bad),
                (None, Some(false)) => Cell::text("no"),
                (None, None) => Cell::text("unknown"),
            })
            .only(Forms::DETAILED),
        ];
        measures.extend(CLASSES.map(|(key, heading, about, counts, class, forms)| {
            let of_class = move |row: &KeyRow<'_>| share(counts(&row.sum)[class], counts(&row.sum).iter().sum());
            known(key, heading, about, of_class, percent).only(forms)
        }));
        measures.extend([
            known(
                "without_key",
                "without key",
                "Share of the writes that change one document and do not name the whole key.",
                |row| share(row.sum.without_key, row.sum.writes.iter().sum()),
                percent,
            )
            .only(Forms::DETAILED),
            known(
                "key_changes",
                "key changes",
                "Writes that set a field of the key.",
                |row| Some(row.sum.key_changes as f64),
                three,
            )
            .only(Forms::JSON),
            known("hot", "hot inserts", HOT, |row| hot(row.key, &row.sum), percent),
            known(
                "messages",
                "messages",
                "Messages per call of the mix, of this collection alone.",
                |row| Some(row.messages),
                three,
            ),
        ]);
        let rows = self.rows().flat_map(|(place, strategy, placed)| {
            strategy.collections.iter().flat_map(move |collection| {
                let group = format!("{}, {}", plain(&strategy.name), plain(&collection.name));
                collection.keys.iter().map(move |key| {
                    let mut sum = TargetCounts::default();
                    key.operations.iter().for_each(|counts| sum.add(counts));
                    let messages = placed.messages(&key.operations);
                    let is_used = placed.keys().any(|(_, used)| used.is_some_and(|used| std::ptr::eq(used, key)));
                    let is_short = key.refused.is_none() && messages > 0.0 && (is_used || self.are_few());
                    let row = Row::new(plain(&key.key)).group(group.as_str()).series(place);
                    let row = row.only(if is_short { Forms::ALL } else { Forms::DETAILED });
                    (row, KeyRow { key, sum, messages })
                })
            })
        });
        let table = Table::new("shard_keys", "Keys", column("key", "key", "The shard key."), &measures, rows)
            .grouped(column("collection", "strategy and collection", "The strategy and its collection."));
        Section::new("shard_keys", "Keys")
            .table(table)
            .note(format!(
                "Shares are of the calls that were made, not weighted by the mix. Documents with the same value of the key are always on one \
                 shard, so the most common value limits how evenly {} can be filled.",
                self.shards()
            ))
    }
}

/// A number of a key that is not refused.
fn known<'m, 'r: 'm>(
    key: &'static str,
    heading: &str,
    about: &'static str,
    of: impl Fn(&KeyRow<'r>) -> Option<f64> + 'm,
    unit: fn(f64) -> String,
) -> Measure<'m, KeyRow<'r>> {
    number(key, heading.to_owned(), about, move |row: &KeyRow<'r>| of(row).filter(|_| row.key.refused.is_none()), unit)
}
