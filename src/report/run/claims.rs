//! The report of the claims of a scenario, after the runs for them.

use crate::report::Report;
use crate::report::document::cell::{Cell, Tone};
use crate::report::document::format::{counted, plain};
use crate::report::document::section::{Headline, Section};
use crate::report::document::table::{Column, Measure, Row, Table};
use crate::results::{ClaimRecord, ClaimsRecord, ClaimsRunRecord, DecidedClaimRecord, RunRecord};
use crate::stats::ClaimResult;

use super::parts::PartEvaluations;
use super::sections::claims::{self, BY_DESIGN};

/// What a run says of a claim, in texts.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimStatement {
    /// `confirmed`, `refuted` or `undecided`.
    pub verdict: &'static str,
    /// What is compared.
    pub measure: String,
    /// What the claim expects.
    pub expected: String,
    /// The numbers; if undecided, also the reason.
    pub found: String,
    /// The numbers as such.
    pub result: ClaimResult,
}

/// Returns what a run says of each of its claims.
pub fn claim_statements(record: &RunRecord) -> Vec<(&ClaimRecord, ClaimStatement)> {
    claims::claims(record, &PartEvaluations::new(record)).into_iter().map(claims::ClaimView::statement).collect()
}

impl Report {
    /// Computes the report of the runs for the claims of a scenario.
    pub fn of_claims(record: &ClaimsRecord) -> Report {
        let server = record.server.as_ref().map(|version| format!(", MongoDB {}", plain(version)));
        let headline = Headline {
            scenario: plain(&record.scenario),
            title: plain(&record.title),
            subject: vec![format!(
                "{}, preset {}{}",
                counted(record.runs.len() as u64, "run"),
                record.preset.name(),
                server.unwrap_or_default()
            )],
            incomplete: (!record.complete).then(|| "Not all runs are complete.".to_owned()),
            sentences: vec![format!("{}.", claims::count_results(record.claims.iter().map(claims::CountedClaim::of)))],
            ..Headline::default()
        };
        let section =
            |id, title, is_by_design| Section::new(id, title).table(table(record, id, title, is_by_design)).with_rows();
        let measured = section("decided_claims", "Claims", false);
        let by_design = section("decided_claims_by_design", BY_DESIGN, true);
        let runs = Section::new("claim_runs", "Runs").table(runs(record)).with_rows();
        Report::of(headline, [measured, by_design, runs].into_iter().flatten())
    }
}

fn table(record: &ClaimsRecord, id: &'static str, title: &'static str, is_by_design: bool) -> Table {
    let measures: [Measure<'_, &DecidedClaimRecord>; 3] = [
        Measure::text("verdict", "verdict", "`confirmed`, `refuted` or `undecided`.", |one| {
            claims::verdict_cell(&one.verdict)
        }),
        Measure::text("says", "claim", "The claim in a sentence.", |one| {
            Cell::text(plain(&one.says)).tone(Tone::Strong)
        }),
        Measure::text("found", "found", "The numbers; if undecided, also the reason.", |one| {
            Cell::text(plain(&one.text)).remark(format!("(expected: {})", plain(&one.expected)))
        }),
    ];
    let rows = record.claims.iter().filter(|claim| claim.by_design == is_by_design);
    let rows = rows.map(|claim| (Row::new(plain(&claim.id)), claim));
    Table::new(id, title, Column::text("id", "id", "Its id."), &measures, rows).list()
}

fn runs(record: &ClaimsRecord) -> Table {
    let measures = [
        Measure::text("measured", "measured", "The settings and the parts.", |run: &&ClaimsRunRecord| {
            let set: String = run.set.iter().map(|(name, value)| format!(", {name}={value}")).collect();
            let (strategies, parts) = (run.strategies.join(", "), run.parts.join(", "));
            let rounds = counted(run.rounds, "round");
            Cell::text(plain(&format!(
                "mix {}, {} clients{set}; {strategies}; {parts}; {rounds}",
                run.mix, run.clients
            )))
        }),
        Measure::text("error", "error", "Why it ended early, or `null`.", |run| {
            Cell::value(run.error.as_deref().map(plain))
        }),
    ];
    let rows = record.runs.iter().map(|run| (Row::new(plain(&run.folder)), run));
    Table::new("claim_runs", "Runs", Column::text("folder", "run", "Its folder."), &measures, rows).list()
}
