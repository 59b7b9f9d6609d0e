//! `docshape summary`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::argument::{ReportFormat, SummaryArguments};
use crate::cli::catalogue::SCENARIOS;
use crate::cli::exit::{CliError, Exit};
use crate::cli::output;
use crate::cli::report::in_format;
use crate::report::rule_source::RuleSource;
use crate::report::{HTML_FILE, MARKDOWN_FILE, Markdown, NamedRun, Report, Section, counted, plain};
use crate::results::{self, CLAIMS_FILE, ClaimsRecord, PUBLISHED_FILE, PublishedRecord, Status};
use crate::scenario::GROUPS;

use super::matrix::{Matrix, PlacedResult};
use super::publish;
use super::rules::PublishedResults;
use super::sessions;
use super::site::numbers::{self, NUMBERS_FILE};
use super::summary_file::published;

/// A folder with claims of several scenarios, each in a file of its own.
const CLAIMS_FOLDER: &str = "claims";

/// Prints one page over the published results beneath a folder and the runs in its subfolders, or over its rules of thumb.
///
/// # Errors
/// When the folder contains no result, or one cannot be read.
pub fn summary(arguments: &SummaryArguments, sources: &[RuleSource]) -> Result<Exit, CliError> {
    let (folder, format) = (&arguments.folder, arguments.format);
    let found = find(folder, sources)?;
    if arguments.sessions {
        return print_sessions(&found, folder, format);
    }
    if format == ReportFormat::Json {
        return Err(CliError::usage("--format json is of --sessions: add it"));
    }
    if arguments.rules {
        if found.rules.is_empty() {
            return Err(no_rules(folder, sources));
        }
        let rules = Report::of_rules(&found.results(sources, &|folder| format!("{folder}/{MARKDOWN_FILE}"))?);
        output::print(&in_format(&rules, format, true).unwrap_or_default())?;
        return Ok(Exit::Success);
    }
    let (results, runs) = (found.published()?, runs(&found)?);
    if results.is_empty() && runs.is_empty() {
        return Err(CliError::usage(format!(
            "nothing beneath {0} is a result: no {PUBLISHED_FILE}, and no subfolder of {0} is a run; name the folder that \
             docshape publish writes into, or one whose subfolders are runs",
            folder.display()
        )));
    }
    let usable = runs.iter().filter_map(|run| placed(&found.root, run));
    let results: Vec<PlacedResult> = results.into_iter().chain(usable).collect();
    let further = sessions::further(results.iter().map(|one| &one.record)).unwrap_or_default();
    let matrix = matrix(results);
    let numbers = if folder.join(NUMBERS_FILE).is_file() {
        numbers::markdown(&numbers::numbers(folder, &found.results(sources, &|_| String::new())?.rules())?, &further)
    } else {
        String::new()
    };
    let own = if runs.is_empty() { String::new() } else { format!("\n{}", Markdown.sections(&Report::of_runs(&runs))) };
    output::print(&[matrix.head(), numbers, matrix.to_string(), own].concat())?;
    Ok(Exit::Success)
}

/// The matrix of some results; those that are left out are named.
pub(super) fn matrix(results: Vec<PlacedResult>) -> Matrix {
    let matrix = Matrix::new(results, GROUPS, &SCENARIOS.map(|(name, _)| name));
    matrix.warnings.iter().for_each(|warning| output::message(&format!("warning: {warning}\n")));
    matrix
}

/// Prints how far sessions are apart over all published results.
fn print_sessions(found: &ResultFiles, folder: &Path, format: ReportFormat) -> Result<Exit, CliError> {
    let results = found.published()?;
    if results.is_empty() {
        return Err(CliError::usage(format!(
            "nothing beneath {} is a published result: no {PUBLISHED_FILE}; name the folder that docshape publish writes into",
            folder.display()
        )));
    }
    output::print(&match format {
        ReportFormat::Json => sessions::record(&results),
        _ => sessions::table(&sessions::spread(&results)),
    })?;
    Ok(Exit::Success)
}

/// The files beneath a folder that say something, in the order of their paths.
pub(super) struct ResultFiles {
    pub(super) root: PathBuf,
    /// Folders of published results.
    pub(super) published: Vec<PathBuf>,
    /// Subfolders of the root with a run that is not published.
    runs: Vec<PathBuf>,
    /// Files with rules; the runs of a sweep's points have none.
    pub(super) rules: Vec<PathBuf>,
}

pub(super) fn find(root: &Path, sources: &[RuleSource]) -> Result<ResultFiles, CliError> {
    let mut found = ResultFiles { root: root.to_owned(), published: Vec::new(), runs: Vec::new(), rules: Vec::new() };
    find_beneath(root, sources, &mut found)?;
    [&mut found.published, &mut found.runs, &mut found.rules].into_iter().for_each(|paths| paths.sort());
    Ok(found)
}

/// Finds what is beneath a folder. Links are not followed: they may lead in a circle.
fn find_beneath(folder: &Path, sources: &[RuleSource], found: &mut ResultFiles) -> Result<(), CliError> {
    let unreadable =
        |error: std::io::Error| CliError::usage(format!("cannot read the folder {}: {error}", folder.display()));
    let in_claims = folder != found.root && folder.file_name().is_some_and(|name| name == CLAIMS_FOLDER);
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_str().unwrap_or_default();
        if entry.file_type().map_err(unreadable)?.is_dir() {
            // Such as a folder of a publication that was cut short.
            if !name.starts_with('.') {
                find_beneath(&path, sources, found)?;
            }
        } else if name == PUBLISHED_FILE {
            found.published.push(folder.to_owned());
        } else if name == CLAIMS_FILE
            || sources.iter().any(|source| source.file == name)
            || (in_claims && name.ends_with(".json"))
        {
            found.rules.push(path);
        }
    }
    let is_run = folder.parent() == Some(&found.root) && results::is_run_folder(folder);
    if is_run && !folder.join(PUBLISHED_FILE).is_file() {
        found.runs.push(folder.to_owned());
    }
    Ok(())
}

impl ResultFiles {
    /// What all studies and claims beneath the folder say, with the address of the report in a folder.
    pub(super) fn results(
        &self,
        sources: &[RuleSource],
        report: &dyn Fn(&str) -> String,
    ) -> Result<PublishedResults, CliError> {
        let of_studies = |path: &&PathBuf| sources.iter().any(|source| source.file == name(path));
        let claims = self.rules.iter().filter(|path| !of_studies(path));
        let records = self.published.iter().filter(|folder| results::is_run_folder(folder));
        Ok(PublishedResults {
            studies: self.studies(sources, report, &|_| true)?,
            claims: claims.map(|path| results::load_as::<ClaimsRecord>(path)).collect::<Result<_, _>>()?,
            runs: records.map(|folder| results::load(folder)).collect::<Result<_, _>>()?,
        })
    }

    /// How many results each kind of study has, and what some of them say, with the address of the report in a folder.
    pub(super) fn studies(
        &self,
        sources: &[RuleSource],
        report: &dyn Fn(&str) -> String,
        is_meant: &dyn Fn(&Path) -> bool,
    ) -> Result<Vec<(String, Option<Section>)>, CliError> {
        let of_source = |source: &RuleSource| {
            let files = self.rules.iter().filter(|path| name(path) == source.file && is_meant(path));
            let placed = files.map(|path| (report(&place_of(path, &self.root)), path.clone()));
            let placed: Vec<(String, PathBuf)> = placed.collect();
            Ok((counted(placed.len() as u64, source.noun), (source.section)(&placed)?))
        };
        sources.iter().map(of_source).collect()
    }

    /// The published results.
    pub(super) fn published(&self) -> Result<Vec<PlacedResult>, CliError> {
        let load = |folder: &PathBuf| Ok(place(&self.root, folder, results::load_as::<PublishedRecord>(folder)?));
        self.published.iter().map(load).collect()
    }
}

/// The name of a file or folder without those that it is in.
fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.display().to_string())
}

/// The folder of a file, relative to another one.
fn place_of(path: &Path, root: &Path) -> String {
    let beneath = path.strip_prefix(root).unwrap_or(path);
    beneath.parent().map_or_else(String::new, |place| place.display().to_string())
}

fn no_rules(folder: &Path, sources: &[RuleSource]) -> CliError {
    let (shown, claims) = (folder.display(), CLAIMS_FOLDER);
    let files: String = sources.iter().map(|source| format!("no {}, ", source.file)).collect();
    CliError::usage(format!(
        "nothing beneath {shown} has rules: {files}no {CLAIMS_FILE}, and no file in a folder {claims}"
    ))
}

fn runs(found: &ResultFiles) -> Result<Vec<NamedRun>, CliError> {
    found.runs.iter().map(|folder| Ok(NamedRun { name: name(folder), record: results::load(folder)? })).collect()
}

/// A run that is not published, next to published ones; `None` for one without numbers to rely on.
fn placed(root: &Path, run: &NamedRun) -> Option<PlacedResult> {
    let NamedRun { name, record } = run;
    let result = published(record, publish::scenario(record), "");
    let is_complete = record.status == Status::Complete;
    if !is_complete || !result.valid {
        let obstacle = if is_complete { "invalid" } else { "not complete" };
        output::message(&format!("warning: {} is not in the matrix: the run is {obstacle}\n", plain(name)));
        return None;
    }
    Some(place(root, &root.join(name), result))
}

/// A result and the files next to it.
fn place(root: &Path, folder: &Path, record: PublishedRecord) -> PlacedResult {
    PlacedResult {
        folder: folder.strip_prefix(root).unwrap_or(folder).display().to_string(),
        record,
        has_page: folder.join(HTML_FILE).is_file(),
        has_markdown: folder.join(MARKDOWN_FILE).is_file(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_folders_and_links_are_not_searched() {
        let root = tempfile::tempdir().unwrap();
        for place in ["a/b/c", "a/.publish-x", "a/run", "run"] {
            fs::create_dir_all(root.path().join(place)).unwrap();
        }
        for file in ["a/b/c/summary.json", "a/.publish-x/summary.json", "a/run/run.json", "run/run.json.gz"] {
            fs::write(root.path().join(file), "").unwrap();
        }
        std::os::unix::fs::symlink(root.path(), root.path().join("a/circle")).unwrap();
        let found = find(root.path(), &[]).unwrap();
        assert_eq!(found.published, [root.path().join("a/b/c")]);
        assert_eq!(found.runs, [root.path().join("run")], "only subfolders are runs");
        assert!(found.rules.is_empty());
    }
}
