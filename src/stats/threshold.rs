//! What users ask of a run: `embedded.read_post.p99<5ms`, `embedded.add_comment.failed<1%`.

use std::fmt;
use std::str::FromStr;

use crate::results::RunRecord;

use super::latency::{Distribution, geometric_mean, means};
use super::{operations, tally};

/// The units of times, the longest name first among those that end alike, in nanoseconds.
const UNITS: [(&str, f64); 5] = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];

/// An hour, which no call takes.
const LONGEST: f64 = 3.6e12;

const METRICS: [(&str, Metric); 8] = [
    ("p50", Metric::Quantile(0.5)),
    ("p90", Metric::Quantile(0.9)),
    ("p99", Metric::Quantile(0.99)),
    ("p999", Metric::Quantile(0.999)),
    ("mean", Metric::Mean),
    ("max", Metric::Max),
    ("failed", Metric::Failed),
    ("round_trips", Metric::RoundTrips),
];

const EXAMPLE: &str = "embedded.read_post.p99<5ms";

/// A bound on one number of one operation of one strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    text: String,
    /// The strategy.
    pub strategy: String,
    /// The operation.
    pub operation: String,
    metric: Metric,
    limit: Measurement,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Metric {
    Quantile(f64),
    Mean,
    Max,
    Failed,
    RoundTrips,
}

/// A threshold that cannot be meant: what is wrong with it, and how it is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {help}")]
pub struct ThresholdError {
    reason: String,
    help: String,
}

/// A number that a threshold is about: the one that was found, or the one that it is to be below.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measurement {
    /// A time.
    Nanoseconds(f64),
    /// Of the calls, from 0 to 1.
    Share(f64),
    /// Of calls.
    Calls(f64),
    /// Exchanged per call.
    Messages(f64),
}

/// What a run says of a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Check {
    /// The number; `None` when the run has none, be it that there are too few calls for a quantile.
    pub found: Option<Measurement>,
    /// Whether it is there and below.
    pub has_passed: bool,
}

impl Threshold {
    /// Checks it. Times and calls are those of all rounds, as in the report's tables.
    pub fn check(&self, record: &RunRecord) -> Check {
        let found = self.find(record);
        let has_passed = found.is_some_and(|found| match (found, self.limit) {
            (Measurement::Nanoseconds(found), Measurement::Nanoseconds(limit))
            | (Measurement::Share(found), Measurement::Share(limit))
            | (Measurement::Calls(found), Measurement::Calls(limit))
            | (Measurement::Messages(found), Measurement::Messages(limit)) => found < limit,
            _ => false,
        });
        Check { found, has_passed }
    }

    fn find(&self, record: &RunRecord) -> Option<Measurement> {
        let strategy = record.strategies.iter().position(|entry| entry.name == self.strategy)?;
        let operation = record.operations.iter().position(|name| *name == self.operation)?;
        let all = || operations(record, strategy, operation);
        let time = |time: Option<u64>| time.map(|time| Measurement::Nanoseconds(time as f64));
        match self.metric {
            Metric::Quantile(share) => time(Distribution::of(all()).quantile(share)),
            Metric::Max => time(Distribution::of(all()).max()),
            Metric::Mean => geometric_mean(&means(record, strategy, operation)).map(Measurement::Nanoseconds),
            Metric::RoundTrips => tally(all()).round_trips_per_call().map(Measurement::Messages),
            Metric::Failed => {
                let tally = Some(tally(all())).filter(|tally| tally.calls > 0)?;
                match self.limit {
                    Measurement::Share(_) => Some(Measurement::Share(tally.failed_share())),
                    _ => Some(Measurement::Calls(tally.failed() as f64)),
                }
            }
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Threshold, ThresholdError> {
        let refuse = |reason: String, help: String| ThresholdError { reason, help };
        let Some((subject, limit)) = text.split_once('<') else {
            return Err(refuse(format!("`{text}` has no `<`"), format!("write it like {EXAMPLE}")));
        };
        let (subject, limit) = (subject.trim(), limit.trim().trim_start_matches('=').trim());
        let parts: Vec<&str> = subject.split('.').map(str::trim).collect();
        let (strategy, operation, metric) = match parts.as_slice() {
            [strategy, operation, metric] if parts.iter().all(|part| !part.is_empty()) => {
                (*strategy, *operation, *metric)
            }
            [strategy, operation, "p99", "9"] => {
                let help = format!("write {strategy}.{operation}.p999<{limit}");
                return Err(refuse("`p99.9` has a point".into(), help));
            }
            _ => {
                let reason = format!("`{subject}` is not a strategy, an operation and a metric with points between");
                return Err(refuse(reason, format!("write it like {EXAMPLE}")));
            }
        };
        let Some((_, known)) = METRICS.iter().find(|(name, _)| *name == metric) else {
            let names: Vec<&str> = METRICS.iter().map(|(name, _)| *name).collect();
            return Err(refuse(format!("there is no metric `{metric}`"), format!("there are {}", names.join(", "))));
        };
        let limit = parse_limit(*known, limit).map_err(|(reason, nearest)| {
            refuse(reason, format!("write it like {strategy}.{operation}.{metric}<{nearest}"))
        })?;
        let (text, strategy, operation) = (text.trim().to_owned(), strategy.to_owned(), operation.to_owned());
        Ok(Threshold { text, strategy, operation, metric: *known, limit })
    }
}

/// The limit of a metric, or what is wrong with it and one that could be meant.
fn parse_limit(metric: Metric, text: &str) -> Result<Measurement, (String, &'static str)> {
    let positive =
        |number: &str| number.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    match metric {
        Metric::Failed => match (text.strip_suffix('%'), positive(text.trim_end_matches('%'))) {
            (Some(_), Some(percent)) if percent <= 100.0 => Ok(Measurement::Share(percent / 100.0)),
            (None, Some(calls)) => Ok(Measurement::Calls(calls)),
            _ => Err((format!("`{text}` is neither a number of calls above 0 nor a percentage of them"), "1%")),
        },
        Metric::RoundTrips => positive(text)
            .map(Measurement::Messages)
            .ok_or_else(|| (format!("`{text}` is not a number above 0"), "1.5")),
        _ => {
            let unit = UNITS.iter().find_map(|(name, nanos)| Some((text.strip_suffix(name)?, *nanos)));
            let Some((number, nanos)) = unit else {
                return Err((format!("`{text}` is a time without a unit (us, ms or s)"), "5ms"));
            };
            match positive(number).map(|number| number * nanos) {
                Some(limit) if (1.0..LONGEST).contains(&limit) => Ok(Measurement::Nanoseconds(limit)),
                Some(_) => Err((format!("`{text}` is not between 1 ns and an hour"), "5ms")),
                None => Err((format!("`{text}` is not a time above 0"), "5ms")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::sample;

    fn check(text: &str) -> Check {
        text.parse::<Threshold>().unwrap_or_else(|error| panic!("{text}: {error}")).check(&sample::run(8))
    }

    #[test]
    fn every_metric_is_found_and_compared() {
        for (text, has_passed) in [
            ("embedded.read_post.p50<1ms", true),
            ("embedded.read_post.p50<100us", false),
            ("embedded.read_post.p99 < 0.1 s", true),
            ("linked.add_comment.p999<1s", false),
            ("linked.add_comment.mean<1500µs", true),
            ("linked.add_comment.mean<10000ns", false),
            ("linked.add_comment.max<1s", true),
            ("linked.add_comment.failed<17", true),
            ("linked.add_comment.failed<16", false),
            ("linked.add_comment.failed<1%", true),
            ("linked.add_comment.failed<0.1%", false),
            ("linked.read_post.round_trips<2", false),
            ("linked.read_post.round_trips<=2.5", true),
            ("other.read_post.p50<1s", false),
            ("linked.remove.failed<1%", false),
        ] {
            assert_eq!(check(text).has_passed, has_passed, "{text}: {:?}", check(text));
        }
        assert_eq!(check("linked.add_comment.failed<9").found, Some(Measurement::Calls(16.0)));
        assert_eq!(check("linked.add_comment.failed<9%").found, Some(Measurement::Share(2.0 / 600.0)));
        assert_eq!(check("linked.read_post.round_trips<9").found, Some(Measurement::Messages(2.0)));
        // Fewer than 10 calls lie beyond it.
        assert_eq!(check("linked.count.p99<1s"), Check { found: None, has_passed: false });
    }

    #[test]
    fn a_threshold_is_written_as_it_was_read() {
        for text in ["a.b.p99<5ms", "a-b.c_d.failed < 1 %"] {
            assert_eq!(text.parse::<Threshold>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn nonsense_is_refused_by_its_part() {
        let cases = [
            ("", "`` has no `<`; write it like embedded.read_post.p99<5ms"),
            ("a.b.p99>5ms", "`a.b.p99>5ms` has no `<`; write it like embedded.read_post.p99<5ms"),
            (
                "a.p99<5ms",
                "`a.p99` is not a strategy, an operation and a metric with points between; write it like \
                 embedded.read_post.p99<5ms",
            ),
            (
                "a..p99<5ms",
                "`a..p99` is not a strategy, an operation and a metric with points between; write it like \
                 embedded.read_post.p99<5ms",
            ),
            ("a.b.p99.9<5ms", "`p99.9` has a point; write a.b.p999<5ms"),
            ("a.b.p95<5ms", "there is no metric `p95`; there are p50, p90, p99, p999, mean, max, failed, round_trips"),
            ("a.b.p99<5", "`5` is a time without a unit (us, ms or s); write it like a.b.p99<5ms"),
            ("a.b.p99<-5ms", "`-5ms` is not a time above 0; write it like a.b.p99<5ms"),
            ("a.b.p99<NaNms", "`NaNms` is not a time above 0; write it like a.b.p99<5ms"),
            ("a.b.mean<2000000s", "`2000000s` is not between 1 ns and an hour; write it like a.b.mean<5ms"),
            (
                "a.b.failed<0",
                "`0` is neither a number of calls above 0 nor a percentage of them; write it like a.b.failed<1%",
            ),
            (
                "a.b.failed<5ms",
                "`5ms` is neither a number of calls above 0 nor a percentage of them; write it like a.b.failed<1%",
            ),
            ("a.b.round_trips<2ms", "`2ms` is not a number above 0; write it like a.b.round_trips<1.5"),
        ];
        for (text, wanted) in cases {
            let told = text.parse::<Threshold>().map_or_else(|error| error.to_string(), |_| String::new());
            assert_eq!(told, wanted, "{text}");
        }
    }
}
