//! What a plain scalar means: YAML 1.2 and no more, with a warning where YAML 1.1 differs.

use crate::scenario::{Diagnostic, Scalar, Span};

/// A plain scalar's value: null, bool and number as YAML 1.2 has them, but in their one lower-case spelling.
///
/// `None` for an integer that 64 bits cannot hold: rounding it to a double would be worse than refusing it.
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
    let float = if is_float(text) { text.parse().ok() } else { None };
    Some(float.map_or_else(|| Scalar::Text(text.to_owned()), Scalar::Float))
}

/// The digits (with a decimal's sign) and the base of an integer; `None` when it is none.
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

/// Rust's own float syntax is wider (`inf`, `NaN`, `infinity`), so the form is checked first.
fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let mantissa_is_number = match mantissa.split_once('.') {
        Some((whole, fraction)) => {
            (digits(whole) || whole.is_empty()) && (digits(fraction) || fraction.is_empty()) && mantissa.len() > 1
        }
        None => digits(mantissa),
    };
    mantissa_is_number && exponent.is_none_or(|part| digits(part.strip_prefix(['-', '+']).unwrap_or(part)))
}

/// The warning that a plain word is text here though other readers of YAML make a boolean or null of it.
///
/// `y` and `n` are left out: the YAML 1.1 readers in use take them as text too, and they are common field names.
pub(super) fn ambiguous_word(text: &str, span: Span) -> Option<Diagnostic> {
    let is = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    let (kind, instead) = if is(&["yes", "on"]) {
        ("a boolean", "`true`")
    } else if is(&["no", "off"]) {
        ("a boolean", "`false`")
    } else if is(&["true", "false"]) && text != text.to_ascii_lowercase() {
        ("a boolean", "it in lower case")
    } else if is(&["null"]) && text != "null" {
        ("null", "it in lower case")
    } else {
        return None;
    };
    Some(
        Diagnostic::warning(span, format!("`{text}` is text here, but other readers of YAML take it for {kind}"))
            .label("read as text")
            .help(format!("quote it if text is meant: \"{text}\"; write {instead} if {kind} is meant")),
    )
}

/// The warning that a plain key is text here though other readers of YAML make something else of it.
pub(super) fn ambiguous_key(text: &str, span: Span) -> Option<Diagnostic> {
    let kind = match text {
        "true" | "false" => "a boolean",
        "null" | "~" => "null",
        _ => {
            let warning = ambiguous_word(text, span)?;
            return Some(warning.help(format!("quote the key: \"{text}\"")));
        }
    };
    Some(
        Diagnostic::warning(
            span,
            format!("the key `{text}` is text here, but other readers of YAML take it for {kind}"),
        )
        .label("read as text")
        .help(format!("quote the key: \"{text}\"")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Scalar {
        resolve(text).unwrap()
    }

    #[test]
    fn only_the_core_schema_makes_values_of_plain_text() {
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
    fn an_integer_beyond_64_bits_is_refused_and_not_rounded() {
        assert!(resolve("9223372036854775808").is_none());
        assert!(resolve("0xFFFFFFFFFFFFFFFF").is_none());
    }

    #[test]
    fn warns_of_words_that_others_read_otherwise() {
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
