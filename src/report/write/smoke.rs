//! The result of a smoke run in two lines: that everything runs, and that strategies agree.

use std::collections::BTreeMap;

use anstyle::{AnsiColor, Style};

use crate::report::Report;
use crate::report::document::{count, counted, enumerated, plain};
use crate::report::run::sections::method;
use crate::report::run::verdict_text;
use crate::results::RunRecord;
use crate::results::verification::Verification;

/// Reasons of failures that are named.
const NAMED: usize = 3;

const BAD: Style = AnsiColor::Red.on_default().bold();

/// The two lines, and before them one for everything that is wrong.
pub fn smoke(record: &RunRecord, report: &Report) -> String {
    let problems = problems(record, report).into_iter().map(|problem| format!("{BAD}{problem}{BAD:#}"));
    let lines = problems.chain([runs(record), agree(record)]);
    lines.map(|line| line + "\n").collect()
}

/// Why the run is invalid or incomplete, failed thresholds and calls, and the warnings that do not concern times.
fn problems(record: &RunRecord, report: &Report) -> Vec<String> {
    let invalid = report.headline.invalid.iter().map(|reason| format!("INVALID RUN: {reason}"));
    let thresholds =
        report.run.iter().flat_map(|run| &run.thresholds).filter(|threshold| threshold.passed != Some(true));
    let thresholds = thresholds.map(|one| format!("Threshold {}: {}, found {}.", one.word(), one.text, one.found));
    let warnings = record.warnings.iter().map(|warning| plain(warning));
    let warnings = warnings.chain(record.verification.as_ref().and_then(method::vacuous));
    invalid
        .chain(report.headline.incomplete.clone())
        .chain(thresholds)
        .chain(failures(record))
        .chain(verdict_text::skipped_lines(&record.skipped))
        .chain(warnings.map(|warning| format!("Warning: {warning}")))
        .collect()
}

/// The most frequent reasons of failed calls.
fn failures(record: &RunRecord) -> Option<String> {
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for round in record.parts.values().flatten() {
        for (strategy, cell) in record.strategies.iter().zip(&round.cells) {
            for (name, operation) in record.operations.iter().zip(&cell.operations) {
                for (reason, calls) in &operation.errors {
                    let reason = format!("{} {}: {}", plain(&strategy.name), plain(name), plain(reason));
                    *reasons.entry(reason).or_default() += calls;
                }
            }
        }
    }
    let mut reasons: Vec<(String, u64)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
    let more = reasons.len().saturating_sub(NAMED);
    let named = reasons.iter().take(NAMED).map(|(reason, calls)| format!("{reason} ({})", counted(*calls, "call")));
    let named: Vec<String> = named.chain((more > 0).then(|| counted(more as u64, "more reason"))).collect();
    (!named.is_empty()).then(|| format!("Failed: {}.", named.join("; ")))
}

/// What ran.
fn runs(record: &RunRecord) -> String {
    let cells = || record.parts.values().flatten().flat_map(|round| &round.cells);
    let called = |operation: &usize| {
        cells().filter_map(|cell| cell.operations.get(*operation)).any(|operation| operation.calls > 0)
    };
    let operations = (0..record.operations.len()).filter(called).count() as u64;
    let strategies = strategies(record).count() as u64;
    let calls: u64 = cells().map(|cell| cell.calls).sum();
    let failed: u64 = cells().flat_map(|cell| &cell.operations).flat_map(|operation| operation.errors.values()).sum();
    let failed = if failed == 0 { "no failure".to_owned() } else { format!("{} failed", count(failed)) };
    let name = plain(&record.scenario.name);
    let (operations, strategies) = (counted(operations, "operation"), counted(strategies, "strategy"));
    format!("{name} runs: {operations}, {strategies}, {}, {failed}.", counted(calls, "call"))
}

/// The names of the strategies, the repeat left out.
fn strategies(record: &RunRecord) -> impl Iterator<Item = &str> {
    record.strategies.iter().filter(|strategy| !strategy.is_repeat).map(|strategy| strategy.name.as_str())
}

/// Whether the strategies return the same results.
fn agree(record: &RunRecord) -> String {
    match &record.verification {
        Some(verification) => verified(verification, record),
        None if strategies(record).count() < 2 => "Nothing to verify: there is one strategy.".into(),
        None => "Not verified: whether the strategies return the same results (omit --no-verify).".into(),
    }
}

fn verified(verification: &Verification, record: &RunRecord) -> String {
    let others = verification.strategies.iter().filter(|strategy| !strategy.is_clean());
    let others = enumerated(others.map(|strategy| plain(&strategy.name)));
    let others = others.map_or_else(String::new, |names| format!(" except {names}, as unsafe ones should"));
    let is_called = |name: &&str| record.mix.weights.iter().any(|(called, weight)| called == name && *weight > 0.0);
    let uncovered: Vec<String> = verification.not_covered().into_iter().filter(is_called).map(plain).collect();
    let uncovered =
        if uncovered.is_empty() { String::new() } else { format!("; not covered: {}", uncovered.join(", ")) };
    format!("All strategies{others} returned the same results ({}{uncovered}).", counted(verification.calls, "call"))
}

#[cfg(test)]
mod tests {
    use crate::stats::sample;

    use super::*;

    fn text(record: &RunRecord) -> String {
        anstream::adapter::strip_str(&smoke(record, &Report::new(record))).to_string()
    }

    /// Without the failures and the warning of the sample.
    fn clean() -> RunRecord {
        let mut run = sample::whole(&sample::run(1));
        run.warnings.clear();
        for cell in run.parts.values_mut().flatten().flat_map(|round| &mut round.cells) {
            cell.operations.iter_mut().for_each(|operation| operation.errors.clear());
        }
        run
    }

    #[test]
    fn smoke_is_two_lines() {
        let run = clean();
        let calls: u64 = run.parts.values().flatten().flat_map(|round| &round.cells).map(|cell| cell.calls).sum();
        let expected = format!(
            "blog-comments runs: 3 operations, 3 strategies, {} calls, no failure.\n\
             All strategies returned the same results (200 calls).\n",
            count(calls)
        );
        assert_eq!(text(&run), expected);
    }

    #[test]
    fn what_is_wrong_comes_first() {
        let mut run = sample::whole(&sample::run(1));
        run.settings.error_budget = 0.0;
        run.settings.thresholds = vec!["embedded.read_post.p99<1us".into()];
        run.verification = None;
        let text = text(&run);
        let starts = text.lines().map(|line| line.split([':', '.']).next().unwrap()).collect::<Vec<_>>();
        let expected = ["INVALID RUN", "Threshold failed", "Failed", "Warning", "blog-comments runs", "Not verified"];
        assert_eq!(starts, expected, "{text}");
        assert!(text.contains("Failed: linked add_comment: 11000 (DuplicateKey) (4 calls)."), "{text}");
        assert!(text.contains(" calls, 4 failed."), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}
