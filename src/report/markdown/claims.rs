//! What the scenario's author claimed, and what came of it.

use std::fmt;

use crate::report::Report;
use crate::report::claims::{ClaimView, HOW};

use super::{escape, table_head, table_row, words};

/// Writes the table; nothing without claims.
pub(super) fn write(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    if report.scenario_claims.is_empty() {
        return Ok(());
    }
    writeln!(out, "## Claims of the scenario\n")?;
    table_head(out, &words(&["id", "claim", "decided by", "verdict", "found"]), 5)?;
    for claim in &report.scenario_claims {
        let source = claim.source.as_ref().map_or(String::new(), |source| format!(" ({})", escape(source)));
        let says = format!("{}{source}", escape(&claim.says));
        let verdict = format!("**{}**", claim.verdict.word());
        let measure = match section_of(report, claim) {
            Some(section) => format!("[{}](#{section})", escape(&claim.measure)),
            None => escape(&claim.measure),
        };
        let expected = format!("{measure}: {}", escape(&claim.expected));
        table_row(out, &[escape(&claim.id), says, expected, verdict, escape(&claim.found)])?;
    }
    writeln!(out, "\n{HOW}\n")
}

/// The section with the number that decides a claim; `None` where there is none.
fn section_of(report: &Report, claim: &ClaimView) -> Option<&'static str> {
    let is_there = |section, is_there: bool| is_there.then_some(section);
    match claim.cell.metric.as_str() {
        "throughput" => None,
        "mean" | "p50" | "p99" => is_there("latency", report.rounds > 0),
        "storage_bytes" => is_there("sizes", report.strategies.iter().any(|strategy| !strategy.collections.is_empty())),
        _ => is_there("what-a-call-costs-the-server", !report.costs.operations.is_empty()),
    }
}
