//! One part of an answer: words, with a number at its end.

/// The parts of an answer between commas or semicolons, without empty ones.
pub fn parts(answer: &str, separator: char) -> impl Iterator<Item = &str> {
    answer.split(separator).map(str::trim).filter(|part| !part.is_empty())
}

/// A part without the number at its end; `50 %` and `1_000` are numbers.
pub fn numbered(part: &str) -> (Vec<&str>, Option<&str>) {
    let part = part.trim_end_matches(['%', ' ']);
    let mut words: Vec<&str> = part.split_whitespace().collect();
    let has_number = words.len() > 1 && words.last().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let number = if has_number { words.pop() } else { None };
    (words, number)
}

/// A whole number.
///
/// # Errors
/// What is expected instead.
pub fn whole(text: &str, least: u64, most: u64) -> Result<u64, String> {
    let number = text.replace('_', "").parse::<u64>().ok();
    number
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| format!("`{text}`: expected a whole number from {least} to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_at_the_end() {
        assert_eq!(numbered("read user 50 %"), (vec!["read", "user"], Some("50")));
        assert_eq!(numbered("user"), (vec!["user"], None));
        assert_eq!(parts(" a, ,b ", ',').collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(whole("1_000", 1, 2_000), Ok(1_000));
        assert!(whole("10k", 1, 100).unwrap_err().contains("`10k`: expected a whole number from 1 to 100"));
    }
}
