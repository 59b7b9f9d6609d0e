//! What is read, whatever the source.

use bson::{Bson, RawDocumentBuf};

use crate::cli::exit::CliError;
use crate::infer::sample::{CollectionSample, Probe};

use super::files::Files;
use super::live::Live;

/// Documents of one collection at most, and bytes of them.
pub const MOST_DOCUMENTS: usize = 1_000;
/// See [`MOST_DOCUMENTS`].
pub const MOST_BYTES: usize = 32 << 20;

/// A database that is read.
#[derive(Debug)]
pub enum InitSource {
    /// From a server.
    Live(Box<Live>),
    /// From files.
    Files(Files),
}

/// What was read of it.
#[derive(Debug, Default)]
pub struct Read {
    /// The collections.
    pub samples: Vec<CollectionSample>,
    /// What was left out, and why.
    pub left_out: Vec<String>,
    /// Where it was read, for the first line of the summary.
    pub described: String,
}

impl InitSource {
    /// Finds out what `--from` means.
    ///
    /// # Errors
    /// When it is neither a connection string with a database nor files.
    pub fn of(text: &str) -> Result<InitSource, CliError> {
        let lower = text.to_ascii_lowercase();
        if lower.starts_with("mongodb://") || lower.starts_with("mongodb+srv://") {
            return Live::connect(text).map(|live| InitSource::Live(Box::new(live)));
        }
        if text.contains("://") {
            return Err(CliError::usage(
                "--from: only mongodb:// and mongodb+srv:// are read; otherwise name a folder or files",
            ));
        }
        Files::find(text).map(InitSource::Files)
    }

    /// Reads the samples.
    ///
    /// # Errors
    /// When nothing can be read.
    pub fn read(&mut self, patterns: &[String]) -> Result<Read, CliError> {
        match self {
            InitSource::Live(live) => live.read(patterns),
            InitSource::Files(files) => files.read(patterns),
        }
    }
}

impl InitSource {
    /// The name of the database, as far as the source has it.
    pub fn database(&self) -> Option<&str> {
        match self {
            InitSource::Live(live) => Some(live.database()),
            InitSource::Files(files) => files.database(),
        }
    }
}

impl Probe for InitSource {
    fn contained(&mut self, collection: &str, field: &str, values: &[Bson]) -> Option<u64> {
        let InitSource::Live(live) = self else { return None };
        live.contained(collection, field, values)
    }

    fn occurrences(&mut self, collection: &str, path: &str, array: Option<&str>, values: &[Bson]) -> Option<Vec<u64>> {
        let InitSource::Live(live) = self else { return None };
        live.occurrences(collection, path, array, values)
    }

    fn records(&mut self, collection: &str, ids: &[Bson]) -> Vec<RawDocumentBuf> {
        let InitSource::Live(live) = self else { return Vec::new() };
        live.records(collection, ids)
    }
}

/// Whether a name is chosen by patterns; without any, all are.
pub fn is_chosen(name: &str, patterns: &[String]) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| fits(name.as_bytes(), pattern.as_bytes()))
}

/// Whether a name fits a pattern with `*`.
fn fits(name: &[u8], pattern: &[u8]) -> bool {
    match (pattern.first(), name.first()) {
        (None, None) => true,
        (Some(b'*'), _) => fits(name, &pattern[1..]) || !name.is_empty() && fits(&name[1..], pattern),
        (Some(a), Some(b)) => a == b && fits(&name[1..], &pattern[1..]),
        _ => false,
    }
}

/// Why a collection is left out by its name.
pub fn why_left_out(name: &str) -> Option<&'static str> {
    if name.starts_with("system.") {
        return Some("a collection of the server");
    }
    let is_chunks = name.ends_with(".chunks");
    (is_chunks || name.ends_with(".files")).then_some("files in GridFS")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_choose_collections() {
        let patterns = ["a".to_owned(), "log_*".to_owned(), "*x*".to_owned()];
        for (name, is) in
            [("a", true), ("ab", false), ("log_", true), ("log_2026", true), ("dog_1", false), ("yxz", true)]
        {
            assert_eq!(is_chosen(name, &patterns), is, "{name}");
        }
        assert!(is_chosen("any", &[]));
    }
}
