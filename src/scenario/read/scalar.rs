//! The values of plain scalars: those of YAML 1.2, with a warning where YAML 1.1 differs.

use crate::scenario::{Diagnostic, Scalar, Span};

/// A plain scalar's value: null, bool and number as YAML 1.2 has them, but in their one lower-case spelling.
///
/// `None` for an integer beyond 64 bits, which must not be rounded to a double.
pub(super) fn resolve(text: &str) -> Option<Scalar> {
    match text {
        "" | "~" | "null" => return Some(Scalar::Null),
        "true" => return Some(Scalar::Bool(true)),
        "false" => return Some(Scalar::Bool(false)),
        ".inf" | "+.inf" => return Some(Scalar::Float(f64::INFINITY)),
        "-.inf" => return Some(Scalar::Float(f64::NEG_INFINITY)),
        ".nan" => return Some(Scalar::Float(f64::NAN)),
        _ => {}
    }
    if let Some((digits, radix)) = integer_digits(text) {
        return i64::from_str_radix(digits, radix).ok().map(Scalar::Int);
    }
    // Rust's own syntax of floats is wider: `inf`, `NaN`, `infinity`.
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let float = text.parse().ok().filter(|_| is_number);
    Some(float.map_or_else(|| Scalar::Text(text.to_owned()), Scalar::Float))
}

/// The digits (with a decimal's sign) and the base of an integer; `None` for other text.
fn integer_digits(text: &str) -> Option<(&str, u32)> {
    let all = |digits: &str, radix: u32| !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    if let Some(digits) = text.strip_prefix("0x") {
        return all(digits, 16).then_some((digits, 16));
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return all(digits, 8).then_some((digits, 8));
    }
    all(text.strip_prefix(['-', '+']).unwrap_or(text), 10).then_some((text, 10))
}

/// Warns of a plain word that is text here and a boolean or null in YAML 1.1.
///
/// `y` and `n` are left out: common YAML 1.1 parsers read them as text too, and they are common field names.
pub(super) fn ambiguous_word(text: &str, span: Span) -> Option<Diagnostic> {
    let lower = text.to_ascii_lowercase();
    let (kind, instead) = match lower.as_str() {
        "yes" | "on" => ("a boolean", "`true`"),
        "no" | "off" => ("a boolean", "`false`"),
        "true" | "false" if text != lower => ("a boolean", "lower case"),
        "null" if text != lower => ("null", "lower case"),
        _ => return None,
    };
    let message = format!("`{text}` is text here, but {kind} in YAML 1.1");
    let help = format!("try \"{text}\" for text, or {instead} for {kind}");
    Some(Diagnostic::warning(span, message).label("parsed as text").help(help))
}

/// Warns of a plain key that is text here and another value in YAML 1.1.
pub(super) fn ambiguous_key(text: &str, span: Span) -> Option<Diagnostic> {
    let help = format!("quote the key: \"{text}\"");
    let kind = match text {
        "true" | "false" => "a boolean",
        "null" | "~" => "null",
        _ => return Some(ambiguous_word(text, span)?.help(help)),
    };
    let message = format!("the key `{text}` is text here, but {kind} for other YAML parsers");
    Some(Diagnostic::warning(span, message).label("parsed as text").help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Scalar {
        resolve(text).unwrap()
    }

    #[test]
    fn plain_text_follows_the_core_schema() {
        let text = |text: &str| Scalar::Text(text.to_owned());
        assert_eq!(value(""), Scalar::Null);
        assert_eq!(value("~"), Scalar::Null);
        assert_eq!(value("true"), Scalar::Bool(true));
        assert_eq!(value("-12"), Scalar::Int(-12));
        assert_eq!(value("+12"), Scalar::Int(12));
        assert_eq!(value("010"), Scalar::Int(10));
        assert_eq!(value("0x1F"), Scalar::Int(31));
        assert_eq!(value("0o17"), Scalar::Int(15));
        assert_eq!(value("-9223372036854775808"), Scalar::Int(i64::MIN));
        assert_eq!(value("1.5"), Scalar::Float(1.5));
        assert_eq!(value(".5"), Scalar::Float(0.5));
        assert_eq!(value("1."), Scalar::Float(1.0));
        assert_eq!(value("1e3"), Scalar::Float(1000.0));
        assert_eq!(value("-1.5E-3"), Scalar::Float(-0.0015));
        assert_eq!(value("-.inf"), Scalar::Float(f64::NEG_INFINITY));
        for word in [
            "yes", "No", "on", "OFF", "True", "NULL", "inf", "NaN", ".", "-", "+", "e3", "1e", "1_000", "0x", "0b1",
            "-0x1", "12:30", "1.2.3", "--1",
        ] {
            assert_eq!(value(word), text(word), "{word}");
        }
    }

    #[test]
    fn integers_beyond_64_bits_are_errors() {
        assert!(resolve("9223372036854775808").is_none());
        assert!(resolve("0xFFFFFFFFFFFFFFFF").is_none());
    }

    #[test]
    fn warns_of_words_that_yaml_1_1_reads_differently() {
        for word in ["yes", "No", "ON", "off", "True", "FALSE", "Null"] {
            assert!(ambiguous_word(word, Span::default()).is_some(), "{word}");
            assert!(ambiguous_key(word, Span::default()).is_some(), "{word}");
        }
        for word in ["true", "null", "n", "y", "none", "one"] {
            assert!(ambiguous_word(word, Span::default()).is_none(), "{word}");
        }
        assert!(ambiguous_key("true", Span::default()).is_some());
        assert!(ambiguous_key("n", Span::default()).is_none());
    }
}
