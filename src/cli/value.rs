//! Parsers of command-line values.

use std::str::FromStr;
use std::time::Duration;

use crate::record::FaultKind;
use crate::scenario::quantity::{percent, whole};
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
    let name = text.trim().to_owned();
    if name.is_empty() { Err("empty name".to_owned()) } else { Ok(name) }
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

/// The members of an embedded set.
pub(crate) fn members(text: &str) -> Result<u64, String> {
    whole::<1, 3>(text)
        .ok()
        .filter(|members| *members != 2)
        .ok_or_else(|| "expected 1 or 3: of two members, both would have to acknowledge a majority write".to_owned())
}

/// A length of time from a millisecond to a day: a number and its unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let digits = text.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match text[digits..].trim() {
        "ms" => Some(0.001),
        "s" => Some(1.0),
        "m" | "min" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    let seconds = text[..digits].parse::<f64>().ok().zip(unit).map(|(number, unit)| number * unit);
    seconds.filter(|seconds| (0.001..=86_400.0).contains(seconds)).map(Duration::from_secs_f64).ok_or_else(|| {
        "expected a time from 1ms to 24h: a number followed by ms, s, m or h, such as 500ms, 3s or 2m".to_owned()
    })
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
        assert_eq!(cache_size("0.25"), Ok(0.25));
        for text in ["0.2", "NaN", "inf", "-1", "big"] {
            assert!(cache_size(text).is_err(), "{text}");
        }
        assert_eq!(["1", "3"].map(members), [Ok(1), Ok(3)]);
        assert!(["0", "2", "4", "x"].iter().all(|text| members(text).is_err()));
        assert!(seed("-1").is_err() && port("0").is_err() && port("65536").is_err());
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
