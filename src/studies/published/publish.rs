//! `docshape publish`.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Args;
use tempfile::TempDir;

use crate::cli::exit::{CliError, Exit, write_error};
use crate::cli::next::NextCommand;
use crate::cli::onward::{self, Form};
use crate::cli::output;
use crate::cli::report::{report_of, written};
use crate::report::{MARKDOWN_FILE, Markdown, Report, counted, plain};
use crate::results::{
    self, PUBLISHED_FILE, Part, Preset, PublishedMix, PublishedRecord, PublishedScenario, RunRecord, SessionRecord,
    Status, saved_run,
};
use crate::scenario::{self, Diagnostics, MixDefinition, Node, Scalar, Source, Tree};
use crate::stats::MINIMUM_ROUNDS;

use super::sessions::{differences, merged, settle};
use super::summary_file::published;

/// The longest part of a path that comes from a name.
const LONGEST_PART: usize = 80;

/// `publish`.
#[derive(Debug, Clone, Args)]
pub struct PublishArguments {
    /// A run folder, or a published one, which is rendered again
    pub run: PathBuf,
    /// Folder of all published results
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub into: PathBuf,
    /// Name of the machine, part of the folder's name [default: none, or that of the published run]
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// Replace the result with all its sessions [default: add a session to it]
    #[arg(long)]
    pub replace: bool,
}

/// Writes a run as a folder of the published results. Where the result is there already, the run becomes another session of it.
///
/// # Errors
/// When the run cannot be read, its numbers must not be published, it is no other session of the result that is there, or files
/// cannot be written.
pub fn publish(arguments: &PublishArguments) -> Result<Exit, CliError> {
    let record = results::load(&arguments.run)?;
    let refused =
        |reason: String| Err(CliError::usage(format!("{} is not published: {reason}", arguments.run.display())));
    if let Some(reason) = refusal(&record) {
        return refused(reason);
    }
    let machine = machine(arguments)?;
    let mut run = PublishedRun::new(record, &machine, &arguments.run);
    let place = place(&arguments.into, &run.found);
    check_replaceable(&place, &run.found)?;
    let own = results::load_as::<PublishedRecord>(&arguments.run).map_or_else(|_| Vec::new(), |own| own.sessions);
    run.found.sessions = merged(std::mem::take(&mut run.found.sessions), own);
    if let Some(old) = published_before(&place).filter(|_| !arguments.replace) {
        run = with_sessions(run, old, &machine, arguments, &place)?;
    }
    settle(&mut run.found);
    let report = report_of(&run.record, &run.folder);
    if report.is_invalid() {
        return refused(format!("the run is invalid: {} Run it again", report.headline.invalid.join(" ")));
    }
    let parent = place.parent().unwrap_or(&arguments.into);
    let failed = |error: io::Error| write_error(&place, &error);
    fs::create_dir_all(parent).map_err(failed)?;
    let open = fs::Permissions::from_mode(0o777);
    // Names with a dot in front are no results.
    let folder = tempfile::Builder::new().prefix(".publish-").permissions(open).tempdir_in(parent).map_err(failed)?;
    write_files(&run.record, &run.found, &report, folder.path())?;
    replace(folder, &place).map_err(failed)?;
    let sessions = run.found.sessions.len() as u64;
    let sessions = if sessions > 1 { format!(" ({})", counted(sessions, "session")) } else { String::new() };
    output::print(&format!("{}{sessions}\n", place.display()))?;
    NextCommand::about(&["summary"], &arguments.into).print();
    Ok(Exit::Success)
}

/// A run and what it is published with.
struct PublishedRun {
    record: RunRecord,
    found: PublishedRecord,
    /// Next to which runs of other mixes may be.
    folder: PathBuf,
}

impl PublishedRun {
    fn new(record: RunRecord, machine: &str, folder: &Path) -> PublishedRun {
        let found = published(&record, scenario(&record), machine);
        PublishedRun { record, found, folder: folder.to_owned() }
    }
}

/// The result in a folder; `None` where there is none that can be read.
fn published_before(place: &Path) -> Option<PublishedRecord> {
    results::load_as::<PublishedRecord>(place).ok()
}

/// A run together with the sessions of the result that is there. The newest session is the one whose record stays.
///
/// # Errors
/// When the run is no other session of that result.
fn with_sessions(
    run: PublishedRun,
    old: PublishedRecord,
    machine: &str,
    arguments: &PublishArguments,
    place: &Path,
) -> Result<PublishedRun, CliError> {
    let is_known = |session: &SessionRecord| run.found.sessions.iter().any(|own| own.is_same(session));
    // Older files have no list of sessions, and may be the same run.
    let is_same = (&old.started, old.seed) == (&run.found.started, run.found.seed);
    if is_same && old.sessions.iter().all(is_known) {
        return Ok(run);
    }
    let found = differences(&old, &run.found);
    if !found.is_empty() {
        return Err(CliError::usage(format!(
            "{} is not published as a session of {}: {}; use --replace to start the result again with this run, or choose another \
             folder with --into",
            arguments.run.display(),
            place.display(),
            found.join("; ")
        )));
    }
    let kept = PublishedRun::new(results::load(place)?, machine, place);
    let others = if old.sessions.is_empty() { kept.found.sessions.clone() } else { old.sessions };
    let sessions = merged(run.found.sessions.clone(), others);
    let newest = if kept.found.started > run.found.started { kept } else { run };
    // Of the session whose record stays, today's numbers.
    let sessions = merged(newest.found.sessions.clone(), sessions);
    Ok(PublishedRun { found: PublishedRecord { sessions, ..newest.found }, ..newest })
}

/// Why a run is no result to publish.
fn refusal(record: &RunRecord) -> Option<String> {
    let rounds = record.complete_rounds();
    let missing: Vec<&str> = Part::ALL
        .iter()
        .filter(|part| !part.is_end_of_curve() && !record.parts.contains_key(part))
        .map(|part| part.name())
        .collect();
    let settings = &record.settings;
    let is_changed = !settings.set.is_empty() || !settings.shares.is_empty() || settings.rtt > 0.0;
    match &record.status {
        Status::Interrupted => return Some("it was interrupted; resume it with docshape run --resume".into()),
        Status::Unfinished => return Some("it has not finished; wait for its end, or resume it".into()),
        Status::Failed(reason) => return Some(format!("it failed ({}); run it again", plain(reason))),
        Status::Complete => {}
    }
    if settings.preset == Preset::Smoke {
        return Some("preset smoke is too short for verdicts; run it with --preset full".into());
    }
    if rounds < MINIMUM_ROUNDS {
        return Some(format!("it has {rounds} rounds, and verdicts need {MINIMUM_ROUNDS}; run it with --preset full"));
    }
    if !missing.is_empty() {
        return Some(format!("it has no part {}; run it without --only", missing.join(" and no part ")));
    }
    if is_changed {
        let what = "was measured with --set, --share or --rtt, which the name of its folder does not say";
        return Some(format!("it {what}; run it without, or define a mix with these parameters"));
    }
    None
}

/// The machine's name: the argument, else the one with which the run was published before.
fn machine(arguments: &PublishArguments) -> Result<String, CliError> {
    match &arguments.machine {
        Some(name) if saved_run::is_name(name) => Ok(name.clone()),
        Some(name) => Err(CliError::usage(format!(
            "--machine {name}: expected at most {} letters, digits, `-`, `_` and `.`, for example m6i-2xlarge",
            saved_run::LONGEST_NAME
        ))),
        None if arguments.run.join(PUBLISHED_FILE).is_file() => {
            let name = results::load_as::<PublishedRecord>(&arguments.run)?.machine.name;
            Ok(if saved_run::is_name(&name) { name } else { String::new() })
        }
        None => Ok(String::new()),
    }
}

/// What a run's scenario says of itself; a text that cannot be read says nothing.
pub(super) fn scenario(record: &RunRecord) -> PublishedScenario {
    let source = Source::new(record.scenario.name.clone(), record.scenario.text.clone());
    let read = scenario::read(&source, &Diagnostics::new());
    let mix = |mix: &MixDefinition| PublishedMix {
        name: mix.name.value.clone(),
        weights: mix.weights.iter().map(|(name, weight)| Some((name.value.clone(), number(weight)?))).collect(),
        has_parameters: !mix.parameters.is_empty(),
    };
    PublishedScenario {
        name: record.scenario.name.clone(),
        title: plain(&record.scenario.title),
        group: read.as_ref().and_then(|scenario| scenario.group.clone()),
        sha256: plain(&record.scenario.sha256),
        mixes: read.map_or_else(Vec::new, |scenario| scenario.mixes.iter().map(mix).collect()),
    }
}

/// A weight that is a number; `None` for an expression.
fn number(weight: &Node) -> Option<f64> {
    match &weight.tree {
        Tree::Scalar(Scalar::Int(number)) => Some(*number as f64),
        Tree::Scalar(Scalar::Float(number)) => Some(*number),
        _ => None,
    }
}

/// The folder of a result: `INTO/SCENARIO/MIX/mongodb-VERSION[-MEMBERS-members]-CORES-cores[-NAME]`.
fn place(into: &Path, found: &PublishedRecord) -> PathBuf {
    let cores = found.machine.cores.map_or_else(|| "unknown".to_owned(), |cores| cores.to_string());
    let machine = &found.machine.name;
    let name = if machine.is_empty() { String::new() } else { format!("-{machine}") };
    let members = results::members(&found.server.topology);
    let members = members.map(|members| format!("-{members}-members")).unwrap_or_default();
    let setup = format!("mongodb-{}{members}-{cores}-cores{name}", found.server.version);
    [&found.scenario.name, &found.mix.name, &setup].iter().fold(into.to_owned(), |path, name| path.join(part(name)))
}

/// A name as one part of a path: it leads nowhere else, is not hidden, and is valid on every system.
fn part(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let part: String = name.chars().take(LONGEST_PART).map(|c| if fits(c) { c } else { '-' }).collect();
    let part = part.trim_start_matches('.').trim_end_matches('.');
    if part.is_empty() { "unnamed".to_owned() } else { part.to_owned() }
}

/// Only a result of the same scenario and mix is replaced.
fn check_replaceable(place: &Path, found: &PublishedRecord) -> Result<(), CliError> {
    let refused = |reason: &str| {
        let advice = "remove it, or choose another folder with --into";
        Err(CliError::usage(format!("{} is not replaced: {reason}; {advice}", place.display())))
    };
    match fs::read_dir(place).map(|mut entries| entries.next().is_none()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(_) => return refused("it is no folder that can be read"),
        Ok(true) => return Ok(()),
        Ok(false) => {}
    }
    if !place.join(PUBLISHED_FILE).is_file() {
        return refused(&format!("it has no {PUBLISHED_FILE}, so it is not a published result"));
    }
    match results::load_as::<PublishedRecord>(place) {
        // Names that differ may have the same path.
        Ok(old) if old.scenario.name != found.scenario.name || old.mix.name != found.mix.name => {
            refused("it is a result of another scenario or mix")
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

fn write_files(record: &RunRecord, found: &PublishedRecord, report: &Report, folder: &Path) -> Result<(), CliError> {
    results::save_document(found, folder)?;
    results::save_compressed(record, folder)?;
    let path = folder.join(MARKDOWN_FILE);
    // A run that is not published stays where its files may be removed.
    let others = report.others.iter().filter(|(_, folder)| folder.join(PUBLISHED_FILE).is_file()).cloned();
    let onward = onward::of_run(folder, Form::Markdown, record, &others.collect::<Vec<_>>());
    let text = written(&Markdown, &report.clone().leading_to(onward));
    results::write_whole(&path, &text).map_err(|error| write_error(&path, &error))
}

/// Puts a complete folder in the place of another one, which stays if that fails.
pub(super) fn replace(folder: TempDir, place: &Path) -> io::Result<()> {
    let parent = place.parent().unwrap_or(Path::new("."));
    if !place.exists() {
        fs::rename(folder.path(), place)?;
        // It is not there any more, under this name.
        let _ = folder.keep();
        return Ok(());
    }
    let old = tempfile::Builder::new().prefix(".replaced-").tempdir_in(parent)?;
    let kept = old.path().join("old");
    fs::rename(place, &kept)?;
    if let Err(error) = fs::rename(folder.path(), place) {
        fs::rename(&kept, place)?;
        return Err(error);
    }
    let _ = folder.keep();
    old.close()
}

#[cfg(test)]
mod tests {
    use crate::results::{COMPRESSED_RUN_FILE, load, load_as, save};
    use crate::stats::sample;

    use super::*;

    /// A run that may be published, in a folder of its own.
    fn saved(change: impl FnOnce(&mut RunRecord)) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut run = sample::whole(&sample::run(8));
        run.scenario.text = "format: 1\nname: blog\ntitle: \"Embed?\"\ngroup: embed or reference\nmixes:\n  default: \
                             { add_comment: 2, read_post: 1.5 }\n  large: { parameters: { posts: 9 }, read_post: 1 }\n  \
                             ratio: { read_post: \"posts * 2\" }\n"
            .into();
        change(&mut run);
        save(&run, folder.path()).unwrap();
        folder
    }

    fn publish_to(run: &Path, into: &Path, machine: Option<&str>) -> Result<Exit, CliError> {
        let machine = machine.map(str::to_owned);
        publish(&PublishArguments { run: run.to_owned(), into: into.to_owned(), machine, replace: false })
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.collect();
        names.sort();
        names
    }

    #[test]
    fn a_published_run_is_read_and_published_again() {
        let (run, into) = (saved(|_| {}), tempfile::tempdir().unwrap());
        publish_to(run.path(), into.path(), Some("m6i")).unwrap();
        let place = into.path().join("blog-comments/default/mongodb-6.0.5-2-cores-m6i");
        let files = [MARKDOWN_FILE, COMPRESSED_RUN_FILE, PUBLISHED_FILE];
        let mut expected = files.map(str::to_owned);
        expected.sort();
        assert_eq!(names(&place), expected);
        assert_eq!(load(&place).unwrap(), load(run.path()).unwrap());
        let found = load_as::<PublishedRecord>(&place).unwrap();
        assert_eq!(found.scenario.group.as_deref(), Some("embed or reference"));
        let mixes: Vec<_> = found.scenario.mixes.iter().map(|mix| (mix.name.as_str(), mix.has_parameters)).collect();
        assert_eq!(mixes, [("default", false), ("large", true), ("ratio", false)]);
        assert_eq!(found.scenario.mixes[0].weights.as_ref().unwrap()[1], ("read_post".to_owned(), 1.5));
        assert_eq!(found.scenario.mixes[2].weights, None);
        let bytes = |name: &str| fs::read(place.join(name)).unwrap();
        let before = files.map(bytes);
        assert!(before[2].len() < 15_000, "{}", before[2].len());
        // It keeps the machine's name, and nothing that was there before.
        fs::write(place.join("more"), "").unwrap();
        publish_to(&place, into.path(), None).unwrap();
        assert_eq!((names(&place).len(), files.map(bytes)), (3, before));
        assert_eq!(names(place.parent().unwrap()), ["mongodb-6.0.5-2-cores-m6i"], "no temporary folders stay");
    }

    #[test]
    fn runs_without_numbers_to_rely_on_are_refused() {
        let refused = |change: &dyn Fn(&mut RunRecord), expected: &str| {
            let (run, into) = (saved(change), tempfile::tempdir().unwrap());
            let error = publish_to(run.path(), into.path(), None).unwrap_err();
            assert!(error.message.contains(expected) && error.exit == Exit::Usage, "{expected}: {}", error.message);
            assert!(names(into.path()).is_empty());
        };
        refused(&|run| run.status = Status::Interrupted, "it was interrupted");
        refused(&|run| run.status = Status::Unfinished, "it has not finished");
        refused(&|run| run.status = Status::Failed("server\nlost".into()), "it failed (server lost)");
        refused(&|run| run.settings.preset = Preset::Smoke, "preset smoke is too short");
        refused(&|run| run.parts.values_mut().for_each(|rounds| rounds.truncate(5)), "it has 5 rounds");
        refused(&|run| drop(run.parts.remove(&Part::Rate)), "it has no part rate");
        refused(&|run| run.settings.set = vec![("posts".into(), "9".into())], "--set");
        let connection = |run: &mut RunRecord| {
            let rounds = run.parts.values_mut().flatten();
            rounds.flat_map(|round| &mut round.cells).for_each(|cell| cell.connections_created = 3);
        };
        refused(&connection, "the run is invalid: ");
    }

    #[test]
    fn hostile_names_stay_beneath_the_folder() {
        for (name, expected) in [
            ("../../etc", "-..-etc"),
            ("/root", "-root"),
            (".", "unnamed"),
            ("..", "unnamed"),
            ("", "unnamed"),
            ("a\u{0}b\nc", "a-b-c"),
            ("\u{e9}t\u{e9}", "-t-"),
        ] {
            assert_eq!(part(name), expected, "{name:?}");
        }
        assert_eq!(part(&"x".repeat(500)).len(), LONGEST_PART);
        let hostile = |run: &mut RunRecord| {
            (run.scenario.name, run.mix.name) = ("../../../above".into(), "..".into());
            run.server.version = "6/../../0".into();
        };
        let (run, root) = (saved(hostile), tempfile::tempdir().unwrap());
        let into = root.path().join("into");
        publish_to(run.path(), &into, None).unwrap();
        assert_eq!(names(root.path()), ["into"]);
        assert!(into.join("-..-..-above/unnamed/mongodb-6-..-..-0-2-cores").join(PUBLISHED_FILE).is_file());
        let error = publish_to(run.path(), &into, Some("../x")).unwrap_err();
        assert!(error.message.starts_with("--machine ../x: expected"), "{}", error.message);
    }

    #[test]
    fn only_results_of_the_same_mix_are_replaced() {
        let (run, into) = (saved(|_| {}), tempfile::tempdir().unwrap());
        let place = into.path().join("blog-comments/default/mongodb-6.0.5-2-cores");
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("notes"), "mine").unwrap();
        let refused = |run: &Path, expected: &str| {
            let error = publish_to(run, into.path(), None).unwrap_err();
            assert!(error.message.contains(expected), "{}", error.message);
        };
        refused(run.path(), "it has no summary.json");
        assert_eq!(fs::read_to_string(place.join("notes")).unwrap(), "mine");
        fs::remove_file(place.join("notes")).unwrap();
        publish_to(run.path(), into.path(), None).unwrap();
        let other = saved(|run| run.scenario.name = "blog?comments".into());
        refused(other.path(), "it is a result of another scenario or mix");
        fs::write(place.join(PUBLISHED_FILE), "{").unwrap();
        publish_to(run.path(), into.path(), None).unwrap();
        assert!(load_as::<PublishedRecord>(&place).is_ok());
    }

    /// The same run in a later session.
    fn saved_later(day: u64, change: impl FnOnce(&mut RunRecord)) -> TempDir {
        saved(|run| {
            (run.started, run.settings.seed) = (format!("2026-02-0{day}T12:00:00Z"), 100 + day);
            change(run);
        })
    }

    fn sessions(place: &Path) -> Vec<u64> {
        let found = load_as::<PublishedRecord>(place).unwrap();
        let last = found.sessions.last().unwrap();
        assert_eq!((&found.started, found.seed), (&last.started, last.seed), "the record is that of the newest");
        assert_eq!(load(place).unwrap().settings.seed, found.seed);
        found.sessions.iter().map(|session| session.seed).collect()
    }

    #[test]
    fn another_run_is_another_session() {
        let into = tempfile::tempdir().unwrap();
        let place = into.path().join("blog-comments/default/mongodb-6.0.5-2-cores");
        let [first, second, third] = [1, 2, 3].map(|day| saved_later(day, |_| {}));
        let publish = |run: &Path| publish_to(run, into.path(), None).unwrap();
        publish(second.path());
        assert_eq!(sessions(&place), [102]);
        publish(third.path());
        assert_eq!(sessions(&place), [102, 103]);
        publish(first.path());
        assert_eq!(sessions(&place), [101, 102, 103], "an older one is added, too");
        let bytes = || fs::read(place.join(PUBLISHED_FILE)).unwrap();
        let before = bytes();
        assert!(before.len() < 20_000, "{}", before.len());
        publish(&place);
        publish(second.path());
        assert_eq!(bytes(), before, "what is there already changes nothing");
        let found = load_as::<PublishedRecord>(&place).unwrap();
        let numbers = &found.sessions[0].numbers;
        assert_eq!(numbers.len(), 4);
        let calls = &numbers[&crate::results::PublishedMetric::CALLS_PER_SECOND];
        assert_eq!(calls.keys().collect::<Vec<_>>(), ["embedded", "linked"], "the third one is unsafe");
        assert!(calls.values().all(|rounds| rounds.len() == 8 && rounds.iter().all(Option::is_some)));
        // Files of before have no list.
        results::save_document(&PublishedRecord { sessions: Vec::new(), ..found }, &place).unwrap();
        publish(saved_later(4, |_| {}).path());
        assert_eq!(sessions(&place), [103, 104]);
        // Elsewhere, a published result has its sessions, too.
        let other = tempfile::tempdir().unwrap();
        publish_to(&place, other.path(), None).unwrap();
        assert_eq!(sessions(&other.path().join("blog-comments/default/mongodb-6.0.5-2-cores")), [103, 104]);
    }

    #[test]
    fn runs_that_are_no_other_session_are_refused_or_replace_it() {
        let (run, into) = (saved_later(1, |_| {}), tempfile::tempdir().unwrap());
        let place = into.path().join("blog-comments/default/mongodb-6.0.5-2-cores");
        publish_to(run.path(), into.path(), None).unwrap();
        let refused = |change: &dyn Fn(&mut RunRecord), words: &[&str]| {
            let other = saved_later(2, change);
            let error = publish_to(other.path(), into.path(), None).unwrap_err().message;
            let all = [words, &["not published as a session of", "use --replace"]].concat();
            all.iter().for_each(|word| assert!(error.contains(word), "{word:?} is not in {error}"));
            assert_eq!(sessions(&place), [101]);
            other
        };
        refused(&|run| run.scenario.sha256 = "0a".repeat(32), &["begins with 0a0a0a0a0a0a, and there 5f5f5f5f5f5f"]);
        refused(&|run| run.settings.clients = 9, &["its clients are 9, and there 7"]);
        let sharded = |run: &mut RunRecord| run.server.topology = "a sharded cluster".into();
        refused(&sharded, &["its server is a sharded cluster, and there replica set of one"]);
        let three = saved_later(2, |run| run.server.topology = "a replica set of 3 data-bearing members".into());
        publish_to(three.path(), into.path(), None).unwrap();
        assert_eq!(sessions(&place.with_file_name("mongodb-6.0.5-3-members-2-cores")), [102]);
        let renamed = |run: &mut RunRecord| run.strategies[1].name = "referenced".into();
        refused(
            &renamed,
            &["its strategies are bucket_rmw, embedded, referenced, and there bucket_rmw, embedded, linked"],
        );
        let newer =
            refused(&|run| run.version = "0.2.0".into(), &["its version of docshape is 0.2.0, and there 0.1.0"]);
        let (run, into) = (newer.path().to_owned(), into.path().to_owned());
        publish(&PublishArguments { run, into, machine: None, replace: true }).unwrap();
        assert_eq!(sessions(&place), [102]);
    }

    #[test]
    fn sessions_that_disagree_have_no_winner() {
        let run = load(saved_later(1, |_| {}).path()).unwrap();
        let mut found = published(&run, scenario(&run), "");
        assert_eq!(found.answer.winner.as_deref(), Some("linked"));
        found.sessions.push(found.sessions[0].clone());
        let alike = found.clone();
        settle(&mut found);
        assert_eq!(found, alike);
        found.sessions[0].winner = Some("embedded".into());
        settle(&mut found);
        assert_eq!((found.answer.winner.as_deref(), found.answer.leading.len()), (None, 2));
        assert!(found.answer.beaten.is_empty());
        let text = super::super::sessions::answer_text(&found, &super::super::sessions::Spreads::default()).unwrap();
        assert_eq!(text, "Sessions disagree: embedded is best in 1 of 2 and linked is best in 1 of 2.");
    }
}
