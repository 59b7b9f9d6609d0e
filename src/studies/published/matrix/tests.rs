//! The matrix from published sample runs.

use crate::report::hostile::{HOSTILE, structure};
use crate::report::run::decision::phrase::UNPREDICTED;
use crate::report::write::html::tests::markup;
use crate::results::{MetricRecord, PublishedMetric, PublishedScenario, Reason, RunRecord, Standing, Verdict};
use crate::stats::sample;
use crate::studies::published::summary_file::published;

use super::*;

/// What the sample's scenario says of itself, with this text as the name of everything.
fn scenario(record: &RunRecord, text: &str) -> PublishedScenario {
    let mix = |name: &str, weights: Option<[f64; 2]>, has_parameters| PublishedMix {
        name: name.to_owned(),
        weights: weights.map(|weights| {
            let names = [&record.operations[0], &record.operations[1]];
            names.into_iter().cloned().zip(weights).collect()
        }),
        has_parameters,
    };
    PublishedScenario {
        name: record.scenario.name.clone(),
        title: text.to_owned(),
        group: Some("embed or reference".to_owned()),
        sha256: record.scenario.sha256.clone(),
        mixes: vec![
            mix("default", Some([60.0, 30.0]), false),
            mix("reads", Some([0.0, 1.0]), false),
            mix("writes", Some([1.0, 0.0]), false),
            mix("large", Some([1.0, 1.0]), true),
            mix("ratio", None, false),
            mix("verify-all", Some([1.0, 1.0]), false),
        ],
    }
}

/// The sample run as a result.
fn result(folder: &str) -> PlacedResult {
    let record = sample::whole(&sample::run(8));
    let record = published(&record, scenario(&record, "Embed, link or bucket?"), "");
    PlacedResult { folder: folder.to_owned(), record, has_page: true, has_markdown: true }
}

fn predicted(one: &mut PlacedResult, is_predicted: bool) {
    one.record.strategies.iter_mut().for_each(|strategy| strategy.is_predicted = Some(is_predicted));
}

fn matrix(results: Vec<PlacedResult>) -> Matrix {
    Matrix::new(results, &["copy or join", "embed or reference"], &[])
}

fn page(matrix: &Matrix) -> String {
    html::page(matrix)
}

/// Looks of the calls per second of every row, by its mix.
fn looks(matrix: &Matrix) -> Vec<(String, Vec<Look>)> {
    matrix.rows().map(|row| (row.mix.clone(), row.first().iter().map(|cell| cell.look).collect())).collect()
}

#[test]
fn published_numbers_are_those_of_the_report() {
    let run = sample::whole(&sample::run(8));
    let found = result("a").record;
    assert_eq!((found.valid, found.rounds, found.preset), (true, 8, run.settings.preset));
    assert_eq!(found.verification.map(|one| (one.calls, one.clean)), Some((200, true)));
    // 600 calls of 1.9 ms and 300 of 0.61 ms against 0.82 ms and 0.94 ms: linked is far faster.
    let response =
        |strategy: usize| found.strategies[strategy].metrics[&crate::results::PublishedMetric::RESPONSE_MEAN];
    assert_eq!([0, 1].map(|strategy| response(strategy).standing), [Some(Standing::Worse), Some(Standing::Best)]);
    assert_eq!((response(1).ratio, response(2).standing), (None, None), "the best, and a negative control");
    let report = crate::report::Report::new(&run);
    let parts = &report.run.unwrap().parts;
    let rate = parts.get(crate::record::Part::Rate).unwrap();
    let compared = rate.comparisons().next().unwrap().pair(0, 1).unwrap().ratio.unwrap();
    assert!((response(0).ratio.unwrap() - compared.mean).abs() < 1e-9);
    assert_eq!(response(0).interval.map(|ends| ends[0]), compared.interval.map(|interval| interval.low));
    let metrics: Vec<PublishedMetric> = found.strategies[2].metrics.keys().copied().collect();
    assert_eq!(metrics, PublishedMetric::all().collect::<Vec<_>>());
    // Rounds of the sample are too short for a 99th percentile: it is that of all calls, and not compared.
    let p99 = found.strategies[0].metrics[&PublishedMetric::try_from("response_p99".to_owned()).unwrap()];
    assert_eq!((p99.ratio, p99.interval), (None, None));
    assert_eq!(found.operations.iter().map(|one| one.writes).collect::<Vec<_>>(), [None; 3], "no oplog in own costs");
    assert_eq!(serde_json::from_str::<PublishedRecord>(&serde_json::to_string(&found).unwrap()).unwrap(), found);
}

#[test]
fn mixes_are_measured_estimated_or_neither() {
    let mut one = result("blog/default/a");
    predicted(&mut one, true);
    // By themselves calls take half as long: 950 and 305 us of embedded, 410 and 470 of linked.
    let found = matrix(vec![one.clone()]);
    let scenario = &found.groups[0].scenarios[0];
    assert_eq!((found.groups[0].title.as_str(), scenario.strategies.len()), ("Embed or reference", 3));
    assert_eq!(
        looks(&found),
        [
            ("default".to_owned(), vec![Look::Times, Look::Best, Look::Unsafe]),
            ("reads".to_owned(), vec![Look::Best, Look::Times, Look::Unsafe]),
            ("writes".to_owned(), vec![Look::Times, Look::Best, Look::Unsafe]),
            ("large".to_owned(), vec![]),
            ("ratio".to_owned(), vec![]),
        ]
    );
    let reasons: Vec<&RowKind> = scenario.rows[3..].iter().map(|row| &row.kind).collect();
    assert_eq!(reasons, [&RowKind::Missing("needs other data"), &RowKind::Missing("its weights depend on parameters")]);
    assert_eq!(
        scenario.flips,
        ["The order flips: embedded is better than linked in reads (est.); linked is better than embedded in default \
          and writes (est.)."]
    );
    let elsewhere = "Another strategy leads in other mixes: embedded in reads (est.).";
    assert_eq!(scenario.elsewhere().as_deref(), Some(elsewhere));
    let conditions = |one: &PlacedResult| matrix(vec![one.clone()]).groups[0].scenarios[0].conditions.clone().unwrap();
    assert!(conditions(&one).starts_with("Measured with the mix default, "), "{}", conditions(&one));
    for (embedded, words) in [(true, ", clients and server on that machine."), (false, ", clients on that machine.")] {
        one.record.server.embedded = embedded;
        assert!(conditions(&one).contains(words), "{}", conditions(&one));
    }
    predicted(&mut one, false);
    let found = matrix(vec![one]);
    let reason = RowKind::Missing(UNPREDICTED);
    assert!(
        found.rows().skip(1).take(2).all(|row| row.kind == reason) && found.groups[0].scenarios[0].flips.is_empty()
    );
}

#[test]
fn families_of_mixes_are_known_from_any_run() {
    let mut known = result("a");
    let mut other = result("b");
    (other.record.mix.name, other.record.started) = ("writes".into(), "2027-01-01T00:00:00Z".into());
    for (operation, writes) in known.record.operations.iter_mut().zip([true, false, false]) {
        operation.writes = Some(writes);
    }
    let families: Vec<Vec<&str>> = matrix(vec![known, other]).rows().map(|row| row.families.clone()).collect();
    assert_eq!(families, [vec!["default", "write"], vec!["read"], vec!["write"], vec!["write"], vec![]]);
    assert!(
        matrix(vec![result("a")]).rows().all(|row| !row.families.contains(&"write")),
        "no server says what it wrote"
    );
}

#[test]
fn close_estimates_name_no_best_strategy() {
    let number = |value: f64, is_unsafe: bool| {
        let record = MetricRecord { value, ..MetricRecord::default() };
        Some(cell::PublishedNumber { record, is_unsafe, is_quoted: false })
    };
    let entry = |time: f64| number(time, false);
    let looks = |times: &[Option<cell::PublishedNumber>]| -> Vec<Look> {
        cell::estimated(PublishedMetric::OWN_TIME, times).iter().map(|cell| cell.look).collect()
    };
    assert_eq!(looks(&[entry(100.0), entry(119.0)]), [Look::Lowest, Look::Times]);
    assert_eq!(looks(&[entry(100.0), entry(121.0), None]), [Look::Best, Look::Times, Look::Nothing]);
    assert_eq!(looks(&[entry(100.0), number(50.0, true)]), [Look::Value, Look::Unsafe], "nothing to compare with");
}

#[test]
fn tied_strategies_are_not_worse() {
    let mut one = result("a");
    let standing = |one: &mut PlacedResult, strategy: usize, standing| {
        let metrics = &mut one.record.strategies[strategy].metrics;
        metrics.get_mut(&PublishedMetric::CALLS_PER_SECOND).unwrap().standing = Some(standing);
    };
    (0..2).for_each(|strategy| standing(&mut one, strategy, Standing::Tied));
    assert_eq!(looks(&matrix(vec![one.clone()]))[0].1, [Look::NoDifference, Look::NoDifference, Look::Unsafe]);
    standing(&mut one, 0, Standing::Undecided);
    assert_eq!(looks(&matrix(vec![one.clone()]))[0].1, [Look::Undecided, Look::NoDifference, Look::Unsafe]);
    // One is worse, and another one undecided.
    one.record.strategies[2].is_unsafe = false;
    standing(&mut one, 2, Standing::Worse);
    assert_eq!(looks(&matrix(vec![one.clone()]))[0].1, [Look::Undecided, Look::TiedBest, Look::Times]);
    // The best by this number, which is not the one to choose.
    standing(&mut one, 1, Standing::First);
    assert_eq!(looks(&matrix(vec![one.clone()]))[0].1, [Look::Undecided, Look::Lowest, Look::Times]);
    // A run without verdicts says nothing of their order.
    for strategy in &mut one.record.strategies {
        strategy.metrics.get_mut(&PublishedMetric::CALLS_PER_SECOND).unwrap().standing = None;
    }
    assert_eq!(looks(&matrix(vec![one]))[0].1, [Look::Value; 3]);
}

#[test]
fn servers_and_machines_have_rows_and_filters_of_their_own() {
    let mut other = result("b");
    (other.record.server.version, other.record.machine.name) = ("7.0.1".into(), "large".into());
    let text = page(&matrix(vec![result("a"), other]));
    let root = markup::read(&text);
    let values: Vec<&str> = root.all("input").iter().map(|input| input.get("value")).collect();
    for value in ["response", "oplog", "6.0.5", "7.0.1", "2 cores", "2 cores, large"] {
        assert!(values.contains(&value), "{value} is not in {values:?}");
    }
    let rows: Vec<&markup::Element> =
        root.all("tr").into_iter().filter(|row| row.get("data-mix") == "default").collect();
    assert_eq!(rows.iter().map(|row| row.get("data-server")).collect::<Vec<_>>(), ["0", "1"]);
    assert!(rows[1].text.contains("MongoDB 7.0.1, 2 cores, large"), "{}", rows[1].text);
    assert!(!values.contains(&"publish") && !values.contains(&"quick"), "one preset is no choice");
}

#[test]
fn the_newer_of_two_equal_results_stays_with_a_warning() {
    let mut newer = result("newer");
    newer.record.started = "2027-01-01T00:00:00Z".into();
    let found = matrix(vec![result("older"), newer]);
    assert_eq!(found.warnings.len(), 1);
    assert!(found.warnings[0].starts_with("older is left out: newer is of the same scenario"), "{:?}", found.warnings);
    assert!(found.rows().next().unwrap().page.as_ref().unwrap().starts_with("newer/report.html#ratios"));
}

#[test]
fn cells_lead_to_the_run_and_no_script_is_needed() {
    let mut one = result("blog comments/default/a");
    predicted(&mut one, true);
    let found = matrix(vec![one]);
    insta::assert_snapshot!("matrix_markdown", found.to_string());
    let root = markup::read(&page(&found));
    let links: Vec<&str> = root.all("td").iter().flat_map(|cell| cell.all("a")).map(|link| link.get("href")).collect();
    assert_eq!(links, ["blog%20comments/default/a/report.html#ratios"; 3]);
    assert_eq!(
        root.all("td")[2].text,
        "best1.02 ms".replace("1.02 ms", &found.rows().next().unwrap().first()[1].value)
    );
    let policy = root.all("meta").into_iter().find(|meta| meta.get("http-equiv") == "Content-Security-Policy").unwrap();
    assert!(policy.get("content").starts_with("default-src 'none'; style-src 'sha256-"), "{}", policy.get("content"));
    assert!(root.all("form")[0].attributes.contains_key("hidden"));
}

#[test]
fn a_hundred_and_forty_results_are_a_small_page() {
    let mut results = Vec::new();
    for place in 0..140 {
        let mut one = result(&format!("scenario-number-{}/mix-number-{place}/mongodb-6.0.5-2-cores", place / 5));
        one.record.scenario.name = format!("scenario-number-{}", place / 5);
        one.record.mix.name = format!("mix-number-{place}");
        // As many strategies as large scenarios compare.
        let mut more = one.record.strategies.clone();
        more.iter_mut().for_each(|strategy| strategy.name.push_str("_other"));
        one.record.strategies.extend(more);
        results.push(one);
    }
    let text = page(&matrix(results));
    assert!(text.len() < 380_000, "{} bytes", text.len());
}

/// The result with this text in every place.
fn hostile(text: &str) -> PlacedResult {
    let mut one = result(text);
    let record = &mut one.record;
    let own = || text.to_owned();
    record.version = own();
    record.started = own();
    record.scenario.name = own();
    record.scenario.title = own();
    record.scenario.group = Some(own());
    record.mix.name = own();
    record.mix.weights[0].0 = own();
    record.command = own();
    record.server.version = own();
    record.server.topology = own();
    record.machine.name = own();
    record.answer.leading = vec![own()];
    record.answer.winner = Some(own());
    record.operations[0].name = own();
    (record.strategies[0].name, record.strategies[0].about) = (own(), own());
    record.scenario.mixes[1].name = own();
    record.scenario.mixes[3].name = own();
    one
}

#[test]
fn texts_of_foreign_results_stay_texts() {
    let parts = |text: &str| structure(&matrix(vec![hostile(text)]).to_string()).0.len();
    let elements = |text: &str| {
        let mut count = 0;
        markup::read(text).walk(&mut |element| count += usize::from(element.name != "wbr"));
        count
    };
    let expected = parts("word");
    let known = elements(&page(&matrix(vec![hostile("word")])));
    for text in HOSTILE {
        let found = matrix(vec![hostile(text)]);
        // A link's address is part of its tag.
        assert_eq!(parts(text), expected, "{text:?}: {found}");
        let page = page(&found);
        assert_eq!(elements(&page), known, "{text:?}");
        assert!(!page.contains("<img") && !page.contains("<script>alert"), "{text:?}");
        let steering = |text: &str| text.chars().find(|c| !matches!(c, '\n' | '\t') && crate::report::steers(*c));
        assert_eq!((steering(&page), steering(&found.to_string())), (None, None), "{text:?}");
    }
}

#[test]
fn several_sessions_have_a_quoted_interval() {
    let mut one = result("a");
    let found = matrix(vec![one.clone()]);
    assert!(found.rows().all(|row| row.sessions < 2 && row.cells.iter().flatten().all(|cell| cell.quoted.is_empty())));
    let mut second = one.record.sessions[0].clone();
    second.started = "2026-02-01T12:00:00Z".into();
    // The ratio of the second is 10 % more.
    for strategies in second.numbers.values_mut() {
        strategies.get_mut("embedded").unwrap().iter_mut().flatten().for_each(|value| *value *= 1.1);
    }
    one.record.sessions.push(second);
    let found = matrix(vec![one.clone()]);
    let row = found.rows().next().unwrap();
    assert_eq!((row.sessions, row.badges().join(" ")), (2, "quick 2 sessions".to_owned()));
    let cell = &row.first()[0];
    let of_run = one.record.strategies[0].metrics[&PublishedMetric::CALLS_PER_SECOND].ratio.unwrap();
    assert!((cell.ratio.unwrap() * of_run * 1.1_f64.sqrt() - 1.0).abs() < 1e-3, "the mean of both sessions: {cell:?}");
    assert!(cell.remark() == format!("{} {}", cell.value, cell.quoted) && !cell.quoted.is_empty(), "{cell:?}");
    let (markdown, html) = (found.to_string(), page(&found));
    assert!(markdown.contains("(quick, 2 sessions)") && markdown.contains(&cell.quoted), "{markdown}");
    assert!(html.contains("2 sessions") && html.contains(&cell.quoted));
}

#[test]
fn why_calls_per_second_are_undecided_is_said() {
    let mut one = result("a");
    let said = |one: &PlacedResult| matrix(vec![one.clone()]).groups[0].scenarios[0].undecided();
    assert_eq!(said(&one), None);
    let rate = one.record.strategies[0].metrics.get_mut(&PublishedMetric::CALLS_PER_SECOND).unwrap();
    rate.standing = Some(Standing::Undecided);
    rate.undecided = Some(Verdict::Inconclusive(Reason::TooFewRounds(2)));
    let said = said(&one).unwrap();
    assert!(said.starts_with("Undecided: default: embedded (") && said.ends_with(")."), "{said}");
}
