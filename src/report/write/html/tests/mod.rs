//! The page and its pictures, from records.

pub(crate) mod markup;
mod recomputed;

use crate::record::{CallOutcome, LatencyHistogram, Part};
use crate::report::document::format;
use crate::results::{
    AuditRecord, ClaimRecord, OutcomeRecord, Relation, RunRecord, SliceRecord, Status, StrategyRecord, Than,
};
use crate::stats::{self, sample};

use super::*;
use markup::Element;

fn page(record: &RunRecord) -> String {
    let mut text = String::new();
    Html.render(&crate::report::tests::report(record), &mut text).unwrap();
    text
}

/// The mean time of an operation per round.
fn round_means(run: &RunRecord, strategy: usize, operation: usize) -> Vec<Option<f64>> {
    let key = stats::SeriesKey::new(crate::record::Metric::MEAN, strategy, Some(operation));
    stats::RoundSeries::alone(run, key).rounds
}

/// The sample run with everything that a page has a place for.
fn whole(rounds: u64) -> RunRecord {
    let mut run = sample::run(rounds);
    run.scenario.text = "name: blog\nstrategies:\n  embedded:\n    a: 1\n  linked:\n    b: \"two\"\n".into();
    for cell in run.rounds.iter_mut().flat_map(|round| &mut round.cells) {
        cell.slices = (1..9)
            .map(|slice| SliceRecord { calls: 100, seconds: 0.01 * f64::from(slice), ..SliceRecord::default() })
            .collect();
        cell.audits = vec![AuditRecord { audit: "lost".into(), found: 2, expected: [0, 0], example: None }];
    }
    run
}

fn attribute<'e>(root: &'e Element, name: &str, key: &str, value: &str) -> &'e Element {
    root.all(name)
        .into_iter()
        .find(|element| element.get(key) == value)
        .unwrap_or_else(|| panic!("no {name} {key}={value}"))
}

#[test]
fn pages_are_well_formed() {
    // The other forms take all; a page takes more time.
    for run in sample::edited().iter().step_by(8) {
        markup::read(&page(run));
    }
    for run in [&whole(8), &whole(2), &whole(1), &sample::run(0)] {
        markup::read(&page(run));
        crate::report::tests::report(run).pictures().iter().for_each(|picture| drop(markup::read(&picture.text)));
    }
}

#[test]
fn sections_and_charts_are_there_once() {
    let root = markup::read(&page(&whole(8)));
    let sections: Vec<&str> = root.all("section").iter().map(|section| section.get("id")).collect();
    let wanted = [
        "verdict", "what-if", "strategies", "mix", "ratios", "latency", "load", "saturation", "throughput", "sizes",
        "mix-cost", "own-cost", "inconsistency", "outcomes", "audits", "shapes", "warnings", "method",
    ];
    assert_eq!(sections, wanted);
    let mut ids = Vec::new();
    root.walk(&mut |element| ids.extend(element.attributes.get("id").cloned()));
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all);
    for chart in [
        "forest", "forest-narrow", "percentiles-0", "throughput-slices", "throughput-rounds", "latency-rounds-p50",
        "sizes-3",
    ] {
        assert!(!attribute(&root, "svg", "id", chart).get("aria-label").is_empty());
    }
    let files: Vec<&str> =
        crate::report::tests::report(&whole(8)).pictures().iter().map(|picture| picture.file).collect();
    assert_eq!(files, ["forest.svg", "percentiles.svg", "throughput.svg", "sizes.svg", "cost.svg"]);
}

#[test]
fn pages_of_every_kind_are_well_formed() {
    // scripts/check-report.sh looks at them in a browser.
    let folder: std::path::PathBuf = [env!("CARGO_MANIFEST_DIR"), "target", "report-pages"].iter().collect();
    std::fs::create_dir_all(&folder).unwrap();
    let names = [
        "run", "compare", "capacity", "verify", "summary", "sweep", "growth", "rules", "explain", "shardkey", "winner",
    ];
    let winner = crate::report::tests::report(&sample::run(8));
    let reports: Vec<_> = crate::report::write::json::tests::all().into_iter().chain([winner]).collect();
    assert_eq!(reports.len(), names.len());
    for (name, report) in names.iter().zip(reports) {
        let mut text = String::new();
        Html.render(&report, &mut text).unwrap();
        markup::read(&text);
        std::fs::write(folder.join(format!("{name}.html")), text).unwrap();
    }
}

#[test]
fn contents_name_every_section() {
    let root = markup::read(&page(&whole(8)));
    let sections: Vec<String> = root.all("section").iter().map(|section| format!("#{}", section.get("id"))).collect();
    let rail = attribute(&root, "nav", "class", "rail").all("a");
    assert_eq!(rail.iter().map(|link| link.get("href")).collect::<Vec<_>>(), sections);
    assert_eq!(attribute(&root, "details", "class", "contents").all("a").len(), sections.len() - 1);
}

#[test]
fn previews_have_title_and_answer() {
    let run = whole(8);
    let root = markup::read(&page(&run));
    let content = |key: &str, name: &str| attribute(&root, "meta", key, name).get("content").to_owned();
    // A tab says scenario, mix and verdict.
    let title = content("property", "og:title");
    assert_eq!(title, root.all("title")[0].text.trim());
    assert!(title.starts_with(&format!("{}, {}: ", format::titled(&run.scenario.name), run.mix.name)), "{title}");
    let answer = content("property", "og:description");
    assert_eq!(answer, content("name", "description"));
    assert!(root.all("main")[0].text.contains(&answer) && answer.len() > 20, "{answer}");
}

#[test]
fn cells_have_their_exact_values() {
    let root = markup::read(&page(&whole(8)));
    let times = attribute(&root, "table", "data-table", "times");
    let cells: Vec<(&str, f64)> =
        times.all("td").iter().filter_map(|cell| Some((cell.text.trim(), cell.get("data-v").parse().ok()?))).collect();
    assert!(cells.len() > 50);
    for (text, value) in cells.into_iter().filter(|(text, _)| text.ends_with("ms")) {
        let shown: f64 = text.trim_end_matches(" ms").parse().unwrap();
        assert!((value / 1e6 / shown - 1.0).abs() < 0.006, "{text} is not {value}");
    }
}

#[test]
fn banners_precede_the_verdict() {
    let mut run = whole(7);
    (run.status, run.settings.rounds) = (Status::Interrupted, 8);
    run.rounds[0].cells[0].connections_created = 3;
    let text = page(&run);
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} is missing"));
    assert!(place("Invalid run") < place("This run was interrupted"));
    assert!(
        place("This run was interrupted") < place("id=\"verdict\"") && place("id=\"verdict\"") < place("id=\"ratios\"")
    );
}

#[test]
fn policy_admits_one_style_and_one_script() {
    let text = page(&whole(8));
    let root = markup::read(&text);
    let policy = attribute(&root, "meta", "http-equiv", "Content-Security-Policy").get("content").to_owned();
    assert!(policy.starts_with("default-src 'none';"));
    for (name, directive) in [("style", "style-src"), ("script", "script-src")] {
        // Data is no script that could run.
        let all: Vec<_> =
            root.all(name).into_iter().filter(|one| one.attributes.iter().all(|(key, _)| key != "type")).collect();
        let hash = STANDARD.encode(Sha256::digest(all[0].text.as_bytes()));
        assert!(all.len() == 1 && policy.contains(&format!("{directive} 'sha256-{hash}'")), "{name}");
    }
    root.walk(&mut |element| {
        for (key, value) in &element.attributes {
            assert!(!key.starts_with("on") && key != "style" && key != "src", "{key} of {}", element.name);
            assert!(!matches!(key.as_str(), "href") || value.starts_with('#') || value == "data:,", "{value}");
        }
    });
    assert!(!text.contains("url(") && !text.contains("@import"));
}

#[test]
fn foreign_text_stays_text() {
    const HOSTILE: &str =
        "\u{1b}[2J</script></title><script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;|`**\u{202e}\u{0}";
    let mut run = whole(8);
    let clean = markup::read(&page(&run));
    let hostile = || HOSTILE.to_owned();
    run.scenario.title = hostile();
    run.scenario.about = hostile();
    run.scenario.name = hostile();
    run.scenario.text =
        format!("{HOSTILE}\nstrategies:\n  {HOSTILE}: \"{HOSTILE}\" # {HOSTILE}\n  b: <{HOSTILE}>\n{HOSTILE}");
    run.strategies[1].name = hostile();
    run.strategies[1].about = hostile();
    run.operations[0] = hostile();
    run.mix.name = hostile();
    run.mix.weights[0].0 = hostile();
    run.parameters[0] = (hostile(), HOSTILE.into());
    run.warnings = vec![hostile()];
    run.status = Status::Failed(hostile());
    run.server.facts.push((hostile(), hostile()));
    for cell in run.rounds.iter_mut().flat_map(|round| &mut round.cells) {
        cell.audits[0].audit = hostile();
        cell.before[0].name = hostile();
        let operation = &mut cell.operations[0];
        let outcome = operation.outcomes[0].clone();
        operation.outcomes.push(OutcomeRecord { outcome: CallOutcome::Rejected(HOSTILE.into()), ..outcome });
        operation.errors.insert(hostile(), 1);
        operation.messages.insert(hostile(), hostile());
        operation.retries.insert(hostile(), 1);
    }
    let text = page(&run);
    let pictures = crate::report::tests::report(&run).pictures();
    for text in pictures.iter().map(|picture| &picture.text).chain([&text]) {
        let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(steers), "{:?}", text.split(steers).next().map(|before| before.len()));
        assert!(!text.contains("<img") && !text.contains("<script>alert"));
        markup::read(text);
    }
    // Nothing has come up that a page of harmless names does not have.
    let names = |root: &Element| {
        let mut names = std::collections::BTreeSet::new();
        root.walk(&mut |element| {
            names.insert(element.name.clone());
            names.extend(element.attributes.keys().map(|key| format!("{} {key}", element.name)));
        });
        names
    };
    let new: Vec<String> = names(&markup::read(&text)).difference(&names(&clean)).cloned().collect();
    assert!(
        new.iter().all(|name| ["div role", "div id", "strong", "ul class", "div class"].contains(&name.as_str())),
        "{new:?}"
    );
    assert!(markup::read(&text).all("h1")[0].text.contains("<img src=x onerror=alert(1)>&amp;|`**"));
}

/// Twenty rounds of seven strategies and a repeat, nine operations each.
fn large() -> RunRecord {
    let mut run = whole(20);
    let names = |kind: &str, of: usize| (0..of).map(|one| format!("{kind}_number_{one}")).collect::<Vec<_>>();
    run.operations = names("operation", 9);
    run.mix.weights = run.operations.iter().map(|name| (name.clone(), 1.0)).collect();
    run.strategies = names("strategy", 8)
        .into_iter()
        .enumerate()
        .map(|(place, name)| StrategyRecord {
            name,
            is_repeat: place == 7,
            is_unsafe: false,
            ..run.strategies[0].clone()
        })
        .collect();
    let mut times = LatencyHistogram::new(std::time::Duration::from_secs(10));
    (1..200_000_u64).for_each(|call| times.record(call * call % 9_999_991 + 1_000 * (call % 977)));
    for round in &mut run.rounds {
        for cell in &mut round.cells {
            let mut operation = cell.operations[0].clone();
            (operation.outcomes[0].service, operation.outcomes[0].count) =
                (crate::record::StoredHistogram::new(&times), times.count());
            cell.operations = vec![operation; 9];
            cell.slices = (1..65)
                .map(|slice| SliceRecord { calls: 100, seconds: 0.01 * f64::from(slice), ..SliceRecord::default() })
                .collect();
        }
        let cells = round.cells.clone();
        round.cells = cells.into_iter().cycle().take(8).collect();
    }
    run.scenario.text = format!("strategies:\n{}", "  a: { b: <c>, d: \"e\" }\n".repeat(2_000));
    run
}

#[test]
fn a_large_run_is_a_small_file() {
    let run = large();
    let text = page(&run);
    assert!(text.len() < 1_500_000, "{} bytes", text.len());
    assert_eq!(
        markup::read(&text).all("svg").iter().filter(|svg| svg.get("id").starts_with("percentiles-")).count(),
        10
    );
    assert!(crate::report::tests::report(&run).pictures().iter().all(|picture| picture.text.len() < 500_000));
}

#[test]
fn numbers_are_those_of_the_record() {
    let whole = sample::whole(&whole(8));
    let root = markup::read(&page(&whole));
    let parts = whole.all_parts();
    let (own, run) = (&parts[&Part::Own], &parts[&Part::Rate]);
    let words: Vec<String> = root.all("title").iter().map(|title| title.text.clone()).collect();
    let says =
        |wanted: &str| assert!(words.iter().any(|words| words.contains(wanted)), "{wanted} is not in {words:#?}");
    let times = attribute(&root, "section", "id", "latency");
    let rows = times.all("tr");
    for (operation, name) in run.operations.iter().enumerate() {
        let head =
            rows.iter().position(|row| row.get("class") == "group" && row.text.starts_with(name.as_str())).unwrap();
        let reference = round_means(run, 0, operation);
        for (strategy, entry) in run.strategies.iter().enumerate() {
            let means = round_means(run, strategy, operation);
            let cells: Vec<&str> = rows[head + 1 + strategy].all("td").iter().map(|cell| cell.text.as_str()).collect();
            assert_eq!(cells[0], format::time(stats::geometric_mean(&means).unwrap()));
            let times = stats::Distribution::of(stats::operations(run, strategy, operation), run.settings.timeout());
            let median = crate::record::Metric::named("p50", crate::record::MetricUse::Claim).unwrap();
            let half = format::time(stats::value(run, median, strategy, Some(operation)).unwrap());
            assert_eq!((cells[3], cells[9]), (half.as_str(), format::count(times.calls()).as_str()));
            says(&format!("{}, {name}: p50 of the response times is {half}", entry.name));
            if strategy > 0 {
                let logs = means.iter().zip(&reference).map(|(mine, theirs)| (mine.unwrap() / theirs.unwrap()).ln());
                let ratio = format::three((logs.sum::<f64>() / 8.0).exp());
                assert!(cells[1].ends_with(&ratio), "{} is not {ratio}", cells[1]);
                let means = |strategy| round_means(own, strategy, operation);
                let own_ratio = stats::Estimate::of(&stats::log_ratios(&means(strategy), &means(0))).unwrap().ratio();
                says(&format!("{name}: × {} (", format::three(own_ratio)));
            }
        }
    }
    for (place, rate) in [(0, "4,575"), (1, "9,150")] {
        says(&format!("{}, round 1 of 8: {rate} calls per second", run.strategies[place].name));
    }
    // Bars are as long as their values: 310 us, 160 us and 150 us of processor time, times the same weather.
    let bars: Vec<f64> = attribute(&root, "svg", "id", "cost-mix-0")
        .all("rect")
        .iter()
        .filter(|rect| rect.get("class") == "bar")
        .map(|rect| rect.get("width").parse().unwrap())
        .collect();
    assert!(
        (bars[1] / bars[0] - 160.0 / 310.0).abs() < 0.01 && (bars[2] / bars[0] - 150.0 / 310.0).abs() < 0.01,
        "{bars:?}"
    );
}

/// Every link within a page leads to one of its elements.
fn assert_links_lead_somewhere(root: &Element) -> usize {
    let mut ids = Vec::new();
    root.walk(&mut |element| ids.extend(element.attributes.get("id").cloned()));
    let links: Vec<&str> =
        root.all("a").iter().map(|link| link.get("href")).map(|href| href.strip_prefix('#').unwrap()).collect();
    links.iter().for_each(|link| assert!(ids.iter().any(|id| id == link), "{link} leads nowhere"));
    links.len()
}

#[test]
fn claims_link_to_their_rows() {
    let mut run = whole(8);
    let claim = |metric: &str, operation: Option<&str>, strategy: &str| ClaimRecord {
        id: metric.into(),
        says: "so".into(),
        metric: metric.into(),
        operation: operation.map(str::to_owned),
        strategy: strategy.into(),
        relation: Relation::Below,
        than: Than::Strategy("embedded".into()),
        ..ClaimRecord::default()
    };
    run.claims = vec![
        claim("p99", Some("read_post"), "linked"),
        claim("mean", None, "linked"),
        claim("round_trips", Some("read_post"), "linked"),
        claim("throughput", None, "linked"),
        claim("storage_bytes", None, "linked"),
        claim("p50", Some("gone"), "linked"),
        claim("p50", Some("read_post"), "gone"),
    ];
    let root = markup::read(&page(&run));
    assert_links_lead_somewhere(&root);
    let section = attribute(&root, "section", "id", "claims");
    let links: Vec<&str> = section.all("a").iter().map(|link| link.get("href")).collect();
    assert_eq!(links, ["#row-times-2-1", "#row-times-0-1", "#row-cost-1-1", "#strategy-1", "#row-sizes-1"]);
    assert!(attribute(&root, "tr", "id", "row-times-2-1").text.starts_with("linked"));
}

#[test]
fn heat_map_has_own_times_as_multiples_of_the_best() {
    let run = sample::whole(&sample::run(8));
    let parts = crate::report::run::parts::PartEvaluations::new(&run);
    let own = parts.get(crate::record::Part::Own).unwrap();
    let root = markup::read(&page(&run));
    let heat = attribute(&root, "div", "class", "heat");
    let rows = heat.all("tr");
    // A row per operation below the names, and the mix.
    assert_eq!(rows.len(), 2 + own.rows.iter().filter(|row| !row.is_mix).count());
    let [slow, best, described] = &rows[1].all("td")[..] else { panic!("{rows:?}") };
    let mean = |place: usize| own.rows[0].cells[place].mean.unwrap();
    assert_eq!(best.text, format!("best {}", format::time(mean(1))));
    let ratio = format::three(mean(0) / mean(1));
    assert_eq!(slow.text, format!("× {ratio} {}", format::time(mean(0))));
    let class = |cell: &Element| cell.get("class").split_whitespace().collect::<Vec<_>>().join(" ");
    let classes = [slow, best, described].map(|cell| class(cell));
    assert_eq!(classes, ["s0 h4", "s1 good best", "s2 faint"], "the unsafe strategy is not judged");
    // Where no strategy is shown to be slower, none is the best.
    let count: Vec<String> = rows[3].all("td").iter().map(|cell| class(cell)).collect();
    assert_eq!(count, ["s0 faint", "s1 faint", "s2 faint"]);
    assert_links_lead_somewhere(&root);
    // Without enough rounds there are no intervals, and the page says so.
    let few = page(&sample::run(2));
    assert!(few.contains("Points without intervals: an interval requires 6 rounds, and this run has 2 rounds."));
    assert!(!page(&sample::run(8)).contains("Points without intervals"));
    let few = markup::read(&few);
    let classes =
        attribute(&few, "div", "class", "heat").all("td").iter().map(|td| td.get("class")).collect::<Vec<_>>();
    assert!(classes.iter().all(|class| !class.contains("good") && !class.contains("best")), "{classes:?}");
    // Nor is there such a table where no number is to be relied on.
    let mut run = sample::run(8);
    run.rounds[0].cells[0].connections_created = 3;
    assert!(!page(&run).contains("class=\"heat"));
}

#[test]
fn operations_without_percentiles_are_named() {
    let mut run = whole(8);
    assert!(!page(&run).contains("Too few calls for any percentile"));
    let times = LatencyHistogram::new(std::time::Duration::from_secs(10));
    for cell in run.rounds.iter_mut().flat_map(|round| &mut round.cells) {
        let outcome = &mut cell.operations[1].outcomes[0];
        (outcome.service, outcome.count) = (crate::record::StoredHistogram::new(&times), 0);
    }
    let root = markup::read(&page(&run));
    let section = attribute(&root, "section", "id", "latency");
    assert!(section.text.contains("Too few calls for any percentile: read_post"));
}

#[test]
fn every_strategy_has_a_switch() {
    let root = markup::read(&page(&whole(8)));
    let style = &root.all("style")[0].text;
    for place in 0..3 {
        attribute(&root, "input", "id", &format!("show-{place}"));
        assert!(style.contains(&format!("body:has(#show-{place}:not(:checked)) .s{place}{{display:none}}")));
    }
}
