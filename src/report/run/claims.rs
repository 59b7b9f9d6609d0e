//! The report of the claims of a scenario, after the runs for them.

use crate::report::Report;
use crate::report::document::format::{counted, plain};
use crate::report::document::{Cell, Headline, Row, Section, Table, Tone, column};
use crate::results::{ClaimsRecord, ClaimsRunRecord, DecidedClaimRecord};

use super::sections::claims::{self, BY_DESIGN, ClaimView};

/// What was found of a claim: the numbers; if undecided, also the reason.
pub fn claim_text(record: &ClaimsRecord, decided: &DecidedClaimRecord) -> String {
    claims::decided(record, decided).found().to_owned()
}

impl Report {
    /// Computes the report of the runs for the claims of a scenario.
    pub fn of_claims(record: &ClaimsRecord) -> Report {
        let server = record.server.as_ref().map_or_else(String::new, |version| format!(", MongoDB {}", plain(version)));
        let count = counted(record.runs.len() as u64, "run");
        let claims: Vec<ClaimView> = record.claims.iter().map(|one| claims::decided(record, one)).collect();
        let headline = Headline {
            scenario: plain(&record.scenario),
            title: plain(&record.title),
            subject: vec![format!("{count}, preset {}{server}", record.preset.name())],
            incomplete: (!record.complete).then(|| "Not all runs are complete.".to_owned()),
            sentences: vec![format!("{}.", claims::count_results(claims.iter()))],
            ..Headline::default()
        };
        let mut measures = claims::measures();
        measures.push(
            column("expected", "expected", "What the claim expects.")
                .text(|one: &&ClaimView| Cell::text(one.expected()).tone(Tone::Faint)),
        );
        let measured = claims::section(["decided_claims", "Claims"], &claims, false, &measures);
        let by_design = claims::section(["decided_claims_by_design", BY_DESIGN], &claims, true, &measures);
        let runs = Section::new("claim_runs", "Runs").table(runs(record));
        Report::of(headline, [measured, by_design, runs].into_iter().filter_map(Section::with_rows))
    }
}

fn runs(record: &ClaimsRecord) -> Table {
    let measures = [
        column("measured", "measured", "The settings and the parts.").text(|run: &&ClaimsRunRecord| {
            let set: String = run.set.iter().map(|(name, value)| format!(", {name}={value}")).collect();
            let (strategies, parts) = (run.strategies.join(", "), run.parts.join(", "));
            let rounds = counted(run.rounds, "round");
            plain(&format!("mix {}, {} clients{set}; {strategies}; {parts}; {rounds}", run.mix, run.clients))
        }),
        column("error", "error", "Why it ended early, or `null`.")
            .text(|run| Cell::value(run.error.as_deref().map(plain))),
    ];
    let rows = record.runs.iter().map(|run| (Row::new(plain(&run.folder)), run));
    Table::new("claim_runs", "Runs", column("folder", "run", "Its folder."), &measures, rows).list()
}
