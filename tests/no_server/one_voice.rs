//! Every kept result says one thing with one voice: no number has two values, no sentence of the first screen has a number that
//! stands in no table, and nobody names another winner.
//!
//! All forms are read as they are published: the JSON of the report, `summary.json`, the matrix, the CSV of the rounds, JUnit, and the
//! rules of thumb.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use docshape::report::{Json, Junit, Renderer, Report, csv};
use docshape::results::{self, PublishedMix, PublishedScenario, RunRecord};
use docshape::studies::published::matrix::{Matrix, PlacedResult};
use docshape::studies::published::summary_file::published;
use regex::Regex;
use serde_json::Value;

/// Metric, part, operation (`mix` for the mix) and strategy.
type Key = (String, &'static str, String, String);

/// The metrics of `summary.json` that other forms have, too, and the part that measures them.
const PUBLISHED: [(&str, &str, &str); 4] = [
    ("own_time", "mean", "own"),
    ("response_mean", "mean", "rate"),
    ("response_p99", "p99", "rate"),
    ("calls_per_second", "throughput", "saturation"),
];

/// A factor before a unit gives nanoseconds, bytes, or a number by itself.
const UNITS: [(&str, f64); 9] = [
    ("ns", 1.0),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("B", 1.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("calls/s", 1.0),
];

/// What all forms say of one result.
struct Said {
    report: Value,
    summary: Value,
    /// The text of the row of the matrix, and what stands above it.
    matrix: (Vec<(String, String)>, String),
    csv: String,
    junit: String,
    /// The run as it is kept, for its claims and parameters.
    record: Value,
}

fn rendered(renderer: &dyn Renderer, report: &Report) -> String {
    let mut out = String::new();
    renderer.render(report, &mut out).unwrap();
    out
}

impl Said {
    fn of(record: &RunRecord) -> Said {
        let mut record = record.clone();
        // Thresholds that fail, because JUnit has numbers of those alone.
        let operations = record.mix.weights.iter().filter(|(_, weight)| *weight > 0.0);
        let mean = |(operation, _): &(String, f64)| format!("{}.{operation}.mean<1ns", record.strategies[0].name);
        record.settings.thresholds = operations.map(mean).collect();
        let record = &record;
        let claims = (&record.scenario.name, &record.mix.name, &record.parameters, &record.claims);
        let scenario = PublishedScenario {
            name: record.scenario.name.clone(),
            title: record.scenario.title.clone(),
            group: None,
            sha256: record.scenario.sha256.clone(),
            mixes: vec![PublishedMix { name: record.mix.name.clone(), weights: None, has_parameters: false }],
        };
        let summary = published(record, scenario, "");
        let placed = PlacedResult { folder: "a".into(), record: summary.clone(), has_page: false, has_markdown: false };
        let mut default = placed.clone();
        default.record.mix.name = "default".into();
        let matrix = Matrix::new(vec![default], &[], &[]);
        let scenario = &matrix.groups[0].scenarios[0];
        let cells = scenario.rows[0].first().iter().map(|cell| cell.text());
        let names = scenario.strategies.iter().map(|strategy| strategy.name.clone());
        let mut table = String::new();
        csv(record, &mut table).unwrap();
        Said {
            report: serde_json::from_str(&rendered(&Json, &Report::new(record))).unwrap(),
            junit: rendered(&Junit, &Report::new(record)),
            record: serde_json::to_value(claims).unwrap(),
            summary: serde_json::to_value(&summary).unwrap(),
            matrix: (names.zip(cells).collect(), scenario.answer.clone()),
            csv: table,
        }
    }

    fn rows(&self, table: &str) -> &[Value] {
        self.report["tables"][table].as_array().map_or(&[], Vec::as_slice)
    }

    /// The part that the main tables are of.
    fn main(&self) -> &'static str {
        let has = |part: &str| self.rows("mix").iter().any(|row| row["part"] == part);
        ["rate", "saturation"].into_iter().find(|part| has(part)).unwrap_or("own")
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Every number that has a key, with where it stands.
fn numbers(said: &Said) -> Vec<(Key, f64, String)> {
    let mut found = Vec::new();
    let mut add = |metric: &str, part: &'static str, operation: &str, strategy: &Value, value: &Value, place: &str| {
        if let Some(value) = value.as_f64() {
            found.push(((metric.to_owned(), part, operation.to_owned(), text(strategy)), value, place.to_owned()));
        }
    };
    for row in said.rows("times") {
        for (column, metric) in [("mean_ns", "mean"), ("p50_ns", "p50"), ("p99_ns", "p99"), ("p999_ns", "p999")] {
            add(metric, said.main(), row["operation"].as_str().unwrap(), &row["strategy"], &row[column], "times");
        }
    }
    for row in said.rows("mix") {
        let question = row["question"].as_str().unwrap();
        let metrics = [("time with one client", "mean"), ("mean", "mean"), ("p99", "p99"), ("calls/s", "throughput")];
        let (_, metric) = metrics.into_iter().find(|(start, _)| question.starts_with(start)).unwrap();
        let part = ["own", "rate", "saturation"].into_iter().find(|part| row["part"] == *part).unwrap();
        add(metric, part, "mix", &row["strategy"], &row["value"], "mix");
        add(&format!("ratio of {metric}"), part, "mix", &row["strategy"], &row["ratio"], "mix");
    }
    for row in said.rows("mix_estimates").iter().filter(|row| row["part"] == "rate") {
        add("mean", "rate", "mix", &row["strategy"], &row["measured_ns"], "mix_estimates");
    }
    for row in said.rows("own_times") {
        add("mean", "own", row["operation"].as_str().unwrap(), &row["strategy"], &row["own_ns"], "own_times");
    }
    for table in ["saturation", "strategies"] {
        for row in said.rows(table) {
            add("throughput", "saturation", "mix", &row["strategy"], &row["calls_per_second"], table);
        }
    }
    for row in said.rows("mix_cost").iter().filter(|row| row["counter"] == "cpu_us") {
        add("cpu", "saturation", "mix", &row["strategy"], &row["per_call"], "mix_cost");
    }
    let strategies = said.summary["strategies"].as_array().unwrap();
    for strategy in strategies {
        for (name, metric, part) in PUBLISHED {
            add(metric, part, "mix", &strategy["name"], &strategy["metrics"][name]["value"], "summary.json");
        }
        add("cpu", "saturation", "mix", &strategy["name"], &strategy["metrics"]["cpu_time"]["value"], "summary.json");
    }
    for operation in said.summary["operations"].as_array().unwrap() {
        for (strategy, time) in strategies.iter().zip(operation["own_times"].as_array().unwrap()) {
            add("mean", "own", operation["name"].as_str().unwrap(), &strategy["name"], time, "summary.json");
        }
    }
    for (operation, strategy, mean) in own_means(&said.csv) {
        add("mean", "own", &operation, &Value::from(strategy), &Value::from(mean), "metrics.csv, over rounds");
    }
    found
}

/// The own time of every operation, recomputed from the table of rounds: the geometric mean over the rounds, and over both arms of
/// the baseline.
fn own_means(table: &str) -> Vec<(String, String, f64)> {
    let mut logs: BTreeMap<(String, String), BTreeMap<(String, String), f64>> = BTreeMap::new();
    for row in ::csv::Reader::from_reader(table.as_bytes()).deserialize::<BTreeMap<String, String>>() {
        let row = row.unwrap();
        if row["part"] != "own" || row["metric"] != "service_mean" || row["operation"].is_empty() {
            continue;
        }
        let value: f64 = row["value"].parse().unwrap();
        let key = (row["operation"].clone(), row["strategy"].clone());
        logs.entry(key).or_default().insert((row["arm"].clone(), row["round"].clone()), value.ln());
    }
    let mean = |((operation, strategy), logs): ((String, String), BTreeMap<_, f64>)| {
        let arms = logs.keys().map(|(arm, _): &(String, String)| arm).collect::<std::collections::BTreeSet<_>>().len();
        let rounds = logs.len() / arms;
        // A baseline whose repeat lacks a round is taken by itself.
        (logs.len() == arms * rounds)
            .then(|| (operation, strategy, (logs.values().sum::<f64>() / logs.len() as f64).exp()))
    };
    logs.into_iter().filter_map(mean).collect()
}

/// Keys with two values.
fn two_values(numbers: &[(Key, f64, String)]) -> Vec<String> {
    let mut first: BTreeMap<&Key, (f64, &str)> = BTreeMap::new();
    let mut found = Vec::new();
    for (key, value, place) in numbers {
        let (known, at) = *first.entry(key).or_insert((*value, place));
        if (known - value).abs() > 1e-9 * known.abs().max(value.abs()) {
            found.push(format!("{key:?} is {known} in {at} and {value} in {place}"));
        }
    }
    found
}

/// Who is named the winner, and where.
fn verdicts(said: &Said) -> Vec<String> {
    let (report, summary) = (&said.report["decision"], &said.summary["answer"]);
    let mut found = Vec::new();
    if report["winner"] != summary["winner"] {
        found.push(format!("the report names {}, summary.json {}", report["winner"], summary["winner"]));
    }
    let (cells, answer) = &said.matrix;
    let has_verdict = summary["leading"].as_array().is_some_and(|leading| !leading.is_empty());
    // The report adds what breaks a tie, and what to do where rounds differ too much.
    let is_same = !answer.is_empty() && text(&report["answer"]).starts_with(&**answer);
    if has_verdict && !is_same && !text(&report["answer"]).starts_with("No verdict") {
        found.push(format!("the report says {}, the matrix {answer}", report["answer"]));
    }
    for (name, cell) in cells.iter().filter(|(_, cell)| cell == "best") {
        if summary["winner"] != name.as_str() {
            found.push(format!("the matrix calls {name} {cell}, and the winner is {}", summary["winner"]));
        }
    }
    let standings = said.summary["strategies"].as_array().unwrap().iter().flat_map(|strategy| {
        let metrics = strategy["metrics"].as_object().unwrap().iter();
        metrics.map(move |(metric, number)| (&strategy["name"], metric, &number["standing"]))
    });
    for (name, metric, _) in standings.filter(|(.., standing)| *standing == "best") {
        if summary["winner"] != *name {
            found.push(format!(
                "summary.json calls {name} the best by {metric}, and the winner is {}",
                summary["winner"]
            ));
        }
    }
    found
}

/// What JUnit says otherwise than the report: whether the run is valid, which thresholds failed, and their numbers, which are those
/// of the table of times.
fn junit(said: &Said) -> Vec<String> {
    let case = Regex::new(r#"<testcase [^>]*name="([^"]*)"(?:/>|>\s*<failure message="([^"]*)">)"#).unwrap();
    let cases: BTreeMap<String, Option<String>> = case
        .captures_iter(&said.junit)
        .map(|found| (found[1].replace("&lt;", "<"), found.get(2).map(|failure| failure.as_str().to_owned())))
        .collect();
    let mut found = Vec::new();
    if cases.get("the run is valid and complete").is_none_or(|failure| failure.is_none() != said.report["valid"]) {
        found.push(format!("the report is valid: {}, JUnit says otherwise", said.report["valid"]));
    }
    for row in said.rows("thresholds") {
        let name = text(&row["threshold"]);
        let failure = cases.get(&name).cloned().flatten();
        let agrees = match row["passed"].as_bool() {
            Some(passed) => failure.is_none() == passed,
            None => failure.as_deref().is_some_and(|failure| failure.starts_with("undecided: ")),
        };
        if !agrees {
            found.push(format!("{name} passed in the report: {}, JUnit says otherwise", row["passed"]));
        }
        let (subject, _) = name.split_once(".mean<").unwrap();
        let is_meant = |one: &&Value| format!("{}.{}", text(&one["strategy"]), text(&one["operation"])) == subject;
        let time = said.rows("times").iter().find(is_meant).and_then(|one| one["mean_ns"].as_f64());
        let words: Vec<&str> = failure.as_deref().unwrap_or_default().split(' ').collect();
        let said = match words[..] {
            ["found:", number, unit] => {
                let factor = UNITS.iter().find(|(name, _)| *name == unit).map_or(f64::NAN, |(_, factor)| *factor);
                number.replace(',', "").parse::<f64>().ok().map(|number| number * factor)
            }
            _ => None,
        };
        if said.zip(time).is_some_and(|(said, time)| (said / time - 1.0).abs() > 0.006) {
            found.push(format!("{name} is {said:?} ns in JUnit and {time:?} ns in the report"));
        }
    }
    found
}

/// The rules of a text under a heading, by scenario and id.
fn rules<'t>(text: &'t str, heading: &str) -> Vec<(&'t str, &'t str)> {
    let section = text.split("\n## ").find(|section| section.starts_with(heading)).unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
    rows.filter_map(|(name, _)| name.split_once(", ")).filter(|(scenario, _)| *scenario != "scenario").collect()
}

/// The rules that a published run contradicts which has the parameters of the run for the claim.
fn contradicted(text: &str, claims: &[Value], all: &[(PathBuf, Said)]) -> Vec<String> {
    let same_question = |one: &Value, other: &Value| {
        ["id", "metric", "audit", "outcome", "operation", "strategy", "relation", "than", "mix", "set", "clients"]
            .iter()
            .all(|key| one[*key] == other[*key])
    };
    let mut found = Vec::new();
    for (heading, verdict) in [("Confirmed", "confirmed"), ("Refuted", "refuted")] {
        for (scenario, id) in rules(text, heading) {
            let file = claims.iter().find(|file| file["scenario"] == scenario).unwrap();
            let decided = file["claims"].as_array().unwrap().iter().find(|one| one["claim"]["id"] == id).unwrap();
            let run = file["runs"].as_array().unwrap().iter().find(|run| run["folder"] == decided["run"]).unwrap();
            for (folder, said) in all {
                let [name, _, parameters, asked] = [0, 1, 2, 3].map(|place| &said.record[place]);
                let is_asked = asked.as_array().unwrap().iter().any(|one| same_question(one, &decided["claim"]));
                let row = said.rows("claims").iter().find(|row| row["id"] == id);
                let other = row.map_or("undecided", |row| row["verdict"].as_str().unwrap());
                let is_same = *name == scenario && *parameters == run["parameters"] && is_asked;
                if is_same && other != "undecided" && other != verdict {
                    found.push(format!("{scenario}, {id} is {verdict}, and {other} by {}", folder.display()));
                }
            }
        }
    }
    found
}

/// Every number of all tables.
fn table_numbers(said: &Said) -> Vec<f64> {
    fn walk(value: &Value, into: &mut Vec<f64>) {
        match value {
            Value::Number(number) => into.extend(number.as_f64()),
            Value::Array(items) => items.iter().for_each(|item| walk(item, into)),
            Value::Object(fields) => fields.values().for_each(|item| walk(item, into)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(&said.report["tables"], &mut found);
    walk(&said.report["run"]["rate"], &mut found);
    // What a strategy stores is the sum over its collections.
    let mut sums: BTreeMap<(String, &str), f64> = BTreeMap::new();
    for row in said.rows("sizes") {
        for column in ["size_bytes", "index_bytes", "storage_bytes"] {
            *sums.entry((text(&row["strategy"]), column)).or_default() += row[column]["after"].as_f64().unwrap_or(0.0);
        }
    }
    found.extend(sums.into_values());
    found
}

/// Numbers with a unit in the sentences of the first screen that are in no table: times, bytes and rates as they are (times of the
/// server in microseconds, sizes as sums over collections), factors as ratios or quotients of two numbers of one column.
fn homeless(said: &Said, decision: &Value) -> Vec<String> {
    let form = Regex::new(r"(\d[\d,]*(?:\.\d+)?) ?(ns|µs|ms|s|KB|MB|GB|B|calls/s|x)(?:[^\w/]|$)").unwrap();
    let known = table_numbers(said);
    let quotients = quotients(said);
    let sentences = ["answer", "sure", "why"].into_iter().map(|key| text(&decision[key]));
    let lists = ["flips", "but"].into_iter().flat_map(|key| decision[key].as_array().into_iter().flatten().map(text));
    let mut found = Vec::new();
    for sentence in sentences.chain(lists) {
        // What is computed for another mix or network stands in the sentence alone.
        let measured = if sentence.contains("computed") { "" } else { &sentence };
        for number in form.captures_iter(measured) {
            let (digits, unit) = (number[1].replace(',', ""), &number[2]);
            let value: f64 = digits.parse().unwrap();
            let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            // Half of the last printed digit, and of the fourth of large numbers.
            let error = (0.51 * 10_f64.powi(-(decimals as i32))).max(value * 0.005);
            let is_close = |known: f64| (known - value).abs() <= error;
            let is_known = match UNITS.iter().find(|(name, _)| *name == unit) {
                Some((_, factor)) => known.iter().any(|one| is_close(one / factor) || is_close(one * 1e3 / factor)),
                None => known.iter().chain(&quotients).any(|one| is_close(*one) || is_close(one.recip())),
            };
            if !is_known {
                found.push(format!("{} of {sentence:?} is in no table", &number[0]));
            }
        }
    }
    found
}

/// The quotients of two numbers of a column of the same row group.
fn quotients(said: &Said) -> Vec<f64> {
    let mut columns: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (table, rows) in said.report["tables"].as_object().unwrap() {
        for row in rows.as_array().into_iter().flatten() {
            let group: String =
                ["operation", "counter", "part", "mix", "question"].iter().map(|key| text(&row[*key])).collect();
            for (column, value) in row.as_object().into_iter().flatten() {
                if let Some(value) = value.as_f64() {
                    columns.entry(format!("{table}/{column}/{group}")).or_default().push(value);
                }
            }
        }
    }
    let pairs = columns.into_values().flat_map(|column| {
        let others = column.clone();
        column.into_iter().flat_map(move |one| others.clone().into_iter().map(move |other| one / other))
    });
    pairs.filter(|ratio| ratio.is_finite()).collect()
}

fn records(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            records(&path, found);
        } else if path.ends_with("run.json.gz") {
            found.push(path.parent().unwrap().to_owned());
        }
    }
}

fn published_results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

fn kept() -> Vec<PathBuf> {
    let mut found = Vec::new();
    records(&published_results(), &mut found);
    found.sort();
    found
}

/// What all kept records say, computed once.
fn all_said() -> &'static [(PathBuf, Said)] {
    static ALL: OnceLock<Vec<(PathBuf, Said)>> = OnceLock::new();
    let said = |folder: PathBuf| {
        let said = Said::of(&results::load(&folder).unwrap());
        (folder, said)
    };
    ALL.get_or_init(|| kept().into_iter().map(said).collect())
}

fn kept_claims() -> Vec<Value> {
    let files = fs::read_dir(published_results().join("claims")).unwrap();
    files.map(|file| serde_json::from_str(&fs::read_to_string(file.unwrap().path()).unwrap()).unwrap()).collect()
}

#[test]
fn kept_results_speak_with_one_voice() {
    let mut found = Vec::new();
    for (folder, said) in all_said() {
        let voices =
            [two_values(&numbers(said)), verdicts(said), homeless(said, &said.report["decision"]), junit(said)];
        found.extend(voices.concat().into_iter().map(|text| format!("{}: {text}", folder.display())));
    }
    assert!(found.is_empty(), "{}\n{} in all", found.join("\n"), found.len());
}

#[test]
fn no_published_run_contradicts_a_rule() {
    let text = fs::read_to_string(published_results().join("rules.md")).unwrap();
    let claims = kept_claims();
    assert_eq!(contradicted(&text, &claims, all_said()), Vec::<String>::new());
    // Some rules are decided by a published run, too: called the opposite of what they are, they are found.
    let [confirmed, refuted] = ["\n## Confirmed", "\n## Refuted"];
    let swapped = text.replace(confirmed, "\n## x").replace(refuted, confirmed).replace("\n## x", refuted);
    let found = contradicted(&swapped, &claims, all_said());
    assert!(found.iter().any(|one| one.contains("is refuted, and confirmed by")), "{found:?}");
}

/// A disagreement of each kind, planted in what a result says, is found.
#[test]
fn planted_disagreements_are_found() {
    let folder = kept().into_iter().find(|folder| {
        serde_json::to_value(Report::new(&results::load(folder).unwrap()).headline.decision).unwrap()["winner"]
            .is_string()
    });
    let mut said = Said::of(&results::load(&folder.unwrap()).unwrap());
    let decision = said.report["decision"].clone();
    assert_eq!((two_values(&numbers(&said)), verdicts(&said)), (Vec::new(), Vec::new()));
    assert_eq!(junit(&said), Vec::<String>::new());

    let mut changed = numbers(&said);
    changed[0].1 *= 1.0001;
    assert!(!two_values(&changed).is_empty());

    let mut false_factor = decision.clone();
    false_factor["answer"] = Value::from("Choose a: 4,321.5x faster than b.");
    assert_eq!(homeless(&said, &false_factor).len(), homeless(&said, &decision).len() + 1);

    for (from, to) in [
        (r#"complete"/>"#, r#"complete"><failure message="no">no</failure></testcase>"#),
        ("found: ", "found: 9"),
        ("><failure", "/><failure"),
    ] {
        let changed = said.junit.replace(">\n      <failure", "><failure").replacen(from, to, 1);
        let whole = std::mem::replace(&mut said.junit, changed);
        assert_eq!(junit(&said).len(), 1, "{from}: {}", said.junit);
        said.junit = whole;
    }

    let other = said.matrix.0.iter().position(|(name, _)| decision["winner"] != name.as_str()).unwrap();
    said.matrix.0[other].1 = "best".into();
    assert_eq!(verdicts(&said).len(), 1);
    said.matrix.0[other].1 = "tied best".into();
    said.matrix.1 = "Choose another.".into();
    assert_eq!(verdicts(&said).len(), 1);
    said.matrix.1 = text(&decision["answer"]);
    said.summary["answer"]["winner"] = Value::Null;
    assert!(!verdicts(&said).is_empty());
}
