//! Flow mappings of YAML, as logical steps are written.

/// Words that YAML reads as something else than a text.
const RESERVED: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// A name as YAML text: in quotes if it needs them.
pub(super) fn name(name: &str) -> String {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let fits = name.chars().all(|c| c.is_ascii_alphanumeric() || "_.".contains(c));
    if starts && fits && !RESERVED.contains(&name.to_lowercase().as_str()) {
        name.to_owned()
    } else {
        serde_json::Value::from(name).to_string()
    }
}

/// A mapping: `{ a: 1, b: }`.
pub(super) fn mapping<K: AsRef<str>, V: AsRef<str>>(entries: impl IntoIterator<Item = (K, V)>) -> String {
    let entry = |(key, value): (K, V)| format!("{}: {}", key.as_ref(), value.as_ref()).trim_end().to_owned();
    let entries: Vec<String> = entries.into_iter().map(entry).collect();
    format!("{{ {} }}", entries.join(", "))
}

/// A list of names: `[a, b]`.
pub(super) fn names(all: &[String]) -> String {
    format!("[{}]", all.iter().map(|one| name(one)).collect::<Vec<_>>().join(", "))
}

/// Words that an expression reads as something else than an argument.
const KEYWORDS: [&str; 24] = [
    "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
    "let", "loop", "package", "namespace", "return", "var", "void", "while", "reply", "missing", "index",
];

/// The name of an argument from that of a field.
pub(super) fn argument(field: &str) -> String {
    let name = identifier(field);
    if KEYWORDS.contains(&name.as_str()) || name.is_empty() { format!("value_{name}") } else { name }
}

/// Text as part of an identifier: letters, digits and underscores.
pub(super) fn identifier(text: &str) -> String {
    let text: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    let parts: Vec<&str> = text.split('_').filter(|part| !part.is_empty()).collect();
    let text = parts.join("_");
    if text.starts_with(|c: char| c.is_ascii_digit()) { format!("o{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_need_quotes_have_them() {
        assert_eq!(
            mapping([(name("a_b"), "1"), (name("yes"), ""), (name("a: b"), "2")]),
            "{ a_b: 1, \"yes\":, \"a: b\": 2 }"
        );
        assert_eq!(names(&["a".into(), "1x".into()]), "[a, \"1x\"]");
        assert_eq!(identifier("Get /orders.list"), "get_orders_list");
    }
}
