//! Metrics: numbers that users name in claims, thresholds and objectives, and that reports, comparisons of runs, sweeps and the
//! matrix show.
//!
//! A metric is one row: of [`METRICS`], or, for a counter of the server, of [`COUNTERS`](super::COUNTERS). The row says where it
//! appears. Only what is computed in a new way needs more: a variant of [`Metric`] and its value in `stats/series.rs`.

use std::fmt;
use std::sync::LazyLock;

use Claimable::{Contended, Counted, No, Timed, Varying};
use MetricUse::{Claim, Objective, Threshold};
use Part::{Own, Rate, Saturation};
use Shown::{Everywhere, InFull, Nowhere, OnPage};
use Unit::{Bytes, Count, Nanoseconds, PerSecond};
use serde::{Deserialize, Serialize};

use super::counter::{COUNTERS, Claimable, Counter, Shown, Unit};
use super::part::Part;

/// A number that users make statements about: how it is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Metric {
    /// A mean or quantile of the calls' times.
    Time(TimeMetric),
    /// The longest time.
    Max,
    /// Calls per second.
    Throughput,
    /// Failed calls.
    Failed,
    /// Round trips per call.
    RoundTrips,
    /// Retried attempts per call.
    Retries,
    /// The 99th percentile of the inconsistency windows.
    InconsistencyP99,
    /// The mean time of the calls while a job ran.
    BesideJob,
    /// A counter of the server, per call.
    Counter(&'static Counter),
    /// A size of the data after the calls.
    Size(SizeMetric),
    /// How commands would find the shards of a cluster.
    Shards(ShardMetric),
}

/// How the commands of an operation would find the shards of a cluster. It follows from commands and keys, so that no run
/// measures it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardMetric {
    /// The share (0 to 1) of the reads and writes that concern one shard.
    Single,
    /// The share (0 to 1) of the reads and writes that concern all shards.
    Scatter,
    /// The messages to shards per call, on four shards.
    Messages,
    /// The parts of the key, of a hundred, that a read or write concerns, mean.
    Ranges,
    /// The share (0 to 1) of the inserts that go to one part of the key, of a hundred: the one that gets most.
    InsertHot,
}

/// A size of a strategy's data, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeMetric {
    /// What is in use of the files of all collections and indexes.
    Storage,
    /// What is in use of the files of all collections.
    Collections,
    /// What is in use of the files of all indexes.
    Indexes,
    /// The largest document.
    LargestDocument,
}

/// A statistic of many times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TimeMetric {
    /// The mean.
    Mean,
    /// The time that this share (0 to 1) of the calls does not exceed.
    Quantile(f64),
}

/// Where a metric is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricUse {
    /// A scenario's claim.
    Claim,
    /// A bound on one number of a run.
    Threshold,
    /// A bound that a search for capacity keeps.
    Objective,
}

/// How a claim compares a metric with a number or with another strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(Default))]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Less.
    Below,
    /// More.
    Above,
    /// The same.
    #[cfg_attr(test, default)]
    Equals,
}

/// A metric, and where it appears.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricRow {
    /// The name in claims, thresholds, objectives and files.
    pub name: &'static str,
    /// The name for people.
    pub label: &'static str,
    /// How it is computed.
    pub metric: Metric,
    /// What its numbers are.
    pub unit: Unit,
    /// How claims compare it.
    claim: Claimable,
    /// Where it may be named.
    uses: &'static [MetricUse],
    /// The parts of a run that can decide a claim about it, the best first.
    parts: &'static [Part],
    /// Key and description of its column in the table of times.
    pub column: [&'static str; 2],
    /// Which reports have that column.
    pub shown: Shown,
    /// The parts in which every run compares the strategies by it: own costs by operation, the others by the mix.
    asked: &'static [Part],
    /// Whether runs are compared by it.
    is_compared: bool,
    /// The parts in which sweeps compare the strategies by it.
    pub swept: &'static [Part],
    /// Its columns in the matrix of published results.
    matrix: &'static [MatrixColumn],
}

/// A number of the matrix of published results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MatrixColumn {
    /// Its place on the page, from 0.
    pub place: usize,
    /// The part that measures it.
    pub part: Part,
    /// The name in `summary.json`.
    pub name: &'static str,
    /// The name in the address of the page.
    pub address: &'static str,
    /// The name for people.
    pub label: &'static str,
    /// What it says, for people.
    pub about: &'static str,
}

/// The metrics that are no counters. Other quantiles (`p75`, `p99.99`) may be named wherever `p50` may, and claims may also name
/// the counters of [`Counter::claimed`].
pub static METRICS: [MetricRow; 22] = [
    quantile("p50", 0.5, ["p50_ns", "The median."], InFull),
    quantile("p90", 0.9, ["p90_ns", "The 90th percentile."], InFull),
    MetricRow {
        asked: &[Rate],
        is_compared: true,
        matrix: &[MatrixColumn::new(
            3,
            Rate,
            ["response_p99", "p99", "p99"],
            "99th percentile of the response times at a rate that all strategies get; it depends on the rate. Differences are tested.",
        )],
        ..quantile("p99", 0.99, ["p99_ns", "The 99th percentile."], Everywhere)
    },
    quantile("p999", 0.999, ["p999_ns", "The 99.9th percentile."], InFull),
    MetricRow { uses: &[], ..quantile("p9999", 0.9999, ["p9999_ns", "The 99.99th percentile."], OnPage) },
    MetricRow {
        asked: &[Own, Rate],
        is_compared: true,
        swept: &[Own, Rate],
        matrix: &[
            MatrixColumn::new(
                2,
                Rate,
                ["response_mean", "response", "response mean"],
                "Mean response time per call of the mix at a rate that all strategies get; ratios grow with the rate. Differences are \
                 tested.",
            ),
            MatrixColumn::new(
                1,
                Own,
                ["own_time", "own", "own time"],
                "Times of operations by themselves with one client, weighted by the mix. Differences are tested.",
            ),
        ],
        ..row("mean", "mean time", Metric::MEAN, Nanoseconds, Timed, &[Own], &[Claim, Threshold, Objective])
    },
    row("max", "longest time", Metric::Max, Nanoseconds, Timed, &[Rate, Saturation], &[Threshold]),
    MetricRow {
        asked: &[Saturation],
        swept: &[Saturation],
        matrix: &[MatrixColumn::new(
            0,
            Saturation,
            ["calls_per_second", "calls", "calls/s"],
            "Calls per second of the mix while every client always has one. Differences are tested.",
        )],
        ..row("throughput", "calls per second", Metric::Throughput, PerSecond, Timed, &[Saturation], &[Claim])
    },
    row("failed", "failed calls", Metric::Failed, Count, Counted, &[Rate, Saturation], &[Threshold]),
    row("round_trips", "round trips", Metric::RoundTrips, Count, Counted, &[Own], &[Claim, Threshold]),
    row("retries", "retries", Metric::Retries, Count, Varying, &[Saturation, Rate], &[Claim]),
    row("inconsistency_p99", WINDOWS, Metric::InconsistencyP99, Nanoseconds, Timed, &[Rate, Saturation], &[Claim]),
    row("mean_beside_job", BESIDE_JOB, Metric::BesideJob, Nanoseconds, Timed, &[Saturation, Rate], &[Claim]),
    size("storage_bytes", "bytes of collections and indexes", SizeMetric::Storage, &[Claim]),
    MetricRow {
        matrix: &[MatrixColumn::new(
            5,
            Saturation,
            ["stored_bytes", "stored", "bytes stored"],
            "What is in use of the files of all collections after the calls, as times the lowest of the row. As measured, not tested.",
        )],
        ..size("collection_bytes", "bytes of collections", SizeMetric::Collections, &[])
    },
    MetricRow {
        matrix: &[MatrixColumn::new(
            6,
            Saturation,
            ["index_bytes", "index", "index bytes"],
            "What is in use of the files of all indexes after the calls, as times the lowest of the row. As measured, not tested.",
        )],
        ..size("index_bytes", "bytes of indexes", SizeMetric::Indexes, &[Claim])
    },
    size("largest_document", "bytes of the largest document", SizeMetric::LargestDocument, &[Claim]),
    shards("single_shard", "share of reads and writes by the whole shard key", ShardMetric::Single),
    shards("scatter_gather", "share of reads and writes of all shards", ShardMetric::Scatter),
    shards("shard_messages", "messages to four shards", ShardMetric::Messages),
    shards("ranges", "ranges of the shard key, of a hundred", ShardMetric::Ranges),
    shards("insert_hot", "share of inserts in one range of a hundred", ShardMetric::InsertHot),
];

const WINDOWS: &str = "p99 of the inconsistency windows";
const BESIDE_JOB: &str = "mean time while a job runs";

impl MatrixColumn {
    /// A column with these names, in the order of the fields.
    pub(super) const fn new(place: usize, part: Part, names: [&'static str; 3], about: &'static str) -> MatrixColumn {
        let [name, address, label] = names;
        MatrixColumn { place, part, name, address, label, about }
    }
}

/// The columns of the matrix with the metrics that they show, in their order.
pub static MATRIX: LazyLock<Vec<(MatrixColumn, MetricRow)>> = LazyLock::new(|| {
    let rows = METRICS.iter().copied().chain(COUNTERS.iter().map(MetricRow::of_counter));
    let columns = rows.flat_map(|row| row.matrix.iter().map(move |column| (*column, row)));
    let mut columns: Vec<_> = columns.collect();
    columns.sort_by_key(|(column, _)| column.place);
    columns
});

const fn row(
    name: &'static str,
    label: &'static str,
    metric: Metric,
    unit: Unit,
    claim: Claimable,
    parts: &'static [Part],
    uses: &'static [MetricUse],
) -> MetricRow {
    MetricRow {
        name,
        label,
        metric,
        unit,
        claim,
        uses,
        parts,
        column: ["", ""],
        shown: Nowhere,
        asked: &[],
        is_compared: false,
        swept: &[],
        matrix: &[],
    }
}

/// A quantile, and the share (0 to 1) of the calls that do not exceed it.
const fn quantile(name: &'static str, share: f64, column: [&'static str; 2], shown: Shown) -> MetricRow {
    let metric = Metric::Time(TimeMetric::Quantile(share));
    let uses = &[Claim, Threshold, Objective];
    MetricRow { column, shown, ..row(name, name, metric, Nanoseconds, Timed, &[Rate, Saturation], uses) }
}

/// A size. It is that after the last part that ran.
const fn size(name: &'static str, label: &'static str, size: SizeMetric, uses: &'static [MetricUse]) -> MetricRow {
    row(name, label, Metric::Size(size), Bytes, Counted, &[Saturation, Rate, Own], uses)
}

/// A number of `docshape shardkey`, which no part of a run measures.
const fn shards(name: &'static str, label: &'static str, metric: ShardMetric) -> MetricRow {
    row(name, label, Metric::Shards(metric), Count, Counted, &[], &[Claim])
}

impl MetricRow {
    fn of_counter(counter: &'static Counter) -> MetricRow {
        let parts: &[Part] = if counter.claim == Contended { &[Saturation, Rate] } else { &[Own] };
        let uses: &[MetricUse] = if counter.claim == No { &[] } else { &[Claim] };
        let metric = Metric::Counter(counter);
        let row = row(counter.name, counter.label, metric, counter.unit, counter.claim, parts, uses);
        MetricRow { matrix: counter.matrix, ..row }
    }

    /// The quantiles of the table of times, and their shares (0 to 1).
    pub fn quantiles() -> impl Iterator<Item = (&'static MetricRow, f64)> {
        METRICS.iter().filter_map(|row| match row.metric {
            Metric::Time(TimeMetric::Quantile(share)) => Some((row, share)),
            _ => None,
        })
    }

    /// Whether it may be named here.
    pub fn is_used(&self, used: MetricUse) -> bool {
        self.uses.contains(&used)
    }
}

impl Metric {
    /// The mean time.
    pub const MEAN: Metric = Metric::Time(TimeMetric::Mean);
    /// The 99th percentile of the times.
    pub const P99: Metric = Metric::Time(TimeMetric::Quantile(0.99));

    fn row(self) -> MetricRow {
        match (METRICS.iter().find(|row| row.metric == self), self) {
            (Some(row), _) => *row,
            (None, Metric::Counter(counter)) => MetricRow::of_counter(counter),
            (None, Metric::Time(TimeMetric::Quantile(share))) => quantile("", share, ["", ""], Nowhere),
            (None, other) => row("", "", other, Count, No, &[], &[]),
        }
    }

    /// Finds a metric by its name: `p99.9` and `p999` are the same.
    pub fn named(name: &str, used: MetricUse) -> Option<Metric> {
        let known = METRICS.iter().find(|row| row.name == name && row.is_used(used)).map(|row| row.metric);
        let counter = || Counter::claimed().find(|counter| counter.name == name && used == Claim);
        known.or_else(|| parse_quantile(name)).or_else(|| counter().map(Metric::Counter))
    }

    /// Lists the names that may be used.
    pub fn names(used: MetricUse) -> impl Iterator<Item = &'static str> {
        let known = METRICS.iter().filter(move |row| row.is_used(used)).map(|row| row.name);
        known.chain(Counter::claimed().filter(move |_| used == Claim).map(|counter| counter.name))
    }

    /// The metrics by which every run compares its strategies in a part, the mean first.
    pub fn asked_in(part: Part) -> Vec<Metric> {
        mean_first(|row| row.asked.contains(&part))
    }

    /// The metrics by which runs are compared, the mean first.
    pub fn compared() -> Vec<Metric> {
        mean_first(|row| row.is_compared)
    }

    /// The metric's name for people.
    pub fn label(self) -> String {
        Some(self.row().label).filter(|label| !label.is_empty()).map_or_else(|| self.to_string(), str::to_owned)
    }

    /// What its numbers are.
    pub fn unit(self) -> Unit {
        self.row().unit
    }

    /// Whether it is measured over rounds and depends on the machine, so that only strategies can be compared by it.
    pub fn is_measured(self) -> bool {
        self.row().claim == Timed
    }

    /// Whether equal calls can give different counts, so that all rounds have to agree.
    pub fn is_varying(self) -> bool {
        matches!(self.row().claim, Varying | Contended)
    }

    /// Whether it belongs to a strategy as a whole rather than to one of its operations.
    pub fn is_of_strategy(self) -> bool {
        matches!(self, Metric::Throughput | Metric::Size(_)) || self.row().claim == Contended
    }

    /// The parts of a run that can decide a claim about it, the best first.
    pub fn parts(self) -> &'static [Part] {
        self.row().parts
    }
}

fn mean_first(is_meant: impl Fn(&MetricRow) -> bool) -> Vec<Metric> {
    let mut found: Vec<Metric> = METRICS.iter().filter(|row| is_meant(row)).map(|row| row.metric).collect();
    found.sort_by_key(|metric| *metric != Metric::MEAN);
    found
}

/// Reads `p50`, `p99.9` and, from 90 % on, `p999`.
fn parse_quantile(name: &str) -> Option<Metric> {
    let digits = name.strip_prefix('p')?;
    let is_short = digits.len() > 2 && digits.starts_with('9') && digits.bytes().all(|byte| byte.is_ascii_digit());
    // Parsed with the exponent, 99.9 % is the number 0.999.
    let share = if is_short { format!("0.{digits}") } else { format!("{digits}e-2") };
    let share: f64 = share.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))?;
    (share > 0.0 && share < 1.0).then_some(Metric::Time(TimeMetric::Quantile(share)))
}

impl fmt::Display for TimeMetric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TimeMetric::Quantile(share) = self else { return formatter.write_str("mean") };
        // Percent without the digits that only binary fractions bring.
        let percent = ((share * 1e8).round() / 1e6).to_string();
        formatter.write_str("p")?;
        formatter.write_str(&if *share >= 0.9 { percent.replace('.', "") } else { percent })
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.row().name) {
            (Metric::Time(time), _) => time.fmt(formatter),
            (_, name) => formatter.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_written() {
        for used in [Claim, Threshold, Objective] {
            for name in Metric::names(used).chain(["p75", "p9999", "p2.5"]) {
                assert_eq!(Metric::named(name, used).map(|metric| metric.to_string()).as_deref(), Some(name));
            }
        }
        assert_eq!(Metric::named("p99.9", Threshold), Metric::named("p999", Threshold));
        assert_eq!(Metric::named("p99.99", Objective), Metric::named("p9999", Objective));
    }

    #[test]
    fn each_use_has_its_metrics() {
        for (name, used) in
            [("max", Claim), ("max", Objective), ("failed", Claim), ("requests", Claim), ("cpu_us", Threshold)]
        {
            assert_eq!(Metric::named(name, used), None, "{name} in {used:?}");
        }
        assert_eq!(Metric::named("keys_examined", Threshold), None);
        for name in ["", "p", "p0", "p100", "p-1", "p1e1", "pNaN", "p9.9.9", "median"] {
            assert_eq!(Metric::named(name, Threshold), None, "{name}");
        }
    }

    #[test]
    fn the_matrix_has_every_place_once() {
        let places: Vec<usize> = MATRIX.iter().map(|(column, _)| column.place).collect();
        assert_eq!(places, (0..MATRIX.len()).collect::<Vec<_>>());
    }

    #[test]
    fn labels_are_for_people() {
        let label = |name: &str| Metric::named(name, Claim).unwrap().label();
        assert_eq!(["mean", "p75", "keys_examined"].map(label), ["mean time", "p75", "keys examined"]);
    }
}
