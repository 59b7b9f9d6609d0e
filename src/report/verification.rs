//! The report of a verification: whether all strategies return the same results.

use crate::results::AuditRecord;
use crate::results::verification::{
    AnomalyCounts, LiveRecord, PhaseFindings, StrategyFindings, Verification, VerifyPhase,
};

use super::Report;
use super::cell::{Cell, Tone};
use super::format::{count, counted, listed, percent, plain, visible};
use super::section::{Headline, Listing, Section};
use super::table::{Column, Forms, Kind, Measure, Row, Table};
use super::verdict_text::skipped_lines;

type PhaseMeasure<'v> = Measure<&'v StrategyFindings>;
type LiveMeasure<'v> = Measure<&'v LiveRecord>;

/// A problem, or the audits of a phase that found anomalies.
struct FoundProblem {
    strategy: String,
    phase: &'static str,
    title: String,
    count: u64,
    call: Option<u64>,
    lines: Vec<String>,
}

impl Report {
    /// Computes the report of a verification.
    pub fn of_verification(verification: &Verification) -> Report {
        let sections = [Some(strategies(verification)), findings(verification), live(verification)];
        Report::of(headline(verification), sections.into_iter().flatten())
    }
}

fn headline(verification: &Verification) -> Headline {
    let Verification { scenario, mix, seed, calls, clients, baseline, not_covered, skipped, .. } = verification;
    let (mix, calls) = (plain(mix), counted(*calls, "sequential call"));
    let clients = if is_concurrent(verification) {
        format!("; then {clients} concurrent clients, with calls of equal `serial` ordered, and unordered")
    } else {
        String::new()
    };
    let uncovered = || not_covered.iter().map(|name| plain(name)).collect::<Vec<_>>().join(", ");
    Headline {
        scenario: plain(scenario),
        title: "Do all strategies return the same results?".to_owned(),
        subject: std::iter::once(format!(
            "{calls} of mix {mix}, seed {seed}, compared with {}{clients}.",
            plain(baseline)
        ))
        .chain(skipped_lines(skipped))
        .collect(),
        mix,
        incomplete: (!not_covered.is_empty())
            .then(|| format!("Not covered: {}. Give them a weight in the mix, or make more calls.", uncovered())),
        sentences: conclusion(verification),
        tone: if verification.passes() { Tone::Good } else { Tone::Bad },
        ..Headline::default()
    }
}

/// Whether there were phases with concurrent calls.
fn is_concurrent(verification: &Verification) -> bool {
    verification.strategies.iter().any(|strategy| strategy.phases.len() > 1)
}

fn conclusion(verification: &Verification) -> Vec<String> {
    let (controls, safe): (Vec<_>, Vec<_>) = verification.strategies.iter().partition(|strategy| strategy.is_unsafe);
    let failing = safe.iter().filter(|strategy| !strategy.is_clean()).count();
    let found = match (failing, safe.len()) {
        (0, 0) => "There is no safe strategy.".to_owned(),
        (0, 1) => "No mistake was found in the only strategy, which was compared with no other.".to_owned(),
        (0, count) => format!("All {count} strategies return the same results."),
        (failing, count) => format!("{failing} of {count} strategies failed."),
    };
    let too_large = safe.iter().filter(|strategy| strategy.rejected_at.is_some());
    let too_large: Vec<String> = too_large.map(|strategy| plain(&strategy.name)).collect();
    let too_large = (!too_large.is_empty())
        .then(|| format!("Compared only up to a call that is too large for it: {}.", listed(&too_large)));
    let caught = controls.iter().filter(|strategy| strategy.is_caught()).count();
    let caught = (!controls.is_empty() && is_concurrent(verification))
        .then(|| format!("{caught} of {} negative controls caught.", controls.len()));
    [Some(found), too_large, caught].into_iter().flatten().collect()
}

/// The result of every phase.
fn strategies(verification: &Verification) -> Section {
    let measures = [
        PhaseMeasure::text("sequential", "sequential", "`ok`, `fails` or `too large`; `null` if not run.", |one| {
            phase(one, VerifyPhase::Sequential)
        }),
        PhaseMeasure::text(
            "ordered",
            "ordered",
            "The same with concurrent calls, those of equal `serial` ordered.",
            |one| phase(one, VerifyPhase::Ordered),
        ),
        PhaseMeasure::text("unordered", "unordered", "The same with concurrent calls in any order.", |one| {
            phase(one, VerifyPhase::Unordered)
        }),
        PhaseMeasure::text(
            "control",
            "negative control",
            "`caught` or `not caught`; `null` for safe strategies.",
            control,
        ),
        PhaseMeasure::data("rejected_at", "The call that was rejected for its size.", |one| {
            Cell::value(one.rejected_at)
        }),
        PhaseMeasure::data("out_of_order", "Reads with the right rows in another order.", |one| {
            Cell::value(sum(one, |phase| phase.out_of_order))
        }),
        PhaseMeasure::data("unknown", "Calls with an unknown outcome.", |one| {
            Cell::value(sum(one, |phase| phase.unknown))
        }),
        PhaseMeasure::data("retries", "Retried attempts.", |one| Cell::value(sum(one, |phase| phase.retries))),
    ];
    let rows = verification.strategies.iter().map(|strategy| (Row::new(plain(&strategy.name)), strategy));
    let table = Table::new("verified", "Strategies", Column::strategy(), &measures, rows);
    let remarks = verification.strategies.iter().filter_map(remark).collect();
    let is_missed = |strategy: &StrategyFindings| strategy.is_unsafe && !strategy.is_caught();
    let hint = if is_concurrent(verification) && verification.strategies.iter().any(is_missed) {
        "A negative control that is not caught needs more calls, or a mix whose calls conflict more often."
    } else {
        ""
    };
    Section::new("strategies", "Strategies").table(table).items(remarks).note(hint)
}

fn phase(strategy: &StrategyFindings, phase: VerifyPhase) -> Cell {
    match strategy.phases.iter().find(|found| found.phase == phase) {
        None if strategy.rejected_at.is_some() => Cell::text("too large").tone(Tone::Faint),
        None => Cell::text("-").tone(Tone::Faint).with_value(None::<&str>),
        Some(found) if found.is_clean() => Cell::text("ok"),
        Some(_) if strategy.is_unsafe => Cell::text("fails"),
        Some(_) => Cell::text("FAILS").tone(Tone::Bad).with_value("fails"),
    }
}

fn control(strategy: &&StrategyFindings) -> Cell {
    match (strategy.is_unsafe, strategy.is_caught()) {
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
        (retries, if retries == 1 { "1 retry".to_owned() } else { format!("{} retries", count(retries)) }),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text);
    let remarks: Vec<String> = rejected.into_iter().chain(counts).collect();
    (!remarks.is_empty()).then(|| format!("{}: {}", plain(&strategy.name), remarks.join(", ")))
}

/// What is wrong, with the first case of each kind; `None` for nothing.
fn findings(verification: &Verification) -> Option<Section> {
    let all: Vec<FoundProblem> =
        verification.strategies.iter().flat_map(|strategy| of_strategy(verification, strategy)).collect();
    let code = |one: &FoundProblem| {
        let times = if one.count > 1 { format!(" ({} times)", count(one.count)) } else { String::new() };
        let lead = format!("{}, {}: {}{times}", one.strategy, one.phase, one.title);
        Listing { lead, language: "text", lines: one.lines.clone() }
    };
    let code: Vec<Listing> = all.iter().map(code).collect();
    let measures = [
        Measure::text("phase", "", "`sequential`, `ordered` or `unordered`.", |one: &FoundProblem| {
            Cell::text(one.phase)
        }),
        Measure::text("finding", "", "What is wrong.", |one| Cell::text(&one.title)),
        Measure::new("count", "", "How many times.", |one| Cell::value(one.count)),
        Measure::new("call", "", "The first call that shows it; `null` for concurrent calls.", |one| {
            Cell::value(one.call)
        }),
        Measure::new("details", "", "The first case.", |one: &FoundProblem| Cell::value(one.lines.clone()))
            .of(Kind::Texts),
    ];
    let rows = all.into_iter().map(|one| (Row::new(one.strategy.as_str()), one));
    let table = Table::new("findings", "Findings", Column::strategy(), &measures, rows).only(Forms::JSON);
    Section { code, ..Section::new("findings", "Findings") }.table(table).with_rows()
}

fn of_strategy(verification: &Verification, strategy: &StrategyFindings) -> Vec<FoundProblem> {
    let finding = |phase: &PhaseFindings, title: String, lines: Vec<String>| FoundProblem {
        strategy: plain(&strategy.name),
        phase: match phase.phase {
            VerifyPhase::Sequential => "sequential",
            VerifyPhase::Ordered => "ordered",
            VerifyPhase::Unordered => "unordered",
        },
        title: plain(&title),
        count: 1,
        call: None,
        lines: lines.iter().map(|line| visible(line)).collect(),
    };
    let of_phase = |phase: &PhaseFindings| {
        let problems = phase.problems.iter().map(|problem| {
            // What concurrent calls return cannot be repeated sequentially.
            let call = problem.call.filter(|_| phase.phase == VerifyPhase::Sequential);
            let repeat = call.filter(|_| !strategy.is_unsafe).map(|call| repeat(verification, strategy, call));
            let lines = problem.lines.iter().cloned().chain(repeat).collect();
            FoundProblem { count: problem.count, call, ..finding(phase, problem.title.clone(), lines) }
        });
        let failing: Vec<&AuditRecord> = phase.audits.iter().filter(|audit| audit.anomalies() > 0).collect();
        let audits = (!failing.is_empty()).then(|| {
            let title = match failing.as_slice() {
                [only] => format!("audit {} fails", only.audit),
                _ => "audits fail".to_owned(),
            };
            finding(phase, title, failing.into_iter().map(audited).collect())
        });
        problems.chain(audits).collect::<Vec<_>>()
    };
    strategy.phases.iter().flat_map(of_phase).collect()
}

fn repeat(verification: &Verification, strategy: &StrategyFindings, call: u64) -> String {
    let Verification { command, baseline, seed, .. } = verification;
    format!("repeat    {command} --strategies {baseline},{} --seed {seed} --call {call}", strategy.name)
}

/// An audit that found anomalies.
fn audited(audit: &AuditRecord) -> String {
    let AuditRecord { audit: name, found, expected: [least, most], example } = audit;
    let expected = match (least == most, most) {
        (true, 0) => String::new(),
        (true, _) => format!(" ({found} rows, {least} expected)"),
        (false, _) => format!(" ({found} rows, {least} to {most} expected)"),
    };
    let example = example.as_ref().map_or_else(String::new, |row| format!(", such as {row}"));
    format!("{name}: {}{expected}{example}", audit.anomalies())
}

/// What live audits found during the unordered calls; `None` for nothing.
fn live(verification: &Verification) -> Option<Section> {
    let measures = [
        LiveMeasure::new("snapshots", "in snapshots", "The share (0 to 1) of snapshots.", |one| share(one.snapshot)),
        LiveMeasure::new("snapshot_rows", "at most", "The most anomalies in one snapshot.", |one| most(one.snapshot)),
        LiveMeasure::new("reads", "in reads", "The share (0 to 1) of plain reads.", |one| share(one.plain)),
        LiveMeasure::new("read_rows", "at most", "The most anomalies in one plain read.", |one| most(one.plain)),
    ];
    let rows = verification.strategies.iter().flat_map(|strategy| {
        let found = strategy.live.iter().filter(|live| live.snapshot.found + live.plain.found > 0);
        found.map(|live| (Row::new(plain(&live.audit)).group(plain(&strategy.name)), live))
    });
    let title = "Anomalies seen by readers during the unordered calls";
    let table = Table::new("live_audits", title, Column::text("audit", "audit", "The audit."), &measures, rows);
    Section::new("live-audits", title).table(table.grouped(Column::strategy())).with_rows()
}

fn share(counts: AnomalyCounts) -> Cell {
    Cell::number(Some(counts.found as f64 / counts.reads.max(1) as f64), percent)
}

fn most(counts: AnomalyCounts) -> Cell {
    Cell::count(counts.max)
}

#[cfg(test)]
pub(super) mod tests {
    use crate::results::SkippedStrategy;

    use super::*;
    use crate::report::json::tests::record;
    use crate::report::tests::in_every_form;
    use crate::results::verification::Problem;

    fn strategy(name: &str, is_unsafe: bool) -> StrategyFindings {
        let phases = [VerifyPhase::Sequential, VerifyPhase::Ordered, VerifyPhase::Unordered];
        StrategyFindings {
            name: name.into(),
            is_unsafe,
            rejected_at: None,
            phases: phases.map(PhaseFindings::new).into(),
            live: Vec::new(),
        }
    }

    fn verification(strategies: Vec<StrategyFindings>) -> Verification {
        Verification {
            scenario: "shelves".into(),
            mix: "verify".into(),
            seed: 1,
            command: "docshape verify shelves --mix verify".into(),
            calls: 300,
            clients: 16,
            baseline: "linked".into(),
            not_covered: Vec::new(),
            skipped: Vec::new(),
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
        all[3].live.push(LiveRecord { audit: "lost_books".into(), snapshot: counts(4), plain: counts(9) });
        Report::of_verification(&Verification { not_covered: vec!["post".into(), "hide".into()], ..verification(all) })
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
        failing.live.push(LiveRecord { audit: text.into(), snapshot: counts, plain: counts });
        let strategies = vec![failing, strategy(text, true)];
        let own = || text.to_owned();
        Report::of_verification(&Verification {
            scenario: own(),
            mix: own(),
            command: own(),
            baseline: own(),
            not_covered: vec![own()],
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

    #[test]
    fn conclusions_count_strategies_and_controls() {
        let of = |strategies| Report::of_verification(&verification(strategies)).headline.sentences.join(" ");
        let safe = |name| strategy(name, false);
        assert_eq!(of(vec![safe("a"), safe("b")]), "All 2 strategies return the same results.");
        assert!(of(vec![safe("a")]).starts_with("No mistake was found in the only strategy"));
        assert_eq!(of(vec![strategy("a", true)]), "There is no safe strategy. 0 of 1 negative controls caught.");
    }
}
