//! Diagnostics of text that is not YAML, and of YAML that scenarios do not use.

use granit_parser::{ErrorKind, ScanError};

use crate::scenario::{Diagnostic, Span, Spanned, quote};

/// A syntax error with advice. The parser stops at the first one, so that a file has at most one of these.
pub(super) fn syntax(error: &ScanError, text: &str) -> Diagnostic {
    let mut start = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
    let help = help(error.kind());
    if let Some(key) = key_before(text, start).filter(|_| help != SPACES) {
        return missing_colon(text, key);
    }
    // The parser stops before the tab, which may be on the next line.
    if help == SPACES {
        start = text.get(start..).and_then(|rest| rest.find('\t')).map_or(start, |tab| start + tab);
    }
    let length = text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    let reason = match error.kind() {
        ErrorKind::UnexpectedCharacter { character } => {
            format!("text cannot start with {}", quote(&character.to_string()))
        }
        kind => kind.to_string(),
    };
    Diagnostic::error(Span::new(start, start + length), format!("not valid YAML: {reason}"))
        .label("unexpected")
        .help(help)
}

/// The key at the place of a syntax error that lacks its colon: a word alone on the line there or before it, or a word and a
/// bracket on the same line.
fn key_before(text: &str, at: usize) -> Option<Span> {
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let span = |word: &str| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        Some(Span::new(start, start + word.len()))
    };
    let (before, after) = text.split_at_checked(at)?;
    let alone = after.lines().next().unwrap_or_default().trim_end();
    let (above, line) = before.rsplit_once('\n').unwrap_or(("", before));
    let (word, rest) = line.trim_start_matches([' ', '-']).split_once(' ').unwrap_or_default();
    if is_word(word) && rest.trim_start().starts_with(['[', '{']) {
        return span(word);
    }
    if line.trim_start_matches([' ', '-']).is_empty() && is_word(alone) {
        return span(alone);
    }
    let word = above.lines().next_back()?.trim_start_matches([' ', '-']).trim_end();
    (line.trim().is_empty() && is_word(word)).then(|| span(word)).flatten()
}

pub(super) fn missing_colon(text: &str, key: Span) -> Diagnostic {
    let word = &text[key.start..key.end];
    Diagnostic::error(key, format!("missing colon after key {}", quote(word)))
        .label("parsed as text")
        .help(format!("write {}", quote(&format!("{word}:"))))
}

/// What to do about tabs.
const SPACES: &str = "indent with spaces";

fn help(kind: &ErrorKind) -> &'static str {
    use ErrorKind::*;
    match kind {
        TabNotAllowed | TabInBlockIndentation | TabInIndentation | TabAtBlockScalarStart | TabInPlainScalar => SPACES,
        UnclosedQuotedScalar | InvalidQuotedScalarIndent | DocumentIndicatorInQuotedScalar => {
            "close the quote; inside '...' write '' for one quote, inside \"...\" write \\\""
        }
        InvalidTrailingSingleQuotedScalar | InvalidTrailingDoubleQuotedScalar => {
            "quote an expression that starts with a quote as a whole: '\"page \" + string(page)'"
        }
        UnclosedFlowCollection { .. }
        | UnexpectedEofFlowMapping
        | UnexpectedEofFlowSequence
        | UnexpectedEofImplicitFlowMapping
        | MismatchedFlowCollectionEnd { .. }
        | MisplacedFlowCollectionEnd => "every `{` needs its `}` and every `[` its `]`",
        ExpectedFlowMappingSeparator | ExpectedFlowSequenceSeparator => {
            "separate entries by commas and close every bracket; quote text that contains brackets, quotes or commas"
        }
        MappingValueNotAllowed
        | InvalidColonPlacement
        | InvalidMappingValueWhitespace
        | FlowMappingValueAdjacentCollection => {
            "quote text that contains a colon and a space: \"a ? b : c\"; otherwise check the indentation"
        }
        UnexpectedCharacter { .. } => "put the whole text in quotes",
        UnknownQuotedScalarEscape => "use '...', where a backslash is only a backslash, or write it twice",
        _ => "start the entries of a mapping or list in one column; quote text with special characters",
    }
}

pub(super) fn too_many_entries(span: Span, most: usize) -> Diagnostic {
    Diagnostic::error(span, format!("the mapping has more than {most} entries"))
        .help("put what is alike into a list, or into data that generators draw")
}

pub(super) fn nothing() -> Diagnostic {
    Diagnostic::error(Span::default(), "the file is empty")
        .help("try starting with `format: 1`, or with a scenario of `docshape list`")
}

pub(super) fn second_document(span: Span) -> Diagnostic {
    Diagnostic::error(span, "expected one YAML document, found a second one")
        .label("second document")
        .help("remove the `---`, or move the rest to a file of its own")
}

pub(super) fn depth(span: Span, limit: usize) -> Diagnostic {
    Diagnostic::error(span, format!("lists and mappings are nested deeper than {limit}"))
        .label("too deep")
        .help("check for brackets that are never closed, or flatten this part")
}

/// An anchor or alias, which begins with `sign`.
pub(super) fn reference(kind: &str, sign: char, span: Span) -> Diagnostic {
    Diagnostic::error(span, format!("unsupported {kind}"))
        .label(format!("parsed as an {kind}"))
        .help(format!("quote text that starts with `{sign}`; try `fragments` to use a value in several places"))
}

pub(super) fn tag(span: Span) -> Diagnostic {
    Diagnostic::error(span, "unsupported YAML tag")
        .label("parsed as a tag")
        .help("quote an expression that starts with `!`: \"!found\"; write BSON types as Extended JSON: { $oid: ... }")
}

pub(super) fn integer(span: Span) -> Diagnostic {
    Diagnostic::error(span, "integer does not fit into 64 bits")
        .label("too large")
        .help("use a number between -9223372036854775808 and 9223372036854775807, or quote it to make it text")
}

pub(super) fn key(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(span, message)
        .label("not a key")
        .help("for example: `key: value`; quote text that starts with `{`, `[`, `?` or `:`")
}

pub(super) fn duplicate(key: &Spanned<String>, first: Span) -> Diagnostic {
    let help = if key.value == "..." {
        "spread one document; try `let` with `merge(a, b)` to join two"
    } else {
        "remove one of the two"
    };
    Diagnostic::error(key.span, format!("duplicate key {}", quote(&key.value)))
        .label("second occurrence")
        .also(first, "first occurrence")
        .help(help)
}

pub(super) fn trailing_comma(span: Span) -> Diagnostic {
    Diagnostic::error(span, "trailing comma before `}`")
        .label("YAML drops this comma")
        .help("remove it, or quote the text that it belongs to: { path: \"<a>,<b>,\" }")
}

/// `text` at `span` is a call that a comma splits.
pub(super) fn cut_by_comma(text: &str, span: Span) -> Diagnostic {
    Diagnostic::error(span, "a comma inside of { } ends the entry")
        .label("split at the comma")
        .help(format!("quote the whole text: {}", quote(&format!("\"{text}\""))))
}

/// `text` at `span` is a key with a bracket in it.
pub(super) fn key_with_bracket(text: &str, span: Span) -> Diagnostic {
    Diagnostic::error(span, "a bracket inside of { } starts a list")
        .label("parsed as a key and a list")
        .help(format!("quote the whole key: {}", quote(&format!("\"{text}\""))))
}

pub(super) fn key_without_colon(key: &Spanned<String>) -> Diagnostic {
    let shown = quote(&key.value);
    let (message, help) = match key.value.split_once(':') {
        Some((before, after)) => (
            format!("missing value of key {shown}"),
            format!("write a space after the colon: {}", quote(&format!("{before}: {after}"))),
        ),
        None => (
            format!("missing value of key {shown}: a comma inside of {{ }} starts an entry"),
            match key.value.split_once(' ') {
                Some((word, rest)) => format!(
                    "write a colon after the key: {}; or quote text that contains a comma",
                    quote(&format!("{word}: {rest}"))
                ),
                None => "write `key: value`; quote text that contains a comma: { page: \"uniform(1, 3)\" }".to_owned(),
            },
        ),
    };
    Diagnostic::error(key.span, message).label("parsed as a key").help(help)
}
