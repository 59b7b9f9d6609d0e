//! Reports of sample runs on a terminal and in Markdown, and what every report must be in every form.

use crate::record::{CallOutcome, LatencyHistogram, StoredHistogram};
use crate::results::{
    Arrivals, AuditRecord, ClaimRecord, EventKind, EventRecord, LoadModel, OpenRecord, OutcomeRecord, Part, Preset,
    Relation, RunRecord, SliceRecord, Status, Than, TimesRecord,
};
use crate::stats::sample;

use super::*;

fn terminal(record: &RunRecord, width: usize, colour: bool) -> String {
    let mut text = String::new();
    let report = self::report(record).in_folder("results/blog-comments/2026-01-31T12-00-00Z-7f3a");
    Terminal { width, colour, full: true }.render(&report, &mut text).unwrap();
    text
}

fn warnings(record: &RunRecord) -> String {
    let report = self::report(record);
    let section = report.sections.iter().find(|section| section.id == "warnings");
    section.map_or_else(String::new, |section| section.items.join("\n"))
}

fn evaluation(report: Report) -> Arc<Evaluation> {
    Arc::clone(report.run.unwrap().parts.main())
}

/// The report of a whole run of which this is one part.
pub(crate) fn report(record: &RunRecord) -> Report {
    Report::new(&sample::whole(record))
}

fn markdown(record: &RunRecord) -> String {
    let mut text = String::new();
    Markdown.render(&report(record), &mut text).unwrap();
    text
}

/// A run whose report has every section and table.
pub(crate) fn complete() -> RunRecord {
    let mut run = open_run();
    run.settings.thresholds = vec!["linked.read_post.p50<9ms".into()];
    let by_design = ClaimRecord {
        id: "C2".into(),
        says: "A post takes two reads.".into(),
        by_design: true,
        metric: "round_trips".into(),
        operation: Some("read_post".into()),
        strategy: "linked".into(),
        than: Than::Number(2.0),
        ..ClaimRecord::default()
    };
    run.claims = vec![
        by_design,
        ClaimRecord {
            id: "C1".into(),
            says: "Linking is faster.".into(),
            metric: "p50".into(),
            operation: Some("add_comment".into()),
            strategy: "linked".into(),
            relation: Relation::Below,
            than: Than::Strategy("embedded".into()),
            ..ClaimRecord::default()
        },
    ];
    for cell in run.rounds.iter_mut().flat_map(|round| &mut round.cells) {
        cell.slices = (1..9)
            .map(|slice| SliceRecord { calls: 100, seconds: 0.01 * f64::from(slice), ..SliceRecord::default() })
            .collect();
        cell.audits = vec![AuditRecord { audit: "lost".into(), found: 2, expected: [0, 0], example: None }];
    }
    let changed = EventKind::PrimaryChanged { from: "a:27017".into(), to: "b:27017".into(), without: 2.5 };
    let event = |part| EventRecord { round: 1, strategy: 1, part, seconds: 12.34, kind: changed.clone() };
    run.events = vec![event(None), event(Some(Part::Rate))];
    run
}

/// A report on a terminal of 80 columns and in Markdown. All forms must be well-formed.
pub(crate) fn in_every_form(report: &Report) -> [String; 2] {
    let written = |renderer: &dyn Renderer| {
        let mut text = String::new();
        renderer.render(report, &mut text).unwrap();
        text
    };
    let terminal = |width, colour| written(&Terminal { width, colour, full: true });
    let text = terminal(80, false);
    assert_eq!(bare(&terminal(80, true)), text);
    for line in text.lines().filter(|line| !line.starts_with("    ")) {
        assert!(line.chars().count() <= 80 && line.trim_end() == line, "{line}");
    }
    write::html::tests::markup::read(&written(&Html));
    assert_eq!(write::json::tests::faults(&written(&Json)), [""; 0]);
    [text, written(&Markdown)]
}

/// A text without its colours.
fn bare(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |bare, part| bare + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn whatever_can_be_loaded_can_be_reported() {
    // Every number of the sample is edited in several ways and occurs in several cells: a part of them reaches each kind.
    for run in sample::edited().iter().step_by(37) {
        assert!(!terminal(run, 80, false).is_empty());
        assert!(!markdown(run).is_empty());
    }
}

#[test]
fn sample_runs() {
    let run = sample::run(8);
    insta::assert_snapshot!("eight_rounds_100_columns", terminal(&run, 100, false));
    insta::assert_snapshot!("eight_rounds_markdown", markdown(&run));
    insta::assert_snapshot!("two_rounds_80_columns", terminal(&sample::run(2), 80, false));
    insta::assert_snapshot!("complete_100_columns", terminal(&complete(), 100, false));
    insta::assert_snapshot!("complete_markdown", markdown(&complete()));
}

#[test]
fn a_shared_cache_that_was_left_dirty_leaves_no_verdict() {
    let mut run = sample::whole(&sample::run(8));
    for cell in run.parts.values_mut().flatten().flat_map(|round| &mut round.cells) {
        for counters in cell.own_counters.iter_mut().chain([&mut cell.counters]) {
            counters.extend([("cache_bytes_written".to_owned(), 0.0), ("oplog_bytes".to_owned(), 4e6)]);
        }
    }
    run.server.cache_bytes = Some(400_000_000);
    let dirty = "shared cache: a round leaves ";
    let sentences = |run: &RunRecord| Report::new(run).headline.sentences;
    assert!(
        !sentences(&run).is_empty() && sentences(&run).iter().all(|one| one.contains(dirty)),
        "{:?}",
        sentences(&run)
    );
    for cell in run.parts.values_mut().flatten().flat_map(|round| &mut round.cells) {
        for counters in cell.own_counters.iter_mut().chain([&mut cell.counters]) {
            counters.extend([("cache_bytes_written".to_owned(), 90e6), ("oplog_bytes".to_owned(), 1e5)]);
        }
    }
    let written = "written back in slices of linked, which stored";
    assert!(sentences(&run)[0].contains(written), "{:?}", sentences(&run));
    run.server.embedded = false;
    run.parts.get_mut(&Part::Own).unwrap()[0].cells[0].own_counters[0].clear();
    let known = Report::new(&run);
    assert!(!known.headline.sentences.join(" ").contains("shared cache"), "{:?}", known.headline.sentences);
    let warnings = known.sections.iter().find(|section| section.id == "warnings").unwrap();
    assert!(warnings.items.iter().any(|warning| warning.contains("It is not known whether")), "{:?}", warnings.items);
}

#[test]
fn fewer_calls_of_a_slow_strategy_are_said() {
    let mut run = sample::run(2);
    run.settings.fewer_calls = [("linked".to_owned(), 90)].into();
    let wanted =
        "linked made 90 calls per round at saturation where others made 915, because it is more than five times slower";
    assert!(warnings(&run).contains(wanted), "{}", warnings(&run));
    let markdown = markdown(&run);
    assert!(
        markdown.contains("915 calls at saturation (linked: 90)") && !markdown.contains("--calls 915"),
        "{markdown}"
    );
}

#[test]
fn what_was_not_flushed_is_said() {
    let mut run = sample::run(2);
    run.rounds[0].cells[1].after[0].checkpointed = false;
    assert!(warnings(&run).contains("no flush was charged"), "{}", warnings(&run));
    assert!(!warnings(&sample::run(2)).contains("no flush was charged"));
}

#[test]
fn colours_change_nothing_but_colour() {
    for width in [40, 80, 100, 200] {
        let run = sample::run(8);
        let coloured = terminal(&run, width, true);
        assert!(coloured.contains('\u{1b}'));
        assert_eq!(bare(&coloured), terminal(&run, width, false));
    }
}

#[test]
fn lines_fit_and_do_not_end_in_blanks() {
    for width in [80, 100, 120] {
        for line in terminal(&sample::run(8), width, false).lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
            assert_eq!(line.trim_end(), line);
        }
    }
}

/// The sample run as if its calls had fallen due at 500 per second and waited 300 us each.
fn open_run() -> RunRecord {
    let mut run = sample::run(8);
    run.settings.load = LoadModel::Open { rate: 500.0, arrivals: Arrivals::Poisson };
    run.settings.clients = 64;
    let later = |times: &StoredHistogram, by: u64| {
        let mut made = LatencyHistogram::new(std::time::Duration::from_secs(10));
        for value in times.open().as_hdr().iter_recorded() {
            (0..value.count_at_value()).for_each(|_| made.record(value.value_iterated_to() + by));
        }
        TimesRecord::new(&made)
    };
    for cell in run.rounds.iter_mut().flat_map(|round| &mut round.cells) {
        let mut waits = LatencyHistogram::new(std::time::Duration::from_secs(10));
        for outcome in cell.operations.iter_mut().flat_map(|operation| &mut operation.outcomes) {
            outcome.response = Some(later(&outcome.service, 300_000));
            (0..outcome.count).for_each(|call| waits.record(100_000 + call * 500));
        }
        cell.open = Some(OpenRecord {
            offered: cell.calls + 7,
            seconds: cell.calls as f64 / 500.0,
            waiting: 40,
            skipped: 0,
            never_started: 7,
            pacer_lag: TimesRecord::new(&waits),
            queue_wait: TimesRecord::new(&waits),
        });
    }
    run
}

#[test]
fn open_load_has_response_times() {
    let (terminal, markdown) = (terminal(&open_run(), 100, false), markdown(&open_run()));
    for (text, wanted) in [
        (&terminal, "\nResponse time per call\n"),
        (&terminal, "\nResponse under load\n"),
        (&markdown, "\n## Response time per call\n"),
        (&markdown, "| 500 calls per second and strategy |"),
        (&markdown, "--arrivals poisson --clients 64"),
        (&markdown, "| 500 calls/s | embedded (baseline) | 504 | 482 | 0 | 56 |"),
    ] {
        assert!(text.contains(wanted), "{wanted} is not in {text}");
    }
    assert!(!terminal.contains("Service time per call") && !markdown.contains("Service time per call"));
}

/// The section about response under load on a terminal.
fn under_load(run: &RunRecord) -> String {
    let text = terminal(run, 80, false);
    let section = text.split("\nResponse under load\n").nth(1).unwrap_or_else(|| panic!("no section in {text}"));
    section.split("\n\n").next().unwrap().to_owned()
}

#[test]
fn every_load_of_the_curve_names_who_keeps_up() {
    let run = sample::curve(&sample::run(8), 0);
    let text = under_load(&run);
    for wanted in ["400 calls/s (", "1,000 calls/s (11 %)", "1,600 calls/s (", "40 % overloaded"] {
        assert!(text.contains(wanted), "{wanted} is not in {text}");
    }
    let sentence = "At 1,600 calls/s nothing is compared: only linked keeps up. Overloaded: embedded (40 %).";
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(sentence), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let details = terminal(&run, 100, false);
    assert_eq!(details.matches("Response time per call").count(), 1, "details of the middle load alone: {details}");
    let files = report(&run).pictures();
    let picture = files.iter().find(|picture| picture.file == "load.svg").unwrap();
    assert!(picture.text.contains("embedded is overloaded at 1,600 calls/s: it keeps up with 40 %"));
    assert!(!picture.text.contains("embedded, mean at 1,600") && picture.text.contains("linked, mean at 1,600"));
}

#[test]
fn records_with_a_single_load_show_it_as_a_share_of_the_highest_capacity() {
    let mut run = sample::whole(&sample::run(8));
    run.settings.parts = vec![Part::Own, Part::Rate, Part::Saturation];
    let text = under_load(&run);
    assert!(text.contains("1,000 calls/s (11 %)") && !text.contains("overloaded"), "{text}");
    assert!(report(&run).pictures().iter().all(|picture| picture.file != "load.svg"), "one load is no curve");
}

#[test]
fn the_chart_of_the_first_screen_has_the_ratio_of_every_slower_strategy() {
    let mut run = sample::whole(&sample::run(8));
    let scale = |run: &mut RunRecord, arms: &[usize], factor: f64| {
        for round in run.parts.values_mut().flatten() {
            arms.iter().for_each(|arm| round.cells[*arm].seconds *= factor);
        }
    };
    // The unsafe strategy is compared with none.
    scale(&mut run, &[2], 8.0);
    // The inverse of the inverse of a number is not always that number.
    for _ in 0..40 {
        scale(&mut run, &[0, 1, 2], 1.000_000_1);
        let chart = report(&run).headline.charts.unwrap().draw().remove(0).charts.remove(0).description;
        assert!(chart.contains(" of the best"), "{chart}");
    }
}

#[test]
fn a_rate_that_no_strategy_keeps_up_with_has_a_next_step() {
    let mut run = sample::whole(&sample::run(8));
    run.settings.is_named_rate = true;
    for (strategy, cell) in
        run.parts.get_mut(&Part::Rate).unwrap().iter_mut().flat_map(|round| round.cells.iter_mut().enumerate())
    {
        let open = cell.open.as_mut().unwrap();
        open.waiting = open.offered * [8, 6, 9][strategy] / 10;
    }
    let report = report(&run);
    let wanted = "No strategy keeps up with 1,000 calls/s: the best, linked, keeps up with 40 %. Measure again with a lower --rate: \
                  the highest capacity is that of linked, ";
    assert!(verdict(&report).starts_with(wanted), "{}", verdict(&report));
}

/// The answer.
fn verdict(report: &Report) -> &str {
    report.headline.decision.as_ref().map_or("", |decision| &decision.answer)
}

#[test]
fn smoke_has_numbers_and_no_verdict() {
    let mut run = sample::run(1);
    run.settings.preset = Preset::Smoke;
    let text = terminal(&run, 100, false);
    assert!(text.contains("No verdict: 1 round.") && text.contains("calls/s"), "{text}");
    assert!(!text.contains(['▼', '▲']));
}

#[test]
fn incomplete_runs_begin_with_a_warning() {
    let cases = [
        (Status::Interrupted, "This run was interrupted: 7 of 8 rounds complete"),
        (Status::Unfinished, "This run is still in progress, or was killed: 7 of 8 rounds complete"),
        (Status::Failed("server\nlost".into()), "This run failed (server lost): 7 of 8 rounds complete"),
    ];
    for (status, wanted) in cases {
        let mut run = sample::run(7);
        (run.status, run.settings.rounds) = (status, 8);
        for text in [terminal(&run, 100, false), markdown(&run)] {
            let place = text.find(wanted).unwrap_or_else(|| panic!("{wanted} is not in {text}"));
            assert!(place < text.find("Choose linked").unwrap());
        }
    }
}

#[test]
fn a_run_without_rounds_renders() {
    let mut run = sample::run(0);
    run.status = Status::Failed("server lost".into());
    run.settings.calls = None;
    insta::assert_snapshot!("no_round_80_columns", terminal(&run, 80, false));
    assert!(markdown(&run).contains("No verdict: no round is complete"));
}

#[test]
fn an_arm_that_fails_is_not_ranked() {
    let mut run = sample::run(8);
    for operation in run.rounds.iter_mut().flat_map(|round| &mut round.cells[1].operations) {
        operation
            .outcomes
            .iter_mut()
            .filter(|outcome| outcome.outcome == CallOutcome::Failed)
            .for_each(|o| o.count = 40);
    }
    assert!(
        report(&run).headline.invalid[0]
            .starts_with("linked failed in 4.4 % of its calls, and the error budget is 1.0 %")
    );
    // With a budget for it there is a verdict again.
    run.settings.error_budget = 0.05;
    let report = self::report(&run);
    assert!(verdict(&report).starts_with("Choose linked: "), "{:?}", report.headline.sentences);
    run.settings.error_budget = 0.0;
    let report = self::report(&run);
    assert_eq!(report.headline.sentences, ["No verdict: the run is invalid."]);
    let run = evaluation(report);
    assert!(run.rows.iter().flat_map(|row| &row.cells).all(|cell| run.difference(cell).is_none()));
}

#[test]
fn a_failing_operation_is_not_ranked() {
    let mut run = sample::run(8);
    for round in &mut run.rounds {
        let failed = round.cells[1].operations[0].outcomes[1].clone();
        round.cells[1].operations[1].outcomes.push(OutcomeRecord { count: 5, ..failed });
    }
    let report = self::report(&run);
    // By themselves its calls succeed; under load the whole strategy has too many failures only together.
    assert!(verdict(&report).starts_with("Choose linked: "));
}

#[test]
fn warnings_follow_from_numbers() {
    let mut run = sample::run(6);
    run.rounds[2].cells[2].connections_created = 1;
    run.rounds[2].cells[1].machine.steal = Some(0.3);
    run.rounds.iter_mut().for_each(|round| round.cells[0].machine.load_thread_busy = Some(0.96));
    let warnings = warnings(&run);
    for wanted in [
        "1 connection was made while calls of bucket_rmw were measured",
        "took processor time: 30 % from linked. Times",
        "96.0 % of its time with embedded: throughput with closed load is a lower bound",
    ] {
        assert!(warnings.contains(wanted), "{wanted} is not in {warnings}");
    }
}

#[test]
fn invalid_runs_say_so_first_and_name_no_winner() {
    let mut run = sample::run(8);
    run.rounds[2].cells[0].connections_created = 2;
    run.rounds[2].cells[1].operations[0].outcomes[0].saturated = 4;
    let report = self::report(&run);
    assert_eq!(report.headline.sentences, ["No verdict: the run is invalid."]);
    let (shown, text) = (terminal(&run, 100, true), markdown(&run));
    assert!(shown.starts_with("\u{1b}[1m\u{1b}[31mINVALID RUN"), "{shown}");
    assert!(text.contains("\n\n> **Invalid run"), "{text}");
    for text in [bare(&shown).replace('\n', " "), text] {
        for wanted in ["2 connections were made while calls of embedded", "4 calls of linked took longer"] {
            assert!(text.contains(wanted), "{wanted} is not in {text}");
        }
        assert!(!text.contains("fastest"), "{text}");
    }
}

#[test]
fn overloaded_arms_are_named_in_the_verdict_and_not_ranked() {
    let times = |values: u64| crate::results::TimesRecord {
        count: 0,
        saturated: 0,
        sum: 0,
        histogram: crate::record::StoredHistogram::new(&crate::record::LatencyHistogram::new(
            std::time::Duration::from_secs(values),
        )),
    };
    let with = |overloaded: usize| {
        let mut run = sample::run(8);
        run.strategies[2].is_unsafe = false;
        run.settings.is_named_rate = true;
        for cell in run.rounds.iter_mut().map(|round| &mut round.cells[overloaded]) {
            let (pacer_lag, queue_wait) = (times(1), times(1));
            let (offered, waiting) = (1_000, 90);
            cell.open = Some(crate::results::OpenRecord {
                offered,
                seconds: 1.0,
                waiting,
                skipped: 0,
                never_started: 0,
                pacer_lag,
                queue_wait,
            });
        }
        let report = report(&run);
        (verdict(&report).to_owned(), report.headline.sentences.join(" "))
    };
    let (answer, reasons) = with(2);
    assert!(answer.ends_with("bucket_rmw could not keep up (91.0 % of 1,000 calls/s)."), "{answer}");
    let wanted = "bucket_rmw was overloaded: it kept up with 91.0 % of the intended calls";
    assert!(reasons.contains(wanted), "{reasons}");
    let (answer, reasons) = with(0);
    assert!(
        answer.starts_with(
            "Choose bucket_rmw: embedded could not keep up (91.0 % of 1,000 calls/s), 1.23x faster than linked"
        ),
        "{answer}"
    );
    assert!(reasons.contains("embedded was overloaded: it kept up with 91.0 %"), "{reasons}");
}

#[test]
fn the_fastest_is_compared_with_every_other() {
    let mut run = sample::run(8);
    run.strategies[2].is_unsafe = false;
    let first = self::report(&run);
    let said = verdict(&first);
    assert_eq!(
        said,
        "Choose bucket_rmw: 2.22x the calls/s of embedded (2.06x faster with one client), 1.11x the calls/s of linked (1.23x \
         faster with one client)."
    );
    for (place, round) in run.rounds.iter_mut().enumerate() {
        round.cells[2] = round.cells[1].clone();
        // In some rounds better, in some worse.
        let other = if place % 2 == 0 { 0 } else { 2 };
        round.cells[2].operations[other] = round.cells[0].operations[other].clone();
    }
    let second = self::report(&run);
    assert_eq!(
        verdict(&second),
        "Avoid embedded: linked makes 2.00x the calls/s. Undecided between linked and bucket_rmw. Rounds differ too much: try --preset full (about 8 minutes)."
    );
    let reasons = second.headline.sentences.join(" ");
    for said in
        ["linked against bucket_rmw", "bucket_rmw against embedded", "inconclusive, as rounds differ too much; use"]
    {
        assert!(reasons.contains(said), "{said}: {reasons}");
    }
}

#[test]
fn a_winning_baseline_is_named_first() {
    let mut run = sample::run(8);
    run.strategies.swap(0, 1);
    run.rounds.iter_mut().for_each(|round| round.cells.swap(0, 1));
    let report = self::report(&run);
    let said = verdict(&report);
    assert_eq!(said, "Choose linked: 2.00x the calls/s of embedded (1.68x faster with one client).");
}

#[test]
fn no_difference_has_its_minimum_detectable_effect() {
    let mut run = sample::run(8);
    run.rounds.iter_mut().for_each(|round| round.cells[1] = round.cells[0].clone());
    assert_eq!(verdict(&report(&run)), "Between embedded and linked no difference found (2.0 % would have shown).");
    let wild = sample::run(8);
    for place in [0, 3, 5, 6] {
        run.rounds[place].cells[1] = wild.rounds[place].cells[2].clone();
    }
    run.rounds[7].cells[0] = wild.rounds[7].cells[2].clone();
    run.rounds[4].cells[0] = wild.rounds[7].cells[2].clone();
    let report = self::report(&run);
    assert_eq!(
        verdict(&report),
        "Undecided between linked and embedded. Rounds differ too much: try --preset full (about 8 minutes)."
    );
    let reasons = report.headline.sentences.join(" ");
    assert!(
        reasons.contains("inconclusive, as rounds differ too much") && reasons.contains("use a longer preset"),
        "{reasons}"
    );
}

#[test]
fn an_unsafe_baseline_has_no_verdict() {
    let mut run = sample::run(8);
    run.strategies[2].is_unsafe = false;
    run.strategies[0].is_unsafe = true;
    let report = self::report(&run);
    assert_eq!(
        report.headline.sentences,
        ["No verdict: embedded is the baseline, and unsafe; name a safe strategy first."]
    );
    let run = evaluation(report);
    assert!(run.rows.iter().flat_map(|row| &row.cells).all(|cell| run.difference(cell).is_none()));
}

/// The sample run with a repeat of the baseline, with this much added to its time per round and percent.
fn with_repeat(percent: f64) -> RunRecord {
    let mut run = sample::run(8);
    run.strategies[2] = crate::results::StrategyRecord {
        name: "embedded (repeat)".into(),
        about: run.strategies[0].about.clone(),
        is_unsafe: false,
        is_repeat: true,
        collections: Vec::new(),
    };
    for round in &mut run.rounds {
        round.cells[2] = round.cells[0].clone();
        for outcome in round.cells[2].operations.iter_mut().flat_map(|operation| &mut operation.outcomes) {
            let mut service = crate::record::LatencyHistogram::new(std::time::Duration::from_secs(10));
            for value in outcome.service.open().as_hdr().iter_recorded() {
                let slower = value.value_iterated_to() as f64 * (1.0 + percent / 100.0);
                (0..value.count_at_value()).for_each(|_| service.record(slower as u64));
            }
            outcome.sum = service.sum();
            outcome.service = crate::record::StoredHistogram::new(&service);
        }
    }
    run
}

#[test]
fn a_repeat_has_a_band_and_no_verdict() {
    let report = self::report(&with_repeat(1.0));
    assert!(verdict(&report).starts_with("Choose linked: "), "{:?}", report.headline.sentences);
    let notes = report.headline.notes.join(" ");
    let families = "Each family of comparisons (3 of own times of operations, 1 of own times of the mix, 1 of calls/s of the \
                    mix, 1 of response times of the mix) reports a false";
    assert!(notes.contains(families), "{notes}");
    assert!(notes.contains("the noise that embedded (repeat) shows: 1."), "{notes}");
    let command = &report.run.as_ref().unwrap().facts.command;
    assert!(!command.contains("(repeat)"), "{command}");
    let run = evaluation(report);
    assert!(run.rows.iter().all(|row| run.difference(&row.cells[2]).is_none()));
    // Noise as large as the differences leaves none to report.
    let report = self::report(&with_repeat(600.0));
    assert!(!verdict(&report).contains("faster"), "{}", verdict(&report));
    assert!(self::report(&sample::run(8)).headline.notes.join(" ").contains("no repeat of the baseline"));
}

#[test]
fn unsafe_strategies_have_no_verdict() {
    let report = self::report(&sample::run(8));
    let said = report.headline.sentences.iter().map(String::as_str).chain([verdict(&report)]);
    said.for_each(|sentence| assert!(!sentence.contains("bucket_rmw"), "{sentence}"));
    let run = evaluation(report);
    assert!(run.rows.iter().all(|row| run.difference(&row.cells[2]).is_none()));
}

#[test]
fn foreign_text_steers_neither_terminal_nor_markdown() {
    let mut run = sample::run(2);
    let hostile = "\u{1b}[2J|`<script>alert(1)</script>\n# no\r\u{202e}";
    run.scenario.title = hostile.into();
    run.scenario.name = hostile.into();
    run.strategies[1].name = hostile.into();
    run.operations[0] = hostile.into();
    run.warnings = vec![hostile.into()];
    run.status = Status::Failed(hostile.into());
    for text in [terminal(&run, 80, false), markdown(&run)] {
        assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
    }
    let text = markdown(&run);
    let outside: String = text.split("```").step_by(2).collect();
    assert!(!outside.contains("<script") && !outside.contains("\n# no"), "{outside}");
    let columns = |line: &str| line.replace(r"\|", "").matches('|').count();
    let latency: Vec<usize> = outside
        .lines()
        .skip_while(|l| *l != "## Response time per call")
        .skip_while(|l| !l.starts_with('|'))
        .take(8)
        .map(columns)
        .collect();
    assert_eq!(latency, [11; 8]);
}

#[test]
fn records_with_missing_parts_render() {
    let mut run = sample::run(2);
    run.rounds[0].cells.pop();
    run.rounds[1].cells[0].operations.pop();
    run.mix.weights.clear();
    run.strategies.truncate(2);
    assert!(!terminal(&run, 80, false).is_empty() && !markdown(&run).is_empty());
    run.strategies.clear();
    assert!(!terminal(&run, 80, false).is_empty() && !markdown(&run).is_empty());
}
