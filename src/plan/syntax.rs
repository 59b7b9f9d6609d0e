//! Words for text that is no expression.

use super::document::path_length;

/// The parser's words without its list of everything that might have come.
pub fn syntax_error(words: &str) -> String {
    let words = words.lines().next().unwrap_or_default();
    let words = words.strip_prefix("Syntax error: ").unwrap_or(words);
    if words.starts_with("mismatched input '<EOF>'") {
        return "ends too early".into();
    }
    let words = words.split(" expecting {").next().unwrap_or(words).replace("'<EOF>'", "the end");
    let quoted = |prefix: &str| words.strip_prefix(prefix).map(|rest| rest.trim_matches(['\'', ' ']).to_owned());
    if let Some(part) = quoted("extraneous input ").or_else(|| quoted("mismatched input ")) {
        return format!("`{part}` does not belong here");
    }
    if let Some(part) = quoted("token recognition error at: ") {
        return format!("cannot be read from `{part}` on");
    }
    if let Some(part) = quoted("no viable alternative at input ") {
        return format!("cannot be understood: `{part}`");
    }
    if words.starts_with("missing ") { words } else { "cannot be read as an expression".to_owned() }
}

/// What to do about text that is no expression.
pub fn syntax_help(text: &str) -> String {
    let slot = text.match_indices('<').find_map(|(at, _)| Some(&text[at..at + path_length(&text[at..])?]));
    if let Some(slot) = slot {
        return format!("in an expression write `{}`, without < >", slot.trim_matches(['<', '>']));
    }
    if text.contains("===") || text.contains("!==") {
        return "write `==` and `!=`".to_owned();
    }
    if text.contains("?.") {
        return "write `.`: what is missing is null, and so is a field of null".to_owned();
    }
    if text.matches('(').count() > text.matches(')').count() {
        return "close every bracket; a comma inside { } or [ ] ends an entry: quote the whole expression".to_owned();
    }
    "expressions are CEL: operators, `a ? b : c`, lists, maps, function calls; text needs quotes inside".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parsers_words_are_kept_short() {
        assert_eq!(syntax_error("Syntax error: mismatched input '<EOF>' expecting {'['}\nmore"), "ends too early");
        assert_eq!(syntax_error("Syntax error: extraneous input ')' expecting {'['}"), "`)` does not belong here");
        assert_eq!(syntax_error("Incomplete `ExprContext`"), "cannot be read as an expression");
        assert_eq!(syntax_error("Syntax error: token recognition error at: '#'"), "cannot be read from `#` on");
        assert_eq!(syntax_help("[<reply>, 1]"), "in an expression write `reply`, without < >");
    }
}
