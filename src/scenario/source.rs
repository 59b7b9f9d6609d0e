//! The text of a scenario and places in it.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use thiserror::Error;

/// The longest scenario file that is read, in bytes.
///
/// The largest of the catalogue has some 20 KB; a file beyond this is something else, given by mistake.
pub const MAX_SOURCE_BYTES: u64 = 1024 * 1024;

/// Byte offsets into the scenario's text: start inclusive, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The span from `start` to before `end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// Whether it covers no text, as the span of a value that was not written does.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `value`, standing at `span`.
    pub fn new(value: T, span: Span) -> Spanned<T> {
        Spanned { value, span }
    }
}

/// A scenario's text and the name to show for it in diagnostics.
#[derive(Debug, Clone)]
pub struct Source {
    /// File path as given, or the name of a catalogue scenario.
    pub path: String,
    /// The whole text.
    pub text: Arc<str>,
}

impl Source {
    /// A text that is already here, as those of the catalogue are.
    pub fn new(path: impl Into<String>, text: impl Into<Arc<str>>) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    /// Reads a scenario file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is longer than [`MAX_SOURCE_BYTES`], or is not UTF-8.
    pub fn load(path: &str) -> Result<Source, SourceError> {
        let unreadable = |source| SourceError::Unreadable { path: path.to_owned(), source };
        let file = File::open(path).map_err(unreadable)?;
        // The length is not asked of the file system: a device or a pipe has none.
        let mut bytes = Vec::new();
        file.take(MAX_SOURCE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > MAX_SOURCE_BYTES {
            return Err(SourceError::TooLong { path: path.to_owned() });
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
            SourceError::NotUtf8 { path: path.to_owned(), line }
        })?;
        Ok(Source::new(path, text))
    }
}

/// Why a scenario's text could not be had.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The file system refused.
    #[error("cannot read scenario file {path}: {source}; check the path, `docshape list` names the built-in scenarios")]
    Unreadable {
        /// The path as given.
        path: String,
        /// What the file system said.
        source: std::io::Error,
    },
    /// The bytes are no text.
    #[error("scenario file {path} is not UTF-8 text (first bad byte in line {line}); save it as UTF-8")]
    NotUtf8 {
        /// The path as given.
        path: String,
        /// The line of the first bad byte, from 1.
        line: usize,
    },
    /// More than a scenario can be.
    #[error("{path} is longer than 1 MiB and so no scenario file; check the path")]
    TooLong {
        /// The path as given.
        path: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_bytes(bytes: &[u8]) -> Result<Source, SourceError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scenario.yaml");
        std::fs::write(&path, bytes).unwrap();
        Source::load(path.to_str().unwrap())
    }

    #[test]
    fn loads_text_and_keeps_the_path_as_given() {
        let source = load_bytes("name: x\n".as_bytes()).unwrap();
        assert_eq!(&*source.text, "name: x\n");
        assert!(source.path.ends_with("scenario.yaml"));
    }

    #[test]
    fn names_the_line_of_the_first_byte_that_is_no_text() {
        let error = load_bytes(b"a: 1\nb: \xff\n").unwrap_err();
        assert!(error.to_string().contains("first bad byte in line 2"), "{error}");
    }

    #[test]
    fn refuses_what_is_too_long_to_be_a_scenario() {
        let error = load_bytes(&vec![b'#'; MAX_SOURCE_BYTES as usize + 1]).unwrap_err();
        assert!(matches!(error, SourceError::TooLong { .. }));
        assert!(load_bytes(&vec![b'#'; MAX_SOURCE_BYTES as usize]).is_ok());
    }

    #[test]
    fn a_missing_file_is_named_with_the_next_step() {
        let error = Source::load("no/such/scenario.yaml").unwrap_err().to_string();
        assert!(error.contains("no/such/scenario.yaml") && error.contains("docshape list"), "{error}");
    }
}
