//! Runs kept under a name, so that later ones can be compared with them.

use std::fs;
use std::path::{Path, PathBuf};

use super::RunRecord;
use super::file::{ResultsError, load, save_as};

/// The folder of saved runs in that of a scenario's results.
pub const FOLDER: &str = "saved-runs";

/// The longest name of a saved run, in characters.
pub const LONGEST_NAME: usize = 64;

/// Returns the folder of a scenario's saved runs, which is in the folder of its results.
pub fn folder(results: &Path, scenario: &str) -> PathBuf {
    results.join(scenario).join(FOLDER)
}

/// Returns the names of the saved runs in a folder, sorted; none without the folder.
pub fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        files.filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".json")?.to_owned())).collect();
    names.sort();
    names
}

/// Whether a name is valid for a file on every system.
pub fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(fits) && !name.starts_with('.')
}

/// Returns the file of a saved run.
pub fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.json"))
}

/// Saves a run under a name. Returns whether it replaced an earlier one.
///
/// # Errors
/// When the file cannot be written.
pub fn keep(record: &RunRecord, folder: &Path, name: &str) -> Result<bool, ResultsError> {
    let path = file(folder, name);
    let had = path.is_file();
    fs::create_dir_all(folder).map_err(|source| ResultsError::Write(path.clone(), source))?;
    save_as(record, folder, &format!("{name}.json")).map(|()| had)
}

/// Reads a saved run.
///
/// # Errors
/// As [`load`].
pub fn open(folder: &Path, name: &str) -> Result<RunRecord, ResultsError> {
    load(&file(folder, name))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn saved_runs_are_kept_replaced_and_listed() {
        let root = tempfile::tempdir().unwrap();
        let folder = folder(root.path(), "blog");
        assert_eq!((folder.clone(), names(&folder).len()), (root.path().join("blog/saved-runs"), 0));
        assert!(!keep(&sample::run(&[1]), &folder, "v6.0").unwrap());
        assert!(keep(&sample::run(&[2]), &folder, "v6.0").unwrap());
        assert!(!keep(&sample::run(&[3]), &folder, "main").unwrap());
        assert_eq!(names(&folder), ["main", "v6.0"]);
        assert_eq!(open(&folder, "v6.0").unwrap(), sample::run(&[2]));
        assert!(open(&folder, "other").unwrap_err().to_string().contains("other.json"));
    }

    #[test]
    fn names_are_valid_for_files_everywhere() {
        assert!(["main", "v6.0", "a_b-C", "1"].into_iter().all(is_name));
        let long = "a".repeat(65);
        assert!(!["", ".", "..", ".a", "a/b", "a\\b", "a b", "é", "a:b", "a\n", &long].into_iter().any(is_name));
    }
}
