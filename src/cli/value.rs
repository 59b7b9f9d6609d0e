//! Parsers of command-line values.

use std::str::FromStr;
use std::time::Duration;

use crate::engine::LifeEnd;
use crate::record::FaultKind;
use crate::server::database_names::LONGEST_PREFIX;

/// A connection string. It may contain a password, so it has no `Display`, and its `Debug` is empty.
#[derive(Clone, PartialEq, Eq)]
pub struct ConnectionString(String);

impl ConnectionString {
    /// Returns the text, for the driver only.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for ConnectionString {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ConnectionString(..)")
    }
}

impl FromStr for ConnectionString {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "" => Err("empty URI; leave out --uri and unset MONGODB_URI to use an embedded server".to_owned()),
            text => Ok(ConnectionString(text.to_owned())),
        }
    }
}

/// A name, which is not empty.
pub(crate) fn name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("empty name".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// A prefix of database names.
pub(crate) fn database_prefix(text: &str) -> Result<String, String> {
    let is_plain = text.chars().all(|symbol| symbol.is_ascii_alphanumeric() || "_-".contains(symbol));
    if is_plain && (1..=LONGEST_PREFIX).contains(&text.len()) {
        return Ok(text.to_owned());
    }
    Err(format!("expected 1 to {LONGEST_PREFIX} letters, digits, `_` and `-`, such as docshape_"))
}

/// `name=value`.
pub(crate) fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.trim().to_owned())),
        _ => Err("expected name=value, such as posts=1000".to_owned()),
    }
}

/// `operation=percentage`, as a share from 0 to 1.
pub(crate) fn share(text: &str) -> Result<(String, f64), String> {
    let (name, value) =
        assignment(text).map_err(|_| "expected operation=percentage, such as read_post=25%".to_owned())?;
    Ok((name, percent::<100>(&value)?))
}

/// A round-trip time from 0 to 10 s.
pub(crate) fn round_trip_time(text: &str) -> Result<Duration, String> {
    const EXPECTED: &str = "expected a time from 0 to 10s: a number followed by us, ms or s, such as 500us or 0.5ms";
    let text = text.trim();
    let digits = text.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match (text[digits..].trim(), &text[..digits]) {
        ("us" | "µs", _) => 1e-6,
        ("ms", _) => 1e-3,
        ("s", _) | ("", "0") => 1.0,
        _ => return Err(EXPECTED.to_owned()),
    };
    match text[..digits].parse::<f64>().map(|number| number * unit) {
        Ok(seconds) if (0.0..=10.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(EXPECTED.to_owned()),
    }
}

/// A whole number from `MIN` to `MAX`.
pub(crate) fn whole<const MIN: u64, const MAX: u64>(text: &str) -> Result<u64, String> {
    let number = text.trim().parse().ok().filter(|number| (MIN..=MAX).contains(number));
    number.ok_or_else(|| format!("expected a whole number from {MIN} to {MAX}"))
}

/// A percentage from 0 to `MAX`, as a share: 0.02 for `2`.
pub(crate) fn percent<const MAX: u8>(text: &str) -> Result<f64, String> {
    let plain = text.trim().trim_end_matches('%').trim_end();
    let number = plain.replace(',', ".").parse::<f64>().ok().filter(|percent| !percent.is_nan());
    let nearest = number.map(|percent| percent.clamp(0.0, f64::from(MAX)));
    match (plain.parse::<f64>(), nearest) {
        (Ok(percent), Some(nearest)) if percent == nearest => Ok(percent / 100.0),
        (_, Some(nearest)) => Err(format!("expected a percentage from 0 to {MAX}; did you mean {}?", nearest + 0.0)),
        (_, None) => Err(format!("expected a percentage from 0 to {MAX}, such as 2 or 0.5")),
    }
}

/// Any seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    whole::<0, { u64::MAX }>(text)
}

/// A port.
pub(crate) fn port(text: &str) -> Result<u16, String> {
    whole::<1, { u16::MAX as u64 }>(text).map(|port| port as u16)
}

/// A size in GB that `mongod` accepts.
pub(crate) fn cache_size(text: &str) -> Result<f64, String> {
    let gb = text.trim().parse().ok().filter(|gb| (0.25..=10_000.0).contains(gb));
    gb.ok_or_else(|| "expected a number of GB from 0.25 to 10000".to_owned())
}

/// A rate of calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Calls per second.
    PerSecond(f64),
    /// Half of what the slowest strategy can do.
    Auto,
}

impl Rate {
    /// Calls per second; 0 until a pilot has found them.
    pub fn per_second(self) -> f64 {
        match self {
            Rate::PerSecond(rate) => rate,
            Rate::Auto => 0.0,
        }
    }
}

/// Calls per second, or `auto`.
pub(crate) fn rate(text: &str) -> Result<Rate, String> {
    match text.trim() {
        "auto" => Ok(Rate::Auto),
        number => match number.parse() {
            Ok(rate) if (0.001..=1_000_000.0).contains(&rate) => Ok(Rate::PerSecond(rate)),
            _ => Err("expected calls per second from 0.001 to 1000000, such as 500, or auto".to_owned()),
        },
    }
}

/// The write concern of all writes: `majority`, or a number of members that must acknowledge.
pub(crate) fn write_concern(text: &str) -> Result<String, String> {
    match (text.trim(), text.trim().parse()) {
        ("majority", _) => Ok("majority".to_owned()),
        (_, Ok(members @ 1..=50_u64)) => Ok(members.to_string()),
        (_, Ok(0)) => {
            Err("with 0 no write is acknowledged, so that no result can be checked: use 1 or majority".to_owned())
        }
        _ => Err("expected majority or a number of members, such as 1".to_owned()),
    }
}

/// A length of time from a millisecond to a day: a number and its unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    const EXPECTED: &str =
        "expected a time from 1ms to 24h: a number followed by ms, s, m or h, such as 500ms, 3s or 2m";
    let text = text.trim();
    let digits = text.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match text[digits..].trim() {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(EXPECTED.to_owned()),
    };
    match text[..digits].parse::<f64>().map(|number| number * unit) {
        Ok(seconds) if (0.001..=86_400.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(EXPECTED.to_owned()),
    }
}

/// When documents have grown enough: `refused`, a size such as `4MB`, or a number of calls.
pub(crate) fn growth_end(text: &str) -> Result<LifeEnd, String> {
    const EXPECTED: &str =
        "expected refused, a size of the largest document such as 500KB or 4MB, or a number of calls";
    const MOST: u64 = 100_000_000;
    let text = text.trim();
    if text == "refused" {
        return Ok(LifeEnd::Refused);
    }
    let sizes = [("KB", 1_000), ("MB", 1_000_000), ("B", 1)];
    let (number, unit) = match sizes.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, *size))) {
        Some((number, size)) => (number.trim(), Some(size)),
        None => (text, None),
    };
    match (number.parse::<u64>(), unit) {
        (Ok(calls @ 1..=MOST), None) => Ok(LifeEnd::Calls(calls)),
        (Ok(bytes @ 1..=MOST), Some(size)) => Ok(LifeEnd::Bytes(bytes * size)),
        _ => Err(EXPECTED.to_owned()),
    }
}

/// A fault, such as `kill`.
pub(crate) fn fault(text: &str) -> Result<FaultKind, String> {
    let named = FaultKind::ALL.into_iter().find(|kind| kind.name() == text.trim());
    named.ok_or_else(|| format!("expected {}", FaultKind::ALL.map(FaultKind::name).join(", ")))
}

/// A duration as [`duration`] reads it, or `0`.
pub(crate) fn duration_or_none(text: &str) -> Result<Duration, String> {
    if matches!(text.trim(), "0" | "0s") { Ok(Duration::ZERO) } else { duration(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit_and_are_positive() {
        for (text, seconds) in [("3s", 3.0), ("500ms", 0.5), ("2m", 120.0), ("1.5 s", 1.5), ("1h", 3600.0)] {
            assert_eq!(duration(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in ["", "3", "-3s", "0s", "s", "1.2.3s", "3 days", "1000h", "NaNs", "0.1ms", "3s4"] {
            assert!(duration(text).unwrap_err().contains("such as 500ms"), "{text}");
        }
        assert_eq!([duration_or_none("0"), duration_or_none("3s")], [Ok(Duration::ZERO), duration("3s")]);
    }

    #[test]
    fn numbers_outside_their_range_are_rejected() {
        assert_eq!(whole::<1, 10>("10"), Ok(10));
        for text in ["0", "-1", "11", "x", "1.5", "99999999999999999999"] {
            assert_eq!(whole::<1, 10>(text), Err("expected a whole number from 1 to 10".into()), "{text}");
        }
        assert_eq!(cache_size("0.25"), Ok(0.25));
        for text in ["0.2", "NaN", "inf", "-1", "big"] {
            assert!(cache_size(text).is_err(), "{text}");
        }
        assert!(seed("-1").is_err() && port("0").is_err() && port("65536").is_err());
    }

    #[test]
    fn rates_are_positive_numbers_or_auto() {
        assert_eq!([rate("500"), rate(" 0.5 ")], [Ok(Rate::PerSecond(500.0)), Ok(Rate::PerSecond(0.5))]);
        assert_eq!([rate("1e6"), rate("auto")], [Ok(Rate::PerSecond(1_000_000.0)), Ok(Rate::Auto)]);
        for text in ["0", "-1", "NaN", "inf", "fast", "", "1000001", "500/s", "Auto"] {
            assert!(rate(text).unwrap_err().contains("such as 500, or auto"), "{text}");
        }
    }

    #[test]
    fn percentages_become_shares() {
        for (text, share) in [("2", 0.02), ("0.5 %", 0.005), ("0", 0.0), ("50", 0.5)] {
            assert_eq!(percent::<50>(text), Ok(share), "{text}");
        }
        for (text, nearest) in [("51", "50"), ("-1", "0"), ("1,5", "1.5"), ("inf", "50")] {
            let error = percent::<50>(text).unwrap_err();
            assert_eq!(error, format!("expected a percentage from 0 to 50; did you mean {nearest}?"), "{text}");
        }
        for text in ["", "%", "two", "NaN", "1.2.3"] {
            assert!(percent::<50>(text).unwrap_err().ends_with("such as 2 or 0.5"), "{text}");
        }
    }

    #[test]
    fn assignments_keep_everything_after_the_first_equals_sign() {
        assert_eq!(assignment("a=b=c"), Ok(("a".into(), "b=c".into())));
        assert_eq!(assignment("a="), Ok(("a".into(), String::new())));
        assert!(assignment("a").is_err() && assignment("=b").is_err());
    }

    #[test]
    fn a_connection_string_does_not_show_itself() {
        let uri: ConnectionString = "mongodb://ann:secret@db/".parse().unwrap();
        assert!(!format!("{uri:?}").contains("secret"));
        assert_eq!(uri.reveal(), "mongodb://ann:secret@db/");
        assert!("  ".parse::<ConnectionString>().is_err());
    }
}
