//! `docshape site`: published results as pages with their data, which open from a disk and need no script.

mod cite;
mod entrance;
pub(super) mod numbers;
mod scenario;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clap::Args;
use sha2::{Digest, Sha256};

use crate::cli::catalogue::{SCENARIOS, by_group};
use crate::cli::exit::{CliError, Exit, write_error};
use crate::cli::onward::{self, INDEX_FILE, MATRIX_FILE, RULES_FILE};
use crate::cli::output;
use crate::cli::report::{report_of, write_pages, write_study, written};
use crate::report::document::capitalised;
use crate::report::rule_source::RuleSource;
use crate::report::{
    CARD_FILE, Card, Cell, HTML_FILE, Html, Link, MARKDOWN_FILE, Onward, Report, Section, encoded, plain,
};
use crate::results::{
    self, PUBLISHED_FILE, PublishedRecord, RUN_FILE, ResultsError, SESSIONS_FILE, StudyKind, saved_run,
};
use crate::scenario::Source;

use super::matrix::{Matrix, html, on_machine};
use super::publish::replace;
use super::rules::Rule;
use super::sessions;
use super::summary::{ResultFiles, find, matrix};

use cite::{Edition, MeasuredOn};
use entrance::{Question, QuestionGroup};
use scenario::ScenarioPage;

/// Characters of the hash that identifies the data.
const SHOWN_HASH: usize = 12;

/// Folders next to the results to which pages lead, each with a file that docshape's own has.
const NEIGHBOURS: [(&str, &str); 2] = [("docs", "reading.md"), ("scenarios", "blog-comments.yaml")];

/// `site`.
#[derive(Debug, Clone, Args)]
pub struct SiteArguments {
    /// Folder of published results
    pub results: PathBuf,
    /// Folder of the site; a site that is there is replaced
    #[arg(long, value_name = "DIR", default_value = "site")]
    pub out: PathBuf,
    /// Address at which the site will be, for citations [default: citations without an address]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
}

/// Makes the report of a study in a folder; `None` where its published report stays as it is.
pub type StudyReport = fn(&Path) -> Result<Option<Report>, CliError>;

/// Writes published results with a page for each, for every scenario, and over all. The folder is complete or not there.
///
/// # Errors
/// When a result cannot be read, the folder is something else than a site, or it cannot be written.
pub fn site(arguments: &SiteArguments, sources: &[RuleSource], study: StudyReport) -> Result<Exit, CliError> {
    let SiteArguments { results, out, url } = arguments;
    check_place(results, out)?;
    let failed = |error: io::Error| write_error(out, &error);
    // A link leads to the folder that is replaced.
    let out = &fs::canonicalize(out).unwrap_or_else(|_| out.clone());
    let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(failed)?;
    let open = fs::Permissions::from_mode(0o777);
    let folder = tempfile::Builder::new().prefix(".site-").permissions(open).tempdir_in(parent).map_err(failed)?;
    let root = folder.path();
    copy(results, root).map_err(failed)?;
    for (neighbour, file) in NEIGHBOURS {
        let from = results.join("..").join(neighbour);
        if from.join(file).is_file() && !root.join(neighbour).exists() {
            copy(&from, &root.join(neighbour)).map_err(failed)?;
        }
    }
    // Files are read from the copy; the user knows those that were copied.
    let shown = |error: CliError| {
        let message = error.message.replace(&*root.to_string_lossy(), &results.to_string_lossy());
        CliError { message, ..error }
    };
    Site::new(root, sources).and_then(|site| site.write(study, url.as_deref().unwrap_or_default())).map_err(shown)?;
    replace(folder, out).map_err(failed)?;
    output::print(&format!("{}\n", arguments.out.join(INDEX_FILE).display()))?;
    Ok(Exit::Success)
}

/// A site is not written over its own results, nor over other files.
fn check_place(results: &Path, out: &Path) -> Result<(), CliError> {
    let advice = "choose another folder with --out";
    if !results.is_dir() {
        return Err(CliError::usage(format!("{} is no folder; name that of published results", results.display())));
    }
    let real = |path: &Path| fs::canonicalize(path).ok();
    let from = real(results).unwrap_or_default();
    let parent = out
        .ancestors()
        .skip(1)
        .find_map(|folder| real(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }));
    let to = real(out).or(parent).unwrap_or_default();
    let neighbour =
        NEIGHBOURS.iter().find(|(name, _)| real(&results.join("..").join(name)).is_some_and(|one| to.starts_with(one)));
    if let Some((name, _)) = neighbour {
        return Err(CliError::usage(format!("{} is within {name}, which the site contains; {advice}", out.display())));
    }
    if real(out).is_some_and(|out| real(Path::new(".")).is_some_and(|current| current.starts_with(out))) {
        return Err(CliError::usage(format!("{} contains the current folder; {advice}", out.display())));
    }
    if to.starts_with(&from) || real(out).is_some_and(|out| from.starts_with(out)) {
        return Err(CliError::usage(format!(
            "{} and {} contain each other; {advice}",
            out.display(),
            results.display()
        )));
    }
    let is_other = match fs::read_dir(out) {
        Ok(mut entries) => entries.next().is_some() && !out.join(MATRIX_FILE).is_file(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    if is_other {
        return Err(CliError::usage(format!("{} is no site, and is not replaced; {advice}", out.display())));
    }
    Ok(())
}

/// Copies a folder without hidden files, and without runs that are not published. Links are not followed.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name());
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        if kind.is_dir() {
            if !entry.path().join(RUN_FILE).is_file() && name != saved_run::FOLDER {
                copy(&entry.path(), &to.join(name))?;
            }
        } else if kind.is_file() {
            fs::copy(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}

/// A site that is being written.
struct Site<'s> {
    root: &'s Path,
    found: ResultFiles,
    sources: &'s [RuleSource],
    /// The folders of runs, and those of studies.
    runs: Vec<PathBuf>,
    studies: Vec<PathBuf>,
}

impl<'s> Site<'s> {
    fn new(root: &'s Path, sources: &'s [RuleSource]) -> Result<Site<'s>, CliError> {
        let mut site = Site { root, found: find(root, sources)?, sources, runs: Vec::new(), studies: Vec::new() };
        if site.found.published.is_empty() && site.found.rules.is_empty() {
            return Err(CliError::usage(format!(
                "nothing beneath {} is a published result: no {PUBLISHED_FILE}, no claims, no sweep; name the folder that docshape \
                 publish writes into",
                root.display()
            )));
        }
        site.place_pages()?;
        Ok(site)
    }

    fn write(&self, study: StudyReport, url: &str) -> Result<(), CliError> {
        self.write_reports(study)?;
        self.write_overviews(url)
    }

    /// Finds the folders with a report, and puts an empty file in the place of every page to which others lead.
    fn place_pages(&mut self) -> Result<(), CliError> {
        let mut folders = vec![self.root.to_owned()];
        while let Some(folder) = folders.pop() {
            let unreadable = |error: io::Error| CliError::usage(format!("cannot read {}: {error}", folder.display()));
            let kind = StudyKind::of(&folder);
            for entry in fs::read_dir(&folder).map_err(unreadable)? {
                let path = entry.map_err(unreadable)?.path();
                // The page of a sweep has what its points say.
                folders.extend((path.is_dir() && !matches!(kind, Ok(StudyKind::Sweep))).then_some(path));
            }
            match kind {
                Ok(StudyKind::Run) => {
                    write(&folder.join(HTML_FILE), "")?;
                    self.runs.push(folder);
                }
                Ok(StudyKind::Claims) | Err(ResultsError::NoStudy(_)) => {}
                Ok(_) => self.studies.push(folder),
                Err(error) => return Err(error.into()),
            }
        }
        for (name, _) in SCENARIOS {
            let page = self.root.join(name);
            fs::create_dir_all(&page).map_err(|error| write_error(&page, &error))?;
            write(&page.join(INDEX_FILE), "")?;
        }
        let sessions = self.root.join(SESSIONS_FILE);
        if !sessions.is_file() {
            // By which reports know the folder of all results.
            write(&sessions, &sessions::record(&self.found.published()?))?;
        }
        [INDEX_FILE, MATRIX_FILE, RULES_FILE].into_iter().try_for_each(|name| write(&self.root.join(name), ""))
    }

    /// The pages of studies, to which those of runs lead, and then of runs, on all cores.
    fn write_reports(&self, study: StudyReport) -> Result<(), CliError> {
        for folder in &self.studies {
            if let Some(report) = study(folder)? {
                let _ = write_study(report, folder)?;
            }
        }
        let next = AtomicUsize::new(0);
        let write_next = || {
            while let Some(folder) = self.runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let record = results::load(folder)?;
                let report = report_of(&record, folder).with_files();
                write(&folder.join(CARD_FILE), &written(&Card, &report))?;
                write_pages(&record, &report, folder)?;
            }
            Ok(())
        };
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        thread::scope(|scope| {
            let writers: Vec<_> = (0..cores).map(|_| scope.spawn(write_next)).collect();
            let results = writers.into_iter().map(|writer| writer.join().unwrap_or_else(|panic| resume_unwind(panic)));
            // All have ended before the first error is returned.
            results.collect::<Vec<Result<(), CliError>>>().into_iter().collect()
        })
    }

    /// The address of the report in a folder of the site: its page, where there is one.
    fn report_in(&self, folder: &str) -> String {
        let name = [HTML_FILE, MARKDOWN_FILE].into_iter().find(|name| self.root.join(folder).join(name).is_file());
        let folders = folder.split('/').filter(|part| !part.is_empty()).map(encoded);
        folders.chain([name.unwrap_or(MARKDOWN_FILE).to_owned()]).collect::<Vec<_>>().join("/")
    }

    /// The pages of scenarios, and those over all.
    fn write_overviews(&self, url: &str) -> Result<(), CliError> {
        let placed = self.found.published()?;
        let results = self.found.results(self.sources, &|folder| self.report_in(folder))?;
        let newest = |is_meant: &dyn Fn(&str) -> bool| {
            let runs = placed.iter().map(|one| &one.record).filter(|one| is_meant(&one.scenario.name));
            let claims = results.claims.iter().filter(|one| is_meant(&one.scenario));
            let runs = runs.map(|one| MeasuredOn::new(&one.started, &one.version));
            runs.chain(claims.map(|one| MeasuredOn::new(&one.started, &one.version))).max()
        };
        let edition = Edition {
            url: if url.is_empty() { String::new() } else { format!("{}/", url.trim_end_matches('/')) },
            data: self.data_version()?,
            newest: newest(&|_| true).unwrap_or_default(),
        };
        let further = sessions::further(placed.iter().map(|one| &one.record)).unwrap_or_default();
        let machine = machines(placed.iter().map(|one| &one.record));
        let matrix = matrix(placed.clone());
        write(&self.root.join(MATRIX_FILE), &html::page(&matrix))?;
        let rules = Report::of_rules(&results).leading_to(to_overviews());
        write(&self.root.join(RULES_FILE), &written(&Html, &rules))?;
        let rules = results.rules();
        let numbers = numbers::numbers(self.root, &rules)?;
        let mut groups: Vec<QuestionGroup> = Vec::new();
        for (title, scenarios) in by_group()? {
            let own = |name: &str| scenarios.iter().any(|scenario| scenario.name.value == name);
            let questions = SCENARIOS.into_iter().filter(|(name, _)| own(name));
            let write = |(name, text)| {
                let measured = newest(&|scenario| scenario == name);
                self.write_scenario(name, text, (&matrix, &rules), (&edition, measured.as_ref()))
            };
            let questions = questions.map(write);
            groups.push(QuestionGroup { title: capitalised(title), questions: questions.collect::<Result<_, _>>()? });
        }
        write(
            &self.root.join(INDEX_FILE),
            &entrance::page(&numbers, &groups, [&matrix.subject, &machine, &further], &edition),
        )
    }

    /// The page of a scenario; returns what the first page says of it.
    fn write_scenario(
        &self,
        name: &str,
        text: &str,
        (matrix, rules): (&Matrix, &[Rule]),
        (edition, measured): (&Edition, Option<&MeasuredOn>),
    ) -> Result<Question, CliError> {
        let results = matrix.groups.iter().flat_map(|group| &group.scenarios).find(|one| one.name == name);
        let scenario = ScenarioPage::new(Source::new(name, text), name, results)?;
        let page = format!("{name}/{INDEX_FILE}");
        let report = scenario.report(rules, self.studies_of(name)?, edition, (&page, measured));
        let report = report.leading_to(onward::of_scenario(self.root, name));
        write(&self.root.join(&page), &written(&Html, &report))?;
        Ok(Question { page, answer: scenario.answer(rules), title: scenario.title })
    }

    /// What sweeps and growth say of a scenario.
    fn studies_of(&self, scenario: &str) -> Result<Vec<Section>, CliError> {
        let report = |folder: &str| format!("../{}", self.report_in(folder));
        let studies = self.found.studies(self.sources, &report, &|file| onward::is_study_of(file, scenario))?;
        Ok(studies.into_iter().filter_map(|(_, section)| section).collect())
    }

    /// What identifies the data: the beginning of a hash over all published numbers and claims.
    fn data_version(&self) -> Result<String, CliError> {
        let summaries = self.found.published.iter().map(|folder| folder.join(PUBLISHED_FILE));
        let mut hash = Sha256::new();
        for file in summaries.chain(self.found.rules.iter().cloned()) {
            hash.update(fs::read(&file).map_err(|error| write_error(&file, &error))?);
        }
        Ok(hex::encode(hash.finalize())[..SHOWN_HASH].to_owned())
    }
}

/// The machines of runs, and whether the servers ran on them, in a sentence; empty without a run.
fn machines<'r>(runs: impl Iterator<Item = &'r PublishedRecord>) -> String {
    let one = |run: &PublishedRecord| {
        let cpu = run.machine.cpu.as_deref().unwrap_or("unknown processor");
        plain(&format!("{cpu} ({})", on_machine(run)))
    };
    let known: BTreeSet<String> = runs.map(one).collect();
    let known: Vec<String> = known.into_iter().collect();
    if known.is_empty() { String::new() } else { format!("Machine of the runs: {}.", known.join("; ")) }
}

fn to_overviews() -> Vec<Onward> {
    let link = |text: &str, page: &str| Cell::text(text).link(Some(Link::File(page.to_owned())));
    vec![Onward { name: "Results", links: vec![link("all questions", INDEX_FILE), link("all mixes", MATRIX_FILE)] }]
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    results::write_whole(path, text).map_err(|error| write_error(path, &error))
}

#[cfg(test)]
mod tests {
    use crate::results::{save, save_compressed, save_document};
    use crate::stats::sample;
    use crate::studies::published::publish::{PublishArguments, publish};
    use crate::studies::sweep::report::tests::sweep;

    use super::*;

    fn of_run(_: &Path) -> Result<Option<Report>, CliError> {
        Ok(None)
    }

    /// Published results with a run and a number that a claim decides.
    fn results() -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        let into = place.path().join("results");
        let run = tempfile::tempdir().unwrap();
        save(&sample::whole(&sample::run(8)), run.path()).unwrap();
        let machine = Some("m6i".to_owned());
        publish(&PublishArguments { run: run.path().to_owned(), into: into.clone(), machine, replace: false }).unwrap();
        for folder in ["results/claims", "results/blog-comments/20260101", "results/sweeps/length/points/001", "docs"] {
            fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        // A run that is not published, and not even whole.
        fs::write(into.join("blog-comments/20260101").join(RUN_FILE), "{").unwrap();
        fs::write(place.path().join("docs/reading.md"), "").unwrap();
        let claims = include_str!("../../../../results/claims/trees.json");
        fs::write(into.join("claims/trees.json"), claims).unwrap();
        let (sweep, points) = sweep(&sample::whole(&sample::run(6)), "length");
        save_document(&sweep, &into.join("sweeps/length")).unwrap();
        save_compressed(&points[0], &into.join("sweeps/length/points/001")).unwrap();
        number(&into, "C51e");
        place
    }

    fn number(into: &Path, claim: &str) {
        let one =
            format!(r#"{{"id":"nested","says":"An insert writes {{value}}.","scenario":"trees","claim":"{claim}"}}"#);
        fs::write(into.join(numbers::NUMBERS_FILE), format!(r#"{{"format":1,"numbers":[{one}]}}"#)).unwrap();
    }

    fn written_from(place: &Path, out: &str) -> Result<Exit, CliError> {
        let (results, out) = (place.join("results"), place.join(out));
        site(&SiteArguments { results, out, url: Some("https://example.org/d".into()) }, &[], of_run)
    }

    #[test]
    fn every_page_has_its_numbers_its_data_and_its_citation() {
        let place = results();
        written_from(place.path(), "site").unwrap();
        let read = |name: &str| fs::read_to_string(place.path().join("site").join(name)).unwrap();
        let entrance = read(INDEX_FILE);
        assert!(entrance.contains(r#"<li id="nested">"#) && entrance.contains("An insert writes "), "{entrance}");
        assert!(entrance.contains("https://example.org/d/index.html#nested"), "{entrance}");
        assert!(entrance.contains(r#"href="trees/index.html#trees/C51e""#) && entrance.contains("claims/trees.json"));
        assert!(read("trees/index.html").contains(r#"id="trees/C51e""#));
        assert!(read(RULES_FILE).contains(r#"id="trees/C51e""#));
        let page = read("blog-comments/index.html");
        assert!(page.contains(r#"id="blog-comments/default""#) && page.contains("createIndex"), "{page}");
        let report = read("blog-comments/default/mongodb-6.0.5-2-cores-m6i/report.html");
        for link in ["../../index.html", "../../../matrix.html#blog-comments/default", "../../../docs/reading.md"] {
            assert!(report.contains(&format!(r#"href="{link}""#)), "{link}");
        }
        assert!(!place.path().join("site/blog-comments/20260101").exists());
        let point = place.path().join("site/sweeps/length/points/001");
        assert!(
            point.join("run.json.gz").is_file() && !point.join(HTML_FILE).exists(),
            "a sweep shows what its points say"
        );
        assert!(!entrance.contains(", ;") && entrance.contains("--claims=C51e"), "{entrance}");
        // Again in its place.
        written_from(place.path(), "site").unwrap();
        number(&place.path().join("results"), "C99");
        let error = written_from(place.path(), "site").unwrap_err().message;
        assert!(error.contains("nested: no claim C99 of trees is published"), "{error}");
        assert!(
            error.contains(&*place.path().join("results").to_string_lossy()) && !error.contains(".site-"),
            "{error}"
        );
        let left = fs::read_dir(place.path()).unwrap().flatten().map(|entry| entry.file_name());
        assert!(!left.into_iter().any(|name| name.to_string_lossy().starts_with(".site-")));
        assert!(place.path().join("site").join(MATRIX_FILE).is_file(), "the old site is still there");
    }

    #[test]
    fn a_site_is_written_over_nothing_else() {
        let place = results();
        let refused = |out: &str| written_from(place.path(), out).unwrap_err().message;
        assert!(refused("docs").contains("is within docs"), "{}", refused("docs"));
        fs::create_dir(place.path().join("own")).unwrap();
        fs::write(place.path().join("own/letter.txt"), "").unwrap();
        assert!(refused("own").contains("is no site"), "{}", refused("own"));
        assert!(refused("results/site").contains("contain each other"), "{}", refused("results/site"));
        assert!(refused("results").contains("contain each other"));
        assert!(refused(".").contains("contain each other"));
    }
}
