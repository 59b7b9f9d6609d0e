//! The report of shard keys.

mod keys;
mod unknown;

use crate::record::ShardMetric;
use crate::report::document::format::{percent, titled};
use crate::report::run::sections::claims::{self as claim_sections, ClaimView};
use crate::report::{
    Cell, Column, Forms, Headline, Measure, Report, Row, Section, Table, Tone, column, counted, listed, plain, three,
};

use super::claims::{self, of};
use super::placement::KeyPlacement;
use super::record::{ShardKeyRecord, StrategyKeys, TargetCounts};

/// What is not a number here, for below the table of strategies.
const HOW: &str = "Messages from a router to shards per call of the mix, without those that fetch more of a cursor. An equality on the \
                   whole key goes to one shard; a range, a list of values or the first fields of the key go to one or several; a \
                   filter without the first field goes to all. The server's own planner gives the bounds. Nothing here is a time.";

/// What is open, for below it.
const OPEN: &str = "≥: a lower bound. Shards that depend on values in documents (`$lookup`), or on what a pipeline sets, are not counted; see below.";

impl Report {
    /// Computes the report of shard keys.
    pub fn of_shard_keys(record: &ShardKeyRecord) -> Report {
        let keys = ShardKeyReport {
            record,
            placed: record.strategies.iter().map(|one| KeyPlacement::of(record, one)).collect(),
        };
        let results = claims::results(record);
        let name = |place: usize| record.strategies.get(place).map(|one| one.name.as_str());
        let views: Vec<ClaimView<'_>> =
            record.claims.iter().zip(results).map(|(claim, result)| ClaimView::new(claim, result, &name)).collect();
        let measures = claim_sections::measures();
        let claims = claim_sections::section(["shard_claims", "Claims"], &views, false, &measures);
        let claims = if record.claims.iter().any(|claim| claim.needs_cluster) {
            claims.note(format!(
                "To decide the claims that need a cluster: `docshape run {} --claims --uri MONGOS`.",
                plain(record.scenario.opened())
            ))
        } else {
            claims
        };
        let sections =
            [Some(keys.strategies()), Some(keys.keys()), Some(keys.operations()), claims.with_rows(), keys.unknown()];
        Report::of(keys.headline(), sections.into_iter().flatten())
    }
}

struct ShardKeyReport<'r> {
    record: &'r ShardKeyRecord,
    placed: Vec<KeyPlacement<'r>>,
}

/// What hot inserts are.
const HOT: &str = "Share of the inserts in one part of the key, of a hundred.";

impl<'r> ShardKeyReport<'r> {
    fn shards(&self) -> String {
        counted(self.record.shards, "shard")
    }

    fn headline(&self) -> Headline {
        let calls = self.record.strategies.iter().map(|one| one.calls.iter().sum::<u64>()).max().unwrap_or(0);
        let made = format!(
            "{} of mix {} with each strategy, one after the other; bounds by the planner of MongoDB {}; {}.",
            counted(calls, "call"),
            plain(&self.record.mix.name),
            plain(&self.record.server),
            self.shards()
        );
        Headline {
            scenario: plain(&self.record.scenario.name),
            title: plain(&self.record.scenario.title),
            tab: format!("{}, shard keys", titled(&self.record.scenario.name)),
            subject: vec![made],
            mix: plain(&self.record.mix.name),
            incomplete: (!self.record.complete).then(|| "Strategies are missing: the analysis ended early.".to_owned()),
            sentences: self.sentences(),
            ..Headline::default()
        }
    }

    /// Which strategy needs the fewest messages, and which the most.
    fn sentences(&self) -> Vec<String> {
        let mut all: Vec<(String, f64, bool)> = self
            .record
            .strategies
            .iter()
            .zip(&self.placed)
            .map(|(one, placed)| (plain(&one.name), placed.per_call(|counts| counts.messages), placed.is_open()))
            .collect();
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
        let closed: Vec<&(String, f64, bool)> = all.iter().filter(|(_, _, is_open)| !is_open).collect();
        let (Some(first), Some(last)) = (closed.first(), closed.last()) else { return Vec::new() };
        let fewest: Vec<String> =
            closed.iter().filter(|one| three(one.1) == three(first.1)).map(|one| one.0.clone()).collect();
        let (shards, least) = (self.shards(), three(first.1));
        let order = if three(first.1) == three(last.1) {
            format!("On {shards} a call takes {least} messages with {}.", listed(fewest))
        } else {
            let needs = if fewest.len() == 1 { "needs" } else { "need" };
            let most = format!("{} needs the most: {}", last.0, three(last.1));
            let names = listed(fewest);
            format!("On {shards} {names} {needs} the fewest messages: {least} per call; {most}.")
        };
        let open: Vec<String> = all.iter().filter(|(_, _, is_open)| *is_open).map(|one| one.0.clone()).collect();
        let bounds = (!open.is_empty())
            .then(|| format!("Not compared, as their numbers are lower bounds (≥): {}.", listed(open)));
        std::iter::once(order).chain(bounds).collect()
    }

    /// Whether a terminal has room for all rows.
    fn are_few(&self) -> bool {
        self.record.strategies.len() <= 5
    }

    fn rows(&self) -> impl Iterator<Item = (usize, &'r StrategyKeys, &KeyPlacement<'r>)> {
        self.record
            .strategies
            .iter()
            .zip(&self.placed)
            .enumerate()
            .map(|(place, (strategy, placed))| (place, strategy, placed))
    }

    fn strategies(&self) -> Section {
        type Item<'r, 's> = (&'s KeyPlacement<'r>, TargetCounts);
        let share = |metric| move |item: &Item<'_, '_>| of(&item.1, metric);
        let measures: Vec<Measure<'_, Item<'_, '_>>> = vec![
            column("one", "unsharded", "Messages per call where all is on one shard.")
                .number(three, |item: &Item<'_, '_>| item.0.per_call(|counts| counts.commands)),
            column("messages", self.shards(), "Messages per call with these keys.")
                .measure(crate::report::document::Kind::Number, |item: &Item<'_, '_>| {
                    messages(item.0.per_call(|counts| counts.messages), item.0.is_open())
                }),
            shares(
                "single",
                "one shard",
                "Share of reads and writes by the whole key, which concern one shard.",
                share(ShardMetric::Single),
            ),
            shares(
                "scatter",
                "all shards",
                "Share of reads and writes that concern all shards.",
                share(ShardMetric::Scatter),
            ),
            shares("hot", "hot inserts", HOT, |item: &Item<'_, '_>| {
                let made: u64 = (0..self.record.operations.len()).map(|one| item.0.counts(one).inserts).sum();
                // The mix is scaled up: what decides is how many inserts there were.
                TargetCounts { inserts: made, ..TargetCounts::default() }.hot().and(item.1.hot())
            }),
            column("keys", "keys", "The shard key of each collection.")
                .text(|item: &Item<'_, '_>| Cell::text(keys(item.0)).tone(Tone::Faint))
                .only(Forms::DETAILED),
        ];
        let rows = self.rows().map(|(place, strategy, placed)| {
            (Row::new(plain(&strategy.name)).series(place), (placed, self.mix(placed)))
        });
        let table = Table::new("shard_strategies", "Strategies", Column::strategy(), &measures, rows);
        const FEWEST: &str =
            "chosen here: the fewest messages among those that divide the documents evenly, which is no recommendation";
        let used = || self.placed.iter().flat_map(KeyPlacement::keys).filter_map(|(_, key)| key);
        let sources = [
            (used().any(|key| key.is_given), "those of `--key`"),
            (used().any(|key| key.is_chosen), "those of the scenario"),
            (used().any(|key| !key.is_given && !key.is_chosen), FEWEST),
        ];
        let sources: Vec<&str> =
            sources.into_iter().filter(|(is_there, _)| *is_there).map(|(_, source)| source).collect();
        let chosen = match sources.as_slice() {
            [] => "No collection has a shard key: all is on one shard.".to_owned(),
            sources => format!("The keys are {}.", sources.join("; where there are none, ")),
        };
        let section = Section::new("shard_strategies", "Strategies").table(table).note(chosen).note(HOW);
        if self.placed.iter().any(KeyPlacement::is_open) { section.note(OPEN) } else { section }
    }

    /// What a million calls of the mix ask, as its weights have it.
    fn mix(&self, placed: &KeyPlacement<'_>) -> TargetCounts {
        let per = |number: &dyn Fn(&TargetCounts) -> u64| (1e6 * placed.per_call(number)).round() as u64;
        TargetCounts {
            commands: per(&|one| one.commands),
            messages: per(&|one| one.messages),
            reads: [0, 1, 2].map(|class| per(&|one| one.reads[class])),
            writes: [0, 1, 2].map(|class| per(&|one| one.writes[class])),
            without_key: per(&|one| one.without_key),
            inserts: per(&|one| one.inserts),
            hottest: per(&|one| one.hottest),
            ranges: per(&|one| one.ranges),
            ..TargetCounts::default()
        }
    }

    fn operations(&self) -> Section {
        type Item<'r, 's> = (TargetCounts, u64, &'s KeyPlacement<'r>);
        let per = |number: fn(&TargetCounts) -> u64| {
            move |item: &Item<'_, '_>| Some(number(&item.0) as f64 / item.1.max(1) as f64)
        };
        let measures: Vec<Measure<'_, Item<'_, '_>>> = vec![
            number(
                "one",
                "unsharded".to_owned(),
                "Messages per call where all is on one shard.",
                per(|counts| counts.commands),
                three,
            ),
            column("messages", self.shards(), "Messages per call with these keys.")
                .measure(crate::report::document::Kind::Number, |item: &Item<'_, '_>| {
                    messages(item.0.messages as f64 / item.1.max(1) as f64, item.0.is_open())
                }),
            shares(
                "single",
                "one shard",
                "Share of reads and writes by the whole key, which concern one shard.",
                |item: &Item<'_, '_>| of(&item.0, ShardMetric::Single),
            ),
            shares(
                "scatter",
                "all shards",
                "Share of reads and writes that concern all shards.",
                |item: &Item<'_, '_>| of(&item.0, ShardMetric::Scatter),
            ),
            number(
                "ranges",
                "parts".to_owned(),
                "Parts of the key, of a hundred, that a read or write concerns, mean.",
                |item: &Item<'_, '_>| of(&item.0, ShardMetric::Ranges),
                three,
            ),
            shares("hot", "hot inserts", HOT, |item: &Item<'_, '_>| of(&item.0, ShardMetric::InsertHot)),
        ];
        let rows = self.record.operations.iter().enumerate().flat_map(|(operation, name)| {
            let called = self.rows().filter(move |(_, strategy, _)| strategy.calls[operation] > 0);
            called.map(move |(place, strategy, placed)| {
                let row = Row::new(plain(&strategy.name)).group(plain(name)).series(place);
                (row, (placed.counts(operation), strategy.calls[operation], placed))
            })
        });
        let table = Table::new("shard_operations", "Operations", Column::strategy(), &measures, rows)
            .grouped(Column::operation());
        let forms = if self.are_few() { Forms::ALL } else { Forms::DETAILED };
        Section::new("shard_operations", "Operations")
            .only(forms)
            .table(table)
            .note("The keys are those of the table Strategies.")
    }
}

/// Messages per call; at least so many where some shards are open.
fn messages(per_call: f64, is_open: bool) -> Cell {
    Cell::number(Some(per_call), |value| format!("{}{}", if is_open { "≥ " } else { "" }, three(value)))
}

/// The sharded collections of a placement with their keys.
fn keys(placed: &KeyPlacement<'_>) -> String {
    let sharded = placed.keys().filter_map(|(collection, key)| Some((collection, key?)));
    let texts = sharded.map(|(collection, key)| format!("{} {}", plain(&collection.name), plain(&key.key)));
    let texts = texts.collect::<Vec<_>>().join(", ");
    if texts.is_empty() { "all on one shard".to_owned() } else { texts }
}

fn number<'m, T: 'm>(
    key: &'static str,
    heading: String,
    about: &'static str,
    number: impl Fn(&T) -> Option<f64> + 'm,
    unit: fn(f64) -> String,
) -> Measure<'m, T> {
    column(key, heading, about)
        .measure(crate::report::document::Kind::Number, move |item| Cell::number(number(item), unit))
}

fn shares<'m, T: 'm>(
    key: &'static str,
    heading: &str,
    about: &'static str,
    share: impl Fn(&T) -> Option<f64> + 'm,
) -> Measure<'m, T> {
    number(key, heading.to_owned(), about, share, percent)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::record::{CollectionKeys, KeyRecord, SHARD_KEY_FORMAT};
    use super::*;
    use crate::report::tests::in_every_form;
    use crate::results::{ClaimRecord, MixRecord, Relation, ScenarioRecord, Than};

    /// Two strategies with one collection: of 100 calls of the first operation 40 read by the whole key, and all others read all shards;
    /// the second one inserts.
    fn record(text: &str) -> ShardKeyRecord {
        let reads =
            TargetCounts { commands: 100, messages: 280, reads: [40, 0, 60], ranges: 6_040, ..TargetCounts::default() };
        let inserts = TargetCounts { commands: 20, messages: 20, inserts: 20, hottest: 20, ..TargetCounts::default() };
        let alone = |counts: &TargetCounts| TargetCounts {
            messages: counts.commands,
            reads: [counts.commands, 0, 0],
            ..counts.clone()
        };
        let key = |is_chosen: bool| KeyRecord {
            key: text.to_owned(),
            is_chosen,
            distinct: 5,
            documents: 400,
            most_common: vec![200],
            coefficient: Some(0.9),
            is_monotonic: Some(true),
            parts: 3,
            largest_part: 0.5,
            hottest: 20,
            operations: vec![reads.clone(), inserts.clone()],
            ..KeyRecord::default()
        };
        let refused = KeyRecord { refused: Some(text.to_owned()), is_chosen: false, ..key(false) };
        let follows = TargetCounts { follows_all: 3, unknown: vec![text.to_owned()], ..reads.clone() };
        let strategy = |name: &str, keys: Vec<KeyRecord>| StrategyKeys {
            name: name.to_owned(),
            is_sharded: true,
            calls: vec![100, 20],
            in_transaction: vec![0, 2],
            collections: vec![CollectionKeys {
                name: text.to_owned(),
                documents: 380,
                unsharded: vec![alone(&reads), inserts.clone()],
                keys,
                ..CollectionKeys::default()
            }],
        };
        let open = KeyRecord { operations: vec![follows, inserts.clone()], ..key(true) };
        let claim = |id: &str, metric: &str, needs_cluster| ClaimRecord {
            id: id.to_owned(),
            says: text.to_owned(),
            metric: metric.to_owned(),
            needs_cluster,
            operation: Some("read".to_owned()),
            strategy: "first".to_owned(),
            relation: Relation::Below,
            than: Than::Number(0.5),
            ..ClaimRecord::default()
        };
        ShardKeyRecord {
            format: SHARD_KEY_FORMAT,
            scenario: ScenarioRecord { name: text.to_owned(), title: text.to_owned(), ..ScenarioRecord::default() },
            mix: MixRecord {
                name: text.to_owned(),
                weights: vec![("read".to_owned(), 50.0), ("add".to_owned(), 50.0)],
            },
            server: text.to_owned(),
            shards: 4,
            complete: true,
            operations: vec!["read".to_owned(), "add".to_owned()],
            strategies: vec![strategy("first", vec![key(true), refused]), strategy("second", vec![open])],
            claims: vec![claim("K1", "single_shard", false), claim("K2", "throughput", true)],
            ..ShardKeyRecord::default()
        }
    }

    pub(crate) fn named(text: &str) -> Report {
        Report::of_shard_keys(&record(text))
    }

    pub(crate) fn complete() -> Report {
        named("{ host: 1 }")
    }

    #[test]
    fn messages_are_weighted_by_the_mix_and_openness_is_said() {
        let [terminal, markdown] = in_every_form(&complete());
        // By hand: half of the calls take 280 / 100 messages, the other half 20 / 20.
        assert!(terminal.contains("On 4 shards a call takes 1.90 messages with first."), "{terminal}");
        assert!(terminal.contains("Not compared, as their numbers are lower bounds (≥): second."), "{terminal}");
        assert!(terminal.contains("≥ 1.90"), "{terminal}");
        assert!(markdown.contains("the fullest of 4 shards has 50 % of the documents"), "{markdown}");
        assert!(markdown.contains("writes up to 2 documents in a transaction"), "{markdown}");
    }

    #[test]
    fn a_key_of_the_user_counts_however_uneven_and_instead_of_the_scenarios() {
        let mut record = record("{ host: 1 }");
        let keys = &mut record.strategies[0].collections[0].keys;
        let given = KeyRecord { key: "{ day: 1 }".to_owned(), is_chosen: false, is_given: true, ..keys[0].clone() };
        *keys = vec![KeyRecord { largest_part: 1.0, ..given }];
        // Another collection of the same strategy keeps the key of the scenario, and one without any stays on one shard.
        let chosen = record.strategies[1].collections[0].clone();
        let without = CollectionKeys {
            keys: chosen.keys.iter().map(|key| KeyRecord { is_chosen: false, ..key.clone() }).collect(),
            ..chosen.clone()
        };
        record.strategies[0].collections.extend([chosen, without]);
        let placed = KeyPlacement::of(&record, &record.strategies[0]);
        let keys: Vec<Option<&str>> = placed.keys().map(|(_, key)| Some(key?.key.as_str())).collect();
        assert_eq!(keys, [Some("{ day: 1 }"), Some("{ host: 1 }"), None]);
        let [terminal, _] = in_every_form(&Report::of_shard_keys(&record));
        assert!(terminal.contains("those of `--key`") || terminal.contains("those of --key"), "{terminal}");
    }

    #[test]
    fn a_few_inserts_say_nothing_about_where_they_go() {
        let of = |inserts: u64| TargetCounts { inserts, hottest: 50, ..TargetCounts::default() }.hot();
        assert_eq!((of(99), of(100)), (None, Some(0.5)));
    }

    #[test]
    fn claims_are_decided_by_counts_and_wait_for_a_cluster() {
        let [terminal, _] = in_every_form(&complete());
        assert!(terminal.contains("✓ confirmed") && terminal.contains("first 0.4"), "{terminal}");
        assert!(terminal.contains("needs a sharded cluster"), "{terminal}");
    }
}
