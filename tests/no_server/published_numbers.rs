//! Numbers in README.md and docs/ that come from published results, recomputed from the files.
//!
//! An author marks a number with a comment right behind it, which readers do not see:
//!
//! ```text
//! 1.80 ms<!-- from results/blog-comments/summary.json#/strategies/linked/mean_ns -->
//! 2.1x<!-- from results/a/summary.json#/strategies/embedded/mean_ns / #/strategies/linked/mean_ns -->
//! ```
//!
//! In a table, a comment with a number of its own (`2.1x<!-- 3 -->`) refers to a line of the list `<!-- numbers from`, which is below it:
//!
//! ```text
//! <!-- numbers from
//! 3 results/a/summary.json#/strategies/embedded/mean_ns
//! -->
//! ```
//!
//! `FILE#POINTER` is a number of a JSON file; in the pointer, the item of a list may be named by its `name`. Behind ` / ` stands
//! a divisor, of the same file unless it names another. What is printed must be the number in its unit, rounded to as many
//! decimals. A field `..._ns` is printed as ns, µs, ms or s, `..._bytes` as B, KB, MB or GB, any other as it is, with x, or in %.

use std::fs;
use std::path::Path;

use docshape::results::{self, PUBLISHED_FILE, PublishedRecord, SessionsRecord, is_run_folder};
use docshape::stats::{ResultSessions, published_spread, spreads};
use docshape::studies::sweep::record::SweepRecord;
use serde_json::Value;

const MARK: &str = "<!-- from ";
const LIST: &str = "<!-- numbers from\n";

/// Units, the suffix of the fields that they are for, and their size.
const UNITS: [(&str, &str, f64); 10] = [
    ("ns", "_ns", 1.0),
    ("µs", "_ns", 1e3),
    ("ms", "_ns", 1e6),
    ("KB", "_bytes", 1e3),
    ("MB", "_bytes", 1e6),
    ("GB", "_bytes", 1e9),
    ("B", "_bytes", 1.0),
    ("s", "_ns", 1e9),
    ("x", "", 1.0),
    ("%", "", 0.01),
];

/// A text whose comments that refer to its list have the line of the list instead; or the lines to which no comment refers.
fn with_list(text: &str) -> Result<String, Vec<String>> {
    let Some((above, list)) = text.split_once(LIST) else { return Ok(text.to_owned()) };
    let (list, below) = list.split_once("-->").ok_or_else(|| vec!["the list has no end `-->`".to_owned()])?;
    let (mut text, mut unused) = (format!("{above}{below}"), Vec::new());
    for line in list.lines() {
        let mark = line.split_once(' ').map(|(key, source)| (format!("<!-- {key} -->"), source));
        match mark.filter(|(mark, _)| text.contains(mark.as_str())) {
            Some((mark, source)) => text = text.replace(&mark, &format!("{MARK}{source} -->")),
            None => unused.push(format!("no comment refers to `{line}` of the list")),
        }
    }
    let left = text.split("<!-- ").skip(1).filter_map(|rest| rest.split_once(" -->"));
    let left = left.filter(|(key, _)| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit()));
    unused.extend(left.map(|(key, _)| format!("the list has no line {key}")));
    if unused.is_empty() { Ok(text) } else { Err(unused) }
}

/// What is wrong with the marked numbers of a text, and how many there are.
fn check(text: &str, root: &Path) -> (usize, Vec<String>) {
    let text = match with_list(text) {
        Ok(text) => text,
        Err(wrong) => return (0, wrong),
    };
    let marks: Vec<(usize, &str)> = text.match_indices(MARK).collect();
    let wrong = marks.iter().filter_map(|(at, _)| {
        let line = text[..*at].lines().count().max(1);
        check_mark(&text[..*at], &text[at + MARK.len()..], root).err().map(|error| format!("line {line}: {error}"))
    });
    (marks.len(), wrong.collect())
}

fn check_mark(before: &str, behind: &str, root: &Path) -> Result<(), String> {
    let (source, _) = behind.split_once(" -->").ok_or("the comment has no end ` -->`")?;
    let (printed, unit) = printed(before).ok_or("no number stands right before the comment")?;
    let (file, rest) = source.split_once('#').ok_or("expected FILE#POINTER")?;
    let (pointer, divisor) = rest.split_once(" / ").map_or((rest, None), |(pointer, other)| (pointer, Some(other)));
    let mut value = number(&root.join(file), pointer)?;
    if let Some(divisor) = divisor {
        let (other, pointer) = divisor.split_once('#').ok_or("expected FILE#POINTER or #POINTER behind ` / `")?;
        value /= number(&root.join(if other.is_empty() { file } else { other }), pointer)?;
    }
    let kind = if divisor.is_some() {
        ""
    } else {
        ["_ns", "_bytes"].into_iter().find(|end| pointer.ends_with(end)).unwrap_or("")
    };
    let size = match UNITS.iter().find(|(name, ..)| *name == unit) {
        Some((_, of, size)) if *of == kind => *size,
        None if kind.is_empty() => 1.0,
        _ => return Err(format!("`{pointer}` cannot be printed with the unit `{unit}`")),
    };
    let decimals = printed.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let expected = format!("{:.decimals$}", value / size);
    if printed.replace(',', "") == expected {
        Ok(())
    } else {
        Err(format!("{printed} {unit} is {expected} in {source}"))
    }
}

/// The number and the unit at the end of a text.
fn printed(text: &str) -> Option<(&str, &'static str)> {
    let text = text.trim_end_matches(['*', '`']);
    let unit = UNITS.iter().map(|(unit, ..)| *unit).find(|unit| text.ends_with(unit)).unwrap_or("");
    let text = text.strip_suffix(unit)?.trim_end_matches([' ', '\u{a0}', '\u{202f}']);
    let start = text.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ',').len();
    let number = text[start..].trim_start_matches([',', '.']);
    number.ends_with(|c: char| c.is_ascii_digit()).then_some((number, unit))
}

fn number(file: &Path, pointer: &str) -> Result<f64, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut value: &Value = &serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let missing = || format!("{} has no number `{pointer}`", file.display());
    for token in pointer.strip_prefix('/').ok_or_else(missing)?.split('/') {
        let token = token.replace("~1", "/").replace("~0", "~");
        let named = |items: &Vec<Value>| items.iter().position(|item| item.get("name") == Some(&token.as_str().into()));
        let item = value.as_array().and_then(|items| token.parse().ok().or_else(|| named(items)));
        value = item.map_or_else(|| value.get(&token), |place: usize| value.get(place)).ok_or_else(missing)?;
    }
    value.as_f64().ok_or_else(missing)
}

#[test]
fn marked_numbers_in_documents_are_those_of_the_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let pages: Vec<_> = std::iter::once(root.join("README.md")).chain(pages).collect();
    assert!(pages.len() > 10, "{pages:?}");
    let wrong = pages.iter().flat_map(|page| {
        let (_, wrong) = check(&fs::read_to_string(page).unwrap(), root);
        wrong.into_iter().map(move |error| format!("{}, {error}", page.display()))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "change the numbers, or the files that they come from:\n{}", wrong.join("\n"));
}

/// The folders of published results beneath a folder.
fn published_beneath(folder: &Path) -> Vec<std::path::PathBuf> {
    let folders = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut found: Vec<_> = folders.flat_map(|folder| published_beneath(&folder)).collect();
    found.extend(folder.join(PUBLISHED_FILE).is_file().then(|| folder.to_owned()));
    found
}

#[test]
fn the_spread_of_sessions_is_that_of_the_published_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let load = |folder: &std::path::PathBuf| results::load_as::<PublishedRecord>(folder).unwrap();
    let records: Vec<PublishedRecord> = published_beneath(&root).iter().map(load).collect();
    assert!(records.len() > 30, "{}", records.len());
    let sessions = records.iter().map(|one| ResultSessions { scenario: &one.scenario.name, sessions: &one.sessions });
    let file = results::load_as::<SessionsRecord>(&root).unwrap();
    let again = "write it again: docshape summary results --sessions --format json > results/sessions.json";
    assert_eq!(file.metrics, spreads(&sessions.collect::<Vec<_>>()).metrics, "{again}");
    for (metric, spread) in &file.metrics {
        let known = published_spread(*metric);
        assert_eq!(known, Some(*spread), "this program was built with another file");
    }
}

/// What git ignores is missing in every other checkout.
#[test]
fn published_sweeps_have_the_runs_of_their_points() {
    let sweeps = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/sweeps");
    let folders: Vec<_> = fs::read_dir(sweeps).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(folders.len() >= 10, "{folders:?}");
    for folder in folders {
        let record = results::load_as::<SweepRecord>(&folder).unwrap();
        let missing = record.points.iter().map(|point| folder.join(&point.folder)).find(|point| !is_run_folder(point));
        assert_eq!(missing, None);
    }
}

/// What is wrong with this text, for a file with numbers.
fn wrong(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = r#"{ "calls": 12345, "share": 0.0517, "strategies": [
        { "name": "embedded", "mean_ns": 3749000.0, "index_bytes": 40960 }, { "name": "linked", "mean_ns": 1804000.0 } ] }"#;
    fs::write(folder.path().join("a.json"), file).unwrap();
    check(text, folder.path()).1
}

#[test]
fn right_numbers_pass_in_their_units() {
    let right = "1.80 ms<!-- from a.json#/strategies/linked/mean_ns --> or 1,804 µs<!-- from a.json#/strategies/1/mean_ns -->,\n\
        **2.08x**<!-- from a.json#/strategies/embedded/mean_ns / #/strategies/linked/mean_ns -->, 41 KB<!-- from \
        a.json#/strategies/embedded/index_bytes -->, 12,345<!-- from a.json#/calls --> calls, 5.2 %<!-- from a.json#/share -->, \
        0.48<!-- from a.json#/strategies/linked/mean_ns / a.json#/strategies/embedded/mean_ns -->";
    let folder = tempfile::tempdir().unwrap();
    assert_eq!((check(right, folder.path()).0, wrong(right)), (7, Vec::<String>::new()));
}

#[test]
fn numbers_of_a_list_are_checked() {
    let list = "<!-- numbers from\n1 a.json#/calls\n12 a.json#/share\n-->\n";
    assert_eq!(wrong(&format!("12,345<!-- 1 --> and 5.2 %<!-- 12 -->\n{list}")), Vec::<String>::new());
    for (text, expected) in [
        ("12,346<!-- 1 --> and 5.2 %<!-- 12 -->", "is 12345 in"),
        ("12,345<!-- 1 -->", "no comment refers to `12 a.json#/share`"),
        ("12,345<!-- 1 --> and 5.2 %<!-- 12 --> of 3<!-- 2 -->", "the list has no line 2"),
    ] {
        let wrong = wrong(&format!("{text}\n{list}"));
        assert!(wrong.iter().any(|one| one.contains(expected)), "{text}: {wrong:?}");
    }
}

#[test]
fn a_number_that_was_changed_fails() {
    for (text, expected) in [
        ("1.81 ms<!-- from a.json#/strategies/linked/mean_ns -->", "1.81 ms is 1.80 in"),
        ("1.8 ms<!-- from a.json#/strategies/embedded/mean_ns -->", "1.8 ms is 3.7 in"),
        ("a\nb\n2.1<!-- from a.json#/share -->", "line 3: 2.1  is 0.1 in"),
        ("12,346<!-- from a.json#/calls -->", "is 12345 in"),
        ("2.07x<!-- from a.json#/strategies/embedded/mean_ns / #/strategies/linked/mean_ns -->", "is 2.08 in"),
        ("1.80 KB<!-- from a.json#/strategies/linked/mean_ns -->", "cannot be printed with the unit `KB`"),
        ("1.80<!-- from a.json#/strategies/linked/mean_ns -->", "cannot be printed with the unit ``"),
        ("many<!-- from a.json#/calls -->", "no number stands right before"),
        ("7<!-- from b.json#/calls -->", "b.json: "),
        ("7<!-- from a.json#/strategies/bucketed/mean_ns -->", "has no number"),
        ("7<!-- from a.json#/strategies/linked -->", "has no number"),
        ("7<!-- from a.json -->", "expected FILE#POINTER"),
        ("7<!-- from a.json#/calls", "has no end"),
    ] {
        let found = wrong(text);
        assert!(matches!(found.as_slice(), [one] if one.contains(expected)), "{text}: {found:?}");
    }
}
