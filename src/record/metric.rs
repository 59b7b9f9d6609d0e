//! Metrics that users name: in a scenario's claims, in thresholds and in objectives.

use std::fmt;

use MetricUse::{Claim, Objective, Threshold};
use serde::{Deserialize, Serialize};

use super::counter::{Claimable, Counter};
use super::part::Part;

/// A number that users make statements about.
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
    /// A counter of the server, per call.
    Counter(&'static Counter),
    /// A size of the data after the calls.
    Size(SizeMetric),
}

/// A size of a strategy's data, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeMetric {
    /// The files of all collections and indexes.
    Storage,
    /// The files of all indexes.
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

const fn quantile(share: f64) -> Metric {
    Metric::Time(TimeMetric::Quantile(share))
}

/// Name, label for people, metric, and where it may be named. Other quantiles (`p75`, `p99.99`) go wherever `p50` goes,
/// and claims may also name the counters of [`Counter::claimed`].
const METRICS: [(&str, &str, Metric, &[MetricUse]); 14] = [
    ("p50", "p50", quantile(0.5), &[Claim, Threshold, Objective]),
    ("p90", "p90", quantile(0.9), &[Claim, Threshold, Objective]),
    ("p99", "p99", quantile(0.99), &[Claim, Threshold, Objective]),
    ("p999", "p999", quantile(0.999), &[Claim, Threshold, Objective]),
    ("mean", "mean time", Metric::Time(TimeMetric::Mean), &[Claim, Threshold, Objective]),
    ("max", "longest time", Metric::Max, &[Threshold]),
    ("throughput", "calls per second", Metric::Throughput, &[Claim]),
    ("failed", "failed calls", Metric::Failed, &[Threshold]),
    ("round_trips", "round trips", Metric::RoundTrips, &[Claim, Threshold]),
    ("retries", "retries", Metric::Retries, &[Claim]),
    ("inconsistency_p99", "p99 of the inconsistency windows", Metric::InconsistencyP99, &[Claim]),
    ("storage_bytes", "bytes of collections and indexes", Metric::Size(SizeMetric::Storage), &[Claim]),
    ("index_bytes", "bytes of indexes", Metric::Size(SizeMetric::Indexes), &[Claim]),
    ("largest_document", "bytes of the largest document", Metric::Size(SizeMetric::LargestDocument), &[Claim]),
];

impl Metric {
    /// The mean time.
    pub const MEAN: Metric = Metric::Time(TimeMetric::Mean);
    /// The 99th percentile of the times.
    pub const P99: Metric = quantile(0.99);

    /// Finds a metric by its name: `p99.9` and `p999` are the same.
    pub fn named(name: &str, used: MetricUse) -> Option<Metric> {
        let known = METRICS.iter().find(|(known, ..)| *known == name);
        let known = known.filter(|(.., uses)| uses.contains(&used)).map(|(_, _, metric, _)| *metric);
        let counter = || Counter::claimed().find(|counter| counter.name == name && used == Claim);
        known.or_else(|| parse_quantile(name)).or_else(|| counter().map(Metric::Counter))
    }

    /// Lists the names that may be used.
    pub fn names(used: MetricUse) -> impl Iterator<Item = &'static str> {
        let known = METRICS.iter().filter(move |(.., uses)| uses.contains(&used)).map(|(name, ..)| *name);
        known.chain(Counter::claimed().filter(move |_| used == Claim).map(|counter| counter.name))
    }

    /// The metric's name for people.
    pub fn label(self) -> String {
        match (METRICS.iter().find(|(.., metric, _)| *metric == self), self) {
            (Some((_, label, ..)), _) => (*label).to_owned(),
            (None, Metric::Counter(counter)) => counter.label.to_owned(),
            (None, _) => self.to_string(),
        }
    }

    /// Whether it is measured over rounds and depends on the machine, so that only strategies can be compared by it.
    pub fn is_measured(self) -> bool {
        match self {
            Metric::Time(_) | Metric::Max | Metric::Throughput | Metric::InconsistencyP99 => true,
            Metric::Counter(counter) => counter.claim == Claimable::Timed,
            Metric::Failed | Metric::RoundTrips | Metric::Retries | Metric::Size(_) => false,
        }
    }

    /// Whether equal calls can give different counts, so that all rounds have to agree.
    pub fn is_varying(self) -> bool {
        match self {
            Metric::Retries => true,
            Metric::Counter(counter) => matches!(counter.claim, Claimable::Varying | Claimable::Contended),
            Metric::Time(_) | Metric::Max | Metric::Throughput | Metric::InconsistencyP99 => false,
            Metric::Failed | Metric::RoundTrips | Metric::Size(_) => false,
        }
    }

    /// Whether it belongs to a strategy as a whole rather than to one of its operations.
    pub fn is_of_strategy(self) -> bool {
        match self {
            Metric::Throughput | Metric::Size(_) => true,
            Metric::Counter(counter) => counter.claim == Claimable::Contended,
            Metric::Time(_) | Metric::Max | Metric::InconsistencyP99 => false,
            Metric::Failed | Metric::RoundTrips | Metric::Retries => false,
        }
    }

    /// The parts of a run that can decide a claim about it, the best first. Sizes are those after the last part that ran.
    pub fn parts(self) -> &'static [Part] {
        match self {
            Metric::Counter(counter) if counter.claim == Claimable::Contended => &[Part::Saturation, Part::Rate],
            Metric::Time(TimeMetric::Mean) | Metric::RoundTrips | Metric::Counter(_) => &[Part::Own],
            Metric::Time(TimeMetric::Quantile(_)) | Metric::Max | Metric::Failed | Metric::InconsistencyP99 => {
                &[Part::Rate, Part::Saturation]
            }
            Metric::Throughput => &[Part::Saturation],
            Metric::Retries => &[Part::Saturation, Part::Rate],
            Metric::Size(_) => &[Part::Saturation, Part::Rate, Part::Own],
        }
    }
}

/// Reads `p50`, `p99.9` and, from 90 % on, `p999`.
fn parse_quantile(name: &str) -> Option<Metric> {
    let digits = name.strip_prefix('p')?;
    let is_short = digits.len() > 2 && digits.starts_with('9') && digits.bytes().all(|byte| byte.is_ascii_digit());
    // Parsed with the exponent, 99.9 % is the number 0.999.
    let share = if is_short { format!("0.{digits}") } else { format!("{digits}e-2") };
    let share: f64 = share.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))?;
    (share > 0.0 && share < 1.0).then(|| quantile(share))
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
        match (self, METRICS.iter().find(|(.., metric, _)| metric == self)) {
            (_, Some((name, ..))) => formatter.write_str(name),
            (Metric::Time(time), None) => time.fmt(formatter),
            (Metric::Counter(counter), None) => formatter.write_str(counter.name),
            (other, None) => write!(formatter, "{other:?}"),
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
        assert_eq!(Metric::named("p99.9", Threshold), Some(quantile(0.999)));
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
    fn labels_are_for_people() {
        let label = |name: &str| Metric::named(name, Claim).unwrap().label();
        assert_eq!(["mean", "p75", "keys_examined"].map(label), ["mean time", "p75", "keys examined"]);
    }
}
