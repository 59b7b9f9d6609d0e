//! Foreign texts in every place of a report, and records that were changed at random, in all forms.

use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser};
use serde_json::{Value, json};

use crate::record::CallOutcome;
use crate::results::{
    AuditRecord, ClaimRecord, OutcomeRecord, RUN_FILE, Relation, RunRecord, SliceRecord, Status, Than, load, save,
};
use crate::stats::run_comparison::{RunSides, compare_runs};
use crate::stats::sample;
use crate::studies::capacity::record::{
    CAPACITY_FORMAT, CapacityRecord, ConfirmationRecord, SearchRecord, TrialRecord,
};
use crate::studies::growth::report as growth;
use crate::studies::published::rules;
use crate::studies::shard_key::report as shard_key;
use crate::studies::sweep::report as sweep;

use super::comparison::ComparedRuns;
use super::document::format::{plain, steers};
use super::write::csv::csv as metrics;
use super::write::html::tests::markup;
use super::write::smoke::smoke;
use super::{CSV_COLUMNS, Html, Json, Junit, Markdown, NamedRun, Renderer, Report, Terminal, verification};

/// Texts that are markup in one form or another, or steer a terminal.
pub(crate) const HOSTILE: [&str; 38] = [
    "</script></title><script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "<!-- comment",
    "<http://e.example>",
    "]]>",
    "&lt;b&gt;",
    "a|b|c",
    "\n| a | b |\n|---|---|\n| c | d |",
    "`code`",
    "``",
    "```",
    "~~~",
    "\n```\nfence",
    "![picture](http://e.example/x.png)",
    "[link](javascript:alert(1))",
    "[name]: http://e.example",
    "[^1]",
    "[x] done",
    "# heading",
    "\n\n## heading\n",
    "heading\n===",
    "---",
    "- item",
    "* item",
    "1. item",
    "7) item",
    "> quoted",
    "**strong** _emphasis_ ***both***",
    "~~gone~~",
    "$x$ $$y$$",
    "ends in \\",
    "    indented\tand tabbed",
    "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\r\u{8}",
    "\u{202e}desrever\u{2066}\u{61c}\u{200b}\u{feff}\u{e0041}",
    "\u{0}\u{fffe}\u{ffff}\u{85}\u{2028}\u{2029}x",
    "=HYPERLINK(\"http://e.example\")",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "a,b;\"c\"\r\nd",
];

/// As many rounds as claims need.
static WHOLE: LazyLock<RunRecord> = LazyLock::new(|| sample::run(6));

/// A run with everything that a report has a place for, this text in all of them.
fn run(text: &str) -> RunRecord {
    let mut run = WHOLE.clone();
    let own = || text.to_owned();
    run.status = Status::Failed(own());
    run.started = own();
    run.version = own();
    run.git = Some(own());
    run.id = own();
    run.scenario.name = own();
    run.scenario.title = own();
    run.scenario.about = own();
    run.scenario.sha256 = own();
    run.scenario.text = format!("{text}\nstrategies:\n  {text}: \"{text}\"\n");
    run.strategies[1].name = own();
    run.strategies[1].about = own();
    run.operations[0] = own();
    run.mix.name = own();
    run.mix.weights[0].0 = own();
    run.parameters[0] = (own(), text.into());
    run.settings.write_concern = own();
    run.settings.thresholds = vec![own(), format!("{text}.read_post.p50<9ms")];
    run.warnings = vec![own()];
    run.server.version = own();
    run.server.topology = own();
    run.server.facts = vec![(own(), own())];
    run.environment.cpu = Some(own());
    let claim = ClaimRecord {
        id: own(),
        says: own(),
        source: Some(own()),
        metric: own(),
        operation: Some(own()),
        strategy: own(),
        relation: Relation::Below,
        than: Than::Strategy(own()),
        ..ClaimRecord::default()
    };
    let than = Than::Other { strategy: own(), operation: Some(own()), times: 0.5, expression: Some(own()) };
    let set = vec![(own(), own().into())];
    let other = ClaimRecord { mix: Some(own()), set, than, audit: Some(own()), by_design: true, ..claim.clone() };
    let than = Than::Evaluated { expression: own(), number: 2.0 };
    run.claims = vec![other, ClaimRecord { outcome: Some(own()), than, ..claim.clone() }, claim];
    for cell in run.rounds.iter_mut().flat_map(|round| &mut round.cells) {
        cell.slices = (1..5)
            .map(|slice| SliceRecord { calls: 100, seconds: 0.01 * f64::from(slice), ..SliceRecord::default() })
            .collect();
        cell.audits = vec![AuditRecord { audit: own(), found: 2, expected: [0, 0], example: Some(own()) }];
        for sizes in [&mut cell.before[0], &mut cell.after[0]] {
            sizes.name = own();
            sizes.indexes = BTreeMap::from([(own(), 4_096)]);
        }
        let operation = &mut cell.operations[0];
        let outcome = operation.outcomes[0].clone();
        operation.outcomes.push(OutcomeRecord { outcome: CallOutcome::Rejected(text.into()), ..outcome });
        operation.errors.insert(own(), 1);
        operation.messages.insert(own(), own());
        operation.retries.insert(own(), 1);
    }
    run
}

fn written(renderer: &dyn Renderer, report: &Report) -> String {
    let mut text = String::new();
    renderer.render(report, &mut text).unwrap();
    text
}

fn table(record: &RunRecord) -> String {
    let mut text = String::new();
    metrics(record, &mut text).unwrap();
    text
}

fn assert_still(text: &str, what: &str) {
    let found = text.chars().find(|c| !matches!(c, '\n' | '\t') && steers(*c));
    assert_eq!(found, None, "{what}");
}

/// What a Markdown text is made of, without its words, and the words of its first heading.
pub(crate) fn structure(text: &str) -> (Vec<String>, String) {
    let options = Options::all() - Options::ENABLE_SMART_PUNCTUATION;
    let (mut parts, mut title) = (Vec::new(), String::new());
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Text(words) if parts.len() == 1 => title.push_str(&words),
            Event::Text(_) | Event::SoftBreak | Event::End(_) => {}
            Event::Start(tag) => parts.push(format!("{tag:?}")),
            other => parts.push(format!("{other:?}")),
        }
    }
    (parts, title)
}

#[test]
fn markdown_has_the_same_parts_whatever_its_texts_are() {
    let of = |text: &str| {
        structure(&written(&Markdown, &crate::report::tests::report(&run(text)).in_folder(text).with_files()))
    };
    let (wanted, title) = of("word");
    assert!(wanted.len() > 200 && title == "word", "{} {title}", wanted.len());
    for text in HOSTILE {
        let (found, title) = of(text);
        let first = wanted.iter().zip(&found).position(|(wanted, found)| wanted != found);
        let near = first.map(|place| &found[place.saturating_sub(2)..(place + 2).min(found.len())]);
        assert!(found == wanted, "{text:?}: {} parts, not {}; {near:?}", found.len(), wanted.len());
        assert_eq!(title, plain(text), "what is read is what was written");
    }
}

/// The reports that are not about a single run, with this text in every place.
fn others_with(text: &str) -> [Report; 8] {
    let mut record = run(text);
    record.rounds.truncate(2);
    let named = || NamedRun { name: text.to_owned(), record: record.clone() };
    let mut older = named();
    older.record.server.facts = vec![(text.to_owned(), "older".into())];
    let strategies: Vec<String> = record.strategies.iter().take(2).map(|strategy| strategy.name.clone()).collect();
    let (sides, reference) = ([&record], Some(strategies[0].as_str()));
    let runs = RunSides { before: &sides, after: &sides, strategies: &strategies, reference, tolerance: 0.05 };
    let comparison = Report::of_comparison(
        &compare_runs(runs).unwrap(),
        ComparedRuns {
            before: &[older],
            after: &[named()],
            tolerance: 0.05,
            changed: std::slice::from_ref(&record.mix.name),
        },
    );
    let trial = TrialRecord { rate: 9.0, offered: 9, failed: 0, measured: None, overloaded: false, passed: true };
    let search = SearchRecord { round: 0, strategy: 1, trials: vec![trial.clone()] };
    let confirmations = vec![ConfirmationRecord { strategy: 1, seconds: 60.0, trial }];
    let capacity = Report::of_capacity(&CapacityRecord {
        format: CAPACITY_FORMAT,
        objective: text.into(),
        run: record.clone(),
        confirm: 60.0,
        start: Some(1.0),
        searches: vec![search],
        unfinished: None,
        confirmations,
    });
    [
        comparison,
        capacity,
        verification::tests::named(text),
        Report::of_runs(&[NamedRun { name: "folder".into(), ..named() }]),
        sweep::tests::named(&sample::whole(&record), text),
        growth::tests::named(&record, text),
        shard_key::tests::named(text),
        rules::tests::named(&sample::whole(&record), text),
    ]
}

#[test]
fn other_reports_are_well_formed_whatever_their_texts_are() {
    let expected = others_with("word").map(|report| structure(&written(&Markdown, &report)).0);
    for text in HOSTILE {
        for (report, expected) in others_with(text).iter().zip(&expected) {
            assert_eq!(&structure(&written(&Markdown, report)).0, expected, "{text:?}");
            for renderer in
                [&Markdown as &dyn Renderer, &Html, &Json, &Terminal { width: 80, colour: false, full: true }]
            {
                assert_still(&written(renderer, report), text);
            }
            markup::read(&written(&Html, report));
        }
    }
}

#[test]
fn nothing_steers_a_terminal_and_every_form_is_well_formed() {
    for text in HOSTILE {
        let record = run(text);
        let report = crate::report::tests::report(&record).in_folder(text).with_files();
        for width in [20, 80, 120] {
            let shown = written(&Terminal { width, colour: false, full: true }, &report);
            assert_still(&shown, "terminal");
            // With colour there are these sequences, and no others.
            let coloured = written(&Terminal { width, colour: true, full: true }, &report);
            let bare = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m"]
                .iter()
                .fold(coloured, |text, sequence| text.replace(sequence, ""));
            assert_eq!(bare, shown);
        }
        for (what, text) in [("html", written(&Html, &report)), ("junit", written(&Junit, &report))] {
            assert_still(&text, what);
            assert!(!text.contains("<img") && !text.contains("<script>alert"), "{what}");
        }
        markup::read(&written(&Html, &report));
        for picture in report.pictures() {
            assert_still(&picture.text, picture.file);
            let root = markup::read(&picture.text);
            root.walk(&mut |element| assert!(!["script", "img", "b", "a"].contains(&element.name.as_str())));
        }
        let lines = smoke(&sample::whole(&record), &report).replace("\u{1b}[1m\u{1b}[31m", "").replace("\u{1b}[0m", "");
        assert_still(&lines, "smoke");
        assert_still(&written(&Json, &report), "json");
        assert_still(&written(&Markdown, &report), "markdown");
    }
}

#[test]
fn names_of_other_mixes_stay_text() {
    let of = |text: &str| {
        let record = sample::whole(&sample::run(6));
        let mut other = record.clone();
        other.mix.name = text.to_owned();
        let report = Report::among(&record, vec![(std::path::PathBuf::new(), other)]);
        let page = written(&Html, &report);
        assert_still(&page, text);
        let root = markup::read(&page);
        let numbers = root.all("script").into_iter().find(|script| script.get("type") == "application/json").unwrap();
        let numbers: Value = serde_json::from_str(&numbers.text).unwrap();
        assert_eq!(numbers["mixes"][1]["name"], plain(text));
        structure(&written(&Markdown, &report)).0
    };
    let expected = of("word");
    HOSTILE.into_iter().for_each(|text| assert_eq!(of(text), expected, "{text:?}"));
}

#[test]
fn a_table_has_its_columns_whatever_its_texts_are_and_no_formula() {
    for text in HOSTILE {
        let mut run = run(text);
        run.rounds.truncate(2);
        let written = table(&sample::whole(&run));
        assert_still(&written, text);
        let mut reader = ::csv::Reader::from_reader(written.as_bytes());
        assert!(reader.headers().unwrap().iter().eq(CSV_COLUMNS.split(',')));
        let mut arms = 0;
        for row in reader.records() {
            let row = row.unwrap();
            arms += usize::from(row[5].trim_start_matches('\'') == plain(text));
            assert!(row[13].parse::<f64>().unwrap().is_finite());
            assert!(row.iter().take(13).all(|cell| !cell.starts_with(['=', '+', '-', '@'])), "{row:?}");
        }
        assert!(arms > 100, "{text:?} is the second strategy's name: {arms} rows");
    }
}

/// The places of everything in a value.
fn places(value: &Value, place: String, all: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| places(item, format!("{place}/{at}"), all));
        }
        Value::Object(fields) => fields.iter().for_each(|(name, field)| {
            places(field, format!("{place}/{}", name.replace('~', "~0").replace('/', "~1")), all);
        }),
        _ => {}
    }
    all.push(place);
}

/// What a value is replaced by; the last is another value of the same record.
fn others() -> Vec<Value> {
    vec![
        json!(0),
        json!(1),
        json!(-1),
        json!(0.5),
        json!(1e308),
        json!(-1e308),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(null),
        json!(true),
        json!(""),
        json!("NaN"),
        json!("AAAA"),
        json!([]),
        json!({}),
        json!("\u{1b}[2J|<b>"),
    ]
}

/// Deletes, doubles or replaces what is at a place.
fn change(run: &mut Value, place: &str, how: usize, other: &Value) {
    let Some((parent, name)) = place.rsplit_once('/') else { return };
    let name = name.replace("~1", "/").replace("~0", "~");
    match (run.pointer_mut(parent), how) {
        (Some(Value::Object(fields)), 0) => drop(fields.remove(&name)),
        (Some(Value::Array(items)), 0) => {
            drop(name.parse().ok().filter(|at| *at < items.len()).map(|at: usize| items.remove(at)));
        }
        (Some(Value::Array(items)), 1) => {
            if let Some(item) = name.parse().ok().and_then(|at: usize| items.get(at)).cloned() {
                items.push(item);
            }
        }
        (Some(Value::Object(fields)), 1) => {
            if let Some(field) = fields.get(&name).cloned() {
                fields.insert(format!("{name} again"), field);
            }
        }
        _ => {
            if let Some(value) = run.pointer_mut(place) {
                *value = other.clone();
            }
        }
    }
}

/// A run record with every part, as stored on disk, and the paths of all its values.
fn stored() -> (Value, Vec<String>) {
    let mut record = run("word");
    // Names must be distinct, and outcomes must add up to the calls.
    record.rounds.truncate(2);
    for operation in record.rounds.iter_mut().flat_map(|round| &mut round.cells).flat_map(|cell| &mut cell.operations) {
        operation.calls = operation.outcomes.iter().map(|outcome| outcome.count).sum();
    }
    let value = serde_json::to_value(record).unwrap();
    let mut all = Vec::new();
    places(&value, String::new(), &mut all);
    (value, all)
}

#[test]
fn what_is_stored_here_can_be_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let (value, _) = stored();
    fs::write(folder.path().join(RUN_FILE), value.to_string()).unwrap();
    let record = load(folder.path()).unwrap();
    save(&record, folder.path()).unwrap();
    assert_eq!(load(folder.path()).unwrap(), record);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_record_changed_anywhere_is_refused_with_its_name_or_reported_in_every_form(
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, any::<prop::sample::Index>()), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (mut value, all) = stored();
        for (place, how, other) in &changes {
            change(&mut value, &all[place.index(all.len())], *how, other.get(&others()));
        }
        fs::write(folder.path().join(RUN_FILE), value.to_string()).unwrap();
        match load(folder.path()) {
            Err(error) => {
                let message = error.to_string();
                prop_assert!(message.contains(RUN_FILE) && message.contains("; "), "{}", message);
            }
            Ok(record) => {
                let report = crate::report::tests::report(&record).in_folder("somewhere").with_files();
                for renderer in [&Markdown as &dyn Renderer, &Html, &Junit, &Terminal { width: 80, colour: true, full: true }] {
                    prop_assert!(!written(renderer, &report).is_empty());
                }
                prop_assert_eq!(super::write::json::tests::faults(&written(&Json, &report)), [""; 0]);
                let table = table(&record);
                prop_assert!(::csv::Reader::from_reader(table.as_bytes()).records().all(|row| row.is_ok()));
                report.pictures().iter().for_each(|picture| drop(markup::read(&picture.text)));
            }
        }
    }
}
