//! The report of a comparison of runs, A and B.

mod verdict;
mod warnings;

use crate::record::Metric;
use crate::results::{Part, RunRecord, in_percent};
use crate::stats::run_comparison::{ComparedParts, ComparedUnit, OperationChange, RunComparison, TimeChange};
use crate::stats::{self, CollectionGrowth, Reason, Role, Verdict};

use super::document::format::{
    NOTHING, bytes_change, capitalised, count, count_change, counted, enumerated, interval, percent, plain, three, time,
};
use super::document::{Cell, Column, Forms, Headline, Measure, Row, Section, Table, Tone, column};
use super::run::decision::phrase;
use super::run::sections::{self, method::measured, sizes::change, sizes::size};
use super::{NamedRun, Report};
use verdict::{findings, label, operation, verdict};
use warnings::warnings;

type CollectionChange = (String, Option<CollectionGrowth>, Option<CollectionGrowth>);

/// Regressions that the headline names, and improvements.
const NAMED: usize = 12;

/// Settings that always differ, or that the report has elsewhere.
const OWN: [&str; 5] = ["started", "scenario", "rounds", "verification", "journal flush"];

/// A time of an operation of one strategy in both runs.
struct Entry {
    metric: Metric,
    change: TimeChange,
    /// Whether the relative ratio is judged.
    is_relative: bool,
}

/// The runs that were compared, at least one on each side.
#[derive(Debug, Clone, Copy)]
pub struct ComparedRuns<'r> {
    /// The earlier ones: A.
    pub before: &'r [NamedRun],
    /// The later ones: B.
    pub after: &'r [NamedRun],
    /// The change (0.05 for 5 %) up to which a number counts as the same.
    pub tolerance: f64,
    /// The strategies whose definition changed.
    pub changed: &'r [String],
}

impl ComparedRuns<'_> {
    /// Every run with its name here: that of its side, with a number if there are several.
    fn named(&self) -> impl Iterator<Item = (String, &NamedRun)> {
        [("A", self.before), ("B", self.after)].into_iter().flat_map(|(side, runs)| {
            let name =
                move |place: usize| if runs.len() > 1 { format!("{side}{}", place + 1) } else { side.to_owned() };
            runs.iter().enumerate().map(move |(place, run)| (name(place), run))
        })
    }

    /// The first run of each side.
    fn first(&self) -> Option<[&RunRecord; 2]> {
        Some([&self.before.first()?.record, &self.after.first()?.record])
    }
}

impl Report {
    /// Computes the report of a comparison.
    pub fn of_comparison(found: &RunComparison, runs: ComparedRuns) -> Report {
        let sections = [
            Some(times(found, runs.tolerance)),
            throughput(found),
            sizes(found),
            runs.first().and_then(|[before, after]| differences(before, after)),
            sections::warnings(warnings(found, runs)),
        ];
        Report::of(headline(found, runs), sections.into_iter().flatten())
    }
}

fn headline(found: &RunComparison, runs: ComparedRuns) -> Headline {
    let tolerance = runs.tolerance;
    let named = runs
        .first()
        .map(|[first, _]| [&first.scenario.name, &first.scenario.title, &first.mix.name].map(|text| plain(text)));
    let [scenario, title, mix] = named.unwrap_or_default();
    let worse = findings(found, TimeChange::is_regression, f64::recip);
    let better = findings(found, TimeChange::is_improvement, |ratio| ratio);
    let more = worse.len().saturating_sub(NAMED) + better.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("{more} more differences are marked in the table."));
    let notes = more.into_iter().chain([compared_parts(found), basis(found, runs)]).chain(between_sessions(runs));
    let subject = runs.named().map(|(name, run)| format!("{name}: {}", described(run)));
    let several = |runs: &[NamedRun]| if runs.len() > 1 { "runs" } else { "run" };
    let compared =
        format!("{} B compared with {} A, mix {mix}.", capitalised(several(runs.after)), several(runs.before));
    Headline {
        scenario,
        title,
        subject: std::iter::once(compared).chain(subject).collect(),
        mix,
        times: Some(if found.parts.mix == Part::Rate { "response" } else { "service" }),
        sentences: vec![verdict(found, tolerance)],
        tone: if found.has_regression() { Tone::Bad } else { Tone::Strong },
        findings: worse.into_iter().take(NAMED).chain(better.into_iter().take(NAMED)).collect(),
        notes: notes.chain(if found.is_disturbed() { Vec::new() } else { criteria(found, tolerance) }).collect(),
        ..Headline::default()
    }
}

/// What is compared with what, and what the intervals contain.
fn basis(found: &RunComparison, runs: ComparedRuns) -> String {
    let relative = found.relative_to.as_ref().map(|name| {
        let name = plain(name);
        format!(
            "Times are compared relative to {name} in the same round, because the machine may have been more or less busy \
             in B than in A. Where {name} itself changed, nothing is decided. "
        )
    });
    let over_runs = format!("The CIs are over runs, {} of A and {} of B.", runs.before.len(), runs.after.len());
    let unit = match found.unit {
        ComparedUnit::PairedRounds => {
            "A and B took turns, round by round, with the same data and calls: their times are compared in pairs of rounds."
        }
        ComparedUnit::Rounds if found.contains_sessions => {
            "A and B have other data and calls, as two sessions have: the CIs are over the rounds of one run per side, and contain \
             how far sessions of published results usually are apart."
        }
        ComparedUnit::Rounds => {
            "The CIs are over the rounds of one run per side. They do not contain how much runs differ from each other: for \
             that, compare several, A1 A2 A3 -- B1 B2 B3."
        }
        ComparedUnit::Runs => &over_runs,
    };
    relative.unwrap_or_default() + unit
}

/// How far two runs are apart in calls per second, by what sessions of published results usually are; `None` where that is unknown.
fn between_sessions(runs: ComparedRuns) -> Option<String> {
    let one_each = runs.before.len() == 1 && runs.after.len() == 1;
    let [before, after] = runs.first().filter(|_| one_each)?;
    let (distance, [strategy, against]) = stats::session_distance(before, after)?;
    let distance = phrase::session_distance(distance);
    Some(format!("Calls/s of {} relative to {} are {distance} apart.", plain(strategy), plain(against)))
}

fn described(run: &NamedRun) -> String {
    let record = &run.record;
    let calls = record.settings.calls.map_or(String::new(), |calls| format!(" of {}", counted(calls, "call")));
    let rounds = counted(record.complete_rounds().max(record.rounds.len()) as u64, "round");
    let (name, version, started) = (plain(&run.name), plain(&record.server.version), plain(&record.started));
    format!("{name}, MongoDB {version}, {rounds}{calls}, started {started}.")
}

fn limit(tolerance: f64) -> String {
    format!("{} %", in_percent(tolerance))
}

/// The parts whose times the numbers are.
fn compared_parts(found: &RunComparison) -> String {
    let ComparedParts { mix, operations } = found.parts;
    if mix == operations {
        return format!("All times: {}.", mix.label());
    }
    format!("Times of operations: {}. Times of the mix: {}.", operations.label(), mix.label())
}

/// What could be undetected, and when a difference is reported.
fn criteria(found: &RunComparison, tolerance: f64) -> Vec<String> {
    let inconclusive = found.judged().filter(|(.., change)| change.is_open());
    let hidden = inconclusive.filter_map(|(.., change)| Some(change.interval?.high - 1.0)).fold(0.0, f64::max);
    let undetected = (hidden > tolerance)
        .then(|| format!("Inconclusive numbers could hide a regression of up to {}.", percent(hidden)));
    let criteria = format!(
        "A difference is reported only if its whole 95 % CI is beyond {} and it exceeds the noise that the repeats of both \
         runs show. The CIs cover all operations at once; the mix is a family of its own.",
        limit(tolerance)
    );
    undetected.into_iter().chain([criteria]).collect()
}

fn times(found: &RunComparison, tolerance: f64) -> Section {
    let is_relative = found.relative_to.is_some();
    let measures = [
        Measure::word("metric", "`mean` or `p99`.", |one: &Entry| one.metric.to_string()),
        column("before_ns", "A", "The time in run A: the geometric mean over rounds.")
            .number(time, |one| one.change.before),
        column("after_ns", "B", "The time in run B.").number(time, |one| one.change.after),
        column("ratio", "ratio", "B divided by A.").cell(|one| {
            let cell =
                if one.is_relative { Cell::number(one.change.ratio, three) } else { judged(one, one.change.ratio) };
            cell.with_value(one.change.ratio)
        }),
        column("relative", "relative", "The ratio divided by that of the strategy it is relative to.").cell(|one| {
            let relative = one.change.relative;
            let cell = relative.filter(|_| one.is_relative).map(|_| judged(one, relative));
            cell.unwrap_or_default().with_value(relative)
        }),
        column("ci", "95 % CI", "The confidence interval of the judged ratio.")
            .text(|one: &Entry| {
                one.change.interval.map_or_else(String::new, |bounds| interval(bounds.low, bounds.high))
            })
            .only(Forms::READ),
        Measure::data("low", "The lower bound of the 95 % CI: of the relative ratio if that is judged.", |one| {
            one.change.interval.map(|bounds| bounds.low)
        }),
        Measure::data("high", "The upper bound.", |one| one.change.interval.map(|bounds| bounds.high)),
        Measure::word(
            "verdict",
            "`slower`, `faster`, `same`, or why it is none of them, such as `within_noise`, `open`, `disturbed`, `overloaded`, \
             `reference` or `not_judged`.",
            |one| one.change.verdict.id(),
        ),
    ];
    let longest = found.strategies.iter().max_by_key(|strategy| strategy.rows.len());
    // The mix is last in the comparison and first in reports.
    let names = longest.map_or(&[][..], |strategy| &strategy.rows);
    let (operations, mix) = names.split_at(names.len().saturating_sub(1));
    let metrics = |named| Metric::compared().into_iter().map(move |metric| (named, metric));
    let rows = mix.iter().chain(operations).flat_map(metrics).flat_map(|(named, metric): (&OperationChange, _)| {
        let name = operation(named);
        let group = Cell::text(label(&name, metric)).with_value(name);
        found.strategies.iter().enumerate().filter_map(move |(place, strategy)| {
            let row = strategy.rows.iter().find(|row| row.operation == named.operation)?;
            let change = row.by(metric)?;
            let named = Row::new(plain(&strategy.name)).group(group.clone()).series(place);
            Some((named, Entry { metric, change, is_relative }))
        })
    });
    let table = Table::new("changes", "Time per call", Column::strategy(), &measures, rows.collect::<Vec<_>>())
        .grouped(Column::operation())
        .side_by_side(Forms::TERMINAL);
    let unjudged = found.strategies.iter().filter(|strategy| strategy.role != Role::Judged);
    let unjudged = enumerated(unjudged.map(|strategy| plain(&strategy.name)));
    let unjudged = unjudged.map_or_else(String::new, |names| format!("Unsafe and not judged: {names}."));
    let relative = found
        .relative_to
        .as_ref()
        .map(|name| format!("relative: ratio / ratio of {}, which the marks and the CI belong to. ", plain(name)));
    let note = format!(
        "ratio: B / A, below 1 is faster. {}▼ ▲ reported difference. ? inconclusive: the CI extends beyond {}.",
        relative.unwrap_or_default(),
        limit(tolerance)
    );
    let withheld = enumerated(found.withheld.iter().map(|name| plain(name))).map(|names| {
        format!(
            "Not judged, because a cache that strategies shared distorts their times: {names}. Measure with --isolate, or with a \
             server per strategy."
        )
    });
    let section = Section::new("changes", "Time per call").table(table).note(unjudged);
    section.note(withheld.unwrap_or_default()).note(note)
}

/// The judged ratio with its mark.
fn judged(one: &Entry, ratio: Option<f64>) -> Cell {
    let (mark, tone) = match one.change.verdict {
        Verdict::Slower => ("▲ ", Tone::Bad),
        Verdict::Faster => ("▼ ", Tone::Good),
        Verdict::Inconclusive(Reason::NotJudged) => ("", Tone::Faint),
        Verdict::Inconclusive(Reason::Reference) | Verdict::Same { .. } => ("", Tone::Plain),
        _ if one.change.is_open() => ("? ", Tone::Faint),
        _ => ("", Tone::Plain),
    };
    Cell::number(ratio, |ratio| format!("{mark}{}", three(ratio))).tone(tone)
}

/// Calls per second of the strategies at saturation; `None` where a run did not measure it.
fn throughput(found: &RunComparison) -> Option<Section> {
    let measures = [
        column("before", "A", "Calls per second in run A.").cell(|(before, _): &(f64, f64)| rate(*before)),
        column("after", "B", "Calls per second in run B.").cell(|(_, after)| rate(*after)),
        column("ratio", "ratio", "B divided by A.").number(three, |(before, after)| after / before),
    ];
    let strategies = found.strategies.iter();
    let rows = strategies.filter_map(|strategy| Some((Row::new(plain(&strategy.name)), strategy.throughput?)));
    let title = "Calls per second";
    let table = Table::new("throughput_changes", title, Column::strategy(), &measures, rows);
    Section::new("throughput", title).table(table).with_rows()
}

fn rate(rate: f64) -> Cell {
    Cell::number(Some(rate), |rate| count(rate.round() as u64))
}

/// Whether what is in use of files can be compared: records of earlier versions have only file sizes.
fn is_use_known((_, before, after): &CollectionChange) -> bool {
    [before, after].into_iter().flatten().all(|growth| growth.is_use_known)
}

/// The sizes of collections in both runs; `None` without any.
fn sizes(found: &RunComparison) -> Option<Section> {
    let measures = [
        size("documents", "documents", "How many documents.", |(_, before, after): &&CollectionChange| {
            let [before, after] = [before, after].map(|one| Some(one.as_ref()?.documents.after));
            change(before, after, count_change)
        }),
        size("mean_bytes", "mean", "The mean size of a document.", |one| in_bytes(one, |growth| growth.mean.after)),
        size("storage_bytes", "storage", "The collection's file, or what is in use of it.", |one| {
            in_bytes(one, if is_use_known(one) { |growth| growth.storage.after } else { |growth| growth.file.after })
        }),
        size("index_bytes", "indexes", "The indexes' files, or what is in use of them.", |one| {
            in_bytes(
                one,
                if is_use_known(one) { |growth| growth.indexes.after } else { |growth| growth.index_files.after },
            )
        }),
    ];
    let rows = found.strategies.iter().flat_map(|strategy| {
        let group = Cell::text(plain(&strategy.name));
        strategy.collections.iter().map(move |one| (Row::new(plain(&one.0)).group(group.clone()), one))
    });
    let name = column("collection", "collection", "The collection.");
    let title = "Collections after the calls of a round, A → B";
    let table = Table::new("collection_changes", title, name, &measures, rows).grouped(Column::strategy());
    Section::new("collections", title).table(table).with_rows()
}

fn in_bytes(one: &CollectionChange, of: fn(&CollectionGrowth) -> f64) -> Cell {
    change(one.1.as_ref().map(of), one.2.as_ref().map(of), bytes_change)
}

/// Settings, machine and server where the first runs of both sides differ; `None` where they do not.
fn differences(before: &RunRecord, after: &RunRecord) -> Option<Section> {
    let strategies = |record: &RunRecord| {
        let named = record.strategies.iter().filter(|strategy| !strategy.is_repeat);
        ("strategies".to_owned(), named.map(|strategy| plain(&strategy.name)).collect::<Vec<_>>().join(", "))
    };
    let [old, new] =
        [before, after].map(|record| measured(record).into_iter().chain([strategies(record)]).collect::<Vec<_>>());
    let value = |pairs: &[(String, String)], name: &str| {
        pairs.iter().find(|(other, _)| other == name).map_or_else(|| NOTHING.to_owned(), |(_, value)| value.clone())
    };
    let names = stats::distinct(old.iter().chain(&new).map(|(name, _)| name.as_str()));
    let values = |name: &str| [value(&old, name), value(&new, name)];
    let rows = names.into_iter().filter(|name| !OWN.contains(name)).map(|name| (Row::new(name), values(name)));
    let rows = rows.filter(|(_, [old, new])| old != new);
    let measures = [
        column("change", "", "").text(|[old, new]: &[String; 2]| format!("{old} → {new}")).only(Forms::TERMINAL),
        column("before", "A", "In run A, the first of several.")
            .text(|[old, _]: &[String; 2]| Cell::text(old))
            .only(Forms::DETAILED),
        column("after", "B", "In run B, the first of several.")
            .text(|[_, new]: &[String; 2]| Cell::text(new))
            .only(Forms::DETAILED),
    ];
    let name = column("setting", "setting", "What was set or found.");
    let table = Table::new("setting_changes", "What differs", name, &measures, rows).list();
    Section::new("settings", "What differs, A → B").table(table).with_rows()
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::super::tests::in_every_form;
    use super::*;
    use crate::record::CallOutcome;
    use crate::results::ServerSharing;
    use crate::stats::run_comparison::{RunSides, compare_runs};
    use crate::stats::sample;

    fn slowed(strategies: &[usize], factor: f64) -> RunRecord {
        let mut run = sample::run(8);
        for round in &mut run.rounds {
            for strategy in strategies {
                for operation in &mut round.cells[*strategy].operations {
                    operation.outcomes.iter_mut().for_each(|one| one.sum = (one.sum as f64 * factor).round() as u64);
                }
            }
        }
        run
    }

    fn compared(before: &RunRecord, after: &RunRecord, changed: &[String]) -> Report {
        let run = |name: &str, record: &RunRecord| NamedRun { name: name.into(), record: record.clone() };
        of_runs(&[run("results/a", before)], &[run("saved run main", after)], changed)
    }

    fn of_runs(before: &[NamedRun], after: &[NamedRun], changed: &[String]) -> Report {
        let strategies: Vec<String> = before[0].record.strategies.iter().map(|one| one.name.clone()).collect();
        let records = |runs: &'_ [NamedRun]| runs.iter().map(|run| run.record.clone()).collect::<Vec<_>>();
        let [old, new] = [before, after].map(records);
        let [old, new]: [Vec<&RunRecord>; 2] = [&old, &new].map(|side| side.iter().collect());
        let reference = Some(strategies[0].as_str());
        let sides = RunSides { before: &old, after: &new, strategies: &strategies, reference, tolerance: 0.05 };
        let found = compare_runs(sides).unwrap();
        Report::of_comparison(&found, ComparedRuns { before, after, tolerance: 0.05, changed })
    }

    /// Two runs that took turns on two servers.
    fn in_turns(mut before: RunRecord, mut after: RunRecord) -> Report {
        (before.id, after.id) = ("a".into(), "b".into());
        after.turns_with = Some("a".into());
        before.turns_with = Some("b".into());
        compared(&before, &after, &[])
    }

    /// A comparison with every section and table.
    pub(crate) fn complete() -> Report {
        let mut after = slowed(&[1], 1.5);
        for round in &mut after.rounds {
            round.cells[1].operations[0].outcomes.iter_mut().for_each(|one| one.sum /= 3);
        }
        after.server.version = "7.0.1".into();
        after.settings.calls = Some(1_000);
        compared(&sample::run(8), &after, &["embedded".to_owned()])
    }

    #[test]
    fn one_strategy_is_slower_and_another_faster() {
        let [terminal, markdown] = in_every_form(&complete());
        insta::assert_snapshot!("slower_and_faster_80_columns", terminal);
        insta::assert_snapshot!("slower_and_faster_markdown", markdown);
    }

    #[test]
    fn a_reference_that_changed_decides_nothing() {
        let [terminal, _] = in_every_form(&compared(&sample::run(8), &slowed(&[0, 1, 2], 5.2), &[]));
        insta::assert_snapshot!("reference_changed_80_columns", terminal);
    }

    #[test]
    fn servers_in_turns_are_compared_by_their_times() {
        let [terminal, _] = in_every_form(&in_turns(sample::run(8), slowed(&[0], 1.5)));
        insta::assert_snapshot!("in_turns_80_columns", terminal);
    }

    #[test]
    fn what_a_shared_cache_distorts_is_not_judged() {
        let mut run = sample::whole(&sample::run(8));
        run.server.servers = ServerSharing::Shared;
        for cell in run.parts.values_mut().flatten().flat_map(|round| &mut round.cells) {
            for counters in cell.own_counters.iter_mut().chain([&mut cell.counters]) {
                counters.extend([("cache_bytes_written".to_owned(), 90e6), ("oplog_bytes".to_owned(), 1e5)]);
            }
        }
        let strategies: Vec<String> = run.strategies.iter().map(|one| one.name.clone()).collect();
        let (sides, reference) = ([&run], Some(strategies[0].as_str()));
        let runs = RunSides { before: &sides, after: &sides, strategies: &strategies, reference, tolerance: 0.05 };
        let found = compare_runs(runs).unwrap();
        assert_eq!((found.judged().count(), &found.withheld), (0, &strategies));
        let named = [NamedRun { name: "run".into(), record: run.clone() }];
        let runs = ComparedRuns { before: &named, after: &named, tolerance: 0.05, changed: &[] };
        let [text, _] = in_every_form(&Report::of_comparison(&found, runs));
        assert!(
            text.replace('\n', " ").contains("a cache that strategies shared distorts their times: embedded, linked"),
            "{text}"
        );
    }

    #[test]
    fn several_runs_have_numbers() {
        let run = |name: &str, record: RunRecord| NamedRun { name: name.into(), record };
        let before = [run("one", sample::run(8)), run("two", slowed(&[1], 1.02))];
        let report = of_runs(&before, &[run("three", slowed(&[1], 3.0))], &[]);
        let [text, _] = in_every_form(&report);
        for words in
            ["Run B compared with runs A, mix", "A2: two, MongoDB", "B: three", "over runs, 2 of A and 1 of B."]
        {
            assert!(text.replace("\n", " ").contains(words), "{words}: {text}");
        }
    }

    #[test]
    fn numbers_of_json_are_those_of_the_comparison() {
        let record = crate::report::write::json::tests::record(
            &complete(),
            "changes",
            &[("strategy", "linked"), ("operation", "mix")],
        );
        assert_eq!((&record["metric"], &record["verdict"]), (&json!("mean"), &json!("faster")));
        let number = |key: &str| record[key].as_f64().unwrap();
        assert!((number("ratio") - 0.869).abs() < 1e-3 && number("high") < 0.88, "{record}");
        assert!((number("relative") - number("ratio")).abs() < 1e-9, "{record}");
    }

    #[test]
    fn a_shift_of_all_is_a_warning() {
        let [text, markdown] = in_every_form(&compared(&sample::run(8), &slowed(&[0, 1, 2], 1.4), &[]));
        let warning = "All 9 means changed alike, by 1.40 to 1.40 (median 1.40)";
        assert!(text.contains(warning) && markdown.contains(warning), "{text}");
    }

    #[test]
    fn nothing_shown_is_no_all_clear() {
        let run = sample::run(8);
        let [text, _] = in_every_form(&compared(&run, &run, &[]));
        assert!(text.contains("No regression beyond 5 % found in 4 numbers: "), "{text}");
        let mut wild = run.clone();
        for (place, round) in wild.rounds.iter_mut().enumerate() {
            let outcomes = round.cells[1].operations.iter_mut().flat_map(|one| &mut one.outcomes);
            outcomes.for_each(|one| one.sum *= 1 + place as u64 % 4);
        }
        let [_, text] = in_every_form(&compared(&wild, &wild, &[]));
        let verdict = "Undecided: a regression beyond 5 % is neither shown nor excluded in 4 numbers";
        assert!(text.contains(verdict) && text.contains("could hide a regression of up to"), "{text}");
        assert!(!text.contains("No regression"));
    }

    #[test]
    fn new_failures_are_regressions() {
        let mut after = sample::run(8);
        after.settings.error_budget = 1.0;
        after.rounds[0].cells[1].operations[1].outcomes[0].outcome = CallOutcome::Failed;
        let report = compared(&sample::run(8), &after, &[]);
        let verdict = &report.headline.sentences[0];
        assert!(verdict.contains("No regression beyond 5 % found") && verdict.contains("not compared"), "{verdict}");
        assert_eq!(report.headline.findings, []);
        after.settings.error_budget = sample::run(8).settings.error_budget;
        for cell in after.rounds.iter_mut().map(|round| &mut round.cells[1]) {
            cell.operations[1].outcomes[0].outcome = CallOutcome::Failed;
        }
        let report = compared(&sample::run(8), &after, &[]);
        let finding = &report.headline.findings[0];
        assert_eq!(finding.text, "it failed in 33 % of its calls in B and not in A");
        let verdict = &report.headline.sentences[0];
        assert!(verdict.contains("can no longer be compared, because calls fail or wait"), "{verdict}");
        assert!(!verdict.contains("slower"), "{verdict}");
    }
}
