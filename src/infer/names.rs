//! Names of the model from names of the database.

use std::collections::HashSet;

/// Words that no name of the model may be.
const RESERVED: &str = "as break const continue else false for function if import in let loop namespace null package return \
                        true while index number reply missing use";

/// The longest name that is made.
const LONGEST: usize = 40;

/// Whether a name can be one of the model as it is.
pub fn is_plain(name: &str) -> bool {
    !name.is_empty() && name == cleaned(name) && !RESERVED.split_whitespace().any(|word| word == name)
}

/// A name of letters, digits and `_`.
pub fn cleaned(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut made: String = name.chars().take(LONGEST).map(plain).collect();
    if made.starts_with(|c: char| c.is_ascii_digit()) || made.trim_matches('_').is_empty() {
        made.insert(0, 'x');
    }
    made
}

/// What one document of a collection is called.
pub fn singular(collection: &str) -> String {
    let name = cleaned(collection.rsplit('.').next().unwrap_or(collection));
    let lower = name.to_ascii_lowercase();
    let cut = |end: usize| name[..name.len() - end].to_owned();
    if lower.ends_with("ies") && lower.len() > 4 {
        cut(3) + "y"
    } else if ["sses", "ches", "shes", "xes"].iter().any(|end| lower.ends_with(end)) {
        cut(2)
    } else if lower.ends_with('s') && !["ss", "us", "is"].iter().any(|end| lower.ends_with(end)) && lower.len() > 2 {
        cut(1)
    } else {
        name
    }
}

/// A name that a scenario takes as that of a collection.
pub fn collection_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let is_whole = !name.is_empty() && name.chars().all(is_plain) && !name.starts_with(['.', '-']) && name.len() <= 100;
    if is_whole { name.to_owned() } else { cleaned(name) }
}

/// Names that are all different.
#[derive(Debug, Default)]
pub struct UniqueNames(HashSet<String>);

impl UniqueNames {
    /// The name, or one like it that nothing else has.
    pub fn take(&mut self, name: &str) -> String {
        let plain = if is_plain(name) { name.to_owned() } else { format!("{}_", cleaned(name)) };
        let plain = if is_plain(plain.trim_end_matches('_')) { plain.trim_end_matches('_').to_owned() } else { plain };
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|name| !self.0.contains(name));
        let free = free.unwrap_or(plain);
        self.0.insert(free.clone());
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_called_after_their_collection() {
        for (collection, name) in [
            ("orders", "order"),
            ("categories", "category"),
            ("boxes", "box"),
            ("status", "status"),
            ("shop.line items", "line_item"),
            ("2024", "x2024"),
            ("$$", "x__"),
            ("", "x"),
            ("news", "new"),
        ] {
            assert_eq!(singular(collection), name);
        }
    }

    #[test]
    fn names_are_different_and_no_reserved_words() {
        let mut names = UniqueNames::default();
        let taken = ["order", "order", "in", "índex", "index"].map(|name| names.take(name));
        assert_eq!(taken, ["order", "order_2", "in_", "_ndex", "index_"]);
    }
}
