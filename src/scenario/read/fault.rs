//! Diagnostics of text that is not YAML, and of YAML that scenarios do not use.

use granit_parser::{ErrorKind, ScanError};

use crate::scenario::{Diagnostic, Span, Spanned, quote};

/// A syntax error with advice. The parser stops at the first one, so that a file has at most one of these.
pub(super) fn syntax(error: &ScanError, text: &str) -> Diagnostic {
    let start = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
    let length = text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    let reason = match error.kind() {
        ErrorKind::UnexpectedCharacter { character } => {
            format!("text cannot start with {}", quote(&character.to_string()))
        }
        kind => kind.to_string(),
    };
    Diagnostic::error(Span::new(start, start + length), format!("not valid YAML: {reason}"))
        .label("unexpected")
        .help(help(error.kind()))
}

fn help(kind: &ErrorKind) -> &'static str {
    use ErrorKind::*;
    match kind {
        TabNotAllowed | TabInBlockIndentation | TabInIndentation | TabAtBlockScalarStart | TabInPlainScalar => {
            "indent with spaces"
        }
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
            "quote text that contains a comma: { page: \"uniform(1, 3)\" }".to_owned(),
        ),
    };
    Diagnostic::error(key.span, message).label("parsed as a key").help(help)
}
