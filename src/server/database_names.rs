//! The names of a scenario's databases, known before a run, so that a role can be granted on them.

use sha2::{Digest, Sha256};

/// The longest database name in bytes.
const LONGEST_NAME: usize = 63;
/// Hexadecimal digits that keep shortened names apart.
const DIGEST: usize = 6;
/// What follows the name of a strategy in the concurrent phases of a verification, when two of its databases exist.
const CONCURRENT: &str = "_concurrent";
/// What follows the name of a strategy in the database in which pairs of calls are made one after the other.
const IN_ORDER: &str = "_in_order";
/// In place of a strategy: the repeat of the baseline, whichever that is.
const REPEAT: &str = "repeat";

/// The prefix unless the user names another one.
pub const DEFAULT_PREFIX: &str = "docshape_";

/// The longest prefix.
pub const LONGEST_PREFIX: usize = 20;

/// The names of a scenario's databases: `<prefix><scenario>_<strategy>` and a few more.
///
/// Roles are granted on exact names, so the same scenario always has the same ones. All are lower case after the prefix,
/// because a server rejects two that differ only by case. A part that had to be changed or cut gets a few digits of its own,
/// so that different parts never lead to the same name.
#[derive(Debug, Clone)]
pub struct DatabaseNames {
    prefix: String,
    scenario: String,
}

impl DatabaseNames {
    /// Returns the names of a scenario's databases. The prefix is at most [`LONGEST_PREFIX`] bytes long.
    pub fn new(prefix: &str, scenario: &str) -> DatabaseNames {
        DatabaseNames { prefix: prefix.to_owned(), scenario: scenario.to_owned() }
    }

    /// The database that exists as long as a command works with the scenario on this server. It is empty but for its mark.
    pub fn reservation(&self) -> String {
        format!("{}{}", self.prefix, part(&self.scenario, self.room()))
    }

    /// The database of a strategy, one at a time: for the verification, the pilot, and every round.
    pub fn strategy(&self, name: &str) -> String {
        let room = self.room().saturating_sub(self.scenario.len()).max(self.room() / 2);
        let is_reserved = name == REPEAT || [CONCURRENT, IN_ORDER].iter().any(|last| name.ends_with(last));
        self.with(&if is_reserved { shortened(name, room) } else { part(name, room) })
    }

    /// The database of a strategy in the concurrent phases of a verification.
    pub fn concurrent(&self, name: &str) -> String {
        self.strategy(name) + CONCURRENT
    }

    /// The database of a strategy in which a verification makes pairs of calls one after the other.
    pub fn in_order(&self, name: &str) -> String {
        self.strategy(name) + IN_ORDER
    }

    /// The database of the baseline's repeat.
    pub fn repeat(&self) -> String {
        self.with(REPEAT)
    }

    /// All databases that a scenario with these strategies can need.
    pub fn all<'s>(&self, strategies: impl Iterator<Item = &'s str>) -> Vec<String> {
        let mut all = vec![self.reservation(), self.repeat()];
        all.extend(strategies.flat_map(|name| [self.strategy(name), self.concurrent(name), self.in_order(name)]));
        all
    }

    fn with(&self, last: &str) -> String {
        format!("{}{}_{last}", self.prefix, part(&self.scenario, self.room() - last.len()))
    }

    /// The bytes for scenario and strategy.
    fn room(&self) -> usize {
        LONGEST_NAME - self.prefix.len() - 1 - CONCURRENT.len()
    }
}

/// One part of a name, at most `longest` bytes.
fn part(text: &str, longest: usize) -> String {
    let is_whole = text.len() <= longest && !text.is_empty() && text.chars().all(is_plain);
    if is_whole { text.to_owned() } else { shortened(text, longest) }
}

fn shortened(text: &str, longest: usize) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let digits = hex::encode(&digest[..DIGEST / 2]);
    let lower = text.to_ascii_lowercase();
    let readable = lower.chars().map(|symbol| if is_plain(symbol) { symbol } else { '-' });
    let readable: String = readable.take(longest - DIGEST - 1).collect();
    format!("{}-{digits}", readable.trim_matches('-'))
}

fn is_plain(symbol: char) -> bool {
    symbol.is_ascii_lowercase() || symbol.is_ascii_digit() || "-_".contains(symbol)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn plain_parts_are_kept() {
        let names = DatabaseNames::new("docshape_", "blog-comments");
        assert_eq!(
            names.all(["embedded", "tas_bulk"].into_iter()),
            [
                "docshape_blog-comments",
                "docshape_blog-comments_repeat",
                "docshape_blog-comments_embedded",
                "docshape_blog-comments_embedded_concurrent",
                "docshape_blog-comments_embedded_in_order",
                "docshape_blog-comments_tas_bulk",
                "docshape_blog-comments_tas_bulk_concurrent",
                "docshape_blog-comments_tas_bulk_in_order",
            ]
        );
        let long = DatabaseNames::new("docshape_", "trees").strategy("parent_check_then_write");
        assert_eq!(long, "docshape_trees_parent_check_then_write");
    }

    #[test]
    fn every_name_is_valid() {
        let long = "x".repeat(200);
        let prefix = "p".repeat(LONGEST_PREFIX);
        for text in ["embedded(A/A)", "Größe $ \"x\" <y>.z|?*:\\", "", &long, "a b\0c", "ends-"] {
            for prefix in ["d_", "docshape_", &prefix] {
                let names = DatabaseNames::new(prefix, text).all([text, "s"].into_iter());
                let more = DatabaseNames::new(prefix, "s").all([text].into_iter());
                for name in names.into_iter().chain(more) {
                    assert!(name.len() <= LONGEST_NAME && name.starts_with(prefix), "{name}");
                    assert!(name.chars().all(is_plain), "{name}");
                }
            }
        }
    }

    #[test]
    fn different_parts_give_different_names() {
        let (long, longer) = ("x".repeat(60), "x".repeat(61));
        let texts = [
            "embedded", "Embedded", "embedded(A/A)", "embedded(a/a)", "embedded_a_a", "", &long, &longer, "repeat",
            "embedded_concurrent", "embedded_in_order",
        ];
        let names = DatabaseNames::new("docshape_", "s").all(texts.into_iter());
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), 2 + 3 * texts.len(), "{names:?}");
    }
}
