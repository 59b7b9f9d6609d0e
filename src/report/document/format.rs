//! Numbers and names as people read them: three significant digits, sensible units, one line.

/// Shown in place of a number when there are too few data.
pub(crate) const NOTHING: &str = "–";

const TIMES: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];
const BYTES: [(f64, &str); 5] = [(1.0, "B"), (1e3, "KB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")];

/// Nanoseconds.
pub fn time(nanoseconds: f64) -> String {
    in_unit(nanoseconds, &TIMES)
}

/// Bytes; a KB is 1000 of them.
pub fn bytes(bytes: f64) -> String {
    in_unit(bytes, &BYTES)
}

/// From one number of nanoseconds to another.
pub(crate) fn times(from: f64, to: f64) -> String {
    pair(time(from), time(to), " – ")
}

/// A number of bytes before and after; one of them when they read the same.
pub(crate) fn bytes_change(before: f64, after: f64) -> String {
    pair(bytes(before), bytes(after), " → ")
}

/// A count before and after; one of them when they read the same.
pub(crate) fn count_change(before: f64, after: f64) -> String {
    pair(count(before.round() as u64), count(after.round() as u64), " → ")
}

/// Two texts; a unit that both share is written once.
fn pair(first: String, second: String, between: &str) -> String {
    if first == second {
        return second;
    }
    match (first.split_once(' '), second.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number}{between}{second}"),
        _ => format!("{first}{between}{second}"),
    }
}

fn in_unit(value: f64, units: &[(f64, &str)]) -> String {
    // 999.6 ns reads as 1.00 µs: the unit is chosen by what rounding makes of the value.
    let (size, name) = units.iter().rfind(|(size, _)| value / size >= 0.9995).unwrap_or(&units[0]);
    let number = if *size == 1.0 { count(value.round() as u64) } else { three(value / size) };
    format!("{number} {name}")
}

/// Three significant digits; whole numbers from 1000 on.
pub fn three(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { NOTHING.into() };
    }
    // Through the exponent that rounding gives: 9.996 is 10.0, not 10.00.
    let exponent = format!("{value:.2e}").split_once('e').and_then(|(_, digits)| digits.parse::<i32>().ok());
    match exponent.unwrap_or(0) {
        exponent if exponent > 2 && value > 0.0 => count(value.round() as u64),
        exponent => format!("{value:.*}", usize::try_from(2 - exponent).unwrap_or(0)),
    }
}

/// A number with its unit as an axis names it: without zeros at the end of a fraction, and zero without a unit.
pub(crate) fn short(text: &str) -> String {
    let (number, unit) = text.split_once(' ').map_or((text, None), |(number, unit)| (number, Some(unit)));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    unit.filter(|_| number != "0").map_or(number.to_owned(), |unit| format!("{number} {unit}"))
}

/// A count, its thousands set apart.
pub fn count(value: u64) -> String {
    indicatif::HumanCount(value).to_string()
}

/// A count with its noun, such as `1 retry` and `2 retries`.
pub fn counted(value: u64, noun: &str) -> String {
    let noun = match noun.strip_suffix('y') {
        _ if value == 1 => noun.to_owned(),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        None if noun.ends_with('x') => format!("{noun}es"),
        _ => format!("{noun}s"),
    };
    format!("{} {noun}", count(value))
}

/// A share (0 to 1) in percent: two digits, three next to 100, and never 0 or 100 for what is only close to it.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        _ if percent > 0.0 && percent < 0.1 => "< 0.1 %".into(),
        _ if percent > 99.9 && percent < 100.0 => "> 99.9 %".into(),
        _ if percent == 0.0 || percent == 100.0 => format!("{percent:.0} %"),
        _ if percent.abs() < 9.95 || (90.0..100.0).contains(&percent) => format!("{percent:.1} %"),
        _ => format!("{percent:.0} %"),
    }
}

/// The bounds of an interval.
pub fn interval(low: f64, high: f64) -> String {
    format!("{}-{}", three(low), three(high))
}

/// Whether a character steers a terminal, turns the direction of writing, is there without being seen, or is none.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// Text of a user without characters that do something else than being seen.
pub(crate) fn visible(text: &str) -> String {
    text.chars().map(|c| if steers(c) { '\u{fffd}' } else { c }).collect()
}

/// Text of a user on one line, without characters that do something else than being seen.
pub fn plain(text: &str) -> String {
    visible(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Marks a name within a sentence as code, with backticks as in Markdown.
pub(crate) fn marked(name: &str) -> String {
    format!("`{}`", plain(name).replace('`', "'"))
}

/// The pieces of a sentence with marked names, in their order; every second one is a name.
pub(crate) fn unmarked(sentence: &str) -> impl Iterator<Item = (&str, bool)> {
    sentence.split('`').enumerate().map(|(place, piece)| (piece, place % 2 == 1))
}

/// Wraps a text at `width` characters; longer words get a line of their own.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Names as an enumeration: `a, b and c`.
pub(crate) fn listed(names: impl IntoIterator<Item: AsRef<str>>) -> String {
    let mut names: Vec<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
    match names.pop() {
        Some(last) if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// Names as an enumeration; `None` without any.
pub(crate) fn enumerated(names: impl IntoIterator<Item = String>) -> Option<String> {
    Some(listed(names)).filter(|text| !text.is_empty())
}

pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A file's name in an address.
pub fn encoded(name: &str) -> String {
    let byte = |byte: u8| {
        if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    name.bytes().map(byte).collect()
}

/// The name of a scenario as the words of a title: `Blog comments` for `blog-comments`.
pub(crate) fn titled(name: &str) -> String {
    capitalised(&plain(name).replace('-', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_encoded() {
        assert_eq!(encoded("a-b_1.2"), "a-b_1.2");
        assert_eq!(encoded("a b/<|>:\u{e9}"), "a%20b%2F%3C%7C%3E%3A%C3%A9");
    }

    #[test]
    fn times_have_three_digits_and_the_unit_that_fits() {
        let read =
            [0.0, 1.0, 999.4, 999.6, 1_234.0, 99_960.0, 999_400.0, 999_600.0, 12_345_678.0, 6e10, 1.5e12].map(time);
        let wanted = [
            "0 ns", "1 ns", "999 ns", "1.00 µs", "1.23 µs", "100 µs", "999 µs", "1.00 ms", "12.3 ms", "60.0 s",
            "1,500 s",
        ];
        assert_eq!(read, wanted);
    }

    #[test]
    fn bytes_count_in_thousands() {
        assert_eq!([312.4, 1_000.0, 16_777_216.0].map(bytes), ["312 B", "1.00 KB", "16.8 MB"]);
        assert_eq!(bytes_change(1_230.0, 4_560.0), "1.23 → 4.56 KB");
        assert_eq!(bytes_change(312.0, 4_560.0), "312 B → 4.56 KB");
        assert_eq!(
            (bytes_change(312.1, 312.2), count_change(999.9, 12_400.0)),
            ("312 B".into(), "1,000 → 12,400".into())
        );
    }

    #[test]
    fn ratios_keep_three_digits() {
        let read = [0.001_234, 0.6214, 0.9996, 1.0, 9.996, 12.34, 123.4, 999.6, 12_345.0].map(three);
        assert_eq!(read, ["0.00123", "0.621", "1.00", "1.00", "10.0", "12.3", "123", "1,000", "12,345"]);
    }

    #[test]
    fn nouns_agree_with_their_counts() {
        let read =
            [(1, "anomaly"), (2, "anomaly"), (2, "key"), (1_000, "call")].map(|(value, noun)| counted(value, noun));
        assert_eq!(read, ["1 anomaly", "2 anomalies", "2 keys", "1,000 calls"]);
    }

    #[test]
    fn axes_have_no_zeros_behind() {
        let read = ["1.00 ms", "1.50 KB", "0 B", "100 µs", "1.20"].map(short);
        assert_eq!(read, ["1 ms", "1.5 KB", "0", "100 µs", "1.2"]);
    }

    #[test]
    fn shares_never_round_to_none_or_all() {
        let read = [0.0, 0.0004, 0.0312, 0.38, 0.952, 0.9996, 1.0].map(percent);
        assert_eq!(read, ["0 %", "< 0.1 %", "3.1 %", "38 %", "95.2 %", "> 99.9 %", "100 %"]);
    }

    #[test]
    fn foreign_text_stays_on_its_line() {
        assert_eq!(plain("a\n\tb \u{1b}[31mred\u{7}\u{202e}"), "a b \u{fffd}[31mred\u{fffd}\u{fffd}");
        assert_eq!(plain("a\u{61c}b\u{e0041}c\u{9b}31m\u{ffff}\u{2028}d"), "a\u{fffd}b\u{fffd}c\u{fffd}31m\u{fffd} d");
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrap("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrap("incomprehensible", 5), ["incomprehensible"]);
    }
}
