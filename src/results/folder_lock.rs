//! The lock of a run folder, which one process has as long as it measures there.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::folder::FolderError;

/// The file that is locked, with the id of the process in it. It is removed with the lock.
pub(super) const LOCK_FILE: &str = ".docshape-lock";

/// The lock of a run folder. The kernel releases it when the process ends in any way; the file may then stay.
#[derive(Debug)]
pub struct FolderLock {
    path: PathBuf,
    _file: File,
}

impl FolderLock {
    /// Locks a folder, which exists.
    ///
    /// # Errors
    /// When another process has it, or the file cannot be written.
    pub fn take(folder: &Path) -> Result<FolderLock, FolderError> {
        let path = folder.join(LOCK_FILE);
        let refused = |source| FolderError::Refused(folder.to_owned(), source);
        loop {
            let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = open.map_err(refused)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let mut process = String::new();
                    let _ = file.read_to_string(&mut process);
                    return Err(FolderError::Locked(folder.to_owned(), process.trim().to_owned()));
                }
                Err(TryLockError::Error(error)) => return Err(refused(error)),
            }
            // The process that had it may have removed the file in between, and another made a new one.
            if is_same(&file, &path) {
                file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(refused)?;
                return Ok(FolderLock { path, _file: file });
            }
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // While it is locked, so that no other process's lock is removed. If the file stays, it is not locked.
        let _ = fs::remove_file(&self.path);
    }
}

fn is_same(file: &File, path: &Path) -> bool {
    let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (opened, present) = (file.metadata().map(id), fs::metadata(path).map(id));
    matches!((opened, present), (Ok(opened), Ok(present)) if opened == present)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_once_and_left_clean() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(LOCK_FILE), "a killed process\n").unwrap();
        let lock = FolderLock::take(folder.path()).unwrap();
        let error = FolderLock::take(folder.path()).unwrap_err().to_string();
        assert!(error.contains(&format!("is being measured by process {}", std::process::id())), "{error}");
        drop(lock);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        FolderLock::take(folder.path()).unwrap();
    }
}
