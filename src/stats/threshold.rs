//! Limits that users set on a run: `embedded.read_post.p99<5ms`, `embedded.add_comment.failed<1%`.

use std::fmt;
use std::str::FromStr;

use crate::record::{Metric, MetricUse, Unit};
use crate::results::RunRecord;

use super::bound::{Bound, parse_positive, parse_time};
use super::run_comparison::{repeat_ratio, stolen_cells};
use super::view::operations;
use super::{outcome_totals, overloaded, value};

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

/// A measured number, or the limit that it must stay below.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
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

/// Why a run does not decide a threshold on a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doubt {
    /// The strategy kept up with this share (0 to 1) of the calls due: its times are those of a queue that grew.
    Overloaded(f64),
    /// The hypervisor took much of the processors from this share (0 to 1) of the cells.
    Steal(f64),
    /// One measurement of the baseline, divided by the other.
    Repeat(f64),
}

impl Threshold {
    /// Whether a number that was found is below the limit.
    pub fn has_passed(&self, found: Option<Measurement>) -> bool {
        found.is_some_and(|found| found < self.limit)
    }

    /// Why the number that was found decides nothing; `None` where it does. A busy machine makes times longer, so that one which
    /// passes there would pass elsewhere.
    pub fn doubt(&self, record: &RunRecord, found: Option<Measurement>) -> Option<Doubt> {
        let strategy = record.strategies.iter().position(|entry| entry.name == self.strategy)?;
        let Some(Measurement::Nanoseconds(_)) = found else { return None };
        let disturbed = || stolen_cells(record).map(Doubt::Steal).or_else(|| repeat_ratio(record).map(Doubt::Repeat));
        let is_longer = !self.has_passed(found);
        overloaded(record, strategy).map(Doubt::Overloaded).or_else(|| is_longer.then(disturbed).flatten())
    }

    /// The number that the report's tables have, of the same kind as the limit; `None` when the run has none, for example with
    /// too few calls for a quantile.
    pub fn find(&self, record: &RunRecord) -> Option<Measurement> {
        let strategy = record.strategies.iter().position(|entry| entry.name == self.strategy)?;
        let operation = record.operations.iter().position(|name| *name == self.operation)?;
        let number = || value(record, self.metric, strategy, Some(operation));
        match self.limit {
            Measurement::Nanoseconds(_) => number().map(Measurement::Nanoseconds),
            Measurement::Messages(_) => number().map(Measurement::Messages),
            Measurement::Share(_) => number().map(Measurement::Share),
            Measurement::Calls(_) => {
                let totals = outcome_totals(operations(record, strategy, operation));
                (totals.calls > 0).then(|| Measurement::Calls(totals.failed() as f64))
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
    type Err = String;

    fn from_str(text: &str) -> Result<Threshold, String> {
        let bound = Bound::parse(text, MetricUse::Threshold, EXAMPLE)?;
        let (strategy, operation) = match bound.names.as_slice() {
            [strategy, operation] if !strategy.is_empty() && !operation.is_empty() => (*strategy, *operation),
            _ => {
                let found = bound.subject;
                return Err(format!("expected STRATEGY.OPERATION.METRIC, found `{found}`; for example {EXAMPLE}"));
            }
        };
        let limit = bound.limit(|limit| parse_limit(bound.metric, limit))?;
        let (strategy, operation) = (strategy.to_owned(), operation.to_owned());
        Ok(Threshold { text: text.trim().to_owned(), strategy, operation, metric: bound.metric, limit })
    }
}

/// The limit of a metric, or what is wrong with it and one that could be meant.
fn parse_limit(metric: Metric, text: &str) -> Result<Measurement, (String, &'static str)> {
    match metric {
        Metric::Failed => match (text.strip_suffix('%'), parse_positive(text.trim_end_matches('%'))) {
            (Some(_), Some(percent)) if percent <= 100.0 => Ok(Measurement::Share(percent / 100.0)),
            (None, Some(calls)) => Ok(Measurement::Calls(calls)),
            _ => Err((format!("expected a number of calls above 0 or a percentage of them, found `{text}`"), "1%")),
        },
        _ if metric.unit() == Unit::Nanoseconds => parse_time(text).map(Measurement::Nanoseconds),
        _ => parse_positive(text)
            .map(Measurement::Messages)
            .ok_or_else(|| (format!("expected a number above 0, found `{text}`"), "1.5")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    /// Whether it has passed, and the number.
    fn check(text: &str) -> (bool, Option<Measurement>) {
        let threshold = text.parse::<Threshold>().unwrap_or_else(|error| panic!("{text}: {error}"));
        let found = threshold.find(&sample::run(8));
        (threshold.has_passed(found), found)
    }

    #[test]
    fn every_metric_is_found_and_compared() {
        for (text, has_passed) in [
            ("embedded.read_post.p50<1ms", true),
            ("embedded.read_post.p50<100us", false),
            ("embedded.read_post.p99 < 0.1 s", true),
            ("linked.add_comment.p999<1s", false),
            ("linked.add_comment.p99.9<1s", false),
            ("embedded.read_post.p75 < 0.1 s", true),
            ("linked.add_comment.mean<1500µs", true),
            ("linked.add_comment.mean<10000ns", false),
            ("embedded.add_comment.max<1s", true),
            // Calls without an answer count as the timeout of 10 s.
            ("linked.add_comment.max<9s", false),
            ("linked.add_comment.failed<17", true),
            ("linked.add_comment.failed<16", false),
            ("linked.add_comment.failed<1%", true),
            ("linked.add_comment.failed<0.1%", false),
            ("linked.read_post.round_trips<2", false),
            ("linked.read_post.round_trips<=2.5", true),
            ("other.read_post.p50<1s", false),
            ("linked.remove.failed<1%", false),
        ] {
            assert_eq!(check(text).0, has_passed, "{text}: {:?}", check(text));
        }
        assert_eq!(check("linked.add_comment.failed<9").1, Some(Measurement::Calls(16.0)));
        assert_eq!(check("linked.add_comment.failed<9%").1, Some(Measurement::Share(2.0 / 600.0)));
        assert_eq!(check("linked.read_post.round_trips<9").1, Some(Measurement::Messages(2.0)));
        // Fewer than 10 calls lie beyond it.
        assert_eq!(check("linked.count.p99<1s"), (false, None));
    }

    #[test]
    fn a_threshold_is_written_as_it_was_read() {
        for text in ["a.b.p99<5ms", "a-b.c_d.failed < 1 %"] {
            assert_eq!(text.parse::<Threshold>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn invalid_thresholds_have_a_message() {
        let cases = [
            ("", "missing `<` in ``; for example embedded.read_post.p99<5ms"),
            ("a.b.p99>5ms", "missing `<` in `a.b.p99>5ms`; for example embedded.read_post.p99<5ms"),
            ("a.p99<5ms", "expected STRATEGY.OPERATION.METRIC, found `a.p99`; for example embedded.read_post.p99<5ms"),
            (
                "a..p99<5ms",
                "expected STRATEGY.OPERATION.METRIC, found `a..p99`; for example embedded.read_post.p99<5ms",
            ),
            ("a.b.p101<5ms", "unknown metric `p101`; expected p50, p90, p99, p999, mean, max, failed, round_trips"),
            ("a.b.p99<5", "missing unit (us, ms or s) in `5`; try a.b.p99<5ms"),
            ("a.b.p99.9<-5ms", "expected a time above 0, found `-5ms`; try a.b.p99.9<5ms"),
            ("a.b.p99<NaNms", "expected a time above 0, found `NaNms`; try a.b.p99<5ms"),
            ("a.b.mean<2000000s", "expected a time between 1 ns and an hour, found `2000000s`; try a.b.mean<5ms"),
            (
                "a.b.failed<0",
                "expected a number of calls above 0 or a percentage of them, found `0`; try a.b.failed<1%",
            ),
            (
                "a.b.failed<5ms",
                "expected a number of calls above 0 or a percentage of them, found `5ms`; try a.b.failed<1%",
            ),
            ("a.b.round_trips<2ms", "expected a number above 0, found `2ms`; try a.b.round_trips<1.5"),
        ];
        for (text, expected) in cases {
            let message = text.parse::<Threshold>().err().unwrap_or_default();
            assert_eq!(message, expected, "{text}");
        }
    }
}
