//! What to do about text that is no YAML.

use granit_parser::{ErrorKind, ScanError};

use crate::scenario::node::quote;
use crate::scenario::{Diagnostic, Span};

/// The parser's problem, with advice. The parser stops at the first one, so a file has at most one of these.
pub(super) fn diagnostic(error: &ScanError, text: &str) -> Diagnostic {
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
        ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => {
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
