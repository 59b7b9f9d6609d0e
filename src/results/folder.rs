//! Run folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{ErrorKind, KindedError};

/// A folder that cannot take a run.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It cannot be created or written to.
    #[error("cannot write into {}: {source}; choose another folder", path.display())]
    Refused {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is something in it.
    #[error("{} is not empty; choose a new folder, so that results are not mixed", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
}

/// Creates an empty folder and proves that files can be written there, before anything is measured. Returns whether the
/// folder is new.
///
/// # Errors
/// When it cannot be created or written to, or is not empty.
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

impl KindedError for FolderError {
    fn kind(&self) -> ErrorKind {
        match self {
            FolderError::Refused { .. } => ErrorKind::Environment,
            FolderError::NotEmpty { .. } => ErrorKind::Input,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_created_with_their_parents_and_left_empty() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a").join("b");
        create(&path).unwrap();
        create(&path).unwrap();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_in_use_is_rejected_and_unchanged() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("notes"), "mine").unwrap();
        let error = create(root.path()).unwrap_err();
        assert!(matches!(&error, FolderError::NotEmpty { path } if path == root.path()), "{error}");
        assert_eq!(fs::read_to_string(root.path().join("notes")).unwrap(), "mine");
    }

    #[test]
    fn files_and_impossible_places_are_rejected() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        // Where even root may not write.
        for path in [file.as_path(), &file.join("below"), Path::new("/proc/docshape")] {
            let error = create(path).unwrap_err();
            assert!(matches!(error, FolderError::Refused { .. }), "{error}");
            assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        }
    }

    #[test]
    fn stamps_are_utc_seconds_without_colons() {
        assert_eq!(stamp(1_795_225_320_250), "2026-11-21T01-42-00Z");
        assert_eq!(stamp(-1), "1969-12-31T23-59-59Z");
    }
}
