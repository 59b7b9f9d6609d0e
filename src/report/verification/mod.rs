//! The report of a verification: whether all strategies return the same results.

pub(crate) mod brief;
mod finding;

use crate::record::FaultKind;
use crate::results::verification::{
    AnomalyCounts, FaultRecord, LiveRecord, OperationCoverage, PhaseFindings, Problem, ReceivedBytes, StrategyFindings,
    Verification, VerifyPhase,
};

use super::Report;
use super::document::{
    Cell, Column, Headline, Kind, Measure, Row, Section, Table, Tone, bytes, column, count, counted, enumerated,
    listed, percent, plain, time,
};
use super::run::{sections, verdict_text::skipped_lines};

use finding::findings;

/// The phases with their names, and what the table says of each.
const PHASES: [(VerifyPhase, &str, &str); 4] = [
    (VerifyPhase::Sequential, "sequential", "`ok`, `fails` or `too large`; `null` if not run."),
    (VerifyPhase::Ordered, "ordered", "The same with concurrent calls, those of equal `serial` ordered."),
    (VerifyPhase::Unordered, "unordered", "The same with concurrent calls in any order."),
    (VerifyPhase::Pairs, "pairs", "The same with two writing calls at a time on the same records."),
];

impl Report {
    /// Computes the report of a verification.
    pub fn of_verification(verification: &Verification) -> Report {
        let rest = [
            fault(verification),
            findings(verification),
            live(verification),
            coverage(verification),
            received(verification),
            warnings(verification),
        ];
        let sections = std::iter::once(strategies(verification)).chain(rest.into_iter().flatten());
        Report::of(headline(verification), sections)
    }
}

fn headline(verification: &Verification) -> Headline {
    let Verification { scenario, mix, seed, calls, clients, baseline, skipped, .. } = verification;
    let (mix, calls) = (plain(mix), counted(*calls, "sequential call"));
    let clients = if is_concurrent(verification) {
        let pairs = verification.strategies.iter().map(|strategy| strategy.pairs).max().unwrap_or(0);
        let ways = match pairs {
            0 => "ordered and unordered".to_owned(),
            _ => format!("ordered, unordered, and in {}", counted(pairs, "pair")),
        };
        format!("; then {clients} concurrent clients, with calls of equal `serial` {ways}")
    } else {
        String::new()
    };
    let model = verification.model_calls.map_or("", |_| "the model and ");
    let subject = format!("{calls} of mix {mix}, seed {seed}, compared with {model}{}{clients}.", plain(baseline));
    Headline {
        scenario: plain(scenario),
        title: "Do all strategies return the same results?".to_owned(),
        subject: std::iter::once(subject).chain(skipped_lines(skipped)).collect(),
        mix,
        incomplete: gaps(verification),
        sentences: conclusion(verification).into_iter().chain(caught(verification)).collect(),
        tone: if verification.passes() { Tone::Good } else { Tone::Bad },
        ..Headline::default()
    }
}

/// The operations of which nothing was verified, with the next step; `None` for nothing.
fn gaps(verification: &Verification) -> Option<String> {
    // The sequential calls end with the first failure of the baseline.
    let baseline = verification.strategies.first()?;
    if sequential(baseline).is_some_and(|phase| phase.problems.iter().any(|problem| problem.call.is_some())) {
        return None;
    }
    let gap = |operations: Vec<&str>, lead: &str, step: &str| {
        enumerated(operations.into_iter().map(plain)).map(|names| format!("{lead}: {names}. {step}"))
    };
    let not_covered =
        gap(verification.not_covered(), "Not covered", "Give them a weight in the mix, or make more calls.");
    let vacuous = gap(
        verification.vacuous(),
        "Vacuous, because no call changed or returned anything",
        "Look at their filters and arguments.",
    );
    let gaps: Vec<String> = not_covered.into_iter().chain(vacuous).collect();
    (!gaps.is_empty()).then(|| gaps.join(" "))
}

/// Whether there were phases with concurrent calls.
fn is_concurrent(verification: &Verification) -> bool {
    verification.strategies.iter().any(|strategy| strategy.phases.len() > 1)
}

fn conclusion(verification: &Verification) -> Vec<String> {
    let safe: Vec<_> = verification.strategies.iter().filter(|strategy| !strategy.is_unsafe).collect();
    let failing = safe.iter().filter(|strategy| !strategy.is_clean()).count();
    let found = match (failing, safe.len()) {
        (0, 0) => "There is no safe strategy.".to_owned(),
        (0, 1) if verification.model_calls.is_some() => "No mistake was found in the only strategy.".to_owned(),
        (0, 1) => "No mistake was found in the only strategy, which was compared with no other.".to_owned(),
        (0, count) => format!("All {count} strategies return the same results."),
        (failing, count) => format!("{failing} of {count} strategies failed."),
    };
    let too_large = safe.iter().filter(|strategy| strategy.rejected_at.is_some());
    let too_large = enumerated(too_large.map(|strategy| plain(&strategy.name)));
    let too_large = too_large.map(|names| format!("Compared only up to a call that is too large for it: {names}."));
    let held = verification.fault.and_then(|kind| held(kind, &safe));
    [outvoted(verification), Some(found), model(verification, &safe), held, too_large].into_iter().flatten().collect()
}

/// Whether the sequential calls of the safe strategies gave the model's answers; `None` without a model.
fn model(verification: &Verification, safe: &[&StrategyFindings]) -> Option<String> {
    let compared = verification.model_calls?;
    // The others have no answer in the model, as a note says.
    let of = if compared < verification.calls { format!(" of {}", count(verification.calls)) } else { String::new() };
    let calls = format!("{}{of} {}", count(compared), if compared == 1 && of.is_empty() { "call" } else { "calls" });
    let is_right = |one: &&StrategyFindings| one.is_clean_in(VerifyPhase::Sequential) == Some(true);
    let all = safe.iter().all(is_right);
    Some(if all {
        format!("{calls} give the model's answers.")
    } else {
        format!("{calls} were compared with the model's answers.")
    })
}

/// How many negative controls fail, as they should; `None` without any.
fn caught(verification: &Verification) -> Option<String> {
    let controls = || verification.strategies.iter().filter(|strategy| strategy.is_unsafe);
    let caught = controls().filter(|strategy| !strategy.is_clean()).count();
    let all = controls().count();
    (all > 0 && is_concurrent(verification)).then(|| format!("{caught} of {all} negative controls caught."))
}

/// Whether answers and states of the safe strategies held through the fault; `None` without any.
fn held(kind: FaultKind, safe: &[&StrategyFindings]) -> Option<String> {
    let is_wrong = |one: &&&StrategyFindings| one.is_clean_in(VerifyPhase::Unordered) == Some(false);
    let wrong = enumerated(safe.iter().filter(is_wrong).map(|one| plain(&one.name)));
    let made = safe.iter().filter(|one| one.fault.is_some()).count() as u64;
    let (fault, strategies) = (kind.label(), counted(made, "strategy"));
    match (made, wrong) {
        (0, _) => None,
        (_, None) => Some(format!("Answers and states held through {fault} in {strategies}.")),
        (_, Some(wrong)) => Some(format!("Answers or states did not hold through {fault} in {wrong}.")),
    }
}

/// Says that all other safe strategies agree on another result than the baseline's; `None` when they do not.
fn outvoted(verification: &Verification) -> Option<String> {
    if verification.model_calls.is_some() {
        // The model says who is right.
        return None;
    }
    let safe = || verification.strategies.iter().filter(|strategy| !strategy.is_unsafe);
    let others: Vec<_> = safe().filter(|strategy| strategy.name != verification.baseline).collect();
    let (first, rest) = others.split_first()?;
    let difference = first_difference(first)?;
    let has_baseline = others.len() < safe().count();
    let agree = |other: &&StrategyFindings| first_difference(other).is_some_and(|own| *own == *difference);
    // Strategies that share the step agree in any case.
    let is_independent = rest.iter().any(|other| other.family != first.family);
    if !has_baseline || !is_independent || !rest.iter().all(agree) {
        return None;
    }
    let names = listed(others.iter().map(|strategy| plain(&strategy.name)));
    let baseline = plain(&verification.baseline);
    Some(format!("{names} agree; {baseline}, the baseline, differs: the mistake is probably in {baseline}."))
}

/// The first sequential result that is not the baseline's.
fn first_difference(strategy: &StrategyFindings) -> Option<&Problem> {
    let first = sequential(strategy)?.problems.first()?;
    let is_error = |line: &String| line.starts_with("error ") || line.starts_with("unknown ");
    (!first.lines.iter().any(is_error)).then_some(first)
}

fn sequential(strategy: &StrategyFindings) -> Option<&PhaseFindings> {
    strategy.phases.iter().find(|phase| phase.phase == VerifyPhase::Sequential)
}

/// The result of every phase.
fn strategies(verification: &Verification) -> Section {
    let of_phases = PHASES.map(|(which, name, about)| {
        column(name, name, about).measure(Kind::Text, move |one: &&StrategyFindings| phase(one, which))
    });
    let others = [
        Measure::data("pairs_made", "The pairs of writing calls.", |one: &&StrategyFindings| one.pairs),
        column("control", "negative control", "`caught` or `not caught`; `null` for safe strategies.").text(control),
        Measure::data("rejected_at", "The call that was rejected for its size.", |one| one.rejected_at),
        Measure::data("out_of_order", "Reads with the right rows in another order.", |one| {
            sum(one, |phase| phase.out_of_order)
        }),
        Measure::data("unknown", "Calls with an unknown outcome.", |one| sum(one, |phase| phase.unknown)),
        Measure::data("retries", "Retried attempts.", |one| sum(one, |phase| phase.retries)),
    ];
    let measures: Vec<_> = of_phases.into_iter().chain(others).collect();
    let rows = verification.strategies.iter().map(|strategy| (Row::new(plain(&strategy.name)), strategy));
    let table = Table::new("verified", "Strategies", Column::strategy(), &measures, rows);
    let remarks = verification.strategies.iter().filter_map(remark).collect();
    let is_missed = |strategy: &StrategyFindings| strategy.is_unsafe && strategy.is_clean();
    let hint = if is_concurrent(verification) && verification.strategies.iter().any(is_missed) {
        "A negative control that is not caught needs more calls, or a mix whose calls conflict more often, or the control \
         is right."
    } else {
        ""
    };
    Section::new("strategies", "Strategies").table(table).items(remarks).note(hint)
}

fn phase(strategy: &StrategyFindings, phase: VerifyPhase) -> Cell {
    match strategy.is_clean_in(phase) {
        None if strategy.rejected_at.is_some() => Cell::text("too large").tone(Tone::Faint),
        None => Cell::text("-").tone(Tone::Faint).with_value(None::<&str>),
        Some(true) => Cell::text("ok"),
        Some(false) if strategy.is_unsafe => Cell::text("fails"),
        Some(false) => Cell::text("FAILS").tone(Tone::Bad).with_value("fails"),
    }
}

/// A count of the unordered phase.
fn unordered(strategy: &StrategyFindings, of: fn(&PhaseFindings) -> u64) -> u64 {
    strategy.phases.iter().filter(|found| found.phase == VerifyPhase::Unordered).map(of).sum()
}

/// What clients saw of the fault, and whether answers and states held; `None` without a fault.
fn fault(verification: &Verification) -> Option<Section> {
    let kind = verification.fault?;
    let measures = [
        column("after_calls", "at call", "Unordered calls that had ended when it was due.")
            .count(|one: &(&StrategyFindings, &FaultRecord)| one.1.after_calls),
        column("failed_calls", "failed", "Calls that it made fail without any effect.").count(|one| one.1.failed),
        column("unknown_calls", "unknown", "Calls that may or may not have taken effect.")
            .count(|one| unordered(one.0, |found| found.unknown)),
        column("retried", "retries", "Attempts that were repeated.")
            .count(|one| unordered(one.0, |found| found.retries)),
        column(
            "recovered_ns",
            "recovery",
            "From the fault to the first answer to a call that was sent after it; `null` without one.",
        )
        .number(time, |one| one.1.recovered_ms.map(|millis| millis as f64 * 1e6)),
        column("held", "answers and states", "`held` or `wrong`, as audits and records say.").text(|one| {
            match one.0.is_clean_in(VerifyPhase::Unordered) {
                Some(true) => Cell::text("held"),
                Some(false) | None => Cell::text("WRONG").tone(Tone::Bad).with_value("wrong"),
            }
        }),
    ];
    let disturbed = verification.strategies.iter().filter_map(|one| Some((one, one.fault.as_ref()?)));
    let rows = disturbed.map(|one| (Row::new(plain(&one.0.name)), one));
    let title = "What clients saw of the fault";
    Section::new("fault", title)
        .lead(format!("In the middle of the unordered calls of every strategy the primary {}.", kind.deed()))
        .table(Table::new("fault", title, Column::strategy(), &measures, rows))
        .note(
            "failed: without any effect. unknown: the call may have taken effect or not; audits accept both. recovery: from the \
             fault to the first answer to a call that was sent after it.",
        )
        .with_rows()
}

fn control(strategy: &&StrategyFindings) -> Cell {
    match (strategy.is_unsafe, !strategy.is_clean()) {
        (false, _) => Cell::default(),
        (true, true) => Cell::text("caught"),
        (true, false) if strategy.phases.len() > 1 => Cell::text("NOT caught").tone(Tone::Bad).with_value("not caught"),
        (true, false) => Cell::text("-").tone(Tone::Faint).with_value("not caught"),
    }
}

fn sum(strategy: &StrategyFindings, of: fn(&PhaseFindings) -> u64) -> u64 {
    strategy.phases.iter().map(of).sum()
}

/// What the table does not show of a strategy; `None` for nothing.
fn remark(strategy: &StrategyFindings) -> Option<String> {
    let rejected = strategy.rejected_at.map(|call| format!("compared up to call {call}, which is too large for it"));
    let (reordered, unknown) = (sum(strategy, |phase| phase.out_of_order), sum(strategy, |phase| phase.unknown));
    let retries = sum(strategy, |phase| phase.retries);
    let counts = [
        (reordered, format!("{} with the right rows in another order", counted(reordered, "read"))),
        (unknown, format!("{} with an unknown outcome", counted(unknown, "call"))),
        (retries, counted(retries, "retry")),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text);
    let remarks: Vec<String> = rejected.into_iter().chain(counts).collect();
    (!remarks.is_empty()).then(|| format!("{}: {}", plain(&strategy.name), remarks.join(", ")))
}

/// What live audits found during the unordered calls; `None` for nothing.
fn live(verification: &Verification) -> Option<Section> {
    let measures = [
        column("snapshots", "in snapshots", "The share (0 to 1) of snapshots.")
            .cell(|one: &&LiveRecord| share(one.snapshot)),
        column("snapshot_rows", "at most", "The most anomalies in one snapshot.").count(|one| one.snapshot.max),
        column("reads", "in reads", "The share (0 to 1) of plain reads.").cell(|one| share(one.plain)),
        column("read_rows", "at most", "The most anomalies in one plain read.").count(|one| one.plain.max),
        column("tolerated", "", "Whether the strategy may have them: `tolerated`, or `null`.")
            .text(|one| if one.tolerated { Cell::text("tolerated") } else { Cell::default() }),
    ];
    let rows = verification.strategies.iter().flat_map(|strategy| {
        let found = strategy.live.iter().filter(|live| live.snapshot.found + live.plain.found > 0);
        found.map(|live| (Row::new(plain(&live.audit)).group(plain(&strategy.name)), live))
    });
    let title = "Anomalies seen by readers during the unordered calls";
    let table = Table::new("live_audits", title, column("audit", "audit", "The audit."), &measures, rows);
    Section::new("live-audits", title).table(table.grouped(Column::strategy())).with_rows()
}

/// Operations for which some strategies receive far more than others; `None` for nothing.
fn received(verification: &Verification) -> Option<Section> {
    let of_operation = |one: &ReceivedBytes| {
        let strategies: Vec<String> =
            one.strategies.iter().map(|(name, size)| format!("{} {}", plain(name), bytes(*size as f64))).collect();
        format!("{}: {}", plain(&one.operation), strategies.join(", "))
    };
    let items: Vec<String> = verification.received.iter().map(of_operation).collect();
    let note = "Some strategies receive whole documents where others receive only what is needed: this may be what is compared, \
                or a forgotten projection.";
    let title = "Bytes received per call for the same results";
    (!items.is_empty()).then(|| Section::new("received", title).items(items).note(note))
}

/// What does not fail a strategy, but deserves a look; `None` for nothing.
fn warnings(verification: &Verification) -> Option<Section> {
    sections::warnings(verification.warnings.iter().map(|warning| plain(warning)).collect())
}

/// What the sequential calls of every operation returned; `None` before any call.
fn coverage(verification: &Verification) -> Option<Section> {
    let count = |key, about, of: fn(&&OperationCoverage) -> u64| column(key, key, about).count(of);
    let measures = [
        count("calls", "Its calls.", |one| one.calls),
        count("ok", "Calls that did something, or returned something else than an outcome.", |one| one.ok),
        count("same", "Calls after which nothing had changed.", |one| one.same),
        column("not_found", "not found", "Calls that matched nothing.").count(|one| one.not_found),
        count("rejected", "Calls that the application's rules forbade.", |one| one.rejected),
        count("empty", "Those of `ok` that returned null, 0, an empty list or only such parts.", |one| one.empty),
    ];
    let rows = verification.coverage.iter().map(|one| (Row::new(plain(&one.operation)), one));
    let title = "Results of the sequential calls";
    let table = Table::new("coverage", title, Column::operation(), &measures, rows);
    let notes = verification.notes.iter().map(|note| plain(note)).collect();
    Section::new("coverage", title).table(table).items(notes).with_rows()
}

fn share(counts: AnomalyCounts) -> Cell {
    Cell::number((counts.reads > 0).then(|| counts.found as f64 / counts.reads as f64), percent)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::tests::in_every_form;
    use super::super::write::json::tests::record;
    use super::*;
    use crate::results::{AuditRecord, SkippedStrategy};

    fn strategy(name: &str, is_unsafe: bool) -> StrategyFindings {
        let phases = [VerifyPhase::Sequential, VerifyPhase::Ordered, VerifyPhase::Unordered, VerifyPhase::Pairs];
        StrategyFindings {
            name: name.into(),
            family: name.into(),
            is_unsafe,
            rejected_at: None,
            phases: phases.map(PhaseFindings::new).into(),
            live: Vec::new(),
            pairs: 40,
            fault: None,
        }
    }

    /// A strategy that loses records.
    fn failing(name: &str, found: u64) -> StrategyFindings {
        let mut failing = strategy(name, false);
        failing.phases[2].audits = vec![AuditRecord { audit: "lost".into(), found, expected: [9, 9], example: None }];
        failing
    }

    fn verification(strategies: Vec<StrategyFindings>) -> Verification {
        Verification {
            scenario: "shelves".into(),
            mix: "verify".into(),
            seed: 1,
            command: "docshape verify shelves --mix verify".into(),
            calls: 300,
            clients: 16,
            fault: None,
            baseline: "linked".into(),
            model_calls: None,
            coverage: Vec::new(),
            notes: Vec::new(),
            skipped: Vec::new(),
            received: Vec::new(),
            warnings: Vec::new(),
            strategies,
        }
    }

    /// A verification with every kind of finding.
    pub(in crate::report) fn complete() -> Report {
        let mut all = vec![strategy("linked", false), strategy("off_by_one", false), strategy("large", false)];
        let title = "call 12 differs: read(shelf: 3)".into();
        let lines = ["at        [0]", "expected  {_id: 1}", "actual    {_id: 2}\u{1b}"].map(str::to_owned).into();
        all[1].phases[0].add(Problem { title, lines, call: Some(12), count: 3 });
        (all[1].phases[1].out_of_order, all[1].phases[1].unknown, all[1].phases[2].retries) = (1, 2, 1_234);
        all[2].rejected_at = Some(40);
        all[2].phases.truncate(1);
        all.extend([strategy("forgetful", true), strategy("harmless", true)]);
        let audit = |name: &str, expected| AuditRecord { audit: name.into(), found: 20, expected, example: None };
        all[3].phases[2].audits = vec![audit("lost_books", [24, 24]), audit("twins", [0, 0])];
        let counts = |found| AnomalyCounts { reads: 50, found, max: 3 };
        all[3].live.push(LiveRecord {
            audit: "lost_books".into(),
            snapshot: counts(4),
            plain: counts(9),
            ..LiveRecord::default()
        });
        let covered = |operation: &str, calls, ok, empty| OperationCoverage {
            operation: operation.into(),
            calls,
            ok,
            empty,
            not_found: calls - ok,
            is_vacuous: ok == empty,
            ..OperationCoverage::default()
        };
        let coverage = vec![covered("read", 200, 200, 3), covered("hide", 100, 0, 0), covered("post", 0, 0, 0)];
        let notes = vec!["3 of 4 acknowledged `book` records are not there.".to_owned()];
        let warning = "Operation read of off_by_one: `find books` sorts 12 documents in memory (SORT); the index { shelf: 1, at: 1 } would serve it.";
        let warnings = vec![warning.to_owned()];
        let received = ReceivedBytes::new("read", vec![("linked".into(), 500), ("off_by_one".into(), 5_000)]);
        let received = received.into_iter().collect();
        all[0].fault = Some(FaultRecord { after_calls: 150, failed: 4, recovered_ms: Some(1_250) });
        all[3].fault = Some(FaultRecord { after_calls: 150, failed: 0, recovered_ms: None });
        let fault = Some(FaultKind::Kill);
        Report::of_verification(&Verification { fault, coverage, notes, received, warnings, ..verification(all) })
    }

    /// A verification with this text in every place.
    pub(in crate::report) fn named(text: &str) -> Report {
        let mut failing = strategy(text, false);
        let (title, lines) = (text.to_owned(), vec![text.to_owned()]);
        failing.phases[0].add(Problem { title, lines, call: Some(1), count: 2 });
        let example = Some(text.to_owned());
        failing.phases[0].audits = vec![AuditRecord { audit: text.into(), found: 1, expected: [0, 0], example }];
        (failing.rejected_at, failing.phases[1].retries) = (Some(2), 3);
        let counts = AnomalyCounts { reads: 1, found: 1, max: 1 };
        failing.live.push(LiveRecord {
            unread: None,
            audit: text.into(),
            snapshot: counts,
            plain: counts,
            tolerated: false,
            example: Some(text.into()),
        });
        let strategies = vec![failing, strategy(text, true)];
        let own = || text.to_owned();
        Report::of_verification(&Verification {
            scenario: own(),
            mix: own(),
            command: own(),
            baseline: own(),
            warnings: vec![own()],
            coverage: vec![OperationCoverage { operation: own(), ..OperationCoverage::default() }],
            notes: vec![own()],
            ..verification(strategies)
        })
    }

    #[test]
    fn skipped_strategies_are_named_with_the_reason() {
        let skipped =
            SkippedStrategy { name: "sorted".into(), reason: "`aggregate hosts` in recent: no\u{1b}[31m".into() };
        let report = Report::of_verification(&Verification { skipped: vec![skipped], ..verification(Vec::new()) });
        let line = "Skipped: sorted, because this server does not know `aggregate hosts` in recent: no";
        assert!(report.headline.subject[1].starts_with(line), "{:?}", report.headline.subject);
        assert!(!report.headline.subject[1].contains('\u{1b}'));
    }

    #[test]
    fn findings_have_their_first_case() {
        let [terminal, markdown] = in_every_form(&complete());
        insta::assert_snapshot!("verification_80_columns", terminal);
        insta::assert_snapshot!("verification_markdown", markdown);
        let found = record(&complete(), "findings", &[("strategy", "off_by_one")]);
        assert_eq!(
            (&found["call"], &found["count"], &found["details"][1]),
            (&12.into(), &3.into(), &"expected  {_id: 1}".into())
        );
        let control = record(&complete(), "verified", &[("strategy", "harmless")]);
        assert_eq!((&control["control"], &control["unordered"]), (&"not caught".into(), &"ok".into()));
    }

    fn differing(name: &str, actual: &str) -> StrategyFindings {
        let mut found = strategy(name, false);
        let lines = vec!["expected  1".to_owned(), format!("actual    {actual}")];
        found.phases[0].add(Problem { title: "call 3 differs: read()".into(), lines, call: Some(3), count: 1 });
        found
    }

    #[test]
    fn others_that_agree_against_the_baseline_are_named_first() {
        let of = |last| {
            let strategies = vec![strategy("linked", false), differing("embedded", "2"), differing("bucketed", last)];
            in_every_form(&Report::of_verification(&verification(strategies)))[0].clone()
        };
        let agreeing = of("2");
        let sentence = "embedded and bucketed agree; linked, the baseline, differs: the mistake is probably in linked.";
        let text = agreeing.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(sentence), "{agreeing}");
        assert!(agreeing.contains("embedded and bucketed, sequential: call 3 differs: read()"), "{agreeing}");
        assert_eq!(agreeing.matches("call 3 differs").count(), 1, "{agreeing}");
        let differing = of("4");
        assert!(!differing.contains("agree"), "{differing}");
        assert_eq!(differing.matches("call 3 differs").count(), 2, "{differing}");
    }

    #[test]
    fn an_audit_that_fails_everywhere_is_doubted_once() {
        let of = |strategies| in_every_form(&Report::of_verification(&verification(strategies)))[0].clone();
        let everywhere = of(vec![failing("linked", 7), failing("embedded", 8)]);
        assert!(everywhere.contains("all strategies, unordered: audit lost fails"), "{everywhere}");
        assert!(everywhere.contains("for example in linked\n    lost: 2 (7 rows, 9 expected)"), "{everywhere}");
        assert_eq!(everywhere.matches("or the audit is wrong").count(), 1, "{everywhere}");
        let once = of(vec![failing("linked", 7), failing("embedded", 9)]);
        assert!(!once.contains("wrong") && once.contains("linked, unordered: audit lost fails"), "{once}");
    }

    #[test]
    fn brief_fits_a_screen_and_ends_with_the_verdict() {
        let text = |strategies: Vec<StrategyFindings>| {
            let lines = brief::lines(&verification(strategies), 80);
            assert!(lines.len() <= 29 && lines.iter().all(|(_, line)| line.chars().count() <= 80), "{lines:#?}");
            lines.into_iter().map(|(_, line)| line).collect::<Vec<String>>().join("\n")
        };
        let control = |name| {
            let mut one = failing(name, 7);
            one.is_unsafe = true;
            one
        };
        let warned = |count: usize| {
            let warnings =
                (0..count).map(|place| format!("Operation read: `find books` {} {place}.", "scans ".repeat(14)));
            let strategies = vec![strategy("a", false), strategy("b", false)];
            let warned = Verification { warnings: warnings.collect(), ..verification(strategies) };
            let lines: Vec<String> = brief::lines(&warned, 80).into_iter().map(|(_, line)| line).collect();
            assert!(lines.len() <= 29 && lines.last().unwrap().starts_with("All 2 strategies"), "{lines:#?}");
            lines.join("\n")
        };
        let (few, many) = (warned(3), warned(30));
        assert!(few.contains("find books scans") && few.contains("scans 2.") && !few.contains("--full"), "{few}");
        assert!(many.contains("scans 2.") && many.contains("more warnings: --full shows all."), "{many}");
        let passes = text(vec![strategy("a", false), strategy("b", false), control("c"), control("d")]);
        assert!(passes.contains("2 of 2 negative controls caught.") && !passes.contains("audit lost"), "{passes}");
        assert!(passes.ends_with("All 2 strategies return the same results."), "{passes}");
        let names = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
        let fails = text(names.into_iter().zip(10..).map(|(name, lost)| failing(name, lost)).collect());
        assert!(fails.contains("audit lost fails") && fails.ends_with("10 of 10 strategies failed."), "{fails}");
    }

    #[test]
    fn conclusions_count_strategies_and_controls() {
        let of = |strategies| Report::of_verification(&verification(strategies)).headline.sentences.join(" ");
        let safe = |name| strategy(name, false);
        assert_eq!(of(vec![safe("a"), safe("b")]), "All 2 strategies return the same results.");
        assert!(of(vec![safe("a")]).starts_with("No mistake was found in the only strategy"));
        let of_model = |strategies| {
            let judged = Verification { model_calls: Some(300), ..verification(strategies) };
            Report::of_verification(&judged).headline.sentences.join(" ")
        };
        let right = of_model(vec![safe("a")]);
        assert_eq!(right, "No mistake was found in the only strategy. 300 calls give the model's answers.");
        let wrong = of_model(vec![safe("a"), differing("b", "2"), differing("c", "2")]);
        assert_eq!(wrong, "2 of 3 strategies failed. 300 calls were compared with the model's answers.");
        let disturbed = |mut one: StrategyFindings, unordered: &[&str]| {
            one.fault = Some(FaultRecord { after_calls: 150, failed: 0, recovered_ms: None });
            let problem = |title: &&str| Problem { title: (*title).into(), lines: Vec::new(), call: None, count: 1 };
            unordered.iter().map(problem).for_each(|problem| one.phases[2].add(problem));
            one
        };
        let of_kill = |strategies| {
            let killed = Verification { fault: Some(FaultKind::Kill), ..verification(strategies) };
            Report::of_verification(&killed).headline.sentences.join(" ")
        };
        let held = of_kill(vec![disturbed(safe("a"), &[]), disturbed(safe("b"), &[])]);
        assert!(held.ends_with("Answers and states held through the kill in 2 strategies."), "{held}");
        let lost = of_kill(vec![disturbed(safe("a"), &[]), disturbed(safe("b"), &["records are lost"])]);
        assert!(lost.ends_with("Answers or states did not hold through the kill in b."), "{lost}");
        assert_eq!(of(vec![strategy("a", true)]), "There is no safe strategy. 0 of 1 negative controls caught.");
    }
}
