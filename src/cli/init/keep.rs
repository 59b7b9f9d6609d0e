//! `--keep-data`: real values, in a folder next to the scenario.

use std::fs;
use std::path::{Component, Path};

use tempfile::TempDir;

use crate::cli::answer::{ask_now, can_ask};
use crate::cli::exit::{CliError, write_error};
use crate::infer::inferred::Inferred;
use crate::report::{bytes, counted};

use super::InitArguments;

/// Files with real values, which are not in their folder before the scenario is there, too.
#[derive(Debug)]
pub struct KeptData {
    folder: String,
    names: Vec<String>,
    /// What they are, for the user.
    pub described: String,
    staged: TempDir,
}

/// The folder as the scenario will name it; `None` without `--keep-data`.
///
/// # Errors
/// When it is not inside of the current one, exists, or there is no terminal to confirm on.
pub fn folder(arguments: &InitArguments) -> Result<Option<String>, CliError> {
    let Some(path) = &arguments.keep_data else { return Ok(None) };
    let name = |part| if let Component::Normal(part) = part { part.to_str() } else { None };
    let parts: Option<Vec<&str>> = path.components().filter(|part| *part != Component::CurDir).map(name).collect();
    let shown = path.display();
    let Some(parts) = parts.filter(|parts| !parts.is_empty()) else {
        return Err(CliError::usage(format!(
            "--keep-data {shown}: the scenario finds the folder from its own; name one inside of this folder, for example shop.data"
        )));
    };
    if !arguments.force && path.exists() {
        return Err(CliError::usage(format!(
            "{shown} exists; choose another folder, or replace its files with --force"
        )));
    }
    if !arguments.yes && !can_ask() {
        return Err(CliError::usage(format!(
            "--keep-data copies real documents to {shown}, and there is no terminal to ask on; confirm with --yes"
        )));
    }
    Ok(Some(parts.join("/")))
}

impl KeptData {
    /// Writes the values into a temporary folder, if the user agrees; `None` if not.
    ///
    /// # Errors
    /// When there are no values, or they cannot be written.
    pub fn of(inferred: &Inferred, folder: &str, is_confirmed: bool) -> Result<Option<KeptData>, CliError> {
        let values = inferred.real_values();
        let (records, size) = values.iter().fold((0, 0), |(n, size), one| (n + one.records, size + one.text.len()));
        if records == 0 {
            return Err(CliError::usage("--keep-data: no field has values to copy; omit it"));
        }
        let described = format!("{} to {folder}/ ({})", counted(records, "real document"), bytes(size as f64));
        if !is_confirmed && ask_now(&format!("this copies {described}. Continue?")) != Some(true) {
            return Ok(None);
        }
        let failed = |error| write_error(Path::new(folder), &error);
        let staged = tempfile::Builder::new().prefix(".docshape").tempdir_in(".").map_err(failed)?;
        let inner = staged.path().join(folder);
        fs::create_dir_all(&inner).map_err(failed)?;
        let mut files: Vec<(String, &str)> = vec![(".gitignore".to_owned(), "*\n")];
        files.extend(values.iter().map(|one| (format!("{}.ndjson", one.entity), one.text.as_str())));
        files.iter().try_for_each(|(name, text)| fs::write(inner.join(name), text)).map_err(failed)?;
        let names = files.into_iter().map(|(name, _)| name).collect();
        Ok(Some(KeptData { folder: folder.to_owned(), names, described, staged }))
    }

    /// Where the files are for now: a folder that contains theirs.
    pub fn staged(&self) -> &Path {
        self.staged.path()
    }

    /// Moves the files to their place.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn place(&self) -> Result<(), CliError> {
        let folder = Path::new(&self.folder);
        let from = self.staged().join(folder);
        let moved = |name: &String| fs::rename(from.join(name), folder.join(name));
        let placed = fs::create_dir_all(folder).and_then(|()| self.names.iter().try_for_each(moved));
        placed.map_err(|error| write_error(folder, &error))
    }
}
