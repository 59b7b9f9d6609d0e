//! The temporary folder of an embedded server, and the removal of folders that dead runs left behind.
//!
//! A folder belongs to a living process as long as its `owner` file is locked. The kernel lets go of the lock when the
//! process ends in any way, so that a reused process id, or a process of another container that shares the
//! temporary folder, is never mistaken. The process id and start time inside the file are for human readers.
//!
//! A process may be killed at any moment, so a folder's name says what it is, whatever is left inside: it has a hidden
//! name until it is locked, and a doomed one from the moment at which its removal begins.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::process::start_time;

const PREFIX: &str = "docshape-mongod-";
const FRESH: &str = ".docshape-mongod-";
const DOOMED: &str = "docshape-mongod-doomed-";
const OWNER: &str = "owner";
/// Folders to create before giving up: a sweep of another process may take one that is not locked yet.
const ATTEMPTS: usize = 20;

/// A folder of this process, removed with everything in it when dropped.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Holds the lock until this value is gone.
    _owner: File,
}

impl Folder {
    /// Makes `docshape-mongod-<pid>-<random>` inside `parent`, which only this user can open: `mongod` has no access control.
    pub(super) fn create(parent: &Path) -> io::Result<Self> {
        let parent = std::path::absolute(parent)?;
        for _ in 1..ATTEMPTS {
            match Self::create_once(&parent) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && parent.is_dir() => {}
                created => return created,
            }
        }
        Self::create_once(&parent)
    }

    fn create_once(parent: &Path) -> io::Result<Self> {
        let pid = std::process::id();
        let mut builder = tempfile::Builder::new();
        builder.permissions(Permissions::from_mode(0o700));
        let fresh = builder.prefix(&format!("{FRESH}{pid}-")).tempdir_in(parent)?;
        let mut owner = File::create(fresh.path().join(OWNER))?;
        owner.lock()?;
        writeln!(owner, "pid {pid}\nstart {}", start_time(pid.into()).unwrap_or_default())?;
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
        discard(&self.path)
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
        if is_dead(&entry.path()) {
            let _ = discard(&entry.path());
        }
    }
}

/// Gives a folder its doomed name and removes it, or what an earlier call left of it. If another process was
/// faster, nothing is left to do.
fn discard(folder: &Path) -> io::Result<()> {
    let Some((_, id)) = folder_name(folder) else { return Ok(()) };
    let doomed = folder.with_file_name(format!("{DOOMED}{id}"));
    if folder != doomed {
        unless_missing(fs::rename(folder, &doomed))?;
    }
    unless_missing(fs::remove_dir_all(&doomed))
}

fn unless_missing(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Whether this is a folder of ours without a living owner.
fn is_dead(folder: &Path) -> bool {
    // Links are not followed: in a shared temporary folder others may put them there.
    let is_folder = || folder.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    match folder_name(folder) {
        Some((DOOMED, _)) => is_folder(),
        Some(_) => is_folder() && !is_owned(folder),
        None => false,
    }
}

/// Whether a living process owns a folder, or may own it.
fn is_owned(folder: &Path) -> bool {
    let owner = folder.join(OWNER);
    match owner.symlink_metadata() {
        // Its process died before it wrote the file, or has not written it yet, and will create another folder.
        Err(error) => error.kind() != io::ErrorKind::NotFound,
        Ok(metadata) => !metadata.is_file() || !File::open(owner).is_ok_and(|file| file.try_lock().is_ok()),
    }
}

/// The prefix of a folder's name, and its `<pid>-<random>`; `None` for the folders of others.
fn folder_name(folder: &Path) -> Option<(&'static str, &str)> {
    let name = folder.file_name()?.to_str()?;
    let prefix = [DOOMED, PREFIX, FRESH].into_iter().find(|prefix| name.starts_with(prefix))?;
    let id = &name[prefix.len()..];
    let (pid, random) = id.split_once('-')?;
    let is_ours = pid.parse::<u32>().is_ok() && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_ours.then_some((prefix, id))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

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
        assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(folder.path().join("data"), "x").unwrap();
        drop(folder);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn sweeping_removes_whatever_a_kill_can_leave() {
        let parent = tempfile::tempdir().unwrap();
        let left = |name: &str, files: &[&str]| {
            fs::create_dir_all(parent.path().join(name).join("data")).unwrap();
            files.iter().for_each(|file| fs::write(parent.path().join(name).join(file), "pid 1\n").unwrap());
        };
        left(".docshape-mongod-1-abcdef", &[]);
        left(".docshape-mongod-2-abcdef", &[OWNER]);
        left("docshape-mongod-3-abcdef", &[OWNER, "data/a"]);
        // Its removal began without the doomed name and got as far as the owner.
        left("docshape-mongod-4-abcdef", &["data/a"]);
        left("docshape-mongod-doomed-5-abcdef", &["data/a"]);
        left("docshape-mongod-doomed-6-abcdef", &[OWNER]);
        let doomed_by_the_living = File::open(parent.path().join("docshape-mongod-doomed-6-abcdef/owner")).unwrap();
        doomed_by_the_living.lock().unwrap();
        sweep(parent.path());
        let entries: Vec<_> = fs::read_dir(parent.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert!(entries.is_empty(), "{entries:?}");
    }

    #[test]
    fn sweeping_spares_the_living_and_strangers() {
        let parent = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let living = Folder::create(parent.path()).unwrap();
        let place = |name: &str| parent.path().join(name);
        let fresh = place(".docshape-mongod-1-abcdef");
        let strangers = ["other-tool", "docshape-mongod-backup", "docshape-mongod-2-abc.def", "docshape-mongod-doomed"];
        let with_linked_owner = place("docshape-mongod-4-abcdef");
        for folder in strangers.map(place).iter().chain([&fresh, &with_linked_owner]) {
            fs::create_dir(folder).unwrap();
        }
        for folder in strangers.map(place).iter().chain([&fresh, &outside.path().to_owned()]) {
            fs::write(folder.join(OWNER), "pid 1\n").unwrap();
        }
        let fresh_owner = File::open(fresh.join(OWNER)).unwrap();
        fresh_owner.lock().unwrap();
        let links = ["docshape-mongod-3-link", "docshape-mongod-doomed-3-link"].map(place);
        links.iter().for_each(|link| symlink(outside.path(), link).unwrap());
        symlink(outside.path().join(OWNER), with_linked_owner.join(OWNER)).unwrap();
        sweep(parent.path());
        let kept = [living.path(), &fresh, outside.path(), &with_linked_owner].map(Path::to_owned);
        for kept in kept.into_iter().chain(strangers.map(place)).chain(links) {
            assert!(kept.exists(), "{}", kept.display());
        }
        assert!(outside.path().join(OWNER).exists());
    }

    #[test]
    fn sweeps_of_others_never_take_a_folder_that_is_being_created() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            let creating = scope.spawn(|| {
                for _ in 0..200 {
                    let folder = Folder::create(parent.path()).unwrap();
                    fs::write(folder.path().join("data"), "x").expect("the folder is still there");
                }
            });
            while !creating.is_finished() {
                sweep(parent.path());
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
