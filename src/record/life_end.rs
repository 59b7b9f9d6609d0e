//! When the growth of documents ends.

use std::fmt;
use std::str::FromStr;

/// The most calls, and the largest number of a size.
const MOST: u64 = 100_000_000;

const EXPECTED: &str = "expected refused, a size of the largest document such as 500KB or 4MB, or a number of calls";

/// When documents have grown enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LifeEnd {
    /// When a strategy refuses a call.
    Refused,
    /// When the largest document of a strategy has this many bytes.
    Bytes(u64),
    /// After this many calls.
    Calls(u64),
}

impl FromStr for LifeEnd {
    type Err = &'static str;

    /// Reads `refused`, a size such as `4MB`, or a number of calls.
    fn from_str(text: &str) -> Result<LifeEnd, &'static str> {
        let text = text.trim();
        if text == "refused" {
            return Ok(LifeEnd::Refused);
        }
        let sizes = [("KB", 1_000), ("MB", 1_000_000), ("B", 1)];
        let size = sizes.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?.trim(), *size)));
        let number = size.map_or(text, |(number, _)| number).parse().ok().filter(|number| (1..=MOST).contains(number));
        match (number, size) {
            (Some(calls), None) => Ok(LifeEnd::Calls(calls)),
            (Some(number), Some((_, size))) => Ok(LifeEnd::Bytes(number * size)),
            (None, _) => Err(EXPECTED),
        }
    }
}

impl fmt::Display for LifeEnd {
    /// Writes it so that it can be read again.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LifeEnd::Refused => formatter.write_str("refused"),
            LifeEnd::Bytes(bytes) => write!(formatter, "{bytes}B"),
            LifeEnd::Calls(calls) => write!(formatter, "{calls}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_an_event_a_size_or_a_number_of_calls() {
        let ends = ["refused", "4MB", "500 KB", "5000", "7B"].map(|text| text.parse::<LifeEnd>().unwrap().to_string());
        assert_eq!(ends, ["refused", "4000000B", "500000B", "5000", "7B"]);
        for text in ["", "soon", "0", "-1", "1.5MB", "4GB", "MB", "100000001"] {
            assert_eq!(text.parse::<LifeEnd>(), Err(EXPECTED), "{text}");
        }
    }
}
