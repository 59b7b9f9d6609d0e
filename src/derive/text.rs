//! A part of a scenario as YAML text.

use crate::scenario::{Node, Tree};

/// The longest value on one line, in characters.
const WIDEST: usize = 110;

/// An entry of a scenario's `strategies`.
pub fn entry(name: &str, node: &Node) -> String {
    let mut text = String::new();
    write(&mut text, name, node, 2);
    text
}

/// Writes a key with its value: on one line where that is short, otherwise its parts below each other.
pub(super) fn write(text: &mut String, key: &str, node: &Node, indent: usize) {
    let start = format!("{:indent$}{}:", "", quoted(key));
    let line = node.on_one_line(quoted);
    text.push_str(&start);
    // The keys of a strategy are each on their own line.
    if indent > 2 && start.len() + line.len() < WIDEST || matches!(node.tree, Tree::Scalar(_)) {
        text.push_str(&format!(" {line}\n"));
        return;
    }
    text.push('\n');
    parts(text, node, indent + 2);
}

/// Writes the entries or items of a value.
fn parts(text: &mut String, node: &Node, indent: usize) {
    match &node.tree {
        Tree::Mapping(entries) => entries.iter().for_each(|(key, value)| write(text, &key.value, value, indent)),
        Tree::List(items) => items.iter().for_each(|item| {
            let line = item.on_one_line(quoted);
            if indent + line.len() < WIDEST || matches!(item.tree, Tree::Scalar(_)) {
                text.push_str(&format!("{:indent$}- {line}\n", ""));
            } else {
                let mut inner = String::new();
                parts(&mut inner, item, indent + 2);
                text.push_str(&format!("{:indent$}- {}", "", inner.trim_start()));
            }
        }),
        Tree::Scalar(_) => {}
    }
}

/// A text as a scalar that is text again when it is read: plain only where nothing else could be meant.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_.$<>-/ ".contains(c);
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || "_$<".contains(c)) || text == "...";
    let words = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let is_word = words.contains(&text.to_ascii_lowercase().as_str());
    if text.chars().all(is_plain) && starts_well && !text.ends_with(' ') && !is_word {
        text.to_owned()
    } else if text.chars().any(char::is_control) || text.contains('\'') && !text.contains(['"', '\\']) {
        format!("{text:?}")
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_what_would_be_something_else() {
        let written = ["a.b", "$set", "<post>", "...", "true", "5", "a: b", "it's", "[a]", "-x", ""].map(quoted);
        assert_eq!(
            written,
            ["a.b", "$set", "<post>", "...", "'true'", "'5'", "'a: b'", "\"it's\"", "'[a]'", "'-x'", "''"]
        );
    }
}
