//! The temporary folder of an embedded server, and the removal of folders that dead runs left behind.
//!
//! A folder belongs to a living process as long as its `owner` file is locked. The kernel lets go of the lock when the
//! process ends in any way, so that a reused process id, or a process of another container that shares the
//! temporary folder, is never mistaken. The process id and start time inside the file are for human readers.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const PREFIX: &str = "docshape-mongod-";
const OWNER: &str = "owner";

/// A folder of this process, removed with everything in it when dropped.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Holds the lock until this value is gone.
    _owner: File,
}

impl Folder {
    /// Makes `docshape-mongod-<pid>-<random>` inside `parent`, readable by this user only.
    pub(super) fn create(parent: &Path) -> io::Result<Self> {
        let parent = std::path::absolute(parent)?;
        let pid = std::process::id();
        // It gets its real name only when it is locked, so that it never looks abandoned.
        let fresh = tempfile::Builder::new().prefix(&format!(".{PREFIX}{pid}-")).tempdir_in(&parent)?;
        let mut owner = File::create(fresh.path().join(OWNER))?;
        owner.lock()?;
        writeln!(owner, "pid {pid}\nstart {}", start_time().unwrap_or_default())?;
        let hidden_name = fresh.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = parent.join(hidden_name.trim_start_matches('.'));
        fs::rename(fresh.path(), &path)?;
        let _ = fresh.keep();
        Ok(Self { path, _owner: owner })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folder now.
    pub(super) fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A failure cannot be reported any more; the next start tries again.
        let _ = self.remove();
    }
}

/// Removes the folders in `parent` whose owners are dead. A folder that cannot be judged or removed stays.
pub(super) fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if named && abandoned(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether this is a folder of ours without a living owner.
fn abandoned(folder: &Path) -> bool {
    let owner = folder.join(OWNER);
    let is = |path: &Path, is_kind: fn(&fs::FileType) -> bool| {
        path.symlink_metadata().is_ok_and(|metadata| is_kind(&metadata.file_type()))
    };
    // Links are not followed: in a shared temporary folder others may put them there.
    is(folder, fs::FileType::is_dir)
        && is(&owner, fs::FileType::is_file)
        && File::open(owner).is_ok_and(|file| file.try_lock().is_ok())
}

/// When this process started, in clock ticks since the machine did: field 22 of its `stat` file.
fn start_time() -> Option<String> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in parentheses and may contain spaces.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_names_its_owner_and_goes_when_dropped() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::create(parent.path()).unwrap();
        let name = folder.path().file_name().unwrap().to_str().unwrap().to_owned();
        assert!(name.starts_with(&format!("docshape-mongod-{}-", std::process::id())), "{name}");
        let owner = fs::read_to_string(folder.path().join(OWNER)).unwrap();
        let start: u64 = owner.lines().nth(1).unwrap().strip_prefix("start ").unwrap().parse().unwrap();
        assert!(owner.starts_with(&format!("pid {}\n", std::process::id())) && start > 0, "{owner}");
        fs::write(folder.path().join("data"), "x").unwrap();
        drop(folder);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn sweeping_spares_the_living_and_strangers() {
        let parent = tempfile::tempdir().unwrap();
        let living = Folder::create(parent.path()).unwrap();
        let dead = parent.path().join("docshape-mongod-1-abcdef");
        let unowned = parent.path().join("docshape-mongod-2-abcdef");
        let stranger = parent.path().join("other-tool");
        let outside = tempfile::tempdir().unwrap();
        for folder in [&dead, &unowned, &stranger] {
            fs::create_dir(folder).unwrap();
        }
        for folder in [&dead, &stranger, &outside.path().to_owned()] {
            fs::write(folder.join(OWNER), "pid 1\n").unwrap();
        }
        let link = parent.path().join("docshape-mongod-3-link");
        std::os::unix::fs::symlink(outside.path(), &link).unwrap();
        sweep(parent.path());
        assert!(!dead.exists());
        for kept in [living.path(), &unowned, &stranger, outside.path(), &link] {
            assert!(kept.exists(), "{}", kept.display());
        }
    }
}
