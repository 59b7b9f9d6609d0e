//! Run folders.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::error::{ErrorKind, KindedError};

use super::folder_lock::{FolderLock, LOCK_FILE};

/// A folder that cannot take a run.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It cannot be created or written to, and why.
    #[error("cannot write into {path}: {1}; choose another folder", path = .0.display())]
    Refused(PathBuf, #[source] io::Error),
    /// Another process measures in it: its id.
    #[error("the run in {path} is being measured by process {1}; wait for its end, or choose another folder", path = .0.display())]
    Locked(PathBuf, String),
    /// There is something in it.
    #[error("{} is not empty; choose a new folder, so that results are not mixed", .0.display())]
    NotEmpty(PathBuf),
}

/// An empty folder that this process has locked; removed when it is new and nothing was written into it.
#[derive(Debug)]
pub struct NewFolder {
    path: PathBuf,
    is_new: bool,
    lock: Option<FolderLock>,
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        self.lock = None;
        if self.is_new {
            // One with results in it cannot be removed like this.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Creates and locks an empty folder, which proves that files can be written there, before anything is measured.
///
/// # Errors
/// When it cannot be created or written to, is not empty, or another process measures in it.
pub fn create(path: &Path) -> Result<NewFolder, FolderError> {
    let refused = |source| FolderError::Refused(path.to_owned(), source);
    let is_new = !path.exists();
    fs::create_dir_all(path).map_err(refused)?;
    if holds_files(path).map_err(refused)? {
        // It says more of a run that is alive.
        FolderLock::take(path)?;
        return Err(FolderError::NotEmpty(path.to_owned()));
    }
    let lock = FolderLock::take(path)?;
    Ok(NewFolder { path: path.to_owned(), is_new, lock: Some(lock) })
}

/// Whether a folder has files other than the lock that a killed run may have left.
fn holds_files(path: &Path) -> io::Result<bool> {
    let mut entries = fs::read_dir(path)?;
    Ok(entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != LOCK_FILE)))
}

/// A moment as `2026-01-31T12-00-00Z`, fit for a folder's name on every system.
pub fn stamp(millis: i64) -> String {
    let seconds = millis.div_euclid(1_000) * 1_000;
    bson::DateTime::from_millis(seconds).try_to_rfc3339_string().unwrap_or_default().replace(':', "-")
}

impl KindedError for FolderError {
    fn kind(&self) -> ErrorKind {
        if matches!(self, FolderError::Refused(..)) { ErrorKind::Environment } else { ErrorKind::Input }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_created_with_their_parents_and_locked() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a").join("b");
        let created = create(&path).unwrap();
        assert!(matches!(create(&path), Err(FolderError::Locked(..))));
        fs::write(path.join("results"), "").unwrap();
        drop(created);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1);
        fs::remove_file(path.join("results")).unwrap();
        drop(create(&path).unwrap());
        assert!(path.exists(), "it was there before");
        drop(create(&path.join("c")).unwrap());
        assert!(!path.join("c").exists());
    }

    #[test]
    fn a_folder_in_use_is_rejected_and_unchanged() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("notes"), "mine").unwrap();
        let error = create(root.path()).unwrap_err();
        assert!(matches!(&error, FolderError::NotEmpty(path) if path == root.path()), "{error}");
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
            assert!(matches!(error, FolderError::Refused(..)), "{error}");
            assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        }
    }

    #[test]
    fn stamps_are_utc_seconds_without_colons() {
        assert_eq!(stamp(1_795_225_320_250), "2026-11-21T01-42-00Z");
        assert_eq!(stamp(-1), "1969-12-31T23-59-59Z");
    }
}
