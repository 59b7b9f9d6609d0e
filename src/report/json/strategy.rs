//! A strategy in the view: what holds for all its operations together.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::report::facts::finite;
use crate::report::format::plain;
use crate::report::{self, FOLLOWED_STEPS};
use crate::stats::{Anomalies, Change, CollectionGrowth, FollowedGrowth, OpenLoad, Spread, Tally};

use super::operation::Times;

/// A strategy.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct StrategyView<'r> {
    /// Its name.
    name: &'r str,
    /// What it does.
    about: &'r str,
    /// Whether the others are compared with it.
    reference: bool,
    /// The reference a second time: whatever difference it shows is noise.
    control: bool,
    /// A negative control, left out of the verdict.
    #[serde(rename = "unsafe")]
    is_unsafe: bool,
    /// Finished calls per second of all workers; in the open model those that were sent in time.
    calls_per_second: Option<f64>,
    /// Calls per second of each round.
    round_rates: Vec<Option<f64>>,
    /// The median time of the calls of each round.
    round_p50_ns: Vec<Option<u64>>,
    /// The 99th percentile of the times of each round.
    round_p99_ns: Vec<Option<u64>>,
    /// Calls per second of each slice over the rounds.
    slice_rates: Vec<Option<Rate>>,
    /// Whether it kept up with the calls that fell due; `null` in the closed model.
    open: Option<Open>,
    /// Sizes of single documents over the calls.
    followed: Vec<Followed<'r>>,
    /// Its collections.
    collections: Vec<Collection<'r>>,
    /// What its calls came to.
    counts: Counts,
    /// What audits found in its data after every round.
    audits: Vec<Audit>,
}

/// Quartiles of the rounds.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Rate {
    /// A quarter of the rounds is not above it.
    low: Option<f64>,
    /// Half of them.
    median: Option<f64>,
    /// A quarter of the rounds is not below it.
    high: Option<f64>,
}

/// Calls that fell due at intended times.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Open {
    /// Calls that fell due per second.
    offered: Option<f64>,
    /// Calls that were sent in time per second.
    achieved: Option<f64>,
    /// The share (0 to 1) that was sent in time.
    share: Option<f64>,
    /// Calls that waited longer than the timeout.
    skipped: u64,
    /// Calls that were given up when their slice was over.
    never_started: u64,
    /// From the intended time to the release by the pacer.
    pacer_lag: Times,
    /// From the release to a free worker.
    queue_wait: Times,
    /// The mean service time.
    service_mean_ns: Option<f64>,
    /// The mean response time.
    response_mean_ns: Option<f64>,
}

/// The size of a document.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Followed<'r> {
    /// Its collection.
    collection: &'r str,
    /// Which document: entity and number, 0 being the most popular.
    document: &'r str,
    /// The points, means over rounds.
    points: Vec<Point>,
}

/// A size at one moment.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Point {
    /// The share (0 to 1) of the calls that were made.
    share: f64,
    /// The size.
    bytes: Option<f64>,
}

/// A collection before and after the calls of a round: means over rounds, the largest document of all.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Collection<'r> {
    /// Its name.
    collection: &'r str,
    /// How many documents.
    documents: BeforeAfter,
    /// Mean size of a document.
    mean_bytes: BeforeAfter,
    /// 99th percentile of the sizes.
    p99_bytes: BeforeAfter,
    /// The largest document.
    max_bytes: BeforeAfter,
    /// All documents, uncompressed.
    size_bytes: BeforeAfter,
    /// The collection's file.
    storage_bytes: BeforeAfter,
    /// The indexes' files.
    index_bytes: BeforeAfter,
    /// Whether a flush came before every reading, without which file sizes lag behind.
    flushed: bool,
}

/// A number before and after the calls.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct BeforeAfter {
    /// Before.
    before: Option<f64>,
    /// After.
    after: Option<f64>,
}

/// What calls came to.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Counts {
    /// Finished calls.
    calls: u64,
    /// Messages exchanged.
    round_trips: u64,
    /// Calls by outcome.
    outcomes: BTreeMap<String, u64>,
    /// Failures by reason.
    errors: BTreeMap<String, u64>,
    /// The server's words for the first failure of each reason.
    messages: BTreeMap<String, String>,
    /// Attempts begun again, by cause.
    retries: BTreeMap<String, u64>,
    /// Calls that took longer than can be recorded.
    above_bound: u64,
}

/// An audit over all rounds.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Audit {
    /// Its name.
    audit: String,
    /// Rounds in which it was made.
    rounds: u64,
    /// Rounds in which it counted what must not be.
    rounds_with_anomalies: u64,
    /// All anomalies counted.
    anomalies: u64,
}

impl<'r> StrategyView<'r> {
    pub(super) fn of(place: usize, strategy: &'r report::StrategyView) -> StrategyView<'r> {
        let report::StrategyView {
            name,
            about,
            is_unsafe,
            is_control,
            calls_per_second,
            open,
            tally,
            audits,
            collections,
            followed: _,
            growth,
            slice_rates,
            round_rates,
            round_times,
        } = strategy;
        StrategyView {
            name,
            about,
            reference: place == 0,
            control: *is_control,
            is_unsafe: *is_unsafe,
            calls_per_second: calls_per_second.and_then(finite),
            round_rates: round_rates.iter().map(|rate| rate.and_then(finite)).collect(),
            round_p50_ns: round_times.iter().map(|times| times.median).collect(),
            round_p99_ns: round_times.iter().map(|times| times.p99).collect(),
            slice_rates: slice_rates.iter().map(|rates| rates.map(rate)).collect(),
            open: open.as_ref().map(open_view),
            followed: growth.iter().map(followed).collect(),
            collections: collections.iter().map(collection).collect(),
            counts: Counts::of(tally),
            audits: audits.iter().map(audit).collect(),
        }
    }
}

impl Counts {
    pub(super) fn of(tally: &Tally) -> Counts {
        let Tally { calls, round_trips, outcomes, errors, messages, retries, saturated } = tally;
        let counts = |counts: &BTreeMap<String, u64>| {
            let mut named = BTreeMap::new();
            // Two names may read the same once they are on one line.
            counts.iter().for_each(|(name, count)| *named.entry(plain(name)).or_default() += count);
            named
        };
        Counts {
            calls: *calls,
            round_trips: *round_trips,
            outcomes: counts(outcomes),
            errors: counts(errors),
            messages: messages.iter().map(|(reason, words)| (plain(reason), plain(words))).collect(),
            retries: counts(retries),
            above_bound: *saturated,
        }
    }
}

fn rate(spread: Spread) -> Rate {
    let Spread { low, median, high } = spread;
    Rate { low: finite(low), median: finite(median), high: finite(high) }
}

fn open_view(open: &OpenLoad) -> Open {
    let OpenLoad {
        offered,
        achieved,
        share,
        skipped,
        never_started,
        pacer_lag,
        queue_wait,
        service_mean,
        response_mean,
    } = open;
    Open {
        offered: finite(*offered),
        achieved: finite(*achieved),
        share: finite(*share),
        skipped: *skipped,
        never_started: *never_started,
        pacer_lag: Times::of(pacer_lag),
        queue_wait: Times::of(queue_wait),
        service_mean_ns: service_mean.and_then(finite),
        response_mean_ns: response_mean.and_then(finite),
    }
}

fn followed(growth: &FollowedGrowth) -> Followed<'_> {
    let FollowedGrowth { collection, label, bytes } = growth;
    let point =
        |(step, bytes): (usize, &f64)| Point { share: step as f64 / f64::from(FOLLOWED_STEPS), bytes: finite(*bytes) };
    Followed { collection, document: label, points: bytes.iter().enumerate().map(point).collect() }
}

fn collection(growth: &CollectionGrowth) -> Collection<'_> {
    let CollectionGrowth { collection, documents, mean, p99, max, size, storage, indexes, checkpointed } = growth;
    let change = |change: &Change| BeforeAfter { before: finite(change.before), after: finite(change.after) };
    Collection {
        collection,
        documents: change(documents),
        mean_bytes: change(mean),
        p99_bytes: change(p99),
        max_bytes: change(max),
        size_bytes: change(size),
        storage_bytes: change(storage),
        index_bytes: change(indexes),
        flushed: *checkpointed,
    }
}

fn audit(anomalies: &Anomalies) -> Audit {
    let Anomalies { audit, cells, wrong, total } = anomalies;
    Audit { audit: plain(audit), rounds: *cells, rounds_with_anomalies: *wrong, anomalies: *total }
}
