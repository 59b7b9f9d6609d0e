//! Compares the texts of two scenarios, part by part.

use std::collections::BTreeMap;

use crate::scenario::{Diagnostics, Node, Spanned};

use super::{fragment, yaml};

/// Keys of a strategy that do not change its behaviour.
const TEXT_KEYS: [&str; 2] = ["about", "default"];

/// A scenario's text by its parts: comments, line breaks and quotes do not matter, nor whether a value is written out or
/// is a fragment; order does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    parts: BTreeMap<String, BTreeMap<String, String>>,
}

impl Outline {
    /// Reads the text of a scenario; `None` for other text.
    pub fn of(text: &str) -> Option<Outline> {
        let (root, _) = fragment::expand(yaml::compose(text, &Diagnostics::new())?, &Diagnostics::new());
        let mut parts: BTreeMap<String, BTreeMap<String, String>> =
            root.as_mapping()?.iter().map(|(key, node)| (key.value.clone(), part(node))).collect();
        let strategies = root.get("strategies").and_then(Node::as_mapping).unwrap_or_default();
        let whole = strategies.iter().map(|(key, _)| (key.value.clone(), strategy(&key.value, strategies)));
        parts.insert("strategies".to_owned(), whole.collect());
        Some(Outline { parts })
    }

    /// Whether a section, such as `entities`, is the same in both.
    pub fn has_same(&self, section: &str, other: &Outline) -> bool {
        self.parts.get(section) == other.parts.get(section)
    }

    /// Whether an entry of a section is the same in both; a strategy includes what it inherits by `like`.
    pub fn has_same_entry(&self, section: &str, name: &str, other: &Outline) -> bool {
        let entry = |outline: &Outline| outline.parts.get(section).and_then(|part| part.get(name)).cloned();
        entry(self) == entry(other)
    }
}

/// The entries of a section; none if it is not a mapping.
fn part(section: &Node) -> BTreeMap<String, String> {
    let entries = section.as_mapping().unwrap_or_default().iter();
    entries.map(|(key, node)| (key.value.clone(), plain(node))).collect()
}

/// A strategy with the strategies that it inherits from.
fn strategy(name: &str, all: &[(Spanned<String>, Node)]) -> String {
    let find = |name: &str| all.iter().find(|(key, _)| key.value == name);
    let line = std::iter::successors(find(name), |(_, node)| find(node.get("like").and_then(Node::as_text)?));
    let fields = line.take(all.len()).flat_map(|(_, node)| node.as_mapping().unwrap_or_default());
    let fields = fields.filter(|(key, _)| !TEXT_KEYS.contains(&key.value.as_str()));
    fields.map(|(key, value)| format!("{:?}: {}\n", key.value, plain(value))).collect()
}

/// A tree on one line, with quoted texts, so that different trees have different lines.
fn plain(node: &Node) -> String {
    node.on_one_line(|text| format!("{text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "format: 1\nentities:\n  a: { count: 5 }\nstrategies:\n  one: { about: x, load: [1, 'a'] }\n  two: { like: one }\n  \
                        three: { load: [2] }\n";

    fn outline(text: &str) -> Outline {
        Outline::of(text).unwrap()
    }

    #[test]
    fn ignores_comments_quotes_and_text_keys() {
        let other = TEXT
            .replace("about: x", "about: y, default: true")
            .replace("'a'", "\"a\" ")
            .replace("  two", "\n  # note\n  two");
        assert_ne!(other, TEXT);
        assert_eq!(outline(&other), outline(TEXT));
    }

    #[test]
    fn finds_own_and_inherited_changes() {
        let (first, second) = (outline(TEXT), outline(&TEXT.replace("'a'", "'b'")));
        assert!(first.has_same("entities", &second) && !first.has_same("strategies", &second));
        let same = ["one", "two", "three"].map(|name| first.has_same_entry("strategies", name, &second));
        assert_eq!(same, [false, false, true]);
        assert!(!first.has_same("entities", &outline(&TEXT.replace("count: 5", "count: 6"))));
        assert!(!first.has_same("entities", &outline(&TEXT.replace("count: 5", "count: '5'"))));
    }

    #[test]
    fn a_fragment_is_its_value() {
        let other = TEXT.replace("load: [1, 'a']", "load: [{ use: f }, a]") + "fragments: { f: [1] }\n";
        assert!(outline(TEXT).has_same("strategies", &outline(&other)));
        assert!(!outline(TEXT).has_same_entry("strategies", "one", &outline(&other.replace("[1]", "[3]"))));
    }

    #[test]
    fn other_text_has_no_outline_and_cycles_end() {
        assert_eq!(Outline::of("- a"), None);
        assert_eq!(Outline::of("{"), None);
        let cycle = outline("strategies: { a: { like: b }, b: { like: a } }");
        assert!(cycle.has_same_entry("strategies", "a", &cycle));
    }
}
