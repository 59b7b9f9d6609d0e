//! The scenario's text in colours: enough of YAML to tell keys from values, and nothing that could reject a text.

use crate::report::format::steers;

/// A longer text is cut, so that the page stays small.
const LONGEST: usize = 200_000;

/// A part of the text under a name.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// Its name.
    pub name: String,
    /// Its pieces, line breaks among them.
    pub tokens: Vec<Token>,
}

/// A piece of text of one colour.
#[derive(Debug, PartialEq, Eq)]
pub struct Token {
    /// A class: `k` key, `s` string, `n` number, `x` expression, `c` comment; none for the rest.
    pub class: &'static str,
    /// The text.
    pub text: String,
}

/// The strategies, one by one, and everything else.
pub fn blocks(text: &str) -> (Vec<Block>, Vec<Block>) {
    let text = visible(text);
    let lines: Vec<&str> = text.lines().collect();
    let is_top = |line: &str| line.starts_with(|c: char| c.is_alphanumeric() || c == '"' || c == '\'');
    let Some(start) = lines.iter().position(|line| line.starts_with("strategies:")) else {
        return (Vec::new(), named("whole file", &lines));
    };
    let end = lines[start + 1..].iter().position(|line| is_top(line)).map_or(lines.len(), |more| start + 1 + more);
    let rest: Vec<&str> = lines[..start].iter().chain(&lines[end..]).copied().collect();
    (strategies(&lines[start + 1..end]), named("everything but the strategies", &rest))
}

fn named(name: &str, lines: &[&str]) -> Vec<Block> {
    let is_empty = lines.iter().all(|line| line.trim().is_empty());
    if is_empty { Vec::new() } else { vec![Block { name: name.to_owned(), tokens: colour(lines) }] }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// A block per key at the least indentation; comments right above a key are its own.
fn strategies(lines: &[&str]) -> Vec<Block> {
    let is_code = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
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
    let blocks = starts.iter().zip(ends).zip(names).map(|((start, end), name)| {
        let own: Vec<&str> =
            lines[*start..end].iter().map(|line| line.get(least.min(indent(line))..).unwrap_or(line)).collect();
        Block { name, tokens: colour(&own) }
    });
    blocks.collect()
}

fn key(line: &str) -> String {
    line.trim().split(':').next().unwrap_or_default().trim_matches(['"', '\'', '-', ' ']).to_owned()
}

/// The text without characters that turn the direction of writing or cannot be shown.
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
    for line in lines {
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

/// The class and the bytes of the piece that a text begins with.
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
            let class = match after.starts_with(": ") || after == ":" {
                true => "k",
                false if text[..end].parse::<f64>().is_ok() => "n",
                false => "",
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

    const TEXT: &str = "name: blog # one\noperations:\n  read: {}\nstrategies:\n  # Most simple.\n  embedded:\n    a: \"x # y\"\n\
                        \n  linked:\n    b: { $inc: 5, c: <post> }\nmixes:\n  default: 1\n";

    #[test]
    fn every_strategy_has_its_block_with_its_comment() {
        let (shapes, rest) = blocks(TEXT);
        let names: Vec<&str> = shapes.iter().map(|block| block.name.as_str()).collect();
        assert_eq!(names, ["embedded", "linked"]);
        let text: String = shapes[0].tokens.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(text, "# Most simple.\nembedded:\n  a: \"x # y\"\n\n");
        let rest: String = rest[0].tokens.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(rest, "name: blog # one\noperations:\n  read: {}\nmixes:\n  default: 1\n");
    }

    #[test]
    fn pieces_have_their_colours() {
        let (shapes, _) = blocks(TEXT);
        let coloured: Vec<(&str, &str)> =
            shapes[1].tokens.iter().map(|token| (token.class, token.text.as_str())).collect();
        assert!(coloured.starts_with(&[
            ("k", "linked"),
            ("", ":\n  "),
            ("k", "b"),
            ("", ": { "),
            ("k", "$inc"),
            ("", ": ")
        ]));
        assert!(coloured.contains(&("n", "5")) && coloured.contains(&("x", "<post>")), "{coloured:?}");
        assert!(shapes[0].tokens.contains(&Token { class: "s", text: "\"x # y\"".into() }));
    }

    proptest! {
        #[test]
        fn no_text_is_rejected_and_none_is_lost(text in "(strategies:\n)?[ -~\u{e9}\n<>\"'#:]{0,200}") {
            let (shapes, rest) = blocks(&text);
            let shown = shapes.iter().chain(&rest).flat_map(|block| &block.tokens).map(|token| token.text.len());
            prop_assert!(shown.sum::<usize>() <= text.len() + 2);
        }
    }
}
