//! Messages for text that is no expression.

use super::document::path_length;

/// Returns the parser's message without its list of everything that it expected.
pub fn syntax_error(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    let message = message.strip_prefix("Syntax error: ").unwrap_or(message);
    if message.starts_with("mismatched input '<EOF>'") {
        return "unexpected end".into();
    }
    let message = message.split(" expecting {").next().unwrap_or(message).replace("'<EOF>'", "the end");
    let quoted = |prefix: &str| message.strip_prefix(prefix).map(|rest| rest.trim_matches(['\'', ' ']).to_owned());
    let faults =
        ["extraneous input ", "mismatched input ", "token recognition error at: ", "no viable alternative at input "];
    if let Some(part) = faults.into_iter().find_map(quoted) {
        return format!("unexpected `{part}`");
    }
    if message.starts_with("missing ") { message } else { "not an expression".to_owned() }
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
        return "write `.`: a missing field is null, and so is a field of null".to_owned();
    }
    if text.matches('(').count() > text.matches(')').count() {
        return "close every bracket; if it is closed, quote the whole expression: YAML ends an entry at a comma inside { } or [ ]".to_owned();
    }
    "add what is missing; text constants need quotes, for example \"'a' + title\"".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parser_messages_are_short() {
        assert_eq!(syntax_error("Syntax error: mismatched input '<EOF>' expecting {'['}\nmore"), "unexpected end");
        assert_eq!(syntax_error("Syntax error: extraneous input ')' expecting {'['}"), "unexpected `)`");
        assert_eq!(syntax_error("Incomplete `ExprContext`"), "not an expression");
        assert_eq!(syntax_error("Syntax error: token recognition error at: '#'"), "unexpected `#`");
        assert_eq!(syntax_help("[<reply>, 1]"), "in an expression write `reply`, without < >");
    }
}
