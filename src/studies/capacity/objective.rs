//! Limits that users set on times: `p99<20ms`, `read_post.p99.9<5ms`, `mean<800us`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::record::{Metric, MetricUse, TimeMetric};
use crate::stats::CALLS_BEYOND;
use crate::stats::bound::{Bound, parse_time};

const EXAMPLE: &str = "p99<20ms";

/// A bound on the times of an operation, or of all calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Objective {
    /// The operation; `None` for all calls.
    pub operation: Option<String>,
    /// The time that is bounded.
    pub metric: TimeMetric,
    /// The metric is to stay below this.
    pub limit: Duration,
}

/// Returns the calls without which a metric would be chance: 10 beyond a quantile.
pub fn calls_needed(metric: TimeMetric) -> u64 {
    match metric {
        TimeMetric::Mean => 1,
        // The allowance is for shares without an exact binary form.
        TimeMetric::Quantile(share) => (CALLS_BEYOND / (1.0 - share) * (1.0 - 1e-8)).ceil() as u64,
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(operation) = &self.operation {
            write!(formatter, "{operation}.")?;
        }
        write!(formatter, "{}<{:?}", self.metric, self.limit)
    }
}

impl FromStr for Objective {
    type Err = String;

    fn from_str(text: &str) -> Result<Objective, String> {
        let bound = Bound::parse(text, MetricUse::Objective, EXAMPLE)?;
        let nanoseconds = bound.limit(parse_time)?;
        let operation = match bound.names.as_slice() {
            [] => None,
            [operation] if !operation.is_empty() => Some((*operation).to_owned()),
            names => {
                let names = names.join(".");
                return Err(format!(
                    "expected at most one operation before the metric, found `{names}`; for example read_post.{EXAMPLE}"
                ));
            }
        };
        let Metric::Time(metric) = bound.metric else {
            return Err(format!("`{}` is not a time; for example {EXAMPLE}", bound.metric));
        };
        Ok(Objective { operation, metric, limit: Duration::from_nanos(nanoseconds.round() as u64) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Objective {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn objectives_are_read_and_written() {
        for text in ["p99<20ms", "read_post.p99<5ms", "read_post.p999<5ms", "mean<800µs", "add.mean<1.5s", "p50<250ns"]
        {
            assert_eq!(parsed(text).to_string(), text);
        }
        let read = parsed("read_post.p99.9 < 5 ms");
        assert_eq!((read.operation.as_deref(), read.limit), (Some("read_post"), Duration::from_millis(5)));
        assert!(matches!(read.metric, TimeMetric::Quantile(share) if (share - 0.999).abs() < 1e-12));
        assert_eq!(parsed("p99<=800us"), parsed("p99<0.8ms"));
    }

    #[test]
    fn invalid_objectives_have_a_message() {
        let cases = [
            ("", "missing `<` in ``; for example p99<20ms"),
            ("p99", "missing `<` in `p99`; for example p99<20ms"),
            ("p99<20", "missing unit (us, ms or s) in `20`; try p99<5ms"),
            ("p99<0ms", "expected a time above 0, found `0ms`; try p99<5ms"),
            ("p99<NaNms", "expected a time above 0, found `NaNms`; try p99<5ms"),
            ("p99<2000s", ""),
            ("p99<200000s", "expected a time between 1 ns and an hour, found `200000s`; try p99<5ms"),
            ("p100<20ms", "unknown metric `p100`; expected p50, p90, p99, p999, mean"),
            ("read.p0<20ms", "unknown metric `p0`; expected p50, p90, p99, p999, mean"),
            ("read.max<20ms", "unknown metric `max`; expected p50, p90, p99, p999, mean"),
            (
                "embedded.read.p99<20ms",
                "expected at most one operation before the metric, found `embedded.read`; for example \
                 read_post.p99<20ms",
            ),
        ];
        for (text, expected) in cases {
            let message = text.parse::<Objective>().err().unwrap_or_default();
            assert_eq!(message, expected, "{text}");
        }
    }

    #[test]
    fn a_quantile_needs_ten_calls_beyond_it() {
        let needed = ["mean<1s", "p50<1s", "p99<1s", "p99.99<1s"].map(|text| calls_needed(parsed(text).metric));
        assert_eq!(needed, [1, 20, 1_000, 100_000]);
    }
}
