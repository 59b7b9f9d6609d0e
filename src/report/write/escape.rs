//! Escapes user text for Markdown.

/// Escapes text to one line without markup: no emphasis, code, link, table border, HTML, list or heading.
pub(crate) fn escape(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let is_word =
        |place: Option<usize>| place.and_then(|place| characters.get(place)).is_some_and(|c| c.is_alphanumeric());
    let ends_word = |place: usize| characters.get(place + 1).is_none_or(|next| next.is_whitespace());
    let mut escaped = String::with_capacity(text.len());
    for (place, character) in characters.iter().enumerate() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            // Never emphasis inside a word, and frequent in names.
            '_' if is_word(place.checked_sub(1)) && is_word(Some(place + 1)) => escaped.push('_'),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => escaped.extend(['\\', *character]),
            '#' | '-' | '+' | '=' if place == 0 => escaped.extend(['\\', *character]),
            // `1.` and `1)` start a list.
            '.' | ')' if place > 0 && !ends_word(place) => escaped.push(*character),
            '.' | ')' if place > 0 && characters[..place].iter().all(char::is_ascii_digit) => {
                escaped.extend(['\\', *character]);
            }
            character if character.is_control() => escaped.push(' '),
            character => escaped.push(*character),
        }
    }
    escaped
}

/// Returns text for a fenced block: one line that cannot end the block.
pub(crate) fn code(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.trim_start().starts_with("```") { line.replace('`', "'") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_foreign_text_is_markup() {
        let cases = [
            ("a|b", r"a\|b"),
            ("`x` *y* __z__", r"\`x\` \*y\* \_\_z\_\_"),
            ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
            ("[a](javascript:b)", r"\[a\](javascript:b)"),
            ("# title", r"\# title"),
            ("- item", r"\- item"),
            ("10. item", r"10\. item"),
            ("a\nb", "a b"),
            ("&lt;", "&amp;lt;"),
            (r"\|", r"\\\|"),
        ];
        for (text, expected) in cases {
            assert_eq!(escape(text), expected, "{text:?}");
        }
    }

    #[test]
    fn plain_names_and_sentences_stay_readable() {
        for text in ["add_comment", "0.1.0", "38 % less time than linked (34 to 42 %).", "p99 = 1.5 ms, it's fine"] {
            assert_eq!(escape(text), text);
        }
    }

    #[test]
    fn a_block_of_code_cannot_be_ended_from_inside() {
        assert_eq!(code("a\n```\nb"), "a ``` b");
        assert_eq!(code("```\nb"), "''' b");
    }
}
