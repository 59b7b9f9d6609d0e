//! What users ask of times: `p99<20ms`, `read_post.p99.9<5ms`, `mean<800us`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::CALLS_BEYOND;

/// The units that a time may have, the longest name first among those that end alike, in nanoseconds.
const UNITS: [(&str, f64); 5] = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];

/// A bound on the times of an operation, or of all calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Objective {
    /// The operation; `None` for all calls.
    pub operation: Option<String>,
    /// What of its times.
    pub measure: Measure,
    /// Is to stay below this.
    pub limit: Duration,
}

/// A number that stands for many times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// The mean.
    Mean,
    /// The time that this share (0 to 1) of the calls does not exceed.
    Quantile(f64),
}

/// An objective that cannot be meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; write it like {nearest}")]
pub struct ObjectiveError {
    reason: String,
    nearest: String,
}

impl Measure {
    /// Calls without which the measure would be chance: 10 beyond a quantile.
    pub fn calls_needed(self) -> u64 {
        match self {
            Measure::Mean => 1,
            Measure::Quantile(share) => (CALLS_BEYOND / (1.0 - share) - 1e-6).ceil() as u64,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::Mean => write!(formatter, "mean"),
            // Percent without the digits that only binary fractions bring.
            Measure::Quantile(share) => write!(formatter, "p{}", (share * 1e8).round() / 1e6),
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(operation) = &self.operation {
            write!(formatter, "{operation}.")?;
        }
        write!(formatter, "{}<{:?}", self.measure, self.limit)
    }
}

impl FromStr for Objective {
    type Err = ObjectiveError;

    fn from_str(text: &str) -> Result<Objective, ObjectiveError> {
        let refuse = |reason: String, nearest: &str| ObjectiveError { reason, nearest: nearest.to_owned() };
        let Some((subject, limit)) = text.split_once('<') else {
            let nearest = format!("{}<20ms", subject_or_default(text));
            return Err(refuse(format!("`{text}` has no `<`"), &nearest));
        };
        let (subject, limit) = (subject.trim(), limit.trim().trim_start_matches('=').trim());
        // A quantile may have a point of its own: the operation ends before the last `p` or `mean` that follows a point.
        let (operation, measure) = match split_operation(subject) {
            Some((operation, measure)) => (Some(operation.to_owned()), measure),
            None => (None, subject),
        };
        let prefix = operation.as_ref().map_or(String::new(), |operation| format!("{operation}."));
        let measure = parse_measure(measure)
            .map_err(|(reason, nearest)| refuse(reason, &format!("{prefix}{nearest}<{limit}")))?;
        let limit =
            parse_limit(limit).map_err(|(reason, nearest)| refuse(reason, &format!("{prefix}{measure}<{nearest}")))?;
        Ok(Objective { operation, measure, limit })
    }
}

fn subject_or_default(text: &str) -> &str {
    let text = text.trim().trim_end_matches(|c: char| !c.is_alphanumeric());
    if text.is_empty() { "p99" } else { text }
}

fn split_operation(subject: &str) -> Option<(&str, &str)> {
    let is_measure = |text: &str| {
        text == "mean"
            || text.strip_prefix('p').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '-'))
    };
    let points = subject.match_indices('.').map(|(place, _)| (&subject[..place], &subject[place + 1..]));
    let mut found = points.clone().filter(|(operation, rest)| !operation.is_empty() && is_measure(rest));
    found.next().or_else(|| (!is_measure(subject)).then(|| points.clone().next_back()).flatten())
}

fn parse_measure(text: &str) -> Result<Measure, (String, String)> {
    if text == "mean" {
        return Ok(Measure::Mean);
    }
    let Some(percent) = text.strip_prefix('p').and_then(|digits| digits.parse::<f64>().ok()) else {
        return Err((format!("`{text}` is neither `mean` nor a quantile"), "p99".into()));
    };
    match percent {
        percent if percent >= 100.0 => Err((format!("no call is beyond `{text}`"), "p99.9".into())),
        percent if percent > 0.0 => Ok(Measure::Quantile(percent / 100.0)),
        _ => Err((format!("`{text}` is below every call"), "p50".into())),
    }
}

fn parse_limit(text: &str) -> Result<Duration, (String, String)> {
    let unit = UNITS.iter().find_map(|(name, nanos)| Some((text.strip_suffix(name)?.trim(), *nanos)));
    let Some((number, nanos)) = unit else {
        let nearest =
            if text.parse::<f64>().is_ok_and(|number| number > 0.0) { format!("{text}ms") } else { "20ms".into() };
        return Err((format!("`{text}` is a time without a unit"), nearest));
    };
    match number.parse::<f64>() {
        Ok(number) if number > 0.0 && number * nanos >= 1.0 && number * nanos < 3.6e12 => {
            Ok(Duration::from_nanos((number * nanos).round() as u64))
        }
        Ok(number) if number > 0.0 => Err((format!("`{text}` is not between 1 ns and an hour"), "20ms".into())),
        Ok(_) => Err((format!("no call takes less than `{text}`"), "20ms".into())),
        Err(_) => Err((format!("`{text}` is not a time"), "20ms".into())),
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
        for text in ["p99<20ms", "read_post.p99<5ms", "read_post.p99.9<5ms", "mean<800µs", "add.mean<1.5s", "p50<250ns"]
        {
            assert_eq!(parsed(text).to_string(), text);
        }
        let read = parsed("read_post.p99.9 < 5 ms");
        assert_eq!((read.operation.as_deref(), read.limit), (Some("read_post"), Duration::from_millis(5)));
        assert!(matches!(read.measure, Measure::Quantile(share) if (share - 0.999).abs() < 1e-12));
        assert_eq!(parsed("p99<=800us"), parsed("p99<0.8ms"));
    }

    #[test]
    fn nonsense_is_refused_with_the_nearest_form() {
        let cases = [
            ("", "`` has no `<`; write it like p99<20ms"),
            ("p99", "`p99` has no `<`; write it like p99<20ms"),
            ("p99>20ms", "`p99>20ms` has no `<`; write it like p99>20ms<20ms"),
            ("p99<20", "`20` is a time without a unit; write it like p99<20ms"),
            ("p99<0ms", "no call takes less than `0ms`; write it like p99<20ms"),
            ("p99<-5ms", "no call takes less than `-5ms`; write it like p99<20ms"),
            ("p99<NaNms", "no call takes less than `NaNms`; write it like p99<20ms"),
            ("p99<2000s", ""),
            ("p99<200000s", "`200000s` is not between 1 ns and an hour; write it like p99<20ms"),
            ("p100<20ms", "no call is beyond `p100`; write it like p99.9<20ms"),
            ("read.p0<20ms", "`p0` is below every call; write it like read.p50<20ms"),
            ("p-1<20ms", "`p-1` is below every call; write it like p50<20ms"),
            ("median<20ms", "`median` is neither `mean` nor a quantile; write it like p99<20ms"),
            ("read.max<20ms", "`max` is neither `mean` nor a quantile; write it like read.p99<20ms"),
        ];
        for (text, wanted) in cases {
            let told = text.parse::<Objective>().map_or_else(|error| error.to_string(), |_| String::new());
            assert_eq!(told, wanted, "{text}");
        }
    }

    #[test]
    fn a_quantile_needs_ten_calls_beyond_it() {
        let needed = ["mean<1s", "p50<1s", "p99<1s", "p99.99<1s"].map(|text| parsed(text).measure.calls_needed());
        assert_eq!(needed, [1, 20, 1_000, 100_000]);
    }
}
