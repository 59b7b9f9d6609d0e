//! Flow mappings of YAML, as logical steps are written, and names.

/// Words that YAML reads as something else than a text.
const RESERVED: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// Words that an expression reads as something else than an argument.
const KEYWORDS: &str = "true false null in as break const continue else for function if import let loop package namespace return \
                        var void while reply missing index";

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

/// A comparison with a value: the value alone where they are equal.
pub(super) fn compared(operator: &str, value: String) -> String {
    if operator == "$eq" { value } else { mapping([(operator, value)]) }
}

/// A list of names: `[a, b]`.
pub(super) fn names<T: AsRef<str>>(all: &[T]) -> String {
    format!("[{}]", all.iter().map(|one| name(one.as_ref())).collect::<Vec<_>>().join(", "))
}

/// The name of an argument from that of a field.
pub(super) fn argument(field: &str) -> String {
    let name = identifier(field);
    let is_free = !name.is_empty() && KEYWORDS.split_whitespace().all(|word| word != name);
    if is_free { name } else { format!("value_{name}") }
}

/// Text as part of an identifier: letters, digits and underscores.
pub(super) fn identifier(text: &str) -> String {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let text = parts.collect::<Vec<_>>().join("_").to_ascii_lowercase();
    if text.starts_with(|c: char| c.is_ascii_digit()) { format!("o{text}") } else { text }
}

/// The name, or one like it with a number that is not taken.
pub(super) fn free(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_default()
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
        assert_eq!(names(&["a", "1x"]), "[a, \"1x\"]");
        assert_eq!(identifier("Get /orders.list"), "get_orders_list");
    }
}
