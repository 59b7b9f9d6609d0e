//! The text of a scenario, and spans of it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use crate::error::{ErrorKind, KindedError};

/// The largest scenario file in bytes. Scenarios of the catalogue are below 100 KB; a larger file is a mistake.
pub const MAX_SOURCE_BYTES: u64 = 1024 * 1024;

/// Byte offsets into the scenario's text: start inclusive, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Start and end of the place that uses the fragment in which the text is.
    used_at: Option<(usize, usize)>,
}

impl Span {
    /// The span from `start` to before `end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end, used_at: None }
    }

    /// The same text, in a fragment that is used at `place`.
    pub(crate) fn used_at(self, place: Span) -> Span {
        Span { used_at: Some((place.start, place.end)), ..self }
    }

    /// The place that uses the fragment in which the text is; `None` outside of fragments.
    pub(super) fn use_place(self) -> Option<Span> {
        self.used_at.map(|(start, end)| Span::new(start, end))
    }

    /// Another span in the same use of a fragment.
    pub(crate) fn with_ends(self, start: usize, end: usize) -> Span {
        Span { start, end, ..self }
    }

    /// Whether it covers no text, as the span of a missing value.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// A value with its span.
#[derive(Debug, Clone, PartialEq)]
pub struct Spanned<T> {
    /// What was read.
    pub value: T,
    /// The text that it covers.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// A value at `span`.
    pub fn new(value: T, span: Span) -> Spanned<T> {
        Spanned { value, span }
    }
}

/// The text of a scenario with the name that diagnostics show for it.
#[derive(Debug, Clone)]
pub struct Source {
    /// File path as given, or the name of a catalogue scenario.
    pub path: String,
    /// The whole text.
    pub text: Arc<str>,
}

impl Source {
    /// A text in memory, such as a scenario of the catalogue.
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
        // The file system does not know the length of a device or pipe.
        let mut bytes = Vec::new();
        file.take(MAX_SOURCE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > MAX_SOURCE_BYTES {
            return Err(SourceError::TooLong(path.to_owned()));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
            SourceError::NotUtf8(path.to_owned(), line)
        })?;
        Ok(Source::new(path, text))
    }
}

/// The lines of a scenario's text.
#[derive(Debug, Clone, Default)]
pub struct SourceLines {
    path: Arc<str>,
    /// The offset at which each line starts.
    starts: Arc<[usize]>,
}

impl SourceLines {
    /// Finds the lines of a text.
    pub fn new(source: &Source) -> SourceLines {
        let starts = source.text.match_indices('\n').map(|(end, _)| end + 1);
        SourceLines { path: Arc::from(source.path.as_str()), starts: std::iter::once(0).chain(starts).collect() }
    }

    /// Returns the folder of the file.
    pub(super) fn folder(&self) -> PathBuf {
        Path::new(&*self.path).parent().map(Path::to_owned).unwrap_or_default()
    }

    /// Returns the file and line of a place, as in `blog.yaml:12`.
    pub fn place(&self, span: Span) -> String {
        format!("{}:{}", self.path, self.starts.partition_point(|start| *start <= span.start))
    }
}

/// Why the text of a scenario could not be read.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The file could not be opened or read.
    #[error(
        "cannot read scenario file {path}: {source}; check the path, or try a built-in scenario of `docshape list`"
    )]
    Unreadable {
        /// The path as given.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is not text.
    ///
    /// Its path as given, and the line of the first invalid byte, from 1.
    #[error("scenario file {0} is not UTF-8 text (invalid byte in line {1}); save it as UTF-8")]
    NotUtf8(String, usize),
    /// The file of this path is larger than any scenario.
    #[error("{0} is larger than 1 MiB, the limit of scenario files; check the path")]
    TooLong(String),
}

impl KindedError for SourceError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }
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
    fn names_the_line_of_the_first_invalid_byte() {
        let error = load_bytes(b"a: 1\nb: \xff\n").unwrap_err();
        assert!(error.to_string().contains("invalid byte in line 2"), "{error}");
    }

    #[test]
    fn lines_are_counted_from_1() {
        let lines = SourceLines::new(&Source::new("x.yaml", "a: 1\nb: 2\n"));
        let places = [0, 4, 5, 9].map(|start| lines.place(Span::new(start, start + 1)));
        assert_eq!(places, ["x.yaml:1", "x.yaml:1", "x.yaml:2", "x.yaml:2"]);
    }

    #[test]
    fn rejects_large_files() {
        let error = load_bytes(&vec![b'#'; MAX_SOURCE_BYTES as usize + 1]).unwrap_err();
        assert!(matches!(error, SourceError::TooLong(_)));
        assert!(load_bytes(&vec![b'#'; MAX_SOURCE_BYTES as usize]).is_ok());
    }

    #[test]
    fn names_a_missing_file() {
        let error = Source::load("no/such/scenario.yaml").unwrap_err().to_string();
        assert!(error.contains("no/such/scenario.yaml") && error.contains("docshape list"), "{error}");
    }
}
