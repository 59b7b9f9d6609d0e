//! What to do about text that is no YAML, and about YAML that a scenario may not hold.

use granit_parser::{ErrorKind, ScanError};

use crate::scenario::quote;
use crate::scenario::{Diagnostic, Span, Spanned};

/// The parser's problem, with advice. The parser stops at the first one, so a file has at most one of these.
pub(super) fn syntax(error: &ScanError, text: &str) -> Diagnostic {
    let start = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
    let length = text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    let reason = match error.kind() {
        ErrorKind::UnexpectedCharacter { character } => {
            format!("text cannot begin with {}", quote(&character.to_string()))
        }
        kind => kind.to_string(),
    };
    Diagnostic::error(Span::new(start, start + length), format!("not valid YAML: {reason}"))
        .label("the reader got stuck here")
        .help(help(error.kind()))
}

fn help(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => "indent with spaces",
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::DocumentIndicatorInQuotedScalar => {
            "close the quote; inside '...' write '' for one quote, inside \"...\" write \\\""
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            "an expression that begins with a quote is quoted as a whole: '\"page \" + string(page)'"
        }
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofImplicitFlowMapping
        | ErrorKind::MismatchedFlowCollectionEnd { .. }
        | ErrorKind::MisplacedFlowCollectionEnd => "every `{` needs its `}` and every `[` its `]`",
        ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::ExpectedFlowSequenceSeparator => {
            "separate entries by commas and close every bracket; quote text that holds brackets, quotes or commas"
        }
        ErrorKind::MappingValueNotAllowed
        | ErrorKind::InvalidColonPlacement
        | ErrorKind::InvalidMappingValueWhitespace
        | ErrorKind::FlowMappingValueAdjacentCollection => {
            "quote text with a colon and a space in it: \"a ? b : c\"; else check the indentation"
        }
        ErrorKind::UnexpectedCharacter { .. } => "put the whole text in quotes",
        ErrorKind::UnknownQuotedScalarEscape => "use '...', where a backslash is only a backslash, or write it twice",
        _ => "entries of one mapping or list begin in one column; quote text with special characters",
    }
}

pub(super) fn nothing() -> Diagnostic {
    Diagnostic::error(Span::default(), "the file is empty")
        .help("a scenario begins with `format: 1`; `docshape list` names scenarios to start from")
}

pub(super) fn second_document(span: Span) -> Diagnostic {
    Diagnostic::error(span, "a second YAML document begins here")
        .label("second document")
        .help("a file holds one scenario: remove the `---`, or move what follows to a file of its own")
}

pub(super) fn depth(span: Span, most: usize) -> Diagnostic {
    Diagnostic::error(span, format!("more than {most} lists and mappings stand in each other"))
        .label("too deep")
        .help("check for brackets that are never closed, or flatten this part")
}

pub(super) fn anchor(span: Span) -> Diagnostic {
    Diagnostic::error(span, "anchors are not part of the scenario format")
        .label("an anchor")
        .help("quote text that begins with `&`; to share steps between strategies use `like`")
}

pub(super) fn alias(span: Span) -> Diagnostic {
    Diagnostic::error(span, "aliases are not part of the scenario format")
        .label("an alias")
        .help("quote text that begins with `*`; to share steps between strategies use `like`")
}

pub(super) fn tag(span: Span) -> Diagnostic {
    Diagnostic::error(span, "tags of YAML are not part of the scenario format")
        .label("read as a tag")
        .help("quote an expression that begins with `!`: \"!found\"; write BSON types as Extended JSON: { $oid: ... }")
}

pub(super) fn integer(span: Span) -> Diagnostic {
    Diagnostic::error(span, "this integer does not fit into 64 bits")
        .label("too large")
        .help("use a number of at most 9223372036854775807 either way, or quote it to make it text")
}

pub(super) fn key(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(span, message)
        .label("not a key")
        .help("write `key: value`; quote text that begins with `{`, `[`, `?` or `:`")
}

pub(super) fn duplicate(key: &Spanned<String>, first: Span) -> Diagnostic {
    let help = if key.value == "..." {
        "spread one document here; join two before with `let` and `merge(a, b)`"
    } else {
        "keep one of the two"
    };
    Diagnostic::error(key.span, format!("the key {} stands twice in one mapping", quote(&key.value)))
        .label("again here")
        .also(first, "first here")
        .help(help)
}

pub(super) fn trailing_comma(span: Span) -> Diagnostic {
    Diagnostic::error(span, "a comma before `}` would be lost")
        .label("trailing comma")
        .help("remove it; if it belongs to the text, quote the text: { path: \"<a>,<b>,\" }")
}

/// `text` at `span` is a call that a comma cut in pieces.
pub(super) fn cut_by_comma(text: &str, span: Span) -> Diagnostic {
    Diagnostic::error(span, "a comma inside { } ends an entry, and this text has one")
        .label("cut in pieces at the comma")
        .help(format!("quote the whole text: {}", quote(&format!("\"{text}\""))))
}

/// `text` at `span` is a key with a bracket in it.
pub(super) fn key_with_bracket(text: &str, span: Span) -> Diagnostic {
    Diagnostic::error(span, "inside { } a bracket begins a list, even in a key")
        .label("read as a key and a list")
        .help(format!("quote the whole key: {}", quote(&format!("\"{text}\""))))
}

pub(super) fn key_without_colon(key: &Spanned<String>) -> Diagnostic {
    let shown = quote(&key.value);
    let (message, help) = match key.value.split_once(':') {
        Some((before, after)) => (
            format!("{shown} is a key without a value"),
            format!("write a space after the colon: {}", quote(&format!("{before}: {after}"))),
        ),
        None => (
            format!("{shown} is a key without a value: a comma inside {{ }} begins a new entry"),
            "quote text with a comma in it: { page: \"uniform(1, 3)\" }".to_owned(),
        ),
    };
    Diagnostic::error(key.span, message).label("read as a key").help(help)
}
