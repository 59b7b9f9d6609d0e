//! Values of conditions, as `--vary`, other options and scenarios write them.

use std::time::Duration;

/// A whole number from `MIN` to `MAX`.
///
/// # Errors
/// What is expected, when it is another text.
pub fn whole<const MIN: u64, const MAX: u64>(text: &str) -> Result<u64, String> {
    let number = text.trim().parse().ok().filter(|number| (MIN..=MAX).contains(number));
    number.ok_or_else(|| format!("expected a whole number from {MIN} to {MAX}"))
}

/// A percentage from 0 to `MAX`, as a share: 0.02 for `2`.
///
/// # Errors
/// What is expected, when it is another text.
pub fn percent<const MAX: u8>(text: &str) -> Result<f64, String> {
    let plain = text.trim().trim_end_matches('%').trim_end();
    let number = plain.replace(',', ".").parse::<f64>().ok().filter(|percent| !percent.is_nan());
    let nearest = number.map(|percent| percent.clamp(0.0, f64::from(MAX)));
    match (plain.parse::<f64>(), nearest) {
        (Ok(percent), Some(nearest)) if percent == nearest => Ok(percent / 100.0),
        (_, Some(nearest)) => Err(format!("expected a percentage from 0 to {MAX}; did you mean {}?", nearest + 0.0)),
        (_, None) => Err(format!("expected a percentage from 0 to {MAX}, such as 2 or 0.5")),
    }
}

/// A round-trip time from 0 to 10 s.
///
/// # Errors
/// What is expected, when it is another text.
pub fn round_trip_time(text: &str) -> Result<Duration, String> {
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

/// A rate of calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Calls per second.
    PerSecond(f64),
    /// Shares of what the best strategy can do.
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
///
/// # Errors
/// What is expected, when it is another text.
pub fn rate(text: &str) -> Result<Rate, String> {
    match text.trim() {
        "auto" => Ok(Rate::Auto),
        number => match number.parse() {
            Ok(rate) if (0.001..=1_000_000.0).contains(&rate) => Ok(Rate::PerSecond(rate)),
            _ => Err("expected calls per second from 0.001 to 1000000, such as 500, or auto".to_owned()),
        },
    }
}

/// Data divided by the cache, from 0.01 to 100.
///
/// # Errors
/// What is expected, when it is another text.
pub fn cache_ratio(text: &str) -> Result<f64, String> {
    let ratio = text.trim().parse().ok().filter(|ratio| (0.01..=100.0).contains(ratio));
    ratio.ok_or_else(|| "expected data divided by cache, a number from 0.01 to 100, such as 4".to_owned())
}

/// The write concern of all writes: `majority`, or a number of members that must acknowledge.
///
/// # Errors
/// What is expected, when it is another text.
pub fn write_concern(text: &str) -> Result<String, String> {
    match (text.trim(), text.trim().parse()) {
        ("majority", _) => Ok("majority".to_owned()),
        (_, Ok(members @ 1..=50_u64)) => Ok(members.to_string()),
        (_, Ok(0)) => {
            Err("with 0 no write is acknowledged, so that no result can be checked: use 1 or majority".to_owned())
        }
        _ => Err("expected majority or a number of members, such as 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_their_range_are_rejected() {
        assert_eq!(whole::<1, 10>("10"), Ok(10));
        for text in ["0", "-1", "11", "x", "1.5", "99999999999999999999"] {
            assert_eq!(whole::<1, 10>(text), Err("expected a whole number from 1 to 10".into()), "{text}");
        }
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
}
