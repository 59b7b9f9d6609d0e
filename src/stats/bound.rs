//! How users write a bound: `read_post.p99<20ms`, `embedded.add_comment.failed<1%`.

use crate::record::{Metric, MetricUse};

/// The units of times, the longest name first among those that end alike, in nanoseconds.
const UNITS: [(&str, f64); 5] = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];

/// An hour in nanoseconds, which no call takes.
const LONGEST: f64 = 3.6e12;

/// A bound whose limit has not been read yet.
pub(crate) struct Bound<'t> {
    /// Names before the metric.
    pub(crate) names: Vec<&'t str>,
    pub(crate) metric: Metric,
    /// The names and the metric, as they were written.
    pub(crate) subject: &'t str,
    limit: &'t str,
}

impl<'t> Bound<'t> {
    /// Splits `[NAME.]METRIC<LIMIT`, or says what is wrong with it and what helps; `example` is a valid one.
    pub(crate) fn parse(text: &'t str, used: MetricUse, example: &str) -> Result<Bound<'t>, String> {
        let Some((subject, limit)) = text.split_once('<') else {
            return Err(format!("missing `<` in `{text}`; for example {example}"));
        };
        let (subject, limit) = (subject.trim(), limit.trim().trim_start_matches('=').trim());
        let (names, name) = split_metric(subject);
        let Some(metric) = Metric::named(name, used) else {
            let known: Vec<&str> = Metric::names(used).collect();
            return Err(format!("unknown metric `{name}`; expected {}", known.join(", ")));
        };
        let names = names.map_or(Vec::new(), |names| names.split('.').map(str::trim).collect());
        Ok(Bound { names, metric, subject, limit })
    }

    /// Reads the limit; `read` returns what is wrong with it and one that could be meant.
    pub(crate) fn limit<T>(&self, read: impl Fn(&str) -> Result<T, (String, &'static str)>) -> Result<T, String> {
        let Bound { subject, limit, .. } = self;
        read(limit).map_err(|(reason, nearest)| format!("{reason}; try {subject}<{nearest}"))
    }
}

/// Splits the metric off the names before it. `p99.9` has a point of its own.
fn split_metric(subject: &str) -> (Option<&str>, &str) {
    let start_of_last = |text: &str| text.rfind('.').map_or(0, |point| point + 1);
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let last = start_of_last(subject);
    let last_two = start_of_last(&subject[..last.saturating_sub(1)]);
    let quantile = subject[last_two..].strip_prefix('p').and_then(|digits| digits.split_once('.'));
    let is_split = quantile.is_some_and(|(before, after)| is_number(before) && is_number(after));
    let start = if is_split { last_two } else { last };
    (start.checked_sub(1).map(|point| &subject[..point]), subject[start..].trim())
}

/// Reads a time in nanoseconds.
pub(crate) fn parse_time(text: &str) -> Result<f64, (String, &'static str)> {
    let unit = UNITS.iter().find_map(|(name, nanos)| Some((text.strip_suffix(name)?, *nanos)));
    let Some((number, nanos)) = unit else {
        return Err((format!("missing unit (us, ms or s) in `{text}`"), "5ms"));
    };
    match parse_positive(number).map(|number| number * nanos) {
        Some(limit) if (1.0..LONGEST).contains(&limit) => Ok(limit),
        Some(_) => Err((format!("expected a time between 1 ns and an hour, found `{text}`"), "5ms")),
        None => Err((format!("expected a time above 0, found `{text}`"), "5ms")),
    }
}

/// Reads a number above 0.
pub(crate) fn parse_positive(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0)
}
