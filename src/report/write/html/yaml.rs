//! Syntax highlighting for the scenario's text: distinguishes keys from values, and accepts any text.

use crate::report::document::format::steers;

/// Bytes after which a text is cut, so that the page stays small.
const LONGEST: usize = 200_000;

/// A named part of the text.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// Its name.
    pub name: String,
    /// Its tokens, including line breaks.
    pub tokens: Vec<Token>,
}

/// A piece of text in one colour.
#[derive(Debug, PartialEq, Eq)]
pub struct Token {
    /// A class: `k` key, `s` string, `n` number, `x` expression, `c` comment; none for the rest.
    pub class: &'static str,
    /// The text.
    pub text: String,
}

/// The scenario's text in parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The parts of compared strategies: collections, then operations, then everything else.
    pub sides: Vec<Side>,
    /// The other strategies, and the rest of the scenario.
    pub rest: Vec<Block>,
}

/// A part that several strategies have, such as an operation.
#[derive(Debug, PartialEq, Eq)]
pub struct Side {
    /// Its name.
    pub name: String,
    /// Whether it defines the shape of documents, not an operation.
    pub is_shape: bool,
    /// The strategies that have it: position and text.
    pub columns: Vec<(usize, Block)>,
}

/// Splits the YAML into the parts of some strategies and everything else.
pub fn parts(text: &str, strategies: &[&str]) -> Parts {
    let text = visible(text);
    let lines: Vec<&str> = text.lines().collect();
    let is_top = |line: &str| line.starts_with(|c: char| c.is_alphanumeric() || c == '"' || c == '\'');
    let Some(start) = lines.iter().position(|line| line.starts_with("strategies:")) else {
        return Parts { sides: Vec::new(), rest: named("whole file", &lines) };
    };
    let end = lines[start + 1..].iter().position(|line| is_top(line)).map_or(lines.len(), |more| start + 1 + more);
    let mut sides = FoundSides::default();
    let mut others: Vec<&str> = Vec::new();
    for (name, own) in entries(&lines[start + 1..end]) {
        match strategies.iter().position(|strategy| *strategy == name) {
            Some(place) => sides.add(place, &own),
            None => others.extend(own),
        }
    }
    let rest: Vec<&str> = lines[..start].iter().chain(&lines[end..]).copied().collect();
    let others = named("strategies that are not part of this run", &others);
    let rest = others.into_iter().chain(named("everything but the strategies", &rest)).collect();
    Parts { sides: sides.in_order(), rest }
}

/// A part's name, and its lines in the strategies that have it.
type Part<'t> = (String, Vec<(usize, Vec<&'t str>)>);

/// Parts in the order in which they are found.
#[derive(Default)]
struct FoundSides<'t> {
    shapes: Vec<Part<'t>>,
    operations: Vec<Part<'t>>,
    others: Vec<Part<'t>>,
}

impl<'t> FoundSides<'t> {
    /// Adds the parts of one strategy from its lines, which start with its name as a key.
    fn add(&mut self, place: usize, lines: &[&'t str]) {
        let below = lines.iter().position(|line| is_code(line)).map_or(lines.len(), |name| name + 1);
        for (name, own) in entries(&lines[below..]) {
            match name.as_str() {
                "about" | "default" | "unsafe" => {}
                "collections" => note(&mut self.shapes, name, place, own),
                "operations" => {
                    let below = own.iter().position(|line| is_code(line)).map_or(own.len(), |name| name + 1);
                    let each = entries(&own[below..]);
                    // A mapping on one line is not split.
                    if each.is_empty() {
                        note(&mut self.operations, name, place, own);
                    }
                    for (name, own) in each {
                        note(&mut self.operations, name, place, own);
                    }
                }
                _ => note(&mut self.others, name, place, own),
            }
        }
    }

    fn in_order(self) -> Vec<Side> {
        let side = |is_shape: bool| {
            move |(name, mut columns): Part<'_>| {
                columns.sort_by_key(|(place, _)| *place);
                let block = |lines: &[&str]| Block { name: name.clone(), tokens: colour(lines) };
                let columns = columns.iter().map(|(place, lines)| (*place, block(lines))).collect();
                Side { name: name.clone(), is_shape, columns }
            }
        };
        let shapes = self.shapes.into_iter().map(side(true));
        shapes.chain(self.operations.into_iter().chain(self.others).map(side(false))).collect()
    }
}

fn note<'t>(all: &mut Vec<Part<'t>>, name: String, place: usize, lines: Vec<&'t str>) {
    match all.iter_mut().find(|(known, _)| *known == name) {
        Some((_, columns)) => columns.push((place, lines)),
        None => all.push((name, vec![(place, lines)])),
    }
}

fn named(name: &str, lines: &[&str]) -> Vec<Block> {
    let is_empty = lines.iter().all(|line| line.trim().is_empty());
    if is_empty { Vec::new() } else { vec![Block { name: name.to_owned(), tokens: colour(lines) }] }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_code(line: &str) -> bool {
    !line.trim().is_empty() && !line.trim_start().starts_with('#')
}

/// Returns the keys at the smallest indentation with their lines; comments directly above a key belong to it.
fn entries<'t>(lines: &[&'t str]) -> Vec<(String, Vec<&'t str>)> {
    let Some(least) = lines.iter().filter(|line| is_code(line)).map(|line| indent(line)).min() else {
        return Vec::new();
    };
    let is_key = |line: &str| is_code(line) && indent(line) == least && line.contains(':');
    let mut starts: Vec<usize> = (0..lines.len()).filter(|place| is_key(lines[*place])).collect();
    let names: Vec<String> = starts.iter().map(|place| key(lines[*place])).collect();
    for start in &mut starts {
        while *start > 0 && lines[*start - 1].trim_start().starts_with('#') {
            *start -= 1;
        }
    }
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let entries = starts.iter().zip(ends).zip(names).map(|((start, end), name)| {
        let own = lines[*start..end].iter().map(|line| line.get(least.min(indent(line))..).unwrap_or(line));
        (name, own.collect())
    });
    entries.collect()
}

fn key(line: &str) -> String {
    line.trim().split(':').next().unwrap_or_default().trim_matches(['"', '\'', '-', ' ']).to_owned()
}

/// Removes characters that change the text direction or are invisible.
fn visible(text: &str) -> String {
    let hidden = |c: char| steers(c) && !matches!(c, '\n' | '\t');
    let text = text.replace("\r\n", "\n");
    let mut text: String = text.chars().take(LONGEST).map(|c| if hidden(c) { '\u{fffd}' } else { c }).collect();
    if text.len() >= LONGEST {
        text.push_str("\n# ... cut here; run.json holds all of it\n");
    }
    text.replace('\t', "    ")
}

fn colour(lines: &[&str]) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let end = lines.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
    for line in &lines[..end] {
        let mut rest = line.trim_end();
        let mut before = ' ';
        while let Some(first) = rest.chars().next() {
            let (class, length) = piece(rest, first, before);
            let (text, more) = rest.split_at(length);
            before = text.chars().last().unwrap_or(' ');
            push(&mut tokens, class, text);
            rest = more;
        }
        push(&mut tokens, "", "\n");
    }
    tokens
}

fn push(tokens: &mut Vec<Token>, class: &'static str, text: &str) {
    match tokens.last_mut().filter(|last| last.class == class) {
        Some(last) => last.text.push_str(text),
        None => tokens.push(Token { class, text: text.to_owned() }),
    }
}

/// Returns the class and the length in bytes of the first token of a text.
fn piece(text: &str, first: char, before: char) -> (&'static str, usize) {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
    match first {
        '#' if before.is_whitespace() => ("c", text.len()),
        '"' | '\'' => {
            let end = text[1..].find(first).map_or(text.len(), |end| end + 2);
            let is_key = text[end..].starts_with(": ");
            (if is_key { "k" } else { "s" }, end)
        }
        '<' => match text.find('>') {
            Some(end) => ("x", end + 1),
            None => ("", 1),
        },
        c if is_word(c) => {
            let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
            let after = &text[end..];
            let class = if after.starts_with(": ") || after == ":" {
                "k"
            } else if text[..end].parse::<f64>().is_ok() {
                "n"
            } else {
                ""
            };
            (class, end)
        }
        c => ("", c.len_utf8()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text_of(block: &Block) -> String {
        block.tokens.iter().map(|token| token.text.as_str()).collect()
    }

    #[test]
    fn parts_of_strategies_stand_beside_each_other() {
        let text = "name: blog # one\noperations:\n  read: {}\nstrategies:\n  # Most simple.\n  embedded:\n    about: x\n    \
                    collections:\n      posts: {}\n    operations:\n      # Cheap.\n      read: { a: 1 }\n      count:\n        \
                    - b: 2\n    state: { s: 1 }\n\n  linked:\n    operations:\n      count: 3\n    collections: { c: {} }\n  \
                    other:\n    a: 1\nmixes:\n  default: 1\n";
        let parts = parts(text, &["linked", "embedded"]);
        let names: Vec<(&str, bool)> = parts.sides.iter().map(|side| (side.name.as_str(), side.is_shape)).collect();
        assert_eq!(names, [("collections", true), ("read", false), ("count", false), ("state", false)]);
        let columns = |side: usize| -> Vec<(usize, String)> {
            parts.sides[side].columns.iter().map(|(place, block)| (*place, text_of(block))).collect()
        };
        assert_eq!(
            columns(0),
            [(0, "collections: { c: {} }\n".to_owned()), (1, "collections:\n  posts: {}\n".to_owned())]
        );
        assert_eq!(columns(1), [(1, "# Cheap.\nread: { a: 1 }\n".to_owned())]);
        assert_eq!(columns(2), [(0, "count: 3\n".to_owned()), (1, "count:\n  - b: 2\n".to_owned())]);
        let rest: Vec<(&str, String)> = parts.rest.iter().map(|block| (block.name.as_str(), text_of(block))).collect();
        assert_eq!(
            rest,
            [
                ("strategies that are not part of this run", "other:\n  a: 1\n".to_owned()),
                (
                    "everything but the strategies",
                    "name: blog # one\noperations:\n  read: {}\nmixes:\n  default: 1\n".to_owned()
                )
            ]
        );
    }

    #[test]
    fn pieces_have_their_colours() {
        let tokens = colour(&["linked:", "  b: { $inc: 5, c: <post> }", "  a: \"x # y\""]);
        let coloured: Vec<(&str, &str)> = tokens.iter().map(|token| (token.class, token.text.as_str())).collect();
        assert!(coloured.starts_with(&[
            ("k", "linked"),
            ("", ":\n  "),
            ("k", "b"),
            ("", ": { "),
            ("k", "$inc"),
            ("", ": ")
        ]));
        assert!(coloured.contains(&("n", "5")) && coloured.contains(&("x", "<post>")), "{coloured:?}");
        assert!(coloured.contains(&("s", "\"x # y\"")), "{coloured:?}");
    }

    proptest! {
        #[test]
        fn no_text_is_rejected_and_none_is_lost(text in "(strategies:\n)?[ -~\u{e9}\n<>\"'#:]{0,200}") {
            let parts = parts(&text, &["a"]);
            let sides = parts.sides.iter().flat_map(|side| &side.columns).map(|(_, block)| block);
            let shown = sides.chain(&parts.rest).flat_map(|block| &block.tokens).map(|token| token.text.len());
            prop_assert!(shown.sum::<usize>() <= text.len() + 2);
        }
    }
}
