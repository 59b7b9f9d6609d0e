//! Finding a `mongod` program on this machine.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::KindedError;

/// Where `docshape server install` puts its program, below the data home.
const INSTALLED: &str = "docshape/mongod/6.0.5/mongod";

/// Why there is no `mongod` to start.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// A program was named and cannot be used.
    #[error("{origin} names {}, which is no program that can be run; {}", path.display(), WAYS)]
    NotAProgram {
        /// Who named it: the option or the environment variable.
        origin: &'static str,
        /// What it named.
        path: PathBuf,
    },
    /// None was named, installed or on the path.
    #[error("no mongod was found (DOCSHAPE_MONGOD, the installed one, PATH); {}", WAYS)]
    Missing,
}

const WAYS: &str = "to get a server: run `docshape server install`, or run docshape with one in \
                    containers (`docker compose run --rm docshape run SCENARIO`), or use any replica set or sharded cluster with MONGODB_URI";

/// The environment variable that names the program.
const VARIABLE: &str = "DOCSHAPE_MONGOD";

/// Finds the program: the first of the command line's (with the option's name), that of `DOCSHAPE_MONGOD` (empty counts as unset), the
/// one installed below the folder for a user's data, and `mongod` in the folders of `PATH`. `value` has the environment.
///
/// A program that was named and cannot be run is an error, never a reason to take another one.
pub fn locate(
    argument: Option<(&'static str, &Path)>,
    value: impl Fn(&'static str) -> Option<OsString>,
) -> Result<PathBuf, LocateError> {
    let variable = value(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some((origin, path)) = argument.or(variable.as_deref().map(|path| (VARIABLE, path))) {
        return usable(path).ok_or_else(|| LocateError::NotAProgram { origin, path: path.to_owned() });
    }
    let home = data_home(value("XDG_DATA_HOME"), value("HOME"));
    let installed = home.and_then(|folder| usable(&folder.join(INSTALLED)));
    let on_path = || {
        // An empty entry of PATH would mean the current folder, which is no place for a server program.
        let path = value("PATH")?;
        let mut folders = std::env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty());
        folders.find_map(|folder| usable(&folder.join("mongod")))
    };
    installed.or_else(on_path).ok_or(LocateError::Missing)
}

/// The folder for a user's data, from the values of `XDG_DATA_HOME` and `HOME`; a relative one does not count.
fn data_home(xdg_data_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let xdg = xdg_data_home.map(PathBuf::from).filter(|path| path.is_absolute());
    xdg.or_else(|| home.filter(|home| !home.is_empty()).map(|home| Path::new(&home).join(".local/share")))
}

/// The absolute path, when there is a file that may be run.
fn usable(path: &Path) -> Option<PathBuf> {
    let metadata = path.metadata().ok()?;
    let runnable = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
    runnable.then(|| std::path::absolute(path).ok())?
}

impl KindedError for LocateError {}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn program(path: PathBuf) -> PathBuf {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn the_first_place_wins() {
        let folder = tempfile::tempdir().unwrap();
        let flag = program(folder.path().join("flag/mongod"));
        let variable = program(folder.path().join("variable/mongod"));
        let installed = program(folder.path().join("home").join(INSTALLED));
        let on_path = program(folder.path().join("bin/mongod"));
        let path_value = format!("/nonexistent::{}", folder.path().join("bin").display());
        let find = |argument: Option<(&'static str, &Path)>, variable: &str, home: &str| {
            let value = |name| match name {
                VARIABLE => Some(variable.into()),
                "XDG_DATA_HOME" => Some(folder.path().join(home).into()),
                "PATH" => Some((&path_value).into()),
                _ => None,
            };
            locate(argument, value).unwrap()
        };
        let variable_text = variable.to_str().unwrap();
        assert_eq!(find(Some(("--mongod", &flag)), variable_text, "home"), flag);
        assert_eq!(find(None, variable_text, "home"), variable);
        assert_eq!(find(None, "", "home"), installed);
        assert_eq!(find(None, "", "missing"), on_path);
    }

    #[test]
    fn a_named_program_that_cannot_run_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        program(folder.path().join(INSTALLED));
        let plain = folder.path().join("plain");
        fs::write(&plain, "text").unwrap();
        let value = |name: &'static str| (name == "XDG_DATA_HOME").then(|| folder.path().into());
        let text = locate(Some(("--mongod", &plain)), value).unwrap_err().to_string();
        assert!(text.starts_with("--mongod names") && text.contains("plain"), "{text}");
        let value = |name: &'static str| value(name).or((name == VARIABLE).then(|| "/nonexistent/mongod".into()));
        let text = locate(None, value).unwrap_err().to_string();
        assert!(text.starts_with("DOCSHAPE_MONGOD names /nonexistent/mongod"), "{text}");
    }

    #[test]
    fn when_there_is_none_the_three_ways_are_named() {
        let text = locate(None, |_| None).unwrap_err().to_string();
        for way in ["docshape server install", "docker compose run", "MONGODB_URI"] {
            assert!(text.contains(way), "{text}");
        }
    }

    #[test]
    fn the_data_home_follows_the_xdg_rules() {
        let home = || Some("/home/ann".into());
        assert_eq!(data_home(Some("/data".into()), home()), Some(PathBuf::from("/data")));
        assert_eq!(data_home(Some("data".into()), home()), Some(PathBuf::from("/home/ann/.local/share")));
        assert_eq!(data_home(None, None), None);
    }
}
