//! `docshape summary`.

use std::path::{Path, PathBuf};

use crate::report::{Markdown, NamedRun, Report};
use crate::results::{self, RUN_FILE};

use super::argument::SummaryArguments;
use super::exit::{CliError, Exit};
use super::output;
use super::report::written;

/// Prints one page over the runs in a folder's subfolders, in the order of their names.
///
/// # Errors
/// When the folder contains no run, or a run cannot be read.
pub fn summary(arguments: &SummaryArguments) -> Result<Exit, CliError> {
    let load = |(name, folder): (String, PathBuf)| Ok(NamedRun { name, record: results::load(&folder)? });
    let runs = runs_in(&arguments.folder)?.into_iter().map(load).collect::<Result<Vec<_>, CliError>>()?;
    output::print(&written(&Markdown, &Report::of_runs(&runs)))?;
    Ok(Exit::Success)
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
