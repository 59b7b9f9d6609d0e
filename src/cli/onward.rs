//! Where a reader goes on from a report: files around the place where it lies. A link leads to a file that is there, so that a
//! report that was moved out of the published results has none of theirs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::report::{CARD_FILE, CSV_FILE, Cell, HTML_FILE, Link, MARKDOWN_FILE, Onward, encoded, plain};
use crate::results::{COMPRESSED_RUN_FILE, PUBLISHED_FILE, RUN_FILE, RunRecord, SESSIONS_FILE, SHARD_KEY_FILE};

use super::catalogue::SCENARIOS;

/// The page of a scenario, and that over the results of all scenarios.
pub const INDEX_FILE: &str = "index.html";
/// The page with the matrix of all results.
pub const MATRIX_FILE: &str = "matrix.html";
/// The page with the rules of thumb.
pub const RULES_FILE: &str = "rules.html";
/// The folder of a sweep in which the runs of its points are.
pub const POINTS_FOLDER: &str = "points";
/// What explains most reports.
const READING: &str = "reading.md";
/// How many folders above a report the published results are searched.
const HIGHEST: usize = 3;

/// The form of a report that has the links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The page.
    Html,
    /// Markdown.
    Markdown,
}

impl Form {
    /// The files of a report to which the form leads, the better one first.
    fn reports(self) -> &'static [&'static str] {
        if self == Form::Html { &[HTML_FILE, MARKDOWN_FILE] } else { &[MARKDOWN_FILE] }
    }
}

/// The place of a report.
struct PagePlace {
    folder: PathBuf,
    form: Form,
}

/// Links from the report of a run in a folder. `others` are the mixes of other runs, with their folders.
pub fn of_run(folder: &Path, form: Form, record: &RunRecord, others: &[(String, PathBuf)]) -> Vec<Onward> {
    let Some(place) = PagePlace::new(folder, form) else { return Vec::new() };
    let scenario = &record.scenario;
    let mixes = others.iter().filter_map(|(mix, other)| place.report(mix, other)).collect();
    let data = [COMPRESSED_RUN_FILE, RUN_FILE, CSV_FILE, PUBLISHED_FILE];
    let root = place.root();
    let text = |path: &Path| fs::read_to_string(path).is_ok_and(|text| text == scenario.text);
    let about = root.iter().flat_map(|root| place.about(root, &scenario.name, &text)).collect();
    let own = root.iter().filter_map(|root| place.page_of(root, &scenario.name));
    let all = root.iter().flat_map(|root| place.over_all(root, &format!("{}/{}", scenario.name, record.mix.name)));
    arranged([
        ("Other mixes", mixes),
        ("Results", own.chain(all).collect()),
        ("Sweeps", root.iter().flat_map(|root| place.sweeps(root, &scenario.name)).collect()),
        ("Growth", root.iter().filter_map(|root| place.growth(root, &scenario.name)).collect()),
        ("Data", data.iter().filter_map(|name| place.link(name, &place.folder.join(name), "")).collect()),
        ("For slides", place.link(CARD_FILE, &place.folder.join(CARD_FILE), "").into_iter().collect()),
        ("About", about),
    ])
}

/// The address of a scenario's page in a site; `None` for a scenario that is not built in.
pub fn scenario_page(name: &str) -> Option<String> {
    SCENARIOS.iter().any(|(known, _)| *known == name).then(|| format!("{name}/{INDEX_FILE}"))
}

/// Links from the page of a scenario in the published results.
pub fn of_scenario(root: &Path, scenario: &str) -> Vec<Onward> {
    let Some(place) = PagePlace::new(&root.join(scenario), Form::Html) else { return Vec::new() };
    let study = |text: &str, kind: &str| place.report(text, &root.join(kind).join(scenario)).into_iter().collect();
    let claims = root.join("claims").join(format!("{scenario}.json"));
    arranged([
        (
            "Results",
            place
                .link("all questions", &root.join(INDEX_FILE), "")
                .into_iter()
                .chain(place.over_all(root, scenario))
                .collect(),
        ),
        ("Sweeps", place.sweeps(root, scenario)),
        ("Growth", place.growth(root, scenario).into_iter().collect()),
        ("Shard keys", study("by strategy", "shard-keys")),
        ("Shapes", study("all that a model has", "explorations")),
        ("Data", place.link("claims.json", &claims, "").into_iter().collect()),
        ("About", place.about(root, scenario, &|_| true)),
    ])
}

/// Links from the report of a study in a folder, whose record is a file there.
pub fn of_study(folder: &Path, form: Form, scenario: &str, data: &str) -> Vec<Onward> {
    let Some(place) = PagePlace::new(folder, form) else { return Vec::new() };
    let root = place.root();
    // Its columns are in no other report.
    let page = if data == SHARD_KEY_FILE { "sharding.md" } else { READING };
    arranged([
        (
            "Results",
            root.iter()
                .flat_map(|root| place.page_of(root, scenario).into_iter().chain(place.over_all(root, scenario)))
                .collect(),
        ),
        ("Data", place.link(data, &place.folder.join(data), "").into_iter().chain(place.points()).collect()),
        ("About", root.iter().filter_map(|root| place.reading(root, page)).collect()),
    ])
}

fn arranged<const N: usize>(groups: [(&'static str, Vec<Cell>); N]) -> Vec<Onward> {
    let shown = groups.into_iter().filter(|(_, links)| !links.is_empty());
    shown.map(|(name, links)| Onward { name, links }).collect()
}

impl PagePlace {
    /// `None` for a folder that is not there.
    fn new(folder: &Path, form: Form) -> Option<PagePlace> {
        Some(PagePlace { folder: fs::canonicalize(folder).ok()?, form })
    }

    /// The folder of the published results above the report.
    fn root(&self) -> Option<PathBuf> {
        let mut above = self.folder.ancestors().skip(1).take(HIGHEST);
        above.find(|folder| folder.join(SESSIONS_FILE).is_file()).map(Path::to_owned)
    }

    /// A text that leads to a file, and to a part of it; `None` where no such file is.
    fn link(&self, text: &str, file: &Path, part: &str) -> Option<Cell> {
        let file = fs::canonicalize(file).ok().filter(|file| file.is_file())?;
        let common = self.folder.components().zip(file.components()).take_while(|(own, other)| own == other).count();
        let up = self.folder.components().skip(common).map(|_| "..".to_owned());
        let down = file.components().skip(common).map(|part| encoded(&part.as_os_str().to_string_lossy()));
        let address = up.chain(down).collect::<Vec<_>>().join("/") + part;
        Some(Cell::text(plain(text)).link(Some(Link::File(address))))
    }

    /// A text that leads to the report in a folder.
    fn report(&self, text: &str, folder: &Path) -> Option<Cell> {
        self.form.reports().iter().find_map(|name| self.link(text, &folder.join(name), ""))
    }

    /// The page of a scenario.
    fn page_of(&self, root: &Path, scenario: &str) -> Option<Cell> {
        let page = root.join(scenario).join(INDEX_FILE);
        (self.form == Form::Html).then(|| self.link("this scenario", &page, "")).flatten()
    }

    /// The pages over all results. `part` is the place of the report in them.
    fn over_all(&self, root: &Path, part: &str) -> Vec<Cell> {
        let scenario = root.join(part.split('/').next().unwrap_or_default());
        // Without a result, the matrix has no place for it.
        let has_results =
            fs::read_dir(scenario).is_ok_and(|mut entries| entries.any(|one| one.is_ok_and(|one| one.path().is_dir())));
        let part = part.split('/').map(encoded).collect::<Vec<_>>().join("/");
        let (matrix, part, rules) = match self.form {
            Form::Html => (MATRIX_FILE, if has_results { format!("#{part}") } else { String::new() }, RULES_FILE),
            Form::Markdown => ("README.md", String::new(), "rules.md"),
        };
        let links =
            [self.link("all scenarios", &root.join(matrix), &part), self.link("rules of thumb", &root.join(rules), "")];
        links.into_iter().flatten().collect()
    }

    /// The scenario's text, if it is the one that is meant, and how to read a report.
    fn about(&self, root: &Path, scenario: &str, is_meant: &dyn Fn(&Path) -> bool) -> Vec<Cell> {
        let yaml = |base: &Path| {
            let path = base.join("scenarios").join(format!("{scenario}.yaml"));
            is_meant(&path).then(|| self.link("scenario", &path, "")).flatten()
        };
        self.near(root, &yaml).into_iter().chain(self.reading(root, READING)).collect()
    }

    fn sweeps(&self, root: &Path, scenario: &str) -> Vec<Cell> {
        let entries = fs::read_dir(root.join("sweeps")).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        folders.sort();
        let own = |folder: &PathBuf| {
            let name = folder.file_name()?.to_str()?;
            let varied = name.strip_prefix(scenario)?.strip_prefix('-').filter(|_| is_of(name, scenario))?;
            self.report(varied, folder)
        };
        folders.iter().filter_map(own).collect()
    }

    /// The published runs of a sweep's points, in their order, named by what was varied: `points/001-cache=0.5` is `cache=0.5`.
    fn points(&self) -> Vec<Cell> {
        let entries = fs::read_dir(self.folder.join(POINTS_FOLDER)).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        folders.sort();
        let point = |folder: &PathBuf| {
            let (_, values) = folder.file_name()?.to_str()?.split_once('-')?;
            self.link(values, &folder.join(COMPRESSED_RUN_FILE), "")
        };
        folders.iter().filter_map(point).collect()
    }

    fn growth(&self, root: &Path, scenario: &str) -> Option<Cell> {
        self.report("until documents are full", &root.join("growth").join(scenario))
    }

    /// How to read a report: a page of the documentation.
    fn reading(&self, root: &Path, page: &str) -> Option<Cell> {
        self.near(root, &|base| self.link("how to read this", &base.join("docs").join(page), ""))
    }

    /// What is beneath the folder of the results, as in their published copy, or next to it, as in the repository.
    fn near(&self, root: &Path, find: &dyn Fn(&Path) -> Option<Cell>) -> Option<Cell> {
        find(root).or_else(|| find(root.parent()?))
    }
}

/// Whether the file of a study is about a scenario, as the name of its folder says.
pub fn is_study_of(file: &Path, scenario: &str) -> bool {
    let folder = file.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    folder == scenario || (starts_with(folder, scenario) && is_of(folder, scenario))
}

/// Whether no other scenario has a longer part of a name.
fn is_of(name: &str, scenario: &str) -> bool {
    let known = SCENARIOS.iter().map(|(known, _)| *known).filter(|known| name == *known || starts_with(name, known));
    known.max_by_key(|known| known.len()).is_none_or(|known| known == scenario)
}

/// Whether the name of a sweep begins with that of a scenario.
fn starts_with(name: &str, scenario: &str) -> bool {
    name.strip_prefix(scenario).is_some_and(|rest| rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use crate::stats::sample;

    use super::*;

    /// Published results of two mixes, with a sweep of the scenario and one of a scenario whose name only begins alike.
    fn published() -> (tempfile::TempDir, RunRecord) {
        let place = tempfile::tempdir().unwrap();
        let mut record = sample::run(8);
        record.scenario.text = "format: 1".into();
        for file in [
            "results/sessions.json",
            "results/matrix.html",
            "results/rules.html",
            "results/blog-comments/index.html",
            "results/README.md",
            "results/blog-comments/default/m/report.html",
            "results/blog-comments/default/m/run.json.gz",
            "results/blog-comments/read-heavy/m/report.html",
            "results/blog-comments/read-heavy/m/report.md",
            "results/sweeps/blog-comments-length/report.md",
            "results/sweeps/blog-length/report.md",
            "results/growth/other/report.md",
            "docs/reading.md",
            "scenarios/blog-comments.yaml",
        ] {
            let path = place.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "format: 1").unwrap();
        }
        (place, record)
    }

    fn addresses(found: &[Onward]) -> Vec<&str> {
        let cells = found.iter().flat_map(|one| &one.links);
        cells
            .filter_map(|cell| if let Some(Link::File(address)) = &cell.link { Some(address.as_str()) } else { None })
            .collect()
    }

    #[test]
    fn links_lead_to_files_that_are_there() {
        let (place, record) = published();
        let folder = place.path().join("results/blog-comments/default/m");
        let others = [("read-heavy".to_owned(), place.path().join("results/blog-comments/read-heavy/m"))];
        let found = of_run(&folder, Form::Html, &record, &others);
        let expected = [
            "../../read-heavy/m/report.html",
            "../../index.html",
            "../../../matrix.html#blog-comments/default",
            "../../../rules.html",
            "../../../sweeps/blog-comments-length/report.md",
            "run.json.gz",
            "../../../../scenarios/blog-comments.yaml",
            "../../../../docs/reading.md",
        ];
        assert_eq!(addresses(&found), expected);
        let markdown = of_run(&folder, Form::Markdown, &record, &others);
        assert_eq!(addresses(&markdown)[..2], ["../../read-heavy/m/report.md", "../../../README.md"]);
    }

    #[test]
    fn the_points_of_a_published_sweep_are_data() {
        let (place, _) = published();
        let folder = place.path().join("results/sweeps/blog-comments-length");
        for file in [
            "sweep.json",
            "points/002-posts=20/run.json.gz",
            "points/001-posts=5/run.json.gz",
            "points/003-posts=9/run.json",
        ] {
            fs::create_dir_all(folder.join(file).parent().unwrap()).unwrap();
            fs::write(folder.join(file), "").unwrap();
        }
        let found = of_study(&folder, Form::Markdown, "blog-comments", "sweep.json");
        let data = found.into_iter().find(|one| one.name == "Data").unwrap();
        let texts: Vec<String> = data.links.iter().map(|cell| cell.text.clone()).collect();
        assert_eq!(texts, ["sweep.json", "posts=5", "posts=20"]);
        assert_eq!(addresses(&[data])[1..], ["points/001-posts%3D5/run.json.gz", "points/002-posts%3D20/run.json.gz"]);
    }

    #[test]
    fn outside_of_published_results_there_is_the_data_alone() {
        let (_, record) = published();
        let place = tempfile::tempdir().unwrap();
        assert!(of_run(place.path(), Form::Html, &record, &[]).is_empty());
        assert!(of_run(&place.path().join("none"), Form::Html, &record, &[]).is_empty());
        fs::write(place.path().join(RUN_FILE), "{}").unwrap();
        assert_eq!(addresses(&of_run(place.path(), Form::Html, &record, &[])), [RUN_FILE]);
    }

    #[test]
    fn a_scenario_that_was_changed_since_the_run_is_not_its_scenario() {
        let (place, mut record) = published();
        record.scenario.text = "format: 2".into();
        let found = of_run(&place.path().join("results/blog-comments/default/m"), Form::Html, &record, &[]);
        assert!(!addresses(&found).iter().any(|address| address.ends_with(".yaml")), "{found:?}");
    }
}
