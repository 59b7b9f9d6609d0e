//! `docshape summary`.

use std::path::{Path, PathBuf};

use crate::report::{Markdown, NamedRun, PublishedResults, Report};
use crate::results::{self, CLAIMS_FILE, GROWTH_FILE, RUN_FILE, SWEEP_FILE};

use super::argument::SummaryArguments;
use super::exit::{CliError, Exit};
use super::output;
use super::report::written;

/// A folder with claims of several scenarios, each in a file of its own.
const CLAIMS_FOLDER: &str = "claims";

/// Prints one page over the runs in a folder's subfolders, in the order of their names.
///
/// # Errors
/// When the folder contains no run, or a run cannot be read.
pub fn summary(arguments: &SummaryArguments) -> Result<Exit, CliError> {
    if arguments.rules {
        return rules(&arguments.folder);
    }
    let load = |(name, folder): (String, PathBuf)| Ok(NamedRun { name, record: results::load(&folder)? });
    let runs = runs_in(&arguments.folder)?.into_iter().map(load).collect::<Result<Vec<_>, CliError>>()?;
    output::print(&written(&Markdown, &Report::of_runs(&runs)))?;
    Ok(Exit::Success)
}

/// Prints what all sweeps, growths and claims beneath a folder say.
fn rules(folder: &Path) -> Result<Exit, CliError> {
    let mut files = Vec::new();
    find_results(folder, folder, &mut files)?;
    files.sort();
    let mut found = PublishedResults::default();
    for path in files {
        let beneath = path.strip_prefix(folder).unwrap_or(&path);
        let place = beneath.parent().map_or_else(String::new, |place| place.display().to_string());
        match beneath.file_name().and_then(|name| name.to_str()) {
            Some(SWEEP_FILE) => found.sweeps.push((place, results::load_sweep(&path)?)),
            Some(GROWTH_FILE) => found.growths.push((place, results::load_growth(&path)?)),
            _ => found.claims.push(results::load_claims(&path)?),
        }
    }
    if found.sweeps.is_empty() && found.growths.is_empty() && found.claims.is_empty() {
        let (shown, claims) = (folder.display(), CLAIMS_FOLDER);
        return Err(CliError::usage(format!(
            "nothing beneath {shown} has rules: no {SWEEP_FILE}, no {GROWTH_FILE}, no {CLAIMS_FILE}, and no file in a folder {claims}"
        )));
    }
    output::print(&written(&Markdown, &Report::of_rules(&found)))?;
    Ok(Exit::Success)
}

/// Finds the files with rules beneath a folder; the runs of a sweep's points have none.
fn find_results(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let unreadable =
        |error: std::io::Error| CliError::usage(format!("cannot read the folder {}: {error}", folder.display()));
    let in_claims = folder != root && folder.file_name().is_some_and(|name| name == CLAIMS_FOLDER);
    for entry in folder.read_dir().map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            find_results(root, &path, files)?;
        } else if [SWEEP_FILE, GROWTH_FILE, CLAIMS_FILE].contains(&name) || (in_claims && name.ends_with(".json")) {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns name and path of every subfolder with a run.
fn runs_in(folder: &Path) -> Result<Vec<(String, PathBuf)>, CliError> {
    let shown = folder.display();
    let unreadable = |error: std::io::Error| CliError::usage(format!("cannot read the folder {shown}: {error}"));
    let mut runs = Vec::new();
    for entry in folder.read_dir().map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(name) = name.filter(|_| path.join(RUN_FILE).is_file()) {
            runs.push((name.to_owned(), path));
        }
    }
    runs.sort();
    if runs.is_empty() {
        return Err(CliError::usage(format!(
            "no folder in {shown} contains a {RUN_FILE}: name the folder whose subfolders are runs, such as the one that \
             scripts/publish-results.sh writes"
        )));
    }
    Ok(runs)
}
