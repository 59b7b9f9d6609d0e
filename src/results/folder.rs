//! Run folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A folder that cannot hold a run.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It cannot be made or written to.
    #[error("cannot write into {}: {source}; choose another folder with --out", path.display())]
    Refused {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is something in it.
    #[error("{} is not empty; choose a new folder with --out, so that no results are mixed", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
}

/// Makes an empty folder and proves that files can be written there, before anything is measured. Gives whether it was
/// made now.
///
/// # Errors
/// When it cannot be made or written to, or holds something.
pub fn create(path: &Path) -> Result<bool, FolderError> {
    let refused = |source| FolderError::Refused { path: path.to_owned(), source };
    let is_new = !path.exists();
    fs::create_dir_all(path).map_err(refused)?;
    if fs::read_dir(path).map_err(refused)?.next().is_some() {
        return Err(FolderError::NotEmpty { path: path.to_owned() });
    }
    tempfile::NamedTempFile::new_in(path).map(|_| is_new).map_err(refused)
}

/// A moment as `2026-01-31T12-00-00Z`, fit for a folder's name on every system.
pub fn stamp(millis: i64) -> String {
    let seconds = millis.div_euclid(1_000) * 1_000;
    bson::DateTime::from_millis(seconds).try_to_rfc3339_string().unwrap_or_default().replace(':', "-")
}
